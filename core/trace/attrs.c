#include "core/trace/attrs.h"

#include <stdlib.h>

#include "core/trace/scan.h"
#include "core/trace/text.h"

#define BIT(attr) ((uint32_t)1 << (attr))

static const struct {
    tg_sv key; /* in args */
    const char *name;
} attrs[TG_ATTRS] = {
    [TG_ATTR_GRID] = { { "grid", 4 }, "grid" },
    [TG_ATTR_BLOCK] = { { "block", 5 }, "block" },
    [TG_ATTR_REGISTERS] = { { "registers per thread", 20 }, "registers" },
    [TG_ATTR_SHARED] = { { "shared memory", 13 }, "shared" },
    [TG_ATTR_OCCUPANCY] = { { "est. achieved occupancy %", 25 }, "occupancy" },
    [TG_ATTR_COLLECTIVE] = { { "Collective name", 15 }, "collective" },
    [TG_ATTR_DTYPE] = { { "dtype", 5 }, "dtype" },
    [TG_ATTR_NELEMS_IN] = { { "In msg nelems", 13 }, "nelems_in" },
    [TG_ATTR_NELEMS_OUT] = { { "Out msg nelems", 14 }, "nelems_out" },
    [TG_ATTR_GROUP_SIZE] = { { "Group size", 10 }, "group_size" },
    [TG_ATTR_GROUP] = { { "Process Group Name", 18 }, "group" },
    [TG_ATTR_GROUP_RANKS] = { { "Process Group Ranks", 19 }, "group_ranks" },
    [TG_ATTR_SEQ] = { { "Seq", 3 }, "seq" },
    [TG_ATTR_COMMS_ID] = { { "Comms Id", 8 }, "comms_id" },
    [TG_ATTR_BYTES] = { { "bytes", 5 }, "bytes" },
    [TG_ATTR_BANDWIDTH] = { { "memory bandwidth (GB/s)", 23 }, "bandwidth" },
    [TG_ATTR_SHAPES] = { { "Input Dims", 10 }, "shapes" },
    [TG_ATTR_TYPES] = { { "Input type", 10 }, "types" },
};

enum tg_attr_key tg_attr_of_key(tg_sv key)
{
    int i = 0;
    while (i < TG_ATTRS && !tg_sv_eq(key, attrs[i].key))
        i++;
    return (enum tg_attr_key)i;
}

/* The attributes that events of this kind have, of those in `have`. */
static uint32_t of_kind(enum tg_kind kind, const struct tg_attr_values *f)
{
    switch (kind) {
    case TG_KIND_KERNEL:
        return f->have & (BIT(TG_ATTR_BYTES) - 1);
    case TG_KIND_MEMCPY:
    case TG_KIND_MEMSET:
        return f->have & (BIT(TG_ATTR_BYTES) | BIT(TG_ATTR_BANDWIDTH));
    case TG_KIND_OP:
        return f->have & (BIT(TG_ATTR_SHAPES) | BIT(TG_ATTR_TYPES));
    default:
        return 0;
    }
}

/* Raw JSON without the blanks between tokens. */
static void put_compact(struct tg_buf *out, tg_sv raw)
{
    char *to = tg_buf_room(out, raw.n);
    bool in_text = false;
    for (size_t i = 0; i < raw.n; i++) {
        char c = raw.p[i];
        in_text ^= c == '"';
        if (in_text || !tg_is_blank(c))
            *to++ = c;
        if (in_text && c == '\\' && i + 1 < raw.n)
            *to++ = raw.p[++i];
    }
    *to = '\0';
    out->n = (size_t)(to - out->p);
}

/* TG_NO_ID: there are no attributes. */
static uint32_t canonical(struct tg_attr_cache *c, struct tg_strmap *ids, uint32_t which,
                          const struct tg_attr_values *f)
{
    struct tg_buf *out = &c->text;
    tg_buf_clear(out);
    for (int i = 0; i < TG_ATTRS; i++) {
        if (!(which & BIT(i)) || tg_sv_eq(f->v[i], TG_SV("null")))
            continue;
        if (out->n)
            tg_buf_putc(out, '\n');
        tg_buf_puts(out, attrs[i].name);
        tg_buf_putc(out, '=');
        put_compact(out, f->v[i]);
    }
    return out->n ? tg_strmap_add(ids, tg_buf_sv(out)) : TG_NO_ID;
}

/* ---- those seen before ---- */

#define SLOTS ((size_t)1 << 15)
#define MOST (SLOTS / 2)
#define BYTES_MOST ((size_t)8 << 20)
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

uint32_t tg_attr_cache_id(struct tg_attr_cache *c, struct tg_strmap *ids, enum tg_kind kind,
                          const struct tg_attr_values *f)
{
    uint32_t which = of_kind(kind, f), id;
    uint64_t h = which;
    size_t i;
    if (!which)
        return TG_NO_ID;
    if (which & NEVER_REPEATS)
        return canonical(c, ids, which, f);
    for (uint32_t rest = which; rest; rest &= rest - 1) {
        tg_sv v = f->v[__builtin_ctz(rest)];
        h = tg_text_hash(v.p, v.n, h);
    }
    for (i = (size_t)h & (SLOTS - 1); c->slot[i]; i = (i + 1) & (SLOTS - 1)) {
        const struct tg_attr_cached *e = (const void *)(c->kept.p + (size_t)(c->slot[i] - 1) * 8);
        if (e->hash == h && is_same(e, which, f))
            return e->id;
    }
    id = canonical(c, ids, which, f);
    keep(c, &c->slot[i], h, which, f, id);
    return id;
}
