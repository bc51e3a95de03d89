/* Durations, by hand: the worked example of core/diff/README.md, evidence by the mean of the steps,
 * and what holds it back. */
#include "by_hand.h"

enum { RUNS = 3, STEPS = 3 };

/* One call a step, each of its own time: ns[run][step]. */
static void add_each(struct fixture *f, int side, const char *name, const tg_ns *ns, size_t steps)
{
    for (size_t r = 0; r < f->side[side].n_runs; r++) {
        struct tg_row *row = add_row(f, side, r, TG_KIND_OP, name, "", 1, 1);
        for (size_t j = 0; j < steps; j++)
            set_call(row, j, ns[r * steps + j]);
    }
}

static const tg_ns example[2][RUNS * STEPS] = {
    { 100200, 108100, 101300, 103400, 102200, 117500, 101200, 104300, 106100 },
    { 131400, 130200, 142300, 133100, 129200, 131400, 135200, 132200, 134300 },
};

static const struct tg_op *example_of(struct fixture *f, bool slower)
{
    make(f, RUNS, RUNS, STEPS);
    add_both(f, TG_KIND_OP, "demo::a", "", 2, 4001, slower ? 3 : 2, 4001);
    add_each(f, TG_BASE, "demo::b", example[TG_BASE], STEPS);
    add_each(f, TG_TEST, "demo::b", example[slower ? TG_TEST : TG_BASE], STEPS);
    compare(f);
    return find(f, "demo::b");
}

/* Every number below is computed by hand in README.md, with three or four digits. */
BY_HAND(the_worked_example_is_what_the_code_does)
{
    const struct tg_op *b = example_of(f, true), *a = find(f, "demo::a");
    const struct tg_evidence *ev = &b->ev;
    assert_int_equal(a->change, TG_MORE);
    assert_int_equal(a->counted.proof, TG_COUNT_PROVEN);
    assert_int_equal(a->ev.why_not, TG_NOT_COUNT_CHANGED);

    assert_int_equal(ev->why_not, TG_JUDGED);
    assert_int_equal(ev->estimate, TG_ESTIMATE_LEAST);
    within(ev->value[TG_BASE], 101200, 0.01); /* median of 100.2, 102.2, 101.2 */
    within(ev->value[TG_TEST], 130200, 0.01); /* of 130.2, 129.2, 132.2 */
    within(ev->e, 0.252, 0.0005);             /* ln(130.2 / 101.2) */
    within(ev->delta_ns, 29000, 0.01);
    within(ev->noise * ev->noise, 0.000078, 0.0000005);
    within(ev->se, 0.0072, 0.00005); /* sqrt(0.000078 * 2 / 3) */
    within(ev->z, 4, 0);
    within(ev->tau, 0.15, 0);
    within(ev->p, 1.0 / 20, 1e-12);
    within(ev->mde, 0.15, 1e-9); /* tau, since 4 * SE is less than ln 1.15 */
    assert_int_equal(ev->above, 3);
    assert_true(ev->proven && ev->slower && !ev->faster && !ev->some_steps);
}

