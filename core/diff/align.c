/*
 * Alignment: rows of both sides become operators by (kind, normalised name), with counts per step,
 * sums and shares.
 */
#include <math.h>
#include <stdlib.h>

#include "core/diff/counts.h"
#include "core/diff/internal.h"
#include "core/diff/names.h"
#include "core/diff/stats.h"

/* A run is settled for an operator if at least this part of its steps has the modal count. */
#define SETTLED 0.6
/* Unmarked traces: part of the names that must share one ratio of counts, and what a scaled count
 * may be off (a name that is called at start-up as well does not scale exactly). */
#define RATIO_SHARE 0.6
#define RATIO_SLACK 0.1

/* ---- names ---- */

/* ---- which ranks and steps ---- */

static bool wanted(const int64_t *list, size_t n, int64_t v)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == v)
            return true;
    return list == NULL;
}

static bool pick_ranks(struct tg_diff_work *w, int side, struct tg_err *err)
{
    const int64_t *list = w->o->ranks[side];
    const struct tg_side *in = &w->c->side[side];
    size_t n_list = w->o->n_rank_numbers[side];
    bool *keep = TG_NEW_N(w->a, bool, in->n_ranks + 1);

    for (size_t r = 0; r < in->n_ranks; r++)
        keep[r] = wanted(list, n_list, in->ranks[r]);
    for (size_t i = 0; list && i < n_list; i++)
        if (!wanted(in->ranks, in->n_ranks, list[i]))
            return tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "no trace of rank %lld on the %s side",
                              (long long)list[i], tg_side_label(w, side));
    tg_side_keep(&w->c->side[side], keep, w->a);
    return true;
}

static struct tg_used pick_steps(const struct tg_diff_work *w, int side, const struct tg_shard *s)
{
    const int64_t *list = w->o->steps[side];
    size_t *step = TG_NEW_N(w->a, size_t, s->n_steps), n = 0;

    for (size_t j = 0; j < s->n_steps; j++) {
        bool inside = j >= w->o->skip_first && j + w->o->skip_last < s->n_steps;
        bool all = !s->marked && list == NULL; /* the whole trace cannot be skipped */
        if (all || (inside && wanted(list, w->o->n_step_numbers[side], s->steps[j].number)))
            step[n++] = j;
    }
    return (struct tg_used){ step, n };
}

/* "That side has steps 3, 4, 5." Its shards may differ; the first one's are told. */
static bool no_such_step(const struct tg_diff_work *w, int side, int64_t number, struct tg_err *err)
{
    const struct tg_shard *s = w->shard[w->first[side]];
    struct tg_buf b = { 0 };

    tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "no step %lld on the %s side", (long long)number,
               tg_side_label(w, side));
    for (size_t j = 0; s->marked && j < s->n_steps && j < 12; j++)
        tg_buf_printf(&b, "%s%lld", j ? ", " : "", (long long)s->steps[j].number);
    if (b.n)
        tg_err_hint(err, "That side has the steps %s%s.", b.p, s->n_steps > 12 ? ", …" : "");
    else
        tg_err_hint(err, "That side has no ProfilerStep markers.");
    tg_buf_release(&b);
    return false;
}

static bool steps_exist(const struct tg_diff_work *w, int side, struct tg_err *err)
{
    const int64_t *list = w->o->steps[side];

    for (size_t i = 0; list && i < w->o->n_step_numbers[side]; i++) {
        bool seen = false;
        for (size_t cell = w->first[side]; cell < (side ? w->n_cells : w->first[1]); cell++)
            for (size_t j = 0; j < w->used[cell].n; j++)
                seen |= w->shard[cell]->steps[w->used[cell].step[j]].number == list[i];
        if (!seen)
            return no_such_step(w, side, list[i], err);
    }
    return true;
}

