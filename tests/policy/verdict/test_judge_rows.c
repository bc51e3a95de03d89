/* One result of a rule (judge_rows.c), on comparisons made by hand. A step lasts 1 ms; what a limit
 * of a size of its own asks, and what `auto` asks: docs/policy.md, docs/statistics.md#durations. */
#include "by_hand.h"

static void rule(struct hand *h, enum tg_rule_metric m, struct tg_limit_list fail)
{
    h->rule.metric = m;
    h->rule.fail = fail;
}

/* ---- a name ---- */

/* noise.min_steps is about how sharp a time is; a count is what it is. */
WITH_HAND(few_steps_leave_counts_judged)
{
    struct tg_op op = hand_op("aten::mm", TG_KIND_OP);
    op.change = TG_MORE;
    op.count[TG_TEST] = 2;
    op.ev = hand_evidence(1000, 0.5);
    h->rule.noise.min_steps = 5; /* each run has 4 */
    rule(h, TG_RULE_METRIC_COUNT, hand_limit(h, TG_BOUND_ABS, 0));
    assert_int_equal(hand_judge(h, &op)->state, TG_STATE_FAIL);
    rule(h, TG_RULE_METRIC_SELF, hand_limit(h, TG_BOUND_PCT, 10));
    assert_int_equal(hand_judge(h, &op)->state, TG_STATE_NOT_JUDGED);
    h->rule.noise.min_steps = 4;
    assert_int_equal(hand_judge(h, &op)->state, TG_STATE_FAIL);
}

/* noise.min_runs of the rule: what it makes of the evidence is
 * the result's as long as that is there. */
WITH_HAND(a_rule_may_ask_for_fewer_runs)
{
    struct tg_op slow = hand_op("aten::mm", TG_KIND_OP), same = hand_op("aten::add", TG_KIND_OP);
    slow.ev = hand_evidence(100000, 0.5);
    same.ev = hand_evidence(300000, 0);
    slow.ev.why_not = same.ev.why_not = TG_NOT_FEW_RUNS; /* by the policy's 8, of 5 runs */
    h->policy.noise.min_runs = 8;
    rule(h, TG_RULE_METRIC_SELF, hand_auto(h));
    assert_int_equal(hand_judge(h, &slow)->state, TG_STATE_FAIL);
    assert_int_equal(hand_judge(h, &same)->state, TG_STATE_PASS);
    assert_int_equal(h->e.results[0].ev->why_not, TG_JUDGED);
    hand_near(h->e.results[0].ev->value[TG_TEST], 150000);
    hand_near(h->e.results[1].ev->value[TG_TEST], 300000);
}

/* Calls that a faster step repays pass; where times are not judged, for want of runs, they warn. */
WITH_HAND(few_runs_let_nothing_pass)
{
    struct tg_op op = hand_op("aten::index", TG_KIND_OP);
    op.change = TG_MORE;
    op.count[TG_TEST] = 2;
    op.repaid = true;
    h->rule.exceptions = 1u << TG_EXCEPTION_REPLACED;
    rule(h, TG_RULE_METRIC_COUNT, hand_limit(h, TG_BOUND_ABS, 0));
    assert_int_equal(hand_judge(h, &op)->state, TG_STATE_PASS);
    h->c.n_runs[TG_BASE] = 2;
    assert_int_equal(hand_judge(h, &op)->state, TG_STATE_WARN);
    op.repaid = false;
    assert_int_equal(hand_judge(h, &op)->state, TG_STATE_FAIL);
}

/* One call took 20 us, four take 8: three more weigh 6 us, though all take less. */
WITH_HAND(calls_weigh_what_they_take)
{
    struct tg_op op = hand_op("aten::index", TG_KIND_OP);
    op.change = TG_MORE;
    op.count[TG_BASE] = 1;
    op.count[TG_TEST] = 4;
    op.self[TG_BASE] = 20000;
    op.self[TG_TEST] = 8000;
    rule(h, TG_RULE_METRIC_COUNT, hand_limit(h, TG_BOUND_ABS, 0));
    assert_true(hand_judge(h, &op)->weight == 6000);
    h->rule.bad = TG_LESS_IS_BAD;
    op.change = TG_FEWER;
    op.count[TG_BASE] = 5;
    assert_true(hand_judge(h, &op)->weight == 12000);
}

