/* Oracles: ln 1.04 = .039221, ln 1.2 = .182322; each case is on one side of one limit. */
#include "core/diff/confirm.h"
#include "tests/support.h"

static struct tg_evidence of(double e, double se, double p)
{
    return (struct tg_evidence){ .value = { 1000, 1100 }, .e = e, .se = se, .p = p };
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

TEST(a_suspect_is_large_judged_slower_and_separated)
{
    double step[2] = { 400000, 0 };
    struct tg_evidence ev = of(.040, .01, .12);
    assert_true(tg_confirm_suspects(&ev, step)); /* 1000 is .25 % of it */
    assert_false(tg_confirm_suspects(&ev, NULL));
    step[TG_BASE] = 401000;
    assert_false(tg_confirm_suspects(&ev, step));
    ev.proven = true; /* what one look proves is one at any size */
    assert_true(tg_confirm_suspects(&ev, step));
    assert_true(tg_confirm_suspects(&ev, NULL));
    step[TG_BASE] = 1000;
    ev = of(.039, .01, .1);
    assert_false(tg_confirm_suspects(&ev, step));
    ev = of(.040, .01, .13);
    assert_false(tg_confirm_suspects(&ev, step));
    ev = of(.040, .01, .1);
    ev.judged = TG_NOT_BUSY;
    assert_false(tg_confirm_suspects(&ev, step));
    ev.withheld = true;
    assert_true(tg_confirm_suspects(&ev, step));
}

TEST(new_runs_confirm_clear_or_ask_on)
{
    const struct {
        double e, se, p;
        enum tg_asked then, last;
    } want[] = {
        { .040, .01, .0011, TG_ASKED_RED, TG_ASKED_RED },
        { .039, .01, .0011, TG_ASKED_OPEN, TG_ASKED_CLEARED }, /* too small to be red */
        { .040, .01, .0012, TG_ASKED_OPEN, TG_ASKED_RED },     /* the last look allows a larger p */
        { .040, .01, .0022, TG_ASKED_OPEN, TG_ASKED_RED },
        { .040, .01, .0023, TG_ASKED_OPEN, TG_ASKED_CLEARED },
        { 0, .0911, .25, TG_ASKED_OPEN, TG_ASKED_CLEARED },    /* .1822 < ln 1.2 */
        { 0, .0912, .25, TG_ASKED_OPEN, TG_ASKED_UNTOLD },     /* .1824: 20 % is not excluded, */
        { 0, .0912, .26, TG_ASKED_CLEARED, TG_ASKED_CLEARED }, /* but it does not look slower */
    };
    const struct tg_evidence first = of(.1, .03, .1);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        struct tg_evidence ev = of(want[i].e, want[i].se, want[i].p);
        assert_int_equal(tg_confirm(&first, &ev, .2, false), want[i].then);
        assert_int_equal(tg_confirm(&first, &ev, .2, true), want[i].last);
        ev.judged = TG_NOT_ONE_SIDED; /* says nothing, whatever its numbers */
        assert_int_equal(tg_confirm(&first, &ev, .2, false), TG_ASKED_OPEN);
        assert_int_equal(tg_confirm(&first, &ev, .2, true), TG_ASKED_UNTOLD);
    }
}

/* All four new runs above all four of the baseline: p = 1 / C(8, 4) = 1 / 70 = .0143. */
TEST(what_one_look_proves_few_new_runs_confirm)
{
    struct tg_evidence first = of(.1, .01, .004), again = of(.1, .03, 1. / 70);
    assert_int_equal(tg_confirm(&first, &again, .2, false), TG_ASKED_OPEN);
    first.slower = true;
    assert_int_equal(tg_confirm(&first, &again, .2, false), TG_ASKED_RED);
    again.p = 2. / 70;
    assert_int_equal(tg_confirm(&first, &again, .2, false), TG_ASKED_OPEN);
}

