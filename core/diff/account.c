/* The trace as a whole: did wall, busy or calls grow? Are gradients enabled where they were not?
 * Does one rank alone take longer? */
#include <math.h>

#include "core/diff/internal.h"

/* ---- one value per run ---- */

/* The series of one trace: by used step, and what of it is outside the steps, spread over them. */
struct by_step {
    double *each;
    size_t n;
    double outside;
};

/* False: the step does not have it. */
static bool metric_of_step(const struct tg_shard *s, size_t step, enum tg_account_id id,
                           double *out)
{
    enum tg_metric m = id == TG_ACCOUNT_WALL ? TG_METRIC_STEP_TIME : TG_METRIC_GPU_BUSY;
    const struct tg_metric_value *v = &s->metrics[(size_t)m * s->n_steps + step];
    const struct tg_metric_value *comm =
        &s->metrics[(size_t)TG_METRIC_COMM_EXPOSED * s->n_steps + step];
    if (!v->known || v->den <= 0)
        return false;
    *out = (double)v->num / (double)v->den;
    if (id == TG_ACCOUNT_BUSY && comm->known && comm->den > 0)
        *out -= (double)comm->num / (double)comm->den;
    return true;
}

/* Device work, and the calls that launch it, below an operator of
 * which a library chose how it is done. */
static bool is_chosen(struct tg_diff_work *w, const struct tg_row *row)
{
    const struct tg_comparison *c = w->c;
    bool may = tg_kind_is_device(row->key->kind) || tg_kind_is_call(row->key->kind);
    for (size_t i = 0; may && i < c->n_choices; i++)
        if (tg_sv_eq(tg_diff_name(w, TG_KIND_OP, row->key->parent), c->ops[c->choices[i].by].name))
            return true;
    return false;
}

/* `at`: of the cells for calls, which need names; else of all measured shards of the side. */
static bool series_of_trace(struct tg_diff_work *w, enum tg_account_id id, int side, size_t at,
                            struct by_step *out)
{
    bool named = id == TG_ACCOUNT_CALLS;
    const struct tg_shard *s = named ? w->shard[at] : w->measured[side].shard[at];
    const struct tg_used *used = named ? &w->used[at] : &w->measured[side].used[at];
    bool known = used->n && (named || s->metrics);
    *out = (struct by_step){ TG_NEW_N(w->a, double, used->n + 1), used->n, 0 };
    for (size_t i = 0; named && i < w->c->n_ops; i++) {
        const struct tg_op *op = &w->c->ops[i];
        bool counts = tg_kind_is_device(op->kind) || tg_kind_is_call(op->kind) ||
                      op->kind == TG_KIND_OP || op->kind == TG_KIND_OTHER;
        for (size_t r = 0; counts && !op->polling && r < op->rows->cell[at].n; r++) {
            const struct tg_row *row = op->rows->cell[at].row[r];
            if (is_chosen(w, row))
                continue;
            for (size_t j = 0; j < used->n; j++)
                out->each[j] += row->count[used->step[j]];
            out->outside += row->count[s->n_steps];
        }
    }
    for (size_t j = 0; !named && known && j < used->n; j++)
        known = metric_of_step(s, used->step[j], id, &out->each[j]);
    if (known && id == TG_ACCOUNT_BUSY && w->all_busy) {
        /* The device's time in no step, marked ones that the window skips included. */
        double ns = (double)s->device_busy, of_step;
        for (size_t j = 0; j < s->n_steps; j++)
            if (metric_of_step(s, j, id, &of_step))
                ns -= of_step;
        out->outside = fmax(ns, 0);
    }
    /* The used steps' part of it. */
    out->outside *= (double)used->n / fmax((double)s->n_steps, 1);
    /* Work outside the steps is measured in the baseline's number of steps, or in the run's own if
     * it has more: work once a trace does not grow with fewer steps, and work once a step not with
     * more. */
    out->outside /= fmax(fmax((double)used->n, (double)w->c->n_steps[TG_BASE]), 1);
    return known;
}

enum part_of { ALL, WITHOUT_LONGEST, INSIDE };

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

/* The ranks whose series there are: for calls those with names. */
static size_t ranks_of(const struct tg_diff_work *w, enum tg_account_id id, int side)
{
    return id == TG_ACCOUNT_CALLS ? w->c->n_ranks[side] : w->measured[side].n_ranks;
}

