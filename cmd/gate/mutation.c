#include "cmd/gate/mutation.h"

#include <math.h>
#include <stdlib.h>

#include "core/diff/names.h"
#include "core/summary/inject.h"
#include "policy/language/limit.h"
#include "policy/verdict/eval.h"

#define MAX_CANDIDATES 3 /* names a violation is tried on: the largest */

/* How much worse, in this order; beyond the last the violation survives. A budget says nothing
 * about the baseline, so it may be further away. */
#define N_SIZES 5
static const double change_sizes[N_SIZES] = { 1.1, 1.2, 1.5, 2, 3 };
static const double budget_sizes[N_SIZES] = { 1.1, 1.5, 3, 5, 10 };

const char *tg_mutation_outcome_name(enum tg_mutation_outcome s)
{
    static const char *const names[] = { "red",      "warns",   "survived",
                                         "no match", "skipped", "untested" };
    return names[s];
}

/* One rule on its way. */
struct look {
    const struct tg_mutation *b;
    struct tg_mutation_result *out;
    struct tg_rule rule;     /* with nothing that would hide a violation */
    struct tg_policy policy; /* of this rule alone */
    struct tg_comparison uninjected;
    bool less; /* less is what the rule calls bad */
    const double *sizes;
    bool needs_fail;
    bool proven; /* an injected change of calls or bytes was more than chance */
    struct tg_err *err;
};

/* A violation to inject, and its name for people. */
struct attempt {
    struct tg_inject inject;
    const struct tg_op *op; /* NULL: none */
    bool last_rank;         /* only there */
    const char *text;
};

/* ---- judging one rule ---- */

static bool judge(struct look *l, struct tg_gate *g, const struct tg_side *test,
                  const struct tg_comparison *compared, struct tg_verdict *v, struct tg_arena *a)
{
    *g = (struct tg_gate){ .policy = &l->policy,
                           .suite = l->b->suite,
                           .io = l->b->io,
                           .compare = *l->b->compare,
                           .compared = compared,
                           .arena = a };
    g->side[TG_BASE] = l->b->side[TG_BASE];
    g->side[TG_TEST] = *test;
    return tg_gate_judge(v, g, l->err);
}

/* Rows of an operator: same kind, same normalised and aliased name. */
struct op_rows {
    const struct tg_compare_opts *o;
    const struct tg_op *op;
};

static bool is_of_op(const void *arg, const struct tg_row *row)
{
    const struct op_rows *x = arg;
    TG_BUF b = { 0 };
    tg_sv name;
    if (row->key->kind != x->op->kind ||
        (tg_kind_is_frame(row->key->kind) && (row->key->device >= 0) != x->op->launched))
        return false;
    tg_name_normalise(row->key->kind, row->key->name, &b);
    name = tg_buf_sv(&b);
    for (size_t i = 0; i < x->o->n_aliases; i++)
        if (tg_sv_glob(x->o->aliases[i].key, name)) {
            name = x->o->aliases[i].value;
            break;
        }
    return tg_sv_eq(name, x->op->name);
}

/* The fresh side with the violation in every run; false: it can be injected in none. */
static bool inject(const struct look *l, const struct attempt *t, struct tg_side *out,
                   struct tg_arena *a)
{
    const struct tg_side *from = &l->b->side[TG_TEST];
    struct op_rows rows = { l->b->compare, t->op };
    struct tg_inject p = t->inject;
    bool any = false;
    if (t->op) {
        p.is = is_of_op;
        p.arg = &rows;
    }
    *out = *from;
    out->at = TG_NEW_N(a, const struct tg_shard **, from->n_runs);
    for (size_t run = 0; run < from->n_runs; run++) {
        out->at[run] = TG_NEW_N(a, const struct tg_shard *, from->n_ranks);
        for (size_t rank = 0; rank < from->n_ranks; rank++) {
            bool here = !t->last_rank || rank + 1 == from->n_ranks;
            const struct tg_shard *s = here ? tg_inject(from->at[run][rank], &p, a) : NULL;
            any |= s != NULL;
            out->at[run][rank] = s ? s : from->at[run][rank];
        }
    }
    return any;
}

static bool is_red(const struct look *l, enum tg_state s)
{
    return s == TG_STATE_FAIL ||
           (s == TG_STATE_WARN && (!l->needs_fail || l->policy.fail_on & TG_FAIL_ON_WARN));
}

