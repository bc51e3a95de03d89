/*
 * Renames and replacements: what came and what went, paired before anything is called a regression.
 * An added name is excused only by removed names of the same kind in the same place.
 *
 * A rename is a removed and an added operator of one kind with the same count and about the same time
 * per call.
 * A replacement is a region, the nearest enclosing annotation (Optimizer.step#Adam.step, a module)
 * or else the step, in which names came and went: it costs more if more launches (operators, if nothing
 * is launched) came than went, unless it provably takes less time (net.c), or if it got slower.
 * What costs nothing (slight.c) is left out of the balance.
 */
#include <math.h>
#include <stdlib.h>

#include "core/diff/counts.h"
#include "core/diff/internal.h"
#include "core/diff/names.h"
#include "core/diff/numbers.h"
#include "core/diff/where.h"

#define EQUAL 1e-9 /* of calls: what a ratio of iterations leaves of equal numbers */

/* ---- renames ---- */

struct pair {
    double distance; /* |ln| of the ratio of times */
    uint32_t removed, added;
};

/* What only some steps have comes more often in some runs than in others, as counts that vary do. */
static bool same_calls(const struct tg_op *removed, const struct tg_op *added)
{
    double a = removed->count[TG_BASE], b = added->count[TG_TEST];
    bool vary =
        removed->counted.shape == TG_COUNT_VARIES && added->counted.shape == TG_COUNT_SOME_STEPS;
    return a == b || (vary && fmax(a, b) <= TG_TWICE * fmin(a, b));
}

static bool could_rename(const struct tg_op *removed, const struct tg_op *added, double *distance)
{
    double tb = removed->self[TG_BASE], tt = added->self[TG_TEST];

    if (removed->kind != added->kind || !same_calls(removed, added))
        return false;
    *distance = fabs(log(tt / added->count[TG_TEST] * removed->count[TG_BASE] / tb));
    return *distance <= log(TG_SUSPECT);
}

static int by_distance(const void *pa, const void *pb)
{
    const struct pair *a = pa, *b = pb;
    int c = TG_CMP(a->distance, b->distance);
    c = c ? c : TG_CMP(a->removed, b->removed); /* operators are sorted by name */
    return c ? c : TG_CMP(a->added, b->added);
}

static bool is_counted(const struct tg_op *op)
{
    return op->change != TG_SAME && !op->polling && !op->choice && tg_kind_is_counted(op->kind);
}

/* What came or went alone, and takes so long that its time says something: never many names. */
static uint32_t *rename_candidates(const struct tg_comparison *c, enum tg_change change, size_t *n)
{
    int side = change == TG_ADDED ? TG_TEST : TG_BASE;
    double floor = TG_RENAME_FLOOR * c->step_ns[TG_BASE];
    uint32_t *v = tg_xmalloc((c->n_ops + 1) * sizeof *v);

    *n = 0;
    for (uint32_t i = 0; i < c->n_ops; i++)
        if (is_counted(&c->ops[i]) && c->ops[i].change == change &&
            !(c->ops[i].self[side] <= floor))
            v[(*n)++] = i;
    return v;
}

static void pair_renames(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;
    TG_FREE struct pair *v = NULL;
    size_t n = 0, cap = 0, n_removed, n_added;
    TG_FREE uint32_t *removed_at = rename_candidates(c, TG_REMOVED, &n_removed);
    TG_FREE uint32_t *added_at = rename_candidates(c, TG_ADDED, &n_added);
    double distance;

    for (size_t i = 0; i < n_removed; i++)
        for (size_t j = 0; j < n_added; j++)
            if (could_rename(&c->ops[removed_at[i]], &c->ops[added_at[j]], &distance))
                *TG_PUSH(v, n, cap) = (struct pair){ distance, removed_at[i], added_at[j] };
    TG_SORT(v, n, by_distance);
    for (size_t i = 0; i < n; i++) {
        struct tg_op *removed = &c->ops[v[i].removed], *added = &c->ops[v[i].added];
        if (removed->relation != TG_REL_NONE || added->relation != TG_REL_NONE)
            continue;
        removed->relation = added->relation = TG_REL_RENAMED;
        removed->partner = v[i].added;
        added->partner = v[i].removed;
    }
}

