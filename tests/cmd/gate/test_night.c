/* Earlier nights judged as they were: each against the baseline that its own check had. */
#include "tests/cmd/gate/stored.h"

static const char *const five[] = { "echo 1 > x", "echo 2 > x", "echo 3 > x",
                                    "echo 4 > x", "echo 5 > x", NULL };

#define POLICY(ref)                                                                                \
    "version: 1\nbaseline: {ref: '" ref "'}\nsuites: [{name: main, trace: 'o.json'}]\n"            \
    "rules:\n  - {id: calls, match: {kind: op}, metric: count, fail: {abs: 0}}\n"

/* aten::mm is called once, from HEAD~2 on twice; nothing is stored at HEAD~1. HEAD~3 is release
 * v1. */
static void open_nights(struct job *k, const struct box *b, const char *policy)
{
    static const unsigned calls[] = { 2, 0, 2, 1, 1 };
    job_repository(b, five);
    box_sh(b, "cd w; git tag v1 HEAD~3");
    job_open(k, b, policy);
    for (int i = 4; i >= 0; i--)
        if (calls[i])
            store_run(k, "main", tg_arena_printf(k->box->a, "HEAD~%d", i), calls[i]);
    memcpy(k->j.commit, job_commit(k, "HEAD~4").sha, sizeof k->j.commit);
    tg_check_ask_nights(&k->c, &k->j);
}

static void failed(struct job *k, const char *rev, bool want)
{
    struct tg_known *v = NULL;
    size_t n;
    assert_no_error(k->j.known.failures(k->j.known.arg, job_commit(k, rev).sha, &v, &n, &k->err),
                    &k->err);
    if (n != want)
        fail_msg("%s: %zu failures", rev, n);
    if (!want)
        return;
    is_text(v->rule, "calls");
    is_text(v->name, "aten::mm");
    assert_int_equal(v->metric, TG_RULE_METRIC_COUNT);
    assert_int_equal(v->kind, TG_KIND_OP);
    assert_true(v->before == 1 && v->after == 2);
}

IN_BOX(against_the_nights_before_it)
{
    static const char *const policy[] = { POLICY("window(3)"), POLICY("merge-base"),
                                          POLICY("parent") };
    for (size_t i = 0; i < 3; i++) {
        TG_AUTO(job_close) struct job k = { 0 };
        open_nights(&k, b, policy[i]);
        failed(&k, "HEAD~2", true);
        failed(&k, "HEAD", false); /* HEAD~2 is its baseline */
        failed(&k, "HEAD~1", false);
        failed(&k, "HEAD~4", false); /* there is nothing before it */
    }
}

IN_BOX(against_the_release_before_it)
{
    TG_AUTO(job_close) struct job k = { 0 };
    open_nights(&k, b, POLICY("release(v*)"));
    failed(&k, "HEAD~2", true);
    failed(&k, "HEAD", true);
    failed(&k, "HEAD~3", false); /* the release itself: there is none before it */
}

/* What failed in it is not known, which is not "nothing". */
IN_BOX(a_night_that_cannot_be_read_is_an_error)
{
    TG_AUTO(job_close) struct job k = { 0 };
    struct tg_known *v = NULL;
    size_t n;
    open_nights(&k, b, POLICY("release(v*)"));
    job_store(&k, "main", "HEAD", "not a summary");
    assert_false(k.j.known.failures(k.j.known.arg, job_commit(&k, "HEAD").sha, &v, &n, &k.err));
    is_in(k.err.message, "not a summary");
    assert_int_equal(n, 0);
}

/* The change begins where HEAD leaves the target, whatever the policy compares it with. */
IN_BOX(where_the_change_begins)
{
    TG_AUTO(job_close) struct job k = { 0 };
    struct tg_commit at;
    open_nights(&k, b, POLICY("release(v*)"));
    assert_int_equal(k.j.known.until(k.j.known.arg, &at, &k.err), TG_SEEN);
    assert_string_equal(at.sha, job_commit(&k, "HEAD~1").sha);
    job_close(&k);
    job_repository(b, five);
    box_sh(b, "cd w; git checkout -q -b change HEAD~2; git commit -q --allow-empty -m 1; git "
              "commit -q --allow-empty -m 2");
    job_open(&k, b, POLICY("window(3)"));
    memcpy(k.j.commit, job_commit(&k, "HEAD~4").sha, sizeof k.j.commit);
    tg_check_ask_nights(&k.c, &k.j);
    assert_int_equal(k.j.known.until(k.j.known.arg, &at, &k.err), TG_SEEN);
    assert_string_equal(at.sha, job_commit(&k, "main~2").sha);
}

/* A baseline that the command line names has no nights. */
IN_BOX(not_for_a_named_baseline)
{
    TG_AUTO(job_close) struct job k = { 0 };
    job_repository(b, five);
    job_open(&k, b, POLICY("window(3)"));
    memcpy(k.j.commit, job_commit(&k, "HEAD~4").sha, sizeof k.j.commit);
    k.j.named = true;
    tg_check_ask_nights(&k.c, &k.j);
    assert_null(k.j.gate.known);
    k.j.named = false;
    tg_check_ask_nights(&k.c, &k.j);
    assert_non_null(k.j.gate.known);
}
