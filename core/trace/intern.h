#ifndef TG_TRACE_INTERN_H
#define TG_TRACE_INTERN_H
/* Pairs of texts -> dense ids in order of first appearance; internal to core/trace. Keyed by the
 * bytes, so that an event whose texts are known costs one hash and one comparison. */
#include "core/base/strmap.h"
#include "core/trace/reader.h"
#include "core/trace/text.h"

/* Texts may be compared in blocks: at least this many readable bytes follow them. */
#define TG_INTERN_PAD 32

struct tg_intern_slot {
    uint32_t tag; /* upper half of the hash */
    uint32_t id1; /* id + 1; 0: empty */
};

struct tg_intern {
    struct tg_arena *arena;
    struct tg_strmap first; /* categories, pids: few, shared by their entries */
    char *entry;            /* structs that begin with two tg_sv */
    size_t stride, n, cap;
    uint64_t *hash;
    size_t hash_cap;
    struct tg_intern_slot *slot;
    size_t slots, bytes;
};

void tg_intern_init(struct tg_intern *t, size_t stride);
void tg_intern_release(struct tg_intern *t);
/* `is_new`: the entry was created; its texts are set and the rest is zero. */
uint32_t tg_intern_add(struct tg_intern *t, tg_sv a, tg_sv b, bool *is_new);

static inline uint64_t tg_intern_seed(tg_sv a)
{
    return tg_text_hash(a.p, a.n, 0);
}

static inline uint64_t tg_intern_hash(uint64_t seed, tg_sv b)
{
    return tg_text_hash(b.p, b.n, seed);
}

struct tg_intern_pair {
    tg_sv a, b;
};

static inline const struct tg_intern_pair *tg_intern_at(const struct tg_intern *t, size_t id)
{
    return (const struct tg_intern_pair *)(const void *)(t->entry + id * t->stride);
}
#endif
