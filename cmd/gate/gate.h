#ifndef TG_CMD_GATE_GATE_H
#define TG_CMD_GATE_GATE_H
/*
 * What every command that judges shares: how a policy wants sides compared, and two sides ->
 * verdict. `check` judges what a user brings; `selftest` and `calibrate` judge what they
 * make of a baseline, by exactly the same path. And recordings of one commit, under a policy: what
 * these two split into sides, and what `policy explain` compares with itself.
 */
#include "cmd/gate/inputs.h"
#include "cmd/gate/known_events.h"
#include "cmd/gate/suite.h"
#include "core/diff/compare.h"
#include "policy/verdict/eval.h"

/* How the policy and the suite want sides compared; lives in `a`. */
void tg_gate_compare_opts(struct tg_compare_opts *out, const struct tg_policy *p,
                          const struct tg_suite *suite, struct tg_arena *a);

/* One judgement. Everything it points at must outlive the verdict. */
struct tg_gate {
    const struct tg_policy *policy;
    const struct tg_suite *suite;
    const struct tg_io *io;
    struct tg_side side[2];
    struct tg_damage damage[2]; /* what of them could not be read */
    /* In stages: what looks slower is asked of the sides `again`, of new runs, if there are any.
     * NULL: one look is all. */
    const struct tg_gate_ask {
        double detect; /* the size that matters, as ratio - 1 */
        size_t most;   /* runs per side that there may be in all */
    } * ask;
    struct tg_side again[2];
    bool has_again;
    bool *waivers_used; /* [n_waivers]: a suite used it; shared by all; NULL: the only suite */
    bool more_suites;   /* others are still to come: no waiver is called unused yet */
    bool alone;         /* both sides are the fresh one: nothing is said of a baseline */
    struct tg_known_ask *known; /* NULL: no history is asked */
    struct tg_compare_opts compare;
    const struct tg_comparison
        *compared;                   /* of these sides and options; NULL: tg_gate_judge compares */
    struct tg_comparison comparison; /* filled by tg_gate_judge */
    struct tg_arena *arena;
};
TG_MUST bool tg_gate_judge(struct tg_verdict *out, struct tg_gate *g, struct tg_err *err);

/* ---- runs of one commit ---- */

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
