/* The fast path with SSE2, which every x86-64 has. */
#include "core/trace/text.h"

#if defined(__SSE2__)
#include <emmintrin.h>

static inline __m128i load(const char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static inline unsigned differs(const char *a, const char *b)
{
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(load(a), load(b))) ^ 0xffffu;
}

static inline bool equals(const char *p, const char *literal, size_t n)
{
    for (; n > 16; p += 16, literal += 16, n -= 16)
        if (differs(p, literal))
            return false;
    return (differs(p, literal) & 0xffffu >> (16 - n)) == 0;
}

static inline const char *special(const char *p)
{
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
    const __m128i blank = _mm_set1_epi8(0x20);
    for (;; p += 16) {
        __m128i v = load(p);
        /* Signed: control bytes and bytes with the top bit are both below the blank. */
        __m128i m =
            _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, backslash)),
                         _mm_cmpgt_epi8(blank, v));
        unsigned bits = (unsigned)_mm_movemask_epi8(m);
        if (bits)
            return p + __builtin_ctz(bits);
    }
}

#define RUN tg_shape_run_sse2
#include "core/trace/shape_run.h"
#else
typedef int tg_no_sse2; /* a translation unit is never empty */
#endif
