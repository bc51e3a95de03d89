/* Headline and coverage of a verdict (describe_verdict.c).
 * The forms are those of docs/reports.md. */
#include "by_hand.h"
#include "policy/verdict/internal.h"

static const struct tg_bound one = { .kind = TG_BOUND_MAX, .value = 1, .text = { "1", 1 } };

static void described(struct hand *h)
{
    h->c.marked[0] = h->c.marked[1] = true;
    h->v.comparison = &h->c;
    hand_regions(h);
    tg_describe_verdict(&h->v, h->a);
}

static void headed(struct hand *h, const char *want)
{
    described(h);
    hand_text(h->v.headline, want);
}

static void covered(struct hand *h, const char *want)
{
    described(h);
    hand_text(h->v.coverage, want);
}

static void one_fails(struct hand *h, const char *want)
{
    headed(h, tg_arena_printf(h->a, "FAIL: 1 violation: %s", want));
}

/* As it is once causes are found. */
static void headed_again(struct hand *h, const char *want)
{
    hand_regions(h);
    tg_describe_headline(&h->v, h->a);
    hand_text(h->v.headline, want);
}

static void failing(struct hand *h, struct tg_result *v, size_t n)
{
    h->v = (struct tg_verdict){
        .outcome = TG_OUTCOME_FAIL, .results = v, .n_results = n, .comparison = &h->c
    };
}

/* What the headline says of one failure. */
static void headline(struct hand *h, struct tg_result row, const char *want)
{
    failing(h, &row, 1);
    one_fails(h, want);
}

/* How much, in the words of what it is. */
WITH_HAND(how_much)
{
    struct tg_cause_frame f = { .text = TG_SV("Block.forward") };
    struct tg_cause cause = { .function = &f, .share = 1 };
    struct tg_result r = hand_row("aten::mm", 2);
    headline(h, r, "aten::mm +2 calls");
    r.subject = TG_SUBJECT_STEP; /* the gaps; by its total it is the step itself */
    r.unit_id = TG_UNIT_NS;
    r.unit = TG_SV("ns");
    r.metric = TG_RULE_METRIC_SELF;
    headline(h, r, "host time between operators +200 % (+2 ns)");
    r.metric = TG_RULE_METRIC_TOTAL;
    headline(h, r, "aten::mm +200 % (+2 ns)");
    r = hand_row("aten::mm", 2);
    r.delta = 1;
    headline(h, r, "aten::mm +1 call");
    r.subject = TG_SUBJECT_TRACE;
    headline(h, r, "aten::mm +1");
    r.over_budget = true;
    r.bound = &one;
    headline(h, r, "aten::mm 3, over the limit of 1");
    r.was_over = true;
    headline(h, r, "aten::mm 3, over the limit of 1 (the baseline was, too)");
    r.unit_id = TG_UNIT_NS; /* what it changed by is not what is wrong */
    r.delta = -2;
    r.delta_pct = -40;
    headline(h, r, "aten::mm 3 ns, over the limit of 1 (the baseline was, too)");
    r.unit_id = TG_UNIT_COUNT;
    r.was_over = false;
    r.bound = NULL;
    r.limit = TG_SV("max: 1, min: 0");
    headline(h, r, "aten::mm 3 (max: 1, min: 0)");
    r = hand_row("aten::mm", 2);
    r.unit_id = TG_UNIT_NS;
    r.delta = 5000;
    r.delta_pct = 50;
    headline(h, r, "aten::mm +50 % (+5.00 us)");
    r.delta_pct = NAN;
    headline(h, r, "aten::mm +5.00 us");
    r.delta = NAN; /* unknown in the baseline */
    headline(h, r, "aten::mm ");
    r.delta_pct = 50;
    r.unit_id = TG_UNIT_PERCENT;
    r.test = 12.34;
    headline(h, r, "aten::mm 12.3 %");
    r.has_values = false;
    r.unit_id = TG_UNIT_ATTR;
    r.attrs = TG_SV("registers 128 -> 255");
    headline(h, r, "aten::mm registers 128 -> 255");
    r.attrs = TG_SV("registers 128 -> 255 and then some of its parts");
    headline(h, r, "aten::mm registers 128 -> 255 and then some of it…");
    r.attrs = TG_SV("");
    headline(h, r, "aten::mm");
    r.unit_id = TG_UNIT_COUNT; /* a guard: its words are below */
    r.message = TG_SV("the fresh side is empty");
    headline(h, r, "aten::mm");
    r.unit_id = TG_UNIT_NS; /* a budget without a former value: no change, and no place of it */
    r.cause = &cause;
    headline(h, r, "aten::mm");
    h->v.results = &r;
    headed_again(h, "FAIL: 1 violation: aten::mm");
}

/* A metric whose name says little; a budget is told by the name that the policy has. */
WITH_HAND(the_device_has_a_part_of_the_step)
{
    struct tg_result r = hand_row("device_extent", 2);
    r.subject = TG_SUBJECT_TRACE;
    r.metric = tg_rule_metric_of(TG_METRIC_DEVICE_EXTENT);
    r.unit_id = TG_UNIT_NS;
    r.delta = 5000;
    r.delta_pct = 50;
    headline(h, r, "the device's extent +50 % (+5.00 us)");
    r.over_budget = true;
    r.bound = &one;
    headline(h, r, "device_extent 3 ns, over the limit of 1");
}

/* One finding: what its calls cost, with what is told with it, each operator once;
 * and where it is. */
