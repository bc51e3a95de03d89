#ifndef TG_DIFF_COMPARE_H
#define TG_DIFF_COMPARE_H
/*
 * Two sides, aligned: what changed, by how much, on what evidence. Says nothing about good or bad
 * beyond the direction; limits and severities are the policy's. Pure data in one arena; the order
 * of everything is defined, so equal input gives equal bytes.
 *
 * Rules, formulae and constants: docs/statistics-rules.md; which stage fills what, and a worked
 * example: README.md. A sample is a run; its steps only sharpen the run's value; ranks are a
 * dimension (values are per rank and step, summed over ranks, then divided by their number).
 */
#include "core/diff/numbers.h"
#include "core/summary/summary.h"

enum { TG_BASE, TG_TEST }; /* index of every two-element array here */

enum tg_change { TG_SAME, TG_ADDED, TG_REMOVED, TG_MORE, TG_FEWER };
/* Whose common factor `drift` is: with device work, host and device have separate ones. */
enum tg_drift_of { TG_DRIFT_OF_ALL, TG_DRIFT_OF_HOST, TG_DRIFT_OF_DEVICE };
enum tg_relation {
    TG_REL_NONE,
    TG_REL_RENAMED,        /* same count and cost under another name: `partner` */
    TG_REL_REPLACED,       /* part of a replacement whose net work did not rise: `region` */
    TG_REL_REPLACED_WORSE, /* part of one whose net work rose */
    TG_REL_MOVED           /* slower only by what moved to it: its place is not */
};

/* What came and costs next to nothing: no wait, copy or allocation of its own (place_small.c). */
enum tg_slight {
    TG_SLIGHT_NOT,
    TG_SLIGHT_SMALL, /* one of several additions that are together under 0.1 % of the step */
    TG_SLIGHT_FREE   /* a view, metadata, or a caller without work of its own */
};

/* Why a duration was not judged; NULL text for TG_JUDGED. */
enum tg_judged {
    TG_JUDGED,
    TG_NOT_FEW_RUNS,
    TG_NOT_WAIT,
    TG_NOT_POLLING,
    TG_NOT_COUNT_CHANGED,
    TG_NOT_COUNT_VARIES,
    TG_NOT_ONE_SIDED,
    TG_NOT_NO_STEPS,
    TG_NOT_OTHER_DEVICE,
    TG_NOT_OTHER_FLAGS,
    TG_NOT_REPLACED,
    TG_NOT_INTEGRITY,
    TG_NOT_BUSY,
    TG_NOT_WARM,
    TG_NOT_OTHER_DATA
};
const char *tg_judged_text(enum tg_judged j);

/* What of a run's steps gives the numbers of an evidence. */
enum tg_estimate {
    TG_ESTIMATE_LEAST, /* the least of them */
    TG_ESTIMATE_MEAN,  /* their mean; used only if a limit with a size asks for it */
    TG_ESTIMATES
};
const char *tg_estimate_name(enum tg_estimate e); /* "least", "mean" */

/* What asking again made of a time that looked slower (confirm.h). */
enum tg_asked {
    TG_ASKED_NOT,
    TG_ASKED_OPEN,    /* more new runs may tell */
    TG_ASKED_CLEARED, /* not slower, and the size that matters is excluded */
    TG_ASKED_RED,     /* slower in runs that did not choose it, too */
    TG_ASKED_UNTOLD   /* OPEN, and these were the last */
};

