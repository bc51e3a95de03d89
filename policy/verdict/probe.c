/* What is measured of a quantity: its two values, and the evidence for a change of them. */
#include <math.h>

#include "core/diff/confirm.h"
#include "policy/verdict/internal.h"

enum tg_attr_kind tg_rule_attr_kind(enum tg_rule_metric m)
{
    return m == TG_RULE_METRIC_LAUNCH_CONFIG  ? TG_ATTR_KIND_LAUNCH
           : m == TG_RULE_METRIC_INPUT_TYPES  ? TG_ATTR_KIND_TYPES
           : m == TG_RULE_METRIC_INPUT_SHAPES ? TG_ATTR_KIND_SHAPES
                                              : TG_ATTR_KIND_BYTES;
}

void tg_probe_put(struct tg_probe *p, const double value[2])
{
    p->base = value[TG_BASE];
    p->test = value[TG_TEST];
}

static void put_recorded(struct tg_probe *p, const double value[2])
{
    p->has_recorded = true;
    memcpy(p->recorded, value, sizeof p->recorded);
    tg_probe_put(p, value);
}

/* A number that the program determines: a change needs no evidence. */
static void put_exact(struct tg_probe *p, double base, double test, bool unchanged)
{
    p->exact = true;
    p->base = base;
    p->test = test;
    p->unchanged = unchanged;
}

/* A time that is shown as it was compared. */
static void put_evidence(struct tg_probe *p, const struct tg_evidence *ev)
{
    p->ev = ev;
    tg_probe_put(p, ev->value);
}

/*
 * Values of a time with evidence: what was compared, where that was judged, else the means. Per
 * call both sides are divided by the baseline's calls, as the evidence is: it is judged at equal
 * counts.
 */
static void put_time(struct tg_probe *p, const struct tg_evidence *ev, const double mean[2],
                     const double calls[2])
{
    double recorded[2];
    p->ev = ev;
    p->per = calls && calls[TG_BASE] > 0 ? calls[TG_BASE] : 0;
    for (int side = 0; side < 2; side++)
        recorded[side] = mean[side] / (!calls ? 1 : calls[side] > 0 ? calls[side] : INFINITY);
    put_recorded(p, recorded);
    if (ev->why_not == TG_JUDGED) {
        p->base = ev->value[TG_BASE] / (p->per > 0 ? p->per : 1);
        p->test = ev->value[TG_TEST] / (p->per > 0 ? p->per : 1);
    }
}

/* ---- a name ---- */

/* On the device self time is the duration, so its evidence is that of the total. */
static bool probe_time(struct tg_probe *p, enum tg_rule_metric m, const struct tg_comparison *c,
                       const struct tg_op *op, enum tg_estimate by)
{
    bool self = m == TG_RULE_METRIC_SELF || m == TG_RULE_METRIC_DEVICE_SELF;
    const struct tg_evidence *ev = self || tg_kind_is_device(op->kind) ? &op->ev : &op->ev_total;
    if (by != TG_ESTIMATE_LEAST) {
        struct tg_evidence *other = TG_NEW(c->arena, struct tg_evidence);
        if (!tg_op_evidence_of_mean(op, self ? TG_OP_SELF : TG_OP_TOTAL, other))
            return false;
        ev = other;
    }
    put_time(p, ev, self ? op->self : op->total, m == TG_RULE_METRIC_MEAN ? op->count : NULL);
    p->recorded[TG_TEST] *= m == TG_RULE_METRIC_MEAN ? 1 : tg_op_iterations(c, op, TG_TEST);
    return true;
}

/* False: neither side has any. An attribute that was not compared does not pass. */
static bool probe_attr(struct tg_probe *p, enum tg_rule_metric m, const struct tg_comparison *c,
                       const struct tg_op *op)
{
    p->attr = tg_rule_attr_kind(m);
    put_exact(p, 0, 0, false);
    for (size_t i = 0; i < op->n_attrs; i++)
        p->test += op->attrs[i].kind == p->attr;
    p->bad = TG_ANY_IS_BAD;
    p->incomparable = tg_attr_state_text(op, p->attr, c->arena);
    p->lacks = TG_NEED_ATTRIBUTE;
    /* Of a name that one side lacks there is nothing to compare. */
    return op->attr[p->attr].what != TG_ATTR_NONE &&
           !(op->attr[p->attr].what == TG_ATTR_LACKS &&
             (op->change == TG_ADDED || op->change == TG_REMOVED));
}

bool tg_lacks_frames(const struct tg_comparison *c, uint32_t kinds, int side)
{
    return tg_frame_sorts(kinds) & (~c->frame_sorts[side] | c->frames_lack[side]);
}