WITH_HAND(what_a_finding_costs)
{
    struct tg_op ops[3];
    struct tg_result v[] = { hand_row("a", 2), hand_row("k", 2), hand_row("k", 2) };
    struct tg_cause_frame f = { .text = TG_SV("Block.forward") };
    struct tg_cause cause = { .function = &f, .share = 0.6 };
    ops[0] = hand_op("a", TG_KIND_OP);
    ops[1] = hand_op("k", TG_KIND_KERNEL);
    ops[2] = hand_op("other", TG_KIND_KERNEL);
    hand_ops(h, ops, 3);
    for (size_t i = 0; i < 3; i++) {
        ops[i].self[TG_BASE] = 1000;
        ops[i].self[TG_TEST] = 3000.0 * (double)(i + 1); /* +2, +5, +8 us */
    }
    v[1].op_kind = v[2].op_kind = TG_KIND_KERNEL;
    v[1].folded_under = v[2].folded_under = 0;
    failing(h, v, 3);
    one_fails(h, "a +2 calls (+5.00 us on the device)");
    v[1].folded_under = v[2].folded_under = TG_NO_ID;
    v[1].state = v[2].state = TG_STATE_PASS;
    one_fails(h, "a +2 calls (+2.00 us on the host)");
    /* From 1 to 3 us in the usual runs, and a baseline run of 4: none of the fresh ones was as fast
     * as the usual one before. Once one was, the runs are among each other, and no cost is said. */
    ops[0].self_most[TG_BASE] = ops[0].self_most[TG_TEST] = 4000;
    ops[0].self_least[TG_TEST] = 1100;
    one_fails(h, "a +2 calls (+2.00 us on the host)");
    assert_true(v[0].whole_known && v[0].whole_ns[TG_BASE] == 1000 &&
                v[0].whole_ns[TG_TEST] == 3000);
    ops[0].self_least[TG_TEST] = 900;
    one_fails(h, "a +2 calls");
    assert_false(v[0].whole_known);
    ops[0].self_least[TG_TEST] = 1100;
    ops[0].wait = true;
    one_fails(h, "a +2 calls (the host waits 2.00 us in it)");
    ops[0].wait = false;
    ops[0].self[TG_BASE] = ops[0].self[TG_TEST];
    one_fails(h, "a +2 calls");
    v[0].cause = &cause;
    headed_again(h, "FAIL: 1 violation: a +2 calls in Block.forward");
    cause.share = 0.4; /* too little of it */
    headed_again(h, "FAIL: 1 violation: a +2 calls");
    v[1].state = TG_STATE_FAIL; /* two findings */
    cause.share = 1;
    headed_again(h, "FAIL: 2 violations: a +2 calls, k +2 calls");
}

/* An operator with a copy: +105 us on the host, +12 us on the device. The cost is that of the side
 * that the step waits for, and the other one is told beside it. */
WITH_HAND(the_cost_is_of_the_side_that_sets_the_pace)
{
    struct tg_op ops[] = { hand_op("aten::clone", TG_KIND_OP), hand_op("copy", TG_KIND_MEMCPY),
                           hand_op("cudaStreamSynchronize", TG_KIND_SYNC) };
    struct tg_result v[] = { hand_row("aten::clone", 3), hand_row("copy", 3) };
    struct tg_metric_change *step = &h->c.metrics[TG_METRIC_STEP_TIME];
    struct tg_metric_change *busy = &h->c.metrics[TG_METRIC_GPU_BUSY];
    ops[0].self[TG_TEST] = 105000;
    ops[1].self[TG_TEST] = 12000;
    ops[2].wait = true;
    hand_ops(h, ops, 3);
    v[1].op_kind = TG_KIND_MEMCPY;
    v[1].folded_under = 0;
    failing(h, v, 2);
    described(h); /* times of a step are not known: device */
    hand_text(h->v.headline, "FAIL: 1 violation: aten::clone +3 calls (+12.0 us on the device)");
    step->known[TG_TEST] = busy->known[TG_TEST] = true;
    step->value[TG_TEST] = 800000;
    busy->value[TG_TEST] = 100000;
    one_fails(h, "aten::clone +3 calls (+105 us on the host)");
    ops[1].self[TG_TEST] = 0; /* nothing on the device */
    one_fails(h, "aten::clone +3 calls (+105 us on the host)");
    ops[1].self[TG_TEST] = 12000;
    busy->value[TG_TEST] = 500000; /* of 800: the host works 300, waits 500 */
    ops[2].self[TG_BASE] = ops[2].self[TG_TEST] = 500000;
    one_fails(h, "aten::clone +3 calls (+12.0 us on the device)");
    /* The step grew by it all the same: it comes after the wait. */
    h->c.wall_ns[TG_TEST] = h->c.wall_ns[TG_BASE] + 110000;
    one_fails(h, "aten::clone +3 calls (+117 us on host and device)");
    h->c.wall_ns[TG_TEST] = h->c.wall_ns[TG_BASE];
    ops[2].self[TG_BASE] = ops[2].self[TG_TEST] = 0; /* no wait with a call of its own, */
    one_fails(h, "aten::clone +3 calls (+105 us on the host)");
    busy->value[TG_TEST] = 650000; /* but the device is busy for more than three quarters */
    one_fails(h, "aten::clone +3 calls (+12.0 us on the device)");
}

/* A cost is that of calls of a name in one finding, told once,
 * and not of what came in their place. */
