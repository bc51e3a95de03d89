/* Commits, their parents and names, and what they have in common. */
#include "core/baseline/libgit2/internal.h"

bool tg_git_shallow(const char *what, struct tg_err *err)
{
    tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "%s is not here: the history is shallow", what);
    return tg_err_hint(err, "In actions/checkout set fetch-depth: 2 (or 0 for all history); "
                            "elsewhere run `git fetch --deepen=50` or `git fetch --unshallow`, in "
                            "a clone of one branch with `origin "
                            "+BRANCH:refs/remotes/origin/BRANCH` for the target branch.");
}

bool tg_libgit2_unborn(struct tg_err *err)
{
    tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "this repository has no commit yet");
    return tg_err_hint(err, "Commit first; a baseline is a file in an earlier commit.");
}

bool tg_git_head(struct tg_git *g, struct tg_head *out, struct tg_err *err)
{
    git_oid oid;
    int rc = git_reference_name_to_id(&oid, g->repo, "HEAD");
    if (rc == 0) {
        git_oid_tostr(out->sha, sizeof out->sha, &oid);
        out->detached = git_repository_head_detached(g->repo) == 1;
        return true;
    }
    if (git_repository_head_unborn(g->repo) != 1)
        return tg_libgit2_failed(err, "HEAD cannot be read");
    return tg_libgit2_unborn(err);
}

void tg_libgit2_describe(git_commit *c, struct tg_arena *a, struct tg_commit *out)
{
    const char *summary = git_commit_summary(c);
    const git_signature *author = git_commit_author(c);
    *out = (struct tg_commit){ .how = TG_HOW_REV,
                               .ref = TG_SV(""),
                               .found = TG_SV(""),
                               .summary = tg_arena_sv(a, tg_sv_of(summary ? summary : "")),
                               .author = tg_arena_sv(
                                   a, tg_sv_of(author && author->name ? author->name : "")),
                               .date = git_commit_time(c),
                               .date_offset = git_commit_time_offset(c) };
    git_oid_tostr(out->sha, sizeof out->sha, git_commit_id(c));
}

int tg_libgit2_commit(struct tg_git *g, git_commit **out, const char *sha)
{
    git_oid oid;
    int rc = git_oid_fromstr(&oid, sha);
    return rc == 0 ? git_commit_lookup(out, g->repo, &oid) : GIT_ENOTFOUND;
}

enum tg_seen tg_git_commit(struct tg_git *g, const char *sha, struct tg_arena *a,
                           struct tg_commit *out, struct tg_err *err)
{
    git_commit *c;
    int rc = tg_libgit2_commit(g, &c, sha);
    if (rc == GIT_ENOTFOUND)
        return tg_libgit2_absent(g, err);
    if (rc < 0)
        return tg_libgit2_unseen(err, "a commit cannot be read");
    tg_libgit2_describe(c, a, out);
    git_commit_free(c);
    return TG_SEEN;
}

/* Read from the raw header: from 1.7 on libgit2 hides the parents beyond a shallow cut, and "no
 * parent" and "parent not fetched" must not look alike. */
bool tg_git_parents(struct tg_git *g, const char *sha, struct tg_parents *out, struct tg_err *err)
{
    git_commit *c;
    const char *line;
    memset(out, 0, sizeof *out);
    if (tg_libgit2_commit(g, &c, sha) < 0)
        return tg_libgit2_failed(err, "a commit cannot be read");
    for (line = git_commit_raw_header(c); line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "parent ", 7) == 0 && tg_is_sha(line + 7)) {
            if (out->n < 2)
                memcpy(out->sha[out->n], line + 7, TG_SHA_SIZE - 1);
            out->n++;
        }
    }
    /* GitHub's own message: "Merge <head> into <base>". */
    const char *m = git_commit_message(c);
    if (strncmp(m, "Merge ", 6) == 0 && tg_is_sha(m + 6) && strncmp(m + 46, " into ", 6) == 0 &&
        tg_is_sha(m + 52)) {
        memcpy(out->merged[0], m + 6, TG_SHA_SIZE - 1);
        memcpy(out->merged[1], m + 52, TG_SHA_SIZE - 1);
    }
    git_commit_free(c);
    return true;
}

/* The commit that a direct ref points at. */
static enum tg_seen peel(struct tg_git *g, git_reference *ref, char sha[TG_SHA_SIZE],
                         struct tg_err *err)
{
    git_object *any = NULL, *o = NULL;
    int rc = git_object_lookup(&any, g->repo, git_reference_target(ref), GIT_OBJECT_ANY);
    if (rc == 0)
        rc = git_object_peel(&o, any, GIT_OBJECT_COMMIT);
    if (rc == 0)
        git_oid_tostr(sha, TG_SHA_SIZE, git_object_id(o));
    git_object_free(any);
    git_object_free(o);
    if (rc == 0)
        return TG_SEEN;
    if (rc == GIT_EPEEL || rc == GIT_EINVALIDSPEC || rc == GIT_EAMBIGUOUS)
        return TG_ABSENT; /* a tree, or a blob */
    if (rc == GIT_ENOTFOUND && g->promised)
        return TG_ABSENT;
    tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "what ref '%s' points at cannot be read: %s",
               git_reference_name(ref), tg_libgit2_error());
    tg_err_hint(err, "`git fsck` says more; fetch it again, or delete the ref.");
    return TG_SEEN_FAILED;
}

