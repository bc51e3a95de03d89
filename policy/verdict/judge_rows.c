#include <math.h>

#include "core/base/utf8.h"
#include "core/diff/numbers.h"
#include "policy/language/limit.h"
#include "policy/verdict/describe.h"
#include "policy/verdict/internal.h"
#include "policy/verdict/phrase.h"

bool tg_judge_has_limits(const struct tg_rule_limits *l)
{
    return l->warn.state == TG_LIMIT_ON || l->fail.state == TG_LIMIT_ON;
}

void tg_judge_fill(struct tg_result *r, const struct tg_rule *rule, const struct tg_probe *p,
                   const struct tg_judgement *j)
{
    r->state = j->state;
    r->metric = rule->metric;
    r->dimension = tg_unit_dimension(p->unit);
    r->unit = tg_sv_of(tg_unit_text(p->unit));
    r->has_values = p->unit != TG_UNIT_ATTR;
    r->base = p->base;
    r->test = p->test;
    r->delta = p->test - p->base;
    r->delta_pct = r->has_values ? tg_probe_measured_pct(p) : NAN;
    r->ev = p->exact ? NULL : p->ev;
}

static void fill_op(struct tg_result *r, const struct tg_op *op, const struct tg_rule *rule,
                    const struct tg_probe *p, const struct tg_judgement *j)
{
    tg_judge_fill(r, rule, p, j);
    r->op = op->raw[op->present[TG_TEST] ? TG_TEST : TG_BASE];
    r->op_normalised = r->plain = op->name;
    r->op_kind = op->kind;
    if (r->dimension == TG_DIM_COUNT)
        r->calling_op = op->calling_op;
    r->share = op->share[op->present[TG_TEST] ? TG_TEST : TG_BASE];
}

/* What stands for a result that no operator of the comparison has. */
static struct tg_op *stand_in(struct tg_arena *a, enum tg_kind kind, tg_sv name)
{
    struct tg_op *op = TG_NEW(a, struct tg_op);
    *op = (struct tg_op){ .name = name,
                          .raw = { name, name },
                          .present = { true, true },
                          .kind = kind,
                          .region = TG_NO_ID,
                          .partner = TG_NO_ID,
                          .leader = TG_NO_ID };
    return op;
}

/* ns per step that the result is about: the order of reports. A new operator leads what it calls. */
static double weight_op(const struct tg_op *op)
{
    const double *of = op->leads ? op->total : op->self;
    double weight = of[TG_TEST] - of[TG_BASE];
    return isfinite(weight) ? fabs(weight) : 0;
}

void tg_judge_place_limit(struct tg_result *r, const struct tg_judgement *j,
                          const struct tg_probe *p, struct tg_arena *a)
{
    struct tg_buf b = { 0 };
    if (!j->limit)
        return;
    r->over_budget = tg_limit_is_budget(j->limit);
    tg_limit_text(j->limit, &b);
    r->limit = tg_phrase_take(&b, a);
    tg_describe_limit(&b, j->limit, p);
    r->limit_said = tg_phrase_take(&b, a);
    r->file = j->limit->at.file;
    r->line = j->limit->at.line;
    r->col = j->limit->at.col;
}

/* What is left to say of a result about a time that is not one operator's own, or about a metric. */
static void describe_row(struct tg_eval_state *e, const struct tg_rule_scope *s,
                         struct tg_result *r, const struct tg_rule_limits *l,
                         const struct tg_probe *p, const struct tg_judgement *j)
{
    tg_judge_place_limit(r, j, p, e->arena);
    tg_describe_metric(r, s->c, p, j, e->arena);
    tg_grounds_set(r, l, p, j);
}

/*
 * A limit with a size of its own is about what its metric says, the mean over all steps: what the
 * least of the steps does not show is looked for in the usual step and in the mean, too: of times,
 * which alone have these estimates. The worst answer holds, and its values are shown. `op` NULL: a
 * metric of the trace.
 */
