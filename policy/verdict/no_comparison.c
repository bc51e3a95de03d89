/* Verdicts that no comparison made, and what is added to a verdict afterwards. */
#include "policy/language/limit.h"
#include "policy/verdict/internal.h"

static void set_outcome(struct tg_verdict *v, enum tg_outcome outcome)
{
    v->outcome = outcome;
    v->exit_code = tg_outcome_exit_code(outcome);
}

/* The headline is made when all else is known, by whoever calls this. */
static void begin(struct tg_verdict *out, enum tg_outcome outcome, tg_sv said, tg_sv coverage)
{
    *out = (struct tg_verdict){ .suite = TG_SV("default"),
                                .said = said,
                                .coverage = coverage,
                                .version = TG_SV(TG_JUDGED_BY) };
    set_outcome(out, outcome);
}

void tg_verdict_of_error(struct tg_verdict *out, const struct tg_err *why, struct tg_arena *a)
{
    bool lost = why->kind == TG_ERR_LOST;
    tg_sv error = TG_SV_PRINTF(a, "%s%s%s", why->file, why->file[0] ? ": " : "", why->message);
    begin(out, lost ? TG_OUTCOME_INCONCLUSIVE : TG_OUTCOME_ERROR, error, TG_SV("nothing judged"));
    tg_verdict_title(out, a);
    out->exit_code = tg_err_exit_code(why->kind);
    out->error = error;
    out->error_hint = tg_arena_sv(a, tg_sv_of(why->hint));
}

/* What no rule judged is a row as well, after all that are as bad, so that every report counts
 * it. */
static struct tg_result *insert_row(struct tg_verdict *v, const char *rule, enum tg_state state,
                                    struct tg_arena *a)
{
    struct tg_result *rows = TG_NEW_N(a, struct tg_result, v->n_results + 1);
    size_t at = 0;
    while (at < v->n_results && v->results[at].state >= state)
        at++;
    for (size_t i = 0; i < v->n_results; i++) {
        struct tg_result *r = &rows[i < at ? i : i + 1];
        *r = v->results[i];
        if (r->folded_under != TG_NO_ID && r->folded_under >= at)
            r->folded_under++;
    }
    rows[at] = tg_result_of(tg_sv_of(rule));
    v->results = rows;
    v->n_results++;
    v->n_state[state]++;
    return &rows[at];
}

/* Verdict without a comparison, as the policy's `key` wants it. */
static void not_compared(struct tg_verdict *v, const char *key, enum tg_outcome outcome_,
                         struct tg_arena *a)
{
    set_outcome(v, outcome_);
    v->said = TG_SV_PRINTF(a, "%.*s; nothing was compared (%s: %s)", TG_SV_ARG(v->error), key,
                           tg_outcome_name(outcome_));
    tg_verdict_title(v, a);
    if (outcome_ == TG_OUTCOME_FAIL)
        tg_eval_message(insert_row(v, "baseline", TG_STATE_FAIL, a), TG_STATE_FAIL,
                        TG_SUBJECT_REQUIRE, TG_REASON_BASELINE, TG_SV("(no baseline)"), v->error,
                        v->error_hint);
    if (outcome_ != TG_OUTCOME_PASS)
        return;
    tg_verdict_add_note(v, a, TG_REASON_NOTE, v->error, v->error_hint);
    v->error = v->error_hint = TG_SV("");
}

void tg_verdict_lost(struct tg_verdict *out, const struct tg_err *why, enum tg_outcome outcome_,
                     struct tg_arena *a)
{
    tg_verdict_of_error(out, why, a);
    if (outcome_ != TG_OUTCOME_INCONCLUSIVE)
        not_compared(out, "on_lost", outcome_, a);
}

