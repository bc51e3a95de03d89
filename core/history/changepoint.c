#include "core/history/changepoint.h"

#include <math.h>

#include "core/diff/stats.h"

/*
 * c(n) for n = 13..40: the largest z_k that is exceeded in at most one look of 1000 without a
 * change. 13 to 16 from all orders of the nights, the others from 400,000,000 draws each: the
 * probability is known to 2e-6, and M takes few values, so the value is the exact one unless the
 * probability beside it is that near to 0.001. Made by tests/bench/history_null.c, which also
 * prints the probabilities. With 11 and 12 nights no order is rare enough.
 */
static const double tg_changepoint_null[] = {
    2.781315, 2.969287, 3.008915, 3.045609, 3.122880, 3.184392, 3.184337,
    3.174902, 3.191846, 3.173016, 3.207135, 3.200000, 3.204035, 3.208307,
    3.207665, 3.209877, 3.211820, 3.211572, 3.211586, 3.211807, 3.213417,
    3.212698, 3.213306, 3.217641, 3.214732, 3.217160, 3.216338, 3.217179,
};
/* Six decimals are kept: values of M that are equal to c(n) are not above it. */
#define TG_CHANGEPOINT_NULL_EPS 1e-6

double tg_changepoint_critical(size_t n)
{
    enum { FIRST = 13, N = sizeof tg_changepoint_null / sizeof *tg_changepoint_null };
    return n < FIRST || n - FIRST >= N ? (double)INFINITY : tg_changepoint_null[n - FIRST];
}

/* #{i < n: v[i] < x} */
static size_t below(const double *v, size_t n, double x)
{
    size_t c = 0;
    for (size_t i = 0; i < n; i++)
        c += v[i] < x;
    return c;
}

static double rank_z(size_t u, size_t k, size_t b)
{
    double pairs = (double)k * (double)b;
    return ((double)u - pairs / 2) / sqrt(pairs * (double)(k + b + 1) / 12);
}

/* z[k] for k = 1..last. Night m = n - k joins the new ones: it brings its wins over the older
 * nights, and takes away the wins of the newer ones over it. */
static void rank_zs(const double *v, size_t n, size_t last, double *z)
{
    size_t u = 0;
    for (size_t k = 1; k <= last; k++) {
        size_t m = n - k;
        u += below(v, m, v[m]);
        u -= tg_above(v + m + 1, k - 1, v[m]);
        z[k] = rank_z(u, k, m);
    }
}

double tg_changepoint_median(const double *v, size_t n)
{
    double copy[TG_CHANGEPOINT_WINDOW];
    memcpy(copy, v, n * sizeof *v);
    return tg_median(copy, n);
}

static double two_sided(const double *v, size_t n, double median)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (v[i] - median) * (v[i] - median);
    return sum;
}

/* A difference of medians of `b` and `k` values, in its standard errors; `least`: the variance that
 * the difference has at least. */
static double in_errors(double e, double variance, size_t b, size_t k, double least)
{
    double se = sqrt(fmax(variance * (1 / (double)b + 1 / (double)k), least));
    return se > 0 ? e / se : (double)INFINITY;
}

/* The sizes of one split; `fast`: the smaller variance. */
static struct tg_history_scan sized(const double *v, const double *own, size_t n, size_t k,
                                    bool fast)
{
    size_t b = n - k;
    double before = tg_changepoint_median(v, b), after = tg_changepoint_median(v + b, k), s2;
    struct tg_history_scan s = { .k = k, .e = after - before };
    s2 = tg_harmful_variance(v, b, v + b, k, before, after);
    if (fast) {
        double both = (two_sided(v, b, before) + two_sided(v + b, k, after)) / (double)(n - 2);
        s2 = both < s2 ? both : s2;
    }
    s.z = s.e <= 0 ? 0 : in_errors(s.e, s2, b, k, tg_mean(own + b, k) / (double)k);
    return s;
}

/* In sum, how far the values are from their median. */
static double spread(const double *v, size_t n)
{
    double median = tg_changepoint_median(v, n), sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += fabs(v[i] - median);
    return sum;
}

static bool scanned(const double *v, const double *own, size_t n, const double *z,
                    struct tg_history_scan *out)
{
    size_t last =
        n - TG_CHANGEPOINT_OLD < TG_CHANGEPOINT_LAST ? n - TG_CHANGEPOINT_OLD : TG_CHANGEPOINT_LAST;
    size_t best = TG_CHANGEPOINT_FIRST;
    for (size_t k = best + 1; k <= last; k++)
        best = z[k] > z[best] ? k : best;
    if (z[best] <= tg_changepoint_critical(n) + TG_CHANGEPOINT_NULL_EPS)
        return false;
    *out = sized(v, own, n, best, false);
    if (out->e <= TG_CHANGEPOINT_TAU || out->z <= TG_CHANGEPOINT_Z)
        return false;
    out->lane = TG_LANE_SCAN;
    out->rank_z = z[best];
    out->p = tg_rank_p(v, n - best, v + (n - best), best, 0);
    return true;
}

