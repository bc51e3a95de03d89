#ifndef TG_REPORTERS_SVG_H
#define TG_REPORTERS_SVG_H
/* What all charts share: the element itself, fonts and background in light and dark, the distance
 * of ticks. SVG that needs no other file. */
#include "core/base/buf.h"

/* Begins the rules of a style; the second those for dark surroundings. */
#define TG_SVG_LIGHT                                                                               \
    "    text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Liberation Sans','DejaVu "    \
    "Sans',sans-serif;font-size:12px;fill:#1f2328}\n"                                              \
    "    .bg{fill:#fff;stroke:#d1d9e0}.title{font-size:17px;font-weight:600}\n"
#define TG_SVG_DARK                                                                                \
    "    @media (prefers-color-scheme:dark){\n"                                                    \
    "      text{fill:#f0f6fc}.bg{fill:#0d1117;stroke:#3d444d}"

/* The opening tag; `more`: further attributes, or "". */
void tg_svg_open(struct tg_buf *out, size_t width, size_t height, const char *more);
/* 1, 2 or 5 times a power of ten, so that about `steps` of them span `range`, which is above 0. */
double tg_svg_step(double range, int steps);
#endif
