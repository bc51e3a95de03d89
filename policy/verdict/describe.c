#include "policy/verdict/describe.h"

#include <math.h>

#include "core/base/decimal.h"
#include "core/base/utf8.h"

/* Operators whose smallest detectable change the coverage line tells. */
#define LARGEST 2

tg_sv tg_describe_take(struct tg_buf *b, struct tg_arena *a)
{
    tg_sv s = tg_arena_sv(a, tg_buf_sv(b));
    tg_buf_release(b);
    return s;
}

static void put_bytes(struct tg_buf *out, double v)
{
    static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    size_t i = 0;
    while (fabs(v) >= 1024 && i < 4) {
        v /= 1024;
        i++;
    }
    tg_dec_put_fixed(out, v, i ? 1 : 0);
    tg_buf_printf(out, " %s", unit[i]);
}

void tg_describe_value(struct tg_buf *out, double v, enum tg_unit unit)
{
    switch (unit) {
    case TG_UNIT_NS:
        tg_dec_put_human_ns(out, v);
        break;
    case TG_UNIT_PERCENT:
        tg_dec_put_fixed(out, v, 1);
        tg_buf_puts(out, " %");
        break;
    case TG_UNIT_BYTES:
        put_bytes(out, v);
        break;
    case TG_UNIT_RATE:
        tg_dec_put_fixed(out, v, 2);
        tg_buf_puts(out, " GB/s");
        break;
    case TG_UNIT_COUNT:
    case TG_UNIT_FACT:
        tg_dec_put_fixed(out, v, v == floor(v) ? 0 : 2);
        break;
    }
}

static void put_signed(struct tg_buf *out, double v, enum tg_unit unit)
{
    if (v >= 0)
        tg_buf_putc(out, '+');
    tg_describe_value(out, v, unit);
}

static void put_pct(struct tg_buf *out, double pct)
{
    tg_buf_puts(out, pct >= 0 ? "+" : "");
    tg_dec_put_fixed(out, pct, fabs(pct) < 10 ? 1 : 0);
    tg_buf_puts(out, " %");
}

static void put_share(struct tg_buf *out, double share)
{
    if (!isfinite(share) || share < 0.0005)
        return;
    tg_buf_puts(out, ", ");
    tg_dec_put_fixed(out, 100 * share, 1);
    tg_buf_puts(out, " % of the step");
}

static const char *verb(enum tg_kind kind)
{
    switch (kind) {
    case TG_KIND_KERNEL:
    case TG_KIND_MEMCPY:
    case TG_KIND_MEMSET:
    case TG_KIND_GRAPH:
        return "launched";
    default:
        return "called";
    }
}

/* ", all inside aten::bmm" */
static void put_inside(struct tg_buf *m, const struct tg_op *op)
{
    if (!op->inside.n)
        return;
    tg_buf_puts(m, ", ");
    if (op->inside_part < 1) {
        tg_dec_put_fixed(m, 100 * op->inside_part, 0);
        tg_buf_puts(m, " % of them");
    } else {
        tg_buf_puts(m, "all");
    }
    tg_buf_printf(m, " inside %.*s", TG_SV_ARG(op->inside));
}

/* One value per run, in the order of runs. */
static void put_runs(struct tg_buf *m, const struct tg_comparison *c, const struct tg_op *op)
{
    size_t n = c->n_runs[TG_TEST];
    tg_buf_puts(m, "; the runs disagree: ");
    for (size_t i = 0; i < n && i < 12; i++) {
        tg_buf_puts(m, i ? ", " : "");
        tg_describe_value(m, op->counted.run[TG_TEST][i], TG_UNIT_COUNT);
    }
    tg_buf_puts(m, n > 12 ? ", …" : "");
}

/* Where the calls came, when not in every step of every run. */
static void put_where(struct tg_buf *m, const struct tg_comparison *c, const struct tg_op *op)
{
    const struct tg_count_evidence *ev = &op->counted;
    if (ev->proof == TG_COUNT_UNCHANGED || op->launched)
        return;
    switch (ev->shape) {
    case TG_COUNT_CONSTANT:
        return;
    case TG_COUNT_RUNS_DIFFER:
        put_runs(m, c, op);
        return;
    case TG_COUNT_SOME_STEPS:
    case TG_COUNT_FIRST_STEP:
        if (!ev->above || op->change == TG_FEWER || op->change == TG_REMOVED)
            return;
        tg_buf_printf(m, "; up to ");
        tg_describe_value(m, ev->most, TG_UNIT_COUNT);
        tg_buf_printf(m, " in %u of %u steps of %u of %zu runs%s", ev->above, ev->steps,
                      ev->runs_above, c->n_runs[TG_TEST],
                      ev->shape == TG_COUNT_FIRST_STEP ? ", the first ones" : "");
        return;
    case TG_COUNT_BREAKS:
        tg_buf_printf(m, "; was: what goes with the calls of %.*s", TG_SV_ARG(ev->with));
        return;
    case TG_COUNT_VARIES:
        tg_buf_puts(m, "; the baseline's steps differ, too");
        return;
    }
}

