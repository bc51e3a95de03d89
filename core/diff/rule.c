/*
 * The rule of durations for one operator: size, error, an exact rank test and what supports them,
 * in both directions. Formulae: docs/statistics-rules.md; example: README.md.
 */
#include <math.h>

#include "core/diff/internal.h"

/* ---- run values as logarithms, less the speeds of the runs' machines where that helps ---- */

struct tg_logs tg_logs_of_values(const struct tg_diff_work *w, double *const y[2],
                                 enum tg_role_order order)
{
    struct tg_logs l;
    const size_t n[2] = { w->c->n_runs[order], w->c->n_runs[!order] };
    double *x = TG_NEW_N(w->a, double, 2 * (n[0] + n[1]));
    for (int i = 0; i < 2; i++, x += 2 * n[i - 1]) {
        l.x[i] = x;
        for (size_t run = 0; run < n[i]; run++)
            x[n[i] + run] = x[run] = log(fmax(y[order == TG_SWAPPED ? !i : i][run], 1));
        l.ascending[i] = x + n[i];
        l.median[i] = tg_median(l.ascending[i], n[i]); /* and sorts */
    }
    l.variance =
        tg_harmful_variance(l.x[0], n[0], l.x[1], n[1], l.median[TG_BASE], l.median[TG_TEST]);
    return l;
}

enum way { OFF, BACK };

static void divide(const struct tg_diff_work *w, const struct tg_run_values *v,
                   enum tg_step_statistic statistic, enum way way)
{
    double *const *speed = w->speed[v->device ? TG_DEVICE_TIMES : TG_HOST_TIMES];
    double *const *y = v->y[statistic];
    for (int side = 0; side < 2 && y[side]; side++)
        for (size_t run = 0; run < w->c->n_runs[side]; run++)
            y[side][run] *= way == BACK ? speed[side][run] : 1 / speed[side][run];
}

static double variance_of(const struct tg_diff_work *w, double *const y[2])
{
    struct tg_logs l = tg_logs_of_values(w, y, TG_FORWARD);
    double sum = 0;
    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < w->c->n_runs[side]; run++)
            sum += (l.x[side][run] - l.median[side]) * (l.x[side][run] - l.median[side]);
    return sum;
}

void tg_logs_level(const struct tg_diff_work *w, struct tg_run_values *v)
{
    if (v->levelled || !w->speed[TG_HOST_TIMES][TG_BASE])
        return;
    double before = variance_of(w, v->y[TG_LEAST]);
    divide(w, v, TG_LEAST, OFF);
    v->levelled = variance_of(w, v->y[TG_LEAST]) < TG_LEVELLED * before;
    if (!v->levelled)
        divide(w, v, TG_LEAST, BACK);
    for (enum tg_step_statistic r = TG_LEAST + 1; v->levelled && r < TG_STEP_STATISTICS; r++)
        divide(w, v, r, OFF);
}

/* ---- which durations are judged, and why others are not ---- */

const char *tg_judged_text(enum tg_judged j)
{
    static const char *const text[] = {
        [TG_JUDGED] = NULL,
        [TG_NOT_FEW_RUNS] = "too few runs a side",
        [TG_NOT_WAIT] = "its time is a wait for others",
        [TG_NOT_POLLING] = "a polling call: its number is random",
        [TG_NOT_COUNT_CHANGED] = "its count changed",
        [TG_NOT_COUNT_VARIES] = "its count varies, and its calls do not align",
        [TG_NOT_ONE_SIDED] = "not in every run of both sides",
        [TG_NOT_NO_STEPS] = "no step markers",
        [TG_NOT_OTHER_DEVICE] = "recorded on different devices",
        [TG_NOT_OTHER_FLAGS] = "recorded with different profiler flags",
        [TG_NOT_REPLACED] = "part of a replacement, judged as a whole",
        [TG_NOT_INTEGRITY] = "the trace is damaged",
        [TG_NOT_BUSY] = "the machine was busy during the fresh runs",
        [TG_NOT_WARM] = "the device's speed changes within the runs",
        [TG_NOT_OTHER_DATA] = "the fresh runs had other data: most counts that vary moved",
    };
    return text[j];
}

