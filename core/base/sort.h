#ifndef TG_BASE_SORT_H
#define TG_BASE_SORT_H
/* Arrays: walking and sorting them, and what is looked up in lists of numbers. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each of the `n` elements of `v`, which may be NULL if there are none, as `type *name`. */
#define TG_EACH(type, name, v, n)                                                                  \
    for (type *name = (v), *name##_end = (n) ? name + (n) : name; name < name##_end; name++)

/*
 * Sorts what is nearly sorted: several ascending runs one after the other, as launches and starts
 * of work on a stream are. Stable. n comparisons for every doubling of the number of runs; if there
 * are many runs, qsort_r. `arg` is for `compare`.
 */
void tg_sort_runs(void *v, size_t n, size_t size,
                  int (*compare)(const void *, const void *, void *), void *arg);

/* qsort() of the `n` elements of `v`, which may be NULL if there are none. */
#define TG_SORT(v, n, compare) tg_sort((v), (n), sizeof *(v), (compare))
void tg_sort(void *v, size_t n, size_t size, int (*compare)(const void *, const void *));

/* `i` becomes the first index below `n` for which `before`, an expression with `i`, does not hold;
 * n: none. Where it holds comes before where it does not. */
#define TG_SEARCH(i, n, before)                                                                    \
    for (size_t lo_ = 0, hi_ = (n); (i) = lo_ + (hi_ - lo_) / 2, lo_ < hi_;)                       \
        if (before)                                                                                \
            lo_ = (i) + 1;                                                                         \
        else                                                                                       \
            hi_ = (i)

/* Ascending numbers, to sort and to search by. */
int tg_by_real(const void *a, const void *b);
int tg_by_i64(const void *a, const void *b);
/* Texts in the order of their bytes: `const char *` and tg_sv. */
int tg_by_text(const void *a, const void *b);
int tg_by_sv(const void *a, const void *b);
/* Sorts the numbers, each once; returns how many are left. */
size_t tg_sort_distinct(int64_t *v, size_t n);

static inline bool tg_is_among(const int64_t *list, size_t n, int64_t v)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == v)
            return true;
    return false;
}
/* Is the number in the list, or is there no list? */
static inline bool tg_listed(const int64_t *list, size_t n, int64_t v)
{
    return !list || tg_is_among(list, n, v);
}
#endif
