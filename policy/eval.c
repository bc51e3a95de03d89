#include "policy/eval.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/utf8.h"
#include "policy/describe.h"

/* What a rule judges when it names no kind. */
#define DEFAULT_KINDS                                                                              \
    (1u << TG_KIND_KERNEL | 1u << TG_KIND_MEMCPY | 1u << TG_KIND_MEMSET | 1u << TG_KIND_GRAPH |    \
     1u << TG_KIND_OP | 1u << TG_KIND_SYNC)
/* A new name below this share of the step warns instead of failing, unless it makes others wait. */
#define SMALL_SHARE 0.001

/*
 * Above these a trace is damaged rather than noisy, and no verdict is given. Real traces stay far
 * below: the worst of 68 has 0.6 % of its device time in overlaps on one stream and none of the
 * rest.
 */
#define MAX_OVERLAP 0.05    /* of device time: work that runs past the next start on its stream */
#define MAX_BAD_SPANS 0.001 /* of spans: negative durations, kernels longer than any step */
#define MAX_EMPTY_KERNELS 0.01 /* of device spans: start 0, duration 0 */

struct eval {
    const struct tg_eval_input *in;
    struct tg_verdict *out;
    struct tg_arena *arena;
    struct tg_err *err;
    struct tg_result *results; /* grows; copied into the arena at the end */
    size_t n, cap;
    bool inconclusive; /* a guard spoke */
    size_t judged;     /* results that were really judged */
};

struct scope { /* one comparison a rule looks at: all ranks, or one of them */
    const struct tg_comparison *c;
    int64_t rank; /* -1: all */
};

static struct tg_result *add_result(struct eval *e, const struct tg_rule *rule)
{
    e->results = tg_grow(e->results, &e->cap, e->n + 1, sizeof *e->results);
    e->results[e->n] = (struct tg_result){ .rule = rule ? rule->id : TG_SV("guard"),
                                           .why = rule ? rule->why : TG_SV(""),
                                           .owner = rule ? rule->owner : TG_SV(""),
                                           .delta_pct = NAN,
                                           .share = NAN,
                                           .folded_under = TG_NO_ID,
                                           .file = rule ? rule->at.file : NULL,
                                           .line = rule ? rule->at.line : 0,
                                           .col = rule ? rule->at.col : 0 };
    return &e->results[e->n++];
}

/* ---- match ----------------------------------------------------------------------------------- */

static bool has_number(const struct tg_ints *list, int64_t v)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->v[i] == v)
            return true;
    return false;
}

static enum tg_match_family family_of(tg_sv name, bool *known)
{
    static const struct {
        const char *part;
        enum tg_match_family family;
    } table[] = {
        { "triton", TG_MATCH_FAMILY_TRITON },       { "flash", TG_MATCH_FAMILY_ATTENTION },
        { "attention", TG_MATCH_FAMILY_ATTENTION }, { "fmha", TG_MATCH_FAMILY_ATTENTION },
        { "attn", TG_MATCH_FAMILY_ATTENTION },      { "conv", TG_MATCH_FAMILY_CONV },
        { "gemm", TG_MATCH_FAMILY_GEMM },           { "gemv", TG_MATCH_FAMILY_GEMM },
        { "Cijk_", TG_MATCH_FAMILY_GEMM },          { "nvjet", TG_MATCH_FAMILY_GEMM },
        { "aten::mm", TG_MATCH_FAMILY_GEMM },       { "aten::addmm", TG_MATCH_FAMILY_GEMM },
        { "aten::bmm", TG_MATCH_FAMILY_GEMM },      { "aten::linear", TG_MATCH_FAMILY_GEMM },
        { "norm", TG_MATCH_FAMILY_NORM },           { "elementwise", TG_MATCH_FAMILY_ELEMENTWISE },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (tg_sv_has(name, tg_sv_of(table[i].part))) {
            *known = true;
            return table[i].family;
        }
    *known = false;
    return TG_MATCH_FAMILY_GEMM;
}

static enum tg_hit raw_hit(const struct tg_patterns *list, const struct tg_op *op)
{
    enum tg_hit worst = TG_HIT_NO;
    for (int side = 0; side < 2; side++)
        if (op->present[side]) {
            enum tg_hit h = tg_patterns_test(list, op->raw[side]);
            if (h == TG_HIT_YES)
                return h;
            worst = h > worst ? h : worst;
        }
    return worst;
}

/* All given keys must hold; a regex that gave up makes the whole answer GAVE_UP. */
static enum tg_hit match_keys(const struct tg_match *m, const struct tg_op *op)
{
    enum tg_hit h = TG_HIT_YES;
    if (m->kinds && !(m->kinds & 1u << op->kind))
        return TG_HIT_NO;
    if (m->classes && !(m->classes & 1u << (unsigned)op->class_))
        return TG_HIT_NO;
    if (m->families) {
        bool known;
        enum tg_match_family f = family_of(op->name, &known);
        if (!known || !(m->families & 1u << f))
            return TG_HIT_NO;
    }
    if (m->name.n && (h = tg_patterns_test(&m->name, op->name)) != TG_HIT_YES)
        return h;
    if (m->raw_name.n && (h = raw_hit(&m->raw_name, op)) != TG_HIT_YES)
        return h;
    if (m->parent.n && (h = tg_patterns_test(&m->parent, op->parent)) != TG_HIT_YES)
        return h;
    return TG_HIT_YES;
}

static enum tg_hit match_op(const struct tg_match *m, const struct tg_op *op)
{
    enum tg_hit h;
    if (!m->kinds && !(DEFAULT_KINDS & 1u << op->kind))
        return TG_HIT_NO;
    h = match_keys(m, op);
    if (h != TG_HIT_YES || !m->not_)
        return h;
    switch (match_keys(m->not_, op)) {
    case TG_HIT_YES:
        return TG_HIT_NO;
    case TG_HIT_GAVE_UP:
        return TG_HIT_GAVE_UP;
    case TG_HIT_NO:
        break;
    }
    return TG_HIT_YES;
}

/* The rule's limits for one operator: of the overrides that match, the last wins per key. */
struct limits {
    struct tg_limit_list warn, fail;
    enum tg_noise_test test;
    const struct tg_noise *noise;
};

static struct limits limits_for(const struct tg_rule *rule, const struct tg_op *op)
{
    struct limits l = { rule->warn, rule->fail, rule->noise.test, &rule->noise };
    for (size_t i = 0; op && i < rule->n_overrides; i++) {
        const struct tg_override *o = &rule->overrides[i];
        if (match_keys(&o->match, op) != TG_HIT_YES)
            continue;
        if (o->warn.state != TG_LIMIT_UNSET)
            l.warn = o->warn;
        if (o->fail.state != TG_LIMIT_UNSET)
            l.fail = o->fail;
        if (o->has_noise) {
            l.test = o->noise.test;
            l.noise = &o->noise;
        }
    }
    return l;
}

/* ---- one operator under one rule ---------------------------------------------------------------
 */

static enum tg_dimension dimension_of(enum tg_unit unit)
{
    switch (unit) {
    case TG_UNIT_COUNT:
        return TG_DIM_COUNT;
    case TG_UNIT_NS:
        return TG_DIM_DURATION;
    case TG_UNIT_PERCENT:
        return TG_DIM_RATIO;
    case TG_UNIT_BYTES:
        return TG_DIM_BYTES;
    case TG_UNIT_FACT:
        break;
    }
    return TG_DIM_FACT;
}

static const char *unit_text(enum tg_unit unit)
{
    static const char *const text[] = { [TG_UNIT_COUNT] = "count",
                                        [TG_UNIT_NS] = "ns",
                                        [TG_UNIT_PERCENT] = "%",
                                        [TG_UNIT_BYTES] = "bytes",
                                        [TG_UNIT_FACT] = "" };
    return text[unit];
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
        return TG_SV("bytes");
    }
}

