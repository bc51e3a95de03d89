#ifndef TG_POLICY_VERDICT_REASON_H
#define TG_POLICY_VERDICT_REASON_H
/*
 * Why a row is not a plain pass or failure, in one table. A *need* is what lacks to judge it: its row
 * is not judged, suspicious or inconclusive. A *reason* softens a failure: its row warns, or passes.
 * A policy's `exceptions` are reasons by these names, JSON's `because` names them all, and
 * docs/reasons.md lists them.
 *
 * A row has one: a need ends its judgement, and what is softened already no reason softens again.
 */
#include "core/diff/compare.h"

enum tg_reason {
    TG_REASON_NONE,
    /* Exceptions: a rule says which of them hold. As enum tg_exception. */
    TG_REASON_RENAMED,
    TG_REASON_REPLACED,
    TG_REASON_SMALL,
    TG_REASON_POLLING,
    TG_REASON_COUNTED,
    TG_REASON_CHANCE,
    /* Reasons of a row. */
    TG_REASON_SOME_CALLS,
    TG_REASON_SOME_STEPS,
    TG_REASON_SOME_RUNS,
    TG_REASON_CROWDED,
    TG_REASON_STEADY,
    TG_REASON_AS_LONG,
    TG_REASON_REPAID,
    TG_REASON_HOT_MACHINE,
    TG_REASON_BESIDE,
    TG_REASON_CHOICE,
    TG_REASON_WAIVED,
    TG_REASON_EVENT,
    /* Reasons of the account. */
    TG_REASON_SLOW_MACHINE,
    TG_REASON_ALL_LONGER,
    TG_REASON_BUSY,
    TG_REASON_VARIES,
    TG_REASON_ONE_STEP,
    TG_REASON_BETWEEN_STEPS,
    TG_REASON_ONE_SLOW_RUN,
    TG_REASON_TOLD,
    TG_REASON_NO_RULE,
    /* Of a side. A note says it, and its row warns; or it is a need, of a row or of the comparison. */
    TG_REASON_NOTE, /* a warning that is not a row */
    TG_REASON_RANK,
    TG_REASON_RANKS,
    TG_REASON_DEVICE,
    TG_REASON_DATA,
    TG_REASON_MACHINE,
    TG_REASON_FLAGS,
    TG_REASON_OUTSIDE,
    TG_REASON_LAUNCHES,
    TG_REASON_UNKNOWN_WORK,
    TG_REASON_EVENTS,
    TG_REASON_ITERATIONS,
    TG_REASON_INTEGRITY,
    TG_REASON_SAME_RECORDING,
    TG_REASON_POLICY,
    TG_REASON_BASELINE,
    TG_REASON_ALL_GONE,
    /* Needs of a row. */
    TG_NEED_RUNS,
    TG_NEED_NEW_RUNS,
    TG_NEED_STEPS,
    TG_NEED_MARKERS,
    TG_NEED_OWN_TIME,
    TG_NEED_BOTH_SIDES,
    TG_NEED_SAME_CALLS,
    TG_NEED_STEADY_CALLS,
    TG_NEED_SIZE,
    TG_NEED_EVIDENCE,
    TG_NEED_ATTRIBUTE,
    TG_NEED_LIMIT,
    TG_NEED_EVENT,
    TG_NEED_MATCH,
    TG_NEED_VALUE,
    TG_NEED_STACKS,
    TG_NEED_PATTERN,
    TG_NEED_RANK,
    TG_NEED_METRIC,
    TG_NEED_BYTES,
    TG_NEED_ANY,
    /* Needs of a comparison. */
    TG_NEED_WINDOW,
    TG_NEED_FRESH_EVENTS,
    TG_NEED_KERNELS,
    TG_NEED_NAME,
    TG_NEED_DETECTABLE,
    TG_NEED_COLLAPSE,
    TG_NEED_CALLS,
    TG_REASONS
};

/* Of a row that the limit alone decides. */
#define TG_BECAUSE_LIMIT "limit"
/* "renamed", "runs"; NULL: TG_REASON_NONE. Stable: consumers of JSON compare it. */
const char *tg_reason_id(enum tg_reason r);
/* What holds, of a reason; what lacks, of a need: docs/reasons.md, which a test compares. */
const char *tg_reason_means(enum tg_reason r);
/* What `evidence` says after "only warns: " of a reason of a row, or the account after "it need not be
 * the program: "; NULL: its row says it at greater length. */
const char *tg_reason_said(enum tg_reason r);
/* May a rule say that it does not hold? */
bool tg_reason_is_exception(enum tg_reason r);
/* The need that lacks where core/diff did not judge a duration. */
enum tg_reason tg_reason_of_judged(enum tg_judged j);
#endif
