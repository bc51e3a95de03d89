#ifndef TG_POLICY_VERDICT_DESCRIBE_H
#define TG_POLICY_VERDICT_DESCRIBE_H
/* The sentences of a verdict: one line a tired engineer understands. Texts live in `a`. */
#include "policy/verdict/judge.h"

/* What, how much per step, share of the step. Fills message, evidence and next of `r`. */
void tg_describe_op(struct tg_result *r, const struct tg_op *op, const struct tg_comparison *c,
                    const struct tg_probe *p, const struct tg_judgement *j, struct tg_arena *a);
void tg_describe_metric(struct tg_result *r, const struct tg_comparison *c,
                        const struct tg_probe *p, const struct tg_judgement *j, struct tg_arena *a);
/* Headline and coverage of a verdict whose results are sorted: describe_verdict.c. */
void tg_describe_verdict(struct tg_verdict *v, const struct tg_comparison *c, struct tg_arena *a);
/* What findings about calls weigh with all that is folded under them now; again when that
 * changes. */
void tg_describe_weights(struct tg_verdict *v, const struct tg_comparison *c, struct tg_arena *a);
/* The headline, for what is folded now: of a single finding with what it costs and the function
 * that it comes from, if that is known. `c` NULL: without the cost. */
void tg_describe_headline(struct tg_verdict *v, const struct tg_comparison *c, struct tg_arena *a);
/* The message of a number of calls; `weight`: what it says of its weight, as ", 4.1 % of the
 * step". */
void tg_describe_calls(struct tg_result *r, const struct tg_op *op, const struct tg_comparison *c,
                       const double calls[2], tg_sv weight, struct tg_arena *a);
/* A limit as a reader takes it: "+15 %" for `pct: auto` with a least size, nothing for `abs: 0`
 * of calls, which the words of a rule say; else as written. */
void tg_describe_limit(struct tg_buf *b, const struct tg_limit *l, const struct tg_probe *p);
#endif