static bool lay_out_cells(struct tg_diff_work *w, struct tg_err *err)
{
    struct tg_comparison *c = w->c;

    for (int side = 0; side < 2; side++) {
        c->n_runs[side] = c->side[side].n_runs;
        c->n_ranks[side] = c->side[side].n_ranks;
    }
    w->first[TG_BASE] = 0;
    w->first[TG_TEST] = c->n_runs[TG_BASE] * c->n_ranks[TG_BASE];
    w->n_cells = w->first[TG_TEST] + c->n_runs[TG_TEST] * c->n_ranks[TG_TEST];
    w->shard = TG_NEW_N(w->a, const struct tg_shard *, w->n_cells);
    w->used = TG_NEW_N(w->a, struct tg_used, w->n_cells);
    for (int side = 0; side < 2; side++) {
        double *n_steps = TG_NEW_N(w->a, double, c->n_runs[side] * c->n_ranks[side]);
        size_t n = 0;
        c->marked[side] = true;
        c->least_steps[side] = SIZE_MAX;
        for (size_t run = 0; run < c->n_runs[side]; run++)
            for (size_t rank = 0; rank < c->n_ranks[side]; rank++) {
                const struct tg_shard *s = c->side[side].at[run][rank];
                size_t cell = tg_work_cell(w, side, run, rank);
                w->shard[cell] = s;
                w->used[cell] = pick_steps(w, side, s);
                n_steps[n++] = (double)w->used[cell].n;
                c->n_units[side] += w->used[cell].n;
                bool known = s->marked || tg_sv_eq(s->window, TG_SV("whole"));
                c->marked[side] &= known;
                c->any_marked[side] |= known;
                if (w->used[cell].n < c->least_steps[side])
                    c->least_steps[side] = w->used[cell].n;
                if (s->n_steps > w->max_steps)
                    w->max_steps = s->n_steps;
                if (s->n_hints && !c->n_hints) {
                    c->hints = s->hints;
                    c->n_hints = s->n_hints;
                }
            }
        c->n_steps[side] = (size_t)tg_median(n_steps, n);
    }
    return steps_exist(w, TG_BASE, err) && steps_exist(w, TG_TEST, err);
}

static void lay_out_came(struct tg_diff_work *w, int side)
{
    const struct tg_side *s = &w->c->came[side];
    struct tg_came *to = &w->came[side];

    *to = (struct tg_came){ .n_ranks = s->n_ranks, .ranks = s->ranks };
    to->shard = TG_NEW_N(w->a, const struct tg_shard *, s->n_runs * s->n_ranks + 1);
    to->used = TG_NEW_N(w->a, struct tg_used, s->n_runs * s->n_ranks + 1);
    for (size_t run = 0; run < s->n_runs; run++)
        for (size_t rank = 0; rank < s->n_ranks; rank++) {
            size_t at = run * s->n_ranks + rank;
            to->shard[at] = s->at[run][rank];
            to->used[at] = pick_steps(w, side, to->shard[at]);
        }
}

/* Whole microseconds everywhere in the first shard: that clock has no finer tick. */
static tg_ns clock_tick(const struct tg_diff_work *w)
{
    for (size_t i = 0; w->n_cells && i < w->shard[0]->n_rows; i++)
        for (size_t j = 0; j < w->shard[0]->n_steps; j++)
            if (w->shard[0]->rows[i].total[j] % 1000)
                return 1;
    return 1000;
}

/* ---- rows into operators ---- */

/* One row of a shard with the operator it belongs to. */
struct member {
    uint32_t op, cell;
    const struct tg_row *row;
};

struct gather {
    struct member *v;
    size_t n, cap;
    struct tg_strmap raw, key; /* kind byte + raw name; kind byte + name */
    uint32_t *op_of_raw;
    size_t cap_raw;
    struct {
        enum tg_kind kind;
        bool launched;
        tg_sv name;
    } * op;
    size_t cap_op;
};

/* The side of a frame that tells what was launched inside. */
static bool is_launched(const struct tg_row *row)
{
    return tg_kind_is_frame(row->kind) && row->device >= 0;
}

static tg_sv keyed(struct tg_buf *b, const struct tg_row *row, tg_sv name)
{
    tg_buf_clear(b);
    tg_buf_putc(b, (char)('A' + (int)row->kind));
    tg_buf_putc(b, is_launched(row) ? 'l' : ' ');
    tg_buf_add(b, name);
    return tg_buf_sv(b);
}

/* Normalises each (kind, raw name) once: rows of one name are many. */
static uint32_t op_of(struct tg_diff_work *w, struct gather *g, struct tg_buf *b,
                      const struct tg_row *row)
{
    size_t known = g->raw.n;
    uint32_t id = tg_strmap_add(&g->raw, keyed(b, row, row->name));

    if (id < known)
        return g->op_of_raw[id];
    g->op_of_raw = tg_grow(g->op_of_raw, &g->cap_raw, g->raw.n, sizeof *g->op_of_raw);
    tg_sv name = tg_work_name(w, row->kind, row->name);
    size_t ops = g->key.n;
    uint32_t op = tg_strmap_add(&g->key, keyed(b, row, name));
    if (op == ops) {
        g->op = tg_grow(g->op, &g->cap_op, g->key.n, sizeof *g->op);
        g->op[op].kind = row->kind;
        g->op[op].launched = is_launched(row);
        g->op[op].name = name;
    }
    return g->op_of_raw[id] = op;
}

