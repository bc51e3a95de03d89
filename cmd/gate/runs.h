#ifndef TG_CMD_GATE_RUNS_H
#define TG_CMD_GATE_RUNS_H
/* Recordings of one commit, under a policy: what `selftest` and `calibrate` split into sides, and
 * what `policy explain` compares with itself. */
#include "cmd/gate/gate.h"
#include "cmd/gate/suite.h"

/* The options of commands that judge runs of one commit by a policy. */
struct tg_gate_opts {
    const char *policy, *suite, *profile;
};
#define TG_GATE_OPTION(type, member, key, value, text)                                             \
    {                                                                                              \
        .name = #key, TG_OPT_STR, offsetof(type, member.key), value, text                          \
    }
#define TG_GATE_OPTIONS(type, member)                                                              \
    TG_GATE_OPTION(type, member, policy, "FILE",                                                   \
                   "the policy, or REV:PATH in git; default: .tracegate.yml here or above, else "  \
                   "the built-in one"),                                                            \
        TG_GATE_OPTION(type, member, suite, "NAME",                                                \
                       "the suite whose baseline and window are used"),                            \
        TG_GATE_OPTION(type, member, profile, "NAME", "use this profile of the policy")

/* Recordings of one commit as one side: the traces named by `args`, else the suite's baseline in
 * HEAD. Traces without a rank are runs. Needs `min_runs` of them (TG_ERR_USAGE). */
struct tg_gate_runs {
    const struct tg_policy *policy;
    const struct tg_suite *suite;
    const struct tg_strs *args;
    const char *command; /* for messages */
    size_t min_runs;
};
TG_MUST bool tg_gate_load_runs(struct tg_side *out, struct tg_summary *summary,
                               const struct tg_gate_runs *r, const struct tg_io *io,
                               struct tg_repo *repo, struct tg_arena *a, struct tg_err *err);

/* Runs of one commit under a policy, as calibrate and selftest take them. */
struct tg_gate_same {
    struct tg_arena *arena; /* the call's */
    struct tg_policy *policy;
    const struct tg_suite *suite;
    struct tg_summary summary;
    struct tg_side all;
    struct tg_compare_opts compare;
};
/* Fills all of it; what was filled is released in any case. */
TG_MUST bool tg_gate_same_open(struct tg_gate_same *s, const struct tg_gate_opts *o,
                               const struct tg_cmd_call *c, const char *command, size_t min_runs,
                               struct tg_err *err);
void tg_gate_same_release(struct tg_gate_same *s);
/* A side of `n` of another side's runs, in the order of `run`. */
struct tg_side tg_gate_subset(const struct tg_side *of, const size_t *run, size_t n,
                              struct tg_arena *a);
#endif