struct tg_evidence {
    enum tg_judged why_not;    /* TG_JUDGED: it was */
    enum tg_estimate estimate; /* of all numbers below */
    double value[2];           /* median over runs, ns per step and rank, as measured */
    double e;                  /* ln ratio of medians, common factor removed */
    /* What is judged: value[TG_BASE] * (exp(e) - 1), the measured change less what the machine
     * explains. */
    double delta_ns;
    double noise;      /* sqrt of the moderated variance (log scale): "noise 1.8 %" */
    double se, z, tau; /* threshold pieces of this number of runs */
    double steady_tau; /* of device work: proven and larger than this warns; 0: of nothing else */
    double p, p_limit; /* exact one-sided rank test */
    /* ln of each run's value, by role, the common factor removed; none: nothing was compared */
    const double *x[2];
    size_t n_x[2];
    unsigned above;  /* fresh runs above all baseline runs */
    double mde;      /* smallest detectable change, as ratio - 1 */
    bool proven;     /* e over z * se, rank test, both halves of the steps; judged or not */
    bool slower;     /* proven, and large enough (tau, floor) */
    bool faster;     /* the same with signs swapped: for "improved" lines */
    bool less;       /* `proven` with signs swapped: it takes less time, however little */
    bool suspicious; /* too few runs, but large and separated */
    /* In every fresh run, one step takes much longer than the usual step of either side, and longer
     * than any baseline step. This only warns. `slowest`: ns, medians over runs. */
    bool some_steps;
    unsigned some_runs; /* the same of runs: most fresh runs, but too few to fail */
    double slowest[2];
    /* `e` is of the fastest steps: neither the mean step rose nor the slow ones did. */
    bool fastest_alone;
    bool withheld; /* slower, but TG_NOT_BUSY, TG_NOT_WARM or TG_NOT_OTHER_DATA */
    /* RED, CLEARED: all numbers are of the new runs alone; RED: e and p are those of shift.c */
    enum tg_asked asked;
    size_t tell_runs; /* UNTOLD: new runs per side that would exclude the size, at this noise */
    /* Number of operators whose times are added up here: added ones and those that they replaced.
     * 0: a single operator, even if renamed. */
    size_t pooled;
};

/* How the calls per step of an operator behave; a first step that is cold does not count. */
enum tg_count_shape {
    TG_COUNT_CONSTANT, /* each side has one count in all its steps, or one draw (tg_drawn_judge) */
    TG_COUNT_RUNS_DIFFER, /* constant in the baseline; each fresh run has one count, not the same */
    TG_COUNT_SOME_STEPS,  /* constant in the baseline; some fresh steps have another */
    TG_COUNT_FIRST_STEP,  /* only first steps of fresh runs have more */
    TG_COUNT_VARIES       /* the baseline's steps or runs differ: by data, by branches */
};

enum tg_count_proof {
    TG_COUNT_UNCHANGED,
    TG_COUNT_HINT,  /* more in some steps or runs than the baseline ever had; chance is possible */
    TG_COUNT_PROVEN /* changed: tg_op.change says how */
};

struct tg_count_evidence {
    enum tg_count_shape shape;
    enum tg_count_proof proof;
    const double *run[2];  /* usual count of each run, mean over ranks */
    double most;           /* calls of the fresh step that has most */
    unsigned above, steps; /* fresh steps with more calls than any baseline step; all fresh steps */
    unsigned runs_above;   /* fresh runs with such steps; VARIES: whose mean is above all others */
    bool by_step; /* VARIES: it shows step by step alone: alike in all runs, none has fewer calls */
    double p;     /* probability of this result if nothing changed; 1 if it is not what decides */
};

/* The rank whose steady calls or bytes per step rose most, and how many ranks have more. */
struct tg_rank_shift {
    int64_t rank;
    double count[2];
    size_t n;
};

/* One rank alone takes longer, by names that take longer on it alone (account.c). */
struct tg_rank_alone {
    int64_t rank;
    bool device;                      /* by the work of its device; else of its host */
    double value[2];                  /* all of it, ns per step; */
    double of_names[2];               /* of the names that grew */
    size_t n_names;                   /* these: tg_op.on_rank_alone */
    bool metric_known[TG_METRICS][2]; /* of this rank alone; as tg_metric_change: */
    double metric[TG_METRICS][2];
    const char *called; /* "rank 5" */
};

/* What a call of the runtime takes inside one of its callers: ns per step and rank, means over
 * steps; median, least and most of the runs. */
struct tg_in_caller {
    tg_sv in; /* normalised; "" none */
    double self[2], least[2], most[2];
};

struct tg_attr_change {
    enum tg_attr_kind kind;
    tg_sv base, test; /* only the parts that differ, as text: "registers 128", "registers 255" */
};

/*
 * Was a kind of attribute compared? The runs of a side must agree: the same values in as many calls
 * per step, not counting one cold step. If they do not, it is still a change if each fresh run has
 * values that no run of the baseline has, whose own come again from run to run.
 */
