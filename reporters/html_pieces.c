#include "reporters/html.h"

#include "reporters/escape.h"

enum { NAME = 90 };

static void put_words(struct tg_buf *out, tg_sv text)
{
    tg_esc_xml(out, text);
}

void tg_html_put_name(struct tg_buf *out, tg_sv name)
{
    struct tg_page page = { .out = out };
    tg_page_name(&page, name, NAME);
}

void tg_html_put_text(struct tg_html *h, tg_sv sentence)
{
    tg_prose_put(h->page.out, &h->prose, sentence,
                 &(struct tg_prose_style){ .words = put_words, .name = tg_html_put_name });
}
