/*
 * What `check` looks at behind the baseline: earlier baselines (noise.history), the results between
 * it and HEAD (`sustained:`), and the policy of its commit.
 */
#include "cmd/check.h"
#include "policy/language/changes.h"

enum tg_arrange tg_check_arrange(const struct check *c, const struct job *j)
{
    if (c->o->runs || c->o->ranks)
        return c->o->runs ? TG_ARRANGE_RUNS : TG_ARRANGE_RANKS;
    return j->suite->trace.run.n && !j->suite->trace.rank.n ? TG_ARRANGE_RUNS : TG_ARRANGE_AUTO;
}

/* noise.history: baselines of commits before the one that was found. */
static bool load_earlier(struct check *c, struct job *j, struct tg_err *err)
{
    struct tg_summarize_opts so =
        tg_suite_reading(c->suites.policy, j->suite, c->o->strict_json, c->o->allow_truncated);
    j->earlier = (struct tg_earlier){ .suites = &c->suites,
                                      .suite = j->suite,
                                      .reading = &so,
                                      .arrange = tg_check_arrange(c, j),
                                      .want = (size_t)c->suites.policy->noise.history };
    if (!j->earlier.want || !j->commit[0])
        return true;
    if (!tg_earlier_load(&j->earlier, j->commit, &j->base, &j->gate.side[TG_BASE], c->repo.git,
                         err))
        return false;
    j->gate.earlier = j->earlier.side;
    j->gate.n_earlier = j->earlier.n;
    return true;
}

static void note_earlier(struct check *c, struct job *j)
{
    if (!j->earlier.want)
        return;
    if (j->commit[0])
        tg_verdict_add_note(&j->verdict, c->arena, !j->earlier.n, false,
                            tg_earlier_text(&j->earlier, c->arena), TG_SV(""));
    else
        tg_verdict_add_note(&j->verdict, c->arena, true, false,
                            TG_SV("no earlier baseline took part: this one was named by its path"),
                            TG_SV("noise.history looks behind a baseline that is found in a "
                                  "commit."));
}

/* A change that brings its own limits says so: what its policy lets pass that the base's did not.
 */
static void note_policy(struct check *c, struct job *j)
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

static size_t longest_row(const struct tg_policy *p)
{
    int64_t most = 1;
    for (size_t i = 0; i < p->n_rules; i++)
        most = p->rules[i].sustained > most ? p->rules[i].sustained : most;
    return (size_t)most;
}

/*
 * `sustained:`: what is stored between the baseline and HEAD, each judged against the same baseline
 * by the same policy. Stored verdicts would be of other policies and other baselines.
 */
static bool judge_previous(struct check *c, struct job *j, struct tg_err *err)
{
    struct tg_summarize_opts so =
        tg_suite_reading(c->suites.policy, j->suite, c->o->strict_json, c->o->allow_truncated);
    size_t row = longest_row(c->suites.policy);
    struct tg_verdict *v;
    struct tg_commit head;
    j->gate.sustain = true;
    if (row < 2 || !j->commit[0])
        return true;
    j->results = (struct tg_earlier){ .suites = &c->suites,
                                      .suite = j->suite,
                                      .reading = &so,
                                      .arrange = tg_check_arrange(c, j),
                                      .want = row - 1,
                                      .until = j->commit };
    if (!tg_git_resolve(c->repo.git, "HEAD", c->arena, &head, err) ||
        !tg_earlier_load(&j->results, head.sha, &j->base, &j->gate.side[TG_BASE], c->repo.git, err))
        return false;
    v = TG_NEW_N(c->arena, struct tg_verdict, row);
    for (size_t i = 0; i < j->results.n; i++) {
        struct tg_gate *one = TG_NEW(c->arena, struct tg_gate);
        *one = j->gate;
        one->sustain = false;
        one->side[TG_TEST] = j->results.side[i];
        if (!tg_gate_judge(&v[i], one, err))
            return tg_err_context(err, "judging an earlier result");
    }
    j->gate.previous = v;
    j->gate.n_previous = j->results.n;
    return true;
}

bool tg_check_load_past(struct check *c, struct job *j, struct tg_err *err)
{
    return load_earlier(c, j, err) && judge_previous(c, j, err);
}

void tg_check_note_past(struct check *c, struct job *j)
{
    note_earlier(c, j);
    note_policy(c, j);
}
