#include "reporters/rows.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/sort.h"

const struct tg_op *tg_row_former(const struct tg_comparison *c, const struct tg_op *op)
{
    return op->relation == TG_REL_RENAMED && op->change == TG_ADDED && op->partner < c->n_ops
               ? &c->ops[op->partner]
               : NULL;
}

bool tg_row_is_former(const struct tg_op *op)
{
    return op->relation == TG_REL_RENAMED && op->change == TG_REMOVED && op->partner != TG_NO_ID;
}

/* Steps summed over runs and ranks: the divisor of sums per step. */
static double step_units(const struct tg_comparison *c, int side)
{
    double n = (double)c->n_units[side];
    if (n <= 0)
        n = (double)c->n_steps[side] * (double)c->n_runs[side] * (double)c->n_ranks[side];
    return n > 0 ? n : 1;
}

const struct tg_evidence *tg_row_estimate(const struct tg_op *op)
{
    return op->kind != TG_KIND_STEP && tg_evidence_compared(&op->ev_total) ? &op->ev_total : NULL;
}

struct tg_row_numbers tg_row_numbers(const struct tg_comparison *c, const struct tg_op *op,
                                     enum tg_basis basis)
{
    const struct tg_op *former = tg_row_former(c, op);
    struct tg_row_numbers n;
    for (int s = 0; s < 2; s++) {
        if (basis == TG_BASIS_JUDGED) {
            const struct tg_evidence *ev = tg_op_reported(op);
            const struct tg_op *of = s == TG_BASE && former ? former : op;
            /* What runs every so many steps has calls, though no usual step has one: as many on both
             * sides, or the count of one would be a mean already. */
            bool rare = op->count[TG_BASE] == 0 && op->count[TG_TEST] == 0;
            n.count[s] =
                rare ? (double)op->step_count[TG_TEST] / step_units(c, TG_TEST) : of->count[s];
            /* A sum over several rows says nothing about this one; a line about some steps shows
             * those, and what one rank alone does is shown of that rank. */
            n.ns[s] = op->on_rank_alone                         ? op->there_ns[s]
                      : !tg_evidence_compared(ev) || ev->pooled ? of->self[s]
                      : ev->some_steps                          ? ev->slowest[s]
                                                                : ev->value[s];
        } else if (basis == TG_BASIS_WHOLE) {
            n.count[s] = (double)op->whole_count[s];
            n.ns[s] = (double)op->whole_total[s];
        } else {
            n.count[s] = (double)op->step_count[s] / step_units(c, s);
            n.ns[s] = basis == TG_BASIS_ESTIMATED && tg_row_estimate(op)
                          ? tg_row_estimate(op)->value[s]
                          : (double)op->step_total[s] / step_units(c, s);
        }
    }
    if (basis == TG_BASIS_JUDGED && op->iteration_scaled) { /* shown as compared */
        n.count[TG_TEST] /= c->iteration_ratio;
        n.ns[TG_TEST] /= c->iteration_ratio;
    }
    n.d_count = n.count[TG_TEST] - n.count[TG_BASE];
    n.d_ns = n.ns[TG_TEST] - n.ns[TG_BASE];
    return n;
}

char tg_row_category(const struct tg_row_numbers *n)
{
    return n->d_count > 0 ? '+' : n->d_count < 0 ? '-' : '=';
}

const char *tg_row_group(const struct tg_row_numbers *n)
{
    if (!(n->count[TG_BASE] > 0) && n->count[TG_TEST] > 0)
        return "added";
    if (n->count[TG_BASE] > 0 && !(n->count[TG_TEST] > 0))
        return "deleted";
    return n->d_count > 0 ? "increased" : n->d_count < 0 ? "decreased" : "unchanged";
}

const char *tg_change_name(enum tg_change c)
{
    static const char *const name[] = {
        [TG_SAME] = "same", [TG_ADDED] = "added", [TG_REMOVED] = "removed",
        [TG_MORE] = "more", [TG_FEWER] = "fewer",
    };
    return name[c];
}

