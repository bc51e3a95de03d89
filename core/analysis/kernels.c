/*
 * Device work by name: how often, how long, how evenly. Largest sum first within class and device.
 */

#include "core/analysis/analysis.h"
#include "core/analysis/device.h"
#include "core/analysis/quantiles.h"
#include "core/base/sort.h"

static const struct tg_table_column columns[] = {
    { "name", TG_TABLE_TEXT },        { "sum (us)", TG_TABLE_US },
    { "max (us)", TG_TABLE_US },      { "min (us)", TG_TABLE_US },
    { "stddev", TG_TABLE_REAL_US },   { "mean (us)", TG_TABLE_REAL_US },
    { "kernel_type", TG_TABLE_TEXT }, { "rank", TG_TABLE_INT },
    { "count", TG_TABLE_INT },        { "share_pctg", TG_TABLE_REAL },
    { "unknown", TG_TABLE_INT }, /* 1: no row of the class table matched the name */
    { "device", TG_TABLE_INT },       { "reason", TG_TABLE_TEXT },
};

struct entry {
    tg_sv name;
    enum tg_class class_;
    bool fallback;
    struct tg_running_stats spread;
};
struct job {
    struct tg_table *table;
    struct tg_arena *arena;
};

static int by_class_and_sum(const void *pa, const void *pb)
{
    const struct entry *a = pa, *b = pb;
    int c = TG_CMP(a->class_, b->class_);
    c = c ? c : TG_CMP(b->spread.sum, a->spread.sum);
    return c ? c : tg_sv_cmp(a->name, b->name);
}

static void put(const struct job *j, const struct tg_device_work *d, const struct entry *e,
                tg_ns total)
{
    const struct tg_running_stats *all = &e->spread;
    TG_TABLE_PUT(j->table, tg_table_text(e->name), tg_table_int(all->sum), tg_table_int(all->max),
                 tg_table_int(all->min), tg_table_real(tg_running_stats_std(all) / 1000),
                 tg_table_real((double)all->sum / (double)all->n / 1000),
                 tg_table_text(tg_sv_of(tg_class_hta_name(e->class_))), tg_table_int(d->rank),
                 tg_table_int((int64_t)all->n), tg_table_percent(all->sum, total),
                 tg_table_int(e->fallback), tg_work_device(d), TG_TABLE_UNKNOWN);
}

/* One class: the `top` largest, then the rest merged, with the true statistics of its calls. */
static void put_class(const struct job *j, const struct tg_device_work *d, const struct entry *e,
                      size_t n, tg_ns total)
{
    size_t top = d->opts->top, shown = top && top < n ? top : n;
    struct entry others = { .class_ = e[0].class_ };
    for (size_t i = 0; i < shown; i++)
        put(j, d, &e[i], total);
    for (size_t i = shown; i < n; i++) {
        tg_running_stats_merge(&others.spread, &e[i].spread);
        others.fallback |= e[i].fallback;
    }
    others.name = TG_SV_PRINTF(j->arena, "others (%zu names)", n - shown);
    if (shown < n)
        put(j, d, &others, total);
}

static void one_device(void *arg, const struct tg_device_work *d)
{
    const struct job *j = arg;
    const struct tg_names *names = d->work->rank->trace->names;
    TG_AUTO(tg_strmap_release) struct tg_strmap texts = { 0 };
    /* The entry of each name id: one text under two categories is one name. */
    TG_FREE uint32_t *id = tg_xmalloc((names->n + 1) * sizeof *id);
    TG_FREE struct entry *e = NULL;
    size_t n = 0, cap = 0;
    tg_ns total = 0;
    memset(id, 0xff, (names->n + 1) * sizeof *id); /* TG_NO_ID */
    for (size_t i = 0; i < d->n; i++) {
        const struct tg_work_row *r = d->rows[i];
        uint32_t name = tg_span_at(d->work->rank->trace, r->span)->name;
        tg_ns dur = tg_ns_sub(r->end, r->start);
        if (id[name] == TG_NO_ID)
            id[name] = tg_strmap_add(&texts, names->v[name].name);
        if (id[name] == n)
            *TG_PUSH(e, n, cap) = (struct entry){ .name = names->v[name].name,
                                                  .class_ = r->class_,
                                                  .fallback = r->fallback };
        tg_running_stats_add(&e[id[name]].spread, dur);
        total = tg_ns_add(total, dur);
    }
    TG_SORT(e, n, by_class_and_sum);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && e[k].class_ == e[i].class_;)
            k++;
        put_class(j, d, e + i, k - i, total);
    }
}

void tg_kernels(const struct tg_analysis_in *in, struct tg_tables *out)
{
    struct job j = { TG_TABLES_ADD(out, "kernels", columns), out->arena };
    tg_work_each(in, one_device, &j, j.table);
}
