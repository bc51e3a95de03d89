/* Consequences under their finding (fold.c), on rows made by hand. An operator that is called as
 * often more as the one that calls it follows from that, and so does what a new operator calls. */
#include "by_hand.h"

enum { A, B, C, N };

/* c is called by b, b by a; results in any order. */
static struct tg_op *chain(struct hand *h)
{
    struct tg_op *ops = TG_NEW_N(h->a, struct tg_op, N);
    ops[A] = hand_op("a", TG_KIND_OP);
    ops[B] = hand_op("b", TG_KIND_OP);
    ops[C] = hand_op("c", TG_KIND_OP);
    ops[B].parent = TG_SV("a");
    ops[C].parent = TG_SV("b");
    hand_ops(h, ops, N);
    return ops;
}

#define ROWS(...)                                                                                  \
    (struct tg_result[]){ __VA_ARGS__ },                                                           \
        sizeof((struct tg_result[]){ __VA_ARGS__ }) / sizeof(struct tg_result)

/* The names of the rows, each followed by that of the row it is under. */
static void under(const struct tg_result *v, size_t n, const char *want)
{
    TG_BUF got = { 0 };
    for (size_t i = 0; i < n; i++) {
        tg_buf_printf(&got, "%s%.*s", i ? " " : "", TG_SV_ARG(v[i].op));
        if (v[i].folded_under != TG_NO_ID)
            tg_buf_printf(&got, "<%.*s", TG_SV_ARG(v[v[i].folded_under].op));
    }
    hand_text(tg_buf_sv(&got), want);
}

static void folded(struct hand *h, const struct tg_result *v, size_t n, const char *want)
{
    hand_results(h, v, n);
    tg_fold(&h->e);
    under(h->e.results, n, want);
}

WITH_HAND(a_chain_is_folded_under_its_first)
{
    const struct tg_result a = hand_row("a", 2), b = hand_row("b", 2), c = hand_row("c", 2);
    (void)chain(h);
    folded(h, ROWS(a, b, c), "a b<a c<a");
    folded(h, ROWS(c, b, a), "c<a b<a a");
    folded(h, ROWS(b, c, a), "b<a c<a a");
    folded(h, ROWS(b, c), "b c<b");
    folded(h, ROWS(a, c), "a c"); /* b calls it */
}

/* A new operator that waits is one event; a wait without an operator is its own. */
WITH_HAND(a_wait_follows_what_calls_it)
{
    struct tg_result a = hand_row("a", 2), c = hand_row("c", 2);
    struct tg_op *ops = chain(h);
    ops[C].kind = c.op_kind = TG_KIND_SYNC;
    ops[C].parent = TG_SV("a");
    folded(h, ROWS(a, c), "a c<a");
    ops[C].parent = TG_SV("");
    folded(h, ROWS(a, c), "a c");
}

/* Nobody calls anybody: what came in a place is told with its first row, which is the costliest. */
WITH_HAND(what_came_in_one_place_is_one_finding)
{
    struct tg_result a = hand_row("a", 2), b = hand_row("b", 5), c = hand_row("c", 1);
    struct tg_op *ops = chain(h);
    for (int i = 0; i < N; i++) {
        ops[i].parent = TG_SV("");
        ops[i].change = TG_MORE;
    }
    folded(h, ROWS(a, b, c), "a b<a c<a");
    assert_false(h->e.results[1].follows); /* a waiver for one is not one for the other */
    ops[B].place = TG_SV("forward");
    folded(h, ROWS(a, b, c), "a b c<a");
    ops[C].name = TG_SV("aten::item");
    c = hand_row("aten::item", 1);
    folded(h, ROWS(a, b, c), "a b aten::item<a");
    ops[B].kind = TG_KIND_KERNEL; /* where a device works, a wait counts for itself */
    folded(h, ROWS(a, b, c), "a b aten::item");
    ops[B].kind = TG_KIND_OP;
    ops[A].view = true; /* a view is told with what makes it */
    folded(h, ROWS(a, b, c), "a<aten::item b aten::item");
    ops[A].view = false;
    ops[B].place = TG_SV("");
    ops[B].change = TG_FEWER; /* it went */
    folded(h, ROWS(a, b), "a b");
    ops[B].change = TG_MORE;
    a.state = TG_STATE_WARN; /* a failure is never told with a warning */
    folded(h, ROWS(a, b), "a b");
}

