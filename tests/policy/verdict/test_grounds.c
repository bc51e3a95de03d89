/*
 * What a result may rest on (grounds.c): the rule's exceptions, hints, runs and steps that it asks for, other devices.
 * The rules are in docs/policy.md (exceptions, noise, require_same) and docs/statistics-rules.md.
 */
#include "by_hand.h"

/* ---- exceptions ---- */

static enum tg_state excepted(enum tg_rule_metric m, unsigned exceptions, const struct tg_op *op,
                              enum tg_state state, struct tg_judgement *j)
{
    const struct tg_rule rule = { .metric = m, .exceptions = exceptions };
    const struct tg_probe p = { .exact = true };
    const struct tg_rule_limits l = { .noise = NULL };

    *j = (struct tg_judgement){ .state = state };
    tg_grounds_soften(j, op, &rule, &p, &l);
    return j->state;
}

#define BIT(x) (1u << TG_EXCEPTION_##x)

/* They are about whether a name is there and how often, never about time or bytes. */
TEST(exceptions_are_about_calls)
{
    static const struct {
        enum tg_rule_metric m;
        enum tg_state want;
    } rows[] = {
        { TG_RULE_METRIC_COUNT, TG_STATE_WARN },   { TG_RULE_METRIC_ADDED, TG_STATE_WARN },
        { TG_RULE_METRIC_REMOVED, TG_STATE_WARN }, { TG_RULE_METRIC_SELF, TG_STATE_FAIL },
        { TG_RULE_METRIC_TOTAL, TG_STATE_FAIL },   { TG_RULE_METRIC_BYTES, TG_STATE_FAIL }
    };
    const struct tg_op renamed = { .relation = TG_REL_RENAMED, .change = TG_ADDED };
    struct tg_judgement j;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(excepted(rows[i].m, BIT(RENAMED), &renamed, TG_STATE_FAIL, &j),
                         rows[i].want);
        assert_int_equal(j.reason,
                         rows[i].want == TG_STATE_WARN ? TG_REASON_RENAMED : TG_REASON_NONE);
    }
    /* of another exception, and of none */
    assert_int_equal(excepted(TG_RULE_METRIC_COUNT, BIT(SMALL), &renamed, TG_STATE_FAIL, &j),
                     TG_STATE_FAIL);
}

/* An exception makes a failure a warning, and says nothing about any other state. */
TEST(exceptions_are_for_failures)
{
    static const enum tg_state others[] = { TG_STATE_PASS, TG_STATE_WARN, TG_STATE_NOT_JUDGED };
    const struct tg_op renamed = { .relation = TG_REL_RENAMED, .change = TG_ADDED };
    struct tg_judgement j;

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(excepted(TG_RULE_METRIC_COUNT, BIT(RENAMED), &renamed, others[i], &j),
                         others[i]);
        assert_int_equal(j.reason, TG_REASON_NONE);
    }
}

/* Its number is random; that it polls at all is not. */
TEST(polling_is_not_judged_unless_it_is_new)
{
    static const struct {
        double before;
        enum tg_state state, want;
    } rows[] = { { 3, TG_STATE_FAIL, TG_STATE_SKIP },      { 3, TG_STATE_PASS, TG_STATE_SKIP },
                 { 0, TG_STATE_FAIL, TG_STATE_WARN },      { 0, TG_STATE_WARN, TG_STATE_WARN },
                 { 0, TG_STATE_PASS, TG_STATE_SKIP },      { 3, TG_STATE_WARN, TG_STATE_SKIP },
                 { 0, TG_STATE_NOT_JUDGED, TG_STATE_SKIP } };
    struct tg_judgement j;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct tg_op op = { .polling = true, .count = { rows[i].before, 9 } };
        if (excepted(TG_RULE_METRIC_COUNT, BIT(POLLING), &op, rows[i].state, &j) != rows[i].want)
            fail_msg("row %zu: got %s", i, tg_state_name(j.state));
        assert_int_equal(j.reason, TG_REASON_POLLING);
        assert_true((j.why_not != NULL) == (rows[i].want == TG_STATE_SKIP));
    }
}

/* ---- what a state rests on ---- */

static enum tg_grounds grounds(struct hand *h, enum tg_state state, const struct tg_probe *p,
                               struct tg_result *r)
{
    const struct tg_judgement j = { .state = state, .why_not = "because" };
    const struct tg_rule_limits l = { .fail = h->rule.fail };