/* The injected thing's own result, else the worst: results are sorted, the worst first. Of a rule
 * about a whole trace, that of its metric ("step_time", "step_time [rank 3]"): it may have more
 * results (step_time judges gaps and regions too), and those being red proves nothing about its
 * limit. */
static const struct tg_result *result_of(const struct look *l, const struct attempt *t,
                                         const struct tg_verdict *v)
{
    const struct tg_rule_metric_info *info = tg_rule_metric_info(l->rule.metric);
    bool by_name = info->scope == TG_SCOPE_NAME;
    if (!v->n_results || (by_name && is_red(l, v->results[0].state)))
        return v->n_results ? &v->results[0] : NULL;
    for (const struct tg_result *r = v->results; r < v->results + v->n_results; r++)
        if (by_name ? t->op && tg_sv_eq(r->op_normalised, t->op->name)
                    : tg_sv_starts(r->op_normalised, tg_sv_of(info->name)))
            return r;
    return by_name ? &v->results[0] : NULL;
}

/* Whether what was injected is a change for the comparison, whatever the limit says of it. */
static bool is_proven(const struct look *l, const struct attempt *t, const struct tg_comparison *c)
{
    bool calls = t->inject.what == TG_INJECT_CALLS;
    for (size_t i = 0; (calls || l->rule.metric == TG_RULE_METRIC_BYTES) && i < c->n_ops; i++)
        if (c->ops[i].kind == t->op->kind && tg_sv_eq(c->ops[i].name, t->op->name))
            return calls ? c->ops[i].change != TG_SAME : c->ops[i].moved.proof == TG_COUNT_PROVEN;
    return true;
}

enum answer { RED, GREEN, NOT_PLANTED, FAILED };

static enum answer try_one(struct look *l, const struct attempt *t)
{
    struct tg_arena *a = tg_arena_new(), *keep = l->b->arena;
    enum answer answer = NOT_PLANTED;
    struct tg_side side;
    struct tg_gate g;
    struct tg_verdict v;
    if (inject(l, t, &side, a)) {
        if (!judge(l, &g, &side, NULL, &v, a)) {
            answer = FAILED;
        } else {
            const struct tg_result *r = result_of(l, t, &v);
            struct tg_mutation_result *out = l->out;
            answer = r && is_red(l, r->state) ? RED : GREEN;
            l->proven |= is_proven(l, t, &g.comparison);
            out->tried++;
            out->injected = tg_arena_sv(keep, tg_sv_of(t->text));
            out->not_judged = r && (r->state == TG_STATE_NOT_JUDGED || r->why_not);
            out->said = r ? TG_SV_PRINTF(keep, "%s: %.*s%s%.*s", tg_state_name(r->state),
                                         TG_SV_ARG(r->message), r->evidence.n ? "; " : "",
                                         TG_SV_ARG(r->evidence))
                          : TG_SV("nothing");
            if (answer == RED)
                out->outcome = l->needs_fail || r->state == TG_STATE_FAIL ? TG_MUTATION_RED
                                                                          : TG_MUTATION_WARNS;
        }
    }
    tg_arena_free(a);
    return answer;
}

/* ---- which violations ---- */

/* By its direction, or because all of its bounds are `min`. */
static bool less_is_bad(const struct tg_rule *r)
{
    const struct tg_limit_list *lists[] = { &r->warn, &r->fail };
    unsigned kinds = 0;
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < lists[k]->n; i++)
            for (size_t b = 0; b < lists[k]->v[i].n; b++)
                kinds |= TG_BOUND_BIT(lists[k]->v[i].bound[b].kind);
    return r->bad == TG_LESS_IS_BAD || kinds == TG_BOUND_BIT(TG_BOUND_MIN);
}

static const char *name_of(const struct look *l, const struct tg_op *op)
{
    return tg_arena_printf(l->b->arena, "%.*s", TG_SV_ARG(op->name));
}

static bool count_attempt(const struct look *l, struct attempt *t, size_t i)
{
    const struct tg_op *op = t->op;
    /* Calls to add or take at a size: at least one, and one at first. */
    double count = op->count[TG_BASE], more = i ? ceil(count * (l->sizes[i] - 1)) : 1;
    if (l->less) /* a third is left of the largest size */
        more = i ? ceil(count * (1 - 1 / l->sizes[i])) : 1;
    int64_t calls = (int64_t)(l->less ? -more : more);
    if (l->less && (double)-calls >= op->count[TG_BASE]) {
        t->inject = (struct tg_inject){ .what = TG_INJECT_DROP };
        t->text = tg_arena_printf(l->b->arena, "%s is gone", name_of(l, op));
        return true;
    }
    t->inject = (struct tg_inject){ .what = TG_INJECT_CALLS, .calls = calls };
    t->text = tg_arena_printf(l->b->arena, "%s: %lld call%s %s a step", name_of(l, op),
                              (long long)llabs(calls), llabs(calls) == 1 ? "" : "s",
                              l->less ? "fewer" : "more");
    return true;
}

