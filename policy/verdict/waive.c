#include "policy/verdict/internal.h"

static bool could_waive(const struct tg_waiver *w, const struct tg_result *r)
{
    return r->state == TG_STATE_FAIL && r->has_values && tg_sv_eq(w->rule, r->rule);
}

/* "4 calls more", "+64 %": a ceiling is about the change, unless it is a value. */
static void put_ceiling(struct tg_buf *b, const struct tg_limit *l, const struct tg_result *r)
{
    for (size_t i = 0; i < l->n; i++) {
        const struct tg_bound *x = &l->bound[i];
        tg_sv text = x->text;
        bool one = tg_sv_eq(text, TG_SV("1"));
        tg_buf_puts(b, i ? " and " : "");
        if (x->kind == TG_BOUND_ABS && !x->of_step)
            tg_buf_printf(b, "%.*s%s more", TG_SV_ARG(text),
                          r->unit_id != TG_UNIT_COUNT ? ""
                          : one                       ? " call"
                                                      : " calls");
        else if (x->kind == TG_BOUND_MAX) /* a value */
            tg_buf_add(b, text);
        else if (x->kind == TG_BOUND_PCT && tg_sv_ends(text, TG_SV("%")))
            tg_buf_printf(b, "+%.*s %%", (int)(text.n - 1), text.p);
        else
            tg_buf_printf(b, "%s: %.*s", tg_bound_name(x->kind), TG_SV_ARG(text));
    }
}

/* `head`: the waived name that `r` follows from; "" it is waived itself. */
static void apply_waiver(struct tg_eval_state *e, const struct tg_waiver *w, struct tg_result *r,
                         tg_sv head)
{
    const struct tg_waiver *item = w;
    struct tg_buf b = { 0 };
    enum tg_state to = r->state;
    int64_t late = e->in->today - w->expires; /* an unknown day, 0, is before every other */
    if (head.n)
        tg_buf_printf(&b, "follows from " TG_NAME ", ", TG_SV_ARG(head));
    r->waiver_ended = late > 0;
    /* An accepted change has an upper limit: above it the failure is a new one. */
    const struct tg_probe p = { .base = r->base,
                                .test = r->base + r->delta,
                                .exact = true,
                                .step_ns = e->in->comparison->wall_ns[TG_BASE],
                                .unit = r->unit_id,
                                .bad = TG_ANY_IS_BAD };
    const struct tg_limit_list ceiling = { .state = TG_LIMIT_ON, .v = &w->ceiling, .n = 1 };
    const struct tg_limit_list none = { .state = TG_LIMIT_OFF };
    if (late > 0) {
        tg_buf_printf(&b, "waiver expired %lld day%s ago (%s:%u)", (long long)late, TG_PLURAL(late),
                      w->at.file, w->at.line);
        r->next = TG_SV("Fix the regression, or renew the waiver with a new date.");
    } else if (tg_judge(&p, &none, &ceiling).state == TG_STATE_FAIL) {
        tg_buf_puts(&b, "beyond the waiver: up to ");
        put_ceiling(&b, &w->ceiling, r);
    } else {
        to = TG_STATE_WAIVED;
        tg_buf_puts(&b, "waived: up to ");
        put_ceiling(&b, &w->ceiling, r);
        tg_buf_printf(&b, ", until %.*s (%s:%u): %.*s", TG_SV_ARG(w->expires_text), w->at.file,
                      w->at.line, TG_SV_ARG(w->reason));
        if (w->owner.n)
            tg_buf_printf(&b, "; owner %.*s", TG_SV_ARG(w->owner));
        if (w->issue.n)
            tg_buf_printf(&b, "; %.*s", TG_SV_ARG(w->issue));
        r->issue = w->issue;
        while (item->with) /* it continues the one before */
            item--;
        if (w->name &&
            !w->many) /* a pattern may cover changes that have nothing to do with each other */
            r->waiver = (uint32_t)(item - e->in->policy->waivers) + 1;
        if (late >= -14)
            r->next = TG_SV("The waiver ends within 14 days.");
    }
    tg_eval_revise(e, r, to, to == TG_STATE_WAIVED ? TG_REASON_WAIVED : TG_REASON_NONE,
                   tg_phrase_take(&b, e->arena));
}

/* What a waived name explains is waived with it: `clone` calls `empty_like` and `copy_`. */
static void waive_consequences(struct tg_eval_state *e, const struct tg_waiver *w, bool *by)
{
    bool *seen = TG_NEW_N(e->arena, bool, e->n + 1);
    for (bool any = true; any;) {
        any = false;
        for (size_t k = 0; k < e->n; k++) {
            struct tg_result *r = &e->results[k];
            const struct tg_result *head = NULL; /* whose additional calls make those of `r` */
            bool could = could_waive(w, r) && r->unit_id == TG_UNIT_COUNT && !seen[k];
            const struct tg_op *op = could ? tg_result_op(e->in->comparison, r) : NULL;
            for (size_t i = 0; op && !head && i < e->n; i++)
                if (by[i] && tg_eval_explains(&e->results[i], r, op, e->in->comparison))
                    head = &e->results[i];
            if (!head)
                continue;
            seen[k] = true;
            apply_waiver(e, w, r, head->plain);
            by[k] = r->state == TG_STATE_WAIVED;
            any |= by[k];
        }
    }
}

void tg_waive(struct tg_eval_state *e)
{
    const struct tg_policy *p = e->in->policy;
    size_t item = 0; /* the waiver that `with` continues */
    bool used = false;
    for (size_t i = 0; i < p->n_waivers; i++) {
        const struct tg_waiver *w = &p->waivers[i];
        item = w->with ? item : i;
        used = used && w->with;
        if (!tg_select_rule(e, &w->when))
            continue; /* it is for elsewhere */
        bool *by = TG_NEW_N(e->arena, bool, e->n + 1);
        for (size_t k = 0; k < e->n; k++) {
            struct tg_result *r = &e->results[k];
            /* An exact name is a text, whatever it holds: "void kern(float*)". */
            bool names = !w->name || (w->many ? tg_pattern_test(w->name, r->plain) == TG_HIT_YES
                                              : tg_sv_eq(w->name_text, r->plain));
            if (!could_waive(w, r) || !names)
                continue;
            used = true;
            apply_waiver(e, w, r, TG_SV(""));
            by[k] = r->state == TG_STATE_WAIVED;
        }
        waive_consequences(e, w, by);
        if (e->in->waivers_used)
            used = e->in->waivers_used[item] |= used;
        w = &p->waivers[item];
        if (!used && !e->in->more_suites && (i + 1 == p->n_waivers || !w[i + 1 - item].with)) {
            tg_verdict_add_note(e->out, e->arena, TG_REASON_NOTE,
                                TG_SV_PRINTF(e->arena, "waiver for %.*s%s%.*s is unused (%s:%u)",
                                             TG_SV_ARG(w->rule), w->name_text.n ? " " : "",
                                             TG_SV_ARG(w->name_text), w->at.file, w->at.line),
                                TG_SV("Remove it when the change it accepted is in the baseline."));
        }
    }
}
