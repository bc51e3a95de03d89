/* What came and costs next to nothing (place_small.c). A step lasts 1 ms. */
#include "by_hand.h"
#include "core/diff/internal.h"

static enum tg_slight slight(struct fixture *f, const char *name)
{
    return find(f, name)->slight;
}

static void more_of(struct fixture *f, const char *name, uint32_t base, uint32_t test, tg_ns ns)
{
    if (base)
        add_all(f, TG_BASE, TG_KIND_OP, name, "", base, ns);
    add_all(f, TG_TEST, TG_KIND_OP, name, "", test, ns);
}

/* How small calls are that are as many on each side, and the only ones. */
static enum tg_slight alone(struct fixture *f, const char *name, uint32_t base, uint32_t test,
                            tg_ns ns)
{
    make(f, 1, 1, 3);
    more_of(f, name, base, test, ns);
    compare(f);
    return slight(f, name);
}

/* 1000 ns are 0.1 % of the step, of a known name as of a new one. */
BY_HAND(less_than_a_thousandth_is_small)
{
    assert_int_equal(alone(f, "aten::neg", 0, 1, 999), TG_SLIGHT_SMALL);
    assert_int_equal(alone(f, "aten::neg", 0, 1, 1000), TG_SLIGHT_NOT);
    assert_int_equal(alone(f, "aten::neg", 40, 43, 333),
                     TG_SLIGHT_SMALL); /* 999 ns more, of 14319 */
    assert_int_equal(alone(f, "aten::neg", 40, 43, 334), TG_SLIGHT_NOT);
    assert_int_equal(alone(f, "aten::neg", 43, 40, 3), TG_SLIGHT_NOT);
}

/* Three names of 400 ns are 0.12 % together; views may take 0.3 % together, whatever their names,
 * and warn below 5 %. */
BY_HAND(together_they_are_not_small)
{
    static const char *const names[] = { "aten::neg", "aten::abs", "aten::exp" };
    static const char *const views[] = { "aten::view", "aten::t", "aten::detach", "aten::expand" };
    for (int n = 2; n <= 3; n++) {
        make(f, 1, 1, 3);
        for (int i = 0; i < n; i++)
            more_of(f, names[i], 2, 3, 400);
        compare(f);
        assert_int_equal(slight(f, names[0]), n == 2 ? TG_SLIGHT_SMALL : TG_SLIGHT_NOT);
    }
    for (int n = 3; n <= 4; n++) {
        make(f, 1, 1, 3);
        for (int i = 0; i < n; i++)
            more_of(f, views[i], 2, 3, 900);
        compare(f);
        assert_int_equal(slight(f, views[0]), n == 3 ? TG_SLIGHT_FREE : TG_SLIGHT_SMALL);
    }

    assert_int_equal(alone(f, "aten::view", 0, 1, 2999), TG_SLIGHT_FREE);
    assert_int_equal(alone(f, "aten::view", 0, 1, 3000), TG_SLIGHT_SMALL);
    assert_int_equal(alone(f, "aten::view", 0, 1, 49999), TG_SLIGHT_SMALL);
    assert_int_equal(alone(f, "aten::view", 0, 1, 50000), TG_SLIGHT_NOT);
}

/* "aten::max" around one "aten::maximum" of 1.2 us, which was called once without it. */
static enum tg_slight around(struct fixture *f, uint32_t inside, tg_ns own)
{
    make(f, 1, 1, 3);
    add_all(f, TG_BASE, TG_KIND_OP, "aten::maximum", "", 1, 1200);
    add_all(f, TG_TEST, TG_KIND_OP, "aten::maximum", "aten::max", inside, 1200);
    add_all(f, TG_TEST, TG_KIND_OP, "aten::max", "", 1, own);
    compare(f);
    return slight(f, "aten::max");
}

