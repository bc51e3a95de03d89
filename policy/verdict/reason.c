#include "policy/verdict/reason.h"

#include "policy/language/keys.h"

_Static_assert((int)TG_REASON_RENAMED == (int)TG_EXCEPTION_RENAMED &&
                   (int)TG_REASON_CHANCE == (int)TG_EXCEPTION_CHANCE,
               "exceptions are the first reasons");

static const struct {
    const char *id, *means, *said;
} reasons[TG_REASONS] = {
    [TG_REASON_RENAMED] = { NULL,
                            "a name of the same kind went, called as often and taking about as "
                            "long",
                            "renamed" },
    [TG_REASON_REPLACED] = { NULL,
                             "in its annotation, or in the step, no more calls of its kind came "
                             "than went; or its operator chose other kernels",
                             "replaced" },
    [TG_REASON_SMALL] = { NULL,
                          "all additions of its kind together take under 0.1 % of the step, and "
                          "none waits, copies or allocates",
                          "all such additions together under 0.1 % of the step" },
    [TG_REASON_POLLING] = { NULL, "a call of the runtime whose number is random", "polling" },
    [TG_REASON_COUNTED] = { NULL, "more calls alone make the additional bytes",
                            "bytes that more calls alone explain" },
    [TG_REASON_CHANCE] = { NULL, "more calls in some steps or runs, which may be chance",
                           "in some steps or runs only" },
    [TG_REASON_SOME_CALLS] = { "some-calls",
                               "the step with most calls exceeds the limit, not each step",
                               "more calls in some steps or runs may be chance" },
    [TG_REASON_SOME_STEPS] = { "some-steps",
                               "a step of each fresh run is much slower, or most of the runs are",
                               NULL },
    [TG_REASON_SOME_RUNS] = { "some-runs",
                              "slower in most runs, not in all, under a limit with a size of its "
                              "own",
                              NULL },
    [TG_REASON_CROWDED] = { "crowded", "more than a tenth of the big operators moved as well",
                            "more than a tenth of the big operators moved as well, which may be "
                            "the machine" },
    [TG_REASON_STEADY] = { "steady",
                           "proven of device work, but smaller than what fails without new runs",
                           "device work of one program may differ so from process to process; new "
                           "runs tell" },
    [TG_REASON_AS_LONG] = { "as-long",
                            "the time between operators grew, and the step takes as long as before",
                            "the host's step takes as long as before; did operators move to "
                            "another thread, or the markers?" },
    [TG_REASON_REPAID] = { "repaid", "slower, and its place takes less time in all",
                           "the step takes less time in all" },
    [TG_REASON_HOT_MACHINE] = { "hot-machine", "small names together, on the host",
                                "a machine that is shared or hot makes all small ones slower" },
    [TG_REASON_BESIDE] = { "beside", "small names together, on a device that does other work now",
                           "beside other work small ones may take longer" },
    [TG_REASON_CHOICE] = { "choice", "a library chose other kernels for the same calls", NULL },
    [TG_REASON_WAIVED] = { "waived", "a waiver of the policy covers it", NULL },
    [TG_REASON_EVENT] = { "event", "an event of the history explains it", NULL },
    [TG_REASON_SLOW_MACHINE] = { "slow-machine",
                                 "what all operators together got slower by explains the growth",
                                 "the whole machine is slower: all operators together" },
    [TG_REASON_ALL_LONGER] = { "all-longer", "most operators are a little longer",
                               "all operators are a little longer, as on a slower or busy "
                               "machine" },
    [TG_REASON_BUSY] = { "busy", "the fresh runs were disturbed",
                         "the machine was busy during the fresh runs" },
    [TG_REASON_VARIES] = { "varies",
                           "names whose calls vary in the baseline, too, hold half of the growth",
                           "these are names whose calls vary in the baseline, too" },
    [TG_REASON_ONE_STEP] = { "one-step", "one step of each run holds the growth",
                             "one step of each run holds it, as a cold start or a recompilation "
                             "does" },
    [TG_REASON_BETWEEN_STEPS] = { "between-steps", "the growth is outside the steps",
                                  "it is outside the steps" },
    [TG_REASON_ONE_SLOW_RUN] = { "one-slow-run", "one run of the baseline was as slow",
                                 "one baseline run was as slow; all others were faster" },
    [TG_REASON_TOLD] = { "told", "rows that warn explain the growth", NULL },
    [TG_REASON_NO_RULE] = { "no-rule", "no rule of the policy fails by such a quantity", NULL },
    [TG_REASON_NOTE] = { "note", "a warning that is not a row", NULL },
    [TG_REASON_RANK] = { "rank", "one rank is compared with another one", NULL },
    [TG_REASON_RANKS] = { "ranks", "ranks are missing, on one side or in some runs", NULL },
    [TG_REASON_DEVICE] = { "device",
                           "the two sides ran on different devices, or one of them without", NULL },
    [TG_REASON_DATA] = { "data", "the fresh runs had other data", "the fresh runs had other data" },
    [TG_REASON_MACHINE] = { "machine", "the machine was busy, or slower, during the fresh runs",
                            NULL },
    [TG_REASON_FLAGS] = { "flags", "recorded with other options of the profiler", NULL },
    [TG_REASON_OUTSIDE] = { "outside", "work came outside the steps", NULL },
    [TG_REASON_LAUNCHES] = { "launches", "more launches whose work is not in the trace", NULL },
    [TG_REASON_UNKNOWN_WORK] = { "unknown", "work of a category that nobody knows grew", NULL },
    [TG_REASON_EVENTS] = { "events", "more events than any rule counts", NULL },
    [TG_REASON_ITERATIONS] = { "iterations", "unmarked traces hold another number of iterations",
                               NULL },
    [TG_REASON_INTEGRITY] = { "integrity", "events are damaged, lost or there twice", NULL },
    [TG_REASON_SAME_RECORDING] = { "same",
                                   "a fresh trace is the baseline's, or two ranks are one "
                                   "recording",
                                   NULL },
    [TG_REASON_POLICY] = { "policy", "the policy of the change is looser than the baseline's",
                           NULL },
    [TG_REASON_BASELINE] = { "baseline",
                             "there is no baseline, or nothing was compared with one of them",
                             NULL },
    [TG_REASON_ALL_GONE] = { "all-gone", "nothing that the rule matches is left", NULL },
    [TG_NEED_RUNS] = { "runs", "more runs per side", NULL },
    [TG_NEED_NEW_RUNS] = { "new-runs", "new runs that tell: it looks slower, and is asked again", NULL },
    [TG_NEED_STEPS] = { "steps", "more steps per run", NULL },
    [TG_NEED_MARKERS] = { "markers", "marks of steps, on both sides", NULL },
    [TG_NEED_OWN_TIME] = { "own-time", "time of its own: this is a wait for others", NULL },
    [TG_NEED_BOTH_SIDES] = { "both-sides", "the name in every run of both sides", NULL },
    [TG_NEED_SAME_CALLS] = { "same-calls", "as many calls on both sides: the count is judged",
                             NULL },
    [TG_NEED_STEADY_CALLS] = { "steady-calls", "calls that align: their number varies", NULL },
    [TG_NEED_SIZE] = { "size", "a time long enough to be measured", NULL },
    [TG_NEED_EVIDENCE] = { "evidence", "values of each run, which this metric lacks here", NULL },
    [TG_NEED_ATTRIBUTE] = { "attribute", "the attribute, in all runs of both sides", NULL },
    [TG_NEED_LIMIT] = { "no-limit", "a limit: the policy has none for it", NULL },
    [TG_NEED_EVENT] = { "when", "the event, branch or device that `when` names", NULL },
    [TG_NEED_MATCH] = { "match", "a name that the rule matches", NULL },
    [TG_NEED_VALUE] = { "value", "a value of the metric, of any name that the rule matches", NULL },
    [TG_NEED_STACKS] = { "stacks", "Python stacks, on both sides", NULL },
    [TG_NEED_PATTERN] = { "pattern", "a pattern that is simple enough", NULL },
    [TG_NEED_RANK] = { "trace-of-rank", "a trace of the rank that the rule names", NULL },
    [TG_NEED_METRIC] = { "metric", "what the metric is computed from", NULL },
    [TG_NEED_BYTES] = { "bytes", "sizes in the fresh traces; the baseline has them", NULL },
    [TG_NEED_ANY] = { "judged", "anything that could be judged", NULL },
    [TG_NEED_WINDOW] = { "window", "steps that are marked alike on both sides", NULL },
    [TG_NEED_FRESH_EVENTS] = { "empty", "events in the fresh traces", NULL },
    [TG_NEED_KERNELS] = { "kernels", "as many kernels as `require.kernels` asks for", NULL },
    [TG_NEED_NAME] = { "ops", "a name that `require.ops` asks for", NULL },
    [TG_NEED_DETECTABLE] = { "detectable",
                             "runs that could show what `require.detectable` asks for", NULL },
    [TG_NEED_COLLAPSE] = { "collapse", "the kernels: more than half of them are gone", NULL },
    [TG_NEED_CALLS] = { "calls", "calls to count", NULL },
};