static void judge_by_all(const struct tg_rule_scope *s, const struct tg_rule *rule,
                         const struct tg_op *op, const struct tg_rule_limits *l, struct tg_probe *p,
                         struct tg_judgement *j)
{
    if (!p->ev || p->ev->judged != TG_JUDGED || l->test == TG_NOISE_NONE ||
        !tg_limit_lists_have_size(&l->warn, &l->fail))
        return;
    for (enum tg_estimate by = TG_ESTIMATE_USUAL; by < TG_ESTIMATES; by++) {
        struct tg_probe other = *p;
        struct tg_judgement then;
        if (op ? !tg_probe_op_by(&other, rule->metric, s->c, op, by)
               : !tg_probe_metric_by(&other, rule, s->c, by))
            continue;
        tg_ask_by(s, rule, op, l, by, &other);
        then = tg_judge(&other, &l->warn, &l->fail);
        if (then.state <= j->state)
            continue;
        *p = other;
        *j = then;
    }
}

/* A budget shows what it limits: the values as recorded. */
static void show_budget(struct tg_probe *p, const struct tg_rule_limits *l,
                        const struct tg_judgement *j)
{
    bool budget =
        j->limit ? tg_limit_is_budget(j->limit) : tg_limit_lists_are_budgets(&l->warn, &l->fail);

    if (!p->has_recorded || !budget)
        return;
    p->base = p->recorded[TG_BASE];
    p->test = p->recorded[TG_TEST];
    p->ev = NULL;
}

/* Tables and charts show what was decided by: of a finding about an operator's own time. */
static void tell(const struct tg_rule_scope *s, const struct tg_rule *rule, const struct tg_op *op,
                 const struct tg_probe *p, const struct tg_judgement *j)
{
    bool self = rule->metric == TG_RULE_METRIC_SELF ||
                (tg_kind_is_device(op->kind) && rule->metric == TG_RULE_METRIC_TOTAL);

    if (self && j->limit && p->ev && p->ev->judged == TG_JUDGED && !tg_kind_is_frame(op->kind))
        s->c->ops[op - s->c->ops].reported = p->ev;
}

/* The baseline said how much, the fresh traces do not: nothing to compare, and no pass. */
static void say_no_bytes(struct tg_result *r, const struct tg_rule *rule, const struct tg_op *op)
{
    tg_eval_message(r, rule->unjudged_note ? TG_STATE_WARN : TG_STATE_INCONCLUSIVE,
                    TG_SUBJECT_GUARD, TG_NEED_BYTES, op->name,
                    TG_SV("the fresh traces do not say how many bytes, the baseline did"),
                    TG_SV("Record both sides with the same version of PyTorch and the driver."));
}

/* False: neither side has any. An attribute that was not compared does not pass. */
static bool probe_attr(struct tg_probe *p, enum tg_rule_metric m, const struct tg_op *op,
                       struct tg_arena *a)
{
    p->attr = tg_rule_attr_kind(m);
    for (size_t i = 0; i < op->n_attrs; i++)
        p->test += op->attrs[i].kind == p->attr;
    p->unit = TG_UNIT_ATTR;
    p->exact = true;
    p->bad = TG_ANY_IS_BAD;
    p->incomparable = tg_attr_state_text(op, p->attr, a);
    p->lacks = TG_NEED_ATTRIBUTE;
    return op->attr[p->attr].what != TG_ATTR_NONE;
}

static void name_rank(struct tg_result *r, const struct tg_eval_state *e,
                      const struct tg_rule_scope *s, tg_sv name)
{
    if (s->rank >= 0 && !e->brief)
        r->op_normalised =
            TG_SV_PRINTF(e->arena, "%.*s [rank %lld]", TG_SV_ARG(name), (long long)s->rank);
}

