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

struct open { /* a frame around the current event */
    uint32_t span, row;
    tg_ns end, covered;
    struct tg_stack_sums *sums;       /* of its row and step; NULL: not wanted */
    const struct tg_stack_sums *open; /* of its row, around it */
};

struct stack {
    struct open *v;
    size_t n, cap;
};

static void enter(struct job *j, struct stack *stack, uint32_t i)
{
    const struct tg_span *s = tg_span_at(j->t, i);
    uint32_t row = j->row_of[s->name];
    struct tg_stack_sums *sums = sums_at(j, j->out->rows[row].v, tg_steps_at(j->steps, s->start));
    tg_ns end = tg_span_end(s);
    if (stack->n) {
        struct open *up = &stack->v[stack->n - 1];
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
    *TG_PUSH(stack->v, stack->n, stack->cap) =
        (struct open){ i, row, end, s->start, sums, j->state[row].open };
    j->state[row].open = sums;
}

static void leave(struct job *j, struct stack *stack)
{
    const struct open *o = &stack->v[--stack->n];
    j->state[o->row].open = o->open;
}

static void walk_threads(struct job *j)
{
    const struct tg_trace *t = j->t;
    size_t all = t->n_spans + t->n_python, n = 0;
    TG_FREE uint32_t *list = tg_xrealloc(NULL, all + 1, sizeof *list);
    TG_FREE uint32_t *thread = tg_xrealloc(NULL, t->n_tracks + 1, sizeof *thread);
    TG_FREE size_t *end = tg_xcalloc(t->n_threads + 1, sizeof *end);
    struct stack stack = { 0 };
    j->around = tg_xrealloc(NULL, all + 1, sizeof *j->around);
    /* Frames of the sort and calls that may launch work, in the total order, by thread. */
    for (size_t i = 0; i < all; i++) {
        const struct tg_span *s = tg_span_at(t, i);
        j->around[i] = TG_NO_SPAN;
        if (j->row_of[s->name] != TG_NO_ID || tg_kind_is_call(tg_span_kind(t, s)))
            list[n++] = (uint32_t)i;
    }
    tg_trace_sort_list(t, list, n);
    for (size_t k = 0; k < t->n_tracks; k++)
        thread[k] = t->tracks[k].thread;
    TG_FREE uint32_t *spans = tg_trace_group(t, list, n, thread, t->n_threads, end);
    for (size_t k = 0, i = 0; k < t->n_threads; k++) {
        for (; i < end[k]; i++) {
            const struct tg_span *s = tg_span_at(t, spans[i]);
            while (stack.n && !tg_span_holds(stack.v[stack.n - 1].end, s->start, tg_span_end(s)))
                leave(j, &stack);
            j->around[spans[i]] = stack.n ? stack.v[stack.n - 1].span : TG_NO_SPAN;
            if (j->row_of[s->name] != TG_NO_ID)
                enter(j, &stack, spans[i]);
        }
        while (stack.n)
            leave(j, &stack);
    }
    free(stack.v);
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
