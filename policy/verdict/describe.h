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
/* What findings about calls weigh with all that is folded under them now; again when that changes. */
void tg_describe_weights(struct tg_verdict *v, const struct tg_comparison *c, struct tg_arena *a);
/*
 * The headline by itself, for what is folded now: of a single finding with what it costs and, PLACED,
 * the function it comes from. `c` NULL: without the cost. And in its place, whatever is around it.
 */
enum tg_headline { TG_HEADLINE_BARE, TG_HEADLINE_PLACED };
tg_sv tg_describe_headline(const struct tg_verdict *v, const struct tg_comparison *c,
                           enum tg_headline how, struct tg_arena *a);
void tg_describe_replace(struct tg_verdict *v, tg_sv was, tg_sv now, struct tg_arena *a);
/* A limit as a reader takes it: "+15 %" for `pct: auto` with a least size, nothing for `abs: 0` of calls, which the
 * words of a rule say; else as written. */
void tg_describe_limit(struct tg_buf *b, const struct tg_limit *l, const struct tg_probe *p);
#endif
