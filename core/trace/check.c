#include "core/trace/check.h"

#include <stdlib.h>

#include "core/base/arena.h"

/* A piece of work on a stream, or a launch: the part of a span that the checks need. */
struct work {
    int64_t device, stream, correlation;
    tg_ns start, end;
};

struct works {
    struct work *v;
    size_t n, cap;
};

static void add(struct works *w, struct work x)
{
    w->v = tg_grow(w->v, &w->cap, w->n + 1, sizeof *w->v);
    w->v[w->n++] = x;
}

static int compare_ints(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_stream(const void *pa, const void *pb)
{
    const struct work *a = pa, *b = pb;
    int c = compare_ints(a->device, b->device);
    if (!c)
        c = compare_ints(a->stream, b->stream);
    if (!c)
        c = compare_ints(a->start, b->start);
    return c ? c : compare_ints(a->end, b->end);
}

static int by_correlation(const void *pa, const void *pb)
{
    const struct work *a = pa, *b = pb;
    return compare_ints(a->correlation, b->correlation);
}

/* Work on one stream runs one after the other: whoever runs past the next start is suspicious. */
static void count_overlaps(struct works *device, struct tg_integrity *out)
{
    if (device->n > 1)
        qsort(device->v, device->n, sizeof *device->v, by_stream);
    for (size_t i = 1; i < device->n; i++) {
        const struct work *a = &device->v[i - 1], *b = &device->v[i];
        tg_ns over, sum;
        /* Times at the two ends of the range lie apart, whatever their difference would be. */
        if (__builtin_sub_overflow(a->end, b->start, &over) || a->device != b->device ||
            a->stream != b->stream || a->stream == TG_NO_STREAM || over <= 0)
            continue;
        out->overlapping++;
        if (!__builtin_add_overflow(out->overlapping_ns, over, &sum))
            out->overlapping_ns = sum;
    }
}

static void count_unlinked(const struct works *device, struct works *launches,
                           struct tg_integrity *out)
{
    if (launches->n > 1)
        qsort(launches->v, launches->n, sizeof *launches->v, by_correlation);
    for (size_t i = 0; i < device->n; i++)
        out->unlinked +=
            device->v[i].correlation == TG_NO_CORRELATION || !launches->n ||
            !bsearch(&device->v[i], launches->v, launches->n, sizeof *launches->v, by_correlation);
}

static bool is_launch(enum tg_kind k)
{
    return k == TG_KIND_RUNTIME || k == TG_KIND_GRAPH || k == TG_KIND_SYNC || k == TG_KIND_OP;
}

void tg_trace_check(struct tg_trace *t)
{
    struct works device = { 0 }, launches = { 0 };
    tg_ns step = -1;
    for (size_t i = 0; i < t->n_spans; i++) {
        const struct tg_span *s = tg_span_at(t, i);
        const struct tg_track *k = &t->tracks[s->track];
        enum tg_kind kind = tg_span_kind(t, s);
        tg_ns end;
        struct work w = { k->device, k->stream, s->correlation, s->start, s->start };
        if (!__builtin_add_overflow(s->start, s->dur, &end))
            w.end = end;
        t->integrity.negative_durations += s->dur < 0;
        t->integrity.zero_kernels += kind == TG_KIND_KERNEL && s->start == 0 && s->dur == 0;
        if (kind == TG_KIND_STEP && s->dur > step)
            step = s->dur;
        if (tg_kind_is_device(kind))
            add(&device, w);
        else if (is_launch(kind) && s->correlation != TG_NO_CORRELATION)
            add(&launches, w);
    }
    for (size_t i = 0; i < t->n_spans && step >= 0; i++) {
        const struct tg_span *s = tg_span_at(t, i);
        t->integrity.longer_than_step += tg_span_kind(t, s) == TG_KIND_KERNEL && s->dur > step;
    }
    count_overlaps(&device, &t->integrity);
    count_unlinked(&device, &launches, &t->integrity);
    free(device.v);
    free(launches.v);
}
