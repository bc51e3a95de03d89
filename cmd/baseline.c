/*
 * tracegate baseline: the store of baselines in git. One command with a verb as first argument;
 * what each does locally is core/baseline/store.h, over the network core/baseline/remote.h.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cmd/baseline.h"
#include "core/base/file.h"
#include "core/base/utf8.h"
#include "core/summary/fit.h"
#include "reporters/escape.h"

static const struct tg_opt baseline_options[] = {
    { "suite", TG_OPT_STR, offsetof(struct tg_baseline_opts, suite), "NAME",
      "this suite only; default: the policy's (record: its only one), or `default`" },
    { "commit", TG_OPT_STR, offsetof(struct tg_baseline_opts, commit), "REV",
      "record, show, push: the commit, default HEAD; fetch: where the walk begins" },
    { "remote", TG_OPT_STR, offsetof(struct tg_baseline_opts, remote), "NAME",
      "fetch, push: default origin; list, prune: that remote's store instead of this clone's" },
    { "policy", TG_OPT_STR, offsetof(struct tg_baseline_opts, policy), "FILE",
      "take suites and windows from FILE; default: .tracegate.yml here or above" },
    { "keep", TG_OPT_INT, offsetof(struct tg_baseline_opts, keep), "N",
      "prune: keep the N newest commits of each suite" },
    { "older-than", TG_OPT_STR, offsetof(struct tg_baseline_opts, older_than), "AGE",
      "prune: only commits older than 90d, 12w or 2y" },
    { "o", TG_OPT_STR, offsetof(struct tg_baseline_opts, output), "FILE",
      "show: write the runs as one summary" },
    { "dry-run", TG_OPT_FLAG, offsetof(struct tg_baseline_opts, dry_run), NULL,
      "say what would be done" },
    TG_GIVEN_META(struct tg_baseline_opts, given, "record: "),
    TG_GIVEN_RUNS(struct tg_baseline_opts, given, "record: "),
    TG_GIVEN_JSON(struct tg_baseline_opts, given, "record: "),
    TG_GIVEN_TRUST(struct tg_baseline_opts, given),
    { 0 },
};

/* ---- list, show ---- */

static void put_date(struct tg_store_cmd *s, const struct tg_commit *c)
{
    char text[32];
    time_t t = (time_t)c->date;
    struct tm tm;
    if (c->date && gmtime_r(&t, &tm) && strftime(text, sizeof text, "%Y-%m-%d", &tm))
        tg_buf_printf(&s->out, "%s", text);
    else
        tg_buf_puts(&s->out, "not-here  ");
}

static bool listed(struct tg_store_cmd *s, struct tg_stored **v, size_t *n, size_t *foreign,
                   struct tg_err *err)
{
    *foreign = 0;
    if (s->o->remote)
        return tg_remote_list(s->git, &s->remote, tg_store_cmd_suite(s), s->arena, v, n, err);
    return tg_store_list(&s->store, tg_store_cmd_suite(s), NULL, s->arena, v, n, foreign, err);
}

/* The runs of one commit. */
struct listed_commit {
    const struct tg_stored *v;
    size_t runs;
    struct tg_commit at; /* date 0: not in this clone */
};

/* By suite, the oldest first; commits that are not here first, because nobody knows their date. */
static int by_date(const void *x, const void *y)
{
    const struct listed_commit *a = x, *b = y;
    int c = tg_sv_cmp(a->v->suite, b->v->suite);
    if (c)
        return c;
    if (a->at.date != b->at.date)
        return a->at.date < b->at.date ? -1 : 1;
    return strcmp(a->v->commit, b->v->commit);
}

static void put_commit(struct tg_store_cmd *s, const struct listed_commit *c)
{
    put_date(s, &c->at);
    tg_buf_printf(&s->out, "  %s  %zu run%s  %.*s", c->v->commit, c->runs, tg_plural(c->runs),
                  TG_SV_ARG(c->v->suite));
    if (c->at.summary.n) {
        tg_buf_puts(&s->out, "  ");
        tg_esc_terminal(&s->out, tg_utf8_prefix(c->at.summary, 72));
    }
    tg_buf_putc(&s->out, '\n');
}

