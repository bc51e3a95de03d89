/*
 * An operator beside its companions: names whose times vary with its own from run to run, or against it. The speeds of
 * processor and memory differ from process to process, and each name follows some of them. So what the companions show
 * of a run is taken off the value. Numbers: docs/stages.md.
 *
 * Loads come from how values vary within the sides, so that a change does not choose the companions; what a run's
 * companions show is measured against all runs of both sides, so that equal code stays interchangeable. Their median
 * counts: a few of them that changed do not move it.
 */
#include <math.h>

#include "core/base/sort.h"
#include "core/diff/rule.h"
#include "core/diff/stats.h"

struct companion {
    const double *x; /* of all runs, the baseline's first */
    double load, size;
};

struct field {
    size_t n[2];
    double *room;
};

static size_t all_of(const struct field *f)
{
    return f->n[TG_BASE] + f->n[TG_TEST];
}

/* The values less the mean of their side. */
static void center(const struct field *f, const double *x, double *out)
{
    for (size_t at = 0, side = 0; side < 2; at += f->n[side++]) {
        double mean = tg_mean(x + at, f->n[side]);
        for (size_t i = at; i < at + f->n[side]; i++)
            out[i] = x[i] - mean;
    }
}

static double product(const double *x, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static int by_load(const void *a, const void *b)
{
    double x = fabs(((const struct companion *)a)->load),
           y = fabs(((const struct companion *)b)->load);
    return (x < y) - (x > y);
}

/* Takes what the companions show off `x`; false: that explains too little of how it varies. */
static bool take_off(const struct field *f, const struct companion *v, size_t n, double *x)
{
    size_t runs = all_of(f);
    double *shown = f->room + runs, *within = shown + runs, *mine = within + runs;
    /* What the companions show of each run: the median of how far they are from their middle. */
    double middle[TG_MIN_BIG], away[TG_MIN_BIG];
    for (size_t k = 0; k < n; k++) {
        memcpy(f->room, v[k].x, all_of(f) * sizeof *f->room);
        middle[k] = tg_median(f->room, all_of(f));
    }
    for (size_t run = 0; run < all_of(f); run++) {
        for (size_t k = 0; k < n; k++)
            away[k] = (v[k].x[run] - middle[k]) / v[k].size * (v[k].load < 0 ? -1 : 1);
        shown[run] = tg_median(away, n);
    }
    center(f, shown, within);
    center(f, x, mine);
    double before = product(mine, mine, runs), slope = product(within, mine, runs);
    slope /= fmax(product(within, within, runs), 1e-300);
    for (size_t i = 0; i < runs; i++)
        mine[i] -= slope * within[i];
    if (product(mine, mine, runs) >= TG_LEVELLED * before)
        return false;
    for (size_t i = 0; i < runs; i++)
        x[i] -= slope * shown[i];
    return true;
}

/* Logarithms of the measured values of all runs. */
static double *values_of(const struct tg_diff_work *w, const struct tg_run_values *v, size_t runs)
{
    double *x = TG_NEW_N(w->a, double, runs), *to = x;
    enum tg_clock clock = v->device ? TG_DEVICE_TIMES : TG_HOST_TIMES;
    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < w->c->n_runs[side]; run++)
            *to++ = log(fmax(
                v->y[TG_LEAST][side][run] * (v->levelled ? w->speed[clock][side][run] : 1), 1));
    return x;
}

/* The others of the same clock that vary most like it; how many. */
static size_t find_companions(const struct field *f, const struct companion *all, size_t n,
                              size_t me, struct companion *out)
{
    size_t m = 0, runs = all_of(f);
    double *mine = f->room, *other = mine + runs;
    center(f, all[me].x, mine);
    for (size_t k = 0; k < n; k++) {
        out[m] = all[k];
        center(f, all[k].x, other);
        out[m].load = product(mine, other, runs) / fmax(all[me].size * all[k].size, 1e-300);
        m += k != me && fabs(out[m].load) >= TG_WINS;
    }
    TG_SORT(out, m, by_load);
    return m < TG_MIN_BIG ? m : TG_MIN_BIG;
}

void tg_companions_find(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;
    struct field f = { .n = { c->n_runs[TG_BASE], c->n_runs[TG_TEST] } };
    size_t runs = all_of(&f);
    struct companion *all = TG_NEW_N(w->a, struct companion, c->n_ops + 1),
                     *of = TG_NEW_N(w->a, struct companion, c->n_ops + 1);
    f.room = TG_NEW_N(w->a, double, 4 * runs + 1);
    for (enum tg_clock clock = 0; clock < TG_OWN_CLOCKS; clock++) {
        struct tg_evidence **ev = TG_NEW_N(w->a, struct tg_evidence *, c->n_ops + 1);
        size_t n = 0;
        for (size_t i = 0; i < c->n_ops; i++) {
            bool device = tg_kind_is_device(c->ops[i].kind);
            if (!w->big[i] || device != (clock == TG_DEVICE_TIMES))
                continue;
            ev[n] = &c->ops[i].ev;
            all[n] = (struct companion){ .x = values_of(w, &w->values[i], runs) };
            center(&f, all[n].x, f.room);
            all[n].size = sqrt(product(f.room, f.room, runs));
            n++;
        }
        for (size_t me = 0; me < n; me++) {
            size_t m = find_companions(&f, all, n, me, of);
            double *x = TG_NEW_N(w->a, double, runs);
            memcpy(x, all[me].x, runs * sizeof *x);
            if (m >= TG_FEW_VARY && take_off(&f, of, m, x)) {
                size_t nb = f.n[TG_BASE], nt = f.n[TG_TEST];
                ev[me]->beside = true;
                ev[me]->p_beside = tg_rank_table_p(&w->rank[TG_FORWARD], x, x + nb, 0);
                memcpy(f.room, x, (nb + nt) * sizeof *x);
                ev[me]->e_beside = tg_median(f.room + nb, nt) - tg_median(f.room, nb);
            }
        }
    }
}
