/*
 * HTA's get_memory_bw_summary: statistics over the change points of the series, not over time.
 * Points at equal times are in the order of a stable sort (starts before ends); HTA's order depends
 * on an unstable sort.
 */
#include <stdlib.h>

#include "core/analysis/device.h"
#include "core/analysis/quantiles.h"
#include "core/hta/hta.h"

enum { RANK, NAME, STATS, COLUMNS = STATS + TG_QUANTILE_CELLS };
static const struct tg_table_column columns[COLUMNS] = {
    { "rank", TG_TABLE_INT },
    { "name", TG_TABLE_TEXT },
    TG_QUANTILE_COLUMNS,
};
enum { S_RANK, S_TS, S_NAME, S_VALUE, S_COLUMNS };
static const struct tg_table_column series_columns[S_COLUMNS] = {
    { "rank", TG_TABLE_INT },
    { "ts", TG_TABLE_REAL },
    { "name", TG_TABLE_TEXT },
    { "memory_bw_gbps", TG_TABLE_REAL },
};

struct edge {
    tg_sv kind;
    double at, change;
    size_t order;
};

static tg_sv kind_of(tg_sv name)
{
    if (tg_sv_starts(name, TG_SV("Memset")))
        return TG_SV("Memset");
    if (tg_sv_starts(name, TG_SV("Memcpy")))
        return (tg_sv){ name.p, name.n < 11 ? name.n : 11 };
    return TG_SV("Memcpy Unknown");
}

static int by_kind_and_time(const void *pa, const void *pb)
{
    const struct edge *a = pa, *b = pb;
    int c = tg_sv_cmp(a->kind, b->kind);
    if (c)
        return c;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static size_t collect(struct edge *edges, const struct tg_hta_rows *r,
                      const struct tg_hta_row *const *rows, size_t n)
{
    size_t n_edges = 0;
    for (size_t sign = 0; sign < 2; sign++)
        for (size_t i = 0; i < n; i++) {
            double gbps = 0, dur = rows[i]->dur == 0 ? 1 : rows[i]->dur;
            if (rows[i]->class_ != TG_CLASS_MEMORY)
                continue;
            (void)tg_trace_attr_real(r->trace, tg_span_at(r->trace, rows[i]->span),
                                     TG_SV("bandwidth"), &gbps);
            edges[n_edges] =
                (struct edge){ kind_of(r->trace->names->v[rows[i]->name].name),
                               rows[i]->ts + (sign ? dur : 0), sign ? -gbps : gbps, n_edges };
            n_edges++;
        }
    return n_edges;
}

static void put(struct tg_table *summary, struct tg_table *series, const struct tg_hta_rows *r,
                const struct edge *e, size_t n)
{
    TG_FREE double *values = tg_xrealloc(NULL, n + 1, sizeof *values);
    double sum = 0;
    size_t n_values = 0;
    struct tg_table_cell *row;
    for (size_t i = 0; i < n; i++) {
        sum += e[i].change;
        if (sum > 0) /* residues of 1e-13 pass as well, as in HTA */
            values[n_values++] = sum;
        if (!series)
            continue;
        row = tg_table_row(series);
        row[S_RANK] = tg_table_int(r->rank);
        row[S_TS] = tg_table_real(e[i].at);
        row[S_NAME] = tg_table_text(e[i].kind);
        row[S_VALUE] = tg_table_real(sum);
    }
    struct tg_quantiles stats = tg_quantiles_of(values, n_values);
    if (!n_values)
        return;
    row = tg_table_row(summary);
    row[RANK] = tg_table_int(r->rank);
    row[NAME] = tg_table_text(e->kind);
    tg_quantiles_put(row + STATS, &stats, -1);
}

void tg_hta_bandwidth(const struct tg_hta *in, struct tg_tables *out)
{
    size_t first = out->n;
    tg_tables_add(out, "bandwidth", columns, COLUMNS);
    if (in->opts->series)
        tg_tables_add(out, "bandwidth-series", series_columns, S_COLUMNS);
    for (size_t k = 0; k < in->n; k++) {
        const struct tg_hta_rows *r = &in->ranks[k];
        size_t n, n_edges;
        TG_FREE const struct tg_hta_row **rows = tg_hta_device_rows(r, &n);
        TG_FREE struct edge *edges = tg_xrealloc(NULL, 2 * n + 1, sizeof *edges);
        n_edges = collect(edges, r, rows, n);
        if (n_edges)
            qsort(edges, n_edges, sizeof *edges, by_kind_and_time);
        for (size_t i = 0, e; i < n_edges; i = e) {
            for (e = i; e < n_edges && tg_sv_eq(edges[e].kind, edges[i].kind);)
                e++;
            put(&out->v[first], in->opts->series ? &out->v[first + 1] : NULL, r, edges + i, e - i);
        }
    }
}