/* Values of a per-name metric; false: this operator has none. */
static bool probe_op(struct tg_probe *p, enum tg_metric m, const struct tg_comparison *c,
                     const struct tg_op *op)
{
    double quantile;
    p->unit = tg_metric_info(m)->unit;
    switch (m) {
    case TG_METRIC_COUNT:
        p->exact = true;
        p->base = op->count[TG_BASE];
        p->test = op->count[TG_TEST];
        p->unchanged = op->change == TG_SAME || op->polling;
        return true;
    case TG_METRIC_SELF:
        p->ev = &op->ev;
        p->base = op->ev.judged == TG_JUDGED ? op->ev.value[TG_BASE] : op->self[TG_BASE];
        p->test = op->ev.judged == TG_JUDGED ? op->ev.value[TG_TEST] : op->self[TG_TEST];
        return true;
    case TG_METRIC_TOTAL:
    case TG_METRIC_MEAN:
        /* On the device self time is the duration, so its evidence is that of the total. */
        p->ev = tg_kind_is_device(op->kind) ? &op->ev : &op->ev_total;
        for (int side = 0; side < 2; side++) {
            double v = p->ev->judged == TG_JUDGED ? p->ev->value[side] : op->total[side];
            if (m == TG_METRIC_MEAN)
                v = op->count[side] > 0 ? v / op->count[side] : 0;
            *(side ? &p->test : &p->base) = v;
        }
        return true;
    case TG_METRIC_ADDED:
        p->ev = NULL;
        p->exact = true; /* a name that did not exist: no noise can explain it */
        p->test = op->change == TG_ADDED ? op->total[TG_TEST] : 0;
        p->unchanged = op->change != TG_ADDED;
        return true;
    case TG_METRIC_REMOVED:
        p->exact = true;
        p->test = op->change == TG_REMOVED ? op->total[TG_BASE] : 0;
        p->unchanged = op->change != TG_REMOVED;
        return true;
    case TG_METRIC_SHARE:
        p->ev = &op->ev;
        p->base = 100 * op->share[TG_BASE];
        p->test = 100 * op->share[TG_TEST];
        return true;
    case TG_METRIC_MEDIAN:
    case TG_METRIC_P95:
    case TG_METRIC_MAX:
        quantile = m == TG_METRIC_MEDIAN ? .5 : m == TG_METRIC_P95 ? .95 : 1;
        p->base = tg_op_quantile(c, op, TG_BASE, quantile);
        p->test = tg_op_quantile(c, op, TG_TEST, quantile);
        return op->present[TG_TEST];
    default:
        return false;
    }
}

static bool makes_wait(const struct tg_op *op)
{
    return op->kind == TG_KIND_SYNC || op->kind == TG_KIND_MEMCPY || op->class_ == TG_CLASS_COMM ||
           tg_sv_eq(op->name, TG_SV("aten::item")) ||
           tg_sv_eq(op->name, TG_SV("aten::_local_scalar_dense"));
}

/* Softens what is no regression by itself (POLICY 5 and 12). */
static enum tg_state soften(enum tg_state s, const struct tg_op *op, enum tg_metric m)
{
    bool about_presence = m == TG_METRIC_COUNT || m == TG_METRIC_ADDED || m == TG_METRIC_REMOVED;
    if (s != TG_STATE_FAIL || !about_presence)
        return s;
    if (op->relation == TG_REL_RENAMED || op->relation == TG_REL_REPLACED)
        return TG_STATE_WARN;
    if (op->relation == TG_REL_NONE && op->change == TG_ADDED && !makes_wait(op) &&
        op->share[TG_TEST] < SMALL_SHARE)
        return TG_STATE_WARN;
    return s;
}

static void fill_op(struct tg_result *r, const struct tg_op *op, const struct tg_rule *rule,
                    const struct tg_probe *p, const struct tg_judgement *j)
{
    r->state = j->state;
    r->op = op->raw[op->present[TG_TEST] ? TG_TEST : TG_BASE];
    r->op_normalised = op->name;
    r->kind = tg_sv_of(tg_kind_name(op->kind));
    r->metric = tg_sv_of(tg_metric_info(rule->metric)->name);
    r->dimension = dimension_of(p->unit);
    r->unit = tg_sv_of(unit_text(p->unit));
    r->has_values = p->unit != TG_UNIT_FACT;
    r->base = p->base;
    r->test = p->test;
    r->delta = tg_probe_delta(p);
    r->delta_pct = r->has_values ? tg_probe_pct(p) : NAN;
    r->share = op->share[op->present[TG_TEST] ? TG_TEST : TG_BASE];
}

