#include <math.h>

#include "policy/verdict/describe.h"
#include "policy/verdict/internal.h"

static bool has_number(const struct tg_ints *list, int64_t v)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->v[i] == v)
            return true;
    return false;
}

static tg_sv fact_kind(enum tg_metric m)
{
    switch (m) {
    case TG_METRIC_LAUNCH_CONFIG:
        return TG_SV("launch");
    case TG_METRIC_INPUT_TYPES:
        return TG_SV("types");
    case TG_METRIC_INPUT_SHAPES:
        return TG_SV("shapes");
    default:
        return TG_SV("");
    }
}

static bool is_on(const struct tg_rule_limits *l)
{
    return l->warn.state == TG_LIMIT_ON || l->fail.state == TG_LIMIT_ON;
}

static bool about_presence(enum tg_metric m)
{
    return m == TG_METRIC_COUNT || m == TG_METRIC_ADDED || m == TG_METRIC_REMOVED;
}

/* What the rule's exceptions make of a judgement: fail becomes warn, polling is not judged. */
static void except(struct tg_judgement *j, const struct tg_rule *rule, const struct tg_op *op)
{
    enum tg_exception x = about_presence(rule->metric) ? tg_op_exception(op) : TG_EXCEPTION_NONE;
    if (!(rule->exceptions & 1u << x))
        return;
    if (x == TG_EXCEPTION_POLLING) {
        *j = (struct tg_judgement){ .state = TG_STATE_SKIP,
                                    .why_not = "a polling call: its number is random",
                                    .exception = x };
    } else if (j->state == TG_STATE_FAIL) {
        j->state = TG_STATE_WARN;
        j->exception = x;
    }
}

/* Do the limits that are on ask the fresh side alone? */
static bool are_budgets(const struct tg_limit_list *warn, const struct tg_limit_list *fail)
{
    const struct tg_limit_list *lists[] = { warn, fail };
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < lists[k]->n; i++)
            for (size_t b = 0; b < lists[k]->v[i].n; b++)
                if (lists[k]->v[i].bound[b].kind != TG_BOUND_MAX &&
                    lists[k]->v[i].bound[b].kind != TG_BOUND_MIN)
                    return false;
    return true;
}

static bool only_budgets(const struct tg_rule *rule)
{
    return are_budgets(&rule->warn, &rule->fail);
}

/* What a result's state rests on. A duration that is too small to matter was looked at. */
static enum tg_grounds grounds_of(const struct tg_judgement *j, const struct tg_probe *p,
                                  bool budgets)
{
    bool looked_at = !p->ev || p->ev->judged == TG_JUDGED || p->ev->judged == TG_NOT_TOO_SMALL;
    if (j->state == TG_STATE_NOT_JUDGED || j->state == TG_STATE_SKIP ||
        j->state == TG_STATE_INCONCLUSIVE || j->state == TG_STATE_SUSPICIOUS)
        return TG_GROUNDS_NONE;
    if (budgets)
        return TG_GROUNDS_BUDGET;
    if (p->exact)
        return p->unit == TG_UNIT_COUNT ? TG_GROUNDS_COUNT : TG_GROUNDS_FACT;
    return looked_at || p->test_kind == TG_NOISE_NONE ? TG_GROUNDS_RUNS : TG_GROUNDS_NONE;
}

/*
 * Calls that came in some steps or runs only, where chance is possible: what would fail or warn if
 * every step were like the one with most of them, warns. Never "no change": something did change.
 */
static void heed_hint(struct tg_judgement *j, const struct tg_op *op, const struct tg_rule *rule,
                      const struct tg_probe *p, const struct tg_rule_limits *l)
{
    struct tg_probe worst = *p;
    struct tg_judgement then;
    if (rule->metric != TG_METRIC_COUNT || op->counted.proof != TG_COUNT_HINT ||
        j->state != TG_STATE_PASS)
        return;
    worst.test = op->counted.most;
    worst.unchanged = false;
    then = tg_judge(&worst, &l->warn, &l->fail);
    if (then.state == TG_STATE_FAIL || then.state == TG_STATE_WARN)
        *j = (struct tg_judgement){ .state = TG_STATE_WARN, .limit = then.limit };
}

