/*
 * Memory traffic by kind of copy. A copy moves its bytes evenly over its duration; the series of a
 * kind is the sum of the copies in flight (ends before starts, so that copies back to back do not
 * add up), and its statistics are over the time in which any copy of the kind ran.
 */

#include "core/analysis/analysis.h"
#include "core/analysis/device.h"
#include "core/analysis/quantiles.h"
#include "core/base/sort.h"
#include "core/metric/rates.h"

static const struct tg_table_column columns[] = {
    { "rank", TG_TABLE_INT },           { "name", TG_TABLE_TEXT },
    TG_QUANTILE_COLUMNS(TG_TABLE_GBPS), /* weighted by time; count: states of the series */
    { "copies", TG_TABLE_INT },         { "bytes", TG_TABLE_INT },
    { "time(us)", TG_TABLE_US },        { "copies_without_bytes", TG_TABLE_INT },
    { "device", TG_TABLE_INT },         { "reason", TG_TABLE_TEXT },
};
static const struct tg_table_column series_columns[] = {
    { "rank", TG_TABLE_INT },   { "ts", TG_TABLE_US },
    { "name", TG_TABLE_TEXT },  { "memory_bw_gbps", TG_TABLE_GBPS },
    { "device", TG_TABLE_INT },
};

struct kind {
    tg_sv name;
    int64_t copies, bytes, unknown;
    tg_ns time;
    struct tg_rates rates;
};

/* "Memcpy HtoD" of "Memcpy HtoD (Pageable -> Device)"; sets, and copies that kernels make. */
static tg_sv kind_of(const struct tg_trace *t, const struct tg_span *s)
{
    const struct tg_name *n = tg_span_name(t, s);
    if (n->kind == TG_KIND_MEMSET)
        return TG_SV("Memset");
    if (n->kind == TG_KIND_KERNEL)
        return TG_SV("by kernel");
    if (tg_sv_starts(n->name, TG_SV("Memcpy ")) && n->name.n >= 11)
        return (tg_sv){ n->name.p, 11 };
    return TG_SV("Memcpy Unknown");
}

/* Bytes per ns are GB/s. Without bytes the profiler's own figure is used. */
static void add_copy(struct kind *k, const struct tg_trace *t, const struct tg_work_row *r)
{
    const struct tg_span *s = tg_span_at(t, r->span);
    tg_ns dur = tg_ns_sub(r->end, r->start);
    double bytes, gbps = 0;
    bool known = tg_trace_attr_real(t, s, TG_SV("bytes"), &bytes) && bytes >= 0 && bytes < 9e18;
    k->copies++;
    k->time = tg_ns_add(k->time, dur);
    if (known)
        k->bytes = tg_ns_add(k->bytes, (int64_t)bytes);
    else
        k->unknown++;
    if (dur <= 0)
        return;
    if (known)
        gbps = bytes / (double)dur;
    else if (!tg_trace_attr_real(t, s, TG_SV("bandwidth"), &gbps))
        return;
    tg_rates_add(&k->rates, r->start, r->end, gbps);
}

static struct tg_quantiles run(struct tg_table *series, const struct tg_device_work *d,
                               struct kind *k)
{
    const struct tg_rate_edge *e = k->rates.edges;
    TG_FREE struct tg_weighted *states = tg_xrealloc(NULL, k->rates.n + 1, sizeof *states);
    struct tg_rate_sum sum = { 0 };
    size_t n = 0;
    tg_rates_sort(&k->rates);
    for (size_t i = 0; i < k->rates.n; i++) {
        tg_rate_step(&sum, &e[i]);
        if (i + 1 < k->rates.n && e[i + 1].at == e[i].at)
            continue;
        if (d->opts->series)
            TG_TABLE_PUT(series, tg_table_int(d->rank), tg_table_int(e[i].at),
                         tg_table_text(k->name), tg_table_real(sum.rate), tg_work_device(d));
        if (sum.in_flight)
            states[n++] = (struct tg_weighted){ sum.rate, (double)tg_ns_sub(e[i + 1].at, e[i].at) };
    }
    return tg_quantiles_weighted(states, n);
}

static int by_name(const void *pa, const void *pb)
{
    const struct kind *a = pa, *b = pb;
    return tg_sv_cmp(a->name, b->name);
}

static void one_device(void *arg, const struct tg_device_work *d)
{
    struct tg_table *tables = arg; /* bandwidth, then bandwidth-series */
    const struct tg_trace *t = d->work->rank->trace;
    TG_FREE struct kind *kinds = NULL;
    size_t n = 0, cap = 0;
    for (size_t i = 0; i < d->n; i++) {
        size_t k = 0;
        if (d->rows[i]->class_ != TG_CLASS_MEMORY)
            continue;
        tg_sv name = kind_of(t, tg_span_at(t, d->rows[i]->span));
        while (k < n && !tg_sv_eq(kinds[k].name, name))
            k++;
        if (k == n)
            *TG_PUSH(kinds, n, cap) = (struct kind){ .name = name };
        add_copy(&kinds[k], t, d->rows[i]);
    }
    TG_SORT(kinds, n, by_name);
    for (size_t k = 0; k < n; k++) {
        struct tg_quantiles stats = run(tables + 1, d, &kinds[k]);
        bool none = kinds[k].unknown == kinds[k].copies;
        TG_TABLE_PUT(tables, tg_table_int(d->rank), tg_table_text(kinds[k].name),
                     TG_QUANTILE_CELLS(stats, -1), tg_table_int(kinds[k].copies),
                     tg_table_if(!none, tg_table_int(kinds[k].bytes)), tg_table_int(kinds[k].time),
                     tg_table_int(kinds[k].unknown), tg_work_device(d),
                     tg_table_if(none, tg_table_text(TG_SV("the trace names no bytes"))));
        tg_rates_release(&kinds[k].rates);
    }
    if (!n)
        tg_table_put_reason(tables, d->rank, TG_SV("no copies"));
}

void tg_bandwidth(const struct tg_analysis_in *in, struct tg_tables *out)
{
    size_t first = out->n;
    TG_TABLES_ADD(out, "bandwidth", columns);
    if (in->opts->series)
        TG_TABLES_ADD(out, "bandwidth-series", series_columns);
    tg_work_each(in, one_device, &out->v[first], &out->v[first]);
}
