/* Device time by class of work, and by which classes run at once; and how work was classified: work
 * that no row of the class table matches counts as computation, and its share is shown. */
#include <stdlib.h>

#include "core/analysis/analysis.h"
#include "core/analysis/device.h"
#include "core/analysis/interval.h"
#include "core/base/sort.h"

#define SETS (1 << TG_CLASSES)

static const struct tg_table_column columns[] = {
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
    struct tg_table *types, *classes;
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

/* Every edge of a union toggles its class; the time between two edges belongs to the classes that
 * run. */
static void sweep(struct job *j, const struct tg_union *unions)
{
    size_t n = 0;
    TG_FREE struct edge *edges = NULL;
    int running = 0;
    for (int c = 0; c < TG_CLASSES; c++)
        n += 2 * unions[c].n;
    edges = tg_xrealloc(NULL, n + 1, sizeof *edges);
    n = 0;
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
}

struct share {
    int64_t events, unknown;
    tg_ns time, unknown_time;
};

static void put_classes(const struct job *j, const struct tg_device_work *d)
{
    struct share by[TG_CLASSES] = { 0 };
    for (size_t i = 0; i < d->n; i++) {
        struct share *s = &by[d->rows[i]->class_];
        tg_ns dur = tg_ns_sub(d->rows[i]->end, d->rows[i]->start);
        s->events++;
        s->time = tg_ns_add(s->time, dur);
        s->unknown += d->rows[i]->fallback;
        s->unknown_time = tg_ns_add(s->unknown_time, d->rows[i]->fallback ? dur : 0);
    }
    for (int c = 0; c < TG_CLASSES; c++)
        if (by[c].events)
            TG_TABLE_PUT(j->classes, tg_table_int(d->rank),
                         tg_table_text(tg_sv_of(tg_class_hta_name((enum tg_class)c))),
                         tg_table_int(by[c].events), tg_table_int(by[c].time),
                         tg_table_int(by[c].unknown), tg_table_int(by[c].unknown_time),
                         tg_table_text(j->table), tg_work_device(d), TG_TABLE_UNKNOWN);
}

static void one_device(void *arg, const struct tg_device_work *d)
{
    struct job *j = arg;
    struct tg_union unions[TG_CLASSES] = { 0 };
    for (size_t i = 0; i < d->n; i++)
        tg_union_add(&unions[d->rows[i]->class_], d->rows[i]->start, d->rows[i]->end);
    sweep(j, unions);
    put_classes(j, d);
    for (int c = 0; c < TG_CLASSES; c++)
        tg_union_release(&unions[c]);
}

static void put_sets(const struct job *j, struct tg_arena *a)
{
    tg_ns total = 0;
    int sorted[SETS], n = 0;
    for (int s = 1; s < SETS; s++) {
        int at = n;
        if (!j->by_set[s])
            continue;
        total = tg_ns_add(total, j->by_set[s]);
        for (; at && j->by_set[sorted[at - 1]] < j->by_set[s]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = s;
        n++;
    }
    for (int i = 0; i < n; i++)
        TG_TABLE_PUT(j->types, tg_table_text(tg_work_class_names(sorted[i], a)),
                     tg_table_int(j->by_set[sorted[i]]),
                     tg_table_percent(j->by_set[sorted[i]], total));
}

void tg_kernel_types(const struct tg_analysis_in *in, struct tg_tables *out)
{
    struct job j = { 0 };
    size_t first = out->n;
    TG_TABLES_ADD(out, "kernel-types", columns);
    TG_TABLES_ADD(out, "kernel-classes", class_columns);
    j.types = &out->v[first];
    j.classes = &out->v[first + 1];
    j.table = TG_SV_PRINTF(out->arena, "%016llx%s",
                           (unsigned long long)tg_class_table_hash(&in->opts->classes),
                           in->opts->classes.n ? "+own" : "");
    tg_work_each(in, one_device, &j, j.classes);
    put_sets(&j, out->arena);
}
