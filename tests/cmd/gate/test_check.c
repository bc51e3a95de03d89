/* `check` as a function: verdict, reports, what stops it before. On small traces that are made
 * here, outside any repository and in repositories of a few commits. */
#include "tests/cmd/gate/room.h"
#include "tests/cmd/gate/stored.h"

/* ---- outside any repository ---- */

#define CALLS "{id: calls, match: {kind: op}, metric: count, fail: {abs: 0}}"
#define BUDGET(n) "{id: budget, match: {kind: op}, metric: count, fail: {max: " n "}}"
#define RULES(list) "version: 1\nrules: [" list "]\n"

/* One command and all that it says; the arrays end at NULL. */
struct command {
    struct tg_check_opts o;
    const char *fresh[3], *baseline[3], *environ_[3];
    const char *piped; /* a file for standard input; NULL: as it is */
};

static struct tg_strs strs(const char **v)
{
    size_t n = 0;
    while (v[n])
        n++;
    return (struct tg_strs){ v, n, n };
}

/* In the present folder; what is printed goes to `said` of the arena, errors included. */
static int run(struct tg_arena *a, struct command *k, const char **said)
{
    const struct tg_strs args = strs(k->fresh);
    struct tg_io io = { .in = -1, .environ_ = k->environ_ };
    TG_BUF text = { 0 };
    struct tg_err err;
    char bytes[4096];
    ssize_t n;
    int code, file = open(".said", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
    int was = dup(STDIN_FILENO);
    if (k->piped)
        assert_int_equal(dup2(open(k->piped, O_RDONLY), STDIN_FILENO), STDIN_FILENO);
    io.out = io.err = file;
    tg_err_init(&err);
    k->o.baseline = strs(k->baseline);
    if (!k->o.top)
        k->o.top = TG_OPT_UNSET;
    code = tg_check_run(&k->o, &args, &io, &err);
    assert_int_equal(dup2(was, STDIN_FILENO), STDIN_FILENO);
    (void)close(was);
    assert_int_equal(lseek(file, 0, SEEK_SET), 0);
    while ((n = read(file, bytes, sizeof bytes)) > 0)
        tg_buf_add(&text, (tg_sv){ bytes, (size_t)n });
    if (*err.message)
        tg_err_format(&err, &text);
    *said = tg_arena_sv(a, tg_buf_sv(&text)).p;
    (void)close(file);
    (void)unlink(".said");
    return code;
}

/* What is printed, of which `part` must be one, beside the exit code. */
static const char *says(struct tg_arena *a, struct command k, int code, const char *part)
{
    const char *said;
    int got = run(a, &k, &said);
    if (got != code || !strstr(said, part))
        fail_msg("code %d, want %d and '%s': %s", got, code, part, said);
    return said;
}

/* A command, its exit code, and a part of what it prints. */
struct command_row {
    struct command k;
    int code;
    const char *says;
};
#define AGAINST(fresh_side, baseline_side) .fresh = { fresh_side }, .baseline = { baseline_side }
#define each_says(a, rows)                                                                         \
    for (size_t i = 0; i < sizeof(rows) / sizeof *(rows); i++)                                     \
    (void)says(a, (rows)[i].k, (rows)[i].code, (rows)[i].says)

static void put_trace(const char *path, unsigned calls)
{
    TG_ARENA *a = tg_arena_new();
    room_file(path, trace_text(a, -1, calls, 10));
}

/* fresh.json calls aten::mm three times a step, base.json once. */
static void room_of_traces(struct room *r)
{
    room_open(r);
    put_trace("fresh.json", 3);
    put_trace("base.json", 1);
    room_file("broken.json", "{\"traceEvents\": [");
}

#define IN_ROOM_OF_TRACES(name) TEST_IN(struct room, r, room_of_traces, room_close, name)

/* The exit code is the verdict's; text and reports go where they were asked to. */
IN_ROOM_OF_TRACES(the_code_is_the_verdicts)
{
    struct command k = { AGAINST("fresh.json", "base.json"),
                         .o.report = {
                             [TG_REPORT_json] = "r.json", [TG_REPORT_markdown] = "r.md" } };
    (void)says(r->arena, k, 1, "FAIL");
    assert_int_equal(room_text(r, "r.json")[0], '{');
    assert_non_null(strstr(room_text(r, "r.md"), "aten::mm"));
    k.o.exit_zero = k.o.quiet = true;
    assert_string_equal(says(r->arena, k, 0, ""), "");
    k = (struct command){ AGAINST("broken.json", "base.json"),
                          .o.report[TG_REPORT_json] = "r.json" };
    (void)says(r->arena, k, 3, "broken.json");
    assert_non_null(strstr(room_text(r, "r.json"), "\"error\""));
}

IN_ROOM_OF_TRACES(what_is_done_without_reading_a_trace)
{
    const struct command plan = { AGAINST("fresh.json", "base.json"),
                                  .o = { .dry_run = true, .report[TG_REPORT_json] = "r.json" } };
    static const struct command_row rows[] = {
        { { AGAINST("broken.json", "base.json"), .o.given = { .runs = true, .ranks = true } },
          2,
          "--runs and --ranks" },
        { { AGAINST("broken.json", "base.json"), .o.suite = "x" }, 2, "no suite 'x'" },
        { { AGAINST("broken.json", "base.json"), .o.report[TG_REPORT_json] = "./broken.json" },
          2,
          "would overwrite the input 'broken.json'" },
    };
    (void)says(r->arena, plan, 0, "suite default\n  policy: built-in");
    assert_int_not_equal(access("r.json", F_OK), 0);
    room_file(".tracegate.yml", RULES(CALLS) "suites: [{name: main, trace: 'a', baseline: 'b'}]\n");
    each_says(r->arena, rows);
    assert_string_equal(room_text(r, "broken.json"), "{\"traceEvents\": [");
}

/* Nobody named a baseline: budgets are judged, all else says that there is no repository. */
IN_ROOM_OF_TRACES(without_a_repository)
{
    static const char none[] = "is not inside a git repository";
    static const struct {
        const char *rules, *fresh, *baseline;
        int code;
        const char *says;
    } rows[] = {
        { RULES(BUDGET("3")), "fresh.json", NULL, 0, "PASS: every budget is kept" },
        { RULES(BUDGET("2")), "fresh.json", NULL, 1,
          "aten::mm called 3 times per step, 1 over the limit of 2" },
        { RULES(BUDGET("3")), "broken.json", NULL, 3, "broken.json" },
        { RULES(BUDGET("3")), "broken.json", NULL, 3, "reading the fresh side" },
        { RULES(BUDGET("3")), "nofile.json", NULL, 3, "no such file: 'nofile.json'" },
        { RULES(BUDGET("3")), "HEAD:fresh.json", NULL, 3, none },
        { RULES(BUDGET("3")), "fresh.json", "HEAD:base.json", 3, none },
        { RULES(BUDGET("2") ", " CALLS), "fresh.json", NULL, 1,
          "aten::mm called 3 times per step, 1 over the limit of 2" },
        { RULES(BUDGET("2") ", " CALLS), "HEAD:fresh.json", NULL, 3, none },
        { RULES(BUDGET("3") ", " CALLS), "fresh.json", NULL, 3, none },
        { RULES(CALLS), "fresh.json", NULL, 3, none },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct command k = { .o.policy = "p.yml", AGAINST(rows[i].fresh, rows[i].baseline) };
        room_file("p.yml", rows[i].rules);
        (void)says(r->arena, k, rows[i].code, rows[i].says);
    }
    /* Without a budget there is nothing to judge: the traces are not read. */
    room_file("p.yml", RULES(CALLS) "require: {steps: 99}\n");
    struct command k = { .o.policy = "p.yml", .fresh = { "fresh.json" } };
    assert_null(strstr(says(r->arena, k, 3, ""), "required are 99"));
}

IN_ROOM_OF_TRACES(what_is_wrong_with_an_input_or_with_the_job)
{
    static const char *same[] = { "baseline=base.json", "fresh=base.json" },
                      *missing[] = { "baseline=base.json", "fresh=nofile.json" };
    static const char *no_value[] = { "cpu" };
    static const struct command_row rows[] = {
        { { AGAINST("base.json", "base.json") }, 0, "the baseline's own recording" },
        { { AGAINST("broken.json", "base.json") }, 3, "reading the fresh side" },
        { { AGAINST("base.json", "broken.json") }, 3, "reading the baseline side" },
        { { AGAINST("base.json", "nofile.json"), .o.dry_run = true },
          3,
          "no such file: 'nofile.json'" },
        { { AGAINST("base.json", "broken.json"), .o.exit_zero = true }, 0, "ERROR" },
        { { AGAINST("base.json", "base.json"),
            .o = { .given.meta = { no_value, 1, 1 }, .exit_zero = true } },
          2,
          "--meta 'cpu' is not KEY=VALUE" },
        { { AGAINST("base.json", "base.json"),
            .o = { .report[TG_REPORT_json] = "base.json/report.json", .exit_zero = true } },
          5,
          "base.json/report.json" },
        { { AGAINST("base.json", "base.json"), .o.policy = "broken.json" }, 2, "broken.json" },
        { { AGAINST("base.json", "base.json"), .o.base_commit = "HEAD" }, 3, "--base-commit HEAD" },
        { { .fresh = { "base.json", "fresh.json" }, .baseline = { "base.json" } },
          2,
          "reading the fresh side" },
        { { AGAINST("base.json", "base.json"), .o = { .cause = { same, 2, 0 } } },
          0,
          "the baseline's own recording" },
        { { AGAINST("base.json", "base.json"), .o = { .cause = { missing, 2, 0 } } },
          3,
          "no such file: 'nofile.json'" },
    };
    each_says(r->arena, rows);
}

/* What the shell makes of `fresh/x* --baseline perf/x*`; all in one folder, or none beside the
 * baseline, is meant so. */
IN_ROOM_OF_TRACES(a_glob_that_the_shell_expanded)
{
    static const char spread[] =
        "1 of 2 fresh traces are in the folder of the baseline 'perf/a.json'";
    static const char read[] = "reading the fresh side", own[] = "the baseline's own recording";
    static const struct command_row rows[] = {
        { { .fresh = { "base.json", "perf/b.json" }, .baseline = { "perf/a.json" } }, 2, spread },
        { { .fresh = { "base.json", "perf/b.json" }, .baseline = { "perf/a.json" } },
          2,
          "or quote the glob: --baseline 'perf/*.json.gz'" },
        { { AGAINST("perf/b.json", "perf/a.json") }, 0, own },
        { { AGAINST("base.json", "perf/a.json") }, 0, own },
        { { .fresh = { "base.json", "perf/b.json" }, .baseline = { "perf/a.json", "perf/b.json" } },
          2,
          read },
        { { .fresh = { "base.json", "perf/b.json" }, .baseline = { "perf/a*.json" } }, 2, read },
        { { .fresh = { "base.json", "perf/b.json" }, .baseline = { "perf" } }, 2, read },
    };
    assert_int_equal(mkdir("perf", 0700), 0);
    put_trace("perf/a.json", 1);
    put_trace("perf/b.json", 1);
    each_says(r->arena, rows);
    (void)unlink("perf/a.json");
    (void)unlink("perf/b.json");
    assert_int_equal(rmdir("perf"), 0);
}

IN_ROOM(sides_without_a_rank_in_common)
{
    struct command k = { .fresh = { "r2.json", "r3.json" }, .baseline = { "r0.json", "r1.json" } };
    for (int rank = 0; rank < 4; rank++)
        room_file(tg_arena_printf(r->arena, "r%d.json", rank), trace_text(r->arena, rank, 1, 10));
    (void)says(r->arena, k, 3, "the sides have no rank in common");
}

/* Files that differ in the rank alone; two runs of one rank are another matter. */
IN_ROOM(ranks_that_are_one_recording)
{
    static const struct {
        struct command k;
        const char *says; /* NULL: nothing of one recording */
    } rows[] = {
        { { .fresh = { "a0.json", "b1.json" }, .baseline = { "c0.json", "d1.json" } }, NULL },
        { { .fresh = { "a0.json", "a1.json" }, .baseline = { "c0.json", "d1.json" } },
          "ranks 0 and 1 of the fresh side are one recording: 'a0.json'" },
        { { .fresh = { "a0.json", "b1.json" }, .baseline = { "c0.json", "c1.json" } },
          "ranks 0 and 1 of the baseline are one recording: 'c0.json'" },
        { { .fresh = { "a0.json", "again0.json" },
            .baseline = { "c0.json", "d0.json" },
            .o.given.runs = true },
          NULL },
    };
    room_file("again0.json", tg_arena_printf(r->arena, "{\"cuda_driver_version\":12040,%s",
                                             trace_text(r->arena, 0, 1, 10) + 1));
    for (int rank = 0; rank < 2; rank++)
        for (char kind = 'a'; kind <= 'd'; kind++)
            room_file(tg_arena_printf(r->arena, "%c%d.json", kind, rank),
                      trace_text(r->arena, rank, 1, 10 + (unsigned)(kind - 'a')));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct command k = rows[i].k;
        const char *said = says(r->arena, k, 0, rows[i].says ? rows[i].says : "");
        if (!rows[i].says && strstr(said, "one recording"))
            fail_msg("row %zu: %s", i, said);
    }
}

