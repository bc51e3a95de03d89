#include "cmd/gate/gate.h"

#include <time.h>

const char *tg_gate_env(const struct tg_io *io, const char *name)
{
    const char *v = tg_io_env(io, name);
    return v && *v ? v : NULL;
}

int64_t tg_gate_today(const struct tg_io *io)
{
    int64_t seconds;
    const char *fixed = tg_gate_env(io, "SOURCE_DATE_EPOCH");
    if (!fixed || !tg_sv_i64(tg_sv_of(fixed), &seconds))
        seconds = (int64_t)time(NULL);
    return seconds / 86400;
}

static bool read_tree(void *arg, const char *path, struct tg_buf *out, struct tg_err *err)
{
    const struct tg_gate_tree *t = arg;
    bool found;
    if (!tg_git_read_path(t->git, t->commit.sha, path, out, &found, err))
        return false;
    return found || tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "commit %.12s has no file '%s'",
                               t->commit.sha, path);
}

bool tg_gate_policy_source(struct tg_policy_opts *o, struct tg_gate_tree *tree,
                           struct tg_repo *repo, struct tg_arena *a, struct tg_err *err)
{
    struct tg_input in;
    struct tg_err no_input;
    tg_err_init(&no_input);
    if (!tg_input_parse(&in, o->path, a, &no_input) || in.kind != TG_INPUT_GIT_PATH)
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

struct tg_policy *tg_gate_policy(const char *path, const char *profile, const struct tg_io *io,
                                 struct tg_repo *repo, struct tg_arena *a, struct tg_err *err)
{
    struct tg_policy_opts po = { .path = path, .profile = profile, .today = tg_gate_today(io) };
    struct tg_gate_tree tree;
    struct tg_policy *policy;
    struct tg_diags diags;
    struct tg_err ignored;
    struct tg_buf text = { 0 };
    tg_err_init(&ignored);
    struct tg_git *git = tg_repo_get(repo, &ignored); /* no repository is fine here */
    po.root = git ? tg_git_root(git) : NULL;
    if (po.path ? !tg_gate_policy_source(&po, &tree, repo, a, err)
                : !tg_policy_find(".", po.root, a, &po.path, err))
        return NULL;
    if (profile && strcmp(profile, "auto") == 0) {
        const char *event = tg_gate_env(io, "GITHUB_EVENT_NAME");
        po.profile = event ? tg_policy_profile_for(event) : NULL;
        po.profile_may_lack = true;
    }
    tg_diags_init(&diags);
    policy = tg_policy_load(&po, &diags, err);
    if (!policy && diags.n) {
        tg_diags_text(&diags, &text);
        tg_io_lines(io, tg_buf_sv(&text));
    }
    tg_buf_release(&text);
    tg_diags_release(&diags);
    return policy;
}

const struct tg_suite *tg_gate_default_suite(struct tg_arena *a)
{
    struct tg_suite *s = TG_NEW(a, struct tg_suite);
    s->name = TG_SV("default");
    return s;
}

const struct tg_suite *tg_gate_suite(const struct tg_policy *p, const char *name,
                                     struct tg_arena *a, struct tg_err *err)
{
    for (size_t i = 0; name && i < p->n_suites; i++)
        if (tg_sv_eq(p->suites[i].name, tg_sv_of(name)))
            return &p->suites[i];
    if (name) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "the policy has no suite '%s'", name);
        (void)tg_err_hint(err, "tracegate policy show lists its suites.");
        return NULL;
    }
    if (p->n_suites > 1) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE,
                   "the policy has %zu suites: which one do these traces belong to?", p->n_suites);
        (void)tg_err_hint(err, "Add --suite NAME.");
        return NULL;
    }
    return p->n_suites ? &p->suites[0] : tg_gate_default_suite(a);
}

void tg_gate_reading(struct tg_summarize_opts *out, const struct tg_policy *p,
                     const struct tg_suite *suite)
{
    const struct tg_window *w = &suite->window;
    out->classes = &p->classes;
    for (size_t i = 0; i < p->n_rules; i++)
        out->frame_sorts |= tg_frame_sorts(p->rules[i].match.kinds);
    if (w->by == TG_BY_ANNOTATION && w->name) {
        out->window.by = TG_WINDOW_ANNOTATION;
        out->window.name = tg_pattern_text(w->name);
    } else if (w->by == TG_BY_TRACE) {
        out->window.by = TG_WINDOW_WHOLE;
    }
}

void tg_gate_compare_opts(struct tg_compare_opts *out, const struct tg_policy *p,
                          const struct tg_suite *suite, struct tg_arena *a)
{
    tg_sv *ignore = TG_NEW_N(a, tg_sv, p->noise.ignore.n + 1);
    tg_sv *same = TG_NEW_N(a, tg_sv, 8);
    struct tg_kv *aliases = TG_NEW_N(a, struct tg_kv, p->n_aliases + 1);
    size_t n_same = 0;
    for (size_t i = 0; i < p->noise.ignore.n; i++)
        ignore[i] = tg_pattern_text(p->noise.ignore.v[i]);
    for (unsigned k = 0; k < 5; k++)
        if (p->baseline.require_same & 1u << k)
            same[n_same++] = tg_sv_of(tg_same_name((enum tg_same)k));
    for (size_t i = 0; i < p->n_aliases; i++)
        aliases[i] = (struct tg_kv){ p->aliases[i].from, p->aliases[i].to };
    *out = (struct tg_compare_opts){
        .aliases = aliases,
        .n_aliases = p->n_aliases,
        .skip_first = (unsigned)suite->window.skip_first,
        .skip_last = (unsigned)suite->window.skip_last,
        .ignore = p->noise.ignore.n ? ignore : NULL,
        .n_ignore = p->noise.ignore.n,
        .min_runs = (unsigned)p->noise.min_runs,
        .drift_limit = p->noise.drift / 100,
        .require_same = same,
        .n_require_same = n_same,
        .classes = &p->classes,
    };
}

