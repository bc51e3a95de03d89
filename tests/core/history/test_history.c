/*
 * Histories made of plain numbers: eight operators of 100 to 170 us, one kernel-free step of 1080
 * us, noise that repeats (at most 1 %), and what a case changes. What must be said of each is
 * written beside it.
 */
#include "tests/support.h"

#include "core/history/history.h"

enum { OPS = 8, MOST = 80 };

struct box {
    struct tg_arena *a;
    struct tg_series_table series;
    struct tg_night night[MOST];
    struct tg_history h;
};

static void end(struct box *b)
{
    tg_series_release(&b->series);
    tg_arena_free(b->a);
}

/* A history of `n` nights; of one before, nothing stays. */
static void begin(struct box *b, size_t n)
{
    end(b);
    *b = (struct box){ .a = tg_arena_new() };
    tg_series_init(&b->series);
    b->series.v = tg_grow(NULL, &b->series.cap, OPS, sizeof *b->series.v);
    b->series.n = OPS;
    for (uint32_t s = 0; s < OPS; s++)
        b->series.v[s] = (struct tg_series){ .what = TG_SERIES_OP,
                                             .kind = TG_KIND_OP,
                                             .name = tg_sv_of(tg_arena_printf(b->a, "op%u", s)),
                                             .judged = true,
                                             .counted = true,
                                             .worse = 1 };
    for (size_t i = 0; i < n; i++) {
        struct tg_night *night = &b->night[i];
        *night = (struct tg_night){ .commit = tg_sv_of(tg_arena_printf(b->a, "%040zu", i)),
                                    .environment = TG_SV("cpu=a"),
                                    .step_ns = 1080e3,
                                    .v = TG_NEW_N(b->a, struct tg_history_value, OPS),
                                    .n = OPS };
        for (uint32_t s = 0; s < OPS; s++) {
            double noise = (double)((i * 7 + s * 13 + (i * s) % 5) % 11) / 1000 - 0.005;
            double ns = (100 + 10 * s) * 1e3 * exp(noise);
            night->v[s] =
                (struct tg_history_value){ .series = s, .v = log(ns), .plain = ns, .calls = 2 };
        }
    }
    b->h = (struct tg_history){ .night = b->night, .n = n, .series = &b->series };
}

static void slower(struct box *b, uint32_t s, size_t from, size_t to, double factor)
{
    for (size_t i = from; i < to; i++) {
        b->night[i].v[s].v += log(factor);
        b->night[i].v[s].plain *= factor;
    }
}

static void replay(struct box *b)
{
    tg_history_replay(&b->h, TG_SV("s"), b->a);
}

static void replays_to(struct box *b, size_t n_events)
{
    replay(b);
    assert_int_equal(b->h.n_events, n_events);
}

static void nothing(struct box *b)
{
    (void)b;
}
#define CASE(name) TEST_IN(struct box, b, nothing, end, name)

CASE(nothing_changed)
{
    begin(b, 60);
    replays_to(b, 0);
}

/* +10 % of op3 (130 us) from night 20 on: 13 us a step, told with its second night. */
CASE(a_step_is_one_open_event)
{
    const struct tg_history_event *e;
    begin(b, 40);
    slower(b, 3, 20, 40, 1.10);
    replays_to(b, 1);
    e = &b->h.event[0];
    assert_int_equal(e->kind, TG_EVENT_REGRESSION);
    assert_int_equal(e->state, TG_EVENT_STATE_OPEN);
    assert_int_equal(e->n, 1);
    assert_int_equal(e->v[0].series, 3);
    assert_in_range(e->fired, 21, 23);
    assert_int_equal(e->from, 19);
    assert_int_equal(e->to, 20);
    assert_true(fabs(e->delta - 0.10) < 0.01);
    assert_true(fabs(e->cost_ns - 13e3) < 1.5e3);
}

/* Five of eight are called half as often from night 20 on: the machine is no faster for it, and the
 * three others take as long as before. */
