#include "tests/support.h"

#include "core/history/changepoint.h"

/* Twenty nights at 0 and up to six at 0.10, each with a little noise that repeats. */
static size_t nights(double *v, size_t n_new, double by)
{
    for (int i = 0; i < 20; i++)
        v[i] = ((i * 7) % 11 - 5) * 0.002;
    for (int i = 0; i < (int)n_new; i++)
        v[20 + i] = by + ((i * 5) % 7 - 3) * 0.002;
    return 20 + n_new;
}

/* Nights of which nobody knows how their runs differ. */
static struct tg_history_scan look(const double *v, size_t n)
{
    static const double unknown[TG_CHANGEPOINT_WINDOW];
    return tg_history_scan_look(v, unknown, n);
}

/* By pairs, as the header defines z_k. */
static double rank_z(const double *v, size_t n, size_t k)
{
    size_t b = n - k, u = 0;
    for (size_t i = b; i < n; i++)
        for (size_t j = 0; j < b; j++)
            u += v[i] > v[j];
    return ((double)u - (double)(k * b) / 2) / sqrt((double)(k * b * (n + 1)) / 12);
}

/* All 154,440 orders of the newest five of 13 nights: in 120 of them the largest z exceeds c(13),
 * which is the most below one in a thousand (counted with Python, too). */
TEST(critical_of_13_nights_is_exact)
{
    size_t above = 0, all = 0;
    int r[5];
    for (r[0] = 0; r[0] < 13; r[0]++)
        for (r[1] = 0; r[1] < 13; r[1]++)
            for (r[2] = 0; r[2] < 13; r[2]++)
                for (r[3] = 0; r[3] < 13; r[3]++)
                    for (r[4] = 0; r[4] < 13; r[4]++) {
                        double v[13], most = 0;
                        unsigned used = 0;
                        size_t at = 0;
                        for (int i = 0; i < 5; i++)
                            used |= 1u << r[i];
                        if (__builtin_popcount(used) != 5)
                            continue;
                        for (int i = 0; i < 13; i++)
                            if (!(used >> i & 1))
                                v[at++] = i;
                        for (int i = 0; i < 5; i++)
                            v[12 - i] = r[i];
                        for (size_t k = 3; k <= 5; k++)
                            most = fmax(most, rank_z(v, 13, k));
                        above += most > tg_changepoint_critical(13) + 1e-6;
                        all++;
                    }
    assert_int_equal(all, 154440);
    assert_int_equal(above, 120);
}

TEST(table_ends_where_it_says)
{
    assert_true(isinf(tg_changepoint_critical(12)));
    assert_true(isinf(tg_changepoint_critical(41)));
    for (size_t n = 14; n <= 40; n++)
        assert_true(tg_changepoint_critical(n) > 2.9 && tg_changepoint_critical(n) < 3.25);
}

/* Two nights of +10 %: p = 1 / C(22, 2) = 0.0043; e and z from Python's statistics. */
TEST(two_nights_are_enough_for_a_large_step)
{
    double v[40];
    struct tg_history_scan s = look(v, nights(v, 2, 0.10));
    assert_int_equal(s.lane, TG_LANE_FAST);
    assert_int_equal(s.k, 2);
    assert_true(fabs(s.e - 0.099) < 1e-9);
    assert_true(fabs(s.p - 1.0 / 231) < 1e-9);
}

/* Of two to six new nights all are told apart; z_k by pairs, with Python's itertools. */
TEST(rank_z_counts_pairs)
{
    static const double want[] = { 2.28416, 2.73861, 3.09839, 3.39683, 3.65148 };
    double v[40];
    for (size_t k = 2; k <= 6; k++) {
        struct tg_history_scan s = look(v, nights(v, k, 0.10));
        assert_int_equal(s.k, k);
        assert_true(fabs(s.rank_z - want[k - 2]) < 5e-6);
    }
}

TEST(one_night_is_not)
{
    double v[40];
    assert_int_equal(look(v, nights(v, 1, 0.30)).lane, TG_LANE_NONE);
    (void)nights(v, 4, 0);
    v[20] = 0.30; /* a bad night that went by */
    assert_int_equal(look(v, 24).lane, TG_LANE_NONE);
}

TEST(five_nights_are_scanned)
{
    double v[40];
    struct tg_history_scan s = look(v, nights(v, 5, 0.10));
    assert_int_equal(s.lane, TG_LANE_SCAN); /* z_5 = 3.3968 > c(25) = 3.204035 */
    assert_int_equal(s.k, 5);
    assert_int_equal(s.k_min, 5);
    assert_int_equal(s.k_max, 5);
    assert_true(fabs(s.z - 31.761170158301177) < 1e-6);
}

/* Of 20 old nights the last two are the highest, by chance: 1 %; the two new ones are at 30 %. With
 * ranks the newest four are as far from the rest as can be (z_4 3.02, z_2 2.28). A night half way,
 * at 15 %, may be of either level. */
TEST(a_place_is_by_values)
{
    double v[40];
    size_t k_min = 1, k_max = 14, n = nights(v, 2, 0.30);
    v[18] = v[19] = 0.011;
    assert_true(rank_z(v, n, 4) > rank_z(v, n, 2));
    assert_int_equal(tg_changepoint_locate(v, n, &k_min, &k_max), 2);
    assert_int_equal(k_min, 2);
    assert_int_equal(k_max, 2);
    v[19] = 0.15;
    k_min = 1;
    k_max = 14;
    (void)tg_changepoint_locate(v, n, &k_min, &k_max);
    assert_int_equal(k_min, 2);
    assert_int_equal(k_max, 3);
}

