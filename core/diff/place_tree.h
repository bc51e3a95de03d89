#ifndef TG_DIFF_PLACE_TREE_H
#define TG_DIFF_PLACE_TREE_H
/*
 * The calling context trees of all shards of both sides as one: nodes of one path, by kind and
 * normalised name, are one node. That is the alignment from the top down: what both sides have below
 * equal paths is the same place of the program.
 *
 * A node has, of each run, its own calls and self time (device: duration) per step: sums over ranks. Of
 * the steps of a rank it is the number of calls that all have, but for a first one, else the mean; the
 * mean time; and the least time: each call as fast as in its fastest step, because preemption only adds
 * (the mean, if the number varies). Work between the steps is divided by their number.
 *
 * With a clock of whole microseconds (w->tick) operators are not nested in operators, nor calls of the
 * runtime in each other: those that merely follow each other may seem to be, others in each run. Operators
 * are below the annotation, and have their calls and kernels.
 *
 * If any shard has no tree (a summary of 0.2.0) or a cut one, all are taken as trees of one level: a
 * row below the name around it.
 *
 * Linear in nodes times steps, and in the calls.
 */
#include "core/diff/internal.h"

struct tg_place_node {
    uint32_t parent;   /* a node before it; TG_NO_ID: a root */
    enum tg_root root; /* where its path begins */
    enum tg_kind kind; /* OTHER of roots, and of names around rows in trees of one level */
    tg_sv name;        /* normalised; of roots "step", "other threads", … */
    bool present[2];   /* in some shard of the side */
    double *calls[2], *mean[2], *least[2]; /* per run; times in ns */
    double *low[2],
        *high[2]; /* per run: calls of the steps with fewest and most; `calls`, if steps agree */
};
/* The first TG_ROOTS nodes are the roots; children of one node follow each other by kind, then name. */
struct tg_place_tree {
    struct tg_place_node *v;
    size_t n;
    bool flat;   /* trees of one level */
    bool coarse; /* operators are not inside operators */
};

/* In w->a. After tg_diff_select. */
void tg_place_tree_build(struct tg_place_tree *out, struct tg_diff_work *w);
/* "step > GPT.forward > aten::linear" */
void tg_place_path(const struct tg_place_tree *t, uint32_t node, struct tg_buf *out);
#endif
