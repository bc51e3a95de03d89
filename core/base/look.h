#ifndef TG_BASE_LOOK_H
#define TG_BASE_LOOK_H
/*
 * Looking into the file system, in three answers: it is there, it is not there, or nobody could
 * look (no permission, an I/O error, no descriptor left). Only ENOENT and its like mean "not
 * there"; whoever takes the third answer for the second judges by less than there is.
 */
#include "core/base/arena.h"
#include "core/base/err.h"

/* SEEN, ABSENT: what was asked for is there, or it certainly is not. FAILED: err is set. */
enum tg_seen { TG_SEEN, TG_ABSENT, TG_SEEN_FAILED };

/* Does this errno say that the path does not exist? */
bool tg_look_is_absent(int code);

/* What an errno says of a path: ABSENT, or FAILED with the error "WHAT 'PATH': …". */
TG_MUST enum tg_seen tg_look_answer(const char *what, const char *path, int code,
                                    struct tg_err *err);

/* Links are followed; a link that leads nowhere is absent. `dir` (may be NULL): it is a folder. */
TG_MUST enum tg_seen tg_look_at(const char *path, bool *dir, struct tg_err *err);

/* The names in a folder, without "." and "..", sorted by byte order, in `a`. Every error of the
 * listing is FAILED, also one in the middle. */
TG_MUST enum tg_seen tg_look_in(const char *dir, struct tg_arena *a, const char ***names, size_t *n,
                                struct tg_err *err);

/* glob(3) without its silence: paths that match, sorted by byte order, in `a`; n 0: none. '*', '?'
 * and "[..]" stop at '/' and match no leading dot. False: a folder on the way cannot be listed. */
TG_MUST bool tg_look_glob(const char *pattern, struct tg_arena *a, const char ***paths, size_t *n,
                          struct tg_err *err);
#endif
