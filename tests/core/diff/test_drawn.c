/*
 * Names whose calls are drawn anew in each step: when are they compared step by step? A side is
 * written as its runs, a digit a step: "2435 2435" are two. The last name is the one that is asked.
 */
#include "core/diff/internal.h"
#include "tests/support.h"

enum { MAX_NAMES = 6, MAX_RUNS = 4, MAX_STEPS = 8 };

struct pair {
    const char *base, *test;
};

/* The change of the last of these names, SAME before. */
static struct tg_op ask(const struct pair *name, struct tg_arena *a)
{
    static struct tg_op op[MAX_NAMES];
    struct tg_drawn d = { 0 };
    size_t at = 0;
    for (; at < MAX_NAMES && name[at].base; at++) {
        const char *const text[2] = { name[at].base, name[at].test };
        double v[2][MAX_RUNS][MAX_STEPS];
        struct tg_step_counts view[2][MAX_RUNS];
        size_t n[2] = { 0 };
        for (int side = 0; side < 2; side++)
            for (tg_sv rest = tg_sv_of(text[side]); rest.n; n[side]++) {
                tg_sv digits = tg_sv_cut(&rest, ' ');
                for (size_t j = 0; j < digits.n; j++)
                    v[side][n[side]][j] = digits.p[j] - '0';
                view[side][n[side]] = (struct tg_step_counts){ v[side][n[side]], digits.n };
            }
        op[at] = (struct tg_op){ .change = TG_SAME };
        tg_drawn_add(&d, &op[at],
                     (const struct tg_step_counts *const[2]){ view[TG_BASE], view[TG_TEST] }, n, a);
    }
    tg_drawn_judge(&d);
    return op[at - 1];
}

#define DRAWN                                                                                      \
    {                                                                                              \
        "1324 1324", "1324 1324"                                                                   \
    }
#define TWICE                                                                                      \
    {                                                                                              \
        "2648 2648", "2648 2648"                                                                   \
    }
#define ANEW                                                                                       \
    {                                                                                              \
        "1324 1324", "4213 4213"                                                                   \
    }
#define SHORT                                                                                      \
    {                                                                                              \
        "132", "132"                                                                               \
    }
#define COLD                                                                                       \
    {                                                                                              \
        "5000 5000", "5000 5000"                                                                   \
    }
#define LAST                                                                                       \
    {                                                                                              \
        "0001 0001", "0001 0001"                                                                   \
    }
#define UPDATE                                                                                     \
    {                                                                                              \
        "0101 0101", "0101 0101"                                                                   \
    }
#define DRAWS DRAWN, TWICE, DRAWN

TEST(steps_of_one_draw_are_compared_one_by_one)
{
    static const struct {
        const char *what;
        enum tg_change change;
        struct pair name[MAX_NAMES];
    } rows[] = {
        { "one more each time", TG_MORE, { DRAWS, { "1324 1324", "2648 2648" } } },
        { "one more a step", TG_MORE, { DRAWS, { "1324 1324", "2435 2435" } } },
        { "both", TG_MORE, { DRAWS, { "1324 1324", "3759 3759" } } },
        { "more where the others are rarer", TG_MORE, { DRAWS, { "1324 1324", "5555 5555" } } },
        { "new", TG_ADDED, { DRAWS, { "0000 0000", "1324 1324" } } },
        { "one less a step", TG_FEWER, { DRAWS, { "2435 2435", "1324 1324" } } },
        { "gone", TG_REMOVED, { DRAWS, { "1324 1324", "0000 0000" } } },
        { "the same", TG_SAME, { DRAWS, DRAWN } },
        { "more in one step alone", TG_SAME, { DRAWS, { "1324 1324", "1325 1325" } } },
        { "more and fewer", TG_SAME, { DRAWS, { "1324 1324", "4231 4231" } } },
        { "another draw", TG_SAME, { DRAWS, { "1324 1324", "3425 3425" } } },
        { "the fresh runs differ", TG_SAME, { DRAWS, { "1324 1324", "2648 2647" } } },
        { "the baseline runs differ", TG_SAME, { DRAWS, { "1324 1323", "2648 2648" } } },
        { "cold first steps", TG_SAME, { COLD, COLD, COLD, { "3222 3222", "4222 4222" } } },
        { "the others are cold", TG_SAME, { COLD, COLD, COLD, { "1324 1324", "2435 2435" } } },
        { "in one step", TG_SAME, { LAST, LAST, LAST, { "1112 1112", "1113 1113" } } },
        { "in two", TG_MORE, { UPDATE, UPDATE, UPDATE, { "1212 1212", "1313 1313" } } },
        { "too few others", TG_SAME, { DRAWN, TWICE, { "1324 1324", "2435 2435" } } },
        { "most others drawn anew", TG_SAME, { DRAWS, ANEW, ANEW, { "1324", "2435" } } },
        { "too few steps", TG_SAME, { SHORT, SHORT, SHORT, { "132", "243" } } },
        { "one run a side", TG_MORE, { DRAWS, { "1324", "2435" } } },
    };
    TG_ARENA *a = tg_arena_new();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tg_op op = ask(rows[i].name, a);
        if (op.change != rows[i].change)
            fail_msg("%s: %d, not %d", rows[i].what, (int)op.change, (int)rows[i].change);
        assert_int_equal(op.counted.proof == TG_COUNT_PROVEN, op.change != TG_SAME);
    }
}

TEST(a_draws_calls_are_its_mean)
{
    static const struct pair name[MAX_NAMES] = { DRAWS, { "1324 1324", "2648 2648" } };
    TG_ARENA *a = tg_arena_new();
    struct tg_op op = ask(name, a);
    assert_float_equal(op.count[TG_BASE], 2.5, 1e-12);
    assert_float_equal(op.count[TG_TEST], 5, 1e-12);
    assert_true(op.settled);
}
