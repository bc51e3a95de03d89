#ifndef TG_POLICY_VERDICT_REASON_H
#define TG_POLICY_VERDICT_REASON_H
/*
 * Why a row is not a plain pass or failure, in one table. A *need* is what lacks to judge it: its
 * row is not judged, suspicious or inconclusive. A *reason* softens a failure: its row warns, or
 * passes. A policy's `exceptions` are reasons by these names, JSON's `because` names them all, and
 * docs/reasons.md says what each means.
 *
 * A row has one: a need ends its judgement, and what is softened already no reason softens again.
 */
#include "core/diff/compare.h"

/* X(constant, id, what reports say of it: see tg_reason_said) */
#define TG_REASONS_TABLE(X)                                                                        \
    /* Exceptions: a rule says which of them hold. As enum tg_exception. */                        \
    X(TG_REASON_RENAMED, "renamed", "renamed")                                                     \
    X(TG_REASON_REPLACED, "replaced", "replaced")                                                  \
    X(TG_REASON_SMALL, "small", "such additions are small beside the step, or what they save")     \
    X(TG_REASON_POLLING, "polling", "polling")                                                     \
    X(TG_REASON_COUNTED, "counted", "bytes that more calls alone explain")                         \
    X(TG_REASON_CHANCE, "chance", "in some steps or runs only")                                    \
    /* Reasons of a row. */                                                                        \
    X(TG_REASON_SOME_CALLS, "some-calls", "more calls in some steps or runs may be chance")        \
    X(TG_REASON_SOME_STEPS, "some-steps", NULL)                                                    \
    X(TG_REASON_SOME_RUNS, "some-runs",                                                            \
      "most fresh runs are above all of the baseline, the others are not")                         \
    X(TG_REASON_STEADY, "steady",                                                                  \
      "device work of one program may differ as much between processes; new runs tell")            \
    X(TG_REASON_OVERLAP, "overlap",                                                                \
      "work of another stream overlaps calls of it that ran alone before; its other calls are "    \
      "not slower")                                                                                \
    X(TG_REASON_AS_LONG, "as-long",                                                                \
      "the host's step takes as long as before; do waits end sooner, or did operators move to "    \
      "another thread, or the markers?")                                                           \
    X(TG_REASON_FASTEST, "fastest-steps", "all steps together take no longer")                     \
    X(TG_REASON_REPAID, "repaid", "the annotation around it, or else the step, takes less time")   \
    X(TG_REASON_LESS_HIDDEN, "less-hidden",                                                        \
      "communication takes as long, and what hid it takes less")                                   \
    X(TG_REASON_CHOICE, "choice", NULL)                                                            \
    X(TG_REASON_WAIVED, "waived", NULL)                                                            \
    X(TG_REASON_EVENT, "event", NULL)                                                              \
    /* Reasons of the account. */                                                                  \
    X(TG_REASON_SLOW_MACHINE, "slow-machine",                                                      \
      "the whole machine is slower: all operators together")                                       \
    X(TG_REASON_ALL_LONGER, "all-longer",                                                          \
      "all operators take longer, as on a slower or busy machine")                                 \
    X(TG_REASON_BUSY, "busy", "the machine was busy during the fresh runs")                        \
    X(TG_REASON_WARMING, "warming", "the device's speed changes within the runs")                  \
    X(TG_REASON_VARIES, "varies", "these are names whose calls vary in the baseline, too")         \
    X(TG_REASON_ONE_STEP, "one-step",                                                              \
      "one step of each run holds it, as a cold start or a recompilation does")                    \
    X(TG_REASON_BETWEEN_STEPS, "between-steps", "it is outside the steps")                         \
    X(TG_REASON_ONE_SLOW_RUN, "one-slow-run",                                                      \
      "one baseline run was as slow; all others were faster")                                      \
    X(TG_REASON_ONE_OF_MANY, "one-of-many",                                                        \
      "of so many ranks one may be so by chance; more runs tell")                                  \
    X(TG_REASON_TOLD, "told", NULL)                                                                \
    X(TG_REASON_NO_RULE, "no-rule", NULL)                                                          \
    /* Of a side: a note whose row warns; or a need, of a row or of the comparison. */             \
    X(TG_REASON_NOTE, "note", NULL)                                                                \
    X(TG_REASON_RANK, "rank", NULL)                                                                \
    X(TG_REASON_RANKS, "ranks", "it also waits for ranks that are not compared")                   \
    X(TG_REASON_DEVICE, "device", NULL)                                                            \
    X(TG_REASON_DATA, "data", "the fresh runs had other data")                                     \
    X(TG_REASON_MACHINE, "machine", NULL)                                                          \
    X(TG_REASON_FLAGS, "flags", NULL)                                                              \
    X(TG_REASON_OUTSIDE, "outside", NULL)                                                          \
    X(TG_REASON_LAUNCHES, "launches", NULL)                                                        \
    X(TG_REASON_UNKNOWN_WORK, "unknown", NULL)                                                     \
    X(TG_REASON_EVENTS, "events", NULL)                                                            \
    X(TG_REASON_ITERATIONS, "iterations", NULL)                                                    \
    X(TG_REASON_GRADIENTS, "gradients", NULL)                                                      \
    X(TG_REASON_INTEGRITY, "integrity", NULL)                                                      \
    X(TG_REASON_SAME_RECORDING, "same", NULL)                                                      \
    X(TG_REASON_POLICY, "policy", NULL)                                                            \
    X(TG_REASON_BASELINE, "baseline", NULL)                                                        \
    X(TG_REASON_ALL_GONE, "all-gone", NULL)                                                        \
    /* Needs of a row. */                                                                          \
    X(TG_NEED_RUNS, "runs", NULL)                                                                  \
    X(TG_NEED_NEW_RUNS, "new-runs", NULL)                                                          \
    X(TG_NEED_STEPS, "steps", NULL)                                                                \
    X(TG_NEED_MARKERS, "markers", NULL)                                                            \
    X(TG_NEED_OWN_TIME, "own-time", NULL)                                                          \
    X(TG_NEED_BOTH_SIDES, "both-sides", NULL)                                                      \
    X(TG_NEED_SAME_CALLS, "same-calls", NULL)                                                      \
    X(TG_NEED_STEADY_CALLS, "steady-calls", NULL)                                                  \
    X(TG_NEED_EVIDENCE, "evidence", NULL)                                                          \
    X(TG_NEED_ATTRIBUTE, "attribute", NULL)                                                        \
    X(TG_NEED_LIMIT, "no-limit", NULL)                                                             \
    X(TG_NEED_EVENT, "when", NULL)                                                                 \
    X(TG_NEED_MATCH, "match", NULL)                                                                \
    X(TG_NEED_VALUE, "value", NULL)                                                                \
    X(TG_NEED_STACKS, "stacks", NULL)                                                              \
    X(TG_NEED_PATTERN, "pattern", NULL)                                                            \
    X(TG_NEED_RANK, "trace-of-rank", NULL)                                                         \
    X(TG_NEED_METRIC, "metric", NULL)                                                              \
    X(TG_NEED_BYTES, "bytes", NULL)                                                                \
    X(TG_NEED_ANY, "judged", NULL)                                                                 \
    /* Needs of a comparison. */                                                                   \
    X(TG_NEED_WINDOW, "window", NULL)                                                              \
    X(TG_NEED_FRESH_EVENTS, "empty", NULL)                                                         \
    X(TG_NEED_KERNELS, "kernels", NULL)                                                            \
    X(TG_NEED_NAME, "ops", NULL)                                                                   \
    X(TG_NEED_DETECTABLE, "detectable", NULL)                                                      \
    X(TG_NEED_COLLAPSE, "collapse", NULL)                                                          \
    X(TG_NEED_CALLS, "calls", NULL)                                                                \
    X(TG_REASON_LIMIT, "limit", NULL) /* of a row that the limit alone decides */

enum tg_reason {
    TG_REASON_NONE,
#define TG_REASON_CONSTANT(constant, id, said) constant,
    TG_REASONS_TABLE(TG_REASON_CONSTANT)
#undef TG_REASON_CONSTANT
        TG_REASONS
};

/* "renamed", "runs"; NULL: TG_REASON_NONE. Stable: consumers of JSON compare it. */
const char *tg_reason_id(enum tg_reason r);
/* What `evidence` says after "only warns: " of a reason of a row, or the account after "it need
 * not be the program: "; NULL: its row says it at greater length. */
const char *tg_reason_said(enum tg_reason r);
/* The need that lacks where core/diff did not judge a duration. */
enum tg_reason tg_reason_of_judged(enum tg_judged j);
#endif
