/*
 * Renames and replacements: what came and what went, paired before anything is called a regression.
 *
 * A rename is a gone and a new operator of one kind with the same count and about the same time.
 * A replacement is a region, the nearest enclosing annotation (Optimizer.step#Adam.step, a module)
 * or else the step, in which names came and went: it costs more only if its launches (operators
 * where nothing is launched) rise by more than a quarter, or its time by a duration verdict.
 */
#include <math.h>
#include <stdlib.h>

#include "core/diff/internal.h"
#include "core/diff/stats.h"

#define RENAME_FACTOR 1.3  /* of time per step */
#define RENAME_FLOOR 0.002 /* of the step: below it equal times are chance */
#define WORSE_FACTOR 1.25  /* calls that came over calls that went */
#define MAX_DEPTH 64       /* of enclosers; names that enclose each other would not end */

/* ---- renames ---- */

struct pair {
    double distance; /* |ln| of the ratio of times */
    uint32_t gone, came;
};

static bool could_rename(const struct tg_comparison *c, const struct tg_op *gone,
                         const struct tg_op *came, double *distance)
{
    double tb = gone->self[TG_BASE], tt = came->self[TG_TEST];
    double floor = RENAME_FLOOR * c->step_ns[TG_BASE];

    if (gone->kind != came->kind || gone->count[TG_BASE] != came->count[TG_TEST] || tb <= floor ||
        tt <= floor)
        return false;
    *distance = fabs(log(tt / tb));
    return *distance <= log(RENAME_FACTOR);
}

static int by_distance(const void *pa, const void *pb)
{
    const struct pair *a = pa, *b = pb;
    if (a->distance != b->distance)
        return a->distance < b->distance ? -1 : 1;
    if (a->gone != b->gone) /* operators are sorted by name */
        return a->gone < b->gone ? -1 : 1;
    return (a->came > b->came) - (a->came < b->came);
}

static bool is_counted(const struct tg_op *op)
{
    return op->change != TG_SAME && !op->polling && tg_kind_is_counted(op->kind);
}

static void pair_renames(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;
    struct pair *v = NULL;
    size_t n = 0, cap = 0;
    double distance;

    for (uint32_t i = 0; i < c->n_ops; i++) {
        if (!is_counted(&c->ops[i]) || c->ops[i].change != TG_REMOVED)
            continue;
        for (uint32_t j = 0; j < c->n_ops; j++)
            if (is_counted(&c->ops[j]) && c->ops[j].change == TG_ADDED &&
                could_rename(c, &c->ops[i], &c->ops[j], &distance)) {
                v = tg_grow(v, &cap, n + 1, sizeof *v);
                v[n++] = (struct pair){ distance, i, j };
            }
    }
    if (n)
        qsort(v, n, sizeof *v, by_distance);
    for (size_t i = 0; i < n; i++) {
        struct tg_op *gone = &c->ops[v[i].gone], *came = &c->ops[v[i].came];
        if (gone->relation != TG_REL_NONE || came->relation != TG_REL_NONE)
            continue;
        gone->relation = came->relation = TG_REL_RENAMED;
        gone->partner = v[i].came;
        came->partner = v[i].gone;
    }
    free(v);
}

/* Beside `came`, under the same encloser, clearly more calls of new names came than went. */
static bool among_new_names(const struct tg_comparison *c, const struct tg_op *came)
{
    double new_calls = 0, gone_calls = 0;
    for (size_t i = 0; i < c->n_ops; i++) {
        const struct tg_op *op = &c->ops[i];
        if (op == came || !is_counted(op) || op->kind != came->kind ||
            op->relation != TG_REL_NONE || !tg_sv_eq(op->parent, came->parent))
            continue;
        new_calls += op->change == TG_ADDED ? op->count[TG_TEST] : 0;
        gone_calls += op->change == TG_REMOVED ? op->count[TG_BASE] : 0;
    }
    return new_calls > WORSE_FACTOR * gone_calls;
}

/*
 * Where more names came beside it than went, equal times are chance: `silu` that became `sigmoid`
 * and `mul` is no rename. Such a pair counts in its region like everything else that came and went.
 */
static void revoke_chance_renames(struct tg_comparison *c)
{
    for (size_t i = 0; i < c->n_ops; i++) {
        struct tg_op *came = &c->ops[i];
        if (came->relation != TG_REL_RENAMED || came->change != TG_ADDED ||
            !among_new_names(c, came))
            continue;
        struct tg_op *gone = &c->ops[came->partner];
        came->relation = gone->relation = TG_REL_NONE;
        came->partner = gone->partner = TG_NO_ID;
    }
}

/* ---- where a change took place ---- */

struct place {
    tg_sv encloser; /* "" the step */
    double came, went;
};

struct part { /* of an operator's change, in one place */
    uint32_t op, place;
    double delta; /* calls per step */
};

struct regions {
    struct tg_diff_work *w;
    struct tg_strmap names; /* encloser -> place */
    struct place *place;
    size_t cap_place;
    struct part *part;
    size_t n_parts, cap_parts;
    const struct tg_op **op_of_name; /* by interned name id: the largest operator or annotation */
    size_t n_op_of_name;
    bool launches; /* the net is about launches, else about operators */
};

