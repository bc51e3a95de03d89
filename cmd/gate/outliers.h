#ifndef TG_CMD_GATE_OUTLIERS_H
#define TG_CMD_GATE_OUTLIERS_H
/*
 * Runs of one commit that are not like the others, and what explains it. The usual step of a run is
 * the lower median of its step times; ranks are looked at one by one. What counts as unlike is
 * robust: a few such runs do not hide each other.
 */
#include "core/summary/summary.h"

enum tg_outlier_why {
    TG_OUTLIER_BUSY,  /* the usual step is longer, and most large operators are slower */
    TG_OUTLIER_ALONE, /* the usual step is longer, and few operators account for it */
    TG_OUTLIER_STEP,  /* one step took at least twice the run's usual one */
    TG_OUTLIER_COLD   /* the first one did */
};
const char *tg_outlier_name(enum tg_outlier_why w); /* "busy", "alone", "step", "cold" */

struct tg_outlier {
    const struct tg_shard *shard;
    enum tg_outlier_why why;
    double times;         /* the run's usual step, by that of the median run; or the slow step, by
                            the run's usual one */
    int64_t step;         /* its number, of STEP and COLD */
    size_t slower, large; /* BUSY, ALONE: operators from 1 % of the step, and how many of them are
                            slower by a tenth or more */
    tg_sv op;             /* ALONE: the one that is longer by most; "" none */
};

/* In order of ranks, then runs; a run may be there for its level and for a step. In `a`. */
const struct tg_outlier *tg_outliers_find(const struct tg_side *side, size_t *n,
                                          struct tg_arena *a);
#endif
