#include "policy/verdict/describe.h"
#include "policy/verdict/internal.h"

static bool waives(const struct tg_eval_state *e, const struct tg_waiver *w,
                   const struct tg_result *r)
{
    return r->state == TG_STATE_FAIL && r->has_values && tg_sv_eq(w->rule, r->rule) &&
           (!w->name || tg_pattern_test(w->name, r->op_normalised) == TG_HIT_YES) &&
           tg_select_rule(e, &w->when);
}

/* An accepted change has an upper limit: above it the failure is a new one. */
static bool within_ceiling(const struct tg_eval_state *e, const struct tg_waiver *w,
                           const struct tg_result *r)
{
    struct tg_probe p = { .base = r->base,
                          .test = r->base + r->delta,
                          .exact = true,
                          .step_ns = e->in->comparison->step_ns[TG_BASE],
                          .unit = r->dimension == TG_DIM_DURATION ? TG_UNIT_NS
                                  : r->dimension == TG_DIM_RATIO  ? TG_UNIT_PERCENT
                                  : r->dimension == TG_DIM_BYTES  ? TG_UNIT_BYTES
                                  : r->dimension == TG_DIM_RATE   ? TG_UNIT_RATE
                                                                  : TG_UNIT_COUNT,
                          .bad = TG_ANY_IS_BAD };
    struct tg_limit_list ceiling = { .state = TG_LIMIT_ON, .v = &w->ceiling, .n = 1 };
    struct tg_limit_list none = { .state = TG_LIMIT_OFF };
    return tg_judge(&p, &none, &ceiling).state != TG_STATE_FAIL;
}

static void apply_waiver(struct tg_eval_state *e, const struct tg_waiver *w, struct tg_result *r)
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

void tg_waive(struct tg_eval_state *e)
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
                e->out, e->arena, TG_NOTE_WARNING,
                tg_sv_of(tg_arena_printf(
                    e->arena, "waiver for %.*s%s%.*s is unused (%s:%u)",
                    TG_SV_ARG(p->waivers[i].rule), p->waivers[i].name_text.n ? " " : "",
                    TG_SV_ARG(p->waivers[i].name_text),
                    p->waivers[i].at.file ? p->waivers[i].at.file : "", p->waivers[i].at.line)),
                TG_SV("Remove it when the change it accepted is in the baseline."));
    }
}
