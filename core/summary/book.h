#ifndef TG_SUMMARY_BOOK_H
#define TG_SUMMARY_BOOK_H
/*
 * What the shards of a stored document have in common, so that it is written once: the texts, the
 * keys of rows (kind, name, category, parent, device, stream), those of totals by Python frame, and
 * the attributes of rows. All are distinct and ascending, so that an id is a position, equal
 * content is equal bytes, and the rows of a shard are ascending ids: a few bytes where its ranks
 * run the same program.
 *
 * Packed (pack.h), in this order, each as one array of packed chunks:
 *
 *   texts       length, bytes
 *   rows        ids of name, category and parent; device; stream
 *   frames      the same
 *   attributes  id of the row (difference to the one before), kind, id of the value
 */
#include "core/base/doc.h"
#include "core/base/strmap.h"
#include "core/summary/internal.h"
#include "core/trace/zlib_pack.h"

enum tg_book_set { TG_BOOK_ROWS, TG_BOOK_FRAMES, TG_BOOK_SETS };

/* ---- writing ---- */

/* One shard as ids of a book, in the order of the shard: rows, frames, attributes of its rows. */
struct tg_listing {
    uint32_t *row[TG_BOOK_SETS], *attr;
    size_t n[TG_BOOK_SETS], n_attrs;
};
void tg_listing_release(struct tg_listing *l);

struct tg_book {
    struct tg_strmap texts, keys[TG_BOOK_SETS], attrs;  /* ids in order of arrival */
    uint32_t *text_at, *key_at[TG_BOOK_SETS], *attr_at; /* id -> position, once sorted */
    enum tg_zlib_level level;
};
void tg_book_init(struct tg_book *b);
void tg_book_release(struct tg_book *b);
/* Adds a shard's texts, keys and attributes; `out` are their ids. */
void tg_book_list(struct tg_book *b, const struct tg_shard *s, struct tg_listing *out);
/* After the last shard: positions, and the members "texts", "rows",
 * "frames" and "attributes" of `d`. */
void tg_book_write(struct tg_book *b, struct tg_doc *d);
/* The listing as positions: numbers of rows, frames and attributes, each with its differences. */
void tg_listing_put(struct tg_buf *out, const struct tg_listing *l, const struct tg_book *b);

/* ---- reading ---- */

struct tg_book_attr {
    uint32_t row;
    struct tg_attr attr; /* its count is the shard's */
};
struct tg_book_read {
    struct tg_row_key *row[TG_BOOK_SETS];
    struct tg_book_attr *attr;
    tg_sv *text;
    size_t n[TG_BOOK_SETS], n_attrs, n_texts;
};
/* Everything lives in `a`. False: damaged. */
TG_MUST bool tg_book_read(struct tg_book_read *out, const struct tg_doc *d, struct tg_arena *a);
/* A listing as it was put; false: damaged. In `a`. */
TG_MUST bool tg_listing_read(struct tg_listing *out, tg_sv raw, const struct tg_book_read *b,
                             struct tg_arena *a);
/* Adds all of a document that was read: `to` are the ids of its rows, frames and attributes. */
void tg_book_join(struct tg_book *b, const struct tg_book_read *from, struct tg_listing *to);
#endif
