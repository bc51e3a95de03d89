/*
 * Durations: which values are judged by the rule (rule.c), and what follows for steps, frames
 * and replacements. Formulae: docs/statistics-rules.md; example: README.md.
 *
 * A change is looked for in the least of the steps, which noise touches least. The values come from
 * run_values.c.
 */
#include <math.h>

#include "core/diff/uses.h"

/* A change of times that is large enough. */
static struct tg_aim aim_at(const struct tg_diff_work *w, double tick)
{
    return (struct tg_aim){ .floor = TG_FLOOR * w->c->step_ns[TG_BASE], .tick = tick };
}

/* The machine whose speed its self time follows. */
static const struct tg_machine *machine_of(const struct tg_diff_work *w, const struct tg_op *op)
{
    return &w->machine[tg_kind_is_device(op->kind) ? TG_DEVICE_TIMES
                       : tg_kind_is_gap(op->kind)  ? TG_EITHER_TIMES
                                                   : TG_HOST_TIMES];
}

/* Every fresh run has slow steps, one or most of them, and the baseline has none. */
static void find_slow_steps(const struct tg_diff_work *w, struct tg_op *op,
                            const struct tg_run_values *v)
{
    const struct tg_comparison *c = w->c;
    double worst = 0, before = INFINITY, *slowest[2],
           *usual = TG_NEW_N(w->a, double, c->n_runs[TG_BASE] + 1);
    bool device = tg_kind_is_device(op->kind);
    bool all = op->ev.why_not == TG_JUDGED && !op->ev.slower && v->form != TG_FORM_CALLS &&
               !tg_op_is_collective(op); /* one rank was late once */
    for (int side = 0; all && side < 2; side++) {
        slowest[side] = TG_NEW_N(w->a, double, c->n_runs[side] + 1);
        for (size_t run = 0; run < c->n_runs[side]; run++) {
            struct tg_slow_step s = tg_run_slow_step(w, op, side, run, v->form);
            slowest[side][run] = s.slowest;
            if (side == TG_BASE) {
                worst = fmax(worst, s.slowest);
                usual[run] = s.usual;
                continue;
            }
            bool own = s.slowest >= TG_RARE_STEP * s.usual &&
                       s.slowest - s.usual >= TG_RARE_FLOOR * c->step_ns[TG_BASE];
            bool most = s.slowest >= tg_most_ratio(device) * before &&
                        s.slowest - before >= tg_most_floor(device) * c->step_ns[TG_BASE];
            all = all && (own || most) && s.slowest >= TG_AS_LARGE * worst;
        }
        if (side == TG_BASE)
            before = tg_median(usual, c->n_runs[side]) *
                     exp(machine_of(w, op)->of[TG_FORWARD][TG_ESTIMATE_LEAST].c);
    }
    if (!all)
        return;
    op->ev.some_steps = true;
    for (int side = 0; side < 2; side++)
        op->ev.slowest[side] = tg_median(slowest[side], c->n_runs[side]);
}

/* The step as a whole without preemption: all operators, the gaps between them, and what is between
 * the steps. Host only: on a device, work overlaps and its end to end is a metric of its own. */
