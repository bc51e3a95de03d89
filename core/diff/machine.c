/* What all operators tell of the machine: its factor, its speed by run, whether it was busy. */
#include <math.h>

#include "core/diff/internal.h"

/* Does the operator speak for this machine? */
static bool is_of(const struct tg_diff_work *w, size_t i, enum tg_clock clock)
{
    return tg_kind_is_device(w->c->ops[i].kind) == (clock == TG_DEVICE_TIMES);
}

/*
 * Each run's machine against the usual one of its side, from how far the big operators' least times
 * are from their medians over the runs; 1 with few of them.
 */
static void find_speeds(struct tg_diff_work *w, const struct tg_run_values *v, const bool *big,
                        enum tg_clock clock)
{
    const struct tg_comparison *c = w->c;
    struct tg_logs *l = TG_NEW_N(w->a, struct tg_logs, c->n_ops + 1);
    double *away = TG_NEW_N(w->a, double, c->n_ops + 1);
    size_t n = 0;
    for (size_t i = 0; i < c->n_ops; i++)
        if (big[i] && is_of(w, i, clock))
            l[n++] = tg_logs_of_values(w, v[i].y[TG_LEAST], TG_FORWARD);
    for (int side = 0; side < 2; side++) {
        w->speed[clock][side] = TG_NEW_N(w->a, double, c->n_runs[side] + 1);
        for (size_t run = 0; run < c->n_runs[side]; run++) {
            for (size_t i = 0; i < n; i++)
                away[i] = l[i].x[side][run] - l[i].median[side];
            w->speed[clock][side][run] = n >= TG_MIN_BIG ? exp(tg_median(away, n)) : 1;
        }
    }
}

/* Common factor and usual noise of the big operators, by one estimate in one direction. The
 * factor never helps the fresh side: a machine that got faster must not make an unchanged operator
 * look slower. Returns the factor before that. */
static double find_common(const struct tg_diff_work *w, const struct tg_run_values *v,
                          const bool *big, enum tg_clock clock, int estimate,
                          enum tg_role_order order, struct tg_background *m)
{
    const struct tg_comparison *c = w->c;
    double *var = TG_NEW_N(w->a, double, 3 * (c->n_ops + 1));
    double *shifts = var + c->n_ops + 1, *fine = shifts + c->n_ops + 1;
    size_t n = 0, n_fine = 0;
    for (size_t i = 0; i < c->n_ops; i++) {
        if (!big[i] || !is_of(w, i, clock))
            continue;
        struct tg_logs l = tg_logs_of_values(w, v[i].y[tg_step_statistic_of(estimate)], order);
        double shift = l.median[TG_TEST] - l.median[TG_BASE];
        if (c->ops[i].iteration_scaled) /* more iterations do not mean a slower machine */
            shift -= (order == TG_SWAPPED ? -1 : 1) * log(c->iteration_ratio);
        var[n] = l.variance;
        shifts[n] = shift;
        /* Calls of a microsecond or two stay as long when everything takes a tenth more: a clock
         * of whole microseconds does not show it. */
        if (exp(l.median[TG_BASE]) >= TG_FINE_TICKS * (double)w->tick * c->ops[i].count[TG_BASE])
            fine[n_fine++] = shift;
        n++;
    }
    double factor = n_fine >= TG_MIN_BIG ? tg_median(fine, n_fine)
                    : n >= TG_MIN_BIG    ? tg_median(shifts, n)
                                         : 0;
    m->has_v0 = n > 0;
    m->v0 = n ? tg_quantile(var, n, 0.25) : 0;
    m->c = fmax(factor, 0);
    m->others = n > TG_MIN_BIG ? fmax(tg_quantile(shifts, n - 1, TG_NEARLY_ALL) - m->c, 0) : 0;
    return factor;
}

/*
 * Were the fresh runs disturbed? Then the steps of most operators lie further above their least
 * than the baseline's do, and together by a good part of the step. The two operators with most of
 * it are left out: that is what a change looks like which strikes some of the steps.
 */
