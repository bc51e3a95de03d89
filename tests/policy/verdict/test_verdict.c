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
        [TG_SUBJECT_NAME] = false,   [TG_SUBJECT_TRACE] = false,   [TG_SUBJECT_STEP] = false,
        [TG_SUBJECT_REQUIRE] = true, [TG_SUBJECT_NO_MATCH] = true, [TG_SUBJECT_GUARD] = true
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
    h->c.ops = ops;
    h->c.n_ops = 4;
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
    h->c.ops = ops;
    h->c.n_ops = 2;
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