static int by_op_and_cell(const void *pa, const void *pb)
{
    const struct member *a = pa, *b = pb;
    if (a->op != b->op)
        return a->op < b->op ? -1 : 1;
    if (a->cell != b->cell)
        return a->cell < b->cell ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static int by_kind_and_name(const void *pa, const void *pb)
{
    const struct tg_op *a = pa, *b = pb;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    int c = tg_sv_cmp(a->name, b->name);
    return c ? c : (int)a->launched - (int)b->launched;
}

/* Cuts the sorted members of one operator into its cells. */
static struct tg_op_rows *make_cells(struct tg_diff_work *w, const struct member *m, size_t n)
{
    struct tg_op_rows *rows = TG_NEW(w->a, struct tg_op_rows);
    struct tg_diff_cell *cell = TG_NEW_N(w->a, struct tg_diff_cell, w->n_cells);
    const struct tg_row **list = TG_NEW_N(w->a, const struct tg_row *, n);

    for (size_t i = 0; i < n; i++) {
        list[i] = m[i].row;
        if (cell[m[i].cell].n++ == 0)
            cell[m[i].cell].row = &list[i];
    }
    rows->cell = cell;
    rows->work = w;
    return rows;
}

/* ---- kernels of one stem ---- */

/*
 * One raw name of a normalised one on a side: `triton_poi_fused_add_3` of `triton_poi_fused_add`.
 */
struct sibling {
    tg_sv raw, parent;
    tg_ns first;
    uint64_t calls, steps; /* per step as a fraction */
};

static int by_first(const void *pa, const void *pb)
{
    const struct sibling *a = pa, *b = pb;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return tg_sv_cmp(a->raw, b->raw);
}

/* The raw names of a side in order of their first launch. */
static size_t siblings_of(const struct tg_diff_work *w, const struct tg_op *op, int side,
                          struct sibling **out)
{
    struct tg_strmap names;
    struct sibling *v = NULL;
    size_t n, cap = 0;
    uint64_t steps = 0;

    tg_strmap_init(&names);
    for (size_t at = w->first[side]; at < (side ? w->n_cells : w->first[TG_TEST]); at++) {
        steps += w->shard[at]->n_steps;
        for (size_t r = 0; r < op->rows->cell[at].n; r++) {
            const struct tg_row *row = op->rows->cell[at].row[r];
            size_t known = names.n;
            uint32_t id = tg_strmap_add(&names, row->name);
            v = tg_grow(v, &cap, names.n, sizeof *v);
            if (id == known)
                v[id] = (struct sibling){ row->name, row->parent, row->first, 0, 0 };
            if (row->first < v[id].first) {
                v[id].first = row->first;
                v[id].parent = row->parent;
            }
            for (size_t j = 0; j < w->shard[at]->n_steps; j++)
                v[id].calls += row->count[j];
        }
    }
    n = names.n;
    for (size_t i = 0; i < n; i++)
        v[i].steps = steps;
    if (n)
        qsort(v, n, sizeof *v, by_first);
    tg_strmap_release(&names);
    *out = v;
    return n;
}

/* The k-th of one side is the k-th of the other if all have the same parent and count. */
static bool siblings_align(const struct sibling *a, const struct sibling *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!tg_sv_eq(a[i].parent, b[i].parent) ||
            a[i].calls * b[i].steps != b[i].calls * a[i].steps)
            return false;
    return true;
}

/* The rows of `op` that carry one of two raw names. */
static struct tg_op_rows *rows_named(struct tg_diff_work *w, const struct tg_op *op,
                                     const tg_sv raw[2])
{
    struct tg_op_rows *rows = TG_NEW(w->a, struct tg_op_rows);
    struct tg_diff_cell *cell = TG_NEW_N(w->a, struct tg_diff_cell, w->n_cells);

    for (size_t at = 0; at < w->n_cells; at++) {
        const struct tg_diff_cell *from = &op->rows->cell[at];
        const struct tg_row **list = TG_NEW_N(w->a, const struct tg_row *, from->n + 1);
        for (size_t r = 0; r < from->n; r++)
            if (tg_sv_eq(from->row[r]->name, raw[at >= w->first[TG_TEST]]))
                list[cell[at].n++] = from->row[r];
        cell[at].row = list;
    }
    rows->cell = cell;
    rows->work = w;
    return rows;
}

/* Kernels that differ only in what normalising drops become operators of their own, `stem#1` … in
 * order of launch, where both sides agree on them; else they stay one, marked `grouped`. */
