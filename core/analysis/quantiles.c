#include "core/analysis/quantiles.h"

#include <math.h>

#include "core/base/sort.h"
#include "core/steps/steps.h"

static double quantile(const double *sorted, size_t n, double q)
{
    double at = q * (double)(n - 1);
    size_t i = (size_t)at;
    if (i + 1 >= n)
        return sorted[n - 1];
    return sorted[i] + (sorted[i + 1] - sorted[i]) * (at - (double)i);
}

static struct tg_quantiles nothing(void)
{
    return (struct tg_quantiles){ 0, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
}

struct tg_quantiles tg_quantiles_of(double *v, size_t n)
{
    struct tg_quantiles d = nothing();
    double sum = 0, squares = 0;
    if (!n)
        return d;
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    d.count = n;
    d.mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (v[i] - d.mean) * (v[i] - d.mean);
    if (n > 1)
        d.std = sqrt(squares / (double)(n - 1));
    TG_SORT(v, n, tg_by_real);
    d.min = v[0];
    d.q25 = quantile(v, n, 0.25);
    d.q50 = quantile(v, n, 0.5);
    d.q75 = quantile(v, n, 0.75);
    d.max = v[n - 1];
    return d;
}

static int by_weighted(const void *pa, const void *pb)
{
    const struct tg_weighted *a = pa, *b = pb;
    int c = (a->v > b->v) - (a->v < b->v);
    return c ? c : (a->w > b->w) - (a->w < b->w);
}

struct tg_quantiles tg_quantiles_weighted(struct tg_weighted *v, size_t n)
{
    struct tg_quantiles d = nothing();
    double total = 0, sum = 0, squares = 0, passed = 0;
    double *const quartile[] = { &d.q25, &d.q50, &d.q75 };
    size_t kept = 0, q = 0;
    for (size_t i = 0; i < n; i++)
        if (v[i].w > 0)
            v[kept++] = v[i];
    if (!kept)
        return d;
    TG_SORT(v, kept, by_weighted);
    for (size_t i = 0; i < kept; i++) {
        total += v[i].w;
        sum += v[i].v * v[i].w;
    }
    d.count = kept;
    d.mean = sum / total;
    for (size_t i = 0; i < kept; i++) {
        squares += (v[i].v - d.mean) * (v[i].v - d.mean) * v[i].w;
        passed += v[i].w;
        while (q < 3 && passed >= total * 0.25 * (double)(q + 1))
            *quartile[q++] = v[i].v;
    }
    for (; q < 3; q++)
        *quartile[q] = v[kept - 1].v;
    d.std = sqrt(squares / total);
    d.min = v[0].v;
    d.max = v[kept - 1].v;
    return d;
}

void tg_running_stats_add(struct tg_running_stats *s, tg_ns v)
{
    struct tg_running_stats one = { 1, v, v, v, (double)v, 0 };
    tg_running_stats_merge(s, &one);
}

void tg_running_stats_merge(struct tg_running_stats *s, const struct tg_running_stats *other)
{
    double n = (double)s->n + (double)other->n, distance = other->mean - s->mean;
    if (!other->n)
        return;
    if (!s->n) {
        *s = *other;
        return;
    }
    s->squares += other->squares + distance * distance * ((double)s->n * (double)other->n / n);
    s->mean += distance * ((double)other->n / n);
    s->n += other->n;
    s->sum = tg_ns_add(s->sum, other->sum);
    s->min = other->min < s->min ? other->min : s->min;
    s->max = other->max > s->max ? other->max : s->max;
}

double tg_running_stats_std(const struct tg_running_stats *s)
{
    return s->n > 1 ? sqrt(s->squares / (double)(s->n - 1)) : 0;
}

double tg_round_to(double v, int digits)
{
    double scale = 1;
    for (int i = 0; i < digits; i++)
        scale *= 10;
    return rint(v * scale) / scale;
}
