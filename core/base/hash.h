#ifndef TG_BASE_HASH_H
#define TG_BASE_HASH_H
/*
 * A fast 64-bit hash for tables and content ids; not cryptographic. XXH3 of xxHash, whose values
 * are the same on every machine and fixed since its version 0.8: content ids are stored in
 * summaries. tg_hash_fold is for keys of two numbers, and for the reader's own hashes, which read a
 * name in the registers that hold it already.
 */
#include "core/base/sv.h"

static inline uint64_t tg_hash_fold(uint64_t a, uint64_t b)
{
    __extension__ unsigned __int128 m = (unsigned __int128)a * b;
    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

uint64_t tg_hash(tg_sv s, uint64_t seed);
#endif
