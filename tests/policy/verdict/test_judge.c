#include "tests/support.h"

#include "policy/verdict/internal.h"

/* One limit list with one limit of up to two bounds. */
struct one {
    struct tg_bound bound[2];
    struct tg_limit limit;
    struct tg_limit_list list;
};

static const struct tg_limit_list *limit(struct one *o, struct tg_bound a, const struct tg_bound *b)
{
    o->bound[0] = a;
    if (b)
        o->bound[1] = *b;
    o->limit = (struct tg_limit){ o->bound, b ? 2 : 1, TG_NOWHERE };
    o->list = (struct tg_limit_list){ TG_LIMIT_ON, &o->limit, 1, TG_NOWHERE };
    return &o->list;
}

static const struct tg_limit_list off = { .state = TG_LIMIT_OFF };

static struct tg_bound bound(enum tg_bound_kind kind, double value)
{
    return (struct tg_bound){ .kind = kind, .value = value };
}

/* The state by one failing limit. */
static enum tg_state judged_by(const struct tg_probe *p, struct tg_bound b)
{
    struct one o;
    return tg_judge(p, &off, limit(&o, b, NULL)).state;
}

/* Counts: exact, strictly greater. 10 -> 11 is +10 %, which pct: 10 lets pass. */
TEST(exceed_means_strictly_greater)
{
    static const struct {
        double base, test, value;
        enum tg_bound_kind kind;
        enum tg_polarity bad;
        enum tg_state want;
    } c[] = {
        { 10, 11, 10, TG_BOUND_PCT, TG_MORE_IS_BAD, TG_STATE_PASS },
        { 10, 12, 10, TG_BOUND_PCT, TG_MORE_IS_BAD, TG_STATE_FAIL },
        { 10, 10, 0, TG_BOUND_ABS, TG_MORE_IS_BAD, TG_STATE_PASS },
        { 10, 11, 0, TG_BOUND_ABS, TG_MORE_IS_BAD, TG_STATE_FAIL },
        { 10, 9, 0, TG_BOUND_ABS, TG_MORE_IS_BAD, TG_STATE_PASS },
        { 10, 9, 0, TG_BOUND_ABS, TG_LESS_IS_BAD, TG_STATE_FAIL },
        { 10, 11, 0, TG_BOUND_ABS, TG_LESS_IS_BAD, TG_STATE_PASS },
        { 10, 9, 0, TG_BOUND_ABS, TG_ANY_IS_BAD, TG_STATE_FAIL },
        { 0, 1, 1000, TG_BOUND_PCT, TG_MORE_IS_BAD, TG_STATE_FAIL }, /* from nothing: never inf */
        { 0, 18, 18, TG_BOUND_MAX, TG_MORE_IS_BAD, TG_STATE_PASS },
        { 0, 19, 18, TG_BOUND_MAX, TG_MORE_IS_BAD, TG_STATE_FAIL },
        { 0, 17, 18, TG_BOUND_MIN, TG_LESS_IS_BAD, TG_STATE_FAIL },
        { 0, 18, 18, TG_BOUND_MIN, TG_LESS_IS_BAD, TG_STATE_PASS },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct tg_probe p = { .base = c[i].base,
                              .test = c[i].test,
                              .exact = true,
                              .bad = c[i].bad,
                              .unit = TG_UNIT_COUNT };
        enum tg_state got = judged_by(&p, bound(c[i].kind, c[i].value));
        if (got != c[i].want)
            fail_msg("row %zu: got %s", i, tg_state_name(got));
    }
}

