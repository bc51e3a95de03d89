/* Values and evidence of each metric (probe.c): which fields of a comparison a metric reads.
 * Formulas: docs/metrics.md, docs/policy.md. */
#include "../../core/diff/by_hand.h"
#include "by_hand.h"

/* Every field has a value of its own, so that what is read shows. */
static struct tg_op op_of(enum tg_kind kind)
{
    return (struct tg_op){ .kind = kind,
                           .present = { true, true },
                           .count = { 2, 4 },
                           .total = { 600, 1200 },
                           .self = { 100, 300 },
                           .share = { 0.25, 0.5 },
                           .bytes = { 64, 128 },
                           .bytes_known = { true, true },
                           .ev = { .why_not = TG_NOT_FEW_RUNS },
                           .ev_total = { .why_not = TG_NOT_FEW_RUNS } };
}

/* By one estimate; LEAST: as the comparison has it. */
static bool probe_op(struct tg_probe *p, enum tg_rule_metric m, const struct tg_comparison *c,
                     const struct tg_op *op, enum tg_estimate by)
{
    const struct tg_rule rule = { .metric = m };
    const struct tg_judging w = { .rule = &rule, .x = { .kind = TG_QUANTITY_OP, .op = op } };
    return tg_probe(p, &w, c, by);
}

static struct tg_probe probed(struct hand *h, enum tg_rule_metric m, const struct tg_op *op)
{
    struct tg_probe p = { .ev = NULL };
    assert_true(probe_op(&p, m, &h->c, op, TG_ESTIMATE_LEAST));
    assert_int_equal(p.unit, tg_rule_metric_info(m)->unit);
    return p;
}

/* Times that are not judged are shown as recorded: self time or inclusive time. */
WITH_HAND(a_metric_reads_self_or_inclusive_time)
{
    static const struct {
        enum tg_rule_metric m;
        double base, test;
    } rows[] = {
        { TG_RULE_METRIC_SELF, 100, 300 },          { TG_RULE_METRIC_DEVICE_SELF, 100, 300 },
        { TG_RULE_METRIC_TOTAL, 600, 1200 },        { TG_RULE_METRIC_DEVICE_TIME, 600, 1200 },
        { TG_RULE_METRIC_MEAN, 600 / 2, 1200 / 4 },
    };
    const struct tg_op op = op_of(TG_KIND_OP);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tg_probe p = probed(h, rows[i].m, &op);
        hand_near(p.base, rows[i].base);
        hand_near(p.test, rows[i].test);
        hand_near(p.recorded[TG_BASE], rows[i].base);
        hand_near(p.recorded[TG_TEST], rows[i].test);
        assert_true(p.has_recorded);
        assert_false(p.exact);
    }
}

/* The inclusive time of work on the device is its duration: one evidence, that of self time. */
WITH_HAND(evidence_of_inclusive_time_is_of_the_host_only)
{
    const struct tg_op host = op_of(TG_KIND_OP), device = op_of(TG_KIND_KERNEL);
    assert_ptr_equal(probed(h, TG_RULE_METRIC_SELF, &host).ev, &host.ev);
    assert_ptr_equal(probed(h, TG_RULE_METRIC_TOTAL, &host).ev, &host.ev_total);
    assert_ptr_equal(probed(h, TG_RULE_METRIC_MEAN, &host).ev, &host.ev_total);
    assert_ptr_equal(probed(h, TG_RULE_METRIC_TOTAL, &device).ev, &device.ev);
    assert_ptr_equal(probed(h, TG_RULE_METRIC_SHARE, &host).ev, &host.ev);
}

/* Judged at equal counts: both sides are divided by the baseline's two calls. */
WITH_HAND(a_judged_mean_is_by_the_calls_of_the_baseline)
{
    struct tg_op op = op_of(TG_KIND_OP);
    struct tg_probe p;
    op.ev_total = hand_evidence(600, 0.5);
    p = probed(h, TG_RULE_METRIC_MEAN, &op);
    hand_near(p.base, 300);
    hand_near(p.test, 450);
    hand_near(p.per, 2);
    hand_near(p.recorded[TG_TEST], 300);
    hand_near(probed(h, TG_RULE_METRIC_TOTAL, &op).test, 900);
    op.count[TG_BASE] = 0; /* new: of no number of calls */
    p = probed(h, TG_RULE_METRIC_MEAN, &op);
    hand_near(p.per, 0);
    hand_near(p.recorded[TG_BASE], 0);
}

