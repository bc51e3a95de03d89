/*
 * Counts that vary together. What the data or a branch decides moves many operators at once, each by
 * its own step: `copy_ = 37 + 2 x experts`, `index = 3 x experts`. Such a relation that held in every
 * step of the baseline is as exact as a constant count. Operators that keep it in the fresh steps
 * followed other data; one that breaks it was changed.
 */
#include <math.h>

#include "core/diff/counts.h"
#include "core/diff/internal.h"
#include "core/diff/numbers.h"
#include "core/diff/stats.h"

#define MAX_VARYING 256 /* operators: pairs of them are looked at */
#define EXACT 1e-6

struct series {
    uint32_t op;
    double *v[2];      /* by step, run after run */
    double add, times; /* of the first operator of its group, in the baseline */
    size_t group;      /* index of that one */
};

struct relations {
    struct tg_diff_work *w;
    struct series *s;
    size_t n, n_steps[2];
    bool *first[2];   /* by step: the first of its run, which may be cold, says nothing */
    size_t n_telling; /* baseline steps that do */
    struct tg_step_counts *run[2]; /* layout of a series: offsets as views of `room` */
    double *room[2];
};

/* Calls by step of one run, mean over ranks. All ranks have as many steps: see same_steps(). */
static void fill_run(const struct tg_diff_work *w, const struct tg_op *op, int side, size_t run,
                     double *out)
{
    size_t n_ranks = w->c->n_ranks[side];

    for (size_t rank = 0; rank < n_ranks; rank++) {
        size_t at = tg_diff_cell_index(w, side, run, rank);
        const struct tg_diff_cell *cell = &op->rows->cell[at];
        for (size_t r = 0; r < cell->n; r++)
            for (size_t j = 0; j < w->used[at].n; j++)
                out[j] += (double)cell->row[r]->count[w->used[at].step[j]] / (double)n_ranks;
    }
}

static bool same_steps(const struct tg_diff_work *w, int side)
{
    for (size_t run = 0; run < w->c->n_runs[side]; run++)
        for (size_t rank = 1; rank < w->c->n_ranks[side]; rank++)
            if (w->used[tg_diff_cell_index(w, side, run, rank)].n !=
                w->used[tg_diff_cell_index(w, side, run, 0)].n)
                return false;
    return true;
}

static void lay_out(struct relations *g, int side)
{
    struct tg_diff_work *w = g->w;
    size_t at = 0;

    g->run[side] = TG_NEW_N(w->a, struct tg_step_counts, w->c->n_runs[side] + 1);
    for (size_t run = 0; run < w->c->n_runs[side]; run++)
        g->n_steps[side] += w->used[tg_diff_cell_index(w, side, run, 0)].n;
    g->room[side] = TG_NEW_N(w->a, double, g->n_steps[side] + 1);
    g->first[side] = TG_NEW_N(w->a, bool, g->n_steps[side] + 1);
    for (size_t run = 0; run < w->c->n_runs[side]; run++) {
        size_t n = w->used[tg_diff_cell_index(w, side, run, 0)].n;
        g->run[side][run] = (struct tg_step_counts){ g->room[side] + at, n };
        g->first[side][at] = n > 1;
        if (side == TG_BASE)
            g->n_telling += n - (n > 1);
        at += n;
    }
}

static void fill_series(struct relations *g, struct series *s)
{
    const struct tg_op *op = &g->w->c->ops[s->op];

    for (int side = 0; side < 2; side++) {
        s->v[side] = TG_NEW_N(g->w->a, double, g->n_steps[side] + 1);
        for (size_t run = 0; run < g->w->c->n_runs[side]; run++)
            fill_run(g->w, op, side, run, s->v[side] + (g->run[side][run].v - g->room[side]));
    }
}

/* Does the baseline say enough about how it varies? */
static bool is_telling(const struct relations *g, const struct series *s)
{
    uint64_t *v = TG_NEW_N(g->w->a, uint64_t, g->n_steps[TG_BASE] + 1);
    size_t hits, n = 0;

    for (size_t j = 0; j < g->n_steps[TG_BASE]; j++)
        if (!g->first[TG_BASE][j])
            v[n++] = (uint64_t)llround(s->v[TG_BASE][j] * 1000); /* over ranks: a fraction */
    tg_mode(v, n, &hits);
    return n - hits >= TG_FEW_VARY;
}

static void gather(struct relations *g)
{
    struct tg_comparison *c = g->w->c;

    g->s = TG_NEW_N(g->w->a, struct series, MAX_VARYING);
    for (uint32_t i = 0; i < c->n_ops && g->n < MAX_VARYING; i++) {
        const struct tg_op *op = &c->ops[i];
        struct series s = { .op = i, .times = 1 };
        if (op->counted.shape != TG_COUNT_VARIES || op->polling || !tg_kind_is_counted(op->kind))
            continue;
        fill_series(g, &s);
        if (is_telling(g, &s))
            g->s[g->n++] = s;
    }
}

