/*
 * Alignment: rows of both sides become operators by (kind, normalised name), with counts per step,
 * sums, and parts of the step. Did the calls of an operator change? The rule is in counts.c.
 */
#include <math.h>
#include <stdlib.h>

#include "core/diff/internal.h"
#include "core/diff/names.h"

/* ---- rows of all shards become operators by (kind, normalised name) ---- */

struct gather {
    uint32_t *op_of_row; /* of the rows that are asked for, in order of cells */
    size_t n, cap;
    struct tg_strmap raw, key; /* kind byte + raw name; kind byte + name */
    uint32_t *op_of_raw;
    size_t cap_raw;
    struct gathered {
        enum tg_kind kind;
        bool launched;
        tg_sv name;
        size_t n; /* rows */
        struct tg_diff_cell *cell;
        const struct tg_row **row; /* where the next one goes */
    } * op;
    size_t cap_op;
};

/* The side of a frame that tells what was launched inside. */
static bool is_launched(const struct tg_row *row)
{
    return tg_kind_is_frame(row->key->kind) && row->key->device >= 0;
}

static tg_sv keyed(struct tg_buf *b, const struct tg_row *row, tg_sv name)
{
    tg_buf_clear(b);
    tg_buf_putc(b, (char)('A' + (int)row->key->kind));
    tg_buf_putc(b, is_launched(row) ? 'l' : ' ');
    tg_buf_add(b, name);
    return tg_buf_sv(b);
}

static int by_kind_and_name(const void *pa, const void *pb)
{
    const struct tg_op *a = pa, *b = pb;
    int c = TG_CMP(a->kind, b->kind);
    c = c ? c : tg_sv_cmp(a->name, b->name);
    return c ? c : (int)a->launched - (int)b->launched;
}

/* The next row that is asked for, from *cell and *i on; NULL: there is none. */
static const struct tg_row *next_row(const struct tg_diff_work *w, size_t *cell, size_t *i)
{
    for (; *cell < w->n_cells; ++*cell, *i = 0) {
        const struct tg_shard *s = w->shard[*cell];
        while (*i < s->n_rows + s->n_frames) {
            const struct tg_row *row = &s->rows[(*i)++];
            /* Host rows stay: they tell what the machine did meanwhile. */
            if (tg_kind_is_frame(row->key->kind) || row->key->device < 0 ||
                (tg_listed(w->o->devices, w->o->n_devices, row->key->device) &&
                 tg_listed(w->o->streams, w->o->n_streams, row->key->stream)))
                return row;
        }
    }
    return NULL;
}

void tg_gather(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;
    struct gather g = { 0 };
    const struct tg_row *row;
    TG_BUF b = { 0 };
    tg_strmap_init(&g.raw);
    tg_strmap_init(&g.key);
    for (size_t cell = 0, i = 0; (row = next_row(w, &cell, &i));) {
        /* Each (kind, raw name) is normalised once: rows of one name are many. */
        size_t known = g.raw.n, ops = g.key.n;
        uint32_t id = tg_strmap_add(&g.raw, keyed(&b, row, row->key->name));
        if (id == known) {
            g.op_of_raw = tg_grow(g.op_of_raw, &g.cap_raw, g.raw.n, sizeof *g.op_of_raw);
            tg_sv name = tg_diff_name(w, row->key->kind, row->key->name);
            uint32_t op = g.op_of_raw[id] = tg_strmap_add(&g.key, keyed(&b, row, name));
            if (op == ops) {
                g.op = tg_grow(g.op, &g.cap_op, g.key.n, sizeof *g.op);
                g.op[op] =
                    (struct gathered){ row->key->kind, is_launched(row), name, 0, NULL, NULL };
            }
        }
        *TG_PUSH(g.op_of_row, g.n, g.cap) = g.op_of_raw[id];
        g.op[g.op_of_raw[id]].n++;
    }
    /* Room for the rows of each operator, cell after cell. */
    struct tg_op *ops = c->ops = TG_NEW_N(w->a, struct tg_op, g.key.n + 1);
    for (size_t k = 0; k < g.key.n; k++) {
        struct gathered *from = &g.op[k];
        from->row = TG_NEW_N(w->a, const struct tg_row *, from->n);
        ops[k] = (struct tg_op){ .rows = tg_op_rows_new(w, &from->cell),
                                 .kind = from->kind,
                                 .launched = from->launched,
                                 .name = from->name,
                                 .partner = TG_NO_ID,
                                 .region = TG_NO_ID,
                                 .leader = TG_NO_ID };
    }
    /* Rows come in order of cells, so that those of an operator in a cell are neighbours. */
    for (size_t cell = 0, i = 0, at = 0; (row = next_row(w, &cell, &i));) {
        struct gathered *to = &g.op[g.op_of_row[at++]];
        if (to->cell[cell].n++ == 0)
            to->cell[cell].row = to->row;
        *to->row++ = row;
    }
    TG_SORT(ops, g.key.n, by_kind_and_name);
    while (c->n_ops < g.key.n && !tg_kind_is_frame(ops[c->n_ops].kind)) /* the last kinds */
        c->n_ops++;
    c->frames = ops + c->n_ops;
    c->n_frames = g.key.n - c->n_ops;
    free(g.op_of_row);
    free(g.op);
    free(g.op_of_raw);
    tg_strmap_release(&g.raw);
    tg_strmap_release(&g.key);
}

