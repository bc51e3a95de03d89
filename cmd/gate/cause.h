#ifndef TG_CMD_GATE_CAUSE_H
#define TG_CMD_GATE_CAUSE_H
/*
 * Where in the program the worst results of a verdict come from (core/cause): looks into the first
 * fresh trace and the first of the baseline, with their Python stacks, and asks git what the change
 * touched. Only for verdicts that show a violation, so that a pass costs nothing.
 *
 * Never an error: a result without a cause says why in `no_cause`.
 */
#include "cmd/gate/inputs.h"
#include "policy/verdict/verdict.h"

struct tg_cause_ask {
    struct tg_first_traces from; /* of what was compared */
    const char *base_commit;     /* the baseline's; NULL: not known */
    const char *workspace;  /* GITHUB_WORKSPACE: another prefix of absolute paths; may be NULL */
    bool stacks;            /* the fresh side was recorded with stacks */
    struct tg_arena *arena; /* the verdict's */
};
/* Sets cause, no_cause, source and source_line of the worst results that reports show. */
void tg_cause_find(struct tg_verdict *v, const struct tg_cause_ask *ask);
#endif
