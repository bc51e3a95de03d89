#ifndef TG_REPORTERS_CHART_H
#define TG_REPORTERS_CHART_H
/*
 * A diverging bar chart as SVG: what grew to the right, what shrank to the left, numbers in
 * columns. Made to be read through <img>: no scripts, no fonts or styles from outside, both colour
 * schemes. Bars of added or removed names are hatched; up and down differ by side, sign and colour
 * (orange, blue), so that nobody needs to see colours. The layout depends on the rows alone. As a
 * verdict sees them (TG_BASIS_JUDGED) durations end with what was judged and is not noise.
 */
#include "reporters/reporter.h"
#include "reporters/rows.h"

struct tg_chart {
    const struct tg_comparison *comparison;
    const struct tg_verdict *v; /* whose rows they are; NULL: of a comparison */
    const uint32_t *rows;       /* NULL: all of the comparison that are work */
    size_t n_rows;
    enum tg_basis basis;
    bool durations;
    /* keep_steps; top; narrow: a row is two lines, and only the change has a number; share: bars
     * and changes of durations as parts of the step, in percent; by WHOLE it is ignored */
    const struct tg_render *render;
    tg_sv title, sub;   /* hostile text allowed, */
    const tg_sv *notes; /* and here: a line each at the bottom */
    size_t n_notes;
};
void tg_chart_svg(struct tg_buf *out, const struct tg_chart *chart);
#endif
