#ifndef TG_METRIC_COLLECTIVE_H
#define TG_METRIC_COLLECTIVE_H
/*
 * Matches the same collective on several ranks: the k-th of a key in a step is the k-th of that key
 * on the other ranks. A key identifies what runs: kernel name, process group, the operator around
 * the launch (one kernel serves several collectives, and ranks may run them in different orders),
 * and the ordinal of the stream. Uses durations only: the clocks of ranks need not agree.
 */
#include "core/base/strmap.h"
#include "core/steps/steps.h"

struct tg_collective { /* one collective on one rank */
    uint32_t key, rank;
    int64_t step; /* number; -1: outside, or a trace without steps */
    size_t nth;   /* position among those of its key in its step on its rank */
    tg_ns dur;
};

/*
 * Sorts `v` (ranks one after the other) and calls `f` with the spans of each collective, by rank.
 * `whole`: at least two ranks, and every rank that has the key at all has this one.
 */
void tg_collectives_match(struct tg_collective *v, size_t n, size_t n_keys,
                          void (*f)(void *arg, const struct tg_collective *p, size_t n, bool whole),
                          void *arg);
#endif