static void fill_op(struct tg_result *r, const struct tg_op *op, const struct tg_rule *rule,
                    const struct tg_probe *p, const struct tg_judgement *j)
{
    r->state = j->state;
    r->op = op->raw[op->present[TG_TEST] ? TG_TEST : TG_BASE];
    r->op_normalised = r->plain = op->name;
    r->kind = tg_sv_of(tg_kind_name(op->kind));
    r->metric = tg_sv_of(tg_metric_info(rule->metric)->name);
    r->dimension = tg_unit_dimension(p->unit);
    if (r->dimension == TG_DIM_COUNT)
        r->inside = op->inside;
    r->unit = tg_sv_of(tg_unit_text(p->unit));
    r->has_values = p->unit != TG_UNIT_FACT;
    r->base = p->base;
    r->test = p->test;
    r->delta = tg_probe_delta(p);
    r->delta_pct = r->has_values ? tg_probe_pct(p) : NAN;
    r->share = op->share[op->present[TG_TEST] ? TG_TEST : TG_BASE];
}

/* ns per step that the result is about: the order of reports. A new operator leads what it calls. */
static double weight_op(const struct tg_op *op)
{
    const double *of = op->leads ? op->total : op->self;
    double weight = of[TG_TEST] - of[TG_BASE];
    return isfinite(weight) ? fabs(weight) : 0;
}

static void place_limit(struct tg_result *r, const struct tg_judgement *j, struct tg_arena *a)
{
    struct tg_buf b = { 0 };
    if (!j->limit)
        return;
    tg_limit_text(j->limit, &b);
    r->limit = tg_describe_take(&b, a);
    if (j->limit->at.file) {
        r->file = j->limit->at.file;
        r->line = j->limit->at.line;
        r->col = j->limit->at.col;
    }
}

/* noise.min_steps: too few steps sharpen a run's value too little. */
static const char *too_few_steps(const struct tg_rule_scope *s, const struct tg_noise *noise)
{
    size_t least = s->c->n_steps[TG_BASE] < s->c->n_steps[TG_TEST] ? s->c->n_steps[TG_BASE]
                                                                   : s->c->n_steps[TG_TEST];
    return noise->min_steps > 0 && least < (size_t)noise->min_steps
               ? "fewer steps a run than noise.min_steps asks for"
               : NULL;
}

/*
 * A rule's own noise.min_runs, where it is not the policy's: the evidence is computed whatever the
 * number of runs, so the rule may ask for more or for fewer. `own` is room for its copy.
 */
static void ask_for_runs(const struct tg_eval_state *e, const struct tg_rule_scope *s,
                         const struct tg_noise *noise, struct tg_probe *p, struct tg_evidence *own)
{
    size_t base = s->c->n_runs[TG_BASE], test = s->c->n_runs[TG_TEST];
    bool enough;

    if (!p->ev || noise->min_runs == e->in->policy->noise.min_runs)
        return;
    enough = (base < test ? base : test) >= (size_t)noise->min_runs;
    *own = *p->ev;
    if (enough && own->judged == TG_NOT_FEW_RUNS) {
        own->judged = TG_JUDGED;
    } else if (!enough && own->judged == TG_JUDGED) {
        own->judged = TG_NOT_FEW_RUNS;
        own->suspicious = own->slower;
    }
    p->ev = own;
}

static const char *differs_text(const struct tg_rule_scope *s, struct tg_arena *a)
{
    return tg_sv_eq(s->c->differs, TG_SV("device"))
               ? "the two sides ran on different devices"
               : tg_arena_printf(a, "the two sides differ in %.*s", TG_SV_ARG(s->c->differs));
}

/*
 * Another device chooses other kernels, and everything takes another time there. What the program
 * asks for stays: operators, copies, sets, synchronisations and graph launches, their number and
 * bytes. NULL: comparable.
 */
