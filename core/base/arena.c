#include "core/base/arena.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/temporary.h"

/* Under a sanitizer each allocation is its own block, so that overruns stay visible. */
#if defined(__SANITIZE_ADDRESS__)
#define BLOCK_SIZE 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BLOCK_SIZE 0
#endif
#endif
#ifndef BLOCK_SIZE
#define BLOCK_SIZE ((size_t)64 << 10)
#endif

struct block {
    struct block *next;
    size_t used, size;
    max_align_t data[];
};

struct adopted {
    struct adopted *next;
    void *p;
};

struct tg_arena {
    struct block *blocks;
    struct adopted *adopted; /* in the arena itself */
};

void tg_out_of_memory(void)
{
    static const char text[] = "tracegate: error: out of memory\n"
                               "  Raise the memory limit, or compare fewer traces at a time.\n";
    static atomic_flag reported =
        ATOMIC_FLAG_INIT; /* several threads may get here at the same time */
    if (!atomic_flag_test_and_set(&reported))
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
    else
        (void)pause(); /* the first one ends the process */
    tg_temporary_remove_all();
    _exit(3);
}

void *tg_xmalloc(size_t size)
{
    void *p = malloc(size ? size : 1);
    if (!p)
        tg_out_of_memory();
    return p;
}

void *tg_xrealloc(void *p, size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes))
        tg_out_of_memory();
    p = realloc(p, bytes ? bytes : 1);
    if (!p)
        tg_out_of_memory();
    return p;
}

void *tg_xcalloc(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);
    if (!p)
        tg_out_of_memory();
    return p;
}

void tg_free_at(void *pointer)
{
    void *p;
    memcpy(&p, pointer, sizeof p);
    free(p);
}

void *tg_grow(void *p, size_t *cap, size_t need, size_t size)
{
    size_t to = *cap ? *cap : 16;
    if (need <= *cap)
        return p;
    while (to < need)
        to = to > SIZE_MAX / 2 ? need : to * 2;
    *cap = to;
    return tg_xrealloc(p, to, size);
}

struct tg_arena *tg_arena_new(void)
{
    struct tg_arena *a = tg_xmalloc(sizeof *a);
    *a = (struct tg_arena){ 0 };
    return a;
}

void tg_arena_free(struct tg_arena *a)
{
    if (!a)
        return;
    for (const struct adopted *x = a->adopted; x; x = x->next)
        free(x->p);
    for (struct block *b = a->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(a);
}

static struct block *add_block(struct tg_arena *a, size_t bytes)
{
    /* Many arenas serve one small thing: musl would map and unmap 64 KiB for each of them. */
    size_t usual = a->blocks ? BLOCK_SIZE : BLOCK_SIZE / 16;
    size_t size = bytes > usual / 4 ? bytes : usual;
    struct block *b = tg_xmalloc(sizeof *b + size);
    *b = (struct block){ .size = size };
    /* A large block goes after the current one, whose rest stays usable. */
    if (a->blocks && size == bytes) {
        b->next = a->blocks->next;
        a->blocks->next = b;
    } else {
        b->next = a->blocks;
        a->blocks = b;
    }
    return b;
}

/* Not zeroed. */
static void *take(struct tg_arena *a, size_t n, size_t size)
{
    size_t bytes;
    struct block *b = a->blocks;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX / 2)
        tg_out_of_memory();
    bytes = (bytes + sizeof(max_align_t) - 1) & ~(sizeof(max_align_t) - 1);
    if (!b || b->size - b->used < bytes)
        b = add_block(a, bytes);
    void *p = (char *)b->data + b->used;
    b->used += bytes;
    return p;
}

void *tg_arena_alloc(struct tg_arena *a, size_t n, size_t size)
{
    return memset(take(a, n, size), 0, n * size);
}

tg_sv tg_arena_sv(struct tg_arena *a, tg_sv s)
{
    char *p = take(a, s.n + 1, 1);
    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return (tg_sv){ p, s.n };
}

void *tg_arena_copy(struct tg_arena *a, const void *v, size_t n, size_t size)
{
    char *copy = take(a, n + 1, size);
    (void)memset(copy + n * size, 0, size);
    return n ? memcpy(copy, v, n * size) : copy;
}

void *tg_arena_grow(struct tg_arena *a, void *v, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return v;
    *cap = n ? 2 * n : 4;
    void *grown = tg_arena_alloc(a, *cap, size);
    return n ? memcpy(grown, v, n * size) : grown;
}

void tg_arena_adopt(struct tg_arena *a, void *p)
{
    struct adopted *x = TG_NEW(a, struct adopted);
    *x = (struct adopted){ a->adopted, p };
    a->adopted = x;
}

char *tg_arena_printf(struct tg_arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *p = tg_arena_alloc(a, (size_t)(n < 0 ? 0 : n) + 1, 1);
    va_start(ap, fmt);
    (void)vsnprintf(p, (size_t)(n < 0 ? 0 : n) + 1, fmt, ap);
    va_end(ap);
    return p;
}
