#ifndef TG_BASELINE_BASELINE_H
#define TG_BASELINE_BASELINE_H
/*
 * Where a baseline comes from: which commit, which files in it, their bytes.
 *
 *     text --tg_input_parse--> file, directory, glob, "-"     (core/trace reads those)
 *                         \-> REV:PATH, REV --------\
 *     policy `baseline:` --tg_baseline_commit--> commit --tg_baseline_find--> files --tg_git_read
 *
 * Reading is local and changes nothing, but for one thing: an object that a partial clone left on
 * the server is fetched by spawning `git` (never a shell, never a prompt, with a timeout), which
 * stores it in the clone. No type of libgit2 leaves libgit2/; nothing here reads the environment:
 * what matters of it comes in through tg_ci_env and tg_git_opts.env.
 *
 * Errors and their exit codes:
 *   TG_ERR_REF   (2)  a revision that a complete clone does not know
 *   TG_ERR_USAGE (2)  a revision or path that can never be valid ("-x", "a..b", "../out")
 *   TG_ERR_GIT   (3)  no repository, foreign owner, shallow history, LFS or promised object
 *                     missing, repository format not supported
 *   TG_ERR_LIMIT (3)  max_blob, max_files
 *   TG_ERR_LOST  (4)  only from tg_baseline_missing: commit found, no baseline in it
 * Everything text that comes out (paths, summaries, refs) is hostile: reporters escape it.
 */
#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/limits.h"
#include "core/base/look.h"

/* ---- sides ---- */

enum tg_input_kind {
    TG_INPUT_STDIN,    /* "-" */
    TG_INPUT_FILE,     /* an existing file: trace or summary, the reader finds out */
    TG_INPUT_DIR,      /* an existing directory: tg_files_in_dir */
    TG_INPUT_GLOB,     /* '*', '?' or '[' and at least one match: tg_files_glob */
    TG_INPUT_GIT_PATH, /* REV:PATH; `rev` and `path` are set, `path` may be empty (the root) */
    TG_INPUT_REV       /* REV alone; `path` is empty: the caller has a default path */
};
struct tg_input {
    enum tg_input_kind kind;
    tg_sv text, rev, path; /* NUL-terminated, in the arena */
};

/*
 * What `text` means. What exists as a file wins, so "C:\x" or "a:b.json" that exist are files. A
 * ':' inside braces ("HEAD^{/fix: x}:perf") does not split; ":/text" is a REV. Looks at the file
 * system, never at a repository: a REV that does not exist is found by tg_git_resolve. A name that
 * ends like a trace or has a '*' and neither exists nor holds a ':' is TG_ERR_IO here.
 */
TG_MUST bool tg_input_parse(struct tg_input *out, const char *text, struct tg_arena *a,
                            struct tg_err *err);
/* False: a TG_INPUT_REV that tg_git_look_up did not find. Names what is called alike; else the
 * hint is `hint`. */
bool tg_input_unknown(const struct tg_input *in, enum tg_err_kind kind, const char *hint,
                      struct tg_arena *a, struct tg_err *err);

/* ---- the repository ---- */

struct tg_git; /* one open repository */

struct tg_git_opts {
    const char *dir;  /* anywhere inside it; NULL: current directory, or GIT_DIR if that is set */
    bool trust_owner; /* open it although another user owns it (a container job) */
    bool offline;     /* never let git fetch what a partial clone lacks */
    const char *git;  /* program to spawn; NULL: "git" from PATH */
    char *const *env; /* its environment; NULL: this process's own */
    unsigned timeout_ms;            /* per spawned git; 0: TG_GIT_TIMEOUT_MS */
    const struct tg_limits *limits; /* NULL: defaults; copied */
};
#define TG_GIT_TIMEOUT_MS 120000u

/* NULL with err set. "Not a repository" is TG_ERR_GIT; its hint says how to do without git. */
TG_MUST struct tg_git *tg_git_open(const struct tg_git_opts *o, struct tg_err *err);
void tg_git_close(struct tg_git *g); /* accepts NULL */

const char *
tg_git_common_dir(const struct tg_git *g);       /* `.git` of all its work trees; '/' at the end */
const char *tg_git_root(const struct tg_git *g); /* work tree, '/' at the end; NULL: bare */
const char *tg_git_prefix(const struct tg_git *g); /* opts.dir below the root: "" or "sub/dir/" */
bool tg_git_is_shallow(const struct tg_git *g);

/* A path of the file system -> the path in the tree ("" for the root itself). The file need not
 * exist. Outside the work tree: TG_ERR_USAGE. */
TG_MUST bool tg_git_relative(const struct tg_git *g, const char *path, struct tg_arena *a,
                             tg_sv *out, struct tg_err *err);

/* ---- commits ---- */

