/*
 * What a place costs, when times are judged. Inside it time moves between names, with calls or
 * where others replace them: it must itself be slower. And what came does not fail if its place
 * provably takes less time than before: the work was exchanged for less. A head that is computed
 * for one token alone needs an index.
 */
#include <math.h>

#include "core/diff/uses.h"

/* ---- moved ---- */

/*
 * ns per step by which an operator may take longer at no cost. What calls cost their caller,
 * dispatch and Python around them, moves with them: if no more came, as much as a caller without
 * work of its own may take. And what is no longer recorded is its caller's own time. A wait does
 * not move.
 */
static double moved_with_calls(const struct tg_diff_work *w, uint32_t op)
{
    double gone = 0, other = 0;
    for (const struct tg_use *of = w->uses->inside[op]; of; of = of->next_inside) {
        const struct tg_op *called = &w->c->ops[of->op];
        int side = called->count[TG_BASE] > 0 ? TG_BASE : TG_TEST;
        double rise = tg_use_rise(of);
        if (!tg_kind_nests(called->kind) || rise == 0)
            continue;
        if (rise > 0 && called->kind == TG_KIND_OP && called->change == TG_SAME)
            other = TG_BIG * w->c->step_ns[TG_BASE];
        if (called->change != TG_SAME && !called->wait && called->count[side] > 0)
            gone -= rise * called->total[side] / called->count[side];
    }
    return fmax(gone, other);
}

/* ns per step of work that went, if none came that fails: then caches and memory are others, in
 * whichever place. */
static double only_went(const struct tg_comparison *c)
{
    double went = 0;
    TG_EACH(const struct tg_op, op, c->ops, c->n_ops) {
        if (op->kind != TG_KIND_OP || op->change == TG_SAME)
            continue;
        if (tg_op_rose(op) && tg_op_exception(op) == TG_EXCEPTION_NONE)
            return 0;
        went += tg_op_rose(op) || op->view ? 0 : op->self[TG_BASE] - op->self[TG_TEST];
    }
    return went;
}

void tg_excuse_moves(struct tg_diff_work *w)
{
    const double went = only_went(w->c);
    for (uint32_t i = 0; i < w->c->n_ops; i++) {
        struct tg_op *op = &w->c->ops[i];
        if (!op->ev.slower && !op->ev.suspicious)
            continue;
        if (!w->uses)
            tg_uses_index(w);
        if (tg_kind_is_device(op->kind) || op->change != TG_SAME)
            continue;
        const struct tg_use *most = tg_uses_most(w, op);
        /* A small part does not show in a step: there, as much has to have gone. */
        bool step = most && most->by == TG_NO_ID;
        bool excused = went > 0 && most && op->kind == TG_KIND_OP &&
                       !(step ? went < op->ev.delta_ns || tg_borne_out_by_step(w, &op->ev)
                              : tg_borne_out(w, &most->by, 1, &op->ev));
        /* Names that begin and end together are taken for each other by whole microseconds: their
         * inclusive times are not. */
        excused |= w->one_coarse && op->ev_total.delta_ns < TG_HALF * op->ev.delta_ns;
        if (!excused && op->ev.delta_ns > moved_with_calls(w, i))
            continue;
        op->ev.why_not = op->ev_total.why_not = TG_NOT_REPLACED;
        op->ev.slower = op->ev.proven = op->ev.suspicious = false;
        op->ev_total.slower = op->ev_total.proven = op->ev_total.suspicious = false;
        op->relation = TG_REL_MOVED;
    }
}

/* ---- repaid ---- */

/* Work of the device, or the host's own time, gaps of Python included. */
static bool is_of_clock(const struct tg_op *op, bool device)
{
    return device ? tg_kind_is_device(op->kind) : tg_kind_nests(op->kind);
}

/*
 * With too few runs to prove a time: an unchanged name stands out if it moved by as much as would
 * make it suspicious, and five times as far as nearly all of those that did not. INFINITY:
 * nothing says how far.
 */