#define WITHOUT_NAMES "operators and kernels are compared on 64 of 66 ranks"

/* Of no two ranks and sides the same; all wait in one kernel a step, a rank that is late not as
 * long. */
static const char *rank_trace(struct tg_arena *a, int rank, unsigned side, bool late)
{
    const struct trace_calls calls[] = { { "aten::mm", "cpu_op", 1, 10 + (unsigned)rank },
                                         { "aten::add", "cpu_op", 1, 10 + side } };
    const char *text = trace_of(a, rank, calls, 2);
    text = tg_arena_printf(a, "%.*s", (int)strlen(text) - 2, text); /* without "]}" */
    for (int step = 0; step < 2; step++)
        text = tg_arena_printf(
            a,
            "%s,{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,"
            "\"tid\":1,\"ts\":%d,\"dur\":5,\"args\":{\"correlation\":%d}},{\"ph\":\"X\","
            "\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce_Sum_f32_RING_LL\",\"pid\":0,"
            "\"tid\":7,\"ts\":%d,\"dur\":%d,\"args\":{\"correlation\":%d,\"device\":0,"
            "\"stream\":7}}",
            text, 1000 * step + 500, step + 1, 1000 * step + 600, late ? 5 : 90, step + 1);
    return tg_arena_printf(a, "%s]}", text);
}

