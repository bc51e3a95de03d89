/*
 * What a row may rest on (judge_rows.c): the rule's exceptions, hints, runs and steps that it asks
 * for, other devices. The rules are in docs/policy.md (exceptions, noise, require_same) and
 * docs/statistics-rules.md.
 */
#include "by_hand.h"

/* By a metric of a name; of the whole trace, NULL. */
static const struct tg_result *judged(struct hand *h, enum tg_rule_metric m, const struct tg_op *op)
{
    h->rule.metric = m;
    return hand_judge(h, op);
}

static void expect_because(const struct tg_result *r, const char *want)
{
    const char *is = r->because ? tg_reason_id(r->because) : "nothing";
    want = want ? want : "nothing";
    if (strcmp(is, want) != 0)
        fail_msg("because %s, want %s", is, want);
}

/* ---- exceptions ---- */

#define BIT(x) (1u << TG_EXCEPTION_##x)

/* Under another name, and more in every respect. */
static struct tg_op renamed(enum tg_change change)
{
    struct tg_op op = hand_op("Memcpy HtoD", TG_KIND_MEMCPY);
    op.relation = TG_REL_RENAMED;
    op.change = change;
    op.count[TG_TEST] = 2;
    op.total[TG_BASE] = op.total[TG_TEST] = 30000;
    op.bytes_known[TG_BASE] = op.bytes_known[TG_TEST] = true;
    op.bytes[TG_TEST] = 4096;
    op.moved.proof = TG_COUNT_PROVEN;
    op.ev = op.ev_total = hand_evidence(30000, 0.5);
    return op;
}

/* They are about whether a name is there and how often, never about time or bytes. */
WITH_HAND(exceptions_are_about_calls)
{
    static const struct {
        enum tg_rule_metric m;
        enum tg_change change;
        enum tg_state want;
    } rows[] = { { TG_RULE_METRIC_COUNT, TG_MORE, TG_STATE_WARN },
                 { TG_RULE_METRIC_ADDED, TG_ADDED, TG_STATE_WARN },
                 { TG_RULE_METRIC_REMOVED, TG_REMOVED, TG_STATE_WARN },
                 { TG_RULE_METRIC_SELF, TG_SAME, TG_STATE_FAIL },
                 { TG_RULE_METRIC_TOTAL, TG_SAME, TG_STATE_FAIL },
                 { TG_RULE_METRIC_BYTES, TG_SAME, TG_STATE_FAIL } };
    h->rule.fail = hand_limit(h, TG_BOUND_ABS, 0);
    h->rule.exceptions = BIT(RENAMED);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct tg_op op = renamed(rows[i].change);
        const struct tg_result *r = judged(h, rows[i].m, &op);
        if (r->state != rows[i].want)
            fail_msg("row %zu: %s", i, tg_state_name(r->state));
        expect_because(r, rows[i].want == TG_STATE_WARN ? "renamed" : "limit");
    }
    h->rule.exceptions = BIT(SMALL); /* another one */
    const struct tg_op op = renamed(TG_MORE);
    assert_int_equal(judged(h, TG_RULE_METRIC_COUNT, &op)->state, TG_STATE_FAIL);
}

/* An exception makes a failure a warning, and says nothing about any other state. */
WITH_HAND(exceptions_are_for_failures)
{
    struct tg_op op = renamed(TG_MORE);
    const struct tg_result *r;
    h->rule.exceptions = BIT(RENAMED);
    h->rule.fail = hand_limit(h, TG_BOUND_ABS, 5);
    r = judged(h, TG_RULE_METRIC_COUNT, &op);
    assert_int_equal(r->state, TG_STATE_PASS);
    expect_because(r, NULL);
    h->rule.warn = hand_limit(h, TG_BOUND_ABS, 0);
    r = judged(h, TG_RULE_METRIC_COUNT, &op);
    assert_int_equal(r->state, TG_STATE_WARN);
    expect_because(r, "limit");
    op.kind = TG_KIND_KERNEL;
    h->c.differs = TG_SV("device");
    r = judged(h, TG_RULE_METRIC_COUNT, &op);
    assert_int_equal(r->state, TG_STATE_NOT_JUDGED);
    expect_because(r, "device");
}