struct tg_attr_state {
    enum {
        TG_ATTR_NONE, /* neither side has any */
        TG_ATTR_COMPARED,
        /* Some or all runs of `sides` (bits 1 << side) do not record it, or lack the name; */
        TG_ATTR_LACKS,
        TG_ATTR_CUT,    /* have more values than a summary keeps */
        TG_ATTR_VARIES, /* other ones in their runs, steps or ranks */
        TG_ATTR_OTHER_COUNT,
        TG_ATTR_OTHER_DEVICE
    } what;
    unsigned sides;
};

/*
 * One operator, kernel, …: identity is (kind, normalised name). A Python frame (module, source) has
 * two entries: one for host time and calls, one (`launched`) for device work launched inside it.
 */
struct tg_op {
    tg_sv name;   /* normalised */
    tg_sv raw[2]; /* raw name of its largest member on each side; "" absent */
    tg_sv parent; /* the row's main encloser, normalised; "" none */
    enum tg_kind kind;
    enum tg_class class_;
    bool launched;
    bool present[2], polling, wait;
    bool view;    /* a view, a question about metadata, or what converts a number */
    bool grouped; /* several kernels whose names differ in what normalising drops */
    /* Per step and rank: the median over runs of the modal count; if `counted` says that steps or
     * runs differ, the mean over all steps. */
    double count[2];
    bool settled;          /* >= 60 % of steps of every run have the modal one, or are one draw */
    bool agreed;           /* and all runs of a side have the same one */
    enum tg_change change; /* TG_SAME unless proven */
    /* Ranks that call it more often, each side in all its runs: others may have as many less, and
     * the mean over ranks is the same. NULL: none. */
    const struct tg_rank_shift *shift;
    struct tg_count_evidence counted; /* of what `change` says, or hints at */
    bool iteration_scaled;            /* by tg_comparison.iteration_ratio: tg_op_iterations */
    /* ns per step and rank, means over steps, medians over runs */
    double total[2], self[2];
    double self_least[2], self_most[2]; /* of the runs */
    double share[2]; /* of wall_ns, 0..1 (self on the host, duration on the device) */
    /* Device work: all that differs a library chose; the first such choice. */
    const struct tg_algorithm *choice;
    bool on_rank_alone; /* it takes longer on tg_comparison.rank_alone's, and on no other: there */
    double there_ns[2]; /* so much per step, medians over runs */
    /* Other kernels for the same calls: a tg_algorithm of the comparison tells their time, and what
     * launches them takes another time on the host. */
    bool chooses;
    bool repaid; /* it came, or got slower, where a place provably takes less time (place_cost.c) */
    enum tg_slight slight; /* of what came: does it cost next to nothing? */
    /* sums over everything: steps, ranks, runs, and the time outside every step */
    uint64_t whole_count[2];
    tg_ns whole_total[2];
    /* sums over the steps only (not outside); and calls in no step, skipped ones included */
    uint64_t step_count[2], outside_count[2];
    tg_ns step_total[2];
    /* Self time on the host, duration on the device; of a rename and a replacement together with
     * the operators that it replaced. */
    struct tg_evidence ev;
    struct tg_evidence ev_total; /* inclusive time of host operators; device: a copy of ev */
    /* Of device work that looks slower, and that work of other streams overlaps elsewhere than
     * before: of its other calls alone (without runs: it has none). NULL: it is not so. */
    const struct tg_evidence *alike;
    /* The evidence that decided a verdict about this time, if it is not ev: set by the policy, so
     * that tables and charts show the numbers of its sentences. NULL: ev. */
    const struct tg_evidence *reported;
    tg_sv place; /* the nearest annotation around what changed, or most of it; "" the step */
    enum tg_relation relation;
    uint32_t partner; /* index into ops of a rename; TG_NO_ID */
    /* What ev is of: this one and what it replaced; NULL: this one alone. */
    const struct tg_op *joined;
    uint32_t region; /* id of the replacement it belongs to; TG_NO_ID */
    /* The operator of unchanged count, normalised, that contains at least 90 % of the additional
     * calls; "" if none or several do, or if it is not known. `calling_part`: their share,
     * 0.9..1. */
    tg_sv calling_op;
    double calling_part;
    uint32_t leader; /* index of the outermost one whose additional calls make these; TG_NO_ID */
    bool leads;      /* it is such a leader, and nothing excuses its calls */
    /* Of a wait, or of a runtime call in another number than before: its time by caller, what rose
     * most first. */
    const struct tg_in_caller *callers;
    size_t n_callers;
    const struct tg_attr_change *attrs;
    size_t n_attrs;
    struct tg_attr_state attr[TG_ATTR_KINDS]; /* which kinds are compared; of frames none */
    /*
     * Bytes copied, set, or sent by a collective, per step and rank; for a renamed operator the
     * base is that of the other name. Unknown if some calls do not give them. `bytes` is compared:
     * the usual step's if steps are alike, after division by the ratio of iterations. `bytes_mean`
     * is the mean over all steps. `moved`: did they rise? Other kinds: all 0.
     */
    double bytes[2], bytes_mean[2];
    bool bytes_known[2];
    struct tg_count_evidence moved;
    const struct tg_rank_shift *bytes_shift; /* as `shift`, of bytes */
    const struct tg_op_rows *rows;           /* core/diff's own: where its rows are */
};

