/* Names and codes of a verdict: they are in reports, so they never change. */
#include "by_hand.h"

TEST(outcomes)
{
    static const struct {
        enum tg_outcome outcome;
        const char *name;
        int code;
    } rows[] = { { TG_OUTCOME_PASS, "pass", 0 },
                 { TG_OUTCOME_WARN, "warn", 0 },
                 { TG_OUTCOME_INCONCLUSIVE, "inconclusive", 4 },
                 { TG_OUTCOME_FAIL, "fail", 1 },
                 { TG_OUTCOME_ERROR, "error", 3 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(tg_outcome_name(rows[i].outcome), rows[i].name);
        assert_int_equal(tg_outcome_exit_code(rows[i].outcome), rows[i].code);
    }
}

/* In order of weight: reports sort by it. */
TEST(states)
{
    static const char *const names[] = { "pass",       "not judged", "skip",         "waived",
                                         "suspicious", "warn",       "inconclusive", "fail" };
    for (int i = 0; i <= TG_STATE_FAIL; i++)
        assert_string_equal(tg_state_name((enum tg_state)i), names[i]);
}

TEST(guards)
{
    static const bool is_guard[] = {
        [TG_SUBJECT_NAME] = false,   [TG_SUBJECT_TRACE] = false, [TG_SUBJECT_STEP] = false,
        [TG_SUBJECT_REQUIRE] = true, [TG_SUBJECT_NOTE] = true,   [TG_SUBJECT_NO_MATCH] = true,
        [TG_SUBJECT_GUARD] = true
    };
    for (int i = 0; i <= TG_SUBJECT_GUARD; i++)
        assert_int_equal(tg_result_is_guard(&(struct tg_result){ .subject = (enum tg_subject)i }),
                         is_guard[i]);
}

WITH_HAND(the_operator_that_a_result_is_about)
{
    struct tg_op ops[] = { hand_op("a", TG_KIND_OP), hand_op("a", TG_KIND_KERNEL),
                           hand_op("b", TG_KIND_OP), hand_op("ProfilerStep", TG_KIND_STEP) };
    static const struct {
        enum tg_subject subject;
        enum tg_kind kind;
        const char *name;
        int op; /* -1: none */
    } rows[] = {
        { TG_SUBJECT_NAME, TG_KIND_OP, "a", 0 },
        { TG_SUBJECT_NAME, TG_KIND_KERNEL, "a", 1 },
        { TG_SUBJECT_NAME, TG_KIND_OP, "b", 2 },
        { TG_SUBJECT_NAME, TG_KIND_OP, "c", -1 },
        { TG_SUBJECT_NAME, TG_KIND_KERNEL, "b", -1 },
        { TG_SUBJECT_STEP, TG_KIND_OP, "ProfilerStep", 3 },
        { TG_SUBJECT_STEP, TG_KIND_OP, "a", -1 },
        { TG_SUBJECT_TRACE, TG_KIND_OP, "a", -1 },
    };
    hand_ops(h, ops, 4);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct tg_result r = { .subject = rows[i].subject,
                                     .op_kind = rows[i].kind,
                                     .op_normalised = tg_sv_of(rows[i].name) };
        if (tg_result_op(&h->c, &r) != (rows[i].op < 0 ? NULL : &ops[rows[i].op]))
            fail_msg("row %zu", i);
        assert_null(tg_result_op(NULL, &r));
    }
}

