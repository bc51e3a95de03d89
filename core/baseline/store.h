#ifndef TG_BASELINE_STORE_H
#define TG_BASELINE_STORE_H
/*
 * Baselines kept in git, beside the history: one ref per recorded run, pointing at a blob,
 *
 *     refs/tracegate/v1/SUITE/SHA/RUN          RUN: first 16 hex digits of the blob's name
 *
 * A run is immutable and its ref is only ever created, so writers cannot lose each other's work
 * and there is no tip to race for: the same bytes give the same ref, other bytes another one.
 * Repeating a job adds a run. No branch, work tree, index or identity takes part, a plain clone or
 * fetch does not bring the refs, and `git gc` keeps what they point at. This is the local half;
 * moving refs between clones is `git fetch` and `git push` of exactly these names.
 *
 * What the bytes are is the caller's business (a summary); limits.max_summary bounds them.
 *
 * At one commit, the runs of a suite may take TG_STORE_COMMIT_BYTES in all, as git packs them
 * (core/summary/fit.h), whatever the number of ranks and runs. The caller enforces this, counting
 * the runs that are already there.
 */
#include "core/baseline/baseline.h"

#define TG_STORE_PREFIX "refs/tracegate/v1/"
#define TG_STORE_MAX_SUITE 100u /* bytes of a suite's name */
#define TG_STORE_COMMIT_BYTES 1000000
/* The share of one run when `runs` are recorded together: at most a fifth, because durations are
 * judged best by five runs, and jobs that record one each do not know of each other. */
#define TG_STORE_RUNS 5
static inline size_t tg_store_share(size_t runs)
{
    return TG_STORE_COMMIT_BYTES / (runs > TG_STORE_RUNS ? runs : TG_STORE_RUNS);
}

struct tg_git_ref_at;
/* The store of a repository: an object is a blob, its name a ref. */
struct tg_store {
    struct tg_git *git;
};
static inline struct tg_store tg_store_open(struct tg_git *g)
{
    return (struct tg_store){ g };
}

struct tg_stored {
    tg_sv suite;
    char commit[TG_SHA_SIZE];
    tg_sv run;
    char oid[TG_SHA_SIZE];
    tg_sv ref;                /* full name */
    const struct tg_err *why; /* NULL, or why it cannot be read: it is not the run of its name */
};

/* A suite's name as one component of a ref: letters, digits, '_' and '-' as they are, '.' where
 * git allows it, every other byte as %XX. "" and names over the limit: TG_ERR_USAGE. */
TG_MUST bool tg_store_suite(tg_sv suite, struct tg_arena *a, tg_sv *component, struct tg_err *err);

/* What the refs of a suite (n = 0: of all) begin with,
 * by the prefix of their kind: "PREFIXSUITE/". */
TG_MUST bool tg_store_below(const char *prefix, tg_sv suite, struct tg_arena *a, tg_sv *out,
                            struct tg_err *err);

/* Stores one run of a suite at a commit (40 hex digits, must be here). *created false: these very
 * bytes were there already, which is fine: a retried job. */
TG_MUST bool tg_store_record(const struct tg_store *store, tg_sv suite, const char *sha,
                             tg_sv bytes, struct tg_arena *a, struct tg_stored *out, bool *created,
                             struct tg_err *err);

/*
 * What is stored: of one suite or all (n = 0), at one commit or all (NULL); sorted by suite,
 * commit, run in byte order. Refs that are not of this form are skipped and counted in `foreign`
 * (may be NULL); one whose name is of this form and that cannot be read, or whose object is
 * another, has `why`. Cost: one pass over the refs below the prefix.
 */
TG_MUST bool tg_store_list(const struct tg_store *store, tg_sv suite, const char *sha,
                           struct tg_arena *a, struct tg_stored **out, size_t *n, size_t *foreign,
                           struct tg_err *err);

