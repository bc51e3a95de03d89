#include "core/metric/stacks.h"

#include <stdlib.h>

#include "core/base/buf.h"

struct sort { /* of frames */
    bool (*is)(tg_sv name);
    const char *outside;
};

static bool is_module(tg_sv name)
{
    return tg_sv_starts(name, TG_SV("nn.Module: "));
}

/* Where "(12)" is in "file.py(12): function"; false: "<built-in …>", a module. */
static bool find_line(tg_sv name, size_t *from, size_t *to)
{
    for (size_t i = 1; i < name.n && name.p[0] != '<'; i++) {
        size_t k = tg_sv_digits(name, i + 1);
        if (name.p[i] == '(' && k > i + 1 && k + 1 < name.n && name.p[k] == ')' &&
            name.p[k + 1] == ':') {
            *from = i;
            *to = k + 1;
            return true;
        }
    }
    return false;
}

static bool is_source(tg_sv name)
{
    size_t from, to;
    return find_line(name, &from, &to);
}

static const struct sort sorts[TG_STACK_SORTS] = {
    [TG_STACK_MODULES] = { is_module, "(launched outside every module)" },
    [TG_STACK_SOURCES] = { is_source, "(launched outside every Python function)" },
};

const char *tg_stack_outside(enum tg_stack_sort sort)
{
    return sorts[sort].outside;
}

struct state {                        /* of a row during the walk */
    const struct tg_stack_sums *open; /* of the innermost frame of this name around the current
                                         event of the current thread; NULL: there is none */
    uint32_t seen;                    /* the last piece of work that was added, plus 1 */
};

struct job {
    const struct tg_trace *t;
    const struct tg_steps *steps;
    const struct tg_stack_spec *spec;
    struct tg_stacks *out;
    struct state *state; /* per row */
    uint32_t *row_of;    /* per name id; TG_NO_ID: not a frame of this sort */
    uint32_t *around;    /* per span: the innermost frame around it, for frames and launches */
};

/* ---- names ---- */

static void find_names(struct job *j)
{
    const struct tg_names *names = j->t->names;
    TG_BUF b = { 0 };
    struct tg_strmap *rows = &j->out->names;
    j->row_of = tg_xrealloc(NULL, names->n + 1, sizeof *j->row_of);
    for (size_t i = 0; i < names->n; i++) {
        tg_sv name = names->v[i].name;
        size_t from, to;
        j->row_of[i] = TG_NO_ID;
        if (names->v[i].kind != TG_KIND_PYTHON || !sorts[j->spec->sort].is(name))
            continue;
        if (j->spec->by_function && find_line(name, &from, &to)) {
            tg_buf_clear(&b);
            tg_buf_add(&b, (tg_sv){ name.p, from });
            tg_buf_add(&b, tg_sv_from(name, to));
            name = tg_buf_sv(&b);
        }
        j->row_of[i] = tg_strmap_add(rows, name);
    }
}

/* The bucket of a step (-1: outside), in `sums`; NULL: not wanted. */
static struct tg_stack_sums *sums_at(const struct job *j, struct tg_stack_sums *sums, int32_t step)
{
    size_t at = j->spec->bucket[step < 0 ? j->steps->n : (size_t)step];
    return at == SIZE_MAX ? NULL : &sums[at];
}

/* ---- frames and what they enclose ---- */

/* Frames of the sort and calls that may launch work, in the total order. */
static uint32_t *frames_and_calls(const struct job *j, size_t *n)
{
    const struct tg_trace *t = j->t;
    size_t all = t->n_spans + t->n_python;
    uint32_t *list = tg_xrealloc(NULL, all + 1, sizeof *list);
    *n = 0;
    for (size_t i = 0; i < all; i++) {
        const struct tg_span *s = tg_span_at(t, i);
        if (j->row_of[s->name] != TG_NO_ID || tg_kind_is_call(tg_span_kind(t, s)))
            list[(*n)++] = (uint32_t)i;
    }
    tg_trace_sort_list(t, list, *n);
    return list;
}

/* By thread, keeping their order: a counting sort. `first` has n_threads + 1 entries. */
static uint32_t *by_thread(const struct tg_trace *t, const uint32_t *list, size_t n, size_t *first)
{
    uint32_t *out = tg_xrealloc(NULL, n + 1, sizeof *out);
    memset(first, 0, (t->n_threads + 1) * sizeof *first);
    for (size_t i = 0; i < n; i++)
        first[t->tracks[tg_span_at(t, list[i])->track].thread + 1]++;
    for (size_t k = 0; k < t->n_threads; k++)
        first[k + 1] += first[k];
    for (size_t i = 0; i < n; i++)
        out[first[t->tracks[tg_span_at(t, list[i])->track].thread]++] = list[i];
    for (size_t k = t->n_threads; k > 0; k--)
        first[k] = first[k - 1];
    first[0] = 0;
    return out;
}

struct open { /* a frame around the current event */
    uint32_t span, row;
    tg_ns end, covered;
    struct tg_stack_sums *sums;       /* of its row and step; NULL: not wanted */
    const struct tg_stack_sums *open; /* of its row, around it */
};

