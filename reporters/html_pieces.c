#include "reporters/html.h"

#include "core/base/message.h"
#include "reporters/escape.h"
#include "reporters/number.h"

void tg_html_put_name(struct tg_buf *out, tg_sv name)
{
    struct tg_page page = { .out = out };
    tg_page_name(&page, name, TG_HTML_NAME);
}

void tg_html_put_text(struct tg_buf *out, tg_sv sentence)
{
    struct tg_piece piece;
    while (tg_message_next(&sentence, &piece)) {
        TG_BUF printed = { 0 };
        tg_put_printed(&printed, piece.text);
        if (piece.type == TG_PIECE_NAME)
            tg_html_put_name(out, piece.text);
        else if (piece.type == TG_PIECE_WORDS)
            tg_esc_xml(out, tg_buf_sv(&printed));
        else
            TG_PUT(out, tg_esc_xml, "<code>{}</code>", piece.text);
    }
}
