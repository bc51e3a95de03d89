/* Calls and times of one operator, added up over steps, ranks and runs. */
#include <math.h>

#include "core/diff/internal.h"
#include "core/diff/numbers.h"
#include "core/diff/stats.h"

struct tg_sum_room {
    uint64_t *count, *sorted; /* per step of one cell */
    double *total, *self;     /* per run of one side */
    double *of_rank[2];       /* usual calls; NAN: they vary from step to step or run to run */
    struct tg_op_counts counts;
};

struct tg_sum_room *tg_sum_room_new(const struct tg_diff_work *w)
{
    struct tg_sum_room *x = TG_NEW(w->a, struct tg_sum_room);
    const size_t *n = w->c->n_runs;
    size_t runs = n[TG_BASE] > n[TG_TEST] ? n[TG_BASE] : n[TG_TEST];

    x->count = TG_NEW_N(w->a, uint64_t, w->max_steps + 1);
    x->sorted = TG_NEW_N(w->a, uint64_t, w->max_steps + 1);
    for (int side = 0; side < 2; side++) {
        x->counts.modal[side] = TG_NEW_N(w->a, double, runs);
        x->counts.by_step[side] = TG_NEW_N(w->a, double, runs * w->max_steps + 1);
        x->counts.run[side] = TG_NEW_N(w->a, struct tg_step_counts, runs);
        x->of_rank[side] = TG_NEW_N(w->a, double, w->c->n_ranks[side] + 1);
    }
    x->total = TG_NEW_N(w->a, double, runs);
    x->self = TG_NEW_N(w->a, double, runs);
    return x;
}

/* Adds up one cell. Returns the modal count; `settled` falls when too few steps have it. `steady`: do
 * all have it, but for a first one? */
static uint64_t sum_cell(const struct tg_diff_work *w, struct tg_op *op, int side, size_t at,
                         struct tg_sum_room *x, double *total, double *self, bool *steady)
{
    const struct tg_diff_cell *cell = &op->rows->cell[at];
    const struct tg_used *used = &w->used[at];
    size_t n_steps = w->shard[at]->n_steps, hits;
    tg_ns steps_total = 0, steps_self = 0;

    for (size_t j = 0; j < used->n; j++)
        x->count[j] = 0;
    for (size_t r = 0; r < cell->n; r++) {
        const struct tg_row *row = cell->row[r];
        for (size_t j = 0; j <= n_steps; j++) {
            op->whole_count[side] += row->count[j];
            op->whole_total[side] += row->total[j];
        }
        for (size_t j = 0; j < used->n; j++) {
            x->count[j] += row->count[used->step[j]];
            op->step_count[side] += row->count[used->step[j]];
            steps_total += row->total[used->step[j]];
            steps_self += row->self[used->step[j]];
        }
    }
    op->step_total[side] += steps_total;
    *total += used->n ? (double)steps_total / (double)used->n : 0;
    *self += used->n ? (double)steps_self / (double)used->n : 0;
    memcpy(x->sorted, x->count, used->n * sizeof *x->sorted);
    uint64_t modal = tg_mode(x->sorted, used->n, &hits);
    if ((double)hits < TG_SETTLED * (double)used->n || used->n == 0)
        op->settled = false;
    *steady = hits && (hits == used->n || (hits + 1 == used->n && x->count[0] != modal));
    return modal;
}

const struct tg_rank_shift *tg_diff_rank_shift(const struct tg_diff_work *w,
                                               double *const of_rank[2])
{
    struct tg_rank_shift most = { 0 }, *out = NULL;
    double rise = 0;

    if (w->c->n_ranks[TG_BASE] != w->c->n_ranks[TG_TEST])
        return NULL;
    for (size_t rank = 0; rank < w->c->n_ranks[TG_TEST]; rank++) {
        double b = of_rank[TG_BASE][rank], t = of_rank[TG_TEST][rank];
        if (!(t > b))
            continue;
        most.n++;
        if (t - b <= rise)
            continue;
        rise = t - b;
        most = (struct tg_rank_shift){ w->c->side[TG_TEST].ranks[rank], { b, t }, most.n };
    }
    if (most.n) {
        out = TG_NEW(w->a, struct tg_rank_shift);
        *out = most;
    }
    return out;
}

struct tg_op_counts *tg_sum_op(struct tg_diff_work *w, struct tg_op *op, struct tg_sum_room *x)
{
    op->settled = true;
    for (int side = 0; side < 2; side++) {
        size_t n_runs = w->c->n_runs[side], n_ranks = w->c->n_ranks[side];
        for (size_t run = 0; run < n_runs; run++) {
            double modal = 0, total = 0, self = 0,
                   *by_step = x->counts.by_step[side] + run * w->max_steps;
            size_t n_steps = 0;
            for (size_t rank = 0; rank < n_ranks; rank++) {
                size_t n = w->used[tg_diff_cell_index(w, side, run, rank)].n;
                n_steps = n > n_steps ? n : n_steps;
            }
            memset(by_step, 0, w->max_steps * sizeof *by_step);
            for (size_t rank = 0; rank < n_ranks; rank++) {
                size_t at = tg_diff_cell_index(w, side, run, rank);
                bool steady;
                uint64_t usual = sum_cell(w, op, side, at, x, &total, &self, &steady);
                double *of_rank = &x->of_rank[side][rank];
                modal += (double)usual;
                if (!steady || (run && *of_rank != (double)usual))
                    *of_rank = NAN;
                else if (!run)
                    *of_rank = (double)usual;
                /* A rank with fewer steps has its usual count in the others. */
                for (size_t j = 0; j < n_steps; j++)
                    by_step[j] +=
                        (double)(j < w->used[at].n ? x->count[j] : usual) / (double)n_ranks;
            }
            x->counts.run[side][run] = (struct tg_step_counts){ by_step, n_steps };
            x->counts.modal[side][run] = modal / (double)n_ranks;
            x->total[run] = total / (double)n_ranks;
            x->self[run] = self / (double)n_ranks;
        }
        op->total[side] = tg_median(x->total, n_runs);
        op->self[side] = tg_median(x->self, n_runs); /* and sorts */
        op->self_least[side] = n_runs ? x->self[0] : 0;
        op->self_most[side] = n_runs ? x->self[n_runs - 1] : 0;
    }
    op->shift = tg_diff_rank_shift(w, x->of_rank);
    return &x->counts;
}

