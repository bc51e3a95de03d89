/*
 * The account (core/diff/compare.h), judged last and over everything: a PASS says that a step took
 * no longer and did no more, so what grew and no row explains is a row of its own.
 *
 *     rows that failed hold half of it             a note
 *     without rows that warned it has not grown    warn, with the numbers
 *     the first look of several                    open: new runs tell
 *     more calls, and the step is proven faster    warn
 *     the machine, other data, a cold start, one   warn: these explain it
 *         polluted run of the baseline, fresh
 *         runs that disagree
 *     something is missing to judge it             inconclusive, with what is missing
 *     the policy judges no such quantity           warn
 *     else                                         fail, with the names that grew most
 */
#include <math.h>
#include <string.h>

#include "core/base/buckets.h"
#include "core/diff/confirm.h"
#include "policy/language/limit.h"
#include "policy/verdict/internal.h"

#define NAMED 3 /* names that grew most, in the sentence */

static const struct {
    const char *name, *said;
    enum tg_unit unit;
} quantity[] = { [TG_ACCOUNT_WALL] = { "step_time", "step time", TG_UNIT_NS },
                 [TG_ACCOUNT_BUSY] = { "gpu_busy", TG_DEVICE_BUSY, TG_UNIT_NS },
                 [TG_ACCOUNT_CALLS] = { "calls", "number of calls", TG_UNIT_COUNT } };

static enum tg_rule_metric metric_of(enum tg_account_id id)
{
    return id == TG_ACCOUNT_WALL   ? TG_RULE_METRIC_STEP_TIME
           : id == TG_ACCOUNT_BUSY ? tg_rule_metric_of(TG_METRIC_GPU_BUSY)
                                   : TG_RULE_METRIC_COUNT;
}

static double growth(const struct tg_account_series *s)
{
    return s->value[TG_TEST] - s->value[TG_BASE];
}

/* ---- what explains it ---- */

/* Calls per step; of a name whose calls vary the mean, whatever a usual step has. */
static double calls_of(const struct tg_comparison *c, const struct tg_op *op, int side)
{
    return op->counted.shape == TG_COUNT_VARIES ? tg_inside_calls(c, op, side) : op->count[side];
}

/* What a name adds to a series, per step: more calls with all that is inside them. Device work
 * may be what the host waits for. */
static double adds(const struct tg_comparison *c, const struct tg_op *op, enum tg_account_id id)
{
    bool device = tg_kind_is_device(op->kind);
    double more = id == TG_ACCOUNT_CALLS ? calls_of(c, op, TG_TEST) - calls_of(c, op, TG_BASE)
                                         : op->self[TG_TEST] - op->self[TG_BASE];
    bool counted = tg_kind_is_counted(op->kind) || op->kind == TG_KIND_RUNTIME;
    if (op->launched || (id == TG_ACCOUNT_BUSY && !device) || (id == TG_ACCOUNT_CALLS && !counted))
        return 0;
    return isfinite(more) ? more : 0;
}

/* What names whose calls vary anyway add by more calls, each as long as before. */
static double varies(const struct tg_comparison *c, enum tg_account_id id)
{
    double sum[2] = { 0 }; /* host, device */
    TG_EACH(const struct tg_op, op, c->ops, c->n_ops) {
        double before = calls_of(c, op, TG_BASE), more = adds(c, op, id);
        double each = id == TG_ACCOUNT_CALLS ? 1 : op->self[TG_BASE] / before;
        if (op->counted.shape == TG_COUNT_VARIES && before > 0)
            sum[tg_kind_is_device(op->kind)] +=
                fmin(more, each * (calls_of(c, op, TG_TEST) - before));
    }
    return id == TG_ACCOUNT_CALLS ? sum[0] + sum[1] : fmax(sum[0], sum[1]);
}

/* What rows add. Host time and device time are not added up: the one waits for the other. */
struct told {
    bool *seen;
    double sum[2]; /* host, device */
    double inside; /* on the host, inside operators that came or went */
};

/* A name with what its change of calls brought along or took away: what is inside it on the
 * host, and the work that it launches. */