/* Beside `came`, under the same encloser, clearly more calls of new names came than went. */
static bool among_new_names(const struct tg_comparison *c, const struct tg_op *added)
{
    double new_calls = 0, gone_calls = 0;
    for (size_t i = 0; i < c->n_ops; i++) {
        const struct tg_op *op = &c->ops[i];
        if (op == added || !is_counted(op) || op->kind != added->kind ||
            op->relation != TG_REL_NONE || !tg_sv_eq(op->parent, added->parent))
            continue;
        new_calls += op->change == TG_ADDED ? op->count[TG_TEST] : 0;
        gone_calls += op->change == TG_REMOVED ? op->count[TG_BASE] : 0;
    }
    return new_calls > gone_calls;
}

/*
 * If more names came beside it than went, equal times are chance: `silu` that became `sigmoid` and
 * `mul` is not a rename. Such a pair counts in its region like everything else that came and went.
 */
static void revoke_chance_renames(struct tg_comparison *c)
{
    for (size_t i = 0; i < c->n_ops; i++) {
        struct tg_op *added = &c->ops[i];
        if (added->relation != TG_REL_RENAMED || added->change != TG_ADDED ||
            !among_new_names(c, added))
            continue;
        struct tg_op *removed = &c->ops[added->partner];
        added->relation = removed->relation = TG_REL_NONE;
        added->partner = removed->partner = TG_NO_ID;
    }
}

/* ---- where a change took place ---- */

struct regions {
    struct tg_diff_work *w;
    struct tg_strmap names; /* sort and encloser -> place */
    struct tg_buf key;
    struct tg_net_place *place;
    size_t cap_place;
    struct tg_net_part *part;
    size_t n_parts, cap_parts;
    struct tg_where where;
    bool by_step;                 /* places are not known: only the whole step is balanced, */
    bool step_cheap[TG_KINDS][2]; /* by sort; as in a place */
};

/* Graph launches count as the kernels that they hold. */
static enum tg_kind sort_of(const struct tg_op *op)
{
    return op->kind == TG_KIND_GRAPH ? TG_KIND_KERNEL : op->kind;
}

static tg_sv place_key(struct regions *g, tg_sv encloser, enum tg_kind sort)
{
    tg_buf_clear(&g->key);
    tg_buf_putc(&g->key, (char)('A' + (int)sort));
    tg_buf_add(&g->key, encloser);
    return tg_buf_sv(&g->key);
}

static uint32_t place_of(struct regions *g, tg_sv encloser, enum tg_kind sort)
{
    size_t known = g->names.n;
    uint32_t id = tg_strmap_add(&g->names, place_key(g, encloser, sort));

    if (id == known) {
        g->place = tg_grow(g->place, &g->cap_place, id + 1, sizeof *g->place);
        g->place[id] = (struct tg_net_place){ .encloser = encloser, .sort = sort, .id = TG_NO_ID };
    }
    return id;
}

static const struct tg_net_place *known_place(struct regions *g, tg_sv encloser, enum tg_kind sort)
{
    uint32_t id = tg_strmap_find(&g->names, place_key(g, encloser, sort));
    return id < g->names.n ? &g->place[id] : NULL;
}

/* Splits the change of one operator by the annotations around its calls. */
static void split_change(struct regions *g, uint32_t index)
{
    const struct tg_op *op = &g->w->c->ops[index];
    size_t n;
    const struct tg_spot *v = tg_where_of(&g->where, op, &n);

    for (size_t i = 0; i < n; i++) {
        double delta = v[i].calls[TG_TEST] / g->w->c->iteration_ratio - v[i].calls[TG_BASE];
        if (delta != 0)
            *TG_PUSH(g->part, g->n_parts, g->cap_parts) =
                (struct tg_net_part){ index, place_of(g, v[i].around, sort_of(op)), delta };
    }
}

static int by_op_and_place(const void *pa, const void *pb)
{
    const struct tg_net_part *a = pa, *b = pb;
    int c = TG_CMP(a->op, b->op);
    return c ? c : TG_CMP(a->place, b->place);
}

/* Autograd's own rows around what a node calls: they come and go with it, and count if nothing else does. */
static bool is_bookkeeping(const struct tg_op *op)
{
    return op->kind == TG_KIND_OP && tg_name_is_node(op->name);
}

/* An operator that mostly calls others: what it calls came or went with it, and is counted. */
static bool is_caller(const struct tg_op *op)
{
    int side = tg_op_rose(op) ? TG_TEST : TG_BASE;

    return op->kind == TG_KIND_OP && op->self[side] < TG_QUARTER * op->total[side];
}

static bool is_work(const struct tg_op *op)
{
    return !is_bookkeeping(op) && !is_caller(op);
}

/* Views cost nothing: what went may pay for them, and they pay for no work. */
static bool is_view(const struct tg_op *op)
{
    return op->kind == TG_KIND_OP && tg_name_is_view(op->name);
}

