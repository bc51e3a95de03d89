/* Who waits for whom in collectives (collectives.c). Every case is one run a side of two steps. */
#include "by_hand.h"
#include "core/diff/internal.h"

enum { MAX_WAITS = 8 };

struct waits {
    struct tg_wait v[MAX_WAITS];
    size_t n;
};

static void note(void *arg, const struct tg_wait *p)
{
    struct waits *to = arg;

    assert_true(to->n < MAX_WAITS);
    to->v[to->n++] = *p;
}

static void start(struct fixture *f, size_t ranks)
{
    f->c = (struct tg_comparison){ 0 };
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

/*
 * 100 and 200 ns, 301 and 250 ns: 100 and 51 of the longest, 200 and 301, are waiting. Work that
 * does not communicate has no part in it.
 */
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
            row->attrs = TG_NEW(f->a, struct tg_attr);
            *row->attrs = (struct tg_attr){
                .kind = TG_ATTR_KIND_COLLECTIVE,
                .value = tg_sv_of(rank && !same ? "name=x\ngroup=tp" : "name=x\ngroup=dp"),
                .count = 1,
            };
            row->n_attrs = 1;
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

/* The shortest came last. Within a tenth of the longest wait, 100 ns, several share it. */
BY_HAND(who_comes_last)
{
    for (int close = 0; close < 2; close++) {
        struct waits got = { 0 };
        start(f, 3);
        once(f, 0, "ncclAllReduce", 200);
        once(f, 1, "ncclAllReduce", 100);
        once(f, 2, "ncclAllReduce", close ? 110 : 111);
        assert_true(tg_collective_waits(work(f), TG_BASE, 0, note, &got));
        assert_int_equal(got.n, close ? 2 : 1);
        for (size_t i = 0; i < got.n; i++) {
            assert_int_equal(got.v[i].rank, 1 + i);
            assert_int_equal(got.v[i].step, 3);
            near(got.v[i].ns, close ? 50 : 100);
        }
    }
}
