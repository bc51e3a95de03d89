#ifndef TG_CMD_BISECT_H
#define TG_CMD_BISECT_H
/* What one commit's test is: `ab` with the good commit as its base (ab.h). Its stages end at once
 * where the program does more than before, and ask again where it looks slower. If the bad commit's
 * end in the first stage, so do those of the others, and no time is asked. */
#include "cmd/ab.h"

struct tg_bisect_opts {
    const char *good, *bad, *setup, *policy, *suite, *out;
    int64_t runs, max_runs;
    bool trust_repository, only_head;
};

enum tg_bisect_answer {
    TG_BISECT_UNTESTED,
    TG_BISECT_GOOD,
    TG_BISECT_BAD,
    TG_BISECT_SKIP, /* does not build, does not run, or stays inconclusive */
    TG_BISECT_ERROR /* err is set: the good side does not run, or a mistake of ours */
};

struct tg_bisect {
    const struct tg_bisect_opts *o;
    struct tg_ab ab; /* its base is the good commit, its head the one that is tested */
    struct tg_ab_opts ab_opts;
    bool compared; /* both sides were prepared */
};
/* A folder for it; tg_bisect_end removes it and the worktrees, and so does a signal that ends
 * us. */
TG_MUST bool tg_bisect_begin(struct tg_bisect *b, const struct tg_commit *good, struct tg_err *err);
void tg_bisect_end(struct tg_bisect *b);
/* `why` in the arena: the verdict's headline, or what failed. */
enum tg_bisect_answer tg_bisect_test(struct tg_bisect *b, const struct tg_commit *c, tg_sv *why,
                                     struct tg_err *err);
#endif