/* ns per step that the result is about: the order of reports. */
static double weight_op(const struct tg_op *op)
{
    double weight = op->self[TG_TEST] - op->self[TG_BASE];
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

static void count_judged(struct eval *e, const struct tg_result *r, bool exact)
{
    if (r->state == TG_STATE_NOT_JUDGED || r->state == TG_STATE_SKIP ||
        r->state == TG_STATE_INCONCLUSIVE)
        return;
    e->judged++;
    if (exact)
        e->out->counts_judged = true;
    else if (r->state != TG_STATE_SUSPICIOUS)
        e->out->durations_judged = true;
}

/* noise.min_steps: too few steps sharpen a run's value too little. */
static const char *too_few_steps(const struct scope *s, const struct tg_noise *noise)
{
    size_t least = s->c->n_steps[TG_BASE] < s->c->n_steps[TG_TEST] ? s->c->n_steps[TG_BASE]
                                                                   : s->c->n_steps[TG_TEST];
    return noise->min_steps > 0 && least < (size_t)noise->min_steps
               ? "fewer steps a run than noise.min_steps asks for"
               : NULL;
}

/* Other device: what the device did is shown, not judged; the host's counts go on. */
static bool device_incomparable(const struct scope *s, const struct tg_op *op)
{
    return !s->c->same_device && (tg_kind_is_device(op->kind) || op->kind == TG_KIND_GRAPH);
}

static void judge_op(struct eval *e, const struct scope *s, const struct tg_rule *rule,
                     const struct tg_op *op)
{
    struct limits l = limits_for(rule, op);
    struct tg_probe p = { .step_ns = s->c->step_ns[TG_BASE],
                          .bad = rule->bad,
                          .test_kind = l.test };
    struct tg_judgement j;
    struct tg_result *r;
    if (tg_metric_info(rule->metric)->unit == TG_UNIT_FACT || rule->metric == TG_METRIC_BYTES) {
        bool changed = false;
        for (size_t i = 0; i < op->n_facts; i++)
            changed |= tg_sv_eq(op->facts[i].kind, fact_kind(rule->metric));
        p.unit = TG_UNIT_FACT;
        p.exact = true;
        p.bad = TG_ANY_IS_BAD;
        p.test = changed;
    } else if (!probe_op(&p, rule->metric, s->c, op)) {
        return;
    }
    j = tg_judge(&p, &l.warn, &l.fail);
    if (device_incomparable(s, op)) {
        j.state = TG_STATE_NOT_JUDGED;
        j.why_not = "the two sides ran on different devices";
    }
    if (!p.exact && too_few_steps(s, l.noise)) {
        j.state = TG_STATE_NOT_JUDGED;
        j.why_not = too_few_steps(s, l.noise);
    }
    j.state = soften(j.state, op, rule->metric);
    r = add_result(e, rule);
    fill_op(r, op, rule, &p, &j);
    r->rank = weight_op(op);
    place_limit(r, &j, e->arena);
    tg_describe_op(r, op, s->c, &p, &j, e->arena);
    if (s->rank >= 0) {
        r->op_normalised = tg_sv_of(
            tg_arena_printf(e->arena, "%.*s [rank %lld]", TG_SV_ARG(op->name), (long long)s->rank));
    }
    count_judged(e, r, p.exact || (p.ev && p.ev->judged != TG_JUDGED));
}

/* ---- whole-trace measures ----------------------------------------------------------------------
 */

static bool probe_measure(struct tg_probe *p, const struct tg_rule *rule,
                          const struct tg_comparison *c)
{
    const struct tg_metric_info *info = tg_metric_info(rule->metric);
    bool slowest = rule->match.rank == TG_MATCH_RANK_SLOWEST;
    enum tg_measure id;
    p->unit = info->unit;
    if (rule->metric == TG_METRIC_SKEW) {
        p->base = c->skew[TG_BASE];
        p->test = c->skew[TG_TEST];
        return c->n_ranks[TG_TEST] > 1;
    }
    if (!tg_measure_find(tg_sv_of(info->name), &id))
        return false;
    const struct tg_measure_change *m = &c->measures[id];
    p->exact = info->unit == TG_UNIT_COUNT || info->unit == TG_UNIT_BYTES;
    p->ev = &m->ev;
    p->base = slowest ? m->slowest[TG_BASE] : m->value[TG_BASE];
    p->test = slowest ? m->slowest[TG_TEST] : m->value[TG_TEST];
    return m->known[TG_BASE] && m->known[TG_TEST];
}

static bool only_budgets(const struct tg_rule *rule)
{
    const struct tg_limit_list *lists[] = { &rule->warn, &rule->fail };
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < lists[k]->n; i++)
            for (size_t b = 0; b < lists[k]->v[i].n; b++)
                if (lists[k]->v[i].bound[b].kind != TG_BOUND_MAX &&
                    lists[k]->v[i].bound[b].kind != TG_BOUND_MIN)
                    return false;
    return true;
}

static void add_message(struct tg_result *r, enum tg_state state, tg_sv op, tg_sv kind,
                        tg_sv message, tg_sv next)
{
    r->state = state;
    r->op = r->op_normalised = op;
    r->kind = kind;
    r->message = message;
    r->next = next;
}

