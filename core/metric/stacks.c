/*
 * Time by Python frame: `modules` by nn.Module instance ("nn.Module: Linear_0"), `sources` by
 * function ("train.py(12): step"), from traces recorded with stacks. Host time is inclusive, a
 * recursive frame counted once; self time leaves out nested frames of the same sort. Device time is
 * that of the work which was launched inside the frame, wherever and whenever it ran.
 *
 * Frames nest per thread by time. Work that was launched outside every frame (the backward pass,
 * which runs on a thread without Python) has a row of its own.
 */
#include <stdlib.h>

#include "core/metric/device.h"
#include "core/metric/parts.h"

enum { NAME, CALLS, HOST, HOST_SELF, DEVICE, DEVICE_SELF, SHARE, WORK, RANK, REASON, COLUMNS };
static const struct tg_frame_column columns[COLUMNS] = {
    { "name", TG_FRAME_TEXT },          { "calls", TG_FRAME_INT },
    { "host_time(us)", TG_FRAME_US },   { "host_self(us)", TG_FRAME_US },
    { "device_time(us)", TG_FRAME_US }, { "device_self(us)", TG_FRAME_US },
    { "device_pctg", TG_FRAME_REAL },   { "device_events", TG_FRAME_INT },
    { "rank", TG_FRAME_INT },           { "reason", TG_FRAME_TEXT },
};

struct sort { /* of frames */
    const char *frame;
    bool (*is)(tg_sv name);
    const char *outside, *none;
};

static bool is_module(tg_sv name)
{
    return tg_sv_starts(name, TG_SV("nn.Module: "));
}

/* "file.py(12): function"; not "<built-in …>", not modules. */
static bool is_source(tg_sv name)
{
    for (size_t i = 1; i < name.n && name.p[0] != '<'; i++) {
        size_t k = i + 1;
        while (k < name.n && name.p[k] >= '0' && name.p[k] <= '9')
            k++;
        if (name.p[i] == '(' && k > i + 1 && k + 1 < name.n && name.p[k] == ')' &&
            name.p[k + 1] == ':')
            return true;
    }
    return false;
}

static const struct sort modules = { "modules", is_module, "(launched outside every module)",
                                     "no nn.Module in the trace: record with with_stack=True" };
static const struct sort sources = {
    "sources", is_source, "(launched outside every Python function)",
    "no Python function in the trace: record with with_stack=True"
};

struct entry {
    tg_sv name;
    uint64_t calls, work;
    tg_ns host, self, device, device_self;
    uint32_t open; /* frames of this name around the current event of the current thread */
    uint32_t seen; /* the last piece of work that was added, plus 1 */
};

struct job {
    const struct sort *sort;
    const struct tg_rank_trace *rank;
    const struct tg_analysis_opts *opts;
    uint32_t *entry_of; /* per name id; TG_NO_ID: no frame of this sort */
    uint32_t *around;   /* per span: the innermost frame around it, for frames and launches */
    struct entry *v;
    size_t n;
    struct entry outside;
};

/* --- frames and what they enclose ------------------------------------------------------------- */

static void find_names(struct job *j)
{
    const struct tg_names *names = j->rank->trace->names;
    size_t cap = 0;
    j->entry_of = tg_xrealloc(NULL, names->n + 1, sizeof *j->entry_of);
    for (size_t i = 0; i < names->n; i++) {
        j->entry_of[i] = TG_NO_ID;
        if (names->v[i].kind != TG_KIND_PYTHON || !j->sort->is(names->v[i].name))
            continue;
        j->v = tg_grow(j->v, &cap, j->n + 1, sizeof *j->v);
        j->v[j->n] = (struct entry){ .name = names->v[i].name };
        j->entry_of[i] = (uint32_t)j->n++;
    }
}

