#ifndef TG_POLICY_VERDICT_INTERNAL_H
#define TG_POLICY_VERDICT_INTERNAL_H
/* What the files of this room share; all others include eval.h. The stages in their order:
 * README.md. */
#include "core/base/message.h"
#include "core/base/sort.h"
#include "policy/verdict/eval.h"

struct tg_buckets;
struct tg_rank_row;
struct tg_rank_rows { /* rank_rows.c: what rules say of many ranks */
    struct tg_strmap names, rules;
    struct tg_rank_row *v;
    size_t cap, n_ranks; /* ranks that any rule looked at */
    int64_t last_rank;
};

struct tg_eval_state {
    const struct tg_eval_input *in;
    struct tg_verdict *out;
    const struct tg_comparison *c; /* what is judged now: of all ranks, */
    int64_t rank;                  /* -1, or a part of it */
    struct tg_arena *arena;        /* the verdict's, or that part's */
    struct tg_result *results;     /* grows; copied into the arena at the end */
    size_t n, cap;
    struct tg_rank_rows ranks; /* of rules that look at several ranks */
    struct tg_part *parts;     /* that rules look at by themselves */
    size_t n_parts, cap_parts, next_part;
    bool comparable, brief; /* brief: passes need no text */
    bool asks_again;        /* what grew as a whole; times of a device whose speed changes */
};

/* ---- rank_rows.c ---- */

void tg_rank_rows_init(struct tg_rank_rows *x);
void tg_rank_rows_release(struct tg_rank_rows *x);
/* Adds what the rule says of one rank, in the order of ranks; kept texts are copied into `a`. */
void tg_rank_rows_add(struct tg_rank_rows *x, const struct tg_result *r, int64_t rank,
                      struct tg_arena *a);
/* Has the rule said anything of a rank before? */
bool tg_rank_rows_have(const struct tg_rank_rows *x, tg_sv rule);
/* Adds a result for each name. */
void tg_rank_rows_put(struct tg_rank_rows *x, struct tg_eval_state *e);
struct tg_result tg_result_copy(const struct tg_result *r, struct tg_arena *a);

/* The traces of a side, one after the other; NULL: no more. */
static inline const struct tg_shard *tg_side_shard(const struct tg_side *s, size_t i)
{
    return i < s->n_runs * s->n_ranks ? s->at[i / s->n_ranks][i % s->n_ranks] : NULL;
}

/* A result of a rule by its id, without anything else. */
struct tg_result tg_result_of(tg_sv rule);
/* A new result of `rule` (NULL: a guard); valid until the next one is added. */
struct tg_result *tg_eval_add(struct tg_eval_state *e, const struct tg_rule *rule);
/* Do the additional calls of `head` make those of `r`, which is about `op`? */
bool tg_eval_explains(const struct tg_result *head, const struct tg_result *r,
                      const struct tg_op *op, const struct tg_comparison *c);
/* The step's time: wall clock, or the host's or the device's part of it. */
bool tg_result_is_step_time(const struct tg_result *r);
/* The device's busy time. */
bool tg_result_is_busy(const struct tg_result *r);
/* The first in this state; NULL: none. */
const struct tg_result *tg_result_first(const struct tg_result *v, size_t n, enum tg_state s);
/* That of the worst row. */
enum tg_outcome tg_outcome_of(const struct tg_verdict *v);
/* Makes it a result without values; `op` is what reports call it. */
void tg_eval_message(struct tg_result *r, enum tg_state state, enum tg_subject subject,
                     enum tg_reason because, tg_sv op, tg_sv message, tg_sv next);
/* Adds a result of `rule` (NULL: a guard) that is about no name. */
void tg_eval_say(struct tg_eval_state *e, const struct tg_rule *rule, enum tg_state state,
                 enum tg_reason because, const char *what, const char *message, const char *next);
/* Nothing is green until `need` holds. */
#define TG_OPEN(e, need, what, message, next)                                                      \
    tg_eval_say((e), NULL, TG_STATE_INCONCLUSIVE, (need), (what), (message), (next))
