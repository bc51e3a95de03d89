#include "core/cause/forward.h"
#include "core/base/sort.h"

#include <stdlib.h>

static int by_sequence(const void *pa, const void *pb)
{
    const struct tg_forward *a = pa, *b = pb;
    int c = TG_CMP(a->sequence, b->sequence);
    c = c ? c : TG_CMP(a->start, b->start);
    return c ? c : TG_CMP(a->span, b->span);
}

void tg_forwards_init(struct tg_forwards *f, const struct tg_trace *t, const bool *is_backward)
{
    size_t cap = 0;
    *f = (struct tg_forwards){ 0 };
    for (uint32_t i = 0; t->sequence && i < t->n_spans; i++) {
        const struct tg_span *s = tg_span_at(t, i);
        if (t->sequence[i] < 0 || is_backward[s->name])
            continue;
        *TG_PUSH(f->v, f->n, cap) = (struct tg_forward){ t->sequence[i], s->start, i };
    }
    if (f->n)
        TG_SORT(f->v, f->n, by_sequence);
}

void tg_forwards_release(struct tg_forwards *f)
{
    free(f->v);
    *f = (struct tg_forwards){ 0 };
}

uint32_t tg_forward_of(const struct tg_forwards *f, const struct tg_trace *t, uint32_t span)
{
    int64_t number = t->sequence ? t->sequence[span] : -1;
    tg_ns start = tg_span_at(t, span)->start;
    size_t i;
    if (number < 0)
        return TG_NO_SPAN;
    TG_SEARCH(i, f->n,
              f->v[i].sequence < number || (f->v[i].sequence == number && f->v[i].start < start));
    return i && f->v[i - 1].sequence == number ? f->v[i - 1].span : TG_NO_SPAN;
}
