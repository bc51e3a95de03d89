#ifndef TG_REPORTERS_TABLE_H
#define TG_REPORTERS_TABLE_H
/*
 * A table of an analysis as text for people, CSV or JSON: what `analyze` and `names` print. An
 * unknown value is "-" or empty in text, empty in CSV, null in JSON, never 0.
 */
#include "core/analysis/table.h"
#include "core/base/buf.h"

/*
 * `columns` 0: 100. The widest texts are shortened in the middle until a line fits. Columns without
 * a value are dropped, and after `max_rows` (0: all) a line says how many follow.
 */
void tg_table_as_text(struct tg_buf *out, const struct tg_table *t, int columns, size_t max_rows);
void tg_table_as_csv(struct tg_buf *out, const struct tg_table *t);
/* {"schema": SCHEMA, "measure": NAME, "rows": [...]} */
void tg_table_as_json(struct tg_buf *out, const struct tg_table *t, const char *schema);
/* {"schema": SCHEMA, "measures": {NAME: [...]}} */
void tg_tables_as_json(struct tg_buf *out, const struct tg_tables *tables, const char *schema);
#endif