/*
 * A library's choice (place_choice.c): an operator that is called as before and runs other kernels,
 * sets and copies of its own.
 */
struct tg_algorithm {
    uint32_t by;                     /* index into ops: the operator */
    bool known;                      /* each fresh run launches what some run of the baseline did */
    double calls[2];                 /* of its device work per step and rank, means over runs */
    const struct tg_op *came, *went; /* of what rose and fell what took longest; NULL: none */
    const struct tg_op *work;        /* all of it as one */
    struct tg_evidence ev;           /* of its time */
};

struct tg_region {      /* a place where calls came and went */
    tg_sv encloser;     /* normalised name; "" the whole step */
    enum tg_kind kind;  /* of the added and removed; graph launches count as kernels */
    double calls[2];    /* per step: removed, added, by one measure (core/diff/uses.h) */
    const uint32_t *op; /* what came or went here, ascending */
    size_t n_ops;
    double time[2]; /* ns per step: the encloser's inclusive time, or the step's */
    bool worse_count;
    struct tg_evidence ev; /* of the time of all its names but waits */
    /* What reports say of its sides, by the functions tg_region_…: set when all else is. */
    struct {
        const struct tg_op **op; /* as tg_region_names gives them */
        size_t n;
        double all[2];  /* calls: of names that weigh, and of autograd and allocations */
        bool pooled;    /* one of its names has the evidence of all */
        double less_ns; /* self time per step that its names lost */
    } side[2];
};

/*
 * A number beside the traces (core/number/number.h), by name. Its runs are its own: those of the
 * files that have it, of a side maybe none. All values are in its unit: another unit is another
 * number.
 */
struct tg_number_change {
    tg_sv name, unit;
    size_t n_runs[2];
    double value[2];               /* median over runs; NaN: none */
    struct tg_evidence rose, fell; /* each asks one way */
};

struct tg_metric_change {
    enum tg_metric id;
    bool known[2];
    /* ns, count, bytes, GB/s, or percent 0..100: median over runs of mean over steps and ranks */
    double value[2];
    double least[2], most[2]; /* of the runs */
    double slowest[2];        /* the worst rank's, same reduction */
    /* Per run: for times where larger is worse, the median over steps; for step_time the minimum;
     * for all others the mean, as in `value`. */
    struct tg_evidence ev;
    struct tg_evidence ev_slowest; /* the same of the worst rank of each run */
    /* Times of which more is worse: the same by the mean of the steps; else why_not is
     * TG_NOT_ONE_SIDED. */
    struct tg_evidence mean, mean_slowest;
};

struct tg_env_change {
    tg_sv key, value[2]; /* "" unknown */
};

/* Ranks that the others wait for, in the fresh runs and not in the baseline. */
struct tg_straggler {
    const int64_t *ranks; /* ascending */
    size_t n_ranks;
    tg_sv node;       /* of several */
    tg_sv collective; /* the kernel with most of the waiting */
    double wait_ns;   /* the longest wait, per step */
    double share;     /* of all waiting, 0..1 */
    int64_t since;    /* number of the first step with it; -1: no steps */
    size_t n_late, n_steps;
    const struct tg_op *op; /* what it does meanwhile; NULL: nothing stands out */
    double more_ns;         /* longer than on the other ranks, per step */
};

