#include "reporters/accept.h"

#include <math.h>

#include "core/base/decimal.h"
#include "core/base/utf8.h"

bool tg_accept_can(const struct tg_result *r)
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
    tg_buf_putc(out, '\'');
    for (size_t i = 0; i < text.n; i++) {
        tg_buf_putc(out, text.p[i]);
        if (text.p[i] == '\'')
            tg_buf_putc(out, '\'');
    }
    tg_buf_putc(out, '\'');
    return true;
}

/* From (almost) nothing a time has no percentage: then so many us more. */
static void put_ceiling(struct tg_buf *out, const struct tg_result *r)
{
    if (!tg_dec_pct_tells(r->delta_pct) && tg_sv_eq(r->unit, TG_SV("ns")))
        tg_buf_printf(out, "abs: %.0fus", ceil(r->delta / 1000));
    else
        tg_buf_printf(out, "pct: %.0f%%", isfinite(r->delta_pct) ? ceil(r->delta_pct) : 100);
}

void tg_accept_put(struct tg_buf *out, const struct tg_result *r)
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
