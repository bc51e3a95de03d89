#include "policy/verdict/eval.h"

#include <stdlib.h>

#include "core/base/sort.h"
#include "policy/verdict/describe.h"
#include "policy/verdict/internal.h"

static bool is_of_trace(const struct tg_result *r)
{
    return r->subject == TG_SUBJECT_TRACE;
}

/* Of the whole, whatever is judged by name. */
static bool is_account(const struct tg_result *r)
{
    return tg_sv_eq(r->rule, TG_SV("account"));
}

static int by_weight(const void *a, const void *b)
{
    const struct tg_result *x = a, *y = b;
    int c;
    if (x->state != y->state)
        return x->state > y->state ? -1 : 1;
    if (is_account(x) != is_account(y))
        return is_account(x) ? 1 : -1;
    /* Findings: counts, then attributes, then durations and ratios. */
    if ((x->dimension == TG_DIM_COUNT) != (y->dimension == TG_DIM_COUNT))
        return x->dimension == TG_DIM_COUNT ? -1 : 1;
    /* What tells where comes before what tells that: an operator before a metric of the trace. */
    if (is_of_trace(x) != is_of_trace(y))
        return is_of_trace(y) ? -1 : 1;
    if (x->rank < y->rank || x->rank > y->rank)
        return x->rank > y->rank ? -1 : 1;
    if ((c = tg_sv_cmp(x->op_normalised, y->op_normalised)))
        return c;
    if ((c = tg_sv_cmp(x->rule, y->rule)))
        return c;
    return tg_sv_cmp(tg_result_kind(x), tg_result_kind(y));
}

static bool asks_for_counts(const struct tg_eval_state *e)
{
    const struct tg_policy *p = e->in->policy;
    for (size_t i = 0; i < p->n_rules; i++)
        if (tg_rule_counts_calls(e, &p->rules[i]))
            return true;
    return false;
}

static size_t resting_on(const struct tg_eval_state *e, enum tg_grounds g)
{
    size_t n = 0;
    for (size_t i = 0; i < e->n; i++)
        n += e->results[i].grounds == g;
    return n;
}

/* Benchmarks' numbers rest on runs of their own. */
static size_t numbers_judged(const struct tg_eval_state *e)
{
    size_t n = 0;
    for (size_t i = 0; i < e->n; i++)
        n += e->results[i].subject == TG_SUBJECT_NUMBER && e->results[i].grounds == TG_GROUNDS_RUNS;
    return n;
}

/* Names of which the fresh side's number could be judged. */
static size_t countable(const struct tg_comparison *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_ops; i++)
        n += c->ops[i].present[TG_TEST] && tg_kind_is_counted(c->ops[i].kind);
    return n;
}

static void open_guard(struct tg_eval_state *e, enum tg_reason need, tg_sv name, tg_sv message,
                       tg_sv next)
{
    struct tg_result *r = tg_eval_add(e, NULL);
    tg_eval_message(r, TG_STATE_INCONCLUSIVE, TG_SUBJECT_GUARD, need, name, message, next);
}

/*
 * The one place that decides whether a verdict may be green: some rule judged something, and where
 * a rule counts calls, there were calls to count.
 */
static void close_coverage(struct tg_eval_state *e)
{
    struct tg_verdict *v = e->out;
    size_t counts = resting_on(e, TG_GROUNDS_COUNT), runs = resting_on(e, TG_GROUNDS_RUNS);
    size_t other = resting_on(e, TG_GROUNDS_ATTR) + resting_on(e, TG_GROUNDS_BUDGET);
    v->counts_asked = asks_for_counts(e);
    v->counts_judged = counts > 0;
    v->durations_judged = runs > numbers_judged(e);
    v->min_runs = e->in->policy->noise.min_runs;
    v->budgets_judged = resting_on(e, TG_GROUNDS_BUDGET) > 0;
    if (tg_result_first(e->results, e->n, TG_STATE_INCONCLUSIVE))
        return;
    if (v->counts_asked && !countable(e->in->comparison))
        open_guard(e, TG_NEED_CALLS, TG_SV("(no calls)"),
                   TG_SV("the fresh traces hold no operators, kernels, copies or synchronisations: "
                         "there is nothing to count"),
                   TG_SV("Did the benchmark run, and do the events have a category (`cat`)?"));
    else if (!counts && !runs && !other && !tg_result_first(e->results, e->n, TG_STATE_SUSPICIOUS))
        open_guard(e, TG_NEED_ANY, TG_SV("(nothing judged)"), TG_SV("nothing could be judged"),
                   e->in->policy->n_rules
                       ? TG_SV("See the coverage line and the rules that were skipped.")
                       : TG_SV("The policy has no rules: write some, or start from the built-in "
                               "ones with `extends: [tracegate:recommended]`."));
}

