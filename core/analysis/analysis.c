#include "core/analysis/analysis.h"

#include <stdlib.h>

#include "core/analysis/device.h"
#include "core/analysis/internal.h"

const struct tg_analyzer tg_analyzers[] = {
    { "temporal", "idle, compute and other time of each device", tg_temporal, false },
    { "idle", "why streams were empty: waiting for the host, the kernel, other", tg_idle, false },
    { "kernel-types", "device time by class of work, and by classes that overlap", tg_kernel_types,
      false },
    { "kernels", "device work by name", tg_kernels, false },
    { "overlap", "communication hidden behind computation", tg_overlap, false },
    { "bandwidth", "memory traffic by kind of copy", tg_bandwidth, false },
    { "queue", "launched work that waits, by stream", tg_queue, false },
    { "launches", "device work beside the call that launched it", tg_launches, false },
    { "sequences", "frequent sequences of device work below an operator", tg_sequences, false },
    { "steps", "every metric of the whole trace, by rank and step", tg_step_table, false },
    { "modules", "time by nn.Module, device work included", tg_modules, true },
    { "sources", "time by Python function, device work included", tg_sources, true },
    { "skew", "waiting in collectives, and the rank that the others wait for", tg_skew, false },
    { NULL, NULL, NULL, false },
};

const struct tg_analyzer *tg_analyzer_find(tg_sv name)
{
    for (const struct tg_analyzer *a = tg_analyzers; a->name; a++)
        if (tg_sv_eq(name, tg_sv_of(a->name)))
            return a;
    return NULL;
}

void tg_analysis_init(struct tg_analysis_in *in, const struct tg_rank_trace *ranks, size_t n,
                      const struct tg_analysis_opts *opts)
{
    *in = (struct tg_analysis_in){ .ranks = ranks, .n = n, .opts = opts };
    in->work = tg_xrealloc(NULL, n + 1, sizeof *in->work);
    for (size_t r = 0; r < n; r++)
        tg_work_init(&in->work[r], &ranks[r], opts);
}

void tg_analysis_release(struct tg_analysis_in *in)
{
    for (size_t r = 0; in->work && r < in->n; r++)
        tg_work_release(&in->work[r]);
    free(in->work);
    *in = (struct tg_analysis_in){ 0 };
}