static void judge_step(struct tg_diff_work *w, const struct tg_run_values *v)
{
    struct tg_comparison *c = w->c;
    const struct tg_machine *m = &w->machine[TG_EITHER_TIMES];
    struct tg_run_values sum = tg_run_values_new(w);
    for (size_t i = 0; i < c->n_ops; i++) {
        const struct tg_op *op = &c->ops[i];
        if (!tg_kind_nests(op->kind))
            continue;
        bool same =
            v[i].complete && op->change == TG_SAME && tg_kind_is_timed(op->kind) && !op->wait;
        same = same && v[i].form != TG_FORM_CALLS;
        struct tg_run_values each = same ? v[i] : tg_run_values(w, op, TG_ASK_STEPS);
        /* As recorded: without the speeds of the runs' machines. */
        double *const *speed = w->speed[each.device ? TG_DEVICE_TIMES : TG_HOST_TIMES];
        for (enum tg_step_statistic r = 0; r < TG_STEP_STATISTICS; r++)
            for (int side = 0; side < 2; side++)
                for (size_t run = 0; run < c->n_runs[side]; run++)
                    sum.y[r][side][run] +=
                        each.y[r][side][run] * (each.levelled ? speed[side][run] : 1);
    }
    /* What is between the steps. */
    TG_FREE double *after = tg_xmalloc((w->max_steps + 1) * sizeof *after);
    for (size_t at = 0; at < w->n_cells; at++) {
        int side = at >= w->first[TG_TEST];
        size_t n_ranks = c->n_ranks[side], run = (at - w->first[side]) / n_ranks;
        double y[TG_STEP_STATISTICS] = { 0 };
        tg_after_steps(w->shard[at], &w->used[at], after, NULL);
        if (w->used[at].n)
            tg_step_statistics_add(y, after, w->used[at].n);
        for (enum tg_step_statistic r = 0; r < TG_STEP_STATISTICS; r++)
            sum.y[r][side][run] += y[r] / (double)n_ranks;
    }
    c->step.ev_total.why_not = c->step_mean.why_not =
        tg_has_device_ops(c) ? TG_NOT_WAIT : tg_common_reason(w, TG_HOST_TIMES);
    tg_evidence_fill(w, &c->step_mean, &sum, m, aim_at(w, 0), TG_ESTIMATE_MEAN);
    tg_evidence_fill(w, &c->step.ev_total, &sum, m, aim_at(w, 0), TG_ESTIMATE_LEAST);
}

/* Of values whatever the calls did: reasons that hold for every one, and that some run has none. */
static enum tg_judged reason_of(const struct tg_diff_work *w, const struct tg_run_values *v,
                                enum tg_clock clock)
{
    return v->complete ? tg_common_reason(w, clock) : TG_NOT_ONE_SIDED;
}

/*
 * A coarse clock rounds alike in every run, so that the runs' spread says nothing about it: no
 * change of less than a tick a call is proven there. ns; 0 for a fine clock.
 */
static double tick_of(const struct tg_diff_work *w, const struct tg_op *op)
{
    return w->tick > 1 && !tg_kind_is_gap(op->kind) ? (double)w->tick * op->count[TG_BASE] : 0;
}

void tg_evidence_of_times(const struct tg_diff_work *w, struct tg_evidence *ev,
                          struct tg_run_values *v, enum tg_clock clock, enum tg_estimate by)
{
    struct tg_machine m = w->machine ? w->machine[TG_EITHER_TIMES] : (struct tg_machine){ 0 };
    /* Outside the list of operators there is no usual noise of others, only how all of them
     * shifted. */
    for (int d = 0; d < 2; d++)
        for (int estimate = 0; estimate < TG_ESTIMATES; estimate++)
            m.of[d][estimate].has_v0 = false;
    ev->why_not = tg_common_reason(w, TG_HOST_TIMES); /* which may keep a device waiting, too */
    if (ev->why_not == TG_JUDGED)
        ev->why_not = tg_common_reason(w, clock);
    tg_evidence_fill(w, ev, v, &m, aim_at(w, 0), by);
}

/* The rule asks whether logarithms of values of at least 1 rose. */
void tg_evidence_of_numbers(const struct tg_diff_work *w, struct tg_evidence *ev,
                            double *const y[2], int worse)
{
    struct tg_run_values v = { 0 };
    struct tg_machine m = { 0 };
    for (int side = 0; side < 2; side++) {
        double *x = v.y[TG_LEAST][side] = TG_NEW_N(w->a, double, w->c->n_runs[side] + 1);
        for (size_t run = 0; run < w->c->n_runs[side]; run++) {
            x[run] = 100 * fmax(y[side][run], 0.01);
            x[run] = worse < 0 ? 1e12 / x[run] : x[run];
        }
    }
    ev->why_not = tg_common_reason(w, TG_HOST_TIMES);
    tg_evidence_fill(w, ev, &v, &m, (struct tg_aim){ 0 }, TG_ESTIMATE_LEAST);
    for (int side = 0; side < 2; side++)
        ev->value[side] = tg_median_of(w, y[side], side);
    ev->delta_ns = ev->value[TG_TEST] - ev->value[TG_BASE];
}

/*
 * Times of Python frames, by the least of the steps' sums. They are judged whatever their count
 * did, as a whole trace's times are: what a rule asks of a module is what it costs.
 */
