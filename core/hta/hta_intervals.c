/*
 * What HTA measures by merged intervals: get_temporal_breakdown, get_comm_comp_overlap, and
 * get_gpu_kernel_breakdown by type.
 */
#include <math.h>
#include <stdlib.h>

#include "core/analysis/device.h"
#include "core/analysis/quantiles.h"
#include "core/hta/hta.h"

/* Merged groups of rows in start order: a row begins a new group if it starts after all earlier
 * ends. With rounded, negative durations a group may end before it starts, as in HTA. */
struct groups {
    struct group {
        double start, end;
    } * v;
    size_t n, cap;
};

/* `class_`: or -1, all. */
static void merge(struct groups *g, const struct tg_hta_row *const *rows, size_t n, int class_)
{
    double until = -INFINITY;
    *g = (struct groups){ 0 };
    for (size_t i = 0; i < n; i++) {
        double end = rows[i]->ts + rows[i]->dur;
        if (class_ >= 0 && (int)rows[i]->class_ != class_)
            continue;
        if (!g->n || rows[i]->ts > until)
            *TG_PUSH(g->v, g->n, g->cap) = (struct group){ rows[i]->ts, end };
        else if (end > g->v[g->n - 1].end)
            g->v[g->n - 1].end = end;
        if (end > until)
            until = end;
    }
}

static void release(struct groups *g)
{
    free(g->v);
}

static double length(const struct groups *g)
{
    double sum = 0;
    for (size_t i = 0; i < g->n; i++)
        sum += g->v[i].end - g->v[i].start;
    return sum;
}

/* ---- get_temporal_breakdown: the numbers even if an assertion of HTA would fail ---- */

static const struct tg_table_column columns[] = {
    { "rank", TG_TABLE_INT },
    { "idle_time(us)", TG_TABLE_REAL_US },
    { "compute_time(us)", TG_TABLE_REAL_US },
    { "non_compute_time(us)", TG_TABLE_REAL_US },
    { "kernel_time(us)", TG_TABLE_REAL_US },
    { "idle_time_pctg", TG_TABLE_REAL },
    { "compute_time_pctg", TG_TABLE_REAL },
    { "non_compute_time_pctg", TG_TABLE_REAL },
    { "reason", TG_TABLE_TEXT },
};

static struct tg_table_cell percent(double us, double total)
{
    return tg_table_real(tg_round_to(100 * us / total, 2));
}

void tg_hta_temporal(const struct tg_hta *in, struct tg_tables *out)
{
    struct tg_table *f = TG_TABLES_ADD(out, "temporal", columns);
    for (size_t k = 0; k < in->n; k++) {
        const struct tg_hta_rows *r = &in->ranks[k];
        struct groups busy, compute;
        size_t n;
        TG_FREE const struct tg_hta_row **rows = tg_hta_device_rows(r, &n);
        if (!n) {
            tg_table_put_reason(f, r->rank, TG_SV("no device activity (HTA raises IndexError)"));
            continue;
        }
        merge(&busy, rows, n, -1);
        merge(&compute, rows, n, TG_CLASS_COMPUTE);
        double total = busy.v[busy.n - 1].end - busy.v[0].start;
        double idle = total - length(&busy);
        double computing = length(&compute);
        double rest = total - computing - idle;
        TG_TABLE_PUT(f, tg_table_int(r->rank), tg_table_real(idle), tg_table_real(computing),
                     tg_table_real(rest), tg_table_real(total), percent(idle, total),
                     percent(computing, total), percent(rest, total),
                     tg_table_if(idle < 0 || computing < 0 || rest < 0,
                                 tg_table_text(TG_SV("negative time by HTA's rounding (HTA raises "
                                                     "AssertionError)"))));
        release(&busy);
        release(&compute);
    }
}

/* ---- get_comm_comp_overlap ---- */

static const struct tg_table_column overlap_columns[] = {
    { "rank", TG_TABLE_INT },
    { "comp_comm_overlap_pctg", TG_TABLE_REAL },
};

