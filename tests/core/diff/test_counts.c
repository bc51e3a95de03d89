/*
 * Counts by step: which differences are exact, which are chance, which are hints. A side is written
 * as runs of five steps; expected probabilities are worked out beside each test.
 */
#include <math.h>

#include "core/diff/counts.h"
#include "tests/support.h"

enum { STEPS = 5, MAX_RUNS = 10 };

/* `n` runs from rows of five steps. */
static struct tg_count_evidence judge(size_t n_base, const double base[][STEPS], size_t n_test,
                                      const double test[][STEPS], bool waits)
{
    struct tg_step_counts view[2][MAX_RUNS];
    const struct tg_step_counts *const run[2] = { view[TG_BASE], view[TG_TEST] };
    const size_t n[2] = { n_base, n_test };
    struct tg_count_evidence ev;

    for (size_t i = 0; i < n_base; i++)
        view[TG_BASE][i] = (struct tg_step_counts){ base[i], STEPS };
    for (size_t i = 0; i < n_test; i++)
        view[TG_TEST][i] = (struct tg_step_counts){ test[i], STEPS };
    tg_count_judge(&ev, run, n, waits ? TG_CALLS_WAIT : TG_CALLS_WORK);
    return ev;
}

#define ONE                                                                                        \
    {                                                                                              \
        1, 1, 1, 1, 1                                                                              \
    }
#define MANY                                                                                       \
    {                                                                                              \
        1001, 1001, 1001, 1001, 1001                                                               \
    }
static const double ones[5][STEPS] = { ONE, ONE, ONE, ONE, ONE };

static void near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-9))
        fail_msg("got %.17g, want %.17g", got, want);
}

TEST(constant_counts_are_exact)
{
    const double two[1][STEPS] = { { 2, 2, 2, 2, 2 } };
    struct tg_count_evidence ev = judge(1, ones, 1, two, false);
    assert_int_equal(ev.shape, TG_COUNT_CONSTANT);
    assert_int_equal(ev.proof, TG_COUNT_PROVEN);
    assert_int_equal(judge(1, ones, 1, ones, false).proof, TG_COUNT_UNCHANGED);
    assert_int_equal(judge(1, two, 1, ones, false).proof, TG_COUNT_UNCHANGED); /* fell */
}

TEST(most_runs_decide_and_few_are_told)
{
    const double four[5][STEPS] = { MANY, ONE, MANY, MANY, MANY };
    const double two[5][STEPS] = { ONE, MANY, ONE, ONE, MANY };
    struct tg_count_evidence ev = judge(5, ones, 5, four, false);
    assert_int_equal(ev.shape, TG_COUNT_RUNS_DIFFER);
    assert_int_equal(ev.proof, TG_COUNT_PROVEN);
    assert_int_equal(ev.runs_above, 4);
    ev = judge(5, ones, 5, two, false);
    assert_int_equal(ev.shape, TG_COUNT_RUNS_DIFFER);
    assert_int_equal(ev.proof, TG_COUNT_HINT);
    assert_int_equal(ev.runs_above, 2);
    near(ev.most, 1001);
}

/* Without first steps 12 against 12, of which 6: C(12,6) / C(24,6) = 924 / 134596. */
TEST(two_steps_of_five_in_three_runs_are_no_chance)
{
    const double part[3][STEPS] = { { 1, 9, 1, 9, 1 }, { 1, 1, 9, 1, 9 }, { 1, 9, 9, 1, 1 } };
    const double once[3][STEPS] = { { 1, 9, 1, 1, 1 }, { 1, 1, 9, 1, 1 }, { 1, 1, 1, 1, 9 } };
    struct tg_count_evidence ev = judge(3, ones, 3, part, false);
    assert_int_equal(ev.shape, TG_COUNT_SOME_STEPS);
    assert_int_equal(ev.proof, TG_COUNT_PROVEN);
    assert_int_equal(ev.above, 6);
    assert_int_equal(ev.steps, 15);
    near(ev.p, 924.0 / 134596);
    ev = judge(3, ones, 3, once, false); /* C(12,3) / C(24,3) = 220 / 2024 */
    assert_int_equal(ev.proof, TG_COUNT_HINT);
    near(ev.p, 220.0 / 2024);
}

/* The same six steps, all in one run of three, may be that run's data. */
TEST(one_run_proves_nothing_about_three)
{
    const double long_run[3][STEPS] = { { 1, 9, 9, 9, 1 }, ONE, ONE };
    assert_int_equal(judge(5, ones, 3, long_run, false).proof, TG_COUNT_HINT);
}

