/* Oracles: of runs that are apart p = 1 / C(nb + nt, nt); each case is on one side of one limit. */
#include "core/diff/confirm.h"
#include "tests/support.h"

enum { MOST = 12 };
struct runs {
    double x[2][MOST];
};

/* Runs that vary by up to `wide`, without a pattern; the fresh ones are slower by `e`. */
static struct tg_evidence of(struct runs *r, size_t nb, size_t nt, double e, double wide)
{
    uint32_t state = 3;
    for (size_t i = 0; i < 2 * MOST; i++) {
        state = state * 1664525u + 1013904223u;
        r->x[i % 2][i / 2] = wide * (double)(state >> 8) / (1 << 24) + (i % 2 ? e : 0);
    }
    return (struct tg_evidence){ .value = { 1000, 1100 },
                                 .x = { r->x[TG_BASE], r->x[TG_TEST] },
                                 .n_x = { nb, nt } };
}

TEST(the_plan_is_fixed_by_the_runs_there_are)
{
    static const struct {
        size_t first, new, most, next;
        bool early;
    } want[] = {
        { 1, 0, 17, 5, true },    { 3, 0, 17, 5, true },    { 5, 0, 17, 9, false },
        { 5, 4, 17, 13, false },  { 5, 8, 17, 17, false },  { 5, 12, 17, 0, false },
        { 5, 12, 40, 29, false }, { 5, 12, 20, 20, false }, { 5, 4, 11, 11, false },
        { 5, 0, 11, 9, false },   { 5, 0, 10, 0, false }, /* 5v5 confirm nothing */
        { 5, 6, 11, 0, false },   { 1, 0, 3, 3, true },     { 3, 0, 3, 0, false },
        { 1, 0, 1, 0, false },    { 5, 9, 5, 0, false },    { 2, 4, 17, 10, false },
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct tg_asking a = tg_asking_of(want[i].first, want[i].new, want[i].most, .2);
        if (a.next != want[i].next || a.early != want[i].early)
            fail_msg("%zu + %zu of %zu: next %zu early %d", want[i].first, want[i].new,
                     want[i].most, a.next, a.early);
        assert_true(a.detect == .2 && !a.again && a.first == want[i].first && a.new == want[i].new);
    }
}

TEST(a_suspect_is_large_judged_slower_and_apart)
{
    double step[2] = { 400000, 0 };
    struct runs r;
    struct tg_evidence then, ev = of(&r, 5, 5, .1, .001);
    assert_true(tg_confirm_suspects(&ev, step, .2, &then)); /* 1000 is .25 % of it */
    assert_true(then.asked == TG_ASKED_RED && then.proven && fabs(then.e - .1) < .01);
    assert_true(fabs(then.delta_ns - 1000 * expm1(then.e)) < 1e-9);
    assert_false(tg_confirm_suspects(&ev, NULL, .2, &then));
    step[TG_BASE] = 401000;
    assert_false(tg_confirm_suspects(&ev, step, .2, &then));
    ev.proven = true; /* what one look proves is one at any size */
    assert_true(tg_confirm_suspects(&ev, step, .2, &then));
    assert_true(tg_confirm_suspects(&ev, NULL, .2, &then));
    step[TG_BASE] = 1000;
    ev = of(&r, 5, 5, .03, .001); /* 3 % matters to nobody */
    assert_false(tg_confirm_suspects(&ev, step, .2, &then));
    ev = of(&r, 5, 5, .1, .001);
    ev.why_not = TG_NOT_BUSY;
    assert_false(tg_confirm_suspects(&ev, step, .2, &then));
    ev.withheld = true;
    assert_true(tg_confirm_suspects(&ev, step, .2, &then));
    ev = of(&r, 5, 5, .1, .001); /* by the same low bar: a settled device will tell */
    ev.why_not = TG_NOT_WARM;
    assert_true(tg_confirm_suspects(&ev, step, .2, &then));
    ev = of(&r, 5, 5, .1, 2); /* lost in what varies by a factor of seven */
    assert_false(tg_confirm_suspects(&ev, step, .2, &then));
}