/* ---- what an operator is: names, parent, class, what its time and calls mean ---- */

/* Time by text; the largest wins, of equals the first in byte order. */
struct weights {
    struct tg_strmap names;
    tg_ns *v;
    size_t cap;
};

static void weigh(struct weights *x, tg_sv name, tg_ns ns)
{
    size_t known = x->names.n;
    uint32_t id = tg_strmap_add(&x->names, name);
    if (id == known) {
        x->v = tg_grow(x->v, &x->cap, id + 1, sizeof *x->v);
        x->v[id] = 0;
    }
    x->v[id] += ns;
}

/* The name with most time; releases `x`. */
static tg_sv heaviest(struct tg_diff_work *w, struct weights *x)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < x->names.n; i++)
        if (x->v[i] > x->v[best] ||
            (x->v[i] == x->v[best] && tg_sv_cmp(x->names.text[i], x->names.text[best]) < 0))
            best = i;
    tg_sv name = x->names.n ? tg_arena_sv(w->a, x->names.text[best]) : TG_SV("");
    tg_strmap_release(&x->names);
    free(x->v);
    return name;
}

static void identify(struct tg_diff_work *w, struct tg_op *op)
{
    struct weights parents = { 0 };
    /* The raw name with most time on a side, and the main encloser over both sides. */
    tg_strmap_init(&parents.names);
    for (int side = 0; side < 2; side++) {
        struct weights raw = { 0 };
        tg_strmap_init(&raw.names);
        for (size_t at = w->first[side]; at < w->first[side + 1]; at++)
            for (size_t r = 0; r < op->rows->cell[at].n; r++) {
                const struct tg_row *row = op->rows->cell[at].row[r];
                tg_ns sum = 0;
                for (size_t j = 0; j <= w->shard[at]->n_steps; j++)
                    sum += row->total[j];
                weigh(&raw, row->key->name, sum);
                weigh(&parents, row->key->parent, sum);
            }
        op->present[side] = raw.names.n > 0;
        op->grouped |= op->kind == TG_KIND_KERNEL && raw.names.n > 1;
        op->raw[side] = heaviest(w, &raw);
    }
    op->parent = tg_diff_name(w, TG_KIND_OP, heaviest(w, &parents));
    tg_sv raw = op->raw[op->present[TG_TEST] ? TG_TEST : TG_BASE];
    op->class_ = tg_class_of(w->o->classes, op->kind, raw, NULL);
    /* Of runtime calls alone: an operator of such a name is the program's own. */
    bool call = op->kind == TG_KIND_RUNTIME || op->kind == TG_KIND_SYNC;
    op->polling = call && !w->o->ignore && tg_is_polling(raw);
    for (size_t i = 0; call && w->o->ignore && i < w->o->n_ignore; i++)
        op->polling |= tg_sv_glob(w->o->ignore[i], raw);
    /* Its time is somebody else's: collectives, copies, synchronisation. */
    op->wait = tg_name_waits(op->kind, op->name) || tg_op_is_collective(op);
    op->view = op->kind == TG_KIND_OP && tg_name_is_view(op->name);
}

