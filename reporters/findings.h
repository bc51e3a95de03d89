#ifndef TG_REPORTERS_FINDINGS_H
#define TG_REPORTERS_FINDINGS_H
/*
 * The results that explain a verdict, in the order in which an engineer looks at them: what
 * could not be judged, counts that changed, durations, then gaps and other whole-trace metrics.
 * Callers whose children explain their change are listed under those children.
 */
#include "core/base/message.h"
#include "policy/verdict/verdict.h"

enum tg_section {
    TG_SECTION_BLOCKED,  /* guards; nothing could be judged */
    TG_SECTION_REPLACED, /* calls that replaced others */
    TG_SECTION_COUNTS,   /* counts, launch attributes, bytes */
    TG_SECTION_DURATIONS,
    TG_SECTION_BUDGETS, /* over a maximum or under a minimum, whatever the baseline had */
    TG_SECTION_NUMBERS, /* of benchmarks */
    TG_SECTION_GAPS,    /* the step as a whole, idle time, … */
    TG_SECTIONS,
    TG_SECTION_WAIVED = TG_SECTIONS /* no finding: after all others */
};
const char *tg_section_title(enum tg_section s); /* "Counts changed" */

/* Fail, inconclusive, warn, suspicious; here, because rows ask, too. */
static inline bool tg_result_shown(const struct tg_result *r)
{
    if (r->state == TG_STATE_WARN && r->subject == TG_SUBJECT_NOTE)
        return false; /* the note is shown */
    return r->state == TG_STATE_FAIL || r->state == TG_STATE_INCONCLUSIVE ||
           r->state == TG_STATE_WARN || r->state == TG_STATE_SUSPICIOUS;
}

bool tg_result_listed(const struct tg_result *r); /* these, or waived */

/* For each result the index of the shown one that it is folded under (a waived one under a waived
 * one), or its own index. */
uint32_t *tg_findings_roots(const struct tg_verdict *v); /* the caller frees it */

tg_sv tg_version_of(const struct tg_verdict *v);    /* "0.2.0", for people */
const char *tg_situation_said(enum tg_situation s); /* "not found", where JSON has "lost" */

/* How many results there are of a state, and how many follow from these: one figure in every
 * report. */
struct tg_tally {
    enum tg_state state;
    size_t n, follow;
    const char *why; /* of what was not judged: the reason that `n_why`, most of it, have; NULL */
    size_t n_why;
};
/* Findings first, then what passed and what was not judged; the number of them. */
size_t tg_tally(const struct tg_verdict *v, struct tg_tally out[TG_STATE_FAIL + 1]);
/* "1 failed (7 more follow from it)", "2 not judged" */
void tg_tally_put(struct tg_buf *out, const struct tg_tally *t);

/* Warnings come before the causes; of a failure only those about the traces, and those that would
 * lift a pass. */
enum tg_note_place { TG_PLACE_FIRST, TG_PLACE_LAST };
enum tg_note_place tg_note_place(const struct tg_verdict *v, const struct tg_note *n);

/* What is folded under result `i`, the whole step first, then operators: "aten::clone +8, copy
 * +18.2 % (slower) and 2 more (--html names them)"; `most`: SIZE_MAX names all. */
enum { TG_FOLDED_SHOWN = 3 };
bool tg_findings_put_folded(struct tg_buf *out, const struct tg_verdict *v, const uint32_t *roots,
                            size_t i, size_t most);
/* "A, B, C instead of D, E": all names of the replacement that a result is about, if its sentence
 * has not all of them. */
void tg_findings_put_all_names(struct tg_buf *out, const struct tg_verdict *v,
                               const struct tg_result *r);
#define TG_RESULT_JOINS "with it" /* the word before them */

/* The results of a section that are not folded, worst first; results with the same state, rule and
 * limit are adjacent, but waived ones in the order of the verdict. The caller frees it. */
uint32_t *tg_findings_of(const struct tg_verdict *v, const uint32_t *roots, enum tg_section s,
                         size_t *n);

/* A result's line, "name: what, how much": a message, whose name is a piece unless it is our own
 * words. */
void tg_result_put(struct tg_buf *out, const struct tg_result *r);
tg_sv tg_result_called(const struct tg_result *r); /* its name, or our own words */

enum tg_rule_place { TG_RULE_ALONE, TG_RULE_WITH_LINE };
/* "new-work (.tracegate.yml:12), limit abs: 0: more launches …"; raw text, not escaped. ALONE
 * leaves out the place, for reports that give it by itself. */
void tg_result_put_rule(struct tg_buf *out, const struct tg_result *r, enum tg_rule_place place);
/* Neighbours with the same rule and limit, which a report then gives once. */
bool tg_result_same_rule(const struct tg_result *a, const struct tg_result *b);
/* The evidence, or "" if it only repeats the limit, which is shown with the rule. */
tg_sv tg_result_evidence(const struct tg_result *r);
/* What goes before it: "why" of a count or an attribute, which are exact, else "evidence". */
const char *tg_result_evidence_label(const struct tg_result *r);
/* "▁▁▂▁▁ 20.1 to 20.3 us in 5 nights, by the fastest calls": its trend, if it has one */
void tg_result_put_nights(struct tg_buf *out, const struct tg_result *r);
#define TG_RESULT_NIGHTS "before"
/* The address at the end of the evidence, for reports with links; "" none. */
tg_sv tg_result_issue(const struct tg_result *r);
/*
 * What came and went in one place of the program, in one line; false: no name did, or a finding
 * tells it. "aten::gelu -> aten::erf, aten::mul: calls -8 +32 in Block (242.0 -> 428.0 us per
 * step); slower"
 */
bool tg_put_replaced(struct tg_buf *out, const struct tg_verdict *v, size_t region);
void tg_result_put_at(struct tg_buf *out, const struct tg_result *r); /* "file:line" or "" */
/* The first violation, or else warning, that is not a consequence of another: what is next to do is
 * at the top. */
const struct tg_result *tg_findings_first(const struct tg_verdict *v);
/* The next step of one result, or "" if it is at the top: that of the first, or the verdict's own
 * (error_hint). */
tg_sv tg_result_next(const struct tg_verdict *v, const struct tg_result *r);
tg_sv tg_note_next(const struct tg_verdict *v, const struct tg_note *n); /* the same of a note */
/* The rule is in a file of the repository, not in a preset ("tracegate:recommended"). */
bool tg_result_in_file(const struct tg_result *r);

/* What the baseline is, in one line of raw text: "3f2a91c4b7e1, merge base of …, path perf/". */
void tg_put_baseline(struct tg_buf *out, const struct tg_verdict *v);
/* "5 runs x 2 ranks, 8 steps each"; "" without a comparison. */
void tg_put_side(struct tg_buf *out, const struct tg_comparison *c, int side);

/*
 * What a change costs, in one line: "Step time 5.94 -> 6.41 ms (+8 %, noise 1.1 %)". Both numbers
 * are measured: wall clock per step, median over runs. If something was taken off before the change
 * was judged, they are followed by it: "(+8.3 %, noise 0.4 %; the machine is 8.1 % slower)". Then
 * the peak of the memory, where it is known and another one. A message; nothing if a side has no
 * step time.
 */
void tg_effect_put(struct tg_buf *out, const struct tg_verdict *v);
/* The step's time of the two sides in ns, as every report gives it; false: a side has none. */
bool tg_effect_step(const struct tg_verdict *v, double ns[2]);
#endif
