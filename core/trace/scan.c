#include "core/trace/scan.h"

#include "core/base/utf8.h"

bool tg_scan_out(struct tg_scan *s)
{
    s->status = s->last ? TG_SCAN_TRUNCATED : TG_SCAN_MORE;
    s->at = s->end;
    s->message = "the text ends early";
    s->hint =
        "The file is truncated: the profiler was killed while it wrote, or the disk was full.";
    return false;
}

bool tg_scan_bad(struct tg_scan *s, const char *at, const char *message, const char *hint)
{
    if (at >= s->end)
        return tg_scan_out(s);
    s->status = TG_SCAN_BAD;
    s->at = at;
    s->message = message;
    s->hint = hint;
    return false;
}

/* Four hex digits at `p`, or -1. NUL is not a digit, so the padding is enough. */
static int hex4(const char *p)
{
    int code = 0;
    for (int i = 0; i < 4; i++) {
        char c = tg_lower(p[i]);
        if (!tg_is_digit(c) && (c < 'a' || c > 'f'))
            return -1;
        code = code * 16 + (tg_is_digit(c) ? c - '0' : c - 'a' + 10);
    }
    return code;
}

/* The length of the escape at `p` (a backslash); 0 if JSON does not have it. */
static size_t escape_length(const char *p)
{
    if (p[1] == 'u')
        return hex4(p + 2) >= 0 ? 6 : 0;
    return p[1] && strchr("\"\\/bfnrt", p[1]) ? 2 : 0;
}

static bool check_utf8(struct tg_scan *s, tg_sv text)
{
    while (text.n) {
        size_t n = tg_utf8_len(text);
        if (!n) {
            if (s->strict)
                return tg_scan_bad(s, text.p, "bytes that are not UTF-8",
                                   "Without --strict-json they are kept and counted.");
            s->seen.bad_utf8++;
            n = 1;
        }
        text = tg_sv_from(text, n);
    }
    return true;
}

/* A backslash at `*q`; moves `*q` past the escape. */
static bool check_escape(struct tg_scan *s, const char **q)
{
    size_t n = escape_length(*q);
    if (n) {
        *q += n;
        return true;
    }
    if ((s->end - *q < 6 && !s->last) || *q + 1 >= s->end)
        return tg_scan_out(s);
    if (s->strict)
        return tg_scan_bad(s, *q, "an escape that JSON does not know",
                           "Probably a Windows path whose backslashes were not doubled; without "
                           "--strict-json it is kept and counted.");
    s->seen.invalid_escapes++;
    ++*q;
    return true;
}

/* A string; the cursor is at its quote. */
static bool scan_string(struct tg_scan *s, struct tg_value *v)
{
    const char *start = s->p + 1, *q = start;
    unsigned char high = 0;
    *v = (struct tg_value){ .type = TG_TOKEN_STRING };
    for (;;) {
        unsigned char c = (unsigned char)*q;
        if (c == '"')
            break;
        if (c >= 0x20 && c != '\\') {
            high |= c;
            q++;
        } else if (q == s->end) {
            return tg_scan_out(s);
        } else if (c == '\\') {
            v->escaped = true;
            if (!check_escape(s, &q))
                return false;
        } else {
            if (s->strict)
                return tg_scan_bad(s, q, "a raw control byte in a text",
                                   "Without --strict-json it is kept and counted.");
            s->seen.control_bytes++;
            q++;
        }
    }
    v->raw = (tg_sv){ start, (size_t)(q - start) };
    s->p = q + 1;
    return high < 0x80 || check_utf8(s, v->raw);
}

/* A word of letters at the cursor, whole. */
static bool word(struct tg_scan *s, const char *text)
{
    const char *q = s->p;
    for (; *text && *q == *text; q++)
        text++;
    if (*text && q == s->end)
        return tg_scan_out(s);
    if (*text)
        return tg_scan_bad(s, s->p, "not a JSON value",
                           "The quotes of a text are probably missing.");
    s->p = q;
    return true;
}