/* Two of five steps three times as long: 100, 100, 100, 300, 300 is 180 in the mean, +80 %. */
BY_HAND(by_the_mean_of_the_steps)
{
    tg_ns base[4 * 5], test[4 * 5];
    struct tg_evidence mean, share;
    for (size_t i = 0; i < 4 * 5; i++) {
        base[i] = 100001 + (tg_ns)(i % 7) * 10;
        test[i] = (i % 5 + i / 5) % 5 < 2 ? 3 * base[i] : base[i];
    }
    make(f, 4, 4, 5);
    add_each(f, TG_BASE, "part", base, 5);
    add_each(f, TG_TEST, "part", test, 5);
    add_each(f, TG_BASE, "rest", base, 5);
    add_each(f, TG_TEST, "rest", base, 5);
    compare(f);
    const struct tg_op *op = find(f, "part");
    assert_true(tg_op_evidence_of_mean(op, TG_OP_TOTAL, &mean));
    within(exp(op->ev.e), 1, 0.001);
    within(exp(mean.e), 1.8, 0.001);
    assert_false(op->ev.proven || op->ev.slower);
    assert_true(mean.proven && mean.slower);
    assert_int_equal(mean.estimate, TG_ESTIMATE_MEAN);
    within(mean.value[TG_TEST] - mean.value[TG_BASE], mean.delta_ns, 1e-6);
    /* Its part of the step is one of means: 1.8 times as much. That of another operator stays. */
    assert_true(tg_op_share_evidence(op, &share));
    within(share.value[TG_BASE], 100 * op->share[TG_BASE], 0.001);
    within(share.value[TG_TEST] / share.value[TG_BASE], 1.8, 0.001);
    assert_true(share.proven);
    assert_true(tg_op_share_evidence(find(f, "rest"), &share));
    within(share.value[TG_TEST] - share.value[TG_BASE], 0, 1e-9);
    assert_false(share.proven);
    /* The longest call: 100 -> 300. */
    struct tg_evidence longest;
    assert_true(tg_op_quantile_evidence(op, 1, &longest));
    within(exp(longest.e), 3, 0.01);
    assert_true(longest.proven);
    assert_true(tg_op_quantile_evidence(op, 0, &longest));
    assert_false(longest.proven);
}

/* Three runs a side that do not differ: 15 % is asked for.
 * Its time is not what it is multiplied with. */
BY_HAND(what_would_be_slower)
{
    make(f, 3, 3, 4);
    add_same(f, TG_KIND_OP, "part", "", 1, 100001);
    add_same(f, TG_KIND_SYNC, "aSynchronize", "", 1, 100001);
    compare(f);
    const struct tg_op *op = find(f, "part");
    within(tg_op_slower_from(op, 16), 1.15 * 1.0025, 1.15 * 0.0026);
    within(tg_op_slower_from(op, 1.1), 1.1, 0); /* is not enough */
    assert_false(op->ev.slower);
    within(tg_op_slower_from(find(f, "aSynchronize"), 16), 16, 0); /* a wait: not judged */
}

BY_HAND(an_operator_that_is_not_judged_has_no_estimate)
{
    struct tg_evidence ev;
    (void)example_of(f, true);
    assert_false(tg_op_evidence_of_mean(find(f, "demo::a"), TG_OP_SELF, &ev));
    assert_false(tg_op_share_evidence(find(f, "demo::a"), &ev));
    assert_true(tg_op_evidence_of_mean(find(f, "demo::b"), TG_OP_SELF, &ev));
}

/* Two calls of 90 us became 48 of 1.2 us: less by name, which excuses them unless the time around
 * them makes the step longer, 20 -> 420 us. */
BY_HAND(what_is_faster_by_name_excuses_no_slower_step)
{
    for (int longer = 0; longer < 2; longer++) {
        make(f, 5, 5, 3);
        for (int side = 0; side < 2; side++) {
            add_all(f, side, TG_KIND_STEP, "ProfilerStep#3", "", 1, 20001 + 400000 * side * longer);
            add_all(f, side, TG_KIND_OP, "rest", "ProfilerStep", 1, 300001);
        }
        add_all(f, TG_BASE, TG_KIND_OP, "stack", "ProfilerStep", 2, 90001);
        add_all(f, TG_TEST, TG_KIND_OP, "rows", "ProfilerStep", 48, 1201);
        compare(f);
        assert_int_equal(find(f, "rows")->relation,
                         longer ? TG_REL_REPLACED_WORSE : TG_REL_REPLACED);
    }
}

/* From nothing to something: the logarithm counts from 1 ns, the value does not. */
BY_HAND(nothing_is_told_as_nothing)
{
    make(f, 3, 3, 3);
    add_both(f, TG_KIND_OP, "x", "", 1, 0, 1, 5001);
    compare(f);
    near(find(f, "x")->ev.value[TG_BASE], 0);
    near(find(f, "x")->ev.delta_ns, 5001);
}