/* Its number is random; that it polls at all is not. `fails` calls exceed a limit,
 * `warns` another. */
WITH_HAND(polling_is_not_judged_unless_it_is_new)
{
    static const struct {
        double before, fails, warns;
        enum tg_state want;
    } rows[] = { { 3, 0, 0, TG_STATE_SKIP },   { 3, 9, 9, TG_STATE_SKIP },
                 { 0, 0, 0, TG_STATE_WARN },   { 0, 90, 0, TG_STATE_WARN },
                 { 0, 90, 90, TG_STATE_SKIP }, { 3, 90, 0, TG_STATE_SKIP } };
    struct tg_op op = hand_op("cudaEventQuery", TG_KIND_RUNTIME);
    op.polling = true;
    op.change = TG_MORE;
    h->rule.exceptions = BIT(POLLING);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct tg_result *r;
        op.count[TG_BASE] = rows[i].before;
        op.count[TG_TEST] = 9;
        h->rule.fail = hand_limit(h, TG_BOUND_ABS, rows[i].fails);
        h->rule.warn = hand_limit(h, TG_BOUND_ABS, rows[i].warns);
        r = judged(h, TG_RULE_METRIC_COUNT, &op);
        if (r->state != rows[i].want)
            fail_msg("row %zu: got %s", i, tg_state_name(r->state));
        expect_because(r, "polling");
        assert_true((r->why_not != NULL) == (rows[i].want == TG_STATE_SKIP));
    }
}

/* ---- what a state rests on ---- */

WITH_HAND(grounds_by_what_was_looked_at)
{
    static const struct {
        enum tg_judged judged;
        enum tg_noise_test test;
        enum tg_grounds want;
    } times[] = { { TG_JUDGED, TG_NOISE_RUNS, TG_GROUNDS_RUNS },
                  { TG_NOT_COUNT_CHANGED, TG_NOISE_RUNS, TG_GROUNDS_NONE },
                  { TG_NOT_BUSY, TG_NOISE_RUNS, TG_GROUNDS_NONE },
                  { TG_NOT_COUNT_CHANGED, TG_NOISE_NONE, TG_GROUNDS_RUNS } }; /* the limit alone */
    struct tg_op op = renamed(TG_MORE);
    op.relation = TG_REL_NONE;
    h->rule.fail = hand_limit(h, TG_BOUND_PCT, 10);
    assert_int_equal(judged(h, TG_RULE_METRIC_COUNT, &op)->grounds, TG_GROUNDS_COUNT);
    assert_int_equal(judged(h, TG_RULE_METRIC_BYTES, &op)->grounds, TG_GROUNDS_ATTR);
    op.change = TG_SAME;
    assert_int_equal(judged(h, TG_RULE_METRIC_COUNT, &op)->grounds, TG_GROUNDS_COUNT);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        const struct tg_result *r;
        op.ev = hand_evidence(30000, 0);
        op.ev.why_not = times[i].judged;
        h->rule.noise.test = times[i].test;
        r = judged(h, TG_RULE_METRIC_SELF, &op);
        if (r->grounds != times[i].want)
            fail_msg("row %zu: %d", i, (int)r->grounds);
        assert_int_equal(r->why_not != NULL, times[i].want == TG_GROUNDS_NONE);
    }
    h->rule.noise.test = TG_NOISE_RUNS;
    h->rule.fail = hand_limit(h, TG_BOUND_MAX, 10);
    assert_int_equal(judged(h, TG_RULE_METRIC_SELF, &op)->grounds, TG_GROUNDS_BUDGET);
    h->rule.warn = hand_limit(h, TG_BOUND_PCT, 10); /* beside another limit: as recorded */
    op.self[TG_TEST] = 30000;
    assert_int_equal(judged(h, TG_RULE_METRIC_SELF, &op)->grounds, TG_GROUNDS_RUNS);
}

