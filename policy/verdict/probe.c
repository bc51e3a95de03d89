#include "policy/verdict/internal.h"

#include <math.h>

enum tg_dimension tg_unit_dimension(enum tg_unit unit)
{
    switch (unit) {
    case TG_UNIT_COUNT:
        return TG_DIM_COUNT;
    case TG_UNIT_NS:
        return TG_DIM_DURATION;
    case TG_UNIT_PERCENT:
        return TG_DIM_RATIO;
    case TG_UNIT_BYTES:
        return TG_DIM_BYTES;
    case TG_UNIT_RATE:
        return TG_DIM_RATE;
    case TG_UNIT_FACT:
        break;
    }
    return TG_DIM_FACT;
}

const char *tg_unit_text(enum tg_unit unit)
{
    static const char *const text[] = {
        [TG_UNIT_COUNT] = "count", [TG_UNIT_NS] = "ns",     [TG_UNIT_PERCENT] = "%",
        [TG_UNIT_BYTES] = "bytes", [TG_UNIT_RATE] = "GB/s", [TG_UNIT_FACT] = ""
    };
    return text[unit];
}

/* A value of evidence in ns, which counts from 1 (core/diff): 1 is nothing. */
static double value_of(const struct tg_evidence *ev, int side)
{
    return ev->value[side] > 1 ? ev->value[side] : 0;
}

/* On the device self time is the duration, so its evidence is that of the total. */
static void probe_total(struct tg_probe *p, bool per_call, const struct tg_op *op)
{
    p->ev = tg_kind_is_device(op->kind) ? &op->ev : &op->ev_total;
    for (int side = 0; side < 2; side++) {
        double v = p->ev->judged == TG_JUDGED ? value_of(p->ev, side) : op->total[side];
        if (per_call) {
            v = op->count[side] > 0 ? v / op->count[side] : 0;
            p->per = op->count[side];
        }
        *(side ? &p->test : &p->base) = v;
    }
}

/* `q` of the single calls. */
static bool probe_quantile(struct tg_probe *p, double q, const struct tg_comparison *c,
                           const struct tg_op *op)
{
    struct tg_evidence *ev = TG_NEW(c->arena, struct tg_evidence);
    p->base = tg_op_quantile(c, op, TG_BASE, q);
    p->test = tg_op_quantile(c, op, TG_TEST, q);
    if (tg_op_quantile_evidence(op, q, ev)) {
        p->ev = ev;
        if (ev->judged == TG_JUDGED) {
            p->base = value_of(ev, TG_BASE);
            p->test = value_of(ev, TG_TEST);
        }
    }
    return op->present[TG_TEST];
}

/* Values of a per-name metric; false: this operator has none. */
bool tg_probe_op(struct tg_probe *p, enum tg_metric m, const struct tg_comparison *c,
                 const struct tg_op *op)
{
    p->unit = tg_metric_info(m)->unit;
    switch (m) {
    case TG_METRIC_COUNT:
    case TG_METRIC_DEVICE_COUNT:
        p->exact = true;
        p->base = op->count[TG_BASE];
        p->test = op->count[TG_TEST];
        p->unchanged = op->change == TG_SAME;
        return true;
    case TG_METRIC_SELF:
    case TG_METRIC_DEVICE_SELF:
        p->ev = &op->ev;
        p->base = op->ev.judged == TG_JUDGED ? value_of(&op->ev, TG_BASE) : op->self[TG_BASE];
        p->test = op->ev.judged == TG_JUDGED ? value_of(&op->ev, TG_TEST) : op->self[TG_TEST];
        return true;
    case TG_METRIC_TOTAL:
    case TG_METRIC_DEVICE_TIME:
    case TG_METRIC_MEAN:
        probe_total(p, m == TG_METRIC_MEAN, op);
        return true;
    case TG_METRIC_ADDED:
        p->ev = NULL;
        p->exact = true; /* a name that did not exist: no noise can explain it */
        p->test = op->change == TG_ADDED ? op->total[TG_TEST] : 0;
        p->unchanged = op->change != TG_ADDED;
        return true;
    case TG_METRIC_REMOVED:
        p->exact = true;
        p->test = op->change == TG_REMOVED ? op->total[TG_BASE] : 0;
        p->unchanged = op->change != TG_REMOVED;
        return true;
    case TG_METRIC_SHARE:
        p->ev = &op->ev;
        p->base = 100 * op->share[TG_BASE];
        p->test = 100 * op->share[TG_TEST];
        return true;
    case TG_METRIC_MEDIAN:
        return probe_quantile(p, .5, c, op);
    case TG_METRIC_P95:
        return probe_quantile(p, .95, c, op);
    case TG_METRIC_MAX:
        return probe_quantile(p, 1, c, op);
    case TG_METRIC_BYTES:
        p->exact = true;
        p->base = op->bytes[TG_BASE];
        p->test = op->bytes[TG_TEST];
        return op->bytes_known[TG_BASE] && op->bytes_known[TG_TEST];
    default:
        return false;
    }
}

static bool probe_ranks(struct tg_probe *p, enum tg_metric m, const struct tg_comparison *c)
{
    if (m == TG_METRIC_COLLECTIVE_SKEW) {
        p->ev = &c->collective_skew_ev;
        p->base = c->collective_skew[TG_BASE];
        p->test = c->collective_skew[TG_TEST];
        p->known[TG_BASE] = c->collectives_known[TG_BASE];
        p->known[TG_TEST] = c->collectives_known[TG_TEST];
        return p->known[TG_BASE] && p->known[TG_TEST];
    }
    const double *value = m == TG_METRIC_SKEW ? c->skew : c->rank_spread;
    p->ev = m == TG_METRIC_SKEW ? &c->skew_ev : &c->rank_spread_ev;
    p->base = value[TG_BASE];
    p->test = value[TG_TEST];
    p->known[TG_BASE] = c->ranks_known[TG_BASE];
    p->known[TG_TEST] = c->ranks_known[TG_TEST];
    return p->known[TG_BASE] && p->known[TG_TEST];
}

bool tg_probe_measure(struct tg_probe *p, const struct tg_rule *rule, const struct tg_comparison *c)
{
    const struct tg_metric_info *info = tg_metric_info(rule->metric);
    bool slowest = rule->match.rank == TG_MATCH_RANK_SLOWEST;
    const struct tg_measure_change *m;
    enum tg_measure id;
    p->unit = info->unit;
    p->exact = info->exact;
    if (!tg_metric_measure(rule->metric, &id))
        return probe_ranks(p, rule->metric, c);
    m = &c->measures[id];
    p->ev = slowest ? &m->ev_slowest : &m->ev;
    p->base = slowest ? m->slowest[TG_BASE] : m->value[TG_BASE];
    p->test = slowest ? m->slowest[TG_TEST] : m->value[TG_TEST];
    p->known[TG_BASE] = m->known[TG_BASE];
    p->known[TG_TEST] = m->known[TG_TEST];
    return p->known[TG_BASE] && p->known[TG_TEST];
}
