/* No baseline in this clone: a first run, never recorded, or only not fetched. */
#include "tests/cmd/gate/job.h"

static const char *const ungated[] = { "echo x > x", NULL };
static const char *const gated[] = { "echo 'version: 1' > .tracegate.yml", NULL };

/* As find.c asks: from a commit, of which nothing was found. */
static bool first_run_from(struct job *k, struct tg_commit start)
{
    struct tg_baseline b = { .start = start, .path = TG_SV("perf/base.json") };
    k->j.what = JOB_COMPARE;
    return tg_check_first_run(&k->c, &k->j, job_git(k), &b, &k->err);
}

static bool first_run(struct job *k)
{
    return first_run_from(k, job_commit(k, "HEAD"));
}

static void refused(struct job *k, const char *message, const char *hint)
{
    assert_false(first_run(k));
    assert_error(&k->err, TG_ERR_LOST, message, hint);
    assert_int_equal(k->j.what, JOB_COMPARE);
    tg_err_init(&k->err);
}

IN_BOX(a_commit_without_a_policy_was_never_gated)
{
    TG_AUTO(job_close) struct job k = { 0 };
    job_repository(b, ungated);
    job_open(&k, b, PATH_POLICY);
    assert_no_error(first_run(&k), &k.err);
    assert_int_equal(k.j.what, JOB_FIRST_RUN);
    assert_string_equal(job_text(&k, "stderr"), "");
    job_close(&k);
    job_repository(b, gated);
    job_open(&k, b, PATH_POLICY);
    refused(&k, "no baseline `perf/base.json` in commit",
            "`baseline:` of suite main (.tracegate.yml:2), a path from");
}

IN_BOX(a_stored_suite_says_that_origin_was_not_asked)
{
    TG_AUTO(job_close) struct job k = { 0 };
    job_repository(b, ungated);
    job_open(&k, b, STORED_POLICY);
    assert_no_error(first_run(&k), &k.err);
    is_in(job_text(&k, "stderr"), "nothing is stored for suite 'main' in this clone: run "
                                  "`tracegate baseline fetch` first");
    job_close(&k);
    job_repository(b, gated);
    job_open(&k, b, STORED_POLICY);
    refused(&k, "in this clone, and that commit has a policy (.tracegate.yml)",
            "'origin' could not be asked which");
}

/* A clone whose origin holds as many runs of suite main, at the commit that is HEAD here. */
static void open_clone(struct job *k, const struct box *b, const char *const *commits, int runs,
                       const char *policy)
{
    struct job origin = { 0 };
    job_repository(b, commits);
    job_open(&origin, b, NULL);
    for (int i = 0; i < runs; i++)
        job_store(&origin, "main", "HEAD", i ? "one" : "two");
    job_store(&origin, "other", "HEAD", "of another suite");
    job_close(&origin);
    box_sh(b, "rm -rf origin; mv w origin; git clone -q \"file://$PWD/origin\" w");
    *k = (struct job){ 0 };
    job_open(k, b, policy);
}

IN_BOX(what_origin_holds_is_to_be_fetched)
{
    struct tg_baseline lost = { .found = TG_FOUND_LOST };
    struct job k;
    open_clone(&k, b, ungated, 1, STORED_POLICY); /* even where no policy was */
    refused(&k, "1 run of suite 'main' is stored at 'origin' and not fetched",
            "`tracegate baseline fetch`");
    lost.start = job_commit(&k, "HEAD");
    assert_false(tg_check_lost(&k.c, &k.j, job_git(&k), &lost, &k.err));
    assert_error(&k.err, TG_ERR_LOST, "1 run of suite 'main' is stored", NULL);
    job_close(&k);
    open_clone(&k, b, gated, 2, STORED_POLICY);
    refused(&k, "2 runs of suite 'main' are stored at 'origin'", NULL);
    job_close(&k);
}

