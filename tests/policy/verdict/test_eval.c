/* eval.c, fold.c, describe_verdict.c: order, consequences, outcome, headline, coverage. Each row is
 * a pair of sides and a policy; what the verdict says of it is tests/golden/verdict_eval.txt,
 * derived from docs/policy.md when it was written and read through at every change. */
#include "by_hand.h"
#include "model.h"

/* In the first step. */
#define UNSORTED "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1000.1,\"dur\":0.5},"

static const struct model_row model_rows[] = {
    ROW("folded: one in the other", ABS, USUAL,
        SIDE(.events = OP_EVENT("aten::a", "1000.1", "0.8") OP_EVENT("aten::b", "1000.2", "0.5")
                 OP_EVENT("aten::c", "1000.3", "0.1"))),
    ROW("folded: side by side", ABS, USUAL,
        SIDE(.events = OP_EVENT("aten::a", "1000.1", "0.2") OP_EVENT("aten::b", "1000.4", "0.2"))),
    ROW("folded: twice inside", ABS, USUAL,
        SIDE(.events = OP_EVENT("aten::a", "1000.1", "0.8") OP_EVENT("aten::b", "1000.2", "0.2")
                 OP_EVENT("aten::b", "1000.5", "0.2"))),
    ROW("folded: warnings", COUNT("warn: {abs: 0}"), USUAL,
        SIDE(.events = OP_EVENT("aten::a", "1000.1", "0.8") OP_EVENT("aten::b", "1000.2", "0.5"))),
    ROW("folded: a known operator inside", ABS, USUAL,
        SIDE(.events =
                 OP_EVENT("aten::a", "1000.1", "0.8") OP_EVENT("aten::op3", "1000.2", "0.5"))),
    MORE("folded: work of a new operator", ABS, "kernel|aten::fresh|void fresh(float*)|20"),
    MORE("fail_on: warn", COUNT("warn: {abs: 0}") "fail_on: [fail, warn]", OP),
    ROW("fail_on: warn, nothing", COUNT("warn: {abs: 0}") "fail_on: [fail, warn]", USUAL, USUAL),
    ROW("fail_on: warn, a note lifts", ABS "fail_on: [fail, warn]", SIDE(.ranks = 3),
        SIDE(.ranks = 3, .without_ranks = 2)),
    ROW("a note lifts", ABS, SIDE(.ranks = 3), SIDE(.ranks = 3, .without_ranks = 2)),
    ROW("a note lifts, and a warning", COUNT("warn: {abs: 0}"), SIDE(.ranks = 3),
        SIDE(.ranks = 3, .without_ranks = 2, .more = OP)),
    ROW("fail_on: inconclusive", ABS "require: {steps: 99}\nfail_on: [fail, inconclusive]", USUAL,
        USUAL),
    ROW("fail_on: inconclusive, nothing", ABS "fail_on: [fail, inconclusive]", USUAL, USUAL),
    ROW("fail_on: suspicious", TIME("fail: {pct: 10%}") "fail_on: [fail, suspicious]", USUAL,
        SIDE(.slower = 1.6)),
    ROW("suspicious", TIME("fail: {pct: 10%}"), USUAL, SIDE(.slower = 1.6)),
    ROW("suspicious and a warning",
        "rules: [{id: t, match: {kind: kernel}, metric: self, fail: {pct: 10%}}, {id: w, match: "
        "{kind: op}, metric: count, warn: {abs: 0}}]",
        USUAL, SIDE(.slower = 1.6, .more = OP)),
    MORE("a guard and a warning", COUNT("warn: {abs: 0}") "require: {steps: 99}", OP),
    MORE("a guard and a failure", ABS "require: {steps: 99}", OP),
    ROW("nothing to count", ABS,
        SIDE(.work = "",
             .events = "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1},"),
        SIDE(.work = "",
             .events = "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1},")),
    ROW("nothing to count, events without a category", NULL, SIDE(.work = "", .events = UNSORTED),
        SIDE(.work = "", .events = UNSORTED)),
    ROW("nothing to count, built-in", NULL, SIDE(.work = ""), SIDE(.work = "")),
    ROW("all optional, none there",
        "rules: [{id: a, match: {kind: graph}, metric: count, fail: {abs: 0}, optional: true}]",
        USUAL, USUAL),
    ROW("only elsewhere", COUNT("fail: {abs: 0}, when: {branch: x}"), USUAL, USUAL),
    ROW("facts alone",
        "rules: [{id: a, match: {kind: kernel}, metric: launch_config, fail: {abs: 0}}]", USUAL,
        USUAL),
    ROW("budgets alone", "rules: [{id: a, metric: launch_count, fail: {max: 99}}]", USUAL, USUAL),
    ROW("durations alone, one run", TIME("fail: {pct: 10%}"), USUAL, USUAL),
    ROW("durations alone, five runs", TIME("fail: {pct: 10%}"), SIDE(.runs = 5), SIDE(.runs = 5)),
    MORE("many violations", ABS,
         "op|aten::a;op|aten::b;op|aten::c;op|aten::d;op|aten::op3;kernel|-|void "
         "fresh(float*)|20;sync|-|cudaDeviceSynchronize"),
    ROW("a long name", ABS, USUAL,
        SIDE(.more =
                 "op|aten::"
                 "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz")),
    RUNS("calls and time, sorted",
         "rules: [{id: t, match: {kind: kernel}, metric: self, fail: {pct: 10%}}, {id: s, metric: "
         "step_time, fail: {max: 1us}}, {id: w, match: {kind: op}, metric: count, fail: {abs: 0}}, "
         "{id: f, match: {kind: kernel}, metric: launch_config, fail: {abs: 0}}]",
         5, .slower = 1.6, .more = OP ";op|aten::op4"),
    ROW("folded, in every step: one in the other", ABS, SIDE(.steps = 1),
        SIDE(.steps = 1, .events = OP_EVENT("aten::a", "1000.1", "0.8") OP_EVENT(
                             "aten::b", "1000.2", "0.5") OP_EVENT("aten::c", "1000.3", "0.1"))),
    ROW("folded, in every step: side by side", ABS, SIDE(.steps = 1),
        SIDE(.steps = 1,
             .events = OP_EVENT("aten::a", "1000.1", "0.2") OP_EVENT("aten::b", "1000.4", "0.2"))),
    ROW("folded, in every step: itself inside", ABS, SIDE(.steps = 1),
        SIDE(.steps = 1,
             .events = OP_EVENT("aten::a", "1000.1", "0.8") OP_EVENT("aten::a", "1000.2", "0.5"))),
    ROW("folded, in every step: twice inside", ABS, SIDE(.steps = 1),
        SIDE(.steps = 1, .events = OP_EVENT("aten::a", "1000.1", "0.8") OP_EVENT(
                             "aten::b", "1000.2", "0.2") OP_EVENT("aten::b", "1000.5", "0.2"))),
    ROW("folded, in every step: a known operator inside", ABS, SIDE(.steps = 1),
        SIDE(.steps = 1, .events = OP_EVENT("aten::a", "1000.1", "0.8")
                             OP_EVENT("aten::op3", "1000.2", "0.5"))),
    ROW("folded, in every step: inside a known operator", ABS, SIDE(.steps = 1),
        SIDE(.steps = 1, .events = OP_EVENT("aten::op3", "1000.1", "0.8")
                             OP_EVENT("aten::b", "1000.2", "0.5"))),
    ROW("folded, in every step: two rules",
        "rules: [{id: work, match: {kind: op}, metric: count, fail: {abs: 0}}, {id: other, match: "
        "{kind: op}, metric: count, warn: {abs: 0}}]\n",
        SIDE(.steps = 1),
        SIDE(.steps = 1, .events = OP_EVENT("aten::a", "1000.1", "0.8") OP_EVENT(
                             "aten::b", "1000.2", "0.5") OP_EVENT("aten::c", "1000.3", "0.1"))),
    MORE("two rules that fail",
         "rules: [{id: work, match: {kind: op}, metric: count, fail: {abs: 0}}, {id: other, match: "
         "{kind: op}, metric: count, fail: {abs: 0}}]\n",
         OP),
    ROW("folded, in every step: and time",
        "rules: [{id: work, match: {kind: op}, metric: count, fail: {abs: 0}}, {id: new, match: "
        "{kind: op}, metric: added, fail: {abs: 0}}]",
        SIDE(.steps = 1),
        SIDE(.steps = 1, .events = OP_EVENT("aten::a", "1000.1", "0.8") OP_EVENT(
                             "aten::b", "1000.2", "0.5") OP_EVENT("aten::c", "1000.3", "0.1"))),
    MORE("a kernel with its operator's name", ABS, "kernel|dup|dup|20"),
    ROW("nothing to count, no rule counts", "rules: [{id: s, metric: step_time, fail: {max: 1s}}]",
        SIDE(.work = ""), SIDE(.work = "")),
    ROW("a measured number of calls", "rules: [{id: s, metric: short_kernels, fail: {max: 99}}]",
        SIDE(.work = ""), SIDE(.work = "")),
    RUNS("time of a trace and of a kernel",
         "rules: [{id: s, metric: gpu_busy, fail: {pct: 1%}}, {id: t, match: {kind: kernel}, "
         "metric: self, fail: {pct: 10%}}]",
         5, .slower = 3),
    ROW("fail_on: warn, a note lifts, and suspicious",
        TIME("fail: {pct: 10%}") "fail_on: [fail, warn]", SIDE(.ranks = 3),
        SIDE(.ranks = 3, .without_ranks = 2, .slower = 1.6)),
    ROW("fail_on: warn, a note lifts, and a failure", ABS "fail_on: [fail, warn]", SIDE(.ranks = 3),
        SIDE(.ranks = 3, .without_ranks = 2, .more = OP)),
    ROW("fail_on: warn, a note lifts, and a guard",
        ABS "fail_on: [fail, warn]\nrequire: {steps: 9}", SIDE(.ranks = 3),
        SIDE(.ranks = 3, .without_ranks = 2)),
    ROW("fail_on: warn, a note lifts, and what is waived",
        ABS "fail_on: [fail, warn]\n"
            "waivers: [{rule: work, name: 'aten::a', ceiling: {abs: 1}, reason: because, expires: "
            "2026-03-01}]",
        SIDE(.ranks = 3), SIDE(.ranks = 3, .without_ranks = 2, .more = "op|aten::a")),
};

