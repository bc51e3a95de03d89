#ifndef TG_METRIC_METRIC_H
#define TG_METRIC_METRIC_H
/* Whole-trace metrics per step, as numerator and denominator, so that merging is exact. The table
 * is metric_table.h; the names are those of policies. Formulas and pitfalls: docs/metrics.md. */
#include "core/metric/classes.h"
#include "core/metric/metric_table.h"
#include "core/steps/steps.h"

enum tg_metric {
#define TG_METRIC_ID(id, ...) TG_METRIC_##id,
    TG_METRIC_TABLE(TG_METRIC_ID)
#undef TG_METRIC_ID
        TG_METRICS
};

struct tg_metric_value {
    bool known; /* false: the trace cannot provide it (no device rows, no memory events, …) */
    int64_t num, den; /* value = num / den (den 1 for plain numbers); % is 100 * num / den */
};

enum tg_unit {
    TG_UNIT_COUNT,
    TG_UNIT_NS,
    TG_UNIT_PERCENT, /* 100 * num / den */
    TG_UNIT_BYTES,
    TG_UNIT_RATE, /* GB/s: bytes per ns */
    /* of no metric of a trace: */
    TG_UNIT_ATTR,  /* a launch attribute, types, shapes: equal or not */
    TG_UNIT_NUMBER /* a benchmark's own, in the unit of its file */
};
const char *tg_unit_text(enum tg_unit unit); /* "count", "ns", "%", "bytes", "GB/s", "" */
enum tg_metric_how { TG_METRIC_MEAN, TG_METRIC_RATIO };

struct tg_metric_info {
    const char *name, *meaning;
    enum tg_unit unit;
    enum tg_metric_how how; /* how the values of steps become one number */
    int worse;              /* +1: more is worse; -1: less is worse */
    bool exact;             /* false: a change needs evidence */
    bool of_device;         /* exact on one device; another one changes it */
    uint32_t counts;        /* 1u << tg_kind of the calls that it counts; 0: none */
};
const struct tg_metric_info *tg_metric_info(enum tg_metric m);
bool tg_metric_find(tg_sv name, enum tg_metric *out);

/*
 * Fills what the steps alone tell, so that it is not stored: step_time, the wall clock from a
 * step's start to that of the step with the next number; if there is none, to its own end. The mean
 * over consecutive steps is (end of the last - start of the first) / steps. `out` as below.
 */
void tg_metrics_derive(const struct tg_step *step, size_t n, struct tg_metric_value *out);

/* Union of the device work of the trace, in steps or not, linked or not; summed over devices, ns.
 * Collectives are left out: their time is a wait for other ranks. `class_`: tg_classes_of. */
tg_ns tg_metrics_busy(const struct tg_trace *t, const struct tg_steps *steps,
                      const struct tg_name_class *class_);

/* All metrics of one trace that is divided into steps: out[m * steps->n + step]. */
void tg_metrics_compute(const struct tg_trace *t, const struct tg_steps *steps,
                        const struct tg_name_class *class_, struct tg_metric_value *out);
#endif
