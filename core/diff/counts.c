#include "core/diff/counts.h"

#include <math.h>
#include <stdlib.h>

#include "core/diff/numbers.h"
#include "core/diff/stats.h"

/* Counts by step of all runs of a side, one run after the other. */
struct pool {
    double *v;
    size_t n;
    double least, most;
};

struct question {
    const struct tg_step_counts *run[2];
    size_t n_runs[2];
    struct pool all[2], rest[2]; /* rest: without the first step of each run, which may be cold */
};

/* The steps of a run but the first, where there are others. */
static struct tg_step_counts rest_of(const struct tg_step_counts *run)
{
    size_t skip = run->n > 1;
    return (struct tg_step_counts){ run->v + skip, run->n - skip };
}

static size_t above(const double *v, size_t n, double limit)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += v[i] > limit;
    return found;
}

static void put(struct pool *p, struct tg_step_counts s)
{
    for (size_t i = 0; i < s.n; i++)
        p->v[p->n++] = s.v[i];
}

static void find_range(struct pool *p)
{
    p->least = tg_least(p->v, p->n);
    p->most = tg_most(p->v, p->n);
}

static bool is_constant(const struct pool *p)
{
    return p->least == p->most;
}

/* C(fresh, k) / C(base + fresh, k): k steps drawn from all steps are fresh ones. */
static double all_fresh(size_t base, size_t fresh, size_t k)
{
    double p = 1;
    for (size_t i = 0; i < k; i++)
        p *= (double)(fresh - i) / (double)(base + fresh - i);
    return p;
}

/* Has every run of the side one count, so that only the runs differ? */
static bool runs_constant(const struct question *q, int side)
{
    for (size_t i = 0; i < q->n_runs[side]; i++) {
        struct tg_step_counts s = rest_of(&q->run[side][i]);
        if (tg_least(s.v, s.n) != tg_most(s.v, s.n))
            return false;
    }
    return true;
}

static size_t runs_above(const struct question *q, double limit)
{
    size_t found = 0;
    for (size_t i = 0; i < q->n_runs[TG_TEST]; i++) {
        struct tg_step_counts s = rest_of(&q->run[TG_TEST][i]);
        found += above(s.v, s.n, limit) > 0;
    }
    return found;
}

/* Only first steps have more calls than any step of the baseline: they may be cold. */
static void judge_first_steps(const struct question *q, struct tg_count_evidence *ev)
{
    double most = q->all[TG_BASE].most;

    ev->above = (unsigned)above(q->all[TG_TEST].v, q->all[TG_TEST].n, most);
    if (!ev->above)
        return;
    ev->shape = TG_COUNT_FIRST_STEP;
    ev->proof = TG_COUNT_HINT;
    ev->runs_above = 0;
    for (size_t i = 0; i < q->n_runs[TG_TEST]; i++)
        ev->runs_above += above(q->run[TG_TEST][i].v, q->run[TG_TEST][i].n, most) > 0;
}

/* One count in the baseline; some of the fresh steps or runs have another one. */
static void judge_parts(const struct question *q, bool waits, struct tg_count_evidence *ev)
{
    const struct pool *base = &q->rest[TG_BASE], *fresh = &q->rest[TG_TEST];
    size_t more = above(fresh->v, fresh->n, base->most);

    ev->shape = runs_constant(q, TG_TEST) ? TG_COUNT_RUNS_DIFFER : TG_COUNT_SOME_STEPS;
    ev->p = all_fresh(base->n, fresh->n, more);
    if (more == 0) {
        judge_first_steps(q, ev);
        return;
    }
    ev->above = (unsigned)above(q->all[TG_TEST].v, q->all[TG_TEST].n, base->most);
    bool most_runs = 2 * (size_t)ev->runs_above > q->n_runs[TG_TEST];
    bool enough = ev->shape == TG_COUNT_RUNS_DIFFER || ev->p <= TG_PART_P ||
                  (waits && more > 1); /* once may be the step that logs */
    ev->proof = most_runs && enough ? TG_COUNT_PROVEN : TG_COUNT_HINT;
}

static double mean_of_rest(const struct tg_step_counts *run)
{
    struct tg_step_counts s = rest_of(run);
    return tg_mean(s.v, s.n);
}

/* Fresh runs whose mean is above that of every baseline run. */
static size_t means_above(const struct question *q)
{
    double most = -INFINITY;
    size_t found = 0;

    for (size_t i = 0; i < q->n_runs[TG_BASE]; i++)
        most = fmax(most, mean_of_rest(&q->run[TG_BASE][i]));
    for (size_t i = 0; i < q->n_runs[TG_TEST]; i++)
        found += mean_of_rest(&q->run[TG_TEST][i]) > most;
    return found;
}

