/* Runs of one commit under a policy: named, the suite's own in HEAD, or stored. */
#include "tests/cmd/gate/job.h"

#include "cmd/gate/gate.h"
#include "tests/cmd/gate/traces.h"

static void write_runs(const struct box *b, const char *folder, unsigned n)
{
    struct tg_err err = TG_ERR_INIT;
    for (unsigned i = 0; i < n; i++)
        assert_no_error(tg_file_write(tg_arena_printf(b->a, "%s/%s/r%u.json", b->dir, folder, i),
                                      tg_sv_of(trace_text(b->a, -1, 1, 10 + i)), &err),
                        &err);
}

static bool open_same(struct tg_gate_same *s, struct job *k, const char *path, size_t min_runs)
{
    static const struct tg_gate_opts none;
    const char *named[] = { path };
    const struct tg_strs args = { named, path != NULL, 1 };
    const struct tg_cmd_call call = job_call(k, &args);
    return tg_gate_same_open(s, &none, &call, "calibrate", min_runs, &k->err);
}

IN_BOX(named_files_without_a_rank_are_runs)
{
    static const char *const commits[] = { "echo x > x", NULL };
    struct tg_gate_same s;
    TG_AUTO(job_close) struct job k = { 0 };
    job_repository(b, commits);
    write_runs(b, "w/perf", 3);
    job_open(&k, b, "");
    assert_no_error(open_same(&s, &k, "perf", 3), &k.err);
    assert_int_equal(s.all.n_runs, 3);
    assert_int_equal(s.all.n_ranks, 1);
    assert_true(s.policy->built_in && s.compare.min_runs == 3);
    tg_gate_same_release(&s);
    assert_false(open_same(&s, &k, "perf", 4));
    assert_error(&k.err, TG_ERR_USAGE, "3 runs: calibrate needs at least 4", NULL);
    tg_gate_same_release(&s);
}

IN_BOX(else_the_suites_own_in_head)
{
    static const char policy[] =
        "version: 1\nsuites: [{name: main, trace: 'o.json', baseline: 'perf/*.json'}]\n";
    static const char *const commits[] = { "echo x > x", NULL };
    struct tg_gate_same s;
    TG_AUTO(job_close) struct job k = { 0 };
    job_repository(b, commits);
    write_runs(b, "w/perf", 2);
    box_sh(b, "cd w; git add -A; git commit -qm runs; rm perf/*");
    job_open(&k, b, policy);
    assert_no_error(open_same(&s, &k, NULL, 2), &k.err);
    assert_int_equal(s.all.n_runs, 2);
    is_text(s.suite->name, "main");
    tg_gate_same_release(&s);
}

IN_BOX(else_what_is_stored)
{
    static const char *const commits[] = { "echo x > x", "echo y > y", NULL };
    struct tg_gate_same s;
    TG_AUTO(job_close) struct job k = { 0 };
    job_repository(b, commits);
    job_open(&k, b, STORED_POLICY);
    assert_false(open_same(&s, &k, NULL, 1));
    assert_error(&k.err, TG_ERR_USAGE, "nothing is stored for suite 'main' up to HEAD",
                 "tracegate baseline fetch");
    tg_gate_same_release(&s);
    tg_err_init(&k.err);
    {
        TG_BUF stored = { 0 };
        write_runs(b, "w/perf", 1);
        assert_no_error(open_same(&s, &k, "perf", 1), &k.err);
        assert_no_error(tg_summary_write(&s.summary, NULL, &stored, &k.err), &k.err);
        tg_gate_same_release(&s);
        tg_buf_putc(&stored, '\0');
        job_store(&k, "main", "HEAD~1", stored.p);
    }
    assert_no_error(open_same(&s, &k, NULL, 1), &k.err);
    assert_int_equal(s.all.n_runs, 1);
    tg_gate_same_release(&s);
}

IN_BOX(outside_a_repository_they_must_be_named)
{
    struct tg_gate_same s;
    TG_AUTO(job_close) struct job k = { 0 };
    box_sh(b, "mkdir w");
    job_open(&k, b, "");
    assert_false(open_same(&s, &k, NULL, 1));
    assert_error(&k.err, TG_ERR_USAGE, "calibrate needs traces", "tracegate calibrate out/run");
    tg_gate_same_release(&s);
}
