#include "core/summary/inject.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/keymap.h"
#include "core/base/sort.h"
#include "core/summary/internal.h"

#define MAX_DEPTH 64 /* of enclosers; names that enclose each other would not end */

struct job {
    struct tg_shard *s;
    const struct tg_inject *p;
    struct tg_arena *a;
    tg_ns *delta; /* [n_steps]: what the step got longer */
    int64_t *calls;
    size_t injected;
};

static bool is_injected(const struct job *j, const struct tg_row *r)
{
    return j->p->is && j->p->is(j->p->arg, r);
}

static void add(struct job *j, enum tg_metric m, size_t step, int64_t num, int64_t den)
{
    struct tg_metric_value *v = &j->s->metrics[(size_t)m * j->s->n_steps + step];
    if (!j->s->metrics || !v->known)
        return;
    v->num = v->num + num > 0 ? v->num + num : 0;
    v->den = v->den + den > 1 ? v->den + den : 1;
}

/* ---- what follows from a change ---- */

/* Later steps start later. */
static void move_steps(struct job *j)
{
    tg_ns later = 0;
    for (size_t k = 0; k < j->s->n_steps; k++) {
        j->s->steps[k].start += later;
        later += j->delta[k];
        j->s->steps[k].end += later;
    }
}

/* `self`: by time in no operator, which is the window's own. */
static void lengthen_step_rows(struct job *j, bool self)
{
    for (size_t i = 0; i < j->s->n_rows; i++) {
        struct tg_row *r = &j->s->rows[i];
        tg_sv window = j->s->window;
        bool is_step = r->key->kind == TG_KIND_STEP;
        if (self && tg_sv_skip(&window, TG_SV("annotation:")))
            is_step = tg_kind_nests(r->key->kind) && tg_sv_glob(window, r->key->name);
        for (size_t k = 0; is_step && k < j->s->n_steps; k++) {
            if (!r->count[k])
                continue;
            r->total[k] += j->delta[k];
            r->self[k] += self ? j->delta[k] : 0;
        }
    }
}

/* The row that carries most of a name's time; NULL: no row nests. */
static struct tg_row *main_row(const struct tg_shard *s, tg_sv name)
{
    struct tg_row *best = NULL;
    tg_ns most = -1;
    for (size_t i = 0; i < s->n_rows; i++) {
        tg_ns sum = 0;
        if (!tg_kind_nests(s->rows[i].key->kind) || s->rows[i].key->kind == TG_KIND_STEP ||
            !tg_sv_eq(s->rows[i].key->name, name))
            continue;
        for (size_t k = 0; k < s->n_steps; k++)
            sum += s->rows[i].total[k];
        if (sum > most) {
            most = sum;
            best = &s->rows[i];
        }
    }
    return best;
}

static void lengthen_enclosers(struct job *j, const struct tg_row *row)
{
    tg_sv name = row->key->parent;
    for (int depth = 0; depth < MAX_DEPTH && name.n; depth++) {
        struct tg_row *up = main_row(j->s, name);
        if (!up || up == row || is_injected(j, up))
            break;
        for (size_t k = 0; k < j->s->n_steps; k++)
            up->total[k] += j->delta[k];
        name = up->key->parent;
    }
    lengthen_step_rows(j, false);
}

/* `delta` and `calls` of one row -> enclosers, step, metrics; then both are zero again. */
static void settle(struct job *j, const struct tg_row *row)
{
    bool device = tg_kind_is_device(row->key->kind);
    bool launched = device || row->key->kind == TG_KIND_GRAPH;
    if (!device)
        lengthen_enclosers(j, row);
    for (size_t k = 0; k < j->s->n_steps; k++) {
        tg_ns d = j->delta[k];
        add(j, TG_METRIC_HOST_TIME, k, device ? 0 : d, 0);
        if (device) {
            add(j, TG_METRIC_DEVICE_EXTENT, k, d, 0);
            add(j, TG_METRIC_GPU_BUSY, k, d, 0);
            add(j, TG_METRIC_IDLE, k, 0, d);
        }
        if (launched)
            add(j, TG_METRIC_LAUNCH_COUNT, k, j->calls[k], 0);
        if (row->key->kind == TG_KIND_GRAPH)
            add(j, TG_METRIC_GRAPH_LAUNCHES, k, j->calls[k], 0);
        if (row->key->kind == TG_KIND_SYNC)
            add(j, TG_METRIC_SYNC_COUNT, k, j->calls[k], 0);
    }
    move_steps(j);
    memset(j->delta, 0, j->s->n_steps * sizeof *j->delta);
    memset(j->calls, 0, j->s->n_steps * sizeof *j->calls);
    j->injected++;
}