BY_HAND(a_caller_without_work_of_its_own_is_free)
{
    assert_int_equal(around(f, 1, 1199), TG_SLIGHT_FREE);
    assert_int_equal(around(f, 1, 1201), TG_SLIGHT_NOT); /* it works itself */
    assert_int_equal(around(f, 2, 1199), TG_SLIGHT_NOT); /* what it calls came, too */
    assert_int_equal(around(f, 0, 1199), TG_SLIGHT_NOT);
}

/* The same for a caller of such a caller, as long as it ends with work that was there. */
BY_HAND(a_caller_of_a_caller_is_free)
{
    for (uint32_t inside = 1; inside <= 2; inside++) {
        make(f, 1, 1, 3);
        add_all(f, TG_BASE, TG_KIND_OP, "aten::mm", "", 1, 9001);
        add_all(f, TG_TEST, TG_KIND_OP, "aten::mm", "aten::matmul", inside, 9001);
        add_all(f, TG_TEST, TG_KIND_OP, "aten::matmul", "aten::linear", 1, 1201);
        add_all(f, TG_TEST, TG_KIND_OP, "aten::linear", "", 1, 1101);
        compare(f);
        assert_int_equal(slight(f, "aten::linear"), inside == 1 ? TG_SLIGHT_FREE : TG_SLIGHT_NOT);
    }
}

/* 50 calls of 10 ns, and one of 5 us more: 0.05 % by the call, and 0.5 % by the time. */
BY_HAND(a_long_call_among_short_ones_is_not_small)
{
    make(f, 1, 1, 3);
    more_of(f, "aten::mm", 50, 50, 10);
    add_all(f, TG_TEST, TG_KIND_OP, "aten::mm", "aten::linear", 1, 5000);
    compare(f);
    assert_int_equal(find(f, "aten::mm")->change, TG_MORE);
    assert_int_equal(slight(f, "aten::mm"), TG_SLIGHT_NOT);
}

/* What waits, copies or allocates costs more than its own time. */
BY_HAND(waits_copies_and_memory_are_not_small)
{
    static const char *const names[] = { "aten::item", "aten::copy_", "aten::empty",
                                         "aten::empty_strided", "aten::resize_" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(alone(f, names[i], 0, 1, 10), TG_SLIGHT_NOT);
        assert_int_equal(alone(f, names[i], 3, 4, 10), TG_SLIGHT_NOT);
    }
}

/* In each step 6 numbers are converted inside `mul`, 5 before, whose copies take `ns` each. */
static enum tg_slight numbers(struct fixture *f, tg_ns ns, const char *around,
                              const char *elsewhere)
{
    static const char *const chain[][2] = { { "aten::_to_copy", "aten::to" },
                                            { "aten::empty_strided", "aten::_to_copy" },
                                            { "aten::copy_", "aten::_to_copy" } };
    make(f, 1, 1, 3);
    for (int side = 0; side < 2; side++) {
        add_all(f, side, TG_KIND_OP, "aten::mul", "", 20, 1000);
        add_all(f, side, TG_KIND_OP, "aten::to", around, side ? 6 : 5, 100);
        for (int i = 0; i < 3; i++)
            add_all(f, side, TG_KIND_OP, chain[i][0], chain[i][1], side ? 6 : 5, ns);
        if (side && elsewhere)
            add_all(f, side, TG_KIND_OP, "aten::copy_", elsewhere, 1, ns);
        if (side)
            add_all(f, side, TG_KIND_OP, "aten::clone", "", 1, 1);
    }
    compare(f);
    return slight(f, "aten::copy_");
}

BY_HAND(a_number_that_an_operator_converts_costs_what_a_view_costs)
{
    assert_int_equal(numbers(f, 260, "aten::mul", NULL), TG_SLIGHT_FREE);
    assert_int_equal(numbers(f, 261, "aten::mul", NULL), TG_SLIGHT_NOT); /* it is no number */
    assert_int_equal(numbers(f, 130, "", NULL), TG_SLIGHT_NOT); /* the program converts it */
    assert_int_equal(numbers(f, 130, "aten::mul", "aten::clone"), TG_SLIGHT_NOT);
}