    *r = (struct tg_result){ .why_not = NULL };
    tg_grounds_set(r, &l, p, &j);
    return r->grounds;
}

WITH_HAND(grounds_by_what_was_looked_at)
{
    struct tg_evidence ev = hand_evidence(1000, 0);
    struct tg_probe p = { .exact = true, .unit = TG_UNIT_COUNT };
    struct tg_result r;

    h->rule.fail = hand_limit(h, TG_BOUND_PCT, 10);
    assert_int_equal(grounds(h, TG_STATE_PASS, &p, &r), TG_GROUNDS_COUNT);
    assert_null(r.why_not);
    assert_int_equal(grounds(h, TG_STATE_FAIL, &p, &r), TG_GROUNDS_COUNT);
    assert_int_equal(grounds(h, TG_STATE_NOT_JUDGED, &p, &r), TG_GROUNDS_NONE);
    assert_string_equal(r.why_not, "because");
    assert_int_equal(grounds(h, TG_STATE_SKIP, &p, &r), TG_GROUNDS_NONE);
    p.unit = TG_UNIT_BYTES;
    assert_int_equal(grounds(h, TG_STATE_PASS, &p, &r), TG_GROUNDS_ATTR);

    p = (struct tg_probe){ .unit = TG_UNIT_NS, .ev = &ev };
    assert_int_equal(grounds(h, TG_STATE_PASS, &p, &r), TG_GROUNDS_RUNS);
    ev.judged = TG_NOT_TOO_SMALL; /* it was looked at: too small to matter */
    assert_int_equal(grounds(h, TG_STATE_PASS, &p, &r), TG_GROUNDS_RUNS);
    ev.judged = TG_NOT_COUNT_CHANGED;
    assert_int_equal(grounds(h, TG_STATE_PASS, &p, &r), TG_GROUNDS_NONE);
    p.test_kind = TG_NOISE_NONE; /* the limit alone decides */
    assert_int_equal(grounds(h, TG_STATE_PASS, &p, &r), TG_GROUNDS_RUNS);
    p.test_kind = TG_NOISE_RUNS;
    p.ev = NULL; /* a budget beside another limit was exceeded: the value as recorded */
    assert_int_equal(grounds(h, TG_STATE_FAIL, &p, &r), TG_GROUNDS_RUNS);
    h->rule.fail = hand_limit(h, TG_BOUND_MAX, 10);
    assert_int_equal(grounds(h, TG_STATE_PASS, &p, &r), TG_GROUNDS_BUDGET);
}

/* Too few runs are told apart: more of them would do. */
WITH_HAND(too_few_runs_are_told)
{
    struct tg_evidence ev = { .judged = TG_NOT_FEW_RUNS };
    struct tg_probe p = { .unit = TG_UNIT_NS, .ev = &ev, .min_runs = 4 };
    struct tg_result r;

    h->rule.fail = hand_limit(h, TG_BOUND_PCT, 10);
    (void)grounds(h, TG_STATE_NOT_JUDGED, &p, &r);
    assert_true(r.few_runs && r.needs_runs == 4);
    (void)grounds(h, TG_STATE_SUSPICIOUS, &p, &r); /* more runs would judge it, too */
    assert_int_equal(r.needs_runs, 4);
    p.exact = true; /* a count needs none */
    (void)grounds(h, TG_STATE_PASS, &p, &r);
    assert_int_equal(r.needs_runs, 0);
    p.exact = false;
    ev.judged = TG_NOT_BUSY;
    (void)grounds(h, TG_STATE_NOT_JUDGED, &p, &r);
    assert_false(r.few_runs || r.needs_runs);
    p.ev = NULL;
    (void)grounds(h, TG_STATE_NOT_JUDGED, &p, &r);
    assert_false(r.few_runs || r.needs_runs);
}

/* ---- calls in some steps ---- */

struct hinted {
    enum tg_count_proof proof;
    enum tg_rule_metric m;
    enum tg_state before;
    double most;
    bool moved; /* it is said of the bytes, not of the calls */
};

struct averaged {
    double mean; /* of the fresh steps */
    enum tg_count_shape shape;
    unsigned exceptions;
};

