#include <stdlib.h>

#include "core/base/arena.h"
#include "core/steps/internal.h"

/* The open spans of one thread, outermost first. `end` is cut to the end of the enclosing spans. */
struct open {
    uint32_t span;
    tg_ns end, covered; /* direct children reach up to here */
};
struct stack {
    struct open *v;
    size_t n, cap;
};

static void enter(struct tg_steps *out, struct stack *k, const struct tg_span *s, uint32_t i)
{
    tg_ns end = tg_span_end(s);
    while (k->n && !tg_span_holds(k->v[k->n - 1].end, s->start, end))
        k->n--;
    if (k->n) {
        struct open *p = &k->v[k->n - 1];
        tg_ns from = s->start > p->covered ? s->start : p->covered;
        end = end < p->end ? end : p->end;
        out->parent[i] = p->span;
        if (end > from) {
            out->self[p->span] -= end - from;
            p->covered = end;
        }
    }
    *TG_PUSH(k->v, k->n, k->cap) = (struct open){ i, end, s->start };
}

void tg_steps_nest(struct tg_steps *out, const struct tg_trace *t)
{
    size_t n_stacks = t->n_threads ? t->n_threads : 1;
    TG_FREE struct stack *stacks = tg_xcalloc(n_stacks, sizeof *stacks);
    out->parent = tg_steps_column(t, sizeof *out->parent);
    out->self = tg_steps_column(t, sizeof *out->self);
    for (size_t k = 0; k < t->n_spans; k++) {
        uint32_t i = out->order[k];
        const struct tg_span *s = tg_span_at(t, i);
        out->parent[i] = TG_NO_SPAN;
        out->self[i] = s->dur > 0 ? s->dur : 0;
        if (tg_kind_nests(tg_span_kind(t, s)))
            enter(out, &stacks[t->tracks[s->track].thread], s, i);
    }
    for (size_t k = 0; k < n_stacks; k++)
        free(stacks[k].v);
}
