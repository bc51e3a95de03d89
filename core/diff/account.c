/* Wall, busy and calls of both sides, and whether they grew. */
#include "core/diff/account.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/sort.h"
#include "core/diff/internal.h"

/* Whole traces without markers: as many iterations as the baseline's. */
static double iterations(const struct tg_comparison *c, int side)
{
    return side == TG_TEST && c->iteration_ratio > 0 ? c->iteration_ratio : 1;
}

/* Did every recording with device work say how long all of it took? 0.2.0 did not store that. */
static bool knows_all_busy(const struct tg_diff_work *w)
{
    for (int side = 0; side < 2; side++)
        for (size_t at = 0; at < w->c->n_runs[side] * w->measured[side].n_ranks; at++) {
            const struct tg_shard *s = w->measured[side].shard[at];
            if (s->device_spans && !s->device_busy)
                return false;
        }
    return true;
}

/* The series of one trace: by used step, and what of it is outside the steps, spread over them. */
struct by_step {
    double *each;
    size_t n;
    double outside;
};

/* The metric of a step; less `less`, unless it is the metric itself. False: the step does not have it. */
static bool metric_of_step(const struct tg_shard *s, size_t step, enum tg_metric m,
                           enum tg_metric less, double *out)
{
    const struct tg_metric_value *v = &s->metrics[(size_t)m * s->n_steps + step];
    const struct tg_metric_value *off = &s->metrics[(size_t)less * s->n_steps + step];

    if (!v->known || v->den <= 0)
        return false;
    *out = (double)v->num / (double)v->den;
    if (less != m && off->known && off->den > 0)
        *out -= (double)off->num / (double)off->den;
    return true;
}

/* False: one of the used steps does not have it. */
static bool metric_by_step(const struct tg_shard *s, const struct tg_used *used, enum tg_metric m,
                           enum tg_metric less, struct by_step *out)
{
    for (size_t j = 0; s->metrics && j < used->n; j++)
        if (!metric_of_step(s, used->step[j], m, less, &out->each[j]))
            return false;
    return s->metrics && used->n;
}

/* The device's time in no step, marked ones that the window skips included. */
static double busy_outside(const struct tg_shard *s)
{
    double ns = (double)s->device_busy, of_step;

    for (size_t j = 0; j < s->n_steps; j++)
        if (metric_of_step(s, j, TG_METRIC_GPU_BUSY, TG_METRIC_COMM_EXPOSED, &of_step))
            ns -= of_step;
    return fmax(ns, 0);
}

/* Device work, and the calls that launch it, below an operator of which a library chose how it is done. */
static bool is_chosen(struct tg_diff_work *w, const struct tg_row *row)
{
    const struct tg_comparison *c = w->c;
    bool may = tg_kind_is_device(row->key->kind) || tg_kind_is_call(row->key->kind);

    for (size_t i = 0; may && i < c->n_choices; i++)
        if (tg_sv_eq(tg_diff_name(w, TG_KIND_OP, row->key->parent), c->ops[c->choices[i].by].name))
            return true;
    return false;
}

static void add_calls(struct tg_diff_work *w, size_t at, struct by_step *out)
{
    const struct tg_used *used = &w->used[at];

    for (size_t i = 0; i < w->c->n_ops; i++) {
        const struct tg_op *op = &w->c->ops[i];
        bool counts = tg_kind_is_device(op->kind) || tg_kind_is_call(op->kind) ||
                      op->kind == TG_KIND_OP || op->kind == TG_KIND_OTHER;
        if (!counts || op->polling || !op->rows)
            continue;
        for (size_t r = 0; r < op->rows->cell[at].n; r++) {
            const struct tg_row *row = op->rows->cell[at].row[r];
            if (is_chosen(w, row))
                continue;
            for (size_t j = 0; j < used->n; j++)
                out->each[j] += row->count[used->step[j]];
            out->outside += row->count[w->shard[at]->n_steps];
        }
    }
}

