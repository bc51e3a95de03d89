/*
 * Why streams were empty. A gap reaches from the latest end so far on its stream to the next start:
 *
 *     stream  |====|          |===|      host_wait:   the next piece was launched inside the gap
 *                  |<- gap  ->|          kernel_wait: launched before, and the gap is short
 *     launch            ^                other:       launched before, or unknown when
 *
 * A gap on a stream does not mean an idle device: another stream may be busy, so `device_idle`
 * counts the part of the gaps in which nothing ran at all.
 */
#include <stdlib.h>

#include "core/analysis/analysis.h"
#include "core/analysis/device.h"
#include "core/analysis/quantiles.h"

#define KERNEL_WAIT_NS 30000 /* HTA's consecutive_kernel_delay: 30, compared with us */

enum category { HOST_WAIT, KERNEL_WAIT, OTHER, CATEGORIES };
static const char *const category_names[CATEGORIES] = { "host_wait", "kernel_wait", "other" };

static const struct tg_table_column columns[] = {
    { "rank", TG_TABLE_INT },
    { "stream", TG_TABLE_INT },
    { "idle_category", TG_TABLE_TEXT },
    { "idle_time", TG_TABLE_US },
    { "idle_time_ratio", TG_TABLE_REAL },
    { "gaps", TG_TABLE_INT },
    { "device_idle_time", TG_TABLE_US },
    { "device", TG_TABLE_INT },
    { "reason", TG_TABLE_TEXT },
};

static const struct tg_table_column stat_columns[] = {
    { "idle_category", TG_TABLE_TEXT },    { "rank", TG_TABLE_INT },   { "stream", TG_TABLE_INT },
    TG_QUANTILE_COLUMNS(TG_TABLE_REAL_US), { "device", TG_TABLE_INT },
};

struct gaps { /* of one category on one stream */
    double *us;
    size_t n, cap;
    tg_ns total, device_idle;
};
struct lane { /* one stream */
    bool any;
    tg_ns until;
    struct gaps by[CATEGORIES];
};

static void one_device(void *arg, const struct tg_device_work *d)
{
    struct tg_table *tables = arg; /* idle, then idle-stats */
    const struct tg_rank_trace *rank = d->work->rank;
    TG_AUTO(tg_union_release) struct tg_union busy = { 0 };
    TG_AUTO(tg_streams_release) struct tg_streams streams;
    TG_FREE struct lane *lanes = tg_streams_init(&streams, d, sizeof *lanes);
    for (size_t i = 0; i < d->n; i++)
        tg_union_add(&busy, d->rows[i]->start, d->rows[i]->end);
    for (size_t i = 0; i < d->n; i++) {
        const struct tg_work_row *r = d->rows[i];
        struct lane *l = &lanes[tg_streams_of(&streams, d, r)];
        if (l->any && r->start > l->until) {
            uint32_t launch = rank->steps->launch[r->span];
            tg_ns gap = tg_ns_sub(r->start, l->until);
            bool waits = launch != TG_NO_SPAN && tg_span_at(rank->trace, launch)->start > l->until;
            struct gaps *g = &l->by[waits ? HOST_WAIT : gap < KERNEL_WAIT_NS ? KERNEL_WAIT : OTHER];
            *TG_PUSH(g->us, g->n, g->cap) = (double)gap / 1000;
            g->total = tg_ns_add(g->total, gap);
            g->device_idle = tg_ns_add(g->device_idle,
                                       tg_ns_sub(gap, tg_union_inside(&busy, l->until, r->start)));
        }
        if (!l->any || r->end > l->until)
            l->until = r->end;
        l->any = true;
    }
    for (size_t i = 0; i < streams.n; i++) {
        struct gaps *by = lanes[i].by;
        struct tg_table_cell stream = tg_table_int(streams.number[i]);
        tg_ns total = 0;
        for (int c = 0; c < CATEGORIES; c++)
            total = tg_ns_add(total, by[c].total);
        for (int c = 0; c < CATEGORIES; c++) {
            struct tg_quantiles stats = tg_quantiles_of(by[c].us, by[c].n);
            struct tg_table_cell category = tg_table_text(tg_sv_of(category_names[c]));
            TG_TABLE_PUT(tables, tg_table_int(d->rank), stream, category, tg_table_int(by[c].total),
                         tg_table_if(total > 0, tg_table_real((double)by[c].total / (double)total)),
                         tg_table_int((int64_t)by[c].n), tg_table_int(by[c].device_idle),
                         tg_work_device(d), TG_TABLE_UNKNOWN);
            TG_TABLE_PUT(tables + 1, category, tg_table_int(d->rank), stream,
                         TG_QUANTILE_CELLS(stats, -1), tg_work_device(d));
            free(by[c].us);
        }
    }
}

void tg_idle(const struct tg_analysis_in *in, struct tg_tables *out)
{
    size_t first = out->n;
    TG_TABLES_ADD(out, "idle", columns);
    TG_TABLES_ADD(out, "idle-stats", stat_columns);
    tg_work_each(in, one_device, &out->v[first], &out->v[first]);
}
