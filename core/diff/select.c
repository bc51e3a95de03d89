/* The ranks and the steps that are compared, and the grid of cells that everything after works on. */
#include <inttypes.h>

#include "core/diff/internal.h"
#include "core/diff/stats.h"

/*
 * ---- ranks of which a stored side holds no more than the step times, and those that were loaded without
 * names: of the former nothing else is compared, of the latter no operator ----
 */

enum lack { LACKS_ALL_BUT_STEPS, LACKS_NAMES };

/* In any of the side's runs. */
static bool lacks(const struct tg_side *s, size_t column, enum lack what)
{
    for (size_t run = 0; run < s->n_runs; run++) {
        const struct tg_shard *at = s->at[run][column];
        if (what == LACKS_ALL_BUT_STEPS ? at->steps_only : at->unnamed)
            return true;
    }
    return false;
}

/* The ranks of which either side lacks something, ascending. */
static size_t list_them(struct tg_diff_work *w, enum lack what, const int64_t **out)
{
    struct tg_comparison *c = w->c;
    int64_t *v = TG_NEW_N(w->a, int64_t, c->side[TG_BASE].n_ranks + c->side[TG_TEST].n_ranks + 1);
    size_t n = 0;

    for (int side = 0; side < 2; side++)
        for (size_t r = 0; r < c->side[side].n_ranks; r++)
            if (lacks(&c->side[side], r, what))
                v[n++] = c->side[side].ranks[r];
    *out = v;
    return tg_sort_distinct(v, n);
}

/* Keeps the ranks that are among these, or those that are not. */
static void keep_ranks(struct tg_diff_work *w, struct tg_side *s, const int64_t *ranks, size_t n,
                       bool among)
{
    bool *keep = TG_NEW_N(w->a, bool, s->n_ranks + 1);

    for (size_t r = 0; r < s->n_ranks; r++)
        keep[r] = tg_is_among(ranks, n, s->ranks[r]) == among;
    tg_side_keep(s, keep, w->a);
}

static bool none_is_whole(int side, struct tg_err *err)
{
    tg_err_set(err, TG_ERR_SUMMARY, TG_NOWHERE,
               "for the ranks of the %s side, the stored side has step times only",
               side == TG_BASE ? "baseline" : "fresh");
    return tg_err_hint(err, "`tracegate baseline show` lists the ranks that are stored in full: "
                            "compare one of these too.");
}

bool tg_diff_drop_steps_only(struct tg_diff_work *w, struct tg_side measured[2], struct tg_err *err)
{
    struct tg_comparison *c = w->c;
    const int64_t *unnamed;

    c->n_steps_only = list_them(w, LACKS_ALL_BUT_STEPS, &c->steps_only);
    for (int side = 0; side < 2; side++) {
        if (c->n_steps_only)
            keep_ranks(w, &c->side[side], c->steps_only, c->n_steps_only, false);
        measured[side] = c->side[side];
    }
    c->n_unnamed = list_them(w, LACKS_NAMES, &unnamed);
    for (int side = 0; side < 2; side++) {
        if (c->n_unnamed)
            keep_ranks(w, &c->side[side], unnamed, c->n_unnamed, false);
        if ((c->n_steps_only || c->n_unnamed) && c->side[side].n_ranks == 0)
            return none_is_whole(side, err);
    }
    return true;
}

/* ---- ranks that one side lacks: nothing is averaged over others than on the other side ---- */

/* Every rank that any run of either side has, ascending. */
static size_t all_ranks(const struct tg_side side[2], int64_t **out, struct tg_arena *a)
{
    size_t n = 0;
    int64_t *v = TG_NEW_N(
        a, int64_t, side[0].n_ranks + side[0].n_partial + side[1].n_ranks + side[1].n_partial + 1);

    for (int s = 0; s < 2; s++) {
        for (size_t i = 0; i < side[s].n_ranks; i++)
            v[n++] = side[s].ranks[i];
        for (size_t i = 0; i < side[s].n_partial; i++)
            v[n++] = side[s].partial[i];
    }
    *out = v;
    return tg_sort_distinct(v, n);
}

void tg_ranks_put(struct tg_buf *b, const int64_t *v, size_t n)
{
    enum { MOST = 8 }; /* pieces of text */
    size_t pieces = 0;

    tg_buf_puts(b, n == 1 ? "rank " : "ranks ");
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && v[j] == v[j - 1] + 1; j++)
            ;
        if (++pieces > MOST) {
            tg_buf_printf(b, " and %zu more", n - i);
            return;
        }
        tg_buf_printf(b, "%s%" PRId64, i ? ", " : "", v[i]);
        if (j - i > 2)
            tg_buf_printf(b, "–%" PRId64, v[j - 1]);
        else if (j - i == 2)
            tg_buf_printf(b, ", %" PRId64, v[j - 1]);
    }
}