WITH_HAND(what_has_a_cost)
{
    struct tg_op ops[2] = { hand_op("a", TG_KIND_OP), hand_op("k", TG_KIND_KERNEL) };
    struct tg_result v[] = { hand_row("k", 2), hand_row("a", 2), hand_row("k", 2) };
    struct tg_cause cause = { .share = 1 };
    hand_ops(h, ops, 2);
    ops[0].self[TG_TEST] = 2000;
    ops[1].self[TG_TEST] = 5000;
    v[0].op_kind = v[2].op_kind = TG_KIND_KERNEL;
    v[0].state = TG_STATE_PASS; /* another rule's row of the same name is not of this finding */
    v[2].folded_under = 1;
    v[1].cause = &cause; /* a place without a function */
    failing(h, v, 3);
    headed_again(h, "FAIL: 1 violation: a +2 calls (+5.00 us on the device)");
    v[1].subject = TG_SUBJECT_TRACE;
    one_fails(h, "a +2");
    v[1].subject = TG_SUBJECT_NAME;
    v[1].over_budget = true;
    v[1].bound = &one;
    one_fails(h, "a 3, over the limit of 1");
}

/* A new name had no time before, its former one had. */
WITH_HAND(a_rename)
{
    struct tg_op ops[] = { hand_op("aten::gelu", TG_KIND_OP), hand_op("aten::tanh", TG_KIND_OP) };
    struct tg_result v = hand_row("aten::gelu", 2);
    v.base = 0;
    ops[0].self[TG_TEST] = 1630;
    ops[1].self[TG_BASE] = 1270;
    hand_ops(h, ops, 2);
    failing(h, &v, 1);
    described(h);
    assert_true(v.whole_ns[TG_BASE] == 0 && v.whole_ns[TG_TEST] == 1630);
    ops[0].relation = ops[1].relation = TG_REL_RENAMED;
    ops[0].partner = 1;
    ops[1].partner = 0;
    one_fails(h, "aten::gelu +2 calls (+360 ns on the host)");
    assert_true(v.whole_ns[TG_BASE] == 1270 && v.whole_ns[TG_TEST] == 1630);
}

/* What came in the place of others is told with them; it costs what came less what went. */
WITH_HAND(a_replacement)
{
    const struct tg_evidence pooled = { .pooled = 3 };
    struct tg_op ops[] = { hand_op("aten::gelu", TG_KIND_OP), hand_op("aten::mul", TG_KIND_OP),
                           hand_op("aten::erf", TG_KIND_OP), hand_op("gelu_kernel", TG_KIND_KERNEL),
                           hand_op("mul_kernel", TG_KIND_KERNEL) };
    struct tg_region region = { .calls = { 4, 12 } };
    struct tg_result r = hand_row("aten::mul", 8);
    for (int i = 0; i < 5; i++) {
        bool went = i == 0 || i == 3;
        ops[i].change = went ? TG_REMOVED : TG_ADDED;
        ops[i].region = i < 3 ? 0 : TG_NO_ID;
        ops[i].relation = i == 1 || i == 2 ? TG_REL_REPLACED_WORSE : TG_REL_NONE;
        ops[i].self[went ? TG_BASE : TG_TEST] = 1000.0 * (10 - i); /* 10, 9, 8; 7 and 6 us */
    }
    ops[3].parent = ops[0].name;
    ops[4].parent = ops[1].name;
    hand_ops(h, ops, 5);
    h->c.regions = &region;
    h->c.n_regions = 1;
    headline(h, r, "aten::mul, aten::erf instead of aten::gelu: +8 calls (+7.00 us on the host)");
    ops[4].self[TG_TEST] = 9000; /* 9 - 7 on the device, which is told where it has work */
    headline(h, r, "aten::mul, aten::erf instead of aten::gelu: +8 calls (+2.00 us on the device)");
    r.unit_id = TG_UNIT_NS;
    r.ev = &pooled;
    headline(h, r, "aten::mul, aten::erf instead of aten::gelu: +800 % (+8 ns)");
    ops[0].count[TG_BASE] = 10; /* the others are as they were */
    ops[2].count[TG_BASE] = 30; /* what came is no part of them, nor is what went elsewhere */
    ops[3].count[TG_BASE] = 50;
    ops[3].region = 1;
    headline(h, r, "aten::mul, aten::erf instead of aten::gelu: +8 ns");
    ops[0].count[TG_BASE] = 1;
    ops[3].region = TG_NO_ID;
    r.ev = NULL; /* its own time */
    headline(h, r, "aten::mul +800 % (+8 ns)");
    r.unit_id = TG_UNIT_COUNT;
    ops[1].relation = TG_REL_REPLACED; /* no more calls than went */
    headline(h, r, "aten::mul +8 calls (+2.00 us on the device)");
    ops[1].relation = TG_REL_REPLACED_WORSE;
    ops[0].change = TG_SAME; /* nothing went */
    headline(h, r, "aten::mul +8 calls (+9.00 us on the device)");
}

