#include "cmd/gate/resample.h"

#include <math.h>

#include "core/base/sort.h"
#include "core/diff/confirm.h"
#include "core/diff/stats.h"

#define DRAWS 60 /* for the smallest slowdown */
/* What 9 of 10 comparisons of other runs find: nearly all of these draws, which share their runs,
 * and a margin (of the ln) for runs that were not seen. Measured: docs/calibrate.md. */
#define FOUND 0.98
#define MARGIN 1.15
#define DETECT 0.2 /* the size that matters */
#define MOST 16    /* times as long: no more is tried */
#define SEED 0x74726163u

const double tg_contract_sizes[TG_CONTRACT_SIZES] = { 0.1, 0.2, 0.5 };
const size_t tg_noise_sizes[TG_NOISE_SIZES] = { 3, 5, 8, 10 };

/* xorshift64*: a fixed sequence, the same everywhere. */
static size_t draw(uint64_t *state, size_t below)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (size_t)((*state * UINT64_C(0x2545F4914F6CDD1D) >> 33) % below);
}

/*
 * `n` of `of` runs, the first half the baseline: distinct, or with `again` drawn with replacement.
 */
static void pick(uint64_t *state, size_t *out, size_t n, size_t of, bool again)
{
    TG_FREE size_t *bag = tg_xmalloc(of * sizeof *bag);
    for (size_t i = 0; i < of; i++)
        bag[i] = i;
    for (size_t i = 0; i < n; i++) {
        size_t k = again ? draw(state, of) : i + draw(state, of - i);
        size_t v = bag[k];
        if (!again) {
            bag[k] = bag[i];
            bag[i] = v;
        }
        out[i] = v;
    }
}

static void two_sides(struct tg_side side[2], const struct tg_side *all, const size_t *run,
                      size_t k, struct tg_arena *a)
{
    side[TG_BASE] = tg_gate_subset(all, run, k, a);
    side[TG_TEST] = tg_gate_subset(all, run + k, k, a);
}

/* ---- false alarms ---- */

struct alarms {
    struct tg_calibration *out;
    struct tg_strmap keys;
    size_t cap;
    struct tg_arena *arena;
};

static bool judge_split(struct alarms *x, const struct tg_noise_input *in, const size_t *run,
                        enum tg_outcome *outcome, struct tg_err *err)
{
    TG_ARENA *a = tg_arena_new();
    struct tg_gate g = {
        .policy = in->policy, .suite = in->suite, .io = in->io, .compare = *in->compare, .arena = a
    };
    struct tg_verdict v;
    two_sides(g.side, &in->all, run, in->side, a);
    bool ok = tg_gate_judge(&v, &g, err);
    for (size_t i = 0; ok && i < v.n_results; i++) {
        const struct tg_policy *p = in->policy;
        const struct tg_result *r = &v.results[i];
        TG_BUF key = { 0 };
        const struct tg_rule *rule = NULL;
        size_t known = x->keys.n;
        uint32_t id;
        for (size_t k = 0; k < p->n_rules; k++)
            if (tg_sv_eq(p->rules[k].id, r->rule))
                rule = &p->rules[k];
        if (!rule || tg_result_is_guard(r))
            continue;
        tg_buf_printf(&key, "%.*s\n%.*s\n%.*s", TG_SV_ARG(r->rule), TG_SV_ARG(tg_result_kind(r)),
                      TG_SV_ARG(r->op_normalised));
        id = tg_strmap_add(&x->keys, tg_buf_sv(&key));
        if (id == known)
            *TG_ARENA_PUSH(x->arena, x->out->alarms, x->out->n_alarms, x->cap) =
                (struct tg_alarm){ .rule = rule,
                                   .kind = tg_result_kind(r),
                                   .op = tg_arena_sv(x->arena, r->op_normalised),
                                   .timed = r->unit_id == TG_UNIT_NS };
        struct tg_alarm *m = &x->out->alarms[id];
        m->fails += r->state == TG_STATE_FAIL;
        m->warns += r->state == TG_STATE_WARN;
        double bad = isfinite(r->delta_pct) ? r->delta_pct : 0;
        bad = rule->bad == TG_LESS_IS_BAD ? -bad : rule->bad == TG_ANY_IS_BAD ? fabs(bad) : bad;
        if (r->state != TG_STATE_NOT_JUDGED)
            m->worst = fmax(m->worst, bad);
    }
    if (ok)
        *outcome = v.outcome;
    return ok;
}

