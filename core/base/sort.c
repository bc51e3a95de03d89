#include "core/base/sort.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"

/* With fewer elements than this in an average run, qsort is as good. */
#define LEAST_STRETCH 16

struct runs {
    size_t *from; /* where each run begins; one more for the end */
    size_t n, cap;
};

/* False: too many runs. */
static bool find_runs(struct runs *r, const char *v, size_t n, size_t size,
                      int (*compare)(const void *, const void *, void *), void *arg)
{
    size_t most = n / LEAST_STRETCH + 1;
    for (size_t i = 0; i < n; i++) {
        if (i && compare(v + (i - 1) * size, v + i * size, arg) <= 0)
            continue;
        if (r->n == most)
            return false;
        r->from = tg_grow(r->from, &r->cap, r->n + 2, sizeof *r->from);
        r->from[r->n++] = i;
    }
    r->from[r->n] = n;
    return true;
}

/* Merges [a, m) and [m, b) of `v` into the same range of `to`. */
static void merge(char *to, const char *v, size_t a, size_t m, size_t b, size_t size,
                  int (*compare)(const void *, const void *, void *), void *arg)
{
    size_t i = a, j = m;
    to += a * size;
    for (; i < m && j < b; to += size) {
        bool left = compare(v + i * size, v + j * size, arg) <= 0;
        memcpy(to, v + (left ? i : j) * size, size);
        i += left;
        j += !left;
    }
    memcpy(to, v + i * size, (m - i) * size);
    memcpy(to + (m - i) * size, v + j * size, (b - j) * size);
}

/* One pass: merges pairs of neighbours. */
static void merge_pairs(struct runs *r, char *to, const char *v, size_t size,
                        int (*compare)(const void *, const void *, void *), void *arg)
{
    size_t kept = 0, end = r->from[r->n];
    for (size_t i = 0; i < r->n; i += 2) {
        size_t m = r->from[i + 1], b = i + 1 < r->n ? r->from[i + 2] : m;
        merge(to, v, r->from[i], m, b, size, compare, arg);
        r->from[kept++] = r->from[i];
    }
    r->from[kept] = end;
    r->n = kept;
}

void tg_sort_runs(void *v, size_t n, size_t size,
                  int (*compare)(const void *, const void *, void *), void *arg)
{
    struct runs r = { 0 };
    char *from = v, *other;
    if (n < 2)
        return;
    if (!find_runs(&r, v, n, size, compare, arg)) {
        free(r.from);
        qsort_r(v, n, size, compare, arg);
        return;
    }
    other = r.n > 1 ? tg_xrealloc(NULL, n, size) : NULL;
    for (char *to = other; r.n > 1;) {
        char *swap = from;
        merge_pairs(&r, to, from, size, compare, arg);
        from = to;
        to = swap;
    }
    if (from != v)
        memcpy(v, from, n * size);
    free(other);
    free(r.from);
}

void tg_sort(void *v, size_t n, size_t size, int (*compare)(const void *, const void *))
{
    if (n > 1)
        qsort(v, n, size, compare);
}

int tg_by_real(const void *pa, const void *pb)
{
    double a = *(const double *)pa, b = *(const double *)pb;
    return TG_CMP(a, b);
}

int tg_by_i64(const void *pa, const void *pb)
{
    int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
    return TG_CMP(a, b);
}

int tg_by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int tg_by_sv(const void *a, const void *b)
{
    return tg_sv_cmp(*(const tg_sv *)a, *(const tg_sv *)b);
}

size_t tg_sort_distinct(int64_t *v, size_t n)
{
    size_t kept = 0;
    TG_SORT(v, n, tg_by_i64);
    for (size_t i = 0; i < n; i++)
        if (!kept || v[kept - 1] != v[i])
            v[kept++] = v[i];
    return kept;
}
