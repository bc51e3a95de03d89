#ifndef TG_POLICY_VERDICT_EXPLAIN_H
#define TG_POLICY_VERDICT_EXPLAIN_H
/*
 * Which rules judge a name, with which limits, and where each was written; the answer comes from
 * the functions that judge.
 */
#include "core/diff/compare.h"
#include "policy/language/policy.h"

/*
 * `c`: the traces, as runs of one code, against themselves: what they have now, where each limit
 * begins, noise and the smallest slowdown that is seen are told as well. NULL: no traces; of `op`
 * only name, raw names, kind and class are looked at then, and rules that match by parent are named
 * as depending on it. Returns how many rules judge it.
 */
size_t tg_policy_explain_op(const struct tg_policy *p, const struct tg_op *op,
                            const struct tg_comparison *c, struct tg_buf *out);
/* A rule by its id, with `c` also the names it matches; false: there is none. */
bool tg_policy_explain_rule(const struct tg_policy *p, tg_sv id, const struct tg_comparison *c,
                            struct tg_buf *out);
#endif