static int by_index(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return TG_CMP(x, y);
}

/* How far the rate moves when one run after the other is left out; NaN: each split takes all. */
static double jackknife(const size_t *failed_without, const size_t *splits_without, size_t n)
{
    double mean = 0, sum = 0, used = 0;
    for (size_t i = 0; i < n; i++)
        if (splits_without[i]) {
            mean += (double)failed_without[i] / (double)splits_without[i];
            used++;
        }
    mean = used > 0 ? mean / used : 0;
    for (size_t i = 0; i < n; i++)
        if (splits_without[i]) {
            double d = (double)failed_without[i] / (double)splits_without[i] - mean;
            sum += d * d;
        }
    return used > 1 ? sqrt((used - 1) / used * sum) : NAN;
}

static bool count_alarms(struct tg_calibration *out, const struct tg_noise_input *in,
                         struct tg_arena *a, struct tg_err *err)
{
    size_t n = in->all.n_runs, k = in->side, *run = TG_NEW_N(a, size_t, 2 * k);
    size_t *failed = TG_NEW_N(a, size_t, n), *splits = TG_NEW_N(a, size_t, n);
    double possible = tg_choose(n, k) * tg_choose(n - k, k);
    size_t want = possible < (double)in->splits ? (size_t)possible : in->splits;
    struct alarms x = { .out = out, .arena = a };
    TG_AUTO(tg_strmap_release) struct tg_strmap seen = { 0 };
    uint64_t state = SEED;
    bool ok = true;
    while (ok && out->splits < want) {
        enum tg_outcome outcome = TG_OUTCOME_PASS;
        TG_BUF key = { 0 };
        size_t known = seen.n;
        pick(&state, run, 2 * k, n, false);
        TG_SORT(run, k, by_index);
        TG_SORT(run + k, k, by_index);
        for (size_t i = 0; i < 2 * k; i++)
            tg_buf_printf(&key, "%zu ", run[i]);
        if (tg_strmap_add(&seen, tg_buf_sv(&key)) != known)
            continue; /* these two sides were drawn before */
        ok = judge_split(&x, in, run, &outcome, err);
        out->splits++;
        out->fails += outcome == TG_OUTCOME_FAIL;
        out->warns += outcome == TG_OUTCOME_WARN;
        for (size_t i = 0; i < n; i++) {
            bool with = false;
            for (size_t r = 0; r < 2 * k; r++)
                with |= run[r] == i;
            splits[i] += !with;
            failed[i] += !with && outcome == TG_OUTCOME_FAIL;
        }
    }
    out->rate = out->splits ? (double)out->fails / (double)out->splits : 0;
    out->error = jackknife(failed, splits, n);
    tg_strmap_release(&x.keys);
    return ok;
}

/* ---- operators ---- */

/* Per operator and run ln of the value; NaN where the operator is not judged by time. */
struct op_values {
    tg_sv name;
    enum tg_kind kind;
    double share, *x;
};
struct values {
    struct op_values *v;
    size_t n;
};

static struct op_values *find(const struct values *all, const struct tg_op *op)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->v[i].kind == op->kind && tg_sv_eq(all->v[i].name, op->name))
            return &all->v[i];
    return NULL;
}

/* Run against run: the value of a side of one run is the run's own. */
static bool read_values(struct values *all, const struct tg_noise_input *in, struct tg_arena *a,
                        struct tg_err *err)
{
    size_t n = in->all.n_runs;
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        TG_ARENA *mine = tg_arena_new();
        struct tg_comparison c;
        size_t run[2] = { i, (i + 1) % n };
        struct tg_side side[2];
        two_sides(side, &in->all, run, 1, mine);
        ok = tg_compare(&c, &side[TG_BASE], &side[TG_TEST], in->compare, mine, err);
        if (ok && i == 0)
            all->v = TG_NEW_N(a, struct op_values, c.n_ops + 1);
        for (size_t k = 0; ok && i == 0 && k < c.n_ops; k++) {
            const struct tg_op *op = &c.ops[k];
            if (op->kind == TG_KIND_ANNOTATION) /* shown with the step, never by itself */
                continue;
            struct op_values *o = &all->v[all->n++];
            *o = (struct op_values){ tg_arena_sv(a, op->name), op->kind, op->share[TG_BASE],
                                     TG_NEW_N(a, double, n) };
            for (size_t r = 0; r < n; r++)
                o->x[r] = NAN;
        }
        for (size_t k = 0; ok && k < c.n_ops; k++) {
            struct op_values *o = find(all, &c.ops[k]);
            if (o && (c.ops[k].ev.why_not == TG_JUDGED || c.ops[k].ev.why_not == TG_NOT_FEW_RUNS) &&
                c.ops[k].ev.value[TG_BASE] > 1)
                o->x[i] = log(c.ops[k].ev.value[TG_BASE]);
        }
    }
    return ok;
}

