#ifndef TG_SUMMARY_TREE_H
#define TG_SUMMARY_TREE_H
/*
 * The calling context tree of a shard: which row ran inside which other one. A row knows the name
 * around it; a node knows its whole path, so that `aten::mm` inside one operator is not `aten::mm`
 * inside another. Every call of a row belongs to exactly one of its nodes: over the nodes of a row,
 * counts and self times add up to the row's, in each step and outside.
 *
 *   root > annotation > operator > operator > runtime call       host: what encloses it
 *   root > annotation > operator > kernel, copy, set             device: what encloses its launch
 *
 * Step markers and the spans that are windows have nodes of their own, directly below the root;
 * what they enclose does too, so that steps are not told apart. Python functions are not nodes:
 * only traces with stacks have them, and a summary must not depend on whether somebody asked for
 * them. Backward work is what autograd's thread did: it has no encloser.
 *
 * Bounded: a row that is TG_TREE_RECURSION times on a path is not entered again (its calls are
 * those of its deepest node there); numbered annotations beside each other share what is below the
 * first of them (TG_TREE_NUMBERED); what is deeper than TG_TREE_DEPTH, or more than
 * limits.max_nodes, is a node of its row below TG_ROOT_OTHER, and `cut` counts these spans.
 */
#include <stddef.h>
#include <stdint.h>

#include "core/base/strmap.h"
#include "core/base/sv.h"

#define TG_TREE_RECURSION 4
#define TG_TREE_DEPTH 256
#define TG_TREE_NUMBERED 64

/* The first nodes of a tree. */
enum tg_root {
    TG_ROOT_STEP,    /* the thread of the step markers, inside the windows; without markers, every
                        thread */
    TG_ROOT_THREADS, /* the other threads, at any time */
    TG_ROOT_BETWEEN, /* the thread of the step markers, outside every window */
    TG_ROOT_DEVICE,  /* device work without a launch, and the device's own rows */
    TG_ROOT_OTHER,   /* what was cut */
    TG_ROOTS
};

struct tg_tree_node {
    uint32_t parent; /* a node before it; TG_NO_ID: a root */
    uint32_t row;    /* of the shard; TG_NO_ID: a root */
    uint32_t
        split; /* where its numbers are, if its row has several nodes; TG_NO_ID: the row's are its
                        own */
};

/* Nodes in preorder, children in the order of their rows. No nodes: the tree is not known. */
struct tg_tree {
    const struct tg_tree_node *node;
    size_t n, n_split;
    uint32_t *count; /* [n_split][n_steps + 1] */
    tg_ns *self;     /* [n_split][n_steps + 1], ns */
    uint64_t cut;
};

struct tg_shard;
/* Calls and self time of a node that is not a root, [n_steps + 1]. */
const uint32_t *tg_tree_count(const struct tg_shard *s, const struct tg_tree_node *node);
const tg_ns *tg_tree_self(const struct tg_shard *s, const struct tg_tree_node *node);
#endif
