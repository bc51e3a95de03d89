#ifndef TG_POLICY_VERDICT_VERDICT_H
#define TG_POLICY_VERDICT_VERDICT_H
/* The verdict as plain data: everything that a report may show. Made by policy/verdict/eval.c, read
 * by reporters. Lives in one arena; every view points into it. */
#include "core/cause/choose.h"
#include "core/diff/compare.h"
#include "policy/language/match.h"
#include "policy/language/rule_metric.h"
#include "policy/verdict/reason.h"

/* The rules of evidence (core/diff, policy/verdict) by number: it rises with each release that may
 * judge the same traces and the same policy otherwise, every report names it, and a policy may ask
 * for it (`decisions`). What changed:
 * docs/release.md#upgrades. */
#define TG_DECISIONS 3
#define TG_TEXT_OF(n) #n
#define TG_TEXT(n) TG_TEXT_OF(n)
#define TG_JUDGED_BY TG_VERSION " (decisions " TG_TEXT(TG_DECISIONS) ")"

enum tg_state {
    TG_STATE_PASS,
    TG_STATE_NOT_JUDGED,
    TG_STATE_SKIP,
    TG_STATE_WAIVED,
    TG_STATE_SUSPICIOUS,
    TG_STATE_WARN,
    TG_STATE_INCONCLUSIVE,
    TG_STATE_FAIL
};
enum tg_outcome {
    TG_OUTCOME_PASS,
    TG_OUTCOME_WARN,
    TG_OUTCOME_INCONCLUSIVE,
    TG_OUTCOME_FAIL,
    TG_OUTCOME_ERROR
};
const char *tg_state_name(enum tg_state s); /* "pass", "not judged", … */
const char *
tg_outcome_name(enum tg_outcome o);          /* "pass", "warn", "inconclusive", "fail", "error" */
int tg_outcome_exit_code(enum tg_outcome o); /* 0 0 4 1 3 */

/* What a value of this unit is, as reports have it: "count", "duration", … */
const char *tg_unit_dimension(enum tg_unit unit);

/* What a state rests on. A result without grounds says nothing about the code. */
enum tg_grounds {
    TG_GROUNDS_NONE,
    TG_GROUNDS_COUNT, /* exact: how often something ran */
    TG_GROUNDS_ATTR,  /* exact: launch attributes, types, shapes, bytes */
    TG_GROUNDS_RUNS,  /* a measured value, by the evidence that the policy asks for */
    TG_GROUNDS_BUDGET /* the fresh side alone, against max or min */
};

#define TG_HOST_GAP "host time between operators" /* what people call the step's own time */
/* From the first start to the last end of a step's work on the device, gaps included. */
#define TG_DEVICE_EXTENT "the device's extent"
#define TG_DEVICE_BUSY "the device's busy time"
#define TG_DEVICE_EXTENT_MEANS "from its first work of a step to its last, gaps included"

/* What a result is about. */
enum tg_subject {
    TG_SUBJECT_NAME,     /* an operator, a kernel, a module …, by its name */
    TG_SUBJECT_TRACE,    /* a metric of the whole trace */
    TG_SUBJECT_NUMBER,   /* a benchmark's number, by its name */
    TG_SUBJECT_STEP,     /* the time between operators */
    TG_SUBJECT_REQUIRE,  /* what must hold before anything is judged: of no rule */
    TG_SUBJECT_NOTE,     /* the same, told by a note */
    TG_SUBJECT_NO_MATCH, /* a rule that matches no name */
    TG_SUBJECT_GUARD     /* why else a rule, or the whole verdict, judges nothing */
};

