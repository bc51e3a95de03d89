#include <stdlib.h>

#include "core/base/arena.h"
#include "core/metric/measure.h"

/* clang-format off */
static const struct tg_measure_info infos[TG_MEASURES] = {
    [TG_MEASURE_STEP_TIME] = { "step_time", "ns", "step from end to end on the device (host window "
                               "without a device)", +1 },
    [TG_MEASURE_GPU_BUSY] = { "gpu_busy", "ns", "time in which the device ran something", +1 },
    [TG_MEASURE_IDLE] = { "idle", "%", "share of the step in which the device ran nothing", +1 },
    [TG_MEASURE_COMM_EXPOSED] = { "comm_exposed", "ns", "communication that no computation hides",
                                  +1 },
    [TG_MEASURE_COMM_OVERLAP] = { "comm_overlap", "%", "share of communication hidden behind "
                                  "computation", -1 },
    [TG_MEASURE_LAUNCH_COUNT] = { "launch_count", "count", "kernels, copies, sets and graphs "
                                  "launched", +1 },
    [TG_MEASURE_LAUNCH_TIME] = { "launch_time", "ns", "host time inside launch calls", +1 },
    [TG_MEASURE_LAUNCH_GAP] = { "launch_gap", "ns", "device time lost because a launch came late",
                                +1 },
    [TG_MEASURE_SYNC_COUNT] = { "sync_count", "count", "synchronising calls", +1 },
    [TG_MEASURE_MEMCPY_BYTES] = { "memcpy_bytes", "bytes", "bytes copied", +1 },
    [TG_MEASURE_KERNEL_NAMES] = { "kernel_names", "count", "distinct kernel names", +1 },
    [TG_MEASURE_GRAPH_LAUNCHES] = { "graph_launches", "count", "graph launches", -1 },
    [TG_MEASURE_MEM_PEAK] = { "mem_peak", "bytes", "largest allocated device memory", +1 },
    [TG_MEASURE_HOST_TIME] = { "host_time", "ns", "the host's step window", +1 },
};
/* clang-format on */

const struct tg_measure_info *tg_measure_info(enum tg_measure m)
{
    return &infos[m];
}

bool tg_measure_find(tg_sv name, enum tg_measure *out)
{
    for (int m = 0; m < TG_MEASURES; m++)
        if (tg_sv_eq(name, tg_sv_of(infos[m].name))) {
            *out = (enum tg_measure)m;
            return true;
        }
    return false;
}

/* The union of intervals that come in start order, and how much of it `other` covers already. */
struct cover {
    tg_ns first, until, total;
    bool any;
};

/* Adds [start, end); returns the part that was not covered, which begins at *from. */
static tg_ns cover_add(struct cover *c, tg_ns start, tg_ns end, tg_ns *from)
{
    *from = c->any && c->until > start ? c->until : start;
    if (!c->any)
        c->first = start;
    if (c->any && end <= c->until)
        return 0;
    c->any = true;
    c->until = end;
    c->total = tg_ns_add(c->total, tg_ns_sub(end, *from));
    return tg_ns_sub(end, *from);
}

/*
 * Communication hidden behind computation, both as unions, in one sweep over spans in start order:
 * where the two unions have reached beyond `shared`, the stretch to the nearer of both ends that
 * lies after both starts is common.
 */
struct piece {
    tg_ns start, until;
};

/* One (device, step). */
struct bin {
    struct cover busy, comm, comp;
    struct piece comm_now, comp_now; /* the current connected stretch of each union */
    tg_ns hidden, shared_until;
    tg_ns gap;
};

static void piece_add(struct piece *p, bool first, tg_ns start, tg_ns end)
{
    if (first || start > p->until)
        *p = (struct piece){ start, end };
    else if (end > p->until)
        p->until = end;
}

static void share(struct bin *b)
{
    tg_ns from = b->comm_now.start > b->comp_now.start ? b->comm_now.start : b->comp_now.start;
    tg_ns to = b->comm_now.until < b->comp_now.until ? b->comm_now.until : b->comp_now.until;
    if (from < b->shared_until)
        from = b->shared_until;
    if (!b->comm.any || !b->comp.any || to <= from)
        return;
    b->hidden = tg_ns_add(b->hidden, tg_ns_sub(to, from));
    b->shared_until = to;
}

struct work {
    const struct tg_trace *t;
    const struct tg_steps *s;
    struct tg_measure_value *out;
    struct bin *bins;     /* [n_devices][n] */
    unsigned char *class; /* per name */
    unsigned char *call;  /* per name */
    bool *launches;       /* per span: a host call that put work on the device */
    bool runtime, device_rows, linked;
};