static double distance_of_still(const struct tg_comparison *c, bool device)
{
    TG_FREE double *still = tg_xmalloc((c->n_ops + 1) * sizeof *still);
    size_t n = 0;
    TG_EACH(const struct tg_op, op, c->ops, c->n_ops)
        if (is_of_clock(op, device) && op->ev.why_not == TG_NOT_FEW_RUNS &&
            fabs(op->ev.e) <= log(TG_SUSPECT) &&
            op->ev.value[TG_BASE] >= TG_BIG * c->step_ns[TG_BASE])
            still[n++] = fabs(op->ev.e);
    return n < TG_MIN_BIG ? INFINITY
                          : fmax(log(TG_SUSPECT), TG_APART * tg_quantile(still, n, TG_NEARLY_ALL));
}

/*
 * What one clock of the step lost beyond all doubt of few runs, ns: what went and what stands out,
 * less what came, and less by how much the others moved, in whichever direction.
 * `doubt` false: without the last.
 */
static double lost_by_few(const struct tg_comparison *c, bool device, bool doubt)
{
    double apart = distance_of_still(c, device), lost = 0;
    TG_EACH(const struct tg_op, op, c->ops, c->n_ops) {
        if (!is_of_clock(op, device))
            continue;
        bool known = op->change != TG_SAME || op->ev.e < -apart || op->ev.e > apart;
        lost -= known ? op->ev.delta_ns : doubt ? fabs(op->ev.delta_ns) : 0;
    }
    return lost;
}

/*
 * ns per step that annotations lost: places of their own, which pay for nothing outside them. On
 * the host by their time, of those that are in no other and on both sides; on a device, where they
 * have none, by the names of which any work is launched in them.
 */
static double saved_elsewhere(const struct tg_diff_work *w, bool device)
{
    double saved = 0;
    for (uint32_t i = 0; i < w->c->n_ops; i++) {
        const struct tg_op *op = &w->c->ops[i];
        double outside = 0, all = 0; /* calls outside annotations, and all */
        double inside = 0;           /* ns that calls inside them lost; INFINITY: no trees tell */
        struct tg_uses u = tg_uses_of(w, TG_IN_ANNOTATION, i);
        TG_EACH(const struct tg_use, use, u.v, u.n) {
            bool known = use->ns[TG_BASE] && use->ns[TG_TEST];
            inside += !known ? INFINITY
                      : use->by != TG_NO_ID
                          ? tg_use_ns(w, use, TG_BASE) - tg_use_ns(w, use, TG_TEST)
                          : 0;
            double calls = use->per_step[TG_BASE] + use->per_step[TG_TEST];
            outside += use->by == TG_NO_ID ? calls : 0;
            all += calls;
        }
        double part = all > 0 ? outside / all : 1;
        if (device && tg_kind_is_device(op->kind))
            saved += inside < INFINITY ? inside
                     : part < 1        ? op->self[TG_BASE] - op->self[TG_TEST]
                                       : 0;
        else if (!device && tg_op_is_place(op))
            saved += part * (op->total[TG_BASE] - op->total[TG_TEST]);
    }
    return fmax(saved, 0);
}

/*
 * The clock of an annotation: what its names take inside it, ns per step and rank in each run.
 * `lost`: what it lost beyond all doubt of few runs, as lost_by_few says of the step, on the host
 * with the time between the calls; `doubt` false: without by how much the others moved.
 */
struct clock {
    double *y[2], lost;
};

static struct clock clock_of(const struct tg_diff_work *w, uint32_t by, bool device, bool doubt)
{
    const struct tg_comparison *c = w->c;
    const struct tg_uses uses = w->uses->all[TG_IN_ANNOTATION];
    double apart = distance_of_still(c, device);
    const double *gaps = c->ops[by].self;
    struct clock x = { .lost = device ? 0 : gaps[TG_BASE] - gaps[TG_TEST] };
    for (int side = 0; side < 2; side++)
        x.y[side] = TG_NEW_N(w->a, double, c->n_runs[side] + 1);
    TG_EACH(const struct tg_use, use, uses.v, uses.n) {
        const struct tg_op *op = &c->ops[use->op];
        double ns[2];
        if (use->by != by || !is_of_clock(op, device) || !use->ns[TG_BASE] || !use->ns[TG_TEST])
            continue;
        for (int side = 0; side < 2; side++) {
            for (size_t run = 0; run < c->n_runs[side]; run++)
                x.y[side][run] += use->ns[side][run] / (double)c->n_ranks[side];
            ns[side] = tg_use_ns(w, use, side);
        }
        bool known = op->change != TG_SAME || !(fabs(log(ns[TG_TEST] / ns[TG_BASE])) <= apart);
        x.lost -= known ? ns[TG_TEST] - ns[TG_BASE] : doubt ? fabs(ns[TG_TEST] - ns[TG_BASE]) : 0;
    }
    return x;
}

