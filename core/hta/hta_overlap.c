/* HTA's get_comm_comp_overlap. */
#include <math.h>
#include <stdlib.h>

#include "core/analysis/quantiles.h"
#include "core/hta/hta.h"

static const struct tg_table_column columns[] = {
    { "rank", TG_TABLE_INT },
    { "comp_comm_overlap_pctg", TG_TABLE_REAL },
};

static double common(const struct tg_hta_groups *a, const struct tg_hta_groups *b)
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
    struct tg_table *f = TG_TABLES_ADD(out, "overlap", columns);
    for (size_t k = 0; k < in->n; k++) {
        const struct tg_hta_rows *r = &in->ranks[k];
        struct tg_hta_groups comm, compute;
        size_t n;
        TG_FREE const struct tg_hta_row **rows = tg_hta_device_rows(r, &n);
        tg_hta_merge(&comm, rows, n, TG_CLASS_COMM);
        tg_hta_merge(&compute, rows, n, TG_CLASS_COMPUTE);
        TG_TABLE_PUT(
            f, tg_table_int(r->rank),
            tg_table_if(comm.n,
                        tg_table_real(tg_round_to(
                            common(&comm, &compute) / tg_hta_groups_length(&comm) * 100, 2))));
        tg_hta_groups_release(&comm);
        tg_hta_groups_release(&compute);
    }
}