/* 100 us more communication that nothing hides, of 2 ms: `comm`, `work` and `step` us more. */
WITH_HAND(communication_that_shorter_work_leaves_bare_passes)
{
    static const struct {
        const char *what;
        int comm, work, step;
        enum tg_state want;
    } rows[] = {
        { "no more work hides it", 0, 0, 0, TG_STATE_WARN },
        { "the work is shorter", 0, -100, 0, TG_STATE_PASS },
        { "the work is shorter by less", 0, -99, 0, TG_STATE_WARN },
        { "the step is shorter", 0, 0, -50, TG_STATE_PASS },
        { "the step is shorter, and communication longer", 200, 0, -50, TG_STATE_WARN },
    };
    h->rule.metric = tg_rule_metric_of(TG_METRIC_COMM_EXPOSED);
    h->rule.warn = hand_limit(h, TG_BOUND_PCT, 3);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int more[] = { 100, rows[i].comm, rows[i].work, rows[i].step };
        static const enum tg_metric of[] = { TG_METRIC_COMM_EXPOSED, TG_METRIC_COMM_TIME,
                                             TG_METRIC_COMPUTE_TIME, TG_METRIC_STEP_TIME };
        for (size_t k = 0; k < 4; k++) {
            struct tg_metric_change *m = &h->c.metrics[of[k]];
            m->ev = hand_evidence(2000000, more[k] / 2000.);
            m->ev.less = more[k] < 0;
            for (int side = 0; side < 2; side++) {
                m->known[side] = true;
                m->value[side] = 2000000 + side * 1000 * more[k];
            }
        }
        h->rule.fail = (struct tg_limit_list){ .state = TG_LIMIT_UNSET };
        if (hand_judge(h, NULL)->state != rows[i].want)
            fail_msg("%s", rows[i].what);
        h->rule.fail = h->rule.warn; /* as the policy's own limit it warns */
        assert_int_equal(hand_judge(h, NULL)->state,
                         rows[i].want == TG_STATE_PASS ? TG_STATE_WARN : TG_STATE_FAIL);
    }
}

/* Its device's part is longer, which a host that does less makes up for. */
WITH_HAND(no_part_of_a_faster_step_fails)
{
    struct tg_metric_change *extent = &h->c.metrics[TG_METRIC_DEVICE_EXTENT];
    rule(h, tg_rule_metric_of(TG_METRIC_DEVICE_EXTENT), hand_auto(h));
    extent->ev = hand_evidence(1000000, 0.2);
    extent->known[TG_BASE] = extent->known[TG_TEST] = true;
    assert_int_equal(hand_judge(h, NULL)->state, TG_STATE_FAIL);
    h->c.metrics[TG_METRIC_STEP_TIME].ev.less = true;
    assert_int_equal(hand_judge(h, NULL)->state, TG_STATE_WARN);
    assert_int_equal(h->e.results[1].because, TG_REASON_REPAID);
}

/* Bytes that only the baseline says are no pass: nothing to compare.
 * Another metric has no say there. */
