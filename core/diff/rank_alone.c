/*
 * One rank alone takes longer. All ranks run the same program, so the machine of that rank is the
 * first suspect, and what its names do is one event.
 *
 *   time of a rank   self time of its device work without collectives, which wait for other ranks;
 *                    without device work that of operators and calls; of a run, the mean of its
 *                    steps
 *   it has grown     median fresh / median baseline > 1.08, each fresh run above each of the
 *                    baseline
 *   alone            it is the only one that has, and holds nine tenths of all growth
 *
 * The same of a name, by medians: it is of that rank where nine tenths of its growth are.
 * Cost: one pass over the rows of all shards; of names another where a rank stands alone.
 */
#include <math.h>

#include "core/diff/internal.h"

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
    for (size_t i = 0; i < c->n_ops; i++)
        if (is_work(&c->ops[i], device))
            add_op(w, &c->ops[i], x);
    rank = find_alone(w, x, found.value);
    for (size_t i = 0; rank < c->n_ranks[TG_TEST] && i < c->n_ops; i++)
        if (is_work(&c->ops[i], device)) {
            struct tg_op *op = &c->ops[i];
            double v[2];
            for (int side = 0; side < 2; side++)
                memset(own[side], 0, c->n_ranks[side] * c->n_runs[side] * sizeof(double));
            add_op(w, op, own);
            if (find_alone(w, own, v) == rank) {
                op->on_rank_alone = true;
                found.n_names++;
                for (int side = 0; side < 2; side++)
                    found.of_names[side] += op->there_ns[side] = v[side];
            }
        }
    if (!found.n_names)
        return;
    found.rank = c->side[TG_TEST].ranks[rank];
    found.called = TG_SV_PRINTF(w->a, "rank %lld", (long long)found.rank).p;
    for (int side = 0; side < 2; side++) {
        for (enum tg_metric m = 0; m < TG_METRICS; m++)
            found.metric_known[m][side] =
                tg_metric_of_rank(w, m, side, rank, &found.metric[m][side]);
        found.wall_ns[side] = found.metric[TG_METRIC_STEP_TIME][side];
    }
    c->rank_alone = tg_arena_copy(w->a, &found, 1, sizeof found);
}
