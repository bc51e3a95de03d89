/*
 * Durations: one value per run and operator, the common factor of the machine, one-sided noise and
 * an exact rank test. DECISIONS 3 is the specification, docs/statistics.md the manual.
 *
 * The value of a run is the sum over slots of the minimum over its steps: the k-th call of a fine
 * row (name, parent, device, stream) does the same work in every step, and preemption only adds.
 */
#include <math.h>
#include <stdlib.h>

#include "core/diff/internal.h"
#include "core/diff/stats.h"

#define USABLE 0.6         /* part of a run's steps that must have the modal pattern of calls */
#define BIG 0.003          /* of the step: speaks for the machine and for the usual noise */
#define WILD_DRIFT 0.25    /* a machine changed this much changed each operator differently */
#define MIN_BIG 5          /* fewer big operators tell nothing about the machine */
#define FLOOR 0.001        /* of the step: smaller changes never fail */
#define SUSPECT_SIZE 1.3   /* with too few runs: this large, */
#define SUSPECT_FLOOR 0.01 /* this much of the step, */

const char *tg_judged_text(enum tg_judged j)
{
    switch (j) {
    case TG_JUDGED:
        return NULL;
    case TG_NOT_FEW_RUNS:
        return "too few runs a side (need 3, better 5)";
    case TG_NOT_WAIT:
        return "its time is a wait for others";
    case TG_NOT_POLLING:
        return "a polling call: its number is random";
    case TG_NOT_COUNT_CHANGED:
        return "its count changed";
    case TG_NOT_COUNT_VARIES:
        return "its count varies, and its calls do not align";
    case TG_NOT_ONE_SIDED:
        return "not in every run of both sides";
    case TG_NOT_NO_STEPS:
        return "no step markers";
    case TG_NOT_OTHER_DEVICE:
        return "recorded on different devices";
    case TG_NOT_OTHER_FLAGS:
        return "recorded with different profiler flags";
    case TG_NOT_REPLACED:
        return "part of a replacement, judged as a whole";
    case TG_NOT_TOO_SMALL:
        return "no measurable time";
    case TG_NOT_INTEGRITY:
        return "the trace is damaged";
    }
    return "";
}

/* ---- the value of a run ---- */

/* Which of the steps that are used: all, those of the first half (the longer one), of the last. */
enum part { ALL_STEPS, FIRST_HALF, LAST_HALF, PARTS };

/* Run values of one operator, both sides: y[part][side][run], ns per step and rank. Without the
 * halves (NULL) nothing is asked of them. */
struct values {
    double *y[PARTS][2];
    bool slot_form, complete; /* complete: the operator occurs in every run */
};

/* Buffers for one cell at a time. */
struct room {
    uint64_t *pattern, *sorted; /* per step */
    size_t *usable;             /* indices into tg_used.step */
    size_t *offset;             /* of a row's slots, per step of the shard */
};

static struct room make_room(const struct tg_diff_work *w)
{
    return (struct room){ TG_NEW_N(w->a, uint64_t, w->max_steps + 1),
                          TG_NEW_N(w->a, uint64_t, w->max_steps + 1),
                          TG_NEW_N(w->a, size_t, w->max_steps + 1),
                          TG_NEW_N(w->a, size_t, w->max_steps + 1) };
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ (h >> 32);
}

/*
 * The steps that have the cell's usual pattern of calls (how often each fine row ran). The pattern
 * is a number: calls in the high bits, so that of equally frequent ones the fuller wins, a hash of
 * the rows' counts below. Returns how many steps; `calls` receives the calls of such a step.
 */
static size_t usable_steps(const struct tg_diff_work *w, const struct tg_diff_cell *cell, size_t at,
                           struct room *x, uint64_t *calls)
{
    const struct tg_used *used = &w->used[at];
    size_t n = 0;

    for (size_t j = 0; j < used->n; j++) {
        uint64_t h = 1, sum = 0;
        for (size_t r = 0; r < cell->n; r++) {
            h = mix(h, cell->row[r]->count[used->step[j]]);
            sum += cell->row[r]->count[used->step[j]];
        }
        x->pattern[j] = x->sorted[j] = sum << 24 | (h & 0xffffff);
    }
    uint64_t usual = tg_mode(x->sorted, used->n, NULL);
    for (size_t j = 0; j < used->n; j++)
        if (x->pattern[j] == usual)
            x->usable[n++] = j;
    *calls = usual >> 24;
    return n;
}

