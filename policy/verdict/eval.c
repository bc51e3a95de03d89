#include "policy/verdict/eval.h"

#include <math.h>
#include <stdlib.h>

#include "policy/verdict/describe.h"
#include "policy/verdict/internal.h"

static bool is_of_trace(const struct tg_result *r)
{
    return r->dimension == TG_DIM_DURATION && tg_sv_eq(r->kind, TG_SV("trace"));
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
    /* What tells where stands before what tells that: an operator before the time of the step. */
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

static void outcome(struct tg_eval_state *e)
{
    struct tg_verdict *v = e->out;
    unsigned fail_on = e->in->policy->fail_on | TG_FAIL_ON_FAIL;
    size_t *n = v->n_state;
    bool lifted = false;
    for (size_t i = 0; i < v->n_notes; i++)
        lifted |= v->notes[i].lifts;
    if (n[TG_STATE_FAIL] || (fail_on & TG_FAIL_ON_WARN && n[TG_STATE_WARN]) ||
        (fail_on & TG_FAIL_ON_SUSPICIOUS && n[TG_STATE_SUSPICIOUS]) ||
        (fail_on & TG_FAIL_ON_INCONCLUSIVE && (n[TG_STATE_INCONCLUSIVE] || !e->judged))) {
        v->outcome = TG_OUTCOME_FAIL;
    } else if (e->inconclusive || !e->judged) {
        v->outcome = TG_OUTCOME_INCONCLUSIVE;
        if (!e->inconclusive) {
            v->error = TG_SV("nothing could be judged");
            v->error_hint =
                e->in->policy->n_rules
                    ? TG_SV("See the coverage line and the rules that were skipped.")
                    : TG_SV("The policy has no rules: write some, or start from the built-in ones "
                            "with `extends: [tracegate:recommended]`.");
        }
    } else if (n[TG_STATE_WARN] || n[TG_STATE_SUSPICIOUS] || n[TG_STATE_INCONCLUSIVE] || lifted) {
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
    bool ok = true;
    *out = (struct tg_verdict){ .comparison = in->comparison,
                                .suite = in->suite ? in->suite->name : TG_SV("default"),
                                .policy = in->policy->built_in ? TG_SV("built-in policy")
                                                               : in->policy->file,
                                .version = TG_SV(TG_VERSION) };
    tg_notes(&e);
    tg_guards(&e);
    tg_integrity(&e);
    for (size_t i = 0; ok && i < in->policy->n_rules; i++)
        ok = tg_rule_judge(&e, &in->policy->rules[i]);
    if (ok) {
        tg_waive(&e);
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
    }
    free(e.results);
    return ok;
}

void tg_verdict_of_error(struct tg_verdict *out, const struct tg_err *why, struct tg_arena *a)
{
    *out = (struct tg_verdict){ .outcome = why->kind == TG_ERR_LOST ? TG_OUTCOME_INCONCLUSIVE
                                                                    : TG_OUTCOME_ERROR,
                                .suite = TG_SV("default"),
                                .version = TG_SV(TG_VERSION) };
    out->exit_code = tg_err_exit_code(why->kind);
    out->error = tg_sv_of(tg_arena_printf(a, "%s%s%s", why->file[0] ? why->file : "",
                                          why->file[0] ? ": " : "", why->message));
    out->error_hint = tg_arena_sv(a, tg_sv_of(why->hint));
    out->headline = tg_sv_of(
        tg_arena_printf(a, "%s: %.*s", out->outcome == TG_OUTCOME_ERROR ? "ERROR" : "INCONCLUSIVE",
                        TG_SV_ARG(out->error)));
    out->coverage = TG_SV("nothing judged");
}

void tg_verdict_first_run(struct tg_verdict *out, enum tg_outcome outcome_, struct tg_arena *a)
{
    *out = (struct tg_verdict){ .outcome = outcome_,
                                .exit_code = tg_outcome_exit_code(outcome_),
                                .suite = TG_SV("default"),
                                .version = TG_SV(TG_VERSION) };
    out->headline = TG_SV("FIRST RUN: no baseline existed yet; nothing was compared");
    out->coverage = TG_SV("nothing judged: first run");
    if (outcome_ != TG_OUTCOME_PASS)
        out->error = TG_SV("no baseline existed yet");
    tg_verdict_add_note(
        out, a, TG_NOTE_WARNING,
        TG_SV("neither a policy nor a baseline of this suite existed at the baseline commit"),
        TG_SV("Commit a baseline, or record one on the main branch; the next run compares."));
}