/* FILE of each rank from 0 to 65: b*.json and f*.json, l*.json with rank 64 late; "last-" those
 * from 64 on. */
static void room_of_ranks(struct room *r)
{
    room_open(r);
    for (int rank = 0; rank < 66; rank++) {
        const char *last = rank >= 64 ? "last-" : "";
        for (unsigned k = 0; k < 2; k++)
            room_file(tg_arena_printf(r->arena, "%c%s%02d.json", "bf"[k], last, rank),
                      rank_trace(r->arena, rank, k, false));
        room_file(tg_arena_printf(r->arena, "l%02d.json", rank),
                  rank_trace(r->arena, rank, 2, rank == 64));
    }
}

/* docs/clusters.md: names are loaded of ranks 0 to 63 where only metrics of whole traces are asked
 * for and all is well. The note says so; where names are loaded of all, there is none. */
TEST(ranks_whose_names_are_not_loaded)
{
    static const char kept[] = RULES("{id: t, metric: step_time, fail: {max: 1s}}");
    static const char broken[] = RULES("{id: t, metric: step_time, fail: {max: 1us}}");
    static const struct {
        struct command k;
        const char *rules;
        int code;
        bool told;
        const char *says;
    } rows[] = {
        { { AGAINST("f*.json", "b*.json") }, kept, 0, true, "PASS" },
        { { AGAINST("f*.json", "b*.json") }, broken, 1, false, "FAIL" },
        { { AGAINST("f*.json", "b*.json") },
          RULES("{id: t, metric: step_time, fail: {max: 1s}}, {id: c, match: {kind: op}, metric: "
                "count, fail: {abs: 0}}"),
          0,
          false,
          "PASS" },
        /* a rank is missing: a note makes of the pass a warning */
        { { .fresh = { "f[0-9]*.json", "flast-64.json" }, .baseline = { "b*.json" } },
          kept,
          0,
          false,
          "rank 65 is not in every fresh run" },
        /* a rank is late: what does it do meanwhile? */
        { { AGAINST("l*.json", "b*.json") }, kept, 0, false, "64 is late" },
        /* all is well but for a note of what was recorded twice */
        { { AGAINST("b*.json", "b*.json") },
          kept,
          0,
          false,
          "66 of 66 fresh traces are the baseline's own recording" },
        /* what is read from a pipe is read once */
        { { .fresh = { "f[0-9]*.json", "-" }, .baseline = { "b*.json" }, .piped = "flast-64.json" },
          kept,
          0,
          false,
          "rank 65 is not in every fresh run" },
        { { .fresh = { "f*.json" }, .baseline = { "b[0-9]*.json", "-" }, .piped = "blast-64.json" },
          kept,
          0,
          false,
          "rank 65 is not in every baseline run" },
        /* none of those is there: an error would be about the names alone */
        { { AGAINST("flast*.json", "blast*.json") }, kept, 0, false, "PASS" },
    };
    TG_AUTO(room_close) struct room r;
    room_of_ranks(&r);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct command k = rows[i].k;
        const char *said;
        k.o.policy = "p.yml";
        room_file("p.yml", rows[i].rules);
        said = says(r.arena, k, rows[i].code, rows[i].says);
        if (rows[i].told != (strstr(said, WITHOUT_NAMES) != NULL))
            fail_msg("row %zu: %s", i, said);
    }
    for (enum tg_report report = TG_REPORT_text + 1; report < TG_REPORTS; report++) {
        struct command k = { .o.policy = "p.yml", AGAINST("f*.json", "b*.json") };
        const char *said;
        bool lists = report != TG_REPORT_junit && report != TG_REPORT_markdown &&
                     report != TG_REPORT_annotations && report != TG_REPORT_code_quality;
        k.o.report[report] = "report";
        said = says(r.arena, k, 0, "");
        if (lists != !strstr(said, WITHOUT_NAMES))
            fail_msg("report %d: %s", (int)report, said);
    }
}

