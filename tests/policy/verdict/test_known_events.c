/* Failures that an event of the history explains: what is no more than the event warns. */
#include "by_hand.h"

static const struct tg_known *known;
static size_t asked[TG_KNOWN_TREND + 1];

static size_t ask(void *arg, enum tg_known_from from, const struct tg_known **out)
{
    (void)arg;
    asked[from]++;
    *out = known;
    return (known->what == TG_KNOWN_FAILURE) == (from == TG_KNOWN_NIGHTS);
}

/* The state of one failure after one event. */
static struct tg_result *explained(struct hand *h, const struct tg_known *k, struct tg_result r)
{
    known = k;
    memset(asked, 0, sizeof asked);
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

static struct tg_result failure(enum tg_unit unit, double base, double test)
{
    return (struct tg_result){ .state = TG_STATE_FAIL,
                               .subject = TG_SUBJECT_NAME,
                               .op_kind = TG_KIND_OP,
                               .plain = TG_SV("aten::mm"),
                               .unit_id = unit,
                               .has_values = true,
                               .base = base,
                               .test = test,
                               .delta = test - base,
                               .evidence = TG_SV("exact") };
}

/* 3 calls became 5 in the event: 3 to 5 is that, 3 to 6 and 4 to 5 are more. */
WITH_HAND(calls_are_the_events_own)
{
    struct tg_known k = name_event(TG_KIND_OP, "aten::mm");
    const struct tg_result *r;
    k.exact = true;
    k.before = 3;
    k.after = 5;
    r = explained(h, &k, failure(TG_UNIT_COUNT, 3, 5));
    assert_int_equal(r->state, TG_STATE_WARN);
    assert_true(tg_sv_eq(r->event, TG_SV("12")));
    assert_true(tg_sv_eq(r->evidence, TG_SV("exact; since night 9, commit abc, open: event 12")));
    assert_true(
        tg_sv_starts(r->next, TG_SV("Fix it, or accept it: tracegate history accept 12 --reason")));
    assert_int_equal(explained(h, &k, failure(TG_UNIT_COUNT, 3, 6))->state, TG_STATE_FAIL);
    assert_int_equal(explained(h, &k, failure(TG_UNIT_COUNT, 4, 5))->state, TG_STATE_FAIL);
    k.exact = false; /* its time changed, not its calls */
    assert_int_equal(explained(h, &k, failure(TG_UNIT_COUNT, 3, 5))->state, TG_STATE_FAIL);
}

/* An event of +20 % explains ln 1.2 = 0.182 and a quarter of it, 0.228: up to +25.6 %. */
WITH_HAND(times_up_to_a_quarter_more)
{
    struct tg_known k = name_event(TG_KIND_OP, "aten::mm");
    k.e = log(1.2);
    assert_int_equal(explained(h, &k, failure(TG_UNIT_NS, 100, 120))->state, TG_STATE_WARN);
    assert_int_equal(explained(h, &k, failure(TG_UNIT_NS, 100, 125))->state, TG_STATE_WARN);
    assert_int_equal(explained(h, &k, failure(TG_UNIT_NS, 100, 126))->state, TG_STATE_FAIL);
    k.e = -k.e; /* it got faster in the event */
    assert_int_equal(explained(h, &k, failure(TG_UNIT_NS, 100, 105))->state, TG_STATE_FAIL);
}

/* An event of +2 % explains 2 % more: ln 1.02 + 0.02 = 0.0398, up to +4.06 %. */
WITH_HAND(small_events_have_two_percent)
{
    struct tg_known k = name_event(TG_KIND_OP, "aten::mm");
    k.e = log(1.02);
    assert_int_equal(explained(h, &k, failure(TG_UNIT_NS, 1000, 1040))->state, TG_STATE_WARN);
    assert_int_equal(explained(h, &k, failure(TG_UNIT_NS, 1000, 1041))->state, TG_STATE_FAIL);
}

/* What came with the event has no time before it: its calls are explained, its time is not. */
WITH_HAND(a_new_name_may_not_get_slower)
{
    struct tg_known k = name_event(TG_KIND_OP, "aten::mm");
    k.exact = true;
    k.after = 2;
    k.e = INFINITY;
    assert_int_equal(explained(h, &k, failure(TG_UNIT_COUNT, 0, 2))->state, TG_STATE_WARN);
    assert_int_equal(explained(h, &k, failure(TG_UNIT_NS, 0, 50))->state, TG_STATE_FAIL);
    assert_int_equal(explained(h, &k, failure(TG_UNIT_NS, 10, 50))->state, TG_STATE_FAIL);
}

WITH_HAND(another_name_kind_or_dimension)
{
    struct tg_result r = failure(TG_UNIT_NS, 100, 120);
    struct tg_known k = name_event(TG_KIND_OP, "aten::add");
    k.e = log(1.2);
    assert_int_equal(explained(h, &k, failure(TG_UNIT_NS, 100, 120))->state, TG_STATE_FAIL);
    k = name_event(TG_KIND_KERNEL, "aten::mm");
    k.e = log(1.2);
    assert_int_equal(explained(h, &k, failure(TG_UNIT_NS, 100, 120))->state, TG_STATE_FAIL);
    k.kind = TG_KIND_OP; /* the history has calls and times, no parts of a whole */
    assert_int_equal(explained(h, &k, r)->state, TG_STATE_WARN);
    assert_int_equal(explained(h, &k, failure(TG_UNIT_PERCENT, 100, 120))->state, TG_STATE_FAIL);
    r.subject = TG_SUBJECT_TRACE;
    assert_int_equal(explained(h, &k, r)->state, TG_STATE_FAIL);
}

/* The event cost 1000 ns a step: 1250 are a quarter more. */
WITH_HAND(the_step_by_its_cost)
{
    struct tg_known k = { .what = TG_KNOWN_STEP, .cost_ns = 1000, .text = TG_SV("x") };
    struct tg_result r = failure(TG_UNIT_NS, 10000, 11250);
    r.subject = TG_SUBJECT_TRACE;
    r.metric = TG_RULE_METRIC_STEP_TIME;
    assert_int_equal(explained(h, &k, r)->state, TG_STATE_WARN);
    r.test = 11251;
    r.delta = 1251;
    assert_int_equal(explained(h, &k, r)->state, TG_STATE_FAIL);
    r.delta = -1000; /* faster, for a rule of both directions */
    assert_int_equal(explained(h, &k, r)->state, TG_STATE_FAIL);
    r.delta = 1000;
    r.metric = tg_rule_metric_of(TG_METRIC_IDLE);
    assert_int_equal(explained(h, &k, r)->state, TG_STATE_FAIL);
}

/* `fail_on: [open]` fails until somebody accepts; an accepted event has no next step. */
WITH_HAND(open_events_may_fail)
{
    struct tg_known k = name_event(TG_KIND_OP, "aten::mm");
    const struct tg_result *r;
    k.e = log(1.2);
    h->policy.fail_on = TG_FAIL_ON_OPEN;
    r = explained(h, &k, failure(TG_UNIT_NS, 100, 120));
    assert_int_equal(r->state, TG_STATE_FAIL);
    assert_true(tg_sv_has(r->evidence, TG_SV(": `fail_on` makes it a failure")));
    k.accepted = true;
    r = explained(h, &k, failure(TG_UNIT_NS, 100, 120));
    assert_int_equal(r->state, TG_STATE_WARN);
    assert_int_equal(r->next.n, 0);
}

/* The history is read where it may help, and no event excuses a budget. */
WITH_HAND(asked_for_failures_alone)
{
    struct tg_known k = name_event(TG_KIND_OP, "aten::mm");
    struct tg_result r = failure(TG_UNIT_NS, 100, 120);
    k.e = log(1.2);
    (void)explained(h, &k, r);
    assert_int_equal(asked[TG_KNOWN_EVENTS], 1);
    assert_int_equal(asked[TG_KNOWN_NIGHTS], 0);
    r.over_budget = true;
    assert_int_equal(explained(h, &k, r)->state, TG_STATE_FAIL);
    assert_int_equal(asked[TG_KNOWN_EVENTS] + asked[TG_KNOWN_NIGHTS], 0);
    r.over_budget = false;
    r.state = TG_STATE_WARN;
    assert_int_equal(explained(h, &k, r)->event.n, 0);
    assert_int_equal(asked[TG_KNOWN_EVENTS] + asked[TG_KNOWN_NIGHTS], 0);
    r.state = TG_STATE_FAIL;
    r.has_values = false; /* what is known is numbers */
    assert_int_equal(explained(h, &k, r)->state, TG_STATE_FAIL);
    assert_int_equal(asked[TG_KNOWN_EVENTS] + asked[TG_KNOWN_NIGHTS], 0);
    hand_results(
        h, (struct tg_result[]){ failure(TG_UNIT_COUNT, 1, 2), failure(TG_UNIT_COUNT, 1, 3) }, 2);
    tg_known_explain(&h->e);
    assert_int_equal(asked[TG_KNOWN_EVENTS], 1);
    assert_int_equal(asked[TG_KNOWN_NIGHTS], 1);
}

/* A failure as night 9 had it. */
static struct tg_known night_9(struct tg_result r)
{
    struct tg_known k;
    assert_true(tg_known_failure(&r, &k));
    k.text = TG_SV("since night 9, commit abc, open");
    return k;
}

static struct tg_result timed(enum tg_rule_metric metric, double base, double test)
{
    struct tg_result r = failure(TG_UNIT_NS, base, test);
    r.rule = TG_SV("slower");
    r.op = r.op_normalised = TG_SV("aten::mm");
    r.metric = metric;
    return r;
}

/*
 * Night 9 had 100 -> 130: ln 1.3 = 0.262, a quarter of it 0.066. Up to 100 exp(0.328) = 138.8 it is
 * the same failure; and the baseline may have gone up to 100 exp(0.066) = 106.8, or what is above
 * it is new.
 */
WITH_HAND(a_failure_of_an_earlier_night)
{
    static const struct {
        double base, test;
        enum tg_state state;
    } cases[] = {
        { 100, 130, TG_STATE_WARN }, { 100, 138, TG_STATE_WARN }, { 100, 140, TG_STATE_FAIL },
        { 106, 138, TG_STATE_WARN }, { 108, 138, TG_STATE_FAIL }, { 130, 138, TG_STATE_FAIL },
        { 90, 120, TG_STATE_WARN },  { 130, 169, TG_STATE_FAIL },
    };
    struct tg_known k = night_9(timed(TG_RULE_METRIC_SELF, 100, 130));
    const struct tg_result *r;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (explained(h, &k, timed(TG_RULE_METRIC_SELF, cases[i].base, cases[i].test))->state !=
            cases[i].state)
            fail_msg("%g to %g", cases[i].base, cases[i].test);
    r = explained(h, &k, timed(TG_RULE_METRIC_SELF, 100, 130));
    assert_true(tg_sv_eq(r->evidence, TG_SV("exact; since night 9, commit abc, open")));
    assert_true(tg_sv_starts(r->next, TG_SV("Fix it. More nights make it an event")));
    assert_int_equal(r->event.n, 0);
    assert_int_equal(asked[TG_KNOWN_EVENTS], 1);
    assert_int_equal(asked[TG_KNOWN_NIGHTS], 1);
    h->policy.fail_on = TG_FAIL_ON_OPEN;
    assert_int_equal(explained(h, &k, timed(TG_RULE_METRIC_SELF, 100, 130))->state, TG_STATE_FAIL);
}

/* A night's failure is of one rule, name, kind, metric and value;
 * another of the same size is new. */
WITH_HAND(of_the_same_thing_alone)
{
    const struct tg_result same = timed(TG_RULE_METRIC_SELF, 100, 130);
    struct tg_result cases[8];
    struct tg_known k = night_9(same);
    assert_int_equal(explained(h, &k, same)->state, TG_STATE_WARN);
    for (size_t i = 0; i < 8; i++)
        cases[i] = same;
    cases[0].metric = TG_RULE_METRIC_TOTAL;
    cases[1].rule = TG_SV("other");
    cases[2].op_normalised = TG_SV("aten::add");
    cases[3].op_kind = TG_KIND_KERNEL;
    cases[4].subject = TG_SUBJECT_TRACE;
    cases[5].unit_id = TG_UNIT_BYTES;
    cases[6].waiver_ended = true;
    cases[7].test = 70; /* the other direction, for a rule of both */
    for (size_t i = 0; i < 8; i++)
        if (explained(h, &k, cases[i])->state != TG_STATE_FAIL)
            fail_msg("case %zu", i);
}

/* Before the night an event explains it: then the night says nothing more of it. */
static size_t ask_both(void *arg, enum tg_known_from from, const struct tg_known **out)
{
    *out = (const struct tg_known *)arg + from;
    return 1;
}

WITH_HAND(told_once)
{
    struct tg_known k[TG_KNOWN_TREND] = {
        [TG_KNOWN_EVENTS] = name_event(TG_KIND_OP, "aten::mm"),
        [TG_KNOWN_NIGHTS] = night_9(timed(TG_RULE_METRIC_SELF, 100, 130)),
    };
    k[TG_KNOWN_EVENTS].e = log(1.3);
    h->policy.fail_on = TG_FAIL_ON_OPEN;
    h->in.ask_known = ask_both;
    h->in.known_arg = k;
    hand_results(h, (struct tg_result[]){ timed(TG_RULE_METRIC_SELF, 100, 130) }, 1);
    tg_known_explain(&h->e);
    hand_text(h->e.results[0].evidence,
              "exact; since night 9, commit abc, open: event 12: `fail_on` makes it a failure");
}

/* A waiver that ended fails until somebody accepts the event that it was about. */
WITH_HAND(an_ended_waiver)
{
    struct tg_known k = name_event(TG_KIND_OP, "aten::mm");
    struct tg_result r = failure(TG_UNIT_NS, 100, 120);
    k.e = log(1.2);
    r.waiver_ended = true;
    assert_int_equal(explained(h, &k, r)->state, TG_STATE_FAIL);
    k.accepted = true;
    assert_int_equal(explained(h, &k, r)->state, TG_STATE_WARN);
}

/*
 * Percentages in points, rates that fall, counts as they are, and what is new. A rate of 100 -> 50:
 * ln 2 = 0.693 and a quarter, 0.866, down to 42.1. A percentage of 0 -> 4: up to 5, from at most 1.
 */
WITH_HAND(each_dimension_in_its_own_way)
{
    static const struct {
        enum tg_unit unit_id;
        double then[2], now[2];
        enum tg_state state;
    } cases[] = {
        { TG_UNIT_PERCENT, { 10, 14 }, { 10, 15 }, TG_STATE_WARN },
        { TG_UNIT_PERCENT, { 10, 14 }, { 10, 15.1 }, TG_STATE_FAIL },
        { TG_UNIT_PERCENT, { 0, 4 }, { 0, 5 }, TG_STATE_WARN },
        { TG_UNIT_PERCENT, { 0, 4 }, { 1, 5 }, TG_STATE_WARN },
        { TG_UNIT_PERCENT, { 0, 4 }, { 1.1, 5 }, TG_STATE_FAIL },
        { TG_UNIT_PERCENT, { 0, 4 }, { 0, 5.1 }, TG_STATE_FAIL },
        { TG_UNIT_RATE, { 100, 50 }, { 100, 43 }, TG_STATE_WARN },
        { TG_UNIT_RATE, { 100, 50 }, { 100, 41 }, TG_STATE_FAIL },
        { TG_UNIT_COUNT, { 20, 40 }, { 20, 40 }, TG_STATE_WARN },
        { TG_UNIT_COUNT, { 20, 40 }, { 20, 41 }, TG_STATE_FAIL }, /* exact: no quarter */
        { TG_UNIT_COUNT, { 20, 40 }, { 21, 40 }, TG_STATE_FAIL },
        { TG_UNIT_COUNT, { 0, 4 }, { 0, 4 }, TG_STATE_WARN },
        { TG_UNIT_COUNT, { 0, 4 }, { 0, 5 }, TG_STATE_FAIL },
        { TG_UNIT_BYTES, { 100, 101 }, { 100, 102 }, TG_STATE_WARN },
        { TG_UNIT_NS, { 0, 40 }, { 0, 50 }, TG_STATE_WARN },
        { TG_UNIT_NS, { 0, 40 }, { 0, 51 }, TG_STATE_FAIL },
        { TG_UNIT_NS, { 0, 40 }, { 30, 40 }, TG_STATE_FAIL }, /* no longer new: slower */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tg_result then = timed(TG_RULE_METRIC_SELF, cases[i].then[0], cases[i].then[1]);
        struct tg_result now = timed(TG_RULE_METRIC_SELF, cases[i].now[0], cases[i].now[1]);
        then.unit_id = now.unit_id = cases[i].unit_id;
        struct tg_known k = night_9(then);
        if (explained(h, &k, now)->state != cases[i].state)
            fail_msg("case %zu", i);
    }
}

/* Budgets, warnings, guards and ended waivers are not what a later night may repeat. */
WITH_HAND(what_fails_every_night)
{
    struct tg_known k;
    struct tg_result r = timed(TG_RULE_METRIC_SELF, 100, 130);
    assert_true(tg_known_failure(&r, &k));
    r.over_budget = true;
    assert_false(tg_known_failure(&r, &k));
    r = timed(TG_RULE_METRIC_SELF, 100, 130);
    r.state = TG_STATE_WARN;
    assert_false(tg_known_failure(&r, &k));
    r = timed(TG_RULE_METRIC_SELF, 100, 130);
    r.has_values = false;
    assert_false(tg_known_failure(&r, &k));
    r = timed(TG_RULE_METRIC_SELF, 100, 130);
    r.waiver_ended = true;
    assert_false(tg_known_failure(&r, &k));
}