/* Companions explain what varies: a small p of what is left counts, if the time as measured is longer, too. */
TEST(beside_its_companions_a_name_is_asked_and_confirmed)
{
    double step[2] = { 1000, 0 };
    struct tg_evidence first = of(.1, .1, .2), again = of(.1, .1, .1);
    first.e_beside = again.e_beside = .1;
    first.p_beside = 2. / 252;
    again.p_beside = .00055;
    assert_false(tg_confirm_suspects(&first, step)); /* it has none */
    assert_int_equal(tg_confirm(&first, &again, .2, true), TG_ASKED_UNTOLD);
    first.beside = again.beside = true;
    assert_true(tg_confirm_suspects(&first, step));
    assert_int_equal(tg_confirm(&first, &again, .2, true), TG_ASKED_RED);
    again.e = .039; /* not measured */
    assert_int_equal(tg_confirm(&first, &again, .2, true), TG_ASKED_UNTOLD);
    again.e = .1;
    again.e_beside = .039;
    assert_int_equal(tg_confirm(&first, &again, .2, true), TG_ASKED_UNTOLD);
    again.e_beside = .1;
    again.p_beside = .0006;
    assert_int_equal(tg_confirm(&first, &again, .2, true), TG_ASKED_UNTOLD);
    first.p_beside = .0159;
    assert_false(tg_confirm_suspects(&first, step));
}

/* The row has the number that made it: of companions where they alone confirm, as measured where that suffices. */
TEST(the_p_that_confirmed_is_the_row_s)
{
    struct tg_asking asking = { .detect = .2, .first = 5, .new = 12 };
    struct tg_evidence again = of(.1, .1, .1), ev = of(.1, .1, .1);
    again.beside = true;
    again.e_beside = .1;
    again.p_beside = .0005;
    tg_confirm_set(&ev, &again, &asking);
    assert_int_equal(ev.asked, TG_ASKED_RED);
    assert_true(ev.beside && ev.p == .0005 && ev.p_limit == .0022 / 4);
    again.p = .0021;
    tg_confirm_set(&ev, &again, &asking);
    assert_true(!ev.beside && ev.p == .0021 && ev.p_limit > .0021);
}

/* The error falls by the root of the runs: twice the one that excludes takes four times as many. */
TEST(the_evidence_becomes_that_of_the_new_runs)
{
    struct tg_asking asking = { .detect = .2, .first = 5, .new = 12 };
    struct tg_evidence again = of(.09, .1822, .2), ev = of(.5, .01, .001);
    ev.proven = ev.slower = ev.suspicious = true;
    ev.pooled = 3;
    tg_confirm_set(&ev, &again, &asking);
    assert_int_equal(ev.asked, TG_ASKED_UNTOLD);
    assert_int_equal((int)ev.tell_runs, 48); /* 12 (.3644 / .182322)^2 = 47.9 */
    assert_true(ev.e == .09 && ev.pooled == 3);
    assert_false(ev.proven || ev.slower || ev.suspicious);
    again = of(.09, .01, .001);
    tg_confirm_set(&ev, &again, &asking);
    assert_int_equal(ev.asked, TG_ASKED_RED);
    assert_true(ev.proven && ev.slower && ev.tau == .04);
    assert_int_equal((int)ev.tell_runs, 12);
    asking.next = 17;
    ev = of(.5, .01, .001);
    tg_confirm_set(&ev, NULL, &asking); /* the new runs lack it */
    assert_int_equal(ev.asked, TG_ASKED_OPEN);
    assert_true(ev.e == .5 && !ev.proven);
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

/* What grew in the first runs alone has not grown; what the first runs do not show is not looked for. */
TEST(the_whole_is_what_the_new_runs_say)
{
    struct tg_comparison again = { .busy = true, .n_withheld = 2 };
    struct tg_asking asking = { .again = &again };
    struct tg_comparison c = { .asking = &asking };
    c.account.of[TG_ACCOUNT_WALL].growth = TG_GROWTH_PROVEN;
    c.account.of[TG_ACCOUNT_CALLS].growth = TG_GROWTH_PROVEN;
    again.account.of[TG_ACCOUNT_BUSY].growth = TG_GROWTH_PROVEN;
    assert_ptr_equal(tg_confirm_last(&c), &again);
    tg_confirm_whole(&c);
    assert_int_equal(c.account.of[TG_ACCOUNT_WALL].growth, TG_GROWTH_NONE);
    assert_int_equal(c.account.of[TG_ACCOUNT_BUSY].growth, TG_GROWTH_NONE);
    assert_int_equal(c.account.of[TG_ACCOUNT_CALLS].growth, TG_GROWTH_PROVEN); /* calls are final */
    assert_true(c.busy && c.n_withheld == 2);
    asking.again = NULL;
    assert_ptr_equal(tg_confirm_last(&c), &c);
    c.account.of[TG_ACCOUNT_WALL].growth = TG_GROWTH_PROVEN;
    tg_confirm_whole(&c);
    assert_int_equal(c.account.of[TG_ACCOUNT_WALL].growth, TG_GROWTH_PROVEN);
}
