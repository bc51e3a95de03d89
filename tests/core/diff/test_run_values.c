/* The value of a run (run_values.c): which form it takes, and each statistic of the steps. */
#include "by_hand.h"
#include "core/diff/internal.h"

static struct tg_run_values read_values(struct fixture *f, const char *name, enum tg_value_ask ask)
{
    const struct tg_op *op = find(f, name);

    return tg_run_values(op->rows->work, op, ask);
}

/* Two calls a step, five steps; the k-th call takes each[k][step] in every run. */
static void add_calls(struct fixture *f, int side, const tg_ns each[2][5])
{
    for (size_t r = 0; r < f->side[side].n_runs; r++) {
        struct tg_row *row = add_row(f, side, r, TG_KIND_OP, "x", "", 2, 1);
        for (size_t j = 0; j < 5; j++) {
            row->slots[2 * j] = each[0][j];
            row->slots[2 * j + 1] = each[1][j];
            row->self[j] = each[0][j] + each[1][j];
            row->total[j] = row->self[j] + 1000;
        }
    }
}

static const tg_ns calls[2][5] = { { 50, 10, 30, 20, 40 }, { 100, 500, 200, 400, 300 } };

/* By slot: of {50 10 30 20 40} and {100 500 200 400 300}. */
BY_HAND(each_reading_of_slots)
{
    make(f, 3, 3, 5);
    add_calls(f, TG_BASE, calls);
    add_calls(f, TG_TEST, calls);
    compare(f);
    struct tg_run_values v = read_values(f, "x", TG_ASK_BEST);
    assert_int_equal(v.form, TG_FORM_SLOTS);
    assert_true(v.complete);
    near(v.y[TG_LEAST][TG_TEST][2], 10 + 100);
    near(v.y[TG_LEAST_FIRST][TG_TEST][2], 10 + 100); /* of the first three */
    near(v.y[TG_LEAST_LAST][TG_TEST][2], 20 + 300);  /* of the last two */
    near(v.y[TG_MEAN][TG_TEST][2], 30 + 300);
    near(v.y[TG_SLOW][TG_TEST][2], 40 + 400);
}

/* By step: sums are 150, 510, 230, 420, 340; inclusive ones 1000 more. */
BY_HAND(each_reading_of_steps)
{
    make(f, 3, 3, 5);
    add_calls(f, TG_BASE, calls);
    add_calls(f, TG_TEST, calls);
    compare(f);
    struct tg_run_values v = read_values(f, "x", TG_ASK_STEPS);
    assert_int_equal(v.form, TG_FORM_STEPS);
    near(v.y[TG_LEAST][TG_BASE][0], 150);
    near(v.y[TG_MEAN][TG_BASE][0], 330);
    v = read_values(f, "x", TG_ASK_INCLUSIVE);
    assert_int_equal(v.form, TG_FORM_USUAL_STEPS);
    near(v.y[TG_LEAST][TG_BASE][0], 1150);
}

/* A step of five with other calls is left out; with three of five the slots do not align. */
BY_HAND(steps_with_other_calls)
{
    static const uint32_t usual[] = { 2, 2, 2, 2, 2 }, once[] = { 2, 2, 3, 2, 2 },
                          often[2][5] = { { 2, 4, 3, 1, 5 }, { 5, 3, 1, 2, 4 } };
    const struct {
        const uint32_t *base, *test;
        enum tg_value_form form;
        double calls;
    } rows[] = { { usual, once, TG_FORM_SLOTS, 2 },
                 { once, once, TG_FORM_SLOTS, 2 },
                 { often[0], often[1], TG_FORM_CALLS, 3 } }; /* the mean */

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make(f, 3, 3, 5);
        for (size_t r = 0; r < 3; r++) {
            add_counts(f, TG_BASE, r, TG_KIND_OP, "x", "", rows[i].base, 101);
            add_counts(f, TG_TEST, r, TG_KIND_OP, "x", "", rows[i].test, 101);
        }
        compare(f);
        struct tg_run_values v = read_values(f, "x", TG_ASK_BEST);
        assert_int_equal(v.form, rows[i].form);
        near(v.y[TG_LEAST][TG_BASE][0], 101 * rows[i].calls);
    }
}

/* Runs that call otherwise than more than half of them are read by their mean call. */
BY_HAND(one_run_with_other_calls)
{
    static const uint32_t usual[] = { 2, 2, 2, 2, 2 }, more[] = { 4, 4, 4, 4, 4 },
                          some[] = { 4, 2, 4, 2, 4 }, one[] = { 1, 1, 1, 1, 1 },
                          three[] = { 3, 3, 3, 3, 3 };
    static const struct {
        const uint32_t *of[5];
        enum tg_value_form form;
    } rows[] = {
        { { usual, usual, more, usual, usual }, TG_FORM_SLOTS },
        { { usual, some, usual, more, usual }, TG_FORM_SLOTS },
        { { more, one, usual, three, usual }, TG_FORM_CALLS }, /* more than half have none alike */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make(f, 5, 5, 5);
        for (size_t r = 0; r < 5; r++) {
            add_counts(f, TG_BASE, r, TG_KIND_OP, "x", "", usual, 101);
            add_counts(f, TG_TEST, r, TG_KIND_OP, "x", "", rows[i].of[r], 103);
        }
        compare(f);
        struct tg_run_values v = read_values(f, "x", TG_ASK_BEST);
        assert_int_equal(v.form, rows[i].form);
        for (size_t r = 0; r < 5; r++) {
            near(v.y[TG_LEAST][TG_BASE][r], 2 * 101);
            near(v.y[TG_LEAST][TG_TEST][r], 2 * 103);
        }
    }
}

BY_HAND(an_operator_that_a_run_lacks_is_not_complete)
{
    make(f, 3, 3, 2);
    add_all(f, TG_BASE, TG_KIND_OP, "x", "", 1, 101);
    add_row(f, TG_TEST, 0, TG_KIND_OP, "x", "", 1, 101);
    add_row(f, TG_TEST, 1, TG_KIND_OP, "x", "", 1, 101);
    compare(f);
    assert_false(read_values(f, "x", TG_ASK_BEST).complete);
}

BY_HAND(the_slowest_step)
{
    make(f, 3, 3, 5);
    add_calls(f, TG_BASE, calls);
    add_calls(f, TG_TEST, calls);
    compare(f);
    const struct tg_op *op = find(f, "x");
    const struct tg_diff_work *w = op->rows->work;
    struct tg_slow_step s = tg_run_slow_step(w, op, TG_BASE, 0);
    near(s.slowest, 510);
    near(s.usual, 340);
}
