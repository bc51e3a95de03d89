#include "core/trace/attr_cache.h"

#include <stdlib.h>

#include "core/trace/text.h"

#define SLOTS ((size_t)1 << 15)
#define MOST (SLOTS / 2)
#define BYTES_MOST ((size_t)8 << 20)
#define BIT(attr) ((uint32_t)1 << (attr))
#define NEVER_REPEATS (BIT(TG_ATTR_BANDWIDTH) | BIT(TG_ATTR_SEQ) | BIT(TG_ATTR_COMMS_ID))

/* Beside its values, so that a look costs one miss of the cache beside the slot's. */
struct tg_attr_cached {
    uint64_t hash;
    uint32_t which, id;
    size_t n;
    char raw[]; /* the values, a NUL after each; up to a multiple of eight bytes */
};

void tg_attr_cache_init(struct tg_attr_cache *c)
{
    *c = (struct tg_attr_cache){ .slot = tg_xcalloc(SLOTS, sizeof *c->slot) };
}

void tg_attr_cache_release(struct tg_attr_cache *c)
{
    tg_buf_release(&c->kept);
    free(c->slot);
    tg_buf_release(&c->text);
    *c = (struct tg_attr_cache){ 0 };
}

/* A value ends with its own bracket, quote or delimiter. Lengths are part of the hash only, but
 * values are compared one by one, so "1" "23" never equals "12" "3". */
static bool is_same(const struct tg_attr_cached *e, uint32_t which, const struct tg_attr_values *f)
{
    const char *p = e->raw, *end = e->raw + e->n;
    if (e->which != which)
        return false;
    for (uint32_t rest = which; rest; rest &= rest - 1) {
        tg_sv v = f->v[__builtin_ctz(rest)];
        if ((size_t)(end - p) < v.n + 1 || memcmp(p, v.p, v.n) != 0 || p[v.n] != '\0')
            return false;
        p += v.n + 1;
    }
    return p == end;
}

static void keep(struct tg_attr_cache *c, uint32_t *slot, uint64_t hash, uint32_t which,
                 const struct tg_attr_values *f, uint32_t id)
{
    size_t n = 0, at = c->kept.n;
    if (c->n == MOST || at > BYTES_MOST)
        return;
    for (uint32_t rest = which; rest; rest &= rest - 1)
        n += f->v[__builtin_ctz(rest)].n + 1;
    size_t room = (sizeof(struct tg_attr_cached) + n + 7) / 8 * 8;
    struct tg_attr_cached *e = (void *)tg_buf_room(&c->kept, room);
    *e = (struct tg_attr_cached){ hash, which, id, n };
    char *raw = e->raw;
    for (uint32_t rest = which; rest; rest &= rest - 1) {
        tg_sv v = f->v[__builtin_ctz(rest)];
        memcpy(raw, v.p, v.n);
        raw[v.n] = '\0';
        raw += v.n + 1;
    }
    c->kept.n += room;
    c->n++;
    *slot = (uint32_t)(at / 8 + 1);
}

static uint32_t canonical(struct tg_attr_cache *c, struct tg_strmap *attrs, uint32_t which,
                          const struct tg_attr_values *f)
{
    tg_buf_clear(&c->text);
    tg_attrs_put(&c->text, which, f);
    return c->text.n ? tg_strmap_add(attrs, tg_buf_sv(&c->text)) : TG_NO_ID;
}

uint32_t tg_attr_cache_id(struct tg_attr_cache *c, struct tg_strmap *attrs, enum tg_kind kind,
                          const struct tg_attr_values *f)
{
    uint32_t which = tg_attrs_of_kind(kind, f), id;
    uint64_t h = which;
    size_t i;
    if (!which)
        return TG_NO_ID;
    if (which & NEVER_REPEATS)
        return canonical(c, attrs, which, f);
    for (uint32_t rest = which; rest; rest &= rest - 1) {
        tg_sv v = f->v[__builtin_ctz(rest)];
        h = tg_text_hash(v.p, v.n, h);
    }
    for (i = (size_t)h & (SLOTS - 1); c->slot[i]; i = (i + 1) & (SLOTS - 1)) {
        const struct tg_attr_cached *e = (const void *)(c->kept.p + (size_t)(c->slot[i] - 1) * 8);
        if (e->hash == h && is_same(e, which, f))
            return e->id;
    }
    id = canonical(c, attrs, which, f);
    keep(c, &c->slot[i], h, which, f, id);
    return id;
}
