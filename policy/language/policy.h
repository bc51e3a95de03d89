#ifndef TG_POLICY_LANGUAGE_POLICY_H
#define TG_POLICY_LANGUAGE_POLICY_H
/*
 * A loaded policy: plain typed data after all layers were merged and every value was checked, so
 * whoever reads it needs no error paths. Defaults are filled in; each item knows where it was
 * written (`at`; a preset's file is "tracegate:recommended"). Everything lives in the policy and
 * dies with tg_policy_free.
 *
 * Not loaded means wrong: tg_policy_load reports all mistakes at once in a tg_diags and returns
 * NULL. How it is made: load.h. The language itself: docs/policy.md.
 */
#include "core/base/err.h"
#include "core/metric/classes.h"
#include "core/metric/stacks.h"
#include "policy/language/match.h"
#include "policy/language/rule_metric.h"

/* ---- limits: what a change may be ---- */

/*
 * One bound. "Exceeds" is strictly greater (MIN: strictly less). Values by kind:
 *   PCT  percent of the baseline, in the bad direction; `is_auto`: the threshold tau of the noise
 *        rule for the number of runs, value 0
 *   PP   percentage points, for metrics of unit PERCENT
 *   ABS  change in the metric's unit (ns, count, bytes, percent points for PERCENT is PP instead);
 *        with `of_step` percent of the baseline's step time. For FACT: 0, "any difference".
 *   MAX, MIN  the fresh value itself, in the metric's unit; no baseline needed, no evidence needed
 */
struct tg_bound {
    enum tg_bound_kind kind;
    bool is_auto, of_step;
    double value;
    tg_sv text; /* as written, "10%" */
    struct tg_loc at;
};

/* Every bound must be exceeded (AND). At least one, each kind at most once. */
struct tg_limit {
    const struct tg_bound *bound;
    size_t n;
    struct tg_loc at;
};

/* Any limit exceeded is enough (OR). OFF and UNSET both have n == 0. */
enum tg_limit_state { TG_LIMIT_UNSET, TG_LIMIT_OFF, TG_LIMIT_ON };
struct tg_limit_list {
    enum tg_limit_state state;
    const struct tg_limit *v;
    size_t n;
    struct tg_loc at;
};

/* ---- match: the names that a rule applies to ---- */

enum tg_match_family {
    TG_MATCH_FAMILY_GEMM,
    TG_MATCH_FAMILY_ATTENTION,
    TG_MATCH_FAMILY_CONV,
    TG_MATCH_FAMILY_NORM,
    TG_MATCH_FAMILY_TRITON,
    TG_MATCH_FAMILY_ELEMENTWISE
};
/* DEFAULT: not given. EACH: every rank is judged by itself. SLOWEST: the rank with the longest step
 * time. LIST: those of `ranks`. */
enum tg_match_rank {
    TG_MATCH_RANK_DEFAULT,
    TG_MATCH_RANK_EACH,
    TG_MATCH_RANK_SLOWEST,
    TG_MATCH_RANK_LIST
};

struct tg_ints {
    const int64_t *v;
    size_t n;
};

/* Kinds that are totals by Python frame. */
#define TG_FRAME_KINDS (1u << TG_KIND_MODULE | 1u << TG_KIND_SOURCE)

/* A mask of kinds -> what must be taken from traces for it: a bit per enum tg_stack_sort. */
static inline unsigned tg_frame_sorts(uint32_t kinds)
{
    return (kinds >> TG_KIND_MODULE & 1u) << TG_STACK_MODULES | (kinds >> TG_KIND_SOURCE & 1u)
                                                                    << TG_STACK_SOURCES;
}

/* All given keys must hold. A mask of 0 or an empty list: that key was not given. */
struct tg_match {
    bool present;                /* false: no `match:` at all, the rule is about the whole trace */
    uint32_t kinds;              /* bits 1 << enum tg_kind */
    uint32_t classes;            /* bits 1 << enum tg_class */
    uint32_t families;           /* bits 1 << enum tg_match_family */
    struct tg_patterns name;     /* normalised name */
    struct tg_patterns raw_name; /* as in the trace */
    struct tg_patterns parent;   /* normalised name of an enclosing op or annotation */
    struct tg_ints devices, streams;
    enum tg_match_rank rank;
    struct tg_ints ranks;
    const struct tg_match *not_; /* NULL: nothing excluded; never nested */
};

/* ---- noise: the evidence that a duration needs (docs/statistics.md) ---- */

