#include "reporters/table.h"

#include "core/base/decimal.h"
#include "core/base/doc.h"
#include "reporters/csv.h"

/* ---- CSV ---- */

void tg_table_as_csv(struct tg_buf *out, const struct tg_table *t)
{
    for (size_t k = 0; k < t->n_columns; k++)
        tg_buf_printf(out, "%s%s", k ? "," : "", t->columns[k].name);
    tg_buf_putc(out, '\n');
    for (size_t r = 0; r < t->n_rows; r++)
        for (size_t k = 0; k < t->n_columns; k++) {
            enum tg_table_type type = t->columns[k].type;
            const struct tg_table_cell *c = tg_table_at(t, r, k);
            if (c->known && tg_table_is_text(type))
                tg_csv_text(out, c->is.text);
            else if (c->known) {
                if (type == TG_TABLE_INT)
                    tg_dec_put_i64(out, c->is.i);
                else if (type == TG_TABLE_US)
                    tg_dec_put_us(out, c->is.i);
                else
                    tg_csv_number(out, c->is.v);
            }
            tg_buf_putc(out, k + 1 < t->n_columns ? ',' : '\n');
        }
}

/* ---- JSON ---- */

static void json_rows(struct tg_doc *rows, const struct tg_table *t)
{
    for (size_t r = 0; r < t->n_rows; r++) {
        struct tg_doc *row = tg_doc_add_object(rows, NULL);
        for (size_t k = 0; k < t->n_columns; k++) {
            const struct tg_table_column *column = &t->columns[k];
            const struct tg_table_cell *c = tg_table_at(t, r, k);
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
    tg_doc_add_str(doc, "schema", tg_sv_of(schema));
    struct tg_doc *metrics = tg_doc_add_object(doc, "measures");
    for (size_t i = 0; i < tables->n; i++)
        json_rows(tg_doc_add_array(metrics, tables->v[i].name), &tables->v[i]);
    tg_doc_write(doc, TG_DOC_INDENTED, out);
    tg_buf_putc(out, '\n');
}
