#ifndef TG_CMD_GATE_INPUTS_H
#define TG_CMD_GATE_INPUTS_H
/*
 * What a user names on the command line -> summaries. A side is a list of files, of the file system
 * or of a git tree; each is a trace or a stored summary. Resolving is cheap and comes first, so
 * that what can fail cheaply fails before a gigabyte is read.
 */
#include "cmd/gate/io.h"
#include "core/base/file.h"
#include "core/baseline/baseline.h"
#include "core/summary/summary.h"
#include "policy/language/policy.h"

struct tg_input_item {
    const char *label; /* "out/run1.json.gz", "origin/main:perf/run1.json.gz" */
    bool from_git;
    bool numbers;            /* of the suite's `numbers` */
    bool stored;             /* a run of the store: it knows its run and ranks */
    struct tg_git_file blob; /* from_git */
    tg_sv run, rank;         /* what the policy's regexes said; "" nothing */
};
struct tg_input_list {
    struct tg_input_item *v;
    size_t n, cap;
    bool one_run; /* --ranks: if a file has no rank, the k-th file is rank k */
};

/* A git repository that is opened when first needed, and once. Zero state: nothing opened. */
struct tg_repo {
    struct tg_git *git;
    struct tg_git_opts opts;
    bool cached; /* summaries of what is in git are kept (cache.h) */
};
/* NULL with err set. */
TG_MUST struct tg_git *tg_repo_get(struct tg_repo *r, struct tg_err *err);
/* The nearest folder with a `.git`, from the current one upwards, in `a`; NULL: there is none. */
TG_MUST enum tg_seen tg_repo_folder(struct tg_arena *a, const char **folder, struct tg_err *err);
/* SEEN: it is open. ABSENT: this is not a repository. FAILED: it is one that cannot be opened. */
TG_MUST enum tg_seen tg_repo_look(struct tg_repo *r, struct tg_err *err);
void tg_repo_release(struct tg_repo *r);
/* The commit that --base-commit names by `rev`; NULL: none was named, and `sha` is "". */
TG_MUST bool tg_repo_commit(struct tg_commit *out, struct tg_repo *r, const char *rev,
                            struct tg_arena *a, struct tg_err *err);

/*
 * Adds the files that `text` names: "-", file, directory, glob, REV:PATH, or REV (what is stored at
 * that commit, of its one suite). Sorted by path. None is an error.
 */
TG_MUST bool tg_inputs_add(struct tg_input_list *list, const char *text, struct tg_repo *repo,
                           struct tg_arena *a, struct tg_err *err);
/* The same of each of `texts`. */
TG_MUST bool tg_inputs_add_all(struct tg_input_list *list, const struct tg_strs *texts,
                               struct tg_repo *repo, struct tg_arena *a, struct tg_err *err);
/* All of them are runs of the store: what has no rank there is a repeat. */
bool tg_inputs_are_stored(const struct tg_input_list *list);
/* The files of a baseline that was found in a commit; labels are SHA12:PATH. */
void tg_inputs_add_git(struct tg_input_list *list, const char *sha,
                       const struct tg_git_files *files, struct tg_arena *a);

/* The bytes of one of them. `bytes` holds a git blob and must outlive the source; it is cleared
 * first. NULL with err set. Several threads may call it. */
TG_MUST struct tg_source *tg_inputs_open(const struct tg_input_item *item, struct tg_repo *repo,
                                         const struct tg_limits *limits, struct tg_buf *bytes,
                                         struct tg_err *err);

/*
 * Reads all of them into `out`. Files of several ranks: the k-th file of each rank (by path, or by
 * the policy's `run` text) is run k, and its shards share one run id. As many files at a time as
 * --threads allows; an error is that of the first file, in this order, that has one. With
 * `o->damage`, damaged files and ranks are named there instead, and `out` has the others.
 */
TG_MUST bool tg_inputs_load(struct tg_summary *out, const struct tg_input_list *list,
                            const struct tg_summarize_opts *o, struct tg_repo *repo,
                            const struct tg_progress *progress, struct tg_err *err);

/* The same with a progress line. */
TG_MUST bool tg_inputs_read(struct tg_summary *out, const struct tg_input_list *list,
                            const struct tg_summarize_opts *o, struct tg_repo *repo,
                            const struct tg_io *io, struct tg_err *err);

/* Is there one at `at` that can be read twice? Not what comes through a pipe, named or not. */
bool tg_inputs_lasts(const struct tg_input_list *list, size_t at);

/* The first trace of each side: where it is and how it is read. */
struct tg_first_traces {
    const struct tg_input_list *side[2]; /* baseline, fresh */
    size_t at[2];                        /* another than the first of a side: it is read again */
    struct tg_kept_trace
        *kept[2]; /* as tg_inputs_load filled them, else read and filled; or NULL */
    const struct tg_load_opts *load;
    const struct tg_window_spec *window;
    unsigned skip_first;
    struct tg_repo *repo;
};
/* Hands the first trace of a side, with its Python functions, to `use`; it lasts for the call.
 * False: the first input is a summary, standard input or unreadable; never an error. */
bool tg_inputs_use_first(const struct tg_first_traces *f, int side,
                         void (*use)(void *arg, int side, const struct tg_kept_trace *k),
                         void *arg);
/* An output that would replace one of the inputs is a mistake of the command line
 * (TG_ERR_USAGE). */
TG_MUST bool tg_inputs_spare(const struct tg_input_list *list, const struct tg_outputs *o,
                             struct tg_err *err);
TG_MUST bool tg_inputs_spare_file(const char *input, const struct tg_outputs *o,
                                  struct tg_err *err);
/* The same of a policy with all files that it extends. */
TG_MUST bool tg_inputs_spare_policy(const struct tg_policy *p, const struct tg_outputs *o,
                                    struct tg_err *err);
#endif