WITH_HAND(bytes_that_only_the_baseline_says)
{
    struct tg_op copy = hand_op("Memcpy HtoD", TG_KIND_MEMCPY);
    copy.bytes_known[TG_BASE] = true;
    copy.bytes[TG_BASE] = 4096;
    rule(h, TG_RULE_METRIC_BYTES, hand_limit(h, TG_BOUND_ABS, 0));
    assert_int_equal(hand_judge(h, &copy)->state, TG_STATE_INCONCLUSIVE);
    h->rule.optional = true;
    assert_int_equal(hand_judge(h, &copy)->state, TG_STATE_INCONCLUSIVE);
    h->rule.unjudged_note = true;
    assert_int_equal(hand_judge(h, &copy)->state, TG_STATE_WARN);
    copy.bytes[TG_BASE] = 0; /* it moved nothing */
    assert_null(hand_judge(h, &copy));
    copy.bytes[TG_BASE] = 4096;
    copy.bytes_known[TG_BASE] = false;
    assert_null(hand_judge(h, &copy));
    copy.bytes_known[TG_BASE] = true;
    copy.present[TG_TEST] = false; /* no longest call either */
    rule(h, TG_RULE_METRIC_MAX, hand_limit(h, TG_BOUND_ABS, 0));
    assert_null(hand_judge(h, &copy));
}

/* The numbers of a finding about own time are what tables show: those that it was decided by. */
WITH_HAND(a_finding_tells_its_evidence)
{
    struct tg_op ops[] = { hand_op("aten::mm", TG_KIND_OP), hand_op("gemm", TG_KIND_KERNEL) };
    hand_ops(h, ops, 2);
    for (int i = 0; i < 2; i++)
        ops[i].ev = ops[i].ev_total = hand_evidence(100000, 0.5);

    rule(h, TG_RULE_METRIC_SELF, hand_limit(h, TG_BOUND_PCT, 60)); /* not exceeded */
    (void)hand_judge(h, &ops[0]);
    assert_null(ops[0].reported);
    rule(h, TG_RULE_METRIC_TOTAL, hand_limit(h, TG_BOUND_PCT, 10)); /* inclusive time of the host */
    (void)hand_judge(h, &ops[0]);
    assert_null(ops[0].reported);
    (void)hand_judge(h, &ops[1]); /* on the device that is its own time */
    assert_ptr_equal(ops[1].reported, &ops[1].ev);
    rule(h, TG_RULE_METRIC_SELF, hand_limit(h, TG_BOUND_PCT, 10));
    (void)hand_judge(h, &ops[0]);
    assert_ptr_equal(ops[0].reported, &ops[0].ev);
}

WITH_HAND(what_tells_nothing)
{
    struct tg_op ops[] = { hand_op("aten::mm", TG_KIND_OP) },
                 frame = hand_op("Linear", TG_KIND_MODULE);
    hand_ops(h, ops, 1);
    h->c.frame_sorts[0] = h->c.frame_sorts[1] = ~0u;
    rule(h, TG_RULE_METRIC_SELF, hand_limit(h, TG_BOUND_MAX, 10)); /* a budget: as recorded */
    ops[0].ev = hand_evidence(100000, 0.5);
    ops[0].self[TG_TEST] = 150000;
    assert_int_equal(hand_judge(h, &ops[0])->state, TG_STATE_FAIL);
    assert_null(ops[0].reported);
    rule(h, TG_RULE_METRIC_SELF, hand_auto(h)); /* suspicious: not by what was compared */
    ops[0].ev = (struct tg_evidence){ .why_not = TG_NOT_FEW_RUNS, .suspicious = true, .e = 0.5 };
    ops[0].self[TG_BASE] = 100000;
    assert_int_equal(hand_judge(h, &ops[0])->state, TG_STATE_SUSPICIOUS);
    assert_null(ops[0].reported);
    frame.ev = hand_evidence(100000, 0.5); /* of no operator in the tables */
    rule(h, TG_RULE_METRIC_SELF, hand_limit(h, TG_BOUND_PCT, 10));
    h->c.frames = &frame;
    h->c.n_frames = 1;
    assert_int_equal(hand_judge(h, &frame)->state, TG_STATE_FAIL);
    assert_null(frame.reported);
}

