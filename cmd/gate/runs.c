#include "cmd/gate/runs.h"

#include "core/baseline/store.h"

static bool find_runs(struct tg_input_list *list, const struct tg_gate_runs *r,
                      struct tg_repo *repo, struct tg_arena *a, struct tg_err *err)
{
    struct tg_err ignored = TG_ERR_INIT;
    struct tg_commit head;
    struct tg_baseline b;
    if (r->args->n)
        return tg_inputs_add_all(list, r->args, repo, a, err);
    if (r->suite->baseline.n)
        return tg_inputs_add(list, tg_arena_printf(a, "HEAD:%.*s", TG_SV_ARG(r->suite->baseline)),
                             repo, a, err);
    struct tg_git *git = tg_repo_get(repo, &ignored);
    if (!git) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "%s needs traces", r->command);
        return tg_err_hint(err, "Name runs of one commit: tracegate %s out/run*.json.gz",
                           r->command);
    }
    /* What is stored of the suite at HEAD, or at the nearest commit before it. */
    struct tg_store store = tg_store_open(git);
    if (!tg_git_resolve(git, "HEAD", a, &head, err))
        return false;
    if (!tg_store_find(&store, &head, r->suite->name, (unsigned)r->policy->baseline.max_walk,
                       TG_STORE_BY_POLICY, a, &b, err))
        return false;
    if (b.found == TG_FOUND || b.found == TG_FOUND_GAP) {
        tg_inputs_add_git(list, b.commit.sha, &b.files, a);
        return true;
    }
    tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE,
               "%s needs traces: none are named, and nothing is stored for suite '%.*s' up to HEAD",
               r->command, TG_SV_ARG(r->suite->name));
    return tg_err_hint(err,
                       "Name runs of one commit: tracegate %s out/run*.json.gz; or fetch what the "
                       "remote has: tracegate baseline fetch.",
                       r->command);
}

bool tg_gate_load_runs(struct tg_side *out, struct tg_summary *summary,
                       const struct tg_gate_runs *r, const struct tg_io *io, struct tg_repo *repo,
                       struct tg_arena *a, struct tg_err *err)
{
    struct tg_summarize_opts so = tg_suite_reading(r->policy, r->suite);
    struct tg_input_list list = { 0 };
    bool unranked = true, ok;
    ok = find_runs(&list, r, repo, a, err) && tg_inputs_read(summary, &list, &so, repo, io, err);
    for (size_t i = 0; ok && i < summary->n; i++)
        unranked &= summary->shards[i]->rank < 0;
    ok = ok && tg_side_arrange(out, summary, unranked ? TG_ARRANGE_RUNS : TG_ARRANGE_AUTO, a, err);
    if (ok && out->n_runs < r->min_runs)
        return tg_err_usage(err, "%zu run%s: %s needs at least %zu",
                            "Record the same commit more often; each run is a process of its own.",
                            out->n_runs, out->n_runs == 1 ? "" : "s", r->command, r->min_runs);
    return ok;
}

bool tg_gate_same_open(struct tg_gate_same *s, const struct tg_gate_opts *o,
                       const struct tg_cmd_call *c, const char *command, size_t min_runs,
                       struct tg_err *err)
{
    struct tg_gate_runs runs = { .args = c->args, .command = command, .min_runs = min_runs };
    struct tg_suites suites = { .io = c->io, .repo = c->repo, .arena = c->arena };
    *s = (struct tg_gate_same){ .arena = c->arena };
    tg_summary_init(&s->summary);
    if (!tg_suites_load(&suites, o->policy, o->profile, err))
        return false;
    runs.policy = s->policy = suites.policy;
    if (!tg_suites_choose(&suites, o->suite, TG_SUITES_ONE, err))
        return false;
    runs.suite = s->suite = suites.v[0];
    if (!tg_gate_load_runs(&s->all, &s->summary, &runs, c->io, c->repo, c->arena, err))
        return false;
    tg_gate_compare_opts(&s->compare, s->policy, s->suite, s->arena);
    return true;
}

void tg_gate_same_release(struct tg_gate_same *s)
{
    tg_policy_free(s->policy);
    tg_summary_release(&s->summary);
}

struct tg_side tg_gate_subset(const struct tg_side *of, const size_t *run, size_t n,
                              struct tg_arena *a)
{
    struct tg_side s = *of;
    s.at = TG_NEW_N(a, const struct tg_shard **, n + 1);
    s.n_runs = n;
    for (size_t i = 0; i < n; i++)
        s.at[i] = of->at[run[i]];
    return s;
}