void tg_judge_op(struct tg_eval_state *e, const struct tg_rule_scope *s, const struct tg_rule *rule,
                 const struct tg_op *op)
{
    struct tg_rule_limits l = tg_select_limits(rule, op);
    struct tg_probe p = tg_probe_begin(rule, &l, s->c);
    const char *differs;
    struct tg_judgement j;
    struct tg_result *r;
    if (tg_rule_metric_info(rule->metric)->unit == TG_UNIT_ATTR) {
        if (!probe_attr(&p, rule->metric, op, e->arena))
            return;
    } else if (!tg_probe_op(&p, rule->metric, s->c, op)) {
        if (rule->metric == TG_RULE_METRIC_BYTES && op->bytes_known[TG_BASE] &&
            op->bytes[TG_BASE] > 0)
            say_no_bytes(tg_eval_add(e, rule), rule, op);
        return;
    }
    if (tg_grounds_lacks_frames(s, 1u << op->kind, TG_BASE))
        p.base = p.recorded[TG_BASE] = NAN;
    tg_grounds_ask_runs(&p, l.noise, e->in->policy, s->c, e->arena);
    if ((differs = tg_grounds_op_differs(s, op, &p, e->arena))) {
        p.incomparable = differs;
        p.lacks = TG_REASON_DEVICE;
    } else {
        tg_ask_op(e, s, rule, op, &l, &p);
    }
    j = tg_judge(&p, &l.warn, &l.fail);
    judge_by_all(s, rule, op, &l, &p, &j);
    show_budget(&p, &l, &j);
    if (!p.exact && tg_grounds_few_steps(s, l.noise))
        tg_lack(&j, TG_STATE_NOT_JUDGED, TG_NEED_STEPS, tg_grounds_few_steps(s, l.noise));
    tg_grounds_soften(&j, op, rule, &p, &l);
    if (!tg_judge_has_limits(&l))
        j = (struct tg_judgement){ .state = TG_STATE_SKIP,
                                   .reason = TG_NEED_LIMIT,
                                   .why_not = "the policy sets no limit for it" };
    r = tg_eval_add(e, rule);
    fill_op(r, op, rule, &p, &j);
    r->op_at = (uint32_t)(op - s->c->ops);
    /* What polls by its name says nothing; another name that `noise.ignore` has is left out by it. */
    r->switched_off = j.state == TG_STATE_SKIP && (j.reason != TG_REASON_POLLING ||
                                                   !tg_is_polling(op->raw[op->present[TG_TEST]]));
    r->rank = weight_op(op);
    tg_judge_place_limit(r, &j, &p, e->arena);
    tell(s, rule, op, &p, &j);
    if (!e->brief || j.state != TG_STATE_PASS)
        tg_describe_op(r, op, s->c, &p, &j, e->arena);
    name_rank(r, e, s, op->name);
    tg_grounds_set(r, &l, &p, &j);
}

static double slower_by(const struct tg_op *op)
{
    bool compared = op->ev.judged == TG_JUDGED || op->ev.judged == TG_NOT_FEW_RUNS;
    const double *of = compared ? op->ev.value : op->self;
    return of[TG_TEST] - of[TG_BASE];
}

/* "; 60 names together, most of the rise in tiny3, tiny17, tiny5" */
static void put_names(struct tg_buf *b, const struct tg_op *const *op, size_t n)
{
    const struct tg_op *last = NULL;
    if (n > 1)
        tg_buf_printf(b, "; %zu names together", n);
    tg_buf_puts(b, n > 1 ? ", most of the rise in " : "; all of it in ");
    for (size_t named = 0; named < 3 && named < n; named++) {
        const struct tg_op *next = NULL;
        for (size_t i = 0; i < n; i++)
            if (slower_by(op[i]) > 0 && (!last || slower_by(op[i]) < slower_by(last)) &&
                (!next || slower_by(op[i]) > slower_by(next)))
                next = op[i];
        if (!next)
            break;
        tg_buf_printf(b, "%s%.*s", named ? ", " : "", TG_SV_ARG(next->name));
        last = next;
    }
}

/* A time that is shown as it was compared. */
static void probe_evidence(struct tg_probe *p, const struct tg_evidence *ev)
{
    p->unit = TG_UNIT_NS;
    p->ev = ev;
    p->base = ev->value[TG_BASE];
    p->test = ev->value[TG_TEST];
}

/* Why the time of all small ones together may not be their own; NONE: it is. */
static enum tg_reason doubt_of_small(const struct tg_comparison *c, enum tg_kind kind)
{
    if (!tg_kind_is_device(kind))
        return TG_REASON_HOT_MACHINE;
    for (size_t i = 0; i < c->n_ops; i++)
        if (c->ops[i].change != TG_SAME && tg_kind_is_device(c->ops[i].kind))
            return TG_REASON_BESIDE;
    return TG_REASON_NONE;
}

/* The message names them. */
static void tell_small(struct tg_result *r, const struct tg_op *const *op, size_t n,
                       struct tg_arena *a)
{
    struct tg_buf b = { 0 };
    tg_buf_add(&b, r->message);
    put_names(&b, op, n);
    r->message = tg_phrase_take(&b, a);
}