/*
 * ns per step that a place takes less than before; not above 0: not provably less. Its work is the
 * device's where there is one: then what the host takes more is taken off, and at least half of the
 * rest has to be seen in the step, which may wait for the host alone.
 */
static double saved_by_annotation(const struct tg_diff_work *w, uint32_t by)
{
    const struct tg_evidence *host = &w->c->ops[by].ev_total;
    bool device = tg_has_device_ops(w->c), few = host->why_not == TG_NOT_FEW_RUNS;
    struct tg_evidence ev = *host;
    struct clock x = { .lost = 0 };
    if (few || device)
        x = clock_of(w, by, device, true);
    if (device) {
        struct tg_run_values v = { .y = { [TG_LEAST] = { x.y[TG_BASE], x.y[TG_TEST] } } };
        tg_evidence_of_times(w, &ev, &v, TG_DEVICE_TIMES, TG_ESTIMATE_LEAST);
    }
    double saved = few ? x.lost : ev.less ? -ev.delta_ns : 0;
    if (device)
        saved += fmin(few            ? clock_of(w, by, false, false).lost
                      : host->slower ? -host->delta_ns
                                     : 0,
                      0);
    /* Where the host sets the pace, its own time and the step tell. */
    const struct tg_evidence *step = &w->c->metrics[TG_METRIC_STEP_TIME].ev;
    if (device && !few && host->less && step->less)
        saved = fmax(saved, fmin(-host->delta_ns, -step->delta_ns));
    bool seen = !device || w->c->wall_ns[TG_BASE] - w->c->wall_ns[TG_TEST] >= TG_HALF * saved;
    return seen ? saved : 0;
}

static double saved_by_step(const struct tg_diff_work *w)
{
    const struct tg_comparison *c = w->c;
    const struct tg_evidence *host = &c->metrics[TG_METRIC_HOST_TIME].ev;
    bool device = tg_has_device_ops(c);
    const struct tg_evidence *step =
        device ? &c->metrics[TG_METRIC_STEP_TIME].ev : &c->step.ev_total;
    /* It got shorter by so much as all names did: a faster machine repays nothing. */
    double faster = w->machine[TG_EITHER_TIMES].of[TG_SWAPPED][TG_ESTIMATE_LEAST].c;
    double by_machine = -step->value[TG_BASE] * expm1(-faster);
    double saved = step->less ? -step->delta_ns - by_machine : 0;

    if (host->why_not == TG_NOT_FEW_RUNS)
        saved = device && lost_by_few(c, false, false) < 0 ? 0 : lost_by_few(c, device, true);
    else if (device && (host->why_not != TG_JUDGED || host->slower))
        saved = 0;
    return saved > 0 ? saved - saved_elsewhere(w, device) : 0;
}

/* Came, and counts against its place: by what it costs more than before,
 * and than what it replaced. */
static bool is_of_net(const struct tg_op *op)
{
    return tg_op_rose(op) && !op->polling && tg_kind_is_counted(op->kind) &&
           op->counted.shape == TG_COUNT_CONSTANT;
}

static double cost_of(const struct tg_op *op)
{
    bool exchanged = op->relation == TG_REL_RENAMED || op->relation == TG_REL_REPLACED;
    return exchanged ? 0 : fmax(op->self[TG_TEST] - op->self[TG_BASE], 0);
}

/* Copies, and memory that was not allocated there before:
 * their cost is not their own time alone. */
static bool is_memory(const struct tg_op *op)
{
    return tg_op_copies(op) || (tg_op_allocates(op) && op->change == TG_ADDED);
}

/* An unchanged name that is slower: what was exchanged beside may cost it caches and memory. */
static bool got_slower(const struct tg_op *op)
{
    return op->change == TG_SAME && op->ev.slower && op->relation == TG_REL_NONE &&
           (op->kind == TG_KIND_OP || op->kind == TG_KIND_KERNEL);
}

