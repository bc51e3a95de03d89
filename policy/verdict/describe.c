#include "policy/verdict/internal.h"

#include <math.h>
#include <string.h>

#include "core/base/decimal.h"
#include "core/diff/confirm.h"
#include "policy/language/keys.h"

#define RAISE "Raise the limit to what the program needs."

/* Host and device work at the same time: their shares add up to more than the step. */
static void put_share(struct tg_buf *out, const char *when, double share, enum tg_kind kind)
{
    if (!isfinite(share) || share < 0.0005)
        return;
    tg_buf_printf(out, ", %s%s of the step%s", when, TG_VALUE(100 * share, TG_UNIT_PERCENT),
                  tg_kind_is_device(kind) ? " on the device" : "");
}

static bool is_launched(const struct tg_op *op)
{
    return tg_kind_is_device(op->kind) || op->kind == TG_KIND_GRAPH;
}

static const char *verb(const struct tg_op *op)
{
    return op->launched ? "work on the device launched" : is_launched(op) ? "launched" : "called";
}

static void describe_count(struct tg_buf *m, const struct tg_comparison *c, const struct tg_op *op,
                           const double calls[2], tg_sv weight)
{
    const struct tg_rank_shift *alone = tg_op_rank_alone(c, op);
    const struct tg_count_evidence *ev = &op->counted;
    double now = calls[TG_TEST], was = calls[TG_BASE];
    bool some = tg_op_in_some_steps(op), came = op->change == TG_ADDED && was == 0;
    if (!op->launched && !some && (came || (op->change == TG_REMOVED && now == 0))) {
        /* "new, 4 calls per step", "gone, was 4 calls per step": one side has none */
        double n = alone ? alone->count[TG_TEST] : came ? now : was;
        tg_buf_printf(m, "%s%s %s%s per step", came ? "new, " : "gone, was ",
                      TG_VALUE(n, TG_UNIT_COUNT),
                      !is_launched(op) ? "call"
                      : n == 1         ? "launch"
                                       : "launche",
                      n == 1 ? "" : "s");
        if (alone)
            tg_buf_printf(m, " on rank %lld alone", (long long)alone->rank);
        tg_buf_add(m, weight);
    } else {
        tg_buf_puts(m, op->change == TG_ADDED ? "new: " : op->change == TG_REMOVED ? "gone: " : "");
        if (some)
            tg_phrase_some_steps(m, ev, c->n_runs[TG_TEST]);
        else
            tg_buf_printf(m, "%s %s time%s per step", verb(op), TG_VALUE(now, TG_UNIT_COUNT),
                          now == 1 ? "" : "s");
        tg_buf_printf(m, ", was %s (%s%s", TG_VALUE(was, TG_UNIT_COUNT),
                      TG_SIGNED(now - was, TG_UNIT_COUNT), some ? " a step in the mean" : "");
        if (alone) /* the mean over ranks of what one does more */
            tg_buf_printf(m, ", %s on rank %lld alone",
                          TG_SIGNED(alone->count[TG_TEST] - alone->count[TG_BASE], TG_UNIT_COUNT),
                          (long long)alone->rank);
        tg_buf_add(m, weight);
        tg_buf_puts(m, ")");
    }
    if (op->calling_op.n) { /* ", all inside aten::bmm" */
        tg_buf_puts(m, ", ");
        if (op->calling_part < 1) {
            tg_dec_put_fixed(m, 100 * op->calling_part, 0);
            tg_buf_puts(m, " % of them");
        } else {
            tg_buf_puts(m, "all");
        }
        tg_buf_printf(m, " inside " TG_NAME, TG_SV_ARG(op->calling_op));
    }
    /* Where the calls came, when not in every step of every run; of some steps it is said. */
    if (ev->proof == TG_COUNT_UNCHANGED || op->launched)
        return;
    if (ev->shape == TG_COUNT_VARIES)
        tg_buf_printf(m, "; the baseline's steps differ, too%s",
                      ev->by_step ? ", but none has fewer calls now" : "");
    if (ev->shape != TG_COUNT_RUNS_DIFFER)
        return;
    size_t n = c->n_runs[TG_TEST];
    tg_buf_puts(m, "; the runs disagree: "); /* one value each, in their order */
    for (size_t i = 0; i < n && i < 12; i++)
        tg_buf_printf(m, "%s%s", i ? ", " : "", TG_VALUE(ev->run[TG_TEST][i], TG_UNIT_COUNT));
    tg_buf_puts(m, n > 12 ? ", …" : "");
}

