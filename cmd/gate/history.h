#ifndef TG_CMD_GATE_HISTORY_H
#define TG_CMD_GATE_HISTORY_H
/*
 * Baselines of earlier commits (`noise.history`): where the suite's baseline lies in the
 * first-parent ancestors of the commit that was compared with, newest first, read and sorted out.
 */
#include "cmd/gate/suite.h"

struct tg_earlier {
    const struct tg_suites *suites;
    const struct tg_suite *suite;
    const struct tg_summarize_opts *reading; /* as the baseline was read */
    enum tg_arrange arrange;
    size_t want;              /* baselines at most */
    const char *until;        /* walk no further than to this commit, itself not; NULL: max_walk */
    struct tg_summary *owned; /* of tg_earlier_load: what the sides point into */
    size_t n_owned;
    struct tg_side *side; /* those that fit the baseline */
    size_t n, found;      /* found: with those that do not */
    const char *unfit;    /* why the first one does not */
    bool cut;             /* the history ends in a shallow clone */
};

/*
 * Fills `side` for a baseline `base` of commit `sha` that was read from `used`. What cannot be read
 * is left out like what does not fit: history only adds evidence. False: git failed.
 */
TG_MUST bool tg_earlier_load(struct tg_earlier *e, const char *sha,
                             const struct tg_input_list *used, const struct tg_side *base,
                             struct tg_git *git, struct tg_err *err);
void tg_earlier_release(struct tg_earlier *e);
/* One line for the report: how many took part, and why others did not. */
tg_sv tg_earlier_text(const struct tg_earlier *e, struct tg_arena *a);
#endif
