/* `baseline: {ref: window(N)}`: stored runs of the commits before the baseline's join it. */
#include "tests/cmd/gate/stored.h"

#define WINDOW(n)                                                                                  \
    "version: 1\nbaseline: {ref: window(" #n ")}\nsuites: [{name: main, trace: 'o.json'}]\n"
static const char *const five[] = { "echo 1 > x", "echo 2 > x", "echo 3 > x",
                                    "echo 4 > x", "echo 5 > x", NULL };

/* The baseline is HEAD~1 after `walked` commits without one; HEAD~3 has two runs, HEAD~4 one. */
static void join(struct job *k, unsigned walked)
{
    struct tg_store store = tg_store_open(job_git(k));
    struct tg_baseline b = { .commit = job_commit(k, "HEAD~1"), .walked = walked };
    job_store(k, "main", "HEAD~1", "a");
    job_store(k, "main", "HEAD~3", "b");
    job_store(k, "main", "HEAD~3", "c");
    job_store(k, "main", "HEAD~4", "d");
    assert_no_error(
        tg_store_files(&store, TG_SV("main"), b.commit.sha, k->box->a, &b.files, &k->err), &k->err);
    tg_inputs_add_git(&k->j.base, b.commit.sha, &b.files, k->box->a);
    k->j.info.how = TG_SV("here");
    assert_no_error(tg_check_window(&k->c, &k->j, job_git(k), &b, &k->err), &k->err);
}

/* Of window(N): N commits counted from the one where the search began. */
IN_BOX(as_many_commits_as_it_says)
{
    static const struct {
        const char *policy;
        unsigned walked;
        size_t n;
        const char *how;
    } cases[] = {
        { STORED_POLICY, 0, 1, "here" },
        { WINDOW(1), 0, 1, "here" },
        { WINDOW(2), 0, 1, "here" }, /* HEAD~2 has none */
        { WINDOW(3), 0, 3, "here, and 1 before it: 3 runs of window(3)" },
        { WINDOW(9), 0, 4, "here, and 2 before it: 4 runs of window(9)" },
        { WINDOW(4), 1, 3, "here, and 1 before it: 3 runs of window(4)" },
        { WINDOW(3), 2, 1, "here" },
        { WINDOW(3), 5, 1, "here" }, /* it began before the window does */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TG_AUTO(job_close) struct job k = { 0 };
        job_repository(b, five);
        job_open(&k, b, cases[i].policy);
        join(&k, cases[i].walked);
        assert_int_equal(k.j.base.n, cases[i].n);
        is_text(k.j.info.how, cases[i].how);
    }
}

/* A run: aten::mm is called as often as the digit says; r: once, and the driver once more; x:
 * unreadable. */
static void store_runs(struct job *k, const char *rev, const char *runs)
{
    for (; *runs; runs++)
        if (*runs == 'x')
            job_store(k, "main", rev, "not a summary");
        else if (*runs == 'r')
            store_trace(k, "main", rev,
                        trace_of(k->box->a, -1,
                                 (const struct trace_calls[]){
                                     { "aten::mm", "cpu_op", 1, 10 },
                                     { "cudaLaunchKernel", "cuda_runtime", 1, 5 } },
                                 2));
        else
            store_run(k, "main", rev, (unsigned)(*runs - '0'));
}

/* The baseline is HEAD~1; the runs of each commit from there on, and what then happens to the
 * store. */
static bool window_of(struct job *k, const char *const runs[4], const char *script)
{
    struct tg_baseline b = { .commit = job_commit(k, "HEAD~1") };
    struct tg_store store = tg_store_open(job_git(k));
    for (int i = 0; i < 4; i++)
        store_runs(k, tg_arena_printf(k->box->a, "HEAD~%d", i + 1), runs[i]);
    assert_no_error(
        tg_store_files(&store, TG_SV("main"), b.commit.sha, k->box->a, &b.files, &k->err), &k->err);
    tg_inputs_add_git(&k->j.base, b.commit.sha, &b.files, k->box->a);
    box_sh(k->box, script);
    return tg_check_window(&k->c, &k->j, job_git(k), &b, &k->err);
}

