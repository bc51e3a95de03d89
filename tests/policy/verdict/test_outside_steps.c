/* Calls before, between and after the steps; numbers by hand. */
#include "tests/core/diff/by_hand.h"

#include "policy/verdict/internal.h"

/* Two runs of four steps a side, one call a step, and `outside` calls a run outside of them. */
static const struct tg_op *compared(struct fixture *f, uint32_t before, uint32_t after)
{
    f->c = (struct tg_comparison){ 0 };
    make(f, 2, 2, 4);
    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < 2; run++)
            add_row(f, side, run, TG_KIND_OP, "x", "", 1, 101)->count[4] =
                side == TG_BASE ? before : after;
    compare(f);
    return find(f, "x");
}

/* 8 calls a run outside 4 steps are 2 a step; 2 more of them are half of one. */
BY_HAND(growth_by_the_step)
{
    const struct tg_op *op = compared(f, 8, 10);
    near(tg_outside_calls(&f->c, op, TG_BASE), 2);
    near(tg_outside_growth(&f->c, op), 0.5);
    near(tg_outside_growth_of(&f->c, 1u << TG_KIND_OP), 0.5);
    near(tg_outside_growth_of(&f->c, 1u << TG_KIND_KERNEL), 0);
    near(tg_outside_growth(&f->c, compared(f, 10, 8)), 0);
    near(tg_outside_growth(&f->c, compared(f, 8, 8)), 0);
}

/* The fresh side has half as many steps: what runs once a trace is more by the step, not by the
 * trace. */
BY_HAND(what_runs_once_does_not_grow)
{
    make(f, 1, 1, 4);
    make_side(f, TG_TEST, 1, 2);
    add_row(f, TG_BASE, 0, TG_KIND_OP, "x", "", 1, 101)->count[4] = 8;
    add_row(f, TG_TEST, 0, TG_KIND_OP, "x", "", 1, 101)->count[2] = 8;
    compare(f);
    assert_true(tg_outside_calls(&f->c, find(f, "x"), TG_TEST) >
                tg_outside_calls(&f->c, find(f, "x"), TG_BASE));
    near(tg_outside_growth(&f->c, find(f, "x")), 0);
}

/* Another name, as often, is not more; beside a view that went it is. */
BY_HAND(names_that_change_outside)
{
    for (int view = 0; view < 2; view++) {
        make(f, 1, 1, 4);
        for (int side = 0; side < 2; side++) {
            add_row(f, side, 0, TG_KIND_OP, "aten::max", "", 1, 101)->count[4] = side ? 9 : 1;
            add_row(f, side, 0, TG_KIND_OP, view ? "aten::view" : "aten::min", "", 1, 101)
                ->count[4] = side ? 1 : 9;
        }
        compare(f);
        near(tg_outside_growth(&f->c, find(f, "aten::max")), 2);
        near(tg_outside_growth_of(&f->c, 1u << TG_KIND_OP), view ? 2 : 0);
        f->c = (struct tg_comparison){ 0 };
    }
}

/* What is in steps that are left out is not outside: it varies by nature. */
BY_HAND(steps_that_are_skipped)
{
    static const uint32_t warm[2][4] = { { 1, 1, 1, 1 }, { 90, 1, 1, 1 } };
    f->o.skip_first = 1;
    const struct tg_op *op = compared(f, 8, 10);
    near(tg_outside_calls(&f->c, op, TG_BASE), 2);
    near(tg_outside_growth(&f->c, op), 0.5);
    f->c = (struct tg_comparison){ 0 };
    make(f, 1, 1, 4);
    for (int side = 0; side < 2; side++)
        add_counts(f, side, 0, TG_KIND_OP, "x", "", warm[side], 101)->count[4] = 8;
    compare(f);
    near(tg_outside_growth(&f->c, find(f, "x")), 0);
}

/* An operator before, in and between the steps: calls of each step,
 * calls of a trace outside of them. */
struct cut {
    const char *what;
    enum tg_kind kind;
    uint32_t in[2], out[2];
    size_t came; /* calls of a trace that came in */
};

static void do_cut(struct fixture *f, const struct cut *row, const char *name, tg_ns ns)
{
    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < 2; run++)
            for (size_t rank = 0; rank < f->side[side].n_ranks; rank++) {
                size_t steps = shard_of(f, side, run, rank)->n_steps;
                uint32_t count[MAX_STEPS];
                for (size_t j = 0; j < steps; j++)
                    count[j] = row->in[side];
                add_to(f, shard_of(f, side, run, rank), row->kind, name, "", count, ns)
                    ->count[steps] = row->out[side];
            }
}

