#ifndef TG_BASE_ARENA_H
#define TG_BASE_ARENA_H
/*
 * Memory for objects that die together. Allocation never returns NULL: growth is bounded by the
 * callers' named limits. If the system itself runs out, the process ends with a clear message and
 * exit code 3. Not thread-safe: one arena per thread.
 */
#include "core/base/sv.h"

struct tg_arena;

/* Ends the process with that message: the one error that cannot be returned, because there is no
 * memory left to report it with. For libraries that return NULL. */
_Noreturn void tg_out_of_memory(void);

TG_MUST struct tg_arena *tg_arena_new(void);
void tg_arena_free(struct tg_arena *a); /* accepts NULL */
/* A local one, `TG_ARENA *a = tg_arena_new();`, that is freed where its block ends. */
#define TG_ARENA struct tg_arena TG_AUTO(tg_arena_drop)
static inline void tg_arena_drop(struct tg_arena **a)
{
    tg_arena_free(*a);
}

/* Zeroed, aligned for any type. `n` * `size` is checked for overflow. */
void *tg_arena_alloc(struct tg_arena *a, size_t n, size_t size);
#define TG_NEW(a, type) ((type *)tg_arena_alloc((a), 1, sizeof(type)))
#define TG_NEW_N(a, type, n) ((type *)tg_arena_alloc((a), (n), sizeof(type)))

/* A NUL-terminated copy (the NUL is not counted in .n). */
tg_sv tg_arena_sv(struct tg_arena *a, tg_sv s);
/* `n` elements of `v`, and room for one more. */
void *tg_arena_copy(struct tg_arena *a, const void *v, size_t n, size_t size);
/* `v` of `n` elements if it has room (`*cap`) for one more, else a copy of twice the room. */
void *tg_arena_grow(struct tg_arena *a, void *v, size_t n, size_t *cap, size_t size);
/* Frees `p`, which malloc made, with the arena. */
void tg_arena_adopt(struct tg_arena *a, void *p);
char *tg_arena_printf(struct tg_arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
#define TG_SV_PRINTF(a, ...) tg_sv_of(tg_arena_printf((a), __VA_ARGS__))

/* malloc/realloc that end the process with exit code 3 and a message instead of returning NULL. */
void *tg_xmalloc(size_t size);
void *tg_xrealloc(void *p, size_t n, size_t size);
void *tg_xcalloc(size_t n, size_t size); /* zeroed */
/* Before the type of a local pointer: what it points at (or NULL) is freed where its block ends. */
#define TG_FREE TG_AUTO(tg_free_at)
void tg_free_at(void *pointer);
/* Grows `p` (of `*cap` elements) to hold at least `need`, doubling. */
void *tg_grow(void *p, size_t *cap, size_t need, size_t size);
/* The new last element of the array `v`, which has `n` of room for `cap`: all three are changed. */
#define TG_PUSH(v, n, cap) ((v) = tg_grow((v), &(cap), (n) + 1, sizeof *(v)), &(v)[(n)++])
/* The same of an array in an arena. */
#define TG_ARENA_PUSH(a, v, n, cap)                                                                \
    ((v) = tg_arena_grow((a), (v), (n), &(cap), sizeof *(v)), &(v)[(n)++])
#endif
