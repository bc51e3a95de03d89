#ifndef TG_BASE_SORT_H
#define TG_BASE_SORT_H
/*
 * Sorting of what is nearly sorted: several ascending stretches one behind the other, as launches
 * and starts of work on a stream are. Stable. n comparisons for every doubling of the number of
 * stretches; where there are many of them, qsort.
 */
#include <stddef.h>

void tg_sort_runs(void *v, size_t n, size_t size, int (*compare)(const void *, const void *));
#endif
