/* Time of the runtime's calls by the operator that makes them: one name serves many. */
#include <math.h>
#include <stdlib.h>

#include "core/base/sort.h"
#include "core/diff/internal.h"

/* Waits move from caller to caller, and a cost is that of the calls that came; other names need no split. */
static bool is_split(const struct tg_op *op)
{
    bool call = op->kind == TG_KIND_RUNTIME || op->kind == TG_KIND_SYNC;
    return call && !op->polling && (op->wait || op->change != TG_SAME);
}

static int by_rise(const void *pa, const void *pb)
{
    const struct tg_in_caller *a = pa, *b = pb;
    double more = (b->self[TG_TEST] - b->self[TG_BASE]) - (a->self[TG_TEST] - a->self[TG_BASE]);
    return more > 0 ? 1 : more < 0 ? -1 : tg_sv_cmp(a->in, b->in);
}

static void split(struct tg_diff_work *w, struct tg_op *op)
{
    const struct tg_comparison *c = w->c;
    TG_AUTO(tg_strmap_release) struct tg_strmap callers;
    struct tg_in_caller *v;
    tg_strmap_init(&callers);
    for (size_t at = 0; at < w->n_cells; at++)
        for (size_t r = 0; r < op->rows->cell[at].n; r++)
            (void)tg_strmap_add(
                &callers, tg_diff_name(w, TG_KIND_OP, op->rows->cell[at].row[r]->key->parent));
    v = TG_NEW_N(w->a, struct tg_in_caller, callers.n + 1);
    for (int side = 0; side < 2; side++) {
        size_t n = c->n_runs[side];
        TG_FREE double *of_run = tg_xcalloc(callers.n * n + 1, sizeof *of_run);
        TG_FREE double **sum = tg_xmalloc((callers.n + 1) * sizeof *sum);
        for (size_t run = 0; run < n; run++) {
            for (size_t k = 0; k < callers.n; k++)
                sum[k] = &of_run[k * n + run];
            for (size_t rank = 0; rank < c->n_ranks[side]; rank++) {
                /* ns per step of the cell's calls inside each caller, over the ranks of a run. */
                const struct tg_used *used = &w->used[tg_diff_cell_index(w, side, run, rank)];
                for (size_t r = 0; r < op->rows->cell[tg_diff_cell_index(w, side, run, rank)].n;
                     r++) {
                    const struct tg_row *row =
                        op->rows->cell[tg_diff_cell_index(w, side, run, rank)].row[r];
                    uint32_t id =
                        tg_strmap_find(&callers, tg_diff_name(w, TG_KIND_OP, row->key->parent));
                    tg_ns self = 0;
                    for (size_t j = 0; j < used->n; j++)
                        self += row->self[used->step[j]];
                    *sum[id] +=
                        used->n ? (double)self / (double)used->n / (double)c->n_ranks[side] : 0;
                }
            }
        }
        for (size_t k = 0; k < callers.n; k++) {
            v[k].in = tg_arena_sv(w->a, callers.text[k]);
            v[k].self[side] = tg_median(of_run + k * n, n); /* and sorts */
            v[k].least[side] = of_run[k * n];
            v[k].most[side] = of_run[k * n + n - 1];
        }
    }
    op->callers = v;
    op->n_callers = callers.n;
    TG_SORT(v, callers.n, by_rise);
}

void tg_callers_find(struct tg_diff_work *w)
{
    for (size_t i = 0; i < w->c->n_ops; i++)
        if (is_split(&w->c->ops[i]))
            split(w, &w->c->ops[i]);
}
