#ifndef TG_REPORTERS_EFFECT_H
#define TG_REPORTERS_EFFECT_H
/*
 * What a change costs, in one line: "Step time 5.94 -> 6.41 ms (+8 %, noise 1.1 %)". Of one
 * estimator: the step's value that was judged, or, where durations are not judged, the mean.
 */
#include "core/base/buf.h"
#include "policy/verdict/verdict.h"

/* Plain text; `arrow` between the values. Nothing where a side has no step time. */
void tg_effect_put(struct tg_buf *out, const struct tg_verdict *v, const char *arrow);

/* The rows of the table: those that a shown result is about, worst first, then at most `noise` of
 * the others that changed most. Indices into comparison->ops; the caller frees them. */
uint32_t *tg_effect_rows(const struct tg_verdict *v, size_t top, size_t noise, size_t *n);
#endif
