#include "core/metric/rates.h"

#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/sort.h"

void tg_rates_add(struct tg_rates *r, tg_ns start, tg_ns end, double rate)
{
    if (end <= start)
        return;
    *TG_PUSH(r->edges, r->n, r->cap) = (struct tg_rate_edge){ start, 1, rate };
    *TG_PUSH(r->edges, r->n, r->cap) = (struct tg_rate_edge){ end, -1, rate };
}

void tg_rates_release(struct tg_rates *r)
{
    free(r->edges);
    *r = (struct tg_rates){ 0 };
}

static int by_time(const void *pa, const void *pb)
{
    const struct tg_rate_edge *a = pa, *b = pb;
    int c = TG_CMP(a->at, b->at);
    c = c ? c : TG_CMP(a->sign, b->sign);
    return c ? c : TG_CMP(a->rate, b->rate);
}

void tg_rates_sort(struct tg_rates *r)
{
    TG_SORT(r->edges, r->n, by_time);
}