static void split_siblings(struct tg_diff_work *w, struct tg_op **ops, size_t *n_ops, size_t *cap)
{
    for (size_t i = 0, before = *n_ops; i < before; i++) {
        struct sibling *side[2] = { NULL, NULL };
        size_t n[2];
        if ((*ops)[i].kind != TG_KIND_KERNEL)
            continue;
        for (int k = 0; k < 2; k++)
            n[k] = siblings_of(w, &(*ops)[i], k, &side[k]);
        if (n[0] == n[1] && n[0] > 1 && siblings_align(side[0], side[1], n[0])) {
            struct tg_op whole = (*ops)[i];
            *ops = tg_grow(*ops, cap, *n_ops + n[0], sizeof **ops);
            for (size_t k = 0; k < n[0]; k++) {
                struct tg_op *op = k ? &(*ops)[(*n_ops)++] : &(*ops)[i];
                *op = whole;
                op->name =
                    tg_sv_of(tg_arena_printf(w->a, "%.*s#%zu", TG_SV_ARG(whole.name), k + 1));
                op->rows = rows_named(w, &whole, (tg_sv[2]){ side[0][k].raw, side[1][k].raw });
            }
        } else {
            (*ops)[i].grouped = n[0] > 1 || n[1] > 1;
        }
        free(side[0]);
        free(side[1]);
    }
}

/* Host rows stay: they tell what the machine did meanwhile. */
static bool is_asked_for(const struct tg_compare_opts *o, const struct tg_row *row)
{
    return row->device < 0 || (wanted(o->devices, o->n_devices, row->device) &&
                               wanted(o->streams, o->n_streams, row->stream));
}

/* The rows of a shard, or those by Python frame. */
static const struct tg_row *rows_of(const struct tg_shard *s, bool frames, size_t *n)
{
    *n = frames ? s->n_frames : s->n_rows;
    return frames ? s->frames : s->rows;
}

static void gather_rows(struct tg_diff_work *w, bool frames, struct tg_op **out, size_t *n_out)
{
    struct gather g = { 0 };
    struct tg_buf b = { 0 };

    tg_strmap_init(&g.raw);
    tg_strmap_init(&g.key);
    for (size_t cell = 0; cell < w->n_cells; cell++) {
        size_t n_rows;
        const struct tg_row *rows = rows_of(w->shard[cell], frames, &n_rows);
        for (size_t i = 0; i < n_rows; i++) {
            const struct tg_row *row = &rows[i];
            if (!frames && !is_asked_for(w->o, row))
                continue;
            uint32_t op = op_of(w, &g, &b, row);
            g.v = tg_grow(g.v, &g.cap, g.n + 1, sizeof *g.v);
            g.v[g.n++] = (struct member){ op, (uint32_t)cell, row };
        }
    }
    if (g.n)
        qsort(g.v, g.n, sizeof *g.v, by_op_and_cell);
    struct tg_op *ops = NULL;
    size_t n_ops = 0, cap_ops = 0;
    for (size_t i = 0, j; i < g.n; i = j) {
        ops = tg_grow(ops, &cap_ops, n_ops + 1, sizeof *ops);
        struct tg_op *op = &ops[n_ops++];
        memset(op, 0, sizeof *op);
        for (j = i; j < g.n && g.v[j].op == g.v[i].op; j++)
            ;
        op->kind = g.op[g.v[i].op].kind;
        op->launched = g.op[g.v[i].op].launched;
        op->name = g.op[g.v[i].op].name;
        op->rows = make_cells(w, &g.v[i], j - i);
        op->partner = op->region = op->leader = TG_NO_ID;
    }
    if (!w->o->raw_names && !frames)
        split_siblings(w, &ops, &n_ops, &cap_ops);
    *n_out = n_ops;
    *out = TG_NEW_N(w->a, struct tg_op, n_ops + 1);
    if (n_ops) {
        memcpy(*out, ops, n_ops * sizeof *ops);
        qsort(*out, n_ops, sizeof **out, by_kind_and_name);
    }
    free(ops);
    free(g.v);
    free(g.op);
    free(g.op_of_raw);
    tg_strmap_release(&g.raw);
    tg_strmap_release(&g.key);
    tg_buf_release(&b);
}

/* ---- one operator ---- */

struct scratch {
    uint64_t *count, *sorted;      /* per step of one cell */
    double *total, *self;          /* per run of one side */
    double *modal[2];              /* per run */
    double *by_step[2];            /* [run * max_steps + step]: calls, mean over ranks */
    struct tg_step_counts *run[2]; /* views of by_step */
};

/* Adds up one cell. Returns the modal count; `settled` falls when too few steps have it. */
static uint64_t sum_cell(const struct tg_diff_work *w, struct tg_op *op, int side, size_t at,
                         struct scratch *x, double *total, double *self)
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
    if ((double)hits < SETTLED * (double)used->n || used->n == 0)
        op->settled = false;
    return modal;
}

/* Adds a rank's counts to its run's. A rank with fewer steps has its usual count in the others. */
static void add_steps(const struct scratch *x, double *by_step, size_t n_used, size_t n_steps,
                      uint64_t modal, size_t n_ranks)
{
    for (size_t j = 0; j < n_steps; j++)
        by_step[j] += (double)(j < n_used ? x->count[j] : modal) / (double)n_ranks;
}

