/*
 * How device work followed its launches, per step: delays, outliers among calls and work, and how
 * much work waited on the streams. The queue of a stream is +1 when the launching call starts and
 * -1 when the work starts, launches first at equal times; the time until its next change belongs
 * to the step of the work that changed it. So the sums over steps are those of the whole trace
 * (core/analysis/queue.c).
 */
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/sort.h"
#include "core/metric/internal.h"

struct edge {
    tg_ns at;
    int32_t step;
    int change;
};

/* The linked work of one stream, twice: four bytes each, where an edge has 16. */
struct lane {
    const struct tg_trace *t;
    const struct tg_steps *s;
    uint32_t *launches,
        *starts; /* by the start of the launching call; by its own, if that is later */
    size_t n, next_launch, next_start;
};

static tg_ns launched_at(const struct lane *l, uint32_t work)
{
    return tg_span_at(l->t, l->s->launch[work])->start;
}

static tg_ns started_at(const struct lane *l, uint32_t work)
{
    tg_ns call = launched_at(l, work), start = tg_span_at(l->t, work)->start;
    return start > call ? start : call;
}

static int by_launch(const void *pa, const void *pb, void *lane)
{
    const struct lane *l = lane;
    uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
    int c = TG_CMP(launched_at(l, a), launched_at(l, b));
    return c ? c : TG_CMP(l->s->step_of[a], l->s->step_of[b]);
}

static int by_start(const void *pa, const void *pb, void *lane)
{
    const struct lane *l = lane;
    uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
    int c = TG_CMP(started_at(l, a), started_at(l, b));
    return c ? c : TG_CMP(l->s->step_of[a], l->s->step_of[b]);
}

static bool next_edge(struct lane *l, struct edge *out)
{
    bool launches = l->next_launch < l->n, starts = l->next_start < l->n;
    uint32_t launch = launches ? l->launches[l->next_launch] : 0;
    uint32_t start = starts ? l->starts[l->next_start] : 0;
    if (launches && (!starts || launched_at(l, launch) <= started_at(l, start))) {
        *out = (struct edge){ launched_at(l, launch), l->s->step_of[launch], 1 };
        l->next_launch++;
        return true;
    }
    if (starts)
        *out = (struct edge){ started_at(l, start), l->s->step_of[start], -1 };
    l->next_start += starts;
    return starts;
}

static void add(struct tg_metric_value *v, int64_t num, int64_t den)
{
    if (!v->known)
        *v = (struct tg_metric_value){ true, 0, 0 };
    v->num = tg_ns_add(v->num, num);
    v->den = tg_ns_add(v->den, den);
}

static void walk_queue(struct lane *l, struct tg_metric_value *out)
{
    size_t n_steps = l->s->n;
    int64_t length = 0;
    struct edge next;
    for (bool more = next_edge(l, &next); more;) {
        struct edge e = next;
        size_t step = (size_t)e.step;
        tg_ns time = (more = next_edge(l, &next)) ? tg_ns_sub(next.at, e.at) : 0;
        length += e.change;
        if (e.step < 0)
            continue;
        struct tg_metric_value *most = &out[TG_METRIC_QUEUE_MAX * n_steps + step];
        int64_t area;
        if (__builtin_mul_overflow(length, time, &area))
            area = INT64_MAX;
        add(&out[TG_METRIC_QUEUE_MEAN * n_steps + step], area, time);
        add(&out[TG_METRIC_QUEUE_FULL * n_steps + step], length >= TG_FULL_QUEUE ? time : 0, time);
        if (!most->known || length > most->num)
            *most = (struct tg_metric_value){ true, length, 1 };
    }
}

static tg_ns duration(const struct tg_span *s)
{
    return s->dur > 0 ? s->dur : 0;
}

static bool is_launched(const struct tg_trace *t, const struct tg_steps *s, uint32_t i)
{
    return s->launch[i] != TG_NO_SPAN && tg_is_work(t, tg_span_at(t, i));
}

static void measure_queues(const struct tg_trace *t, const struct tg_steps *s,
                           struct tg_metric_value *out)
{
    TG_FREE uint32_t *starts = tg_xrealloc(NULL, s->n_device + 1, sizeof *starts);
    TG_FREE size_t *end = tg_xcalloc(s->lanes.n_streams + 1, sizeof *end);
    size_t n = 0;
    for (size_t k = 0; k < s->n_device; k++)
        if (is_launched(t, s, s->device[k]))
            starts[n++] = s->device[k];
    TG_FREE uint32_t *launches =
        tg_trace_group(t, starts, n, s->lanes.stream, s->lanes.n_streams, end);
    memcpy(starts, launches, n * sizeof *starts);
    /* On a stream both are nearly always in order. */
    for (size_t k = 0, from = 0; k < s->lanes.n_streams; from = end[k++]) {
        struct lane l = { t, s, launches + from, starts + from, end[k] - from, 0, 0 };
        tg_sort_runs(l.launches, l.n, sizeof *l.launches, by_launch, &l);
        tg_sort_runs(l.starts, l.n, sizeof *l.starts, by_start, &l);
        walk_queue(&l, out);
    }
    /* A mean over no time is unknown. */
    for (size_t k = 0; k < s->n; k++)
        for (int m = 0; m < 2; m++) {
            struct tg_metric_value *v =
                &out[(m ? TG_METRIC_QUEUE_FULL : TG_METRIC_QUEUE_MEAN) * s->n + k];
            v->known &= v->den > 0;
        }
}

void tg_measure_launches(const struct tg_trace *t, const struct tg_steps *s,
                         struct tg_metric_value *out)
{
    bool *counted = tg_xcalloc(t->n_spans + 1, 1);
    for (size_t k = 0; k < s->n; k++) {
        out[TG_METRIC_SHORT_KERNELS * s->n + k].known = true;
        out[TG_METRIC_DELAY_OUTLIERS * s->n + k].known = true;
        out[TG_METRIC_RUNTIME_OUTLIERS * s->n + k].known = true;
    }
    for (size_t k = 0; k < s->n_device; k++) {
        uint32_t i = s->device[k];
        const struct tg_span *work = tg_span_at(t, i), *call;
        if (!is_launched(t, s, i))
            continue;
        call = tg_span_at(t, s->launch[i]);
        if (s->step_of[i] >= 0) {
            size_t step = (size_t)s->step_of[i];
            tg_ns delay = tg_ns_sub(work->start, tg_span_end(call));
            add(&out[TG_METRIC_LAUNCH_DELAY * s->n + step], delay > 0 ? delay : 0, 1);
            out[TG_METRIC_SHORT_KERNELS * s->n + step].num += duration(work) < duration(call);
            out[TG_METRIC_DELAY_OUTLIERS * s->n + step].num += delay > TG_LONG_DELAY_NS;
            out[TG_METRIC_RUNTIME_OUTLIERS * s->n + step].num +=
                !counted[s->launch[i]] && duration(call) > TG_LONG_CALL_NS;
        }
        counted[s->launch[i]] = true;
    }
    free(counted);
    measure_queues(t, s, out);
}