/* ---- calls and times of one operator, added up over steps, ranks and runs ---- */

/* Buffers for one operator at a time. Calls per step are means over ranks. */
struct sums {
    uint64_t *count, *sorted;      /* per step of one cell */
    double *total, *self;          /* per run of one side */
    double *of_rank[2];            /* usual calls; NAN: they vary from step to step or run to run */
    double *modal[2];              /* per run */
    double *by_step[2];            /* [run * max_steps + step] */
    struct tg_step_counts *run[2]; /* views of by_step */
};

/* Adds up one cell. Returns the modal count; `settled` falls when too few steps have it. `steady`:
 * do all have it, but for a first one? */
static uint64_t sum_cell(const struct tg_diff_work *w, struct tg_op *op, int side, size_t at,
                         struct sums *x, double *total, double *self, bool *steady)
{
    const struct tg_diff_cell *cell = &op->rows->cell[at];
    const struct tg_used *used = &w->used[at];
    size_t n_steps = w->shard[at]->n_steps, hits;
    tg_ns steps_total = 0, steps_self = 0;
    memset(x->count, 0, used->n * sizeof *x->count);
    for (size_t r = 0; r < cell->n; r++) {
        const struct tg_row *row = cell->row[r];
        for (size_t j = 0; j <= n_steps; j++) {
            op->whole_count[side] += row->count[j];
            op->whole_total[side] += row->total[j];
        }
        op->outside_count[side] += row->count[n_steps];
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

/* NULL: none. */
const struct tg_rank_shift *tg_diff_rank_shift(const struct tg_diff_work *w,
                                               double *const of_rank[2])
{
    struct tg_rank_shift most = { 0 };
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
    return most.n ? tg_arena_copy(w->a, &most, 1, sizeof most) : NULL;
}

static void sum_op(struct tg_diff_work *w, struct tg_op *op, struct sums *x)
{
    op->settled = true;
    for (int side = 0; side < 2; side++) {
        size_t n_runs = w->c->n_runs[side], n_ranks = w->c->n_ranks[side];
        for (size_t run = 0; run < n_runs; run++) {
            size_t first = tg_diff_cell_index(w, side, run, 0), n_steps = 0;
            double modal = 0, total = 0, self = 0, *by_step = x->by_step[side] + run * w->max_steps;
            for (size_t rank = 0; rank < n_ranks; rank++)
                n_steps = w->used[first + rank].n > n_steps ? w->used[first + rank].n : n_steps;
            memset(by_step, 0, w->max_steps * sizeof *by_step);
            for (size_t rank = 0; rank < n_ranks; rank++) {
                bool steady;
                uint64_t usual = sum_cell(w, op, side, first + rank, x, &total, &self, &steady);
                double *of_rank = &x->of_rank[side][rank];
                modal += (double)usual;
                *of_rank = steady && (!run || *of_rank == (double)usual) ? (double)usual : NAN;
                /* A rank with fewer steps has its usual count in the others. */
                for (size_t j = 0; j < n_steps; j++)
                    by_step[j] += (double)(j < w->used[first + rank].n ? x->count[j] : usual) /
                                  (double)n_ranks;
            }
            x->run[side][run] = (struct tg_step_counts){ by_step, n_steps };
            x->modal[side][run] = modal / (double)n_ranks;
            x->total[run] = total / (double)n_ranks;
            x->self[run] = self / (double)n_ranks;
        }
        op->total[side] = tg_median(x->total, n_runs);
        op->self[side] = tg_median(x->self, n_runs); /* and sorts */
        op->self_least[side] = n_runs ? x->self[0] : 0;
        op->self_most[side] = n_runs ? x->self[n_runs - 1] : 0;
    }
    op->shift = tg_diff_rank_shift(w, x->of_rank);
}

/* ---- did the calls of an operator change? ---- */

static bool has_any(const double *v, size_t n)
{
    while (n && v[n - 1] == 0)
        n--;
    return n > 0;
}

static bool has_calls(const struct tg_diff_work *w, const struct sums *x, int side)
{
    return has_any(x->by_step[side], w->c->n_runs[side] * w->max_steps);
}

/*
 * Does every run of a side have the name, in a step that is not just a cold first one, and no step
 * of the other side? Even if a run has such a step with the least favourable chance, one in two,
 * one set of three runs per side in 64 looks like this.
 */
static bool in_every_run_of(const struct tg_diff_work *w, const struct sums *x, int side)
{
    size_t n = w->c->n_runs[side], first = 0, rest = 0;
    if (n < TG_FEWEST_RUNS || w->c->n_runs[!side] < TG_FEWEST_RUNS || has_calls(w, x, !side))
        return false;
    TG_EACH(const struct tg_step_counts, s, x->run[side], n) {
        bool at_first = s->n && s->v[0] != 0, later = s->n && has_any(s->v + 1, s->n - 1);
        if (!at_first && !later)
            return false;
        first += at_first;
        rest += later;
    }
    return rest == n || (first < n && 2 * rest > n);
}

/* The same question the other way round: negated counts rise where counts fell. */
static void negate(const struct tg_diff_work *w, struct sums *x)
{
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < w->c->n_runs[side] * w->max_steps; i++)
            x->by_step[side][i] = -x->by_step[side][i];
}

static enum tg_change rise_or_fall(struct tg_diff_work *w, struct tg_op *op, struct sums *x)
{
    const struct tg_step_counts *const run[2] = { x->run[TG_BASE], x->run[TG_TEST] };
    struct tg_count_evidence fall;
    const bool fewer_make_wait = false;
    tg_count_judge(&op->counted, run, w->c->n_runs, tg_op_makes_wait(op));
    if (op->counted.shape == TG_COUNT_SOME_STEPS && in_every_run_of(w, x, TG_TEST)) {
        op->counted.proof = TG_COUNT_PROVEN;
        op->counted.runs_above = (unsigned)w->c->n_runs[TG_TEST];
    }
    if (op->counted.proof == TG_COUNT_PROVEN)
        return has_calls(w, x, TG_BASE) ? TG_MORE : TG_ADDED;
    negate(w, x);
    tg_count_judge(&fall, run, w->c->n_runs, fewer_make_wait);
    negate(w, x);
    if (fall.proof != TG_COUNT_PROVEN &&
        !(fall.shape == TG_COUNT_VARIES && in_every_run_of(w, x, TG_BASE)))
        return TG_SAME;
    fall.proof = TG_COUNT_PROVEN;
    fall.most = op->counted.most;
    op->counted = fall;
    return has_calls(w, x, TG_TEST) ? TG_FEWER : TG_REMOVED;
}

static double least_count(const struct tg_diff_work *w, const struct sums *x, int side)
{
    double least = INFINITY;
    for (size_t run = 0; run < w->c->n_runs[side]; run++)
        least = fmin(least, tg_least(x->run[side][run].v, x->run[side][run].n));
    return least;
}

/*
 * A loader works ahead: as often before the first step whatever the number of steps, and not in the
 * last ones. Of more steps more have it, and all of them, inside and outside, as often as before.
 */
static bool works_ahead(const struct tg_diff_work *w, const struct tg_op *op, const struct sums *x)
{
    const struct tg_comparison *c = w->c;
    const uint64_t *steps = c->n_units, *all = op->whole_count;
    uint64_t traces[2], outside[2];
    for (int side = 0; side < 2; side++) {
        traces[side] = c->n_runs[side] * c->n_ranks[side];
        outside[side] = all[side] - op->step_count[side];
    }
    return steps[TG_BASE] * traces[TG_TEST] != steps[TG_TEST] * traces[TG_BASE] &&
           all[TG_BASE] * steps[TG_TEST] == all[TG_TEST] * steps[TG_BASE] &&
           outside[TG_BASE] * traces[TG_TEST] == outside[TG_TEST] * traces[TG_BASE] &&
           least_count(w, x, TG_TEST) <= least_count(w, x, TG_BASE);
}

static void find_change(struct tg_diff_work *w, struct tg_op *op, struct sums *x)
{
    double range[2][2];
    op->counted = (struct tg_count_evidence){ .p = 1 };
    for (int side = 0; side < 2; side++) {
        size_t n = w->c->n_runs[side];
        range[side][0] = tg_least(x->modal[side], n);
        range[side][1] = tg_most(x->modal[side], n);
        op->count[side] = tg_median_of(w, x->modal[side], side);
    }
    op->agreed = op->settled && range[TG_BASE][0] == range[TG_BASE][1] &&
                 range[TG_TEST][0] == range[TG_TEST][1];
    bool alike = true;
    double any = x->run[TG_BASE][0].n ? x->run[TG_BASE][0].v[0] : 0;
    for (int side = 0; side < 2; side++)
        for (size_t run = 0; alike && run < w->c->n_runs[side]; run++)
            for (size_t j = 0; j < x->run[side][run].n; j++)
                alike &= x->run[side][run].v[j] == any;
    if (alike)
        return;
    if (!w->c->marked[TG_BASE] || !w->c->marked[TG_TEST]) {
        /* A whole trace is one step, and runs of it may have more or fewer iterations. */
        double a = op->count[TG_BASE], b = op->count[TG_TEST];
        bool apart = range[TG_BASE][1] < range[TG_TEST][0] || range[TG_TEST][1] < range[TG_BASE][0];
        if (op->agreed ? a != b : apart && fabs(b - a) > TG_SLACK * fmax(a, 1))
            op->change = a == 0 ? TG_ADDED : b == 0 ? TG_REMOVED : b > a ? TG_MORE : TG_FEWER;
        return;
    }
    if (works_ahead(w, op, x)) {
        op->counted.shape = TG_COUNT_VARIES;
        return;
    }
    op->change = rise_or_fall(w, op, x);
    if (op->counted.shape == TG_COUNT_CONSTANT || op->counted.proof == TG_COUNT_UNCHANGED)
        return;
    for (int side = 0; side < 2; side++) {
        op->counted.run[side] =
            tg_arena_copy(w->a, x->modal[side], w->c->n_runs[side], sizeof(double));
        /* The usual count of the median run says nothing about what came elsewhere. */
        if (op->counted.shape == TG_COUNT_RUNS_DIFFER && op->counted.proof != TG_COUNT_HINT)
            continue;
        double sum = 0, n = 0;
        for (size_t run = 0; run < w->c->n_runs[side]; run++)
            for (size_t j = 0; j < x->run[side][run].n; j++, n++)
                sum += x->run[side][run].v[j];
        op->count[side] = n > 0 ? sum / n : 0; /* the mean over all steps */
    }
}

/* ---- traces without step markers: the ratio of iterations that most counts share ---- */

static void scale_counts(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;
    /* The ratio test / baseline that most names share, when it is not 1; else 1. */
    double *v = TG_NEW_N(w->a, double, c->n_ops + 1), best = 1;
    size_t n = 0, most = 0;
    TG_EACH(const struct tg_op, op, c->ops, c->n_ops)
        if (tg_kind_is_counted(op->kind) && !op->polling && op->count[0] > 0 && op->count[1] > 0)
            v[n++] = op->count[TG_TEST] / op->count[TG_BASE];
    tg_ascend(v, n);
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i; j < n && v[j] <= v[i] * (1 + 1e-12); j++)
            ;
        if (j - i > most) {
            most = j - i;
            best = v[i];
        }
    }
    if (best == 1 || (double)most < TG_SETTLED * (double)n)
        return;
    c->iteration_ratio = best;
    c->wall_ns[TG_TEST] /= best;
    /* Names that did not scale at all ran once. */
    TG_EACH(struct tg_op, op, c->ops, c->n_ops + c->n_frames) {
        double base = op->count[TG_BASE], test = op->count[TG_TEST];
        double *const time[] = { op->total, op->self, op->self_least, op->self_most };
        if (op->change == TG_SAME || op->change == TG_REMOVED)
            continue;
        op->iteration_scaled = true;
        op->count[TG_TEST] = tg_calls_over(test, best);
        for (size_t k = 0; k < sizeof time / sizeof *time; k++)
            time[k][TG_TEST] /= best;
        if (op->change != TG_ADDED)
            op->change = tg_iterations_explain(c, base, test) ? TG_SAME
                         : test > base * best                 ? TG_MORE
                                                              : TG_FEWER;
    }
}

