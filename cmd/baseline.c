/*
 * tracegate baseline: the store of baselines in git. One command with a verb as first argument;
 * what each does locally is core/baseline/store.h, over the network core/baseline/remote.h.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cmd/suite.h"
#include "core/base/file.h"
#include "core/baseline/remote.h"

struct baseline_opts {
    const char *suite, *policy, *commit, *remote, *older_than, *output;
    struct tg_strs meta;
    int64_t keep;
    bool dry_run, runs, ranks, strict_json, allow_truncated, trust_repository;
};
static const struct tg_opt baseline_options[] = {
    { "suite", TG_OPT_STR, offsetof(struct baseline_opts, suite), "NAME",
      "this suite only; default: the policy's (record: its only one), or `default`" },
    { "commit", TG_OPT_STR, offsetof(struct baseline_opts, commit), "REV",
      "record, show, push: the commit, default HEAD; fetch: where the walk begins" },
    { "remote", TG_OPT_STR, offsetof(struct baseline_opts, remote), "NAME",
      "fetch, push: default origin; list, prune: that remote's store instead of this clone's" },
    { "policy", TG_OPT_STR, offsetof(struct baseline_opts, policy), "FILE",
      "take suites and windows from FILE; default: .tracegate.yml here or above" },
    { "keep", TG_OPT_INT, offsetof(struct baseline_opts, keep), "N",
      "prune: keep the N newest commits of each suite" },
    { "older-than", TG_OPT_STR, offsetof(struct baseline_opts, older_than), "AGE",
      "prune: only commits older than 90d, 12w or 2y" },
    { "o", TG_OPT_STR, offsetof(struct baseline_opts, output), "FILE",
      "show: write the runs as one summary" },
    { "dry-run", TG_OPT_FLAG, offsetof(struct baseline_opts, dry_run), NULL,
      "say what would be done" },
    { "meta", TG_OPT_LIST, offsetof(struct baseline_opts, meta), "K=V",
      "record: say what the traces do not (cpu=…, torch=…)" },
    { "runs", TG_OPT_FLAG, offsetof(struct baseline_opts, runs), NULL,
      "record: several traces without a rank are repeats" },
    { "ranks", TG_OPT_FLAG, offsetof(struct baseline_opts, ranks), NULL,
      "record: the traces are ranks of one run; if one has no rank, in the order of their paths" },
    { "strict-json", TG_OPT_FLAG, offsetof(struct baseline_opts, strict_json), NULL,
      "record: refuse what profilers write beside the JSON standard" },
    { "allow-truncated", TG_OPT_FLAG, offsetof(struct baseline_opts, allow_truncated), NULL,
      "record: use a trace whose end is missing" },
    { "trust-repository", TG_OPT_FLAG, offsetof(struct baseline_opts, trust_repository), NULL,
      "open the git repository although another user owns it" },
    { 0 },
};

struct store {
    const struct baseline_opts *o;
    struct tg_strs args; /* behind the verb */
    const struct tg_io *io;
    struct tg_arena *arena;
    struct tg_repo repo;
    struct tg_git *git;
    struct tg_suites suites;
    struct tg_remote remote;
    struct tg_buf out; /* standard output */
};

/* Either the suite that was named, or no name: all of them. */
static tg_sv suite_or_all(const struct store *s)
{
    return s->o->suite ? tg_sv_of(s->o->suite) : TG_SV("");
}

static bool commit_of(struct store *s, struct tg_commit *out, struct tg_err *err)
{
    return tg_git_resolve(s->git, s->o->commit ? s->o->commit : "HEAD", s->arena, out, err);
}

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

/* ---- record ------------------------------------------------------------------------------- */

/*
 * Several traces must say what they are, now: later nobody can ask. Shards without a rank are
 * runs only if --runs or the suite's `run` regex says so; what check --ranks refuses is refused.
 */
