/* Names and codes of a verdict: they are in reports, so they never change. */
#include "policy/verdict/verdict.h"
#include "tests/support.h"

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
