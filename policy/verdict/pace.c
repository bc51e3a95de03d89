#include "policy/verdict/pace.h"

#include <math.h>

#include "core/diff/numbers.h"

struct tg_pace tg_pace_of(const struct tg_comparison *c)
{
    const struct tg_metric_change *step = &c->metrics[TG_METRIC_STEP_TIME];
    const struct tg_metric_change *busy = &c->metrics[TG_METRIC_GPU_BUSY];
    struct tg_pace out = { .set_by = TG_PACE_HOST };
    if (!tg_has_device_ops(c))
        return out;
    out.set_by = TG_PACE_DEVICE;
    if (!step->known[TG_TEST] || !busy->known[TG_TEST] || !(step->value[TG_TEST] > 0))
        return out;
    /* ns of a fresh step in calls that wait for the device. */
    double sum = 0;
    for (size_t i = 0; i < c->n_ops; i++)
        if (c->ops[i].wait)
            sum += c->ops[i].self[TG_TEST];
    out.idle[TG_PACE_HOST] = fmin(sum, step->value[TG_TEST]);
    out.idle[TG_PACE_DEVICE] = fmax(0, step->value[TG_TEST] - busy->value[TG_TEST]);
    if (busy->value[TG_TEST] < TG_WINS * step->value[TG_TEST] &&
        out.idle[TG_PACE_HOST] < out.idle[TG_PACE_DEVICE])
        out.set_by = TG_PACE_HOST;
    return out;
}