/* Another device: a change tells nothing, a budget on the fresh side does. */
TEST(what_is_incomparable_is_judged_by_budgets_alone)
{
    struct one fail, warn;
    struct tg_probe p = { .base = 10,
                          .test = 20,
                          .exact = true,
                          .unit = TG_UNIT_COUNT,
                          .incomparable = "the two sides ran on different devices" };
    struct tg_judgement j = tg_judge(&p, &off, limit(&fail, bound(TG_BOUND_ABS, 0), NULL));
    assert_int_equal(j.state, TG_STATE_NOT_JUDGED);
    assert_string_equal(j.why_not, p.incomparable);
    assert_int_equal(judged_by(&p, bound(TG_BOUND_MAX, 15)), TG_STATE_FAIL);
    assert_int_equal(judged_by(&p, bound(TG_BOUND_MAX, 20)), TG_STATE_PASS);
    j = tg_judge(&p, limit(&warn, bound(TG_BOUND_ABS, 0), NULL),
                 limit(&fail, bound(TG_BOUND_MAX, 15), NULL));
    assert_int_equal(j.state, TG_STATE_FAIL);
    j = tg_judge(&p, limit(&warn, bound(TG_BOUND_ABS, 0), NULL),
                 limit(&fail, bound(TG_BOUND_MAX, 20), NULL));
    assert_int_equal(j.state, TG_STATE_NOT_JUDGED); /* the budget is kept, the change not judged */
}

static struct tg_probe timed(struct tg_evidence *ev, double base, double test)
{
    return (struct tg_probe){
        .base = base, .test = test, .ev = ev, .step_ns = 10e6, .unit = TG_UNIT_NS
    };
}

/* What is shown is measured, whatever was taken off before it was judged: 1000 -> 2000 ns is +100
 * %, and a limit asks the 600 ns (+60 %) that the machine does not explain. */
TEST(what_is_shown_is_measured_and_what_is_judged_is_the_evidence)
{
    struct tg_evidence ev = {
        .why_not = TG_JUDGED, .delta_ns = 600, .e = log(1.6), .proven = true
    };
    struct tg_probe p = timed(&ev, 1000, 2000);
    assert_true(tg_probe_measured_pct(&p) == 100);
    assert_int_equal(judged_by(&p, bound(TG_BOUND_PCT, 59)), TG_STATE_FAIL);
    assert_int_equal(judged_by(&p, bound(TG_BOUND_PCT, 61)), TG_STATE_PASS);
    assert_int_equal(judged_by(&p, bound(TG_BOUND_ABS, 599)), TG_STATE_FAIL);
    assert_int_equal(judged_by(&p, bound(TG_BOUND_ABS, 601)), TG_STATE_PASS);
}

/* Of device work less than tau warns where it is proven; more than a steady device varies by. */
TEST(steady_work_warns_below_the_threshold_of_the_runs)
{
    static const struct {
        double e, steady_tau;
        bool proven;
        enum tg_state want;
    } cases[] = {
        { 0.05, 0.02, true, TG_STATE_WARN },  { 0.05, 0, true, TG_STATE_PASS },
        { 0.05, 0.02, false, TG_STATE_PASS }, { 0.015, 0.02, true, TG_STATE_PASS },
        { 0.10, 0.02, true, TG_STATE_FAIL },
    };
    struct tg_bound tau = { .kind = TG_BOUND_PCT, .is_auto = true };
    struct one o;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tg_evidence ev = { .why_not = TG_JUDGED,
                                  .proven = cases[i].proven,
                                  .tau = 0.08,
                                  .steady_tau = cases[i].steady_tau,
                                  .e = cases[i].e };
        struct tg_probe p = timed(&ev, 1000, 1100);
        struct tg_judgement j = tg_judge(&p, &off, limit(&o, tau, NULL));
        assert_int_equal(j.state, cases[i].want);
        assert_int_equal(j.reason,
                         cases[i].want == TG_STATE_WARN ? TG_REASON_STEADY : TG_REASON_NONE);
    }
}

