/* The fast path with NEON. A mask has four bits a byte (shift right and narrow). */
#include "core/trace/text.h"

#if defined(__aarch64__)
#include <arm_neon.h>

static inline uint8x16_t load(const char *p)
{
    return vld1q_u8((const uint8_t *)(const void *)p);
}

static inline uint64_t mask(uint8x16_t m)
{
    return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(m), 4)), 0);
}

static inline bool equals(const char *p, const char *literal, size_t n)
{
    for (; n > 16; p += 16, literal += 16, n -= 16)
        if (mask(vceqq_u8(load(p), load(literal))) != UINT64_MAX)
            return false;
    return ~mask(vceqq_u8(load(p), load(literal))) << (64 - 4 * n) == 0;
}

static inline const char *special(const char *p)
{
    const uint8x16_t quote = vdupq_n_u8('"'), backslash = vdupq_n_u8('\\');
    for (;; p += 16) {
        uint8x16_t v = load(p);
        /* Signed: control bytes and bytes with the top bit are both below the blank. */
        uint8x16_t low = vcltq_s8(vreinterpretq_s8_u8(v), vdupq_n_s8(0x20));
        uint64_t bits = mask(vorrq_u8(vorrq_u8(vceqq_u8(v, quote), vceqq_u8(v, backslash)), low));
        if (bits)
            return p + (__builtin_ctzll(bits) >> 2);
    }
}

#define RUN tg_shape_run_neon
#include "core/trace/shape_run.h"
#else
typedef int tg_no_neon; /* a translation unit is never empty */
#endif
