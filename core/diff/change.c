/* Did the calls of an operator change? The rule is in counts.c; here is what it is asked. */
#include <math.h>

#include "core/diff/counts.h"
#include "core/diff/internal.h"
#include "core/diff/numbers.h"
#include "core/diff/stats.h"

static double *copy_of(const struct tg_diff_work *w, const double *v, size_t n)
{
    return tg_arena_copy(w->a, v, n, sizeof *v);
}

/* Mean over all steps of a side. */
static double mean_count(const struct tg_diff_work *w, const struct tg_op_counts *x, int side)
{
    double sum = 0, n = 0;

    for (size_t run = 0; run < w->c->n_runs[side]; run++)
        for (size_t j = 0; j < x->run[side][run].n; j++, n++)
            sum += x->run[side][run].v[j];
    return n > 0 ? sum / n : 0;
}

static bool all_alike(const struct tg_diff_work *w, const struct tg_op_counts *x)
{
    double first = x->run[TG_BASE][0].n ? x->run[TG_BASE][0].v[0] : 0;

    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < w->c->n_runs[side]; run++)
            for (size_t j = 0; j < x->run[side][run].n; j++)
                if (x->run[side][run].v[j] != first)
                    return false;
    return true;
}

static bool has_any(const double *v, size_t n)
{
    for (size_t j = 0; j < n; j++)
        if (v[j] != 0)
            return true;
    return false;
}

static bool has_calls(const struct tg_diff_work *w, const struct tg_op_counts *x, int side)
{
    for (size_t run = 0; run < w->c->n_runs[side]; run++)
        if (has_any(x->run[side][run].v, x->run[side][run].n))
            return true;
    return false;
}

/*
 * Does every run of a side have the name, in a step that is not just a cold first one, and no step
 * of the other side? Even if a run has such a step with the least favourable chance, one in two, one
 * set of three runs per side in 64 looks like this.
 */
static bool in_every_run_of(const struct tg_diff_work *w, const struct tg_op_counts *x, int side)
{
    size_t n = w->c->n_runs[side], first = 0, rest = 0;

    if (n < TG_FEWEST_RUNS || w->c->n_runs[!side] < TG_FEWEST_RUNS || has_calls(w, x, !side))
        return false;
    for (size_t run = 0; run < n; run++) {
        const struct tg_step_counts *s = &x->run[side][run];
        bool at_first = s->n && s->v[0] != 0, later = s->n && has_any(s->v + 1, s->n - 1);
        if (!at_first && !later)
            return false;
        first += at_first;
        rest += later;
    }
    return rest == n || (first < n && 2 * rest > n);
}

/* The same question the other way round: negated counts rise where counts fell. */
static void negate(const struct tg_diff_work *w, struct tg_op_counts *x)
{
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < w->c->n_runs[side] * w->max_steps; i++)
            x->by_step[side][i] = -x->by_step[side][i];
}

static enum tg_change rise_or_fall(struct tg_diff_work *w, struct tg_op *op, struct tg_op_counts *x)
{
    const struct tg_step_counts *const run[2] = { x->run[TG_BASE], x->run[TG_TEST] };
    struct tg_count_evidence fall;

    tg_count_judge(&op->counted, run, w->c->n_runs, tg_calls_of(op));
    if (op->counted.shape == TG_COUNT_SOME_STEPS && in_every_run_of(w, x, TG_TEST)) {
        op->counted.proof = TG_COUNT_PROVEN;
        op->counted.runs_above = (unsigned)w->c->n_runs[TG_TEST];
    }
    if (op->counted.proof == TG_COUNT_PROVEN)
        return has_calls(w, x, TG_BASE) ? TG_MORE : TG_ADDED;
    negate(w, x);
    tg_count_judge(&fall, run, w->c->n_runs, TG_CALLS_WORK);
    negate(w, x);
    if (fall.shape == TG_COUNT_VARIES && in_every_run_of(w, x, TG_BASE))
        fall.proof = TG_COUNT_PROVEN;
    if (fall.proof != TG_COUNT_PROVEN)
        return TG_SAME;
    fall.most = op->counted.most;
    op->counted = fall;
    return has_calls(w, x, TG_TEST) ? TG_FEWER : TG_REMOVED;
}

/* A whole trace is one step, and runs of it may have more or fewer iterations. */
static enum tg_change change_of_traces(const struct tg_op *op, const double base[2],
                                       const double test[2])
{
    double a = op->count[TG_BASE], b = op->count[TG_TEST];
    bool apart = base[1] < test[0] || test[1] < base[0];

    if (op->agreed ? a == b : !(apart && fabs(b - a) > TG_SLACK * fmax(a, 1)))
        return TG_SAME;
    if (a == 0)
        return TG_ADDED;
    if (b == 0)
        return TG_REMOVED;
    return b > a ? TG_MORE : TG_FEWER;
}

