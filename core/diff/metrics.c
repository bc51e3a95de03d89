/* Whole-trace metrics and the environment of both sides. */
#include "core/metric/metric.h"

#include <math.h>

#include "core/diff/internal.h"
#include "core/diff/stats.h"

/* ---- metrics ---- */

static bool is_time(enum tg_metric m)
{
    return tg_metric_info(m)->unit_id == TG_METRIC_NS;
}

/* Times of which more is worse: their evidence has the numbers that are shown, by several statistics. */
static bool has_statistics(enum tg_metric m)
{
    return is_time(m) && tg_metric_info(m)->worse > 0;
}

/* How long a step is: wall clock, and the device's part of it. */
static bool is_step(enum tg_metric m)
{
    return m == TG_METRIC_STEP_TIME || m == TG_METRIC_DEVICE_EXTENT;
}

/*
 * One metric of one shard over its used steps. MEAN: of the steps' values. RATIO: of the sums, so
 * that long steps weigh as long as they are.
 */
struct shard_value {
    double mean;
    double of_run; /* evidence. Times: the middle step, of the step time the shortest, which
                      preemption touches least. Else the mean, as it is shown */
    double statistic[TG_STEP_STATISTICS]; /* of times */
};

/* Of one shard: false if no step has it. */
static bool shard_value(const struct tg_diff_work *w, enum tg_metric m,
                        const struct tg_side_shards *of, size_t run, size_t rank,
                        struct shard_value *out)
{
    const struct tg_metric_info *info = tg_metric_info(m);
    const struct tg_shard *s = of->shard[run * of->n_ranks + rank];
    const struct tg_used *used = &of->used[run * of->n_ranks + rank];
    double scale = info->unit_id == TG_METRIC_PERCENT ? 100 : 1, num = 0, den = 0;
    double *each = TG_NEW_N(w->a, double, used->n + 1);
    size_t n = 0;

    *out = (struct shard_value){ 0 };
    for (size_t j = 0; s->metrics && j < used->n; j++) {
        const struct tg_metric_value *v = &s->metrics[m * s->n_steps + used->step[j]];
        double one = v->den ? (double)v->num / (double)v->den : 0;
        if (!v->known)
            continue;
        each[n++] = scale * one;
        num += info->how == TG_METRIC_RATIO ? (double)v->num : one;
        den += info->how == TG_METRIC_RATIO ? (double)v->den : 1;
    }
    out->mean = den > 0 ? scale * num / den : 0;
    if (n && is_time(m)) {
        tg_step_statistics_add(out->statistic, each, n);
        out->of_run = is_step(m) ? out->statistic[TG_LEAST] : tg_median(each, n);
    }
    if (!has_statistics(m))
        out->of_run = out->mean;
    return n > 0;
}

bool tg_metric_of_rank(const struct tg_diff_work *w, enum tg_metric m, int side, size_t rank,
                       double *value)
{
    double *of_run = TG_NEW_N(w->a, double, w->c->n_runs[side]);
    struct shard_value one;
    bool known = true;
    for (size_t run = 0; run < w->c->n_runs[side]; run++) {
        known = shard_value(w, m, &w->measured[side], run, rank, &one) && known;
        of_run[run] = one.mean;
    }
    *value = tg_median(of_run, w->c->n_runs[side]);
    return known;
}

/* Run values for the mean over ranks, and for the worst rank: what the rule is asked, and statistics. */
struct run_values {
    double *mean[2], *worst[2]; /* [side][run] */
    struct tg_run_values of_mean, of_worst;
};

static void add_rank(struct run_values *y, int side, size_t run, const struct shard_value *v,
                     int sign, bool first)
{
    if (first || sign * v->of_run > sign * y->worst[side][run])
        y->worst[side][run] = v->of_run;
    y->mean[side][run] += v->of_run;
    for (enum tg_step_statistic r = 0; r < TG_STEP_STATISTICS; r++) {
        double *worst = &y->of_worst.y[r][side][run];
        if (first || sign * v->statistic[r] > sign * *worst)
            *worst = v->statistic[r];
        y->of_mean.y[r][side][run] += v->statistic[r];
    }
}