/* The steps of a part: indices from..to of `n` steps. One step is both halves. */
struct range {
    size_t from, to;
};

static struct range range_of(enum part part, size_t n)
{
    if (part == ALL_STEPS)
        return (struct range){ 0, n };
    if (part == FIRST_HALF)
        return (struct range){ 0, (n + 1) / 2 };
    return (struct range){ n - (n > 1 ? n / 2 : n), n };
}

/* Sum over the row's slots of the minimum over the usable steps of the range. */
static tg_ns row_minimum(const struct tg_row *row, const struct tg_used *used, struct room *x,
                         struct range of, size_t shard_steps)
{
    size_t at = 0, n = of.to ? row->count[used->step[x->usable[0]]] : 0;
    tg_ns sum = 0;

    for (size_t j = 0; j < shard_steps; j++) {
        x->offset[j] = at;
        at += row->count[j];
    }
    for (size_t k = 0; k < n; k++) {
        tg_ns least = INT64_MAX;
        for (size_t j = of.from; j < of.to; j++) {
            tg_ns v = row->slots[x->offset[used->step[x->usable[j]]] + k];
            least = v < least ? v : least;
        }
        sum += least;
    }
    return sum;
}

static void slot_values(const struct tg_diff_work *w, const struct tg_op *op, size_t at,
                        size_t n_steps, struct room *x, double out[PARTS])
{
    const struct tg_diff_cell *cell = &op->rows->cell[at];
    uint64_t calls;

    usable_steps(w, cell, at, x, &calls);
    for (enum part part = 0; part < PARTS; part++) {
        tg_ns sum = 0;
        for (size_t r = 0; r < cell->n; r++)
            sum += row_minimum(cell->row[r], &w->used[at], x, range_of(part, n_steps),
                               w->shard[at]->n_steps);
        out[part] = (double)sum;
    }
}

/* The smallest step sum of the range. */
static tg_ns least_step(const struct tg_diff_work *w, const struct tg_diff_cell *cell, size_t at,
                        struct range of, bool inclusive)
{
    tg_ns least = of.to ? INT64_MAX : 0;

    for (size_t j = of.from; j < of.to; j++) {
        size_t step = w->used[at].step[j];
        tg_ns sum = 0;
        for (size_t r = 0; r < cell->n; r++)
            sum += inclusive ? cell->row[r]->total[step] : cell->row[r]->self[step];
        least = sum < least ? sum : least;
    }
    return least;
}

static void step_values(const struct tg_diff_work *w, const struct tg_op *op, size_t at,
                        size_t n_steps, bool inclusive, double out[PARTS])
{
    for (enum part part = 0; part < PARTS; part++)
        out[part] =
            (double)least_step(w, &op->rows->cell[at], at, range_of(part, n_steps), inclusive);
}

static size_t fewest_steps(const struct tg_diff_work *w)
{
    size_t n = SIZE_MAX;

    for (size_t at = 0; at < w->n_cells; at++)
        n = w->used[at].n < n ? w->used[at].n : n;
    return n == SIZE_MAX ? 0 : n;
}

/*
 * Slots align if every cell has enough usable steps and every run the same number of slots.
 * Returns the number of steps to use, 0 for the other form.
 */
static size_t slots_align(const struct tg_diff_work *w, const struct tg_op *op, struct room *x)
{
    size_t fewest = SIZE_MAX;
    double slots = -1;

    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < w->c->n_runs[side]; run++) {
            double of_run = 0;
            for (size_t rank = 0; rank < w->c->n_ranks[side]; rank++) {
                size_t at = tg_work_cell(w, side, run, rank);
                const struct tg_diff_cell *cell = &op->rows->cell[at];
                uint64_t calls;
                size_t n = usable_steps(w, cell, at, x, &calls);
                if (n == 0 || (double)n < USABLE * (double)w->used[at].n)
                    return 0;
                for (size_t r = 0; r < cell->n; r++)
                    if (!cell->row[r]->slots && cell->row[r]->count[w->used[at].step[x->usable[0]]])
                        return 0; /* dropped from the summary for its size */
                fewest = n < fewest ? n : fewest;
                of_run += (double)calls;
            }
            of_run /= (double)w->c->n_ranks[side];
            if (slots >= 0 && of_run != slots)
                return 0;
            slots = of_run;
        }
    return fewest == SIZE_MAX ? 0 : fewest;
}

