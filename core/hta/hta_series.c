/* HTA's get_memory_bw_summary, get_queue_length_summary and get_cuda_kernel_launch_stats. */
#include <stdlib.h>

#include "core/analysis/device.h"
#include "core/analysis/quantiles.h"
#include "core/hta/hta.h"

/* What is counted for each stream, or for each kind of copy, changes. */
struct change {
    tg_sv kind; /* empty: by stream */
    int64_t stream;
    double at, by;
    size_t order; /* set by put_series */
};

static int by_key_and_time(const void *pa, const void *pb)
{
    const struct change *a = pa, *b = pb;
    int c = tg_sv_cmp(a->kind, b->kind);
    c = c ? c : TG_CMP(a->stream, b->stream);
    c = c ? c : TG_CMP(a->at, b->at);
    return c ? c : TG_CMP(a->order, b->order);
}

/*
 * Adds them up by key. Statistics are over the change points, not over time: a row (rank, key,
 * statistics) of tables[0] for each key; with `series` also each point, a row (rank, ts, key,
 * value) of tables[1]. At equal times changes keep their order; HTA's is that of an unstable sort.
 * `positive`: sums that are not count for nothing.
 */
static void put_series(struct tg_table *tables, bool series, int64_t rank, struct change *v,
                       size_t n, bool positive)
{
    TG_FREE double *values = tg_xrealloc(NULL, n + 1, sizeof *values);
    for (size_t i = 0; i < n; i++)
        v[i].order = i;
    TG_SORT(v, n, by_key_and_time);
    for (size_t i = 0, k; i < n; i = k) {
        struct tg_table_cell key =
            v[i].kind.n ? tg_table_text(v[i].kind) : tg_table_int(v[i].stream);
        double sum = 0;
        size_t n_values = 0;
        for (k = i; k < n && v[k].stream == v[i].stream && tg_sv_eq(v[k].kind, v[i].kind); k++) {
            sum += v[k].by;
            if (!positive || sum > 0)
                values[n_values++] = sum;
            if (series)
                TG_TABLE_PUT(tables + 1, tg_table_int(rank), tg_table_real(v[k].at), key,
                             v[i].kind.n ? tg_table_real(sum) : tg_table_int((int64_t)sum));
        }
        struct tg_quantiles stats = tg_quantiles_of(values, n_values);
        if (n_values)
            TG_TABLE_PUT(tables, tg_table_int(rank), key, TG_QUANTILE_CELLS(stats, -1));
    }
}

/* ---- bandwidth: at equal times starts come before ends ---- */

static const struct tg_table_column bandwidth_columns[] = {
    { "rank", TG_TABLE_INT },
    { "name", TG_TABLE_TEXT },
    TG_QUANTILE_COLUMNS(TG_TABLE_GBPS),
};
static const struct tg_table_column bandwidth_series[] = {
    { "rank", TG_TABLE_INT },
    { "ts", TG_TABLE_REAL_US },
    { "name", TG_TABLE_TEXT },
    { "memory_bw_gbps", TG_TABLE_GBPS },
};

static tg_sv kind_of(tg_sv name)
{
    if (tg_sv_starts(name, TG_SV("Memset")))
        return TG_SV("Memset");
    if (tg_sv_starts(name, TG_SV("Memcpy")))
        return (tg_sv){ name.p, name.n < 11 ? name.n : 11 };
    return TG_SV("Memcpy Unknown");
}

void tg_hta_bandwidth(const struct tg_hta *in, struct tg_tables *out)
{
    size_t first = out->n;
    TG_TABLES_ADD(out, "bandwidth", bandwidth_columns);
    if (in->opts->series)
        TG_TABLES_ADD(out, "bandwidth-series", bandwidth_series);
    for (size_t k = 0; k < in->n; k++) {
        const struct tg_hta_rows *r = &in->ranks[k];
        size_t n;
        TG_FREE const struct tg_hta_row **rows = tg_hta_device_rows(r, &n);
        TG_FREE struct change *edges = tg_xrealloc(NULL, 2 * n + 1, sizeof *edges);
        size_t n_edges = 0;
        for (size_t i = 0; i < 2 * n; i++) { /* the starts, then the ends */
            const struct tg_hta_row *row = rows[i % n];
            double gbps = 0, dur = row->dur == 0 ? 1 : row->dur;
            if (row->class_ != TG_CLASS_MEMORY)
                continue;
            (void)tg_trace_attr_real(r->trace, tg_span_at(r->trace, row->span), TG_SV("bandwidth"),
                                     &gbps);
            edges[n_edges++] = (struct change){ .kind = kind_of(r->trace->names->v[row->name].name),
                                                .at = row->ts + (i < n ? 0 : dur),
                                                .by = i < n ? gbps : -gbps };
        }
        /* residues of 1e-13 pass as well, as in HTA */
        put_series(&out->v[first], in->opts->series, r->rank, edges, n_edges, true);
    }
}

