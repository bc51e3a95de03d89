/* The calling context tree of a shard with an injected regression: what became of its rows. */
#include <stdlib.h>

#include "core/base/keymap.h"
#include "core/summary/internal.h"
#include "core/summary/tree_build.h"

struct graft {
    const struct tg_shard *was;
    struct tg_shard *now;
    struct tg_placed placed;
    uint32_t *row_of;       /* by row of `was`: the row of `now`; TG_NO_ID: it is gone */
    uint32_t *row_was;      /* by row of `now`: the row of `was`; TG_NO_ID: it is new */
    uint32_t *node_of;      /* by node of `was`: the node in `placed` */
    struct tg_keymap edges; /* (parent, row) -> the node less the roots */
    size_t cap;
};

static void pair_rows(struct graft *g, const struct tg_row_key *const *key)
{
    TG_AUTO(tg_keymap_release) struct tg_keymap known = { .words = 1 };
    g->row_of = tg_xrealloc(NULL, g->was->n_rows + 1, sizeof *g->row_of);
    g->row_was = tg_xrealloc(NULL, g->now->n_rows + 1, sizeof *g->row_was);
    for (size_t i = 0; i < g->was->n_rows; i++) {
        const uint64_t word = (uint64_t)(uintptr_t)key[i];
        (void)tg_keymap_add(&known, &word);
        g->row_of[i] = TG_NO_ID;
    }
    for (size_t i = 0; i < g->now->n_rows; i++) {
        const uint64_t word = (uint64_t)(uintptr_t)g->now->rows[i].key;
        g->row_was[i] = tg_keymap_find(&known, &word);
        if (g->row_was[i] != TG_NO_ID)
            g->row_of[g->row_was[i]] = (uint32_t)i;
    }
}

static uint32_t node_for(struct graft *g, uint32_t parent, uint32_t row)
{
    const uint64_t word = (uint64_t)parent << 32 | row;
    uint32_t id = tg_keymap_add(&g->edges, &word) + TG_ROOTS;
    if (id == g->placed.n)
        *TG_PUSH(g->placed.node, g->placed.n, g->cap) =
            (struct tg_tree_node){ parent, row, TG_NO_ID };
    return id;
}

/* The node that encloses a new row: of its parent's name, the one called most. */
static uint32_t encloser_of(const struct graft *g, const struct tg_row_key *key)
{
    const struct tg_tree *t = &g->was->tree;
    uint32_t best = key->device < 0 ? TG_ROOT_STEP : TG_ROOT_DEVICE;
    uint64_t most = 0;
    if (tg_sv_eq(key->parent, TG_SV("ProfilerStep")))
        return TG_ROOT_STEP;
    for (size_t i = TG_ROOTS; key->parent.n && i < t->n; i++) {
        const uint32_t *count = tg_tree_count(g->was, &t->node[i]);
        const struct tg_row_key *k = g->was->rows[t->node[i].row].key;
        uint64_t n = 0;
        if (!tg_kind_nests(k->kind) || !tg_sv_eq(k->name, key->parent))
            continue;
        for (size_t step = 0; step < g->was->n_steps; step++)
            n += count[step];
        if (n > most) {
            most = n;
            best = g->node_of[i];
        }
    }
    return best;
}

static uint32_t tree_node(const struct graft *g, uint32_t was)
{
    return g->placed.at[g->node_of[was]];
}

/* Calls that are more than there were repeat the first ones, as their times do. */
static void split_slots(struct graft *g, struct tg_row *row, const struct tg_row *was,
                        struct tg_arena *a)
{
    const uint32_t *old = was->slot_node;
    uint32_t *to = row->slot_node = TG_NEW_N(a, uint32_t, (size_t)tg_row_calls(g->now, row) + 1);
    for (size_t k = 0; k < g->now->n_steps; old += was->count[k++])
        for (uint32_t i = 0; i < row->count[k]; i++)
            *to++ = was->count[k] ? tree_node(g, old[i % was->count[k]]) : TG_NO_ID;
}

static size_t cell(const struct tg_shard *s, uint32_t node, size_t bucket)
{
    return s->tree.node[node].split * (s->n_steps + 1) + bucket;
}

