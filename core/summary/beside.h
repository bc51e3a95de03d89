#ifndef TG_SUMMARY_BESIDE_H
#define TG_SUMMARY_BESIDE_H
/*
 * How much of a slot work of other streams of its device overlaps: it takes longer meanwhile. In
 * sixteenths of its duration, rounded up, so that 0 is nothing at all.
 *
 * The column is optional: of a summary without it, as those of 0.2.0 are, it is not
 * known. Per row that has any: how many rows after the one before, then a byte a slot, in steps.
 */
#include "core/summary/summary.h"

enum { TG_BESIDE_ALL = 16 };

/* Spans of device work that run at one time. */
struct tg_beside {
    struct tg_beside_span {
        uint32_t track;
        int64_t device;
        tg_ns start, end, over;
        uint8_t *slot;
    } v[TG_BESIDE_ALL]; /* of more of them the others are not looked at */
    size_t n;
};

/* In start order; `slot`, NULL or 0, is written at the latest by tg_beside_end. */
void tg_beside_add(struct tg_beside *b, const struct tg_beside_span *x);
void tg_beside_end(struct tg_beside *b);

/* Of a shard that knows it. */
void tg_beside_put(struct tg_buf *out, const struct tg_shard *s);
/* Into s->rows, in `a`. False: damaged. */
TG_MUST bool tg_beside_read(struct tg_shard *s, tg_sv raw, struct tg_arena *a);
#endif