static struct tg_measure_value *at(const struct work *w, enum tg_measure m, size_t step)
{
    return &w->out[(size_t)m * w->s->n + step];
}

static void add(const struct work *w, enum tg_measure m, size_t step, int64_t num, int64_t den)
{
    struct tg_measure_value *v = at(w, m, step);
    v->num = tg_ns_add(v->num, num);
    v->den = tg_ns_add(v->den, den);
}

static void put(const struct work *w, enum tg_measure m, size_t step, int64_t num)
{
    *at(w, m, step) = (struct tg_measure_value){ true, num, 1 };
}

static void look_up_names(struct work *w, const struct tg_classes *classes)
{
    const struct tg_names *names = w->t->names;
    w->class = tg_xmalloc(names->n);
    w->call = tg_xmalloc(names->n);
    for (size_t i = 0; i < names->n; i++) {
        w->class[i] = (unsigned char)tg_class_of(classes, names->v[i].kind, names->v[i].name, NULL);
        w->call[i] = (unsigned char)tg_call_of(names->v[i].kind, names->v[i].name);
    }
}

/* Did the host launch `s` only after the device had run dry at `since`? */
static bool launched_late(const struct work *w, uint32_t span, tg_ns since)
{
    uint32_t launch = w->s->launch[span];
    return launch != TG_NO_SPAN && tg_span_at(w->t, launch)->start > since;
}

static void add_device_span(struct work *w, uint32_t i, const struct tg_span *s)
{
    struct bin *b = &w->bins[w->s->lanes.device[s->track] * w->s->n + (size_t)w->s->step_of[i]];
    tg_ns end = tg_span_end(s), from, idle_since = b->busy.until;
    bool dry = b->busy.any && s->start > b->busy.until;
    enum tg_class class_ = (enum tg_class)w->class[s->name];

    if (dry && launched_late(w, i, idle_since))
        b->gap = tg_ns_add(b->gap, tg_ns_sub(s->start, idle_since));
    cover_add(&b->busy, s->start, end, &from);
    if (class_ == TG_CLASS_COMM) {
        piece_add(&b->comm_now, !b->comm.any, s->start, end);
        cover_add(&b->comm, s->start, end, &from);
    } else if (class_ == TG_CLASS_COMPUTE) {
        piece_add(&b->comp_now, !b->comp.any, s->start, end);
        cover_add(&b->comp, s->start, end, &from);
    }
    share(b);
}

/* "bytes=123" or "bytes="123"" (AMD) in a fact text; -1: none. */
static int64_t fact_bytes(const struct tg_trace *t, const struct tg_span *s)
{
    int64_t n;
    tg_sv rest;
    if (s->fact == TG_NO_ID)
        return -1;
    for (rest = t->facts.text[s->fact]; rest.n;) {
        tg_sv line = tg_sv_cut(&rest, '\n');
        if (!tg_sv_starts(line, TG_SV("bytes=")))
            continue;
        line = (tg_sv){ line.p + 6, line.n - 6 };
        if (line.n >= 2 && line.p[0] == '"' && line.p[line.n - 1] == '"')
            line = (tg_sv){ line.p + 1, line.n - 2 };
        return tg_sv_i64(line, &n) && n >= 0 ? n : -1;
    }
    return -1;
}

static void add_copy(struct work *w, const struct tg_span *s, size_t step)
{
    int64_t bytes = fact_bytes(w->t, s);
    if (bytes < 0)
        at(w, TG_MEASURE_MEMCPY_BYTES, step)->known = false;
    else
        add(w, TG_MEASURE_MEMCPY_BYTES, step, bytes, 0);
}

/* Is a call of the same sort (launch, sync) around this one? Then it counts once, there. */
static bool inside(const struct work *w, uint32_t i, bool sync)
{
    for (uint32_t p = w->s->parent[i]; p != TG_NO_SPAN; p = w->s->parent[p]) {
        enum tg_kind k = tg_span_kind(w->t, tg_span_at(w->t, p));
        if (k != TG_KIND_RUNTIME && k != TG_KIND_SYNC && k != TG_KIND_GRAPH)
            return false;
        if (sync ? k == TG_KIND_SYNC : w->launches[p])
            return true;
    }
    return false;
}

