#ifndef TG_CMD_SHEET_H
#define TG_CMD_SHEET_H
/*
 * A table with typed columns, as `analyze` and `names` print it: text for people, CSV, JSON. An
 * analysis fills it row by row; what is unknown is absent (empty in CSV, null in JSON), never 0.
 */
#include "core/base/arena.h"
#include "core/base/buf.h"

enum tg_cell_type {
    TG_CELL_TEXT,
    TG_CELL_INT,
    TG_CELL_US, /* given as exact ns, written in microseconds */
    TG_CELL_REAL
};
struct tg_column {
    const char *name; /* as in CSV and JSON */
    enum tg_cell_type type;
    bool machine; /* in CSV and JSON only */
};
struct tg_sheet_cell {
    bool known;
    tg_sv text;
    int64_t i; /* INT; US in ns */
    double d;
};
struct tg_sheet {
    const struct tg_column *columns;
    size_t n_columns, n_rows, cap;
    struct tg_sheet_cell *cells;
    struct tg_arena *arena; /* holds texts */
};
void tg_sheet_init(struct tg_sheet *g, const struct tg_column *columns, size_t n,
                   struct tg_arena *a);
void tg_sheet_release(struct tg_sheet *g);
struct tg_sheet_cell *
tg_sheet_row(struct tg_sheet *g); /* a new row, all absent; valid until the next */
void tg_cell_text(struct tg_sheet_cell *c, tg_sv s); /* a view; must live as long as the grid */
void tg_cell_int(struct tg_sheet_cell *c, int64_t v);
void tg_cell_us(struct tg_sheet_cell *c, tg_ns v);
void tg_cell_real(struct tg_sheet_cell *c, double v); /* NaN, Inf: absent */

/* `width` 0: 100 columns. The widest texts are cut in the middle until a line fits. */
void tg_sheet_text(const struct tg_sheet *g, int columns, struct tg_buf *out);
void tg_sheet_csv(const struct tg_sheet *g, struct tg_buf *out);
/* {"schema": SCHEMA, "measure": NAME, "rows": [...]} */
void tg_sheet_json(const struct tg_sheet *g, const char *schema, const char *measure,
                   struct tg_buf *out);
#endif
