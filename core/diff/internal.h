#ifndef TG_DIFF_INTERNAL_H
#define TG_DIFF_INTERNAL_H
/*
 * What the stages of a comparison share while it is made: align -> places -> evidence ->
 * attributes. A cell is one operator in one shard (side, run, rank): the fine rows (parent, device,
 * stream) that carry its name there. Private to core/diff.
 */
#include "core/diff/compare.h"
#include "core/diff/stats.h" /* and core/diff/numbers.h, core/base/sort.h */

/*
 * Did the number of calls of one operator rise? Plain functions of its counts by step. What they
 * decide: docs/statistics.md#counts; the constants: docs/statistics-rules.md.
 *
 * A baseline with one count in all its steps makes every difference exact. Otherwise the count
 * follows the data or a branch, and what the baseline's steps reached is possible without a change.
 */

struct tg_step_counts { /* of a run: calls by step, mean over ranks */
    const double *v;
    size_t n;
};

/*
 * core/diff/counts.c. Fills everything but `run`. Calls that make others `wait` (tg_op_makes_wait)
 * fail on less. For "did it fall?" negate all counts. No steps on a side: unchanged. Cost:
 * proportional to base steps times fresh steps where the baseline varies; else to their sum.
 */
void tg_count_judge(struct tg_count_evidence *ev, const struct tg_step_counts *const run[2],
                    const size_t n_runs[2], bool wait);

/* The same file: names whose calls are chosen by a seed or the data. */
struct tg_drawn_name {
    struct tg_op *op;
    const double *calls[2]; /* per step, in all runs of the side */
};
struct tg_drawn {
    struct tg_drawn_name *v;
    size_t n, cap, n_steps;
    size_t n_vary; /* names whose calls vary in the baseline, those of `v` and others */
};
/* Notes a name, if it is one. */
void tg_drawn_add(struct tg_drawn *d, struct tg_op *op, const struct tg_step_counts *const run[2],
                  const size_t n_runs[2], struct tg_arena *a);
/* Judges them; releases `d`. */
void tg_drawn_judge(struct tg_drawn *d);

struct tg_diff_cell {
    const struct tg_row *const *row;
    size_t n;
};

struct tg_op_rows { /* of one tg_op; cell[tg_diff_work.n_cells] */
    const struct tg_diff_cell *cell;
    const struct tg_diff_work *work;
};

/* The steps of a shard that are compared: indices into its steps, ascending. */
struct tg_used {
    const size_t *step;
    size_t n;
};

/* Ranks of a side, which may be more than those whose names are compared. */
struct tg_side_shards {
    size_t n_ranks;
    const int64_t *ranks;
    const struct tg_shard **shard; /* [run * n_ranks + rank] */
    struct tg_used *used;          /* the same */
};

/*
 * Host and device are two machines: each has its speed, its usual noise and its disturbances. Gaps,
 * inclusive times and the step may depend on either: they are judged by the slower one.
 */
enum tg_clock { TG_HOST_TIMES, TG_DEVICE_TIMES, TG_OWN_CLOCKS, TG_EITHER_TIMES = TG_OWN_CLOCKS };
#define TG_CLOCKS (TG_EITHER_TIMES + 1)

struct tg_diff_work {
    struct tg_comparison *c;
    const struct tg_compare_opts *o;
    struct tg_arena *a;
    size_t n_cells, first[3];       /* a side's are [first[side], first[side + 1]), run after run */
    const struct tg_shard **shard;  /* per cell */
    struct tg_used *used;           /* per cell */
    size_t max_steps;               /* of any shard */
    struct tg_side_shards given[2]; /* all, also those of which step times alone are stored */
    struct tg_side_shards measured[2]; /* without those: what metrics are of */
    double *speed[TG_OWN_CLOCKS][2];   /* of each run's machine against the usual one of its side */
    const struct tg_machine *machine;  /* by clock (machine.c); NULL: durations not judged */
    bool busy[TG_OWN_CLOCKS];
    bool all_busy; /* every shard tells its device work outside the steps (account.c) */
    struct tg_value_room *room;
    struct tg_rank_table rank[2]; /* of the sides' runs: forward, swapped (compare.c) */
    tg_ns tick; /* the clock's: 1000 when every duration is a whole microsecond (PyTorch <= 2.0) */
    bool one_coarse;                 /* that of one side alone */
    const struct tg_use_index *uses; /* uses.h; NULL: nothing changed, and nothing looks slower */
    struct tg_strmap *names; /* normalised, aliased names of everything, parents included; */
    tg_sv *interned;         /* id -> its copy in the arena */
    size_t n_interned, cap_interned;
};

