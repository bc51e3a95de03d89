/*
 * The one judge. A rule asks about quantities; the row of each is decided here, and its state is
 * written once:
 *
 *     measure   its two values, and the evidence for a change of them (probe.c)
 *     needs     what must hold so that it can be judged: what lacks ends it
 *     again     in stages, what looks slower is what new runs make of it (core/diff/confirm.h)
 *     limits    size first, evidence second (judge.c)
 *     reasons   what explains a failure: the first of them softens it
 */
#include <math.h>

#include "core/base/utf8.h"
#include "core/diff/confirm.h"
#include "policy/language/limit.h"
#include "policy/verdict/internal.h"

static bool is_budget(const struct tg_judging *w)
{
    return w->j.limit ? tg_limit_is_budget(w->j.limit)
                      : tg_limit_lists_are_budgets(&w->l.warn, &w->l.fail);
}

/* ---- measure ---- */

bool tg_judging_measure(struct tg_judging *w, const struct tg_rule *rule,
                        const struct tg_quantity *x, const struct tg_policy *policy,
                        const struct tg_comparison *c, struct tg_arena *a)
{
    bool overridden = x->kind == TG_QUANTITY_OP || x->kind == TG_QUANTITY_CHOICE;
    *w = (struct tg_judging){ .rule = rule, .x = *x, .seen = x->op };
    w->l = tg_select_limits(rule, overridden ? x->op : NULL);
    if (!tg_probe(&w->p, w, c, TG_ESTIMATE_LEAST))
        return false;
    /* The evidence is computed whatever the number of runs, so a rule may ask for more of them than
     * the policy does, or for fewer. The row keeps what the rule makes of it. */
    const size_t *n = x->kind == TG_QUANTITY_NUMBER ? x->number->n_runs : c->n_runs;
    size_t runs = n[TG_BASE] < n[TG_TEST] ? n[TG_BASE] : n[TG_TEST];
    bool enough = runs >= (size_t)w->l.noise->min_runs;
    struct tg_probe *p = &w->p;
    p->min_runs = w->l.noise->min_runs;
    if (p->ev && p->min_runs != policy->noise.min_runs &&
        p->ev->why_not == (enough ? TG_NOT_FEW_RUNS : TG_JUDGED)) {
        struct tg_evidence *own = tg_arena_copy(a, p->ev, 1, sizeof *own);
        own->why_not = enough ? TG_JUDGED : TG_NOT_FEW_RUNS;
        own->suspicious = enough ? own->suspicious : own->slower;
        p->ev = own;
    }
    if (p->ev && p->ev->why_not == TG_NOT_FEW_RUNS)
        p->few_runs = tg_few_runs_text(p->min_runs, a);
    return true;
}

/* ---- needs ---- */

static void find_lack(const struct tg_eval_state *e, struct tg_judging *w)
{
    const size_t *n = e->c->n_steps;
    const struct tg_op *op = w->x.op;
    enum tg_metric id;
    /* Another device chooses other kernels, and everything takes another time there. What the
     * program asks for stays: operators, copies, sets, synchronisations and graph launches, their
     * number and bytes. Other evidence says so itself. */
    bool of_device = w->x.kind == TG_QUANTITY_OP && (op->launched || op->kind == TG_KIND_KERNEL ||
                                                     (tg_kind_is_device(op->kind) && !w->p.exact));
    if (w->x.kind == TG_QUANTITY_TRACE)
        of_device = !w->p.exact || (tg_rule_metric_of_trace(w->rule->metric, &id) &&
                                    tg_metric_info(id)->of_device);
    if (!tg_same_device(e->c) && of_device) {
        w->p.lacks = TG_REASON_DEVICE;
        w->p.incomparable = tg_sv_eq(e->c->differs, TG_SV("device"))
                                ? "the two sides ran on different devices"
                                : tg_arena_printf(e->arena, "the two sides differ in %.*s",
                                                  TG_SV_ARG(e->c->differs));
    } else if (!w->p.exact && w->x.kind != TG_QUANTITY_NUMBER &&
               w->l.noise->min_steps >
                   (int64_t)(n[TG_BASE] < n[TG_TEST] ? n[TG_BASE] : n[TG_TEST])) {
        w->p.lacks = TG_NEED_STEPS; /* too few sharpen a run's value too little */
        w->p.incomparable = "fewer steps a run than noise.min_steps asks for";
    }
}

