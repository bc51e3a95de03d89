#include "reporters/escape.h"

#include <assert.h>

#include "core/base/decimal.h"
#include "core/base/utf8.h"

void tg_esc_put(struct tg_buf *out, void (*escape)(struct tg_buf *out, tg_sv text),
                const char *ours, const tg_sv *texts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *hole = strstr(ours, "{}");
        assert(hole);
        tg_buf_add(out, (tg_sv){ ours, (size_t)(hole - ours) });
        escape(out, texts[i]);
        ours = hole + 2;
    }
    assert(!strstr(ours, "{}"));
    tg_buf_puts(out, ours);
}

/* ---- markup ---- */

void tg_esc_xml(struct tg_buf *out, tg_sv text)
{
    static const char *const special[] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"
    };
    TG_BUF line = { 0 };
    tg_utf8_visible(&line, text);
    for (size_t i = 0; i < line.n; i++) {
        unsigned char c = (unsigned char)line.p[i];
        tg_sv rest = { line.p + i, line.n - i };
        /* U+FFFE and U+FFFF are no XML characters; tg_utf8_visible lets no other such one
         * through. */
        bool fffe = tg_sv_starts(rest, TG_SV("\xef\xbf\xbe"));
        if (c < sizeof special / sizeof *special && special[c]) {
            tg_buf_puts(out, special[c]);
        } else if (fffe || tg_sv_starts(rest, TG_SV("\xef\xbf\xbf"))) {
            tg_buf_puts(out, fffe ? "\\ufffe" : "\\uffff");
            i += 2;
        } else {
            tg_buf_putc(out, line.p[i]);
        }
    }
}

void tg_esc_xml_lines(struct tg_buf *out, tg_sv text)
{
    for (bool first = true; text.n; first = false) {
        tg_buf_puts(out, first ? "" : "\n");
        tg_esc_xml(out, tg_sv_cut(&text, '\n'));
    }
}

/* Single guillemets replace angle brackets: "f<int>" is not "fint". */
void tg_esc_mermaid(struct tg_buf *out, tg_sv text)
{
    TG_BUF line = { 0 };
    tg_utf8_visible(&line, text);
    for (size_t i = 0; i < line.n; i++) {
        char c = line.p[i];
        if (c == '"')
            tg_buf_puts(out, "#quot;");
        else if (c == '<' || c == '>')
            tg_buf_puts(out, c == '<' ? "\xe2\x80\xb9" : "\xe2\x80\xba");
        else if (c != '`' && c != ';')
            tg_buf_putc(out, c);
    }
}

/* ---- workflow commands and logs ---- */

bool tg_esc_is_command(tg_sv line)
{
    line = tg_sv_past(line, " \t");
    return tg_sv_starts(line, TG_SV("::")) || tg_sv_starts(line, TG_SV("##["));
}

void tg_esc_terminal(struct tg_buf *out, tg_sv text)
{
    TG_BUF line = { 0 };
    tg_utf8_visible(&line, text);
    for (size_t i = 0; i < line.n; i++) {
        if (line.p[i] == '[' && i >= 2 && line.p[i - 1] == '#' && line.p[i - 2] == '#')
            tg_buf_puts(out, "\\u200b");
        tg_buf_putc(out, line.p[i]);
    }
}

static void put_command(struct tg_buf *out, tg_sv text, bool property)
{
    TG_BUF line = { 0 };
    tg_esc_terminal(&line, text);
    for (size_t i = 0; i < line.n; i++) {
        if (strchr(property ? "%:," : "%", line.p[i]))
            tg_buf_printf(out, "%%%02X", line.p[i]);
        else
            tg_buf_putc(out, line.p[i]);
    }
}

void tg_esc_command(struct tg_buf *out, tg_sv text)
{
    put_command(out, text, false);
}

void tg_esc_command_property(struct tg_buf *out, tg_sv text)
{
    put_command(out, text, true);
}

/* ---- Markdown ---- */

/* Length of the shortest run of backticks that does not occur. */
static size_t free_fence(tg_sv s)
{
    for (size_t want = 1;; want++) {
        size_t run = 0;
        bool taken = false;
        for (size_t i = 0; i <= s.n && !taken; i++) {
            if (i < s.n && s.p[i] == '`') {
                run++;
            } else {
                taken = run == want;
                run = 0;
            }
        }
        if (!taken)
            return want;
    }
}

void tg_esc_md_code(struct tg_buf *out, tg_sv text, enum tg_esc_place place)
{
    TG_BUF line = { 0 };
    tg_utf8_visible(&line, text);
    tg_sv span = tg_buf_sv(&line);
    size_t fence = free_fence(span);
    /* A reader removes one blank on both sides, unless the text is all blank. */
    bool blank = strspn(span.p, " ") >= span.n;
    bool pad = !blank && (span.p[0] == '`' || span.p[span.n - 1] == '`' ||
                          (span.p[0] == ' ' && span.p[span.n - 1] == ' '));
    if (!span.n)
        return;
    for (size_t i = 0; i < fence; i++)
        tg_buf_putc(out, '`');
    if (pad)
        tg_buf_putc(out, ' ');
    for (size_t i = 0; i < span.n; i++) {
        if (place == TG_ESC_CELL && span.p[i] == '|')
            tg_buf_putc(out, '\\');
        tg_buf_putc(out, span.p[i]);
    }
    if (pad)
        tg_buf_putc(out, ' ');
    for (size_t i = 0; i < fence; i++)
        tg_buf_putc(out, '`');
}

