/*
 * Series with a known answer, from runs of one program that did not change, judged by
 * core/history. Prints one line a series; score_history makes the table.
 *
 *     score_history_driver SEED MODEL TRACE…     the runs, in the order of their recording
 *
 * A night is five consecutive runs, drawn as a block; a factor of the machine ln N(0, 2 %) a night
 * and 0.05 % jitter a series and night; 60 nights. What is done to a series of nights:
 *
 *     none            nothing; whatever is told is a false alarm
 *     night_30        one night, one operator +30 %
 *     machine_8       everything +8 % from a night on, the environment as it was
 *     environment_8   the same, and the recorded environment says so
 *     step_P          one operator +P % from a night on
 *     faster_P        the same, less
 *     drift           one operator +0.5 % a night from a night on
 *
 * The operator is drawn from those of at least 2.5 % of the step that are judged; the night from 20
 * to 35. A false alarm of this operator's own series is counted, and apart from it one of any
 * series of the model, which are 40 to 90 and measures besides. Everything random comes from one
 * generator, seeded by SEED, model and cell.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/file.h"
#include "core/diff/stats.h"
#include "core/history/history.h"
#include "core/trace/source.h"

enum { NIGHTS = 60, BLOCK = 5, MAX_RUNS = 128 };

struct rng {
    uint64_t s;
};
static uint64_t next(struct rng *r) /* splitmix64, Steele, Lea and Flood 2014 */
{
    uint64_t z = r->s += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
static double uniform(struct rng *r)
{
    return ((double)(next(r) >> 11) + 0.5) / 9007199254740992.0;
}
static size_t below(struct rng *r, size_t n)
{
    return (size_t)(uniform(r) * (double)n);
}
static double normal(struct rng *r)
{
    return sqrt(-2 * log(uniform(r))) * cos(2 * 3.14159265358979323846 * uniform(r));
}

struct cell {
    const char *name;
    double size, drift;
    bool one_night, all, environment;
    unsigned repeats; /* a model */
};
static const struct cell cells[] = {
    { "none", 0, 0, false, false, false, 50 },
    { "night_30", 0.30, 0, true, false, false, 10 },
    { "machine_8", 0.08, 0, false, true, false, 10 },
    { "environment_8", 0.08, 0, false, true, true, 10 },
    { "step_2", 0.02, 0, false, false, false, 10 },
    { "step_5", 0.05, 0, false, false, false, 20 },
    { "step_10", 0.10, 0, false, false, false, 20 },
    { "step_20", 0.20, 0, false, false, false, 10 },
    { "step_50", 0.50, 0, false, false, false, 10 },
    { "faster_10", -0.10, 0, false, false, false, 10 },
    { "drift", 0, 0.005, false, false, false, 10 },
};

struct model {
    struct tg_series_table series;
    struct tg_night run[MAX_RUNS]; /* each run as a night of its own */
    size_t n;
    uint32_t *big; /* operators that may be planted in */
    size_t n_big;
    struct tg_arena *arena;
};

static void fail(const char *what, const struct tg_err *err)
{
    fprintf(stderr, "%s: %s\n", what, err->message);
    exit(2);
}

static void load(struct model *m, const char *path)
{
    struct tg_summarize_opts so = { .load = { .reader = { .want_args = true } }, .rank = -1 };
    TG_AUTO(tg_summary_release) struct tg_summary one;
    struct tg_side side;
    struct tg_err err = TG_ERR_INIT;
    struct tg_source *s;
    tg_summary_init(&one);
    s = tg_source_open(path, NULL, &err);
    if (!s || !tg_summary_add(&one, s, &so, NULL, &err) ||
        !tg_side_arrange(&side, &one, TG_ARRANGE_RUNS, m->arena, &err))
        fail(path, &err);
    tg_source_close(s);
    tg_night_metric(&m->run[m->n++], &side, &m->series, m->arena);
}

static double median_share(const struct model *m, uint32_t series)
{
    double v[MAX_RUNS];
    size_t n = 0;
    for (size_t i = 0; i < m->n; i++) {
        const struct tg_history_value *x = tg_night_value(&m->run[i], series);
        v[n++] = x && !isnan(x->v) ? exp(x->v) / m->run[i].step_ns : 0;
    }
    return tg_median(v, n);
}

static void find_big(struct model *m)
{
    m->big = TG_NEW_N(m->arena, uint32_t, m->series.n);
    for (uint32_t i = 0; i < m->series.n; i++)
        if (m->series.v[i].what == TG_SERIES_OP && m->series.v[i].judged &&
            m->series.v[i].kind == TG_KIND_OP && median_share(m, i) >= 0.025)
            m->big[m->n_big++] = i;
}

static void make_night(const struct model *m, size_t first, struct rng *r, struct tg_arena *a,
                       struct tg_night *out)
{
    double machine = 0.02 * normal(r);
    *out = m->run[first];
    out->environment = TG_SV("cpu=one");
    out->runs = BLOCK;
    out->v = TG_NEW_N(a, struct tg_history_value, m->series.n);
    out->n = 0;
    out->step_ns *= exp(machine);
    for (uint32_t s = 0; s < m->series.n; s++) {
        double v[BLOCK];
        size_t n = 0, present = 0;
        struct tg_history_value x = { .series = s, .v = NAN, .calls = NAN };
        double calls = NAN;
        for (size_t k = 0; k < BLOCK; k++) {
            const struct tg_history_value *one = tg_night_value(&m->run[first + k], s);
            double c = one ? one->calls : NAN;
            present += one != NULL;
            calls = k == 0 || c == calls ? c : NAN;
            if (one && !isnan(one->v))
                v[n++] = one->v;
        }
        if (!present)
            continue;
        x.calls = calls;
        x.v = n ? tg_mid_mean(v, n) : NAN;
        x.variance = tg_night_variance(v, n);
        if (m->series.v[s].what == TG_SERIES_METRIC &&
            tg_metric_info(m->series.v[s].metric)->unit == TG_UNIT_PERCENT) {
            x.plain = 100 * x.v;
        } else {
            x.v += machine + 0.0005 * normal(r);
            x.plain = exp(x.v);
        }
        out->v[out->n++] = x;
    }
}

static void plant(const struct cell *c, struct tg_night *night, size_t i, size_t from, uint32_t op)
{
    double by = c->drift > 0 ? (double)(i - from + 1) * log(1 + c->drift) : log(1 + c->size);
    if (c->one_night && i != from)
        return;
    for (size_t k = 0; k < night->n; k++)
        if (c->all || night->v[k].series == op) {
            night->v[k].v += by;
            night->v[k].plain *= exp(by);
        }
    if (c->environment)
        night->environment = TG_SV("cpu=two");
}

static bool is_alarm(const struct tg_history_event *e)
{
    return e->kind == TG_EVENT_REGRESSION || e->kind == TG_EVENT_CALLS || e->kind == TG_EVENT_DRIFT;
}

/* Does the range that the history named in the night that found it hold the night `from`? */
static bool held(const struct tg_history *h, size_t fired, size_t from, uint32_t op)
{
    TG_ARENA *a = tg_arena_new();
    struct tg_history then = { .night = h->night, .n = fired + 1, .series = h->series };
    tg_history_replay(&then, TG_SV("score"), a);
    for (size_t i = 0; i < then.n_events; i++)
        for (size_t k = 0; k < then.event[i].n; k++)
            if (then.event[i].v[k].series == op && then.event[i].v[k].fired >= from)
                return then.event[i].from < from && from <= then.event[i].to;
    return false;
}

/* Columns: model cell repeat from op share own_alarms alarms found(kind) fired first from to
 * told_machine told_environment held */
static void judge(const char *model, const struct cell *c, unsigned repeat, const struct model *m,
                  const struct tg_history *h, size_t from, uint32_t op)
{
    size_t alarms = 0, own = 0, machine = 0, environment = 0;
    const struct tg_history_event *found = NULL;
    const struct tg_moved_series *hit = NULL;
    for (size_t i = 0; i < h->n_events; i++) {
        const struct tg_history_event *e = &h->event[i];
        bool named = false;
        for (size_t k = 0; k < e->n; k++) {
            if (e->v[k].series != op)
                continue;
            own += is_alarm(e) && (c == cells || c->all || e->fired < from);
            named = c != cells && !c->all && e->fired >= from;
            if (!hit && e->fired >= from) {
                hit = &e->v[k];
                found = e;
            }
        }
        environment += e->kind == TG_EVENT_ENVIRONMENT && e->fired == from;
        machine += e->kind == TG_EVENT_MACHINE && e->fired >= from;
        if (is_alarm(e) && !named) {
            alarms++;
            if (getenv("TG_SCORE_VERBOSE"))
                fprintf(stderr, "%s %s %u: night %zu %s %.*s %+.1f%% rank %.2f z %.2f k %zu\n",
                        model, c->name, repeat, e->fired, tg_event_kind_name(e->kind),
                        TG_SV_ARG(m->series.v[e->v[0].series].name), 100 * e->delta, e->v[0].rank_z,
                        e->v[0].z, e->fired - e->v[0].first + 1);
        }
    }
    printf("%s\t%s\t%u\t%zu\t%.*s\t%.4f\t%zu\t%zu\t%s\t%zd\t%zd\t%zd\t%zd\t%zu\t%zu\t%d\n", model,
           c->name, repeat, from, TG_SV_ARG(m->series.v[op].name), median_share(m, op), own, alarms,
           found ? tg_event_kind_name(found->kind) : "-", hit ? (ssize_t)hit->fired : -1,
           hit ? (ssize_t)hit->first : -1, hit ? (ssize_t)hit->from : -1,
           hit ? (ssize_t)hit->to : -1, machine, environment, hit && held(h, hit->fired, from, op));
}

static void run_cell(uint64_t seed, const char *model, struct model *m, const struct cell *c,
                     size_t which, unsigned repeat)
{
    struct rng r = { seed * 7777777 + (uint64_t)model[0] * 1000003 + (uint64_t)model[1] * 10007 +
                     which * 1009 + repeat };
    TG_ARENA *a = tg_arena_new();
    struct tg_night *night = TG_NEW_N(a, struct tg_night, NIGHTS);
    struct tg_history h = { .night = night, .n = NIGHTS, .series = &m->series };
    size_t from = 20 + below(&r, 16);
    uint32_t op = m->big[below(&r, m->n_big)];
    for (size_t i = 0; i < NIGHTS; i++) {
        make_night(m, below(&r, m->n - BLOCK + 1), &r, a, &night[i]);
        night[i].commit = tg_sv_of(tg_arena_printf(a, "%040zu", i));
        if (which && i >= from)
            plant(c, &night[i], i, from, op);
    }
    tg_history_replay(&h, TG_SV("score"), a);
    judge(model, c, repeat, m, &h, from, op);
}

int main(int argc, char **argv)
{
    struct model *m = calloc(1, sizeof *m);
    if (argc < 3 + BLOCK || argc - 3 > MAX_RUNS)
        return 2;
    m->arena = tg_arena_new();
    tg_series_init(&m->series);
    for (int i = 3; i < argc; i++)
        load(m, argv[i]);
    find_big(m);
    for (size_t c = 0; c < sizeof cells / sizeof *cells; c++)
        for (unsigned k = 0; k < cells[c].repeats; k++)
            run_cell(strtoull(argv[1], NULL, 10), argv[2], m, &cells[c], c, k);
    tg_series_release(&m->series);
    tg_arena_free(m->arena);
    free(m);
    return 0;
}
