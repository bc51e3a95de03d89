/* Rows of all shards become operators by (kind, normalised name). */
#include <stdlib.h>

#include "core/diff/internal.h"

struct gather {
    uint32_t *op_of_row; /* of the rows that are asked for, in order of cells */
    size_t n, cap;
    struct tg_strmap raw, key; /* kind byte + raw name; kind byte + name */
    uint32_t *op_of_raw;
    size_t cap_raw;
    struct gathered {
        enum tg_kind kind;
        bool launched;
        tg_sv name;
        size_t n; /* rows */
        struct tg_diff_cell *cell;
        const struct tg_row **row; /* where the next one goes */
    } * op;
    size_t cap_op;
};

/* The side of a frame that tells what was launched inside. */
static bool is_launched(const struct tg_row *row)
{
    return tg_kind_is_frame(row->key->kind) && row->key->device >= 0;
}

static tg_sv keyed(struct tg_buf *b, const struct tg_row *row, tg_sv name)
{
    tg_buf_clear(b);
    tg_buf_putc(b, (char)('A' + (int)row->key->kind));
    tg_buf_putc(b, is_launched(row) ? 'l' : ' ');
    tg_buf_add(b, name);
    return tg_buf_sv(b);
}

/* Normalises each (kind, raw name) once: rows of one name are many. */
static uint32_t op_of(struct tg_diff_work *w, struct gather *g, struct tg_buf *b,
                      const struct tg_row *row)
{
    size_t known = g->raw.n;
    uint32_t id = tg_strmap_add(&g->raw, keyed(b, row, row->key->name));

    if (id < known)
        return g->op_of_raw[id];
    g->op_of_raw = tg_grow(g->op_of_raw, &g->cap_raw, g->raw.n, sizeof *g->op_of_raw);
    tg_sv name = tg_diff_name(w, row->key->kind, row->key->name);
    size_t ops = g->key.n;
    uint32_t op = tg_strmap_add(&g->key, keyed(b, row, name));
    if (op == ops) {
        g->op = tg_grow(g->op, &g->cap_op, g->key.n, sizeof *g->op);
        g->op[op] = (struct gathered){ row->key->kind, is_launched(row), name, 0, NULL, NULL };
    }
    return g->op_of_raw[id] = op;
}

static int by_kind_and_name(const void *pa, const void *pb)
{
    const struct tg_op *a = pa, *b = pb;
    int c = TG_CMP(a->kind, b->kind);
    c = c ? c : tg_sv_cmp(a->name, b->name);
    return c ? c : (int)a->launched - (int)b->launched;
}

/* The next row that is asked for, from *cell and *i on; NULL: there is none. */
static const struct tg_row *next_row(const struct tg_diff_work *w, bool frames, size_t *cell,
                                     size_t *i)
{
    for (; *cell < w->n_cells; ++*cell, *i = 0) {
        const struct tg_shard *s = w->shard[*cell];
        size_t n = frames ? s->n_frames : s->n_rows;
        const struct tg_row *rows = frames ? s->frames : s->rows;
        while (*i < n) {
            const struct tg_row *row = &rows[(*i)++];
            /* Host rows stay: they tell what the machine did meanwhile. */
            if (frames || (row->key->device < 0 ||
                           (tg_listed(w->o->devices, w->o->n_devices, row->key->device) &&
                            tg_listed(w->o->streams, w->o->n_streams, row->key->stream))))
                return row;
        }
    }
    return NULL;
}

void tg_gather(struct tg_diff_work *w, enum tg_gather_rows which, struct tg_op **out, size_t *n_out)
{
    bool frames = which == TG_GATHER_FRAMES;
    struct gather g = { 0 };
    const struct tg_row *row;
    TG_BUF b = { 0 };

    tg_strmap_init(&g.raw);
    tg_strmap_init(&g.key);
    for (size_t cell = 0, i = 0; (row = next_row(w, frames, &cell, &i));) {
        uint32_t op = op_of(w, &g, &b, row);
        *TG_PUSH(g.op_of_row, g.n, g.cap) = op;
        g.op[op].n++;
    }
    /* Room for the rows of each operator, cell after cell. */
    struct tg_op *ops = *out = TG_NEW_N(w->a, struct tg_op, g.key.n + 1);
    *n_out = g.key.n;
    for (size_t k = 0; k < g.key.n; k++) {
        struct gathered *from = &g.op[k];
        ops[k].rows = tg_op_rows_new(w, &from->cell);
        from->row = TG_NEW_N(w->a, const struct tg_row *, from->n);
        ops[k].kind = from->kind;
        ops[k].launched = from->launched;
        ops[k].name = from->name;
        ops[k].partner = ops[k].region = ops[k].leader = TG_NO_ID;
    }
    /* Rows come in order of cells, so that those of an operator in a cell are neighbours. */
    for (size_t cell = 0, i = 0, at = 0; (row = next_row(w, frames, &cell, &i));) {
        struct gathered *to = &g.op[g.op_of_row[at++]];
        if (to->cell[cell].n++ == 0)
            to->cell[cell].row = to->row;
        *to->row++ = row;
    }
    TG_SORT(*out, *n_out, by_kind_and_name);
    free(g.op_of_row);
    free(g.op);
    free(g.op_of_raw);
    tg_strmap_release(&g.raw);
    tg_strmap_release(&g.key);
}