/* Of the step operators alone; of an annotation what is called nowhere else. */
static bool got_slower_beside(const struct tg_diff_work *w, uint32_t by, uint32_t op)
{
    bool beside = got_slower(&w->c->ops[op]);
    struct tg_uses u = tg_uses_of(w, TG_IN_ANNOTATION, op);
    if (by == TG_NO_ID)
        return beside && w->c->ops[op].kind == TG_KIND_OP;
    TG_EACH(const struct tg_use, use, u.v, u.n)
        beside &= use->by == by;
    return beside && u.n > 0;
}

/* By how many callers did more calls of a name come in a place? 0: none of its balance.
 * `ns`, if not NULL: what they cost there; where no trees tell, their part of the cost of all. */
static size_t came_in(const struct tg_diff_work *w, uint32_t by, uint32_t op, double *ns)
{
    const struct tg_op *of = &w->c->ops[op];
    struct tg_uses u = tg_uses_of(w, TG_IN_ANNOTATION, op);
    double here = 0, all = 0, cost = 0;
    bool known = true;
    size_t n = 0;
    TG_EACH(const struct tg_use, use, u.v, is_of_net(of) ? u.n : 0) {
        double rise = fmax(tg_use_rise(use), 0);
        all += rise;
        here += use->by == by ? rise : 0;
        n += use->by == by && rise > 0;
        known = known && use->ns[TG_BASE] && use->ns[TG_TEST];
        if (known && use->by == by && rise > 0)
            cost += tg_use_ns(w, use, TG_TEST) - tg_use_ns(w, use, TG_BASE);
    }
    if (ns)
        *ns = here == all || !known ? cost_of(of) * here / fmax(all, here)
              : cost_of(of) > 0     ? fmax(cost, 0)
                                    : 0;
    return n;
}

/* On each rank that something came on, the step, or the annotation, takes no longer: what other
 * ranks save pays for nothing. */
static bool is_paid_on_each_rank(const struct tg_diff_work *w, uint32_t by)
{
    const struct tg_comparison *c = w->c;
    const struct tg_op *around = by == TG_NO_ID ? &c->step : &c->ops[by];
    size_t n = around->rows && c->n_ranks[TG_BASE] == c->n_ranks[TG_TEST] ? c->n_ranks[TG_TEST] : 0;
    for (size_t k = 0; n > 1 && k < n; k++) {
        bool came = false;
        for (uint32_t i = 0; i < c->n_ops && !came; i++)
            came = came_in(w, by, i, NULL) > 0 &&
                   tg_op_on_rank(w, &c->ops[i], TG_TEST, k, TG_OP_SELF).calls >
                       tg_op_on_rank(w, &c->ops[i], TG_BASE, k, TG_OP_SELF).calls;
        if (came && tg_op_on_rank(w, around, TG_TEST, k, TG_OP_TOTAL).ns >
                        tg_op_on_rank(w, around, TG_BASE, k, TG_OP_TOTAL).ns)
            return false;
    }
    return true;
}

/* Of an operator: where calls came, and how much of that is paid for; was a saving not large enough
 * for copies? */
struct debt {
    size_t came, paid;
    bool memory;
};

static void repay(struct tg_diff_work *w, uint32_t by, struct debt *debt)
{
    struct tg_comparison *c = w->c;
    bool any = false, step = by == TG_NO_ID;
    double saved = step ? saved_by_step(w) : saved_by_annotation(w, by), memory = 0, left = saved;
    if (left <= 0 || !is_paid_on_each_rank(w, by))
        return;
    for (uint32_t i = 0; i < c->n_ops; i++) {
        const struct tg_op *op = &c->ops[i];
        double cost = 0;
        bool came = came_in(w, by, i, &cost) > 0;
        bool beside = got_slower_beside(w, by, i);
        any |= came || beside;
        memory += came && is_memory(op) ? cost : 0;
        left -= came ? cost : beside ? fmax(op->ev.delta_ns, 0) : 0;
    }
    /* The Python around what came is a neighbour, too. */
    bool gaps = step && c->step.ev.slower;
    any |= gaps;
    left -= gaps ? fmax(c->step.ev.delta_ns, 0) : 0;
    c->step.repaid = gaps && left >= 0;
    bool few = c->metrics[TG_METRIC_HOST_TIME].ev.why_not == TG_NOT_FEW_RUNS;
    bool small = TG_APART * memory < saved && (!few || memory < TG_BIG * c->step_ns[TG_BASE]);
    for (uint32_t i = 0; any && left >= 0 && i < c->n_ops; i++) {
        size_t came = came_in(w, by, i, NULL);
        debt[i].paid += came;
        debt[i].memory |= came && !small;
        if (got_slower_beside(w, by, i))
            c->ops[i].repaid = true;
    }
}

