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

/* ---- its parts: tablechart_bars.c, tablechart_lines.c, and tablechart_sheet.c for both ---- */

bool tg_tablechart_bars(struct tg_buf *out, const struct tg_table *f);
bool tg_tablechart_lines(struct tg_buf *out, const struct tg_table *f);

enum { /* px */
       TG_TABLECHART_WIDTH = 960,
       TG_TABLECHART_MARGIN = 24,
       TG_TABLECHART_HEAD = 88,
       TG_TABLECHART_FOOT = 48,
       TG_TABLECHART_RIGHT = TG_TABLECHART_WIDTH - TG_TABLECHART_MARGIN
};
/* Times in us, whatever the column's type; NaN: not known, or there is no such column. */
double tg_tablechart_number(const struct tg_table *f, size_t row, const char *column);
tg_sv tg_tablechart_text(const struct tg_table *f, size_t row, const char *column); /* "" */
/* Does a rank have several devices? If not, their numbers are not needed. */
bool tg_tablechart_has_devices(const struct tg_table *f);
/* "rank 0, device 1, stream 7", as far as the row has them. */
void tg_tablechart_label(char *to, size_t size, const struct tg_table *f, size_t row, bool devices);
/* As in text reports, but with the sign for micro. */
void tg_tablechart_put_us(struct tg_buf *out, double us);

enum tg_tablechart_parts { TG_TABLECHART_BARS, TG_TABLECHART_LINES };
/* The sheet with its title; then the parts' colors, and ticks every few of `us`. */
void tg_tablechart_open(struct tg_buf *out, int height, const char *title, const char *sub);
void tg_tablechart_legend(struct tg_buf *out, const char *const *names, size_t n,
                          enum tg_tablechart_parts parts);
void tg_tablechart_time_ticks(struct tg_buf *out, double us, int x, int w, int top, int bottom);
/* Of the i-th line: the grey of "idle" would be hard to see. */
size_t tg_tablechart_colour(size_t i);
#endif
