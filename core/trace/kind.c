#include "core/trace/kind.h"

/* Categories as Kineto, its forks and HTA's test files write them, between blanks; those of most
 * names first. */
static const struct {
    enum tg_kind kind;
    const char *categories;
} kinds[] = {
    { TG_KIND_OP, "cpu_op Operator" },
    { TG_KIND_KERNEL, "kernel Kernel mtia_ccp_events collective_comm" },
    { TG_KIND_PYTHON, "python_function" },
    { TG_KIND_MEMCPY, "gpu_memcpy Memcpy" },
    { TG_KIND_MEMSET, "gpu_memset Memset" },
    { TG_KIND_ANNOTATION, "user_annotation" },
    { TG_KIND_DEVICE_ANNOTATION, "gpu_user_annotation" },
    /* hpu_op is on the host side, whatever its name says (Kineto's ActivityType.h) */
    { TG_KIND_RUNTIME, "cuda_runtime cuda_driver Runtime hip_runtime hip_driver xpu_runtime "
                       "xpu_driver mtia_runtime privateuse1_runtime privateuse1_driver hpu_op "
                       "glow_runtime" },
    /* cuda_event: records of events on a stream, never busy time */
    { TG_KIND_DEVICE_SYNC, "cuda_sync cuda_event xpu_sync" },
    { TG_KIND_OVERHEAD, "overhead" },
};
#define KINDS (sizeof kinds / sizeof *kinds)

/* In the order of enum tg_kind. */
static const char *const names[] = { "other",       "op",         "runtime", "sync",
                                     "graph",       "kernel",     "memcpy",  "memset",
                                     "device_sync", "annotation", "step",    "device_annotation",
                                     "python",      "overhead",   "module",  "source",
                                     NULL };
_Static_assert(sizeof names / sizeof *names == TG_KINDS + 1, "each kind has a name");

enum tg_kind tg_kind_of(tg_sv cat, tg_sv name)
{
    size_t i = 0;
    while (i < KINDS && !tg_sv_lists(tg_sv_of(kinds[i].categories), ' ', cat))
        i++;
    enum tg_kind k = i < KINDS ? kinds[i].kind : TG_KIND_OTHER;
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
    return k < TG_KINDS ? names[k] : "other";
}

bool tg_kind_from_name(tg_sv name, enum tg_kind *out)
{
    int k = tg_sv_index(names, name);
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
