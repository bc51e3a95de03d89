#include "cmd/gate/internal.h"
#include "core/base/utf8.h"
#include "policy/language/changes.h"
#include "policy/language/value.h"

/*
 * A change may bring its own policy, and so the rules that judge it. The policy in force on the
 * target branch, wherever its file is, is compared with the policy that judges now, with every
 * profile; each difference that lets more pass is reported.
 */

enum { MAX_TOLD = 50, MAX_VALUE = 160 };
static const char *const names[] = { ".tracegate.yml", ".tracegate.yaml" };

/* ---- the policy at a commit ---- */

/* What cannot be read is there: the comparison says why. */
static const char *file_at(struct tg_git *git, const char *sha, const char *path)
{
    TG_BUF text = { 0 };
    struct tg_err unread = TG_ERR_INIT;
    bool found, ok = tg_git_read_path(git, sha, path, &text, &found, &unread);
    return !ok || found ? path : NULL;
}

/* As tg_policy_find in the work tree: in `dir` ("" or "a/b/") or above. */
static const char *found_above(struct tg_check *c, struct tg_git *git, const char *sha, tg_sv dir)
{
    for (;;) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            const char *at =
                file_at(git, sha, tg_arena_printf(c->arena, "%.*s%s", TG_SV_ARG(dir), names[i]));
            if (at)
                return at;
        }
        if (!dir.n)
            return NULL;
        while (--dir.n && dir.p[dir.n - 1] != '/')
            continue;
    }
}

/* Another folder's: a policy that the change moved up, or one beside the present folder. */
static const char *found_elsewhere(struct tg_check *c, struct tg_git *git, const char *sha)
{
    static const char *const below[] = { "*/.tracegate.y*ml", "*/*/.tracegate.y*ml" };
    struct tg_git_files files;
    struct tg_err ignored = TG_ERR_INIT;
    for (size_t k = 0; k < sizeof below / sizeof *below; k++) {
        if (!tg_git_list(git, sha, below[k], c->arena, &files, &ignored))
            return below[k]; /* what cannot be read is there */
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            for (size_t at = 0; at < files.n; at++)
                if (tg_sv_eq(tg_file_name(files.v[at].path), tg_sv_of(names[i])))
                    return files.v[at].path.p;
    }
    return NULL;
}

/* The path in the tree of the policy that judges now; NULL: none, or outside. */
static const char *path_now(struct tg_check *c, struct tg_git *git)
{
    const struct tg_policy *p = c->suites.policy;
    struct tg_err ignored = TG_ERR_INIT;
    tg_sv path;
    return !p->built_in && tg_git_relative(git, p->file.p, c->arena, &path, &ignored) ? path.p
                                                                                      : NULL;
}

const char *tg_check_policy_at(struct tg_check *c, struct tg_git *git, const char *sha)
{
    const char *now = path_now(c, git), *at = NULL;
    if (!sha[0])
        return NULL;
    if (c->o->policy && now)
        at = file_at(git, sha, now);
    if (!at)
        at = found_above(c, git, sha, tg_sv_of(tg_git_prefix(git)));
    return at ? at : found_elsewhere(c, git, sha);
}

/* ---- notes ---- */

static tg_sv clipped(struct tg_check *c, tg_sv text)
{
    tg_sv head = tg_utf8_prefix(text, MAX_VALUE);
    if (!text.n)
        return TG_SV("gone");
    return head.n == text.n ? text : TG_SV_PRINTF(c->arena, "%.*s…", TG_SV_ARG(head));
}

static void tell(struct tg_check *c, struct tg_check_job *j, enum tg_reason reason,
                 const char *text, const char *next)
{
    tg_verdict_add_note(&j->verdict, c->arena, reason, tg_sv_of(text), tg_sv_of(next));
    j->verdict.notes[j->verdict.n_notes - 1].policy = true;
}

