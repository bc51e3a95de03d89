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

/*
 * An operator that is called as often more as the one that calls it is a consequence, and so is what
 * a new operator calls, however often: one cause line instead of five. `clone` calls `empty_like` and `copy_`: three rows, one cause.
 */
void tg_fold(struct tg_eval_state *e)
{
    for (size_t i = 0; i < e->n; i++) {
        struct tg_result *r = &e->results[i];
        const struct tg_op *op;
        if (r->dimension != TG_DIM_COUNT || !r->has_values ||
            (r->state != TG_STATE_FAIL && r->state != TG_STATE_WARN))
            continue;
        op = tg_eval_op(e->in->comparison, r);
        if (!op || !op->parent.n || !may_follow(op))
            continue;
        for (size_t k = 0; k < e->n; k++)
            if (e->results[k].state == r->state && e->results[k].folded_under == TG_NO_ID &&
                tg_eval_explains(&e->results[k], r, op, e->in->comparison)) {
                r->folded_under = (uint32_t)k;
                break;
            }
    }
    /* A cause that is folded itself later passes its consequences on; no chains, no cycles. */
    for (size_t i = 0; i < e->n; i++)
        for (int hop = 0; hop < 32 && e->results[i].folded_under != TG_NO_ID; hop++) {
            uint32_t up = e->results[e->results[i].folded_under].folded_under;
            if (up == TG_NO_ID || up == i)
                break;
            e->results[i].folded_under = up;
        }
}
