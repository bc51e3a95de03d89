#include "reporters/tablechart.h"

#include <string.h>

const struct tg_tablechart tg_tablecharts[] = {
    { "temporal", "temporal" },
    { "idle", "idle" },
    { "overlap", "overlap" },
    { "kernel-types", "kernel-types" },
    { "bandwidth-series", "bandwidth" },
    { "queue-series", "queue" },
    { "skew", "skew" },
    { "modules", "modules" },
    { "sources", "sources" },
    { NULL, NULL },
};

bool tg_tablechart_svg(struct tg_buf *out, const struct tg_table *f)
{
    if (!f->n_rows)
        return false;
    if (strcmp(f->name, "queue-series") == 0 || strcmp(f->name, "bandwidth-series") == 0)
        return tg_tablechart_lines(out, f);
    return tg_tablechart_bars(out, f);
}