/* Four operators whose calls vary by step. In `moved` of them the fresh runs have calls as the
 * baseline never had: all or most of them are other data, one is not; nor is what some steps did,
 * done in all. */
BY_HAND(other_data_judges_no_durations)
{
    static const char *const name[] = { "route", "gather", "scatter", "index" };
    static const uint32_t usual[] = { 3, 5, 4, 6, 5, 3 }, more[] = { 8, 9, 8, 10, 9, 8 };
    static const uint32_t always[] = { 6, 6, 6, 6, 6, 6 };
    for (int moved = 1; moved <= 5; moved++) {
        const uint32_t *fresh = moved < 5 ? more : always;
        make(f, 4, 4, 6);
        for (int i = 0; i < 4; i++)
            for (int side = 0; side < 2; side++)
                for (size_t r = 0; r < 4; r++)
                    add_counts(f, side, r, TG_KIND_OP, name[i], "",
                               side == TG_TEST && i < moved ? fresh : usual, 20001);
        add_both(f, TG_KIND_OP, "slow", "", 1, 50001, 1, 100001);
        compare(f);
        bool other = moved > 2 && moved < 5; /* more than half of four */
        assert_int_equal(f->c.other_data, other);
        assert_int_equal(find(f, "slow")->ev.why_not, other ? TG_NOT_OTHER_DATA : TG_JUDGED);
        assert_int_equal(find(f, "slow")->ev.withheld, other);
        assert_int_equal(find(f, "slow")->ev.slower, !other);
        assert_int_equal(f->c.n_withheld, other);
    }
}

/* ---- quantiles over the single calls of an operator ---- */

/* Two steps of five calls, 1 … 5 us and 6 … 10 us, in every run. */
static void ten_calls(struct fixture *f, size_t runs)
{
    make(f, runs, runs, 2);
    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < runs; run++) {
            struct tg_row *row = add_row(f, side, run, TG_KIND_OP, "x", "", 5, 1000);
            for (size_t k = 0; k < 10; k++)
                row->slots[k] = 1000 * (tg_ns)(k + 1);
        }
}

BY_HAND(over_all_calls_of_a_side)
{
    ten_calls(f, 2);
    compare(f);
    near(tg_op_quantile(find(f, "x"), TG_BASE, 0), 1000);
    near(tg_op_quantile(find(f, "x"), TG_BASE, 0.5), 5500);
    near(tg_op_quantile(find(f, "x"), TG_TEST, 1), 10000);
    /* Twenty values, each twice: 0.9 * 19 = 17.1, between the two nines and the two tens. */
    near(tg_op_quantile(find(f, "x"), TG_TEST, 0.9), 9000 + 0.1 * 1000);
    f->o.skip_first = 1;
    compare(f);
    near(tg_op_quantile(find(f, "x"), TG_BASE, 0), 6000);
}

BY_HAND(not_where_calls_are_not_known)
{
    struct tg_evidence ev;
    ten_calls(f, 2);
    compare(f);
    assert_true(tg_op_quantile_evidence(find(f, "x"), 0.5, &ev));
    shard(f, TG_TEST, 1)->rows[0].slots = NULL; /* dropped: only sums are stored */
    compare(f);
    assert_true(isnan(tg_op_quantile(find(f, "x"), TG_TEST, 0.5)));
    assert_true(!isnan(tg_op_quantile(find(f, "x"), TG_BASE, 0.5)));
    assert_false(tg_op_quantile_evidence(find(f, "x"), 0.5, &ev));
    make(f, 1, 1, 2);
    add_all(f, TG_BASE, TG_KIND_OP, "gone", "", 1, 1000);
    compare(f);
    assert_true(isnan(tg_op_quantile(find(f, "gone"), TG_TEST, 0.5)));
    assert_false(tg_op_quantile_evidence(find(f, "gone"), 0.5, &ev));
}