/* Too few runs are told apart: more of them would do. */
WITH_HAND(too_few_runs_are_told)
{
    struct tg_op op = renamed(TG_SAME);
    const struct tg_result *r;
    op.ev.why_not = TG_NOT_FEW_RUNS;
    h->policy.noise.min_runs = h->rule.noise.min_runs = 6;
    h->rule.fail = hand_limit(h, TG_BOUND_PCT, 10);
    r = judged(h, TG_RULE_METRIC_SELF, &op);
    assert_true(r->state == TG_STATE_NOT_JUDGED && r->why_not && r->needs_runs == 6);
    op.ev.suspicious = true; /* more runs would judge it, too */
    op.self[TG_BASE] = 20000;
    op.self[TG_TEST] = 30000;
    r = judged(h, TG_RULE_METRIC_SELF, &op);
    assert_true(r->state == TG_STATE_SUSPICIOUS && !r->why_not && r->needs_runs == 6);
    assert_int_equal(judged(h, TG_RULE_METRIC_COUNT, &op)->needs_runs, 0); /* a count needs none */
    op.ev.why_not = TG_NOT_BUSY;
    op.ev.suspicious = false;
    r = judged(h, TG_RULE_METRIC_SELF, &op);
    assert_int_equal(r->needs_runs, 0);
}

/* ---- calls in some steps ---- */

/* One call was usual; a step has `most`, the mean of the steps is `mean`. Two more fail,
 * one more warns. */
WITH_HAND(a_hint_warns_and_its_mean_may_fail)
{
    const enum tg_rule_metric count = TG_RULE_METRIC_COUNT, bytes = TG_RULE_METRIC_BYTES;
    const struct {
        enum tg_count_proof proof;
        enum tg_rule_metric m;
        double most, mean;
        bool moved; /* it is said of the bytes, not of the calls */
        enum tg_count_shape shape;
        unsigned exceptions;
        enum tg_state want;
    } rows[] = {
        { TG_COUNT_HINT, count, 2, 1, false, 0, 0, TG_STATE_WARN }, /* would warn */
        { TG_COUNT_HINT, count, 9, 1, false, 0, 0, TG_STATE_WARN }, /* would fail */
        { TG_COUNT_HINT, count, 1, 1, false, 0, 0, TG_STATE_PASS },
        { TG_COUNT_UNCHANGED, count, 9, 1, false, 0, 0, TG_STATE_PASS },
        { TG_COUNT_PROVEN, count, 9, 1, false, 0, 0, TG_STATE_PASS },
        { TG_COUNT_HINT, bytes, 9, 1, false, 0, 0, TG_STATE_PASS },
        { TG_COUNT_HINT, bytes, 9, 1, true, 0, 0, TG_STATE_WARN },
        { TG_COUNT_HINT, count, 9, 1, true, 0, 0, TG_STATE_PASS },
        { TG_COUNT_HINT, count, 9, 4, false, TG_COUNT_SOME_STEPS, 0, TG_STATE_FAIL },
        { TG_COUNT_HINT, count, 9, 2, false, TG_COUNT_SOME_STEPS, 0, TG_STATE_WARN },
        { TG_COUNT_HINT, count, 9, 4, false, TG_COUNT_VARIES, 0, TG_STATE_WARN },
        { TG_COUNT_HINT, count, 9, 4, false, TG_COUNT_SOME_STEPS, BIT(CHANCE), TG_STATE_WARN },
    };
    h->rule.warn = hand_limit(h, TG_BOUND_ABS, 0);
    h->rule.fail = hand_limit(h, TG_BOUND_ABS, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tg_op op = hand_op("Memcpy HtoD", TG_KIND_MEMCPY);
        const struct tg_result *r;
        *(rows[i].moved ? &op.moved : &op.counted) = (struct tg_count_evidence){
            .proof = rows[i].proof, .most = rows[i].most, .shape = rows[i].shape
        };
        op.count[TG_TEST] = rows[i].mean;
        op.bytes_known[TG_BASE] = op.bytes_known[TG_TEST] = true;
        op.bytes[TG_BASE] = op.bytes[TG_TEST] = 1;
        h->rule.exceptions = rows[i].exceptions;
        r = judged(h, rows[i].m, &op);
        if (r->state != rows[i].want)
            fail_msg("row %zu: %s", i, tg_state_name(r->state));
        if (r->state == TG_STATE_WARN)
            expect_because(r, "some-calls");
    }
}

