#ifndef TG_HISTORY_NIGHT_H
#define TG_HISTORY_NIGHT_H
/*
 * One night of a suite: what its runs come to, one value for each series. A series is an operator
 * or kernel (kind and normalised name), a metric of the whole step, or a number of a benchmark
 * (name and unit).
 *
 * Value of a run: the sum over slots of the minimum over the steps whose calls are the usual ones
 * (slot: the k-th call of a row within its step), averaged over ranks; without slots the least sum
 * of a step. Value of a night: over its runs the mean of the middle half (tg_mid_mean) of the
 * natural log of that. Metrics: median over steps, or ratio of sums; percentages stay parts of 1.
 * Numbers: the mean of the middle half of their runs.
 * Calls of a night are exact: the usual number of calls per step and rank, if at least nine of ten
 * steps of all runs have it.
 */
#include "core/base/arena.h"
#include "core/base/strmap.h"
#include "core/summary/summary.h"

enum tg_series_what {
    TG_SERIES_OP,     /* time and calls of an operator, a runtime call, an annotation */
    TG_SERIES_KERNEL, /* the same of device work */
    TG_SERIES_METRIC,
    TG_SERIES_NUMBER /* of a benchmark (core/number) */
};
enum tg_series_scale {
    TG_SCALE_TIME,  /* ln ns of a step: the machine's speed is in it, and a change has a cost */
    TG_SCALE_RATIO, /* ln of anything else */
    TG_SCALE_PART   /* of 1: a percentage */
};
struct tg_series {
    enum tg_series_what what;
    enum tg_kind kind;
    enum tg_metric metric;
    enum tg_series_scale scale;
    tg_sv name, unit; /* unit: "ns", "%", "bytes", a number's own; "": none is known */
    bool judged;      /* by time: not a wait, a copy, a poll, or a metric without a bad direction */
    bool counted;     /* by calls, or an exact metric */
    int worse;        /* +1: more is worse, -1: less is worse */
};

/* A name of the trace, rather than something about the whole of it. */
static inline bool tg_series_is_name(const struct tg_series *s)
{
    return s->what == TG_SERIES_OP || s->what == TG_SERIES_KERNEL;
}

/* Series get dense ids in order of first appearance. */
struct tg_series_table {
    struct tg_series *v;
    size_t n, cap;
    struct tg_strmap raw, names; /* (kind, raw name) -> key -> series */
    uint32_t *of_raw, *of_name;  /* series + 1; 0: none yet */
    size_t cap_raw, cap_name;
};
void tg_series_init(struct tg_series_table *t);
void tg_series_release(struct tg_series_table *t);

struct tg_history_value {
    uint32_t series;
    double v;        /* on the series' scale; NAN: no value */
    double plain;    /* in its unit */
    double calls;    /* a step and rank, or an exact metric's value; NAN: not settled */
    double variance; /* of v, as its runs tell it; 0: unknown */
};

struct tg_night {
    tg_sv commit; /* 40 hex digits */
    tg_sv subject, author;
    int64_t date;      /* committer date, seconds since 1970 */
    tg_sv environment; /* "key=value" of what decides about times, sorted, separated by blanks */
    size_t runs;
    double step_ns;             /* median step time */
    struct tg_history_value *v; /* by series */
    size_t n;
};

/* Fills environment, runs, step_ns and values; they live in `a`. `t` grows by the series that are
 * new. Cost: linear in the slots of the side. */
void tg_night_metric(struct tg_night *out, const struct tg_side *side, struct tg_series_table *t,
                     struct tg_arena *a);
/* Variance of tg_mid_mean of `n` runs, which ascend: that of a trimmed mean, in which the values
 * left out are as far away as the last that are not (Tukey and McLaughlin 1963). 0: one run. */
double tg_night_variance(const double *runs, size_t n);
/* Median step time of a side, ns; NAN: it has no step. Cost: its steps. */
double tg_night_step_ns(const struct tg_side *side);
/* The value of a series on that night; NULL: it has none. */
const struct tg_history_value *tg_night_value(const struct tg_night *n, uint32_t series);
#endif