CASE(fewer_calls_are_not_the_machine)
{
    begin(b, 26);
    for (uint32_t s = 0; s < 5; s++)
        for (size_t i = 20; i < 26; i++)
            b->night[i].v[s].calls = 1;
    for (uint32_t s = 0; s < 5; s++)
        slower(b, s, 20, 26, 0.5);
    replay(b);
    for (size_t i = 0; i < b->h.n_events; i++)
        for (size_t k = 0; k < b->h.event[i].n; k++)
            assert_true(b->h.event[i].v[k].series < 5);
    for (size_t i = 10; i < 26; i++)
        assert_true(fabs(tg_history_corrected(&b->h, i, 6) - log(160e3)) < 0.02);
}

/* The id is that of the night it was found: later nights do not change it. */
CASE(an_event_keeps_its_id)
{
    char id[13];
    begin(b, 24);
    slower(b, 3, 20, 24, 1.10);
    replays_to(b, 1);
    memcpy(id, b->h.event[0].id, sizeof id);
    begin(b, 60);
    slower(b, 3, 20, 60, 1.10);
    slower(b, 5, 40, 60, 1.20);
    replays_to(b, 2);
    assert_string_equal(b->h.event[0].id, id);
    assert_string_not_equal(b->h.event[1].id, id);
}

/* It is one that was slow alone: +50 % of 130 us is 65 us. Two nights, or a change that stays, are
 * none. */
CASE(one_bad_night_is_no_event)
{
    static const size_t nights[] = { 0, 1, 2, 35 };
    for (size_t i = 0; i < 4; i++) {
        struct tg_lone_night lone[60];
        size_t n;
        begin(b, 60);
        slower(b, 3, 25, 25 + nights[i], 1.5);
        replay(b);
        n = tg_history_lone_nights(&b->h, 0, lone);
        assert_int_equal(n, nights[i] == 1);
        if (n == 0)
            continue;
        assert_int_equal(b->h.n_events, 0);
        assert_int_equal(lone[0].night, 25);
        assert_int_equal(lone[0].series, 3);
        assert_true(fabs(lone[0].cost_ns - 65e3) < 2e3);
        assert_int_equal(tg_history_lone_nights(&b->h, 26, lone), 0);
    }
}

/* Five nights are a spell, twenty were a level that somebody mended. */
CASE(what_comes_back_is_told_so)
{
    begin(b, 60);
    slower(b, 3, 20, 25, 1.3);
    replays_to(b, 1);
    assert_int_equal(b->h.event[0].state, TG_EVENT_STATE_WENT_AWAY);
    begin(b, 60);
    slower(b, 3, 20, 40, 1.3);
    replay(b);
    assert_true(b->h.n_events >= 1);
    assert_int_equal(b->h.event[0].state, TG_EVENT_STATE_FIXED);
    assert_in_range(b->h.event[0].ended, 40, 41);
}

/* Everything by a third is the machine, and no regression of any operator. */
CASE(all_together_is_the_machine)
{
    begin(b, 60);
    for (uint32_t s = 0; s < OPS; s++)
        slower(b, s, 30, 60, 1.3);
    replays_to(b, 1);
    assert_int_equal(b->h.event[0].kind, TG_EVENT_MACHINE);
}

/* With the environment recorded it is a new series of nights, not a change of the old one. */
CASE(an_environment_is_told_and_not_compared)
{
    begin(b, 60);
    for (uint32_t s = 0; s < OPS; s++)
        slower(b, s, 30, 60, 1.0 + 0.1 * s);
    for (size_t i = 30; i < 60; i++)
        b->night[i].environment = TG_SV("cpu=b");
    replays_to(b, 1);
    assert_int_equal(b->h.event[0].kind, TG_EVENT_ENVIRONMENT);
    assert_int_equal(b->h.event[0].to, 30);
    assert_int_equal(b->h.n_streams, 2);
}

CASE(calls_change_at_once)
{
    begin(b, 20);
    b->night[19].v[2].calls = 3;
    replays_to(b, 1);
    assert_int_equal(b->h.event[0].kind, TG_EVENT_CALLS);
    assert_int_equal(b->h.event[0].fired, 19);
    assert_int_equal(b->h.event[0].from, 18);
    assert_true(b->h.event[0].v[0].worse);
}

CASE(random_calls_are_no_event)
{
    begin(b, 40);
    for (size_t i = 0; i < 40; i++)
        b->night[i].v[2].calls = i % 3 == 0 ? (double)NAN : (double)(i % 4);
    replays_to(b, 0);
}

