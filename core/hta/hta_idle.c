/* HTA's get_idle_time_breakdown with its interval statistics. */
#include <math.h>
#include <stdlib.h>

#include "core/analysis/quantiles.h"
#include "core/hta/hta.h"

#define KERNEL_WAIT_US 30 /* the default of consecutive_kernel_delay */

enum category { HOST_WAIT, KERNEL_WAIT, OTHER, CATEGORIES };
static const char *const category_names[CATEGORIES] = { "host_wait", "kernel_wait", "other" };

static const struct tg_table_column columns[] = {
    { "rank", TG_TABLE_INT },
    { "stream", TG_TABLE_INT },
    { "idle_category", TG_TABLE_TEXT },
    { "idle_time", TG_TABLE_REAL_US },
    { "idle_time_ratio", TG_TABLE_REAL },
};
static const struct tg_table_column stat_columns[] = {
    { "idle_category", TG_TABLE_TEXT },
    { "rank", TG_TABLE_INT },
    { "stream", TG_TABLE_INT },
    TG_QUANTILE_COLUMNS(TG_TABLE_REAL),
};

static bool is_device_work(const struct tg_hta_rows *r, const struct tg_hta_row *row)
{
    static const char *const cats[] = { "kernel",     "Kernel", "gpu_memset",      "Memset",
                                        "gpu_memcpy", "Memcpy", "mtia_ccp_events", NULL };
    return tg_hta_is_one_of(r->trace->names->v[row->name].cat, tg_sv_eq, cats);
}

static int by_stream(const void *pa, const void *pb)
{
    const struct tg_hta_row *const *a = pa, *const *b = pb;
    int c = TG_CMP((*a)->stream, (*b)->stream);
    c = c ? c : TG_CMP((*a)->ts, (*b)->ts);
    return c ? c : TG_CMP(*a, *b);
}

struct lane {
    double *gap[CATEGORIES];
    size_t n[CATEGORIES], cap[CATEGORIES];
    bool met[CATEGORIES];
    double total[CATEGORIES];
};

/* Rows of one stream in start order; the gap is to the previous row, not to the latest end. */
static void sum_gaps(struct lane *l, const struct tg_hta_rows *r,
                     const struct tg_hta_row *const *rows, size_t n)
{
    *l = (struct lane){ .met[OTHER] = true }; /* the first row has no gap and counts there */
    for (size_t i = 1; i < n; i++) {
        double since = rows[i - 1]->ts + rows[i - 1]->dur, gap = rows[i]->ts - since;
        enum category c = gap < KERNEL_WAIT_US ? KERNEL_WAIT : OTHER;
        const struct tg_hta_row *launch = tg_hta_linked(r, rows[i]);
        if ((launch ? launch->ts : NAN) > since)
            c = HOST_WAIT;
        l->met[c] = true;
        *TG_PUSH(l->gap[c], l->n[c], l->cap[c]) = gap;
        l->total[c] += gap;
    }
}

static void put_lane(struct tg_table *tables, const struct tg_hta_rows *r, int64_t stream,
                     struct lane *l)
{
    double all = l->total[HOST_WAIT] + l->total[KERNEL_WAIT] + l->total[OTHER];
    for (int c = 0; c < CATEGORIES; c++) {
        struct tg_quantiles stats = tg_quantiles_of(l->gap[c], l->n[c]);
        struct tg_table_cell category = tg_table_text(tg_sv_of(category_names[c]));
        free(l->gap[c]);
        if (!l->met[c])
            continue;
        TG_TABLE_PUT(tables, tg_table_int(r->rank), tg_table_int(stream), category,
                     tg_table_real(tg_round_to(l->total[c], 2)),
                     tg_table_real(tg_round_to(l->total[c] / all, 2)));
        TG_TABLE_PUT(tables + 1, category, tg_table_int(r->rank), tg_table_int(stream),
                     TG_QUANTILE_CELLS(stats, 2));
    }
}

/* `tables`: idle, then idle-stats. */
static void one_rank(struct tg_table *tables, const struct tg_hta_rows *r)
{
    TG_FREE const struct tg_hta_row **rows = tg_xrealloc(NULL, r->n + 1, sizeof *rows);
    size_t n = 0;
    for (size_t i = 0; i < r->n; i++)
        if (r->v[i].stream != -1 && is_device_work(r, &r->v[i]))
            rows[n++] = &r->v[i];
    TG_SORT(rows, n, by_stream);
    for (size_t i = 0, j; i < n; i = j) {
        struct lane l;
        for (j = i + 1; j < n && rows[j]->stream == rows[i]->stream;)
            j++;
        sum_gaps(&l, r, rows + i, j - i);
        put_lane(tables, r, rows[i]->stream, &l);
    }
}

void tg_hta_idle(const struct tg_hta *in, struct tg_tables *out)
{
    size_t first = out->n;
    TG_TABLES_ADD(out, "idle", columns);
    TG_TABLES_ADD(out, "idle-stats", stat_columns);
    for (size_t k = 0; k < in->n; k++)
        one_rank(&out->v[first], &in->ranks[k]);
}
