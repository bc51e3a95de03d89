/* Where a device's time goes: idle, computing, or only other work (copies, communication). */
#include "core/analysis/analysis.h"
#include "core/analysis/device.h"
#include "core/analysis/interval.h"

static const struct tg_table_column columns[] = {
    { "rank", TG_TABLE_INT },
    { "idle_time(us)", TG_TABLE_US },
    { "compute_time(us)", TG_TABLE_US },
    { "non_compute_time(us)", TG_TABLE_US },
    { "kernel_time(us)", TG_TABLE_US },
    { "idle_time_pctg", TG_TABLE_REAL },
    { "compute_time_pctg", TG_TABLE_REAL },
    { "non_compute_time_pctg", TG_TABLE_REAL },
    { "device", TG_TABLE_INT },
    { "reason", TG_TABLE_TEXT },
};

/* kernel_time is first start to last end; compute and busy are unions over all streams. */
static void one_device(void *arg, const struct tg_device_work *d)
{
    TG_AUTO(tg_union_release) struct tg_union busy = { 0 }, compute = { 0 };
    tg_ns total = tg_work_extent(d), idle, computing, other;
    for (size_t i = 0; i < d->n; i++) {
        tg_union_add(&busy, d->rows[i]->start, d->rows[i]->end);
        if (d->rows[i]->class_ == TG_CLASS_COMPUTE)
            tg_union_add(&compute, d->rows[i]->start, d->rows[i]->end);
    }
    idle = tg_ns_sub(total, tg_union_length(&busy));
    computing = tg_union_length(&compute);
    other = tg_ns_sub(tg_ns_sub(total, idle), computing);
    TG_TABLE_PUT(arg, tg_table_int(d->rank), tg_table_int(idle), tg_table_int(computing),
                 tg_table_int(other), tg_table_int(total), tg_table_percent(idle, total),
                 tg_table_percent(computing, total), tg_table_percent(other, total),
                 tg_work_device(d), TG_TABLE_UNKNOWN);
}

void tg_temporal(const struct tg_analysis_in *in, struct tg_tables *out)
{
    struct tg_table *f = TG_TABLES_ADD(out, "temporal", columns);
    tg_work_each(in, one_device, f, f);
}