/* ", which is still there": the baseline of before, in the commit with the policy of before. */
static const char *still_there(struct tg_check *c, const struct tg_policy_change *x,
                               const char *sha)
{
    tg_sv path = x->before;
    struct tg_git_files files = { 0 };
    struct tg_err ignored = TG_ERR_INIT;
    if (path.n > 2 && path.p[0] == '"') /* as a policy writes it */
        path = (tg_sv){ path.p + 1, path.n - 2 };
    return sha && c->repo.git && tg_sv_ends(x->path, TG_SV(".baseline")) && path.n &&
                   tg_git_list(c->repo.git, sha, tg_arena_printf(c->arena, "%.*s", TG_SV_ARG(path)),
                               c->arena, &files, &ignored) &&
                   files.n
               ? tg_arena_printf(c->arena, "; traces are still at %.*s", TG_SV_ARG(x->before))
               : "";
}

/* With the policy at `where`; `named` is the same place for people, `first` is reported before
 * values that are looser, `sha` is its commit or NULL. */
static void compare_with(struct tg_check *c, struct tg_check_job *j, const char *where,
                         const char *named, const char *first, const char *sha)
{
    const struct tg_policy *now = c->suites.policy;
    const char *file = now->built_in ? "tracegate:recommended" : now->file.p;
    const char *next = tg_arena_printf(c->arena, "`tracegate policy diff %s %s`", named, file);
    const char *const places[] = { where, now->built_in || !c->o->policy ? file : c->o->policy };
    struct tg_policy_changes changes;
    struct tg_err why = TG_ERR_INIT;
    const struct tg_gate_policy_opts o = {
        .path = where, .profile = c->o->profile, .profile_may_lack = true, .undated = true
    };
    TG_AUTO(tg_diags_release) struct tg_diags diags;
    tg_diags_init(&diags);
    struct tg_policy *before = tg_gate_policy(&o, &diags, c->io, &c->repo, c->arena, &why);
    if (!before) {
        tell(c, j, TG_REASON_POLICY,
             tg_arena_printf(c->arena,
                             "whether the policy is looser than the baseline's is not known: %s",
                             why.message),
             next);
        return;
    }
    tg_policy_changes(&changes, before, now, c->arena);
    /* Another job may check the same change with another profile, a nightly one only after the
     * merge. */
    tg_diags_release(&diags);
    tg_diags_init(&diags);
    if (!tg_gate_policy_profiles(&changes, places, (const struct tg_policy *const[]){ before, now },
                                 &diags, c->io, &c->repo, c->arena, &why))
        tell(c, j, TG_REASON_POLICY,
             tg_arena_printf(c->arena,
                             "whether a profile is looser than the baseline's is not known: %s",
                             why.message),
             "");
    if (first && changes.n_looser)
        tell(c, j, TG_REASON_NOTE, first, "");
    for (size_t i = 0; i < changes.n_looser && i < MAX_TOLD; i++) {
        const struct tg_policy_change *x = &changes.v[i];
        const char *change = i ? "" : next;
        const char *at =
            x->at.file ? tg_arena_printf(c->arena, " (%s:%u)", x->at.file, x->at.line) : "";
        const char *how = x->direction == TG_LOOSER ? "the policy is looser than the baseline's"
                          : tg_sv_ends(x->path, TG_SV(".baseline"))
                              ? "the change has another baseline"
                              : "the policy may be looser than the baseline's";
        if (x->item) { /* `policy diff` has what is in it */
            tell(c, j, TG_REASON_POLICY,
                 tg_arena_printf(c->arena, "%s: %.*s is %s%s", how, TG_SV_ARG(x->path),
                                 x->to.n ? "new" : "gone", at),
                 change);
            continue;
        }
        tell(c, j, TG_REASON_POLICY,
             tg_arena_printf(c->arena, "%s: %.*s %.*s -> %.*s%s%s", how, TG_SV_ARG(x->path),
                             TG_SV_ARG(x->before.n ? clipped(c, x->before) : TG_SV("absent")),
                             TG_SV_ARG(clipped(c, x->to)), at, still_there(c, x, sha)),
             change);
    }
    if (changes.n_looser > MAX_TOLD)
        tell(c, j, TG_REASON_POLICY,
             tg_arena_printf(c->arena, "the policy is looser in %zu more values",
                             changes.n_looser - MAX_TOLD),
             next);
    tg_policy_free(before);
}

