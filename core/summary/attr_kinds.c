#include "core/summary/internal.h"

tg_sv tg_attr_kind_name(enum tg_attr_kind k)
{
    static const tg_sv names[TG_ATTR_KINDS] = {
        [TG_ATTR_KIND_BYTES] = { "bytes", 5 },   [TG_ATTR_KIND_COLLECTIVE] = { "collective", 10 },
        [TG_ATTR_KIND_LAUNCH] = { "launch", 6 }, [TG_ATTR_KIND_SHAPES] = { "shapes", 6 },
        [TG_ATTR_KIND_TYPES] = { "types", 5 },   [TG_ATTR_KIND_WHICH] = { "which", 5 },
    };
    return names[k];
}

static const struct {
    tg_sv key;
    int kind; /* -1: not exact (differs from run to run), or only for tg_collective_id_of */
    bool bare;
} keys[] = {
    { { "grid", 4 }, TG_ATTR_KIND_LAUNCH, false },
    { { "block", 5 }, TG_ATTR_KIND_LAUNCH, false },
    { { "registers", 9 }, TG_ATTR_KIND_LAUNCH, false },
    { { "shared", 6 }, TG_ATTR_KIND_LAUNCH, false },
    { { "occupancy", 9 }, TG_ATTR_KIND_LAUNCH, false },
    { { "collective", 10 }, TG_ATTR_KIND_COLLECTIVE, false },
    { { "dtype", 5 }, TG_ATTR_KIND_COLLECTIVE, false },
    { { "nelems_in", 9 }, TG_ATTR_KIND_COLLECTIVE, false },
    { { "nelems_out", 10 }, TG_ATTR_KIND_COLLECTIVE, false },
    { { "group_size", 10 }, TG_ATTR_KIND_COLLECTIVE, false },
    { { "group", 5 }, TG_ATTR_KIND_COLLECTIVE, false },
    { { "group_ranks", 11 }, -1, false },
    { { "seq", 3 }, -1, false },
    { { "comms_id", 8 }, -1, false },
    { { "bytes", 5 }, TG_ATTR_KIND_BYTES, true },
    { { "bandwidth", 9 }, -1, false },
    { { "shapes", 6 }, TG_ATTR_KIND_SHAPES, true },
    { { "types", 5 }, TG_ATTR_KIND_TYPES, true },
};

void tg_attr_split(tg_sv text, struct tg_buf value[TG_ATTR_KINDS])
{
    for (int k = 0; k < TG_ATTR_KINDS; k++)
        tg_buf_clear(&value[k]);
    while (text.n) {
        tg_sv line = tg_sv_cut(&text, '\n'), rest = line, key = tg_sv_cut(&rest, '=');
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            if (!tg_sv_eq(key, keys[i].key) || keys[i].kind < 0)
                continue;
            struct tg_buf *to = &value[keys[i].kind];
            if (to->n)
                tg_buf_putc(to, '\n');
            /* AMD writes bytes as text: "123" and 123 are one attribute. */
            tg_buf_add(to, !keys[i].bare                        ? line
                           : keys[i].kind == TG_ATTR_KIND_BYTES ? tg_sv_unquoted(rest)
                                                                : rest);
        }
    }
}
