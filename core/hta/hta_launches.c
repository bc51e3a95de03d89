/* HTA's get_queue_length_summary and get_cuda_kernel_launch_stats, with its lists of launching
 * calls, which lack some calls of AMD, of the driver and of graphs. */
#include <stdlib.h>

#include "core/analysis/quantiles.h"
#include "core/hta/hta.h"

static const char *const queue_calls[] = { "cudaLaunchKernel",
                                           "cudaLaunchKernelExC",
                                           "cuLaunchKernel",
                                           "cuLaunchKernelEx",
                                           "cudaMemcpyAsync",
                                           "cudaMemsetAsync",
                                           "hipLaunchKernel",
                                           "hipExtModuleLaunchKernel",
                                           "hipMemcpyAsync",
                                           "hipMemsetAsync",
                                           "hipMemcpyWithStream",
                                           "runFunction - job_prep_and_submit_for_execution",
                                           NULL };
static const char *const launch_calls[] = { "cudaLaunchKernel",
                                            "cudaLaunchKernelExC",
                                            "cudaMemcpyAsync",
                                            "cudaMemsetAsync",
                                            "runFunction - job_prep_and_submit_for_execution",
                                            NULL };

/* Per name id: is it in the list? */
static bool *listed(const struct tg_trace *t, const char *const *list)
{
    bool *out = tg_xrealloc(NULL, t->names->n + 1, sizeof *out);
    for (size_t i = 0; i < t->names->n; i++)
        out[i] = tg_hta_is_one_of(t->names->v[i].name, tg_sv_eq, list);
    return out;
}

struct numbers { /* ascending */
    int64_t *v;
    size_t n;
};

static bool has(const struct numbers *s, int64_t v)
{
    return s->n && bsearch(&v, s->v, s->n, sizeof *s->v, tg_by_i64);
}

/* ---- queue ---- */

static const struct tg_table_column columns[] = {
    { "rank", TG_TABLE_INT },
    { "stream", TG_TABLE_INT },
    TG_QUANTILE_COLUMNS(TG_TABLE_REAL),
};
static const struct tg_table_column series_columns[] = {
    { "rank", TG_TABLE_INT },
    { "ts", TG_TABLE_REAL_US },
    { "stream", TG_TABLE_INT },
    { "queue_length", TG_TABLE_INT },
};

/* At equal times launches come first. */
static size_t queue_edges(struct tg_hta_change *edges, const struct tg_hta_rows *r)
{
    TG_FREE bool *is_call = listed(r->trace, queue_calls);
    struct numbers launched = { tg_xrealloc(NULL, r->n + 1, sizeof(int64_t)), 0 };
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++) {
        if (!is_call[r->v[i].name] || r->v[i].link <= 0)
            continue;
        launched.v[launched.n++] = r->v[i].correlation;
        const struct tg_hta_row *work = tg_hta_linked(r, &r->v[i]);
        if (work)
            edges[n++] =
                (struct tg_hta_change){ .stream = work->stream, .at = r->v[i].ts, .by = 1 };
    }
    TG_SORT(launched.v, launched.n, tg_by_i64);
    for (size_t i = 0; i < r->n; i++)
        if (r->v[i].stream != -1 && has(&launched, r->v[i].correlation))
            edges[n++] =
                (struct tg_hta_change){ .stream = r->v[i].stream, .at = r->v[i].ts, .by = -1 };
    free(launched.v);
    return n;
}

void tg_hta_queue(const struct tg_hta *in, struct tg_tables *out)
{
    size_t first = out->n;
    TG_TABLES_ADD(out, "queue", columns);
    if (in->opts->series)
        TG_TABLES_ADD(out, "queue-series", series_columns);
    for (size_t k = 0; k < in->n; k++) {
        const struct tg_hta_rows *r = &in->ranks[k];
        TG_FREE struct tg_hta_change *edges = tg_xrealloc(NULL, 2 * r->n + 1, sizeof *edges);
        tg_hta_put_series(&out->v[first], in->opts->series, r->rank, edges, queue_edges(edges, r),
                          TG_HTA_ALL_STATES);
    }
}

/* ---- launches ---- */