/* ---- runs and steps that a rule asks for ---- */

/* Of names and of the whole trace; the side with fewer decides. */
WITH_HAND(too_few_steps)
{
    static const struct {
        size_t base, test;
        int64_t min_steps;
        bool few;
    } rows[] = { { 3, 7, 0, false }, { 3, 7, 3, false }, { 3, 7, 4, true }, { 7, 3, 4, true } };
    struct tg_op op = renamed(TG_SAME);
    struct tg_metric_change *m = &h->c.metrics[TG_METRIC_GPU_BUSY];
    m->known[TG_BASE] = m->known[TG_TEST] = true;
    m->ev = hand_evidence(30000, 0.5);
    h->rule.fail = hand_limit(h, TG_BOUND_PCT, 10);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum tg_state want = rows[i].few ? TG_STATE_NOT_JUDGED : TG_STATE_FAIL;
        h->c.n_steps[TG_BASE] = rows[i].base;
        h->c.n_steps[TG_TEST] = rows[i].test;
        h->rule.noise.min_steps = rows[i].min_steps;
        assert_int_equal(judged(h, TG_RULE_METRIC_SELF, &op)->state, want);
        assert_int_equal(judged(h, tg_rule_metric_of(TG_METRIC_GPU_BUSY), NULL)->state, want);
    }
    h->rule.noise.min_steps = 9; /* a budget is about what was recorded */
    op.self[TG_TEST] = 20;
    h->rule.fail = hand_limit(h, TG_BOUND_MAX, 10);
    assert_int_equal(judged(h, TG_RULE_METRIC_SELF, &op)->state, TG_STATE_FAIL);
}

/* 5 runs a side; the evidence is copied only if the number of runs that is asked for changes it. */
static struct tg_evidence asked(struct hand *h, int64_t asked, const struct tg_evidence *ev)
{
    const struct tg_op op = { .ev = *ev, .present = { true, true } };
    struct tg_judging w;
    h->rule.metric = TG_RULE_METRIC_SELF;
    h->rule.noise.min_runs = asked;
    assert_true(tg_judging_measure(&w, &h->rule, &(struct tg_quantity){ .op = &op }, &h->policy,
                                   &h->c, h->a));
    assert_true((w.p.ev == &op.ev) == (w.p.ev->why_not == ev->why_not));
    assert_int_equal(w.p.min_runs, asked);
    assert_true((w.p.few_runs != NULL) == (w.p.ev->why_not == TG_NOT_FEW_RUNS));
    return *w.p.ev;
}

WITH_HAND(a_rule_asks_for_runs_of_its_own)
{
    struct tg_evidence ev = hand_evidence(1000, 0.5);
    assert_int_equal(asked(h, 3, &ev).why_not, TG_JUDGED);
    assert_int_equal(asked(h, 5, &ev).why_not, TG_JUDGED);
    assert_false(asked(h, 5, &ev).suspicious);
    assert_int_equal(asked(h, 6, &ev).why_not, TG_NOT_FEW_RUNS);
    assert_true(asked(h, 6, &ev).suspicious); /* slower, but for the rule too few say so */
    ev = hand_evidence(1000, 0);
    assert_false(asked(h, 6, &ev).suspicious);
    ev.why_not = TG_NOT_BUSY; /* for another reason: runs do not mend that */
    assert_int_equal(asked(h, 2, &ev).why_not, TG_NOT_BUSY);
    assert_int_equal(asked(h, 6, &ev).why_not, TG_NOT_BUSY);
    h->c.n_runs[TG_TEST] = 2;
    ev.why_not = TG_NOT_FEW_RUNS;
    assert_int_equal(asked(h, 2, &ev).why_not, TG_JUDGED);
    assert_int_equal(asked(h, 4, &ev).why_not, TG_NOT_FEW_RUNS);
    h->c.n_runs[TG_TEST] = 5;
    h->c.n_runs[TG_BASE] = 2; /* the side with fewer counts */
    assert_int_equal(asked(h, 4, &ev).why_not, TG_NOT_FEW_RUNS);
}

