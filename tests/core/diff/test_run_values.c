/*
 * The value of a run (run_values.c): which form it takes, and each statistic of the steps; counts and
 * sums of an operator (sums.c, change.c), kernels of one stem (siblings.c), what an operator is
 * (identify.c), the ranks and steps that are compared (select.c), traces without steps (unmarked.c).
 */
#include "by_hand.h"
#include "core/diff/internal.h"

static struct tg_run_values read_values(struct fixture *f, const char *name, enum tg_value_ask ask)
{
    const struct tg_op *op = find(f, name);

    return tg_run_values(op->rows->work, op, ask, tg_value_room_new(op->rows->work));
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
static void each_reading_of_slots(void **state)
{
    struct fixture *f = *state;

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
    near(v.y[TG_USUAL][TG_TEST][2], 30 + 300);
    near(v.y[TG_REST][TG_TEST][2], 20 + 200); /* without the fastest fifth */
    near(v.y[TG_SLOW][TG_TEST][2], 40 + 400);
    near(v.y[TG_MEAN][TG_TEST][2], 30 + 300);
}

/* By step: sums are 150, 510, 230, 420, 340; inclusive ones 1000 more. */
static void each_reading_of_steps(void **state)
{
    struct fixture *f = *state;

    make(f, 3, 3, 5);
    add_calls(f, TG_BASE, calls);
    add_calls(f, TG_TEST, calls);
    compare(f);
    struct tg_run_values v = read_values(f, "x", TG_ASK_STEPS);
    assert_int_equal(v.form, TG_FORM_STEPS);
    near(v.y[TG_LEAST][TG_BASE][0], 150);
    near(v.y[TG_USUAL][TG_BASE][0], 340);
    near(v.y[TG_MEAN][TG_BASE][0], 330);
    v = read_values(f, "x", TG_ASK_INCLUSIVE);
    assert_int_equal(v.form, TG_FORM_USUAL_STEPS);
    near(v.y[TG_LEAST][TG_BASE][0], 1150);
}

/* A step of five with other calls is left out; with three of five the slots do not align. */
static void steps_with_other_calls(void **state)
{
    static const uint32_t once[] = { 2, 2, 3, 2, 2 }, often[] = { 2, 4, 3, 1, 5 };

    for (int n = 0; n < 2; n++) {
        struct fixture *f = *state;
        f->c = (struct tg_comparison){ 0 };
        make(f, 3, 3, 5);
        for (int side = 0; side < 2; side++)
            for (size_t r = 0; r < 3; r++)
                add_counts(f, side, r, TG_KIND_OP, "x", "", n ? often : once, 101);
        compare(f);
        struct tg_run_values v = read_values(f, "x", TG_ASK_BEST);
        assert_int_equal(v.form, n ? TG_FORM_CALLS : TG_FORM_SLOTS);
        near(v.y[TG_LEAST][TG_BASE][0], n ? 3 * 101 : 2 * 101); /* at the mean of 3 calls */
    }
}

static void an_operator_that_a_run_lacks_is_not_complete(void **state)
{
    struct fixture *f = *state;

    make(f, 3, 3, 2);
    add_all(f, TG_BASE, TG_KIND_OP, "x", "", 1, 101);
    add_row(f, TG_TEST, 0, TG_KIND_OP, "x", "", 1, 101);
    add_row(f, TG_TEST, 1, TG_KIND_OP, "x", "", 1, 101);
    compare(f);
    assert_false(read_values(f, "x", TG_ASK_BEST).complete);
}

static void the_slowest_step(void **state)
{
    struct fixture *f = *state;

    make(f, 3, 3, 5);
    add_calls(f, TG_BASE, calls);
    add_calls(f, TG_TEST, calls);
    compare(f);
    const struct tg_op *op = find(f, "x");
    const struct tg_diff_work *w = op->rows->work;
    struct tg_slow_step s = tg_run_slow_step(w, op, TG_BASE, 0, tg_value_room_new(w));
    near(s.slowest, 510);
    near(s.usual, 340);
}

/* ---- operators ------------------------------------------------------------------------------- */

/* Kernels of one stem are told apart where both sides launch as many, as often, in one order. */
static void kernels_of_one_stem(void **state)
{
    static const char *const base[] = { "triton_poi_fused_3", "triton_poi_fused_5" };
    static const char *const test[] = { "triton_poi_fused_4", "triton_poi_fused_9" };

    for (int apart = 0; apart < 2; apart++) {
        struct fixture *f = *state;
        f->c = (struct tg_comparison){ 0 };
        make(f, 3, 3, 2);
        for (int k = 0; k < 2; k++)
            for (size_t r = 0; r < 3; r++) {
                uint32_t n = 1 + (uint32_t)k, other = 1 + (uint32_t)(apart ? k : 1 - k);
                struct tg_row *row = add_row(f, TG_BASE, r, TG_KIND_KERNEL, base[k], "", n, 1001);
                row->order = (uint32_t)k;
                row = add_row(f, TG_TEST, r, TG_KIND_KERNEL, test[k], "", other, 1001);
                row->order = (uint32_t)k;
            }
        compare(f);
        if (apart) {
            near(find(f, "triton_poi_fused#1")->count[TG_TEST], 1);
            near(find(f, "triton_poi_fused#2")->count[TG_TEST], 2);
        } else {
            near(find(f, "triton_poi_fused")->count[TG_TEST], 3);
            assert_true(find(f, "triton_poi_fused")->grouped);
        }
    }
}

static void what_an_operator_is(void **state)
{
    struct fixture *f = *state;

    make(f, 1, 1, 2);
    for (int side = 0; side < 2; side++) {
        add_all(f, side, TG_KIND_RUNTIME, "cudaEventQuery", "", 5, 11);
        add_all(f, side, TG_KIND_OP, "cudaEventQuery", "", 5, 11); /* the program's own */
        add_all(f, side, TG_KIND_OP, "c10d::Waiting", "", 1, 11);
        add_all(f, side, TG_KIND_MEMCPY, "Memcpy HtoD", "", 1, 11);
        add_all(f, side, TG_KIND_OP, "child", "small", 1, 11);
        add_all(f, side, TG_KIND_OP, "child", "large", 1, 99);
    }
    compare(f);
    for (size_t i = 0; i < f->c.n_ops; i++) {
        const struct tg_op *op = &f->c.ops[i];
        assert_int_equal(op->polling, op->kind == TG_KIND_RUNTIME);
        assert_int_equal(op->wait,
                         op->kind == TG_KIND_MEMCPY || tg_sv_eq(op->name, TG_SV("c10d::Waiting")));
    }
    assert_true(tg_sv_eq(find(f, "child")->parent, TG_SV("large")));
}

/* Sums over two runs of two steps: 3 calls of 100 ns each. */
static void counts_and_sums(void **state)
{
    struct fixture *f = *state;

    make(f, 2, 1, 2);
    add_all(f, TG_BASE, TG_KIND_OP, "x", "", 3, 101);
    add_all(f, TG_TEST, TG_KIND_OP, "x", "", 4, 101);
    compare(f);
    const struct tg_op *op = find(f, "x");
    near(op->count[TG_BASE], 3);
    near(op->total[TG_BASE], 303);
    assert_int_equal(op->step_count[TG_BASE], 12);
    assert_int_equal(op->step_total[TG_BASE], 1212);
    assert_int_equal(op->change, TG_MORE);
    assert_true(op->settled && op->agreed);
    near(op->share[TG_BASE], 303 / 1e6);
}

/* ---- which steps ----------------------------------------------------------------------------- */

static void steps_that_are_chosen(void **state)
{
    struct fixture *f = *state;
    static const int64_t two[] = { 4, 5 }, none[] = { 9 };
    static const uint32_t each[] = { 1, 2, 3, 4 }; /* of steps 3, 4, 5, 6 */

    make(f, 1, 1, 4);
    for (int side = 0; side < 2; side++)
        add_counts(f, side, 0, TG_KIND_OP, "x", "", each, 101);
    f->o.skip_first = f->o.skip_last = 1;
    compare(f);
    assert_int_equal(find(f, "x")->step_count[TG_BASE], 2 + 3);
    f->o = (struct tg_compare_opts){ .steps = { two, two }, .n_step_numbers = { 2, 2 } };
    compare(f);
    assert_int_equal(find(f, "x")->step_count[TG_TEST], 2 + 3);
    f->o = (struct tg_compare_opts){ .steps = { none, none }, .n_step_numbers = { 1, 1 } };
    assert_false(tg_compare(&f->c, &f->side[0], &f->side[1], &f->o, f->a, &f->err));
    assert_string_equal(f->err.message, "no step 9 on the baseline side");
    assert_string_equal(f->err.hint, "That side has the steps 3, 4, 5, 6.");
}

/* Twelve iterations against ten without markers: what scales along is the same. */
static void counts_of_more_iterations(void **state)
{
    struct fixture *f = *state;

    make(f, 1, 1, 1);
    for (int side = 0; side < 2; side++)
        shard(f, side, 0)->marked = false;
    static const char *const name[] = { "a", "b", "c" };
    for (int i = 0; i < 3; i++) {
        add_all(f, TG_BASE, TG_KIND_OP, name[i], "", 10, 101);
        add_all(f, TG_TEST, TG_KIND_OP, name[i], "", 12, 101);
    }
    add_all(f, TG_BASE, TG_KIND_OP, "more", "", 10, 101);
    add_all(f, TG_TEST, TG_KIND_OP, "more", "", 24, 101);
    compare(f);
    near(f->c.iteration_ratio, 1.2);
    assert_int_equal(find(f, "a")->change, TG_SAME);
    assert_int_equal(find(f, "more")->change, TG_MORE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, by_hand_set_up, by_hand_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(each_reading_of_slots),  TEST(each_reading_of_steps),
        TEST(steps_with_other_calls), TEST(an_operator_that_a_run_lacks_is_not_complete),
        TEST(the_slowest_step),       TEST(kernels_of_one_stem),
        TEST(what_an_operator_is),    TEST(counts_and_sums),
        TEST(steps_that_are_chosen),  TEST(counts_of_more_iterations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
