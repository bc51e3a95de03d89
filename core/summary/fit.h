#ifndef TG_SUMMARY_FIT_H
#define TG_SUMMARY_FIT_H
/*
 * A run within a number of bytes, whatever the number of its ranks. The parts that a comparison
 * misses least go first:
 *
 *   1. the slots of the smallest rows of every rank: these rows are compared by their sums per step
 *      (summary.h);
 *   2. ranks: as many as fit stay whole, without slots; of the others the step times are kept
 *      (shard.steps_only), so that what is said of all ranks together stays true. Whole are the
 *      first rank, the slowest, and ranks spread evenly over the rest, in an order that depends on
 *      their number alone: of two runs of a program, one has all the ranks that the other has, but
 *      for the slowest.
 *
 * A rank that is kept keeps all its rows: a missing one would read as a new operator.
 */
#include "core/summary/summary.h"

/* What git stores of these bytes as a blob: deflated at git's default levels, 1 for a loose object
 * and 6 in a pack, whichever takes more. (Unless core.compression is set.) */
size_t tg_packed_size(tg_sv bytes);

struct tg_fitted {
    size_t packed; /* bytes, as above */
    size_t ranks;  /* that stay whole */
    bool all_slots;
};
/*
 * `run`: the shards of one run, one per rank. Appends its stored form to `out`. TG_ERR_LIMIT if not
 * even one rank fits, or if more step times would remain than can be read back (131,072); nothing
 * is appended then. Equal runs give equal bytes.
 */
TG_MUST bool tg_summary_fit(const struct tg_summary *run, size_t most, struct tg_buf *out,
                            struct tg_fitted *how, struct tg_err *err);
#endif
