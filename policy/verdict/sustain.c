#include "policy/verdict/describe.h"
#include "policy/verdict/internal.h"

static const struct tg_rule *rule_called(const struct tg_policy *p, tg_sv id)
{
    for (size_t i = 0; i < p->n_rules; i++)
        if (tg_sv_eq(p->rules[i].id, id))
            return &p->rules[i];
    return NULL;
}

static bool failed_in(const struct tg_verdict *v, const struct tg_result *r)
{
    for (size_t i = 0; i < v->n_results; i++) {
        const struct tg_result *x = &v->results[i];
        if (x->state == TG_STATE_FAIL && tg_sv_eq(x->rule, r->rule) && tg_sv_eq(x->kind, r->kind) &&
            tg_sv_eq(x->op_normalised, r->op_normalised))
            return true;
    }
    return false;
}

/* How many results in a row failed here, this one included. */
static int64_t in_a_row(const struct tg_eval_input *in, const struct tg_result *r)
{
    size_t n = 0;
    while (n < in->n_previous && failed_in(&in->previous[n], r))
        n++;
    return (int64_t)n + 1;
}

void tg_sustain(struct tg_eval_state *e)
{
    for (size_t i = 0; i < e->n; i++) {
        struct tg_result *r = &e->results[i];
        const struct tg_rule *rule = rule_called(e->in->policy, r->rule);
        struct tg_buf b = { 0 };
        if (!rule || rule->sustained <= 1 || r->state != TG_STATE_FAIL)
            continue;
        int64_t row = in_a_row(e->in, r);
        tg_buf_add(&b, r->evidence);
        tg_buf_printf(&b, "%s%lld of the %lld results in a row that have to agree", b.n ? "; " : "",
                      (long long)(row < rule->sustained ? row : rule->sustained),
                      (long long)rule->sustained);
        r->evidence = tg_describe_take(&b, e->arena);
        if (row >= rule->sustained)
            continue;
        r->state = TG_STATE_WARN;
        r->next = (size_t)rule->sustained > e->in->n_previous + 1
                      ? TG_SV("Store each result (`tracegate baseline record`); it fails when "
                              "enough of them agree.")
                      : TG_SV("It fails when the next results agree.");
    }
}
