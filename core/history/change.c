/* One look at one series: has it moved, is it back, where was it? */
#include "core/history/internal.h"

#include <math.h>

#include "core/diff/stats.h"

#define FLOOR_SHARE 0.001 /* of the step: a smaller change is not reported */

static double plain_median(const struct tg_history_replay *r, const struct tg_history_stream *s,
                           uint32_t series, const struct tg_history_window *w, size_t from,
                           size_t to)
{
    double v[TG_CHANGEPOINT_WINDOW];
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        if (w->at[i] >= from && w->at[i] < to) {
            const struct tg_history_value *x =
                tg_night_value(&r->h->night[s->night[w->at[i]]], series);
            if (x)
                v[n++] = x->plain;
        }
    return n ? tg_median(v, n) : 0;
}

/* What a change of `e` costs; the size is what was found, the level what was there. */
static double cost_of(const struct tg_series *series, double before, double e)
{
    return is_time(series) ? before * expm1(e) : 0;
}

static bool above_floor(const struct tg_history_replay *r, const struct tg_history_stream *s,
                        const struct tg_series *x, double before, double e)
{
    const struct tg_night *night = &r->h->night[s->night[s->n - 1]];
    return !is_time(x) || fabs(cost_of(x, before, e)) > FLOOR_SHARE * night->step_ns;
}

/* ---- coming back ---- */

/* The series is at its old level since its newest `n` nights. */
static void resolve(struct tg_history_replay *r, struct tg_history_stream *s,
                    struct tg_history_track *t, size_t n)
{
    struct tg_history_pending *p = t->pending;
    struct tg_history_event *e = &r->h->event[p->event];
    struct tg_history_window back = p->old;
    e->v[p->moved].back = true;
    e->v[p->moved].back_at = s->night[t->w.at[t->w.n - n]];
    for (size_t i = t->w.n - n; i < t->w.n; i++)
        tg_history_window_push_from(&back, &t->w, i);
    t->w = back;
    t->n_first = back.n < TG_DRIFT_LEVEL ? back.n : TG_DRIFT_LEVEL;
    memcpy(t->first, back.v, t->n_first * sizeof *t->first);
    t->has_reference = false;
    t->pending = p->before;
    tg_history_end_event(r, e);
}

/* A step the other way that ends near the level before: the same event, mended. */
static bool undoes(const struct tg_history_replay *r, const struct tg_history_track *t, size_t k,
                   bool up)
{
    const struct tg_history_pending *p = t->pending;
    double now, then;
    if (!p || p->up == up || p->old.n < TG_CHANGEPOINT_OLD ||
        r->h->event[p->event].v[p->moved].what == TG_MOVED_CALLS)
        return false;
    now = tg_history_median(t->w.v + t->w.n - k, k) * (p->up ? 1 : -1);
    then = tg_history_median(t->w.v, t->w.n - k) * (p->up ? 1 : -1);
    return now <= p->median + (then - p->median) / 4 || now <= p->p90;
}

/* ---- steps and drifts ---- */

static void found_step(struct tg_history_replay *r, struct tg_history_stream *s,
                       struct tg_history_track *t, uint32_t series,
                       const struct tg_history_scan *scan, bool up)
{
    const struct tg_series *x = series == UINT32_MAX ? NULL : &r->h->series->v[series];
    struct tg_history_window all = t->w;
    size_t first = all.at[all.n - scan->k], lo = all.at[all.n - scan->k_max],
           hi = all.at[all.n - scan->k_min], event, moved;
    double e = up ? scan->e : -scan->e;
    struct tg_moved_series m = { .what = x ? TG_MOVED_STEP : TG_MOVED_MACHINE,
                                 .series = series,
                                 .fired = s->night[s->n - 1],
                                 .first = s->night[first],
                                 .from = s->night[tg_history_window_before(&all, lo)],
                                 .to = s->night[hi],
                                 .e = e,
                                 .rank_z = scan->rank_z,
                                 .z = scan->z,
                                 .p = scan->p,
                                 .worse = up == (!x || x->worse > 0) };
    if (undoes(r, t, scan->k, up)) {
        resolve(r, s, t, scan->k);
        return;
    }
    if (x) {
        m.before = plain_median(r, s, series, &all, 0, first);
        if (!above_floor(r, s, x, m.before, e))
            return;
        m.after = is_time(x) ? m.before * exp(e) : m.before + 100 * e;
        m.cost_ns = cost_of(x, m.before, e);
    }
    event = tg_history_attach(r, s, &m, &moved);
    tg_history_track_remember(r, t, &all, first, event, moved, up);
    tg_history_track_begin(t, first);
}

