#include "tests/core/cause/box.h"

/* f calls g (op of A us) and h (op of B us; C calls of 5 us more) in one step. */
#define ROWS(A, B)                                                                                 \
    { "user_annotation", "ProfilerStep#1", 1, 0, 900, 0 },                                         \
        { "python_function", "m.py(3): f", 1, 5, 880, 0 },                                         \
        { "python_function", "m.py(7): g", 1, 10, 400, 0 }, { "cpu_op", "op", 1, 20, (A), 0 },     \
        { "python_function", "m.py(9): h", 1, 420, 400, 0 },                                       \
    {                                                                                              \
        "cpu_op", "op", 1, 430, (B), 0                                                             \
    }
static const struct box_row base[] = { ROWS(100, 100) };

static bool explain(struct box *b, struct tg_cause_path *out, enum tg_cause_by by)
{
    return tg_cause_explain(out, &b->p, BOX_OP, by, 1, b->a);
}

IN_BOX(descends_to_the_child_that_holds_it)
{
    static const struct box_row test[] = { ROWS(110, 180) };
    struct tg_cause_path p;
    BOX_COMPARE(b, base, test);
    assert_true(explain(b, &p, TG_CAUSE_BY_TIME));
    assert_string_equal(box_path(b, &p), "f > h > op");
    assert_float_equal(p.difference, 90000, 0.1);
    assert_float_equal(p.share, 80.0f / 90, 1e-6);
    assert_int_equal(p.n_functions, 3);
    assert_sv_equal(p.functions[2].text, TG_SV("f")); /* deepest first */
    assert_float_equal(p.functions[2].calls[TG_PATHS_TEST], 1, 1e-6);
    assert_false(p.is_new);
}

/* 50 and 40 of 90: neither child holds 60 %, so the path ends in f and says which is larger. */
IN_BOX(stops_where_no_child_holds_enough)
{
    static const struct box_row test[] = { ROWS(140, 150) };
    struct tg_cause_path p;
    BOX_COMPARE(b, base, test);
    assert_true(explain(b, &p, TG_CAUSE_BY_TIME));
    assert_string_equal(box_path(b, &p), "f");
    assert_sv_equal(p.next.text, TG_SV("h"));
    assert_float_equal(p.next.share, 50.0f / 90, 1e-6);
}

/* By calls g is the one, by time h. */
IN_BOX(counts_descend_by_calls)
{
    static const struct box_row test[] = { ROWS(100, 190), { "cpu_op", "op", 1, 200, 5, 0 } };
    struct tg_cause_path p;
    BOX_COMPARE(b, base, test);
    assert_true(explain(b, &p, TG_CAUSE_BY_CALLS));
    assert_string_equal(box_path(b, &p), "f > g > op");
    assert_float_equal(p.difference, 1, 1e-6);
    assert_true(tg_cause_explain(&p, &b->p, BOX_OP, TG_CAUSE_BY_TIME, 1, b->a));
    assert_string_equal(box_path(b, &p), "f > h > op");
}

IN_BOX(no_difference_in_that_direction)
{
    static const struct box_row test[] = { ROWS(90, 90) };
    struct tg_cause_path p;
    BOX_COMPARE(b, base, test);
    assert_false(explain(b, &p, TG_CAUSE_BY_TIME));
    assert_true(tg_cause_explain(&p, &b->p, BOX_OP, TG_CAUSE_BY_TIME, -1, b->a));
    assert_float_equal(p.difference, -20000, 0.1);
    assert_false(
        tg_cause_explain(&p, &b->p, BOX_OP + 5, TG_CAUSE_BY_TIME, 1, b->a)); /* never followed */
}