/* Of a number of calls that rose; of a time, a ratio or a fall there is none. */
WITH_HAND(the_operator_that_a_metric_rose_by)
{
    struct tg_op ops[] = { hand_op("a", TG_KIND_KERNEL), hand_op("b", TG_KIND_KERNEL) };
    const struct {
        enum tg_rule_metric m;
        enum tg_subject subject;
        double delta;
        bool known;
    } rows[] = {
        { tg_rule_metric_of(TG_METRIC_LAUNCH_COUNT), TG_SUBJECT_TRACE, 3, true },
        { tg_rule_metric_of(TG_METRIC_LAUNCH_COUNT), TG_SUBJECT_TRACE, 0, false },
        { tg_rule_metric_of(TG_METRIC_LAUNCH_COUNT), TG_SUBJECT_TRACE, -3, false },
        { tg_rule_metric_of(TG_METRIC_LAUNCH_COUNT), TG_SUBJECT_TRACE, NAN, false },
        { tg_rule_metric_of(TG_METRIC_LAUNCH_COUNT), TG_SUBJECT_NAME, 3, false },
        { TG_RULE_METRIC_STEP_TIME, TG_SUBJECT_TRACE, 3, false },
        { TG_RULE_METRIC_SKEW, TG_SUBJECT_TRACE, 3, false },
    };
    hand_ops(h, ops, 2);
    h->c.iteration_ratio = 1;
    ops[0].count[TG_TEST] = 2;
    ops[1].count[TG_TEST] = 3;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct tg_result r = { .metric = rows[i].m,
                                     .subject = rows[i].subject,
                                     .delta = rows[i].delta };
        if (tg_result_behind(&r, &h->c) != (rows[i].known ? &ops[1] : NULL))
            fail_msg("row %zu", i);
        assert_null(tg_result_behind(&r, NULL));
    }
}

/* What came in a replacement that is worse, and its time, are the whole replacement's. */
WITH_HAND(the_replacement_that_a_result_is_about)
{
    const struct tg_evidence pooled = { .pooled = true }, own = { .pooled = false };
    const struct {
        bool has_values, over_budget;
        enum tg_unit unit_id;
        enum tg_relation relation;
        enum tg_change change;
        const struct tg_evidence *ev;
        bool known;
    } rows[] = {
        { true, false, TG_UNIT_COUNT, TG_REL_REPLACED_WORSE, TG_MORE, &own, true },
        { true, false, TG_UNIT_COUNT, TG_REL_REPLACED_WORSE, TG_FEWER, &own, false },
        { true, false, TG_UNIT_COUNT, TG_REL_MOVED, TG_MORE, &pooled, false },
        { false, false, TG_UNIT_COUNT, TG_REL_REPLACED_WORSE, TG_MORE, &own, false },
        { true, true, TG_UNIT_COUNT, TG_REL_REPLACED_WORSE, TG_MORE, &own, false },
        { true, false, TG_UNIT_NS, TG_REL_REPLACED_WORSE, TG_MORE, &pooled, true },
        { true, false, TG_UNIT_NS, TG_REL_REPLACED_WORSE, TG_MORE, &own, false },
        { true, false, TG_UNIT_NS, TG_REL_REPLACED_WORSE, TG_MORE, NULL, false },
    };
    struct tg_region regions[2] = { { .worse_count = false } };
    struct tg_op op = hand_op("a", TG_KIND_OP);
    op.region = 1;
    hand_ops(h, &op, 1);
    h->c.regions = regions;
    h->c.n_regions = 2;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tg_result r = { .op_kind = TG_KIND_OP,
                               .op_normalised = op.name,
                               .has_values = rows[i].has_values,
                               .over_budget = rows[i].over_budget,
                               .unit_id = rows[i].unit_id,
                               .ev = rows[i].ev };
        op.relation = rows[i].relation;
        op.change = rows[i].change;
        if (tg_result_region(&h->c, &r) != (rows[i].known ? &regions[1] : NULL))
            fail_msg("row %zu", i);
        assert_null(tg_result_region(NULL, &r));
        r.op_normalised = TG_SV("b");
        assert_null(tg_result_region(&h->c, &r));
    }
}

