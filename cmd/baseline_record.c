/* tracegate baseline record: runs into the store, within what a commit may take. */
#include "cmd/baseline.h"
#include "core/summary/fit.h"

/*
 * Several traces must say what they are when they are recorded: later nobody knows. Shards without
 * a rank are runs only if --runs or the suite's `run` regex says so; what check --ranks refuses is
 * refused, and what it cannot judge as a fresh trace, for want of events, cannot be a baseline.
 */
static bool check_sides(struct tg_store_cmd *s, const struct tg_suite *suite,
                        const struct tg_summary *summary, struct tg_err *err)
{
    bool runs = s->o->given.runs || (suite->trace.run.n && !suite->trace.rank.n);
    struct tg_side side;
    size_t empty = 0;
    for (size_t i = 0; i < summary->n; i++)
        empty += tg_shard_is_empty(summary->shards[i]);
    if (empty)
        return tg_err_say(err, TG_ERR_TRACE, TG_NOWHERE, "%zu of %zu traces hold no events",
                          "Nothing is recorded. Did the benchmark run while the profiler recorded?",
                          empty, summary->n);
    if (s->o->given.ranks && !tg_side_arrange(&side, summary, TG_ARRANGE_RANKS, s->arena, err))
        return false;
    return tg_side_arrange(&side, summary, runs ? TG_ARRANGE_RUNS : TG_ARRANGE_AUTO, s->arena, err);
}

/* What is stored at a commit already. */
struct stored_runs {
    struct tg_summary summary; /* those that can be read */
    size_t runs, bytes;
    const struct tg_stored *suite; /* all of the suite, at any commit */
    size_t n_suite;
    size_t elsewhere; /* of those recorded now, runs that another commit has, too */
    const char *commit;
};

static bool load_stored(struct tg_store_cmd *s, tg_sv suite, const char *sha,
                        struct stored_runs *out, struct tg_err *err)
{
    struct tg_git_files files;
    struct tg_stored *all;
    if (!tg_store_files(&s->store, suite, sha, s->arena, &files, err) ||
        !tg_store_list(&s->store, suite, NULL, s->arena, &all, &out->n_suite, NULL, err))
        return false;
    out->suite = all;
    for (size_t i = 0; i < files.n; i++) {
        TG_BUF bytes = { 0 };
        struct tg_err ignored = TG_ERR_INIT;
        if (!tg_store_read(&s->store, &files.v[i], &bytes, err))
            return false;
        out->runs++;
        out->bytes += tg_packed_size(tg_buf_sv(&bytes));
        /* A damaged one takes room as well; `check` says what is wrong with it. */
        if (!tg_summary_parse(&out->summary, tg_buf_sv(&bytes), files.v[i].path.p, &ignored))
            continue;
    }
    return true;
}

/* Already recorded, whole or in part: one recording is never two runs. */
static bool is_stored(const struct stored_runs *there, const struct tg_summary *run)
{
    size_t n = 0;
    for (size_t i = 0; i < run->n; i++)
        for (size_t k = 0; k < there->summary.n; k++)
            if (tg_sv_eq(there->summary.shards[k]->hash, run->shards[i]->hash)) {
                n++;
                break;
            }
    return n == run->n;
}

