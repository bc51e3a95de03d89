#include <stdio.h>

#include "core/base/strmap.h"
#include "core/baseline/git.h"

/* ---- which commit ---- */

struct search {
    struct tg_git *g;
    const struct tg_baseline_ref *ref;
    const struct tg_ci_env *env;
    struct tg_arena *a;
    struct tg_commit *out;
    struct tg_err *err;
    struct tg_head head;
    struct tg_parents parents; /* of HEAD */
};

static bool is_event(const struct search *s, const char *name)
{
    return s->env->event && strcmp(s->env->event, name) == 0;
}

/* The commit that was chosen. A commit that is not here is beyond the cut of a shallow clone. */
static bool choose(const struct search *s, const char *sha, enum tg_how how, tg_sv ref,
                   const char *found)
{
    const char *what = tg_arena_printf(s->a, "commit %.12s (%s)", sha, found);
    enum tg_seen seen = tg_git_commit(s->g, sha, s->a, s->out, s->err);
    if (seen == TG_SEEN) {
        s->out->how = how;
        s->out->ref = ref;
        s->out->found = TG_SV_PRINTF(s->a, "%s", found);
        return true;
    }
    if (seen == TG_SEEN_FAILED)
        return false;
    if (tg_git_is_shallow(s->g))
        return tg_git_shallow(what, s->err);
    tg_err_set(s->err, TG_ERR_REF, TG_NOWHERE, "%s does not exist here", what);
    return tg_err_hint(s->err, "Run `git fetch origin %s`.", sha);
}

/* Two parents alone prove nothing: a branch may have merged main, and then the first parent is the
 * branch's own previous commit. */
static enum tg_seen is_pull_request_merge(const struct search *s)
{
    const struct tg_parents *p = &s->parents;
    if (p->n != 2)
        return TG_ABSENT;
    tg_sv ref = tg_sv_of(s->env->ref);
    bool merge_ref =
        ref.n > 16 && tg_sv_starts(ref, TG_SV("refs/pull/")) && tg_sv_ends(ref, TG_SV("/merge"));
    if (s->env->event && strncmp(s->env->event, "pull_request", 12) == 0 && merge_ref &&
        (!s->env->sha || strcmp(s->env->sha, s->head.sha) == 0))
        return TG_SEEN;
    return s->head.detached ? tg_git_is_pull_ref(s->g, s->head.sha, s->err) : TG_ABSENT;
}

/* The message is GitHub's. Whoever made the change may have written it. */
static bool says_pull_request_merge(const struct search *s)
{
    const struct tg_parents *p = &s->parents;
    return s->head.detached && p->n == 2 && strcmp(p->merged[0], p->sha[1]) == 0 &&
           strcmp(p->merged[1], p->sha[0]) == 0;
}

/* Branch `name` as the remote has it, else as a revision of this clone. */
static bool named_target(const struct search *s, const char *name, tg_sv *label,
                         char sha[TG_SHA_SIZE])
{
    struct tg_commit c;
    char other[TG_SHA_SIZE];
    const char *remote = tg_arena_printf(s->a, "refs/remotes/origin/%s", name);
    const char *full = tg_arena_printf(s->a, "refs/remotes/%s", name);
    enum tg_seen seen = tg_git_ref(s->g, remote, sha, s->err), plain = TG_ABSENT;
    if (seen == TG_SEEN)
        plain = tg_git_ref(s->g, full, other, s->err);
    if (seen == TG_SEEN_FAILED || plain == TG_SEEN_FAILED)
        return false;
    if (plain == TG_SEEN && strcmp(sha, other) != 0)
        return tg_err_say(s->err, TG_ERR_REF, TG_NOWHERE,
                          "target branch '%s' is ambiguous: %s and %s are different commits",
                          "Write the full name of one of them.", name, remote, full);
    if (seen == TG_SEEN) {
        *label = tg_sv_of(remote + strlen("refs/remotes/"));
        return true;
    }
    struct tg_err why = TG_ERR_INIT;
    seen = tg_git_look_up(s->g, name, s->a, &c, &why);
    if (seen == TG_ABSENT && why.kind == TG_ERR_REF) { /* and the history is not shallow */
        tg_err_set(s->err, TG_ERR_REF, TG_NOWHERE, "target branch '%s' does not exist here", name);
        return tg_err_hint(
            s->err,
            "Check the spelling, or fetch it: `git fetch origin +%s:refs/remotes/origin/%s`.", name,
            name);
    }
    if (seen != TG_SEEN) {
        *s->err = why;
        return tg_err_context(s->err, "looking for the target branch '%s'", name);
    }
    memcpy(sha, c.sha, TG_SHA_SIZE);
    *label = c.ref;
    return true;
}

