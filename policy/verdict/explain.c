#include <math.h>

#include "core/base/decimal.h"
#include "core/base/utf8.h"
#include "policy/language/limit.h"
#include "policy/verdict/internal.h"

#define MOST_NAMES 20 /* of a rule, those with most time */

/* "  (.tracegate.yml:14)", where the line above was written, and its end. */
static void end_line(struct tg_buf *out, struct tg_loc at)
{
    if (at.file) {
        tg_buf_puts(out, "  (");
        tg_utf8_visible(out, tg_sv_of(at.file));
        tg_buf_printf(out, ":%u)", at.line);
    }
    tg_buf_putc(out, '\n');
}

/* "fail {pct: 10%, abs: 0.2%step} or {max: 5ms}  (.tracegate.yml:14)" */
static void put_limits(struct tg_buf *out, const char *what, const struct tg_limit_list *l)
{
    if (l->state == TG_LIMIT_UNSET)
        return;
    tg_buf_printf(out, "    %s ", what);
    if (l->state == TG_LIMIT_OFF)
        tg_buf_puts(out, "off");
    for (size_t i = 0; i < l->n; i++) {
        tg_buf_puts(out, i ? " or {" : "{");
        tg_limit_text(&l->v[i], out);
        tg_buf_putc(out, '}');
    }
    end_line(out, l->at);
}

static void put_rest(struct tg_buf *out, const struct tg_policy *p, const struct tg_rule *r,
                     const struct tg_op *op)
{
    const char *before = "    against "; /* only where it is not `baseline` alone */
    for (size_t i = 0; r->against != 1 && i <= p->n_baselines; i++)
        if (r->against & 1u << i) {
            tg_buf_printf(out, "%s%.*s", before,
                          TG_SV_ARG(i ? p->baselines[i - 1].name : TG_SV("baseline")));
            before = ", ";
        }
    tg_buf_puts(out, r->against != 1 ? "\n" : "");
    /* What exceeds the failing limit and only warns, and what is not judged. */
    uint32_t warns = r->exceptions & ~(1u << TG_EXCEPTION_POLLING);
    before = "    only warns where it would fail: ";
    for (int x = TG_EXCEPTION_RENAMED; x <= TG_EXCEPTION_CHANCE; x++)
        if (warns & 1u << x) {
            tg_buf_printf(out, "%s%s", before, tg_reason_said((enum tg_reason)x));
            before = ", ";
        }
    tg_buf_puts(out, warns ? "\n" : "");
    if (r->exceptions & 1u << TG_EXCEPTION_POLLING)
        tg_buf_puts(out, "    not judged: runtime calls that noise.ignore names\n");
    if (r->when.present) {
        tg_buf_puts(out, "    only where its `when` holds");
        end_line(out, r->when.at);
    }
    TG_EACH(const struct tg_waiver, w, p->waivers, p->n_waivers) {
        if (!tg_sv_eq(w->rule, r->id) ||
            (op && w->name && tg_pattern_test(w->name, op->name) != TG_HIT_YES))
            continue;
        tg_buf_puts(out, "    waived up to {");
        tg_limit_text(&w->ceiling, out);
        tg_buf_printf(out, "}%s%.*s until %.*s", op || !w->name ? "" : " for ",
                      TG_SV_ARG(op ? TG_SV("") : w->name_text), TG_SV_ARG(w->expires_text));
        end_line(out, w->at);
    }
}

/* ---- numbers of traces ---- */

/* Where a bound begins to be exceeded, if more (sign 1) or less (-1) is bad. */
static double bound_from(const struct tg_probe *p, const struct tg_bound *b, int sign)
{
    switch (b->kind) {
    case TG_BOUND_PCT:
        if (b->is_auto)
            return p->base * (1 + sign * (p->ev ? p->ev->tau : 0));
        return p->base * (1 + sign * b->value / 100);
    case TG_BOUND_ABS:
        return p->base + sign * (b->of_step ? b->value / 100 * p->step_ns : b->value);
    case TG_BOUND_PP:
        return p->base + sign * b->value;
    case TG_BOUND_MAX:
    case TG_BOUND_MIN:
        break;
    }
    return b->value;
}

