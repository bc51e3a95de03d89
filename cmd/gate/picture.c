#include "cmd/gate/picture.h"

#include <math.h>
#include <stdlib.h>

#include "cmd/gate/codefile.h"
#include "cmd/gate/timeline.h"
#include "core/cause/path_tree.h"
#include "core/diff/stats.h"
#include "policy/verdict/pace.h"
#include "policy/verdict/verdict.h"

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

#define AS_USUAL 0.03 /* a change of less has the colour of "as before" (reporters/html_tree.c) */

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
    double *value = tg_xmalloc((2 * t->keys.n + 2) * sizeof *value);
    for (size_t i = 0; i < 2 * t->keys.n; i++)
        value[i] = 0;
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

/* The device has no part in a step that is longer because the host waits longer for it. */
static bool waits_longer(const struct tg_comparison *c)
{
    const double *step = c->metrics[TG_METRIC_STEP_TIME].value;
    double more = step[TG_TEST] - step[TG_BASE];
    return more > TG_NOTABLE * step[TG_BASE] && tg_pace_wait_behind(c, more).call;
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
    out->device = value[0] > 0 && value[1] > 0 &&
                  (!ask->comparison || (tg_pace_of(ask->comparison) == TG_PACE_DEVICE &&
                                        !waits_longer(ask->comparison)));
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
