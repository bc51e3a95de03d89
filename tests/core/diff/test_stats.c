/* Oracles: small enough to derive by hand; the derivation stands beside each. */
#include "core/diff/stats.h"
#include "tests/support.h"

static void near(double got, double want)
{
    if (fabs(got - want) > 1e-12 * fmax(1, fabs(want)))
        fail_msg("got %.17g, want %.17g", got, want);
}

TEST(median_and_quartile)
{
    double odd[] = { 9, 1, 4 }, even[] = { 8, 1, 4, 2 }, five[] = { 5, 1, 2, 3, 4 };
    near(tg_median(odd, 3), 4);
    near(tg_median(even, 4), 3); /* (2 + 4) / 2 */
    near(tg_median(NULL, 0), 0);
    {
        double a[] = { 9, 1, 4 }, b[] = { 8, 1, 4, 2 }, c[] = { 90, 3, 1, 5, 7 }, d[] = { 6, 2 };
        double e[] = { 8, 7, 6, 5, 4, 3, 2, 100 };
        near(tg_mid_mean(a, 3), 4);
        near(tg_mid_mean(b, 4), 3); /* (2 + 4) / 2 */
        near(tg_mid_mean(c, 5), 5); /* (3 + 5 + 7) / 3 */
        near(tg_mid_mean(d, 2), 4);
        near(tg_mid_mean(e, 8), 5.5); /* (4 + 5 + 6 + 7) / 4: two are left out at each end */
        near(tg_mid_mean(e, 1), 2);   /* sorted by now */
        near(tg_mid_mean(NULL, 0), 0);
    }
    near(tg_quantile(five, 5, 0.25), 2);    /* position 4 * .25 = 1 */
    near(tg_quantile(even, 4, 0.25), 1.75); /* 1 2 4 8, position .75: 1 + .75 * 1 */
    near(tg_quantile(even, 4, 1), 8);
    assert_true(isnan(tg_quantile(NULL, 0, 0.5)));
}

TEST(mode_prefers_the_larger_of_a_tie)
{
    uint64_t cold[] = { 7, 2, 2, 2, 2 }, tie[] = { 3, 1, 3, 1 }, one[] = { 5 };
    size_t hits;
    assert_int_equal(tg_mode(cold, 5, &hits), 2);
    assert_int_equal(hits, 4);
    assert_int_equal(tg_mode(tie, 4, &hits), 3);
    assert_int_equal(hits, 2);
    assert_int_equal(tg_mode(one, 1, NULL), 5);
    assert_int_equal(tg_mode(NULL, 0, &hits), 0);
    assert_int_equal(hits, 0);
}

TEST(what_repeats)
{
    const double v[] = { 1, 0, 0, 1, 0, 0, 1 }, once[] = { 1, 0, 0, 1, 0 };
    assert_int_equal(tg_period_of(v, 7), 3);
    assert_int_equal(tg_period_of(v, 5), 0); /* not twice */
    assert_int_equal(tg_period_of(once + 1, 2), 1);
    assert_int_equal(tg_period_of(v, 1), 0);
}

TEST(rank_p_of_complete_separation)
{
    const double b[] = { 1, 2, 3, 4, 5 }, t[] = { 6, 7, 8, 9, 10 };
    near(tg_rank_p(b, 5, t, 5, 0), 1.0 / 252); /* one of C(10, 5) arrangements */
    near(tg_rank_p(b, 3, t, 3, 0), 1.0 / 20);
    near(tg_rank_p(b, 1, t, 1, 0), 0.5);
    near(tg_rank_p(t, 5, b, 5, 0), 1); /* the other way round: every arrangement is at most that */
}

TEST(rank_p_counts_inversions_and_ties)
{
    /* one inversion (5.5 under 6): U = 1; arrangements with U <= 1: one with 0, one with 1 */
    const double b[] = { 1, 2, 3, 4, 6 }, t[] = { 5.5, 7, 8, 9, 10 };
    near(tg_rank_p(b, 5, t, 5, 0), 2.0 / 252);
    /* a tie counts as an inversion */
    const double t2[] = { 6, 7, 8, 9, 10 };
    near(tg_rank_p(b, 5, t2, 5, 0), 2.0 / 252);
    /* 2v2, U = 2 of the multiset {0, 1, 2, 2, 3, 4} of C(4,2) = 6: four are at most 2 */
    const double b2[] = { 1, 4 }, u2[] = { 2, 3 };
    near(tg_rank_p(b2, 2, u2, 2, 0), 4.0 / 6);
    /* the shift moves the test side down: 6..10 less 5 is 1..5, all ties count against */
    const double b3[] = { 5, 5, 5 }, t3[] = { 9, 9, 9 };
    near(tg_rank_p(b3, 3, t3, 3, 4), 1);
    near(tg_rank_p(b3, 3, t3, 3, 3.9), 1.0 / 20);
}

