#include <stdlib.h>

#include "core/base/arena.h"
#include "core/steps/steps.h"

#define MIN_COUNT 3
#define MIN_COVERED 0.5
#define MAX_SHARE 0.5 /* of one alone in their time: else it is a start-up cost, no iteration */

struct tally {
    size_t count;
    tg_ns total, longest, until;
    bool apart; /* no two of them overlap */
};

static int better(const void *a, const void *b)
{
    const struct tg_window_hint *x = a, *y = b;
    if (x->covered < y->covered || x->covered > y->covered)
        return x->covered > y->covered ? -1 : 1;
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return tg_sv_cmp(x->name, y->name);
}

static struct tally *count_names(const struct tg_trace *t, const uint32_t *order, tg_ns *length)
{
    struct tally *v = tg_xrealloc(NULL, t->names->n + 1, sizeof *v);
    tg_ns until = INT64_MIN;
    for (size_t i = 0; i < t->names->n; i++)
        v[i] = (struct tally){ .until = INT64_MIN, .apart = true };
    for (size_t k = 0; k < t->n_spans; k++) {
        const struct tg_span *s = tg_span_at(t, order[k]);
        struct tally *n = &v[s->name];
        n->apart = n->apart && s->start >= n->until;
        n->until = tg_span_end(s) > n->until ? tg_span_end(s) : n->until;
        n->total = tg_ns_add(n->total, s->dur > 0 ? s->dur : 0);
        n->longest = s->dur > n->longest ? s->dur : n->longest;
        n->count++;
        until = tg_span_end(s) > until ? tg_span_end(s) : until;
    }
    *length = t->n_spans ? tg_ns_sub(until, tg_span_at(t, order[0])->start) : 0;
    return v;
}

size_t tg_steps_hints(const struct tg_trace *t, struct tg_window_hint *out, size_t max)
{
    uint32_t *order = tg_xrealloc(NULL, t->n_spans + 1, sizeof *order);
    struct tg_window_hint *all = tg_xrealloc(NULL, t->names->n + 1, sizeof *all);
    struct tally *v;
    tg_ns length;
    size_t n = 0;
    tg_trace_sort(t, order);
    v = count_names(t, order, &length);
    for (size_t i = 0; i < t->names->n; i++) {
        enum tg_kind k = t->names->v[i].kind;
        double covered = length > 0 ? (double)v[i].total / (double)length : 0;
        if ((k == TG_KIND_OP || k == TG_KIND_ANNOTATION) && v[i].apart && v[i].count >= MIN_COUNT &&
            covered >= MIN_COVERED && (double)v[i].longest <= MAX_SHARE * (double)v[i].total)
            all[n++] = (struct tg_window_hint){ t->names->v[i].name, v[i].count, covered };
    }
    qsort(all, n, sizeof *all, better);
    n = n < max ? n : max;
    for (size_t i = 0; i < n; i++)
        out[i] = all[i];
    free(all);
    free(v);
    free(order);
    return n;
}
