/* How many results there are of a state, and why; which of the changed lines is quoted. */
#include "core/base/buf.h"
#include "reporters/findings.h"
#include "reporters/origin.h"
#include "tests/support.h"

#define BUSY "the machine was busy"
#define RUNS "too few runs"

/* What is said of results that were not judged for these reasons, and of one that passed. */
static void not_judged(const char *const *why, size_t n, const char *want)
{
    struct tg_result r[8] = {
        { .state = TG_STATE_PASS, .why_not = RUNS, .folded_under = TG_NO_ID }
    };
    struct tg_verdict v = { .outcome = TG_OUTCOME_PASS, .results = r, .n_results = n + 1 };
    struct tg_tally tally[TG_STATE_FAIL + 1];
    TG_BUF out = { 0 };
    for (size_t i = 0; i < n; i++)
        r[i + 1] = (struct tg_result){ .state = TG_STATE_NOT_JUDGED,
                                       .why_not = why[i],
                                       .folded_under = TG_NO_ID };
    v.n_state[TG_STATE_PASS] = 1;
    v.n_state[TG_STATE_NOT_JUDGED] = n;
    assert_int_equal(tg_tally(&v, tally), 2);
    tg_tally_put(&out, &tally[0]);
    tg_buf_puts(&out, "; ");
    tg_tally_put(&out, &tally[1]);
    assert_string_equal(out.p, want);
}

TEST(what_was_not_judged_says_why)
{
    static const char *const why[] = { BUSY, RUNS, BUSY, RUNS, NULL };
    not_judged(why, 1, "1 passed; 1 not judged (" BUSY ")");
    not_judged(why, 2, "1 passed; 2 not judged"); /* no reason is that of most */
    not_judged(why, 3, "1 passed; 3 not judged (2: " BUSY ")");
    not_judged(why + 1, 1, "1 passed; 1 not judged (" RUNS ")");
    not_judged(why + 4, 1, "1 passed; 1 not judged");
}

TEST(a_verdict_without_rows_is_counted)
{
    struct tg_verdict v = { .outcome = TG_OUTCOME_INCONCLUSIVE };
    struct tg_tally tally[TG_STATE_FAIL + 1];
    assert_int_equal(tg_tally(&v, tally), 1);
    assert_int_equal(tally[0].state, TG_STATE_INCONCLUSIVE);
    v.outcome = TG_OUTCOME_PASS;
    assert_int_equal(tg_tally(&v, tally), 0);
}

TEST(a_quoted_line_is_one_of_those_that_changed)
{
    static const struct tg_cause_lines lines[] = { { 23, 23 }, { 26, 27 } };
    struct tg_cause c = { .changed = lines, .n_changed = 1 };
    TG_BUF out = { 0 };
    tg_origin_put_unquoted(&out, &c);
    assert_int_equal(out.n, 0);
    c.n_changed = 2;
    tg_origin_put_unquoted(&out, &c);
    assert_string_equal(out.p, " (1 of 3 changed lines)");
}
