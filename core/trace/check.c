#include "core/trace/check.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/sort.h"

/* The start itself if a damaged duration would leave the range. */
static tg_ns end_of(const struct tg_span *s)
{
    tg_ns end;
    return __builtin_add_overflow(s->start, s->dur, &end) ? s->start : end;
}

/* ---- work on one stream ---- */

/* Spans that are work on a device, stream after stream, in time: four bytes each. */
struct lanes {
    struct tg_lanes of;
    size_t *end;    /* per stream: one past its last span */
    uint32_t *span; /* by stream, then by start and end */
};

static int by_time(const void *pa, const void *pb, void *arg)
{
    const struct tg_trace *t = arg;
    const struct tg_span *a = tg_span_at(t, *(const uint32_t *)pa);
    const struct tg_span *b = tg_span_at(t, *(const uint32_t *)pb);
    int c = TG_CMP(a->start, b->start);
    return c ? c : TG_CMP(end_of(a), end_of(b));
}

static void lanes_init(struct lanes *l, const struct tg_trace *t, const uint32_t *v, size_t n_v)
{
    size_t sum = 0;
    tg_lanes_init(&l->of, t);
    l->end = tg_xcalloc(l->of.n_streams + 1, sizeof *l->end);
    for (size_t i = 0; i < n_v; i++) {
        const struct tg_span *s = tg_span_at(t, v[i]);
        l->end[l->of.stream[s->track]] += tg_kind_is_device(tg_span_kind(t, s));
    }
    for (size_t k = 0; k < l->of.n_streams; k++) {
        size_t n = l->end[k];
        l->end[k] = sum; /* its beginning, until it is filled */
        sum += n;
    }
    l->span = tg_xrealloc(NULL, sum + 1, sizeof *l->span);
    for (size_t i = 0; i < n_v; i++) {
        const struct tg_span *s = tg_span_at(t, v[i]);
        if (tg_kind_is_device(tg_span_kind(t, s)))
            l->span[l->end[l->of.stream[s->track]]++] = v[i];
    }
    for (size_t k = 0, from = 0; k < l->of.n_streams; from = l->end[k++])
        tg_sort_runs(l->span + from, l->end[k] - from, sizeof *l->span, by_time,
                     (void *)(uintptr_t)t);
}

/*
 * Work on one stream runs one after the other: a span that runs past the next start is suspicious.
 */
static void count_overlap(const struct tg_span *a, const struct tg_span *b,
                          struct tg_integrity *out)
{
    tg_ns over, sum;
    /* Times at the two ends of the range are far apart, whatever their difference would be. */
    if (__builtin_sub_overflow(end_of(a), b->start, &over) || over <= 0)
        return;
    out->overlapping++;
    if (!__builtin_add_overflow(out->overlapping_ns, over, &sum))
        out->overlapping_ns = sum;
}

static void count_overlaps(const struct tg_trace *t, const uint32_t *v, size_t n,
                           struct tg_integrity *out)
{
    struct lanes l;
    lanes_init(&l, t, v, n);
    for (size_t k = 0, i = 0; k < l.of.n_streams; i = l.end[k++])
        for (; i + 1 < l.end[k]; i++) {
            const struct tg_span *a = tg_span_at(t, l.span[i]);
            if (t->tracks[a->track].stream != TG_NO_STREAM)
                count_overlap(a, tg_span_at(t, l.span[i + 1]), out);
        }
    tg_lanes_release(&l.of);
    free(l.end);
    free(l.span);
}

/* ---- each span by itself ---- */

/*
 * The longest that a kernel may take: from the first start of a step or of the device to the last
 * end of a step or start of the device. A host that runs ahead has short steps, however long the
 * device takes. In one step the last kernel may take any time.
 */
static tg_ns longest_kernel(const struct tg_trace *t, const uint32_t *v, size_t n)
{
    tg_ns first = INT64_MAX, last = INT64_MIN, longest;
    size_t steps = 0;
    for (size_t i = 0; i < n; i++) {
        const struct tg_span *s = tg_span_at(t, v[i]);
        bool step = tg_span_kind(t, s) == TG_KIND_STEP;
        tg_ns end = step ? end_of(s) : s->start;
        first = s->start < first ? s->start : first;
        last = end > last ? end : last;
        steps += step;
    }
    return steps < 2 || __builtin_sub_overflow(last, first, &longest) ? INT64_MAX : longest;
}

void tg_trace_check(struct tg_trace *t, bool python_aside)
{
    struct tg_integrity *out = &t->integrity;
    TG_FREE uint32_t *v = NULL; /* steps, and work on devices */
    size_t n = 0, cap = 0;
    for (size_t i = 0; i < t->n_spans; i++) {
        const struct tg_span *s = tg_span_at(t, i);
        enum tg_kind kind = tg_span_kind(t, s);
        out->negative_durations += s->dur < 0 && !(python_aside && kind == TG_KIND_PYTHON);
        if (kind == TG_KIND_STEP || tg_kind_is_device(kind))
            *TG_PUSH(v, n, cap) = (uint32_t)i;
    }
    tg_ns longest = longest_kernel(t, v, n);
    for (size_t i = 0; i < n; i++) {
        const struct tg_span *s = tg_span_at(t, v[i]);
        enum tg_kind kind = tg_span_kind(t, s);
        out->zero_kernels += kind == TG_KIND_KERNEL && s->start == 0 && s->dur == 0;
        out->longer_than_step += kind == TG_KIND_KERNEL && s->dur > longest;
    }
    count_overlaps(t, v, n, out);
}
