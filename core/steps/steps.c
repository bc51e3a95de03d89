#include "core/steps/steps.h"

#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/steps/internal.h"

static bool is_window(const struct tg_name *name, const struct tg_window_spec *w)
{
    enum tg_kind k = name->kind;
    if (w->by == TG_WINDOW_AUTO)
        return k == TG_KIND_STEP;
    return w->by == TG_WINDOW_ANNOTATION &&
           (k == TG_KIND_ANNOTATION || k == TG_KIND_OP || k == TG_KIND_STEP) &&
           tg_sv_glob(w->name, name->name);
}

/*
 * The thread with most windows; of several, the first by text, because ids follow the file's order.
 */
static uint32_t main_thread(const struct tg_trace *t, const bool *is_window_name)
{
    TG_FREE size_t *count = tg_xcalloc(t->n_threads + 1, sizeof *count);
    uint32_t best = 0;
    for (size_t i = 0; i < t->n_spans; i++) {
        const struct tg_span *s = tg_span_at(t, i);
        if (is_window_name[s->name])
            count[t->tracks[s->track].thread]++;
    }
    for (uint32_t k = 1; k < t->n_threads; k++) {
        int c = TG_CMP(count[best], count[k]);
        c = c ? c : tg_sv_cmp(t->threads[k].pid, t->threads[best].pid);
        c = c ? c : tg_sv_cmp(t->threads[k].tid, t->threads[best].tid);
        best = c < 0 ? k : best;
    }
    return best;
}

static void find_windows(struct tg_steps *out, const struct tg_trace *t,
                         const struct tg_window_spec *w)
{
    TG_FREE bool *is_window_name = tg_xmalloc(t->names->n + 1);
    for (size_t i = 0; i < t->names->n; i++)
        is_window_name[i] = is_window(&t->names->v[i], w);
    uint32_t thread = main_thread(t, is_window_name);
    size_t cap = 0;
    for (size_t k = 0; k < t->n_spans; k++) {
        const struct tg_span *s = tg_span_at(t, out->order[k]);
        struct tg_step *last = out->n ? &out->v[out->n - 1] : NULL;
        int64_t number;
        if (!is_window_name[s->name] || t->tracks[s->track].thread != thread || s->dur <= 0)
            continue;
        if (last && tg_span_end(s) <= last->end) { /* inside the previous one */
            out->nested += s->start != last->start || tg_span_end(s) != last->end;
            continue;
        }
        if (last && last->end > s->start) {
            out->crossing += last->end - s->start > (last->end - last->start) / 100;
            last->end = s->start;
        }
        number =
            w->by == TG_WINDOW_AUTO ? tg_step_number(tg_span_name(t, s)->name) : (int64_t)out->n;
        *TG_PUSH(out->v, out->n, cap) =
            (struct tg_step){ number, s->start, tg_span_end(s), out->order[k] };
    }
    out->marked = out->n > 0;
}

static void whole_trace(struct tg_steps *out, const struct tg_trace *t)
{
    struct tg_step all = { .span = TG_NO_SPAN };
    for (size_t k = 0; k < t->n_spans; k++) {
        const struct tg_span *s = tg_span_at(t, out->order[k]);
        if (k == 0)
            all.start = all.end = s->start;
        if (tg_span_end(s) > all.end)
            all.end = tg_span_end(s);
    }
    size_t cap = 0;
    *TG_PUSH(out->v, out->n, cap) = all;
}

/* Names those that could be meant. */
static bool no_window(const struct tg_trace *t, tg_sv name, struct tg_err *err)
{
    enum { MOST = 3 };
    struct tg_window_hint hints[MOST];
    TG_ARENA *a = tg_arena_new();
    TG_BUF there = { 0 };
    size_t n = tg_steps_hints(t, hints, MOST, a);
    bool has_steps = false;
    for (size_t i = 0; i < t->names->n; i++)
        has_steps |= t->names->v[i].kind == TG_KIND_STEP;
    for (size_t i = 0; i < n; i++)
        tg_buf_printf(&there, "%s'%.*s'", i ? ", " : "", TG_SV_ARG(hints[i].name));
    tg_err_set(err, TG_ERR_USAGE, TG_AT_FILE(t->path), "no annotation or operator '%.*s'",
               TG_SV_ARG(name));
    if (has_steps)
        return tg_err_hint(err, "Without --window each ProfilerStep there is a step.");
    if (n)
        return tg_err_hint(err, "What recurs there and could be a step: %s.", there.p);
    return tg_err_hint(err, "`tracegate analyze TRACE --whole` lists what is there.");
}

static bool begin(struct tg_steps *out, const struct tg_trace *t, const struct tg_window_spec *w,
                  struct tg_err *err)
{
    *out = (struct tg_steps){ .order = tg_steps_column(t, sizeof *out->order) };
    tg_trace_sort(t, out->order);
    if (w->by != TG_WINDOW_WHOLE)
        find_windows(out, t, w);
    if (!out->marked && w->by == TG_WINDOW_ANNOTATION && w->required) {
        tg_steps_release(out);
        return no_window(t, w->name, err);
    }
    if (!out->marked)
        whole_trace(out, t);
    tg_lanes_init(&out->lanes, t);
    if (out->n > TG_MAX_DEVICE_STEPS / (out->lanes.n_devices + 1)) {
        tg_err_set(err, TG_ERR_LIMIT, TG_AT_FILE(t->path), "%zu steps on %zu devices are too many",
                   out->n, out->lanes.n_devices);
        tg_steps_release(out);
        return tg_err_hint(err, "Cut the trace, or use another window (`window:` in the policy).");
    }
    tg_steps_link(out, t);
    return true;
}

static void finish(struct tg_steps *out, const struct tg_trace *t, bool sparing)
{
    /* In the total order, equal spans are neighbours. */
    for (size_t k = 1; k < t->n_spans; k++) {
        const struct tg_span *a = tg_span_at(t, out->order[k - 1]);
        const struct tg_span *b = tg_span_at(t, out->order[k]);
        out->repeated += a->start == b->start && a->dur == b->dur && a->dur > 0 &&
                         a->name == b->name && a->track == b->track;
    }
    tg_steps_place(out, t);
    tg_steps_nest(out, t, sparing);
    tg_steps_link_parents(out, t);
}

bool tg_steps_build(struct tg_steps *out, const struct tg_trace *t, const struct tg_window_spec *w,
                    struct tg_err *err)
{
    if (!begin(out, t, w, err))
        return false;
    finish(out, t, false);
    return true;
}

bool tg_steps_build_sparing(struct tg_steps *out, struct tg_trace *t,
                            const struct tg_window_spec *w, struct tg_err *err)
{
    if (!begin(out, t, w, err))
        return false;
    tg_trace_drop(t, TG_TRACE_CORRELATIONS);
    finish(out, t, true);
    return true;
}

bool tg_steps_build_flat(struct tg_steps *out, struct tg_trace *t, const struct tg_window_spec *w,
                         struct tg_err *err)
{
    if (!begin(out, t, w, err))
        return false;
    tg_trace_drop(t, TG_TRACE_CORRELATIONS);
    tg_steps_place(out, t);
    return true;
}

void tg_steps_release(struct tg_steps *s)
{
    free(s->v);
    free(s->order);
    free(s->device);
    free(s->step_of);
    free(s->launch);
    free(s->parent);
    free(s->self);
    tg_lanes_release(&s->lanes);
    *s = (struct tg_steps){ 0 };
}
