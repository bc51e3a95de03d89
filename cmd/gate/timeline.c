#include "cmd/gate/timeline.h"

#include <stdlib.h>

#include "cmd/gate/picture.h"
#include "core/base/sort.h"
#include "core/metric/classes.h"

enum { HOST_LANES = 2, MAX_LANES = 8, WIDTH = 1000 /* places that can be told apart */ };

/* ---- which step ---- */

static int by_length(const void *pa, const void *pb)
{
    const struct tg_step *a = *(const struct tg_step *const *)pa,
                         *b = *(const struct tg_step *const *)pb;
    tg_ns x = a->end - a->start, y = b->end - b->start;
    return x != y ? (x > y) - (x < y) : (a->start > b->start) - (a->start < b->start);
}

static const struct tg_step *median_step(const struct tg_steps *steps, unsigned skip_first)
{
    size_t from = skip_first < steps->n ? skip_first : 0, n = steps->n - from;
    TG_FREE const struct tg_step **v = tg_xmalloc((n + 1) * sizeof *v);
    const struct tg_step *found = NULL;
    for (size_t i = 0; i < n; i++)
        v[i] = &steps->v[from + i];
    if (n) {
        TG_SORT(v, n, by_length);
        found = v[(n - 1) / 2];
    }
    return found;
}

/* ---- its spans ---- */

struct drawing {
    const struct tg_trace *t;
    const struct tg_steps *steps;
    int32_t step;
    uint32_t thread; /* the main one */
    tg_ns start, end;
    uint32_t stream[MAX_LANES]; /* dense ids of the streams that have a lane */
    size_t n_streams;
    struct tg_picture_span *v;
    size_t n, cap;
};

static enum tg_picture_paint paint_of(enum tg_kind kind, tg_sv name)
{
    if (kind == TG_KIND_SYNC)
        return TG_PAINT_WAIT;
    if (!tg_kind_is_device(kind))
        return TG_PAINT_HOST;
    switch (tg_class_of(NULL, kind, name, NULL)) {
    case TG_CLASS_COMM:
        return TG_PAINT_COMM;
    case TG_CLASS_MEMORY:
        return TG_PAINT_MEMORY;
    case TG_CLASS_COMPUTE:
    case TG_CLASS_OTHER:
        break;
    }
    return TG_PAINT_COMPUTE;
}

/* Nesting below the step's window: 0 for what is directly in it. */
static unsigned level_of(const struct drawing *d, uint32_t span)
{
    unsigned level = 0;
    for (uint32_t at = d->steps->parent[span]; at != TG_NO_SPAN && level <= HOST_LANES;
         at = d->steps->parent[at])
        level += tg_span_kind(d->t, tg_span_at(d->t, at)) != TG_KIND_STEP;
    return level;
}

/* Its lane; false: it has none. */
static bool lane_of(struct drawing *d, uint32_t i, const struct tg_span *s, enum tg_kind kind,
                    uint32_t *lane)
{
    uint32_t stream;
    if (!tg_kind_is_device(kind)) {
        *lane = level_of(d, i);
        return d->t->tracks[s->track].thread == d->thread && tg_kind_nests(kind) &&
               kind != TG_KIND_STEP && *lane < HOST_LANES;
    }
    stream = d->steps->lanes.stream[s->track];
    for (size_t k = 0; k < d->n_streams; k++)
        if (d->stream[k] == stream) {
            *lane = (uint32_t)(HOST_LANES + k);
            return true;
        }
    if (d->n_streams == MAX_LANES - HOST_LANES)
        return false;
    *lane = (uint32_t)(HOST_LANES + d->n_streams);
    d->stream[d->n_streams++] = stream;
    return true;
}

static void collect(struct drawing *d)
{
    for (size_t k = 0; k < d->t->n_spans; k++) {
        uint32_t i = d->steps->order[k], lane;
        const struct tg_span *s = tg_span_at(d->t, i);
        enum tg_kind kind = tg_span_kind(d->t, s);
        tg_sv name = tg_span_name(d->t, s)->name;
        if (d->steps->step_of[i] != d->step || kind == TG_KIND_PYTHON || s->dur <= 0 ||
            !lane_of(d, i, s, kind, &lane))
            continue;
        if (tg_span_end(s) > d->end)
            d->end = tg_span_end(s);
        *TG_PUSH(d->v, d->n, d->cap) = (struct tg_picture_span){ .lane = lane,
                                                                 .start = s->start - d->start,
                                                                 .dur = s->dur,
                                                                 .name = name,
                                                                 .paint = paint_of(kind, name),
                                                                 .n = 1 };
    }
}

