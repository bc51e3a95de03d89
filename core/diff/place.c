#include "core/diff/place.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/sort.h"
#include "core/diff/names.h"
#include "core/diff/stats.h"

#define EQUAL 1e-6 /* calls per step: sums of means differ in their last digits */

enum tg_work tg_work_of(enum tg_kind kind, tg_sv name)
{
    switch (kind) {
    case TG_KIND_KERNEL:
        return TG_WORK_KERNEL;
    case TG_KIND_MEMCPY:
        return TG_WORK_COPY;
    case TG_KIND_MEMSET:
        return TG_WORK_SET;
    case TG_KIND_GRAPH:
        return TG_WORK_GRAPH;
    case TG_KIND_SYNC:
        return TG_WORK_SYNC;
    case TG_KIND_OP:
        return TG_WORK_OP;
    case TG_KIND_RUNTIME:
        return tg_sv_has(name, TG_SV("Malloc")) || tg_sv_has(name, TG_SV("MemAlloc")) ||
                       tg_sv_has(name, TG_SV("HostAlloc")) || tg_sv_has(name, TG_SV("Free"))
                   ? TG_WORK_ALLOC
                   : TG_WORK_CALL;
    default:
        return TG_WORK_OTHER;
    }
}

/* Are there as many calls of the name as before in what holds the changed node, or in something around
 * that? */
enum balance { UNBALANCED, BALANCED, BALANCED_FURTHER_UP };

struct job {
    struct tg_diff_work *w;
    struct tg_places *out;
    const struct tg_place_tree *t;
    bool *changed;         /* per node */
    enum balance *balance; /* per changed node */
    uint32_t *place_of;    /* per changed node: the index of the place that it is in */
    uint32_t *whole_of;    /* per node: the index of the innermost place around it; TG_NO_ID */
    double *sorted;        /* room for the runs of a side */
    size_t cap;
};

/* A node by its name; changed ones by place first. */
struct piece {
    uint32_t place, node;
    enum tg_kind kind;
    tg_sv name;
};

static int by_piece(const void *pa, const void *pb)
{
    const struct piece *a = pa, *b = pb;
    int c = TG_CMP(a->place, b->place);
    c = c ? c : TG_CMP(a->kind, b->kind);
    c = c ? c : tg_sv_cmp(a->name, b->name);
    return c ? c : TG_CMP(a->node, b->node);
}

static uint32_t *no_places(size_t n)
{
    uint32_t *v = tg_xrealloc(NULL, n, sizeof *v);
    memset(v, 0xff, n * sizeof *v);
    return v;
}

static size_t runs_of(const struct job *j, int side)
{
    return j->w->c->n_runs[side];
}

static double median(const struct job *j, const double *v, int side)
{
    memcpy(j->sorted, v, runs_of(j, side) * sizeof *v);
    return tg_median(j->sorted, runs_of(j, side));
}

/* ---- which nodes changed, and where ---- */

static double least(const double *v, size_t n)
{
    double x = INFINITY;
    for (size_t i = 0; i < n; i++)
        x = fmin(x, v[i]);
    return x;
}

static double most(const double *v, size_t n)
{
    double x = -INFINITY;
    for (size_t i = 0; i < n; i++)
        x = fmax(x, v[i]);
    return x;
}

/* Calls per run, as struct tg_place_node has them. */
struct calls {
    const double *base, *low, *high, *test;
};

/* Beyond all that the baseline's steps ever had, or gone. */
static bool differ(const struct job *j, struct calls c)
{
    size_t nb = runs_of(j, TG_BASE), nt = runs_of(j, TG_TEST);
    return least(c.test, nt) > most(c.high, nb) + EQUAL ||
           most(c.test, nt) < least(c.low, nb) - EQUAL ||
           (most(c.test, nt) == 0 && least(c.base, nb) > 0);
}

static bool has_changed(const struct job *j, const struct tg_place_node *node)
{
    if (node->parent == TG_NO_ID || node->kind == TG_KIND_STEP || tg_is_polling(node->name))
        return false;
    return differ(j, (struct calls){ node->calls[TG_BASE], node->low[TG_BASE], node->high[TG_BASE],
                                     node->calls[TG_TEST] });
}