enum tg_noise_test { TG_NOISE_RUNS, TG_NOISE_NONE };
struct tg_noise {
    enum tg_noise_test test;   /* NONE: the bare limit decides */
    int64_t min_runs;          /* a side; below it durations never fail */
    int64_t min_steps;         /* usable steps a run; below it durations are not judged. 0: any */
    double drift;              /* percent; a common factor beyond it is a warning */
    struct tg_patterns ignore; /* polling runtime calls, for `exceptions`; raw names */
    struct tg_loc at;          /* of `noise:`, or of the built-in defaults */
};

/* ---- rules ---- */

/* All given keys must hold; patterns on the texts of the CI event. */
struct tg_when {
    bool present;
    struct tg_patterns event, branch, device; /* device: its name, "NVIDIA H100 80GB HBM3" */
    struct tg_loc at;
};

/* Changes the rule for what it matches; of several that match, the last one wins per key. */
struct tg_override {
    struct tg_match match;
    struct tg_limit_list warn, fail; /* UNSET: as before */
    bool has_noise;
    struct tg_noise noise; /* complete: the rule's noise with the override's keys */
    struct tg_loc at;
};

struct tg_rule {
    tg_sv id;
    tg_sv why;   /* "" if not given */
    tg_sv owner; /* printed, never @mentioned; "" if not given */
    struct tg_match match;
    enum tg_rule_metric metric;
    enum tg_polarity bad; /* resolved: `direction:`, else the metric's own */
    struct tg_limit_list warn, fail;
    const struct tg_override *overrides;
    size_t n_overrides;
    struct tg_noise noise; /* complete: the policy's noise with the rule's keys */
    uint32_t exceptions;   /* bits 1 << enum tg_exception: counts that it excepts */
    bool optional;         /* matching nothing is a note, not `inconclusive` */
    bool unjudged_note;    /* `unjudged: note`: so is judging nothing of what it matches */
    uint32_t against;      /* the baselines it is judged against: bits as in tg_policy_against */
    struct tg_when when;
    struct tg_loc at;        /* of the rule: its id, in the last layer that changed it */
    struct tg_loc metric_at; /* unknown if not given */
};

/* ---- suites ---- */

enum tg_window_by { TG_BY_DEFAULT, TG_BY_PROFILER_STEP, TG_BY_ANNOTATION, TG_BY_TRACE };
struct tg_window {
    enum tg_window_by by;    /* DEFAULT: ProfilerStep where there is one, else the whole trace */
    struct tg_pattern *name; /* of ANNOTATION; else NULL */
    int64_t skip_first, skip_last;
    struct tg_loc at;
};

/* Where the fresh traces are. `run` and `rank` are regexes with one group, applied to each path. */
struct tg_trace_spec {
    tg_sv files;     /* path or glob, relative to the policy's directory */
    tg_sv run, rank; /* "" if not given */
    struct tg_pattern *run_pattern, *rank_pattern; /* for tg_pattern_group; NULL if not given */
};

struct tg_suite {
    tg_sv name;
    struct tg_trace_spec trace;
    tg_sv numbers;  /* path or glob of files of numbers, relative as `trace`; "" if not given */
    tg_sv baseline; /* path or glob inside the baseline commit's tree; "": stored, or not given */
    struct tg_loc baseline_at;
    int64_t ranks_expect; /* 0: not given */
    struct tg_window window;
    struct tg_loc at;
};

/* ---- baseline, require, report ---- */

enum tg_ref_kind { TG_REF_MERGE_BASE, TG_REF_PARENT, TG_REF_NAMED, TG_REF_WINDOW, TG_REF_RELEASE };
enum tg_on_missing { TG_ON_MISSING_PASS, TG_ON_MISSING_INCONCLUSIVE, TG_ON_MISSING_FAIL };
/* What must be equal on both sides; otherwise durations and kernel names are shown, not judged. */
enum tg_same {
    TG_SAME_DEVICE,
    TG_SAME_WORLD_SIZE,
    TG_SAME_CUDA_MAJOR,
    TG_SAME_TORCH_MINOR,
    TG_SAME_CPU
};

/* `baseline`, or one of `baselines`; what the latter do not say is as in the former. */
struct tg_baseline_settings {
    tg_sv name; /* of one of `baselines`; "" for `baseline` */
    enum tg_ref_kind ref;
    tg_sv ref_name;     /* of NAMED; of RELEASE the glob of its tag */
    int64_t ref_window; /* of WINDOW: that many commits */
    tg_sv target;       /* "" for auto */
    int64_t max_walk;
    enum tg_on_missing on_first_run, on_lost;
    uint32_t require_same; /* bits 1 << enum tg_same */
    struct tg_loc at;
};

