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
    assert_true(ev.above == 5 && ev.n_x[TG_TEST] == 5);
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

/* ---- run values as logarithms, and the speeds of the runs' machines. Numbers by hand ---- */

static struct tg_diff_work work_of(struct fixture *f)
{
    f->c.n_runs[TG_BASE] = f->c.n_runs[TG_TEST] = 3;
    return (struct tg_diff_work){ .c = &f->c, .a = f->a };
}

/* Medians 200 and 50. Above its median the baseline has one run, by ln 2; below, the fresh side has
 * none: 2 (ln 2)^2 / (3 + 3 - 2). */
BY_HAND(medians_and_harmful_noise)
{
    struct tg_diff_work w = work_of(f);
    double base[] = { 100, 400, 200 }, test[] = { 50, 50, 50 };
    double *const y[2] = { base, test };
    struct tg_logs l = tg_logs_of_values(&w, y, false);
    near(l.median[TG_BASE], log(200));
    near(l.median[TG_TEST], log(50));
    near(l.x[TG_BASE][1], log(400)); /* in the order of the runs */
    near(l.variance, log(2) * log(2) / 2);
    l = tg_logs_of_values(&w, y, true); /* now the run below its median is the harmful one */
    near(l.median[TG_BASE], log(50));
    near(l.x[TG_TEST][0], log(100));
    near(l.variance, log(2) * log(2) / 2);
    base[1] = 200;
    near(tg_logs_of_values(&w, y, false).variance, 0);
}

BY_HAND(nothing_counts_as_a_nanosecond)
{
    struct tg_diff_work w = work_of(f);
    double base[] = { 0, 0, 0.5 }, test[] = { 1, 1, 1 };
    double *const y[2] = { base, test };
    near(tg_logs_of_values(&w, y, false).median[TG_BASE], 0);
}

/* The second run's machine was half as fast: what follows it is divided, what does not is left. */
BY_HAND(speeds_are_taken_off_where_that_helps)
{
    static const struct {
        double base[3];
        bool levelled;
    } cases[] = {
        { { 100, 200, 100 }, true },  /* follows the machine: no noise is left */
        { { 100, 100, 100 }, false }, /* does not: it would get noise */
        { { 100, 150, 100 }, false }, /* half of it: (ln 2/1.5)^2 is half of (ln 1.5)^2 */
        { { 100, 180, 100 }, true },  /* ln(2/1.8)^2 is 0.03 of ln(1.8)^2 */
    };
    double slow[] = { 1, 2, 1 }, even[] = { 1, 1, 1 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tg_diff_work w = work_of(f);
        double base[3], test[] = { 100, 100, 100 }, mean[] = { 300, 300, 300 };
        struct tg_run_values v = { .y = {
                                       [TG_LEAST] = { base, test }, [TG_MEAN] = { mean, NULL } } };
        memcpy(base, cases[i].base, sizeof base);
        tg_logs_level(&w, &v); /* no speeds are known */
        assert_false(v.levelled);
        w.speed[TG_HOST_TIMES][TG_BASE] = slow;
        w.speed[TG_HOST_TIMES][TG_TEST] = even;
        tg_logs_level(&w, &v);
        if (v.levelled != cases[i].levelled)
            fail_msg("row %zu", i);
        near(base[1], cases[i].base[1] / (cases[i].levelled ? 2 : 1));
        near(mean[1], cases[i].levelled ? 150 : 300); /* the other statistics go along */
        tg_logs_level(&w, &v);                        /* once */
        near(mean[1], cases[i].levelled ? 150 : 300);
        near(test[1], 100);
    }
}

/* ---- whose durations are judged, and why others are not ---- */

BY_HAND(every_reason_has_words_of_its_own)
{
    assert_null(tg_judged_text(TG_JUDGED));
    for (enum tg_judged j = TG_JUDGED + 1; j <= TG_NOT_OTHER_DATA; j++)
        for (enum tg_judged k = TG_JUDGED + 1; k < j; k++)
            assert_string_not_equal(tg_judged_text(j), tg_judged_text(k));
}

