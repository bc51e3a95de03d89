/* Failures that an event of the history explains: what is no more than the event warns. */
#include "by_hand.h"

#include <string.h>

static const struct tg_known *known;
static size_t n_known, asked;

static size_t ask(void *arg, const struct tg_known **out)
{
    (void)arg;
    asked++;
    *out = known;
    return n_known;
}

/* The state of one failure after one event. */
static struct tg_result *explained(struct hand *h, const struct tg_known *k, struct tg_result r)
{
    known = k;
    n_known = 1;
    asked = 0;
    free(h->e.results);
    h->e.results = calloc(1, sizeof r);
    h->e.results[0] = r;
    h->e.n = 1;
    h->in.ask_known = ask;
    tg_known_explain(&h->e);
    return &h->e.results[0];
}

static struct tg_known name_event(enum tg_kind kind, const char *name)
{
    return (struct tg_known){ .what = TG_KNOWN_NAME,
                              .kind = kind,
                              .name = tg_sv_of(name),
                              .text = TG_SV("since night 9, commit abc, open: event 12"),
                              .id = TG_SV("12") };
}

static struct tg_result failure(enum tg_dimension dimension, double base, double test)
{
    return (struct tg_result){ .state = TG_STATE_FAIL,
                               .subject = TG_SUBJECT_NAME,
                               .op_kind = TG_KIND_OP,
                               .plain = TG_SV("aten::mm"),
                               .dimension = dimension,
                               .has_values = true,
                               .base = base,
                               .test = test,
                               .delta = test - base,
                               .evidence = TG_SV("exact") };
}

/* 3 calls became 5 in the event: 3 to 5 is that, 3 to 6 and 4 to 5 are more. */
static void calls_are_the_events_own(void **state)
{
    struct hand *h = *state;
    struct tg_known k = name_event(TG_KIND_OP, "aten::mm");
    const struct tg_result *r;

    k.exact = true;
    k.before = 3;
    k.after = 5;
    r = explained(h, &k, failure(TG_DIM_COUNT, 3, 5));
    assert_int_equal(r->state, TG_STATE_WARN);
    assert_true(tg_sv_eq(r->event, TG_SV("12")));
    assert_true(tg_sv_eq(r->evidence, TG_SV("exact; since night 9, commit abc, open: event 12")));
    assert_true(
        tg_sv_starts(r->next, TG_SV("Fix it, or accept it: tracegate history accept 12 --reason")));
    assert_int_equal(explained(h, &k, failure(TG_DIM_COUNT, 3, 6))->state, TG_STATE_FAIL);
    assert_int_equal(explained(h, &k, failure(TG_DIM_COUNT, 4, 5))->state, TG_STATE_FAIL);
    k.exact = false; /* its time changed, not its calls */
    assert_int_equal(explained(h, &k, failure(TG_DIM_COUNT, 3, 5))->state, TG_STATE_FAIL);
}

/* An event of +20 % explains ln 1.2 = 0.182 and a quarter of it, 0.228: up to +25.6 %. */
static void times_up_to_a_quarter_more(void **state)
{
    struct hand *h = *state;
    struct tg_known k = name_event(TG_KIND_OP, "aten::mm");

    k.e = log(1.2);
    assert_int_equal(explained(h, &k, failure(TG_DIM_DURATION, 100, 120))->state, TG_STATE_WARN);
    assert_int_equal(explained(h, &k, failure(TG_DIM_DURATION, 100, 125))->state, TG_STATE_WARN);
    assert_int_equal(explained(h, &k, failure(TG_DIM_DURATION, 100, 126))->state, TG_STATE_FAIL);
    k.e = -k.e; /* it got faster in the event */
    assert_int_equal(explained(h, &k, failure(TG_DIM_DURATION, 100, 105))->state, TG_STATE_FAIL);
}

/* An event of +2 % explains 2 % more: ln 1.02 + 0.02 = 0.0398, up to +4.06 %. */
static void small_events_have_two_percent(void **state)
{
    struct hand *h = *state;
    struct tg_known k = name_event(TG_KIND_OP, "aten::mm");

    k.e = log(1.02);
    assert_int_equal(explained(h, &k, failure(TG_DIM_DURATION, 1000, 1040))->state, TG_STATE_WARN);
    assert_int_equal(explained(h, &k, failure(TG_DIM_DURATION, 1000, 1041))->state, TG_STATE_FAIL);
}