static void describe_count(struct tg_buf *m, const struct tg_comparison *c, const struct tg_op *op,
                           const struct tg_probe *p)
{
    if (op->change == TG_ADDED)
        tg_buf_puts(m, "new: ");
    if (op->change == TG_REMOVED)
        tg_buf_puts(m, "gone: ");
    if (op->launched)
        tg_buf_puts(m, "work on the device ");
    tg_buf_printf(m, "%s ", op->launched ? "launched" : verb(op->kind));
    tg_describe_value(m, p->test, TG_UNIT_COUNT);
    tg_buf_puts(m, p->test == 1 ? " time per step, was " : " times per step, was ");
    tg_describe_value(m, p->base, TG_UNIT_COUNT);
    tg_buf_puts(m, " (");
    put_signed(m, p->test - p->base, TG_UNIT_COUNT);
    put_share(m, op->share[op->present[TG_TEST] ? TG_TEST : TG_BASE]);
    tg_buf_puts(m, ")");
    put_inside(m, op);
    put_where(m, c, op);
}

/* "in one step of each run 12.3 ms, in the baseline at most 4.1 ms" */
static void describe_some_steps(struct tg_buf *m, const struct tg_evidence *ev)
{
    tg_buf_puts(m, "the slowest step of each fresh run takes ");
    tg_describe_value(m, ev->slowest[TG_TEST], TG_UNIT_NS);
    tg_buf_puts(m, ", of the baseline's ");
    tg_describe_value(m, ev->slowest[TG_BASE], TG_UNIT_NS);
}

static void describe_change(struct tg_buf *m, const struct tg_probe *p, double share)
{
    double pct = tg_probe_pct(p);
    tg_describe_value(m, p->test, p->unit);
    if (isnan(p->base)) {
        tg_buf_puts(m, " per step, unknown in the baseline");
        return;
    }
    tg_buf_puts(m, " per step, was ");
    tg_describe_value(m, p->base, p->unit);
    tg_buf_puts(m, " (");
    if (p->unit == TG_UNIT_PERCENT) {
        tg_buf_puts(m, p->test >= p->base ? "+" : "");
        tg_dec_put_fixed(m, p->test - p->base, 1);
        tg_buf_puts(m, " points");
    } else if (isnan(pct)) {
        put_signed(m, tg_probe_delta(p), p->unit);
    } else {
        put_pct(m, pct);
        tg_buf_puts(m, ", ");
        put_signed(m, tg_probe_delta(p), p->unit);
    }
    put_share(m, share);
    tg_buf_puts(m, ")");
}

/* "registers 128 -> 255": the word before one value is given once; several values keep theirs. */
static tg_sv without_shared_word(tg_sv base, tg_sv test)
{
    tg_sv rest_base = base, rest = test;
    tg_sv word = tg_sv_cut(&rest_base, ' ');
    if (tg_sv_has(base, TG_SV(", ")) || tg_sv_has(test, TG_SV(", ")) || !rest_base.n)
        return test;
    return tg_sv_eq(tg_sv_cut(&rest, ' '), word) && rest.n ? rest : test;
}

static void describe_facts(struct tg_buf *m, const struct tg_op *op, tg_sv kind)
{
    bool any = false;
    tg_buf_puts(m, op->kind == TG_KIND_OP ? "same calls: " : "same launches: ");
    for (size_t i = 0; i < op->n_facts; i++) {
        const struct tg_fact_change *f = &op->facts[i];
        if (!tg_sv_eq(f->kind, kind))
            continue;
        tg_sv test = without_shared_word(f->base, f->test);
        tg_buf_printf(m, "%s%s%.*s -> %.*s", any ? "; " : "",
                      tg_sv_eq(kind, TG_SV("bytes")) ? "bytes " : "", TG_SV_ARG(f->base),
                      TG_SV_ARG(test));
        any = true;
    }
}