/* A step time that is 0 or 1 run a side: the reason that holds for all is told for all. */
BY_HAND(reasons_that_hold_for_all)
{
    for (size_t runs = 2; runs <= 3; runs++) {
        make(f, runs, 3, 3);
        add_both(f, TG_KIND_OP, "x", "", 1, 10001, 1, 20001);
        compare(f);
        assert_int_equal(find(f, "x")->ev.why_not, runs < 3 ? TG_NOT_FEW_RUNS : TG_JUDGED);
        assert_int_equal(find(f, "x")->ev.slower, runs == 3);
    }
    make(f, 3, 3, 3);
    add_both(f, TG_KIND_OP, "x", "", 1, 10001, 1, 20001);
    shard(f, TG_TEST, 1)->truncated = true;
    compare(f);
    assert_int_equal(find(f, "x")->ev.why_not, TG_NOT_INTEGRITY);
}

BY_HAND(why_one_operator_is_not)
{
    static const struct {
        enum tg_kind kind;
        const char *name;
        uint32_t base[3], test[3];
        enum tg_judged judged;
    } cases[] = {
        { TG_KIND_OP, "x", { 1, 1, 1 }, { 1, 1, 1 }, TG_JUDGED },
        { TG_KIND_OP, "x", { 1, 1, 1 }, { 2, 2, 2 }, TG_NOT_COUNT_CHANGED },
        { TG_KIND_OP, "x", { 1, 2, 3 }, { 2, 3, 1 }, TG_NOT_COUNT_VARIES },
        { TG_KIND_OP, "x", { 1, 1, 1 }, { 0, 0, 0 }, TG_NOT_ONE_SIDED },
        { TG_KIND_MEMCPY, "Memcpy HtoD", { 1, 1, 1 }, { 1, 1, 1 }, TG_JUDGED },
        { TG_KIND_MEMSET, "Memset (Device)", { 1, 1, 1 }, { 1, 1, 1 }, TG_JUDGED },
        { TG_KIND_SYNC, "cudaStreamSynchronize", { 1, 1, 1 }, { 1, 1, 1 }, TG_NOT_WAIT },
        { TG_KIND_RUNTIME, "cudaEventQuery", { 1, 1, 1 }, { 1, 1, 1 }, TG_NOT_POLLING },
        { TG_KIND_RUNTIME, "cudaMalloc", { 1, 1, 1 }, { 1, 1, 1 }, TG_JUDGED },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make(f, 3, 3, 3);
        for (int side = 0; side < 2; side++)
            for (size_t run = 0; run < 3; run++) {
                const uint32_t *count = side == TG_BASE ? cases[i].base : cases[i].test;
                if (count[0] + count[1] + count[2])
                    add_counts(f, side, run, cases[i].kind, cases[i].name, "", count, 10001);
            }
        compare(f);
        if (find(f, cases[i].name)->ev.why_not != cases[i].judged)
            fail_msg("row %zu: %s", i, tg_judged_text(find(f, cases[i].name)->ev.why_not));
    }
}

BY_HAND(no_steps_and_other_devices)
{
    for (int i = 0; i < 3; i++) {
        make(f, 3, 3, 1);
        for (int side = 0; side < 2; side++)
            for (size_t run = 0; run < 3; run++) {
                shard(f, side, run)->marked = i != 1;
                set_env(f, shard(f, side, run), "device", i == 2 && side ? "A100" : "H100");
                add_row(f, side, run, TG_KIND_OP, "x", "", 1, 10001);
            }
        compare(f);
        assert_int_equal(find(f, "x")->ev.why_not, i == 0   ? TG_JUDGED
                                                   : i == 1 ? TG_NOT_NO_STEPS
                                                            : TG_NOT_OTHER_DEVICE);
    }
}
