#ifndef TG_BASELINE_REMOTE_H
#define TG_BASELINE_REMOTE_H
/*
 * Moving stored runs between clones, by spawning `git`: exact names only, no prompts, a timeout per
 * command (tg_git_opts.timeout_ms), and no force: what exists on either side stays as it is. Git's
 * own configuration applies (credentials, proxies, ssh).
 *
 * A push that lost a lock or the connection is tried again after a random sleep; one that the
 * remote forbids (protected refs, hooks, missing rights) is final, and its text is in the error.
 * All errors are TG_ERR_GIT (exit 3), a bad name of a remote TG_ERR_USAGE.
 */
#include "core/baseline/store.h"

struct tg_remote {
    const char *name;  /* "origin", a URL or a path */
    unsigned tries;    /* of a push; 0: TG_REMOTE_TRIES */
    uint32_t seed;     /* of the random sleeps: differs between writers (a process id) */
    unsigned sleep_ms; /* longest first sleep, doubled each time; 0: TG_REMOTE_SLEEP_MS */
    bool dry_run;      /* ask the remote, change nothing */
};
#define TG_REMOTE_TRIES 6u
#define TG_REMOTE_SLEEP_MS 400u
#define TG_REMOTE_BATCH 200u /* refs of one git command: its line stays below 64 KiB */

struct tg_pushed {
    size_t done; /* created or deleted */
    size_t same; /* were there already, or gone already */
    unsigned tries;
};
enum tg_remote_do { TG_REMOTE_CREATE, TG_REMOTE_DELETE };
/* Creates or deletes these refs on the remote.
 * After an error `out` says what was done until then. */
TG_MUST bool tg_remote_push(struct tg_git *g, const struct tg_remote *r, enum tg_remote_do what,
                            const struct tg_stored *v, size_t n, struct tg_pushed *out,
                            struct tg_err *err);

/* Brings all runs of a suite at these commits, and what people said of the suite's events
 * (event.h). If there are none, that is not an error. */
TG_MUST bool tg_remote_fetch(struct tg_git *g, const struct tg_remote *r, tg_sv suite,
                             const struct tg_commit *at, size_t n, struct tg_err *err);
/* The same of all commits; n = 0: of all suites. */
TG_MUST bool tg_remote_fetch_all(struct tg_git *g, const struct tg_remote *r, tg_sv suite,
                                 struct tg_err *err);
/* What the remote holds of a suite (n = 0: all), as tg_store_list says it; brings no object. */
TG_MUST bool tg_remote_list(struct tg_git *g, const struct tg_remote *r, tg_sv suite,
                            struct tg_arena *a, struct tg_stored **out, size_t *n,
                            struct tg_err *err);
/* `n` more commits beyond the cut of a shallow clone; `sha` is a commit that is here. */
TG_MUST bool tg_remote_deepen(struct tg_git *g, const struct tg_remote *r, const char *sha,
                              unsigned n, struct tg_err *err);
#endif
