#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/sort.h"
#include "core/trace/trace.h"

/* Spans are dealt into slices of time, and only those of one slice are compared. Names and threads
 * are ranked once: comparing two spans never compares text. */
struct ranks {
    const struct tg_trace *t;
    uint32_t *name, *thread; /* id -> position in byte order */
};

struct pair { /* category and name, pid and tid */
    tg_sv a, b;
    uint32_t id;
};

static int by_texts(const void *pa, const void *pb)
{
    const struct pair *x = pa, *y = pb;
    int c = tg_sv_cmp(x->a, y->a);
    return c ? c : tg_sv_cmp(x->b, y->b);
}

/* Of each id. Frees `v`. */
static uint32_t *rank(struct pair *v, size_t n)
{
    uint32_t *out = tg_xmalloc(n * sizeof *out);
    TG_SORT(v, n, by_texts);
    for (size_t i = 0; i < n; i++)
        out[v[i].id] = (uint32_t)i;
    free(v);
    return out;
}

static int by_rest(const void *pa, const void *pb, void *arg)
{
    const struct ranks *r = arg;
    const struct tg_span *a = tg_span_at(r->t, *(const uint32_t *)pa);
    const struct tg_span *b = tg_span_at(r->t, *(const uint32_t *)pb);
    int c = TG_CMP(b->dur, a->dur);
    c = c ? c : TG_CMP(r->name[a->name], r->name[b->name]);
    c = c ? c
          : TG_CMP(r->thread[r->t->tracks[a->track].thread],
                   r->thread[r->t->tracks[b->track].thread]);
    if (!c && (r->t->segment->correlations || r->t->segment->wide))
        c = TG_CMP(tg_correlation(r->t, *(const uint32_t *)pa),
                   tg_correlation(r->t, *(const uint32_t *)pb));
    return c ? c : TG_CMP(a->index, b->index);
}

static int by_all(const void *pa, const void *pb, void *arg)
{
    const struct ranks *r = arg;
    int c = TG_CMP(tg_span_at(r->t, *(const uint32_t *)pa)->start,
                   tg_span_at(r->t, *(const uint32_t *)pb)->start);
    return c ? c : by_rest(pa, pb, arg);
}

/* A range of starts in slices of equal length, fewer than there are spans. */
struct slices {
    tg_ns least;
    unsigned shift;
    bool one_start;
};

static struct slices slices_of(const struct tg_trace *t, const uint32_t *v, size_t n)
{
    tg_ns least = INT64_MAX, most = INT64_MIN;
    struct slices s = { .shift = 0 };
    for (size_t i = 0; i < n; i++) {
        tg_ns start = tg_span_at(t, v[i])->start;
        least = start < least ? start : least;
        most = start > most ? start : most;
    }
    while (((uint64_t)most - (uint64_t)least) >> s.shift >= n)
        s.shift++;
    s.least = least;
    s.one_start = least == most;
    return s;
}

static size_t slice_of(const struct slices *s, const struct tg_trace *t, uint32_t span)
{
    return ((uint64_t)tg_span_at(t, span)->start - (uint64_t)s->least) >> s->shift;
}

/* Brings the spans of a slice together, slice after slice; the result says where each one ends. */
static uint32_t *cut(const struct slices *s, const struct tg_trace *t, uint32_t *v, size_t n)
{
    uint32_t *end = tg_xcalloc(n, sizeof *end), sum = 0;
    TG_FREE uint32_t *from = tg_xmalloc(n * sizeof *from);
    memcpy(from, v, n * sizeof *v);
    for (size_t i = 0; i < n; i++)
        end[slice_of(s, t, v[i])]++;
    for (size_t k = 0; k < n; k++) {
        sum += end[k];
        end[k] = sum - end[k]; /* its beginning, until it is filled */
    }
    for (size_t i = 0; i < n; i++)
        v[end[slice_of(s, t, from[i])]++] = from[i];
    return end;
}

/* Most slices get one span or two. A crowded one is cut in its turn, so that a span far away from
 * all the others costs one pass. */
static void sort_spans(struct ranks *r, uint32_t *v, size_t n)
{
    enum { FEW = 12 };
    if (n <= FEW) {
        for (size_t i = 1, at; i < n; i++) {
            uint32_t one = v[i];
            for (at = i; at && by_all(&v[at - 1], &one, r) > 0; at--)
                v[at] = v[at - 1];
            v[at] = one;
        }
        return;
    }
    struct slices s = slices_of(r->t, v, n);
    if (s.one_start) {
        qsort_r(v, n, sizeof *v, by_rest, r);
        return;
    }
    TG_FREE uint32_t *end = cut(&s, r->t, v, n);
    for (size_t k = 0, from = 0; k < n; from = end[k++])
        if (end[k] > from + 1)
            sort_spans(r, v + from, end[k] - from);
}

void tg_trace_sort_list(const struct tg_trace *t, uint32_t *list, size_t n)
{
    struct pair *name = tg_xrealloc(NULL, t->names->n + 1, sizeof *name);
    struct pair *thread = tg_xrealloc(NULL, t->n_threads + 1, sizeof *thread);
    for (uint32_t i = 0; i < t->names->n; i++)
        name[i] = (struct pair){ t->names->v[i].cat, t->names->v[i].name, i };
    for (uint32_t i = 0; i < t->n_threads; i++)
        thread[i] = (struct pair){ t->threads[i].pid, t->threads[i].tid, i };
    struct ranks r = { t, rank(name, t->names->n), rank(thread, t->n_threads) };
    sort_spans(&r, list, n);
    free(r.name);
    free(r.thread);
}

void tg_trace_sort(const struct tg_trace *t, uint32_t *order)
{
    for (size_t i = 0; i < t->n_spans; i++)
        order[i] = (uint32_t)i;
    tg_trace_sort_list(t, order, t->n_spans);
}
