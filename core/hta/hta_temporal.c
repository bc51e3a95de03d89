/* HTA's get_temporal_breakdown. Gives the numbers even if an assertion of HTA would fail. */
#include <stdlib.h>

#include "core/analysis/quantiles.h"
#include "core/hta/hta.h"

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

static void one_rank(struct tg_table *f, const struct tg_hta_rows *r)
{
    struct tg_hta_groups busy, compute;
    size_t n;
    TG_FREE const struct tg_hta_row **rows = tg_hta_device_rows(r, &n);
    if (!n) {
        tg_table_put_reason(f, r->rank, TG_SV("no device activity (HTA raises IndexError)"));
        return;
    }
    tg_hta_merge(&busy, rows, n, -1);
    tg_hta_merge(&compute, rows, n, TG_CLASS_COMPUTE);
    double total = busy.v[busy.n - 1].end - busy.v[0].start;
    double idle = total - tg_hta_groups_length(&busy);
    double computing = tg_hta_groups_length(&compute);
    double rest = total - computing - idle;
    TG_TABLE_PUT(f, tg_table_int(r->rank), tg_table_real(idle), tg_table_real(computing),
                 tg_table_real(rest), tg_table_real(total), percent(idle, total),
                 percent(computing, total), percent(rest, total),
                 tg_table_if(idle < 0 || computing < 0 || rest < 0,
                             tg_table_text(TG_SV("negative time by HTA's rounding (HTA raises "
                                                 "AssertionError)"))));
    tg_hta_groups_release(&busy);
    tg_hta_groups_release(&compute);
}

void tg_hta_temporal(const struct tg_hta *in, struct tg_tables *out)
{
    struct tg_table *f = TG_TABLES_ADD(out, "temporal", columns);
    for (size_t k = 0; k < in->n; k++)
        one_rank(f, &in->ranks[k]);
}