enum form { FORM_BEST, FORM_STEP, FORM_INCLUSIVE };

static struct values new_values(const struct tg_diff_work *w)
{
    struct values v = { .complete = true };

    for (enum part part = 0; part < PARTS; part++)
        for (int side = 0; side < 2; side++)
            v.y[part][side] = TG_NEW_N(w->a, double, w->c->n_runs[side]);
    return v;
}

static struct values run_values(const struct tg_diff_work *w, const struct tg_op *op,
                                struct room *x, enum form form)
{
    struct values v = new_values(w);
    size_t slots = form == FORM_BEST ? slots_align(w, op, x) : 0, steps = fewest_steps(w);

    v.slot_form = slots > 0;
    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < w->c->n_runs[side]; run++) {
            bool here = false;
            for (size_t rank = 0; rank < w->c->n_ranks[side]; rank++) {
                size_t at = tg_work_cell(w, side, run, rank);
                double of_rank[PARTS];
                here |= op->rows->cell[at].n > 0;
                if (v.slot_form)
                    slot_values(w, op, at, slots, x, of_rank);
                else
                    step_values(w, op, at, steps, form == FORM_INCLUSIVE, of_rank);
                for (enum part part = 0; part < PARTS; part++)
                    v.y[part][side][run] += of_rank[part] / (double)w->c->n_ranks[side];
            }
            v.complete &= here;
        }
    return v;
}

/* ---- the rule ---- */

/* What all operators share in one direction: the machine's factor, how far the operators
 * stray from a large one, and the usual noise. */
struct common {
    double c, scatter, v0;
    bool has_v0;
};

struct logs {
    double *x[2], median[2], variance;
};

static struct logs logs_of(const struct tg_diff_work *w, double *const y[2], bool swapped)
{
    struct logs l;
    size_t n[2];

    for (int i = 0; i < 2; i++) {
        int side = swapped ? !i : i;
        n[i] = w->c->n_runs[side];
        l.x[i] = TG_NEW_N(w->a, double, n[i]);
        double *copy = TG_NEW_N(w->a, double, n[i]);
        for (size_t run = 0; run < n[i]; run++)
            copy[run] = l.x[i][run] = log(fmax(y[side][run], 1));
        l.median[i] = tg_median(copy, n[i]);
    }
    l.variance =
        tg_harmful_variance(l.x[0], n[0], l.x[1], n[1], l.median[TG_BASE], l.median[TG_TEST]);
    return l;
}

/*
 * Each half of the steps has to show at least half of the slowdown by itself. Operators with two
 * speeds change between them within a run, too: three runs that never were fast differ from three
 * that were fast for a while, but only in some of their steps.
 */
static bool both_halves(const struct tg_diff_work *w, struct tg_evidence *ev,
                        const struct values *v, bool swapped, double c, size_t nb, size_t nt)
{
    bool both = ev->e > 0;

    for (enum part part = FIRST_HALF; v->y[FIRST_HALF][TG_BASE] && part < PARTS; part++) {
        struct logs l = logs_of(w, v->y[part], swapped);
        both = both && l.median[TG_TEST] - l.median[TG_BASE] - c >= TG_HALF_PART * ev->e &&
               tg_rank_p(l.x[TG_BASE], nb, l.x[TG_TEST], nt, c) <= tg_half_p_limit(nb, nt);
        for (int side = 0; side < 2; side++)
            ev->half[part - FIRST_HALF][side] = exp(l.median[side]);
    }
    return both;
}

