#include "core/diff/where.h"

#include <stdlib.h>

#include "core/diff/stats.h"

#define MAX_DEPTH 64 /* of names that enclose each other, which would not end */

/* For each name the host operator that enclosers of that name mean. */
static void index_names(struct tg_where *x)
{
    const struct tg_comparison *c = x->w->c;

    x->n_named = x->w->names->n;
    x->named = TG_NEW_N(x->w->a, const struct tg_op *, x->n_named + 1);
    for (size_t i = 0; i < c->n_ops; i++) {
        const struct tg_op *op = &c->ops[i];
        uint32_t id = tg_strmap_find(x->w->names, op->name);
        if (id >= x->n_named || !tg_kind_nests(op->kind))
            continue;
        const struct tg_op *known = x->named[id];
        if (!known ||
            op->whole_total[0] + op->whole_total[1] > known->whole_total[0] + known->whole_total[1])
            x->named[id] = op;
    }
}

const struct tg_op *tg_where_op(const struct tg_where *x, tg_sv around)
{
    uint32_t id = around.n ? tg_strmap_find(x->w->names, around) : TG_NO_ID;
    return id < x->n_named ? x->named[id] : NULL;
}

/* The nearest annotation from `name` outwards, by each name's main encloser. */
static tg_sv climb(const struct tg_where *x, tg_sv name)
{
    for (int depth = 0; depth < MAX_DEPTH && name.n; depth++) {
        const struct tg_op *op = tg_where_op(x, name);
        if (!op || op->kind == TG_KIND_STEP)
            break;
        if (op->kind == TG_KIND_ANNOTATION)
            return name;
        name = op->parent;
    }
    return TG_SV("");
}

static tg_sv annotation_around(const struct tg_place_tree *t, uint32_t node)
{
    for (uint32_t up = t->v[node].parent; up != TG_NO_ID; up = t->v[up].parent)
        if (t->v[up].kind == TG_KIND_ANNOTATION)
            return t->v[up].name;
    return TG_SV("");
}

/* ---- by the trees ---- */

static int by_name(const void *key, const void *element)
{
    const struct tg_place_node *node = key;
    const struct tg_op *op = element;
    int c = TG_CMP(node->kind, op->kind);
    return c ? c : tg_sv_cmp(node->name, op->name);
}

/* Operators are in the order of kind and name. */
static void list_nodes(struct tg_where *x)
{
    const struct tg_comparison *c = x->w->c;

    x->first = TG_NEW_N(x->w->a, uint32_t, c->n_ops + 1);
    x->next = TG_NEW_N(x->w->a, uint32_t, x->tree.n + 1);
    memset(x->first, 0xff, (c->n_ops + 1) * sizeof *x->first);
    for (uint32_t i = (uint32_t)x->tree.n; c->n_ops && i-- > TG_ROOTS;) {
        const struct tg_place_node *node = &x->tree.v[i];
        const struct tg_op *op = bsearch(node, c->ops, c->n_ops, sizeof *c->ops, by_name);
        if (!op || node->root == TG_ROOT_BETWEEN)
            continue;
        x->next[i] = x->first[op - c->ops];
        x->first[op - c->ops] = i;
    }
}

void tg_where_open(struct tg_where *out, struct tg_diff_work *w)
{
    *out = (struct tg_where){ .w = w };
    index_names(out);
    tg_place_tree_build(&out->tree, w);
    if (!out->tree.flat)
        list_nodes(out);
}

/* Adds to the spot there, or makes one: room is for all. */
static void add_spot(struct tg_spot *v, size_t *n, tg_sv around, const double calls[2])
{
    size_t k = 0;

    while (k < *n && !tg_sv_eq(v[k].around, around))
        k++;
    if (k == *n)
        v[(*n)++] = (struct tg_spot){ .around = around };
    for (int side = 0; side < 2; side++)
        v[k].calls[side] += calls[side];
}

static struct tg_spot *spots_in_tree(const struct tg_where *x, size_t op, size_t *n)
{
    const struct tg_comparison *c = x->w->c;
    size_t nodes = 0;
    struct tg_spot *v;

    for (uint32_t i = x->first[op]; i != TG_NO_ID; i = x->next[i])
        nodes++;
    v = TG_NEW_N(x->w->a, struct tg_spot, nodes + 1);
    for (uint32_t i = x->first[op]; i != TG_NO_ID; i = x->next[i]) {
        double calls[2];
        for (int side = 0; side < 2; side++) {
            const double *of = x->tree.v[i].calls[side];
            calls[side] =
                tg_median(tg_arena_copy(x->w->a, of, c->n_runs[side], sizeof *of), c->n_runs[side]);
            calls[side] /= (double)c->n_ranks[side];
        }
        add_spot(v, n, annotation_around(&x->tree, i), calls);
    }
    return v;
}

/* ---- by the names around rows ---- */

static struct tg_spot *spots_of_rows(const struct tg_where *x, const struct tg_op *op, size_t *n)
{
    TG_AUTO(tg_strmap_release) struct tg_strmap parents;
    struct tg_spot *v;

    tg_strmap_init(&parents);
    tg_op_parents(x->w, op, TG_BASE, &parents);
    v = TG_NEW_N(x->w->a, struct tg_spot, parents.n + 1);
    for (size_t i = 0; i < parents.n; i++) {
        const double calls[2] = { tg_count_under(x->w, op, TG_BASE, parents.text[i]),
                                  tg_count_under(x->w, op, TG_TEST, parents.text[i]) };
        add_spot(v, n, climb(x, tg_diff_name(x->w, TG_KIND_OP, parents.text[i])), calls);
    }
    return v;
}

struct tg_spot *tg_where_of(const struct tg_where *x, const struct tg_op *op, size_t *n)
{
    *n = 0;
    return x->tree.flat ? spots_of_rows(x, op, n)
                        : spots_in_tree(x, (size_t)(op - x->w->c->ops), n);
}

tg_sv tg_where_most(const struct tg_where *x, const struct tg_op *op)
{
    int side = op->present[TG_TEST] ? TG_TEST : TG_BASE;
    const struct tg_spot *v;
    size_t n, best = 0;

    if (x->tree.flat)
        return climb(x, op->parent);
    v = tg_where_of(x, op, &n);
    for (size_t i = 1; i < n; i++)
        best = v[i].calls[side] > v[best].calls[side] ? i : best;
    return n ? v[best].around : TG_SV("");
}
