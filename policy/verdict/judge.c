#include "policy/verdict/internal.h"

#include <math.h>

#include "core/diff/confirm.h"
#include "policy/language/limit.h"

static bool has_evidence(const struct tg_probe *p)
{
    return !p->exact && p->ev && p->ev->why_not == TG_JUDGED;
}

double tg_probe_measured_pct(const struct tg_probe *p)
{
    return p->base == 0 ? NAN : 100 * (p->test - p->base) / p->base;
}

/* The change in the bad direction; <= 0: not a bad change. */
static double badness(double delta, enum tg_polarity bad)
{
    return bad == TG_MORE_IS_BAD ? delta : bad == TG_LESS_IS_BAD ? -delta : fabs(delta);
}

/* What a budget is about: the fresh side as recorded, whatever was compared. */
static double spent(const struct tg_probe *p)
{
    return p->has_recorded ? p->recorded[TG_TEST] : p->test;
}

static bool has_auto(const struct tg_limit *l)
{
    bool is_auto = false;
    for (size_t b = 0; b < l->n; b++)
        is_auto |= l->bound[b].is_auto;
    return is_auto;
}

static bool bound_exceeded(const struct tg_probe *p, const struct tg_limit *l,
                           const struct tg_bound *b)
{
    double judged = p->test - p->base;
    if (has_evidence(p) && p->unit == TG_UNIT_NS)
        judged = p->per > 0 ? p->ev->delta_ns / p->per : p->ev->delta_ns;
    double delta = badness(judged, p->bad), pct = tg_probe_measured_pct(p);
    switch (b->kind) {
    case TG_BOUND_PCT:
        if (p->whole > 0 && has_evidence(p))
            pct = 100 * p->ev->delta_ns / p->whole;
        else if (p->base != 0 && has_evidence(p) && p->unit == TG_UNIT_NS)
            pct = 100 * expm1(p->ev->e);
        /* tau of the number of runs; without runs enough, the suspicion has its own threshold. */
        if (b->is_auto)
            return badness(isnan(pct) ? INFINITY : pct, p->bad) > 100 * (p->ev ? p->ev->tau : 0);
        if (isnan(pct)) /* from nothing to something: no percentage, but surely a change */
            return badness(p->test - p->base, p->bad) > 0;
        return badness(pct, p->bad) > b->value;
    case TG_BOUND_ABS:
        /* A part of the step beside `auto` is what one look cannot tell from noise: new runs
         * did. */
        if (b->of_step && p->ev && p->ev->asked == TG_ASKED_RED && has_auto(l))
            return delta > 0;
        return delta > (b->of_step ? b->value / 100 * p->step_ns : b->value);
    case TG_BOUND_PP:
        return delta > b->value;
    case TG_BOUND_MAX:
        return spent(p) > b->value;
    case TG_BOUND_MIN:
        return spent(p) < b->value;
    }
    return false;
}

static bool limit_exceeded(const struct tg_probe *p, const struct tg_limit *l)
{
    if ((p->unchanged || p->incomparable) && !tg_limit_is_budget(l))
        return false;
    for (size_t i = 0; i < l->n; i++)
        if (!bound_exceeded(p, l, &l->bound[i]))
            return false;
    return l->n > 0;
}

bool tg_probe_shows(const struct tg_probe *p, const struct tg_limit *l)
{
    struct tg_evidence ev = *p->ev;
    struct tg_probe shown = *p;
    ev.e = log(p->test / p->base);
    ev.delta_ns = p->test - p->base;
    shown.ev = &ev;
    return limit_exceeded(&shown, l);
}

static bool has_size(const struct tg_limit *l)
{
    return !has_auto(l) && !tg_limit_is_budget(l);
}

void tg_soften(struct tg_judgement *j, enum tg_reason why, enum tg_state to)
{
    if (j->state < to)
        return;
    j->state = to;
    j->reason = why;
}

void tg_lack(struct tg_judgement *j, enum tg_state state, enum tg_reason need, const char *why_not)
{
    j->state = state;
    j->reason = need;
    j->why_not = why_not;
}

/* Does any limit that is on? */
static bool any_limit(const struct tg_limit_list *warn, const struct tg_limit_list *fail,
                      bool (*holds)(const struct tg_limit *))
{
    const struct tg_limit_list *const lists[] = { warn, fail };
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; lists[k]->state == TG_LIMIT_ON && i < lists[k]->n; i++)
            if (holds(&lists[k]->v[i]))
                return true;
    return false;
}

