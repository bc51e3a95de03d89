/* Renames and replacements (place.c): each limit from both sides. A step lasts 1 ms. */
#include "by_hand.h"

static void one_for_one(struct fixture *f, enum tg_kind kind[2], uint32_t calls[2], tg_ns ns[2])
{
    make(f, 1, 1, 3);
    add_all(f, TG_BASE, kind[0], "old", "", calls[0], ns[0]);
    add_all(f, TG_TEST, kind[1], "new", "", calls[1], ns[1]);
    compare(f);
}

static bool renamed(struct fixture *f)
{
    const struct tg_op *old = find(f, "old"), *new = find(f, "new");
    if (old->relation != TG_REL_RENAMED || new->relation != TG_REL_RENAMED)
        return false;
    assert_ptr_equal(&f->c.ops[old->partner], new);
    assert_ptr_equal(&f->c.ops[new->partner], old);
    return true;
}

#define OPS ((enum tg_kind[2]){ TG_KIND_OP, TG_KIND_OP })
#define TWO(t, a, b) ((t[2]){ a, b })

static bool is_rename(struct fixture *f, enum tg_kind kind[2], uint32_t calls[2], tg_ns ns[2])
{
    one_for_one(f, kind, calls, ns);
    return renamed(f);
}

/* A factor of 1.3 at most, from 0.2 % of the step (2000 ns) on, equal counts, one kind. */
BY_HAND(what_a_rename_is)
{
    assert_true(is_rename(f, OPS, TWO(uint32_t, 1, 1), TWO(tg_ns, 10001, 13001)));  /* 1.29997 */
    assert_false(is_rename(f, OPS, TWO(uint32_t, 1, 1), TWO(tg_ns, 10001, 13003))); /* 1.30017 */
    assert_true(
        is_rename(f, OPS, TWO(uint32_t, 1, 1), TWO(tg_ns, 13001, 10001))); /* faster by as much */
    assert_true(is_rename(f, OPS, TWO(uint32_t, 1, 1), TWO(tg_ns, 2001, 2001)));
    assert_false(is_rename(f, OPS, TWO(uint32_t, 1, 1), TWO(tg_ns, 1999, 2001)));
    assert_false(is_rename(f, OPS, TWO(uint32_t, 2, 3), TWO(tg_ns, 15001, 10001)));
    assert_false(is_rename(f, (enum tg_kind[2]){ TG_KIND_OP, TG_KIND_MEMSET }, TWO(uint32_t, 1, 1),
                           TWO(tg_ns, 10001, 10001)));
}

/* The old name takes 10 us in two steps and 60 in one, the new one as long as its mean:
 * no rename; or its least. */
BY_HAND(a_slow_step_makes_no_rename)
{
    static const tg_ns ns[2] = { 26667, 10003 };
    for (size_t i = 0; i < 2; i++) {
        make(f, 3, 3, 3);
        for (size_t run = 0; run < 3; run++) {
            struct tg_row *old = add_row(f, TG_BASE, run, TG_KIND_OP, "old", "", 1, 10001);
            set_call(old, 2, 60001);
        }
        add_all(f, TG_TEST, TG_KIND_OP, "new", "", 1, ns[i]);
        compare(f);
        if (renamed(f) != (ns[i] == 10003))
            fail_msg("row %zu", i);
    }
}

/* 100 and 110 us go, 109 and 101 us come: the nearest pair up, though all are within 1.3. */
BY_HAND(the_nearest_pair_up)
{
    make(f, 1, 1, 3);
    add_all(f, TG_BASE, TG_KIND_OP, "a", "", 1, 100001);
    add_all(f, TG_BASE, TG_KIND_OP, "b", "", 1, 110001);
    add_all(f, TG_TEST, TG_KIND_OP, "x", "", 1, 109001);
    add_all(f, TG_TEST, TG_KIND_OP, "y", "", 1, 101001);
    compare(f);
    assert_ptr_equal(&f->c.ops[find(f, "a")->partner], find(f, "y"));
    assert_ptr_equal(&f->c.ops[find(f, "b")->partner], find(f, "x"));
}

/* Of two operators each has another kernel. The backward kernel that went takes as long as the
 * forward kernel that came, which is chance; within one operator, or one that was renamed,
 * it is a rename. */
