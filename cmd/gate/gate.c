#include "cmd/gate/gate.h"

#include <math.h>

#include "cmd/gate/internal.h"
#include "cmd/gate/outliers.h"
#include "core/baseline/store.h"
#include "core/diff/confirm.h"
#include "core/diff/numbers.h"

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

void tg_check_begin(struct tg_check *c, struct tg_check_job *j)
{
    j->gate.policy = j->policy;
    j->gate.suite = j->suite;
    j->gate.io = c->io;
    j->gate.arena = c->arena;
    j->gate.waivers_used = c->waivers_used;
    j->gate.more_suites = c->n_judged + 1 < c->n_jobs;
    tg_gate_compare_opts(&j->gate.compare, j->policy, j->suite, c->arena);
}

static size_t fewer_runs(const struct tg_side side[2])
{
    size_t n[2] = { side[TG_BASE].n_runs, side[TG_TEST].n_runs };
    return n[TG_BASE] < n[TG_TEST] ? n[TG_BASE] : n[TG_TEST];
}

/* New runs are compared by themselves, with the same options. */
static bool compare(struct tg_comparison *out, const struct tg_gate *g,
                    const struct tg_compare_opts *o, struct tg_arena *a, struct tg_err *err)
{
    if (!tg_compare(out, &g->side[TG_BASE], &g->side[TG_TEST], o, a, err))
        return false;
    out->in_turn = g->io->in_turn || g->ask;
    if (!g->ask)
        return true;
    size_t new = g->has_again ? fewer_runs(g->again) : 0;
    struct tg_asking *asking = TG_NEW(a, struct tg_asking);
    out->asking = asking;
    *asking = tg_asking_of(fewer_runs(g->side), new, g->ask->most, g->ask->detect);
    out->n_withheld = 0; /* each is a suspect */
    if (!g->has_again)
        return true;
    struct tg_comparison *again = TG_NEW(a, struct tg_comparison);
    if (!tg_compare(again, &g->again[TG_BASE], &g->again[TG_TEST], o, a, err))
        return tg_err_context(err, "comparing the new runs");
    asking->again = again;
    asking->disturbed = again->drift > fmax(out->drift, 0) + log1p(TG_RESTLESS);
    tg_confirm_whole(out);
    return true;
}

/* Compares one part, has it judged, and forgets it. */
static bool judge_part(struct tg_eval_state *e, struct tg_gate *g, const struct tg_part *part,
                       struct tg_err *err)
{
    struct tg_compare_opts o = g->compare;
    struct tg_comparison one;
    TG_ARENA *a = tg_arena_new();
    if (part->rank >= 0) {
        o.ranks[0] = o.ranks[1] = &part->rank;
        o.n_rank_numbers[0] = o.n_rank_numbers[1] = 1;
    }
    o.devices = part->devices->n ? part->devices->v : NULL;
    o.n_devices = part->devices->n;
    o.streams = part->streams->n ? part->streams->v : NULL;
    o.n_streams = part->streams->n;
    bool ok = compare(&one, g, &o, a, err);
    if (ok)
        tg_eval_part(e, &one);
    return ok;
}

/* "fresh run run03.json.gz (1.4 times the usual step, 9 of 12 large operators are slower)" of
 * each run that is not like the others of its side and look; "" none. */
static const char *disturbed_runs(const struct tg_gate *g)
{
    TG_BUF b = { 0 };
    for (int k = 0; k < (g->has_again ? 4 : 2); k++) {
        const struct tg_side *side = k < 2 ? &g->side[k] : &g->again[k - 2];
        size_t n = 0;
        const struct tg_outlier *v =
            side->n_runs < TG_ASK_FIRST ? NULL : tg_outliers_find(side, &n, g->arena);
        for (size_t i = 0; i < n; i++)
            if (v[i].why == TG_OUTLIER_BUSY)
                tg_buf_printf(&b,
                              "%s%s run %.*s (%.1f times the usual step, %zu of %zu large "
                              "operators are slower)",
                              b.n ? ", " : "", k % 2 ? "fresh" : "baseline",
                              TG_SV_ARG(v[i].shard->source), v[i].times, v[i].slower, v[i].large);
    }
    return tg_arena_sv(g->arena, tg_buf_sv(&b)).p;
}

bool tg_gate_judge(struct tg_verdict *out, struct tg_gate *g, struct tg_err *err)
{
    const char *head = tg_io_env(g->io, "GITHUB_HEAD_REF");
    struct tg_eval_input in = { .policy = g->policy,
                                .suite = g->suite,
                                .comparison = &g->comparison,
                                .damage = { &g->damage[TG_BASE], &g->damage[TG_TEST] },
                                .today = tg_io_today(g->io),
                                .waivers_used = g->waivers_used,
                                .more_suites = g->more_suites,
                                .alone = g->alone,
                                .event = tg_io_env(g->io, "GITHUB_EVENT_NAME"),
                                .branch = head ? head : tg_io_env(g->io, "GITHUB_REF_NAME") };
    struct tg_part part;
    in.ask_known = g->known ? tg_known_find : NULL;
    in.known_arg = g->known;
    if (g->compared)
        g->comparison = *g->compared;
    else if (!compare(&g->comparison, g, &g->compare, g->arena, err))
        return false;
    if (g->comparison.busy || g->comparison.drifted) /* which run is it? */
        in.disturbed = disturbed_runs(g);
    struct tg_eval_state *e = tg_eval_begin(out, &in, g->arena);
    while (tg_eval_wants(e, &part))
        if (!judge_part(e, g, &part, err)) {
            tg_eval_drop(e);
            return false;
        }
    tg_eval_end(e);
    if (!g->known || g->known->err.kind == TG_ERR_NONE)
        return true;
    *err = g->known->err;
    return tg_err_context(err, "looking for what earlier nights know of this failure");
}

/* ---- runs of one commit ---- */

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