/* Two operators on one night: one event; what one loses and the other gains: moved. */
CASE(one_night_is_one_event)
{
    begin(b, 40);
    slower(b, 1, 20, 40, 1.2);
    slower(b, 5, 20, 40, 1.1);
    replays_to(b, 1);
    assert_int_equal(b->h.event[0].n, 2);
    assert_int_equal(b->h.event[0].v[0].series, 1); /* 22 us against 15 */
    begin(b, 40);
    slower(b, 0, 20, 40, 1.3); /* 100 us: +30 */
    slower(b, 5, 20, 40, 0.8); /* 150 us: -30 */
    replays_to(b, 1);
    assert_int_equal(b->h.event[0].kind, TG_EVENT_MOVED);
}

/* From night `from` on op `s` is called `name` and takes `factor` times as long. The last series of
 * the box is its new name; its first name has no value any more. */
static void renamed(struct box *b, uint32_t s, size_t from, double factor)
{
    uint32_t to = (uint32_t)b->series.n;
    b->series.v = tg_grow(b->series.v, &b->series.cap, to + 1, sizeof *b->series.v);
    b->series.v[to] = b->series.v[s];
    b->series.v[to].name = tg_sv_of(tg_arena_printf(b->a, "new%u", s));
    b->series.n = to + 1;
    for (size_t i = from; i < b->h.n; i++) {
        struct tg_night *night = &b->night[i];
        struct tg_history_value v = night->v[s];
        v.series = to;
        v.v += log(factor);
        v.plain *= factor;
        memmove(&night->v[s], &night->v[s + 1], (night->n - s - 1) * sizeof v);
        night->v[night->n - 1] = v;
    }
}

/* A name that takes the place of another is judged against it: op3 takes 130 us. 30 % more fails
 * (39 us), by one event, in the night that proves it; 30 % less is an improvement; as much is time
 * that moved. */
CASE(what_replaces_a_name_is_judged_against_it)
{
    static const struct {
        double factor;
        enum tg_event_kind kind;
    } rows[] = { { 1.15, TG_EVENT_REGRESSION },
                 { 1.30, TG_EVENT_REGRESSION },
                 { 3.00, TG_EVENT_REGRESSION },
                 { 1.00, TG_EVENT_MOVED },
                 { 0.70, TG_EVENT_IMPROVEMENT } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct tg_history_event *e;
        begin(b, 40);
        renamed(b, 3, 30, rows[i].factor);
        replays_to(b, 1);
        e = &b->h.event[0];
        assert_int_equal(e->kind, rows[i].kind);
        assert_int_equal(e->from, 29);
        assert_int_equal(e->to, 30);
        assert_int_equal(e->fired, 30);
        assert_true(fabs(e->cost_ns - 130e3 * (rows[i].factor - 1)) < 3e3);
        assert_int_equal(e->n, rows[i].factor == 1 ? 2 : 3);
        if (e->n == 2)
            continue;
        assert_int_equal(e->v[0].series, OPS);
        assert_true(fabs(e->v[0].before - 130e3) < 2e3);
        assert_in_range(e->grew, 31, 33);
        /* before that it is a change of calls */
        b->h = (struct tg_history){ .night = b->night, .n = 31, .series = &b->series };
        replays_to(b, 1);
        assert_int_equal(b->h.event[0].n, 2);
        assert_int_equal(tg_history_is_worse(&b->h.event[0]),
                         rows[i].factor > 1 && b->h.event[0].kind == TG_EVENT_CALLS);
    }
}

/* Two of equal calls: the larger takes the place of the larger. 100 us become 120, 170 stay. */
CASE(of_several_the_longest_replaces_the_longest)
{
    begin(b, 40);
    renamed(b, 7, 30, 1.0);
    renamed(b, 0, 30, 1.2);
    replay(b);
    for (size_t i = 0; i < b->h.n_events; i++)
        for (size_t k = 0; k < b->h.event[i].n; k++)
            if (b->h.event[i].v[k].what == TG_MOVED_STEP) {
                assert_int_equal(b->h.event[i].v[k].series, OPS + 1);
                assert_int_equal(b->h.event[i].kind, TG_EVENT_REGRESSION);
                assert_true(fabs(b->h.event[i].cost_ns - 20e3) < 3e3);
                return;
            }
    fail_msg("no step");
}