/* The balance of each place. */
static void add_up(struct regions *g)
{
    bool *work = TG_NEW_N(g->w->a, bool, g->names.n + 1);

    for (size_t i = 0; i < g->n_parts; i++)
        work[g->part[i].place] |= is_work(&g->w->c->ops[g->part[i].op]);
    for (size_t i = 0; i < g->n_parts; i++) {
        const struct tg_net_part *part = &g->part[i];
        struct tg_net_place *p = &g->place[part->place];
        if (work[part->place] && !is_work(&g->w->c->ops[part->op]))
            continue;
        for (int all = is_view(&g->w->c->ops[part->op]); all < 2; all++) {
            p->added[all] += fmax(part->delta, 0);
            p->removed[all] += fmax(-part->delta, 0);
        }
    }
}

/* Adds up parts of one operator in one place: a move between parents inside it is not a change. */
static void net_parts(struct regions *g)
{
    size_t kept = 0;

    TG_SORT(g->part, g->n_parts, by_op_and_place);
    for (size_t i = 0, j; i < g->n_parts; i = j) {
        struct tg_net_part sum = g->part[i];
        for (j = i + 1; j < g->n_parts && by_op_and_place(&g->part[i], &g->part[j]) == 0; j++)
            sum.delta += g->part[j].delta;
        if (sum.delta != 0)
            g->part[kept++] = sum;
    }
    g->n_parts = kept;
    add_up(g);
}

/* ---- decisions ---- */

/* No more calls came than went. */
static bool is_cheap(double added, double removed)
{
    return removed > 0 && added <= (1 + EQUAL) * removed;
}

/* Are counts of this operator part of the balance? Those that vary move it by chance, another device
 * has other kernels by nature, and views cost nothing: they excuse nothing that a program does. */
static bool is_balanced(const struct regions *g, const struct tg_op *op)
{
    if ((op->kind == TG_KIND_KERNEL && !g->w->c->same_device) || op->slight == TG_SLIGHT_FREE ||
        op->choice)
        return false;
    return is_counted(op) && op->relation == TG_REL_NONE && op->counted.shape == TG_COUNT_CONSTANT;
}

static bool is_step_cheap(const struct regions *g, enum tg_kind sort, bool all)
{
    double added = 0, removed = 0;

    for (size_t i = 0; i < g->w->c->n_ops; i++) {
        const struct tg_op *op = &g->w->c->ops[i];
        double delta = tg_op_rise(g->w->c, op);
        if (!is_balanced(g, op) || sort_of(op) != sort || !is_work(op) || (is_view(op) && !all))
            continue;
        added += fmax(delta, 0);
        removed += fmax(-delta, 0);
    }
    return is_cheap(added, removed);
}

/* Regions for the report: places where calls came and went. */
static void list_regions(struct regions *g)
{
    struct tg_comparison *c = g->w->c;

    c->regions = TG_NEW_N(g->w->a, struct tg_region, g->names.n + 1);
    for (size_t i = 0; i < g->names.n; i++) {
        struct tg_net_place *p = &g->place[i];
        for (int all = 0; all < 2; all++)
            p->cheap[all] =
                g->by_step ? g->step_cheap[p->sort][all] : is_cheap(p->added[all], p->removed[all]);
        if (p->removed[1] <= 0 || p->added[1] <= 0)
            continue;
        p->id = (uint32_t)c->n_regions;
        struct tg_region *r = &c->regions[c->n_regions++];
        r->encloser = p->encloser;
        r->kind = p->sort;
        r->calls[TG_BASE] = p->removed[p->cheap[0]];
        r->calls[TG_TEST] = p->added[p->cheap[0]];
        r->worse_count = !p->cheap[0] || !p->cheap[1];
        const struct tg_op *op = tg_where_op(&g->where, p->encloser);
        for (int side = 0; side < 2; side++)
            r->time[side] = op ? op->total[side] : c->step_ns[side];
    }
}