/* "the slowest step of each fresh run takes 12.3 ms, of the baseline's 4.1 ms" */
static void describe_some_steps(struct tg_buf *m, const struct tg_evidence *ev)
{
    if (ev->some_steps)
        tg_buf_puts(m, "the slowest step of each fresh run takes ");
    else
        tg_buf_printf(m, "%u of %zu fresh runs are slower, the middle one takes ", ev->some_runs,
                      ev->n_x[TG_TEST]);
    tg_buf_printf(m, "%s%s%s", TG_VALUE(ev->slowest[TG_TEST], TG_UNIT_NS),
                  ev->some_steps ? ", of the baseline's " : ", the slowest of the baseline ",
                  TG_VALUE(ev->slowest[TG_BASE], TG_UNIT_NS));
}

/* "1.2 ms per step"; a benchmark's number with its own unit. */
static void put_measured(struct tg_buf *m, const struct tg_probe *p, const struct tg_result *r)
{
    tg_buf_puts(m, TG_BESIDE(p->test, p->base, p->unit));
    if (p->unit != TG_UNIT_NUMBER)
        tg_buf_puts(m, r->metric == TG_RULE_METRIC_SHARE ? " of the step" : " per step");
    else if (r->unit.n)
        tg_buf_printf(m, " %.*s", TG_SV_ARG(r->unit));
}

static void describe_change(struct tg_buf *m, const struct tg_probe *p, const struct tg_result *r,
                            const struct tg_op *op, const struct tg_comparison *c)
{
    double pct = tg_probe_measured_pct(p), by = p->test - p->base;
    size_t pooled = p->ev ? p->ev->pooled : 0;
    tg_buf_puts(m, r->of_fastest ? "in the fastest steps " : "");
    put_measured(m, p, r);
    if (isnan(p->base)) {
        tg_buf_puts(m, ", unknown in the baseline");
        return;
    }
    tg_buf_printf(m, ", was %s (", TG_BESIDE(p->base, p->test, p->unit));
    if (p->unit == TG_UNIT_PERCENT) {
        tg_buf_puts(m, by >= 0 ? "+" : "");
        tg_dec_put_fixed(m, by, 1);
        tg_buf_puts(m, " points");
    } else {
        tg_buf_puts(m, tg_dec_pct_tells(pct) ? TG_PCT(pct) : "");
        tg_buf_printf(m, "%s%s", tg_dec_pct_tells(pct) ? ", " : "", TG_SIGNED(by, p->unit));
    }
    if (!pooled && r->metric != TG_RULE_METRIC_SHARE) /* the share is of the one name */
        put_share(m, "now ", r->share, r->op_kind);
    tg_buf_puts(m, ")");
    /* Of names that are judged together their number, but of one in place of another. */
    bool pair = op && tg_op_side_of_region(op) == TG_TEST && pooled == 2 &&
                tg_region_names(c, op->region, TG_BASE, NULL, 0) == 1;
    if (pooled && !pair)
        tg_buf_printf(m, ", %zu names together", pooled);
    if (op && op->kind == TG_KIND_KERNEL && op->parent.n)
        tg_buf_printf(m, ", launched by " TG_NAME, TG_SV_ARG(op->parent));
}

/* "launched 3 times per step, 2 over the limit of 1, was 0": a budget is about the value, not
 * the change. */
