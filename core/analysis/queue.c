/*
 * How much launched work waits on each stream: plus one when the launching call starts, minus one
 * when the work starts; every piece of a graph counts from the graph's launch. At equal times
 * launches come first. Statistics are over time, from the first launch to the last start.
 */
#include <stdlib.h>

#include "core/analysis/analysis.h"
#include "core/analysis/device.h"
#include "core/analysis/quantiles.h"
#include "core/base/sort.h"

static const struct tg_table_column columns[] = {
    { "rank", TG_TABLE_INT },           { "stream", TG_TABLE_INT },
    TG_QUANTILE_COLUMNS(TG_TABLE_REAL), /* weighted by time; count: states of the series */
    { "launched", TG_TABLE_INT },       { "unlinked", TG_TABLE_INT },
    { "device", TG_TABLE_INT },         { "reason", TG_TABLE_TEXT },
};
static const struct tg_table_column series_columns[] = {
    { "rank", TG_TABLE_INT },         { "ts", TG_TABLE_US },      { "stream", TG_TABLE_INT },
    { "queue_length", TG_TABLE_INT }, { "device", TG_TABLE_INT },
};

struct edge {
    tg_ns at;
    int change;
};
struct lane {
    struct edge *launches, *starts; /* n each, in order of the starts */
    size_t n, launches_cap, starts_cap;
    int64_t unlinked;
};

static int by_time(const void *pa, const void *pb, void *unused)
{
    const struct edge *a = pa, *b = pb;
    (void)unused;
    int c = TG_CMP(a->at, b->at);
    return c ? c : TG_CMP(b->change, a->change);
}

/*
 * The maximum is over every point (launches first), the others over time: a launch that starts at
 * once is a length of 1 that lasted no time. States of equal length are described together; a
 * length is at most the number of launches.
 */
static struct tg_quantiles run(struct tg_table *series, const struct tg_device_work *d,
                               int64_t stream, const struct lane *l)
{
    TG_FREE struct edge *edges = tg_xrealloc(NULL, 2 * l->n + 1, sizeof *edges);
    TG_FREE struct tg_weighted *lengths = tg_xrealloc(NULL, l->n + 1, sizeof *lengths);
    size_t length = 0, most = 0, states = 0;
    if (l->n) {
        memcpy(edges, l->launches, l->n * sizeof *edges);
        memcpy(edges + l->n, l->starts, l->n * sizeof *edges);
    }
    /* Launches of a stream are nearly always in the order of their work: two sorted lists. */
    tg_sort_runs(edges, 2 * l->n, sizeof *edges, by_time, NULL);
    for (size_t i = 0; i <= l->n; i++)
        lengths[i] = (struct tg_weighted){ (double)i, 0 };
    for (size_t i = 0; i < 2 * l->n; i++) {
        tg_ns time = i + 1 < 2 * l->n ? tg_ns_sub(edges[i + 1].at, edges[i].at) : 0;
        length = edges[i].change > 0 ? length + 1 : length - 1;
        most = length > most ? length : most;
        if (d->opts->series)
            TG_TABLE_PUT(series, tg_table_int(d->rank), tg_table_int(edges[i].at),
                         tg_table_int(stream), tg_table_int((int64_t)length), tg_work_device(d));
        lengths[length].w += (double)time;
        states += time > 0;
    }
    struct tg_quantiles stats = tg_quantiles_weighted(lengths, most + 1);
    if (l->n)
        stats.max = (double)most;
    if (states)
        stats.count = states;
    return stats;
}

static void one_device(void *arg, const struct tg_device_work *d)
{
    struct tg_table *tables = arg; /* queue, then queue-series */
    const struct tg_rank_trace *rank = d->work->rank;
    tg_sv reason = TG_SV("the trace links no launch to this stream");
    TG_AUTO(tg_streams_release) struct tg_streams streams;
    TG_FREE struct lane *lanes = tg_streams_init(&streams, d, sizeof *lanes);
    for (size_t i = 0; i < d->n; i++) {
        const struct tg_work_row *r = d->rows[i];
        struct lane *l = &lanes[tg_streams_of(&streams, d, r)];
        uint32_t launch = rank->steps->launch[r->span];
        if (launch == TG_NO_SPAN) {
            l->unlinked++;
            continue;
        }
        tg_ns at = tg_span_at(rank->trace, launch)->start;
        l->launches = tg_grow(l->launches, &l->launches_cap, l->n + 1, sizeof *l->launches);
        l->starts = tg_grow(l->starts, &l->starts_cap, l->n + 1, sizeof *l->starts);
        l->launches[l->n] = (struct edge){ at, 1 };
        /* Work that seems to start before its launch (two clocks) did not wait. */
        l->starts[l->n++] = (struct edge){ r->start > at ? r->start : at, -1 };
    }
    for (size_t i = 0; i < streams.n; i++) {
        struct lane *l = &lanes[i];
        struct tg_quantiles stats = run(tables + 1, d, streams.number[i], l);
        TG_TABLE_PUT(tables, tg_table_int(d->rank), tg_table_int(streams.number[i]),
                     TG_QUANTILE_CELLS(stats, -1), tg_table_int((int64_t)l->n),
                     tg_table_int(l->unlinked), tg_work_device(d),
                     tg_table_if(!l->n, tg_table_text(reason)));
        free(l->launches);
        free(l->starts);
    }
}

void tg_queue(const struct tg_analysis_in *in, struct tg_tables *out)
{
    size_t first = out->n;
    TG_TABLES_ADD(out, "queue", columns);
    if (in->opts->series)
        TG_TABLES_ADD(out, "queue-series", series_columns);
    tg_work_each(in, one_device, &out->v[first], &out->v[first]);
}
