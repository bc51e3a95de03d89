#include "cmd/gate/picture.h"

#include <math.h>
#include <stdlib.h>

#include "cmd/gate/codefile.h"
#include "core/base/sort.h"
#include "core/cause/paths.h"
#include "core/diff/stats.h"
#include "core/metric/classes.h"
#include "policy/verdict/pace.h"
#include "policy/verdict/verdict.h"

enum { HOST_LANES = 2, MAX_LANES = 8, WIDTH = 1000 /* places that can be told apart */ };

/* ---- one step of a trace ---- */

static int by_length(const void *pa, const void *pb)
{
    const struct tg_step *a = *(const struct tg_step *const *)pa,
                         *b = *(const struct tg_step *const *)pb;
    int c = TG_CMP(a->end - a->start, b->end - b->start);
    return c ? c : TG_CMP(a->start, b->start);
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
    enum tg_class of = tg_class_of(NULL, kind, name, NULL);
    return of == TG_CLASS_COMM     ? TG_PAINT_COMM
           : of == TG_CLASS_MEMORY ? TG_PAINT_MEMORY
                                   : TG_PAINT_COMPUTE;
}

/* Its lane; false: it has none. */
static bool lane_of(struct drawing *d, uint32_t i, const struct tg_span *s, enum tg_kind kind,
                    uint32_t *lane)
{
    uint32_t stream;
    if (!tg_kind_is_device(kind)) {
        /* Nesting below the step's window: 0 for what is directly in it. */
        *lane = 0;
        for (uint32_t at = d->steps->parent[i]; at != TG_NO_SPAN && *lane <= HOST_LANES;
             at = d->steps->parent[at])
            *lane += tg_span_kind(d->t, tg_span_at(d->t, at)) != TG_KIND_STEP;
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

/* ---- both sides ---- */

/* Targets of the paths: the whole host step, work of the device, and what is only a frame. */
enum { HOST, DEVICE, FRAME };

static uint32_t ask_target(void *arg, enum tg_kind kind, tg_sv name)
{
    (void)arg;
    (void)name;
    if (tg_kind_is_device(kind))
        return DEVICE;
    return kind == TG_KIND_OP || kind == TG_KIND_RUNTIME || kind == TG_KIND_SYNC ||
                   kind == TG_KIND_GRAPH
               ? FRAME
               : TG_NO_ID;
}

static bool ask_function(void *arg, int side, tg_sv name, tg_sv *file, tg_sv *function,
                         uint32_t *line, bool *by_line)
{
    struct tg_codefile_name n;
    (void)arg;
    (void)side;
    if (!tg_codefile_parse(&n, name) || tg_codefile_is_foreign(n.file))
        return false;
    *file = n.file;
    *function = n.function;
    *line = n.line;
    *by_line = false; /* an edit above a function moves it: it is the same to a reader */
    return true;
}

struct taker {
    struct tg_picture *out;
    const struct tg_first_traces *from;
    struct tg_arena *arena;
    struct tg_paths paths;
};

static void take_side(void *arg, int side, const struct tg_kept_trace *k)
{
    struct taker *t = arg;
    const struct tg_first_traces *from = t->from;
    struct tg_picture_step *step = &t->out->step[side];
    tg_paths_add(&t->paths, side, k->trace, &k->steps, from->skip_first);
    tg_timeline_take(step, k->trace, &k->steps, from->skip_first, t->arena);
    step->trace = tg_arena_sv(t->arena, tg_sv_of(from->side[side]->v[from->at[side]].label));
}

/* ---- which trace ---- */

#define AS_USUAL 0.03 /* a change of less has the colour of "as before" (html_picture.c) */

static double mean_step(const struct tg_shard *s)
{
    double sum = 0;
    for (size_t i = 0; i < s->n_steps; i++)
        sum += (double)(s->steps[i].end - s->steps[i].start);
    return s->n_steps ? sum / (double)s->n_steps : 0;
}

static bool is_asked(const struct tg_comparison *c, const struct tg_shard *s)
{
    return !c->rank_alone || s->rank == c->rank_alone->rank;
}

/* The first trace may be an unusual one: its drawing would tell of another change than the
 * numbers. */
static size_t choose_trace(const struct tg_comparison *c, const struct tg_input_list *list,
                           int side)
{
    const struct tg_side *of = &c->side[side];
    TG_FREE double *means = tg_xmalloc((of->n_runs * of->n_ranks + 1) * sizeof *means);
    const struct tg_shard *best = NULL;
    double usual, away = INFINITY;
    size_t n = 0;
    for (size_t k = 0; k < of->n_runs * of->n_ranks; k++) {
        const struct tg_shard *s = of->at[k / of->n_ranks][k % of->n_ranks];
        if (is_asked(c, s))
            means[n++] = mean_step(s);
    }
    usual = tg_median(means, n);
    for (size_t k = 0; n && k < of->n_runs * of->n_ranks; k++) {
        const struct tg_shard *s = of->at[k / of->n_ranks][k % of->n_ranks];
        double by = fabs(mean_step(s) / usual - 1);
        if (s->arrival == 0 && by < AS_USUAL)
            by = 0; /* it is here already */
        if (!is_asked(c, s) || !(by < away) || s->arrival >= list->n ||
            !tg_sv_ends(tg_sv_of(list->v[s->arrival].label), s->source))
            continue;
        best = s;
        away = by;
    }
    return best ? best->arrival : 0;
}

/* ---- the tree ---- */

/* value[2 * node + side]: inclusive ns per step. The host's time in no frame has one: `gap`. */
static double *add_up(const struct tg_paths *p, uint32_t target, uint32_t gap)
{
    const struct tg_path_tree *t = &p->tree[TG_PATHS_BY_CLASS];
    double *value = tg_xcalloc(2 * t->keys.n + 2, sizeof *value);
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < p->n[side]; i++) {
            const struct tg_path_entry *e = &p->entry[side][i];
            uint32_t at = e->node[TG_PATHS_BY_CLASS];
            if (e->target != target || e->step >= p->n_steps[side])
                continue;
            at = at || target != HOST ? at : gap;
            for (;; at = t->v[at].parent) {
                value[2 * at + (unsigned)side] += (double)e->ns / (double)p->n_steps[side];
                if (!at)
                    break;
            }
        }
    return value;
}

static double larger(const double *value, size_t node)
{
    return value[2 * node] > value[2 * node + 1] ? value[2 * node] : value[2 * node + 1];
}

/* The least time at which no more than TG_PICTURE_NODES paths are kept; from 0.2 % of the step
 * on. */
static double choose_least(const double *value, size_t n)
{
    double least = larger(value, 0) * 0.002;
    for (;; least *= 1.3) {
        size_t kept = 0;
        for (size_t i = 0; i < n; i++)
            kept += larger(value, i) >= least;
        if (kept <= TG_PICTURE_NODES)
            return least;
    }
}

void tg_picture_take(struct tg_picture *out, const struct tg_picture_ask *ask)
{
    struct tg_paths_ask names = { NULL, ask_target, ask_function };
    struct tg_first_traces from = ask->from;
    struct taker t = { .out = out, .from = &from, .arena = ask->arena };
    const struct tg_paths *p = &t.paths;
    bool both = true;
    *out = (struct tg_picture){ .n_nodes = 0 };
    tg_paths_init(&t.paths, &names, HOST);
    for (int side = 0; side < 2; side++) {
        if (ask->comparison)
            from.at[side] = choose_trace(ask->comparison, from.side[side], side);
        both = tg_inputs_use_first(&from, side, take_side, &t) && both;
    }
    out->stacks = p->stacks[0] && p->stacks[1];
    uint32_t gap = tg_path_node_of(&t.paths, TG_PATHS_BY_CLASS, 0, TG_PATH_ROOT,
                                   tg_strmap_add(&t.paths.texts, TG_SV(TG_HOST_GAP)));
    double *value = add_up(p, DEVICE, gap);
    out->device = value[0] > 0 && value[1] > 0;
    if (out->device && ask->comparison) {
        /* The device has no part in a step that is longer because the host waits longer for it. */
        const double *step = ask->comparison->metrics[TG_METRIC_STEP_TIME].value;
        double more = step[TG_TEST] - step[TG_BASE];
        out->device =
            tg_pace_of(ask->comparison) == TG_PACE_DEVICE &&
            !(more > TG_NOTABLE * step[TG_BASE] && tg_pace_wait_behind(ask->comparison, more).call);
    }
    if (!out->device) {
        free(value);
        value = add_up(p, HOST, gap);
    }
    if (both && value[0] > 0 && value[1] > 0) {
        const struct tg_path_tree *node = &p->tree[TG_PATHS_BY_CLASS];
        TG_FREE uint32_t *place = tg_xmalloc((node->keys.n + 1) * sizeof *place);
        out->least = choose_least(value, node->keys.n);
        out->nodes = TG_NEW_N(ask->arena, struct tg_picture_node, TG_PICTURE_NODES + 1);
        for (size_t i = 0; i < node->keys.n;
             i++) { /* a parent has a smaller number than its children */
            struct tg_picture_node *n = &out->nodes[out->n_nodes];
            if (larger(value, i) < out->least)
                continue;
            place[i] = (uint32_t)out->n_nodes++;
            *n = (struct tg_picture_node){ .kind = node->v[i].kind, .depth = node->v[i].depth };
            n->parent = i ? place[node->v[i].parent] : 0;
            n->text = tg_arena_sv(ask->arena, p->texts.text[node->v[i].text]);
            n->value[0] = value[2 * i];
            n->value[1] = value[2 * i + 1];
        }
    }
    free(value);
    tg_paths_release(&t.paths);
}
