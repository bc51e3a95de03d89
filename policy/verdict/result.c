/* Results and notes, as every stage of an evaluation adds them. */
#include <math.h>

#include "policy/language/limit.h"
#include "policy/verdict/internal.h"

struct tg_result *tg_eval_add(struct tg_eval_state *e, const struct tg_rule *rule)
{
    e->results = tg_grow(e->results, &e->cap, e->n + 1, sizeof *e->results);
    e->results[e->n] = (struct tg_result){ .rule = rule ? rule->id : TG_SV("guard"),
                                           .why = rule ? rule->why : TG_SV(""),
                                           .owner = rule ? rule->owner : TG_SV(""),
                                           .delta_pct = NAN,
                                           .share = NAN,
                                           .budget = rule && tg_rule_has_budget(rule),
                                           .folded_under = TG_NO_ID,
                                           .file = rule ? rule->at.file : NULL,
                                           .line = rule ? rule->at.line : 0,
                                           .col = rule ? rule->at.col : 0 };
    return &e->results[e->n++];
}

const struct tg_result *tg_result_first(const struct tg_result *v, size_t n, enum tg_state s)
{
    for (size_t i = 0; i < n; i++)
        if (v[i].state == s)
            return &v[i];
    return NULL;
}

void tg_eval_message(struct tg_result *r, enum tg_state state, enum tg_subject subject, tg_sv op,
                     tg_sv message, tg_sv next)
{
    r->state = state;
    r->subject = subject;
    r->op = r->op_normalised = op;
    r->message = message;
    r->next = next;
}

void tg_verdict_add_note(struct tg_verdict *v, struct tg_arena *a, enum tg_note_level level,
                         tg_sv text, tg_sv next)
{
    static const char *const reasons[] = {
        [TG_NOTE_OTHER_RANK] = "rank",       [TG_NOTE_RANKS] = "ranks",
        [TG_NOTE_DEVICE] = "device",         [TG_NOTE_DATA] = "data",
        [TG_NOTE_MACHINE] = "machine",       [TG_NOTE_FLAGS] = "flags",
        [TG_NOTE_OUTSIDE] = "outside",       [TG_NOTE_LAUNCHES] = "launches",
        [TG_NOTE_UNKNOWN_WORK] = "unknown",  [TG_NOTE_EVENTS] = "events",
        [TG_NOTE_ITERATIONS] = "iterations", [TG_NOTE_INTEGRITY] = "integrity",
        [TG_NOTE_SAME_RECORDING] = "same",   [TG_NOTE_POLICY] = "policy",
        [TG_NOTE_BASELINE] = "baseline"
    };
    struct tg_note *grown = tg_arena_copy(a, v->notes, v->n_notes, sizeof *grown);
    grown[v->n_notes++] = (struct tg_note){ .text = tg_arena_sv(a, text),
                                            .next = tg_arena_sv(a, next),
                                            .warning = level >= TG_NOTE_WARNING,
                                            .reason = reasons[level] };
    v->notes = grown;
}

void tg_eval_note(struct tg_eval_state *e, enum tg_note_level level, tg_sv text, const char *next)
{
    tg_verdict_add_note(e->out, e->arena, level, text, tg_sv_of(next));
}
