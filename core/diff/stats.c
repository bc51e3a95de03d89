#include "core/diff/stats.h"

#include <math.h>

#include "core/diff/numbers.h"

static int by_count(const void *pa, const void *pb)
{
    uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;
    return TG_CMP(a, b);
}

double tg_least(const double *v, size_t n)
{
    double x = n ? v[0] : 0;
    for (size_t i = 1; i < n; i++)
        x = v[i] < x ? v[i] : x;
    return x;
}

double tg_most(const double *v, size_t n)
{
    double x = n ? v[0] : 0;
    for (size_t i = 1; i < n; i++)
        x = v[i] > x ? v[i] : x;
    return x;
}

double tg_mean(const double *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    return n ? sum / (double)n : 0;
}

size_t tg_above(const double *v, size_t n, double limit)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += v[i] > limit;
    return found;
}

/* Shell's sort with Ciura's gaps: for the runs and steps of a
 * comparison five times as fast as qsort. */
void tg_ascend(double *v, size_t n)
{
    static const size_t gaps[] = { 701, 301, 132, 57, 23, 10, 4, 1 };
    enum { MANY = 4000 };
    if (n > MANY) {
        TG_SORT(v, n, tg_by_real);
        return;
    }
    if (n < 2)
        return;
    for (size_t g = n < 24 ? 5 : 0; g < sizeof gaps / sizeof *gaps; g++)
        for (size_t i = gaps[g]; i < n; i++) {
            double x = v[i];
            size_t j = i;
            for (; j >= gaps[g] && v[j - gaps[g]] > x; j -= gaps[g])
                v[j] = v[j - gaps[g]];
            v[j] = x;
        }
}

double tg_median(double *v, size_t n)
{
    if (n == 0)
        return 0;
    tg_ascend(v, n);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

double tg_mid_mean(double *v, size_t n)
{
    size_t out = n / 4 ? n / 4 : n >= 3;
    double sum = 0;
    if (n == 0)
        return 0;
    tg_ascend(v, n);
    for (size_t i = out; i + out < n; i++)
        sum += v[i];
    return sum / (double)(n - 2 * out);
}

double tg_quantile(double *v, size_t n, double q)
{
    if (n == 0)
        return NAN;
    tg_ascend(v, n);
    double at = (double)(n - 1) * q;
    size_t i = (size_t)at;
    if (i + 1 >= n)
        return v[n - 1];
    return v[i] + (at - (double)i) * (v[i + 1] - v[i]);
}

uint64_t tg_mode(uint64_t *v, size_t n, size_t *hits)
{
    uint64_t best = 0;
    size_t most = 0, up = 1;
    while (up < n && v[up - 1] <= v[up])
        up++;
    if (up < n) /* most counts are constant */
        TG_SORT(v, n, by_count);
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i; j < n && v[j] == v[i]; j++)
            ;
        if (j - i >= most) { /* ascending: a later equal one is larger */
            most = j - i;
            best = v[i];
        }
    }
    if (hits)
        *hits = most;
    return best;
}

size_t tg_period_of(const double *v, size_t n)
{
    for (size_t period = 1; 2 * period <= n; period++) {
        size_t i = period;
        while (i < n && v[i] == v[i - period])
            i++;
        if (i == n)
            return period;
    }
    return 0;
}

double tg_harmful_variance(const double *base, size_t nb, const double *test, size_t nt,
                           double median_base, double median_test)
{
    double sum = 0;
    if (nb + nt <= 2)
        return 0;
    for (size_t i = 0; i < nb; i++) {
        double over = fmax(base[i] - median_base, 0);
        sum += over * over;
    }
    for (size_t i = 0; i < nt; i++) {
        double under = fmin(test[i] - median_test, 0);
        sum += under * under;
    }
    return 2 * sum / (double)(nb + nt - 2);
}

double tg_moderated_se(double v, double v0, size_t nb, size_t nt)
{
    const double prior =
        2; /* degrees of freedom that v0 is worth; measured on tests' noise pairs */
    double d = nb + nt > 2 ? (double)(nb + nt - 2) : 0;
    double pooled = (prior * v0 + d * v) / (prior + d);
    return sqrt(pooled * (1 / (double)nb + 1 / (double)nt));
}

double tg_choose(size_t n, size_t k)
{
    double c = 1;
    if (k > n)
        return 0;
    for (size_t i = 1; i <= k; i++)
        c = c * (double)(n - k + i) / (double)i;
    return c;
}

