/*
 * Names whose times vary together (companions.c). Every second run or so is in another state, in which five names take
 * half as long again, or less: the sides have two and four of these of five. Numbers by hand.
 */
#include "by_hand.h"
#include "core/diff/internal.h"

enum { RUNS = 5 };
static const bool states[2][RUNS] = { { 0, 1, 0, 1, 0 }, { 1, 1, 0, 1, 1 } };

/* A name that takes `low` ns, in the other state `high`; in the fresh runs `factor` times as long. */
static void add_name(struct fixture *f, const char *name, tg_ns low, tg_ns high, double factor)
{
    tg_ns ns[2][RUNS];
    for (int side = 0; side < 2; side++)
        for (int run = 0; run < RUNS; run++)
            ns[side][run] = (tg_ns)((double)(states[side][run] ? high : low) * (side ? factor : 1));
    add_times(f, name, ns[TG_BASE], ns[TG_TEST]);
}

/* Six names that never vary: the machine itself stays as fast as it is. */
static void add_steady(struct fixture *f)
{
    static const char *const name[] = { "u", "v", "w", "x", "y", "z" };
    make(f, RUNS, RUNS, 3);
    for (int i = 0; i < 6; i++)
        add_name(f, name[i], 100001, 100001, 1);
}

static const struct tg_evidence *judged(struct fixture *f)
{
    compare(f);
    return &find(f, "a")->ev;
}

/*
 * As measured the medians are 100 and 165 us, and one fresh run, of 110, is below two of 150. Beside the companions it
 * is 10 % in each run: 1 of C(10, 5) = 252.
 */
BY_HAND(what_companions_show_of_a_run_is_taken_off)
{
    const struct tg_evidence *ev;
    add_steady(f);
    add_name(f, "a", 100001, 150002, 1.1);
    add_name(f, "b", 200001, 300002, 1);
    add_name(f, "c", 100001, 150001, 1);
    add_name(f, "d", 150001, 100001, 1); /* goes against it */
    ev = judged(f);
    assert_true(ev->beside);
    assert_true(fabs(ev->e - log(1.65)) < 1e-4 && ev->p > 2. / 252);
    assert_true(fabs(ev->e_beside - log(1.1)) < 1e-4);
    near(ev->p_beside, 1. / 252);
    assert_false(find(f, "u")->ev.beside);
}

/* Of three companions one got slower by itself: their median is what it was. */
BY_HAND(a_companion_that_changed_moves_nothing)
{
    const struct tg_evidence *ev;
    add_steady(f);
    add_name(f, "a", 100001, 150002, 1);
    add_name(f, "b", 200001, 300002, 1.3);
    add_name(f, "c", 100001, 150001, 1);
    add_name(f, "d", 150001, 100001, 1);
    ev = judged(f);
    assert_true(ev->beside && fabs(ev->e_beside) < 1e-4);
}

BY_HAND(two_are_too_few)
{
    add_steady(f);
    add_name(f, "a", 100001, 150002, 1.1);
    add_name(f, "b", 200001, 300002, 1);
    add_name(f, "c", 100001, 150001, 1);
    assert_false(judged(f)->beside);
}