enum tg_how {
    TG_HOW_NONE,         /* no commit: HEAD is a root commit and nothing came before it */
    TG_HOW_REV,          /* named by the user or the policy */
    TG_HOW_MERGE_BASE,   /* merge base of HEAD and the target branch */
    TG_HOW_PR_MERGE,     /* first parent of the merge commit a pull request is tested on */
    TG_HOW_FIRST_PARENT, /* HEAD is on the target branch: its first parent */
    TG_HOW_PARENT,       /* the policy says `parent` */
    TG_HOW_EVENT,        /* the CI event names it (merge queue, push) */
    TG_HOW_RELEASE       /* the nearest commit before HEAD that a tag of releases names */
};
#define TG_SHA_SIZE 41
struct tg_commit {
    char sha[TG_SHA_SIZE]; /* 40 lower-case hex digits and NUL; "" with TG_HOW_NONE */
    enum tg_how how;
    tg_sv ref;       /* what was asked for or the target: "origin/main", "v2.4.0", "" */
    tg_sv found;     /* one line: "merge base of HEAD and origin/main" */
    tg_sv summary;   /* first line of the commit message */
    tg_sv author;    /* name only */
    int64_t date;    /* committer date, seconds since 1970 UTC */
    int date_offset; /* its zone, minutes east of UTC */
};

/*
 * A revision -> its commit (tags are peeled, a leading '@' means HEAD). Strings live in `a`.
 * Unknown: TG_ERR_REF, but TG_ERR_GIT with "fetch-depth" in a shallow clone, where nobody can know.
 */
TG_MUST bool tg_git_resolve(struct tg_git *g, const char *rev, struct tg_arena *a,
                            struct tg_commit *out, struct tg_err *err);
/* The same of a text that may be no revision: TG_ABSENT, nothing here is called so. `err` is set
 * unless it is TG_SEEN. */
TG_MUST enum tg_seen tg_git_look_up(struct tg_git *g, const char *rev, struct tg_arena *a,
                                    struct tg_commit *out, struct tg_err *err);

/* What the CI says; every member may be NULL. cmd/ fills it from the environment and the event. */
struct tg_ci_env {
    const char *event;    /* GITHUB_EVENT_NAME */
    const char *ref;      /* GITHUB_REF */
    const char *sha;      /* GITHUB_SHA */
    const char *base_ref; /* GITHUB_BASE_REF: the target branch, without origin/ */
    const char *base_sha; /* payload: merge_group.base_sha, push's before */
    const char *base;     /* TRACEGATE_BASE: the revision the job itself names, before all others */
};

enum tg_choice {
    TG_CHOICE_MERGE_BASE,
    TG_CHOICE_PARENT,
    TG_CHOICE_REV,
    TG_CHOICE_WINDOW,
    TG_CHOICE_RELEASE
};
struct tg_baseline_ref { /* `baseline.ref` and `baseline.target` of a policy */
    enum tg_choice choice;
    tg_sv rev;          /* TG_CHOICE_REV; TG_CHOICE_RELEASE: glob of its tag */
    unsigned window;    /* TG_CHOICE_WINDOW: 1 to 1000 */
    const char *target; /* NULL or "auto": see tg_baseline_commit */
    const char *head;   /* 40 hex digits of a night: merge-base is its first parent; NULL: HEAD */
};
/*
 * The commit to compare with. `merge-base`, the default: what the job names (`base`), else in this
 * order:
 *   1. HEAD is the merge commit that GitHub made for a pull request: its first parent. Recognised
 *      by two parents and one of: event pull_request with ref refs/pull/N/merge at this sha; a
 *      ref refs/.../pull/N/merge at a detached HEAD; GitHub's message "Merge P2 into P1".
 *   2. merge_group: base_sha.
 *   3. merge base with the target: `target`, else base_ref (origin/X, X), else origin/HEAD,
 *      origin/main, origin/master, main, master.
 *   4. that is HEAD itself (we are on the target): push's base_sha if it is there and an ancestor,
 *      else the first parent; a root commit: TG_HOW_NONE, which tg_baseline_find calls a first run.
 * `window(N)` starts where merge-base does. `release(GLOB)` is the nearest of HEAD's first parents
 * that a tag whose name matches points at, never HEAD itself; none: TG_ERR_LOST, where history is
 * cut TG_ERR_GIT. Cost: 70 us per commit.
 */
TG_MUST bool tg_baseline_commit(struct tg_git *g, const struct tg_baseline_ref *ref,
                                const struct tg_ci_env *env, struct tg_arena *a,
                                struct tg_commit *out, struct tg_err *err);

/* `from` and its first-parent ancestors, at most `n`; fewer at a root or where history is cut. */
TG_MUST bool tg_baseline_window(struct tg_git *g, const struct tg_commit *from, unsigned n,
                                struct tg_arena *a, struct tg_commit **out, size_t *n_out,
                                struct tg_err *err);

/* ---- files of a commit ---- */