/* One judged thing: an operator, a metric or a guard under one rule. */
struct tg_result {
    enum tg_state state;
    enum tg_subject subject;
    enum tg_grounds grounds;
    bool switched_off;            /* the policy has no limit for it, or excepts it: not judged */
    bool budget;                  /* its rule has a limit that asks the fresh side alone */
    bool over_budget;             /* such a limit is exceeded: `limit` */
    const struct tg_bound *bound; /* the one bound of that limit; NULL: none, or more */
    bool was_over;                /* and was by the baseline */
    /* MAX, MIN: a waiver's ceiling may be a value, since the rule fails this way alone; else
     * PCT: it is about the change */
    enum tg_bound_kind ceiling;
    bool of_fastest;   /* its values are of the fastest steps: all together do not bear them out */
    bool waiver_ended; /* the waiver for it has expired */
    int64_t
        needs_runs; /* so many per side would judge it (noise.min_runs); 0: not for want of runs */
    enum tg_reason because;  /* NONE: a pass */
    const char *why_not;     /* not judged: the need, in words; NULL: judged, or a guard */
    tg_sv rule, why, owner;  /* rule id; its `why` */
    tg_sv op, op_normalised; /* raw, normalised; of metrics of the whole trace its name */
    tg_sv plain;             /* op_normalised without the rank */
    int64_t of_rank;         /* a rule looked at this rank by itself; -1: at all */
    bool one_rank;        /* it leads what one rank alone does: tg_comparison.rank_alone, `next` */
    enum tg_kind op_kind; /* of subject NAME */
    uint32_t op_at;       /* where tg_result_op looks first; says nothing by itself */
    enum tg_rule_metric metric; /* of guards: nothing; see tg_result_metric */
    enum tg_unit unit_id;
    bool has_values;              /* false: attributes and guards, see `message` */
    double base, test, delta;     /* in `unit`, per step (ns for durations, percent for ratios) */
    double delta_pct;             /* NaN: the baseline is 0 or absent; see tg_dec_pct_tells */
    const struct tg_evidence *ev; /* what it was decided by; NULL: exact, a budget, or a guard */
    tg_sv unit;  /* "ns", "count", "%", "bytes", "GB/s", "": to be shown; `unit_id` decides */
    tg_sv limit; /* the limit that was exceeded or applied, as written: "pct: 10%, abs: 0.2%step" */
    tg_sv limit_said;  /* the same as reports say it: "+15 %", "no more than before" */
    double share;      /* of the step on the test side, 0..1; NaN unknown */
    tg_sv calling_op;  /* the operator of unchanged count that makes the additional calls; "" */
    tg_sv message;     /* one line, numbers included: what, how much, share */
    bool names_itself; /* its message begins with its name */
    tg_sv attrs; /* of changed attributes: what of it changed, "registers 128 -> 255"; else "" */
    uint32_t waiver;  /* the item of the policy's waivers that covers it by name, from 1 on; 0 */
    tg_sv issue;      /* of its waiver: `evidence` ends with it; "" none */
    tg_sv evidence;   /* "5 of 5 runs above all 5 baseline runs, noise 1.8 %, limit 8 %" */
    tg_sv next;       /* what to do; for inconclusive, suspicious, not judged; may be "" */
    struct tg_loc at; /* the rule's place; file NULL: built in */
    tg_sv source; /* the program's own file its calls come from, in the repository; "" unknown */
    uint32_t source_line;
    const struct tg_cause *cause; /* where in the program it comes from; NULL: see no_cause */
    tg_sv event;                  /* id of the history's event that explains it; "" */
    /* [n_nights] where something failed and a store has it: its own time, or the step's, in the
     * last nights, ns per step, oldest first */
    const double *nights;
    size_t n_nights;
    tg_sv no_cause; /* why there is no cause; "": nobody asked */
    /* Of a finding about calls: ns per step of all that came or went with it and of what is
     * folded under it, by the clock that the step waits for. */
    bool whole_known, whole_on_host;
    double whole_ns[2];
    uint32_t folded_under; /* index of the result that explains it; TG_NO_ID */
    bool follows;          /* that one's calls make its own: a waiver for that one covers it */
    double weight;         /* order in reports: larger first (state, then ns per step) */
};

/* "kernel", "op", …; "step", "trace", "guard" for what is not about a name. */
tg_sv tg_result_kind(const struct tg_result *r);
bool tg_result_is_of_extent(
    const struct tg_result *r); /* and of no budget: that names the metric */
/* Our own words for what has no name: the time between operators, the device's extent; "" none. */
tg_sv tg_result_words(const struct tg_result *r);
/* These, with the rank, or its name, of which a line has room for `most` bytes: a message. */
void tg_result_put_name(struct tg_buf *out, const struct tg_result *r, size_t most);
/* "count", "self", "step_time", "launch_config" …; "" for guards. */
tg_sv tg_result_metric(const struct tg_result *r);
/* Of an operator, a kernel, …: is it this one? */
bool tg_result_is_about(const struct tg_result *r, const struct tg_op *op);
/* Of a number of calls of the whole trace that rose: the operator that adds most of them; NULL. */
const struct tg_op *tg_result_behind(const struct tg_result *r, const struct tg_comparison *c);
/* The operator that it is about; NULL: none, or not of this comparison (which may be NULL). */
const struct tg_op *tg_result_op(const struct tg_comparison *c, const struct tg_result *r);
/* The replacement that it tells of, by a name that came in it; NULL: none. */
const struct tg_region *tg_result_region(const struct tg_comparison *c, const struct tg_result *r);
/* About no name and no metric: see `message`. */
bool tg_result_is_guard(const struct tg_result *r);
/* Is it, for all that was measured, the machine's? Then no place of the program is to blame. */
bool tg_result_is_of_machine(const struct tg_result *r);
/* Are its values those of the slowest steps, or runs, and not of the mean step? */
bool tg_result_is_of_slowest(const struct tg_result *r);