/* The deepest node around `node` that both sides have as it was. Roots are. */
static uint32_t held_by(const struct job *j, uint32_t node)
{
    const struct tg_place_node *v = j->t->v;
    do
        node = v[node].parent;
    while (j->changed[node] || !v[node].present[TG_BASE] || !v[node].present[TG_TEST]);
    return node;
}

static uint32_t place_at(struct job *j, uint32_t *index, uint32_t node)
{
    if (index[node] == TG_NO_ID) {
        index[node] = (uint32_t)j->out->n;
        *TG_PUSH(j->out->v, j->out->n, j->cap) = (struct tg_place_change){ .node = node };
    }
    return index[node];
}

/* ---- moves: what comes to the same further up ---- */

/* Calls of one name in all that is below each node around some call of it. */
struct totals {
    uint32_t *slot;   /* per node: its place in `v`; TG_NO_ID */
    uint32_t *around; /* the nodes that have one */
    double *v;        /* [slot][room]: base, low, high; test */
    size_t n, cap, cap_around, room;
};

static double *total_at(struct totals *t, uint32_t node)
{
    if (t->slot[node] == TG_NO_ID) {
        t->v = tg_grow(t->v, &t->cap, (t->n + 1) * t->room, sizeof *t->v);
        t->around = tg_grow(t->around, &t->cap_around, t->n + 1, sizeof *t->around);
        memset(t->v + t->n * t->room, 0, t->room * sizeof *t->v);
        t->around[t->n] = node;
        t->slot[node] = (uint32_t)t->n++;
    }
    return t->v + t->slot[node] * t->room;
}

static void add_runs(double *to, const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] += v[i];
}

static void add_to_enclosers(const struct job *j, struct totals *t, uint32_t node)
{
    const struct tg_place_node *v = j->t->v, *from = &v[node];
    size_t nb = runs_of(j, TG_BASE);
    for (uint32_t up = from->parent; up != TG_NO_ID; up = v[up].parent) {
        double *to = total_at(t, up);
        add_runs(to, from->calls[TG_BASE], nb);
        add_runs(to + nb, from->low[TG_BASE], nb);
        add_runs(to + 2 * nb, from->high[TG_BASE], nb);
        add_runs(to + 3 * nb, from->calls[TG_TEST], runs_of(j, TG_TEST));
    }
}

/* The place of a changed node: the deepest node from the one that holds it on in which there are as many
 * calls as before; else the one that holds it. */
static uint32_t balanced_in(const struct job *j, struct totals *t, uint32_t node,
                            enum balance *balance)
{
    size_t nb = runs_of(j, TG_BASE);
    uint32_t holder = held_by(j, node);
    for (uint32_t at = holder;; at = held_by(j, at)) {
        const double *sum = total_at(t, at);
        if (!differ(j, (struct calls){ sum, sum + nb, sum + 2 * nb, sum + 3 * nb })) {
            *balance = at == holder ? BALANCED : BALANCED_FURTHER_UP;
            return at;
        }
        if (j->t->v[at].parent == TG_NO_ID)
            return holder;
    }
}

/* One name. */
static void find_balances(struct job *j, struct totals *t, const struct piece *v, size_t n)
{
    size_t changed = 0;
    for (size_t i = 0; i < n; i++)
        changed += j->changed[v[i].node];
    for (size_t i = 0; changed > 1 && i < n; i++)
        add_to_enclosers(j, t, v[i].node);
    for (size_t i = 0; i < n; i++) {
        if (!j->changed[v[i].node])
            continue;
        j->place_of[v[i].node] = changed > 1 ? balanced_in(j, t, v[i].node, &j->balance[v[i].node])
                                             : held_by(j, v[i].node);
    }
    for (size_t i = 0; i < t->n; i++)
        t->slot[t->around[i]] = TG_NO_ID;
    t->n = 0;
}

