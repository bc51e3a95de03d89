/*
 * What reports tell of a place where calls came and went: the names of both sides, and their calls.
 * It may have thousands of names, so they are added up once, when the comparison is complete.
 */
#include <math.h>

#include "core/diff/names.h"
#include "core/diff/uses.h"

int tg_op_side_of_region(const struct tg_op *op)
{
    bool part = op->region != TG_NO_ID && op->relation != TG_REL_RENAMED && op->change != TG_SAME;
    return !part ? -1 : tg_op_rose(op) ? TG_TEST : TG_BASE;
}

void tg_regions_group(struct tg_comparison *c)
{
    uint32_t *op = TG_NEW_N(c->arena, uint32_t, c->n_ops + 1);
    size_t *end = TG_NEW_N(c->arena, size_t, c->n_regions + 1), from = 0;
    for (size_t i = 0; i < c->n_ops; i++)
        if (c->ops[i].region < c->n_regions)
            end[c->ops[i].region + 1]++;
    for (size_t id = 0; id < c->n_regions; id++)
        end[id + 1] += end[id];
    for (uint32_t i = 0; i < c->n_ops; i++)
        if (c->ops[i].region < c->n_regions)
            op[end[c->ops[i].region]++] = i;
    for (size_t id = 0; id < c->n_regions; from = end[id++]) {
        c->regions[id].op = op + from;
        c->regions[id].n_ops = end[id] - from;
    }
}

/* Those that changed most come first; `op` are in the order of the comparison. */
static int by_change(const void *pa, const void *pb)
{
    const struct tg_op *a = *(const struct tg_op *const *)pa, *b = *(const struct tg_op *const *)pb;
    int c = -TG_CMP(fabs(a->self[TG_TEST] - a->self[TG_BASE]),
                    fabs(b->self[TG_TEST] - b->self[TG_BASE]));
    return c ? c : TG_CMP(a, b);
}

static void add_up(const struct tg_comparison *c, uint32_t region, int side)
{
    struct tg_region *g = &c->regions[region];
    TG_FREE const struct tg_op **op = tg_xmalloc((g->n_ops + 1) * sizeof *op);
    TG_AUTO(tg_strmap_release)
    struct tg_strmap letters; /* of names whose nodes of autograd follow */
    size_t n = 0, named = 0;
    tg_strmap_init(&letters);
    for (size_t i = 0; i < g->n_ops; i++) {
        const struct tg_op *x = &c->ops[g->op[i]];
        TG_BUF b = { 0 };
        if (tg_op_side_of_region(x) != side)
            continue;
        op[n++] = x;
        g->side[side].pooled |= x->ev.pooled > 0;
        g->side[side].all[tg_backward_named(x->name) || tg_op_allocates(x)] += x->count[side];
        g->side[side].less_ns += x->self[TG_BASE] - x->self[TG_TEST];
        if (tg_name_put_letters(x->name, &b))
            tg_strmap_add(&letters, tg_buf_sv(&b));
    }
    for (size_t i = 0; i < n; i++) {
        TG_BUF b = { 0 };
        bool follows = op[i]->kind == TG_KIND_OP && tg_name_is_node(op[i]->name) &&
                       tg_name_put_node_letters(op[i]->name, &b) &&
                       tg_strmap_find(&letters, tg_buf_sv(&b)) != TG_NO_ID;
        if (!follows)
            op[named++] = op[i];
    }
    TG_SORT(op, named, by_change);
    g->side[side].op = tg_arena_copy(c->arena, op, named, sizeof *op);
    g->side[side].n = named;
}

void tg_regions_close(struct tg_comparison *c)
{
    for (uint32_t id = 0; id < c->n_regions; id++)
        for (int side = 0; side < 2; side++)
            add_up(c, id, side);
}

size_t tg_region_names(const struct tg_comparison *c, uint32_t region, int side,
                       const struct tg_op **out, size_t most)
{
    if (region >= c->n_regions) /* TG_NO_ID, too */
        return 0;
    const struct tg_region *g = &c->regions[region];
    for (size_t i = 0; i < most && i < g->side[side].n; i++)
        out[i] = g->side[side].op[i];
    return g->side[side].n;
}

double tg_region_all_calls(const struct tg_region *g)
{
    const double *all = g->side[TG_BASE].all;
    return all[false] > 0 ? all[false] : all[true];
}

bool tg_region_part(const struct tg_comparison *c, const struct tg_op *op, double ns[2])
{
    const struct tg_region *g = op->region < c->n_regions ? &c->regions[op->region] : NULL;
    const struct tg_evidence *ev = &op->ev;
    bool part = g && ev->pooled && ev->why_not == TG_JUDGED &&
                g->calls[TG_BASE] == g->calls[TG_TEST] && tg_op_side_of_region(op) == TG_TEST &&
                tg_region_all_calls(g) > g->calls[TG_BASE];
    if (!part)
        return false;
    ns[TG_BASE] = g->side[TG_BASE].less_ns;
    ns[TG_TEST] = ns[TG_BASE] + ev->value[TG_TEST] - ev->value[TG_BASE];
    return ns[TG_BASE] > 0;
}
