/* Ranks that the others wait for (stragglers.c). Four ranks, one run a side of two steps of 1 ms,
 * and an all-reduce a step: it is shorter by the wait on a rank that comes last. */
#include "by_hand.h"

enum { RANKS = 4 };

static void reduce(struct fixture *f, int side, const tg_ns wait[RANKS])
{
    make_ranks(f, side, 1, RANKS, 0, 2);
    for (size_t rank = 0; rank < RANKS; rank++) {
        struct tg_shard *h = shard_of(f, side, 0, rank);
        (void)add_to(f, h, TG_KIND_KERNEL, "ncclAllReduce", "", (uint32_t[]){ 1, 1 },
                     200001 - wait[rank]);
        (void)add_to(f, h, TG_KIND_OP, "aten::sort", "", (uint32_t[]){ 1, 1 },
                     wait[rank] ? 90001 : 1001);
    }
}

/* The waits for rank 2 before and after, and for rank 3 after. */
static const struct tg_straggler *late(struct fixture *f, tg_ns before, tg_ns after, tg_ns other)
{
    reduce(f, TG_BASE, (tg_ns[RANKS]){ 0, 0, before, 0 });
    reduce(f, TG_TEST, (tg_ns[RANKS]){ 0, 0, after, other });
    compare(f);
    return f->c.straggler;
}

BY_HAND(the_rank_that_is_waited_for)
{
    const struct tg_straggler *s = late(f, 0, 100000, 0);
    assert_non_null(s);
    assert_int_equal(s->n_ranks, 1);
    assert_int_equal(s->ranks[0], 2);
    is_text(s->collective, "ncclAllReduce");
    near(s->wait_ns, 100000);
    near(s->share, 1);
    assert_int_equal(s->since, 3); /* the first step's number */
    assert_int_equal(s->n_late, 2);
    assert_int_equal(s->n_steps, 2);
    assert_non_null(s->op);
    is_text(s->op->name, "aten::sort");
    near(s->more_ns, 90001 - 1001);
}

/* Twice what it was before, or more: 50 become 100 us, 51 do not suffice. */
BY_HAND(it_was_not_so_before)
{
    assert_non_null(late(f, 50000, 100000, 0));
    assert_null(late(f, 51000, 100000, 0));
}

/* 2 % of the step are 20 us. */
BY_HAND(short_waits_are_not_told)
{
    assert_non_null(late(f, 0, 20000, 0));
    assert_null(late(f, 0, 19000, 0));
}

/* Two of four that come last together are more than a quarter of the ranks. */
BY_HAND(many_are_no_stragglers)
{
    assert_null(late(f, 0, 100000, 100000));
}