static double deviation(const double *x, size_t n)
{
    double mean = 0, sum = 0;
    for (size_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return n > 1 ? sqrt(sum / (double)(n - 1)) : 0;
}

/* found[op][draw]: ln of the smallest slowdown that the rule finds, at tg_noise_sizes[at]; NaN if
 * the operator was not judged. */
static bool draw_size(double **found, const struct values *all, const struct tg_noise_input *in,
                      size_t at, bool again, struct tg_err *err)
{
    size_t k = tg_noise_sizes[at], run[2 * 16];
    uint64_t state = SEED + at + 1;
    bool ok = true;
    for (size_t d = 0; ok && d < DRAWS; d++) {
        TG_ARENA *a = tg_arena_new();
        struct tg_comparison c;
        struct tg_side side[2];
        pick(&state, run, 2 * k, in->all.n_runs, again);
        two_sides(side, &in->all, run, k, a);
        ok = tg_compare(&c, &side[TG_BASE], &side[TG_TEST], in->compare, a, err);
        for (size_t i = 0; ok && i < c.n_ops; i++) {
            const struct op_values *o = find(all, &c.ops[i]);
            if (o && c.ops[i].ev.why_not == TG_JUDGED)
                found[o - all->v][d] = log(tg_op_slower_from(&c.ops[i], MOST));
        }
    }
    return ok;
}

static int by_share(const void *pa, const void *pb)
{
    const struct tg_op_noise *a = pa, *b = pb;
    int c = TG_CMP(b->share, a->share);
    return c ? c : tg_sv_cmp(a->name, b->name);
}

/* ---- what asking again finds ---- */

/* One draw: the same runs of every operator, each side its half; and what a look sees of one. */
struct played {
    const size_t *run;
    double x[2][TG_CONTRACT_RUNS];
};

/* What a look at `n` runs per side from `at` on sees of an operator that is slower by `more` (ln).
 * Until the next. */
static struct tg_evidence look(const struct op_values *o, struct played *p, size_t at, size_t n,
                               double more)
{
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < n; i++)
            p->x[side][i] = o->x[p->run[(size_t)side * TG_CONTRACT_RUNS + at + i]] + side * more;
    return (struct tg_evidence){ .value = { o->share },
                                 .x = { p->x[TG_BASE], p->x[TG_TEST] },
                                 .n_x = { n, n } };
}

/* Is it red in the end? *runs becomes at least what that took a side. */
static bool is_red(const struct op_values *o, struct played *p, double more, size_t *runs)
{
    static const double step[2] = { 1, 1 };
    struct tg_evidence then, first = look(o, p, 0, TG_ASK_FIRST, more);
    struct tg_shift found;
    enum tg_asked asked =
        tg_confirm_suspects(&first, step, DETECT, &then) ? TG_ASKED_OPEN : TG_ASKED_NOT;
    for (size_t k = 1; k <= TG_ASK_LOOKS && asked == TG_ASKED_OPEN; k++) {
        size_t n = k * TG_ASK_NEW;
        struct tg_evidence again = look(o, p, TG_ASK_FIRST, n, more);
        asked = tg_confirm(&first, &again, DETECT, k == TG_ASK_LOOKS, &found);
        *runs = TG_ASK_FIRST + n > *runs ? TG_ASK_FIRST + n : *runs;
    }
    return asked == TG_ASKED_RED;
}