/* What comes after the judge, a waiver, an event or `fail_on`, makes the state of a row and adds
 * to its evidence. `why` NONE: it is as before because of what it was. */
void tg_eval_revise(struct tg_eval_state *e, struct tg_result *r, enum tg_state to,
                    enum tg_reason why, tg_sv evidence);
void tg_eval_note(struct tg_eval_state *e, enum tg_reason reason, tg_sv text, const char *next);
#define TG_NOTE(e, reason, next, ...)                                                              \
    tg_eval_note((e), (reason), TG_SV_PRINTF((e)->arena, __VA_ARGS__), (next))
/* What to do about a machine, wherever it is said: reports say it once. */
#define TG_NEXT_MACHINE(e)                                                                         \
    ((e)->in->comparison->in_turn                                                                  \
         ? "Run it again on an idle machine, after a warm-up."                                     \
         : "Record both sides in turn on one idle machine, after a warm-up: `tracegate ab` does.")
#define TG_NEXT_GRADIENTS                                                                          \
    "Is torch.no_grad() or torch.inference_mode() lost? Autograd records what they call, which "   \
    "takes time and keeps memory."
#define TG_NEXT_DATA "Record both sides with the same data and seeds."
#define TG_NEXT_WARM "Warm the device up for two seconds before recording."
#define TG_SIDE_NAME(side) ((side) == TG_TEST ? "fresh" : "baseline")
#define TG_PLURAL(n) ((n) == 1 ? "" : "s")

/* ---- select.c ---- */

/* Operators by the name of their parent. */
void tg_select_children(struct tg_buckets *children, const struct tg_comparison *c);
/* GAVE_UP: a regular expression ran out of its budget. */
enum tg_hit tg_select_op(const struct tg_match *m, const struct tg_op *op);

/* A rule's limits for one operator: of the overrides that match, the last wins per key. */
struct tg_rule_limits {
    struct tg_limit_list warn, fail;
    const struct tg_noise *noise;
};
bool tg_select_override(const struct tg_override *o, const struct tg_op *op);
/* `op` NULL: the whole trace, which no override matches. */
struct tg_rule_limits tg_select_limits(const struct tg_rule *rule, const struct tg_op *op);

/* `when:`; a key whose value is unknown does not hold. */
bool tg_select_rule(const struct tg_eval_state *e, const struct tg_when *when);

/* ---- outside_steps.c: calls before, between and after the steps, those that the window skips
 * included ---- */

/* By the step. */
double tg_outside_calls(const struct tg_comparison *c, const struct tg_op *op, int side);
double tg_inside_calls(const struct tg_comparison *c, const struct tg_op *op, int side);
/* How many more by the step the fresh side has; 0: not more by the step and by the trace. */
double tg_outside_growth(const struct tg_comparison *c, const struct tg_op *op);
/* What the baseline did outside its steps and the fresh side does inside them, as often: the
 * same work, marked or linked in another way. */
struct tg_came_in {
    double ns; /* of a trace, inclusive */
    size_t n_names;
    const struct tg_op *largest;
    bool device; /* nothing on the host */
};
struct tg_came_in tg_outside_came_in(const struct tg_comparison *c);
/* Of all names of these kinds, bits 1 << enum tg_kind, less what others have fewer. */
double tg_outside_growth_of(const struct tg_comparison *c, uint32_t kinds);

/* ---- judge.c: one value pair against the limits of a rule ---- */

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

/* ---- probe.c ---- */

/* A quantity with a value of each run: what one row is about. */
struct tg_quantity {
    enum tg_quantity_kind {
        TG_QUANTITY_OP,     /* a metric of a name */
        TG_QUANTITY_GAP,    /* time that no operator has: of the step, or of an annotation */
        TG_QUANTITY_CHOICE, /* device time of an operator that launches other kernels than before */
        TG_QUANTITY_TRACE,  /* a metric of the whole trace */
        TG_QUANTITY_NUMBER  /* a benchmark's */
    } kind;
    const struct tg_op *op;       /* of CHOICE what stands for it; of TRACE and NUMBER NULL */
    const struct tg_evidence *ev; /* GAP, CHOICE: its time */
    const struct tg_number_change *number;
};
/* `x` becomes the same quantity in other runs; false: they lack it. */
bool tg_quantity_find(struct tg_quantity *x, const struct tg_comparison *c);

