#include "core/base/utf8.h"
#include "core/summary/internal.h"

bool tg_text_is_clean(tg_sv s)
{
    return tg_utf8_valid(s) && !memchr(s.p ? s.p : "", '\0', s.n);
}

tg_sv tg_clean_text(struct tg_arena *a, tg_sv s)
{
    TG_BUF clean = { 0 };
    if (tg_text_is_clean(s))
        return tg_arena_sv(a, s);
    tg_utf8_clean(&clean, s);
    return tg_arena_sv(a, tg_buf_sv(&clean));
}

struct tg_row tg_row_new(const struct tg_row_key *key, size_t n_steps, struct tg_arena *a)
{
    struct tg_row_key *own = TG_NEW(a, struct tg_row_key);
    *own = *key;
    return (struct tg_row){ .key = own,
                            .count = TG_NEW_N(a, uint32_t, n_steps + 1),
                            .total = TG_NEW_N(a, tg_ns, n_steps + 1),
                            .self = TG_NEW_N(a, tg_ns, n_steps + 1) };
}

int tg_row_key_cmp(const struct tg_row_key *a, const struct tg_row_key *b)
{
    int c = TG_CMP(a->kind, b->kind);
    c = c ? c : tg_sv_cmp(a->name, b->name);
    c = c ? c : tg_sv_cmp(a->cat, b->cat);
    c = c ? c : tg_sv_cmp(a->parent, b->parent);
    c = c ? c : TG_CMP(a->device, b->device);
    return c ? c : TG_CMP(a->stream, b->stream);
}

int tg_row_cmp(const void *a, const void *b)
{
    const struct tg_row *x = a, *y = b;
    return tg_row_key_cmp(x->key, y->key);
}

uint64_t tg_row_calls(const struct tg_shard *s, const struct tg_row *r)
{
    uint64_t n = 0;
    for (size_t k = 0; k < s->n_steps; k++)
        n += r->count[k];
    return n;
}