static void judge_measure(struct eval *e, const struct scope *s, const struct tg_rule *rule)
{
    const struct tg_metric_info *info = tg_metric_info(rule->metric);
    struct limits l = limits_for(rule, NULL);
    struct tg_probe p = { .step_ns = s->c->step_ns[TG_BASE],
                          .bad = rule->bad,
                          .test_kind = l.test };
    struct tg_judgement j;
    struct tg_result *r = add_result(e, rule);
    bool known = probe_measure(&p, rule, s->c);
    r->metric = tg_sv_of(info->name);
    r->dimension = dimension_of(info->unit);
    if (!known && !(only_budgets(rule) && isfinite(p.test) && p.test > 0)) {
        add_message(r, rule->optional ? TG_STATE_SKIP : TG_STATE_INCONCLUSIVE, r->metric,
                    TG_SV("trace"), TG_SV("the traces do not carry what this metric needs"),
                    TG_SV("Record what docs/metrics.md names for it, or mark the rule optional."));
        return;
    }
    j = tg_judge(&p, &l.warn, &l.fail);
    if (!s->c->same_device && p.unit != TG_UNIT_COUNT && !only_budgets(rule)) {
        j.state = TG_STATE_NOT_JUDGED;
        j.why_not = "the two sides ran on different devices";
    }
    r->state = j.state;
    r->op = r->op_normalised = r->metric;
    r->kind = TG_SV("trace");
    r->unit = tg_sv_of(unit_text(p.unit));
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
    count_judged(e, r, p.exact || (p.ev && p.ev->judged != TG_JUDGED));
}

/* The step between its operators: host time that no operator's self time holds. */
static void judge_gaps(struct eval *e, const struct scope *s, const struct tg_rule *rule)
{
    struct limits l = limits_for(rule, NULL);
    const struct tg_op *step = &s->c->step;
    struct tg_probe p = { .step_ns = s->c->step_ns[TG_BASE],
                          .bad = rule->bad,
                          .test_kind = l.test,
                          .unit = TG_UNIT_NS,
                          .ev = &step->ev,
                          .base = step->ev.value[TG_BASE],
                          .test = step->ev.value[TG_TEST] };
    struct tg_judgement j;
    struct tg_result *r;
    if (step->ev.judged != TG_JUDGED && !step->ev.suspicious)
        return;
    j = tg_judge(&p, &l.warn, &l.fail);
    r = add_result(e, rule);
    fill_op(r, step, rule, &p, &j);
    r->op = r->op_normalised = TG_SV("ProfilerStep");
    r->kind = TG_SV("step");
    r->rank = fabs(r->delta);
    place_limit(r, &j, e->arena);
    tg_describe_measure(r, s->c, &p, &j, e->arena);
    count_judged(e, r, step->ev.judged != TG_JUDGED);
}

/* A replacement is judged as a whole: by the inclusive time of what encloses it, since cost may
 * have moved between the names inside. Only one that got slower is worth a line. */
static void judge_regions(struct eval *e, const struct scope *s, const struct tg_rule *rule)
{
    struct limits l = limits_for(rule, NULL);
    for (size_t i = 0; i < s->c->n_regions; i++) {
        const struct tg_region *g = &s->c->regions[i];
        struct tg_probe p = { .step_ns = s->c->step_ns[TG_BASE],
                              .bad = rule->bad,
                              .test_kind = l.test,
                              .unit = TG_UNIT_NS,
                              .ev = &g->ev,
                              .base = g->ev.value[TG_BASE],
                              .test = g->ev.value[TG_TEST] };
        struct tg_judgement j = tg_judge(&p, &l.warn, &l.fail);
        if (!g->encloser.n || !g->worse_time || j.state <= TG_STATE_NOT_JUDGED)
            continue;
        struct tg_op op = { .name = g->encloser,
                            .raw = { g->encloser, g->encloser },
                            .present = { true, true },
                            .kind = TG_KIND_ANNOTATION,
                            .region = TG_NO_ID,
                            .partner = TG_NO_ID };
        struct tg_result *r = add_result(e, rule);
        fill_op(r, &op, rule, &p, &j);
        r->rank = fabs(r->delta);
        place_limit(r, &j, e->arena);
        tg_describe_measure(r, s->c, &p, &j, e->arena);
        count_judged(e, r, false);
    }
}

/* ---- rules -------------------------------------------------------------------------------------
 */

static bool any_of(const struct tg_patterns *list, const char *text)
{
    return !list->n || (text && tg_patterns_test(list, tg_sv_of(text)) == TG_HIT_YES);
}

static tg_sv env_of(const struct tg_comparison *c, const char *key)
{
    const struct tg_side *side = &c->side[TG_TEST];
    if (side->n_runs && side->n_ranks) {
        const struct tg_shard *shard = side->at[0][0];
        for (size_t i = 0; i < shard->n_env; i++)
            if (tg_sv_eq(shard->env[i].key, tg_sv_of(key)))
                return shard->env[i].value;
    }
    return TG_SV("");
}

static bool applies(const struct eval *e, const struct tg_when *when)
{
    tg_sv device = env_of(e->in->comparison, "device");
    if (!when->present)
        return true;
    return any_of(&when->event, e->in->event) && any_of(&when->branch, e->in->branch) &&
           (!when->device.n || tg_patterns_test(&when->device, device) == TG_HIT_YES);
}

static bool judge_ops(struct eval *e, const struct scope *s, const struct tg_rule *rule)
{
    size_t matched = 0;
    bool gave_up = false;
    for (size_t i = 0; i < s->c->n_ops; i++) {
        switch (match_op(&rule->match, &s->c->ops[i])) {
        case TG_HIT_YES:
            matched++;
            judge_op(e, s, rule, &s->c->ops[i]);
            break;
        case TG_HIT_GAVE_UP:
            gave_up = true;
            break;
        case TG_HIT_NO:
            break;
        }
    }
    if (gave_up)
        add_message(add_result(e, rule), TG_STATE_INCONCLUSIVE, TG_SV("(pattern)"), TG_SV("guard"),
                    TG_SV("a regular expression gave up on a name: its budget of steps is used up"),
                    TG_SV("Write a simpler pattern; nested repeats are the usual cause."));
    if (!matched && !gave_up)
        add_message(add_result(e, rule), rule->optional ? TG_STATE_SKIP : TG_STATE_INCONCLUSIVE,
                    TG_SV("(no match)"), TG_SV("guard"),
                    TG_SV("the rule matches no name in either trace"),
                    TG_SV("Check the pattern with `tracegate names`, or mark the rule optional."));
    return true;
}

static bool judge_scope(struct eval *e, const struct scope *s, const struct tg_rule *rule)
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

