#ifndef TG_BASE_HASH_H
#define TG_BASE_HASH_H
/*
 * A fast 64-bit hash for tables and content ids; not cryptographic. Same value on every machine:
 * content ids are stored in summaries. Multiply-and-fold construction, 16 bytes a round.
 */
#include "core/base/sv.h"

static inline uint64_t tg_hash_fold(uint64_t a, uint64_t b)
{
    __extension__ unsigned __int128 m = (unsigned __int128)a * b;
    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

uint64_t tg_hash(tg_sv s, uint64_t seed);
#endif