static inline size_t tg_diff_cell_index(const struct tg_diff_work *w, int side, size_t run,
                                        size_t rank)
{
    return w->first[side] + run * w->c->n_ranks[side] + rank;
}

/* What messages call a side: "baseline", "fresh". */
const char *tg_side_label(const struct tg_diff_work *w, int side);

/* core/diff/select.c: takes out runs that were recorded with other flags of the profiler. */
void tg_runs_leave(struct tg_diff_work *w);
/* Those flags; NULL ends them. */
extern const char *const tg_profiler_flags[];

/* core/diff/select.c: takes out of both sides, which have become c->given, the ranks of which
 * one has no more than the step times, or no names. `measured`: the former alone. */
TG_MUST bool tg_diff_drop_steps_only(struct tg_diff_work *w, struct tg_side measured[2],
                                     struct tg_err *err);

/* ---- core/diff/align.c and its parts ---- */

TG_MUST bool tg_align(struct tg_diff_work *w, struct tg_err *err);
/* Which ranks have more than before, whatever the mean over all did? NAN: its value varies. */
const struct tg_rank_shift *tg_diff_rank_shift(const struct tg_diff_work *w,
                                               double *const of_rank[2]);
/* Rows become operators by kind, then name: c->ops; and right after them c->frames. */
void tg_gather(struct tg_diff_work *w);

/* core/diff/select.c: the ranks and steps that are compared; lays out the cells. */
TG_MUST bool tg_diff_select(struct tg_diff_work *w, struct tg_err *err);
/* Of each used step the time until the next one begins, ns; where no next one is known the least of
 * the others, which `lacks` in the step time of the shard. Either may be NULL. */
void tg_after_steps(const struct tg_shard *s, const struct tg_used *used, double *after,
                    double *lacks);
/* Median of the runs of a side. */
double tg_median_of(const struct tg_diff_work *w, const double *of_run, int side);

/* No rows yet: `cell` is to be filled. */
const struct tg_op_rows *tg_op_rows_new(const struct tg_diff_work *w, struct tg_diff_cell **cell);

/* core/diff/uses.c: tg_op.callers, after `change`. */
void tg_callers_find(struct tg_diff_work *w);

/* core/diff/names.c */
/* Normalised and aliased (unless raw_names); the view lives in the arena. */
tg_sv tg_diff_name(struct tg_diff_work *w, enum tg_kind kind, tg_sv raw);

/* ---- places (uses.h says which file) ---- */

/* Other kernels under the same calls. After attributes are compared. */
void tg_choices_find(struct tg_diff_work *w);
/* Marks what converts numbers as views. Then what costs nothing before places are balanced, and
 * what is left and small after it. */
void tg_small_numbers(struct tg_diff_work *w);
void tg_small_find(struct tg_diff_work *w, enum tg_slight what);
void tg_places_balance(struct tg_diff_work *w);
void tg_leaders_find(struct tg_diff_work *w);
/* After durations are judged: an operator is not slower if its place is not. */
void tg_excuse_moves(struct tg_diff_work *w);
/* What came where it provably saves time. After times and metrics are judged. */
void tg_places_repay(struct tg_diff_work *w);
/* Lists the operators of each replacement; adds them up, when all rows are final. */
void tg_regions_group(struct tg_comparison *c);
void tg_regions_close(struct tg_comparison *c);
/* The rows of several operators as those of one: of each cell all of its members' rows,
 * or those inside `caller`, if it is not NULL. */
struct tg_op *tg_ops_join(struct tg_diff_work *w, const uint32_t *member, size_t n,
                          const tg_sv *caller);
/* Do these together, by their inclusive time, show at least half of a slowdown? */
bool tg_borne_out(struct tg_diff_work *w, const uint32_t *around, size_t n,
                  const struct tg_evidence *ev);
/* The same of the step; where a device works, the host's says nothing, and all is borne out. */
bool tg_borne_out_by_step(const struct tg_diff_work *w, const struct tg_evidence *ev);

/* ---- core/diff/run_values.c ---- */

