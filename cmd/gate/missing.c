#include "cmd/gate/internal.h"

#include <unistd.h>

#include "core/baseline/remote.h"

/* What `origin` says of a suite of which this clone has nothing. */
enum answer { NOT_ASKED, HOLDS_SOME, HOLDS_HEAD, HOLDS_NONE };

static enum answer ask(struct tg_check *c, const struct tg_check_job *j, struct tg_git *git,
                       const struct tg_commit *start, size_t *runs)
{
    struct tg_remote origin = { .name = "origin", .tries = 1, .seed = (uint32_t)getpid() };
    struct tg_store store = tg_store_open(git);
    struct tg_stored *v;
    struct tg_commit head = { .sha = "" };
    struct tg_err ignored = TG_ERR_INIT;
    bool is_head = false;
    size_t n;
    *runs = 0;
    if (!tg_remote_list(git, &origin, j->suite->name, c->arena, &v, &n, &ignored))
        return NOT_ASKED;
    if (!tg_git_resolve(git, "HEAD", c->arena, &head, &ignored))
        return NOT_ASKED;
    for (size_t i = 0; i < n; i++) {
        enum tg_seen before = tg_store_precedes(&store, v[i].commit, start->sha, &ignored);
        if (before == TG_SEEN_FAILED)
            return NOT_ASKED;
        *runs += before == TG_SEEN;
        is_head |= strcmp(v[i].commit, head.sha) == 0;
    }
    if (*runs)
        return HOLDS_SOME;
    if (n && tg_git_is_shallow(git))
        return NOT_ASKED; /* the cut hides whose they are */
    return is_head ? HOLDS_HEAD : HOLDS_NONE;
}

static bool not_fetched(const struct tg_check_job *j, size_t runs, struct tg_err *err)
{
    tg_err_set(err, TG_ERR_LOST, TG_NOWHERE,
               "%zu run%s of suite '%.*s' %s stored at 'origin' and not fetched into this clone",
               runs, runs == 1 ? "" : "s", TG_SV_ARG(j->suite->name), runs == 1 ? "is" : "are");
    return tg_err_hint(err, "Run `tracegate baseline fetch` first.");
}

static bool nothing_stored(const struct tg_check_job *j, const struct tg_commit *start,
                           enum answer said, const char *policy, struct tg_err *err)
{
    tg_err_set(err, TG_ERR_LOST, TG_NOWHERE,
               "nothing is stored for suite '%.*s' up to commit %.12s%s, and that commit has a "
               "policy (%s): this is not a first run",
               TG_SV_ARG(j->suite->name), start->sha,
               said == NOT_ASKED ? " in this clone" : ", here or at 'origin'", policy);
    if (said == HOLDS_HEAD)
        return tg_err_hint(err, "The only runs are of HEAD itself, as after the first recording: "
                                "the next commit is compared with them.");
    if (said == HOLDS_NONE)
        return tg_err_hint(err, "The first commit? Record it (`tracegate baseline record`, "
                                "`push`; the workflows do): the next commit is compared with it. "
                                "If not, was the suite renamed, or the store deleted?");
    return tg_err_hint(err, "Either it was not fetched (`tracegate baseline fetch`), or nothing "
                            "was ever recorded under this name (`tracegate baseline record`); "
                            "'origin' could not be asked which.");
}

/* What to do where a commit has no files at the path that the suite gives. */
static bool commit_one(const struct tg_suite *s, struct tg_err *err)
{
    return tg_err_hint(err,
                       "Correct `baseline:` of suite %.*s (%s:%u), a path from the repository's "
                       "root. Or record runs on the target branch and commit them there as %.*s, "
                       "then rebase: files that this branch adds do not count.",
                       TG_SV_ARG(s->name), s->baseline_at.file, (unsigned)s->baseline_at.line,
                       TG_SV_ARG(s->baseline));
}

static bool no_files(const struct tg_suite *s, const struct tg_baseline *b, const char *policy,
                     struct tg_err *err)
{
    tg_err_set(err, TG_ERR_LOST, TG_NOWHERE,
               "no baseline `%.*s` in commit %.12s, and that commit has a policy (%s): this is not "
               "a first run",
               TG_SV_ARG(b->path), b->start.sha, policy);
    return commit_one(s, err);
}

bool tg_check_first_run(struct tg_check *c, struct tg_check_job *j, struct tg_git *git,
                        const struct tg_baseline *b, struct tg_err *err)
{
    bool stored = !j->suite->baseline.n;
    const char *policy = tg_check_policy_at(c, git, b->start.sha);
    enum answer said = NOT_ASKED;
    size_t runs = 0;
    if (stored && b->start.sha[0])
        said = ask(c, j, git, &b->start, &runs);
    if (said == HOLDS_SOME)
        return not_fetched(j, runs, err);
    if (policy)
        return stored ? nothing_stored(j, &b->start, said, policy, err)
                      : no_files(j->suite, b, policy, err);
    j->what = JOB_FIRST_RUN;
    if (stored && said == NOT_ASKED)
        tg_io_note(c->io,
                   "nothing is stored for suite '%.*s' in this clone: run `tracegate baseline "
                   "fetch` first if the remote has it, or name a baseline with --baseline",
                   TG_SV_ARG(j->suite->name));
    else if (stored)
        tg_io_note(c->io, "nothing is stored for suite '%.*s' yet, here or at 'origin'",
                   TG_SV_ARG(j->suite->name));
    return true;
}

bool tg_check_lost(struct tg_check *c, struct tg_check_job *j, struct tg_git *git,
                   const struct tg_baseline *b, struct tg_err *err)
{
    size_t runs;
    if (!j->suite->baseline.n && ask(c, j, git, &b->start, &runs) == HOLDS_SOME)
        return not_fetched(j, runs, err);
    (void)tg_baseline_missing(b, err);
    if (j->suite->baseline.n && !b->beyond) {
        err->hint[0] = '\0';
        return commit_one(j->suite, err);
    }
    return false;
}