static bool none_in_common(const struct tg_diff_work *w, const struct tg_side s[2],
                           struct tg_err *err)
{
    struct tg_buf text[2] = { { 0 }, { 0 } };

    for (int side = 0; side < 2; side++) {
        struct tg_buf *b = &text[side];
        if (s[side].n_ranks == 1 && s[side].ranks[0] < 0)
            tg_buf_puts(b, "a trace without a rank");
        else
            tg_ranks_put(b, s[side].ranks, s[side].n_ranks);
    }
    tg_err_set(err, TG_ERR_SUMMARY, TG_NOWHERE,
               "the sides have no rank in common: the %s side has %s, the %s side %s",
               tg_side_label(w, TG_BASE), text[TG_BASE].p, tg_side_label(w, TG_TEST),
               text[TG_TEST].p);
    for (int side = 0; side < 2; side++)
        tg_buf_release(&text[side]);
    return tg_err_hint(err, "Ranks are compared with themselves: record the same ones on both "
                            "sides.");
}

/* One trace a run on either side: what their ranks are does not matter. */
static bool is_one_against_one(const struct tg_side side[2])
{
    return side[TG_BASE].n_ranks == 1 && side[TG_TEST].n_ranks == 1 && !side[TG_BASE].n_partial &&
           !side[TG_TEST].n_partial;
}

/* Takes ranks out of both sides that not every run of both has; says which. */
static bool common_ranks(struct tg_diff_work *w, struct tg_err *err)
{
    struct tg_comparison *c = w->c;
    const struct tg_side in[2] = { c->side[TG_BASE], c->side[TG_TEST] };
    int64_t *all;
    size_t n;

    for (int side = 0; side < 2; side++)
        c->n_brought[side] = c->side[side].n_ranks;
    if (w->o->ranks[TG_BASE] || w->o->ranks[TG_TEST])
        return true; /* chosen by hand */
    if (is_one_against_one(in) && (in[TG_BASE].ranks[0] < 0 || in[TG_TEST].ranks[0] < 0))
        return true;
    n = all_ranks(in, &all, w->a);
    for (int side = 0; side < 2; side++) {
        const struct tg_side *s = &c->side[side];
        int64_t *v = TG_NEW_N(w->a, int64_t, n + 1);
        for (size_t i = 0; i < n; i++)
            if (!tg_is_among(s->ranks, s->n_ranks, all[i]))
                v[c->n_lacking[side]++] = all[i];
        c->lacking[side] = v;
    }
    if (is_one_against_one(in))
        return true;
    for (int side = 0; (c->n_lacking[TG_BASE] || c->n_lacking[TG_TEST]) && side < 2; side++)
        keep_ranks(w, &c->side[side], in[!side].ranks, in[!side].n_ranks, true);
    if (c->side[TG_BASE].n_ranks)
        return true;
    c->side[TG_BASE] = in[TG_BASE];
    c->side[TG_TEST] = in[TG_TEST];
    return w->o->any_ranks || none_in_common(w, in, err);
}

static bool pick_ranks(struct tg_diff_work *w, int side, struct tg_err *err)
{
    const int64_t *list = w->o->ranks[side];
    const struct tg_side *in = &w->c->side[side];
    size_t n_list = w->o->n_rank_numbers[side];
    bool *keep = TG_NEW_N(w->a, bool, in->n_ranks + 1);

    for (size_t r = 0; r < in->n_ranks; r++)
        keep[r] = tg_listed(list, n_list, in->ranks[r]);
    for (size_t i = 0; list && i < n_list; i++)
        if (!tg_listed(in->ranks, in->n_ranks, list[i]))
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
        if (all || (inside && tg_listed(list, w->o->n_step_numbers[side], s->steps[j].number)))
            step[n++] = j;
    }
    return (struct tg_used){ step, n };
}

/* "That side has steps 3, 4, 5." Its shards may differ; the first shard's steps are listed. */
static bool no_such_step(const struct tg_diff_work *w, int side, int64_t number, struct tg_err *err)
{
    const struct tg_shard *s = w->shard[w->first[side]];
    TG_BUF b = { 0 };

    tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "no step %lld on the %s side", (long long)number,
               tg_side_label(w, side));
    for (size_t j = 0; s->marked && j < s->n_steps && j < 12; j++)
        tg_buf_printf(&b, "%s%lld", j ? ", " : "", (long long)s->steps[j].number);
    if (b.n)
        tg_err_hint(err, "That side has the steps %s%s.", b.p, s->n_steps > 12 ? ", …" : "");
    else
        tg_err_hint(err, "That side has no ProfilerStep markers.");
    return false;
}

static bool steps_exist(const struct tg_diff_work *w, int side, struct tg_err *err)
{
    const int64_t *list = w->o->steps[side];

    for (size_t i = 0; list && i < w->o->n_step_numbers[side]; i++) {
        bool seen = false;
        for (size_t cell = w->first[side]; cell < w->first[side + 1]; cell++)
            for (size_t j = 0; j < w->used[cell].n; j++)
                seen |= w->shard[cell]->steps[w->used[cell].step[j]].number == list[i];
        if (!seen)
            return no_such_step(w, side, list[i], err);
    }
    return true;
}

