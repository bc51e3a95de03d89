/* Stored runs along first parents as nights. Runs are summaries of traces made here. */
#include "cmd/gate/nights.h"
#include "tests/cmd/gate/stored.h"

static struct tg_nights load(struct job *k, const char *until)
{
    struct tg_store store = tg_store_open(job_git(k));
    struct tg_commit at = job_commit(k, until);
    struct tg_nights n;
    assert_no_error(tg_nights_load(&n, &store, TG_SV("main"), &at, NULL, &k->err), &k->err);
    return n;
}

static const char *const five[] = { "echo 1 > x", "echo 2 > x", "echo 3 > x",
                                    "echo 4 > x", "echo 5 > x", NULL };

/* Runs at HEAD~3 (two jobs), HEAD~1 and HEAD: three nights on a line of four commits. */
IN_BOX(a_night_is_a_commit_with_runs)
{
    struct tg_nights n;
    TG_AUTO(job_close) struct job k = { 0 };
    job_repository(b, five);
    job_open(&k, b, STORED_POLICY);
    store_run(&k, "main", "HEAD~3", 1);
    store_run(&k, "main", "HEAD~3", 2);
    store_run(&k, "main", "HEAD~1", 3);
    store_run(&k, "main", "HEAD", 4);
    store_run(&k, "other", "HEAD~4", 5);
    n = load(&k, "HEAD");
    assert_int_equal(n.history.n, 3);
    assert_int_equal(n.n_line, 4);
    assert_int_equal(n.place[0], 0);
    assert_int_equal(n.place[1], 2);
    assert_int_equal(n.place[2], 3);
    is_text(n.history.night[0].commit, job_commit(&k, "HEAD~3").sha);
    is_text(n.history.night[0].subject, "commit");
    assert_true(!n.cut && !n.elsewhere && !n.unread);
    tg_nights_release(&n);
    n = load(&k, "HEAD~1");
    assert_int_equal(n.history.n, 2);
    assert_int_equal(n.elsewhere, 1); /* HEAD's */
    tg_nights_release(&n);
    n = load(&k, "HEAD~4");
    assert_int_equal(n.history.n, 0);
    assert_int_equal(n.n_line, 0);
    assert_int_equal(n.elsewhere, 3);
    tg_nights_release(&n);
}

IN_BOX(a_night_that_cannot_be_read_is_counted)
{
    struct tg_nights n;
    TG_AUTO(job_close) struct job k = { 0 };
    job_repository(b, five);
    job_open(&k, b, STORED_POLICY);
    store_run(&k, "main", "HEAD~1", 1);
    job_store(&k, "main", "HEAD", "not a summary");
    n = load(&k, "HEAD");
    assert_int_equal(n.history.n, 1);
    assert_int_equal(n.unread, 1);
    is_in(n.unread_why, tg_arena_printf(k.box->a, "%.12s: ", job_commit(&k, "HEAD").sha));
    tg_nights_release(&n);
}

IN_BOX(suites_that_something_is_stored_of)
{
    TG_AUTO(job_close) struct job k = { 0 };
    tg_sv *suites;
    size_t n;
    job_repository(b, five);
    job_open(&k, b, STORED_POLICY);
    {
        struct tg_store store = tg_store_open(job_git(&k));
        assert_no_error(tg_nights_suites(&store, k.box->a, &suites, &n, &k.err), &k.err);
        assert_int_equal(n, 0);
        job_store(&k, "b", "HEAD", "1");
        job_store(&k, "a", "HEAD", "2");
        job_store(&k, "b", "HEAD~1", "3");
        assert_no_error(tg_nights_suites(&store, k.box->a, &suites, &n, &k.err), &k.err);
    }
    assert_int_equal(n, 2);
    is_text(suites[0], "a");
    is_text(suites[1], "b");
}
