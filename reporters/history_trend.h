#ifndef TG_REPORTERS_HISTORY_TREND_H
#define TG_REPORTERS_HISTORY_TREND_H
/*
 * One series of a history as a drawing: its value night after night, the band of its noise, events,
 * environment changes, releases, and the newest night. SVG elements for a page or a file; styles
 * are the classes of page/history.css, so nothing here has a colour.
 *
 * The band of a level is the middle 80 % of its nights, drawn from five nights on. A level ends
 * where the series changed or the environment did. Equal spacing: a night is a place, not a date.
 */
#include "reporters/history.h"

struct tg_trend_box {
    double x, y, width, height; /* of the whole drawing, in px */
    bool small;                 /* no axes, one line of text above */
};

/* <g class="trend">…</g>; nights from suite->first on. */
void tg_trend_put(struct tg_buf *out, const struct tg_history_suite *s, uint32_t series,
                  const struct tg_trend_box *box);
/* A line for a table's cell, 2 px per night and 22 px high: <svg class="spark">, about 4 bytes per
 * night. The newest TG_SPARK_NIGHTS nights. */
enum { TG_SPARK_NIGHTS = 60 };
void tg_trend_put_spark(struct tg_buf *out, const struct tg_history_suite *s, uint32_t series);
/* A whole file: the first series large, the others as small multiples. */
void tg_trend_svg(struct tg_buf *out, const struct tg_history_suite *s);
#endif