/* A side does not have it: nothing to compare, and no pass. */
static void say_missing(struct tg_eval_state *e, const struct tg_judging *w)
{
    const struct tg_number_change *x = w->x.number;
    struct tg_result *r = tg_eval_add(e, w->rule);
    enum tg_state state = w->rule->unjudged_note ? TG_STATE_WARN : TG_STATE_INCONCLUSIVE;
    r->metric = w->rule->metric;
    r->unit_id = w->p.unit;
    if (w->x.kind == TG_QUANTITY_OP)
        tg_eval_message(
            r, state, TG_SUBJECT_GUARD, TG_NEED_BYTES, w->x.op->name,
            TG_SV("the fresh traces do not say how many bytes, the baseline did"),
            TG_SV("Record both sides with the same version of PyTorch and the driver."));
    else if (x)
        tg_eval_message(
            r, state, TG_SUBJECT_NUMBER, TG_NEED_METRIC, x->name,
            TG_SV_PRINTF(e->arena, "%s has no such number%s%.*s",
                         x->n_runs[TG_BASE] ? "the fresh side" : "the baseline",
                         x->unit.n ? " in " : "", TG_SV_ARG(x->unit)),
            TG_SV("Give both sides the benchmark's results, as docs/numbers.md shows."));
    else
        tg_eval_message(
            r, w->rule->optional ? TG_STATE_SKIP : TG_STATE_INCONCLUSIVE, TG_SUBJECT_TRACE,
            TG_NEED_METRIC, tg_sv_of(tg_rule_metric_info(w->rule->metric)->name),
            TG_SV("the traces lack what this metric needs"),
            TG_SV("Record what docs/metrics.md names for it, or mark the rule optional."));
}

/* ---- again ---- */

/* Of a name, or of the step's gaps, a low bar suspects; of what adds up many names only what one
 * look proves. */
static bool is_suspect(const struct tg_judging *w, const struct tg_comparison *c)
{
    static const struct tg_limit_list none = { 0 };
    const struct tg_asking *asking = c->asking;
    const struct tg_evidence *alike = w->x.kind == TG_QUANTITY_OP ? w->x.op->alike : NULL;
    struct tg_evidence confirmed;
    struct tg_probe then = w->p;
    bool name = w->x.kind == TG_QUANTITY_OP || w->x.kind == TG_QUANTITY_CHOICE ||
                (w->x.kind == TG_QUANTITY_GAP && w->x.op->kind == TG_KIND_STEP);
    then.ev = &confirmed; /* as it looks now: would the rule fail? */
    return asking && !asking->early && w->x.kind != TG_QUANTITY_NUMBER && !w->p.exact && w->p.ev &&
           !w->p.incomparable && w->p.noise_test != TG_NOISE_NONE &&
           w->l.fail.state == TG_LIMIT_ON && !tg_limit_lists_are_budgets(&w->l.warn, &w->l.fail) &&
           (!alike || tg_confirm_suspects(alike, c->step_ns, asking->detect, &confirmed)) &&
           tg_confirm_suspects(w->p.ev, name ? c->step_ns : NULL, asking->detect, &confirmed) &&
           tg_judge(&then, &none, &w->l.fail).state == TG_STATE_FAIL;
}

/* A time that looks slower, and by which the rule would fail, is what the new runs make of it;
 * until these tell, or if they lack it, it is open. */
