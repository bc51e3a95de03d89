/* Whole-trace metrics, ranks and the environment of two sides (metrics.c). */
#include "by_hand.h"

static void start(struct fixture *f, size_t runs, size_t ranks, size_t steps)
{
    for (int side = 0; side < 2; side++)
        make_ranks(f, side, runs, ranks, 0, steps);
}

static void give(struct fixture *f, int side, size_t run, size_t rank, enum tg_metric m,
                 size_t step, int64_t num, int64_t den)
{
    set_metric(shard_of(f, side, run, rank), m, step, num, den);
}

/* The same in every step of a run. */
static void give_all(struct fixture *f, int side, size_t run, size_t rank, enum tg_metric m,
                     int64_t num, int64_t den)
{
    for (size_t j = 0; j < shard_of(f, side, run, rank)->n_steps; j++)
        give(f, side, run, rank, m, j, num, den);
}

static const struct tg_metric_change *metric(struct fixture *f, enum tg_metric m)
{
    return &f->c.metrics[m];
}

/* Two ranks in three runs. Busy for 10 and 30, 20 and 60, 90 and 10 ns: means 20, 40, 50, of which
 * the median is 40; the worst 30, 60, 90, of which it is 60. */
BY_HAND(means_over_ranks_then_a_median_over_runs)
{
    static const int64_t busy[3][2] = { { 10, 30 }, { 20, 60 }, { 90, 10 } };
    start(f, 3, 2, 1);
    for (size_t run = 0; run < 3; run++)
        for (size_t rank = 0; rank < 2; rank++) {
            give(f, TG_BASE, run, rank, TG_METRIC_GPU_BUSY, 0, busy[run][rank], 1);
            give(f, TG_BASE, run, rank, TG_METRIC_COMPUTE_SHARE, 0, busy[run][rank], 200);
        }
    compare(f);
    near(metric(f, TG_METRIC_GPU_BUSY)->value[TG_BASE], 40);
    near(metric(f, TG_METRIC_GPU_BUSY)->slowest[TG_BASE], 60);
    /* Less of the share is worse: 5, 10 and 5 %, the median of the worst is 5. */
    near(metric(f, TG_METRIC_COMPUTE_SHARE)->value[TG_BASE], 20);
    near(metric(f, TG_METRIC_COMPUTE_SHARE)->slowest[TG_BASE], 5);
}

/* A rank that does not know it has no part in the mean; a run in which none does is unknown. */
BY_HAND(what_a_run_does_not_know)
{
    start(f, 2, 2, 2);
    give(f, TG_BASE, 0, 0, TG_METRIC_SYNC_COUNT, 0, 4, 1); /* the other step is not known */
    give_all(f, TG_BASE, 1, 1, TG_METRIC_SYNC_COUNT, 6, 1);
    give_all(f, TG_TEST, 0, 0, TG_METRIC_SYNC_COUNT, 9, 1); /* nothing in the second run */
    compare(f);
    assert_true(metric(f, TG_METRIC_SYNC_COUNT)->known[TG_BASE]);
    near(metric(f, TG_METRIC_SYNC_COUNT)->value[TG_BASE], 5);
    assert_false(metric(f, TG_METRIC_SYNC_COUNT)->known[TG_TEST]);
    assert_int_equal(metric(f, TG_METRIC_SYNC_COUNT)->ev.why_not, TG_NOT_ONE_SIDED);
}

/* Steps of 1000 and 3000 ns idle for 100 and 900: 1000 of 4000, not the mean of 10 and 30 %. */
BY_HAND(ratios_are_of_sums)
{
    start(f, 1, 1, 2);
    give(f, TG_TEST, 0, 0, TG_METRIC_IDLE, 0, 100, 1000);
    give(f, TG_TEST, 0, 0, TG_METRIC_IDLE, 1, 900, 3000);
    give(f, TG_TEST, 0, 0, TG_METRIC_COMM_TIME, 0, 100, 1);
    give(f, TG_TEST, 0, 0, TG_METRIC_COMM_TIME, 1, 900, 1);
    compare(f);
    near(metric(f, TG_METRIC_IDLE)->value[TG_TEST], 25);
    near(metric(f, TG_METRIC_COMM_TIME)->value[TG_TEST], 500);
}