/* One line a commit, in the order of history: date, commit, runs, suite, subject. */
static bool list(struct tg_store_cmd *s, struct tg_err *err)
{
    struct listed_commit *commits;
    struct tg_stored *v;
    size_t n, end, foreign, k = 0;
    if (!listed(s, &v, &n, &foreign, err))
        return false;
    commits = TG_NEW_N(s->arena, struct listed_commit, n + 1);
    for (size_t i = 0; i < n; i = end) {
        struct tg_err ignored;
        tg_err_init(&ignored);
        for (end = i; end < n && tg_sv_eq(v[end].suite, v[i].suite) &&
                      strcmp(v[end].commit, v[i].commit) == 0;)
            end++;
        commits[k] = (struct listed_commit){ .v = &v[i], .runs = end - i };
        if (!tg_git_resolve(s->git, v[i].commit, s->arena, &commits[k].at, &ignored))
            commits[k].at = (struct tg_commit){ 0 };
        k++;
    }
    if (k)
        qsort(commits, k, sizeof *commits, by_date);
    for (size_t i = 0; i < k; i++)
        put_commit(s, &commits[i]);
    if (foreign)
        tg_io_note(s->io, "%zu ref%s below " TG_STORE_PREFIX " are not of the store's form",
                   foreign, tg_plural(foreign));
    if (!n)
        tg_io_note(s->io, "nothing is stored %s", s->o->remote ? "there" : "in this clone");
    return true;
}

static void put_shard(struct tg_store_cmd *s, const struct tg_shard *shard)
{
    if (shard->left_out) {
        tg_buf_printf(&s->out, "    rank %" PRId64 "  %zu step%s  step times only\n", shard->rank,
                      shard->n_steps, tg_plural(shard->n_steps));
        return;
    }
    tg_sv device = tg_shard_env(shard, "device"), torch = tg_shard_env(shard, "torch");
    tg_buf_puts(&s->out, "    rank ");
    if (shard->rank < 0)
        tg_buf_puts(&s->out, "none");
    else
        tg_buf_printf(&s->out, "%" PRId64, shard->rank);
    tg_buf_printf(&s->out, "  %zu step%s  %" PRIu64 " spans  device %.*s  torch %.*s\n",
                  shard->n_steps, tg_plural(shard->n_steps), shard->spans,
                  device.n ? (int)device.n : 7, device.n ? device.p : "unknown",
                  torch.n ? (int)torch.n : 7, torch.n ? torch.p : "unknown");
}

static bool show_run(struct tg_store_cmd *s, const struct tg_git_file *f, struct tg_summary *all,
                     struct tg_err *err)
{
    struct tg_buf bytes = { 0 };
    struct tg_summary one;
    bool ok;
    tg_summary_init(&one);
    ok = tg_store_read(&s->store, f, &bytes, err) &&
         tg_summary_parse(&one, tg_buf_sv(&bytes), f->path.p, err);
    if (ok)
        tg_buf_printf(&s->out, "  %.*s  %zu bytes\n", TG_SV_ARG(f->path),
                      tg_packed_size(tg_buf_sv(&bytes)));
    for (size_t i = 0; ok && i < one.n; i++)
        put_shard(s, one.shards[i]);
    ok = ok && tg_summary_merge(all, &one, err);
    tg_summary_release(&one);
    tg_buf_release(&bytes);
    return ok;
}

static bool show_runs(struct tg_store_cmd *s, tg_sv suite, const struct tg_commit *at,
                      struct tg_summary *all, size_t *shown, struct tg_err *err)
{
    struct tg_git_files files;
    if (!tg_store_files(&s->store, suite, at->sha, s->arena, &files, err))
        return false;
    if (files.n)
        tg_buf_printf(&s->out, "%s  %.*s\n", at->sha, TG_SV_ARG(suite));
    for (size_t i = 0; i < files.n; i++)
        if (!show_run(s, &files.v[i], all, err))
            return false;
    *shown += files.n;
    return true;
}

static bool write_summary(const char *path, const struct tg_summary *all, struct tg_err *err)
{
    struct tg_buf bytes = { 0 };
    bool ok =
        tg_summary_write(all, NULL, &bytes, err) && tg_file_write(path, tg_buf_sv(&bytes), err);
    tg_buf_release(&bytes);
    return ok;
}