static size_t most_steps(const struct tg_diff_work *w, int side, size_t run)
{
    size_t most = 0;
    for (size_t rank = 0; rank < w->c->n_ranks[side]; rank++) {
        size_t n = w->used[tg_work_cell(w, side, run, rank)].n;
        most = n > most ? n : most;
    }
    return most;
}

static void sum_side(const struct tg_diff_work *w, struct tg_op *op, int side, struct scratch *x)
{
    size_t n_runs = w->c->n_runs[side], n_ranks = w->c->n_ranks[side];

    for (size_t run = 0; run < n_runs; run++) {
        double modal = 0, total = 0, self = 0, *by_step = x->by_step[side] + run * w->max_steps;
        size_t n_steps = most_steps(w, side, run);
        memset(by_step, 0, w->max_steps * sizeof *by_step);
        for (size_t rank = 0; rank < n_ranks; rank++) {
            size_t at = tg_work_cell(w, side, run, rank);
            uint64_t usual = sum_cell(w, op, side, at, x, &total, &self);
            modal += (double)usual;
            add_steps(x, by_step, w->used[at].n, n_steps, usual, n_ranks);
        }
        x->run[side][run] = (struct tg_step_counts){ by_step, n_steps };
        x->modal[side][run] = modal / (double)n_ranks;
        x->total[run] = total / (double)n_ranks;
        x->self[run] = self / (double)n_ranks;
    }
    op->total[side] = tg_median(x->total, n_runs);
    op->self[side] = tg_median(x->self, n_runs);
}

/* ---- did the count change? ------------------------------------------------------------------- */

static double median_of(const struct tg_diff_work *w, const double *v, size_t n)
{
    double *copy = TG_NEW_N(w->a, double, n + 1);
    memcpy(copy, v, n * sizeof *copy);
    return tg_median(copy, n);
}

/* Mean over all steps of a side. */
static double mean_count(const struct tg_diff_work *w, const struct scratch *x, int side)
{
    double sum = 0, n = 0;

    for (size_t run = 0; run < w->c->n_runs[side]; run++)
        for (size_t j = 0; j < x->run[side][run].n; j++, n++)
            sum += x->run[side][run].v[j];
    return n > 0 ? sum / n : 0;
}

static bool all_alike(const struct tg_diff_work *w, const struct scratch *x)
{
    double first = x->run[TG_BASE][0].n ? x->run[TG_BASE][0].v[0] : 0;

    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < w->c->n_runs[side]; run++)
            for (size_t j = 0; j < x->run[side][run].n; j++)
                if (x->run[side][run].v[j] != first)
                    return false;
    return true;
}

static bool has_calls(const struct tg_diff_work *w, const struct scratch *x, int side)
{
    for (size_t run = 0; run < w->c->n_runs[side]; run++)
        for (size_t j = 0; j < x->run[side][run].n; j++)
            if (x->run[side][run].v[j] != 0)
                return true;
    return false;
}

/* The same question the other way round: negated counts rise where counts fell. */
static void negate(const struct tg_diff_work *w, struct scratch *x)
{
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < w->c->n_runs[side] * w->max_steps; i++)
            x->by_step[side][i] = -x->by_step[side][i];
}

static enum tg_change rise_or_fall(struct tg_diff_work *w, struct tg_op *op, struct scratch *x)
{
    const struct tg_step_counts *const run[2] = { x->run[TG_BASE], x->run[TG_TEST] };
    struct tg_count_evidence fall;

    tg_judge_counts(&op->counted, run, w->c->n_runs, tg_op_makes_wait(op));
    if (op->counted.proof == TG_COUNT_PROVEN)
        return has_calls(w, x, TG_BASE) ? TG_MORE : TG_ADDED;
    negate(w, x);
    tg_judge_counts(&fall, run, w->c->n_runs, false);
    negate(w, x);
    if (fall.proof != TG_COUNT_PROVEN)
        return TG_SAME;
    fall.most = op->counted.most;
    op->counted = fall;
    return has_calls(w, x, TG_TEST) ? TG_FEWER : TG_REMOVED;
}

/* A whole trace is one step, and runs of it may have more or fewer iterations. */
static enum tg_change change_of_traces(const struct tg_op *op, const double base[2],
                                       const double test[2])
{
    double a = op->count[TG_BASE], b = op->count[TG_TEST];
    bool apart = base[1] < test[0] || test[1] < base[0];

    if (op->agreed ? a == b : !(apart && fabs(b - a) > 0.1 * fmax(a, 1)))
        return TG_SAME;
    if (a == 0)
        return TG_ADDED;
    if (b == 0)
        return TG_REMOVED;
    return b > a ? TG_MORE : TG_FEWER;
}