static void add_call(struct work *w, uint32_t i, const struct tg_span *s, size_t step)
{
    enum tg_kind k = tg_span_kind(w->t, s);
    if (w->launches[i] && !inside(w, i, false)) {
        add(w, TG_MEASURE_LAUNCH_COUNT, step, 1, 0);
        add(w, TG_MEASURE_LAUNCH_TIME, step, s->dur > 0 ? s->dur : 0, 0);
        if (k == TG_KIND_GRAPH)
            add(w, TG_MEASURE_GRAPH_LAUNCHES, step, 1, 0);
    }
    if (k == TG_KIND_SYNC && !inside(w, i, true))
        add(w, TG_MEASURE_SYNC_COUNT, step, 1, 0);
}

/* What the trace can tell at all; and which calls launch: by name, or because work came of it. */
static void survey(struct work *w)
{
    const struct tg_trace *t = w->t;
    w->launches = tg_xmalloc(t->n_spans + 1);
    memset(w->launches, 0, t->n_spans + 1);
    for (size_t i = 0; i < t->n_spans; i++) {
        const struct tg_span *s = tg_span_at(t, i);
        enum tg_kind k = tg_span_kind(t, s);
        w->runtime |= k == TG_KIND_RUNTIME || k == TG_KIND_SYNC || k == TG_KIND_GRAPH;
        w->launches[i] |= w->call[s->name] != TG_CALL_OTHER;
        if (!tg_kind_is_device(k))
            continue;
        w->device_rows = true;
        if (w->s->launch[i] != TG_NO_SPAN) {
            w->linked = true;
            w->launches[w->s->launch[i]] = true;
        }
    }
}

static void init_values(const struct work *w)
{
    for (size_t step = 0; step < w->s->n; step++) {
        for (int m = 0; m < TG_MEASURES; m++)
            *at(w, (enum tg_measure)m, step) = (struct tg_measure_value){ false, 0, 1 };
        at(w, TG_MEASURE_LAUNCH_COUNT, step)->known = w->runtime;
        at(w, TG_MEASURE_LAUNCH_TIME, step)->known = w->runtime;
        at(w, TG_MEASURE_GRAPH_LAUNCHES, step)->known = w->runtime;
        at(w, TG_MEASURE_SYNC_COUNT, step)->known = w->runtime;
        at(w, TG_MEASURE_MEMCPY_BYTES, step)->known = w->device_rows;
        at(w, TG_MEASURE_KERNEL_NAMES, step)->known = w->device_rows;
    }
}

struct named {
    uint32_t name;
    int32_t step;
};

static int by_step_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

/* The first id with the same text: one name under two categories is one name. */
static uint32_t *same_text(const struct tg_names *names)
{
    uint32_t *first = tg_xrealloc(NULL, names->n + 1, sizeof *first);
    struct tg_strmap m;
    tg_strmap_init(&m);
    for (size_t i = 0; i < names->n; i++)
        first[i] = tg_strmap_add(&m, names->v[i].name);
    tg_strmap_release(&m);
    return first;
}

static void count_kernel_names(const struct work *w)
{
    const struct tg_trace *t = w->t;
    struct named *v = tg_xrealloc(NULL, t->n_spans + 1, sizeof *v);
    uint32_t *first = same_text(t->names);
    size_t n = 0;
    for (size_t i = 0; i < t->n_spans; i++) {
        const struct tg_span *s = tg_span_at(t, i);
        if (w->s->step_of[i] >= 0 && tg_span_kind(t, s) == TG_KIND_KERNEL)
            v[n++] = (struct named){ first[s->name], w->s->step_of[i] };
    }
    qsort(v, n, sizeof *v, by_step_name);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || by_step_name(&v[i], &v[i - 1]) != 0)
            add(w, TG_MEASURE_KERNEL_NAMES, (size_t)v[i].step, 1, 0);
    free(first);
    free(v);
}

/* Sums over devices; step_time is that of the device that took longest. */
static void sum_device(const struct work *w, size_t step)
{
    tg_ns longest = 0, length = 0, busy = 0, gap = 0, comm = 0, hidden = 0;
    bool any = false;
    for (size_t d = 0; d < w->s->lanes.n_devices; d++) {
        const struct bin *b = &w->bins[d * w->s->n + step];
        tg_ns span = tg_ns_sub(b->busy.until, b->busy.first);
        if (!b->busy.any)
            continue;
        any = true;
        longest = span > longest ? span : longest;
        length = tg_ns_add(length, span);
        busy = tg_ns_add(busy, b->busy.total);
        gap = tg_ns_add(gap, b->gap);
        comm = tg_ns_add(comm, b->comm.total);
        hidden = tg_ns_add(hidden, b->hidden);
    }
    put(w, TG_MEASURE_GPU_BUSY, step, busy);
    put(w, TG_MEASURE_COMM_EXPOSED, step, tg_ns_sub(comm, hidden));
    if (w->linked)
        put(w, TG_MEASURE_LAUNCH_GAP, step, gap);
    if (any)
        put(w, TG_MEASURE_STEP_TIME, step, longest);
    if (length > 0)
        *at(w, TG_MEASURE_IDLE, step) =
            (struct tg_measure_value){ true, tg_ns_sub(length, busy), length };
    if (comm > 0)
        *at(w, TG_MEASURE_COMM_OVERLAP, step) = (struct tg_measure_value){ true, hidden, comm };
}

