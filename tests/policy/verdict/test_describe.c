/* The sentence about one row (describe.c), from values made by hand. The forms are those of
 * docs/reports.md and docs/statistics-rules.md; a step lasts 1 ms. */
#include "by_hand.h"
#include "policy/verdict/internal.h"

struct said {
    struct tg_result r;
    struct tg_probe p;
    struct tg_judgement j;
    struct tg_op op;
};

static struct said of_count(double base, double test)
{
    struct said s = { .r = hand_row("aten::mm", test - base),
                      .op = hand_op("aten::mm", TG_KIND_OP) };
    s.op.share[TG_TEST] = NAN;
    s.op.change = TG_MORE;
    s.p = (struct tg_probe){ .base = base, .test = test, .exact = true, .unit = TG_UNIT_COUNT };
    s.j.state = TG_STATE_FAIL;
    return s;
}

static void says(struct hand *h, struct said *s, const char *want)
{
    hand_regions(h);
    tg_describe_row(&s->r, &s->op, &h->c, &s->p, &s->j, h->a);
    hand_text(s->r.message, want);
}

static void metric_says(struct hand *h, struct said *s, const char *want)
{
    tg_describe_row(&s->r, NULL, &h->c, &s->p, &s->j, h->a);
    hand_text(s->r.message, want);
}

/* ---- calls ---- */

WITH_HAND(calls_and_where_they_come_from)
{
    struct said s = of_count(1, 3);
    says(h, &s, "called 3 times per step, was 1 (+2)");
    s.op.calling_op = TG_SV("aten::bmm");
    s.op.calling_part = 1;
    says(h, &s, "called 3 times per step, was 1 (+2), all inside aten::bmm");
    s.op.calling_part = 0.93;
    says(h, &s, "called 3 times per step, was 1 (+2), 93 % of them inside aten::bmm");
    s = of_count(0, 1);
    s.op.kind = TG_KIND_KERNEL;
    s.op.change = TG_ADDED;
    says(h, &s, "new, 1 launch per step");
    s = of_count(2, 0);
    s.op.change = TG_REMOVED;
    says(h, &s, "gone, was 2 calls per step");
    s = of_count(1, 2);
    s.op.kind = TG_KIND_MODULE;
    s.op.launched = true;
    says(h, &s, "work on the device launched 2 times per step, was 1 (+1)");
    s = of_count(0, 2);
    s.op.change = TG_ADDED;
    s.op.launched = true;
    says(h, &s, "new: work on the device launched 2 times per step, was 0 (+2)");
    s = of_count(2, 0);
    s.op.kind = TG_KIND_GRAPH;
    s.op.change = TG_FEWER; /* not gone: another rule counts it elsewhere */
    says(h, &s, "launched 0 times per step, was 2 (-2)");
}

/* Of several ranks one alone: its own number, not the mean of all. */
WITH_HAND(calls_on_one_rank_alone)
{
    struct tg_rank_shift on = { .rank = 3, .count = { 0, 25 }, .n = 1 };
    struct said s = of_count(0, 6.25);
    h->c.n_ranks[TG_TEST] = 4;
    s.op.change = TG_ADDED;
    s.op.count[TG_BASE] = 0;
    s.op.count[TG_TEST] = 6.25;
    says(h, &s, "new, 6.25 calls per step");
    s.op.shift = &on;
    says(h, &s, "new, 25 calls per step on rank 3 alone");
    on.n = 2; /* another one, too */
    says(h, &s, "new, 6.25 calls per step");
    on.n = 1;
    on.count[TG_TEST] = 24; /* others, which are not steady, have the rest */
    says(h, &s, "new, 6.25 calls per step");
    s = of_count(2, 8.25);
    s.op.count[TG_BASE] = 2;
    s.op.count[TG_TEST] = 8.25;
    on.count[TG_BASE] = 2;
    on.count[TG_TEST] = 27;
    s.op.shift = &on;
    says(h, &s, "called 8.25 times per step, was 2 (+6.25, +25 on rank 3 alone)");
    h->c.n_ranks[TG_TEST] = 1;
    says(h, &s, "called 8.25 times per step, was 2 (+6.25)");
}

