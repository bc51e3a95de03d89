/*
 * Durations: one value per run and operator, the common factor of the machine, one-sided noise and
 * an exact rank test. Formulae: docs/statistics.md; example: README.md.
 *
 * A change is looked for twice: in the least of the steps, which noise touches least, and in the
 * usual step, which shows what spares a step of each run. The values come from run_values.c.
 */
#include <math.h>
#include <stdlib.h>

#include "core/diff/internal.h"
#include "core/diff/stats.h"

#define BIG 0.003          /* of the step: speaks for the machine and for the usual noise */
#define WILD_DRIFT 0.25    /* a machine changed this much changed each operator differently */
#define MIN_BIG 5          /* fewer big operators tell nothing about the machine */
#define FLOOR 0.001        /* of the step: smaller changes never fail */
#define BUSY 0.08          /* of the step: so much excess beside the two operators with most, */
#define BUSY_RISE 0.05     /* and an excess that rose by this part of the operator's least time */
#define BUSY_SHARE 0.35    /* in so many of the big operators: the machine was busy */
#define RARE_STEP 1.5      /* the slowest step against the run's usual one, */
#define RARE_BASE 1.2      /* and against the baseline's slowest */
#define RARE_FLOOR 0.01    /* of the step */
#define LEVELLED 0.33      /* of the variance between runs at most stays without their speeds */
#define OTHERS 0.9         /* quantile of the other big operators' shifts */
#define SUSPECT_SIZE 1.3   /* with too few runs: this large, */
#define SUSPECT_FLOOR 0.01 /* this much of the step, */

const char *tg_judged_text(enum tg_judged j)
{
    switch (j) {
    case TG_JUDGED:
        return NULL;
    case TG_NOT_FEW_RUNS:
        return "too few runs a side (need 3, better 5)";
    case TG_NOT_WAIT:
        return "its time is a wait for others";
    case TG_NOT_POLLING:
        return "a polling call: its number is random";
    case TG_NOT_COUNT_CHANGED:
        return "its count changed";
    case TG_NOT_COUNT_VARIES:
        return "its count varies, and its calls do not align";
    case TG_NOT_ONE_SIDED:
        return "not in every run of both sides";
    case TG_NOT_NO_STEPS:
        return "no step markers";
    case TG_NOT_OTHER_DEVICE:
        return "recorded on different devices";
    case TG_NOT_OTHER_FLAGS:
        return "recorded with different profiler flags";
    case TG_NOT_REPLACED:
        return "part of a replacement, judged as a whole";
    case TG_NOT_TOO_SMALL:
        return "no measurable time";
    case TG_NOT_INTEGRITY:
        return "the trace is damaged";
    case TG_NOT_BUSY:
        return "the machine was busy during the fresh runs";
    }
    return "";
}

/* ---- the rule -------------------------------------------------------------------------------- */

enum { LEAST, USUAL, ESTIMATES }; /* the two that may find a slowdown */
static const enum tg_reading reading_of[ESTIMATES] = { TG_LEAST, TG_USUAL };

/* What all operators share in one direction and estimate: the machine's factor, how far the
 * operators stray from a large one, the usual noise, and by how much each of the big ones shifted. */
struct common {
    double c, scatter, v0;
    bool has_v0;
    double *shift; /* ascending */
    size_t n;
};

struct direction {
    struct common of[ESTIMATES];
};

struct logs {
    double *x[2], median[2], variance;
};

static struct logs logs_of(const struct tg_diff_work *w, double *const y[2], bool swapped)
{
    struct logs l;
    size_t n[2];

    for (int i = 0; i < 2; i++) {
        int side = swapped ? !i : i;
        n[i] = w->c->n_runs[side];
        l.x[i] = TG_NEW_N(w->a, double, n[i]);
        double *copy = TG_NEW_N(w->a, double, n[i]);
        for (size_t run = 0; run < n[i]; run++)
            copy[run] = l.x[i][run] = log(fmax(y[side][run], 1));
        l.median[i] = tg_median(copy, n[i]);
    }
    l.variance =
        tg_harmful_variance(l.x[0], n[0], l.x[1], n[1], l.median[TG_BASE], l.median[TG_TEST]);
    return l;
}

/* One comparison in one direction: what is compared, and what a change has to be. */
struct question {
    const struct tg_run_values *v;
    const struct direction *m;
    bool swapped;
    double floor, tick; /* ns */
    bool among;         /* one of the big operators themselves: its own shift is not another's */
};

