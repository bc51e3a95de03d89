#include "policy/verdict/eval.h"

#include <math.h>
#include <stdlib.h>

#include "policy/language/limit.h"
#include "policy/verdict/describe.h"
#include "policy/verdict/internal.h"
#include "policy/verdict/phrase.h"

static bool is_of_trace(const struct tg_result *r)
{
    return r->dimension == TG_DIM_DURATION && r->subject == TG_SUBJECT_TRACE;
}

static int by_weight(const void *a, const void *b)
{
    const struct tg_result *x = a, *y = b;
    int c;
    if (x->state != y->state)
        return x->state > y->state ? -1 : 1;
    /* Cause lines: counts, then facts, then durations and ratios. */
    if ((x->dimension == TG_DIM_COUNT) != (y->dimension == TG_DIM_COUNT))
        return x->dimension == TG_DIM_COUNT ? -1 : 1;
    /* What tells where comes before what tells that: an operator before the time of the step. */
    if (is_of_trace(x) != is_of_trace(y))
        return is_of_trace(y) ? -1 : 1;
    if (x->rank < y->rank || x->rank > y->rank)
        return x->rank > y->rank ? -1 : 1;
    if ((c = tg_sv_cmp(x->op_normalised, y->op_normalised)))
        return c;
    if ((c = tg_sv_cmp(x->rule, y->rule)))
        return c;
    return tg_sv_cmp(x->kind, y->kind);
}

/* A rule whose `when` holds and that counts calls. */
static bool asks_for_counts(const struct tg_eval_state *e)
{
    const struct tg_policy *p = e->in->policy;
    for (size_t i = 0; i < p->n_rules; i++) {
        const struct tg_metric_info *m = tg_metric_info(p->rules[i].metric);
        if (m->unit == TG_UNIT_COUNT && m->exact && tg_select_rule(e, &p->rules[i].when))
            return true;
    }
    return false;
}

static size_t resting_on(const struct tg_eval_state *e, enum tg_grounds g)
{
    size_t n = 0;
    for (size_t i = 0; i < e->n; i++)
        n += e->results[i].grounds == g;
    return n;
}

static bool has_state(const struct tg_eval_state *e, enum tg_state s)
{
    for (size_t i = 0; i < e->n; i++)
        if (e->results[i].state == s)
            return true;
    return false;
}

/* Names of which the fresh side's number could be judged. */
static size_t countable(const struct tg_comparison *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_ops; i++)
        n += c->ops[i].present[TG_TEST] && tg_kind_is_counted(c->ops[i].kind);
    return n;
}

static void open_guard(struct tg_eval_state *e, tg_sv name, tg_sv message, tg_sv next)
{
    struct tg_result *r = tg_eval_add(e, NULL);
    tg_eval_message(r, TG_STATE_INCONCLUSIVE, TG_SUBJECT_GUARD, name, message, next);
}

/*
 * The one place that decides whether a verdict may be green: some rule judged something, and where
 * a rule counts calls, there were calls to count.
 */
static void close_coverage(struct tg_eval_state *e)
{
    struct tg_verdict *v = e->out;
    size_t counts = resting_on(e, TG_GROUNDS_COUNT), runs = resting_on(e, TG_GROUNDS_RUNS);
    size_t other = resting_on(e, TG_GROUNDS_FACT) + resting_on(e, TG_GROUNDS_BUDGET);
    v->counts_asked = asks_for_counts(e);
    v->counts_judged = counts > 0;
    v->durations_judged = runs > 0;
    v->budgets_judged = resting_on(e, TG_GROUNDS_BUDGET) > 0;
    if (has_state(e, TG_STATE_INCONCLUSIVE))
        return;
    if (v->counts_asked && !countable(e->in->comparison))
        open_guard(e, TG_SV("(no calls)"),
                   TG_SV("the fresh traces hold no operators, kernels, copies or synchronisations: "
                         "there is nothing to count"),
                   TG_SV("Did the benchmark run, and do the events have a category (`cat`)?"));
    else if (!counts && !runs && !other && !has_state(e, TG_STATE_SUSPICIOUS))
        open_guard(e, TG_SV("(nothing judged)"), TG_SV("nothing could be judged"),
                   e->in->policy->n_rules
                       ? TG_SV("See the coverage line and the rules that were skipped.")
                       : TG_SV("The policy has no rules: write some, or start from the built-in "
                               "ones with `extends: [tracegate:recommended]`."));
}

