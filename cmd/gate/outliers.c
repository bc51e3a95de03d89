#include "cmd/gate/outliers.h"

#include <math.h>

#include "core/base/sort.h"

#define LEAST_MORE 1.1   /* a run's usual step: at least a tenth longer, and */
#define DEVIATIONS 4     /* so many robust standard deviations */
#define SLOW_STEP 2.0    /* times the run's usual one */
#define LARGE 0.01       /* of the step */
#define OF_NORMAL 1.4826 /* median absolute deviation to standard deviation */

const char *tg_outlier_name(enum tg_outlier_why w)
{
    static const char *const name[] = { [TG_OUTLIER_BUSY] = "busy",
                                        [TG_OUTLIER_ALONE] = "alone",
                                        [TG_OUTLIER_STEP] = "step",
                                        [TG_OUTLIER_COLD] = "cold" };
    return name[w];
}

struct job {
    const struct tg_side *side;
    struct tg_arena *a;
    struct tg_outlier *v;
    size_t n, cap;
    /* of the rank at work */
    size_t rank;
    struct tg_strmap ops; /* kind and name */
    double *self;         /* per operator and run: ns per step; NaN: not in the run */
};

static const struct tg_shard *shard_of(const struct job *j, size_t run)
{
    return j->side->at[run][j->rank];
}

/* The lower median of what is known; NaN: nothing is. */
static double median_of(const double *v, size_t n, struct tg_arena *a)
{
    double *known = TG_NEW_N(a, double, n + 1);
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(v[i]))
            known[k++] = v[i];
    if (!k)
        return NAN;
    TG_SORT(known, k, tg_by_real);
    return known[(k - 1) / 2];
}

static double step_time(const struct tg_shard *s, size_t k)
{
    const struct tg_metric_value *m = &s->metrics[TG_METRIC_STEP_TIME * s->n_steps + k];
    return m->known && m->den > 0 ? (double)m->num / (double)m->den : NAN;
}

/* ---- operators ---- */

static bool is_work(enum tg_kind kind)
{
    return kind == TG_KIND_OP || tg_kind_is_device(kind);
}

static uint32_t op_of(struct job *j, const struct tg_row_key *key)
{
    TG_BUF text = { 0 };
    tg_buf_putc(&text, (char)key->kind);
    tg_buf_add(&text, key->name);
    return tg_strmap_add(&j->ops, tg_buf_sv(&text));
}

static void sum_operators(struct job *j)
{
    size_t runs = j->side->n_runs;
    for (size_t r = 0; r < runs; r++)
        for (size_t i = 0; i < shard_of(j, r)->n_rows; i++)
            if (is_work(shard_of(j, r)->rows[i].key->kind))
                (void)op_of(j, shard_of(j, r)->rows[i].key);
    j->self = TG_NEW_N(j->a, double, j->ops.n *runs + 1);
    for (size_t i = 0; i < j->ops.n * runs; i++)
        j->self[i] = NAN;
    for (size_t r = 0; r < runs; r++) {
        const struct tg_shard *s = shard_of(j, r);
        for (size_t i = 0; i < s->n_rows; i++) {
            double *to, sum = 0;
            if (!is_work(s->rows[i].key->kind))
                continue;
            to = &j->self[op_of(j, s->rows[i].key) * runs + r];
            for (size_t k = 0; k < s->n_steps; k++)
                sum += (double)s->rows[i].self[k];
            *to = (isnan(*to) ? 0 : *to) + sum / (double)s->n_steps;
        }
    }
}

/* ---- runs ---- */

static void look_at_rank(struct job *j)
{
    size_t runs = j->side->n_runs;
    double *off = TG_NEW_N(j->a, double, runs + 1);
    double *level = TG_NEW_N(j->a, double, runs + 1); /* NaN: not known */
    for (size_t r = 0; r < runs; r++) {
        const struct tg_shard *s = shard_of(j, r);
        double *v = TG_NEW_N(j->a, double, s->n_steps + 1);
        bool known = s->marked && s->metrics;
        for (size_t k = 0; known && k < s->n_steps; k++)
            v[k] = step_time(s, k);
        level[r] = known ? median_of(v, s->n_steps, j->a) : NAN;
    }
    double median = median_of(level, runs, j->a);
    for (size_t r = 0; r < runs; r++)
        off[r] = fabs(level[r] - median);
    double deviation = OF_NORMAL * median_of(off, runs, j->a);
    tg_strmap_init(&j->ops);
    j->self = NULL;
    for (size_t r = 0; r < j->side->n_runs; r++) {
        struct tg_outlier o = { .shard = shard_of(j, r), .times = level[r] / median };
        if (isnan(level[r]) || median <= 0)
            continue;
        if (o.times >= LEAST_MORE && level[r] - median > DEVIATIONS * deviation) {
            /* Why the run's usual step is longer. */
            double most = 0;
            if (!j->self)
                sum_operators(j);
            for (uint32_t id = 0; id < j->ops.n; id++) {
                const double *v = &j->self[id * j->side->n_runs];
                double usual = median_of(v, j->side->n_runs, j->a);
                if (isnan(v[r]) || usual < LARGE * median)
                    continue;
                o.large++;
                o.slower += v[r] >= LEAST_MORE * usual;
                if (v[r] - usual > most) {
                    most = v[r] - usual;
                    o.op = tg_arena_sv(j->a, tg_sv_from(j->ops.text[id], 1));
                }
            }
            o.why = 2 * o.slower > o.large ? TG_OUTLIER_BUSY : TG_OUTLIER_ALONE;
            if (o.why == TG_OUTLIER_BUSY)
                o.op = TG_SV("");
            *TG_ARENA_PUSH(j->a, j->v, j->n, j->cap) = o;
        }
        const struct tg_shard *s = shard_of(j, r);
        size_t worst = 0;
        for (size_t k = 1; k < s->n_steps; k++)
            if (step_time(s, k) > step_time(s, worst))
                worst = k;
        if (s->n_steps >= 3 && step_time(s, worst) >= SLOW_STEP * level[r])
            *TG_ARENA_PUSH(j->a, j->v, j->n, j->cap) =
                (struct tg_outlier){ .shard = s,
                                     .why = worst ? TG_OUTLIER_STEP : TG_OUTLIER_COLD,
                                     .times = step_time(s, worst) / level[r],
                                     .step = s->steps[worst].number };
    }
    tg_strmap_release(&j->ops);
}

const struct tg_outlier *tg_outliers_find(const struct tg_side *side, size_t *n, struct tg_arena *a)
{
    struct job j = { .side = side, .a = a };
    for (j.rank = 0; j.rank < side->n_ranks; j.rank++)
        look_at_rank(&j);
    *n = j.n;
    return j.v;
}