/* The shift that nine of ten of the other big operators do not reach; 0: too few of them. */
static double others(const struct common *m, bool among, double own)
{
    size_t n = 0;
    bool skipped = !among;

    if (m->n < MIN_BIG + (size_t)among)
        return 0;
    double at = OTHERS * (double)(m->n - among - 1);
    double low = 0, high = 0;
    for (size_t i = 0; i < m->n; i++) {
        if (!skipped && m->shift[i] >= own) {
            skipped = true;
            continue;
        }
        low = n == (size_t)at ? m->shift[i] : low;
        high = n == (size_t)at + 1 ? m->shift[i] : high;
        n++;
    }
    if ((size_t)at + 1 >= n)
        high = low;
    return fmax(low + (at - floor(at)) * (high - low) - m->c, 0);
}

/* Does the reading show at least half of the slowdown by itself? */
static bool supports(const struct tg_diff_work *w, const struct question *q,
                     enum tg_reading reading, double c, double e, double value[2])
{
    struct logs l = logs_of(w, q->v->y[reading], q->swapped);
    size_t nb = w->c->n_runs[q->swapped], nt = w->c->n_runs[!q->swapped];

    for (int side = 0; value && side < 2; side++)
        value[side] = exp(l.median[side]);
    return l.median[TG_TEST] - l.median[TG_BASE] - c >= TG_HALF_PART * e &&
           tg_rank_p(l.x[TG_BASE], nb, l.x[TG_TEST], nt, c) <= tg_half_p_limit(nb, nt);
}

/* Operators with two speeds: does no baseline run have steps, but for the slowest fifth, that reach
 * the test's, but for the fastest fifth? */
static bool is_new_speed(const struct tg_diff_work *w, const struct question *q, double c)
{
    struct logs fast = logs_of(w, q->v->y[TG_REST], q->swapped);
    struct logs slow = logs_of(w, q->v->y[TG_SLOW], q->swapped);
    double most = -INFINITY;

    for (size_t run = 0; run < w->c->n_runs[q->swapped]; run++)
        most = fmax(most, slow.x[TG_BASE][run]);
    return fast.median[TG_TEST] - c > most;
}

/*
 * Of the least: each half of the steps has to show at least half of the slowdown. Operators with two
 * speeds change between them within a run, too: three runs that never were fast differ from three
 * that were fast for a while, but only in some of their steps. Of the usual step: all but the
 * fastest fifth of the steps have to show it.
 */
static bool supported(const struct tg_diff_work *w, struct tg_evidence *ev,
                      const struct question *q, int estimate)
{
    double c = q->m->of[estimate].c;

    if (estimate == USUAL)
        return !q->v->y[TG_REST][0] ||
               (supports(w, q, TG_REST, c, ev->e, NULL) && is_new_speed(w, q, c));
    if (!q->v->y[TG_LEAST_FIRST][0])
        return true;
    bool first = supports(w, q, TG_LEAST_FIRST, c, ev->e, ev->half[0]);
    bool last = supports(w, q, TG_LEAST_LAST, c, ev->e, ev->half[1]);
    return first && last;
}

static void count_above(struct tg_evidence *ev, const struct logs *l, size_t nb, size_t nt,
                        double c)
{
    double most = -INFINITY, least = INFINITY;

    for (size_t i = 0; i < nb; i++)
        most = fmax(most, l->x[TG_BASE][i]);
    ev->pairs = (unsigned)nt;
    ev->above = 0;
    for (size_t i = 0; i < nt; i++) {
        ev->above += l->x[TG_TEST][i] - c > most;
        least = fmin(least, l->x[TG_TEST][i] - c);
    }
    ev->suspicious = ev->e > log(SUSPECT_SIZE) && least > most;
}

