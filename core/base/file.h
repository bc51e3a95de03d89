#ifndef TG_BASE_FILE_H
#define TG_BASE_FILE_H
/* Small files whole, and reports that are written whole or not at all. Traces do not come through
 * here: core/trace/source.h streams them. */
#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/err.h"

/* Appends the whole file; `max` bytes is the limit (TG_ERR_LIMIT beyond it). */
TG_MUST bool tg_file_read(struct tg_buf *out, const char *path, size_t max, struct tg_err *err);

/*
 * Reports, all or none: `open` creates a temporary file beside each target (so an unwritable place
 * fails before the traces are read; folders that are missing are made), `put` fills it, `commit`
 * syncs and renames all of them.
 * `release` removes what was not committed, and so do signals that end the process (temporary.h).
 * A symbolic link stays: the file it points to is replaced. The path "-" is `standard`; it, a pipe
 * and a device are written in place, at commit. One target twice is an error.
 */
struct tg_outfile {
    char *path, *temporary; /* temporary NULL: in place, from `pending` */
    struct tg_buf pending;
    int fd;
    bool standard; /* the caller's descriptor */
    bool filled;
};
struct tg_outputs {
    struct tg_outfile *files;
    size_t n, cap;
    int standard; /* where "-" goes; 0: standard output */
};
TG_MUST bool tg_outputs_open(struct tg_outputs *o, const char *path, size_t *handle,
                             struct tg_err *err);
TG_MUST bool tg_outputs_put(struct tg_outputs *o, size_t handle, tg_sv bytes, struct tg_err *err);
TG_MUST bool tg_outputs_commit(struct tg_outputs *o, struct tg_err *err);
void tg_outputs_release(struct tg_outputs *o);

/* All of `bytes`, however many writes that takes; 0, or errno. */
int tg_file_put(int fd, tg_sv bytes);

/* One file, atomically. */
TG_MUST bool tg_file_write(const char *path, tg_sv bytes, struct tg_err *err);

/*
 * The same on a file system that many machines share: atomically, and again if the file system
 * fails in a way that passes (ESTALE, EIO, ETIMEDOUT, EAGAIN, EBUSY, ENOLINK, EREMOTEIO). At most
 * TG_FILE_RETRY_TIMES times within some six seconds; a thousand processes do not come back at once.
 * `seed`: differs between the processes that write at the same time (their ranks).
 */
#define TG_FILE_RETRY_TIMES 6
TG_MUST bool tg_file_retry_write(const char *path, tg_sv bytes, uint64_t seed, struct tg_err *err);

/* The one list of what names of traces and summaries end in; contents decide how a file is read. */
#define TG_FILE_SUFFIXES(X)                                                                        \
    X(".json")                                                                                     \
    X(".json.gz") X(".json.zst") X(".tgs") X(".sqlite") X("_results.db") X(".jsonl") X(".numbers")
#define TG_FILE_SUFFIX_WORD(text) text " "
#define TG_FILE_SUFFIX_WORDS TG_FILE_SUFFIXES(TG_FILE_SUFFIX_WORD) /* ".json .json.gz … " */
/* The longest of them that `name` ends in; "": none. */
tg_sv tg_file_suffix(tg_sv name);

/* Regular files below a directory whose names end in one of these, or the matches of a glob; sorted
 * by path in byte order, views in `a`. */
TG_MUST bool tg_files_in_dir(const char *dir, struct tg_arena *a, const char ***paths, size_t *n,
                             struct tg_err *err);
TG_MUST bool tg_files_glob(const char *pattern, struct tg_arena *a, const char ***paths, size_t *n,
                           struct tg_err *err);
/* Names that tg_files_in_dir takes; hidden files are not taken. */
bool tg_file_is_input_name(tg_sv name);
/* The folder and those that lead to it, as far as they can be made. */
void tg_file_make_dir(const char *path);
bool tg_file_is_dir(const char *path);
bool tg_file_is_regular(const char *path); /* it can be opened again */
bool tg_file_exists(const char *path);
/* One file under two names: links are followed. "-" is standard input. False: one is not there. */
bool tg_file_same(const char *a, const char *b);

/* A path without its folders. */
tg_sv tg_file_name(tg_sv path);
/* The rank in a file's name: rank[-_]?N, else worker[-_]?N, in any case; -1: none. */
int64_t tg_file_rank(tg_sv path);
#endif
