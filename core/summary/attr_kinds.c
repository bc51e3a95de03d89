#include "core/summary/internal.h"

/* By text, since rows keep their attributes in that order. */
enum { BYTES, COLLECTIVE, LAUNCH, SHAPES, TYPES };

tg_sv tg_attr_kind(unsigned k)
{
    static const tg_sv kinds[TG_ATTR_KINDS] = {
        { "bytes", 5 }, { "collective", 10 }, { "launch", 6 }, { "shapes", 6 }, { "types", 5 }
    };
    return kinds[k];
}

unsigned tg_attr_code(tg_sv kind)
{
    unsigned k = 0;
    while (k < TG_ATTR_KINDS && !tg_sv_eq(kind, tg_attr_kind(k)))
        k++;
    return k;
}

static const struct {
    const char *key;
    int kind; /* -1: not exact (measured, differs from run to run) */
    bool bare;
} keys[] = {
    { "grid", LAUNCH, false },
    { "block", LAUNCH, false },
    { "registers", LAUNCH, false },
    { "shared", LAUNCH, false },
    { "occupancy", LAUNCH, false },
    { "collective", COLLECTIVE, false },
    { "dtype", COLLECTIVE, false },
    { "nelems_in", COLLECTIVE, false },
    { "nelems_out", COLLECTIVE, false },
    { "group_size", COLLECTIVE, false },
    { "group", COLLECTIVE, false },
    { "bytes", BYTES, true },
    { "bandwidth", -1, false },
    { "shapes", SHAPES, true },
    { "types", TYPES, true },
};

/* AMD writes bytes as text: "123" and 123 are one attribute. */
static tg_sv unquoted(tg_sv s)
{
    return s.n >= 2 && s.p[0] == '"' && s.p[s.n - 1] == '"' ? (tg_sv){ s.p + 1, s.n - 2 } : s;
}

void tg_attr_split(tg_sv text, struct tg_buf value[TG_ATTR_KINDS])
{
    for (int k = 0; k < TG_ATTR_KINDS; k++)
        tg_buf_clear(&value[k]);
    while (text.n) {
        tg_sv line = tg_sv_cut(&text, '\n'), rest = line, key = tg_sv_cut(&rest, '=');
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            struct tg_buf *to;
            if (!tg_sv_eq(key, tg_sv_of(keys[i].key)) || keys[i].kind < 0)
                continue;
            to = &value[keys[i].kind];
            if (to->n)
                tg_buf_putc(to, '\n');
            tg_buf_add(to, !keys[i].bare ? line : keys[i].kind == BYTES ? unquoted(rest) : rest);
        }
    }
}