/* ---- operators ---- */

static tg_ns scaled(tg_ns v, double factor)
{
    return (tg_ns)llround((double)v * factor);
}

static void slow_row(struct job *j, struct tg_row *r)
{
    size_t n = (size_t)tg_row_calls(j->s, r);
    for (size_t i = 0; r->slots && i < n; i++)
        r->slots[i] = scaled(r->slots[i], j->p->factor);
    for (size_t k = 0; k < j->s->n_steps; k++) {
        j->delta[k] = scaled(r->self[k], j->p->factor) - r->self[k];
        r->self[k] += j->delta[k];
        r->total[k] += j->delta[k];
    }
    settle(j, r);
}

/* One step of a row with another number of calls; new calls repeat existing ones. Returns the slots
 * after it. */
static tg_ns *change_step(struct job *j, struct tg_row *r, size_t k, uint32_t now,
                          const tg_ns *old_slots, tg_ns *slots)
{
    uint32_t was = r->count[k];
    tg_ns mean = was ? r->self[k] / was : j->p->ns, self = r->self[k];
    for (uint32_t i = 0; i < now; i++) {
        tg_ns v = old_slots && was ? old_slots[i % was] : mean;
        if (slots)
            *slots++ = v;
        self += i >= was ? v : 0;
    }
    for (uint32_t i = now; i < was; i++)
        self -= old_slots ? old_slots[i] : mean;
    self = self > 0 ? self : 0;
    j->delta[k] = self - r->self[k];
    j->calls[k] = (int64_t)now - was;
    r->count[k] = now;
    r->self[k] = self;
    r->total[k] += j->delta[k];
    return slots;
}

static void recount_row(struct job *j, struct tg_row *r, int64_t more, bool none)
{
    size_t n = 0, at = 0;
    tg_ns *slots = NULL, *end;
    const tg_ns *old = r->slots;
    for (size_t k = 0; k < j->s->n_steps; k++)
        n += r->count[k] + (more > 0 ? (size_t)more : 0);
    if (r->slots)
        slots = TG_NEW_N(j->a, tg_ns, n + 1);
    end = slots;
    for (size_t k = 0; k < j->s->n_steps; k++) {
        int64_t was = r->count[k], now = none ? 0 : was + more > 0 ? was + more : 0;
        end = change_step(j, r, k, (uint32_t)now, old ? old + at : NULL, end);
        at += (size_t)was;
    }
    r->slots = slots;
    settle(j, r);
}

/* The changed row with most calls in steps. */
static struct tg_row *largest(const struct job *j)
{
    struct tg_row *best = NULL;
    for (size_t i = 0; i < j->s->n_rows; i++)
        if (is_injected(j, &j->s->rows[i]) &&
            (!best || tg_row_calls(j->s, &j->s->rows[i]) > tg_row_calls(j->s, best)))
            best = &j->s->rows[i];
    return best;
}

static void drop_rows(struct job *j)
{
    size_t kept = 0;
    for (size_t i = 0; i < j->s->n_rows; i++)
        if (is_injected(j, &j->s->rows[i]))
            recount_row(j, &j->s->rows[i], 0, true);
    for (size_t i = 0; i < j->s->n_rows + j->s->n_frames; i++)
        if (i >= j->s->n_rows || !is_injected(j, &j->s->rows[i]))
            j->s->rows[kept++] = j->s->rows[i];
    j->s->n_rows = kept - j->s->n_frames;
}

