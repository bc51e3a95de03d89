#ifndef TG_POLICY_VERDICT_INDEX_H
#define TG_POLICY_VERDICT_INDEX_H
/*
 * The rows of a comparison by what findings ask of them, in the order of the comparison. Made in one pass
 * for a stage that asks for each of many findings.
 */
#include "core/base/buckets.h"
#include "core/diff/compare.h"

struct tg_op_index {
    struct tg_buckets children; /* by the name of the parent */
    uint32_t *first_of_region, *next_of_region;
    size_t n_regions;
};

void tg_op_index_init(struct tg_op_index *x, const struct tg_comparison *c);
void tg_op_index_release(struct tg_op_index *x);

/* The rows of a region, which may be TG_NO_ID: the first and the next; TG_NO_ID: no more. */
static inline uint32_t tg_op_index_region(const struct tg_op_index *x, uint32_t region)
{
    return region < x->n_regions ? x->first_of_region[region] : TG_NO_ID;
}
#endif
