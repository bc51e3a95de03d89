/* `baseline: {ref: window(N)}`: stored runs of the commits before the baseline's join it. */
#include "tests/cmd/gate/job.h"

#define WINDOW(n)                                                                                  \
    "version: 1\nbaseline: {ref: window(" #n ")}\nsuites: [{name: main, trace: 'o.json'}]\n"
static const char *const five[] = { "echo 1 > x", "echo 2 > x", "echo 3 > x",
                                    "echo 4 > x", "echo 5 > x", NULL };

/* The baseline is HEAD~1 after `walked` commits without one; HEAD~3 has two runs, HEAD~4 one. */
static void join(struct job *k, unsigned walked)
{
    struct tg_store store = tg_store_in_git(job_git(k));
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
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job k = { 0 };
        job_repository(b, five);
        job_open(&k, b, cases[i].policy);
        join(&k, cases[i].walked);
        assert_int_equal(k.j.base.n, cases[i].n);
        is_text(k.j.info.how, cases[i].how);
        job_close(&k);
    }
}

IN_BOX(a_path_has_no_window_and_says_so)
{
    struct tg_git_file file = { .path = TG_SV("perf/base.json") };
    struct tg_git_files files = { &file, 1 };
    struct tg_baseline base = { .path = file.path };
    struct job k = { 0 };
    job_repository(b, five);
    job_open(&k, b, WINDOW(3));
    base.commit = job_commit(&k, "HEAD~1");
    tg_inputs_add_git(&k.j.base, base.commit.sha, &files, k.box->a);
    assert_no_error(tg_check_window(&k.c, &k.j, job_git(&k), &base, &k.err), &k.err);
    assert_int_equal(k.j.base.n, 1);
    is_in(job_text(&k, "stderr"),
          "window(3) is of stored baselines; 'perf/base.json' is that of one commit");
    job_close(&k);
}
