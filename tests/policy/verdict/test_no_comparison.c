/* no_comparison.c: what is judged without a baseline. Each row is a pair of sides and a policy;
 * what the verdict says of it is tests/golden/verdict_no_comparison.txt, derived from
 * docs/policy.md when it was written and read through at every change. */
#include "by_hand.h"
#include "model.h"

#define LAUNCHES(limit) "rules: [{id: b, metric: launch_count, " limit "}]\n"
#define ALONE(what_, how, policy_, test_)                                                          \
    {                                                                                              \
        .what = what_, .alone = how, .policy = policy_, .test = test_                              \
    }

static const struct model_row model_rows[] = {
    ALONE("alone: nothing asked", MODEL_FIRST_RUN, ABS, SIDE(.more = OP)),
    ALONE("alone: steps", MODEL_FIRST_RUN, ABS "require: {steps: 9}", SIDE(.more = OP)),
    ALONE("alone: steps, fail_on", MODEL_FIRST_RUN,
          ABS "require: {steps: 9}\nfail_on: [fail, inconclusive]", SIDE(.more = OP)),
    ALONE("alone: a budget", MODEL_FIRST_RUN, LAUNCHES("fail: {max: 3}"), USUAL),
    ALONE("alone: a budget warns", MODEL_FIRST_RUN, LAUNCHES("warn: {max: 3}"), USUAL),
    ALONE("alone: a budget warns, fail_on", MODEL_FIRST_RUN,
          LAUNCHES("warn: {max: 3}") "fail_on: [fail, warn]", USUAL),
    ALONE("alone: a budget kept", MODEL_FIRST_RUN, LAUNCHES("fail: {max: 99}"), USUAL),
    ALONE("alone: two budgets", MODEL_FIRST_RUN,
          "rules: [{id: b, match: {kind: op}, metric: count, fail: {max: 0}}]", USUAL),
    ALONE("alone: a budget nobody carries", MODEL_FIRST_RUN,
          "rules: [{id: b, metric: mem_peak, fail: {max: 1GiB}}]", USUAL),
    ALONE("alone: a budget nobody carries, optional", MODEL_FIRST_RUN,
          "rules: [{id: b, metric: mem_peak, fail: {max: 1GiB}, optional: true}]", USUAL),
    ALONE("alone: a budget without a match", MODEL_FIRST_RUN,
          "rules: [{id: b, match: {name: none}, metric: count, fail: {max: 1}}]", USUAL),
    ALONE("alone: a change without a match", MODEL_FIRST_RUN,
          "rules: [{id: b, match: {name: none}, metric: count, fail: {abs: 1}}]", USUAL),
    ALONE("alone: a waived budget", MODEL_FIRST_RUN,
          LAUNCHES("fail: {max: 3}") "waivers: [{rule: b, ceiling: "
                                     "{max: 99}, reason: r, expires: 2026-03-01}]",
          USUAL),
    ALONE("alone: a budget and a guard", MODEL_FIRST_RUN,
          LAUNCHES("fail: {max: 3}") "require: {steps: 9}", USUAL),
    ALONE("alone: a time budget", MODEL_FIRST_RUN, TIME("fail: {max: 10us}"), USUAL),
    ALONE("alone: a minimum", MODEL_FIRST_RUN,
          "rules: [{id: b, metric: sync_count, fail: {min: 9}}]", USUAL),
    ALONE("first run fails: kept", MODEL_FIRST_RUN_FAILS, LAUNCHES("fail: {max: 99}"), USUAL),
    ALONE("first run fails: broken", MODEL_FIRST_RUN_FAILS, LAUNCHES("fail: {max: 3}"), USUAL),
    ALONE("first run fails: a guard", MODEL_FIRST_RUN_FAILS, ABS "require: {steps: 9}", USUAL),
    ALONE("first run fails: warns", MODEL_FIRST_RUN_FAILS, LAUNCHES("warn: {max: 3}"), USUAL),
    ALONE("lost: kept", MODEL_LOST, LAUNCHES("fail: {max: 99}"), USUAL),
    ALONE("lost: broken", MODEL_LOST, LAUNCHES("fail: {max: 3}"), USUAL),
    ALONE("lost: a guard", MODEL_LOST, ABS "require: {steps: 9}", USUAL),
    ALONE("lost, fail_on", MODEL_LOST, ABS "fail_on: [fail, inconclusive]", USUAL),
    ALONE("lost, fail_on: a warning beside it", MODEL_LOST,
          LAUNCHES("warn: {max: 3}") "fail_on: [inconclusive]", USUAL),
    ALONE("lost passes, fail_on", MODEL_LOST_PASSES, ABS "fail_on: [fail, inconclusive]", USUAL),
    ALONE("error, fail_on", MODEL_ERROR, ABS "fail_on: [fail, inconclusive]", USUAL),
    ALONE("first run: ranks expected of the fresh side", MODEL_FIRST_RUN,
          ABS "suites: [{name: s, trace: x, ranks: {expect: 3}}]", SIDE(.ranks = 2)),
    ALONE("lost: warns", MODEL_LOST, LAUNCHES("warn: {max: 3}"), USUAL),
    ALONE("lost passes: kept", MODEL_LOST_PASSES, LAUNCHES("fail: {max: 99}"), USUAL),
    ALONE("lost passes: broken", MODEL_LOST_PASSES, LAUNCHES("fail: {max: 3}"), USUAL),
    ALONE("lost passes: a guard", MODEL_LOST_PASSES, ABS "require: {steps: 9}", USUAL),
    ALONE("lost passes: warns", MODEL_LOST_PASSES, LAUNCHES("warn: {max: 3}"), USUAL),
    ALONE("lost fails: kept", MODEL_LOST_FAILS, LAUNCHES("fail: {max: 99}"), USUAL),
    ALONE("lost fails: broken", MODEL_LOST_FAILS, LAUNCHES("fail: {max: 3}"), USUAL),
    ALONE("lost fails: a guard", MODEL_LOST_FAILS, ABS "require: {steps: 9}", USUAL),
    ALONE("lost fails: warns", MODEL_LOST_FAILS, LAUNCHES("warn: {max: 3}"), USUAL),
    ALONE("error: kept", MODEL_ERROR, LAUNCHES("fail: {max: 99}"), USUAL),
    ALONE("error: broken", MODEL_ERROR, LAUNCHES("fail: {max: 3}"), USUAL),
    ALONE("error: a guard", MODEL_ERROR, ABS "require: {steps: 9}", USUAL),
    ALONE("error: warns", MODEL_ERROR, LAUNCHES("warn: {max: 3}"), USUAL),
    ALONE("no baseline: kept", MODEL_NO_BASELINE, LAUNCHES("fail: {max: 99}"), USUAL),
    ALONE("no baseline: broken", MODEL_NO_BASELINE, LAUNCHES("fail: {max: 3}"), USUAL),
    ALONE("no baseline: a guard", MODEL_NO_BASELINE, ABS "require: {steps: 9}", USUAL),
    ALONE("no baseline: warns", MODEL_NO_BASELINE, LAUNCHES("warn: {max: 3}"), USUAL),
    ALONE("alone: budgets warn and a guard", MODEL_FIRST_RUN,
          LAUNCHES("warn: {max: 3}") "require: {steps: 9}", USUAL),
    ALONE("alone: a budget with a change that is not judged", MODEL_FIRST_RUN,
          "rules: [{id: b, match: {kind: kernel}, metric: self, fail: [{max: 1s}, {pct: 10%}]}]",
          USUAL),
    ALONE("alone: a budget of what is new", MODEL_FIRST_RUN,
          "rules: [{id: b, match: {kind: op}, metric: added, fail: {max: 1us}}]", USUAL),
    ALONE("alone: a budget of what is gone", MODEL_FIRST_RUN,
          "rules: [{id: b, match: {kind: op}, metric: removed, fail: {max: 1us}}]", USUAL),
    ALONE("alone: no rules", MODEL_FIRST_RUN, "", USUAL),
    ALONE("alone: a budget and a change", MODEL_FIRST_RUN,
          "rules: [{id: b, match: {kind: op}, metric: count, fail: {max: 9}}, {id: c, match: "
          "{kind: op}, metric: count, fail: {abs: 9}}]",
          USUAL),
    ALONE("alone: an exceeded budget beside a change that is suspicious", MODEL_FIRST_RUN,
          "rules: [{id: b, match: {kind: kernel}, metric: self, fail: [{max: 1us}, {pct: 10%}]}]",
          USUAL),
    ALONE("alone: a budget that is off for all", MODEL_FIRST_RUN,
          "rules: [{id: b, match: {kind: op}, metric: count, fail: {max: 0}, overrides: [{match: "
          "{name: '*'}, fail: off}]}]",
          USUAL),
};

