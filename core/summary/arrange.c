#include <inttypes.h>

#include "core/base/sort.h"
#include "core/base/strmap.h"
#include "core/summary/internal.h"

bool tg_shard_comparable(const struct tg_shard *a, const struct tg_shard *b, struct tg_err *err)
{
    if (!tg_sv_eq(a->window, b->window))
        return tg_err_say(err, TG_ERR_SUMMARY, TG_NOWHERE,
                          "steps were cut by different windows: '%.*s' and '%.*s'",
                          "Record the stored side again with the window of today's policy.",
                          TG_SV_ARG(a->window), TG_SV_ARG(b->window));
    if (!tg_sv_eq(a->classes, b->classes))
        return tg_err_say(
            err, TG_ERR_SUMMARY, TG_NOWHERE,
            "kernels were classified by different tables: %.*s and %.*s",
            "The stored side comes from another version of tracegate: record it again.",
            TG_SV_ARG(a->classes), TG_SV_ARG(b->classes));
    return true;
}

static bool check_shards(const struct tg_summary *s, struct tg_err *err)
{
    TG_AUTO(tg_strmap_release) struct tg_strmap hashes = { 0 };
    if (!s->n && s->numbers.n)
        return tg_err_say(err, TG_ERR_USAGE, TG_AT_FILE(s->numbers.v[0].file.p),
                          "numbers, and no trace beside them",
                          "Name the traces, too: a benchmark's results are judged beside them.");
    if (!s->n)
        return tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "no traces");
    for (size_t i = 0; i < s->n; i++) {
        const struct tg_shard *b = s->shards[i];
        const struct tg_shard *a = s->shards[tg_strmap_add(&hashes, b->hash)];
        if (!tg_shard_comparable(s->shards[0], b, err))
            return false;
        if (a != b)
            return tg_err_usage(
                err, "the same trace twice: '%.*s' (run %.*s) and '%.*s' (run %.*s)",
                "A copy is not a second run: name each recording once.", TG_SV_ARG(a->source),
                TG_SV_ARG(a->run), TG_SV_ARG(b->source), TG_SV_ARG(b->run));
    }
    return true;
}

static int by_run(const void *a, const void *b)
{
    const struct tg_shard *const *x = a, *const *y = b;
    return tg_shard_key_cmp((*x)->run, (*x)->rank, (*y)->run, (*y)->rank);
}

static int by_rank(const void *a, const void *b)
{
    const struct tg_shard *const *x = a, *const *y = b;
    int c = TG_CMP((*x)->rank, (*y)->rank);
    return c ? c : by_run(a, b);
}

/* `sorted` by column, then run: [rank 0: runs…][rank 1: runs…] -> at[run][rank]. */
static void fill(struct tg_side *out, const struct tg_shard **sorted, struct tg_arena *a)
{
    out->at = TG_NEW_N(a, const struct tg_shard **, out->n_runs);
    for (size_t run = 0; run < out->n_runs; run++) {
        out->at[run] = TG_NEW_N(a, const struct tg_shard *, out->n_ranks);
        for (size_t rank = 0; rank < out->n_ranks; rank++)
            out->at[run][rank] = sorted[rank * out->n_runs + run];
    }
}

/* Every shard is a rank of one run; those without a number are numbered in order of arrival. */
static bool as_ranks(struct tg_side *out, const struct tg_shard **v, size_t n, size_t unranked,
                     struct tg_arena *a, struct tg_err *err)
{
    TG_SORT(v, n, unranked ? tg_shard_by_arrival : by_rank);
    out->n_runs = 1;
    out->n_ranks = n;
    out->ranks = TG_NEW_N(a, int64_t, n);
    for (size_t i = 0; i < n; i++) {
        out->ranks[i] = unranked ? (int64_t)i : v[i]->rank;
        if (i && out->ranks[i] == out->ranks[i - 1])
            return tg_err_usage(
                err, "rank %" PRId64 " is there twice",
                "With --ranks there is one file a rank; leave it out to have several runs of each.",
                out->ranks[i]);
    }
    fill(out, v, a);
    return true;
}

/* Shards of one rank: v[first, first + n), by run. */
struct column {
    size_t first, n;
};

static size_t columns_of(const struct tg_shard **v, size_t n, struct column *col)
{
    size_t n_cols = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || v[i]->rank != v[i - 1]->rank)
            col[n_cols++] = (struct column){ .first = i };
        col[n_cols - 1].n++;
    }
    return n_cols;
}

/* How many runs there are: as many as a rank has that takes part in all of them; if runs share no
 * ids, as many as any rank has. */
static size_t runs_of(const struct tg_shard **v, size_t n, const struct column *col, size_t n_cols)
{
    TG_AUTO(tg_strmap_release) struct tg_strmap ids = { 0 }; /* of runs, over all ranks */
    size_t most = 0;
    for (size_t i = 0; i < n; i++)
        (void)tg_strmap_add(&ids, v[i]->run);
    for (size_t i = 0; i < n_cols; i++) {
        if (col[i].n == ids.n)
            return ids.n;
        most = col[i].n > most ? col[i].n : most;
    }
    return most;
}