static void ask_again(const struct tg_eval_state *e, struct tg_judging *w, enum tg_estimate by)
{
    const struct tg_comparison *again = e->c->asking ? e->c->asking->again : NULL;
    if (!is_suspect(w, e->c)) {
        /* Of a device that was not settled in the first look, and is in the new runs: what does not
         * look slower even by a low bar is judged. A look at a device that changes proves
         * nothing. */
        if (!again || again->warming != 0 || !w->p.ev || w->p.ev->why_not != TG_NOT_WARM)
            return;
        struct tg_evidence *ev = tg_arena_copy(e->arena, w->p.ev, 1, sizeof *ev);
        ev->why_not = TG_JUDGED;
        ev->proven = ev->slower = false;
        w->p.ev = ev;
        return;
    }
    struct tg_judging there = *w;
    bool known = again && tg_quantity_find(&there.x, again) &&
                 tg_probe(&there.p, &there, again, by) && there.p.known[TG_BASE] &&
                 there.p.known[TG_TEST];
    struct tg_evidence *ev = tg_arena_copy(e->arena, w->p.ev, 1, sizeof *ev);
    tg_confirm_set(ev, known ? there.p.ev : NULL, e->c->asking);
    if (known && there.p.ev && tg_confirm_tells(there.p.ev)) {
        /* What is red by its shift is shown by it. */
        w->p.base = there.p.base;
        w->p.test = there.p.test * exp(ev->e - there.p.ev->e);
        w->seen = there.x.op;
        w->p.per = there.p.per;
        w->p.whole = there.p.whole;
        w->p.step_ns = there.p.step_ns;
    }
    w->p.ev = ev;
}

/* ---- limits ---- */

/* Calls that came in some steps or runs only, where chance is possible: what would fail or warn
 * if every step were like the one with most of them, warns. Never "no change": something did
 * change. It fails if its mean exceeds a failing limit, unless the rule excepts chance. */
static void judge_most(struct tg_judging *w)
{
    enum tg_rule_metric m = w->rule->metric;
    if (w->x.kind != TG_QUANTITY_OP || w->j.state != TG_STATE_PASS ||
        (m != TG_RULE_METRIC_COUNT && m != TG_RULE_METRIC_BYTES))
        return;
    const struct tg_count_evidence *ev =
        m == TG_RULE_METRIC_BYTES ? &w->x.op->moved : &w->x.op->counted;
    if (ev->proof != TG_COUNT_HINT)
        return;
    struct tg_judging most = *w, mean = *w;
    most.p.test = ev->most;
    most.p.unchanged = mean.p.unchanged = false;
    most.j = tg_judge(&most.p, &most.l.warn, &most.l.fail);
    mean.j = tg_judge(&mean.p, &mean.l.warn, &mean.l.fail);
    if (most.j.state < TG_STATE_WARN)
        return;
    w->j = most.j;
    if (w->rule->exceptions & 1u << TG_EXCEPTION_CHANCE || ev->shape == TG_COUNT_VARIES ||
        mean.j.state != TG_STATE_FAIL)
        tg_soften(&w->j, TG_REASON_SOME_CALLS, TG_STATE_WARN);
}

/* ---- reasons ---- */

/* Gaps, and the sum of operators and gaps, also grow where operators leave the marker's thread,
 * or the marker its place; and where the host waits for the device less, since it comes later.
 * Then the step is as long as before, beyond the doubt of its runs,
 * and no operator is shorter instead. */
static bool is_as_long(const struct tg_comparison *c, const struct tg_judging *w)
{
    const struct tg_metric_change *step = &c->metrics[TG_METRIC_HOST_TIME];
    double longer = step->ev.value[TG_BASE] * expm1(step->ev.e + TG_TWICE * step->ev.se);
    bool gaps = w->x.kind == TG_QUANTITY_GAP && w->x.op->kind == TG_KIND_STEP;
    bool whole = w->x.kind == TG_QUANTITY_TRACE && w->rule->metric == TG_RULE_METRIC_STEP_TIME &&
                 c->step.ev_total.why_not == TG_JUDGED;
    if (!(gaps || whole) || is_budget(w) || !step->known[TG_BASE])
        return false;
    const double *wall = c->metrics[TG_METRIC_STEP_TIME].value, *window = step->value;
    if (whole) /* between the steps, too */
        longer += (wall[TG_TEST] - window[TG_TEST]) - (wall[TG_BASE] - window[TG_BASE]);
    /* ns that operators lost, but by what went outside the steps. What device work saves would have
     * ended the waits sooner: it is a saving in another place, too. */
    double device = 0, waits = 0, operators = 0;
    TG_EACH(const struct tg_op, op, c->ops, c->n_ops) {
        double less = op->self[TG_BASE] - op->self[TG_TEST];
        if (tg_kind_is_device(op->kind))
            device += less;
        if (tg_kind_is_device(op->kind) || !tg_kind_nests(op->kind) || op->kind == TG_KIND_STEP)
            continue;
        /* The part that went out of the calls that the fresh side's step lacks. */
        double more = tg_outside_calls(c, op, TG_TEST) - tg_outside_calls(c, op, TG_BASE);
        double lacks = tg_inside_calls(c, op, TG_BASE) - tg_inside_calls(c, op, TG_TEST);
        double went = lacks > 0 ? fmin(fmax(more, 0) / lacks, 1) : 0;
        *(op->wait ? &waits : &operators) += less * (1 - went);
    }
    double saved = fmax(operators, 0) + fmin(fmax(device, 0), fmax(waits, 0));
    return fmax(longer, 0) + saved < TG_HALF * w->p.ev->delta_ns;
}