/* What autograd records of a name is no call of its own, unless there is nothing else. */
WITH_HAND(calls_of_a_replacement)
{
    static const struct {
        const char *name;
        uint32_t region;
        double base, test;
    } of[] = {
        { "aten::mm", 1, 0, 4 },     { "MmBackward0", 1, 0, 2 },  { "AddBackward0", 1, 1, 3 },
        { "MulBackward0", 0, 0, 9 }, { "SubBackward0", 1, 9, 0 }, /* the other side's */
    };
    struct tg_region regions[2] = { { .worse_count = false } };
    struct tg_op ops[5];
    for (size_t i = 0; i < 5; i++) {
        ops[i] = hand_op(of[i].name, TG_KIND_OP);
        ops[i].region = of[i].region;
        ops[i].count[TG_BASE] = of[i].base;
        ops[i].count[TG_TEST] = of[i].test;
        ops[i].change = of[i].test > of[i].base ? TG_MORE : TG_REMOVED;
    }
    hand_ops(h, ops, 5);
    h->c.regions = regions;
    h->c.n_regions = 2;
    hand_regions(h);
    hand_near(tg_region_all_calls(&regions[1]), 9);
    ops[3] = hand_op("aten::sub", TG_KIND_OP); /* what autograd recorded the nine for */
    ops[3].region = 1;
    ops[3].count[TG_BASE] = 7;
    ops[3].change = TG_FEWER;
    hand_regions(h);
    hand_near(tg_region_all_calls(&regions[1]), 7);
}

TEST(a_guard_has_no_metric)
{
    struct tg_result r = { .subject = TG_SUBJECT_TRACE, .metric = TG_RULE_METRIC_STEP_TIME };
    hand_text(tg_result_metric(&r), "step_time");
    r.subject = TG_SUBJECT_REQUIRE;
    hand_text(tg_result_metric(&r), "");
}

/* ---- results and notes, as the stages of an evaluation add them ---- */

WITH_HAND(a_result_knows_its_rule)
{
    struct tg_bound bound = { .kind = TG_BOUND_MAX, .value = 1 };
    struct tg_limit limit = { &bound, 1, TG_NOWHERE };
    const struct tg_rule rule = { .id = TG_SV("r"),
                                  .why = TG_SV("because"),
                                  .owner = TG_SV("team"),
                                  .at = { .file = "p.yml", .line = 3, .col = 5 },
                                  .fail = { TG_LIMIT_ON, &limit, 1, TG_NOWHERE } };
    const struct tg_result *r = tg_eval_add(&h->e, &rule);
    hand_text(r->rule, "r");
    hand_text(r->why, "because");
    hand_text(r->owner, "team");
    assert_true(r->at.line == 3 && r->at.col == 5 && r->budget);
    assert_true(isnan(r->delta_pct) && isnan(r->share));
    assert_int_equal(r->folded_under, TG_NO_ID);
    r = tg_eval_add(&h->e, NULL);
    hand_text(r->rule, "guard");
    assert_true(!r->at.file && !r->budget);
    assert_int_equal(h->e.n, 2);
    hand_text(h->e.results[0].rule, "r"); /* the list grew, the first is still there */
}

WITH_HAND(a_message_has_no_values)
{
    struct tg_result r = { .rule = TG_SV("r") };
    tg_eval_message(&r, TG_STATE_INCONCLUSIVE, TG_SUBJECT_NO_MATCH, TG_NEED_MATCH, TG_SV("op"),
                    TG_SV("m"), TG_SV("n"));
    assert_int_equal(r.state, TG_STATE_INCONCLUSIVE);
    hand_text(tg_result_kind(&r), "guard");
    hand_text(r.op_normalised, "op");
    hand_text(r.next, "n");
    assert_int_equal(r.because, TG_NEED_MATCH);
    assert_false(r.has_values);
    tg_eval_message(&r, TG_STATE_PASS, TG_SUBJECT_TRACE, TG_REASON_NONE, TG_SV("op"), TG_SV("m"),
                    TG_SV(""));
    hand_text(tg_result_kind(&r), "trace");
}

/* Texts are copied: the caller's buffers go. */
WITH_HAND(notes_are_kept_in_order)
{
    char text[] = "first";
    tg_verdict_add_note(&h->v, h->a, TG_REASON_RANKS, tg_sv_of(text), TG_SV("do"));
    text[0] = 'X';
    tg_verdict_add_note(&h->v, h->a, TG_REASON_NONE, TG_SV("second"), TG_SV(""));
    assert_int_equal(h->v.n_notes, 2);
    hand_text(h->v.notes[0].text, "first");
    hand_text(h->v.notes[0].next, "do");
    assert_true(h->v.notes[0].warning);
    assert_int_equal(h->v.notes[0].reason, TG_REASON_RANKS);
    assert_false(h->v.notes[1].warning || h->v.notes[1].reason);
}
