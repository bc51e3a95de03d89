/* Where the baseline is: its commit, its files, and what is said where it has none. */
#include <math.h>
#include <unistd.h>

#include "cmd/gate/internal.h"
#include "cmd/gate/nights.h"
#include "core/baseline/remote.h"
#include "core/baseline/store.h"

/* ---- no baseline ---- */

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
    return tg_err_say(
        err, TG_ERR_LOST, TG_NOWHERE,
        "%zu run%s of suite '%.*s' %s stored at 'origin' and not fetched into this clone",
        "Run `tracegate baseline fetch` first.", runs, runs == 1 ? "" : "s",
        TG_SV_ARG(j->suite->name), runs == 1 ? "is" : "are");
}

/* Of a suite that has its baseline in the store. */
static bool nothing_stored(const struct tg_check_job *j, const struct tg_commit *start,
                           enum answer said, const char *policy, struct tg_err *err)
{
    const char *hint =
        said == HOLDS_HEAD   ? "The only runs are of HEAD itself, as after the first recording: "
                               "the next commit is compared with them."
        : said == HOLDS_NONE ? "The first commit? Record it (`tracegate baseline record`, "
                               "`push`; the workflows do): the next commit is compared with it. "
                               "If not, was the suite renamed, or the store deleted?"
                             : "Either it was not fetched (`tracegate baseline fetch`), or nothing "
                               "was ever recorded under this name (`tracegate baseline record`); "
                               "'origin' could not be asked which.";
    return tg_err_say(
        err, TG_ERR_LOST, TG_NOWHERE,
        "nothing is stored for suite '%.*s' up to commit %.12s%s, and that commit has a "
        "policy (%s): this is not a first run",
        hint, TG_SV_ARG(j->suite->name), start->sha,
        said == NOT_ASKED ? " in this clone" : ", here or at 'origin'", policy);
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
    if (policy && stored)
        return nothing_stored(j, &b->start, said, policy, err);
    if (policy) {
        tg_err_set(err, TG_ERR_LOST, TG_NOWHERE,
                   "no baseline `%.*s` in commit %.12s, and that commit has a policy (%s): this is "
                   "not a first run",
                   TG_SV_ARG(b->path), b->start.sha, policy);
        return commit_one(j->suite, err);
    }
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

/* ---- `ref: window(N)` ----
 *
 * The runs of several commits together are the baseline. Runs before the number of calls changed
 * are of another program: the window ends there. */

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

/* A commit whose runs cannot be read is left to the reader, which says so. */
static void take_commit(void *arg, size_t i, const struct tg_side *side, bool damaged,
                        const struct tg_err *why)
{
    struct window_read *w = arg;
    struct tg_night night = { 0 };
    bool differs = false;
    (void)damaged;
    (void)why;
    if (side)
        tg_night_metric(i ? &night : &w->newest, side, &w->series, w->arena);
    /* A number that the runs of a night do not agree on tells nothing. */
    for (uint32_t k = 0; i && side && k < w->series.n; k++) {
        const struct tg_series *s = &w->series.v[k];
        double a = calls_of(&w->newest, k), b = calls_of(&night, k);
        differs |= s->counted && tg_series_is_name(s) && !isnan(a) && !isnan(b) && a != b;
    }
    w->same += i == w->same && !differs;
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
    bool ok = tg_baseline_window(git, &b->commit, most - b->walked, c->arena, &v, &n, err);
    if (ok) {
        w.at = TG_NEW_N(w.arena, struct tg_stored_night, n);
        w.sha = TG_NEW_N(w.arena, const char *, n);
    }
    for (size_t i = 0; ok && i < n; i++) {
        struct tg_stored *runs = NULL;
        size_t n_runs = 0;
        ok = tg_store_list(&store, j->suite->name, v[i].sha, w.arena, &runs, &n_runs, NULL, err);
        w.sha[w.n] = v[i].sha;
        w.at[w.n] = (struct tg_stored_night){ runs, n_runs };
        w.n += n_runs > 0;
    }
    ok = ok && tg_nights_each(&store, w.at, w.n, take_commit, &w, NULL, err);
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

/* ---- the baseline ---- */

/* Walks back to the files at `path`. */
static bool find_path(struct tg_check *c, struct tg_check_job *j, struct tg_git *git,
                      const struct tg_commit *start, tg_sv path, bool explicit_side,
                      struct tg_baseline *out, struct tg_err *err)
{
    const char *policies[3];
    struct tg_find_opts fo = { .path = tg_arena_sv(c->arena, path).p,
                               .max_walk = (unsigned)j->policy->baseline.max_walk,
                               .policy_paths = policies,
                               .explicit_side = explicit_side };
    struct tg_err ignored = TG_ERR_INIT;
    tg_sv own = c->suites.policy->file;
    if (own.n && tg_git_relative(git, own.p, c->arena, &own, &ignored))
        policies[fo.n_policy_paths++] = own.p;
    policies[fo.n_policy_paths++] = ".tracegate.yml";
    policies[fo.n_policy_paths++] = ".tracegate.yaml";
    return tg_baseline_find(git, start, &fo, c->arena, out, err);
}

static bool is_found(const struct tg_baseline *b)
{
    return b->found == TG_FOUND || b->found == TG_FOUND_GAP;
}

/*
 * A suite whose baseline is stored. If nothing is stored, the fresh trace's own path in the commits
 * may do: that needs no store. A named commit's own files come before runs that are stored at its
 * ancestors.
 */
static bool find_stored(struct tg_check *c, struct tg_check_job *j, struct tg_git *git,
                        const struct tg_commit *start, bool explicit_side, struct tg_baseline *out,
                        struct tg_err *err)
{
    struct tg_baseline own = { .found = TG_FOUND_FIRST_RUN };
    struct tg_store store = tg_store_open(git);
    struct tg_err ignored = TG_ERR_INIT;
    tg_sv path = TG_SV("");
    const char *fresh = c->args->n == 1 ? c->args->v[0] : "-";
    if (strcmp(fresh, "-") != 0 && tg_git_relative(git, fresh, c->arena, &path, &ignored) &&
        !find_path(c, j, git, start, path, explicit_side, &own, &ignored))
        own.found = TG_FOUND_FIRST_RUN;
    if (explicit_side && own.found == TG_FOUND) {
        *out = own;
        return true;
    }
    if (!tg_store_find(&store, start, j->suite->name, (unsigned)j->policy->baseline.max_walk,
                       explicit_side ? TG_STORE_BY_USER : TG_STORE_BY_POLICY, c->arena, out, err))
        return false;
    if (is_found(&own) && (out->found == TG_FOUND_FIRST_RUN || (explicit_side && !is_found(out))))
        *out = own;
    return true;
}

static bool find_at(struct tg_check *c, struct tg_check_job *j, struct tg_git *git,
                    const struct tg_commit *start, bool explicit_side, struct tg_baseline *out,
                    struct tg_err *err)
{
    if (explicit_side) {
        /* What is stored exactly at a commit that was named. */
        struct tg_store store = tg_store_open(git);
        *out = (struct tg_baseline){ .found = TG_FOUND, .start = *start, .commit = *start };
        out->path = TG_SV_PRINTF(c->arena, "stored:%.*s", TG_SV_ARG(j->suite->name));
        if (!tg_store_files(&store, j->suite->name, start->sha, c->arena, &out->files, err))
            return false;
        if (out->files.n)
            return true;
    }
    return j->suite->baseline.n
               ? find_path(c, j, git, start, j->suite->baseline, explicit_side, out, err)
               : find_stored(c, j, git, start, explicit_side, out, err);
}

static void use_files(struct tg_check *c, struct tg_check_job *j, const struct tg_baseline *b)
{
    memcpy(j->commit, b->commit.sha, sizeof j->commit);
    tg_inputs_add_git(&j->base, b->commit.sha, &b->files, c->arena);
}

static bool walk_to_baseline(struct tg_check *c, struct tg_check_job *j, struct tg_git *git,
                             const struct tg_commit *start, bool explicit_side, struct tg_err *err)
{
    struct tg_baseline b;
    if (!find_at(c, j, git, start, explicit_side, &b, err))
        return false;
    static const enum tg_situation situation[] = { [TG_FOUND] = TG_SITUATION_FOUND,
                                                   [TG_FOUND_GAP] = TG_SITUATION_GAP,
                                                   [TG_FOUND_FIRST_RUN] = TG_SITUATION_FIRST_RUN,
                                                   [TG_FOUND_LOST] = TG_SITUATION_LOST };
    const struct tg_commit *k = b.commit.sha[0] ? &b.commit : &b.start;
    TG_BUF how = { 0 };
    j->info.commit = TG_SV_PRINTF(c->arena, "%s", k->sha);
    j->info.ref = b.start.ref;
    tg_buf_add(&how, b.start.found);
    if (b.walked)
        tg_buf_printf(&how, "%s%u commit%s before it", how.n ? ", " : "", b.walked,
                      b.walked == 1 ? "" : "s");
    j->info.how = tg_arena_sv(c->arena, tg_buf_sv(&how));
    j->info.situation = situation[b.found];
    j->info.walked = b.walked;
    j->info.paths = b.path;
    if (b.found == TG_FOUND_FIRST_RUN)
        return tg_check_first_run(c, j, git, &b, err);
    if (b.found == TG_FOUND_LOST) {
        (void)(explicit_side ? tg_baseline_missing(&b, err) : tg_check_lost(c, j, git, &b, err));
        if (!explicit_side || j->suite->baseline.n)
            return false;
        err->hint[0] = '\0'; /* the user named a commit, so a path in it may be what was meant */
        return tg_err_hint(err,
                           "Name the file or folder in that commit, `--baseline %.*s:PATH`, or "
                           "record a baseline there (`tracegate baseline record`).",
                           TG_SV_ARG(start->ref.n ? start->ref : tg_sv_of(start->sha)));
    }
    use_files(c, j, &b);
    if (!explicit_side && !tg_check_window(c, j, git, &b, err))
        return false;
    return tg_suite_groups(&j->base, j->suite, TG_GROUPS_OPTIONAL, err);
}

static bool explicit_baseline(struct tg_check *c, struct tg_check_job *j, struct tg_err *err)
{
    TG_BUF paths = { 0 };
    bool ok = true;
    for (size_t i = 0; ok && i < c->o->baseline.n; i++) {
        const char *text = c->o->baseline.v[i];
        struct tg_input in;
        struct tg_commit commit = { 0 };
        struct tg_git *git;
        ok = tg_input_parse(&in, text, c->arena, err);
        if (ok && in.kind == TG_INPUT_REV) {
            struct tg_err why = TG_ERR_INIT;
            if (!(git = tg_repo_get(&c->repo, err)))
                return tg_err_context(
                    err, "looking for a commit '%s': no file or folder is called so", text);
            enum tg_seen seen = tg_git_look_up(git, in.rev.p, c->arena, &commit, &why);
            if (seen == TG_ABSENT && why.kind == TG_ERR_REF) /* and the history is not shallow */
                return tg_input_unknown(&in, TG_ERR_REF, why.hint, c->arena, err);
            if (seen != TG_SEEN)
                *err = why;
            ok = seen == TG_SEEN && walk_to_baseline(c, j, git, &commit, true, err);
            continue;
        }
        tg_buf_printf(&paths, "%s%s", paths.n ? ", " : "", text);
        ok = ok && tg_inputs_add(&j->base, text, &c->repo, c->arena, err);
        if (ok && in.kind == TG_INPUT_GIT_PATH && !j->info.commit.n &&
            tg_git_resolve(c->repo.git, in.rev.p, c->arena, &commit, err)) {
            j->info.commit = TG_SV_PRINTF(c->arena, "%s", commit.sha);
            j->info.ref = in.rev;
            j->info.how = TG_SV("named on the command line");
            j->info.situation = TG_SITUATION_FOUND;
        }
    }
    if (ok && paths.n) {
        j->info.paths = tg_arena_sv(c->arena, tg_buf_sv(&paths));
        if (!j->info.situation) {
            j->info.situation = TG_SITUATION_PATH;
            j->info.how = TG_SV("given on the command line");
        }
    }
    return ok && tg_suite_groups(&j->base, j->suite, TG_GROUPS_OPTIONAL, err);
}

bool tg_check_find(struct tg_check *c, struct tg_check_job *j, struct tg_err *err)
{
    struct tg_commit start;
    if (j->named)
        return explicit_baseline(c, j, err);
    struct tg_git *git = tg_repo_get(&c->repo, err);
    return git && tg_suites_start(&c->suites, &j->policy->baseline, NULL, git, &start, err) &&
           walk_to_baseline(c, j, git, &start, false, err);
}

bool tg_check_find_of_night(struct tg_check *c, struct tg_check_job *j, const char *night,
                            struct tg_err *err)
{
    const struct tg_baseline_settings *settings = &j->policy->baseline;
    struct tg_git *git = c->repo.git;
    struct tg_store store = tg_store_open(git);
    struct tg_git_files files;
    struct tg_commit start;
    struct tg_baseline b;
    if (!tg_store_files(&store, j->suite->name, night, c->arena, &files, err) || !files.n ||
        !tg_suites_start(&c->suites, settings, night, git, &start, err) ||
        !tg_store_find(&store, &start, j->suite->name, (unsigned)settings->max_walk,
                       TG_STORE_BY_POLICY, c->arena, &b, err) ||
        !is_found(&b))
        return false;
    tg_inputs_add_git(&j->fresh, night, &files, c->arena);
    use_files(c, j, &b);
    return tg_check_window(c, j, git, &b, err);
}

/* ---- reading what was found ---- */

bool tg_check_arrange(struct tg_check *c, const struct tg_check_job *j, const struct tg_summary *s,
                      struct tg_side *to, struct tg_err *err)
{
    bool runs = j->suite->trace.run.n && !j->suite->trace.rank.n;
    return tg_side_arrange_some(
        to, s, tg_given_arrange(&c->o->given, runs ? TG_ARRANGE_RUNS : TG_ARRANGE_AUTO), c->arena,
        err);
}

bool tg_check_read(struct tg_check *c, struct tg_check_job *j, int side,
                   const struct tg_check_reading *r, struct tg_err *err)
{
    struct tg_summarize_opts so = tg_suite_reading(c->suites.policy, j->suite);
    if (!tg_given_apply(&so, &c->o->given, c->arena, err))
        return false;
    if (side == TG_BASE)
        so.n_meta = 0;
    if (j->suite->ranks_expect)
        so.damage = r->damage;
    so.keep = r->keep;
    so.named_ranks = r->named_ranks;
    struct tg_side *to = r->to ? r->to : &j->gate.side[side];
    return (tg_inputs_load(r->summary, r->files, &so, &c->repo, r->progress, err) &&
            tg_check_arrange(c, j, r->summary, to, err)) ||
           tg_err_context(err, "reading the %s side", side == TG_BASE ? "baseline" : "fresh");
}

const char *tg_check_base_commit(const struct tg_check *c, const struct tg_check_job *j)
{
    if (j->info.commit.n)
        return j->info.commit.p;
    return c->named_base.sha[0] ? c->named_base.sha : NULL;
}