struct tg_judging { /* one row while it is judged: each part is made from those before it */
    const struct tg_rule *rule;
    struct tg_quantity x;
    struct tg_rule_limits l;
    struct tg_probe p;
    struct tg_judgement j;
    const struct tg_op *seen; /* what its time is of: x.op, or the same of the new runs */
};
/* Values and evidence of the row's quantity, by one estimate (LEAST: as the comparison has it);
 * false: it has none. */
bool tg_probe(struct tg_probe *p, const struct tg_judging *w, const struct tg_comparison *c,
              enum tg_estimate by);
void tg_probe_put(struct tg_probe *p, const double value[2]); /* what is shown of it */
/* Does a side lack totals by Python frame that rules about these kinds need? */
bool tg_lacks_frames(const struct tg_comparison *c, uint32_t kinds, int side);

/* ---- judge_rows.c ---- */

/* Limits and values of a quantity, by as many runs as the rule asks for; false: the quantity has
 * no value. */
bool tg_judging_measure(struct tg_judging *w, const struct tg_rule *rule,
                        const struct tg_quantity *x, const struct tg_policy *policy,
                        const struct tg_comparison *c, struct tg_arena *a);
/* Judges a quantity of `e->c` and adds its row: of parts and sums only what is found. */
void tg_judge_quantity(struct tg_eval_state *e, const struct tg_rule *rule,
                       const struct tg_quantity *x);

/* ---- phrase.c: pieces of sentences, values with their units ---- */

/* A value in a format: a text until the end of its statement. */
struct tg_phrase {
    char text[320]; /* the largest double has 309 digits before its point */
};
/* `plus`: before what is not negative. */
struct tg_phrase tg_phrase_of(double v, enum tg_unit unit, const char *plus);
#define TG_VALUE(v, unit) (tg_phrase_of((v), (unit), "").text)       /* "12.3 us", "14", "3.2 %" */
#define TG_SIGNED(v, unit) (tg_phrase_of((v), (unit), "+").text)     /* "+14" */
#define TG_PCT(pct) (tg_phrase_of((pct), TG_UNIT_PERCENT, "+").text) /* "+3.2 %", "-41 %" */
/* A time beside another one, in one unit, and with digits that tell them apart: "0.980 ms"
 * beside "1.030 ms", "1.031 ms" beside "1.034 ms". Of times that are far apart each has its own. */
struct tg_phrase tg_phrase_beside_of(double v, double other, enum tg_unit unit);
#define TG_BESIDE(v, other, unit) (tg_phrase_beside_of((v), (other), (unit)).text)
/* "kernels", "copies", … as people call the names of a kind; its own name for what needs no
 * other. */
const char *tg_phrase_kind(enum tg_kind kind);
/* "aten::mul, aten::erf and 2 more": the names that came or went in a replacement, without `but`
 * (NULL: all); how many. */
size_t tg_phrase_region(struct tg_buf *out, const struct tg_comparison *c, uint32_t region,
                        int side, const struct tg_op *but);
/* "12 of 27 calls of ": a replacement takes the place of a part of its names' calls; of all:
 * nothing. */
void tg_phrase_part(struct tg_buf *out, double part, double all);
/* "fp16", "fp32", …: what a kernel computes with, as far as its name says; NULL. */
const char *tg_phrase_type(tg_sv kernel);
/* "5 kernels +500 % (+571 us)": what takes longer on one rank alone */
void tg_phrase_rank_alone(struct tg_buf *out, const struct tg_comparison *c);
/* "over the limit of 52 us" of "max: 52us", "under the limit of 3" of "min: 3" */
void tg_phrase_budget(struct tg_buf *out, const struct tg_bound *bound);
/* "up to 3 calls in 1 of 4 steps of every run" */
void tg_phrase_some_steps(struct tg_buf *out, const struct tg_count_evidence *ev, size_t n_runs);
tg_sv tg_phrase_take(struct tg_buf *b, struct tg_arena *a); /* releases `b` */