/* A change of shapes runs through what follows: one finding a rule,
 * and none beside the name's own calls or time. */
WITH_HAND(an_attribute_is_one_finding)
{
    struct tg_result a = hand_row("a", 2), b = hand_row("b", 5), c = hand_row("c", 1);
    struct tg_op *ops = chain(h);
    for (int i = 0; i < N; i++)
        ops[i].parent = TG_SV("");
    for (struct tg_result *r = &b; r; r = r == &b ? &c : NULL) {
        r->unit_id = TG_UNIT_ATTR;
        r->rule = TG_SV("input-shapes");
        r->has_values = false;
        r->state = TG_STATE_WARN;
    }
    folded(h, ROWS(a, b, c), "a b c<b");
    c.rule = TG_SV("input-types");
    folded(h, ROWS(a, b, c), "a b c");
    a.op = a.op_normalised = a.plain = TG_SV("b");
    folded(h, ROWS(a, b, c), "b b<b c");
    a.unit_id = TG_UNIT_NS; /* a time is told before what a call is given */
    a.state = TG_STATE_WARN;
    folded(h, ROWS(b, a, c), "b<b b c");
}

/* What autograd wraps around an operator is told with it. */
WITH_HAND(an_operator_is_told_before_its_node)
{
    const struct tg_result around = hand_row("SliceBackward0", 2),
                           work = hand_row("aten::slice_backward", 2),
                           inside = hand_row("aten::zeros", 2);
    struct tg_op *ops = chain(h);
    ops[A].name = TG_SV("SliceBackward0");
    ops[B].name = TG_SV("aten::slice_backward");
    ops[C].name = TG_SV("aten::zeros");
    ops[B].parent = ops[A].name;
    ops[C].parent = ops[B].name;
    folded(h, ROWS(around, work, inside),
           "SliceBackward0<aten::slice_backward aten::slice_backward "
           "aten::zeros<aten::slice_backward");
}

/* A circle of names is none of rows: one of them stays. */
WITH_HAND(a_circle_keeps_one_row)
{
    chain(h)[A].parent = TG_SV("c");
    folded(h, ROWS(hand_row("a", 2), hand_row("b", 2), hand_row("c", 2)), "a<c b<c c");
    assert_true(h->e.results[A].follows && h->e.results[B].follows);
    assert_false(h->e.results[C].follows); /* it is told for itself */
}

WITH_HAND(other_numbers_states_and_dimensions_are_findings)
{
    struct tg_result a = hand_row("a", 2), b = hand_row("b", 3);
    (void)chain(h);
    folded(h, ROWS(a, b), "a b"); /* one more than a makes */
    b = hand_row("b", 2);
    a.state = TG_STATE_WARN; /* a failure is never told with a warning, */
    folded(h, ROWS(a, b), "a b");
    b.state = TG_STATE_WARN;
    folded(h, ROWS(a, b), "a b<a");
    a.state = TG_STATE_FAIL; /* a warning is with a failure */
    folded(h, ROWS(a, b), "a b<a");
    a = hand_row("a", 2);
    b = hand_row("b", 2);
    a.unit_id = TG_UNIT_NS; /* 2 ns longer makes no calls */
    folded(h, ROWS(a, b), "a b");
    a.unit_id = TG_UNIT_COUNT;
    b.unit_id = TG_UNIT_BYTES;
    folded(h, ROWS(a, b), "a b");
    a.state = b.state = TG_STATE_PASS;
    b.unit_id = TG_UNIT_COUNT;
    folded(h, ROWS(a, b), "a b");
}

/* The leader is a new operator; it calls c nine times a call, and what else it is called. */
WITH_HAND(what_a_new_operator_calls_is_folded_under_it)
{
    struct tg_op *ops = chain(h);
    struct tg_result a = hand_row("a", 1), b = hand_row("b", 7), c = hand_row("c", 9);
    ops[B].parent = TG_SV("");
    ops[C].leader = A;
    folded(h, ROWS(b, a, c), "b a c<a");
    a.op_kind = TG_KIND_KERNEL; /* of the leader's name, but not the leader */
    folded(h, ROWS(b, a, c), "b a c");
    a = hand_row("a", 1);
    ops[C].parent = TG_SV(""); /* mostly called by nobody: a finding of its own */
    folded(h, ROWS(b, a, c), "b a c");
}