/* ---- lists of launching calls: some of AMD, of the driver and of graphs are not in them ---- */

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
static size_t queue_edges(struct change *edges, const struct tg_hta_rows *r)
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
            edges[n++] = (struct change){ .stream = work->stream, .at = r->v[i].ts, .by = 1 };
    }
    TG_SORT(launched.v, launched.n, tg_by_i64);
    for (size_t i = 0; i < r->n; i++)
        if (r->v[i].stream != -1 && has(&launched, r->v[i].correlation))
            edges[n++] = (struct change){ .stream = r->v[i].stream, .at = r->v[i].ts, .by = -1 };
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
        TG_FREE struct change *edges = tg_xrealloc(NULL, 2 * r->n + 1, sizeof *edges);
        put_series(&out->v[first], in->opts->series, r->rank, edges, queue_edges(edges, r), false);
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

void tg_hta_launches(const struct tg_hta *in, struct tg_tables *out)
{
    size_t first = out->n;
    TG_TABLES_ADD(out, "launches", launch_columns);
    TG_TABLES_ADD(out, "launches-summary", summary_columns);
    for (size_t k = 0; k < in->n; k++) {
        const struct tg_hta_rows *r = &in->ranks[k];
        TG_FREE bool *is_call = listed(r->trace, launch_calls);
        struct numbers wanted = { tg_xrealloc(NULL, r->n + 1, sizeof(int64_t)), 0 };
        double cpu = 0, gpu = 0, delays = 0, most = -1;
        int64_t pairs = 0, short_work = 0, short_plot = 0, long_calls = 0, long_delays = 0;
        for (size_t i = 0; i < r->n; i++)
            if (is_call[r->v[i].name] && r->v[i].correlation != -1)
                wanted.v[wanted.n++] = r->v[i].correlation;
        TG_SORT(wanted.v, wanted.n, tg_by_i64);
        struct side host = side_of(r, &wanted, false), device = side_of(r, &wanted, true);
        for (size_t i = 0, from = 0; i < host.n; i++) {
            const struct tg_hta_row *call = host.v[i];
            while (from < device.n && device.v[from]->correlation < call->correlation)
                from++;
            for (size_t d = from; d < device.n && device.v[d]->correlation == call->correlation;
                 d++) {
                const struct tg_hta_row *work = device.v[d];
                double delay = work->ts - call->ts - call->dur;
                delay = delay > 0 ? delay : 0;
                TG_TABLE_PUT(&out->v[first], tg_table_int(call->correlation),
                             tg_table_real(call->dur), tg_table_real(work->dur),
                             tg_table_real(delay), tg_table_int(r->rank));
                pairs++;
                cpu += call->dur;
                gpu += work->dur;
                delays += delay;
                most = delay > most ? delay : most;
                short_work += work->dur < call->dur;
                short_plot += work->dur < call->dur && call->dur <= 50;
                long_calls += call->dur > 50;
                long_delays += delay > 100;
            }
        }
        TG_TABLE_PUT(&out->v[first + 1], tg_table_int(r->rank), tg_table_int(pairs),
                     tg_table_real(cpu), tg_table_real(gpu), tg_table_real(delays),
                     tg_table_real(delays / (double)pairs), tg_table_if(pairs, tg_table_real(most)),
                     tg_table_int(short_work), tg_table_int(short_plot), tg_table_int(long_calls),
                     tg_table_int(long_delays));
        free(host.v);
        free(device.v);
        free(wanted.v);
    }
}