static const struct tg_table_column launch_columns[] = {
    { "correlation", TG_TABLE_INT },
    { "cpu_duration", TG_TABLE_REAL_US },
    { "gpu_duration", TG_TABLE_REAL_US },
    { "launch_delay", TG_TABLE_REAL_US },
    { "rank", TG_TABLE_INT },
};
static const struct tg_table_column summary_columns[] = {
    { "rank", TG_TABLE_INT },
    { "pairs", TG_TABLE_INT },
    { "cpu_duration_sum", TG_TABLE_REAL_US },
    { "gpu_duration_sum", TG_TABLE_REAL_US },
    { "launch_delay_sum", TG_TABLE_REAL_US },
    { "launch_delay_mean", TG_TABLE_REAL_US },
    { "launch_delay_max", TG_TABLE_REAL_US },
    { "short_gpu_kernels", TG_TABLE_INT },
    { "short_gpu_kernels_plot", TG_TABLE_INT },
    { "runtime_outliers", TG_TABLE_INT },
    { "launch_delay_outliers", TG_TABLE_INT },
};

struct side { /* rows of one side, by correlation */
    const struct tg_hta_row **v;
    size_t n;
};

static int by_correlation(const void *pa, const void *pb)
{
    const struct tg_hta_row *const *a = pa, *const *b = pb;
    int c = TG_CMP((*a)->correlation, (*b)->correlation);
    return c ? c : TG_CMP(*a, *b);
}

static struct side side_of(const struct tg_hta_rows *r, const struct numbers *wanted, bool device)
{
    struct side s = { tg_xrealloc(NULL, r->n + 1, sizeof *s.v), 0 };
    for (size_t i = 0; i < r->n; i++)
        if ((r->v[i].stream != -1) == device && has(wanted, r->v[i].correlation))
            s.v[s.n++] = &r->v[i];
    TG_SORT(s.v, s.n, by_correlation);
    return s;
}

struct totals {
    double cpu, gpu, delay, most;
    int64_t pairs, short_work, short_plot, long_calls, long_delays;
};

static void pair(struct tg_table *f, struct totals *t, const struct tg_hta_rows *r,
                 const struct tg_hta_row *cpu, const struct tg_hta_row *gpu)
{
    double delay = gpu->ts - cpu->ts - cpu->dur;
    delay = delay > 0 ? delay : 0;
    TG_TABLE_PUT(f, tg_table_int(cpu->correlation), tg_table_real(cpu->dur),
                 tg_table_real(gpu->dur), tg_table_real(delay), tg_table_int(r->rank));
    t->pairs++;
    t->cpu += cpu->dur;
    t->gpu += gpu->dur;
    t->delay += delay;
    t->most = delay > t->most ? delay : t->most;
    t->short_work += gpu->dur < cpu->dur;
    t->short_plot += gpu->dur < cpu->dur && cpu->dur <= 50;
    t->long_calls += cpu->dur > 50;
    t->long_delays += delay > 100;
}

static struct totals join(struct tg_table *f, const struct tg_hta_rows *r)
{
    TG_FREE bool *is_call = listed(r->trace, launch_calls);
    struct numbers wanted = { tg_xrealloc(NULL, r->n + 1, sizeof(int64_t)), 0 };
    struct totals t = { .most = -1 };
    for (size_t i = 0; i < r->n; i++)
        if (is_call[r->v[i].name] && r->v[i].correlation != -1)
            wanted.v[wanted.n++] = r->v[i].correlation;
    TG_SORT(wanted.v, wanted.n, tg_by_i64);
    struct side host = side_of(r, &wanted, false);
    struct side device = side_of(r, &wanted, true);
    for (size_t i = 0, k = 0; i < host.n; i++) {
        while (k < device.n && device.v[k]->correlation < host.v[i]->correlation)
            k++;
        for (size_t d = k; d < device.n && device.v[d]->correlation == host.v[i]->correlation; d++)
            pair(f, &t, r, host.v[i], device.v[d]);
    }
    free(host.v);
    free(device.v);
    free(wanted.v);
    return t;
}

void tg_hta_launches(const struct tg_hta *in, struct tg_tables *out)
{
    size_t first = out->n;
    TG_TABLES_ADD(out, "launches", launch_columns);
    TG_TABLES_ADD(out, "launches-summary", summary_columns);
    for (size_t k = 0; k < in->n; k++) {
        struct totals t = join(&out->v[first], &in->ranks[k]);
        TG_TABLE_PUT(&out->v[first + 1], tg_table_int(in->ranks[k].rank), tg_table_int(t.pairs),
                     tg_table_real(t.cpu), tg_table_real(t.gpu), tg_table_real(t.delay),
                     tg_table_real(t.delay / (double)t.pairs),
                     tg_table_if(t.pairs, tg_table_real(t.most)), tg_table_int(t.short_work),
                     tg_table_int(t.short_plot), tg_table_int(t.long_calls),
                     tg_table_int(t.long_delays));
    }
}
