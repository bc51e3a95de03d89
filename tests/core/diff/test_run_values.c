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

/* By slot: of {50 10 30 20 40} and {100 500 200 400 300}. By step: sums are 150, 510, 230, 420 and
 * 340; inclusive ones 1000 more. */
BY_HAND(each_reading)
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
    v = read_values(f, "x", TG_ASK_STEPS);
    assert_int_equal(v.form, TG_FORM_STEPS);
    near(v.y[TG_LEAST][TG_BASE][0], 150);
    near(v.y[TG_MEAN][TG_BASE][0], 330);
    v = read_values(f, "x", TG_ASK_INCLUSIVE);
    assert_int_equal(v.form, TG_FORM_USUAL_STEPS);
    near(v.y[TG_LEAST][TG_BASE][0], 1150);
    const struct tg_op *op = find(f, "x");
    struct tg_slow_step s = tg_run_slow_step(op->rows->work, op, TG_BASE, 0, TG_FORM_SLOTS);
    near(s.slowest, 510);
    near(s.usual, 340);
}

/* A step of five with other calls is left out, unless all runs have one;
 * with three of five the slots do not align. */
BY_HAND(steps_with_other_calls)
{
    static const uint32_t usual[] = { 2, 2, 2, 2, 2 }, once[] = { 2, 2, 3, 2, 2 },
                          often[2][5] = { { 2, 4, 3, 1, 5 }, { 5, 3, 1, 2, 4 } };
    const struct {
        const uint32_t *base, *test;
        enum tg_value_form form;
        double calls;
    } rows[] = { { usual, once, TG_FORM_SLOTS, 2 },
                 { once, once, TG_FORM_SCHEDULE, 2 * 4 / 5.0 + 3 / 5.0 },
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

/* Each call of step j takes 101 + 10 j ns; `digits`: calls by step. */
static void add_digits(struct fixture *f, int side, const char *digits)
{
    uint32_t count[MAX_STEPS] = { 0 };
    for (size_t j = 0; digits[j]; j++)
        count[j] = (uint32_t)(digits[j] - '0');
    for (size_t r = 0; r < f->side[side].n_runs; r++) {
        struct tg_row *row = add_counts(f, side, r, TG_KIND_OP, "x", "", count, 101);
        for (size_t j = 0, n = 0; digits[j]; j++) {
            row->self[j] = count[j] * (101 + 10 * (tg_ns)j);
            for (size_t k = 0; k < count[j]; k++)
                row->slots[n++] = 101 + 10 * (tg_ns)j;
        }
    }
}

/* Time of the usual step with calls by the call, times the mean number of calls. Fresh values. */
BY_HAND(steps_that_differ_alike)
{
    static const struct {
        const char *base, *test;
        enum tg_value_form form;
        double least, mean;
    } rows[] = {
        { "11111111", "11111111", TG_FORM_SLOTS, 101, 136 },
        { "10101010", "10101010", TG_FORM_SCHEDULE, 121 / 2.0, 131 / 2.0 },
        { "10101010", "01010101", TG_FORM_SCHEDULE, 131 / 2.0, 141 / 2.0 },
        { "10010010", "10010010", TG_FORM_SCHEDULE, 131 * 3 / 8.0, 131 * 3 / 8.0 },
        { "10001000", "01000100", TG_FORM_SCHEDULE, 111 / 4.0, 131 / 4.0 },
        { "21212121", "21212121", TG_FORM_SCHEDULE, 1.5 * 131, 1.5 * 136 },
        { "31010101", "31010101", TG_FORM_SCHEDULE, 131 * 7 / 8.0, 133 * 7 / 8.0 },
        { "11000000", "00110000", TG_FORM_SCHEDULE, 121 / 4.0, 126 / 4.0 },
        { "12345678", "12345678", TG_FORM_SCHEDULE, 4.5 * 131, 4.5 * 136 },
        { "10101010", "10001000", TG_FORM_CALLS, 101 / 2.0, 121 / 2.0 },
        { "12345678", "21345678", TG_FORM_CALLS, 4.5 * 131, 4.5 * 136 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make(f, 3, 3, strlen(rows[i].base));
        add_digits(f, TG_BASE, rows[i].base);
        add_digits(f, TG_TEST, rows[i].test);
        compare(f);
        struct tg_run_values v = read_values(f, "x", TG_ASK_BEST);
        if (v.form != rows[i].form)
            fail_msg("%s, %s: %d", rows[i].base, rows[i].test, v.form);
        near(v.y[TG_LEAST][TG_TEST][2], rows[i].least);
        near(v.y[TG_MEAN][TG_TEST][2], rows[i].mean);
    }
}

/* Of the steps with calls alone, where most have none by schedule; else of all. */
BY_HAND(the_slowest_step_of_a_schedule)
{
    make(f, 3, 3, 6);
    add_digits(f, TG_BASE, "100100");
    add_digits(f, TG_TEST, "100100");
    compare(f);
    const struct tg_diff_work *w = find(f, "x")->rows->work;
    for (enum tg_value_form form = TG_FORM_SLOTS; form <= TG_FORM_SCHEDULE; form++) {
        struct tg_slow_step s = tg_run_slow_step(w, find(f, "x"), TG_TEST, 0, form);
        near(s.slowest, 131);
        near(s.usual, form == TG_FORM_SCHEDULE ? 101 : 0);
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