/* A row of `model`'s place with `calls[k]` calls and `ns[k]` in step k. */
static void new_row(struct job *j, const struct tg_row_key *model, tg_sv name,
                    const uint32_t *calls, const tg_ns *ns)
{
    size_t n_steps = j->s->n_steps, n = 0;
    struct tg_row_key key = *model;
    key.name = tg_arena_sv(j->a, name);
    struct tg_row r = tg_row_new(&key, n_steps, j->a);
    for (size_t k = 0; k < n_steps; k++)
        n += calls[k];
    r.slots = TG_NEW_N(j->a, tg_ns, n + 1);
    n = 0;
    for (size_t k = 0; k < n_steps; k++) {
        r.count[k] = calls[k];
        for (uint32_t i = 0; i < calls[k]; i++)
            r.slots[n++] = ns[k] / calls[k];
        r.self[k] = r.total[k] = calls[k] ? ns[k] / calls[k] * calls[k] : 0;
        j->delta[k] = r.self[k];
        j->calls[k] = calls[k];
        add(j, TG_METRIC_KERNEL_NAMES, k, key.kind == TG_KIND_KERNEL, 0);
    }
    j->s->rows = tg_arena_copy(j->a, j->s->rows, j->s->n_rows + j->s->n_frames, sizeof r);
    struct tg_row *at = &j->s->rows[j->s->n_rows++];
    memmove(at + 1, at, j->s->n_frames * sizeof r);
    *at = r;
    settle(j, at);
}

static void unfuse(struct job *j)
{
    const struct tg_row *model = largest(j);
    struct tg_row_key key;
    uint32_t *calls = TG_NEW_N(j->a, uint32_t, j->s->n_steps + 1);
    tg_ns *half = TG_NEW_N(j->a, tg_ns, j->s->n_steps + 1);
    if (!model || !tg_row_calls(j->s, model))
        return;
    key = *model->key;
    for (size_t k = 0; k < j->s->n_steps; k++) {
        calls[k] = model->count[k];
        half[k] = model->self[k] / 2;
    }
    drop_rows(j);
    for (int part = 0; part < 2; part++)
        new_row(j, &key,
                TG_SV_PRINTF(j->a, "%.*s%s", TG_SV_ARG(j->p->text), part ? "_second" : "_first"),
                calls, half);
}

static void inject_new(struct job *j)
{
    const struct tg_row *like = largest(j);
    struct tg_row_key model = { .kind = j->p->kind, .device = -1, .stream = -1 };
    uint32_t *calls = TG_NEW_N(j->a, uint32_t, j->s->n_steps + 1);
    tg_ns *ns = TG_NEW_N(j->a, tg_ns, j->s->n_steps + 1);
    if ((j->p->is && !like) || tg_kind_is_frame(model.kind))
        return;
    if (like) {
        model = *like->key;
    } else {
        bool device = tg_kind_is_device(model.kind);
        model.cat = device                     ? TG_SV("kernel")
                    : model.kind == TG_KIND_OP ? TG_SV("cpu_op")
                                               : TG_SV("cuda_runtime");
        model.parent = j->s->marked && !device ? TG_SV("ProfilerStep") : TG_SV("");
        model.device = model.stream = device ? 0 : -1;
    }
    for (size_t k = 0; k < j->s->n_steps; k++) {
        calls[k] = 1;
        ns[k] = j->p->ns > 0 ? j->p->ns : 1;
    }
    new_row(j, &model, j->p->text, calls, ns);
}

/* ---- attributes ---- */

/* Another value of the same form: the first number is one larger, or `factor` (over 1) times as
 * large; a text without a number is a type. */
static tg_sv other_attr(tg_sv v, double factor, struct tg_arena *a)
{
    size_t from = 0, to;
    int64_t number;
    while (from < v.n && !tg_is_digit(v.p[from]))
        from++;
    to = tg_sv_digits(v, from);
    if (from == to || !tg_sv_i64((tg_sv){ v.p + from, to - from }, &number))
        return TG_SV("[\"c10::complex<double>\"]"); /* has a number: no other value becomes this */
    number = factor > 1 && number < INT64_MAX / 1000 ? scaled(number, factor) : number;
    number = number < INT64_MAX ? number + 1 : number - 1;
    return TG_SV_PRINTF(a, "%.*s%lld%.*s", (int)from, v.p, (long long)number, (int)(v.n - to),
                        v.p + to);
}

