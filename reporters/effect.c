#include "reporters/effect.h"

#include <math.h>

#include "core/base/decimal.h"
#include "core/diff/confirm.h"
#include "core/diff/numbers.h"
#include "reporters/findings.h"
#include "reporters/number.h"
#include "reporters/rows.h"

/* Does a rule ask for the time of a step? Where nothing is judged at all, that is said
 * elsewhere. */
static bool is_ruled(const struct tg_verdict *v)
{
    for (size_t i = 0; i < v->n_results; i++) {
        const struct tg_result *r = &v->results[i];
        bool steps = r->subject == TG_SUBJECT_TRACE && r->metric == TG_RULE_METRIC_STEP_TIME;
        if (!r->switched_off && (steps || r->subject == TG_SUBJECT_STEP))
            return true;
    }
    return !v->n_results;
}

/* Does a row tell of it all the same, by the range of the runs? */
static bool is_told(const struct tg_verdict *v)
{
    for (size_t i = 0; i < v->n_results; i++)
        if (v->results[i].subject == TG_SUBJECT_TRACE && tg_result_shown(&v->results[i]) &&
            v->results[i].metric == TG_RULE_METRIC_STEP_TIME && v->results[i].has_values &&
            !v->results[i].over_budget)
            return true;
    return false;
}

static const char *unit_of(double largest)
{
    return largest >= 1e6 ? "ms" : "us";
}

/* "345.9 -> 492.1 us (+42.3 %": from (almost) nothing the difference. */
static void put_change(struct tg_buf *out, const double ns[2])
{
    double most = fmax(ns[TG_BASE], ns[TG_TEST]), pct = 100 * (ns[TG_TEST] / ns[TG_BASE] - 1);
    bool alike = most >= 1e6 && most < 1e8 && fabs(pct) >= 0.05 &&
                 round(ns[TG_BASE] / 1e4) == round(ns[TG_TEST] / 1e4);
    for (int s = 0; s < 2; s++) {
        struct tg_as one = alike ? tg_as_fixed(ns[s] / 1e6, 3) : tg_as_time(ns[s], most);
        tg_buf_printf(out, "%s%s", s ? " -> " : "", one.s);
    }
    tg_buf_printf(out, " %s (", unit_of(most));
    if (tg_dec_pct_tells(pct))
        tg_put_pct_delta(out, pct);
    else
        tg_put_value_delta(out, ns[TG_TEST] - ns[TG_BASE], TG_UNIT_NS);
}

#define MEMORY_TELLS 1 /* per cent of the peak */
#define TELLS 0.5      /* percentage points between what was measured and what was judged */

/* ", fresh runs 2.04 to 4.51 ms": a median of such runs says little by itself. */
static bool put_spread(struct tg_buf *out, const struct tg_comparison *c)
{
    const struct tg_metric_change *wall = &c->metrics[TG_METRIC_STEP_TIME];
    double least = wall->least[TG_TEST], most = wall->most[TG_TEST];
    if (c->rank_alone || !(least > 0) || most < (1 + TG_QUARTER) * least)
        return false;
    tg_buf_printf(out, ", fresh runs %s to %s %s", TG_AS_TIME(least, most), TG_AS_TIME(most, most),
                  unit_of(most));
    return true;
}

/* "; the host is 28.5 % slower", "; in the fastest steps +0.2 %": why what was judged is not the
 * measured change, that of the machine or of disturbed steps. Nothing where it is all. */
static void put_judged(struct tg_buf *out, const struct tg_verdict *v, const struct tg_evidence *ev,
                       double measured)
{
    static const char *const whose[] = {
        [TG_DRIFT_OF_ALL] = "machine", [TG_DRIFT_OF_HOST] = "host", [TG_DRIFT_OF_DEVICE] = "device"
    };
    const struct tg_comparison *c = tg_confirm_last(v->comparison);
    double machine = 100 * expm1(c->drift), change = 100 * expm1(ev->e);
    bool of_machine = machine >= TELLS; /* a faster one is never taken off */
    if (!is_ruled(v) || ev->why_not != TG_JUDGED || fabs(measured - change) < TELLS ||
        c->rank_alone || c->gradients || !tg_dec_pct_tells(change))
        return;
    if (of_machine)
        tg_buf_printf(out, "; the %s is %s %% slower", whose[c->drift_of], TG_AS_FIXED(machine, 1));
    if (of_machine && ev->estimate == TG_ESTIMATE_LEAST)
        return; /* the rest is in disturbed steps: a second number would look like another answer */
    tg_buf_printf(out, "%s%s%s", of_machine ? ", " : "; ",
                  ev->estimate == TG_ESTIMATE_LEAST ? "in the fastest steps " : "judged as ",
                  TG_AS(tg_put_pct_delta, change));
}

/* What the verdict says about the step's time, where it says something; else the default rule. */
static const struct tg_evidence *step_evidence(const struct tg_verdict *v)
{
    const struct tg_comparison *c = tg_confirm_last(v->comparison);
    for (size_t i = 0; i < v->n_results; i++) {
        const struct tg_result *r = &v->results[i];
        if (r->subject == TG_SUBJECT_TRACE && r->metric == TG_RULE_METRIC_STEP_TIME &&
            tg_sv_eq(r->op_normalised, r->plain) && r->ev && r->state > TG_STATE_SUSPICIOUS &&
            (c == v->comparison || r->ev->asked))
            return r->ev;
    }
    return &c->metrics[TG_METRIC_STEP_TIME].ev;
}

