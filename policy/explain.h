#ifndef TG_POLICY_EXPLAIN_H
#define TG_POLICY_EXPLAIN_H
/*
 * Which rules judge a name, with which limits, and where each was written; the answer comes from
 * the functions that judge.
 */
#include "core/diff/compare.h"
#include "policy/policy.h"

/*
 * `op`: name, raw names, kind, class and parent are looked at. `parent_known` false: rules that
 * match by parent are named as depending on it. Returns how many rules judge it.
 */
size_t tg_policy_explain_op(const struct tg_policy *p, const struct tg_op *op, bool parent_known,
                            struct tg_buf *out);
/* A rule by its id; false: there is none. */
bool tg_policy_explain_rule(const struct tg_policy *p, tg_sv id, struct tg_buf *out);
#endif
