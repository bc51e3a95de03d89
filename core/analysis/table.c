#include "core/analysis/table.h"

#include <assert.h>
#include <stdlib.h>

void tg_table_init(struct tg_table *t, const char *name, const struct tg_table_column *columns,
                   size_t n_columns)
{
    *t = (struct tg_table){ .name = name, .columns = columns, .n_columns = n_columns };
}

void tg_table_release(struct tg_table *t)
{
    free(t->cells);
    t->cells = NULL;
}

void tg_tables_init(struct tg_tables *f)
{
    *f = (struct tg_tables){ .arena = tg_arena_new() };
}

void tg_tables_release(struct tg_tables *f)
{
    for (size_t i = 0; i < f->n; i++)
        tg_table_release(&f->v[i]);
    free(f->v);
    tg_arena_free(f->arena);
    *f = (struct tg_tables){ 0 };
}

struct tg_table *tg_tables_add(struct tg_tables *f, const char *name,
                               const struct tg_table_column *columns, size_t n_columns)
{
    f->v = tg_grow(f->v, &f->cap, f->n + 1, sizeof *f->v);
    tg_table_init(&f->v[f->n], name, columns, n_columns);
    return &f->v[f->n++];
}

struct tg_table_cell *tg_table_row(struct tg_table *f)
{
    f->cells = tg_grow(f->cells, &f->cap, (f->n_rows + 1) * f->n_columns, sizeof *f->cells);
    struct tg_table_cell *row = f->cells + f->n_rows++ * f->n_columns;
    memset(row, 0, f->n_columns * sizeof *row);
    return row;
}

void tg_table_put(struct tg_table *f, const struct tg_table_cell *cells, size_t n)
{
    assert(n == f->n_columns);
    memcpy(tg_table_row(f), cells, n * sizeof *cells);
}

void tg_table_set(struct tg_table *f, const char *column, struct tg_table_cell cell)
{
    for (size_t i = 0; i < f->n_columns; i++)
        if (strcmp(f->columns[i].name, column) == 0)
            f->cells[(f->n_rows - 1) * f->n_columns + i] = cell;
}

void tg_table_put_reason(struct tg_table *f, int64_t rank, tg_sv reason)
{
    (void)tg_table_row(f);
    tg_table_set(f, "rank", tg_table_int(rank));
    tg_table_set(f, "reason", tg_table_text(reason));
}

const struct tg_table *tg_tables_find(const struct tg_tables *f, const char *name)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->v[i].name, name) == 0)
            return &f->v[i];
    return NULL;
}
