#ifndef TG_CAUSE_INTERNAL_H
#define TG_CAUSE_INTERNAL_H
/* What paths.c makes its paths of. Private to core/cause. */
#include "core/cause/paths.h"

/*
 * The forward operator of backward work: PyTorch gives both the same "Sequence number". If
 * several forward operators share one (an operator and those inside it), it is the one that started
 * last before the backward work; a trace's own arrows ("fwdbwd") say the same.
 * AccumulateGrad has no number.
 *
 * O(operators log operators) to make, O(log operators) to ask. 24 bytes a numbered operator.
 */
struct tg_forward { /* a numbered operator that is not backward work */
    int64_t sequence;
    tg_ns start;
    uint32_t span;
};
struct tg_forwards {
    struct tg_forward *v; /* by number, then start */
    size_t n;
};

/* `t`: loaded with want_sequence. `is_backward`: of each name. */
void tg_forwards_init(struct tg_forwards *f, const struct tg_trace *t, const bool *is_backward);
void tg_forwards_release(struct tg_forwards *f);
/* TG_NO_SPAN: the span has no number, or nothing of that number started before it. */
uint32_t tg_forward_of(const struct tg_forwards *f, const struct tg_trace *t, uint32_t span);

/*
 * Joins frames that were renamed. Two frames are one where the name of the first is nowhere in the
 * fresh side, that of the second nowhere in the baseline, both hang at the same place, are called
 * equally often, and
 *
 *   call the same things: half or more of what either calls is called by both, or
 *   call nothing that tells, and are the only such pair at their place.
 *
 * The joined frame has the new name. From the outside in, so that a renamed class comes before its
 * methods. O(nodes) a round, at most TG_RENAMED_ROUNDS of them.
 */
enum { TG_RENAMED_ROUNDS = 8 };
void tg_paths_join_renamed(struct tg_paths *p);
#endif
