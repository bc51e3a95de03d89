#ifndef TG_METRIC_MEASURE_H
#define TG_METRIC_MEASURE_H
/*
 * Whole-trace metrics per step, as numerator and denominator, so that merging is exact. The table
 * is measure_table.h; the names are those of policies. Formulas and pitfalls: docs/metrics.md.
 */
#include "core/metric/classes.h"
#include "core/metric/measure_table.h"
#include "core/steps/steps.h"

enum tg_measure {
#define TG_MEASURE_ID(id, ...) TG_MEASURE_##id,
    TG_MEASURE_TABLE(TG_MEASURE_ID)
#undef TG_MEASURE_ID
        TG_MEASURES
};

struct tg_measure_value {
    bool known; /* false: the trace cannot provide it (no device rows, no memory events, …) */
    int64_t num, den; /* value = num / den (den 1 for plain numbers); % is 100 * num / den */
};

enum tg_measure_unit {
    TG_MEASURE_NS,
    TG_MEASURE_PERCENT, /* 100 * num / den */
    TG_MEASURE_COUNT,
    TG_MEASURE_BYTES,
    TG_MEASURE_RATE /* GB/s: bytes per ns */
};
enum tg_measure_how { TG_MEASURE_MEAN, TG_MEASURE_RATIO };

struct tg_measure_info {
    const char *name, *unit, *meaning; /* unit: "ns", "%", "count", "bytes", "GB/s" */
    enum tg_measure_unit unit_id;
    enum tg_measure_how how; /* how the values of steps become one number */
    int worse;               /* +1: more is worse; -1: less is worse */
    bool exact;              /* false: a change needs evidence */
};
const struct tg_measure_info *tg_measure_info(enum tg_measure m);
bool tg_measure_find(tg_sv name, enum tg_measure *out);

/*
 * All metrics of one trace that is divided into steps: out[m * steps->n + step]. `classes` NULL:
 * the built-in table.
 */
void tg_measures_compute(const struct tg_trace *t, const struct tg_steps *steps,
                         const struct tg_classes *classes, struct tg_measure_value *out);
#endif
