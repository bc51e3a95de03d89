/* Whole-trace metrics and the environment of both sides. */
#include "core/metric/metric.h"

#include <stdlib.h>

#include "core/diff/internal.h"

/* ---- metrics ---- */

/* Their evidence has the numbers that are shown, by several statistics; more is worse. */
static bool is_time(enum tg_metric m)
{
    return tg_metric_info(m)->unit == TG_UNIT_NS;
}

/* Whose speed such a time depends on: that of the step on what sets its pace. */
static enum tg_clock clock_of(const struct tg_comparison *c, enum tg_metric m)
{
    const struct tg_metric_change *busy = &c->metrics[TG_METRIC_GPU_BUSY];
    switch (m) {
    case TG_METRIC_DEVICE_EXTENT:
    case TG_METRIC_GPU_BUSY:
    case TG_METRIC_COMPUTE_TIME:
    case TG_METRIC_COMM_TIME:
    case TG_METRIC_MEMORY_TIME:
    case TG_METRIC_COMM_EXPOSED:
        return TG_DEVICE_TIMES;
    case TG_METRIC_HOST_TIME:
    case TG_METRIC_STEP_TIME:
        return busy->known[TG_TEST] &&
                       busy->value[TG_TEST] >= TG_WINS * c->metrics[m].value[TG_TEST]
                   ? TG_DEVICE_TIMES
                   : TG_HOST_TIMES;
    default:
        return TG_HOST_TIMES;
    }
}

/* How long a step is: wall clock, and the device's part of it. */
static bool is_step(enum tg_metric m)
{
    return m == TG_METRIC_STEP_TIME || m == TG_METRIC_DEVICE_EXTENT;
}

/*
 * A metric of a shard, or of a run over its ranks. SHOWN: the mean of the steps; of a ratio that of
 * the sums, so that long steps weigh as long as they are. The others are what the rule is asked. As
 * the least of times the middle step, of the step time the shortest, which preemption touches
 * least; of all else what is shown.
 */
enum { SHOWN = TG_STEP_STATISTICS, NUMBERS };
struct value {
    bool known;
    double of[NUMBERS];
};

static struct value value_of(enum tg_metric m, const struct tg_side_shards *of, size_t at)
{
    const struct tg_metric_info *info = tg_metric_info(m);
    const struct tg_shard *s = of->shard[at];
    const struct tg_used *used = &of->used[at];
    double scale = info->unit == TG_UNIT_PERCENT ? 100 : 1, num = 0, den = 0;
    TG_FREE double *each = tg_xmalloc((used->n + 1) * sizeof *each);
    bool wall = m == TG_METRIC_STEP_TIME && !s->steps_only;
    struct value x = { 0 };
    size_t n = 0;
    if (wall)
        tg_after_steps(s, used, NULL, each);
    for (size_t j = 0; s->metrics && j < used->n; j++) {
        size_t k = used->step[j];
        const struct tg_metric_value *v = &s->metrics[m * s->n_steps + k];
        double one = v->den ? (double)v->num / (double)v->den : 0;
        if (!v->known)
            continue;
        each[n++] = scale * one + (wall ? each[j] : 0);
        num += info->how == TG_METRIC_RATIO ? (double)v->num : one;
        den += info->how == TG_METRIC_RATIO ? (double)v->den : 1;
    }
    x.known = n > 0;
    x.of[SHOWN] = den > 0 ? scale * num / den : 0;
    if (n && is_time(m))
        tg_step_statistics_add(x.of, each, n);
    if (!is_time(m))
        x.of[TG_LEAST] = x.of[SHOWN];
    else if (n && !is_step(m))
        x.of[TG_LEAST] = tg_median(each, n);
    return x;
}

bool tg_metric_of_rank(const struct tg_diff_work *w, enum tg_metric m, int side, size_t rank,
                       double *value)
{
    const struct tg_side_shards *of = &w->measured[side];
    double *of_run = TG_NEW_N(w->a, double, w->c->n_runs[side] + 1);
    bool known = true;
    for (size_t run = 0; run < w->c->n_runs[side]; run++) {
        struct value x = value_of(m, of, run * of->n_ranks + rank);
        known &= x.known;
        of_run[run] = x.of[SHOWN];
    }
    *value = tg_median(of_run, w->c->n_runs[side]);
    return known;
}