/* Size, error and rank of test above base by one estimate; everything but `judged`, `faster`. */
static void apply_rule(const struct tg_diff_work *w, struct tg_evidence *ev,
                       const struct question *q, int estimate)
{
    const struct common *m = &q->m->of[estimate];
    size_t nb = w->c->n_runs[q->swapped], nt = w->c->n_runs[!q->swapped];
    struct logs l = logs_of(w, q->v->y[reading_of[estimate]], q->swapped);
    struct tg_threshold t =
        estimate == USUAL ? tg_threshold_usual(nb, nt) : tg_threshold_of(nb, nt);
    double v0 = m->has_v0 ? m->v0 : l.variance;

    ev->value[TG_BASE] = exp(l.median[TG_BASE]);
    ev->value[TG_TEST] = exp(l.median[TG_TEST]);
    ev->e = l.median[TG_TEST] - l.median[TG_BASE] - m->c;
    ev->delta_ns = ev->value[TG_BASE] * expm1(ev->e);
    ev->se = fmax(hypot(tg_moderated_se(l.variance, v0, nb, nt), m->scatter),
                  log1p(q->tick / ev->value[TG_BASE]) / t.z);
    ev->noise = ev->se / sqrt(1 / (double)nb + 1 / (double)nt);
    ev->z = t.z;
    ev->tau = t.tau;
    ev->p_limit = t.p_limit;
    ev->p = tg_rank_p(l.x[TG_BASE], nb, l.x[TG_TEST], nt, m->c);
    ev->others = others(m, q->among, ev->e + m->c);
    ev->need = t.z * ev->se + t.others * ev->others;
    ev->mde = expm1(fmax(log1p(t.tau), ev->need));
    count_above(ev, &l, nb, nt, m->c);
    ev->suspicious = ev->suspicious && ev->delta_ns > SUSPECT_FLOOR * w->c->step_ns[TG_BASE];
    ev->proven =
        supported(w, ev, q, estimate) && ev->e > 0 && ev->e > ev->need && ev->p <= t.p_limit;
    ev->slower = ev->proven && ev->e > log1p(t.tau) && ev->delta_ns > t.floor * q->floor;
}

/*
 * Both estimates. The least has the word; where it finds nothing and the usual step does, all
 * numbers are the usual step's.
 */
static void apply_both(const struct tg_diff_work *w, struct tg_evidence *ev,
                       const struct question *q)
{
    struct tg_evidence usual = { 0 };

    apply_rule(w, ev, q, LEAST);
    if (!q->v->y[TG_USUAL][0])
        return;
    apply_rule(w, &usual, q, USUAL);
    if (ev->slower || !usual.slower)
        return;
    memcpy(usual.half, ev->half, sizeof usual.half);
    *ev = usual;
    ev->estimate = TG_ESTIMATE_USUAL;
}

static void divide(const struct tg_diff_work *w, double *const y[2], bool back)
{
    for (int side = 0; y[side] && side < 2; side++)
        for (size_t run = 0; run < w->c->n_runs[side]; run++)
            y[side][run] *= back ? w->speed[side][run] : 1 / w->speed[side][run];
}

static double variance_of(const struct tg_diff_work *w, double *const y[2])
{
    struct logs l = logs_of(w, y, false);
    double sum = 0;

    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < w->c->n_runs[side]; run++)
            sum += (l.x[side][run] - l.median[side]) * (l.x[side][run] - l.median[side]);
    return sum;
}

/*
 * Takes the speeds of the runs' machines off where that explains at least half of the variance: a
 * busy or slow run then neither hides a change nor looks like one. Not every operator follows the
 * machine alike.
 */
static void level(const struct tg_diff_work *w, struct tg_run_values *v)
{
    double before;

    if (v->levelled || !w->speed[TG_BASE])
        return;
    before = variance_of(w, v->y[TG_LEAST]);
    divide(w, v->y[TG_LEAST], false);
    v->levelled = variance_of(w, v->y[TG_LEAST]) < LEVELLED * before;
    if (!v->levelled)
        divide(w, v->y[TG_LEAST], true);
    for (enum tg_reading r = TG_LEAST + 1; v->levelled && r < TG_READINGS; r++)
        divide(w, v->y[r], false);
}

struct shared {
    struct direction m[2]; /* forward, swapped */
};

static void judge(const struct tg_diff_work *w, struct tg_evidence *ev, struct tg_run_values *v,
                  const struct shared *m, double floor, double tick, bool among)
{
    enum tg_judged judged = ev->judged;
    struct tg_evidence back = { 0 };
    struct question q = { v, &m->m[0], false, floor, tick, among };
    struct question swapped = { v, &m->m[1], true, floor, tick, among };

    level(w, v);
    *ev = (struct tg_evidence){ 0 };
    if (judged == TG_JUDGED || judged == TG_NOT_BUSY)
        apply_both(w, ev, &q);
    else
        apply_rule(w, ev, &q, LEAST);
    apply_rule(w, &back, &swapped, LEAST);
    ev->judged = judged;
    ev->slot_form = v->form == TG_FORM_SLOTS;
    ev->per_call = v->form == TG_FORM_CALLS;
    ev->held = ev->slower && judged == TG_NOT_BUSY;
    ev->slower = ev->slower && judged == TG_JUDGED;
    ev->faster = back.slower && judged == TG_JUDGED && !ev->slower;
    ev->suspicious = ev->suspicious && judged == TG_NOT_FEW_RUNS;
}

