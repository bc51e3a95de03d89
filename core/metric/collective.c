#include "core/metric/collective.h"

#include <stdlib.h>

static int by_match(const void *pa, const void *pb)
{
    const struct tg_collective *a = pa, *b = pb;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    if (a->nth != b->nth)
        return a->nth < b->nth ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Per key: how many ranks have it at all. */
static uint32_t *count_ranks(const struct tg_collective *v, size_t n, size_t n_keys)
{
    uint32_t *ranks = tg_xrealloc(NULL, n_keys + 1, sizeof *ranks);
    uint32_t *last = tg_xrealloc(NULL, n_keys + 1, sizeof *last);
    for (size_t k = 0; k < n_keys; k++) {
        ranks[k] = 0;
        last[k] = TG_NO_ID;
    }
    for (size_t i = 0; i < n; i++)
        if (last[v[i].key] != v[i].rank) {
            last[v[i].key] = v[i].rank;
            ranks[v[i].key]++;
        }
    free(last);
    return ranks;
}

void tg_collectives_match(struct tg_collective *v, size_t n, size_t n_keys,
                          void (*f)(void *arg, const struct tg_collective *p, size_t n, bool whole),
                          void *arg)
{
    uint32_t *ranks = count_ranks(v, n, n_keys);
    if (n)
        qsort(v, n, sizeof *v, by_match);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i + 1;
             k < n && v[k].key == v[i].key && v[k].step == v[i].step && v[k].nth == v[i].nth;)
            k++;
        f(arg, v + i, k - i, k - i >= 2 && k - i >= ranks[v[i].key]);
    }
    free(ranks);
}