/* Only where they did not come in every step of every run, and are not as before. */
WITH_HAND(calls_in_some_steps)
{
    static const double runs[] = { 1, 2.5, 1 };
    struct said s = of_count(1, 2);
    h->c.n_runs[TG_TEST] = 3;
    s.op.counted = (struct tg_count_evidence){ .shape = TG_COUNT_SOME_STEPS,
                                               .proof = TG_COUNT_HINT,
                                               .most = 1001,
                                               .above = 6,
                                               .steps = 15,
                                               .runs_above = 2,
                                               .run = { NULL, runs } };
    says(h, &s, "up to 1001 calls in 6 of 15 steps (2 of 3 runs), was 1 (+1 a step in the mean)");
    s.op.counted.runs_above = 3; /* in every run alike: one of them tells it */
    says(h, &s, "up to 1001 calls in 2 of 5 steps of every run, was 1 (+1 a step in the mean)");
    s.op.counted.above = 7;
    s.op.counted.most = 1;
    says(h, &s, "up to 1 call in 7 of 15 steps, in every run, was 1 (+1 a step in the mean)");
    s.op.counted.most = 1001;
    s.op.counted.runs_above = 2;
    s.op.counted.above = 6;
    s.op.counted.shape = TG_COUNT_FIRST_STEP;
    says(
        h, &s,
        "up to 1001 calls in the first 6 of 15 steps (2 of 3 runs), was 1 (+1 a step in the mean)");
    s.op.counted.above = 0;
    says(h, &s, "called 2 times per step, was 1 (+1)");
    s.op.counted.above = 6;
    s.op.counted.proof = TG_COUNT_UNCHANGED;
    says(h, &s, "called 2 times per step, was 1 (+1)");
    s.op.counted.proof = TG_COUNT_HINT;
    s.op.change = TG_FEWER; /* the steps above the baseline's are not what changed */
    says(h, &s, "called 2 times per step, was 1 (+1)");
    s.op.change = TG_REMOVED;
    says(h, &s, "gone: called 2 times per step, was 1 (+1)");
    s.op.change = TG_MORE;
    s.op.launched = true; /* of other work: not counted so */
    says(h, &s, "work on the device launched 2 times per step, was 1 (+1)");
    s.op.launched = false;
    s.op.counted.shape = TG_COUNT_RUNS_DIFFER;
    says(h, &s, "called 2 times per step, was 1 (+1); the runs disagree: 1, 2.50, 1");
    s.op.counted.proof = TG_COUNT_UNCHANGED;
    says(h, &s, "called 2 times per step, was 1 (+1)");
    s.op.counted.proof = TG_COUNT_HINT;
    s.op.launched = true;
    says(h, &s, "work on the device launched 2 times per step, was 1 (+1)");
    s.op.launched = false;
    s.op.counted.shape = TG_COUNT_VARIES;
    says(h, &s, "called 2 times per step, was 1 (+1); the baseline's steps differ, too");
    s.op.counted.shape = TG_COUNT_CONSTANT;
    says(h, &s, "called 2 times per step, was 1 (+1)");
}

/* ---- times and budgets ---- */

static struct said of_time(double base, double more, struct tg_evidence *ev)
{
    struct said s = of_count(1, 1);
    *ev = hand_evidence(base, more);
    s.r.unit_id = TG_UNIT_NS;
    s.p = (struct tg_probe){
        .base = base, .test = base * (1 + more), .unit = TG_UNIT_NS, .ev = ev, .min_runs = 3
    };
    return s;
}

WITH_HAND(a_time_and_its_change)
{
    struct tg_evidence ev;
    struct said s = of_time(100000, 0.5, &ev);
    says(h, &s, "150 us per step, was 100 us (+50 %, +50.0 us)");
    s.r.share = 0.15;
    says(h, &s, "150 us per step, was 100 us (+50 %, +50.0 us, now 15.0 % of the step)");
    s.p.base = NAN;
    says(h, &s, "150 us per step, unknown in the baseline");
    s = of_time(100000, 0.5, &ev);
    s.j.reason = TG_REASON_SOME_STEPS;
    ev.some_steps = true;
    ev.slowest[TG_BASE] = 200000;
    ev.slowest[TG_TEST] = 900000;
    says(h, &s, "the slowest step of each fresh run takes 900 us, of the baseline's 200 us");
    ev.some_steps = false; /* in some runs only */
    ev.some_runs = 3;
    says(h, &s,
         "3 of 5 fresh runs are slower, the middle one takes 900 us, the slowest of the baseline "
         "200 us");
}

