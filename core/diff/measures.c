/* Whole-trace measures and the environment of both sides. */
#include "core/metric/measure.h"

#include <math.h>
#include <stdlib.h>

#include "core/diff/stats.h"
#include "core/diff/work.h"

/* ---- measures -------------------------------------------------------------------------------- */

static bool is_ratio(enum tg_measure m)
{
    return strcmp(tg_measure_info(m)->unit, "%") == 0;
}

static bool is_time(enum tg_measure m)
{
    return strcmp(tg_measure_info(m)->unit, "ns") == 0;
}

static double one_value(const struct tg_measure_value *v, double scale)
{
    return v->den ? scale * (double)v->num / (double)v->den : 0;
}

/*
 * A measure of one shard over its used steps. Plain numbers: the mean. Percentages: the ratio of
 * the sums, so that long steps weigh as long as they are.
 */
static bool shard_value(const struct tg_work *w, enum tg_measure m, size_t at, double *mean,
                        double *of_run)
{
    const struct tg_shard *s = w->shard[at];
    double scale = is_ratio(m) ? 100 : 1, num = 0, den = 0;
    double *each = TG_NEW_N(w->a, double, w->used[at].n + 1);
    size_t n = 0;

    for (size_t j = 0; s->measures && j < w->used[at].n; j++) {
        const struct tg_measure_value *v = &s->measures[m * s->n_steps + w->used[at].step[j]];
        if (!v->known)
            continue;
        each[n++] = one_value(v, scale);
        num += is_ratio(m) ? (double)v->num : one_value(v, 1);
        den += is_ratio(m) ? (double)v->den : 1;
    }
    *mean = den > 0 ? scale * num / den : 0;
    /* Evidence: the middle step; of the step time the shortest, which preemption touches least. */
    *of_run = tg_median(each, n);
    if (m == TG_MEASURE_STEP_TIME && n)
        *of_run = each[0]; /* sorted by tg_median */
    return n > 0;
}

/* One side: medians over runs of the mean over ranks and of the worst rank. */
static void side_value(struct tg_work *w, struct tg_measure_change *out, int side, double *of_run)
{
    size_t n_runs = w->c->n_runs[side], n_ranks = w->c->n_ranks[side];
    double *mean = TG_NEW_N(w->a, double, n_runs), *worst = TG_NEW_N(w->a, double, n_runs);
    int sign = tg_measure_info(out->id)->worse;

    out->known[side] = n_runs > 0;
    for (size_t run = 0; run < n_runs; run++) {
        size_t n = 0;
        for (size_t rank = 0; rank < n_ranks; rank++) {
            double v, y;
            if (!shard_value(w, out->id, tg_work_cell(w, side, run, rank), &v, &y))
                continue;
            if (n == 0 || (sign < 0 ? v < worst[run] : v > worst[run]))
                worst[run] = v;
            mean[run] += v;
            of_run[run] += y;
            n++;
        }
        out->known[side] &= n > 0;
        mean[run] = n ? mean[run] / (double)n : 0;
        of_run[run] = n ? of_run[run] / (double)n : 0;
    }
    out->value[side] = tg_median(mean, n_runs);
    out->slowest[side] = tg_median(worst, n_runs);
}

/* Slowest rank's step against the median rank's, in %: the median over runs. */
static double skew_of(const struct tg_work *w, int side)
{
    size_t n_runs = w->c->n_runs[side], n_ranks = w->c->n_ranks[side];
    double *v = TG_NEW_N(w->a, double, n_runs), *rank_ns = TG_NEW_N(w->a, double, n_ranks + 1);

    for (size_t run = 0; run < n_runs; run++) {
        double unused;
        for (size_t rank = 0; rank < n_ranks; rank++)
            shard_value(w, TG_MEASURE_STEP_TIME, tg_work_cell(w, side, run, rank), &rank_ns[rank],
                        &unused);
        double middle = tg_median(rank_ns, n_ranks);
        v[run] = middle > 0 ? 100 * (rank_ns[n_ranks - 1] / middle - 1) : 0;
    }
    return tg_median(v, n_runs);
}

/* The rule asks whether values rose. Where less is worse, the reciprocal does; percentages count
 * from 0.01, so that nothing exposed on one side has a logarithm. */
static void prepare(enum tg_measure m, double *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (is_ratio(m))
            y[i] = 100 * fmax(y[i], 0.01);
        if (tg_measure_info(m)->worse < 0)
            y[i] = 1e12 / fmax(y[i], 1);
    }
}