TEST(points_and_nothing_at_all)
{
    struct one o;
    struct tg_probe p = { .base = 10, .test = 12, .exact = true, .unit = TG_UNIT_PERCENT };
    assert_int_equal(judged_by(&p, bound(TG_BOUND_PP, 2)), TG_STATE_PASS);
    p.test = 12.5;
    assert_int_equal(judged_by(&p, bound(TG_BOUND_PP, 2)), TG_STATE_FAIL);
    p.base = p.test = 0; /* 0 % of nothing is no change */
    assert_int_equal(judged_by(&p, bound(TG_BOUND_PCT, 5)), TG_STATE_PASS);
    p.test = 3;
    (void)limit(&o, bound(TG_BOUND_ABS, 0), NULL);
    o.limit.n = 0; /* a limit without bounds limits nothing */
    assert_int_equal(tg_judge(&p, &off, &o.list).state, TG_STATE_PASS);
    p.unchanged = true; /* a budget asks the fresh side, whatever the counting rule says */
    p.bad = TG_LESS_IS_BAD;
    assert_int_equal(judged_by(&p, bound(TG_BOUND_MIN, 4)), TG_STATE_FAIL);
    assert_int_equal(judged_by(&p, bound(TG_BOUND_MAX, 2)), TG_STATE_FAIL);
    assert_int_equal(judged_by(&p, bound(TG_BOUND_ABS, 0)), TG_STATE_PASS);
}

/* Without evidence a time is not judged, but by budgets and where the policy asks for none. */
TEST(a_time_without_evidence_is_not_judged)
{
    struct one o;
    struct tg_probe p = timed(NULL, 1000, 2000);
    struct tg_judgement j = tg_judge(&p, &off, limit(&o, bound(TG_BOUND_ABS, 0), NULL));
    assert_int_equal(j.state, TG_STATE_NOT_JUDGED);
    assert_non_null(j.why_not);
    j = tg_judge(&p, &off, limit(&o, bound(TG_BOUND_ABS, 5000), NULL)); /* also where it is kept */
    assert_int_equal(j.state, TG_STATE_NOT_JUDGED);
    assert_non_null(j.why_not);
    assert_int_equal(judged_by(&p, bound(TG_BOUND_MAX, 5000)), TG_STATE_PASS);
    p.noise_test = TG_NOISE_NONE;
    assert_int_equal(judged_by(&p, bound(TG_BOUND_ABS, 5000)), TG_STATE_PASS);
    assert_int_equal(judged_by(&p, bound(TG_BOUND_ABS, 0)), TG_STATE_FAIL);
}

/* Of two limits the worse one counts, in either order, and a budget needs no proof. */
TEST(the_worst_limit_counts)
{
    struct tg_bound change = bound(TG_BOUND_ABS, 0), budget = bound(TG_BOUND_MAX, 1500);
    struct tg_evidence unproven = { .why_not = TG_JUDGED, .delta_ns = 1000, .e = log(2) };
    struct tg_evidence *const evidence[] = { NULL, &unproven };
    for (int swapped = 0; swapped < 2; swapped++)
        for (int i = 0; i < 2; i++) {
            struct tg_limit v[2] = { { swapped ? &budget : &change, 1, TG_NOWHERE },
                                     { swapped ? &change : &budget, 1, TG_NOWHERE } };
            struct tg_limit_list both = { TG_LIMIT_ON, v, 2, TG_NOWHERE };
            struct tg_probe p = timed(evidence[i], 1000, 2000);
            struct tg_judgement j = tg_judge(&p, &off, &both);
            assert_int_equal(j.state, TG_STATE_FAIL);
            assert_ptr_equal(j.limit, &v[!swapped]);
        }
}

/* A failure that is not proven hides no warning; of two that are not,
 * the failure's limit is told. */