TEST(single_runs_with_a_branch_only_hint)
{
    const double taken[1][STEPS] = { { 1, 2, 1, 2, 2 } };
    assert_int_equal(judge(1, ones, 1, taken, false).proof, TG_COUNT_HINT);
    assert_int_equal(judge(1, taken, 1, ones, false).proof, TG_COUNT_UNCHANGED);
}

TEST(waits_fail_in_two_steps_but_not_in_one)
{
    const double twice[1][STEPS] = { { 1, 2, 1, 2, 1 } }, once[1][STEPS] = { { 1, 1, 1, 2, 1 } };
    assert_int_equal(judge(1, ones, 1, twice, true).proof, TG_COUNT_PROVEN);
    assert_int_equal(judge(1, ones, 1, twice, false).proof, TG_COUNT_HINT);
    assert_int_equal(judge(1, ones, 1, once, true).proof, TG_COUNT_HINT);
}

TEST(a_cold_first_step_is_told_and_no_more)
{
    const double cold[3][STEPS] = { { 9, 1, 1, 1, 1 }, { 9, 1, 1, 1, 1 }, { 9, 1, 1, 1, 1 } };
    struct tg_count_evidence ev = judge(3, ones, 3, cold, true);
    assert_int_equal(ev.shape, TG_COUNT_FIRST_STEP);
    assert_int_equal(ev.proof, TG_COUNT_HINT);
    assert_int_equal(ev.above, 3);
    assert_int_equal(ev.runs_above, 3);
    const double and_fewer[1][STEPS] = { { 9, 1, 0, 1, 1 } };
    assert_int_equal(judge(3, ones, 1, and_fewer, true).shape, TG_COUNT_FIRST_STEP);
    assert_int_equal(judge(3, cold, 3, cold, true).proof, TG_COUNT_UNCHANGED);
    assert_int_equal(judge(3, cold, 3, ones, true).proof, TG_COUNT_UNCHANGED);
}

/* No other step has it, so the first one is not a cold copy of the others: 6 calls become 12. */
TEST(what_runs_once_a_run_is_held_against_itself)
{
    const double base[3][STEPS] = { { 6, 0, 0, 0, 0 }, { 6, 0, 0, 0, 0 }, { 6, 0, 0, 0, 0 } };
    const double fresh[3][STEPS] = { { 12, 0, 0, 0, 0 }, { 12, 0, 0, 0, 0 }, { 6, 0, 0, 0, 0 } };
    const double none[3][STEPS] = { { 0, 0, 0, 0, 0 }, { 0, 0, 0, 0, 0 }, { 0, 0, 0, 0, 0 } };
    const double differ[3][STEPS] = { { 6, 0, 0, 0, 0 }, { 7, 0, 0, 0, 0 }, { 6, 0, 0, 0, 0 } };
    assert_int_equal(judge(3, base, 3, fresh, false).proof, TG_COUNT_PROVEN);
    assert_int_equal(judge(3, base, 3, base, false).proof, TG_COUNT_UNCHANGED);
    assert_int_equal(judge(3, none, 3, fresh, false).proof, TG_COUNT_HINT);
    assert_int_equal(judge(3, differ, 3, fresh, false).proof, TG_COUNT_HINT);
}

TEST(counts_that_vary_need_a_gap_and_twice_the_calls)
{
    const double base[3][STEPS] = { { 4, 5, 6, 5, 4 }, { 5, 6, 6, 4, 4 }, { 6, 5, 4, 5, 6 } };
    const double same[3][STEPS] = { { 5, 6, 6, 6, 5 }, { 6, 6, 5, 5, 6 }, { 4, 5, 5, 6, 6 } };
    /* 6..8: most pairs of steps won, but no gap; 9..11: a gap, but not twice 6; 13..15: both */
    const double more[3][STEPS] = { { 7, 8, 6, 7, 8 }, { 8, 7, 7, 6, 8 }, { 7, 8, 8, 7, 6 } };
    const double gap[3][STEPS] = { { 9, 10, 9, 10, 11 }, { 9, 9, 10, 9, 9 }, { 9, 10, 9, 9, 9 } };
    const double twice[3][STEPS] = { { 13, 14, 13, 15, 14 },
                                     { 13, 13, 13, 13, 14 },
                                     { 15, 14, 13, 13, 13 } };
    assert_int_equal(judge(3, base, 3, same, false).proof, TG_COUNT_UNCHANGED);
    assert_int_equal(judge(3, base, 3, more, false).proof, TG_COUNT_HINT);
    assert_int_equal(judge(3, base, 3, gap, false).proof, TG_COUNT_HINT);
    struct tg_count_evidence ev = judge(3, base, 3, twice, false);
    assert_int_equal(ev.shape, TG_COUNT_VARIES);
    assert_int_equal(ev.proof, TG_COUNT_PROVEN);
}

