#include "core/summary/internal.h"
#include "core/summary/summary.h"
#include "tests/support.h"

struct fixture {
    struct tg_summary s;
    struct tg_side side;
    struct tg_err err;
};

static void setup(struct fixture *f)
{
    tg_summary_init(&f->s);
    tg_err_init(&f->err);
}

static void teardown(struct fixture *f)
{
    tg_summary_release(&f->s);
}

#define CASE(name) TEST_IN(struct fixture, f, setup, teardown, name)

/* A shard with nothing in it but what arranging asks for. */
static struct tg_shard *shard(struct fixture *f, const char *run, int64_t rank, const char *hash)
{
    struct tg_shard *s = TG_NEW(f->s.arena, struct tg_shard);
    s->run = tg_sv_of(run);
    s->rank = rank;
    s->hash = tg_sv_of(hash);
    s->source = tg_sv_of("f.json");
    s->window = TG_SV("auto");
    s->classes = TG_SV("c");
    assert_true(tg_summary_insert(&f->s, s, &f->err));
    return s;
}

static bool arrange(struct fixture *f, enum tg_arrange how)
{
    tg_err_init(&f->err);
    return tg_side_arrange(&f->side, &f->s, how, f->s.arena, &f->err);
}

enum { SOME = TG_ARRANGE_RANKS + 1 }; /* a rank may lack a run: tg_side_arrange_some */

/* The ranks and, behind '-', those that a run lacks; then the hashes of each run. Or the error. */
static void assert_table(struct fixture *f, int how, const char *want)
{
    TG_BUF got = { 0 };
    bool ok;
    tg_err_init(&f->err);
    ok = how == SOME ? tg_side_arrange_some(&f->side, &f->s, TG_ARRANGE_AUTO, f->s.arena, &f->err)
                     : tg_side_arrange(&f->side, &f->s, (enum tg_arrange)how, f->s.arena, &f->err);
    if (!ok) {
        assert_int_equal(f->err.kind, TG_ERR_USAGE);
        tg_buf_puts(&got, f->err.message);
    }
    for (size_t k = 0; ok && k < f->side.n_ranks; k++)
        tg_buf_printf(&got, k ? " %d" : "%d", (int)f->side.ranks[k]);
    for (size_t k = 0; ok && how == SOME && k < f->side.n_partial; k++)
        tg_buf_printf(&got, " -%d", (int)f->side.partial[k]);
    for (size_t run = 0; ok && run < f->side.n_runs; run++)
        for (size_t k = 0; k < f->side.n_ranks; k++)
            tg_buf_printf(&got, k ? " %.*s" : ": %.*s", TG_SV_ARG(f->side.at[run][k]->hash));
    assert_string_equal(got.p, want);
}

CASE(ranks_are_columns_and_runs_are_rows)
{
    shard(f, "b", 1, "b1");
    shard(f, "b", 0, "b0");
    shard(f, "a", 1, "a1");
    shard(f, "a2", 0, "a0"); /* run ids need not agree between ranks: the k-th belongs to run k */
    assert_table(f, TG_ARRANGE_AUTO, "0 1: a0 a1: b0 b1");
    shard(f, "c", 0, "c0");
    assert_table(f, TG_ARRANGE_AUTO, "rank 0 has 3 runs, rank 1 has 2");
    assert_string_equal(f->err.hint, "Every rank needs the same number of runs: is a file missing, "
                                     "or left over from an earlier run?");
}

CASE(a_rank_that_a_run_lacks_is_no_column)
{
    shard(f, "a", 0, "a0");
    shard(f, "b", 0, "b0");
    shard(f, "c", 0, "c0");
    shard(f, "b", 1, "b1"); /* its first and its last run are missing */
    shard(f, "a", 2, "a2");
    shard(f, "b", 2, "b2");
    shard(f, "c", 2, "c2");
    assert_table(f, SOME, "0 2 -1: a0 a2: b0 b2: c0 c2");
    assert_false(arrange(f, TG_ARRANGE_AUTO));
}

