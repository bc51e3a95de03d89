/* The rule for one operator by one estimate: size, error, rank, and what a change has to be. */
#include "by_hand.h"
#include "core/diff/internal.h"

enum { RUNS = 5 };
static const double base_us[RUNS] = { 100, 101, 102, 103, 104 };

/* Five runs a side of `base_us` and of `test_us`, in ns; the machine tells nothing. */
struct asked {
    struct tg_diff_work w;
    struct tg_machine m;
    struct tg_run_values v;
    double y[2][RUNS];
};

static void ask(struct fixture *f, struct asked *q, const double *test_us)
{
    *q = (struct asked){ .w = { .c = &f->c, .a = f->a } };
    f->c.n_runs[TG_BASE] = f->c.n_runs[TG_TEST] = RUNS;
    f->c.step_ns[TG_BASE] = f->c.step_ns[TG_TEST] = 1e6;
    q->w.rank[0] = q->w.rank[1] = tg_rank_table_new(RUNS, RUNS, f->a);
    for (size_t i = 0; i < RUNS; i++) {
        q->y[TG_BASE][i] = 1000 * base_us[i];
        q->y[TG_TEST][i] = 1000 * test_us[i];
    }
    for (int side = 0; side < 2; side++)
        q->v.y[TG_LEAST][side] = q->y[side];
}

static struct tg_evidence answer(struct asked *q, struct tg_aim aim)
{
    struct tg_evidence ev = { .why_not = TG_JUDGED };
    tg_evidence_fill(&q->w, &ev, &q->v, &q->m, aim, TG_ESTIMATE_LEAST);
    return ev;
}

/*
 * 102 -> 152 us. Harmful are the baseline's 103 and 104 and the fresh 150 and 151: the variance is
 * 2/8 of the sum of their squares. Moderated by itself it stays, and SE^2 is two fifths of it. All
 * 5 fresh runs are above all 5 others: 1 of C(10, 5) = 252 orders.
 */
BY_HAND(the_pieces_by_hand)
{
    static const double test_us[] = { 150, 151, 152, 153, 154 };
    double a = log(103.0 / 102), b = log(104.0 / 102), c = log(150.0 / 152), d = log(151.0 / 152);
    double variance = (a * a + b * b + c * c + d * d) * 2 / 8;
    struct tg_threshold t = tg_threshold_of(RUNS, RUNS);
    struct asked q;
    struct tg_evidence ev;
    ask(f, &q, test_us);
    ev = answer(&q, (struct tg_aim){ 0 });
    near(ev.value[TG_BASE], 102000);
    near(ev.value[TG_TEST], 152000);
    near(ev.e, log(152.0 / 102));
    near(ev.delta_ns, 50000);
    near(ev.se, sqrt(variance * 2 / 5));
    near(ev.mde, expm1(fmax(log1p(t.tau), t.z * ev.se)));
    near(ev.p, 1.0 / 252);
    assert_true(ev.above == 5 && ev.pairs == 5);
    assert_true(ev.proven && ev.slower && !ev.faster);
}

/* Slower by less than tau, or by less than the floor, is proven and not enough. */
BY_HAND(what_a_slowdown_has_to_be)
{
    static const double much[] = { 150, 151, 152, 153, 154 },
                        little[] = { 104.1, 104.2, 104.3, 104.4, 104.5 },
                        mixed[] = { 150, 151, 152, 101.5, 154 },
                        same[] = { 100, 101, 102, 103, 104 }, less[] = { 50, 51, 52, 53, 54 };
    double tau = tg_threshold_of(RUNS, RUNS).tau;
    struct asked q;
    struct tg_evidence ev;
    ask(f, &q, much);
    assert_true(answer(&q, (struct tg_aim){ .floor = 49999 }).slower);
    ev = answer(&q, (struct tg_aim){ .floor = 50001 });
    assert_true(ev.proven && !ev.slower);
    ask(f, &q, little);
    assert_true(104.3 / 102 - 1 < tau);
    assert_false(answer(&q, (struct tg_aim){ 0 }).slower);
    ask(f, &q, mixed); /* one run among the baseline's: p is above 1/252, and its limit is 2/252 */
    ev = answer(&q, (struct tg_aim){ 0 });
    assert_int_equal(ev.above, 4);
    assert_false(ev.slower);
    ask(f, &q, same);
    assert_false(answer(&q, (struct tg_aim){ 0 }).proven);
    ask(f, &q, less);
    ev = answer(&q, (struct tg_aim){ 0 });
    assert_true(!ev.slower && ev.faster);
}

/* The machine's factor is taken off; a tick of the clock is the least error there is. */
BY_HAND(the_machine_and_the_clock)
{
    static const double much[] = { 150, 151, 152, 153, 154 };
    struct tg_evidence ev;
    struct asked q;
    ask(f, &q, much);
    q.m.of[TG_FORWARD][TG_ESTIMATE_LEAST].c = log(152.0 / 102);
    ev = answer(&q, (struct tg_aim){ 0 });
    near(ev.value[TG_TEST], 152000); /* as measured */
    near(ev.delta_ns, 0);
    near(ev.e, 0);
    assert_false(ev.proven);
    ask(f, &q, much);
    ev = answer(&q, (struct tg_aim){ .tick = 60000 });
    near(ev.se * ev.z, log1p(60.0 / 102));
    assert_false(ev.proven); /* 50 us are less than the tick of 60 */
}

