#include "core/diff/uses.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/hash.h"
#include "core/base/keymap.h"
#include "core/diff/names.h"

#define EQUAL 1e-9 /* of calls: what a ratio of iterations leaves of equal numbers */

/* ---- renames: one name went and another came, as often and taking about as long ---- */

struct pair {
    double distance; /* |ln| of the ratio of times */
    uint32_t removed, added;
};

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

static void pair_renames(struct tg_diff_work *w, const uint64_t *ranks)
{
    struct tg_comparison *c = w->c;
    const double floor = TG_RENAME_FLOOR * c->step_ns[TG_BASE];
    TG_FREE struct pair *v = NULL;
    size_t n = 0, cap = 0, n_of[2] = { 0 };
    uint32_t *of[2];
    double *ns[2];
    for (int side = 0; side < 2; side++) {
        of[side] = TG_NEW_N(w->a, uint32_t, c->n_ops + 1);
        ns[side] = TG_NEW_N(w->a, double, c->n_ops + 1);
    }
    /* What came or went alone, and takes so long that its time says something: never many names. By
     * the least of the steps, as times are judged: one slow by chance does not make names alike. */
    for (uint32_t i = 0; i < c->n_ops; i++) {
        const struct tg_op *op = &c->ops[i];
        int side = op->change == TG_ADDED ? TG_TEST : TG_BASE;
        if (!is_counted(op) || (op->change != TG_ADDED && op->change != TG_REMOVED) ||
            (op->self[side] <= floor && !op->wait))
            continue;
        ns[side][n_of[side]] = tg_op_least_ns(w, op, side);
        of[side][n_of[side]++] = i;
    }
    for (size_t i = 0; i < n_of[TG_BASE]; i++)
        for (size_t k = 0; k < n_of[TG_TEST]; k++) {
            struct pair x = { 0, of[TG_BASE][i], of[TG_TEST][k] };
            const struct tg_op *removed = &c->ops[x.removed], *added = &c->ops[x.added];
            double e = log(ns[TG_TEST][k] / added->count[TG_TEST] * removed->count[TG_BASE] /
                           ns[TG_BASE][i]);
            x.distance = fabs(e);
            bool small = removed->self[TG_BASE] <= floor || added->self[TG_TEST] <= floor;
            /* No work pays for a wait. But a copy from or to other memory takes the place of a
             * copy, and a collective of another algorithm that of a collective, however much less
             * it takes. */
            bool wait = removed->kind == TG_KIND_MEMCPY || tg_op_is_collective(removed);
            bool alike = (wait && e < 0) || (!small && x.distance <= log(TG_SUSPECT));
            if (removed->kind == added->kind && tg_sv_eq(removed->place, added->place) &&
                tg_op_makes_wait(removed) == tg_op_makes_wait(added) &&
                ranks[x.removed] == ranks[x.added] &&
                removed->count[TG_BASE] == added->count[TG_TEST] && alike)
                *TG_PUSH(v, n, cap) = x;
        }
    /* The nearest in time first. */
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

/* ---- the balance of each place ---- */

struct place {
    tg_sv in;              /* "" the step */
    uint32_t by;           /* index of the annotation; TG_NO_ID */
    enum tg_kind sort;     /* of what came and went: each sort is balanced by itself */
    int weight;            /* of what is counted */
    struct balance {       /* per step */
        double calls[2];   /* counted: went, came */
        double time[2];    /* of all that changed here, as measured */
        double made[2];    /* went, came: calls that no operator makes, but the program */
        double made_ns[2]; /* of all whose callers changed here */
        double all;        /* calls of the baseline that no operator makes */
    } sum;
    bool cheap;      /* something went, and no more came */
    uint32_t region; /* of the comparison; TG_NO_ID: nothing came, or nothing went */
};

struct job {
    struct tg_diff_work *w;
    struct tg_keymap key; /* sort, annotation, ranks and direction -> place */
    struct place *place;
    size_t cap;
    int *weight;     /* by operator, */
    uint64_t *ranks; /* and where its calls changed: what one rank saves pays for none elsewhere */
};

/* Graph launches count as the kernels that they hold. */
static enum tg_kind sort_of(const struct tg_op *op)
{
    return op->kind == TG_KIND_GRAPH ? TG_KIND_KERNEL : op->kind;
}

enum { FREE, MEMORY, CALLER, WORK }; /* what a call weighs in a balance */

/* Are counts of this operator part of the balance? Those that vary move it by chance, another
 * device has other kernels by nature, and what costs nothing excuses nothing. */
static bool is_balanced(const struct tg_comparison *c, const struct tg_op *op)
{
    return is_counted(op) && op->relation == TG_REL_NONE && op->slight != TG_SLIGHT_FREE &&
           op->counted.shape == TG_COUNT_CONSTANT &&
           (op->kind != TG_KIND_KERNEL || tg_same_device(c));
}

static struct place *place_of(struct job *j, const struct tg_op *op, const struct tg_use *of)
{
    /* Where what encloses calls is chance, only the whole step can be balanced. */
    const bool exact = j->w->uses->exact;
    const uint64_t key[] = { (uint64_t)sort_of(op) << 32 | (exact ? of->by : TG_NO_ID),
                             j->ranks[of->op] };
    size_t known = j->key.n;
    uint32_t id = tg_keymap_add(&j->key, key);

    if (id == known) {
        j->place = tg_grow(j->place, &j->cap, id + 1, sizeof *j->place);
        j->place[id] = (struct place){ .in = exact ? of->in : TG_SV(""),
                                       .by = exact ? of->by : TG_NO_ID,
                                       .sort = sort_of(op),
                                       .region = TG_NO_ID };
    }
    return &j->place[id];
}

/* Of operators; NULL: nothing changed there. */
static struct place *known_place(const struct job *j, uint32_t op, uint32_t by)
{
    const struct tg_comparison *c = j->w->c;
    bool within = by != TG_NO_ID && c->ops[by].kind == TG_KIND_ANNOTATION;
    const uint64_t key[] = { (uint64_t)TG_KIND_OP << 32 | (within ? by : TG_NO_ID), j->ranks[op] };
    uint32_t id = tg_keymap_find(&j->key, key);
    return id != TG_NO_ID ? &j->place[id] : NULL;
}

/* Neither in time nor as a part of the step, which a slower machine leaves as it is. */
static double longer_by(const struct tg_comparison *c, const double ns[2])
{
    return fmin((ns[TG_TEST] - ns[TG_BASE]) / c->step_ns[TG_BASE],
                ns[TG_TEST] / c->step_ns[TG_TEST] - ns[TG_BASE] / c->step_ns[TG_BASE]);
}

/*
 * What the program itself calls: fewer calls that take no longer are no more, whatever those call
 * inside. `foreach` calls what a loop called, and a batched product may be as many products inside.
 * Counts that vary with the data are left out.
 */
static void add_up_made(struct job *j)
{
    const struct tg_comparison *c = j->w->c;
    for (uint32_t i = 0; i < c->n_ops; i++) {
        struct tg_uses u = tg_uses_of(j->w, TG_IN_CALLER, i);
        struct tg_uses spots = tg_uses_of(j->w, TG_IN_ANNOTATION, i);
        bool other = false;
        TG_EACH(const struct tg_use, use, u.v, c->ops[i].kind == TG_KIND_OP ? u.n : 0) {
            double rise = tg_use_rise(use);
            bool is_call = use->by != TG_NO_ID && c->ops[use->by].kind == TG_KIND_OP;
            struct place *p = is_call ? NULL : known_place(j, i, use->by);
            other |= rise != 0;
            if (p)
                p->sum.all += use->per_step[TG_BASE];
            bool moved = rise < 0 && tg_op_rose(&c->ops[i]); /* others call it, and more often */
            if (p && j->weight[i] != FREE && !moved && c->ops[i].counted.shape == TG_COUNT_CONSTANT)
                p->sum.made[rise > 0] += fabs(rise);
        }
        TG_EACH(const struct tg_use, spot, spots.v, other ? spots.n : 0) {
            struct place *p = known_place(j, i, spot->by);
            for (int side = 0; p && side < 2 && spot->ns[side]; side++)
                p->sum.made_ns[side] += tg_use_ns(j->w, spot, side);
        }
    }
}

/* Does an operator make each call that it has more or fewer of? */
static bool is_made_inside(const struct job *j, uint32_t op)
{
    const struct tg_comparison *c = j->w->c;
    bool inside = true;
    struct tg_uses u = tg_uses_of(j->w, TG_IN_CALLER, op);
    TG_EACH(const struct tg_use, use, u.v, u.n)
        if (tg_use_rise(use) != 0)
            inside &= use->by != TG_NO_ID && c->ops[use->by].kind == TG_KIND_OP;
    return inside;
}

static void add_up(struct job *j)
{
    const struct tg_comparison *c = j->w->c;
    const struct tg_uses uses = j->w->uses->all[TG_IN_ANNOTATION];
    TG_EACH(const struct tg_use, use, uses.v, uses.n)
        if (tg_use_rise(use) != 0 && is_balanced(c, &c->ops[use->op])) {
            struct place *p = place_of(j, &c->ops[use->op], use);
            p->weight = j->weight[use->op] > p->weight ? j->weight[use->op] : p->weight;
        }
    for (size_t i = 0; i < j->key.n; i++)
        j->place[i].sum = (struct balance){ 0 };
    for (uint32_t i = 0; i < c->n_ops; i++) {
        const struct tg_op *op = &c->ops[i];
        struct tg_uses u = tg_uses_of(j->w, TG_IN_ANNOTATION, i);
        double all = 0;
        TG_EACH(const struct tg_use, use, u.v, u.n)
            all += fabs(tg_use_rise(use));
        TG_EACH(const struct tg_use, use, u.v, is_balanced(c, op) ? u.n : 0) {
            double rise = tg_use_rise(use);
            if (rise == 0)
                continue;
            struct place *p = place_of(j, op, use);
            p->sum.calls[rise > 0] += j->weight[i] == p->weight ? fabs(rise) : 0;
            for (int side = 0; side < 2; side++)
                p->sum.time[side] += op->self[side] * fabs(rise) / all;
        }
    }
    add_up_made(j);
    TG_EACH(struct place, p, j->place, j->key.n) {
        const struct tg_op *gaps = p->by != TG_NO_ID ? &c->ops[p->by] : NULL;
        for (size_t k = 0; !gaps && k < c->n_ops; k++)
            gaps = c->ops[k].kind == TG_KIND_STEP ? &c->ops[k] : NULL;
        /* With a call goes Python's time around it: of the gaps, in ns per step, its part. */
        for (int side = 0; side < 2; side++)
            p->sum.made_ns[side] +=
                gaps && p->sum.all > 0 ? p->sum.made[side] * gaps->self[TG_BASE] / p->sum.all : 0;
        p->cheap = p->sum.calls[TG_BASE] > 0 &&
                   p->sum.calls[TG_TEST] <= (1 + EQUAL) * p->sum.calls[TG_BASE];
        p->cheap |= p->sort == TG_KIND_OP && j->w->uses->exact &&
                    p->sum.made[TG_TEST] < (1 - EQUAL) * p->sum.made[TG_BASE] &&
                    longer_by(c, p->sum.made_ns) <= 0;
    }
}

/* Where more came than went, equal times are chance:
 * `silu` that became `sigmoid` and `mul` is not a rename. */
static bool revoke_renames(struct job *j)
{
    struct tg_comparison *c = j->w->c;
    const struct tg_uses uses = j->w->uses->all[TG_IN_ANNOTATION];
    bool any = false;
    TG_EACH(const struct tg_use, use, uses.v, uses.n) {
        struct tg_op *op = &c->ops[use->op];
        if (op->relation != TG_REL_RENAMED || tg_use_rise(use) <= 0)
            continue;
        const struct place *p = place_of(j, op, use);
        if (p->sum.calls[TG_TEST] <= p->sum.calls[TG_BASE] || p->cheap)
            continue;
        struct tg_op *other = &c->ops[op->partner];
        op->relation = other->relation = TG_REL_NONE;
        op->partner = other->partner = TG_NO_ID;
        any = true;
    }
    return any;
}

/*
 * What an operator that changed is to its places: replaced only if every place where it rose is
 * paid. It is reported in the place where most of it came unpaid, if anywhere.
 */
static void relate(struct job *j, uint32_t index)
{
    struct tg_op *op = &j->w->c->ops[index];
    bool any = false, worse = false, rose = tg_op_rose(op);
    double most = 0;
    struct tg_uses u = tg_uses_of(j->w, TG_IN_ANNOTATION, index);
    TG_EACH(const struct tg_use, use, u.v, u.n) {
        double rise = tg_use_rise(use);
        if (rise == 0 || (rise > 0) != rose) /* more here, and fewer in all: it went elsewhere */
            continue;
        const struct place *p = place_of(j, op, use);
        /* What costs nothing is paid for by a place that takes no longer, however often it is
         * called: neither in time nor as a part of the step, which a slower machine leaves as it
         * is. As much as beside nothing that went (place_small.c): a saving makes no view dearer. A
         * large place varies by more than that. */
        double noise = TG_RESTLESS * p->sum.time[TG_BASE] / j->w->c->step_ns[TG_BASE];
        bool counted = j->weight[index] == p->weight || j->weight[index] != FREE;
        /* No work pays for a wait; copies that take no longer pay for copies. */
        double longer = longer_by(j->w->c, p->sum.time);
        bool wait = rose && tg_op_makes_wait(op);
        bool dear = wait ? op->kind != TG_KIND_MEMCPY || longer > 0
                         : !counted && longer > fmax(TG_BIG, noise);
        bool paid = p->cheap && !dear;
        bool unpaid = rise > 0 && !paid;
        if ((unpaid && !worse) || (unpaid == worse && fabs(rise) > most)) {
            op->region = paid || j->weight[index] != FREE ? p->region : TG_NO_ID;
            op->place = p->in;
            most = fabs(rise);
        }
        any |= paid;
        worse |= unpaid;
    }
    if (rose && worse && tg_op_makes_wait(op))
        op->region = TG_NO_ID; /* counts for itself */
    else if (any && !worse && (op->region != TG_NO_ID || rose))
        op->relation = TG_REL_REPLACED;
    else if (rose && op->region != TG_NO_ID)
        op->relation = TG_REL_REPLACED_WORSE;
}

struct tg_op *tg_ops_join(struct tg_diff_work *w, const uint32_t *member, size_t n,
                          const tg_sv *caller)
{
    struct tg_op *joint = TG_NEW(w->a, struct tg_op);
    struct tg_diff_cell *cell;
    *joint = w->c->ops[member[0]];
    joint->ev = (struct tg_evidence){ 0 };
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
                if (!caller ||
                    tg_sv_eq(tg_diff_name(w, TG_KIND_OP, of->row[r]->key->parent), *caller))
                    row[cell[at].n++] = of->row[r];
        }
    }
    return joint;
}

