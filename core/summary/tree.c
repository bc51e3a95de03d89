/* Calling context trees whatever they come from: their order, their numbers, a copy. */
#include "core/summary/tree.h"

#include "core/base/sort.h"
#include "core/summary/internal.h"
#include "core/summary/tree_build.h"

/* Numbers of nodes with a place for every step: 48 MiB. */
#define MAX_CELLS ((size_t)4 << 20)

size_t tg_tree_room(const struct tg_limits *limits, size_t n_steps)
{
    size_t most = (limits ? *limits : TG_LIMITS_DEFAULT).max_nodes;
    return most < MAX_CELLS / (n_steps + 1) ? most : MAX_CELLS / (n_steps + 1);
}

bool tg_tree_fits(const struct tg_tree *t, size_t n_rows, size_t n_steps)
{
    return t->n_split <= MAX_CELLS / (n_steps + 1) + n_rows;
}

/* ---- the order ---- */

struct placed {
    uint32_t parent, position, id;
};

static int by_place(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    int c = TG_CMP(x->parent, y->parent);
    return c ? c : TG_CMP(x->position, y->position);
}

/* The nodes by parent, then row; those of parent p begin at first[p]. */
static struct placed *by_parent(const struct tg_placed *p, const uint32_t *position, size_t *first)
{
    struct placed *v = tg_xrealloc(NULL, p->n, sizeof *v);
    size_t n = p->n - TG_ROOTS;
    for (size_t i = 0; i < n; i++) {
        const struct tg_tree_node *node = &p->node[i + TG_ROOTS];
        v[i] = (struct placed){ node->parent, position[node->row], (uint32_t)(i + TG_ROOTS) };
    }
    TG_SORT(v, n, by_place);
    for (size_t parent = 0, i = 0; parent <= p->n; parent++) {
        while (i < n && v[i].parent < parent)
            i++;
        first[parent] = i;
    }
    return v;
}

/* Nodes in preorder: a node, what is below it, its sibling. */
static void put_in_order(struct tg_placed *p, const struct placed *v, const size_t *first,
                         struct tg_tree_node *to)
{
    TG_FREE size_t *next = tg_xrealloc(NULL, p->n + 1, sizeof *next); /* by node: the next child */
    uint32_t n = TG_ROOTS;
    memcpy(next, first, p->n * sizeof *next);
    for (uint32_t root = 0; root < TG_ROOTS; root++) {
        p->at[root] = root;
        to[root] = (struct tg_tree_node){ TG_NO_ID, TG_NO_ID, TG_NO_ID };
        for (uint32_t up = root; up != TG_NO_ID;) {
            const struct placed *c = &v[next[up]];
            if (next[up] == first[up + 1]) {
                up = p->node[up].parent;
                continue;
            }
            next[up]++;
            p->at[c->id] = n;
            to[n++] = (struct tg_tree_node){ p->at[up], c->position, TG_NO_ID };
            up = c->id;
        }
    }
}

size_t tg_tree_split(struct tg_tree_node *v, size_t n, size_t n_rows)
{
    TG_FREE uint32_t *nodes = tg_xcalloc(n_rows + 1, sizeof *nodes);
    uint32_t n_split = 0;
    for (size_t i = TG_ROOTS; i < n; i++)
        nodes[v[i].row]++;
    for (size_t i = TG_ROOTS; i < n; i++)
        if (nodes[v[i].row] > 1)
            v[i].split = n_split++;
    return n_split;
}

void tg_tree_order(struct tg_shard *out, struct tg_placed *p, const uint32_t *position,
                   struct tg_arena *a)
{
    TG_FREE size_t *first = tg_xrealloc(NULL, p->n + 2, sizeof *first);
    TG_FREE struct placed *v = by_parent(p, position, first);
    struct tg_tree_node *node = TG_NEW_N(a, struct tg_tree_node, p->n);
    size_t n = out->n_steps + 1;
    p->at = tg_xrealloc(p->at, p->n, sizeof *p->at);
    put_in_order(p, v, first, node);
    out->tree = (struct tg_tree){ .node = node, .n = p->n, .cut = p->cut };
    out->tree.n_split = tg_tree_split(node, p->n, out->n_rows);
    out->tree.count = TG_NEW_N(a, uint32_t, out->tree.n_split * n);
    out->tree.self = TG_NEW_N(a, tg_ns, out->tree.n_split * n);
}

/* ---- numbers ---- */

const uint32_t *tg_tree_count(const struct tg_shard *s, const struct tg_tree_node *node)
{
    return node->split == TG_NO_ID ? s->rows[node->row].count
                                   : s->tree.count + node->split * (s->n_steps + 1);
}

const tg_ns *tg_tree_self(const struct tg_shard *s, const struct tg_tree_node *node)
{
    return node->split == TG_NO_ID ? s->rows[node->row].self
                                   : s->tree.self + node->split * (s->n_steps + 1);
}

void tg_tree_settle(struct tg_shard *s)
{
    TG_FREE bool *seen = tg_xcalloc(s->n_rows + 1, 1);
    for (size_t i = TG_ROOTS; i < s->tree.n; i++) {
        const struct tg_tree_node *node = &s->tree.node[i];
        tg_ns *self = s->tree.self + node->split * (s->n_steps + 1);
        for (size_t k = 0; node->split != TG_NO_ID && k <= s->n_steps; k++)
            if (s->rows[node->row].self[k] == INT64_MAX)
                self[k] = seen[node->row] ? 0 : INT64_MAX;
        seen[node->row] = true;
    }
}
