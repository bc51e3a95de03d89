/* no_comparison.c: what is judged without a baseline. Each row is a pair of sides and a policy; what the verdict says of it is
 * tests/golden/verdict_no_comparison.txt, derived from docs/policy.md when it was written and read through at every change. */
#include "by_hand.h"
#include "model.h"
#include "tests/support.h"

static const struct model_row model_rows[] = {
    { .what = "alone: nothing asked",
      .policy = ABS,
      .test = { .more = OP },
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: steps",
      .policy = ABS "require: {steps: 9}",
      .test = { .more = OP },
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: steps, fail_on",
      .policy = ABS "require: {steps: 9}\nfail_on: [fail, inconclusive]",
      .test = { .more = OP },
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a budget",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 3}}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a budget warns",
      .policy = "rules: [{id: b, metric: launch_count, warn: {max: 3}}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a budget warns, fail_on",
      .policy = "rules: [{id: b, metric: launch_count, warn: {max: 3}}]\nfail_on: [fail, warn]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a budget kept",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 99}}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: two budgets",
      .policy = "rules: [{id: b, match: {kind: op}, metric: count, fail: {max: 0}}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a budget nobody carries",
      .policy = "rules: [{id: b, metric: mem_peak, fail: {max: 1GiB}}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a budget nobody carries, optional",
      .policy = "rules: [{id: b, metric: mem_peak, fail: {max: 1GiB}, optional: true}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a budget without a match",
      .policy = "rules: [{id: b, match: {name: none}, metric: count, fail: {max: 1}}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a change without a match",
      .policy = "rules: [{id: b, match: {name: none}, metric: count, fail: {abs: 1}}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a waived budget",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 3}}]\nwaivers: [{rule: b, "
                "ceiling: {max: 99}, reason: r, expires: 2026-03-01}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a budget and a guard",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 3}}]\nrequire: {steps: 9}",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a time budget",
      .policy = TIME("fail: {max: 10us}"),
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a minimum",
      .policy = "rules: [{id: b, metric: sync_count, fail: {min: 9}}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "first run fails: kept",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 99}}]",
      .alone = MODEL_FIRST_RUN_FAILS },
    { .what = "first run fails: broken",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 3}}]",
      .alone = MODEL_FIRST_RUN_FAILS },
    { .what = "first run fails: a guard",
      .policy = ABS "require: {steps: 9}",
      .alone = MODEL_FIRST_RUN_FAILS },
    { .what = "first run fails: warns",
      .policy = "rules: [{id: b, metric: launch_count, warn: {max: 3}}]",
      .alone = MODEL_FIRST_RUN_FAILS },
    { .what = "lost: kept",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 99}}]",
      .alone = MODEL_LOST },
    { .what = "lost: broken",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 3}}]",
      .alone = MODEL_LOST },
    { .what = "lost: a guard", .policy = ABS "require: {steps: 9}", .alone = MODEL_LOST },
    { .what = "lost, fail_on", .policy = ABS "fail_on: [fail, inconclusive]", .alone = MODEL_LOST },
    { .what = "lost, fail_on: a warning beside it",
      .policy = "rules: [{id: b, metric: launch_count, warn: {max: 3}}]\nfail_on: [inconclusive]",
      .alone = MODEL_LOST },
    { .what = "lost passes, fail_on",
      .policy = ABS "fail_on: [fail, inconclusive]",
      .alone = MODEL_LOST_PASSES },
    { .what = "error, fail_on",
      .policy = ABS "fail_on: [fail, inconclusive]",
      .alone = MODEL_ERROR },
    { .what = "first run: ranks expected of the fresh side",
      .policy = ABS "suites: [{name: s, trace: x, ranks: {expect: 3}}]",
      .test = { .ranks = 2 },
      .alone = MODEL_FIRST_RUN },
    { .what = "lost: warns",
      .policy = "rules: [{id: b, metric: launch_count, warn: {max: 3}}]",
      .alone = MODEL_LOST },
    { .what = "lost passes: kept",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 99}}]",
      .alone = MODEL_LOST_PASSES },
    { .what = "lost passes: broken",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 3}}]",
      .alone = MODEL_LOST_PASSES },
    { .what = "lost passes: a guard",
      .policy = ABS "require: {steps: 9}",
      .alone = MODEL_LOST_PASSES },
    { .what = "lost passes: warns",
      .policy = "rules: [{id: b, metric: launch_count, warn: {max: 3}}]",
      .alone = MODEL_LOST_PASSES },
    { .what = "lost fails: kept",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 99}}]",
      .alone = MODEL_LOST_FAILS },
    { .what = "lost fails: broken",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 3}}]",
      .alone = MODEL_LOST_FAILS },
    { .what = "lost fails: a guard",
      .policy = ABS "require: {steps: 9}",
      .alone = MODEL_LOST_FAILS },
    { .what = "lost fails: warns",
      .policy = "rules: [{id: b, metric: launch_count, warn: {max: 3}}]",
      .alone = MODEL_LOST_FAILS },
    { .what = "error: kept",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 99}}]",
      .alone = MODEL_ERROR },
    { .what = "error: broken",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 3}}]",
      .alone = MODEL_ERROR },
    { .what = "error: a guard", .policy = ABS "require: {steps: 9}", .alone = MODEL_ERROR },
    { .what = "error: warns",
      .policy = "rules: [{id: b, metric: launch_count, warn: {max: 3}}]",
      .alone = MODEL_ERROR },
    { .what = "no baseline: kept",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 99}}]",
      .alone = MODEL_NO_BASELINE },
    { .what = "no baseline: broken",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 3}}]",
      .alone = MODEL_NO_BASELINE },
    { .what = "no baseline: a guard",
      .policy = ABS "require: {steps: 9}",
      .alone = MODEL_NO_BASELINE },
    { .what = "no baseline: warns",
      .policy = "rules: [{id: b, metric: launch_count, warn: {max: 3}}]",
      .alone = MODEL_NO_BASELINE },
    { .what = "alone: budgets warn and a guard",
      .policy = "rules: [{id: b, metric: launch_count, warn: {max: 3}}]\nrequire: {steps: 9}",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a budget with a change that is not judged",
      .policy =
          "rules: [{id: b, match: {kind: kernel}, metric: self, fail: [{max: 1s}, {pct: 10%}]}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a budget of what is new",
      .policy = "rules: [{id: b, match: {kind: op}, metric: added, fail: {max: 1us}}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a budget of what is gone",
      .policy = "rules: [{id: b, match: {kind: op}, metric: removed, fail: {max: 1us}}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: no rules", .policy = "", .alone = MODEL_FIRST_RUN },
    { .what = "alone: a budget and a change",
      .policy = "rules: [{id: b, match: {kind: op}, metric: count, fail: {max: 9}}, {id: c, match: "
                "{kind: op}, metric: count, fail: {abs: 9}}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: an exceeded budget beside a change that is suspicious",
      .policy =
          "rules: [{id: b, match: {kind: kernel}, metric: self, fail: [{max: 1us}, {pct: 10%}]}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a budget that is off for all",
      .policy = "rules: [{id: b, match: {kind: op}, metric: count, fail: {max: 0}, overrides: "
                "[{match: {name: '*'}, fail: off}]}]",
      .alone = MODEL_FIRST_RUN },
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