/* Four steps a trace: 8 calls outside are 2 by the step. A call takes 101 ns. */
BY_HAND(what_came_into_the_steps)
{
    static const struct cut rows[] = {
        { "all of it", TG_KIND_OP, { 1, 3 }, { 8, 0 }, 8 },
        { "beside more that stays outside", TG_KIND_OP, { 1, 3 }, { 80, 72 }, 8 },
        { "of a kernel", TG_KIND_KERNEL, { 0, 2 }, { 8, 0 }, 8 },
        { "a tenth too few", TG_KIND_OP, { 0, 10 }, { 40, 4 }, 40 },
        { "a tenth too many", TG_KIND_OP, { 0, 10 }, { 44, 0 }, 40 },
        { "more than that too few", TG_KIND_OP, { 0, 10 }, { 40, 5 }, 0 },
        { "more than that too many", TG_KIND_OP, { 0, 10 }, { 45, 0 }, 0 },
        { "new, and as many outside", TG_KIND_OP, { 1, 3 }, { 8, 8 }, 0 },
        { "new and nothing outside", TG_KIND_OP, { 1, 3 }, { 0, 0 }, 0 },
        { "it went out", TG_KIND_OP, { 3, 1 }, { 0, 8 }, 0 },
        { "nothing changed", TG_KIND_OP, { 1, 1 }, { 8, 8 }, 0 },
        { "what no rule counts", TG_KIND_ANNOTATION, { 1, 3 }, { 8, 0 }, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t ranks = 1; ranks < 3; ranks++) {
            f->c = (struct tg_comparison){ 0 };
            for (int side = 0; side < 2; side++)
                make_ranks(f, side, 2, ranks, 0, 4);
            do_cut(f, &rows[i], "x", 101);
            compare(f);
            struct tg_came_in came = tg_outside_came_in(&f->c);
            if (came.n_names != (rows[i].came > 0))
                fail_msg("%s: %zu names", rows[i].what, came.n_names);
            near(came.ns, 101.0 * (double)rows[i].came);
            assert_ptr_equal(came.largest, rows[i].came ? find(f, "x") : NULL);
            if (rows[i].came)
                assert_int_equal(came.device, rows[i].kind == TG_KIND_KERNEL);
        }
}

/* Of several the one with most time is named, wherever it is in the list;
 * one on the host is enough. */
BY_HAND(the_largest_that_came_in)
{
    static const struct cut op = { "", TG_KIND_OP, { 0, 2 }, { 8, 0 }, 8 },
                            kernel = { "", TG_KIND_KERNEL, { 0, 2 }, { 8, 0 }, 8 },
                            stays = { "", TG_KIND_OP, { 2, 2 }, { 8, 8 }, 0 };
    for (int large = 0; large < 3; large++) {
        static const char *const names[] = { "a", "b", "c" };
        f->c = (struct tg_comparison){ 0 };
        make(f, 2, 2, 4);
        for (int i = 0; i < 3; i++)
            do_cut(f, i == 2 ? &op : &kernel, names[i], i == large ? 1001 : 101);
        do_cut(f, &stays, "d", 5001);
        compare(f);
        struct tg_came_in came = tg_outside_came_in(&f->c);
        assert_int_equal(came.n_names, 3);
        assert_ptr_equal(came.largest, find(f, names[large]));
        near(came.ns, 8 * (1001 + 101 + 101));
        assert_false(came.device);
    }
    f->o.skip_first = 1; /* of three steps */
    compare(f);
    near(tg_outside_came_in(&f->c).ns, 6 * (1001 + 101 + 101));
}

/* Half as many steps: one call of each of the baseline's four came in. What a call launches is the
 * launch's. */
BY_HAND(what_came_in_is_of_the_baselines_trace)
{
    static const struct cut row = { "", TG_KIND_OP, { 0, 1 }, { 4, 0 }, 4 };
    make_side(f, TG_BASE, 2, 4);
    make_side(f, TG_TEST, 2, 2);
    do_cut(f, &row, "x", 101);
    compare(f);
    near(tg_outside_came_in(&f->c).ns, 4 * 101);
    for (size_t i = 0; i < f->c.n_ops; i++)
        f->c.ops[i].launched = true;
    assert_null(tg_outside_came_in(&f->c).largest);
}
