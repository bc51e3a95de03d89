/* Which files the baseline of a suite is, in repositories of a few commits; git says which commit. */
#include "tests/cmd/gate/job.h"

static const char *const committed[] = { "echo 1 > perf/base.json", "echo x > x", NULL };
static const char *const removed[] = { "echo 1 > perf/base.json", "rm perf/base.json", "echo x > x",
                                       NULL };
static const char *const nothing[] = { "echo x > x", "echo y > x", NULL };

static void finds(struct job *k, enum tg_situation situation, const char *commit, const char *how)
{
    assert_no_error(tg_check_find(&k->c, &k->j, &k->err), &k->err);
    assert_int_equal(k->j.what, JOB_COMPARE);
    assert_int_equal(k->j.info.situation, situation);
    is_text(k->j.info.commit, *commit ? job_commit(k, commit).sha : "");
    is_text(k->j.info.how, how);
}

static void fails(struct job *k, enum tg_err_kind kind, const char *message, const char *hint)
{
    assert_false(tg_check_find(&k->c, &k->j, &k->err));
    assert_error(&k->err, kind, message, hint);
}

IN_BOX(the_path_in_the_commit_before)
{
    struct job k = { 0 };
    job_repository(b, committed);
    job_open(&k, b, PATH_POLICY);
    finds(&k, TG_SITUATION_FOUND, "HEAD~1", "first parent of HEAD, which is on main");
    assert_int_equal(k.j.base.n, 1);
    assert_string_equal(k.j.base.v[0].label,
                        tg_arena_printf(k.box->a, "%.12s:perf/base.json", k.j.commit));
    job_close(&k);
}

IN_BOX(an_ancestors_where_that_commit_has_none)
{
    struct job k = { 0 };
    job_repository(b, removed);
    job_open(&k, b, PATH_POLICY);
    finds(&k, TG_SITUATION_GAP, "HEAD~2",
          "first parent of HEAD, which is on main, 1 commit before it");
    assert_int_equal(k.j.info.walked, 1);
    job_close(&k);
}

IN_BOX(nothing_anywhere_is_a_first_run)
{
    struct job k = { 0 };
    job_repository(b, nothing);
    job_open(&k, b, PATH_POLICY);
    assert_no_error(tg_check_find(&k.c, &k.j, &k.err), &k.err);
    assert_int_equal(k.j.what, JOB_FIRST_RUN);
    assert_int_equal(k.j.info.situation, TG_SITUATION_FIRST_RUN);
    assert_int_equal(k.j.base.n, 0);
    job_close(&k);
}

/* The same where the commit before was gated already. */
IN_BOX(but_lost_where_a_policy_was)
{
    static const char *const gated[] = { "echo 'version: 1' > .tracegate.yml", "echo x > x", NULL };
    struct job k = { 0 };
    job_repository(b, gated);
    job_open(&k, b, PATH_POLICY);
    fails(&k, TG_ERR_LOST, "perf/base.json", NULL);
    assert_int_equal(k.j.info.situation, TG_SITUATION_LOST);
    job_close(&k);
}

IN_BOX(what_the_command_line_names)
{
    static const char *path[] = { "perf/base.json" }, *two[] = { "perf/base.json", "x" },
                      *in_git[] = { "HEAD~1:perf/base.json" }, *rev[] = { "HEAD~1" };
    static const struct {
        struct tg_strs named;
        enum tg_situation situation;
        const char *commit, *how, *paths;
    } cases[] = {
        { { path, 1, 1 }, TG_SITUATION_PATH, "", "given on the command line", "perf/base.json" },
        { { two, 2, 2 }, TG_SITUATION_PATH, "", "given on the command line", "perf/base.json, x" },
        { { in_git, 1, 1 },
          TG_SITUATION_FOUND,
          "HEAD~1",
          "named on the command line",
          "HEAD~1:perf/base.json" },
        { { rev, 1, 1 }, TG_SITUATION_FOUND, "HEAD~1", "revision HEAD~1", "perf/base.json" },
    };
    job_repository(b, committed);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job k = { .o.baseline = cases[i].named };
        job_open(&k, b, PATH_POLICY);
        finds(&k, cases[i].situation, cases[i].commit, cases[i].how);
        is_text(k.j.info.paths, cases[i].paths);
        assert_int_equal(k.j.base.n, cases[i].named.n);
        job_close(&k);
    }
}