/* ---- who is judged ---- */

static bool damaged(const struct tg_diff_work *w, bool device)
{
    for (size_t at = 0; at < w->n_cells; at++) {
        const struct tg_shard *s = w->shard[at];
        if (s->truncated || (device && s->integrity.negative_durations))
            return true;
    }
    return false;
}

/* Reasons that hold for every operator of the comparison; TG_JUDGED: none. */
static enum tg_judged common_reason(const struct tg_diff_work *w, bool device)
{
    const struct tg_comparison *c = w->c;
    size_t need = w->o->min_runs ? w->o->min_runs : 3;

    if (!c->marked[TG_BASE] || !c->marked[TG_TEST] || tg_fewest_steps(w) == 0)
        return TG_NOT_NO_STEPS;
    if (damaged(w, device))
        return TG_NOT_INTEGRITY;
    if (!c->same_device)
        return TG_NOT_OTHER_DEVICE;
    if (!c->same_flags)
        return TG_NOT_OTHER_FLAGS;
    if (c->n_runs[TG_BASE] < need || c->n_runs[TG_TEST] < need)
        return TG_NOT_FEW_RUNS;
    return c->busy ? TG_NOT_BUSY : TG_JUDGED;
}

static bool is_timed(enum tg_kind k)
{
    return k == TG_KIND_OP || k == TG_KIND_RUNTIME || k == TG_KIND_GRAPH || k == TG_KIND_KERNEL ||
           k == TG_KIND_STEP;
}

/* Self time of these is what runs between operators: no speed of the machine's, and no usual noise. */
static bool is_gap(enum tg_kind k)
{
    return k == TG_KIND_STEP || k == TG_KIND_ANNOTATION;
}

/* Reasons of its own, the strongest first. */
static enum tg_judged own_reason(const struct tg_op *op, const struct tg_run_values *v)
{
    if (!v->complete)
        return TG_NOT_ONE_SIDED;
    if (op->change != TG_SAME)
        return TG_NOT_COUNT_CHANGED;
    if (op->polling)
        return TG_NOT_POLLING;
    /* The step with the fewest calls of one run against that of another says nothing. */
    if (v->form == TG_FORM_CALLS ||
        (v->form != TG_FORM_SLOTS && op->counted.shape != TG_COUNT_CONSTANT &&
         op->counted.shape != TG_COUNT_FIRST_STEP))
        return TG_NOT_COUNT_VARIES;
    if (op->wait || (!is_timed(op->kind) && op->kind != TG_KIND_ANNOTATION))
        return TG_NOT_WAIT;
    return TG_JUDGED;
}

/* An operator that speaks for the machine and for the usual noise. */
static bool is_big(const struct tg_diff_work *w, size_t i, const struct tg_run_values *v,
                   const bool *judged)
{
    double floor = BIG * w->c->step_ns[TG_BASE];
    return judged[i] && !is_gap(w->c->ops[i].kind) &&
           exp(logs_of(w, v->y[TG_LEAST], false).median[TG_BASE]) >= floor;
}

/*
 * Each run's machine against the usual one of its side, from how far the big operators' least times
 * are from their medians over the runs; 1 with few of them.
 */
static void find_speeds(struct tg_diff_work *w, const struct tg_run_values *v, const bool *big,
                        int side)
{
    const struct tg_comparison *c = w->c;
    size_t n_runs = c->n_runs[side];
    double *away = TG_NEW_N(w->a, double, c->n_ops + 1);

    w->speed[side] = TG_NEW_N(w->a, double, n_runs + 1);
    for (size_t run = 0; run < n_runs; run++) {
        size_t n = 0;
        for (size_t i = 0; i < c->n_ops; i++)
            if (big[i]) {
                struct logs l = logs_of(w, v[i].y[TG_LEAST], false);
                away[n++] = l.x[side][run] - l.median[side];
            }
        w->speed[side][run] = n >= MIN_BIG ? exp(tg_median(away, n)) : 1;
    }
}

/* Common factor, usual noise and shifts of the big operators, by one estimate in one direction. The
 * factor never helps the test side: a machine that got faster must not make an unchanged operator
 * look slower. Returns the factor before that. */
