/* How much of the communication is hidden behind computation, and how much is exposed. */
#include "core/analysis/device.h"
#include "core/analysis/internal.h"
#include "core/analysis/interval.h"

enum { RANK, OVERLAP, COMM, HIDDEN, EXPOSED, DEVICE, REASON, COLUMNS };
static const struct tg_table_column columns[COLUMNS] = {
    { "rank", TG_TABLE_INT },
    { "comp_comm_overlap_pctg", TG_TABLE_REAL },
    { "comm_time(us)", TG_TABLE_US },
    { "overlapped_time(us)", TG_TABLE_US },
    { "exposed_comm_time(us)", TG_TABLE_US },
    { "device", TG_TABLE_INT },
    { "reason", TG_TABLE_TEXT },
};

static const struct tg_work_columns work_columns = { RANK, DEVICE, REASON };

static void one_device(void *arg, const struct tg_device_work *d)
{
    struct tg_table_cell *row = tg_work_row(arg, &work_columns, d);
    struct tg_union compute = { 0 }, comm = { 0 };
    tg_ns total, hidden;
    for (size_t i = 0; i < d->n; i++)
        if (d->rows[i]->class_ == TG_CLASS_COMPUTE)
            tg_union_add(&compute, d->rows[i]->start, d->rows[i]->end);
        else if (d->rows[i]->class_ == TG_CLASS_COMM)
            tg_union_add(&comm, d->rows[i]->start, d->rows[i]->end);
    total = tg_union_length(&comm);
    hidden = tg_union_common(&comm, &compute);
    row[COMM] = tg_table_int(total);
    row[HIDDEN] = tg_table_int(hidden);
    row[EXPOSED] = tg_table_int(tg_ns_sub(total, hidden));
    if (total > 0)
        row[OVERLAP] = tg_table_real(100.0 * (double)hidden / (double)total);
    else
        row[REASON] = tg_table_text(TG_SV("no communication"));
    tg_union_release(&compute);
    tg_union_release(&comm);
}

void tg_overlap(const struct tg_analysis_in *in, struct tg_tables *out)
{
    struct tg_table *f = tg_tables_add(out, "overlap", columns, COLUMNS);
    tg_work_each(in, one_device, f, f, &work_columns);
}