static void describe_budget(struct tg_buf *m, struct tg_result *r, const struct tg_probe *p,
                            const struct tg_op *op, const struct tg_limit *limit)
{
    const struct tg_bound *b = limit->bound;
    double sign = b->kind == TG_BOUND_MAX ? 1 : -1;
    double by = limit->n == 1 ? sign * (p->test - b->value) : NAN;
    /* Was it exceeded by the baseline, too? Then the change did not do it. */
    r->was_over = by > 0 && sign * (p->base - b->value) > 0;
    if (op && p->unit == TG_UNIT_COUNT)
        tg_buf_printf(m, "%s %s time%s per step", verb(op), TG_VALUE(p->test, p->unit),
                      p->test == 1 ? "" : "s");
    else
        put_measured(m, p, r);
    /* ", 2 over the limit of 1" */
    tg_buf_puts(m, ", ");
    if (by > 0 && p->unit == TG_UNIT_PERCENT) {
        tg_dec_put_fixed(m, by, 1);
        tg_buf_puts(m, " points ");
    } else if (by > 0) {
        tg_buf_printf(m, "%s ", TG_VALUE(by, p->unit));
    }
    if (by > 0) {
        tg_phrase_budget(m, b);
    } else {
        tg_buf_puts(m, "limit ");
        tg_limit_text(limit, m);
    }
    if (!isnan(p->base))
        tg_buf_printf(m, ", was %s%s", TG_BESIDE(p->base, p->test, p->unit),
                      !r->was_over ? ""
                      : sign > 0   ? " (over it, too)"
                                   : " (under it, too)");
    if (r->was_over)
        r->next = sign * (p->test - p->base) < 0.01 * fabs(p->base)
                      ? TG_SV("The baseline was beyond the limit, too: this change is not the "
                              "reason. " RAISE)
                      : TG_SV("The baseline was beyond the limit, too: this change is not the "
                              "only reason. " RAISE);
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

/* " (fp16 -> fp32 by their names)": other kernels for another data type */
static void put_types(struct tg_buf *m, const struct tg_comparison *c, uint32_t region)
{
    const char *type[2] = { NULL, NULL };
    for (int s = 0; s < 2; s++) {
        const struct tg_op *op = NULL;
        if (tg_region_names(c, region, s, &op, 1) && op->kind == TG_KIND_KERNEL)
            type[s] = tg_phrase_type(op->name);
    }
    if (type[TG_BASE] && type[TG_TEST] && strcmp(type[TG_BASE], type[TG_TEST]) != 0)
        tg_buf_printf(m, " (%s -> %s by their names)", type[TG_BASE], type[TG_TEST]);
}

/* "with aten::erf in place of aten::gelu" */
static void put_in_place_of(struct tg_buf *m, const struct tg_op *op, const struct tg_comparison *c)
{
    const struct tg_region *g = &c->regions[op->region];
    double went = g->calls[TG_BASE], all = tg_region_all_calls(g);
    TG_BUF names = { 0 };
    if (tg_op_side_of_region(op) != TG_TEST)
        return;
    if (tg_phrase_region(&names, c, op->region, TG_TEST, op))
        tg_buf_printf(m, "with %s ", names.p);
    tg_buf_clear(&names);
    if (tg_phrase_region(&names, c, op->region, TG_BASE, NULL)) {
        tg_buf_puts(m, "in place of ");
        tg_phrase_part(m, went, all);
        tg_buf_add(m, tg_buf_sv(&names));
        put_types(m, c, op->region);
    }
}

/* "; with aten::erf in place of aten::gelu: calls -8 +32 in the step"; as many: nothing of calls */
static void describe_relation(struct tg_buf *m, const struct tg_op *op,
                              const struct tg_comparison *c)
{
    if (op->relation == TG_REL_RENAMED && op->partner != TG_NO_ID) {
        const struct tg_op *other = &c->ops[op->partner];
        tg_buf_printf(m, "; renamed %s " TG_NAME "?", op->present[TG_TEST] ? "from" : "to",
                      TG_SV_ARG(other->name));
        return;
    }
    if (op->region >= c->n_regions) /* TG_NO_ID, too */
        return;
    const struct tg_region *g = &c->regions[op->region];
    if (op->relation == TG_REL_REPLACED || op->relation == TG_REL_REPLACED_WORSE) {
        size_t before = m->n + 2;
        double went = g->calls[TG_BASE], came = g->calls[TG_TEST];
        tg_buf_puts(m, "; ");
        put_in_place_of(m, op, c);
        if (went == came && m->n > before)
            return;
        tg_buf_printf(m, "%scalls -%s +%s in ", m->n > before ? ": " : "",
                      TG_VALUE(went, TG_UNIT_COUNT), TG_VALUE(came, TG_UNIT_COUNT));
        tg_buf_printf(m, g->encloser.n ? TG_NAME : "%.*sthe step", TG_SV_ARG(g->encloser));
    }
}

/* "aten::mul, aten::sum and 12 more instead of 17 of 34 calls of aten::native_layer_norm: 63
 * calls per step, was 17 (+46)": of calls that replaced fewer, the place as a whole; false:
 * nothing went. */
static bool describe_replacement(struct tg_buf *m, const struct tg_op *op,
                                 const struct tg_comparison *c)
{
    const struct tg_region *g = &c->regions[op->region];
    double went = g->calls[TG_BASE], came = g->calls[TG_TEST];
    TG_BUF names = { 0 }, others = { 0 };
    size_t n = tg_phrase_region(&others, c, op->region, TG_TEST, op);
    if (went == came || !tg_phrase_region(&names, c, op->region, TG_BASE, NULL))
        return false;
    tg_buf_printf(m, TG_NAME "%s%.*s instead of ", TG_SV_ARG(op->name),
                  n > 1   ? ", "
                  : n > 0 ? " and "
                          : "",
                  TG_SV_ARG(tg_buf_sv(&others)));
    tg_phrase_part(m, went, tg_region_all_calls(g));
    tg_buf_add(m, tg_buf_sv(&names));
    put_types(m, c, op->region);
    tg_buf_printf(m, ": %s call%s per step, was %s (%s)", TG_VALUE(came, TG_UNIT_COUNT),
                  came == 1 ? "" : "s", TG_VALUE(went, TG_UNIT_COUNT),
                  TG_SIGNED(came - went, TG_UNIT_COUNT));
    if (g->encloser.n)
        tg_buf_printf(m, " in " TG_NAME, TG_SV_ARG(g->encloser));
    return true;
}

void tg_describe_limit(struct tg_buf *b, const struct tg_limit *l, const struct tg_probe *p)
{
    static const char *const none[] = { [TG_MORE_IS_BAD] = "no more than before",
                                        [TG_LESS_IS_BAD] = "no fewer than before",
                                        [TG_ANY_IS_BAD] = "no change" };
    bool counted = p->unit == TG_UNIT_ATTR || p->unit == TG_UNIT_COUNT;
    bool zero = l->n == 1 && l->bound[0].kind == TG_BOUND_ABS && l->bound[0].value == 0;
    /* What decides by noise: a percentage that the runs give, and beside it at most a least
     * size. */
    bool by_noise = false, other = !p->ev || !(p->ev->tau > 0);
    for (size_t i = 0; i < l->n; i++) {
        by_noise |= l->bound[i].is_auto;
        other |= !l->bound[i].is_auto && l->bound[i].kind != TG_BOUND_ABS;
    }
    if (zero && counted && p->bad <= TG_ANY_IS_BAD)
        tg_buf_puts(b, none[p->unit == TG_UNIT_ATTR ? TG_ANY_IS_BAD : p->bad]);
    else if (by_noise && !other)
        tg_buf_puts(b, TG_PCT(100 * p->ev->tau));
    else
        tg_limit_text(l, b);
}

/* Why what exceeds a limit only warns. */
static void put_reason(struct tg_buf *b, const struct tg_judgement *j, const struct tg_evidence *ev)
{
    if (j->state != TG_STATE_WARN || (j->reason && !tg_reason_said(j->reason)))
        return;
    tg_buf_puts(b, b->n ? "; only warns" : "only warns");
    if (!j->reason) {
        tg_buf_puts(b, ": the policy has this limit as `warn`");
        return;
    }
    if (j->reason == TG_REASON_STEADY && ev)
        tg_buf_printf(b, " below %s", TG_PCT(100 * ev->mde));
    tg_buf_printf(b, ": %s", tg_reason_said(j->reason));
    if (j->reason <= TG_REASON_CHANCE)
        tg_buf_printf(b, " (exception `%s`)", tg_reason_id(j->reason));
}

/* A time that no number of runs makes comparable. */
static bool is_of_varying_calls(const struct tg_judgement *j, const struct tg_evidence *ev)
{
    return j->state == TG_STATE_SUSPICIOUS && ev && ev->why_not == TG_NOT_COUNT_VARIES;
}

/* "5 of 5 runs above all 5 baseline runs, noise 1.8 %, smallest detectable change 8 %" */
static void describe_evidence(struct tg_result *r, const struct tg_comparison *c,
                              const struct tg_probe *p, const struct tg_judgement *j,
                              struct tg_arena *a)
{
    struct tg_buf b = { 0 };
    const struct tg_evidence *ev = p->exact ? NULL : p->ev;
    bool in_turn = c->in_turn, asking = c->asking;
    if (ev && ev->asked)
        c = tg_confirm_last(c);
    if (ev && ev->why_not == TG_JUDGED) {
        tg_buf_printf(&b, "%u of %zu runs %s all %u baseline runs", ev->above, ev->n_x[TG_TEST],
                      p->fell ? "below" : "above", (unsigned)c->n_runs[TG_BASE]);
        if (ev->estimate == TG_ESTIMATE_MEAN)
            tg_buf_puts(&b, " by the mean of the steps");
        if (ev->asked == TG_ASKED_RED)
            tg_buf_printf(&b, ", chance %s", TG_VALUE(100 * ev->p, TG_UNIT_PERCENT));
        tg_buf_printf(&b, ", noise %s", TG_VALUE(100 * ev->noise, TG_UNIT_PERCENT));
        if (j->reason != TG_REASON_STEADY)
            tg_buf_printf(&b, ", detectable from %s", TG_PCT(100 * ev->mde));
        if (c->drifted) {
            static const char *const whose[] = { [TG_DRIFT_OF_ALL] = "machine-wide drift",
                                                 [TG_DRIFT_OF_HOST] = "drift of the host",
                                                 [TG_DRIFT_OF_DEVICE] = "drift of the device" };
            tg_buf_printf(&b, ", %s %s", whose[c->drift_of], TG_PCT(100 * expm1(c->drift)));
            if (c->drift_of == TG_DRIFT_OF_ALL)
                tg_buf_puts(&b, c->drift > 0 ? " removed" : " seen");
        }
    } else if (j->why_not) {
        tg_buf_printf(&b, "not judged: %s", j->why_not);
    } else if (is_of_varying_calls(j, ev)) {
        tg_buf_printf(&b,
                      "only warns: its calls vary; %u of %zu runs above all %u baseline runs, by "
                      "the time per call or the mean step",
                      ev->above, ev->n_x[TG_TEST], (unsigned)c->n_runs[TG_BASE]);
    }
    if (j->limit) {
        TG_BUF limit = { 0 };
        tg_describe_limit(&limit, j->limit, p);
        if (limit.n)
            tg_buf_printf(&b, "%slimit %s",
                          b.n                                             ? "; "
                          : p->exact && j->reason != TG_REASON_SOME_CALLS ? "exact; "
                                                                          : "",
                          limit.p);
    }
    put_reason(&b, j, ev);
    r->evidence = tg_phrase_take(&b, a);
    if ((j->state == TG_STATE_SUSPICIOUS && !is_of_varying_calls(j, ev)) ||
        (j->state == TG_STATE_NOT_JUDGED && ev && ev->why_not == TG_NOT_FEW_RUNS))
        r->next =
            TG_SV_PRINTF(a, "Record at least %lld %sruns a side; then this can be judged.",
                         (long long)p->min_runs, p->min_runs < TG_BETTER_RUNS ? "(better 5) " : "");
    if (j->reason == TG_REASON_STEADY)
        r->next = asking    ? TG_SV("Allow more runs a side (--max-runs): new ones have to tell.")
                  : in_turn ? TG_SV("Leave --once out: new runs tell whether it stays.")
                            : TG_SV("Record new runs of both sides (`tracegate ab`): they tell "
                                    "whether it stays.");
}

void tg_describe_calls(struct tg_result *r, const struct tg_op *op, const struct tg_comparison *c,
                       const double calls[2], tg_sv weight, struct tg_arena *a)
{
    struct tg_buf m = { 0 };
    describe_count(&m, c, op, calls, weight);
    describe_relation(&m, op, c);
    r->message = tg_phrase_take(&m, a);
}

/* "in place of 4 of 17 calls of bf16_gemm: 1.664 ms per step, was 0.641 ms (+160 %, +1.02 ms),
 * launched by aten::addmm" */
static bool describe_part(struct tg_buf *m, const struct tg_result *r, const struct tg_op *op,
                          const struct tg_comparison *c)
{
    double ns[2];
    if (r->unit_id != TG_UNIT_NS || r->metric != TG_RULE_METRIC_SELF || r->of_fastest ||
        !tg_region_part(c, op, ns))
        return false;
    put_in_place_of(m, op, c);
    struct tg_probe part = {
        .base = ns[TG_BASE], .test = ns[TG_TEST], .unit = TG_UNIT_NS, .ev = &op->ev
    };
    tg_buf_puts(m, ": ");
    describe_change(m, &part, r, op, c);
    /* The number that was judged, which a waiver limits, beside the one that is shown. */
    const struct tg_region *g = &c->regions[op->region];
    tg_buf_printf(m, "; judged with the other %s: %s, was %s (%s)",
                  TG_VALUE(tg_region_all_calls(g) - g->calls[TG_BASE], TG_UNIT_COUNT),
                  TG_BESIDE(r->test, r->base, TG_UNIT_NS), TG_BESIDE(r->base, r->test, TG_UNIT_NS),
                  TG_PCT(r->delta_pct));
    return true;
}

void tg_describe_row(struct tg_result *r, const struct tg_op *op, const struct tg_comparison *c,
                     const struct tg_probe *p, const struct tg_judgement *j, struct tg_arena *a)
{
    struct tg_buf m = { 0 };
    bool related = !op; /* says itself what it is related to */
    TG_BUF share = { 0 }, attrs = { 0 };
    if (r->unit_id == TG_UNIT_ATTR) {
        bool same = j->state == TG_STATE_PASS;
        tg_buf_puts(&m, p->incomparable          ? "not compared"
                        : same                   ? "as before"
                        : op->kind == TG_KIND_OP ? "same calls: "
                                                 : "same launches: ");
        if (!p->incomparable && !same)
            TG_EACH(const struct tg_attr_change, f, op->attrs, op->n_attrs)
                if (f->kind == p->attr)
                    tg_buf_printf(&attrs, "%s%.*s -> %.*s", attrs.n ? "; " : "", TG_SV_ARG(f->base),
                                  TG_SV_ARG(without_shared_word(f->base, f->test)));
        r->attrs = tg_arena_sv(a, tg_buf_sv(&attrs));
        tg_buf_add(&m, r->attrs);
    } else if (r->over_budget) {
        describe_budget(&m, r, p, op, j->limit);
    } else if (op && r->unit_id == TG_UNIT_COUNT) {
        related = op->relation == TG_REL_REPLACED_WORSE && tg_op_side_of_region(op) == TG_TEST &&
                  describe_replacement(&m, op, c);
        r->names_itself = related;
        if (op->region >= c->n_regions) /* of a replacement, one name's share says little */
            put_share(&share, op->present[TG_BASE] && op->present[TG_TEST] ? "now " : "",
                      op->share[op->present[TG_TEST] ? TG_TEST : TG_BASE], op->kind);
        if (!related)
            describe_count(&m, c, op, (double[]){ p->base, p->test }, tg_buf_sv(&share));
    } else if (j->reason == TG_REASON_SOME_STEPS) {
        describe_some_steps(&m, p->ev);
    } else if (op && describe_part(&m, r, op, c)) {
        related = true;
    } else {
        describe_change(&m, p, r, op, c);
    }
    if (!related)
        describe_relation(&m, op, c);
    if (p->outside > 0)
        tg_buf_printf(&m, "; %s more outside the steps", TG_VALUE(p->outside, TG_UNIT_COUNT));
    /* "; most of the rise: aten::clone (+4)": the operator that calls them, if it came as often. */
    const struct tg_op *most = tg_result_behind(r, c);
    if (most) {
        const struct tg_op *by = most->leader != TG_NO_ID ? &c->ops[most->leader] : most;
        double more = tg_op_rise(most);
        tg_buf_printf(&m, "; %s of the rise: " TG_NAME " (%s)",
                      more >= r->delta      ? "all"
                      : 2 * more > r->delta ? "most"
                                            : "largest part",
                      TG_SV_ARG(by->name), TG_SIGNED(more, TG_UNIT_COUNT));
    }
    if (tg_result_is_of_extent(r))
        tg_buf_puts(&m, "; " TG_DEVICE_EXTENT_MEANS);
    r->message = tg_phrase_take(&m, a);
    describe_evidence(r, c, p, j, a);
}
