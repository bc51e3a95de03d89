#ifndef TG_METRIC_INTERNAL_H
#define TG_METRIC_INTERNAL_H
/* The parts of tg_metrics_compute; internal to core/metric. `out` as there, initialised. */
#include "core/metric/metric.h"

/* HTA's cut-offs: 30 us between consecutive kernels, 50 us for a call, 100 us for a delay. */
#define TG_KERNEL_WAIT_NS 30000
#define TG_LONG_CALL_NS 50000
#define TG_LONG_DELAY_NS 100000
#define TG_FULL_QUEUE 1024 /* launches that CUDA queues before the next call waits; as HTA */

/* Bytes and bandwidth of copies and sets, per direction. For traces with device rows. */
void tg_measure_copies(const struct tg_trace *t, const struct tg_steps *s,
                       struct tg_metric_value *out);
/* Delays, outliers and queues of linked device work. For traces with links. */
void tg_measure_launches(const struct tg_trace *t, const struct tg_steps *s,
                         struct tg_metric_value *out);

/* A kernel at time 0 without duration is a profiler defect, not work. */
static inline bool tg_is_work(const struct tg_trace *t, const struct tg_span *s)
{
    return tg_kind_is_device(tg_span_kind(t, s)) && !(s->start == 0 && s->dur == 0);
}
#endif