static void judge_frames(struct tg_diff_work *w)
{
    TG_EACH(struct tg_op, op, w->c->frames, w->c->n_frames) {
        struct tg_evidence *const ev[] = { &op->ev, &op->ev_total };
        enum tg_clock clock = op->launched ? TG_DEVICE_TIMES : TG_EITHER_TIMES;
        for (int k = 0; k < 2; k++) {
            struct tg_run_values v =
                tg_run_values(w, op, k ? TG_ASK_INCLUSIVE_STEPS : TG_ASK_STEPS);
            ev[k]->why_not = reason_of(w, &v, op->launched ? TG_DEVICE_TIMES : TG_HOST_TIMES);
            v.device = op->launched;
            tg_evidence_fill(w, ev[k], &v, &w->machine[clock], aim_at(w, tick_of(w, op)),
                             TG_ESTIMATE_LEAST);
        }
    }
}

/* Does the whole take longer by at least half of what a part does? */
static bool shows(const struct tg_diff_work *w, const struct tg_evidence *whole,
                  const struct tg_evidence *part)
{
    return whole->delta_ns >= TG_HALF * part->delta_ns &&
           whole->p <= tg_half_p_limit(w->c->n_runs[TG_BASE], w->c->n_runs[TG_TEST]);
}

bool tg_borne_out(struct tg_diff_work *w, const uint32_t *around, size_t n,
                  const struct tg_evidence *ev)
{
    struct tg_op *all = tg_ops_join(w, around, n, NULL);
    struct tg_run_values v = tg_run_values(w, all, TG_ASK_INCLUSIVE_STEPS);
    struct tg_evidence whole = { .why_not = ev->why_not };
    tg_evidence_fill(w, &whole, &v, &w->machine[TG_EITHER_TIMES], aim_at(w, 0), ev->estimate);
    return v.complete && shows(w, &whole, ev);
}

bool tg_borne_out_by_step(const struct tg_diff_work *w, const struct tg_evidence *ev)
{
    const struct tg_evidence *step = &w->c->step.ev_total;
    return step->why_not != TG_JUDGED || shows(w, step, ev);
}

/* Adds an index to a list that has room for it, unless it is there, or TG_NO_ID. */
static void add_once(uint32_t *v, size_t *n, uint32_t x)
{
    size_t k = 0;
    while (k < *n && v[k] != x)
        k++;
    if (k == *n && x != TG_NO_ID)
        v[(*n)++] = x;
}

/* Did other work go than this pair, and than names for which there is another one? */
static bool others_went(const struct tg_comparison *c, const uint32_t pair[2])
{
    TG_EACH(const struct tg_op, op, c->ops, c->n_ops)
        if ((op->change == TG_FEWER || op->change == TG_REMOVED) && op != &c->ops[pair[0]] &&
            op != &c->ops[pair[1]] && tg_kind_is_counted(op->kind) &&
            op->relation != TG_REL_RENAMED)
            return true;
    return false;
}

/*
 * What replaced something has a cost to compare with: a rename, or the names of a region, are
 * measured as one operator. It is reported at the member that came and takes longest.
 */