/* A budget is about the value: how it changed is beside it. */
WITH_HAND(a_budget_and_its_limit)
{
    struct tg_limit_list max = hand_limit(h, TG_BOUND_MAX, 1);
    struct tg_evidence ev;
    struct said s = of_count(1, 3);
    s.r.over_budget = true;
    s.j.limit = max.v;
    says(h, &s, "called 3 times per step, 2 over the limit of as written, was 1");
    s.p.test = 1;
    says(h, &s, "called 1 time per step, limit max: as written, was 1");
    s.p.base = NAN;
    says(h, &s, "called 1 time per step, limit max: as written");
    s = of_time(100000, 0.5, &ev);
    s.r.over_budget = true;
    s.j.limit = max.v;
    says(h, &s, "150 us per step, 150 us over the limit of as written, was 100 us (over it, too)");
    assert_true(s.r.was_over);
    assert_true(tg_sv_has(s.r.next, TG_SV("not the only reason")));
    s.p.base = 200000; /* it got better, and is over it still */
    says(h, &s, "150 us per step, 150 us over the limit of as written, was 200 us (over it, too)");
    assert_true(tg_sv_has(s.r.next, TG_SV("this change is not the reason")));
    s.p.base = 1; /* just within it */
    says(h, &s, "150 us per step, 150 us over the limit of as written, was 1 ns");
    assert_false(s.r.was_over);
    max = hand_limit(h, TG_BOUND_MIN, 200000);
    s.p.base = 100000;
    s.j.limit = max.v;
    says(h, &s,
         "150 us per step, 50.0 us under the limit of as written, was 100 us (under it, too)");
    s.p.base = 200000;
    says(h, &s, "150 us per step, 50.0 us under the limit of as written, was 200 us");
    max = hand_limit(h, TG_BOUND_MAX, 1);
    s.j.limit = max.v;
    s.p = (struct tg_probe){ .base = 2, .test = 3.5, .unit = TG_UNIT_PERCENT };
    says(h, &s,
         "3.5 % per step, 2.5 points over the limit of as written, was 2.0 % (over it, too)");
    s.p.test = 0.5; /* below it, as where another limit speaks */
    says(h, &s, "0.5 % per step, limit max: as written, was 2.0 %");
    s = of_count(1, 3); /* a number of calls of the whole trace has no verb */
    s.r.over_budget = true;
    s.j.limit = max.v;
    metric_says(h, &s, "3 per step, 2 over the limit of as written, was 1");
}

/* Of a number of calls the operator that adds most of them: what makes its calls,
 * if that came too. */
WITH_HAND(what_is_behind_a_number_of_calls)
{
    struct tg_limit_list max = hand_limit(h, TG_BOUND_MAX, 1);
    struct tg_op ops[] = { hand_op("aten::clone", TG_KIND_OP), hand_op("copy", TG_KIND_KERNEL),
                           hand_op("gemm", TG_KIND_KERNEL), hand_op("wait", TG_KIND_SYNC) };
    struct said s = of_count(10, 15);
    hand_ops(h, ops, 4);
    h->c.iteration_ratio = 1;
    ops[0].count[TG_TEST] = 9; /* operators are not launches */
    ops[1].count[TG_TEST] = 5;
    ops[2].count[TG_TEST] = 2;
    ops[3].count[TG_TEST] = 7;
    s.r.over_budget = true;
    s.r.subject = TG_SUBJECT_TRACE;
    s.r.metric = tg_rule_metric_of(TG_METRIC_LAUNCH_COUNT);
    s.r.delta = 5;
    s.j.limit = max.v;
    metric_says(h, &s,
                "15 per step, 14 over the limit of as written, was 10 (over it, too); "
                "most of the rise: copy (+4)");
    ops[1].leader = 0;
    s.r.delta = 9;
    metric_says(h, &s,
                "15 per step, 14 over the limit of as written, was 10 (over it, too); largest "
                "part of the rise: aten::clone (+4)");
    s.r.metric = tg_rule_metric_of(TG_METRIC_SYNC_COUNT);
    s.r.delta = 6;
    metric_says(h, &s,
                "15 per step, 14 over the limit of as written, was 10 (over it, too); "
                "all of the rise: wait (+6)");
    s.r.metric = tg_rule_metric_of(TG_METRIC_KERNEL_NAMES); /* not a number of calls */
    metric_says(h, &s, "15 per step, 14 over the limit of as written, was 10 (over it, too)");
    s.r.metric = tg_rule_metric_of(TG_METRIC_SYNC_COUNT);
    ops[3].count[TG_TEST] = 1; /* none rose */
    metric_says(h, &s, "15 per step, 14 over the limit of as written, was 10 (over it, too)");
}