/* The i-th violation of a per-name rule on t->op; false: there is no such one. */
static bool op_attempt(const struct look *l, struct attempt *t, size_t i)
{
    static const double of_step[N_SIZES] = { 0.001, 0.005, 0.02, 0.1, 0.5 };
    struct tg_arena *a = l->b->arena;
    const char *name = name_of(l, t->op);
    double factor = l->less ? 1 / l->sizes[i] : l->sizes[i];
    switch (l->rule.metric) {
    case TG_RULE_METRIC_COUNT:
    case TG_RULE_METRIC_DEVICE_COUNT:
        return count_attempt(l, t, i);
    case TG_RULE_METRIC_ADDED:
        t->inject =
            (struct tg_inject){ .what = TG_INJECT_NEW,
                                .text = TG_SV_PRINTF(a, "%s_injected", name),
                                .ns = (tg_ns)(of_step[i] * l->uninjected.step_ns[TG_BASE]) };
        t->text =
            tg_arena_printf(a, "%s_injected is new, %g %% of the step", name, 100 * of_step[i]);
        return true;
    case TG_RULE_METRIC_REMOVED:
        t->inject = (struct tg_inject){ .what = TG_INJECT_DROP };
        t->text = tg_arena_printf(a, "%s is gone", name);
        return i == 0;
    case TG_RULE_METRIC_LAUNCH_CONFIG:
    case TG_RULE_METRIC_INPUT_TYPES:
    case TG_RULE_METRIC_INPUT_SHAPES:
        t->inject =
            (struct tg_inject){ .what = TG_INJECT_ATTR, .attr = tg_rule_attr_kind(l->rule.metric) };
        t->text =
            tg_arena_printf(a, "%s: another %s", name, tg_rule_metric_info(l->rule.metric)->name);
        return i == 0;
    case TG_RULE_METRIC_BYTES:
        t->inject = (struct tg_inject){ .what = TG_INJECT_ATTR,
                                        .attr = tg_rule_attr_kind(l->rule.metric),
                                        .factor = factor };
        t->text = tg_arena_printf(a, "%s moves %+.0f %% bytes", name, 100 * (factor - 1));
        return true;
    default:
        t->inject = (struct tg_inject){ .what = TG_INJECT_SLOWER, .factor = factor };
        t->text = tg_arena_printf(a, "%s takes %+.0f %% time", name, 100 * (factor - 1));
        return true;
    }
}

static bool measure_attempt(const struct look *l, struct attempt *t, size_t i)
{
    const struct tg_rule_metric_info *info = tg_rule_metric_info(l->rule.metric);
    struct tg_arena *a = l->b->arena;
    double factor = l->less ? 1 / l->sizes[i] : l->sizes[i], percent = 100 * (factor - 1);
    enum tg_metric id;
    *t = (struct attempt){ .inject = { .what = TG_INJECT_WAIT, .factor = factor } };
    if (l->rule.metric == TG_RULE_METRIC_SKEW || l->rule.metric == TG_RULE_METRIC_RANK_SPREAD) {
        t->last_rank = true;
        t->text = tg_arena_printf(a, "the last rank's step takes %+.0f %% time", percent);
        return true;
    }
    if (l->rule.metric == TG_RULE_METRIC_COLLECTIVE_SKEW) { /* of the largest collective */
        for (size_t k = 0; k < l->uninjected.n_ops; k++) {
            const struct tg_op *op = &l->uninjected.ops[k];
            if (tg_kind_is_device(op->kind) && op->class_ == TG_CLASS_COMM &&
                op->present[TG_TEST] && (!t->op || op->total[TG_TEST] > t->op->total[TG_TEST]))
                t->op = op;
        }
        t->last_rank = true;
        t->inject.what = TG_INJECT_SLOWER;
        t->text = t->op ? tg_arena_printf(a, "%s takes %+.0f %% time on the last rank",
                                          name_of(l, t->op), percent)
                        : "";
        return t->op != NULL;
    }
    if (l->rule.metric == TG_RULE_METRIC_STEP_TIME) {
        t->text =
            tg_arena_printf(a, "the step takes %+.0f %% time, outside every operator", percent);
        return true;
    }
    if (!tg_metric_find(tg_sv_of(info->name), &id))
        return false;
    t->inject = (struct tg_inject){ .what = TG_INJECT_METRIC,
                                    .metric = id,
                                    .factor = l->sizes[i],
                                    .better = l->less == (tg_metric_info(id)->worse > 0) };
    if (info->unit == TG_UNIT_PERCENT)
        t->text = tg_arena_printf(a, "%s goes %.0f %% of the way to %s", info->name,
                                  100 * (1 - 1 / l->sizes[i]), l->less ? "0" : "100 %");
    else
        t->text = tg_arena_printf(a, "%s %+.0f %%", info->name, percent);
    return true;
}

