#include "cmd/sheet.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/decimal.h"
#include "core/base/doc.h"
#include "core/base/utf8.h"
#include "reporters/csv.h"

void tg_sheet_init(struct tg_sheet *g, const struct tg_column *columns, size_t n,
                   struct tg_arena *a)
{
    *g = (struct tg_sheet){ .columns = columns, .n_columns = n, .arena = a };
}

void tg_sheet_release(struct tg_sheet *g)
{
    free(g->cells);
    g->cells = NULL;
}

struct tg_sheet_cell *tg_sheet_row(struct tg_sheet *g)
{
    struct tg_sheet_cell *row;
    g->cells = tg_grow(g->cells, &g->cap, (g->n_rows + 1) * g->n_columns, sizeof *g->cells);
    row = g->cells + g->n_rows++ * g->n_columns;
    memset(row, 0, g->n_columns * sizeof *row);
    return row;
}

void tg_cell_text(struct tg_sheet_cell *c, tg_sv s)
{
    *c = (struct tg_sheet_cell){ .known = true, .text = s };
}

void tg_cell_int(struct tg_sheet_cell *c, int64_t v)
{
    *c = (struct tg_sheet_cell){ .known = true, .i = v };
}

void tg_cell_us(struct tg_sheet_cell *c, tg_ns v)
{
    *c = (struct tg_sheet_cell){ .known = true, .i = v };
}

void tg_cell_real(struct tg_sheet_cell *c, double v)
{
    *c = (struct tg_sheet_cell){ .known = isfinite(v), .d = v };
}

/* The number of a cell; `fixed` decimals for people, all digits for machines when negative. */
static void put_number(struct tg_buf *out, enum tg_cell_type type, const struct tg_sheet_cell *c,
                       bool for_people)
{
    if (type == TG_CELL_INT)
        tg_dec_put_i64(out, c->i);
    else if (type == TG_CELL_US && for_people)
        tg_dec_put_fixed(out, (double)c->i / 1000, 3);
    else if (type == TG_CELL_US)
        tg_dec_put_us(out, c->i);
    else if (c->d == floor(c->d) && fabs(c->d) < 9e15)
        tg_dec_put_fixed(out, c->d, 0);
    else if (for_people)
        tg_dec_put_fixed(out, c->d, 3);
    else
        tg_dec_put_double(out, c->d);
}

void tg_sheet_csv(const struct tg_sheet *g, struct tg_buf *out)
{
    for (size_t k = 0; k < g->n_columns; k++)
        tg_buf_printf(out, "%s%s", k ? "," : "", g->columns[k].name);
    tg_buf_putc(out, '\n');
    for (size_t r = 0; r < g->n_rows; r++) {
        for (size_t k = 0; k < g->n_columns; k++) {
            const struct tg_sheet_cell *c = &g->cells[r * g->n_columns + k];
            if (k)
                tg_buf_putc(out, ',');
            if (c->known && g->columns[k].type == TG_CELL_TEXT)
                tg_csv_text(out, c->text);
            else if (c->known)
                put_number(out, g->columns[k].type, c, false);
        }
        tg_buf_putc(out, '\n');
    }
}

static void json_cell(struct tg_doc *row, const struct tg_column *col,
                      const struct tg_sheet_cell *c)
{
    if (!c->known)
        tg_doc_add_null(row, col->name);
    else if (col->type == TG_CELL_TEXT)
        tg_doc_add_str(row, col->name, c->text);
    else if (col->type == TG_CELL_INT)
        tg_doc_add_i64(row, col->name, c->i);
    else if (col->type == TG_CELL_US)
        tg_doc_add_num(row, col->name, tg_ns_to_us_double(c->i));
    else
        tg_doc_add_num(row, col->name, c->d);
}

void tg_sheet_json(const struct tg_sheet *g, const char *schema, const char *measure,
                   struct tg_buf *out)
{
    struct tg_doc *doc = tg_doc_new_object(), *rows;
    tg_doc_add_str(doc, "schema", tg_sv_of(schema));
    tg_doc_add_str(doc, "measure", tg_sv_of(measure));
    rows = tg_doc_add_array(doc, "rows");
    for (size_t r = 0; r < g->n_rows; r++) {
        struct tg_doc *row = tg_doc_add_object(rows, NULL);
        for (size_t k = 0; k < g->n_columns; k++)
            json_cell(row, &g->columns[k], &g->cells[r * g->n_columns + k]);
    }
    tg_doc_write(doc, true, out);
    tg_buf_putc(out, '\n');
    tg_doc_free(doc);
}

