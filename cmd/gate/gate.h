#ifndef TG_CMD_GATE_GATE_H
#define TG_CMD_GATE_GATE_H
/*
 * What every command that judges shares: how a policy wants sides compared, and two sides ->
 * verdict. `check` judges what a user brings; `selftest` and `calibrate` judge what they
 * make of a baseline, by exactly the same path.
 */
#include "cmd/gate/inputs.h"
#include "cmd/gate/known_events.h"
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
#endif
