#ifndef TG_DIFF_ACCOUNT_H
#define TG_DIFF_ACCOUNT_H
/*
 * The account: did the program as a whole take longer or do more? Three series, one value per run,
 * as measured, nothing taken off, whatever could or could not be judged by name:
 *
 *   wall    (end of the last step - start of the first) / steps, ns; of a trace without markers its
 *           length, divided by the ratio of iterations
 *   busy    union of the device work of the trace / steps, ns, linked to a launch or not; without
 *           collectives, whose time is a wait for other ranks
 *   calls   rows of operators, calls of the runtime and device work / steps, without polling
 *
 * Mean over ranks; if that has not grown, of the rank that has most, else of each rank by 30 %.
 * What is outside the steps (busy, calls) counts by the step or by the trace, whichever grew less;
 * where the window skips steps, the used ones' part of it.
 *
 *   grown   median fresh / median baseline > 1 + limit, and the exact rank test of the runs has
 *           p <= 2/252 (one inversion of 5v5), or as little as so many runs can have
 *   limit   8 % where 1 / C(nb + nt, nt) <= 1/20 (3v3, 5v2); else 30 %
 *   forgiven  it is so only without the largest of three baseline runs or more: one polluted
 *           recording hides no growth, but it may be the usual one
 *   in most runs  more than half of the fresh runs are above every baseline run by the limit: the
 *           others hide no growth, but they may be the usual ones
 *
 * Cost: one pass over the rows of all shards.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/diff/numbers.h"

enum tg_account_id { TG_ACCOUNT_WALL, TG_ACCOUNT_BUSY, TG_ACCOUNT_CALLS, TG_ACCOUNTS };

/* The strongest that holds. */
enum tg_growth {
    TG_GROWTH_NONE,
    TG_GROWTH_IN_MOST_RUNS,
    TG_GROWTH_FORGIVEN,
    TG_GROWTH_PROVEN,
};

/* Over ranks, and one of them. */
enum tg_account_of { TG_ACCOUNT_MEAN, TG_ACCOUNT_MOST, TG_ACCOUNT_RANKS };

struct tg_account_series {
    bool known;      /* in every run of both sides; else nothing below is set */
    double value[2]; /* medians over runs */
    double lo[2], hi[2];
    double limit;
    bool few; /* too few runs for the separation to say much: the larger limit */
    enum tg_growth growth;
    bool one_of_many; /* a rank, and of so many one may be so by chance */
    /* Of growth: not as much without the longest step of each trace (a cold start, a
     * recompilation, a clock that jumps); not so within the steps; */
    bool one_step, outside;
    /* In all names alike, as on a slower or busy machine: without the TG_SPREAD that grew most, the
     * others have grown by half as much or more, in proportion, and most of their time by
     * TG_TAU_DEVICE. Of times, means over all steps and runs. */
    bool spread;
    size_t of;    /* the numbers are of these, or of one rank: TG_ACCOUNT_RANKS + its index, */
    int64_t rank; /* and its number */
};
#endif