/* ---- attributes ---- */

struct changed_attr {
    enum tg_attr_kind kind;
    const char *base, *test;
};

static struct said of_attrs(struct hand *h, enum tg_attr_kind kind, const struct changed_attr *v,
                            size_t n)
{
    struct tg_attr_change *attrs = TG_NEW_N(h->a, struct tg_attr_change, n);
    struct said s = of_count(0, 1);
    for (size_t i = 0; i < n; i++)
        attrs[i] = (struct tg_attr_change){ .kind = v[i].kind,
                                            .base = tg_sv_of(v[i].base),
                                            .test = tg_sv_of(v[i].test) };
    s.op.attrs = attrs;
    s.op.n_attrs = n;
    s.op.kind = TG_KIND_KERNEL;
    s.r.unit_id = TG_UNIT_ATTR;
    s.r.has_values = false;
    s.p.attr = kind;
    return s;
}

/* The word before one value is given once; several values keep theirs.
 * Attributes of another metric are its own. */
WITH_HAND(attributes_of_a_metric)
{
    static const struct changed_attr v[] = {
        { TG_ATTR_KIND_LAUNCH, "registers 128", "registers 255" },
        { TG_ATTR_KIND_TYPES, "float, int", "float, long" },
        { TG_ATTR_KIND_LAUNCH, "grid 1, block 2", "grid 3, block 4" },
        { TG_ATTR_KIND_LAUNCH, "grid 1", "grid 3, block 4" },
        { TG_ATTR_KIND_LAUNCH, "grid 1, block 2", "grid 3" },
        { TG_ATTR_KIND_LAUNCH, "plain", "other" },
        { TG_ATTR_KIND_LAUNCH, "registers 128", "warps 4" },
        { TG_ATTR_KIND_LAUNCH, "registers 128", "registers" },
        { TG_ATTR_KIND_BYTES, "4096", "8192" },
        { TG_ATTR_KIND_SHAPES, "float", "float 2" },
    };
    struct said s = of_attrs(h, TG_ATTR_KIND_LAUNCH, v, 10);
    says(h, &s,
         "same launches: registers 128 -> 255; grid 1, block 2 -> grid 3, block 4; grid 1 -> grid "
         "3, block 4; grid 1, block 2 -> grid 3; plain -> other; registers 128 -> warps 4; "
         "registers 128 -> registers");
    s = of_attrs(h, TG_ATTR_KIND_TYPES, v, 10);
    s.op.kind = TG_KIND_OP;
    says(h, &s, "same calls: float, int -> float, long");
    s = of_attrs(h, TG_ATTR_KIND_SHAPES, v, 10);
    says(h, &s, "same launches: float -> float 2");
    s.j.state = TG_STATE_PASS;
    says(h, &s, "as before");
    s.j.state = TG_STATE_NOT_JUDGED;
    s.p.incomparable = "why";
    says(h, &s, "not compared");
}

/* Bytes a step have values, and are told as such. */
WITH_HAND(values_of_bytes)
{
    struct said s = of_count(0, 1);
    s.r.unit_id = TG_UNIT_BYTES;
    s.p = (struct tg_probe){ .base = 4096, .test = 8192, .exact = true, .unit = TG_UNIT_BYTES };
    says(h, &s, "8.0 KiB per step, was 4.0 KiB (+100 %, +4.0 KiB)");
}

/* ---- renames and replacements ---- */