TEST(a_warning_beside_a_failure)
{
    struct tg_evidence unproven = { .why_not = TG_JUDGED, .delta_ns = 1000, .e = log(2) };
    const struct tg_bound change = bound(TG_BOUND_ABS, 0), far = bound(TG_BOUND_ABS, 5000),
                          broken = bound(TG_BOUND_MAX, 1500), kept = bound(TG_BOUND_MAX, 5000);
    const struct {
        struct tg_bound fail, warn;
        enum tg_state want;
        bool by_warn, by_fail;
    } rows[] = {
        { change, broken, TG_STATE_WARN, true, false },
        { change, kept, TG_STATE_PASS, false, true },
        { change, change, TG_STATE_PASS, false, true },
        { far, change, TG_STATE_PASS, true, false },
        { broken, broken, TG_STATE_FAIL, false, true },
        { far, kept, TG_STATE_PASS, false, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct one fail, warn;
        struct tg_probe p = timed(&unproven, 1000, 2000);
        struct tg_judgement j =
            tg_judge(&p, limit(&warn, rows[i].warn, NULL), limit(&fail, rows[i].fail, NULL));
        const struct tg_limit *want = rows[i].by_warn   ? &warn.limit
                                      : rows[i].by_fail ? &fail.limit
                                                        : NULL;
        if (j.state != rows[i].want || j.limit != want)
            fail_msg("row %zu: %s", i, tg_state_name(j.state));
    }
}

/* Reasons that say "nothing is wrong" pass; those that say "we could not look" do not. */
TEST(some_reasons_are_harmless)
{
    for (enum tg_judged why = TG_NOT_FEW_RUNS; why <= TG_NOT_INTEGRITY; why++) {
        bool harmless = why == TG_NOT_ONE_SIDED || why == TG_NOT_COUNT_CHANGED ||
                        why == TG_NOT_COUNT_VARIES || why == TG_NOT_REPLACED;
        struct tg_evidence ev = { .why_not = why };
        struct tg_probe p = timed(&ev, 1000, 2000);
        struct one o;
        struct tg_judgement j = tg_judge(&p, &off, limit(&o, bound(TG_BOUND_ABS, 0), NULL));
        assert_int_equal(j.state, harmless ? TG_STATE_PASS : TG_STATE_NOT_JUDGED);
        assert_string_equal(j.why_not, tg_judged_text(why));
        p.few_runs = "few"; /* the rule's own number of runs */
        j = tg_judge(&p, &off, limit(&o, bound(TG_BOUND_ABS, 0), NULL));
        assert_string_equal(j.why_not, why == TG_NOT_FEW_RUNS ? "few" : tg_judged_text(why));
    }
}

TEST(how_many_runs_are_needed)
{
    TG_ARENA *a = tg_arena_new();
    assert_string_equal(tg_few_runs_text(3, a), "too few runs a side: 3 needed, 5 better");
    assert_string_equal(tg_few_runs_text(4, a), "too few runs a side: 4 needed, 5 better");
    assert_string_equal(tg_few_runs_text(5, a), "too few runs a side: 5 needed");
}

/* 100 us -> 130 us of a step of 10 ms: +30 %, 0.3 % of the step. */
TEST(every_bound_must_be_exceeded)
{
    struct one o;
    struct tg_bound pct = bound(TG_BOUND_PCT, 20), step = bound(TG_BOUND_ABS, 0.2), more = step;
    struct tg_probe p = { .base = 100e3,
                          .test = 130e3,
                          .exact = true,
                          .step_ns = 10e6,
                          .bad = TG_MORE_IS_BAD,
                          .unit = TG_UNIT_NS };
    step.of_step = more.of_step = true;
    more.value = 0.4;
    assert_int_equal(tg_judge(&p, &off, limit(&o, pct, &step)).state, TG_STATE_FAIL);
    assert_int_equal(tg_judge(&p, &off, limit(&o, pct, &more)).state, TG_STATE_PASS);
    assert_int_equal(tg_judge(&p, limit(&o, pct, &step), &off).state, TG_STATE_WARN);
}

/* A step of every fresh run is slow: a warning where the limit is `auto`, not under a limit of the
 * policy's own, and not beside a failure. */
TEST(slow_steps_are_a_warning)
{
    struct one o;
    struct tg_evidence ev = { .why_not = TG_JUDGED, .tau = 0.08, .some_steps = true };
    struct tg_probe p = timed(&ev, 100e3, 100e3);
    struct tg_bound by_noise = { .kind = TG_BOUND_PCT, .is_auto = true };
    struct tg_judgement j = tg_judge(&p, &off, limit(&o, by_noise, NULL));
    assert_int_equal(j.state, TG_STATE_WARN);
    assert_int_equal(j.reason, TG_REASON_SOME_STEPS);
    j = tg_judge(&p, limit(&o, by_noise, NULL), &off);
    assert_true(j.state == TG_STATE_WARN && j.reason == TG_REASON_SOME_STEPS);
    j = tg_judge(&p, &off, limit(&o, bound(TG_BOUND_PCT, 20), NULL));
    assert_true(j.state == TG_STATE_PASS && !j.reason);
    ev.e = log(1.3);
    ev.proven = true;
    j = tg_judge(&p, &off, limit(&o, by_noise, NULL));
    assert_int_equal(j.state, TG_STATE_FAIL);
    assert_int_equal(j.reason, TG_REASON_NONE);
    ev = (struct tg_evidence){ .why_not = TG_JUDGED, .tau = 0.08 };
    assert_int_equal(judged_by(&p, by_noise), TG_STATE_PASS);
    p.ev = NULL;
    p.noise_test = TG_NOISE_NONE; /* no evidence, and none asked for */
    assert_int_equal(judged_by(&p, by_noise), TG_STATE_PASS);
}

/* What most runs show warns, under a size of the rule's own too. */
TEST(what_is_nearly_proven_warns)
{
    struct tg_evidence ev = { .why_not = TG_JUDGED, .tau = 0.08, .e = log(1.3) };
    struct tg_probe p = timed(&ev, 100e3, 130e3);
    struct tg_bound by_noise = { .kind = TG_BOUND_PCT, .is_auto = true };
    assert_int_equal(judged_by(&p, bound(TG_BOUND_PCT, 20)), TG_STATE_PASS);
    assert_int_equal(judged_by(&p, by_noise), TG_STATE_PASS);
    ev.some_runs = 2;
    assert_int_equal(judged_by(&p, bound(TG_BOUND_PCT, 40)), TG_STATE_PASS);
    assert_int_equal(judged_by(&p, bound(TG_BOUND_PCT, 20)), TG_STATE_WARN);
    assert_int_equal(judged_by(&p, by_noise), TG_STATE_WARN);
}

/* A size of the policy's own is about the mean, too; `auto` and a budget are not. */
TEST(what_is_a_size_of_its_own)
{
    struct tg_bound tau = { .kind = TG_BOUND_PCT, .is_auto = true }, ns = bound(TG_BOUND_ABS, 5);
    struct one o, p;
    assert_true(tg_limit_lists_have_size(&off, limit(&o, bound(TG_BOUND_PCT, 10), NULL)));
    assert_true(tg_limit_lists_have_size(limit(&o, bound(TG_BOUND_PCT, 10), NULL), &off));
    assert_false(tg_limit_lists_have_size(&off, limit(&o, bound(TG_BOUND_MAX, 10), NULL)));
    assert_false(tg_limit_lists_have_size(&off, limit(&o, tau, NULL)));
    assert_false(tg_limit_lists_have_size(&off, limit(&o, tau, &ns))); /* beside auto */
    assert_true(tg_limit_lists_have_size(limit(&o, tau, NULL), limit(&p, ns, NULL)));
}

/* From nothing there is no percentage, whatever the evidence counts from. */
TEST(nothing_before_has_no_percentage)
{
    struct tg_evidence ev = { .why_not = TG_JUDGED, .delta_ns = 600, .e = log(600) };
    struct tg_probe p = timed(&ev, 0, 600);
    assert_true(isnan(tg_probe_measured_pct(&p)));
    p.base = 1;
    assert_true(fabs(tg_probe_measured_pct(&p) - 59900) < 1e-6);
}
