#ifndef TG_REPORTERS_EFFECT_H
#define TG_REPORTERS_EFFECT_H
/*
 * What a change costs, in one line: "Step time 5.94 -> 6.41 ms (+8 %, noise 1.1 %)". Both numbers
 * are measured: wall clock per step, median over runs. If something was taken off before the change
 * was judged, they are followed by it: "(+8.3 %, noise 0.4 %; the machine is 8.1 % slower)". Then
 * the peak of the memory, where it is known and another one.
 */
#include "core/base/buf.h"
#include "policy/verdict/verdict.h"

/* A message. Nothing if a side has no step time. */
void tg_effect_put(struct tg_buf *out, const struct tg_verdict *v);

/* The step's time of the two sides in ns, as every report gives it: measured wall clock, median
 * over runs; false: a side has none. */
bool tg_effect_step(const struct tg_verdict *v, double ns[2]);

#endif