/* The place of each changed node, as a node. */
static void find_holders(struct job *j)
{
    struct totals t = { .slot = no_places(j->t->n),
                        .room = 3 * runs_of(j, TG_BASE) + runs_of(j, TG_TEST) };
    TG_FREE struct piece *v = tg_xrealloc(NULL, j->t->n, sizeof *v);
    size_t n = 0;
    for (uint32_t i = TG_ROOTS; i < j->t->n; i++)
        v[n++] = (struct piece){ .node = i, .kind = j->t->v[i].kind, .name = j->t->v[i].name };
    TG_SORT(v, n, by_piece);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && v[k].kind == v[i].kind && tg_sv_eq(v[k].name, v[i].name); k++)
            ;
        find_balances(j, &t, v + i, k - i);
    }
    free(t.slot);
    free(t.around);
    free(t.v);
}

/* Parents are before their children. */
static void find_places(struct job *j)
{
    TG_FREE uint32_t *index = no_places(j->t->n);
    for (uint32_t i = 0; i < j->t->n; i++)
        j->changed[i] = has_changed(j, &j->t->v[i]);
    find_holders(j);
    for (uint32_t i = TG_ROOTS; i < j->t->n; i++)
        if (j->changed[i])
            j->place_of[i] = place_at(j, index, j->place_of[i]);
    for (uint32_t i = 0; i < j->t->n; i++) {
        uint32_t up = j->t->v[i].parent;
        j->whole_of[i] = index[i] != TG_NO_ID ? index[i]
                         : up == TG_NO_ID     ? TG_NO_ID
                                              : j->whole_of[up];
    }
}

/* ---- what is in them ---- */

static struct tg_place_time time_new(const struct job *j)
{
    struct tg_place_time t;
    for (int side = 0; side < 2; side++) {
        t.host[side] = TG_NEW_N(j->w->a, double, runs_of(j, side));
        t.device[side] = TG_NEW_N(j->w->a, double, runs_of(j, side));
    }
    return t;
}

static void make_room(const struct job *j, struct tg_place_change *p)
{
    for (int s = 0; s < TG_OVER_STEPS_ALL; s++) {
        p->contents[s] = time_new(j);
        p->whole[s] = time_new(j);
    }
    for (int work = 0; work < TG_WORKS; work++)
        for (int side = 0; side < 2; side++)
            p->calls[work][side] = TG_NEW_N(j->w->a, double, runs_of(j, side));
}

static void add_time(const struct job *j, struct tg_place_time t[TG_OVER_STEPS_ALL],
                     const struct tg_place_node *node)
{
    bool device = tg_kind_is_device(node->kind);
    if (tg_kind_is_on_device(node->kind) && !device)
        return; /* waits and annotations: others' time */
    for (int side = 0; side < 2; side++) {
        double *const *mean = device ? t[TG_OVER_STEPS_MEAN].device : t[TG_OVER_STEPS_MEAN].host;
        double *const *low = device ? t[TG_OVER_STEPS_LEAST].device : t[TG_OVER_STEPS_LEAST].host;
        add_runs(mean[side], node->mean[side], runs_of(j, side));
        add_runs(low[side], node->least[side], runs_of(j, side));
    }
}

static void add_contents(struct job *j)
{
    for (size_t p = 0; p < j->out->n; p++)
        make_room(j, &j->out->v[p]);
    for (uint32_t i = 0; i < j->t->n; i++) {
        const struct tg_place_node *node = &j->t->v[i];
        if (i >= TG_ROOTS && j->whole_of[i] != TG_NO_ID)
            add_time(j, j->out->v[j->whole_of[i]].whole, node);
        if (j->changed[i]) {
            struct tg_place_change *p = &j->out->v[j->place_of[i]];
            add_time(j, p->contents, node);
            for (int side = 0; side < 2; side++)
                add_runs(p->calls[tg_work_of(node->kind, node->name)][side], node->calls[side],
                         runs_of(j, side));
        }
    }
}

/* ---- by name ---- */

static double more_time(const struct tg_place_part *p)
{
    return p->ns[TG_TEST] - p->ns[TG_BASE];
}

static int by_time(const void *pa, const void *pb)
{
    const struct tg_place_part *a = pa, *b = pb;
    int c = TG_CMP(fabs(more_time(b)), fabs(more_time(a)));
    c = c ? c : TG_CMP(a->kind, b->kind);
    return c ? c : tg_sv_cmp(a->name, b->name);
}

