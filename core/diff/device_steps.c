/*
 * Fewer runs a side than durations need, but many steps: device kernels, judged by their steps.
 *
 * Steps of one run are no independent samples, so that the rank test below is no proof by itself:
 * what lies between two processes (clocks, placement) it cannot see. Hence a kernel fails only from
 * +30 % on, and the policy has to ask for it. docs/statistics.md has what was measured.
 */
#include <math.h>

#include "core/diff/internal.h"
#include "core/diff/stats.h"

#define MIN_STEPS 10  /* usable ones of each run */
#define USABLE 0.6    /* part of a run's steps that must have the usual number of launches */
#define MIN_KERNELS 5 /* big ones: fewer tell nothing about the clock of the device */
#define BIG 0.003     /* of the device's step */
#define SIZE 1.3      /* smaller changes are not judged */
#define P_LIMIT 1e-4  /* of 10 against 10 steps, at most 4 of the 100 pairs inverted */

struct steps {
    double *x; /* ln of ns per step and rank, in the order of the steps */
    size_t n;
};

struct finding {
    double e, p; /* ln of the slowdown; of its rank test. Of several pairs of runs the worst. */
    unsigned steps[2];
};

/* The first `n` steps that all ranks of a run have. */
static size_t steps_of_run(const struct tg_diff_work *w, int side, size_t run)
{
    size_t n = SIZE_MAX;

    for (size_t rank = 0; rank < w->c->n_ranks[side]; rank++) {
        size_t at = tg_work_cell(w, side, run, rank);
        n = w->used[at].n < n ? w->used[at].n : n;
    }
    return n == SIZE_MAX ? 0 : n;
}

static void add_cell(const struct tg_diff_work *w, const struct tg_op *op, size_t at, size_t j,
                     uint64_t *count, tg_ns *time)
{
    const struct tg_diff_cell *cell = &op->rows->cell[at];
    size_t step = w->used[at].step[j];

    for (size_t r = 0; r < cell->n; r++) {
        *count += cell->row[r]->count[step];
        *time += cell->row[r]->self[step]; /* of device work: its duration */
    }
}

/* The steps of a run that launch the kernel as often as usual; none if these are too few. */
static struct steps run_steps(const struct tg_diff_work *w, const struct tg_op *op, int side,
                              size_t run)
{
    size_t all = steps_of_run(w, side, run);
    struct steps s = { TG_NEW_N(w->a, double, all + 1), 0 };
    uint64_t *count = TG_NEW_N(w->a, uint64_t, all + 1);
    uint64_t *sorted = TG_NEW_N(w->a, uint64_t, all + 1);
    tg_ns *time = TG_NEW_N(w->a, tg_ns, all + 1);

    for (size_t j = 0; j < all; j++) {
        for (size_t rank = 0; rank < w->c->n_ranks[side]; rank++)
            add_cell(w, op, tg_work_cell(w, side, run, rank), j, &count[j], &time[j]);
        sorted[j] = count[j];
    }
    uint64_t usual = tg_mode(sorted, all, NULL);
    for (size_t j = 0; j < all; j++)
        if (count[j] == usual)
            s.x[s.n++] = log(fmax((double)time[j] / (double)w->c->n_ranks[side], 1));
    if (s.n < MIN_STEPS || (double)s.n < USABLE * (double)all)
        s.n = 0;
    return s;
}

static double median_of(const struct tg_diff_work *w, const double *x, size_t n)
{
    double *copy = TG_NEW_N(w->a, double, n + 1);

    memcpy(copy, x, n * sizeof *x);
    return tg_median(copy, n);
}

/*
 * Test above base, the device's factor `c` taken off: by medians from SIZE on, in the first and in
 * the last half of the steps by half of that, and all but few steps of the one by half of it above
 * the other's.
 */
static bool above(const struct tg_diff_work *w, const struct steps *b, const struct steps *t,
                  double c, struct finding *f)
{
    double e = median_of(w, t->x, t->n) - median_of(w, b->x, b->n) - c;
    double first = median_of(w, t->x, t->n / 2) - median_of(w, b->x, b->n / 2) - c;
    double last = median_of(w, t->x + (t->n + 1) / 2, t->n / 2) -
                  median_of(w, b->x + (b->n + 1) / 2, b->n / 2) - c;
    double p = tg_rank_p(b->x, b->n, t->x, t->n, c + e / 2);

    f->e = fmin(f->e, e);
    f->p = fmax(f->p, p);
    f->steps[TG_BASE] = b->n < f->steps[TG_BASE] ? (unsigned)b->n : f->steps[TG_BASE];
    f->steps[TG_TEST] = t->n < f->steps[TG_TEST] ? (unsigned)t->n : f->steps[TG_TEST];
    return e > log(SIZE) && first >= e / 2 && last >= e / 2 && p <= P_LIMIT;
}

/* Every run of the test side against every one of the baseline. */
static bool all_above(const struct tg_diff_work *w, const struct tg_op *op, double c,
                      struct finding *f)
{
    *f = (struct finding){ .e = INFINITY, .steps = { UINT32_MAX, UINT32_MAX } };
    for (size_t i = 0; i < w->c->n_runs[TG_BASE]; i++) {
        struct steps b = run_steps(w, op, TG_BASE, i);
        for (size_t k = 0; b.n && k < w->c->n_runs[TG_TEST]; k++) {
            struct steps t = run_steps(w, op, TG_TEST, k);
            if (!t.n || !above(w, &b, &t, c, f))
                return false;
        }
        if (!b.n)
            return false;
    }
    return true;
}

static bool is_candidate(const struct tg_op *op)
{
    return op->kind == TG_KIND_KERNEL && op->ev.judged == TG_NOT_FEW_RUNS;
}

/* What all kernels have in common, at least 0: a device that got faster makes nothing slower.
 * False: too few big kernels to know. */
static bool device_factor(const struct tg_diff_work *w, double *c)
{
    double *ratio = TG_NEW_N(w->a, double, w->c->n_ops + 1);
    size_t n = 0;

    for (size_t i = 0; i < w->c->n_ops; i++) {
        const struct tg_evidence *ev = &w->c->ops[i].ev;
        if (is_candidate(&w->c->ops[i]) && ev->value[TG_BASE] >= BIG * w->c->step_ns[TG_BASE])
            ratio[n++] = log(ev->value[TG_TEST] / ev->value[TG_BASE]);
    }
    *c = fmax(tg_median(ratio, n), 0);
    return n >= MIN_KERNELS;
}

static void settle(struct tg_evidence *ev, const struct finding *f)
{
    ev->judged = TG_JUDGED;
    ev->e = f->e;
    ev->delta_ns = ev->value[TG_BASE] * expm1(f->e);
    ev->tau = ev->mde = SIZE - 1;
    ev->p = f->p;
    ev->p_limit = P_LIMIT;
    ev->proven = ev->slower = true;
    ev->suspicious = false;
    ev->steps[TG_BASE] = f->steps[TG_BASE];
    ev->steps[TG_TEST] = f->steps[TG_TEST];
}

void tg_judge_device_steps(struct tg_diff_work *w)
{
    double c;

    if (!device_factor(w, &c))
        return;
    c = fmax(c, w->c->drift);
    for (size_t i = 0; i < w->c->n_ops; i++) {
        struct tg_op *op = &w->c->ops[i];
        struct finding f;
        /* Suspicious and proven: large in the values of the runs, too, and in both halves of them.
         */
        if (!is_candidate(op) || !op->ev.suspicious || !op->ev.proven || !all_above(w, op, c, &f))
            continue;
        settle(&op->ev, &f);
        op->ev_total = op->ev;
    }
}
