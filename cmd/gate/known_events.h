#ifndef TG_CMD_GATE_KNOWN_EVENTS_H
#define TG_CMD_GATE_KNOWN_EVENTS_H
/*
 * What the history of a suite already knows to be slower since the baseline: for verdicts that fail,
 * so that a pass costs nothing. Cost: that of `tracegate history` for the suite.
 */
#include "core/baseline/baseline.h"
#include "policy/verdict/eval.h"

struct tg_known_ask {
    struct tg_git *git;
    tg_sv suite;
    const char *since; /* oldest commit of the baseline: 40 hex digits */
    struct tg_arena *arena;
};
/*
 * Open and accepted events that came after `since` and were shown by a night before HEAD's own.
 * As tg_eval_input.ask_known; errors are as good as no events: then what fails, fails.
 */
size_t tg_known_find(void *ask, const struct tg_known **out);
#endif
