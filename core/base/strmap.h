#ifndef TG_BASE_STRMAP_H
#define TG_BASE_STRMAP_H
/*
 * Text -> dense id, in order of first appearance; the zero state is empty and ready. The map copies
 * each new text into its own arena; views it hands out live as long as the map. Open addressing,
 * load <= 1/2.
 */
#include "core/base/arena.h"

#define TG_NO_ID UINT32_MAX

struct tg_strmap {
    struct tg_arena *arena; /* owned */
    tg_sv *text;            /* id -> text */
    uint64_t *hash;         /* id -> hash */
    uint32_t *slot;         /* hash table of id + 1; 0: empty */
    size_t n, cap, slots;
};

void tg_strmap_init(struct tg_strmap *m);
void tg_strmap_release(struct tg_strmap *m);
uint32_t tg_strmap_add(struct tg_strmap *m, tg_sv s);        /* finds or adds */
uint32_t tg_strmap_find(const struct tg_strmap *m, tg_sv s); /* TG_NO_ID: absent */
#endif
