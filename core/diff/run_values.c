/*
 * The value of a run: one number per operator and run, in several statistics. The k-th call of a
 * fine row (name, parent, device, stream) is a slot; it does the same work in every step, and
 * whatever disturbs it only adds time. So each slot is read over the steps,
 * and the slots are added up.
 */
#include <math.h>

#include "core/diff/internal.h"
#include "core/summary/beside.h"

#define HASH_BITS 24
#define HASH 0xffffff
#define LONGEST 64 /* steps: of more of them none is looked for that makes other calls */

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

/* The largest without the slowest fifth. Sorts. */
static double slow(double *v, size_t n)
{
    tg_ascend(v, n);
    return v[n - 1 - n / 5];
}

void tg_step_statistics_add(double out[TG_STEP_STATISTICS], double *v, size_t n)
{
    size_t last = n > 1 ? n / 2 : n;
    if (n == 1) { /* of many ranks, often one step is recorded: all are it */
        for (int k = 0; k < TG_STEP_STATISTICS; k++)
            out[k] += v[0];
        return;
    }
    out[TG_LEAST] += tg_least(v, n);
    out[TG_LEAST_FIRST] += tg_least(v, (n + 1) / 2);
    out[TG_LEAST_LAST] += tg_least(v + n - last, last);
    out[TG_MEAN] += tg_mean(v, n);
    out[TG_SLOW] += slow(v, n);
}

/* The lower median. Sorts. */
static double usual(double *v, size_t n)
{
    tg_ascend(v, n);
    return v[(n - 1) / 2];
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

/* ---- slots ---- */

/* What has to be alike in the steps that are read: nothing, the number of calls,
 * or that of each fine row. */
enum alike { ALIKE_NOT, ALIKE_CALLS, ALIKE_ROWS };

/*
 * The keys of the cell's steps: calls in the high bits, so that of equally frequent ones the fuller
 * wins, a hash of the rows' counts below. Returns the usual one,
 * and in `hits` how many steps have it.
 */
static uint64_t find_keys(const struct tg_diff_work *w, const struct tg_op *op, size_t at,
                          enum alike alike, size_t *hits)
{
    const struct tg_diff_cell *cell = &op->rows->cell[at];
    const struct tg_used *used = &w->used[at];
    for (size_t j = 0; j < used->n; j++) {
        uint64_t h = 1, sum = 0;
        for (size_t r = 0; alike != ALIKE_NOT && r < cell->n; r++) {
            h = (h ^ cell->row[r]->count[used->step[j]]) * UINT64_C(0x9e3779b97f4a7c15);
            h = h ^ (h >> 32);
            sum += cell->row[r]->count[used->step[j]];
        }
        h = alike == ALIKE_ROWS ? h & HASH : 0;
        w->room->key[j] = w->room->sorted[j] = sum << HASH_BITS | h;
    }
    return tg_mode(w->room->sorted, used->n, hits);
}

/* ---- steps and calls ---- */

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
    enum alike alike;
    size_t steps;
    double calls;
    double usual[2]; /* calls of a usual step, by side: a run that has others is read by the call */
};

/* ---- usual steps ---- */

/*
 * The run's calls in a usual step, mean over its ranks; `steps` receives in how many steps each
 * rank has them at least. -1: its steps vary.
 */
static double usual_of_run(const struct tg_diff_work *w, const struct tg_op *op, int side,
                           size_t run, enum alike alike, size_t *steps)
{
    double sum = 0;
    *steps = SIZE_MAX;
    for (size_t rank = 0; rank < w->c->n_ranks[side]; rank++) {
        size_t at = tg_diff_cell_index(w, side, run, rank), n;
        uint64_t calls = find_keys(w, op, at, alike, &n) >> HASH_BITS;
        if (n == 0 || (double)n < TG_SETTLED * (double)w->used[at].n)
            return -1;
        *steps = n < *steps ? n : *steps;
        sum += (double)calls;
    }
    return sum / (double)w->c->n_ranks[side];
}