/* The old name comes back after twelve nights: the event is over. A name with other calls, or of
 * another night, replaces none. */
CASE(a_replacement_that_is_undone)
{
    begin(b, 60);
    renamed(b, 3, 30, 1.3);
    for (size_t i = 42; i < 60; i++) {
        struct tg_night *night = &b->night[i];
        struct tg_history_value v = night->v[night->n - 1];
        v.series = 3;
        v.v -= log(1.3);
        v.plain /= 1.3;
        memmove(&night->v[4], &night->v[3], (night->n - 4) * sizeof v);
        night->v[3] = v;
    }
    replays_to(b, 1);
    assert_int_equal(b->h.event[0].state, TG_EVENT_STATE_FIXED);
    assert_int_equal(b->h.event[0].ended, 42);
    begin(b, 40);
    renamed(b, 3, 30, 1.3);
    for (size_t i = 30; i < 40; i++)
        b->night[i].v[OPS - 1].calls = 3;
    replays_to(b, 2);
}

/* 0.5 % a night from night 15 on, 45 nights: found, as a drift or as steps, and as one thing first.
 */
CASE(a_drift_is_found)
{
    bool found = false;
    begin(b, 60);
    for (size_t i = 15; i < 60; i++)
        slower(b, 4, i, i + 1, pow(1.005, (double)(i - 14)));
    replay(b);
    for (size_t i = 0; i < b->h.n_events; i++) {
        assert_int_equal(b->h.event[i].v[0].series, 4);
        found |= b->h.event[i].fired <= 35;
    }
    assert_true(found);
}

static void drift(struct box *b, uint32_t s, size_t from, size_t to, size_t n, double factor)
{
    for (size_t i = from; i < n; i++)
        slower(b, s, i, i + 1, pow(factor, (double)((i < to ? i : to - 1) - from + 1)));
}

/* 1.5 % a night from night 20 to 29: 1.015^10 = +16.05 %. One event, which says that from its end
 * on, keeps the id of its first night, and holds the nights 20 to 29 in its range. */
CASE(a_drift_is_one_event_that_grows)
{
    char id[13];
    begin(b, 24);
    drift(b, 4, 20, 30, 24, 1.015);
    replays_to(b, 1);
    assert_int_equal(b->h.event[0].kind, TG_EVENT_REGRESSION);
    memcpy(id, b->h.event[0].id, sizeof id);
    for (size_t n = 35; n <= 60; n += 5) {
        const struct tg_history_event *e;
        begin(b, n);
        drift(b, 4, 20, 30, n, 1.015);
        replay(b);
        e = &b->h.event[0];
        assert_int_equal(b->h.n_events, 1);
        assert_string_equal(e->id, id);
        assert_int_equal(e->kind, TG_EVENT_DRIFT);
        assert_int_equal(e->state, TG_EVENT_STATE_OPEN);
        assert_true(fabs(e->delta - 0.1605) < 0.02);
        assert_in_range(e->from, 18, 19);
        assert_in_range(e->to, 27, 30);
        assert_in_range(tg_history_since(e), 19, 20);
        assert_true(e->grew > e->fired);
    }
}

/* 1.5 % a night from night 20 on. On each night its size is that of one of the last three nights;
 * the values differ by 1 % at most. A step of 10 % stays one, whatever night it is. */
CASE(a_drift_is_told_as_it_is_tonight)
{
    for (size_t n = 25; n <= 60; n++) {
        begin(b, n);
        drift(b, 4, 20, 60, n, 1.015);
        replays_to(b, 1);
        double e = log1p(b->h.event[0].delta), nights = (double)(n - 20), us = 140e3;
        assert_true(e > (nights - 2) * log(1.015) - 0.01 && e < nights * log(1.015) + 0.01);
        assert_true(fabs(b->h.event[0].cost_ns - us * b->h.event[0].delta) < 0.01 * us);
        begin(b, n);
        slower(b, 4, 20, n, 1.1);
        replays_to(b, 1);
        assert_true(fabs(b->h.event[0].delta - 0.1) < 0.015);
    }
}