/* No more calls, that take no longer: of device work, which is steady, not provably longer; on the
 * host as many provably less, and fewer no more as judged. */
static bool is_for_less(const struct tg_region *g)
{
    const struct tg_evidence *ev = &g->ev;
    bool fewer = g->calls[TG_TEST] < g->calls[TG_BASE];
    return tg_evidence_compared(ev) && g->calls[TG_TEST] <= g->calls[TG_BASE] &&
           (g->kind == TG_KIND_KERNEL ? !ev->proven
            : fewer                   ? ev->e <= 0
                                      : ev->less);
}

/* An exchange for less needs no warning; on the host only if what the device does there was not
 * exchanged for more. Nor does another name that does not provably take longer; what counts for
 * itself has to take less. */
static void repay_exchanges(struct tg_comparison *c)
{
    TG_EACH(const struct tg_region, g, c->regions, c->n_regions) {
        bool less = is_for_less(g);
        for (size_t k = 0; less && !tg_kind_is_device(g->kind) && k < c->n_regions; k++)
            less = !tg_kind_is_device(c->regions[k].kind) ||
                   !tg_sv_eq(c->regions[k].encloser, g->encloser) || is_for_less(&c->regions[k]);
        for (size_t i = 0; less && i < g->n_ops; i++)
            if (c->ops[g->op[i]].relation == TG_REL_REPLACED && tg_op_rose(&c->ops[g->op[i]]))
                c->ops[g->op[i]].repaid = !is_memory(&c->ops[g->op[i]]);
    }
    TG_EACH(struct tg_op, op, c->ops, c->n_ops)
        if (op->relation == TG_REL_RENAMED && tg_op_rose(op) && tg_evidence_compared(&op->ev) &&
            (tg_op_makes_wait(op) || is_memory(op) ? op->ev.less : !op->ev.proven) &&
            (tg_kind_is_device(op->kind) || !tg_has_device_ops(c)))
            op->repaid = true;
}

void tg_places_repay(struct tg_diff_work *w)
{
    if (!w->uses && w->c->step.ev.slower)
        tg_uses_index(w);
    if (!w->c->marked[TG_BASE] || !w->c->marked[TG_TEST] || w->o->no_evidence || !w->uses)
        return;
    bool *concerned = TG_NEW_N(w->a, bool, w->c->n_ops + 1); /* annotations */
    struct debt *debt = TG_NEW_N(w->a, struct debt, w->c->n_ops + 1);
    const struct tg_uses uses = w->uses->all[TG_IN_ANNOTATION];
    TG_EACH(const struct tg_use, use, uses.v, uses.n) {
        const struct tg_op *op = &w->c->ops[use->op];
        bool rose = is_of_net(op) && tg_use_rise(use) > 0;
        debt[use->op].came += rose;
        if (use->by != TG_NO_ID && (rose || got_slower(op)))
            concerned[use->by] = true;
    }
    for (uint32_t i = 0; i < w->c->n_ops; i++)
        if (concerned[i])
            repay(w, i, debt);
    repay(w, TG_NO_ID, debt);
    /* A name is repaid where all of its calls are: what came is worth what it saves. A wait counts
     * for itself; a copy is small beside a saving of five times as much. */
    for (uint32_t i = 0; i < w->c->n_ops; i++) {
        struct tg_op *op = &w->c->ops[i];
        if (!debt[i].came || debt[i].paid != debt[i].came || tg_op_makes_wait(op))
            continue;
        if (!is_memory(op))
            op->repaid = true;
        else if (!debt[i].memory)
            op->slight = TG_SLIGHT_SMALL;
    }
    repay_exchanges(w->c);
}
