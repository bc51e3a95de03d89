#ifndef TG_TRACE_TEXT_H
#define TG_TRACE_TEXT_H
/* Loads, digits and hashes, eight bytes at a time; internal to core/trace. */
#include "core/base/hash.h"

static inline uint64_t tg_load8(const char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

static inline uint32_t tg_load4(const char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap32(v);
#endif
    return v;
}

/*
 * How many of the eight bytes, from the lowest, are digits. `t` is the bytes xor '0': a digit is
 * 0..9 then, and adding 0x76 carries into the top bit from 10 on. A carry out of a byte can only
 * change those above it, which no longer matter.
 */
static inline unsigned tg_digit_run(uint64_t t)
{
    uint64_t other = ((t + 0x7676767676767676u) | t) & 0x8080808080808080u;
    return other ? (unsigned)__builtin_ctzll(other) >> 3 : 8;
}
#define TG_DIGITS(v) ((v) ^ 0x3030303030303030u)

/* The number of the `n` lowest digits of `t` (1 <= n <= 8), by three multiplications. */
static inline uint64_t tg_digits_value(uint64_t t, unsigned n)
{
    t <<= 64 - 8 * n; /* leading zeros */
    t = (t * 2561) >> 8 & 0x00ff00ff00ff00ffu;
    t = (t * 6553601) >> 16 & 0x0000ffff0000ffffu;
    return (t * 42949672960001u) >> 32;
}

/* Never reads outside the text. For tables in memory only; its values are never stored. */
static inline uint64_t tg_text_hash(const char *p, size_t n, uint64_t seed)
{
    static const uint64_t k0 = 0x9e3779b97f4a7c15u, k1 = 0xbf58476d1ce4e5b9u,
                          k2 = 0x94d049bb133111ebu;
    uint64_t h = seed ^ n * k0, a = 0, b = 0;
    if (n >= 16) {
        for (const char *end = p + n - 16; p < end; p += 16, n -= 16)
            h = tg_hash_fold(tg_load8(p) ^ k1 ^ h, tg_load8(p + 8) ^ k2);
        a = tg_load8(p + n - 16);
        b = tg_load8(p + n - 8);
    } else if (n >= 8) {
        a = tg_load8(p);
        b = tg_load8(p + n - 8);
    } else if (n >= 4) {
        a = tg_load4(p);
        b = tg_load4(p + n - 4);
    } else if (n) {
        a = (unsigned char)p[0] | (uint64_t)(unsigned char)p[n / 2] << 8 |
            (uint64_t)(unsigned char)p[n - 1] << 16;
    }
    h = tg_hash_fold(a ^ k1 ^ h, b ^ k2);
    return h ^ h >> 32;
}
#endif