/* 1.5 % a night without end is not over; one whose last night is 29 is, eleven nights later. */
CASE(a_drift_that_goes_on_has_no_end)
{
    for (size_t n = 35; n <= 44; n += 3) {
        begin(b, n);
        drift(b, 4, 20, 60, n, 1.015);
        replays_to(b, 1);
        assert_false(tg_history_is_over(&b->h, &b->h.event[0]));
    }
    begin(b, 36);
    drift(b, 4, 20, 30, 36, 1.015);
    replays_to(b, 1);
    assert_false(tg_history_is_over(&b->h, &b->h.event[0]));
    begin(b, 44);
    drift(b, 4, 20, 30, 44, 1.015);
    replays_to(b, 1);
    assert_in_range(b->h.event[0].to, 27, 30);
    assert_true(tg_history_is_over(&b->h, &b->h.event[0]));
}

/* Two changes of 5 % with twelve quiet nights between are two events, each with its own night. */
CASE(two_steps_are_no_drift)
{
    begin(b, 60);
    slower(b, 4, 22, 60, 1.05);
    slower(b, 4, 34, 60, 1.05);
    replays_to(b, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(b->h.event[i].kind, TG_EVENT_REGRESSION);
        assert_int_equal(b->h.event[i].to, i ? 34 : 22);
        assert_int_equal(b->h.event[i].grew, b->h.event[i].fired);
        assert_true(fabs(b->h.event[i].delta - 0.05) < 0.01);
    }
}

/* 5 % at night 20, 15 % more at night 28: the larger one does not draw the smaller one's place to
 * itself. */
CASE(a_step_keeps_its_place_when_a_larger_one_follows)
{
    begin(b, 60);
    slower(b, 4, 20, 60, 1.05);
    slower(b, 4, 28, 60, 1.15);
    replays_to(b, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(b->h.event[i].to, i ? 28 : 20);
        assert_true(fabs(b->h.event[i].delta - (i ? 0.15 : 0.05)) < 0.01);
    }
}

/* 1.5 % less a night, and nobody has to accept it; twelve nights at the new level, then the old
 * one: it went. */
CASE(a_drift_the_other_way_and_one_that_ends)
{
    begin(b, 60);
    drift(b, 4, 20, 30, 60, 1 / 1.015);
    replays_to(b, 1);
    assert_int_equal(b->h.event[0].kind, TG_EVENT_IMPROVEMENT);
    assert_true(fabs(b->h.event[0].delta + 0.1383) < 0.02);
    begin(b, 60);
    drift(b, 4, 20, 30, 45, 1.015);
    replays_to(b, 1);
    assert_int_equal(b->h.event[0].state, TG_EVENT_STATE_FIXED);
    assert_in_range(b->h.event[0].ended, 45, 46);
}

/* Two operators drift together, and the step with them: one event. */
CASE(what_drifts_together_is_one_event)
{
    begin(b, 60);
    b->series.v[7] = (struct tg_series){ .what = TG_SERIES_METRIC,
                                         .metric = TG_METRIC_STEP_TIME,
                                         .name = TG_SV("step_time"),
                                         .judged = true,
                                         .worse = 1 };
    drift(b, 4, 20, 30, 60, 1.015);
    drift(b, 2, 20, 30, 60, 1.02);
    drift(b, 7, 20, 30, 60, 1.01);
    replays_to(b, 1);
    assert_int_equal(b->h.event[0].kind, TG_EVENT_DRIFT);
    assert_int_equal(b->h.event[0].n, 3);
}

/* One operator takes half as long again from night 18 on, and a total of the step drifts for
 * another reason: the event is of that night, not of all nights on which the total grew. */
