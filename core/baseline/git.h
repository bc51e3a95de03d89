#ifndef TG_BASELINE_GIT_H
#define TG_BASELINE_GIT_H
/*
 * The few things this room asks of a repository, in plain C: the files of libgit2/ answer them with
 * libgit2, the rules about baselines (find.c, list.c) are written on top and know no library.
 * Object names are 40 hex digits. An object that a partial
 * clone lacks is fetched before the answer.
 */
#include "core/baseline/baseline.h"

/* `n` digits of an object's name, and nothing else. */
static inline bool tg_is_hex(tg_sv s, size_t n)
{
    for (size_t i = 0; i < s.n; i++)
        if (!memchr("0123456789abcdef", s.p[i], 16))
            return false;
    return s.n == n;
}

struct tg_head {
    char sha[TG_SHA_SIZE];
    bool detached;
};
/* HEAD; a repository without a commit is TG_ERR_GIT. */
TG_MUST bool tg_git_head(struct tg_git *g, struct tg_head *out, struct tg_err *err);

/* Everything of a commit but `how`, `ref` and `found`. ABSENT: no such commit here. */
TG_MUST enum tg_seen tg_git_commit(struct tg_git *g, const char *sha, struct tg_arena *a,
                                   struct tg_commit *out, struct tg_err *err);

/* Parents as the commit names them, also those beyond the cut of a shallow clone. */
struct tg_parents {
    size_t n; /* all of them; the first two are kept */
    char sha[2][TG_SHA_SIZE];
    char merged[2][TG_SHA_SIZE]; /* from a message "Merge X into Y": X, Y; else "" */
};
TG_MUST bool tg_git_parents(struct tg_git *g, const char *sha, struct tg_parents *out,
                            struct tg_err *err);

/* The commit a full ref name ("refs/remotes/origin/main") points at, symbolic refs followed.
 * ABSENT: no such ref, or one of something else than a commit. */
TG_MUST enum tg_seen tg_git_ref(struct tg_git *g, const char *name, char sha[TG_SHA_SIZE],
                                struct tg_err *err);
/* The ref a symbolic ref names ("refs/remotes/origin/HEAD" -> "refs/remotes/origin/main"). */
bool tg_git_symbolic(struct tg_git *g, const char *name, struct tg_arena *a, tg_sv *target);
/* SEEN: a ref "refs/pull/N/merge" or "refs/remotes/pull/N/merge" points at `sha`. */
TG_MUST enum tg_seen tg_git_is_pull_ref(struct tg_git *g, const char *sha, struct tg_err *err);

/* ABSENT: no common commit in this clone (truncated history, or unrelated ones). */
TG_MUST enum tg_seen tg_git_merge_base(struct tg_git *g, const char *one, const char *two,
                                       char sha[TG_SHA_SIZE], struct tg_err *err);

enum tg_entry_kind { TG_ENTRY_FILE, TG_ENTRY_TREE, TG_ENTRY_LINK, TG_ENTRY_MODULE };
struct tg_entry {
    tg_sv name; /* in the arena where one is given; else not set */
    enum tg_entry_kind kind;
    char oid[TG_SHA_SIZE];
};
/* The root of a commit's files, as an entry. */
TG_MUST bool tg_git_tree_of(struct tg_git *g, const char *sha, struct tg_entry *root,
                            struct tg_err *err);
TG_MUST enum tg_seen tg_git_entry(struct tg_git *g, const struct tg_entry *tree, const char *name,
                                  struct tg_entry *out, struct tg_err *err);
/* Those that `wants` keeps, in `a`; it sees their kind and name, which ends with a zero. */
struct tg_entry_filter {
    bool (*wants)(const struct tg_entry *e, const void *arg);
    const void *arg;
};
TG_MUST bool tg_git_entries(struct tg_git *g, const struct tg_entry *tree,
                            struct tg_entry_filter filter, struct tg_arena *a,
                            struct tg_entry **out, size_t *n, struct tg_err *err);

/* A partial clone: objects may be on the server only, and each look may cost a fetch. */
bool tg_git_is_partial(const struct tg_git *g);

/* From the object's header, nothing loaded; TG_SIZE_UNKNOWN where a partial clone lacks it. */
TG_MUST bool tg_git_size(struct tg_git *g, const char *oid, uint64_t *size, struct tg_err *err);
/* The raw bytes; `path` is for messages. */
TG_MUST bool tg_git_blob(struct tg_git *g, const char *oid, const char *path, struct tg_buf *out,
                         struct tg_err *err);

