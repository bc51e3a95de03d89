#include "tests/support.h"

#include <math.h>

#include "policy/verdict/judge.h"

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

/* Counts: exact, strictly greater. 10 -> 11 is +10 %, which pct: 10 lets pass. */
static void exceed_means_strictly_greater(void **state)
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
    (void)state;
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct one o;
        struct tg_probe p = { .base = c[i].base,
                              .test = c[i].test,
                              .exact = true,
                              .bad = c[i].bad,
                              .unit = TG_UNIT_COUNT };
        struct tg_judgement j = tg_judge(&p, &off, limit(&o, bound(c[i].kind, c[i].value), NULL));
        if (j.state != c[i].want)
            fail_msg("row %zu: got %s", i, tg_state_name(j.state));
    }
}

/* Another device: a change tells nothing, a budget on the candidate does. */
static void what_is_incomparable_is_judged_by_budgets_alone(void **state)
{
    struct one fail, warn;
    struct tg_probe p = { .base = 10,
                          .test = 20,
                          .exact = true,
                          .unit = TG_UNIT_COUNT,
                          .incomparable = "the two sides ran on different devices" };
    struct tg_judgement j = tg_judge(&p, &off, limit(&fail, bound(TG_BOUND_ABS, 0), NULL));
    (void)state;
    assert_int_equal(j.state, TG_STATE_NOT_JUDGED);
    assert_string_equal(j.why_not, p.incomparable);
    j = tg_judge(&p, &off, limit(&fail, bound(TG_BOUND_MAX, 15), NULL));
    assert_int_equal(j.state, TG_STATE_FAIL);
    j = tg_judge(&p, &off, limit(&fail, bound(TG_BOUND_MAX, 20), NULL));
    assert_int_equal(j.state, TG_STATE_PASS);
    j = tg_judge(&p, limit(&warn, bound(TG_BOUND_ABS, 0), NULL),
                 limit(&fail, bound(TG_BOUND_MAX, 15), NULL));
    assert_int_equal(j.state, TG_STATE_FAIL);
    j = tg_judge(&p, limit(&warn, bound(TG_BOUND_ABS, 0), NULL),
                 limit(&fail, bound(TG_BOUND_MAX, 20), NULL));
    assert_int_equal(j.state, TG_STATE_NOT_JUDGED); /* the budget is kept, the change not judged */
}

/* 100 us -> 130 us of a step of 10 ms: +30 %, 0.3 % of the step. */
static void every_bound_must_be_exceeded(void **state)
{
    struct one o;
    struct tg_bound pct = bound(TG_BOUND_PCT, 20), step = bound(TG_BOUND_ABS, 0.2), more = step;
    struct tg_probe p = { .base = 100e3,
                          .test = 130e3,
                          .exact = true,
                          .step_ns = 10e6,
                          .bad = TG_MORE_IS_BAD,
                          .unit = TG_UNIT_NS };
    (void)state;
    step.of_step = more.of_step = true;
    more.value = 0.4;
    assert_int_equal(tg_judge(&p, &off, limit(&o, pct, &step)).state, TG_STATE_FAIL);
    assert_int_equal(tg_judge(&p, &off, limit(&o, pct, &more)).state, TG_STATE_PASS);
    assert_int_equal(tg_judge(&p, limit(&o, pct, &step), &off).state, TG_STATE_WARN);
}

static void durations_need_size_and_proof(void **state)
{
    struct one o;
    struct tg_evidence ev = { .judged = TG_JUDGED,
                              .e = log(1.3),
                              .delta_ns = 30e3,
                              .z = 3.5,
                              .se = 0.2 / 3.5,
                              .tau = 0.08,
                              .p = 1.0 / 252,
                              .p_limit = 1.0 / 252,
                              .proven = true,
                              .value = { 100e3, 130e3 } };
    struct tg_probe p = { .base = 100e3,
                          .test = 130e3,
                          .ev = &ev,
                          .step_ns = 10e6,
                          .bad = TG_MORE_IS_BAD,
                          .unit = TG_UNIT_NS };
    const struct tg_limit_list *fail = limit(&o, bound(TG_BOUND_PCT, 20), NULL);
    (void)state;
    assert_int_equal(tg_judge(&p, &off, fail).state, TG_STATE_FAIL);
    ev.proven = false;
    assert_int_equal(tg_judge(&p, &off, fail).state, TG_STATE_PASS); /* within the noise */
    p.test_kind = TG_NOISE_NONE;
    assert_int_equal(tg_judge(&p, &off, fail).state, TG_STATE_FAIL); /* the bare limit */
}

static void few_runs_never_fail(void **state)
{
    struct one o;
    struct tg_evidence ev = { .judged = TG_NOT_FEW_RUNS, .e = log(2) };
    struct tg_probe p = { .base = 100e3,
                          .test = 200e3,
                          .ev = &ev,
                          .step_ns = 10e6,
                          .bad = TG_MORE_IS_BAD,
                          .unit = TG_UNIT_NS };
    struct tg_judgement j = tg_judge(&p, &off, limit(&o, bound(TG_BOUND_PCT, 20), NULL));
    (void)state;
    assert_int_equal(j.state, TG_STATE_NOT_JUDGED);
    assert_non_null(j.why_not);
    ev.suspicious = true;
    j = tg_judge(&p, &off, limit(&o, bound(TG_BOUND_PCT, 20), NULL));
    assert_int_equal(j.state, TG_STATE_SUSPICIOUS);
    /* A budget needs no evidence and no second run. */
    j = tg_judge(&p, &off, limit(&o, bound(TG_BOUND_MAX, 150e3), NULL));
    assert_int_equal(j.state, TG_STATE_FAIL);
    j = tg_judge(&p, &off, limit(&o, bound(TG_BOUND_MAX, 1e9), NULL));
    assert_int_equal(j.state, TG_STATE_PASS);
    /* A rule without any limit has kept no budget. */
    assert_int_equal(tg_judge(&p, &off, &off).state, TG_STATE_NOT_JUDGED);
}

static void a_rule_that_changes_nothing_is_silent(void **state)
{
    struct one o;
    struct tg_probe p = { .base = 10,
                          .test = 12,
                          .exact = true,
                          .unchanged = true,
                          .bad = TG_MORE_IS_BAD,
                          .unit = TG_UNIT_COUNT };
    (void)state; /* polling: counts differ by chance, the counting rule says unchanged */
    assert_int_equal(tg_judge(&p, &off, limit(&o, bound(TG_BOUND_ABS, 0), NULL)).state,
                     TG_STATE_PASS);
    p.unchanged = false;
    assert_int_equal(tg_judge(&p, &off, limit(&o, bound(TG_BOUND_ABS, 0), NULL)).state,
                     TG_STATE_FAIL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exceed_means_strictly_greater),
        cmocka_unit_test(what_is_incomparable_is_judged_by_budgets_alone),
        cmocka_unit_test(every_bound_must_be_exceeded),
        cmocka_unit_test(durations_need_size_and_proof),
        cmocka_unit_test(few_runs_never_fail),
        cmocka_unit_test(a_rule_that_changes_nothing_is_silent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
