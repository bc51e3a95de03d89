#ifndef TG_BASE_KEYMAP_H
#define TG_BASE_KEYMAP_H
/*
 * Small keys of numbers -> dense ids, in order of first appearance: the numbers' counterpart of
 * strmap.h. A key is the same count of 64-bit words in the whole map. What belongs to a key is an
 * array of the caller's, indexed by id; it grows when an add returns the old `n`. Open addressing,
 * load <= 1/2; a key costs its words and 8 to 16 bytes.
 */
#include <stddef.h>
#include <stdint.h>

#include "core/base/strmap.h" /* TG_NO_ID */

struct tg_keymap {
    uint64_t *key;  /* id -> its words */
    uint32_t *slot; /* hash table of id + 1; 0: empty */
    size_t words, n, cap, slots;
};

void tg_keymap_init(struct tg_keymap *m, size_t words);
void tg_keymap_release(struct tg_keymap *m);
uint32_t tg_keymap_add(struct tg_keymap *m, const uint64_t *key);        /* finds or adds */
uint32_t tg_keymap_find(const struct tg_keymap *m, const uint64_t *key); /* TG_NO_ID: absent */
#endif