/* Size, error and rank of test above base under `m`; fills everything but `judged` and `faster`. */
static void apply_rule(const struct tg_diff_work *w, struct tg_evidence *ev, const struct values *v,
                       bool swapped, const struct common *m, double floor, double tick)
{
    size_t nb = w->c->n_runs[swapped], nt = w->c->n_runs[!swapped];
    struct logs l = logs_of(w, v->y[ALL_STEPS], swapped);
    struct tg_threshold t = tg_threshold_of(nb, nt);
    double v0 = m->has_v0 ? m->v0 : l.variance, most = -INFINITY, least = INFINITY;

    ev->value[TG_BASE] = exp(l.median[TG_BASE]);
    ev->value[TG_TEST] = exp(l.median[TG_TEST]);
    ev->e = l.median[TG_TEST] - l.median[TG_BASE] - m->c;
    ev->delta_ns = ev->value[TG_BASE] * expm1(ev->e);
    ev->se = fmax(hypot(tg_moderated_se(l.variance, v0, nb, nt), m->scatter),
                  log1p(tick / ev->value[TG_BASE]) / t.z);
    ev->noise = ev->se / sqrt(1 / (double)nb + 1 / (double)nt);
    ev->z = t.z;
    ev->tau = t.tau;
    ev->p_limit = t.p_limit;
    ev->p = tg_rank_p(l.x[TG_BASE], nb, l.x[TG_TEST], nt, m->c);
    ev->mde = expm1(fmax(log1p(t.tau), t.z * ev->se));
    for (size_t i = 0; i < nb; i++)
        most = fmax(most, l.x[TG_BASE][i]);
    ev->pairs = (unsigned)nt;
    ev->above = 0;
    for (size_t i = 0; i < nt; i++) {
        double x = l.x[TG_TEST][i] - m->c;
        ev->above += x > most;
        least = fmin(least, x);
    }
    ev->proven =
        both_halves(w, ev, v, swapped, m->c, nb, nt) && ev->e > t.z * ev->se && ev->p <= t.p_limit;
    ev->slower = ev->proven && ev->e > log1p(t.tau) && ev->delta_ns > floor;
    ev->suspicious = ev->e > log(SUSPECT_SIZE) && least > most &&
                     ev->delta_ns > SUSPECT_FLOOR * w->c->step_ns[TG_BASE];
}

static void judge(const struct tg_diff_work *w, struct tg_evidence *ev, const struct values *v,
                  const struct common m[2], double floor, double tick)
{
    enum tg_judged judged = ev->judged;
    bool slot_form = ev->slot_form, few = judged == TG_NOT_FEW_RUNS;
    struct tg_evidence back = { 0 };

    apply_rule(w, ev, v, false, &m[0], floor, tick);
    apply_rule(w, &back, v, true, &m[1], floor, tick);
    ev->judged = judged;
    ev->slot_form = slot_form;
    ev->slower = ev->slower && judged == TG_JUDGED;
    ev->faster = back.slower && judged == TG_JUDGED;
    ev->suspicious = ev->suspicious && few;
}

/* ---- who is judged ---- */

static bool damaged(const struct tg_diff_work *w, bool device)
{
    for (size_t at = 0; at < w->n_cells; at++) {
        const struct tg_shard *s = w->shard[at];
        if (s->truncated || (device && s->integrity.negative_durations))
            return true;
    }
    return false;
}

/* Reasons that hold for every operator of the comparison; TG_JUDGED: none. */
static enum tg_judged common_reason(const struct tg_diff_work *w, bool device)
{
    const struct tg_comparison *c = w->c;
    size_t need = w->o->min_runs ? w->o->min_runs : 3;

    if (!c->marked[TG_BASE] || !c->marked[TG_TEST] || fewest_steps(w) == 0)
        return TG_NOT_NO_STEPS;
    if (damaged(w, device))
        return TG_NOT_INTEGRITY;
    if (!c->same_device)
        return TG_NOT_OTHER_DEVICE;
    if (!c->same_flags)
        return TG_NOT_OTHER_FLAGS;
    if (c->n_runs[TG_BASE] < need || c->n_runs[TG_TEST] < need)
        return TG_NOT_FEW_RUNS;
    return TG_JUDGED;
}

static bool is_timed(enum tg_kind k)
{
    return k == TG_KIND_OP || k == TG_KIND_RUNTIME || k == TG_KIND_GRAPH || k == TG_KIND_KERNEL ||
           k == TG_KIND_STEP;
}

/* Self time of these is what runs between operators: no speed of the machine's, and no usual noise. */
static bool is_gap(enum tg_kind k)
{
    return k == TG_KIND_STEP || k == TG_KIND_ANNOTATION;
}

