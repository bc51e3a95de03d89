/* Traces without step markers: the ratio of iterations that most counts share. */
#include <math.h>

#include "core/diff/internal.h"
#include "core/diff/numbers.h"
#include "core/diff/stats.h"

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