/* For each name the host operator that enclosers of that name mean. */
static void index_enclosers(struct regions *g)
{
    const struct tg_comparison *c = g->w->c;

    g->n_op_of_name = g->w->names->n;
    g->op_of_name = TG_NEW_N(g->w->a, const struct tg_op *, g->n_op_of_name + 1);
    for (size_t i = 0; i < c->n_ops; i++) {
        const struct tg_op *op = &c->ops[i];
        uint32_t id = tg_strmap_find(g->w->names, op->name);
        if (id >= g->n_op_of_name || !tg_kind_nests(op->kind))
            continue;
        const struct tg_op *known = g->op_of_name[id];
        if (!known ||
            op->whole_total[0] + op->whole_total[1] > known->whole_total[0] + known->whole_total[1])
            g->op_of_name[id] = op;
    }
}

/* The nearest annotation from `name` outwards, by each name's main encloser; "" the step. */
static tg_sv climb(const struct regions *g, tg_sv name)
{
    for (int depth = 0; depth < MAX_DEPTH && name.n; depth++) {
        uint32_t id = tg_strmap_find(g->w->names, name);
        const struct tg_op *op = id < g->n_op_of_name ? g->op_of_name[id] : NULL;
        if (!op || op->kind == TG_KIND_STEP)
            break;
        if (op->kind == TG_KIND_ANNOTATION)
            return name;
        name = op->parent;
    }
    return TG_SV("");
}

static uint32_t place_of(struct regions *g, tg_sv encloser)
{
    size_t known = g->names.n;
    uint32_t id = tg_strmap_add(&g->names, encloser);

    if (id == known) {
        g->place = tg_grow(g->place, &g->cap_place, id + 1, sizeof *g->place);
        g->place[id] = (struct place){ .encloser = encloser };
    }
    return id;
}

/* Splits the change of one operator by encloser. */
static void split_change(struct regions *g, uint32_t index)
{
    struct tg_diff_work *w = g->w;
    const struct tg_op *op = &w->c->ops[index];
    struct tg_strmap parents;

    tg_strmap_init(&parents);
    for (size_t at = 0; at < w->n_cells; at++)
        for (size_t r = 0; r < op->rows->cell[at].n; r++)
            tg_strmap_add(&parents, op->rows->cell[at].row[r]->parent);
    for (size_t i = 0; i < parents.n; i++) {
        double base = tg_count_under(w, op, TG_BASE, parents.text[i]);
        double test = tg_count_under(w, op, TG_TEST, parents.text[i]) / w->c->iteration_ratio;
        if (test == base)
            continue;
        tg_sv name = tg_work_name(w, TG_KIND_OP, parents.text[i]);
        g->part = tg_grow(g->part, &g->cap_parts, g->n_parts + 1, sizeof *g->part);
        g->part[g->n_parts++] = (struct part){ index, place_of(g, climb(g, name)), test - base };
    }
    tg_strmap_release(&parents);
}

static bool in_net(const struct regions *g, const struct tg_op *op)
{
    if (!g->launches)
        return op->kind == TG_KIND_OP;
    return tg_kind_is_device(op->kind) || op->kind == TG_KIND_GRAPH;
}