TEST(new_runs_confirm_clear_or_ask_on)
{
    static const struct {
        size_t nb, nt;
        double e, apart;
        enum tg_asked then, last;
    } want[] = {
        { 8, 8, .1, .001, TG_ASKED_RED, TG_ASKED_RED },       /* none of 10,000 drawn */
        { 8, 8, .03, .001, TG_ASKED_OPEN, TG_ASKED_CLEARED }, /* too small to be red */
        { 6, 6, .1, .001, TG_ASKED_OPEN,
          TG_ASKED_RED }, /* 1 / 924 = .0011: the last look allows it */
        { 5, 6, .1, .001, TG_ASKED_OPEN, TG_ASKED_CLEARED }, /* 1 / 462 = .0022 */
        { 4, 7, .1, .001, TG_ASKED_OPEN, TG_ASKED_CLEARED }, /* 1 / 330; and it is not 20 % */
        { 4, 7, .2, .001, TG_ASKED_OPEN, TG_ASKED_UNTOLD },
        { 8, 8, 0, .001, TG_ASKED_CLEARED, TG_ASKED_CLEARED },
        { 8, 8, 0, 2, TG_ASKED_CLEARED, TG_ASKED_UNTOLD }, /* 20 % could hide in that */
    };
    struct runs f, r;
    const struct tg_evidence first = of(&f, 5, 5, .1, .1);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct tg_evidence ev = of(&r, want[i].nb, want[i].nt, want[i].e, want[i].apart);
        struct tg_shift found;
        enum tg_asked then = tg_confirm(&first, &ev, .2, false, &found),
                      last = tg_confirm(&first, &ev, .2, true, &found);
        if (then != want[i].then || last != want[i].last)
            fail_msg("%zu: %d and at last %d, p %g", i, then, last, found.p);
        /* These say nothing, whatever their numbers. */
        ev.why_not = i % 2 ? TG_NOT_ONE_SIDED : TG_NOT_WARM;
        assert_int_equal(tg_confirm(&first, &ev, .2, false, &found), TG_ASKED_OPEN);
        assert_int_equal(tg_confirm(&first, &ev, .2, true, &found), TG_ASKED_UNTOLD);
    }
}

/* A machine that disturbed the fresh runs proves no slowdown, and hides none. */
TEST(busy_new_runs_clear_and_confirm_nothing)
{
    struct runs f, r;
    struct tg_shift found;
    struct tg_evidence first = of(&f, 5, 5, .1, .01), again = of(&r, 8, 8, .1, .001);
    again.why_not = TG_NOT_BUSY;
    assert_int_equal(tg_confirm(&first, &again, .2, false, &found), TG_ASKED_OPEN);
    assert_int_equal(tg_confirm(&first, &again, .05, true, &found), TG_ASKED_UNTOLD);
    again = of(&r, 8, 8, 0, .001);
    again.why_not = TG_NOT_BUSY;
    assert_int_equal(tg_confirm(&first, &again, .2, false, &found), TG_ASKED_CLEARED);
    assert_int_equal(tg_confirm(&first, &again, .2, true, &found), TG_ASKED_CLEARED);
    struct tg_asking asking = { .detect = .2, .first = 5, .new = 8 };
    tg_confirm_set(&first, &again, &asking);
    assert_true(first.asked == TG_ASKED_CLEARED && first.why_not == TG_JUDGED);
}

/* All four new runs above all four of the baseline: p = 1 / C(8, 4) = 1 / 70 = .0143. */
TEST(what_one_look_proves_few_new_runs_confirm)
{
    struct runs f, r;
    struct tg_shift found;
    struct tg_evidence first = of(&f, 5, 5, .1, .01), again = of(&r, 4, 4, .1, .001);
    assert_int_equal(tg_confirm(&first, &again, .2, false, &found), TG_ASKED_OPEN);
    first.slower = true;
    assert_int_equal(tg_confirm(&first, &again, .2, false, &found), TG_ASKED_RED);
    assert_true(fabs(found.p - 1. / 70) < 1e-12);
    again.n_x[TG_TEST] = 3; /* 1 / 35 */
    assert_int_equal(tg_confirm(&first, &again, .2, false, &found), TG_ASKED_OPEN);
}