static void find_change(struct tg_diff_work *w, struct tg_op *op, struct scratch *x)
{
    double range[2][2];

    op->counted = (struct tg_count_evidence){ .p = 1 };
    for (int side = 0; side < 2; side++) {
        size_t n = w->c->n_runs[side];
        range[side][0] = INFINITY;
        range[side][1] = -INFINITY;
        for (size_t run = 0; run < n; run++) {
            range[side][0] = fmin(range[side][0], x->modal[side][run]);
            range[side][1] = fmax(range[side][1], x->modal[side][run]);
        }
        op->count[side] = median_of(w, x->modal[side], n);
    }
    op->agreed = op->settled && range[TG_BASE][0] == range[TG_BASE][1] &&
                 range[TG_TEST][0] == range[TG_TEST][1];
    if (all_alike(w, x))
        return;
    if (!w->c->marked[TG_BASE] || !w->c->marked[TG_TEST]) {
        op->change = change_of_traces(op, range[TG_BASE], range[TG_TEST]);
        return;
    }
    op->change = rise_or_fall(w, op, x);
    if (op->counted.shape == TG_COUNT_CONSTANT || op->counted.proof == TG_COUNT_UNCHANGED)
        return;
    for (int side = 0; side < 2; side++) {
        size_t n = w->c->n_runs[side];
        double *copy = TG_NEW_N(w->a, double, n + 1);
        memcpy(copy, x->modal[side], n * sizeof *copy);
        op->counted.run[side] = copy;
        /* The usual count of the median run says nothing about what came elsewhere. */
        if (op->counted.shape != TG_COUNT_RUNS_DIFFER || op->counted.proof == TG_COUNT_HINT)
            op->count[side] = mean_count(w, x, side);
    }
}

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

static uint32_t heaviest(const struct weights *x)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < x->names.n; i++)
        if (x->v[i] > x->v[best] ||
            (x->v[i] == x->v[best] && tg_sv_cmp(x->names.text[i], x->names.text[best]) < 0))
            best = i;
    return best;
}

static void forget(struct weights *x)
{
    tg_strmap_release(&x->names);
    free(x->v);
}

/* The raw name with most time on a side, and the main encloser over both sides. */
static void name_largest(struct tg_diff_work *w, struct tg_op *op)
{
    struct weights parents = { 0 };

    tg_strmap_init(&parents.names);
    for (int side = 0; side < 2; side++) {
        struct weights raw = { 0 };
        tg_strmap_init(&raw.names);
        for (size_t at = w->first[side]; at < (side ? w->n_cells : w->first[TG_TEST]); at++)
            for (size_t r = 0; r < op->rows->cell[at].n; r++) {
                const struct tg_row *row = op->rows->cell[at].row[r];
                tg_ns sum = 0;
                for (size_t j = 0; j <= w->shard[at]->n_steps; j++)
                    sum += row->total[j];
                weigh(&raw, row->name, sum);
                weigh(&parents, row->parent, sum);
            }
        op->present[side] = raw.names.n > 0;
        if (raw.names.n)
            op->raw[side] = tg_arena_sv(w->a, raw.names.text[heaviest(&raw)]);
        forget(&raw);
    }
    op->parent = tg_work_name(w, TG_KIND_OP, parents.names.text[heaviest(&parents)]);
    forget(&parents);
}

/* Of runtime calls alone: an operator of such a name is the program's own. */
static bool polls(const struct tg_diff_work *w, const struct tg_op *op)
{
    tg_sv raw = op->raw[op->present[TG_TEST] ? TG_TEST : TG_BASE];

    if (op->kind != TG_KIND_RUNTIME && op->kind != TG_KIND_SYNC)
        return false;
    if (!w->o->ignore)
        return tg_is_polling(raw);
    for (size_t i = 0; i < w->o->n_ignore; i++)
        if (tg_sv_glob(w->o->ignore[i], raw))
            return true;
    return false;
}

static bool has_word_wait(tg_sv name)
{
    for (size_t i = 0; i + 4 <= name.n; i++)
        if ((name.p[i] | 32) == 'w' && (name.p[i + 1] | 32) == 'a' && (name.p[i + 2] | 32) == 'i' &&
            (name.p[i + 3] | 32) == 't')
            return true;
    return false;
}

/* Its time is somebody else's: collectives, copies, synchronisation. */
static bool waits(const struct tg_op *op)
{
    return op->kind == TG_KIND_MEMCPY || op->kind == TG_KIND_MEMSET || op->kind == TG_KIND_SYNC ||
           op->kind == TG_KIND_DEVICE_SYNC || tg_sv_ends(op->name, TG_SV("Synchronize")) ||
           (op->kind == TG_KIND_KERNEL && op->class_ == TG_CLASS_COMM) || has_word_wait(op->name);
}