/* ", fails above 13.3 us or above 20.0 us" */
static void put_from(struct tg_buf *out, const struct tg_probe *p, const struct tg_limit_list *list,
                     const char *what)
{
    bool listed = false;
    for (size_t i = 0; list->state == TG_LIMIT_ON && i < list->n; i++)
        for (int sign = 1; sign >= -1; sign -= 2) {
            bool budget = tg_limit_find(&list->v[i], TG_BOUND_MAX) != NULL;
            bool floor = tg_limit_find(&list->v[i], TG_BOUND_MIN) != NULL;
            if (budget || floor ? budget != (sign > 0)
                                : p->bad == (sign > 0 ? TG_LESS_IS_BAD : TG_MORE_IS_BAD))
                continue;
            double from = -INFINITY; /* all bounds have to be exceeded: the farthest one counts */
            for (size_t b = 0; b < list->v[i].n; b++)
                from = fmax(from, sign * bound_from(p, &list->v[i].bound[b], sign));
            tg_buf_printf(out, "%s%s %s %s", listed ? " or" : ", ", listed ? "" : what,
                          sign > 0 ? "above" : "below", TG_VALUE(sign * from, p->unit));
            listed = true;
        }
}

/* As a check measures it. False: the rule has no number there: no step has calls, or the traces
 * lack it. */
static bool put_quantity(struct tg_buf *out, const struct tg_policy *policy,
                         const struct tg_rule *r, const struct tg_quantity *x,
                         const struct tg_comparison *c)
{
    struct tg_judging w;
    if (tg_rule_metric_info(r->metric)->unit ==
        TG_UNIT_ATTR) { /* it asks whether something changed */
        const char *why = tg_attr_state_text(x->op, tg_rule_attr_kind(r->metric), c->arena);
        tg_buf_printf(out, "%s%s\n", why ? "not judged: " : "compared exactly", why ? why : "");
        return true;
    }
    if (!tg_judging_measure(&w, r, x, policy, c, c->arena) || isnan(w.p.base))
        return false;
    tg_buf_printf(out, "now %s", TG_VALUE(w.p.base, w.p.unit));
    put_from(out, &w.p, &w.l.warn, "warns");
    put_from(out, &w.p, &w.l.fail, "fails");
    /* "; 5 runs: noise 1.8 %, detectable from +8 % (108 us in the fastest steps)": both have to be
     * exceeded, the limit and this. */
    const struct tg_evidence *ev = w.p.ev;
    bool by_runs = !w.p.exact && w.p.noise_test != TG_NOISE_NONE;
    bool judged = by_runs && ev && ev->why_not == TG_JUDGED;
    if (by_runs)
        tg_buf_printf(out, "; %zu run%s: ", c->n_runs[TG_TEST], TG_PLURAL(c->n_runs[TG_TEST]));
    if (judged)
        tg_buf_printf(out, "noise %s, detectable from +%s",
                      TG_VALUE(100 * ev->noise, TG_UNIT_PERCENT),
                      TG_VALUE(100 * ev->mde, TG_UNIT_PERCENT));
    else if (by_runs)
        tg_buf_printf(out, "not judged, %s",
                      !ev                              ? "no evidence exists for this metric"
                      : ev->why_not == TG_NOT_FEW_RUNS ? w.p.few_runs
                                                       : tg_judged_text(ev->why_not));
    if (judged && w.p.unit == TG_UNIT_NS)
        tg_buf_printf(out, " (%s%s)",
                      TG_VALUE(ev->value[TG_BASE] / fmax(w.p.per, 1) * (1 + ev->mde), w.p.unit),
                      ev->estimate == TG_ESTIMATE_LEAST ? " in the fastest steps" : "");
    tg_buf_putc(out, '\n');
    return true;
}

/* As a check chooses: of frames those of the metric's side, host or device. */
static bool judges(const struct tg_rule *r, const struct tg_op *op)
{
    bool frame = tg_frame_sorts(1u << op->kind) != 0;
    return tg_select_op(&r->match, op) == TG_HIT_YES &&
           (!frame || op->launched == tg_rule_metric_of_launched(r->metric));
}

static int by_time(const void *pa, const void *pb)
{
    const struct tg_op *a = *(const struct tg_op *const *)pa, *b = *(const struct tg_op *const *)pb;
    int c = TG_CMP(b->self[TG_TEST], a->self[TG_TEST]);
    return c ? c : tg_sv_cmp(a->name, b->name);
}

static void rule_names(struct tg_buf *out, const struct tg_policy *policy, const struct tg_rule *r,
                       const struct tg_comparison *c)
{
    TG_FREE const struct tg_op **op = tg_xmalloc((c->n_ops + c->n_frames + 1) * sizeof *op);
    size_t n = 0;
    for (size_t i = 0; i < c->n_ops + c->n_frames; i++) {
        const struct tg_op *one = i < c->n_ops ? &c->ops[i] : &c->frames[i - c->n_ops];
        if (judges(r, one))
            op[n++] = one;
    }
    TG_SORT(op, n, by_time);
    tg_buf_printf(out, "    matches %zu name%s of these traces\n", n, TG_PLURAL(n));
    for (size_t i = 0; i < n && i < MOST_NAMES; i++) {
        const struct tg_quantity x = { .kind = TG_QUANTITY_OP, .op = op[i] };
        TG_BUF line = { 0 };
        if (put_quantity(&line, policy, r, &x, c))
            tg_buf_printf(out, "      %.*s: %.*s", TG_SV_ARG(op[i]->name),
                          TG_SV_ARG(tg_buf_sv(&line)));
    }
    if (n > MOST_NAMES)
        tg_buf_printf(out, "      and %zu more\n", n - MOST_NAMES);
}

