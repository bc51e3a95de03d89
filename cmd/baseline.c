/* tracegate baseline: the store of baselines in git. One command with a verb as first argument;
 * what each does locally is core/baseline/store.h, over the network core/baseline/remote.h. */
#include <unistd.h>

#include "cmd/baseline.h"
#include "cmd/options.h"

#define AT(kind, member) TG_OPT_##kind, offsetof(struct tg_baseline_opts, member)
static const struct tg_opt baseline_options[] = {
    { "suite", AT(STR, suite), "NAME",
      "this suite only; default: the policy's (record: its only one), or `default`" },
    { "commit", AT(STR, commit), "REV",
      "record, show, push: the commit, default HEAD; fetch: where the walk begins" },
    { "remote", AT(STR, remote), "NAME",
      "fetch, push: default origin; list, prune: that remote's store instead of this clone's" },
    { "policy", AT(STR, policy), "FILE",
      "the policy with the suites and windows; default: .tracegate.yml here or above" },
    { "keep", AT(LIST, keep), "N|AGE|weekly|monthly",
      "prune: keep the N newest commits of each suite, all that are younger than 60d, 8w or 2y, "
      "and of older ones one a week or month; repeatable" },
    { "keep-tags", AT(STR, keep_tags), "GLOB",
      "prune: which tags keep their night, the last one stored up to theirs; default: *" },
    { "trust-clock", AT(FLAG, trust_clock), NULL,
      "prune: count ages from now, however far the newest run is from it" },
    { "out", AT(STR, output), "FILE", "show: write the runs as one summary" },
    { "all", AT(FLAG, all), NULL, "fetch: the runs of every commit, as `history` needs them" },
    { "dry-run", AT(FLAG, dry_run), NULL, "say what would be done" },
    TG_GIVEN_META(struct tg_baseline_opts, given, "record: "),
    TG_GIVEN_RUNS(struct tg_baseline_opts, given, "record: "),
    TG_GIVEN_JSON(struct tg_baseline_opts, given, "record: "),
    TG_GIVEN_TRUST(struct tg_baseline_opts, given),
    { 0 },
};

/* ---- the command ---- */

/* As in baseline_verbs. */
enum verb { RECORD, SHOW, LIST, FETCH, PUSH, PRUNE };
static bool (*const runs[])(struct tg_store_cmd *s, struct tg_err *err) = {
    [RECORD] = tg_baseline_record, [SHOW] = tg_baseline_show, [LIST] = tg_baseline_list,
    [FETCH] = tg_baseline_fetch,   [PUSH] = tg_baseline_push, [PRUNE] = tg_baseline_prune,
};

static int baseline_run(const struct tg_cmd_call *c, struct tg_err *err)
{
    struct tg_store_cmd s = { .o = c->opts, .io = c->io, .repo = c->repo, .arena = c->arena };
    size_t verb;
    if (!tg_options_verb(&tg_cmd_baseline, c->args, &verb, err))
        return tg_err_exit_code(err->kind);
    if (verb != RECORD && c->args->n > 1) { /* it takes traces */
        (void)tg_err_usage(err, "baseline %s takes no argument, not '%s'",
                           "A suite is --suite NAME, a commit --commit REV.", c->args->v[0],
                           c->args->v[1]);
        return 2;
    }
    s.args = (struct tg_strs){ c->args->v + 1, c->args->n - 1, 0 };
    c->repo->opts.trust_owner = s.o->given.trust_repository;
    s.suites = (struct tg_suites){ .io = c->io, .repo = c->repo, .arena = c->arena };
    s.remote = (struct tg_remote){ .name = s.o->remote ? s.o->remote : "origin",
                                   .seed = (uint32_t)getpid(),
                                   .dry_run = s.o->dry_run };
    bool ok = tg_given_check(&s.o->given, err) && (s.git = tg_repo_get(s.repo, err));
    s.store = tg_store_open(s.git);
    if (ok && (verb == RECORD || verb == FETCH)) /* the others name what is stored */
        ok = tg_suites_load(&s.suites, s.o->policy, NULL, err) &&
             tg_suites_choose(&s.suites, s.o->suite, s.args.n ? TG_SUITES_ONE : TG_SUITES_ALL, err);
    ok = ok && runs[verb](&s, err);
    /* What was done stands, also where something after it failed. */
    ok = (!s.out.n || tg_io_put(s.io, tg_buf_sv(&s.out), err)) && ok;
    tg_policy_free(s.suites.policy);
    tg_buf_release(&s.out);
    return ok ? 0 : tg_err_exit_code(err->kind);
}

static const struct tg_verb baseline_verbs[] = {
    { "record", "[TRACE…]",
      "stores the runs of TRACE… (default: the suite's own files) for a commit.",
      "suite commit policy dry-run meta runs ranks strict-json allow-truncated trust-repository" },
    { "show", "", "lists the runs of one commit, with its largest rows.",
      "suite commit policy out trust-repository" },
    { "list", "", "lists the commits that runs are stored of.",
      "suite remote policy trust-repository" },
    { "fetch", "",
      "gets what check will look for: the commit it starts at and its ancestors within max_walk; "
      "also what people said about events (history accept).",
      "suite commit remote policy all dry-run trust-repository" },
    { "push", "", "sends the runs of one commit, and what people said about events.",
      "suite commit remote policy dry-run trust-repository" },
    { "prune", "", "deletes old runs, and with --remote there too.",
      "suite remote policy keep keep-tags trust-clock dry-run trust-repository" },
    { 0 },
};

const struct tg_cmd tg_cmd_baseline = {
    .name = "baseline",
    .summary = "the store of baselines in git: record, show, list, fetch, push, prune",
    .synopsis = "ACTION [options]",
    .about =
        "Keeps summaries in git, beside the history: one ref for each recorded run, "
        "refs/tracegate/v1/SUITE/COMMIT/RUN. Runs are immutable, several jobs may write at once, "
        "equal traces are stored once, and a plain clone or fetch does not transfer them.\n\n"
        "A commit has room for 1,000,000 bytes of each suite as git packs them, and one run for a "
        "fifth of it. record says what it omits from a run, and which runs it did not store, for "
        "want of room.\n\n"
        "On the main branch: tracegate baseline record out/*.json.gz --runs && tracegate baseline "
        "push. In a pull request: tracegate baseline fetch && tracegate check out/*.json.gz "
        "--runs.\n\n"
        "Git does everything on the network, with its own credentials, without prompts. A push "
        "that lost a race is tried again; one that the remote forbids is not.",
    .options = baseline_options,
    .was = (const struct tg_opt_was[]){ { "older-than", "keep" }, { "then", "keep" }, { 0 } },
    .opts_size = sizeof(struct tg_baseline_opts),
    .verbs = baseline_verbs,
    .run = baseline_run,
};