TEST(rank_p_of_unequal_sides)
{
    /* 10v5, U = 0, 1, 2: partitions of u into at most 5 parts of at most 10: 1, 1, 2 of C(15,5) */
    double b[10], t[5] = { 20, 21, 22, 23, 24 };
    for (int i = 0; i < 10; i++)
        b[i] = i;
    near(tg_rank_p(b, 10, t, 5, 0), 1.0 / 3003);
    t[0] = 8.5;
    near(tg_rank_p(b, 10, t, 5, 0), 2.0 / 3003);
    t[0] = 7.5;
    near(tg_rank_p(b, 10, t, 5, 0), 4.0 / 3003);
}

/* The table and the single test agree in every bit, for every U, also beyond 2^53 arrangements
 * (C(80, 40) is 1.1e23) and where both are approximated. */
TEST(rank_table_is_the_single_test)
{
    static const size_t sizes[][2] = { { 1, 1 },  { 3, 3 },   { 5, 3 },  { 10, 5 },
                                       { 5, 10 }, { 40, 40 }, { 64, 2 }, { 65, 3 } };
    TG_ARENA *a = tg_arena_new();
    double base[65], test[65];
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t nb = sizes[s][0], nt = sizes[s][1], step = nb * nt > 100 ? 37 : 1;
        struct tg_rank_table table = tg_rank_table_new(nb, nt, a);
        for (size_t u = 0; u <= nb * nt; u += step) {
            for (size_t i = 0; i < nb; i++)
                base[i] = (double)i;
            for (size_t i = 0; i < nt; i++) { /* each test value is under as many as are left */
                size_t under = u > i * nb ? (u - i * nb < nb ? u - i * nb : nb) : 0;
                test[i] = (double)(nb - under) - 0.5;
            }
            assert_true(tg_rank_table_p(&table, base, test, 0) == tg_rank_p(base, nb, test, nt, 0));
        }
    }
    const double b[] = { 1, 2, 3 }, t[] = { 6, 7, 8 };
    struct tg_rank_table three = tg_rank_table_new(3, 3, a), none = tg_rank_table_new(0, 3, a);
    near(tg_rank_table_p(&three, b, t, 0), 1.0 / 20);
    near(tg_rank_table_p(&none, b, t, 0), 1);
}

TEST(noise_counts_only_the_harmful_side)
{
    /* medians 2 and 10. Harmful: base 4 is 2 above, test 9 is 1 below: 2 * (4 + 1) / 4 = 2.5 */
    const double b[] = { 0, 2, 4 }, t[] = { 9, 10, 30 };
    near(tg_harmful_variance(b, 3, t, 3, 2, 10), 2.5);
    /* mirrored outliers (base below, test above) are no evidence against: 0 */
    const double b2[] = { 0, 2, 2 }, t2[] = { 10, 10, 30 };
    near(tg_harmful_variance(b2, 3, t2, 3, 2, 10), 0);
    near(tg_harmful_variance(b, 1, t, 1, 0, 9), 0);
}

TEST(standard_error_is_moderated)
{
    /* (2 * 1 + 4 * 4) / 6 = 3; 3 * (1/3 + 1/3) = 2 */
    near(tg_moderated_se(4, 1, 3, 3), sqrt(2));
    /* v alone when v0 == v: 4 * (1/5 + 1/5) */
    near(tg_moderated_se(4, 4, 5, 5), sqrt(1.6));
}

TEST(thresholds_by_runs)
{
    static const struct {
        size_t nb, nt;
        double z, tau, p;
    } want[] = {
        { 3, 3, 4, .15, 1.0001 / 20 },
        { 4, 3, 4, .15, 1.0001 / 35 },
        { 4, 4, 3.5, .12, 1.0001 / 70 },
        { 5, 3, 3.5, .12, 1.0001 / 56 },
        { 5, 5, 3, .08, 2.0001 / 252 },
        { 7, 3, 3, .08, 1.0001 / 120 },
        { 10, 4, 3, .08, .001 },
        { 9, 5, 3, .08, 2.0001 / 252 },
        /* 1/10 + 1/5 and 1/7 + 1/7 are at most 0.3; 1/9 + 1/5 and 1/30 + 1/3 are more */
        { 10, 5, 3, .06, 2.0001 / 462 },
        { 5, 10, 3, .06, 2.0001 / 462 },
        { 7, 7, 3, .06, 2.0001 / 462 },
        { 8, 7, 3, .06, 2.0001 / 462 },
        { 40, 5, 3, .06, 2.0001 / 462 },
        { 30, 3, 3, .08, .001 },
        { 8, 8, 3, .05, 2.0001 / 252 },
        { 30, 8, 3, .05, 2.0001 / 252 },
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct tg_threshold t = tg_threshold_of(want[i].nb, want[i].nt);
        near(t.z, want[i].z);
        near(t.tau, want[i].tau);
        near(t.p_limit, want[i].p);
    }
    near(tg_choose(15, 5), 3003);
    near(tg_choose(3, 4), 0);
}