/* Autograd's node of an operator, as often more at most: what needs no gradient has none. Others
 * and more are findings. */
WITH_HAND(a_backward_node_follows_its_operator)
{
    struct tg_op *ops = chain(h);
    const struct tg_result clone = hand_row("aten::clone", 2), node = hand_row("CloneBackward0", 2);
    ops[A].name = TG_SV("aten::clone");
    ops[B].name = TG_SV("CloneBackward0");
    ops[B].parent = ops[C].parent = TG_SV("");
    ops[C].name = TG_SV("autograd::engine::evaluate_function: CloneBackward0");
    folded(h, ROWS(node, clone), "CloneBackward0<aten::clone aten::clone");
    folded(h, ROWS(clone, hand_row("autograd::engine::evaluate_function: CloneBackward0", 2)),
           "aten::clone autograd::engine::evaluate_function: CloneBackward0<aten::clone");
    folded(h, ROWS(clone, hand_row("CloneBackward0", 1)), "aten::clone CloneBackward0<aten::clone");
    folded(h, ROWS(clone, hand_row("CloneBackward0", -1)), "aten::clone CloneBackward0");
    folded(h, ROWS(clone, hand_row("CloneBackward0", 3)), "aten::clone CloneBackward0");
    ops[A].name = TG_SV("aten::copy_");
    folded(h, ROWS(hand_row("aten::copy_", 2), node), "aten::copy_ CloneBackward0");
}

/* A kernel follows the operator that launches it, also one of its own name; never itself. */
WITH_HAND(a_kernel_follows_the_operator_that_launches_it)
{
    struct tg_op *ops = chain(h);
    struct tg_result kernel = hand_row("b", 2);
    ops[B] = hand_op("b", TG_KIND_KERNEL);
    ops[B].parent = TG_SV("b");
    ops[A] = hand_op("b", TG_KIND_OP);
    ops[A].parent = TG_SV("b"); /* of itself: a recursion follows nothing */
    kernel.op_kind = TG_KIND_KERNEL;
    folded(h, ROWS(hand_row("b", 2), kernel), "b b<b");
    assert_int_equal(h->e.results[1].folded_under, 0);
    folded(h, ROWS(kernel), "b");
    ops[B].parent = TG_SV("c");
    ops[C].parent = TG_SV("");
    folded(h, ROWS(hand_row("c", 2), kernel), "c b<c");
    folded(h, ROWS(hand_row("c", 3), kernel), "c b"); /* not as often */
}

/* An operator follows whatever calls it; a kernel an operator, and nothing else of that name. */
WITH_HAND(what_may_be_followed)
{
    struct tg_op *ops = chain(h);
    struct tg_result a = hand_row("a", 2), c = hand_row("c", 2);
    ops[C].parent = TG_SV("a");
    a.op_kind = TG_KIND_ANNOTATION;
    folded(h, ROWS(a, c), "a c<a");
    ops[C].kind = c.op_kind = TG_KIND_KERNEL;
    folded(h, ROWS(a, c), "a c");
    a.op_kind = TG_KIND_OP;
    folded(h, ROWS(a, c), "a c<a");
    a.subject = TG_SUBJECT_TRACE; /* a metric that is called what the operator is called */
    folded(h, ROWS(a, c), "a c");
}

static struct tg_result slower(const char *name, double ns)
{
    struct tg_result r = hand_row(name, ns);
    r.unit_id = TG_UNIT_NS;
    r.rule = TG_SV("slower");
    return r;
}

WITH_HAND(a_name_under_two_rules_is_one_finding)
{
    struct tg_result a = hand_row("a", 2), time = slower("a", 5000), b = slower("b", 5000);
    (void)chain(h);
    folded(h, ROWS(time, a), "a<a a"); /* the calls, wherever they are */
    assert_int_equal(h->e.results[0].folded_under, 1);
    folded(h, ROWS(a, time, b), "a a<a b");
    a.state = TG_STATE_WARN;
    folded(h, ROWS(a, time), "a<a a");
    a.state = TG_STATE_FAIL;
    a.over_budget = true; /* a promise of its own */
    folded(h, ROWS(a, time), "a a");
}