/*
 * ---- how long a step is, what part of it each operator takes, and evidence for that part. Parts
 * are of the wall clock, which every report shows as the step's time; D, which small changes are
 * measured by, is the device's where it has work ----
 */

/* Length of one step of a shard by a metric, if it has it;
 * else from the step's begin to its end. */
static double length_by(enum tg_metric m, const struct tg_shard *s, size_t j)
{
    const struct tg_metric_value *v = s->metrics ? &s->metrics[m * s->n_steps + j] : NULL;
    if (v && v->known && v->den && v->num > 0)
        return (double)v->num / (double)v->den;
    return (double)(s->steps[j].end - s->steps[j].start);
}

static void share_out(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;
    for (int side = 0; side < 2; side++) {
        /* D, the median over runs of the shortest step, and the wall clock, of the mean step. */
        const struct tg_side_shards *m = &w->measured[side];
        double *shortest = TG_NEW_N(w->a, double, c->n_runs[side]);
        double *mean = TG_NEW_N(w->a, double, c->n_runs[side]);
        for (size_t at = 0; at < c->n_runs[side] * m->n_ranks; at++) {
            const struct tg_used *used = &m->used[at];
            double least = INFINITY, sum = 0;
            for (size_t j = 0; j < used->n; j++) {
                size_t step = used->step[j];
                least = fmin(least, length_by(TG_METRIC_DEVICE_EXTENT, m->shard[at], step));
                sum += length_by(TG_METRIC_STEP_TIME, m->shard[at], step);
            }
            shortest[at / m->n_ranks] += (used->n ? least : 0) / (double)m->n_ranks;
            mean[at / m->n_ranks] += (used->n ? sum / (double)used->n : 0) / (double)m->n_ranks;
        }
        c->step_ns[side] = tg_median(shortest, c->n_runs[side]);
        c->wall_ns[side] = tg_median(mean, c->n_runs[side]);
        TG_EACH(struct tg_op, op, c->ops, c->n_ops + c->n_frames)
            op->share[side] = c->wall_ns[side] > 0 ? op->self[side] / c->wall_ns[side] : 0;
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
        for (size_t run = 0; run < w->c->n_runs[side]; run++) {
            size_t at = tg_diff_cell_index(w, side, run, 0), end = at + w->c->n_ranks[side];
            double step = 0, self = 0;
            for (; at < end; at++)
                for (size_t j = 0; j < w->used[at].n; j++) {
                    step += length_by(TG_METRIC_STEP_TIME, w->shard[at], w->used[at].step[j]);
                    self += tg_cell_time(w, op, at, j, TG_OP_SELF);
                }
            y[side][run] = 100 * (step > 0 ? self / step : 0);
        }
    }
    tg_evidence_of_numbers(w, ev, y, 1);
    return true;
}

