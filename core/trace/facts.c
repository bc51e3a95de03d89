#include "core/trace/facts.h"

#include "core/trace/scan.h"

#define BIT(fact) ((uint32_t)1 << (fact))

static const struct {
    tg_sv key; /* in args */
    const char *name;
} facts[TG_FACTS] = {
    [TG_FACT_GRID] = { { "grid", 4 }, "grid" },
    [TG_FACT_BLOCK] = { { "block", 5 }, "block" },
    [TG_FACT_REGISTERS] = { { "registers per thread", 20 }, "registers" },
    [TG_FACT_SHARED] = { { "shared memory", 13 }, "shared" },
    [TG_FACT_OCCUPANCY] = { { "est. achieved occupancy %", 25 }, "occupancy" },
    [TG_FACT_COLLECTIVE] = { { "Collective name", 15 }, "collective" },
    [TG_FACT_DTYPE] = { { "dtype", 5 }, "dtype" },
    [TG_FACT_NELEMS_IN] = { { "In msg nelems", 13 }, "nelems_in" },
    [TG_FACT_NELEMS_OUT] = { { "Out msg nelems", 14 }, "nelems_out" },
    [TG_FACT_GROUP_SIZE] = { { "Group size", 10 }, "group_size" },
    [TG_FACT_GROUP] = { { "Process Group Name", 18 }, "group" },
    [TG_FACT_BYTES] = { { "bytes", 5 }, "bytes" },
    [TG_FACT_BANDWIDTH] = { { "memory bandwidth (GB/s)", 23 }, "bandwidth" },
    [TG_FACT_SHAPES] = { { "Input Dims", 10 }, "shapes" },
    [TG_FACT_TYPES] = { { "Input type", 10 }, "types" },
};

enum tg_fact_key tg_fact_of_key(tg_sv key)
{
    int i = 0;
    while (i < TG_FACTS && !tg_sv_eq(key, facts[i].key))
        i++;
    return (enum tg_fact_key)i;
}

uint32_t tg_facts_of_kind(enum tg_kind kind, const struct tg_fact_values *f)
{
    switch (kind) {
    case TG_KIND_KERNEL:
        return f->have & (BIT(TG_FACT_BYTES) - 1);
    case TG_KIND_MEMCPY:
    case TG_KIND_MEMSET:
        return f->have & (BIT(TG_FACT_BYTES) | BIT(TG_FACT_BANDWIDTH));
    case TG_KIND_OP:
        return f->have & (BIT(TG_FACT_SHAPES) | BIT(TG_FACT_TYPES));
    default:
        return 0;
    }
}

/* Raw JSON without the blanks between tokens. */
static void put_compact(struct tg_buf *out, tg_sv raw)
{
    bool in_text = false;
    for (size_t i = 0; i < raw.n; i++) {
        char c = raw.p[i];
        if (in_text && c == '\\' && i + 1 < raw.n) {
            tg_buf_add(out, (tg_sv){ raw.p + i++, 2 });
            continue;
        }
        in_text ^= c == '"';
        if (in_text || !tg_is_blank(c))
            tg_buf_putc(out, c);
    }
}

void tg_facts_put(struct tg_buf *out, uint32_t which, const struct tg_fact_values *f)
{
    for (int i = 0; i < TG_FACTS; i++) {
        if (!(which & BIT(i)) || tg_sv_eq(f->v[i], TG_SV("null")))
            continue;
        if (out->n)
            tg_buf_putc(out, '\n');
        tg_buf_puts(out, facts[i].name);
        tg_buf_putc(out, '=');
        put_compact(out, f->v[i]);
    }
}
