/* How much of the communication is hidden behind computation, and how much is exposed. */
#include "core/analysis/analysis.h"
#include "core/analysis/device.h"
#include "core/analysis/interval.h"

static const struct tg_table_column columns[] = {
    { "rank", TG_TABLE_INT },
    { "comp_comm_overlap_pctg", TG_TABLE_REAL },
    { "comm_time(us)", TG_TABLE_US },
    { "overlapped_time(us)", TG_TABLE_US },
    { "exposed_comm_time(us)", TG_TABLE_US },
    { "device", TG_TABLE_INT },
    { "reason", TG_TABLE_TEXT },
};

static void one_device(void *arg, const struct tg_device_work *d)
{
    TG_AUTO(tg_union_release) struct tg_union compute = { 0 }, comm = { 0 };
    for (size_t i = 0; i < d->n; i++)
        if (d->rows[i]->class_ == TG_CLASS_COMPUTE)
            tg_union_add(&compute, d->rows[i]->start, d->rows[i]->end);
        else if (d->rows[i]->class_ == TG_CLASS_COMM)
            tg_union_add(&comm, d->rows[i]->start, d->rows[i]->end);
    tg_ns total = tg_union_length(&comm);
    tg_ns hidden = tg_union_common(&comm, &compute);
    TG_TABLE_PUT(arg, tg_table_int(d->rank), tg_table_percent(hidden, total), tg_table_int(total),
                 tg_table_int(hidden), tg_table_int(tg_ns_sub(total, hidden)), tg_work_device(d),
                 tg_table_if(total <= 0, tg_table_text(TG_SV("no communication"))));
}

void tg_overlap(const struct tg_analysis_in *in, struct tg_tables *out)
{
    struct tg_table *f = TG_TABLES_ADD(out, "overlap", columns);
    tg_work_each(in, one_device, f, f);
}
