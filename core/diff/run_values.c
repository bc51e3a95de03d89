/*
 * The value of a run: one number per operator and run, in several statistics. The k-th call of a fine
 * row (name, parent, device, stream) is a slot; it does the same work in every step, and whatever
 * disturbs it only adds time. So each slot is read over the steps, and the slots are added up.
 */
#include <math.h>
#include <stdlib.h>

#include "core/diff/internal.h"
#include "core/diff/numbers.h"
#include "core/diff/stats.h"

#define HASH_BITS 24
#define HASH 0xffffff

struct tg_value_room {
    uint64_t *key, *sorted; /* per step */
    size_t *usable;         /* indices into tg_used.step */
    size_t *offset;         /* of a row's slots, per step of the shard */
    double *v;              /* one value per step */
    double *of_run;
    struct of_rank {
        double y[TG_STEP_STATISTICS];
    } * of_rank;
};

struct tg_value_room *tg_value_room_new(const struct tg_diff_work *w)
{
    struct tg_value_room *x = TG_NEW(w->a, struct tg_value_room);
    size_t n = w->max_steps + 1;

    *x = (struct tg_value_room){ TG_NEW_N(w->a, uint64_t, n),
                                 TG_NEW_N(w->a, uint64_t, n),
                                 TG_NEW_N(w->a, size_t, n),
                                 TG_NEW_N(w->a, size_t, n),
                                 TG_NEW_N(w->a, double, n),
                                 TG_NEW_N(w->a, double, w->n_cells + 1),
                                 TG_NEW_N(w->a, struct of_rank, w->n_cells + 1) };
    return x;
}

/* ---- statistics of one series ---- */

/* The lower median, in place of the least. Sorts. */
static double usual(double *v, size_t n)
{
    tg_ascend(v, n);
    return v[(n - 1) / 2];
}

static void add_statistics(double out[TG_STEP_STATISTICS], double *v, size_t n,
                           double (*least)(double *v, size_t n))
{
    size_t last = n > 1 ? n / 2 : n;

    out[TG_MEAN] += tg_mean(v, n);
    out[TG_LEAST_FIRST] += least(v, (n + 1) / 2);
    out[TG_LEAST_LAST] += least(v + n - last, last);
    out[TG_LEAST] += least(v, n);
    tg_ascend(v, n);
    out[TG_SLOW] += v[n - 1 - n / 5]; /* the largest without the slowest fifth */
}

static double least(double *v, size_t n)
{
    return tg_least(v, n);
}

void tg_step_statistics_add(double out[TG_STEP_STATISTICS], double *v, size_t n)
{
    add_statistics(out, v, n, least);
}

/* ---- one step of a cell, the j-th of those that are compared ---- */

static uint64_t calls_in(const struct tg_diff_work *w, const struct tg_op *op, size_t at, size_t j)
{
    const struct tg_diff_cell *cell = &op->rows->cell[at];
    uint64_t n = 0;

    for (size_t r = 0; r < cell->n; r++)
        n += cell->row[r]->count[w->used[at].step[j]];
    return n;
}

double tg_cell_time(const struct tg_diff_work *w, const struct tg_op *op, size_t at, size_t j,
                    enum tg_op_part part)
{
    const struct tg_diff_cell *cell = &op->rows->cell[at];
    size_t step = w->used[at].step[j];
    double sum = 0;

    for (size_t r = 0; r < cell->n; r++)
        sum += (double)(part == TG_OP_TOTAL ? cell->row[r]->total[step] : cell->row[r]->self[step]);
    return sum;
}

/*
 * What has to be alike in the steps that are read: with usual steps the number of calls, with slots that of
 * each fine row. The keys of the cell's steps: calls in the high bits, so that of equally frequent ones the
 * fuller wins, a hash of the rows' counts below. Returns the usual one, and in `hits` how many steps have it.
 */
static uint64_t find_keys(const struct tg_diff_work *w, const struct tg_op *op, size_t at,
                          enum tg_value_form form, size_t *hits)
{
    const struct tg_diff_cell *cell = &op->rows->cell[at];
    const struct tg_used *used = &w->used[at];

