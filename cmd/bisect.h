#ifndef TG_CMD_BISECT_H
#define TG_CMD_BISECT_H
/*
 * What one commit's test is: it and the good commit are checked out into folders of their own,
 * prepared by --setup, and the command makes a trace of each in turn, on this machine. `check` says
 * which it is; an inconclusive check is tried with twice the runs.
 */
#include "cmd/gate/check.h"

struct tg_bisect_opts {
    const char *good, *bad, *setup, *policy, *suite, *out;
    int64_t runs, max_runs;
    bool trust_repository, step; /* step: only HEAD */
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
    const struct tg_strs *command;
    const struct tg_io *io;
    struct tg_arena *arena;
    struct tg_git *git;
    const char *folder;  /* of worktrees and traces */
    const char *tree[2]; /* the worktrees */
    struct tg_commit good;
    bool prepared; /* the good side */
};
/* A folder for it; tg_bisect_end removes it and the worktrees, and so does a signal that ends us. */
TG_MUST bool tg_bisect_begin(struct tg_bisect *b, struct tg_err *err);
void tg_bisect_end(struct tg_bisect *b);
/* `why` in the arena: the verdict's headline, or what failed. */
enum tg_bisect_answer tg_bisect_test(struct tg_bisect *b, const struct tg_commit *c, tg_sv *why,
                                     struct tg_err *err);
#endif
