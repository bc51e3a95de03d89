#include "core/trace/attrs.h"

#include "core/trace/scan.h"

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

uint32_t tg_attrs_of_kind(enum tg_kind kind, const struct tg_attr_values *f)
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

void tg_attrs_put(struct tg_buf *out, uint32_t which, const struct tg_attr_values *f)
{
    for (int i = 0; i < TG_ATTRS; i++) {
        if (!(which & BIT(i)) || tg_sv_eq(f->v[i], TG_SV("null")))
            continue;
        if (out->n)
            tg_buf_putc(out, '\n');
        tg_buf_puts(out, attrs[i].name);
        tg_buf_putc(out, '=');
        put_compact(out, f->v[i]);
    }
}
