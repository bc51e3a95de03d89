#include "reporters/effect.h"

#include <math.h>

#include "core/base/arena.h"
#include "core/base/decimal.h"
#include "core/diff/numbers.h"
#include "reporters/findings.h"
#include "reporters/number.h"
#include "reporters/rows.h"

/* Does a rule ask for the time of a step? Where nothing is judged at all, that is said elsewhere. */
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

/* Noise as a percentage of the value: the evidence has it on a log scale. */
static void put_noise(struct tg_buf *out, const struct tg_verdict *v, const struct tg_evidence *ev)
{
    if (!is_ruled(v)) {
        tg_buf_puts(out, ", not judged: no rule");
        return;
    }
    if (ev->judged != TG_JUDGED) {
        tg_buf_puts(out, ", not judged");
        return;
    }
    tg_buf_puts(out, ev->noise < 0.0005 ? ", noise below " : ", noise ");
    tg_dec_put_fixed(out, 100 * fmax(ev->noise, 0.001), 1);
    tg_buf_puts(out, " %");
}

/* "345.9 -> 492.1 us (+42.3 %": from (almost) nothing the difference. */
static void put_change(struct tg_buf *out, const double ns[2])
{
    double most = fmax(ns[TG_BASE], ns[TG_TEST]), pct = 100 * (ns[TG_TEST] / ns[TG_BASE] - 1);
    tg_put_time(out, ns[TG_BASE], most);
    tg_buf_puts(out, " -> ");
    tg_put_time(out, ns[TG_TEST], most);
    tg_buf_puts(out, most >= 1e6 ? " ms" : " us");
    tg_buf_puts(out, " (");
    if (tg_dec_pct_tells(pct))
        tg_put_pct_delta(out, pct);
    else
        tg_put_value_delta(out, ns[TG_TEST] - ns[TG_BASE], TG_DIM_DURATION);
}

/* The step of the one rank that takes longer, before the mean of all. */
static void put_rank(struct tg_buf *out, const struct tg_comparison *c)
{
    tg_buf_printf(out, "of %s ", c->rank_alone->called);
    put_change(out, c->rank_alone->wall_ns);
    tg_buf_printf(out, "), mean of %zu ranks ", c->n_ranks[TG_TEST]);
}

#define TELLS 0.5 /* percentage points between what was measured and what was judged */

/* ", fresh runs 2.04 to 4.51 ms": a median of such runs says little by itself. */
static void put_spread(struct tg_buf *out, const struct tg_comparison *c)
{
    const struct tg_metric_change *wall = &c->metrics[TG_METRIC_STEP_TIME];
    double least = wall->least[TG_TEST], most = wall->most[TG_TEST];
    if (c->rank_alone || !(least > 0) || most < TG_WORSE * least)
        return;
    tg_buf_puts(out, ", fresh runs ");
    tg_put_time(out, least, most);
    tg_buf_puts(out, " to ");
    tg_put_time(out, most, most);
    tg_buf_puts(out, most >= 1e6 ? " ms" : " us");
}

/* "; the host is 28.5 % slower", "; in the fastest steps +0.2 %": why what was judged is not the measured change, that of the
 * machine or of disturbed steps. Nothing where it is all. */
static void put_judged(struct tg_buf *out, const struct tg_verdict *v, const struct tg_evidence *ev,
                       double measured)
{
    static const char *const whose[] = {
        [TG_DRIFT_OF_ALL] = "machine", [TG_DRIFT_OF_HOST] = "host", [TG_DRIFT_OF_DEVICE] = "device"
    };
    const struct tg_comparison *c = v->comparison;
    double machine = 100 * expm1(c->drift), change = 100 * expm1(ev->e);
    bool of_machine = fabs(machine) >= TELLS;
    if (!is_ruled(v) || ev->judged != TG_JUDGED || fabs(measured - change) < TELLS || c->rank_alone)
        return;
    if (of_machine) {
        tg_buf_printf(out, "; the %s is ", whose[c->drift_of]);
        tg_dec_put_fixed(out, fabs(machine), 1);
        tg_buf_puts(out, machine > 0 ? " % slower" : " % faster");
    }
    if (of_machine && ev->estimate == TG_ESTIMATE_LEAST && machine > 0)
        return; /* what is left of it is in disturbed steps: a second number would look like another answer */
    tg_buf_puts(out, of_machine ? ", " : "; ");
    tg_buf_puts(out, ev->estimate == TG_ESTIMATE_LEAST ? "in the fastest steps " : "judged as ");
    tg_put_pct_delta(out, change);
}

/* What the verdict says about the step's time, where it says something; else the default rule. */
static const struct tg_evidence *step_evidence(const struct tg_verdict *v)
{
    for (size_t i = 0; i < v->n_results; i++) {
        const struct tg_result *r = &v->results[i];
        if (r->subject == TG_SUBJECT_TRACE && r->metric == TG_RULE_METRIC_STEP_TIME &&
            tg_sv_eq(r->op_normalised, r->plain) && r->ev && r->state > TG_STATE_SUSPICIOUS)
            return r->ev;
    }
    return &v->comparison->metrics[TG_METRIC_STEP_TIME].ev;
}