/* False: this name has none. */
static bool probe_op(struct tg_probe *p, enum tg_rule_metric m, const struct tg_comparison *c,
                     const struct tg_op *op, enum tg_estimate by)
{
    bool owns = m == TG_RULE_METRIC_SHARE || m == TG_RULE_METRIC_MEDIAN ||
                m == TG_RULE_METRIC_P95 || m == TG_RULE_METRIC_MAX;
    struct tg_evidence *own = owns ? TG_NEW(c->arena, struct tg_evidence) : NULL;
    double q; /* the quantile of the single calls that is asked for */
    p->known[TG_BASE] = !tg_lacks_frames(c, 1u << op->kind, TG_BASE);
    p->known[TG_TEST] = true;
    if (m == TG_RULE_METRIC_SELF || m == TG_RULE_METRIC_DEVICE_SELF || m == TG_RULE_METRIC_TOTAL ||
        m == TG_RULE_METRIC_DEVICE_TIME || m == TG_RULE_METRIC_MEAN)
        return probe_time(p, m, c, op, by);
    if (by != TG_ESTIMATE_LEAST)
        return false;
    switch (m) {
    case TG_RULE_METRIC_COUNT:
    case TG_RULE_METRIC_DEVICE_COUNT:
        if (op->iteration_scaled)
            put_recorded(p, (double[]){ op->count[TG_BASE], tg_inside_calls(c, op, TG_TEST) });
        put_exact(p, op->count[TG_BASE], op->count[TG_TEST], op->change == TG_SAME);
        break;
    case TG_RULE_METRIC_ADDED: /* a name that did not exist: no noise can explain it */
        put_exact(p, 0, op->change == TG_ADDED ? op->total[TG_TEST] : 0, op->change != TG_ADDED);
        break;
    case TG_RULE_METRIC_REMOVED:
        put_exact(p, 0, op->change == TG_REMOVED ? op->total[TG_BASE] : 0,
                  op->change != TG_REMOVED);
        break;
    case TG_RULE_METRIC_SHARE:
        put_recorded(p, (double[]){ 100 * op->share[TG_BASE], 100 * op->share[TG_TEST] });
        p->ev = &op->ev;
        if (tg_op_share_evidence(op,
                                 own)) /* shown is what was compared: the part of the mean step */
            put_evidence(p, own);
        break;
    case TG_RULE_METRIC_MEDIAN:
    case TG_RULE_METRIC_P95:
    case TG_RULE_METRIC_MAX:
        q = m == TG_RULE_METRIC_MEDIAN ? .5 : m == TG_RULE_METRIC_P95 ? .95 : 1;
        p->base = tg_op_quantile(op, TG_BASE, q);
        p->test = tg_op_quantile(op, TG_TEST, q);
        p->known[TG_TEST] = op->present[TG_TEST];
        if (!tg_op_quantile_evidence(op, q, own))
            break;
        p->ev = own;
        if (own->why_not == TG_JUDGED)
            tg_probe_put(p, own->value);
        break;
    case TG_RULE_METRIC_BYTES:
        put_recorded(p, op->bytes_mean);
        put_exact(p, op->bytes[TG_BASE], op->bytes[TG_TEST],
                  op->moved.proof != TG_COUNT_PROVEN && op->bytes[TG_TEST] >= op->bytes[TG_BASE]);
        memcpy(p->known, op->bytes_known, sizeof p->known);
        return p->known[TG_BASE] && (p->known[TG_TEST] || op->bytes[TG_BASE] > 0);
    default:
        return p->unit == TG_UNIT_ATTR && probe_attr(p, m, c, op);
    }
    return p->known[TG_TEST];
}

/* ---- the whole trace, and benchmarks' numbers ---- */

/* Another number of iterations makes other sums over a trace: these are judged as the calls of
 * names are, of which those tell that they count. */
static void put_iterations(struct tg_probe *p, const struct tg_comparison *c, enum tg_metric id)
{
    const struct tg_metric_info *info = tg_metric_info(id);
    if (c->iteration_ratio == 1 || !info->exact || (info->of_device && !info->counts))
        return;
    put_recorded(p, (double[]){ p->base, p->test });
    p->unchanged = !info->counts && tg_iterations_explain(c, p->base, p->test);
    p->test = info->counts ? p->base : p->test / c->iteration_ratio;
    TG_EACH(const struct tg_op, op, c->ops, c->n_ops)
        if (info->counts & 1u << op->kind && op->change != TG_SAME)
            p->test += tg_op_rise(op);
}

