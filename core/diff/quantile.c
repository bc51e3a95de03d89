/* Quantiles over the single values of an operator, and evidence for them. */
#include <math.h>
#include <stdlib.h>

#include "core/diff/internal.h"
#include "core/diff/stats.h"

/* Quantile over all single values in the cells [from, to). NaN: none, or slots dropped. */
static double cells_quantile(const struct tg_diff_work *w, const struct tg_op *op, size_t from,
                             size_t to, double q)
{
    size_t n = 0, cap = 0;
    TG_FREE double *v = NULL;
    bool dropped = false;

    for (size_t at = from; at < to; at++)
        for (size_t r = 0; r < op->rows->cell[at].n; r++) {
            const struct tg_row *row = op->rows->cell[at].row[r];
            size_t offset = 0, u = 0;
            for (size_t j = 0; j < w->shard[at]->n_steps; j++) {
                bool used = u < w->used[at].n && w->used[at].step[u] == j;
                dropped |= used && row->count[j] && !row->slots;
                v = tg_grow(v, &cap, n + row->count[j] + 1, sizeof *v);
                for (size_t k = 0; used && !dropped && k < row->count[j]; k++)
                    v[n++] = (double)row->slots[offset + k];
                u += used;
                offset += row->count[j];
            }
        }
    return dropped ? NAN : tg_quantile(v, n, q);
}

double tg_op_quantile(const struct tg_op *op, int side, double q)
{
    const struct tg_diff_work *w = op->rows ? op->rows->work : NULL;
    if (!w || op->step_count[side] == 0)
        return NAN;
    return cells_quantile(w, op, w->first[side], side ? w->n_cells : w->first[TG_TEST], q);
}

bool tg_op_quantile_evidence(const struct tg_op *op, double q, struct tg_evidence *ev)
{
    /* With what it replaced, if that was called as often: else a call is another part of the
     * work. */
    const struct tg_op *all = op->joined;
    op = all && all->count[TG_BASE] == all->count[TG_TEST] ? all : op;
    const struct tg_diff_work *w = op->rows ? op->rows->work : NULL;
    struct tg_run_values v = { 0 };

    for (int side = 0; w && side < 2; side++) {
        double *y = v.y[TG_LEAST][side] = TG_NEW_N(w->a, double, w->c->n_runs[side]);
        for (size_t run = 0; run < w->c->n_runs[side]; run++) {
            size_t at = tg_diff_cell_index(w, side, run, 0);
            y[run] = cells_quantile(w, op, at, at + w->c->n_ranks[side], q);
            if (isnan(y[run]))
                return false;
        }
    }
    if (!w)
        return false;
    tg_evidence_of_times(w, ev, &v);
    ev->judged = op->ev.judged;
    return true;
}