/* ---- writing: only blobs and new refs, for store.c ---- */
TG_MUST bool tg_git_write_blob(struct tg_git *g, tg_sv bytes, char oid[TG_SHA_SIZE],
                               struct tg_err *err);
/* TG_ABSENT: it was, and now points at `oid`. TG_SEEN: it exists; `there` is where it points. */
TG_MUST enum tg_seen tg_git_ref_create(struct tg_git *g, const char *name, const char *oid,
                                       char there[TG_SHA_SIZE], struct tg_err *err);
struct tg_git_ref_at {
    tg_sv name;
    char oid[TG_SHA_SIZE];    /* not peeled; symbolic refs are skipped */
    const struct tg_err *why; /* NULL, or why it cannot be read: `oid` is "" */
};
/* Deletes those that still point at their object; gone already is fine. Many are one transaction of
 * `git` (6,250 refs: 0.3 s); without git, or where it refuses, one after the other. */
TG_MUST bool tg_git_refs_delete(struct tg_git *g, const struct tg_git_ref_at *v, size_t n,
                                struct tg_err *err);
/* All refs whose name begins with `prefix` (which ends in '/'), those that cannot be read, too. */
TG_MUST bool tg_git_refs_all(struct tg_git *g, const char *prefix, struct tg_arena *a,
                             struct tg_git_ref_at **out, size_t *n, struct tg_err *err);
/* The same; one that cannot be read is an error. */
TG_MUST bool tg_git_refs(struct tg_git *g, const char *prefix, struct tg_arena *a,
                         struct tg_git_ref_at **out, size_t *n, struct tg_err *err);
/* SEEN: it is an ancestor, or the same. A commit that is not here, and a cut between them,
 * is ABSENT. */
TG_MUST enum tg_seen tg_git_is_ancestor(struct tg_git *g, const char *sha, const char *of,
                                        struct tg_err *err);

struct tg_spawned;
/* `git ARGS…` in this repository, for what libgit2 cannot do well: no prompts, English messages,
 * the timeout of tg_git_opts. `args` end with NULL; standard output is appended to `out`. */
void tg_git_spawn(struct tg_git *g, const char *const *args, size_t max_out, struct tg_buf *out,
                  struct tg_spawned *r);
/* The same with something to read on its standard input. */
void tg_git_spawn_with(struct tg_git *g, const char *const *args, tg_sv input, size_t max_out,
                       struct tg_buf *out, struct tg_spawned *r);
/* Says why it did not end by itself or with 0. Always returns false. */
bool tg_git_spawn_failed(const struct tg_git *g, const char *what, const struct tg_spawned *r,
                         struct tg_err *err);

/* remote.c: what `git ls-remote` printed, as refs in `a`; other lines are skipped. */
void tg_remote_refs(tg_sv text, struct tg_arena *a, struct tg_git_ref_at **out, size_t *n);

/* find.c: ABSENT: a root (*cut false) or the cut of a shallow clone (*cut true). */
TG_MUST enum tg_seen tg_git_step_back(struct tg_git *g, const char *sha, struct tg_arena *a,
                                      struct tg_commit *out, bool *cut, struct tg_err *err);

/* find.c: `at`, out->walked steps back from out->start, is the baseline's commit. */
void tg_git_use(struct tg_baseline *out, const struct tg_commit *at, struct tg_arena *a);

/* Where LFS keeps its objects, without '/' at the end. In `a`. */
const char *tg_git_lfs_dir(struct tg_git *g, struct tg_arena *a);
const struct tg_limits *tg_git_limits(const struct tg_git *g);

/* "history is shallow" and what to do about it. Always returns false. */
bool tg_git_shallow(const char *what, struct tg_err *err);

/* list.c: a path as written -> as the tree spells it. */
TG_MUST bool tg_git_tree_path(const struct tg_git *g, const char *path, struct tg_arena *a,
                              tg_sv *out, struct tg_err *err);

/* lfs.c */
struct tg_lfs { /* a pointer */
    char oid[65];
    uint64_t size;
};
#define TG_LFS_MAX_POINTER 1024u
bool tg_lfs_parse(tg_sv text, struct tg_lfs *out);
/* Appends the object that the pointer `f` names. */
TG_MUST bool tg_lfs_read(struct tg_git *g, const struct tg_git_file *f, const struct tg_lfs *p,
                         struct tg_buf *out, struct tg_err *err);
#endif
