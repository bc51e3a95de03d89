/*
 * Inside which operator additional calls lie. A batch with more rows makes `aten::bmm` call
 * `aten::select` more often: `aten::select` is what fails, `aten::bmm` is where to look.
 *
 * There is an answer only if it is exact: enough of the change is under one parent, and if that
 * parent is itself called more often, its additional calls explain the change, so that its own
 * answer holds.
 */
#include <math.h>
#include <stdlib.h>

#include "core/diff/internal.h"
#include "core/diff/numbers.h"
#include "core/diff/stats.h"

#define MAX_DEPTH 64 /* of parents; names that enclose each other would not end */

struct under {          /* one parent */
    tg_sv parent;       /* normalised */
    double delta, test; /* calls per step: change, and those of the fresh side */
};

double tg_count_under(const struct tg_diff_work *w, const struct tg_op *op, int side, tg_sv parent)
{
    double *runs = TG_NEW_N(w->a, double, w->c->n_runs[side]);
    uint64_t *count = TG_NEW_N(w->a, uint64_t, w->max_steps + 1);

    for (size_t run = 0; run < w->c->n_runs[side]; run++) {
        for (size_t rank = 0; rank < w->c->n_ranks[side]; rank++) {
            size_t at = tg_diff_cell_index(w, side, run, rank);
            const struct tg_diff_cell *cell = &op->rows->cell[at];
            memset(count, 0, (w->max_steps + 1) * sizeof *count);
            for (size_t r = 0; r < cell->n; r++)
                for (size_t j = 0; tg_sv_eq(cell->row[r]->key->parent, parent) && j < w->used[at].n;
                     j++)
                    count[j] += cell->row[r]->count[w->used[at].step[j]];
            runs[run] += (double)tg_mode(count, w->used[at].n, NULL);
        }
        runs[run] /= (double)w->c->n_ranks[side];
    }
    return tg_median(runs, w->c->n_runs[side]);
}

void tg_op_parents(const struct tg_diff_work *w, const struct tg_op *op, int from,
                   struct tg_strmap *raw)
{
    for (size_t at = w->first[from]; at < w->n_cells; at++)
        for (size_t r = 0; r < op->rows->cell[at].n; r++)
            tg_strmap_add(raw, op->rows->cell[at].row[r]->key->parent);
}

/* Per parent; raw parents of one normalised name are one. The caller frees it. */
static struct under *split(struct tg_diff_work *w, const struct tg_op *op, size_t *n)
{
    TG_AUTO(tg_strmap_release) struct tg_strmap raw;
    struct under *v = NULL;
    size_t cap = 0, k;

    *n = 0;
    tg_strmap_init(&raw);
    tg_op_parents(w, op, TG_BASE, &raw);
    for (size_t i = 0; i < raw.n; i++) {
        tg_sv parent = tg_diff_name(w, TG_KIND_OP, raw.text[i]);
        double test = tg_count_under(w, op, TG_TEST, raw.text[i]) / w->c->iteration_ratio;
        for (k = 0; k < *n && !tg_sv_eq(v[k].parent, parent); k++)
            ;
        if (k == *n) {
            v = tg_grow(v, &cap, ++*n, sizeof *v);
            v[k] = (struct under){ .parent = parent };
        }
        v[k].delta += test - tg_count_under(w, op, TG_BASE, raw.text[i]);
        v[k].test += test;
    }
    return v;
}

/* The parent under which most calls came. `moved`: calls per step that came or went, under any. */
static struct under main_parent(struct tg_diff_work *w, const struct tg_op *op, double *moved)
{
    struct under best = { 0 };
    size_t n;
    TG_FREE struct under *v = split(w, op, &n);

    *moved = 0;
    for (size_t i = 0; i < n; i++) {
        *moved += fabs(v[i].delta);
        best = v[i].delta > best.delta ? v[i] : best;
    }
    return best;
}

/* Operators are sorted by kind, then name. */
static const struct tg_op *operator_named(const struct tg_comparison *c, tg_sv name)
{
    size_t from = 0, to = c->n_ops;
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        const struct tg_op *op = &c->ops[mid];
        int order =
            op->kind != TG_KIND_OP ? TG_CMP(op->kind, TG_KIND_OP) : tg_sv_cmp(op->name, name);
        if (order == 0)
            return op;
        if (order < 0)
            from = mid + 1;
        else
            to = mid;
    }
    return NULL;
}

/*
 * As many calls came as the parent's own additional calls make: as many by the call as all its calls; or
 * a whole number by the additional call, if the others made none, as those with other arguments.
 */
static bool explained_by(const struct tg_comparison *c, const struct under *p,
                         const struct tg_op *parent)
{
    double each = p->test * c->iteration_ratio / parent->count[TG_TEST];
    double own = p->delta / tg_op_rise(c, parent);
    return fabs(tg_op_rise(c, parent) * each - p->delta) <= TG_SLACK * p->delta ||
           (p->delta >= p->test && own >= 1 && own == floor(own));
}

/*
 * NULL: none, several, or not known. `part`: of the additional calls, multiplied up the chain.
 * `leader`: the outermost operator on the way that is called more often, `added`: that is new; or
 * TG_NO_ID.
 */
static const struct tg_op *encloser(struct tg_diff_work *w, const struct tg_op *op, double *part,
                                    uint32_t *leader, uint32_t *added)
{
    const struct tg_comparison *c = w->c;

    *part = 1;
    for (int depth = 0; depth < MAX_DEPTH; depth++) {
        double more = tg_op_rise(c, op), moved;
        struct under p = main_parent(w, op, &moved);
        if (p.delta <= 0)
            return NULL;
        *part *= p.delta / moved;
        if (*part < TG_NEARLY_ALL || fabs(p.delta - more) > TG_SLACK * more)
            return NULL;
        const struct tg_op *parent = operator_named(c, p.parent);
        if (!parent || !parent->settled || parent->polling)
            return NULL;
        if (parent->change == TG_SAME)
            return parent;
        if (tg_op_rise(c, parent) <= 0 || !explained_by(c, &p, parent))
            return NULL;
        *leader = (uint32_t)(parent - c->ops);
        *added = parent->change == TG_ADDED ? *leader : *added;
        op = parent;
    }
    return NULL;
}

void tg_calling_ops_find(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;
    uint32_t *added = TG_NEW_N(w->a, uint32_t, c->n_ops + 1);

    /* With whole microseconds parents are wrong by chance: replace.c says why. */
    if (w->n_cells == 0 || w->tick > 1)
        return;
    for (size_t i = 0; i < c->n_ops; i++) {
        struct tg_op *op = &c->ops[i];
        added[i] = TG_NO_ID;
        if (!tg_op_rose(op) || op->polling || !op->settled || !tg_kind_is_counted(op->kind))
            continue;
        const struct tg_op *found = encloser(w, op, &op->calling_part, &op->leader, &added[i]);
        if (found)
            op->calling_op = found->name;
    }
    /* What an operator brings along is its doing, however little it takes by itself. */
    for (size_t i = 0; i < c->n_ops; i++) {
        if (c->ops[i].leader == TG_NO_ID || tg_op_exception(&c->ops[i]) != TG_EXCEPTION_NONE)
            continue;
        c->ops[c->ops[i].leader].leads = true;
        if (added[i] != TG_NO_ID)
            c->ops[added[i]].leads = true;
    }
}
