#ifndef TG_ANALYSIS_INTERVAL_H
#define TG_ANALYSIS_INTERVAL_H
/* Unions of time intervals [start, end), in ns. A union is kept as its connected intervals, by
 * start; intervals that touch are merged. An empty interval adds nothing. */
#include "core/base/arena.h"

struct tg_interval {
    tg_ns start, end;
};

struct tg_union {
    struct tg_interval *v;
    size_t n, cap;
};

void tg_union_release(struct tg_union *u);
/* Intervals must come in start order. Amortised O(1). */
void tg_union_add(struct tg_union *u, tg_ns start, tg_ns end);
tg_ns tg_union_length(const struct tg_union *u);
/* Length of the time that both cover. O(a + b). */
tg_ns tg_union_common(const struct tg_union *a, const struct tg_union *b);
/* Length of `u` inside [start, end). O(log n) plus the intervals met. */
tg_ns tg_union_inside(const struct tg_union *u, tg_ns start, tg_ns end);
#endif