static void add_name(struct told *t, const struct tg_comparison *c,
                     const struct tg_buckets *children, enum tg_account_id id, uint32_t k)
{
    const struct tg_op *op = &c->ops[k];
    double inside = op->total[TG_TEST] - op->total[TG_BASE] - adds(c, op, id);
    if (t->seen[k])
        return;
    t->seen[k] = true;
    t->sum[tg_kind_is_device(op->kind)] += adds(c, op, id);
    if (op->kind != TG_KIND_OP || op->change == TG_SAME)
        return;
    if (id == TG_ACCOUNT_WALL && isfinite(inside))
        t->inside += inside;
    for (uint32_t i = tg_buckets_first(children, op->name); i != TG_NO_ID;
         i = tg_buckets_next(children, i)) {
        bool device = tg_kind_is_device(c->ops[i].kind);
        if (!t->seen[i] && (id != TG_ACCOUNT_WALL || device))
            t->sum[device] += adds(c, &c->ops[i], id);
        t->seen[i] |= id != TG_ACCOUNT_WALL || device;
    }
}

/* What the rows from state `least` on add; of calls, below a failure, also what an exception lets
 * pass: cheaper, it explains no less. */
static double explained(const struct tg_eval_state *e, const struct tg_buckets *children,
                        enum tg_account_id id, enum tg_state least)
{
    const struct tg_comparison *c = e->in->comparison;
    TG_FREE bool *seen = tg_xcalloc(c->n_ops + c->n_regions + 1, 1);
    struct told t = { .seen = seen };
    double whole = 0, host;
    TG_EACH(const struct tg_result, r, e->results, e->n) {
        bool excepted = id == TG_ACCOUNT_CALLS && least < TG_STATE_FAIL &&
                        r->state == TG_STATE_PASS && r->because && r->because <= TG_REASON_CHANCE;
        if ((r->state < least && !excepted) || r->state == TG_STATE_INCONCLUSIVE ||
            tg_result_is_guard(r))
            continue;
        /* About the quantity itself, or about a part of the step? */
        bool wall =
            id == TG_ACCOUNT_WALL && (tg_result_is_step_time(r) || r->subject == TG_SUBJECT_STEP);
        bool busy = id != TG_ACCOUNT_CALLS && tg_result_is_busy(r);
        if ((wall || busy) && !tg_result_is_of_slowest(r))
            whole = fmax(whole, r->delta);
        const struct tg_op *op = r->subject == TG_SUBJECT_NAME ? tg_result_op(c, r) : NULL;
        if (!op)
            continue;
        /* With the name that it was, and the other names of a replacement: what came less what
         * went. */
        const struct tg_region *g = op->region < c->n_regions ? &c->regions[op->region] : NULL;
        add_name(&t, c, children, id, (uint32_t)(op - c->ops));
        if (op->partner != TG_NO_ID)
            add_name(&t, c, children, id, op->partner);
        for (size_t k = 0; g && !seen[c->n_ops + op->region] && k < g->n_ops; k++)
            add_name(&t, c, children, id, g->op[k]);
        if (g)
            seen[c->n_ops + op->region] = true;
    }
    host = t.sum[0] + fmax(t.inside, 0);
    whole = fmax(whole, id == TG_ACCOUNT_CALLS ? host + t.sum[1] : fmax(host, t.sum[1]));
    return fmin(whole, growth(&c->account[id]));
}

/* Has it still grown beyond the limit without `less` of it? */
static bool remains(const struct tg_account_series *s, double less)
{
    return s->value[TG_TEST] - less > (1 + s->limit) * s->value[TG_BASE];
}

/* Why the growth that `told` does not hold need not be the program; NONE: nothing says so. */
static enum tg_reason excuse(const struct tg_eval_state *e, enum tg_account_id id, double told)
{
    const struct tg_comparison *c = e->in->comparison;
    const struct tg_account_series *s = &c->account[id];
    const struct tg_metric_change *last = tg_confirm_last(c)->metrics;
    const struct tg_evidence *step = &last[TG_METRIC_STEP_TIME].ev;
    bool calls = id == TG_ACCOUNT_CALLS, machine_may = !calls && !c->gradients;
    double machine = s->value[TG_TEST] * (1 - exp(-fmax(tg_confirm_last(c)->drift, 0)));
    /* Proven to take less time, as its place does where more calls replace fewer. */
    bool faster = step->less && !last[TG_METRIC_HOST_TIME].ev.slower;
    const struct {
        bool holds;
        enum tg_reason why;
    } all[] = {
        { !tg_same_device(c), TG_REASON_DEVICE },
        { machine_may && !remains(s, told + machine), TG_REASON_SLOW_MACHINE },
        { machine_may && s->spread, TG_REASON_ALL_LONGER },
        { machine_may && c->busy, TG_REASON_BUSY },
        { !calls && c->warming != 0, TG_REASON_WARMING },
        { c->other_data, TG_REASON_DATA },
        { varies(c, id) >= TG_HALF * growth(s), TG_REASON_VARIES },
        { calls && !s->outside && faster, TG_REASON_REPAID },
        { s->one_step, TG_REASON_ONE_STEP },
        { s->outside, TG_REASON_BETWEEN_STEPS },
        { s->growth == TG_GROWTH_FORGIVEN, TG_REASON_ONE_SLOW_RUN },
        { s->growth == TG_GROWTH_IN_MOST_RUNS, TG_REASON_SOME_RUNS },
        { s->one_of_many, TG_REASON_ONE_OF_MANY },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].holds)
            return all[i].why;
    return TG_REASON_NONE;
}