/* Else `baseline: {ref: HEAD}` would hide what else the change does. */
enum tg_seen tg_check_change_start(struct tg_check *c, struct tg_git *git, struct tg_commit *out,
                                   struct tg_err *err)
{
    struct tg_baseline_ref usual = { .choice = TG_CHOICE_MERGE_BASE };
    struct tg_ci_env ci = tg_suites_ci(&c->suites);
    struct tg_err why = TG_ERR_INIT;
    if (tg_baseline_commit(git, &usual, &ci, c->arena, out, &why))
        return out->sha[0] ? TG_SEEN : TG_ABSENT;
    out->sha[0] = '\0';
    if (tg_err_exit_code(why.kind) != 3 || tg_git_is_shallow(git))
        return TG_ABSENT; /* no such branch here, or beyond the cut */
    *err = why;
    return TG_SEEN_FAILED;
}

/* With the commit that the change starts from; without one, the baseline's. */
void tg_check_note_policy(struct tg_check *c, struct tg_check_job *j)
{
    const struct tg_policy *p = c->suites.policy;
    struct tg_commit from;
    struct tg_err why = TG_ERR_INIT;
    struct tg_git *git;
    /* A build that repeats may fix the day; a day in the past revives what has expired since. */
    int64_t seconds;
    char day[16];
    if (p->n_waivers && tg_sv_i64(tg_sv_of(tg_io_env(c->io, "SOURCE_DATE_EPOCH")), &seconds)) {
        tg_value_date_text(tg_io_today(c->io), day);
        tell(
            c, j, TG_REASON_NOTE,
            tg_arena_printf(c->arena, "waivers are judged as of %s: SOURCE_DATE_EPOCH is set", day),
            "A waiver that ended since then still counts here, and would not by the clock. Unset "
            "it for this job.");
    }
    enum tg_seen seen = tg_repo_look(&c->repo, &why);
    git = c->repo.git;
    if (seen == TG_SEEN)
        seen = tg_check_change_start(c, git, &from, &why);
    if (seen == TG_SEEN_FAILED) {
        tell(c, j, TG_REASON_POLICY,
             tg_arena_printf(c->arena,
                             "whether the policy is looser than the baseline's is not known: %s",
                             why.message),
             tg_arena_printf(c->arena, "%s", why.hint));
    }
    if (seen == TG_SEEN_FAILED || !git)
        return;
    if (seen == TG_ABSENT)
        memcpy(from.sha, j->commit, sizeof from.sha);
    if (!from.sha[0])
        return;
    const char *path = tg_check_policy_at(c, git, from.sha), *now = path_now(c, git);
    if (path) {
        if (!now || strcmp(now, path) != 0)
            tell(c, j, TG_REASON_NOTE,
                 tg_arena_printf(c->arena,
                                 "the policy of the baseline's commit is %s, %s judges now", path,
                                 p->built_in ? "the built-in policy"
                                 : now       ? now
                                             : p->file.p),
                 "");
        compare_with(c, j, tg_arena_printf(c->arena, "%s:%s", from.sha, path),
                     tg_arena_printf(c->arena, "%.12s:%s", from.sha, path), NULL, from.sha);
    } else {
        /* The change brings the first policy: the built-in one judged before. Where nothing was
         * compared with a commit there was no gate yet. */
        bool judged =
            j->info.situation == TG_SITUATION_FOUND || j->info.situation == TG_SITUATION_GAP;
        struct tg_commit head = { 0 };
        struct tg_err ignored = TG_ERR_INIT;
        if (judged && now && tg_git_resolve(git, "HEAD", c->arena, &head, &ignored) &&
            file_at(git, head.sha, now))
            compare_with(c, j, "tracegate:recommended", "tracegate:recommended",
                         tg_arena_printf(c->arena,
                                         "the baseline's commit has no policy, so the built-in one "
                                         "judged there; %s judges now",
                                         now),
                         NULL);
    }
}