/* 8 is as far above 6 as the baseline is wide, 9 is farther. */
TEST(a_step_far_above_all_others_is_told)
{
    const double base[3][STEPS] = { { 4, 5, 6, 5, 4 }, { 5, 6, 6, 4, 4 }, { 6, 5, 4, 5, 6 } };
    const double near_by[1][STEPS] = { { 4, 5, 8, 5, 4 } }, far[1][STEPS] = { { 4, 5, 9, 5, 4 } };
    assert_int_equal(judge(3, base, 1, near_by, false).proof, TG_COUNT_UNCHANGED);
    assert_int_equal(judge(3, base, 1, far, false).proof, TG_COUNT_HINT);
}

/* A run of digits, one a step; `runs` alike a side. */
static struct tg_count_evidence judge_digits(const char *base, const char *test, size_t runs,
                                             bool waits)
{
    double v[2][32];
    struct tg_step_counts view[2][MAX_RUNS];
    const struct tg_step_counts *const run[2] = { view[TG_BASE], view[TG_TEST] };
    const size_t n[2] = { runs, runs };
    struct tg_count_evidence ev;

    for (int side = 0; side < 2; side++) {
        const char *digits = side == TG_BASE ? base : test;
        for (size_t i = 0; digits[i]; i++)
            v[side][i] = digits[i] - '0';
        for (size_t i = 0; i < runs; i++)
            view[side][i] = (struct tg_step_counts){ v[side], strlen(digits) };
    }
    tg_count_judge(&ev, run, n, waits ? TG_CALLS_WAIT : TG_CALLS_WORK);
    return ev;
}

/*
 * What runs every so many steps. The chance is that of the order of the steps, times that of the numbers:
 *   10101010 becomes 11111111: 2 of 70 orders repeat after two steps; 16 of 16 drawn from 12 of 16: C(12,8)/C(16,8)
 *   10001000 becomes 20002000: 4 of 28 on both sides; both twos fresh: C(8,2)/C(16,2)
 */
TEST(a_schedule_is_exact)
{
    const struct {
        const char *base, *test;
        double p;
        enum tg_count_proof proof;
        bool waits;
    } rows[] = {
        { "10101010", "11111111", 2.0 / 70 * 495 / 12870, TG_COUNT_HINT, false },
        { "10101010", "11111111", 2.0 / 70 * 495 / 12870, TG_COUNT_PROVEN, true },
        { "10001000", "10101010", 4.0 / 28 * 2 / 70, TG_COUNT_HINT, false },
        { "10001000", "20002000", 16.0 / 784 * 28 / 120, TG_COUNT_HINT, false },
        { "101010101010", "202020202020", 4.0 / 924 / 924 * 924 / 134596, TG_COUNT_PROVEN, false },
        { "901010101010", "902020202020", -1, TG_COUNT_PROVEN, false }, /* cold */
        { "10001000", "01000100", 1, TG_COUNT_UNCHANGED, true },        /* another phase */
        { "10001000", "10001000100", 1, TG_COUNT_UNCHANGED, true },     /* more steps */
        { "20202020", "10101010", 1, TG_COUNT_UNCHANGED, true },        /* fewer */
        { "01101000", "01111010", 1, TG_COUNT_UNCHANGED, true },        /* no schedule */
        { "1010", "1111", 1, TG_COUNT_UNCHANGED, true },                /* 2 of 6 orders: too few */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t runs = 1; runs <= 3; runs += 2) {
            struct tg_count_evidence ev =
                judge_digits(rows[i].base, rows[i].test, runs, rows[i].waits);
            if (ev.proof != rows[i].proof)
                fail_msg("%s, %s, %zu runs: %d", rows[i].base, rows[i].test, runs, ev.proof);
            if (rows[i].p >= 0 && ev.proof != TG_COUNT_UNCHANGED)
                near(ev.p, rows[i].p);
        }
}

TEST(no_steps_say_nothing)
{
    assert_int_equal(judge(0, ones, 1, ones, false).proof, TG_COUNT_UNCHANGED);
    assert_int_equal(judge(1, ones, 0, ones, false).proof, TG_COUNT_UNCHANGED);
}