static const char *op_incomparable(const struct tg_rule_scope *s, const struct tg_op *op,
                                   const struct tg_probe *p, struct tg_arena *a)
{
    bool device = tg_kind_is_device(op->kind) || op->launched;
    if (s->c->same_device || !device || (p->exact && op->kind != TG_KIND_KERNEL && !op->launched))
        return NULL;
    return differs_text(s, a);
}

static const char *measure_incomparable(const struct tg_rule_scope *s, const struct tg_rule *rule,
                                        struct tg_arena *a)
{
    static const enum tg_measure of_kernels[] = { TG_MEASURE_LAUNCH_COUNT, TG_MEASURE_KERNEL_NAMES,
                                                  TG_MEASURE_MEM_PEAK };
    bool depends = !tg_metric_info(rule->metric)->exact;
    enum tg_measure id;
    for (size_t i = 0; i < sizeof of_kernels / sizeof *of_kernels; i++)
        depends |= tg_metric_measure(rule->metric, &id) && id == of_kernels[i];
    return s->c->same_device || !depends ? NULL : differs_text(s, a);
}

/* Does a side lack totals by Python frame that rules about these kinds need? */
static bool lacks_frames(const struct tg_rule_scope *s, uint32_t kinds, int side)
{
    return tg_frame_sorts(kinds) & (~s->c->frame_sorts[side] | s->c->frames_lack[side]);
}

static void ground(struct tg_result *r, const struct tg_rule_limits *l, const struct tg_probe *p,
                   const struct tg_judgement *j)
{
    r->grounds = grounds_of(j, p, are_budgets(&l->warn, &l->fail));
    r->why_not = r->grounds == TG_GROUNDS_NONE ? j->why_not : NULL;
    r->few_runs = r->why_not && p->ev && p->ev->judged == TG_NOT_FEW_RUNS;
}

static void judge_op(struct tg_eval_state *e, const struct tg_rule_scope *s,
                     const struct tg_rule *rule, const struct tg_op *op)
{
    struct tg_rule_limits l = tg_select_limits(rule, op);
    struct tg_probe p = { .step_ns = s->c->step_ns[TG_BASE],
                          .bad = rule->bad,
                          .test_kind = l.test };
    struct tg_evidence own;
    struct tg_judgement j;
    struct tg_result *r;
    if (tg_metric_info(rule->metric)->unit == TG_UNIT_FACT) {
        bool changed = false;
        for (size_t i = 0; i < op->n_facts; i++)
            changed |= tg_sv_eq(op->facts[i].kind, fact_kind(rule->metric));
        p.unit = TG_UNIT_FACT;
        p.exact = true;
        p.bad = TG_ANY_IS_BAD;
        p.test = changed;
    } else if (!tg_probe_op(&p, rule->metric, s->c, op)) {
        return;
    }
    if (lacks_frames(s, 1u << op->kind, TG_BASE))
        p.base = NAN;
    ask_for_runs(e, s, l.noise, &p, &own);
    p.incomparable = op_incomparable(s, op, &p, e->arena);
    j = tg_judge(&p, &l.warn, &l.fail);
    if (!p.exact && too_few_steps(s, l.noise)) {
        j.state = TG_STATE_NOT_JUDGED;
        j.why_not = too_few_steps(s, l.noise);
    }
    heed_hint(&j, op, rule, &p, &l);
    except(&j, rule, op);
    if (!is_on(&l))
        j = (struct tg_judgement){ .state = TG_STATE_SKIP,
                                   .why_not = "the policy sets no limit for it" };
    r = tg_eval_add(e, rule);
    fill_op(r, op, rule, &p, &j);
    r->switched_off = j.state == TG_STATE_SKIP;
    r->rank = weight_op(op);
    place_limit(r, &j, e->arena);
    tg_describe_op(r, op, s->c, &p, &j, e->arena);
    if (s->rank >= 0) {
        r->op_normalised = tg_sv_of(
            tg_arena_printf(e->arena, "%.*s [rank %lld]", TG_SV_ARG(op->name), (long long)s->rank));
    }
    ground(r, &l, &p, &j);
}