/* One call was usual; a step has `most`. Two more fail, one more warns. */
static enum tg_state hinted(struct hand *h, struct hinted x, struct averaged mean)
{
    const struct tg_count_evidence ev = { .proof = x.proof, .most = x.most, .shape = mean.shape };
    const struct tg_op op = { .counted = x.moved ? (struct tg_count_evidence){ 0 } : ev,
                              .moved = x.moved ? ev : (struct tg_count_evidence){ 0 } };
    const struct tg_rule rule = { .metric = x.m, .exceptions = mean.exceptions };
    const struct tg_probe p = { .base = 1, .test = mean.mean, .exact = true, .unchanged = true };
    const struct tg_rule_limits l = { .warn = hand_limit(h, TG_BOUND_ABS, 0),
                                      .fail = hand_limit(h, TG_BOUND_ABS, 1) };
    struct tg_judgement j = { .state = x.before };

    tg_grounds_soften(&j, &op, &rule, &p, &l);
    return j.state;
}

WITH_HAND(a_hint_warns)
{
    const enum tg_rule_metric count = TG_RULE_METRIC_COUNT;
    const struct {
        struct hinted x;
        enum tg_state want;
    } rows[] = {
        { { TG_COUNT_HINT, count, TG_STATE_PASS, 2, false }, TG_STATE_WARN },      /* would warn */
        { { TG_COUNT_HINT, count, TG_STATE_PASS, 9, false }, TG_STATE_WARN },      /* would fail */
        { { TG_COUNT_HINT, count, TG_STATE_PASS, 1, false }, TG_STATE_PASS },      /* would pass */
        { { TG_COUNT_UNCHANGED, count, TG_STATE_PASS, 9, false }, TG_STATE_PASS }, /* not one */
        { { TG_COUNT_PROVEN, count, TG_STATE_PASS, 9, false }, TG_STATE_PASS },
        { { TG_COUNT_HINT, TG_RULE_METRIC_BYTES, TG_STATE_PASS, 9, false }, TG_STATE_PASS },
        { { TG_COUNT_HINT, TG_RULE_METRIC_BYTES, TG_STATE_PASS, 9, true }, TG_STATE_WARN },
        { { TG_COUNT_HINT, count, TG_STATE_PASS, 9, true }, TG_STATE_PASS },
        { { TG_COUNT_HINT, count, TG_STATE_FAIL, 9, false },
          TG_STATE_FAIL }, /* never less than it was */
        { { TG_COUNT_HINT, count, TG_STATE_NOT_JUDGED, 9, false }, TG_STATE_NOT_JUDGED },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (hinted(h, rows[i].x, (struct averaged){ .mean = 1 }) != rows[i].want)
            fail_msg("row %zu", i);
}

/* Not excepted, it fails where the baseline has one number in all steps, and the mean exceeds the limit. */
WITH_HAND(a_hint_of_the_mean_fails)
{
    static const struct {
        struct averaged mean;
        enum tg_state want;
    } rows[] = { { { 4, TG_COUNT_SOME_STEPS, 0 }, TG_STATE_FAIL },
                 { { 2, TG_COUNT_SOME_STEPS, 0 }, TG_STATE_WARN },
                 { { 4, TG_COUNT_VARIES, 0 }, TG_STATE_WARN },
                 { { 4, TG_COUNT_BREAKS, 0 }, TG_STATE_WARN },
                 { { 4, TG_COUNT_SOME_STEPS, BIT(CHANCE) }, TG_STATE_WARN } };
    static const struct hinted x = { TG_COUNT_HINT, TG_RULE_METRIC_COUNT, TG_STATE_PASS, 9, false };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (hinted(h, x, rows[i].mean) != rows[i].want)
            fail_msg("row %zu", i);
}

/* ---- runs and steps that a rule asks for ---- */

WITH_HAND(too_few_steps)
{
    struct tg_noise noise = { .min_steps = 0 };

    h->c.n_steps[TG_BASE] = 3;
    h->c.n_steps[TG_TEST] = 7;
    assert_null(tg_grounds_few_steps(&h->all, &noise)); /* any number will do */
    noise.min_steps = 3;
    assert_null(tg_grounds_few_steps(&h->all, &noise));
    noise.min_steps = 4;
    assert_non_null(tg_grounds_few_steps(&h->all, &noise));
    h->c.n_steps[TG_BASE] = 7;
    assert_null(tg_grounds_few_steps(&h->all, &noise));
    h->c.n_steps[TG_TEST] = 3;
    assert_non_null(tg_grounds_few_steps(&h->all, &noise));
}

/* 5 runs a side; the evidence is copied only if the number of runs that is asked for changes it. */
static struct tg_evidence asked(struct hand *h, int64_t asked, const struct tg_evidence *ev)
{
    const struct tg_noise noise = { .min_runs = asked };
    struct tg_probe p = { .ev = ev };

    tg_grounds_ask_runs(&p, &noise, h->in.policy, &h->c, h->e.arena);
    assert_true((p.ev == ev) == (p.ev->judged == ev->judged));
    assert_int_equal(p.min_runs, asked);
    assert_true((p.few_runs != NULL) == (p.ev->judged == TG_NOT_FEW_RUNS));
    return *p.ev;
}

WITH_HAND(a_rule_asks_for_runs_of_its_own)
{
    struct tg_evidence ev = hand_evidence(1000, 0.5);
    struct tg_probe none = { .ev = NULL };

    assert_int_equal(asked(h, 3, &ev).judged, TG_JUDGED);
    assert_int_equal(asked(h, 5, &ev).judged, TG_JUDGED);
    assert_false(asked(h, 5, &ev).suspicious);
    assert_int_equal(asked(h, 6, &ev).judged, TG_NOT_FEW_RUNS);
    assert_true(asked(h, 6, &ev).suspicious); /* slower, but for the rule too few say so */
    ev = hand_evidence(1000, 0);
    assert_false(asked(h, 6, &ev).suspicious);
    ev.judged = TG_NOT_BUSY; /* for another reason: runs do not mend that */
    assert_int_equal(asked(h, 2, &ev).judged, TG_NOT_BUSY);
    assert_int_equal(asked(h, 6, &ev).judged, TG_NOT_BUSY);
    h->c.n_runs[TG_TEST] = 2;
    ev.judged = TG_NOT_FEW_RUNS;
    assert_int_equal(asked(h, 2, &ev).judged, TG_JUDGED);
    assert_int_equal(asked(h, 4, &ev).judged, TG_NOT_FEW_RUNS);
    h->c.n_runs[TG_TEST] = 5;
    h->c.n_runs[TG_BASE] = 2; /* the side with fewer counts */
    assert_int_equal(asked(h, 4, &ev).judged, TG_NOT_FEW_RUNS);
    tg_grounds_ask_runs(&none, &(struct tg_noise){ .min_runs = 9 }, h->in.policy, &h->c,
                        h->e.arena);
    assert_null(none.ev);
}

/* ---- another device ---- */

/* What the program asks for is the same on every device; kernels, times and what frames launch are not. */
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
    h->c.only_device_differs = true;
    for (int same = 0; same < 2; same++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const struct tg_op op = { .kind = rows[i].kind, .launched = rows[i].launched };
            const struct tg_probe p = { .exact = rows[i].exact };
            h->c.same_device = same;
            const char *why = tg_grounds_op_differs(&h->all, &op, &p, h->a);
            if ((why == NULL) != (same || rows[i].comparable))
                fail_msg("row %zu: %s", i, why ? why : "comparable");
        }
}

