#include "core/analysis/interval.h"

#include <stdlib.h>

#include "core/base/sort.h"
#include "core/steps/steps.h"

void tg_union_release(struct tg_union *u)
{
    free(u->v);
    *u = (struct tg_union){ 0 };
}

void tg_union_add(struct tg_union *u, tg_ns start, tg_ns end)
{
    if (end <= start)
        return;
    if (u->n && start <= u->v[u->n - 1].end) {
        if (end > u->v[u->n - 1].end)
            u->v[u->n - 1].end = end;
        return;
    }
    *TG_PUSH(u->v, u->n, u->cap) = (struct tg_interval){ start, end };
}

tg_ns tg_union_length(const struct tg_union *u)
{
    tg_ns sum = 0;
    for (size_t i = 0; i < u->n; i++)
        sum = tg_ns_add(sum, tg_ns_sub(u->v[i].end, u->v[i].start));
    return sum;
}

static tg_ns common(struct tg_interval a, struct tg_interval b)
{
    tg_ns from = a.start > b.start ? a.start : b.start, to = a.end < b.end ? a.end : b.end;
    return to > from ? tg_ns_sub(to, from) : 0;
}

tg_ns tg_union_common(const struct tg_union *a, const struct tg_union *b)
{
    tg_ns sum = 0;
    for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
        sum = tg_ns_add(sum, common(a->v[i], b->v[j]));
        if (a->v[i].end < b->v[j].end)
            i++;
        else
            j++;
    }
    return sum;
}

tg_ns tg_union_inside(const struct tg_union *u, tg_ns start, tg_ns end)
{
    struct tg_interval window = { start, end };
    size_t i;
    tg_ns sum = 0;
    TG_SEARCH(i, u->n, u->v[i].end <= start);
    for (; i < u->n && u->v[i].start < end; i++)
        sum = tg_ns_add(sum, common(u->v[i], window));
    return sum;
}
