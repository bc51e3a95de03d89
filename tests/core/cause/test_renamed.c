#include "tests/core/cause/box.h"

/* f calls G (two operators) and H (op of B us); G and H are names. */
#define ROWS(G, H, B)                                                                              \
    { "user_annotation", "ProfilerStep#1", 1, 0, 900, 0 },                                         \
        { "python_function", "m.py(3): f", 1, 5, 880, 0 },                                         \
        { "python_function", G, 1, 10, 300, 0 }, { "cpu_op", "op", 1, 20, 100, 0 },                \
        { "cpu_op", "aten::add", 1, 140, 10, 0 }, { "python_function", H, 1, 420, 400, 0 },        \
    {                                                                                              \
        "cpu_op", "op", 1, 430, (B), 0                                                             \
    }
#define G "m.py(7): g"
#define H "m.py(9): h"
static const struct box_row base[] = { ROWS(G, H, 100) };

static const char *where(struct box *b)
{
    struct tg_cause_path p;
    assert_true(tg_cause_explain(&p, &b->p, BOX_OP, TG_CAUSE_BY_TIME, 1, b->a));
    return box_path(b, &p);
}

/* g became "new" and costs what it did; h is slower. Without the join "new" would hold more. */
IN_BOX(a_new_name_alone_is_no_difference)
{
    static const struct box_row test[] = { ROWS("m.py(7): new", H, 160) };
    BOX_COMPARE(b, base, test);
    assert_string_equal(where(b), "f > h > op");
}

IN_BOX(a_renamed_function_that_is_slower_has_its_new_name)
{
    static const struct box_row test[] = { ROWS(G, "m.py(9): new", 160) };
    BOX_COMPARE(b, base, test);
    assert_string_equal(where(b), "f > new > op");
}

/* A name that the baseline knows elsewhere is no rename; nor is one that is called more often. */
IN_BOX(other_calls_are_not_joined)
{
    static const struct box_row test[] = { ROWS(H, H, 100) };
    size_t gone = 0;
    BOX_COMPARE(b, base, test);
    for (uint32_t i = 1; i < b->p.tree[0].keys.n; i++)
        gone += tg_sv_eq(b->p.texts.text[b->p.tree[0].v[i].text], TG_SV("m.py: g")) &&
                b->p.tree[0].v[i].calls[TG_PATHS_BASE] == 1;
    assert_int_equal(gone, 1);
}

/* Modules first, then what they call: class and method have new names. */
IN_BOX(from_the_outside_in)
{
#define MODULE(NAME, METHOD, B)                                                                    \
    { "user_annotation", "ProfilerStep#1", 1, 0, 900, 0 },                                         \
        { "python_function", "m.py(3): f", 1, 5, 880, 0 },                                         \
        { "python_function", NAME, 1, 10, 400, 0 }, { "python_function", METHOD, 1, 15, 390, 0 },  \
    {                                                                                              \
        "cpu_op", "op", 1, 20, (B), 0                                                              \
    }
    static const struct box_row was[] = { MODULE("nn.Module: Block_0", G, 100) };
    static const struct box_row is[] = { MODULE("nn.Module: Layer_0", "m.py(8): new", 130) };
    struct tg_cause_path p;
    BOX_COMPARE(b, was, is);
    assert_true(tg_cause_explain(&p, &b->p, BOX_OP, TG_CAUSE_BY_TIME, 1, b->a));
    assert_string_equal(box_path(b, &p), "f > Layer_0 > new > op");
    assert_float_equal(p.difference, 30000, 0.1);
    assert_float_equal(p.functions[0].calls[TG_PATHS_BASE], 1, 1e-9);
}