enum tg_seen tg_git_ref(struct tg_git *g, const char *name, char sha[TG_SHA_SIZE],
                        struct tg_err *err)
{
    enum { MAX_LINKS = 5 }; /* of symbolic refs, as git */
    TG_ARENA *a = tg_arena_new();
    enum tg_seen seen = TG_ABSENT;
    for (int i = 0; i < MAX_LINKS && name; i++) {
        git_reference *ref = NULL;
        int rc = git_reference_lookup(&ref, g->repo, name);
        if (rc == GIT_ENOTFOUND || rc == GIT_EINVALIDSPEC) {
            /* libgit2 calls a ref absent that it cannot look at, too. */
            if (strncmp(name, "refs/", 5) != 0)
                return TG_ABSENT;
            switch (tg_libgit2_look(g, name, err)) {
            case TG_ABSENT:
                return TG_ABSENT;
            case TG_SEEN:
                tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "ref '%s' cannot be read", name);
                tg_err_hint(err, "`git fsck` says more; run the command again.");
                return TG_SEEN_FAILED;
            default:
                return TG_SEEN_FAILED;
            }
        }
        if (rc < 0)
            return tg_libgit2_unseen(err, "a ref cannot be read");
        const char *to = git_reference_symbolic_target(ref);
        name = to ? tg_arena_sv(a, tg_sv_of(to)).p : NULL;
        if (!to)
            seen = peel(g, ref, sha, err);
        git_reference_free(ref);
    }
    return seen;
}

bool tg_git_symbolic(struct tg_git *g, const char *name, struct tg_arena *a, tg_sv *target)
{
    git_reference *ref = NULL;
    const char *to = NULL;
    if (git_reference_lookup(&ref, g->repo, name) == 0)
        to = git_reference_symbolic_target(ref);
    if (to)
        *target = tg_arena_sv(a, tg_sv_of(to));
    git_reference_free(ref);
    return to != NULL;
}

static bool is_pull_name(tg_sv name)
{
    size_t digits;
    if (!tg_sv_skip(&name, TG_SV("refs/remotes/")))
        (void)tg_sv_skip(&name, TG_SV("refs/"));
    if (!tg_sv_skip(&name, TG_SV("pull/")))
        return false;
    digits = strspn(name.p, "0123456789"); /* libgit2's names end with a zero byte */
    return digits && strcmp(name.p + digits, "/merge") == 0;
}

enum tg_seen tg_git_is_pull_ref(struct tg_git *g, const char *sha, struct tg_err *err)
{
    static const char *const places[] = { "refs/pull/", "refs/remotes/pull/" };
    TG_ARENA *a = tg_arena_new();
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        struct tg_git_ref_at *refs;
        size_t n;
        if (!tg_git_refs(g, places[k], a, &refs, &n, err))
            return TG_SEEN_FAILED;
        for (size_t i = 0; i < n; i++)
            if (is_pull_name(refs[i].name) && strcmp(refs[i].oid, sha) == 0)
                return TG_SEEN;
    }
    return TG_ABSENT;
}

enum tg_seen tg_git_merge_base(struct tg_git *g, const char *one, const char *two,
                               char sha[TG_SHA_SIZE], struct tg_err *err)
{
    git_oid a, b, base;
    if (git_oid_fromstr(&a, one) < 0 || git_oid_fromstr(&b, two) < 0)
        return TG_ABSENT;
    int rc = git_merge_base(&base, g->repo, &a, &b);
    if (rc == 0) {
        git_oid_tostr(sha, TG_SHA_SIZE, &base);
        return TG_SEEN;
    }
    /* Beyond the cut, 1.5 gives an odb error, 1.9 "not found". */
    if (rc == GIT_ENOTFOUND || g->shallow)
        return tg_libgit2_absent(g, err);
    return tg_libgit2_unseen(err, "the merge base cannot be found");
}

enum tg_seen tg_git_is_ancestor(struct tg_git *g, const char *sha, const char *of,
                                struct tg_err *err)
{
    git_oid a, b;
    if (strcmp(sha, of) == 0)
        return TG_SEEN;
    if (git_oid_fromstr(&a, sha) < 0 || git_oid_fromstr(&b, of) < 0)
        return TG_ABSENT;
    int rc = git_graph_descendant_of(g->repo, &b, &a);
    if (rc == 1)
        return TG_SEEN;
    if (rc == 0)
        return TG_ABSENT;
    if (rc == GIT_ENOTFOUND || g->shallow)
        return tg_libgit2_absent(g, err);
    return tg_libgit2_unseen(err, "the history between two commits cannot be read");
}
