/*
 * Times that look slower are asked again (core/diff/confirm.h): what a rule would fail by is judged by new
 * runs alone, and until these tell it is open. A time by which no rule fails is not asked.
 */
#include "core/diff/confirm.h"
#include "core/diff/numbers.h"
#include "policy/language/limit.h"
#include "policy/verdict/internal.h"

/* If it were confirmed as it looks now, would the rule fail? */
static bool would_fail(const struct tg_probe *p, const struct tg_rule_limits *l)
{
    static const struct tg_limit_list none = { 0 };
    struct tg_evidence ev = *p->ev;
    struct tg_probe then = *p;
    ev.judged = TG_JUDGED;
    ev.proven = true;
    ev.asked = TG_ASKED_RED;
    ev.tau = TG_ASK_SIZE;
    then.ev = &ev;
    return tg_judge(&then, &none, &l->fail).state == TG_STATE_FAIL;
}

/* `name`: it is a name's, which a low bar suspects. */
static bool is_suspect(const struct tg_probe *p, const struct tg_rule_limits *l,
                       const struct tg_comparison *c, bool name)
{
    const struct tg_asking *asking = c->asking;
    return asking && !asking->early && !p->exact && p->ev && p->test_kind != TG_NOISE_NONE &&
           l->fail.state == TG_LIMIT_ON && !tg_limit_lists_are_budgets(&l->warn, &l->fail) &&
           tg_confirm_suspects(p->ev, name ? c->step_ns : NULL) && would_fail(p, l);
}

/* Its values and evidence as the new runs leave them. `again`: of these; NULL: they lack it. */
static void answer(struct tg_probe *p, const struct tg_probe *again, const struct tg_comparison *c,
                   struct tg_arena *a)
{
    struct tg_evidence *ev = TG_NEW(a, struct tg_evidence);
    *ev = *p->ev;
    tg_confirm_set(ev, again ? again->ev : NULL, c->asking);
    if (again && again->ev && again->ev->judged == TG_JUDGED) {
        p->base = again->base;
        p->test = again->test;
        p->per = again->per;
        p->step_ns = again->step_ns;
    }
    p->ev = ev;
}

/* ---- what is asked ---- */

static const struct tg_comparison *new_runs(const struct tg_rule_scope *s)
{
    return s->c->asking ? s->c->asking->again : NULL;
}

void tg_ask_op(struct tg_eval_state *e, const struct tg_rule_scope *s, const struct tg_rule *rule,
               const struct tg_op *op, const struct tg_rule_limits *l, struct tg_probe *p)
{
    const struct tg_op *other = NULL;
    struct tg_probe again;
    if (!is_suspect(p, l, s->c, true))
        return;
    if (new_runs(s) && (other = tg_confirm_op(new_runs(s), op))) {
        again = tg_probe_begin(rule, l, new_runs(s));
        if (!tg_probe_op(&again, rule->metric, new_runs(s), other))
            other = NULL;
    }
    answer(p, other ? &again : NULL, s->c, e->arena);
}

void tg_ask_metric(struct tg_eval_state *e, const struct tg_rule_scope *s,
                   const struct tg_rule *rule, const struct tg_rule_limits *l, struct tg_probe *p)
{
    bool known = false;
    struct tg_probe again;
    if (!is_suspect(p, l, s->c, false))
        return;
    if (new_runs(s)) {
        again = tg_probe_begin(rule, l, new_runs(s));
        known = tg_probe_metric(&again, rule, new_runs(s));
    }
    answer(p, known ? &again : NULL, s->c, e->arena);
}

void tg_ask_by(const struct tg_rule_scope *s, const struct tg_rule *rule, const struct tg_op *op,
               const struct tg_rule_limits *l, enum tg_estimate by, struct tg_probe *p)
{
    const struct tg_op *other;
    struct tg_probe again;
    bool known = false;
    if (!is_suspect(p, l, s->c, op != NULL))
        return;
    if (new_runs(s)) {
        again = tg_probe_begin(rule, l, new_runs(s));
        if (!op)
            known = tg_probe_metric_by(&again, rule, new_runs(s), by);
        else if ((other = tg_confirm_op(new_runs(s), op)))
            known = tg_probe_op_by(&again, rule->metric, new_runs(s), other, by);
    }
    answer(p, known ? &again : NULL, s->c, s->c->arena);
}

/* A time that is shown as it was compared; `ev` NULL: the new runs lack it. */
static void ask_time(struct tg_eval_state *e, const struct tg_rule_scope *s,
                     const struct tg_rule *rule, const struct tg_rule_limits *l,
                     const struct tg_evidence *ev, struct tg_probe *p)
{
    struct tg_probe again;
    if (ev) {
        again = tg_probe_begin(rule, l, new_runs(s));
        again.ev = ev;
        again.base = ev->value[TG_BASE];
        again.test = ev->value[TG_TEST];
    }
    answer(p, ev ? &again : NULL, s->c, e->arena);
}

void tg_ask_time(struct tg_eval_state *e, const struct tg_rule_scope *s, const struct tg_rule *rule,
                 const struct tg_op *op, const struct tg_rule_limits *l, struct tg_probe *p)
{
    bool step = op->kind == TG_KIND_STEP;
    const struct tg_op *other = NULL;
    if (!is_suspect(p, l, s->c, step))
        return;
    if (new_runs(s))
        other = step ? &new_runs(s)->step : tg_confirm_op(new_runs(s), op);
    ask_time(e, s, rule, l, other ? &other->ev : NULL, p);
}

void tg_ask_choice(struct tg_eval_state *e, const struct tg_rule_scope *s,
                   const struct tg_rule *rule, const struct tg_algorithm *x,
                   const struct tg_rule_limits *l, struct tg_probe *p)
{
    const struct tg_comparison *c = new_runs(s);
    const struct tg_evidence *ev = NULL;
    if (!is_suspect(p, l, s->c, true))
        return;
    for (size_t i = 0; c && i < c->n_choices; i++)
        if (tg_sv_eq(c->ops[c->choices[i].by].name, s->c->ops[x->by].name))
            ev = &c->choices[i].ev;
    ask_time(e, s, rule, l, ev, p);
}

/* False: the new runs lack one of them, or it cannot be compared there. */
static bool together(struct tg_evidence *ev, const struct tg_comparison *again,
                     const struct tg_op *const *op, size_t n)
{
    TG_FREE const struct tg_op **other = tg_xmalloc((n + 1) * sizeof *other);
    for (size_t i = 0; i < n; i++)
        if (!(other[i] = tg_confirm_op(again, op[i])))
            return false;
    return tg_ops_evidence(other, n, ev);
}

void tg_ask_together(struct tg_eval_state *e, const struct tg_rule_scope *s,
                     const struct tg_rule *rule, const struct tg_op *const *op, size_t n,
                     const struct tg_rule_limits *l, struct tg_probe *p)
{
    struct tg_evidence *ev = TG_NEW(e->arena, struct tg_evidence);
    if (!is_suspect(p, l, s->c, false))
        return;
    bool known = new_runs(s) && together(ev, new_runs(s), op, n);
    ask_time(e, s, rule, l, known ? ev : NULL, p);
}