/* States that `fail_on` names are failures, in every report. */
static void promote(struct tg_eval_state *e)
{
    static const struct {
        unsigned bit;
        enum tg_state state;
        const char *what;
    } kinds[] = { { TG_FAIL_ON_WARN, TG_STATE_WARN, "a warning" },
                  { TG_FAIL_ON_SUSPICIOUS, TG_STATE_SUSPICIOUS, "suspicious" },
                  { TG_FAIL_ON_INCONCLUSIVE, TG_STATE_INCONCLUSIVE, "inconclusive" } };
    for (size_t i = 0; i < e->n; i++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            struct tg_result *r = &e->results[i];
            if (!(e->in->policy->fail_on & kinds[k].bit) || r->state != kinds[k].state)
                continue;
            r->evidence =
                TG_SV_PRINTF(e->arena, "%.*s%s%s: `fail_on` makes it a failure",
                             TG_SV_ARG(r->evidence), r->evidence.n ? "; " : "", kinds[k].what);
            r->state = TG_STATE_FAIL;
            break;
        }
}

/* Any failure; else anything inconclusive; else any warning. */
static void outcome(struct tg_eval_state *e)
{
    struct tg_verdict *v = e->out;
    const struct tg_result *open = tg_result_first(v->results, v->n_results, TG_STATE_INCONCLUSIVE);
    const size_t *n = v->n_state;
    if (n[TG_STATE_FAIL]) {
        v->outcome = TG_OUTCOME_FAIL;
    } else if (open) {
        v->outcome = TG_OUTCOME_INCONCLUSIVE;
        v->error = open->message;
        v->error_hint = open->next;
    } else if (n[TG_STATE_WARN] || n[TG_STATE_SUSPICIOUS]) {
        v->outcome = TG_OUTCOME_WARN;
    } else {
        v->outcome = TG_OUTCOME_PASS;
    }
    v->exit_code = tg_outcome_exit_code(v->outcome);
}

/* ---- rules and the parts they ask for ---- */

/* What was added since `from` goes to its rule. */
static void give_to_rule(struct tg_eval_state *e, struct tg_rule_results *to, size_t from)
{
    size_t n = e->n - from;
    to->v = tg_grow(to->v, &to->cap, to->n + n, sizeof *to->v);
    if (n)
        memcpy(to->v + to->n, e->results + from, n * sizeof *to->v);
    to->n += n;
    e->n = from;
}

/* How many ranks a rule looks at one by one; more than TG_RANK_ROWS are not counted. */
static size_t ranks_of(const struct tg_eval_state *e, const struct tg_rule *rule)
{
    const struct tg_side *side = &e->in->comparison->side[TG_TEST];
    size_t n = 0;
    for (size_t i = 0; i < side->n_ranks && n <= TG_RANK_ROWS; i++)
        n += tg_rule_wants(e, rule, side->ranks[i]);
    return n;
}

static void begin_rule(struct tg_eval_state *e, size_t i)
{
    const struct tg_rule *rule = &e->in->policy->rules[i];
    struct tg_rule_results *of = &e->of_rule[i];
    size_t from = e->n;
    tg_rule_judge(e, rule);
    give_to_rule(e, of, from);
    of->many = ranks_of(e, rule) > TG_RANK_ROWS;
}

struct tg_eval_state *tg_eval_begin(struct tg_verdict *out, const struct tg_eval_input *in,
                                    struct tg_arena *a)
{
    struct tg_eval_state *e = TG_NEW(a, struct tg_eval_state);
    struct tg_eval_input *kept = TG_NEW(a, struct tg_eval_input);
    *kept = *in;
    *e = (struct tg_eval_state){
        .in = kept, .out = out, .c = in->comparison, .rank = -1, .arena = a, .kept = a
    };
    e->of_rule = TG_NEW_N(a, struct tg_rule_results, in->policy->n_rules + 1);
    *out = (struct tg_verdict){ .comparison = in->comparison,
                                .suite = in->suite ? in->suite->name : TG_SV("default"),
                                .policy = in->policy->built_in ? TG_SV("built-in policy")
                                                               : in->policy->file,
                                .version = TG_SV(TG_JUDGED_BY) };
    for (size_t i = 0; i < in->policy->n_rules; i++)
        tg_rank_rows_init(&e->of_rule[i].each);
    tg_notes(e);
    tg_stages_note(e);
    e->comparable = tg_guards(e);
    e->comparable &= tg_guard_integrity(e);
    for (size_t i = 0; e->comparable && i < in->policy->n_rules; i++)
        begin_rule(e, i);
    return e;
}

static bool same_numbers(const struct tg_ints *a, const struct tg_ints *b)
{
    return a->n == b->n && (!a->n || memcmp(a->v, b->v, a->n * sizeof *a->v) == 0);
}

static bool same_choice(const struct tg_rule *a, const struct tg_rule *b)
{
    return same_numbers(&a->match.devices, &b->match.devices) &&
           same_numbers(&a->match.streams, &b->match.streams);
}

/* Devices and streams are chosen by the rule `i`; has none before it chosen the same? */
static bool is_first_choice(const struct tg_policy *p, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (same_choice(&p->rules[k], &p->rules[i]))
            return false;
    return true;
}