static int by_op_and_place(const void *pa, const void *pb)
{
    const struct part *a = pa, *b = pb;
    if (a->op != b->op)
        return a->op < b->op ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

/* Adds up parts of one operator in one place: what moved between parents inside it is no change. */
static void net_parts(struct regions *g)
{
    size_t kept = 0;

    if (g->n_parts)
        qsort(g->part, g->n_parts, sizeof *g->part, by_op_and_place);
    for (size_t i = 0, j; i < g->n_parts; i = j) {
        struct part sum = g->part[i];
        for (j = i + 1; j < g->n_parts && by_op_and_place(&g->part[i], &g->part[j]) == 0; j++)
            sum.delta += g->part[j].delta;
        if (sum.delta != 0)
            g->part[kept++] = sum;
    }
    g->n_parts = kept;
    for (size_t i = 0; i < kept; i++) {
        struct place *p = &g->place[g->part[i].place];
        if (!in_net(g, &g->w->c->ops[g->part[i].op]))
            continue;
        p->came += fmax(g->part[i].delta, 0);
        p->went += fmax(-g->part[i].delta, 0);
    }
}

/* ---- decisions ---- */

static bool is_cheap(double came, double went)
{
    return went > 0 && came <= WORSE_FACTOR * went;
}

static bool whole_step_cheap(const struct regions *g)
{
    double came = 0, went = 0;

    for (size_t i = 0; i < g->w->c->n_ops; i++) {
        const struct tg_op *op = &g->w->c->ops[i];
        double delta = op->count[TG_TEST] / g->w->c->iteration_ratio - op->count[TG_BASE];
        if (!is_counted(op) || op->relation == TG_REL_RENAMED || !in_net(g, op))
            continue;
        came += fmax(delta, 0);
        went += fmax(-delta, 0);
    }
    return is_cheap(came, went);
}

/* Regions for the report: places where calls came and went. `id` maps places to them. */
static void list_regions(struct regions *g, const bool *cheap, uint32_t *id)
{
    struct tg_comparison *c = g->w->c;

    c->regions = TG_NEW_N(g->w->a, struct tg_region, g->names.n + 1);
    for (size_t i = 0; i < g->names.n; i++) {
        const struct place *p = &g->place[i];
        id[i] = TG_NO_ID;
        if (p->went <= 0 || p->came <= 0)
            continue;
        id[i] = (uint32_t)c->n_regions;
        struct tg_region *r = &c->regions[c->n_regions++];
        r->encloser = p->encloser;
        r->calls[TG_BASE] = p->went;
        r->calls[TG_TEST] = p->came;
        r->worse_count = !cheap[i];
        r->time_judged = TG_NOT_FEW_RUNS;
    }
}

/* What an operator that changed is to its places: replaced only if every place where it rose is. */
static void relate(struct regions *g, struct tg_op *op, uint32_t index, const bool *cheap,
                   const uint32_t *id, bool all_cheap, bool by_step)
{
    bool any = false, worse = false, seen = false;

    for (size_t i = 0; i < g->n_parts; i++) {
        const struct part *p = &g->part[i];
        if (p->op != index)
            continue;
        seen = true;
        any |= cheap[p->place];
        worse |= p->delta > 0 && !cheap[p->place];
        if (op->region == TG_NO_ID)
            op->region = id[p->place];
    }
    if (!seen) { /* its enclosers differ between runs */
        uint32_t at = tg_strmap_find(&g->names, climb(g, op->parent));
        any = at != TG_NO_ID && cheap[at];
        if (at != TG_NO_ID)
            op->region = id[at];
    }
    bool replaced = by_step ? all_cheap : any && !worse;
    bool rose = op->change == TG_ADDED || op->change == TG_MORE;
    if (rose && tg_op_makes_wait(op))
        op->region = TG_NO_ID; /* counts for itself */
    else if (replaced && (op->region != TG_NO_ID || rose))
        op->relation = TG_REL_REPLACED;
    else if (rose && op->region != TG_NO_ID)
        op->relation = TG_REL_REPLACED_WORSE;
}

/* Unchanged operators beside a replacement under one annotation: cost may have moved to them. */
static void mark_moved(struct regions *g, const bool *cheap, const uint32_t *id)
{
    struct tg_comparison *c = g->w->c;

    for (size_t i = 0; i < c->n_ops; i++) {
        struct tg_op *op = &c->ops[i];
        if (op->change != TG_SAME || op->relation != TG_REL_NONE || op->kind == TG_KIND_STEP ||
            op->kind == TG_KIND_ANNOTATION)
            continue;
        tg_sv encloser = climb(g, op->parent);
        uint32_t at = encloser.n ? tg_strmap_find(&g->names, encloser) : TG_NO_ID;
        if (at == TG_NO_ID || !cheap[at] || id[at] == TG_NO_ID)
            continue;
        op->relation = TG_REL_MOVED;
        op->region = id[at];
    }
}

static void pair_regions(struct regions *g)
{
    struct tg_diff_work *w = g->w;
    struct tg_comparison *c = w->c;
    bool device = false, changed_launch = false;

    for (size_t i = 0; i < c->n_ops; i++) {
        device |= tg_kind_is_device(c->ops[i].kind);
        changed_launch |= is_counted(&c->ops[i]) && c->ops[i].relation == TG_REL_NONE &&
                          (tg_kind_is_device(c->ops[i].kind) || c->ops[i].kind == TG_KIND_GRAPH);
    }
    g->launches = device && changed_launch;
    for (uint32_t i = 0; i < c->n_ops; i++)
        if (is_counted(&c->ops[i]) && c->ops[i].relation == TG_REL_NONE)
            split_change(g, i);
    net_parts(g);
    bool *cheap = TG_NEW_N(w->a, bool, g->names.n + 1);
    uint32_t *id = TG_NEW_N(w->a, uint32_t, g->names.n + 1);
    /* With whole microseconds children seem to start before their parents: enclosers are wrong by
     * chance, and only the whole step can be balanced. */
    bool by_step = w->tick > 1, all = whole_step_cheap(g);
    for (size_t i = 0; i < g->names.n; i++)
        cheap[i] = by_step ? all : is_cheap(g->place[i].came, g->place[i].went);
    list_regions(g, cheap, id);
    for (uint32_t i = 0; i < c->n_ops; i++)
        if (is_counted(&c->ops[i]) && c->ops[i].relation == TG_REL_NONE)
            relate(g, &c->ops[i], i, cheap, id, all, by_step);
    mark_moved(g, cheap, id);
}

void tg_pair_replacements(struct tg_diff_work *w)
{
    struct regions g = { .w = w };

    if (w->n_cells == 0)
        return;
    pair_renames(w);
    revoke_chance_renames(w->c);
    tg_strmap_init(&g.names);
    index_enclosers(&g);
    pair_regions(&g);
    tg_strmap_release(&g.names);
    free(g.place);
    free(g.part);
}
