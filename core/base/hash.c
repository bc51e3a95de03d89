#include "core/base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t tg_hash(tg_sv s, uint64_t seed)
{
    return XXH3_64bits_withSeed(s.p, s.n, seed);
}
