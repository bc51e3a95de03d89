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
#endif
