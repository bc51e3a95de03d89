#include "core/diff/internal.h"

#include <math.h>
#include <stdlib.h>

/* Counts by step of all runs of a side, one run after the other. */
struct pool {
    double *v;
    size_t n;
    double least, most;
};

struct question {
    const struct tg_step_counts *run[2];
    struct tg_step_counts
        *warm[2]; /* without the first step, which may be cold, if there are others */
    size_t n_runs[2];
    struct pool all[2], rest[2]; /* rest: of the warm steps */
};

static struct pool pool_of(const struct tg_step_counts *run, size_t n_runs)
{
    struct pool p = { 0 };
    size_t n = 1;
    for (size_t i = 0; i < n_runs; i++)
        n += run[i].n;
    p.v = tg_xmalloc(n * sizeof *p.v);
    for (size_t i = 0; i < n_runs; i++)
        for (size_t k = 0; k < run[i].n; k++)
            p.v[p.n++] = run[i].v[k];
    p.least = tg_least(p.v, p.n);
    p.most = tg_most(p.v, p.n);
    return p;
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
    TG_EACH(const struct tg_step_counts, s, q->warm[side], q->n_runs[side])
        if (tg_least(s->v, s->n) != tg_most(s->v, s->n))
            return false;
    return true;
}

/* Fresh runs that have such steps. */
static unsigned runs_above(const struct tg_step_counts *run, size_t n, double limit)
{
    unsigned found = 0;
    for (size_t i = 0; i < n; i++)
        found += tg_above(run[i].v, run[i].n, limit) > 0;
    return found;
}

/* Only first steps have more calls than any step of the baseline: they may be cold. */
static void judge_first_steps(const struct question *q, struct tg_count_evidence *ev)
{
    double most = q->all[TG_BASE].most;
    ev->above = (unsigned)tg_above(q->all[TG_TEST].v, q->all[TG_TEST].n, most);
    if (!ev->above)
        return;
    ev->shape = TG_COUNT_FIRST_STEP;
    ev->proof = TG_COUNT_HINT;
    ev->runs_above = runs_above(q->run[TG_TEST], q->n_runs[TG_TEST], most);
}

