#include "reporters/effect.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/decimal.h"
#include "reporters/cause.h"
#include "reporters/number.h"
#include "reporters/rows.h"

/* Noise as a percentage of the value: the evidence has it on a log scale. */
static void put_noise(struct tg_buf *out, const struct tg_evidence *ev)
{
    if (ev->judged != TG_JUDGED) {
        tg_buf_puts(out, ", not judged");
        return;
    }
    tg_buf_puts(out, ", noise ");
    tg_dec_put_fixed(out, 100 * ev->noise, 1);
    tg_buf_puts(out, "%");
}

/* What the verdict says about the step's time, where it says something; else the default rule. */
static const struct tg_evidence *step_evidence(const struct tg_verdict *v)
{
    for (size_t i = 0; i < v->n_results; i++) {
        const struct tg_result *r = &v->results[i];
        if (tg_sv_eq(r->plain, TG_SV("step_time")) && tg_sv_eq(r->metric, r->plain) &&
            tg_sv_eq(r->op_normalised, r->plain) && r->ev && r->state > TG_STATE_SUSPICIOUS)
            return r->ev;
    }
    return &v->comparison->measures[TG_MEASURE_STEP_TIME].ev;
}

void tg_effect_put(struct tg_buf *out, const struct tg_verdict *v, const char *arrow)
{
    const struct tg_measure_change *m;
    const struct tg_evidence *ev;
    double base, test;
    if (!v->comparison)
        return;
    m = &v->comparison->measures[TG_MEASURE_STEP_TIME];
    ev = step_evidence(v);
    if (!m->known[TG_BASE] || !m->known[TG_TEST])
        return;
    base = ev->judged == TG_JUDGED ? ev->value[TG_BASE] : m->value[TG_BASE];
    test = ev->judged == TG_JUDGED ? ev->value[TG_TEST] : m->value[TG_TEST];
    if (!(base > 0) || !isfinite(test))
        return;
    tg_buf_puts(out, "Step time ");
    tg_put_time(out, base, fmax(base, test));
    tg_buf_puts(out, arrow);
    tg_put_time(out, test, fmax(base, test));
    tg_buf_puts(out, tg_time_unit(fmax(base, test)));
    tg_buf_puts(out, " (");
    if (tg_dec_pct_tells(100 * (test / base - 1)))
        tg_put_pct_delta(out, 100 * (test / base - 1));
    else
        tg_put_value_delta(out, test - base, TG_SV("ns"));
    put_noise(out, ev);
    tg_buf_puts(out, ")");
}

static bool is_about(const struct tg_result *r, const struct tg_op *op)
{
    return tg_result_shown(r) && tg_sv_eq(r->op_normalised, op->name) &&
           tg_sv_eq(r->kind, tg_sv_of(tg_kind_name(op->kind)));
}

static bool any_about(const struct tg_verdict *v, const struct tg_op *op)
{
    for (size_t i = 0; i < v->n_results; i++)
        if (is_about(&v->results[i], op))
            return true;
    return false;
}

uint32_t *tg_effect_rows(const struct tg_verdict *v, size_t top, size_t noise, size_t *n)
{
    const struct tg_comparison *c = v->comparison;
    size_t all = 0;
    uint32_t *rows = tg_rows_worst(c, &(struct tg_rows_choice){ .basis = TG_BASIS_JUDGED },
                                   c->n_ops, &all, NULL);
    uint32_t *out = tg_xmalloc((all + 1) * sizeof *out);
    *n = 0;
    for (size_t i = 0; i < all && *n < top; i++)
        if (any_about(v, &c->ops[rows[i]]))
            out[(*n)++] = rows[i];
    for (size_t i = 0; i < all && *n < top && noise; i++)
        if (!any_about(v, &c->ops[rows[i]])) {
            out[(*n)++] = rows[i];
            noise--;
        }
    free(rows);
    return out;
}