static bool show(struct tg_store_cmd *s, struct tg_err *err)
{
    struct tg_commit at;
    struct tg_summary all;
    size_t shown = 0;
    size_t n = 0, suites = 0;
    struct tg_stored *v;
    bool ok = tg_store_cmd_commit(s, &at, err) &&
              tg_store_list(&s->store, tg_store_cmd_suite(s), NULL, s->arena, &v, &n, NULL, err);
    tg_summary_init(&all);
    for (size_t i = 0; ok && i < n; i++)
        if (strcmp(v[i].commit, at.sha) == 0 &&
            (!i || strcmp(v[i - 1].commit, at.sha) != 0 || !tg_sv_eq(v[i - 1].suite, v[i].suite))) {
            suites++;
            ok = show_runs(s, v[i].suite, &at, &all, &shown, err);
        }
    if (ok && !shown) {
        ok = tg_err_set(err, TG_ERR_LOST, TG_NOWHERE, "nothing is stored at commit %.12s", at.sha);
        (void)tg_err_hint(err,
                          "`tracegate baseline list` shows what is; `tracegate baseline fetch` "
                          "brings what the remote has.");
    }
    if (ok && s->o->output && suites > 1) {
        ok = tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "-o writes one suite's runs, not %zu",
                        suites);
        (void)tg_err_hint(err, "Add --suite NAME.");
    }
    ok = ok && (!s->o->output || write_summary(s->o->output, &all, err));
    tg_summary_release(&all);
    return ok;
}

/* ---- prune ---- */

static bool age(struct tg_store_cmd *s, int64_t *since, struct tg_err *err)
{
    static const struct {
        char unit;
        int64_t days;
    } units[] = { { 'd', 1 }, { 'w', 7 }, { 'y', 365 } };
    tg_sv text = tg_sv_of(s->o->older_than), number = { text.p, text.n ? text.n - 1 : 0 };
    int64_t n;
    *since = INT64_MAX;
    if (!s->o->older_than)
        return true;
    for (size_t i = 0; i < 3; i++)
        if (number.n && text.p[number.n] == units[i].unit && tg_sv_i64(number, &n) && n >= 0 &&
            n < 100000) {
            *since = (int64_t)time(NULL) - n * units[i].days * 86400;
            return true;
        }
    tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "--older-than '%s' is not an age", s->o->older_than);
    return tg_err_hint(err, "For example 90d, 12w or 2y.");
}

static bool prune(struct tg_store_cmd *s, struct tg_err *err)
{
    struct tg_prune_opts po = { .keep = s->o->keep > 0 ? (size_t)s->o->keep : 0 };
    struct tg_stored *all, *old;
    struct tg_pushed gone = { 0 };
    size_t n_all, n, foreign, unknown;
    if (s->o->keep < 0 && !s->o->older_than) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "prune needs --keep N or --older-than AGE");
        return tg_err_hint(err, "For example: tracegate baseline prune --keep 200 --remote origin");
    }
    if (!age(s, &po.since, err) || !listed(s, &all, &n_all, &foreign, err) ||
        !tg_store_old(&s->store, &po, all, n_all, s->arena, &old, &n, &unknown, err))
        return false;
    if (s->o->remote && n && !tg_remote_delete(s->git, &s->remote, old, n, &gone, err))
        return false;
    if (!s->o->dry_run && !tg_store_delete(&s->store, old, n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        tg_buf_printf(&s->out, "%s %.*s\n", s->o->dry_run ? "would delete" : "deleted",
                      TG_SV_ARG(old[i].ref));
    if (unknown)
        tg_io_note(s->io, "kept the runs of %zu commit%s that are not in this clone", unknown,
                   tg_plural(unknown));
    return true;
}

/* ---- the command ---- */

static const struct {
    const char *name;
    bool (*run)(struct tg_store_cmd *s, struct tg_err *err);
    bool traces; /* takes them as arguments */
    bool policy; /* needs to know the suites; the others name what is stored */
} verbs[] = {
    { "record", tg_baseline_record, true, true },
    { "show", show, false, false },
    { "list", list, false, false },
    { "fetch", tg_baseline_fetch, false, true },
    { "push", tg_baseline_push, false, false },
    { "prune", prune, false, false },
};
#define VERBS (sizeof verbs / sizeof *verbs)

static bool no_such_verb(const struct tg_strs *args, struct tg_err *err)
{
    const char *names[VERBS + 1] = { 0 }, *meant;
    for (size_t i = 0; i < VERBS; i++)
        names[i] = verbs[i].name;
    if (!args->n)
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "baseline: do what?");
    else
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "baseline has no verb '%s'", args->v[0]);
    meant = args->n ? tg_sv_nearest(tg_sv_of(args->v[0]), names) : NULL;
    if (meant)
        return tg_err_hint(err, "Did you mean %s?", meant);
    return tg_err_hint(err, "One of record, show, list, fetch, push, prune.");
}

