#ifndef TG_POLICY_VERDICT_EVAL_H
#define TG_POLICY_VERDICT_EVAL_H
/*
 * Comparison + policy -> verdict. Order: guards (window, steps, require, collapse), rules with
 * their limits and evidence, coverage, waivers, `fail_on`, then the outcome: any fail -> fail; else
 * anything inconclusive -> inconclusive; else a warning of any kind -> warn; else pass. What is not
 * judged never passes: a rule that judged nothing is inconclusive, and so is a verdict that
 * rests on nothing.
 *
 * A limit is size first, evidence second: every bound must be exceeded, and a duration must pass
 * the noise rule as well. Counts, launch attributes and budgets (max, min) need no evidence.
 */
#include "policy/language/policy.h"
#include "policy/verdict/verdict.h"

/* What a rule about an attribute asks for. */
enum tg_attr_kind tg_rule_attr_kind(enum tg_rule_metric m);

/* What a rule looks at when it is not everything. */
struct tg_part {
    int64_t rank;                            /* -1: all */
    const struct tg_ints *devices, *streams; /* n 0: all; else device rows of these only */
};

/* What an event of the history (core/history) changed since the baseline: a failure that is no more
 * than that warns, because it failed in the night that showed the event; with `fail_on: [open]` it
 * fails until somebody accepts the event. */
enum tg_known_what { TG_KNOWN_NAME, TG_KNOWN_STEP, TG_KNOWN_FAILURE, TG_KNOWN_NIGHT_VALUES };
struct tg_known {
    enum tg_known_what what;
    enum tg_kind kind;    /* of NAME and FAILURE */
    tg_sv name;           /* of NAME: normalised; of FAILURE: as in the result */
    bool exact;           /* the number of calls changed: `before` to `after` */
    double before, after; /* calls per step; of FAILURE: `base` and `test` of the result */
    double e;             /* ln ratio of its time */
    double cost_ns;       /* of STEP: what the event costs, a step; at least 0 */
    bool accepted;
    tg_sv text, id;          /* "since night 9, commit abc, open: event …" */
    enum tg_subject subject; /* of NAME (a number is one, too) and FAILURE */
    tg_sv rule;              /* of FAILURE, and all that follows */
    enum tg_rule_metric metric;
    enum tg_unit unit_id;
    const double *nights; /* [n_nights], of NIGHT_VALUES: ns per step, oldest first */
    size_t n_nights;
};

/* What an event is not needed for: a failure that the night before HEAD had as well. */
enum tg_known_from {
    TG_KNOWN_EVENTS, /* of the history */
    TG_KNOWN_NIGHTS, /* that failed of it: TG_KNOWN_FAILURE */
    TG_KNOWN_TREND   /* of the newest nights: NIGHT_VALUES; asked after EVENTS */
};
/* The result as one that later nights may repeat; false: it passed, or it fails every night. */
bool tg_known_failure(const struct tg_result *r, struct tg_known *out);
/* Is `now` the failure `then` of an earlier night, and no more than it? The same rule, name, metric
 * and direction; the same number of calls, or a value that is at most a quarter of that night's
 * change, or 2 %, beyond that night's; against a baseline that has not gone the same way by more
 * than a quarter of it, or the change would be a new one. */
bool tg_known_goes_on(const struct tg_known *then, const struct tg_known *now);

struct tg_eval_input {
    const struct tg_policy *policy;
    const struct tg_suite *suite; /* NULL: none named, for `check TRACE --baseline SIDE` */
    const struct tg_comparison *comparison; /* not NULL */
    const struct tg_damage *damage[2];      /* what of a side could not be read; NULL: nothing */
    const char *event, *branch; /* for `when:`; NULL: unknown, a rule that asks is skipped */
    int64_t today;              /* days since 1970-01-01 UTC, for waivers */
    /* Of several suites: which waivers one of them used, and whether others are still to come or
     * could not be judged, so that none is called unused yet. NULL and false: the only one. */
    bool *waivers_used; /* [policy->n_waivers] */
    bool more_suites;
    bool alone;            /* both sides are the fresh one: nothing is said of a baseline */
    const char *disturbed; /* runs that are not like the others, in words; NULL, "": none */
    /* Asked at most once for each, where something fails; NULL: nothing is known. */
    size_t (*ask_known)(void *arg, enum tg_known_from from, const struct tg_known **out);
    void *known_arg;
};
/*
 * Rules may look at parts of the comparison: at one rank alone, at some devices or streams. The
 * caller compares them, one at a time, and may release each once it is judged:
 *
 *     e = tg_eval_begin(out, in, a);
 *     while (tg_eval_wants(e, &part)) { compare it; tg_eval_part(e, comparison); release it; }
 *     tg_eval_end(e);
 *
 * All rules that ask for a part share it; parts of a rank come one after the other. The verdict
 * lacks what the caller adds: baseline, commits and paths.
 */
