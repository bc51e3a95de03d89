#ifndef TG_CMD_GATE_CAUSE_H
#define TG_CMD_GATE_CAUSE_H
/*
 * Where in the program the worst results of a verdict come from (core/cause): looks into the first fresh
 * trace and the first of the baseline, with their Python stacks, and asks git what the change
 * touched. Only for verdicts that show a violation, so that a pass costs nothing.
 *
 * Never an error: a result without a cause says why in `no_cause`.
 */
#include "cmd/gate/inputs.h"
#include "policy/verdict/verdict.h"

struct tg_cause_ask {
    const struct tg_input_list *side[2]; /* baseline, fresh: what was compared */
    struct tg_kept_trace *kept[2]; /* their first traces, filled or to fill; NULL: read them here */
    const struct tg_load_opts *load;     /* how traces are read */
    const struct tg_window_spec *window; /* what a step is */
    unsigned skip_first;
    struct tg_repo *repo;
    const char *base_commit; /* the baseline's; NULL: not known */
    const char *workspace;   /* GITHUB_WORKSPACE: another prefix of absolute paths; may be NULL */
    bool stacks;             /* the fresh side was recorded with stacks */
    struct tg_arena *arena;  /* the verdict's */
};
/* Sets cause, no_cause, source and source_line of the worst results that reports show. */
void tg_cause_find(struct tg_verdict *v, const struct tg_cause_ask *ask);
#endif