static bool check_sides(struct store *s, const struct tg_suite *suite,
                        const struct tg_summary *summary, struct tg_err *err)
{
    bool runs = s->o->runs || (suite->trace.run.n && !suite->trace.rank.n);
    struct tg_side side;
    if (s->o->ranks && !tg_side_arrange(&side, summary, TG_ARRANGE_RANKS, s->arena, err))
        return false;
    return tg_side_arrange(&side, summary, runs ? TG_ARRANGE_RUNS : TG_ARRANGE_AUTO, s->arena, err);
}

/*
 * Git packs a summary to half its text, so that what is recorded of a commit at once, whatever the
 * number of runs and ranks, is at most 1 MB.
 */
#define COMMIT_TEXT ((size_t)2 << 20)

/* The run's text; above `max` without the slots of its smallest rows, and that is said. */
static bool write_run(struct store *s, const struct tg_summary *run, size_t max,
                      struct tg_buf *bytes, struct tg_err *err)
{
    struct tg_limits less = TG_LIMITS_DEFAULT;
    struct tg_err ignored;
    tg_err_init(&ignored);
    if (tg_summary_write(run, NULL, bytes, &ignored) && bytes->n <= max)
        return true;
    tg_buf_clear(bytes);
    less.max_summary = max / run->n;
    tg_err_init(&ignored);
    if (!tg_summary_write(run, &less, bytes, &ignored)) {
        tg_buf_clear(bytes);
        return tg_summary_write(run, NULL, bytes, err);
    }
    tg_io_note(s->io,
               "%zu ranks: the samples of the smallest rows are left out to keep the commit below "
               "1 MB; those rows are compared by their sums per step",
               run->n);
    return true;
}

/* One run, all its ranks, as bytes. One ref a run: a retried job gives the same bytes again. */
static bool record_run(struct store *s, const struct tg_suite *suite, const struct tg_commit *at,
                       struct tg_summary *run, size_t max, struct tg_err *err)
{
    struct tg_buf bytes = { 0 };
    struct tg_stored stored = { 0 };
    bool created = false;
    bool ok = write_run(s, run, max, &bytes, err);
    if (ok && !s->o->dry_run)
        ok = tg_store_record(s->git, suite->name, at->sha, tg_buf_sv(&bytes), s->arena, &stored,
                             &created, err);
    if (ok && s->o->dry_run)
        tg_buf_printf(&s->out, "would record a run of %zu rank%s, %zu bytes\n", run->n,
                      plural(run->n), bytes.n);
    else if (ok)
        tg_buf_printf(&s->out, "%s %.*s %zu rank%s %zu bytes\n", created ? "recorded" : "same",
                      TG_SV_ARG(stored.ref), run->n, plural(run->n), bytes.n);
    tg_buf_release(&bytes);
    return ok;
}

/* The shards of one run are neighbours in a summary; they are lent, not copied. */
static bool record_runs(struct store *s, const struct tg_suite *suite, const struct tg_commit *at,
                        const struct tg_summary *all, struct tg_err *err)
{
    size_t end, runs = 0;
    for (size_t i = 0; i < all->n; i++)
        runs += i == 0 || !tg_sv_eq(all->shards[i]->run, all->shards[i - 1]->run);
    for (size_t i = 0; i < all->n; i = end) {
        struct tg_summary run = *all;
        for (end = i; end < all->n && tg_sv_eq(all->shards[end]->run, all->shards[i]->run);)
            end++;
        run.shards = all->shards + i;
        run.n = end - i;
        if (!record_run(s, suite, at, &run, COMMIT_TEXT / runs, err))
            return false;
    }
    return true;
}

static bool record_suite(struct store *s, const struct tg_suite *suite, const struct tg_commit *at,
                         struct tg_err *err)
{
    struct tg_summarize_opts so =
        tg_suite_reading(s->suites.policy, suite, s->o->strict_json, s->o->allow_truncated);
    struct tg_input_list inputs = { 0 };
    struct tg_summary summary;
    struct tg_progress_line progress;
    struct tg_kv *meta;
    bool ok = tg_inputs_meta(&s->o->meta, s->arena, &meta, &so.n_meta, err) &&
              tg_suite_traces(&inputs, &s->suites, suite, &s->args, err);
    if (!ok)
        return false;
    so.meta = meta;
    inputs.one_run = s->o->ranks;
    tg_summary_init(&summary);
    tg_progress_start(&progress, s->io);
    ok = tg_inputs_load(&summary, &inputs, &so, &s->repo, &progress.line, err);
    tg_progress_end(&progress);
    ok = ok && check_sides(s, suite, &summary, err) && record_runs(s, suite, at, &summary, err);
    tg_summary_release(&summary);
    return ok;
}