/* Medians over runs of the mean over ranks and of the worst rank; `y` receives evidence values. */
static void side_value(struct tg_diff_work *w, struct tg_metric_change *out, int side,
                       struct run_values *y)
{
    const struct tg_side_shards *m = &w->measured[side];
    size_t n_runs = w->c->n_runs[side];
    double *mean = TG_NEW_N(w->a, double, n_runs), *worst = TG_NEW_N(w->a, double, n_runs);
    int sign = tg_metric_info(out->id)->worse;

    out->known[side] = n_runs > 0;
    for (size_t run = 0; run < n_runs; run++) {
        size_t n = 0;
        for (size_t rank = 0; rank < m->n_ranks; rank++) {
            struct shard_value v;
            if (!shard_value(w, out->id, m, run, rank, &v))
                continue;
            if (n == 0 || sign * v.mean > sign * worst[run])
                worst[run] = v.mean;
            mean[run] += v.mean;
            add_rank(y, side, run, &v, sign, n++ == 0);
        }
        out->known[side] &= n > 0;
        mean[run] = n ? mean[run] / (double)n : 0;
        y->mean[side][run] = n ? y->mean[side][run] / (double)n : 0;
        for (enum tg_step_statistic r = 0; n && r < TG_STEP_STATISTICS; r++)
            y->of_mean.y[r][side][run] /= (double)n;
    }
    out->value[side] = tg_median(mean, n_runs); /* and sorts */
    out->least[side] = n_runs ? mean[0] : 0;
    out->most[side] = n_runs ? mean[n_runs - 1] : 0;
    out->slowest[side] = tg_median(worst, n_runs);
}

/*
 * The noise rule asks whether logarithms of values of at least 1 rose: counts, percentages and GB/s
 * are scaled, so that they count from 0.01, and where less is worse the reciprocal is asked.
 */
static void prepare(enum tg_metric m, double *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_time(m))
            y[i] = 100 * fmax(y[i], 0.01);
        if (tg_metric_info(m)->worse < 0)
            y[i] = 1e12 / fmax(y[i], 1);
    }
}

/* The numbers that are shown in place of those that the rule was asked about. */
static void show(struct tg_evidence *ev, const double value[2])
{
    ev->value[TG_BASE] = value[TG_BASE];
    ev->value[TG_TEST] = value[TG_TEST];
    ev->delta_ns = value[TG_TEST] - value[TG_BASE];
}

/* Evidence of run values; `value` are the two numbers that are shown. */
static void judge_runs(struct tg_diff_work *w, enum tg_metric m, struct tg_evidence *ev,
                       double *const y[2], const double value[2])
{
    for (int side = 0; side < 2; side++)
        prepare(m, y[side], w->c->n_runs[side]);
    tg_evidence_of_values(w, ev, y, is_time(m) ? TG_VALUES_NS : TG_VALUES_PLAIN);
    if (!has_statistics(m))
        show(ev, value);
}

/* The worst rank's step time is known of ranks that are left out as well. */
static void worst_step(struct tg_diff_work *w, struct tg_metric_change *out, int side,
                       struct run_values *y)
{
    const struct tg_side_shards *given = &w->given[side];
    size_t n_runs = w->c->n_runs[side];
    double *worst = TG_NEW_N(w->a, double, n_runs + 1);

    for (size_t run = 0; run < n_runs; run++)
        for (size_t rank = 0; rank < given->n_ranks; rank++) {
            struct shard_value v;
            if (!shard_value(w, out->id, given, run, rank, &v))
                continue;
            worst[run] = fmax(worst[run], v.mean);
            y->worst[side][run] = fmax(y->worst[side][run], v.of_run);
            for (enum tg_step_statistic r = 0; r < TG_STEP_STATISTICS; r++)
                y->of_worst.y[r][side][run] = fmax(y->of_worst.y[r][side][run], v.statistic[r]);
        }
    out->slowest[side] = tg_median(worst, n_runs);
}