/* By usual steps, which most runs of each side have alike; by slots, those of both sides. */
static struct plan usual_plan(const struct tg_diff_work *w, const struct tg_op *op,
                              enum tg_value_form form)
{
    bool slots = form == TG_FORM_SLOTS;
    struct plan p = { form, slots ? ALIKE_ROWS : ALIKE_CALLS, .steps = SIZE_MAX };
    /* Were any slots dropped from the summary for its size? */
    for (size_t at = 0; slots && at < w->n_cells; at++)
        for (size_t j = 0; j < w->used[at].n; j++)
            for (size_t r = 0; r < op->rows->cell[at].n; r++) {
                const struct tg_row *row = op->rows->cell[at].row[r];
                if (!row->slots && row->count[w->used[at].step[j]])
                    return (struct plan){ 0 };
            }
    /* What more than half of a side's runs call in a usual step, -1: nothing; `p.steps` is lowered
     * to how many such steps all of these have. The other runs hide nothing of them. */
    for (int side = 0; side < 2; side++) {
        size_t n = w->c->n_runs[side], steps, have = 0;
        double *x = w->room->of_run, *usual = &p.usual[side];
        for (size_t run = 0; run < n; run++)
            x[run] = usual_of_run(w, op, side, run, p.alike, &steps);
        tg_ascend(x, n);
        *usual = x[n / 2]; /* what more than half have is in the middle */
        for (size_t run = 0; *usual >= 0 && run < n; run++) {
            if (usual_of_run(w, op, side, run, p.alike, &steps) != *usual)
                continue;
            have++;
            p.steps = steps < p.steps ? steps : p.steps; /* the least of more steps is less */
        }
        *usual = 2 * have > n ? *usual : -1;
    }
    if (p.steps == 0 || p.steps == SIZE_MAX || fmin(p.usual[TG_BASE], p.usual[TG_TEST]) < 0 ||
        (slots && p.usual[TG_BASE] != p.usual[TG_TEST]))
        return (struct plan){ 0 };
    return p;
}

/* ---- steps that differ, alike in all runs: every fourth of an optimizer, data by a seed ---- */

/* The calls of the cell's steps from `from` on, ascending, in `out`. Do they differ? */
static bool sort_calls(const struct tg_diff_work *w, const struct tg_op *op, size_t at, size_t from,
                       uint64_t *out)
{
    size_t n = w->used[at].n - from;
    for (size_t j = 0; j < n; j++)
        out[j] = calls_in(w, op, at, from + j);
    (void)tg_mode(out, n, NULL); /* sorts */
    return out[0] != out[n - 1];
}

/* Has each rank as many steps of each number of calls in all runs, in whatever order,
 * and several numbers? */
static bool differ_alike(const struct tg_diff_work *w, const struct tg_op *op)
{
    size_t n = w->used[0].n, n_ranks = w->c->n_ranks[TG_BASE], from = n > 1;
    uint64_t *want = w->room->key, *have = w->room->sorted;
    bool differ = false;
    /* A first step with calls like no other is cold: the steps that say something begin after
     * it. */
    for (size_t j = 1; from && j < n; j++)
        from = calls_in(w, op, 0, j) != calls_in(w, op, 0, 0);
    if (n <= from || n > LONGEST || n_ranks != w->c->n_ranks[TG_TEST])
        return false;
    for (size_t rank = 0; rank < n_ranks; rank++) {
        differ |= w->used[rank].n == n && sort_calls(w, op, rank, from, want);
        for (size_t at = rank; differ && at < w->n_cells; at += n_ranks) {
            if (w->used[at].n != n)
                return false;
            (void)sort_calls(w, op, at, from, have);
            if (memcmp(want, have, (n - from) * sizeof *want) != 0)
                return false;
        }
    }
    return differ;
}

/* ---- one cell ---- */

/* What is read, and how: self time, or inclusive time. */
struct reading {
    const struct tg_diff_work *w;
    const struct tg_op *op;
    enum tg_op_part part;
    struct plan plan;
    const bool *moved; /* slots of the rank that are left out; NULL: none */
};

/* Where each step's slots of the row begin. */
static void find_offsets(const struct reading *q, const struct tg_row *row, size_t at)
{
    size_t offset = 0;
    for (size_t j = 0; j < q->w->shard[at]->n_steps; j++) {
        q->w->room->offset[j] = offset;
        offset += row->count[j];
    }
}

/* Puts into `usable` the first steps of the cell that are alike; returns how many. */
static size_t find_usable(const struct reading *q, size_t at)
{
    struct tg_value_room *x = q->w->room;
    uint64_t key = find_keys(q->w, q->op, at, q->plan.alike, NULL);
    size_t n = 0;
    for (size_t j = 0; j < q->w->used[at].n && n < q->plan.steps; j++)
        if (x->key[j] == key)
            x->usable[n++] = j;
    return n;
}

/* Of the first steps that are alike, slot by slot or their sums. False:
 * the operator is not there. */
static bool cell_values(const struct reading *q, size_t at, double out[TG_STEP_STATISTICS])
{
    const struct tg_diff_cell *cell = &q->op->rows->cell[at];
    struct tg_value_room *x = q->w->room;
    const size_t *step = q->w->used[at].step;
    size_t n = find_usable(q, at), slot = 0; /* of the rank */
    for (size_t r = 0; n && q->plan.form == TG_FORM_SLOTS && r < cell->n; r++) {
        const struct tg_row *row = cell->row[r];
        find_offsets(q, row, at);
        for (size_t k = 0; k < row->count[step[x->usable[0]]]; k++, slot++) {
            if (q->moved && q->moved[slot])
                continue;
            for (size_t j = 0; j < n; j++)
                x->v[j] = (double)row->slots[x->offset[step[x->usable[j]]] + k];
            tg_step_statistics_add(out, x->v, n);
        }
    }
    for (size_t j = 0; j < n; j++)
        x->v[j] = tg_cell_time(q->w, q->op, at, x->usable[j], q->part);
    if (n && q->plan.form != TG_FORM_SLOTS)
        tg_step_statistics_add(out, x->v, n);
    return cell->n > 0;
}