static bool usual_target(const struct search *s, tg_sv *label, char sha[TG_SHA_SIZE])
{
    static const char *const usual[] = { "refs/remotes/origin/HEAD", "refs/remotes/origin/main",
                                         "refs/remotes/origin/master", "refs/heads/main",
                                         "refs/heads/master" };
    tg_sv name;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        enum tg_seen seen = tg_git_ref(s->g, usual[i], sha, s->err);
        if (seen == TG_SEEN_FAILED)
            return false;
        if (seen == TG_SEEN) {
            if (!tg_git_symbolic(s->g, usual[i], s->a, &name))
                name = tg_sv_of(usual[i]);
            (void)tg_sv_cut(&name, '/'); /* refs */
            (void)tg_sv_cut(&name, '/'); /* remotes or heads */
            *label = name;
            return true;
        }
    }
    if (says_pull_request_merge(s))
        return tg_err_say(
            s->err, TG_ERR_GIT, TG_NOWHERE,
            "HEAD's message says that it is a pull request's merge commit, and without "
            "the target branch nothing here proves it",
            "Run `git fetch origin +BRANCH:refs/remotes/origin/BRANCH` with the target "
            "branch, or name the commit to compare with in TRACEGATE_BASE.");
    if (tg_git_is_shallow(s->g))
        return tg_git_shallow("the target branch", s->err);
    tg_err_set(s->err, TG_ERR_REF, TG_NOWHERE,
               "no target branch: neither origin/HEAD nor main nor master exists here");
    return tg_err_hint(s->err, "Name it in the policy (baseline: {target: BRANCH}), fetch it (`git "
                               "fetch origin +BRANCH:refs/remotes/origin/BRANCH`), or give "
                               "--baseline REV.");
}

static bool first_parent(const struct search *s, enum tg_how how, tg_sv label, const char *found)
{
    if (!s->parents.n) {
        *s->out =
            (struct tg_commit){ .how = TG_HOW_NONE,
                                .ref = TG_SV(""),
                                .found = TG_SV("HEAD is the first commit: nothing comes before it"),
                                .summary = TG_SV("") };
        return true;
    }
    return choose(s, s->parents.sha[0], how, label, found);
}

/* A push may bring several commits: the one before all of them, when it is still an ancestor. */
static enum tg_seen is_before_push(const struct search *s)
{
    const char *before = s->env->base_sha;
    struct tg_commit c;
    if (!is_event(s, "push") || !before || strspn(before, "0") == strlen(before) ||
        strcmp(before, s->head.sha) == 0)
        return TG_ABSENT;
    enum tg_seen seen = tg_git_commit(s->g, before, s->a, &c, s->err);
    return seen == TG_SEEN ? tg_git_is_ancestor(s->g, before, s->head.sha, s->err) : seen;
}

static bool pull_request_merge(const struct search *s)
{
    return choose(s, s->parents.sha[0], TG_HOW_PR_MERGE, TG_SV("HEAD^1"),
                  "first parent of the pull request's merge commit");
}

