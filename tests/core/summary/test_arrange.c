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

static void assert_cell(struct fixture *f, size_t run, size_t rank, const char *hash)
{
    assert_true(tg_sv_eq(f->side.at[run][rank]->hash, tg_sv_of(hash)));
}

CASE(ranks_are_columns_and_runs_are_rows)
{
    shard(f, "b", 1, "b1");
    shard(f, "b", 0, "b0");
    shard(f, "a", 1, "a1");
    shard(f, "a2", 0, "a0"); /* run ids need not agree between ranks: the k-th belongs to run k */
    assert_true(arrange(f, TG_ARRANGE_AUTO));
    assert_int_equal(f->side.n_runs, 2);
    assert_int_equal(f->side.n_ranks, 2);
    assert_int_equal(f->side.ranks[0], 0);
    assert_int_equal(f->side.ranks[1], 1);
    assert_cell(f, 0, 0, "a0");
    assert_cell(f, 0, 1, "a1");
    assert_cell(f, 1, 0, "b0");
    assert_cell(f, 1, 1, "b1");
}

CASE(unequal_numbers_of_runs_are_refused)
{
    shard(f, "a", 0, "a0");
    shard(f, "b", 0, "b0");
    shard(f, "a", 1, "a1");
    assert_false(arrange(f, TG_ARRANGE_AUTO));
    assert_int_equal(f->err.kind, TG_ERR_USAGE);
    assert_string_equal(f->err.message, "rank 0 has 2 runs, rank 1 has 1");
    assert_string_equal(f->err.hint, "Every rank needs the same number of runs: is a file missing, "
                                     "or left over from an earlier run?");
}

static bool arrange_some(struct fixture *f)
{
    tg_err_init(&f->err);
    return tg_side_arrange_some(&f->side, &f->s, TG_ARRANGE_AUTO, f->s.arena, &f->err);
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
    assert_true(arrange_some(f));
    assert_int_equal(f->side.n_runs, 3);
    assert_int_equal(f->side.n_ranks, 2);
    assert_int_equal(f->side.ranks[1], 2);
    assert_int_equal(f->side.n_partial, 1);
    assert_int_equal(f->side.partial[0], 1);
    assert_cell(f, 1, 0, "b0");
    assert_cell(f, 1, 1, "b2");
    assert_false(arrange(f, TG_ARRANGE_AUTO));
}

/* Recordings without ids in common: the k-th belongs to run k, and most runs are all runs. */
CASE(without_ids_in_common_the_most_runs_count)
{
    shard(f, "p", 0, "p");
    shard(f, "q", 1, "q");
    shard(f, "r", 1, "r");
    assert_true(arrange_some(f));
    assert_int_equal(f->side.n_runs, 2);
    assert_int_equal(f->side.n_ranks, 1);
    assert_int_equal(f->side.ranks[0], 1);
    assert_int_equal(f->side.partial[0], 0);
}

/* Each rank lacks another run, so no rank has all ids: two runs of each are what there is. */
CASE(ranks_that_lack_other_runs_are_whole_together)
{
    shard(f, "a", 0, "a0");
    shard(f, "b", 0, "b0");
    shard(f, "b", 1, "b1");
    shard(f, "c", 1, "c1");
    assert_true(arrange_some(f));
    assert_int_equal(f->side.n_runs, 2);
    assert_int_equal(f->side.n_ranks, 2);
    assert_int_equal(f->side.n_partial, 0);
}

CASE(one_file_without_a_rank_is_a_side)
{
    shard(f, "x", -1, "x");
    assert_true(arrange(f, TG_ARRANGE_AUTO));
    assert_int_equal(f->side.n_runs * f->side.n_ranks, 1);
    assert_int_equal(f->side.ranks[0], -1);
}

CASE(several_files_without_a_rank_must_be_told)
{
    shard(f, "z", -1, "z"); /* the run is the hash: nobody named it */
    shard(f, "y", -1, "y");
    shard(f, "x", -1, "x");
    assert_false(arrange(f, TG_ARRANGE_AUTO));
    assert_int_equal(f->err.kind, TG_ERR_USAGE);
    assert_string_equal(f->err.message, "3 files, no rank: ranks or repeats?");
    assert_non_null(strstr(f->err.hint, "--runs"));
    assert_non_null(strstr(f->err.hint, "--ranks"));
    assert_true(arrange(f, TG_ARRANGE_RUNS));
    assert_int_equal(f->side.n_runs, 3);
    assert_int_equal(f->side.n_ranks, 1);
    assert_cell(f, 0, 0, "x");
    assert_true(arrange(f, TG_ARRANGE_RANKS)); /* in order of arrival */
    assert_int_equal(f->side.n_ranks, 3);
    assert_int_equal(f->side.ranks[2], 2);
    assert_cell(f, 0, 0, "z");
    assert_cell(f, 0, 2, "x");
    shard(f, "r", 4, "r");
    assert_false(arrange(f, TG_ARRANGE_AUTO));
    assert_string_equal(f->err.message, "3 of 4 files have no rank");
}

CASE(named_runs_are_runs)
{
    shard(f, "monday", -1, "x");
    shard(f, "friday", -1, "y");
    assert_true(arrange(f, TG_ARRANGE_AUTO));
    assert_int_equal(f->side.n_runs, 2);
    assert_cell(f, 0, 0, "y");
}

CASE(ranks_given_twice_are_no_ranks)
{
    shard(f, "a", 3, "a");
    assert_true(arrange(f, TG_ARRANGE_RANKS));
    shard(f, "b", 3, "b");
    assert_false(arrange(f, TG_ARRANGE_RANKS));
    assert_string_equal(f->err.message, "rank 3 is there twice");
    assert_true(arrange(f, TG_ARRANGE_RUNS));
    assert_int_equal(f->side.ranks[0], 3);
}

/* Runs 1 and 2 of ranks 0 and 3: no run of one rank is compared with one of the other. */
CASE(runs_that_know_their_ranks_keep_them)
{
    shard(f, "1", 3, "b");
    shard(f, "2", 0, "c");
    shard(f, "1", 0, "a");
    shard(f, "2", 3, "d");
    assert_true(arrange(f, TG_ARRANGE_RUNS));
    assert_int_equal(f->side.n_runs, 2);
    assert_int_equal(f->side.n_ranks, 2);
    assert_int_equal(f->side.ranks[0], 0);
    assert_int_equal(f->side.ranks[1], 3);
    assert_cell(f, 0, 0, "a");
    assert_cell(f, 0, 1, "b");
    assert_cell(f, 1, 0, "c");
    assert_cell(f, 1, 1, "d");
    shard(f, "3", -1, "e"); /* one without: they are runs, as is said */
    assert_true(arrange(f, TG_ARRANGE_RUNS));
    assert_int_equal(f->side.n_runs, 5);
    assert_int_equal(f->side.n_ranks, 1);
}

CASE(the_same_content_twice_is_refused)
{
    shard(f, "a", 0, "same");
    shard(f, "b", 0, "same");
    assert_false(arrange(f, TG_ARRANGE_AUTO));
    assert_int_equal(f->err.kind, TG_ERR_USAGE);
    assert_string_equal(f->err.message,
                        "the same trace twice: 'f.json' (run a) and 'f.json' (run b)");
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

CASE(an_empty_side_is_refused)
{
    assert_false(arrange(f, TG_ARRANGE_AUTO));
    assert_int_equal(f->err.kind, TG_ERR_USAGE);
    assert_string_equal(f->err.message, "no traces");
}