static void describe_relation(struct tg_buf *m, const struct tg_op *op,
                              const struct tg_comparison *c)
{
    if (op->relation == TG_REL_RENAMED && op->partner != TG_NO_ID) {
        const struct tg_op *other = &c->ops[op->partner];
        tg_buf_printf(m, "; renamed %s %.*s?", op->present[TG_TEST] ? "from" : "to",
                      TG_SV_ARG(other->name));
        return;
    }
    if (op->region == TG_NO_ID || op->region >= c->n_regions)
        return;
    const struct tg_region *g = &c->regions[op->region];
    if (op->relation == TG_REL_REPLACED || op->relation == TG_REL_REPLACED_WORSE) {
        tg_buf_puts(m, op->relation == TG_REL_REPLACED ? "; replaced within " : "; part of ");
        if (g->encloser.n)
            tg_buf_printf(m, "%.*s", TG_SV_ARG(g->encloser));
        else
            tg_buf_puts(m, "the step");
        tg_buf_puts(m, ": ");
        tg_describe_value(m, g->calls[TG_BASE], TG_UNIT_COUNT);
        tg_buf_puts(m, " -> ");
        tg_describe_value(m, g->calls[TG_TEST], TG_UNIT_COUNT);
        tg_buf_puts(m, " calls");
    }
}

/* What `pct: auto` comes to with this number of runs. */
static void put_auto(struct tg_buf *b, const struct tg_limit *l, const struct tg_evidence *ev)
{
    for (size_t i = 0; ev && ev->tau > 0 && i < l->n; i++)
        if (l->bound[i].is_auto) {
            tg_buf_puts(b, " (auto is ");
            tg_dec_put_fixed(b, 100 * ev->tau, 0);
            tg_buf_puts(b, " %)");
        }
}

const char *tg_exception_meaning(enum tg_exception x)
{
    static const char *const meaning[] = {
        [TG_EXCEPTION_NONE] = "",
        [TG_EXCEPTION_RENAMED] = "renamed",
        [TG_EXCEPTION_REPLACED] = "replaced",
        [TG_EXCEPTION_SMALL] = "new and under 0.1 % of the step",
        [TG_EXCEPTION_POLLING] = "polling",
    };
    return meaning[x];
}

/* Why what exceeds a failing limit only warns. */
static void put_exception(struct tg_buf *b, const struct tg_judgement *j)
{
    if (j->state == TG_STATE_WARN && j->exception)
        tg_buf_printf(b, "; only warns: %s (the rule's exceptions)",
                      tg_exception_meaning(j->exception));
}

/* "5 of 5 runs above all 5 baseline runs, noise 1.8 %, smallest detectable change 8 %" */
static void describe_evidence(struct tg_result *r, const struct tg_comparison *c,
                              const struct tg_probe *p, const struct tg_judgement *j,
                              struct tg_arena *a)
{
    struct tg_buf b = { 0 };
    const struct tg_evidence *ev = p->exact ? NULL : p->ev;
    if (ev && ev->judged == TG_JUDGED) {
        tg_buf_printf(&b, "%u of %u runs above all %u baseline runs", ev->above, ev->pairs,
                      (unsigned)c->n_runs[TG_BASE]);
        if (ev->estimate == TG_ESTIMATE_USUAL)
            tg_buf_puts(&b, " in the usual step");
        tg_buf_puts(&b, ", noise ");
        tg_dec_put_fixed(&b, 100 * ev->noise, 1);
        tg_buf_puts(&b, " %, detectable from ");
        put_pct(&b, 100 * ev->mde);
        if (c->drifted) {
            tg_buf_puts(&b, ", machine-wide drift ");
            put_pct(&b, 100 * expm1(c->drift));
            tg_buf_puts(&b, c->drift > 0 ? " removed" : " seen");
        }
    } else if (j->why_not) {
        tg_buf_printf(&b, "not judged: %s", j->why_not);
    }
    if (j->limit) {
        tg_buf_puts(&b, b.n ? "; limit " : p->exact ? "exact; limit " : "limit ");
        tg_limit_text(j->limit, &b);
        put_auto(&b, j->limit, p->ev);
    }
    put_exception(&b, j);
    r->evidence = tg_describe_take(&b, a);
    if (j->state == TG_STATE_SUSPICIOUS ||
        (j->state == TG_STATE_NOT_JUDGED && ev && ev->judged == TG_NOT_FEW_RUNS))
        r->next = TG_SV("Record at least 3 (better 5) runs a side; then this can be judged.");
}