void tg_esc_md_name(struct tg_buf *out, tg_sv text)
{
    tg_esc_md_code(out, text, TG_ESC_PROSE);
}

/*
 * A word without a meaning in any Markdown dialect: letters, digits and the punctuation of our own
 * sentences. A '.' or ':' before a letter could be a host, a scheme or an emoji; '-' between a
 * letter and a digit could be a ticket (GH-1).
 */
static bool is_plain(tg_sv w)
{
    size_t digits = 0, letters = 0; /* of a number to base 16 */
    for (size_t i = 0; i < w.n; i++) {
        unsigned char c = (unsigned char)w.p[i];
        char next = i + 1 < w.n ? w.p[i + 1] : ' ';
        digits += tg_is_digit(w.p[i]);
        letters += c >= 'a' && c <= 'f';
        if (tg_is_letter(w.p[i]) || tg_is_digit(w.p[i]) || c >= 0x80)
            continue;
        if (!strchr(".,;%()+-:/=?'", c))
            return false;
        if ((c == '.' || c == ':' || c == '/') &&
            (tg_is_letter(next) || next == ':' || next == '/'))
            return false;
        if (c == '-' && i && tg_is_letter(w.p[i - 1]) && tg_is_digit(next))
            return false;
    }
    /* 7 hexadecimal digits and more: GitHub links them as a commit. */
    return w.n < 7 || !digits || !letters || digits + letters < w.n;
}

/* Not the end of ":smile:", "a::" or "...", which belong to a name. */
static bool ends_sentence(tg_sv s)
{
    char last = s.p[s.n - 1];
    return s.n > 1 && strchr(",;:.", last) && s.p[s.n - 2] != last &&
           !(last == ':' && s.p[0] == ':');
}

/* Where the parenthesis that the text begins with is closed; its length: nowhere. */
static size_t closes_first(tg_sv s)
{
    size_t open = 0, i = 0;
    for (; i < s.n; i++) {
        open += s.p[i] == '(';
        open -= s.p[i] == ')';
        if (!open)
            break;
    }
    return i;
}

void tg_esc_md_text(struct tg_buf *out, tg_sv text)
{
    TG_BUF line = { 0 };
    tg_utf8_visible(&line, text);
    tg_sv rest = tg_buf_sv(&line), unsafe = { NULL, 0 };
    bool first = true;
    while (rest.n || unsafe.n) {
        tg_sv word = tg_sv_cut(&rest, ' ');
        bool arrow = tg_sv_eq(word, TG_SV("->")), risky = word.n && !arrow && !is_plain(word);
        bool apart = risky && unsafe.n && word.p[0] == '('; /* a remark about the text before it */
        if (risky && !apart) {                              /* neighbours share one span */
            unsafe = unsafe.n ? (tg_sv){ unsafe.p, (size_t)(word.p + word.n - unsafe.p) } : word;
            if (rest.n)
                continue;
            word.n = 0;
        }
        if (unsafe.n) {
            tg_buf_puts(out, first ? "" : " ");
            /* Unsafe words are code; the sentence's punctuation and parentheses stay outside. */
            size_t from = 0, end = unsafe.n;
            while (ends_sentence((tg_sv){ unsafe.p, end }))
                end--;
            if (end > 2 && unsafe.p[0] == '(') {
                size_t closing = closes_first((tg_sv){ unsafe.p, end });
                from = closing + 1 >= end;
                end -= closing + 1 == end;
                tg_buf_puts(out, from ? "(" : "");
            }
            tg_esc_md_name(out, (tg_sv){ unsafe.p + from, end - from });
            tg_buf_add(out, tg_sv_from(unsafe, end));
            unsafe.n = 0;
            first = false;
        }
        if (apart)
            unsafe = word;
        if (apart || !word.n)
            continue;
        tg_buf_puts(out, first ? "" : " ");
        tg_buf_add(out, arrow ? TG_SV("\xe2\x86\x92") : word);
        first = false;
    }
}

/* ---- shortening ---- */

static size_t skip_points(tg_sv s, size_t n)
{
    size_t at = 0;
    while (n-- && at < s.n) {
        size_t len = tg_utf8_len(tg_sv_from(s, at));
        at += len ? len : 1;
    }
    return at;
}

