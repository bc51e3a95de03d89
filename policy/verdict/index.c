#include "policy/verdict/index.h"

#include <stdlib.h>

void tg_op_index_init(struct tg_op_index *x, const struct tg_comparison *c)
{
    *x = (struct tg_op_index){ .n_regions = c->n_regions };
    tg_buckets_init(&x->children, c->n_ops);
    x->first_of_region = tg_xmalloc((c->n_regions + 1) * sizeof *x->first_of_region);
    x->next_of_region = tg_xmalloc((c->n_ops + 1) * sizeof *x->next_of_region);
    for (size_t i = 0; i < c->n_regions; i++)
        x->first_of_region[i] = TG_NO_ID;
    for (uint32_t i = 0; i < c->n_ops; i++)
        tg_buckets_add(&x->children, c->ops[i].parent, i);
    for (uint32_t i = (uint32_t)c->n_ops; i-- > 0;) { /* each goes before those after it */
        uint32_t region = c->ops[i].region;
        if (region >= c->n_regions)
            continue;
        x->next_of_region[i] = x->first_of_region[region];
        x->first_of_region[region] = i;
    }
}

void tg_op_index_release(struct tg_op_index *x)
{
    tg_buckets_release(&x->children);
    free(x->first_of_region);
    free(x->next_of_region);
    *x = (struct tg_op_index){ 0 };
}
