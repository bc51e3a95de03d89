#include "reporters/texttable.h"

#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/utf8.h"
#include "reporters/escape.h"

enum { GAP = 2 };

void tg_texttable_release(struct tg_texttable *g)
{
    tg_buf_release(&g->text);
    free(g->cells);
    *g = (struct tg_texttable){ 0 };
}

void tg_texttable_cell(struct tg_texttable *g, enum tg_tint tint)
{
    *TG_PUSH(g->cells, g->n, g->cap) = (struct tg_texttable_cell){ g->text.n, tint };
}

void tg_tint_on(struct tg_buf *out, enum tg_tint tint, bool color)
{
    static const char *const code[] = { "", "\033[31m", "\033[32m", "\033[33m", "\033[2m" };
    if (color)
        tg_buf_puts(out, code[tint]);
}

void tg_tint_off(struct tg_buf *out, enum tg_tint tint, bool color)
{
    if (color && tint)
        tg_buf_puts(out, "\033[0m");
}

tg_sv tg_texttable_text(const struct tg_texttable *g, size_t i)
{
    size_t at = i ? g->cells[i - 1].end : 0;
    return (tg_sv){ tg_buf_sv(&g->text).p + at, g->cells[i].end - at };
}

struct layout {
    size_t width;
    bool shown;
}; /* of a column */

static bool can_shrink(const struct tg_texttable *g, const struct layout *l, size_t c)
{
    return l[c].shown && g->columns[c].least && l[c].width > g->columns[c].least;
}

/* Of all columns; `least`: as far as they can shrink. */
static size_t total_width(const struct tg_texttable *g, const struct layout *l, bool least)
{
    size_t sum = 0, slack = 0;
    for (size_t c = 0; c < g->n_columns; c++) {
        if (l[c].shown)
            sum += l[c].width + (sum ? GAP : 0);
        if (least && can_shrink(g, l, c))
            slack += l[c].width - g->columns[c].least;
    }
    return sum - slack;
}

static void fit(const struct tg_texttable *g, struct layout *l, size_t width)
{
    for (size_t c = 0; c < g->n_columns; c++)
        l[c] = (struct layout){ tg_utf8_count(tg_sv_of(g->columns[c].title)), true };
    for (size_t i = 0; i < g->n; i++) {
        size_t w = tg_utf8_count(tg_texttable_text(g, i)), *at = &l[i % g->n_columns].width;
        *at = w > *at ? w : *at;
    }
    for (size_t c = 0; c < g->n_columns; c++)
        if (g->columns[c].most && l[c].width > g->columns[c].most)
            l[c].width = g->columns[c].most;
    for (struct layout *worst = l; worst && total_width(g, l, true) > width;) {
        worst = NULL;
        for (size_t c = 0; c < g->n_columns; c++)
            if (l[c].shown && g->columns[c].drop &&
                (!worst || g->columns[c].drop > g->columns[worst - l].drop))
                worst = &l[c];
        if (worst)
            worst->shown = false;
    }
    /* Takes from the widest, so that short columns stay whole. */
    for (struct layout *widest = l; widest && total_width(g, l, false) > width;) {
        widest = NULL;
        for (size_t c = 0; c < g->n_columns; c++)
            if (can_shrink(g, l, c) && (!widest || l[c].width > widest->width))
                widest = &l[c];
        if (widest)
            widest->width--;
    }
}

static void put_blanks(struct tg_buf *out, size_t n)
{
    tg_buf_printf(out, "%*s", (int)n, "");
}

static void put_row(const struct tg_texttable *g, const struct layout *l, struct tg_buf *out,
                    size_t indent, size_t row)
{
    bool first = true;
    put_blanks(out, indent);
    for (size_t c = 0; c < g->n_columns; c++) {
        bool head = row == SIZE_MAX;
        size_t i = head ? 0 : row * g->n_columns + c;
        if (!l[c].shown)
            continue;
        if (!first)
            put_blanks(out, GAP);
        first = false;
        size_t width = l[c].width;
        enum tg_tint tint = head ? TG_TINT_DIM : g->cells[i].tint;
        TG_BUF fitting = { 0 };
        tg_shorten(&fitting, head ? tg_sv_of(g->columns[c].title) : tg_texttable_text(g, i), width);
        size_t w = tg_utf8_count(tg_buf_sv(&fitting));
        if (g->columns[c].right)
            put_blanks(out, width - w);
        tg_tint_on(out, tint, g->color);
        tg_buf_add(out, tg_buf_sv(&fitting));
        tg_tint_off(out, tint, g->color);
        if (!g->columns[c].right)
            put_blanks(out, width - w);
    }
    while (out->n && out->p[out->n - 1] == ' ')
        out->n--;
    tg_buf_putc(out, '\n');
}

void tg_texttable_widths(const struct tg_texttable *g, size_t width, size_t *widths)
{
    TG_FREE struct layout *l = tg_xmalloc((g->n_columns + 1) * sizeof *l);
    fit(g, l, width);
    for (size_t c = 0; c < g->n_columns; c++)
        widths[c] = l[c].shown ? l[c].width : 0;
}

void tg_texttable_write(const struct tg_texttable *g, struct tg_buf *out, size_t indent,
                        size_t width)
{
    TG_FREE struct layout *l = tg_xmalloc((g->n_columns + 1) * sizeof *l);
    fit(g, l, width > indent ? width - indent : 0);
    put_row(g, l, out, indent, SIZE_MAX);
    for (size_t row = 0; g->n_columns && row < g->n / g->n_columns; row++)
        put_row(g, l, out, indent, row);
}