    for (size_t j = 0; j < used->n; j++) {
        uint64_t h = 1, sum = 0;
        for (size_t r = 0; form <= TG_FORM_USUAL_STEPS && r < cell->n; r++) {
            h = (h ^ cell->row[r]->count[used->step[j]]) * UINT64_C(0x9e3779b97f4a7c15);
            h = h ^ (h >> 32);
            sum += cell->row[r]->count[used->step[j]];
        }
        h = form == TG_FORM_SLOTS ? h & HASH : 0;
        w->room->key[j] = w->room->sorted[j] = sum << HASH_BITS | h;
    }
    return tg_mode(w->room->sorted, used->n, hits);
}

/* ---- usual steps and calls ---- */

size_t tg_fewest_steps(const struct tg_diff_work *w)
{
    size_t n = SIZE_MAX;

    for (size_t at = 0; at < w->n_cells; at++)
        n = w->used[at].n < n ? w->used[at].n : n;
    return n == SIZE_MAX ? 0 : n;
}

/* How the values are taken, and of how many steps of a run; or at how many calls per step. */
struct plan {
    enum tg_value_form form;
    size_t steps;
    double calls;
    double usual[2]; /* calls of a usual step, by side: a run that has others is read by the call */
};

/*
 * The run's calls in a usual step, mean over its ranks; `steps` receives in how many steps each rank
 * has them at least. -1: its steps vary.
 */
static double usual_of_run(const struct tg_diff_work *w, const struct tg_op *op, int side,
                           size_t run, enum tg_value_form form, size_t *steps)
{
    double sum = 0;

    *steps = SIZE_MAX;
    for (size_t rank = 0; rank < w->c->n_ranks[side]; rank++) {
        size_t at = tg_diff_cell_index(w, side, run, rank), n;
        uint64_t calls = find_keys(w, op, at, form, &n) >> HASH_BITS;
        if (n == 0 || (double)n < TG_SETTLED * (double)w->used[at].n)
            return -1;
        *steps = n < *steps ? n : *steps;
        sum += (double)calls;
    }
    return sum / (double)w->c->n_ranks[side];
}

/*
 * What more than half of the side's runs call in a usual step, -1: nothing; `steps` is lowered to how
 * many such steps all of these have. The other runs hide nothing of them.
 */
static double usual_of_side(const struct tg_diff_work *w, const struct tg_op *op, int side,
                            enum tg_value_form form, size_t *steps)
{
    size_t n = w->c->n_runs[side], of_run, have = 0;
    double *x = w->room->of_run, usual;

    for (size_t run = 0; run < n; run++)
        x[run] = usual_of_run(w, op, side, run, form, &of_run);
    tg_ascend(x, n);
    usual = x[n / 2]; /* what more than half have is in the middle */
    if (usual < 0)
        return -1;
    for (size_t run = 0; run < n; run++) {
        if (usual_of_run(w, op, side, run, form, &of_run) != usual)
            continue;
        have++;
        if (of_run < *steps)
            *steps = of_run; /* the least of more steps is less */
    }
    return 2 * have > n ? usual : -1;
}

/* Were slots dropped from a summary for its size? */
static bool all_have_slots(const struct tg_diff_work *w, const struct tg_op *op)
{
    for (size_t at = 0; at < w->n_cells; at++)
        for (size_t r = 0; r < op->rows->cell[at].n; r++) {
            const struct tg_row *row = op->rows->cell[at].row[r];
            for (size_t j = 0; !row->slots && j < w->used[at].n; j++)
                if (row->count[w->used[at].step[j]])
                    return false;
        }
    return true;
}

/* By usual steps, which most runs of each side have alike; by slots, those of both sides. */
static struct plan usual_plan(const struct tg_diff_work *w, const struct tg_op *op,
                              enum tg_value_form form)
{
    bool slots = form == TG_FORM_SLOTS;
    struct plan p = { form, .steps = SIZE_MAX };

    if (slots && !all_have_slots(w, op))
        return (struct plan){ 0 };
    for (int side = 0; side < 2; side++)
        p.usual[side] = usual_of_side(w, op, side, form, &p.steps);
    if (p.steps == 0 || p.steps == SIZE_MAX || fmin(p.usual[TG_BASE], p.usual[TG_TEST]) < 0 ||
        (slots && p.usual[TG_BASE] != p.usual[TG_TEST]))
        return (struct plan){ 0 };
    return p;
}

