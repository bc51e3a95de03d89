/* The verdict as plain data: names of its parts, results and notes, and what softens a failure. */
#include <math.h>

#include "policy/language/limit.h"
#include "policy/verdict/internal.h"

/* ---- names ---- */

const char *tg_state_name(enum tg_state s)
{
    static const char *const name[] = {
        [TG_STATE_PASS] = "pass", [TG_STATE_NOT_JUDGED] = "not judged",
        [TG_STATE_SKIP] = "skip", [TG_STATE_WAIVED] = "waived",
        [TG_STATE_WARN] = "warn", [TG_STATE_SUSPICIOUS] = "suspicious",
        [TG_STATE_FAIL] = "fail", [TG_STATE_INCONCLUSIVE] = "inconclusive",
    };
    return name[s];
}

static const struct {
    const char *name, *said; /* in a headline */
    int exit_code;
} outcomes[] = {
    [TG_OUTCOME_PASS] = { "pass", "PASS", 0 },
    [TG_OUTCOME_WARN] = { "warn", "WARN", 0 },
    [TG_OUTCOME_INCONCLUSIVE] = { "inconclusive", "INCONCLUSIVE", 4 },
    [TG_OUTCOME_FAIL] = { "fail", "FAIL", 1 },
    [TG_OUTCOME_ERROR] = { "error", "ERROR", 3 },
};

const char *tg_outcome_name(enum tg_outcome o)
{
    return outcomes[o].name;
}

int tg_outcome_exit_code(enum tg_outcome o)
{
    return outcomes[o].exit_code;
}

void tg_verdict_title(struct tg_verdict *v, struct tg_arena *a)
{
    tg_sv against = v->baseline.name;
    bool first = v->first_run && v->outcome == TG_OUTCOME_PASS;
    v->headline =
        TG_SV_PRINTF(a, "%s%s%.*s: %.*s", first ? "FIRST RUN" : outcomes[v->outcome].said,
                     against.n ? " against " : "", TG_SV_ARG(against), TG_SV_ARG(v->said));
}

const char *tg_unit_dimension(enum tg_unit unit)
{
    static const char *const name[] = { "count", "duration", "ratio", "bytes",
                                        "rate",  "fact",     "number" };
    return name[unit];
}

bool tg_result_is_of_extent(const struct tg_result *r)
{
    return r->subject == TG_SUBJECT_TRACE && !r->over_budget &&
           r->metric == tg_rule_metric_of(TG_METRIC_DEVICE_EXTENT);
}

tg_sv tg_result_words(const struct tg_result *r)
{
    if (r->subject == TG_SUBJECT_STEP && r->metric != TG_RULE_METRIC_TOTAL)
        return TG_SV(TG_HOST_GAP);
    if (tg_result_is_busy(r) && !r->over_budget)
        return TG_SV(TG_DEVICE_BUSY);
    return tg_result_is_of_extent(r) ? TG_SV(TG_DEVICE_EXTENT) : TG_SV("");
}

void tg_result_put_name(struct tg_buf *out, const struct tg_result *r, size_t most)
{
    tg_sv words = tg_result_words(r), rank = r->op_normalised;
    if (!words.n) {
        tg_message_put_name(out, r->op_normalised.n ? r->op_normalised : r->op, most);
        return;
    }
    tg_buf_add(out, words);
    if (r->plain.n && tg_sv_skip(&rank, r->plain))
        tg_buf_add(out, rank);
}

tg_sv tg_result_kind(const struct tg_result *r)
{
    static const char *const kind[] = {
        [TG_SUBJECT_TRACE] = "trace", [TG_SUBJECT_NUMBER] = "number", [TG_SUBJECT_STEP] = "step"
    };
    return tg_sv_of(r->subject == TG_SUBJECT_NAME ? tg_kind_name(r->op_kind)
                    : tg_result_is_guard(r)       ? "guard"
                                                  : kind[r->subject]);
}

bool tg_result_is_about(const struct tg_result *r, const struct tg_op *op)
{
    bool kind = r->subject == TG_SUBJECT_STEP
                    ? op->kind == TG_KIND_STEP
                    : r->subject == TG_SUBJECT_NAME && r->op_kind == op->kind;
    return kind && tg_sv_eq(r->op_normalised, op->name);
}