/* The row's self time in one step over its nodes, by what their calls took;
 * exact to the nanosecond. */
static void split_time(struct graft *g, const struct tg_row *row, size_t k, size_t slot)
{
    struct tg_shard *s = g->now;
    long double weight = 0;
    tg_ns rest = row->self[k];
    for (size_t i = slot; i < slot + row->count[k]; i++)
        weight += (long double)(row->slots ? row->slots[i] : 1);
    for (size_t i = slot; i < slot + row->count[k]; i++) {
        long double part = weight > 0 ? (long double)(row->slots ? row->slots[i] : 1) / weight : 0;
        tg_ns ns = (tg_ns)((long double)row->self[k] * part);
        ns = ns < rest ? ns : rest;
        s->tree.count[cell(s, row->slot_node[i], k)]++;
        s->tree.self[cell(s, row->slot_node[i], k)] += ns;
        rest -= ns;
    }
    if (row->count[k])
        s->tree.self[cell(s, row->slot_node[slot], k)] += rest;
}

static void fill(struct graft *g, struct tg_arena *a)
{
    struct tg_shard *s = g->now;
    const struct tg_tree *t = &g->was->tree;
    for (size_t r = 0; r < s->n_rows; r++)
        s->rows[r].slot_node = NULL;
    for (uint32_t i = TG_ROOTS; i < s->tree.n; i++) {
        struct tg_row *row = &s->rows[s->tree.node[i].row];
        if (s->tree.node[i].split == TG_NO_ID || row->slot_node)
            continue;
        split_slots(g, row, &g->was->rows[g->row_was[s->tree.node[i].row]], a);
        size_t calls = (size_t)tg_row_calls(s, row);
        for (size_t k = 0; k < calls; k++) /* of steps that had no call */
            if (row->slot_node[k] == TG_NO_ID)
                row->slot_node[k] = i;
        for (size_t k = 0, slot = 0; k < s->n_steps; slot += row->count[k++])
            split_time(g, row, k, slot);
    }
    for (uint32_t i = TG_ROOTS; i < t->n; i++) {
        uint32_t node = tree_node(g, i);
        if (node < TG_ROOTS || g->row_of[t->node[i].row] == TG_NO_ID ||
            s->tree.node[node].split == TG_NO_ID)
            continue;
        s->tree.count[cell(s, node, s->n_steps)] += tg_tree_count(g->was, &t->node[i])[s->n_steps];
        s->tree.self[cell(s, node, s->n_steps)] += tg_tree_self(g->was, &t->node[i])[s->n_steps];
    }
}

void tg_inject_tree(const struct tg_shard *was, struct tg_shard *now,
                    const struct tg_row_key *const *key, struct tg_arena *a)
{
    struct graft g = { .was = was, .now = now, .edges.words = 1 };
    TG_FREE uint32_t *same = tg_xrealloc(NULL, now->n_rows + 1, sizeof *same);
    if (!was->tree.n)
        return;
    for (size_t i = 0; i < now->n_rows; i++)
        same[i] = (uint32_t)i;
    g.placed.cut = was->tree.cut;
    pair_rows(&g, key);
    /* What was below a row that is gone is now where that row was. */
    const struct tg_tree *t = &g.was->tree;
    g.node_of = tg_xrealloc(NULL, t->n, sizeof *g.node_of);
    for (uint32_t root = 0; root < TG_ROOTS; root++) {
        *TG_PUSH(g.placed.node, g.placed.n, g.cap) = t->node[root];
        g.node_of[root] = root;
    }
    for (size_t i = TG_ROOTS; i < t->n; i++) {
        uint32_t parent = g.node_of[t->node[i].parent], row = g.row_of[t->node[i].row];
        g.node_of[i] = row == TG_NO_ID ? parent : node_for(&g, parent, row);
    }
    for (size_t i = 0; i < g.now->n_rows; i++)
        if (g.row_was[i] == TG_NO_ID)
            (void)node_for(&g, encloser_of(&g, g.now->rows[i].key), (uint32_t)i);
    tg_tree_order(now, &g.placed, same, a);
    fill(&g, a);
    tg_keymap_release(&g.edges);
    tg_placed_release(&g.placed);
    free(g.row_of);
    free(g.row_was);
    free(g.node_of);
}