/* Four runs a side. 40 % busy become 20 %: less is worse, so that is the change that fails. */
BY_HAND(the_direction_of_a_metric_is_its_own)
{
    for (int fewer = 0; fewer < 2; fewer++) {
        start(f, 4, 1, 3);
        for (int side = 0; side < 2; side++)
            for (size_t run = 0; run < 4; run++) {
                int64_t low = side == fewer ? 20 : 40;
                give_all(f, side, run, 0, TG_METRIC_COMPUTE_SHARE, low, 100);
                give_all(f, side, run, 0, TG_METRIC_IDLE, low, 100);
            }
        compare(f);
        const struct tg_metric_change *share = metric(f, TG_METRIC_COMPUTE_SHARE);
        assert_int_equal(share->ev.slower, fewer);
        assert_int_equal(metric(f, TG_METRIC_IDLE)->ev.slower, !fewer);
        near(share->ev.value[TG_TEST], fewer ? 20 : 40); /* as shown, not as judged */
        near(share->ev.delta_ns, fewer ? -20 : 20);
    }
}

/* Five steps in each of four runs, of 100 ns; `idle` of them in each step. */
static void give_idle(struct fixture *f, int side, const int64_t idle[5])
{
    for (size_t run = 0; run < 4; run++)
        for (size_t j = 0; j < 5; j++)
            give(f, side, run, 0, TG_METRIC_IDLE, j, idle[j], 100);
}

/* What is shown is what was compared: the mean. 10 % become 18 % although the middle step stays at
 * 10; 22 % stay 22 although the middle step goes from 10 to 20. */
BY_HAND(a_percentage_is_proven_as_it_is_shown)
{
    static const int64_t base[2][5] = { { 10, 10, 10, 10, 10 }, { 10, 10, 10, 40, 40 } };
    static const int64_t test[2][5] = { { 10, 10, 10, 30, 30 }, { 20, 20, 20, 25, 25 } };
    static const double shown[2][2] = { { 10, 18 }, { 22, 22 } };
    for (int same = 0; same < 2; same++) {
        start(f, 4, 1, 5);
        give_idle(f, TG_BASE, base[same]);
        give_idle(f, TG_TEST, test[same]);
        compare(f);
        const struct tg_metric_change *m = metric(f, TG_METRIC_IDLE);
        near(m->value[TG_BASE], shown[same][0]);
        near(m->ev.value[TG_TEST], shown[same][1]);
        assert_int_equal(m->ev.proven, !same);
        near(m->ev.e, same ? 0 : log(1.8));
    }
}

/* Steps of rank 0 take 100 ns; the one of five of rank 1 that takes 200 instead of 100 makes its
 * mean 120: 120 / 110 - 1 is 9.1 %, 20 ns. Its shortest step is as short as before. */
BY_HAND(ranks_are_compared_as_they_are_shown)
{
    for (int slow = 0; slow < 2; slow++) {
        start(f, 4, 2, 5);
        for (int side = 0; side < 2; side++)
            for (size_t run = 0; run < 4; run++) {
                for (size_t rank = 0; rank < 2; rank++)
                    give_all(f, side, run, rank, TG_METRIC_STEP_TIME, 100, 1);
                give(f, side, run, 1, TG_METRIC_STEP_TIME, run % 5, slow && side ? 200 : 101, 1);
            }
        compare(f);
        near(f->c.skew[TG_TEST], slow ? 100 * (120 / 110.0 - 1) : 100 * (100.2 / 100.1 - 1));
        near(f->c.rank_spread[TG_TEST], slow ? 20 : 0.2);
        near(f->c.skew_ev.value[TG_TEST], f->c.skew[TG_TEST]);
        assert_int_equal(f->c.skew_ev.proven, slow);
        assert_int_equal(f->c.rank_spread_ev.proven, slow);
    }
}

BY_HAND(nothing_is_judged_where_nobody_asks)
{
    for (int no = 0; no < 2; no++) {
        start(f, 4, 1, 3);
        for (int side = 0; side < 2; side++)
            for (size_t run = 0; run < 4; run++)
                give_all(f, side, run, 0, TG_METRIC_IDLE, side ? 40 : 20, 100);
        f->o.no_evidence = no;
        compare(f);
        near(metric(f, TG_METRIC_IDLE)->value[TG_TEST], 40);
        assert_int_equal(metric(f, TG_METRIC_IDLE)->ev.why_not, no ? TG_NOT_ONE_SIDED : TG_JUDGED);
    }
}