WITH_HAND(counts_bytes_and_shares)
{
    struct tg_op op = op_of(TG_KIND_OP);
    struct tg_probe p = probed(h, TG_RULE_METRIC_COUNT, &op);
    assert_true(p.exact && p.base == 2 && p.test == 4);
    assert_true(p.unchanged);
    op.change = TG_MORE;
    assert_false(probed(h, TG_RULE_METRIC_COUNT, &op).unchanged);
    p = probed(h, TG_RULE_METRIC_SHARE, &op);
    assert_true(!p.exact && p.base == 25 && p.test == 50);
    p = probed(h, TG_RULE_METRIC_BYTES, &op);
    assert_true(p.exact && p.base == 64 && p.test == 128);
    for (int side = 0; side < 2; side++) { /* calls without bytes on one side */
        op.bytes_known[side] = false;
        op.bytes_known[!side] = true;
        assert_int_equal(probe_op(&p, TG_RULE_METRIC_BYTES, &h->c, &op, TG_ESTIMATE_LEAST), side);
        assert_int_equal(p.known[TG_TEST], !side); /* what the fresh side lacks has a row */
    }
    assert_false(
        probe_op(&p, TG_RULE_METRIC_SKEW, &h->c, &op, TG_ESTIMATE_LEAST)); /* not of a name */
}

/* What it costs now, or cost: exact, from nothing. */
WITH_HAND(new_and_gone_names)
{
    struct tg_op op = op_of(TG_KIND_OP);
    struct tg_probe p;
    op.change = TG_ADDED;
    p = probed(h, TG_RULE_METRIC_ADDED, &op);
    assert_true(p.exact && p.base == 0 && p.test == 1200 && !p.unchanged);
    p = probed(h, TG_RULE_METRIC_REMOVED, &op);
    assert_true(p.exact && p.base == 0 && p.test == 0 && p.unchanged);
    op.change = TG_REMOVED;
    p = probed(h, TG_RULE_METRIC_ADDED, &op);
    assert_true(p.test == 0 && p.unchanged);
    p = probed(h, TG_RULE_METRIC_REMOVED, &op);
    assert_true(p.test == 600 && !p.unchanged);
}

/* ---- evidence that the comparison computes when it is asked ---- */

enum { RUNS = 5 };

/* Two operators of 100 us and one call a step in 5 runs of 5 steps;
 * `slow` steps of the fresh runs take twice as long. */
static void compare_calls(struct fixture *f, size_t slow)
{
    make(f, RUNS, RUNS, 5);
    for (int side = 0; side < 2; side++)
        for (size_t r = 0; r < RUNS; r++) {
            struct tg_row *row = add_row(f, side, r, TG_KIND_OP, "it", "", 1, 100001);
            add_row(f, side, r, TG_KIND_OP, "other", "", 1, 100001);
            for (size_t j = 0; side && j < slow; j++)
                row->total[j] = row->self[j] = row->slots[j] = 200001;
            for (size_t j = 0; j < 5; j++)
                row->total[j] += 50000; /* what it calls */
        }
    compare(f);
}

static struct tg_probe probed_in(struct fixture *f, enum tg_rule_metric m)
{
    struct tg_probe p = { .ev = NULL };
    assert_true(probe_op(&p, m, &f->c, find(f, "it"), TG_ESTIMATE_LEAST));
    return p;
}

/* 0..3 of 5 steps are slow: quantiles of the 25 calls, 10 of them of 200 us. */
BY_HAND(quantiles_are_of_single_calls)
{
    struct tg_op gone;
    struct tg_probe p;
    compare_calls(f, 2);
    near(probed_in(f, TG_RULE_METRIC_MEDIAN).base, 100001);
    near(probed_in(f, TG_RULE_METRIC_MEDIAN).test, 100001);
    near(probed_in(f, TG_RULE_METRIC_P95).test, 200001);
    near(probed_in(f, TG_RULE_METRIC_MAX).test, 200001);
    assert_non_null(probed_in(f, TG_RULE_METRIC_MAX).ev);
    gone = *find(f, "it");
    gone.present[TG_TEST] = false;
    for (int i = 0; i < 3; i++) {
        static const enum tg_rule_metric all[] = { TG_RULE_METRIC_MEDIAN, TG_RULE_METRIC_P95,
                                                   TG_RULE_METRIC_MAX };
        assert_false(probe_op(&p, all[i], &f->c, &gone, TG_ESTIMATE_LEAST));
    }
    gone =
        *find(f, "it"); /* an operator of no comparison has no evidence, and values as they are */
    gone.rows = NULL;
    p = (struct tg_probe){ .ev = NULL };
    assert_true(probe_op(&p, TG_RULE_METRIC_MAX, &f->c, &gone, TG_ESTIMATE_LEAST));
    assert_null(p.ev);
}

