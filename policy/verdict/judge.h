#ifndef TG_POLICY_VERDICT_JUDGE_H
#define TG_POLICY_VERDICT_JUDGE_H
/* One value pair against the limits of a rule. */
#include "policy/language/policy.h"
#include "policy/verdict/reason.h"
#include "policy/verdict/verdict.h"

enum { TG_BETTER_RUNS = 5 }; /* a side: docs/statistics-rules.md */

struct tg_probe {
    double base, test;        /* in the metric's unit, per step; base NaN: unknown (budgets) */
    double outside;           /* of `test`, calls outside the steps that the baseline has not */
    double per;               /* evidence is for so many calls together; 0: for one */
    double whole;             /* percentages of the change are of this; 0: of `base` */
    bool has_recorded;        /* budgets ask the means as recorded, */
    double recorded[2];       /* these; else `base` and `test` are that */
    bool known[2];            /* the side's traces provide it */
    bool exact;               /* a count, an attribute, bytes: no evidence needed */
    bool unchanged;           /* the counting rule says nothing changed */
    const char *incomparable; /* why a change tells nothing: budgets alone judge; NULL: it does */
    enum tg_reason lacks;     /* the need, with `incomparable` */
    const struct tg_evidence *ev; /* of durations; NULL: no evidence, durations are not judged */
    int64_t min_runs;             /* noise.min_runs for it; 0: not asked */
    bool fell;                    /* `ev` asks whether it fell; else whether it rose */
    const char *few_runs;         /* the reason where these are too few; NULL: tg_judged_text */
    double step_ns;               /* the baseline's step, for abs: 0.2%step */
    enum tg_unit unit;
    tg_sv own_unit;         /* with TG_UNIT_NUMBER: as in its file; "" none */
    enum tg_attr_kind attr; /* with TG_UNIT_ATTR */
    enum tg_polarity bad;
    enum tg_noise_test noise_test;
};

struct tg_judgement {
    enum tg_state state;
    const struct tg_limit *limit; /* the one that was exceeded; NULL: none */
    const char *why_not;          /* for NOT_JUDGED and SKIP: the need, in words; else NULL */
    enum tg_reason reason;        /* NONE: as the limit says, or a pass */
};
/* What the reason explains is `to` at worst. */
void tg_soften(struct tg_judgement *j, enum tg_reason why, enum tg_state to);
/* What lacks to judge it. */
void tg_lack(struct tg_judgement *j, enum tg_state state, enum tg_reason need, const char *why_not);
/* "too few runs a side (need 4, better 5)": of noise.min_runs. */
const char *tg_few_runs_text(int64_t min_runs, struct tg_arena *a);
/* Does a limit name a size of its own, beside `auto`? Such a limit is about the mean, too. */
bool tg_limit_lists_have_size(const struct tg_limit_list *warn, const struct tg_limit_list *fail);
/* `fail` is checked first. */
struct tg_judgement tg_judge(const struct tg_probe *p, const struct tg_limit_list *warn,
                             const struct tg_limit_list *fail);

/* Do the numbers that are shown exceed the limit, too, as the judged ones did? */
bool tg_probe_shows(const struct tg_probe *p, const struct tg_limit *l);
/* The measured change, as reports show it, in percent; NaN: the baseline is 0. Limits ask what
 * is left of it once the common factor of the machine is taken off. */
double tg_probe_measured_pct(const struct tg_probe *p);
void tg_limit_text(const struct tg_limit *l, struct tg_buf *out); /* "pct: 10%, abs: 0.2%step" */
#endif
