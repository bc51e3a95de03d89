/* Failures that an event of the history, or an earlier night, explains: they failed then. */
#include <math.h>

#include "policy/verdict/internal.h"

bool tg_known_failure(const struct tg_result *r, struct tg_known *out)
{
    *out = (struct tg_known){ .what = TG_KNOWN_FAILURE,
                              .subject = r->subject,
                              .kind = r->op_kind,
                              .name = r->op_normalised,
                              .before = r->base,
                              .after = r->test,
                              .rule = r->rule,
                              .metric = r->metric,
                              .unit_id = r->unit_id };
    return r->state == TG_STATE_FAIL && r->has_values && !r->over_budget && !r->waiver_ended;
}

/* How far `to` is from `from`: percentages in points, other values as ln ratio. */
static double way(enum tg_unit d, double from, double to)
{
    return d == TG_UNIT_PERCENT ? to - from : log(to / from);
}

bool tg_known_goes_on(const struct tg_known *then, const struct tg_known *now)
{
    enum tg_unit d = then->unit_id;
    double change = way(d, then->before, then->after);
    double up = change < 0 ? -1 : 1, quarter = fabs(change) / 4;
    double room = d == TG_UNIT_PERCENT ? quarter : fmax(0.02, quarter);
    if (!tg_sv_eq(then->rule, now->rule) || then->subject != now->subject ||
        then->kind != now->kind || !tg_sv_eq(then->name, now->name) ||
        then->metric != now->metric || d != now->unit_id)
        return false;
    if (d == TG_UNIT_COUNT)
        return now->before == then->before && now->after == then->after;
    if (then->before <= 0 && d != TG_UNIT_PERCENT) /* a new name */
        return now->before <= 0 && now->after <= then->after * 1.25;
    return up * way(d, now->before, now->after) > 0 &&
           up * way(d, then->before, now->after) <= fabs(change) + room &&
           up * way(d, then->before, now->before) <= quarter;
}

static bool explains(const struct tg_known *k, const struct tg_result *r)
{
    struct tg_known now;
    bool goes_on = tg_known_failure(r, &now);
    if (k->what == TG_KNOWN_FAILURE)
        return goes_on && tg_known_goes_on(k, &now);
    bool about = k->what == TG_KNOWN_STEP
                     ? r->metric == TG_RULE_METRIC_STEP_TIME
                     : r->subject == k->subject && r->op_kind == k->kind &&
                           tg_sv_eq(r->plain, k->name) &&
                           (r->unit_id == TG_UNIT_COUNT || r->unit_id == TG_UNIT_NS ||
                            r->unit_id == TG_UNIT_NUMBER);
    if (!(goes_on || k->accepted) || !about)
        return false;
    /* No more than what the event changed, by a quarter or two percent: more is a change of its
     * own. */
    double rise = r->base > 0 ? log(r->test / r->base) : INFINITY;
    if (k->what == TG_KNOWN_STEP)
        return r->delta > 0 && r->delta <= 1.25 * k->cost_ns;
    if (r->unit_id == TG_UNIT_COUNT)
        return k->exact && r->base == k->before && r->test == k->after;
    if (!isfinite(k->e))
        return false; /* the time of a name that is new: the event does not say how long it took */
    return (k->e > 0) == (rise > 0) && fabs(rise) <= fabs(k->e) + fmax(0.02, fabs(k->e) / 4);
}

/* False: nothing fails, and nobody was asked. */
static bool explain_by(struct tg_eval_state *e, enum tg_known_from from)
{
    const struct tg_known *v = NULL;
    size_t n = 0;
    bool asked = false;
    TG_EACH(struct tg_result, r, e->results, e->n) {
        if (r->state != TG_STATE_FAIL || !r->has_values || r->over_budget || r->event.n)
            continue;
        if (!asked)
            n = e->in->ask_known(e->in->known_arg, from, &v);
        asked = true;
        size_t k = 0;
        while (k < n && !explains(&v[k], r))
            k++;
        if (k == n)
            continue;
        bool fails = (e->in->policy->fail_on & TG_FAIL_ON_OPEN) && !v[k].accepted;
        tg_eval_revise(e, r, fails ? TG_STATE_FAIL : TG_STATE_WARN,
                       fails ? TG_REASON_NONE : TG_REASON_EVENT,
                       TG_SV_PRINTF(e->arena, "%.*s%s", TG_SV_ARG(v[k].text),
                                    fails ? ": `fail_on` makes it a failure" : ""));
        r->event = v[k].id;
        if (v[k].what == TG_KNOWN_FAILURE)
            r->next = TG_SV("Fix it. More nights make it an event, which can be accepted.");
        else if (!v[k].accepted)
            r->next = TG_SV_PRINTF(
                e->arena, "Fix it, or accept it: tracegate history accept %.*s --reason TEXT",
                TG_SV_ARG(v[k].id));
    }
    return asked;
}

void tg_known_explain(struct tg_eval_state *e)
{
    const struct tg_known *v = NULL;
    if (!e->in->ask_known || !explain_by(e, TG_KNOWN_EVENTS))
        return;
    (void)explain_by(e, TG_KNOWN_NIGHTS);
    /* Of what takes longer, or the step: what it took in the last nights. */
    size_t n = e->in->ask_known(e->in->known_arg, TG_KNOWN_TREND, &v);
    for (size_t i = 0; n && i < e->n; i++) {
        struct tg_result *r = &e->results[i];
        bool of_step = r->subject == TG_SUBJECT_TRACE && r->metric == TG_RULE_METRIC_STEP_TIME;
        bool of_name =
            r->subject == TG_SUBJECT_NAME && r->of_rank < 0 && r->metric == TG_RULE_METRIC_SELF;
        for (size_t k = 0; k < n && (of_step || of_name) && r->state >= TG_STATE_WARN; k++)
            if (of_step ? v[k].subject == TG_SUBJECT_TRACE
                        : v[k].subject == TG_SUBJECT_NAME && v[k].kind == r->op_kind &&
                              tg_sv_eq(v[k].name, r->plain)) {
                r->nights = v[k].nights;
                r->n_nights = v[k].n_nights;
                break;
            }
    }
}