static bool record(struct store *s, struct tg_err *err)
{
    struct tg_commit at;
    if (!commit_of(s, &at, err))
        return false;
    for (size_t i = 0; i < s->suites.n; i++)
        if ((s->args.n || s->suites.v[i]->stored || s->suites.n == 1) &&
            !record_suite(s, s->suites.v[i], &at, err))
            return false;
    return true;
}

/* ---- list, show --------------------------------------------------------------------------- */

static void put_date(struct store *s, const struct tg_commit *c)
{
    char text[32];
    time_t t = (time_t)c->date;
    struct tm tm;
    if (c->date && gmtime_r(&t, &tm) && strftime(text, sizeof text, "%Y-%m-%d", &tm))
        tg_buf_printf(&s->out, "%s", text);
    else
        tg_buf_puts(&s->out, "not-here  ");
}

static bool listed(struct store *s, struct tg_stored **v, size_t *n, size_t *foreign,
                   struct tg_err *err)
{
    *foreign = 0;
    if (s->o->remote)
        return tg_remote_list(s->git, &s->remote, suite_or_all(s), s->arena, v, n, err);
    return tg_store_list(s->git, suite_or_all(s), NULL, s->arena, v, n, foreign, err);
}

/* One line a commit: date, commit, runs, suite. */
static bool list(struct store *s, struct tg_err *err)
{
    struct tg_stored *v;
    size_t n, end, foreign;
    if (!listed(s, &v, &n, &foreign, err))
        return false;
    for (size_t i = 0; i < n; i = end) {
        struct tg_commit c = { 0 };
        struct tg_err ignored;
        tg_err_init(&ignored);
        for (end = i; end < n && tg_sv_eq(v[end].suite, v[i].suite) &&
                      strcmp(v[end].commit, v[i].commit) == 0;)
            end++;
        if (!tg_git_resolve(s->git, v[i].commit, s->arena, &c, &ignored))
            c.date = 0;
        put_date(s, &c);
        tg_buf_printf(&s->out, "  %s  %zu run%s  %.*s\n", v[i].commit, end - i, plural(end - i),
                      TG_SV_ARG(v[i].suite));
    }
    if (foreign)
        tg_io_note(s->io, "%zu ref%s below " TG_STORE_PREFIX " are not of the store's form",
                   foreign, plural(foreign));
    if (!n)
        tg_io_note(s->io, "nothing is stored %s", s->o->remote ? "there" : "in this clone");
    return true;
}

static void put_shard(struct store *s, const struct tg_shard *shard)
{
    tg_sv device = tg_shard_env(shard, "device"), torch = tg_shard_env(shard, "torch");
    tg_buf_puts(&s->out, "    rank ");
    if (shard->rank < 0)
        tg_buf_puts(&s->out, "none");
    else
        tg_buf_printf(&s->out, "%" PRId64, shard->rank);
    tg_buf_printf(&s->out, "  %zu step%s  %" PRIu64 " spans  device %.*s  torch %.*s\n",
                  shard->n_steps, plural(shard->n_steps), shard->spans,
                  device.n ? (int)device.n : 7, device.n ? device.p : "unknown",
                  torch.n ? (int)torch.n : 7, torch.n ? torch.p : "unknown");
}

