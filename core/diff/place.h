#ifndef TG_DIFF_PLACE_H
#define TG_DIFF_PLACE_H
/*
 * A place is where the program decides work: the annotation around calls, at the largest the step. Inside
 * a place names are contents. What came and what went there are balanced, and the balance is what the
 * place decided; what another place saves excuses nothing.
 *
 *   index     who calls what, and inside which annotation                  uses.c
 *   balance   what came and went in a place: renamed, replaced, worse      place.c
 *   choice    the place is one operator: a library's other kernels         place_choice.c
 *   lead      the operator whose additional calls make others              place_lead.c
 *   small     what costs next to nothing                                   place_small.c, views.c
 *   cost      moved with calls, repaid by the place                        place_cost.c
 *   names     what reports tell of a place                                 place_names.c
 *
 * Calls are counted by one measure: of what changed in a place, the weightiest sort alone. Views and
 * metadata weigh nothing, an operator that mostly calls others less than what it calls. A graph counts as the
 * kernels that it launches.
 */
#include "core/diff/uses.h"

/* Does all that came of it lie inside one annotation; TG_NO_ID: in the step? */
bool tg_uses_only_in(const struct tg_diff_work *w, uint32_t by, uint32_t op);
/* Its time per step and rank on a side: the median over runs of the least step, where each has the same calls. */
double tg_op_least_ns(const struct tg_diff_work *w, const struct tg_op *op, int side);
/* Adds an index to a list that has room for it, unless it is there, or TG_NO_ID. */
void tg_add_once(uint32_t *v, size_t *n, uint32_t x);
#endif