/* ---- candidates ---- */

static double weight(const struct look *l, const struct tg_op *op)
{
    return tg_rule_metric_info(l->rule.metric)->unit == TG_UNIT_COUNT ? op->count[TG_BASE]
                                                                      : op->self[TG_BASE];
}

static bool is_attr(enum tg_rule_metric m)
{
    return tg_rule_metric_info(m)->unit == TG_UNIT_ATTR;
}

/* Whether a small change of the name tells: in no step or run is it different by itself, and more
 * calls cost something. */
static bool is_steady(const struct look *l, const struct tg_op *op)
{
    if (is_attr(l->rule.metric))
        return op->attr[tg_rule_attr_kind(l->rule.metric)].what == TG_ATTR_COMPARED;
    if (l->rule.metric == TG_RULE_METRIC_BYTES)
        return op->moved.shape == TG_COUNT_CONSTANT;
    return tg_rule_metric_info(l->rule.metric)->unit != TG_UNIT_COUNT ||
           (op->settled && op->agreed && !op->view);
}

static bool comes_first(const struct look *l, const struct tg_op *a, const struct tg_op *b)
{
    bool steady = is_steady(l, a);
    return steady != is_steady(l, b) ? steady : weight(l, a) > weight(l, b);
}

/* What a result of a rule by name is about; NULL: no name of these traces. */
static const struct tg_op *op_of(const struct look *l, const struct tg_result *r)
{
    const struct tg_comparison *c = &l->uninjected;
    bool frame = tg_kind_is_frame(r->op_kind);
    bool launched = frame && tg_rule_metric_of_launched(l->rule.metric);
    const struct tg_op *v = frame ? c->frames : c->ops;
    for (size_t i = 0; r->subject == TG_SUBJECT_NAME && i < (frame ? c->n_frames : c->n_ops); i++)
        if (v[i].kind == r->op_kind && v[i].launched == launched && tg_sv_eq(v[i].name, r->plain))
            return &v[i];
    return NULL;
}

/* The largest names that the rule has judged (all of them where runs are few), steady ones
 * first. */
static size_t candidates(const struct look *l, const struct tg_verdict *v,
                         const struct tg_op *out[MAX_CANDIDATES])
{
    size_t n = 0;
    for (size_t i = 0; i < v->n_results; i++) {
        const struct tg_op *op = op_of(l, &v->results[i]);
        bool timed = tg_rule_metric_info(l->rule.metric)->unit == TG_UNIT_NS;
        bool known = !op || op->count[TG_BASE] <= 0 || op->polling ||
                     (is_attr(l->rule.metric) && !is_steady(l, op)) ||
                     (timed && op->wait && l->rule.metric != TG_RULE_METRIC_REMOVED);
        for (size_t k = 0; k < n; k++)
            known |= out[k] == op;
        if (known)
            continue;
        size_t at = n < MAX_CANDIDATES ? n++ : MAX_CANDIDATES;
        while (at > 0 && comes_first(l, op, out[at - 1])) {
            if (at < MAX_CANDIDATES)
                out[at] = out[at - 1];
            at--;
        }
        if (at < MAX_CANDIDATES)
            out[at] = op;
    }
    return n;
}

static enum answer try_names(struct look *l, const struct tg_op *const *op, size_t n)
{
    enum answer answer = NOT_PLANTED;
    for (size_t i = 0; i < N_SIZES; i++)
        for (size_t k = 0; k < n; k++) {
            struct attempt t = { .op = op[k] };
            enum answer one = op_attempt(l, &t, i) ? try_one(l, &t) : NOT_PLANTED;
            if (one == RED || one == FAILED)
                return one;
            answer = one == GREEN ? GREEN : answer;
        }
    return answer;
}

