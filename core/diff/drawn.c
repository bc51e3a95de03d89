/*
 * Work that a seed or the data chooses: layers that are dropped, experts, trees. Its calls differ
 * from step to step and are the same in all runs of a side. If most names of this sort have the
 * same calls in each step of both sides, then step i of one side did what step i of the other did,
 * and calls are compared step by step, as exact as constant ones.
 */
#include <math.h>
#include <stdlib.h>

#include "core/diff/internal.h"
#include "core/diff/numbers.h"
#include "core/diff/stats.h"

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
static void judge(const struct tg_drawn_name *name, const double *const *unchanged, size_t n,
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
        judge(&d->v[i], unchanged, n, d->n_steps, rise);
    }
    free(d->v);
    *d = (struct tg_drawn){ 0 };
}