/* ---- rules ---- */

/* A rule, or with `op` what it asks of that name; with `c` and what the traces have of it. */
static void put_rule(struct tg_buf *out, const struct tg_policy *p, const struct tg_rule *r,
                     const struct tg_op *op, const struct tg_comparison *c)
{
    const struct tg_rule_metric_info *info = tg_rule_metric_info(r->metric);
    const struct tg_rule_limits l = tg_select_limits(r, op);
    const struct tg_override *last = NULL; /* whose limits win */
    TG_BUF numbers = { 0 };
    bool known = false;
    tg_buf_printf(out, "  %.*s: %s, %s", TG_SV_ARG(r->id), info->name,
                  r->bad == TG_OWN_IS_BAD    ? "each name says what is bad"
                  : r->bad == TG_ANY_IS_BAD  ? "any is bad"
                  : r->bad == TG_LESS_IS_BAD ? "less is bad"
                                             : "more is bad");
    end_line(out, r->at);
    if (!op)
        tg_buf_printf(out, "    %s\n", info->meaning);
    if (!op && r->why.n)
        tg_buf_printf(out, "    why: %.*s\n", TG_SV_ARG(r->why));
    if (!op && r->owner.n)
        tg_buf_printf(out, "    owner: %.*s\n", TG_SV_ARG(r->owner));
    put_limits(out, "warn", &l.warn);
    put_limits(out, "fail", &l.fail);
    TG_EACH(const struct tg_override, o, r->overrides, r->n_overrides) {
        if (op) {
            last = tg_select_override(o, op) ? o : last;
            continue;
        }
        tg_buf_puts(out, "    for what its override matches");
        end_line(out, o->at);
        put_limits(out, "  warn", &o->warn);
        put_limits(out, "  fail", &o->fail);
    }
    if (last) {
        tg_buf_puts(out, "    by an override");
        end_line(out, last->at);
    }
    if (info->unit == TG_UNIT_NS || info->unit == TG_UNIT_PERCENT || info->unit == TG_UNIT_NUMBER) {
        if (l.noise->test == TG_NOISE_NONE)
            tg_buf_puts(out, "    noise: none, the limit alone decides");
        else
            tg_buf_printf(out, "    noise: durations need %lld runs a side",
                          (long long)l.noise->min_runs);
        if (l.noise->min_steps)
            tg_buf_printf(out, " and %lld steps a run", (long long)l.noise->min_steps);
        end_line(out, l.noise->at);
    }
    put_rest(out, p, r, op);
    if (!c)
        return;
    if (!op && info->scope == TG_SCOPE_NAME) {
        rule_names(out, p, r, c);
        return;
    }
    const struct tg_quantity x = { .kind = op ? TG_QUANTITY_OP : TG_QUANTITY_TRACE, .op = op };
    if (op || info->scope != TG_SCOPE_NUMBERS)
        known = put_quantity(&numbers, p, r, &x, c);
    if (known)
        tg_buf_printf(out, "    %s", numbers.p);
    else if (!op)
        tg_buf_puts(out, "    these traces lack what this metric needs\n");
}

size_t tg_policy_explain_op(const struct tg_policy *p, const struct tg_op *op,
                            const struct tg_comparison *c, struct tg_buf *out)
{
    size_t n = 0;
    TG_EACH(const struct tg_rule, r, p->rules, p->n_rules) {
        struct tg_match open = r->match; /* whatever the parent */
        bool not_parent = open.not_ && open.not_->parent.n;
        open.parent.n = 0;
        open.not_ = not_parent ? NULL : open.not_;
        if (tg_rule_metric_info(r->metric)->scope != TG_SCOPE_NAME ||
            (c ? !judges(r, op) : tg_select_op(&open, op) != TG_HIT_YES))
            continue;
        n++;
        put_rule(out, p, r, op, c);
        if (!c && (r->match.parent.n || not_parent))
            tg_buf_puts(out, "    if its parent matches: name a trace to see\n");
    }
    return n;
}

bool tg_policy_explain_rule(const struct tg_policy *p, tg_sv id, const struct tg_comparison *c,
                            struct tg_buf *out)
{
    for (size_t i = 0; i < p->n_rules; i++)
        if (tg_sv_eq(p->rules[i].id, id)) {
            put_rule(out, p, &p->rules[i], NULL, c);
            return true;
        }
    return false;
}