void tg_places_balance(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;
    struct job j = { .w = w };
    if (!w->uses)
        return;
    tg_keymap_init(&j.key, 2);
    j.ranks = TG_NEW_N(w->a, uint64_t, c->n_ops + 1);
    for (uint32_t i = 0; i < c->n_ops; i++) {
        const struct tg_op *op = &c->ops[i];
        tg_sv name = op->name;
        j.ranks[i] = op->change == TG_SAME ? 0 : tg_op_changed_ranks(w, op);
        /* "Memcpy HtoD " of "Memcpy HtoD (Pinned -> Device)": another way is another sort. */
        if (op->change != TG_SAME && op->kind == TG_KIND_MEMCPY)
            j.ranks[i] ^= tg_hash(tg_sv_cut(&name, '('), 0);
    }
    pair_renames(w, j.ranks);
    /* Operators that mostly call work, and autograd's own rows, come and go with what they call.
     * Allocations inside operators come and go with these, and not every operator records them. */
    j.weight = TG_NEW_N(w->a, int, c->n_ops + 1);
    for (uint32_t i = 0; i < c->n_ops; i++) {
        bool node = c->ops[i].kind == TG_KIND_OP && tg_name_is_node(c->ops[i].name);
        double calls = c->ops[i].count[TG_BASE] + c->ops[i].count[TG_TEST], inside = 0;
        for (const struct tg_use *of = w->uses->inside[i]; of; of = of->next_inside) {
            const struct tg_op *called = &c->ops[of->op];
            /* One allocation has many names: empty_like calls empty_strided.
             * What copies allocates, too. */
            bool memory = tg_op_makes_memory(called) && !tg_op_makes_memory(&c->ops[i]);
            bool work = called->kind == TG_KIND_OP && !called->view && !memory && of->op != i;
            inside += work ? of->per_step[TG_BASE] + of->per_step[TG_TEST] : 0;
        }
        bool calls_work = c->ops[i].kind == TG_KIND_OP && inside > TG_HALF * calls;
        bool memory = tg_op_allocates(&c->ops[i]) && is_made_inside(&j, i);
        j.weight[i] = c->ops[i].view ? FREE : memory ? MEMORY : node || calls_work ? CALLER : WORK;
    }
    add_up(&j);
    if (revoke_renames(&j))
        add_up(&j);
    /* Calls that came and went in one place are reported as a replacement. */
    c->regions = TG_NEW_N(w->a, struct tg_region, j.key.n + 1);
    TG_EACH(struct place, p, j.place, j.key.n) {
        if (p->sum.calls[TG_BASE] <= 0 || p->sum.calls[TG_TEST] <= 0)
            continue;
        p->region = (uint32_t)c->n_regions;
        struct tg_region *r = &c->regions[c->n_regions++];
        *r = (struct tg_region){ .encloser = p->in, .kind = p->sort, .worse_count = !p->cheap };
        for (int side = 0; side < 2; side++) {
            r->calls[side] = p->sum.calls[side];
            r->time[side] = p->by == TG_NO_ID ? c->step_ns[side] : c->ops[p->by].total[side];
        }
    }
    for (uint32_t i = 0; i < c->n_ops; i++)
        if (is_balanced(c, &c->ops[i]))
            relate(&j, i);
    tg_regions_group(c);
    tg_keymap_release(&j.key);
    free(j.place);
}