static void say_unknown(struct tg_result *r, const struct tg_rule *rule)
{
    tg_eval_message(r, rule->optional ? TG_STATE_SKIP : TG_STATE_INCONCLUSIVE, r->metric,
                    TG_SV("trace"), TG_SV("the traces do not carry what this metric needs"),
                    TG_SV("Record what docs/metrics.md names for it, or mark the rule optional."));
}

static void judge_measure(struct tg_eval_state *e, const struct tg_rule_scope *s,
                          const struct tg_rule *rule)
{
    const struct tg_metric_info *info = tg_metric_info(rule->metric);
    struct tg_rule_limits l = tg_select_limits(rule, NULL);
    struct tg_probe p = { .step_ns = s->c->step_ns[TG_BASE],
                          .bad = rule->bad,
                          .test_kind = l.test };
    struct tg_evidence own;
    struct tg_judgement j;
    struct tg_result *r = tg_eval_add(e, rule);
    bool known = tg_probe_measure(&p, rule, s->c);
    r->metric = tg_sv_of(info->name);
    r->dimension = tg_unit_dimension(info->unit);
    if (!known && !(only_budgets(rule) && p.known[TG_TEST])) {
        say_unknown(r, rule);
        return;
    }
    if (!p.known[TG_BASE])
        p.base = NAN;
    ask_for_runs(e, s, l.noise, &p, &own);
    p.incomparable = measure_incomparable(s, rule, e->arena);
    j = tg_judge(&p, &l.warn, &l.fail);
    r->state = j.state;
    r->op = r->op_normalised = r->plain = r->metric;
    r->kind = TG_SV("trace");
    r->unit = tg_sv_of(tg_unit_text(p.unit));
    r->has_values = true;
    r->base = p.base;
    r->test = p.test;
    r->delta = tg_probe_delta(&p);
    r->delta_pct = tg_probe_pct(&p);
    r->rank = p.unit == TG_UNIT_NS ? fabs(r->delta) : 0;
    place_limit(r, &j, e->arena);
    tg_describe_measure(r, s->c, &p, &j, e->arena);
    if (s->rank >= 0)
        r->op_normalised =
            tg_sv_of(tg_arena_printf(e->arena, "%s [rank %lld]", info->name, (long long)s->rank));
    ground(r, &l, &p, &j);
}

static void judge_gap(struct tg_eval_state *e, const struct tg_rule_scope *s,
                      const struct tg_rule *rule, const struct tg_op *op)
{
    struct tg_rule_limits l = tg_select_limits(rule, NULL);
    struct tg_probe p = { .step_ns = s->c->step_ns[TG_BASE],
                          .bad = rule->bad,
                          .test_kind = l.test,
                          .unit = TG_UNIT_NS,
                          .ev = &op->ev,
                          .base = op->ev.value[TG_BASE],
                          .test = op->ev.value[TG_TEST] };
    struct tg_evidence own;
    struct tg_judgement j;
    struct tg_result *r;
    bool of_step = op->kind == TG_KIND_STEP;
    ask_for_runs(e, s, l.noise, &p, &own);
    if (p.ev->judged != TG_JUDGED && !p.ev->suspicious)
        return;
    j = tg_judge(&p, &l.warn, &l.fail);
    if (!of_step && j.state <= TG_STATE_NOT_JUDGED)
        return; /* one line for each annotation that got slower */
    r = tg_eval_add(e, rule);
    fill_op(r, op, rule, &p, &j);
    if (of_step) {
        r->op = r->op_normalised = r->plain = TG_SV("ProfilerStep");
        r->kind = TG_SV("step");
    }
    r->rank = fabs(r->delta);
    place_limit(r, &j, e->arena);
    tg_describe_measure(r, s->c, &p, &j, e->arena);
    ground(r, &l, &p, &j);
}