/* Of many ranks what passes needs no words. */
WITH_HAND(passes_of_many_ranks_say_nothing)
{
    struct tg_op op = hand_op("aten::mm", TG_KIND_OP);
    rule(h, TG_RULE_METRIC_COUNT, hand_limit(h, TG_BOUND_ABS, 0));
    hand_text(hand_judge(h, &op)->message, "called 1 time per step, was 1 (+0)");
    h->e.brief = true;
    hand_text(hand_judge(h, &op)->message, "");
    op.change = TG_MORE;
    op.count[TG_TEST] = 2;
    hand_text(hand_judge(h, &op)->message, "called 2 times per step, was 1 (+1)");
}

/* ---- the whole trace ---- */

static struct tg_metric_change *busy(struct hand *h)
{
    struct tg_metric_change *m = &h->c.metrics[TG_METRIC_GPU_BUSY];
    m->known[0] = m->known[1] = true;
    m->mean.why_not = TG_NOT_ONE_SIDED;
    return m;
}

/* The least of the steps is the same; their mean is 30 % more. */
WITH_HAND(a_size_of_its_own_asks_the_mean)
{
    struct tg_metric_change *m = busy(h);
    m->ev = hand_evidence(100000, 0);
    m->mean = hand_evidence(110000, 0.3);
    rule(h, tg_rule_metric_of(TG_METRIC_GPU_BUSY), hand_limit(h, TG_BOUND_PCT, 20));
    assert_int_equal(hand_judge(h, NULL)->state, TG_STATE_FAIL);
    assert_true(h->e.results[0].base == 110000); /* the values of what exceeds it */
    rule(h, tg_rule_metric_of(TG_METRIC_GPU_BUSY), hand_limit(h, TG_BOUND_PCT, 40));
    assert_int_equal(hand_judge(h, NULL)->state, TG_STATE_PASS);
    assert_true(h->e.results[1].base == 100000);
    rule(h, tg_rule_metric_of(TG_METRIC_GPU_BUSY), hand_auto(h)); /* asks the noise rule alone */
    assert_int_equal(hand_judge(h, NULL)->state, TG_STATE_PASS);
    rule(h, tg_rule_metric_of(TG_METRIC_GPU_BUSY), hand_limit(h, TG_BOUND_PCT, 20));
    h->rule.noise.test = TG_NOISE_NONE; /* the bare limit, on what is compared */
    assert_int_equal(hand_judge(h, NULL)->state, TG_STATE_PASS);
    h->rule.noise.test = TG_NOISE_RUNS;
    m->ev.why_not = TG_NOT_BUSY; /* what is not judged, no estimate judges */
    assert_int_equal(hand_judge(h, NULL)->state, TG_STATE_NOT_JUDGED);
}

/* Both are exceeded, the mean by a failing limit: the worst holds. */
WITH_HAND(the_worst_estimate_holds)
{
    struct tg_metric_change *m = busy(h);
    m->ev = hand_evidence(100000, 0.1);
    m->mean = hand_evidence(110000, 0.3);
    rule(h, tg_rule_metric_of(TG_METRIC_GPU_BUSY), hand_limit(h, TG_BOUND_PCT, 20));
    h->rule.warn = hand_limit(h, TG_BOUND_PCT, 5);
    assert_int_equal(hand_judge(h, NULL)->state, TG_STATE_FAIL);
    assert_true(h->e.results[0].base == 110000);
    h->rule.fail = hand_limit(h, TG_BOUND_PCT, 50);
    assert_int_equal(hand_judge(h, NULL)->state, TG_STATE_WARN);
    assert_true(h->e.results[1].base == 100000); /* as bad: the first stays */
}

