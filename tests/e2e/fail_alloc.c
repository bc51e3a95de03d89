/* Preloaded by alloc_failures.py: from the TG_FAIL_AT-th allocation of the process on (counted from
 * 1), one allocation fails; with TG_FAIL_ALL every one. TG_FAIL_COUNT=FILE: how many there were. */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static atomic_long count;
static long fail_at;
static int fail_all, ready;
static const char *count_file;

/* dlsym may allocate itself before its answer is there. */
static char early[8192];
static size_t early_used;

static void *from_early(size_t n)
{
    void *p = early + early_used;
    early_used += (n + 15) & ~(size_t)15;
    return early_used <= sizeof early ? p : NULL;
}

static void start(void)
{
    const char *at = getenv("TG_FAIL_AT");
    ready = 1;
    *(void **)&real_malloc = dlsym(RTLD_NEXT, "malloc");
    *(void **)&real_calloc = dlsym(RTLD_NEXT, "calloc");
    *(void **)&real_realloc = dlsym(RTLD_NEXT, "realloc");
    fail_at = at ? atol(at) : 0;
    fail_all = getenv("TG_FAIL_ALL") != NULL;
    count_file = getenv("TG_FAIL_COUNT");
}

static int fails(void)
{
    long n;
    if (!ready)
        start();
    n = atomic_fetch_add(&count, 1) + 1;
    if (fail_at && (n == fail_at || (fail_all && n > fail_at))) {
        errno = ENOMEM;
        return 1;
    }
    return 0;
}

void *malloc(size_t n)
{
    if (fails())
        return NULL;
    return real_malloc ? real_malloc(n) : from_early(n);
}

void *calloc(size_t n, size_t size)
{
    if (fails())
        return NULL;
    return real_calloc ? real_calloc(n, size) : from_early(n * size);
}

void *realloc(void *p, size_t n)
{
    if (fails())
        return NULL;
    return real_realloc ? real_realloc(p, n) : NULL;
}

__attribute__((destructor)) static void end(void)
{
    FILE *f = count_file ? fopen(count_file, "w") : NULL;
    if (f) {
        (void)fprintf(f, "%ld\n", (long)count);
        (void)fclose(f);
    }
}