struct tg_require {
    int64_t steps, kernels; /* 0: not required */
    struct tg_patterns ops; /* each must match something; normalised names */
    bool collapse, account; /* these guards are on */
    double detectable;      /* smallest change of step time, in %, that the runs must be able to
                               detect; 0: no requirement */
    struct tg_loc at, steps_at, kernels_at, ops_at, detectable_at;
};

struct tg_report_settings {
    int64_t top, junit_max;
};

struct tg_policy_ab {     /* of tracegate ab, as its options have them */
    tg_sv detect, budget; /* "10%", "5min"; "": not given */
    int64_t max_runs;     /* 0: not given */
    tg_sv measured;       /* by calibrate, in words */
};

/* States that make the verdict fail; FAIL is always among them. */
enum tg_fail_on {
    TG_FAIL_ON_FAIL = 1,
    TG_FAIL_ON_WARN = 2,
    TG_FAIL_ON_INCONCLUSIVE = 4,
    TG_FAIL_ON_SUSPICIOUS = 8,
    TG_FAIL_ON_OPEN = 16 /* what an open event of the history explains, every night */
};

/* Two normalised names that are the same operation. */
struct tg_alias {
    tg_sv from, to;
};

/* An accepted violation; its form is checked here, evaluation judges it. */
struct tg_waiver {
    tg_sv rule;              /* id of a rule that exists */
    struct tg_pattern *name; /* NULL: not given (rules about the whole trace) */
    tg_sv name_text;
    bool many; /* the name is a glob on purpose; else an exact normalised name */
    struct tg_limit ceiling;
    tg_sv reason, issue, owner;
    int64_t expires; /* days since 1970-01-01, UTC; valid through that day */
    tg_sv expires_text;
    struct tg_when when;
    struct tg_loc at;
    bool with; /* a name in the `with` of the waiver before it: one item of the file */
};

/* ---- the policy ---- */

struct tg_policy {
    struct tg_arena *arena;      /* owns everything below */
    tg_sv file;                  /* main file as named; "" when the built-in policy applies */
    const char **files;          /* every file that was read, the main one first; */
    size_t n_files;              /* 0 of a commit's or the built-in one */
    tg_sv profile;               /* "" for none */
    const char *const *profiles; /* those that --profile may select */
    size_t n_profiles;
    int64_t today;                 /* as in tg_policy_opts; 0: unknown */
    bool built_in;                 /* no policy file: tracegate:recommended */
    const struct tg_suite *suites; /* may be empty: `check TRACE --baseline SIDE` makes one */
    size_t n_suites;
    struct tg_baseline_settings baseline;
    const struct tg_baseline_settings *baselines; /* the others */
    size_t n_baselines;
    struct tg_require require;
    struct tg_noise noise;
    const struct tg_alias *aliases;
    size_t n_aliases;
    struct tg_classes classes;   /* rows before the built-in class table; raw names */
    const struct tg_rule *rules; /* layer order, then order in the file */
    size_t n_rules;
    const tg_sv *removed; /* ids dropped by `rules: {remove: [...]}` */
    size_t n_removed;
    const struct tg_waiver *waivers;
    size_t n_waivers;
    struct tg_loc waivers_at; /* of the list; file NULL: the policy has none */
    struct tg_report_settings report;
    struct tg_policy_ab ab;
    unsigned fail_on;                   /* bits of enum tg_fail_on */
    struct tg_policy_private *private_; /* merged tree, compiled patterns: for show, lint, free */
};

void tg_policy_free(struct tg_policy *p); /* accepts NULL */

/*
 * Baseline 0 is `baseline`, 1 to n_baselines are those of `baselines`. The policy as it is for one
 * of them: its settings in `baseline`, and the rules that are against it. A view in `a`: it dies
 * with `p` and is never freed itself.
 */
#define TG_POLICY_BASELINES 16u /* of `baselines` at most */
const struct tg_policy *tg_policy_against(const struct tg_policy *p, size_t i, struct tg_arena *a);
/* Does any rule use this baseline? If no rule uses any, only `baseline` does. */
bool tg_policy_has_baseline(const struct tg_policy *p, size_t i);
/* Was it written in a preset? Then a rule that was removed takes its baseline with it. */
bool tg_policy_is_built_in(const struct tg_loc *at);

/* Names as in the file: "compute", "gemm", "each", "device". */
const char *tg_same_name(enum tg_same s);
#endif