const char *tg_estimate_name(enum tg_estimate e)
{
    return e == TG_ESTIMATE_MEAN ? "mean" : "least";
}

/* What else happened in the fresh runs, so that their times say nothing. */
static enum tg_judged disturbance(const struct tg_diff_work *w, enum tg_clock clock)
{
    return w->c->other_data                                 ? TG_NOT_OTHER_DATA
           : w->busy[clock]                                 ? TG_NOT_BUSY
           : clock == TG_DEVICE_TIMES && w->c->warming != 0 ? TG_NOT_WARM
                                                            : TG_JUDGED;
}

enum tg_judged tg_common_reason(const struct tg_diff_work *w, enum tg_clock clock)
{
    const struct tg_comparison *c = w->c;
    size_t need = w->o->min_runs ? w->o->min_runs : TG_FEWEST_RUNS;
    if (!c->marked[TG_BASE] || !c->marked[TG_TEST] || tg_fewest_steps(w) == 0)
        return TG_NOT_NO_STEPS;
    for (size_t at = 0; at < w->n_cells; at++)
        if (w->shard[at]->truncated ||
            (clock == TG_DEVICE_TIMES && w->shard[at]->integrity.negative_durations))
            return TG_NOT_INTEGRITY;
    return !tg_same_device(c)                                       ? TG_NOT_OTHER_DEVICE
           : !c->same_flags                                         ? TG_NOT_OTHER_FLAGS
           : c->n_runs[TG_BASE] < need || c->n_runs[TG_TEST] < need ? TG_NOT_FEW_RUNS
                                                                    : disturbance(w, clock);
}

bool tg_kind_is_timed(enum tg_kind k)
{
    return k == TG_KIND_OP || k == TG_KIND_RUNTIME || k == TG_KIND_GRAPH || k == TG_KIND_KERNEL ||
           k == TG_KIND_MEMCPY || k == TG_KIND_MEMSET || k == TG_KIND_STEP;
}

enum tg_judged tg_own_reason(const struct tg_op *op, const struct tg_run_values *v)
{
    if (!v->complete)
        return TG_NOT_ONE_SIDED;
    if (op->change != TG_SAME)
        return TG_NOT_COUNT_CHANGED;
    if (op->polling)
        return TG_NOT_POLLING;
    /* The step with the fewest calls of one run against that of another says nothing. */
    if (v->form == TG_FORM_CALLS ||
        (v->form != TG_FORM_SLOTS && v->form != TG_FORM_SCHEDULE &&
         op->counted.shape != TG_COUNT_CONSTANT && op->counted.shape != TG_COUNT_FIRST_STEP))
        return TG_NOT_COUNT_VARIES;
    /* Others wait for copies; a collective's time is that of the rank which waits least. */
    bool own = op->kind == TG_KIND_MEMCPY || op->kind == TG_KIND_MEMSET || tg_op_is_collective(op);
    if ((op->wait && !own) || (!tg_kind_is_timed(op->kind) && op->kind != TG_KIND_ANNOTATION))
        return TG_NOT_WAIT;
    return TG_JUDGED;
}

/* ---- the rule ---- */

/* One comparison in one direction: what is compared, and what a change has to be. */
struct question {
    const struct tg_run_values *v;
    const struct tg_background *m; /* by estimate */
    enum tg_role_order order;
    struct tg_aim aim;
};

/* Does the statistic show at least half of the slowdown by itself? */
static bool supports(const struct tg_diff_work *w, const struct question *q,
                     enum tg_step_statistic statistic, double c, double e)
{
    struct tg_logs l = tg_logs_of_values(w, q->v->y[statistic], q->order);
    size_t nb = w->c->n_runs[q->order], nt = w->c->n_runs[!q->order];
    return l.median[TG_TEST] - l.median[TG_BASE] - c >= TG_HALF * e &&
           tg_rank_table_p(&w->rank[q->order], l.ascending[TG_BASE], l.ascending[TG_TEST], c) <=
               tg_half_p_limit(nb, nt);
}

