#include "core/base/hash.h"

static const uint64_t k0 = 0x9e3779b97f4a7c15u, k1 = 0xbf58476d1ce4e5b9u, k2 = 0x94d049bb133111ebu;

/* Little-endian whatever the machine, so that stored ids travel. */
static uint64_t load8(const char *p)
{
    const unsigned char *u = (const unsigned char *)p;
    return (uint64_t)u[0] | (uint64_t)u[1] << 8 | (uint64_t)u[2] << 16 | (uint64_t)u[3] << 24 |
           (uint64_t)u[4] << 32 | (uint64_t)u[5] << 40 | (uint64_t)u[6] << 48 |
           (uint64_t)u[7] << 56;
}

/* The `n` <= 8 bytes at `p`; at once if eight bytes before their end may be read. */
static uint64_t load(const char *p, size_t n, bool before)
{
    uint64_t v = 0;
    if (n && before)
        return load8(p + n - 8) >> (64 - 8 * n);
    for (size_t i = 0; i < n; i++)
        v |= (uint64_t)(unsigned char)p[i] << (8 * i);
    return v;
}

uint64_t tg_hash(tg_sv s, uint64_t seed)
{
    uint64_t h = seed ^ tg_hash_fold(s.n ^ k0, k1);
    const char *p = s.p;
    size_t n = s.n;
    for (; n > 16; n -= 16, p += 16)
        h = tg_hash_fold(load8(p) ^ k1 ^ h, load8(p + 8) ^ k2);
    if (n < 8)
        h = tg_hash_fold(load(p, n, s.n > 8) ^ k1 ^ h, k2);
    else
        h = tg_hash_fold(load8(p) ^ k1 ^ h, load(p + 8, n - 8, true) ^ k2);
    return tg_hash_fold(h ^ k0, k2);
}