/* The error falls by the root of the runs: twice the one that excludes takes four times as many. */
TEST(the_evidence_becomes_that_of_the_new_runs)
{
    struct tg_asking asking = { .detect = .2, .first = 5, .new = 12 };
    struct runs f, r;
    struct tg_evidence again = of(&r, 12, 12, 0, 2), first = of(&f, 5, 5, .5, .01), ev = first;
    again.e = .09;
    again.se = .1822;
    ev.proven = ev.slower = ev.suspicious = true;
    ev.pooled = 3;
    tg_confirm_set(&ev, &again, &asking);
    assert_int_equal(ev.asked, TG_ASKED_UNTOLD);
    assert_int_equal((int)ev.tell_runs, 48); /* 12 (.3644 / .182322)^2 = 47.9 */
    assert_true(ev.e == .09 && ev.pooled == 3);
    assert_false(ev.proven || ev.slower || ev.suspicious);
    again = of(&r, 12, 12, .2, .001);
    again.e = .09; /* what medians say */
    again.z = 3;
    again.se = .02;
    again.mde = .12; /* of one look */
    tg_confirm_set(&ev, &again, &asking);
    assert_int_equal(ev.asked, TG_ASKED_RED);
    assert_true(ev.proven && ev.slower && ev.tau == .04);
    assert_true(fabs(ev.mde - expm1(.06)) < 1e-12);
    assert_true(fabs(ev.e - .2) < .01 && ev.p == 1. / 5001 && ev.p_limit == .0015);
    assert_true(fabs(ev.delta_ns - 1000 * expm1(ev.e)) < 1e-9);
    asking.disturbed = true;
    ev = first;
    tg_confirm_set(&ev, &again, &asking);
    assert_int_equal(ev.asked, TG_ASKED_UNTOLD);
    asking.next = 17;
    ev = first;
    tg_confirm_set(&ev, &again, &asking);
    assert_int_equal(ev.asked, TG_ASKED_OPEN);
    assert_false(ev.proven || ev.slower);
    ev = first;
    tg_confirm_set(&ev, NULL, &asking); /* the new runs lack it */
    assert_int_equal(ev.asked, TG_ASKED_OPEN);
    assert_true(ev.n_x[TG_BASE] == 5 && !ev.proven);
    assert_string_equal(tg_confirm_text(&ev), "it looks slower, and new runs are asked");
    ev.asked = TG_ASKED_RED;
    assert_null(tg_confirm_text(&ev));
}

TEST(the_same_name_of_the_same_kind)
{
    struct tg_op v[] = { { .name = TG_SV("a"), .kind = TG_KIND_OP },
                         { .name = TG_SV("a"), .kind = TG_KIND_KERNEL } },
                 other = { .name = TG_SV("b"), .kind = TG_KIND_OP };
    struct tg_comparison again = { .ops = v, .n_ops = 2 };
    assert_ptr_equal(tg_confirm_op(&again, &v[1]), &v[1]);
    assert_null(tg_confirm_op(&again, &other));
}

/* What grew in the first runs alone has not grown;
 * what the first runs do not show is not looked for. */
TEST(the_whole_is_what_the_new_runs_say)
{
    struct tg_comparison again = { .busy = true };
    struct tg_asking asking = { .again = &again };
    struct tg_comparison c = { .asking = &asking };
    c.account[TG_ACCOUNT_WALL].growth = TG_GROWTH_PROVEN;
    c.account[TG_ACCOUNT_CALLS].growth = TG_GROWTH_PROVEN;
    again.account[TG_ACCOUNT_BUSY].growth = TG_GROWTH_PROVEN;
    assert_ptr_equal(tg_confirm_last(&c), &again);
    tg_confirm_whole(&c);
    assert_int_equal(c.account[TG_ACCOUNT_WALL].growth, TG_GROWTH_NONE);
    assert_int_equal(c.account[TG_ACCOUNT_BUSY].growth, TG_GROWTH_NONE);
    assert_int_equal(c.account[TG_ACCOUNT_CALLS].growth, TG_GROWTH_PROVEN); /* calls are final */
    assert_true(c.busy);
    asking.again = NULL;
    assert_ptr_equal(tg_confirm_last(&c), &c);
    c.account[TG_ACCOUNT_WALL].growth = TG_GROWTH_PROVEN;
    tg_confirm_whole(&c);
    assert_int_equal(c.account[TG_ACCOUNT_WALL].growth, TG_GROWTH_PROVEN);
}