/* What is read off the steps of a run, per slot (or per step), and then added up. */
enum tg_step_statistic {
    TG_LEAST,       /* the least of the steps: what preemption touches least */
    TG_LEAST_FIRST, /* of the first half of the steps alone, the longer one */
    TG_LEAST_LAST,  /* of the last half */
    TG_MEAN,        /* their mean */
    TG_SLOW,        /* the largest without the slowest fifth */
    TG_STEP_STATISTICS
};

enum tg_value_form {
    TG_FORM_SLOTS,       /* slot by slot, in the steps with the usual pattern of calls */
    TG_FORM_USUAL_STEPS, /* sums of the steps with the usual number of calls */
    TG_FORM_STEPS,       /* sums of all steps */
    TG_FORM_SCHEDULE,    /* as TG_FORM_CALLS, and the calls vary alike in all runs */
    TG_FORM_CALLS        /* calls vary: time per call at the baseline's mean number of calls */
};

enum tg_value_ask {
    TG_ASK_BEST,            /* self time (device: duration), in the best form there is */
    TG_ASK_STEPS,           /* sums of self time whatever the calls did */
    TG_ASK_INCLUSIVE,       /* inclusive time */
    TG_ASK_INCLUSIVE_STEPS, /* whatever the calls did */
};

/* ns per step and rank: y[statistic][side][run]; NULL: not read. */
struct tg_run_values {
    double *y[TG_STEP_STATISTICS][2];
    enum tg_value_form form;
    bool complete; /* the operator occurs in every run */
    bool levelled; /* divided by the speed of each run's machine (rule.c) */
    bool device;   /* times of the device: it is that machine */
};

/* Buffers for one operator at a time, `room` of the comparison; they live in the arena. */
struct tg_value_room *tg_value_room_new(const struct tg_diff_work *w);
struct tg_run_values tg_run_values_new(const struct tg_diff_work *w); /* all 0 */
struct tg_run_values tg_run_values(const struct tg_diff_work *w, const struct tg_op *op,
                                   enum tg_value_ask ask);
/* Of device work: without the slots that take another time by no more than work of other streams
 * explains, which overlaps more or less of them than before. False: there are none, or it is not
 * known. `complete`: some are left. */
bool tg_run_values_alike(const struct tg_diff_work *w, const struct tg_op *op,
                         struct tg_run_values *out);
/* Its time in the j-th step of a cell that is compared, ns. */
double tg_cell_time(const struct tg_diff_work *w, const struct tg_op *op, size_t at, size_t j,
                    enum tg_op_part part);
/* Adds the statistics of the n >= 1 values of `v`, in the order of the steps. Sorts `v`. */
void tg_step_statistics_add(double out[TG_STEP_STATISTICS], double *v, size_t n);
/* Self time (device: duration) in a run's slowest and usual step, ns per rank, as recorded; by a
 * schedule, of the steps with the most calls. */
struct tg_slow_step {
    double slowest, usual;
};
struct tg_slow_step tg_run_slow_step(const struct tg_diff_work *w, const struct tg_op *op, int side,
                                     size_t run, enum tg_value_form form);
/* Steps of the run with the fewest. */
size_t tg_fewest_steps(const struct tg_diff_work *w);

/* ---- core/diff/rule.c: run values as logarithms of ns, at least of 1 ns ---- */

/* By role, not by side: swapped, the fresh side is the one that another is compared with. */
struct tg_logs {
    double *x[2], *ascending[2], median[2]; /* [role][run] */
    double variance;                        /* noise that speaks against a finding */
};
/* SWAPPED: the sides change roles, so that what got faster is found by the same rule. */
enum tg_role_order { TG_FORWARD, TG_SWAPPED };
struct tg_logs tg_logs_of_values(const struct tg_diff_work *w, double *const y[2],
                                 enum tg_role_order order);
/*
 * Takes the speeds of the runs' machines off where that explains most of the variance: a busy or
 * slow run then neither hides a change nor looks like one. Not every operator follows the machine
 * alike. Once a value.
 */
void tg_logs_level(const struct tg_diff_work *w, struct tg_run_values *v);

/* ---- core/diff/machine.c ---- */

/* What all operators share in one direction and estimate: the machine's factor, the usual noise,
 * and how unlike they shifted. */
struct tg_background {
    double c, v0;
    bool has_v0;   /* some operator tells it */
    double others; /* a tenth of the big operators shifted by as much more than c, but for one */
};
struct tg_machine {
    struct tg_background of[2][TG_ESTIMATES]; /* forward, swapped */
};
/* Of the values that are `judged`, all operators'; fills w->speed, w->busy, and drift and busy
 * of the comparison. Levels the values. `m`: TG_CLOCKS of them. */