/* Reasons of its own, the strongest first. */
static enum tg_judged own_reason(const struct tg_op *op, const struct values *v)
{
    if (!v->complete)
        return TG_NOT_ONE_SIDED;
    if (op->change != TG_SAME)
        return TG_NOT_COUNT_CHANGED;
    if (op->polling)
        return TG_NOT_POLLING;
    /* The step with the fewest calls of one run against that of another says nothing. */
    if (!v->slot_form && op->counted.shape != TG_COUNT_CONSTANT &&
        op->counted.shape != TG_COUNT_FIRST_STEP)
        return TG_NOT_COUNT_VARIES;
    if (op->wait || (!is_timed(op->kind) && op->kind != TG_KIND_ANNOTATION))
        return TG_NOT_WAIT;
    return TG_JUDGED;
}

/* Common factor and usual noise over the big operators. The factor never helps the test side: a
 * machine that got faster must not make an unchanged operator look slower. */
static void find_common(struct tg_diff_work *w, const struct values *v, const bool *judged,
                        struct common m[2])
{
    struct tg_comparison *c = w->c;
    double *ratio = TG_NEW_N(w->a, double, c->n_ops + 1), *var[2];
    size_t n = 0;

    var[0] = TG_NEW_N(w->a, double, c->n_ops + 1);
    var[1] = TG_NEW_N(w->a, double, c->n_ops + 1);
    for (size_t i = 0; i < c->n_ops; i++) {
        if (!judged[i] || is_gap(c->ops[i].kind))
            continue;
        struct logs l = logs_of(w, v[i].y[ALL_STEPS], false);
        if (exp(l.median[TG_BASE]) < BIG * c->step_ns[TG_BASE])
            continue;
        ratio[n] = l.median[TG_TEST] - l.median[TG_BASE];
        if (c->ops[i].iteration_scaled) /* more iterations are no slower machine */
            ratio[n] -= log(c->iteration_ratio);
        var[0][n] = l.variance;
        var[1][n++] = logs_of(w, v[i].y[ALL_STEPS], true).variance;
    }
    c->drift = n >= MIN_BIG ? tg_median(ratio, n) : 0;
    double scatter = fabs(c->drift) > log1p(WILD_DRIFT) ? tg_spread(ratio, n) : 0;
    c->drifted = fabs(c->drift) > log1p(w->o->drift_limit > 0 ? w->o->drift_limit : 0.10);
    for (int d = 0; d < 2; d++) {
        m[d].has_v0 = n > 0;
        m[d].scatter = scatter;
        m[d].v0 = n ? tg_quantile(var[d], n, 0.25) : 0;
        m[d].c = fmax(d ? -c->drift : c->drift, 0);
    }
}

/* The step as a whole without preemption: all operators and the gaps between them. Host only: on a
 * device, work overlaps and its end to end is a measure of its own. */
static void judge_step(struct tg_diff_work *w, const struct values *v, const struct common m[2],
                       struct room *x)
{
    struct tg_comparison *c = w->c;
    struct values sum = new_values(w);
    bool device = false;

    for (size_t i = 0; i < c->n_ops; i++) {
        const struct tg_op *op = &c->ops[i];
        device |= tg_kind_is_device(op->kind);
        if (!tg_kind_nests(op->kind))
            continue;
        bool same = v[i].complete && op->change == TG_SAME && is_timed(op->kind) && !op->wait;
        struct values each = same ? v[i] : run_values(w, op, x, FORM_STEP);
        for (enum part part = 0; part < PARTS; part++)
            for (int side = 0; side < 2; side++)
                for (size_t run = 0; run < c->n_runs[side]; run++)
                    sum.y[part][side][run] += each.y[part][side][run];
    }
    c->step.ev_total =
        (struct tg_evidence){ .judged = device ? TG_NOT_WAIT : common_reason(w, false) };
    judge(w, &c->step.ev_total, &sum, m, FLOOR * c->step_ns[TG_BASE], 0);
}

/* The step's own operator, for its gaps. With several (raw names), the first. */
static void copy_gaps(struct tg_comparison *c)
{
    c->step.ev.judged = TG_NOT_NO_STEPS;
    for (size_t i = c->n_ops; i-- > 0;)
        if (c->ops[i].kind == TG_KIND_STEP)
            c->step = c->ops[i];
    c->step.name = c->step.raw[0] = c->step.raw[1] = TG_SV("ProfilerStep");
    c->step.kind = TG_KIND_STEP;
    c->step.partner = c->step.region = c->step.leader = TG_NO_ID;
    c->step.share[0] = c->step.share[1] = 1;
}