WITH_HAND(what_it_is_related_to)
{
    const struct tg_evidence pooled = { .why_not = TG_JUDGED, .pooled = 5 };
    struct tg_op ops[3] = { hand_op("old", TG_KIND_OP), hand_op("new", TG_KIND_OP),
                            hand_op("both", TG_KIND_OP) };
    struct tg_region region = { .encloser = TG_SV("Adam.step"), .calls = { 6, 7 } };
    struct said s = of_count(1, 2);
    const char *plain = "called 2 times per step, was 1 (+1)";
    hand_ops(h, ops, 3);
    ops[0].present[TG_TEST] = ops[1].present[TG_BASE] = false;
    s.op.relation = TG_REL_RENAMED;
    s.op.partner = 0;
    says(h, &s, "called 2 times per step, was 1 (+1); renamed from old?");
    s.op.present[TG_TEST] = false;
    says(h, &s, "called 2 times per step, was 1 (+1); renamed to old?");
    s.op.partner = TG_NO_ID;
    says(h, &s, plain);
    s.op.relation = TG_REL_NONE;
    s.op.partner = 0;
    says(h, &s, plain);

    for (int i = 0; i < 3; i++)
        ops[i].region = 0;
    s.op.region = 0;
    s.op.relation = TG_REL_REPLACED;
    says(h, &s, plain); /* there are no regions */
    s.op.relation = TG_REL_NONE;
    h->c.regions = &region;
    h->c.n_regions = 1;
    says(h, &s, plain); /* beside it */
    s.op.relation = TG_REL_MOVED;
    says(h, &s, plain);
    s.op.relation = TG_REL_REPLACED; /* no name is known to have come or gone */
    says(h, &s, "called 2 times per step, was 1 (+1); calls -6 +7 in Adam.step");
    ops[0].change = TG_REMOVED; /* what went; its backward node goes with it */
    ops[0].name = TG_SV("aten::old");
    ops[0].self[TG_BASE] = 5;
    ops[2].change = TG_FEWER;
    ops[2].name = TG_SV("OldBackward0");
    s.op.change = TG_MORE;
    says(h, &s,
         "called 2 times per step, was 1 (+1); in place of aten::old: calls -6 +7 in Adam.step");
    region.calls[TG_TEST] = 6; /* as many: nothing is said of them */
    says(h, &s, "called 2 times per step, was 1 (+1); in place of aten::old");
    region.calls[TG_TEST] = 7;
    ops[1].change = TG_ADDED;
    s.op.relation = TG_REL_REPLACED_WORSE;
    says(h, &s, "aten::mm and new instead of aten::old: 7 calls per step, was 6 (+1) in Adam.step");
    s.op.change = TG_FEWER; /* it went itself */
    says(h, &s, "called 2 times per step, was 1 (+1); calls -6 +7 in Adam.step");
    region.calls[TG_TEST] = 6; /* as many, of no name */
    says(h, &s, "called 2 times per step, was 1 (+1); calls -6 +6 in Adam.step");
    region.calls[TG_TEST] = 7;
    s.op.change = TG_MORE;
    region.encloser = TG_SV("");
    says(h, &s, "aten::mm and new instead of aten::old: 7 calls per step, was 6 (+1)");
    struct said t = s;
    t.p.ev = &pooled; /* a time of all of them: how often each was called is another matter */
    t.p.unit = TG_UNIT_NS;
    t.r.unit_id = TG_UNIT_NS;
    t.op.share[TG_BASE] = t.op.share[TG_TEST] = 0.5;
    says(h, &t,
         "2 ns per step, was 1 ns (+100 %, +1 ns), 5 names together; with new in place of "
         "aten::old: calls -6 +7 in the step");
    s.op.region = TG_NO_ID;
    says(h, &s, plain);
}

/* Kernels whose names tell another type of data: the first of what went, the first of what came. */
WITH_HAND(kernels_of_another_data_type)
{
    static const struct {
        const char *base, *test; /* NULL: nothing came */
        enum tg_kind kind;
        const char *want;
    } rows[] = {
        { "a_fp16", "b_fp32", TG_KIND_KERNEL,
          "with b_fp32 in place of a_fp16 (fp16 -> fp32 by their names)" },
        { "a_fp16", "b_fp32", TG_KIND_OP, "with b_fp32 in place of a_fp16" },
        { "a_fp16", "b_fp16", TG_KIND_KERNEL, "with b_fp16 in place of a_fp16" },
        { "a", "b_fp32", TG_KIND_KERNEL, "with b_fp32 in place of a" },
        { "a_fp16", "b", TG_KIND_KERNEL, "with b in place of a_fp16" },
        { "a_fp16", NULL, TG_KIND_KERNEL, "in place of a_fp16" },
    };
    struct tg_region region = { .encloser = TG_SV("f"), .calls = { 1, 1 } };
    h->c.regions = &region;
    h->c.n_regions = 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tg_op ops[] = { hand_op(rows[i].base, rows[i].kind),
                               hand_op(rows[i].test ? rows[i].test : "", rows[i].kind) };
        struct said s = of_count(1, 2);
        ops[0].region = ops[1].region = s.op.region = 0;
        ops[0].change = TG_REMOVED;
        ops[1].change = TG_ADDED;
        hand_ops(h, ops, rows[i].test ? 2 : 1);
        s.op.relation = TG_REL_REPLACED_WORSE;
        says(h, &s, tg_arena_printf(h->a, "called 2 times per step, was 1 (+1); %s", rows[i].want));
    }
}

