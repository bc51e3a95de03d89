/* Ranks of which a side stores no more than the step times (steps_only.c). */
#include "by_hand.h"
#include "core/diff/internal.h"

enum { RUNS = 2, RANKS = 4 };

/* Ranks 5 to 8 on both sides. */
static struct tg_diff_work work(struct fixture *f)
{
    for (int side = 0; side < 2; side++) {
        make_ranks(f, side, RUNS, RANKS, 5, 1);
        f->c.side[side] = f->side[side];
    }
    return (struct tg_diff_work){ .c = &f->c, .a = f->a, .o = &f->o };
}

/* The baseline leaves out 8 in its second run and 6 in both, the fresh side 6 and 5: 7 is left. */
BY_HAND(what_either_side_leaves_out_is_on_neither)
{
    struct tg_diff_work w = work(f);
    struct tg_side measured[2];
    shard_of(f, TG_BASE, 1, 3)->steps_only = true;
    shard_of(f, TG_BASE, 0, 1)->steps_only = shard_of(f, TG_BASE, 1, 1)->steps_only = true;
    shard_of(f, TG_TEST, 0, 1)->steps_only = shard_of(f, TG_TEST, 0, 0)->steps_only = true;
    assert_true(tg_diff_drop_steps_only(&w, measured, &f->err));
    assert_int_equal(f->c.n_steps_only, 3); /* 6 once */
    assert_int_equal(f->c.steps_only[0], 5);
    assert_int_equal(f->c.steps_only[1], 6);
    assert_int_equal(f->c.steps_only[2], 8);
    for (int side = 0; side < 2; side++) {
        assert_int_equal(f->c.side[side].n_ranks, 1);
        assert_int_equal(f->c.side[side].ranks[0], 7);
        for (size_t run = 0; run < RUNS; run++)
            assert_int_equal(f->c.side[side].at[run][0]->rank, 7);
    }
    assert_int_equal(f->side[TG_BASE].n_ranks, RANKS); /* what came is not touched */
}

/* 6 has no names in the fresh run, 8 step times alone: 6 is measured, and no operator is of it. */
BY_HAND(ranks_without_names_are_measured)
{
    struct tg_diff_work w = work(f);
    struct tg_side measured[2];
    shard_of(f, TG_TEST, 1, 1)->unnamed = true;
    shard_of(f, TG_BASE, 0, 3)->steps_only = true;
    assert_true(tg_diff_drop_steps_only(&w, measured, &f->err));
    assert_int_equal(f->c.n_unnamed, 1);
    assert_int_equal(f->c.n_steps_only, 1);
    for (int side = 0; side < 2; side++) {
        assert_int_equal(measured[side].n_ranks, 3);
        assert_int_equal(measured[side].ranks[1], 6);
        assert_int_equal(measured[side].ranks[2], 7);
        assert_int_equal(f->c.side[side].n_ranks, 2);
        assert_int_equal(f->c.side[side].ranks[0], 5);
        assert_int_equal(f->c.side[side].ranks[1], 7);
    }
}

/* Busy for 10, 20, 30 and 40 ns on four ranks, whose mean is 25, and steps of 1 to 4 us. */
BY_HAND(metrics_are_of_ranks_without_names_too)
{
    (void)work(f);
    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < RUNS; run++)
            for (size_t rank = 0; rank < RANKS; rank++) {
                struct tg_shard *h = shard_of(f, side, run, rank);
                int64_t k = (int64_t)rank + 1;
                h->unnamed = rank > 1;
                h->metrics[TG_METRIC_GPU_BUSY] = (struct tg_metric_value){ true, 10 * k, 1 };
                h->metrics[TG_METRIC_STEP_TIME] = (struct tg_metric_value){ true, 1000 * k, 1 };
                if (rank < 2)
                    (void)add_to(f, h, TG_KIND_OP, "aten::mm", "", (uint32_t[]){ 3 }, 101);
            }
    compare(f);
    assert_int_equal(f->c.n_unnamed, 2);
    near(f->c.metrics[TG_METRIC_GPU_BUSY].value[TG_TEST], 25);
    near(f->c.metrics[TG_METRIC_STEP_TIME].slowest[TG_BASE], 4000);
    near(f->c.rank_spread[TG_BASE], 3000);
    assert_int_equal(f->c.slowest_rank, 8);
    near(find(f, "aten::mm")->count[TG_BASE], 3); /* a rank that has it, not 3/2 */
}

BY_HAND(without_a_whole_rank_there_is_nothing_to_compare)
{
    struct tg_diff_work w = work(f);
    struct tg_side measured[2];
    for (size_t rank = 0; rank < RANKS; rank++)
        shard_of(f, TG_BASE, 0, rank)->steps_only = true;
    assert_false(tg_diff_drop_steps_only(&w, measured, &f->err));
    assert_int_equal(f->err.kind, TG_ERR_SUMMARY);
    assert_non_null(strstr(f->err.message, "of the baseline side"));
    assert_non_null(strstr(f->err.hint, "tracegate baseline show"));
}