/* One name is one text, one kind, and no metric of the trace. */
WITH_HAND(other_names_of_one_text_are_two_findings)
{
    struct tg_result a = hand_row("a", 2), time = slower("a", 5000);
    (void)chain(h);
    time.op_kind = TG_KIND_KERNEL;
    folded(h, ROWS(a, time), "a a");
    time.op_kind = TG_KIND_OP;
    a.subject = TG_SUBJECT_TRACE;
    folded(h, ROWS(a, time), "a a");
    a.subject = TG_SUBJECT_NAME;
    time.subject = TG_SUBJECT_TRACE;
    folded(h, ROWS(a, time), "a a");
    time.subject = TG_SUBJECT_NAME;
    folded(h, ROWS(a, time), "a a<a");
    time.has_values = false; /* a launch attribute has no number to be told */
    folded(h, ROWS(a, time), "a a");
}

WITH_HAND(a_waiver_covers_what_its_own_rule_says)
{
    struct tg_result a = hand_row("a", 2), b = hand_row("b", 2);
    (void)chain(h);
    folded(h, ROWS(a, b, slower("a", 9)), "a b<a a<a");
    assert_false(h->e.results[0].follows);
    assert_true(h->e.results[1].follows);
    assert_false(h->e.results[2].follows);
    b.rule = TG_SV("another");
    folded(h, ROWS(a, b), "a b<a");
    assert_false(h->e.results[1].follows);
}

/* What is waived under one rule is one row; what is not waived is never under it,
 * nor the other way round. */
WITH_HAND(waived_rows_of_one_rule_are_one)
{
    struct tg_result a = hand_row("a", 2), b = hand_row("b", 2);
    (void)chain(h);
    a.state = b.state = TG_STATE_WAIVED;
    folded(h, ROWS(a, b), "a b<a");
    b.rule = TG_SV("another");
    folded(h, ROWS(a, b), "a b");
    b.rule = a.rule;
    b.state = TG_STATE_FAIL;
    folded(h, ROWS(a, b), "a b");
    a.state = TG_STATE_FAIL;
    b.state = TG_STATE_WAIVED;
    folded(h, ROWS(a, b), "a b");
}

static struct tg_result step(double ns)
{
    struct tg_result r = slower("step_time", ns);
    r.subject = TG_SUBJECT_TRACE;
    r.metric = TG_RULE_METRIC_STEP_TIME;
    return r;
}

/* Half of the step's time is enough, of what is folded too; less is a finding of its own. */
WITH_HAND(a_step_that_is_explained_is_no_finding)
{
    struct tg_op *ops = chain(h);
    struct tg_result gaps = slower("ProfilerStep", 700);
    ops[B].place = TG_SV("elsewhere");
    folded(h, ROWS(step(1000), slower("a", 499)), "step_time a");
    folded(h, ROWS(step(1000), slower("a", 501)), "step_time<a a");
    folded(h, ROWS(slower("b", 200), step(1000), slower("a", 600)), "b step_time<a a");
    ops[A].self[TG_TEST] = 100; /* 100 + 450: what a calls is told with it */
    ops[B].self[TG_TEST] = 450;
    folded(h, ROWS(step(1000), hand_row("a", 2), hand_row("b", 2)), "step_time<a a b<a");
    gaps.subject = TG_SUBJECT_STEP;
    folded(h, ROWS(step(1000), gaps), "step_time<ProfilerStep ProfilerStep");
    folded(h, ROWS(step(-1000), slower("a", -900)), "step_time a");
}

/* Two findings that hold it together; the costlier one has the step. */
WITH_HAND(a_step_that_several_findings_hold_is_under_the_costliest)
{
    chain(h)[B].place = TG_SV("elsewhere");
    folded(h, ROWS(slower("b", 249), step(1000), slower("a", 250)), "b step_time a");
    folded(h, ROWS(slower("b", 249), step(1000), slower("a", 251)), "b step_time<a a");
}

/* Where the host sets the pace, the Python around calls comes with them;
 * what only got slower brings none. */
WITH_HAND(gaps_follow_the_calls_that_came)
{
    struct tg_op *ops = chain(h);
    struct tg_result gaps = slower("ProfilerStep", 1000);
    gaps.subject = TG_SUBJECT_STEP;
    ops[A].change = TG_MORE;
    ops[A].self[TG_TEST] = 501;
    folded(h, ROWS(gaps, hand_row("a", 2)), "ProfilerStep<a a");
    ops[A].self[TG_TEST] = 499;
    folded(h, ROWS(gaps, hand_row("a", 2)), "ProfilerStep a");
    ops[A].change = TG_SAME;
    folded(h, ROWS(gaps, slower("a", 900)), "ProfilerStep a");
}