/* Of all shards: [run * n_ranks + rank]. The caller frees it. */
static struct value *values_of(const struct tg_diff_work *w, enum tg_metric m, int side,
                               const struct tg_side_shards *of)
{
    size_t n = w->c->n_runs[side] * of->n_ranks;
    struct value *v = tg_xmalloc((n + 1) * sizeof *v);
    for (size_t at = 0; at < n; at++)
        v[at] = value_of(m, of, at);
    return v;
}

enum over { MEAN, WORST, OVERS };

/* Run values of a side over its ranks; `of_run` receives what is shown. False: a run lacks it. */
static bool put_side(const struct tg_diff_work *w, enum tg_metric m, int side,
                     const struct value *v, size_t n_ranks, enum over over, struct tg_run_values *y,
                     double *of_run)
{
    size_t n_runs = w->c->n_runs[side];
    int sign = tg_metric_info(m)->worse; /* larger is worse by it */
    bool known = n_runs > 0;
    for (size_t run = 0; run < n_runs; run++) {
        struct value x = { 0 };
        size_t n = 0; /* ranks that know it */
        for (size_t rank = 0; rank < n_ranks; rank++) {
            const struct value *of = &v[run * n_ranks + rank];
            for (int r = 0; of->known && r < NUMBERS; r++)
                if (over == MEAN)
                    x.of[r] += of->of[r];
                else if (n == 0 || sign * of->of[r] > sign * x.of[r])
                    x.of[r] = of->of[r];
            n += of->known;
        }
        for (int r = 0; n && over == MEAN && r < NUMBERS; r++)
            x.of[r] /= (double)n;
        known &= n > 0;
        of_run[run] = x.of[SHOWN];
        for (enum tg_step_statistic r = 0; r < TG_STEP_STATISTICS; r++)
            if (y->y[r][side])
                y->y[r][side][run] = x.of[r];
    }
    return known;
}

static void compare_metric(struct tg_diff_work *w, enum tg_metric id)
{
    struct tg_comparison *c = w->c;
    struct tg_metric_change *m = &c->metrics[id];
    struct tg_run_values y[OVERS] = { tg_run_values_new(w), tg_run_values_new(w) };
    struct tg_evidence *const ev[OVERS][2] = { { &m->ev, &m->mean },
                                               { &m->ev_slowest, &m->mean_slowest } };
    m->id = id;
    for (int side = 0; side < 2; side++) {
        const struct tg_side_shards *of = &w->measured[side];
        struct value *v = values_of(w, id, side, of);
        size_t n = c->n_runs[side];
        double *of_run = TG_NEW_N(w->a, double, n + 1);
        for (enum over o = 0; o < OVERS; o++) /* few steps, and whole: their halves say little */
            y[o].y[TG_LEAST_FIRST][side] = y[o].y[TG_LEAST_LAST][side] = NULL;
        m->known[side] = put_side(w, id, side, v, of->n_ranks, MEAN, &y[MEAN], of_run);
        m->least[side] = tg_least(of_run, n);
        m->most[side] = tg_most(of_run, n);
        m->value[side] = tg_median(of_run, n);
        if (is_step(id) && c->n_steps_only) { /* known of ranks that are left out as well */
            of = &w->given[side];
            free(v);
            v = values_of(w, id, side, of);
        }
        (void)put_side(w, id, side, v, of->n_ranks, WORST, &y[WORST], of_run);
        free(v);
        m->slowest[side] = tg_median(of_run, n);
    }
    for (enum over o = 0; o < OVERS; o++) {
        ev[o][0]->why_not = ev[o][1]->why_not = TG_NOT_ONE_SIDED;
        if (w->o->no_evidence || !m->known[TG_BASE] || !m->known[TG_TEST])
            continue;
        if (!is_time(id)) {
            tg_evidence_of_numbers(w, ev[o][0], y[o].y[TG_LEAST], tg_metric_info(id)->worse);
            continue;
        }
        enum tg_clock clock = clock_of(c, id);
        tg_evidence_of_times(w, ev[o][0], &y[o], clock, TG_ESTIMATE_LEAST);
        tg_evidence_of_times(w, ev[o][1], &y[o], clock, TG_ESTIMATE_MEAN);
    }
    /* Is the step's time the sum of its parts, gaps among them, which are known of all ranks?
     * Better values than the shortest's. A trace that is one step has gaps between its markers. */
    bool parts = c->step.rows && w->n_cells && w->shard[0]->marked;
    if (id == TG_METRIC_STEP_TIME && m->ev.why_not != TG_NOT_ONE_SIDED && parts &&
        c->step.ev_total.why_not != TG_NOT_WAIT && !c->n_unnamed) {
        m->ev = c->step.ev_total;
        m->mean = c->step_mean;
    }
}