/* The halves of a device's steps say little: there are few, and they are whole. */
static void drop_halves(struct tg_run_values *v)
{
    for (int side = 0; side < 2; side++)
        v->y[TG_LEAST_FIRST][side] = v->y[TG_LEAST_LAST][side] = NULL;
}

/* Is the step's time the sum of its parts, which are known of all ranks? */
static bool sums_up(const struct tg_comparison *c, enum tg_metric id)
{
    return id == TG_METRIC_STEP_TIME && c->step.name.n && c->step.ev_total.judged != TG_NOT_WAIT &&
           !c->n_unnamed;
}

static void judge_step(struct tg_diff_work *w, struct tg_metric_change *m, struct run_values *y)
{
    drop_halves(&y->of_mean);
    drop_halves(&y->of_worst);
    tg_evidence_of_times(w, &m->ev_slowest, &y->of_worst);
    if (sums_up(w->c, m->id))
        m->ev = w->c->step.ev_total; /* a better value than the shortest step */
    else
        tg_evidence_of_times(w, &m->ev, &y->of_mean);
}

static void compare_metric(struct tg_diff_work *w, enum tg_metric id)
{
    struct tg_comparison *c = w->c;
    struct tg_metric_change *m = &c->metrics[id];
    struct run_values y = { .of_mean = tg_run_values_new(w), .of_worst = tg_run_values_new(w) };

    m->id = id;
    for (int side = 0; side < 2; side++) {
        y.mean[side] = TG_NEW_N(w->a, double, c->n_runs[side]);
        y.worst[side] = TG_NEW_N(w->a, double, c->n_runs[side]);
        side_value(w, m, side, &y);
        if (is_step(id) && c->n_steps_only)
            worst_step(w, m, side, &y);
    }
    m->ev.judged = m->ev_slowest.judged = TG_NOT_ONE_SIDED;
    m->mean.judged = m->mean_slowest.judged = TG_NOT_ONE_SIDED;
    if (w->o->no_evidence || !m->known[TG_BASE] || !m->known[TG_TEST])
        return;
    if (is_step(id)) {
        judge_step(w, m, &y);
    } else {
        judge_runs(w, id, &m->ev_slowest, y.worst, m->slowest);
        judge_runs(w, id, &m->ev, y.mean, m->value);
    }
    if (!has_statistics(id))
        return;
    tg_evidence_of_mean_times(w, &m->mean_slowest, &y.of_worst);
    tg_evidence_of_mean_times(w, &m->mean, &y.of_mean);
    if (sums_up(c, id))
        m->mean = c->step_mean;
}

/* ---- ranks ---- */

/* A rank's step: the device's part of it, which waits for other ranks less than the host; else all. */
static bool rank_step(const struct tg_diff_work *w, const struct tg_side_shards *of, size_t run,
                      size_t rank, struct shard_value *out)
{
    return shard_value(w, TG_METRIC_DEVICE_EXTENT, of, run, rank, out) ||
           shard_value(w, TG_METRIC_STEP_TIME, of, run, rank, out);
}

/* Step times of a run's ranks, ascending; returns how many are known. */
static size_t rank_times(const struct tg_diff_work *w, int side, size_t run, double *mean)
{
    const struct tg_side_shards *given = &w->given[side];
    size_t n = 0;

    for (size_t rank = 0; rank < given->n_ranks; rank++) {
        struct shard_value v;
        if (rank_step(w, given, run, rank, &v))
            mean[n++] = v.mean;
    }
    tg_ascend(mean, n);
    return n;
}

static double skew_of(double *ascending, size_t n)
{
    double middle = tg_median(ascending, n);
    return middle > 0 ? 100 * (ascending[n - 1] / middle - 1) : 0;
}