/* Communication takes no longer, and less hides it: the step, or the computation, takes less. */
static bool is_hidden_less(const struct tg_comparison *c, const struct tg_judging *w)
{
    const struct tg_metric_change *work = &c->metrics[TG_METRIC_COMPUTE_TIME];
    const struct tg_evidence *comm = &c->metrics[TG_METRIC_COMM_TIME].ev;
    bool asked = w->x.kind == TG_QUANTITY_TRACE && !is_budget(w) &&
                 w->rule->metric == tg_rule_metric_of(TG_METRIC_COMM_EXPOSED);
    return asked && comm->why_not == TG_JUDGED && !comm->slower &&
           (c->metrics[TG_METRIC_STEP_TIME].ev.less ||
            (work->ev.less && -work->ev.delta_ns >= w->p.test - w->p.base));
}

/* The exception of the rule that holds, as a reason. */
static enum tg_reason exception_of(const struct tg_judging *w)
{
    enum tg_rule_metric m = w->rule->metric;
    enum tg_exception x = TG_EXCEPTION_NONE;
    if (w->x.kind != TG_QUANTITY_OP)
        return TG_REASON_NONE;
    if (m == TG_RULE_METRIC_COUNT || m == TG_RULE_METRIC_ADDED || m == TG_RULE_METRIC_REMOVED)
        x = tg_op_exception(w->x.op);
    else if (m == TG_RULE_METRIC_BYTES)
        x = tg_op_bytes_exception(w->x.op);
    return w->rule->exceptions & 1u << x ? (enum tg_reason)x : TG_REASON_NONE;
}

static void soften(const struct tg_eval_state *e, struct tg_judging *w)
{
    const struct tg_op *op = w->x.op;
    enum tg_reason x = exception_of(w);
    bool fails = w->j.state == TG_STATE_FAIL, measured = !w->p.exact && !is_budget(w);
    bool noisy = measured && w->p.noise_test != TG_NOISE_NONE;
    /* Times that are not judged let nothing pass. */
    bool few = e->c->n_runs[TG_BASE] < TG_FEWEST_RUNS || e->c->n_runs[TG_TEST] < TG_FEWEST_RUNS;
    bool repaid = (w->x.kind == TG_QUANTITY_OP || w->x.kind == TG_QUANTITY_GAP) && op->repaid;
    /* The device's part of a step that takes less. */
    repaid |= w->x.kind == TG_QUANTITY_TRACE &&
              w->rule->metric == tg_rule_metric_of(TG_METRIC_DEVICE_EXTENT) &&
              e->c->metrics[TG_METRIC_STEP_TIME].ev.less;
    const struct {
        bool holds;
        enum tg_reason why;
        enum tg_state to;
    } reasons[] = {
        { x == TG_REASON_POLLING, x, TG_STATE_WARN }, /* that it polls is not random */
        { x == TG_REASON_REPLACED && op->choice && (fails || w->j.reason == TG_REASON_SOME_CALLS),
          x, TG_STATE_PASS }, /* its operator tells */
        { x && fails &&
              ((repaid && !few) || (x == TG_REASON_SMALL && op->slight == TG_SLIGHT_FREE)),
          x, TG_STATE_PASS },
        { x && fails, x, TG_STATE_WARN },
        { (fails || w->j.reason == TG_REASON_STEADY) && w->x.kind == TG_QUANTITY_OP && w->p.ev &&
              noisy && w->seen->alike &&
              !(w->seen->alike->proven && w->seen->alike->e >= TG_HALF * w->p.ev->e),
          TG_REASON_OVERLAP, TG_STATE_WARN },
        { fails && repaid && measured, TG_REASON_REPAID, TG_STATE_WARN },
        /* who asks for a flat limit means it with the wait */
        { fails && op && tg_op_is_collective(op) && noisy && !e->c->all_ranks, TG_REASON_RANKS,
          TG_STATE_WARN },
        { fails && is_as_long(e->c, w), TG_REASON_AS_LONG, TG_STATE_WARN },
        { w->j.state >= TG_STATE_WARN && is_hidden_less(e->c, w), TG_REASON_LESS_HIDDEN,
          fails ? TG_STATE_WARN : TG_STATE_PASS },
        { fails && w->x.kind != TG_QUANTITY_OP && measured && w->p.ev->fastest_alone,
          TG_REASON_FASTEST, TG_STATE_WARN },
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].holds) {
            tg_soften(&w->j, reasons[i].why, reasons[i].to);
            return;
        }
}

