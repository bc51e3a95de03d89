#include "core/base/keymap.h"

#include <stdlib.h>

#include "core/base/hash.h"

void tg_keymap_init(struct tg_keymap *m, size_t words)
{
    *m = (struct tg_keymap){ .words = words };
}

void tg_keymap_release(struct tg_keymap *m)
{
    free(m->key);
    free(m->slot);
    *m = (struct tg_keymap){ 0 };
}

static uint64_t hash_of(const uint64_t *key, size_t words)
{
    uint64_t h = 0x94d049bb133111ebu;
    for (size_t i = 0; i < words; i++)
        h = tg_hash_fold(h ^ key[i], 0x9e3779b97f4a7c15u);
    return h;
}

/* The slot of `key`, or the empty slot where it would go. Needs slots > n. */
static size_t probe(const struct tg_keymap *m, const uint64_t *key)
{
    size_t mask = m->slots - 1, i = (size_t)hash_of(key, m->words) & mask;
    for (; m->slot[i]; i = (i + 1) & mask) {
        const uint64_t *there = m->key + (size_t)(m->slot[i] - 1) * m->words;
        size_t k = 0;
        while (k < m->words && there[k] == key[k])
            k++;
        if (k == m->words)
            break;
    }
    return i;
}

static void rehash(struct tg_keymap *m)
{
    size_t slots = m->slots ? m->slots * 2 : 64;
    free(m->slot);
    m->slot = tg_xcalloc(slots, sizeof *m->slot);
    m->slots = slots;
    for (size_t id = 0; id < m->n; id++)
        m->slot[probe(m, m->key + id * m->words)] = (uint32_t)id + 1;
}

uint32_t tg_keymap_add(struct tg_keymap *m, const uint64_t *key)
{
    if (m->n * 2 >= m->slots)
        rehash(m);
    size_t i = probe(m, key);
    if (m->slot[i])
        return m->slot[i] - 1;
    m->key = tg_grow(m->key, &m->cap, m->n + 1, m->words * sizeof *m->key);
    memcpy(m->key + m->n * m->words, key, m->words * sizeof *key);
    m->slot[i] = (uint32_t)++m->n;
    return (uint32_t)m->n - 1;
}

uint32_t tg_keymap_find(const struct tg_keymap *m, const uint64_t *key)
{
    if (!m->slots)
        return TG_NO_ID;
    size_t i = probe(m, key);
    return m->slot[i] ? m->slot[i] - 1 : TG_NO_ID;
}
