#include "core/base/utf8.h"

static bool is_tail(tg_sv s, size_t i)
{
    return i < s.n && ((unsigned char)s.p[i] & 0xc0) == 0x80;
}

size_t tg_utf8_len(tg_sv s)
{
    if (!s.n)
        return 0;
    unsigned char a = (unsigned char)s.p[0];
    if (a < 0x80)
        return 1;
    if (a < 0xc2 || a > 0xf4 || !is_tail(s, 1))
        return 0;
    unsigned char b = (unsigned char)s.p[1];
    if (a < 0xe0)
        return 2;
    if (!is_tail(s, 2) || (a == 0xe0 && b < 0xa0) || (a == 0xed && b > 0x9f))
        return 0;
    if (a < 0xf0)
        return 3;
    if (!is_tail(s, 3) || (a == 0xf0 && b < 0x90) || (a == 0xf4 && b > 0x8f))
        return 0;
    return 4;
}

bool tg_utf8_valid(tg_sv s)
{
    while (s.n) {
        uint64_t eight = UINT64_MAX;
        size_t len;
        if (s.n >= sizeof eight)
            memcpy(&eight, s.p, sizeof eight);
        len = eight & 0x8080808080808080 ? tg_utf8_len(s) : sizeof eight; /* eight of ASCII */
        if (!len)
            return false;
        s = tg_sv_from(s, len);
    }
    return true;
}

uint32_t tg_utf8_code(tg_sv s, size_t len)
{
    static const unsigned char first[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
    uint32_t code = (unsigned char)s.p[0] & first[len];
    for (size_t i = 1; i < len; i++)
        code = code << 6 | ((unsigned char)s.p[i] & 0x3f);
    return code;
}

void tg_utf8_put(struct tg_buf *out, uint32_t c)
{
    if (c < 0x80) {
        tg_buf_putc(out, (char)c);
    } else if (c < 0x800) {
        tg_buf_putc(out, (char)(0xc0 | c >> 6));
        tg_buf_putc(out, (char)(0x80 | (c & 0x3f)));
    } else if (c < 0x10000) {
        tg_buf_putc(out, (char)(0xe0 | c >> 12));
        tg_buf_putc(out, (char)(0x80 | (c >> 6 & 0x3f)));
        tg_buf_putc(out, (char)(0x80 | (c & 0x3f)));
    } else {
        tg_buf_putc(out, (char)(0xf0 | c >> 18));
        tg_buf_putc(out, (char)(0x80 | (c >> 12 & 0x3f)));
        tg_buf_putc(out, (char)(0x80 | (c >> 6 & 0x3f)));
        tg_buf_putc(out, (char)(0x80 | (c & 0x3f)));
    }
}

void tg_utf8_clean(struct tg_buf *out, tg_sv s)
{
    if (s.n && tg_utf8_valid(s) && !memchr(s.p, '\0', s.n)) {
        tg_buf_add(out, s);
        return;
    }
    while (s.n) {
        tg_sv rest = s;
        size_t len;
        while ((len = tg_utf8_len(rest)) > 0 && rest.p[0])
            rest = tg_sv_from(rest, len);
        tg_buf_add(out, (tg_sv){ s.p, s.n - rest.n });
        if (rest.n) { /* not UTF-8, or NUL */
            tg_utf8_put(out, 0xfffd);
            rest = tg_sv_from(rest, 1);
        }
        s = rest;
    }
}

tg_sv tg_utf8_line(tg_sv *rest, tg_sv *end)
{
    tg_sv line = { rest->p, 0 };
    while (line.n < rest->n && rest->p[line.n] != '\n' && rest->p[line.n] != '\r')
        line.n++;
    size_t ends = line.n < rest->n;
    if (ends && rest->p[line.n] == '\r' && line.n + 1 < rest->n && rest->p[line.n + 1] == '\n')
        ends = 2;
    *end = (tg_sv){ rest->p + line.n, ends };
    *rest = tg_sv_from(*rest, line.n + ends);
    return line;
}

/* Unicode 15: Cc, Zl, Zp, Default_Ignorable_Code_Point (DerivedCoreProperties.txt), FFF9 to
 * FFFB. */
bool tg_utf8_is_invisible(uint32_t c)
{
    static const struct {
        uint32_t from, to;
    } ranges[] = {
        { 0, 0x1f },          { 0x7f, 0x9f },       { 0xad, 0xad },       { 0x34f, 0x34f },
        { 0x61c, 0x61c },     { 0x115f, 0x1160 },   { 0x17b4, 0x17b5 },   { 0x180b, 0x180f },
        { 0x200b, 0x200f },   { 0x2028, 0x202e },   { 0x2060, 0x206f },   { 0x3164, 0x3164 },
        { 0xfe00, 0xfe0f },   { 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 },   { 0xfff0, 0xfffb },
        { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges && c >= ranges[i].from; i++)
        if (c <= ranges[i].to)
            return true;
    return false;
}

void tg_utf8_spell(struct tg_buf *out, uint32_t c)
{
    if (c > 0xffff)
        tg_buf_printf(out, "\\u%04x", (unsigned)(0xd800 + ((c - 0x10000) >> 10)));
    tg_buf_printf(out, "\\u%04x", (unsigned)(c > 0xffff ? 0xdc00 + (c & 0x3ff) : c));
}

bool tg_utf8_is_mark(char c)
{
    return c == TG_MARK_NAME || c == TG_MARK_SAID || c == TG_MARK_END;
}

bool tg_utf8_skip_mark(tg_sv *s)
{
    char c = s->n ? s->p[0] : ' ';
    size_t end = c == TG_MARK_NAME ? tg_sv_find(*s, TG_MARK_END) : 0;
    size_t said = tg_sv_find((tg_sv){ s->p, end }, TG_MARK_SAID);
    *s = tg_sv_from(*s, said < end ? said + 1 : tg_utf8_is_mark(c));
    return tg_utf8_is_mark(c);
}

void tg_utf8_visible(struct tg_buf *out, tg_sv s)
{
    while (s.n) {
        size_t len = 0;
        while (len < s.n && s.p[len] >= ' ' && s.p[len] < 0x7f) /* nearly all of most names */
            len++;
        tg_buf_add(out, (tg_sv){ s.p, len });
        s = tg_sv_from(s, len);
        if (!s.n || tg_utf8_skip_mark(&s))
            continue;
        len = tg_utf8_len(s);
        uint32_t c = len ? tg_utf8_code(s, len) : 0xfffd;
        if (c == '\n' || c == '\r' || c == '\t')
            tg_buf_putc(out, ' ');
        else if (tg_utf8_is_invisible(c))
            tg_utf8_spell(out, c);
        else
            tg_utf8_put(out, c);
        len = len ? len : 1;
        s = tg_sv_from(s, len);
    }
}

tg_sv tg_utf8_prefix(tg_sv s, size_t max)
{
    if (s.n <= max)
        return s;
    while (max && is_tail(s, max))
        max--;
    return (tg_sv){ s.p, max };
}

size_t tg_utf8_count(tg_sv s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += !is_tail(s, i);
    return n;
}