static bool show_run(struct store *s, const struct tg_git_file *f, struct tg_summary *all,
                     struct tg_err *err)
{
    struct tg_buf bytes = { 0 };
    struct tg_summary one;
    bool ok;
    tg_summary_init(&one);
    ok = tg_git_read(s->git, f, &bytes, err) &&
         tg_summary_parse(&one, tg_buf_sv(&bytes), f->path.p, err);
    if (ok)
        tg_buf_printf(&s->out, "  %.*s  %zu bytes\n", TG_SV_ARG(f->path), bytes.n);
    for (size_t i = 0; ok && i < one.n; i++)
        put_shard(s, one.shards[i]);
    ok = ok && tg_summary_merge(all, &one, err);
    tg_summary_release(&one);
    tg_buf_release(&bytes);
    return ok;
}

static bool show_runs(struct store *s, tg_sv suite, const struct tg_commit *at,
                      struct tg_summary *all, size_t *shown, struct tg_err *err)
{
    struct tg_git_files files;
    if (!tg_store_files(s->git, suite, at->sha, s->arena, &files, err))
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

static bool show(struct store *s, struct tg_err *err)
{
    struct tg_commit at;
    struct tg_summary all;
    size_t shown = 0;
    size_t n = 0, suites = 0;
    struct tg_stored *v;
    bool ok = commit_of(s, &at, err) &&
              tg_store_list(s->git, suite_or_all(s), NULL, s->arena, &v, &n, NULL, err);
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

/* ---- fetch -------------------------------------------------------------------------------- */

/* The first of `n` commits that has runs here; n: none. */
static bool first_stored(struct store *s, tg_sv suite, const struct tg_commit *v, size_t n,
                         size_t *at, struct tg_err *err)
{
    struct tg_git_files files;
    for (*at = 0; *at < n; ++*at) {
        if (!tg_store_files(s->git, suite, v[*at].sha, s->arena, &files, err))
            return false;
        if (files.n)
            break;
    }
    return true;
}

/*
 * Most searches end at the first commit, so it is asked for alone; then the next eight, then the
 * rest: few round trips, and few runs that nobody will read.
 */
static bool fetch_walk(struct store *s, tg_sv suite, const struct tg_commit *v, size_t n,
                       size_t *at, struct tg_err *err)
{
    size_t begin = 0, end = n ? 1 : 0, found = 0;
    *at = n;
    while (begin < n) {
        if (!tg_remote_fetch(s->git, &s->remote, suite, v + begin, end - begin, err) ||
            !first_stored(s, suite, v + begin, end - begin, &found, err))
            return false;
        if (found < end - begin) {
            *at = begin + found;
            return true;
        }
        begin = end;
        end = end == 1 && n > 9 ? 9 : n;
    }
    return true;
}

/*
 * Nothing within the walk. `check` calls that a first run unless it sees that the store held this
 * suite before: the runs of one earlier commit are its evidence (of one that is not here, where
 * the history is cut).
 */
static bool fetch_evidence(struct store *s, tg_sv suite, const struct tg_commit *start,
                           struct tg_err *err)
{
    struct tg_stored *v;
    struct tg_commit proof = { 0 };
    size_t n, commits = 0;
    if (!tg_remote_list(s->git, &s->remote, suite, s->arena, &v, &n, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        struct tg_commit c;
        struct tg_err ignored;
        bool here;
        if (i && strcmp(v[i].commit, v[i - 1].commit) == 0)
            continue;
        commits++;
        tg_err_init(&ignored);
        here = tg_git_resolve(s->git, v[i].commit, s->arena, &c, &ignored);
        if (here ? tg_store_precedes(s->git, v[i].commit, start->sha)
                 : tg_git_is_shallow(s->git) && !proof.sha[0])
            memcpy(proof.sha, v[i].commit, sizeof proof.sha);
    }
    tg_buf_printf(&s->out,
                  "%.*s: nothing within the walk from %.12s; '%s' holds %zu other commit%s\n",
                  TG_SV_ARG(suite), start->sha, s->remote.name, commits, plural(commits));
    return !proof.sha[0] || tg_remote_fetch(s->git, &s->remote, suite, &proof, 1, err);
}

/* What noise.history looks through behind the baseline, as far as the clone's history goes. */
static bool fetch_earlier(struct store *s, const struct tg_suite *suite,
                          const struct tg_commit *baseline, struct tg_err *err)
{
    const struct tg_policy *p = s->suites.policy;
    struct tg_commit *v;
    struct tg_git_files files;
    size_t n, runs = 0;
    if (!p->noise.history)
        return true;
    if (!tg_baseline_window(s->git, baseline, (unsigned)p->baseline.max_walk + 1, s->arena, &v, &n,
                            err) ||
        !tg_remote_fetch(s->git, &s->remote, suite->name, v + 1, n ? n - 1 : 0, err))
        return false;
    for (size_t i = 1; i < n; i++) {
        if (!tg_store_files(s->git, suite->name, v[i].sha, s->arena, &files, err))
            return false;
        runs += files.n;
    }
    tg_buf_printf(&s->out, "%.*s: %zu run%s of earlier commits\n", TG_SV_ARG(suite->name), runs,
                  plural(runs));
    return true;
}

/* The results that `sustained:` asks for: what is stored between HEAD and the baseline. */
static bool fetch_results(struct store *s, const struct tg_suite *suite, struct tg_err *err)
{
    const struct tg_policy *p = s->suites.policy;
    bool asked = false;
    struct tg_commit head, *v;
    size_t n;
    for (size_t i = 0; i < p->n_rules; i++)
        asked |= p->rules[i].sustained > 1;
    return !asked || (tg_git_resolve(s->git, "HEAD", s->arena, &head, err) &&
                      tg_baseline_window(s->git, &head, (unsigned)p->baseline.max_walk + 1,
                                         s->arena, &v, &n, err) &&
                      tg_remote_fetch(s->git, &s->remote, suite->name, v, n, err));
}

static bool fetch_suite(struct store *s, const struct tg_suite *suite,
                        const struct tg_commit *start, struct tg_err *err)
{
    unsigned walk = (unsigned)s->suites.policy->baseline.max_walk + 1;
    struct tg_commit *v;
    struct tg_git_files files;
    size_t n, at;
    if (!tg_baseline_window(s->git, start, walk, s->arena, &v, &n, err) ||
        !fetch_walk(s, suite->name, v, n, &at, err))
        return false;
    if (at == n && n && n < walk && tg_git_is_shallow(s->git)) {
        if (!tg_remote_deepen(s->git, &s->remote, v[n - 1].sha, walk - (unsigned)n, err) ||
            !tg_baseline_window(s->git, start, walk, s->arena, &v, &n, err) ||
            !fetch_walk(s, suite->name, v, n, &at, err))
            return false;
    }
    if (at == n)
        return fetch_evidence(s, suite->name, start, err);
    if (!tg_store_files(s->git, suite->name, v[at].sha, s->arena, &files, err))
        return false;
    tg_buf_printf(&s->out, "%.*s: %zu run%s of commit %.12s", TG_SV_ARG(suite->name), files.n,
                  plural(files.n), v[at].sha);
    if (at)
        tg_buf_printf(&s->out, ", %zu before %.12s", at, start->sha);
    tg_buf_putc(&s->out, '\n');
    return fetch_earlier(s, suite, &v[at], err) && fetch_results(s, suite, err);
}

static bool fetch(struct store *s, struct tg_err *err)
{
    struct tg_commit start;
    bool any = false;
    if (s->o->commit ? !commit_of(s, &start, err)
                     : !tg_suites_start(&s->suites, s->git, &start, err))
        return false;
    for (size_t i = 0; i < s->suites.n; i++) {
        if (!s->suites.v[i]->stored && !s->o->suite)
            continue;
        any = true;
        if (start.sha[0] && !fetch_suite(s, s->suites.v[i], &start, err))
            return false;
    }
    if (!any)
        tg_io_note(s->io, "no suite of the policy has `baseline: stored`: nothing to fetch");
    else if (!start.sha[0])
        tg_io_note(s->io, "HEAD is the first commit: there is nothing before it");
    return true;
}

/* ---- push, prune -------------------------------------------------------------------------- */

static bool push(struct store *s, struct tg_err *err)
{
    struct tg_commit at;
    struct tg_stored *v;
    struct tg_pushed pushed;
    size_t n = 0, all;
    if (!commit_of(s, &at, err) ||
        !tg_store_list(s->git, suite_or_all(s), NULL, s->arena, &v, &all, NULL, err))
        return false;
    for (size_t i = 0; i < all; i++)
        if (strcmp(v[i].commit, at.sha) == 0)
            v[n++] = v[i];
    if (!n) {
        tg_err_set(err, TG_ERR_LOST, TG_NOWHERE, "nothing is stored at commit %.12s", at.sha);
        return tg_err_hint(err, "Record first: `tracegate baseline record TRACE…`.");
    }
    if (!tg_remote_push(s->git, &s->remote, v, n, &pushed, err))
        return false;
    tg_buf_printf(&s->out, "%s %zu run%s of commit %.12s to '%s', %zu there already\n",
                  s->o->dry_run ? "would push" : "pushed", pushed.done, plural(pushed.done), at.sha,
                  s->remote.name, pushed.same);
    return true;
}

static bool age(struct store *s, int64_t *since, struct tg_err *err)
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
    tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "--older-than '%s' is no age", s->o->older_than);
    return tg_err_hint(err, "For example 90d, 12w or 2y.");
}

static bool prune(struct store *s, struct tg_err *err)
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
        !tg_store_old(s->git, &po, all, n_all, s->arena, &old, &n, &unknown, err))
        return false;
    if (s->o->remote && n && !tg_remote_delete(s->git, &s->remote, old, n, &gone, err))
        return false;
    if (!s->o->dry_run && !tg_store_delete(s->git, old, n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        tg_buf_printf(&s->out, "%s %.*s\n", s->o->dry_run ? "would delete" : "deleted",
                      TG_SV_ARG(old[i].ref));
    if (unknown)
        tg_io_note(s->io, "kept the runs of %zu commit%s that are not in this clone", unknown,
                   plural(unknown));
    return true;
}

/* ---- the command -------------------------------------------------------------------------- */

static const struct {
    const char *name;
    bool (*run)(struct store *s, struct tg_err *err);
    bool traces; /* takes them as arguments */
    bool policy; /* needs to know the suites; the others name what is stored */
} verbs[] = {
    { "record", record, true, true }, { "show", show, false, false },
    { "list", list, false, false },   { "fetch", fetch, false, true },
    { "push", push, false, false },   { "prune", prune, false, false },
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

static bool run_verb(struct store *s, size_t verb, struct tg_err *err)
{
    bool ok;
    if (!verbs[verb].traces && s->args.n) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "baseline %s takes no argument, not '%s'",
                   verbs[verb].name, s->args.v[0]);
        return tg_err_hint(err, "A suite is --suite NAME, a commit --commit REV.");
    }
    if (s->o->runs && s->o->ranks)
        return tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "--runs and --ranks exclude each other");
    ok = (s->git = tg_repo_get(&s->repo, err));
    if (ok && verbs[verb].policy)
        ok = tg_suites_load(&s->suites, s->o->policy, NULL, err) &&
             tg_suites_choose(&s->suites, s->o->suite, s->args.n > 0, err);
    ok = ok && verbs[verb].run(s, err);
    /* What was done stands, also where something after it failed. */
    if (s->out.n && !tg_io_put(s->io, tg_buf_sv(&s->out), err))
        return false;
    return ok;
}

static int baseline_run(const void *opts, const struct tg_strs *args, const struct tg_io *io,
                        struct tg_err *err)
{
    struct store s = { .o = opts, .io = io };
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
    s.repo.opts.trust_owner = s.o->trust_repository;
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
        "On the main branch: tracegate baseline record out/*.json.gz && tracegate baseline push. "
        "In a "
        "pull request: tracegate baseline fetch && tracegate check out/*.json.gz.\n"
        "\n"
        "Git does everything on the network, with its own credentials, without prompts. A push "
        "that "
        "lost a race is tried again; one that the remote forbids is not.",
    .options = baseline_options,
    .opts_size = sizeof(struct baseline_opts),
    .run = baseline_run,
};
