#ifndef TG_TRACE_SOURCE_H
#define TG_TRACE_SOURCE_H
/*
 * Bytes of a trace, decompressed, from a file, standard input or memory (a git blob). The format is
 * recognised by its magic bytes, not its name: gzip (all members, CRC and length checked), zstd,
 * plain. A truncated or corrupt stream is an error that names the compressed offset, never a short
 * read. A profiler's SQLite database (database.h) gives the text of a trace. Limits: max_inflated,
 * max_ratio.
 */
#include "core/base/err.h"
#include "core/base/limits.h"

struct tg_source; /* one open input */

/* `path` "-" is standard input. NULL with err set (TG_ERR_IO, TG_ERR_TRACE). */
TG_MUST struct tg_source *tg_source_open(const char *path, const struct tg_limits *limits,
                                         struct tg_err *err);
/* `bytes` stay the caller's and must outlive the source; `name` is for messages, copied. */
TG_MUST struct tg_source *tg_source_memory(tg_sv bytes, const char *name,
                                           const struct tg_limits *limits, struct tg_err *err);
void tg_source_close(struct tg_source *s); /* accepts NULL */
/* A local one that is closed where its block ends. */
#define TG_SOURCE struct tg_source TG_AUTO(tg_source_drop)
static inline void tg_source_drop(struct tg_source **s)
{
    tg_source_close(*s);
}

/* Up to `n` bytes into `to`; 0 at the end (after all checks passed), -1 with err set. */
TG_MUST int64_t tg_source_fill(struct tg_source *s, char *to, size_t n, struct tg_err *err);
/* The first decompressed bytes, at most TG_PEEK, before the first fill; the next fill returns them
 * again. */
#define TG_PEEK ((size_t)256)
TG_MUST bool tg_source_peek(struct tg_source *s, tg_sv *out, struct tg_err *err);
/* Decompresses in a thread of its own from here on (1 MiB of buffers); plain input is unaffected.
 * Same bytes, same errors. */
void tg_source_read_ahead(struct tg_source *s);
/* Back to the first byte; false if that is impossible (standard input, a pipe). */
TG_MUST bool tg_source_rewind(struct tg_source *s);
bool tg_source_is_packed(const struct tg_source *s); /* gzip or zstd */
/* After a failed fill: the compressed data ended too early, and all before it was good. */
bool tg_source_truncated(const struct tg_source *s);
/* The size of a plain file that can be read at any offset, or of plain memory; otherwise 0. */
uint64_t tg_source_plain_size(const struct tg_source *s);
/*
 * For such a source: another one over the same bytes, with its own position. `s` must outlive it.
 */
TG_MUST struct tg_source *tg_source_share(const struct tg_source *s);
/* For such a source: the next fill begins at `offset`. */
void tg_source_seek(struct tg_source *s, uint64_t offset);
/* Bytes far after `offset` are hardly needed: fills beyond it are small. */
void tg_source_expect_end(struct tg_source *s, uint64_t offset);
const char *tg_source_name(const struct tg_source *s);
/* Compressed bytes consumed and the file's size (0: unknown), for progress. */
void tg_source_progress(const struct tg_source *s, uint64_t *done, uint64_t *total);

/*
 * Progress. Several threads may call at once. `bytes` were read of `name` (compressed where it is)
 * since the last call, `total` is its size or 0; about 10 calls a second. `files` is the number of
 * files still to be read, then -1 for each that is done.
 */
struct tg_progress {
    void (*tick)(void *arg, const char *name, uint64_t bytes, uint64_t total);
    void (*files)(void *arg, int64_t change); /* both may be NULL */
    void *arg;
};
#endif