static const struct tg_op *find_encloser(const struct tg_comparison *c, tg_sv name)
{
    for (size_t i = 0; i < c->n_ops; i++)
        if (tg_kind_nests(c->ops[i].kind) && tg_sv_eq(c->ops[i].name, name))
            return &c->ops[i];
    return NULL;
}

/* A replacement's time: its encloser's inclusive time, or the step's. */
static void judge_regions(struct tg_diff_work *w, const struct common m[2], struct room *x)
{
    struct tg_comparison *c = w->c;

    for (size_t i = 0; i < c->n_regions; i++) {
        struct tg_region *r = &c->regions[i];
        const struct tg_op *op = r->encloser.n ? find_encloser(c, r->encloser) : NULL;
        if (op) {
            struct values v = run_values(w, op, x, FORM_INCLUSIVE);
            r->ev.judged = v.complete ? common_reason(w, false) : TG_NOT_ONE_SIDED;
            judge(w, &r->ev, &v, m, FLOOR * c->step_ns[TG_BASE], 0);
        } else {
            r->ev = c->step.ev_total;
        }
        r->time[TG_BASE] = r->ev.value[TG_BASE];
        r->time[TG_TEST] = r->ev.value[TG_TEST];
        r->time_judged = r->ev.judged;
        r->worse_time = r->ev.slower;
    }
}

/*
 * A coarse clock rounds alike in every run, so that the runs' spread says nothing about it: no
 * change of less than a tick a call is proven there. ns; 0 for a fine clock.
 */
static double tick_of(const struct tg_diff_work *w, const struct tg_op *op)
{
    return w->tick > 1 && !is_gap(op->kind) ? (double)w->tick * op->count[TG_BASE] : 0;
}

void tg_judge_values(const struct tg_diff_work *w, struct tg_evidence *ev, double *const y[2],
                     bool time)
{
    struct values v = { .y = { [ALL_STEPS] = { y[TG_BASE], y[TG_TEST] } } };
    struct common m[2];

    memset(m, 0, sizeof m);
    if (time) {
        m[0].c = fmax(w->c->drift, 0);
        m[1].c = fmax(-w->c->drift, 0);
    }
    ev->judged = common_reason(w, false);
    judge(w, ev, &v, m, time ? FLOOR * w->c->step_ns[TG_BASE] : 0, 0);
}

/*
 * Times of Python frames, by the least of the steps' sums. They are judged whatever their count
 * did, as a whole trace's times are: what a rule asks of a module is what it costs.
 */
static void judge_frames(struct tg_diff_work *w, const struct common m[2], struct room *x)
{
    for (size_t i = 0; i < w->c->n_frames; i++) {
        struct tg_op *op = &w->c->frames[i];
        struct tg_evidence *const ev[] = { &op->ev, &op->ev_total };
        for (int k = 0; k < 2; k++) {
            struct values v = run_values(w, op, x, k ? FORM_INCLUSIVE : FORM_STEP);
            ev[k]->judged = v.complete ? common_reason(w, op->launched) : TG_NOT_ONE_SIDED;
            judge(w, ev[k], &v, m, FLOOR * w->c->step_ns[TG_BASE], tick_of(w, op));
        }
    }
}

/* What measurably got faster is no regression however many calls it takes. */
static void excuse_faster(struct tg_comparison *c, uint32_t region)
{
    for (size_t i = 0; i < c->n_ops; i++)
        if (c->ops[i].region == region && c->ops[i].relation == TG_REL_REPLACED_WORSE)
            c->ops[i].relation = TG_REL_REPLACED;
    c->regions[region].worse_count = false;
}

static bool has_device_work(const struct tg_comparison *c)
{
    for (size_t i = 0; i < c->n_ops; i++)
        if (tg_kind_is_device(c->ops[i].kind))
            return true;
    return false;
}

