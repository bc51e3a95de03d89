#ifndef TG_CMD_GATE_SUITE_H
#define TG_CMD_GATE_SUITE_H
/*
 * The suites of a policy: which of them a command is about, which files belong to one, how its
 * traces are read, and where the search for its baseline begins. The same for every command, so
 * that a stored baseline decides as its traces would.
 */
#include "cmd/gate/policy.h"

struct tg_suites {
    const struct tg_io *io;
    struct tg_repo *repo;
    struct tg_arena *arena;
    struct tg_policy *policy;  /* of tg_suites_load; the caller frees it */
    const struct tg_suite **v; /* of tg_suites_choose */
    size_t n;
};

/* See tg_gate_policy. All mistakes go to standard error. */
TG_MUST bool tg_suites_load(struct tg_suites *s, const char *file, const char *profile,
                            struct tg_err *err);
enum tg_suites_wanted {
    TG_SUITES_ALL,
    TG_SUITES_ONE /* traces are named, or the command is about one; several are TG_ERR_USAGE */
};
/* All suites, or the one called `name` (NULL: not said). Without a policy file there is one suite,
 * a stored one: `name`, or "default". */
TG_MUST bool tg_suites_choose(struct tg_suites *s, const char *name, enum tg_suites_wanted wanted,
                              struct tg_err *err);

/*
 * What the policy's own glob found must match the suite's `run` and `rank`; a baseline recorded
 * under other names, and traces named on the command line, are ordered by their paths. What is
 * stored knows its runs and ranks.
 */
enum tg_groups { TG_GROUPS_OPTIONAL, TG_GROUPS_REQUIRED };
TG_MUST bool tg_suite_groups(struct tg_input_list *list, const struct tg_suite *suite,
                             enum tg_groups wanted, struct tg_err *err);
/* The traces of a suite: `args`, else its own files. */
TG_MUST bool tg_suite_traces(struct tg_input_list *out, const struct tg_suites *s,
                             const struct tg_suite *suite, const struct tg_strs *args,
                             struct tg_err *err);
/* How they are read: the suite's steps, the policy's classes, all that its rules need. */
struct tg_summarize_opts tg_suite_reading(const struct tg_policy *p, const struct tg_suite *suite);
/* Where a suite's report goes if there are several: FILE.xml is FILE-SUITE.xml, and against one of
 * `baselines` FILE-SUITE@NAME.xml; "" leaves its part out; "-" stays. */
const char *tg_suites_path(const char *path, tg_sv suite, tg_sv against, struct tg_arena *a);
/* What the CI says of the commits. */
struct tg_ci_env tg_suites_ci(const struct tg_suites *s);
/* The commit where the search for baseline `b` of the policy begins, by it and the CI environment;
 * with `night` (40 hex digits, NULL: HEAD) the one that a check of that night began at. */
TG_MUST bool tg_suites_start(const struct tg_suites *s, const struct tg_baseline_settings *b,
                             const char *night, struct tg_git *git, struct tg_commit *out,
                             struct tg_err *err);
#endif