/* A budget asks the fresh side alone, so it needs no baseline; a change needs both. */
WITH_HAND(a_budget_of_a_metric_that_the_baseline_lacks)
{
    struct tg_metric_change *m = busy(h);
    m->known[TG_BASE] = false;
    m->value[TG_BASE] = 777;
    m->value[TG_TEST] = 60000;
    m->ev.why_not = TG_NOT_ONE_SIDED;
    rule(h, tg_rule_metric_of(TG_METRIC_GPU_BUSY), hand_limit(h, TG_BOUND_MAX, 50000));
    assert_int_equal(hand_judge(h, NULL)->state, TG_STATE_FAIL);
    assert_true(isnan(h->e.results[0].base));
    hand_text(h->e.results[0].message, "60.0 us per step, 10.0 us over the limit of as written");
    rule(h, tg_rule_metric_of(TG_METRIC_GPU_BUSY), hand_limit(h, TG_BOUND_MAX, 60000));
    assert_int_equal(hand_judge(h, NULL)->state, TG_STATE_PASS);
    rule(h, tg_rule_metric_of(TG_METRIC_GPU_BUSY), hand_limit(h, TG_BOUND_PCT, 10));
    assert_int_equal(hand_judge(h, NULL)->state, TG_STATE_INCONCLUSIVE);
    m->known[TG_BASE] = true;
    m->known[TG_TEST] = false; /* a budget of what the fresh side lacks */
    rule(h, tg_rule_metric_of(TG_METRIC_GPU_BUSY), hand_limit(h, TG_BOUND_MAX, 1));
    assert_int_equal(hand_judge(h, NULL)->state, TG_STATE_INCONCLUSIVE);
    assert_int_equal(h->e.results[3].metric, tg_rule_metric_of(TG_METRIC_GPU_BUSY));
    h->rule.optional = true;
    assert_int_equal(hand_judge(h, NULL)->state, TG_STATE_SKIP);
}

WITH_HAND(a_rank_of_a_metric_is_named)
{
    busy(h)->ev = hand_evidence(100000, 0);
    rule(h, tg_rule_metric_of(TG_METRIC_GPU_BUSY), hand_limit(h, TG_BOUND_PCT, 20));
    hand_text(hand_judge(h, NULL)->op_normalised, "gpu_busy");
    h->e.rank = 3;
    hand_text(hand_judge(h, NULL)->op_normalised, "gpu_busy [rank 3]");
    h->e.brief = true;
    hand_text(hand_judge(h, NULL)->op_normalised, "gpu_busy");
}

/* ---- between operators ---- */

static void step_of(struct hand *h, double more)
{
    h->c.step = hand_op("ProfilerStep", TG_KIND_STEP);
    h->c.step.ev = hand_evidence(100000, more);
    h->c.step.ev_total = (struct tg_evidence){ .why_not = TG_NOT_WAIT };
    h->c.metrics[TG_METRIC_STEP_TIME].ev = hand_evidence(1000000, 0);
}

/* The rows of a rule about the step but that of the whole, which comes first. */
static size_t gaps(struct hand *h)
{
    size_t before = h->e.n;
    tg_rule_judge_part(&h->e, &h->rule, &h->c, -1);
    memmove(&h->e.results[before], &h->e.results[before + 1],
            (--h->e.n - before) * sizeof *h->e.results);
    return h->e.n - before;
}

/* The gaps of the step have a line, whatever they are. */
WITH_HAND(the_gaps_of_the_step_have_a_line)
{
    rule(h, TG_RULE_METRIC_STEP_TIME, hand_auto(h));
    step_of(h, 0);
    assert_int_equal(gaps(h), 1);
    assert_int_equal(h->e.results[0].state, TG_STATE_PASS);
    assert_int_equal(h->e.results[0].subject, TG_SUBJECT_STEP);
    hand_text(h->e.results[0].op, "ProfilerStep");
    hand_text(tg_result_kind(&h->e.results[0]), "step");
    step_of(h, 0.5);
    assert_int_equal(gaps(h), 1);
    assert_int_equal(h->e.results[1].state, TG_STATE_FAIL);
    assert_true(h->e.results[1].weight == 50000);
}

/* Not judged: no line, unless it is suspicious. */
WITH_HAND(gaps_without_evidence)
{
    rule(h, TG_RULE_METRIC_STEP_TIME, hand_auto(h));
    step_of(h, 0.5);
    h->c.step.ev.why_not = TG_NOT_FEW_RUNS;
    assert_int_equal(gaps(h), 0);
    h->c.step.ev.suspicious = true;
    assert_int_equal(gaps(h), 1);
    assert_int_equal(h->e.results[0].state, TG_STATE_SUSPICIOUS);
}