/* ns that the step got slower by; 0: it did not. */
static double step_lost(const struct tg_comparison *c)
{
    const struct tg_evidence *ev[] = { &c->step.ev, &c->step.ev_total,
                                       &c->measures[TG_MEASURE_STEP_TIME].ev };
    double lost = 0;
    for (size_t i = 0; i < sizeof ev / sizeof *ev; i++)
        if (ev[i]->slower)
            lost = fmax(lost, ev[i]->delta_ns);
    return lost;
}

/*
 * Between operators: host time that no operator's self time holds, of the step; and, where the step
 * got slower, of an annotation that holds most of that.
 */
static void judge_gaps(struct tg_eval_state *e, const struct tg_rule_scope *s,
                       const struct tg_rule *rule)
{
    double lost = step_lost(s->c);
    judge_gap(e, s, rule, &s->c->step);
    for (size_t i = 0; lost > 0 && i < s->c->n_ops; i++) {
        const struct tg_op *op = &s->c->ops[i];
        if (op->kind == TG_KIND_ANNOTATION && op->ev.slower && 2 * op->ev.delta_ns > lost)
            judge_gap(e, s, rule, op);
    }
}

/* A replacement is judged as a whole: by the inclusive time of what encloses it, since cost may
 * have moved between the names inside. Only one that got slower is worth a line. */
static void judge_regions(struct tg_eval_state *e, const struct tg_rule_scope *s,
                          const struct tg_rule *rule)
{
    struct tg_rule_limits l = tg_select_limits(rule, NULL);
    for (size_t i = 0; i < s->c->n_regions; i++) {
        const struct tg_region *g = &s->c->regions[i];
        struct tg_probe p = { .step_ns = s->c->step_ns[TG_BASE],
                              .bad = rule->bad,
                              .test_kind = l.test,
                              .unit = TG_UNIT_NS,
                              .ev = &g->ev,
                              .base = g->ev.value[TG_BASE],
                              .test = g->ev.value[TG_TEST] };
        struct tg_evidence own;
        struct tg_judgement j;
        ask_for_runs(e, s, l.noise, &p, &own);
        j = tg_judge(&p, &l.warn, &l.fail);
        if (!g->encloser.n || !g->worse_time || j.state <= TG_STATE_NOT_JUDGED)
            continue;
        struct tg_op op = { .name = g->encloser,
                            .raw = { g->encloser, g->encloser },
                            .present = { true, true },
                            .kind = TG_KIND_ANNOTATION,
                            .region = TG_NO_ID,
                            .partner = TG_NO_ID,
                            .leader = TG_NO_ID };
        struct tg_result *r = tg_eval_add(e, rule);
        fill_op(r, &op, rule, &p, &j);
        r->rank = fabs(r->delta);
        place_limit(r, &j, e->arena);
        tg_describe_measure(r, s->c, &p, &j, e->arena);
        ground(r, &l, &p, &j);
    }
}

/* The result for the names that a rule chooses. */
struct chosen {
    size_t matched;
    bool gave_up;
};

static void judge_op_if(struct tg_eval_state *e, const struct tg_rule_scope *s,
                        const struct tg_rule *rule, const struct tg_op *op, struct chosen *out)
{
    switch (tg_select_op(&rule->match, op)) {
    case TG_HIT_YES:
        out->matched++;
        judge_op(e, s, rule, op);
        break;
    case TG_HIT_GAVE_UP:
        out->gave_up = true;
        break;
    case TG_HIT_NO:
        break;
    }
}

/* What a bound says of the fresh side alone. Added and removed are so of the other side. */
static bool is_of_test_alone(const struct tg_rule *rule)
{
    return only_budgets(rule) && rule->metric != TG_METRIC_ADDED &&
           rule->metric != TG_METRIC_REMOVED;
}

/*
 * Are the totals by Python frame there that the rule asks for? A side that was stored or recorded
 * without them must not look like a program without modules: that is never optional. A budget asks
 * the fresh side alone.
 */
