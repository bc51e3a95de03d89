#include "core/base/message.h"

#include "core/base/utf8.h"

void tg_message_put_plain(struct tg_buf *out, tg_sv message)
{
    if (tg_utf8_valid(message)) { /* marks are not */
        tg_buf_add(out, message);
        return;
    }
    while (message.n) {
        size_t n = 0;
        while (n < message.n && !tg_utf8_is_mark(message.p[n]))
            n++;
        tg_buf_add(out, (tg_sv){ message.p, n });
        message = tg_sv_from(message, n);
        (void)tg_utf8_skip_mark(&message);
    }
}

void tg_message_put_name(struct tg_buf *out, tg_sv name, size_t most)
{
    tg_sv said = tg_utf8_prefix(name, most);
    tg_buf_putc(out, TG_MARK_NAME);
    tg_buf_add(out, name);
    if (said.n < name.n) {
        tg_buf_putc(out, TG_MARK_SAID);
        tg_buf_add(out, said);
        tg_buf_puts(out, "\xe2\x80\xa6");
    }
    tg_buf_putc(out, TG_MARK_END);
}

bool tg_message_list_next(struct tg_message_list *l, struct tg_buf *b)
{
    l->cut = l->n == l->most ? b->n : l->cut;
    if (l->n++ > l->most)
        return false;
    tg_buf_puts(b, l->n > 1 ? ", " : "");
    return true;
}

bool tg_message_list_end(const struct tg_message_list *l, struct tg_buf *b)
{
    if (l->n < 2 || l->n - 1 <= l->most)
        return false;
    b->n = l->cut;
    tg_buf_printf(b, " and %zu more", l->n - l->most);
    return true;
}

bool tg_message_next(tg_sv *message, struct tg_piece *piece)
{
    tg_sv s = *message;
    size_t n = tg_sv_find(s, TG_MARK_NAME), tick = tg_sv_find((tg_sv){ s.p, n }, '`');
    if (!s.n)
        return false;
    if (s.p[0] == TG_MARK_NAME) {
        s = tg_sv_from(s, 1);
        n = tg_sv_find(s, TG_MARK_END);
        *piece = (struct tg_piece){ TG_PIECE_NAME,
                                    { s.p, tg_sv_find((tg_sv){ s.p, n }, TG_MARK_SAID) } };
        *message = tg_sv_from(s, n < s.n ? n + 1 : n);
        return true;
    }
    if (tick == 0) { /* a pair with something in it; else it is a word */
        size_t end = tg_sv_find((tg_sv){ s.p + 1, n - 1 }, '`');
        if (end && end < n - 1) {
            *piece = (struct tg_piece){ TG_PIECE_CODE, { s.p + 1, end } };
            *message = tg_sv_from(s, end + 2);
            return true;
        }
        tick = 1 + tg_sv_find((tg_sv){ s.p + 1, n - 1 }, '`');
    }
    *piece = (struct tg_piece){ TG_PIECE_WORDS, { s.p, tick } };
    *message = tg_sv_from(s, tick);
    return true;
}

tg_sv tg_message_prefix(tg_sv message, size_t most)
{
    tg_sv before = tg_utf8_prefix(message, most), rest = before;
    while (tg_sv_find(rest, TG_MARK_NAME) < rest.n) {
        rest = tg_sv_from(rest, tg_sv_find(rest, TG_MARK_NAME) + 1);
        if (tg_sv_find(rest, TG_MARK_END) == rest.n) { /* it ends after the cut */
            rest.n = message.n - (size_t)(rest.p - message.p);
            before.n = (size_t)(rest.p - message.p) + tg_sv_find(rest, TG_MARK_END);
            before.n += before.n < message.n;
            break;
        }
    }
    return before;
}