/* Where the device sets the pace, the host's time between operators is a wait without a call of its
 * own: it grows with the kernel. Where the step grew by the sum of both, the host worked; and so it
 * did where it sets the pace. */
WITH_HAND(a_wait_without_a_call_follows_the_kernel)
{
    struct tg_op *ops = chain(h);
    struct tg_metric_change *step_time = &h->c.metrics[TG_METRIC_STEP_TIME];
    struct tg_metric_change *busy = &h->c.metrics[TG_METRIC_GPU_BUSY];
    struct tg_result gaps = slower("ProfilerStep", 450), k = slower("c", 447);
    ops[C].kind = k.op_kind = TG_KIND_KERNEL;
    ops[C].parent = TG_SV("");
    gaps.subject = TG_SUBJECT_STEP;
    step_time->known[TG_TEST] = busy->known[TG_TEST] = true;
    step_time->value[TG_BASE] = 2050;
    step_time->value[TG_TEST] = 2497;
    busy->value[TG_TEST] = 2260;
    folded(h, ROWS(gaps, k), "ProfilerStep<c c");
    step_time->value[TG_TEST] = 2050 + 450 + 447;
    folded(h, ROWS(gaps, k), "ProfilerStep c");
    step_time->value[TG_TEST] = 2497;
    busy->value[TG_TEST] = 1000;
    folded(h, ROWS(gaps, k), "ProfilerStep c");
}

WITH_HAND(what_explains_a_step)
{
    struct tg_op *ops = chain(h);
    struct tg_result host = step(1000), a = slower("a", 900), calls = hand_row("launch_count", 2);
    ops[B].place = TG_SV("elsewhere");
    host.metric = tg_rule_metric_of(TG_METRIC_HOST_TIME); /* of the step as well, */
    folded(h, ROWS(host, a), "step_time<a a");
    host.metric = TG_RULE_METRIC_DEVICE_TIME; /* and this is not */
    folded(h, ROWS(host, a), "step_time a");
    folded(h, ROWS(step(1000), slower("a", 600), slower("b", 200)),
           "step_time<a a b");                                    /* the larger, in any order */
    folded(h, ROWS(step(-1000), a), "step_time a");               /* it got faster */
    folded(h, ROWS(step(1000), slower("x", 900)), "step_time x"); /* no name */
    calls.subject = TG_SUBJECT_TRACE;                             /* a metric adds no time */
    folded(h, ROWS(step(1000), calls), "step_time launch_count");
    a.state = TG_STATE_WARN; /* a failure is never told with a warning */
    folded(h, ROWS(step(1000), a), "step_time a");
    a = hand_row("a", 2);
    ops[A].self[TG_TEST] = 300; /* once, though two rules say it: 300 of 1000 */
    folded(h, ROWS(step(1000), a, slower("a", 300)), "step_time a a<a");
    ops[A].self[TG_TEST] = 100; /* -500, and 900 of b: what is told with another is no head */
    ops[A].self[TG_BASE] = 600;
    ops[B].self[TG_TEST] = 900;
    folded(h, ROWS(step(1000), a, hand_row("b", 2)), "step_time a b<a");
}

WITH_HAND(on_a_device_its_work_explains_the_step)
{
    struct tg_result kernel = slower("c", 800);
    chain(h)[C].kind = TG_KIND_KERNEL;
    kernel.op_kind = TG_KIND_KERNEL;
    folded(h, ROWS(step(1000), slower("a", 900)), "step_time a");
    folded(h, ROWS(step(1000), slower("a", 900), kernel), "step_time<c a c");
}

/* By each of the two clocks; the costliest leads, and what failed before what warns. */
WITH_HAND(names_that_got_slower_in_one_place_are_one_finding)
{
    struct tg_op *ops = chain(h);
    struct tg_result kernel = slower("c", 800), warned = slower("b", 900);
    folded(h, ROWS(slower("b", 200), slower("a", 600)), "b<a a");
    warned.state = TG_STATE_WARN;
    folded(h, ROWS(slower("a", 600), warned), "a b<a");
    ops[C].kind = kernel.op_kind = TG_KIND_KERNEL;
    folded(h, ROWS(slower("a", 600), kernel), "a c");
    ops[A].place = TG_SV("elsewhere");
    folded(h, ROWS(slower("b", 200), slower("a", 600)), "b a");
}