static bool fast(const double *v, const double *own, size_t n, const double *z,
                 struct tg_history_scan *out)
{
    for (size_t k = TG_CHANGEPOINT_FAST_FIRST;
         k <= TG_CHANGEPOINT_FAST_LAST && n - k >= TG_CHANGEPOINT_FAST_OLD; k++) {
        size_t b = n - k;
        if (tg_least(v + b, k) <= tg_most(v, b)) /* a new night is not above every one before */
            continue;
        double p = tg_rank_p(v, b, v + b, k, 0);
        if (p > TG_CHANGEPOINT_FAST_P)
            continue;
        *out = sized(v, own, n, k, true);
        if (out->e <= TG_CHANGEPOINT_TAU || out->z <= TG_CHANGEPOINT_FAST_Z)
            continue;
        out->lane = TG_LANE_FAST;
        out->rank_z = z[k];
        out->p = p;
        return true;
    }
    return false;
}

struct tg_history_scan tg_history_scan_look(const double *v, const double *own, size_t n)
{
    struct tg_history_scan s = { 0 };
    double z[TG_CHANGEPOINT_LAST + 1];
    size_t last = n < TG_CHANGEPOINT_LAST + 1 ? n - 1 : TG_CHANGEPOINT_LAST;
    if (n < TG_CHANGEPOINT_FEWEST || n > TG_CHANGEPOINT_WINDOW)
        return s;
    rank_zs(v, n, last, z);
    if (!scanned(v, own, n, z, &s) && !fast(v, own, n, z, &s))
        return (struct tg_history_scan){ 0 };
    s.k_min = 1;
    s.k_max = n - TG_CHANGEPOINT_OLD;
    (void)tg_changepoint_locate(v, n, &s.k_min, &s.k_max);
    return s;
}

size_t tg_changepoint_locate(const double *v, size_t n, size_t *k_min, size_t *k_max)
{
    double away[TG_CHANGEPOINT_WINDOW] = { 0 }, most;
    size_t first = *k_min, last = *k_max, best = first;
    for (size_t k = first; k <= last; k++) {
        away[k] = spread(v, n - k) + spread(v + n - k, k);
        best = away[k] < away[best] ? k : best;
    }
    most = away[best] * pow(TG_CHANGEPOINT_PLACE, 1 / (double)n);
    for (*k_min = best; *k_min > first && away[*k_min - 1] <= most;)
        --*k_min;
    for (*k_max = best; *k_max < last && away[*k_max + 1] <= most;)
        ++*k_max;
    return best;
}

/* ---- drift ---- */

double tg_changepoint_trend(const double *v, size_t n)
{
    double s = 0, count = (double)n;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            s += v[i] > v[k] ? 1 : v[i] < v[k] ? -1 : 0;
    return n < 2 ? 0 : s / sqrt(count * (count - 1) * (2 * count + 5) / 18);
}

bool tg_changepoint_is_line(const double *v, size_t n)
{
    /* Sum of squares about the line of least squares. */
    double middle = (double)(n - 1) / 2, level = tg_mean(v, n), xx = 0, xy = 0;
    for (size_t i = 0; i < n; i++) {
        xx += ((double)i - middle) * ((double)i - middle);
        xy += ((double)i - middle) * (v[i] - level);
    }
    double line = two_sided(v, n, level) - (xx > 0 ? xy * xy / xx : 0);
    for (size_t k = 1; k < n; k++)
        if (two_sided(v, k, tg_mean(v, k)) + two_sided(v + k, n - k, tg_mean(v + k, n - k)) <= line)
            return false;
    return n > 1;
}

struct tg_drift tg_drift_look(const double *old, size_t n_old, const double *new_, size_t n_new)
{
    struct tg_drift d = { 0 };
    for (size_t i = 0; i < n_new; i++)
        if (below(old, n_old, new_[i] - TG_DRIFT_TAU) < n_old)
            return d;
    double before = tg_changepoint_median(old, n_old);
    double after = tg_changepoint_median(new_, n_new);
    d.e = after - before;
    d.z = in_errors(d.e, tg_harmful_variance(old, n_old, new_, n_new, before, after), n_old, n_new,
                    0);
    d.found = d.z > TG_CHANGEPOINT_Z;
    return d;
}
