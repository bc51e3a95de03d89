/* The commit of a revision as people write it. */
#include "core/baseline/libgit2/internal.h"

#include <stdio.h>

/* The commit whose name begins with these digits, as git finds it if no ref has that name. */
static bool commit_with_prefix(struct tg_git *g, const char *name, char sha[TG_SHA_SIZE])
{
    git_object *o = NULL;
    git_oid id;
    size_t n = strlen(name);
    bool ok = n >= 4 && n < TG_SHA_SIZE - 1 && strspn(name, "0123456789abcdefABCDEF") == n &&
              git_oid_fromstrn(&id, name, n) == 0 &&
              git_object_lookup_prefix(&o, g->repo, &id, n, GIT_OBJECT_COMMIT) == 0;
    if (ok)
        git_oid_tostr(sha, TG_SHA_SIZE, git_object_id(o));
    git_object_free(o);
    return ok;
}

static bool two_names(const char *name, const char *one, const char *two, struct tg_err *err)
{
    tg_err_set(err, TG_ERR_REF, TG_NOWHERE,
               "revision '%s' is ambiguous: %s and %s are different commits", name, one, two);
    return tg_err_hint(err, "Write the full name of one of them.");
}

/*
 * git takes the first of these and warns; a gate must not: a tag "origin/main" would move the
 * baseline of everyone who writes `--baseline origin/main`. If all of them
 * are the same commit, that is fine. HEAD and similar names, full ref names and whole object names
 * are never ambiguous.
 */
static bool only_one_ref(struct tg_git *g, const char *rev, struct tg_arena *a, struct tg_err *err)
{
    static const char *const around[][2] = { { "refs/", "" },
                                             { "refs/tags/", "" },
                                             { "refs/heads/", "" },
                                             { "refs/remotes/", "" },
                                             { "refs/remotes/", "/HEAD" } };
    size_t n = strcspn(rev, "^~:");
    const char *at = strstr(rev, "@{"), *first = NULL, *name;
    char sha[TG_SHA_SIZE], other[TG_SHA_SIZE];
    if (at && (size_t)(at - rev) < n)
        n = (size_t)(at - rev);
    name = tg_arena_sv(a, (tg_sv){ rev, n }).p;
    if (!n || (n == TG_SHA_SIZE - 1 && tg_is_sha(name)))
        return true;
    enum tg_seen seen = tg_git_ref(g, name, sha, err);
    if (seen != TG_ABSENT)
        return seen == TG_SEEN;
    for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
        const char *full = tg_arena_printf(a, "%s%s%s", around[i][0], name, around[i][1]);
        seen = tg_git_ref(g, full, first ? other : sha, err);
        if (seen == TG_SEEN_FAILED)
            return false;
        if (seen == TG_SEEN && first && strcmp(other, sha) != 0)
            return two_names(name, first, full, err);
        if (seen == TG_SEEN && !first)
            first = full;
    }
    if (first && commit_with_prefix(g, name, other) && strcmp(other, sha) != 0)
        return two_names(name, first, tg_arena_printf(a, "commit %s", other), err);
    return true;
}

