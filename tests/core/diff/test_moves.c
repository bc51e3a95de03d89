/*
 * Time that moves with a call to another parent (moves.c). aten::mish moves from "outer" to "inner",
 * and "inner" takes 18 us more by itself; what "outer" loses excuses 1.25 times as much.
 */
#include "by_hand.h"

static void moved(struct fixture *f, const char *to, tg_ns outer_after)
{
    f->c = (struct tg_comparison){ 0 };
    make(f, 5, 5, 3);
    for (int side = 0; side < 2; side++) {
        add_all(f, side, TG_KIND_OP, "outer", "ProfilerStep", 1, side ? outer_after : 60001);
        add_all(f, side, TG_KIND_OP, "inner", "ProfilerStep", 1, side ? 20001 : 2001);
        add_all(f, side, TG_KIND_OP, "third", "ProfilerStep", 1, 7001);
        add_all(f, side, TG_KIND_OP, "aten::mish", side ? to : "outer", 1, 30001);
    }
    compare(f);
}

/* 60 us become 44: 16 us, and 1.25 * 16 = 20 is more than 18. */
BY_HAND(what_the_old_parent_lost_excuses_the_new_one)
{
    moved(f, "inner", 44001);
    const struct tg_op *inner = find(f, "inner");
    near(inner->ev.delta_ns, 18000);
    assert_int_equal(inner->relation, TG_REL_MOVED);
    assert_int_equal(inner->ev.judged, TG_NOT_REPLACED);
    assert_int_equal(inner->ev_total.judged, TG_NOT_REPLACED);
    assert_false(inner->ev.slower || inner->ev.proven || inner->ev_total.slower);
    assert_int_equal(find(f, "outer")->relation, TG_REL_NONE);
    assert_int_equal(find(f, "aten::mish")->change, TG_SAME);
}

/* 60 us become 48: 1.25 * 12 = 15 is less than 18. */
BY_HAND(a_smaller_loss_excuses_nothing)
{
    moved(f, "inner", 48001);
    assert_true(find(f, "inner")->ev.slower);
    assert_int_equal(find(f, "inner")->ev.judged, TG_JUDGED);
    assert_int_equal(find(f, "inner")->relation, TG_REL_NONE);
}

/* "outer" loses all the same, but not to "inner". */
BY_HAND(only_where_calls_went_time_may_go)
{
    moved(f, "outer", 40001); /* nothing moved */
    assert_true(find(f, "inner")->ev.slower);
    moved(f, "third", 40001); /* moved, but elsewhere */
    assert_true(find(f, "inner")->ev.slower);
}

/* Between operators it takes 18 us more: 20 us -> 38 us. An operator of `gone` ns is not called any more. */
static const struct tg_op *between(struct fixture *f, enum tg_kind kind, const char *name,
                                   tg_ns gone)
{
    f->c = (struct tg_comparison){ 0 };
    make(f, 5, 5, 3);
    for (int side = 0; side < 2; side++) {
        add_all(f, side, TG_KIND_STEP, "ProfilerStep#3", "", 1, side ? 38001 : 20001);
        add_all(f, side, TG_KIND_OP, "outer", "ProfilerStep", 1, 60001);
        if (!side)
            add_all(f, side, kind, name, "ProfilerStep", 1, gone);
    }
    compare(f);
    return &f->c.step;
}

/* A fused kernel launches itself: its host time is no operator's. */
BY_HAND(calls_that_went_excuse_time_between_operators)
{
    assert_false(between(f, TG_KIND_OP, "aten::mish", 18501)->ev.slower);
    assert_true(between(f, TG_KIND_OP, "aten::mish", 17501)->ev.slower);
    /* A wait that went is no work that moved. */
    assert_true(between(f, TG_KIND_SYNC, "cudaDeviceSynchronize", 90001)->ev.slower);
}