/* Without markers: from the first start to the last end of what ran on the host. */
static bool host_extent(const struct work *w, tg_ns *length)
{
    tg_ns first = INT64_MAX, last = INT64_MIN;
    for (size_t i = 0; i < w->t->n_spans; i++) {
        const struct tg_span *s = tg_span_at(w->t, i);
        if (!tg_kind_nests(tg_span_kind(w->t, s)))
            continue;
        first = s->start < first ? s->start : first;
        last = tg_span_end(s) > last ? tg_span_end(s) : last;
    }
    *length = first <= last ? tg_ns_sub(last, first) : 0;
    return first <= last;
}

static void host_times(const struct work *w)
{
    for (size_t step = 0; step < w->s->n; step++) {
        tg_ns length = tg_ns_sub(w->s->v[step].end, w->s->v[step].start);
        if (!w->s->marked && !host_extent(w, &length))
            continue;
        put(w, TG_MEASURE_HOST_TIME, step, length);
        if (!w->device_rows)
            put(w, TG_MEASURE_STEP_TIME, step, length);
    }
}

/* [memory] instants carry the allocator's total; device_type 0 is the CPU. */
static void memory_peaks(const struct work *w)
{
    bool device = false;
    for (size_t i = 0; i < w->t->n_memory; i++)
        device |= w->t->memory[i].device_type > 0;
    for (size_t i = 0; i < w->t->n_memory; i++) {
        const struct tg_memory_event *e = &w->t->memory[i];
        size_t lo = 0, hi = w->s->n;
        struct tg_measure_value *v;
        if (e->total_allocated < 0 || (device && e->device_type <= 0))
            continue;
        while (lo < hi) {
            size_t mid = lo + (hi - lo) / 2;
            if (w->s->v[mid].start <= e->ts)
                lo = mid + 1;
            else
                hi = mid;
        }
        if (w->s->marked && (lo == 0 || e->ts >= w->s->v[lo - 1].end))
            continue;
        v = at(w, TG_MEASURE_MEM_PEAK, lo ? lo - 1 : 0);
        if (!v->known || e->total_allocated > v->num)
            *v = (struct tg_measure_value){ true, e->total_allocated, 1 };
    }
}

void tg_measures_compute(const struct tg_trace *t, const struct tg_steps *steps,
                         const struct tg_classes *classes, struct tg_measure_value *out)
{
    struct work w = { .t = t, .s = steps, .out = out };
    size_t n_bins;
    look_up_names(&w, classes);
    survey(&w);
    n_bins = steps->lanes.n_devices * steps->n + 1;
    w.bins = tg_xrealloc(NULL, n_bins, sizeof *w.bins);
    memset(w.bins, 0, n_bins * sizeof *w.bins);
    init_values(&w);
    for (size_t k = 0; k < t->n_spans; k++) {
        uint32_t i = steps->order[k];
        const struct tg_span *s = tg_span_at(t, i);
        enum tg_kind kind = tg_span_kind(t, s);
        if (steps->step_of[i] < 0)
            continue;
        if (tg_kind_is_device(kind) && !(s->start == 0 && s->dur == 0))
            add_device_span(&w, i, s);
        else if (!tg_kind_is_device(kind))
            add_call(&w, i, s, (size_t)steps->step_of[i]);
        if (kind == TG_KIND_MEMCPY)
            add_copy(&w, s, (size_t)steps->step_of[i]);
    }
    count_kernel_names(&w);
    for (size_t step = 0; w.device_rows && step < steps->n; step++)
        sum_device(&w, step);
    host_times(&w);
    memory_peaks(&w);
    for (size_t i = 0; i < TG_MEASURES * steps->n; i++)
        if (!out[i].known)
            out[i] = (struct tg_measure_value){ false, 0, 1 };
    free(w.class);
    free(w.call);
    free(w.launches);
    free(w.bins);
}
