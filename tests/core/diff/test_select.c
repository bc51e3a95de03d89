/* The ranks and the steps that are compared (select.c). */
#include "by_hand.h"
#include "core/diff/internal.h"

BY_HAND(steps_that_are_chosen)
{
    static const int64_t two[] = { 4, 5 }, none[] = { 9 };
    static const uint32_t each[] = { 1, 2, 3, 4 }; /* of steps 3, 4, 5, 6 */
    make(f, 1, 1, 4);
    for (int side = 0; side < 2; side++)
        add_counts(f, side, 0, TG_KIND_OP, "x", "", each, 101);
    f->o.skip_first = f->o.skip_last = 1;
    compare(f);
    assert_int_equal(find(f, "x")->step_count[TG_BASE], 2 + 3);
    f->o = (struct tg_compare_opts){ .steps = { two, two }, .n_step_numbers = { 2, 2 } };
    compare(f);
    assert_int_equal(find(f, "x")->step_count[TG_TEST], 2 + 3);
    /* Both: a list of the baseline's, and all but the first of the fresh ones. All are whole. */
    f->o = (struct tg_compare_opts){ .steps = { two }, .n_step_numbers = { 2 }, .skip_first = 1 };
    compare(f);
    assert_int_equal(find(f, "x")->step_count[TG_BASE], 2 + 3);
    assert_int_equal(find(f, "x")->step_count[TG_TEST], 2 + 3 + 4);
    assert_int_equal(find(f, "x")->whole_count[TG_BASE], 1 + 2 + 3 + 4);
    f->o = (struct tg_compare_opts){ .steps = { none, none }, .n_step_numbers = { 1, 1 } };
    assert_false(tg_compare(&f->c, &f->side[0], &f->side[1], &f->o, f->a, &f->err));
    assert_string_equal(f->err.message, "no step 9 on the baseline side");
    assert_string_equal(f->err.hint, "That side has the steps 3, 4, 5, 6.");
}

BY_HAND(ranks_that_are_chosen)
{
    static const int64_t one[] = { 5 }, none[] = { 9 };
    make_ranks(f, TG_BASE, 1, 2, 4, 2);
    make_ranks(f, TG_TEST, 1, 2, 4, 2);
    compare(f);
    assert_int_equal(f->c.n_ranks[TG_BASE], 2);
    f->o = (struct tg_compare_opts){ .ranks = { one, one }, .n_rank_numbers = { 1, 1 } };
    compare(f);
    assert_int_equal(f->c.n_ranks[TG_TEST], 1);
    assert_int_equal(f->c.side[TG_TEST].ranks[0], 5);
    f->o = (struct tg_compare_opts){ .ranks = { one, none }, .n_rank_numbers = { 1, 1 } };
    assert_false(tg_compare(&f->c, &f->side[0], &f->side[1], &f->o, f->a, &f->err));
    assert_int_equal(f->err.kind, TG_ERR_USAGE);
    assert_string_equal(f->err.message, "no trace of rank 9 on the fresh side");
}

/* Runs of 4 and 2 steps, of which the first is left out: 3 and 1. */
BY_HAND(how_many_steps_there_are)
{
    make(f, 2, 2, 4);
    for (int side = 0; side < 2; side++)
        shard(f, side, 1)->n_steps = 2;
    f->o.skip_first = 1;
    compare(f);
    assert_int_equal(f->c.n_units[TG_BASE], 3 + 1);
    assert_int_equal(f->c.least_steps[TG_BASE], 1);
    assert_int_equal(f->c.n_steps[TG_BASE], 2); /* the median */
    f->o.skip_first = 2;
    compare(f);
    assert_int_equal(f->c.least_steps[TG_BASE], 0);
}

/* Without markers the whole trace is one step, which cannot be left out. */
BY_HAND(a_trace_without_markers_is_one_step)
{
    for (int whole = 0; whole < 2; whole++) {
        make(f, 1, 1, 1);
        for (int side = 0; side < 2; side++) {
            shard(f, side, 0)->marked = false;
            shard(f, side, 0)->window = whole ? TG_SV("whole") : TG_SV("auto");
        }
        f->o.skip_first = 1;
        compare(f);
        assert_int_equal(f->c.least_steps[TG_BASE], 1);
        assert_int_equal(f->c.marked[TG_BASE], whole); /* a step is known if the policy says so */
    }
}

/* Whole microseconds everywhere on one side: its clock has no finer tick. */
BY_HAND(the_clock)
{
    for (int fine = 0; fine < 4; fine++) { /* a bit a side */
        make(f, 1, 1, 2);
        for (int side = 0; side < 2; side++)
            add_all(f, side, TG_KIND_OP, "x", "", 1, 3000 + (fine >> side & 1));
        compare(f);
        assert_int_equal(find(f, "x")->rows->work->tick, fine == 3 ? 1 : 1000);
    }
}