/* What no object here has for a name; TG_SEEN_FAILED: it may have one. `err` is set either way. */
static enum tg_seen unknown_rev(struct tg_git *g, const char *rev, int rc, struct tg_err *err)
{
    enum tg_seen seen = TG_SEEN_FAILED;
    char name[512], sha[TG_SHA_SIZE], word[256];
    struct tg_err ignored = TG_ERR_INIT;
    if (rc == GIT_EAMBIGUOUS) {
        tg_err_say(err, TG_ERR_REF, TG_NOWHERE, "revision '%s' is ambiguous",
                   "Give more digits, or the full ref (refs/heads/…, refs/tags/…).", rev);
    } else if (rc == GIT_EINVALIDSPEC) {
        seen = TG_ABSENT;
        tg_err_set(err, TG_ERR_REF, TG_NOWHERE, "'%s' is not a revision", rev);
        tg_err_hint(err, "`git rev-parse %s` says why; see gitrevisions(7).",
                    tg_shell_word(word, sizeof word, rev));
    } else if (rc != GIT_ENOTFOUND && !g->shallow) {
        tg_libgit2_failed(err, "the revision cannot be resolved");
    } else if (tg_libgit2_absent(g, err) == TG_SEEN_FAILED) {
        /* it is said why */
    } else if (strncmp(rev, "HEAD", 4) == 0 && git_repository_head_unborn(g->repo) == 1) {
        tg_libgit2_unborn(err);
    } else if (g->shallow) {
        seen = TG_ABSENT;
        (void)snprintf(name, sizeof name, "revision '%s'", rev);
        tg_git_shallow(name, err);
    } else {
        seen = TG_ABSENT;
        tg_err_set(err, TG_ERR_REF, TG_NOWHERE, "revision '%s' does not exist here", rev);
        (void)snprintf(name, sizeof name, "refs/remotes/origin/%s", rev);
        if (tg_git_ref(g, name, sha, &ignored) == TG_SEEN)
            tg_err_hint(err, "Did you mean 'origin/%s'?", rev);
        tg_err_hint(
            err,
            "Check the spelling (`git branch -a`, `git tag`), or fetch it: `git fetch "
            "origin %s`.",
            tg_shell_word(word, sizeof word, strncmp(rev, "origin/", 7) == 0 ? rev + 7 : rev));
    }
    return seen;
}

enum tg_seen tg_git_look_up(struct tg_git *g, const char *rev, struct tg_arena *a,
                            struct tg_commit *out, struct tg_err *err)
{
    const char *spelled = rev;
    git_object *o = NULL, *c = NULL;
    git_commit *commit;
    const char *dots = strstr(rev, "..");
    if (rev[0] == '-') {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "'%s' is not a revision: it begins with '-'",
                   rev);
        tg_err_hint(err, "Write refs/heads/%s if a branch really has this name.", rev);
    }
    for (const char *p = rev; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE,
                       "'%s' is not a revision: it holds a control character", rev);
    if (!rev[0])
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "an empty revision");
    if (dots && !strchr(rev, '{') && !strstr(rev, ":/")) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "'%s' is a range, not one commit", rev);
        tg_err_hint(err, "Give one revision, for example '%.*s'.", (int)(dots - rev), rev);
    }
    if (err->kind != TG_ERR_NONE)
        return TG_SEEN_FAILED;
    if (rev[0] == '@' && rev[1] != '{') /* libgit2 1.5 knows '@' but not '@~1' */
        spelled = tg_arena_printf(a, "HEAD%s", rev + 1);
    if (!only_one_ref(g, spelled, a, err))
        return TG_SEEN_FAILED;
    int rc = git_revparse_single(&o, g->repo, spelled);
    if (rc < 0)
        return unknown_rev(g, spelled, rc, err);
    rc = git_object_peel(&c, o, GIT_OBJECT_COMMIT);
    git_object_free(o);
    if (rc < 0) {
        tg_err_say(err, TG_ERR_REF, TG_NOWHERE, "'%s' is not a commit",
                   "Give a branch, a tag or a commit; a path goes after it as REV:PATH.", rev);
        return TG_SEEN_FAILED;
    }
    rc = git_commit_lookup(&commit, g->repo, git_object_id(c));
    git_object_free(c);
    if (rc < 0)
        return tg_libgit2_unseen(err, "a commit cannot be read");
    tg_libgit2_describe(commit, a, out);
    git_commit_free(commit);
    out->ref = tg_arena_sv(a, tg_sv_of(rev));
    out->found = TG_SV_PRINTF(a, "revision %s", rev);
    return TG_SEEN;
}

bool tg_git_resolve(struct tg_git *g, const char *rev, struct tg_arena *a, struct tg_commit *out,
                    struct tg_err *err)
{
    return tg_git_look_up(g, rev, a, out, err) == TG_SEEN;
}