/* Which sorts of frames every shard of a side holds,
 * and of which fewer have any than on the other side. */
static void find_frame_sorts(const struct tg_diff_work *w)
{
    static const enum tg_kind kinds[TG_STACK_SORTS] = {
        [TG_STACK_MODULES] = TG_KIND_MODULE, [TG_STACK_SOURCES] = TG_KIND_SOURCE
    };
    double part[TG_STACK_SORTS][2] = { { 0 } };
    w->c->frame_sorts[TG_BASE] = w->c->frame_sorts[TG_TEST] = ~0u;
    for (size_t at = 0; at < w->n_cells; at++) {
        const struct tg_shard *s = w->shard[at];
        int side = at >= w->first[TG_TEST];
        w->c->frame_sorts[side] &= s->frame_sorts;
        for (int sort = 0; sort < TG_STACK_SORTS; sort++) {
            bool any = false;
            for (size_t i = 0; i < s->n_frames && !any; i++)
                any = s->rows[s->n_rows + i].key->kind == kinds[sort];
            part[sort][side] += any;
        }
    }
    for (int side = 0; side < 2; side++)
        for (int sort = 0; sort < TG_STACK_SORTS; sort++)
            if (part[sort][side] / (double)(w->first[side + 1] - w->first[side]) <
                part[sort][!side] / (double)(w->first[!side + 1] - w->first[!side]))
                w->c->frames_lack[side] |= 1u << sort;
}