/* 10 % of a step of 1 ms is 100 us. The gaps were 100 us: 60 us more are 60 % of them, 6 % of the
 * step. With `auto` the gaps are judged by themselves. */
WITH_HAND(a_size_of_step_time_is_one_of_the_step)
{
    step_of(h, 0.6);
    rule(h, TG_RULE_METRIC_STEP_TIME, hand_limit(h, TG_BOUND_PCT, 10));
    assert_int_equal(gaps(h), 1);
    assert_int_equal(h->e.results[0].state, TG_STATE_PASS);
    rule(h, TG_RULE_METRIC_STEP_TIME, hand_limit(h, TG_BOUND_PCT, 5));
    (void)gaps(h);
    assert_int_equal(h->e.results[1].state, TG_STATE_FAIL);
    rule(h, TG_RULE_METRIC_STEP_TIME, hand_auto(h));
    (void)gaps(h);
    assert_int_equal(h->e.results[2].state, TG_STATE_FAIL);
    rule(h, TG_RULE_METRIC_STEP_TIME, hand_limit(h, TG_BOUND_ABS, 50000));
    (void)gaps(h);
    assert_int_equal(h->e.results[3].state, TG_STATE_FAIL);
    rule(h, TG_RULE_METRIC_STEP_TIME, hand_limit(h, TG_BOUND_ABS, 70000));
    (void)gaps(h);
    assert_int_equal(h->e.results[4].state, TG_STATE_PASS);
}

/* A step that provably takes less time repays its gaps. */
WITH_HAND(gaps_of_a_faster_step_warn)
{
    for (int repaid = 0; repaid < 2; repaid++) {
        step_of(h, 0.5);
        h->c.step.repaid = repaid;
        rule(h, TG_RULE_METRIC_STEP_TIME, hand_limit(h, TG_BOUND_PCT, 3));
        h->e.n = 0;
        (void)gaps(h);
        assert_int_equal(h->e.results[0].state, repaid ? TG_STATE_WARN : TG_STATE_FAIL);
    }
}

/* The gaps grow by 50 us: half of that, 25 us, decides. `longer` ns and `se` are of the host's step
 * of 1 ms. */
WITH_HAND(gaps_of_a_step_that_is_as_long_only_warn)
{
    static const struct {
        const char *what;
        double longer, se;
        bool unknown;
        enum tg_state want;
    } rows[] = {
        { "as long", .want = TG_STATE_WARN },
        { "longer by less than half", 24999, .want = TG_STATE_WARN },
        { "longer by half", 25001, .want = TG_STATE_FAIL },
        { "two errors are less than half", .se = 0.0123, .want = TG_STATE_WARN },
        { "two errors are more", .se = 0.0124, .want = TG_STATE_FAIL },
        { "the host's step is not known", .unknown = true, .want = TG_STATE_FAIL },
    };
    struct tg_metric_change *host = &h->c.metrics[TG_METRIC_HOST_TIME];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        step_of(h, 0.5);
        h->c.step.ev_total = hand_evidence(1000000, 0.05); /* as much more */
        host->ev = hand_evidence(1000000, rows[i].longer / 1e6);
        host->ev.se = rows[i].se;
        host->known[TG_BASE] = !rows[i].unknown;
        h->c.metrics[TG_METRIC_STEP_TIME].ev = h->c.step.ev_total;
        h->c.metrics[TG_METRIC_STEP_TIME].known[TG_BASE] = true;
        h->c.metrics[TG_METRIC_STEP_TIME].known[TG_TEST] = true;
        for (int side = 0; side < 2; side++)
            host->value[side] = h->c.metrics[TG_METRIC_STEP_TIME].value[side] =
                side ? 1050000 : 1000000;
        rule(h, TG_RULE_METRIC_STEP_TIME, hand_limit(h, TG_BOUND_PCT, 3));
        h->e.n = 0;
        (void)gaps(h);
        (void)hand_judge(h, NULL);
        for (size_t k = 0; k < 2; k++)
            if (h->e.results[k].state != rows[i].want)
                fail_msg("%s: %zu: state %d", rows[i].what, k, h->e.results[k].state);
        assert_int_equal(tg_sv_has(h->e.results[1].evidence, TG_SV("takes as long as before")),
                         rows[i].want == TG_STATE_WARN);
        /* Nor does it excuse what is between the steps. */
        host->value[TG_TEST] = 1000000;
        assert_int_equal(hand_judge(h, NULL)->state, TG_STATE_FAIL);
        /* The host's alone: nothing of this excuses a device's step. */
        h->c.step.ev_total.why_not = TG_NOT_WAIT;
        assert_int_equal(hand_judge(h, NULL)->state, TG_STATE_FAIL);
    }
    h->c.step.ev_total.why_not = TG_JUDGED;
    h->c.metrics[TG_METRIC_STEP_TIME].ev = hand_evidence(1000000, 0); /* nothing grew */
    host->known[TG_BASE] = true;
    rule(h, TG_RULE_METRIC_STEP_TIME, hand_limit(h, TG_BOUND_PCT, 3));
    assert_int_equal(hand_judge(h, NULL)->state, TG_STATE_PASS);
}

