/* The runs, ranks and steps that are compared,
 * and the grid of cells that everything after works on. */
#include <inttypes.h>
#include <math.h>

#include "core/diff/internal.h"

/*
 * ---- runs that another profile was recorded of. Shapes, stacks and memory cost time, so a run
 * that records them is not a sample beside runs that do not. If enough runs of both sides were
 * recorded alike, the others leave, and the comparison says which; a side that differs as a whole
 * has nothing to be compared with ----
 */

const char *const tg_profiler_flags[] = { "with_stack", "record_shapes", "profile_memory",
                                          "with_flops", "with_modules",  NULL };

void tg_runs_leave(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;
    tg_sv *profile[2], common = { 0 };
    const size_t n[2] = { c->side[TG_BASE].n_runs, c->side[TG_TEST].n_runs };
    size_t least = w->o->min_runs ? w->o->min_runs : TG_FEWEST_RUNS, same[2] = { 0 };
    bool enough = false;
    for (int side = 0; side < 2; side++) {
        profile[side] = TG_NEW_N(w->a, tg_sv, n[side] + 1);
        for (size_t run = 0; run < n[side]; run++) {
            /* "record_shapes=1, with_stack=0": what the run's first rank says. */
            const struct tg_side *s = &c->side[side];
            TG_BUF b = { 0 };
            for (const char *const *flag = tg_profiler_flags; s->n_ranks && *flag; flag++) {
                tg_sv value = tg_shard_env(s->at[run][0], *flag);
                if (value.n)
                    tg_buf_printf(&b, "%s%s=%.*s", b.n ? ", " : "", *flag, TG_SV_ARG(value));
            }
            profile[side][run] = tg_arena_sv(w->a, tg_buf_sv(&b));
        }
    }
    /* The profile of most runs of both sides. */
    for (size_t i = 0; !enough && i < n[TG_BASE]; i++) {
        common = profile[TG_BASE][i];
        enough = true;
        for (int side = 0; side < 2; side++) {
            same[side] = 0;
            for (size_t run = 0; run < n[side]; run++)
                same[side] += tg_sv_eq(profile[side][run], common);
            enough = enough && same[side] >= least && 2 * same[side] > n[side];
        }
    }
    if (!enough || same[TG_BASE] + same[TG_TEST] == n[TG_BASE] + n[TG_TEST])
        return;
    c->left = TG_NEW_N(c->arena, struct tg_left_run, n[TG_BASE] + n[TG_TEST]);
    for (int side = 0; side < 2; side++) {
        struct tg_side *s = &c->side[side];
        const struct tg_shard ***at = TG_NEW_N(c->arena, const struct tg_shard **, n[side]);
        s->n_runs = 0;
        for (size_t run = 0; run < n[side]; run++) {
            if (tg_sv_eq(profile[side][run], common))
                at[s->n_runs++] = s->at[run];
            else
                c->left[c->n_left++] =
                    (struct tg_left_run){ side, run, s->at[run][0]->source, profile[side][run] };
        }
        s->at = at;
    }
}

/*
 * ---- ranks of which a stored side holds no more than the step times, and those that were loaded
 * without names: of the former nothing else is compared, of the latter no operator ----
 */

enum lack { LACKS_ALL_BUT_STEPS, LACKS_NAMES };

/* Keeps the ranks that are among these, or those that are not. */
static void keep_ranks(struct tg_diff_work *w, struct tg_side *s, const int64_t *ranks, size_t n,
                       bool among)
{
    bool *keep = TG_NEW_N(w->a, bool, s->n_ranks + 1);
    for (size_t r = 0; r < s->n_ranks; r++)
        keep[r] = tg_is_among(ranks, n, s->ranks[r]) == among;
    tg_side_keep(s, keep, w->a);
}

/* Takes out of both sides the ranks of which any run of either lacks something:
 * these, ascending. */