/* The mean over all steps: of self time (200 * 2 + 100 * 3) / 5 = 140 us, of inclusive time 190. */
BY_HAND(one_estimate_alone_is_of_the_same_time)
{
    static const struct {
        enum tg_rule_metric m;
        double base, test;
    } rows[] = {
        { TG_RULE_METRIC_SELF, 100001, 140001 },  { TG_RULE_METRIC_DEVICE_SELF, 100001, 140001 },
        { TG_RULE_METRIC_TOTAL, 150001, 190001 }, { TG_RULE_METRIC_DEVICE_TIME, 150001, 190001 },
        { TG_RULE_METRIC_MEAN, 150001, 190001 },
    };
    struct tg_probe p;
    compare_calls(f, 2);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(probe_op(&p, rows[i].m, &f->c, find(f, "it"), TG_ESTIMATE_MEAN));
        near(p.base, rows[i].base);
        near(p.test, rows[i].test);
        assert_int_equal(p.ev->estimate, TG_ESTIMATE_MEAN);
    }
    assert_false(probe_op(&p, TG_RULE_METRIC_SHARE, &f->c, find(f, "it"), TG_ESTIMATE_MEAN));
    assert_false(probe_op(&p, TG_RULE_METRIC_COUNT, &f->c, find(f, "it"), TG_ESTIMATE_MEAN));
    struct tg_op replaced = *find(f, "it"); /* judged as a part of something else */
    replaced.relation = TG_REL_REPLACED;
    assert_false(probe_op(&p, TG_RULE_METRIC_SELF, &f->c, &replaced, TG_ESTIMATE_MEAN));
}

/* ---- the whole trace ---- */

static bool measured_by(struct hand *h, struct tg_probe *p, enum tg_rule_metric m,
                        enum tg_estimate by)
{
    const struct tg_judging w = { .rule = &h->rule, .x = { .kind = TG_QUANTITY_TRACE } };
    h->rule.metric = m;
    return tg_probe(p, &w, &h->c, by);
}

/* Both sides have it. */
static bool measured(struct hand *h, struct tg_probe *p, enum tg_rule_metric m)
{
    return measured_by(h, p, m, TG_ESTIMATE_LEAST) && p->known[TG_BASE] && p->known[TG_TEST];
}

WITH_HAND(metrics_over_ranks)
{
    struct tg_comparison *c = &h->c;
    struct tg_probe p;
    c->ranks_known[0] = c->ranks_known[1] = true;
    c->skew[TG_BASE] = 3, c->skew[TG_TEST] = 5;
    c->rank_spread[TG_BASE] = 300, c->rank_spread[TG_TEST] = 500;
    c->collective_skew[TG_BASE] = 30, c->collective_skew[TG_TEST] = 50;
    assert_true(measured(h, &p, TG_RULE_METRIC_SKEW));
    assert_true(p.base == 3 && p.test == 5 && p.ev == &c->skew_ev && p.unit == TG_UNIT_PERCENT);
    /* A time: what was compared, without the machine's factor, where it was; else the means. */
    c->rank_spread_ev = (struct tg_evidence){ .value = { 300, 450 } };
    assert_true(measured(h, &p, TG_RULE_METRIC_RANK_SPREAD));
    assert_true(p.base == 300 && p.test == 450 && p.ev == &c->rank_spread_ev);
    c->rank_spread_ev.why_not = TG_NOT_FEW_RUNS;
    assert_true(measured(h, &p, TG_RULE_METRIC_RANK_SPREAD));
    assert_true(p.base == 300 && p.test == 500 && p.recorded[TG_TEST] == 500);
    assert_false(measured(h, &p, TG_RULE_METRIC_COLLECTIVE_SKEW)); /* no shared collectives */
    assert_false(p.known[TG_BASE] || p.known[TG_TEST]);
    c->collectives_known[0] = c->collectives_known[1] = true;
    assert_true(measured(h, &p, TG_RULE_METRIC_COLLECTIVE_SKEW));
    assert_true(p.base == 30 && p.test == 50 && p.ev == &c->collective_skew_ev);
}