const char *tg_reason_id(enum tg_reason r)
{
    return tg_reason_is_exception(r) ? tg_words_exception[r - TG_REASON_RENAMED] : reasons[r].id;
}

const char *tg_reason_means(enum tg_reason r)
{
    return reasons[r].means;
}

const char *tg_reason_said(enum tg_reason r)
{
    return reasons[r].said;
}

bool tg_reason_is_exception(enum tg_reason r)
{
    return r >= TG_REASON_RENAMED && r <= TG_REASON_CHANCE;
}

enum tg_reason tg_reason_of_judged(enum tg_judged j)
{
    static const enum tg_reason need[] = {
        [TG_JUDGED] = TG_REASON_NONE,
        [TG_NOT_FEW_RUNS] = TG_NEED_RUNS,
        [TG_NOT_WAIT] = TG_NEED_OWN_TIME,
        [TG_NOT_POLLING] = TG_REASON_POLLING,
        [TG_NOT_COUNT_CHANGED] = TG_NEED_SAME_CALLS,
        [TG_NOT_COUNT_VARIES] = TG_NEED_STEADY_CALLS,
        [TG_NOT_ONE_SIDED] = TG_NEED_BOTH_SIDES,
        [TG_NOT_NO_STEPS] = TG_NEED_MARKERS,
        [TG_NOT_OTHER_DEVICE] = TG_REASON_DEVICE,
        [TG_NOT_OTHER_FLAGS] = TG_REASON_FLAGS,
        [TG_NOT_REPLACED] = TG_REASON_REPLACED,
        [TG_NOT_TOO_SMALL] = TG_NEED_SIZE,
        [TG_NOT_INTEGRITY] = TG_REASON_INTEGRITY,
        [TG_NOT_BUSY] = TG_REASON_MACHINE,
        [TG_NOT_OTHER_DATA] = TG_REASON_DATA,
    };
    return need[j];
}