static size_t drop_lacking(struct tg_diff_work *w, enum lack what, const int64_t **out)
{
    struct tg_side *in = w->c->side;
    int64_t *v = TG_NEW_N(w->a, int64_t, in[TG_BASE].n_ranks + in[TG_TEST].n_ranks + 1);
    size_t n = 0;
    for (int side = 0; side < 2; side++)
        for (size_t r = 0; r < in[side].n_ranks; r++) {
            bool lacks = false;
            for (size_t run = 0; run < in[side].n_runs; run++) {
                const struct tg_shard *at = in[side].at[run][r];
                lacks |= what == LACKS_ALL_BUT_STEPS ? at->steps_only : at->unnamed;
            }
            if (lacks)
                v[n++] = in[side].ranks[r];
        }
    n = tg_sort_distinct(v, n);
    for (int side = 0; n && side < 2; side++)
        keep_ranks(w, &in[side], v, n, false);
    *out = v;
    return n;
}

/* `measured`: without the ranks of which one side has no more than the step times. */
bool tg_diff_drop_steps_only(struct tg_diff_work *w, struct tg_side measured[2], struct tg_err *err)
{
    struct tg_comparison *c = w->c;
    const int64_t *unnamed;
    c->n_steps_only = drop_lacking(w, LACKS_ALL_BUT_STEPS, &c->steps_only);
    memcpy(measured, c->side, sizeof c->side);
    c->n_unnamed = drop_lacking(w, LACKS_NAMES, &unnamed);
    for (int side = 0; side < 2; side++) {
        if ((!c->n_steps_only && !c->n_unnamed) || c->side[side].n_ranks)
            continue;
        tg_err_set(err, TG_ERR_SUMMARY, TG_NOWHERE,
                   "for the ranks of the %s side, the stored side has step times only",
                   side == TG_BASE ? "baseline" : "fresh");
        return tg_err_hint(err, "`tracegate baseline show` lists the ranks that are stored in "
                                "full: compare one of these too.");
    }
    return true;
}

/* ---- ranks that one side lacks: nothing is averaged over others than on the other side ---- */

void tg_ranks_put(struct tg_buf *b, const int64_t *v, size_t n)
{
    enum { MOST = 8 }; /* pieces of text */
    size_t pieces = 0;
    tg_buf_puts(b, n == 1 ? "rank " : "ranks ");
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && v[j] == v[j - 1] + 1; j++)
            ;
        if (++pieces > MOST && n - i > 1) {
            tg_buf_printf(b, " and %zu more", n - i);
            return;
        }
        tg_buf_printf(b, "%s%" PRId64, i ? ", " : "", v[i]);
        if (j - i > 1)
            tg_buf_printf(b, "%s%" PRId64, j - i > 2 ? "–" : ", ", v[j - 1]);
    }
}

/* Takes ranks out of both sides that not every run of both has; says which. */
static bool common_ranks(struct tg_diff_work *w, struct tg_err *err)
{
    struct tg_comparison *c = w->c;
    const struct tg_side in[2] = { c->side[TG_BASE], c->side[TG_TEST] };
    bool one_each = true; /* one trace per run on either side: ranks do not matter */
    size_t n = 1;
    for (int side = 0; side < 2; side++) {
        c->n_brought[side] = in[side].n_ranks;
        one_each = one_each && in[side].n_ranks == 1 && !in[side].n_partial;
        n += in[side].n_ranks + in[side].n_partial;
    }
    if (w->o->ranks[TG_BASE] || w->o->ranks[TG_TEST])
        return true; /* chosen by hand */
    if (one_each && (in[TG_BASE].ranks[0] < 0 || in[TG_TEST].ranks[0] < 0))
        return true;
    /* Every rank that any run of either side has, ascending. */
    int64_t *all = TG_NEW_N(w->a, int64_t, n);
    n = 0;
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < in[side].n_ranks; i++)
            all[n++] = in[side].ranks[i];
        for (size_t i = 0; i < in[side].n_partial; i++)
            all[n++] = in[side].partial[i];
    }
    n = tg_sort_distinct(all, n);
    for (int side = 0; side < 2; side++) {
        int64_t *v = TG_NEW_N(w->a, int64_t, n + 1);
        for (size_t i = 0; i < n; i++)
            if (!tg_is_among(in[side].ranks, in[side].n_ranks, all[i]))
                v[c->n_lacking[side]++] = all[i];
        c->lacking[side] = v;
    }
    if (one_each)
        return true;
    for (int side = 0; (c->n_lacking[TG_BASE] || c->n_lacking[TG_TEST]) && side < 2; side++)
        keep_ranks(w, &c->side[side], in[!side].ranks, in[!side].n_ranks, true);
    if (c->side[TG_BASE].n_ranks)
        return true;
    memcpy(c->side, in, sizeof in);
    if (w->o->any_ranks)
        return true;
    struct tg_buf text[2] = { { 0 }, { 0 } };
    for (int side = 0; side < 2; side++)
        if (in[side].n_ranks == 1 && in[side].ranks[0] < 0)
            tg_buf_puts(&text[side], "a trace without a rank");
        else
            tg_ranks_put(&text[side], in[side].ranks, in[side].n_ranks);
    tg_err_set(err, TG_ERR_SUMMARY, TG_NOWHERE,
               "the sides have no rank in common: the %s side has %s, the %s side %s",
               tg_side_label(w, TG_BASE), text[TG_BASE].p, tg_side_label(w, TG_TEST),
               text[TG_TEST].p);
    for (int side = 0; side < 2; side++)
        tg_buf_release(&text[side]);
    return tg_err_hint(err, "Ranks are compared with themselves: record the same ones on both "
                            "sides.");
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

