#ifndef TG_POLICY_LANGUAGE_RULE_METRIC_H
#define TG_POLICY_LANGUAGE_RULE_METRIC_H
/*
 * The one table of metrics that a rule can name: loader, linter, schema, evaluation, help and
 * manual read it. Its rows about whole traces come from core/metric/metric_table.h. All durations
 * and counts are per step; values of unit NS are nanoseconds, PERCENT 0..100, RATE bytes per
 * nanosecond (GB/s).
 */
#include "core/metric/metric.h"

enum tg_rule_metric {
    /* per name: one value for each matched name */
    TG_RULE_METRIC_COUNT,
    TG_RULE_METRIC_TOTAL,
    TG_RULE_METRIC_MEAN,
    TG_RULE_METRIC_MEDIAN,
    TG_RULE_METRIC_P95,
    TG_RULE_METRIC_MAX,
    TG_RULE_METRIC_SELF,
    TG_RULE_METRIC_SHARE,
    TG_RULE_METRIC_ADDED,
    TG_RULE_METRIC_REMOVED,
    TG_RULE_METRIC_LAUNCH_CONFIG,
    TG_RULE_METRIC_INPUT_TYPES,
    TG_RULE_METRIC_INPUT_SHAPES,
    TG_RULE_METRIC_BYTES,
    /* the same of Python frames only (kinds module and source): the work launched inside them */
    TG_RULE_METRIC_DEVICE_TIME,
    TG_RULE_METRIC_DEVICE_SELF,
    TG_RULE_METRIC_DEVICE_COUNT,
    /* trace: one value for a rank's whole trace; one for each row of core/metric/metric_table.h */
    TG_RULE_METRIC_OF_TRACE,
    /* ranks: one value for all ranks together */
    TG_RULE_METRIC_SKEW = TG_RULE_METRIC_OF_TRACE + TG_METRICS,
    TG_RULE_METRIC_RANK_SPREAD,
    TG_RULE_METRIC_COLLECTIVE_SKEW,
    /* numbers: one value for each matched name of the files of numbers (core/number/number.h) */
    TG_RULE_METRIC_NUMBER,
    TG_RULE_METRICS
};
#define TG_RULE_METRIC_STEP_TIME tg_rule_metric_of(TG_METRIC_STEP_TIME)

enum tg_scope { TG_SCOPE_NAME, TG_SCOPE_TRACE, TG_SCOPE_RANKS, TG_SCOPE_NUMBERS };
/* OWN: each number's own way: less of a throughput, more of a latency. */
enum tg_polarity { TG_MORE_IS_BAD, TG_LESS_IS_BAD, TG_ANY_IS_BAD, TG_OWN_IS_BAD };

/* The bounds of a limit; also bits of tg_rule_metric_info.bounds as 1 << kind. */
enum tg_bound_kind { TG_BOUND_PCT, TG_BOUND_ABS, TG_BOUND_PP, TG_BOUND_MAX, TG_BOUND_MIN };
#define TG_BOUNDS 5
#define TG_BOUND_BIT(kind) (1u << (kind))

struct tg_rule_metric_info {
    const char *name; /* as in `metric:` */
    enum tg_scope scope;
    enum tg_unit unit;
    enum tg_polarity polarity; /* the bad direction unless the rule says `direction:` */
    unsigned bounds;           /* legal ones */
    bool exact;                /* determined by the program: a change needs no evidence */
    const char *meaning;       /* one line */
};

static inline enum tg_rule_metric tg_rule_metric_of(enum tg_metric m)
{
    return (enum tg_rule_metric)(TG_RULE_METRIC_OF_TRACE + (int)m);
}
/* Of names that the baseline does not have, or the fresh side: no relative bound, one direction. */
static inline bool tg_rule_metric_from_zero(const struct tg_rule_metric_info *info)
{
    return info->bounds == (TG_BOUND_BIT(TG_BOUND_ABS) | TG_BOUND_BIT(TG_BOUND_MAX));
}
/* About the work launched inside a frame, not about the frame itself. */
static inline bool tg_rule_metric_of_launched(enum tg_rule_metric m)
{
    return m >= TG_RULE_METRIC_DEVICE_TIME && m <= TG_RULE_METRIC_DEVICE_COUNT;
}
/* False: not about a whole trace. */
static inline bool tg_rule_metric_of_trace(enum tg_rule_metric m, enum tg_metric *out)
{
    *out = (enum tg_metric)((int)m - TG_RULE_METRIC_OF_TRACE);
    return m >= TG_RULE_METRIC_OF_TRACE && m < TG_RULE_METRIC_SKEW;
}

const struct tg_rule_metric_info *tg_rule_metric_info(enum tg_rule_metric m);
bool tg_rule_metric_from_name(tg_sv name, enum tg_rule_metric *out);
const char *tg_unit_name(enum tg_unit u);        /* "count", "duration", "percent", … */
const char *tg_bound_name(enum tg_bound_kind k); /* "pct", "abs", "pp", "max", "min" */

/* The whole table, appended to `out`: for the terminal, for programs, for the manual. */
void tg_rule_metric_text(struct tg_buf *out);
void tg_rule_metric_json(struct tg_buf *out);
void tg_rule_metric_markdown(struct tg_buf *out);
#endif