/* The fresh side against itself has this row: what is left of it in a verdict without a baseline? */
static struct tg_result *left(struct hand *h, struct tg_result row)
{
    struct tg_verdict self = { .results = TG_NEW(h->a, struct tg_result), .n_results = 1 };

    self.results[0] = row;
    tg_verdict_alone(&h->v);
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

/* A budget that is exceeded, or could not be judged; not a change beside a budget, and nothing that is in order. */
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

/* There is no former value to tell: the value, and the limit. What has none keeps its words. */
WITH_HAND(a_budget_is_told_without_a_change)
{
    struct tg_result r = budget(TG_STATE_FAIL);

    hand_text(left(h, r)->message, "3, limit max: 1");
    assert_false(left(h, r)->has_values);
    assert_int_equal(h->v.outcome, TG_OUTCOME_FAIL);
    hand_text(h->v.headline,
              "FAIL: 1 violation: aten::mm 3, limit max: 1; no baseline, only budgets were judged");
    r.state = TG_STATE_INCONCLUSIVE; /* no number that exceeds a limit */
    r.over_budget = false;
    hand_text(left(h, r)->message, "is called more often");
    assert_true(left(h, r)->has_values);
    r = budget(TG_STATE_FAIL);
    r.has_values = false; /* said so already */
    hand_text(left(h, r)->message, "is called more often");
}

WITH_HAND(what_is_open_leaves_a_verdict_open)
{
    struct tg_verdict self = { .results = TG_NEW_N(h->a, struct tg_result, 2), .n_results = 2 };

    self.results[0] = budget(TG_STATE_WARN);
    self.results[1] = budget(TG_STATE_INCONCLUSIVE);
    self.results[1].over_budget = false;
    self.results[1].message = TG_SV("no such name");
    tg_verdict_alone(&h->v);
    tg_verdict_add_alone(&h->v, &self, h->a);
    assert_int_equal(h->v.outcome, TG_OUTCOME_INCONCLUSIVE);
    assert_int_equal(h->v.exit_code, 4);
    hand_text(h->v.headline, "INCONCLUSIVE: no such name");
    self.n_results = 1;
    tg_verdict_alone(&h->v);
    tg_verdict_add_alone(&h->v, &self, h->a);
    assert_int_equal(h->v.outcome, TG_OUTCOME_WARN);
    assert_int_equal(h->v.exit_code, 0);
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
    tg_verdict_add_note(&h->v, h->a, TG_NOTE_LIFTS, TG_SV("a rank is missing"), TG_SV(""));
    tg_verdict_settle(&h->v, TG_FAIL_ON_WARN, h->a);
    assert_int_equal(h->v.exit_code, 1);
    assert_int_equal(h->v.n_results, 3);
    hand_text(h->v.results[0].message, "a rank is missing");
    assert_true(h->v.results[1].folded_under == TG_NO_ID);
    assert_int_equal(h->v.results[2].folded_under, 1);
}
