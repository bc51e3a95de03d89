/* One file in two roles. */
#include "tests/cmd/gate/job.h"

static const char *const committed[] = { "echo same > perf/base.json", "echo x > x", NULL };

/* A fresh file against a path; NULL: the committed perf/base.json, as the policy names it. */
static bool apart(struct job *k, const char *fresh, const char *base)
{
    struct tg_git_files files;
    struct tg_commit head = job_commit(k, "HEAD");
    assert_no_error(tg_inputs_add(&k->j.fresh, fresh, &k->c.repo, k->box->a, &k->err), &k->err);
    if (base)
        assert_no_error(tg_inputs_add(&k->j.base, base, &k->c.repo, k->box->a, &k->err), &k->err);
    else
        assert_no_error(
            tg_git_list(job_git(k), head.sha, "perf/base.json", k->box->a, &files, &k->err),
            &k->err);
    if (!base)
        tg_inputs_add_git(&k->j.base, head.sha, &files, k->box->a);
    return tg_check_two_sides(&k->c, &k->j, &k->err);
}

IN_BOX(a_recording_is_on_one_side)
{
    static const struct {
        const char *fresh, *base;
        bool apart;
    } cases[] = {
        { "perf/base.json", NULL, false }, /* the bytes that are committed */
        { "copy.json", NULL, false },
        { "changed.json", NULL, true },
        { "HEAD:perf/base.json", NULL, false },
        { "HEAD:x", NULL, true },
        { "copy.json", "./copy.json", false },
        { "copy.json", "link.json", false },
        { "copy.json", "changed.json", true },
        { "HEAD:perf/base.json", "copy.json", false },
        { "HEAD:perf/base.json", "changed.json", true },
    };
    static const char *x[] = { "x" };
    const struct tg_strs named = { x, 1, 1 };
    struct job k;
    job_repository(b, committed);
    box_sh(b, "cd w; echo same > copy.json; echo x2 > changed.json; ln -s copy.json link.json");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        k = (struct job){ 0 };
        job_open(&k, b, PATH_POLICY);
        if (apart(&k, cases[i].fresh, cases[i].base) != cases[i].apart)
            fail_msg("%s and %s", cases[i].fresh, cases[i].base ? cases[i].base : "perf/base.json");
        if (!cases[i].apart)
            assert_error(&k.err, TG_ERR_IO, "1 of 1 fresh traces is the baseline's own", "itself");
        job_close(&k);
    }
    for (int by_user = 0; by_user < 4; by_user++) { /* whoever names both knows */
        k = (struct job){ 0 };
        if (by_user & 1)
            k.args = named;
        if (by_user & 2)
            k.o.baseline = named;
        job_open(&k, b, PATH_POLICY);
        assert_int_equal(apart(&k, "copy.json", "copy.json"), by_user == 3);
        job_close(&k);
    }
}

IN_BOX(a_report_replaces_no_input)
{
    static const struct {
        const char *report, *policy;
        bool fine;
    } cases[] = {
        { "fresh.json", PATH_POLICY, false },
        { "./perf/../fresh.json", PATH_POLICY, false },
        { "link.json", PATH_POLICY, false },
        { "base.json", PATH_POLICY, false },
        { ".tracegate.yml", PATH_POLICY, false },
        { "cause0.json", PATH_POLICY, false },
        { "cause1.json", PATH_POLICY, false },
        { "report.json", PATH_POLICY, true },
        { "report.json", "", true },
    };
    job_repository(b, committed);
    box_sh(b, "cd w; echo a > fresh.json; echo b > base.json; ln -s fresh.json link.json; "
              "echo c > cause0.json; echo d > cause1.json");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TG_AUTO(job_close) struct job k = { 0 };
        job_open(&k, b, cases[i].policy);
        k.o.report[TG_REPORT_json] = cases[i].report;
        assert_true(apart(&k, "fresh.json", "base.json"));
        for (int side = 0; side < 2; side++)
            assert_no_error(tg_inputs_add(&k.c.cause[side], side ? "cause1.json" : "cause0.json",
                                          &k.c.repo, b->a, &k.err),
                            &k.err);
        assert_no_error(tg_check_open_reports(&k.c, &k.j, &k.err), &k.err);
        if (tg_check_outputs(&k.c, &k.j, &k.err) != cases[i].fine)
            fail_msg("%s", cases[i].report);
        if (!cases[i].fine)
            assert_error(&k.err, TG_ERR_USAGE, "would overwrite", NULL);
    }
}
