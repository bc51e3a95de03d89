#include "policy/verdict/internal.h"

#include <stdlib.h>

/* The worst first. The account is of the whole, whatever is judged by name; a metric of the trace
 * tells that, an operator where. Findings: counts, then attributes, durations and ratios. */
static int by_weight(const void *a, const void *b)
{
    const struct tg_result *x = a, *y = b;
    const tg_sv account = TG_SV("account");
    int c = TG_CMP(y->state, x->state);
    c = c ? c : TG_CMP(tg_sv_eq(x->rule, account), tg_sv_eq(y->rule, account));
    c = c ? c : TG_CMP(y->unit_id == TG_UNIT_COUNT, x->unit_id == TG_UNIT_COUNT);
    c = c ? c : TG_CMP(x->subject == TG_SUBJECT_TRACE, y->subject == TG_SUBJECT_TRACE);
    c = c ? c : TG_CMP(y->weight, x->weight);
    c = c ? c : tg_sv_cmp(x->op_normalised, y->op_normalised);
    c = c ? c : tg_sv_cmp(x->rule, y->rule);
    return c ? c : tg_sv_cmp(tg_result_kind(x), tg_result_kind(y));
}

/* The one place that decides whether a verdict may be green: some rule judged something, and where
 * a rule counts calls, there were calls to count. */
static void close_coverage(struct tg_eval_state *e)
{
    struct tg_verdict *v = e->out;
    const struct tg_policy *p = e->in->policy;
    const struct tg_comparison *c = e->in->comparison;
    size_t on[TG_GROUNDS_BUDGET + 1] = { 0 }, of_traces = 0, countable = 0;
    TG_EACH(const struct tg_result, r, e->results, e->n) {
        on[r->grounds]++;
        of_traces += r->grounds == TG_GROUNDS_RUNS && r->subject != TG_SUBJECT_NUMBER;
    }
    for (size_t i = 0; i < p->n_rules; i++)
        v->counts_asked |= tg_rule_counts_calls(e, &p->rules[i]);
    for (size_t i = 0; i < c->n_ops; i++) /* of which the fresh side's number could be judged */
        countable += c->ops[i].present[TG_TEST] && tg_kind_is_counted(c->ops[i].kind);
    v->counts_judged = on[TG_GROUNDS_COUNT] > 0;
    v->durations_judged = of_traces > 0; /* benchmarks' numbers rest on runs of their own */
    v->min_runs = p->noise.min_runs;
    v->budgets_judged = on[TG_GROUNDS_BUDGET] > 0;
    if (tg_result_first(e->results, e->n, TG_STATE_INCONCLUSIVE))
        return;
    if (v->counts_asked && !countable)
        TG_OPEN(e, TG_NEED_CALLS, "(no calls)",
                "the fresh traces hold no operators, kernels, copies or synchronisations: "
                "there is nothing to count",
                "Did the benchmark run, and do the events have a category (`cat`)?");
    else if (on[TG_GROUNDS_NONE] == e->n && !tg_result_first(e->results, e->n, TG_STATE_SUSPICIOUS))
        TG_OPEN(e, TG_NEED_ANY, "(nothing judged)", "nothing could be judged",
                p->n_rules ? "See the coverage line and the rules that were skipped."
                           : "The policy has no rules: write some, or start from the built-in "
                             "ones with `extends: [tracegate:recommended]`.");
}

/* ---- rules and the parts they ask for ---- */

static bool same_numbers(const struct tg_ints *a, const struct tg_ints *b)
{
    return a->n == b->n && (!a->n || memcmp(a->v, b->v, a->n * sizeof *a->v) == 0);
}

static bool is_of_part(const struct tg_rule *rule, const struct tg_part *part)
{
    return same_numbers(&rule->match.devices, part->devices) &&
           same_numbers(&rule->match.streams, part->streams);
}

struct tg_eval_state *tg_eval_begin(struct tg_verdict *out, const struct tg_eval_input *in,
                                    struct tg_arena *a)
{
    struct tg_eval_state *e = TG_NEW(a, struct tg_eval_state);
    struct tg_eval_input *kept = TG_NEW(a, struct tg_eval_input);
    *kept = *in;
    *e = (struct tg_eval_state){
        .in = kept, .out = out, .c = in->comparison, .rank = -1, .arena = a
    };
    *out = (struct tg_verdict){ .comparison = in->comparison,
                                .suite = in->suite ? in->suite->name : TG_SV("default"),
                                .policy = in->policy->built_in ? TG_SV("built-in policy")
                                                               : in->policy->file,
                                .version = TG_SV(TG_JUDGED_BY) };
    tg_rank_rows_init(&e->ranks);
    tg_notes(e);
    tg_stages_note(e);
    e->comparable = tg_guards(e);
    e->comparable &= tg_guard_integrity(e);
    for (size_t i = 0; e->comparable && i < in->policy->n_rules; i++)
        tg_rule_judge(e, &in->policy->rules[i]);
    /* Parts of all ranks together, then of each; each choice of devices and streams once. */
    const struct tg_side *side = &in->comparison->side[TG_TEST];
    for (size_t k = 0; e->comparable && k <= side->n_ranks; k++) {
        int64_t rank = k ? side->ranks[k - 1] : -1;
        size_t first = e->n_parts;
        if (k && rank < 0)
            continue; /* the one trace has no rank: it is all */
        TG_EACH(const struct tg_rule, rule, in->policy->rules, in->policy->n_rules) {
            bool known = !tg_rule_wants(e, rule, rank);
            for (size_t x = first; x < e->n_parts; x++)
                known |= is_of_part(rule, &e->parts[x]);
            if (!known)
                *TG_PUSH(e->parts, e->n_parts, e->cap_parts) =
                    (struct tg_part){ rank, &rule->match.devices, &rule->match.streams };
        }
    }
    return e;
}

