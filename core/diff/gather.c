/* Rows of all shards become operators by (kind, normalised name). */
#include <stdlib.h>

#include "core/diff/internal.h"

/* One row of a shard with the operator it belongs to. */
struct member {
    uint32_t op, cell;
    const struct tg_row *row;
};

struct gather {
    struct member *v;
    size_t n, cap;
    struct tg_strmap raw, key; /* kind byte + raw name; kind byte + name */
    uint32_t *op_of_raw;
    size_t cap_raw;
    struct {
        enum tg_kind kind;
        bool launched;
        tg_sv name;
    } * op;
    size_t cap_op;
};

/* The side of a frame that tells what was launched inside. */
static bool is_launched(const struct tg_row *row)
{
    return tg_kind_is_frame(row->kind) && row->device >= 0;
}

static tg_sv keyed(struct tg_buf *b, const struct tg_row *row, tg_sv name)
{
    tg_buf_clear(b);
    tg_buf_putc(b, (char)('A' + (int)row->kind));
    tg_buf_putc(b, is_launched(row) ? 'l' : ' ');
    tg_buf_add(b, name);
    return tg_buf_sv(b);
}

/* Normalises each (kind, raw name) once: rows of one name are many. */
static uint32_t op_of(struct tg_diff_work *w, struct gather *g, struct tg_buf *b,
                      const struct tg_row *row)
{
    size_t known = g->raw.n;
    uint32_t id = tg_strmap_add(&g->raw, keyed(b, row, row->name));

    if (id < known)
        return g->op_of_raw[id];
    g->op_of_raw = tg_grow(g->op_of_raw, &g->cap_raw, g->raw.n, sizeof *g->op_of_raw);
    tg_sv name = tg_work_name(w, row->kind, row->name);
    size_t ops = g->key.n;
    uint32_t op = tg_strmap_add(&g->key, keyed(b, row, name));
    if (op == ops) {
        g->op = tg_grow(g->op, &g->cap_op, g->key.n, sizeof *g->op);
        g->op[op].kind = row->kind;
        g->op[op].launched = is_launched(row);
        g->op[op].name = name;
    }
    return g->op_of_raw[id] = op;
}

static int by_op_and_cell(const void *pa, const void *pb)
{
    const struct member *a = pa, *b = pb;
    if (a->op != b->op)
        return a->op < b->op ? -1 : 1;
    if (a->cell != b->cell)
        return a->cell < b->cell ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static int by_kind_and_name(const void *pa, const void *pb)
{
    const struct tg_op *a = pa, *b = pb;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    int c = tg_sv_cmp(a->name, b->name);
    return c ? c : (int)a->launched - (int)b->launched;
}

/* Cuts the sorted members of one operator into its cells. */
static struct tg_op_rows *make_cells(struct tg_diff_work *w, const struct member *m, size_t n)
{
    struct tg_op_rows *rows = TG_NEW(w->a, struct tg_op_rows);
    struct tg_diff_cell *cell = TG_NEW_N(w->a, struct tg_diff_cell, w->n_cells);
    const struct tg_row **list = TG_NEW_N(w->a, const struct tg_row *, n);

    for (size_t i = 0; i < n; i++) {
        list[i] = m[i].row;
        if (cell[m[i].cell].n++ == 0)
            cell[m[i].cell].row = &list[i];
    }
    rows->cell = cell;
    rows->work = w;
    return rows;
}

/* Host rows stay: they tell what the machine did meanwhile. */
static bool is_asked_for(const struct tg_compare_opts *o, const struct tg_row *row)
{
    return row->device < 0 || (tg_listed(o->devices, o->n_devices, row->device) &&
                               tg_listed(o->streams, o->n_streams, row->stream));
}

/* The rows of a shard, or those by Python frame. */
static const struct tg_row *rows_of(const struct tg_shard *s, bool frames, size_t *n)
{
    *n = frames ? s->n_frames : s->n_rows;
    return frames ? s->frames : s->rows;
}

void tg_gather(struct tg_diff_work *w, bool frames, struct tg_op **out, size_t *n_out)
{
    struct gather g = { 0 };
    struct tg_buf b = { 0 };

    tg_strmap_init(&g.raw);
    tg_strmap_init(&g.key);
    for (size_t cell = 0; cell < w->n_cells; cell++) {
        size_t n_rows;
        const struct tg_row *rows = rows_of(w->shard[cell], frames, &n_rows);
        for (size_t i = 0; i < n_rows; i++) {
            const struct tg_row *row = &rows[i];
            if (!frames && !is_asked_for(w->o, row))
                continue;
            uint32_t op = op_of(w, &g, &b, row);
            g.v = tg_grow(g.v, &g.cap, g.n + 1, sizeof *g.v);
            g.v[g.n++] = (struct member){ op, (uint32_t)cell, row };
        }
    }
    if (g.n)
        qsort(g.v, g.n, sizeof *g.v, by_op_and_cell);
    struct tg_op *ops = NULL;
    size_t n_ops = 0, cap_ops = 0;
    for (size_t i = 0, j; i < g.n; i = j) {
        ops = tg_grow(ops, &cap_ops, n_ops + 1, sizeof *ops);
        struct tg_op *op = &ops[n_ops++];
        memset(op, 0, sizeof *op);
        for (j = i; j < g.n && g.v[j].op == g.v[i].op; j++)
            ;
        op->kind = g.op[g.v[i].op].kind;
        op->launched = g.op[g.v[i].op].launched;
        op->name = g.op[g.v[i].op].name;
        op->rows = make_cells(w, &g.v[i], j - i);
        op->partner = op->region = op->leader = TG_NO_ID;
    }
    if (!w->o->raw_names && !frames)
        tg_split_siblings(w, &ops, &n_ops, &cap_ops);
    *n_out = n_ops;
    *out = TG_NEW_N(w->a, struct tg_op, n_ops + 1);
    if (n_ops) {
        memcpy(*out, ops, n_ops * sizeof *ops);
        qsort(*out, n_ops, sizeof **out, by_kind_and_name);
    }
    free(ops);
    free(g.v);
    free(g.op);
    free(g.op_of_raw);
    tg_strmap_release(&g.raw);
    tg_strmap_release(&g.key);
    tg_buf_release(&b);
}
