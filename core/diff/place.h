#ifndef TG_DIFF_PLACE_H
#define TG_DIFF_PLACE_H
/*
 * Places: where two programs differ, and what the difference comes to there.
 *
 * A node of the aligned trees (place_tree.h) *changed* if every fresh run has more calls of it per step
 * than any step of the baseline, or every one fewer, or none: a number that varies in the baseline tells
 * nothing within its range. A *place* is the deepest node around changed ones that did not change itself
 * and that both sides have: the smallest part of the program that holds all of the difference. Inside a
 * place names are contents. They are added up by kind and name, so that a call that another helper makes
 * now cancels out, and a rename, a replacement, a fusion or a split is one place with its net.
 *
 *              baseline                 fresh                    the place `GPT.forward`
 *     GPT.forward                GPT.forward                     came   aten::index  4
 *       aten::linear               aten::linear                  whole  -2.5 ms on the device
 *         aten::mm  9 x 400 us       aten::mm  9 x 110 us
 *                                  aten::index 4 x 15 us
 *
 * Time is in two forms: of the contents alone, and of the whole place, which has what is called as
 * often as before but takes another time. A place inside another one is not part of it.
 *
 * Work that left one node and came to another, so that in what holds both the calls of its name are as
 * many as before, has moved: what holds both is its place, and its parts say so. Nothing holds two
 * threads: such places are a group. So are a place and that of the backward work of its operators (by
 * its generator's name: "GeluBackward0" of "aten::gelu"), which autograd runs on a thread of its own. All
 * of it is one edit of the program, and its cost is the sum over the group.
 *
 * Pure data: what is good or bad is not said here. Not looked at: markers, polling calls, and what has
 * no calls of its own. Cost: linear in the nodes, after they are built.
 */
#include "core/diff/place_tree.h"

/* What calls do. */
enum tg_work {
    TG_WORK_KERNEL,
    TG_WORK_COPY, /* on the device, as are sets */
    TG_WORK_SET,
    TG_WORK_GRAPH, /* launches of graphs */
    TG_WORK_SYNC,  /* the host waits */
    TG_WORK_ALLOC, /* memory of the device, or pinned: taken or given back */
    TG_WORK_OP,
    TG_WORK_CALL,  /* other calls of the runtime */
    TG_WORK_OTHER, /* annotations, waits on the device, what no category names */
    TG_WORKS
};
enum tg_work tg_work_of(enum tg_kind kind, tg_sv name);

/* Calls of one name in a place, per step: medians over runs, net of what only changed its helper. */
struct tg_place_part {
    enum tg_kind kind;
    tg_sv name;
    double calls
        [2]; /* of the nodes that changed; 0 in the baseline: it came, 0 in the fresh runs: it went */
    double ns[2]; /* their mean time */
    bool moved;
};

/* ns per step, per run: self time on the host, and of device work. */
struct tg_place_time {
    double *host[2], *device[2];
};
enum tg_over_steps { TG_OVER_STEPS_MEAN, TG_OVER_STEPS_LEAST, TG_OVER_STEPS_ALL };

struct tg_place_change {
    uint32_t node;              /* of the tree */
    struct tg_place_part *part; /* the largest difference of time first */
    size_t n_parts;             /* 0: the same calls, nested in each other in another way */
    double *calls[TG_WORKS][2]; /* of the contents, per run */
    struct tg_place_time contents[TG_OVER_STEPS_ALL], whole[TG_OVER_STEPS_ALL];
    bool
        choice; /* an operator, called as often as before, that uses other kernels, copies and sets */
    bool moved;     /* all of its parts moved */
    uint32_t group; /* the first place of its group: itself, if it is alone */
};

struct tg_places {
    struct tg_place_tree tree;
    struct tg_place_change *v; /* the largest difference of the contents' mean time first */
    size_t n;
};

/* In w->a. After tg_diff_select. */
void tg_places_find(struct tg_places *out, struct tg_diff_work *w);
#endif
