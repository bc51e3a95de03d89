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
    uint32_t lane; /* dense stream */
    int32_t step;
    tg_ns at;
    int change;
};

static int by_lane_and_time(const void *pa, const void *pb)
{
    const struct edge *a = pa, *b = pb;
    if (a->lane != b->lane)
        return a->lane < b->lane ? -1 : 1;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    if (a->change != b->change)
        return a->change > b->change ? -1 : 1;
    return (a->step > b->step) - (a->step < b->step);
}

static void add(struct tg_measure_value *v, int64_t num, int64_t den)
{
    if (!v->known)
        *v = (struct tg_measure_value){ true, 0, 0 };
    v->num = tg_ns_add(v->num, num);
    v->den = tg_ns_add(v->den, den);
}

/* length * time, saturating. */
static int64_t area(int64_t length, tg_ns time)
{
    int64_t v;
    return __builtin_mul_overflow(length, time, &v) ? INT64_MAX : v;
}

static void walk_queues(const struct edge *e, size_t n, size_t n_steps,
                        struct tg_measure_value *out)
{
    int64_t length = 0;
    for (size_t i = 0; i < n; i++) {
        size_t step = (size_t)e[i].step;
        bool last = i + 1 == n || e[i + 1].lane != e[i].lane;
        tg_ns time = last ? 0 : tg_ns_sub(e[i + 1].at, e[i].at);
        length += e[i].change;
        if (e[i].step >= 0) {
            struct tg_measure_value *most = &out[TG_MEASURE_QUEUE_MAX * n_steps + step];
            add(&out[TG_MEASURE_QUEUE_MEAN * n_steps + step], area(length, time), time);
            add(&out[TG_MEASURE_QUEUE_FULL * n_steps + step], length >= TG_FULL_QUEUE ? time : 0,
                time);
            if (!most->known || length > most->num)
                *most = (struct tg_measure_value){ true, length, 1 };
        }
        if (last)
            length = 0;
    }
    /* A mean over no time is unknown. */
    for (size_t k = 0; k < n_steps; k++)
        for (int m = 0; m < 2; m++) {
            struct tg_measure_value *v =
                &out[(m ? TG_MEASURE_QUEUE_FULL : TG_MEASURE_QUEUE_MEAN) * n_steps + k];
            if (v->known && v->den <= 0)
                *v = (struct tg_measure_value){ false, 0, 1 };
        }
}

static tg_ns duration(const struct tg_span *s)
{
    return s->dur > 0 ? s->dur : 0;
}

static void count(const struct tg_span *call, const struct tg_span *work, bool first_of_call,
                  size_t step, size_t n_steps, struct tg_measure_value *out)
{
    tg_ns delay = tg_ns_sub(work->start, tg_span_end(call));
    add(&out[TG_MEASURE_LAUNCH_DELAY * n_steps + step], delay > 0 ? delay : 0, 1);
    out[TG_MEASURE_SHORT_KERNELS * n_steps + step].num += duration(work) < duration(call);
    out[TG_MEASURE_DELAY_OUTLIERS * n_steps + step].num += delay > TG_LONG_DELAY_NS;
    out[TG_MEASURE_RUNTIME_OUTLIERS * n_steps + step].num +=
        first_of_call && duration(call) > TG_LONG_CALL_NS;
}

static bool is_launched(const struct tg_trace *t, const struct tg_steps *s, uint32_t i)
{
    return s->launch[i] != TG_NO_SPAN && tg_is_work(t, tg_span_at(t, i));
}

/* Where each lane's launches and, after them, its starts go; returns the total number. */
static size_t lay_out(const struct tg_trace *t, const struct tg_steps *s, size_t *launches,
                      size_t *starts)
{
    size_t n = 0;
    memset(launches, 0, s->lanes.n_streams * sizeof *launches);
    for (uint32_t i = 0; i < t->n_spans; i++)
        if (is_launched(t, s, i))
            launches[s->lanes.stream[tg_span_at(t, i)->track]]++;
    for (size_t k = 0; k < s->lanes.n_streams; k++) {
        size_t of_lane = launches[k];
        launches[k] = n;
        starts[k] = n + of_lane;
        n += 2 * of_lane;
    }
    return n;
}

/* The launches of each lane, then its starts: on a stream both are nearly always in order. */
static struct edge *sorted_edges(const struct tg_trace *t, const struct tg_steps *s, size_t *n)
{
    size_t *launches = tg_xrealloc(NULL, s->lanes.n_streams + 1, sizeof *launches);
    size_t *starts = tg_xrealloc(NULL, s->lanes.n_streams + 1, sizeof *starts);
    struct edge *out;
    *n = lay_out(t, s, launches, starts);
    out = tg_xrealloc(NULL, *n + 1, sizeof *out);
    for (size_t k = 0; k < t->n_spans; k++) {
        uint32_t i = s->order[k];
        const struct tg_span *work = tg_span_at(t, i);
        tg_ns call;
        uint32_t lane;
        if (!is_launched(t, s, i))
            continue;
        call = tg_span_at(t, s->launch[i])->start;
        lane = s->lanes.stream[work->track];
        out[launches[lane]++] = (struct edge){ lane, s->step_of[i], call, 1 };
        out[starts[lane]++] =
            (struct edge){ lane, s->step_of[i], work->start > call ? work->start : call, -1 };
    }
    free(launches);
    free(starts);
    tg_sort_runs(out, *n, sizeof *out, by_lane_and_time);
    return out;
}

void tg_measure_launches(const struct tg_trace *t, const struct tg_steps *s,
                         struct tg_measure_value *out)
{
    bool *counted = tg_xmalloc(t->n_spans + 1);
    struct edge *edges;
    size_t n;
    memset(counted, 0, t->n_spans + 1);
    for (size_t k = 0; k < s->n; k++) {
        out[TG_MEASURE_SHORT_KERNELS * s->n + k].known = true;
        out[TG_MEASURE_DELAY_OUTLIERS * s->n + k].known = true;
        out[TG_MEASURE_RUNTIME_OUTLIERS * s->n + k].known = true;
    }
    for (size_t k = 0; k < t->n_spans; k++) {
        uint32_t i = s->order[k];
        const struct tg_span *work = tg_span_at(t, i), *call;
        if (!is_launched(t, s, i))
            continue;
        call = tg_span_at(t, s->launch[i]);
        if (s->step_of[i] >= 0)
            count(call, work, !counted[s->launch[i]], (size_t)s->step_of[i], s->n, out);
        counted[s->launch[i]] = true;
    }
    edges = sorted_edges(t, s, &n);
    walk_queues(edges, n, s->n, out);
    free(edges);
    free(counted);
}