/* ---- describe.c: sentences, one line a tired engineer understands. Texts live in `a` ---- */

/* What, how much per step, share of the step. Fills message, evidence and next of `r`. `op` NULL:
 * of a metric of no name. */
void tg_describe_row(struct tg_result *r, const struct tg_op *op, const struct tg_comparison *c,
                     const struct tg_probe *p, const struct tg_judgement *j, struct tg_arena *a);
/* Headline and coverage of a verdict whose results are sorted: describe_verdict.c. */
void tg_describe_verdict(struct tg_verdict *v, struct tg_arena *a);
/* What findings about calls weigh with all that is folded under them now; again when that
 * changes. */
void tg_describe_weights(struct tg_verdict *v, struct tg_arena *a);
/* The headline, for what is folded now: of a single finding with what it costs and the function
 * that it comes from, if that is known. */
void tg_describe_headline(struct tg_verdict *v, struct tg_arena *a);
/* The message of a number of calls; `weight`: what it says of its weight, as ", 4.1 % of the
 * step". */
void tg_describe_calls(struct tg_result *r, const struct tg_op *op, const struct tg_comparison *c,
                       const double calls[2], tg_sv weight, struct tg_arena *a);
/* A limit as a reader takes it: "+15 %" for `pct: auto` with a least size, nothing for `abs: 0`
 * of calls, which the words of a rule say; else as written. */
void tg_describe_limit(struct tg_buf *b, const struct tg_limit *l, const struct tg_probe *p);

/* ---- stages.c: is the verdict final? ---- */

void tg_stages_note(struct tg_eval_state *e);
/* After all rules: a time that is open, or cannot be told, is never green. */
void tg_stages_close(struct tg_eval_state *e);
/* Runs a side that the verdict asks for; 0: it is final. */
size_t tg_stages_next(const struct tg_eval_state *e);

/* ---- the steps of tg_eval ---- */

void tg_notes(struct tg_eval_state *e);
/* After all rows: where the host waits, if none of them tells. */
void tg_note_waits(struct tg_eval_state *e);
/* False: the two sides are not comparable, so that no rule can judge them. */
bool tg_guards(struct tg_eval_state *e);
/* False: events are there twice, so that neither calls nor times are comparable. */
bool tg_guard_integrity(struct tg_eval_state *e);
/* ---- rules.c ---- */

/* Does its `when` hold, and does it count calls? */
bool tg_rule_counts_calls(const struct tg_eval_state *e, const struct tg_rule *rule);

/* Does the rule look at some of the names of a kind only? Then the others may do the same work. */
bool tg_rule_is_narrow(const struct tg_match *m);

/* Judges what the rule says of the whole; or says which ranks it asks for and are not there. */
void tg_rule_judge(struct tg_eval_state *e, const struct tg_rule *rule);
/* Does the rule look at this rank by itself (-1: at some devices or streams of all ranks)? */
bool tg_rule_wants(const struct tg_eval_state *e, const struct tg_rule *rule, int64_t rank);
/* Judges one of these. */
void tg_rule_judge_part(struct tg_eval_state *e, const struct tg_rule *rule,
                        const struct tg_comparison *c, int64_t rank);
/* After the last part: a rule that judged nothing is not green. */
void tg_rule_close(struct tg_eval_state *e, const struct tg_rule *rule);

/* judge_account.c: after all rules. */
void tg_eval_account(struct tg_eval_state *e);
void tg_waive(struct tg_eval_state *e);
/* known_events.c */
void tg_known_explain(struct tg_eval_state *e);
void tg_fold(struct tg_eval_state *e);      /* results in their final order */
void tg_fold_rank(struct tg_eval_state *e); /* then what one rank alone does */
#endif
