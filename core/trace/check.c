#include "core/trace/check.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"

/* Four bytes a device span, eight a launch; for their set at most eight more. */
struct checker {
    const struct tg_trace *t;
    uint32_t *device; /* spans that are work on a device */
    size_t n_device, cap_device;
    int64_t *launch; /* correlations of calls */
    size_t n_launch, cap_launch;
};

static int compare_ints(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* The start itself where a damaged duration would leave the range. */
static tg_ns end_of(const struct tg_span *s)
{
    tg_ns end;
    return __builtin_add_overflow(s->start, s->dur, &end) ? s->start : end;
}

static int by_stream(const void *pa, const void *pb, void *arg)
{
    const struct tg_trace *t = arg;
    const struct tg_span *a = tg_span_at(t, *(const uint32_t *)pa);
    const struct tg_span *b = tg_span_at(t, *(const uint32_t *)pb);
    const struct tg_track *ka = &t->tracks[a->track], *kb = &t->tracks[b->track];
    int c = compare_ints(ka->device, kb->device);
    if (!c)
        c = compare_ints(ka->stream, kb->stream);
    if (!c)
        c = compare_ints(a->start, b->start);
    return c ? c : compare_ints(end_of(a), end_of(b));
}

/* Work on one stream runs one after the other: whoever runs past the next start is suspicious. */
static void count_overlaps(struct checker *c, struct tg_integrity *out)
{
    if (c->n_device > 1)
        qsort_r(c->device, c->n_device, sizeof *c->device, by_stream, (void *)(uintptr_t)c->t);
    for (size_t i = 1; i < c->n_device; i++) {
        const struct tg_span *a = tg_span_at(c->t, c->device[i - 1]);
        const struct tg_span *b = tg_span_at(c->t, c->device[i]);
        const struct tg_track *ka = &c->t->tracks[a->track], *kb = &c->t->tracks[b->track];
        tg_ns over, sum;
        /* Times at the two ends of the range lie apart, whatever their difference would be. */
        if (ka->device != kb->device || ka->stream != kb->stream || ka->stream == TG_NO_STREAM ||
            __builtin_sub_overflow(end_of(a), b->start, &over) || over <= 0)
            continue;
        out->overlapping++;
        if (!__builtin_add_overflow(out->overlapping_ns, over, &sum))
            out->overlapping_ns = sum;
    }
}

static int by_value(const void *pa, const void *pb)
{
    return compare_ints(*(const int64_t *)pa, *(const int64_t *)pb);
}

/* The set of the launches' numbers: a bit each from the least on where they lie close together, as a
 * profiler's counter gives them; else `bit` is NULL and c->launch is sorted. */
struct launches {
    uint64_t *bit;
    uint64_t least, range; /* range: the greatest less the least */
};

static void launches_init(struct launches *l, struct checker *c)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    size_t words;
    for (size_t i = 0; i < c->n_launch; i++) {
        least = c->launch[i] < least ? c->launch[i] : least;
        most = c->launch[i] > most ? c->launch[i] : most;
    }
    *l = (struct launches){ NULL, (uint64_t)least, (uint64_t)most - (uint64_t)least };
    if (l->range / 64 >= c->n_launch) {
        qsort(c->launch, c->n_launch, sizeof *c->launch, by_value);
        return;
    }
    words = (size_t)(l->range / 64) + 1;
    l->bit = tg_xmalloc(words * sizeof *l->bit);
    memset(l->bit, 0, words * sizeof *l->bit);
    for (size_t i = 0; i < c->n_launch; i++) {
        uint64_t k = (uint64_t)c->launch[i] - l->least;
        l->bit[k / 64] |= (uint64_t)1 << k % 64;
    }
}

static bool launches_have(const struct launches *l, const struct checker *c, int64_t number)
{
    uint64_t k = (uint64_t)number - l->least;
    if (l->bit)
        return k <= l->range && l->bit[k / 64] >> k % 64 & 1;
    return bsearch(&number, c->launch, c->n_launch, sizeof *c->launch, by_value);
}

static void count_unlinked(struct checker *c, struct tg_integrity *out)
{
    struct launches l;
    if (!c->n_launch) {
        out->unlinked += c->n_device;
        return;
    }
    launches_init(&l, c);
    for (size_t i = 0; i < c->n_device; i++) {
        int64_t correlation = tg_span_at(c->t, c->device[i])->correlation;
        out->unlinked += correlation == TG_NO_CORRELATION || !launches_have(&l, c, correlation);
    }
    free(l.bit);
}

static bool is_launch(enum tg_kind k)
{
    return k == TG_KIND_RUNTIME || k == TG_KIND_GRAPH || k == TG_KIND_SYNC || k == TG_KIND_OP;
}

static void collect(struct checker *c, size_t i, const struct tg_span *s, enum tg_kind kind)
{
    if (tg_kind_is_device(kind)) {
        c->device = tg_grow(c->device, &c->cap_device, c->n_device + 1, sizeof *c->device);
        c->device[c->n_device++] = (uint32_t)i;
    } else if (is_launch(kind) && s->correlation != TG_NO_CORRELATION) {
        c->launch = tg_grow(c->launch, &c->cap_launch, c->n_launch + 1, sizeof *c->launch);
        c->launch[c->n_launch++] = s->correlation;
    }
}

void tg_trace_check(struct tg_trace *t)
{
    struct checker c = { .t = t };
    struct tg_integrity *out = &t->integrity;
    tg_ns step = -1;
    for (size_t i = 0; i < t->n_spans; i++) {
        const struct tg_span *s = tg_span_at(t, i);
        enum tg_kind kind = tg_span_kind(t, s);
        out->negative_durations += s->dur < 0;
        out->zero_kernels += kind == TG_KIND_KERNEL && s->start == 0 && s->dur == 0;
        if (kind == TG_KIND_STEP && s->dur > step)
            step = s->dur;
        collect(&c, i, s, kind);
    }
    for (size_t i = 0; i < c.n_device && step >= 0; i++) {
        const struct tg_span *s = tg_span_at(t, c.device[i]);
        out->longer_than_step += tg_span_kind(t, s) == TG_KIND_KERNEL && s->dur > step;
    }
    count_overlaps(&c, out);
    count_unlinked(&c, out);
    free(c.device);
    free(c.launch);
}