enum tg_situation { /* of the baseline */
                    TG_SITUATION_UNKNOWN,
                    TG_SITUATION_FOUND,
                    TG_SITUATION_GAP, /* an ancestor's, because the commit asked for has none */
                    TG_SITUATION_FIRST_RUN,
                    TG_SITUATION_LOST,
                    TG_SITUATION_PATH /* a path was named: it has no history */
};
/* "found", "gap", "first-run", "lost", "path"; "" unknown. */
const char *tg_situation_name(enum tg_situation s);
/* Worth a word in a report: the baseline is not simply the one that was asked for. */
static inline bool tg_situation_is_special(enum tg_situation s)
{
    return s == TG_SITUATION_GAP || s == TG_SITUATION_FIRST_RUN || s == TG_SITUATION_LOST;
}

/* How the baseline was found. */
struct tg_baseline_info {
    tg_sv name;        /* of one of the policy's `baselines`; "": `baseline` */
    tg_sv commit, ref; /* 40 hex; what was asked; "" when the side was a path */
    tg_sv how; /* "merge base of HEAD and origin/main", "2 commits before …", "path …" */
    enum tg_situation situation;
    int64_t walked; /* commits walked back; 0: none */
    tg_sv paths;    /* path inside the commit, or the path */
};

struct tg_note { /* banners: built-in policy, drift, leniencies, environment, hints */
    tg_sv text, next;
    bool warning;          /* shown up front */
    enum tg_reason reason; /* of the row that it is as well; NONE: it changes no state */
    bool placed;           /* that row is among the results */
    bool damage;           /* about the traces themselves: in charts and annotations too */
    bool policy;           /* about the policy of the change: in annotations too */
};

struct tg_verdict {
    enum tg_outcome outcome;
    int exit_code;     /* by the table; --exit-zero keeps it here and changes only the process */
    tg_sv suite;       /* "train"; against one of `baselines` "train@release" */
    tg_sv headline;    /* "FAIL against release: 2 violations: …", made by tg_verdict_title of: */
    tg_sv said;        /* what it says after the outcome; */
    bool by_note;      /* `said` is of a note, not of findings or `error`: it decided the outcome */
    bool first_run;    /* nothing to compare with yet, and the policy allows it */
    tg_sv coverage;    /* "counts judged; durations not judged: no step markers" */
    tg_sv policy;      /* "built-in policy" or the file */
    tg_sv policy_file; /* its path in the repository; "" built in, or not known */
    tg_sv preset;      /* the whole policy: "tracegate:recommended"; "" a file is the policy */
    enum tg_waivers_there { /* `waivers:` in the policy's file */
                            TG_WAIVERS_ABSENT,
                            TG_WAIVERS_EMPTY, /* `waivers: []`, which a list replaces */
                            TG_WAIVERS_LISTED
    } waivers_there;
    bool counts_asked; /* a rule counts calls; */
    bool counts_judged, durations_judged, budgets_judged;
    int64_t min_runs; /* noise.min_runs of the policy */
    /* Judged in stages (core/diff/confirm.h): runs per side that are asked for, 0: final; names
     * of which. */
    size_t next_runs, n_suspects;
    tg_sv suspects; /* the first of these names, each with how much slower it looks; "" */
    tg_sv error;    /* outcome error, inconclusive: why, one line */
    tg_sv error_hint;
    struct tg_baseline_info baseline;
    tg_sv test_commit,
        timestamp; /* committed time of the judged commit, "YYYY-MM-DDThh:mm:ss", or "" */
    tg_sv test_paths;
    struct tg_result *results; /* sorted: worst first */
    size_t n_results;
    size_t n_state[TG_STATE_FAIL + 1];  /* results in a state, */
    size_t n_folded[TG_STATE_FAIL + 1]; /* of them consequences of another: not in the headline */
    /* For each name of the comparison, then for each of its regions: the first result whose
     * whole_ns tells of it, TG_NO_ID none; NULL: none at all */
    const uint32_t *whole_of;
    struct tg_note *notes;
    size_t n_notes;
    const struct tg_comparison *comparison; /* NULL on errors and first runs */
    const struct tg_comparison *alone;      /* without a baseline: the fresh side with itself */
    tg_sv version;                          /* of the program */
};

/* For what only reports the fresh side's numbers; NULL: there are none. */
static inline const struct tg_comparison *tg_verdict_fresh(const struct tg_verdict *v)
{
    return v->comparison ? v->comparison : v->alone;
}

/* Makes the headline: again when `said`, the outcome or the baseline's name changes. */
void tg_verdict_title(struct tg_verdict *v, struct tg_arena *a);
/* After causes were found (cmd/gate/cause.c): what is blamed on one change of the program is one
 * finding. The headline and n_folded follow; states and outcome stay. */
void tg_verdict_join_causes(struct tg_verdict *v, struct tg_arena *a);
#endif