static void judge_together(struct tg_diff_work *w, const uint32_t *member, size_t n,
                           uint32_t region)
{
    struct tg_comparison *c = w->c;
    struct tg_region *g = region != TG_NO_ID ? &c->regions[region] : NULL;
    struct tg_op *leader = NULL;
    for (size_t i = 0; i < n; i++) {
        struct tg_op *op = &c->ops[member[i]];
        if (tg_op_rose(op) && (!leader || op->self[TG_TEST] > leader->self[TG_TEST]))
            leader = op;
    }
    if (!leader || n < 2)
        return;
    const struct tg_op *all = tg_ops_join(w, member, n, NULL);
    bool on_device = tg_kind_is_device(leader->kind);
    struct tg_run_values v = tg_run_values(w, all, TG_ASK_BEST);
    if (v.form == TG_FORM_CALLS) /* more calls, each shorter, are not faster */
        v = tg_run_values(w, all, TG_ASK_STEPS);
    struct tg_evidence ev = { .why_not =
                                  reason_of(w, &v, on_device ? TG_DEVICE_TIMES : TG_HOST_TIMES) };
    tg_evidence_fill(w, &ev, &v, machine_of(w, leader), aim_at(w, tick_of(w, all)),
                     TG_ESTIMATE_LEAST);
    if (g)
        g->ev = ev;
    /* Among several names, and inside annotations, cost moves: those around have to confirm a
     * slowdown. One name for another, as often, is one name, if nothing else went. */
    bool pair = n == 2 && all->count[TG_BASE] == all->count[TG_TEST];
    bool moves = !pair || others_went(c, member);
    uint32_t *around = TG_NEW_N(w->a, uint32_t, c->n_ops + 1);
    size_t n_around = 0;
    for (size_t i = 0; moves && g && g->encloser.n && g->kind == TG_KIND_OP && i < n; i++) {
        struct tg_uses u = tg_uses_of(w, TG_IN_ANNOTATION, member[i]);
        TG_EACH(const struct tg_use, use, u.v, u.n)
            add_once(around, &n_around, use->by);
    }
    if (n_around && !(ev.slower && tg_borne_out(w, around, n_around, &ev)))
        return;
    if (moves && !n_around && !on_device && ev.slower && !tg_borne_out_by_step(w, &ev))
        return;
    if (ev.why_not != TG_JUDGED && !ev.suspicious)
        return;
    ev.pooled = leader->relation == TG_REL_RENAMED ? 0 : n;
    leader->ev = leader->ev_total = ev;
    leader->joined = all;
    /* What measurably got faster is not a regression, however many calls it takes. A host's time
     * tells no cost where a device does the work, nor do names alone where the step got slower. */
    if (!ev.faster || leader->region == TG_NO_ID || c->step.ev_total.slower ||
        (!on_device && tg_has_device_ops(c)))
        return;
    c->regions[leader->region].worse_count = false;
    for (size_t i = 0; i < c->n_ops; i++)
        if (c->ops[i].region == leader->region && c->ops[i].relation == TG_REL_REPLACED_WORSE)
            c->ops[i].relation = TG_REL_REPLACED;
}

void tg_evidence_of_ops(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;
    struct tg_run_values *v = TG_NEW_N(w->a, struct tg_run_values, c->n_ops + 1);
    bool *judged = TG_NEW_N(w->a, bool, c->n_ops + 1);
    struct tg_machine *m = TG_NEW_N(w->a, struct tg_machine, TG_CLOCKS);
    enum tg_judged host, device;
    w->room = tg_value_room_new(w);
    for (size_t i = 0; i < c->n_ops; i++) {
        v[i] = tg_run_values(w, &c->ops[i], TG_ASK_BEST);
        judged[i] = tg_own_reason(&c->ops[i], &v[i]) == TG_JUDGED && !c->ops[i].wait &&
                    v[i].form != TG_FORM_SCHEDULE && !c->ops[i].chooses && !c->ops[i].n_attrs;
    }
    tg_machine_find(w, v, judged, m);
    w->machine = m;
    host = tg_common_reason(w, TG_HOST_TIMES);
    device = tg_common_reason(w, TG_DEVICE_TIMES);
    for (size_t i = 0; i < c->n_ops; i++) {
        struct tg_op *op = &c->ops[i];
        enum tg_judged all = tg_kind_is_device(op->kind) ? device : host;
        enum tg_judged own = tg_own_reason(op, &v[i]);
        if (own == TG_JUDGED && (op->relation != TG_REL_NONE || op->choice || op->chooses))
            own = TG_NOT_REPLACED;
        op->ev.why_not = own != TG_JUDGED ? own : all;
        struct tg_aim aim = aim_at(w, tick_of(w, op)), own_aim = aim;
        own_aim.device = tg_kind_is_device(op->kind) && !tg_op_is_collective(op);
        tg_evidence_fill(w, &op->ev, &v[i], machine_of(w, op), own_aim, TG_ESTIMATE_LEAST);
        /* How much of it is slower in calls that other streams overlap as before? */
        struct tg_run_values alike;
        if (own_aim.device && op->ev.e >= log1p(TG_TAU_DEVICE) &&
            tg_run_values_alike(w, op, &alike)) {
            struct tg_evidence *ev = TG_NEW(w->a, struct tg_evidence);
            ev->why_not = op->ev.why_not;
            if (alike.complete)
                tg_evidence_fill(w, ev, &alike, machine_of(w, op), own_aim, TG_ESTIMATE_LEAST);
            op->alike = ev;
        }
        find_slow_steps(w, op, &v[i]);
        /* Two single runs say nothing of the bus,
         * and of collectives if these take twice as long. */
        op->ev.suspicious &= !op->wait || (tg_op_is_collective(op) && op->ev.e > log(TG_TWICE));
        c->n_withheld += op->ev.withheld;
        op->ev_total = op->ev;
        if (tg_kind_is_device(op->kind) || !tg_kind_nests(op->kind))
            continue;
        struct tg_run_values whole = tg_run_values(w, op, TG_ASK_INCLUSIVE);
        op->ev_total = (struct tg_evidence){ .why_not = op->ev.why_not };
        tg_evidence_fill(w, &op->ev_total, &whole, &m[TG_EITHER_TIMES], aim, TG_ESTIMATE_LEAST);
    }
    judge_step(w, v);
    judge_frames(w);
}