/* ---- ranks ---- */

/* A rank's step: the device's part of it, which waits for other ranks less than the host;
 * else all. */
static struct value rank_step(const struct tg_side_shards *of, size_t at)
{
    struct value device = value_of(TG_METRIC_DEVICE_EXTENT, of, at);
    return device.known ? device : value_of(TG_METRIC_STEP_TIME, of, at);
}

/* Their medians over the runs, and evidence if all runs of both sides have one: percentages. */
static void judge_percent(const struct tg_diff_work *w, struct tg_evidence *ev, double *const of[2],
                          const bool known[2], double value[2])
{
    for (int side = 0; side < 2; side++)
        value[side] = tg_median_of(w, of[side], side);
    ev->why_not = TG_NOT_ONE_SIDED;
    if (!w->o->no_evidence && known[TG_BASE] && known[TG_TEST])
        tg_evidence_of_numbers(w, ev, of, 1);
}

/*
 * Slowest rank's step against the median rank's (%), and minus the fastest rank's (ns). The mean
 * steps are compared, as they are shown.
 */
static void compare_ranks(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;
    struct tg_run_values spread = { 0 };
    double *skew[2];
    for (int side = 0; side < 2; side++) {
        const struct tg_side_shards *given = &w->given[side];
        size_t n_runs = c->n_runs[side];
        double *mean = TG_NEW_N(w->a, double, given->n_ranks + 1);
        skew[side] = TG_NEW_N(w->a, double, n_runs + 1);
        spread.y[TG_LEAST][side] = TG_NEW_N(w->a, double, n_runs + 1);
        c->ranks_known[side] = n_runs > 0;
        for (size_t run = 0; run < n_runs; run++) {
            size_t n = 0; /* ranks whose step is known */
            for (size_t rank = 0; rank < given->n_ranks; rank++) {
                struct value v = rank_step(given, run * given->n_ranks + rank);
                mean[n] = v.of[SHOWN];
                n += v.known;
            }
            c->ranks_known[side] &= n > 1;
            if (n < 2)
                continue;
            double middle = tg_median(mean, n); /* and sorts */
            skew[side][run] = middle > 0 ? 100 * (mean[n - 1] / middle - 1) : 0;
            spread.y[TG_LEAST][side][run] = mean[n - 1] - mean[0];
        }
        c->rank_spread[side] = tg_median_of(w, spread.y[TG_LEAST][side], side);
    }
    judge_percent(w, &c->skew_ev, skew, c->ranks_known, c->skew);
    c->rank_spread_ev.why_not = TG_NOT_ONE_SIDED;
    if (!w->o->no_evidence && c->ranks_known[TG_BASE] && c->ranks_known[TG_TEST])
        tg_evidence_of_times(w, &c->rank_spread_ev, &spread, TG_HOST_TIMES, TG_ESTIMATE_LEAST);
}

void tg_compare_metrics(struct tg_diff_work *w)
{
    const struct tg_side_shards *m = &w->measured[TG_TEST];
    struct tg_comparison *c = w->c;
    double longest = -1, *skew[2];
    for (int i = 0; i < TG_METRICS; i++)
        compare_metric(w, (enum tg_metric)i);
    compare_ranks(w);
    /* Waiting in collectives. */
    for (int side = 0; side < 2; side++) {
        skew[side] = TG_NEW_N(w->a, double, c->n_runs[side] + 1);
        c->collectives_known[side] = c->n_runs[side] > 0;
        for (size_t run = 0; run < c->n_runs[side]; run++)
            c->collectives_known[side] &= tg_collective_skew(w, side, run, &skew[side][run]);
    }
    judge_percent(w, &c->collective_skew_ev, skew, c->collectives_known, c->collective_skew);
    /* The rank of the fresh side whose steps take longest, of those that are compared. */
    c->slowest_rank = -1;
    for (size_t rank = 0; rank < m->n_ranks; rank++) {
        double *v = TG_NEW_N(w->a, double, c->n_runs[TG_TEST] + 1), middle;
        for (size_t run = 0; run < c->n_runs[TG_TEST]; run++)
            v[run] = rank_step(m, run * m->n_ranks + rank).of[SHOWN];
        middle = tg_median(v, c->n_runs[TG_TEST]);
        if (middle > longest) {
            longest = middle;
            c->slowest_rank = m->ranks[rank];
        }
    }
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
        TG_EACH(const struct tg_kv, kv, m->shard[at]->env, m->shard[at]->n_env) {
            size_t known = seen.n;
            if (!tg_sv_eq(kv->key, key) || kv->value.n == 0 ||
                tg_strmap_add(&seen, kv->value) < known)
                continue;
            tg_buf_printf(&b, "%s%.*s", b.n ? ", " : "", TG_SV_ARG(kv->value));
        }
    return tg_arena_sv(w->a, tg_buf_sv(&b));
}

