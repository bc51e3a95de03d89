/* Run values as logarithms, with the speeds of the runs' machines taken off where that helps. */
#include <math.h>

#include "core/diff/numbers.h"
#include "core/diff/rule.h"
#include "core/diff/stats.h"

struct tg_logs tg_logs_of_values(const struct tg_diff_work *w, double *const y[2],
                                 enum tg_role_order order)
{
    struct tg_logs l;
    size_t n[2];

    for (int i = 0; i < 2; i++) {
        int side = order == TG_SWAPPED ? !i : i;
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

enum way { OFF, BACK };

static void divide(const struct tg_diff_work *w, const struct tg_run_values *v,
                   enum tg_step_statistic statistic, enum way way)
{
    double *const *speed = w->speed[v->device ? TG_DEVICE_TIMES : TG_HOST_TIMES];
    double *const *y = v->y[statistic];

    for (int side = 0; y[side] && side < 2; side++)
        for (size_t run = 0; run < w->c->n_runs[side]; run++)
            y[side][run] *= way == BACK ? speed[side][run] : 1 / speed[side][run];
}

static double variance_of(const struct tg_diff_work *w, double *const y[2])
{
    struct tg_logs l = tg_logs_of_values(w, y, TG_FORWARD);
    double sum = 0;

    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < w->c->n_runs[side]; run++)
            sum += (l.x[side][run] - l.median[side]) * (l.x[side][run] - l.median[side]);
    return sum;
}

void tg_logs_level(const struct tg_diff_work *w, struct tg_run_values *v)
{
    double before;

    if (v->levelled || !w->speed[TG_HOST_TIMES][TG_BASE])
        return;
    before = variance_of(w, v->y[TG_LEAST]);
    divide(w, v, TG_LEAST, OFF);
    v->levelled = variance_of(w, v->y[TG_LEAST]) < TG_LEVELLED * before;
    if (!v->levelled)
        divide(w, v, TG_LEAST, BACK);
    for (enum tg_step_statistic r = TG_LEAST + 1; v->levelled && r < TG_STEP_STATISTICS; r++)
        divide(w, v, r, OFF);
}