/*
 * Arrangements of m + n values with statistic u, by which side holds the largest:
 * w(m, n, u) = w(m - 1, n, u - n) + w(m, n - 1, u), and 0 from u = m n + 1 on. One m at a time:
 * after round i row j has w(i, j, u), from the largest u down, so that what is read is still of
 * round i - 1. Cost (m n)^2 / 4. `p` receives the part of all arrangements that has at most u,
 * for u = 0..u_max.
 */
static void rank_chances(double *p, size_t m, size_t n, size_t u_max)
{
    size_t width = u_max + 1;
    TG_FREE double *w = tg_xcalloc((n + 1) * width, sizeof *w);
    double sum = 0, all = tg_choose(m + n, n);
    for (size_t j = 0; j <= n; j++)
        w[j * width] = 1;
    for (size_t i = 1; i <= m; i++)
        for (size_t j = 1; j <= n; j++) {
            double *row = w + j * width;
            const double *less = row - width;
            size_t end = i * j < u_max ? i * j + 1 : width;
            for (size_t u = end; u-- > j;)
                row[u] = row[u - j] + less[u];
            memcpy(row, less, (j < end ? j : end) * sizeof *row);
        }
    for (size_t u = 0; u < width; u++) {
        sum += w[n * width + u];
        p[u] = sum / all;
    }
}

/* Normal approximation with continuity correction. */
static double rank_p_of_many(size_t u, size_t nb, size_t nt)
{
    double mean = (double)nb * (double)nt / 2;
    double sd = sqrt(mean * (double)(nb + nt + 1) / 6);
    return 0.5 * erfc(-((double)u + 0.5 - mean) / (sd * sqrt(2)));
}

static bool is_many(size_t nb, size_t nt)
{
    return nb > TG_RANK_MAX || nt > TG_RANK_MAX;
}

struct tg_rank_table tg_rank_table_new(size_t nb, size_t nt, struct tg_arena *a)
{
    struct tg_rank_table t = { nb, nt, NULL };
    if (nb == 0 || nt == 0 || is_many(nb, nt))
        return t;
    double *p = TG_NEW_N(a, double, nb *nt + 1);
    rank_chances(p, nb, nt, nb * nt);
    t.p = p;
    return t;
}

double tg_rank_table_p(const struct tg_rank_table *t, const double *base, const double *test,
                       double shift)
{
    size_t u = 0;
    if (t->nb == 0 || t->nt == 0)
        return 1;
    for (size_t i = 0, below = 0; i < t->nt; i++) {
        while (below < t->nb && base[below] < test[i] - shift)
            below++;
        u += t->nb - below;
    }
    return t->p ? t->p[u] : rank_p_of_many(u, t->nb, t->nt);
}

double tg_rank_p(const double *base, size_t nb, const double *test, size_t nt, double shift)
{
    size_t u = 0;
    if (nb == 0 || nt == 0)
        return 1;
    for (size_t i = 0; i < nt; i++)
        for (size_t j = 0; j < nb; j++)
            u += test[i] - shift <= base[j];
    if (is_many(nb, nt))
        return rank_p_of_many(u, nb, nt);
    TG_FREE double *p = tg_xmalloc((u + 1) * sizeof *p);
    rank_chances(p, nb, nt, u);
    return p[u];
}

struct tg_threshold tg_threshold_of(size_t nb, size_t nt)
{
    size_t d = nb + nt > 2 ? nb + nt - 2 : 0;
    struct tg_threshold t = { .z = d <= 5   ? TG_Z_3
                                   : d <= 7 ? TG_Z_4
                                            : TG_Z_5,
                              .tau = d <= 5   ? TG_TAU_3
                                     : d <= 7 ? TG_TAU_4
                                              : TG_TAU_5,
                              .p_limit = TG_RANK_P };
    /*
     * With five runs per side one pair may be the wrong way round; with more runs, as many as are
     * equally unlikely, so that one busy run hides nothing. Smaller changes need the probability of
     * one such pair of 6v5.
     */
    if (nb >= 5 && nt >= 5)
        t.p_limit = TG_P_5;
    if (nb >= 8 && nt >= 8) {
        t.tau = TG_TAU_8;
        /* What the runs of both sides tell together, 1 / nb + 1 / nt: as much as 10v5, or 7v7, or
     * more. */
    } else if (10 * (nb + nt) <= 3 * nb * nt) {
        t.tau = TG_TAU_7;
        t.p_limit = TG_P_7;
    }
    t.p_limit = fmax(t.p_limit, 1.0001 / tg_choose(nb + nt, nt));
    return t;
}

double tg_half_p_limit(size_t nb, size_t nt)
{
    return fmax(TG_P_HALF, 1.0001 / tg_choose(nb + nt, nt));
}