bool tg_effect_step(const struct tg_verdict *v, double ns[2])
{
    if (!v->comparison)
        return false;
    const struct tg_metric_change *m =
        &tg_confirm_last(v->comparison)->metrics[TG_METRIC_STEP_TIME];
    ns[TG_BASE] = m->value[TG_BASE];
    ns[TG_TEST] = m->value[TG_TEST];
    return m->known[TG_BASE] && m->known[TG_TEST] && ns[TG_BASE] > 0 && isfinite(ns[TG_TEST]);
}

/* Is the time of a name that of a waived finding with all that follows from it? */
static bool is_in_whole(const struct tg_verdict *v, const struct tg_op *op)
{
    for (size_t i = 0; i < v->n_results; i++) {
        const struct tg_result *r = &v->results[i];
        const struct tg_result *head =
            r->folded_under < v->n_results ? &v->results[r->folded_under] : r;
        if (r->state == TG_STATE_WAIVED && head->whole_known && tg_result_is_about(r, op))
            return true;
    }
    return false;
}

/* ns per step that waived findings add; of rows without one on the device, where it works. */
static double waived_ns(const struct tg_verdict *v)
{
    const struct tg_comparison *c = v->comparison;
    double ns[2] = { 0 }, whole = 0;
    bool device = false;
    for (size_t i = 0; i < v->n_results; i++)
        if (v->results[i].state == TG_STATE_WAIVED && v->results[i].whole_known)
            whole += v->results[i].whole_ns[TG_TEST] - v->results[i].whole_ns[TG_BASE];
    for (size_t i = 0; i < c->n_ops; i++) {
        bool on_device = tg_kind_is_device(c->ops[i].kind);
        device |= on_device;
        if (tg_row_is_waived(v, &c->ops[i]) && !c->ops[i].wait && !is_in_whole(v, &c->ops[i]))
            ns[on_device] += tg_row_shown(v, &c->ops[i]).d_ns;
    }
    return whole + ns[device];
}

/* "of it +240 us waived"; of a change that is not longer than that: only that it holds such
 * changes. */
static void put_waived(struct tg_buf *out, const struct tg_verdict *v, double change)
{
    double ns = v->n_state[TG_STATE_WAIVED] ? waived_ns(v) : 0;
    if (!v->n_state[TG_STATE_WAIVED])
        return;
    if (!(ns > 0) || ns > change)
        tg_buf_puts(out, ", waived changes included");
    else
        tg_buf_printf(out, ", of it +%s %s waived", TG_AS_TIME(ns, ns), unit_of(ns));
}

void tg_effect_put(struct tg_buf *out, const struct tg_verdict *v)
{
    double ns[2];
    if (!tg_effect_step(v, ns))
        return;
    const struct tg_comparison *c = tg_confirm_last(v->comparison);
    const struct tg_evidence *ev = step_evidence(v);
    tg_buf_puts(out, "Step time ");
    if (c->rank_alone) {
        /* The step of the one rank that takes longer, before the mean of all. */
        tg_buf_printf(out, "of %s: ", c->rank_alone->called);
        put_change(out, c->rank_alone->wall_ns);
        tg_buf_printf(out, "), mean of %zu ranks ", c->n_ranks[TG_TEST]);
    }
    put_change(out, ns);
    if (c->iteration_ratio > 0 && c->iteration_ratio != 1) /* whole traces, as measured */
        tg_buf_printf(out, ", with %.4g times the iterations", c->iteration_ratio);
    /* The noise is that of the shortest steps: beside a wide range it reads as a contradiction. */
    if (!put_spread(out, c) || ev->why_not != TG_JUDGED || !is_ruled(v)) {
        /* Noise as a percentage of the value: the evidence has it on a log scale. */
        if (!is_ruled(v)) {
            tg_buf_puts(out, ", no rule limits it");
        } else if (ev->why_not != TG_JUDGED) {
            tg_buf_puts(out, is_told(v) ? "" : ", not judged");
        } else {
            tg_buf_printf(out, ", noise %s%s %%", ev->noise < 0.0005 ? "below " : "",
                          TG_AS_FIXED(100 * fmax(ev->noise, 0.001), 1));
        }
    }
    put_judged(out, v, ev, 100 * (ns[TG_TEST] / ns[TG_BASE] - 1));
    put_waived(out, v, ns[TG_TEST] - ns[TG_BASE]);
    tg_buf_putc(out, ')');
    /* ", peak memory 3.10 -> 3.42 GiB (+10 %)": where it is known, and another one. */
    const struct tg_metric_change *m = &c->metrics[TG_METRIC_MEM_PEAK];
    double pct = 100 * (m->value[TG_TEST] / m->value[TG_BASE] - 1);
    if (!m->known[TG_BASE] || !m->known[TG_TEST] || !(m->value[TG_BASE] > 0) ||
        fabs(pct) < MEMORY_TELLS)
        return;
    tg_buf_puts(out, ", peak memory ");
    tg_put_bytes_change(out, m->value[TG_BASE], m->value[TG_TEST]);
    tg_buf_printf(out, " (%s)", TG_AS(tg_put_pct_delta, pct));
}
