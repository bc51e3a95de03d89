#ifndef TG_REPORTERS_TEXTTABLE_H
#define TG_REPORTERS_TEXTTABLE_H
/*
 * A table of text for terminals: numbers right, names left. If the columns do not fit, those with
 * the largest `drop` are dropped first; then the widest column that can shrink is shortened in the
 * middle, repeatedly. Cells are escaped by the caller. The first column must be ours, never hostile
 * text.
 */
#include "core/base/buf.h"

enum tg_tint { TG_TINT_NONE, TG_TINT_RED, TG_TINT_GREEN, TG_TINT_YELLOW, TG_TINT_DIM };

struct tg_texttable_column {
    const char *title;
    bool right;
    size_t least;  /* may be shortened to this many columns; 0: never */
    size_t most;   /* is always shortened to this many; 0: no limit */
    unsigned drop; /* 0: stays */
};
struct tg_texttable_cell {
    size_t end; /* in the text */
    enum tg_tint tint;
};
struct tg_texttable { /* zero but for its columns and colour */
    const struct tg_texttable_column *columns;
    size_t n_columns;
    bool color;
    struct tg_buf text; /* of all cells, row after row: the next one is written here */
    struct tg_texttable_cell *cells;
    size_t n, cap;
};

/* Of a column of names beside numbers. Beyond MOST the eye loses the row between them. */
enum { TG_TEXTTABLE_NAME_LEAST = 28, TG_TEXTTABLE_NAME_MOST = 88 };

/* Ends a cell: what was written to `text` since the one before. */
void tg_texttable_cell(struct tg_texttable *g, enum tg_tint tint);
/* Of cell i. */
tg_sv tg_texttable_text(const struct tg_texttable *g, size_t i);
/* The width that each column gets; 0: dropped. */
void tg_texttable_widths(const struct tg_texttable *g, size_t width, size_t *widths);
void tg_texttable_write(const struct tg_texttable *g, struct tg_buf *out, size_t indent,
                        size_t width);
void tg_texttable_release(struct tg_texttable *g);

void tg_tint_on(struct tg_buf *out, enum tg_tint tint, bool color);
void tg_tint_off(struct tg_buf *out, enum tg_tint tint, bool color);
#endif