/* What is missing to judge it, also in words; NONE: nothing. */
static enum tg_reason missing(const struct tg_eval_state *e, enum tg_account_id id,
                              const char **said)
{
    const struct tg_comparison *c = e->in->comparison;
    bool times = id != TG_ACCOUNT_CALLS;
    int64_t min_runs = e->in->policy->noise.min_runs;
    size_t runs = c->n_runs[TG_BASE] < c->n_runs[TG_TEST] ? c->n_runs[TG_BASE] : c->n_runs[TG_TEST];
    bool marked = c->marked[TG_BASE] && c->marked[TG_TEST];
    *said = tg_judged_text(marked ? TG_NOT_OTHER_FLAGS : TG_NOT_NO_STEPS);
    if (!marked || (times && !c->same_flags))
        return marked ? TG_REASON_FLAGS : TG_NEED_MARKERS;
    *said = tg_arena_printf(e->arena, "%zu baseline run%s and %zu fresh are too few",
                            c->n_runs[TG_BASE], TG_PLURAL(c->n_runs[TG_BASE]), c->n_runs[TG_TEST]);
    return times && (c->account[id].few || (min_runs > 3 && (int64_t)runs < min_runs))
               ? TG_NEED_RUNS
               : TG_REASON_NONE;
}

/* What the rule says of such a change, as measured. */
static enum tg_state said_by(const struct tg_comparison *c, const struct tg_rule *rule, double base,
                             double test)
{
    struct tg_probe p = { .base = base,
                          .test = test,
                          .step_ns = c->step_ns[TG_BASE],
                          .bad = TG_MORE_IS_BAD,
                          .exact = true };
    return tg_judge(&p, &rule->warn, &rule->fail).state;
}

/* The account fails where a rule about all names fails by such a quantity, else it warns: a
 * policy that does not ask, or that allows each name a call more, excuses nothing. Growth that a
 * rule about this very quantity passed by a size of its own is a note, up to that size. */
static enum tg_state strictness(const struct tg_eval_state *e, enum tg_account_id id)
{
    const struct tg_comparison *c = e->in->comparison;
    const struct tg_account_series *s = &c->account[id];
    const struct tg_policy *p = e->in->policy;
    enum tg_state most = TG_STATE_WARN;
    TG_EACH(const struct tg_rule, rule, p->rules, p->n_rules) {
        bool times = tg_rule_metric_info(rule->metric)->unit == TG_UNIT_NS ||
                     rule->metric == TG_RULE_METRIC_SHARE;
        bool asks = id == TG_ACCOUNT_CALLS ? tg_rule_counts_calls(e, rule) : times;
        bool passed = false; /* it judged the whole trace by its runs */
        if (!asks || !tg_select_rule(e, &rule->when) || tg_rule_is_narrow(&rule->match) ||
            rule->match.rank == TG_MATCH_RANK_LIST || tg_rule_is_budget(rule))
            continue; /* it compares not all names, or ranks */
        for (size_t k = 0; k < e->n; k++)
            passed |= tg_sv_eq(e->results[k].rule, rule->id) &&
                      e->results[k].state == TG_STATE_PASS &&
                      e->results[k].grounds == TG_GROUNDS_RUNS;
        if (rule->metric == metric_of(id) && times &&
            tg_limit_lists_have_size(&rule->warn, &rule->fail) &&
            said_by(c, rule, s->value[TG_BASE], s->value[TG_TEST]) == TG_STATE_PASS && passed)
            return TG_STATE_PASS;
        if (rule->fail.state == TG_LIMIT_ON && (times || said_by(c, rule, 1, 2) == TG_STATE_FAIL))
            most = TG_STATE_FAIL;
    }
    return most;
}

