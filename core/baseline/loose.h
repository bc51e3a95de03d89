#ifndef TG_BASELINE_LOOSE_H
#define TG_BASELINE_LOOSE_H
/*
 * Loose objects, read here and not by libgit2 (1.5), which never returns from one that is cut: a
 * writer was killed, or the disk was full. libgit2/guard.c hands them to libgit2, which checks
 * their hash. The format: zlib over "TYPE SIZE", a zero byte and the content (gitformat-loose(5)).
 * Cost: a header is its first bytes, a content is inflated once; a packed object costs nothing
 * where no loose one begins with its two digits, else a failed open per folder.
 */
#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/err.h"

struct tg_loose {
    const char *const *dirs; /* of objects: the repository's own, then its alternates */
    size_t n;
    unsigned char *fan; /* 256 for each: is there a folder for names that begin so? */
};
enum tg_loose_state { TG_LOOSE_ABSENT, TG_LOOSE_WHOLE, TG_LOOSE_CUT, TG_LOOSE_UNREADABLE };
enum tg_loose_part { TG_LOOSE_HEADER, TG_LOOSE_CONTENT };

struct tg_loose_object {
    char type[16];
    size_t size;         /* of the content */
    size_t start;        /* of the content in `bytes`, after the header */
    struct tg_buf bytes; /* empty if only the header was asked for; the caller releases it */
};

/* `objects` is the repository's folder of objects; its info/alternates is followed. In `a`. */
void tg_loose_init(struct tg_loose *l, const char *objects, struct tg_arena *a);
/* The first file there is of 40 hex digits. TG_LOOSE_CUT: truncated or damaged; UNREADABLE: it is
 * there, or may be, and cannot be read. */
enum tg_loose_state tg_loose_read(const struct tg_loose *l, const char *hex,
                                  enum tg_loose_part part, struct tg_loose_object *o);
/* Can everything that may hold an object be read: the folders, their lists of alternates, the
 * packs? False: err says which cannot. */
TG_MUST bool tg_loose_readable(const struct tg_loose *l, struct tg_err *err);
/* Are all files that begin with these 3 to 40 hex digits whole? Reads them. */
enum tg_loose_state tg_loose_check(const struct tg_loose *l, const char *hex);
#endif
