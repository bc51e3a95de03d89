/*
 * What reports say with each name of a replacement: the names of both sides, and their calls. A replacement may
 * have thousands of names, so it is added up once, when the comparison is complete.
 */
#include <math.h>

#include "core/base/buckets.h"
#include "core/diff/internal.h"
#include "core/diff/names.h"

int tg_op_side_of_region(const struct tg_op *op)
{
    if (op->region == TG_NO_ID || op->relation == TG_REL_MOVED || op->relation == TG_REL_RENAMED)
        return -1;
    return op->change == TG_REMOVED || op->change == TG_FEWER ? TG_BASE
           : op->change != TG_SAME                            ? TG_TEST
                                                              : -1;
}

/* The rows that are looked at: those of the region, or all (`row` NULL). */
struct rows {
    const struct tg_op *ops;
    const uint32_t *row;
    size_t n;
};

static const struct tg_op *row_at(const struct rows *rows, size_t i)
{
    return &rows->ops[rows->row ? rows->row[i] : i];
}

static bool is_of_region(const struct tg_op *op, uint32_t region, int side)
{
    return op->region == region && tg_op_side_of_region(op) == side;
}

/* The letters by which autograd's nodes of names of the side are found. */
static void collect_letters(const struct rows *rows, uint32_t region, int side,
                            struct tg_strmap *letters)
{
    TG_BUF b = { 0 };
    for (size_t i = 0; i < rows->n; i++) {
        const struct tg_op *op = row_at(rows, i);
        tg_buf_clear(&b);
        if (is_of_region(op, region, side) && tg_name_put_letters(op->name, &b))
            tg_strmap_add(letters, tg_buf_sv(&b));
    }
}

/* Autograd's node of another name of the same side. */
static bool follows_forward(const struct tg_op *op, const struct tg_strmap *letters)
{
    TG_BUF b = { 0 };
    return op->kind == TG_KIND_OP && tg_name_is_node(op->name) &&
           tg_name_put_node_letters(op->name, &b) &&
           tg_strmap_find(letters, tg_buf_sv(&b)) != TG_NO_ID;
}

static bool changed_more(const struct tg_op *a, const struct tg_op *b)
{
    return fabs(a->self[TG_TEST] - a->self[TG_BASE]) > fabs(b->self[TG_TEST] - b->self[TG_BASE]);
}

static void put_name(struct tg_region_side *s, const struct tg_op *op)
{
    size_t at = s->n < TG_REGION_NAMED ? s->n : TG_REGION_NAMED;
    size_t kept = at;
    s->n++;
    while (at > 0 && changed_more(op, s->op[at - 1]))
        at--;
    if (at == TG_REGION_NAMED)
        return;
    for (size_t k = kept < TG_REGION_NAMED ? kept : TG_REGION_NAMED - 1; k > at; k--)
        s->op[k] = s->op[k - 1];
    s->op[at] = op;
}

static struct tg_region_side add_up(const struct tg_comparison *c, const struct rows *rows,
                                    uint32_t region, int side)
{
    double calls = region < c->n_regions ? c->regions[region].calls[side] : 0;
    struct tg_region_side s = { .calls = calls };
    TG_AUTO(tg_strmap_release) struct tg_strmap letters;

    tg_strmap_init(&letters);
    collect_letters(rows, region, side, &letters);
    for (size_t i = 0; i < rows->n; i++) {
        const struct tg_op *op = row_at(rows, i);
        bool node;
        if (!is_of_region(op, region, side))
            continue;
        s.pooled |= op->ev.pooled > 0;
        node = tg_backward_named(op->name);
        s.calls -= node ? fabs(op->count[side] - op->count[1 - side]) : 0;
        s.all[node] += op->count[side];
        s.less_ns += op->self[TG_BASE] - op->self[TG_TEST];
        if (!follows_forward(op, &letters))
            put_name(&s, op);
    }
    s.calls = s.calls >= 1 ? s.calls : calls;
    return s;
}

void tg_regions_close(struct tg_comparison *c)
{
    uint32_t *row = TG_NEW_N(c->arena, uint32_t, c->n_ops + 1);
    size_t *end = TG_NEW_N(c->arena, size_t, c->n_regions + 1);
    size_t from = 0;

    for (size_t i = 0; i < c->n_ops; i++)
        if (c->ops[i].region < c->n_regions)
            end[c->ops[i].region + 1]++;
    for (size_t id = 0; id < c->n_regions; id++)
        end[id + 1] += end[id];
    for (uint32_t i = 0; i < c->n_ops; i++)
        if (c->ops[i].region < c->n_regions)
            row[end[c->ops[i].region]++] = i;
    for (uint32_t id = 0; id < c->n_regions; from = end[id++]) {
        struct rows rows = { c->ops, row + from, end[id] - from };
        struct tg_region_side *side = TG_NEW_N(c->arena, struct tg_region_side, 2);
        for (int s = 0; s < 2; s++)
            side[s] = add_up(c, &rows, id, s);
        c->regions[id].side = side;
    }
}

struct tg_region_side tg_region_side_of(const struct tg_comparison *c, uint32_t region, int side)
{
    struct rows all = { c->ops, NULL, c->n_ops };
    return region < c->n_regions && c->regions[region].side ? c->regions[region].side[side]
                                                            : add_up(c, &all, region, side);
}

size_t tg_region_names(const struct tg_comparison *c, uint32_t region, int side,
                       const struct tg_op **out, size_t most)
{
    struct tg_region_side s = tg_region_side_of(c, region, side);
    for (size_t i = 0; i < most && i < s.n; i++)
        out[i] = s.op[i];
    return s.n;
}

double tg_region_calls(const struct tg_comparison *c, const struct tg_region *g, int side)
{
    return tg_region_side_of(c, (uint32_t)(g - c->regions), side).calls;
}

double tg_region_all_calls(const struct tg_comparison *c, const struct tg_region *g)
{
    struct tg_region_side s = tg_region_side_of(c, (uint32_t)(g - c->regions), TG_BASE);
    return s.all[false] > 0 ? s.all[false] : s.all[true];
}
