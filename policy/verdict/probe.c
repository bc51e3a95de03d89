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
    case TG_UNIT_NUMBER:
        return TG_DIM_NUMBER;
    case TG_UNIT_ATTR:
        break;
    }
    return TG_DIM_ATTR;
}

enum tg_unit tg_dimension_unit(enum tg_dimension d)
{
    static const enum tg_unit unit[] = {
        [TG_DIM_COUNT] = TG_UNIT_COUNT,   [TG_DIM_DURATION] = TG_UNIT_NS,
        [TG_DIM_ATTR] = TG_UNIT_ATTR,     [TG_DIM_RATIO] = TG_UNIT_PERCENT,
        [TG_DIM_BYTES] = TG_UNIT_BYTES,   [TG_DIM_RATE] = TG_UNIT_RATE,
        [TG_DIM_NUMBER] = TG_UNIT_NUMBER,
    };
    return unit[d];
}

const char *tg_unit_text(enum tg_unit unit)
{
    static const char *const text[] = {
        [TG_UNIT_COUNT] = "count", [TG_UNIT_NS] = "ns",     [TG_UNIT_PERCENT] = "%",
        [TG_UNIT_BYTES] = "bytes", [TG_UNIT_RATE] = "GB/s", [TG_UNIT_ATTR] = "",
        [TG_UNIT_NUMBER] = ""
    };
    return text[unit];
}

enum tg_attr_kind tg_rule_attr_kind(enum tg_rule_metric m)
{
    return m == TG_RULE_METRIC_LAUNCH_CONFIG  ? TG_ATTR_KIND_LAUNCH
           : m == TG_RULE_METRIC_INPUT_TYPES  ? TG_ATTR_KIND_TYPES
           : m == TG_RULE_METRIC_INPUT_SHAPES ? TG_ATTR_KIND_SHAPES
                                              : TG_ATTR_KIND_BYTES;
}

struct tg_probe tg_probe_begin(const struct tg_rule *rule, const struct tg_rule_limits *l,
                               const struct tg_comparison *c)
{
    return (
        struct tg_probe){ .step_ns = c->step_ns[TG_BASE], .bad = rule->bad, .test_kind = l->test };
}

static void put_values(struct tg_probe *p, const double value[2])
{
    p->base = value[TG_BASE];
    p->test = value[TG_TEST];
}

/* False: a side does not carry it. */
static bool put_known(struct tg_probe *p, const bool known[2])
{
    memcpy(p->known, known, sizeof p->known);
    return known[TG_BASE] && known[TG_TEST];
}

/*
 * Values of a time with evidence: what was compared, where that was judged, else the means. Per call
 * both sides are divided by the baseline's calls, as the evidence is: it is judged at equal counts.
 */
static void probe_time(struct tg_probe *p, const struct tg_evidence *ev, const double mean[2],
                       const double calls[2])
{
    bool judged = ev->judged == TG_JUDGED;
    double value[2];

    p->ev = ev;
    p->has_recorded = true;
    p->per = calls && calls[TG_BASE] > 0 ? calls[TG_BASE] : 0;
    for (int side = 0; side < 2; side++) {
        double own = !calls ? 1 : calls[side] > 0 ? calls[side] : INFINITY;
        p->recorded[side] = mean[side] / own;
        value[side] = judged ? ev->value[side] / (p->per > 0 ? p->per : 1) : p->recorded[side];
    }
    put_values(p, value);
}

static bool is_inclusive(enum tg_rule_metric m)
{
    return m == TG_RULE_METRIC_TOTAL || m == TG_RULE_METRIC_DEVICE_TIME || m == TG_RULE_METRIC_MEAN;
}

static bool is_self(enum tg_rule_metric m)
{
    return m == TG_RULE_METRIC_SELF || m == TG_RULE_METRIC_DEVICE_SELF;
}

/* On the device self time is the duration, so its evidence is that of the total. */
static void probe_op_time(struct tg_probe *p, enum tg_rule_metric m, const struct tg_op *op,
                          const struct tg_evidence *ev)
{
    probe_time(p, ev, is_self(m) ? op->self : op->total,
               m == TG_RULE_METRIC_MEAN ? op->count : NULL);
}

/* `q` of the single calls. */
static bool probe_quantile(struct tg_probe *p, double q, const struct tg_comparison *c,
                           const struct tg_op *op)
{
    struct tg_evidence *ev = TG_NEW(c->arena, struct tg_evidence);
    p->base = tg_op_quantile(op, TG_BASE, q);
    p->test = tg_op_quantile(op, TG_TEST, q);
    if (tg_op_quantile_evidence(op, q, ev)) {
        p->ev = ev;
        if (ev->judged == TG_JUDGED) {
            put_values(p, ev->value);
        }
    }
    return op->present[TG_TEST];
}

/* What is shown is what was compared: the part of the mean step. */
static void probe_share(struct tg_probe *p, const struct tg_comparison *c, const struct tg_op *op)
{
    struct tg_evidence *ev = TG_NEW(c->arena, struct tg_evidence);
    bool judged = tg_op_share_evidence(op, ev);

    p->ev = judged ? ev : &op->ev;
    p->has_recorded = true;
    for (int side = 0; side < 2; side++)
        p->recorded[side] = 100 * op->share[side];
    put_values(p, judged ? ev->value : p->recorded);
}

