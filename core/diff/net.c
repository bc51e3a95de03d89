/*
 * Net, in the place. What came does not fail if its place provably takes less time than before: the
 * work was exchanged for less. A head that is computed for one token alone needs an index. The place
 * is the annotation around the calls, at the largest the step; what another place saves excuses
 * nothing. Nor is excused what makes others wait, a copy, memory that was not allocated there before,
 * or what costs more than the place saves in the end.
 */
#include <math.h>

#include "core/diff/internal.h"

/* ---- ns per step that a place takes less than before; 0: not provably less ---- */

static bool is_less(const struct tg_evidence *ev)
{
    return ev->judged == TG_JUDGED && ev->less && ev->delta_ns < 0;
}

/* The step's work is the device's where there is one; then the host must not have got slower either. */
static double saved_in_step(const struct tg_comparison *c)
{
    const struct tg_evidence *step = &c->metrics[TG_METRIC_STEP_TIME].ev;
    const struct tg_evidence *host = &c->metrics[TG_METRIC_HOST_TIME].ev;

    if (!tg_has_device_ops(c))
        return is_less(&c->step.ev_total) ? -c->step.ev_total.delta_ns : 0;
    return is_less(step) && host->judged == TG_JUDGED && !host->slower ? -step->delta_ns : 0;
}

/* Inside an annotation the host's time tells, if no device does the work. */
static double saved_in(const struct tg_diff_work *w, const struct tg_net_place *p)
{
    const struct tg_comparison *c = w->c;

    if (!p->encloser.n)
        return saved_in_step(c);
    for (size_t i = 0; !tg_has_device_ops(c) && i < c->n_ops; i++)
        if (c->ops[i].kind == TG_KIND_ANNOTATION && tg_sv_eq(c->ops[i].name, p->encloser))
            return is_less(&c->ops[i].ev_total) ? -c->ops[i].ev_total.delta_ns : 0;
    return 0;
}

static bool is_new_memory(const struct tg_op *op)
{
    return tg_op_makes_memory(op) &&
           (op->change == TG_ADDED || tg_sv_eq(op->name, TG_SV("aten::copy_")));
}

/* Came, and counts against its place. */
static bool is_of_net(const struct tg_op *op)
{
    return tg_op_rose(op) && !op->polling && tg_kind_is_counted(op->kind) &&
           op->counted.shape == TG_COUNT_CONSTANT;
}

static bool may_be_repaid(const struct tg_op *op)
{
    return is_of_net(op) && !tg_op_makes_wait(op) && !is_new_memory(op);
}

/* ns per step that an operator costs more than before, and than what it replaced. */
static double cost_of(const struct tg_op *op)
{
    bool exchanged = op->relation == TG_REL_RENAMED || op->relation == TG_REL_REPLACED;
    return exchanged ? 0 : fmax(op->self[TG_TEST] - op->self[TG_BASE], 0);
}

/* Does everything that came of it lie in the place? A rename belongs to the step. */
static bool lies_in(const struct tg_diff_work *w, uint32_t op, uint32_t place)
{
    bool any = w->c->ops[op].relation == TG_REL_RENAMED && !w->place[place].encloser.n;

    for (size_t i = tg_net_first_part(w->place_part, w->n_place_parts, op);
         i < w->n_place_parts && w->place_part[i].op == op; i++) {
        const struct tg_net_part *part = &w->place_part[i];
        if (part->delta <= 0)
            continue;
        if (!tg_sv_eq(w->place[part->place].encloser, w->place[place].encloser))
            return false;
        any = true;
    }
    return any;
}

/* An unchanged operator that is slower beside: what was exchanged may cost it caches and memory. */
static bool got_slower_in(const struct tg_diff_work *w, const struct tg_op *op, uint32_t place)
{
    return op->change == TG_SAME && op->ev.slower && op->relation == TG_REL_NONE &&
           op->kind == TG_KIND_OP && !w->place[place].encloser.n;
}

static void repay(struct tg_diff_work *w, uint32_t place)
{
    struct tg_comparison *c = w->c;
    double saved = saved_in(w, &w->place[place]), cost = 0;
    bool any = false;

    if (saved <= 0)
        return;
    for (uint32_t i = 0; i < c->n_ops; i++) {
        const struct tg_op *op = &c->ops[i];
        if (is_of_net(op) && lies_in(w, i, place)) {
            cost += cost_of(op);
            any = true;
        } else if (got_slower_in(w, op, place)) {
            cost += fmax(op->ev.delta_ns, 0);
        }
    }
    if (!any || cost > saved)
        return;
    for (uint32_t i = 0; i < c->n_ops; i++) {
        struct tg_op *op = &c->ops[i];
        if ((may_be_repaid(op) && lies_in(w, i, place)) || got_slower_in(w, op, place))
            op->repaid = true;
    }
}

void tg_net_find(struct tg_diff_work *w)
{
    if (!w->c->marked[TG_BASE] || !w->c->marked[TG_TEST] || w->o->no_evidence)
        return;
    for (uint32_t i = 0; i < w->n_places; i++)
        repay(w, i);
}