/* What runs every so many steps (an optimizer after four batches): a side whose runs repeat it. */
struct schedule {
    double mean;   /* calls per step, over whole periods */
    double chance; /* that steps in random order repeat like this: of the run that says least */
};

/* ln of the number of orders that these values have. */
static double ln_orders(const double *v, size_t n)
{
    TG_FREE double *sorted = tg_xmalloc(n * sizeof *sorted);
    double ln = lgamma((double)n + 1);

    memcpy(sorted, v, n * sizeof *v);
    tg_ascend(sorted, n);
    for (size_t i = 0, alike = 1; i < n; i++, alike++)
        if (i + 1 == n || sorted[i + 1] != sorted[i]) {
            ln -= lgamma((double)alike + 1);
            alike = 0;
        }
    return ln;
}

/* The first `skip` steps of each run aside, does each run of the side repeat one schedule? */
static bool find_schedule(const struct question *q, int side, bool skip, struct schedule *out)
{
    *out = (struct schedule){ 0 };
    for (size_t i = 0; i < q->n_runs[side]; i++) {
        struct tg_step_counts s = skip ? rest_of(&q->run[side][i]) : q->run[side][i];
        size_t period = tg_period_of(s.v, s.n);
        if (period == 0)
            return false;
        double mean = tg_mean(s.v, period);
        if (i > 0 && fabs(mean - out->mean) > 1e-6 * fmax(fabs(mean), 1))
            return false;
        out->mean = mean;
        out->chance = fmax(out->chance, exp(ln_orders(s.v, period) - ln_orders(s.v, s.n)));
    }
    return true;
}

/*
 * The chance to draw the numbers of a fresh run, in whatever order, from the steps of a run of each
 * side: all of a constant one at least as large, else those that are above the baseline.
 */
static double chance_of_numbers(const struct question *q)
{
    const struct tg_step_counts *base = &q->run[TG_BASE][0], *fresh = &q->run[TG_TEST][0];
    size_t as_many = 0;

    if (!is_constant(&q->all[TG_TEST]))
        return all_fresh(base->n, fresh->n, above(fresh->v, fresh->n, q->all[TG_BASE].most));
    for (size_t i = 0; i < base->n; i++)
        as_many += base->v[i] >= q->all[TG_TEST].most;
    return all_fresh(base->n - as_many, fresh->n + as_many, fresh->n);
}

/*
 * Both sides repeat a schedule: their means over its periods are as exact as constant counts, if
 * neither repeats by luck. Does it decide?
 */
static bool judge_schedules(const struct question *q, bool waits, struct tg_count_evidence *ev)
{
    for (int skip = 0; skip < 2; skip++) {
        struct schedule s[2];
        if (!find_schedule(q, TG_BASE, skip, &s[TG_BASE]) ||
            !find_schedule(q, TG_TEST, skip, &s[TG_TEST]))
            continue;
        double p = s[TG_BASE].chance * s[TG_TEST].chance * chance_of_numbers(q);
        if (s[TG_TEST].mean <= s[TG_BASE].mean || p > TG_PART_P)
            return false;
        ev->p = p;
        ev->proof = p <= TG_SCHEDULE_P || waits ? TG_COUNT_PROVEN : TG_COUNT_HINT;
        return true;
    }
    return false;
}

/* Have all runs of the side, three or more, the same count in each step? */
static bool repeats_one_run(const struct question *q, int side)
{
    struct tg_step_counts first = rest_of(&q->run[side][0]);

    for (size_t i = 1; i < q->n_runs[side]; i++) {
        struct tg_step_counts s = rest_of(&q->run[side][i]);
        if (s.n != first.n || memcmp(s.v, first.v, s.n * sizeof *s.v) != 0)
            return false;
    }
    return q->n_runs[side] >= TG_FEWEST_RUNS;
}

/* What some steps did, the same ones in each run, all do now: every fourth step became every one, or other data. */
static bool became_all_steps(const struct question *q)
{
    return is_constant(&q->rest[TG_TEST]) && q->rest[TG_TEST].most >= q->rest[TG_BASE].most &&
           repeats_one_run(q, TG_BASE) && repeats_one_run(q, TG_TEST);
}

/*
 * The baseline varies. More than twice as many calls, with a gap between the sides that is wider
 * than either of them, are neither chance nor other data. Steps that mostly have more may be other data,
 * whatever the number of runs: those of a run share it.
 */