/* Values of a per-name metric; false: this operator has none. */
bool tg_probe_op(struct tg_probe *p, enum tg_rule_metric m, const struct tg_comparison *c,
                 const struct tg_op *op)
{
    p->unit = tg_rule_metric_info(m)->unit;
    switch (m) {
    case TG_RULE_METRIC_COUNT:
    case TG_RULE_METRIC_DEVICE_COUNT:
        p->exact = true;
        put_values(p, op->count);
        p->unchanged = op->change == TG_SAME;
        return true;
    case TG_RULE_METRIC_SELF:
    case TG_RULE_METRIC_DEVICE_SELF:
        probe_op_time(p, m, op, &op->ev);
        return true;
    case TG_RULE_METRIC_TOTAL:
    case TG_RULE_METRIC_DEVICE_TIME:
    case TG_RULE_METRIC_MEAN:
        probe_op_time(p, m, op, tg_kind_is_device(op->kind) ? &op->ev : &op->ev_total);
        return true;
    case TG_RULE_METRIC_ADDED:
        p->ev = NULL;
        p->exact = true; /* a name that did not exist: no noise can explain it */
        p->test = op->change == TG_ADDED ? op->total[TG_TEST] : 0;
        p->unchanged = op->change != TG_ADDED;
        return true;
    case TG_RULE_METRIC_REMOVED:
        p->exact = true;
        p->test = op->change == TG_REMOVED ? op->total[TG_BASE] : 0;
        p->unchanged = op->change != TG_REMOVED;
        return true;
    case TG_RULE_METRIC_SHARE:
        probe_share(p, c, op);
        return true;
    case TG_RULE_METRIC_MEDIAN:
        return probe_quantile(p, .5, c, op);
    case TG_RULE_METRIC_P95:
        return probe_quantile(p, .95, c, op);
    case TG_RULE_METRIC_MAX:
        return probe_quantile(p, 1, c, op);
    case TG_RULE_METRIC_BYTES:
        p->exact = true;
        put_values(p, op->bytes);
        p->unchanged = op->moved.proof != TG_COUNT_PROVEN && p->test >= p->base;
        p->has_recorded = true;
        p->recorded[TG_BASE] = op->bytes_mean[TG_BASE];
        p->recorded[TG_TEST] = op->bytes_mean[TG_TEST];
        return op->bytes_known[TG_BASE] && op->bytes_known[TG_TEST];
    default:
        return false;
    }
}

static bool probe_ranks(struct tg_probe *p, enum tg_rule_metric m, const struct tg_comparison *c)
{
    if (m == TG_RULE_METRIC_COLLECTIVE_SKEW) {
        p->ev = &c->collective_skew_ev;
        put_values(p, c->collective_skew);
        return put_known(p, c->collectives_known);
    }
    (void)put_known(p, c->ranks_known);
    if (m == TG_RULE_METRIC_RANK_SPREAD) {
        probe_time(p, &c->rank_spread_ev, c->rank_spread, NULL);
    } else {
        p->ev = &c->skew_ev;
        put_values(p, c->skew);
    }
    return p->known[TG_BASE] && p->known[TG_TEST];
}

static void probe_metric(struct tg_probe *p, const struct tg_metric_change *m,
                         const struct tg_evidence *ev, bool slowest)
{
    const double *mean = slowest ? m->slowest : m->value;

    if (p->unit == TG_UNIT_NS) {
        probe_time(p, ev, mean, NULL);
        if (m->id == TG_METRIC_STEP_TIME)
            put_values(p, mean); /* as every report gives it */
        return;
    }
    p->ev = ev;
    p->fell = tg_metric_info(m->id)->worse < 0;
    put_values(p, mean);
}

bool tg_probe_metric(struct tg_probe *p, const struct tg_rule *rule, const struct tg_comparison *c)
{
    const struct tg_rule_metric_info *info = tg_rule_metric_info(rule->metric);
    bool slowest = rule->match.rank == TG_MATCH_RANK_SLOWEST;
    const struct tg_metric_change *m;
    enum tg_metric id;
    p->unit = info->unit;
    p->exact = info->exact;
    if (!tg_rule_metric_of_trace(rule->metric, &id))
        return probe_ranks(p, rule->metric, c);
    m = &c->metrics[id];
    probe_metric(p, m, slowest ? &m->ev_slowest : &m->ev, slowest);
    p->outside = tg_outside_growth_of(c, tg_metric_info(id)->counts);
    p->test += p->outside;
    return put_known(p, m->known);
}

bool tg_probe_op_by(struct tg_probe *p, enum tg_rule_metric m, const struct tg_comparison *c,
                    const struct tg_op *op, enum tg_estimate by)
{
    struct tg_evidence *ev = TG_NEW(c->arena, struct tg_evidence);

    if (!is_self(m) && !is_inclusive(m))
        return false;
    if (!tg_op_evidence_by(op, is_self(m) ? TG_OP_SELF : TG_OP_TOTAL, by, ev))
        return false;
    probe_op_time(p, m, op, ev);
    return true;
}

bool tg_probe_metric_by(struct tg_probe *p, const struct tg_rule *rule,
                        const struct tg_comparison *c, enum tg_estimate by)
{
    bool slowest = rule->match.rank == TG_MATCH_RANK_SLOWEST;
    const struct tg_metric_change *m;
    const struct tg_evidence *ev;
    enum tg_metric id;

    if (!tg_rule_metric_of_trace(rule->metric, &id))
        return false;
    m = &c->metrics[id];
    ev = slowest ? &m->by_slowest[by] : &m->by[by];
    if (ev->judged != TG_JUDGED)
        return false;
    probe_metric(p, m, ev, slowest);
    return true;
}