/* Spans of each thread in the total order: a counting sort by thread. `first` has n_threads + 1. */
static uint32_t *by_thread(const struct job *j, size_t *first)
{
    const struct tg_trace *t = j->rank->trace;
    uint32_t *out = tg_xrealloc(NULL, t->n_spans + 1, sizeof *out);
    memset(first, 0, (t->n_threads + 1) * sizeof *first);
    for (size_t i = 0; i < t->n_spans; i++)
        first[t->tracks[tg_span_at(t, i)->track].thread + 1]++;
    for (size_t k = 0; k < t->n_threads; k++)
        first[k + 1] += first[k];
    for (size_t k = 0; k < t->n_spans; k++) {
        uint32_t i = j->rank->steps->order[k];
        out[first[t->tracks[tg_span_at(t, i)->track].thread]++] = i;
    }
    for (size_t k = t->n_threads; k > 0; k--)
        first[k] = first[k - 1];
    first[0] = 0;
    return out;
}

struct open { /* a frame around the current event */
    uint32_t span, entry;
    tg_ns end, covered;
    bool counts;
};

static void leave(struct job *j, struct open *o)
{
    j->v[o->entry].open--;
}

static void enter(struct job *j, struct open *stack, size_t *depth, uint32_t i)
{
    const struct tg_span *s = tg_span_at(j->rank->trace, i);
    uint32_t id = j->entry_of[s->name];
    struct entry *e = &j->v[id];
    tg_ns end = tg_span_end(s);
    bool counts = tg_step_wanted(j->rank->steps, j->rank->steps->step_of[i], j->opts);
    if (*depth) {
        struct open *up = &stack[*depth - 1];
        tg_ns from = s->start > up->covered ? s->start : up->covered;
        end = end < up->end ? end : up->end;
        if (end > from && up->counts)
            j->v[up->entry].self -= end - from;
        up->covered = end > from ? end : up->covered;
    }
    if (counts) {
        e->calls++;
        e->host = tg_ns_add(e->host, e->open ? 0 : tg_ns_sub(end, s->start));
        e->self = tg_ns_add(e->self, tg_ns_sub(end, s->start));
    }
    e->open++;
    stack[(*depth)++] = (struct open){ i, id, end, s->start, counts };
}

static void one_thread(struct job *j, const uint32_t *spans, size_t n, struct open *stack)
{
    const struct tg_trace *t = j->rank->trace;
    size_t depth = 0;
    for (size_t k = 0; k < n; k++) {
        const struct tg_span *s = tg_span_at(t, spans[k]);
        enum tg_kind kind = tg_span_kind(t, s);
        bool frame = j->entry_of[s->name] != TG_NO_ID;
        if (!frame && kind != TG_KIND_RUNTIME && kind != TG_KIND_GRAPH && kind != TG_KIND_SYNC)
            continue;
        while (depth && !tg_span_holds(stack[depth - 1].end, s->start, tg_span_end(s)))
            leave(j, &stack[--depth]);
        j->around[spans[k]] = depth ? stack[depth - 1].span : TG_NO_SPAN;
        if (frame)
            enter(j, stack, &depth, spans[k]);
    }
    while (depth)
        leave(j, &stack[--depth]);
}

static void walk_threads(struct job *j)
{
    const struct tg_trace *t = j->rank->trace;
    size_t *first = tg_xrealloc(NULL, t->n_threads + 2, sizeof *first), longest = 0;
    uint32_t *spans = by_thread(j, first);
    struct open *stack;
    for (size_t k = 0; k < t->n_threads; k++)
        if (first[k + 1] - first[k] > longest)
            longest = first[k + 1] - first[k];
    stack = tg_xrealloc(NULL, longest + 1, sizeof *stack);
    j->around = tg_xrealloc(NULL, t->n_spans + 1, sizeof *j->around);
    for (size_t i = 0; i < t->n_spans; i++)
        j->around[i] = TG_NO_SPAN;
    for (size_t k = 0; k < t->n_threads; k++)
        one_thread(j, spans + first[k], first[k + 1] - first[k], stack);
    free(stack);
    free(spans);
    free(first);
}

/* --- device work ------------------------------------------------------------------------------ */