static bool merge_base(const struct search *s)
{
    char target[TG_SHA_SIZE], base[TG_SHA_SIZE];
    tg_sv label;
    if (s->env->base && s->env->base[0]) {
        struct tg_commit c;
        if (!tg_git_resolve(s->g, s->env->base, s->a, &c, s->err))
            return tg_err_context(s->err, "looking for the base that the job names");
        return choose(s, c.sha, TG_HOW_EVENT, c.ref, "base that the job names");
    }
    enum tg_seen seen = is_pull_request_merge(s);
    if (seen != TG_ABSENT)
        return seen == TG_SEEN && pull_request_merge(s);
    if (is_event(s, "merge_group") && s->env->base_sha)
        return choose(s, s->env->base_sha, TG_HOW_EVENT, TG_SV(""), "base of the merge queue");
    const char *named = s->ref->target;
    if (!named || !named[0] || strcmp(named, "auto") == 0)
        named = s->env->base_ref;
    if (named && named[0] ? !named_target(s, named, &label, target)
                          : !usual_target(s, &label, target))
        return false;
    if (says_pull_request_merge(s)) {
        seen = tg_git_is_ancestor(s->g, s->parents.sha[0], target, s->err);
        if (seen != TG_ABSENT)
            return seen == TG_SEEN && pull_request_merge(s);
    }
    const char *found = tg_arena_printf(s->a, "merge base of HEAD and %.*s", TG_SV_ARG(label));
    seen = tg_git_merge_base(s->g, s->head.sha, target, base, s->err);
    if (seen == TG_SEEN && strcmp(base, s->head.sha) == 0) {
        enum tg_seen pushed = is_before_push(s);
        if (pushed == TG_SEEN_FAILED)
            return false;
        if (pushed == TG_SEEN)
            return choose(s, s->env->base_sha, TG_HOW_EVENT, label, "commit before the push");
        return first_parent(
            s, TG_HOW_FIRST_PARENT, label,
            tg_arena_printf(s->a, "first parent of HEAD, which is on %.*s", TG_SV_ARG(label)));
    }
    if (seen == TG_SEEN)
        return choose(s, base, TG_HOW_MERGE_BASE, label, found);
    if (seen == TG_SEEN_FAILED)
        return false;
    if (tg_git_is_shallow(s->g))
        return tg_git_shallow(tg_arena_printf(s->a, "the %s", found), s->err);
    return tg_err_say(s->err, TG_ERR_GIT, TG_NOWHERE, "HEAD and %.*s have no commit in common",
                      "Name another target (baseline: {target: BRANCH}), or give --baseline REV.",
                      TG_SV_ARG(label));
}

/* ---- releases ---- */

static bool last_release(const struct search *s)
{
    TG_AUTO(tg_strmap_release) struct tg_strmap commits = { 0 };
    struct tg_commit at, next;
    struct tg_git_ref_at *refs;
    size_t n;
    bool cut = false;
    enum tg_seen back;
    if (!tg_git_refs(s->g, "refs/tags/", s->a, &refs, &n, s->err))
        return false;
    /* The commits of the tags that match, and of each the last name. */
    tg_sv *names = TG_NEW_N(s->a, tg_sv, n + 1), *last;
    for (size_t i = 0; i < n; i++) {
        tg_sv name = refs[i].name;
        char sha[TG_SHA_SIZE];
        (void)tg_sv_skip(&name, TG_SV("refs/tags/"));
        if (!tg_sv_glob(s->ref->rev, name))
            continue;
        enum tg_seen seen = tg_git_ref(s->g, refs[i].name.p, sha, s->err);
        if (seen == TG_SEEN_FAILED)
            return false;
        if (seen == TG_ABSENT)
            continue;
        last = &names[tg_strmap_add(&commits, tg_sv_of(sha))];
        *last = tg_sv_cmp(name, *last) > 0 ? name : *last;
    }
    (void)snprintf(at.sha, sizeof at.sha, "%s", s->head.sha);
    while ((back = commits.n ? tg_git_step_back(s->g, at.sha, s->a, &next, &cut, s->err)
                             : TG_ABSENT) == TG_SEEN) {
        uint32_t id = tg_strmap_find(&commits, tg_sv_of(next.sha));
        if (id != TG_NO_ID)
            return choose(s, next.sha, TG_HOW_RELEASE, names[id],
                          tg_arena_printf(s->a, "release %.*s", TG_SV_ARG(names[id])));
        at = next;
    }
    if (back == TG_SEEN_FAILED)
        return false;
    if (cut || (!commits.n && tg_git_is_shallow(s->g)))
        return tg_git_shallow(
            tg_arena_printf(s->a, "a release '%.*s' before HEAD", TG_SV_ARG(s->ref->rev)), s->err);
    tg_err_set(s->err, TG_ERR_LOST, TG_NOWHERE, "no tag '%.*s' names a commit before HEAD",
               TG_SV_ARG(s->ref->rev));
    return tg_err_hint(s->err, "Fetch the tags (`git fetch --tags`; fetch-depth: 0 brings them); "
                               "`on_lost: pass` does without a release.");
}