/* One count in the baseline; some of the fresh steps or runs have another one. */
static void judge_parts(const struct question *q, bool waits, struct tg_count_evidence *ev)
{
    const struct pool *base = &q->rest[TG_BASE], *fresh = &q->rest[TG_TEST];
    size_t more = tg_above(fresh->v, fresh->n, base->most);
    ev->shape = runs_constant(q, TG_TEST) ? TG_COUNT_RUNS_DIFFER : TG_COUNT_SOME_STEPS;
    ev->p = all_fresh(base->n, fresh->n, more);
    if (more == 0) {
        judge_first_steps(q, ev);
        return;
    }
    ev->above = (unsigned)tg_above(q->all[TG_TEST].v, q->all[TG_TEST].n, base->most);
    bool most_runs = 2 * (size_t)ev->runs_above > q->n_runs[TG_TEST];
    bool enough = ev->shape == TG_COUNT_RUNS_DIFFER || ev->p <= TG_PART_P || more == fresh->n ||
                  (waits && more > 1); /* once may be the step that logs */
    ev->proof = most_runs && enough ? TG_COUNT_PROVEN : TG_COUNT_HINT;
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

/* Does each run of a side repeat one schedule? */
static bool find_schedule(const struct tg_step_counts *run, size_t n_runs, struct schedule *out)
{
    *out = (struct schedule){ 0 };
    for (size_t i = 0; i < n_runs; i++) {
        struct tg_step_counts s = run[i];
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
 * Both sides repeat a schedule, all steps or those after the first: their means over its periods
 * are as exact as constant counts, if neither repeats by luck. Does it decide?
 */
static bool judge_schedules(const struct question *q, bool waits, struct tg_count_evidence *ev)
{
    struct schedule s[2];
    bool all = find_schedule(q->run[TG_BASE], q->n_runs[TG_BASE], &s[TG_BASE]) &&
               find_schedule(q->run[TG_TEST], q->n_runs[TG_TEST], &s[TG_TEST]);
    if (!all && (!find_schedule(q->warm[TG_BASE], q->n_runs[TG_BASE], &s[TG_BASE]) ||
                 !find_schedule(q->warm[TG_TEST], q->n_runs[TG_TEST], &s[TG_TEST])))
        return false;
    /* The chance to draw the numbers of a fresh run, in whatever order, from the steps of a run of
     * each side: all of a constant one at least as large,
     * else those that are above the baseline. */
    const struct tg_step_counts *base = &q->run[TG_BASE][0], *fresh = &q->run[TG_TEST][0];
    bool constant = is_constant(&q->all[TG_TEST]);
    size_t as_many = 0;
    for (size_t i = 0; constant && i < base->n; i++)
        as_many += base->v[i] >= q->all[TG_TEST].most;
    size_t drawn = constant ? fresh->n : tg_above(fresh->v, fresh->n, q->all[TG_BASE].most);
    double p = s[TG_BASE].chance * s[TG_TEST].chance *
               all_fresh(base->n - as_many, fresh->n + as_many, drawn);
    if (s[TG_TEST].mean <= s[TG_BASE].mean || p > TG_PART_P)
        return false;
    ev->p = p;
    ev->proof = p <= TG_SCHEDULE_P || waits ? TG_COUNT_PROVEN : TG_COUNT_HINT;
    return true;
}

/* Have all runs of the side the same count in each step? */
static bool repeats_one_run(const struct question *q, int side)
{
    const struct tg_step_counts *s = q->warm[side];
    for (size_t i = 1; i < q->n_runs[side]; i++)
        if (s[i].n != s[0].n || memcmp(s[i].v, s[0].v, s[0].n * sizeof *s[0].v) != 0)
            return false;
    return true;
}

/*
 * Steps that differ, alike in all runs of a side, are compared one by one: every fourth of them, a
 * list that grows, data by a seed. Has none fewer calls than before, and one has more? With fewer
 * than three runs that is chance, unless many steps have more.
 */
static bool rises_step_by_step(const struct question *q)
{
    const struct tg_step_counts *base = q->warm[TG_BASE], *fresh = q->warm[TG_TEST];
    bool few = q->n_runs[TG_BASE] < TG_FEWEST_RUNS || q->n_runs[TG_TEST] < TG_FEWEST_RUNS;
    size_t rose = 0;
    if (!repeats_one_run(q, TG_BASE) || !repeats_one_run(q, TG_TEST))
        return false;
    for (size_t k = 0; k < base->n && k < fresh->n; k++) {
        if (fresh->v[k] < base->v[k])
            return false;
        rose += fresh->v[k] > base->v[k];
    }
    return rose && (!few || exp2(-(double)rose) <= TG_PART_P);
}

/*
 * The baseline varies. More than twice as many calls, with a gap between the sides that is wider
 * than either of them, are neither chance nor other data. Steps that mostly have more may be other
 * data, whatever the number of runs: those of a run share it.
 */
static void judge_varying(const struct question *q, bool waits, struct tg_count_evidence *ev)
{
    const struct pool *base = &q->rest[TG_BASE], *fresh = &q->rest[TG_TEST];
    const struct pool *all = &q->all[TG_BASE];
    double width = fmax(base->most - base->least, fresh->most - fresh->least), most = -INFINITY;
    ev->shape = TG_COUNT_VARIES;
    ev->above = (unsigned)tg_above(fresh->v, fresh->n, base->most);
    /* Fresh runs whose mean is above that of every baseline run. */
    ev->runs_above = 0;
    for (size_t i = 0; i < q->n_runs[TG_BASE]; i++)
        most = fmax(most, tg_mean(q->warm[TG_BASE][i].v, q->warm[TG_BASE][i].n));
    for (size_t i = 0; i < q->n_runs[TG_TEST]; i++)
        ev->runs_above += tg_mean(q->warm[TG_TEST][i].v, q->warm[TG_TEST][i].n) > most;
    if (fresh->least > TG_TWICE * base->most && fresh->least - base->most > width) {
        ev->proof = TG_COUNT_PROVEN;
        return;
    }
    if (judge_schedules(q, waits, ev))
        return;
    /* Each of these may be other data: a hint. */
    if (2 * (size_t)ev->runs_above > q->n_runs[TG_TEST])
        ev->p = tg_rank_p(base->v, base->n, fresh->v, fresh->n, 0);
    bool far = ev->most - all->most > all->most - all->least; /* as the baseline has none */
    ev->by_step = !far && ev->p > TG_RANK_P && rises_step_by_step(q);
    if (far || ev->p <= TG_RANK_P || ev->by_step)
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
    TG_EACH(const struct tg_step_counts, s, q->warm[TG_BASE], q->n_runs[TG_BASE]) {
        if (!s->n || s->v[0] > fresh)
            return false;
        alike += s->v[0] == fresh;
    }
    return 2 * alike < q->n_runs[TG_BASE];
}

void tg_count_judge(struct tg_count_evidence *ev, const struct tg_step_counts *const run[2],
                    const size_t n_runs[2], bool wait)
{
    struct question q = { .run = { run[TG_BASE], run[TG_TEST] },
                          .n_runs = { n_runs[TG_BASE], n_runs[TG_TEST] } };
    *ev = (struct tg_count_evidence){ .shape = TG_COUNT_CONSTANT, .p = 1 };
    for (int side = 0; side < 2; side++) {
        q.warm[side] = tg_xmalloc((n_runs[side] + 1) * sizeof *q.warm[side]);
        for (size_t i = 0; i < n_runs[side]; i++) {
            size_t cold = run[side][i].n > 1;
            q.warm[side][i] =
                (struct tg_step_counts){ run[side][i].v + cold, run[side][i].n - cold };
        }
        q.all[side] = pool_of(run[side], n_runs[side]);
        q.rest[side] = pool_of(q.warm[side], n_runs[side]);
    }
    const struct pool *base = &q.rest[TG_BASE], *fresh = &q.rest[TG_TEST];
    bool any = q.all[TG_BASE].n && q.all[TG_TEST].n;
    if (any) {
        ev->steps = (unsigned)q.all[TG_TEST].n;
        ev->most = q.all[TG_TEST].most;
        ev->runs_above = runs_above(q.warm[TG_TEST], q.n_runs[TG_TEST], base->most);
    }
    if (any && !is_constant(base)) {
        judge_varying(&q, wait, ev);
        if (ev->proof == TG_COUNT_UNCHANGED && follows_odd_run(&q))
            ev->proof = TG_COUNT_HINT;
    } else if (any && !is_constant(fresh)) {
        judge_parts(&q, wait, ev);
    } else if (any && fresh->most > base->most) { /* cold first steps aside */
        ev->proof = TG_COUNT_PROVEN;
        ev->above = ev->steps;
    } else if (any && fresh->most == base->most)
        judge_first_steps(&q, ev);
    for (int side = 0; side < 2; side++) {
        free(q.warm[side]);
        free(q.all[side].v);
        free(q.rest[side].v);
    }
}

/*
 * ---- work that a seed or the data chooses: layers that are dropped, experts, trees. Its calls
 * differ from step to step and are the same in all runs of a side. If most names of this sort have
 * the same calls in each step of both sides, then step i of one side did what step i of the other
 * did, and calls are compared step by step, as exact as constant ones ----
 */

#define EQUAL 1e-9 /* of calls, means over ranks */

/* After a first step, which may be cold. */
static bool varies(const struct tg_step_counts *s)
{
    return s->n > 1 && tg_least(s->v + 1, s->n - 1) != tg_most(s->v + 1, s->n - 1);
}

void tg_drawn_add(struct tg_drawn *d, struct tg_op *op, const struct tg_step_counts *const run[2],
                  const size_t n_runs[2], struct tg_arena *a)
{
    size_t n = run[TG_BASE][0].n;
    if (!varies(&run[TG_BASE][0]) && !varies(&run[TG_TEST][0]))
        return;
    d->n_vary += varies(&run[TG_BASE][0]);
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < n_runs[side]; i++)
            if (run[side][i].n != n || (d->n && n != d->n_steps) ||
                memcmp(run[side][i].v, run[side][0].v, n * sizeof(double)) != 0)
                return;
    d->n_steps = n;
    struct tg_drawn_name *to = TG_PUSH(d->v, d->n, d->cap);
    to->op = op;
    for (int side = 0; side < 2; side++)
        to->calls[side] = tg_arena_copy(a, run[side][0].v, n, sizeof(double));
}

/*
 * Did the calls rise by so many per step and so many per call of an unchanged name? What other data
 * chose did not. Two steps make a line, and at least two further ones must be on it.
 */
static bool follows(const double *rise, const double *calls, size_t n_steps)
{
    size_t other = 1;
    while (calls[other] == calls[0])
        other++;
    double each = (rise[other] - rise[0]) / (calls[other] - calls[0]);
    for (size_t j = 0; j < n_steps; j++)
        if (fabs(rise[0] + each * (calls[j] - calls[0]) - rise[j]) > EQUAL * fmax(1, calls[j]))
            return false;
    return true;
}

/* A name is changed if its calls rose, or fell, in two steps or more, as an unchanged one tells. */
static void judge_drawn(const struct tg_drawn_name *name, const double *const *unchanged, size_t n,
                        size_t n_steps, double *rise)
{
    struct tg_op *op = name->op;
    bool told = false;
    size_t rose = 0, fell = 0;
    for (size_t j = 0; j < n_steps; j++) {
        rise[j] = name->calls[TG_TEST][j] - name->calls[TG_BASE][j];
        rose += rise[j] > 0;
        fell += rise[j] < 0;
    }
    if (rose + fell < 2 || (rose && fell))
        return;
    for (size_t i = 0; i < n && !told; i++)
        told = follows(rise, unchanged[i], n_steps);
    if (!told)
        return;
    const double *was = name->calls[TG_BASE], *is = name->calls[TG_TEST];
    op->counted.shape = TG_COUNT_CONSTANT;
    op->counted.proof = TG_COUNT_PROVEN;
    op->counted.p = 1;
    op->change = rose                       ? tg_most(was, n_steps) > 0 ? TG_MORE : TG_ADDED
                 : tg_most(is, n_steps) > 0 ? TG_FEWER
                                            : TG_REMOVED;
    for (int side = 0; side < 2; side++)
        op->count[side] = tg_mean(name->calls[side], n_steps);
}

void tg_drawn_judge(struct tg_drawn *d)
{
    TG_FREE const double **unchanged = tg_xmalloc((d->n + 1) * sizeof *unchanged);
    TG_FREE double *rise = tg_xmalloc((d->n_steps + 1) * sizeof *rise);
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++) {
        const double *const *calls = d->v[i].calls;
        if (memcmp(calls[TG_BASE], calls[TG_TEST], d->n_steps * sizeof(double)) == 0)
            unchanged[n++] = calls[TG_BASE];
    }
    bool same_draw = n >= TG_FEW_VARY && 2 * n > d->n_vary && d->n_steps > TG_FEW_VARY;
    for (size_t i = 0; same_draw && i < d->n; i++) {
        d->v[i].op->settled = true;
        judge_drawn(&d->v[i], unchanged, n, d->n_steps, rise);
    }
    free(d->v);
    *d = (struct tg_drawn){ 0 };
}