/* Is `s` = add + times * `first` in every step of the baseline? */
static bool relate(const struct relations *g, const struct series *first, struct series *s)
{
    const double *x = first->v[TG_BASE], *y = s->v[TG_BASE];
    const bool *skip = g->first[TG_BASE];
    size_t n = g->n_steps[TG_BASE], one = 0, other;

    while (skip[one])
        one++;
    for (other = one; other < n && (skip[other] || x[other] == x[one]);)
        other++;
    if (other == n)
        return false;
    s->times = (y[other] - y[one]) / (x[other] - x[one]);
    s->add = y[one] - s->times * x[one];
    for (size_t j = 0; j < n; j++)
        if (!skip[j] && fabs(y[j] - s->add - s->times * x[j]) > EXACT * fmax(fabs(y[j]), 1))
            return false;
    return s->times != 0;
}

/* Where the fresh steps of `s` put the first operator of its group. */
static double implied(const struct series *s, size_t j)
{
    return (s->v[TG_TEST][j] - s->add) / s->times;
}

static bool agree(const struct relations *g, const struct series *a, const struct series *b)
{
    for (size_t j = 0; j < g->n_steps[TG_TEST]; j++)
        if (!g->first[TG_TEST][j] &&
            fabs(implied(a, j) - implied(b, j)) > EXACT * fmax(fabs(implied(a, j)), 1))
            return false;
    return true;
}

/* The member that most of its group agree with; NULL: no majority. */
static const struct series *reference(const struct relations *g, size_t group)
{
    const struct series *best = NULL;
    size_t members = 0, most = 0;

    for (size_t i = 0; i < g->n; i++) {
        size_t votes = 0;
        if (g->s[i].group != group)
            continue;
        members++;
        for (size_t k = 0; k < g->n; k++)
            votes += g->s[k].group == group && agree(g, &g->s[i], &g->s[k]);
        if (votes > most) {
            most = votes;
            best = &g->s[i];
        }
    }
    return members >= TG_FEW_VARY && 2 * most > members ? best : NULL;
}

/* Calls beyond the relation, by fresh step, against none in the baseline. */
static struct tg_count_evidence judge_rest(const struct relations *g, const struct series *s,
                                           const struct series *as, double sign,
                                           enum tg_calls calls)
{
    const struct tg_step_counts *const run[2] = { g->run[TG_BASE], g->run[TG_TEST] };
    struct tg_count_evidence ev;

    memset(g->room[TG_BASE], 0, g->n_steps[TG_BASE] * sizeof(double));
    for (size_t j = 0; j < g->n_steps[TG_TEST]; j++) {
        double rest = s->v[TG_TEST][j] - s->add - s->times * implied(as, j);
        bool none = g->first[TG_TEST][j] || fabs(rest) <= EXACT;
        g->room[TG_TEST][j] = none ? 0 : sign * rest;
    }
    tg_count_judge(&ev, run, g->w->c->n_runs, calls);
    return ev;
}

static void tell(const struct relations *g, const struct series *s, const struct series *as,
                 struct tg_count_evidence ev, enum tg_change change)
{
    struct tg_op *op = &g->w->c->ops[s->op];
    double want = 0, have = 0, n = 0;

    for (size_t j = 0; j < g->n_steps[TG_TEST]; j++) {
        if (g->first[TG_TEST][j])
            continue;
        n++;
        want += s->add + s->times * implied(as, j);
        have += s->v[TG_TEST][j];
    }
    ev.shape = TG_COUNT_BREAKS;
    ev.most = op->counted.most;
    ev.with = g->w->c->ops[as->op].name;
    op->counted = ev;
    op->change = change;
    op->count[TG_BASE] = want / n;
    op->count[TG_TEST] = have / n;
}

static void judge_member(const struct relations *g, const struct series *s, const struct series *as)
{
    const struct tg_op *op = &g->w->c->ops[s->op];
    struct tg_count_evidence rose = judge_rest(g, s, as, 1, tg_calls_of(op));

    if (rose.proof == TG_COUNT_PROVEN) {
        tell(g, s, as, rose, TG_MORE);
        return;
    }
    struct tg_count_evidence fell = judge_rest(g, s, as, -1, TG_CALLS_WORK);
    if (fell.proof == TG_COUNT_PROVEN)
        tell(g, s, as, fell, TG_FEWER);
}

static void judge_group(const struct relations *g, size_t group)
{
    const struct series *as = reference(g, group);

    for (size_t i = group; as && i < g->n; i++)
        if (g->s[i].group == group && !agree(g, &g->s[i], as))
            judge_member(g, &g->s[i], as);
}

void tg_relate_counts(struct tg_diff_work *w)
{
    struct relations g = { .w = w };

    if (!w->c->marked[TG_BASE] || !w->c->marked[TG_TEST] || !same_steps(w, TG_BASE) ||
        !same_steps(w, TG_TEST))
        return;
    for (int side = 0; side < 2; side++)
        lay_out(&g, side);
    if (g.n_telling < TG_LEAST_STEPS || g.n_steps[TG_TEST] == 0)
        return;
    gather(&g);
    for (size_t i = 0; i < g.n; i++) {
        g.s[i].group = i;
        for (size_t k = 0; k < i; k++)
            if (g.s[k].group == k && relate(&g, &g.s[k], &g.s[i])) {
                g.s[i].group = k;
                break;
            }
        if (g.s[i].group == i) {
            g.s[i].add = 0;
            g.s[i].times = 1;
        }
    }
    for (size_t i = 0; i < g.n; i++)
        if (g.s[i].group == i)
            judge_group(&g, i);
}
