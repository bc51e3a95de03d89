/* HTA's get_gpu_kernel_breakdown: by kernel, `others` as HTA makes them. */
#include "core/analysis/device.h"
#include "core/analysis/quantiles.h"
#include "core/hta/hta.h"

#define TYPES TG_CLASS_OTHER /* as in hta_intervals.c */
#define DURATION_RATIO 0.8   /* HTA's default */
#define NUM_KERNELS 10       /* HTA's default */

static const struct tg_table_column kernel_columns[] = {
    { "name", TG_TABLE_TEXT },        { "sum (us)", TG_TABLE_REAL_US },
    { "max (us)", TG_TABLE_REAL_US }, { "min (us)", TG_TABLE_REAL_US },
    { "stddev", TG_TABLE_REAL_US },   { "mean (us)", TG_TABLE_REAL_US },
    { "kernel_type", TG_TABLE_TEXT }, { "rank", TG_TABLE_INT },
};

struct entry {
    tg_sv name;
    double sum, max, min, std, mean;
};

struct call {
    tg_sv name;
    double dur;
};

static int by_name(const void *pa, const void *pb)
{
    const struct call *a = pa, *b = pb;
    return a->name.p == b->name.p ? 0 : tg_sv_cmp(a->name, b->name);
}

static int by_sum(const void *pa, const void *pb)
{
    const struct entry *a = pa, *b = pb;
    int c = TG_CMP(b->sum, a->sum);
    return c ? c : tg_sv_cmp(a->name, b->name);
}

static struct entry entry_of(tg_sv name, double *durations, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += durations[i];
    struct tg_quantiles d = tg_quantiles_of(durations, n);
    return (struct entry){ .name = name,
                           .sum = sum,
                           .max = d.max,
                           .min = d.min,
                           .std = n > 1 ? d.std : 0,
                           .mean = d.mean };
}

/* Entries of one class, largest sum first; the caller frees. */
static struct entry *collect(const struct tg_hta_rows *r, const struct tg_hta_row *const *rows,
                             size_t n, int class_, size_t *n_entries)
{
    TG_FREE struct call *calls = tg_xrealloc(NULL, n + 1, sizeof *calls);
    TG_FREE double *durations = tg_xrealloc(NULL, n + 1, sizeof *durations);
    struct entry *e = tg_xrealloc(NULL, n + 1, sizeof *e);
    size_t n_calls = 0;
    for (size_t i = 0; i < n; i++)
        if ((int)rows[i]->class_ == class_)
            calls[n_calls++] =
                (struct call){ r->trace->names->v[rows[i]->name].name, rows[i]->dur };
    TG_SORT(calls, n_calls, by_name);
    *n_entries = 0;
    for (size_t i = 0, k; i < n_calls; i = k) {
        for (k = i; k < n_calls && tg_sv_eq(calls[k].name, calls[i].name); k++)
            durations[k - i] = calls[k].dur;
        e[(*n_entries)++] = entry_of(calls[i].name, durations, k - i);
    }
    TG_SORT(e, *n_entries, by_sum);
    return e;
}

static void put(struct tg_table *f, const struct entry *e, const struct tg_hta_rows *r, int class_)
{
    TG_TABLE_PUT(f, tg_table_text(e->name), tg_table_real(e->sum), tg_table_real(e->max),
                 tg_table_real(e->min), tg_table_real(e->std), tg_table_real(e->mean),
                 tg_table_text(tg_sv_of(tg_class_hta_name((enum tg_class)class_))),
                 tg_table_int(r->rank));
}

/*
 * More names than `top`: a name stays when its place is below `top` and the running sum does not
 * exceed the 0.8 quantile of the running sums (of that column, not of the time). Then the
 * statistics are computed again from the sums, so that max, min and mean of a name are its sum.
 */
static void put_top(struct tg_table *f, struct entry *e, size_t n, const struct tg_hta_rows *r,
                    int class_, size_t top)
{
    TG_FREE double *running = tg_xrealloc(NULL, n + 1, sizeof *running);
    TG_FREE double *rest = tg_xrealloc(NULL, n + 1, sizeof *rest);
    double at = DURATION_RATIO * (double)(n - 1), sum = 0, limit;
    size_t n_rest = 0, low = (size_t)at;
    TG_FREE double *sorted = tg_xrealloc(NULL, n + 1, sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        sorted[i] = running[i] = sum += e[i].sum;
    (void)tg_quantiles_of(sorted, n); /* a sort, because sums can be negative */
    limit = sorted[low] + (low + 1 < n ? (sorted[low + 1] - sorted[low]) * (at - (double)low) : 0);
    for (size_t i = 0; i < n; i++) {
        if (i >= top || running[i] > limit) {
            rest[n_rest++] = e[i].sum;
            continue;
        }
        e[i].max = e[i].min = e[i].mean = e[i].sum;
        e[i].std = 0;
        put(f, &e[i], r, class_);
    }
    if (n_rest) {
        struct entry others = entry_of(TG_SV("others"), rest, n_rest);
        put(f, &others, r, class_);
    }
}

void tg_hta_kernels(const struct tg_hta *in, struct tg_tables *out)
{
    struct tg_table *f = TG_TABLES_ADD(out, "kernels", kernel_columns);
    size_t top = in->opts->top_default ? NUM_KERNELS : in->opts->top;
    for (int c = 0; c < TYPES; c++)
        for (size_t k = 0; k < in->n; k++) {
            const struct tg_hta_rows *r = &in->ranks[k];
            size_t n, n_entries;
            TG_FREE const struct tg_hta_row **rows = tg_hta_device_rows(r, &n);
            TG_FREE struct entry *e = collect(r, rows, n, c, &n_entries);
            if (top && n_entries > top)
                put_top(f, e, n_entries, r, c, top);
            else
                for (size_t i = 0; i < n_entries; i++)
                    put(f, &e[i], r, c);
        }
}
