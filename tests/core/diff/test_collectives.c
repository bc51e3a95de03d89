/* Who waits for whom in collectives (collectives.c). Every case is one run a side of two steps. */
#include "by_hand.h"
#include "core/diff/internal.h"

static void start(struct fixture *f, size_t ranks)
{
    for (int side = 0; side < 2; side++) {
        make_ranks(f, side, 1, ranks, 0, 2);
        for (size_t rank = 0; rank < ranks; rank++)
            add_to(f, shard_of(f, side, 0, rank), TG_KIND_OP, "aten::mm", "", (uint32_t[]){ 1, 1 },
                   101);
    }
}

/* A kernel of a rank of the baseline: once in the first step. */
static struct tg_row *once(struct fixture *f, size_t rank, const char *name, tg_ns ns)
{
    return add_to(f, shard_of(f, TG_BASE, 0, rank), TG_KIND_KERNEL, name, "", (uint32_t[]){ 1, 0 },
                  ns);
}

static const struct tg_diff_work *work(struct fixture *f)
{
    compare(f);
    return find(f, "aten::mm")->rows->work;
}

static bool skew(struct fixture *f, double *out)
{
    return tg_collective_skew(work(f), TG_BASE, 0, out);
}

/* 100 and 200 ns, 301 and 250 ns: 100 and 51 of the longest, 200 and 301, are waiting. Work that
 * does not communicate has no part in it. */
BY_HAND(skew_is_waiting_over_the_longest)
{
    double got;
    start(f, 2);
    once(f, 0, "ncclAllReduce", 100);
    once(f, 0, "ncclAllGather", 301);
    once(f, 0, "gemm", 9999);
    once(f, 1, "ncclAllReduce", 200);
    once(f, 1, "ncclAllGather", 250);
    once(f, 1, "gemm", 1);
    assert_true(skew(f, &got));
    near(got, 100.0 * (100 + 51) / (200 + 301));
    assert_false(tg_collective_skew(work(f), TG_TEST, 0, &got)); /* it has none */
}

BY_HAND(what_one_rank_alone_has_is_not_known)
{
    double got;
    start(f, 1);
    once(f, 0, "ncclAllReduce", 100);
    assert_false(skew(f, &got));
    start(f, 2);
    once(f, 0, "ncclAllReduce", 100);
    once(f, 1, "ncclAllGather", 250);
    assert_false(skew(f, &got));
}

BY_HAND(single_durations_are_needed)
{
    double got;
    start(f, 2);
    once(f, 0, "ncclAllReduce", 100);
    once(f, 1, "ncclAllReduce", 200)->slots = NULL;
    assert_false(skew(f, &got));
}

/* The same kernel in another process group is another collective. */
BY_HAND(groups_are_kept_apart)
{
    double got;
    for (int same = 0; same < 2; same++) {
        start(f, 2);
        for (size_t rank = 0; rank < 2; rank++) {
            struct tg_row *row = once(f, rank, "ncclAllReduce", rank ? 200 : 100);
            add_attr(f, row, TG_ATTR_KIND_COLLECTIVE,
                     rank && !same ? "name=x\ngroup=tp" : "name=x\ngroup=dp", 1);
        }
        assert_int_equal(skew(f, &got), same);
        if (same)
            near(got, 50);
    }
}

/* Of three ranks that have the kernel one lacks the second step's: it does not count. */
BY_HAND(a_collective_that_a_rank_lacks_is_not_whole)
{
    double got;
    start(f, 3);
    for (size_t rank = 0; rank < 3; rank++) {
        struct tg_row *row = add_to(f, shard_of(f, TG_BASE, 0, rank), TG_KIND_KERNEL,
                                    "ncclAllReduce", "", (uint32_t[]){ 1, rank != 2 }, 100);
        row->slots[0] = rank == 1 ? 400 : 100;
        if (rank == 1)
            row->slots[1] = 800;
    }
    assert_true(skew(f, &got));
    near(got, 75); /* (400 - 100) / 400 */
}

/* Two calls in the first step, and which they are: NULL, the rank numbers nothing. */
static void two(struct fixture *f, size_t rank, const char *group, const tg_ns dur[2],
                const char *which)
{
    struct tg_row *row = add_to(f, shard_of(f, TG_BASE, 0, rank), TG_KIND_KERNEL, "ncclAllReduce",
                                "", (uint32_t[]){ 2, 0 }, 100);
    memcpy(row->slots, dur, 2 * sizeof *dur);
    add_attr(f, row, TG_ATTR_KIND_COLLECTIVE, group, 2);
    if (which)
        add_attr(f, row, TG_ATTR_KIND_WHICH, which, 2);
}

/* a takes 100, 120, 110 ns and b 300, 310, 305; rank 1 has b first. By number 20 of 120 and 10 of
 * 310 are waiting, by order 210 of 310 and 185 of 305. */
BY_HAND(a_rank_without_numbers_is_matched_by_order)
{
    static const char a_b[] = "00000007000000010000000700000003",
                      b_a[] = "00000007000000030000000700000001",
                      a_only[] = "00000007000000010000000700000000",
                      none[] = "00000007000000000000000700000000";
    static const struct {
        const char *third, *group;
        double want;
    } cases[] = {
        { a_b, "group=dp", 100.0 * 30 / 430 },
        { NULL, "group=dp", 100.0 * 395 / 615 },
        { none, "group=dp", 100.0 * 395 / 615 },
        { a_only, "group=dp", 100.0 * 20 / 120 }, /* it has numbers; its b is nobody's */
        { NULL, "group=tp", 100.0 * 30 / 430 },   /* another group: two ranks alone */
    };
    for (size_t bare = 0; bare < 3; bare++) /* whichever rank it is */
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            double got;
            start(f, 3);
            for (size_t k = 0; k < 3; k++) {
                size_t rank = (bare + 1 + k) % 3;
                two(f, rank, k == 2 ? cases[i].group : "group=dp",
                    k == 0   ? (const tg_ns[]){ 100, 300 }
                    : k == 1 ? (const tg_ns[]){ 310, 120 }
                             : (const tg_ns[]){ 110, 305 },
                    k == 0   ? a_b
                    : k == 1 ? b_a
                             : cases[i].third);
            }
            assert_true(skew(f, &got));
            near(got, cases[i].want);
        }
}

/* ---- ranks that the others wait for: four ranks, one run a side of two steps of 1 ms, and an
 * all-reduce a step, shorter by the wait on a rank that comes last ---- */

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

/* Within a tenth of the longest wait, 100 us, two of eight share it. */
BY_HAND(who_comes_last)
{
    for (tg_ns near_by = 10000; near_by <= 11000; near_by += 1000) {
        for (int side = 0; side < 2; side++) {
            make_ranks(f, side, 1, 8, 0, 2);
            for (size_t rank = 0; rank < 8; rank++)
                add_to(f, shard_of(f, side, 0, rank), TG_KIND_KERNEL, "ncclAllReduce", "",
                       (uint32_t[]){ 1, 0 },
                       !side || rank > 1 ? 200001
                       : rank            ? 100001 + near_by
                                         : 100001);
        }
        compare(f);
        assert_int_equal(f->c.straggler->n_ranks, near_by == 10000 ? 2 : 1);
        near(f->c.straggler->wait_ns, 100000);
        assert_int_equal(f->c.straggler->since, 3);
    }
}