/* What follows a finding about calls counts in its share; of a wait, what it means for the step. */
WITH_HAND(what_a_finding_weighs)
{
    struct tg_op ops[] = { hand_op("a", TG_KIND_OP), hand_op("k", TG_KIND_KERNEL),
                           hand_op("wait", TG_KIND_SYNC) };
    struct tg_result v[] = { hand_row("a", 2), hand_row("k", 2), hand_row("wait", 2) };
    const tg_sv said = v[0].message;
    struct tg_metric_change *m = h->c.metrics;
    hand_ops(h, ops, 3);
    h->c.wall_ns[TG_BASE] = h->c.wall_ns[TG_TEST] = 100000;
    for (int i = 0; i < 3; i++) {
        ops[i].self[TG_TEST] = i == 1 ? 4000 : 100;
        ops[i].share[TG_TEST] = ops[i].self[TG_TEST] / 100000;
    }
    ops[2].wait = true;
    v[1].op_kind = TG_KIND_KERNEL;
    v[2].op_kind = TG_KIND_SYNC;
    v[1].folded_under = v[2].folded_under = 0;
    failing(h, v, 3);
    described(h);
    hand_text(v[0].message,
              "called 3 times per step, was 1 (+2, +4.00 us on the device, 4.0 % of the step)");
    ops[2].self[TG_TEST] = 20000; /* the same again: nothing is told twice */
    ops[2].share[TG_TEST] = 0.2;
    m[TG_METRIC_STEP_TIME].known[0] = m[TG_METRIC_STEP_TIME].known[1] = true;
    m[TG_METRIC_GPU_BUSY].known[1] = true;
    m[TG_METRIC_GPU_BUSY].value[1] = 1;
    m[TG_METRIC_STEP_TIME].value[1] = 9999;
    for (int i = 0; i < 2; i++) {
        described(h);
        hand_text(v[0].message, "called 3 times per step, was 1 (+2, the host waits 20.0 us in it, "
                                "20.0 % of the step)");
    }
    ops[1].self[TG_TEST] = 30000; /* the device works longer than the host waits */
    ops[1].share[TG_TEST] = 0.3;
    described(h);
    hand_text(v[0].message,
              "called 3 times per step, was 1 (+2, +30.0 us on the device, 30.0 % of the step)");
    v[1].folded_under = v[2].folded_under = TG_NO_ID;
    v[0].message = said; /* alone it weighs what it says */
    described(h);
    hand_text(v[0].message, said.p);
}

/* The host waits for the device in one place or another: only one that is new in all costs. */
WITH_HAND(a_wait_that_moved)
{
    struct tg_op ops[] = { hand_op("a", TG_KIND_OP),      hand_op("wait", TG_KIND_SYNC),
                           hand_op("less", TG_KIND_SYNC), hand_op("sync", TG_KIND_SYNC),
                           hand_op("more", TG_KIND_SYNC), hand_op("less too", TG_KIND_SYNC),
                           hand_op("work", TG_KIND_OP) };
    struct tg_result v[] = { hand_row("a", 1), hand_row("wait", 1) };
    struct tg_in_caller less = { .self = { 500 }, .least = { 500 }, .most = { 500 } };
    struct tg_in_caller sync = { .self = { 50000 }, .least = { 50000 }, .most = { 50000 } };
    struct tg_metric_change *m = h->c.metrics;
    hand_ops(h, ops, 7);
    ops[2].callers = ops[5].callers = &less;
    ops[3].callers = &sync;
    ops[2].n_callers = ops[3].n_callers = ops[5].n_callers = 1;
    m[TG_METRIC_STEP_TIME].known[0] = m[TG_METRIC_STEP_TIME].known[1] = true;
    m[TG_METRIC_GPU_BUSY].known[1] = true;
    m[TG_METRIC_GPU_BUSY].value[1] = 1;
    h->c.wall_ns[TG_BASE] = h->c.wall_ns[TG_TEST] = 100000;
    for (int i = 1; i < 6; i++)
        ops[i].wait = true;
    ops[1].self[TG_TEST] = 20000;
    ops[1].share[TG_TEST] = 0.2;
    ops[2].self[TG_BASE] = ops[5].self[TG_BASE] = 500;
    ops[3].self[TG_BASE] = 50000;
    ops[4].self[TG_TEST] = 3000; /* waits more, which takes nothing from what another lost */
    ops[6].self[TG_BASE] = 90000;
    v[1].op_kind = TG_KIND_SYNC;
    v[1].folded_under = 0;
    for (int i = 0; i < 2; i++) {
        sync.self[TG_TEST] = sync.most[TG_TEST] = i ? 40000 : 39000; /* half is not enough */
        failing(h, v, 2);
        described(h);
        hand_text(
            v[0].message,
            i ? "called 2 times per step, was 1 (+1, the host waits 20.0 us in it, 20.0 % of the "
                "step)"
              : "called 2 times per step, was 1 (+1, the host waits 20.0 us in it, 11.0 us of it "
                "moved here from sync (50.0 us -> 39.0 us): the host can no longer run ahead of "
                "the device)");
        hand_text(h->v.headline,
                  i ? "FAIL: 1 violation: a +1 call (the host waits 20.0 us in it)"
                    : "FAIL: 1 violation: a +1 call (11.0 us of waiting moved into it)");
    }
}

/* Of what has no weight the sentence stays as it is. */
WITH_HAND(what_is_not_weighed)
{
    enum { BUDGET, FOLDED, FELL, OTHER_NAME, DEVICE, REPLACEMENT, PASSED, WEIGHED, N };
    const tg_sv said = TG_SV("called (+2, 0.1 % of the step)");
    for (int what = 0; what < N; what++) {
        struct tg_op ops[] = { hand_op("a", TG_KIND_OP), hand_op("k", TG_KIND_KERNEL) };
        struct tg_result v[] = { hand_row("a", 2), hand_row("k", 2), hand_row("head", 1) };
        struct tg_region region = { .calls = { 1, 3 } };
        hand_ops(h, ops, 2);
        h->c.regions = &region;
        h->c.n_regions = 1;
        h->c.wall_ns[TG_TEST] = 100000;
        ops[1].self[TG_TEST] = 4000;
        v[1].op_kind = TG_KIND_KERNEL;
        v[1].folded_under = 0;
        v[2].state = TG_STATE_PASS;
        v[0].message = said;
        v[0].over_budget = what == BUDGET;
        if (what == FOLDED)
            v[0].folded_under = 2;
        if (what == FELL)
            v[0].delta = -1;
        if (what == OTHER_NAME)
            v[0].op_normalised = TG_SV("a [rank 1]");
        if (what == DEVICE) {
            v[0].op_kind = ops[0].kind = TG_KIND_MEMCPY;
        }
        if (what == REPLACEMENT) {
            ops[0].change = TG_ADDED;
            ops[0].relation = TG_REL_REPLACED_WORSE;
            ops[0].region = 0;
        }
        if (what == PASSED)
            v[0].state = TG_STATE_PASS;
        failing(h, v, 3);
        described(h);
        if (what == WEIGHED)
            hand_text(
                v[0].message,
                "called 3 times per step, was 1 (+2, +4.00 us on the device, 4.0 % of the step)");
        else if (!tg_sv_eq(v[0].message, said))
            fail_msg("%d: %.*s", what, TG_SV_ARG(v[0].message));
    }
}

