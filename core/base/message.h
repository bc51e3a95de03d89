#ifndef TG_BASE_MESSAGE_H
#define TG_BASE_MESSAGE_H
/*
 * A message is one line of text whose pieces have types: words, names, code. A report sets a name
 * off, shortens or links it, and never searches a sentence for it.
 *
 *   tg_buf_printf(&b, "renamed from " TG_NAME "? `tracegate diff` says so.", TG_SV_ARG(op->name));
 *
 * A name is between marks, bytes that UTF-8 and therefore no name has (core/summary/set.c). Sinks
 * of plain text (tg_utf8_visible, tg_doc_add_str) omit them. Code is between backticks. Whoever
 * prints pieces escapes all of them: a path that holds a mark looks wrong, and does no harm.
 */
#include "core/base/buf.h"

#define TG_NAMED(literal) "\xf8" literal "\xfa"
#define TG_SAID "\xf9"           /* in TG_NAMED: what is printed if nothing shortens the name */
#define TG_NAME TG_NAMED("%.*s") /* in a format: TG_SV_ARG(name) */
/* A name of which a line has room for `most` bytes. */
void tg_message_put_name(struct tg_buf *out, tg_sv name, size_t most);

enum tg_piece_type { TG_PIECE_WORDS, TG_PIECE_NAME, TG_PIECE_CODE };
struct tg_piece {
    enum tg_piece_type type;
    tg_sv text; /* a name is whole */
};
/* Takes the first piece from the front of *message; false: there is none. */
bool tg_message_next(tg_sv *message, struct tg_piece *piece);
/* Its first bytes, at most about `most`: a name that begins there is whole. */
tg_sv tg_message_prefix(tg_sv message, size_t most);
/*
 * A list in a sentence: "a, b, c and 4 more". One more than `most` is written instead of counted.
 *
 *   struct tg_message_list l = { .most = 3 };
 *   while (…)
 *       if (tg_message_list_next(&l, b))
 *           tg_buf_add(b, name);
 *   (void)tg_message_list_end(&l, b);
 */
struct tg_message_list {
    size_t most, n, cut;
};
/* Is the next one written? Its comma is. */
bool tg_message_list_next(struct tg_message_list *l, struct tg_buf *b);
bool tg_message_list_end(const struct tg_message_list *l, struct tg_buf *b); /* was it cut? */
/* Appends what is printed of a line that has marks, and nothing else. */
void tg_message_put_plain(struct tg_buf *out, tg_sv message);
#endif