/* ---- what it says ---- */

struct grower {
    const char *what;
    tg_sv name;
    double more;
};

static int by_more(const void *pa, const void *pb)
{
    const struct grower *a = pa, *b = pb;
    return a->more > b->more ? -1 : a->more < b->more ? 1 : tg_sv_cmp(a->name, b->name);
}

/* "; grew most: aten::mm +1.20 ms, time between steps +80 us": all rows of the account, named or
 * not. Of wall clock those of the host, with what no row has; where the device's busy time grew by
 * as much, the host waits for those of the device. */
static void put_growers(struct tg_buf *b, const struct tg_eval_state *e, enum tg_account_id id)
{
    const struct tg_comparison *c = e->in->comparison;
    TG_FREE struct grower *v = tg_xmalloc((c->n_ops + 2) * sizeof *v);
    const struct tg_account_series *all = &c->account[TG_ACCOUNT_WALL],
                                   *busy = &c->account[TG_ACCOUNT_BUSY];
    const double *window = c->metrics[TG_METRIC_HOST_TIME].value;
    bool by_trace = e->in->suite && e->in->suite->window.by == TG_BY_TRACE;
    bool wall = id == TG_ACCOUNT_WALL, steps = c->step.rows && !by_trace;
    bool device = wall && busy->known && growth(busy) >= TG_WINS * growth(all);
    double rest = growth(all) - (steps ? window[TG_TEST] - window[TG_BASE] : 0);
    size_t n = 0;
    TG_EACH(const struct tg_op, op, c->ops, c->n_ops) {
        bool here = !wall || (device ? tg_kind_is_device(op->kind) : tg_kind_nests(op->kind));
        if (here && adds(c, op, id) > 0)
            v[n++] = op->kind == TG_KIND_STEP
                         ? (struct grower){ "time between operators", TG_SV(""), adds(c, op, id) }
                         : (struct grower){ NULL, op->name, adds(c, op, id) };
        rest -= !steps && tg_kind_nests(op->kind) ? adds(c, op, id) : 0;
    }
    if (wall && !device && rest > 0)
        v[n++] = (struct grower){ c->step.rows ? "time between steps" : "time between operators",
                                  TG_SV(""), rest };
    TG_SORT(v, n, by_more);
    for (size_t i = 0; i < n && i < NAMED && v[i].more >= 0.05 * v[0].more; i++) {
        tg_buf_puts(b, i ? ", " : "; grew most: ");
        tg_buf_printf(b, v[i].what ? "%s%.*s" : "%s" TG_NAME, v[i].what ? v[i].what : "",
                      TG_SV_ARG(v[i].name));
        tg_buf_printf(b, " %s", TG_SIGNED(v[i].more, quantity[id].unit));
    }
}

/* "2.41 to 2.60 ms", "4.80 ms" */
static void put_range(struct tg_buf *b, double lo, double hi, enum tg_unit unit)
{
    if (strcmp(TG_VALUE(lo, unit), TG_VALUE(hi, unit)) == 0)
        lo = hi;
    if (lo < hi)
        tg_buf_printf(b, "%s to ", TG_BESIDE(lo, hi, unit));
    tg_buf_puts(b, TG_BESIDE(hi, lo, unit));
}

static struct tg_result *add_row(struct tg_eval_state *e, enum tg_account_id id,
                                 enum tg_state state)
{
    const struct tg_account_series *s = &e->in->comparison->account[id];
    struct tg_result *r = tg_eval_add(e, NULL);
    r->rule = TG_SV("account");
    r->why = TG_SV("what a step takes and does as a whole, beside what is judged by name");
    r->state = state;
    r->subject = TG_SUBJECT_TRACE;
    r->op = r->op_normalised = r->plain = tg_sv_of(quantity[id].name);
    r->metric = metric_of(id);
    r->unit_id = quantity[id].unit;
    r->unit = tg_sv_of(tg_unit_text(r->unit_id));
    r->has_values = true;
    r->base = s->value[TG_BASE];
    r->test = s->value[TG_TEST];
    r->delta = growth(s);
    r->delta_pct = r->base > 0 ? 100 * r->delta / r->base : (double)NAN;
    r->grounds = TG_GROUNDS_RUNS;
    r->weight = r->delta;
    /* "the device's busy time: fresh runs 2.41 ms to 2.60 ms, baseline runs 1.00 ms to 1.05 ms;
     * limit +8 %" */
    struct tg_buf b = { 0 };
    tg_buf_printf(&b, "%s: fresh runs ", quantity[id].said);
    put_range(&b, s->lo[TG_TEST], s->hi[TG_TEST], quantity[id].unit);
    tg_buf_puts(&b, ", baseline runs ");
    put_range(&b, s->lo[TG_BASE], s->hi[TG_BASE], quantity[id].unit);
    tg_buf_printf(&b, "; limit %s%s", TG_PCT(100 * s->limit),
                  state == TG_STATE_FAIL ? "" : ", unless names that changed explain it");
    r->evidence = tg_phrase_take(&b, e->arena);
    return r;
}