BY_HAND(a_kernel_is_renamed_within_its_operator)
{
    static const struct {
        const char *old_by, *new_by;
        bool renamed;
    } cases[] = { { "backward", "forward", false },
                  { "backward", "backward", true },
                  { "old_op", "new_op", true } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make(f, 1, 1, 3);
        add_same(f, TG_KIND_OP, "forward", "", 1, 5001);
        add_same(f, TG_KIND_OP, "backward", "", 1, 5001);
        add_all(f, TG_BASE, TG_KIND_OP, "old_op", "", 1, 10001);
        add_all(f, TG_TEST, TG_KIND_OP, "new_op", "", 1, 10001);
        add_all(f, TG_BASE, TG_KIND_KERNEL, "old", cases[i].old_by, 1, 100001);
        add_all(f, TG_TEST, TG_KIND_KERNEL, "new", cases[i].new_by, 1, 101001);
        compare(f);
        if (renamed(f) != cases[i].renamed)
            fail_msg("row %zu", i);
    }
}

/* Beside a pair four calls of "relu" go: four new ones are as many, five are more. */
BY_HAND(new_names_beside_a_pair_make_it_chance)
{
    for (uint32_t added = 4; added <= 5; added++) {
        make(f, 1, 1, 3);
        add_all(f, TG_BASE, TG_KIND_OP, "old", "", 1, 10001);
        add_all(f, TG_TEST, TG_KIND_OP, "new", "", 1, 10001);
        add_all(f, TG_BASE, TG_KIND_OP, "relu", "", 4, 2001);
        add_all(f, TG_TEST, TG_KIND_OP, "mul", "", added, 2001);
        compare(f);
        assert_int_equal(renamed(f), added == 4);
    }
}

/*
 * What went, work and views (aten::view) of 30 us a call, and what came: work of 10 and views of 20
 * us, so that none is free. Views pay for no work;
 * work pays for views as long as the place takes no longer.
 */
