#ifndef TG_METRIC_MEASURE_H
#define TG_METRIC_MEASURE_H
/*
 * Whole-trace measures per step, as numerator and denominator, so that merging is exact. One table;
 * names are those of the policy. Formula, unit and traps of each: docs/metrics.md.
 */
#include "core/metric/classes.h"
#include "core/steps/steps.h"

enum tg_measure {
    TG_MEASURE_STEP_TIME, /* ns: device end to end of the step's work; host window without device */
    TG_MEASURE_GPU_BUSY,  /* ns: union of device work */
    TG_MEASURE_IDLE,      /* %: (step_time - busy) / step_time, device only */
    TG_MEASURE_COMM_EXPOSED,   /* ns: communication not covered by computation */
    TG_MEASURE_COMM_OVERLAP,   /* %: communication covered / communication; higher is better */
    TG_MEASURE_LAUNCH_COUNT,   /* kernels, copies, sets and graphs launched */
    TG_MEASURE_LAUNCH_TIME,    /* ns: host time inside launch calls */
    TG_MEASURE_LAUNCH_GAP,     /* ns: device gaps that wait for the host's launch */
    TG_MEASURE_SYNC_COUNT,     /* synchronising calls */
    TG_MEASURE_MEMCPY_BYTES,   /* bytes copied */
    TG_MEASURE_KERNEL_NAMES,   /* distinct kernel names */
    TG_MEASURE_GRAPH_LAUNCHES, /* graph launches; fewer is worse */
    TG_MEASURE_MEM_PEAK,       /* bytes: largest total_allocated; needs [memory] events */
    TG_MEASURE_HOST_TIME,      /* ns: the host's step window */
    TG_MEASURES
};

struct tg_measure_value {
    bool known;       /* false: the trace cannot tell (no device rows, no memory events, …) */
    int64_t num, den; /* value = num / den (den 1 for plain numbers); % is 100 * num / den */
};

struct tg_measure_info {
    const char *name, *unit, *meaning; /* unit: "ns", "%", "count", "bytes" */
    int worse;                         /* +1: more is worse, -1: less is worse */
};
const struct tg_measure_info *tg_measure_info(enum tg_measure m);
bool tg_measure_find(tg_sv name, enum tg_measure *out);

/* All measures of one step-assigned trace: out[m * steps->n + step]. `classes` NULL: built in. */
void tg_measures_compute(const struct tg_trace *t, const struct tg_steps *steps,
                         const struct tg_classes *classes, struct tg_measure_value *out);
#endif
