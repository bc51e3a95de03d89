/* `tracegate check`: its options; cmd/gate/check.h is what it does. */
#include "cmd/gate/check.h"

#include <stddef.h>

#define OPTION_PRINT(id, name, text)
#define OPTION_FILE(id, name, text)                                                                \
    { name, TG_OPT_STR, offsetof(struct tg_check_opts, report[TG_REPORT_##id]), "FILE", text },
#define OPTION(id, name, extension, to, text) OPTION_##to(id, name, text)
static const struct tg_opt check_options[] = {
    { "baseline", TG_OPT_LIST, offsetof(struct tg_check_opts, baseline), "SIDE",
      "compare with SIDE: a path, REV:PATH, or REV (repeatable); default: the policy's, at the "
      "merge base" },
    { "policy", TG_OPT_STR, offsetof(struct tg_check_opts, policy), "FILE",
      "judge by FILE, or REV:PATH in git; default: .tracegate.yml here or above, else the built-in "
      "policy" },
    { "suite", TG_OPT_STR, offsetof(struct tg_check_opts, suite), "NAME", "check this suite only" },
    { "against", TG_OPT_STR, offsetof(struct tg_check_opts, against), "NAME",
      "judge against this one of the policy's baselines only (`baseline`, or a name of "
      "`baselines`)" },
    { "profile", TG_OPT_STR, offsetof(struct tg_check_opts, profile), "NAME",
      "use this profile of the policy; `auto`: by the CI event" },
    TG_REPORTERS(OPTION) /* --NAME FILE of each */
    { "junit-strict", TG_OPT_FLAG, offsetof(struct tg_check_opts, junit_strict), NULL,
      "JUnit without file and line, for readers with a strict schema" },
    { "svg-narrow", TG_OPT_FLAG, offsetof(struct tg_check_opts, svg_narrow), NULL,
      "draw for 390 px: a bar below its name" },
    { "svg-share", TG_OPT_FLAG, offsetof(struct tg_check_opts, svg_share), NULL,
      "draw durations in percent of the step" },
    { "annotations", TG_OPT_FLAG, offsetof(struct tg_check_opts, annotations), NULL,
      "print GitHub annotations as well" },
    { "base-commit", TG_OPT_STR, offsetof(struct tg_check_opts, base_commit), "REV",
      "commit of the baseline if --baseline is a path: shows which functions the change touched" },
    { "damaged", TG_OPT_LIST, offsetof(struct tg_check_opts, damaged), "TEXT",
      "describe a part of the fresh side that could not be read: the verdict is inconclusive at "
      "best; repeatable" },
    { "cause-baseline", TG_OPT_STR, offsetof(struct tg_check_opts, cause_baseline), "PATH",
      "a trace of the baseline with Python stacks: used for causes only, never judged" },
    { "cause-traces", TG_OPT_STR, offsetof(struct tg_check_opts, cause_traces), "PATH",
      "the same for the fresh side; give both or neither" },
    { "report-url", TG_OPT_STR, offsetof(struct tg_check_opts, report_url), "URL",
      "URL of the full report, for the comment" },
    { "trace-url", TG_OPT_STR, offsetof(struct tg_check_opts, trace_url), "URL",
      "https URL of the fresh trace, for the page's links into Perfetto" },
    { "top", TG_OPT_INT, offsetof(struct tg_check_opts, top), "N", "rows shown; default 10" },
    TG_GIVEN_RUNS(struct tg_check_opts, given, ""),
    TG_GIVEN_META(struct tg_check_opts, given, ""),
    TG_GIVEN_JSON(struct tg_check_opts, given, ""),
    TG_GIVEN_TRUST(struct tg_check_opts, given),
    { "dry-run", TG_OPT_FLAG, offsetof(struct tg_check_opts, dry_run), NULL,
      "resolve and print what would be compared" },
    { "exit-zero", TG_OPT_FLAG, offsetof(struct tg_check_opts, exit_zero), NULL,
      "report the verdict, but exit with 0" },
    { "quiet", TG_OPT_FLAG, offsetof(struct tg_check_opts, quiet), NULL,
      "no report on standard output" },
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
             "or command line, 3 unusable input, 4 inconclusive, 5 internal.\n"
             "\n"
             "Without --baseline the baseline is read from the git tree of the merge base with the "
             "target branch, at the suite's `baseline:` path. Without a policy file the built-in "
             "policy applies: no new launches, copies, operators or synchronisations, nothing "
             "proven slower. Durations are judged with three or more runs a side.\n"
             "\n"
             "A report to - goes to standard output instead of the text.\n"
             "\n"
             "  tracegate check out/*.json.gz --runs --baseline origin/main:perf --junit gate.xml",
    .options = check_options,
    .opts_size = sizeof(struct tg_check_opts),
    .run = check_run,
};