/*
 * The account: did the program as a whole take longer or do more? Three series, one value per run,
 * as measured, nothing taken off, whatever could or could not be judged by name:
 *
 *   wall    (end of the last step - start of the first) / steps, ns; of a trace without markers its
 *           length, divided by the ratio of iterations
 *   busy    union of the device work of the trace / steps, ns, linked to a launch or not; without
 *           collectives, whose time is a wait for other ranks
 *   calls   rows of operators, calls of the runtime and device work / steps, without polling
 *
 * Mean over ranks; if that has not grown, of the rank that has most, else of each rank by 30 %.
 * What is outside the steps (busy, calls) counts by the step or by the trace, whichever grew less;
 * where the window skips steps, the used ones' part of it.
 *
 *   grown   median fresh / median baseline > 1 + limit, and the exact rank test of the runs has
 *           p <= 2/252 (one inversion of 5v5), or as little as so many runs can have
 *   limit   8 % where 1 / C(nb + nt, nt) <= 1/20 (3v3, 5v2); else 30 %
 *   forgiven  it is so only without the largest of three baseline runs or more: one polluted
 *           recording hides no growth, but it may be the usual one
 *   in most runs  more than half of the fresh runs are above every baseline run by the limit: the
 *           others hide no growth, but they may be the usual ones
 *
 * Cost: one pass over the rows of all shards.
 */
enum tg_account_id { TG_ACCOUNT_WALL, TG_ACCOUNT_BUSY, TG_ACCOUNT_CALLS, TG_ACCOUNTS };

/* The strongest that holds. */
enum tg_growth {
    TG_GROWTH_NONE,
    TG_GROWTH_IN_MOST_RUNS,
    TG_GROWTH_FORGIVEN,
    TG_GROWTH_PROVEN,
};

/* Over ranks, and one of them. */
enum tg_account_of { TG_ACCOUNT_MEAN, TG_ACCOUNT_MOST, TG_ACCOUNT_RANKS };

struct tg_account_series {
    bool known;      /* in every run of both sides; else nothing below is set */
    double value[2]; /* medians over runs */
    double lo[2], hi[2];
    double limit;
    bool few; /* too few runs for the separation to say much: the larger limit */
    enum tg_growth growth;
    bool one_of_many; /* a rank, and of so many one may be so by chance */
    /* Of growth: not as much without the longest step of each trace (a cold start, a
     * recompilation, a clock that jumps); not so within the steps; */
    bool one_step, outside;
    /* In all names alike, as on a slower or busy machine: without the TG_SPREAD that grew most, the
     * others have grown by half as much or more, in proportion, and most of their time by
     * TG_TAU_DEVICE. Of times, means over all steps and runs. */
    bool spread;
    size_t of;    /* the numbers are of these, or of one rank: TG_ACCOUNT_RANKS + its index, */
    int64_t rank; /* and its number */
};