/* ---- the judge ---- */

static void judge(struct tg_eval_state *e, struct tg_judging *w)
{
    find_lack(e, w);
    if (w->l.warn.state != TG_LIMIT_ON && w->l.fail.state != TG_LIMIT_ON) {
        tg_lack(&w->j, TG_STATE_SKIP, TG_NEED_LIMIT, "the policy sets no limit for it");
        return;
    }
    ask_again(e, w, TG_ESTIMATE_LEAST);
    w->j = tg_judge(&w->p, &w->l.warn, &w->l.fail);
    /* A limit with a size of its own is about what its metric says, the mean over all steps: what
     * the least of the steps does not show is looked for in the mean, too: of times, which alone
     * have it. The worse answer holds, and its values are shown. */
    struct tg_judging mean = *w;
    if (w->p.ev && w->p.ev->why_not == TG_JUDGED && w->p.noise_test != TG_NOISE_NONE &&
        !w->p.incomparable && tg_limit_lists_have_size(&w->l.warn, &w->l.fail) &&
        tg_probe(&mean.p, w, e->c, TG_ESTIMATE_MEAN)) {
        mean.p.min_runs = w->p.min_runs;
        ask_again(e, &mean, TG_ESTIMATE_MEAN);
        mean.j = tg_judge(&mean.p, &mean.l.warn, &mean.l.fail);
        *w = mean.j.state > w->j.state ? mean : *w;
    }
    judge_most(w);
    /* A call of the runtime that polled before: its number is random. */
    if (exception_of(w) == TG_REASON_POLLING &&
        (w->x.op->count[TG_BASE] > 0 || w->j.state < TG_STATE_WARN)) {
        w->j.limit = NULL;
        tg_lack(&w->j, TG_STATE_SKIP, TG_REASON_POLLING, "a polling call: its number is random");
        return;
    }
    soften(e, w);
}

/* ---- the result ---- */

