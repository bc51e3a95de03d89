#ifndef TG_DIFF_RULE_H
#define TG_DIFF_RULE_H
/*
 * The rule of durations in pieces: what all operators tell of the machine (machine.c); logarithms of
 * run values, which of them are judged at all, and the rule for one operator (rule.c). evidence.c puts
 * them together. Private to core/diff.
 *
 * Formulae: docs/statistics-rules.md. Every result lives in the arena of the comparison.
 */
#include "core/diff/internal.h"
#include "core/diff/numbers.h"

/* ---- run values as logarithms of ns, at least of 1 ns ---- */

/* By role, not by side: swapped, the fresh side is the one that another is compared with. */
struct tg_logs {
    double *x[2], *ascending[2], median[2]; /* [role][run] */
    double variance;         /* noise that speaks against a finding */
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

/* ---- machine.c ---- */

/* What all operators share in one direction and estimate: the machine's factor, the usual noise, and how
 * unlike they shifted. */
struct tg_background {
    double c, v0;
    bool has_v0;   /* some operator tells it */
    double others; /* a tenth of the big operators shifted by as much more than c, but for one */
};
struct tg_machine {
    struct tg_background of[2][TG_ESTIMATES]; /* forward, swapped */
};
/* Of the values that are `judged`, all operators'; fills w->big, w->speed, w->busy, and drift and busy
 * of the comparison. Levels the values. `m`: TG_CLOCKS of them. */
void tg_machine_find(struct tg_diff_work *w, struct tg_run_values *v, const bool *judged,
                     struct tg_machine *m);
/* Whose speed the self time of a kind follows. */
enum tg_clock tg_clock_of(enum tg_kind kind);
/* Outside the list of operators there is no usual noise of others, only how all of them shifted. */
struct tg_machine tg_machine_of_drift(const struct tg_diff_work *w);

static inline enum tg_step_statistic tg_step_statistic_of(enum tg_estimate e)
{
    return e == TG_ESTIMATE_MEAN ? TG_MEAN : TG_LEAST;
}

/* ---- which are judged ---- */

/* Reasons that hold for every operator of the comparison; TG_JUDGED: none. Device times have one
 * more: a negative duration on the device. */
enum tg_judged tg_common_reason(const struct tg_diff_work *w, enum tg_clock clock);
/* Reasons of its own, the strongest first. */
enum tg_judged tg_own_reason(const struct tg_op *op, const struct tg_run_values *v);
bool tg_kind_is_timed(enum tg_kind k);
/* Self time of these is what runs between operators: no speed of the machine's, and no usual noise. */
bool tg_kind_is_gap(enum tg_kind k);

/* ---- rule.c ---- */

/* How large a change has to be. */
struct tg_aim {
    double floor;    /* ns: 0.1 % of the step, or 0 */
    double tick;     /* ns: no smaller change is proven; 0: a fine clock */
    bool device;     /* of device work, which has less noise */
    bool some_steps; /* some steps of every fresh run are slower than any of the baseline */
};

/*
 * What most steps or most runs have to show where the rule finds nothing: so much slower than the
 * baseline's, and so much of the step.
 */
static inline double tg_most_ratio(bool device)
{
    return device ? TG_RARE_STEP : TG_TWICE;
}
static inline double tg_most_floor(bool device)
{
    return device ? TG_RARE_FLOOR : TG_MUCH;
}
/* Fills `ev`, all but `why_not`, which says whether what is found counts. Levels the values. */
void tg_evidence_fill(const struct tg_diff_work *w, struct tg_evidence *ev, struct tg_run_values *v,
                      const struct tg_machine *m, struct tg_aim aim);
/* The same by one estimate alone and forward only: nothing is `faster` or held. */
void tg_evidence_by(const struct tg_diff_work *w, struct tg_evidence *ev, struct tg_run_values *v,
                    const struct tg_machine *m, struct tg_aim aim, enum tg_estimate estimate);
#endif
