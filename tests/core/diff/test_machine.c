/* What all operators tell of the machine: its factor, its speed by run,
 * whether it was busy (machine.c). */
#include "by_hand.h"
#include "core/diff/internal.h"

static const char *const name[] = { "a", "b", "c", "d", "e", "f" };

/*
 * A clock of whole microseconds, everything 20 % slower: 30 calls of 2 us stay as they are, six
 * operators of 100 us take 120. Half of the operators or more do not move, and the factor is 1.2.
 */
BY_HAND(a_coarse_clock_shows_the_machine_in_long_calls)
{
    static const char *const small[] = { "a", "b", "c", "d", "e", "f", "g" };
    static const char *const large[] = { "u", "v", "w", "x", "y", "z" };
    for (int coarse = 0; coarse < 2; coarse++) {
        make(f, 3, 3, 3);
        for (int i = 0; i < 7; i++)
            add_same(f, TG_KIND_OP, small[i], "", 30, coarse ? 2000 : 2001);
        for (int i = 0; i < 6; i++)
            add_both(f, TG_KIND_OP, large[i], "", 1, 100000, 1, 120000);
        compare(f);
        /* By the finer clock 7 of 13 operators did not change, and 6 got slower by themselves. */
        within(f->c.drift, coarse ? log(1.2) : 0, 1e-9);
        assert_int_equal(f->c.drifted, coarse);
        assert_int_equal(find(f, "u")->ev.slower, !coarse);
    }
}

/* Everything 20 % slower: of five operators that is the machine, of four it is each by itself. */
BY_HAND(four_operators_tell_nothing)
{
    for (int n = 4; n <= 5; n++) {
        make(f, 3, 3, 3);
        for (int i = 0; i < n; i++)
            add_both(f, TG_KIND_OP, name[i], "", 1, 50001, 1, 60001);
        compare(f);
        within(f->c.drift, n == 5 ? log(1.2) : 0, 1e-4);
        assert_int_equal(f->c.drifted, n == 5);
        assert_int_equal(find(f, "a")->ev.slower, n == 4);
    }
}

/* Five operators 20 % slower, of which one has larger inputs: four tell nothing of the machine. */
BY_HAND(other_inputs_tell_nothing)
{
    static struct tg_attr shape[] = { { TG_ATTR_KIND_SHAPES, { "[[8]]", 5 }, 3 },
                                      { TG_ATTR_KIND_SHAPES, { "[[9]]", 5 }, 3 } };
    for (int other = 0; other < 2; other++) {
        make(f, 3, 3, 3);
        for (int i = 0; i < 5; i++)
            for (int side = 0; side < 2; side++)
                for (size_t run = 0; run < 3; run++) {
                    struct tg_row *row =
                        add_row(f, side, run, TG_KIND_OP, name[i], "", 1, side ? 60001 : 50001);
                    row->attrs = i == 0 ? &shape[side && other] : NULL;
                    row->n_attrs = i == 0;
                }
        compare(f);
        within(f->c.drift, other ? 0 : log(1.2), 1e-4);
        assert_int_equal(find(f, "b")->ev.slower, other);
    }
}

/* Faster machines are told as drift, and never make an operator slower. */
BY_HAND(a_faster_machine_takes_nothing_off)
{
    make(f, 3, 3, 3);
    for (int i = 0; i < 6; i++)
        add_both(f, TG_KIND_OP, name[i], "", 1, 60001, 1, i ? 50001 : 60001);
    compare(f);
    within(f->c.drift, -log(1.2), 1e-4);
    assert_false(find(f, "a")->ev.slower);
}

/* The second run of the baseline twice as slow in everything: its speed is 2,
 * that of the others 1. */
BY_HAND(the_speed_of_each_run)
{
    const struct tg_diff_work *w;
    make(f, 3, 3, 3);
    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < 3; run++)
            for (int i = 0; i < 6; i++)
                add_row(f, side, run, TG_KIND_OP, name[i], "", 1,
                        side == TG_BASE && run == 1 ? 100000 : 50000);
    compare(f);
    w = find(f, "a")->rows->work;
    near(w->speed[TG_HOST_TIMES][TG_BASE][0], 1);
    near(w->speed[TG_HOST_TIMES][TG_BASE][1], 2);
    near(w->speed[TG_HOST_TIMES][TG_TEST][1], 1);
}

