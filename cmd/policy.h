#ifndef TG_CMD_POLICY_H
#define TG_CMD_POLICY_H
/* What the verbs of `tracegate policy` share. */
#include "cmd/gate/runs.h"

struct tg_policy_cmd_opts {
    enum tg_format format;
    const char *policy, *profile, *output, *reason, *owner, *issue;
    bool strict;
};

struct tg_policy_cmd {
    const struct tg_policy_cmd_opts *o;
    const struct tg_strs *args; /* the verb is args->v[0] */
    const struct tg_io *io;
    struct tg_arena *arena;
    struct tg_diags diags;
    struct tg_policy *policy;
    struct tg_repo *repo;
    struct tg_input_list inputs; /* of lint and init */
    struct tg_summary summary;
    int code; /* not 0: the exit code, whatever err says */
};

/* The policy in force into j->policy; false: the mistakes are in j->diags. */
TG_MUST bool tg_policy_cmd_load(struct tg_policy_cmd *j, struct tg_err *err);
/* The mistakes, in the form that --format asks for. */
TG_MUST bool tg_policy_cmd_put_diags(struct tg_policy_cmd *j, struct tg_err *err);
/* A policy that is not loaded, its mistakes told: false. */
bool tg_policy_cmd_refused(struct tg_policy_cmd *j, struct tg_err *err);
/* The answer, into -o or standard output. */
TG_MUST bool tg_policy_cmd_put(struct tg_policy_cmd *j, const struct tg_buf *out,
                               struct tg_err *err);

bool tg_policy_cmd_explain(struct tg_policy_cmd *j, struct tg_err *err); /* policy_explain.c */

/*
 * `policy waive REPORT.json [RULE [NAME]]`: the waivers that accept a failed name and what it
 * explains, as text for the policy; without NAME those for all failures (of the rule).
 *
 *   the name's own rule: the ceiling is the largest change of the name and of those results of the
 *     same rule that it explains, because a waiver covers these within its ceiling
 *   what it explains under other rules: one item for each rule, further names in its `with`
 *   counts: as they are; durations and shares: a quarter above what was measured
 */
struct tg_policy_waive_ask {
    tg_sv report; /* the JSON report's text */
    const char *file;
    tg_sv rule, name, reason, owner, issue; /* "" not given */
    int64_t today;                          /* days since 1970-01-01 */
};
enum { TG_POLICY_WAIVE_DAYS = 90 }; /* how long a waiver holds; at most 180 are allowed */

/* False: not a report of check, or nothing of that rule and name failed. */
TG_MUST bool tg_policy_waive(struct tg_buf *out, const struct tg_policy_waive_ask *ask,
                             struct tg_err *err);
#endif
