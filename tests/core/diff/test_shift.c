/* How much slower, and is that chance (shift.h). Oracles: of separated runs one division of C(n,
 * n/2) fits as well, the true one. Two-speed operators by hand: what ranks do not see. */
#include "by_hand.h"
#include "core/diff/confirm.h"
#include "core/diff/stats.h"

TEST(separated_runs_are_one_division_of_all)
{
    const double base[] = { 0, .01, .02, .03 }, fresh[] = { .20, .21, .22, .23 };
    struct tg_shift s = tg_shift_find(base, 4, fresh, 4, 0);
    within(s.p, 1. / 70, 1e-12);
    within(s.e, .2, .01);
    s = tg_shift_find(fresh, 4, base, 4, 0); /* faster is not slower */
    assert_true(s.e == 0 && s.p == 1);
    s = tg_shift_find(base, 4, base, 4, 0);
    assert_true(s.e == 0 && s.p == 1);
    s = tg_shift_find(base, 4, fresh, 0, 0);
    assert_true(s.e == 0 && s.p == 1);
}

/*
 * Each run is fast or takes twice as long (ln 2 = .69), and the fresh ones are slower by .41 (+50
 * %): two of five fresh ones were slow, three of the baseline. By ranks U = 10 + 3 + 2: the median
 * of the baseline is the slow speed, so that the fresh ones look faster. Moved back by .41 they
 * fall on the baseline's two speeds.
 */
TEST(two_speeds_that_both_rose)
{
    const double base[] = { 0, .01, .69, .70, .71 }, fresh[] = { .41, .42, .40, 1.10, 1.11 };
    struct tg_shift s = tg_shift_find(base, 5, fresh, 5, 0);
    assert_true(tg_rank_p(base, 5, fresh, 5, 0) > .2);
    assert_true(s.p < .02);
    within(s.e, .41, .02);
}

/* Both sides have both speeds: one side has more slow runs, which is the layout of processes,
 * not the program. */
TEST(more_runs_of_the_slow_speed_prove_nothing)
{
    const double base[] = { 0, .01, .02, .70, .71 }, fresh[] = { .01, .69, .70, .70, .71 };
    assert_true(tg_shift_find(base, 5, fresh, 5, 0).p > .1);
}

/* Many runs: p of drawn divisions, as exact as ENOUGH allows;
 * and the same in whatever order the runs come. */
TEST(of_many_divisions_some_are_drawn)
{
    double base[12], fresh[12], turned[12];
    for (int i = 0; i < 12; i++) {
        base[i] = .01 * (i * 5 % 12);
        fresh[i] = .3 + .01 * (i * 7 % 12);
        turned[11 - i] = fresh[i];
    }
    struct tg_shift s = tg_shift_find(base, 12, fresh, 12, 0);
    struct tg_shift t = tg_shift_find(base, 12, turned, 12, 0);
    within(s.p, 1. / 5001, 1e-12); /* of 5,000 drawn none of 2.7 million */
    assert_true(s.p == t.p && s.e == t.e);
    for (int i = 0; i < 12; i++)
        fresh[i] = base[i] + .001;
    assert_true(tg_shift_find(base, 12, fresh, 12, 0).p > .3);
}

/* Equal code: of many draws of two speeds a p of at most .1 comes in a tenth of them. 400 draws: 40
 * expected, standard deviation 6; p counts ties against itself, so it may be less often. */
TEST(of_the_same_code_p_is_what_it_says)
{
    uint32_t state = 7;
    int n = 0;
    for (int d = 0; d < 400; d++) {
        double x[2][5];
        for (int i = 0; i < 10; i++) {
            state = state * 1664525u + 1013904223u;
            x[i / 5][i % 5] = (state >> 31 ? .7 : 0) + (double)(state >> 8 & 1023) / 1024 * .1;
        }
        n += tg_shift_find(x[0], 5, x[1], 5, 0).p <= .1;
    }
    assert_true(n >= 20 && n <= 60);
}

/* Beyond 64 runs of a side: medians and ranks. */
TEST(very_many_runs_are_ranked)
{
    double base[65], fresh[65];
    for (int i = 0; i < 65; i++) {
        base[i] = i * .01;
        fresh[i] = base[i] + .1;
    }
    struct tg_shift s = tg_shift_find(base, 65, fresh, 65, 0);
    within(s.e, .1, 1e-12);
    within(s.p, tg_rank_p(base, 65, fresh, 65, 0), 1e-15);
}