/* ---- another device ---- */

/* What the program asks for is the same on every device; kernels,
 * times and what frames launch are not. */
WITH_HAND(what_another_device_leaves_to_judge)
{
    static const struct {
        enum tg_kind kind;
        bool launched, exact, comparable;
    } rows[] = {
        { TG_KIND_OP, false, true, true },      { TG_KIND_OP, false, false, true },
        { TG_KIND_KERNEL, false, true, false }, { TG_KIND_KERNEL, false, false, false },
        { TG_KIND_MEMCPY, false, true, true },  { TG_KIND_MEMCPY, false, false, false },
        { TG_KIND_MODULE, true, true, false },  { TG_KIND_MODULE, true, false, false },
        { TG_KIND_MODULE, false, true, true },
    };
    h->c.differs = TG_SV("device");
    h->c.frame_sorts[0] = h->c.frame_sorts[1] = ~0u;
    h->rule.fail = hand_limit(h, TG_BOUND_PCT, 10);
    for (int same = 0; same < 2; same++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            struct tg_op op = renamed(TG_SAME);
            const struct tg_result *r;
            op.kind = rows[i].kind;
            op.launched = rows[i].launched;
            op.ev = op.ev_total = hand_evidence(30000, 0);
            hand_ops(h, &op, 1);
            h->c.differs = same ? TG_SV("") : TG_SV("device");
            r = judged(h, rows[i].exact ? TG_RULE_METRIC_COUNT : TG_RULE_METRIC_SELF, &op);
            if ((r->why_not == NULL) != (same || rows[i].comparable))
                fail_msg("row %zu: %s", i, r->why_not ? r->why_not : "comparable");
        }
}

static const char *differs(struct hand *h, enum tg_rule_metric m)
{
    enum tg_metric id;
    if (tg_rule_metric_of_trace(m, &id))
        h->c.metrics[id].known[TG_BASE] = h->c.metrics[id].known[TG_TEST] = true;
    return judged(h, m, NULL)->why_not;
}

WITH_HAND(metrics_of_the_trace_on_another_device)
{
    h->rule.fail = hand_limit(h, TG_BOUND_ABS, 0);
    h->c.ranks_known[TG_BASE] = h->c.ranks_known[TG_TEST] = true;
    assert_null(differs(h, tg_rule_metric_of(TG_METRIC_LAUNCH_COUNT)));
    h->c.differs = TG_SV("cuda_major");
    assert_string_equal(differs(h, tg_rule_metric_of(TG_METRIC_LAUNCH_COUNT)),
                        "the two sides differ in cuda_major");
    h->c.differs = TG_SV("device");
    assert_string_equal(differs(h, tg_rule_metric_of(TG_METRIC_KERNEL_NAMES)),
                        "the two sides ran on different devices");
    assert_non_null(differs(h, tg_rule_metric_of(TG_METRIC_MEM_PEAK)));
    assert_non_null(differs(h, tg_rule_metric_of(TG_METRIC_GPU_BUSY))); /* measured */
    assert_non_null(differs(h, TG_RULE_METRIC_SKEW));
    assert_null(
        differs(h, tg_rule_metric_of(TG_METRIC_SYNC_COUNT))); /* what the program asks for */
    assert_null(differs(h, tg_rule_metric_of(TG_METRIC_MEMCPY_BYTES)));
}

/* ---- Python frames ---- */