/* Recordings without ids in common: the k-th belongs to run k, and most runs are all runs. */
CASE(without_ids_in_common_the_most_runs_count)
{
    shard(f, "p", 0, "p");
    shard(f, "q", 1, "q");
    shard(f, "r", 1, "r");
    assert_table(f, SOME, "1 -0: q: r");
}

/* Each rank lacks another run, so no rank has all ids: two runs of each are what there is. */
CASE(ranks_that_lack_other_runs_are_whole_together)
{
    shard(f, "a", 0, "a0");
    shard(f, "b", 0, "b0");
    shard(f, "b", 1, "b1");
    shard(f, "c", 1, "c1");
    assert_table(f, SOME, "0 1: a0 b1: b0 c1");
}

CASE(files_without_a_rank_must_be_told)
{
    shard(f, "z", -1, "z"); /* the run is the hash: nobody named it */
    assert_table(f, TG_ARRANGE_AUTO, "-1: z");
    shard(f, "y", -1, "y");
    shard(f, "x", -1, "x");
    assert_table(f, TG_ARRANGE_AUTO, "3 traces, no rank: ranks or repeats?");
    assert_non_null(strstr(f->err.hint, "--runs"));
    assert_non_null(strstr(f->err.hint, "--ranks"));
    assert_table(f, TG_ARRANGE_RUNS, "-1: x: y: z");
    assert_table(f, TG_ARRANGE_RANKS, "0 1 2: z y x"); /* in order of arrival */
    shard(f, "r", 4, "r");
    assert_table(f, TG_ARRANGE_AUTO, "3 of 4 traces have no rank");
}

CASE(named_runs_are_runs)
{
    shard(f, "monday", -1, "x");
    shard(f, "friday", -1, "y");
    assert_table(f, TG_ARRANGE_AUTO, "-1: y: x");
}

CASE(ranks_given_twice_are_no_ranks)
{
    shard(f, "a", 3, "a");
    assert_table(f, TG_ARRANGE_RANKS, "3: a");
    shard(f, "b", 3, "b");
    assert_table(f, TG_ARRANGE_RANKS, "rank 3 is there twice");
    assert_table(f, TG_ARRANGE_RUNS, "3: a: b");
}

/* Runs 1 and 2 of ranks 0 and 3: no run of one rank is compared with one of the other. */
CASE(runs_that_know_their_ranks_keep_them)
{
    shard(f, "1", 3, "b");
    shard(f, "2", 0, "c");
    shard(f, "1", 0, "a");
    shard(f, "2", 3, "d");
    assert_table(f, TG_ARRANGE_RUNS, "0 3: a b: c d");
    shard(f, "3", -1, "e"); /* one without: they are runs, as is said */
    assert_true(arrange(f, TG_ARRANGE_RUNS));
    assert_int_equal(f->side.n_runs, 5);
    assert_int_equal(f->side.n_ranks, 1);
}

CASE(what_is_no_side)
{
    assert_table(f, TG_ARRANGE_AUTO, "no traces");
    shard(f, "a", 0, "same");
    shard(f, "b", 0, "same");
    assert_table(f, TG_ARRANGE_AUTO, "the same trace twice: 'f.json' (run a) and 'f.json' (run b)");
    assert_string_equal(f->err.hint, "A copy is not a second run: name each recording once.");
}

CASE(other_windows_or_tables_do_not_compare)
{
    struct tg_shard *b;
    shard(f, "a", 0, "a");
    b = shard(f, "b", 0, "b");
    assert_true(tg_shard_comparable(f->s.shards[0], b, &f->err));
    b->window = TG_SV("annotation:iter *");
    assert_false(arrange(f, TG_ARRANGE_AUTO));
    assert_int_equal(f->err.kind, TG_ERR_SUMMARY);
    assert_string_equal(f->err.message,
                        "steps were cut by different windows: 'auto' and 'annotation:iter *'");
    assert_true(f->err.hint[0] != '\0');
    b->window = TG_SV("auto");
    b->classes = TG_SV("d");
    assert_false(arrange(f, TG_ARRANGE_AUTO));
    assert_string_equal(f->err.message, "kernels were classified by different tables: c and d");
}