static void change_attrs(struct job *j)
{
    for (size_t i = 0; i < j->s->n_rows; i++) {
        struct tg_row *r = &j->s->rows[i];
        for (size_t f = 0; is_injected(j, r) && f < r->n_attrs; f++)
            if (r->attrs[f].kind == j->p->attr) {
                r->attrs[f].value = other_attr(r->attrs[f].value, j->p->factor, j->a);
                j->injected++;
            }
    }
}

/* ---- the step and its metrics ---- */

static tg_ns measured(const struct job *j, enum tg_metric m, size_t step)
{
    const struct tg_metric_value *v = &j->s->metrics[(size_t)m * j->s->n_steps + step];
    return j->s->metrics && v->known && v->den ? v->num / v->den : 0;
}

/* Up to the next step; of the last one, whose next is not known, as the shortest of the others. */
static tg_ns step_time(const struct job *j, size_t step, tg_ns shortest)
{
    tg_ns window = j->s->steps[step].end - j->s->steps[step].start;
    tg_ns wall = measured(j, TG_METRIC_STEP_TIME, step);
    return wall > window || !shortest ? wall : shortest;
}

static void wait_longer(struct job *j)
{
    size_t gap = 0;
    tg_ns shortest = 0;
    for (size_t k = 0; k < j->s->n_steps; k++) {
        tg_ns wall = step_time(j, k, 0), window = j->s->steps[k].end - j->s->steps[k].start;
        shortest = wall > window && (!shortest || wall < shortest) ? wall : shortest;
    }
    for (size_t k = 0; k < j->s->n_steps; k++) {
        tg_ns d = scaled(step_time(j, k, shortest), j->p->factor - 1);
        j->delta[k] = d;
        if (j->s->gap_count[k])
            j->s->gaps[gap] += d;
        gap += j->s->gap_count[k];
        add(j, TG_METRIC_DEVICE_EXTENT, k, d, 0);
        add(j, TG_METRIC_HOST_TIME, k, d, 0);
        add(j, TG_METRIC_IDLE, k, d, d);
    }
    lengthen_step_rows(j, true);
    move_steps(j);
    j->injected++;
}

static int64_t worsened(const struct job *j, const struct tg_metric_value *v, size_t step)
{
    const struct tg_metric_info *info = tg_metric_info(j->p->metric);
    bool up = (info->worse > 0) != j->p->better;
    double f = j->p->factor;
    if (info->unit == TG_UNIT_PERCENT) /* of the distance to the worst value, the part 1 - 1/f */
        return up ? v->num + scaled(v->den - v->num, 1 - 1 / f) : scaled(v->num, 1 / f);
    if (!up)
        return scaled(v->num, 1 / f) < v->num ? scaled(v->num, 1 / f) : v->num - (v->num > 0);
    if (v->num == 0 && info->unit == TG_UNIT_NS)
        return scaled(measured(j, TG_METRIC_STEP_TIME, step), f - 1);
    return scaled(v->num, f) > v->num ? scaled(v->num, f) : v->num + v->den;
}

/* ---- totals by Python frame, which rules of kind module and source alone see ---- */

/* Calls as long as the existing ones. */
static void recount(const struct tg_shard *s, struct tg_row *r, int64_t more)
{
    for (size_t k = 0; k < s->n_steps; k++) {
        int64_t was = r->count[k], now = was + more > 0 ? was + more : 0;
        if (!was)
            continue;
        r->total[k] = scaled(r->total[k], (double)now / (double)was);
        r->self[k] = scaled(r->self[k], (double)now / (double)was);
        r->count[k] = (uint32_t)now;
    }
}

