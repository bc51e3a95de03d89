#ifndef TG_SUMMARY_STORE_H
#define TG_SUMMARY_STORE_H
/*
 * {"tracegate_summary":1,"shards":[
 *     {run, hash, rank, window, classes, marked, truncated, env, steps, measures, counters, hints,
 *      texts, columns, slots}]}
 *
 * `texts` are the distinct texts of rows and facts, ascending; `columns` (numbers of rows and gaps)
 * and `slots` are packed (pack.h). Shards with totals by Python frame also have `frames` (which
 * sorts) and `frame_columns` (their rows, packed as `columns` are). Truncated shards (fit.h) of a
 * run share one object: left_out.c.
 *
 * The hash covers every field except run, hash and slots; the slots of a row must add up to its
 * self times. So damage is noticed, and what is read is what was written. Any change of what is
 * written needs another TG_SUMMARY_FORMAT.
 */
#include "core/summary/internal.h"

/* Counters of a shard and their places, for both directions. Values beyond int64 cannot be met. */
struct tg_stored_counter {
    const char *name;
    size_t offset;
};
#define TG_STORED_COUNTERS 22
extern const struct tg_stored_counter tg_stored_counters[TG_STORED_COUNTERS];

/*
 * The value that a slot is stored relative to: the same call in the previous step if that has as
 * many calls (the program repeats), else the previous call.
 */
static inline tg_ns tg_slot_expected(const struct tg_row *r, size_t step, size_t i, const tg_ns *at)
{
    if (step > 0 && r->count[step] == r->count[step - 1])
        return *(at - r->count[step]);
    return i ? at[-1] : 0;
}
#endif
