#include "policy/verdict/pace.h"

#include <math.h>

#include "core/diff/names.h"
#include "core/diff/numbers.h"

enum tg_pace_maker tg_pace_of(const struct tg_comparison *c)
{
    const struct tg_metric_change *step = &c->metrics[TG_METRIC_STEP_TIME];
    const struct tg_metric_change *busy = &c->metrics[TG_METRIC_GPU_BUSY];
    double waits = 0; /* ns of a fresh step in calls that wait for the device */
    if (!tg_has_device_ops(c))
        return TG_PACE_HOST;
    if (!step->known[TG_TEST] || !busy->known[TG_TEST] || !(step->value[TG_TEST] > 0))
        return TG_PACE_DEVICE;
    for (size_t i = 0; i < c->n_ops; i++)
        if (c->ops[i].wait)
            waits += c->ops[i].self[TG_TEST];
    return busy->value[TG_TEST] < TG_WINS * step->value[TG_TEST] &&
                   fmin(waits, step->value[TG_TEST]) < step->value[TG_TEST] - busy->value[TG_TEST]
               ? TG_PACE_HOST
               : TG_PACE_DEVICE;
}

/* "aten::item" of "aten::_local_scalar_dense", which it calls once each time: the name that a
 * program has. */
static tg_sv outermost(const struct tg_comparison *c, tg_sv name)
{
    const struct tg_op *op = tg_op_named(c, name), *by;
    while (op && (by = tg_op_named(c, op->parent)) != NULL && by != op &&
           by->count[TG_BASE] == op->count[TG_BASE] && by->count[TG_TEST] == op->count[TG_TEST] &&
           !tg_name_is_node(by->name) && by->total[TG_TEST] >= op->total[TG_TEST])
        op = by;
    return op ? op->name : tg_sv_eq(name, c->step.name) ? TG_SV("") : name;
}

struct tg_pace_waits tg_pace_waits_of(const struct tg_comparison *c)
{
    struct tg_pace_waits x = { 0 };
    for (size_t i = 0; i < c->n_ops; i++)
        for (size_t k = 0; c->ops[i].wait && k < c->ops[i].n_callers; k++) {
            const struct tg_in_caller *of = &c->ops[i].callers[k];
            double more = of->self[TG_TEST] - of->self[TG_BASE];
            struct tg_pace_wait wait = { &c->ops[i], of, of->in, more };
            if (more > x.longer.ns && of->least[TG_TEST] > of->most[TG_BASE])
                x.longer = wait;
            if (more < x.shorter.ns && of->most[TG_TEST] < of->least[TG_BASE])
                x.shorter = wait;
        }
    x.longer.in = outermost(c, x.longer.in);
    x.shorter.in = outermost(c, x.shorter.in);
    return x;
}

struct tg_pace_wait tg_pace_wait_behind(const struct tg_comparison *c, double ns)
{
    const struct tg_metric_change *busy = &c->metrics[TG_METRIC_GPU_BUSY];
    struct tg_pace_wait longer = tg_pace_waits_of(c).longer;
    bool works_more = !busy->known[TG_BASE] || !busy->known[TG_TEST] ||
                      busy->value[TG_TEST] - busy->value[TG_BASE] >= TG_HALF * ns;
    return longer.ns >= TG_HALF * ns && ns > 0 && !works_more ? longer : (struct tg_pace_wait){ 0 };
}
