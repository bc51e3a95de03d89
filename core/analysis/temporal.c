/* Where a device's time goes: idle, computing, or only other work (copies, communication). */
#include "core/analysis/device.h"
#include "core/analysis/internal.h"
#include "core/analysis/interval.h"

enum {
    RANK,
    IDLE,
    COMPUTE,
    OTHER,
    TOTAL,
    IDLE_PCT,
    COMPUTE_PCT,
    OTHER_PCT,
    DEVICE,
    REASON,
    COLUMNS
};
static const struct tg_table_column columns[COLUMNS] = {
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

static void put(struct tg_table_cell *row, int time, int percent, tg_ns ns, tg_ns total)
{
    row[time] = tg_table_int(ns);
    if (total > 0)
        row[percent] = tg_table_real(100.0 * (double)ns / (double)total);
}

static const struct tg_work_columns work_columns = { RANK, DEVICE, REASON };

/* kernel_time is first start to last end; compute and busy are unions over all streams. */
static void one_device(void *arg, const struct tg_device_work *d)
{
    struct tg_table_cell *row = tg_work_row(arg, &work_columns, d);
    struct tg_union busy = { 0 }, compute = { 0 };
    tg_ns total, idle, computing;
    for (size_t i = 0; i < d->n; i++) {
        tg_union_add(&busy, d->rows[i]->start, d->rows[i]->end);
        if (d->rows[i]->class_ == TG_CLASS_COMPUTE)
            tg_union_add(&compute, d->rows[i]->start, d->rows[i]->end);
    }
    total = tg_work_extent(d);
    idle = tg_ns_sub(total, tg_union_length(&busy));
    computing = tg_union_length(&compute);
    row[TOTAL] = tg_table_int(total);
    put(row, IDLE, IDLE_PCT, idle, total);
    put(row, COMPUTE, COMPUTE_PCT, computing, total);
    put(row, OTHER, OTHER_PCT, tg_ns_sub(tg_ns_sub(total, idle), computing), total);
    tg_union_release(&busy);
    tg_union_release(&compute);
}

void tg_temporal(const struct tg_analysis_in *in, struct tg_tables *out)
{
    struct tg_table *f = tg_tables_add(out, "temporal", columns, COLUMNS);
    tg_work_each(in, one_device, f, f, &work_columns);
}
