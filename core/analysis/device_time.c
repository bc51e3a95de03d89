/* What the time of a device goes to, by unions of its work's intervals. */

#include "core/analysis/analysis.h"
#include "core/analysis/device.h"
#include "core/base/sort.h"

/* ---- temporal: idle, computing, or only other work (copies, communication) ---- */

static const struct tg_table_column temporal_columns[] = {
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
static void temporal(void *arg, const struct tg_device_work *d)
{
    TG_AUTO(tg_union_release) struct tg_union busy = { 0 }, compute = { 0 };
    tg_ns last = INT64_MIN, total, idle, computing, other;
    for (size_t i = 0; i < d->n; i++) {
        last = d->rows[i]->end > last ? d->rows[i]->end : last;
        tg_union_add(&busy, d->rows[i]->start, d->rows[i]->end);
        if (d->rows[i]->class_ == TG_CLASS_COMPUTE)
            tg_union_add(&compute, d->rows[i]->start, d->rows[i]->end);
    }
    total = tg_ns_sub(last, d->rows[0]->start);
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
    struct tg_table *f = TG_TABLES_ADD(out, "temporal", temporal_columns);
    tg_work_each(in, temporal, f, f);
}

/* ---- overlap: how much of the communication is hidden behind computation ---- */

static const struct tg_table_column overlap_columns[] = {
    { "rank", TG_TABLE_INT },
    { "comp_comm_overlap_pctg", TG_TABLE_REAL },
    { "comm_time(us)", TG_TABLE_US },
    { "overlapped_time(us)", TG_TABLE_US },
    { "exposed_comm_time(us)", TG_TABLE_US },
    { "device", TG_TABLE_INT },
    { "reason", TG_TABLE_TEXT },
};

static void overlap(void *arg, const struct tg_device_work *d)
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
    struct tg_table *f = TG_TABLES_ADD(out, "overlap", overlap_columns);
    tg_work_each(in, overlap, f, f);
}

/* ---- kernel-types: by class of work, and by which classes run at once ---- */

/* How work was classified is shown, too: what no row of the class table matches counts as
 * computation. */
#define SETS (1 << TG_CLASSES)

static const struct tg_table_column set_columns[] = {
    { "kernel_type", TG_TABLE_TEXT },
    { "sum", TG_TABLE_US },
    { "percentage", TG_TABLE_REAL },
};
static const struct tg_table_column class_columns[] = {
    { "rank", TG_TABLE_INT },           { "kernel_type", TG_TABLE_TEXT },
    { "events", TG_TABLE_INT },         { "time(us)", TG_TABLE_US },
    { "unknown_events", TG_TABLE_INT }, { "unknown_time(us)", TG_TABLE_US },
    { "class_table", TG_TABLE_TEXT },   { "device", TG_TABLE_INT },
    { "reason", TG_TABLE_TEXT },
};

struct job {
    struct tg_table *classes;
    tg_ns by_set[SETS];
    tg_sv table; /* version of the built-in table */
};

struct edge {
    tg_ns at;
    int class_;
};

static int by_time(const void *pa, const void *pb, void *unused)
{
    const struct edge *a = pa, *b = pb;
    (void)unused;
    return TG_CMP(a->at, b->at);
}

static void kernel_types(void *arg, const struct tg_device_work *d)
{
    struct job *j = arg;
    struct tg_union unions[TG_CLASSES] = { 0 };
    struct {
        int64_t events, unknown;
        tg_ns time, unknown_time;
    } by[TG_CLASSES] = { 0 };
    size_t n = 0;
    int running = 0;
    for (size_t i = 0; i < d->n; i++) {
        const struct tg_work_row *r = d->rows[i];
        tg_ns dur = tg_ns_sub(r->end, r->start);
        tg_union_add(&unions[r->class_], r->start, r->end);
        by[r->class_].events++;
        by[r->class_].time = tg_ns_add(by[r->class_].time, dur);
        by[r->class_].unknown += r->fallback;
        by[r->class_].unknown_time = tg_ns_add(by[r->class_].unknown_time, r->fallback ? dur : 0);
    }
    /* Every edge of a union toggles its class; the time between two edges belongs to the classes
     * that run. */
    TG_FREE struct edge *edges = tg_xrealloc(NULL, 2 * d->n + 1, sizeof *edges);
    for (int c = 0; c < TG_CLASSES; c++)
        for (size_t i = 0; i < unions[c].n; i++) {
            edges[n++] = (struct edge){ unions[c].v[i].start, c };
            edges[n++] = (struct edge){ unions[c].v[i].end, c };
        }
    tg_sort_runs(edges, n, sizeof *edges, by_time, NULL); /* a run a class */
    for (size_t i = 0; i + 1 < n; i++) {
        running ^= 1 << edges[i].class_;
        j->by_set[running] = tg_ns_add(j->by_set[running], tg_ns_sub(edges[i + 1].at, edges[i].at));
    }
    for (int c = 0; c < TG_CLASSES; c++) {
        if (by[c].events)
            TG_TABLE_PUT(j->classes, tg_table_int(d->rank),
                         tg_table_text(tg_sv_of(tg_class_hta_name((enum tg_class)c))),
                         tg_table_int(by[c].events), tg_table_int(by[c].time),
                         tg_table_int(by[c].unknown), tg_table_int(by[c].unknown_time),
                         tg_table_text(j->table), tg_work_device(d), TG_TABLE_UNKNOWN);
        tg_union_release(&unions[c]);
    }
}

void tg_kernel_types(const struct tg_analysis_in *in, struct tg_tables *out)
{
    struct job j = { 0 };
    size_t first = out->n;
    tg_ns total = 0;
    int sorted[SETS], n = 0;
    TG_TABLES_ADD(out, "kernel-types", set_columns);
    TG_TABLES_ADD(out, "kernel-classes", class_columns);
    j.classes = &out->v[first + 1];
    j.table = TG_SV_PRINTF(out->arena, "%016llx%s",
                           (unsigned long long)tg_class_table_hash(&in->opts->classes),
                           in->opts->classes.n ? "+own" : "");
    tg_work_each(in, kernel_types, &j, j.classes);
    for (int s = 1; s < SETS; s++) {
        int at = n;
        if (!j.by_set[s])
            continue;
        total = tg_ns_add(total, j.by_set[s]);
        for (; at && j.by_set[sorted[at - 1]] < j.by_set[s]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = s;
        n++;
    }
    for (int i = 0; i < n; i++)
        TG_TABLE_PUT(&out->v[first], tg_table_text(tg_work_class_names(sorted[i], out->arena)),
                     tg_table_int(j.by_set[sorted[i]]),
                     tg_table_percent(j.by_set[sorted[i]], total));
}