/* Run after run, rank by rank. */
static void fill(const struct tg_diff_work *w, int side, const struct tg_side *s,
                 const struct tg_shard **shard, struct tg_used *used)
{
    for (size_t run = 0; run < s->n_runs; run++)
        for (size_t rank = 0; rank < s->n_ranks; rank++) {
            *shard = s->at[run][rank];
            *used++ = pick_steps(w, side, *shard++);
        }
}

static bool lay_out_cells(struct tg_diff_work *w, struct tg_err *err)
{
    struct tg_comparison *c = w->c;

    for (int side = 0; side < 2; side++) {
        c->n_runs[side] = c->side[side].n_runs;
        c->n_ranks[side] = c->side[side].n_ranks;
    }
    w->first[TG_TEST] = c->n_runs[TG_BASE] * c->n_ranks[TG_BASE];
    w->n_cells = w->first[2] = w->first[TG_TEST] + c->n_runs[TG_TEST] * c->n_ranks[TG_TEST];
    w->shard = TG_NEW_N(w->a, const struct tg_shard *, w->n_cells);
    w->used = TG_NEW_N(w->a, struct tg_used, w->n_cells);
    for (int side = 0; side < 2; side++) {
        size_t first = w->first[side], n = c->n_runs[side] * c->n_ranks[side];
        double *n_steps = TG_NEW_N(w->a, double, n);
        fill(w, side, &c->side[side], w->shard + first, w->used + first);
        for (size_t i = 0; i < n; i++) {
            const struct tg_shard *s = w->shard[first + i];
            n_steps[i] = (double)w->used[first + i].n;
            c->n_units[side] += w->used[first + i].n;
            w->max_steps = s->n_steps > w->max_steps ? s->n_steps : w->max_steps;
        }
        c->n_steps[side] = (size_t)tg_median(n_steps, n);
    }
    return steps_exist(w, TG_BASE, err) && steps_exist(w, TG_TEST, err);
}

static void lay_out_shards(struct tg_diff_work *w, int side, const struct tg_side *s,
                           struct tg_side_shards *to)
{
    *to = (struct tg_side_shards){ .n_ranks = s->n_ranks, .ranks = s->ranks };
    to->shard = TG_NEW_N(w->a, const struct tg_shard *, s->n_runs * s->n_ranks + 1);
    to->used = TG_NEW_N(w->a, struct tg_used, s->n_runs * s->n_ranks + 1);
    fill(w, side, s, to->shard, to->used);
}

/* Whole microseconds everywhere in the first shard of a side: that clock has no finer tick. */
static tg_ns clock_tick(const struct tg_diff_work *w)
{
    for (int side = 0; side < 2 && w->first[side] < w->n_cells; side++) {
        const struct tg_shard *s = w->shard[w->first[side]];
        bool whole = true;
        for (size_t i = 0; i < s->n_rows; i++)
            for (size_t j = 0; j < s->n_steps; j++)
                whole &= s->rows[i].total[j] % 1000 == 0;
        if (whole)
            return 1000;
    }
    return 1;
}

bool tg_diff_select(struct tg_diff_work *w, struct tg_err *err)
{
    struct tg_comparison *c = w->c;
    struct tg_side measured[2];

    if (!pick_ranks(w, TG_BASE, err) || !pick_ranks(w, TG_TEST, err) || !common_ranks(w, err))
        return false;
    for (int side = 0; side < 2; side++)
        c->given[side] = c->side[side];
    if (!tg_diff_drop_steps_only(w, measured, err) || !lay_out_cells(w, err))
        return false;
    for (int side = 0; side < 2; side++) {
        lay_out_shards(w, side, &c->given[side], &w->given[side]);
        w->measured[side] = w->given[side];
        if (c->n_steps_only)
            lay_out_shards(w, side, &measured[side], &w->measured[side]);
        /* How the steps of a side are known, and how many there are at least. */
        const struct tg_side_shards *m = &w->measured[side];
        c->marked[side] = true;
        c->least_steps[side] = SIZE_MAX;
        for (size_t at = 0; at < c->n_runs[side] * m->n_ranks; at++) {
            const struct tg_shard *s = m->shard[at];
            bool known = s->marked || tg_sv_eq(s->window, TG_SV("whole"));
            c->marked[side] &= known;
            c->any_marked[side] |= known;
            if (m->used[at].n < c->least_steps[side])
                c->least_steps[side] = m->used[at].n;
            if (s->n_hints && !c->n_hints) {
                c->hints = s->hints;
                c->n_hints = s->n_hints;
            }
        }
    }
    w->tick = clock_tick(w);
    return true;
}
