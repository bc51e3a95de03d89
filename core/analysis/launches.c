/*
 * Every piece of device work and the call that launched it: how long the call took, how long the
 * work took, and how late it started. `launch_delay` includes the time queued behind other work on
 * the stream; `own_delay` is what remains while the stream was free.
 */

#include "core/analysis/analysis.h"
#include "core/analysis/device.h"
#include "core/analysis/quantiles.h"

#define LONG_CALL_NS 50000 /* HTA's cut-offs: 50 us for a call, 100 us for a delay */
#define LONG_DELAY_NS 100000

static const struct tg_table_column columns[] = {
    { "correlation", TG_TABLE_INT }, { "cpu_duration", TG_TABLE_US },
    { "gpu_duration", TG_TABLE_US }, { "launch_delay", TG_TABLE_US },
    { "own_delay", TG_TABLE_US },    { "rank", TG_TABLE_INT },
    { "call", TG_TABLE_TEXT },       { "name", TG_TABLE_TEXT },
    { "stream", TG_TABLE_INT },      { "device", TG_TABLE_INT },
};
static const struct tg_table_column summary_columns[] = {
    { "rank", TG_TABLE_INT },
    { "pairs", TG_TABLE_INT },
    { "cpu_duration_sum", TG_TABLE_US },
    { "gpu_duration_sum", TG_TABLE_US },
    { "launch_delay_sum", TG_TABLE_US },
    { "launch_delay_mean", TG_TABLE_REAL_US },
    { "launch_delay_max", TG_TABLE_US },
    { "short_gpu_kernels", TG_TABLE_INT },
    { "short_gpu_kernels_plot", TG_TABLE_INT },
    { "runtime_outliers", TG_TABLE_INT },
    { "launch_delay_outliers", TG_TABLE_INT },
    { "own_delay_sum", TG_TABLE_US },
    { "calls", TG_TABLE_INT },
    { "graph_launches", TG_TABLE_INT },
    { "unlinked", TG_TABLE_INT },
    { "device", TG_TABLE_INT },
    { "reason", TG_TABLE_TEXT },
};

struct totals {
    struct tg_running_stats delay;
    tg_ns cpu, gpu, own_delay;
    int64_t pairs, short_work, short_both, long_calls, long_delays, calls, graphs, unlinked;
};

static void put_totals(struct tg_table *f, const struct tg_device_work *d, const struct totals *t)
{
    if (t->pairs) {
        TG_TABLE_PUT(f, tg_table_int(d->rank), tg_table_int(t->pairs), tg_table_int(t->cpu),
                     tg_table_int(t->gpu), tg_table_int(t->delay.sum),
                     tg_table_real((double)t->delay.sum / (double)t->pairs / 1000),
                     tg_table_int(t->delay.max), tg_table_int(t->short_work),
                     tg_table_int(t->short_both), tg_table_int(t->long_calls),
                     tg_table_int(t->long_delays), tg_table_int(t->own_delay),
                     tg_table_int(t->calls), tg_table_int(t->graphs), tg_table_int(t->unlinked),
                     tg_work_device(d), TG_TABLE_UNKNOWN);
        return;
    }
    tg_table_put_reason(f, d->rank, TG_SV("the trace links no launch to device work"));
    tg_table_set(f, "pairs", tg_table_int(0));
    tg_table_set(f, "unlinked", tg_table_int(t->unlinked));
    tg_table_set(f, "device", tg_work_device(d));
}

static tg_ns positive(tg_ns v)
{
    return v > 0 ? v : 0;
}

struct lane {
    bool busy;
    tg_ns until;
};

static void one_device(void *arg, const struct tg_device_work *d)
{
    struct tg_table *tables = arg; /* launches, then launches-summary */
    const struct tg_rank_trace *rank = d->work->rank;
    const struct tg_trace *t = rank->trace;
    struct totals sums = { 0 };
    TG_AUTO(tg_streams_release) struct tg_streams streams;
    TG_FREE struct lane *lanes = tg_streams_init(&streams, d, sizeof *lanes);
    TG_FREE bool *counted = tg_xcalloc(t->n_spans, sizeof *counted);
    for (size_t i = 0; i < d->n; i++) {
        const struct tg_work_row *r = d->rows[i];
        uint32_t launch = rank->steps->launch[r->span];
        size_t lane = tg_streams_of(&streams, d, r);
        struct lane *l = &lanes[lane];
        if (launch == TG_NO_SPAN) {
            sums.unlinked++;
        } else {
            const struct tg_span *call = tg_span_at(t, launch);
            tg_ns ready = tg_span_end(call), call_dur = positive(call->dur);
            tg_ns work_dur = tg_ns_sub(r->end, r->start);
            tg_ns delay = positive(tg_ns_sub(r->start, ready));
            if (l->busy && l->until > ready)
                ready = l->until;
            tg_ns own_delay = positive(tg_ns_sub(r->start, ready));
            sums.pairs++;
            sums.gpu = tg_ns_add(sums.gpu, work_dur);
            sums.own_delay = tg_ns_add(sums.own_delay, own_delay);
            tg_running_stats_add(&sums.delay, delay);
            sums.short_work += work_dur < call_dur;
            sums.short_both += work_dur < call_dur && call_dur <= LONG_CALL_NS;
            sums.long_delays += delay > LONG_DELAY_NS;
            if (!counted[launch]) {
                sums.calls++;
                sums.graphs += tg_span_kind(t, call) == TG_KIND_GRAPH;
                sums.cpu = tg_ns_add(sums.cpu, call_dur);
                sums.long_calls += call_dur > LONG_CALL_NS;
            }
            counted[launch] = true;
            TG_TABLE_PUT(tables, tg_table_int(tg_correlation(t, r->span)), tg_table_int(call_dur),
                         tg_table_int(work_dur), tg_table_int(delay), tg_table_int(own_delay),
                         tg_table_int(d->rank), tg_table_text(tg_span_name(t, call)->name),
                         tg_table_text(tg_span_name(t, tg_span_at(t, r->span))->name),
                         tg_table_int(streams.number[lane]), tg_work_device(d));
        }
        if (!l->busy || r->end > l->until)
            l->until = r->end;
        l->busy = true;
    }
    put_totals(tables + 1, d, &sums);
}

void tg_launches(const struct tg_analysis_in *in, struct tg_tables *out)
{
    size_t first = out->n;
    TG_TABLES_ADD(out, "launches", columns);
    TG_TABLES_ADD(out, "launches-summary", summary_columns);
    tg_work_each(in, one_device, &out->v[first], &out->v[first + 1]);
}
