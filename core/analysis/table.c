#include "core/analysis/table.h"

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
    struct tg_table_cell *row;
    f->cells = tg_grow(f->cells, &f->cap, (f->n_rows + 1) * f->n_columns, sizeof *f->cells);
    row = f->cells + f->n_rows++ * f->n_columns;
    memset(row, 0, f->n_columns * sizeof *row);
    return row;
}

const struct tg_table *tg_tables_find(const struct tg_tables *f, const char *name)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->v[i].name, name) == 0)
            return &f->v[i];
    return NULL;
}