static struct tg_contract contract_of(const struct values *all, size_t n_runs, struct tg_arena *a)
{
    struct tg_contract out = { .runs = NAN, .again = 2 * TG_CONTRACT_RUNS > n_runs };
    struct op_values *op = TG_NEW_N(a, struct op_values, all->n + 1);
    size_t run[2 * TG_CONTRACT_RUNS], n = 0, taken = 0;
    struct played p = { .run = run };
    uint64_t state = SEED;
    /* Operators that are large enough to be asked, and are in all runs. */
    for (size_t i = 0; i < all->n; i++) {
        bool known = all->v[i].share >= TG_ASK_PART;
        for (size_t r = 0; r < n_runs; r++)
            known = known && isfinite(all->v[i].x[r]);
        if (known)
            op[n++] = all->v[i];
    }
    for (size_t d = 0; n && d < TG_CONTRACT_DRAWS; d++) {
        size_t runs = TG_ASK_FIRST, one = draw(&state, n);
        bool red = false;
        pick(&state, run, 2 * TG_CONTRACT_RUNS, n_runs, out.again);
        for (size_t i = 0; i < n; i++)
            red |= is_red(&op[i], &p, 0, &runs);
        out.red += red ? 1. / TG_CONTRACT_DRAWS : 0;
        taken += runs;
        for (size_t k = 0; k < TG_CONTRACT_SIZES; k++) {
            size_t own = TG_ASK_FIRST;
            out.found[k] += is_red(&op[one], &p, log1p(tg_contract_sizes[k]), &own)
                                ? 1. / TG_CONTRACT_DRAWS
                                : 0;
            out.took[k] += (double)own / TG_CONTRACT_DRAWS;
        }
    }
    if (n)
        out.runs = (double)taken / TG_CONTRACT_DRAWS;
    return out;
}

static bool measure_ops(struct tg_calibration *out, const struct tg_noise_input *in,
                        struct tg_arena *a, struct tg_err *err)
{
    struct values all = { 0 };
    size_t kept = 0;
    if (!read_values(&all, in, a, err))
        return false;
    out->contract = contract_of(&all, in->all.n_runs, a);
    out->ops = TG_NEW_N(a, struct tg_op_noise, all.n + 1);
    double **found = TG_NEW_N(a, double *, all.n + 1);
    for (size_t i = 0; i < all.n; i++) {
        found[i] = TG_NEW_N(a, double, DRAWS);
        out->ops[i] = (struct tg_op_noise){ all.v[i].name,
                                            tg_sv_of(tg_kind_name(all.v[i].kind)),
                                            all.v[i].share,
                                            deviation(all.v[i].x, in->all.n_runs),
                                            { 0 } };
    }
    for (size_t at = 0; at < TG_NOISE_SIZES; at++) {
        out->again[at] = 2 * tg_noise_sizes[at] > in->all.n_runs;
        for (size_t i = 0; i < all.n; i++)
            for (size_t d = 0; d < DRAWS; d++)
                found[i][d] = NAN;
        if (!draw_size(found, &all, in, at, out->again[at], err))
            return false;
        for (size_t i = 0; i < all.n; i++) {
            /* Of the draws that are judged: a busy run makes a draw tell nothing. Half of them
             * must be. */
            double v[DRAWS];
            size_t n = 0;
            for (size_t d = 0; d < DRAWS; d++)
                if (isfinite(found[i][d]))
                    v[n++] = found[i][d];
            out->ops[i].mde[at] = 2 * n >= DRAWS ? expm1(MARGIN * tg_quantile(v, n, FOUND)) : NAN;
        }
    }
    for (size_t i = 0; i < all.n; i++)
        if (isfinite(out->ops[i].sigma))
            out->ops[kept++] = out->ops[i];
    out->n_ops = kept;
    if (kept)
        TG_SORT(out->ops, kept, by_share);
    return true;
}

bool tg_noise_metric(struct tg_calibration *out, const struct tg_noise_input *in,
                     struct tg_arena *a, struct tg_err *err)
{
    *out = (struct tg_calibration){ .n_runs = in->all.n_runs,
                                    .side = in->side,
                                    .disjoint = in->all.n_runs / (2 * in->side),
                                    .tau = tg_threshold_of(in->side, in->side).tau };
    return count_alarms(out, in, a, err) && measure_ops(out, in, a, err);
}