/* Of ten calls four went, in whose place as many came, or more. */
WITH_HAND(a_part_of_the_calls_is_replaced)
{
    static const struct {
        double of, came; /* the calls that old had, and those that came for its four */
        const char *want;
    } rows[] = {
        { 10, 4, "called 2 times per step, was 1 (+1); with new in place of 4 of 10 calls of old" },
        { 4, 4, "called 2 times per step, was 1 (+1); with new in place of old" },
        { 10, 5,
          "aten::mm and new instead of 4 of 10 calls of old: 5 calls per step, was 4 (+1) in f" },
    };
    struct tg_op ops[] = { hand_op("old", TG_KIND_OP), hand_op("new", TG_KIND_OP),
                           hand_op("other", TG_KIND_OP) };
    struct tg_region region[2] = { { .encloser = TG_SV("f") } };
    hand_ops(h, ops, 3);
    h->c.regions = region;
    h->c.n_regions = 2;
    ops[0].change = ops[2].change = TG_FEWER;
    ops[1].change = TG_ADDED;
    ops[0].region = ops[1].region = 0;
    ops[2].region = 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct said s = of_count(1, 2);
        ops[0].count[TG_BASE] = rows[i].of;
        region[0].calls[TG_BASE] = 4;
        region[0].calls[TG_TEST] = rows[i].came;
        s.op.relation = TG_REL_REPLACED_WORSE;
        s.op.region = 0;
        says(h, &s, rows[i].want);
    }
}

/* ---- evidence ---- */

static void rests_on(struct hand *h, struct said *s, const char *want)
{
    tg_describe_row(&s->r, &s->op, &h->c, &s->p, &s->j, h->a);
    hand_text(s->r.evidence, want);
}

WITH_HAND(evidence_of_a_time)
{
    struct tg_limit_list tau = hand_auto(h);
    struct tg_evidence ev;
    struct said s = of_time(100000, 0.5, &ev);
    ev.noise = 0.018;
    ev.mde = 0.08;
    rests_on(h, &s, "5 of 5 runs above all 5 baseline runs, noise 1.8 %, detectable from +8.0 %");
    ev.estimate = TG_ESTIMATE_MEAN;
    rests_on(h, &s,
             "5 of 5 runs above all 5 baseline runs by the mean of the steps, noise 1.8 %, "
             "detectable from +8.0 %");
    ev.estimate = TG_ESTIMATE_LEAST;
    ev.asked = TG_ASKED_RED;
    ev.p = 1. / 924;
    rests_on(h, &s,
             "5 of 5 runs above all 5 baseline runs, chance 0.1 %, noise 1.8 %, detectable from "
             "+8.0 %");
    ev.asked = TG_ASKED_NOT;
    h->c.drifted = true;
    h->c.drift = log(1.2);
    rests_on(h, &s,
             "5 of 5 runs above all 5 baseline runs, noise 1.8 %, detectable from +8.0 %, "
             "machine-wide drift +20 % removed");
    h->c.drift = log(0.8);
    rests_on(h, &s,
             "5 of 5 runs above all 5 baseline runs, noise 1.8 %, detectable from +8.0 %, "
             "machine-wide drift -20 % seen");
    h->c.drift_of = TG_DRIFT_OF_HOST;
    rests_on(h, &s,
             "5 of 5 runs above all 5 baseline runs, noise 1.8 %, detectable from +8.0 %, drift of "
             "the host -20 %");
    h->c.drifted = false;
    s.j.limit = tau.v;
    rests_on(
        h, &s,
        "5 of 5 runs above all 5 baseline runs, noise 1.8 %, detectable from +8.0 %; limit +8.0 %");
}

/* A bound that the runs give is told as they give it, alone or beside a least size;
 * others as they are written. */