bool tg_baseline_commit(struct tg_git *g, const struct tg_baseline_ref *ref,
                        const struct tg_ci_env *env, struct tg_arena *a, struct tg_commit *out,
                        struct tg_err *err)
{
    struct search s = { .g = g, .ref = ref, .env = env, .a = a, .out = out, .err = err };
    if (ref->choice == TG_CHOICE_REV)
        return tg_git_resolve(g, tg_arena_sv(a, ref->rev).p, a, out, err);
    if (ref->head)
        (void)snprintf(s.head.sha, sizeof s.head.sha, "%s", ref->head);
    else if (!tg_git_head(g, &s.head, err))
        return false;
    if (!tg_git_parents(g, s.head.sha, &s.parents, err))
        return false;
    if (ref->choice == TG_CHOICE_PARENT || (ref->head && ref->choice != TG_CHOICE_RELEASE))
        return first_parent(&s, TG_HOW_PARENT, TG_SV("HEAD^1"), "first parent of HEAD");
    return ref->choice == TG_CHOICE_RELEASE ? last_release(&s) : merge_base(&s);
}

/* ---- walking back ---- */

enum tg_seen tg_git_step_back(struct tg_git *g, const char *sha, struct tg_arena *a,
                              struct tg_commit *out, bool *cut, struct tg_err *err)
{
    struct tg_parents p;
    *cut = false;
    if (!tg_git_parents(g, sha, &p, err))
        return TG_SEEN_FAILED;
    if (!p.n)
        return TG_ABSENT;
    enum tg_seen seen = tg_git_commit(g, p.sha[0], a, out, err);
    if (seen != TG_ABSENT)
        return seen;
    *cut = tg_git_is_shallow(g);
    if (*cut)
        return TG_ABSENT;
    tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "commit %.12s is missing", p.sha[0]);
    tg_err_hint(err, "The repository is damaged: run `git fsck`, or clone again.");
    return TG_SEEN_FAILED;
}

bool tg_baseline_window(struct tg_git *g, const struct tg_commit *from, unsigned n,
                        struct tg_arena *a, struct tg_commit **out, size_t *n_out,
                        struct tg_err *err)
{
    struct tg_commit *v = TG_NEW_N(a, struct tg_commit, n ? n : 1);
    enum tg_seen seen = from->sha[0] && n ? TG_SEEN : TG_ABSENT;
    size_t k = 0;
    bool cut;
    if (seen == TG_SEEN)
        v[k++] = *from;
    while (seen == TG_SEEN && k < n) {
        seen = tg_git_step_back(g, v[k - 1].sha, a, &v[k], &cut, err);
        if (seen != TG_SEEN)
            break;
        v[k].how = from->how;
        v[k].ref = from->ref;
        v[k].found = TG_SV_PRINTF(a, "%zu before the %.*s", k, TG_SV_ARG(from->found));
        k++;
    }
    *out = v;
    *n_out = k;
    return seen != TG_SEEN_FAILED;
}

/* Is any of the policy's paths a file of this commit? */
static enum tg_seen has_policy(struct tg_git *g, const char *sha, const struct tg_find_opts *o,
                               struct tg_err *err)
{
    for (size_t i = 0; i < o->n_policy_paths; i++) {
        TG_BUF text = { 0 };
        bool found, ok = tg_git_read_path(g, sha, o->policy_paths[i], &text, &found, err);
        if (!ok)
            return TG_SEEN_FAILED;
        if (found)
            return TG_SEEN;
    }
    return TG_ABSENT;
}

/* Only for the message of LOST, so an error counts as nothing seen; not in a partial clone,
 * where each step could be a fetch. */
