#include "reporters/accept.h"

#include <math.h>

#include "core/base/decimal.h"
#include "core/base/utf8.h"
#include "reporters/escape.h"
#include "reporters/origin.h"

/* It failed, by a value under a rule. */
static bool is_waivable(const struct tg_result *r)
{
    return r->state == TG_STATE_FAIL && r->has_values && r->rule.n && r->op.n;
}

/* In single quotes, as YAML wants it. Names that cannot be copied as they look have no such form. */
static bool put_yaml(struct tg_buf *out, tg_sv text)
{
    struct tg_buf visible = { 0 };
    bool same;
    tg_utf8_visible(&visible, text);
    same = tg_sv_eq(tg_buf_sv(&visible), text) && !memchr(text.p, '`', text.n);
    tg_buf_release(&visible);
    if (!same)
        return false;
    tg_esc_yaml(out, text);
    return true;
}

/* From (almost) nothing a time has no percentage: then so many us more. */
static void put_ceiling(struct tg_buf *out, const struct tg_result *r)
{
    if (!tg_dec_pct_tells(r->delta_pct) && r->dimension == TG_DIM_DURATION)
        tg_buf_printf(out, "abs: %.0fus", ceil(r->delta / 1000));
    else
        tg_buf_printf(out, "pct: %.0f%%", isfinite(r->delta_pct) ? ceil(r->delta_pct) : 100);
}

/* Nothing for a name that cannot be copied as it looks. */
static void put_waiver(struct tg_buf *out, const struct tg_result *r)
{
    struct tg_buf one = { 0 };
    bool ok;
    tg_buf_puts(&one, "  - {rule: ");
    tg_buf_add(&one, r->rule);
    tg_buf_puts(&one, ", name: ");
    ok = put_yaml(&one, r->op_normalised.n ? r->op_normalised : r->op);
    tg_buf_puts(&one, ", ceiling: {");
    if (r->dimension == TG_DIM_COUNT)
        tg_buf_printf(&one, "abs: %.0f", ceil(r->delta));
    else
        put_ceiling(&one, r);
    tg_buf_puts(&one, "}, reason: '\xe2\x80\xa6', owner: you, expires: YYYY-MM-DD}\n");
    if (ok)
        tg_buf_add(out, tg_buf_sv(&one));
    tg_buf_release(&one);
}

size_t tg_accept_put_all(struct tg_buf *out, const struct tg_verdict *v, size_t most,
                         const struct tg_result **first)
{
    size_t n = 0;
    *first = NULL;
    for (int folded = 0; folded < 2; folded++)
        for (size_t i = 0; i < v->n_results; i++) {
            const struct tg_result *r = &v->results[i];
            if (!is_waivable(r) || r->follows || (r->folded_under < v->n_results) != folded)
                continue;
            *first = *first ? *first : r;
            if (n++ < most)
                put_waiver(out, r);
        }
    return n > most ? n - most : 0;
}

/* The first violation, or else warning, that is not a consequence of another. */
static const struct tg_result *first_finding(const struct tg_verdict *v)
{
    enum tg_state state = v->outcome == TG_OUTCOME_WARN ? TG_STATE_WARN : TG_STATE_FAIL;
    for (size_t i = 0; i < v->n_results; i++)
        if (v->results[i].state == state && v->results[i].folded_under >= v->n_results)
            return &v->results[i];
    return NULL;
}

static void put_words(struct tg_buf *out, tg_sv text)
{
    tg_buf_add(out, text);
}

void tg_accept_put_next(struct tg_buf *out, const struct tg_verdict *v,
                        void (*put_code)(struct tg_buf *out, tg_sv text))
{
    const struct tg_result *r = first_finding(v);
    const struct tg_cause_frame *f = r && r->cause ? r->cause->function : NULL;
    struct tg_buf text = { 0 };
    put_code = put_code ? put_code : put_words;
    if ((v->outcome != TG_OUTCOME_FAIL && v->outcome != TG_OUTCOME_WARN) || !r ||
        r->subject == TG_SUBJECT_REQUIRE)
        return; /* a requirement's row says itself what to do */
    if (f) {
        bool touched = !r->cause->change_known || r->cause->link > TG_CAUSE_LINK_FILE;
        tg_buf_puts(out, touched ? "Look at " : "It runs in ");
        tg_buf_printf(&text, "%.*s:%u", TG_SV_ARG(f->file), (unsigned)tg_origin_line(r));
        put_code(out, touched ? tg_buf_sv(&text) : f->text);
        tg_buf_puts(out, touched ? " in " : " (");
        put_code(out, touched ? f->text : tg_buf_sv(&text));
        tg_buf_puts(out, touched
                             ? ". "
                             : "), which the change does not touch: compare data, configuration "
                               "and dependencies of the two sides. ");
    } else if (!r->cause || !r->cause->stacks) {
        tg_buf_puts(out, "Where in the program it is: record both sides with Python stacks (");
        put_code(out, TG_SV("with_stack=True"));
        tg_buf_puts(out, "). ");
    }
    if (r->rule.n) {
        tg_buf_clear(&text);
        tg_buf_printf(&text, "tracegate policy explain %.*s", TG_SV_ARG(r->rule));
        tg_buf_puts(out, v->outcome == TG_OUTCOME_WARN
                             ? "Its limit: "
                             : "To see its limit, or to accept the change: ");
        put_code(out, tg_buf_sv(&text));
    }
    tg_buf_release(&text);
}
