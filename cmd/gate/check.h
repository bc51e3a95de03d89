#ifndef TG_CMD_GATE_CHECK_H
#define TG_CMD_GATE_CHECK_H
/*
 * `check` as a function: fresh traces + baseline + policy -> verdict and reports, a set of them for
 * each suite and each baseline of the policy. What can fail cheaply fails first: policy, output
 * files, repository, ref, baseline; then the traces are read.
 */
#include "cmd/gate/given.h"
#include "reporters/reporter.h"

/* What is asked for; the command line's words. NULL and 0: not given. */
struct tg_check_opts {
    struct tg_strs baseline; /* paths, REV:PATH, REV; none: the policy says where it is */
    struct tg_given given;
    struct tg_strs svg_style;
    struct tg_strs damaged; /* what of the fresh side could not be read, by whoever made it */
    const char *out;        /* a folder for all reports that `report` does not name */
    const char *policy, *suite, *against, *profile, *report[TG_REPORTS], *report_url, *base_commit,
        *trace_url;
    struct tg_strs cause; /* SIDE=PATH, read for the causes alone */
    struct tg_strs again; /* SIDE=PATH; stages, see stages.c */
    const char *ask, *detect;
    int64_t max_runs;
    bool junit_strict, no_cache, annotations, dry_run, exit_zero, quiet;
    int64_t top; /* rows shown */
    /* What made the traces failed with this (exit code 3): the verdict of each suite. No option. */
    const struct tg_err *failed;
};

/* The policy, if these options can be judged by it: for what asks before it makes the traces, which
 * belong to one suite. NULL: no. */
struct tg_policy *tg_check_ready(const struct tg_check_opts *o, const struct tg_io *io,
                                 struct tg_repo *repo, struct tg_arena *a, struct tg_err *err);

/* `args` names the fresh traces; none: each suite has its own. The exit code of the worst suite, 5
 * before 3, 1, 4 and 0; with an error that ends everything `err` is set as well. */
int tg_check_run(const struct tg_check_opts *o, const struct tg_strs *args, const struct tg_io *io,
                 struct tg_err *err);
#endif
