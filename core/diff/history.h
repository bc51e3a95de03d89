#ifndef TG_DIFF_HISTORY_H
#define TG_DIFF_HISTORY_H
/*
 * Baselines of earlier commits as extra baseline runs. They speak about durations only, and only
 * about what their program did alike: counts, facts, sums and values shown stay the baseline's own.
 *
 * Per operator: all runs, own and earlier, must agree on its calls. Each earlier recording is first
 * brought to the machine's speed at the baseline (median over big operators). A slowdown has to
 * show against the baseline's own runs as well as against all of them, so what an earlier commit
 * gained or lost is never charged to this change. Measures of the whole step take part only where
 * no judged count differs at all.
 */
#include "core/diff/compare.h"

/* Why an earlier baseline takes no part; NULL: it does. */
const char *tg_history_unfit(const struct tg_side *base, const struct tg_side *earlier);

/*
 * tg_compare with `n` earlier baselines, all of them fit, newest first. `out->history` counts their
 * runs.
 */
TG_MUST bool tg_compare_with_history(struct tg_comparison *out, const struct tg_side *base,
                                     const struct tg_side *test, const struct tg_side *earlier,
                                     size_t n, const struct tg_compare_opts *o, struct tg_arena *a,
                                     struct tg_err *err);
#endif