/* A call of a new name is compared with one of the name that it replaced, if there were as many: of
 * two calls that became one, each did a part of the work. */
BY_HAND(of_what_was_replaced)
{
    static const struct {
        uint32_t old_calls;
        tg_ns old_ns, new_ns;
        bool known, proven;
    } rows[] = {
        { 1, 50001, 150001, true, true },
        { 1, 50001, 50001, true, false },
        { 1, 150001, 50001, true, false },
        { 2, 50001, 150001, false, false },
    };
    struct tg_evidence ev;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make(f, 3, 3, 4);
        add_same(f, TG_KIND_KERNEL, "other", "", 1, 500001);
        add_all(f, TG_BASE, TG_KIND_KERNEL, "old", "", rows[i].old_calls, rows[i].old_ns);
        add_all(f, TG_TEST, TG_KIND_KERNEL, "new", "", 1, rows[i].new_ns);
        compare(f);
        assert_non_null(find(f, "new")->joined);
        assert_int_equal(tg_op_quantile_evidence(find(f, "new"), 0.5, &ev), rows[i].known);
        if (rows[i].known) {
            near(ev.value[TG_BASE], (double)rows[i].old_ns);
            near(ev.value[TG_TEST], (double)rows[i].new_ns);
            assert_int_equal(ev.proven, rows[i].proven);
        }
    }
}

/* ---- what part of a step of 1 ms an operator takes ---- */

/* Two steps in each of three runs a side, in which "x" takes these times;
 * a run's is its number more. */
static struct tg_op *compared(struct fixture *f, tg_ns base, tg_ns test)
{
    make(f, 3, 3, 2);
    for (size_t run = 0; run < 3; run++) {
        add_row(f, TG_BASE, run, TG_KIND_OP, "x", "", 1, base + (tg_ns)(2 * run));
        add_row(f, TG_TEST, run, TG_KIND_OP, "x", "", 1, test + (tg_ns)(2 * run));
    }
    compare(f);
    return (struct tg_op *)(uintptr_t)find(f, "x");
}

/* In percent of the mean step, one value a run: medians 10.0003 and 25.0003. */
BY_HAND(evidence_in_percent)
{
    struct tg_evidence ev = { 0 };
    assert_true(tg_op_share_evidence(compared(f, 100001, 250001), &ev));
    near(ev.value[TG_BASE], 10.0003);
    near(ev.value[TG_TEST], 25.0003);
    near(ev.delta_ns, 15);
    assert_int_equal(ev.why_not, TG_JUDGED);
}

/* A new name takes as much of the step as the two that it replaced: 10 %. */
BY_HAND(with_what_was_replaced)
{
    static const struct {
        tg_ns new_ns;
        double share;
    } rows[] = { { 100000, 10 }, { 300000, 30 } };
    struct tg_evidence ev;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make(f, 3, 3, 4);
        add_same(f, TG_KIND_KERNEL, "other", "", 1, 500000);
        add_all(f, TG_BASE, TG_KIND_KERNEL, "old", "", 2, 50000);
        add_all(f, TG_TEST, TG_KIND_KERNEL, "new", "", 1, rows[i].new_ns);
        compare(f);
        assert_true(tg_op_share_evidence(find(f, "new"), &ev));
        near(ev.value[TG_BASE], 10);
        near(ev.value[TG_TEST], rows[i].share);
        assert_int_equal(ev.proven, rows[i].share > 10);
    }
}

/* Calls that differ between the sides: its time is not judged, nor is its part of the step. */
BY_HAND(without_a_time_no_part)
{
    struct tg_evidence ev = { 0 };
    struct tg_op *op = compared(f, 100001, 250001);
    op->rows = NULL;
    assert_false(tg_op_share_evidence(op, &ev));
}