static void no_baseline_of_rank(struct eval *e, const struct tg_rule *rule, int64_t rank)
{
    add_message(add_result(e, rule), TG_STATE_INCONCLUSIVE,
                tg_sv_of(tg_arena_printf(e->arena, "(rank %lld)", (long long)rank)), TG_SV("guard"),
                TG_SV("the baseline has no trace of this rank"),
                TG_SV("Record every rank on both sides."));
}

static bool judge_rule(struct eval *e, const struct tg_rule *rule)
{
    const struct tg_comparison *all = e->in->comparison;
    const struct tg_match *m = &rule->match;
    bool by_rank = (m->rank == TG_MATCH_RANK_EACH || m->rank == TG_MATCH_RANK_LIST) &&
                   all->n_ranks[TG_TEST] > 1 && e->in->of_rank;
    if (!applies(e, &rule->when)) {
        add_message(add_result(e, rule), TG_STATE_SKIP, TG_SV("(when)"), TG_SV("guard"),
                    TG_SV("the rule does not apply to this event, branch or device"), TG_SV(""));
        return true;
    }
    if (!by_rank)
        return judge_scope(e, &(struct scope){ all, -1 }, rule);
    for (size_t i = 0; i < all->n_ranks[TG_TEST]; i++) {
        struct scope s = { NULL, all->side[TG_TEST].ranks[i] };
        if (m->rank == TG_MATCH_RANK_LIST && !has_number(&m->ranks, s.rank))
            continue;
        if (!has_rank(&all->side[TG_BASE], s.rank)) {
            no_baseline_of_rank(e, rule, s.rank);
            continue;
        }
        s.c = e->in->of_rank(e->in->arg, s.rank, e->err);
        if (!s.c || !judge_scope(e, &s, rule))
            return false;
    }
    return true;
}

/* ---- waivers -----------------------------------------------------------------------------------
 */

static bool waives(const struct eval *e, const struct tg_waiver *w, const struct tg_result *r)
{
    return r->state == TG_STATE_FAIL && r->has_values && tg_sv_eq(w->rule, r->rule) &&
           (!w->name || tg_pattern_test(w->name, r->op_normalised) == TG_HIT_YES) &&
           applies(e, &w->when);
}

/* The accepted change has an upper limit: beyond it the failure is a new one. */
static bool within_ceiling(const struct eval *e, const struct tg_waiver *w,
                           const struct tg_result *r)
{
    struct tg_probe p = { .base = r->base,
                          .test = r->base + r->delta,
                          .exact = true,
                          .step_ns = e->in->comparison->step_ns[TG_BASE],
                          .unit = r->dimension == TG_DIM_DURATION ? TG_UNIT_NS
                                  : r->dimension == TG_DIM_RATIO  ? TG_UNIT_PERCENT
                                                                  : TG_UNIT_COUNT,
                          .bad = TG_ANY_IS_BAD };
    struct tg_limit_list ceiling = { .state = TG_LIMIT_ON, .v = &w->ceiling, .n = 1 };
    struct tg_limit_list none = { .state = TG_LIMIT_OFF };
    return tg_judge(&p, &none, &ceiling).state != TG_STATE_FAIL;
}

static void apply_waiver(struct eval *e, const struct tg_waiver *w, struct tg_result *r)
{
    struct tg_buf b = { 0 };
    int64_t late = e->in->today - w->expires;
    tg_buf_add(&b, r->evidence);
    tg_buf_puts(&b, b.n ? "; " : "");
    if (e->in->today && late > 0) {
        tg_buf_printf(&b, "waiver expired %lld day%s ago (%s:%u)", (long long)late,
                      late == 1 ? "" : "s", w->at.file ? w->at.file : "", w->at.line);
        r->next = TG_SV("Fix the regression, or renew the waiver with a new date.");
    } else if (!within_ceiling(e, w, r)) {
        tg_buf_puts(&b, "beyond the waiver's ceiling ");
        tg_limit_text(&w->ceiling, &b);
    } else {
        r->state = TG_STATE_WAIVED;
        tg_buf_puts(&b, "waived up to ");
        tg_limit_text(&w->ceiling, &b);
        tg_buf_printf(&b, " until %.*s: %.*s", TG_SV_ARG(w->expires_text), TG_SV_ARG(w->reason));
        if (e->in->today && late >= -14)
            r->next = TG_SV("The waiver ends within 14 days.");
    }
    r->evidence = tg_describe_take(&b, e->arena);
}

static void waive(struct eval *e)
{
    const struct tg_policy *p = e->in->policy;
    for (size_t i = 0; i < p->n_waivers; i++) {
        bool used = false;
        for (size_t k = 0; k < e->n; k++)
            if (waives(e, &p->waivers[i], &e->results[k])) {
                used = true;
                apply_waiver(e, &p->waivers[i], &e->results[k]);
            }
        if (!used)
            tg_verdict_add_note(
                e->out, e->arena, true, false,
                tg_sv_of(tg_arena_printf(
                    e->arena, "waiver for %.*s%s%.*s is unused (%s:%u)",
                    TG_SV_ARG(p->waivers[i].rule), p->waivers[i].name_text.n ? " " : "",
                    TG_SV_ARG(p->waivers[i].name_text),
                    p->waivers[i].at.file ? p->waivers[i].at.file : "", p->waivers[i].at.line)),
                TG_SV("Remove it when the change it accepted is in the baseline."));
    }
}

/* ---- guards ------------------------------------------------------------------------------------
 */

static void guard(struct eval *e, tg_sv name, tg_sv message, tg_sv next, struct tg_loc at)
{
    struct tg_result *r = add_result(e, NULL);
    add_message(r, TG_STATE_INCONCLUSIVE, name, TG_SV("guard"), message, next);
    r->rule = TG_SV("require");
    r->file = at.file;
    r->line = at.line;
    r->col = at.col;
    if (!e->inconclusive)
        e->out->error = message, e->out->error_hint = next;
    e->inconclusive = true;
}

