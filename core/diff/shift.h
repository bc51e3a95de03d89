#ifndef TG_DIFF_SHIFT_H
#define TG_DIFF_SHIFT_H
/*
 * By how much are the fresh runs slower, and could that be chance? The time of an operator depends on the layout of its
 * process. Many have two speeds, and each run one of them: medians and ranks compare the fast runs of one side with the
 * slow ones of the other. But if the fresh runs are moved back by the slowdown, all fall together:
 *
 *     baseline   x x xx         x xx          moved back   x x xx         x xx
 *     fresh          y yy yy        y y                    y yy yy        y y
 *
 * The statistic is by how much more likely all runs become, each by its distances from the others, when the fresh ones
 * are moved back by the best of some sizes. p is the part of all divisions of these runs into two sides that gain as
 * much, so it is exact whatever the distribution is. Compared with other tests: docs/experiments/ask-again.md.
 */
#include <stddef.h>

struct tg_shift {
    double e; /* ln of the slowdown; 0: none */
    double p;
};
/*
 * Of logarithms of run values, in any order. If the divisions are many, of a fixed sequence of random ones. Beyond
 * TG_RANK_MAX runs of a side: of medians and ranks. p of a slowdown up to `least` is not asked for: it stays 1.
 */
struct tg_shift tg_shift_find(const double *base, size_t nb, const double *fresh, size_t nt,
                              double least);
#endif
