/* `ref: window(N)`: the runs of several commits together are the baseline. Runs before the number
 * of calls changed are of another program: the window ends there. */
#include <math.h>

#include "cmd/gate/internal.h"
#include "cmd/gate/nights.h"
#include "core/baseline/store.h"

/* Commits of the window that have runs, newest first. */
struct window_read {
    struct tg_series_table series;
    struct tg_stored_night *at; /* runs of each */
    const char **sha;
    struct tg_night newest;
    size_t n, same; /* commits; of them the first ones, which make the same calls */
    struct tg_arena *arena;
};

static double calls_of(const struct tg_night *n, uint32_t series)
{
    const struct tg_history_value *v = tg_night_value(n, series);
    return v ? v->calls : 0;
}

/* A number that the runs of a night do not agree on tells nothing. */
static bool makes_same_calls(const struct window_read *w, const struct tg_night *night)
{
    for (uint32_t i = 0; i < w->series.n; i++) {
        double a = calls_of(&w->newest, i), b = calls_of(night, i);
        if (w->series.v[i].counted && tg_series_is_name(&w->series.v[i]) && !isnan(a) &&
            !isnan(b) && a != b)
            return false;
    }
    return true;
}

/* A commit whose runs cannot be read is left to the reader, which says so. */
static void take_commit(void *arg, size_t i, const struct tg_side *side, bool damaged,
                        const struct tg_err *why)
{
    struct window_read *w = arg;
    struct tg_night night = { 0 };
    (void)damaged;
    (void)why;
    if (side)
        tg_night_metric(i ? &night : &w->newest, side, &w->series, w->arena);
    if (i == w->same && (!i || !side || makes_same_calls(w, &night)))
        w->same++;
}

/* The runs of v[0..n) that are stored of the suite; w->same of their commits belong together. */
static bool read_window(struct window_read *w, const struct tg_store *store, tg_sv suite,
                        const struct tg_commit *v, size_t n, struct tg_err *err)
{
    w->at = TG_NEW_N(w->arena, struct tg_stored_night, n);
    w->sha = TG_NEW_N(w->arena, const char *, n);
    for (size_t i = 0; i < n; i++) {
        struct tg_stored *runs;
        size_t n_runs;
        if (!tg_store_list(store, suite, v[i].sha, w->arena, &runs, &n_runs, NULL, err))
            return false;
        w->sha[w->n] = v[i].sha;
        w->at[w->n] = (struct tg_stored_night){ runs, n_runs };
        w->n += n_runs > 0;
    }
    return tg_nights_each(store, w->at, w->n, take_commit, w, NULL, err);
}

bool tg_check_window(struct tg_check *c, struct tg_check_job *j, struct tg_git *git,
                     const struct tg_baseline *b, struct tg_err *err)
{
    struct tg_store store = tg_store_open(git);
    struct window_read w = { .arena = c->arena };
    unsigned most = (unsigned)j->policy->baseline.ref_window;
    struct tg_commit *v;
    size_t n;
    if (j->policy->baseline.ref != TG_REF_WINDOW)
        return true;
    if (!tg_inputs_are_stored(&j->base)) {
        tg_io_note(c->io,
                   "suite '%.*s': window(%u) is of stored baselines; '%.*s' is that of one commit",
                   TG_SV_ARG(j->suite->name), most, TG_SV_ARG(b->path));
        return true;
    }
    if (most <= b->walked + 1)
        return true;
    tg_series_init(&w.series);
    bool ok = tg_baseline_window(git, &b->commit, most - b->walked, c->arena, &v, &n, err) &&
              read_window(&w, &store, j->suite->name, v, n, err);
    for (size_t i = 1; ok && i < w.same; i++) {
        struct tg_git_files files;
        ok = tg_store_files_of(&store, w.at[i].v, w.at[i].n, c->arena, &files, err);
        if (ok)
            tg_inputs_add_git(&j->base, w.sha[i], &files, c->arena);
    }
    if (ok) { /* the baseline's own commit is always in it */
        j->oldest = w.sha[w.same - 1];
        size_t runs = 0;
        const char *cut = "";
        for (size_t i = 0; i < w.same; i++)
            runs += w.at[i].n;
        if (w.same < w.n)
            cut = tg_arena_printf(c->arena, ", since the calls changed after %.12s", w.sha[w.same]);
        if (w.n > 1)
            j->info.how = TG_SV_PRINTF(
                c->arena, "%.*s, and %zu before it: %zu run%s of window(%u)%s",
                TG_SV_ARG(j->info.how), w.same - 1, runs, runs == 1 ? "" : "s", most, cut);
    }
    tg_series_release(&w.series);
    return ok;
}