/* Does any rule look at this rank with the devices and streams of the rule `choice`? */
static bool is_wanted(const struct tg_eval_state *e, int64_t rank, size_t choice)
{
    const struct tg_policy *p = e->in->policy;
    for (size_t i = choice; i < p->n_rules; i++)
        if (same_choice(&p->rules[choice], &p->rules[i]) && tg_rule_wants(e, &p->rules[i], rank))
            return true;
    return false;
}

/* All ranks together are first. */
static int64_t rank_at(const struct tg_eval_state *e, size_t i)
{
    return i ? e->in->comparison->side[TG_TEST].ranks[i - 1] : -1;
}

bool tg_eval_wants(struct tg_eval_state *e, struct tg_part *next)
{
    const struct tg_policy *p = e->in->policy;
    size_t n_ranks = e->in->comparison->side[TG_TEST].n_ranks;
    for (; e->comparable && e->next_rank <= n_ranks; e->next_rank++, e->next_choice = 0) {
        int64_t rank = rank_at(e, e->next_rank);
        if (e->next_rank && rank < 0)
            continue; /* the one trace has no rank: it is all */
        while (e->next_choice < p->n_rules) {
            size_t choice = e->next_choice++;
            const struct tg_match *m = &p->rules[choice].match;
            if (!is_first_choice(p, choice) || !is_wanted(e, rank, choice))
                continue;
            *next = e->part = (struct tg_part){ rank, &m->devices, &m->streams };
            return true;
        }
    }
    return false;
}

/* What a rule says of a part outlives it: texts are copied. */
static void keep_part(struct tg_eval_state *e, struct tg_rule_results *to, size_t from)
{
    for (size_t i = from; i < e->n; i++) {
        if (to->many)
            tg_rank_rows_add(&to->each, &e->results[i], e->part.rank, e->kept);
        else
            e->results[i] = tg_result_copy(&e->results[i], e->kept);
    }
    if (to->many)
        e->n = from;
    else
        give_to_rule(e, to, from);
}

void tg_eval_part(struct tg_eval_state *e, const struct tg_comparison *c)
{
    const struct tg_policy *p = e->in->policy;
    e->arena = tg_arena_new();
    for (size_t i = 0; i < p->n_rules; i++) {
        const struct tg_match *m = &p->rules[i].match;
        size_t from = e->n;
        if (!same_numbers(&m->devices, e->part.devices) ||
            !same_numbers(&m->streams, e->part.streams) ||
            !tg_rule_wants(e, &p->rules[i], e->part.rank))
            continue;
        e->brief = e->of_rule[i].each.names.n > 0;
        tg_rule_judge_part(e, &p->rules[i], c, e->part.rank);
        keep_part(e, &e->of_rule[i], from);
    }
    tg_arena_free(e->arena);
    e->arena = e->kept;
}

/* The results of all rules in their order, after those of the guards. */
static void join_rules(struct tg_eval_state *e)
{
    for (size_t i = 0; e->comparable && i < e->in->policy->n_rules; i++) {
        struct tg_rule_results *of = &e->of_rule[i];
        size_t n = tg_rank_rows_put(&of->each, NULL, e->arena);
        of->v = tg_grow(of->v, &of->cap, of->n + n, sizeof *of->v);
        of->n += tg_rank_rows_put(&of->each, of->v + of->n, e->arena);
        e->results = tg_grow(e->results, &e->cap, e->n + of->n, sizeof *e->results);
        if (of->n)
            memcpy(e->results + e->n, of->v, of->n * sizeof *of->v);
        e->n += of->n;
        tg_rule_close(e, &e->in->policy->rules[i], of->v, of->n);
    }
}

static void place_results(struct tg_eval_state *e)
{
    struct tg_verdict *out = e->out;
    if (e->n)
        TG_SORT(e->results, e->n, by_weight);
    tg_fold(e);
    out->results = tg_arena_copy(e->arena, e->results, e->n, sizeof *e->results);
    out->n_results = e->n;
    for (size_t i = 0; i < e->n; i++) {
        out->n_state[e->results[i].state]++;
        out->n_folded[e->results[i].state] += e->results[i].folded_under != TG_NO_ID;
    }
}

void tg_eval_end(struct tg_eval_state *e)
{
    join_rules(e);
    tg_stages_close(e);
    close_coverage(e);
    tg_eval_account(e);
    tg_waive(e);
    tg_known_explain(e);
    promote(e);
    place_results(e);
    outcome(e);
    e->out->next_runs = tg_stages_next(e);
    tg_describe_verdict(e->out, e->in->comparison, e->arena);
    tg_verdict_settle(e->out, e->in->policy->fail_on, e->arena);
    tg_eval_drop(e);
}

void tg_eval_drop(struct tg_eval_state *e)
{
    for (size_t i = 0; i < e->in->policy->n_rules; i++) {
        tg_rank_rows_release(&e->of_rule[i].each);
        free(e->of_rule[i].v);
    }
    free(e->results);
    e->results = NULL;
}
