/*
 * What the rank test costs, in operations and not in time: core/diff/stats.c is compiled into this
 * test with a call at each basic block (-fsanitize-coverage=trace-pc), which is counted here.
 *
 * The chances of all U are (nb nt)^2 steps and counted once a comparison. What an operator adds is
 * nb nt pairs and sorting: twice the runs a side are four times the pairs. Counted once an
 * operator, it would be sixteen times.
 */
#include "by_hand.h"
#include "core/diff/stats.h"

#define FEW 20
#define MANY 40

static size_t steps;

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
    steps++;
}

/* All runs of a side differ, and half of the fresh ones are slower than all of the baseline's. */
static tg_ns time_of(size_t op, int side, size_t run)
{
    return (tg_ns)(100001 + 2000 * op + 2 * (run * 7 % 41) + (side && run % 2 ? 20000 : 0));
}

/* Basic blocks of stats.c in a comparison of `n_ops` operators, n runs a side. */
static size_t cost_of(struct fixture *f, size_t n_ops, size_t n)
{
    make(f, n, n, 1);
    for (size_t op = 0; op < n_ops; op++) {
        const char *name = tg_arena_printf(f->a, "op%zu", op);
        for (int side = 0; side < 2; side++)
            for (size_t run = 0; run < n; run++)
                add_row(f, side, run, TG_KIND_OP, name, "", 1, time_of(op, side, run));
    }
    steps = 0;
    compare(f);
    return steps;
}

static double per_op(struct fixture *f, size_t n)
{
    size_t few = cost_of(f, 6, n), more = cost_of(f, 12, n);
    return (double)(more - few) / 6;
}

/* 4 for the pairs, less for what does not grow; sorting adds a little. */
BY_HAND(an_operator_costs_its_pairs_of_runs)
{
    double few = per_op(f, FEW), many = per_op(f, MANY);
    assert_true(few > FEW * FEW);
    if (many > 4.5 * few)
        fail_msg("%.0f operations an operator at %d runs a side, %.0f at %d", few, FEW, many, MANY);
}

/* The control: a test that counts the chances itself, as one an operator would. */
BY_HAND(a_single_test_costs_their_square)
{
    double b[MANY], t[MANY], cost[2];
    for (int i = 0; i < MANY; i++)
        b[i] = t[i] = i;
    for (int many = 0; many < 2; many++) {
        size_t n = many ? MANY : FEW;
        steps = 0;
        (void)tg_rank_p(b, n, t, n, 0.5);
        cost[many] = (double)steps;
    }
    assert_true(cost[1] > 12 * cost[0]);
}