static bool find_runs(struct tg_input_list *list, const struct tg_gate_runs *r,
                      struct tg_repo *repo, struct tg_arena *a, struct tg_err *err)
{
    for (size_t i = 0; i < r->args->n; i++)
        if (!tg_inputs_add(list, r->args->v[i], NULL, repo, a, err))
            return false;
    if (r->args->n)
        return true;
    if (r->suite->baseline.n)
        return tg_inputs_add(list, tg_arena_printf(a, "HEAD:%.*s", TG_SV_ARG(r->suite->baseline)),
                             NULL, repo, a, err);
    tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "%s needs traces", r->command);
    return tg_err_hint(err, "Name runs of one commit: tracegate %s out/run*.json.gz", r->command);
}

bool tg_gate_load_runs(struct tg_side *out, struct tg_summary *summary,
                       const struct tg_gate_runs *r, const struct tg_io *io, struct tg_repo *repo,
                       struct tg_arena *a, struct tg_err *err)
{
    struct tg_summarize_opts so = {
        .load = { .reader = { .want_args = true }, .want_facts = true, .want_memory = true },
        .rank = -1,
    };
    struct tg_input_list list = { 0 };
    struct tg_progress_line progress;
    bool unranked = true, ok;
    tg_gate_reading(&so, r->policy, r->suite);
    if (!find_runs(&list, r, repo, a, err))
        return false;
    tg_progress_start(&progress, io);
    ok = tg_inputs_load(summary, &list, &so, repo, &progress.line, err);
    tg_progress_end(&progress);
    for (size_t i = 0; ok && i < summary->n; i++)
        unranked &= summary->shards[i]->rank < 0;
    ok = ok && tg_side_arrange(out, summary, unranked ? TG_ARRANGE_RUNS : TG_ARRANGE_AUTO, a, err);
    if (ok && out->n_runs < r->min_runs) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "%zu run%s: %s needs at least %zu", out->n_runs,
                   out->n_runs == 1 ? "" : "s", r->command, r->min_runs);
        return tg_err_hint(err, "Record the same commit more often; each run is a process of its "
                                "own.");
    }
    return ok;
}

bool tg_gate_same_open(struct tg_gate_same *s, const struct tg_gate_opts *o,
                       const struct tg_strs *args, const char *command, size_t min_runs,
                       const struct tg_io *io, struct tg_err *err)
{
    struct tg_gate_runs runs = { .args = args, .command = command, .min_runs = min_runs };
    *s = (struct tg_gate_same){ .arena = tg_arena_new() };
    tg_summary_init(&s->summary);
    runs.policy = s->policy = tg_gate_policy(o->policy, o->profile, io, &s->repo, s->arena, err);
    if (!s->policy)
        return false;
    runs.suite = s->suite = tg_gate_suite(s->policy, o->suite, s->arena, err);
    if (!s->suite || !tg_gate_load_runs(&s->all, &s->summary, &runs, io, &s->repo, s->arena, err))
        return false;
    tg_gate_compare_opts(&s->compare, s->policy, s->suite, s->arena);
    return true;
}

void tg_gate_same_release(struct tg_gate_same *s)
{
    tg_policy_free(s->policy);
    tg_summary_release(&s->summary);
    tg_repo_release(&s->repo);
    tg_arena_free(s->arena);
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

static bool compare(struct tg_comparison *out, struct tg_gate *g, const struct tg_compare_opts *o,
                    struct tg_err *err)
{
    return tg_compare(out, &g->side[TG_BASE], &g->side[TG_TEST], o, g->arena, err);
}

static const struct tg_comparison *compare_part(void *arg, const struct tg_part *part,
                                                struct tg_err *err)
{
    struct tg_gate *g = arg;
    struct tg_compare_opts o = g->compare;
    struct tg_comparison *one = TG_NEW(g->arena, struct tg_comparison);
    int64_t *ranks = TG_NEW(g->arena, int64_t);
    *ranks = part->rank;
    if (part->rank >= 0) {
        o.ranks[0] = o.ranks[1] = ranks;
        o.n_rank_numbers[0] = o.n_rank_numbers[1] = 1;
    }
    o.devices = part->devices->n ? part->devices->v : NULL;
    o.n_devices = part->devices->n;
    o.streams = part->streams->n ? part->streams->v : NULL;
    o.n_streams = part->streams->n;
    return compare(one, g, &o, err) ? one : NULL;
}

bool tg_gate_judge(struct tg_verdict *out, struct tg_gate *g, struct tg_err *err)
{
    const char *head = tg_gate_env(g->io, "GITHUB_HEAD_REF");
    struct tg_eval_input in = { .policy = g->policy,
                                .suite = g->suite,
                                .comparison = &g->comparison,
                                .of_part = compare_part,
                                .arg = g,
                                .today = tg_gate_today(g->io),
                                .waivers_used = g->waivers_used,
                                .more_suites = g->more_suites,
                                .event = tg_gate_env(g->io, "GITHUB_EVENT_NAME"),
                                .branch = head ? head : tg_gate_env(g->io, "GITHUB_REF_NAME") };
    return compare(&g->comparison, g, &g->compare, err) && tg_eval(out, &in, g->arena, err);
}