void tg_machine_find(struct tg_diff_work *w, struct tg_run_values *v, const bool *judged,
                     struct tg_machine *m);

static inline enum tg_step_statistic tg_step_statistic_of(enum tg_estimate e)
{
    return e == TG_ESTIMATE_MEAN ? TG_MEAN : TG_LEAST;
}

/* Reasons that hold for every operator of the comparison; TG_JUDGED: none. Device times have one
 * more: a negative duration on the device. */
enum tg_judged tg_common_reason(const struct tg_diff_work *w, enum tg_clock clock);
/* Reasons of its own, the strongest first. */
enum tg_judged tg_own_reason(const struct tg_op *op, const struct tg_run_values *v);
bool tg_kind_is_timed(enum tg_kind k);
/* Self time of these is what runs between operators: no machine's speed, and no usual noise. */
static inline bool tg_kind_is_gap(enum tg_kind k)
{
    return k == TG_KIND_STEP || k == TG_KIND_ANNOTATION;
}

/* How large a change has to be. */
struct tg_aim {
    double floor;    /* ns: 0.1 % of the step, or 0 */
    double tick;     /* ns: no smaller change is proven; 0: a fine clock */
    bool device;     /* of device work, which has less noise */
    bool some_steps; /* some steps of every fresh run are slower than any of the baseline */
};

/* What most steps or most runs have to show where the rule finds nothing: so much slower than the
 * baseline's, and so much of the step. */
static inline double tg_most_ratio(bool device)
{
    return device ? TG_RARE_STEP : TG_TWICE;
}
static inline double tg_most_floor(bool device)
{
    return device ? TG_RARE_FLOOR : TG_MUCH;
}
/* Fills `ev`, all but `why_not`, which says whether what is found counts. Levels the values. By the
 * mean of the steps nothing is `faster` or held. */
void tg_evidence_fill(const struct tg_diff_work *w, struct tg_evidence *ev, struct tg_run_values *v,
                      const struct tg_machine *m, struct tg_aim aim, enum tg_estimate estimate);

/* core/diff/evidence.c */
void tg_evidence_of_ops(struct tg_diff_work *w);
/* And, once it is known what only moved, of the step, and of what replaced something. */
void tg_evidence_of_places(struct tg_diff_work *w);
/* Evidence for times of the runs outside the list of operators: the machine's common factor is
 * taken off, and the floor of 0.1 % of the step holds. */
void tg_evidence_of_times(const struct tg_diff_work *w, struct tg_evidence *ev,
                          struct tg_run_values *v, enum tg_clock clock, enum tg_estimate by);
/* For counts, percentages, GB/s of the runs: did they rise, or with `worse` < 0 fall? They count
 * from 0.01. */
void tg_evidence_of_numbers(const struct tg_diff_work *w, struct tg_evidence *ev,
                            double *const y[2], int worse);

/* core/diff/metrics.c */
void tg_compare_metrics(struct tg_diff_work *w);
/* One rank's, median over runs; false: a run has none. */
bool tg_metric_of_rank(const struct tg_diff_work *w, enum tg_metric m, int side, size_t rank,
                       double *value);
/* core/diff/number.c: c->numbers. */
void tg_compare_numbers(struct tg_diff_work *w);
void tg_compare_env(struct tg_diff_work *w);

/* core/diff/collectives.c: the process group of a row: "" unknown, "*" several, which
 * nothing tells apart by call. */
tg_sv tg_collective_group(const struct tg_row *row);
/* Of one run, in %. False: no collective that two ranks have, or single durations are missing in a
 * summary. */
bool tg_collective_skew(const struct tg_diff_work *w, int side, size_t run, double *out);
/* The same collectives, one by one: c->straggler. */
void tg_straggler_find(struct tg_diff_work *w);

/* core/diff/account.c: c->account, after the counts. */
void tg_account_close(struct tg_diff_work *w);
/* c->gradients */
void tg_gradients_compare(struct tg_diff_work *w);
/* c->rank_alone: one rank that takes longer, and the others do not. */
void tg_rank_alone_find(struct tg_diff_work *w);

/* core/diff/attr_changes.c */
void tg_compare_attrs(struct tg_diff_work *w);

/* core/diff/bytes.c: after the counts, whose ratio it divides by, and after renames. */
void tg_compare_bytes(struct tg_diff_work *w);
#endif