/* Ranks that every run has become columns; the others are `partial`. */
static void by_ranks_and_runs(struct tg_side *out, const struct tg_shard **v, size_t n,
                              struct tg_arena *a)
{
    struct column *col = TG_NEW_N(a, struct column, n);
    const struct tg_shard **whole = TG_NEW_N(a, const struct tg_shard *, n);
    size_t n_cols, kept = 0;
    TG_SORT(v, n, by_rank);
    n_cols = columns_of(v, n, col);
    out->n_runs = runs_of(v, n, col, n_cols);
    out->ranks = TG_NEW_N(a, int64_t, n_cols);
    out->partial = TG_NEW_N(a, int64_t, n_cols);
    for (size_t i = 0; i < n_cols; i++) {
        const struct tg_shard **of = v + col[i].first;
        if (col[i].n < out->n_runs) {
            out->partial[out->n_partial++] = of[0]->rank;
            continue;
        }
        memcpy(whole + kept, of, col[i].n * sizeof *whole);
        kept += col[i].n;
        out->ranks[out->n_ranks++] = of[0]->rank;
    }
    fill(out, whole, a);
}

bool tg_side_arrange_some(struct tg_side *out, const struct tg_summary *s, enum tg_arrange how,
                          struct tg_arena *a, struct tg_err *err)
{
    size_t unranked = 0, named = 0, called_runs = 0;
    *out = (struct tg_side){ .summary = s };
    if (!check_shards(s, err))
        return false;
    const struct tg_shard **v = TG_NEW_N(a, const struct tg_shard *, s->n);
    for (size_t i = 0; i < s->n; i++) {
        v[i] = s->shards[i];
        unranked += v[i]->rank < 0;
        named += !tg_sv_eq(v[i]->run, v[i]->hash);
        /* "run3.json.gz": people call their repeats so, and hardly anything else. */
        called_runs += tg_sv_has(v[i]->source, TG_SV("run"));
    }
    if (how == TG_ARRANGE_RUNS && !unranked)
        how = TG_ARRANGE_AUTO; /* they know their ranks: each is compared with itself */
    if (how == TG_ARRANGE_RUNS || (how == TG_ARRANGE_AUTO && unranked == s->n && named == s->n)) {
        /* Every shard is a run of one column. */
        TG_SORT(v, s->n, by_run);
        out->n_runs = s->n;
        out->n_ranks = 1;
        out->ranks = TG_NEW(a, int64_t);
        out->ranks[0] = v[0]->rank;
        for (size_t i = 1; i < s->n; i++)
            if (v[i]->rank != v[0]->rank)
                out->ranks[0] = -1;
        fill(out, v, a);
        return true;
    }
    if (how == TG_ARRANGE_RANKS)
        return as_ranks(out, v, s->n, unranked, a, err);
    if (unranked && s->n > 1) {
        if (unranked == s->n)
            tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "%zu traces, no rank: ranks or repeats?",
                       s->n);
        else
            tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "%zu of %zu traces have no rank", unranked,
                       s->n);
        if (unranked == s->n && called_runs == s->n)
            return tg_err_hint(err, "Their names look like repeats of one program: say --runs "
                                    "(--ranks if they are the ranks of one run), or give `trace: "
                                    "{files: ..., run: 'run(\\d+)'}` in the policy.");
        return tg_err_hint(err, "Say --runs if they are repeats of one program, --ranks if they "
                                "are the ranks of one run, or give `trace: {files: ..., run: "
                                "'run(\\d+)', rank: 'rank(\\d+)'}` in the policy.");
    }
    by_ranks_and_runs(out, v, s->n, a);
    return true;
}

bool tg_side_arrange(struct tg_side *out, const struct tg_summary *s, enum tg_arrange how,
                     struct tg_arena *a, struct tg_err *err)
{
    if (!tg_side_arrange_some(out, s, how, a, err))
        return false;
    if (!out->n_partial)
        return true;
    /* The first rank that has not as many runs as the first one, if there is one. */
    const struct tg_shard **v = tg_arena_copy(a, s->shards, s->n, sizeof *v);
    struct column *col = TG_NEW_N(a, struct column, s->n);
    TG_SORT(v, s->n, by_rank);
    size_t n_cols = columns_of(v, s->n, col);
    for (size_t i = 1; i < n_cols; i++)
        if (col[i].n != col[0].n)
            return tg_err_usage(err, "rank %" PRId64 " has %zu runs, rank %" PRId64 " has %zu",
                                "Every rank needs the same number of runs: is a file missing, or "
                                "left over from an earlier run?",
                                v[0]->rank, col[0].n, v[col[i].first]->rank, col[i].n);
    return true;
}

void tg_side_keep(struct tg_side *side, const bool *keep, struct tg_arena *a)
{
    struct tg_side in = *side;
    side->ranks = TG_NEW_N(a, int64_t, in.n_ranks);
    side->at = TG_NEW_N(a, const struct tg_shard **, in.n_runs);
    side->n_ranks = 0;
    for (size_t run = 0; run < in.n_runs; run++)
        side->at[run] = TG_NEW_N(a, const struct tg_shard *, in.n_ranks);
    for (size_t r = 0; r < in.n_ranks; r++) {
        if (!keep[r])
            continue;
        for (size_t run = 0; run < in.n_runs; run++)
            side->at[run][side->n_ranks] = in.at[run][r];
        side->ranks[side->n_ranks++] = in.ranks[r];
    }
}
