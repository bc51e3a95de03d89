/* Where reports go, what they tell of the fresh side, and the command that repeats a check. */
#include "tests/cmd/gate/job.h"

#include <time.h>

static const char *const committed[] = { "echo 1 > perf/base.json", NULL };
#define TWO_SUITES                                                                                 \
    "version: 1\nsuites: [{name: a, trace: 'a.json', baseline: 'b.json'},\n"                       \
    "         {name: b, trace: 'b.json', baseline: 'b.json'}]\n"

/* A verdict that says nothing, without traces. */
static void report(struct job *k)
{
    k->j.verdict = (struct tg_verdict){ .outcome = TG_OUTCOME_PASS };
    tg_verdict_first_run(&k->j.verdict, TG_OUTCOME_PASS, k->box->a);
    assert_no_error(tg_check_open_reports(&k->c, &k->j, &k->err), &k->err);
    tg_check_describe(&k->c, &k->j);
    assert_no_error(tg_check_report(&k->c, &k->j, &k->err), &k->err);
}

IN_BOX(several_suites_write_a_file_each)
{
    static const struct {
        const char *report, *file, *policy;
    } cases[] = {
        { "r.json", "r.json", PATH_POLICY },
        { "r.json", "r-a.json", TWO_SUITES },
        { "perf/r.html.gz", "perf/r-a.html.gz", TWO_SUITES },
        { "r", "r-a", TWO_SUITES },
        { "./.hidden", "./.hidden-a", TWO_SUITES },
    };
    job_repository(b, committed);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TG_AUTO(job_close) struct job k = { 0 };
        job_open(&k, b, cases[i].policy);
        k.o.report[TG_REPORT_json] = cases[i].report;
        report(&k);
        if (access(cases[i].file, F_OK) != 0)
            fail_msg("no %s", cases[i].file);
        is_in(job_text(&k, "stdout"), "FIRST RUN"); /* the text goes on besides */
    }
}

/* The text keeps away from standard output if a report is there. */
IN_BOX(a_report_on_standard_output_is_alone_there)
{
    TG_AUTO(job_close) struct job k = { 0 };
    job_repository(b, committed);
    job_open(&k, b, PATH_POLICY);
    k.o.report[TG_REPORT_json] = "-";
    report(&k);
    assert_int_equal(job_text(&k, "stdout")[0], '{');
    assert_null(strstr(job_text(&k, "stdout"), "coverage "));
    assert_int_not_equal(access("-", F_OK), 0);
    job_close(&k);
    k = (struct job){ .o.quiet = true };
    job_open(&k, b, PATH_POLICY);
    report(&k);
    assert_string_equal(job_text(&k, "stdout"), "");
}

/* gitbox commits at 1700000000, which `date -u` calls 2023-11-14T22:13:20. */
IN_BOX(the_fresh_side_is_told)
{
    struct tg_input_item items[] = { { .label = "out/r1.json" },
                                     { .label = "out/r2.json" },
                                     { .label = "out/r3.json" } };
    TG_AUTO(job_close) struct job k = { 0 };
    job_repository(b, committed);
    job_open(&k, b, PATH_POLICY);
    (void)job_git(&k);
    k.j.fresh = (struct tg_input_list){ .v = items, .n = 3 };
    report(&k);
    is_text(k.j.verdict.test_commit, job_commit(&k, "HEAD").sha);
    is_text(k.j.verdict.timestamp, "2023-11-14T22:13:20");
    is_text(k.j.verdict.test_paths, "out/r1.json … r3.json (3 files)");
    is_text(k.j.verdict.policy_file, ".tracegate.yml");
    job_close(&k);
    k = (struct job){ .environ_ = { "SOURCE_DATE_EPOCH=1760000000" } };
    job_open(&k, b, "");
    (void)job_git(&k);
    k.j.fresh = (struct tg_input_list){ .v = items, .n = 2 };
    report(&k);
    is_text(k.j.verdict.timestamp, "2025-10-09T08:53:20");
    is_text(k.j.verdict.test_paths, "out/r1.json, out/r2.json");
    is_text(k.j.verdict.policy_file, "");
    is_text(k.j.verdict.policy, "built-in policy (tracegate:recommended)");
}

IN_BOX(the_command_can_be_pasted)
{
    static const char *traces[] = { "out/a b.json", "it's.json", "plain.json", "" },
                      *base[] = { "main" }, *meta[] = { "cpu=x y" };
    const struct tg_strs args = { traces, 4, 4 };
    TG_AUTO(job_close) struct job k = { 0 };
    job_repository(b, committed);
    job_open(&k, b, PATH_POLICY);
    is_text(tg_check_command(&k.c, &(struct tg_strs){ 0 }), "tracegate check");
    k.o = (struct tg_check_opts){ .baseline = { base, 1, 1 },
                                  .given = { .runs = true, .meta = { meta, 1, 1 } },
                                  .policy = "p.yml",
                                  .report[TG_REPORT_json] = "left out" };
    is_text(tg_check_command(&k.c, &args),
            "tracegate check 'out/a b.json' 'it'\\''s.json' plain.json '' --runs --baseline main "
            "--meta 'cpu=x y' --policy p.yml");
}

IN_BOX(the_plan_of_a_dry_run)
{
    struct tg_input_item fresh[] = { { .label = "out/r1.json" } };
    TG_AUTO(job_close) struct job k = { 0 };
    job_repository(b, committed);
    job_open(&k, b, "");
    k.j.fresh = (struct tg_input_list){ .v = fresh, .n = 1 };
    k.j.info = (struct tg_baseline_info){ .situation = TG_SITUATION_PATH, .how = TG_SV("so") };
    assert_no_error(tg_check_print_plan(&k.c, &k.j, &k.err), &k.err);
    assert_string_equal(job_text(&k, "stdout"),
                        "suite default   policy: built-in (tracegate:recommended)   "
                        "baseline: path, so   fresh:     out/r1.json ");
}
