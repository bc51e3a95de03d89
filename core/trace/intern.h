#ifndef TG_TRACE_INTERN_H
#define TG_TRACE_INTERN_H
/*
 * Pairs of texts -> dense ids in order of first appearance; internal to core/trace. Keyed by the
 * bytes, so that an event whose texts are known costs one hash and one comparison.
 */
#include "core/base/strmap.h"
#include "core/trace/reader.h"

struct tg_intern {
    struct tg_arena *arena;
    struct tg_strmap first; /* categories, pids: few, shared by their entries */
    char *entry;            /* structs that begin with two tg_sv */
    size_t stride, n, cap;
    uint64_t *hash;
    size_t hash_cap;
    uint32_t *slot; /* id + 1; 0: empty */
    size_t slots, bytes;
};

void tg_intern_init(struct tg_intern *t, size_t stride);
void tg_intern_release(struct tg_intern *t);
/* `is_new`: the entry was made; its texts are set, the rest of it is zero. */
uint32_t tg_intern_add(struct tg_intern *t, tg_sv a, tg_sv b, bool *is_new);
#endif