/* What rose in some steps, which is no proof, is told with what came in its place. */
WITH_HAND(hints_are_told_with_what_came)
{
    struct tg_op *ops = chain(h);
    struct tg_result hint = hand_row("c", 3);
    hint.state = TG_STATE_WARN;
    ops[A].change = TG_MORE;
    folded(h, ROWS(hand_row("a", 2), hint), "a c");
    ops[C].counted.proof = TG_COUNT_HINT;
    folded(h, ROWS(hand_row("a", 2), hint), "a c<a");
    hint.delta = -1;
    folded(h, ROWS(hand_row("a", 2), hint), "a c");
}

/* A call of 100 ns: what got slower beside it by up to five times as much is told with it. */
WITH_HAND(time_that_is_not_of_the_calls_leads)
{
    static const struct tg_evidence ev = { 0 };
    struct tg_op *ops = chain(h);
    struct tg_result call = hand_row("a", 2), slow = slower("b", 500);
    ops[A].change = TG_MORE;
    call.weight = 100;
    slow.ev = &ev;
    folded(h, ROWS(call, slow), "a b<a");
    slow.delta = 501;
    folded(h, ROWS(call, slow), "a<b b");
}

/* ---- causes ---- */

static const struct tg_cause *cause(struct hand *h, const char *file, uint32_t line)
{
    struct tg_cause *c = TG_NEW(h->a, struct tg_cause);
    struct tg_cause_lines *lines = TG_NEW(h->a, struct tg_cause_lines);
    struct tg_cause_frame *f = TG_NEW(h->a, struct tg_cause_frame);
    *f = (struct tg_cause_frame){ .kind = TG_PATH_FUNCTION, .text = TG_SV("f") };
    f->file = tg_sv_of(file);
    *lines = (struct tg_cause_lines){ line, line };
    *c = (struct tg_cause){
        .function = f, .link = TG_CAUSE_LINK_SELF, .changed = lines, .n_changed = 1
    };
    return c;
}

static void joined(struct hand *h, struct tg_result *v, size_t n, const char *want)
{
    h->v = (struct tg_verdict){ .results = v, .n_results = n, .comparison = &h->c };
    h->v.outcome = TG_OUTCOME_FAIL;
    tg_verdict_join_causes(&h->v, h->a);
    under(v, n, want);
}

/* An operator that the function calls itself names it before its backward work does. */
WITH_HAND(what_one_change_did_is_one_finding)
{
    struct tg_result v[] = { hand_row("a", 2), hand_row("b", 3), hand_row("c", 1) };
    struct tg_cause *backward = (struct tg_cause *)(uintptr_t)cause(h, "m.py", 3);
    (void)chain(h);
    backward->path.backward = true;
    v[0].cause = backward;
    v[1].cause = v[2].cause = cause(h, "m.py", 3);
    joined(h, v, 3, "a<b b c<b");
    assert_int_equal(h->v.n_folded[TG_STATE_FAIL], 2);
    hand_text(h->v.headline, "FAIL: 1 violation: b +3 calls");
}

/* Also the headline of a named baseline is that of the joined findings. */
WITH_HAND(a_named_baseline_stays_in_the_headline)
{
    struct tg_result v[] = { hand_row("a", 2), hand_row("b", 3) };
    (void)chain(h);
    v[0].cause = v[1].cause = cause(h, "m.py", 3);
    joined(h, v, 2, "a b<a");
    h->v.baseline.name = TG_SV("release");
    tg_verdict_title(&h->v, h->a);
    tg_verdict_join_causes(&h->v, h->a);
    hand_text(h->v.headline, "FAIL against release: 1 violation: a +2 calls");
    h->v.by_note = true; /* it says why the verdict is what it is */
    h->v.said = TG_SV("a note");
    tg_verdict_title(&h->v, h->a);
    tg_verdict_join_causes(&h->v, h->a);
    hand_text(h->v.headline, "FAIL against release: a note");
}