static bool is_suspicious(struct asked *q)
{
    struct tg_evidence ev = { .why_not = TG_NOT_FEW_RUNS };
    tg_evidence_fill(&q->w, &ev, &q->v, &q->m, (struct tg_aim){ 0 }, TG_ESTIMATE_LEAST);
    return ev.suspicious;
}

/* Too few runs: large and apart is suspicious; judged ones are never. */
BY_HAND(what_is_not_judged_may_be_suspicious)
{
    static const double much[] = { 150, 151, 152, 153, 154 }, some[] = { 120, 121, 122, 123, 124 };
    struct tg_evidence ev = { .why_not = TG_NOT_FEW_RUNS };
    struct asked q;
    ask(f, &q, much); /* +49 %, 5 % of the step */
    tg_evidence_fill(&q.w, &ev, &q.v, &q.m, (struct tg_aim){ 0 }, TG_ESTIMATE_LEAST);
    assert_true(ev.suspicious && !ev.slower && ev.why_not == TG_NOT_FEW_RUNS);
    assert_false(answer(&q, (struct tg_aim){ 0 }).suspicious);
    ask(f, &q, some); /* +20 %, not 30 */
    assert_false(is_suspicious(&q));
}

/* So it has to be in both halves of the steps, on a quiet machine, with the same data. */
BY_HAND(what_a_disturbance_explains_is_not_suspicious)
{
    static const double much[] = { 150, 151, 152, 153, 154 };
    double half[2][2][RUNS];
    struct asked q;
    ask(f, &q, much);
    for (size_t i = 0; i < RUNS; i++)
        for (int k = 0; k < 2; k++) {
            half[k][TG_BASE][i] = 1000 * base_us[i];
            half[k][TG_TEST][i] = 1000 * much[i];
        }
    for (int side = 0; side < 2; side++) {
        q.v.y[TG_LEAST_FIRST][side] = half[0][side];
        q.v.y[TG_LEAST_LAST][side] = half[1][side];
    }
    assert_true(is_suspicious(&q));
    q.w.busy[TG_DEVICE_TIMES] = true; /* the other clock */
    assert_true(is_suspicious(&q));
    q.w.busy[TG_HOST_TIMES] = true;
    assert_false(is_suspicious(&q));
    q.w.busy[TG_HOST_TIMES] = false;
    f->c.other_data = true;
    assert_false(is_suspicious(&q));
    f->c.other_data = false;
    for (size_t i = 0; i < RUNS; i++)
        half[1][TG_TEST][i] = 1000 * base_us[i]; /* the last steps are as before */
    assert_false(is_suspicious(&q));
}

/* One run a side cannot tell how it varies: its halves do. +49 %, log 0.40; 4 z of the threshold
 * times the root of 2 v, v the mean of half the squares of 0 and log(1 + `apart`). */
BY_HAND(one_run_varies_as_its_halves_do)
{
    double base = 102000, test = 152000, first[2] = { base, test }, last[2] = { base, 0 };
    for (int apart = 10; apart <= 20; apart += 10) {
        struct asked q = { .w = { .c = &f->c, .a = f->a } };
        double z = tg_threshold_of(1, 1).z, e = log(test / base), h = log1p(apart / 100.0);
        f->c.n_runs[TG_BASE] = f->c.n_runs[TG_TEST] = 1;
        f->c.step_ns[TG_BASE] = f->c.step_ns[TG_TEST] = 1e6;
        q.w.rank[0] = q.w.rank[1] = tg_rank_table_new(1, 1, f->a);
        last[TG_TEST] = test * (1 + apart / 100.0);
        for (int side = 0; side < 2; side++) {
            q.v.y[TG_LEAST][side] = side ? &test : &base;
            q.v.y[TG_LEAST_FIRST][side] = &first[side];
            q.v.y[TG_LEAST_LAST][side] = &last[side];
        }
        assert_int_equal(is_suspicious(&q), e > z * sqrt(2 * (h * h / 2 / 2)));
        assert_int_equal(is_suspicious(&q), apart == 10);
    }
}

/* Judged in both directions: the fresh side may be faster. What a busy machine did is held. */
BY_HAND(faster_and_held)
{
    static const double less[] = { 50, 51, 52, 53, 54 }, much[] = { 150, 151, 152, 153, 154 };
    struct tg_evidence ev = { .why_not = TG_JUDGED };
    struct asked q;
    ask(f, &q, less);
    tg_evidence_fill(&q.w, &ev, &q.v, &q.m, (struct tg_aim){ 0 }, TG_ESTIMATE_LEAST);
    assert_true(ev.faster && !ev.slower);
    ask(f, &q, much);
    for (int times = 1; times <= 3; times++) { /* 50 us more: twice the disturbance, or not */
        ev = (struct tg_evidence){ .why_not = TG_NOT_BUSY };
        f->c.wall_ns[TG_BASE] = 2e5;
        f->c.excess = 0.1 * times;
        tg_evidence_fill(&q.w, &ev, &q.v, &q.m, (struct tg_aim){ 0 }, TG_ESTIMATE_LEAST);
        assert_true(ev.withheld == (times > 1) && ev.slower == (times == 1) && !ev.faster);
    }
}