static bool probe_trace(struct tg_probe *p, const struct tg_rule *rule,
                        const struct tg_comparison *c, enum tg_estimate by)
{
    bool slowest = rule->match.rank == TG_MATCH_RANK_SLOWEST, least = by == TG_ESTIMATE_LEAST;
    enum tg_metric id;
    if (!tg_rule_metric_of_trace(rule->metric, &id)) {
        bool collectives = rule->metric == TG_RULE_METRIC_COLLECTIVE_SKEW;
        memcpy(p->known, collectives ? c->collectives_known : c->ranks_known, sizeof p->known);
        if (rule->metric == TG_RULE_METRIC_RANK_SPREAD)
            put_time(p, &c->rank_spread_ev, c->rank_spread, NULL);
        else {
            p->ev = collectives ? &c->collective_skew_ev : &c->skew_ev;
            tg_probe_put(p, collectives ? c->collective_skew : c->skew);
        }
        return least;
    }
    const struct tg_metric_change *m = &c->metrics[id];
    const struct tg_evidence *ev = slowest ? least ? &m->ev_slowest : &m->mean_slowest
                                   : least ? &m->ev
                                           : &m->mean;
    memcpy(p->known, m->known, sizeof p->known);
    p->exact = tg_rule_metric_info(rule->metric)->exact;
    p->fell = p->unit != TG_UNIT_NS && tg_metric_info(id)->worse < 0;
    if (p->unit == TG_UNIT_NS)
        put_time(p, ev, slowest ? m->slowest : m->value, NULL);
    if (p->unit != TG_UNIT_NS || id == TG_METRIC_STEP_TIME) /* as every report gives it */
        tg_probe_put(p, slowest ? m->slowest : m->value);
    p->ev = ev;
    put_iterations(p, c, id);
    p->outside = tg_outside_growth_of(c, tg_metric_info(id)->counts);
    p->test += p->outside;
    return least || ev->why_not == TG_JUDGED;
}

/* Which way is bad: the rule's, else the number's own. A size of the rule's own is not bounded
 * by the threshold of `auto`. */
static bool probe_number(struct tg_probe *p, const struct tg_judging *w,
                         const struct tg_comparison *c)
{
    const struct tg_number_change *x = w->x.number;
    struct tg_evidence *ev = TG_NEW(c->arena, struct tg_evidence);
    if (p->bad == TG_OWN_IS_BAD)
        p->bad = tg_number_more_is_better(x->name, x->unit) ? TG_LESS_IS_BAD : TG_MORE_IS_BAD;
    put_recorded(p, x->value);
    p->known[TG_BASE] = x->n_runs[TG_BASE];
    p->known[TG_TEST] = x->n_runs[TG_TEST];
    p->fell = p->bad == TG_LESS_IS_BAD || (p->bad == TG_ANY_IS_BAD && p->test < p->base);
    *ev = p->fell ? x->fell : x->rose;
    if (tg_limit_lists_have_size(&w->l.warn, &w->l.fail))
        ev->mde = expm1(ev->z * ev->se);
    p->ev = ev;
    return true;
}

bool tg_probe(struct tg_probe *p, const struct tg_judging *w, const struct tg_comparison *c,
              enum tg_estimate by)
{
    bool of_name = w->x.kind == TG_QUANTITY_OP, found = true;
    *p = (struct tg_probe){ .unit = tg_rule_metric_info(w->rule->metric)->unit,
                            .step_ns = c->wall_ns[TG_BASE],
                            .bad = w->rule->bad,
                            .noise_test = w->l.noise->test,
                            .known = { true, true } };
    if (of_name)
        found = probe_op(p, w->rule->metric, c, w->x.op, by);
    else if (w->x.kind == TG_QUANTITY_TRACE)
        found = probe_trace(p, w->rule, c, by);
    else if (by != TG_ESTIMATE_LEAST)
        return false;
    else if (w->x.kind == TG_QUANTITY_NUMBER)
        found = probe_number(p, w, c);
    else
        put_evidence(p, w->x.ev);
    /* A part of the step: a size of the rule's own is one of the step, whatever the part was
     * before. */
    if (w->x.kind == TG_QUANTITY_GAP && tg_limit_lists_have_size(&w->l.warn, &w->l.fail))
        p->whole = c->wall_ns[TG_BASE];
    if (!p->known[TG_BASE])
        p->base = p->recorded[TG_BASE] = NAN;
    return found;
}

/* ---- the same in other runs ---- */

bool tg_quantity_find(struct tg_quantity *x, const struct tg_comparison *c)
{
    if (x->kind == TG_QUANTITY_TRACE || x->kind == TG_QUANTITY_NUMBER)
        return x->kind == TG_QUANTITY_TRACE;
    for (size_t i = 0; x->kind == TG_QUANTITY_CHOICE && i < c->n_choices; i++)
        if (tg_sv_eq(c->ops[c->choices[i].by].name, x->op->name)) {
            x->ev = &c->choices[i].ev;
            return true;
        }
    if (x->kind == TG_QUANTITY_CHOICE)
        return false;
    x->op = x->kind == TG_QUANTITY_GAP && x->op->kind == TG_KIND_STEP ? &c->step
                                                                      : tg_confirm_op(c, x->op);
    x->ev = x->op ? &x->op->ev : NULL;
    return x->op != NULL;
}
