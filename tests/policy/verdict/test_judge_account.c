/* What the account makes of growth (judge_account.c): a step of 1000 us grew to 1500 us at 5v5
 * unless a row says otherwise. The rule of the policy fails by the step's time. */
#include "by_hand.h"

#include "core/diff/confirm.h"

static struct tg_account_series *grown(struct hand *h, enum tg_account_id id)
{
    struct tg_account_series *s = &h->c.account[id];
    *s = (struct tg_account_series){ .known = true,
                                     .growth = TG_GROWTH_PROVEN,
                                     .value = { 1000000, 1500000 },
                                     .lo = { 990000, 1490000 },
                                     .hi = { 1010000, 1510000 },
                                     .limit = TG_GROWN };
    h->c.marked[TG_BASE] = h->c.marked[TG_TEST] = true;
    h->policy.require.account = true;
    h->rule.metric = TG_RULE_METRIC_STEP_TIME;
    h->rule.fail = hand_auto(h);
    h->policy.rules = &h->rule;
    h->policy.n_rules = 1;
    h->e.comparable = true;
    h->e.n = 0;
    return s;
}

/* The state of the account's row of `name`; PASS: it has none. */
static enum tg_state judged(struct hand *h, const char *name)
{
    tg_eval_account(&h->e);
    for (size_t i = 0; i < h->e.n; i++)
        if (tg_sv_eq(h->e.results[i].rule, TG_SV("account")) &&
            tg_sv_eq(h->e.results[i].op, tg_sv_of(name)))
            return h->e.results[i].state;
    return TG_STATE_PASS;
}

static bool says(const struct hand *h, const char *text)
{
    TG_BUF plain = { 0 };
    tg_message_put_plain(&plain, h->e.results[h->e.n - 1].message);
    return tg_sv_has(tg_buf_sv(&plain), tg_sv_of(text));
}

/* More calls in a step that provably takes less time warn; not if the host takes longer,
 * nor calls outside the steps. */
WITH_HAND(calls_are_repaid_by_a_faster_step)
{
    struct tg_evidence *step = &h->c.metrics[TG_METRIC_STEP_TIME].ev;
    struct tg_account_series *s = grown(h, TG_ACCOUNT_CALLS);
    h->rule.metric = TG_RULE_METRIC_COUNT;
    h->rule.fail = hand_limit(h, TG_BOUND_ABS, 0);
    step->why_not = TG_JUDGED;
    assert_int_equal(judged(h, "calls"), TG_STATE_FAIL);
    h->e.n = 0;
    step->less = true;
    assert_int_equal(judged(h, "calls"), TG_STATE_WARN);
    assert_true(says(h, "the step takes less time in all"));
    assert_false(says(h, "need not be the program"));
    h->e.n = 0;
    h->c.metrics[TG_METRIC_HOST_TIME].ev.slower = true;
    assert_int_equal(judged(h, "calls"), TG_STATE_FAIL);
    h->e.n = 0;
    h->c.metrics[TG_METRIC_HOST_TIME].ev.slower = false;
    s->outside = true;
    assert_int_equal(judged(h, "calls"), TG_STATE_WARN);
    assert_false(says(h, "less time"));
}

WITH_HAND(growth_that_nothing_explains_fails)
{
    struct tg_op *ops = TG_NEW_N(h->a, struct tg_op, 2);
    ops[0] = hand_op("aten::mm", TG_KIND_OP);
    ops[1] = hand_op("loader", TG_KIND_ANNOTATION);
    ops[1].self[TG_TEST] = 480000;
    ops[0].self[TG_TEST] = 20000; /* under a twentieth of the largest: not worth a word */
    hand_ops(h, ops, 2);
    (void)grown(h, TG_ACCOUNT_WALL);
    assert_int_equal(judged(h, "step_time"), TG_STATE_FAIL);
    hand_near(h->e.results[0].base, 1000000);
    hand_near(h->e.results[0].delta_pct, 50);
    assert_true(
        says(h, "1.50 ms per step, was 1.00 ms (+50 %, +500 us); grew most: loader +480 us"));
    assert_false(says(h, "aten::mm"));
    grown(h, TG_ACCOUNT_WALL)->growth = TG_GROWTH_NONE;
    assert_int_equal(judged(h, "step_time"), TG_STATE_PASS);
}

