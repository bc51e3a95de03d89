#ifndef TG_ANALYSIS_TABLE_H
#define TG_ANALYSIS_TABLE_H
/*
 * A table as an analysis returns it: named columns of one type each, rows of cells. A cell that is
 * not known (HTA's NaN, "no communication") is empty, never zero. Names and columns live as long as
 * the program or the analysed traces; cells and generated texts belong to the tables.
 */
#include "core/base/arena.h"

enum tg_table_type {
    TG_TABLE_TEXT,
    TG_TABLE_MACHINE_TEXT, /* in CSV and JSON only */
    TG_TABLE_INT,
    TG_TABLE_US, /* cells are integer ns; written as exact microseconds */
    TG_TABLE_REAL,
    TG_TABLE_GBPS,   /* GB/s */
    TG_TABLE_REAL_US /* microseconds that are not whole nanoseconds: means, HTA's */
};

struct tg_table_column {
    const char *name; /* as in CSV and JSON */
    enum tg_table_type type;
};

struct tg_table_cell {
    bool known;
    union {
        tg_sv text;
        int64_t i; /* INT, US (ns) */
        double v;
    } is;
};

struct tg_table {
    const char *name; /* "temporal", "idle-stats" */
    const struct tg_table_column *columns;
    size_t n_columns, n_rows, cap;
    struct tg_table_cell *cells; /* row by row */
};

struct tg_tables {
    struct tg_arena *arena; /* generated texts */
    struct tg_table *v;
    size_t n, cap;
};

/* A table made by hand; it owns only `cells`. */
void tg_table_init(struct tg_table *t, const char *name, const struct tg_table_column *columns,
                   size_t n_columns);
void tg_table_release(struct tg_table *t);

void tg_tables_init(struct tg_tables *f);
void tg_tables_release(struct tg_tables *f);

/* Valid until the next tg_tables_add. */
struct tg_table *tg_tables_add(struct tg_tables *f, const char *name,
                               const struct tg_table_column *columns, size_t n_columns);
#define TG_TABLES_ADD(tables, name, columns)                                                       \
    tg_tables_add(tables, name, columns, sizeof(columns) / sizeof *(columns))
/* A new row of unknown cells, valid until the next call. */
struct tg_table_cell *tg_table_row(struct tg_table *f);
/* A new row with all its cells, in the order of the columns. */
#define TG_TABLE_PUT(table, ...)                                                                   \
    tg_table_put(table, (const struct tg_table_cell[]){ __VA_ARGS__ },                             \
                 sizeof((const struct tg_table_cell[]){ __VA_ARGS__ }) /                           \
                     sizeof(struct tg_table_cell))
void tg_table_put(struct tg_table *f, const struct tg_table_cell *cells, size_t n);
/* A cell of the last row; a table without such a column stays as it is. */
void tg_table_set(struct tg_table *f, const char *column, struct tg_table_cell cell);
/* A new row that says why there is nothing about this rank. */
void tg_table_put_reason(struct tg_table *f, int64_t rank, tg_sv reason);
/* NULL: there is no table of this name. */
const struct tg_table *tg_tables_find(const struct tg_tables *f, const char *name);

static inline const struct tg_table_cell *tg_table_at(const struct tg_table *f, size_t row,
                                                      size_t col)
{
    return &f->cells[row * f->n_columns + col];
}
/* A known number; times in us. */
static inline double tg_table_number(const struct tg_table *f, size_t row, size_t col)
{
    const struct tg_table_cell *c = tg_table_at(f, row, col);
    enum tg_table_type type = f->columns[col].type;
    return type == TG_TABLE_INT  ? (double)c->is.i
           : type == TG_TABLE_US ? (double)c->is.i / 1000
                                 : c->is.v;
}
static inline struct tg_table_cell tg_table_text(tg_sv s)
{
    return (struct tg_table_cell){ true, { .text = s } };
}
static inline struct tg_table_cell tg_table_int(int64_t i)
{
    return (struct tg_table_cell){ true, { .i = i } };
}
/* NaN and Inf are "not known". */
static inline struct tg_table_cell tg_table_real(double v)
{
    return (struct tg_table_cell){ v - v == 0, { .v = v } };
}
#define TG_TABLE_UNKNOWN ((struct tg_table_cell){ 0 })
static inline struct tg_table_cell tg_table_if(bool known, struct tg_table_cell cell)
{
    return known ? cell : TG_TABLE_UNKNOWN;
}
/* Unknown where `of` is nothing. */
static inline struct tg_table_cell tg_table_percent(tg_ns part, tg_ns of)
{
    return tg_table_if(of > 0, tg_table_real(100.0 * (double)part / (double)of));
}
static inline bool tg_table_is_time(enum tg_table_type type)
{
    return type == TG_TABLE_US || type == TG_TABLE_REAL_US;
}
static inline bool tg_table_is_text(enum tg_table_type type)
{
    return type == TG_TABLE_TEXT || type == TG_TABLE_MACHINE_TEXT;
}
#endif