/* One run, all its ranks. One ref per run: a retried job gives the same bytes again. */
static bool record_run(struct tg_store_cmd *s, const struct tg_suite *suite,
                       const struct tg_commit *at, const struct tg_summary *run, size_t share,
                       struct stored_runs *there, struct tg_err *err)
{
    TG_BUF bytes = { 0 };
    struct tg_fitted how;
    struct tg_err ignored = TG_ERR_INIT;
    struct tg_stored stored = { 0 };
    bool created = false;
    if (is_stored(there, run)) {
        tg_buf_printf(&s->out, "same run of %zu rank%s: stored at %.12s already\n", run->n,
                      tg_plural(run->n), at->sha);
        return true;
    }
    if (!tg_summary_fit(run, share, &bytes, &how, &ignored) &&
        !tg_summary_fit(run, TG_STORE_COMMIT_BYTES, &bytes, &how, err))
        return false;
    if (there->bytes + how.packed > TG_STORE_COMMIT_BYTES) {
        tg_io_note(s->io,
                   "not stored: commit %.12s has %zu run%s of %zu bytes together, and room for %d; "
                   "this one takes %zu",
                   at->sha, there->runs, tg_plural(there->runs), there->bytes,
                   TG_STORE_COMMIT_BYTES, how.packed);
        return true;
    }
    there->runs++;
    there->bytes += how.packed;
    if (how.ranks < run->n)
        tg_io_note(s->io,
                   "%zu of %zu ranks are stored in full, without single durations; the others with "
                   "step times only: a commit has room for %d bytes",
                   how.ranks, run->n, TG_STORE_COMMIT_BYTES);
    else if (!how.all_slots)
        tg_io_note(s->io,
                   "%zu rank%s: the single durations of the smallest rows are omitted; these rows "
                   "are compared by their sums per step: a commit has room for %d bytes",
                   run->n, tg_plural(run->n), TG_STORE_COMMIT_BYTES);
    if (s->o->dry_run) {
        tg_buf_printf(&s->out, "would record a run of %zu rank%s, %zu bytes\n", run->n,
                      tg_plural(run->n), how.packed);
        return true;
    }
    if (!tg_store_record(&s->store, suite->name, at->sha, tg_buf_sv(&bytes), s->arena, &stored,
                         &created, err))
        return false;
    tg_buf_printf(&s->out, "%s %.*s %zu rank%s %zu bytes\n", created ? "recorded" : "same",
                  TG_SV_ARG(stored.ref), run->n, tg_plural(run->n), how.packed);
    /* The same bytes at another commit: one recording, not two nights. */
    for (size_t i = 0; i < there->n_suite; i++) {
        const struct tg_stored *other = &there->suite[i];
        if (strcmp(other->oid, stored.oid) == 0 && strcmp(other->commit, stored.commit) != 0) {
            there->elsewhere++;
            there->commit = other->commit;
            break;
        }
    }
    return true;
}

/* The shards of one run are neighbours in a summary; they are lent, not copied. */
static bool record_runs(struct tg_store_cmd *s, const struct tg_suite *suite,
                        const struct tg_commit *at, const struct tg_summary *all,
                        struct tg_err *err)
{
    struct stored_runs there = { 0 };
    size_t end, runs = 0;
    for (size_t i = 0; i < all->n; i++)
        runs += i == 0 || !tg_sv_eq(all->shards[i]->run, all->shards[i - 1]->run);
    tg_summary_init(&there.summary);
    bool ok = load_stored(s, suite->name, at->sha, &there, err);
    for (size_t i = 0; ok && i < all->n; i = end) {
        struct tg_summary run = *all;
        for (end = i; end < all->n && tg_sv_eq(all->shards[end]->run, all->shards[i]->run);)
            end++;
        run.shards = all->shards + i;
        run.n = end - i;
        ok = record_run(s, suite, at, &run, tg_store_share(runs), &there, err);
    }
    if (there.elsewhere)
        tg_io_note(s->io,
                   "%zu of %zu runs %s the recording that commit %.12s has: has the benchmark run? "
                   "`history` takes them for another night; `git update-ref -d` removes what is "
                   "listed above",
                   there.elsewhere, runs, there.elsewhere == 1 ? "is" : "are", there.commit);
    tg_summary_release(&there.summary);
    return ok;
}

bool tg_baseline_record(struct tg_store_cmd *s, struct tg_err *err)
{
    struct tg_commit at;
    if (!tg_store_cmd_commit(s, &at, err))
        return false;
    for (size_t i = 0; i < s->suites.n; i++) {
        const struct tg_suite *suite = s->suites.v[i];
        struct tg_summarize_opts so = tg_suite_reading(s->suites.policy, suite);
        struct tg_input_list inputs = { .one_run = s->o->given.ranks };
        TG_AUTO(tg_summary_release) struct tg_summary summary;
        tg_summary_init(&summary);
        if (!s->args.n && suite->baseline.n && s->suites.n != 1)
            continue;
        if (!tg_given_apply(&so, &s->o->given, s->arena, err) ||
            !tg_suite_traces(&inputs, &s->suites, suite, &s->args, err) ||
            !tg_inputs_read(&summary, &inputs, &so, s->repo, s->io, err) ||
            !check_sides(s, suite, &summary, err) || !record_runs(s, suite, &at, &summary, err))
            return false;
    }
    return true;
}
