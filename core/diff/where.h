#ifndef TG_DIFF_WHERE_H
#define TG_DIFF_WHERE_H
/*
 * Inside which annotation the calls of an operator lie: the nearest one around them, in the calling
 * context trees of both sides (core/summary/tree.h). Calls of one name under two annotations are two spots.
 *
 * Without trees (a summary of 0.2.0) a row says the name around it and no more: the annotation is found
 * by climbing from name to name, each by the name around most of its own calls, which may be wrong. With
 * a clock of whole microseconds even that name is chance, and so is what a tree says of operators.
 */
#include "core/diff/internal.h"

struct tg_spot {
    tg_sv around;    /* "" the step, and other threads */
    double calls[2]; /* per step and rank: the median over runs of what a usual step has */
};

struct tg_where {
    struct tg_diff_work *w;
    bool flat;                  /* some shard has no tree, or a cut one */
    const struct tg_op **named; /* by interned name: the operator or annotation of that name */
    size_t n_named;
    struct tg_spot *spot; /* by operator, then name of what is around */
    size_t *first;        /* of an operator's spots */
};

/* In w->a. After operators are gathered. */
void tg_where_open(struct tg_where *out, struct tg_diff_work *w);
/* By name, or in the order of rows; valid as long as the arena. */
const struct tg_spot *tg_where_of(const struct tg_where *x, const struct tg_op *op, size_t *n);
/* The one with most of its calls: of the fresh side, or of the baseline if it went. */
tg_sv tg_where_most(const struct tg_where *x, const struct tg_op *op);
/* The annotation of a spot; NULL: the step. */
const struct tg_op *tg_where_op(const struct tg_where *x, tg_sv around);
#endif