TEST(verdicts_are_as_written)
{
    model_check("verdict_eval.txt", model_rows, sizeof model_rows / sizeof *model_rows);
}

/* ---- by hand ---- */

/* Ends an evaluation of one rule that had these results. */
static const struct tg_result *ended(struct hand *h, const struct tg_result *v, size_t n)
{
    h->rule.metric = TG_RULE_METRIC_SELF; /* asks for no calls */
    h->policy.rules = &h->rule;
    h->policy.n_rules = 1;
    h->e.comparable = true;
    (void)hand_results(h, v, n);
    tg_eval_end(&h->e);
    assert_int_equal(h->v.n_results, n);
    return h->v.results;
}

static struct tg_result row_of(const char *name, enum tg_unit d, enum tg_subject about,
                               double weight)
{
    return (struct tg_result){ .state = TG_STATE_FAIL,
                               .subject = about,
                               .op = tg_sv_of(name),
                               .op_normalised = tg_sv_of(name),
                               .op_kind = TG_KIND_KERNEL,
                               .rule = TG_SV("r"),
                               .message = TG_SV("is slower"),
                               .grounds = TG_GROUNDS_RUNS,
                               .unit_id = d,
                               .weight = weight,
                               .folded_under = TG_NO_ID };
}

/* The state; calls; what tells where; ns per step; the name, the rule and the kind. */
WITH_HAND(rows_are_in_order)
{
    static const char *const want[] = { "calls, 9 ns", "calls, 5 ns", "time, 9 ns", "ratio, 5 ns",
                                        "step time",   "idle",        "a warning" };
    const enum tg_subject name = TG_SUBJECT_NAME, trace = TG_SUBJECT_TRACE;
    struct tg_result v[] = { row_of("idle", TG_UNIT_PERCENT, trace, 0),
                             row_of("step time", TG_UNIT_NS, trace, 99),
                             row_of("a warning", TG_UNIT_COUNT, name, 99),
                             row_of("ratio, 5 ns", TG_UNIT_PERCENT, name, 5),
                             row_of("time, 9 ns", TG_UNIT_NS, name, 9),
                             row_of("calls, 5 ns", TG_UNIT_COUNT, name, 5),
                             row_of("calls, 9 ns", TG_UNIT_COUNT, name, 9) };
    const struct tg_result *got;
    v[2].state = TG_STATE_WARN;
    got = ended(h, v, 7);
    for (size_t i = 0; i < 7; i++)
        hand_text(got[i].op, want[i]);
}