/* What a quantity is called, and its weight: ns per step that it is about, the order of reports. */
static void put_subject(struct tg_result *r, const struct tg_judging *w,
                        const struct tg_comparison *c)
{
    const struct tg_op *op = w->x.op;
    r->weight = fabs(r->delta);
    if (w->x.kind == TG_QUANTITY_TRACE) {
        r->subject = TG_SUBJECT_TRACE;
        r->op = r->op_normalised = r->plain = tg_result_metric(r);
        r->weight = w->p.unit == TG_UNIT_NS ? r->weight : 0;
        return;
    }
    if (w->x.kind == TG_QUANTITY_NUMBER) {
        r->subject = TG_SUBJECT_NUMBER;
        r->op = r->op_normalised = r->plain = w->x.number->name;
        r->unit = w->x.number->unit;
        r->weight = w->p.base > 0 ? fabs(r->delta / w->p.base) * c->step_ns[TG_BASE] : 0;
        return;
    }
    int side = op->present[TG_TEST] ? TG_TEST : TG_BASE;
    bool own = r->metric == TG_RULE_METRIC_SELF || w->x.kind == TG_QUANTITY_GAP;
    r->op = op->raw[side];
    r->op_normalised = r->plain = op->name;
    r->op_kind = op->kind;
    r->share =
        own && r->has_values && c->wall_ns[side] > 0 /* of the value that is shown beside it */
            ? (side == TG_TEST ? r->test : r->base) / c->wall_ns[side]
            : op->share[side];
    if (op->kind == TG_KIND_STEP && w->x.kind == TG_QUANTITY_GAP) {
        r->op = r->op_normalised = r->plain = TG_SV("ProfilerStep");
        r->subject = TG_SUBJECT_STEP;
    }
    if (w->x.kind != TG_QUANTITY_OP)
        return;
    /* A new operator leads what it calls. */
    const double *of = op->leads ? op->total : op->self;
    bool came = r->unit_id == TG_UNIT_COUNT && r->delta > 0 && op->count[TG_TEST] > 0;
    double weight = came ? of[TG_TEST] * fmin(r->delta / op->count[TG_TEST], 1) /* by the call */
                         : fabs(of[TG_TEST] - of[TG_BASE]);
    r->weight = isfinite(weight) ? weight : 0;
    r->op_at = (uint32_t)(op - c->ops);
    if (r->unit_id == TG_UNIT_COUNT)
        r->calling_op = op->calling_op;
    /* What polls by its name says nothing; another name that `noise.ignore` has is left out by
     * it. */
    r->switched_off = r->state == TG_STATE_SKIP && (w->j.reason != TG_REASON_POLLING ||
                                                    !tg_is_polling(op->raw[op->present[TG_TEST]]));
}

/* What the state rests on. */
static enum tg_grounds grounds_of(const struct tg_judging *w)
{
    const struct tg_probe *p = &w->p;
    if (w->j.state == TG_STATE_NOT_JUDGED || w->j.state == TG_STATE_SKIP)
        return TG_GROUNDS_NONE;
    if (tg_limit_lists_are_budgets(&w->l.warn, &w->l.fail))
        return TG_GROUNDS_BUDGET;
    if (p->exact)
        return p->unit == TG_UNIT_COUNT ? TG_GROUNDS_COUNT : TG_GROUNDS_ATTR;
    return !p->ev || p->ev->why_not == TG_JUDGED || p->noise_test == TG_NOISE_NONE
               ? TG_GROUNDS_RUNS
               : TG_GROUNDS_NONE;
}

static void put_text(struct tg_result *r, const struct tg_eval_state *e, struct tg_judging *w)
{
    if (e->in->alone)
        w->p.base = NAN; /* there is no former value to tell */
    const struct tg_op *op = w->x.kind == TG_QUANTITY_OP ? w->x.op : NULL;
    if (w->x.number) {
        struct tg_comparison own = { 0 }; /* numbers have runs of their own */
        memcpy(own.n_runs, w->x.number->n_runs, sizeof own.n_runs);
        tg_describe_row(r, NULL, &own, &w->p, &w->j, e->arena);
    } else if (!op || !e->brief || w->j.state != TG_STATE_PASS)
        tg_describe_row(r, op, e->c, &w->p, &w->j, e->arena);
    if (e->rank < 0 || e->brief)
        return;
    r->of_rank = e->rank;
    r->names_itself = false; /* not with the rank */
    r->op_normalised =
        TG_SV_PRINTF(e->arena, "%.*s [rank %lld]", TG_SV_ARG(r->plain), (long long)e->rank);
}

/* Does the row rest on the least of the steps, which all steps together, as measured, do not
 * bear out? */
static bool is_of_fastest(const struct tg_judging *w)
{
    const struct tg_evidence *ev = w->p.exact || is_budget(w) ? NULL : w->p.ev;
    if (!ev || w->p.unit != TG_UNIT_NS || ev->estimate != TG_ESTIMATE_LEAST || !w->j.limit ||
        w->j.reason == TG_REASON_SOME_STEPS)
        return false;
    return ev->fastest_alone || (w->rule->metric == TG_RULE_METRIC_STEP_TIME &&
                                 ev->why_not == TG_JUDGED && !tg_probe_shows(&w->p, w->j.limit));
}

