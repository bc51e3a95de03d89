#ifndef TG_TRACE_XLA_H
#define TG_TRACE_XLA_H
/*
 * Chrome traces of JAX and XLA (jax.profiler.trace, TensorBoard's trace.json.gz); internal to
 * core/trace. Their events have no category: what one is follows from the names of its process and
 * thread, which metadata events give ("process_name", "thread_name"):
 *
 *   /host:CPU       any thread        host operators; "$file.py:1 f" is Python
 *   /device:GPU:0   Stream #13(…)     kernels and copies, on stream 13
 *   /device:TPU:0   XLA Ops           kernels, where the device has no streams
 *   /device:…       Steps             one event per step, its number as name
 *   /device:…       other lines       what the same work belongs to: annotations
 *
 * Device work names no launch: it belongs to the step that holds its start. The exporter writes at
 * most a million events and does not say that it left some out; exactly so many count as cut off.
 */
#include "core/trace/trace.h"

#define TG_XLA_MAX_EVENTS 1000000

/* A metadata event that names a thread or its process. */
void tg_xla_label(struct tg_trace_label *out, const struct tg_event *ev, bool is_process);
/* Is it such a trace? */
bool tg_xla_is(const struct tg_trace *t);
/* Gives its spans categories and names as Kineto would, tracks their devices and streams. */
TG_MUST bool tg_xla_apply(struct tg_trace *t, bool keep_python, struct tg_err *err);
#endif
