#include <stdlib.h>

#include "core/base/arena.h"
#include "core/trace/trace.h"

/* Spans are dealt into slices of time, and only those of one slice are compared. Names and threads
 * are ranked once: comparing two spans never compares text. */
struct ranks {
    const struct tg_trace *t;
    uint32_t *name, *thread; /* id -> position in byte order */
};

static int by_name(const void *pa, const void *pb, void *arg)
{
    const struct tg_trace *t = arg;
    const struct tg_name *a = &t->names->v[*(const uint32_t *)pa];
    const struct tg_name *b = &t->names->v[*(const uint32_t *)pb];
    int c = tg_sv_cmp(a->cat, b->cat);
    return c ? c : tg_sv_cmp(a->name, b->name);
}

static int by_thread(const void *pa, const void *pb, void *arg)
{
    const struct tg_trace *t = arg;
    const struct tg_thread *a = &t->threads[*(const uint32_t *)pa];
    const struct tg_thread *b = &t->threads[*(const uint32_t *)pb];
    int c = tg_sv_cmp(a->pid, b->pid);
    return c ? c : tg_sv_cmp(a->tid, b->tid);
}

static uint32_t *rank(const struct tg_trace *t, size_t n,
                      int (*compare)(const void *, const void *, void *))
{
    uint32_t *sorted = tg_xmalloc(n * sizeof *sorted), *out = tg_xmalloc(n * sizeof *out);
    for (size_t i = 0; i < n; i++)
        sorted[i] = (uint32_t)i;
    if (n > 1)
        qsort_r(sorted, n, sizeof *sorted, compare, (void *)(uintptr_t)t);
    for (size_t i = 0; i < n; i++)
        out[sorted[i]] = (uint32_t)i;
    free(sorted);
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
    struct ranks r = { t, rank(t, t->names->n, by_name), rank(t, t->n_threads, by_thread) };
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
