#include "core/trace/intern.h"

#include <stdlib.h>

#include "core/base/hash.h"

struct pair {
    tg_sv a, b;
};

void tg_intern_init(struct tg_intern *t, size_t stride)
{
    *t = (struct tg_intern){ .arena = tg_arena_new(), .stride = stride };
    tg_strmap_init(&t->first);
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

static struct pair *entry(const struct tg_intern *t, size_t id)
{
    return (struct pair *)(void *)(t->entry + id * t->stride);
}

static size_t probe(const struct tg_intern *t, tg_sv a, tg_sv b, uint64_t h)
{
    size_t mask = t->slots - 1, i = (size_t)h & mask;
    while (t->slot[i]) {
        uint32_t id = t->slot[i] - 1;
        if (t->hash[id] == h && tg_sv_eq(entry(t, id)->b, b) && tg_sv_eq(entry(t, id)->a, a))
            break;
        i = (i + 1) & mask;
    }
    return i;
}

static void rehash(struct tg_intern *t)
{
    t->slots = t->slots ? t->slots * 2 : 256;
    free(t->slot);
    t->slot = tg_xmalloc(t->slots * sizeof *t->slot);
    memset(t->slot, 0, t->slots * sizeof *t->slot);
    for (size_t id = 0; id < t->n; id++) {
        size_t i = (size_t)t->hash[id] & (t->slots - 1);
        while (t->slot[i])
            i = (i + 1) & (t->slots - 1);
        t->slot[i] = (uint32_t)id + 1;
    }
}

uint32_t tg_intern_add(struct tg_intern *t, tg_sv a, tg_sv b, bool *is_new)
{
    uint64_t h = tg_hash(b, tg_hash(a, 0));
    size_t i;
    uint32_t category;
    if (t->n * 2 >= t->slots)
        rehash(t);
    i = probe(t, a, b, h);
    *is_new = t->slot[i] == 0;
    if (!*is_new)
        return t->slot[i] - 1;
    t->entry = tg_grow(t->entry, &t->cap, t->n + 1, t->stride);
    t->hash = tg_grow(t->hash, &t->hash_cap, t->n + 1, sizeof *t->hash);
    memset(entry(t, t->n), 0, t->stride);
    category = tg_strmap_add(&t->first, a);
    entry(t, t->n)->a = t->first.text[category];
    entry(t, t->n)->b = tg_arena_sv(t->arena, b);
    t->hash[t->n] = h;
    t->bytes += b.n;
    t->slot[i] = (uint32_t)++t->n;
    return (uint32_t)t->n - 1;
}
