#include "core/trace/facts.h"

#include "core/trace/kineto.h"

struct fact {
    tg_sv key;
    const char *name;
};

static const struct fact kernel_facts[] = {
    { { "grid", 4 }, "grid" },
    { { "block", 5 }, "block" },
    { { "registers per thread", 20 }, "registers" },
    { { "shared memory", 13 }, "shared" },
    { { "est. achieved occupancy %", 25 }, "occupancy" },
    { { "Collective name", 15 }, "collective" },
    { { "dtype", 5 }, "dtype" },
    { { "In msg nelems", 13 }, "nelems_in" },
    { { "Out msg nelems", 14 }, "nelems_out" },
    { { "Group size", 10 }, "group_size" },
    { { "Process Group Name", 18 }, "group" },
};
static const struct fact copy_facts[] = {
    { { "bytes", 5 }, "bytes" },
    { { "memory bandwidth (GB/s)", 23 }, "bandwidth" },
};
static const struct fact op_facts[] = {
    { { "Input Dims", 10 }, "shapes" },
    { { "Input type", 10 }, "types" },
};
#define COUNT(a) (sizeof(a) / sizeof *(a))
#define MOST COUNT(kernel_facts)

static size_t facts_of(enum tg_kind kind, const struct fact **facts)
{
    switch (kind) {
    case TG_KIND_KERNEL:
        *facts = kernel_facts;
        return COUNT(kernel_facts);
    case TG_KIND_MEMCPY:
    case TG_KIND_MEMSET:
        *facts = copy_facts;
        return COUNT(copy_facts);
    case TG_KIND_OP:
        *facts = op_facts;
        return COUNT(op_facts);
    default:
        return 0;
    }
}

static struct tg_scan scan_of(tg_sv args)
{
    return (struct tg_scan){ .p = args.p + 1,
                             .start = args.p,
                             .end = args.p + args.n,
                             .last = true,
                             .depth = 1,
                             .max_depth = TG_SCAN_DEPTH };
}

/* Raw JSON without the blanks between tokens. A text keeps its quotes. */
static void put_compact(struct tg_buf *out, const struct tg_value *v)
{
    bool in_text = false;
    if (v->type == TG_TOKEN_STRING) {
        tg_buf_add(out, (tg_sv){ v->raw.p - 1, v->raw.n + 2 });
        return;
    }
    for (size_t i = 0; i < v->raw.n; i++) {
        char c = v->raw.p[i];
        if (in_text && c == '\\' && i + 1 < v->raw.n) {
            tg_buf_add(out, (tg_sv){ v->raw.p + i++, 2 });
            continue;
        }
        in_text ^= c == '"';
        if (in_text || !tg_is_blank(c))
            tg_buf_putc(out, c);
    }
}

void tg_facts_put(struct tg_buf *out, enum tg_kind kind, tg_sv args)
{
    const struct fact *facts = NULL;
    struct tg_value found[MOST], key, value;
    size_t n = facts_of(kind, &facts);
    struct tg_scan s = scan_of(args);
    bool first = true;
    if (!n || !args.n)
        return;
    memset(found, 0, sizeof found);
    while (tg_scan_member(&s, &first, &key) > 0 && tg_scan_value(&s, &value))
        for (size_t i = 0; i < n; i++)
            if (tg_kineto_key(&key, facts[i].key))
                found[i] = value;
    for (size_t i = 0; i < n; i++) {
        if (found[i].type == TG_TOKEN_NULL)
            continue;
        if (out->n)
            tg_buf_putc(out, '\n');
        tg_buf_puts(out, facts[i].name);
        tg_buf_putc(out, '=');
        put_compact(out, &found[i]);
    }
}

void tg_facts_memory(struct tg_memory_event *out, tg_sv args)
{
    struct tg_scan s = scan_of(args);
    struct tg_value key, value;
    bool first = true;
    *out = (struct tg_memory_event){ out->ts, -1, -1, 0, -1, -1 };
    if (!args.n)
        return;
    while (tg_scan_member(&s, &first, &key) > 0 && tg_scan_value(&s, &value)) {
        if (tg_kineto_key(&key, TG_SV("Device Type")))
            out->device_type = tg_kineto_int(&value, -1);
        else if (tg_kineto_key(&key, TG_SV("Device Id")))
            out->device = tg_kineto_int(&value, -1);
        else if (tg_kineto_key(&key, TG_SV("Bytes")))
            out->bytes = tg_kineto_int(&value, 0);
        else if (tg_kineto_key(&key, TG_SV("Total Allocated")))
            out->total_allocated = tg_kineto_int(&value, -1);
        else if (tg_kineto_key(&key, TG_SV("Total Reserved")))
            out->total_reserved = tg_kineto_int(&value, -1);
    }
}