/* ---- steps, and the grid ---- */

/* Run after run, rank by rank; and which steps of each are compared. */
static struct tg_side_shards lay_out(const struct tg_diff_work *w, int side,
                                     const struct tg_side *s)
{
    const int64_t *list = w->o->steps[side];
    size_t n = s->n_runs * s->n_ranks;
    struct tg_side_shards to = { .n_ranks = s->n_ranks, .ranks = s->ranks };
    to.shard = TG_NEW_N(w->a, const struct tg_shard *, n + 1);
    to.used = TG_NEW_N(w->a, struct tg_used, n + 1);
    for (size_t i = 0; i < n; i++) {
        const struct tg_shard *shard = s->at[i / s->n_ranks][i % s->n_ranks];
        size_t *step = TG_NEW_N(w->a, size_t, shard->n_steps), n_steps = 0;
        for (size_t j = 0; j < shard->n_steps; j++) {
            bool inside = j >= w->o->skip_first && j + w->o->skip_last < shard->n_steps;
            bool all = !shard->marked && list == NULL; /* the whole trace cannot be skipped */
            if (all ||
                (inside && tg_listed(list, w->o->n_step_numbers[side], shard->steps[j].number)))
                step[n_steps++] = j;
        }
        to.shard[i] = shard;
        to.used[i] = (struct tg_used){ step, n_steps };
    }
    return to;
}

static void lay_out_cells(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;
    for (int side = 0; side < 2; side++) {
        c->n_runs[side] = c->side[side].n_runs;
        c->n_ranks[side] = c->side[side].n_ranks;
        w->first[side + 1] = w->first[side] + c->n_runs[side] * c->n_ranks[side];
    }
    w->n_cells = w->first[2];
    w->shard = TG_NEW_N(w->a, const struct tg_shard *, w->n_cells);
    w->used = TG_NEW_N(w->a, struct tg_used, w->n_cells);
    for (int side = 0; side < 2; side++) {
        struct tg_side_shards of = lay_out(w, side, &c->side[side]);
        size_t first = w->first[side], n = w->first[side + 1] - first;
        double *n_steps = TG_NEW_N(w->a, double, n);
        memcpy(w->shard + first, of.shard, n * sizeof *of.shard);
        memcpy(w->used + first, of.used, n * sizeof *of.used);
        for (size_t i = 0; i < n; i++) {
            n_steps[i] = (double)of.used[i].n;
            c->n_units[side] += of.used[i].n;
            c->n_all_units[side] += of.shard[i]->n_steps;
            w->max_steps =
                of.shard[i]->n_steps > w->max_steps ? of.shard[i]->n_steps : w->max_steps;
        }
        c->n_steps[side] = (size_t)tg_median(n_steps, n);
    }
}