/* Percentages of the runs, [side][run]: their medians, and evidence if all runs of both sides have one. */
static void judge_percent(struct tg_diff_work *w, struct tg_evidence *ev, double *const percent[2],
                          const bool known[2], double value[2])
{
    double *y[2];

    for (int side = 0; side < 2; side++) {
        size_t n = w->c->n_runs[side];
        y[side] = TG_NEW_N(w->a, double, n);
        for (size_t run = 0; run < n; run++)
            y[side][run] = 100 * fmax(percent[side][run], 0.01);
        value[side] = tg_median(percent[side], n);
    }
    ev->judged = TG_NOT_ONE_SIDED;
    if (w->o->no_evidence || !known[TG_BASE] || !known[TG_TEST])
        return;
    tg_evidence_of_values(w, ev, y, TG_VALUES_PLAIN);
    show(ev, value);
}

/*
 * Slowest rank's step against the median rank's (%), and minus the fastest rank's (ns). The mean
 * steps are compared, as they are shown.
 */
static void compare_ranks(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;
    double *skew[2], *spread[2];

    for (int side = 0; side < 2; side++) {
        size_t n_runs = c->n_runs[side];
        double *room = TG_NEW_N(w->a, double, n_runs);
        double *mean = TG_NEW_N(w->a, double, w->given[side].n_ranks + 1);
        skew[side] = TG_NEW_N(w->a, double, n_runs);
        spread[side] = TG_NEW_N(w->a, double, n_runs);
        c->ranks_known[side] = n_runs > 0;
        for (size_t run = 0; run < n_runs; run++) {
            size_t n = rank_times(w, side, run, mean);
            c->ranks_known[side] &= n > 1;
            if (n < 2)
                continue;
            skew[side][run] = skew_of(mean, n);
            spread[side][run] = room[run] = mean[n - 1] - mean[0];
        }
        c->rank_spread[side] = tg_median(room, n_runs);
    }
    judge_percent(w, &c->skew_ev, skew, c->ranks_known, c->skew);
    c->rank_spread_ev.judged = TG_NOT_ONE_SIDED;
    if (!w->o->no_evidence && c->ranks_known[TG_BASE] && c->ranks_known[TG_TEST])
        tg_evidence_of_values(w, &c->rank_spread_ev, spread, TG_VALUES_NS);
}

/* Waiting in collectives. */
static void compare_collectives(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;
    double *skew[2];

    for (int side = 0; side < 2; side++) {
        skew[side] = TG_NEW_N(w->a, double, c->n_runs[side]);
        c->collectives_known[side] = c->n_runs[side] > 0;
        for (size_t run = 0; run < c->n_runs[side]; run++)
            c->collectives_known[side] &= tg_collective_skew(w, side, run, &skew[side][run]);
    }
    judge_percent(w, &c->collective_skew_ev, skew, c->collectives_known, c->collective_skew);
}

/* The rank of the fresh side whose steps take longest, of those that are compared. */
static void find_slowest(struct tg_diff_work *w)
{
    const struct tg_side_shards *m = &w->measured[TG_TEST];
    struct tg_comparison *c = w->c;
    double longest = -1;

    c->slowest_rank = -1;
    for (size_t rank = 0; rank < m->n_ranks; rank++) {
        double *v = TG_NEW_N(w->a, double, c->n_runs[TG_TEST] + 1), middle;
        for (size_t run = 0; run < c->n_runs[TG_TEST]; run++) {
            struct shard_value x;
            (void)rank_step(w, m, run, rank, &x);
            v[run] = x.mean;
        }
        middle = tg_median(v, c->n_runs[TG_TEST]);
        if (middle > longest) {
            longest = middle;
            c->slowest_rank = m->ranks[rank];
        }
    }
}

void tg_compare_metrics(struct tg_diff_work *w)
{
    for (int i = 0; i < TG_METRICS; i++)
        compare_metric(w, (enum tg_metric)i);
    compare_ranks(w);
    compare_collectives(w);
    find_slowest(w);
}

/* ---- environment ---- */

