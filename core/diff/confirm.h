#ifndef TG_DIFF_CONFIRM_H
#define TG_DIFF_CONFIRM_H
/*
 * Ask again: what a first look suspects is asked of runs that did not choose it. The evidence of a
 * later look is of new runs alone, so the few names that are asked need no allowance for the many
 * that were looked at, and an exact test of each (tg_shift_find) suffices.
 *
 *     one run per side      counts alone: what they prove ends it
 *     TG_ASK_FIRST per side counts and sizes are final; a time that looks slower is a suspect
 *     TG_ASK_NEW more       suspects only, in all new runs so far: cleared, red if they are enough,
 *                           or open
 *     as many more, twice   the same of those that are open; the last look leaves none open
 *
 * The plan is fixed before the first run, and so are the largest p that confirm: a smaller one
 * while more may be asked, so that most of the allowed error is left for the look that has most
 * runs. Pure functions. Error rates: docs/experiments/ask-again.md.
 */
#include "core/diff/compare.h"

/*
 * By how much are the fresh runs slower, and could that be chance? The time of an operator depends
 * on the layout of its process. Many have two speeds, and each run one of them: medians and ranks
 * compare the fast runs of one side with the slow ones of the other. But if the fresh runs are
 * moved back by the slowdown, all fall together:
 *
 *     baseline   x x xx         x xx          moved back   x x xx         x xx
 *     fresh          y yy yy        y y                    y yy yy        y y
 *
 * The statistic is by how much more likely all runs become, each by its distances from the others,
 * when the fresh ones are moved back by the best of some sizes. p is the part of all divisions of
 * these runs into two sides that gain as much, so it is exact whatever the distribution is.
 * Compared with other tests: docs/experiments/ask-again.md.
 */

struct tg_shift {
    double e; /* ln of the slowdown; 0: none */
    double p;
};
/*
 * Of logarithms of run values, in any order. If the divisions are many, of a fixed sequence of
 * random ones. Beyond TG_RANK_MAX runs of a side: of medians and ranks. p of a slowdown up to
 * `least` is not asked for: it stays 1.
 */
struct tg_shift tg_shift_find(const double *base, size_t nb, const double *fresh, size_t nt,
                              double least);

/* How a comparison of the first runs is judged in stages. */
struct tg_asking {
    const struct tg_comparison *again; /* of all new runs alone; NULL: none so far */
    double detect;                     /* the size that matters, as ratio - 1 */
    size_t first, new;                 /* runs per side that are there */
    /* Runs per side, first and new, that the next look would have; 0: this is the last. */
    size_t next;
    bool early; /* a look at counts: TG_ASK_FIRST are still to come, and no time is asked */
    /* All names rose together, and did not in the first look: nothing is red by these new runs. */
    bool disturbed;
};
/* `most`: runs per side that there may be in all. */
struct tg_asking tg_asking_of(size_t first, size_t new, size_t most, double detect);

/*
 * Does the first look ask again? A name is asked by a low bar, lower still if it looks slower by
 * the size that matters, unless it is a small part of the step. With `step_ns` NULL, of a metric,
 * only what one look proves is asked. `then`: as if new runs confirmed it.
 */
bool tg_confirm_suspects(const struct tg_evidence *first, const double *step_ns, double detect,
                         struct tg_evidence *then);
/*
 * Do new runs say anything of a suspect? A machine that disturbed the fresh ones made them slower:
 * these prove nothing, but clear what does not look slower even so.
 */
bool tg_confirm_tells(const struct tg_evidence *again);
/* What all new runs so far say of a suspect, and what they show. `last`: no more will come. */
enum tg_asked tg_confirm(const struct tg_evidence *first, const struct tg_evidence *again,
                         double detect, bool last, struct tg_shift *found);
/* Would these runs be unlikely if the fresh ones were slower by the size that matters? */
bool tg_confirm_excludes(const struct tg_evidence *ev, double detect);
/* Runs per side that would exclude it of no change, at the noise of these `n`. */
size_t tg_confirm_runs(const struct tg_evidence *ev, size_t n, double detect);
/*
 * The evidence of a suspect, `ev`, as the stages so far leave it: with the numbers of the new runs,
 * if `again` has any. NULL: there are no new runs, or they lack it.
 */
void tg_confirm_set(struct tg_evidence *ev, const struct tg_evidence *again,
                    const struct tg_asking *asking);
/* The same operator, kernel or frame in the new runs; NULL: they lack it. */
const struct tg_op *tg_confirm_op(const struct tg_comparison *again, const struct tg_op *op);
/* After both are compared: wall clock and busy time that grew, and whether the machine was busy,
 * are what the new runs say. */
void tg_confirm_whole(struct tg_comparison *c);
/* Of the new runs, if any: what the step as a whole takes, what the machine did. NULL of NULL. */
const struct tg_comparison *tg_confirm_last(const struct tg_comparison *c);
/* Why a time is not judged; NULL: it is, or was not asked. */
const char *tg_confirm_text(const struct tg_evidence *ev);
#endif