void tg_verdict_first_run(struct tg_verdict *out, enum tg_outcome outcome_, struct tg_arena *a)
{
    begin(out, outcome_, TG_SV("no baseline existed yet; nothing was compared"),
          TG_SV("nothing judged: first run"));
    out->first_run = outcome_ == TG_OUTCOME_PASS;
    tg_verdict_title(out, a);
    if (outcome_ != TG_OUTCOME_PASS) {
        out->error = TG_SV("no baseline existed yet");
        out->error_hint = TG_SV("Commit a baseline, or record one on the main branch.");
        not_compared(out, "on_first_run", outcome_, a);
    }
    tg_verdict_add_note(
        out, a, TG_REASON_NOTE,
        TG_SV("neither a policy nor a baseline of this suite existed at the baseline commit"),
        TG_SV("Commit a baseline, or record one on the main branch; the next run compares."));
}

bool tg_policy_asks_metrics_alone(const struct tg_policy *p)
{
    for (size_t i = 0; i < p->n_rules; i++)
        if (p->rules[i].match.present || p->rules[i].n_overrides ||
            tg_rule_metric_info(p->rules[i].metric)->scope == TG_SCOPE_NAME)
            return false;
    return p->n_rules > 0 && !p->require.kernels && !p->require.ops.n;
}

bool tg_policy_asks_fresh_alone(const struct tg_policy *p)
{
    for (size_t i = 0; i < p->n_rules; i++)
        if (!tg_rule_is_budget(&p->rules[i]) || p->rules[i].metric == TG_RULE_METRIC_ADDED ||
            p->rules[i].metric == TG_RULE_METRIC_REMOVED)
            return false;
    return p->n_rules > 0;
}

void tg_verdict_alone(struct tg_verdict *out, struct tg_arena *a)
{
    begin(out, TG_OUTCOME_PASS,
          TG_SV("every budget is kept; the policy has no rule that needs a baseline"),
          TG_SV("nothing judged"));
    tg_verdict_title(out, a);
}

static void tell_budgets(struct tg_verdict *v, const struct tg_result *first, struct tg_arena *a)
{
    bool fails = v->outcome == TG_OUTCOME_FAIL;
    size_t n = v->n_state[first->state];
    v->said =
        TG_SV_PRINTF(a, "%zu %s%s: " TG_NAME " %.*s%s; no baseline, only budgets were judged", n,
                     fails ? "violation" : "warning", TG_PLURAL(n), TG_SV_ARG(first->op_normalised),
                     TG_SV_ARG(first->message), n > 1 ? ", …" : "");
}

void tg_verdict_add_alone(struct tg_verdict *v, const struct tg_verdict *self, struct tg_arena *a)
{
    struct tg_result *rows = TG_NEW_N(a, struct tg_result, v->n_results + self->n_results + 1);
    size_t n = 0, own = v->n_results;
    TG_EACH(const struct tg_result, r, self->results, self->n_results) {
        /* What does not need a baseline, and is not in order. */
        bool bad = r->state == TG_STATE_INCONCLUSIVE ||
                   (r->over_budget && (r->state == TG_STATE_FAIL || r->state == TG_STATE_WARN ||
                                       r->state == TG_STATE_WAIVED));
        if (r->subject != TG_SUBJECT_REQUIRE && !(r->budget && bad))
            continue;
        rows[n] = *r;
        rows[n].folded_under = TG_NO_ID;
        if (rows[n].over_budget) { /* its values are of two equal sides */
            rows[n].evidence = TG_SV("");
            rows[n].has_values = false;
        }
        v->n_state[rows[n].state]++;
        n++;
    }
    if (own)
        memcpy(rows + n, v->results, own * sizeof *rows);
    v->results = rows;
    v->n_results = n + own;
    v->alone = self->comparison;
    v->budgets_judged = self->budgets_judged;
    if (v->budgets_judged)
        v->coverage = TG_SV("budgets judged; nothing was compared");
    /* What the first `n` rows make of a verdict without a comparison. A failure is one whatever is
     * missing; the reason why nothing was compared stays beside it. */
    const struct tg_result *fail = tg_result_first(v->results, n, TG_STATE_FAIL);
    const struct tg_result *warn = tg_result_first(v->results, n, TG_STATE_WARN);
    const struct tg_result *open = tg_result_first(v->results, n, TG_STATE_INCONCLUSIVE);
    if (fail) {
        if (v->error.n)
            tg_verdict_add_note(v, a, TG_REASON_NOTE, v->error, v->error_hint);
        v->outcome = TG_OUTCOME_FAIL;
        v->error = v->error_hint = TG_SV("");
        tell_budgets(v, fail, a);
    } else if (open && v->outcome == TG_OUTCOME_PASS) {
        v->outcome = TG_OUTCOME_INCONCLUSIVE;
        v->error = open->message;
        v->error_hint = open->next;
        v->said = open->message;
    } else if (warn && v->outcome == TG_OUTCOME_PASS) {
        v->outcome = TG_OUTCOME_WARN;
        tell_budgets(v, warn, a);
    }
    v->exit_code = tg_outcome_exit_code(v->outcome);
    tg_verdict_title(v, a);
}

