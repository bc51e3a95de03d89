#ifndef TG_CMD_POLICY_H
#define TG_CMD_POLICY_H
/*
 * `policy waive REPORT.json [RULE [NAME]]`: the waivers that accept a failed name and what it
 * explains, as text for the policy; without NAME those for all failures (of the rule).
 *
 *   the name's own rule: the ceiling is the largest change of the name and of those results of the
 *     same rule that it explains, because a waiver covers these within its ceiling
 *   what it explains under other rules: one item for each rule, further names in its `with`
 *   counts: as they are; durations and shares: a quarter above what was measured
 */
#include "core/base/buf.h"
#include "core/base/err.h"

struct tg_policy_waive_ask {
    tg_sv report; /* the JSON report's text */
    const char *file;
    tg_sv rule, name, reason, owner, issue; /* "" not given */
    int64_t today;                          /* days since 1970-01-01 */
};
enum { TG_POLICY_WAIVE_DAYS = 90 }; /* how long a waiver holds; at most 180 are allowed */

/* False: not a report of check, or nothing of that rule and name failed. */
TG_MUST bool tg_policy_waive(struct tg_buf *out, const struct tg_policy_waive_ask *ask,
                             struct tg_err *err);
#endif
