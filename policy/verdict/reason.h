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

/* X(constant, id, what holds of a reason or lacks of a need, what reports say of it) */
#define TG_REASONS_TABLE(X)                                                                        \
    /* Exceptions: a rule says which of them hold. As enum tg_exception. */                        \
    X(TG_REASON_RENAMED, "renamed",                                                                \
      "a name of the same kind went, called as often and taking about as long", "renamed")         \
    X(TG_REASON_REPLACED, "replaced",                                                              \
      "in its annotation, or in the step, no more calls of its kind came than went; or its "       \
      "operator chose other kernels",                                                              \
      "replaced")                                                                                  \
    X(TG_REASON_SMALL, "small",                                                                    \
      "all additions of its kind together take under 0.1 % of the step, and none waits, copies "   \
      "or allocates",                                                                              \
      "all such additions together under 0.1 % of the step")                                       \
    X(TG_REASON_POLLING, "polling", "a call of the runtime whose number is random", "polling")     \
    X(TG_REASON_COUNTED, "counted", "more calls alone make the additional bytes",                  \
      "bytes that more calls alone explain")                                                       \
    X(TG_REASON_CHANCE, "chance", "more calls in some steps or runs, which may be chance",         \
      "in some steps or runs only")                                                                \
    /* Reasons of a row. */                                                                        \
    X(TG_REASON_SOME_CALLS, "some-calls",                                                          \
      "the step with most calls exceeds the limit, not each step",                                 \
      "more calls in some steps or runs may be chance")                                            \
    X(TG_REASON_SOME_STEPS, "some-steps",                                                          \
      "a step of each fresh run is much slower, or most of the runs are", NULL)                    \
    X(TG_REASON_SOME_RUNS, "some-runs",                                                            \
      "slower in most fresh runs than in all of the baseline, not in all",                         \
      "most fresh runs are above all of the baseline, the others are not")                         \
    X(TG_REASON_STEADY, "steady",                                                                  \
      "proven of device work, but smaller than what fails without new runs",                       \
      "device work of one program may differ as much between processes; new runs tell")           \
    X(TG_REASON_AS_LONG, "as-long",                                                                \
      "the time between operators grew, and the step takes as long as before",                     \
      "the host's step takes as long as before; do waits end sooner, or did operators move to "    \
      "another thread, or the markers?")                                                           \
    X(TG_REASON_FASTEST, "fastest-steps",                                                          \
      "the fastest steps take longer, all steps together do not",                                  \
      "all steps together take no longer")                                                         \
    X(TG_REASON_REPAID, "repaid", "slower, or more calls, and its place takes less time",          \
      "the step takes less time in all")                                                           \
    X(TG_REASON_HOT_MACHINE, "hot-machine", "small names together, on the host",                   \
      "a machine that is shared or hot makes all small ones slower")                               \
    X(TG_REASON_BESIDE, "beside", "small names together, on a device that does other work now",    \
      "beside other work small ones may take longer")                                              \
    X(TG_REASON_CHOICE, "choice", "a library chose other kernels for the same calls", NULL)        \
    X(TG_REASON_WAIVED, "waived", "a waiver of the policy covers it", NULL)                        \
    X(TG_REASON_EVENT, "event", "an event of the history explains it", NULL)                       \
    /* Reasons of the account. */                                                                  \
    X(TG_REASON_SLOW_MACHINE, "slow-machine",                                                      \
      "what all operators together got slower by explains the growth",                             \
      "the whole machine is slower: all operators together")                                       \
    X(TG_REASON_ALL_LONGER, "all-longer", "most operators take longer",                    \
      "all operators take longer, as on a slower or busy machine")                         \
    X(TG_REASON_BUSY, "busy", "the fresh runs were disturbed",                                     \
      "the machine was busy during the fresh runs")                                                \
    X(TG_REASON_VARIES, "varies",                                                                  \
      "names whose calls vary in the baseline, too, hold half of the growth",                      \
      "these are names whose calls vary in the baseline, too")                                     \
    X(TG_REASON_ONE_STEP, "one-step", "one step of each run holds the growth",                     \
      "one step of each run holds it, as a cold start or a recompilation does")                    \
    X(TG_REASON_BETWEEN_STEPS, "between-steps", "the growth is outside the steps",                 \
      "it is outside the steps")                                                                   \
    X(TG_REASON_ONE_SLOW_RUN, "one-slow-run", "one run of the baseline was as slow",               \
      "one baseline run was as slow; all others were faster")                                      \
    X(TG_REASON_ONE_OF_MANY, "one-of-many", "one of many ranks grew",                              \
      "of so many ranks one may be so by chance; more runs tell")                                  \
    X(TG_REASON_TOLD, "told", "rows that warn explain the growth", NULL)                           \
    X(TG_REASON_NO_RULE, "no-rule", "no rule of the policy fails by such a quantity", NULL)        \
    /* Of a side: a note whose row warns; or a need, of a row or of the comparison. */             \
    X(TG_REASON_NOTE, "note", "a warning that is not a row", NULL)                                 \
    X(TG_REASON_RANK, "rank", "one rank is compared with another one", NULL)                       \
    X(TG_REASON_RANKS, "ranks",                                                                    \
      "ranks are missing: on one side, in some runs, or of a collective, whose wait is theirs",    \
      "it also waits for ranks that are not compared")                                             \
    X(TG_REASON_DEVICE, "device",                                                                  \
      "the two sides ran on different devices, or one of them without", NULL)                      \
    X(TG_REASON_DATA, "data", "the fresh runs had other data", "the fresh runs had other data")    \
    X(TG_REASON_MACHINE, "machine", "the machine was busy, or slower, during the fresh runs",      \
      NULL)                                                                                        \
    X(TG_REASON_FLAGS, "flags", "recorded with other options of the profiler", NULL)               \
    X(TG_REASON_OUTSIDE, "outside", "work came outside the steps", NULL)                           \
    X(TG_REASON_LAUNCHES, "launches", "more launches whose work is not in the trace", NULL)        \
    X(TG_REASON_UNKNOWN_WORK, "unknown", "work of a category that nobody knows grew", NULL)        \
    X(TG_REASON_EVENTS, "events", "more events than any rule counts", NULL)                        \
    X(TG_REASON_ITERATIONS, "iterations", "unmarked traces hold another number of iterations",     \
      NULL)                                                                                        \
    X(TG_REASON_INTEGRITY, "integrity", "events are damaged, lost or there twice", NULL)           \
    X(TG_REASON_SAME_RECORDING, "same",                                                            \
      "a fresh trace is the baseline's, or two ranks are one recording", NULL)                     \
    X(TG_REASON_POLICY, "policy", "the policy of the change is looser than the baseline's", NULL)  \
    X(TG_REASON_BASELINE, "baseline",                                                              \
      "there is no baseline, or nothing was compared with one of them", NULL)                      \
    X(TG_REASON_ALL_GONE, "all-gone", "nothing that the rule matches is left", NULL)               \
    /* Needs of a row. */                                                                          \
    X(TG_NEED_RUNS, "runs", "more runs per side", NULL)                                            \
    X(TG_NEED_NEW_RUNS, "new-runs", "new runs that tell: it looks slower, and is asked again",     \
      NULL)                                                                                        \
    X(TG_NEED_STEPS, "steps", "more steps per run", NULL)                                          \
    X(TG_NEED_MARKERS, "markers", "marks of steps, on both sides", NULL)                           \
    X(TG_NEED_OWN_TIME, "own-time", "time of its own: this is a wait for others", NULL)            \
    X(TG_NEED_BOTH_SIDES, "both-sides", "the name in every run of both sides", NULL)               \
    X(TG_NEED_SAME_CALLS, "same-calls", "as many calls on both sides: the count is judged", NULL)  \
    X(TG_NEED_STEADY_CALLS, "steady-calls", "calls that align: their number varies", NULL)         \
    X(TG_NEED_SIZE, "size", "a time long enough to be measured", NULL)                             \
    X(TG_NEED_EVIDENCE, "evidence", "values of each run, which this metric lacks here", NULL)      \
    X(TG_NEED_ATTRIBUTE, "attribute", "the attribute, in all runs of both sides", NULL)            \
    X(TG_NEED_LIMIT, "no-limit", "a limit: the policy has none for it", NULL)                      \
    X(TG_NEED_EVENT, "when", "the event, branch or device that `when` names", NULL)                \
    X(TG_NEED_MATCH, "match", "a name that the rule matches", NULL)                                \
    X(TG_NEED_VALUE, "value", "a value of the metric, of any name that the rule matches", NULL)    \
    X(TG_NEED_STACKS, "stacks", "Python stacks, on both sides", NULL)                              \
    X(TG_NEED_PATTERN, "pattern", "a pattern that is simple enough", NULL)                         \
    X(TG_NEED_RANK, "trace-of-rank", "a trace of the rank that the rule names", NULL)              \
    X(TG_NEED_METRIC, "metric", "what the metric is computed from", NULL)                          \
    X(TG_NEED_BYTES, "bytes", "sizes in the fresh traces; the baseline has them", NULL)            \
    X(TG_NEED_ANY, "judged", "anything that could be judged", NULL)                                \
    /* Needs of a comparison. */                                                                   \
    X(TG_NEED_WINDOW, "window", "steps that are marked alike on both sides", NULL)                 \
    X(TG_NEED_FRESH_EVENTS, "empty", "events in the fresh traces", NULL)                           \
    X(TG_NEED_KERNELS, "kernels", "as many kernels as `require.kernels` asks for", NULL)           \
    X(TG_NEED_NAME, "ops", "a name that `require.ops` asks for", NULL)                             \
    X(TG_NEED_DETECTABLE, "detectable", "runs that could show what `require.detectable` asks for", \
      NULL)                                                                                        \
    X(TG_NEED_COLLAPSE, "collapse", "the kernels: more than half of them are gone", NULL)          \
    X(TG_NEED_CALLS, "calls", "calls to count", NULL)

enum tg_reason {
    TG_REASON_NONE,
#define TG_REASON_CONSTANT(constant, id, means, said) constant,
    TG_REASONS_TABLE(TG_REASON_CONSTANT)
#undef TG_REASON_CONSTANT
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
