#ifndef TG_CMD_GATE_GATE_H
#define TG_CMD_GATE_GATE_H
/*
 * What every command that judges shares: the policy in force, how it wants sides compared, and two
 * sides -> verdict. `check` judges what a user brings; `selftest` and `calibrate` judge what they
 * make of a baseline, by exactly the same path.
 */
#include "cmd/gate/inputs.h"
#include "core/diff/compare.h"
#include "policy/language/load.h"
#include "policy/verdict/eval.h"

/* The value of an environment variable; NULL: unset or empty. */
const char *tg_gate_env(const struct tg_io *io, const char *name);
/* UTC days since 1970, for waivers: SOURCE_DATE_EPOCH where a run must repeat, else the clock. */
int64_t tg_gate_today(const struct tg_io *io);

/*
 * Loads `path`, or what is found here and above, or the built-in policy. `profile` "auto": by the
 * CI event. NULL: err is set, and the mistakes stand on standard error. Free with tg_policy_free.
 */
TG_MUST struct tg_policy *tg_gate_policy(const char *path, const char *profile,
                                         const struct tg_io *io, struct tg_repo *repo,
                                         struct tg_arena *a, struct tg_err *err);
/*
 * A policy named by `o->path`: a file is left as it is; for REV:PATH its files, `extends` included,
 * will be read from that commit. `tree` must live until it is loaded.
 */
struct tg_gate_tree {
    struct tg_git *git;
    struct tg_commit commit;
};
TG_MUST bool tg_gate_policy_source(struct tg_policy_opts *o, struct tg_gate_tree *tree,
                                   struct tg_repo *repo, struct tg_arena *a, struct tg_err *err);
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
        TG_GATE_OPTION(type, member, suite, "NAME", "the suite whose baseline and window count"),  \
        TG_GATE_OPTION(type, member, profile, "NAME", "use this profile of the policy")

/* The suite of a policy without one. */
const struct tg_suite *tg_gate_default_suite(struct tg_arena *a);
/* The suite `name` (NULL: the only one). NULL with TG_ERR_USAGE. */
TG_MUST const struct tg_suite *tg_gate_suite(const struct tg_policy *p, const char *name,
                                             struct tg_arena *a, struct tg_err *err);

/* How the suite cuts steps, and the policy's classes. */
void tg_gate_reading(struct tg_summarize_opts *out, const struct tg_policy *p,
                     const struct tg_suite *suite);
/* How the policy and the suite want sides compared; lives in `a`. */
void tg_gate_compare_opts(struct tg_compare_opts *out, const struct tg_policy *p,
                          const struct tg_suite *suite, struct tg_arena *a);

/*
 * Recordings of one commit as one side: the traces named by `args`, else the suite's baseline in
 * HEAD. Traces without a rank are runs. Needs `min_runs` of them (TG_ERR_USAGE).
 */
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
    struct tg_arena *arena;
    struct tg_repo repo;
    struct tg_policy *policy;
    const struct tg_suite *suite;
    struct tg_summary summary;
    struct tg_side all;
    struct tg_compare_opts compare;
};
/* Fills all of it; what was filled is released in any case. */
TG_MUST bool tg_gate_same_open(struct tg_gate_same *s, const struct tg_gate_opts *o,
                               const struct tg_strs *args, const char *command, size_t min_runs,
                               const struct tg_io *io, struct tg_err *err);
void tg_gate_same_release(struct tg_gate_same *s);
/* A side of `n` of another side's runs, in the order of `run`. */
struct tg_side tg_gate_subset(const struct tg_side *of, const size_t *run, size_t n,
                              struct tg_arena *a);

/* One judgement. Everything it points at must outlive the verdict. */
struct tg_gate {
    const struct tg_policy *policy;
    const struct tg_suite *suite;
    const struct tg_io *io;
    struct tg_side side[2];
    bool *waivers_used; /* as in tg_eval_input, with */
    bool more_suites;
    struct tg_compare_opts compare;
    struct tg_comparison comparison; /* filled by tg_gate_judge */
    struct tg_arena *arena;
};
TG_MUST bool tg_gate_judge(struct tg_verdict *out, struct tg_gate *g, struct tg_err *err);
#endif