const struct tg_op *tg_result_op(const struct tg_comparison *c, const struct tg_result *r)
{
    if (c && r->op_at < c->n_ops && tg_result_is_about(r, &c->ops[r->op_at]))
        return &c->ops[r->op_at]; /* a comparison has a name of a kind once */
    if (r->subject != TG_SUBJECT_NAME && r->subject != TG_SUBJECT_STEP)
        return NULL;
    for (size_t i = 0; c && i < c->n_ops; i++)
        if (tg_result_is_about(r, &c->ops[i]))
            return &c->ops[i];
    return NULL;
}

const struct tg_region *tg_result_region(const struct tg_comparison *c, const struct tg_result *r)
{
    const struct tg_op *op = r->has_values && !r->over_budget ? tg_result_op(c, r) : NULL;
    bool whole = op && (r->unit_id == TG_UNIT_COUNT ? op->relation == TG_REL_REPLACED_WORSE
                                                    : r->ev && r->ev->pooled);
    return whole && tg_op_side_of_region(op) == TG_TEST ? &c->regions[op->region] : NULL;
}

tg_sv tg_result_metric(const struct tg_result *r)
{
    return tg_result_is_guard(r) ? TG_SV("") : tg_sv_of(tg_rule_metric_info(r->metric)->name);
}

const struct tg_op *tg_result_behind(const struct tg_result *r, const struct tg_comparison *c)
{
    const struct tg_op *most = NULL;
    double rise = 0;
    enum tg_metric m;
    if (!c || r->subject != TG_SUBJECT_TRACE || !(r->delta > 0) ||
        !tg_rule_metric_of_trace(r->metric, &m))
        return NULL;
    TG_EACH(const struct tg_op, op, c->ops, c->n_ops) {
        double d = tg_op_rise(op);
        if (!(tg_metric_info(m)->counts & 1u << op->kind) || d <= rise)
            continue;
        most = op;
        rise = d;
    }
    return most;
}

bool tg_result_is_guard(const struct tg_result *r)
{
    return r->subject >= TG_SUBJECT_REQUIRE;
}

bool tg_result_is_step_time(const struct tg_result *r)
{
    return r->subject == TG_SUBJECT_TRACE &&
           (r->metric == TG_RULE_METRIC_STEP_TIME ||
            r->metric == tg_rule_metric_of(TG_METRIC_HOST_TIME) ||
            r->metric == tg_rule_metric_of(TG_METRIC_DEVICE_EXTENT));
}

bool tg_result_is_busy(const struct tg_result *r)
{
    return r->subject == TG_SUBJECT_TRACE && r->metric == tg_rule_metric_of(TG_METRIC_GPU_BUSY);
}

bool tg_result_is_of_machine(const struct tg_result *r)
{
    return r->because == TG_REASON_SLOW_MACHINE || r->because == TG_REASON_ALL_LONGER ||
           r->because == TG_REASON_BUSY;
}

bool tg_result_is_of_slowest(const struct tg_result *r)
{
    return r->ev && r->because == TG_REASON_SOME_STEPS;
}

const char *tg_situation_name(enum tg_situation s)
{
    static const char *const names[] = {
        [TG_SITUATION_UNKNOWN] = "",  [TG_SITUATION_FOUND] = "found",
        [TG_SITUATION_GAP] = "gap",   [TG_SITUATION_FIRST_RUN] = "first-run",
        [TG_SITUATION_LOST] = "lost", [TG_SITUATION_PATH] = "path",
    };
    return names[s];
}

/* ---- results and notes, as every stage of an evaluation adds them ---- */

struct tg_result tg_result_of(tg_sv rule)
{
    return (struct tg_result){
        .rule = rule, .delta_pct = NAN, .share = NAN, .folded_under = TG_NO_ID, .of_rank = -1
    };
}

