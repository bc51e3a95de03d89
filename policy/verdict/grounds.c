/*
 * What a judgement rests on, and when there is nothing to rest on: exceptions of the rule, runs too
 * few, another device, names or Python rows that a side lacks.
 */
#include "policy/language/limit.h"
#include "policy/verdict/internal.h"

static bool about_presence(enum tg_rule_metric m)
{
    return m == TG_RULE_METRIC_COUNT || m == TG_RULE_METRIC_ADDED || m == TG_RULE_METRIC_REMOVED;
}

/* What the rule's exceptions make of a judgement: fail becomes warn, or pass if it costs nothing or is
 * repaid; polling is not judged. */
static void except(struct tg_judgement *j, const struct tg_rule *rule, const struct tg_op *op)
{
    enum tg_exception x = about_presence(rule->metric)           ? tg_op_exception(op)
                          : rule->metric == TG_RULE_METRIC_BYTES ? tg_op_bytes_exception(op)
                                                                 : TG_EXCEPTION_NONE;
    enum tg_reason why = (enum tg_reason)x;
    bool fails = j->state == TG_STATE_FAIL;
    if (!(rule->exceptions & 1u << x))
        return;
    if (x == TG_EXCEPTION_POLLING &&
        (op->count[TG_BASE] > 0 || (!fails && j->state != TG_STATE_WARN)))
        *j = (struct tg_judgement){ .state = TG_STATE_SKIP,
                                    .why_not = "a polling call: its number is random",
                                    .reason = why };
    else if (x == TG_EXCEPTION_POLLING) /* its number is random, that it polls is not */
        tg_soften(j, why, TG_STATE_WARN);
    else if (x == TG_EXCEPTION_REPLACED && op->choice &&
             (fails || j->reason == TG_REASON_SOME_CALLS))
        tg_soften(j, why, TG_STATE_PASS); /* its operator tells */
    else if (fails && (op->repaid || (x == TG_EXCEPTION_SMALL && op->slight == TG_SLIGHT_FREE)))
        tg_soften(j, why, TG_STATE_PASS);
    else if (fails)
        tg_soften(j, why, TG_STATE_WARN);
}

/* What a result's state rests on. A duration that is too small to matter was looked at. */
static enum tg_grounds grounds_of(const struct tg_judgement *j, const struct tg_probe *p,
                                  bool budgets)
{
    bool looked_at = !p->ev || p->ev->judged == TG_JUDGED || p->ev->judged == TG_NOT_TOO_SMALL;
    if (j->state == TG_STATE_NOT_JUDGED || j->state == TG_STATE_SKIP)
        return TG_GROUNDS_NONE;
    if (budgets)
        return TG_GROUNDS_BUDGET;
    if (p->exact)
        return p->unit == TG_UNIT_COUNT ? TG_GROUNDS_COUNT : TG_GROUNDS_ATTR;
    return looked_at || p->test_kind == TG_NOISE_NONE ? TG_GROUNDS_RUNS : TG_GROUNDS_NONE;
}

void tg_grounds_set(struct tg_result *r, const struct tg_rule_limits *l, const struct tg_probe *p,
                    const struct tg_judgement *j)
{
    r->grounds = grounds_of(j, p, tg_limit_lists_are_budgets(&l->warn, &l->fail));
    r->why_not = r->grounds == TG_GROUNDS_NONE ? j->why_not : NULL;
    r->few_runs = r->why_not && p->ev && p->ev->judged == TG_NOT_FEW_RUNS;
    r->because =
        j->reason || j->state == TG_STATE_PASS ? tg_reason_id(j->reason) : TG_BECAUSE_LIMIT;
    r->needs_runs = !p->exact && p->ev && p->ev->judged == TG_NOT_FEW_RUNS ? p->min_runs : 0;
}

/* Has the baseline one number in all its steps, so that any other one is new? */
static bool is_steady(enum tg_count_shape s)
{
    return s != TG_COUNT_VARIES && s != TG_COUNT_BREAKS;
}

/*
 * Calls that came in some steps or runs only, where chance is possible: what would fail or warn if
 * every step were like the one with most of them, warns. Never "no change": something did change. It
 * fails if its mean exceeds a failing limit, unless the rule excepts chance.
 */