static double kernels_per_step(const struct tg_comparison *c)
{
    double n = 0;
    for (size_t i = 0; i < c->n_ops; i++)
        if (c->ops[i].kind == TG_KIND_KERNEL)
            n += c->ops[i].count[TG_TEST];
    return n;
}

static bool has_op(const struct tg_comparison *c, const struct tg_pattern *p)
{
    for (size_t i = 0; i < c->n_ops; i++)
        if (c->ops[i].present[TG_TEST] && tg_pattern_test(p, c->ops[i].name) == TG_HIT_YES)
            return true;
    return false;
}

static void guards(struct eval *e)
{
    const struct tg_require *q = &e->in->policy->require;
    const struct tg_comparison *c = e->in->comparison;
    const struct tg_suite *suite = e->in->suite;
    if (q->steps && (!c->marked[TG_TEST] || c->n_steps[TG_TEST] < (size_t)q->steps))
        guard(e, TG_SV("steps"),
              tg_sv_of(tg_arena_printf(e->arena, "the fresh trace has %zu steps, required are %lld",
                                       c->marked[TG_TEST] ? c->n_steps[TG_TEST] : 0,
                                       (long long)q->steps)),
              TG_SV("Record more steps (the schedule's `active`), or lower require.steps."),
              q->steps_at);
    if (q->kernels && kernels_per_step(c) < (double)q->kernels)
        guard(e, TG_SV("kernels"),
              tg_sv_of(tg_arena_printf(
                  e->arena, "the fresh trace has %.0f kernels per step, required are %lld",
                  kernels_per_step(c), (long long)q->kernels)),
              TG_SV("Did the benchmark run on the device? Otherwise lower require.kernels."),
              q->kernels_at);
    for (size_t i = 0; i < q->ops.n; i++)
        if (!has_op(c, q->ops.v[i]))
            guard(
                e, tg_pattern_text(q->ops.v[i]),
                tg_sv_of(tg_arena_printf(e->arena, "required name '%.*s' is not in the fresh trace",
                                         TG_SV_ARG(tg_pattern_text(q->ops.v[i])))),
                TG_SV("Did the benchmark run the right program? Otherwise change require.ops."),
                q->ops_at);
    if (suite && suite->ranks_expect && c->n_ranks[TG_TEST] != (size_t)suite->ranks_expect)
        guard(e, TG_SV("ranks"),
              tg_sv_of(tg_arena_printf(e->arena, "%zu ranks came, %lld are expected",
                                       c->n_ranks[TG_TEST], (long long)suite->ranks_expect)),
              TG_SV("A rank's trace is missing, or ranks.expect is out of date."), suite->at);
    if (q->collapse && c->collapsed)
        guard(e, TG_SV("collapse"),
              TG_SV("more than half of the kernels are gone, and the device's busy time with them"),
              TG_SV("Did the benchmark run? If this is real, set `require: {collapse: off}`."),
              q->at);
}

/* ---- damaged traces ----------------------------------------------------------------------------
 */

struct damage {
    double overlap, device_time, bad, spans, empty, device_spans;
    uint64_t leniencies, unmatched;
    bool truncated;
};

static struct damage damage_of(const struct tg_side *side)
{
    struct damage d = { 0 };
    for (size_t run = 0; run < side->n_runs; run++)
        for (size_t rank = 0; rank < side->n_ranks; rank++) {
            const struct tg_shard *s = side->at[run][rank];
            d.overlap += (double)s->integrity.overlapping_ns;
            d.device_time += (double)s->device_time;
            d.bad += (double)(s->integrity.negative_durations + s->integrity.longer_than_step);
            d.spans += (double)s->spans;
            d.empty += (double)s->integrity.zero_kernels;
            d.device_spans += (double)s->device_spans;
            d.leniencies += s->leniencies;
            d.unmatched += s->integrity.unmatched_begin + s->integrity.unmatched_end;
            d.truncated |= s->truncated;
        }
    return d;
}

static void put_damage(struct tg_buf *b, const char *side, const struct damage *d)
{
    tg_buf_printf(b, "the %s traces are damaged:", side);
    if (d->overlap > MAX_OVERLAP * d->device_time)
        tg_buf_printf(b, " %.1f %% of device time runs past the next start on its stream;",
                      100 * d->overlap / d->device_time);
    if (d->bad > MAX_BAD_SPANS * d->spans)
        tg_buf_printf(b, " %.0f events have a negative duration or outlast every step;", d->bad);
    if (d->empty > MAX_EMPTY_KERNELS * d->device_spans)
        tg_buf_printf(b, " %.0f kernels have start 0 and duration 0;", d->empty);
    b->n -= b->p[b->n - 1] == ';';
    b->p[b->n] = '\0';
}

static void judge_damage(struct eval *e, const char *name, const struct damage *d)
{
    struct tg_buf b = { 0 };
    if (d->overlap > MAX_OVERLAP * d->device_time || d->bad > MAX_BAD_SPANS * d->spans ||
        d->empty > MAX_EMPTY_KERNELS * d->device_spans) {
        put_damage(&b, name, d);
        guard(e, TG_SV("integrity"), tg_describe_take(&b, e->arena),
              TG_SV("Record the trace again; a profiler that loses buffers writes such events."),
              TG_NOWHERE);
    }
    if (d->truncated) {
        tg_buf_printf(&b, "a %s trace is cut off: what is missing was not judged", name);
        tg_verdict_add_note(e->out, e->arena, true, true, tg_buf_sv(&b), TG_SV(""));
        tg_buf_clear(&b);
    }
    if (d->leniencies) {
        tg_buf_printf(&b, "%llu place%s of the %s traces beside the JSON standard accepted",
                      (unsigned long long)d->leniencies, d->leniencies == 1 ? "" : "s", name);
        tg_verdict_add_note(e->out, e->arena, false, false, tg_buf_sv(&b),
                            TG_SV("--strict-json refuses them and says where."));
        tg_buf_clear(&b);
    }
    if (d->unmatched) {
        tg_buf_printf(&b, "%llu begin or end event%s of the %s traces without a partner left out",
                      (unsigned long long)d->unmatched, d->unmatched == 1 ? "" : "s", name);
        tg_verdict_add_note(e->out, e->arena, false, false, tg_buf_sv(&b), TG_SV(""));
    }
    tg_buf_release(&b);
}