/* Are the steps that were asked for there? If not,
 * the hint lists those of the side's first shard. */
static bool steps_exist(const struct tg_diff_work *w, int side, struct tg_err *err)
{
    const int64_t *list = w->o->steps[side];
    const struct tg_shard *s = w->shard[w->first[side]];
    TG_BUF b = { 0 };
    for (size_t i = 0; list && i < w->o->n_step_numbers[side]; i++) {
        bool seen = false;
        for (size_t cell = w->first[side]; cell < w->first[side + 1]; cell++)
            for (size_t j = 0; j < w->used[cell].n; j++)
                seen |= w->shard[cell]->steps[w->used[cell].step[j]].number == list[i];
        if (seen)
            continue;
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "no step %lld on the %s side", (long long)list[i],
                   tg_side_label(w, side));
        for (size_t j = 0; s->marked && j < s->n_steps && j < 12; j++)
            tg_buf_printf(&b, "%s%lld", j ? ", " : "", (long long)s->steps[j].number);
        if (b.n)
            return tg_err_hint(err, "That side has the steps %s%s.", b.p,
                               s->n_steps > 12 ? ", …" : "");
        return tg_err_hint(err, "That side has no ProfilerStep markers.");
    }
    return true;
}

bool tg_diff_select(struct tg_diff_work *w, struct tg_err *err)
{
    struct tg_comparison *c = w->c;
    struct tg_side measured[2];
    if (!pick_ranks(w, TG_BASE, err) || !pick_ranks(w, TG_TEST, err) || !common_ranks(w, err))
        return false;
    memcpy(c->given, c->side, sizeof c->side);
    if (!tg_diff_drop_steps_only(w, measured, err))
        return false;
    lay_out_cells(w);
    if (!steps_exist(w, TG_BASE, err) || !steps_exist(w, TG_TEST, err))
        return false;
    for (int side = 0; side < 2; side++) {
        w->given[side] = lay_out(w, side, &c->given[side]);
        w->measured[side] = c->n_steps_only ? lay_out(w, side, &measured[side]) : w->given[side];
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
    /* Whole microseconds everywhere in the first shard of a side: that clock has no finer tick. */
    bool whole[2] = { true, true };
    for (int side = 0; side < 2 && w->first[side] < w->n_cells; side++) {
        const struct tg_shard *s = w->shard[w->first[side]];
        for (size_t i = 0; i < s->n_rows; i++)
            for (size_t j = 0; j < s->n_steps; j++)
                whole[side] &= s->rows[i].total[j] % 1000 == 0;
    }
    w->tick = whole[TG_BASE] || whole[TG_TEST] ? 1000 : 1;
    w->one_coarse = whole[TG_BASE] != whole[TG_TEST];
    return true;
}

double tg_median_of(const struct tg_diff_work *w, const double *of_run, int side)
{
    size_t n = w->c->n_runs[side];
    return tg_median(tg_arena_copy(w->a, of_run, n, sizeof *of_run), n);
}

static double after(const struct tg_shard *s, size_t step)
{
    const struct tg_metric_value *wall = &s->metrics[TG_METRIC_STEP_TIME * s->n_steps + step];
    tg_ns window = s->steps[step].end - s->steps[step].start;
    return wall->known && wall->num > window ? (double)(wall->num - window) : 0;
}

void tg_after_steps(const struct tg_shard *s, const struct tg_used *used, double *out,
                    double *lacks)
{
    bool known = s->metrics && !s->steps_only;
    double least = INFINITY;
    for (size_t k = 0; known && k < s->n_steps; k++)
        least = after(s, k) > 0 ? fmin(after(s, k), least) : least;
    for (size_t j = 0; j < used->n; j++) {
        double own = known ? after(s, used->step[j]) : 0;
        double lack = own > 0 || least == INFINITY ? 0 : least;
        if (out)
            out[j] = own + lack;
        if (lacks)
            lacks[j] = lack;
    }
}