/* False only when both are known and differ. `cuda_major` and `torch_minor` look at the start of
 * `cuda` and `torch`. */
static bool same_env(const struct tg_diff_work *w, tg_sv key)
{
    int parts = tg_sv_eq(key, TG_SV("cuda_major"))    ? 1
                : tg_sv_eq(key, TG_SV("torch_minor")) ? 2
                                                      : 0;
    tg_sv name = parts == 1 ? TG_SV("cuda") : parts == 2 ? TG_SV("torch") : key, v[2];
    for (int side = 0; side < 2; side++) {
        v[side] = env_of(w, side, name);
        for (size_t i = 0, dots = 0; i < v[side].n && parts; i++)
            if (v[side].p[i] == '.' && ++dots == (size_t)parts)
                v[side].n = i;
    }
    return v[0].n == 0 || v[1].n == 0 || tg_sv_eq(v[0], v[1]);
}

void tg_compare_env(struct tg_diff_work *w)
{
    static const tg_sv device = { "device", 6 };
    const tg_sv *need = w->o->require_same ? w->o->require_same : &device;
    size_t n_need = w->o->require_same ? w->o->n_require_same : 1;
    struct tg_comparison *c = w->c;
    TG_AUTO(tg_strmap_release) struct tg_strmap keys;
    tg_strmap_init(&keys);
    for (int side = 0; side < 2; side++)
        for (size_t at = 0; at < c->n_runs[side] * w->measured[side].n_ranks; at++)
            for (size_t i = 0; i < w->measured[side].shard[at]->n_env; i++)
                tg_strmap_add(&keys, w->measured[side].shard[at]->env[i].key);
    c->env = TG_NEW_N(w->a, struct tg_env_change, keys.n + 1);
    for (size_t i = 0; i < keys.n; i++) {
        /* Where a rank ran is not what it ran on: another job has other nodes. */
        tg_sv key = keys.text[i];
        if (tg_sv_eq(key, TG_SV("node")) || tg_sv_eq(key, TG_SV("local_rank")))
            continue;
        struct tg_env_change e = { .key = tg_arena_sv(w->a, keys.text[i]) };
        e.value[TG_BASE] = env_of(w, TG_BASE, e.key);
        e.value[TG_TEST] = env_of(w, TG_TEST, e.key);
        if (!tg_sv_eq(e.value[TG_BASE], e.value[TG_TEST]))
            c->env[c->n_env++] = e;
    }
    TG_SORT(c->env, c->n_env, tg_by_sv); /* the key comes first */
    /* Of these keys, those that differ: "device, cuda_major". */
    TG_BUF b = { 0 };
    for (size_t i = 0; i < n_need; i++)
        if (!same_env(w, need[i]))
            tg_buf_printf(&b, "%s%.*s", b.n ? ", " : "", TG_SV_ARG(need[i]));
    c->differs = tg_arena_sv(w->a, tg_buf_sv(&b));
    /* Of one rank alone nobody knows for whom it waits,
     * unless the trace says that there is no other. */
    c->all_ranks = true;
    for (int side = 0; side < 2; side++) {
        tg_sv world = env_of(w, side, TG_SV("world_size"));
        int64_t n = (int64_t)c->n_ranks[side], ranks = n > 1 ? n : INT64_MAX;
        c->all_ranks &= (!world.n || tg_sv_i64(world, &ranks)) && ranks <= n;
    }
    c->same_flags = true;
    for (const char *const *flag = tg_profiler_flags; *flag; flag++)
        c->same_flags &= same_env(w, tg_sv_of(*flag));
}