static void integrity(struct eval *e)
{
    static const char *const name[] = { "baseline", "fresh" };
    for (int side = 0; side < 2; side++) {
        struct damage d = damage_of(&e->in->comparison->side[side]);
        judge_damage(e, name[side], &d);
    }
}

/* ---- folding, order, outcome -------------------------------------------------------------------
 */

static int by_weight(const void *a, const void *b)
{
    const struct tg_result *x = a, *y = b;
    int c;
    if (x->state != y->state)
        return x->state > y->state ? -1 : 1;
    /* Cause lines: counts, then facts, then durations and ratios. */
    if ((x->dimension == TG_DIM_COUNT) != (y->dimension == TG_DIM_COUNT))
        return x->dimension == TG_DIM_COUNT ? -1 : 1;
    if (x->rank < y->rank || x->rank > y->rank)
        return x->rank > y->rank ? -1 : 1;
    if ((c = tg_sv_cmp(x->op_normalised, y->op_normalised)))
        return c;
    if ((c = tg_sv_cmp(x->rule, y->rule)))
        return c;
    return tg_sv_cmp(x->kind, y->kind);
}

static const struct tg_op *op_named(const struct tg_comparison *c, tg_sv kind, tg_sv name)
{
    for (size_t i = 0; i < c->n_ops; i++)
        if (tg_sv_eq(c->ops[i].name, name) &&
            tg_sv_eq(tg_sv_of(tg_kind_name(c->ops[i].kind)), kind))
            return &c->ops[i];
    return NULL;
}

static bool explains(const struct tg_result *cause, const struct tg_result *r,
                     const struct tg_op *op)
{
    return cause != r && cause->state == r->state && cause->dimension == TG_DIM_COUNT &&
           cause->folded_under == TG_NO_ID && tg_sv_eq(cause->op_normalised, op->parent) &&
           cause->delta == r->delta;
}

/*
 * An operator that is called as often more as the one that calls it is a consequence: one cause
 * line instead of five. `clone` calls `empty_like` and `copy_`: three rows, one cause.
 */
static void fold(struct eval *e)
{
    for (size_t i = 0; i < e->n; i++) {
        struct tg_result *r = &e->results[i];
        const struct tg_op *op;
        if (r->dimension != TG_DIM_COUNT || !r->has_values ||
            (r->state != TG_STATE_FAIL && r->state != TG_STATE_WARN) ||
            !tg_sv_eq(r->kind, TG_SV("op")))
            continue;
        op = op_named(e->in->comparison, r->kind, r->op_normalised);
        if (!op || !op->parent.n || tg_sv_eq(op->parent, op->name))
            continue;
        for (size_t k = 0; k < e->n; k++)
            if (explains(&e->results[k], r, op)) {
                r->folded_under = (uint32_t)k;
                break;
            }
    }
    /* A cause that was folded itself later passes its consequences on; no chains, no cycles. */
    for (size_t i = 0; i < e->n; i++)
        for (int hop = 0; hop < 32 && e->results[i].folded_under != TG_NO_ID; hop++) {
            uint32_t up = e->results[e->results[i].folded_under].folded_under;
            if (up == TG_NO_ID || up == i)
                break;
            e->results[i].folded_under = up;
        }
}

static void outcome(struct eval *e)
{
    struct tg_verdict *v = e->out;
    unsigned fail_on = e->in->policy->fail_on | TG_FAIL_ON_FAIL;
    size_t *n = v->n_state;
    bool lifted = false;
    for (size_t i = 0; i < v->n_notes; i++)
        lifted |= v->notes[i].lifts;
    if (n[TG_STATE_FAIL] || (fail_on & TG_FAIL_ON_WARN && n[TG_STATE_WARN]) ||
        (fail_on & TG_FAIL_ON_SUSPICIOUS && n[TG_STATE_SUSPICIOUS]) ||
        (fail_on & TG_FAIL_ON_INCONCLUSIVE && (n[TG_STATE_INCONCLUSIVE] || !e->judged))) {
        v->outcome = TG_OUTCOME_FAIL;
    } else if (e->inconclusive || !e->judged) {
        v->outcome = TG_OUTCOME_INCONCLUSIVE;
        if (!e->inconclusive) {
            v->error = TG_SV("nothing could be judged");
            v->error_hint =
                e->in->policy->n_rules
                    ? TG_SV("See the coverage line and the rules that were skipped.")
                    : TG_SV("The policy has no rules: write some, or start from the built-in ones "
                            "with `extends: [tracegate:recommended]`.");
        }
    } else if (n[TG_STATE_WARN] || n[TG_STATE_SUSPICIOUS] || n[TG_STATE_INCONCLUSIVE] || lifted) {
        v->outcome = TG_OUTCOME_WARN;
    } else {
        v->outcome = TG_OUTCOME_PASS;
    }
    v->exit_code = tg_outcome_exit_code(v->outcome);
}

void tg_verdict_add_note(struct tg_verdict *v, struct tg_arena *a, bool warning, bool lifts,
                         tg_sv text, tg_sv next)
{
    struct tg_note *grown = TG_NEW_N(a, struct tg_note, v->n_notes + 1);
    if (v->n_notes)
        memcpy(grown, v->notes, v->n_notes * sizeof *grown);
    grown[v->n_notes++] =
        (struct tg_note){ tg_arena_sv(a, text), tg_arena_sv(a, next), warning, lifts };
    v->notes = grown;
}