static bool has_frames(struct tg_eval_state *e, const struct tg_rule_scope *s,
                       const struct tg_rule *rule)
{
    static const struct {
        const char *not_stored, *next, *not_recorded;
    } texts[] = {
        [TG_BASE] = { "not in this baseline: totals by Python frame were not taken",
                      "Record the baseline again with this policy, or with summarize --stacks.",
                      "not in every trace of the baseline: recorded without Python stacks, unlike "
                      "the fresh ones" },
        [TG_TEST] = { "not in this summary: totals by Python frame were not taken",
                      "Summarise with --stacks, or name the traces themselves.",
                      "not in every fresh trace: recorded without Python stacks, unlike the "
                      "baseline" },
    };
    int side = lacks_frames(s, rule->match.kinds, TG_TEST) ? TG_TEST : TG_BASE;
    bool stored;
    if (!lacks_frames(s, rule->match.kinds, side) || (side == TG_BASE && is_of_test_alone(rule)))
        return true;
    stored = !(tg_frame_sorts(rule->match.kinds) & ~s->c->frame_sorts[side]);
    tg_eval_message(
        tg_eval_add(e, rule), TG_STATE_INCONCLUSIVE, TG_SV("(no totals)"), TG_SV("guard"),
        tg_sv_of(stored ? texts[side].not_recorded : texts[side].not_stored),
        stored ? TG_SV("Record both sides with with_stack=True.") : tg_sv_of(texts[side].next));
    return false;
}

static tg_sv no_match_next(const struct tg_rule *rule)
{
    return rule->match.kinds & TG_FRAME_KINDS
               ? TG_SV("Record with with_stack=True; `tracegate analyze --measure modules` shows "
                       "the names; or mark the rule optional.")
               : TG_SV("Check the pattern with `tracegate names`, or mark the rule optional.");
}

static bool judge_ops(struct tg_eval_state *e, const struct tg_rule_scope *s,
                      const struct tg_rule *rule)
{
    struct chosen found = { 0 };
    bool frames = has_frames(e, s, rule);
    size_t before = e->n;
    for (size_t i = 0; i < s->c->n_ops; i++)
        judge_op_if(e, s, rule, &s->c->ops[i], &found);
    for (size_t i = 0; frames && i < s->c->n_frames; i++)
        if (s->c->frames[i].launched == tg_metric_of_launched(rule->metric))
            judge_op_if(e, s, rule, &s->c->frames[i], &found);
    if (found.gave_up)
        tg_eval_message(
            tg_eval_add(e, rule), TG_STATE_INCONCLUSIVE, TG_SV("(pattern)"), TG_SV("guard"),
            TG_SV("a regular expression gave up on a name: its budget of steps is used up"),
            TG_SV("Write a simpler pattern; nested repeats are the usual cause."));
    if (found.matched && e->n == before)
        tg_eval_message(tg_eval_add(e, rule),
                        rule->optional ? TG_STATE_SKIP : TG_STATE_INCONCLUSIVE, TG_SV("(no value)"),
                        TG_SV("guard"),
                        TG_SV("no matching name has what this metric needs, on both sides"),
                        TG_SV("Record what docs/metrics.md names for it, or mark the rule "
                              "optional."));
    if (!found.matched && !found.gave_up && frames)
        tg_eval_message(tg_eval_add(e, rule),
                        rule->optional ? TG_STATE_SKIP : TG_STATE_INCONCLUSIVE, TG_SV("(no match)"),
                        TG_SV("guard"), TG_SV("the rule matches no name in either trace"),
                        no_match_next(rule));
    return true;
}

static bool judge_scope(struct tg_eval_state *e, const struct tg_rule_scope *s,
                        const struct tg_rule *rule)
{
    if (tg_metric_info(rule->metric)->scope == TG_SCOPE_NAME)
        return judge_ops(e, s, rule);
    judge_measure(e, s, rule);
    if (rule->metric == TG_METRIC_STEP_TIME && !only_budgets(rule))
        judge_gaps(e, s, rule);
    if (rule->metric == TG_METRIC_STEP_TIME && !only_budgets(rule))
        judge_regions(e, s, rule);
    return true;
}

