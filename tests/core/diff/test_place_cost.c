/* What came where its place provably takes less time (place_cost.c). A step is what its operators
 * take; five runs a side, of three steps. */
#include "by_hand.h"

/* What the two sides do beside "aten::mm", which goes from 600 to `mm` us. */
struct work {
    tg_ns mm;
    uint32_t more; /* calls of "aten::index", 2 us each */
    uint32_t copies;
    tg_ns slower; /* us of "aten::mul", before 50 */
    tg_ns spread; /* us, from run to run */
    const char *parent;
    const char *saves; /* the annotation whose own time goes from 600 to `mm` us, instead */
};

static void compare_work(struct fixture *f, struct work x)
{
    make(f, 5, 5, 3);
    for (int side = 0; side < 2; side++) {
        if (x.parent && !x.saves)
            add_all(f, side, TG_KIND_ANNOTATION, x.parent, "ProfilerStep", 1, 100);
        if (x.saves)
            add_all(f, side, TG_KIND_ANNOTATION, x.saves, "", 1, (side ? x.mm : 600) * 1000 + 1);
        for (size_t run = 0; run < 5; run++) {
            tg_ns off = x.spread * 1000 * (tg_ns)run;
            add_row(f, side, run, TG_KIND_OP, "aten::mm", "", 1,
                    (side && !x.saves ? x.mm : 600) * 1000 + 1 + off);
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

/* Copies count for themselves; beside five times as much that is saved in the end they warn. */
BY_HAND(copies_are_not_repaid)
{
    for (uint32_t copies = 15; copies <= 16; copies++) {
        (void)repaid(f, (struct work){ .mm = 400, .more = 4, .copies = copies, .slower = 50 });
        assert_false(find(f, "aten::copy_")->repaid);
        assert_int_equal(tg_op_exception(find(f, "aten::copy_")),
                         copies < 16 ? TG_EXCEPTION_SMALL : TG_EXCEPTION_NONE);
    }
}

/* The calls are inside an annotation of their own, which takes no less time. */
BY_HAND(another_place_repays_nothing)
{
    assert_false(repaid(f, (struct work){ .mm = 400, .more = 4, .slower = 50, .parent = "head" }));
}

/* The 200 us are saved inside an annotation, and the calls are outside it;
 * inside it they are paid. */
BY_HAND(what_an_annotation_saves_repays_nothing_outside)
{
    assert_false(repaid(f, (struct work){ .mm = 400, .more = 4, .slower = 50, .saves = "mlp" }));
    assert_true(repaid(
        f, (struct work){ .mm = 400, .more = 4, .slower = 50, .saves = "mlp", .parent = "mlp" }));
}

/* 50 -> 90 us where the step takes less, with calls that came or without: further calls make
 * nothing milder. */
BY_HAND(a_slower_neighbour_is_repaid_by_the_step)
{
    for (uint32_t more = 0; more <= 4; more += 4) {
        compare_work(f, (struct work){ .mm = 400, .more = more, .slower = 90 });
        assert_true(find(f, "aten::mul")->ev.slower && find(f, "aten::mul")->repaid);
        compare_work(f, (struct work){ .mm = 590, .more = more, .slower = 90 });
        assert_true(find(f, "aten::mul")->ev.slower && !find(f, "aten::mul")->repaid);
    }
}

/* An annotation of so many us, nearly all inside what it calls. */
static void add_annotation(struct fixture *f, int side, const char *name, tg_ns us)
{
    for (size_t run = 0; run < 5; run++) {
        struct tg_row *row =
            add_row(f, side, run, TG_KIND_ANNOTATION, name, "ProfilerStep", 1, us * 1000);
        for (size_t j = 0; j < 3; j++)
            row->self[j] = 1001;
    }
}

/* 50 -> 90 us in an annotation where aten::mm goes from 600 to `mm` us: as it costs less than calls
 * that come, it needs none beside it. In another annotation, or for less than it costs, nothing. */
BY_HAND(a_slower_neighbour_is_repaid_in_its_annotation)
{
    static const struct {
        const char *in;
        tg_ns mm;
        bool repaid;
    } cases[] = { { "mlp", 400, true }, { "mlp", 570, false }, { "head", 400, false } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make(f, 5, 5, 3);
        for (int side = 0; side < 2; side++) {
            tg_ns mm = side ? cases[i].mm : 600, mul = side ? 90 : 50;
            bool both = strcmp(cases[i].in, "mlp") == 0;
            add_annotation(f, side, "mlp", mm + (both ? mul : 0));
            add_annotation(f, side, "head", both ? 10 : mul + 10);
            add_all(f, side, TG_KIND_OP, "aten::mm", "mlp", 1, mm * 1000 + 1);
            add_all(f, side, TG_KIND_OP, "aten::mul", cases[i].in, 1, mul * 1000 + 1);
            add_all(f, side, TG_KIND_OP, "aten::rest", "", 1, 300001);
        }
        compare(f);
        if (find(f, "aten::mul")->repaid != cases[i].repaid)
            fail_msg("row %zu", i);
    }
}

/* "aten::index" comes in two annotations, and outside them if `apart`. An operator of each, and one
 * outside, take 200 us less, but for the one that `keeps`: a name is repaid where each place is. */
BY_HAND(what_came_in_several_places_is_repaid_by_each)
{
    static const struct {
        const char *keeps;
        bool apart, repaid;
    } rows[] = { { "none", false, true }, { "none", true, true },   { "", false, true },
                 { "", true, false },     { "head", false, false }, { "head", true, false } };
    static const char *const in[] = { "mlp", "head", "" };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make(f, 5, 5, 3);
        for (int side = 0; side < 2; side++)
            for (size_t k = 0; k < 3; k++) {
                bool keeps = strcmp(in[k], rows[i].keeps) == 0;
                bool came = side && (k < 2 || rows[i].apart);
                tg_ns mm = (side && !keeps ? 400 : 600) * 1000 + 1;
                static const char *const names[] = { "aten::mm", "aten::bmm", "aten::addmm" };
                if (k < 2)
                    add_annotation(f, side, in[k], mm / 1000 + 2 * came);
                add_all(f, side, TG_KIND_OP, names[k], in[k], 1, mm);
                if (came)
                    add_all(f, side, TG_KIND_OP, "aten::index", in[k], 1, 2001);
            }
        compare(f);
        if (find(f, "aten::index")->repaid != rows[i].repaid)
            fail_msg("row %zu", i);
    }
}

/* ---- moved ---- */

/*
 * Where calls went, in whichever place, the first to touch the memory is another: 60 -> 100 us in
 * an annotation of 400 that becomes no longer. It counts if the annotation takes 30 us more, if
 * more calls came than went, if only a view went, and outside of annotations.
 */
BY_HAND(what_went_moves_time_inside_an_annotation)
{
    static const struct {
        const char *in;
        tg_ns after; /* us of the annotation */
        const char *went, *of;
        uint32_t came;
        bool slower;
    } cases[] = { { "optimizer", 390, "add", "optimizer", 0, false },
                  { "optimizer", 390, "add", "ProfilerStep", 0, false },
                  { "optimizer", 390, "add", "optimizer", 1, true },
                  { "optimizer", 390, "aten::detach", "optimizer", 0, true },
                  { "optimizer", 430, "add", "optimizer", 0, true },
                  { "", 390, "add", "optimizer", 0, true } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make(f, 5, 5, 3);
        for (int side = 0; side < 2; side++) {
            tg_ns all = (side ? cases[i].after : 400) * 1000 + 1;
            add_all(f, side, TG_KIND_ANNOTATION, "optimizer", "ProfilerStep", 1, all);
            add_all(f, side, TG_KIND_OP, "addcdiv_", cases[i].in, 1, side ? 100001 : 60001);
        }
        add_all(f, TG_BASE, TG_KIND_OP, cases[i].went, cases[i].of, 8, 11);
        if (cases[i].came)
            add_all(f, TG_TEST, TG_KIND_OP, "sub", "optimizer", 9, 11);
        compare(f);
        if (find(f, "addcdiv_")->ev.slower != cases[i].slower)
            fail_msg("row %zu", i);
    }
}

/* 20 -> 38 us in a step of 6 ms, which varies by more, where work of `gone` us went. */
BY_HAND(what_went_explains_no_more_than_it_took)
{
    for (tg_ns gone = 17; gone <= 19; gone += 2) {
        make(f, 5, 5, 3);
        for (int side = 0; side < 2; side++) {
            for (size_t run = 0; run < 5; run++)
                add_row(f, side, run, TG_KIND_OP, "aten::rest", "", 1,
                        6000001 + 90000 * (tg_ns)run);
            add_all(f, side, TG_KIND_OP, "aten::erf", "", 1, side ? 38001 : 20001);
        }
        add_all(f, TG_BASE, TG_KIND_OP, "aten::pos", "", 1, gone * 1000);
        compare(f);
        if (find(f, "aten::erf")->ev.slower != (gone == 17))
            fail_msg("%lld us went", (long long)gone);
    }
}

/* Between operators it takes 18 us more: 20 us -> 38 us.
 * An operator of `gone` ns is not called any more. */
static const struct tg_op *between(struct fixture *f, enum tg_kind kind, const char *name,
                                   tg_ns gone)
{
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

/* The step takes 200 us less, and 40 of them are lost between operators; not if more is lost than
 * saved. */
BY_HAND(gaps_of_a_faster_step_are_repaid)
{
    for (tg_ns gaps = 40; gaps < 500; gaps += 400) {
        make(f, 5, 5, 3);
        for (int side = 0; side < 2; side++) {
            add_all(f, side, TG_KIND_STEP, "ProfilerStep", "", 1,
                    100001 + gaps * 1000 * (tg_ns)side);
            add_all(f, side, TG_KIND_OP, "aten::mm", "", 1, side ? 400001 : 600001);
            add_all(f, side, TG_KIND_OP, "aten::rest", "", 1, 300001);
        }
        compare(f);
        assert_true(f->c.step.ev.slower);
        assert_int_equal(f->c.step.repaid, gaps == 40);
    }
}

/* In an annotation an operator takes 90 us less, and "aten::index" comes; its kernel is short.
 * Where the step is shorter, too, the host has saved it. */
BY_HAND(the_host_repays_where_it_sets_the_pace)
{
    for (int shorter = 0; shorter < 2; shorter++) {
        make(f, 5, 5, 3);
        for (int side = 0; side < 2; side++) {
            add_annotation(f, side, "head", side ? 137 : 222);
            add_all(f, side, TG_KIND_OP, "foo", "head", 1, side ? 30001 : 120001);
            add_all(f, side, TG_KIND_OP, "rest", "head", 1, 100001);
            add_all(f, side, TG_KIND_OP, "apart", "ProfilerStep", 1, 300001);
            add_all(f, side, TG_KIND_KERNEL, "k", "foo", 1, 2001);
            for (size_t at = 0; at < 15; at++)
                set_metric(shard(f, side, at / 3), TG_METRIC_STEP_TIME, at % 3,
                           side && shorter ? 435001 : 520001, 1);
        }
        add_all(f, TG_TEST, TG_KIND_OP, "aten::index", "head", 1, 5001);
        compare(f);
        assert_int_equal(find(f, "aten::index")->repaid, shorter);
    }
}

/* "aten::mm" takes 60 us less, and 40 us came: 20 us are saved, too little for 40, on a machine
 * that takes 9 tenths of the time for everything, too. */
BY_HAND(a_faster_machine_repays_nothing)
{
    static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
    for (int tenths = 9; tenths <= 10; tenths++) {
        make(f, 5, 5, 3);
        for (int side = 0; side < 2; side++) {
            tg_ns pace = side ? 100 * tenths : 1000;
            for (int i = 0; i < 8; i++)
                add_all(f, side, TG_KIND_OP, names[i], "", 1, 100 * pace + 1);
            add_all(f, side, TG_KIND_OP, "aten::mm", "", 1, (side ? 540 : 600) * pace + 1);
        }
        add_all(f, TG_TEST, TG_KIND_OP, "aten::index", "", 1, 4000 * (tg_ns)tenths + 1);
        compare(f);
        assert_true(f->c.step.ev_total.less);
        assert_false(find(f, "aten::index")->repaid);
    }
}

/* "aten::index" comes on the first of two ranks; "aten::mm" takes 300 us less on that one, or on
 * the other. */
BY_HAND(another_rank_repays_nothing)
{
    const uint32_t one[3] = { 1, 1, 1 };
    for (size_t saves = 0; saves < 2; saves++) {
        for (int side = 0; side < 2; side++) {
            make_ranks(f, side, 5, 2, 0, 3);
            for (size_t k = 0; k < 10; k++) {
                struct tg_shard *s = shard_of(f, side, k / 2, k % 2);
                tg_ns mm = side && k % 2 == saves ? 300001 : 600001;
                tg_ns index = side && k % 2 == 0 ? 20001 : 0;
                struct tg_row *step = add_to(f, s, TG_KIND_STEP, "ProfilerStep", "", one, 50001);
                for (size_t j = 0; j < 3; j++)
                    step->total[j] = 50001 + mm + index;
                add_to(f, s, TG_KIND_OP, "aten::mm", "", one, mm);
                if (index)
                    add_to(f, s, TG_KIND_OP, "aten::index", "", one, index);
            }
        }
        compare(f);
        assert_int_equal(find(f, "aten::index")->repaid, saves == 0);
    }
}

/* As many calls of another name that take no longer, or, of a copy, provably less; on the host
 * alone a device tells it. */
BY_HAND(a_rename_that_takes_no_longer_is_repaid)
{
    static const struct {
        const char *name;
        tg_ns was, is;
        bool device, repaid;
    } rows[] = {
        { "new", 60001, 50001, false, true },          { "new", 60001, 60001, false, true },
        { "new", 50001, 60001, false, false },         { "new", 60001, 50001, true, false },
        { "aten::copy_", 60001, 60001, false, false }, { "aten::copy_", 60001, 50001, false, true }
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make(f, 5, 5, 3);
        for (int side = 0; side < 2; side++) {
            add_all(f, side, TG_KIND_OP, "aten::mm", "", 1, 600001);
            add_all(f, side, TG_KIND_OP, side ? rows[i].name : "old", "", 1,
                    side ? rows[i].is : rows[i].was);
            if (rows[i].device)
                add_all(f, side, TG_KIND_KERNEL, "k", "aten::mm", 1, 10001);
        }
        compare(f);
        assert_int_equal(find(f, rows[i].name)->relation, TG_REL_RENAMED);
        if (find(f, rows[i].name)->repaid != rows[i].repaid)
            fail_msg("row %zu", i);
    }
}

/* "x" begins and ends with its caller: on one side it is taken for that, and its own time is the
 * other's. Its inclusive time tells whether it got slower. */
BY_HAND(names_that_whole_microseconds_confuse)
{
    for (int longer = 0; longer < 2; longer++)
        for (int one = 0; one < 2; one++) {
            make(f, 5, 5, 3);
            for (int side = 0; side < 2; side++)
                for (size_t run = 0; run < 5; run++) {
                    tg_ns fine = side || !one;
                    tg_ns all = (side && longer ? 400000 : 200000) + fine;
                    add_row(f, side, run, TG_KIND_OP, "aten::mm", "", 1, 600000 + fine);
                    struct tg_row *x =
                        add_row(f, side, run, TG_KIND_OP, "x", "", 1, side ? all : 20000 + fine);
                    for (size_t j = 0; j < 3; j++)
                        x->total[j] = all;
                }
            compare(f);
            assert_int_equal(find(f, "x")->ev.slower, longer || !one);
            assert_int_equal(find(f, "x")->relation, longer || !one ? TG_REL_NONE : TG_REL_MOVED);
        }
}

/* A fused kernel launches itself: its host time is no operator's. */
BY_HAND(calls_that_went_excuse_time_between_operators)
{
    assert_false(between(f, TG_KIND_OP, "aten::mish", 18501)->ev.slower);
    assert_true(between(f, TG_KIND_OP, "aten::mish", 17501)->ev.slower);
    /* A wait that went is no work that moved. */
    assert_true(between(f, TG_KIND_SYNC, "cudaDeviceSynchronize", 90001)->ev.slower);
}

/* Beside a replacement inside an annotation: "beside" takes 18 us more,
 * and that one as long as before, or more too. */
BY_HAND(inside_an_annotation_its_time_tells)
{
    for (int longer = 0; longer < 2; longer++) {
        make(f, 5, 5, 3);
        for (int side = 0; side < 2; side++) {
            add_all(f, side, TG_KIND_ANNOTATION, "optimizer", "ProfilerStep", 1,
                    200001 + 18000 * side * longer);
            add_all(f, side, TG_KIND_OP, "beside", "optimizer", 1, side ? 38001 : 20001);
            add_all(f, side, TG_KIND_OP, "apart", "ProfilerStep", 1, side ? 38001 : 20001);
            add_all(f, side, TG_KIND_OP, side ? "new" : "old", "optimizer", 8, side ? 2001 : 5001);
        }
        compare(f);
        assert_int_equal(find(f, "beside")->ev.slower, longer);
        assert_int_equal(find(f, "beside")->relation, longer ? TG_REL_NONE : TG_REL_MOVED);
        assert_true(find(f, "apart")->ev.slower);
    }
}
