/* Results and notes, as every stage of an evaluation adds them. */
#include <math.h>

#include "policy/language/limit.h"
#include "policy/verdict/internal.h"

struct tg_result tg_result_of(tg_sv rule)
{
    return (struct tg_result){
        .rule = rule, .delta_pct = NAN, .share = NAN, .folded_under = TG_NO_ID, .of_rank = -1
    };
}

struct tg_result *tg_eval_add(struct tg_eval_state *e, const struct tg_rule *rule)
{
    struct tg_result *r;
    e->results = tg_grow(e->results, &e->cap, e->n + 1, sizeof *e->results);
    r = &e->results[e->n++];
    *r = tg_result_of(rule ? rule->id : TG_SV("guard"));
    if (!rule)
        return r;
    r->why = rule->why;
    r->owner = rule->owner;
    r->budget = tg_rule_has_budget(rule);
    r->file = rule->at.file;
    r->line = rule->at.line;
    r->col = rule->at.col;
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
    r->because = tg_reason_id(because);
    r->state = state;
    r->subject = subject;
    r->op = r->op_normalised = op;
    r->message = message;
    r->next = next;
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
    r->because = why ? tg_reason_id(why) : r->because;
    r->evidence = TG_SV_PRINTF(e->arena, "%.*s%s%.*s", TG_SV_ARG(r->evidence),
                               r->evidence.n ? "; " : "", TG_SV_ARG(evidence));
}
