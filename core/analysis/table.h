#ifndef TG_ANALYSIS_TABLE_H
#define TG_ANALYSIS_TABLE_H
/*
 * A table as an analysis returns it: named columns of one type each, rows of cells. A cell that is
 * not known (HTA's NaN, "no communication") is empty, never zero. Names and columns live as long as
 * the program or the analysed traces; cells and generated texts belong to the tables.
 */
#include "core/base/arena.h"

enum tg_frame_type {
    TG_FRAME_TEXT,
    TG_FRAME_INT,
    TG_FRAME_US, /* cells are integer ns; written as exact microseconds */
    TG_FRAME_REAL
};

struct tg_frame_column {
    const char *name;
    enum tg_frame_type type;
};

struct tg_frame_cell {
    bool known;
    union {
        tg_sv text;
        int64_t i; /* INT, US (ns) */
        double v;
    } is;
};

struct tg_frame {
    const char *name; /* "temporal", "idle-stats" */
    const struct tg_frame_column *columns;
    size_t n_columns, n_rows, cap;
    struct tg_frame_cell *cells; /* row by row */
};

struct tg_frames {
    struct tg_arena *arena; /* generated texts */
    struct tg_frame *v;
    size_t n, cap;
};

void tg_frames_init(struct tg_frames *f);
void tg_frames_release(struct tg_frames *f);

/* Valid until the next tg_frames_add. */
struct tg_frame *tg_frames_add(struct tg_frames *f, const char *name,
                               const struct tg_frame_column *columns, size_t n_columns);
/* A new row of unknown cells, valid until the next call. */
struct tg_frame_cell *tg_frame_row(struct tg_frame *f);
/* NULL: there is no table of this name. */
const struct tg_frame *tg_frames_find(const struct tg_frames *f, const char *name);

static inline const struct tg_frame_cell *tg_frame_at(const struct tg_frame *f, size_t row,
                                                      size_t col)
{
    return &f->cells[row * f->n_columns + col];
}
static inline struct tg_frame_cell tg_frame_text(tg_sv s)
{
    return (struct tg_frame_cell){ true, { .text = s } };
}
static inline struct tg_frame_cell tg_frame_int(int64_t i)
{
    return (struct tg_frame_cell){ true, { .i = i } };
}
/* NaN is "not known". */
static inline struct tg_frame_cell tg_frame_real(double v)
{
    return (struct tg_frame_cell){ v == v, { .v = v } };
}
#endif
