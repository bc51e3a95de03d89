#ifndef TG_TRACE_KIND_H
#define TG_TRACE_KIND_H
/*
 * What an event is. Decided by category first (both generations: 2021's Operator/Runtime/Kernel and
 * today's cpu_op/cuda_runtime/kernel; NVIDIA, AMD, MTIA), by name only inside the runtime
 * categories and for ProfilerStep. The stream is never asked: Triton's cpu_op rows carry one and
 * are host work.
 */
#include "core/base/sv.h"

enum tg_kind {
    TG_KIND_OTHER,       /* unknown category, Trace, overhead */
    TG_KIND_OP,          /* cpu_op, Operator: host operators */
    TG_KIND_RUNTIME,     /* cuda_runtime, cuda_driver, Runtime, HIP, mtia_runtime: API calls */
    TG_KIND_SYNC,        /* those of them that wait: *Synchronize; not StreamWaitEvent */
    TG_KIND_GRAPH,       /* those of them that launch a graph: cudaGraphLaunch, cuGraphLaunch,
                            hipGraphLaunch */
    TG_KIND_KERNEL,      /* device: kernel, Kernel, mtia_ccp_events */
    TG_KIND_MEMCPY,      /* device: gpu_memcpy, Memcpy */
    TG_KIND_MEMSET,      /* device: gpu_memset, Memset */
    TG_KIND_DEVICE_SYNC, /* device rows of cuda_sync: shown, never busy time */
    TG_KIND_ANNOTATION,  /* user_annotation on the host, not a step */
    TG_KIND_STEP,        /* ProfilerStep#N on the host (any host category) */
    TG_KIND_DEVICE_ANNOTATION, /* gpu_user_annotation, ProfilerStep copies included */
    TG_KIND_PYTHON,            /* python_function */
    TG_KIND_OVERHEAD,          /* overhead */
    /* No event has these kinds: sums over Python functions (core/metric/stacks.h). */
    TG_KIND_MODULE, /* by instance of nn.Module */
    TG_KIND_SOURCE, /* by function */
    TG_KINDS
};

static inline bool tg_kind_is_frame(enum tg_kind k)
{
    return k == TG_KIND_MODULE || k == TG_KIND_SOURCE;
}

enum tg_kind tg_kind_of(tg_sv cat, tg_sv name);
const char *tg_kind_name(enum tg_kind k); /* "kernel", "op", ... as in `match: {kind: …}` */
bool tg_kind_from_name(tg_sv name, enum tg_kind *out);
/* Is an operator of this name backward work? AccumulateGrad and every "…Backward…" are. */
bool tg_backward_named(tg_sv name);

/* Work on the device: kernel, memcpy, memset. */
static inline bool tg_kind_is_device(enum tg_kind k)
{
    return k == TG_KIND_KERNEL || k == TG_KIND_MEMCPY || k == TG_KIND_MEMSET;
}

/* A row of a device: work, a wait or an annotation. */
static inline bool tg_kind_is_on_device(enum tg_kind k)
{
    return tg_kind_is_device(k) || k == TG_KIND_DEVICE_SYNC || k == TG_KIND_DEVICE_ANNOTATION;
}

/* A call of the runtime, whatever it does. */
static inline bool tg_kind_is_call(enum tg_kind k)
{
    return k == TG_KIND_RUNTIME || k == TG_KIND_SYNC || k == TG_KIND_GRAPH;
}

/* Takes part in host nesting and self time: operators, runtime calls, annotations, steps. */
static inline bool tg_kind_nests(enum tg_kind k)
{
    return tg_kind_is_call(k) || k == TG_KIND_OP || k == TG_KIND_ANNOTATION || k == TG_KIND_STEP;
}

/* Number of a "ProfilerStep#12" name; -1: not a step. */
int64_t tg_step_number(tg_sv name);
/* Polling calls whose count is random: cudaEventQuery and the like. */
bool tg_is_polling(tg_sv name);
#endif