void tg_evidence_of_places(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;
    /* The step's own operator, for its gaps. With several (raw names), the first. */
    const struct tg_evidence whole = c->step.ev_total;
    c->step.ev.why_not = TG_NOT_NO_STEPS;
    for (size_t i = c->n_ops; i-- > 0;)
        if (c->ops[i].kind == TG_KIND_STEP)
            c->step = c->ops[i];
    c->step.name = c->step.raw[0] = c->step.raw[1] = TG_SV("ProfilerStep");
    c->step.kind = TG_KIND_STEP;
    c->step.partner = c->step.region = c->step.leader = TG_NO_ID;
    c->step.share[0] = c->step.share[1] = 1;
    c->step.ev_total = whole;
    for (uint32_t i = 0; i < c->n_ops; i++)
        if (c->ops[i].relation == TG_REL_RENAMED && c->ops[i].change == TG_ADDED)
            judge_together(w, (uint32_t[]){ c->ops[i].partner, i }, 2, TG_NO_ID);
    uint32_t *member = TG_NEW_N(w->a, uint32_t, c->n_ops + 1);
    for (uint32_t id = 0; id < c->n_regions; id++) {
        const struct tg_region *g = &c->regions[id];
        size_t n = 0;
        for (size_t i = 0; i < g->n_ops; i++)
            if (!c->ops[g->op[i]].wait || g->kind == TG_KIND_MEMCPY)
                member[n++] = g->op[i];
        judge_together(w, member, n, id);
    }
    /* A library's choice, whatever kernels it runs, is judged by its device time. */
    TG_EACH(struct tg_algorithm, x, c->choices, c->n_choices) {
        struct tg_run_values v = tg_run_values(w, x->work, TG_ASK_STEPS);
        struct tg_aim aim = aim_at(w, 0);
        aim.device = true;
        x->ev.why_not = reason_of(w, &v, TG_DEVICE_TIMES);
        v.device = true;
        tg_evidence_fill(w, &x->ev, &v, &w->machine[TG_DEVICE_TIMES], aim, TG_ESTIMATE_LEAST);
    }
}

bool tg_op_evidence_of_mean(const struct tg_op *op, enum tg_op_part part, struct tg_evidence *ev)
{
    const struct tg_diff_work *w = op->rows ? op->rows->work : NULL;
    bool total = part == TG_OP_TOTAL && !tg_kind_is_device(op->kind);
    struct tg_run_values v;
    if (!w || !w->machine || op->ev.why_not != TG_JUDGED || op->relation != TG_REL_NONE)
        return false;
    if (tg_kind_is_frame(op->kind))
        v = tg_run_values(w, op, total ? TG_ASK_INCLUSIVE_STEPS : TG_ASK_STEPS);
    else
        v = tg_run_values(w, op, total ? TG_ASK_INCLUSIVE : TG_ASK_BEST);
    struct tg_aim aim = aim_at(w, tick_of(w, op));
    aim.some_steps = op->ev.some_steps;
    *ev = (struct tg_evidence){ .why_not = v.complete ? TG_JUDGED : TG_NOT_ONE_SIDED };
    tg_evidence_fill(w, ev, &v,
                     part == TG_OP_TOTAL ? &w->machine[TG_EITHER_TIMES] : machine_of(w, op), aim,
                     TG_ESTIMATE_MEAN);
    return ev->why_not == TG_JUDGED;
}