/* A rule that waits for something new: the first of its names, as it is written. */
static bool new_name(const struct look *l, struct attempt *t)
{
    const struct tg_match *m = &l->rule.match;
    TG_BUF b = { 0 };
    bool counted = l->rule.metric == TG_RULE_METRIC_COUNT || l->rule.metric == TG_RULE_METRIC_ADDED;
    enum tg_kind kind = m->kinds ? TG_KINDS : TG_KIND_OP;
    for (unsigned k = 0; k < TG_KINDS && kind == TG_KINDS; k++)
        if (m->kinds & 1u << k)
            kind = (enum tg_kind)k;
    if (!counted || l->less || !m->name.n || tg_pattern_is_regex(m->name.v[0]))
        return false;
    tg_sv pattern = tg_pattern_text(m->name.v[0]);
    for (size_t i = 0; i < pattern.n; i++)
        if (pattern.p[i] != '*')
            tg_buf_putc(&b, pattern.p[i] == '?' ? 'x' : pattern.p[i]);
    *t = (struct attempt){ .inject = { .what = TG_INJECT_NEW,
                                       .kind = kind,
                                       .text = tg_arena_sv(l->b->arena, tg_buf_sv(&b)),
                                       .ns = (tg_ns)(0.01 * l->uninjected.step_ns[TG_BASE]) } };
    t->text = tg_arena_printf(l->b->arena,
                              "%.*s is new, 1 %% of the step; no name of these traces matches",
                              TG_SV_ARG(t->inject.text));
    return t->inject.text.n > 0;
}

/* One operator replaced by two, for a rule that sees one call more: names that are new may lie
 * outside its match, or count as a replacement. What was tried stays what turned it red. */
static enum answer look_unfused(struct look *l, const struct tg_op *const *op, size_t n)
{
    struct tg_mutation_result before = *l->out;
    enum answer answer = NOT_PLANTED;
    for (size_t i = 0; i < n && (answer == NOT_PLANTED || answer == GREEN); i++) {
        const char *name = name_of(l, op[i]);
        struct attempt t = { .op = op[i],
                             .inject = { .what = TG_INJECT_UNFUSE,
                                         .text = TG_SV_PRINTF(l->b->arena, "%s_part", name) },
                             .text = tg_arena_printf(l->b->arena, "%s is replaced by two", name) };
        enum answer one = try_one(l, &t);
        if (one != NOT_PLANTED) {
            answer = one;
            before.unfused = l->out->injected;
        }
    }
    before.sees_unfused = answer == RED;
    before.tried = l->out->tried;
    *l->out = before;
    return answer;
}

/* ---- answers ---- */

static void say(struct look *l, enum tg_mutation_outcome outcome, const char *reason,
                const char *fix)
{
    l->out->outcome = outcome;
    l->out->reason = tg_arena_sv(l->b->arena, tg_sv_of(reason));
    l->out->fix = tg_arena_sv(l->b->arena, tg_sv_of(fix));
}

/* Nothing that was injected turned the rule red. */
static void say_green(struct look *l)
{
    bool limits = l->rule.fail.state == TG_LIMIT_ON || l->rule.warn.state == TG_LIMIT_ON;
    bool budget = tg_rule_is_budget(&l->rule);
    size_t need = (size_t)l->rule.noise.min_runs;
    bool too_few_runs = l->b->side[TG_BASE].n_runs < need || l->b->side[TG_TEST].n_runs < need;
    if (budget || tg_rule_metric_info(l->rule.metric)->exact || l->rule.noise.test == TG_NOISE_NONE)
        too_few_runs = false;
    for (size_t i = 0; i < l->rule.n_overrides; i++)
        limits |= l->rule.overrides[i].fail.state == TG_LIMIT_ON ||
                  l->rule.overrides[i].warn.state == TG_LIMIT_ON;
    if (!limits)
        say(l, TG_MUTATION_SURVIVES, "it has no limit",
            "Give it a `fail` limit, or remove the rule.");
    else if (too_few_runs)
        say(l, TG_MUTATION_UNTESTED, tg_few_runs_text(l->rule.noise.min_runs, l->b->arena),
            "Name at least as many runs as noise.min_runs asks for.");
    else if (!budget && !l->proven)
        say(l, TG_MUTATION_UNTESTED,
            tg_arena_printf(l->b->arena,
                            "steps or runs differ by themselves; this may be chance: %.*s",
                            TG_SV_ARG(l->out->injected)),
            "Name more runs, or traces of more steps.");
    else if (!budget && l->out->not_judged)
        say(l, TG_MUTATION_SURVIVES,
            tg_arena_printf(l->b->arena, "it never judges: %.*s", TG_SV_ARG(l->out->said)),
            "Use a metric that these traces have evidence for, or a budget (max, min).");
    else
        say(l, TG_MUTATION_SURVIVES,
            tg_arena_printf(l->b->arena, "even this passes: %.*s", TG_SV_ARG(l->out->injected)),
            l->needs_fail ? "Tighten the limit: tracegate calibrate suggests one from your runs."
                          : "Tighten the `warn` limit, or give the rule a `fail` limit.");
}

