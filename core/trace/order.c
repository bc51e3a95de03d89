#include <stdlib.h>

#include "core/base/arena.h"
#include "core/trace/trace.h"

/*
 * The start nearly always decides, so it is sorted by radix and only runs of equal starts are
 * compared. Names and threads are ranked once: comparing two spans never compares text.
 */
struct ranks {
    const struct tg_trace *t;
    uint32_t *name, *thread; /* id -> position in byte order */
};

/* A list of spans that is being sorted. */
struct list {
    const struct tg_trace *t;
    uint32_t *v;
    size_t n;
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
    if (!c && r->t->segment->correlations)
        c = TG_CMP(*tg_correlation_at(r->t, *(const uint32_t *)pa),
                   *tg_correlation_at(r->t, *(const uint32_t *)pb));
    return c ? c : TG_CMP(a->index, b->index);
}

#define RADIX_BITS 11
#define BUCKETS ((size_t)1 << RADIX_BITS)

static uint64_t start_key(const struct tg_trace *t, uint32_t i, tg_ns least)
{
    return (uint64_t)tg_span_at(t, i)->start - (uint64_t)least;
}

static void radix_pass(const struct list *l, tg_ns least, unsigned shift, const uint32_t *from,
                       uint32_t *to)
{
    const struct tg_trace *t = l->t;
    size_t count[BUCKETS] = { 0 }, sum = 0;
    for (size_t i = 0; i < l->n; i++)
        count[start_key(t, from[i], least) >> shift & (BUCKETS - 1)]++;
    for (size_t b = 0; b < BUCKETS; b++) {
        size_t n = count[b];
        count[b] = sum;
        sum += n;
    }
    for (size_t i = 0; i < l->n; i++)
        to[count[start_key(t, from[i], least) >> shift & (BUCKETS - 1)]++] = from[i];
}

/* By start alone; equal starts keep their order. */
static void sort_starts(const struct list *l)
{
    uint32_t *other = tg_xmalloc(l->n * sizeof *other), *from = l->v, *to = other;
    tg_ns least = INT64_MAX, most = INT64_MIN;
    for (size_t i = 0; i < l->n; i++) {
        tg_ns start = tg_span_at(l->t, l->v[i])->start;
        least = start < least ? start : least;
        most = start > most ? start : most;
    }
    for (unsigned shift = 0; shift < 64 && l->n && ((uint64_t)most - (uint64_t)least) >> shift != 0;
         shift += RADIX_BITS) {
        uint32_t *swap = from;
        radix_pass(l, least, shift, from, to);
        from = to;
        to = swap;
    }
    if (from != l->v)
        memcpy(l->v, from, l->n * sizeof *l->v);
    free(other);
}

void tg_trace_sort_list(const struct tg_trace *t, uint32_t *list, size_t n)
{
    struct ranks r = { t, rank(t, t->names->n, by_name), rank(t, t->n_threads, by_thread) };
    sort_starts(&(struct list){ t, list, n });
    for (size_t i = 0, j; i < n; i = j) {
        tg_ns start = tg_span_at(t, list[i])->start;
        for (j = i + 1; j < n && tg_span_at(t, list[j])->start == start;)
            j++;
        if (j - i > 1)
            qsort_r(list + i, j - i, sizeof *list, by_rest, &r);
    }
    free(r.name);
    free(r.thread);
}

void tg_trace_sort(const struct tg_trace *t, uint32_t *order)
{
    for (size_t i = 0; i < t->n_spans; i++)
        order[i] = (uint32_t)i;
    tg_trace_sort_list(t, order, t->n_spans);
}