IN_BOX(a_named_commit_must_have_it)
{
    static const char *rev[] = { "HEAD" }, *unknown[] = { "nope" };
    struct job k = { .o.baseline = { rev, 1, 1 } };
    job_repository(b, removed);
    job_open(&k, b, PATH_POLICY);
    k.c.suites.policy->baseline.max_walk = 0;
    fails(&k, TG_ERR_LOST, "perf/base.json", NULL);
    job_close(&k);
    k = (struct job){ .o.baseline = { unknown, 1, 1 } };
    job_open(&k, b, PATH_POLICY);
    fails(&k, TG_ERR_REF, "'nope'", NULL);
    job_close(&k);
    box_sh(b, "rm -rf w/.git"); /* then it may have been a path */
    k = (struct job){ .o.baseline = { unknown, 1, 1 } };
    job_open(&k, b, PATH_POLICY);
    fails(&k, TG_ERR_GIT, NULL, NULL);
    is_in(k.err.context, "looking for a commit 'nope': no file or folder is called so");
    job_close(&k);
}

IN_BOX(what_is_stored_and_else_the_traces_own_path)
{
    static const char *own[] = { "perf/base.json" }, *rev[] = { "HEAD" };
    struct job k = { .args = { own, 1, 1 } };
    job_repository(b, committed);
    job_open(&k, b, STORED_POLICY);
    finds(&k, TG_SITUATION_FOUND, "HEAD~1", "first parent of HEAD, which is on main");
    is_text(k.j.info.paths, "perf/base.json");
    assert_false(k.j.base.v[0].stored);
    job_store(&k, "other", "HEAD~1", "not this one"); /* another suite's says nothing */
    k.j = (struct tg_check_job){ .suite = k.j.suite, .policy = k.j.policy };
    finds(&k, TG_SITUATION_FOUND, "HEAD~1", "first parent of HEAD, which is on main");
    is_text(k.j.info.paths, "perf/base.json");
    job_store(&k, "main", "HEAD~1", "a run");
    k.j = (struct tg_check_job){ .suite = k.j.suite, .policy = k.j.policy };
    finds(&k, TG_SITUATION_FOUND, "HEAD~1", "first parent of HEAD, which is on main");
    assert_true(k.j.base.n == 1 && k.j.base.v[0].stored);
    job_close(&k);
    /* The named commit's own file comes before a run that an ancestor has. */
    k = (struct job){ .args = { own, 1, 1 }, .o.baseline = { rev, 1, 1 } };
    job_open(&k, b, STORED_POLICY);
    finds(&k, TG_SITUATION_FOUND, "HEAD", "revision HEAD");
    is_text(k.j.info.paths, "perf/base.json");
    job_close(&k);
}

IN_BOX(a_named_commit_without_a_run_says_what_to_name)
{
    static const char *rev[] = { "HEAD~1" };
    struct job k = { .o.baseline = { rev, 1, 1 } };
    job_repository(b, nothing);
    job_open(&k, b, STORED_POLICY);
    fails(&k, TG_ERR_LOST, NULL, "`--baseline HEAD~1:PATH`");
    job_close(&k);
}

/* For what the change touched: found, or said where the baseline is a path; a mistake is told. */
IN_BOX(the_commit_of_the_baseline)
{
    static const struct {
        const char *found, *said, *want;
    } rows[] = {
        { NULL, NULL, NULL },         { "HEAD~1", NULL, "HEAD~1" }, { NULL, "HEAD~1", "HEAD~1" },
        { "HEAD", "HEAD~1", "HEAD" }, { NULL, "nope", NULL },
    };
    struct tg_err err;
    struct job k;
    tg_err_init(&err);
    job_repository(b, committed);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *got;
        k = (struct job){ .o.base_commit = NULL };
        job_open(&k, b, PATH_POLICY);
        assert_int_equal(
            tg_repo_commit(&k.c.named_base, &k.c.repo, "base-commit", rows[i].said, k.box->a, &err),
            i < 4);
        if (rows[i].found)
            k.j.info.commit =
                tg_sv_of(tg_arena_printf(k.box->a, "%s", job_commit(&k, rows[i].found).sha));
        got = tg_check_base_commit(&k.c, &k.j);
        assert_int_equal(!got, !rows[i].want);
        if (got)
            assert_string_equal(got, job_commit(&k, rows[i].want).sha);
        job_close(&k);
    }
    box_sh(b, "rm -rf w; mkdir w"); /* no repository at all */
    k = (struct job){ .o.base_commit = NULL };
    job_open(&k, b, PATH_POLICY);
    assert_false(tg_repo_commit(&k.c.named_base, &k.c.repo, "base-commit", "HEAD", k.box->a, &err));
    job_close(&k);
}