/* Nothing has the logarithm of 1 ns. */
static double time_of(double log_ns)
{
    return log_ns > 0 ? exp(log_ns) : 0;
}

/* Size, error and rank of test above base by one estimate; not what is asked the other way too
 * (`faster`, `less`), of runs (`some_runs`), or of the machine (`why_not`, `withheld`). */
static void apply_rule(const struct tg_diff_work *w, struct tg_evidence *ev,
                       const struct question *q, enum tg_estimate estimate)
{
    const struct tg_background *m = &q->m[estimate];
    size_t nb = w->c->n_runs[q->order], nt = w->c->n_runs[!q->order];
    struct tg_logs l = tg_logs_of_values(w, q->v->y[tg_step_statistic_of(estimate)], q->order);
    struct tg_threshold t = tg_threshold_of(nb, nt);
    double v0 = m->has_v0 ? m->v0 : l.variance, most = tg_most(l.x[TG_BASE], nb);
    double *fresh = TG_NEW_N(w->a, double, nt + 1);
    double *const *halves[] = { q->v->y[TG_LEAST_FIRST], q->v->y[TG_LEAST_LAST] }, least = 0;
    /* Where work overlaps on a device a name varies from step to step, and a few runs may be alike
     * by chance; one or two cannot tell: it varies at least as the halves of each run do. */
    bool halved = q->aim.device || nb < TG_FEWEST_RUNS || nt < TG_FEWEST_RUNS;
    for (int side = 0; halved && halves[0][0] && side < 2; side++)
        for (size_t run = 0; run < w->c->n_runs[side]; run++) {
            double e = log(fmax(halves[0][side][run], 1) / fmax(halves[1][side][run], 1));
            least += e * e / (2 * (double)(nb + nt));
        }
    *ev = (struct tg_evidence){
        .estimate = estimate,
        .value = { time_of(l.median[TG_BASE]), time_of(l.median[TG_TEST]) },
        .e = l.median[TG_TEST] - l.median[TG_BASE] - m->c,
        .delta_ns = time_of(l.median[TG_TEST] - m->c) - time_of(l.median[TG_BASE]),
        .se = fmax(tg_moderated_se(fmax(l.variance, least), fmax(v0, least), nb, nt),
                   log1p(q->aim.tick / exp(l.median[TG_BASE])) / t.z),
        .z = t.z,
        .tau = t.tau,
        .steady_tau = q->aim.device ? TG_TAU_DEVICE : 0,
        .p = tg_rank_table_p(&w->rank[q->order], l.ascending[TG_BASE], l.ascending[TG_TEST], m->c),
        .p_limit = t.p_limit,
        .x = { l.x[TG_BASE], fresh }, /* what asking again asks of */
        .n_x = { nb, nt },
    };
    /* A mean has what disturbs single steps: more than twice of what others moved by. */
    double need = t.z * ev->se + (estimate == TG_ESTIMATE_MEAN ? TG_TWICE * m->others : 0);
    ev->noise = ev->se / sqrt(1 / (double)nb + 1 / (double)nt);
    ev->mde = expm1(fmax(log1p(t.tau), need));
    for (size_t i = 0; i < nt; i++) {
        fresh[i] = l.x[TG_TEST][i] - m->c;
        ev->above += fresh[i] > most;
    }
    ev->suspicious = ev->e > fmax(log(TG_SUSPECT), need) && ev->above == nt &&
                     ev->delta_ns > TG_NOTABLE * w->c->step_ns[TG_BASE];
    ev->proven = ev->e > 0 && ev->e > need && ev->p <= t.p_limit;
    /*
     * Of the least: each half of the steps has to show at least half of the slowdown. Operators
     * with two speeds change between them within a run, too: three runs that never were fast
     * differ from three that were fast for a while, but only in some of their steps. Of the mean:
     * more than the slowest fifth, or some steps of every run; one that was preempted moves a mean,
     * too.
     */
    bool borne_out = true, claimed = ev->proven || ev->suspicious;
    if (claimed && estimate == TG_ESTIMATE_MEAN)
        borne_out = q->aim.some_steps || supports(w, q, TG_SLOW, m->c, ev->e);
    else if (claimed && halves[0][0])
        borne_out = supports(w, q, TG_LEAST_FIRST, m->c, ev->e) &&
                    supports(w, q, TG_LEAST_LAST, m->c, ev->e);
    ev->proven = ev->proven && borne_out;
    ev->suspicious = ev->suspicious && borne_out;
    ev->slower = ev->proven && ev->e > log1p(t.tau) && ev->delta_ns > q->aim.floor;
}