/* `at`: of the cells for calls, which need names; else of all measured shards of the side. */
static bool series_of_trace(struct tg_diff_work *w, enum tg_account_id id, int side, size_t at,
                            struct by_step *out)
{
    bool named = id == TG_ACCOUNT_CALLS;
    const struct tg_shard *s = named ? w->shard[at] : w->measured[side].shard[at];
    const struct tg_used *used = named ? &w->used[at] : &w->measured[side].used[at];
    bool known = true;

    *out = (struct by_step){ TG_NEW_N(w->a, double, used->n + 1), used->n, 0 };
    if (named)
        add_calls(w, at, out);
    else if (id == TG_ACCOUNT_WALL)
        known = metric_by_step(s, used, TG_METRIC_STEP_TIME, TG_METRIC_STEP_TIME, out);
    else
        known = metric_by_step(s, used, TG_METRIC_GPU_BUSY, TG_METRIC_COMM_EXPOSED, out);
    if (known && id == TG_ACCOUNT_BUSY && w->all_busy)
        out->outside = busy_outside(s);
    /* The used steps' part of it. */
    out->outside *= (double)used->n / fmax((double)s->n_steps, 1);
    /* Work outside the steps is measured in the baseline's number of steps, or in the run's own if
     * it has more: work once a trace does not grow with fewer steps, and work once a step not with
     * more. */
    out->outside /= fmax(fmax((double)used->n, (double)w->c->n_steps[TG_BASE]), 1);
    return known && used->n;
}

enum part_of { ALL, WITHOUT_LONGEST, INSIDE };

static double mean_of(const struct by_step *x, enum part_of part)
{
    double sum = tg_mean(x->each, x->n) * (double)x->n;

    if (part == WITHOUT_LONGEST && x->n > 1)
        return (sum - tg_most(x->each, x->n)) / (double)(x->n - 1) + x->outside;
    return sum / (double)x->n + (part == INSIDE ? 0 : x->outside);
}

/* One value per run: of the mean over ranks, of the rank that has most, then of each rank. */
struct runs {
    double *of[2]; /* [TG_ACCOUNT_RANKS + rank][run] of a side */
    bool known;
};

/* `of`: as in tg_account_series. */
static void values_of(const struct tg_comparison *c, const struct runs *y, size_t of, double *v[2])
{
    for (int side = 0; side < 2; side++)
        v[side] = y->of[side] + of * c->n_runs[side];
}

static struct runs runs_of(struct tg_diff_work *w, enum tg_account_id id, enum part_of part)
{
    const struct tg_comparison *c = w->c;
    struct runs y = { .known = true };

    for (int side = 0; side < 2; side++) {
        bool named = id == TG_ACCOUNT_CALLS;
        size_t n_ranks = named ? c->n_ranks[side] : w->measured[side].n_ranks;
        size_t n = c->n_runs[side];
        double *v = y.of[side] = TG_NEW_N(w->a, double, (TG_ACCOUNT_RANKS + n_ranks) * n + 1);
        y.known &= c->n_runs[side] > 0 && n_ranks > 0;
        for (size_t at = 0; y.known && at < n * n_ranks; at++) {
            size_t run = at / n_ranks, rank = TG_ACCOUNT_RANKS + at % n_ranks;
            struct by_step x;
            y.known = series_of_trace(w, id, side, (named ? w->first[side] : 0) + at, &x);
            double one = y.known ? mean_of(&x, part) / iterations(c, side) : 0;
            v[rank * n + run] = one;
            v[TG_ACCOUNT_MEAN * n + run] += one / (double)n_ranks;
            v[TG_ACCOUNT_MOST * n + run] = fmax(v[TG_ACCOUNT_MOST * n + run], one);
        }
    }
    return y;
}

