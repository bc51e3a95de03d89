#include <math.h>

#include "policy/verdict/internal.h"

double tg_outside_calls(const struct tg_comparison *c, const struct tg_op *op, int side)
{
    return c->n_all_units[side] ? (double)op->outside_count[side] / (double)c->n_all_units[side]
                                : 0;
}

double tg_inside_calls(const struct tg_comparison *c, const struct tg_op *op, int side)
{
    return c->n_units[side] ? (double)op->step_count[side] / (double)c->n_units[side] : 0;
}

/* Those outside of a trace. */
static double calls_of_trace(const struct tg_comparison *c, const struct tg_op *op, int side)
{
    double traces = (double)(c->n_runs[side] * c->n_ranks[side]);
    return traces > 0 ? (double)op->outside_count[side] / traces : 0;
}

/* What runs once a trace grows by the step where a trace has fewer of them, and what runs between
 * steps grows by the trace where it has more: same code does not grow by both. */
static double growth(const struct tg_comparison *c, const struct tg_op *op, int from, int to)
{
    double more = tg_outside_calls(c, op, to) - tg_outside_calls(c, op, from);
    double of_trace = calls_of_trace(c, op, to) - calls_of_trace(c, op, from);
    bool counts = tg_kind_is_counted(op->kind) && !op->polling && !op->launched;
    return counts && of_trace >= TG_MORE_A_TRACE && more > 0 ? more : 0;
}

double tg_outside_growth(const struct tg_comparison *c, const struct tg_op *op)
{
    return growth(c, op, TG_BASE, TG_TEST);
}

struct tg_came_in tg_outside_came_in(const struct tg_comparison *c)
{
    struct tg_came_in came = { .device = true };
    double steps = (double)c->n_units[TG_BASE] / (double)(c->n_runs[TG_BASE] * c->n_ranks[TG_BASE]);
    double most = 0;
    TG_EACH(const struct tg_op, op, c->ops, c->n_ops) {
        double less = tg_outside_calls(c, op, TG_BASE) - tg_outside_calls(c, op, TG_TEST);
        double more = tg_inside_calls(c, op, TG_TEST) - tg_inside_calls(c, op, TG_BASE);
        /* Not if as many did not go outside, or as many per trace are there still, as before a
         * first step, of which another number of steps makes another part of a step. */
        if (!tg_kind_is_counted(op->kind) || op->launched || !(more > 0) ||
            fabs(less - more) > TG_SLACK * more ||
            calls_of_trace(c, op, TG_TEST) >= calls_of_trace(c, op, TG_BASE))
            continue;
        double ns =
            more * steps * (double)op->step_total[TG_TEST] / (double)op->step_count[TG_TEST];
        came.ns += ns;
        came.device &= tg_kind_is_device(op->kind);
        came.n_names++;
        came.largest = ns >= most ? op : came.largest;
        most = fmax(most, ns);
    }
    return came;
}

double tg_outside_growth_of(const struct tg_comparison *c, uint32_t kinds)
{
    double sum = 0;
    TG_EACH(const struct tg_op, op, c->ops, c->n_ops) {
        bool counts = kinds & 1u << op->kind;
        sum += counts ? growth(c, op, TG_BASE, TG_TEST) : 0;
        sum -= counts && !op->view ? growth(c, op, TG_TEST, TG_BASE) : 0; /* which cost nothing */
    }
    return fmax(sum, 0);
}
