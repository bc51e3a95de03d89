/* Failures that an event of the history explains: they failed in the night that showed it. */
#include <math.h>

#include "policy/verdict/internal.h"
#include "policy/verdict/phrase.h"

/* No more than what the event changed, by a quarter or two percent: more is a change of its own. */
static bool is_within(const struct tg_known *k, const struct tg_result *r)
{
    double rise = r->base > 0 ? log(r->test / r->base) : INFINITY;
    if (k->what == TG_KNOWN_STEP)
        return fabs(r->delta) <= 1.25 * fabs(k->cost_ns);
    if (r->dimension == TG_DIM_COUNT)
        return k->exact && r->base == k->before && r->test == k->after;
    if (!isfinite(rise) || !isfinite(k->e))
        return false; /* the time of a name that is new: the event does not say how long it took */
    return (k->e > 0) == (rise > 0) && fabs(rise) <= fabs(k->e) + fmax(0.02, fabs(k->e) / 4);
}

static bool is_about(const struct tg_known *k, const struct tg_result *r)
{
    if (k->what == TG_KNOWN_STEP)
        return r->subject == TG_SUBJECT_TRACE && r->metric == TG_METRIC_STEP_TIME;
    return r->subject == TG_SUBJECT_NAME && r->op_kind == k->kind && tg_sv_eq(r->plain, k->name) &&
           (r->dimension == TG_DIM_COUNT || r->dimension == TG_DIM_DURATION);
}

static void tell(struct tg_eval_state *e, struct tg_result *r, const struct tg_known *k)
{
    bool fails = (e->in->policy->fail_on & TG_FAIL_ON_OPEN) && !k->accepted;
    struct tg_buf b = { 0 };
    tg_buf_printf(&b, "%.*s%s%.*s", TG_SV_ARG(r->evidence), r->evidence.n ? "; " : "",
                  TG_SV_ARG(k->text));
    if (fails)
        tg_buf_puts(&b, ": `fail_on` makes it a failure");
    r->evidence = tg_phrase_take(&b, e->arena);
    r->event = k->id;
    if (!fails)
        r->state = TG_STATE_WARN;
    if (!k->accepted)
        r->next = tg_sv_of(tg_arena_printf(
            e->arena, "Fix it, or accept it: tracegate history accept %.*s --reason TEXT",
            TG_SV_ARG(k->id)));
}

void tg_known_explain(struct tg_eval_state *e)
{
    const struct tg_known *v = NULL;
    size_t n = 0;
    bool asked = false;
    for (size_t i = 0; e->in->ask_known && i < e->n; i++) {
        struct tg_result *r = &e->results[i];
        if (r->state != TG_STATE_FAIL || !r->has_values || r->over_budget)
            continue;
        if (!asked)
            n = e->in->ask_known(e->in->known_arg, &v);
        asked = true;
        for (size_t k = 0; k < n; k++)
            if (is_about(&v[k], r) && is_within(&v[k], r)) {
                tell(e, r, &v[k]);
                break;
            }
    }
}
