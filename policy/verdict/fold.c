#include "policy/verdict/internal.h"

const struct tg_op *tg_eval_op(const struct tg_comparison *c, const struct tg_result *r)
{
    for (size_t i = 0; i < c->n_ops; i++)
        if (tg_sv_eq(c->ops[i].name, r->op_normalised) &&
            tg_sv_eq(tg_sv_of(tg_kind_name(c->ops[i].kind)), r->kind))
            return &c->ops[i];
    return NULL;
}

/* Is the result about the new operator that makes these calls? */
static bool is_leader(const struct tg_result *cause, const struct tg_op *op,
                      const struct tg_comparison *c)
{
    return op->leader != TG_NO_ID && tg_sv_eq(cause->op_normalised, c->ops[op->leader].name) &&
           tg_sv_eq(cause->kind, tg_sv_of(tg_kind_name(c->ops[op->leader].kind)));
}

bool tg_eval_explains(const struct tg_result *cause, const struct tg_result *r,
                      const struct tg_op *op, const struct tg_comparison *c)
{
    bool as_often = tg_sv_eq(cause->op_normalised, op->parent) && cause->delta == r->delta;
    return cause != r && cause->dimension == TG_DIM_COUNT && (as_often || is_leader(cause, op, c));
}

/*
 * Operators follow what calls them. A kernel follows an operator of its own name: Triton's kernels
 * have a host operator each, and the two are one finding.
 */
static bool may_follow(const struct tg_op *op)
{
    bool own = tg_sv_eq(op->parent, op->name);
    return op->kind == TG_KIND_OP ? !own : op->kind == TG_KIND_KERNEL && own;
}

/* The row that a row is under in the end; itself if it is under none. */
static uint32_t root_of(const struct tg_eval_state *e, uint32_t i)
{
    while (e->results[i].folded_under != TG_NO_ID)
        i = e->results[i].folded_under;
    return i;
}

/* The cause of the row `i`, which is about `op`; TG_NO_ID: none, or it follows from `i` itself. */
static uint32_t cause_of(const struct tg_eval_state *e, uint32_t i, const struct tg_op *op)
{
    const struct tg_result *r = &e->results[i];
    for (uint32_t k = 0; k < e->n; k++)
        if (e->results[k].state == r->state &&
            tg_eval_explains(&e->results[k], r, op, e->in->comparison) && root_of(e, k) != i)
            return root_of(e, k);
    return TG_NO_ID;
}

/*
 * An operator that is called as often more as the one that calls it is a consequence, and so is what
 * a new operator calls, however often: one cause line instead of five. `clone` calls `empty_like` and
 * `copy_`: three rows, one cause. The order of the rows plays no part.
 */
void tg_fold(struct tg_eval_state *e)
{
    for (uint32_t i = 0; i < e->n; i++) {
        struct tg_result *r = &e->results[i];
        const struct tg_op *op;
        if (r->dimension != TG_DIM_COUNT ||
            (r->state != TG_STATE_FAIL && r->state != TG_STATE_WARN))
            continue;
        op = tg_eval_op(e->in->comparison, r);
        if (op && op->parent.n && may_follow(op))
            r->folded_under = cause_of(e, i, op);
    }
    for (uint32_t i = 0; i < e->n; i++)
        if (e->results[i].folded_under != TG_NO_ID)
            e->results[i].folded_under = root_of(e, i);
}