/* The row that says these numbers already; NULL: none. */
static struct tg_result *told_by(const struct tg_eval_state *e, enum tg_account_id id)
{
    TG_EACH(struct tg_result, r, e->results, e->n)
        if (r->subject == TG_SUBJECT_TRACE && r->metric == metric_of(id) &&
            r->state >= TG_STATE_SUSPICIOUS && r->delta > 0 && !tg_result_is_of_slowest(r))
            return r;
    return NULL;
}

/* What is said of a series that has grown. */
struct finding {
    enum tg_state state; /* PASS: a note */
    enum tg_reason because;
    tg_sv more;       /* after the numbers */
    const char *next; /* NULL: rows that failed say all of it */
};

static struct finding find(struct tg_eval_state *e, const struct tg_buckets *children,
                           enum tg_account_id id)
{
    const struct tg_account_series *s = &e->in->comparison->account[id];
    double failed = explained(e, children, id, TG_STATE_FAIL);
    double told = explained(e, children, id, s->few ? TG_STATE_SUSPICIOUS : TG_STATE_WARN);
    const char *lacks_said = "";
    enum tg_state strict = strictness(e, id);
    enum tg_reason why = excuse(e, id, told);
    enum tg_reason lacks = strict == TG_STATE_FAIL ? missing(e, id, &lacks_said) : TG_REASON_NONE;
    tg_sv part = told > 0.005 * growth(s)
                     ? TG_SV_PRINTF(e->arena, "; what is judged by name explains %.0f %% of it",
                                    100 * told / growth(s))
                     : TG_SV("");
    if (failed >= TG_HALF * growth(s)) /* their cost is in the headline */
        return (struct finding){ .more = TG_SV(""),
                                 .next = failed >= TG_WINS * growth(s) ? NULL : "" };
    if (strict == TG_STATE_PASS)
        return (struct finding){ .more = part, .next = "" };
    if (!remains(s, told))
        return (struct finding){ told_by(e, id) ? TG_STATE_PASS : TG_STATE_WARN, TG_REASON_TOLD,
                                 part, told_by(e, id) && told >= TG_WINS * growth(s) ? NULL : "" };
    /* A time that grew in the first runs is what new runs say of it: these tell the program from
     * a machine that was slow meanwhile, so no reason is final before. Of other devices they
     * would say the same. */
    const struct tg_comparison *c = e->in->comparison;
    bool open = id != TG_ACCOUNT_CALLS && tg_same_device(c) && c->asking && !c->asking->early &&
                c->asking->new <= TG_ASK_FIRST && c->asking->next;
    if (strict == TG_STATE_FAIL && !lacks && open) {
        e->asks_again = true;
        return (struct finding){ TG_STATE_INCONCLUSIVE, TG_NEED_NEW_RUNS,
                                 TG_SV(", which new runs have to tell"),
                                 "Record more runs a side: new ones tell." };
    }
    /* A known difference comes before a guess at the machine. */
    if (why && (lacks != TG_REASON_FLAGS || why == TG_REASON_DEVICE)) {
        bool repaid = why == TG_REASON_REPAID;
        const char *said =
            why == TG_REASON_DEVICE
                ? tg_arena_printf(e->arena, "the sides differ in %.*s", TG_SV_ARG(c->differs))
            : repaid ? "the step takes less time in all"
                     : tg_reason_said(why);
        return (struct finding){ TG_STATE_WARN, why,
                                 TG_SV_PRINTF(e->arena, "; %s%s",
                                              repaid ? "" : "it may not be the program: ", said),
                                 repaid ? "" : TG_NEXT_MACHINE(e) };
    }
    if (lacks)
        return (struct finding){
            TG_STATE_INCONCLUSIVE, lacks,
            TG_SV_PRINTF(e->arena, ", which cannot be judged: %s", lacks_said),
            "Record both sides alike, with step markers and at least 3 runs a side."
        };
    if (strict != TG_STATE_FAIL)
        return (struct finding){ strict, TG_REASON_NO_RULE, part,
                                 "No rule of the policy fails by such a quantity: it warns." };
    return (struct finding){
        TG_STATE_FAIL, TG_REASON_NONE, part,
        c->gradients ? TG_NEXT_GRADIENTS
                     : "Nothing that is judged by name explains it: look at what grew most. "
                       "`require: {account: off}` leaves this check out."
    };
}

