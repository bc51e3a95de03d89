#ifndef TG_CMD_GATE_SOURCE_H
#define TG_CMD_GATE_SOURCE_H
/*
 * The Python line a result comes from: for traces with stacks, the innermost function around the
 * operator's calls whose file is in the repository. Reads the first fresh trace once more, and the
 * first of the baseline if that is a trace with stacks: then the function whose calls grew most is
 * taken, else the one with the most calls. Never an error: without stacks, file or repository the
 * result has no source.
 *
 * Paths of a trace are hostile, and may come from another machine: "train.py",
 * "/__w/r/r/pkg/train.py". A file counts only if it is in HEAD and the function is at that line
 * there.
 */
#include "cmd/gate/inputs.h"
#include "policy/verdict/verdict.h"

struct tg_source_ask {
    const struct tg_input_list *fresh, *base;
    const struct tg_load_opts *load; /* how traces are read */
    struct tg_repo *repo;
    const char *workspace;  /* GITHUB_WORKSPACE: another prefix of absolute paths; may be NULL */
    struct tg_arena *arena; /* the verdict's */
};
/* Sets source and source_line of the worst results that reports show. */
void tg_source_find(struct tg_verdict *v, const struct tg_source_ask *ask);
#endif