static double find_common(const struct tg_diff_work *w, const struct tg_run_values *v,
                          const bool *big, int estimate, bool swapped, struct common *m)
{
    struct tg_comparison *c = w->c;
    double *var = TG_NEW_N(w->a, double, c->n_ops + 1), *copy;
    size_t n = 0;

    m->shift = TG_NEW_N(w->a, double, c->n_ops + 1);
    copy = TG_NEW_N(w->a, double, c->n_ops + 1);
    for (size_t i = 0; i < c->n_ops; i++) {
        if (!big[i])
            continue;
        struct logs l = logs_of(w, v[i].y[reading_of[estimate]], swapped);
        double shift = l.median[TG_TEST] - l.median[TG_BASE];
        if (c->ops[i].iteration_scaled) /* more iterations do not mean a slower machine */
            shift -= (swapped ? -1 : 1) * log(c->iteration_ratio);
        var[n] = l.variance;
        copy[n] = m->shift[n] = shift;
        n++;
    }
    m->n = n;
    double middle = tg_median(m->shift, n), factor = n >= MIN_BIG ? middle : 0; /* sorts */
    m->scatter = fabs(factor) > log1p(WILD_DRIFT) ? tg_robust_sd(copy, n) : 0;
    m->has_v0 = n > 0;
    m->v0 = n ? tg_quantile(var, n, 0.25) : 0;
    m->c = fmax(factor, 0);
    return factor;
}

static int by_number(const void *pa, const void *pb)
{
    double a = *(const double *)pa, b = *(const double *)pb;
    return (a > b) - (a < b);
}

/* How far the steps of the middle run are above their least, on average; ns. */
static double excess_of(const struct tg_diff_work *w, const struct tg_run_values *v, int side,
                        double *least)
{
    size_t n = w->c->n_runs[side];
    double *x = TG_NEW_N(w->a, double, n + 1);

    for (size_t run = 0; run < n; run++)
        x[run] = v->y[TG_LEAST][side][run];
    *least = tg_median(x, n);
    for (size_t run = 0; run < n; run++)
        x[run] = v->y[TG_MEAN][side][run] - v->y[TG_LEAST][side][run];
    return tg_median(x, n);
}

/*
 * Were the fresh runs disturbed? Then the steps of most operators lie further above their least than
 * the baseline's do, and together by a good part of the step. The two operators with most of it are
 * left out: that is what a change looks like which strikes some of the steps.
 */
static void find_busy(struct tg_diff_work *w, const struct tg_run_values *v, const bool *judged,
                      const bool *big)
{
    struct tg_comparison *c = w->c;
    double *rise = TG_NEW_N(w->a, double, c->n_ops + 1), sum = 0, step = 0;
    size_t n = 0, n_big = 0, risen = 0;

    for (size_t i = 0; i < c->n_ops; i++) {
        double least[2], excess[2];
        if (!judged[i] || v[i].form != TG_FORM_SLOTS)
            continue;
        for (int side = 0; side < 2; side++)
            excess[side] = excess_of(w, &v[i], side, &least[side]);
        double usual = excess[TG_BASE] * fmax(1, least[TG_TEST] / fmax(least[TG_BASE], 1));
        rise[n++] = excess[TG_TEST] - usual;
        step += least[TG_BASE];
        n_big += big[i];
        risen += big[i] && excess[TG_TEST] / fmax(least[TG_TEST], 1) >
                               excess[TG_BASE] / fmax(least[TG_BASE], 1) + BUSY_RISE;
    }
    if (n_big < MIN_BIG)
        return;
    qsort(rise, n, sizeof *rise, by_number);
    for (size_t i = 0; i + 2 < n; i++)
        sum += rise[i];
    c->excess = sum / fmax(step, 1);
    c->busy = c->excess > BUSY && (double)risen >= BUSY_SHARE * (double)n_big;
}

/* One of every fresh run's steps is slow where none of the baseline's is. */
static void find_slow_steps(const struct tg_diff_work *w, struct tg_op *op,
                            const struct tg_run_values *v, struct tg_value_room *x)
{
    const struct tg_comparison *c = w->c;
    double worst = 0, *slowest[2];
    bool all = op->ev.judged == TG_JUDGED && !op->ev.slower && v->form != TG_FORM_CALLS;

    for (int side = 0; all && side < 2; side++) {
        slowest[side] = TG_NEW_N(w->a, double, c->n_runs[side] + 1);
        for (size_t run = 0; run < c->n_runs[side]; run++) {
            struct tg_slow_step s = tg_run_slow_step(w, op, side, run, x);
            slowest[side][run] = s.slowest;
            if (side == TG_BASE)
                worst = fmax(worst, s.slowest);
            else
                all = all && s.slowest >= RARE_STEP * s.usual && s.slowest >= RARE_BASE * worst &&
                      s.slowest - s.usual >= RARE_FLOOR * c->step_ns[TG_BASE];
        }
    }
    if (!all)
        return;
    op->ev.some_steps = true;
    for (int side = 0; side < 2; side++)
        op->ev.slowest[side] = tg_median(slowest[side], c->n_runs[side]);
}

