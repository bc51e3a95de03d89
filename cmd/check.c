/* `tracegate check`: its options; cmd/gate/check.h is what it does. */
#include "cmd/gate/check.h"

#define OPTION_PRINT(id, name, text)
#define OPTION_FILE(id, name, text)                                                                \
    { name, TG_OPT_STR, offsetof(struct tg_check_opts, report[TG_REPORT_##id]), "FILE", text },
#define OPTION(id, name, file, to, text) OPTION_##to(id, name, text)
#define AT(kind, member) TG_OPT_##kind, offsetof(struct tg_check_opts, member)
static const struct tg_opt check_options[] = {
    { "baseline", AT(LIST, baseline), "SIDE",
      "compare with SIDE: a path, REV:PATH, or REV (repeatable); default: the policy's, at the "
      "merge base" },
    { "policy", AT(STR, policy), "FILE",
      "judge by FILE, or REV:PATH in git; default: .tracegate.yml here or above, else the built-in "
      "policy" },
    { "suite", AT(STR, suite), "NAME", "check this suite only" },
    { "against", AT(STR, against), "NAME",
      "judge against this one of the policy's baselines only (`baseline`, or a name of "
      "`baselines`)" },
    { "profile", AT(STR, profile), "NAME",
      "use this profile of the policy; `auto`: by the CI event" },
    { "out", AT(STR, out), "DIR",
      "write all reports into DIR: comment.md, report.html, report.json, junit.xml, charts and the "
      "others, under fixed names" },
    TG_REPORTERS(OPTION) /* --NAME FILE of each */
    { "junit-strict", AT(FLAG, junit_strict), NULL,
      "JUnit without file and line, for readers with a strict schema" },
    { "svg-style", AT(LIST, svg_style), TG_SVG_STYLES },
    { "annotations", AT(FLAG, annotations), NULL, "print GitHub annotations as well" },
    { "base-commit", AT(STR, base_commit), "REV",
      "commit of the baseline if --baseline is a path: shows which functions the change touched" },
    { "damaged", AT(LIST, damaged), "TEXT",
      "describe a part of the fresh side that could not be read: the verdict is inconclusive at "
      "best; repeatable" },
    { "cause-trace", AT(LIST, cause), "SIDE=PATH",
      "traces with Python stacks, baseline=PATH and fresh=PATH: for causes only, never judged" },
    { "ask", AT(STR, ask), "FILE",
      "judge in stages: a time that looks slower fails only if new runs confirm it; FILE gets "
      "three numbers: the runs a side that are asked for, the new ones beside them (0 0: final), "
      "the suspects; in a second line their names" },
    { "again", AT(LIST, again), "SIDE=PATH",
      "with --ask: new runs, baseline=PATH and fresh=PATH, of which only suspects are judged" },
    { "detect", AT(STR, detect), "PCT",
      "with --ask: the slowdown that matters; of a suspect it is found or excluded, or the verdict "
      "is inconclusive; default: 20%" },
    { "max-runs", AT(INT, max_runs), "N", "with --ask: the most runs a side; default: 17" },
    { "report-url", AT(STR, report_url), "URL", "URL of the full report, for the comment" },
    { "trace-url", AT(STR, trace_url), "URL",
      "https URL of the fresh trace, for the page's links into Perfetto" },
    { "top", AT(INT, top), "N", "rows shown; default 10" },
    TG_GIVEN_RUNS(struct tg_check_opts, given, ""),
    TG_GIVEN_META(struct tg_check_opts, given, ""),
    TG_GIVEN_JSON(struct tg_check_opts, given, ""),
    TG_GIVEN_TRUST(struct tg_check_opts, given),
    { "no-cache", AT(FLAG, no_cache), NULL,
      "read every trace of git again; else its summary is kept in .git/tracegate/cache" },
    { "dry-run", AT(FLAG, dry_run), NULL, "resolve and print what would be compared" },
    { "exit-zero", AT(FLAG, exit_zero), NULL, "report the verdict, but exit with 0" },
    { "quiet", AT(FLAG, quiet), NULL, "no report on standard output" },
    { 0 },
};

static int check_run(const struct tg_cmd_call *c, struct tg_err *err)
{
    return tg_check_run(c->opts, c->args, c->io, err);
}

const struct tg_cmd tg_cmd_check = {
    .name = "check",
    .summary = "judge fresh traces against a baseline",
    .synopsis = "[TRACE…] [--baseline SIDE] [--policy FILE]",
    .about = "Compares the fresh traces with the baseline, judges the change by the policy, writes "
             "the reports and exits with the verdict's code: 0 pass or warn, 1 fail, 2 bad policy "
             "or command line, 3 unusable input, 4 inconclusive, 5 internal.\n\n"
             "Without --baseline the baseline is read from the git tree of the merge base with the "
             "target branch, at the suite's `baseline:` path. Without a policy file the built-in "
             "policy applies: no new launches, copies, operators or synchronisations, nothing "
             "proven slower. Durations are judged with three or more runs a side.\n\n"
             "A report to - goes to standard output instead of the text.\n\n"
             "  tracegate check out/*.json.gz --runs --baseline origin/main:perf --junit gate.xml",
    .options = check_options,
    .was = (const struct tg_opt_was[]){ { "cause-baseline", "cause-trace=baseline=" },
                                        { "cause-traces", "cause-trace=fresh=" },
                                        { "svg-narrow", "svg-style=narrow" },
                                        { "svg-share", "svg-style=share" },
                                        { 0 } },
    .needs = (const struct tg_opt_needs[]){ { "junit-strict", "junit out" },
                                            { "svg-style", "svg-counts svg-durations out" },
                                            { "trace-url", "html out" },
                                            { "base-commit", "baseline" },
                                            { "again", "ask" },
                                            { "detect", "ask" },
                                            { "max-runs", "ask" },
                                            { 0 } },
    .for_scripts = "damaged ask again report-url trace-url",
    .opts_size = sizeof(struct tg_check_opts),
    .run = check_run,
};