/* One call a step; in its place among the others. */
static size_t add_new(struct tg_shard *s, const struct tg_inject *p, enum tg_kind kind,
                      struct tg_arena *a)
{
    struct tg_row fresh = tg_frame_row(kind, tg_arena_sv(a, p->text), -1, s->n_steps, a);
    for (size_t k = 0; k < s->n_steps; k++) {
        fresh.count[k] = 1;
        fresh.total[k] = fresh.self[k] = p->ns > 0 ? p->ns : 1;
    }
    s->rows = tg_arena_copy(a, s->rows, s->n_rows + s->n_frames, sizeof fresh);
    s->rows[s->n_rows + s->n_frames++] = fresh;
    TG_SORT(s->rows + s->n_rows, s->n_frames, tg_row_cmp);
    return 1;
}

/* How many rows were changed. */
static size_t inject_frames(struct tg_shard *s, const struct tg_inject *p, struct tg_arena *a)
{
    size_t injected = 0;
    enum tg_kind kind = p->kind;
    struct tg_row *frames = s->rows + s->n_rows;
    if (p->what == TG_INJECT_DROP && p->is) {
        size_t kept = 0;
        for (size_t i = 0; i < s->n_frames; i++)
            if (!p->is(p->arg, &frames[i]))
                frames[kept++] = frames[i];
        injected = s->n_frames - kept;
        s->n_frames = kept;
        return injected;
    }
    for (size_t i = 0; p->is && i < s->n_frames; i++) {
        struct tg_row *r = &frames[i];
        if (!p->is(p->arg, r))
            continue;
        kind = r->key->kind;
        injected++;
        if (p->what == TG_INJECT_SLOWER) {
            for (size_t k = 0; k < s->n_steps; k++) {
                r->total[k] = scaled(r->total[k], p->factor);
                r->self[k] = scaled(r->self[k], p->factor);
            }
        } else if (p->what == TG_INJECT_CALLS)
            recount(s, r, p->calls);
        else
            injected = p->what == TG_INJECT_NEW ? injected : 0;
    }
    if (p->what == TG_INJECT_NEW && (p->is ? injected > 0 : tg_kind_is_frame(kind)))
        return add_new(s, p, kind, a);
    return injected;
}

/* ---- the calling context tree: what became of its rows ---- */

struct graft {
    const struct tg_shard *was;
    struct tg_shard *now;
    struct tg_placed placed;
    uint32_t *row_of;       /* by row of `was`: the row of `now`; TG_NO_ID: it is gone */
    uint32_t *row_was;      /* by row of `now`: the row of `was`; TG_NO_ID: it is new */
    uint32_t *node_of;      /* by node of `was`: the node in `placed` */
    struct tg_keymap edges; /* (parent, row) -> the node less the roots */
    size_t cap;
};

static uint32_t node_for(struct graft *g, uint32_t parent, uint32_t row)
{
    const uint64_t word = (uint64_t)parent << 32 | row;
    uint32_t id = tg_keymap_add(&g->edges, &word) + TG_ROOTS;
    if (id == g->placed.n)
        *TG_PUSH(g->placed.node, g->placed.n, g->cap) =
            (struct tg_tree_node){ parent, row, TG_NO_ID };
    return id;
}

/* The node that encloses a new row: of its parent's name, the one called most. */
static uint32_t encloser_of(const struct graft *g, const struct tg_row_key *key)
{
    const struct tg_tree *t = &g->was->tree;
    uint32_t best = key->device < 0 ? TG_ROOT_STEP : TG_ROOT_DEVICE;
    uint64_t most = 0;
    if (tg_sv_eq(key->parent, TG_SV("ProfilerStep")))
        return TG_ROOT_STEP;
    for (size_t i = TG_ROOTS; key->parent.n && i < t->n; i++) {
        const uint32_t *count = tg_tree_count(g->was, &t->node[i]);
        const struct tg_row_key *k = g->was->rows[t->node[i].row].key;
        uint64_t n = 0;
        if (!tg_kind_nests(k->kind) || !tg_sv_eq(k->name, key->parent))
            continue;
        for (size_t step = 0; step < g->was->n_steps; step++)
            n += count[step];
        if (n > most) {
            most = n;
            best = g->node_of[i];
        }
    }
    return best;
}

static uint32_t tree_node(const struct graft *g, uint32_t was)
{
    return g->placed.at[g->node_of[was]];
}

