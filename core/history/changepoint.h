#ifndef TG_HISTORY_CHANGEPOINT_H
#define TG_HISTORY_CHANGEPOINT_H
/*
 * Has the newest part of one series moved? Pure functions of numbers: values are natural logs (or
 * parts of 1 for percentages), oldest first, one per night. A rise is asked for; for a fall the
 * caller negates the values. Docs: docs/nightly.md, "How a change is found".
 *
 * Rank scan. The newest k of n nights against the b = n - k before them:
 *
 *     z_k = (U_k - k b / 2) / sqrt(k b (n + 1) / 12),   U_k = #{old x new pairs with new > old}
 *
 * for k = TG_CHANGEPOINT_FIRST..TG_CHANGEPOINT_LAST with b >= TG_CHANGEPOINT_OLD. The largest z_k
 * has to exceed c(n), tg_changepoint_critical: without a change that happens in one look of 1000,
 * whatever the distribution of the nights (the nights being exchangeable). Ties count against the
 * change.
 *
 * Size. The difference of the medians e has to exceed TG_CHANGEPOINT_TAU and z = e / (s sqrt(1/b +
 * 1/k)) to exceed TG_CHANGEPOINT_Z, with s from the harmful halves only (core/diff/stats.h),
 * because the nights of a machine that is busy spread upwards. The square of the standard error is
 * at least the mean variance of the new nights, as the runs of each tell it, divided by k: a few
 * nights that lie close together by chance are not sure, least of all when the noise has grown.
 *
 * Fast lane, for large steps: k = 2..4 against at least TG_CHANGEPOINT_FAST_OLD nights, each of the
 * new ones above each of the old ones, exact rank test p <= 0.005, e > TG_CHANGEPOINT_TAU, z > 8
 * with the smaller of the two-sided and the harmful variance. A shorter past of an operator that is
 * now and then slow by half has not shown it yet.
 *
 * Cost: O(n (TG_CHANGEPOINT_LAST + 1)) comparisons a look; medians only where the ranks fire.
 */
#include "core/base/sv.h"

enum {
    TG_CHANGEPOINT_WINDOW = 40, /* nights of a look at most: the table of c(n) ends here */
    TG_CHANGEPOINT_FEWEST = 11, /* below: no verdict */
    TG_CHANGEPOINT_FIRST = 3,
    TG_CHANGEPOINT_LAST = 10,
    TG_CHANGEPOINT_OLD = 8,
    TG_CHANGEPOINT_FAST_OLD = 16,
    TG_CHANGEPOINT_FAST_FIRST = 2,
    TG_CHANGEPOINT_FAST_LAST = 4
};
#define TG_CHANGEPOINT_TAU 0.0198026272961797 /* ln 1.02 */
#define TG_CHANGEPOINT_Z 5.0
#define TG_CHANGEPOINT_FAST_Z 8.0
#define TG_CHANGEPOINT_METRIC_Z                                                                    \
    6.5 /* of metrics of the step, which hold all that disturbs a machine */
#define TG_CHANGEPOINT_FAST_P 0.005
#define TG_CHANGEPOINT_PLACE 100.0 /* times as likely as a split of the range the best one may be */

enum tg_lane { TG_LANE_NONE, TG_LANE_SCAN, TG_LANE_FAST };

struct tg_history_scan {
    enum tg_lane lane;   /* NONE: nothing found; the rest is 0 then */
    size_t k;            /* the newest k nights differ the most from those before */
    size_t k_min, k_max; /* where it may be: tg_changepoint_locate */
    double e;            /* median of the new nights minus median of the old */
    double rank_z;       /* z_k of the ranks */
    double z;            /* e in standard errors */
    double p;            /* exact rank test of this split */
};

/* c(n), the critical value of the largest z_k; INFINITY below 13 nights and above the table. */
double tg_changepoint_critical(size_t n);
/* Median of at most TG_CHANGEPOINT_WINDOW values, which keep their order; 0 when n == 0. */
double tg_changepoint_median(const double *v, size_t n);
/* The newest part of v[0..n) against the rest; n <= TG_CHANGEPOINT_WINDOW. `own`: of each night the
 * variance that its runs tell; 0: unknown. */
struct tg_history_scan tg_history_scan_look(const double *v, const double *own, size_t n);
/*
 * Where a step is, among the splits of *k_min to *k_max nights after it: that of the greatest
 * likelihood, and beside it, as *k_min and *k_max, those of at least 1 / TG_CHANGEPOINT_PLACE of
 * that. By values, not by ranks: two new nights have the ranks that the highest old ones would
 * have, and the order of the old nights, which is chance, would decide. The nights of a level are
 * taken to be about its median by the law of Laplace, exp(-|x| / b), in which one bad night says
 * less than in the normal one; the likelihood of a split is the -n-th power of the sum of |x|.
 * n <= TG_CHANGEPOINT_WINDOW. Cost: two medians per split. Returns the best one.
 */
size_t tg_changepoint_locate(const double *v, size_t n, size_t *k_min, size_t *k_max);

/*
 * A drift that no window sees: all of the newest TG_DRIFT_NIGHTS nights are more than 5 % above
 * every night of the level they are compared with, and the medians more than 5 standard errors
 * apart. `old` are the first nights of that level. What came in one burst is not a drift: the
 * caller asks tg_changepoint_trend of all nights in between.
 */
enum { TG_DRIFT_NIGHTS = 5, TG_DRIFT_LEVEL = 10 };
#define TG_DRIFT_TAU 0.048790164169432 /* ln 1.05 */
struct tg_drift {
    bool found;
    double e, z;
};
#define TG_DRIFT_TREND 3.0
/* Mann-Kendall: z of the number of pairs that rise less those that fall. n (n - 1) / 2
 * comparisons. */
double tg_changepoint_trend(const double *v, size_t n);
/* Nearer to a straight line than to two levels, split where that is best: by squares, n <=
 * TG_CHANGEPOINT_WINDOW. */
bool tg_changepoint_is_line(const double *v, size_t n);
struct tg_drift tg_drift_look(const double *old, size_t n_old, const double *new_, size_t n_new);
#endif