/* Does an optional rule only show what went? No name loses more than all of it. */
static bool only_shows(const struct tg_rule *rule)
{
    const struct tg_limit_list *warn = &rule->warn;
    const struct tg_bound *b = warn->n ? warn->v[0].bound : NULL;

    return rule->optional && less_is_bad(rule) && rule->fail.state != TG_LIMIT_ON &&
           !rule->n_overrides && warn->n == 1 && warn->v[0].n == 1 && b->kind == TG_BOUND_PCT &&
           !b->is_auto && b->value >= 100;
}

bool tg_mutation_try(struct tg_mutation_result *out, const struct tg_mutation *b,
                     const struct tg_rule *rule, struct tg_err *err)
{
    TG_ARENA *a = tg_arena_new();
    struct look l = { .b = b, .out = out, .err = err, .less = less_is_bad(rule) };
    struct tg_gate g;
    struct tg_verdict v;
    struct attempt t;
    enum answer answer = NOT_PLANTED;
    *out = (struct tg_mutation_result){ .rule = rule, .outcome = TG_MUTATION_SURVIVES };
    /* The rule alone, wherever the program runs: no `when`, no waivers, no `require`. */
    l.rule = *rule;
    l.rule.when = (struct tg_when){ 0 };
    l.policy = *l.b->policy;
    l.policy.rules = &l.rule;
    l.policy.n_rules = 1;
    l.policy.n_waivers = 0;
    l.policy.require = (struct tg_require){ 0 };
    l.needs_fail = rule->fail.state == TG_LIMIT_ON;
    for (size_t i = 0; i < rule->n_overrides; i++)
        l.needs_fail |= rule->overrides[i].fail.state == TG_LIMIT_ON;
    if (only_shows(rule)) {
        say(&l, TG_MUTATION_SKIPPED, "the rule only shows what went", "Nothing to do.");
        return true;
    }
    l.sizes = tg_rule_is_budget(rule) ? budget_sizes : change_sizes;
    if (!judge(&l, &g, &b->side[TG_TEST], b->uninjected, &v, a))
        return false;
    l.uninjected = g.comparison;
    if (tg_rule_metric_info(rule->metric)->scope == TG_SCOPE_NAME) {
        const struct tg_op *op[MAX_CANDIDATES];
        size_t n = candidates(&l, &v, op);
        answer = try_names(&l, op, n);
        if (answer == NOT_PLANTED && rule->optional && new_name(&l, &t))
            answer = try_one(&l, &t);
        else if (answer == RED && l.rule.metric == TG_RULE_METRIC_COUNT && !l.less &&
                 look_unfused(&l, op, n) == FAILED)
            answer = FAILED;
    } else if (v.n_results && v.results[0].state != TG_STATE_SKIP &&
               v.results[0].state != TG_STATE_INCONCLUSIVE) {
        for (size_t i = 0; i < N_SIZES && answer != RED && answer != FAILED; i++)
            if (measure_attempt(&l, &t, i))
                answer = try_one(&l, &t);
    }
    if (answer == GREEN)
        say_green(&l);
    else if (answer == NOT_PLANTED) {
        bool nothing = !v.n_results || v.results[0].subject == TG_SUBJECT_NO_MATCH;
        const char *why = nothing ? "the rule matches nothing on these traces"
                          : is_attr(l.rule.metric)
                              ? tg_arena_printf(l.b->arena, "no name has the same %s in every run",
                                                tg_rule_metric_info(l.rule.metric)->name)
                              : "the traces lack what it is about";
        if (l.rule.optional)
            say(&l, TG_MUTATION_SKIPPED, why,
                "Nothing to do if that is intended: the rule is optional.");
        else
            say(&l, nothing ? TG_MUTATION_NO_MATCH : TG_MUTATION_SURVIVES, why,
                "Correct the rule (`tracegate names TRACE` lists names), or mark it `optional: "
                "true`.");
    }
    return answer != FAILED;
}
