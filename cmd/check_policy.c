#include "cmd/check.h"
#include "policy/language/changes.h"

/*
 * A change that brings its own limits says so: what its policy lets pass that the base's did not.
 */
void tg_check_note_policy(struct check *c, struct job *j)
{
    const struct tg_policy *now = c->suites.policy;
    struct tg_policy_opts po = { .profile = now->profile.n ? now->profile.p : NULL,
                                 .profile_may_lack = true };
    struct tg_policy_changes changes = { 0 };
    struct tg_policy *before = NULL;
    struct tg_gate_tree tree;
    struct tg_diags diags;
    struct tg_err ignored;
    tg_sv path;
    if (!j->commit[0] || now->built_in)
        return;
    tg_err_init(&ignored);
    tg_diags_init(&diags);
    if (tg_git_relative(c->repo.git, now->file.p, c->arena, &path, &ignored)) {
        po.path = tg_arena_printf(c->arena, "%s:%.*s", j->commit, TG_SV_ARG(path));
        if (tg_gate_policy_source(&po, &tree, &c->repo, c->arena, &ignored))
            before = tg_policy_load(&po, &diags, &ignored);
    }
    if (before)
        tg_policy_changes(&changes, before, now, c->arena);
    if (changes.n_looser) {
        const struct tg_policy_change *x = &changes.v[0];
        const char *more = changes.n_looser > 1
                               ? tg_arena_printf(c->arena, ", and %zu more", changes.n_looser - 1)
                               : "";
        tg_verdict_add_note(
            &j->verdict, c->arena, true, false,
            tg_sv_of(tg_arena_printf(c->arena,
                                     "the policy is looser than the baseline's: %.*s %.*s -> "
                                     "%.*s (%s:%u)%s",
                                     TG_SV_ARG(x->path), TG_SV_ARG(x->before),
                                     TG_SV_ARG(x->to.n ? x->to : TG_SV("gone")),
                                     x->at.file ? x->at.file : "", x->at.line, more)),
            tg_sv_of(tg_arena_printf(c->arena, "tracegate policy diff %.12s:%.*s %s", j->commit,
                                     TG_SV_ARG(path), now->file.p)));
    }
    tg_policy_free(before);
    tg_diags_release(&diags);
}