/* False, with that error, if one of these runs has `why`: for what must have them all. */
TG_MUST bool tg_store_whole(const struct tg_stored *v, size_t n, struct tg_err *err);

/* The error of a ref that was moved or damaged: its object is not the one that its name says. */
bool tg_store_misnamed(const struct tg_git_ref_at *ref, struct tg_err *err);

/* The same of refs that somebody listed (git ls-remote); strings in `a`. Others are skipped. */
void tg_store_of_refs(const struct tg_git_ref_at *refs, size_t n_refs, struct tg_arena *a,
                      struct tg_stored **out, size_t *n);

/* These runs as files for tg_store_read; paths read "stored:SUITE/RUN". */
TG_MUST bool tg_store_files_of(const struct tg_store *store, const struct tg_stored *v, size_t n,
                               struct tg_arena *a, struct tg_git_files *out, struct tg_err *err);
/* The runs of one commit as files for tg_store_read; paths read "stored:SUITE/RUN". */
TG_MUST bool tg_store_files(const struct tg_store *store, tg_sv suite, const char *sha,
                            struct tg_arena *a, struct tg_git_files *out, struct tg_err *err);

enum tg_store_chosen { TG_STORE_BY_POLICY, TG_STORE_BY_USER }; /* who chose it */
/*
 * tg_baseline_find for the store: walks back from `start` to the first commit with a run. Nothing
 * within max_walk: LOST if the store holds this suite at any ancestor of `start` or the user
 * asked for it, else FIRST_RUN (it may hold it on other branches). In a shallow clone that holds
 * runs of commits which are not here, nobody can know: TG_ERR_GIT.
 */
TG_MUST bool tg_store_find(const struct tg_store *store, const struct tg_commit *start, tg_sv suite,
                           unsigned max_walk, enum tg_store_chosen by, struct tg_arena *a,
                           struct tg_baseline *out, struct tg_err *err);

/* Is one commit an ancestor of the other (or the same)? ABSENT, too, beyond the cut of a clone. */
TG_MUST enum tg_seen tg_store_precedes(const struct tg_store *store, const char *sha,
                                       const char *of, struct tg_err *err);

/*
 * Which runs of `all` (sorted, as tg_store_list and tg_remote_list give them) are old: those of
 * commits that are neither among the `keep` newest of their suite, by committer date (ties: greater
 * sha), nor from `since` (seconds since 1970) on. Runs whose commit is not in this clone are never
 * old, because nobody knows their date; `unknown` (may be NULL) counts them.
 */
enum tg_thin { TG_THIN_NONE, TG_THIN_WEEKLY, TG_THIN_MONTHLY };
struct tg_prune_opts {
    size_t keep;
    int64_t since;       /* INT64_MAX: age does not matter */
    enum tg_thin thin;   /* of what would be old: the newest commit of each week (Monday to Sunday,
                            UTC) or month stays */
    const char **spared; /* what stays whatever its age: "COMMIT SUITE", sorted */
    size_t n_spared;
};
/* The newest date of the commits of `all` that are here; INT64_MIN: none is. */
TG_MUST bool tg_store_newest(const struct tg_store *store, const struct tg_stored *all, size_t n,
                             struct tg_arena *a, int64_t *date, struct tg_err *err);
TG_MUST bool tg_store_old(const struct tg_store *store, const struct tg_prune_opts *o,
                          const struct tg_stored *all, size_t n_all, struct tg_arena *a,
                          struct tg_stored **out, size_t *n, size_t *unknown, struct tg_err *err);
/* The bytes of one of these files, appended to `out`. */
TG_MUST bool tg_store_read(const struct tg_store *store, const struct tg_git_file *f,
                           struct tg_buf *out, struct tg_err *err);
/* Deletes these runs here; missing ones are ignored. */
TG_MUST bool tg_store_delete(const struct tg_store *store, const struct tg_stored *v, size_t n,
                             struct tg_err *err);
#endif
