/*
 * Which times are asked again (judge_rows.c), and what becomes of them; on comparisons made by hand
 * of a step of 1 ms. From 4 % on and p <= .075 % new runs confirm, or 1.5 % what one look proved
 * (core/diff/numbers.h).
 */
#include "by_hand.h"

#include "core/diff/confirm.h"

enum { NEW = 8 };
struct staged {
    struct hand h;
    struct tg_comparison again;
    struct tg_asking asking;
    struct tg_op first[2], second[2];
    double x[2][NEW];
};

static void stage(struct staged *s)
{
    hand_set_up(&s->h);
    s->asking = tg_asking_of(5, 0, 17, .2);
    s->h.c.asking = &s->asking;
    s->first[0] = s->second[0] = hand_op("aten::mm", TG_KIND_OP);
    s->first[0].ev = hand_evidence(100000, .1);
    s->h.c.ops = s->first;
    s->h.c.n_ops = 1;
    s->again = s->h.c;
    s->again.asking = NULL;
    s->again.ops = s->second;
    s->h.rule.metric = TG_RULE_METRIC_SELF;
    s->h.rule.fail = hand_auto(&s->h);
}

static void strike(struct staged *s)
{
    hand_tear_down(&s->h);
}

#define ON_STAGE(name) TEST_IN(struct staged, s, stage, strike, name)

static const struct tg_result *judged(struct staged *s)
{
    return hand_judge(&s->h, &s->first[0]);
}

/* Evidence of NEW runs a side that vary by up to `wide` (ln), without a pattern. */
static struct tg_evidence evidence_of(struct staged *s, double base, double more, double wide)
{
    struct tg_evidence ev = hand_evidence(base, more);
    uint32_t state = 3;
    for (int i = 0; i < 2 * NEW; i++) {
        state = state * 1664525u + 1013904223u;
        s->x[i % 2][i / 2] = wide * (double)(state >> 8) / (1 << 24) + (i % 2 ? ev.e : 0);
    }
    for (int side = 0; side < 2; side++) {
        ev.x[side] = s->x[side];
        ev.n_x[side] = NEW;
    }
    return ev;
}

/* The new runs, of which `more` is what they show. */
static void run_again(struct staged *s, double more, double wide)
{
    s->asking = tg_asking_of(5, NEW, 17, .2);
    s->asking.again = &s->again;
    s->second[0].ev = evidence_of(s, 200000, more, wide);
}

/* Of the step's gaps as of names: a busy machine withholds what looks slower. */
ON_STAGE(gaps_that_a_busy_machine_withholds_are_open)
{
    struct tg_comparison *c = &s->h.c;
    const struct tg_quantity gaps = { TG_QUANTITY_GAP, &c->step, &c->step.ev, NULL };
    for (int withheld = 0; withheld <= 1; withheld++) {
        size_t n = s->h.e.n;
        c->step = hand_op("ProfilerStep", TG_KIND_STEP);
        c->step.ev = hand_evidence(100000, .5);
        c->step.ev.why_not = TG_NOT_BUSY;
        c->step.ev.withheld = withheld;
        s->h.rule.metric = TG_RULE_METRIC_STEP_TIME;
        tg_judge_quantity(&s->h.e, &s->h.rule, &gaps);
        assert_int_equal(s->h.e.n, n + (size_t)withheld);
    }
    assert_int_equal(s->h.e.results[s->h.e.n - 1].ev->asked, TG_ASKED_OPEN);
}