void tg_compare_measures(struct tg_work *w)
{
    struct tg_comparison *c = w->c;

    for (int i = 0; i < TG_MEASURES; i++) {
        struct tg_measure_change *m = &c->measures[i];
        double *y[2];
        m->id = (enum tg_measure)i;
        for (int side = 0; side < 2; side++) {
            y[side] = TG_NEW_N(w->a, double, c->n_runs[side]);
            side_value(w, m, side, y[side]);
            prepare(m->id, y[side], c->n_runs[side]);
        }
        m->ev.judged = TG_NOT_ONE_SIDED;
        if (w->o->no_evidence || !m->known[TG_BASE] || !m->known[TG_TEST])
            continue;
        if (m->id == TG_MEASURE_STEP_TIME && c->step.name.n &&
            c->step.ev_total.judged != TG_NOT_WAIT) {
            m->ev =
                c->step.ev_total; /* the host's step has a better value than its shortest step */
            continue;
        }
        tg_judge_values(w, &m->ev, y, is_time(m->id));
        if (is_ratio(m->id) || tg_measure_info(m->id)->worse < 0) {
            m->ev.value[TG_BASE] = m->value[TG_BASE]; /* undo what `prepare` did */
            m->ev.value[TG_TEST] = m->value[TG_TEST];
            m->ev.delta_ns = m->value[TG_TEST] - m->value[TG_BASE];
        }
    }
    c->skew[TG_BASE] = skew_of(w, TG_BASE);
    c->skew[TG_TEST] = skew_of(w, TG_TEST);
}

/* ---- environment ----------------------------------------------------------------------------- */

/* The side's value of a key; several ones joined in order of appearance; "" unknown. */
static tg_sv env_of(const struct tg_work *w, int side, tg_sv key)
{
    struct tg_buf b = { 0 };
    struct tg_strmap seen;
    tg_sv out;

    tg_strmap_init(&seen);
    for (size_t at = w->first[side]; at < (side ? w->n_cells : w->first[TG_TEST]); at++)
        for (size_t i = 0; i < w->shard[at]->n_env; i++) {
            const struct tg_kv *kv = &w->shard[at]->env[i];
            size_t known = seen.n;
            if (!tg_sv_eq(kv->key, key) || kv->value.n == 0 ||
                tg_strmap_add(&seen, kv->value) < known)
                continue;
            if (b.n)
                tg_buf_puts(&b, ", ");
            tg_buf_add(&b, kv->value);
        }
    out = tg_arena_sv(w->a, tg_buf_sv(&b));
    tg_buf_release(&b);
    tg_strmap_release(&seen);
    return out;
}

/* The first `parts` dot-separated numbers of a version. */
static tg_sv version_prefix(tg_sv v, int parts)
{
    for (size_t i = 0; i < v.n; i++)
        if (v.p[i] == '.' && --parts == 0)
            return (tg_sv){ v.p, i };
    return v;
}

/* False only when both are known and differ. `cuda_major` and `torch_minor` look at the start of
 * `cuda` and `torch`. */
static bool same_env(const struct tg_work *w, tg_sv key)
{
    tg_sv name = key, v[2];
    int parts = 0;

    if (tg_sv_eq(key, TG_SV("cuda_major"))) {
        name = TG_SV("cuda");
        parts = 1;
    } else if (tg_sv_eq(key, TG_SV("torch_minor"))) {
        name = TG_SV("torch");
        parts = 2;
    }
    for (int side = 0; side < 2; side++) {
        v[side] = env_of(w, side, name);
        if (parts)
            v[side] = version_prefix(v[side], parts);
    }
    return v[0].n == 0 || v[1].n == 0 || tg_sv_eq(v[0], v[1]);
}

static int by_key(const void *pa, const void *pb)
{
    const struct tg_env_change *a = pa, *b = pb;
    return tg_sv_cmp(a->key, b->key);
}

void tg_compare_env(struct tg_work *w)
{
    static const char *const flags[] = { "with_stack", "record_shapes", "profile_memory",
                                         "with_flops", "with_modules" };
    static const tg_sv device = { "device", 6 };
    const tg_sv *need = w->o->require_same ? w->o->require_same : &device;
    size_t n_need = w->o->require_same ? w->o->n_require_same : 1;
    struct tg_comparison *c = w->c;
    struct tg_strmap keys;

    tg_strmap_init(&keys);
    for (size_t at = 0; at < w->n_cells; at++)
        for (size_t i = 0; i < w->shard[at]->n_env; i++)
            tg_strmap_add(&keys, w->shard[at]->env[i].key);
    c->env = TG_NEW_N(w->a, struct tg_env_change, keys.n + 1);
    for (size_t i = 0; i < keys.n; i++) {
        struct tg_env_change e = { .key = tg_arena_sv(w->a, keys.text[i]) };
        e.value[TG_BASE] = env_of(w, TG_BASE, e.key);
        e.value[TG_TEST] = env_of(w, TG_TEST, e.key);
        if (!tg_sv_eq(e.value[TG_BASE], e.value[TG_TEST]))
            c->env[c->n_env++] = e;
    }
    if (c->n_env)
        qsort(c->env, c->n_env, sizeof *c->env, by_key);
    tg_strmap_release(&keys);
    c->same_device = c->same_flags = true;
    for (size_t i = 0; i < n_need; i++)
        c->same_device &= same_env(w, need[i]);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        c->same_flags &= same_env(w, tg_sv_of(flags[i]));
}
