/* `modules` and `sources` of analyze: the sums of stacks.c as tables. */

#include "core/analysis/analysis.h"
#include "core/analysis/device.h"
#include "core/base/sort.h"
#include "core/metric/stacks.h"

static const struct tg_table_column columns[] = {
    { "name", TG_TABLE_TEXT },          { "calls", TG_TABLE_INT },
    { "host_time(us)", TG_TABLE_US },   { "host_self(us)", TG_TABLE_US },
    { "device_time(us)", TG_TABLE_US }, { "device_self(us)", TG_TABLE_US },
    { "device_pctg", TG_TABLE_REAL },   { "device_events", TG_TABLE_INT },
    { "rank", TG_TABLE_INT },           { "reason", TG_TABLE_TEXT },
};

static int by_device(const void *pa, const void *pb)
{
    const struct tg_stack *a = pa, *b = pb;
    int c = TG_CMP(b->v->device, a->v->device);
    c = c ? c : TG_CMP(b->v->host, a->v->host);
    return c ? c : tg_sv_cmp(a->name, b->name);
}

static void put(struct tg_table *f, int64_t rank, tg_sv name, const struct tg_stack_sums *v,
                tg_ns total, bool called)
{
    TG_TABLE_PUT(f, tg_table_text(name), tg_table_if(called, tg_table_int((int64_t)v->calls)),
                 tg_table_if(called, tg_table_int(v->host)),
                 tg_table_if(called, tg_table_int(v->self)), tg_table_int(v->device),
                 tg_table_int(v->device_self), tg_table_percent(v->device, total),
                 tg_table_int((int64_t)v->work), tg_table_int(rank), TG_TABLE_UNKNOWN);
}

static void run(const struct tg_analysis_in *in, struct tg_tables *out, const char *name,
                enum tg_stack_sort sort, const char *none)
{
    struct tg_table *f = TG_TABLES_ADD(out, name, columns);
    for (size_t r = 0; r < in->n; r++) {
        const struct tg_rank_work *w = &in->work[r];
        int64_t rank = in->ranks[r].rank;
        size_t before = f->n_rows, shown = 0, top = in->opts->top;
        tg_ns total = 0; /* of the device */
        struct tg_stacks s;
        /* All wanted steps in one row. */
        const struct tg_steps *steps = in->ranks[r].steps;
        TG_FREE size_t *bucket = tg_xrealloc(NULL, steps->n + 1, sizeof *bucket);
        struct tg_stack_spec spec = { .sort = sort, .bucket = bucket, .n_buckets = 1 };
        for (size_t k = 0; k <= steps->n; k++)
            bucket[k] =
                tg_step_wanted(steps, k < steps->n ? (int32_t)k : -1, in->opts) ? 0 : SIZE_MAX;
        tg_stacks_compute(&s, in->ranks[r].trace, steps, &spec);
        for (size_t i = 0; i < w->n; i++)
            total = tg_ns_add(total, tg_ns_sub(w->v[i].end, w->v[i].start));
        TG_SORT(s.rows, s.n, by_device);
        for (size_t i = 0; i < s.n; i++) {
            const struct tg_stack *k = &s.rows[i];
            if ((k->v->calls || k->v->work) && (!top || shown++ < top))
                put(f, rank, tg_arena_sv(out->arena, k->name), k->v, total, true);
        }
        if (s.n && s.outside->work)
            put(f, rank, tg_sv_of(tg_stack_outside(sort)), s.outside, total, false);
        if (f->n_rows == before)
            tg_table_put_reason(f, rank, s.n ? TG_SV("none in these steps") : tg_sv_of(none));
        tg_stacks_release(&s);
    }
}

void tg_modules(const struct tg_analysis_in *in, struct tg_tables *out)
{
    run(in, out, "modules", TG_STACK_MODULES,
        "no nn.Module in the trace: record with with_stack=True");
}

void tg_sources(const struct tg_analysis_in *in, struct tg_tables *out)
{
    run(in, out, "sources", TG_STACK_SOURCES,
        "no Python function in the trace: record with with_stack=True");
}
