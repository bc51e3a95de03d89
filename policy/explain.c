#include "policy/explain.h"

#include "core/base/utf8.h"
#include "policy/eval_parts.h"

static void put_at(struct tg_buf *out, struct tg_loc at)
{
    if (!at.file)
        return;
    tg_buf_puts(out, "  (");
    tg_utf8_visible(out, tg_sv_of(at.file));
    tg_buf_printf(out, ":%u)", at.line);
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
    put_at(out, l->at);
    tg_buf_putc(out, '\n');
}

static void put_noise(struct tg_buf *out, const struct tg_noise *n)
{
    if (n->test == TG_NOISE_NONE)
        tg_buf_puts(out, "    noise: none, the bare limit decides");
    else
        tg_buf_printf(out, "    noise: durations need %lld runs a side", (long long)n->min_runs);
    if (n->min_steps)
        tg_buf_printf(out, " and %lld steps a run", (long long)n->min_steps);
    put_at(out, n->at);
    tg_buf_putc(out, '\n');
}

static void put_head(struct tg_buf *out, const struct tg_rule *r)
{
    tg_buf_printf(out, "  %.*s: %s, %s is bad", TG_SV_ARG(r->id), tg_metric_info(r->metric)->name,
                  tg_polarity_name(r->bad));
    put_at(out, r->at);
    tg_buf_putc(out, '\n');
}

static void put_rest(struct tg_buf *out, const struct tg_policy *p, const struct tg_rule *r,
                     const struct tg_op *op)
{
    if (r->when.present) {
        tg_buf_puts(out, "    only where its `when` holds");
        put_at(out, r->when.at);
        tg_buf_putc(out, '\n');
    }
    if (r->sustained > 1)
        tg_buf_printf(out, "    fails only when %lld results in a row agree\n",
                      (long long)r->sustained);
    for (size_t i = 0; i < p->n_waivers; i++) {
        const struct tg_waiver *w = &p->waivers[i];
        if (!tg_sv_eq(w->rule, r->id) ||
            (op && w->name && tg_pattern_test(w->name, op->name) != TG_HIT_YES))
            continue;
        tg_buf_puts(out, "    waived up to {");
        tg_limit_text(&w->ceiling, out);
        tg_buf_printf(out, "} until %.*s", TG_SV_ARG(w->expires_text));
        put_at(out, w->at);
        tg_buf_putc(out, '\n');
    }
}

static bool is_timed(const struct tg_rule *r)
{
    enum tg_unit unit = tg_metric_info(r->metric)->unit;
    return unit == TG_UNIT_NS || unit == TG_UNIT_PERCENT;
}

static bool asks_parent(const struct tg_match *m)
{
    return m->parent.n || (m->not_ && m->not_->parent.n);
}

/* The override whose limits win, for its place; NULL: none matches. */
static const struct tg_override *last_override(const struct tg_rule *r, const struct tg_op *op)
{
    const struct tg_override *last = NULL;
    for (size_t i = 0; i < r->n_overrides; i++)
        if (tg_select_override(&r->overrides[i], op))
            last = &r->overrides[i];
    return last;
}

static void explain_for(struct tg_buf *out, const struct tg_policy *p, const struct tg_rule *r,
                        const struct tg_op *op)
{
    struct tg_rule_limits l = tg_select_limits(r, op);
    const struct tg_override *o = last_override(r, op);
    put_head(out, r);
    put_limits(out, "warn", &l.warn);
    put_limits(out, "fail", &l.fail);
    if (o) {
        tg_buf_puts(out, "    by an override");
        put_at(out, o->at);
        tg_buf_putc(out, '\n');
    }
    if (is_timed(r))
        put_noise(out, l.noise);
    put_rest(out, p, r, op);
}

size_t tg_policy_explain_op(const struct tg_policy *p, const struct tg_op *op, bool parent_known,
                            struct tg_buf *out)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_rules; i++) {
        const struct tg_rule *r = &p->rules[i];
        struct tg_rule open = *r; /* whatever the parent */
        struct tg_match not_;
        if (tg_metric_info(r->metric)->scope != TG_SCOPE_NAME)
            continue;
        open.match.parent.n = 0;
        if (r->match.not_) {
            not_ = *r->match.not_;
            open.match.not_ = not_.parent.n ? NULL : &not_;
        }
        bool depends = !parent_known && asks_parent(&r->match);
        if (tg_select_op(depends ? &open.match : &r->match, op) != TG_HIT_YES)
            continue;
        n++;
        explain_for(out, p, r, op);
        if (depends)
            tg_buf_puts(out, "    if its parent matches: name a trace to see\n");
    }
    return n;
}

bool tg_policy_explain_rule(const struct tg_policy *p, tg_sv id, struct tg_buf *out)
{
    for (size_t i = 0; i < p->n_rules; i++) {
        const struct tg_rule *r = &p->rules[i];
        if (!tg_sv_eq(r->id, id))
            continue;
        put_head(out, r);
        tg_buf_printf(out, "    %s\n", tg_metric_info(r->metric)->meaning);
        if (r->why.n)
            tg_buf_printf(out, "    why: %.*s\n", TG_SV_ARG(r->why));
        if (r->owner.n)
            tg_buf_printf(out, "    owner: %.*s\n", TG_SV_ARG(r->owner));
        put_limits(out, "warn", &r->warn);
        put_limits(out, "fail", &r->fail);
        for (size_t k = 0; k < r->n_overrides; k++) {
            tg_buf_puts(out, "    for what its override matches");
            put_at(out, r->overrides[k].at);
            tg_buf_putc(out, '\n');
            put_limits(out, "  warn", &r->overrides[k].warn);
            put_limits(out, "  fail", &r->overrides[k].fail);
        }
        if (is_timed(r))
            put_noise(out, &r->noise);
        put_rest(out, p, r, NULL);
        return true;
    }
    return false;
}