void tg_shorten(struct tg_buf *out, tg_sv visible, size_t width)
{
    const tg_sv dots = TG_SV("\xe2\x80\xa6");
    size_t count = tg_utf8_count(visible);
    if (count <= width) {
        tg_buf_add(out, visible);
        return;
    }
    size_t tail = (width - 1) / 3; /* as a label has it (label.h), which this may shorten further */
    tg_sv begin = { visible.p, skip_points(visible, width - 1 - tail) };
    tg_sv end = tg_sv_from(visible, skip_points(visible, count - tail));
    tg_buf_add(out, begin);
    tg_buf_puts(out, tg_sv_ends(begin, dots) || tg_sv_starts(end, dots) ? "" : dots.p);
    tg_buf_add(out, end);
}

void tg_shorten_visible(struct tg_buf *out, tg_sv text, size_t width)
{
    TG_BUF visible = { 0 };
    tg_utf8_visible(&visible, text);
    tg_shorten(out, tg_buf_sv(&visible), width);
}

void tg_esc_yaml(struct tg_buf *out, tg_sv text)
{
    TG_BUF visible = { 0 };
    tg_utf8_visible(&visible, text);
    if (!tg_sv_eq(tg_buf_sv(&visible), text) || tg_sv_has(text, TG_SV("##["))) {
        /* With escapes, which only double quotes have: the value stays what it is. */
        tg_buf_putc(out, '"');
        while (text.n) {
            size_t len = tg_utf8_len(text);
            uint32_t c = len ? tg_utf8_code(text, len) : 0xfffd;
            if (tg_utf8_is_invisible(c) || (c == 0xfffd && !len))
                tg_buf_printf(out, c > 0xffff ? "\\U%08x" : "\\u%04x", (unsigned)c);
            else if (c == '"' || c == '\\')
                tg_buf_printf(out, "\\%c", (char)c);
            else if (c == '[' && tg_sv_ends(tg_buf_sv(out), TG_SV("##")))
                tg_buf_puts(out, "\\x5b"); /* a runner's command anywhere in a line */
            else
                tg_buf_add(out, (tg_sv){ text.p, len });
            text = tg_sv_from(text, len ? len : 1);
        }
        tg_buf_putc(out, '"');
        return;
    }
    tg_buf_putc(out, '\'');
    for (size_t i = 0; i < text.n; i++) {
        tg_buf_putc(out, text.p[i]);
        if (text.p[i] == '\'')
            tg_buf_putc(out, '\'');
    }
    tg_buf_putc(out, '\'');
}

/* ---- addresses ---- */

bool tg_link_is_web(tg_sv url)
{
    return tg_sv_starts(url, TG_SV("https://")) || tg_sv_starts(url, TG_SV("http://"));
}

static void put_encoded(struct tg_buf *out, tg_sv s, const char *also)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (tg_is_letter(c) || tg_is_digit(c) || (c && strchr(also, c)))
            tg_buf_putc(out, c);
        else
            tg_buf_printf(out, "%%%02X", (unsigned char)c);
    }
}

void tg_link_put_encoded(struct tg_buf *out, tg_sv url)
{
    put_encoded(out, url, "._~/-:?=&#%");
}

static bool is_gitlab(tg_sv repo)
{
    return tg_sv_has(repo, TG_SV("gitlab"));
}

static void put_page(struct tg_buf *out, tg_sv repo, const char *page, tg_sv sha)
{
    tg_link_put_encoded(out, repo);
    tg_buf_puts(out, is_gitlab(repo) ? "/-/" : "/");
    tg_buf_puts(out, page);
    put_encoded(out, sha, "");
}

void tg_link_put_commit(struct tg_buf *out, tg_sv repo, tg_sv sha)
{
    if (tg_link_is_web(repo) && sha.n)
        put_page(out, repo, "commit/", sha);
}

void tg_link_put_lines(struct tg_buf *out, tg_sv repo, tg_sv sha, tg_sv file, uint32_t first,
                       uint32_t last)
{
    if (!tg_link_is_web(repo) || !sha.n || !file.n || file.p[0] == '/')
        return;
    put_page(out, repo, "blob/", sha);
    tg_buf_putc(out, '/');
    put_encoded(out, file, "._~/-");
    if (first)
        tg_buf_printf(out, "#L%u", (unsigned)first);
    if (first && last > first)
        tg_buf_printf(out, is_gitlab(repo) ? "-%u" : "-L%u", (unsigned)last);
}

static void put_ns(struct tg_buf *out, const char *key, tg_ns ns)
{
    tg_buf_puts(out, key);
    tg_dec_put_i64(out, ns);
}

void tg_link_put_perfetto(struct tg_buf *out, tg_sv trace, tg_ns start, tg_ns dur)
{
    if (!tg_sv_starts(trace, TG_SV("https://")))
        return;
    tg_buf_puts(out, "https://ui.perfetto.dev/#!/?url=");
    put_encoded(out, trace, "._~-");
    put_ns(out, "&ts=", start);
    put_ns(out, "&dur=", dur);
    put_ns(out, "&visStart=", start - dur / 2);
    put_ns(out, "&visEnd=", start + dur + dur / 2);
}