static struct runs runs_of(struct tg_diff_work *w, enum tg_account_id id, enum part_of part)
{
    const struct tg_comparison *c = w->c;
    struct runs y = { .known = true };
    for (int side = 0; side < 2; side++) {
        size_t n_ranks = ranks_of(w, id, side), n = c->n_runs[side];
        double *v = y.of[side] = TG_NEW_N(w->a, double, (TG_ACCOUNT_RANKS + n_ranks) * n + 1);
        /* Whole traces without markers: as many iterations as the baseline's. */
        double iterations = side == TG_TEST && c->iteration_ratio > 0 ? c->iteration_ratio : 1;
        y.known &= n > 0 && n_ranks > 0;
        for (size_t at = 0; y.known && at < n * n_ranks; at++) {
            size_t run = at / n_ranks, rank = TG_ACCOUNT_RANKS + at % n_ranks;
            size_t first = id == TG_ACCOUNT_CALLS ? w->first[side] : 0;
            struct by_step x;
            y.known = series_of_trace(w, id, side, first + at, &x);
            double sum = tg_mean(x.each, x.n) * (double)x.n, one = 0;
            if (y.known && part == WITHOUT_LONGEST && x.n > 1)
                one = (sum - tg_most(x.each, x.n)) / (double)(x.n - 1) + x.outside;
            else if (y.known)
                one = sum / (double)x.n + (part == INSIDE ? 0 : x.outside);
            one /= iterations;
            v[rank * n + run] = one;
            v[TG_ACCOUNT_MEAN * n + run] += one / (double)n_ranks;
            v[TG_ACCOUNT_MOST * n + run] = fmax(v[TG_ACCOUNT_MOST * n + run], one);
        }
    }
    return y;
}

/* ---- has it grown? ---- */

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

static enum tg_growth growth_of(const struct tg_comparison *c, double *const y[2], double limit)
{
    size_t nb = c->n_runs[TG_BASE], nt = c->n_runs[TG_TEST], above = 0;
    TG_FREE double *base = tg_xmalloc(nb * sizeof *base);
    /* Without the largest it only warns: of three runs per side the
     * size by which three can fail is enough. */
    double forgiving = tg_choose(nb - 1 + nt, nt) >= TG_GROWN_ARRANGED ? TG_GROWN
                       : nb >= 3 && nt >= 3                            ? TG_TAU_3
                                                                       : TG_GROWN_FEW;