WITH_HAND(limits_that_the_runs_give)
{
    static const struct {
        struct tg_bound bound[2];
        size_t n;
        bool by_runs;
    } rows[] = {
        { { { .kind = TG_BOUND_PCT, .is_auto = true } }, 1, true },
        { { { .kind = TG_BOUND_PCT, .is_auto = true }, { .kind = TG_BOUND_ABS } }, 2, true },
        { { { .kind = TG_BOUND_PCT, .is_auto = true }, { .kind = TG_BOUND_MAX } }, 2, false },
        { { { .kind = TG_BOUND_ABS } }, 1, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct tg_limit limit = { rows[i].bound, rows[i].n, { .file = "p.yml" } };
        struct tg_evidence ev = hand_evidence(100, 0.5);
        const struct tg_probe p = { .unit = TG_UNIT_NS, .ev = &ev };
        TG_BUF b = { 0 };
        tg_describe_limit(&b, &limit, &p);
        if (tg_sv_eq(tg_buf_sv(&b), TG_SV("+8.0 %")) != rows[i].by_runs)
            fail_msg("row %zu: %.*s", i, TG_SV_ARG(tg_buf_sv(&b)));
    }
}

WITH_HAND(evidence_of_the_rest)
{
    struct tg_limit_list abs = hand_limit(h, TG_BOUND_ABS, 0), two = hand_limit(h, TG_BOUND_ABS, 2);
    struct tg_evidence ev;
    struct said s = of_count(1, 2);
    s.j.limit = abs.v;
    rests_on(h, &s, "exact; limit no more than before");
    s.p.bad = TG_LESS_IS_BAD;
    rests_on(h, &s, "exact; limit no fewer than before");
    s.p.bad = TG_ANY_IS_BAD;
    rests_on(h, &s, "exact; limit no change");
    s.p.bad = TG_MORE_IS_BAD;
    s.j.limit = two.v;
    rests_on(h, &s, "exact; limit abs: as written");
    s.j.reason = TG_REASON_RENAMED;
    rests_on(h, &s, "exact; limit abs: as written"); /* it fails all the same */
    s.j.state = TG_STATE_WARN;
    rests_on(h, &s, "exact; limit abs: as written; only warns: renamed (exception `renamed`)");
    s.j.limit = abs.v;
    rests_on(h, &s, "exact; limit no more than before; only warns: renamed (exception `renamed`)");
    s.j = (struct tg_judgement){ .state = TG_STATE_WARN,
                                 .limit = abs.v,
                                 .reason = TG_REASON_SOME_CALLS };
    rests_on(
        h, &s,
        "limit no more than before; only warns: more calls in some steps or runs may be chance");
    s = of_time(100000, 0.5, &ev);
    ev.why_not = TG_NOT_FEW_RUNS;
    s.j = (struct tg_judgement){ .state = TG_STATE_NOT_JUDGED, .why_not = "few" };
    rests_on(h, &s, "not judged: few");
    hand_text(s.r.next, "Record at least 3 (better 5) runs a side; then this can be judged.");
    s.p.min_runs = 4;
    rests_on(h, &s, "not judged: few");
    hand_text(s.r.next, "Record at least 4 (better 5) runs a side; then this can be judged.");
    s.p.min_runs = 5;
    rests_on(h, &s, "not judged: few");
    hand_text(s.r.next, "Record at least 5 runs a side; then this can be judged.");
    s.p.min_runs = 3;
    s.r.next = TG_SV("");
    ev.why_not = TG_NOT_BUSY;
    rests_on(h, &s, "not judged: few");
    hand_text(s.r.next, "");
    s.j.state = TG_STATE_SUSPICIOUS;
    rests_on(h, &s, "not judged: few");
    hand_text(s.r.next, "Record at least 3 (better 5) runs a side; then this can be judged.");
}

WITH_HAND(a_metric_of_the_trace)
{
    struct said s = of_count(10, 12);
    s.p.outside = 2;
    metric_says(h, &s, "12 per step, was 10 (+20 %, +2); 2 more outside the steps");
    s.p.outside = 0;
    s.p.unit = TG_UNIT_PERCENT;
    metric_says(h, &s, "12.0 % per step, was 10.0 % (+2.0 points)");
    s.p.test = 7.5;
    metric_says(h, &s, "7.5 % per step, was 10.0 % (-2.5 points)");
}