/*
 * Six operators and six kernels. The device a fifth slower: no kernel is, and an operator that
 * takes a fifth longer by itself is. The other way round likewise;
 * both together are the whole machine.
 */
BY_HAND(host_and_device_are_two_machines)
{
    static const struct {
        int host_us, device_us; /* of all but "a" and "k", which take 60 in each case */
        enum tg_drift_of drift_of;
        bool op_slower, kernel_slower;
    } rows[] = { { 50, 60, TG_DRIFT_OF_DEVICE, true, false },
                 { 60, 50, TG_DRIFT_OF_HOST, false, true },
                 { 60, 60, TG_DRIFT_OF_ALL, false, false },
                 { 50, 50, TG_DRIFT_OF_ALL, true, true } };
    static const char *const kernel[] = { "k", "l", "m", "n", "o", "p" };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        make(f, 3, 3, 3);
        for (int i = 0; i < 6; i++) {
            tg_ns host = i ? rows[r].host_us * 1000 + 1 : 60001;
            tg_ns device = i ? rows[r].device_us * 1000 + 1 : 60001;
            add_both(f, TG_KIND_OP, name[i], "", 1, 50001, 1, host);
            add_both(f, TG_KIND_KERNEL, kernel[i], name[i], 1, 50001, 1, device);
        }
        compare(f);
        assert_int_equal(f->c.drifted, r < 3);
        within(f->c.drift, r < 3 ? log(1.2) : 0, 1e-4);
        assert_int_equal(f->c.drift_of, rows[r].drift_of);
        assert_int_equal(find(f, "a")->ev.slower, rows[r].op_slower);
        assert_int_equal(find(f, "k")->ev.slower, rows[r].kernel_slower);
    }
}

/*
 * Five steps of 50 us; in `risen` of six operators all fresh steps but the first take 60: 8 us more
 * on average. Without the two that have most, of six that is 32 us in 350, 9 % of the step; of two,
 * nothing. "slow" takes 50 us more, which twice as much explains.
 */
BY_HAND(a_busy_machine)
{
    for (int risen = 2; risen <= 6; risen += 4) {
        make(f, 3, 3, 5);
        for (int side = 0; side < 2; side++)
            for (size_t run = 0; run < 3; run++)
                for (int i = 0; i < 6; i++) {
                    struct tg_row *row = add_row(f, side, run, TG_KIND_OP, name[i], "", 1, 50000);
                    for (size_t j = 1; side == TG_TEST && i < risen && j < 5; j++)
                        set_call(row, j, 60000);
                }
        add_both(f, TG_KIND_OP, "slow", "", 1, 50000, 1, 100000);
        compare(f);
        near(f->c.excess, risen == 6 ? 32.0 / 350 : 0);
        assert_int_equal(f->c.busy, risen == 6);
        assert_int_equal(find(f, "slow")->ev.why_not, risen == 6 ? TG_NOT_BUSY : TG_JUDGED);
        assert_int_equal(find(f, "slow")->ev.withheld, risen == 6);
        assert_int_equal(find(f, "slow")->ev.slower, risen == 2);
        assert_int_equal(f->c.n_withheld, risen == 6);
    }
}

/*
 * Six kernels of 50 us in the first half of the fresh steps and of 52 in the last: the device slows
 * down by ln 1.04 within the runs, and its durations are not judged. Half a microsecond is within
 * what a steady device varies by.
 */
BY_HAND(a_device_that_changes_its_speed)
{
    for (int late = 50500; late <= 52000; late += 1500) {
        make(f, 3, 3, 4);
        for (int side = 0; side < 2; side++)
            for (size_t run = 0; run < 3; run++)
                for (int i = 0; i < 6; i++) {
                    struct tg_row *row =
                        add_row(f, side, run, TG_KIND_KERNEL, name[i], "", 1, 50000);
                    for (size_t j = 2; side == TG_TEST && j < 4; j++)
                        set_call(row, j, late);
                }
        compare(f);
        within(f->c.warming, late == 52000 ? log(1.04) : 0, 1e-6);
        assert_int_equal(find(f, "a")->ev.why_not, late == 52000 ? TG_NOT_WARM : TG_JUDGED);
    }
}