struct tg_comparison {
    struct tg_side side[2]; /* what is compared */
    /*
     * Ranks that every run of both sides has are compared, unless the options choose some. For
     * each side: how many ranks each of its runs has, and which ranks it lacks that exist anywhere
     * else (ascending; some of its own runs may have them).
     */
    size_t n_brought[2], n_lacking[2];
    const int64_t *lacking[2];
    /*
     * The sides as given: with more ranks than `side`, if one side stores only the step times of
     * some ranks (core/summary/fit.h). Those ranks, `steps_only`, count only for skew, rank_spread,
     * and the step time of the slowest rank.
     */
    struct tg_side given[2];
    const int64_t *steps_only; /* ascending */
    size_t n_steps_only;
    /* Ranks that one side has loaded without names (struct tg_summarize_opts): in all metrics, in
     * the step and in the environment, and in no operator. */
    size_t n_unnamed;
    bool all_ranks; /* the ranks that are compared are all that worked together */
    size_t n_runs[2], n_ranks[2], n_steps[2]; /* steps of a run, the median */
    uint64_t n_units[2];     /* steps summed over runs and ranks: divides step_count, step_total */
    uint64_t n_all_units[2]; /* with those that the window skips: divides outside_count */
    struct tg_op *ops;       /* by kind, then name */
    size_t n_ops;
    /*
     * Totals by Python frame, as `ops`; judged only if a rule names their kind. `frame_sorts`: the
     * sorts that all shards of the side hold, a bit per enum tg_stack_sort. `frames_lack`: the
     * sorts of which fewer shards have any frame than on the other side. Such a side was recorded
     * without stacks, so a missing name says nothing.
     */
    struct tg_op *frames;
    size_t n_frames;
    unsigned frame_sorts[2], frames_lack[2];
    struct tg_algorithm *choices;
    size_t n_choices;
    struct tg_region *regions;
    size_t n_regions;
    struct tg_metric_change metrics[TG_METRICS];
    struct tg_number_change *numbers; /* by name and unit */
    size_t n_numbers;
    struct tg_account_series account[TG_ACCOUNTS];
    /*
     * The host's step. `ev`: its gaps (step less its direct children: host slowness outside every
     * operator), the same as the operator of kind TG_KIND_STEP in `ops`. `ev_total`: the step as a
     * whole without preemption (sum of the values of all operators and of the gaps); not judged
     * when there is device work (TG_NOT_WAIT), else also metrics[TG_METRIC_STEP_TIME].ev.
     */
    struct tg_op step;
    struct tg_evidence step_mean; /* ev_total by the mean of the steps */
    double step_ns[2]; /* D: median over runs of the shortest step (device's where it has work) */
    /* The mean step's wall clock: what `share` and limits are of. Without markers by as many
     * iterations as the baseline's. */
    double wall_ns[2];
    double graded[2]; /* part of the calls of operators that ran with gradients enabled */
    bool gradients;   /* they are enabled where they were not (account.c) */
    double drift;     /* common factor c0 (log), the larger; |drift| > ln 1.10 is a warning */
    bool drifted;
    enum tg_drift_of drift_of;
    /* ln of what the device's work takes in the second half of a run's steps against the first, of
     * the side where that is more; 0: it keeps its speed, within TG_TAU_DEVICE. Else durations of
     * the device are not judged. */
    double warming;
    /* The fresh runs were disturbed: for most operators, mean minus least step is larger than in
     * the baseline; `excess`: by what part of the step. Durations are then not judged. */
    bool busy;
    double excess;
    /* Most counts that vary anyway are above the baseline's: the fresh runs had other data, which
     * explains their time. Durations are then not judged. */
    bool other_data;
    size_t n_withheld;  /* operators withheld: they would have failed */
    bool marked[2];     /* every trace has known steps: of markers, or `window: whole` makes one; */
    bool any_marked[2]; /* at least one trace has */
    size_t least_steps[2];     /* of any trace, without ignored ones; 0: one has none to judge */
    double iteration_ratio;    /* 1, or the common ratio of counts of unmarked traces */
    struct tg_env_change *env; /* keys that differ or are unknown on one side */
    size_t n_env;
    /* The keys of require_same that differ: "device, cuda_major"; "" none. Durations, and all that
     * the device's kernels decide, are then shown and not judged: tg_same_device. */
    tg_sv differs;
    bool same_flags; /* of the profiler; else durations are shown, not judged */
    /* Runs recorded with other flags than most of both sides: no part of this comparison. */
    struct tg_left_run *left;
    size_t n_left;
    bool collapsed;                       /* more than half of the kernels gone and busy time too */
    const struct tg_straggler *straggler; /* NULL: none */
    const struct tg_rank_alone *rank_alone; /* NULL: none */
    const struct tg_window_hint *hints;
    size_t n_hints;
    bool ranks_known[2];   /* every run has the step time of two ranks or more */
    double skew[2];        /* slowest rank's step time / median rank's - 1, in % */
    double rank_spread[2]; /* slowest rank's step time - fastest rank's, ns */
    struct tg_evidence skew_ev, rank_spread_ev;
    bool collectives_known[2]; /* every run has collectives that two ranks or more share */
    double collective_skew[2]; /* longest - shortest of a collective's ranks, % of the longest */
    struct tg_evidence collective_skew_ev;
    bool in_turn;                   /* both sides were made run by run in turn, on one machine */
    const struct tg_asking *asking; /* what looks slower is asked again; NULL: one look is all */
    int64_t slowest_rank;           /* of the fresh side: the longest step, median over runs */
    struct tg_arena *arena;
};