TEST(verdicts_are_as_written)
{
    model_check("verdict_no_comparison.txt", model_rows, sizeof model_rows / sizeof *model_rows);
}

/* ---- by hand ---- */

/* Is every rule of the policy about the fresh side alone? */
WITH_HAND(rules_that_ask_the_fresh_side_alone)
{
    static const struct {
        enum tg_rule_metric m;
        enum tg_bound_kind bound;
        bool alone;
    } rows[] = {
        { TG_RULE_METRIC_COUNT, TG_BOUND_MAX, true },
        { TG_RULE_METRIC_COUNT, TG_BOUND_ABS, false },
        { TG_RULE_METRIC_ADDED, TG_BOUND_MAX, false }, /* new: compared with the other side */
        { TG_RULE_METRIC_REMOVED, TG_BOUND_MAX, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tg_rule two[2] = { h->rule, h->rule };
        two[0].fail = hand_limit(h, TG_BOUND_MAX, 9);
        two[1].metric = rows[i].m;
        two[1].fail = hand_limit(h, rows[i].bound, 9);
        h->policy.rules = two;
        h->policy.n_rules = 2;
        if (tg_policy_asks_fresh_alone(&h->policy) != rows[i].alone)
            fail_msg("row %zu", i);
    }
    h->policy.n_rules = 0; /* asks nothing at all */
    assert_false(tg_policy_asks_fresh_alone(&h->policy));
}

/* Is every rule about whole traces of all ranks, and does nothing else ask for names? */
WITH_HAND(policies_that_ask_metrics_alone)
{
    static const struct {
        enum tg_rule_metric m;
        bool match, names, alone;
        unsigned overrides, kernels;
    } rows[] = {
        { TG_RULE_METRIC_OF_TRACE, .alone = true }, { TG_RULE_METRIC_SKEW, .alone = true },
        { TG_RULE_METRIC_COUNT, .alone = false },   { TG_RULE_METRIC_OF_TRACE, .match = true },
        { TG_RULE_METRIC_OF_TRACE, .names = true }, { TG_RULE_METRIC_OF_TRACE, .overrides = 1 },
        { TG_RULE_METRIC_OF_TRACE, .kernels = 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tg_rule two[2] = { h->rule, h->rule };
        two[0].metric = TG_RULE_METRIC_RANK_SPREAD;
        two[1].metric = rows[i].m;
        two[1].match.present = rows[i].match;
        two[1].n_overrides = rows[i].overrides;
        h->policy.require.kernels = rows[i].kernels;
        h->policy.require.ops.n = rows[i].names;
        h->policy.rules = two;
        h->policy.n_rules = 2;
        if (tg_policy_asks_metrics_alone(&h->policy) != rows[i].alone)
            fail_msg("row %zu", i);
    }
    h->policy.require.kernels = 0;
    h->policy.n_rules = 0; /* asks nothing at all */
    assert_false(tg_policy_asks_metrics_alone(&h->policy));
}

/* The fresh side against itself has this row: what is
 * left of it in a verdict without a baseline? */
static struct tg_result *left(struct hand *h, struct tg_result row)
{
    struct tg_verdict self = { .results = TG_NEW(h->a, struct tg_result), .n_results = 1 };
    self.results[0] = row;
    tg_verdict_alone(&h->v, h->a);
    tg_verdict_add_alone(&h->v, &self, h->a);
    return h->v.n_results ? h->v.results : NULL;
}

static struct tg_result budget(enum tg_state s)
{
    struct tg_result r = hand_row("aten::mm", 2);
    r.state = s;
    r.budget = r.over_budget = true;
    r.limit = TG_SV("max: 1");
    return r;
}

/* A budget that is exceeded, or could not be judged; not a change beside a budget,
 * and nothing that is in order. */
WITH_HAND(rows_that_need_no_baseline)
{
    static const struct {
        enum tg_state s;
        bool budget, over, left;
    } rows[] = {
        { TG_STATE_FAIL, true, true, true },
        { TG_STATE_FAIL, true, false, false },
        { TG_STATE_FAIL, false, true, false },
        { TG_STATE_WARN, true, true, true },
        { TG_STATE_WARN, true, false, false },
        { TG_STATE_WAIVED, true, true, true },
        { TG_STATE_PASS, true, true, false },
        { TG_STATE_SKIP, true, true, false },
        { TG_STATE_SUSPICIOUS, true, true, false },
        { TG_STATE_INCONCLUSIVE, true, false, true },
        { TG_STATE_INCONCLUSIVE, false, false, false },
        { TG_STATE_NOT_JUDGED, true, false, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tg_result r = budget(rows[i].s);
        r.budget = rows[i].budget;
        r.over_budget = rows[i].over;
        if ((left(h, r) != NULL) != rows[i].left)
            fail_msg("row %zu", i);
        r.budget = r.over_budget = false;
        r.subject = TG_SUBJECT_REQUIRE; /* whatever it says, it is about the fresh side */
        assert_non_null(left(h, r));
    }
}

/* There is no former value: the row keeps its words, which tell none (judge_rows.c),
 * and has no values. */
WITH_HAND(a_budget_is_told_without_a_change)
{
    struct tg_result r = budget(TG_STATE_FAIL);
    assert_false(left(h, r)->has_values);
    assert_int_equal(h->v.outcome, TG_OUTCOME_FAIL);
    hand_text(
        h->v.headline,
        "FAIL: 1 violation: aten::mm is called more often; no baseline, only budgets were judged");
    r.state = TG_STATE_INCONCLUSIVE; /* no number that exceeds a limit */
    r.over_budget = false;
    hand_text(left(h, r)->message, "is called more often");
    assert_true(left(h, r)->has_values);
}

/* A row in front of the others: those that are under another one stay under it. */
WITH_HAND(a_note_that_fails_is_a_row)
{
    struct tg_result *v = TG_NEW_N(h->a, struct tg_result, 2);
    v[0] = hand_row("a", 2);
    v[1] = hand_row("b", 2);
    v[0].state = v[1].state = TG_STATE_WARN;
    v[1].folded_under = 0;
    h->v = (struct tg_verdict){ .outcome = TG_OUTCOME_WARN, .results = v, .n_results = 2 };
    tg_verdict_add_note(&h->v, h->a, TG_REASON_RANKS, TG_SV("a rank is missing"), TG_SV(""));
    tg_verdict_settle(&h->v, TG_FAIL_ON_WARN, h->a);
    assert_int_equal(h->v.exit_code, 1);
    assert_int_equal(h->v.n_results, 3);
    hand_text(h->v.results[0].message, "a rank is missing");
    assert_true(h->v.results[1].folded_under == TG_NO_ID);
    assert_int_equal(h->v.results[2].folded_under, 1);
}
