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

/* Steps that are left out are outside as well, and vary by nature. */
BY_HAND(steps_that_are_skipped)
{
    (void)compared(f, 8, 10);
    assert_false(tg_outside_has_steps(&f->c));
    f->o.skip_first = 1;
    (void)compared(f, 8, 10);
    assert_true(tg_outside_has_steps(&f->c));
    near(tg_outside_growth_of(&f->c, 1u << TG_KIND_OP), 0);
}