/*
 * Time per call, of so many calls. Where calls vary it is that of the usual step: the least would
 * be the one whose calls happen to be small. False: no step has calls.
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
    if (n && q->plan.alike == ALIKE_NOT) { /* sorts each half, then all */
        size_t last = n > 1 ? n / 2 : n;
        out[TG_MEAN] += tg_mean(x->v, n);
        out[TG_LEAST_FIRST] += usual(x->v, (n + 1) / 2);
        out[TG_LEAST_LAST] += usual(x->v + n - last, last);
        out[TG_LEAST] += usual(x->v, n);
        out[TG_SLOW] += slow(x->v, n);
    } else if (n)
        tg_step_statistics_add(out, x->v, n);
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
    struct plan p = { TG_FORM_STEPS, ALIKE_NOT, .steps = tg_fewest_steps(w) };
    double calls = 0, steps = 0; /* of the baseline */
    bool alike;
    if (ask == TG_ASK_STEPS || ask == TG_ASK_INCLUSIVE_STEPS)
        return p;
    alike = differ_alike(w, op);
    p = ask == TG_ASK_BEST && !alike ? usual_plan(w, op, TG_FORM_SLOTS) : (struct plan){ 0 };
    if (!p.steps && !alike)
        p = usual_plan(w, op, TG_FORM_USUAL_STEPS);
    if (p.steps)
        return p;
    for (size_t at = 0; at < w->first[TG_TEST]; at++) {
        for (size_t j = 0; j < w->used[at].n; j++)
            calls += (double)calls_in(w, op, at, j);
        steps += (double)w->used[at].n;
    }
    return (struct plan){ alike ? TG_FORM_SCHEDULE : TG_FORM_CALLS, ALIKE_NOT, .steps = SIZE_MAX,
                          .calls = steps > 0 ? calls / steps : 0 };
}

/*
 * A collective ends on all ranks of its group at once, and all but the last one wait in it: its own
 * time is that of the rank where it is shortest.
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
    struct reading q = { w, op, inclusive ? TG_OP_TOTAL : TG_OP_SELF, plan_of(w, op, ask), NULL };
    struct tg_run_values v = tg_run_values_new(w);
    v.form = q.plan.form;
    v.device = tg_kind_is_device(op->kind);
    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < w->c->n_runs[side]; run++) {
            const struct plan *p = &q.plan;
            size_t steps;
            bool here = false;
            /* Does the run lack the usual steps that most runs have? */
            bool odd = p->alike != ALIKE_NOT &&
                       usual_of_run(q.w, q.op, side, run, p->alike, &steps) != p->usual[side];
            bool by_call = odd || v.form == TG_FORM_CALLS || v.form == TG_FORM_SCHEDULE;
            double calls = odd ? q.plan.usual[side] : q.plan.calls;
            double share = 1 / (double)w->c->n_ranks[side];
            size_t n = w->c->n_ranks[side], at = tg_diff_cell_index(w, side, run, 0);
            memset(w->room->of_rank, 0, n * sizeof *w->room->of_rank);
            for (size_t rank = 0; rank < n; rank++) {
                double *y = w->room->of_rank[rank].y;
                here |=
                    by_call ? call_values(&q, at + rank, calls, y) : cell_values(&q, at + rank, y);
            }
            if (n > 1 && tg_op_is_collective(op))
                share_least(w, op, at, n, w->room->of_rank);
            for (size_t rank = 0; rank < n; rank++)
                for (enum tg_step_statistic r = 0; r < TG_STEP_STATISTICS; r++)
                    v.y[r][side][run] += w->room->of_rank[rank].y[r] * share;
            v.complete &= here;
        }
    return v;
}

/* ---- slots that work of other streams overlaps ---- */

/* Of a slot: the least of its steps, and how much of that nothing overlaps. */
struct least {
    double whole, alone;
};

/* Of each slot of the cell, side by side. */
static void find_leasts(const struct reading *q, size_t at, struct least *out)
{
    const struct tg_diff_cell *cell = &q->op->rows->cell[at];
    const size_t *step = q->w->used[at].step;
    struct tg_value_room *x = q->w->room;
    size_t n = find_usable(q, at);
    for (size_t r = 0; n && r < cell->n; r++) {
        const struct tg_row *row = cell->row[r];
        find_offsets(q, row, at);
        for (size_t k = 0; k < row->count[step[x->usable[0]]]; k++, out++) {
            out->whole = INFINITY;
            for (size_t j = 0; j < n; j++) {
                size_t i = x->offset[step[x->usable[j]]] + k;
                double v = (double)row->slots[i], beside = row->beside ? row->beside[i] : 0;
                if (v < out->whole)
                    *out = (struct least){ v, v * (1 - beside / TG_BESIDE_ALL) };
            }
        }
    }
}