static size_t cell(const struct tg_shard *s, uint32_t node, size_t bucket)
{
    return s->tree.node[node].split * (s->n_steps + 1) + bucket;
}

/* The row's self time in one step over its nodes, by what their calls took;
 * exact to the nanosecond. */
static void split_time(struct graft *g, const struct tg_row *row, size_t k, size_t slot)
{
    struct tg_shard *s = g->now;
    long double weight = 0;
    tg_ns rest = row->self[k];
    for (size_t i = slot; i < slot + row->count[k]; i++)
        weight += (long double)(row->slots ? row->slots[i] : 1);
    for (size_t i = slot; i < slot + row->count[k]; i++) {
        long double part = weight > 0 ? (long double)(row->slots ? row->slots[i] : 1) / weight : 0;
        tg_ns ns = (tg_ns)((long double)row->self[k] * part);
        ns = ns < rest ? ns : rest;
        s->tree.count[cell(s, row->slot_node[i], k)]++;
        s->tree.self[cell(s, row->slot_node[i], k)] += ns;
        rest -= ns;
    }
    if (row->count[k])
        s->tree.self[cell(s, row->slot_node[slot], k)] += rest;
}

static void fill(struct graft *g, struct tg_arena *a)
{
    struct tg_shard *s = g->now;
    const struct tg_tree *t = &g->was->tree;
    for (size_t r = 0; r < s->n_rows; r++)
        s->rows[r].slot_node = NULL;
    for (uint32_t i = TG_ROOTS; i < s->tree.n; i++) {
        struct tg_row *row = &s->rows[s->tree.node[i].row];
        if (s->tree.node[i].split == TG_NO_ID || row->slot_node)
            continue;
        const struct tg_row *was = &g->was->rows[g->row_was[s->tree.node[i].row]];
        const uint32_t *old = was->slot_node;
        size_t calls = (size_t)tg_row_calls(s, row);
        uint32_t *to = row->slot_node = TG_NEW_N(a, uint32_t, calls + 1);
        /* Calls that are more than there were repeat the first ones, as their times do. */
        for (size_t k = 0; k < s->n_steps; old += was->count[k++])
            for (uint32_t c = 0; c < row->count[k]; c++)
                *to++ = was->count[k] ? tree_node(g, old[c % was->count[k]]) : TG_NO_ID;
        for (size_t k = 0; k < calls; k++) /* of steps that had no call */
            if (row->slot_node[k] == TG_NO_ID)
                row->slot_node[k] = i;
        for (size_t k = 0, slot = 0; k < s->n_steps; slot += row->count[k++])
            split_time(g, row, k, slot);
    }
    for (uint32_t i = TG_ROOTS; i < t->n; i++) {
        uint32_t node = tree_node(g, i);
        if (node < TG_ROOTS || g->row_of[t->node[i].row] == TG_NO_ID ||
            s->tree.node[node].split == TG_NO_ID)
            continue;
        s->tree.count[cell(s, node, s->n_steps)] += tg_tree_count(g->was, &t->node[i])[s->n_steps];
        s->tree.self[cell(s, node, s->n_steps)] += tg_tree_self(g->was, &t->node[i])[s->n_steps];
    }
}

/* Makes now->tree of was->tree, after rows were changed. `key`: of the rows of `was`, as `now` had
 * them first. */