    memcpy(base, y[TG_BASE], nb * sizeof *base);
    tg_ascend(base, nb);
    for (size_t run = 0; run < nt; run++)
        above += y[TG_TEST][run] > (1 + limit) * base[nb - 1];
    return is_above(base, nb, y[TG_TEST], nt, limit)                     ? TG_GROWTH_PROVEN
           : nb > 1 && is_above(base, nb - 1, y[TG_TEST], nt, forgiving) ? TG_GROWTH_FORGIVEN
           : 2 * above > nt                                              ? TG_GROWTH_IN_MOST_RUNS
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

/* Did most of the work grow, but for the two names that grew most? Self time (device: duration) of
 * names of equal calls alone: the machine brings no names, and strikes more than a few. */
static bool is_spread(const struct tg_diff_work *w, enum tg_account_id id, double growth)
{
    struct part *v = TG_NEW_N(w->a, struct part, w->c->n_ops + 1);
    double before = 0, more = 0, longer = 0;
    size_t n = 0;
    TG_EACH(const struct tg_op, op, w->c->ops, w->c->n_ops) {
        double self[2] = { 0 };
        if (op->wait || op->change != TG_SAME ||
            tg_kind_is_device(op->kind) != (id == TG_ACCOUNT_BUSY))
            continue;
        /* The mean over all steps of all runs:
         * what strikes one step here and one there is in it. */
        for (int side = 0; side < 2; side++) {
            for (size_t at = w->first[side]; at < w->first[side + 1]; at++)
                for (size_t j = 0; j < w->used[at].n; j++)
                    self[side] += tg_cell_time(w, op, at, j, TG_OP_SELF);
            self[side] /= fmax((double)w->c->n_units[side], 1) * tg_op_iterations(w->c, op, side);
        }
        v[n++] = (struct part){ self[TG_BASE], self[TG_TEST] - self[TG_BASE] };
    }
    TG_SORT(v, n, by_growth);
    for (size_t i = TG_SPREAD; i < n; i++) {
        before += v[i].before;
        more += v[i].more;
        longer += v[i].more >= TG_TAU_DEVICE * v[i].before ? v[i].before : 0;
    }
    return before > 0 && more / before >= TG_HALF * growth && longer >= TG_HALF * before;
}

/* Is it what this part leaves out that holds the growth: without it, it has not grown,
 * and by less than half as much? */
static bool is_held_outside(struct tg_diff_work *w, enum tg_account_id id, enum part_of part)
{
    const struct tg_comparison *c = w->c;
    const struct tg_account_series *s = &c->account[id];
    struct runs y = runs_of(w, id, part);
    double *of[2];
    values_of(c, &y, s->of, of);
    if (growth_of(c, of, s->limit) >= s->growth)
        return false;
    return tg_median(of[TG_TEST], c->n_runs[TG_TEST]) -
               tg_median(of[TG_BASE], c->n_runs[TG_BASE]) <=
           TG_HALF * (s->value[TG_TEST] - s->value[TG_BASE]);
}

static void close_series(struct tg_diff_work *w, enum tg_account_id id)
{
    const struct tg_comparison *c = w->c;
    struct tg_account_series *s = &w->c->account[id];
    double arranged = tg_choose(c->n_runs[TG_BASE] + c->n_runs[TG_TEST], c->n_runs[TG_TEST]), *v[2];
    struct runs y = runs_of(w, id, ALL);
    s->known = y.known;
    if (!y.known)
        return;
    s->few = arranged < TG_GROWN_ARRANGED;
    s->limit = s->few ? TG_GROWN_FEW : TG_GROWN;
    /* Ranks of both sides, where runs can prove what one of many does. One that grew beside a
     * slower one shows in neither mean nor most: it has to be proven, by the larger limit. */
    size_t n_ranks = ranks_of(w, id, TG_TEST);
    n_ranks = !s->few && ranks_of(w, id, TG_BASE) == n_ranks ? n_ranks : 0;
    const int64_t *ranks =
        id == TG_ACCOUNT_CALLS ? c->side[TG_TEST].ranks : w->measured[TG_TEST].ranks;
    for (size_t of = 0; of < TG_ACCOUNT_RANKS + n_ranks && s->growth < TG_GROWTH_PROVEN; of++) {
        bool rank = of >= TG_ACCOUNT_RANKS;
        double limit = rank ? TG_GROWN_FEW : s->limit;
        values_of(c, &y, of, v);
        enum tg_growth growth = growth_of(c, v, limit);
        if (growth <= s->growth || (rank && growth < TG_GROWTH_PROVEN))
            continue;
        s->growth = growth;
        s->of = of;
        s->limit = limit;
        s->one_of_many = rank && arranged < TG_GROWN_ARRANGED * (double)n_ranks;
        s->rank = rank ? ranks[of - TG_ACCOUNT_RANKS] : -1;
    }
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
    /* Did every recording with device work say how long all
     * of it took? 0.2.0 did not store that. */
    w->all_busy = true;
    for (int side = 0; side < 2; side++)
        for (size_t at = 0; at < w->c->n_runs[side] * w->measured[side].n_ranks; at++) {
            const struct tg_shard *s = w->measured[side].shard[at];
            w->all_busy = w->all_busy && (!s->device_spans || s->device_busy);
        }
    for (enum tg_account_id id = 0; id < TG_ACCOUNTS; id++)
        if (id != TG_ACCOUNT_BUSY || tg_has_device_ops(w->c))
            close_series(w, id);
}

/*
 * ---- are gradients enabled where they were not? A lost torch.no_grad() or inference_mode() calls
 * the same operators; each takes longer, for autograd records it, and what it needs stays in
 * memory. It looks like a slower machine. PyTorch numbers the operators that run with gradients
 * enabled (args' "Sequence number"), so the trace tells.
 *
 *   part       of all calls of operators of a side, those that are numbered; of whole traces
 *   enabled    the part rose by TG_RESTLESS, from nothing, or with every operator called as before
 *
 * Cost: the operators' rows ----
 */

void tg_gradients_compare(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;
    bool same = true;
    for (int side = 0; side < 2; side++) {
        double graded = 0, all = 0;
        for (size_t at = w->first[side]; at < w->first[side + 1]; at++) {
            if (!w->shard[at]->graded) /* a recording of 0.2.0, or one without names */
                return;
            graded += (double)(w->shard[at]->graded - 1);
        }
        TG_EACH(const struct tg_op, op, c->ops, c->n_ops) {
            all += op->kind == TG_KIND_OP ? (double)op->whole_count[side] : 0;
            same &= op->kind != TG_KIND_OP || op->change == TG_SAME;
        }
        c->graded[side] = all > 0 ? graded / all : 0;
    }
    c->gradients =
        c->graded[TG_TEST] - c->graded[TG_BASE] >= TG_RESTLESS && (same || c->graded[TG_BASE] == 0);
}

/*
 * ---- one rank alone takes longer. All ranks run the same program, so the machine of that rank is
 * the first suspect, and what its names do is one event.
 *
 *   time of a rank   self time of its device work without collectives, which wait for other ranks;
 *                    without device work that of operators and calls; of a run, the mean of its
 *                    steps
 *   it has grown     median fresh / median baseline > 1.08, each fresh run above each of the
 *                    baseline
 *   alone            it is the only one that has, and holds nine tenths of all growth
 *
 * The same of a name, by medians: it is of that rank where nine tenths of its growth are.
 * Cost: one pass over the rows of all shards; of names another where a rank stands alone ----
 */

/* Work whose time is its own: no wait, and nothing that waits for another rank. */
static bool is_work(const struct tg_op *op, bool device)
{
    bool host = op->kind == TG_KIND_OP || op->kind == TG_KIND_RUNTIME;
    return op->rows && !op->wait && op->class_ != TG_CLASS_COMM &&
           (device ? tg_kind_is_device(op->kind) : host);
}

/* Adds its ns per step to those of each rank and run of a side: [rank * n_runs + run]. */
static void add_op(const struct tg_diff_work *w, const struct tg_op *op, double *const to[2])
{
    for (int side = 0; side < 2; side++) {
        size_t n_runs = w->c->n_runs[side], n_ranks = w->c->n_ranks[side];
        for (size_t k = 0; k < n_runs * n_ranks; k++) {
            size_t run = k % n_runs, rank = k / n_runs;
            size_t at = tg_diff_cell_index(w, side, run, rank), n = w->used[at].n;
            for (size_t j = 0; j < n; j++)
                to[side][k] += tg_cell_time(w, op, at, j, TG_OP_SELF) / (double)n;
        }
    }
}

/* The one rank that has grown, with its values; n_ranks: none, or several. */
static size_t find_alone(const struct tg_diff_work *w, double *const x[2], double value[2])
{
    size_t n = w->c->n_ranks[TG_TEST], found = n, n_grown = 0;
    double more = 0;
    for (size_t rank = 0; rank < n; rank++) {
        double v[2], *of[2]; /* of one rank: its median before and after, which may order them */
        for (int side = 0; side < 2; side++) {
            of[side] = x[side] + rank * w->c->n_runs[side];
            v[side] = tg_median(of[side], w->c->n_runs[side]);
        }
        bool grown = v[TG_TEST] > (1 + TG_GROWN) * v[TG_BASE] &&
                     tg_least(of[TG_TEST], w->c->n_runs[TG_TEST]) >
                         tg_most(of[TG_BASE], w->c->n_runs[TG_BASE]);
        more += fmax(v[TG_TEST] - v[TG_BASE], 0);
        n_grown += grown;
        if (!grown || n_grown > 1)
            continue;
        found = rank;
        memcpy(value, v, sizeof v);
    }
    return n_grown == 1 && value[TG_TEST] - value[TG_BASE] >= TG_NEARLY_ALL * more ? found : n;
}

void tg_rank_alone_find(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;
    bool device = tg_has_device_ops(c);
    struct tg_rank_alone found = { .device = device };
    double *x[2], *own[2];
    size_t rank;
    if (c->n_ranks[TG_TEST] < 2 || c->n_ranks[TG_BASE] != c->n_ranks[TG_TEST] ||
        c->n_runs[TG_BASE] < TG_FEWEST_RUNS || c->n_runs[TG_TEST] < TG_FEWEST_RUNS ||
        w->o->no_evidence)
        return;
    for (int side = 0; side < 2; side++) {
        x[side] = TG_NEW_N(w->a, double, c->n_ranks[side] * c->n_runs[side] + 1);
        own[side] = TG_NEW_N(w->a, double, c->n_ranks[side] * c->n_runs[side] + 1);
    }
    TG_EACH(const struct tg_op, op, c->ops, c->n_ops)
        if (is_work(op, device))
            add_op(w, op, x);
    rank = find_alone(w, x, found.value);
    TG_EACH(struct tg_op, op, c->ops, rank < c->n_ranks[TG_TEST] ? c->n_ops : 0) {
        double v[2];
        if (!is_work(op, device))
            continue;
        for (int side = 0; side < 2; side++)
            memset(own[side], 0, c->n_ranks[side] * c->n_runs[side] * sizeof(double));
        add_op(w, op, own);
        if (find_alone(w, own, v) != rank)
            continue;
        op->on_rank_alone = true;
        found.n_names++;
        for (int side = 0; side < 2; side++)
            found.of_names[side] += op->there_ns[side] = v[side];
    }
    if (!found.n_names)
        return;
    found.rank = c->side[TG_TEST].ranks[rank];
    found.called = TG_SV_PRINTF(w->a, "rank %lld", (long long)found.rank).p;
    for (int side = 0; side < 2; side++)
        for (enum tg_metric m = 0; m < TG_METRICS; m++)
            found.metric_known[m][side] =
                tg_metric_of_rank(w, m, side, rank, &found.metric[m][side]);
    c->rank_alone = tg_arena_copy(w->a, &found, 1, sizeof found);
}
