/* HTA's get_memory_bw_summary. At equal times starts come before ends. */
#include <stdlib.h>

#include "core/analysis/device.h"
#include "core/analysis/quantiles.h"
#include "core/hta/hta.h"

static const struct tg_table_column columns[] = {
    { "rank", TG_TABLE_INT },
    { "name", TG_TABLE_TEXT },
    TG_QUANTILE_COLUMNS(TG_TABLE_GBPS),
};
static const struct tg_table_column series_columns[] = {
    { "rank", TG_TABLE_INT },
    { "ts", TG_TABLE_REAL_US },
    { "name", TG_TABLE_TEXT },
    { "memory_bw_gbps", TG_TABLE_GBPS },
};

static tg_sv kind_of(tg_sv name)
{
    if (tg_sv_starts(name, TG_SV("Memset")))
        return TG_SV("Memset");
    if (tg_sv_starts(name, TG_SV("Memcpy")))
        return (tg_sv){ name.p, name.n < 11 ? name.n : 11 };
    return TG_SV("Memcpy Unknown");
}

static size_t collect(struct tg_hta_change *edges, const struct tg_hta_rows *r,
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
            edges[n_edges++] =
                (struct tg_hta_change){ .kind = kind_of(r->trace->names->v[rows[i]->name].name),
                                        .at = rows[i]->ts + (sign ? dur : 0),
                                        .by = sign ? -gbps : gbps };
        }
    return n_edges;
}

void tg_hta_bandwidth(const struct tg_hta *in, struct tg_tables *out)
{
    size_t first = out->n;
    TG_TABLES_ADD(out, "bandwidth", columns);
    if (in->opts->series)
        TG_TABLES_ADD(out, "bandwidth-series", series_columns);
    for (size_t k = 0; k < in->n; k++) {
        const struct tg_hta_rows *r = &in->ranks[k];
        size_t n;
        TG_FREE const struct tg_hta_row **rows = tg_hta_device_rows(r, &n);
        TG_FREE struct tg_hta_change *edges = tg_xrealloc(NULL, 2 * n + 1, sizeof *edges);
        n = collect(edges, r, rows, n);
        /* residues of 1e-13 pass as well, as in HTA */
        tg_hta_put_series(&out->v[first], in->opts->series, r->rank, edges, n,
                          TG_HTA_POSITIVE_STATES);
    }
}