static struct tg_judgement judge_list(const struct tg_probe *p, const struct tg_limit_list *list,
                                      enum tg_state severity)
{
    struct tg_judgement worst = { .state = TG_STATE_PASS };
    for (size_t i = 0; list->state == TG_LIMIT_ON && i < list->n; i++) {
        const struct tg_limit *l = &list->v[i];
        const struct tg_evidence *ev = p->ev;
        struct tg_judgement j = { .state = severity, .limit = l };
        bool alone = p->exact || tg_limit_is_budget(l) || p->noise_test == TG_NOISE_NONE;
        if (!limit_exceeded(p, l))
            continue;
        /* Evidence is required whatever size the policy asks for; `slower` is not, because it
         * contains tau and the floor of the default policy. */
        if (!alone && !ev) {
            j.state = TG_STATE_NOT_JUDGED;
        } else if (!alone && ev->why_not != TG_JUDGED) {
            j.state = ev->suspicious ? TG_STATE_SUSPICIOUS : TG_STATE_NOT_JUDGED;
            j.reason = tg_reason_of_judged(ev->why_not);
        } else if (!alone && !ev->proven && ev->some_runs && has_size(l)) {
            tg_soften(&j, TG_REASON_SOME_RUNS, TG_STATE_WARN);
        } else if (!alone && !ev->proven) {
            j.state = TG_STATE_PASS;
        }
        if (!worst.limit || j.state > worst.state)
            worst = j;
    }
    return worst;
}

bool tg_limit_lists_have_size(const struct tg_limit_list *warn, const struct tg_limit_list *fail)
{
    return any_limit(warn, fail, has_size);
}

const char *tg_few_runs_text(int64_t min_runs, struct tg_arena *a)
{
    return min_runs < TG_BETTER_RUNS
               ? tg_arena_printf(a, "too few runs a side: %lld needed, %d better",
                                 (long long)min_runs, TG_BETTER_RUNS)
               : tg_arena_printf(a, "too few runs a side: %lld needed", (long long)min_runs);
}

struct tg_judgement tg_judge(const struct tg_probe *p, const struct tg_limit_list *warn,
                             const struct tg_limit_list *fail)
{
    struct tg_judgement f = judge_list(p, fail, TG_STATE_FAIL);
    struct tg_judgement w = judge_list(p, warn, TG_STATE_WARN);
    struct tg_judgement j = w.state > f.state || !f.limit ? w : f;
    /* What lacks to judge a change, NOT_JUDGED; or why there is nothing to judge, PASS; without
     * `why_not` nothing lacks. */
    struct tg_judgement need = { .state = TG_STATE_NOT_JUDGED };
    bool by_runs = !p->exact && p->noise_test != TG_NOISE_NONE;
    if (p->incomparable) {
        tg_lack(&need, need.state, p->lacks, p->incomparable);
    } else if (by_runs && !p->ev) {
        tg_lack(&need, need.state, TG_NEED_EVIDENCE,
                "no evidence exists for this metric in these traces");
    } else if (by_runs && tg_confirm_text(p->ev)) {
        tg_lack(&need, need.state, TG_NEED_NEW_RUNS, tg_confirm_text(p->ev));
    } else if (by_runs && p->ev->why_not != TG_JUDGED) {
        enum tg_judged why = p->ev->why_not;
        /* "Nothing wrong here" rather than "we could not look". */
        bool harmless = why == TG_NOT_ONE_SIDED || why == TG_NOT_COUNT_CHANGED ||
                        why == TG_NOT_COUNT_VARIES || why == TG_NOT_REPLACED;
        tg_lack(&need, harmless ? TG_STATE_PASS : need.state, tg_reason_of_judged(why),
                why == TG_NOT_FEW_RUNS && p->few_runs ? p->few_runs : tg_judged_text(why));
    }
    /* A kept budget is kept, at any number of runs. */
    if (need.why_not && j.state <= TG_STATE_NOT_JUDGED && !tg_limit_lists_are_budgets(warn, fail))
        tg_lack(&j, need.state, need.reason, need.why_not);
    /* A step of every fresh run is much slower, or most of the runs are: worth a warning where the
     * noise decides about size, as it does of times alone. */
    if (j.state == TG_STATE_PASS && p->ev && (p->ev->some_steps || p->ev->some_runs) &&
        any_limit(warn, fail, has_auto))
        j = (struct tg_judgement){ .state = TG_STATE_WARN, .reason = TG_REASON_SOME_STEPS };
    /* Device work varies less from run to run than the sizes by numbers of runs allow, but single
     * processes may differ by more: what is proven warns, and fails where new runs confirm it. */
    if (j.state == TG_STATE_PASS && has_evidence(p) && p->ev->steady_tau > 0 &&
        p->ev->steady_tau < p->ev->tau) {
        struct tg_evidence ev = *p->ev;
        struct tg_probe fine = *p;
        ev.tau = ev.steady_tau;
        fine.ev = &ev;
        if (judge_list(&fine, fail, TG_STATE_FAIL).state == TG_STATE_FAIL)
            j = (struct tg_judgement){ .state = TG_STATE_WARN, .reason = TG_REASON_STEADY };
    }
    return j;
}

void tg_limit_text(const struct tg_limit *l, struct tg_buf *out)
{
    for (size_t i = 0; i < l->n; i++)
        tg_buf_printf(out, "%s%s: %.*s", i ? ", " : "", tg_bound_name(l->bound[i].kind),
                      TG_SV_ARG(l->bound[i].text));
}
