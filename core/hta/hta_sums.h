#ifndef TG_HTA_HTA_SUMS_H
#define TG_HTA_HTA_SUMS_H
/* The sums that a side is made of, for the tables of diff.c. */
#include "core/hta/hta_diff.h"

void tg_hta_rank_release(struct tg_hta_rank *r);
/* The cell with this category, name, step and device; a new one is a copy of `key`. */
struct tg_hta_cell *tg_hta_cell_of(struct tg_hta_rank *r, const struct tg_hta_cell *key);
/* Kahan's sum: what one addition loses is carried over to the next. NaN is skipped, as by
 * pandas. */
void tg_hta_sum(double *total, double *lost, double v);
#endif
