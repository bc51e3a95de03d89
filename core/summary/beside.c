#include "core/summary/beside.h"

#include <math.h>

#include "core/summary/pack.h"

static void settle(const struct tg_beside_span *x)
{
    tg_ns whole = x->end - x->start;
    if (x->slot && x->over > 0)
        *x->slot = x->over >= whole
                       ? TG_BESIDE_ALL
                       : (uint8_t)ceil(TG_BESIDE_ALL * (double)x->over / (double)whole);
}

void tg_beside_add(struct tg_beside *b, const struct tg_beside_span *x)
{
    struct tg_beside_span now = *x;
    size_t n = 0;
    for (size_t i = 0; i < b->n; i++) {
        struct tg_beside_span *y = &b->v[i];
        tg_ns over = (y->end < now.end ? y->end : now.end) - now.start;
        if (over <= 0) {
            settle(y);
            continue;
        }
        if (y->device == now.device && y->track != now.track) {
            y->over += over;
            now.over += over;
        }
        b->v[n++] = *y;
    }
    b->n = n;
    if (n < TG_BESIDE_ALL)
        b->v[b->n++] = now;
    else
        settle(&now);
}

void tg_beside_end(struct tg_beside *b)
{
    for (size_t i = 0; i < b->n; i++)
        settle(&b->v[i]);
    b->n = 0;
}

void tg_beside_put(struct tg_buf *out, const struct tg_shard *s)
{
    size_t last = 0;
    for (size_t i = 0; i < s->n_rows; i++) {
        if (!s->rows[i].beside)
            continue;
        tg_pack_u64(out, i - last);
        tg_buf_add(
            out, (tg_sv){ (const char *)s->rows[i].beside, (size_t)tg_row_calls(s, &s->rows[i]) });
        last = i;
    }
}

bool tg_beside_read(struct tg_shard *s, tg_sv raw, struct tg_arena *a)
{
    struct tg_unpack u = { raw.p, raw.p + raw.n, false };
    for (uint64_t i = 0; u.p < u.end;) {
        uint64_t more = tg_unpack_u64(&u);
        if (u.bad || more >= s->n_rows - i || s->rows[i + more].beside)
            return false;
        struct tg_row *r = &s->rows[i += more];
        uint64_t n = tg_row_calls(s, r);
        if (!tg_kind_is_device(r->key->kind) || !n || n > tg_unpack_left(&u))
            return false;
        r->beside = tg_arena_copy(a, u.p, (size_t)n, 1);
        for (; n--; u.p++)
            u.bad |= (unsigned char)*u.p > TG_BESIDE_ALL;
    }
    return s->beside_known = !u.bad;
}
