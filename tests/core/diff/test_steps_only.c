/* Ranks of which a side stores no more than the step times (steps_only.c). */
#include "by_hand.h"
#include "core/diff/internal.h"

enum { RUNS = 2, RANKS = 4 };

/* Ranks 5 to 8 on both sides. */
static struct tg_diff_work work(struct fixture *f)
{
    f->c = (struct tg_comparison){ 0 };
    for (int side = 0; side < 2; side++) {
        make_ranks(f, side, RUNS, RANKS, 5, 1);
        f->c.side[side] = f->side[side];
    }
    return (struct tg_diff_work){ .c = &f->c, .a = f->a, .o = &f->o };
}

static void whole_sides_stay_as_they_are(void **state)
{
    struct fixture *f = *state;
    struct tg_diff_work w = work(f);

    assert_true(tg_diff_drop_steps_only(&w, &f->err));
    assert_int_equal(f->c.n_steps_only, 0);
    assert_int_equal(f->c.side[TG_BASE].n_ranks, RANKS);
    assert_int_equal(f->c.side[TG_TEST].n_ranks, RANKS);
}

/* The baseline leaves out 8 in its second run and 6 in both, the fresh side 6 and 5: 7 is left. */
static void what_either_side_leaves_out_is_on_neither(void **state)
{
    struct fixture *f = *state;
    struct tg_diff_work w = work(f);

    shard_of(f, TG_BASE, 1, 3)->steps_only = true;
    shard_of(f, TG_BASE, 0, 1)->steps_only = shard_of(f, TG_BASE, 1, 1)->steps_only = true;
    shard_of(f, TG_TEST, 0, 1)->steps_only = shard_of(f, TG_TEST, 0, 0)->steps_only = true;
    assert_true(tg_diff_drop_steps_only(&w, &f->err));
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

static void without_a_whole_rank_there_is_nothing_to_compare(void **state)
{
    struct fixture *f = *state;
    struct tg_diff_work w = work(f);

    for (size_t rank = 0; rank < RANKS; rank++)
        shard_of(f, TG_BASE, 0, rank)->steps_only = true;
    assert_false(tg_diff_drop_steps_only(&w, &f->err));
    assert_int_equal(f->err.kind, TG_ERR_SUMMARY);
    assert_non_null(strstr(f->err.message, "of the baseline side"));
    assert_non_null(strstr(f->err.hint, "tracegate baseline show"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, by_hand_set_up, by_hand_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(whole_sides_stay_as_they_are),
        TEST(what_either_side_leaves_out_is_on_neither),
        TEST(without_a_whole_rank_there_is_nothing_to_compare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