static bool run_verb(struct tg_store_cmd *s, size_t verb, struct tg_err *err)
{
    bool ok;
    if (!verbs[verb].traces && s->args.n) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "baseline %s takes no argument, not '%s'",
                   verbs[verb].name, s->args.v[0]);
        return tg_err_hint(err, "A suite is --suite NAME, a commit --commit REV.");
    }
    ok = tg_given_check(&s->o->given, err) && (s->git = tg_repo_get(&s->repo, err));
    s->store = tg_store_in_git(s->git);
    if (ok && verbs[verb].policy)
        ok = tg_suites_load(&s->suites, s->o->policy, NULL, err) &&
             tg_suites_choose(&s->suites, s->o->suite, s->args.n ? TG_SUITES_ONE : TG_SUITES_ALL,
                              err);
    ok = ok && verbs[verb].run(s, err);
    /* What was done stands, also where something after it failed. */
    if (s->out.n && !tg_io_put(s->io, tg_buf_sv(&s->out), err))
        return false;
    return ok;
}

static int baseline_run(const void *opts, const struct tg_strs *args, const struct tg_io *io,
                        struct tg_err *err)
{
    struct tg_store_cmd s = { .o = opts, .io = io };
    size_t verb = 0;
    bool ok;
    while (verb < VERBS && (!args->n || strcmp(args->v[0], verbs[verb].name) != 0))
        verb++;
    if (verb == VERBS) {
        (void)no_such_verb(args, err);
        return tg_err_exit_code(err->kind);
    }
    s.arena = tg_arena_new();
    s.args = (struct tg_strs){ args->v + 1, args->n - 1, 0 };
    s.repo.opts.trust_owner = s.o->given.trust_repository;
    s.suites = (struct tg_suites){ .io = io, .repo = &s.repo, .arena = s.arena };
    s.remote = (struct tg_remote){ .name = s.o->remote ? s.o->remote : "origin",
                                   .seed = (uint32_t)getpid(),
                                   .dry_run = s.o->dry_run };
    ok = run_verb(&s, verb, err);
    tg_policy_free(s.suites.policy);
    tg_repo_release(&s.repo);
    tg_buf_release(&s.out);
    tg_arena_free(s.arena);
    return ok ? 0 : tg_err_exit_code(err->kind);
}

const struct tg_cmd tg_cmd_baseline = {
    .name = "baseline",
    .summary = "the store of baselines in git: record, show, list, fetch, push, prune",
    .synopsis = "record [TRACE…] | show | list | fetch | push | prune",
    .about =
        "Keeps summaries beside the history, one ref for each recorded run: "
        "refs/tracegate/v1/SUITE/COMMIT/RUN. Runs are immutable, several jobs may write at once, "
        "the same traces twice are stored once, and a plain clone or fetch does not bring them.\n"
        "\n"
        "record stores the runs of TRACE… (default: the suite's own files) at --commit; show tells "
        "what one commit has; list what all have; fetch brings what check will look for, from the "
        "commit it starts at and its ancestors within max_walk; push sends the runs of one commit; "
        "prune deletes old ones, here, and with --remote there too.\n"
        "\n"
        "A commit has room for 1,000,000 bytes of each suite as git packs them, a fifth of it for "
        "one "
        "run. record says what it left out, and what it did not store because there is no room.\n"
        "\n"
        "On the main branch: tracegate baseline record out/*.json.gz && tracegate baseline push. "
        "In a "
        "pull request: tracegate baseline fetch && tracegate check out/*.json.gz.\n"
        "\n"
        "Git does everything on the network, with its own credentials, without prompts. A push "
        "that "
        "lost a race is tried again; one that the remote forbids is not.",
    .options = baseline_options,
    .opts_size = sizeof(struct tg_baseline_opts),
    .run = baseline_run,
};
