#include "core/base/strmap.h"

#include <stdlib.h>

#include "core/base/hash.h"

void tg_strmap_init(struct tg_strmap *m)
{
    *m = (struct tg_strmap){ 0 };
}

void tg_strmap_release(struct tg_strmap *m)
{
    tg_arena_free(m->arena);
    free(m->text);
    free(m->hash);
    free(m->slot);
    *m = (struct tg_strmap){ 0 };
}

/* The slot of `s`, or the empty slot where it would go. Needs slots > n. */
static size_t probe(const struct tg_strmap *m, tg_sv s, uint64_t h)
{
    size_t mask = m->slots - 1, i = (size_t)h & mask;
    while (m->slot[i]) {
        uint32_t id = m->slot[i] - 1;
        if (m->hash[id] == h && tg_sv_eq(m->text[id], s))
            break;
        i = (i + 1) & mask;
    }
    return i;
}

static void rehash(struct tg_strmap *m)
{
    size_t slots = m->slots ? m->slots * 2 : 64;
    if (!m->arena)
        m->arena = tg_arena_new();
    free(m->slot);
    m->slot = tg_xcalloc(slots, sizeof *m->slot);
    m->slots = slots;
    for (size_t id = 0; id < m->n; id++)
        m->slot[probe(m, m->text[id], m->hash[id])] = (uint32_t)id + 1;
}

uint32_t tg_strmap_add(struct tg_strmap *m, tg_sv s)
{
    uint64_t h = tg_hash(s, 0);
    size_t i, cap = m->cap;
    if (m->n * 2 >= m->slots)
        rehash(m);
    i = probe(m, s, h);
    if (m->slot[i])
        return m->slot[i] - 1;
    m->text = tg_grow(m->text, &cap, m->n + 1, sizeof *m->text);
    m->hash = tg_grow(m->hash, &m->cap, m->n + 1, sizeof *m->hash);
    m->text[m->n] = tg_arena_sv(m->arena, s);
    m->hash[m->n] = h;
    m->slot[i] = (uint32_t)++m->n;
    return (uint32_t)m->n - 1;
}

uint32_t tg_strmap_find(const struct tg_strmap *m, tg_sv s)
{
    if (!m->slots)
        return TG_NO_ID;
    size_t i = probe(m, s, tg_hash(s, 0));
    return m->slot[i] ? m->slot[i] - 1 : TG_NO_ID;
}