static void find_shared(struct tg_diff_work *w, struct tg_run_values *v, const bool *judged,
                        struct shared *m)
{
    struct tg_comparison *c = w->c;
    bool *big = TG_NEW_N(w->a, bool, c->n_ops + 1);

    for (size_t i = 0; i < c->n_ops; i++)
        big[i] = is_big(w, i, &v[i], judged);
    find_speeds(w, v, big, TG_BASE);
    find_speeds(w, v, big, TG_TEST);
    for (size_t i = 0; i < c->n_ops; i++)
        level(w, &v[i]);
    for (int d = 0; d < 2; d++)
        for (int estimate = 0; estimate < ESTIMATES; estimate++) {
            double f = find_common(w, v, big, estimate, d, &m->m[d].of[estimate]);
            if (d == 0 && estimate == LEAST)
                c->drift = f;
        }
    c->drifted = fabs(c->drift) > log1p(w->o->drift_limit > 0 ? w->o->drift_limit : 0.10);
    w->big = big;
    find_busy(w, v, judged, big);
}

/* The step as a whole without preemption: all operators and the gaps between them. Host only: on a
 * device, work overlaps and its end to end is a measure of its own. */
static void judge_step(struct tg_diff_work *w, const struct tg_run_values *v,
                       const struct shared *m, struct tg_value_room *x)
{
    struct tg_comparison *c = w->c;
    struct tg_run_values sum = tg_run_values_new(w);
    bool device = false;

    for (size_t i = 0; i < c->n_ops; i++) {
        const struct tg_op *op = &c->ops[i];
        device |= tg_kind_is_device(op->kind);
        if (!tg_kind_nests(op->kind))
            continue;
        bool same = v[i].complete && op->change == TG_SAME && is_timed(op->kind) && !op->wait;
        same = same && v[i].form != TG_FORM_CALLS;
        struct tg_run_values each = same ? v[i] : tg_run_values(w, op, TG_ASK_STEPS, x);
        for (enum tg_reading r = 0; r < TG_READINGS; r++)
            for (int side = 0; side < 2; side++)
                for (size_t run = 0; run < c->n_runs[side]; run++)
                    sum.y[r][side][run] +=
                        each.y[r][side][run] * (each.levelled ? w->speed[side][run] : 1);
    }
    c->step.ev_total =
        (struct tg_evidence){ .judged = device ? TG_NOT_WAIT : common_reason(w, false) };
    judge(w, &c->step.ev_total, &sum, m, FLOOR * c->step_ns[TG_BASE], 0, false);
}

/* The step's own operator, for its gaps. With several (raw names), the first. */
static void copy_gaps(struct tg_comparison *c)
{
    c->step.ev.judged = TG_NOT_NO_STEPS;
    for (size_t i = c->n_ops; i-- > 0;)
        if (c->ops[i].kind == TG_KIND_STEP)
            c->step = c->ops[i];
    c->step.name = c->step.raw[0] = c->step.raw[1] = TG_SV("ProfilerStep");
    c->step.kind = TG_KIND_STEP;
    c->step.partner = c->step.region = c->step.leader = TG_NO_ID;
    c->step.share[0] = c->step.share[1] = 1;
}

static const struct tg_op *find_encloser(const struct tg_comparison *c, tg_sv name)
{
    for (size_t i = 0; i < c->n_ops; i++)
        if (tg_kind_nests(c->ops[i].kind) && tg_sv_eq(c->ops[i].name, name))
            return &c->ops[i];
    return NULL;
}

/* A replacement's time: its encloser's inclusive time, or the step's. */
static void judge_regions(struct tg_diff_work *w, const struct shared *m, struct tg_value_room *x)
{
    struct tg_comparison *c = w->c;

    for (size_t i = 0; i < c->n_regions; i++) {
        struct tg_region *r = &c->regions[i];
        const struct tg_op *op = r->encloser.n ? find_encloser(c, r->encloser) : NULL;
        if (op) {
            struct tg_run_values v = tg_run_values(w, op, TG_ASK_INCLUSIVE_STEPS, x);
            r->ev.judged = v.complete ? common_reason(w, false) : TG_NOT_ONE_SIDED;
            judge(w, &r->ev, &v, m, FLOOR * c->step_ns[TG_BASE], 0, false);
        } else {
            r->ev = c->step.ev_total;
        }
        r->time[TG_BASE] = r->ev.value[TG_BASE];
        r->time[TG_TEST] = r->ev.value[TG_TEST];
        r->time_judged = r->ev.judged;
        r->worse_time = r->ev.slower;
    }
}