static double least_count(const struct tg_diff_work *w, const struct tg_op_counts *x, int side)
{
    double least = INFINITY;

    for (size_t run = 0; run < w->c->n_runs[side]; run++)
        least = fmin(least, tg_least(x->run[side][run].v, x->run[side][run].n));
    return least;
}

/*
 * A loader works ahead: as often before the first step whatever the number of steps, and not in the
 * last ones. Of more steps more have it, and all of them, inside and outside, as often as before.
 */
static bool works_ahead(const struct tg_diff_work *w, const struct tg_op *op,
                        const struct tg_op_counts *x)
{
    const struct tg_comparison *c = w->c;
    const uint64_t *steps = c->n_units, *all = op->whole_count;
    uint64_t traces[2], outside[2];

    for (int side = 0; side < 2; side++) {
        traces[side] = c->n_runs[side] * c->n_ranks[side];
        outside[side] = all[side] - op->step_count[side];
    }
    return steps[TG_BASE] * traces[TG_TEST] != steps[TG_TEST] * traces[TG_BASE] &&
           all[TG_BASE] * steps[TG_TEST] == all[TG_TEST] * steps[TG_BASE] &&
           outside[TG_BASE] * traces[TG_TEST] == outside[TG_TEST] * traces[TG_BASE] &&
           least_count(w, x, TG_TEST) <= least_count(w, x, TG_BASE);
}

void tg_op_find_change(struct tg_diff_work *w, struct tg_op *op, struct tg_op_counts *x)
{
    double range[2][2];

    op->counted = (struct tg_count_evidence){ .p = 1 };
    for (int side = 0; side < 2; side++) {
        size_t n = w->c->n_runs[side];
        range[side][0] = tg_least(x->modal[side], n);
        range[side][1] = tg_most(x->modal[side], n);
        op->count[side] = tg_median(copy_of(w, x->modal[side], n), n);
    }
    op->agreed = op->settled && range[TG_BASE][0] == range[TG_BASE][1] &&
                 range[TG_TEST][0] == range[TG_TEST][1];
    if (all_alike(w, x))
        return;
    if (!w->c->marked[TG_BASE] || !w->c->marked[TG_TEST]) {
        op->change = change_of_traces(op, range[TG_BASE], range[TG_TEST]);
        return;
    }
    if (works_ahead(w, op, x)) {
        op->counted.shape = TG_COUNT_VARIES;
        return;
    }
    op->change = rise_or_fall(w, op, x);
    if (op->counted.shape == TG_COUNT_CONSTANT || op->counted.proof == TG_COUNT_UNCHANGED)
        return;
    for (int side = 0; side < 2; side++) {
        op->counted.run[side] = copy_of(w, x->modal[side], w->c->n_runs[side]);
        /* The usual count of the median run says nothing about what came elsewhere. */
        if (op->counted.shape != TG_COUNT_RUNS_DIFFER || op->counted.proof == TG_COUNT_HINT)
            op->count[side] = mean_count(w, x, side);
    }
}

/* ---- traces without step markers: the ratio of iterations that most counts share ---- */

/* Counts after division by the ratio of iterations. Names that did not scale at all ran once. */
static void scale(struct tg_op *ops, size_t n, double ratio)
{
    for (size_t i = 0; i < n; i++) {
        struct tg_op *op = &ops[i];
        double a = op->count[TG_BASE], want = a * ratio, off = op->count[TG_TEST] - want;
        if (op->change != TG_MORE && op->change != TG_FEWER)
            continue;
        op->iteration_scaled = true;
        if (fabs(off) <= fmax(0.5, TG_SLACK * want))
            op->change = TG_SAME;
        else
            op->change = off > 0 ? TG_MORE : TG_FEWER;
    }
}

void tg_scale_counts(struct tg_diff_work *w)
{
    /* The ratio test / baseline that most names share, when it is not 1; else 1. */
    double *v = TG_NEW_N(w->a, double, w->c->n_ops + 1), best = 1;
    size_t n = 0, most = 0;
    for (size_t i = 0; i < w->c->n_ops; i++) {
        const struct tg_op *op = &w->c->ops[i];
        if (tg_kind_is_counted(op->kind) && !op->polling && op->count[0] > 0 && op->count[1] > 0)
            v[n++] = op->count[TG_TEST] / op->count[TG_BASE];
    }
    tg_ascend(v, n);
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i; j < n && v[j] <= v[i] * (1 + 1e-12); j++)
            ;
        if (j - i > most) {
            most = j - i;
            best = v[i];
        }
    }
    double ratio = best != 1 && (double)most >= TG_SETTLED * (double)n ? best : 1;

    w->c->iteration_ratio = ratio;
    if (ratio == 1)
        return;
    scale(w->c->ops, w->c->n_ops, ratio);
    scale(w->c->frames, w->c->n_frames, ratio);
}