size_t tg_net_first_part(const struct tg_net_part *part, size_t n, uint32_t op)
{
    size_t from = 0, to = n;

    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (part[mid].op < op)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

/* What an operator that changed is to its places: replaced only if every place where it rose is. */
static void relate(struct regions *g, struct tg_op *op, uint32_t index)
{
    bool any = false, worse = false, seen = false, view = is_view(op);

    for (size_t i = tg_net_first_part(g->part, g->n_parts, index);
         i < g->n_parts && g->part[i].op == index; i++) {
        const struct tg_net_part *p = &g->part[i];
        seen = true;
        any |= g->place[p->place].cheap[view];
        worse |= p->delta > 0 && !g->place[p->place].cheap[view];
        if (op->region == TG_NO_ID && (!view || g->place[p->place].cheap[0]))
            op->region = g->place[p->place].id;
    }
    if (!seen) { /* its enclosers differ between runs */
        const struct tg_net_place *at = known_place(g, tg_where_most(&g->where, op), sort_of(op));
        any = at && at->cheap[view];
        op->region = at ? at->id : TG_NO_ID;
    }
    bool replaced = g->by_step ? g->step_cheap[sort_of(op)][view] : any && !worse;
    bool rose = tg_op_rose(op);
    if (rose && tg_op_makes_wait(op))
        op->region = TG_NO_ID; /* counts for itself */
    else if (replaced && (op->region != TG_NO_ID || rose))
        op->relation = TG_REL_REPLACED;
    else if (rose && op->region != TG_NO_ID)
        op->relation = TG_REL_REPLACED_WORSE;
}

/*
 * Unchanged operators beside a replacement under one annotation: cost may have moved to them, and
 * the annotation's inclusive time tells. It tells nothing of a device's work.
 */
static void mark_moved(struct regions *g)
{
    struct tg_comparison *c = g->w->c;

    for (size_t i = 0; i < c->n_ops; i++) {
        struct tg_op *op = &c->ops[i];
        if (op->change != TG_SAME || op->relation != TG_REL_NONE || op->kind == TG_KIND_STEP ||
            op->kind == TG_KIND_ANNOTATION || tg_kind_is_device(op->kind))
            continue;
        tg_sv encloser = tg_where_most(&g->where, op);
        const struct tg_net_place *at = encloser.n ? known_place(g, encloser, TG_KIND_OP) : NULL;
        if (!at || !at->cheap[0] || at->id == TG_NO_ID)
            continue;
        op->relation = TG_REL_MOVED;
        op->region = at->id;
    }
}

static void pair_regions(struct regions *g)
{
    struct tg_comparison *c = g->w->c;
    bool *balanced = TG_NEW_N(g->w->a, bool, c->n_ops + 1);

    for (uint32_t i = 0; i < c->n_ops; i++) {
        balanced[i] = is_balanced(g, &c->ops[i]);
        if (balanced[i])
            split_change(g, i);
    }
    net_parts(g);
    /* With whole microseconds children seem to start before their parents: enclosers are wrong by
     * chance, and only the whole step can be balanced. */
    g->by_step = g->w->tick > 1;
    for (enum tg_kind sort = 0; sort < TG_KINDS; sort++)
        for (int all = 0; all < 2; all++)
            g->step_cheap[sort][all] = is_step_cheap(g, sort, all);
    list_regions(g);
    for (uint32_t i = 0; i < c->n_ops; i++)
        if (balanced[i])
            relate(g, &c->ops[i], i);
    mark_moved(g);
    for (size_t i = 0; !g->by_step && i < c->n_ops; i++)
        c->ops[i].place = tg_where_most(&g->where, &c->ops[i]);
}

/* ---- what it costs ---- */

struct tg_op *tg_ops_join(const struct tg_diff_work *w, const uint32_t *member, size_t n)
{
    struct tg_op *joint = TG_NEW(w->a, struct tg_op);
    struct tg_diff_cell *cell;

    *joint = w->c->ops[member[0]];
    joint->rows = tg_op_rows_new(w, &cell);
    joint->count[TG_BASE] = joint->count[TG_TEST] = 0;
    for (size_t i = 0; i < n; i++)
        for (int side = 0; side < 2; side++)
            joint->count[side] += w->c->ops[member[i]].count[side];
    for (size_t at = 0; at < w->n_cells; at++) {
        const struct tg_row **row;
        size_t n_rows = 0;
        for (size_t i = 0; i < n; i++)
            n_rows += w->c->ops[member[i]].rows->cell[at].n;
        row = TG_NEW_N(w->a, const struct tg_row *, n_rows + 1);
        cell[at] = (struct tg_diff_cell){ row, 0 };
        for (size_t i = 0; i < n; i++) {
            const struct tg_diff_cell *of = &w->c->ops[member[i]].rows->cell[at];
            for (size_t r = 0; r < of->n; r++)
                row[cell[at].n++] = of->row[r];
        }
    }
    return joint;
}

static struct tg_joint *new_joint(struct tg_diff_work *w, uint32_t leader, const struct tg_op *op)
{
    w->joints = tg_grow(w->joints, &w->cap_joints, w->n_joints + 1, sizeof *w->joints);
    w->joints[w->n_joints] = (struct tg_joint){ .leader = leader, .op = op };
    return &w->joints[w->n_joints++];
}

/* The annotations that hold calls of any of the operators, each once. */
static void put_around(const struct regions *g, struct tg_joint *joint, const uint32_t *member,
                       size_t n)
{
    const struct tg_comparison *c = g->w->c;
    uint32_t *around = TG_NEW_N(g->w->a, uint32_t, c->n_ops + 1);

    joint->around = around;
    for (size_t i = 0; i < n; i++) {
        size_t spots;
        const struct tg_spot *v = tg_where_of(&g->where, &c->ops[member[i]], &spots);
        for (size_t at = 0; at < spots; at++) {
            const struct tg_op *op = tg_where_op(&g->where, v[at].around);
            size_t k = 0;
            while (op && k < joint->n_around && around[k] != (uint32_t)(op - c->ops))
                k++;
            if (op && k == joint->n_around)
                around[joint->n_around++] = (uint32_t)(op - c->ops);
        }
    }
}

static struct tg_joint *add_joint(struct tg_diff_work *w, const uint32_t *member, size_t n)
{
    struct tg_joint *joint;
    uint32_t leader = TG_NO_ID;

    for (size_t i = 0; i < n; i++) {
        const struct tg_op *op = &w->c->ops[member[i]];
        if (tg_op_rose(op) &&
            (leader == TG_NO_ID || op->self[TG_TEST] > w->c->ops[leader].self[TG_TEST]))
            leader = member[i];
    }
    if (leader == TG_NO_ID || n < 2)
        return NULL;
    joint = new_joint(w, leader, tg_ops_join(w, member, n));
    joint->n = w->c->ops[leader].relation == TG_REL_RENAMED ? 0 : n;
    return joint;
}

/* What came and went in one region; inside an annotation, if those are known, also each unchanged
 * operator. */
static void join_region(const struct regions *g, uint32_t id, uint32_t *member)
{
    struct tg_diff_work *w = g->w;
    struct tg_comparison *c = w->c;
    const struct tg_region *region = &c->regions[id];
    bool inside = region->encloser.n && region->kind == TG_KIND_OP;
    struct tg_joint *joint;
    size_t n = 0;

    for (uint32_t i = 0; i < c->n_ops; i++) {
        if (c->ops[i].region != id)
            continue;
        if (c->ops[i].relation == TG_REL_MOVED && !g->by_step)
            put_around(g, new_joint(w, i, &c->ops[i]), &i, 1);
        else if (c->ops[i].change != TG_SAME && sort_of(&c->ops[i]) == region->kind &&
                 !c->ops[i].wait)
            member[n++] = i;
    }
    joint = inside && g->by_step ? NULL : add_joint(w, member, n);
    if (joint && inside)
        put_around(g, joint, member, n);
}

/* A rename is one operator. So is what came and went in a region. */
static void join_replacements(const struct regions *g)
{
    struct tg_diff_work *w = g->w;
    struct tg_comparison *c = w->c;
    uint32_t *member = TG_NEW_N(w->a, uint32_t, c->n_ops + 1);

    for (uint32_t i = 0; i < c->n_ops; i++)
        if (c->ops[i].relation == TG_REL_RENAMED && c->ops[i].change == TG_ADDED)
            (void)add_joint(w, (uint32_t[]){ c->ops[i].partner, i }, 2);
    for (uint32_t id = 0; id < c->n_regions; id++)
        join_region(g, id, member);
}

static bool anything_changed(const struct tg_comparison *c)
{
    for (size_t i = 0; i < c->n_ops; i++)
        if (is_counted(&c->ops[i]))
            return true;
    return false;
}

void tg_replacements_pair(struct tg_diff_work *w)
{
    struct regions g = { .w = w };

    if (w->n_cells == 0 || !anything_changed(w->c))
        return;
    pair_renames(w);
    revoke_chance_renames(w->c);
    tg_strmap_init(&g.names);
    tg_where_open(&g.where, w);
    pair_regions(&g);
    join_replacements(&g);
    w->n_places = g.names.n;
    w->place = tg_arena_copy(w->a, g.place, w->n_places, sizeof *g.place);
    w->n_place_parts = g.n_parts;
    w->place_part = tg_arena_copy(w->a, g.part, g.n_parts, sizeof *g.part);
    tg_strmap_release(&g.names);
    tg_buf_release(&g.key);
    free(g.place);
    free(g.part);
}