CASE(a_step_in_a_total_that_drifts_has_its_night)
{
    const struct tg_history_event *e = NULL;
    begin(b, 24);
    b->series.v[7] = (struct tg_series){ .what = TG_SERIES_METRIC,
                                         .metric = TG_METRIC_COMPUTE_TIME,
                                         .name = TG_SV("compute_time"),
                                         .judged = true,
                                         .worse = 1 };
    slower(b, 4, 18, 24, 1.5);
    drift(b, 7, 10, 24, 24, 1.0012);
    slower(b, 7, 18, 24, 1.053);
    replay(b);
    for (size_t i = 0; i < b->h.n_events; i++)
        if (b->h.event[i].v[0].series == 4)
            e = &b->h.event[i];
    assert_non_null(e);
    assert_true(e->n > 1);
    assert_int_equal(e->kind, TG_EVENT_REGRESSION);
    assert_int_equal(e->from, 17);
    assert_int_equal(tg_history_since(e), 18);
}

/* What op `s` is called from now on: a number of a benchmark, in which the machine's speed is
 * not. */
static void be_a_number(struct box *b, uint32_t s, int worse)
{
    b->series.v[s] = (struct tg_series){ .what = TG_SERIES_NUMBER,
                                         .scale = TG_SCALE_RATIO,
                                         .name = b->series.v[s].name,
                                         .unit = TG_SV("ms"),
                                         .judged = true,
                                         .worse = worse };
}

/* Two numbers rise by 10 % together: more of one is worse, less of the other. Neither costs a step
 * anything, and neither speaks for the other. */
CASE(numbers_that_got_better_and_worse_are_two_events)
{
    begin(b, 40);
    be_a_number(b, 3, 1);
    be_a_number(b, 5, -1);
    slower(b, 3, 20, 40, 1.10);
    slower(b, 5, 20, 40, 1.10);
    replays_to(b, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct tg_history_event *e = &b->h.event[i];
        bool worse = e->v[0].series == 3;
        assert_int_equal(e->n, 1);
        assert_int_equal(e->kind, worse ? TG_EVENT_REGRESSION : TG_EVENT_IMPROVEMENT);
        assert_int_equal(e->to, 20);
        assert_in_range(e->fired, 22, 24); /* the scan alone: not with its second night */
        assert_true(e->cost_ns == 0);
        assert_true(fabs(e->v[0].after / e->v[0].before - 1.10) < 0.01);
    }
}

/* The six names that are left tell the machine's factor of a night; the numbers keep what was
 * measured. */
CASE(nothing_is_taken_off_a_number)
{
    begin(b, 40);
    be_a_number(b, 3, 1);
    for (uint32_t s = 0; s < OPS; s++)
        slower(b, s, 30, 31, 1.05);
    replays_to(b, 0);
    assert_true(fabs(tg_history_corrected(&b->h, 30, 2) - log(120e3)) < 0.01);
    assert_true(fabs(tg_history_corrected(&b->h, 30, 3) - log(1.05 * 130e3)) < 0.01);
}

/* Of five runs the least and the largest count as their neighbours: 2 2 3 4 4 is 4 in squares, over
 * 3 * 2. Of up to three nothing is left out: 1 2 3 is 2, over 3 * 2. One run tells nothing. */
TEST(runs_tell_how_sure_a_night_is)
{
    static const double five[] = { 1, 2, 3, 4, 100 }, three[] = { 1, 2, 3 };
    assert_true(fabs(tg_night_variance(five, 5) - 4.0 / 6) < 1e-12);
    assert_true(fabs(tg_night_variance(three, 3) - 2.0 / 6) < 1e-12);
    assert_true(tg_night_variance(five, 1) == 0);
}

/* Slower or slowly so; calls, where there are more of them. */
TEST(what_a_night_fails_by)
{
    static const struct {
        enum tg_event_kind kind;
        bool more, worse;
    } rows[] = {
        { TG_EVENT_REGRESSION, true, true },   { TG_EVENT_DRIFT, true, true },
        { TG_EVENT_CALLS, true, true },        { TG_EVENT_CALLS, false, false },
        { TG_EVENT_IMPROVEMENT, true, false }, { TG_EVENT_MOVED, true, false },
        { TG_EVENT_MACHINE, true, false },     { TG_EVENT_ENVIRONMENT, true, false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tg_moved_series v[2] = { { .worse = rows[i].more }, { .worse = false } };
        const struct tg_history_event e = { .kind = rows[i].kind, .v = v, .n = 2 };
        assert_int_equal(tg_history_is_worse(&e), rows[i].worse);
    }
}