ON_STAGE(what_looks_slower_is_open_until_new_runs_tell)
{
    const struct tg_result *r = judged(s);
    assert_int_equal(r->state, TG_STATE_NOT_JUDGED);
    assert_int_equal(r->ev->asked, TG_ASKED_OPEN);
    assert_string_equal(r->why_not, "it looks slower, and new runs are asked");
    run_again(s, .1, .001);
    r = judged(s);
    assert_int_equal(r->state, TG_STATE_FAIL);
    hand_near(r->base, 200000); /* the numbers are of the new runs, and of their shift */
    assert_true(fabs(r->test - 220000) < 500);
    hand_near(r->test, r->base * exp(r->ev->e));
    run_again(s, -.01, .001);
    r = judged(s);
    assert_int_equal(r->state, TG_STATE_PASS);
    assert_int_equal(r->ev->asked, TG_ASKED_CLEARED);
    run_again(s, .3, 2); /* no proof, and 20 % is not excluded */
    assert_int_equal(judged(s)->ev->asked, TG_ASKED_OPEN);
    s->asking.next = 0;
    r = judged(s);
    assert_int_equal(r->state, TG_STATE_NOT_JUDGED);
    assert_int_equal(r->ev->asked, TG_ASKED_UNTOLD);
    s->again.n_ops = 0; /* the new runs lack the name */
    assert_int_equal(judged(s)->ev->asked, TG_ASKED_UNTOLD);
}

ON_STAGE(only_what_the_rule_would_fail_by_is_asked)
{
    s->h.rule.fail = hand_limit(&s->h, TG_BOUND_PCT, 15);
    s->first[0].ev.proven = false;
    assert_int_equal(judged(s)->state, TG_STATE_PASS); /* +10 % is within the limit */
    s->h.rule.warn = hand_auto(&s->h);
    s->h.rule.fail = (struct tg_limit_list){ .state = TG_LIMIT_OFF };
    s->first[0].ev.proven = true;
    assert_int_equal(judged(s)->state, TG_STATE_WARN); /* what only warns is told by one look */
    s->h.rule.fail = hand_auto(&s->h);
    s->asking.early = true; /* one run a side: no time is asked */
    assert_int_equal(judged(s)->ev->asked, TG_ASKED_NOT);
    s->h.c.asking = NULL;
    assert_int_equal(judged(s)->state, TG_STATE_FAIL);
}

/* A part of the step beside `auto` is for one look; alone, or with a size, it is meant. */
ON_STAGE(a_part_of_the_step_beside_auto)
{
    struct tg_bound *b = TG_NEW_N(s->h.a, struct tg_bound, 2);
    struct tg_limit *l = TG_NEW(s->h.a, struct tg_limit);
    b[0] = (struct tg_bound){ .kind = TG_BOUND_PCT, .is_auto = true };
    b[1] = (struct tg_bound){ .kind = TG_BOUND_ABS, .of_step = true, .value = 3 };
    *l = (struct tg_limit){ b, 2, TG_NOWHERE };
    s->h.rule.fail = (struct tg_limit_list){ TG_LIMIT_ON, l, 1, TG_NOWHERE };
    run_again(s, .1, .001); /* 20 us are 2 % of the step */
    assert_int_equal(judged(s)->state, TG_STATE_FAIL);
    b[0] = (struct tg_bound){ .kind = TG_BOUND_PCT, .value = 5 };
    assert_int_equal(judged(s)->state, TG_STATE_PASS);
}

/* Of what is no name only what one look proves is asked. */
ON_STAGE(a_metric_of_the_trace)
{
    struct tg_metric_change *m = &s->h.c.metrics[TG_METRIC_HOST_TIME];
    struct tg_metric_change *other = &s->again.metrics[TG_METRIC_HOST_TIME];
    s->h.rule.metric = tg_rule_metric_of(TG_METRIC_HOST_TIME);
    *m = (struct tg_metric_change){ .id = TG_METRIC_HOST_TIME, .known = { true, true } };
    *other = *m;
    m->ev = hand_evidence(1000000, .1);
    assert_int_equal(hand_judge(&s->h, NULL)->ev->asked, TG_ASKED_OPEN);
    run_again(s, 0, .001);
    other->ev = evidence_of(s, 1000000, .1, .001);
    assert_int_equal(hand_judge(&s->h, NULL)->state, TG_STATE_FAIL);
    m->ev.proven = false;
    assert_int_equal(hand_judge(&s->h, NULL)->ev->asked, TG_ASKED_NOT);
}