/* Known on both sides, or not known; which one, budgets ask. */
WITH_HAND(a_metric_that_one_side_lacks)
{
    static const enum tg_rule_metric all[] = { TG_RULE_METRIC_SKEW, TG_RULE_METRIC_COLLECTIVE_SKEW,
                                               TG_RULE_METRIC_OF_TRACE + TG_METRIC_GPU_BUSY };
    struct tg_comparison *c = &h->c;
    struct tg_probe p;
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
            c->ranks_known[side] = c->collectives_known[side] = true;
            c->ranks_known[!side] = c->collectives_known[!side] = false;
            c->metrics[TG_METRIC_GPU_BUSY].known[side] = true;
            c->metrics[TG_METRIC_GPU_BUSY].known[!side] = false;
            assert_false(measured(h, &p, all[i]));
            assert_true(p.known[side]);
            assert_false(p.known[!side]);
        }
}

/* Of all ranks, or of the slowest; times as evidence has them where it is judged,
 * the rest as it is. */
WITH_HAND(a_metric_of_all_ranks_or_of_the_slowest)
{
    struct tg_metric_change *busy = &h->c.metrics[TG_METRIC_GPU_BUSY],
                            *idle = &h->c.metrics[TG_METRIC_IDLE];
    struct tg_probe p;
    busy->known[0] = busy->known[1] = idle->known[0] = idle->known[1] = true;
    busy->value[TG_BASE] = 1000, busy->value[TG_TEST] = 1100;
    busy->slowest[TG_BASE] = 2000, busy->slowest[TG_TEST] = 2200;
    busy->ev = hand_evidence(900, 0.1);
    busy->ev_slowest = (struct tg_evidence){ .why_not = TG_NOT_FEW_RUNS };
    idle->value[TG_BASE] = 10, idle->value[TG_TEST] = 11;
    idle->slowest[TG_BASE] = 20, idle->slowest[TG_TEST] = 22;
    idle->ev = hand_evidence(9, 0.1);
    assert_true(measured(h, &p, TG_RULE_METRIC_OF_TRACE + TG_METRIC_GPU_BUSY));
    hand_near(p.base, 900);
    hand_near(p.test, 990);
    assert_true(p.recorded[TG_TEST] == 1100);
    assert_true(measured(h, &p, TG_RULE_METRIC_OF_TRACE + TG_METRIC_IDLE));
    assert_true(p.base == 10 && p.test == 11 && p.ev == &idle->ev && !p.has_recorded);
    h->rule.match.rank = TG_MATCH_RANK_SLOWEST;
    assert_true(measured(h, &p, TG_RULE_METRIC_OF_TRACE + TG_METRIC_GPU_BUSY));
    assert_true(p.base == 2000 && p.test == 2200 && p.ev == &busy->ev_slowest);
    assert_true(measured(h, &p, TG_RULE_METRIC_OF_TRACE + TG_METRIC_IDLE));
    assert_true(p.base == 20 && p.test == 22 && p.ev == &idle->ev_slowest);
}

WITH_HAND(one_estimate_of_a_metric)
{
    struct tg_metric_change *m = &h->c.metrics[TG_METRIC_GPU_BUSY];
    const enum tg_rule_metric of_busy = TG_RULE_METRIC_OF_TRACE + TG_METRIC_GPU_BUSY;
    struct tg_probe p;
    m->mean = hand_evidence(1000, 0.5);
    m->mean_slowest.why_not = TG_NOT_ONE_SIDED;
    assert_true(measured_by(h, &p, of_busy, TG_ESTIMATE_MEAN));
    hand_near(p.test, 1500);
    h->rule.match.rank = TG_MATCH_RANK_SLOWEST;
    assert_false(measured_by(h, &p, of_busy, TG_ESTIMATE_MEAN));
    m->mean_slowest = hand_evidence(3000, 0.5);
    assert_true(measured_by(h, &p, of_busy, TG_ESTIMATE_MEAN));
    hand_near(p.test, 4500);
    assert_false(measured_by(h, &p, TG_RULE_METRIC_SKEW, TG_ESTIMATE_MEAN)); /* of ranks: none */
}