/* Medians of the sums of the pieces' runs. */
static struct tg_place_part part_of(const struct job *j, const struct piece *v, size_t n)
{
    struct tg_place_part part = { .kind = v->kind, .name = v->name };
    for (size_t i = 0; i < n; i++)
        part.moved |= j->balance[v[i].node] == BALANCED_FURTHER_UP;
    for (int side = 0; side < 2; side++) {
        TG_FREE double *calls = tg_xcalloc(runs_of(j, side) + 1, sizeof *calls);
        TG_FREE double *ns = tg_xcalloc(runs_of(j, side) + 1, sizeof *ns);
        for (size_t i = 0; i < n; i++) {
            add_runs(calls, j->t->v[v[i].node].calls[side], runs_of(j, side));
            add_runs(ns, j->t->v[v[i].node].mean[side], runs_of(j, side));
        }
        part.calls[side] = median(j, calls, side);
        part.ns[side] = median(j, ns, side);
    }
    return part;
}

/* Of the pieces of one place. A name with as many calls as before is not a part, unless they moved: if
 * one piece balances there, all of its name do. */
static void make_parts(const struct job *j, struct tg_place_change *p, const struct piece *v,
                       size_t n)
{
    p->part = TG_NEW_N(j->w->a, struct tg_place_part, n);
    for (size_t i = 0, k; i < n; i = k) {
        struct tg_place_part part;
        for (k = i + 1; k < n && v[k].kind == v[i].kind && tg_sv_eq(v[k].name, v[i].name); k++)
            ;
        part = part_of(j, v + i, k - i);
        if (part.moved || j->balance[v[i].node] == UNBALANCED)
            p->part[p->n_parts++] = part;
    }
    TG_SORT(p->part, p->n_parts, by_time);
}

static bool is_own_work(const struct tg_place_part *part)
{
    enum tg_work work = tg_work_of(part->kind, part->name);
    return work == TG_WORK_KERNEL || work == TG_WORK_COPY || work == TG_WORK_SET ||
           work == TG_WORK_CALL;
}

/* An operator whose calls are the same, and what it launches is not. */
static bool is_choice(const struct job *j, const struct tg_place_change *p)
{
    bool device = false;
    for (size_t i = 0; i < p->n_parts; i++) {
        if (!p->part[i].moved && !is_own_work(&p->part[i]))
            return false;
        device |= !p->part[i].moved && tg_kind_is_device(p->part[i].kind);
    }
    return device && j->t->v[p->node].kind == TG_KIND_OP;
}

static void find_parts(struct job *j)
{
    TG_FREE struct piece *v = tg_xrealloc(NULL, j->t->n, sizeof *v);
    size_t n = 0;
    for (uint32_t i = 0; i < j->t->n; i++)
        if (j->changed[i])
            v[n++] = (struct piece){ j->place_of[i], i, j->t->v[i].kind, j->t->v[i].name };
    TG_SORT(v, n, by_piece);
    for (size_t i = 0, k; i < n; i = k) {
        struct tg_place_change *p = &j->out->v[v[i].place];
        for (k = i + 1; k < n && v[k].place == v[i].place; k++)
            ;
        make_parts(j, p, v + i, k - i);
        p->choice = is_choice(j, p);
    }
}

/* ---- the order ---- */

struct ranked {
    struct tg_place_change place;
    double ns;
};

static int by_difference(const void *pa, const void *pb)
{
    const struct ranked *a = pa, *b = pb;
    int c = TG_CMP(fabs(b->ns), fabs(a->ns));
    return c ? c : TG_CMP(a->place.node, b->place.node);
}

static double median_time(const struct job *j, const struct tg_place_time *t, int side)
{
    return median(j, t->host[side], side) + median(j, t->device[side], side);
}

static void sort_places(struct job *j)
{
    struct tg_places *out = j->out;
    TG_FREE struct ranked *v = tg_xrealloc(NULL, out->n + 1, sizeof *v);
    for (size_t i = 0; i < out->n; i++) {
        const struct tg_place_time *t = &out->v[i].contents[TG_OVER_STEPS_MEAN];
        v[i] =
            (struct ranked){ out->v[i], median_time(j, t, TG_TEST) - median_time(j, t, TG_BASE) };
    }
    TG_SORT(v, out->n, by_difference);
    free(out->v);
    out->v = TG_NEW_N(j->w->a, struct tg_place_change, out->n);
    for (size_t i = 0; i < out->n; i++)
        out->v[i] = v[i].place;
}

