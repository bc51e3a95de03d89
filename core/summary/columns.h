#ifndef TG_SUMMARY_COLUMNS_H
#define TG_SUMMARY_COLUMNS_H
/*
 * The numbers of a shard as two columns of varints (pack.h). Neither depends on the document that
 * it is in.
 *
 * The pattern is what the ranks of one program have in common: calls by row and step, of the rows
 * and of the totals by Python frame; which rows lack some attributes; calls by attribute; the
 * order of kernels; gaps by step. A document holds each distinct pattern once.
 *
 * The values are the times, all divided by their greatest common divisor, which comes first: 1000
 * where a clock tells whole microseconds. Then: which rows keep their slots; by row and step the
 * inclusive time less the self time; the self time where the slots do not say it, relative to the
 * step before; the gaps; the slots. A slot is relative to the same call of the step before if that
 * has as many calls (the program repeats), else to the call before.
 */
#include "core/summary/book.h"

/* Rows with all but their times, as shards of one listing and one pattern share them. */
struct tg_shared_rows {
    struct tg_row *rows; /* and after them those of frames */
    size_t n_rows, n_frames, n_steps;
    uint32_t *gap_count;
    uint64_t hash; /* content.c */
};

void tg_shared_rows_put(struct tg_buf *out, const struct tg_shard *s);
/* False: damaged. In `a`, which has to outlive the rows. */
TG_MUST bool tg_shared_rows_read(struct tg_shared_rows *out, tg_sv raw, const struct tg_listing *l,
                                 const struct tg_book_read *b, size_t n_steps, struct tg_arena *a);

/* `kept`: by row, whether its slots are put. */
void tg_shard_values_put(struct tg_buf *out, const struct tg_shard *s, const bool *kept);
/* Fills rows, frames and gaps of a shard with the shape and its times, in `a`. False: damaged. */
TG_MUST bool tg_shard_values_read(struct tg_shard *s, tg_sv raw, const struct tg_shared_rows *shape,
                                  struct tg_arena *a);
#endif
