/*
 * What came where its place provably takes less time (net.c). A step is what its operators take; five
 * runs a side, of three steps.
 */
#include "by_hand.h"

/* What the two sides do beside "aten::mm", which goes from 600 to `mm` us. */
struct work {
    tg_ns mm;
    uint32_t more; /* calls of "aten::index", 2 us each */
    uint32_t copies;
    tg_ns slower; /* us of "aten::mul", before 50 */
    tg_ns spread; /* us, from run to run */
    const char *parent;
};

static void compare_work(struct fixture *f, struct work x)
{
    f->c = (struct tg_comparison){ 0 };
    make(f, 5, 5, 3);
    for (int side = 0; side < 2; side++) {
        if (x.parent)
            add_all(f, side, TG_KIND_ANNOTATION, x.parent, "ProfilerStep", 1, 100);
        for (size_t run = 0; run < 5; run++) {
            tg_ns off = x.spread * 1000 * (tg_ns)run;
            add_row(f, side, run, TG_KIND_OP, "aten::mm", "", 1,
                    (side ? x.mm : 600) * 1000 + 1 + off);
            add_row(f, side, run, TG_KIND_OP, "aten::mul", "", 1,
                    (side ? x.slower : 50) * 1000 + 1);
        }
        add_all(f, side, TG_KIND_OP, "aten::rest", "", 1, 300001);
        add_all(f, side, TG_KIND_OP, "aten::copy_", "", 3 + (side ? x.copies : 0), 2001);
    }
    if (x.more)
        add_all(f, TG_TEST, TG_KIND_OP, "aten::index", x.parent ? x.parent : "", x.more, 2001);
    compare(f);
}

static bool repaid(struct fixture *f, struct work x)
{
    compare_work(f, x);
    return find(f, "aten::index")->repaid;
}

/* 600 -> 400 us, and four calls of 2 us: the step takes 192 us less. */
BY_HAND(a_step_that_takes_less_repays_what_came)
{
    assert_true(repaid(f, (struct work){ .mm = 400, .more = 4, .slower = 50 }));
    assert_int_equal(tg_op_exception(find(f, "aten::index")), TG_EXCEPTION_REPLACED);
    assert_false(repaid(f, (struct work){ .mm = 600, .more = 4, .slower = 50 })); /* as before */
    assert_false(repaid(f, (struct work){ .mm = 700, .more = 4, .slower = 50 }));
}

/* 40 us less, where runs differ by up to 400. */
BY_HAND(what_the_runs_do_not_prove_repays_nothing)
{
    assert_true(repaid(f, (struct work){ .mm = 540, .more = 4, .slower = 50 }));
    assert_false(repaid(f, (struct work){ .mm = 540, .more = 4, .slower = 50, .spread = 100 }));
}

/* 200 us saved; 40 calls take 80 and leave 120, 60 calls take 120 and leave 80. */
BY_HAND(it_costs_no_more_than_is_saved_in_the_end)
{
    assert_true(repaid(f, (struct work){ .mm = 400, .more = 40, .slower = 50 }));
    assert_false(repaid(f, (struct work){ .mm = 400, .more = 60, .slower = 50 }));
}

/* What counts for itself counts beside savings, too. */
BY_HAND(copies_are_not_repaid)
{
    assert_true(repaid(f, (struct work){ .mm = 400, .more = 4, .copies = 2, .slower = 50 }));
    assert_false(find(f, "aten::copy_")->repaid);
    assert_int_equal(tg_op_exception(find(f, "aten::copy_")), TG_EXCEPTION_NONE);
}

/* The calls are inside an annotation of their own, which takes no less time. */
BY_HAND(another_place_repays_nothing)
{
    assert_false(repaid(f, (struct work){ .mm = 400, .more = 4, .slower = 50, .parent = "head" }));
}

/* 50 -> 90 us beside calls that came; alone it is what it is. */
BY_HAND(a_slower_neighbour_is_repaid_beside_an_exchange)
{
    assert_true(repaid(f, (struct work){ .mm = 400, .more = 4, .slower = 90 }));
    assert_true(find(f, "aten::mul")->ev.slower);
    assert_true(find(f, "aten::mul")->repaid);
    compare_work(f, (struct work){ .mm = 400, .slower = 90 });
    assert_true(find(f, "aten::mul")->ev.slower);
    assert_false(find(f, "aten::mul")->repaid);
}
