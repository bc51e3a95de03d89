/* Inside which operator additional calls are (place_lead.c). */
#include "by_hand.h"
#include "core/diff/internal.h"

/* aten::select is called five times a step under each of two operators; then `bmm` and `other`
 * times more. */
static const struct tg_op *select_more(struct fixture *f, uint32_t bmm, uint32_t other, tg_ns ns)
{
    make(f, 1, 1, 3);
    add_same(f, TG_KIND_OP, "aten::bmm", "ProfilerStep", 2, ns);
    add_same(f, TG_KIND_OP, "aten::other", "ProfilerStep", 2, ns);
    add_both(f, TG_KIND_OP, "aten::select", "aten::bmm", 5, ns, 5 + bmm, ns);
    add_both(f, TG_KIND_OP, "aten::select", "aten::other", 5, ns, 5 + other, ns);
    compare(f);
    return find(f, "aten::select");
}

/* 19 of 20 are enough, 9 of 10 are just enough, 8 of 10 are not. */
BY_HAND(nine_of_ten_are_enough)
{
    const struct tg_op *op = select_more(f, 19, 1, 501);
    is_text(op->calling_op, "aten::bmm");
    near(op->calling_part, 0.95);
    op = select_more(f, 9, 1, 501);
    is_text(op->calling_op, "aten::bmm");
    near(op->calling_part, 0.9);
    is_text(select_more(f, 8, 2, 501)->calling_op, "");
}

/* Whole microseconds: who encloses whom is chance there. */
BY_HAND(a_coarse_clock_names_none)
{
    is_text(select_more(f, 10, 0, 1000)->calling_op, "");
}

/* aten::clone was called once and called aten::empty_like; two more calls of it call
 * aten::empty_strided, which others call as well: so often of each side. */
static const struct tg_op *other_clones(struct fixture *f, uint32_t before, uint32_t after)
{
    make(f, 1, 1, 3);
    for (int side = 0; side < 2; side++) {
        add_all(f, side, TG_KIND_OP, "aten::clone", "ProfilerStep", side ? 3 : 1, 501);
        add_all(f, side, TG_KIND_OP, "aten::empty_strided", "aten::to", 4, 501);
        if (side ? after : before)
            add_all(f, side, TG_KIND_OP, "aten::empty_strided", "aten::clone",
                    side ? after : before, 501);
    }
    compare(f);
    return find(f, "aten::empty_strided");
}

BY_HAND(additional_calls_may_call_what_the_others_did_not)
{
    static const struct {
        uint32_t before, after;
        bool led;
    } v[] = {
        { 0, 2, true },  /* one each */
        { 0, 4, true },  /* two each */
        { 0, 3, false }, /* the first call makes one now, too */
        { 0, 1, false }, /* of two calls one: another change */
        { 0, 5, false }, /* two and a half */
        { 1, 3, true },  /* by the call */
        { 1, 5, false }, /* the first one may have made them */
    };
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        const struct tg_op *op = other_clones(f, v[i].before, v[i].after);
        assert_int_equal(op->leader != TG_NO_ID, v[i].led);
        if (v[i].led)
            is_text(f->c.ops[op->leader].name, "aten::clone");
    }
}

/* A new operator calls aten::mm three times: it is the leader. */
BY_HAND(the_outermost_new_operator_leads)
{
    make(f, 1, 1, 3);
    add_same(f, TG_KIND_OP, "aten::forward", "ProfilerStep", 1, 501);
    add_same(f, TG_KIND_OP, "aten::mm", "aten::forward", 5, 50001);
    add_all(f, TG_TEST, TG_KIND_OP, "demo::block", "aten::forward", 1, 501);
    add_all(f, TG_TEST, TG_KIND_OP, "aten::mm", "demo::block", 3, 50001);
    compare(f);
    is_text(find(f, "aten::mm")->calling_op, "aten::forward");
    is_text(f->c.ops[find(f, "aten::mm")->leader].name, "demo::block");
    assert_true(find(f, "demo::block")->leads);
    assert_false(find(f, "aten::forward")->leads);
}

/* An operator that was there before, and is called more often, leads as well. */
BY_HAND(an_operator_that_is_called_more_often_leads)
{
    make(f, 1, 1, 3);
    for (int side = 0; side < 2; side++) {
        uint32_t clones = side == TG_TEST ? 5 : 1;
        add_all(f, side, TG_KIND_OP, "aten::forward", "ProfilerStep", 1, 501);
        add_all(f, side, TG_KIND_OP, "aten::empty", "aten::forward", 20, 501);
        add_all(f, side, TG_KIND_OP, "aten::clone", "aten::forward", clones, 501);
        add_all(f, side, TG_KIND_OP, "aten::empty", "aten::clone", clones, 501);
    }
    compare(f);
    is_text(f->c.ops[find(f, "aten::empty")->leader].name, "aten::clone");
    assert_true(find(f, "aten::clone")->leads);
    add_all(f, TG_TEST, TG_KIND_OP, "aten::empty", "aten::other", 4,
            501); /* half of them elsewhere */
    compare(f);
    assert_int_equal(find(f, "aten::empty")->leader, TG_NO_ID);
}
