#include "cmd/gate/internal.h"
#include "core/baseline/store.h"

/* The fresh trace's own path in a commit, for those who commit the trace itself; false: none. */
static bool own_path(struct tg_check *c, struct tg_git *git, tg_sv *out)
{
    struct tg_err ignored = TG_ERR_INIT;
    const char *fresh = c->args->n == 1 ? c->args->v[0] : NULL;
    return fresh && strcmp(fresh, "-") != 0 && tg_git_relative(git, fresh, c->arena, out, &ignored);
}

static const char *const *policy_paths(struct tg_check *c, struct tg_git *git, size_t *n)
{
    const char **p = TG_NEW_N(c->arena, const char *, 3);
    struct tg_err ignored = TG_ERR_INIT;
    tg_sv rel = TG_SV("");
    *n = 0;
    if (c->suites.policy->file.n &&
        tg_git_relative(git, c->suites.policy->file.p, c->arena, &rel, &ignored))
        p[(*n)++] = rel.p;
    p[(*n)++] = ".tracegate.yml";
    p[(*n)++] = ".tracegate.yaml";
    return p;
}

/* Walks back to the files at `path`. */
static bool find_path(struct tg_check *c, struct tg_check_job *j, struct tg_git *git,
                      const struct tg_commit *start, tg_sv path, bool explicit_side,
                      struct tg_baseline *out, struct tg_err *err)
{
    struct tg_find_opts fo = { .path = tg_arena_sv(c->arena, path).p,
                               .max_walk = (unsigned)j->policy->baseline.max_walk,
                               .explicit_side = explicit_side };
    fo.policy_paths = policy_paths(c, git, &fo.n_policy_paths);
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
    if (own_path(c, git, &path) &&
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

static void use(struct tg_check *c, struct tg_check_job *j, const struct tg_baseline *b)
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
    use(c, j, &b);
    if (!explicit_side && !tg_check_window(c, j, git, &b, err))
        return false;
    return tg_suite_groups(&j->base, j->suite, TG_GROUPS_OPTIONAL, err);
}

static bool named_commit(struct tg_git *git, const struct tg_input *in, struct tg_arena *a,
                         struct tg_commit *out, struct tg_err *err)
{
    struct tg_err why = TG_ERR_INIT;
    enum tg_seen seen = tg_git_look_up(git, in->rev.p, a, out, &why);
    if (seen == TG_ABSENT && why.kind == TG_ERR_REF) /* and the history is not shallow */
        return tg_input_unknown(in, TG_ERR_REF, why.hint, a, err);
    if (seen != TG_SEEN)
        *err = why;
    return seen == TG_SEEN;
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
            ok = (git = tg_repo_get(&c->repo, err)) ||
                 tg_err_context(err, "looking for a commit '%s': no file or folder is called so",
                                text);
            ok = ok && named_commit(git, &in, c->arena, &commit, err) &&
                 walk_to_baseline(c, j, git, &commit, true, err);
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
    use(c, j, &b);
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