static void sum_op(struct tg_diff_work *w, struct tg_op *op, struct scratch *x)
{
    op->settled = true;
    for (int side = 0; side < 2; side++)
        sum_side(w, op, side, x);
    name_largest(w, op);
    op->class_ = tg_class_of(w->o->classes, op->kind,
                             op->raw[op->present[TG_TEST] ? TG_TEST : TG_BASE], NULL);
    op->polling = polls(w, op);
    op->wait = waits(op);
    find_change(w, op, x);
}

/* ---- the step ---- */

/* Length of one step of a shard: the device's end to end where it has work, else the host's. */
static double step_length(const struct tg_shard *s, size_t j)
{
    const struct tg_measure_value *v = &s->measures[TG_MEASURE_STEP_TIME * s->n_steps + j];

    if (s->measures && v->known && v->den && v->num > 0)
        return (double)v->num / (double)v->den;
    return (double)(s->steps[j].end - s->steps[j].start);
}

/* D, the median over runs of the shortest step, and the mean step for shares (returned). */
static double step_of_side(struct tg_diff_work *w, int side)
{
    struct tg_comparison *c = w->c;
    double *shortest = TG_NEW_N(w->a, double, c->n_runs[side]);
    double *mean = TG_NEW_N(w->a, double, c->n_runs[side]);

    for (size_t run = 0; run < c->n_runs[side]; run++) {
        double least = 0, sum = 0;
        size_t n = 0;
        for (size_t rank = 0; rank < c->n_ranks[side]; rank++) {
            size_t at = tg_work_cell(w, side, run, rank);
            double rank_least = INFINITY;
            for (size_t j = 0; j < w->used[at].n; j++, n++) {
                double d = step_length(w->shard[at], w->used[at].step[j]);
                sum += d;
                rank_least = fmin(rank_least, d);
            }
            least += isfinite(rank_least) ? rank_least : 0;
        }
        shortest[run] = least / (double)c->n_ranks[side];
        mean[run] = n ? sum / (double)n : 0;
    }
    c->step_ns[side] = tg_median(shortest, c->n_runs[side]);
    return tg_median(mean, c->n_runs[side]);
}

static void share_out(struct tg_diff_work *w)
{
    for (int side = 0; side < 2; side++) {
        double step = step_of_side(w, side);
        for (size_t i = 0; i < w->c->n_ops; i++) {
            struct tg_op *op = &w->c->ops[i];
            op->share[side] = step > 0 ? op->self[side] / step : 0;
        }
        for (size_t i = 0; i < w->c->n_frames; i++) {
            struct tg_op *op = &w->c->frames[i];
            op->share[side] = step > 0 ? op->self[side] / step : 0;
        }
    }
}

/* ---- traces without step markers ---- */

static int by_double(const void *pa, const void *pb)
{
    double a = *(const double *)pa, b = *(const double *)pb;
    return (a > b) - (a < b);
}

/* The ratio test / baseline that most names share, when it is not 1; else 1. */
static double common_ratio(const struct tg_diff_work *w)
{
    double *v = TG_NEW_N(w->a, double, w->c->n_ops + 1), best = 1;
    size_t n = 0, most = 0;

    for (size_t i = 0; i < w->c->n_ops; i++) {
        const struct tg_op *op = &w->c->ops[i];
        if (tg_kind_is_counted(op->kind) && !op->polling && op->count[0] > 0 && op->count[1] > 0)
            v[n++] = op->count[TG_TEST] / op->count[TG_BASE];
    }
    if (n == 0)
        return 1;
    qsort(v, n, sizeof *v, by_double);
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i; j < n && v[j] <= v[i] * (1 + 1e-12); j++)
            ;
        if (j - i > most) {
            most = j - i;
            best = v[i];
        }
    }
    return best != 1 && (double)most >= RATIO_SHARE * (double)n ? best : 1;
}

/* Counts after division by the ratio of iterations. Names that did not scale at all ran once. */
static void scale(struct tg_op *ops, size_t n, double ratio)
{
    for (size_t i = 0; i < n; i++) {
        struct tg_op *op = &ops[i];
        double a = op->count[TG_BASE], want = a * ratio, off = op->count[TG_TEST] - want;
        if (op->change != TG_MORE && op->change != TG_FEWER)
            continue;
        op->iteration_scaled = true;
        if (fabs(off) <= fmax(0.5, RATIO_SLACK * want))
            op->change = TG_SAME;
        else
            op->change = off > 0 ? TG_MORE : TG_FEWER;
    }
}