static struct tg_op *annotations(struct hand *h, double more)
{
    struct tg_op *op = TG_NEW_N(h->a, struct tg_op, 1);
    op[0] = hand_op("## forward ##", TG_KIND_ANNOTATION);
    op[0].ev = hand_evidence(100000, more / 100000);
    hand_ops(h, op, 1);
    return op;
}

/* The gaps got 50 us slower: an annotation that holds more than half of that is named. */
WITH_HAND(an_annotation_that_holds_most_of_a_slower_step)
{
    struct tg_op *op;
    rule(h, TG_RULE_METRIC_STEP_TIME, hand_auto(h));
    step_of(h, 0.5);
    (void)annotations(h, 26000);
    assert_int_equal(gaps(h), 2);
    assert_int_equal(h->e.results[1].state, TG_STATE_FAIL);
    hand_text(h->e.results[1].op, "## forward ##");
    hand_text(tg_result_kind(&h->e.results[1]), "annotation");
    (void)annotations(h, 25000); /* half of it */
    assert_int_equal(gaps(h), 1);
    op = annotations(h, 26000);
    op->kind = TG_KIND_OP; /* has a rule of its own */
    assert_int_equal(gaps(h), 1);
    op = annotations(h, 26000);
    op->ev.slower = false; /* not by the noise rule */
    assert_int_equal(gaps(h), 1);
    (void)annotations(h, 26000);
    rule(h, TG_RULE_METRIC_STEP_TIME,
         hand_limit(h, TG_BOUND_PCT, 10)); /* of the step: 2.6 %, no line */
    assert_int_equal(gaps(h), 1);
}

/* Which got slower: the gaps, the step of the host, or step_time. Not what only looks slower. */
WITH_HAND(what_the_step_lost_is_the_most_of_three)
{
    struct tg_evidence *const ev[] = { &h->c.step.ev, &h->c.step.ev_total,
                                       &h->c.metrics[TG_METRIC_STEP_TIME].ev };
    rule(h, TG_RULE_METRIC_STEP_TIME, hand_auto(h));
    (void)annotations(h, 26000);
    for (size_t i = 0; i < 3; i++) {
        step_of(h, 0);
        *ev[i] = hand_evidence(500000, 0.1);
        assert_int_equal(gaps(h), 2);
        ev[i]->slower = false;
        assert_int_equal(gaps(h), 1);
    }
    step_of(h, 0.5);
    h->c.step.ev_total = hand_evidence(500000, 0.11); /* 55 us: 26 is less than half of it */
    assert_int_equal(gaps(h), 1);
}