struct tg_eval_state;
TG_MUST struct tg_eval_state *tg_eval_begin(struct tg_verdict *out, const struct tg_eval_input *in,
                                            struct tg_arena *a);
bool tg_eval_wants(struct tg_eval_state *e, struct tg_part *next);
void tg_eval_part(struct tg_eval_state *e, const struct tg_comparison *c);
void tg_eval_end(struct tg_eval_state *e);  /* frees it */
void tg_eval_drop(struct tg_eval_state *e); /* a part could not be compared: no verdict */

/* Verdicts without a comparison: an input that cannot be used, a lost baseline, a first run. */
void tg_verdict_of_error(struct tg_verdict *out, const struct tg_err *why, struct tg_arena *a);
/* What `on_lost` makes of a lost baseline, in every part of the verdict. */
void tg_verdict_lost(struct tg_verdict *out, const struct tg_err *why, enum tg_outcome outcome,
                     struct tg_arena *a);
void tg_verdict_first_run(struct tg_verdict *out, enum tg_outcome outcome, struct tg_arena *a);
/* No baseline is there, and none is needed: a pass, to which tg_verdict_add_alone adds. */
void tg_verdict_alone(struct tg_verdict *out, struct tg_arena *a);
/* Adds what asks the fresh side alone to a verdict without a comparison: `self` is the verdict
 * on the fresh side compared with itself, of which budgets (max, min) and guards count. A
 * failure makes the verdict fail; a guard, or a budget that cannot be judged, makes a pass
 * inconclusive; a warning lifts a pass. What is in order changes nothing. */
void tg_verdict_add_alone(struct tg_verdict *v, const struct tg_verdict *self, struct tg_arena *a);
/* Do all rules ask metrics of whole traces, and of all ranks together? Their verdict needs no
 * names of operators but for what guards and notes say of them. */
bool tg_policy_asks_metrics_alone(const struct tg_policy *p);
/* Does no rule of the policy need a baseline? */
bool tg_policy_asks_fresh_alone(const struct tg_policy *p);
/* Makes rows of the notes that have a reason, also of those added after tg_eval: warnings, or
 * failures if `fail_on` (bits of enum tg_fail_on) names warnings. The outcome is that of the
 * worst row. If `fail_on` names `inconclusive`, a verdict without a comparison fails too. */
void tg_verdict_settle(struct tg_verdict *v, unsigned fail_on, struct tg_arena *a);
/* "too few runs a side (need 4, better 5)": of noise.min_runs. */
const char *tg_few_runs_text(int64_t min_runs, struct tg_arena *a);
/* What is said of a side. NONE: no warning. NOTE: a warning, shown up front. Any other reason:
 * such a warning that is a row of the rule `require` as well. */
void tg_verdict_add_note(struct tg_verdict *v, struct tg_arena *a, enum tg_reason reason,
                         tg_sv text, tg_sv next);
/* ---- explain.c: which rules judge a name, with which limits, and where each is written. The
 * answer comes from the functions that judge. ---- */

/* `c`: the traces, as runs of the same code, compared with themselves: then the answer has their
 * present values, where each limit begins, the noise and the smallest detectable slowdown. NULL: no
 * traces; of `op` only name, raw names, kind and class are used, and rules that match by parent are
 * given as depending on it. Returns how many rules judge it. */
size_t tg_policy_explain_op(const struct tg_policy *p, const struct tg_op *op,
                            const struct tg_comparison *c, struct tg_buf *out);
/* A rule by its id, with `c` also the names that it matches; false: there is no such rule. */
bool tg_policy_explain_rule(const struct tg_policy *p, tg_sv id, const struct tg_comparison *c,
                            struct tg_buf *out);
#endif
