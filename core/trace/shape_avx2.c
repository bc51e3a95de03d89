/* The fast path with AVX2; compiled with -mavx2 -mbmi -mbmi2 and called only on machines that have
 * them. */
#include "core/trace/text.h"

#if defined(__AVX2__)
#include <immintrin.h>

static inline __m256i load(const char *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

static inline unsigned same(const char *a, const char *b)
{
    return (unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(load(a), load(b)));
}

static inline bool equals(const char *p, const char *literal, size_t n)
{
    if (n <= 32)
        return ~same(p, literal) << (32 - n) == 0;
    for (; n > 32; p += 32, literal += 32, n -= 32)
        if (same(p, literal) != UINT32_MAX)
            return false;
    return same(p + n - 32, literal + n - 32) == UINT32_MAX; /* overlaps bytes that are already
                                                                compared */
}

static inline const char *special(const char *p)
{
    const __m256i quote = _mm256_set1_epi8('"'), backslash = _mm256_set1_epi8('\\');
    const __m256i blank = _mm256_set1_epi8(0x20);
    for (;; p += 32) {
        __m256i v = load(p);
        /* Signed: control bytes and bytes with the top bit are both below the blank. */
        __m256i m = _mm256_or_si256(
            _mm256_or_si256(_mm256_cmpeq_epi8(v, quote), _mm256_cmpeq_epi8(v, backslash)),
            _mm256_cmpgt_epi8(blank, v));
        unsigned bits = (unsigned)_mm256_movemask_epi8(m);
        if (bits)
            return p + __builtin_ctz(bits);
    }
}

#define RUN tg_shape_run_avx2
#include "core/trace/shape_run.h"
#else
typedef int tg_no_avx2; /* a translation unit is never empty */
#endif
