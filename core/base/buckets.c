#include "core/base/buckets.h"

#include <stdlib.h>

void tg_buckets_init(struct tg_buckets *g, size_t n)
{
    *g = (struct tg_buckets){ .next = tg_xmalloc((n + 1) * sizeof *g->next) };
}

void tg_buckets_release(struct tg_buckets *g)
{
    tg_strmap_release(&g->text);
    free(g->first);
    free(g->last);
    free(g->next);
    *g = (struct tg_buckets){ 0 };
}

void tg_buckets_add(struct tg_buckets *g, tg_sv text, uint32_t number)
{
    size_t known = g->text.n;
    uint32_t id = tg_strmap_add(&g->text, text);

    if (id == known) {
        g->first = tg_grow(g->first, &g->cap_first, known + 1, sizeof *g->first);
        g->last = tg_grow(g->last, &g->cap_last, known + 1, sizeof *g->last);
        g->first[id] = number;
    } else {
        g->next[g->last[id]] = number;
    }
    g->last[id] = number;
    g->next[number] = TG_NO_ID;
}

uint32_t tg_buckets_first(const struct tg_buckets *g, tg_sv text)
{
    uint32_t id = tg_strmap_find(&g->text, text);
    return id == TG_NO_ID ? TG_NO_ID : g->first[id];
}