static void notes(struct eval *e)
{
    const struct tg_comparison *c = e->in->comparison;
    struct tg_buf b = { 0 };
    if (c->drifted) {
        tg_buf_puts(&b, "the whole machine is ");
        tg_describe_value(&b, 100 * fabs(expm1(c->drift)), TG_UNIT_PERCENT);
        tg_buf_printf(&b, " %s than for the baseline", c->drift > 0 ? "slower" : "faster");
        tg_verdict_add_note(
            e->out, e->arena, true, true, tg_buf_sv(&b),
            TG_SV("A slowdown of everything looks the same: compare on one machine, "
                  "or look at step_time."));
        tg_buf_clear(&b);
    }
    if (c->n_ranks[TG_BASE] != c->n_ranks[TG_TEST]) {
        tg_buf_printf(&b, "%zu ranks in the baseline, %zu fresh", c->n_ranks[TG_BASE],
                      c->n_ranks[TG_TEST]);
        tg_verdict_add_note(e->out, e->arena, true, true, tg_buf_sv(&b),
                            TG_SV("What the missing ranks did was not compared. `ranks: {expect: "
                                  "N}` in the suite makes a missing rank inconclusive."));
        tg_buf_clear(&b);
    }
    if (!c->marked[TG_BASE] || !c->marked[TG_TEST]) {
        tg_buf_puts(&b, "no ProfilerStep markers: the whole trace counts as one step");
        if (c->iteration_ratio != 1)
            tg_buf_printf(&b, ", counts are divided by the common ratio %.4g", c->iteration_ratio);
        struct tg_buf next = { 0 };
        if (c->n_hints)
            tg_buf_printf(&next, "window: {by: annotation, name: \"%.*s\"}",
                          TG_SV_ARG(c->hints[0].name));
        else
            tg_buf_puts(&next, "Call prof.step() once an iteration.");
        tg_verdict_add_note(e->out, e->arena, false, false, tg_buf_sv(&b), tg_buf_sv(&next));
        tg_buf_release(&next);
        tg_buf_clear(&b);
    }
    for (size_t i = 0; i < c->n_env; i++) {
        const struct tg_env_change *x = &c->env[i];
        tg_buf_printf(&b, "%.*s: %.*s -> %.*s", TG_SV_ARG(x->key),
                      TG_SV_ARG(x->value[0].n ? x->value[0] : TG_SV("unknown")),
                      TG_SV_ARG(x->value[1].n ? x->value[1] : TG_SV("unknown")));
        tg_verdict_add_note(e->out, e->arena, false, false, tg_buf_sv(&b), TG_SV(""));
        tg_buf_clear(&b);
    }
    tg_buf_release(&b);
}

/* What the policy asks for and this version does not do must not look as if it were done. */
static void note_not_done(struct eval *e)
{
    const struct tg_policy *p = e->in->policy;
    bool sustained = false, narrow = false, spread = false;
    for (size_t i = 0; i < p->n_rules; i++) {
        sustained |= p->rules[i].sustained > 1;
        narrow |= p->rules[i].match.devices.n || p->rules[i].match.streams.n;
        spread |= p->rules[i].metric == TG_METRIC_RANK_SPREAD;
    }
    if (sustained || narrow || spread || p->noise.history > 0)
        tg_verdict_add_note(e->out, e->arena, true, false,
                            TG_SV("the policy uses options that this version does not act on yet"),
                            TG_SV("tracegate policy lint names them (TG250)."));
}

bool tg_eval(struct tg_verdict *out, const struct tg_eval_input *in, struct tg_arena *a,
             struct tg_err *err)
{
    struct eval e = { .in = in, .out = out, .arena = a, .err = err };
    bool ok = true;
    *out = (struct tg_verdict){ .comparison = in->comparison,
                                .suite = in->suite ? in->suite->name : TG_SV("default"),
                                .policy = in->policy->built_in ? TG_SV("built-in policy")
                                                               : in->policy->file,
                                .version = TG_SV(TG_VERSION) };
    note_not_done(&e);
    notes(&e);
    guards(&e);
    integrity(&e);
    for (size_t i = 0; ok && i < in->policy->n_rules; i++)
        ok = judge_rule(&e, &in->policy->rules[i]);
    if (ok) {
        waive(&e);
        if (e.n)
            qsort(e.results, e.n, sizeof *e.results, by_weight);
        fold(&e);
        out->results = TG_NEW_N(a, struct tg_result, e.n);
        if (e.n)
            memcpy(out->results, e.results, e.n * sizeof *e.results);
        out->n_results = e.n;
        for (size_t i = 0; i < e.n; i++)
            out->n_state[e.results[i].state]++;
        outcome(&e);
        tg_describe_verdict(out, in->comparison, a);
    }
    free(e.results);
    return ok;
}

void tg_verdict_of_error(struct tg_verdict *out, const struct tg_err *why, struct tg_arena *a)
{
    *out = (struct tg_verdict){ .outcome = why->kind == TG_ERR_LOST ? TG_OUTCOME_INCONCLUSIVE
                                                                    : TG_OUTCOME_ERROR,
                                .suite = TG_SV("default"),
                                .version = TG_SV(TG_VERSION) };
    out->exit_code = tg_err_exit_code(why->kind);
    out->error = tg_sv_of(tg_arena_printf(a, "%s%s%s", why->file[0] ? why->file : "",
                                          why->file[0] ? ": " : "", why->message));
    out->error_hint = tg_arena_sv(a, tg_sv_of(why->hint));
    out->headline = tg_sv_of(
        tg_arena_printf(a, "%s: %.*s", out->outcome == TG_OUTCOME_ERROR ? "ERROR" : "INCONCLUSIVE",
                        TG_SV_ARG(out->error)));
    out->coverage = TG_SV("nothing judged");
}

void tg_verdict_first_run(struct tg_verdict *out, enum tg_outcome outcome_, struct tg_arena *a)
{
    *out = (struct tg_verdict){ .outcome = outcome_,
                                .exit_code = tg_outcome_exit_code(outcome_),
                                .suite = TG_SV("default"),
                                .version = TG_SV(TG_VERSION) };
    out->headline = TG_SV("FIRST RUN: no baseline existed yet; nothing was compared");
    out->coverage = TG_SV("nothing judged: first run");
    if (outcome_ != TG_OUTCOME_PASS)
        out->error = TG_SV("no baseline existed yet");
    tg_verdict_add_note(
        out, a, true, false,
        TG_SV("neither a policy nor a baseline of this suite existed at the baseline commit"),
        TG_SV("Commit a baseline, or record one on the main branch; the next run compares."));
}
