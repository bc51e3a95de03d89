/* Splits of one commit's runs: how often the gate fails, and what it would find. */
#include "judged.h"

#include "cmd/gate/gate.h"
#include "cmd/gate/resample.h"

/* Runs of one commit; run k has `calls[k]` calls of aten::mm, 100 us each and k times `apart`
 * more. */
static struct tg_calibration metric_of(struct fixture *f, const uint32_t *calls, size_t runs,
                                       size_t side, tg_ns apart)
{
    struct tg_noise_input in = { .suite = &no_suite, .io = &no_io, .side = side, .splits = 40 };
    struct tg_compare_opts compare;
    struct tg_calibration c;
    make_side(f, TG_BASE, runs, 4);
    for (size_t k = 0; k < runs; k++)
        add_row(f, TG_BASE, k, TG_KIND_OP, "aten::mm", "", calls[k], 100001 + apart * (tg_ns)k);
    load_policy(f, "rules: [{id: calls, match: {kind: op}, metric: count, fail: {abs: 0}},\n"
                   "        {id: slower, match: {kind: op}, metric: self, fail: {pct: auto, abs: "
                   "0.1%step}}]\n");
    in.policy = f->policy;
    in.all = f->side[TG_BASE];
    tg_gate_compare_opts(&compare, f->policy, &no_suite, f->a);
    in.compare = &compare;
    if (!tg_noise_metric(&c, &in, f->a, &f->err))
        fail_msg("%s", f->err.message);
    return c;
}

static struct tg_calibration metric(struct fixture *f, const uint32_t *calls, size_t runs,
                                    size_t side)
{
    return metric_of(f, calls, runs, side, 1000);
}

JUDGED(runs_that_are_alike_never_fail)
{
    static const uint32_t calls[] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    struct tg_calibration c = metric(f, calls, 8, 3);
    assert_int_equal(c.n_runs, 8);
    assert_int_equal(c.side, 3);
    assert_int_equal(c.disjoint, 1); /* 8 runs hold one pair of 3 against 3 */
    assert_true(c.splits > 0 && c.splits <= 40);
    assert_int_equal(c.fails, 0);
    near(c.rate, 0);
    for (size_t i = 0; i < c.n_alarms; i++)
        assert_int_equal(c.alarms[i].fails, 0);
}

/* One run of six calls the operator twice: 1 against 1 fails where it is the fresh one. All 30
 * ordered pairs of 6 runs are drawn at most once, 5 of them have it fresh: at most 5 of 30 fail. */
JUDGED(a_count_that_varies_is_a_false_alarm)
{
    static const uint32_t calls[] = { 1, 1, 1, 1, 1, 2 };
    struct tg_calibration c = metric(f, calls, 6, 1), again;
    bool told = false;
    assert_true(c.fails > 0 && c.fails <= 5 && c.splits <= 30);
    near(c.rate, (double)c.fails / (double)c.splits);
    for (size_t i = 0; i < c.n_alarms; i++)
        if (c.alarms[i].fails) {
            is_text(c.alarms[i].rule->id, "calls");
            is_text(c.alarms[i].op, "aten::mm");
            near(c.alarms[i].worst, 100); /* 1 -> 2 */
            told = true;
        }
    assert_true(told);
    again = metric(f, calls, 6, 1); /* equal input, equal answer */
    assert_int_equal(again.fails, c.fails);
    assert_int_equal(again.splits, c.splits);
}

/* 3 against 3 of 6 runs take all of them: none can be left out to see how the rate moves. */
JUDGED(an_error_that_nothing_tells_is_unknown)
{
    static const uint32_t calls[] = { 1, 1, 1, 1, 1, 2 };
    assert_true(isnan(metric(f, calls, 6, 3).error));
    assert_true(metric(f, calls, 6, 2).error > 0);
}

/* ln of 100, 101, … 107 us has a standard deviation of 0.0237 (of 8 values, by hand). */
JUDGED(the_noise_of_an_operator)
{
    static const uint32_t calls[] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    struct tg_calibration c = metric(f, calls, 8, 3);
    assert_int_equal(c.n_ops, 1);
    is_text(c.ops[0].name, "aten::mm");
    assert_true(fabs(c.ops[0].sigma - 0.0237) < 0.003);
    assert_true(c.again[2] && c.again[3]); /* 8 and 10 a side need 16 and 20 runs */
    assert_false(c.again[0]);
    assert_true(c.ops[0].mde[3] > 0 && c.ops[0].mde[3] < 0.2);
}

/*
 * Stages on draws of 36 runs. All equal: no suspect, and each slowdown is found. From 100 to 135
 * us, each time as likely as the other: +50 % is above all of the others; +10 % is within, where a
 * shift shows least, and some of the same code is suspected, which new runs clear.
 */
JUDGED(what_asking_again_finds)
{
    uint32_t calls[36];
    struct tg_contract calm, wide;
    for (size_t k = 0; k < 36; k++)
        calls[k] = 1;
    calm = metric_of(f, calls, 36, 5, 0).contract;
    near(calm.runs, 5);
    near(calm.red, 0);
    near(calm.found[0], 1);
    assert_false(calm.again);
    wide = metric_of(f, calls, 36, 5, 1000).contract;
    near(wide.found[2], 1);
    assert_true(wide.found[0] < wide.found[1] && wide.found[1] < 1 && wide.found[0] > 0.05);
    assert_true(wide.red < 0.02 && wide.runs > 5 && wide.runs < 10);
    assert_true(metric_of(f, calls, 33, 5, 0).contract.again); /* 34 are needed */
    calls[1] = 2;                                              /* no time is judged */
    assert_true(isnan(metric_of(f, calls, 36, 5, 0).contract.runs));
}

JUDGED(a_subset_has_its_runs_in_order)
{
    static const size_t run[] = { 3, 0 };
    struct tg_side s;
    make_side(f, TG_BASE, 4, 2);
    s = tg_gate_subset(&f->side[TG_BASE], run, 2, f->a);
    assert_int_equal(s.n_runs, 2);
    assert_ptr_equal(s.at[0], f->side[TG_BASE].at[3]);
    assert_ptr_equal(s.at[1], f->side[TG_BASE].at[0]);
    assert_int_equal(f->side[TG_BASE].n_runs, 4);
}
