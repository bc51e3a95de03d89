#ifndef TG_BASELINE_LOOSE_H
#define TG_BASELINE_LOOSE_H
/*
 * Loose objects that are cut: a writer was killed, or the disk was full. libgit2 (1.5) never
 * returns from reading one, so libgit2/guard.c asks here before each read. Cost: an object that is loose is
 * inflated once more; a packed one costs a failed open per folder.
 */
#include "core/base/arena.h"

struct tg_loose {
    const char *const *dirs; /* of objects: the repository's own, then its alternates */
    size_t n;
    char whole[41]; /* the last one that was found whole: headers are read before contents */
};
enum tg_loose_state { TG_LOOSE_ABSENT, TG_LOOSE_WHOLE, TG_LOOSE_CUT };

/* `objects` is the repository's folder of objects; its info/alternates is followed. In `a`. */
void tg_loose_init(struct tg_loose *l, const char *objects, struct tg_arena *a);
/* The first file there is for these 3 to 40 hex digits; fewer than 40: all that begin so. */
enum tg_loose_state tg_loose_check(struct tg_loose *l, const char *hex);
#endif