/*
 * A coarse clock rounds alike in every run, so that the runs' spread says nothing about it: no
 * change of less than a tick a call is proven there. ns; 0 for a fine clock.
 */
static double tick_of(const struct tg_diff_work *w, const struct tg_op *op)
{
    return w->tick > 1 && !is_gap(op->kind) ? (double)w->tick * op->count[TG_BASE] : 0;
}

/* Outside the list of operators there is no noise of others, only their common factor. */
static void drift_only(const struct tg_diff_work *w, struct shared *m)
{
    memset(m, 0, sizeof *m);
    for (int estimate = 0; estimate < ESTIMATES; estimate++) {
        m->m[0].of[estimate].c = fmax(w->c->drift, 0);
        m->m[1].of[estimate].c = fmax(-w->c->drift, 0);
    }
}

void tg_judge_times(const struct tg_diff_work *w, struct tg_evidence *ev, struct tg_run_values *v)
{
    struct shared m;

    drift_only(w, &m);
    ev->judged = common_reason(w, false);
    judge(w, ev, v, &m, FLOOR * w->c->step_ns[TG_BASE], 0, false);
}

void tg_judge_values(const struct tg_diff_work *w, struct tg_evidence *ev, double *const y[2],
                     bool time)
{
    struct tg_run_values v = { .y = { [TG_LEAST] = { y[TG_BASE], y[TG_TEST] } } };
    struct shared m;

    if (time) {
        tg_judge_times(w, ev, &v);
        return;
    }
    memset(&m, 0, sizeof m);
    ev->judged = common_reason(w, false);
    judge(w, ev, &v, &m, 0, 0, false);
}

/*
 * Times of Python frames, by the least of the steps' sums. They are judged whatever their count
 * did, as a whole trace's times are: what a rule asks of a module is what it costs.
 */
static void judge_frames(struct tg_diff_work *w, const struct shared *m, struct tg_value_room *x)
{
    for (size_t i = 0; i < w->c->n_frames; i++) {
        struct tg_op *op = &w->c->frames[i];
        struct tg_evidence *const ev[] = { &op->ev, &op->ev_total };
        for (int k = 0; k < 2; k++) {
            struct tg_run_values v =
                tg_run_values(w, op, k ? TG_ASK_INCLUSIVE_STEPS : TG_ASK_STEPS, x);
            ev[k]->judged = v.complete ? common_reason(w, op->launched) : TG_NOT_ONE_SIDED;
            judge(w, ev[k], &v, m, FLOOR * w->c->step_ns[TG_BASE], tick_of(w, op), false);
        }
    }
}

/* What measurably got faster is not a regression, however many calls it takes. */
static void excuse_faster(struct tg_comparison *c, uint32_t region)
{
    for (size_t i = 0; i < c->n_ops; i++)
        if (c->ops[i].region == region && c->ops[i].relation == TG_REL_REPLACED_WORSE)
            c->ops[i].relation = TG_REL_REPLACED;
    c->regions[region].worse_count = false;
}

static bool has_device_work(const struct tg_comparison *c)
{
    for (size_t i = 0; i < c->n_ops; i++)
        if (tg_kind_is_device(c->ops[i].kind))
            return true;
    return false;
}

/* What replaced something has a cost to compare with: that of what it replaced. */
static void judge_joints(struct tg_diff_work *w, const struct shared *m, struct tg_value_room *x)
{
    struct tg_comparison *c = w->c;
    bool device = has_device_work(c);

    for (size_t i = 0; i < w->n_joints; i++) {
        const struct tg_op *joint = w->joints[i].op;
        struct tg_op *leader = &c->ops[w->joints[i].leader];
        struct tg_run_values v = tg_run_values(w, joint, TG_ASK_BEST, x);
        struct tg_evidence ev = { 0 };
        bool on_device = tg_kind_is_device(leader->kind);
        ev.judged = v.complete ? common_reason(w, on_device) : TG_NOT_ONE_SIDED;
        judge(w, &ev, &v, m, FLOOR * c->step_ns[TG_BASE], tick_of(w, joint), false);
        if (ev.judged != TG_JUDGED && !ev.suspicious)
            continue;
        leader->ev = leader->ev_total = ev;
        /* A host's time tells no cost where a device does the work. */
        if (ev.faster && leader->region != TG_NO_ID && (on_device || !device))
            excuse_faster(c, leader->region);
    }
}