/* One that the policy names itself; those of a preset need no rule. */
IN_ROOM_OF_TRACES(a_baseline_that_no_rule_is_against)
{
    static const char unused[] = "nothing was compared with the baseline '";
    static const struct {
        const char *policy, *profile;
        bool told;
    } rows[] = {
        { RULES(CALLS) "baselines: [{name: old, ref: HEAD~9}]\n", NULL, true },
        { "version: 1\nextends: ['tracegate:recommended']\nprofiles: {nightly: {rules: [{id: "
          "slower-recent, against: baseline}]}}\n",
          "nightly", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct command k = {
            .o = { .policy = "p.yml", .profile = rows[i].profile, .against = "baseline" },
            AGAINST("base.json", "base.json")
        };
        room_file("p.yml", rows[i].policy);
        assert_int_equal(
            strstr(says(r->arena, k, 0, "WARN: nothing failed; 1 of 1 fresh traces is"), unused) !=
                NULL,
            rows[i].told);
    }
}

/* --meta adds to the fresh side what its traces lack. */
IN_ROOM_OF_TRACES(meta_is_of_the_fresh_side)
{
    struct command k = { AGAINST("base.json", "base.json") };
    const char *cuda = "cuda=12";
    k.o.given.meta = (struct tg_strs){ &cuda, 1, 1 };
    (void)says(r->arena, k, 0, "note: cuda: unknown -> 12");
}

/* With `ranks: {expect: N}` a rank that cannot be read leaves the verdict open; without, it is an
 * error. */
IN_ROOM(a_rank_that_is_damaged)
{
    struct command k = { .o.policy = "p.yml", .baseline = { "b.json" } };
    room_file("r0.json", trace_text(r->arena, 0, 1, 10));
    room_file("b.json", trace_text(r->arena, 0, 1, 11));
    room_file("r1.json", "{\"traceEvents\": [");
    for (int expected = 0; expected < 2; expected++) {
        room_file("p.yml", tg_arena_printf(r->arena,
                                           RULES(CALLS) "suites: [{name: main, trace: "
                                                        "'r?.json', baseline: x%s}]\n",
                                           expected ? ", ranks: {expect: 2}" : ""));
        (void)says(r->arena, k, expected ? 4 : 3,
                   expected ? "fresh side, damaged and not judged: " : "r1.json");
    }
}

/* The page and the call paths show the traces; a verdict without a comparison has none to show. */
IN_ROOM_OF_TRACES(drawings_are_of_what_was_compared)
{
    static const char tree[] = "<svg class=\"tree\"";
    const char *said;
    for (int page = 0; page < 2; page++) {
        struct command k = { AGAINST("fresh.json", "base.json") };
        k.o.report[page ? TG_REPORT_html : TG_REPORT_collapsed] = "out";
        assert_int_equal(run(r->arena, &k, &said), 1);
        assert_non_null(strstr(room_text(r, "out"), page ? tree : "aten::mm "));
        k.baseline[0] = "broken.json";
        assert_int_equal(run(r->arena, &k, &said), 3);
        assert_null(strstr(room_text(r, "out"), page ? tree : "aten::mm "));
    }
}

/* ---- in a repository ---- */

#define SUITE "suites: [{name: main, trace: 'fresh.json', baseline: 'perf/base.json'}]\n"

/* A commit without a policy, then one with it, and a fresh trace in the work tree. */
static void gate_that_is_new(const struct box *b, const char *policy, const char *fresh)
{
    static const char *const commits[] = { "echo x > x", "cp ../p.yml .tracegate.yml", NULL };
    room_file(box_path(b, "p.yml"), policy);
    job_repository(b, commits);
    room_file(box_path(b, "w/fresh.json"), fresh);
    assert_int_equal(chdir(box_path(b, "w")), 0);
}

IN_BOX(a_first_run_judges_what_needs_no_baseline)
{
    static const char fails[] = "baseline: {on_first_run: fail}\n";
    const struct {
        const char *policy, *fresh;
        int code;
        const char *says;
    } rows[] = {
        { RULES(CALLS) SUITE, trace_text(b->a, -1, 3, 10), 0, "FIRST RUN" },
        { tg_arena_printf(b->a, "%s%s", RULES(CALLS) SUITE, fails), trace_text(b->a, -1, 3, 10), 1,
          "FAIL" },
        { RULES(CALLS ", " BUDGET("2")) SUITE, trace_text(b->a, -1, 3, 10), 1,
          "aten::mm called 3 times per step, 1 over the limit of 2" },
        { RULES(CALLS) SUITE, "{\"traceEvents\": [", 3, "reading the fresh side" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct command k = { .o.report[TG_REPORT_html] = "page.html" };
        gate_that_is_new(b, rows[i].policy, rows[i].fresh);
        (void)says(b->a, k, rows[i].code, rows[i].says);
        assert_false(box_try(b, "grep -q '<svg class=\"tree\"' w/page.html"));
        assert_int_equal(chdir("/"), 0);
    }
}

IN_BOX(a_first_run_overwrites_no_trace)
{
    struct command k = { .o.report[TG_REPORT_json] = "fresh.json" };
    gate_that_is_new(b, RULES(CALLS) SUITE, trace_text(b->a, -1, 3, 10));
    (void)says(b->a, k, 2, "would overwrite the input 'fresh.json'");
    assert_int_equal(chdir("/"), 0);
}

IN_BOX(a_lost_baseline_is_what_the_policy_says)
{
    static const char *const word[] = { "inconclusive", "pass", "fail", "pass" };
    static const char *const headline[] = { "INCONCLUSIVE: no baseline", "PASS: no baseline",
                                            "FAIL: no baseline", "reading the fresh side" };
    static const int code[] = { 4, 0, 1, 3 };
    static const char *const gated[] = { "cp ../p.yml .tracegate.yml", "echo x > x", NULL };
    for (size_t i = 0; i < 4; i++) {
        struct command k = { .o.report[TG_REPORT_json] = "-" };
        const char *said;
        room_file(box_path(b, "p.yml"),
                  tg_arena_printf(b->a, RULES(CALLS) SUITE "baseline: {on_lost: %s}\n", word[i]));
        job_repository(b, gated);
        if (code[i] ==
            3) /* whatever the policy says of the baseline: the fresh side cannot be read */
            room_file(box_path(b, "w/fresh.json"), "{\"traceEvents\": [");
        else
            put_trace(box_path(b, "w/fresh.json"), 3);
        assert_int_equal(chdir(box_path(b, "w")), 0);
        said = says(b->a, k, code[i], headline[i]);
        if (code[i] != 3)
            assert_non_null(strstr(said, "\"lost\""));
        assert_int_equal(chdir("/"), 0);
    }
}

/* One side for all baselines of the policy: standard input has no second reading. */
IN_BOX(each_baseline_of_the_policy_has_a_verdict)
{
    static const char *const commits[] = {
        "cp ../1.json perf/base.json; cp ../p.yml .tracegate.yml", "cp ../3.json perf/base.json",
        "echo x > x", NULL
    };
    static const char policy[] =
        "version: 1\nrules: [{id: calls, match: {kind: op}, metric: count, fail: {abs: 0}, "
        "against: [baseline, old]}]\nbaselines: [{name: old, ref: HEAD~2}, {name: never, ref: "
        "HEAD}]\n" SUITE;
    const struct command piped = { .fresh = { "-" }, .piped = "../3.json" };
    const struct command broken = { .fresh = { "broken.json" } };
    const char *said;
    put_trace(box_path(b, "1.json"), 1);
    put_trace(box_path(b, "3.json"), 3);
    room_file(box_path(b, "p.yml"), policy);
    job_repository(b, commits);
    assert_int_equal(chdir(box_path(b, "w")), 0);
    said = says(b->a, piped, 1, "1 of 1 fresh traces is the baseline's own");
    assert_non_null(strstr(said, "nothing was compared with the baseline 'never'"));
    assert_non_null(strstr(said, "FAIL against old: 1 violation: aten::mm +2 calls"));
    assert_null(strstr(said, "the baseline 'old'"));
    assert_null(
        strstr(strstr(said, "FAIL against old"), "the baseline 'never'")); /* once will do */
    room_file("broken.json", "{\"traceEvents\": [");
    said = says(b->a, broken, 3, "ERROR: broken.json");
    assert_non_null(strstr(said, "ERROR against old: broken.json"));
    assert_int_equal(chdir("/"), 0);
}

/* --against chooses one; else those that a rule is against, and what --baseline names. */
IN_BOX(which_baselines_are_compared)
{
    static const char *const commits[] = {
        "cp ../1.json perf/base.json; cp ../p.yml .tracegate.yml", "cp ../3.json perf/base.json",
        "echo x > x", NULL
    };
    static const char named[] = "baselines: [{name: old, ref: HEAD~2}, {name: never, ref: HEAD}]\n";
    static const struct {
        const char *against, *option, *baseline; /* of the rule; --against; --baseline */
        int code;
        const char *says, *silent_on;
    } rows[] = {
        { "[baseline, old]", "old", NULL, 1, "FAIL against old: ", "WARN" },
        { "[baseline, old]", "baseline", NULL, 0, "WARN: nothing failed", "against old" },
        { "[baseline, old]", "nope", NULL, 2, "There are: baseline, old, never.", "FAIL" },
        { "[old]", NULL, NULL, 1, "FAIL against old: ", "INCONCLUSIVE" },
        { "[old]", NULL, "../3.json", 1, "INCONCLUSIVE: nothing could be judged", "against never" },
    };
    put_trace(box_path(b, "1.json"), 1);
    put_trace(box_path(b, "3.json"), 3);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct command k = { .o.against = rows[i].option, .baseline = { rows[i].baseline } };
        const char *said;
        room_file(
            box_path(b, "p.yml"),
            tg_arena_printf(b->a,
                            "version: 1\nrules: [{id: calls, match: {kind: op}, metric: count, "
                            "fail: {abs: 0}, against: %s}]\n%s" SUITE,
                            rows[i].against, named));
        job_repository(b, commits);
        room_file(box_path(b, "w/fresh.json"), trace_text(b->a, -1, 3, 11));
        assert_int_equal(chdir(box_path(b, "w")), 0);
        said = says(b->a, k, rows[i].code, rows[i].says);
        assert_int_equal(chdir("/"), 0);
        if (strstr(said, rows[i].silent_on))
            fail_msg("row %zu: %s", i, said);
    }
}

/* What a night has shown warns, unless the user chose what to compare with. */
IN_BOX(what_the_history_knows_only_warns)
{
    static const char *const five[] = {
        "cp ../p.yml .tracegate.yml", "echo 2 > x", "echo 3 > x", "echo 4 > x", "echo 5 > x", NULL
    };
    static const unsigned calls[] = { 1, 1, 3, 3 };
    struct job store = { 0 };
    room_file(box_path(b, "p.yml"), RULES(CALLS) "baseline: {ref: HEAD~4}\n"
                                                 "suites: [{name: main, trace: 'fresh.json'}]\n");
    job_repository(b, five);
    job_open(&store, b, NULL);
    for (size_t i = 0; i < 4; i++)
        store_run(&store, "main", tg_arena_printf(b->a, "HEAD~%zu", 4 - i), calls[i]);
    job_close(&store);
    put_trace(box_path(b, "w/fresh.json"), 3);
    assert_int_equal(chdir(box_path(b, "w")), 0);
    for (int named = 0; named < 2; named++) {
        struct command k = { .baseline = { named ? "HEAD~4" : NULL } };
        (void)says(b->a, k, named,
                   named ? "FAIL: 1 violation: aten::mm +2 calls" : "since night 3 ");
    }
    assert_int_equal(chdir("/"), 0);
}