/* What came with the event has no time before it: its calls are explained, its time is not. */
static void a_new_name_may_not_get_slower(void **state)
{
    struct hand *h = *state;
    struct tg_known k = name_event(TG_KIND_OP, "aten::mm");

    k.exact = true;
    k.after = 2;
    k.e = INFINITY;
    assert_int_equal(explained(h, &k, failure(TG_DIM_COUNT, 0, 2))->state, TG_STATE_WARN);
    assert_int_equal(explained(h, &k, failure(TG_DIM_DURATION, 0, 50))->state, TG_STATE_FAIL);
    assert_int_equal(explained(h, &k, failure(TG_DIM_DURATION, 10, 50))->state, TG_STATE_FAIL);
}

static void another_name_or_kind(void **state)
{
    struct hand *h = *state;
    struct tg_known k = name_event(TG_KIND_OP, "aten::add");

    k.e = log(1.2);
    assert_int_equal(explained(h, &k, failure(TG_DIM_DURATION, 100, 120))->state, TG_STATE_FAIL);
    k = name_event(TG_KIND_KERNEL, "aten::mm");
    k.e = log(1.2);
    assert_int_equal(explained(h, &k, failure(TG_DIM_DURATION, 100, 120))->state, TG_STATE_FAIL);
}

/* The event cost 1000 ns a step: 1250 are a quarter more. */
static void the_step_by_its_cost(void **state)
{
    struct hand *h = *state;
    struct tg_known k = { .what = TG_KNOWN_STEP, .cost_ns = 1000, .text = TG_SV("x") };
    struct tg_result r = failure(TG_DIM_DURATION, 10000, 11250);

    r.subject = TG_SUBJECT_TRACE;
    r.metric = TG_METRIC_STEP_TIME;
    assert_int_equal(explained(h, &k, r)->state, TG_STATE_WARN);
    r.test = 11251;
    r.delta = 1251;
    assert_int_equal(explained(h, &k, r)->state, TG_STATE_FAIL);
    r.delta = 1000;
    r.metric = tg_metric_of(TG_MEASURE_IDLE);
    assert_int_equal(explained(h, &k, r)->state, TG_STATE_FAIL);
}

/* `fail_on: [open]` fails until somebody accepts; an accepted event has no next step. */
static void open_events_may_fail(void **state)
{
    struct hand *h = *state;
    struct tg_known k = name_event(TG_KIND_OP, "aten::mm");
    const struct tg_result *r;

    k.e = log(1.2);
    h->policy.fail_on = TG_FAIL_ON_OPEN;
    r = explained(h, &k, failure(TG_DIM_DURATION, 100, 120));
    assert_int_equal(r->state, TG_STATE_FAIL);
    assert_true(tg_sv_has(r->evidence, TG_SV(": `fail_on` makes it a failure")));
    k.accepted = true;
    r = explained(h, &k, failure(TG_DIM_DURATION, 100, 120));
    assert_int_equal(r->state, TG_STATE_WARN);
    assert_int_equal(r->next.n, 0);
}

/* The history is read where it may help, and no event excuses a budget. */
static void asked_for_failures_alone(void **state)
{
    struct hand *h = *state;
    struct tg_known k = name_event(TG_KIND_OP, "aten::mm");
    struct tg_result r = failure(TG_DIM_DURATION, 100, 120);

    k.e = log(1.2);
    (void)explained(h, &k, r);
    assert_int_equal(asked, 1);
    r.over_budget = true;
    assert_int_equal(explained(h, &k, r)->state, TG_STATE_FAIL);
    assert_int_equal(asked, 0);
    r.over_budget = false;
    r.state = TG_STATE_WARN;
    assert_int_equal(explained(h, &k, r)->event.n, 0);
    assert_int_equal(asked, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        hand_test(calls_are_the_events_own),      hand_test(times_up_to_a_quarter_more),
        hand_test(small_events_have_two_percent), hand_test(a_new_name_may_not_get_slower),
        hand_test(another_name_or_kind),          hand_test(the_step_by_its_cost),
        hand_test(open_events_may_fail),          hand_test(asked_for_failures_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
