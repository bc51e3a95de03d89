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

static int by_stream(const void *pa, const void *pb)
{
    const struct tg_hta_row *const *a = pa, *const *b = pb;
    int c = TG_CMP((*a)->stream, (*b)->stream);
    c = c ? c : TG_CMP((*a)->ts, (*b)->ts);
    return c ? c : TG_CMP(*a, *b);
}

/* Rows of one stream in start order; the gap is to the previous row, not to the latest end. */
static void put_stream(struct tg_table *tables, const struct tg_hta_rows *r,
                       const struct tg_hta_row *const *rows, size_t n)
{
    struct {
        double *gap, total;
        size_t n, cap;
        bool met;
    } by[CATEGORIES] = { [OTHER].met = true }; /* the first row has no gap and counts there */
    for (size_t i = 1; i < n; i++) {
        double since = rows[i - 1]->ts + rows[i - 1]->dur, gap = rows[i]->ts - since;
        enum category c = gap < KERNEL_WAIT_US ? KERNEL_WAIT : OTHER;
        const struct tg_hta_row *launch = tg_hta_linked(r, rows[i]);
        if ((launch ? launch->ts : NAN) > since)
            c = HOST_WAIT;
        by[c].met = true;
        *TG_PUSH(by[c].gap, by[c].n, by[c].cap) = gap;
        by[c].total += gap;
    }
    double all = by[HOST_WAIT].total + by[KERNEL_WAIT].total + by[OTHER].total;
    for (int c = 0; c < CATEGORIES; c++) {
        struct tg_quantiles stats = tg_quantiles_of(by[c].gap, by[c].n);
        struct tg_table_cell category = tg_table_text(tg_sv_of(category_names[c]));
        free(by[c].gap);
        if (!by[c].met)
            continue;
        TG_TABLE_PUT(tables, tg_table_int(r->rank), tg_table_int(rows[0]->stream), category,
                     tg_table_real(tg_round_to(by[c].total, 2)),
                     tg_table_real(tg_round_to(by[c].total / all, 2)));
        TG_TABLE_PUT(tables + 1, category, tg_table_int(r->rank), tg_table_int(rows[0]->stream),
                     TG_QUANTILE_CELLS(stats, 2));
    }
}

void tg_hta_idle(const struct tg_hta *in, struct tg_tables *out)
{
    static const char *const cats[] = { "kernel",     "Kernel", "gpu_memset",      "Memset",
                                        "gpu_memcpy", "Memcpy", "mtia_ccp_events", NULL };
    size_t first = out->n;
    TG_TABLES_ADD(out, "idle", columns);
    TG_TABLES_ADD(out, "idle-stats", stat_columns);
    for (size_t k = 0; k < in->n; k++) {
        const struct tg_hta_rows *r = &in->ranks[k];
        TG_FREE const struct tg_hta_row **rows = tg_xrealloc(NULL, r->n + 1, sizeof *rows);
        size_t n = 0;
        for (size_t i = 0; i < r->n; i++)
            if (r->v[i].stream != -1 &&
                tg_hta_is_one_of(r->trace->names->v[r->v[i].name].cat, tg_sv_eq, cats))
                rows[n++] = &r->v[i];
        TG_SORT(rows, n, by_stream);
        for (size_t i = 0, j; i < n; i = j) {
            for (j = i + 1; j < n && rows[j]->stream == rows[i]->stream;)
                j++;
            put_stream(&out->v[first], r, rows + i, j - i);
        }
    }
}
