#include "reporters/html.h"

#include <string.h>

#include "reporters/escape.h"

static void put_words(struct tg_buf *out, tg_sv text)
{
    tg_esc_xml(out, text);
}

void tg_html_put_name(struct tg_buf *out, tg_sv name)
{
    struct tg_page page = { .out = out };
    tg_page_name(&page, name, TG_HTML_NAME);
}

void tg_html_name(struct tg_buf *out, tg_sv name, const void *with)
{
    (void)with;
    tg_html_put_name(out, name);
}

static void put_sentence(struct tg_html *h, tg_sv sentence)
{
    tg_prose_put(h->page.out, &h->prose, sentence,
                 &(struct tg_prose_style){ .words = put_words, .name = tg_html_name });
}

/* Our own sentences have code between blanks or brackets; names may have backticks anywhere. */
static bool is_code(tg_sv text, size_t first, size_t last)
{
    const char *p = text.p;
    bool opens = first == 0 || strchr(" (", p[first - 1]) != NULL;
    bool closes = last + 1 == text.n || strchr(" .,:;)", p[last + 1]) != NULL;
    return opens && closes && last > first + 1;
}

/* The first piece between two backticks that is code; false: there is none. */
static bool find_code(tg_sv text, tg_sv *before, tg_sv *code, tg_sv *after)
{
    for (size_t first = 0, last; first < text.n; first++) {
        if (text.p[first] != '`')
            continue;
        for (last = first + 1; last < text.n && text.p[last] != '`';)
            last++;
        if (last == text.n || !is_code(text, first, last))
            continue;
        *before = (tg_sv){ text.p, first };
        *code = (tg_sv){ text.p + first + 1, last - first - 1 };
        *after = tg_sv_from(text, last + 1);
        return true;
    }
    return false;
}

void tg_html_put_text(struct tg_html *h, tg_sv sentence)
{
    tg_sv before, code, after;
    for (; find_code(sentence, &before, &code, &after); sentence = after) {
        put_sentence(h, before);
        tg_page_raw(&h->page, "<code>");
        tg_esc_xml(h->page.out, code);
        tg_page_raw(&h->page, "</code>");
    }
    put_sentence(h, sentence);
}