static inline bool tg_same_device(const struct tg_comparison *c)
{
    return c->differs.n == 0;
}

struct tg_left_run {
    int side;
    size_t run;    /* of those that were given */
    tg_sv source;  /* its file */
    tg_sv profile; /* "record_shapes=1, with_stack=0" */
};

struct tg_compare_opts {
    const struct tg_kv *aliases; /* from -> to, on normalised names (globs in from) */
    size_t n_aliases;
    const struct tg_classes *classes; /* those the summaries were made with; NULL: none */
    bool raw_names;                   /* no normalisation: diff's default table */
    unsigned skip_first, skip_last;   /* steps ignored */
    const int64_t *steps[2];          /* only these step numbers; NULL: all */
    size_t n_step_numbers[2];
    const int64_t *ranks[2]; /* only these ranks; NULL: all */
    size_t n_rank_numbers[2];
    const int64_t *devices, *streams; /* device rows of these only; NULL: all */
    size_t n_devices, n_streams;
    tg_sv const *ignore; /* polling runtime calls: globs; NULL: the built-in list */
    size_t n_ignore;
    unsigned min_runs;         /* 0: the default 3 */
    double drift_limit;        /* 0: the default 0.10 */
    tg_sv const *require_same; /* env keys; NULL: device */
    size_t n_require_same;
    bool no_evidence;     /* diff: alignment and sums only */
    bool any_ranks;       /* diff: sides without a rank in common are compared as they are */
    const char *label[2]; /* what messages call the sides; NULL: baseline, fresh */
};
/*
 * Quantile (0..1, linear interpolation) over all single values of an operator in the steps of one
 * side: self time on the host, duration on the device, in ns. NaN: nothing there, or slots dropped.
 */
double tg_op_quantile(const struct tg_op *op, int side, double q);
/* Evidence for the same of each run; `why_not` is that of the operator's own time. False: a run has
 * no values. */
bool tg_op_quantile_evidence(const struct tg_op *op, double q, struct tg_evidence *ev);
/*
 * The smallest factor, to 0.5 %, by which the operator's time in the fresh runs would have to grow
 * to be slower; 1: it is slower. `most` if that is not enough, or if it is not judged by itself.
 */
double tg_op_slower_from(const struct tg_op *op, double most);
/* Why a kind of attribute was not compared: "input shapes differ between runs, steps or ranks of
 * the baseline"; NULL: it was. */
const char *tg_attr_state_text(const struct tg_op *op, enum tg_attr_kind kind, struct tg_arena *a);
/* Evidence for its share of the mean step, with what it replaced; value and delta_ns in %. False:
 * its time is not judged. */
bool tg_op_share_evidence(const struct tg_op *op, struct tg_evidence *ev);

static inline const struct tg_evidence *tg_op_reported(const struct tg_op *op)
{
    return op->reported ? op->reported : &op->ev;
}
/* Were its runs compared? Not with `no_evidence`. */
static inline bool tg_evidence_compared(const struct tg_evidence *ev)
{
    return ev->why_not == TG_JUDGED && ev->n_x[TG_TEST];
}

/*
 * Evidence for an operator's time by the mean of the steps: its inclusive time, or its self time
 * (device: its duration). False: not judged by itself.
 */
enum tg_op_part { TG_OP_SELF, TG_OP_TOTAL };
bool tg_op_evidence_of_mean(const struct tg_op *op, enum tg_op_part part, struct tg_evidence *ev);

/*
 * Compares two sides. `out`, and everything that it points at, is in `a`, except for what it shares
 * with the sides: their summaries must outlive it. False: the sides cannot be compared (no rank in
 * common, a step that does not exist), and `out` means nothing. Cost: a few passes over the rows
 * of all shards.
 *
 *     struct tg_comparison c;
 *     if (tg_compare(&c, &base, &test, &(struct tg_compare_opts){ .skip_first = 1 }, a, err))
 *         for (size_t i = 0; i < c.n_ops; i++)
 *             if (c.ops[i].ev.slower) …
 */
TG_MUST bool tg_compare(struct tg_comparison *out, const struct tg_side *base,
                        const struct tg_side *test, const struct tg_compare_opts *o,
                        struct tg_arena *a, struct tg_err *err);

