#ifndef TG_DIFF_COUNTS_H
#define TG_DIFF_COUNTS_H
/*
 * Did the number of calls of one operator rise? Plain functions of its counts by step. What they
 * decide: docs/statistics.md#counts; the constants: docs/statistics-rules.md.
 *
 * A baseline with one count in all its steps makes every difference exact. Otherwise the count
 * follows the data or a branch, and what the baseline's steps reached is possible without a change.
 */
#include "core/diff/compare.h"
#include "core/diff/numbers.h"

struct tg_step_counts { /* of a run: calls by step, mean over ranks */
    const double *v;
    size_t n;
};

enum tg_calls { TG_CALLS_WORK, TG_CALLS_WAIT };
static inline enum tg_calls tg_calls_of(const struct tg_op *op)
{
    return tg_op_makes_wait(op) ? TG_CALLS_WAIT : TG_CALLS_WORK;
}
/*
 * Fills everything but `run`. Calls that make others wait (tg_op_makes_wait) fail on less.
 * For "did it fall?" negate all counts. No steps on a side: unchanged. Cost: proportional to base
 * steps times fresh steps where the baseline varies; else to their sum.
 */
void tg_count_judge(struct tg_count_evidence *ev, const struct tg_step_counts *const run[2],
                    const size_t n_runs[2], enum tg_calls calls);
#endif
