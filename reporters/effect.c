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
    tg_buf_puts(out, ev->noise < 0.0005 ? ", noise below " : ", noise ");
    tg_dec_put_fixed(out, 100 * fmax(ev->noise, 0.001), 1);
    tg_buf_puts(out, " %");
}

/* What the verdict says about the step's time, where it says something; else the default rule. */
static const struct tg_evidence *step_evidence(const struct tg_verdict *v)
{
    for (size_t i = 0; i < v->n_results; i++) {
        const struct tg_result *r = &v->results[i];
        if (r->subject == TG_SUBJECT_TRACE && r->metric == TG_METRIC_STEP_TIME &&
            tg_sv_eq(r->op_normalised, r->plain) && r->ev && r->state > TG_STATE_SUSPICIOUS)
            return r->ev;
    }
    return &v->comparison->measures[TG_MEASURE_STEP_TIME].ev;
}

static bool times_of(const struct tg_measure_change *m, const struct tg_evidence *ev, double ns[2])
{
    const double *v = ev->judged == TG_JUDGED ? ev->value : m->value;
    ns[TG_BASE] = v[TG_BASE];
    ns[TG_TEST] = v[TG_TEST];
    return m->known[TG_BASE] && m->known[TG_TEST] && ns[TG_BASE] > 0 && isfinite(ns[TG_TEST]);
}

bool tg_effect_step(const struct tg_verdict *v, double ns[2])
{
    return v->comparison &&
           times_of(&v->comparison->measures[TG_MEASURE_STEP_TIME], step_evidence(v), ns);
}

/* What failed first is the time between operators, and the device's step does not show it. */
static bool is_hosts(const struct tg_verdict *v)
{
    const struct tg_measure_change *m = v->comparison->measures;
    for (size_t i = 0; i < v->n_results; i++)
        if (tg_result_shown(&v->results[i]) && v->results[i].folded_under >= v->n_results)
            return v->results[i].subject == TG_SUBJECT_STEP &&
                   m[TG_MEASURE_HOST_TIME].value[TG_BASE] != m[TG_MEASURE_STEP_TIME].value[TG_BASE];
    return false;
}

void tg_effect_put(struct tg_buf *out, const struct tg_verdict *v, enum tg_effect_form form)
{
    const struct tg_evidence *ev;
    double ns[2], most;
    bool host = v->comparison && is_hosts(v);
    if (!v->comparison)
        return;
    ev = host ? &v->comparison->measures[TG_MEASURE_HOST_TIME].ev : step_evidence(v);
    if (!(host ? times_of(&v->comparison->measures[TG_MEASURE_HOST_TIME], ev, ns)
               : tg_effect_step(v, ns)))
        return;
    most = fmax(ns[TG_BASE], ns[TG_TEST]);
    tg_buf_puts(out, host ? "Host time of a step " : "Step time ");
    tg_put_time(out, ns[TG_BASE], most);
    tg_buf_puts(out, form == TG_EFFECT_PRINT ? " \xe2\x86\x92 " : " -> ");
    tg_put_time(out, ns[TG_TEST], most);
    tg_buf_puts(out, form == TG_EFFECT_PRINT ? tg_time_unit(most) : most >= 1e6 ? " ms" : " us");
    tg_buf_puts(out, " (");
    if (tg_dec_pct_tells(100 * (ns[TG_TEST] / ns[TG_BASE] - 1)))
        tg_put_pct_sentence(out, 100 * (ns[TG_TEST] / ns[TG_BASE] - 1));
    else
        tg_put_value_delta(out, ns[TG_TEST] - ns[TG_BASE], TG_DIM_DURATION);
    put_noise(out, ev);
    tg_buf_puts(out, v->n_state[TG_STATE_WAIVED] ? ", waived changes included)" : ")");
}

/* Of a number of calls the rows that it counts, where they changed. */
static bool is_counted(const struct tg_result *r, const struct tg_op *op)
{
    enum tg_measure m;
    return r->subject == TG_SUBJECT_TRACE && tg_metric_measure(r->metric, &m) &&
           tg_measure_kinds(m) & 1u << op->kind && op->change != TG_SAME;
}

static bool is_about(const struct tg_result *r, const struct tg_op *op)
{
    return tg_result_shown(r) && (tg_result_is_about(r, op) || is_counted(r, op));
}

static bool any_about(const struct tg_verdict *v, const struct tg_op *op)
{
    for (size_t i = 0; i < v->n_results; i++)
        if (is_about(&v->results[i], op))
            return true;
    return false;
}

/* The host waits as long as the device works: a wait that no result is about mirrors what is. */
static bool is_news(const struct tg_op *op)
{
    bool judged = op->change != TG_SAME || tg_evidence_compared(tg_op_reported(op));
    return judged && op->kind != TG_KIND_STEP && op->kind != TG_KIND_SYNC &&
           !tg_op_within_noise(op);
}

uint32_t *tg_effect_rows(const struct tg_verdict *v, size_t top, size_t others, size_t *n)
{
    const struct tg_comparison *c = v->comparison;
    size_t all = 0;
    const struct tg_rows_choice choice = { .basis = TG_BASIS_JUDGED, .steps = true };
    uint32_t *rows = tg_rows_worst(c, &choice, c->n_ops, &all, NULL);
    uint32_t *out = tg_xmalloc((all + 1) * sizeof *out);
    *n = 0;
    for (size_t i = 0; i < all && *n < top; i++)
        if (any_about(v, &c->ops[rows[i]]))
            out[(*n)++] = rows[i];
    for (size_t i = 0; i < all && *n < top && others; i++)
        if (is_news(&c->ops[rows[i]]) && !any_about(v, &c->ops[rows[i]])) {
            out[(*n)++] = rows[i];
            others--;
        }
    free(rows);
    return out;
}
