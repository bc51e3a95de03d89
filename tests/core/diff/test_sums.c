/* Calls and times of one operator, added up over steps, ranks and runs (align.c). */
#include "by_hand.h"

/* Sums over two runs of two steps: 3 calls of 100 ns each. */
BY_HAND(counts_and_sums)
{
    make(f, 2, 1, 2);
    add_all(f, TG_BASE, TG_KIND_OP, "x", "", 3, 101);
    add_all(f, TG_TEST, TG_KIND_OP, "x", "", 4, 101);
    compare(f);
    const struct tg_op *op = find(f, "x");
    near(op->count[TG_BASE], 3);
    near(op->total[TG_BASE], 303);
    assert_int_equal(op->step_count[TG_BASE], 12);
    assert_int_equal(op->step_total[TG_BASE], 1212);
    assert_int_equal(op->change, TG_MORE);
    assert_true(op->settled && op->agreed);
    near(op->share[TG_BASE], 303 / 1e6);
}

/* Two ranks with 3 and 5 calls: means over ranks; runs of 1, 2 and 9 calls: the median. */
BY_HAND(means_over_ranks_medians_over_runs)
{
    static const uint32_t calls[] = { 1, 2, 9 };
    make_ranks(f, TG_BASE, 1, 2, 0, 2);
    make_ranks(f, TG_TEST, 1, 2, 0, 2);
    for (int side = 0; side < 2; side++)
        for (size_t rank = 0; rank < 2; rank++) {
            uint32_t each[] = { 3 + 2 * (uint32_t)rank, 3 + 2 * (uint32_t)rank };
            add_to(f, shard_of(f, side, 0, rank), TG_KIND_OP, "x", "", each, 100);
        }
    compare(f);
    near(find(f, "x")->count[TG_BASE], 4);
    near(find(f, "x")->total[TG_BASE], 400);
    make(f, 3, 3, 2);
    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < 3; run++)
            add_row(f, side, run, TG_KIND_OP, "x", "", calls[run], 100);
    compare(f);
    near(find(f, "x")->count[TG_TEST], 2);
    near(find(f, "x")->total[TG_TEST], 200);
    assert_true(find(f, "x")->settled && !find(f, "x")->agreed);
}

/* Three of five steps with one count are enough, two are not; of equally frequent ones the largest
 * counts. */
BY_HAND(settled_where_most_steps_agree)
{
    static const uint32_t three[] = { 2, 2, 2, 3, 4 }, two[] = { 2, 2, 3, 3, 4 };
    for (int most = 0; most < 2; most++) {
        make(f, 1, 1, 5);
        for (int side = 0; side < 2; side++)
            add_counts(f, side, 0, TG_KIND_OP, "x", "", most ? three : two, 101);
        compare(f);
        assert_int_equal(find(f, "x")->settled, most);
        assert_int_equal(find(f, "x")->step_count[TG_BASE], most ? 13 : 14);
    }
}

/* What is outside every step, the last bucket, is part of the whole and of no step. */
BY_HAND(what_is_outside_every_step)
{
    make(f, 1, 1, 2);
    for (int side = 0; side < 2; side++) {
        struct tg_row *row = add_row(f, side, 0, TG_KIND_OP, "x", "", 1, 100);
        row->count[2] = 7;
        row->total[2] = 5000;
    }
    compare(f);
    assert_int_equal(find(f, "x")->whole_count[TG_BASE], 2 + 7);
    assert_int_equal(find(f, "x")->whole_total[TG_BASE], 200 + 5000);
    assert_int_equal(find(f, "x")->step_count[TG_BASE], 2);
}

/* Calls of rank 0 that rank 1 makes now: the mean is the same, `shift` names rank 1. Calls that
 * vary from step to step prove nothing; a first step may be cold. */
BY_HAND(the_same_calls_on_other_ranks)
{
    static const struct {
        uint32_t base[2][3], test[2][3]; /* [rank][step] */
        size_t n;                        /* ranks with more */
        double from, to;
    } rows[] = {
        { { { 7, 7, 7 }, { 1, 1, 1 } }, { { 1, 1, 1 }, { 7, 7, 7 } }, 1, 1, 7 },
        { { { 7, 7, 7 }, { 1, 1, 1 } }, { { 7, 7, 7 }, { 1, 1, 1 } }, 0, 0, 0 },
        { { { 7, 7, 7 }, { 1, 1, 1 } }, { { 1, 1, 1 }, { 9, 7, 7 } }, 1, 1, 7 },
        { { { 7, 7, 7 }, { 1, 1, 1 } }, { { 1, 1, 1 }, { 7, 9, 7 } }, 0, 0, 0 },
        { { { 7, 7, 7 }, { 1, 2, 1 } }, { { 1, 1, 1 }, { 7, 7, 7 } }, 0, 0, 0 },
        { { { 1, 1, 1 }, { 1, 1, 1 } }, { { 2, 2, 2 }, { 4, 4, 4 } }, 2, 1, 4 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int side = 0; side < 2; side++) {
            make_ranks(f, side, 1, 2, 0, 3);
            for (size_t rank = 0; rank < 2; rank++)
                add_to(f, shard_of(f, side, 0, rank), TG_KIND_OP, "x", "",
                       side ? rows[i].test[rank] : rows[i].base[rank], 100);
        }
        compare(f);
        const struct tg_rank_shift *shift = find(f, "x")->shift;
        assert_int_equal(shift ? shift->n : 0, rows[i].n);
        if (!shift)
            continue;
        assert_int_equal(shift->rank, 1);
        near(shift->count[TG_BASE], rows[i].from);
        near(shift->count[TG_TEST], rows[i].to);
    }
}
