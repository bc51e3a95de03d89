#ifndef TG_CMD_GATE_KNOWN_EVENTS_H
#define TG_CMD_GATE_KNOWN_EVENTS_H
/*
 * What is known to be slower since the baseline before this run: for verdicts that fail, so that a
 * pass costs nothing. Nights of the change under test do not count, or it could excuse itself.
 * Cost: that of `tracegate history` for the suite; and, where something still fails, one check for
 * each night back that failed too, TG_KNOWN_LOOK at most.
 */
#include "core/baseline/baseline.h"
#include "policy/verdict/eval.h"

struct tg_known_ask {
    struct tg_git *git;
    tg_sv suite;
    const char *since; /* oldest commit of the baseline: 40 hex digits */
    /* The commit that the change under test begins at, and the newest night that counts. */
    enum tg_seen (*until)(void *arg, struct tg_commit *out, struct tg_err *err);
    /* What failed in that night (40 hex digits), judged as it was; *out lives in `arena`. */
    bool (*failures)(void *arg, const char *night, struct tg_known **out, size_t *n,
                     struct tg_err *err);
    void *arg;
    struct tg_arena *arena;
    struct tg_known_night *night; /* after `since`, oldest first: filled with the events */
    size_t n_nights;
    struct tg_known *trend; /* of the newest nights: filled with the events, too */
    size_t n_trends;
    struct tg_err err; /* why an answer is not known; its kind is NONE where all was read */
};
struct tg_known_night {
    const char *commit;
    int64_t date;
    size_t number; /* in the history, from 1 on */
};
enum { TG_KNOWN_LOOK = 10 };
/*
 * As tg_eval_input.ask_known. What cannot be read leaves its error in `err`, and the verdict does
 * not count: an event of that night may be fixed, or open. EVENTS: open and accepted events that
 * came after `since`, up to `until`. NIGHTS, asked after them: what failed in the newest night,
 * since the night in which it failed first. A night that failed of more than the one before it
 * begins anew. TREND, asked after EVENTS: of each name and of the step its time in the newest
 * TG_KNOWN_LOOK nights.
 */
size_t tg_known_find(void *ask, enum tg_known_from from, const struct tg_known **out);
#endif
