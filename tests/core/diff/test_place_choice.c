/* A library's choice of kernels (place_choice.c). A step lasts 1 ms;
 * aten::conv is called twice in it. */
#include "by_hand.h"

/* Kernels under aten::conv of a run: calls of "a", "b" and "c". */
struct set {
    uint32_t a, b, c;
};

static void add_set(struct fixture *f, int side, size_t run, const char *parent, struct set s)
{
    if (s.a)
        add_row(f, side, run, TG_KIND_KERNEL, "a", parent, s.a, 50001);
    if (s.b)
        add_row(f, side, run, TG_KIND_KERNEL, "b", parent, s.b, 50001);
    if (s.c)
        add_row(f, side, run, TG_KIND_KERNEL, "c", parent, s.c, 3001);
}

/* Three runs a side; `calls` of aten::conv in the fresh ones. */
static void runs_of(struct fixture *f, const struct set base[3], const struct set test[3],
                    uint32_t calls, const char *parent)
{
    make(f, 3, 3, 3);
    for (int side = 0; side < 2; side++) {
        add_all(f, side, TG_KIND_OP, "aten::conv", "", side ? calls : 2, 20001);
        for (size_t run = 0; run < 3; run++)
            add_set(f, side, run, parent, side ? test[run] : base[run]);
    }
    compare(f);
}

#define ALL(...) ((struct set[3]){ __VA_ARGS__, __VA_ARGS__, __VA_ARGS__ })

static bool is_chosen(struct fixture *f, const char *name)
{
    return find(f, name)->choice != NULL;
}

BY_HAND(other_kernels_for_the_same_calls)
{
    struct set base = { .a = 2 }, test = { .b = 2, .c = 2 };
    runs_of(f, ALL(base), ALL(test), 2, "aten::conv");
    assert_int_equal(f->c.n_choices, 1);
    is_text(f->c.ops[f->c.choices[0].by].name, "aten::conv");
    near(f->c.choices[0].calls[TG_BASE], 2);
    near(f->c.choices[0].calls[TG_TEST], 4);
    is_text(f->c.choices[0].went->name, "a");
    assert_false(f->c.choices[0].known);
    assert_true(is_chosen(f, "a") && is_chosen(f, "b") && is_chosen(f, "c"));
    assert_int_equal(tg_op_exception(find(f, "c")), TG_EXCEPTION_REPLACED);
    near(f->c.choices[0].ev.value[TG_BASE], 100002);
    near(f->c.choices[0].ev.value[TG_TEST], 106004); /* 2 * 50001 + 2 * 3001 */
    assert_false(f->c.choices[0].ev.slower);         /* 6 % */
}

/* Nothing went: "c" was added. One of two went: half of the calls run otherwise. */
BY_HAND(what_only_comes_is_no_choice)
{
    struct set base = { .a = 2 }, more = { .a = 2, .c = 2 }, half = { .a = 1, .b = 2 };
    runs_of(f, ALL(base), ALL(more), 2, "aten::conv");
    assert_int_equal(f->c.n_choices, 0);
    assert_false(is_chosen(f, "c"));
    runs_of(f, ALL(base), ALL(half), 2, "aten::conv");
    assert_true(is_chosen(f, "b"));
}

/* The program chose: more calls, or another place. */
BY_HAND(other_calls_are_the_programs)
{
    struct set base = { .a = 2 }, test = { .b = 3 };
    runs_of(f, ALL(base), ALL(test), 3, "aten::conv");
    assert_int_equal(f->c.n_choices, 0);
    runs_of(f, ALL(base), ALL(test), 2, "");
    assert_int_equal(f->c.n_choices, 0);
}

/* One run of the baseline launched the same. */
BY_HAND(a_choice_of_the_baseline_is_known)
{
    struct set a = { .a = 2 }, b = { .b = 2, .c = 2 };
    runs_of(f, (struct set[3]){ a, b, a }, ALL(b), 2, "aten::conv");
    assert_int_equal(f->c.n_choices, 1);
    assert_true(f->c.choices[0].known);
}

/* "b" under an operator that made no choice counts there. */
BY_HAND(the_same_kernel_elsewhere_counts)
{
    for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
        make(f, 1, 1, 3);
        for (int side = 0; side < 2; side++) {
            add_all(f, side, TG_KIND_OP, "aten::conv", "", 2, 20001);
            add_all(f, side, TG_KIND_OP, "aten::mm", "", 1, 20001);
            add_set(f, side, 0, "aten::conv",
                    side ? (struct set){ .b = 3 } : (struct set){ .a = 2 });
            add_set(f, side, 0, "aten::mm", (struct set){ .b = 1 + (uint32_t)(side * elsewhere) });
        }
        compare(f);
        assert_int_equal(is_chosen(f, "b"), !elsewhere);
    }
}

/* 100 -> 160 us. */
BY_HAND(a_slower_choice_is_slower)
{
    struct set base = { .a = 2 }, test = { .b = 2, .c = 20 };
    runs_of(f, ALL(base), ALL(test), 2, "aten::conv");
    assert_int_equal(f->c.n_choices, 1);
    near(f->c.choices[0].ev.value[TG_TEST], 160022);
    assert_true(f->c.choices[0].ev.slower);
}

/* As many calls under another name, in all runs: a rename or a replacement,
 * as without an operator. */
BY_HAND(an_exchange_one_for_one_is_no_choice)
{
    struct set base = { .a = 2 }, test = { .b = 2 };
    runs_of(f, ALL(base), ALL(test), 2, "aten::conv");
    assert_int_equal(f->c.n_choices, 0);
    assert_int_equal(find(f, "b")->relation, TG_REL_RENAMED);
    runs_of(f, ALL(base), (struct set[3]){ test, test, base }, 2, "aten::conv");
    assert_int_equal(f->c.n_choices, 1); /* a run differs from the others */
}