void tg_judge_together(struct tg_eval_state *e, const struct tg_rule_scope *s,
                       const struct tg_rule *rule, const struct tg_op *const *op, size_t n,
                       const struct tg_evidence *ev)
{
    struct tg_rule_limits l = tg_select_limits(rule, NULL);
    struct tg_probe p = tg_probe_begin(rule, &l, s->c);
    enum tg_reason doubt;
    struct tg_judgement j;
    struct tg_result *r;
    struct tg_op *all = stand_in(e->arena, op[0]->kind,
                                 TG_SV_PRINTF(e->arena, "(small %s)", tg_phrase_kind(op[0]->kind)));

    if (l.test == TG_NOISE_NONE || tg_grounds_few_steps(s, l.noise))
        return;
    for (size_t i = 0; i < n; i++)
        for (int side = 0; side < 2; side++)
            all->share[side] += op[i]->share[side];
    probe_evidence(&p, ev);
    tg_grounds_ask_runs(&p, l.noise, e->in->policy, s->c, e->arena);
    tg_ask_together(e, s, rule, op, n, &l, &p);
    j = tg_judge(&p, &l.warn, &l.fail);
    if (j.state <= TG_STATE_WAIVED)
        return;
    if (j.state == TG_STATE_FAIL && (doubt = doubt_of_small(s->c, op[0]->kind)))
        tg_soften(&j, doubt, TG_STATE_WARN);
    r = tg_eval_add(e, rule);
    fill_op(r, all, rule, &p, &j);
    r->rank = fabs(ev->delta_ns);
    describe_row(e, s, r, &l, &p, &j);
    tell_small(r, op, n, e->arena);
    name_rank(r, e, s, all->name);
}

static void say_unknown(struct tg_result *r, const struct tg_rule *rule)
{
    r->metric = rule->metric;
    r->dimension = tg_unit_dimension(tg_rule_metric_info(rule->metric)->unit);
    tg_eval_message(r, rule->optional ? TG_STATE_SKIP : TG_STATE_INCONCLUSIVE, TG_SUBJECT_TRACE,
                    TG_NEED_METRIC, tg_result_metric(r),
                    TG_SV("the traces lack what this metric needs"),
                    TG_SV("Record what docs/metrics.md names for it, or mark the rule optional."));
}

/* Of the calls that the fresh side's step lacks. */
static double part_that_went_out(const struct tg_comparison *c, const struct tg_op *op)
{
    double more = tg_outside_calls(c, op, TG_TEST) - tg_outside_calls(c, op, TG_BASE);
    double less = tg_inside_calls(c, op, TG_BASE) - tg_inside_calls(c, op, TG_TEST);
    return less > 0 ? fmin(fmax(more, 0) / less, 1) : 0;
}

/* ns of a step that the host's operators and waits lost, but what went outside the steps: so much may
 * have come elsewhere. */
static double operators_lost(const struct tg_comparison *c)
{
    double ns = 0;
    for (size_t i = 0; i < c->n_ops; i++) {
        const struct tg_op *op = &c->ops[i];
        if (tg_kind_nests(op->kind) && op->kind != TG_KIND_STEP)
            ns += (op->self[TG_BASE] - op->self[TG_TEST]) * (1 - part_that_went_out(c, op));
    }
    return fmax(ns, 0);
}

/*
 * Gaps, and the sum of operators and gaps, also grow where operators leave the marker's thread, or the
 * marker its place. Then the step is as long as before, beyond the doubt of its runs, and no operator is
 * shorter instead: no failure.
 */
static void except_as_long(struct tg_judgement *j, const struct tg_comparison *c, double more)
{
    const struct tg_evidence *step = &c->metrics[TG_METRIC_HOST_TIME].ev;
    double longer = step->value[TG_BASE] * expm1(step->e + TG_AS_LONG_Z * step->se);
    if (j->state != TG_STATE_FAIL || tg_limit_is_budget(j->limit) ||
        !c->metrics[TG_METRIC_HOST_TIME].known[TG_BASE] ||
        fmax(longer, 0) + operators_lost(c) >= TG_HALF * more)
        return;
    tg_soften(j, TG_REASON_AS_LONG, TG_STATE_WARN);
}