WITH_HAND(without_one_change_all_stay)
{
    struct tg_result v[] = { hand_row("a", 2), hand_row("b", 3), hand_row("c", 1) };
    struct tg_cause *unchanged = (struct tg_cause *)(uintptr_t)cause(h, "m.py", 3);
    (void)chain(h);
    unchanged->link = TG_CAUSE_LINK_NONE;
    v[0].cause = cause(h, "m.py", 3);
    v[1].cause = cause(h, "m.py", 9);
    v[2].cause = unchanged;
    joined(h, v, 3, "a b c");
    v[1].cause = cause(h, "n.py", 3);
    joined(h, v, 3, "a b c");
    v[1].cause = v[0].cause;
    v[0].state = TG_STATE_WAIVED;
    joined(h, v, 3, "a b c");
    hand_text(h->v.headline, "FAIL: 2 violations: b +3 calls, c +1 call");
}

static const struct tg_cause_lines *lines(struct hand *h, struct tg_cause_lines first,
                                          struct tg_cause_lines second)
{
    struct tg_cause_lines *v = TG_NEW_N(h->a, struct tg_cause_lines, 2);
    v[0] = first;
    v[1] = second;
    return v;
}

/* One change is one file and the same lines, all of them. */
WITH_HAND(other_lines_are_another_change)
{
    struct tg_result v[] = { hand_row("a", 2), hand_row("b", 3) };
    const struct tg_cause_lines at = { 3, 4 };
    struct tg_cause *one = (struct tg_cause *)(uintptr_t)cause(h, "m.py", 3);
    struct tg_cause *other = (struct tg_cause *)(uintptr_t)cause(h, "m.py", 3);
    (void)chain(h);
    v[0].cause = one;
    v[1].cause = other;
    one->n_changed = other->n_changed = 2;
    one->changed = lines(h, at, (struct tg_cause_lines){ 8, 9 });
    other->changed = lines(h, at, (struct tg_cause_lines){ 8, 10 });
    joined(h, v, 2, "a b");
    other->changed = lines(h, at, (struct tg_cause_lines){ 7, 9 });
    joined(h, v, 2, "a b");
    other->changed = one->changed;
    other->n_changed = 1;
    joined(h, v, 2, "a b");
    other->n_changed = 2;
    other->changed_file = TG_SV("n.py"); /* a callee's */
    joined(h, v, 2, "a b");
    one->changed_file = TG_SV("n.py");
    joined(h, v, 2, "a b<a");
}

/* What is told with another finding stays there, and heads nothing. */
WITH_HAND(what_is_folded_already_stays)
{
    struct tg_result v[] = { hand_row("a", 2), hand_row("b", 3), hand_row("c", 1) };
    struct tg_result w[] = { hand_row("a", 2), hand_row("b", 3), hand_row("c", 1) };
    (void)chain(h);
    v[0].cause = v[1].cause = cause(h, "m.py", 3);
    v[0].folded_under = 2;
    joined(h, v, 3, "a<c b c");
    w[0].cause = w[1].cause = cause(h, "m.py", 3);
    w[1].folded_under = 2;
    joined(h, w, 3, "a b<c c");
}

/* b and c are one change: 700 of the 1000 that the step is longer, of which a adds 600. */
WITH_HAND(a_step_under_a_finding_stays_there)
{
    struct tg_result v[] = { step(1000), slower("a", 600), slower("b", 400), slower("c", 300) };
    (void)chain(h);
    v[2].cause = v[3].cause = cause(h, "m.py", 3);
    v[0].folded_under = 1;
    joined(h, v, 4, "step_time<a b a c<b"); /* what the change wrote leads */
    v[3].folded_under = v[0].folded_under = TG_NO_ID;
    joined(h, v, 4, "step_time<b b a c<b");
}

/* The gaps are told with the step, and so is the host's part of it,
 * if the step grew by half as much. */
WITH_HAND(parts_of_the_step_are_told_with_it)
{
    struct tg_result v[] = { step(1000), slower("ProfilerStep", 400), step(700) };
    (void)chain(h);
    v[1].subject = TG_SUBJECT_STEP;
    v[1].state = TG_STATE_WARN;
    v[0].cause = v[1].cause = cause(h, "m.py", 3);
    v[2].op = TG_SV("host_time");
    v[2].metric = tg_rule_metric_of(TG_METRIC_HOST_TIME);
    joined(h, v, 3, "step_time ProfilerStep<step_time host_time<step_time");
    v[0].delta = 300; /* less than half of it */
    v[1].folded_under = v[2].folded_under = TG_NO_ID;
    joined(h, v, 3, "step_time ProfilerStep<step_time host_time");
}