bool tg_align(struct tg_diff_work *w, struct tg_err *err)
{
    struct tg_comparison *c = w->c;
    if (!tg_diff_select(w, err))
        return false;
    tg_gather(w);
    size_t n_runs = c->n_runs[c->n_runs[TG_TEST] > c->n_runs[TG_BASE] ? TG_TEST : TG_BASE];
    struct sums x = { .count = TG_NEW_N(w->a, uint64_t, w->max_steps + 1),
                      .sorted = TG_NEW_N(w->a, uint64_t, w->max_steps + 1),
                      .total = TG_NEW_N(w->a, double, n_runs),
                      .self = TG_NEW_N(w->a, double, n_runs) };
    struct tg_drawn drawn = { 0 };
    for (int side = 0; side < 2; side++) {
        x.modal[side] = TG_NEW_N(w->a, double, n_runs);
        x.by_step[side] = TG_NEW_N(w->a, double, n_runs * w->max_steps + 1);
        x.run[side] = TG_NEW_N(w->a, struct tg_step_counts, n_runs);
        x.of_rank[side] = TG_NEW_N(w->a, double, c->n_ranks[side] + 1);
    }
    TG_EACH(struct tg_op, op, c->ops, c->n_ops + c->n_frames) {
        sum_op(w, op, &x);
        identify(w, op);
        find_change(w, op, &x);
        if (tg_kind_is_counted(op->kind) && !op->polling && w->c->marked[TG_BASE] &&
            w->c->marked[TG_TEST])
            tg_drawn_add(&drawn, op,
                         (const struct tg_step_counts *const[2]){ x.run[TG_BASE], x.run[TG_TEST] },
                         c->n_runs, w->a);
    }
    tg_drawn_judge(&drawn);
    find_frame_sorts(w);
    share_out(w);
    c->iteration_ratio = 1;
    if (!c->any_marked[TG_BASE] && !c->any_marked[TG_TEST])
        scale_counts(w);
    /* Did the benchmark run? More than half of the kernels gone, no graphs in their place, and busy
     * time gone as well. */
    double kernels[2] = { 0 }, graphs[2] = { 0 }, busy[2] = { 0 };
    for (size_t i = 0; i < c->n_ops; i++)
        for (int side = 0; side < 2; side++) {
            const struct tg_op *op = &c->ops[i];
            kernels[side] += op->kind == TG_KIND_KERNEL ? op->count[side] : 0;
            busy[side] += op->kind == TG_KIND_KERNEL ? op->self[side] : 0;
            graphs[side] += op->kind == TG_KIND_GRAPH ? op->count[side] : 0;
        }
    c->collapsed = kernels[TG_BASE] > 0 && kernels[TG_TEST] < 0.5 * kernels[TG_BASE] &&
                   graphs[TG_TEST] <= graphs[TG_BASE] && busy[TG_TEST] < 0.5 * busy[TG_BASE];
    return true;
}
