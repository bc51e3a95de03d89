#include "core/analysis/quantiles.h"
#include "core/hta/hta.h"

static int by_key_and_time(const void *pa, const void *pb)
{
    const struct tg_hta_change *a = pa, *b = pb;
    int c = tg_sv_cmp(a->kind, b->kind);
    c = c ? c : TG_CMP(a->stream, b->stream);
    c = c ? c : TG_CMP(a->at, b->at);
    return c ? c : TG_CMP(a->order, b->order);
}

/* The changes of one key. */
static void put(struct tg_table *summary, struct tg_table *series, int64_t rank,
                const struct tg_hta_change *v, size_t n, enum tg_hta_states states)
{
    TG_FREE double *values = tg_xrealloc(NULL, n + 1, sizeof *values);
    struct tg_table_cell key = v->kind.n ? tg_table_text(v->kind) : tg_table_int(v->stream);
    double sum = 0;
    size_t n_values = 0;
    for (size_t i = 0; i < n; i++) {
        sum += v[i].by;
        if (states == TG_HTA_ALL_STATES || sum > 0)
            values[n_values++] = sum;
        if (series)
            TG_TABLE_PUT(series, tg_table_int(rank), tg_table_real(v[i].at), key,
                         v->kind.n ? tg_table_real(sum) : tg_table_int((int64_t)sum));
    }
    if (!n_values)
        return;
    struct tg_quantiles stats = tg_quantiles_of(values, n_values);
    TG_TABLE_PUT(summary, tg_table_int(rank), key, TG_QUANTILE_CELLS(stats, -1));
}

void tg_hta_put_series(struct tg_table *tables, bool series, int64_t rank, struct tg_hta_change *v,
                       size_t n, enum tg_hta_states states)
{
    for (size_t i = 0; i < n; i++)
        v[i].order = i;
    TG_SORT(v, n, by_key_and_time);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && v[k].stream == v[i].stream && tg_sv_eq(v[k].kind, v[i].kind);)
            k++;
        put(tables, series ? tables + 1 : NULL, rank, v + i, k - i, states);
    }
}