/* ---- one rank: rank 5 of eight, two kernels six times as long. The mean over ranks of each is
 * longer by 1 us, and so is the step. ---- */

static void one_alone(struct hand *h)
{
    static const struct tg_rank_alone alone = {
        .rank = 5,
        .device = true,
        .value = { 10000, 26000 },
        .of_names = { 3200, 19200 },
        .n_names = 2,
    };
    struct tg_op *ops = TG_NEW_N(h->a, struct tg_op, N);
    ops[A] = hand_op("a", TG_KIND_KERNEL);
    ops[B] = hand_op("b", TG_KIND_KERNEL);
    ops[C] = hand_op("c", TG_KIND_KERNEL);
    ops[A].on_rank_alone = ops[B].on_rank_alone = true;
    hand_ops(h, ops, N);
    h->c.n_ranks[TG_BASE] = h->c.n_ranks[TG_TEST] = 8;
    h->c.rank_alone = &alone;
}

/* A time of a kernel, or of the whole trace, by the mean over ranks or of one rank. */
static struct tg_result on_ranks(const char *name, enum tg_subject subject, int64_t rank)
{
    struct tg_result r = hand_row(name, 1000);
    r.unit_id = TG_UNIT_NS;
    r.metric = TG_RULE_METRIC_SELF;
    r.subject = subject;
    r.op_kind = TG_KIND_KERNEL;
    r.of_rank = rank;
    return r;
}

static void folded_rank(struct hand *h, const struct tg_result *v, size_t n, const char *want)
{
    one_alone(h);
    hand_results(h, v, n);
    tg_fold_rank(&h->e);
    under(h->e.results, n, want);
}

WITH_HAND(all_of_it_is_told_once)
{
    folded_rank(h,
                ROWS(on_ranks("a", TG_SUBJECT_NAME, -1), on_ranks("b", TG_SUBJECT_NAME, -1),
                     on_ranks("step_time", TG_SUBJECT_TRACE, -1)),
                "a b<a step_time<a");
    assert_true(h->e.results[0].one_rank);
    hand_text(
        h->e.results[0].message,
        "rank 5 alone: 2 kernels +500 % (+16.0 us): together 19.20 us per step, was 3.20 us; the "
        "other ranks work as before");
    assert_true(tg_sv_has(h->e.results[0].next, TG_SV("look at the machine of rank 5 first")));
}

WITH_HAND(the_rank_itself_leads)
{
    folded_rank(h,
                ROWS(on_ranks("step_time", TG_SUBJECT_TRACE, -1),
                     on_ranks("b", TG_SUBJECT_NAME, -1), on_ranks("a", TG_SUBJECT_NAME, 5)),
                "step_time<a b<a a");
    assert_true(h->e.results[2].one_rank);
}

/* Another name, another rank, calls, a budget, and what is more than this rank adds. */
WITH_HAND(what_is_not_the_ranks_stays)
{
    struct tg_result v[] = {
        on_ranks("a", TG_SUBJECT_NAME, -1),          on_ranks("c", TG_SUBJECT_NAME, -1),
        on_ranks("a", TG_SUBJECT_NAME, 4),           hand_row("a", 2),
        on_ranks("step_time", TG_SUBJECT_TRACE, -1), on_ranks("step_time", TG_SUBJECT_TRACE, -1)
    };
    v[3].of_rank = -1;
    v[4].over_budget = true;
    v[5].delta = 20000;
    folded_rank(h, v, 6, "a c a a step_time step_time");
    assert_true(h->e.results[0].one_rank);
}

WITH_HAND(without_such_a_rank_nothing_changes)
{
    one_alone(h);
    h->c.rank_alone = NULL;
    hand_results(h, ROWS(on_ranks("a", TG_SUBJECT_NAME, -1), on_ranks("b", TG_SUBJECT_NAME, -1)));
    tg_fold_rank(&h->e);
    assert_false(h->e.results[0].one_rank);
    assert_int_equal(h->e.results[1].folded_under, TG_NO_ID);
}
