#ifndef TG_CAUSE_EXPLAIN_H
#define TG_CAUSE_EXPLAIN_H
/*
 * The path that explains a difference: from the root, down to the child that holds 60 % or more of
 * its parent's difference, as long as there is one.
 *
 *   difference of a node = median over the steps of the fresh side - median of the baseline's
 *   (means where the medians show less than half of it: what strikes a minority of the steps)
 *
 * Durations descend by time, counts by calls.
 */
#include "core/cause/paths.h"

#define TG_CAUSE_CHILD 0.6 /* a child's part of its parent's difference, to go on */
#define TG_CAUSE_NAMED 0.1 /* part of the whole difference below which a function is not named */

struct tg_cause_frame {
    enum tg_path_kind kind;
    tg_sv text;      /* functions: as the caller named them, "Block.forward" */
    tg_sv file;      /* functions; else "" */
    uint32_t line;   /* the function's first line as the trace has it; 0 unknown */
    double share;    /* of the whole difference */
    double calls[2]; /* of functions: per step, from everywhere */
};
struct tg_cause_path {
    struct tg_cause_frame *frames; /* outermost first */
    size_t n;
    double share;      /* of the difference that the last frame holds, 0..1 */
    double difference; /* per step: ns or calls, test - baseline */
    bool backward;     /* inside the backward pass of the path */
    bool is_new; /* the baseline has nothing of the target on this path, but, if `backward`, the
                  forward operator */
    struct tg_cause_frame next; /* the largest child of the last frame: the runner-up; share 0:
                                   none */
    /* Every function with a tenth of the difference or more, wherever it is called from; deepest
     * first. */
    struct tg_cause_frame *functions;
    size_t n_functions;
};

enum tg_cause_by { TG_CAUSE_BY_TIME, TG_CAUSE_BY_CALLS };
/* False: these traces show no difference of the target in the direction of `sign` (1 or -1).
 * Everything in `out` points into `a` or `p`. */
bool tg_cause_explain(struct tg_cause_path *out, const struct tg_paths *p, uint32_t target,
                      enum tg_cause_by by, int sign, struct tg_arena *a);
#endif
