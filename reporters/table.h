#ifndef TG_REPORTERS_TABLE_H
#define TG_REPORTERS_TABLE_H
/* A table of an analysis as text for people, CSV or JSON: what `analyze` and `names` print. An
 * unknown value is "-" or empty in text, empty in CSV, null in JSON, never 0. */
#include "core/analysis/table.h"
#include "core/base/buf.h"

/*
 * For people: the numbers of a column share a unit, names are short (label.h) where they do not
 * fit, what all rows share is said once above, and columns at the right are dropped until a line
 * fits in `columns` (0: any width). TG_TABLE_WHOLE: any width, and names as they are. The last line
 * says how many columns and rows, after `max_rows` (0: all), are missing.
 */
enum { TG_TABLE_WHOLE = -1 };
void tg_table_as_text(struct tg_buf *out, const struct tg_table *t, int columns, size_t max_rows);
void tg_table_as_csv(struct tg_buf *out, const struct tg_table *t);
/* {"schema": SCHEMA, "measure": NAME, "rows": [...]} */
void tg_table_as_json(struct tg_buf *out, const struct tg_table *t, const char *schema);
/* {"schema": SCHEMA, "measures": {NAME: [...]}} */
void tg_tables_as_json(struct tg_buf *out, const struct tg_tables *tables, const char *schema);

/*
 * The tables of an analysis as charts: stacked bars (temporal, idle, overlap, kernel-types, skew,
 * modules, sources) and steps over time (bandwidth-series, queue-series). SVG that needs no other
 * file, light and dark, every part with a title for hover and screen readers. Pure: tables in,
 * bytes out.
 */
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