/* "rank 3", "ranks 0–3, 7" */
void tg_ranks_put(struct tg_buf *b, const int64_t *v, size_t n);

/*
 * What makes a changed count less than a regression by itself. Whether that counts is the policy's
 * decision: a rule names its `exceptions` (docs/policy.md).
 */
enum tg_exception {
    TG_EXCEPTION_NONE,
    TG_EXCEPTION_RENAMED,  /* same count and cost under another name */
    TG_EXCEPTION_REPLACED, /* part of a replacement that costs no more calls */
    TG_EXCEPTION_SMALL,    /* additions that cost next to nothing (enum tg_slight) */
    TG_EXCEPTION_POLLING,  /* a runtime call whose number is random */
    TG_EXCEPTION_COUNTED,  /* bytes that more calls alone explain (tg_op_bytes_exception) */
    TG_EXCEPTION_CHANCE    /* more in some steps or runs only, which nothing proves */
};
enum tg_exception tg_op_exception(const struct tg_op *op);
/* The same of its bytes: replaced, or as many per call as before, up to a tenth more. */
enum tg_exception tg_op_bytes_exception(const struct tg_op *op);
bool tg_op_rose(const struct tg_op *op);   /* is it new, or called more often? */
double tg_op_rise(const struct tg_op *op); /* additional calls per step */
/*
 * Of traces without markers that hold another number of iterations: by what a side's calls and
 * times of the name are divided, where they are read, so that all else compares what is shown.
 * 1: it ran once; or there is no such ratio. A whole number of calls stays one.
 */
double tg_op_iterations(const struct tg_comparison *c, const struct tg_op *op, int side);
double tg_calls_over(double calls, double iterations);
/* Are the fresh calls or bytes, as recorded, what that ratio makes of the baseline's, nearly? */
bool tg_iterations_explain(const struct tg_comparison *c, double base, double test);
/* Names of this kind are counted: operators, kernels, copies, sets, graphs, synchronising calls. */
bool tg_kind_is_counted(enum tg_kind k);
bool tg_has_device_ops(const struct tg_comparison *c);
/* A kernel that communicates: it also waits for other ranks. */
static inline bool tg_op_is_collective(const struct tg_op *op)
{
    return op->kind == TG_KIND_KERNEL && op->class_ == TG_CLASS_COMM;
}
/* The operator of this name; NULL: none. */
const struct tg_op *tg_op_named(const struct tg_comparison *c, tg_sv name);
/* More calls in some steps, which have one number in the baseline: a mean says little of them. */
bool tg_op_in_some_steps(const struct tg_op *op);
/* The one of several ranks that calls it more often, if all of the change is that rank's; NULL. */
const struct tg_rank_shift *tg_op_rank_alone(const struct tg_comparison *c, const struct tg_op *op);
/* What became of its calls in a replacement: TG_BASE they went, TG_TEST they came, -1 neither. */
int tg_op_side_of_region(const struct tg_op *op);
/*
 * The names of one side of a replacement, the largest change of time first, autograd's nodes of a
 * listed operator left out: at most `most` of them in `out`; how many there are.
 */
size_t tg_region_names(const struct tg_comparison *c, uint32_t region, int side,
                       const struct tg_op **out, size_t most);
/* Calls of the baseline per step that the names of a replacement have in all: some may be as
 * before. Without autograd's own bookkeeping ("autograd::engine::evaluate_function: …",
 * "MulBackward0") and allocations, unless nothing else is left. */
double tg_region_all_calls(const struct tg_region *g);
/* Of a name that took the place of a part of other names' calls, and is judged with the rest of
 * them: ns per step of that part before and after. False: it is not so. */
bool tg_region_part(const struct tg_comparison *c, const struct tg_op *op, double ns[2]);
/* Adds waiting or traffic: synchronising calls, copies, collectives, numbers that are read. These
 * always count for themselves, whatever they replace and however small. */
bool tg_op_makes_wait(const struct tg_op *op);
/* On the host: what it costs is not its own time alone. */
bool tg_op_copies(const struct tg_op *op);
bool tg_op_allocates(const struct tg_op *op);
static inline bool tg_op_makes_memory(const struct tg_op *op)
{
    return tg_op_copies(op) || tg_op_allocates(op);
}
#endif
