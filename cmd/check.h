#ifndef TG_CMD_CHECK_H
#define TG_CMD_CHECK_H
/* `tracegate check` while it runs, shared by check.c and check_policy.c. */
#include "cmd/gate/gate.h"
#include "cmd/gate/suite.h"
#include "core/base/file.h"
#include "reporters/reporter.h"

struct check_opts {
    struct tg_strs baseline, meta;
    const char *policy, *suite, *profile, *report[TG_REPORTS], *report_url, *base_commit;
    bool junit_strict, annotations, dry_run, exit_zero, runs, ranks, strict_json, allow_truncated;
    bool trust_repository, quiet;
    int64_t top;
};

struct check {
    const struct check_opts *o;
    const struct tg_strs *args;
    const struct tg_io *io;
    struct tg_arena *arena;
    struct tg_repo repo;
    struct tg_suites suites; /* the ones to check */
    struct tg_render render;
};

/* One suite on its way: what is compared, and everything that must live until its reports. */
struct job {
    const struct tg_suite *suite; /* never NULL */
    struct tg_input_list fresh, base;
    struct tg_baseline_info info;
    char commit[TG_SHA_SIZE]; /* that holds the baseline; "": it has no history */
    enum { JOB_COMPARE, JOB_FIRST_RUN } what;
    struct tg_outputs outputs;
    size_t handle[TG_REPORTS];
    struct tg_summary summary[2];
    struct tg_gate gate;
    struct tg_verdict verdict;
};

/* Notes by what the policy is looser than at the baseline's commit. */
void tg_check_note_policy(struct check *c, struct job *j);
#endif
