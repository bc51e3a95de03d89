#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/sort.h"
#include "core/steps/internal.h"

#define NOWHERE (-1) /* outside every step */
#define NOT_YET (-2)

/* The step whose window contains `at`; windows are disjoint and in start order. */
static int32_t step_at(const struct tg_steps *s, tg_ns at)
{
    size_t i;
    TG_SEARCH(i, s->n, s->v[i].start <= at);
    return i && at < s->v[i - 1].end ? (int32_t)(i - 1) : NOWHERE;
}

/*
 * When a device worked for each step, from its linked work, and a cursor over these windows that
 * moves with time. Windows of different steps may overlap (streams); only an unambiguous answer
 * counts.
 */
struct edge {
    tg_ns at;
    int32_t step;
};
struct windows {
    struct edge *first, *last; /* by time; n each */
    size_t n, i_first, i_last;
    int64_t open, sum; /* number of open windows and sum of their steps */
};

static int by_time(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    int c = TG_CMP(x->at, y->at);
    return c ? c : TG_CMP(x->step, y->step);
}

static int32_t window_at(struct windows *w, tg_ns at)
{
    for (; w->i_first < w->n && w->first[w->i_first].at <= at; w->i_first++, w->open++)
        w->sum += w->first[w->i_first].step;
    for (; w->i_last < w->n && w->last[w->i_last].at < at; w->i_last++, w->open--)
        w->sum -= w->last[w->i_last].step;
    return w->open == 1 ? (int32_t)w->sum : NOT_YET;
}

/* Windows of all devices, from the spans that are placed already. */
static struct windows *windows_new(const struct tg_steps *out, const struct tg_trace *t,
                                   const struct tg_lanes *l)
{
    struct windows *w = tg_xrealloc(NULL, l->n_devices ? l->n_devices : 1, sizeof *w);
    for (size_t d = 0; d < l->n_devices; d++) {
        w[d] = (struct windows){ .first = tg_xrealloc(NULL, out->n, sizeof(struct edge)),
                                 .last = tg_xrealloc(NULL, out->n, sizeof(struct edge)) };
        for (size_t k = 0; k < out->n; k++) {
            w[d].first[k] = (struct edge){ INT64_MAX, (int32_t)k };
            w[d].last[k] = (struct edge){ INT64_MIN, (int32_t)k };
        }
    }
    for (size_t at = 0; at < out->n_device; at++) {
        const struct tg_span *s = tg_span_at(t, out->device[at]);
        struct windows *d = &w[l->device[s->track]];
        int32_t k = out->step_of[out->device[at]];
        if (k < 0 || !tg_kind_is_device(tg_span_kind(t, s)))
            continue;
        if (s->start < d->first[k].at)
            d->first[k].at = s->start;
        if (tg_span_end(s) > d->last[k].at)
            d->last[k].at = tg_span_end(s);
    }
    for (size_t d = 0; d < l->n_devices; d++) {
        for (size_t k = 0; k < out->n; k++)
            if (w[d].first[k].at <= w[d].last[k].at) {
                w[d].first[w[d].n] = w[d].first[k];
                w[d].last[w[d].n++] = w[d].last[k];
            }
        TG_SORT(w[d].first, w[d].n, by_time);
        TG_SORT(w[d].last, w[d].n, by_time);
    }
    return w;
}

/*
 * Unlinked device spans. Pass 1 notes in `ahead` the step of the linked neighbour before each span
 * on its stream; pass 2 goes backwards and sees the linked neighbour after it. If both agree, that
 * is the step.
 */
static void ask_neighbours(struct tg_steps *out, const struct tg_trace *t, const struct tg_lanes *l)
{
    TG_FREE int32_t *ahead = tg_xrealloc(NULL, t->n_spans, sizeof *ahead);
    TG_FREE int32_t *last = tg_xrealloc(NULL, l->n_streams ? l->n_streams : 1, sizeof *last);
    for (size_t k = 0; k < l->n_streams; k++)
        last[k] = NOT_YET;
    for (size_t k = 0; k < out->n_device; k++) {
        uint32_t i = out->device[k];
        const struct tg_span *s = tg_span_at(t, i);
        if (!tg_kind_is_device(tg_span_kind(t, s)))
            continue;
        ahead[i] = last[l->stream[s->track]];
        if (out->launch[i] != TG_NO_SPAN)
            last[l->stream[s->track]] = out->step_of[i];
    }
    for (size_t k = 0; k < l->n_streams; k++)
        last[k] = NOT_YET;
    for (size_t k = out->n_device; k-- > 0;) {
        uint32_t i = out->device[k];
        const struct tg_span *s = tg_span_at(t, i);
        if (!tg_kind_is_device(tg_span_kind(t, s)))
            continue;
        if (out->launch[i] != TG_NO_SPAN)
            last[l->stream[s->track]] = out->step_of[i];
        else if (ahead[i] == last[l->stream[s->track]])
            out->step_of[i] = ahead[i];
    }
}

int32_t tg_steps_at(const struct tg_steps *s, tg_ns at)
{
    return s->marked ? step_at(s, at) : 0;
}

void tg_steps_place(struct tg_steps *out, const struct tg_trace *t)
{
    const struct tg_lanes *l = &out->lanes;
    size_t unplaced = 0;
    out->step_of = tg_steps_column(t, sizeof *out->step_of);
    for (uint32_t i = 0; i < t->n_spans; i++) {
        const struct tg_span *s = tg_span_at(t, i);
        if (!out->marked)
            out->step_of[i] = 0;
        else if (t->has_no_launches)
            out->step_of[i] = step_at(out, s->start);
        else if (out->launch[i] != TG_NO_SPAN)
            out->step_of[i] = step_at(out, tg_span_at(t, out->launch[i])->start);
        else
            out->step_of[i] =
                tg_kind_is_on_device(tg_span_kind(t, s)) ? NOT_YET : step_at(out, s->start);
        unplaced += out->step_of[i] == NOT_YET;
    }
    for (size_t i = 0; t->has_no_launches && i < t->n_spans; i++)
        out->unassigned +=
            out->step_of[i] == NOWHERE && tg_kind_is_device(tg_span_kind(t, tg_span_at(t, i)));
    if (!unplaced)
        return;
    ask_neighbours(out, t, l);
    /* What the neighbours do not decide: by the time windows of the device. */
    TG_FREE struct windows *w = windows_new(out, t, l);
    for (size_t k = 0; k < out->n_device; k++) {
        uint32_t i = out->device[k];
        const struct tg_span *s = tg_span_at(t, i);
        if (out->step_of[i] == NOT_YET)
            out->step_of[i] = window_at(&w[l->device[s->track]], s->start);
        if (out->step_of[i] == NOT_YET) {
            out->step_of[i] = NOWHERE;
            out->unassigned += tg_kind_is_device(tg_span_kind(t, s));
        }
    }
    for (size_t d = 0; d < l->n_devices; d++) {
        free(w[d].first);
        free(w[d].last);
    }
}