static void judge_varying(const struct question *q, bool waits, struct tg_count_evidence *ev)
{
    const struct pool *base = &q->rest[TG_BASE], *fresh = &q->rest[TG_TEST];
    double width = fmax(base->most - base->least, fresh->most - fresh->least);

    ev->shape = TG_COUNT_VARIES;
    ev->runs_above = (unsigned)means_above(q);
    ev->above = (unsigned)above(fresh->v, fresh->n, base->most);
    bool twice = fresh->least > TG_TWICE * base->most;
    if (twice && fresh->least - base->most > width) {
        ev->proof = TG_COUNT_PROVEN;
        return;
    }
    if (judge_schedules(q, waits, ev))
        return;
    if (became_all_steps(q) ||
        ev->most - q->all[TG_BASE].most > q->all[TG_BASE].most - q->all[TG_BASE].least)
        ev->proof = TG_COUNT_HINT; /* a step as the baseline has none by far */
    if (2 * (size_t)ev->runs_above <= q->n_runs[TG_TEST])
        return;
    ev->p = tg_rank_p(base->v, base->n, fresh->v, fresh->n, 0);
    if (ev->p <= TG_RANK_P)
        ev->proof = TG_COUNT_HINT;
}

/*
 * Each run has one count, all fresh runs the same, and only a minority of three baseline runs or
 * more has it, too: one polluted recording must not hide a change. A flaky operator looks alike.
 */
static bool follows_odd_run(const struct question *q)
{
    double fresh = q->rest[TG_TEST].most;
    size_t alike = 0;

    if (q->n_runs[TG_BASE] < 3 || q->n_runs[TG_TEST] < 3 || !is_constant(&q->rest[TG_TEST]) ||
        !runs_constant(q, TG_BASE))
        return false;
    for (size_t i = 0; i < q->n_runs[TG_BASE]; i++) {
        struct tg_step_counts s = rest_of(&q->run[TG_BASE][i]);
        if (!s.n || s.v[0] > fresh)
            return false;
        alike += s.v[0] == fresh;
    }
    return 2 * alike < q->n_runs[TG_BASE];
}

static void decide(const struct question *q, bool waits, struct tg_count_evidence *ev)
{
    if (q->all[TG_BASE].n == 0 || q->all[TG_TEST].n == 0)
        return;
    ev->steps = (unsigned)q->all[TG_TEST].n;
    ev->most = q->all[TG_TEST].most;
    ev->runs_above = (unsigned)runs_above(q, q->rest[TG_BASE].most);
    if (!is_constant(&q->rest[TG_BASE])) {
        judge_varying(q, waits, ev);
        if (ev->proof == TG_COUNT_UNCHANGED && follows_odd_run(q))
            ev->proof = TG_COUNT_HINT;
    } else if (is_constant(&q->rest[TG_TEST])) {
        /* One count in the baseline and one in the fresh steps, cold first ones aside. */
        if (q->rest[TG_TEST].most > q->rest[TG_BASE].most) {
            ev->proof = TG_COUNT_PROVEN;
            ev->above = ev->steps;
        } else if (q->rest[TG_TEST].most == q->rest[TG_BASE].most) {
            judge_first_steps(q, ev);
        }
    } else
        judge_parts(q, waits, ev);
}

void tg_count_judge(struct tg_count_evidence *ev, const struct tg_step_counts *const run[2],
                    const size_t n_runs[2], enum tg_calls calls)
{
    struct question q = { .run = { run[TG_BASE], run[TG_TEST] },
                          .n_runs = { n_runs[TG_BASE], n_runs[TG_TEST] } };

    *ev = (struct tg_count_evidence){ .shape = TG_COUNT_CONSTANT, .p = 1 };
    for (int side = 0; side < 2; side++) {
        size_t n = 0;
        for (size_t i = 0; i < q.n_runs[side]; i++)
            n += q.run[side][i].n;
        q.all[side].v = tg_xmalloc((n + 1) * sizeof(double));
        q.rest[side].v = tg_xmalloc((n + 1) * sizeof(double));
        for (size_t i = 0; i < q.n_runs[side]; i++) {
            put(&q.all[side], q.run[side][i]);
            put(&q.rest[side], rest_of(&q.run[side][i]));
        }
        find_range(&q.all[side]);
        find_range(&q.rest[side]);
    }
    decide(&q, calls == TG_CALLS_WAIT, ev);
    for (int side = 0; side < 2; side++) {
        free(q.all[side].v);
        free(q.rest[side].v);
    }
}