static unsigned last_seen(struct tg_git *g, const struct tg_commit *from, unsigned walked,
                          const struct tg_find_opts *o, struct tg_arena *a)
{
    struct tg_commit at = *from, next;
    struct tg_git_files files;
    struct tg_err ignored = TG_ERR_INIT;
    bool cut;
    if (tg_git_is_partial(g))
        return 0;
    for (unsigned k = 1; k <= TG_LOOK_BEYOND; k++, at = next) {
        if (tg_git_step_back(g, at.sha, a, &next, &cut, &ignored) != TG_SEEN ||
            !tg_git_list(g, next.sha, o->path, a, &files, &ignored))
            return 0;
        if (files.n)
            return walked + k;
    }
    return 0;
}

static bool not_found(struct tg_git *g, const struct tg_find_opts *o, bool policy,
                      struct tg_baseline *out, struct tg_err *err)
{
    char what[640];
    bool lost = policy || o->explicit_side;
    out->found = lost ? TG_FOUND_LOST : TG_FOUND_FIRST_RUN;
    if (!lost || !out->cut || !tg_git_is_shallow(g))
        return true;
    (void)snprintf(what, sizeof what, "baseline '%s' of commit %.12s or of one of its ancestors",
                   o->path, out->start.sha);
    return tg_git_shallow(what, err);
}

void tg_git_use(struct tg_baseline *out, const struct tg_commit *at, struct tg_arena *a)
{
    out->found = out->walked ? TG_FOUND_GAP : TG_FOUND;
    out->commit = *at;
    out->commit.how = out->start.how;
    out->commit.ref = out->start.ref;
    out->commit.found = out->start.found;
    if (out->walked)
        out->commit.found = TG_SV_PRINTF(a, "%u commit%s before the %.*s", out->walked,
                                         out->walked == 1 ? "" : "s", TG_SV_ARG(out->start.found));
}

bool tg_baseline_find(struct tg_git *g, const struct tg_commit *start, const struct tg_find_opts *o,
                      struct tg_arena *a, struct tg_baseline *out, struct tg_err *err)
{
    struct tg_commit at = *start, next;
    enum tg_seen policy = TG_ABSENT, back;
    *out = (struct tg_baseline){ .start = *start };
    if (!tg_git_tree_path(g, o->path, a, &out->path, err))
        return false;
    if (!start->sha[0])
        return not_found(g, o, false, out, err);
    for (;; out->walked++, at = next) {
        if (!tg_git_list(g, at.sha, o->path, a, &out->files, err))
            return false;
        if (out->files.n)
            break;
        if (policy == TG_ABSENT)
            policy = has_policy(g, at.sha, o, err);
        if (policy == TG_SEEN_FAILED)
            return false;
        if (out->walked == o->max_walk) {
            if (policy == TG_SEEN || o->explicit_side)
                out->beyond = last_seen(g, &at, out->walked, o, a);
            return not_found(g, o, policy == TG_SEEN, out, err);
        }
        back = tg_git_step_back(g, at.sha, a, &next, &out->cut, err);
        if (back == TG_SEEN_FAILED)
            return false;
        if (back == TG_ABSENT)
            return not_found(g, o, policy == TG_SEEN, out, err);
    }
    tg_git_use(out, &at, a);
    return true;
}

bool tg_baseline_missing(const struct tg_baseline *b, struct tg_err *err)
{
    if (b->walked)
        tg_err_set(err, TG_ERR_LOST, TG_NOWHERE,
                   "no baseline `%.*s` in commit %.12s (%.*s), nor in the %u before it",
                   TG_SV_ARG(b->path), b->start.sha, TG_SV_ARG(b->start.found), b->walked);
    else
        tg_err_set(err, TG_ERR_LOST, TG_NOWHERE, "no baseline `%.*s` in commit %.12s (%.*s)",
                   TG_SV_ARG(b->path), b->start.sha, TG_SV_ARG(b->start.found));
    if (tg_sv_starts(b->path, TG_SV("stored:")))
        return tg_err_hint(err, "Fetch what is stored (`tracegate baseline fetch`), or record one "
                                "on the target branch (`tracegate baseline record`).");
    if (b->beyond)
        return tg_err_hint(err,
                           "It was last there %u commits back: raise baseline.max_walk to "
                           "%u, or commit a newer one.",
                           b->beyond, b->beyond);
    return tg_err_hint(err, "Commit a baseline at that path on the target branch: one that this "
                            "branch adds does not count. Or correct the path, which starts at the "
                            "repository's root.");
}