/* ---- few enough ---- */

static int by_lane(const void *pa, const void *pb)
{
    const struct tg_picture_span *a = pa, *b = pb;
    int c = TG_CMP(a->lane, b->lane);
    return c ? c : TG_CMP(a->start, b->start);
}

/* Joins neighbours of a lane that end within `pixel` of each other's beginning and are shorter. */
static size_t join(struct tg_picture_span *out, const struct tg_picture_span *in, size_t n,
                   tg_ns pixel)
{
    size_t kept = 0;
    tg_ns longest = 0;
    for (size_t i = 0; i < n; i++) {
        struct tg_picture_span *last = kept ? &out[kept - 1] : NULL;
        bool near = last && last->lane == in[i].lane && in[i].dur < pixel && longest < pixel &&
                    in[i].start - (last->start + last->dur) < pixel;
        if (!near) {
            out[kept++] = in[i];
            longest = in[i].dur;
            continue;
        }
        if (in[i].start + in[i].dur > last->start + last->dur)
            last->dur = in[i].start + in[i].dur - last->start;
        last->n += in[i].n;
        if (in[i].dur > longest) {
            longest = in[i].dur;
            last->name = in[i].name;
            last->paint = in[i].paint;
        }
    }
    return kept;
}

void tg_timeline_take(struct tg_picture_step *out, const struct tg_trace *t,
                      const struct tg_steps *steps, unsigned skip_first, struct tg_arena *a)
{
    const struct tg_step *step = median_step(steps, skip_first);
    struct drawing d = { .t = t, .steps = steps };
    *out = (struct tg_picture_step){ .n = 0 };
    if (!step || step->span == TG_NO_SPAN)
        return;
    d.step = (int32_t)(step - steps->v);
    d.start = step->start;
    d.end = step->end;
    d.thread = t->tracks[tg_span_at(t, step->span)->track].thread;
    collect(&d);
    if (d.n) {
        TG_FREE struct tg_picture_span *few = tg_xmalloc((d.n + 1) * sizeof *few);
        tg_ns pixel = (d.end - d.start) / WIDTH + 1;
        size_t n;
        TG_SORT(d.v, d.n, by_lane);
        while ((n = join(few, d.v, d.n, pixel)) > TG_PICTURE_SPANS && pixel < d.end - d.start)
            pixel += pixel / 2 + 1;
        if (n > TG_PICTURE_SPANS)
            n = TG_PICTURE_SPANS;
        out->spans = TG_NEW_N(a, struct tg_picture_span, n + 1);
        for (size_t i = 0; i < n; i++) {
            out->spans[i] = few[i];
            out->spans[i].name = tg_arena_sv(a, few[i].name);
        }
        out->n = n;
        /* Titles of the lanes that have spans; the others close up. */
        uint32_t place[MAX_LANES], used[MAX_LANES] = { 0 };
        tg_sv *lanes = TG_NEW_N(a, tg_sv, MAX_LANES);
        for (size_t i = 0; i < out->n; i++)
            used[out->spans[i].lane] = 1;
        for (uint32_t k = 0; k < HOST_LANES + d.n_streams; k++) {
            place[k] = (uint32_t)out->n_lanes;
            if (!used[k])
                continue;
            lanes[out->n_lanes++] =
                k == 0           ? TG_SV("host")
                : k < HOST_LANES ? TG_SV("inside")
                                 : TG_SV_PRINTF(a, "stream %u", (unsigned)(k - HOST_LANES + 1));
        }
        for (size_t i = 0; i < out->n; i++)
            out->spans[i].lane = place[out->spans[i].lane];
        out->lanes = lanes;
    }
    out->number = step->number;
    out->start = d.start;
    out->dur = d.end - d.start;
    free(d.v);
}