static void enter(struct job *j, struct open *stack, size_t *depth, uint32_t i)
{
    const struct tg_span *s = tg_span_at(j->t, i);
    uint32_t row = j->row_of[s->name];
    struct tg_stack_sums *sums = sums_at(j, j->out->rows[row].v, tg_steps_at(j->steps, s->start));
    tg_ns end = tg_span_end(s);
    if (*depth) {
        struct open *up = &stack[*depth - 1];
        tg_ns from = s->start > up->covered ? s->start : up->covered;
        end = end < up->end ? end : up->end;
        if (end > from && up->sums)
            up->sums->self -= end - from;
        up->covered = end > from ? end : up->covered;
    }
    if (sums) {
        sums->calls++;
        if (j->state[row].open != sums) /* recursion, within the step */
            sums->host = tg_ns_add(sums->host, tg_ns_sub(end, s->start));
        sums->self = tg_ns_add(sums->self, tg_ns_sub(end, s->start));
    }
    stack[(*depth)++] = (struct open){ i, row, end, s->start, sums, j->state[row].open };
    j->state[row].open = sums;
}

static void leave(struct job *j, const struct open *o)
{
    j->state[o->row].open = o->open;
}

static void walk_threads(struct job *j)
{
    const struct tg_trace *t = j->t;
    TG_FREE size_t *first = tg_xrealloc(NULL, t->n_threads + 2, sizeof *first);
    size_t longest = 0, n;
    TG_FREE uint32_t *list = frames_and_calls(j, &n), *spans = by_thread(t, list, n, first);
    TG_FREE struct open *stack = NULL;
    for (size_t k = 0; k < t->n_threads; k++)
        if (first[k + 1] - first[k] > longest)
            longest = first[k + 1] - first[k];
    stack = tg_xrealloc(NULL, longest + 1, sizeof *stack);
    j->around = tg_xrealloc(NULL, t->n_spans + t->n_python + 1, sizeof *j->around);
    for (size_t i = 0; i < t->n_spans + t->n_python; i++)
        j->around[i] = TG_NO_SPAN;
    for (size_t k = 0; k < t->n_threads; k++) {
        size_t depth = 0;
        for (size_t i = first[k]; i < first[k + 1]; i++) {
            const struct tg_span *s = tg_span_at(t, spans[i]);
            while (depth && !tg_span_holds(stack[depth - 1].end, s->start, tg_span_end(s)))
                leave(j, &stack[--depth]);
            j->around[spans[i]] = depth ? stack[depth - 1].span : TG_NO_SPAN;
            if (j->row_of[s->name] != TG_NO_ID)
                enter(j, stack, &depth, spans[i]);
        }
        while (depth)
            leave(j, &stack[--depth]);
    }
}

/* ---- device work ---- */

static void add_device(struct tg_stack_sums *sums, tg_ns dur, bool inner)
{
    sums->work++;
    sums->device = tg_ns_add(sums->device, dur);
    if (inner)
        sums->device_self = tg_ns_add(sums->device_self, dur);
}

static void add_work(struct job *j, uint32_t i)
{
    const struct tg_span *s = tg_span_at(j->t, i);
    uint32_t launch = j->steps->launch[i];
    uint32_t frame = launch == TG_NO_SPAN ? TG_NO_SPAN : j->around[launch];
    tg_ns dur = tg_ns_sub(tg_span_end(s), s->start);
    int32_t step = j->steps->step_of[i];
    struct tg_stack_sums *sums = sums_at(j, j->out->outside, step);
    if (!sums)
        return;
    if (frame == TG_NO_SPAN)
        add_device(sums, dur, true);
    for (bool inner = true; frame != TG_NO_SPAN; frame = j->around[frame], inner = false) {
        uint32_t row = j->row_of[tg_span_at(j->t, frame)->name];
        if (j->state[row].seen == i + 1)
            continue; /* recursion */
        j->state[row].seen = i + 1;
        add_device(sums_at(j, j->out->rows[row].v, step), dur, inner);
    }
}

void tg_stacks_compute(struct tg_stacks *out, const struct tg_trace *t,
                       const struct tg_steps *steps, const struct tg_stack_spec *spec)
{
    struct job j = { .t = t, .steps = steps, .spec = spec, .out = out };
    *out = (struct tg_stacks){ 0 };
    find_names(&j);
    /* All sums in one block, those of work outside every frame last. */
    out->n = out->names.n;
    out->rows = tg_xrealloc(NULL, out->n + 1, sizeof *out->rows);
    out->sums = tg_xcalloc((out->n + 1) * spec->n_buckets + 1, sizeof *out->sums);
    for (size_t i = 0; i < out->n; i++)
        out->rows[i] = (struct tg_stack){ out->names.text[i], out->sums + i * spec->n_buckets };
    out->outside = out->sums + out->n * spec->n_buckets;
    j.state = tg_xcalloc(out->n + 1, sizeof *j.state);
    if (out->n)
        walk_threads(&j);
    for (uint32_t i = 0; out->n && i < t->n_spans; i++) {
        const struct tg_span *s = tg_span_at(t, i);
        /* Kernels at time 0 without duration are a profiler defect. */
        if (tg_kind_is_device(tg_span_kind(t, s)) && (s->start != 0 || s->dur != 0))
            add_work(&j, i);
    }
    free(j.row_of);
    free(j.around);
    free(j.state);
}

void tg_stacks_release(struct tg_stacks *s)
{
    tg_strmap_release(&s->names);
    free(s->rows);
    free(s->sums);
    *s = (struct tg_stacks){ 0 };
}