WITH_HAND(rows_of_one_weight_are_in_order_of_their_texts)
{
    struct tg_result v[] = { row_of("b", TG_UNIT_COUNT, TG_SUBJECT_NAME, 1),
                             row_of("a", TG_UNIT_COUNT, TG_SUBJECT_NAME, 1),
                             row_of("a", TG_UNIT_COUNT, TG_SUBJECT_NAME, 1),
                             row_of("a", TG_UNIT_COUNT, TG_SUBJECT_NAME, 1) };
    const struct tg_result *got;
    v[1].rule = TG_SV("s");
    v[2].op_kind = TG_KIND_MEMCPY;
    v[3].op_kind = TG_KIND_GRAPH;
    got = ended(h, v, 4);
    hand_text(tg_result_kind(&got[0]), "graph");
    hand_text(tg_result_kind(&got[1]), "memcpy");
    hand_text(got[2].rule, "s");
    hand_text(got[3].op, "b");
}

/* ---- parts ---- */

static const int64_t numbers[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17 };

static struct tg_ints one(int64_t number, size_t n)
{
    return (struct tg_ints){ &numbers[number], n };
}

static struct tg_rule counting(struct hand *h, struct tg_ints devices, struct tg_ints streams,
                               enum tg_match_rank rank)
{
    return (struct tg_rule){
        .id = TG_SV("r"),
        .metric = TG_RULE_METRIC_COUNT,
        .noise = h->policy.noise,
        .fail = hand_limit(h, TG_BOUND_ABS, 0),
        .match = { .present = true, .devices = devices, .streams = streams, .rank = rank }
    };
}

