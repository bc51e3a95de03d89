#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/keymap.h"
#include "core/metric/internal.h"

#define BY_RUNS false, false
#define BY_PROGRAM true, false
#define BY_DEVICE true, true
#define NOTHING 0u
#define SYNCS (1u << TG_KIND_SYNC)
#define LAUNCHES                                                                                   \
    (1u << TG_KIND_KERNEL | 1u << TG_KIND_MEMCPY | 1u << TG_KIND_MEMSET | 1u << TG_KIND_GRAPH)

static const struct tg_metric_info infos[TG_METRICS] = {
#define WORSE_MORE 1
#define WORSE_LESS (-1)
#define ROW(id, name, unit, worse, how, by, counts, meaning)                                       \
    [TG_METRIC_##                                                                                  \
        id] = { name, meaning, TG_UNIT_##unit, TG_METRIC_##how, WORSE_##worse, BY_##by, counts },
    TG_METRIC_TABLE(ROW)
};

const struct tg_metric_info *tg_metric_info(enum tg_metric m)
{
    return &infos[m];
}

const char *tg_unit_text(enum tg_unit unit)
{
    static const char *const text[] = { "count", "ns", "%", "bytes", "GB/s", "", "" };
    return text[unit];
}

bool tg_metric_find(tg_sv name, enum tg_metric *out)
{
    for (int m = 0; m < TG_METRICS; m++)
        if (tg_sv_eq(name, tg_sv_of(infos[m].name))) {
            *out = (enum tg_metric)m;
            return true;
        }
    return false;
}

/* The union of intervals in start order. */
struct cover {
    tg_ns first, until, total;
    tg_ns piece; /* where its last connected interval begins */
    bool any;
};

static void cover_add(struct cover *c, tg_ns start, tg_ns end)
{
    tg_ns from = c->any && c->until > start ? c->until : start;
    if (!c->any)
        c->first = start;
    if (!c->any || start > c->until)
        c->piece = start;
    if (c->any && end <= c->until)
        return;
    c->any = true;
    c->until = end;
    c->total = tg_ns_add(c->total, tg_ns_sub(end, from));
}

/* Why the device ran dry, by what ended the gap (as core/analysis/idle.c, but for the whole
 * device). */
enum idle_category { IDLE_HOST_WAIT, IDLE_KERNEL_WAIT, IDLE_OTHER, IDLE_CATEGORIES };

/* One (device, step). */
struct bin {
    struct cover busy, comm, comp, memory;
    tg_ns hidden, shared_until;
    tg_ns idle[IDLE_CATEGORIES];
};

/* Communication hidden behind computation, both as unions, in one sweep over spans in start order:
 * from `shared_until` on, the time after both starts and before the nearer of both ends is common.
 */
static void share(struct bin *b)
{
    tg_ns from = b->comm.piece > b->comp.piece ? b->comm.piece : b->comp.piece;
    tg_ns to = b->comm.until < b->comp.until ? b->comm.until : b->comp.until;
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
    struct tg_metric_value *out;
    struct bin *bins;                   /* [n_devices][n] */
    const struct tg_name_class *class_; /* per name */
    unsigned char *call;                /* per name */
    bool *launches;                     /* per span: a host call that put work on the device */
    bool runtime, device_rows, linked;
};

static struct tg_metric_value *at(const struct work *w, enum tg_metric m, size_t step)
{
    return &w->out[(size_t)m * w->s->n + step];
}

static void add(const struct work *w, enum tg_metric m, size_t step, int64_t num, int64_t den)
{
    struct tg_metric_value *v = at(w, m, step);
    v->num = tg_ns_add(v->num, num);
    v->den = tg_ns_add(v->den, den);
}

static void put(const struct work *w, enum tg_metric m, size_t step, int64_t num)
{
    *at(w, m, step) = (struct tg_metric_value){ true, num, 1 };
}

static void add_device_span(struct work *w, uint32_t i, const struct tg_span *s)
{
    struct bin *b = &w->bins[w->s->lanes.device[s->track] * w->s->n + (size_t)w->s->step_of[i]];
    tg_ns end = tg_span_end(s), idle_since = b->busy.until;
    if (b->busy.any && s->start > idle_since) {
        tg_ns gap = tg_ns_sub(s->start, idle_since);
        uint32_t launch = w->s->launch[i];
        enum idle_category why = gap < TG_KERNEL_WAIT_NS ? IDLE_KERNEL_WAIT : IDLE_OTHER;
        /* Did the host launch the span only after the device had become idle? */
        if (launch != TG_NO_SPAN && tg_span_at(w->t, launch)->start > idle_since)
            why = IDLE_HOST_WAIT;
        b->idle[why] = tg_ns_add(b->idle[why], gap);
    }
    cover_add(&b->busy, s->start, end);
    switch ((enum tg_class)w->class_[s->name].class_) {
    case TG_CLASS_COMM:
        cover_add(&b->comm, s->start, end);
        break;
    case TG_CLASS_COMPUTE:
        cover_add(&b->comp, s->start, end);
        break;
    case TG_CLASS_MEMORY:
        cover_add(&b->memory, s->start, end);
        break;
    case TG_CLASS_OTHER:
        break;
    }
    share(b);
}

/*
 * Is this call inside another one of the same sort (launch, sync)? Then only the outer one counts.
 */
static bool inside(const struct work *w, uint32_t i, bool sync)
{
    for (uint32_t p = w->s->parent[i]; p != TG_NO_SPAN; p = w->s->parent[p]) {
        enum tg_kind k = tg_span_kind(w->t, tg_span_at(w->t, p));
        if (!tg_kind_is_call(k))
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
        add(w, TG_METRIC_LAUNCH_COUNT, step, 1, 0);
        add(w, TG_METRIC_LAUNCH_TIME, step, s->dur > 0 ? s->dur : 0, 0);
        if (k == TG_KIND_GRAPH)
            add(w, TG_METRIC_GRAPH_LAUNCHES, step, 1, 0);
    }
    if (k == TG_KIND_SYNC && !inside(w, i, true))
        add(w, TG_METRIC_SYNC_COUNT, step, 1, 0);
}

/* What the trace can provide at all; and which calls launch work: by name, or because work is
 * linked to them. */
static void survey(struct work *w)
{
    const struct tg_trace *t = w->t;
    w->launches = tg_xcalloc(t->n_spans + 1, 1);
    for (size_t i = 0; i < t->n_spans; i++) {
        const struct tg_span *s = tg_span_at(t, i);
        enum tg_kind k = tg_span_kind(t, s);
        w->runtime |= tg_kind_is_call(k);
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
        for (int m = 0; m < TG_METRICS; m++)
            *at(w, (enum tg_metric)m, step) = (struct tg_metric_value){ false, 0, 1 };
        at(w, TG_METRIC_LAUNCH_COUNT, step)->known = w->runtime;
        at(w, TG_METRIC_LAUNCH_TIME, step)->known = w->runtime;
        at(w, TG_METRIC_GRAPH_LAUNCHES, step)->known = w->runtime;
        at(w, TG_METRIC_SYNC_COUNT, step)->known = w->runtime;
        at(w, TG_METRIC_KERNEL_NAMES, step)->known = w->device_rows;
    }
}

static void count_kernel_names(const struct work *w)
{
    const struct tg_trace *t = w->t;
    TG_FREE uint32_t *text = tg_xrealloc(NULL, t->names->n + 1, sizeof *text);
    TG_AUTO(tg_strmap_release) struct tg_strmap texts = { 0 };
    TG_AUTO(tg_keymap_release) struct tg_keymap seen = { .words = 1 }; /* (step, name) */
    for (size_t i = 0; i < t->names->n; i++) /* one name under two categories is one name */
        text[i] = tg_strmap_add(&texts, t->names->v[i].name);
    for (size_t k = 0; k < w->s->n_device; k++) {
        uint32_t i = w->s->device[k];
        const struct tg_span *s = tg_span_at(t, i);
        const uint64_t key = (uint64_t)(uint32_t)w->s->step_of[i] << 32 | text[s->name];
        if (w->s->step_of[i] < 0 || tg_span_kind(t, s) != TG_KIND_KERNEL ||
            tg_keymap_find(&seen, &key) != TG_NO_ID)
            continue;
        (void)tg_keymap_add(&seen, &key);
        add(w, TG_METRIC_KERNEL_NAMES, (size_t)w->s->step_of[i], 1, 0);
    }
}

/* For one step, over devices; `longest` belongs to the device that took longest. */
struct sums {
    tg_ns longest, length, busy, comm, comp, memory, hidden, idle[IDLE_CATEGORIES];
    bool any;
};

static struct sums sum_of(const struct work *w, size_t step)
{
    struct sums x = { 0 };
    for (size_t d = 0; d < w->s->lanes.n_devices; d++) {
        const struct bin *b = &w->bins[d * w->s->n + step];
        tg_ns span = tg_ns_sub(b->busy.until, b->busy.first);
        if (!b->busy.any)
            continue;
        x.any = true;
        x.longest = span > x.longest ? span : x.longest;
        x.length = tg_ns_add(x.length, span);
        x.busy = tg_ns_add(x.busy, b->busy.total);
        x.comm = tg_ns_add(x.comm, b->comm.total);
        x.comp = tg_ns_add(x.comp, b->comp.total);
        x.memory = tg_ns_add(x.memory, b->memory.total);
        x.hidden = tg_ns_add(x.hidden, b->hidden);
        for (int c = 0; c < IDLE_CATEGORIES; c++)
            x.idle[c] = tg_ns_add(x.idle[c], b->idle[c]);
    }
    return x;
}

static void put_share(const struct work *w, enum tg_metric m, size_t step, tg_ns part, tg_ns whole)
{
    if (whole > 0)
        *at(w, m, step) = (struct tg_metric_value){ true, part, whole };
}

static void put_device(const struct work *w, size_t step)
{
    struct sums x = sum_of(w, step);
    put(w, TG_METRIC_GPU_BUSY, step, x.busy);
    put(w, TG_METRIC_COMPUTE_TIME, step, x.comp);
    put(w, TG_METRIC_COMM_TIME, step, x.comm);
    put(w, TG_METRIC_MEMORY_TIME, step, x.memory);
    put(w, TG_METRIC_COMM_EXPOSED, step, tg_ns_sub(x.comm, x.hidden));
    if (x.any)
        put(w, TG_METRIC_DEVICE_EXTENT, step, x.longest);
    put_share(w, TG_METRIC_IDLE, step, tg_ns_sub(x.length, x.busy), x.length);
    put_share(w, TG_METRIC_COMPUTE_SHARE, step, x.comp, x.length);
    put_share(w, TG_METRIC_NON_COMPUTE_SHARE, step, tg_ns_sub(x.busy, x.comp), x.length);
    put_share(w, TG_METRIC_COMM_SHARE, step, x.comm, x.length);
    put_share(w, TG_METRIC_MEMORY_SHARE, step, x.memory, x.length);
    put_share(w, TG_METRIC_COMM_OVERLAP, step, x.hidden, x.comm);
    if (!w->linked)
        return;
    put(w, TG_METRIC_LAUNCH_GAP, step, x.idle[IDLE_HOST_WAIT]);
    put_share(w, TG_METRIC_IDLE_HOST_WAIT, step, x.idle[IDLE_HOST_WAIT], x.length);
    put_share(w, TG_METRIC_IDLE_KERNEL_WAIT, step, x.idle[IDLE_KERNEL_WAIT], x.length);
    put_share(w, TG_METRIC_IDLE_OTHER, step, x.idle[IDLE_OTHER], x.length);
}

/* Without markers: from the first start to the last end of everything on the host. */
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

tg_ns tg_metrics_busy(const struct tg_trace *t, const struct tg_steps *steps,
                      const struct tg_name_class *class_)
{
    TG_FREE struct cover *of = tg_xcalloc(steps->lanes.n_devices + 1, sizeof *of);
    tg_ns sum = 0;
    for (size_t k = 0; k < steps->n_device; k++) {
        const struct tg_span *s = tg_span_at(t, steps->device[k]);
        if (tg_is_work(t, s) && class_[s->name].class_ != TG_CLASS_COMM)
            cover_add(&of[steps->lanes.device[s->track]], s->start, tg_span_end(s));
    }
    for (size_t d = 0; d < steps->lanes.n_devices; d++)
        sum = tg_ns_add(sum, of[d].total);
    return sum;
}

void tg_metrics_derive(const struct tg_step *step, size_t n, struct tg_metric_value *out)
{
    for (size_t k = 0; k < n; k++) {
        /* PyTorch calls the first step of a process like the second; a schedule skips numbers. */
        bool next =
            k + 1 < n && (step[k + 1].number == step[k].number ||
                          (step[k].number < INT64_MAX && step[k + 1].number == step[k].number + 1));
        tg_ns until = next ? step[k + 1].start : step[k].end;
        out[TG_METRIC_STEP_TIME * n + k] =
            (struct tg_metric_value){ true, tg_ns_sub(until, step[k].start), 1 };
    }
}

static void keep_largest(const struct work *w, enum tg_metric metric, int32_t step, int64_t bytes)
{
    struct tg_metric_value *v = at(w, metric, (size_t)step);
    if (bytes >= 0 && (!v->known || bytes > v->num))
        *v = (struct tg_metric_value){ true, bytes, 1 };
}

/* [memory] instants carry the allocator's totals; device_type 0 is the CPU. */
static void memory_peaks(const struct work *w)
{
    bool device = false;
    for (size_t i = 0; i < w->t->n_memory; i++)
        device |= w->t->memory[i].device_type > 0;
    for (size_t i = 0; i < w->t->n_memory; i++) {
        const struct tg_memory_event *e = &w->t->memory[i];
        int32_t step = tg_steps_at(w->s, e->ts);
        if (step < 0 || (device && e->device_type <= 0))
            continue;
        keep_largest(w, TG_METRIC_MEM_PEAK, step, e->total_allocated);
        keep_largest(w, TG_METRIC_MEM_RESERVED, step, e->total_reserved);
    }
}

void tg_metrics_compute(const struct tg_trace *t, const struct tg_steps *steps,
                        const struct tg_name_class *class_, struct tg_metric_value *out)
{
    struct work w = { .t = t, .s = steps, .out = out, .class_ = class_ };
    const struct tg_names *names = w.t->names;
    w.call = tg_xmalloc(names->n);
    for (size_t i = 0; i < names->n; i++)
        w.call[i] = (unsigned char)tg_call_of(names->v[i].kind, names->v[i].name);
    survey(&w);
    size_t n_bins = steps->lanes.n_devices * steps->n + 1;
    w.bins = tg_xcalloc(n_bins, sizeof *w.bins);
    init_values(&w);
    for (size_t k = 0; k < t->n_spans; k++) {
        uint32_t i = steps->order[k];
        const struct tg_span *s = tg_span_at(t, i);
        enum tg_kind kind = tg_span_kind(t, s);
        if (steps->step_of[i] < 0)
            continue;
        if (tg_is_work(t, s))
            add_device_span(&w, i, s);
        else if (!tg_kind_is_device(kind))
            add_call(&w, i, s, (size_t)steps->step_of[i]);
    }
    free(w.launches); /* before others as large */
    count_kernel_names(&w);
    for (size_t step = 0; w.device_rows && step < steps->n; step++)
        put_device(&w, step);
    if (w.device_rows)
        tg_measure_copies(t, steps, out);
    if (w.linked)
        tg_measure_launches(t, steps, out);
    for (size_t step = 0; step < w.s->n; step++) {
        tg_ns length = tg_ns_sub(w.s->v[step].end, w.s->v[step].start);
        if (!w.s->marked && !host_extent(&w, &length))
            continue;
        put(&w, TG_METRIC_HOST_TIME, step, length);
    }
    tg_metrics_derive(steps->v, steps->n, out);
    memory_peaks(&w);
    for (size_t i = 0; i < TG_METRICS * steps->n; i++)
        if (!out[i].known)
            out[i] = (struct tg_metric_value){ false, 0, 1 };
    free(w.call);
    free(w.bins);
}