/* `v` takes `factor` times as long in the fresh runs from here on. */
static bool is_slower_by(const struct tg_diff_work *w, struct tg_run_values *v,
                         const struct tg_machine *m, struct tg_aim aim, double factor)
{
    struct tg_evidence ev = { .why_not = TG_JUDGED };
    for (enum tg_step_statistic s = 0; s < TG_STEP_STATISTICS; s++)
        for (size_t run = 0; run < w->c->n_runs[TG_TEST]; run++)
            v->y[s][TG_TEST][run] *= factor;
    tg_evidence_fill(w, &ev, v, m, aim, TG_ESTIMATE_LEAST);
    return ev.slower;
}

double tg_op_slower_from(const struct tg_op *op, double most)
{
    const struct tg_diff_work *w = op->rows ? op->rows->work : NULL;
    double low = 1, high = most, now = 1;
    if (!w || !w->machine || op->ev.why_not != TG_JUDGED || op->relation != TG_REL_NONE)
        return most;
    struct tg_run_values v = tg_run_values(w, op, TG_ASK_BEST);
    struct tg_aim aim = aim_at(w, tick_of(w, op));
    if (is_slower_by(w, &v, machine_of(w, op), aim, 1))
        return 1;
    while (high > 1.005 * low) {
        double middle = sqrt(low * high);
        bool slower = is_slower_by(w, &v, machine_of(w, op), aim, middle / now);
        now = middle;
        *(slower ? &high : &low) = middle;
    }
    return high;
}

/* ---- quantiles over the single values of an operator, and evidence for them ---- */

/* Quantile over all single values in the cells [from, to). NaN: none, or slots dropped. */
static double cells_quantile(const struct tg_diff_work *w, const struct tg_op *op, size_t from,
                             size_t to, double q)
{
    size_t n = 0, cap = 0;
    TG_FREE double *v = NULL;
    bool dropped = false;
    for (size_t at = from; at < to; at++)
        for (size_t r = 0; r < op->rows->cell[at].n; r++) {
            const struct tg_row *row = op->rows->cell[at].row[r];
            size_t offset = 0, u = 0;
            for (size_t j = 0; j < w->shard[at]->n_steps; j++) {
                bool used = u < w->used[at].n && w->used[at].step[u] == j;
                dropped |= used && row->count[j] && !row->slots;
                v = tg_grow(v, &cap, n + row->count[j] + 1, sizeof *v);
                for (size_t k = 0; used && !dropped && k < row->count[j]; k++)
                    v[n++] = (double)row->slots[offset + k];
                u += used;
                offset += row->count[j];
            }
        }
    return dropped ? NAN : tg_quantile(v, n, q);
}

double tg_op_quantile(const struct tg_op *op, int side, double q)
{
    const struct tg_diff_work *w = op->rows ? op->rows->work : NULL;
    return w ? cells_quantile(w, op, w->first[side], w->first[side + 1], q) : NAN;
}

bool tg_op_quantile_evidence(const struct tg_op *op, double q, struct tg_evidence *ev)
{
    /* With what it replaced, if that was called as often: else a call is another part of the
     * work. */
    const struct tg_op *all = op->joined;
    op = all && all->count[TG_BASE] == all->count[TG_TEST] ? all : op;
    const struct tg_diff_work *w = op->rows ? op->rows->work : NULL;
    struct tg_run_values v = { 0 };

    if (!w)
        return false;
    for (int side = 0; side < 2; side++) {
        double *y = v.y[TG_LEAST][side] = TG_NEW_N(w->a, double, w->c->n_runs[side]);
        for (size_t run = 0; run < w->c->n_runs[side]; run++) {
            size_t at = tg_diff_cell_index(w, side, run, 0);
            y[run] = cells_quantile(w, op, at, at + w->c->n_ranks[side], q);
            if (isnan(y[run]))
                return false;
        }
    }
    tg_evidence_of_times(w, ev, &v, TG_HOST_TIMES, TG_ESTIMATE_LEAST);
    ev->why_not = op->ev.why_not;
    return true;
}