/* Sides of `n` ranks, and one operator that came. */
static void begin(struct hand *h, const struct tg_rule *rules, size_t n_rules, size_t n)
{
    struct tg_op *op = TG_NEW(h->a, struct tg_op);
    struct tg_eval_state *e;
    for (int side = 0; side < 2; side++) {
        h->c.side[side].ranks = (int64_t *)(uintptr_t)numbers;
        h->c.side[side].n_ranks = h->c.n_ranks[side] = h->c.n_brought[side] = n;
        h->c.marked[side] = true;
        h->c.least_steps[side] = 4;
    }
    *op = hand_op("aten::mm", TG_KIND_OP);
    op->change = TG_MORE;
    op->count[TG_TEST] = 2;
    hand_ops(h, op, 1);
    h->policy.rules = rules;
    h->policy.n_rules = n_rules;
    e = tg_eval_begin(&h->v, &h->in, h->a);
    assert_true(e->comparable);
    h->e = *e;
}

static void put_numbers(struct tg_buf *out, const char *what, const struct tg_ints *v)
{
    for (size_t i = 0; i < v->n; i++)
        tg_buf_printf(out, " %s%d", what, (int)v->v[i]);
}

static int by_letter(const void *a, const void *b)
{
    return *(const char *)a - *(const char *)b;
}