static double common(const struct groups *a, const struct groups *b)
{
    double sum = 0;
    for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
        double from = fmax(a->v[i].start, b->v[j].start), to = fmin(a->v[i].end, b->v[j].end);
        if (to > from)
            sum += to - from;
        if (a->v[i].end < b->v[j].end)
            i++;
        else
            j++;
    }
    return sum;
}

void tg_hta_overlap(const struct tg_hta *in, struct tg_tables *out)
{
    struct tg_table *f = TG_TABLES_ADD(out, "overlap", overlap_columns);
    for (size_t k = 0; k < in->n; k++) {
        const struct tg_hta_rows *r = &in->ranks[k];
        struct groups comm, compute;
        size_t n;
        TG_FREE const struct tg_hta_row **rows = tg_hta_device_rows(r, &n);
        merge(&comm, rows, n, TG_CLASS_COMM);
        merge(&compute, rows, n, TG_CLASS_COMPUTE);
        TG_TABLE_PUT(f, tg_table_int(r->rank),
                     tg_table_if(comm.n, tg_table_real(tg_round_to(
                                             common(&comm, &compute) / length(&comm) * 100, 2))));
        release(&comm);
        release(&compute);
    }
}

/* ---- get_gpu_kernel_breakdown, by type ---- */

static const struct tg_table_column type_columns[] = {
    { "kernel_type", TG_TABLE_TEXT },
    { "sum", TG_TABLE_REAL_US },
    { "percentage", TG_TABLE_REAL },
};

#define TYPES TG_CLASS_OTHER /* computation, communication, memory; other work is excluded */
#define SETS (1 << TYPES)

struct edge {
    double at;
    int value;   /* plus or minus the bit of the type */
    size_t rank; /* at equal times: by type, starts before ends (HTA's order depends on an
                    unstable sort) */
};

struct set_time {
    bool met; /* a set without duration is in HTA's table as well, with 0 */
    double sum;
};

static int by_time(const void *pa, const void *pb)
{
    const struct edge *a = pa, *b = pb;
    int c = TG_CMP(a->at, b->at);
    return c ? c : TG_CMP(a->rank, b->rank);
}

void tg_hta_kernel_types(const struct tg_hta *in, struct tg_tables *out)
{
    struct tg_table *f = TG_TABLES_ADD(out, "kernel-types", type_columns);
    struct set_time by_set[SETS] = { 0 };
    double total = 0;
    for (size_t k = 0; k < in->n; k++) {
        size_t n;
        TG_FREE const struct tg_hta_row **rows = tg_hta_device_rows(&in->ranks[k], &n);
        /* Slices are cut to whole us each; a running sum that is not positive has no label. */
        TG_FREE struct edge *edges = NULL;
        size_t n_edges = 0, cap = 0;
        int running = 0;
        for (int c = 0; c < TYPES; c++) {
            struct groups g;
            merge(&g, rows, n, c);
            for (size_t i = 0; i < g.n; i++) {
                edges = tg_grow(edges, &cap, n_edges + 2, sizeof *edges);
                edges[n_edges++] = (struct edge){ g.v[i].start, 1 << c, (size_t)c * 2 };
                edges[n_edges++] = (struct edge){ g.v[i].end, -(1 << c), (size_t)c * 2 + 1 };
            }
            release(&g);
        }
        TG_SORT(edges, n_edges, by_time);
        for (size_t i = 0; i + 1 < n_edges; i++) {
            running += edges[i].value;
            if (running <= 0)
                continue;
            by_set[running & (SETS - 1)].met = true;
            by_set[running & (SETS - 1)].sum += trunc(edges[i + 1].at - edges[i].at);
        }
    }
    for (int s = 1; s < SETS; s++)
        total += by_set[s].sum;
    for (int s = 1; s < SETS; s++)
        if (by_set[s].met)
            TG_TABLE_PUT(f, tg_table_text(tg_work_class_names(s, out->arena)),
                         tg_table_real(by_set[s].sum),
                         tg_table_real(tg_round_to(by_set[s].sum / total * 100, 1)));
}
