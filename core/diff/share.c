/*
 * How long a step is, what part of it each operator takes, and evidence for that part. Parts are of
 * the wall clock, which every report shows as the step's time; D, which small changes are measured by,
 * is the device's where it has work.
 */
#include <math.h>

#include "core/diff/internal.h"
#include "core/diff/stats.h"

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

    if (!w || op->ev.judged != TG_JUDGED)
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
