#ifndef TG_REPORTERS_EFFECT_H
#define TG_REPORTERS_EFFECT_H
/*
 * What a change costs, in one line: "Step time 5.94 -> 6.41 ms (+8 %, noise 1.1 %)". Both numbers are
 * measured: wall clock per step, median over runs. If something was taken off before the change was
 * judged, they are followed by it: "(+8.3 %, noise 0.4 %; the machine is 8.1 % slower)".
 */
#include "core/base/buf.h"
#include "policy/verdict/verdict.h"
#include "reporters/rows.h"

/* A message. Nothing if a side has no step time. */
void tg_effect_put(struct tg_buf *out, const struct tg_verdict *v);

/* The step's time of the two sides in ns, as every report gives it: measured wall clock, median over
 * runs; false: a side has none. */
bool tg_effect_step(const struct tg_verdict *v, double ns[2]);

/*
 * The numbers of such a row: of a replacement that a result gives the time of, the whole of it, in the row
 * of that result's name; the others of it have no rows. And its share of the step, and its first cell.
 */
bool tg_effect_is_part(const struct tg_verdict *v,
                       const struct tg_op *op); /* one of those others */
struct tg_row_numbers tg_effect_numbers(const struct tg_verdict *v, const struct tg_op *op);
double tg_effect_share(const struct tg_verdict *v, const struct tg_op *op);
bool tg_effect_is_waived(const struct tg_verdict *v,
                         const struct tg_op *op); /* and fails nothing */
const char *tg_effect_mark(const struct tg_verdict *v, const struct tg_op *op);
/* What a renamed row, or that of a replacement, was called; how many names such a replacement has on
 * either side (0: it is a rename). */
struct tg_effect_former {
    const struct tg_op *name; /* the largest; NULL: nothing, the row has one name */
    size_t n_before, n_after;
};
struct tg_effect_former tg_effect_former(const struct tg_verdict *v, const struct tg_op *op);

/* The rows of the table: those that a shown result is about, worst first, then at most `others` of
 * the rest that changed most: neither noise nor waits for the device. Indices into comparison->ops; the caller frees them. */
uint32_t *tg_effect_rows(const struct tg_verdict *v, size_t top, size_t others, size_t *n);
#endif
