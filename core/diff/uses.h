#ifndef TG_DIFF_USES_H
#define TG_DIFF_USES_H
/*
 * Who calls what, and how often: the index that places are made of, built once where any count
 * changed. The caller is the name around a row, for device work what launched it. The annotation is
 * the nearest one around each call by its path in the calling context trees of both sides
 * (core/summary/tree.h), at the largest the step:
 * work of one name under two annotations is in two places.
 *
 * Without trees (a summary of 0.2.0) the annotation is found by climbing from name to name, each by
 * the name around most of its own calls, which may be wrong. With a clock of whole microseconds
 * children seem to start before their parents: the name around is wrong by chance (`exact`).
 */
#include "core/diff/internal.h"

enum tg_level { TG_IN_CALLER, TG_IN_ANNOTATION, TG_LEVELS };

struct tg_use {
    uint32_t op;    /* index of what is called, */
    uint32_t by;    /* of the operator or annotation; TG_NO_ID: the step, or what is not compared */
    tg_sv in;       /* the name of that, normalised; "" the step */
    double *run[2]; /* per step in each run, all ranks: what its usual step has */
    double per_step[2]; /* per rank; the median of the runs */
    /* Inside an annotation, as the trees tell, ns in each run, all ranks:
     * the least of the steps. NULL: not known. */
    double *ns[2];
    const struct tg_use *next_inside; /* of IN_CALLER: what the same one calls as well; NULL */
};

struct tg_uses { /* by name around */
    const struct tg_use *v;
    size_t n;
};

struct tg_use_index {
    struct tg_uses all[TG_LEVELS];       /* by operator, */
    const struct tg_uses *of[TG_LEVELS]; /* and those of each */
    const struct tg_use **inside;        /* the first that each one calls */
    bool exact;
};

/*
 * A place is where the program decides work: the annotation around calls, at the largest the step.
 * Inside a place names are contents. What came and what went there are balanced, and the balance is
 * what the place decided; what another place saves excuses nothing.
 *
 *   index     who calls what, and inside which annotation                  uses.c
 *   balance   what came and went in a place: renamed, replaced, worse      place.c
 *   choice    the place is one operator: a library's other kernels         place_choice.c
 *   lead      the operator whose additional calls make others              place_lead.c
 *   small     what costs next to nothing                                   place_small.c
 *   cost      moved with calls, repaid by the place                        place_cost.c
 *   names     what reports tell of a place                                 place_names.c
 *
 * Calls are counted by one measure: of what changed in a place, the weightiest sort alone. Views
 * and metadata weigh nothing, an operator that mostly calls others less than what it calls. A graph
 * counts as the kernels that it launches.
 */

/* What the k-th rank of a side does in a step. Time: the median over runs of the least step, or,
 * where calls vary, of the mean. Calls: the mean of all steps. */
struct tg_on_rank {
    double ns, calls;
};
struct tg_on_rank tg_op_on_rank(const struct tg_diff_work *w, const struct tg_op *op, int side,
                                size_t k, enum tg_op_part part);
/* On which ranks have its calls changed? A hash; 0: on all. */
uint64_t tg_op_changed_ranks(const struct tg_diff_work *w, const struct tg_op *op);
/* The same of its self time, ns per step and rank of a side: the mean of the ranks. */
double tg_op_least_ns(const struct tg_diff_work *w, const struct tg_op *op, int side);

/* An annotation of both sides; what is in one that a side lacks is in the place around, on both
 * sides. */
bool tg_op_is_place(const struct tg_op *op);

/* In w->a, with w->uses. After operators are aligned. */
void tg_uses_index(struct tg_diff_work *w);

/* Calls of one operator. */
static inline struct tg_uses tg_uses_of(const struct tg_diff_work *w, enum tg_level level,
                                        uint32_t op)
{
    return w->uses->of[level][op];
}
/* Its calls inside calls of its own name; NULL: none. */
const struct tg_use *tg_uses_of_itself(const struct tg_diff_work *w, const struct tg_op *op);
/* Those inside the annotation, or the step, where most of them came or went; where their number is
 * the same, where most of them are. NULL: none. */
const struct tg_use *tg_uses_most(const struct tg_diff_work *w, const struct tg_op *op);
/* Its time per step and rank on a side: the median of the runs. */
double tg_use_ns(const struct tg_diff_work *w, const struct tg_use *x, int side);
double tg_use_rise(const struct tg_use *x); /* additional calls per step */
#endif
