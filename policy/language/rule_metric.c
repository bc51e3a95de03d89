#include "policy/language/rule_metric.h"

#define CHANGE (TG_BOUND_BIT(TG_BOUND_PCT) | TG_BOUND_BIT(TG_BOUND_ABS))
#define BUDGET (TG_BOUND_BIT(TG_BOUND_MAX) | TG_BOUND_BIT(TG_BOUND_MIN))
#define POINTS (TG_BOUND_BIT(TG_BOUND_PP) | BUDGET)
#define AMOUNT (CHANGE | BUDGET)
/* The baseline is 0 by definition, so no relative bound makes sense. */
#define FROM_ZERO (TG_BOUND_BIT(TG_BOUND_ABS) | TG_BOUND_BIT(TG_BOUND_MAX))
/* Equal or not: the only limit is `abs: 0`. */
#define EQUALITY TG_BOUND_BIT(TG_BOUND_ABS)

static const struct tg_rule_metric_info metrics[TG_RULE_METRICS] = {
    [TG_RULE_METRIC_COUNT] = { "count", TG_SCOPE_NAME, TG_UNIT_COUNT, TG_MORE_IS_BAD, AMOUNT, true,
                               "calls or launches per step" },
    [TG_RULE_METRIC_TOTAL] = { "total", TG_SCOPE_NAME, TG_UNIT_NS, TG_MORE_IS_BAD, AMOUNT, false,
                               "summed duration per step, children included" },
    [TG_RULE_METRIC_MEAN] = { "mean", TG_SCOPE_NAME, TG_UNIT_NS, TG_MORE_IS_BAD, AMOUNT, false,
                              "mean duration of one call" },
    [TG_RULE_METRIC_MEDIAN] = { "median", TG_SCOPE_NAME, TG_UNIT_NS, TG_MORE_IS_BAD, AMOUNT, false,
                                "median duration of one call" },
    [TG_RULE_METRIC_P95] = { "p95", TG_SCOPE_NAME, TG_UNIT_NS, TG_MORE_IS_BAD, AMOUNT, false,
                             "duration that 95 of 100 calls stay within" },
    [TG_RULE_METRIC_MAX] = { "max", TG_SCOPE_NAME, TG_UNIT_NS, TG_MORE_IS_BAD, AMOUNT, false,
                             "longest single call" },
    [TG_RULE_METRIC_SELF] = { "self", TG_SCOPE_NAME, TG_UNIT_NS, TG_MORE_IS_BAD, AMOUNT, false,
                              "summed duration per step without what its children took" },
    [TG_RULE_METRIC_SHARE] = { "share", TG_SCOPE_NAME, TG_UNIT_PERCENT, TG_MORE_IS_BAD, POINTS,
                               false, "self time as percent of the step (device: duration)" },
    [TG_RULE_METRIC_ADDED] = { "added", TG_SCOPE_NAME, TG_UNIT_NS, TG_MORE_IS_BAD, FROM_ZERO, true,
                               "time per step of names that the baseline does not have" },
    [TG_RULE_METRIC_REMOVED] = { "removed", TG_SCOPE_NAME, TG_UNIT_NS, TG_MORE_IS_BAD, FROM_ZERO,
                                 true, "time per step that the baseline spent in names now gone" },
    [TG_RULE_METRIC_LAUNCH_CONFIG] = { "launch_config", TG_SCOPE_NAME, TG_UNIT_ATTR, TG_ANY_IS_BAD,
                                       EQUALITY, true,
                                       "grid, block, registers, shared memory and occupancy of a "
                                       "kernel" },
    [TG_RULE_METRIC_INPUT_TYPES] = { "input_types", TG_SCOPE_NAME, TG_UNIT_ATTR, TG_ANY_IS_BAD,
                                     EQUALITY, true, "types of an operator's inputs" },
    [TG_RULE_METRIC_INPUT_SHAPES] = { "input_shapes", TG_SCOPE_NAME, TG_UNIT_ATTR, TG_ANY_IS_BAD,
                                      EQUALITY, true, "shapes of an operator's inputs" },
    [TG_RULE_METRIC_BYTES] = { "bytes", TG_SCOPE_NAME, TG_UNIT_BYTES, TG_MORE_IS_BAD, AMOUNT, true,
                               "bytes copied, set or sent by collectives per step" },
    [TG_RULE_METRIC_DEVICE_TIME] = { "device_time", TG_SCOPE_NAME, TG_UNIT_NS, TG_MORE_IS_BAD,
                                     AMOUNT, false,
                                     "device time per step of what a module or function launched, "
                                     "nested ones included" },
    [TG_RULE_METRIC_DEVICE_SELF] = { "device_self", TG_SCOPE_NAME, TG_UNIT_NS, TG_MORE_IS_BAD,
                                     AMOUNT, false,
                                     "device time per step of what a module or function launched "
                                     "itself" },
    [TG_RULE_METRIC_DEVICE_COUNT] = { "device_count", TG_SCOPE_NAME, TG_UNIT_COUNT, TG_MORE_IS_BAD,
                                      AMOUNT, true,
                                      "kernels, copies and sets per step that a module or function "
                                      "launched" },

#define BOUNDS_NS AMOUNT
#define BOUNDS_PERCENT POINTS
#define BOUNDS_COUNT AMOUNT
#define BOUNDS_BYTES AMOUNT
#define BOUNDS_RATE AMOUNT
#define WORSE_MORE TG_MORE_IS_BAD
#define WORSE_LESS TG_LESS_IS_BAD
#define EXACT_RUNS false
#define EXACT_PROGRAM true
#define EXACT_DEVICE true
#define ROW(id, name, unit, worse, how, by, counts, meaning)                                       \
    [TG_RULE_METRIC_OF_TRACE + (int)TG_METRIC_##                                                   \
        id] = { name,          TG_SCOPE_TRACE, TG_UNIT_##unit, WORSE_##worse,                      \
                BOUNDS_##unit, EXACT_##by,     meaning },
    TG_METRIC_TABLE(ROW)

        [TG_RULE_METRIC_SKEW] = { "skew", TG_SCOPE_RANKS, TG_UNIT_PERCENT, TG_MORE_IS_BAD, POINTS,
                                  false,
                                  "percent by which the slowest rank's step exceeds the median "
                                  "rank's" },
    [TG_RULE_METRIC_RANK_SPREAD] = { "rank_spread", TG_SCOPE_RANKS, TG_UNIT_NS, TG_MORE_IS_BAD,
                                     AMOUNT, false,
                                     "step time of the slowest rank minus that of the fastest" },
    [TG_RULE_METRIC_COLLECTIVE_SKEW] = { "collective_skew", TG_SCOPE_RANKS, TG_UNIT_PERCENT,
                                         TG_MORE_IS_BAD, POINTS, false,
                                         "share of collectives' time that ranks spend waiting for "
                                         "the last one" },
};

const struct tg_rule_metric_info *tg_rule_metric_info(enum tg_rule_metric m)
{
    return &metrics[m];
}

bool tg_rule_metric_from_name(tg_sv name, enum tg_rule_metric *out)
{
    for (size_t i = 0; i < TG_RULE_METRICS; i++) {
        if (tg_sv_eq(name, tg_sv_of(metrics[i].name))) {
            *out = (enum tg_rule_metric)i;
            return true;
        }
    }
    return false;
}

const char *tg_scope_name(enum tg_scope s)
{
    static const char *const names[] = { "name", "trace", "ranks" };
    return names[s];
}

const char *tg_unit_name(enum tg_unit u)
{
    static const char *const names[] = { "count", "duration",  "percent",
                                         "bytes", "bandwidth", "fact" };
    return names[u];
}

const char *tg_bound_name(enum tg_bound_kind k)
{
    static const char *const names[TG_BOUNDS] = { "pct", "abs", "pp", "max", "min" };
    return names[k];
}

const char *tg_polarity_name(enum tg_polarity p)
{
    static const char *const names[] = { "more", "less", "any" };
    return names[p];
}