static void close_series(struct tg_eval_state *e, const struct tg_buckets *children,
                         enum tg_account_id id)
{
    const struct tg_account_series *s = &e->in->comparison->account[id];
    bool failed = tg_result_first(e->results, e->n, TG_STATE_FAIL) != NULL;
    struct tg_buf b = { 0 };
    if (!s->known || s->growth == TG_GROWTH_NONE || growth(s) < 1)
        return;
    struct finding f = find(e, children, id);
    struct tg_result *r = told_by(e, id);
    if (r && !r->over_budget) { /* the row of a rule says where, too */
        tg_buf_add(&b, r->message);
        put_growers(&b, e, id);
        r->message = tg_phrase_take(&b, e->arena);
    }
    if (f.state == TG_STATE_PASS && (e->in->comparison->rank_alone || !f.next))
        return; /* the rows say it, or the finding is about one rank; this is the mean of all */
    bool note = f.state == TG_STATE_PASS ||
                (failed && (f.state == TG_STATE_WARN || f.because == TG_NEED_NEW_RUNS));
    if (note || f.state == TG_STATE_INCONCLUSIVE) /* the headline has no name before it */
        tg_buf_printf(&b, note ? "%s: " : "%s ", quantity[id].said);
    /* "2.49 ms per step, was 1.02 ms (+144 %, +1.47 ms)" */
    const struct tg_comparison *c = e->in->comparison;
    enum tg_unit unit = quantity[id].unit;
    tg_buf_printf(&b, "%s per step, was %s (",
                  TG_BESIDE(s->value[TG_TEST], s->value[TG_BASE], unit),
                  TG_BESIDE(s->value[TG_BASE], s->value[TG_TEST], unit));
    if (s->value[TG_BASE] > 0)
        tg_buf_printf(&b, "%s, ", TG_PCT(100 * growth(s) / s->value[TG_BASE]));
    tg_buf_printf(&b, "%s)", TG_SIGNED(growth(s), unit));
    if (s->of == TG_ACCOUNT_MOST && !c->rank_alone)
        tg_buf_puts(&b, " on the rank that has most");
    else if (s->of != TG_ACCOUNT_MEAN)
        tg_buf_printf(&b, " on rank %lld",
                      (long long)(s->of == TG_ACCOUNT_MOST ? c->rank_alone->rank : s->rank));
    tg_buf_add(&b, f.more);
    put_growers(&b, e, id);
    if (note) {
        tg_eval_note(e, TG_REASON_NONE, tg_phrase_take(&b, e->arena), "");
        return;
    }
    r = add_row(e, id, f.state);
    r->message = tg_phrase_take(&b, e->arena);
    r->next = tg_sv_of(f.next);
    r->because = f.because ? f.because : TG_REASON_LIMIT;
}

void tg_eval_account(struct tg_eval_state *e)
{
    TG_AUTO(tg_buckets_release) struct tg_buckets children = { 0 };
    const struct tg_comparison *c = e->in->comparison;
    if (!e->in->policy->require.account) {
        tg_eval_note(e, TG_REASON_NONE,
                     TG_SV("`require: {account: off}`: whether a step as a whole took longer or "
                           "did more is not checked"),
                     "");
        return;
    }
    if (!e->comparable)
        return;
    tg_select_children(&children, c);
    close_series(e, &children, TG_ACCOUNT_CALLS);
    close_series(e, &children, TG_ACCOUNT_BUSY);
    close_series(e, &children, TG_ACCOUNT_WALL); /* which the one before may explain */
}