/* ---- notes ---- */

void tg_verdict_settle(struct tg_verdict *v, unsigned fail_on, struct tg_arena *a)
{
    const struct tg_note *first = NULL;
    bool fails = fail_on & TG_FAIL_ON_WARN;
    enum tg_state state = fails ? TG_STATE_FAIL : TG_STATE_WARN;
    if (v->outcome == TG_OUTCOME_ERROR)
        return;
    if (v->outcome == TG_OUTCOME_INCONCLUSIVE && fail_on & TG_FAIL_ON_INCONCLUSIVE) {
        /* Nothing was compared; after a comparison its rows have failed. */
        struct tg_result *r = insert_row(v, "fail_on", TG_STATE_FAIL, a);
        tg_eval_message(r, TG_STATE_FAIL, TG_SUBJECT_REQUIRE, TG_NEED_ANY, TG_SV("(inconclusive)"),
                        v->error, v->error_hint);
        r->evidence = TG_SV("inconclusive: `fail_on` makes it a failure");
        set_outcome(v, TG_OUTCOME_FAIL);
        v->said = TG_SV_PRINTF(a, "%.*s; nothing was compared (fail_on: inconclusive)",
                               TG_SV_ARG(v->error));
        tg_verdict_title(v, a);
    }
    TG_EACH(struct tg_note, note, v->notes, v->n_notes) {
        if (!note->reason || note->placed)
            continue;
        struct tg_result *r = insert_row(v, "require", state, a);
        tg_eval_message(r, state, TG_SUBJECT_NOTE, note->reason,
                        tg_sv_of(tg_reason_id(note->reason)), note->text, note->next);
        if (fails)
            r->evidence = TG_SV("a warning: `fail_on` makes it a failure");
        note->placed = true;
        first = first ? first : note;
    }
    if (!first || tg_outcome_of(v) <= v->outcome)
        return;
    /* "nothing failed; the policy is looser than the baseline's: …"; without a comparison the
     * headline before has more to tell. */
    enum { ROOM = 160 }; /* bytes of a note that a headline has room for */
    tg_sv why = tg_message_prefix(first->text, ROOM), was = v->headline;
    bool named = v->comparison || v->outcome == TG_OUTCOME_FAIL;
    tg_sv head = fails ? TG_SV_PRINTF(a, "%zu violation%s", v->n_state[TG_STATE_FAIL],
                                      TG_PLURAL(v->n_state[TG_STATE_FAIL]))
                       : TG_SV("nothing failed");
    v->said = TG_SV_PRINTF(a, "%.*s; %.*s%s%s%.*s", TG_SV_ARG(head), TG_SV_ARG(why),
                           why.n < first->text.n ? "…" : "", named ? "" : "; ",
                           named ? 0 : (int)was.n, was.p);
    v->by_note = named;
    set_outcome(v, tg_outcome_of(v));
    tg_verdict_title(v, a);
}