void tg_judge_metric(struct tg_eval_state *e, const struct tg_rule_scope *s,
                     const struct tg_rule *rule)
{
    struct tg_rule_limits l = tg_select_limits(rule, NULL);
    struct tg_probe p = tg_probe_begin(rule, &l, s->c);
    struct tg_judgement j;
    struct tg_result *r = tg_eval_add(e, rule);
    bool known = tg_probe_metric(&p, rule, s->c);
    if (!known && !(tg_rule_is_budget(rule) && p.known[TG_TEST])) {
        say_unknown(r, rule);
        return;
    }
    if (!p.known[TG_BASE])
        p.base = p.recorded[TG_BASE] = NAN;
    tg_grounds_ask_runs(&p, l.noise, e->in->policy, s->c, e->arena);
    p.incomparable = tg_grounds_metric_differs(s, rule, e->arena);
    p.lacks = TG_REASON_DEVICE;
    if (!p.incomparable)
        tg_ask_metric(e, s, rule, &l, &p);
    j = tg_judge(&p, &l.warn, &l.fail);
    judge_by_all(s, rule, NULL, &l, &p, &j);
    if (rule->metric == TG_RULE_METRIC_STEP_TIME && s->c->step.ev_total.judged == TG_JUDGED)
        except_as_long(&j, s->c, p.ev->delta_ns);
    show_budget(&p, &l, &j);
    tg_judge_fill(r, rule, &p, &j);
    r->subject = TG_SUBJECT_TRACE;
    r->op = r->op_normalised = r->plain = tg_result_metric(r);
    r->rank = p.unit == TG_UNIT_NS ? fabs(r->delta) : 0;
    describe_row(e, s, r, &l, &p, &j);
    name_rank(r, e, s, r->plain);
}

/*
 * A part of the step under a rule about the step's time: a size of the rule's own is one of the step,
 * not of the part, whatever the part was before. With `auto` the part is judged by itself.
 */
static struct tg_judgement judge_part(const struct tg_comparison *c, const struct tg_probe *p,
                                      const struct tg_rule_limits *l)
{
    struct tg_probe step = *p;
    struct tg_evidence ev;

    if (!tg_limit_lists_have_size(&l->warn, &l->fail) || p->ev->judged != TG_JUDGED)
        return tg_judge(p, &l->warn, &l->fail);
    ev = *p->ev;
    ev.value[TG_BASE] = step.base = c->step_ns[TG_BASE];
    ev.value[TG_TEST] = step.test = step.base + ev.delta_ns;
    ev.e = log1p(ev.delta_ns / step.base);
    step.ev = &ev;
    return tg_judge(&step, &l->warn, &l->fail);
}

/* The time that `op` has evidence of: the step's between operators, an annotation's. */
static void judge_time(struct tg_eval_state *e, const struct tg_rule_scope *s,
                       const struct tg_rule *rule, const struct tg_op *op)
{
    struct tg_rule_limits l = tg_select_limits(rule, NULL);
    struct tg_probe p = tg_probe_begin(rule, &l, s->c);
    struct tg_judgement j;
    struct tg_result *r;
    bool of_step = op->kind == TG_KIND_STEP;
    probe_evidence(&p, &op->ev);
    tg_grounds_ask_runs(&p, l.noise, e->in->policy, s->c, e->arena);
    if (p.ev->judged != TG_JUDGED && !p.ev->suspicious)
        return;
    tg_ask_time(e, s, rule, op, &l, &p);
    j = judge_part(s->c, &p, &l);
    if (of_step)
        except_as_long(&j, s->c, op->ev.delta_ns);
    if (!of_step && j.state <= TG_STATE_NOT_JUDGED)
        return; /* one line for each that got slower */
    r = tg_eval_add(e, rule);
    fill_op(r, op, rule, &p, &j);
    if (of_step) {
        r->op = r->op_normalised = r->plain = TG_SV("ProfilerStep");
        r->subject = TG_SUBJECT_STEP;
    }
    r->rank = fabs(r->delta);
    describe_row(e, s, r, &l, &p, &j);
}

/* "same calls: void a(float*) in place of void b(float*), 5 launches per step, was 3" */
static tg_sv choice_text(const struct tg_algorithm *x, struct tg_arena *a)
{
    struct tg_buf b = { 0 };
    tg_buf_puts(&b, "same calls: ");
    if (x->came)
        tg_buf_printf(&b, "%.*s", TG_SV_ARG(tg_utf8_prefix(x->came->name, 60)));
    if (x->went)
        tg_buf_printf(&b, "%s%.*s", x->came ? " in place of " : "without ",
                      TG_SV_ARG(tg_utf8_prefix(x->went->name, 60)));
    if (x->calls[TG_BASE] != x->calls[TG_TEST])
        tg_buf_printf(&b, ", %s launches per step, was %s",
                      TG_VALUE(x->calls[TG_TEST], TG_UNIT_COUNT),
                      TG_VALUE(x->calls[TG_BASE], TG_UNIT_COUNT));
    return tg_phrase_take(&b, a);
}

