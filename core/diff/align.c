/*
 * Alignment: rows of both sides become operators by (kind, normalised name), with counts per step,
 * sums and shares.
 */
#include <stdlib.h>

#include "core/diff/internal.h"
#include "core/diff/names.h"

/* ---- rows of all shards become operators by (kind, normalised name) ---- */

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

/* ---- what an operator is: its raw names, its parent, its class, what its time and calls mean ---- */

/* Time by text; the largest wins, of equals the first in byte order. */
struct weights {
    struct tg_strmap names;
    tg_ns *v;
    size_t cap;
};

static void weigh(struct weights *x, tg_sv name, tg_ns ns)
{
    size_t known = x->names.n;
    uint32_t id = tg_strmap_add(&x->names, name);

    if (id == known) {
        x->v = tg_grow(x->v, &x->cap, id + 1, sizeof *x->v);
        x->v[id] = 0;
    }
    x->v[id] += ns;
}

static uint32_t heaviest(const struct weights *x)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < x->names.n; i++)
        if (x->v[i] > x->v[best] ||
            (x->v[i] == x->v[best] && tg_sv_cmp(x->names.text[i], x->names.text[best]) < 0))
            best = i;
    return best;
}

static void forget(struct weights *x)
{
    tg_strmap_release(&x->names);
    free(x->v);
}

/* The raw name with most time on a side, and the main encloser over both sides. */
static void name_largest(struct tg_diff_work *w, struct tg_op *op)
{
    struct weights parents = { 0 };

    tg_strmap_init(&parents.names);
    for (int side = 0; side < 2; side++) {
        struct weights raw = { 0 };
        tg_strmap_init(&raw.names);
        for (size_t at = w->first[side]; at < (side ? w->n_cells : w->first[TG_TEST]); at++)
            for (size_t r = 0; r < op->rows->cell[at].n; r++) {
                const struct tg_row *row = op->rows->cell[at].row[r];
                tg_ns sum = 0;
                for (size_t j = 0; j <= w->shard[at]->n_steps; j++)
                    sum += row->total[j];
                weigh(&raw, row->key->name, sum);
                weigh(&parents, row->key->parent, sum);
            }
        op->present[side] = raw.names.n > 0;
        op->grouped |= op->kind == TG_KIND_KERNEL && raw.names.n > 1;
        if (raw.names.n)
            op->raw[side] = tg_arena_sv(w->a, raw.names.text[heaviest(&raw)]);
        forget(&raw);
    }
    op->parent = tg_diff_name(w, TG_KIND_OP, parents.names.text[heaviest(&parents)]);
    forget(&parents);
}

/* Of runtime calls alone: an operator of such a name is the program's own. */
static bool polls(const struct tg_diff_work *w, const struct tg_op *op)
{
    tg_sv raw = op->raw[op->present[TG_TEST] ? TG_TEST : TG_BASE];

    if (op->kind != TG_KIND_RUNTIME && op->kind != TG_KIND_SYNC)
        return false;
    if (!w->o->ignore)
        return tg_is_polling(raw);
    for (size_t i = 0; i < w->o->n_ignore; i++)
        if (tg_sv_glob(w->o->ignore[i], raw))
            return true;
    return false;
}

static void identify(struct tg_diff_work *w, struct tg_op *op)
{
    name_largest(w, op);
    op->class_ = tg_class_of(w->o->classes, op->kind,
                             op->raw[op->present[TG_TEST] ? TG_TEST : TG_BASE], NULL);
    op->polling = polls(w, op);
    /* Its time is somebody else's: collectives, copies, synchronisation. */
    op->wait = tg_name_waits(op->kind, op->name) || tg_op_is_collective(op);
    op->view = op->kind == TG_KIND_OP && tg_name_is_view(op->name);
}

/* ---- did the benchmark run? ---- */

/* More than half of the kernels gone, no graphs in their place, and busy time gone as well. */
static bool collapsed(const struct tg_comparison *c)
{
    double kernels[2] = { 0 }, graphs[2] = { 0 }, busy[2] = { 0 };

    for (size_t i = 0; i < c->n_ops; i++)
        for (int side = 0; side < 2; side++) {
            if (c->ops[i].kind == TG_KIND_KERNEL) {
                kernels[side] += c->ops[i].count[side];
                busy[side] += c->ops[i].self[side];
            }
            if (c->ops[i].kind == TG_KIND_GRAPH)
                graphs[side] += c->ops[i].count[side];
        }
    return kernels[TG_BASE] > 0 && kernels[TG_TEST] < 0.5 * kernels[TG_BASE] &&
           graphs[TG_TEST] <= graphs[TG_BASE] && busy[TG_TEST] < 0.5 * busy[TG_BASE];
}

/* Which sorts of frames every shard of a side holds. */
static unsigned frame_sorts(const struct tg_diff_work *w, int side)
{
    unsigned all = ~0u;

    for (size_t at = w->first[side]; at < (side ? w->n_cells : w->first[TG_TEST]); at++)
        all &= w->shard[at]->frame_sorts;
    return all;
}

/* The part of a side's shards that has any frame of a kind. */
static double with_frames(const struct tg_diff_work *w, int side, enum tg_kind kind)
{
    size_t end = side ? w->n_cells : w->first[TG_TEST], n = 0;

    for (size_t at = w->first[side]; at < end; at++) {
        const struct tg_shard *s = w->shard[at];
        size_t i = 0;
        while (i < s->n_frames && s->frames[i].key->kind != kind)
            i++;
        n += i < s->n_frames;
    }
    return (double)n / (double)(end - w->first[side]);
}

bool tg_align(struct tg_diff_work *w, struct tg_err *err)
{
    struct tg_comparison *c = w->c;

    if (!tg_diff_select(w, err))
        return false;
    tg_gather(w, TG_GATHER_OPS, &c->ops, &c->n_ops);
    tg_gather(w, TG_GATHER_FRAMES, &c->frames, &c->n_frames);
    struct tg_sum_room *x = tg_sum_room_new(w);
    for (size_t i = 0; i < c->n_ops + c->n_frames; i++) {
        struct tg_op *op = i < c->n_ops ? &c->ops[i] : &c->frames[i - c->n_ops];
        struct tg_op_counts *counts = tg_sum_op(w, op, x);
        identify(w, op);
        tg_op_find_change(w, op, counts);
    }
    for (int side = 0; side < 2; side++)
        c->frame_sorts[side] = frame_sorts(w, side);
    static const enum tg_kind kinds[TG_STACK_SORTS] = {
        [TG_STACK_MODULES] = TG_KIND_MODULE, [TG_STACK_SOURCES] = TG_KIND_SOURCE
    };
    for (int sort = 0; sort < TG_STACK_SORTS; sort++) {
        double base = with_frames(w, TG_BASE, kinds[sort]);
        double test = with_frames(w, TG_TEST, kinds[sort]);
        if (base != test)
            w->c->frames_lack[base < test ? TG_BASE : TG_TEST] |= 1u << sort;
    }
    tg_share_out(w);
    c->iteration_ratio = 1;
    if (!c->any_marked[TG_BASE] && !c->any_marked[TG_TEST])
        tg_scale_counts(w);
    c->collapsed = collapsed(c);
    return true;
}