const char *tg_relation_name(enum tg_relation r)
{
    static const char *const name[] = {
        [TG_REL_NONE] = "",
        [TG_REL_RENAMED] = "renamed",
        [TG_REL_REPLACED] = "replaced",
        [TG_REL_REPLACED_WORSE] = "replaced by more",
        [TG_REL_MOVED] = "moved",
    };
    return name[r];
}

tg_sv tg_op_raw(const struct tg_op *op)
{
    if (op->raw[TG_TEST].n)
        return op->raw[TG_TEST];
    return op->raw[TG_BASE].n ? op->raw[TG_BASE] : op->name;
}

/*
 * Work that someone can be responsible for: host operators and calls, device work. No Python
 * functions, annotations, overhead; steps only with `steps`.
 */
static bool is_work(const struct tg_op *op, bool steps)
{
    switch (op->kind) {
    case TG_KIND_OP:
    case TG_KIND_RUNTIME:
    case TG_KIND_SYNC:
    case TG_KIND_GRAPH:
    case TG_KIND_KERNEL:
    case TG_KIND_MEMCPY:
    case TG_KIND_MEMSET:
        return true;
    case TG_KIND_STEP:
        return steps;
    default:
        return false;
    }
}

/* All rows that a command chose, except steps (HTA does not draw them). */
static bool is_eligible(const struct tg_op *op, bool chosen, bool steps)
{
    if (!chosen)
        return is_work(op, steps);
    return steps || !tg_sv_starts(tg_op_raw(op), TG_SV("ProfilerStep"));
}

struct ranked {
    double size;
    uint32_t row, order;
};

static int by_size(const void *pa, const void *pb)
{
    const struct ranked *a = pa, *b = pb;
    int c = TG_CMP(b->size, a->size);
    return c ? c : TG_CMP(a->order, b->order);
}

/* The rows of the first `n` of `r` after sorting; *n_out: how many those are. */
static uint32_t *largest(struct ranked *r, size_t found, size_t n, size_t *n_out)
{
    uint32_t *out = tg_xmalloc((found + 1) * sizeof *out);
    TG_SORT(r, found, by_size);
    *n_out = found < n ? found : n;
    for (size_t i = 0; i < *n_out; i++)
        out[i] = r[i].row;
    return out;
}

uint32_t *tg_rows_worst(const struct tg_comparison *c, const struct tg_rows_choice *of,
                        size_t *n_out)
{
    size_t all = of->rows ? of->n_rows : c->n_ops, found = 0;
    TG_FREE struct ranked *r = tg_xmalloc((all + 1) * sizeof *r);
    for (size_t i = 0; i < all; i++) {
        uint32_t row = of->rows ? of->rows[i] : (uint32_t)i;
        struct tg_row_numbers v = tg_row_numbers(c, &c->ops[row], of->basis);
        double size = fabs(of->by_counts ? v.d_count : v.d_ns);
        /* Below a nanosecond or a thousandth of a call a difference is rounding, not change. */
        bool twice = of->basis == TG_BASIS_JUDGED && tg_row_is_former(&c->ops[row]);
        if (is_eligible(&c->ops[row], of->rows != NULL, of->steps) && !twice && isfinite(size) &&
            size >= (of->by_counts ? 1e-3 : 1))
            r[found++] = (struct ranked){ size, row, (uint32_t)i };
    }
    return largest(r, found, found, n_out);
}

uint32_t *tg_rows_longest(const struct tg_comparison *c, size_t n, size_t *n_out)
{
    TG_FREE struct ranked *r = tg_xmalloc((c->n_ops + 1) * sizeof *r);
    size_t found = 0;
    for (size_t i = 0; i < c->n_ops; i++)
        if (is_work(&c->ops[i], false) && c->ops[i].self[TG_TEST] > 0)
            r[found++] = (struct ranked){ c->ops[i].self[TG_TEST], (uint32_t)i, (uint32_t)i };
    return largest(r, found, n, n_out);
}
