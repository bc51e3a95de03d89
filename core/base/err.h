#ifndef TG_BASE_ERR_H
#define TG_BASE_ERR_H
/*
 * The one error type. The caller owns it and passes it last; it has fixed storage, so reporting an
 * error never allocates. The message says what failed, in lower case, on one line, offending text
 * in quotes; the hint says what the user can do, in whole sentences. Setters return false, so that
 * detecting and returning is one line. The first error stays; layers may add context, never
 * replace.
 */
#include "core/base/sv.h"

enum tg_err_kind {
    TG_ERR_NONE,
    TG_ERR_USAGE,   /* command line: exit 2 */
    TG_ERR_POLICY,  /* policy file: exit 2 */
    TG_ERR_REF,     /* a ref that does not exist in a full clone: exit 2 */
    TG_ERR_IO,      /* a file cannot be read: exit 3 */
    TG_ERR_TRACE,   /* not a trace, damaged, truncated: exit 3 */
    TG_ERR_SUMMARY, /* not a summary, other version, incomparable: exit 3 */
    TG_ERR_GIT,     /* no repository, shallow, LFS pointer, owner: exit 3 */
    TG_ERR_LIMIT,   /* a named limit of tg_limits was reached: exit 3 */
    TG_ERR_LOST,    /* commit found, no baseline in it or within the walk: exit 4 */
    TG_ERR_OUTPUT,  /* a report could not be written: exit 5 */
    TG_ERR_INTERNAL /* our own mistake: exit 5 */
};

struct tg_loc {
    const char *file;   /* NULL: no file */
    uint32_t line, col; /* 1-based; 0: unknown */
    uint64_t offset;    /* byte offset; TG_NO_OFFSET: unknown */
};
#define TG_NO_OFFSET UINT64_MAX
#define TG_NOWHERE ((struct tg_loc){ NULL, 0, 0, TG_NO_OFFSET })
#define TG_AT_FILE(path) ((struct tg_loc){ (path), 0, 0, TG_NO_OFFSET })

static inline bool tg_loc_same_file(struct tg_loc a, struct tg_loc b)
{
    return a.file == b.file || (a.file && b.file && strcmp(a.file, b.file) == 0);
}

struct tg_err {
    enum tg_err_kind kind;
    char message[512], hint[512], context[512], file[256];
    uint32_t line, col;
    uint64_t offset;
};

/* Starts (or resets) an error: kind NONE, all text empty. TG_ERR_INIT is the same for a new one. */
#define TG_ERR_INIT                                                                                \
    {                                                                                              \
        .offset = TG_NO_OFFSET                                                                     \
    }
void tg_err_init(struct tg_err *err);

bool tg_err_set(struct tg_err *err, enum tg_err_kind kind, struct tg_loc at, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Adds the next step for the user; keeps an earlier hint. Always returns false. */
bool tg_err_hint(struct tg_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Both: the message is `fmt` with what follows the hint, which is as it stands. Returns false. */
bool tg_err_say(struct tg_err *err, enum tg_err_kind kind, struct tg_loc at, const char *fmt,
                const char *hint, ...) __attribute__((format(printf, 4, 6)));
/* The same of a mistake of the command line. */
#define tg_err_usage(err, ...) tg_err_say((err), TG_ERR_USAGE, TG_NOWHERE, __VA_ARGS__)
/* Adds "while ..."; earlier (inner) context comes first. Always returns false. */
bool tg_err_context(struct tg_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* An error that was kept, reported now; an earlier one stays. Always returns false. */
bool tg_err_again(struct tg_err *err, const struct tg_err *kept);

/* The documented exit code of a kind (2, 3, 4 or 5): README.md, "Exit codes". */
int tg_err_exit_code(enum tg_err_kind kind);

/*
 * "file:line:col: message" / "file: at byte N: message" with context and hint lines, LF-terminated.
 */
struct tg_buf;
void tg_err_format(const struct tg_err *err, struct tg_buf *out);
#endif