static void negate(const struct tg_history_window *w, double *out)
{
    for (size_t i = 0; i < w->n; i++)
        out[i] = -w->v[i];
}

/* Metrics of the step hold all that disturbs a machine for some nights: no fast lane, and more z. */
static bool is_taken(const struct tg_history_replay *r, const struct tg_history_scan *scan,
                     uint32_t series)
{
    if (series == UINT32_MAX || r->h->series->v[series].what != TG_SERIES_METRIC)
        return scan->lane != TG_LANE_NONE;
    return scan->lane == TG_LANE_SCAN && scan->z > TG_CHANGEPOINT_METRIC_Z;
}

void tg_history_look(struct tg_history_replay *r, struct tg_history_stream *s,
                     struct tg_history_track *t, uint32_t series)
{
    double down[TG_CHANGEPOINT_WINDOW];
    struct tg_history_scan scan = tg_history_scan_look(t->w.v, t->w.n);
    bool up = scan.lane != TG_LANE_NONE;
    if (!up) {
        negate(&t->w, down);
        scan = tg_history_scan_look(down, t->w.n);
    }
    if (is_taken(r, &scan, series))
        found_step(r, s, t, series, &scan, up);
}

/* All nights of the window taken together: a burst at its end is not a drift. */
static bool rises(const struct tg_history_track *t, bool up)
{
    return tg_changepoint_trend(t->w.v, t->w.n) * (up ? 1 : -1) > TG_DRIFT_TREND;
}

void tg_history_look_for_drift(struct tg_history_replay *r, struct tg_history_stream *s,
                               struct tg_history_track *t, uint32_t series)
{
    const struct tg_series *x = &r->h->series->v[series];
    double old[TG_DRIFT_LEVEL], new_[TG_DRIFT_NIGHTS];
    struct tg_drift d;
    struct tg_moved_series m;
    size_t moved, event, first;
    if (t->n_first < TG_DRIFT_LEVEL || t->w.n < TG_DRIFT_NIGHTS ||
        t->w.at[t->w.n - TG_DRIFT_NIGHTS] < TG_DRIFT_LEVEL || !is_time(x))
        return;
    for (size_t i = 0; i < TG_DRIFT_LEVEL; i++)
        old[i] = x->worse > 0 ? t->first[i] : -t->first[i];
    for (size_t i = 0; i < TG_DRIFT_NIGHTS; i++)
        new_[i] = t->w.v[t->w.n - TG_DRIFT_NIGHTS + i] * (x->worse > 0 ? 1 : -1);
    d = tg_drift_look(old, TG_DRIFT_LEVEL, new_, TG_DRIFT_NIGHTS);
    first = t->w.at[t->w.n - TG_DRIFT_NIGHTS];
    if (!d.found || !rises(t, x->worse > 0))
        return;
    m = (struct tg_moved_series){ .what = TG_MOVED_DRIFT,
                                  .series = series,
                                  .fired = s->night[s->n - 1],
                                  .first = s->night[first],
                                  .from = s->night[t->w.at[0]],
                                  .to = s->night[s->n - 1],
                                  .e = x->worse > 0 ? d.e : -d.e,
                                  .z = d.z,
                                  .worse = true };
    m.after = plain_median(r, s, series, &t->w, first, s->n);
    m.before = m.after / exp(m.e);
    m.cost_ns = cost_of(x, m.before, m.e);
    if (!above_floor(r, s, x, m.before, m.e))
        return;
    event = tg_history_attach(r, s, &m, &moved);
    tg_history_track_remember(r, t, &t->w, first, event, moved, x->worse > 0);
    tg_history_track_begin(t, first);
}

/* ---- calls ---- */

/* Runs of a night did not agree lately: the number says nothing about the program. */
static bool is_random(const struct tg_history_track *t, size_t place)
{
    return t->random && place < t->random + RENEW;
}