static bool has_rank(const struct tg_side *side, int64_t rank)
{
    for (size_t i = 0; i < side->n_ranks; i++)
        if (side->ranks[i] == rank)
            return true;
    return false;
}

static bool is_left_out(const struct tg_comparison *c, int64_t rank)
{
    for (size_t i = 0; i < c->n_left_out; i++)
        if (c->left_out[i] == rank)
            return true;
    return false;
}

static void no_trace_of_rank(struct tg_eval_state *e, const struct tg_rule *rule, int64_t rank,
                             const char *side)
{
    if (is_left_out(e->in->comparison, rank)) {
        tg_eval_message(tg_eval_add(e, rule), TG_STATE_INCONCLUSIVE,
                        tg_sv_of(tg_arena_printf(e->arena, "(rank %lld)", (long long)rank)),
                        TG_SV("guard"),
                        TG_SV("the stored side holds no more than the step times of this rank"),
                        TG_SV("What is stored of a run has a limit: name a rank that `tracegate "
                              "baseline show` lists as whole, or record fewer steps."));
        return;
    }
    tg_eval_message(tg_eval_add(e, rule), TG_STATE_INCONCLUSIVE,
                    tg_sv_of(tg_arena_printf(e->arena, "(rank %lld)", (long long)rank)),
                    TG_SV("guard"),
                    tg_sv_of(tg_arena_printf(e->arena, "the %s has no trace of this rank", side)),
                    TG_SV("Record every rank on both sides."));
}

static bool judge_rank(struct tg_eval_state *e, const struct tg_rule *rule, int64_t rank)
{
    struct tg_part part = { rank, &rule->match.devices, &rule->match.streams };
    struct tg_rule_scope s = { NULL, rank };
    s.c = e->in->of_part(e->in->arg, &part, e->err);
    return s.c && judge_scope(e, &s, rule);
}

static bool lacks_rank(const struct tg_comparison *c, int side, int64_t rank)
{
    for (size_t i = 0; i < c->n_lacking[side]; i++)
        if (c->lacking[side][i] == rank)
            return true;
    return false;
}

/*
 * Ranks that the rule names and that are not compared are reported: an empty choice is not a pass.
 * For `each` the verdict's notes report them.
 */
static void tell_missing_ranks(struct tg_eval_state *e, const struct tg_rule *rule)
{
    const struct tg_comparison *c = e->in->comparison;
    const struct tg_ints *list = &rule->match.ranks;
    for (size_t i = 0; rule->match.rank == TG_MATCH_RANK_LIST && i < list->n; i++)
        if (!has_rank(&c->side[TG_TEST], list->v[i]))
            no_trace_of_rank(e, rule, list->v[i],
                             lacks_rank(c, TG_BASE, list->v[i]) &&
                                     !lacks_rank(c, TG_TEST, list->v[i])
                                 ? "baseline"
                                 : "fresh side");
}

static bool has_limit(const struct tg_rule *rule)
{
    bool any = rule->warn.state == TG_LIMIT_ON || rule->fail.state == TG_LIMIT_ON;
    for (size_t i = 0; i < rule->n_overrides; i++)
        any |= rule->overrides[i].warn.state == TG_LIMIT_ON ||
               rule->overrides[i].fail.state == TG_LIMIT_ON;
    return any;
}

/*
 * The slowest rank: of measures the worst rank of either side, which the comparison of all knows;
 * of names the rank whose steps take longest in the fresh traces, against itself in the baseline.
 */
