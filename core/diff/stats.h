#ifndef TG_DIFF_STATS_H
#define TG_DIFF_STATS_H
/*
 * The formulae of the duration rule, each by itself: plain functions of numbers. What they are for:
 * docs/statistics-rules.md. Logs are natural; a sample is a run.
 */
#include "core/base/arena.h"
#include "core/base/sort.h"
#include "core/diff/numbers.h"

/* Of `n` numbers; 0 when n == 0. */
double tg_least(const double *v, size_t n);
double tg_most(const double *v, size_t n);
double tg_mean(const double *v, size_t n);
size_t tg_above(const double *v, size_t n, double limit); /* how many exceed it */
/* Ascending. */
void tg_ascend(double *v, size_t n);
/* Median of `n` numbers (mean of the middle two); 0 when n == 0. Sorts `v`. */
double tg_median(double *v, size_t n);
/*
 * Mean of the middle half: without the floor(n / 4), but of three or more at least one, smallest
 * and largest. Of up to four numbers the median. As robust as quartiles are, and less random than
 * the median of five. 0 when n == 0. Sorts `v`.
 */
double tg_mid_mean(double *v, size_t n);
/* Quantile q (0..1) by linear interpolation between order statistics. Sorts `v`; NaN when empty. */
double tg_quantile(double *v, size_t n, double q);

/*
 * The most frequent value; of equally frequent ones the largest. Sorts `v`. `hits` (may be NULL)
 * receives how often it occurs.
 */
uint64_t tg_mode(uint64_t *v, size_t n, size_t *hits);

/* After how many values they repeat themselves, at least twice; 0: never. */
size_t tg_period_of(const double *v, size_t n);

/*
 * Noise of a comparison, only in the harmful direction: baseline runs above and fresh runs below
 * their median, 2 * sum of squares / (nb + nt - 2). 0 when nb + nt <= 2.
 */
double tg_harmful_variance(const double *base, size_t nb, const double *test, size_t nt,
                           double median_base, double median_test);
/*
 * Standard error of the difference, the variance `v` (d degrees of freedom) moderated by `v0` (2).
 */
double tg_moderated_se(double v, double v0, size_t nb, size_t nt);

/*
 * Exact one-sided Mann-Whitney test that `test` - `shift` is above `base`; ties count against it. U
 * = #{(t, b): t - shift <= b}; p = arrangements with at most U / C(nb + nt, nt). Up to TG_RANK_MAX
 * runs per side; larger sides use the normal approximation with continuity correction.
 */
#define TG_RANK_MAX 64
double tg_rank_p(const double *base, size_t nb, const double *test, size_t nt, double shift);
/*
 * The same for many tests of one pair of sizes: the chances of all U are counted once, which costs
 * (nb nt)^2; a test of values that ascend is then a look-up, and equal bit for bit. In the arena.
 */
struct tg_rank_table {
    size_t nb, nt;
    const double *p; /* by U; NULL: approximated */
};
struct tg_rank_table tg_rank_table_new(size_t nb, size_t nt, struct tg_arena *a);
double tg_rank_table_p(const struct tg_rank_table *t, const double *base, const double *test,
                       double shift);
/* C(n, k) as a double. */
double tg_choose(size_t n, size_t k);

/* What a number of runs has to show: |z| standard errors and a size of tau. */
struct tg_threshold {
    double z, tau;
    double p_limit; /* max(1 / C(nb + nt, nt), 0.001; 5v5: 2 / 252, 10v5: 2 / 462) */
};
struct tg_threshold tg_threshold_of(size_t nb, size_t nt);

/* Each half of a run's steps has to show this part of the slowdown, with a rank test of its own. */
double tg_half_p_limit(size_t nb, size_t nt);
#endif