/* The side's value of a key; several ones joined in order of appearance; "" unknown. */
static tg_sv env_of(const struct tg_diff_work *w, int side, tg_sv key)
{
    const struct tg_side_shards *m = &w->measured[side];
    TG_BUF b = { 0 };
    TG_AUTO(tg_strmap_release) struct tg_strmap seen;

    tg_strmap_init(&seen);
    for (size_t at = 0; at < w->c->n_runs[side] * m->n_ranks; at++)
        for (size_t i = 0; i < m->shard[at]->n_env; i++) {
            const struct tg_kv *kv = &m->shard[at]->env[i];
            size_t known = seen.n;
            if (!tg_sv_eq(kv->key, key) || kv->value.n == 0 ||
                tg_strmap_add(&seen, kv->value) < known)
                continue;
            if (b.n)
                tg_buf_puts(&b, ", ");
            tg_buf_add(&b, kv->value);
        }
    return tg_arena_sv(w->a, tg_buf_sv(&b));
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
static bool same_env(const struct tg_diff_work *w, tg_sv key)
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

/* Of these keys, those that differ: "device, cuda_major". */
static tg_sv what_differs(const struct tg_diff_work *w, const tg_sv *key, size_t n)
{
    TG_BUF b = { 0 };

    for (size_t i = 0; i < n; i++)
        if (!same_env(w, key[i]))
            tg_buf_printf(&b, "%s%.*s", b.n ? ", " : "", TG_SV_ARG(key[i]));
    return tg_arena_sv(w->a, tg_buf_sv(&b));
}

static int by_key(const void *pa, const void *pb)
{
    const struct tg_env_change *a = pa, *b = pb;
    return tg_sv_cmp(a->key, b->key);
}

/* Where a rank ran is not what it ran on: another job has other nodes. */
static bool is_place(tg_sv key)
{
    return tg_sv_eq(key, TG_SV("node")) || tg_sv_eq(key, TG_SV("local_rank"));
}

/* Of one rank alone nobody knows for whom it waits, unless the trace says that there is no other. */
static bool has_all_ranks(const struct tg_diff_work *w)
{
    for (int side = 0; side < 2; side++) {
        tg_sv world = env_of(w, side, TG_SV("world_size"));
        int64_t n = (int64_t)w->c->n_ranks[side], ranks = n > 1 ? n : INT64_MAX;
        if ((world.n && !tg_sv_i64(world, &ranks)) || ranks > n)
            return false;
    }
    return true;
}

void tg_compare_env(struct tg_diff_work *w)
{
    static const tg_sv device = { "device", 6 };
    const tg_sv *need = w->o->require_same ? w->o->require_same : &device;
    size_t n_need = w->o->require_same ? w->o->n_require_same : 1;
    struct tg_comparison *c = w->c;
    const char *const *flags;
    TG_AUTO(tg_strmap_release) struct tg_strmap keys;

    tg_strmap_init(&keys);
    for (int side = 0; side < 2; side++)
        for (size_t at = 0; at < c->n_runs[side] * w->measured[side].n_ranks; at++)
            for (size_t i = 0; i < w->measured[side].shard[at]->n_env; i++)
                tg_strmap_add(&keys, w->measured[side].shard[at]->env[i].key);
    c->env = TG_NEW_N(w->a, struct tg_env_change, keys.n + 1);
    for (size_t i = 0; i < keys.n; i++) {
        if (is_place(keys.text[i]))
            continue;
        struct tg_env_change e = { .key = tg_arena_sv(w->a, keys.text[i]) };
        e.value[TG_BASE] = env_of(w, TG_BASE, e.key);
        e.value[TG_TEST] = env_of(w, TG_TEST, e.key);
        if (!tg_sv_eq(e.value[TG_BASE], e.value[TG_TEST]))
            c->env[c->n_env++] = e;
    }
    TG_SORT(c->env, c->n_env, by_key);
    c->differs = what_differs(w, need, n_need);
    c->same_device = c->differs.n == 0;
    c->only_device_differs = tg_sv_eq(c->differs, device);
    c->all_ranks = has_all_ranks(w);
    c->same_flags = true;
    for (size_t i = 0, n = tg_profiler_flags(&flags); i < n; i++)
        c->same_flags &= same_env(w, tg_sv_of(flags[i]));
}