static void ask_most(struct tg_judgement *j, const struct tg_op *op, const struct tg_rule *rule,
                     const struct tg_probe *p, const struct tg_rule_limits *l)
{
    const struct tg_count_evidence *ev =
        rule->metric == TG_RULE_METRIC_BYTES ? &op->moved : &op->counted;
    struct tg_probe most = *p, mean = *p;
    struct tg_judgement then;
    if ((rule->metric != TG_RULE_METRIC_COUNT && rule->metric != TG_RULE_METRIC_BYTES) ||
        ev->proof != TG_COUNT_HINT || j->state != TG_STATE_PASS)
        return;
    most.test = ev->most;
    most.unchanged = mean.unchanged = false;
    then = tg_judge(&most, &l->warn, &l->fail);
    if (then.state != TG_STATE_FAIL && then.state != TG_STATE_WARN)
        return;
    *j = then;
    if (rule->exceptions & 1u << TG_EXCEPTION_CHANCE || !is_steady(ev->shape) ||
        tg_judge(&mean, &l->warn, &l->fail).state != TG_STATE_FAIL)
        tg_soften(j, TG_REASON_SOME_CALLS, TG_STATE_WARN);
}

void tg_grounds_soften(struct tg_judgement *j, const struct tg_op *op, const struct tg_rule *rule,
                       const struct tg_probe *p, const struct tg_rule_limits *l)
{
    ask_most(j, op, rule, p, l);
    except(j, rule, op);
    if (op->repaid && !p->exact && j->state == TG_STATE_FAIL && !tg_limit_is_budget(j->limit))
        tg_soften(j, TG_REASON_REPAID, TG_STATE_WARN);
}

/* noise.min_steps: too few steps sharpen a run's value too little. */
const char *tg_grounds_few_steps(const struct tg_rule_scope *s, const struct tg_noise *noise)
{
    size_t least = s->c->n_steps[TG_BASE] < s->c->n_steps[TG_TEST] ? s->c->n_steps[TG_BASE]
                                                                   : s->c->n_steps[TG_TEST];
    return noise->min_steps > 0 && least < (size_t)noise->min_steps
               ? "fewer steps a run than noise.min_steps asks for"
               : NULL;
}

/*
 * The evidence is computed whatever the number of runs, so a rule may ask for more of them than the
 * policy does, or for fewer. The result keeps what the rule makes of it.
 */
static void judge_by_own_runs(struct tg_probe *p, bool enough, struct tg_arena *arena)
{
    enum tg_judged judged = p->ev->judged;
    struct tg_evidence *own;

    if (judged != (enough ? TG_NOT_FEW_RUNS : TG_JUDGED))
        return;
    own = TG_NEW(arena, struct tg_evidence);
    *own = *p->ev;
    own->judged = enough ? TG_JUDGED : TG_NOT_FEW_RUNS;
    own->suspicious = enough ? own->suspicious : own->slower;
    p->ev = own;
}

void tg_grounds_ask_runs(struct tg_probe *p, const struct tg_noise *noise,
                         const struct tg_policy *policy, const struct tg_comparison *c,
                         struct tg_arena *arena)
{
    size_t base = c->n_runs[TG_BASE], test = c->n_runs[TG_TEST];

    p->min_runs = noise->min_runs;
    if (!p->ev)
        return;
    if (noise->min_runs != policy->noise.min_runs)
        judge_by_own_runs(p, (base < test ? base : test) >= (size_t)noise->min_runs, arena);
    if (p->ev->judged == TG_NOT_FEW_RUNS)
        p->few_runs = tg_few_runs_text(noise->min_runs, arena);
}

static const char *differs_text(const struct tg_rule_scope *s, struct tg_arena *a)
{
    return s->c->only_device_differs
               ? "the two sides ran on different devices"
               : tg_arena_printf(a, "the two sides differ in %.*s", TG_SV_ARG(s->c->differs));
}

/*
 * Another device chooses other kernels, and everything takes another time there. What the program
 * asks for stays: operators, copies, sets, synchronisations and graph launches, their number and
 * bytes. NULL: comparable.
 */
const char *tg_grounds_op_differs(const struct tg_rule_scope *s, const struct tg_op *op,
                                  const struct tg_probe *p, struct tg_arena *a)
{
    bool device = tg_kind_is_device(op->kind) || op->launched;
    if (s->c->same_device || !device || (p->exact && op->kind != TG_KIND_KERNEL && !op->launched))
        return NULL;
    return differs_text(s, a);
}

const char *tg_grounds_metric_differs(const struct tg_rule_scope *s, const struct tg_rule *rule,
                                      struct tg_arena *a)
{
    enum tg_metric id;
    bool depends = !tg_rule_metric_info(rule->metric)->exact ||
                   (tg_rule_metric_of_trace(rule->metric, &id) && tg_metric_info(id)->of_device);
    return s->c->same_device || !depends ? NULL : differs_text(s, a);
}

/* Does a side lack totals by Python frame that rules about these kinds need? */
bool tg_grounds_lacks_frames(const struct tg_rule_scope *s, uint32_t kinds, int side)
{
    return tg_frame_sorts(kinds) & (~s->c->frame_sorts[side] | s->c->frames_lack[side]);
}
