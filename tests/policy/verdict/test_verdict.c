/* Names and codes of a verdict: they are in reports, so they never change. */
#include "policy/verdict/verdict.h"
#include "tests/support.h"

static void outcomes(void **state)
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
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(tg_outcome_name(rows[i].outcome), rows[i].name);
        assert_int_equal(tg_outcome_exit_code(rows[i].outcome), rows[i].code);
    }
}

/* In order of weight: reports sort by it. */
static void states(void **state)
{
    static const char *const names[] = { "pass",       "not judged", "skip",         "waived",
                                         "suspicious", "warn",       "inconclusive", "fail" };
    (void)state;
    for (int i = 0; i <= TG_STATE_FAIL; i++)
        assert_string_equal(tg_state_name((enum tg_state)i), names[i]);
}

static void guards(void **state)
{
    static const bool is_guard[] = {
        [TG_SUBJECT_NAME] = false,   [TG_SUBJECT_TRACE] = false,   [TG_SUBJECT_STEP] = false,
        [TG_SUBJECT_REQUIRE] = true, [TG_SUBJECT_NO_MATCH] = true, [TG_SUBJECT_GUARD] = true
    };
    (void)state;
    for (int i = 0; i <= TG_SUBJECT_GUARD; i++)
        assert_int_equal(tg_result_is_guard(&(struct tg_result){ .subject = (enum tg_subject)i }),
                         is_guard[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(outcomes), cmocka_unit_test(states),
                                        cmocka_unit_test(guards) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