/*
 * Nights of 10 % more that are 0.2 % apart, while the five runs of each say that it is uncertain by
 * 2.5 %: two of them are 0.099 / (0.025 / sqrt(2)) = 5.6 standard errors, under the 8 of the fast
 * lane; five are 0.1 / (0.025 / sqrt(5)) = 8.9, over the 5 of the scan. Old nights do not count.
 */
TEST(a_night_is_as_uncertain_as_its_runs)
{
    double v[40], own[40] = { 0 };
    for (size_t i = 20; i < 40; i++)
        own[i] = 0.025 * 0.025;
    assert_int_equal(tg_history_scan_look(v, own, nights(v, 2, 0.10)).lane, TG_LANE_NONE);
    assert_int_equal(tg_history_scan_look(v, own, nights(v, 2, 0.20)).lane, TG_LANE_FAST);
    struct tg_history_scan s = tg_history_scan_look(v, own, nights(v, 5, 0.10));
    assert_int_equal(s.lane, TG_LANE_SCAN);
    assert_true(fabs(s.z - 0.1 / (0.025 / sqrt(5))) < 1e-9);
    for (size_t i = 0; i < 40; i++)
        own[i] = i < 20 ? 1 : 0;
    assert_int_equal(tg_history_scan_look(v, own, nights(v, 2, 0.10)).lane, TG_LANE_FAST);
}

TEST(too_small_or_too_short_is_nothing)
{
    double v[40];
    assert_int_equal(look(v, nights(v, 6, 0.015)).lane, TG_LANE_NONE); /* under 2 % */
    assert_int_equal(look(v, nights(v, 6, 0.03)).lane, TG_LANE_SCAN);
    (void)nights(v, 6, 0.5);
    assert_int_equal(look(v + 16, 10).lane, TG_LANE_NONE); /* 10 nights */
}

TEST(equal_nights_are_no_rise)
{
    double v[30] = { 0 };
    assert_int_equal(look(v, 30).lane, TG_LANE_NONE);
    for (size_t i = 25; i < 30; i++)
        v[i] = 0.1;
    assert_int_equal(look(v, 30).lane, TG_LANE_SCAN); /* no spread at all: z is infinite */
}

TEST(drift_needs_every_night)
{
    double old[10], new_[5];
    for (int i = 0; i < 10; i++)
        old[i] = (i % 3) * 0.002;
    for (int i = 0; i < 5; i++)
        new_[i] = 0.004 + 0.05 + (i % 2) * 0.002;
    assert_true(tg_drift_look(old, 10, new_, 5).found);
    new_[2] = 0.004 + 0.048; /* under 5 % above the largest old night */
    assert_false(tg_drift_look(old, 10, new_, 5).found);
}

/* Three new nights 30 % above n_old old ones: of 969 choices of three among 19 one is as extreme (p
 * 0.001); z_3 is (48 - 24) / sqrt(80) = 2.68, too little for the scan of 19 nights (3.18). */
static struct tg_history_scan three_after(size_t n_old, size_t outlier)
{
    double v[24];
    for (size_t i = 0; i < n_old; i++)
        v[i] = (double)(i % 3) * 0.002 + (i == outlier ? 0.31 : 0);
    for (size_t i = n_old; i < n_old + 3; i++)
        v[i] = 0.30 + (double)(i % 3) * 0.002;
    return look(v, n_old + 3);
}

TEST(the_fast_lane_needs_sixteen_nights_without_such_a_night)
{
    assert_int_equal(three_after(16, SIZE_MAX).lane, TG_LANE_FAST);
    assert_int_equal(three_after(16, SIZE_MAX).k, 3);
    assert_int_equal(three_after(15, SIZE_MAX).lane, TG_LANE_NONE);
    assert_int_equal(three_after(20, SIZE_MAX).lane, TG_LANE_FAST);
    assert_int_equal(three_after(20, 4).lane, TG_LANE_NONE);
}

/* Ten rising nights: 45 pairs of 45, variance 10 * 9 * 25 / 18 = 125. */
/* 0 … 5: the line has no residual, the best two levels (0 1 2 | 3 4 5) have 2 + 2. A step has none
 * with two levels. */
TEST(a_line_is_no_step)
{
    const double line[] = { 0, 1, 2, 3, 4, 5 }, step[] = { 0, 0, 0, 1, 1, 1 }, flat[] = { 1, 1, 1 };
    assert_true(tg_changepoint_is_line(line, 6));
    assert_false(tg_changepoint_is_line(step, 6));
    assert_false(tg_changepoint_is_line(flat, 3));
    assert_false(tg_changepoint_is_line(line, 1));
    assert_false(tg_changepoint_is_line(line, 0));
}

TEST(a_trend_counts_rising_pairs)
{
    double v[10];
    for (int i = 0; i < 10; i++)
        v[i] = i;
    assert_true(fabs(tg_changepoint_trend(v, 10) - 45 / sqrt(125)) < 1e-12);
    v[0] = 9.5; /* nine pairs turn: 36 - 9 */
    assert_true(fabs(tg_changepoint_trend(v, 10) - 27 / sqrt(125)) < 1e-12);
    assert_true(tg_changepoint_trend(v, 1) == 0);
}