static const char *differs(struct hand *h, enum tg_rule_metric m)
{
    h->rule.metric = m;
    return tg_grounds_metric_differs(&h->all, &h->rule, h->a);
}

WITH_HAND(metrics_of_the_trace_on_another_device)
{
    h->c.differs = TG_SV("cuda_major");
    assert_null(differs(h, tg_rule_metric_of(TG_METRIC_LAUNCH_COUNT)));
    h->c.same_device = false;
    assert_string_equal(differs(h, tg_rule_metric_of(TG_METRIC_LAUNCH_COUNT)),
                        "the two sides differ in cuda_major");
    h->c.differs = TG_SV("device");
    h->c.only_device_differs = true;
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

WITH_HAND(totals_by_frame_that_a_side_lacks)
{
    const uint32_t module = 1u << TG_KIND_MODULE, op = 1u << TG_KIND_OP;

    h->c.frame_sorts[TG_BASE] = 1u << TG_STACK_MODULES;
    assert_false(tg_grounds_lacks_frames(&h->all, module, TG_BASE));
    assert_true(tg_grounds_lacks_frames(&h->all, module, TG_TEST)); /* not taken */
    assert_true(tg_grounds_lacks_frames(&h->all, 1u << TG_KIND_SOURCE, TG_BASE));
    assert_false(tg_grounds_lacks_frames(&h->all, op, TG_TEST)); /* not of a frame */
    h->c.frames_lack[TG_BASE] = 1u << TG_STACK_MODULES;          /* taken of nothing */
    assert_true(tg_grounds_lacks_frames(&h->all, module, TG_BASE));
}