/* Are the values of `more` above those of `less`, as runs, and the median by the limit? */
static bool is_above(const double *less, size_t n_less, const double *more, size_t n_more,
                     double limit)
{
    double p = fmax(1 / tg_choose(n_less + n_more, n_more), TG_P_5);
    TG_FREE double *v = tg_xmalloc((n_less + n_more + 1) * sizeof *v); /* medians order them */

    memcpy(v, less, n_less * sizeof *v);
    memcpy(v + n_less, more, n_more * sizeof *v);
    return tg_median(v + n_less, n_more) > (1 + limit) * tg_median(v, n_less) &&
           tg_rank_p(v, n_less, v + n_less, n_more, 0) <= p * (1 + 1e-9);
}

static bool is_above_without_largest(const double *base, size_t n, const double *test,
                                     size_t n_test)
{
    TG_FREE double *v = tg_xmalloc((n + 1) * sizeof *v);

    if (n < 2)
        return false;
    memcpy(v, base, n * sizeof *v);
    tg_ascend(v, n);
    /* It only warns: of three runs per side the size by which three can fail is enough. */
    return is_above(v, n - 1, test, n_test,
                    tg_choose(n - 1 + n_test, n_test) >= TG_GROWN_ARRANGED ? TG_GROWN
                    : n >= 3 && n_test >= 3                                ? TG_TAU_3
                                                                           : TG_GROWN_FEW);
}

static enum tg_growth growth_of(const struct tg_comparison *c, double *const y[2], double limit)
{
    const double *base = y[TG_BASE], *test = y[TG_TEST];
    size_t nb = c->n_runs[TG_BASE], nt = c->n_runs[TG_TEST];
    double most = tg_most(base, nb);
    size_t above = 0;
    for (size_t run = 0; run < nt; run++)
        above += test[run] > (1 + limit) * most;

    return is_above(base, nb, test, nt, limit)            ? TG_GROWTH_PROVEN
           : is_above_without_largest(base, nb, test, nt) ? TG_GROWTH_FORGIVEN
           : 2 * above > nt                               ? TG_GROWTH_IN_MOST_RUNS
                                                          : TG_GROWTH_NONE;
}

struct part {
    double before, more; /* ns per step */
};

static int by_growth(const void *pa, const void *pb)
{
    const struct part *a = pa, *b = pb;
    return a->more > b->more ? -1 : a->more < b->more;
}

/* Self time (device: duration) by the step, the mean over all steps of all runs: what strikes one step
 * here and one there is in it. */
static double mean_self(const struct tg_diff_work *w, const struct tg_op *op, int side)
{
    double sum = 0;

    for (size_t at = w->first[side]; at < w->first[side + 1]; at++)
        for (size_t j = 0; j < w->used[at].n; j++)
            sum += tg_cell_time(w, op, at, j, TG_OP_SELF);
    return sum / fmax((double)w->c->n_units[side], 1);
}

static bool is_spread(const struct tg_diff_work *w, enum tg_account_id id, double growth)
{
    struct part *v = TG_NEW_N(w->a, struct part, w->c->n_ops + 1);
    double before = 0, more = 0;
    size_t n = 0;

    for (size_t i = 0; i < w->c->n_ops; i++) {
        const struct tg_op *op = &w->c->ops[i];
        double self[2];
        if (op->wait || !op->rows || tg_kind_is_device(op->kind) != (id == TG_ACCOUNT_BUSY))
            continue;
        if (op->change != TG_SAME) /* of the same calls alone: the machine brings no names */
            continue;
        for (int side = 0; side < 2; side++)
            self[side] = mean_self(w, op, side);
        v[n++] = (struct part){ self[TG_BASE], self[TG_TEST] - self[TG_BASE] };
    }
    TG_SORT(v, n, by_growth);
    for (size_t i = TG_SPREAD; i < n; i++) {
        before += v[i].before;
        more += v[i].more;
    }
    return before > 0 && more / before >= TG_HALF * growth;
}

/* Is it what this part leaves out that holds the growth: without it, it has not grown, and by less than
 * half as much? */