void tg_judge_durations(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;
    struct tg_run_values *v = TG_NEW_N(w->a, struct tg_run_values, c->n_ops + 1);
    bool *judged = TG_NEW_N(w->a, bool, c->n_ops + 1);
    struct tg_value_room *x = tg_value_room_new(w);
    struct shared m;
    enum tg_judged host, device;
    double floor = FLOOR * c->step_ns[TG_BASE];

    for (size_t i = 0; i < c->n_ops; i++) {
        v[i] = tg_run_values(w, &c->ops[i], TG_ASK_BEST, x);
        judged[i] = own_reason(&c->ops[i], &v[i]) == TG_JUDGED;
    }
    find_shared(w, v, judged, &m);
    host = common_reason(w, false);
    device = common_reason(w, true);
    for (size_t i = 0; i < c->n_ops; i++) {
        struct tg_op *op = &c->ops[i];
        enum tg_judged all = tg_kind_is_device(op->kind) ? device : host;
        enum tg_judged own = own_reason(op, &v[i]);
        if (own == TG_JUDGED && op->relation != TG_REL_NONE)
            own = TG_NOT_REPLACED;
        op->ev.judged = own != TG_JUDGED ? own : all;
        judge(w, &op->ev, &v[i], &m, floor, tick_of(w, op), w->big[i]);
        find_slow_steps(w, op, &v[i], x);
        c->n_held += op->ev.held;
        op->ev_total = op->ev;
        if (tg_kind_is_device(op->kind) || !tg_kind_nests(op->kind))
            continue;
        struct tg_run_values whole = tg_run_values(w, op, TG_ASK_INCLUSIVE, x);
        op->ev_total = (struct tg_evidence){ .judged = op->ev.judged };
        judge(w, &op->ev_total, &whole, &m, floor, tick_of(w, op), false);
    }
    judge_frames(w, &m, x);
    tg_excuse_moves(w);
    copy_gaps(c);
    judge_step(w, v, &m, x);
    judge_regions(w, &m, x);
    judge_joints(w, &m, x);
}

/* Quantile over all single values in the cells [from, to). NaN: none, or slots dropped. */
static double cells_quantile(const struct tg_diff_work *w, const struct tg_op *op, size_t from,
                             size_t to, double q)
{
    size_t n = 0, cap = 0;
    double *v = NULL, result;
    bool dropped = false;

    for (size_t at = from; at < to; at++)
        for (size_t r = 0; r < op->rows->cell[at].n; r++) {
            const struct tg_row *row = op->rows->cell[at].row[r];
            size_t offset = 0, u = 0;
            for (size_t j = 0; j < w->shard[at]->n_steps; j++) {
                bool used = u < w->used[at].n && w->used[at].step[u] == j;
                dropped |= used && row->count[j] && !row->slots;
                v = tg_grow(v, &cap, n + row->count[j] + 1, sizeof *v);
                for (size_t k = 0; used && !dropped && k < row->count[j]; k++)
                    v[n++] = (double)row->slots[offset + k];
                u += used;
                offset += row->count[j];
            }
        }
    result = dropped ? NAN : tg_quantile(v, n, q);
    free(v);
    return result;
}

double tg_op_quantile(const struct tg_comparison *c, const struct tg_op *op, int side, double q)
{
    const struct tg_diff_work *w = op->rows ? op->rows->work : NULL;
    (void)c;
    if (!w || op->step_count[side] == 0)
        return NAN;
    return cells_quantile(w, op, w->first[side], side ? w->n_cells : w->first[TG_TEST], q);
}

bool tg_op_quantile_evidence(const struct tg_op *op, double q, struct tg_evidence *ev)
{
    const struct tg_diff_work *w = op->rows ? op->rows->work : NULL;
    double *y[2];

    for (int side = 0; w && side < 2; side++) {
        y[side] = TG_NEW_N(w->a, double, w->c->n_runs[side]);
        for (size_t run = 0; run < w->c->n_runs[side]; run++) {
            size_t at = tg_work_cell(w, side, run, 0);
            y[side][run] = cells_quantile(w, op, at, at + w->c->n_ranks[side], q);
            if (isnan(y[side][run]))
                return false;
        }
    }
    if (!w)
        return false;
    tg_judge_values(w, ev, y, true);
    ev->judged = op->ev.judged;
    return true;
}
