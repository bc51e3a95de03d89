/* `baseline: {ref: window(N)}`: the runs of several commits together are the baseline. */
#include "cmd/gate/internal.h"
#include "core/baseline/store.h"

bool tg_check_window(struct tg_check *c, struct tg_check_job *j, struct tg_git *git,
                     const struct tg_baseline *b, struct tg_err *err)
{
    struct tg_store store = tg_store_in_git(git);
    unsigned most = (unsigned)c->suites.policy->baseline.ref_window;
    struct tg_commit *v;
    size_t n, more = 0, runs = b->files.n;
    if (c->suites.policy->baseline.ref != TG_REF_WINDOW)
        return true;
    if (!tg_inputs_are_stored(&j->base)) {
        tg_io_note(c->io,
                   "suite '%.*s': window(%u) is of stored baselines; '%.*s' is that of one "
                   "commit",
                   TG_SV_ARG(j->suite->name), most, TG_SV_ARG(b->path));
        return true;
    }
    if (most <= b->walked + 1)
        return true;
    if (!tg_baseline_window(git, &b->commit, most - b->walked, c->arena, &v, &n, err))
        return false;
    for (size_t i = 1; i < n; i++) {
        struct tg_git_files files;
        if (!tg_store_files(&store, j->suite->name, v[i].sha, c->arena, &files, err))
            return false;
        tg_inputs_add_git(&j->base, v[i].sha, &files, c->arena);
        more += files.n > 0;
        runs += files.n;
    }
    if (more)
        j->info.how =
            tg_sv_of(tg_arena_printf(c->arena, "%.*s, and %zu before it: %zu runs of window(%u)",
                                     TG_SV_ARG(j->info.how), more, runs, most));
    return true;
}