/* ---- what moved, and what else is one edit ---- */

/* Parts of one name in all places. */
struct named {
    struct tg_place_part *part;
    uint32_t place;
};

static int by_part_name(const void *pa, const void *pb)
{
    const struct named *a = pa, *b = pb;
    int c = TG_CMP(a->part->kind, b->part->kind);
    c = c ? c : tg_sv_cmp(a->part->name, b->part->name);
    return c ? c : TG_CMP(a->place, b->place);
}

static bool same_name(const struct tg_place_part *a, const struct tg_place_part *b)
{
    return a->kind == b->kind && tg_sv_eq(a->name, b->name);
}

static uint32_t first_of_group(const struct tg_places *p, uint32_t at)
{
    while (p->v[at].group != at)
        at = p->v[at].group;
    return at;
}

static void join(struct tg_places *p, uint32_t one, uint32_t other)
{
    uint32_t a = first_of_group(p, one), b = first_of_group(p, other);
    p->v[a > b ? a : b].group = a < b ? a : b;
}

/* Several places, and over all of them as many calls as before. */
static void mark_moved(struct tg_places *out, const struct named *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i].part->calls[TG_TEST] - v[i].part->calls[TG_BASE];
    if (n < 2 || fabs(sum) > EQUAL)
        return;
    for (size_t i = 0; i < n; i++) {
        v[i].part->moved = true;
        join(out, v[0].place, v[i].place);
    }
}

/* Did both come, or both go? */
static bool same_way(const struct tg_place_part *a, const struct tg_place_part *b)
{
    return (a->calls[TG_TEST] > a->calls[TG_BASE]) == (b->calls[TG_TEST] > b->calls[TG_BASE]);
}

/* A row of autograd's, and the operators of which it is the backward work. */
static void join_forward(struct tg_places *out, const struct named *row, const struct named *v,
                         size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (v[i].place != row->place && v[i].part->kind == TG_KIND_OP &&
            same_way(v[i].part, row->part) &&
            tg_name_is_backward_of(row->part->name, v[i].part->name))
            join(out, row->place, v[i].place);
}

static void find_groups(struct tg_places *out)
{
    TG_FREE struct named *v = NULL;
    size_t n = 0, cap = 0;
    for (uint32_t p = 0; p < out->n; p++) {
        out->v[p].group = p;
        for (size_t i = 0; i < out->v[p].n_parts; i++)
            if (!out->v[p].part[i].moved)
                *TG_PUSH(v, n, cap) = (struct named){ &out->v[p].part[i], p };
    }
    TG_SORT(v, n, by_part_name);
    for (size_t i = 0; out->n > 1 && i < n; i++)
        if (tg_sv_has(v[i].part->name, TG_SV("Backward")))
            join_forward(out, &v[i], v, n);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && same_name(v[i].part, v[k].part); k++)
            ;
        mark_moved(out, v + i, k - i);
    }
    for (uint32_t p = 0; p < out->n; p++) {
        out->v[p].group = first_of_group(out, p);
        out->v[p].moved = out->v[p].n_parts > 0;
        for (size_t i = 0; i < out->v[p].n_parts; i++)
            out->v[p].moved &= out->v[p].part[i].moved;
    }
}

void tg_places_find(struct tg_places *out, struct tg_diff_work *w)
{
    struct job j = { .w = w, .out = out, .t = &out->tree };
    size_t runs = w->c->n_runs[TG_BASE] + w->c->n_runs[TG_TEST];
    *out = (struct tg_places){ 0 };
    tg_place_tree_build(&out->tree, w);
    j.changed = tg_xcalloc(out->tree.n, sizeof *j.changed);
    j.balance = tg_xcalloc(out->tree.n, sizeof *j.balance);
    j.place_of = no_places(out->tree.n);
    j.whole_of = no_places(out->tree.n);
    j.sorted = tg_xrealloc(NULL, runs, sizeof *j.sorted);
    find_places(&j);
    add_contents(&j);
    find_parts(&j);
    sort_places(&j);
    find_groups(out);
    free(j.changed);
    free(j.balance);
    free(j.place_of);
    free(j.whole_of);
    free(j.sorted);
}