/* NaN, Infinity and the spellings of C's printf; `s->p` is at the letter. */
static bool non_finite(struct tg_scan *s, struct tg_value *v, const char *start)
{
    static const char *const words[] = { "NaN", "Infinity", "nan", "inf" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (*s->p == words[i][0]) {
            if (s->strict)
                return tg_scan_bad(s, start, "a number that is not finite",
                                   "Without --strict-json it is counted and ignored.");
            if (!word(s, words[i]))
                return false;
            s->seen.non_finite++;
            v->raw = (tg_sv){ start, (size_t)(s->p - start) };
            v->is_float = true;
            return true;
        }
    return tg_scan_bad(s, s->p, "not a JSON number", "");
}

static bool digits(struct tg_scan *s)
{
    if (!tg_is_digit(*s->p))
        return tg_scan_bad(s, s->p, "a digit is missing", "");
    while (tg_is_digit(*s->p))
        s->p++;
    return true;
}

static bool number(struct tg_scan *s, struct tg_value *v)
{
    const char *start = s->p;
    *v = (struct tg_value){ .type = TG_TOKEN_NUMBER, .finite = true };
    if (*s->p == '-')
        s->p++;
    if (!tg_is_digit(*s->p)) {
        if (s->p == s->end)
            return tg_scan_out(s);
        v->finite = false;
        return non_finite(s, v, start);
    }
    if (*s->p == '0')
        s->p++;
    else
        while (tg_is_digit(*s->p))
            s->p++;
    if (*s->p == '.') {
        v->is_float = true;
        s->p++;
        if (!digits(s))
            return false;
    }
    if (*s->p == 'e' || *s->p == 'E') {
        v->is_float = true;
        s->p++;
        if (*s->p == '-' || *s->p == '+')
            s->p++;
        if (!digits(s))
            return false;
    }
    if (s->p == s->end && !s->last)
        return tg_scan_out(s);
    v->raw = (tg_sv){ start, (size_t)(s->p - start) };
    if (tg_is_digit(*s->p)) /* after a leading zero */
        return tg_scan_bad(s, s->p, "a number with a leading zero", "");
    int64_t ignored;
    if (v->is_float || v->raw.n < 19 || tg_sv_i64(v->raw, &ignored))
        return true;
    if (s->strict)
        return tg_scan_bad(s, v->raw.p, "an integer beyond 2^63",
                           "Without --strict-json it is counted.");
    s->seen.huge_integers++;
    return true;
}

static bool scalar(struct tg_scan *s, struct tg_value *v)
{
    const char *start = s->p;
    switch (*s->p) {
    case '"':
        return scan_string(s, v);
    case 't':
    case 'f':
        if (!word(s, *start == 't' ? "true" : "false"))
            return false;
        *v = (struct tg_value){ .type = TG_TOKEN_BOOL };
        break;
    case 'n':
        if (s->p[1] == 'a')
            return number(s, v);
        if (!word(s, "null"))
            return false;
        *v = (struct tg_value){ .type = TG_TOKEN_NULL };
        break;
    default:
        if (tg_is_digit(*s->p) || (*s->p && strchr("-NIi", *s->p)))
            return number(s, v);
        return tg_scan_bad(s, s->p, "not a JSON value",
                           *s->p == ']' || *s->p == '}' ? "There is probably a comma too many."
                                                        : "The quotes of a text are probably "
                                                          "missing.");
    }
    v->raw = (tg_sv){ start, (size_t)(s->p - start) };
    return true;
}

static bool missing_comma(struct tg_scan *s)
{
    ptrdiff_t before = s->p - s->start; /* never what a smaller window would not have */
    bool after_text = (before >= 1 && s->p[-1] == '"') ||
                      (before >= 2 && tg_is_blank(s->p[-1]) && s->p[-2] == '"');
    return tg_scan_bad(s, s->p, "a comma or a closing bracket is missing",
                       after_text ? "A quote inside the text before it is probably not escaped, or "
                                    "the text's closing quote is missing."
                                  : "");
}

/* A key, its colon, and the blanks around them; the cursor is at the quote. */
static bool key_and_colon(struct tg_scan *s, struct tg_value *key)
{
    if (*s->p != '"')
        return tg_scan_bad(s, s->p, "a key is missing",
                           *s->p == '}' ? "There is probably a comma too many."
                                        : "The opening quote of a key is probably missing.");
    if (!scan_string(s, key))
        return false;
    tg_scan_blanks(s);
    if (*s->p != ':')
        return tg_scan_bad(
            s, s->p, "a colon is missing after a key",
            "A quote inside a text before it is probably not escaped, or a closing quote "
            "is missing.");
    s->p++;
    tg_scan_blanks(s);
    return true;
}

int tg_scan_member(struct tg_scan *s, bool *first, struct tg_value *key)
{
    tg_scan_blanks(s);
    if (*s->p == '}') {
        s->p++;
        s->depth--;
        return 0;
    }
    if (!*first) {
        if (*s->p != ',')
            return missing_comma(s) ? 1 : -1;
        s->p++;
        tg_scan_blanks(s);
    }
    *first = false;
    return key_and_colon(s, key) ? 1 : -1;
}

/* An array or object, checked without recursion; one bit per level tells which it is. */
static bool nested(struct tg_scan *s)
{
    uint64_t object[TG_SCAN_DEPTH / 64];
    unsigned base = s->depth;
    struct tg_value ignored;
    bool is_object;
value:
    if (*s->p != '{' && *s->p != '[') {
        if (!scalar(s, &ignored))
            return false;
        goto after;
    }
    is_object = *s->p == '{';
    if (!tg_scan_enter(s))
        return false;
    if (is_object)
        object[(s->depth - 1) / 64] |= (uint64_t)1 << ((s->depth - 1) % 64);
    else
        object[(s->depth - 1) / 64] &= ~((uint64_t)1 << ((s->depth - 1) % 64));
    tg_scan_blanks(s);
    if (*s->p == (is_object ? '}' : ']'))
        goto close;
    if (is_object && !key_and_colon(s, &ignored))
        return false;
    goto value;
after:
    if (s->depth == base)
        return true;
    is_object = object[(s->depth - 1) / 64] >> ((s->depth - 1) % 64) & 1;
    tg_scan_blanks(s);
    if (*s->p == ',') {
        s->p++;
        tg_scan_blanks(s);
        if (is_object && !key_and_colon(s, &ignored))
            return false;
        goto value;
    }
    if (*s->p != (is_object ? '}' : ']'))
        return missing_comma(s);
close:
    s->p++;
    s->depth--;
    goto after;
}

bool tg_scan_value(struct tg_scan *s, struct tg_value *v)
{
    const char *start = s->p;
    if (*s->p != '{' && *s->p != '[')
        return scalar(s, v);
    if (!nested(s))
        return false;
    *v = (struct tg_value){ .raw = { start, (size_t)(s->p - start) }, .type = TG_TOKEN_NESTED };
    return true;
}

static size_t put_unicode(struct tg_buf *out, const char *p, size_t left)
{
    int code = hex4(p + 2), low;
    if (code < 0xd800 || code > 0xdfff) {
        tg_utf8_put(out, (uint32_t)code);
        return 6;
    }
    if (code < 0xdc00 && left >= 12 && p[6] == '\\' && p[7] == 'u') {
        low = hex4(p + 8);
        if (low >= 0xdc00 && low <= 0xdfff) {
            tg_utf8_put(out,
                        0x10000 + (((uint32_t)code - 0xd800) << 10) + ((uint32_t)low - 0xdc00));
            return 12;
        }
    }
    tg_utf8_put(out, 0xfffd);
    return 6;
}

void tg_unescape(struct tg_buf *out, tg_sv raw)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    for (size_t i = 0; i < raw.n;) {
        const char *p = raw.p + i;
        /* A raw text ends at its quote, so reading past the last byte is safe. */
        size_t n = *p == '\\' ? escape_length(p) : 0;
        if (n == 0) {
            tg_buf_putc(out, *p);
            i++;
        } else if (n == 6) {
            i += put_unicode(out, p, raw.n - i);
        } else {
            tg_buf_putc(out, to[strchr(from, p[1]) - from]);
            i += 2;
        }
    }
}
