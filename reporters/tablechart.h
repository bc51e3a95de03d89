#ifndef TG_REPORTERS_TABLECHART_H
#define TG_REPORTERS_TABLECHART_H
/*
 * The tables of an analysis as charts: stacked bars (temporal, idle, overlap, kernel-types, skew,
 * modules, sources) and steps over time (bandwidth-series, queue-series). SVG that needs no other
 * file, light and dark, every part with a title for hover and screen readers. Pure: tables in,
 * bytes out.
 */
#include "core/analysis/table.h"
#include "core/base/buf.h"

/*
 * The tables that have a chart, and the file's name ("temporal" -> temporal.svg). NULL-terminated.
 */
struct tg_tablechart {
    const char *frame, *file;
};
extern const struct tg_tablechart tg_tablecharts[];

/* False: nothing to draw (no rows with values, or a table without a chart). */
bool tg_tablechart_svg(struct tg_buf *out, const struct tg_table *f);
#endif