/* A view that calls one of them leads what fails: `leads` is place_lead.c's. */
BY_HAND(what_calls_them_is_not_small)
{
    for (uint32_t copies = 0; copies <= 1; copies++) {
        make(f, 1, 1, 3);
        for (int side = 0; side < 2; side++) {
            add_all(f, side, TG_KIND_OP, "aten::to", "ProfilerStep", 5 + (uint32_t)side, 101);
            add_all(f, side, TG_KIND_OP, "aten::copy_", "aten::to", side ? 5 + copies : 5, 101);
        }
        compare(f);
        assert_int_equal(tg_op_exception(find(f, "aten::to")),
                         copies ? TG_EXCEPTION_NONE : TG_EXCEPTION_SMALL);
    }
}

/* Another 1.4 ms in the step: a part of it, not the time,
 * tells what a slower machine calls as often. */
BY_HAND(a_slower_machine_makes_nothing_large)
{
    make(f, 1, 1, 3);
    for (size_t j = 0; j < 3; j++)
        shard(f, TG_TEST, 0)->steps[j] = (struct tg_step){ .number = (int64_t)j + 3,
                                                           .start = (tg_ns)j * 1400000,
                                                           .end = (tg_ns)(j + 1) * 1400000 };
    add_both(f, TG_KIND_OP, "aten::view", "", 50, 100, 51, 140); /* 2140 ns more, of 5000 */
    compare(f);
    assert_int_equal(slight(f, "aten::view"), TG_SLIGHT_FREE);
}

/* A view takes 1.4 times as long, and a product as before: no more than it should, if other views
 * do so, too. */
BY_HAND(views_have_a_pace_of_their_own)
{
    for (int slower = 0; slower < 2; slower++) {
        make(f, 1, 1, 3);
        more_of(f, "aten::mm", 1, 1, 900000);
        add_both(f, TG_KIND_OP, "aten::t", "", 20, 100, 20, slower ? 140 : 100);
        add_both(f, TG_KIND_OP, "aten::view", "", 50, 100, 51, 140);
        compare(f);
        assert_int_equal(slight(f, "aten::view"), slower ? TG_SLIGHT_FREE : TG_SLIGHT_NOT);
    }
}

/* A new name of 0.2 % of rank 1's step is 0.1 % of the mean step. */
BY_HAND(on_the_rank_that_has_most)
{
    static const uint32_t once[] = { 1, 1 };
    for (tg_ns ns = 999; ns <= 1000; ns++) {
        make_ranks(f, TG_BASE, 1, 2, 0, 2);
        make_ranks(f, TG_TEST, 1, 2, 0, 2);
        add_to(f, shard_of(f, TG_TEST, 0, 1), TG_KIND_OP, "new", "", once, ns);
        compare(f);
        near(find(f, "new")->share[TG_TEST], (double)ns / 2e6);
        assert_int_equal(slight(f, "new"), ns == 999 ? TG_SLIGHT_SMALL : TG_SLIGHT_NOT);
    }
}

/* In one step of four: its mean is 0.05 % of the step, whatever the other steps lack. */
BY_HAND(in_some_steps_the_mean_tells)
{
    static const uint32_t calls[] = { 0, 0, 1, 0 };
    make(f, 3, 3, 4);
    for (size_t run = 0; run < 3; run++) {
        add_counts(f, TG_TEST, run, TG_KIND_OP, "less", "", calls, 2000);
        add_counts(f, TG_TEST, run, TG_KIND_OP, "much", "", calls, 20000);
    }
    compare(f);
    assert_int_equal(slight(f, "less"), TG_SLIGHT_SMALL);
    assert_int_equal(slight(f, "much"), TG_SLIGHT_NOT);
}