static void inject_tree(const struct tg_shard *was, struct tg_shard *now,
                        const struct tg_row_key *const *key, struct tg_arena *a)
{
    struct graft g = { .was = was, .now = now, .edges.words = 1 };
    TG_FREE uint32_t *same = tg_xrealloc(NULL, now->n_rows + 1, sizeof *same);
    if (!was->tree.n)
        return;
    for (size_t i = 0; i < now->n_rows; i++)
        same[i] = (uint32_t)i;
    g.placed.cut = was->tree.cut;
    TG_AUTO(tg_keymap_release) struct tg_keymap known = { .words = 1 };
    g.row_of = tg_xrealloc(NULL, was->n_rows + 1, sizeof *g.row_of);
    g.row_was = tg_xrealloc(NULL, now->n_rows + 1, sizeof *g.row_was);
    for (size_t i = 0; i < was->n_rows; i++) {
        const uint64_t word = (uint64_t)(uintptr_t)key[i];
        (void)tg_keymap_add(&known, &word);
        g.row_of[i] = TG_NO_ID;
    }
    for (size_t i = 0; i < now->n_rows; i++) {
        const uint64_t word = (uint64_t)(uintptr_t)now->rows[i].key;
        g.row_was[i] = tg_keymap_find(&known, &word);
        if (g.row_was[i] != TG_NO_ID)
            g.row_of[g.row_was[i]] = (uint32_t)i;
    }
    /* What was below a row that is gone is now where that row was. */
    const struct tg_tree *t = &g.was->tree;
    g.node_of = tg_xrealloc(NULL, t->n, sizeof *g.node_of);
    for (uint32_t root = 0; root < TG_ROOTS; root++) {
        *TG_PUSH(g.placed.node, g.placed.n, g.cap) = t->node[root];
        g.node_of[root] = root;
    }
    for (size_t i = TG_ROOTS; i < t->n; i++) {
        uint32_t parent = g.node_of[t->node[i].parent], row = g.row_of[t->node[i].row];
        g.node_of[i] = row == TG_NO_ID ? parent : node_for(&g, parent, row);
    }
    for (size_t i = 0; i < g.now->n_rows; i++)
        if (g.row_was[i] == TG_NO_ID)
            (void)node_for(&g, encloser_of(&g, g.now->rows[i].key), (uint32_t)i);
    tg_tree_order(now, &g.placed, same, a);
    fill(&g, a);
    tg_keymap_release(&g.edges);
    tg_placed_release(&g.placed);
    free(g.row_of);
    free(g.row_was);
    free(g.node_of);
}

/* ---- all of it ---- */

struct tg_shard *tg_inject(const struct tg_shard *s, const struct tg_inject *p, struct tg_arena *a)
{
    struct job j = { .s = tg_shard_copy(s, a), .p = p, .a = a };
    const struct tg_row_key **key = TG_NEW_N(a, const struct tg_row_key *, s->n_rows + 1);
    struct tg_row *row;
    for (size_t i = 0; i < s->n_rows; i++)
        key[i] = j.s->rows[i].key;
    j.delta = TG_NEW_N(a, tg_ns, s->n_steps + 1);
    j.calls = TG_NEW_N(a, int64_t, s->n_steps + 1);
    switch (p->what) {
    case TG_INJECT_SLOWER:
        for (size_t i = 0; i < j.s->n_rows; i++)
            if (is_injected(&j, &j.s->rows[i]))
                slow_row(&j, &j.s->rows[i]);
        break;
    case TG_INJECT_CALLS:
        if ((row = largest(&j)) && tg_row_calls(s, row))
            recount_row(&j, row, p->calls, false);
        break;
    case TG_INJECT_DROP:
        drop_rows(&j);
        break;
    case TG_INJECT_UNFUSE:
        unfuse(&j);
        break;
    case TG_INJECT_NEW:
        inject_new(&j);
        break;
    case TG_INJECT_ATTR:
        change_attrs(&j);
        break;
    case TG_INJECT_WAIT:
        wait_longer(&j);
        break;
    case TG_INJECT_METRIC:
        for (size_t k = 0; j.s->metrics && k < j.s->n_steps; k++) {
            struct tg_metric_value *v = &j.s->metrics[(size_t)j.p->metric * j.s->n_steps + k];
            if (!v->known)
                continue;
            v->num = worsened(&j, v, k);
            j.injected++;
        }
        break;
    }
    j.injected += inject_frames(j.s, p, a);
    if (j.s->metrics)
        tg_metrics_derive(j.s->steps, j.s->n_steps, j.s->metrics);
    TG_SORT(j.s->rows, j.s->n_rows, tg_row_cmp);
    inject_tree(s, j.s, key, a);
    for (size_t i = 0; i < j.s->n_rows; i++) /* of their slots now it is not known */
        j.s->rows[i].beside = NULL;
    j.s->beside_known = false;
    return j.injected ? j.s : NULL;
}