struct tg_result *tg_eval_add(struct tg_eval_state *e, const struct tg_rule *rule)
{
    struct tg_result *r = TG_PUSH(e->results, e->n, e->cap);
    *r = tg_result_of(rule ? rule->id : TG_SV("guard"));
    if (!rule)
        return r;
    r->why = rule->why;
    r->owner = rule->owner;
    r->budget = tg_rule_has_budget(rule);
    r->at = rule->at;
    return r;
}

const struct tg_result *tg_result_first(const struct tg_result *v, size_t n, enum tg_state s)
{
    for (size_t i = 0; i < n; i++)
        if (v[i].state == s)
            return &v[i];
    return NULL;
}

enum tg_outcome tg_outcome_of(const struct tg_verdict *v)
{
    const size_t *n = v->n_state;
    return n[TG_STATE_FAIL]                             ? TG_OUTCOME_FAIL
           : n[TG_STATE_INCONCLUSIVE]                   ? TG_OUTCOME_INCONCLUSIVE
           : n[TG_STATE_WARN] || n[TG_STATE_SUSPICIOUS] ? TG_OUTCOME_WARN
                                                        : TG_OUTCOME_PASS;
}

void tg_eval_message(struct tg_result *r, enum tg_state state, enum tg_subject subject,
                     enum tg_reason because, tg_sv op, tg_sv message, tg_sv next)
{
    r->because = because;
    r->state = state;
    r->subject = subject;
    r->op = r->op_normalised = op;
    r->message = message;
    r->next = next;
}

void tg_eval_say(struct tg_eval_state *e, const struct tg_rule *rule, enum tg_state state,
                 enum tg_reason because, const char *what, const char *message, const char *next)
{
    tg_eval_message(tg_eval_add(e, rule), state,
                    because == TG_NEED_MATCH ? TG_SUBJECT_NO_MATCH : TG_SUBJECT_GUARD, because,
                    tg_sv_of(what), tg_sv_of(message), tg_sv_of(next));
}

void tg_verdict_add_note(struct tg_verdict *v, struct tg_arena *a, enum tg_reason reason,
                         tg_sv text, tg_sv next)
{
    struct tg_note *grown = tg_arena_copy(a, v->notes, v->n_notes, sizeof *grown);
    grown[v->n_notes++] =
        (struct tg_note){ .text = tg_arena_sv(a, text),
                          .next = tg_arena_sv(a, next),
                          .warning = reason != TG_REASON_NONE,
                          .reason = reason == TG_REASON_NOTE ? TG_REASON_NONE : reason };
    v->notes = grown;
}

void tg_eval_note(struct tg_eval_state *e, enum tg_reason reason, tg_sv text, const char *next)
{
    tg_verdict_add_note(e->out, e->arena, reason, text, tg_sv_of(next));
}

void tg_eval_revise(struct tg_eval_state *e, struct tg_result *r, enum tg_state to,
                    enum tg_reason why, tg_sv evidence)
{
    r->state = to;
    r->because = why ? why : r->because;
    r->evidence = TG_SV_PRINTF(e->arena, "%.*s%s%.*s", TG_SV_ARG(r->evidence),
                               r->evidence.n ? "; " : "", TG_SV_ARG(evidence));
}

/* ---- reasons ---- */

_Static_assert((int)TG_REASON_RENAMED == (int)TG_EXCEPTION_RENAMED &&
                   (int)TG_REASON_CHANCE == (int)TG_EXCEPTION_CHANCE,
               "exceptions are the first reasons");

static const struct {
    const char *id, *said;
} reasons[TG_REASONS] = {
#define ROW(constant, id, said) [constant] = { id, said },
    TG_REASONS_TABLE(ROW)
#undef ROW
};

const char *tg_reason_id(enum tg_reason r)
{
    return reasons[r].id;
}

const char *tg_reason_said(enum tg_reason r)
{
    return reasons[r].said;
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
        [TG_NOT_INTEGRITY] = TG_REASON_INTEGRITY,
        [TG_NOT_BUSY] = TG_REASON_MACHINE,
        [TG_NOT_WARM] = TG_REASON_MACHINE,
        [TG_NOT_OTHER_DATA] = TG_REASON_DATA,
    };
    return need[j];
}