void tg_evidence_fill(const struct tg_diff_work *w, struct tg_evidence *ev, struct tg_run_values *v,
                      const struct tg_machine *m, struct tg_aim aim, enum tg_estimate estimate)
{
    static const enum tg_step_statistic whole[] = { TG_MEAN, TG_SLOW };
    enum tg_judged judged = ev->why_not;
    struct question q = { v, m->of[TG_FORWARD], TG_FORWARD, aim };
    struct question swapped = { v, m->of[TG_SWAPPED], TG_SWAPPED, aim };
    tg_logs_level(w, v);
    apply_rule(w, ev, &q, estimate);
    bool slower = ev->slower, least = estimate == TG_ESTIMATE_LEAST;
    /* A disturbance explains no more than its own size, twice for what it did not strike alike. */
    if (judged == TG_NOT_BUSY && slower &&
        ev->delta_ns > TG_TWICE * w->c->excess * w->c->wall_ns[TG_BASE])
        judged = TG_JUDGED;
    ev->why_not = judged;
    ev->slower = slower && judged == TG_JUDGED;
    /* Calls that vary may be of other sizes each time:
     * only much slower ones are worth a warning. */
    bool varies = least && judged == TG_NOT_COUNT_VARIES && v->form == TG_FORM_CALLS &&
                  ev->e > log(TG_RARE_STEP) &&
                  ev->delta_ns > TG_RARE_FLOOR * w->c->step_ns[TG_BASE];
    /* Did only the least of the steps rise? Slow steps but for the slowest fifth, which may be cold
     * starts. */
    bool fastest = least && ev->e > 0 && (ev->proven || ev->suspicious);
    for (size_t i = 0; fastest && i < sizeof whole / sizeof *whole; i++) {
        fastest = v->y[whole[i]][TG_BASE] != NULL;
        if (!fastest)
            break;
        struct tg_logs l = tg_logs_of_values(w, v->y[whole[i]], q.order);
        fastest = l.median[TG_TEST] <= l.median[TG_BASE];
    }
    ev->fastest_alone = fastest;
    bool few = judged == TG_NOT_FEW_RUNS &&
               disturbance(w, v->device ? TG_DEVICE_TIMES : TG_HOST_TIMES) == TG_JUDGED;
    ev->suspicious = ev->suspicious && (few || varies);
    if (!least)
        return;
    /* What would be judged, but for what else happened in the fresh runs. */
    ev->withheld =
        slower && (judged == TG_NOT_BUSY || judged == TG_NOT_WARM || judged == TG_NOT_OTHER_DATA);
    if (judged != TG_JUDGED || slower) /* what is not judged got no faster, either */
        return;
    struct tg_evidence back;
    apply_rule(w, &back, &swapped, estimate);
    ev->faster = back.slower;
    ev->less = back.proven;
    /* Most fresh runs are much slower than any of the baseline, and some are not: a warning. */
    double most = tg_most(ev->x[TG_BASE], ev->n_x[TG_BASE]);
    unsigned n = 0;
    for (size_t run = 0; aim.floor > 0 && run < ev->n_x[TG_TEST]; run++) {
        double x = ev->x[TG_TEST][run];
        n += x >= most + log(tg_most_ratio(aim.device)) &&
             exp(x) - exp(most) >= tg_most_floor(aim.device) * w->c->step_ns[TG_BASE];
    }
    if (2 * (size_t)n <= ev->n_x[TG_TEST])
        return;
    ev->some_runs = n;
    ev->slowest[TG_BASE] = time_of(most);
    ev->slowest[TG_TEST] = ev->delta_ns + ev->value[TG_BASE];
}