static bool judge(struct tg_eval_state *e, const struct tg_rule *rule)
{
    const struct tg_comparison *all = e->in->comparison;
    const struct tg_match *m = &rule->match;
    bool each =
        m->rank == TG_MATCH_RANK_EACH &&
        (all->n_ranks[TG_TEST] > 1 || all->n_brought[TG_BASE] > 1 || all->n_brought[TG_TEST] > 1);
    bool of_name = tg_metric_info(rule->metric)->scope == TG_SCOPE_NAME;
    if (!tg_select_rule(e, &rule->when)) {
        tg_eval_message(tg_eval_add(e, rule), TG_STATE_SKIP, TG_SV("(when)"), TG_SV("guard"),
                        TG_SV("the rule does not apply to this event, branch or device"),
                        TG_SV(""));
        return true;
    }
    if (!has_limit(rule)) {
        tg_eval_message(
            tg_eval_add(e, rule), rule->optional ? TG_STATE_SKIP : TG_STATE_INCONCLUSIVE,
            TG_SV("(no limit)"), TG_SV("guard"), TG_SV("every limit of the rule is off"),
            TG_SV("Set `warn` or `fail`, or remove the rule: `rules: {remove: [id]}`."));
        return true;
    }
    if (m->rank == TG_MATCH_RANK_SLOWEST && of_name && all->n_ranks[TG_TEST] > 1)
        return judge_rank(e, rule, all->slowest_rank);
    if (!each && m->rank != TG_MATCH_RANK_LIST) {
        if (m->devices.n || m->streams.n)
            return judge_rank(e, rule, -1);
        return judge_scope(e, &(struct tg_rule_scope){ all, -1 }, rule);
    }
    tell_missing_ranks(e, rule);
    for (size_t i = 0; i < all->n_ranks[TG_TEST]; i++) {
        int64_t rank = all->side[TG_TEST].ranks[i];
        if (m->rank == TG_MATCH_RANK_LIST && !has_number(&m->ranks, rank))
            continue;
        if (!has_rank(&all->side[TG_BASE], rank)) { /* one a side, and another one */
            no_trace_of_rank(e, rule, rank, "baseline");
            continue;
        }
        if (!judge_rank(e, rule, rank))
            return false;
    }
    return true;
}

/* What came of a rule's results. */
struct tally {
    size_t spoke;       /* results that say something, or want more runs */
    size_t off, silent; /* switched off; without evidence */
    const char *why;
};

static struct tally tally_of(const struct tg_result *v, size_t n)
{
    struct tally t = { 0 };
    for (size_t i = 0; i < n; i++) {
        bool quiet = v[i].state == TG_STATE_PASS || v[i].state == TG_STATE_SKIP ||
                     v[i].state == TG_STATE_NOT_JUDGED;
        if (!quiet || v[i].grounds != TG_GROUNDS_NONE || v[i].few_runs) {
            t.spoke++;
        } else if (v[i].why_not) {
            t.off += v[i].switched_off;
            t.silent += !v[i].switched_off;
            t.why = v[i].why_not;
        }
    }
    return t;
}

/*
 * What was not judged is never green. A rule that found something and judged none of it is
 * inconclusive: without evidence unless it is optional, and in any case where the policy itself
 * leaves out all that it matches. A rule that found nothing has said so already.
 */
static void close_rule(struct tg_eval_state *e, const struct tg_rule *rule, size_t first)
{
    struct tally t = tally_of(e->results + first, e->n - first);
    if (t.spoke || !(t.off + t.silent) || (t.silent && rule->optional))
        return;
    tg_eval_message(
        tg_eval_add(e, rule), TG_STATE_INCONCLUSIVE, TG_SV("(nothing judged)"), TG_SV("guard"),
        tg_sv_of(tg_arena_printf(e->arena, "nothing that the rule matches was judged: %s", t.why)),
        t.silent
            ? TG_SV("The rows that are not judged say why; `optional: true` makes this a note.")
            : TG_SV("Narrow the override or `noise.ignore`, or remove the rule."));
}

bool tg_rule_judge(struct tg_eval_state *e, const struct tg_rule *rule)
{
    size_t first = e->n;
    if (!judge(e, rule))
        return false;
    close_rule(e, rule, first);
    return true;
}
