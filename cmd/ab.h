#ifndef TG_CMD_AB_H
#define TG_CMD_AB_H
/*
 * `tracegate ab`: the base and HEAD, checked out side by side, run in turn on this machine,
 * and check compares them.
 *
 * The command is the change's code. Invariants: what is judged are the files that the runs left,
 * which nothing changed since; while the command runs nothing else of ours does,
 * so that nothing disturbs it.
 */
#include "cmd/gate/inputs.h"
#include "core/baseline/spawn.h"

struct tg_ab_opts {
    const char *base, *setup, *detect, *budget, *out;
    int64_t runs, max_runs;
    bool resume, bisect, explain;
    bool calls; /* what fails in the first stage is asked, and nothing else */
    /* of a bisection, at another commit: where the base fails now, HEAD is skipped */
    bool base_ran;
    struct tg_strs watch;
    struct tg_strs check; /* options of check, as they were given */
};

enum { TG_AB_BASE, TG_AB_HEAD, TG_AB_SIDES };

struct tg_ab_side {
    const char *name; /* "base", "head" */
    struct tg_commit commit;
    const char *tree;          /* its worktree */
    const char *first, *again; /* traces of the first look, and of the stages after it */
    /* where the runs go that are made now: one of the two, or of those with stacks */
    const char *folder;
    const char *made; /* the worktree's fingerprint after --setup; NULL: not prepared */
};

struct tg_ab {
    const struct tg_ab_opts *o;
    const struct tg_strs *command;
    const struct tg_io *io;
    struct tg_arena *arena;
    const struct tg_cmd_call *call;
    struct tg_git *git;
    struct tg_ab_side side[TG_AB_SIDES];
    const char *tmp;         /* worktrees, and traces without --out; ends with us */
    const char *out;         /* traces */
    const char **drop;       /* names of the environment that the command does not get */
    const char *settings;    /* fingerprint of what decides */
    struct tg_strs taken;    /* files of the runs so far, each with its SHA-256: "SUM  PATH" */
    int64_t k;               /* runs per side so far */
    int64_t n_made, made_ms; /* runs made here, and how long they took */
    int64_t pair_ms;         /* the last run of each side */
    int64_t until;           /* host ms: no run begins that would end later; 0: no budget */
    bool spent;              /* there was no time for a run that was asked for */
    int stage;               /* 0: one look */
    const char *suspects;    /* of the stage before, with their intervals; NULL: none */
    int64_t budget_ms;       /* 0: none */
    int lock;                /* of `out`; 0: not open yet */
    int held;                /* lock of `tmp` */
    bool stacks;             /* TRACE_STACKS=1 */
    bool line;               /* the line of progress is on the terminal */
    bool failed;             /* a side does not run */
    int code;                /* not 0: the exit code of an error that has one of its own */
};

/* The exit code of an error: the command changed what decides about it. */
enum { TG_AB_CHANGED = 6, TG_AB_SKIP = 125 };

/* A number of runs on the command line: none, or 1 to 999. */
bool tg_ab_is_count(int64_t n);

/* ---- ab.c: the order, what check says (docs/stages.md); what is said, git, folders ---- */
/* Adds an option to a command line; nothing without a value. */
void tg_ab_add_option(struct tg_ab *ab, struct tg_strs *argv, const char *name, const char *value);
/* `git ARGS…` (NULL at the end) in this work tree; false: it did not end with 0. */
bool tg_ab_git(struct tg_ab *ab, const char *const *args, struct tg_buf *out,
               struct tg_spawned *how);
/* The text of a file; "": there is none. */
tg_sv tg_ab_read(struct tg_ab *ab, const char *path);
/* Paths of all that a folder has, hidden ones too, sorted; none: it cannot be read. */
struct tg_strs tg_ab_list(struct tg_arena *a, const char *dir);
/* One line on standard error, "ab: " in front. */
void tg_ab_say(struct tg_ab *ab, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The line of progress, on a terminal: replaced by the next one,
 * gone before anything else is said. */
void tg_ab_progress(struct tg_ab *ab, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Of stages: what the options do not say, the policy may (`ab`). check reads `detect` itself.
 * False, too, if check would refuse its options after the runs. */
TG_MUST bool tg_ab_plan(struct tg_ab *ab, struct tg_ab_opts *o, struct tg_err *err);
/* Runs and judges the two sides, which are prepared; prints what check says. The exit code of
 * check, TG_AB_SKIP, or that of err. */
int tg_ab_compare(struct tg_ab *ab, struct tg_err *err);

/* ---- ab_sides.c: the two worktrees, and a program that runs in one of them ---- */
/* A folder for all of it; tg_ab_end removes it and the worktrees, and so does a signal that ends
 * us; after a kill, the next `ab` does. */
TG_MUST bool tg_ab_begin(struct tg_ab *ab, struct tg_err *err);
void tg_ab_end(struct tg_ab *ab);
/* Checks out and sets up each side that is not `made`, at its commit. */
TG_MUST bool tg_ab_prepare(struct tg_ab *ab, struct tg_err *err);
/*
 * Runs `argv` in a side's worktree, in the folder of it that this was called from, without what is
 * private and with nothing to read, and ends what it leaves running. NULL if it ended with 0; else
 * what happened, in the arena.
 */
const char *tg_ab_run(struct tg_ab *ab, size_t side, const char *const *argv, const char *trace);
/* Nothing can be said of HEAD, which a bisection skips;
 * with a base that never ran nothing can be said at all. False. */
bool tg_ab_side_fails(struct tg_ab *ab, size_t side, struct tg_err *err);

/* ---- ab_runs.c: one run, made, tried once more, or brought back after a kill ---- */
/* Folders of traces; with --resume what is there is put aside until it is its turn. */
TG_MUST bool tg_ab_runs_begin(struct tg_ab *ab, struct tg_err *err);
/* The runs of both sides until there are `n` of each,
 * or the budget has no time for one more of each. */
TG_MUST bool tg_ab_runs_to(struct tg_ab *ab, int64_t n, struct tg_err *err);
/* What a run of each side takes: the last ones or the mean, whichever is longer. 0: unknown. */
int64_t tg_ab_pair_ms(const struct tg_ab *ab);
TG_MUST bool tg_ab_run_one(struct tg_ab *ab, size_t side, int64_t k, struct tg_err *err);

/* ---- ab_watch.c: did the command change what decides about it (docs/security.md)? ---- */
const char *tg_ab_settings(struct tg_ab *ab);
/* Of a worktree: names, sizes and times of change. */
const char *tg_ab_tree(struct tg_ab *ab, size_t side);
/* False with err set and `code` TG_AB_CHANGED: they differ;
 * the error has the first line that does. */
TG_MUST bool tg_ab_same(struct tg_ab *ab, const char *what, const char *before, const char *after,
                        struct tg_err *err);
/* What judges, and the traces, are as they were. */
TG_MUST bool tg_ab_unchanged(struct tg_ab *ab, struct tg_err *err);
#endif
