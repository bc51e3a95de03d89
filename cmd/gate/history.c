#include "cmd/gate/history.h"

#include <stdlib.h>

#include "core/baseline/store.h"
#include "core/diff/history.h"

static bool has_blob(const struct tg_input_list *list, const char *oid)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->v[i].from_git && strcmp(list->v[i].blob.oid, oid) == 0)
            return true;
    return false;
}

/* A file that did not change from commit to commit is one recording, not several. */
static bool is_new(const struct tg_input_list *seen, const struct tg_git_files *files)
{
    for (size_t i = 0; i < files->n; i++)
        if (has_blob(seen, files->v[i].oid))
            return false;
    return files->n > 0;
}

static bool files_at(struct tg_git *git, const struct tg_suite *suite, const char *sha,
                     struct tg_arena *a, struct tg_git_files *out, struct tg_err *err)
{
    if (suite->baseline.n)
        return tg_git_list(git, sha, tg_arena_sv(a, suite->baseline).p, a, out, err);
    return tg_store_files(git, suite->name, sha, a, out, err);
}

/* Reads one earlier baseline and keeps it if it fits. */
static void keep_fit(struct tg_earlier *e, struct tg_input_list *list, const struct tg_side *base)
{
    struct tg_summary *s = &e->owned[e->n_owned++];
    struct tg_side *side = &e->side[e->n];
    const char *why = "not readable";
    struct tg_err ignored;

    tg_err_init(&ignored);
    tg_summary_init(s);
    if (tg_suite_groups(list, e->suite, false, &ignored) && /* as the baseline's own */
        tg_inputs_load(s, list, e->reading, e->suites->repo, NULL, &ignored) &&
        tg_side_arrange(side, s, e->arrange, e->suites->arena, &ignored))
        why = tg_history_unfit(base, side);
    if (!why)
        e->n++;
    else if (!e->unfit)
        e->unfit = why;
}

bool tg_earlier_load(struct tg_earlier *e, const char *sha, const struct tg_input_list *used,
                     const struct tg_side *base, struct tg_git *git, struct tg_err *err)
{
    struct tg_arena *a = e->suites->arena;
    struct tg_input_list seen = { 0 };
    struct tg_commit from, *window;
    size_t n_window;

    if (!tg_git_resolve(git, sha, a, &from, err) ||
        !tg_baseline_window(git, &from, (unsigned)e->suites->policy->baseline.max_walk + 1, a,
                            &window, &n_window, err))
        return false;
    e->cut = tg_git_is_shallow(git) && n_window <= (size_t)e->suites->policy->baseline.max_walk;
    e->owned = TG_NEW_N(a, struct tg_summary, e->want + 1);
    e->side = TG_NEW_N(a, struct tg_side, e->want + 1);
    for (size_t i = 1; i < n_window && e->found < e->want; i++) {
        if (e->until && strcmp(window[i].sha, e->until) == 0)
            break;
        struct tg_input_list one = { 0 };
        struct tg_git_files files;
        if (!files_at(git, e->suite, window[i].sha, a, &files, err))
            return false;
        if (!is_new(used, &files) || !is_new(&seen, &files))
            continue;
        tg_inputs_add_git(&seen, window[i].sha, &files, a);
        tg_inputs_add_git(&one, window[i].sha, &files, a);
        e->found++;
        keep_fit(e, &one, base);
    }
    return true;
}

void tg_earlier_release(struct tg_earlier *e)
{
    for (size_t i = 0; i < e->n_owned; i++)
        tg_summary_release(&e->owned[i]);
    e->n_owned = 0;
}

tg_sv tg_earlier_text(const struct tg_earlier *e, struct tg_arena *a)
{
    struct tg_buf b = { 0 };
    size_t runs = 0;
    tg_sv text;

    for (size_t i = 0; i < e->n; i++)
        runs += e->side[i].n_runs;
    if (e->n)
        tg_buf_printf(&b, "durations are also held against %zu run%s of %zu earlier baseline%s",
                      runs, runs == 1 ? "" : "s", e->n, e->n == 1 ? "" : "s");
    else
        tg_buf_puts(&b, "no earlier baseline took part");
    if (e->found > e->n)
        tg_buf_printf(&b, "; %zu left out: %s", e->found - e->n, e->unfit);
    if (e->found < e->want)
        tg_buf_printf(&b, "; noise.history asks for %zu%s", e->want,
                      e->cut ? ", and this clone's history is cut" : "");
    text = tg_arena_sv(a, tg_buf_sv(&b));
    tg_buf_release(&b);
    return text;
}