#define TG_SIZE_UNKNOWN UINT64_MAX /* a promised object: known only after git fetched it */
struct tg_git_file {
    tg_sv path;               /* from the root of the tree, in the arena, NUL-terminated */
    char oid[TG_SHA_SIZE];    /* of the blob */
    char commit[TG_SHA_SIZE]; /* where it was listed, for messages; "": unknown */
    uint64_t size;            /* of the blob; an LFS pointer counts as the small file it is */
};
struct tg_git_files {
    struct tg_git_file *v; /* sorted by path in byte order */
    size_t n;
};

/*
 * `path` in the tree of a commit: a file; a directory (its files that look like traces or
 * summaries, as tg_files_in_dir takes them, not recursive); a glob ('*' and '?' stop at '/', "[..]"
 * as in glob(3)). An exact name wins over a glob. Symbolic links and submodules are skipped in
 * folders and globs; a path that names one, or leads through one, is TG_ERR_GIT. Leading "./" or
 * "../" start at tg_git_prefix. If nothing is there, n is 0; that is not an error. No file is
 * loaded, but a tree that a tree:0 clone lacks is fetched.
 */
TG_MUST bool tg_git_list(struct tg_git *g, const char *sha, const char *path, struct tg_arena *a,
                         struct tg_git_files *out, struct tg_err *err);

/*
 * Appends the bytes of one file to `out`. The size is checked against limits.max_blob before
 * anything is loaded. An LFS pointer is replaced by its object from the clone, size and SHA-256
 * checked. Peak memory: the blob; from 50 MiB on `git` streams it (libgit2 needs up to 2x).
 */
TG_MUST bool tg_git_read(struct tg_git *g, const struct tg_git_file *f, struct tg_buf *out,
                         struct tg_err *err);

/* Has this file of the file system the bytes of `f`? Reads it only if the sizes are equal. A file
 * that Git LFS keeps is never the same as its pointer. */
bool tg_git_same_bytes(const struct tg_git_file *f, const char *path);

/* One file by exact path, for the policy at the baseline commit. *found false: not there. Symbolic
 * links (8 at most) are followed inside the tree, as they are in a work tree. */
TG_MUST bool tg_git_read_path(struct tg_git *g, const char *sha, const char *path,
                              struct tg_buf *out, bool *found, struct tg_err *err);

/* ---- finding the baseline ---- */

/*
 * FOUND      the start commit holds the path.
 * HOLE       it does not, an ancestor within max_walk does: that one is used, `walked` says how
 *            far back (1: its first parent), and reports must say it too.
 * FIRST_RUN  nowhere within the walk is there a baseline, nor any of `policy_paths` (so there was
 *            no gate yet), and the baseline was not asked for explicitly: pass with a banner.
 *            In a shallow clone this holds as far as the history goes.
 * LOST       nothing within the walk, but a policy was there, or the baseline was asked for
 *            explicitly: inconclusive, exit 4 (tg_baseline_missing makes the error).
 * A walk that ends at the cut of a shallow clone, where LOST would be said, is TG_ERR_GIT instead:
 * the baseline may be beyond the cut.
 */
enum tg_found { TG_FOUND, TG_FOUND_GAP, TG_FOUND_FIRST_RUN, TG_FOUND_LOST };

struct tg_find_opts {
    const char *path;                /* file, directory or glob in the tree */
    const char *const *policy_paths; /* where a policy may be in the tree; n may be 0 */
    size_t n_policy_paths;
    unsigned max_walk;  /* commits to go back at most; 0: only the start commit */
    bool explicit_side; /* --baseline on the command line: never a first run */
};
#define TG_LOOK_BEYOND                                                                             \
    1000u /* commits searched for `beyond`, 70 us each where trees have 300 entries */

struct tg_baseline {
    enum tg_found found;
    struct tg_commit start;  /* where the search began */
    struct tg_commit commit; /* the commit whose files these are; FOUND and HOLE only */
    unsigned walked;         /* first-parent steps from start to commit, or to the last one seen */
    bool cut;                /* the walk met the cut of a shallow clone */
    unsigned beyond;         /* LOST: last seen this many steps back from start; 0: never */
    tg_sv path;              /* as asked, normalised */
    struct tg_git_files files; /* FOUND and HOLE: at least one */
};
TG_MUST bool tg_baseline_find(struct tg_git *g, const struct tg_commit *start,
                              const struct tg_find_opts *o, struct tg_arena *a,
                              struct tg_baseline *out, struct tg_err *err);

/* LOST as an error (TG_ERR_LOST) with the next step. Always returns false. */
bool tg_baseline_missing(const struct tg_baseline *b, struct tg_err *err);

/* Baselines stored in refs of their own (refs/tracegate/v1/SUITE/SHA/RUN) come from
 * core/baseline/store.h: it fills a tg_git_files too, read by tg_store_read. */
#endif