/* ---- one cell ---- */

/* What is read, and how: self time, or inclusive time. */
struct reading {
    const struct tg_diff_work *w;
    const struct tg_op *op;
    enum tg_op_part part;
    struct plan plan;
};

/* Statistics of the row's slots over the first `n_steps` steps that `usable` lists. */
static void row_values(const struct reading *q, const struct tg_row *row, size_t at, size_t n_steps,
                       double out[TG_STEP_STATISTICS])
{
    const size_t *step = q->w->used[at].step;
    struct tg_value_room *x = q->w->room;
    size_t offset = 0, n = n_steps ? row->count[step[x->usable[0]]] : 0;

    for (size_t j = 0; j < q->w->shard[at]->n_steps; j++) {
        x->offset[j] = offset;
        offset += row->count[j];
    }
    for (size_t k = 0; k < n; k++) {
        for (size_t j = 0; j < n_steps; j++)
            x->v[j] = (double)row->slots[x->offset[step[x->usable[j]]] + k];
        tg_step_statistics_add(out, x->v, n_steps);
    }
}

/* Of the first steps that are alike, slot by slot or their sums. False: the operator is not there. */
static bool cell_values(const struct reading *q, size_t at, double out[TG_STEP_STATISTICS])
{
    const struct tg_diff_cell *cell = &q->op->rows->cell[at];
    struct tg_value_room *x = q->w->room;
    uint64_t key = find_keys(q->w, q->op, at, q->plan.form, NULL);
    size_t n = 0;

    for (size_t j = 0; j < q->w->used[at].n && n < q->plan.steps; j++)
        if (x->key[j] == key)
            x->usable[n++] = j;
    for (size_t r = 0; q->plan.form == TG_FORM_SLOTS && r < cell->n; r++)
        row_values(q, cell->row[r], at, n, out);
    for (size_t j = 0; j < n; j++)
        x->v[j] = tg_cell_time(q->w, q->op, at, x->usable[j], q->part);
    if (n && q->plan.form != TG_FORM_SLOTS)
        tg_step_statistics_add(out, x->v, n);
    return cell->n > 0;
}

/*
 * Time per call, of so many calls. Where calls vary it is that of the usual step: the least would be the one whose
 * calls happen to be small. False: no step has calls.
 */
static bool call_values(const struct reading *q, size_t at, double of,
                        double out[TG_STEP_STATISTICS])
{
    struct tg_value_room *x = q->w->room;
    size_t n = 0;

    for (size_t j = 0; j < q->w->used[at].n && n < q->plan.steps; j++) {
        uint64_t calls = calls_in(q->w, q->op, at, j);
        if (calls)
            x->v[n++] = of * tg_cell_time(q->w, q->op, at, j, q->part) / (double)calls;
    }
    if (n)
        add_statistics(out, x->v, n, q->plan.form == TG_FORM_CALLS ? usual : least);
    return n > 0;
}

/* ---- all runs ---- */

struct tg_run_values tg_run_values_new(const struct tg_diff_work *w)
{
    struct tg_run_values v = { .complete = true };

    for (enum tg_step_statistic r = 0; r < TG_STEP_STATISTICS; r++)
        for (int side = 0; side < 2; side++)
            v.y[r][side] = TG_NEW_N(w->a, double, w->c->n_runs[side]);
    return v;
}

static struct plan plan_of(const struct tg_diff_work *w, const struct tg_op *op,
                           enum tg_value_ask ask)
{
    struct plan p = { TG_FORM_STEPS, .steps = tg_fewest_steps(w) };
    double calls = 0, steps = 0;

    if (ask == TG_ASK_STEPS || ask == TG_ASK_INCLUSIVE_STEPS)
        return p;
    p = ask == TG_ASK_BEST ? usual_plan(w, op, TG_FORM_SLOTS) : (struct plan){ 0 };
    if (!p.steps)
        p = usual_plan(w, op, TG_FORM_USUAL_STEPS);
    if (p.steps)
        return p;
    /* The baseline's mean number of calls in a step of a rank. */
    for (size_t at = 0; at < w->first[TG_TEST]; at++) {
        for (size_t j = 0; j < w->used[at].n; j++)
            calls += (double)calls_in(w, op, at, j);
        steps += (double)w->used[at].n;
    }
    return (struct plan){ TG_FORM_CALLS, SIZE_MAX, steps > 0 ? calls / steps : 0, { 0 } };
}

