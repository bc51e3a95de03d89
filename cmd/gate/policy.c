#include "cmd/gate/policy.h"

#include "core/base/file.h"
#include "core/baseline/discover.h"
#include "policy/verdict/verdict.h"

/* The commit that a policy named REV:PATH is read from. */
struct tree {
    struct tg_git *git;
    struct tg_commit commit;
};

static bool read_tree(void *arg, const char *path, struct tg_buf *out, struct tg_err *err)
{
    const struct tree *t = arg;
    bool found;
    if (!tg_git_read_path(t->git, t->commit.sha, path, out, &found, err))
        return false;
    return found || tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "commit %.12s has no file '%s'",
                               t->commit.sha, path);
}

/* A preset that is named as a policy: a policy of that preset alone. */
static bool read_preset(void *arg, const char *path, struct tg_buf *out, struct tg_err *err)
{
    (void)arg;
    (void)err;
    tg_buf_printf(out, "version: 1\nextends: [%s]\n", path);
    return true;
}

/* Where o->path is read from: a preset, a file or a commit. */
static bool find_source(struct tg_policy_opts *o, struct tree *tree, struct tg_repo *repo,
                        struct tg_arena *a, struct tg_err *err)
{
    struct tg_input in;
    struct tg_err ignored = TG_ERR_INIT;
    char folder[PATH_MAX];
    /* How far up a policy may be: as a rule the folder with a `.git`, so that libgit2 is not
     * started for it. No repository is fine here; one that cannot be opened has a root
     * nevertheless, and its policy must not be missed. */
    if (!repo->git && tg_git_discover(&repo->opts, folder) == TG_DISCOVERED_TREE)
        o->root = tg_arena_sv(a, tg_sv_of(folder)).p;
    else if (tg_repo_get(repo, &ignored))
        o->root = tg_git_root(repo->git);
    else if (tg_repo_folder(a, &o->root, err) == TG_SEEN_FAILED)
        return false;
    if (!o->path)
        return tg_policy_find(".", o->root, a, &o->path, err);
    if (tg_policy_is_preset(o->path)) {
        o->root = NULL;
        o->read = read_preset;
        return true;
    }
    if (!tg_input_parse(&in, o->path, a, &ignored) || in.kind != TG_INPUT_GIT_PATH)
        return true; /* the loader says what is wrong with a file */
    tree->git = tg_repo_get(repo, err);
    if (!tree->git || !tg_git_resolve(tree->git, in.rev.p, a, &tree->commit, err))
        return false;
    o->path = in.path.p;
    o->root = NULL;
    o->read = read_tree;
    o->read_arg = tree;
    return true;
}

struct tg_policy *tg_gate_policy(const struct tg_gate_policy_opts *o, struct tg_diags *diags,
                                 const struct tg_io *io, struct tg_repo *repo, struct tg_arena *a,
                                 struct tg_err *err)
{
    struct tg_policy_opts po = { .path = o->path,
                                 .profile = o->profile,
                                 .profile_may_lack = o->profile_may_lack,
                                 .today = o->undated ? 0 : tg_io_today(io),
                                 .decisions = o->undated ? 0 : TG_DECISIONS,
                                 .lint_refused = o->lint_refused };
    struct tree tree;
    struct tg_diags own;
    if (!find_source(&po, &tree, repo, a, err))
        return NULL;
    if (!po.path) {
        /* A policy under a name that is not read would be missed without a word. */
        static const char *const names[] = { "tracegate.yml", "tracegate.yaml", ".tracegate.json",
                                             ".github/tracegate.yml", ".github/.tracegate.yml" };
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (tg_file_exists(po.root ? tg_arena_printf(a, "%s/%s", po.root, names[i]) : names[i]))
                tg_io_note(
                    io,
                    "'%s' is not read: a policy is called .tracegate.yml, at the root of the "
                    "repository, or is named with --policy",
                    names[i]);
    }
    if (po.profile && strcmp(po.profile, "auto") == 0) {
        const char *event = tg_io_env(io, "GITHUB_EVENT_NAME");
        po.profile = event ? tg_policy_profile_for(event) : NULL;
        po.profile_may_lack = true;
    }
    tg_diags_init(&own);
    struct tg_policy *policy = tg_policy_load(&po, diags ? diags : &own, err);
    if (!policy && own.n) {
        TG_BUF text = { 0 };
        tg_diags_text(&own, &text);
        tg_io_lines(io, tg_buf_sv(&text));
    }
    tg_diags_release(&own);
    return policy;
}

/* ---- all profiles ---- */

bool tg_gate_policy_profiles(struct tg_policy_changes *out, const char *const place[2],
                             const struct tg_policy *const policy[2], struct tg_diags *diags,
                             const struct tg_io *io, struct tg_repo *repo, struct tg_arena *a,
                             struct tg_err *err)
{
    /* Those of either side; NULL, for none, first. Their texts live as long as the policies. */
    struct tg_strs profiles = { 0 };
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < policy[side]->n_profiles; i++)
            if (!tg_strs_has(&profiles, policy[side]->profiles[i]))
                tg_strs_add(&profiles, policy[side]->profiles[i], a);
    bool ok = true;
    for (size_t i = 0; ok && i <= profiles.n; i++) {
        const char *profile = i ? profiles.v[i - 1] : NULL;
        struct tg_gate_policy_opts o = {
            .path = place[0], .profile = profile, .profile_may_lack = true, .undated = true
        };
        struct tg_policy *before = tg_gate_policy(&o, diags, io, repo, a, err), *now = NULL;
        struct tg_policy_changes with;
        o.path = place[1];
        if (before)
            now = tg_gate_policy(&o, diags, io, repo, a, err);
        ok = now != NULL;
        if (ok) {
            tg_policy_changes(&with, before, now, a);
            tg_policy_changes_add(out, &with, profile, a);
        }
        tg_policy_free(before);
        tg_policy_free(now);
    }
    return ok;
}