/*
 * ---- how long a step is, what part of it each operator takes, and evidence for that part. Parts are of
 * the wall clock, which every report shows as the step's time; D, which small changes are measured by, is
 * the device's where it has work ----
 */

/* Length of one step of a shard by a metric, if it has it; else from the step's begin to its end. */
static double length_by(enum tg_metric m, const struct tg_shard *s, size_t j)
{
    const struct tg_metric_value *v = s->metrics ? &s->metrics[m * s->n_steps + j] : NULL;

    if (v && v->known && v->den && v->num > 0)
        return (double)v->num / (double)v->den;
    return (double)(s->steps[j].end - s->steps[j].start);
}

static double wall_step(const struct tg_shard *s, size_t j)
{
    return length_by(TG_METRIC_STEP_TIME, s, j);
}

/* The mean step of a shard by the clock. */
static double wall_of(const struct tg_side_shards *m, size_t at)
{
    const struct tg_used *used = &m->used[at];
    double sum = 0;
    for (size_t j = 0; j < used->n; j++)
        sum += wall_step(m->shard[at], used->step[j]);
    return used->n ? sum / (double)used->n : 0;
}

double tg_wall_of_rank(const struct tg_diff_work *w, int side, size_t rank)
{
    const struct tg_side_shards *m = &w->measured[side];
    double *of_run = TG_NEW_N(w->a, double, w->c->n_runs[side]);
    for (size_t run = 0; run < w->c->n_runs[side]; run++)
        of_run[run] = wall_of(m, run * m->n_ranks + rank);
    return tg_median(of_run, w->c->n_runs[side]);
}

/* Part that an operator's time is of a run's steps: 0..1. */
static double share_in(const struct tg_diff_work *w, const struct tg_op *op, int side, size_t run)
{
    double step = 0, self = 0;

    for (size_t rank = 0; rank < w->c->n_ranks[side]; rank++) {
        size_t at = tg_diff_cell_index(w, side, run, rank);
        for (size_t j = 0; j < w->used[at].n; j++) {
            step += wall_step(w->shard[at], w->used[at].step[j]);
            self += tg_cell_time(w, op, at, j, TG_OP_SELF);
        }
    }
    return step > 0 ? self / step : 0;
}

static void share_out(struct tg_op *ops, size_t n, int side, double step)
{
    for (size_t i = 0; i < n; i++)
        ops[i].share[side] = step > 0 ? ops[i].self[side] / step : 0;
}

void tg_share_out(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;

    for (int side = 0; side < 2; side++) {
        /* D, the median over runs of the shortest step, and the wall clock, of the mean step. */
        const struct tg_side_shards *m = &w->measured[side];
        double *shortest = TG_NEW_N(w->a, double, c->n_runs[side]);
        double *mean = TG_NEW_N(w->a, double, c->n_runs[side]);
        for (size_t run = 0; run < c->n_runs[side]; run++)
            for (size_t rank = 0; rank < m->n_ranks; rank++) {
                size_t at = run * m->n_ranks + rank;
                double least = INFINITY;
                for (size_t j = 0; j < m->used[at].n; j++)
                    least = fmin(least, length_by(TG_METRIC_DEVICE_EXTENT, m->shard[at],
                                                  m->used[at].step[j]));
                shortest[run] += (isfinite(least) ? least : 0) / (double)m->n_ranks;
                mean[run] += wall_of(m, at) / (double)m->n_ranks;
            }
        c->step_ns[side] = tg_median(shortest, c->n_runs[side]);
        c->wall_ns[side] = tg_median(mean, c->n_runs[side]);
        share_out(c->ops, c->n_ops, side, c->wall_ns[side]);
        share_out(c->frames, c->n_frames, side, c->wall_ns[side]);
    }
}

bool tg_op_share_evidence(const struct tg_op *op, struct tg_evidence *ev)
{
    const struct tg_diff_work *w = op->rows ? op->rows->work : NULL;
    double *y[2];

    if (!w || op->ev.why_not != TG_JUDGED)
        return false;
    op = op->joined ? op->joined : op;
    for (int side = 0; side < 2; side++) {
        y[side] = TG_NEW_N(w->a, double, w->c->n_runs[side]);
        for (size_t run = 0; run < w->c->n_runs[side]; run++)
            y[side][run] = 100 * share_in(w, op, side, run);
    }
    tg_evidence_of_numbers(w, ev, y, 1);
    return true;
}