/* `delta` of 500 us failed: half of it is the finding. Warned:
 * without it the step must not have grown. */
WITH_HAND(rows_that_explain_it)
{
    static const struct {
        enum tg_state state;
        double us;
        enum tg_state want;
    } cases[] = {
        { TG_STATE_FAIL, 250, TG_STATE_PASS },       { TG_STATE_FAIL, 249, TG_STATE_FAIL },
        { TG_STATE_WARN, 430, TG_STATE_WARN },       { TG_STATE_WARN, 410, TG_STATE_FAIL },
        { TG_STATE_SUSPICIOUS, 500, TG_STATE_FAIL }, { TG_STATE_PASS, 500, TG_STATE_FAIL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tg_op *op = TG_NEW(h->a, struct tg_op);
        struct tg_result r = hand_row("a", 1);
        *op = hand_op("a", TG_KIND_OP);
        op->self[TG_TEST] = cases[i].us * 1000;
        hand_ops(h, op, 1);
        (void)grown(h, TG_ACCOUNT_WALL);
        r.state = cases[i].state;
        r.subject = TG_SUBJECT_NAME;
        (void)hand_results(h, &r, 1);
        if (judged(h, "step_time") != cases[i].want)
            fail_msg("row %zu", i);
    }
}

/* Calls that an exception lets pass are told of as well as those that warn: what costs less is
 * never worse. Not a row that passes for want of anything to judge. */
WITH_HAND(calls_that_are_excepted_explain_more_calls)
{
    static const struct {
        enum tg_reason because;
        enum tg_state want;
    } cases[] = { { TG_REASON_SMALL, TG_STATE_WARN },
                  { TG_REASON_NONE, TG_STATE_FAIL },
                  { TG_NEED_SAME_CALLS, TG_STATE_FAIL } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tg_op *op = TG_NEW(h->a, struct tg_op);
        struct tg_result r = hand_row("a", 1);
        *op = hand_op("a", TG_KIND_OP);
        op->count[TG_TEST] = 500000;
        hand_ops(h, op, 1);
        (void)grown(h, TG_ACCOUNT_CALLS);
        h->rule.metric = TG_RULE_METRIC_COUNT;
        h->rule.fail = hand_limit(h, TG_BOUND_ABS, 0);
        r.state = TG_STATE_PASS;
        r.because = cases[i].because;
        r.subject = TG_SUBJECT_NAME;
        (void)hand_results(h, &r, 1);
        if (judged(h, "calls") != cases[i].want)
            fail_msg("row %zu", i);
    }
}

/* What may be the machine, the data, a cold start or a polluted run warns;
 * what cannot be judged is open. */
WITH_HAND(reasons_and_needs)
{
    struct tg_account_series *s = grown(h, TG_ACCOUNT_WALL);
    s->spread = true;
    assert_int_equal(judged(h, "step_time"), TG_STATE_WARN);
    (s = grown(h, TG_ACCOUNT_WALL))->one_step = true;
    assert_int_equal(judged(h, "step_time"), TG_STATE_WARN);
    grown(h, TG_ACCOUNT_WALL)->growth = TG_GROWTH_FORGIVEN;
    assert_int_equal(judged(h, "step_time"), TG_STATE_WARN);
    grown(h, TG_ACCOUNT_WALL)->growth = TG_GROWTH_IN_MOST_RUNS;
    assert_int_equal(judged(h, "step_time"), TG_STATE_WARN);
    (void)grown(h, TG_ACCOUNT_WALL);
    h->c.drift = log(1.4); /* 1500 / 1.4 is 1071: under 8 % */
    assert_int_equal(judged(h, "step_time"), TG_STATE_WARN);
    (void)grown(h, TG_ACCOUNT_WALL);
    h->c.drift = log(1.3); /* 1154 */
    assert_int_equal(judged(h, "step_time"), TG_STATE_FAIL);
    h->c.drift = 0;
    grown(h, TG_ACCOUNT_WALL)->few = true;
    assert_int_equal(judged(h, "step_time"), TG_STATE_INCONCLUSIVE);
    assert_true(says(h, "step time 1.50 ms per step"));
    (void)grown(h, TG_ACCOUNT_WALL);
    h->c.same_flags = false;
    assert_int_equal(judged(h, "step_time"), TG_STATE_INCONCLUSIVE);
    assert_true(says(h, "different profiler flags"));
    (void)grown(h, TG_ACCOUNT_WALL); /* which explain it before the machine does */
    h->c.drift = log(1.4);
    assert_int_equal(judged(h, "step_time"), TG_STATE_INCONCLUSIVE);
    h->c.drift = 0;
    h->c.same_flags = true;
    (void)grown(h, TG_ACCOUNT_WALL);
    h->c.marked[TG_TEST] = false;
    assert_int_equal(judged(h, "step_time"), TG_STATE_INCONCLUSIVE);
}

/* More calls of a name whose calls vary anyway may be other data, and the time of these calls; not
 * that each call takes longer. A usual step may have as many as before: the mean counts. */
WITH_HAND(calls_that_vary_explain_their_time)
{
    static const struct {
        enum tg_account_id id;
        enum tg_count_shape shape;
        uint64_t calls[2]; /* of two steps */
        enum tg_state want;
    } cases[] = { { TG_ACCOUNT_BUSY, TG_COUNT_VARIES, { 4, 6 }, TG_STATE_WARN },
                  { TG_ACCOUNT_BUSY, TG_COUNT_VARIES, { 8, 9 }, TG_STATE_FAIL },
                  { TG_ACCOUNT_BUSY, TG_COUNT_VARIES, { 4, 4 }, TG_STATE_FAIL },
                  { TG_ACCOUNT_BUSY, TG_COUNT_CONSTANT, { 4, 6 }, TG_STATE_FAIL },
                  { TG_ACCOUNT_CALLS, TG_COUNT_VARIES, { 0, 0 }, TG_STATE_FAIL },
                  { TG_ACCOUNT_CALLS, TG_COUNT_VARIES, { 2000000, 3000000 }, TG_STATE_WARN } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool calls = cases[i].id == TG_ACCOUNT_CALLS;
        struct tg_op *op = TG_NEW(h->a, struct tg_op);
        *op = hand_op("k", TG_KIND_KERNEL);
        op->counted.shape = cases[i].shape;
        op->self[TG_BASE] = 1000000;
        op->self[TG_TEST] = 1500000;
        for (int side = 0; side < 2; side++) {
            op->count[side] = 2;
            op->step_count[side] = cases[i].calls[side];
            h->c.n_units[side] = 2;
        }
        hand_ops(h, op, 1);
        (void)grown(h, cases[i].id);
        h->rule.metric = calls ? TG_RULE_METRIC_COUNT : TG_RULE_METRIC_STEP_TIME;
        h->rule.fail = calls ? hand_limit(h, TG_BOUND_ABS, 0) : hand_auto(h);
        if (judged(h, calls ? "calls" : "gpu_busy") != cases[i].want)
            fail_msg("row %zu", i);
        h->c.account[cases[i].id].known = false;
    }
}

/*
 * While new runs can tell, no reason ends it: not the machine of the first runs, whatever it did
 * (1500 / 1.4 is under the limit of 8 %). What other devices did they would only repeat; beside a
 * failure nothing is asked. Then the machine of the new runs counts.
 */
WITH_HAND(new_runs_tell_before_any_reason)
{
    struct tg_comparison again = { .drift = log(1.4) };
    struct tg_asking asking = tg_asking_of(5, 0, 17, .2);
    struct tg_result red = hand_row("aten::mm", 1);
    h->c.asking = &asking;
    h->c.in_turn = true;
    (void)grown(h, TG_ACCOUNT_WALL);
    h->c.drift = log(1.4);
    assert_int_equal(judged(h, "step_time"), TG_STATE_INCONCLUSIVE);
    assert_true(h->e.asks_again && says(h, "which new runs have to tell"));
    grown(h, TG_ACCOUNT_WALL)->one_step = true;
    assert_int_equal(judged(h, "step_time"), TG_STATE_INCONCLUSIVE);
    h->c.differs = TG_SV("device");
    (void)grown(h, TG_ACCOUNT_WALL);
    assert_int_equal(judged(h, "step_time"), TG_STATE_WARN);
    h->c.differs = TG_SV("");
    (void)grown(h, TG_ACCOUNT_WALL);
    (void)hand_results(h, &red, 1);
    assert_int_equal(judged(h, "step_time"), TG_STATE_PASS);

    h->e.asks_again = false;
    asking = tg_asking_of(5, 8, 17, .2); /* enough of them */
    asking.again = &again;
    (void)grown(h, TG_ACCOUNT_WALL);
    assert_int_equal(judged(h, "step_time"), TG_STATE_WARN);
    hand_text(h->e.results[h->e.n - 1].next, "Run it again on an idle machine, after a warm-up.");
    again.drift = 0;
    (void)grown(h, TG_ACCOUNT_WALL);
    assert_int_equal(judged(h, "step_time"), TG_STATE_FAIL);
    assert_false(h->e.asks_again);
}

/* It is as strict as the policy's rules about all names. */
WITH_HAND(as_strict_as_the_policy)
{
    (void)grown(h, TG_ACCOUNT_WALL);
    h->rule.warn = h->rule.fail;
    h->rule.fail = (struct tg_limit_list){ 0 };
    assert_int_equal(judged(h, "step_time"), TG_STATE_WARN);
    (void)grown(h, TG_ACCOUNT_WALL);
    h->rule.fail =
        hand_limit(h, TG_BOUND_MAX, 9e6); /* a budget compares nothing: what is not asked warns */
    h->rule.warn = (struct tg_limit_list){ 0 };
    assert_int_equal(judged(h, "step_time"), TG_STATE_WARN);
    (void)grown(h, TG_ACCOUNT_WALL);
    h->rule.match.name = hand_patterns(h, "aten::*");
    assert_int_equal(judged(h, "step_time"), TG_STATE_WARN);
    h->rule.match = (struct tg_match){ 0 };
    (void)grown(h, TG_ACCOUNT_WALL);
    h->rule.metric = TG_RULE_METRIC_SHARE; /* of the step: a time in percent */
    assert_int_equal(judged(h, "step_time"), TG_STATE_FAIL);
    (void)grown(h, TG_ACCOUNT_WALL);
    h->rule.metric = tg_rule_metric_of(TG_METRIC_IDLE); /* no part of a name */
    assert_int_equal(judged(h, "step_time"), TG_STATE_WARN);
    (void)grown(h, TG_ACCOUNT_WALL);
    h->policy.require.account = false;
    assert_int_equal(judged(h, "step_time"), TG_STATE_PASS);
    assert_int_equal(h->v.n_notes > 0, true);
}

/* A rule with a size of its own about the step judged it, and passed. */
WITH_HAND(a_limit_of_ones_own_decides)
{
    struct tg_result r = hand_row("step_time", 0);
    (void)grown(h, TG_ACCOUNT_WALL);
    h->rule.fail = hand_limit(h, TG_BOUND_PCT, 60);
    r.state = TG_STATE_PASS;
    r.subject = TG_SUBJECT_TRACE;
    r.metric = TG_RULE_METRIC_STEP_TIME;
    r.grounds = TG_GROUNDS_RUNS;
    (void)hand_results(h, &r, 1);
    assert_int_equal(judged(h, "step_time"), TG_STATE_PASS);
    (void)grown(h, TG_ACCOUNT_WALL);
    h->rule.fail = hand_limit(h, TG_BOUND_PCT, 40); /* it passes a growth of 50 % for its noise */
    (void)hand_results(h, &r, 1);
    assert_int_equal(judged(h, "step_time"), TG_STATE_FAIL);
    r.grounds = TG_GROUNDS_NONE; /* not judged */
    (void)grown(h, TG_ACCOUNT_WALL);
    h->rule.fail = hand_limit(h, TG_BOUND_PCT, 60);
    (void)hand_results(h, &r, 1);
    assert_int_equal(judged(h, "step_time"), TG_STATE_FAIL);
}