void tg_describe_op(struct tg_result *r, const struct tg_op *op, const struct tg_comparison *c,
                    const struct tg_probe *p, const struct tg_judgement *j, struct tg_arena *a)
{
    struct tg_buf m = { 0 };
    if (r->dimension == TG_DIM_FACT && !r->has_values) {
        if (j->state == TG_STATE_PASS)
            tg_buf_puts(&m, "as before");
        else
            describe_facts(&m, op,
                           tg_sv_eq(r->metric, TG_SV("launch_config"))  ? TG_SV("launch")
                           : tg_sv_eq(r->metric, TG_SV("input_types"))  ? TG_SV("types")
                           : tg_sv_eq(r->metric, TG_SV("input_shapes")) ? TG_SV("shapes")
                                                                        : TG_SV("bytes"));
    } else if (r->dimension == TG_DIM_COUNT) {
        describe_count(&m, c, op, p);
    } else if (j->some_steps) {
        describe_some_steps(&m, p->ev);
    } else {
        describe_change(&m, p, op->share[op->present[TG_TEST] ? TG_TEST : TG_BASE]);
    }
    describe_relation(&m, op, c);
    r->message = tg_describe_take(&m, a);
    describe_evidence(r, c, p, j, a);
}

void tg_describe_measure(struct tg_result *r, const struct tg_comparison *c,
                         const struct tg_probe *p, const struct tg_judgement *j, struct tg_arena *a)
{
    struct tg_buf m = { 0 };
    describe_change(&m, p, NAN);
    r->message = tg_describe_take(&m, a);
    describe_evidence(r, c, p, j, a);
}

/* What changed in an exact fact, without the "same launches" before it. */
static void put_fact(struct tg_buf *b, const struct tg_result *r)
{
    tg_sv change = r->message;
    (void)tg_sv_cut(&change, ' ');
    (void)tg_sv_cut(&change, ' ');
    if (r->dimension != TG_DIM_FACT || !change.n)
        return;
    tg_sv shown = tg_utf8_prefix(change, 40);
    tg_buf_printf(b, " %.*s%s", TG_SV_ARG(shown), shown.n < change.n ? "…" : "");
}

static void put_names(struct tg_buf *b, const struct tg_verdict *v, enum tg_state state)
{
    size_t shown = 0, total = 0;
    for (size_t i = 0; i < v->n_results; i++)
        total += v->results[i].state == state && v->results[i].folded_under == TG_NO_ID;
    for (size_t i = 0; i < v->n_results && shown < 3; i++) {
        const struct tg_result *r = &v->results[i];
        if (r->state != state || r->folded_under != TG_NO_ID)
            continue;
        tg_buf_puts(b, shown++ ? ", " : ": ");
        tg_sv name = tg_utf8_prefix(r->op_normalised, 60);
        tg_buf_printf(b, "%.*s%s", TG_SV_ARG(name), name.n < r->op_normalised.n ? "…" : "");
        if (!r->has_values) {
            put_fact(b, r);
            continue;
        }
        tg_buf_putc(b, ' ');
        if (r->dimension == TG_DIM_COUNT && tg_sv_eq(r->kind, TG_SV("trace"))) {
            put_signed(b, r->delta, TG_UNIT_COUNT);
        } else if (r->dimension == TG_DIM_COUNT) {
            put_signed(b, r->delta, TG_UNIT_COUNT);
            tg_buf_puts(b, fabs(r->delta) == 1 ? " call" : " calls");
        } else if (r->dimension == TG_DIM_RATIO) {
            tg_dec_put_fixed(b, r->test, 1);
            tg_buf_puts(b, " %");
        } else if (isfinite(r->delta_pct)) {
            put_pct(b, r->delta_pct);
        }
    }
    if (total > shown)
        tg_buf_printf(b, " and %zu more", total - shown);
}

static size_t unfolded(const struct tg_verdict *v, enum tg_state state)
{
    size_t n = 0;
    for (size_t i = 0; i < v->n_results; i++)
        n += v->results[i].state == state && v->results[i].folded_under == TG_NO_ID;
    return n;
}

