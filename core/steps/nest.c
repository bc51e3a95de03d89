#include <stdlib.h>

#include "core/base/arena.h"
#include "core/steps/internal.h"

/* The open spans of one thread, outermost first. `end` is cut to the end of the enclosing spans. */
struct open {
    uint32_t span;
    tg_ns end, covered; /* direct children reach up to here */
    tg_ns *self;        /* NULL: nobody asks */
};
struct stack {
    struct open *v;
    size_t n, cap;
};

/* The innermost open span around `s`, less what `s` takes of it; TG_NO_SPAN. */
static uint32_t enter(struct stack *k, struct open s)
{
    const tg_ns start = s.covered;
    uint32_t parent = TG_NO_SPAN;
    while (k->n && !tg_span_holds(k->v[k->n - 1].end, start, s.end))
        k->n--;
    if (k->n) {
        struct open *p = &k->v[k->n - 1];
        tg_ns from = start > p->covered ? start : p->covered;
        s.end = s.end < p->end ? s.end : p->end;
        parent = p->span;
        if (s.end > from) {
            if (p->self)
                *p->self -= s.end - from;
            p->covered = s.end;
        }
    }
    *TG_PUSH(k->v, k->n, k->cap) = s;
    return parent;
}

/* Fills what is not NULL: the columns, and the durations of `spent` with self times. */
static void walk(const struct tg_steps *steps, const struct tg_trace *t, uint32_t *parent,
                 tg_ns *self, struct tg_trace *spent)
{
    size_t n_stacks = t->n_threads ? t->n_threads : 1;
    TG_FREE struct stack *stacks = tg_xcalloc(n_stacks, sizeof *stacks);
    for (size_t k = 0; k < t->n_spans; k++) {
        uint32_t i = steps->order[k], up = TG_NO_SPAN;
        const struct tg_span *s = tg_span_at(t, i);
        struct open here = { i, tg_span_end(s), s->start,
                             spent  ? &tg_span_at(spent, i)->dur
                             : self ? &self[i]
                                    : NULL };
        if (here.self)
            *here.self = s->dur > 0 ? s->dur : 0;
        if (tg_kind_nests(tg_span_kind(t, s)))
            up = enter(&stacks[t->tracks[s->track].thread], here);
        if (parent)
            parent[i] = up;
    }
    for (size_t k = 0; k < n_stacks; k++)
        free(stacks[k].v);
}

void tg_steps_nest(struct tg_steps *out, const struct tg_trace *t, bool sparing)
{
    out->parent = tg_steps_column(t, sizeof *out->parent);
    out->self = sparing ? NULL : tg_steps_column(t, sizeof *out->self);
    walk(out, t, out->parent, out->self, NULL);
}

void tg_steps_put_self(const struct tg_steps *s, struct tg_trace *t)
{
    walk(s, t, NULL, NULL, t);
}