bool tg_effect_step(const struct tg_verdict *v, double ns[2])
{
    const struct tg_metric_change *m;
    if (!v->comparison)
        return false;
    m = &v->comparison->metrics[TG_METRIC_STEP_TIME];
    ns[TG_BASE] = m->value[TG_BASE];
    ns[TG_TEST] = m->value[TG_TEST];
    return m->known[TG_BASE] && m->known[TG_TEST] && ns[TG_BASE] > 0 && isfinite(ns[TG_TEST]);
}

/* Of a number of calls the rows that it counts, where they changed. */
static bool is_counted(const struct tg_result *r, const struct tg_op *op)
{
    enum tg_metric m;
    return r->subject == TG_SUBJECT_TRACE && tg_rule_metric_of_trace(r->metric, &m) &&
           tg_metric_info(m)->counts & 1u << op->kind && op->change != TG_SAME;
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

bool tg_effect_is_waived(const struct tg_verdict *v, const struct tg_op *op)
{
    for (size_t i = 0; v->n_state[TG_STATE_WAIVED] && i < v->n_results; i++)
        if (v->results[i].state == TG_STATE_WAIVED && tg_result_is_about(&v->results[i], op))
            return !any_about(v, op);
    return false;
}

/* ns per step that waived rows add: on the device, where it works. */
static double waived_ns(const struct tg_verdict *v)
{
    const struct tg_comparison *c = v->comparison;
    double ns[2] = { 0 };
    bool device = false;
    for (size_t i = 0; i < c->n_ops; i++) {
        bool on_device = tg_kind_is_device(c->ops[i].kind);
        device |= on_device;
        if (tg_effect_is_waived(v, &c->ops[i]) && !c->ops[i].wait)
            ns[on_device] += tg_effect_numbers(v, &c->ops[i]).d_ns;
    }
    return ns[device];
}

/* "of it +240 us waived"; of a change that is not longer than that: only that it holds such changes. */
static void put_waived(struct tg_buf *out, const struct tg_verdict *v, double change)
{
    double ns = v->n_state[TG_STATE_WAIVED] ? waived_ns(v) : 0;
    if (!v->n_state[TG_STATE_WAIVED])
        return;
    if (!(ns > 0) || ns > change) {
        tg_buf_puts(out, ", waived changes included");
        return;
    }
    tg_buf_puts(out, ", of it +");
    tg_put_time(out, ns, ns);
    tg_buf_puts(out, ns >= 1e6 ? " ms" : " us");
    tg_buf_puts(out, " waived");
}

void tg_effect_put(struct tg_buf *out, const struct tg_verdict *v)
{
    const struct tg_evidence *ev;
    double ns[2];
    if (!tg_effect_step(v, ns))
        return;
    ev = step_evidence(v);
    tg_buf_puts(out, "Step time ");
    if (v->comparison->rank_alone)
        put_rank(out, v->comparison);
    put_change(out, ns);
    put_spread(out, v->comparison);
    put_noise(out, v, ev);
    put_judged(out, v, ev, 100 * (ns[TG_TEST] / ns[TG_BASE] - 1));
    put_waived(out, v, ns[TG_TEST] - ns[TG_BASE]);
    tg_buf_putc(out, ')');
}

static bool is_left_wait(const struct tg_op *op)
{
    return op->wait && op->change == TG_SAME && !tg_evidence_compared(tg_op_reported(op)) &&
           op->self[TG_TEST] < op->self[TG_BASE];
}

/* Part of a wait that a finding is about was in this one before. */
static bool is_moved_from(const struct tg_verdict *v, const struct tg_op *op)
{
    double less = op->self[TG_BASE] - op->self[TG_TEST];
    for (size_t i = 0; is_left_wait(op) && i < v->comparison->n_ops; i++) {
        const struct tg_op *to = &v->comparison->ops[i];
        double more = to->self[TG_TEST] - to->self[TG_BASE];
        if (to->wait && to->change != TG_SAME && 2 * less > more && 2 * more > less &&
            any_about(v, to))
            return true;
    }
    return false;
}

/* The host waits as long as the device works: a wait that no result is about mirrors what is. */
static bool is_news(const struct tg_verdict *v, const struct tg_op *op)
{
    if (is_moved_from(v, op))
        return true;
    bool judged = op->change != TG_SAME || tg_evidence_compared(tg_op_reported(op));
    return judged && op->kind != TG_KIND_STEP && op->kind != TG_KIND_SYNC &&
           !tg_op_within_noise(op);
}

/* ---- replacements that are one row ---- */

/* Does it show the time of a whole replacement as that of its name? */
static bool tells_pool(const struct tg_result *r)
{
    return r->dimension == TG_DIM_DURATION && r->ev && r->ev->pooled && tg_result_shown(r);
}

/* The time of a whole replacement, where a shown result gives it as that of `op`; NULL. */
static const struct tg_evidence *pool_of(const struct tg_verdict *v, const struct tg_op *op)
{
    bool pooled = op->region < v->comparison->n_regions && op->ev.pooled;
    for (size_t i = 0; pooled && i < v->n_results; i++) {
        const struct tg_result *r = &v->results[i];
        if (tells_pool(r) && tg_result_is_about(r, op))
            return r->ev;
    }
    return NULL;
}

/* The finding that tells of all that came and went in the region of `op`, with what follows; NULL. */
static const struct tg_result *whole_of(const struct tg_verdict *v, const struct tg_op *op)
{
    for (size_t i = 0; i < v->n_results && op->region < v->comparison->n_regions; i++) {
        const struct tg_result *r = &v->results[i];
        const struct tg_op *of = r->whole_known ? tg_result_op(v->comparison, r) : NULL;
        if (of && of->region == op->region)
            return r;
    }
    return NULL;
}

/* Is its time in the row of a replacement that it follows from? */
static bool is_in_whole(const struct tg_verdict *v, const struct tg_op *op)
{
    for (size_t i = 0; i < v->n_results; i++) {
        const struct tg_result *r = &v->results[i], *head;
        if (r->folded_under >= v->n_results || !tg_result_is_about(r, op))
            continue;
        head = &v->results[r->folded_under];
        if (head->whole_known && head->whole_on_host != tg_kind_is_device(op->kind))
            return true;
    }
    return false;
}

bool tg_effect_is_part(const struct tg_verdict *v, const struct tg_op *op)
{
    const struct tg_comparison *c = v->comparison;
    if (!pool_of(v, op) && is_in_whole(v, op))
        return true;
    if (op->region >= c->n_regions || tg_op_side_of_region(op) < 0 || op->wait ||
        !tg_region_side_of(c, op->region, TG_TEST).pooled || pool_of(v, op))
        return false;
    for (size_t i = 0; i < v->n_results; i++) {
        const struct tg_result *r = &v->results[i];
        const struct tg_op *of = tells_pool(r) ? tg_result_op(c, r) : NULL;
        if (of && of->region == op->region)
            return true;
    }
    return false;
}

struct tg_row_numbers tg_effect_numbers(const struct tg_verdict *v, const struct tg_op *op)
{
    const struct tg_comparison *c = v->comparison;
    const struct tg_evidence *ev = pool_of(v, op);
    struct tg_row_numbers n = tg_row_numbers(c, op, TG_BASIS_JUDGED);
    const struct tg_result *whole = ev ? whole_of(v, op) : NULL;
    if (!ev)
        return n;
    for (int s = 0; s < 2; s++) {
        n.ns[s] = whole ? whole->whole_ns[s] : ev->value[s];
        n.count[s] = tg_region_calls(c, &c->regions[op->region], s);
    }
    n.d_ns = n.ns[TG_TEST] - n.ns[TG_BASE];
    n.d_count = n.count[TG_TEST] - n.count[TG_BASE];
    return n;
}

struct tg_effect_former tg_effect_former(const struct tg_verdict *v, const struct tg_op *op)
{
    struct tg_effect_former f = { .name = tg_row_former(v->comparison, op) };
    const struct tg_op *first;
    if (f.name || !pool_of(v, op))
        return f;
    f.n_before = tg_region_names(v->comparison, op->region, TG_BASE, &first, 1);
    f.n_after = tg_region_names(v->comparison, op->region, TG_TEST, NULL, 0);
    f.name = f.n_before ? first : NULL;
    return f;
}

double tg_effect_share(const struct tg_verdict *v, const struct tg_op *op)
{
    struct tg_row_numbers n = tg_effect_numbers(v, op);
    int s = n.ns[TG_TEST] > 0 ? TG_TEST : TG_BASE;
    return n.ns[s] /
           (op->on_rank_alone ? v->comparison->rank_alone->wall_ns[s] : v->comparison->wall_ns[s]);
}

const char *tg_effect_mark(const struct tg_verdict *v, const struct tg_op *op)
{
    struct tg_row_numbers n = tg_effect_numbers(v, op);
    if (tg_effect_is_waived(v, op))
        return "waived";
    if (is_left_wait(op))
        return "less";
    if (op->on_rank_alone)
        return v->comparison->rank_alone->called;
    return pool_of(v, op) ? "replaced" : tg_row_mark(op, &n);
}

uint32_t *tg_effect_rows(const struct tg_verdict *v, size_t top, size_t others, size_t *n)
{
    const struct tg_comparison *c = v->comparison;
    size_t all = 0;
    const struct tg_rows_choice choice = { .basis = TG_BASIS_JUDGED, .steps = true };
    TG_FREE uint32_t *rows = tg_rows_worst(c, &choice, &all);
    uint32_t *out = tg_xmalloc((all + 1) * sizeof *out);
    *n = 0;
    for (size_t i = 0; i < all && *n < top; i++)
        if (any_about(v, &c->ops[rows[i]]) && !tg_effect_is_part(v, &c->ops[rows[i]]))
            out[(*n)++] = rows[i];
    for (size_t i = 0; i < all && *n < top && others; i++)
        if (is_news(v, &c->ops[rows[i]]) && !any_about(v, &c->ops[rows[i]]) &&
            !tg_effect_is_part(v, &c->ops[rows[i]])) {
            out[(*n)++] = rows[i];
            others--;
        }
    return out;
}