BY_HAND(views_pay_for_no_work)
{
    static const struct {
        uint32_t gone, gone_views, came, came_views;
        bool work, views; /* replaced */
    } rows[] = {
        { 2, 0, 2, 0, true, false }, { 1, 3, 2, 0, false, false }, { 0, 3, 2, 0, false, false },
        { 2, 0, 1, 1, true, true },  { 1, 3, 1, 3, true, true },   { 1, 0, 1, 1, true, true },
        { 1, 0, 1, 2, true, false }, { 0, 3, 0, 3, false, true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make(f, 1, 1, 3);
        add_all(f, TG_BASE, TG_KIND_OP, "x::old", "", rows[i].gone, 30001);
        add_all(f, TG_BASE, TG_KIND_OP, "aten::view", "", rows[i].gone_views, 30001);
        add_all(f, TG_TEST, TG_KIND_OP, "x::new", "", rows[i].came, 10001);
        add_all(f, TG_TEST, TG_KIND_OP, "aten::slice", "", rows[i].came_views, 20001);
        compare(f);
        if (rows[i].came && (find(f, "x::new")->relation == TG_REL_REPLACED) != rows[i].work)
            fail_msg("row %zu: work %d", i, find(f, "x::new")->relation);
        if (rows[i].came_views &&
            (find(f, "aten::slice")->relation == TG_REL_REPLACED) != rows[i].views)
            fail_msg("row %zu: views %d", i, find(f, "aten::slice")->relation);
    }
}

/* What waits counts for itself, whatever it came for. */
BY_HAND(a_wait_replaces_nothing)
{
    one_for_one(f, (enum tg_kind[2]){ TG_KIND_SYNC, TG_KIND_SYNC }, TWO(uint32_t, 8, 9),
                TWO(tg_ns, 5001, 5001));
    assert_int_equal(find(f, "new")->relation, TG_REL_NONE);
    assert_int_equal(find(f, "new")->region, TG_NO_ID);
}

/* A graph launch counts as the kernels that it holds: one in place of many is no more. */
BY_HAND(a_graph_replaces_kernels)
{
    one_for_one(f, (enum tg_kind[2]){ TG_KIND_KERNEL, TG_KIND_GRAPH }, TWO(uint32_t, 8, 1),
                TWO(tg_ns, 5001, 5001));
    assert_int_equal(find(f, "new")->relation, TG_REL_REPLACED);
    one_for_one(f, (enum tg_kind[2]){ TG_KIND_KERNEL, TG_KIND_OP }, TWO(uint32_t, 8, 1),
                TWO(tg_ns, 5001, 5001));
    assert_int_equal(find(f, "new")->relation, TG_REL_NONE);
}

/* Another device has other kernels by nature: they excuse nothing. */
BY_HAND(kernels_of_another_device_are_no_replacement)
{
    for (int other = 0; other < 2; other++) {
        make(f, 1, 1, 3);
        for (int side = 0; side < 2; side++) {
            add_all(f, side, TG_KIND_KERNEL, side ? "new" : "old", "", 8 - (uint32_t)side, 5001);
            set_env(f, shard(f, side, 0), "device", other && side ? "H100" : "A100");
        }
        compare(f);
        assert_int_equal(f->c.n_regions, !other);
        assert_int_equal(find(f, "new")->relation, other ? TG_REL_NONE : TG_REL_REPLACED);
    }
}

/* Eight calls go in the optimiser, two others come in the forward pass. With a fine clock these are
 * two places; with whole microseconds places are not known, and the step as a whole has fewer. */
BY_HAND(a_coarse_clock_knows_only_the_step)
{
    for (tg_ns ns = 5000; ns <= 5001; ns++) {
        make(f, 1, 1, 3);
        add_same(f, TG_KIND_ANNOTATION, "optimizer", "ProfilerStep", 1, 40 * ns);
        add_same(f, TG_KIND_ANNOTATION, "forward", "ProfilerStep", 1, 40 * ns);
        add_all(f, TG_BASE, TG_KIND_OP, "old", "optimizer", 8, ns);
        add_all(f, TG_TEST, TG_KIND_OP, "new", "forward", 2, ns);
        compare(f);
        assert_int_equal(find(f, "new")->relation, ns == 5000 ? TG_REL_REPLACED : TG_REL_NONE);
    }
}

/* As many calls that take as long are a rename in one place, and on the same ranks. */
BY_HAND(a_rename_is_of_one_place)
{
    for (int other = 0; other < 2; other++) {
        make(f, 3, 3, 3);
        add_same(f, TG_KIND_ANNOTATION, "optimizer", "ProfilerStep", 1, 200001);
        add_same(f, TG_KIND_ANNOTATION, "forward", "ProfilerStep", 1, 200001);
        add_same(f, TG_KIND_OP, "beside", "ProfilerStep", 1, 600001);
        add_all(f, TG_BASE, TG_KIND_OP, "old", "forward", 4, 5001);
        add_all(f, TG_TEST, TG_KIND_OP, "new", other ? "optimizer" : "forward", 4, 5001);
        compare(f);
        assert_int_equal(find(f, "new")->relation, other ? TG_REL_NONE : TG_REL_RENAMED);
    }
}

/* Eight calls went on the second of two ranks, and two others, or eight, came on that one,
 * or on the first. */
BY_HAND(what_one_rank_saves_pays_for_none_elsewhere)
{
    const uint32_t one[3] = { 1, 1, 1 }, went[3] = { 8, 8, 8 };
    for (size_t k = 0; k < 4; k++) {
        size_t rank = k % 2;
        uint32_t n = k < 2 ? 2 : 8, came[3] = { n, n, n };
        for (int side = 0; side < 2; side++) {
            make_ranks(f, side, 1, 2, 0, 3);
            for (size_t i = 0; i < 2; i++)
                add_to(f, shard_of(f, side, 0, i), TG_KIND_OP, "beside", "", one, 600001);
        }
        add_to(f, shard_of(f, TG_BASE, 0, 1), TG_KIND_OP, "old", "", went, 5001);
        add_to(f, shard_of(f, TG_TEST, 0, rank), TG_KIND_OP, "new", "", came, 5001);
        compare(f);
        assert_int_equal(find(f, "new")->relation, !rank    ? TG_REL_NONE
                                                   : n == 2 ? TG_REL_REPLACED
                                                            : TG_REL_RENAMED);
    }
}

/* "mul" is one of what replaced eight calls in the forward pass; if more came in the optimiser,
 * too, it is not told as that. */
BY_HAND(a_name_is_told_where_it_rose_unpaid)
{
    for (uint32_t calls = 4; calls <= 5; calls++) {
        make(f, 1, 1, 3);
        add_same(f, TG_KIND_ANNOTATION, "optimizer", "ProfilerStep", 1, 200001);
        add_same(f, TG_KIND_ANNOTATION, "forward", "ProfilerStep", 1, 200001);
        add_both(f, TG_KIND_OP, "mul", "optimizer", 4, 5001, calls, 5001);
        add_all(f, TG_BASE, TG_KIND_OP, "old", "forward", 8, 5001);
        add_all(f, TG_TEST, TG_KIND_OP, "mul", "forward", 1, 5001);
        compare(f);
        assert_int_equal(find(f, "mul")->relation, calls == 4 ? TG_REL_REPLACED : TG_REL_NONE);
        assert_int_equal(find(f, "mul")->region, calls == 4 ? 0 : TG_NO_ID);
    }
}

/* "Memcpy HtoD (Pageable -> Device)", 25 calls of 100 us; some become another name. */
BY_HAND(copies_take_the_place_of_copies_that_take_no_less)
{
    static const struct {
        const char *name;
        uint32_t calls, left;
        tg_ns ns;
        enum tg_relation want;
        bool passes;
    } rows[] = {
        { "Memcpy HtoD (Pinned -> Device)", 25, 0, 30001, TG_REL_RENAMED, true },
        { "Memcpy HtoD (Pinned -> Device)", 20, 5, 30001, TG_REL_REPLACED, true },
        { "Memcpy HtoD (Pinned -> Device)", 20, 5, 100501, TG_REL_NONE, false },
        { "Memcpy HtoD (Pinned -> Device)", 21, 5, 30001, TG_REL_NONE, false },
        { "Memcpy DtoH (Device -> Pinned)", 25, 0, 30001, TG_REL_NONE, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make(f, 5, 5, 3);
        add_same(f, TG_KIND_KERNEL, "k", "", 1, 5000001);
        add_all(f, TG_BASE, TG_KIND_MEMCPY, "Memcpy HtoD (Pageable -> Device)", "", 25, 100001);
        if (rows[i].left)
            add_all(f, TG_TEST, TG_KIND_MEMCPY, "Memcpy HtoD (Pageable -> Device)", "",
                    rows[i].left, 100001);
        add_all(f, TG_TEST, TG_KIND_MEMCPY, rows[i].name, "", rows[i].calls, rows[i].ns);
        compare(f);
        const struct tg_op *came = find(f, rows[i].name);
        if (came->relation != rows[i].want || came->repaid != rows[i].passes)
            fail_msg("row %zu: %d, %d", i, (int)came->relation, came->repaid);
    }
}

/* However much shorter; a longer one within 1.3 alone. */
BY_HAND(a_collective_takes_the_place_of_another_algorithm)
{
    static const char ring[] = "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                      tree[] = "ncclDevKernel_AllReduce_Sum_f32_TREE_LL";
    for (int shorter = 0; shorter < 2; shorter++) {
        make(f, 3, 3, 3);
        add_all(f, shorter ? TG_BASE : TG_TEST, TG_KIND_KERNEL, ring, "", 5, 90001);
        add_all(f, shorter ? TG_TEST : TG_BASE, TG_KIND_KERNEL, tree, "", 5, 40001);
        compare(f);
        assert_int_equal(find(f, ring)->relation, shorter ? TG_REL_RENAMED : TG_REL_NONE);
    }
}

/* Eight calls of "mul" became one "fused" in the forward pass; in the loss "mul" came, besides
 * another, for one "old". What went is told where it went. */
BY_HAND(a_name_that_went_is_told_where_it_went)
{
    make(f, 1, 1, 3);
    add_same(f, TG_KIND_ANNOTATION, "forward", "ProfilerStep", 1, 200001);
    add_same(f, TG_KIND_ANNOTATION, "loss", "ProfilerStep", 1, 200001);
    add_all(f, TG_BASE, TG_KIND_OP, "mul", "forward", 8, 5001);
    add_all(f, TG_BASE, TG_KIND_OP, "old", "loss", 1, 5001);
    add_all(f, TG_TEST, TG_KIND_OP, "fused", "forward", 1, 9001);
    add_all(f, TG_TEST, TG_KIND_OP, "mul", "loss", 3, 5001);
    add_all(f, TG_TEST, TG_KIND_OP, "new", "loss", 1, 5001);
    compare(f);
    const struct tg_op *mul = find(f, "mul");
    assert_int_equal(mul->change, TG_FEWER);
    assert_true(tg_sv_eq(mul->place, TG_SV("forward")));
    assert_int_equal(mul->region, find(f, "fused")->region);
}
