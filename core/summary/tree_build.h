#ifndef TG_SUMMARY_TREE_BUILD_H
#define TG_SUMMARY_TREE_BUILD_H
/* Makes trees. tg_tree_place finds the node of every span of a trace; tg_tree_order gives a tree
 * its canonical order and room for its numbers, whoever made its nodes. */
#include "core/steps/steps.h"
#include "core/summary/summary.h"

/* Nodes in any order, a parent before its children; the first TG_ROOTS are the roots. */
struct tg_placed {
    struct tg_tree_node *node; /* `row`: as the caller numbers rows */
    size_t n;
    uint32_t *at; /* after tg_tree_order: where each is in the tree */
    uint64_t cut;
};
/* A number per span: in a column, or in place of the index (tg_span) in a trace that is `spent`. */
struct tg_span_rows {
    uint32_t *column;
    struct tg_trace *spent; /* NULL: there is a column */
};
static inline uint32_t *tg_span_row(const struct tg_span_rows *r, size_t i)
{
    return r->spent ? &tg_span_at(r->spent, i)->index : &r->column[i];
}
/* `row_of`: the index of a span's row in `rows`; afterwards the index of its node. Linear in
 * the spans; creating a node costs its depth. */
void tg_tree_place(struct tg_placed *out, const struct tg_trace *t, const struct tg_steps *s,
                   const struct tg_row *rows, size_t n_rows, size_t max_nodes,
                   const struct tg_span_rows *row_of);
void tg_placed_release(struct tg_placed *p);

/* How many nodes a shard of `n_steps` may have: their numbers have a place for every step. */
size_t tg_tree_room(const struct tg_limits *limits, size_t n_steps);
/* May a stored tree be as large? What was cut has a node for each row beside those. */
bool tg_tree_fits(const struct tg_tree *t, size_t n_rows, size_t n_steps);
/* Gives each node of a row that has several a place for numbers of its own; returns how many. */
size_t tg_tree_split(struct tg_tree_node *v, size_t n, size_t n_rows);

/* out->tree of the nodes, in `a`: order, splits, and counts and self times of zero. `position`:
 * where each row will be in out->rows. */
void tg_tree_order(struct tg_shard *out, struct tg_placed *p, const uint32_t *position,
                   struct tg_arena *a);
/* Where the self time of a row saturated, it is that of its first node.
 * After everything is added up. */
void tg_tree_settle(struct tg_shard *s);
#endif