/* By rank; of a rank in the order of the first rules that choose so. */
WITH_HAND(parts_are_compared_once_each)
{
    const struct tg_ints none = { 0 };
    struct tg_rule rules[] = {
        counting(h, none, none, TG_MATCH_RANK_DEFAULT), /* the whole */
        counting(h, one(0, 1), none, TG_MATCH_RANK_DEFAULT),
        counting(h, one(0, 2), none, TG_MATCH_RANK_DEFAULT),
        counting(h, one(1, 1), none, TG_MATCH_RANK_DEFAULT),
        counting(h, one(0, 1), one(7, 1), TG_MATCH_RANK_DEFAULT),
        counting(h, one(0, 1), one(8, 1), TG_MATCH_RANK_DEFAULT),
        counting(h, one(0, 1), none, TG_MATCH_RANK_DEFAULT), /* as the second */
        counting(h, none, none, TG_MATCH_RANK_EACH),
        counting(h, one(1, 1), none, TG_MATCH_RANK_EACH),
    };
    /* of each rule: one result for each part that it asks for */
    static const char want[] = "abcdefg"; /* ranks share rows, which come last */
    struct tg_part part;
    char found[sizeof want] = "";
    TG_BUF got = { 0 };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        rules[i].id = (tg_sv){ &"abcdefghi"[i], 1 };
    begin(h, rules, sizeof rules / sizeof *rules, 2);
    while (tg_eval_wants(&h->e, &part)) {
        tg_buf_printf(&got, "%d", (int)part.rank);
        put_numbers(&got, "d", part.devices);
        put_numbers(&got, "s", part.streams);
        tg_buf_puts(&got, "; ");
        tg_eval_part(&h->e, &h->c);
    }
    hand_text(tg_buf_sv(&got), "-1 d0; -1 d0 d1; -1 d1; -1 d0 s7; -1 d0 s8; 0; 0 d1; 1; 1 d1; ");
    assert_int_equal(h->e.n, strlen(want));
    for (size_t i = 0; i < h->e.n; i++)
        found[i] = h->e.results[i].rule.p[0];
    qsort(found, h->e.n, 1, by_letter);
    assert_string_equal(found, want);
    tg_eval_drop(&h->e);
}

/* Without those that notes tell: the baseline's rank is another one. */
static size_t rows(const struct hand *h)
{
    size_t n = 0;
    for (size_t i = 0; i < h->v.n_results; i++)
        n += h->v.results[i].subject != TG_SUBJECT_NOTE;
    return n;
}

/* Alike on all of them it is about the name. */
WITH_HAND(ranks_share_a_row)
{
    const struct tg_ints none = { 0 };
    const struct tg_rule rule = counting(h, none, none, TG_MATCH_RANK_EACH);
    struct tg_part part;
    for (size_t n = 1; n <= 17; n += 8) {
        begin(h, &rule, 1, n);
        while (tg_eval_wants(&h->e, &part))
            tg_eval_part(&h->e, &h->c);
        tg_eval_end(&h->e);
        assert_int_equal(rows(h), 1);
        assert_int_equal(h->v.outcome, TG_OUTCOME_FAIL);
        hand_text(h->v.results[0].op_normalised, "aten::mm");
    }
}

/* Where all pass, a shared row tells of the first rank; what fails is told of the worst. */
WITH_HAND(a_shared_row_says_whose_values_it_has)
{
    const struct tg_ints none = { 0 };
    struct tg_rule rule = counting(h, none, none, TG_MATCH_RANK_EACH);
    for (int fails = 0; fails < 2; fails++) {
        struct tg_part part;
        rule.fail = hand_limit(h, TG_BOUND_ABS, fails ? 2 : 99);
        begin(h, &rule, 1, 17);
        while (tg_eval_wants(&h->e, &part)) {
            ((struct tg_op *)(uintptr_t)h->c.ops)->count[TG_TEST] = (double)(2 + part.rank);
            tg_eval_part(&h->e, &h->c);
        }
        tg_eval_end(&h->e);
        const struct tg_result *r = &h->v.results[fails ? 0 : h->v.n_results - 1];
        assert_int_equal(rows(h), 1);
        assert_int_equal(r->state, fails ? TG_STATE_FAIL : TG_STATE_PASS);
        assert_true(r->message.n > 0);
        hand_near(r->delta, fails ? 17 : 1);
    }
}

WITH_HAND(a_verdict_names_its_suite_and_its_policy)
{
    h->policy.file = TG_SV("p.yml");
    h->suite.name = TG_SV("train");
    for (int named = 0; named < 2; named++) {
        h->in.suite = named ? &h->suite : NULL;
        h->policy.built_in = !named;
        begin(h, &h->rule, 0, 1);
        hand_text(h->v.suite, named ? "train" : "default");
        hand_text(h->v.policy, named ? "p.yml" : "built-in policy");
        tg_eval_end(&h->e);
        hand_text(h->v.results[0].next, "The policy has no rules: write some, or start from the "
                                        "built-in ones with `extends: [tracegate:recommended]`.");
    }
}
