#ifndef TG_BASE_SORT_H
#define TG_BASE_SORT_H
/*
 * Sorts what is nearly sorted: several ascending runs one after the other, as launches and starts
 * of work on a stream are. Stable. n comparisons for every doubling of the number of runs; if there
 * are many runs, qsort_r. `arg` is for `compare`.
 */
#include <stddef.h>

void tg_sort_runs(void *v, size_t n, size_t size,
                  int (*compare)(const void *, const void *, void *), void *arg);
#endif
