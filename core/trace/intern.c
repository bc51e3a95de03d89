#include "core/trace/intern.h"

#include <stdlib.h>

void tg_intern_init(struct tg_intern *t, size_t stride)
{
    *t = (struct tg_intern){ .arena = tg_arena_new(), .stride = stride };
}

void tg_intern_release(struct tg_intern *t)
{
    tg_arena_free(t->arena);
    tg_strmap_release(&t->first);
    free(t->entry);
    free(t->hash);
    free(t->slot);
    *t = (struct tg_intern){ 0 };
}

static void rehash(struct tg_intern *t)
{
    t->slots = t->slots ? t->slots * 2 : 256;
    free(t->slot);
    t->slot = tg_xcalloc(t->slots, sizeof *t->slot);
    for (size_t id = 0; id < t->n; id++) {
        size_t i = (size_t)t->hash[id] & (t->slots - 1);
        while (t->slot[i].id1)
            i = (i + 1) & (t->slots - 1);
        t->slot[i] = (struct tg_intern_slot){ (uint32_t)(t->hash[id] >> 32), (uint32_t)id + 1 };
    }
}

uint32_t tg_intern_add(struct tg_intern *t, tg_sv a, tg_sv b, bool *is_new)
{
    uint64_t h = tg_intern_hash(tg_intern_seed(a), b);
    struct tg_intern_pair pair;
    if (t->n * 2 >= t->slots)
        rehash(t);
    size_t mask = t->slots - 1, i = (size_t)h & mask;
    *is_new = false;
    for (; t->slot[i].id1; i = (i + 1) & mask) {
        const struct tg_intern_pair *e = tg_intern_at(t, t->slot[i].id1 - 1);
        if (t->slot[i].tag == (uint32_t)(h >> 32) && tg_sv_eq(e->b, b) && tg_sv_eq(e->a, a))
            return t->slot[i].id1 - 1;
    }
    *is_new = true;
    t->entry = tg_grow(t->entry, &t->cap, t->n + 1, t->stride);
    t->hash = tg_grow(t->hash, &t->hash_cap, t->n + 1, sizeof *t->hash);
    uint32_t first = tg_strmap_add(&t->first, a);
    pair.a = t->first.text[first];
    char *copy = tg_arena_alloc(t->arena, b.n + TG_INTERN_PAD, 1);
    if (b.n)
        memcpy(copy, b.p, b.n);
    pair.b = (tg_sv){ copy, b.n };
    memset(t->entry + t->n * t->stride, 0, t->stride);
    memcpy(t->entry + t->n * t->stride, &pair, sizeof pair);
    t->hash[t->n] = h;
    t->bytes += b.n;
    t->slot[i] = (struct tg_intern_slot){ (uint32_t)(h >> 32), (uint32_t)++t->n };
    return (uint32_t)t->n - 1;
}
