#ifndef TG_METRIC_MEASURE_H
#define TG_METRIC_MEASURE_H
/*
 * Whole-trace measures per step, as numerator and denominator, so that merging is exact. One table;
 * names are those of the policy. Formula, unit and traps of each: docs/metrics.md.
 */
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

/* Device work by purpose; a table by name (case-insensitive), category first. */
enum tg_class { TG_CLASS_COMPUTE, TG_CLASS_COMM, TG_CLASS_MEMORY, TG_CLASS_OTHER };
/* `fallback` (may be NULL) becomes true when no row of the table spoke and it is compute by
 * default. */
enum tg_class tg_class_of(enum tg_kind kind, tg_sv name, bool *fallback);
const char *tg_class_name(enum tg_class c); /* "compute", "comm", "memory", "other" */
/* Changes with every row of the table; stored in summaries. */
uint64_t tg_class_table_hash(void);

/* All measures of one step-assigned trace: out[m * steps->n + step]. */
void tg_measures_compute(const struct tg_trace *t, const struct tg_steps *steps,
                         struct tg_measure_value *out);
#endif
