/* The fast path in portable C: eight bytes at a time. */
#include "core/trace/text.h"

static inline bool equals(const char *p, const char *literal, size_t n)
{
    for (; n > 8; p += 8, literal += 8, n -= 8)
        if (tg_load8(p) != tg_load8(literal))
            return false;
    return (tg_load8(p) ^ tg_load8(literal)) << (64 - 8 * n) == 0;
}

/* Special bytes have their top bit set; the bits after the first may be wrong. */
static inline uint64_t special8(uint64_t v)
{
    static const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    uint64_t quote = v ^ ones * '"', backslash = v ^ ones * '\\';
    return ((quote - ones) | (backslash - ones) | (v - ones * 0x20) | v) & tops;
}

static inline const char *special(const char *p)
{
    uint64_t m;
    while ((m = special8(tg_load8(p))) == 0)
        p += 8;
    return p + (__builtin_ctzll(m) >> 3);
}

#define RUN tg_shape_run_c
#include "core/trace/shape_run.h"
