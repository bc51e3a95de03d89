/* What bars and lines share: cells of a table, the sheet, the colors, ticks of time. */
#include "reporters/tablechart.h"

#include <math.h>
#include <stdio.h>

#include "core/base/decimal.h"
#include "core/base/utf8.h"
#include "reporters/escape.h"
#include "reporters/svg_ground.h"

enum { MARGIN = TG_TABLECHART_MARGIN };

/* Six colours that stay apart under the common colour vision deficiencies (after Okabe and Ito),
 * brighter on dark; "nothing happens" is grey. Neighbours in a bar also have a gap between them. */
static const char style[] =
    "  <style>\n" TG_SVG_LIGHT
    "    .sub,.tick{fill:#59636e}.tick{font-size:11px}.num{font-variant-numeric:tabular-nums}\n"
    "    .end{text-anchor:end}.mid{text-anchor:middle}.grid{stroke:#e6eaef}.zero{stroke:#818b98}\n"
    "    .c0{fill:#0a66c2}.c1{fill:#e08214}.c2{fill:#c9d1d9}.c3{fill:#1b7f5c}.c4{fill:#b3428f}"
    ".c5{fill:#7a6a00}\n"
    "    .l{fill:none;stroke-width:1.4}.l0{stroke:#0a66c2}.l1{stroke:#e08214}.l2{stroke:#6e7781}"
    ".l3{stroke:#1b7f5c}.l4{stroke:#b3428f}.l5{stroke:#7a6a00}\n" TG_SVG_DARK
    ".sub,.tick{fill:#9198a1}\n"
    "      .grid{stroke:#262c36}.zero{stroke:#656c76}.c0{fill:#58a6ff}.c1{fill:#f0a04b}"
    ".c2{fill:#3d444d}.c3{fill:#3fb68b}.c4{fill:#e07fc0}.c5{fill:#d8c84a}\n"
    "      .l0{stroke:#58a6ff}.l1{stroke:#f0a04b}.l2{stroke:#9198a1}.l3{stroke:#3fb68b}"
    ".l4{stroke:#e07fc0}.l5{stroke:#d8c84a}\n"
    "    }\n"
    "  </style>\n";

/* ---- cells ---- */

/* Its place; n_columns: there is none. */
static size_t column_of(const struct tg_table *f, const char *name)
{
    for (size_t k = 0; k < f->n_columns; k++)
        if (strcmp(f->columns[k].name, name) == 0)
            return k;
    return f->n_columns;
}

double tg_tablechart_number(const struct tg_table *f, size_t row, const char *column)
{
    size_t col = column_of(f, column);
    if (col >= f->n_columns)
        return NAN;
    const struct tg_table_cell *c = tg_table_at(f, row, col);
    if (!c->known || f->columns[col].type == TG_TABLE_TEXT)
        return NAN;
    return tg_table_number(f, row, col);
}

tg_sv tg_tablechart_text(const struct tg_table *f, size_t row, const char *column)
{
    size_t col = column_of(f, column);
    const struct tg_table_cell *c = col < f->n_columns ? tg_table_at(f, row, col) : NULL;
    return c && c->known && f->columns[col].type == TG_TABLE_TEXT ? c->is.text : TG_SV("");
}

void tg_tablechart_put_us(struct tg_buf *out, double us)
{
    tg_dec_put_human_ns(out, us * 1000);
    if (tg_sv_ends(tg_buf_sv(out), TG_SV(" us"))) {
        out->n -= 2;
        tg_buf_puts(out, "\xc2\xb5s");
    }
}

bool tg_tablechart_has_devices(const struct tg_table *f)
{
    for (size_t r = 1; r < f->n_rows; r++)
        if (tg_tablechart_number(f, r, "rank") == tg_tablechart_number(f, r - 1, "rank") &&
            tg_tablechart_number(f, r, "device") >= 0 &&
            tg_tablechart_number(f, r - 1, "device") >= 0 &&
            tg_tablechart_number(f, r, "device") != tg_tablechart_number(f, r - 1, "device"))
            return true;
    return false;
}

void tg_tablechart_label(char *to, size_t size, const struct tg_table *f, size_t row, bool devices)
{
    static const char *const keys[] = { "rank", "device", "stream" };
    size_t at = 0;
    to[0] = '\0';
    for (size_t k = 0; k < 3 && at < size; k++) {
        double v = tg_tablechart_number(f, row, keys[k]);
        if (v == v && (devices || k != 1))
            at += (size_t)snprintf(to + at, size - at, "%s%s %.0f", at ? ", " : "", keys[k], v);
    }
}

/* ---- the sheet ---- */

void tg_tablechart_open(struct tg_buf *out, int height, const char *title, const char *sub)
{
    tg_svg_open(out, TG_TABLECHART_WIDTH, (size_t)height, " aria-labelledby=\"t\"");
    tg_buf_printf(out, "  <title id=\"t\">%s: %s</title>\n", title, sub);
    tg_buf_puts(out, style);
    tg_buf_printf(out,
                  "  <rect class=\"bg\" x=\".5\" y=\".5\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n"
                  "  <text class=\"title\" x=\"%d\" y=\"34\">%s</text>\n"
                  "  <text class=\"sub\" x=\"%d\" y=\"53\">%s</text>\n",
                  TG_TABLECHART_WIDTH - 1, height - 1, MARGIN, title, MARGIN, sub);
}

size_t tg_tablechart_colour(size_t i)
{
    return i < 2 ? i : i + 1;
}

void tg_tablechart_legend(struct tg_buf *out, const char *const *names, size_t n,
                          enum tg_tablechart_parts parts)
{
    int x = MARGIN;
    for (size_t k = 0; k < n; k++) {
        tg_buf_printf(out,
                      "  <rect class=\"c%zu\" x=\"%d\" y=\"65\" width=\"11\" height=\"11\" "
                      "rx=\"2\"/><text x=\"%d\" y=\"75\">",
                      parts == TG_TABLECHART_LINES ? tg_tablechart_colour(k) : k, x, x + 16);
        TG_PUT(out, tg_esc_xml, "{}</text>\n", tg_sv_of(names[k]));
        x += 16 + (int)(7 * tg_utf8_count(tg_sv_of(names[k]))) + 22;
    }
}

void tg_tablechart_time_ticks(struct tg_buf *out, double us, int x, int w, int top, int bottom)
{
    double step = tg_svg_step(us, 5);
    for (double t = 0; t <= us * 1.0001; t += step) {
        double at = x + w * t / us;
        tg_buf_printf(out,
                      "  <line class=\"grid\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>"
                      "<text class=\"tick mid\" x=\"%.1f\" y=\"%d\">",
                      at, top, at, bottom, at, bottom + 17);
        if (t > 0)
            tg_tablechart_put_us(out, t);
        else
            tg_buf_puts(out, "0");
        tg_buf_puts(out, "</text>\n");
    }
}
