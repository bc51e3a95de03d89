#ifndef TG_BASE_BUCKETS_H
#define TG_BASE_BUCKETS_H
/*
 * Small numbers by the text that they belong to, each bucket in the order of the adds: what is
 * asked for each of many rows, "all rows of this name", then costs the answer instead of a pass
 * over all rows. A number is in one bucket at most.
 *
 *     for (uint32_t k = tg_buckets_first(&g, name); k != TG_NO_ID; k = tg_buckets_next(&g, k))
 */
#include "core/base/strmap.h"

struct tg_buckets {
    struct tg_strmap text;
    uint32_t *first, *last; /* by text */
    uint32_t *next;         /* by number */
    size_t cap_first, cap_last;
};

void tg_buckets_init(struct tg_buckets *g, size_t n); /* for numbers below `n` */
void tg_buckets_release(struct tg_buckets *g);
void tg_buckets_add(struct tg_buckets *g, tg_sv text, uint32_t number);
uint32_t tg_buckets_first(const struct tg_buckets *g, tg_sv text); /* TG_NO_ID: none */

static inline uint32_t tg_buckets_next(const struct tg_buckets *g, uint32_t number)
{
    return g->next[number];
}
#endif
