#ifndef TG_ANALYSIS_QUANTILES_H
#define TG_ANALYSIS_QUANTILES_H
/*
 * Order statistics as data frames give them: quantiles by linear interpolation between order
 * statistics, standard deviation with n - 1 (unknown, NaN, below two values). All NaN when empty.
 */
#include "core/analysis/table.h"

struct tg_quantiles {
    size_t count;
    double mean, std, min, q25, q50, q75, max;
};

/* Sorts `v`. n log n. */
struct tg_quantiles tg_quantiles_of(double *v, size_t n);

/*
 * The same over a step function: value v[i] held for weight w[i] (time), so that a long state
 * counts more than a short one. std is that of the population; the q-quantile is the smallest value
 * such that at least the share q of the time is at or below it. Weights <= 0 are ignored; count is
 * the number of the others.
 */
struct tg_weighted {
    double v, w;
};
struct tg_quantiles tg_quantiles_weighted(struct tg_weighted *v, size_t n);

/* Running sum, extremes, mean and spread of durations; two of them can be merged. */
struct tg_running_stats {
    uint64_t n;
    tg_ns sum, min, max;
    double mean, squares; /* ns; sum of squared distances from the mean */
};
void tg_running_stats_add(struct tg_running_stats *s, tg_ns v);
void tg_running_stats_merge(struct tg_running_stats *s, const struct tg_running_stats *other);
/* Standard deviation with n - 1, in ns; 0 for one value. */
double tg_running_stats_std(const struct tg_running_stats *s);

/* To `digits` decimals, halves to even, as array libraries do: scale, round, scale back. */
double tg_round_to(double v, int digits);

/* count mean std min 25% 50% 75% max: their columns, and the cells; rounded if digits >= 0. */
#define TG_QUANTILE_COLUMNS(type)                                                                  \
    { "count", TG_TABLE_REAL }, { "mean", type }, { "std", type }, { "min", type },                \
        { "25%", type }, { "50%", type }, { "75%", type },                                         \
    {                                                                                              \
        "max", type                                                                                \
    }
static inline struct tg_table_cell tg_quantile_cell(double v, int digits)
{
    return tg_table_real(digits < 0 ? v : tg_round_to(v, digits));
}
#define TG_QUANTILE_CELLS(d, digits)                                                               \
    tg_quantile_cell((double)(d).count, digits), tg_quantile_cell((d).mean, digits),               \
        tg_quantile_cell((d).std, digits), tg_quantile_cell((d).min, digits),                      \
        tg_quantile_cell((d).q25, digits), tg_quantile_cell((d).q50, digits),                      \
        tg_quantile_cell((d).q75, digits), tg_quantile_cell((d).max, digits)
#endif
