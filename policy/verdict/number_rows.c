/* Results of rules about benchmarks' numbers: `metric: number`. */
#include <math.h>

#include "policy/language/limit.h"
#include "policy/verdict/describe.h"
#include "policy/verdict/internal.h"
#include "policy/verdict/phrase.h"

/* Which way is bad: the rule's, else the number's own. */
static enum tg_polarity bad_of(const struct tg_rule *rule, const struct tg_number_change *x)
{
    return rule->bad != TG_OWN_IS_BAD ? rule->bad
           : x->more_is_better        ? TG_LESS_IS_BAD
                                      : TG_MORE_IS_BAD;
}

static struct tg_probe probe_of(const struct tg_rule *rule, const struct tg_rule_limits *l,
                                const struct tg_number_change *x)
{
    enum tg_polarity bad = bad_of(rule, x);
    struct tg_probe p = { .base = x->value[TG_BASE],
                          .test = x->value[TG_TEST],
                          .unit = TG_UNIT_NUMBER,
                          .own_unit = x->unit,
                          .bad = bad,
                          .test_kind = l->test,
                          .known = { !x->missing[TG_BASE], !x->missing[TG_TEST] } };
    p.fell = bad == TG_LESS_IS_BAD || (bad == TG_ANY_IS_BAD && p.test < p.base);
    p.ev = p.fell ? &x->fell : &x->rose;
    return p;
}

/* A side does not have it: nothing to compare, and no pass. */
static void say_missing(struct tg_eval_state *e, const struct tg_rule *rule,
                        const struct tg_number_change *x)
{
    const char *side = x->missing[TG_BASE] ? "the baseline" : "the fresh side";
    struct tg_result *r = tg_eval_add(e, rule);
    r->metric = rule->metric;
    r->dimension = TG_DIM_NUMBER;
    tg_eval_message(r, rule->unjudged_note ? TG_STATE_WARN : TG_STATE_INCONCLUSIVE,
                    TG_SUBJECT_NUMBER, TG_NEED_METRIC, x->name,
                    TG_SV_PRINTF(e->arena, "%s has no such number%s%.*s", side,
                                 x->unit.n ? " in " : "", TG_SV_ARG(x->unit)),
                    TG_SV("Give both sides the benchmark's results, as docs/numbers.md shows."));
}

/* What a size of the rule's own can show is not bounded by the threshold of `auto`. */
static void ask_own_size(struct tg_probe *p, const struct tg_rule_limits *l, struct tg_arena *a)
{
    struct tg_evidence *own = TG_NEW(a, struct tg_evidence);
    if (!tg_limit_lists_have_size(&l->warn, &l->fail))
        return;
    *own = *p->ev;
    own->mde = expm1(own->need);
    p->ev = own;
}

static void judge_number(struct tg_eval_state *e, const struct tg_rule *rule,
                         const struct tg_number_change *x)
{
    const struct tg_comparison own = { .n_runs = { x->n_runs[TG_BASE], x->n_runs[TG_TEST] } };
    struct tg_rule_limits l = tg_select_limits(rule, NULL);
    struct tg_probe p = probe_of(rule, &l, x);
    struct tg_judgement j;
    struct tg_result *r;
    if (x->missing[TG_TEST] || (x->missing[TG_BASE] && !tg_rule_is_budget(rule))) {
        say_missing(e, rule, x);
        return;
    }
    tg_grounds_ask_runs(&p, l.noise, e->in->policy, &own, e->arena);
    ask_own_size(&p, &l, e->arena);
    j = tg_judge(&p, &l.warn, &l.fail);
    if (j.limit ? tg_limit_is_budget(j.limit) : tg_limit_lists_are_budgets(&l.warn, &l.fail))
        p.ev = NULL; /* it asks the fresh side alone */
    r = tg_eval_add(e, rule);
    tg_judge_fill(r, rule, &p, &j);
    r->subject = TG_SUBJECT_NUMBER;
    r->op = r->op_normalised = r->plain = x->name;
    r->unit = x->unit;
    r->rank = p.base > 0 ? fabs(r->delta / p.base) * e->in->comparison->step_ns[TG_BASE] : 0;
    tg_judge_place_limit(r, &j, &p, e->arena);
    tg_describe_metric(r, &own, &p, &j, e->arena);
    tg_grounds_set(r, &l, &p, &j);
}

static enum tg_hit is_chosen(const struct tg_match *m, tg_sv name)
{
    enum tg_hit hit = tg_patterns_test(&m->name, name);
    if (hit != TG_HIT_YES || !m->not_)
        return hit;
    switch (tg_patterns_test(&m->not_->name, name)) {
    case TG_HIT_YES:
        return TG_HIT_NO;
    case TG_HIT_GAVE_UP:
        return TG_HIT_GAVE_UP;
    case TG_HIT_NO:
        break;
    }
    return TG_HIT_YES;
}

void tg_judge_numbers(struct tg_eval_state *e, const struct tg_rule_scope *s,
                      const struct tg_rule *rule)
{
    bool matched = false, gave_up = false;
    for (size_t i = 0; i < s->c->n_numbers; i++) {
        enum tg_hit hit = is_chosen(&rule->match, s->c->numbers[i].name);
        gave_up |= hit == TG_HIT_GAVE_UP;
        matched |= hit != TG_HIT_NO;
        if (hit == TG_HIT_YES)
            judge_number(e, rule, &s->c->numbers[i]);
    }
    if (gave_up)
        tg_eval_message(tg_eval_add(e, rule), TG_STATE_INCONCLUSIVE, TG_SUBJECT_GUARD,
                        TG_NEED_PATTERN, TG_SV("(pattern)"),
                        TG_SV("a regular expression exceeded its budget of steps on a name"),
                        TG_SV("Write a simpler pattern; nested repeats are the usual cause."));
    if (!matched)
        tg_eval_message(
            tg_eval_add(e, rule), rule->optional ? TG_STATE_SKIP : TG_STATE_INCONCLUSIVE,
            TG_SUBJECT_NO_MATCH, TG_NEED_MATCH, TG_SV("(no match)"),
            TG_SV("the rule matches no number of either side"),
            TG_SV("Name the benchmark's results in the suite's `numbers`, or mark the rule "
                  "optional."));
}