/* docs/baselines.md: back to where the number of calls of an operator changed. */
IN_BOX(until_the_calls_changed)
{
    static const struct {
        const char *runs[4];
        size_t n;        /* runs of the window */
        int last;        /* its oldest commit, before HEAD */
        const char *cut; /* NULL: it is whole */
    } rows[] = {
        { { "1", "1", "1", "1" }, 4, 4, NULL },
        { { "1", "1", "2", "1" }, 2, 2, "HEAD~3" },
        { { "2", "1", "2", "2" }, 1, 1, "HEAD~2" },
        { { "2", "2", "2", "1" }, 3, 3, "HEAD~4" },
        { { "1", "r", "1", "1" }, 4, 4, NULL }, /* a call of the driver is no operator */
        { { "r", "1", "r", "r" }, 4, 4, NULL },
        { { "1", "12", "1", "1" }, 5, 4, NULL }, /* what the runs of a commit do not agree on */
        { { "12", "1", "2", "1" }, 5, 4, NULL },
        { { "1", "x", "1", "1" }, 4, 4, NULL }, /* the reader says so */
        { { "1", "x", "2", "1" }, 2, 2, "HEAD~3" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        TG_AUTO(job_close) struct job k = { 0 };
        job_repository(b, five);
        job_open(&k, b, WINDOW(9));
        assert_no_error(window_of(&k, rows[i].runs, ""), &k.err);
        if (k.j.base.n != rows[i].n)
            fail_msg("row %zu: %zu runs", i, k.j.base.n);
        const char *oldest = tg_arena_printf(b->a, "HEAD~%d", rows[i].last);
        assert_string_equal(k.j.oldest, job_commit(&k, oldest).sha);
        if (rows[i].cut)
            is_in(k.j.info.how.p, tg_arena_printf(b->a, ", since the calls changed after %.12s",
                                                  job_commit(&k, rows[i].cut).sha));
        else if (strstr(k.j.info.how.p, "changed"))
            fail_msg("row %zu: %s", i, k.j.info.how.p);
    }
}

/* A store that cannot be read is an error, not a shorter window: a run that is gone, refs that are
 * damaged. */
IN_BOX(a_store_that_is_damaged)
{
    static const char *const runs[] = { "1", "2", "1", "1" };
    static const char *const scripts[] = {
        "cd w; o=$(git for-each-ref --format='%(objectname)' refs/tracegate/v1/main/$(git "
        "rev-parse HEAD~2)/); rm -f .git/objects/$(echo $o | sed 's|..|&/|')",
        "echo nonsense > w/.git/packed-refs",
    };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        TG_AUTO(job_close) struct job k = { 0 };
        job_repository(b, five);
        job_open(&k, b, WINDOW(9));
        k.j.info.how = TG_SV("here");
        if (window_of(&k, runs, scripts[i]) || k.j.oldest)
            fail_msg("row %zu", i);
        is_text(k.j.info.how, "here");
    }
}

IN_BOX(a_path_has_no_window_and_says_so)
{
    static const struct {
        const char *policy, *says;
    } rows[] = {
        { WINDOW(3), "window(3) is of stored baselines; 'perf/base.json' is that of one commit" },
        { STORED_POLICY, "" }, /* nobody asked for one */
    };
    struct tg_git_file file = { .path = TG_SV("perf/base.json") };
    struct tg_git_files files = { &file, 1 };
    struct tg_baseline base = { .path = file.path };
    for (size_t i = 0; i < 2; i++) {
        TG_AUTO(job_close) struct job k = { 0 };
        job_repository(b, five);
        job_open(&k, b, rows[i].policy);
        base.commit = job_commit(&k, "HEAD~1");
        tg_inputs_add_git(&k.j.base, base.commit.sha, &files, k.box->a);
        assert_no_error(tg_check_window(&k.c, &k.j, job_git(&k), &base, &k.err), &k.err);
        assert_int_equal(k.j.base.n, 1);
        is_in(job_text(&k, "stderr"), rows[i].says);
        assert_int_equal(!*job_text(&k, "stderr"), !*rows[i].says);
    }
}