/* A name that takes 20 us longer, of a step that takes `more` us longer: more than twice as much is
 * the news, unless the machine may have done it, or a name is called more often. */
WITH_HAND(what_leads_the_headline)
{
    static const struct {
        double more;
        enum tg_reason because;
        enum tg_unit of_name;
        const char *want;
    } rows[] = {
        { 40, TG_REASON_LIMIT, TG_UNIT_NS, "a +20 %, step_time +40 %" },
        { 50, TG_REASON_LIMIT, TG_UNIT_NS, "step_time +50 %, a +20 %" },
        { 50, TG_REASON_BUSY, TG_UNIT_NS, "a +20 %, step_time +50 %" },
        { 50, TG_REASON_LIMIT, TG_UNIT_COUNT, "a +20000 calls, step_time +50 %" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tg_result v[] = { hand_row("a", 20000), hand_row("step_time", 1000 * rows[i].more) };
        v[0].unit_id = rows[i].of_name;
        v[0].delta_pct = 20;
        v[1].subject = TG_SUBJECT_TRACE;
        v[1].metric = TG_RULE_METRIC_STEP_TIME;
        v[1].unit_id = TG_UNIT_NS;
        v[1].delta_pct = rows[i].more;
        v[1].because = rows[i].because;
        failing(h, v, 2);
        described(h);
        TG_BUF said = { 0 };
        tg_sv rest = tg_sv_from(h->v.headline, sizeof "FAIL: 2 violations: " - 1);
        for (tg_sv part = tg_sv_cut(&rest, '('); part.n; part = tg_sv_cut(&rest, '(')) {
            tg_buf_add(&said, (tg_sv){ part.p, part.n - (part.p[part.n - 1] == ' ') });
            (void)tg_sv_cut(&rest, ')'); /* without what it costs */
        }
        hand_text(tg_buf_sv(&said), rows[i].want);
    }
}

/* Renamed kernels of a replacement go with the operator that launches them, and with no other. */
WITH_HAND(work_under_what_came)
{
    static const struct {
        enum tg_kind kind;  /* of what came with the name */
        bool found;         /* by the finding */
        enum tg_change how; /* and its change */
        const char *want;
    } rows[] = {
        { TG_KIND_OP, true, TG_ADDED, "a +2 calls (+4.00 us on the device)" },
        { TG_KIND_OP, true, TG_REMOVED, "a +2 calls (+4.00 us on the device)" },
        { TG_KIND_OP, true, TG_MORE, "a +2 calls" },
        { TG_KIND_OP, false, TG_ADDED, "a +2 calls" },
        { TG_KIND_ANNOTATION, true, TG_ADDED, "a +2 calls" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tg_op ops[] = { hand_op("a", TG_KIND_OP), hand_op("b", rows[i].kind),
                               hand_op("k", TG_KIND_KERNEL) };
        struct tg_result v[] = { hand_row("a", 2), hand_row("b", 2) };
        hand_ops(h, ops, 3);
        ops[1].change = rows[i].how;
        ops[2].change = TG_ADDED;
        ops[2].parent = ops[1].name;
        ops[2].self[TG_TEST] = 4000;
        v[1].op_kind = rows[i].kind;
        v[1].folded_under = rows[i].found ? 0 : TG_NO_ID;
        v[1].state = rows[i].found ? TG_STATE_FAIL : TG_STATE_PASS;
        failing(h, v, 2);
        one_fails(h, rows[i].want);
    }
}

/* Of several ranks one alone: its own number; a budget is about the value. */
WITH_HAND(calls_of_one_rank)
{
    struct tg_rank_shift on = { .rank = 3, .count = { 1, 9 }, .n = 1 };
    struct tg_op op = hand_op("aten::mm", TG_KIND_OP);
    struct tg_result r = hand_row("aten::mm", 2);
    op.count[TG_TEST] = 3;
    op.shift = &on;
    hand_ops(h, &op, 1);
    h->c.n_ranks[TG_TEST] = 4;
    headline(h, r, "aten::mm +8 calls on rank 3 alone");
    op.self[TG_TEST] = 2500; /* the mean of four ranks */
    headline(h, r, "aten::mm +8 calls on rank 3 alone (+10.0 us on the host)");
    r.over_budget = true;
    r.bound = &one;
    headline(h, r, "aten::mm 3, over the limit of 1");
}

/* A call of 10 us, and what came in the same place and holds most of the 60 us: both are said. */
WITH_HAND(a_number_is_of_its_name)
{
    struct tg_op ops[2] = { hand_op("a", TG_KIND_OP), hand_op("b", TG_KIND_OP) };
    for (int most = 0; most < 2; most++) {
        struct tg_result v[] = { hand_row("a", 2), hand_row("b", 2) };
        hand_ops(h, ops, 2);
        ops[0].self[TG_TEST] = ops[0].self[TG_BASE] + (most ? 30000 : 29999);
        ops[1].self[TG_TEST] = ops[1].self[TG_BASE] + 30000;
        v[1].folded_under = 0;
        failing(h, v, 2);
        one_fails(h, most ? "a +2 calls (+60.0 us on the host)"
                          : "a +2 calls (+60.0 us on the host with 1 more name)");
    }
}

/* +60 us on another thread, for which the marker's waits: the step is 64 us longer, and 66 by its
 * gaps. Where it is 126 us longer both are its own. */
WITH_HAND(gaps_tell_what_another_thread_does)
{
    struct tg_op ops[2] = { hand_op("a", TG_KIND_OP), hand_op("ProfilerStep", TG_KIND_STEP) };
    for (int both = 0; both < 2; both++) {
        struct tg_result v[] = { hand_row("a", 2), hand_row("ProfilerStep", 2) };
        hand_ops(h, ops, 2);
        ops[0].self[TG_TEST] = ops[0].self[TG_BASE] + 60000;
        ops[1].self[TG_TEST] = ops[1].self[TG_BASE] + 66000;
        h->c.wall_ns[TG_BASE] = 1000000;
        h->c.wall_ns[TG_TEST] = both ? 1126000 : 1064000;
        v[1].folded_under = 0;
        v[1].op_kind = TG_KIND_STEP;
        v[1].subject = TG_SUBJECT_NAME;
        failing(h, v, 2);
        one_fails(h,
                  both ? "a +2 calls (+126 us on the host)" : "a +2 calls (+66.0 us on the host)");
    }
}

/* Times that are judged together have one row, in which the others are counted. */
WITH_HAND(names_that_are_judged_together)
{
    const struct tg_evidence pooled = { .pooled = 3 }, alone = { .pooled = 0 };
    struct tg_result r = hand_row("aten::mm", 2);
    r.ev = &pooled;
    headline(h, r, "aten::mm +2 calls");
    r.unit_id = TG_UNIT_NS;
    headline(h, r, "aten::mm and 2 more +200 % (+2 ns)");
    r.ev = &alone;
    headline(h, r, "aten::mm +200 % (+2 ns)");
}

/* Three names, the number of the others; consequences are not counted. */
WITH_HAND(names_of_a_headline)
{
    struct tg_result v[] = { hand_row("a", 2), hand_row("b", 2), hand_row("c", 2), hand_row("d", 2),
                             hand_row("e", 2) };
    struct tg_op *op = TG_NEW(h->a, struct tg_op);
    v[1].folded_under = 0;
    failing(h, v, 4);
    headed(h, "FAIL: 3 violations: a +2 calls, c +2 calls, d +2 calls");
    h->v.n_results = 5;
    headed(h, "FAIL: 4 violations: a +2 calls, c +2 calls, d +2 calls and 1 more");
    v[0].state = v[3].state = TG_STATE_WARN;
    headed(h, "FAIL: 2 violations: c +2 calls, e +2 calls");
    h->v.outcome = TG_OUTCOME_WARN;
    headed(h, "WARN: nothing failed, 2 warnings: a +2 calls, d +2 calls");
    v[3].state = TG_STATE_SUSPICIOUS;
    headed(h, "WARN: nothing failed, 1 warning: a +2 calls; 1 suspicious: d +2 calls");
    v[0].state = TG_STATE_PASS;
    headed(h, "WARN: nothing failed, 1 suspicious: d +2 calls");
    h->v.outcome = TG_OUTCOME_PASS;
    headed(h, "PASS: no regression found");
    v[0].needs_runs =
        5; /* a pass says what it could not have found; not of durations that nobody wants */
    v[1].needs_runs = 3;
    headed(h, "PASS: no regression found; durations not judged: record 3 runs a side");
    v[0].needs_runs = v[1].needs_runs = 0;
    h->v.durations_judged = true;
    h->c.metrics[TG_METRIC_STEP_TIME].ev =
        (struct tg_evidence){ .why_not = TG_JUDGED, .mde = 0.54 };
    headed(h, "PASS: no regression found"); /* no rule asks for it */
    *op = hand_op("aten::mm", TG_KIND_OP);
    op->ev = (struct tg_evidence){ .why_not = TG_JUDGED, .mde = 0.42, .value = { 900, 900 } };
    hand_ops(h, op, 1);
    headed(h, "PASS: no regression found; slower operators are detectable from +42 % on "
              "only: record more runs, on an idle machine");
    v[4].subject = TG_SUBJECT_TRACE;
    v[4].metric = TG_RULE_METRIC_STEP_TIME;
    v[4].state = TG_STATE_PASS;
    headed(h, "PASS: no regression found; a slower step is detectable from +54 % on "
              "only: record more runs, on an idle machine");
    h->c.metrics[TG_METRIC_STEP_TIME].ev.mde = 0.24;
    headed(h, "PASS: no regression found");
    h->v.outcome = TG_OUTCOME_INCONCLUSIVE;
    h->v.error = TG_SV("no steps");
    headed(h, "INCONCLUSIVE: no steps");
}

/* What is in the step comes before the step, however much the step grew;
 * a budget is a finding of its own. */
WITH_HAND(the_step_as_a_whole_comes_last)
{
    struct tg_result v[] = { hand_row("step_time", 9), hand_row("b", 2), hand_row("c", 2) };
    v[0].subject = TG_SUBJECT_TRACE;
    failing(h, v, 3);
    headed(h, "FAIL: 3 violations: b +2 calls, c +2 calls, step_time +9");
    v[0].over_budget = true;
    v[0].bound = &one;
    headed(h, "FAIL: 3 violations: step_time 10, over the limit of 1, b +2 calls, c +2 calls");
}

WITH_HAND(long_names_are_cut)
{
    char name[62];
    memset(name, 'x', 61);
    name[61] = '\0';
    headline(h, hand_row(&name[1], 2),
             "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx +2 calls");
    headline(h, hand_row(name, 2),
             "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… +2 calls");
    for (int kernel = 0; kernel < 2; kernel++) { /* the operator that launches it says more */
        struct tg_op ops[] = { hand_op("aten::nonzero", TG_KIND_OP),
                               hand_op(name, kernel ? TG_KIND_KERNEL : TG_KIND_OP) };
        struct tg_result r = hand_row(name, 2);
        ops[1].parent = ops[0].name;
        r.op_kind = ops[1].kind;
        hand_ops(h, ops, 2);
        headline(h, r,
                 kernel ? "a kernel of aten::nonzero +2 calls"
                        : "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… +2 calls");
    }
}

/* ---- coverage ---- */

static void covers(struct hand *h, bool counts, bool asked, bool durations, const char *want)
{
    h->v = (struct tg_verdict){ .counts_judged = counts,
                                .counts_asked = asked,
                                .durations_judged = durations,
                                .min_runs = h->policy.noise.min_runs };
    covered(h, want);
}

/* Of counts and durations that rules ask for; `rest`: after "durations judged: …", or not. */
static void covers_times(struct hand *h, bool judged, const char *rest)
{
    const size_t *n = h->c.n_runs;
    const char *runs = tg_arena_printf(h->a, "judged: %zu baseline runs, %zu fresh run%s", n[0],
                                       n[1], n[1] == 1 ? "" : "s");
    covers(
        h, true, true, judged,
        tg_arena_printf(h->a, "counts judged; durations %s%s", judged ? runs : "not judged", rest));
}

/* 5 and 2 runs; the policy asks for 3, one rule for 6, one for 4. */
WITH_HAND(the_least_number_of_runs_that_would_do)
{
    struct tg_result v[] = { hand_row("a", 2), hand_row("b", 2), hand_row("c", 2) };
    h->c.n_runs[TG_TEST] = 2;
    v[1].needs_runs = 6;
    h->v = (struct tg_verdict){ .results = v, .n_results = 3, .min_runs = 3 };
    covered(h, "counts not judged: no rule asks for them; durations not judged: 5 "
               "baseline runs and 2 fresh, at least 6 a side are needed");
    v[2].needs_runs = 4;
    covered(h, "counts not judged: no rule asks for them; durations not judged: 5 "
               "baseline runs and 2 fresh, at least 4 a side are needed");
    v[2].needs_runs = 7;
    covered(h, "counts not judged: no rule asks for them; durations not judged: 5 "
               "baseline runs and 2 fresh, at least 6 a side are needed");
}

WITH_HAND(coverage_of_counts)
{
    h->c.n_runs[TG_BASE] = h->c.n_runs[TG_TEST] = 3;
    covers(h, true, true, false, "counts judged; durations not judged");
    covers(h, false, true, false, "counts not judged; durations not judged");
    covers(h, false, false, false,
           "counts not judged: no rule asks for them; durations not judged");
    covers(h, true, false, false,
           "counts judged; durations not judged"); /* a rule did, after all */
    h->c.differs = TG_SV("device");
    covers(h, true, true, false,
           "counts judged, but not of kernels; durations not judged: the sides differ in device");
    covers(h, false, true, false,
           "counts not judged; durations not judged: the sides differ in device");
}

/* The first reason that holds. */
WITH_HAND(why_durations_are_not_judged)
{
    h->c.n_runs[TG_BASE] = 2;
    covers_times(h, false, ": 2 baseline runs and 5 fresh, at least 3 a side are needed");
    h->c.n_runs[TG_BASE] = 5;
    h->c.n_runs[TG_TEST] = 2;
    covers_times(h, false, ": 5 baseline runs and 2 fresh, at least 3 a side are needed");
    h->c.n_runs[TG_TEST] = 5;
    covers_times(h, false, "");
    h->policy.noise.min_runs = 6;
    covers_times(h, false, ": 5 baseline runs and 5 fresh, at least 6 a side are needed");
    h->policy.noise.min_runs = 3;
    h->c.n_runs[TG_TEST] = 2;
    h->c.busy = true;
    covers_times(h, false, ": the machine was busy during the fresh runs");
    h->c.other_data = true;
    covers_times(h, false, ": the fresh runs had other data");
    h->c.same_flags = false;
    covers_times(h, false, ": other profiler flags");
    h->v.budgets_judged = true;
    for (int side = 0; side < 2; side++) {
        h->c.marked[side] = false;
        h->c.marked[!side] = true;
        h->v = (struct tg_verdict){ .comparison = &h->c,
                                    .counts_judged = true,
                                    .budgets_judged = true };
        tg_describe_verdict(&h->v, h->a);
        hand_text(h->v.coverage,
                  "counts judged; durations not judged: no step markers; budgets judged");
    }
}

/* The step, and the two largest operators that are judged: what these runs could have shown. */
WITH_HAND(what_could_have_been_detected)
{
    struct tg_op ops[] = { hand_op("ProfilerStep", TG_KIND_STEP), hand_op("waits", TG_KIND_OP),
                           hand_op("small", TG_KIND_OP), hand_op("large", TG_KIND_OP),
                           hand_op("middle", TG_KIND_OP) };
    static const double value[] = { 900000, 800000, 1000, 3000, 2000 };
    hand_ops(h, ops, 5);
    for (int i = 0; i < 5; i++) {
        ops[i].ev = hand_evidence(value[i], 0);
        ops[i].ev.mde = 0.1 * (i + 1);
    }
    ops[1].ev.why_not = TG_NOT_WAIT;
    h->c.metrics[TG_METRIC_STEP_TIME].ev = hand_evidence(1000000, 0);
    h->c.metrics[TG_METRIC_STEP_TIME].ev.mde = 0.05;
    h->c.n_runs[TG_TEST] = 1;
    covers_times(h, true, "; detectable from +5.0 % (step time), +50 % (largest operators)");
    h->c.n_ops = 0;
    covers_times(h, true, "; detectable from +5.0 % (step time)");
    h->c.metrics[TG_METRIC_STEP_TIME].ev.why_not = TG_NOT_WAIT;
    h->c.n_ops = 3;
    covers_times(h, true, "; detectable from +30 % (largest operators)");
    h->c.n_ops = 0;
    covers_times(h, true, "");
}

/* By metric, names of both sides: a new one has nothing to compare with, nor has another device.
 * Calls have a line of their own. */
WITH_HAND(attributes_that_were_not_compared)
{
    static const char said[] = "counts judged; durations judged: 5 baseline runs, 5 fresh runs";
    struct tg_op ops[] = { hand_op("a", TG_KIND_OP), hand_op("b", TG_KIND_OP) };
    struct tg_result r[5];
    for (size_t i = 0; i < 5; i++)
        r[i] = (struct tg_result){ .state = TG_STATE_NOT_JUDGED,
                                   .subject = TG_SUBJECT_NAME,
                                   .unit_id = TG_UNIT_ATTR,
                                   .metric = i == 2 ? TG_RULE_METRIC_INPUT_TYPES
                                                    : TG_RULE_METRIC_INPUT_SHAPES,
                                   .op_kind = TG_KIND_OP,
                                   .op = i ? TG_SV("b") : TG_SV("a"),
                                   .op_normalised = i ? TG_SV("b") : TG_SV("a"),
                                   .plain = i ? TG_SV("b") : TG_SV("a") };
    r[3].metric = TG_RULE_METRIC_COUNT;
    r[3].unit_id = TG_UNIT_COUNT;
    r[4].op_normalised = TG_SV("b [rank 1]");
    h->c.metrics[TG_METRIC_STEP_TIME].ev.why_not = TG_NOT_WAIT;
    hand_ops(h, ops, 2);
    h->v = (struct tg_verdict){ .counts_judged = true,
                                .counts_asked = true,
                                .durations_judged = true,
                                .results = r,
                                .n_results = 5 };
    covered(h, tg_arena_printf(
                   h->a, "%s; not compared: input_types of 1 name, input_shapes of 2 names", said));
    ops[0].change = TG_ADDED;
    r[2].state = TG_STATE_PASS;
    covered(h, tg_arena_printf(h->a, "%s; not compared: input_shapes of 1 name", said));
    ops[1].change = TG_MORE;
    covered(h, said);
}

/* Of what varies, what takes 1 % of the step or more on either side;
 * another reason is another matter. */
WITH_HAND(what_varies_is_not_judged)
{
    static const double share[][2] = {
        { 0.002, 0.04 }, { 0.01, 0.01 }, { 0.009, 0.009 }, { 0.5, 0.5 }
    };
    struct tg_op ops[] = { hand_op("a", TG_KIND_OP), hand_op("b", TG_KIND_KERNEL),
                           hand_op("c", TG_KIND_OP), hand_op("d", TG_KIND_OP) };
    h->c.ops = ops;
    h->c.metrics[TG_METRIC_STEP_TIME].ev.why_not = TG_NOT_WAIT;
    for (int i = 0; i < 4; i++) {
        ops[i].ev.why_not = i == 3 ? TG_NOT_WAIT : TG_NOT_COUNT_VARIES;
        memcpy(ops[i].share, share[i], sizeof share[i]);
    }
    h->c.n_ops = 4;
    covers_times(h, true,
                 "; not judged: 2 operators whose calls vary, the largest 4.0 % of the step");
    h->c.n_ops = 1;
    covers_times(h, true,
                 "; not judged: 1 operator whose calls vary, the largest 4.0 % of the step");
    ops[0].ev.why_not = TG_NOT_WAIT;
    covers_times(h, true, "");
    h->c.busy = true;
    h->c.n_ops = 4;
    for (int i = 0; i < 4; i++)
        ops[i].ev.why_not = i == 0 || i == 3 ? TG_NOT_BUSY : TG_NOT_WAIT;
    covers_times(h, true, "; host times not judged: the machine was busy during the fresh runs");
    ops[1].ev.why_not = TG_NOT_BUSY;
    covers_times(h, true,
                 "; host and device times not judged: the machine was busy during the fresh runs");
    ops[1].ev.why_not = TG_NOT_WARM;
    h->c.warming = 0.1;
    covers_times(h, true,
                 "; host times not judged: the machine was busy during the fresh runs; device "
                 "times not judged: the device's speed changes within the runs");
    h->c.busy = false; /* as new runs show */
    h->c.warming = 0;
    covers_times(h, true, "");
}