/* Another number of calls, at once: nothing about it is noise. */
void tg_history_look_at_calls(struct tg_history_replay *r, struct tg_history_stream *s,
                              struct tg_history_track *t, uint32_t series, double calls,
                              double plain)
{
    const struct tg_series *x = &r->h->series->v[series];
    size_t place = s->n - 1, event, moved;
    bool there = t->seen, known = there && !isnan(t->calls);
    struct tg_moved_series m = { .what = !there ? TG_MOVED_NEW : TG_MOVED_CALLS,
                                 .series = series,
                                 .fired = s->night[place],
                                 .first = s->night[place],
                                 .to = s->night[place],
                                 .before = known ? t->calls : 0,
                                 .after = calls,
                                 .worse = calls * x->worse > (known ? t->calls : 0) * x->worse };
    if (isnan(calls) || (there && !known) || (known && t->calls == calls) || !place ||
        is_random(t, place))
        return;
    m.from = s->night[t->seen ? t->last : place - 1];
    if (calls == 0)
        m.what = TG_MOVED_GONE;
    m.e = m.before > 0 ? log((calls > 0 ? calls : 1e-9) / m.before) : 0;
    if (x->what != TG_SERIES_METRIC) {
        double old = plain_median(r, s, series, &t->w, 0, place);
        m.cost_ns = plain - old;
    }
    event = tg_history_attach(r, s, &m, &moved);
    tg_history_track_remember(r, t, &t->w, place, event, moved, calls > m.before);
    tg_history_track_begin(t, place);
}

/* ---- levels that were left ---- */

void tg_history_look_back(struct tg_history_replay *r, struct tg_history_stream *s,
                          struct tg_history_track *t)
{
    enum tg_moved what;
    if (!t->pending || !tg_history_track_is_back(t, t->pending))
        return;
    what = r->h->event[t->pending->event].v[t->pending->moved].what;
    if (what == TG_MOVED_STEP || what == TG_MOVED_DRIFT || what == TG_MOVED_MACHINE)
        resolve(r, s, t, TG_HISTORY_BACK);
}

/* A change of calls that undoes an earlier one ends that one's event, and makes no event itself. */
bool tg_history_undo_calls(struct tg_history_replay *r, struct tg_history_stream *s,
                           struct tg_history_track *t, double calls)
{
    struct tg_history_pending *p = t->pending;
    struct tg_moved_series *m;
    if (!p || isnan(calls))
        return false;
    m = &r->h->event[p->event].v[p->moved];
    if ((m->what != TG_MOVED_CALLS && m->what != TG_MOVED_NEW && m->what != TG_MOVED_GONE) ||
        calls != m->before || calls == t->calls)
        return false;
    m->back = true;
    m->back_at = s->night[s->n - 1];
    t->calls = calls;
    t->pending = p->before;
    if (t->w.n) {
        struct tg_history_window back = p->old;
        tg_history_window_push_from(&back, &t->w, t->w.n - 1);
        t->w = back;
    }
    t->has_reference = false;
    tg_history_end_event(r, &r->h->event[p->event]);
    return true;
}

enum { RELOCATE = 12 }; /* nights of the new level after which it stays */

void tg_history_relocate(struct tg_history_replay *r, struct tg_history_stream *s,
                         struct tg_history_track *t)
{
    struct tg_history_pending *p = t->pending;
    struct tg_moved_series *m;
    struct tg_history_window all;
    size_t k_min, k_max, k;
    if (!p || p->old.n < TG_CHANGEPOINT_OLD || !t->w.n || t->w.n > RELOCATE)
        return;
    m = &r->h->event[p->event].v[p->moved];
    if (m->what != TG_MOVED_STEP)
        return;
    all = p->old;
    for (size_t i = 0; i < t->w.n; i++)
        tg_history_window_push_from(&all, &t->w, i);
    if (!p->up)
        for (size_t i = 0; i < all.n; i++)
            all.v[i] = -all.v[i];
    k = tg_changepoint_locate(all.v, all.n, &k_min, &k_max);
    if (k > t->w.n + RELOCATE)
        return;
    m->first = s->night[all.at[all.n - k]];
    m->from = s->night[tg_history_window_before(&all, all.at[all.n - k_max])];
    m->to = s->night[all.at[all.n - k_min]];
    tg_history_set_range(&r->h->event[p->event]);
}