static void find_busy(struct tg_diff_work *w, const struct tg_run_values *v, const bool *judged,
                      const bool *big, enum tg_clock clock)
{
    struct tg_comparison *c = w->c;
    double *rise = TG_NEW_N(w->a, double, c->n_ops + 1), sum = 0, step = 0;
    double *x = TG_NEW_N(w->a, double, c->n_runs[TG_BASE] + c->n_runs[TG_TEST] + 1);
    size_t n = 0, n_big = 0, risen = 0;
    for (size_t i = 0; i < c->n_ops; i++) {
        double least[2], excess[2]; /* the middle run's: its steps above their least, on average */
        if (!judged[i] || v[i].form != TG_FORM_SLOTS || !is_of(w, i, clock))
            continue;
        for (int side = 0; side < 2; side++) {
            size_t n_runs = c->n_runs[side];
            for (size_t run = 0; run < n_runs; run++)
                x[run] = v[i].y[TG_LEAST][side][run];
            least[side] = tg_median(x, n_runs);
            for (size_t run = 0; run < n_runs; run++)
                x[run] = v[i].y[TG_MEAN][side][run] - v[i].y[TG_LEAST][side][run];
            excess[side] = tg_median(x, n_runs);
        }
        double usual = excess[TG_BASE] * fmax(1, least[TG_TEST] / fmax(least[TG_BASE], 1));
        rise[n++] = excess[TG_TEST] - usual;
        step += least[TG_BASE];
        n_big += big[i];
        risen += big[i] && excess[TG_TEST] / fmax(least[TG_TEST], 1) >
                               excess[TG_BASE] / fmax(least[TG_BASE], 1) + TG_RESTLESS;
    }
    if (n_big < TG_MIN_BIG)
        return;
    tg_ascend(rise, n);
    for (size_t i = 0; i + 2 < n; i++)
        sum += rise[i];
    double excess = sum / fmax(step, 1);
    w->busy[clock] = excess > TG_RESTLESS && (double)risen >= TG_HALF * (double)n_big;
    c->excess = clock == TG_HOST_TIMES ? excess : fmax(c->excess, excess);
    c->busy = c->busy || w->busy[clock];
}

void tg_machine_find(struct tg_diff_work *w, struct tg_run_values *v, const bool *judged,
                     struct tg_machine *m)
{
    struct tg_comparison *c = w->c;
    bool *big = TG_NEW_N(w->a, bool, c->n_ops + 1);
    double factor[TG_OWN_CLOCKS];
    /* Large names speak for the machine and for the usual noise. */
    for (size_t i = 0; i < c->n_ops; i++)
        big[i] = judged[i] && !tg_kind_is_gap(c->ops[i].kind) &&
                 exp(tg_logs_of_values(w, v[i].y[TG_LEAST], TG_FORWARD).median[TG_BASE]) >=
                     TG_BIG * c->step_ns[TG_BASE];
    for (enum tg_clock clock = 0; clock < TG_OWN_CLOCKS; clock++)
        find_speeds(w, v, big, clock);
    for (size_t i = 0; i < c->n_ops; i++)
        tg_logs_level(w, &v[i]);
    for (int d = 0; d < 2; d++)
        for (int estimate = 0; estimate < TG_ESTIMATES; estimate++) {
            struct tg_background *of[TG_CLOCKS];
            for (enum tg_clock clock = 0; clock < TG_CLOCKS; clock++)
                of[clock] = &m[clock].of[d][estimate];
            for (enum tg_clock clock = 0; clock < TG_OWN_CLOCKS; clock++) {
                double f = find_common(w, v, big, clock, estimate, d, of[clock]);
                if (d == 0 && estimate == TG_ESTIMATE_LEAST)
                    factor[clock] = f;
            }
            /* The slower machine of the two judges what may wait for either. */
            *of[TG_EITHER_TIMES] =
                *of[of[TG_DEVICE_TIMES]->c > of[TG_HOST_TIMES]->c ? TG_DEVICE_TIMES
                                                                  : TG_HOST_TIMES];
        }
    /* Of host and device the one that changed more, or both as one. */
    double limit = log1p(w->o->drift_limit > 0 ? w->o->drift_limit : 0.10);
    double host = factor[TG_HOST_TIMES], device = factor[TG_DEVICE_TIMES];
    bool together = fabs(host) > limit && fabs(device) > limit && (host > 0) == (device > 0);
    c->drift = fabs(device) > fabs(host) ? device : host;
    c->drifted = fabs(c->drift) > limit;
    if (c->drifted && m[TG_DEVICE_TIMES].of[TG_FORWARD][TG_ESTIMATE_LEAST].has_v0 && !together)
        c->drift_of = fabs(device) > fabs(host) ? TG_DRIFT_OF_DEVICE : TG_DRIFT_OF_HOST;
    /* Does the device's speed still change within the runs, as on a cold card? */
    for (int side = 0; side < 2; side++) {
        double *x = TG_NEW_N(w->a, double, c->n_ops * c->n_runs[side] + 1);
        size_t n = 0, n_ops = 0;
        for (size_t i = 0; i < c->n_ops; i++) {
            double *const *first = v[i].y[TG_LEAST_FIRST], *const *last = v[i].y[TG_LEAST_LAST];
            if (!big[i] || !is_of(w, i, TG_DEVICE_TIMES) || v[i].form != TG_FORM_SLOTS)
                continue;
            n_ops++;
            for (size_t run = 0; run < c->n_runs[side]; run++)
                if (first[side][run] > 0 && last[side][run] > 0)
                    x[n++] = log(last[side][run] / first[side][run]);
        }
        double middle = n_ops >= TG_MIN_BIG ? tg_median(x, n) : 0;
        c->warming = fabs(middle) > fabs(c->warming) ? middle : c->warming;
    }
    c->warming = fabs(c->warming) > log1p(TG_TAU_DEVICE) ? c->warming : 0;
    for (enum tg_clock clock = 0; clock < TG_OWN_CLOCKS; clock++)
        find_busy(w, v, judged, big, clock);
}