/* Medians of one slot over the runs of a side; `v` is that of its first run. */
static struct least usual_least(const struct tg_diff_work *w, const struct least *v, int side,
                                size_t n_slots)
{
    double *x = w->room->of_run;
    struct least usual;
    for (size_t run = 0; run < w->c->n_runs[side]; run++)
        x[run] = v[run * n_slots].whole;
    usual.whole = tg_median(x, w->c->n_runs[side]);
    for (size_t run = 0; run < w->c->n_runs[side]; run++)
        x[run] = v[run * n_slots].alone;
    usual.alone = tg_median(x, w->c->n_runs[side]);
    return usual;
}

bool tg_run_values_alike(const struct tg_diff_work *w, const struct tg_op *op,
                         struct tg_run_values *out)
{
    struct reading q = { w, op, TG_OP_SELF, plan_of(w, op, TG_ASK_BEST), NULL };
    size_t n_ranks = w->c->n_ranks[TG_BASE], all = 0, left_out = 0;
    *out = tg_run_values_new(w);
    out->device = true;
    if (q.plan.form != TG_FORM_SLOTS || n_ranks != w->c->n_ranks[TG_TEST])
        return false;
    for (size_t rank = 0; rank < n_ranks; rank++) {
        /* Are the steps of all its runs alike, and is known what overlaps them? Then its slots. */
        uint64_t key = find_keys(w, op, rank, q.plan.alike, NULL);
        size_t n = (size_t)(key >> HASH_BITS);
        for (size_t at = rank; at < w->n_cells; at += n_ranks)
            if (!w->shard[at]->beside_known || find_keys(w, op, at, q.plan.alike, NULL) != key)
                return false;
        TG_FREE bool *moved = tg_xcalloc(n + 1, sizeof *moved);
        if (!n)
            return false;
        all += n;
        size_t runs = w->n_cells / n_ranks;
        TG_FREE struct least *v = tg_xmalloc((runs * n + 1) * sizeof *v);
        for (size_t run = 0; run < runs; run++)
            find_leasts(&q, rank + run * n_ranks, v + run * n);
        for (size_t k = 0; k < n; k++) {
            /* Work beside it makes a slot up to twice as long meanwhile: does it take more or less
             * time by no more than what ran alone before and no longer does, or the other way
             * round? */
            struct least b = usual_least(w, v + k, TG_BASE, n);
            struct least t = usual_least(w, v + w->c->n_runs[TG_BASE] * n + k, TG_TEST, n);
            double longer = t.whole - b.whole, beside = longer - (t.alone - b.alone);
            moved[k] = beside > 0 ? b.alone - t.alone >= longer
                                  : beside < 0 && longer < 0 && t.alone - b.alone >= -longer;
            left_out += moved[k];
        }
        q.moved = moved;
        for (size_t at = rank; at < w->n_cells; at += n_ranks) {
            int side = at >= w->first[TG_TEST];
            double y[TG_STEP_STATISTICS] = { 0 };
            (void)cell_values(&q, at, y);
            for (enum tg_step_statistic r = 0; r < TG_STEP_STATISTICS; r++)
                out->y[r][side][(at - w->first[side]) / n_ranks] += y[r] / (double)n_ranks;
        }
    }
    out->complete = left_out < all;
    return left_out > 0;
}

struct tg_slow_step tg_run_slow_step(const struct tg_diff_work *w, const struct tg_op *op, int side,
                                     size_t run, enum tg_value_form form)
{
    struct tg_slow_step s = { 0 };
    double *v = w->room->v;
    size_t n_ranks = w->c->n_ranks[side];
    for (size_t rank = 0; rank < n_ranks; rank++) {
        size_t at = tg_diff_cell_index(w, side, run, rank), n = 0;
        uint64_t most = 0;
        for (size_t j = 0; form == TG_FORM_SCHEDULE && j < w->used[at].n; j++)
            most = calls_in(w, op, at, j) > most ? calls_in(w, op, at, j) : most;
        for (size_t j = 0; j < w->used[at].n; j++)
            if (calls_in(w, op, at, j) >= most)
                v[n++] = tg_cell_time(w, op, at, j, TG_OP_SELF);
        if (!n)
            continue;
        tg_ascend(v, n);
        s.slowest += v[n - 1] / (double)n_ranks;
        s.usual += v[(n - 1) / 2] / (double)n_ranks;
    }
    return s;
}