/* What replaced something has a cost to compare with: that of what it replaced. */
static void judge_joints(struct tg_diff_work *w, const struct common m[2], struct room *x)
{
    struct tg_comparison *c = w->c;
    bool device = has_device_work(c);

    for (size_t i = 0; i < w->n_joints; i++) {
        const struct tg_op *joint = w->joints[i].op;
        struct tg_op *leader = &c->ops[w->joints[i].leader];
        struct values v = run_values(w, joint, x, FORM_BEST);
        struct tg_evidence ev = { .slot_form = v.slot_form };
        bool on_device = tg_kind_is_device(leader->kind);
        ev.judged = v.complete ? common_reason(w, on_device) : TG_NOT_ONE_SIDED;
        judge(w, &ev, &v, m, FLOOR * c->step_ns[TG_BASE], tick_of(w, joint));
        if (ev.judged != TG_JUDGED && !ev.suspicious)
            continue;
        leader->ev = leader->ev_total = ev;
        /* A host's time tells no cost where a device does the work. */
        if (ev.faster && leader->region != TG_NO_ID && (on_device || !device))
            excuse_faster(c, leader->region);
    }
}

void tg_judge_durations(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;
    struct values *v = TG_NEW_N(w->a, struct values, c->n_ops + 1);
    bool *judged = TG_NEW_N(w->a, bool, c->n_ops + 1);
    struct room x = make_room(w);
    struct common m[2];
    enum tg_judged host = common_reason(w, false), device = common_reason(w, true);
    double floor = FLOOR * c->step_ns[TG_BASE];

    for (size_t i = 0; i < c->n_ops; i++) {
        v[i] = run_values(w, &c->ops[i], &x, FORM_BEST);
        judged[i] = own_reason(&c->ops[i], &v[i]) == TG_JUDGED;
    }
    find_common(w, v, judged, m);
    for (size_t i = 0; i < c->n_ops; i++) {
        struct tg_op *op = &c->ops[i];
        enum tg_judged all = tg_kind_is_device(op->kind) ? device : host;
        enum tg_judged own = own_reason(op, &v[i]);
        if (own == TG_JUDGED && op->relation != TG_REL_NONE)
            own = TG_NOT_REPLACED;
        op->ev.judged = own != TG_JUDGED ? own : all;
        op->ev.slot_form = v[i].slot_form;
        judge(w, &op->ev, &v[i], m, floor, tick_of(w, op));
        op->ev_total = op->ev;
        if (tg_kind_is_device(op->kind) || !tg_kind_nests(op->kind))
            continue;
        struct values whole = run_values(w, op, &x, FORM_INCLUSIVE);
        op->ev_total = (struct tg_evidence){ .judged = op->ev.judged };
        judge(w, &op->ev_total, &whole, m, floor, tick_of(w, op));
    }
    judge_frames(w, m, &x);
    tg_excuse_moves(w);
    copy_gaps(c);
    judge_step(w, v, m, &x);
    judge_regions(w, m, &x);
    judge_joints(w, m, &x);
}

/* Quantile over all single values in the cells [from, to). NaN: none, or slots dropped. */
static double cells_quantile(const struct tg_diff_work *w, const struct tg_op *op, size_t from,
                             size_t to, double q)
{
    size_t n = 0, cap = 0;
    double *v = NULL, result;
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
    result = dropped ? NAN : tg_quantile(v, n, q);
    free(v);
    return result;
}

double tg_op_quantile(const struct tg_comparison *c, const struct tg_op *op, int side, double q)
{
    const struct tg_diff_work *w = op->rows ? op->rows->work : NULL;
    (void)c;
    if (!w || op->step_count[side] == 0)
        return NAN;
    return cells_quantile(w, op, w->first[side], side ? w->n_cells : w->first[TG_TEST], q);
}

bool tg_op_quantile_evidence(const struct tg_op *op, double q, struct tg_evidence *ev)
{
    const struct tg_diff_work *w = op->rows ? op->rows->work : NULL;
    double *y[2];

    for (int side = 0; w && side < 2; side++) {
        y[side] = TG_NEW_N(w->a, double, w->c->n_runs[side]);
        for (size_t run = 0; run < w->c->n_runs[side]; run++) {
            size_t at = tg_work_cell(w, side, run, 0);
            y[side][run] = cells_quantile(w, op, at, at + w->c->n_ranks[side], q);
            if (isnan(y[side][run]))
                return false;
        }
    }
    if (!w)
        return false;
    tg_judge_values(w, ev, y, true);
    ev->judged = op->ev.judged;
    return true;
}
