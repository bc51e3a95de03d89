#ifndef TG_POLICY_VERDICT_EXPLAIN_H
#define TG_POLICY_VERDICT_EXPLAIN_H
/* Which rules judge a name, with which limits, and where each is written. The answer comes from the
 * functions that judge. */
#include "core/diff/compare.h"
#include "policy/language/policy.h"

/* `c`: the traces, as runs of the same code, compared with themselves: then the answer has their
 * present values, where each limit begins, the noise and the smallest detectable slowdown. NULL: no
 * traces; of `op` only name, raw names, kind and class are used, and rules that match by parent are
 * given as depending on it. Returns how many rules judge it. */
size_t tg_policy_explain_op(const struct tg_policy *p, const struct tg_op *op,
                            const struct tg_comparison *c, struct tg_buf *out);
/* A rule by its id, with `c` also the names that it matches; false: there is no such rule. */
bool tg_policy_explain_rule(const struct tg_policy *p, tg_sv id, const struct tg_comparison *c,
                            struct tg_buf *out);
#endif