/* Steps of 100, 250 and 400 ns on ranks 0, 2 and 1: 400 / 250 - 1 is 60 %, 400 - 100 is 300. */
BY_HAND(skew_and_spread_of_ranks)
{
    static const int64_t ns[3] = { 100, 400, 250 };
    start(f, 1, 3, 2);
    for (size_t rank = 0; rank < 3; rank++)
        give_all(f, TG_TEST, 0, rank, TG_METRIC_STEP_TIME, ns[rank], 1);
    give_all(f, TG_BASE, 0, 1, TG_METRIC_STEP_TIME, 100, 1);
    compare(f);
    assert_true(f->c.ranks_known[TG_TEST]);
    assert_false(f->c.ranks_known[TG_BASE]); /* of one rank alone */
    near(f->c.skew[TG_TEST], 60);
    near(f->c.rank_spread[TG_TEST], 300);
    assert_int_equal(f->c.slowest_rank, 1);
    assert_int_equal(f->c.skew_ev.why_not, TG_NOT_ONE_SIDED);
}

/* ---- environment ---- */

/* One key on each side; NULL: not there. */
static void environment(struct fixture *f, const char *key, const char *base, const char *test)
{
    const char *const value[2] = { base, test };
    start(f, 1, 1, 1);
    for (int side = 0; side < 2; side++)
        if (value[side])
            set_env(f, shard(f, side, 0), key, value[side]);
    compare(f);
}

BY_HAND(what_differs_is_listed)
{
    environment(f, "torch", "2.1.0", "2.2.0");
    assert_int_equal(f->c.n_env, 1);
    is_text(f->c.env[0].key, "torch");
    is_text(f->c.env[0].value[TG_BASE], "2.1.0");
    assert_true(tg_same_device(&f->c));
    environment(f, "torch", "2.1.0", "2.1.0");
    assert_int_equal(f->c.n_env, 0);
    environment(f, "torch", "2.1.0", NULL); /* unknown is told too */
    assert_int_equal(f->c.n_env, 1);
    is_text(f->c.env[0].value[TG_TEST], "");
    environment(f, "node", "a", "b"); /* where, not on what */
    assert_int_equal(f->c.n_env, 0);
}

/* Only two values that are both known make another device. */
BY_HAND(what_has_to_be_the_same)
{
    static const tg_sv major = { "cuda_major", 10 }, minor = { "torch_minor", 11 };
    environment(f, "device", "A100", "H100");
    assert_false(tg_same_device(&f->c));
    is_text(f->c.differs, "device");
    environment(f, "device", "A100", NULL);
    assert_true(tg_same_device(&f->c));
    f->o.require_same = &major;
    f->o.n_require_same = 1;
    environment(f, "cuda", "12.1", "12.4");
    assert_true(tg_same_device(&f->c));
    environment(f, "cuda", "11.8", "12.4");
    is_text(f->c.differs, "cuda_major");
    environment(f, "device", "A100", "H100"); /* no longer asked for */
    assert_true(tg_same_device(&f->c));
    f->o.require_same = &minor;
    environment(f, "torch", "2.1.0", "2.1.2");
    assert_true(tg_same_device(&f->c));
    environment(f, "torch", "2.1.0", "2.2.0");
    assert_false(tg_same_device(&f->c));
}

BY_HAND(flags_of_the_profiler)
{
    environment(f, "with_stack", "0", "1");
    assert_false(f->c.same_flags);
    environment(f, "with_stack", "0", NULL);
    assert_true(f->c.same_flags);
}

/* Values of ranks are joined in order of appearance, each once. */
BY_HAND(ranks_with_other_values_are_joined)
{
    static const char *const device[3] = { "H100", "A100", "H100" };
    start(f, 1, 3, 1);
    for (size_t rank = 0; rank < 3; rank++)
        set_env(f, shard_of(f, TG_TEST, 0, rank), "device", device[rank]);
    compare(f);
    is_text(f->c.env[0].value[TG_TEST], "H100, A100");
}
