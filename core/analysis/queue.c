/*
 * How much launched work waits on each stream: plus one when the launching call starts, minus one
 * when the work starts; every piece of a graph counts from the graph's launch. At equal times
 * launches come first. Statistics are over time, from the first launch to the last start.
 */
#include <stdlib.h>

#include "core/analysis/device.h"
#include "core/analysis/internal.h"
#include "core/analysis/quantiles.h"

enum {
    RANK,
    STREAM,
    STATS,
    LAUNCHED = STATS + TG_QUANTILE_CELLS,
    UNLINKED,
    DEVICE,
    REASON,
    COLUMNS
};
static const struct tg_table_column columns[COLUMNS] = {
    { "rank", TG_TABLE_INT },     { "stream", TG_TABLE_INT },
    TG_QUANTILE_COLUMNS, /* weighted by time; count: states of the series */
    { "launched", TG_TABLE_INT }, { "unlinked", TG_TABLE_INT },
    { "device", TG_TABLE_INT },   { "reason", TG_TABLE_TEXT },
};
enum { S_RANK, S_TS, S_STREAM, S_LENGTH, S_DEVICE, S_COLUMNS };
static const struct tg_table_column series_columns[S_COLUMNS] = {
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

/* Work that seems to start before its launch (two clocks) did not wait. */
static void add_row(struct lane *l, const struct tg_device_work *d, const struct tg_work_row *r)
{
    uint32_t launch = d->work->rank->steps->launch[r->span];
    tg_ns at;
    if (launch == TG_NO_SPAN) {
        l->unlinked++;
        return;
    }
    at = tg_span_at(d->work->rank->trace, launch)->start;
    l->launches = tg_grow(l->launches, &l->launches_cap, l->n + 1, sizeof *l->launches);
    l->starts = tg_grow(l->starts, &l->starts_cap, l->n + 1, sizeof *l->starts);
    l->launches[l->n] = (struct edge){ at, 1 };
    l->starts[l->n++] = (struct edge){ r->start > at ? r->start : at, -1 };
}

static int by_time(const void *pa, const void *pb, void *unused)
{
    const struct edge *a = pa, *b = pb;
    (void)unused;
    int c = TG_CMP(a->at, b->at);
    return c ? c : TG_CMP(b->change, a->change);
}

static void put_point(struct tg_table *series, const struct tg_device_work *d, int64_t stream,
                      tg_ns at, int64_t length)
{
    static const struct tg_work_columns work_columns = { .rank = S_RANK, .device = S_DEVICE };
    struct tg_table_cell *row = tg_work_row(series, &work_columns, d);
    row[S_TS] = tg_table_int(at);
    row[S_STREAM] = tg_table_int(stream);
    row[S_LENGTH] = tg_table_int(length);
}

/* Launches of a stream are nearly always in the order of their work: two sorted lists. */
static struct edge *edges_of(const struct lane *l)
{
    struct edge *edges = tg_xrealloc(NULL, 2 * l->n + 1, sizeof *edges);
    if (l->n) {
        memcpy(edges, l->launches, l->n * sizeof *edges);
        memcpy(edges + l->n, l->starts, l->n * sizeof *edges);
    }
    tg_sort_runs(edges, 2 * l->n, sizeof *edges, by_time, NULL);
    return edges;
}

/*
 * The maximum is over every point (launches first), the others over time: a launch that starts at
 * once is a length of 1 that lasted no time. States of equal length are described together; a
 * length is at most the number of launches.
 */
static struct tg_quantiles run(struct tg_table *series, const struct tg_device_work *d,
                               int64_t stream, const struct lane *l)
{
    TG_FREE struct edge *edges = edges_of(l);
    TG_FREE struct tg_weighted *lengths = tg_xrealloc(NULL, l->n + 1, sizeof *lengths);
    struct tg_quantiles stats;
    size_t length = 0, most = 0, states = 0;
    for (size_t i = 0; i <= l->n; i++)
        lengths[i] = (struct tg_weighted){ (double)i, 0 };
    for (size_t i = 0; i < 2 * l->n; i++) {
        tg_ns time = i + 1 < 2 * l->n ? tg_ns_sub(edges[i + 1].at, edges[i].at) : 0;
        length = edges[i].change > 0 ? length + 1 : length - 1;
        most = length > most ? length : most;
        if (d->opts->series)
            put_point(series, d, stream, edges[i].at, (int64_t)length);
        lengths[length].w += (double)time;
        states += time > 0;
    }
    stats = tg_quantiles_weighted(lengths, most + 1);
    if (l->n)
        stats.max = (double)most;
    if (states)
        stats.count = states;
    return stats;
}

static const struct tg_work_columns work_columns = { RANK, DEVICE, REASON };

static void put(struct tg_table *tables, const struct tg_device_work *d, int64_t stream,
                struct lane *l)
{
    struct tg_quantiles stats = run(tables + 1, d, stream, l);
    struct tg_table_cell *row = tg_work_row(tables, &work_columns, d);
    row[STREAM] = tg_table_int(stream);
    tg_quantiles_put(row + STATS, &stats, -1);
    row[LAUNCHED] = tg_table_int((int64_t)l->n);
    row[UNLINKED] = tg_table_int(l->unlinked);
    if (!l->n)
        row[REASON] = tg_table_text(TG_SV("the trace links no launch to this stream"));
    free(l->launches);
    free(l->starts);
}

static void one_device(void *arg, const struct tg_device_work *d)
{
    struct tg_table *tables = arg; /* queue, then queue-series */
    struct tg_streams streams;
    TG_FREE struct lane *lanes = tg_streams_init(&streams, d, sizeof *lanes);
    for (size_t i = 0; i < d->n; i++)
        add_row(&lanes[tg_streams_of(&streams, d, d->rows[i])], d, d->rows[i]);
    for (size_t i = 0; i < streams.n; i++)
        put(tables, d, streams.number[i], &lanes[i]);
    tg_streams_release(&streams);
}

void tg_queue(const struct tg_analysis_in *in, struct tg_tables *out)
{
    size_t first = out->n;
    tg_tables_add(out, "queue", columns, COLUMNS);
    if (in->opts->series)
        tg_tables_add(out, "queue-series", series_columns, S_COLUMNS);
    tg_work_each(in, one_device, &out->v[first], &out->v[first], &work_columns);
}
