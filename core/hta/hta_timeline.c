#include "core/hta/hta_timeline.h"

#include <stdlib.h>

#include "core/base/sort.h"
#include "core/hta/hta.h"

bool tg_hta_step_number(tg_sv name, int64_t *number)
{
    size_t i = sizeof "ProfilerStep" - 1;
    int64_t n = 0;
    bool any = false, hash = false;
    if (!tg_sv_starts(name, TG_SV("ProfilerStep")))
        return false;
    for (; i < name.n && (name.p[i] == ' ' || (name.p[i] == '#' && !hash)); i++)
        hash |= name.p[i] == '#';
    for (; i < name.n && name.p[i] >= '0' && name.p[i] <= '9' && n < INT64_MAX / 16; i++) {
        n = n * 10 + (name.p[i] - '0');
        any = true;
    }
    *number = n;
    return hash && any;
}

struct window {
    double start, end;
    int64_t number;
    size_t order; /* position in the file */
};

static int by_start(const void *pa, const void *pb)
{
    const struct window *a = pa, *b = pb;
    return TG_CMP(a->start, b->start);
}

/* A heap of windows, the last of the file on top. */
static void heap_push(const struct window **h, size_t *n, const struct window *w)
{
    size_t i = (*n)++;
    for (; i && h[(i - 1) / 2]->order < w->order; i = (i - 1) / 2)
        h[i] = h[(i - 1) / 2];
    h[i] = w;
}

static void heap_pop(const struct window **h, size_t *n)
{
    const struct window *w = h[--*n];
    size_t i = 0, child;
    for (; (child = 2 * i + 1) < *n; i = child) {
        if (child + 1 < *n && h[child + 1]->order > h[child]->order)
            child++;
        if (h[child]->order <= w->order)
            break;
        h[i] = h[child];
    }
    h[i] = w;
}

static void build(struct tg_hta_timeline *l, struct window *w, size_t n)
{
    TG_FREE const struct window **heap = tg_xmalloc((n + 1) * sizeof *heap);
    size_t heaped = 0, next = 0;
    l->at = tg_xmalloc((2 * n + 1) * sizeof *l->at);
    l->number = tg_xmalloc((2 * n + 1) * sizeof *l->number);
    l->n = 2 * n;
    TG_SORT(w, n, by_start);
    for (size_t i = 0; i < n; i++) {
        l->at[2 * i] = w[i].start;
        l->at[2 * i + 1] = w[i].end;
    }
    TG_SORT(l->at, l->n, tg_by_real);
    for (size_t i = 0; i < l->n; i++) {
        while (next < n && w[next].start <= l->at[i])
            heap_push(heap, &heaped, &w[next++]);
        while (heaped && heap[0]->end <= l->at[i])
            heap_pop(heap, &heaped);
        l->number[i] = heaped ? heap[0]->number : -1;
    }
}

int64_t tg_hta_timeline_find(const struct tg_hta_timeline *l, double ts)
{
    size_t after; /* first change after ts */
    TG_SEARCH(after, l->n, l->at[after] <= ts);
    return after ? l->number[after - 1] : -1;
}

void tg_hta_timeline_init(struct tg_hta_timeline *l, const struct tg_trace *t, bool rounded)
{
    TG_FREE struct window *w = NULL;
    size_t n = 0, cap = 0;
    for (size_t i = 0; i < t->n_spans; i++) {
        int64_t number;
        if (!tg_hta_step_number(tg_span_name(t, tg_span_at(t, i))->name, &number))
            continue;
        struct tg_hta_row row = tg_hta_row_at(t, i, rounded);
        if (!(row.dur > 0)) /* covers nothing; the same for NaN */
            continue;
        struct window one = { row.ts, row.ts + row.dur, number, n };
        *TG_PUSH(w, n, cap) = one;
    }
    build(l, w, n);
}

void tg_hta_timeline_release(struct tg_hta_timeline *l)
{
    free(l->at);
    free(l->number);
}