/*
 * A collective ends on all ranks of its group at once, and all but the last one wait in it: its own time
 * is that of the rank where it is shortest.
 */
static void share_least(const struct tg_diff_work *w, const struct tg_op *op, size_t at,
                        size_t n_ranks, struct of_rank *v)
{
    struct of_rank *least = TG_NEW_N(w->a, struct of_rank, n_ranks);
    uint32_t *group = TG_NEW_N(w->a, uint32_t, n_ranks);
    TG_AUTO(tg_strmap_release) struct tg_strmap groups;

    tg_strmap_init(&groups);
    for (size_t rank = 0; rank < n_ranks; rank++) {
        const struct tg_diff_cell *cell = &op->rows->cell[at + rank];
        size_t known = groups.n;
        group[rank] =
            cell->n ? tg_strmap_add(&groups, tg_collective_group(cell->row[0])) : TG_NO_ID;
        for (enum tg_step_statistic r = 0; cell->n && r < TG_STEP_STATISTICS; r++) {
            double *x = &least[group[rank]].y[r];
            *x = groups.n > known ? v[rank].y[r] : fmin(*x, v[rank].y[r]);
        }
    }
    for (size_t rank = 0; rank < n_ranks; rank++)
        if (group[rank] != TG_NO_ID)
            v[rank] = least[group[rank]];
}

struct tg_run_values tg_run_values(const struct tg_diff_work *w, const struct tg_op *op,
                                   enum tg_value_ask ask)
{
    bool inclusive = ask == TG_ASK_INCLUSIVE || ask == TG_ASK_INCLUSIVE_STEPS;
    struct reading q = { w, op, inclusive ? TG_OP_TOTAL : TG_OP_SELF, plan_of(w, op, ask) };
    struct tg_run_values v = tg_run_values_new(w);

    v.form = q.plan.form;
    v.device = tg_kind_is_device(op->kind);
    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < w->c->n_runs[side]; run++) {
            /* Does the run lack the usual steps that most runs have? */
            size_t steps, n = w->c->n_ranks[side], at = tg_diff_cell_index(w, side, run, 0);
            bool odd = v.form <= TG_FORM_USUAL_STEPS &&
                       usual_of_run(w, op, side, run, v.form, &steps) != q.plan.usual[side];
            bool here = false, by_call = odd || v.form == TG_FORM_CALLS;
            double calls = odd ? q.plan.usual[side] : q.plan.calls, share = 1 / (double)n;
            struct of_rank *of = w->room->of_rank;
            memset(of, 0, n * sizeof *of);
            for (size_t rank = 0; rank < n; rank++)
                here |= by_call ? call_values(&q, at + rank, calls, of[rank].y)
                                : cell_values(&q, at + rank, of[rank].y);
            if (n > 1 && tg_op_is_collective(op))
                share_least(w, op, at, n, of);
            for (size_t rank = 0; rank < n; rank++)
                for (enum tg_step_statistic r = 0; r < TG_STEP_STATISTICS; r++)
                    v.y[r][side][run] += of[rank].y[r] * share;
            v.complete &= here;
        }
    return v;
}

struct tg_slow_step tg_run_slow_step(const struct tg_diff_work *w, const struct tg_op *op, int side,
                                     size_t run)
{
    struct tg_slow_step s = { 0 };
    double *v = w->room->v;
    size_t n_ranks = w->c->n_ranks[side];

    for (size_t rank = 0; rank < n_ranks; rank++) {
        size_t at = tg_diff_cell_index(w, side, run, rank), n = w->used[at].n;
        for (size_t j = 0; j < n; j++)
            v[j] = tg_cell_time(w, op, at, j, TG_OP_SELF);
        if (!n)
            continue;
        tg_ascend(v, n);
        s.slowest += v[n - 1] / (double)n_ranks;
        s.usual += v[(n - 1) / 2] / (double)n_ranks;
    }
    return s;
}
