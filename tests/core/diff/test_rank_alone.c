/* One rank alone (account.c). Four ranks, three runs a side of two steps, three kernels of 10,
 * 20 and 30 us a step on each of them, and an all-reduce. */
#include "by_hand.h"

enum { RUNS = 3, RANKS = 4, KERNELS = 3 };

/* Of each rank and kernel: so many times as long in the fresh runs, and in run 0 of them alone. */
struct plan {
    double slower[RANKS][KERNELS], in_run_0;
    double comm; /* rank 2's all-reduce */
};

static const struct tg_rank_alone *alone(struct fixture *f, const struct plan *plan)
{
    static const char *const name[] = { "kernel_a", "kernel_b", "kernel_c" };
    for (int side = 0; side < 2; side++) {
        make_ranks(f, side, RUNS, RANKS, 0, 2);
        for (size_t k = 0; k < (size_t)RUNS * RANKS * KERNELS; k++) {
            size_t run = k / RANKS / KERNELS, rank = k / KERNELS % RANKS, i = k % KERNELS;
            struct tg_shard *h = shard_of(f, side, run, rank);
            double by = side == TG_BASE || plan->slower[rank][i] == 0 ? 1 : plan->slower[rank][i];
            if (plan->in_run_0 > 0 && run == 0 && side == TG_TEST && by > 1)
                by = plan->in_run_0;
            (void)add_to(f, h, TG_KIND_KERNEL, name[i], "", (uint32_t[]){ 1, 1 },
                         (tg_ns)(10000.0 * (double)(i + 1) * by) + 1);
            if (i == 0)
                (void)add_to(f, h, TG_KIND_KERNEL, "ncclAllReduce", "", (uint32_t[]){ 1, 1 },
                             (tg_ns)(rank == 2 && side && plan->comm > 0 ? plan->comm : 5001));
        }
    }
    compare(f);
    return f->c.rank_alone;
}

BY_HAND(the_rank_and_its_names)
{
    const struct tg_rank_alone *one = alone(f, &(struct plan){ .slower[2] = { 6, 0, 3 } });
    size_t n = 0;
    assert_non_null(one);
    assert_int_equal(one->rank, 2);
    assert_true(one->device);
    assert_int_equal(one->n_names, 2);
    near(one->value[TG_BASE], 60003);
    near(one->value[TG_TEST], 170003); /* 60 + 20 + 90 us */
    near(one->of_names[TG_BASE], 40002);
    near(one->of_names[TG_TEST], 150002);
    for (size_t i = 0; i < f->c.n_ops; i++)
        n += f->c.ops[i].on_rank_alone;
    assert_int_equal(n, 2);
}

/* Its names, but not the one that is slower everywhere. */
BY_HAND(what_all_ranks_do_is_not_one_ranks)
{
    assert_null(alone(
        f, &(struct plan){ .slower = { { 2, 0, 0 }, { 2, 0, 0 }, { 2, 0, 0 }, { 2, 0, 0 } } }));
    assert_null(alone(f, &(struct plan){ .slower = { { 0 }, { 6, 0, 0 }, { 6, 0, 0 } } }));
    assert_null(alone(f, &(struct plan){ .slower[2] = { 0 } }));
}

/* 60 us and a twentieth more are no growth; a tenth more is. */
BY_HAND(a_little_is_not_told)
{
    assert_null(alone(f, &(struct plan){ .slower[2] = { 1.3, 0, 0 } }));
    assert_non_null(alone(f, &(struct plan){ .slower[2] = { 1.6, 0, 0 } }));
}

/* One fresh run is as before. */
BY_HAND(it_has_to_be_so_in_each_run)
{
    assert_null(alone(f, &(struct plan){ .slower[2] = { 6, 0, 0 }, .in_run_0 = 1 }));
    assert_non_null(alone(f, &(struct plan){ .slower[2] = { 6, 0, 0 }, .in_run_0 = 2 }));
}

/* It waits there for the others. */
BY_HAND(a_longer_collective_is_no_work)
{
    assert_null(alone(f, &(struct plan){ .comm = 90001 }));
}