/* States that `fail_on` names are failures, in every report. */
static void promote(struct tg_eval_state *e)
{
    static const struct {
        unsigned bit;
        enum tg_state state;
        const char *what;
    } kinds[] = { { TG_FAIL_ON_WARN, TG_STATE_WARN, "a warning" },
                  { TG_FAIL_ON_SUSPICIOUS, TG_STATE_SUSPICIOUS, "suspicious" },
                  { TG_FAIL_ON_INCONCLUSIVE, TG_STATE_INCONCLUSIVE, "inconclusive" } };
    for (size_t i = 0; i < e->n; i++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            struct tg_result *r = &e->results[i];
            if (!(e->in->policy->fail_on & kinds[k].bit) || r->state != kinds[k].state)
                continue;
            r->evidence = tg_sv_of(
                tg_arena_printf(e->arena, "%.*s%s%s: `fail_on` makes it a failure",
                                TG_SV_ARG(r->evidence), r->evidence.n ? "; " : "", kinds[k].what));
            r->state = TG_STATE_FAIL;
            break;
        }
}

static const struct tg_result *first_in(const struct tg_verdict *v, enum tg_state s)
{
    for (size_t i = 0; i < v->n_results; i++)
        if (v->results[i].state == s)
            return &v->results[i];
    return NULL;
}

/* Any failure; else anything inconclusive; else any warning. */
static void outcome(struct tg_eval_state *e)
{
    struct tg_verdict *v = e->out;
    const struct tg_result *open = first_in(v, TG_STATE_INCONCLUSIVE);
    const size_t *n = v->n_state;
    if (n[TG_STATE_FAIL]) {
        v->outcome = TG_OUTCOME_FAIL;
    } else if (open) {
        v->outcome = TG_OUTCOME_INCONCLUSIVE;
        v->error = open->message;
        v->error_hint = open->next;
    } else if (n[TG_STATE_WARN] || n[TG_STATE_SUSPICIOUS]) {
        v->outcome = TG_OUTCOME_WARN;
    } else {
        v->outcome = TG_OUTCOME_PASS;
    }
    v->exit_code = tg_outcome_exit_code(v->outcome);
}

bool tg_eval(struct tg_verdict *out, const struct tg_eval_input *in, struct tg_arena *a,
             struct tg_err *err)
{
    struct tg_eval_state e = { .in = in, .out = out, .arena = a, .err = err };
    bool ok = true, comparable;
    *out = (struct tg_verdict){ .comparison = in->comparison,
                                .suite = in->suite ? in->suite->name : TG_SV("default"),
                                .policy = in->policy->built_in ? TG_SV("built-in policy")
                                                               : in->policy->file,
                                .version = TG_SV(TG_JUDGED_BY) };
    tg_notes(&e);
    comparable = tg_guards(&e);
    tg_guard_integrity(&e);
    for (size_t i = 0; ok && comparable && i < in->policy->n_rules; i++)
        ok = tg_rule_judge(&e, &in->policy->rules[i]);
    if (ok) {
        close_coverage(&e);
        tg_waive(&e);
        promote(&e);
        if (e.n)
            qsort(e.results, e.n, sizeof *e.results, by_weight);
        tg_fold(&e);
        out->results = TG_NEW_N(a, struct tg_result, e.n);
        if (e.n)
            memcpy(out->results, e.results, e.n * sizeof *e.results);
        out->n_results = e.n;
        for (size_t i = 0; i < e.n; i++) {
            out->n_state[e.results[i].state]++;
            out->n_folded[e.results[i].state] += e.results[i].folded_under != TG_NO_ID;
        }
        outcome(&e);
        tg_describe_verdict(out, in->comparison, a);
        tg_verdict_settle(out, in->policy->fail_on, a);
    }
    free(e.results);
    return ok;
}