/* Its device work under a rule about time. */
static void judge_time_of_choice(struct tg_eval_state *e, const struct tg_rule_scope *s,
                                 const struct tg_rule *rule, const struct tg_algorithm *x,
                                 const struct tg_op *op)
{
    struct tg_rule_limits l = tg_select_limits(rule, op);
    struct tg_probe p = tg_probe_begin(rule, &l, s->c);
    struct tg_judgement j;
    struct tg_result *r;
    probe_evidence(&p, &x->ev);
    tg_grounds_ask_runs(&p, l.noise, e->in->policy, s->c, e->arena);
    if ((p.ev->judged != TG_JUDGED && !p.ev->suspicious) || tg_grounds_few_steps(s, l.noise))
        return;
    tg_ask_choice(e, s, rule, x, &l, &p);
    j = tg_judge(&p, &l.warn, &l.fail);
    if (j.state <= TG_STATE_NOT_JUDGED)
        return;
    r = tg_eval_add(e, rule);
    fill_op(r, op, rule, &p, &j);
    r->rank = fabs(r->delta);
    describe_row(e, s, r, &l, &p, &j);
}

/* Its launches under a rule about calls: nothing that the runs show to be as fast as before. */
static void tell_choice(struct tg_eval_state *e, const struct tg_rule *rule,
                        const struct tg_algorithm *x, const struct tg_op *op)
{
    struct tg_result *r = tg_eval_add(e, rule);
    bool as_fast = x->known || (x->ev.judged == TG_JUDGED && !x->ev.slower);
    tg_eval_message(
        r, as_fast ? TG_STATE_PASS : TG_STATE_WARN, TG_SUBJECT_NAME, TG_REASON_CHOICE, op->name,
        choice_text(x, e->arena),
        TG_SV(
            "If a library picked them: docs/guides/noisy-machines.md says how to pin its choice."));
    r->op_kind = op->kind;
    r->metric = rule->metric;
    r->dimension = TG_DIM_ATTR;
    r->grounds = TG_GROUNDS_ATTR;
    r->rank = fabs(x->ev.delta_ns);
}

void tg_judge_choices(struct tg_eval_state *e, const struct tg_rule_scope *s,
                      const struct tg_rule *rule)
{
    bool counts = rule->metric == TG_RULE_METRIC_COUNT && rule->bad == TG_MORE_IS_BAD &&
                  rule->exceptions & 1u << TG_EXCEPTION_REPLACED;
    bool times = rule->metric == TG_RULE_METRIC_SELF || rule->metric == TG_RULE_METRIC_TOTAL;
    for (size_t i = 0; (counts || times) && i < s->c->n_choices; i++) {
        const struct tg_algorithm *x = &s->c->choices[i];
        struct tg_op *op = stand_in(e->arena, TG_KIND_KERNEL, s->c->ops[x->by].name);
        if (tg_select_op(&rule->match, op) != TG_HIT_YES)
            continue;
        if (times)
            judge_time_of_choice(e, s, rule, x, op);
        else
            tell_choice(e, rule, x, op);
    }
}

/* ns that the step got slower by; 0: it did not. */
static double step_lost(const struct tg_comparison *c)
{
    const struct tg_evidence *ev[] = { &c->step.ev, &c->step.ev_total,
                                       &c->metrics[TG_METRIC_STEP_TIME].ev };
    double lost = 0;
    for (size_t i = 0; i < sizeof ev / sizeof *ev; i++)
        if (ev[i]->slower)
            lost = fmax(lost, ev[i]->delta_ns);
    return lost;
}

/*
 * Between operators: host time that no operator's self time holds, of the step; and, where the step
 * got slower, of an annotation that holds most of that.
 */
void tg_judge_gaps(struct tg_eval_state *e, const struct tg_rule_scope *s,
                   const struct tg_rule *rule)
{
    double lost = step_lost(s->c);
    judge_time(e, s, rule, &s->c->step);
    for (size_t i = 0; lost > 0 && i < s->c->n_ops; i++) {
        const struct tg_op *op = &s->c->ops[i];
        if (op->kind == TG_KIND_ANNOTATION && op->ev.slower && 2 * op->ev.delta_ns > lost)
            judge_time(e, s, rule, op);
    }
}