IN_BOX(an_origin_that_holds_none_is_told_so)
{
    struct tg_baseline lost = { .found = TG_FOUND_LOST, .path = TG_SV("stored:main") };
    struct job k;
    open_clone(&k, b, ungated, 0, STORED_POLICY);
    assert_no_error(first_run(&k), &k.err);
    is_in(job_text(&k, "stderr"), "nothing is stored for suite 'main' yet, here or at 'origin'");
    lost.start = job_commit(&k, "HEAD");
    assert_false(tg_check_lost(&k.c, &k.j, job_git(&k), &lost, &k.err));
    assert_error(&k.err, TG_ERR_LOST, "stored:main", "Fetch what is stored");
    job_close(&k);
    open_clone(&k, b, gated, 0, STORED_POLICY);
    refused(&k, ", here or at 'origin', and that commit has a policy",
            "The first commit? Record it");
    job_close(&k);
}

/* Runs of HEAD itself, as after the first recording, are no baseline of it; and of a clone without
 * HEAD nobody can say. */
IN_BOX(runs_of_head_itself_are_no_baseline)
{
    static const char *const night[] = { "echo 'version: 1' > .tracegate.yml", "echo 2 > x", NULL };
    struct tg_commit start;
    struct job k;
    open_clone(&k, b, night, 1, STORED_POLICY);
    start = job_commit(&k, "HEAD~1");
    assert_false(first_run_from(&k, start));
    assert_error(&k.err, TG_ERR_LOST, ", here or at 'origin', and that commit has a policy",
                 "The only runs are of HEAD itself");
    box_sh(b, "echo 'ref: refs/heads/none' > w/.git/HEAD");
    assert_false(first_run_from(&k, start));
    assert_error(&k.err, TG_ERR_LOST, "in this clone, and that commit has a policy",
                 "'origin' could not be asked which");
    job_close(&k);
    open_clone(&k, b, (const char *const[]){ "echo 1 > x", "echo 2 > x", NULL }, 1, STORED_POLICY);
    assert_no_error(first_run_from(&k, job_commit(&k, "HEAD~1")), &k.err);
    is_in(job_text(&k, "stderr"), "nothing is stored for suite 'main' yet, here or at 'origin'");
    job_close(&k);
}

/* In a clone that is cut nobody can say whose the runs at origin are; that there are none, one
 * can. */
IN_BOX(a_clone_that_is_cut)
{
    for (int runs = 0; runs < 2; runs++) {
        struct job k;
        open_clone(&k, b, gated, runs, STORED_POLICY);
        job_close(&k);
        box_sh(b, "cd origin; git commit -q --allow-empty -m more; cd ..; rm -rf w; git clone -q "
                  "--depth 1 \"file://$PWD/origin\" w");
        k = (struct job){ 0 };
        job_open(&k, b, STORED_POLICY);
        refused(&k, runs ? "in this clone, and that" : ", here or at 'origin', and that", NULL);
        job_close(&k);
    }
}

/* The first commit of all has none before it to start from, so nobody can say whose runs those
 * are. */
IN_BOX(without_a_commit_origin_says_nothing)
{
    TG_AUTO(job_close) struct job k;
    open_clone(&k, b, ungated, 1, STORED_POLICY);
    assert_no_error(first_run_from(&k, (struct tg_commit){ 0 }), &k.err);
    is_in(job_text(&k, "stderr"), "nothing is stored for suite 'main' in this clone: run");
}

IN_BOX(a_baseline_at_a_path_is_not_sought_at_origin)
{
    struct tg_baseline lost = { .found = TG_FOUND_LOST, .path = TG_SV("perf/base.json") };
    TG_AUTO(job_close) struct job k;
    open_clone(&k, b, ungated, 1, PATH_POLICY);
    assert_no_error(first_run(&k), &k.err);
    assert_string_equal(job_text(&k, "stderr"), "");
    lost.start = job_commit(&k, "HEAD");
    assert_false(tg_check_lost(&k.c, &k.j, job_git(&k), &lost, &k.err));
    assert_error(&k.err, TG_ERR_LOST, "no baseline `perf/base.json`",
                 "commit them there as perf/base.json, then rebase");
    lost.beyond = 7; /* it only is too far back */
    assert_false(tg_check_lost(&k.c, &k.j, job_git(&k), &lost, &k.err));
    assert_error(&k.err, TG_ERR_LOST, "no baseline `perf/base.json`",
                 "It was last there 7 commits back");
}