static void scale_counts(struct tg_diff_work *w)
{
    double ratio = common_ratio(w);

    w->c->iteration_ratio = ratio;
    if (ratio == 1)
        return;
    scale(w->c->ops, w->c->n_ops, ratio);
    scale(w->c->frames, w->c->n_frames, ratio);
}

/* ---- did the benchmark run? ---- */

/* More than half of the kernels gone, no graphs in their place, and busy time gone as well. */
static bool collapsed(const struct tg_comparison *c)
{
    double kernels[2] = { 0 }, graphs[2] = { 0 }, busy[2] = { 0 };

    for (size_t i = 0; i < c->n_ops; i++)
        for (int side = 0; side < 2; side++) {
            if (c->ops[i].kind == TG_KIND_KERNEL) {
                kernels[side] += c->ops[i].count[side];
                busy[side] += c->ops[i].self[side];
            }
            if (c->ops[i].kind == TG_KIND_GRAPH)
                graphs[side] += c->ops[i].count[side];
        }
    return kernels[TG_BASE] > 0 && kernels[TG_TEST] < 0.5 * kernels[TG_BASE] &&
           graphs[TG_TEST] <= graphs[TG_BASE] && busy[TG_TEST] < 0.5 * busy[TG_BASE];
}

/* Which sorts of frames every shard of a side holds. */
static unsigned frame_sorts(const struct tg_diff_work *w, int side)
{
    unsigned all = ~0u;

    for (size_t at = w->first[side]; at < (side ? w->n_cells : w->first[TG_TEST]); at++)
        all &= w->shard[at]->frame_sorts;
    return all;
}

/* The part of a side's shards that has any frame of a kind. */
static double with_frames(const struct tg_diff_work *w, int side, enum tg_kind kind)
{
    size_t end = side ? w->n_cells : w->first[TG_TEST], n = 0;

    for (size_t at = w->first[side]; at < end; at++) {
        const struct tg_shard *s = w->shard[at];
        size_t i = 0;
        while (i < s->n_frames && s->frames[i].kind != kind)
            i++;
        n += i < s->n_frames;
    }
    return (double)n / (double)(end - w->first[side]);
}

static void find_lack_of_frames(struct tg_diff_work *w)
{
    static const enum tg_kind kinds[TG_STACK_SORTS] = {
        [TG_STACK_MODULES] = TG_KIND_MODULE, [TG_STACK_SOURCES] = TG_KIND_SOURCE
    };

    for (int sort = 0; sort < TG_STACK_SORTS; sort++) {
        double base = with_frames(w, TG_BASE, kinds[sort]);
        double test = with_frames(w, TG_TEST, kinds[sort]);
        if (base != test)
            w->c->frames_lack[base < test ? TG_BASE : TG_TEST] |= 1u << sort;
    }
}

bool tg_align(struct tg_diff_work *w, struct tg_err *err)
{
    struct tg_comparison *c = w->c;
    struct scratch x;
    size_t runs;

    if (!pick_ranks(w, TG_BASE, err) || !pick_ranks(w, TG_TEST, err) || !tg_common_ranks(w, err))
        return false;
    for (int side = 0; side < 2; side++)
        c->came[side] = c->side[side];
    if (!tg_leave_out(w, err) || !lay_out_cells(w, err))
        return false;
    for (int side = 0; side < 2; side++)
        lay_out_came(w, side);
    w->tick = clock_tick(w);
    gather_rows(w, false, &c->ops, &c->n_ops);
    gather_rows(w, true, &c->frames, &c->n_frames);
    runs = c->n_runs[0] > c->n_runs[1] ? c->n_runs[0] : c->n_runs[1];
    x.count = TG_NEW_N(w->a, uint64_t, w->max_steps + 1);
    x.sorted = TG_NEW_N(w->a, uint64_t, w->max_steps + 1);
    for (int side = 0; side < 2; side++) {
        x.modal[side] = TG_NEW_N(w->a, double, runs);
        x.by_step[side] = TG_NEW_N(w->a, double, runs * w->max_steps + 1);
        x.run[side] = TG_NEW_N(w->a, struct tg_step_counts, runs);
    }
    x.total = TG_NEW_N(w->a, double, runs);
    x.self = TG_NEW_N(w->a, double, runs);
    for (size_t i = 0; i < c->n_ops; i++)
        sum_op(w, &c->ops[i], &x);
    for (size_t i = 0; i < c->n_frames; i++)
        sum_op(w, &c->frames[i], &x);
    for (int side = 0; side < 2; side++)
        c->frame_sorts[side] = frame_sorts(w, side);
    find_lack_of_frames(w);
    share_out(w);
    c->iteration_ratio = 1;
    if (!c->any_marked[TG_BASE] && !c->any_marked[TG_TEST])
        scale_counts(w);
    c->collapsed = collapsed(c);
    return true;
}