static void describe_headline(struct tg_verdict *v, struct tg_arena *a)
{
    struct tg_buf b = { 0 };
    size_t fails = unfolded(v, TG_STATE_FAIL), warns = unfolded(v, TG_STATE_WARN);
    size_t suspicious = unfolded(v, TG_STATE_SUSPICIOUS);
    switch (v->outcome) {
    case TG_OUTCOME_FAIL:
        tg_buf_printf(&b, "FAIL: %zu %s", fails, fails == 1 ? "violation" : "violations");
        put_names(&b, v, TG_STATE_FAIL);
        break;
    case TG_OUTCOME_WARN:
        tg_buf_puts(&b, "WARN: nothing failed");
        if (warns) {
            tg_buf_printf(&b, ", %zu %s", warns, warns == 1 ? "warning" : "warnings");
            put_names(&b, v, TG_STATE_WARN);
        }
        if (suspicious) {
            tg_buf_printf(&b, "%s%zu suspicious", warns ? "; " : ", ", suspicious);
            put_names(&b, v, TG_STATE_SUSPICIOUS);
        }
        break;
    case TG_OUTCOME_INCONCLUSIVE:
        tg_buf_printf(&b, "INCONCLUSIVE: %.*s", TG_SV_ARG(v->error));
        break;
    case TG_OUTCOME_ERROR:
        tg_buf_printf(&b, "ERROR: %.*s", TG_SV_ARG(v->error));
        break;
    case TG_OUTCOME_PASS:
        tg_buf_puts(&b, "PASS: no regression found");
        break;
    }
    v->headline = tg_describe_take(&b, a);
}

/* The largest operator after `above` (self time); NULL: none that is judged. */
static const struct tg_op *next_largest(const struct tg_comparison *c, double above)
{
    const struct tg_op *largest = NULL;
    for (size_t i = 0; i < c->n_ops; i++) {
        const struct tg_op *op = &c->ops[i];
        if (op->ev.judged == TG_JUDGED && op->kind != TG_KIND_STEP &&
            op->ev.value[TG_BASE] < above &&
            (!largest || op->ev.value[TG_BASE] > largest->ev.value[TG_BASE]))
            largest = op;
    }
    return largest;
}

/* "; detectable with these runs: step time from +9 %, aten::mm from +12 %, aten::add from +30 %" */
static void put_detectable(struct tg_buf *b, const struct tg_comparison *c)
{
    const struct tg_evidence *step = &c->measures[TG_MEASURE_STEP_TIME].ev;
    const struct tg_op *op = NULL;
    const char *before = "; detectable with these runs: ";
    if (step->judged == TG_JUDGED) {
        tg_buf_printf(b, "%sstep time from ", before);
        put_pct(b, 100 * step->mde);
        before = ", ";
    }
    for (int i = 0; i < LARGEST; i++) {
        op = next_largest(c, op ? op->ev.value[TG_BASE] : INFINITY);
        if (!op)
            break;
        tg_buf_printf(b, "%s%.*s from ", before, TG_SV_ARG(op->name));
        put_pct(b, 100 * op->ev.mde);
        before = ", ";
    }
}

void tg_describe_verdict(struct tg_verdict *v, const struct tg_comparison *c, struct tg_arena *a)
{
    struct tg_buf b = { 0 };
    describe_headline(v, a);
    tg_buf_puts(&b, v->counts_judged ? "counts judged" : "counts not judged");
    if (v->counts_judged && !c->same_device)
        tg_buf_puts(&b, ", but not of kernels");
    if (!v->counts_judged && !v->counts_asked)
        tg_buf_puts(&b, ": no rule asks for them");
    if (v->durations_judged) {
        tg_buf_printf(&b, "; durations judged: %zu baseline run%s", c->n_runs[TG_BASE],
                      c->n_runs[TG_BASE] == 1 ? "" : "s");
        tg_buf_printf(&b, ", %zu fresh run%s", c->n_runs[TG_TEST],
                      c->n_runs[TG_TEST] == 1 ? "" : "s");
        put_detectable(&b, c);
    } else {
        tg_buf_puts(&b, "; durations not judged");
        if (!c->marked[TG_BASE] || !c->marked[TG_TEST])
            tg_buf_puts(&b, ": no step markers");
        else if (!c->same_device)
            tg_buf_printf(&b, ": the sides differ in %.*s", TG_SV_ARG(c->differs));
        else if (!c->same_flags)
            tg_buf_puts(&b, ": other profiler flags");
        else if (c->busy)
            tg_buf_puts(&b, ": the machine was busy during the fresh runs");
        else if (c->n_runs[TG_BASE] < 3 || c->n_runs[TG_TEST] < 3)
            tg_buf_printf(&b, ": %zu baseline run%s and %zu fresh, at least 3 a side are needed",
                          c->n_runs[TG_BASE], c->n_runs[TG_BASE] == 1 ? "" : "s",
                          c->n_runs[TG_TEST]);
    }
    v->coverage = tg_describe_take(&b, a);
}
