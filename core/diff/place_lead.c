/*
 * Inside which operator additional calls lie. A batch with more rows makes `aten::bmm` call
 * `aten::select` more often: `aten::select` is what fails, `aten::bmm` is where to look.
 *
 * There is an answer only if it is exact: nearly all of the change is under one caller, and if that
 * one is itself called more often, its additional calls explain the change,
 * so that its own answer holds.
 */
#include <math.h>

#include "core/diff/uses.h"

#define MAX_DEPTH 64 /* of callers; names that enclose each other would not end */

/*
 * The unchanged operator around the additional calls; NULL: none, several, or not known. Their
 * `part` is multiplied up the chain. `leader`: the outermost operator on the way that is called
 * more often, `added`: that is new; or TG_NO_ID.
 */
static const struct tg_op *encloser(const struct tg_diff_work *w, uint32_t at, double *part,
                                    uint32_t *leader, uint32_t *added)
{
    const struct tg_comparison *c = w->c;
    *part = 1;
    for (int depth = 0; depth < MAX_DEPTH; depth++) {
        double more = tg_op_rise(&c->ops[at]), most = 0, moved = 0;
        const struct tg_use *x =
            NULL; /* the caller under which most calls came; NULL: under none */
        struct tg_uses u = tg_uses_of(w, TG_IN_CALLER, at);
        TG_EACH(const struct tg_use, use, u.v, u.n) {
            double rise = tg_use_rise(use);
            moved += fabs(rise);
            x = rise > most ? use : x;
            most = fmax(most, rise);
        }
        *part *= x ? most / moved : 0; /* of all that came or went, under any */
        if (*part < TG_NEARLY_ALL || fabs(tg_use_rise(x) - more) > TG_SLACK * more ||
            x->by == TG_NO_ID)
            return NULL;
        const struct tg_op *caller = &c->ops[x->by];
        if (caller->kind != TG_KIND_OP || !caller->settled || caller->polling)
            return NULL;
        if (caller->change == TG_SAME)
            return caller;
        /* As many calls came as the caller's own additional calls make: as many by the call as all
         * its calls; or a whole number by the additional call, if the others made none, as those
         * with other arguments. */
        double rise = tg_use_rise(x), each = x->per_step[TG_TEST] / caller->count[TG_TEST];
        double own = rise / tg_op_rise(caller);
        if (tg_op_rise(caller) <= 0 ||
            !(fabs(tg_op_rise(caller) * each - rise) <= TG_SLACK * rise ||
              (x->per_step[TG_BASE] == 0 && own >= 1 && own == floor(own))))
            return NULL;
        *leader = at = x->by;
        *added = caller->change == TG_ADDED ? at : *added;
    }
    return NULL;
}

void tg_leaders_find(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;
    uint32_t *added = TG_NEW_N(w->a, uint32_t, c->n_ops + 1);
    for (uint32_t i = 0; w->uses && w->uses->exact && i < c->n_ops; i++) {
        struct tg_op *op = &c->ops[i];
        added[i] = TG_NO_ID;
        if (!tg_op_rose(op) || op->polling || !op->settled || !tg_kind_is_counted(op->kind))
            continue;
        const struct tg_op *found = encloser(w, i, &op->calling_part, &op->leader, &added[i]);
        op->calling_op = found ? found->name : op->calling_op;
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
