/*
 * The vector kernels of the fast path, each set of instructions that this machine has, against what
 * their comments promise, spelled out byte by byte. All texts stand against a page that cannot be
 * read, so reading further than allowed ends the test. Also runs under qemu (tests/cross/arm64.py).
 */
#include <sys/mman.h>

#include "core/trace/scan.h"
#include "core/trace/shape.h"
#include "tests/support.h"

typedef bool equals_fn(const char *p, const char *literal, size_t n);
typedef const char *special_fn(const char *p);

equals_fn equals_c, equals_sse2, equals_avx2, equals_neon;
special_fn special_c, special_sse2, special_avx2, special_neon;

static const struct kernel {
    const char *isa;
    equals_fn *equals;
    special_fn *special;
} kernels[] = {
    { "c", equals_c, special_c },
#if defined(__x86_64__)
    { "sse2", equals_sse2, special_sse2 },
    { "avx2", equals_avx2, special_avx2 },
#elif defined(__aarch64__)
    { "neon", equals_neon, special_neon },
#endif
};

static bool has(const struct kernel *k)
{
    struct tg_shapes f;
    bool run;
    tg_shapes_init(&f, k->isa);
    run = f.run != NULL;
    tg_shapes_release(&f);
    return run;
}
#define FOR_KERNELS(k)                                                                             \
    for (const struct kernel *k = kernels; k < kernels + sizeof kernels / sizeof *kernels; k++)    \
        if (has(k))

#define ROOM ((size_t)4096)

/* Bytes that end where reading ends; `n` of them. */
static char *before_a_wall(size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (ROOM + page - 1) / page * page;
    char *p = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED && n <= room);
    assert_int_equal(mprotect(p + room, page, PROT_NONE), 0);
    return p + room - n;
}

static void take_down(char *p, size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (ROOM + page - 1) / page * page;
    (void)munmap(p + n - room, room + page);
}

static uint64_t roll(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}

/* ---- special: the first '"', '\\', byte below 0x20 or from 0x80 on ---- */

static bool is_special(unsigned char c)
{
    return c == '"' || c == '\\' || c < 0x20 || c >= 0x80;
}

static size_t first_special(const char *p)
{
    size_t i = 0;
    while (!is_special((unsigned char)p[i]))
        i++;
    return i;
}

static void assert_special(const char *p)
{
    size_t want = first_special(p);
    FOR_KERNELS(k)
    {
        size_t got = (size_t)(k->special(p) - p);
        if (got != want)
            fail_msg("%s: byte %zu, should be %zu", k->isa, got, want);
    }
}

/* Every byte value at every place, on fillers next to the bytes that are looked for. */
TEST(every_byte_at_every_place)
{
    static const char fillers[] = " !#[]~\x7f"
                                  "a0";
    enum { TEXT = 70 };
    char *p = before_a_wall(TEXT + TG_SCAN_PAD);
    for (const char *filler = fillers; *filler; filler++)
        for (size_t at = 0; at < TEXT; at++)
            for (int c = 0; c < 256; c++) {
                memset(p, *filler, TEXT);
                memset(p + TEXT, 0, TG_SCAN_PAD);
                p[at] = (char)c;
                assert_special(p);
            }
    take_down(p, TEXT + TG_SCAN_PAD);
}

/* Special bytes behind the first must not matter, nor where the text begins. */
TEST(random_texts)
{
    enum { TEXT = 300 };
    char *p = before_a_wall(TEXT + TG_SCAN_PAD);
    uint64_t rng = 1;
    memset(p + TEXT, 0, TG_SCAN_PAD);
    for (int round = 0; round < 20000; round++) {
        unsigned one_in = 1 + (unsigned)(roll(&rng) % 200);
        for (size_t i = 0; i < TEXT; i++) {
            char c = (char)(0x20 + roll(&rng) % 0x60);
            p[i] = c == '"' || c == '\\' ? 'x' : c;
            if (roll(&rng) % one_in == 0)
                p[i] = (char)roll(&rng);
        }
        assert_special(p + roll(&rng) % TEXT);
    }
    take_down(p, TEXT + TG_SCAN_PAD);
}

/* ---- equals: n >= 1 bytes are the same; 31 more may be read of both ---- */

#define MAY_READ ((size_t)31)

static void assert_equals(const char *p, const char *q, size_t n)
{
    bool want = memcmp(p, q, n) == 0;
    FOR_KERNELS(k)
    {
        if (k->equals(p, q, n) != want)
            fail_msg("%s: %zu bytes are %s", k->isa, n, want ? "equal" : "not equal");
    }
}

/* One bit differs, at each place: inside the text it counts, behind it never. */
TEST(one_bit_differs)
{
    for (size_t n = 1; n <= 100; n++) {
        char *p = before_a_wall(n + MAY_READ), *q = before_a_wall(n + MAY_READ);
        for (size_t i = 0; i < n + MAY_READ; i++)
            p[i] = q[i] = (char)(i * 37 + n);
        assert_equals(p, q, n);
        for (size_t at = 0; at < n + MAY_READ; at++)
            for (int bit = 0; bit < 8; bit++) {
                p[at] = (char)(p[at] ^ (1 << bit));
                assert_equals(p, q, n);
                assert_equals(q, p, n);
                p[at] = (char)(p[at] ^ (1 << bit));
            }
        take_down(p, n + MAY_READ);
        take_down(q, n + MAY_READ);
    }
}

TEST(random_pairs)
{
    char *p = before_a_wall(200 + MAY_READ), *q = before_a_wall(200 + MAY_READ);
    uint64_t rng = 2;
    for (int round = 0; round < 50000; round++) {
        size_t n = 1 + roll(&rng) % 150, a = roll(&rng) % 50, b = roll(&rng) % 50;
        for (size_t i = 0; i < 200 + MAY_READ; i++) {
            p[i] = (char)roll(&rng);
            q[i] = (char)roll(&rng);
        }
        memcpy(q + b, p + a, n);
        if (roll(&rng) % 2)
            q[b + roll(&rng) % n] ^= (char)(1 + roll(&rng) % 255);
        assert_equals(p + a, q + b, n);
    }
    take_down(p, 200 + MAY_READ);
    take_down(q, 200 + MAY_READ);
}

/* Which ones were tested is part of the answer: `fast` must be among them. */
TEST(the_vectors_are_tested)
{
    unsigned n = 0;
    FOR_KERNELS(k)
    {
        print_message("kernels: %s\n", k->isa);
        n++;
    }
#if defined(__x86_64__) || defined(__aarch64__)
    assert_true(n >= 2);
#else
    assert_true(n >= 1);
#endif
}
