#include "core/trace/kind.h"

/* Categories as Kineto, its forks and HTA's test files write them. */
static const struct {
    const char *cat;
    enum tg_kind kind;
} categories[] = {
    { "python_function", TG_KIND_PYTHON },
    { "cpu_op", TG_KIND_OP },
    { "cuda_runtime", TG_KIND_RUNTIME },
    { "kernel", TG_KIND_KERNEL },
    { "gpu_memcpy", TG_KIND_MEMCPY },
    { "gpu_memset", TG_KIND_MEMSET },
    { "cuda_driver", TG_KIND_RUNTIME },
    { "user_annotation", TG_KIND_ANNOTATION },
    { "gpu_user_annotation", TG_KIND_DEVICE_ANNOTATION },
    { "cuda_sync", TG_KIND_DEVICE_SYNC },
    { "overhead", TG_KIND_OVERHEAD },
    { "Operator", TG_KIND_OP },
    { "Runtime", TG_KIND_RUNTIME },
    { "Kernel", TG_KIND_KERNEL },
    { "Memcpy", TG_KIND_MEMCPY },
    { "Memset", TG_KIND_MEMSET },
    { "hip_runtime", TG_KIND_RUNTIME },
    { "hip_driver", TG_KIND_RUNTIME },
    { "xpu_runtime", TG_KIND_RUNTIME },
    { "xpu_driver", TG_KIND_RUNTIME },
    { "mtia_runtime", TG_KIND_RUNTIME },
    { "mtia_ccp_events", TG_KIND_KERNEL },
    { "privateuse1_runtime", TG_KIND_RUNTIME },
    { "privateuse1_driver", TG_KIND_RUNTIME },
    { "hpu_op", TG_KIND_RUNTIME }, /* host side, whatever its name says (Kineto's ActivityType.h) */
    { "glow_runtime", TG_KIND_RUNTIME },
    { "collective_comm", TG_KIND_KERNEL },
    { "cuda_event", TG_KIND_DEVICE_SYNC }, /* records of events on a stream: never busy time */
    { "xpu_sync", TG_KIND_DEVICE_SYNC },
};
#define CATEGORIES (sizeof categories / sizeof *categories)

static const char *const kind_names[TG_KINDS + 1] = {
    [TG_KIND_OTHER] = "other",
    [TG_KIND_OP] = "op",
    [TG_KIND_RUNTIME] = "runtime",
    [TG_KIND_SYNC] = "sync",
    [TG_KIND_GRAPH] = "graph",
    [TG_KIND_KERNEL] = "kernel",
    [TG_KIND_MEMCPY] = "memcpy",
    [TG_KIND_MEMSET] = "memset",
    [TG_KIND_DEVICE_SYNC] = "device_sync",
    [TG_KIND_ANNOTATION] = "annotation",
    [TG_KIND_STEP] = "step",
    [TG_KIND_DEVICE_ANNOTATION] = "device_annotation",
    [TG_KIND_PYTHON] = "python",
    [TG_KIND_OVERHEAD] = "overhead",
    [TG_KIND_MODULE] = "module",
    [TG_KIND_SOURCE] = "source",
};

enum tg_kind tg_kind_of(tg_sv cat, tg_sv name)
{
    size_t i = 0;
    while (i < CATEGORIES && !tg_sv_eq(cat, tg_sv_of(categories[i].cat)))
        i++;
    enum tg_kind k = i < CATEGORIES ? categories[i].kind : TG_KIND_OTHER;
    bool host =
        k == TG_KIND_OP || k == TG_KIND_RUNTIME || k == TG_KIND_ANNOTATION || k == TG_KIND_OTHER;
    if (host && tg_step_number(name) >= 0)
        return TG_KIND_STEP;
    if (k != TG_KIND_RUNTIME)
        return k;
    /* Suffixes such as _ptsz and _v2 are versions of the same call. */
    if (tg_sv_starts(name, TG_SV("cudaGraphLaunch")) ||
        tg_sv_starts(name, TG_SV("cuGraphLaunch")) || tg_sv_starts(name, TG_SV("hipGraphLaunch")))
        return TG_KIND_GRAPH;
    if (tg_sv_has(name, TG_SV("Synchronize")) || tg_sv_starts(name, TG_SV("synchronize")))
        return TG_KIND_SYNC; /* the second is MTIA's spelling */
    return k;
}

const char *tg_kind_name(enum tg_kind k)
{
    return k < TG_KINDS ? kind_names[k] : "other";
}

bool tg_kind_from_name(tg_sv name, enum tg_kind *out)
{
    int k = tg_sv_index(kind_names, name);
    if (k >= 0)
        *out = (enum tg_kind)k;
    return k >= 0;
}

int64_t tg_step_number(tg_sv name)
{
    int64_t n;
    if (!tg_sv_skip(&name, TG_SV("ProfilerStep#")))
        return -1;
    return tg_sv_i64(tg_sv_past(name, " "), &n) && n >= 0 ? n : -1;
}

bool tg_is_polling(tg_sv name)
{
    return tg_sv_ends(name, TG_SV("EventQuery")) || tg_sv_ends(name, TG_SV("StreamQuery")) ||
           tg_sv_ends(name, TG_SV("StreamIsCapturing")) ||
           tg_sv_has(name, TG_SV("StreamGetCaptureInfo"));
}

bool tg_backward_named(tg_sv name)
{
    return tg_sv_starts(name, TG_SV("autograd::engine::evaluate")) ||
           tg_sv_has(name, TG_SV("AccumulateGrad")) || tg_sv_has(name, TG_SV("Backward"));
}