/* ---- text for people ---- */

static void cell_text(struct tg_buf *out, const struct tg_sheet *g, size_t r, size_t k)
{
    const struct tg_sheet_cell *c = &g->cells[r * g->n_columns + k];
    tg_buf_clear(out);
    tg_buf_room(out, 0);
    if (!c->known)
        tg_buf_puts(out, g->columns[k].type == TG_CELL_TEXT ? "" : "-");
    else if (g->columns[k].type == TG_CELL_TEXT)
        tg_utf8_visible(out, c->text);
    else
        put_number(out, g->columns[k].type, c, true);
}

/* Long names keep their beginning and their end: both tell kernels apart. */
static void put_cut(struct tg_buf *out, tg_sv s, size_t width)
{
    size_t n = tg_utf8_count(s), tail = width / 3;
    tg_sv head;
    if (n <= width) {
        tg_buf_add(out, s);
        return;
    }
    head = tg_utf8_prefix(s, width - tail - 1);
    tg_buf_add(out, head);
    tg_buf_puts(out, "…");
    for (size_t i = s.n > tail ? s.n - tail : 0; i < s.n; i++)
        if (((unsigned char)s.p[i] & 0xc0) != 0x80) { /* not inside a sequence */
            tg_buf_add(out, (tg_sv){ s.p + i, s.n - i });
            break;
        }
}

static void put_padded(struct tg_buf *out, tg_sv s, size_t width, bool right, bool last)
{
    size_t n = tg_utf8_count(s), pad = n < width ? width - n : 0;
    if (right)
        tg_buf_printf(out, "%*s", (int)pad, "");
    tg_buf_add(out, s);
    if (!right && !last)
        tg_buf_printf(out, "%*s", (int)pad, "");
}

static size_t *column_widths(const struct tg_sheet *g, struct tg_buf *cell)
{
    size_t *width = tg_xmalloc((g->n_columns + 1) * sizeof *width);
    for (size_t k = 0; k < g->n_columns; k++) {
        width[k] = strlen(g->columns[k].name);
        for (size_t r = 0; r < g->n_rows; r++) {
            size_t n;
            cell_text(cell, g, r, k);
            n = tg_utf8_count(tg_buf_sv(cell));
            if (n > width[k])
                width[k] = n;
        }
    }
    return width;
}

/* Takes from the widest texts, so that short columns stay whole; never below 16. */
static void fit(size_t *width, const struct tg_sheet *g, size_t total)
{
    for (;;) {
        size_t used = 0, widest = g->n_columns;
        for (size_t k = 0; k < g->n_columns; k++) {
            if (g->columns[k].machine)
                continue;
            used += width[k] + 2;
            if (g->columns[k].type == TG_CELL_TEXT && width[k] > 16 &&
                (widest == g->n_columns || width[k] > width[widest]))
                widest = k;
        }
        if (used <= total + 2 || widest == g->n_columns)
            return;
        width[widest]--;
    }
}

void tg_sheet_text(const struct tg_sheet *g, int columns, struct tg_buf *out)
{
    struct tg_buf cell = { 0 }, cut = { 0 };
    size_t *width = column_widths(g, &cell);
    fit(width, g, columns > 0 ? (size_t)columns : 100);
    for (size_t r = 0; r < g->n_rows + 1; r++) {
        for (size_t k = 0, shown = 0; k < g->n_columns; k++) {
            if (g->columns[k].machine)
                continue;
            tg_buf_clear(&cut);
            if (r == 0)
                tg_buf_puts(&cut, g->columns[k].name);
            else {
                cell_text(&cell, g, r - 1, k);
                put_cut(&cut, tg_buf_sv(&cell), width[k]);
            }
            tg_buf_puts(out, shown++ ? "  " : "");
            put_padded(out, tg_buf_sv(&cut), width[k], g->columns[k].type != TG_CELL_TEXT,
                       k + 1 == g->n_columns);
        }
        tg_buf_putc(out, '\n');
    }
    tg_buf_release(&cell);
    tg_buf_release(&cut);
    free(width);
}