static void add_row(struct tg_eval_state *e, struct tg_judging *w)
{
    struct tg_result *r = tg_eval_add(e, w->rule);
    if (w->p.has_recorded && is_budget(w)) { /* a budget shows what it limits */
        tg_probe_put(&w->p, w->p.recorded);
        w->p.ev = NULL;
    }
    if (w->j.reason == TG_REASON_SOME_STEPS && w->p.unit == TG_UNIT_NS) /* what it warns of */
        tg_probe_put(&w->p, w->p.ev->slowest);
    r->of_fastest = is_of_fastest(w);
    if (r->of_fastest && w->x.kind == TG_QUANTITY_TRACE)
        tg_probe_put(&w->p, w->p.ev->value);
    r->state = w->j.state;
    r->metric = w->rule->metric;
    r->unit_id = w->p.unit;
    r->unit = tg_sv_of(tg_unit_text(w->p.unit));
    r->has_values = w->p.unit != TG_UNIT_ATTR;
    r->base = w->p.base;
    r->test = w->p.test;
    r->delta = w->p.test - w->p.base;
    r->delta_pct = r->has_values ? tg_probe_measured_pct(&w->p) : (double)NAN;
    r->ev = w->p.exact ? NULL : w->p.ev;
    put_subject(r, w, e->c);
    const struct tg_limit *l = w->j.limit;
    if (l) {
        struct tg_directions ways = tg_rule_directions(w->rule);
        struct tg_buf b = { 0 };
        r->over_budget = tg_limit_is_budget(l);
        r->bound = r->over_budget && l->n == 1 ? l->bound : NULL;
        r->ceiling = r->bound && ways.up != ways.down ? r->bound->kind : TG_BOUND_PCT;
        tg_limit_text(l, &b);
        r->limit = tg_phrase_take(&b, e->arena);
        tg_describe_limit(&b, l, &w->p);
        r->limit_said = tg_phrase_take(&b, e->arena);
        r->at = l->at;
    }
    put_text(r, e, w);
    bool few = !w->p.exact && w->p.ev && w->p.ev->why_not == TG_NOT_FEW_RUNS;
    r->grounds = grounds_of(w);
    r->why_not = r->grounds == TG_GROUNDS_NONE ? w->j.why_not : NULL;
    r->because = w->j.reason || w->j.state == TG_STATE_PASS ? w->j.reason : TG_REASON_LIMIT;
    r->needs_runs = few ? w->p.min_runs : 0;
    /* Tables and charts show what was decided by: of a finding about an operator's own time. */
    const struct tg_op *op = w->x.op;
    bool self = w->rule->metric == TG_RULE_METRIC_SELF ||
                (op && tg_kind_is_device(op->kind) && w->rule->metric == TG_RULE_METRIC_TOTAL);
    if (w->x.kind == TG_QUANTITY_OP && self && w->j.limit && w->p.ev &&
        w->p.ev->why_not == TG_JUDGED && !tg_kind_is_frame(op->kind))
        e->c->ops[op - e->c->ops].reported = w->p.ev;
}

void tg_judge_quantity(struct tg_eval_state *e, const struct tg_rule *rule,
                       const struct tg_quantity *x)
{
    struct tg_judging w;
    if (!tg_judging_measure(&w, rule, x, e->in->policy, e->c, e->arena))
        return;
    if (!w.p.known[TG_TEST] || (!w.p.known[TG_BASE] && !tg_rule_is_budget(rule))) {
        say_missing(e, &w);
        return;
    }
    /* In stages a time that is withheld is asked again. */
    bool asked = e->c->asking && w.p.ev && w.p.ev->withheld;
    if (x->ev && w.p.ev->why_not != TG_JUDGED && !w.p.ev->suspicious && !asked)
        return;
    judge(e, &w);
    /* Of a quantity that is a part of others a line only if it got slower. */
    bool part = x->kind == TG_QUANTITY_CHOICE ||
                (x->kind == TG_QUANTITY_GAP && x->op->kind != TG_KIND_STEP);
    if (!part || w.j.state > TG_STATE_WAIVED)
        add_row(e, &w);
}