static bool is_held_outside(struct tg_diff_work *w, enum tg_account_id id, enum part_of part)
{
    const struct tg_comparison *c = w->c;
    const struct tg_account_series *s = &c->account.of[id];
    struct runs y = runs_of(w, id, part);
    double *of[2];

    values_of(c, &y, s->of, of);
    if (growth_of(c, of, s->limit) >= s->growth)
        return false;
    return tg_median(of[TG_TEST], c->n_runs[TG_TEST]) -
               tg_median(of[TG_BASE], c->n_runs[TG_BASE]) <=
           TG_HALF * (s->value[TG_TEST] - s->value[TG_BASE]);
}

/* The ranks whose series there are: for calls those with names. */
struct ranks {
    const int64_t *v;
    size_t n;
};

static struct ranks ranks_of(const struct tg_diff_work *w, enum tg_account_id id, int side)
{
    return id == TG_ACCOUNT_CALLS
               ? (struct ranks){ w->c->side[side].ranks, w->c->n_ranks[side] }
               : (struct ranks){ w->measured[side].ranks, w->measured[side].n_ranks };
}

/* Those that both sides have, where runs can prove what one of many does. */
static struct ranks ranks_to_look_at(const struct tg_diff_work *w, enum tg_account_id id, bool few)
{
    struct ranks base = ranks_of(w, id, TG_BASE), test = ranks_of(w, id, TG_TEST);

    return !few && base.n == test.n ? test : (struct ranks){ 0 };
}

/* A rank that grew beside a slower one shows in neither mean nor most: it has to be proven, by the larger limit. */
static void find_growth(const struct tg_diff_work *w, struct tg_account_series *s,
                        const struct runs *y, struct ranks ranks)
{
    for (size_t of = 0; of < TG_ACCOUNT_RANKS + ranks.n && s->growth < TG_GROWTH_PROVEN; of++) {
        bool rank = of >= TG_ACCOUNT_RANKS;
        double limit = rank ? TG_GROWN_FEW : s->limit, *v[2];
        values_of(w->c, y, of, v);
        enum tg_growth growth = growth_of(w->c, v, limit);
        if (growth <= s->growth || (rank && growth < TG_GROWTH_PROVEN))
            continue;
        s->growth = growth;
        s->of = of;
        s->limit = limit;
        s->one_of_many =
            rank && tg_choose(w->c->n_runs[TG_BASE] + w->c->n_runs[TG_TEST],
                              w->c->n_runs[TG_TEST]) < TG_GROWN_ARRANGED * (double)ranks.n;
        s->rank = rank ? ranks.v[of - TG_ACCOUNT_RANKS] : -1;
    }
}

static void close_series(struct tg_diff_work *w, enum tg_account_id id)
{
    const struct tg_comparison *c = w->c;
    struct tg_account_series *s = &w->c->account.of[id];
    struct runs y = runs_of(w, id, ALL);
    double *v[2];

    s->known = y.known;
    if (!y.known)
        return;
    s->few =
        tg_choose(c->n_runs[TG_BASE] + c->n_runs[TG_TEST], c->n_runs[TG_TEST]) < TG_GROWN_ARRANGED;
    s->limit = s->few ? TG_GROWN_FEW : TG_GROWN;
    find_growth(w, s, &y, ranks_to_look_at(w, id, s->few));
    values_of(c, &y, s->of, v);
    for (int side = 0; side < 2; side++) {
        s->lo[side] = tg_least(v[side], c->n_runs[side]);
        s->hi[side] = tg_most(v[side], c->n_runs[side]);
        s->value[side] = tg_median(v[side], c->n_runs[side]);
    }
    if (s->growth == TG_GROWTH_NONE)
        return;
    s->one_step = is_held_outside(w, id, WITHOUT_LONGEST);
    s->outside = is_held_outside(w, id, INSIDE);
    s->spread =
        id != TG_ACCOUNT_CALLS && is_spread(w, id, s->value[TG_TEST] / s->value[TG_BASE] - 1);
}

void tg_account_close(struct tg_diff_work *w)
{
    w->all_busy = knows_all_busy(w);
    for (enum tg_account_id id = 0; id < TG_ACCOUNTS; id++)
        if (id != TG_ACCOUNT_BUSY || tg_has_device_ops(w->c))
            close_series(w, id);
}