static void add_work(struct job *j, const struct tg_work_row *w, uint32_t number)
{
    const struct tg_trace *t = j->rank->trace;
    uint32_t launch = j->rank->steps->launch[w->span];
    uint32_t frame = launch == TG_NO_SPAN ? TG_NO_SPAN : j->around[launch];
    tg_ns dur = tg_ns_sub(w->end, w->start);
    if (frame == TG_NO_SPAN) {
        j->outside.work++;
        j->outside.device = tg_ns_add(j->outside.device, dur);
        j->outside.device_self = j->outside.device;
        return;
    }
    for (bool inner = true; frame != TG_NO_SPAN; frame = j->around[frame], inner = false) {
        struct entry *e = &j->v[j->entry_of[tg_span_at(t, frame)->name]];
        if (inner)
            e->device_self = tg_ns_add(e->device_self, dur);
        if (e->seen == number)
            continue; /* recursion */
        e->seen = number;
        e->work++;
        e->device = tg_ns_add(e->device, dur);
    }
}

/* --- the table -------------------------------------------------------------------------------- */

static int by_device(const void *pa, const void *pb)
{
    const struct entry *a = pa, *b = pb;
    if (a->device != b->device)
        return a->device > b->device ? -1 : 1;
    if (a->host != b->host)
        return a->host > b->host ? -1 : 1;
    return tg_sv_cmp(a->name, b->name);
}

static void put(struct tg_frame *f, const struct job *j, const struct entry *e, tg_ns total)
{
    struct tg_frame_cell *row = tg_frame_row(f);
    row[NAME] = tg_frame_text(e->name);
    row[RANK] = tg_frame_int(j->rank->rank);
    row[DEVICE] = tg_frame_int(e->device);
    row[DEVICE_SELF] = tg_frame_int(e->device_self);
    row[WORK] = tg_frame_int((int64_t)e->work);
    if (total > 0)
        row[SHARE] = tg_frame_real(100.0 * (double)e->device / (double)total);
    if (e == &j->outside)
        return; /* nobody was called */
    row[CALLS] = tg_frame_int((int64_t)e->calls);
    row[HOST] = tg_frame_int(e->host);
    row[HOST_SELF] = tg_frame_int(e->self);
}

static void put_all(struct tg_frame *f, struct job *j, tg_ns total)
{
    size_t shown = 0;
    if (j->n)
        qsort(j->v, j->n, sizeof *j->v, by_device);
    for (size_t i = 0; i < j->n; i++)
        if ((j->v[i].calls || j->v[i].work) && (!j->opts->top || shown++ < j->opts->top))
            put(f, j, &j->v[i], total);
    if (j->n && j->outside.work)
        put(f, j, &j->outside, total);
}

static void one_rank(struct tg_frame *f, const struct tg_analysis_in *in, size_t r,
                     const struct sort *sort)
{
    struct job j = { .sort = sort,
                     .rank = &in->ranks[r],
                     .opts = in->opts,
                     .outside = { .name = tg_sv_of(sort->outside) } };
    size_t before = f->n_rows;
    tg_ns total = 0;
    find_names(&j);
    if (j.n)
        walk_threads(&j);
    for (size_t i = 0; j.n && i < in->work[r].n; i++) {
        add_work(&j, &in->work[r].v[i], (uint32_t)i + 1);
        total = tg_ns_add(total, tg_ns_sub(in->work[r].v[i].end, in->work[r].v[i].start));
    }
    put_all(f, &j, total);
    if (f->n_rows == before) {
        struct tg_frame_cell *row = tg_frame_row(f);
        row[RANK] = tg_frame_int(in->ranks[r].rank);
        row[REASON] = tg_frame_text(j.n ? TG_SV("none in these steps") : tg_sv_of(sort->none));
    }
    free(j.entry_of);
    free(j.around);
    free(j.v);
}

static void run(const struct tg_analysis_in *in, struct tg_frames *out, const struct sort *sort)
{
    struct tg_frame *f = tg_frames_add(out, sort->frame, columns, COLUMNS);
    for (size_t r = 0; r < in->n; r++)
        one_rank(f, in, r, sort);
}

void tg_modules(const struct tg_analysis_in *in, struct tg_frames *out)
{
    run(in, out, &modules);
}

void tg_sources(const struct tg_analysis_in *in, struct tg_frames *out)
{
    run(in, out, &sources);
}
