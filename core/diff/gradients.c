/*
 * Are gradients enabled where they were not? A lost torch.no_grad() or inference_mode() calls the
 * same operators; each takes longer, for autograd records it, and what it needs stays in memory. It
 * looks like a slower machine. PyTorch numbers the operators that run with gradients enabled
 * (args' "Sequence number"), so the trace tells.
 *
 *   part       of all calls of operators of a side, those that are numbered; of whole traces
 *   enabled    the part rose by TG_RESTLESS, from nothing, or with every operator called as before
 *
 * Cost: the operators' rows.
 */
#include "core/diff/internal.h"

/* False: a recording of 0.2.0, or one without names. */
static bool part_of(const struct tg_diff_work *w, int side, double *out)
{
    double graded = 0, all = 0;
    for (size_t at = w->first[side]; at < w->first[side + 1]; at++) {
        if (!w->shard[at]->graded)
            return false;
        graded += (double)(w->shard[at]->graded - 1);
    }
    TG_EACH(const struct tg_op, op, w->c->ops, w->c->n_ops)
        all += op->kind == TG_KIND_OP ? (double)op->whole_count[side] : 0;
    *out = all > 0 ? graded / all : 0;
    return true;
}

void tg_gradients_compare(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;
    double *part = c->graded;
    bool same = true;
    if (!part_of(w, TG_BASE, &part[TG_BASE]) || !part_of(w, TG_TEST, &part[TG_TEST]))
        return;
    TG_EACH(const struct tg_op, op, c->ops, c->n_ops)
        same &= op->kind != TG_KIND_OP || op->change == TG_SAME;
    c->gradients = part[TG_TEST] - part[TG_BASE] >= TG_RESTLESS && (same || part[TG_BASE] == 0);
}