bool tg_eval_wants(struct tg_eval_state *e, struct tg_part *next)
{
    if (e->next_part == e->n_parts)
        return false;
    *next = e->parts[e->next_part++];
    return true;
}

/* What a rule says of a part outlives it: texts are copied. */
void tg_eval_part(struct tg_eval_state *e, const struct tg_comparison *c)
{
    const struct tg_policy *p = e->in->policy;
    const struct tg_part *part = &e->parts[e->next_part - 1];
    const struct tg_side *side = &e->in->comparison->side[TG_TEST];
    struct tg_arena *kept = e->arena;
    e->arena = tg_arena_new();
    TG_EACH(const struct tg_rule, rule, p->rules, p->n_rules) {
        size_t from = e->n, ranks = 0; /* that it looks at one by one */
        if (!is_of_part(rule, part) || !tg_rule_wants(e, rule, part->rank))
            continue;
        for (size_t k = 0; k < side->n_ranks && ranks < 2; k++)
            ranks += tg_rule_wants(e, rule, side->ranks[k]);
        bool many = ranks > 1; /* they share rows */
        e->brief = many && tg_rank_rows_have(&e->ranks, rule->id);
        tg_rule_judge_part(e, rule, c, part->rank);
        for (size_t k = from; k < e->n; k++) {
            if (many)
                tg_rank_rows_add(&e->ranks, &e->results[k], part->rank, kept);
            else
                e->results[k] = tg_result_copy(&e->results[k], kept);
        }
        e->n = many ? from : e->n;
    }
    tg_arena_free(e->arena);
    e->arena = kept;
    e->brief = false;
}

void tg_eval_end(struct tg_eval_state *e)
{
    static const struct {
        unsigned bit;
        enum tg_state state;
        const char *what;
    } kinds[] = { { TG_FAIL_ON_WARN, TG_STATE_WARN, "a warning" },
                  { TG_FAIL_ON_SUSPICIOUS, TG_STATE_SUSPICIOUS, "suspicious" },
                  { TG_FAIL_ON_INCONCLUSIVE, TG_STATE_INCONCLUSIVE, "inconclusive" } };
    struct tg_verdict *out = e->out;
    tg_rank_rows_put(&e->ranks, e);
    for (size_t i = 0; e->comparable && i < e->in->policy->n_rules; i++)
        tg_rule_close(e, &e->in->policy->rules[i]);
    tg_stages_close(e);
    close_coverage(e);
    tg_eval_account(e);
    tg_waive(e);
    tg_known_explain(e);
    /* States that `fail_on` names are failures, in every report. */
    for (size_t i = 0; i < e->n; i++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            if (e->in->policy->fail_on & kinds[k].bit && e->results[i].state == kinds[k].state)
                tg_eval_revise(
                    e, &e->results[i], TG_STATE_FAIL, TG_REASON_NONE,
                    TG_SV_PRINTF(e->arena, "%s: `fail_on` makes it a failure", kinds[k].what));
    if (e->n)
        TG_SORT(e->results, e->n, by_weight);
    tg_fold(e);
    tg_fold_rank(e);
    out->results = e->results;
    out->n_results = e->n;
    tg_arena_adopt(e->arena, e->results);
    e->results = NULL;
    for (size_t i = 0; i < out->n_results; i++) {
        out->n_state[out->results[i].state]++;
        out->n_folded[out->results[i].state] += out->results[i].folded_under != TG_NO_ID;
    }
    tg_note_waits(e);
    out->outcome = tg_outcome_of(out);
    out->exit_code = tg_outcome_exit_code(out->outcome);
    const struct tg_result *open =
        tg_result_first(out->results, out->n_results, TG_STATE_INCONCLUSIVE);
    if (out->outcome == TG_OUTCOME_INCONCLUSIVE) {
        out->error = open->message;
        out->error_hint = open->next;
    }
    out->next_runs = tg_stages_next(e);
    tg_describe_verdict(out, e->arena);
    tg_verdict_settle(out, e->in->policy->fail_on, e->arena);
    tg_eval_drop(e);
}

void tg_eval_drop(struct tg_eval_state *e)
{
    tg_rank_rows_release(&e->ranks);
    free(e->parts);
    free(e->results);
    e->parts = NULL;
    e->results = NULL;
}
