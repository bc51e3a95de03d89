#include "reporters/table.h"

#include <math.h>

#include "core/base/decimal.h"
#include "core/base/doc.h"
#include "core/base/utf8.h"
#include "reporters/csv.h"
#include "reporters/texttable.h"

/* Three decimals for people, all digits for machines. */
static void put_number(struct tg_buf *out, enum tg_table_type type, const struct tg_table_cell *c,
                       bool for_people)
{
    if (type == TG_TABLE_INT)
        tg_dec_put_i64(out, c->is.i);
    else if (type == TG_TABLE_US && for_people)
        tg_dec_put_fixed(out, (double)c->is.i / 1000, 3);
    else if (type == TG_TABLE_US)
        tg_dec_put_us(out, c->is.i);
    else if (for_people && (c->is.v != floor(c->is.v) || fabs(c->is.v) >= 9e15))
        tg_dec_put_fixed(out, c->is.v, 3);
    else
        tg_csv_number(out, c->is.v);
}

/* ---- CSV ---- */

static void csv_cell(struct tg_buf *out, enum tg_table_type type, const struct tg_table_cell *c)
{
    if (c->known && tg_table_is_text(type))
        tg_csv_text(out, c->is.text);
    else if (c->known)
        put_number(out, type, c, false);
}

void tg_table_as_csv(struct tg_buf *out, const struct tg_table *t)
{
    for (size_t k = 0; k < t->n_columns; k++)
        tg_buf_printf(out, "%s%s", k ? "," : "", t->columns[k].name);
    tg_buf_putc(out, '\n');
    for (size_t r = 0; r < t->n_rows; r++)
        for (size_t k = 0; k < t->n_columns; k++) {
            csv_cell(out, t->columns[k].type, tg_table_at(t, r, k));
            tg_buf_putc(out, k + 1 < t->n_columns ? ',' : '\n');
        }
}

/* ---- JSON ---- */

static void json_cell(struct tg_doc *row, const struct tg_table_column *column,
                      const struct tg_table_cell *c)
{
    if (!c->known)
        tg_doc_add_null(row, column->name);
    else if (tg_table_is_text(column->type))
        tg_doc_add_str(row, column->name, c->is.text);
    else if (column->type == TG_TABLE_INT)
        tg_doc_add_i64(row, column->name, c->is.i);
    else if (column->type == TG_TABLE_US)
        tg_doc_add_num(row, column->name, tg_ns_to_us_double(c->is.i));
    else
        tg_doc_add_num(row, column->name, c->is.v);
}

static void json_rows(struct tg_doc *rows, const struct tg_table *t)
{
    for (size_t r = 0; r < t->n_rows; r++) {
        struct tg_doc *row = tg_doc_add_object(rows, NULL);
        for (size_t k = 0; k < t->n_columns; k++)
            json_cell(row, &t->columns[k], tg_table_at(t, r, k));
    }
}

void tg_table_as_json(struct tg_buf *out, const struct tg_table *t, const char *schema)
{
    TG_AUTO(tg_doc_drop) struct tg_doc *doc = tg_doc_new_object();
    tg_doc_add_str(doc, "schema", tg_sv_of(schema));
    tg_doc_add_str(doc, "measure", tg_sv_of(t->name));
    json_rows(tg_doc_add_array(doc, "rows"), t);
    tg_doc_write(doc, TG_DOC_INDENTED, out);
    tg_buf_putc(out, '\n');
}

void tg_tables_as_json(struct tg_buf *out, const struct tg_tables *tables, const char *schema)
{
    TG_AUTO(tg_doc_drop) struct tg_doc *doc = tg_doc_new_object();
    struct tg_doc *metrics;
    tg_doc_add_str(doc, "schema", tg_sv_of(schema));
    metrics = tg_doc_add_object(doc, "measures");
    for (size_t i = 0; i < tables->n; i++)
        json_rows(tg_doc_add_array(metrics, tables->v[i].name), &tables->v[i]);
    tg_doc_write(doc, TG_DOC_INDENTED, out);
    tg_buf_putc(out, '\n');
}

/* ---- text ---- */

/* A column without a value tells people nothing; programs get every column. */
static bool is_shown(const struct tg_table *t, size_t column)
{
    if (t->columns[column].type == TG_TABLE_MACHINE_TEXT)
        return false;
    for (size_t r = 0; r < t->n_rows; r++)
        if (tg_table_at(t, r, column)->known)
            return true;
    return t->n_rows == 0;
}

static void add_cell(struct tg_texttable *g, enum tg_table_type type, const struct tg_table_cell *c)
{
    if (!c->known)
        tg_buf_puts(&g->text, type == TG_TABLE_TEXT ? "" : "-");
    else if (type == TG_TABLE_TEXT)
        tg_utf8_visible(&g->text, c->is.text);
    else
        put_number(&g->text, type, c, true);
    tg_texttable_cell(g, TG_TINT_NONE);
}

void tg_table_as_text(struct tg_buf *out, const struct tg_table *t, int columns, size_t max_rows)
{
    size_t rows = max_rows && max_rows < t->n_rows ? max_rows : t->n_rows, shown = 0;
    TG_FREE struct tg_texttable_column *v = tg_xmalloc((t->n_columns + 1) * sizeof *v);
    TG_FREE size_t *from = tg_xmalloc((t->n_columns + 1) * sizeof *from);
    TG_AUTO(tg_texttable_release) struct tg_texttable g = { 0 };
    for (size_t k = 0; k < t->n_columns; k++) {
        bool text = t->columns[k].type == TG_TABLE_TEXT;
        if (!is_shown(t, k))
            continue;
        v[shown] = (struct tg_texttable_column){ .title = t->columns[k].name,
                                                 .right = !text,
                                                 .least = text ? 16 : 0 };
        from[shown++] = k;
    }
    tg_texttable_init(&g, v, shown);
    for (size_t r = 0; r < rows; r++)
        for (size_t k = 0; k < shown; k++)
            add_cell(&g, t->columns[from[k]].type, tg_table_at(t, r, from[k]));
    tg_texttable_write(&g, out, 0, columns > 0 ? (size_t)columns : 100, TG_TEXTTABLE_COLOR_OFF);
    if (rows < t->n_rows)
        tg_buf_printf(out, "... %zu more rows (--format csv has them all)\n", t->n_rows - rows);
}
