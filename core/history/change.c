/* What is kept of a series in a stream: its window, its level and the levels before. And one look
 * at it: has it moved, is it back, where was it? */
#include "core/history/internal.h"

#include <float.h>
#include <math.h>

#include "core/diff/stats.h"

#define FLOOR_SHARE 0.001 /* of the step: a smaller change is not reported */

/* ---- what is kept ---- */

void tg_history_window_push(struct tg_history_window *w, double v, double variance, size_t at)
{
    if (w->n == TG_CHANGEPOINT_WINDOW) {
        memmove(w->v, w->v + 1, (TG_CHANGEPOINT_WINDOW - 1) * sizeof *w->v);
        memmove(w->variance, w->variance + 1, (TG_CHANGEPOINT_WINDOW - 1) * sizeof *w->variance);
        memmove(w->at, w->at + 1, (TG_CHANGEPOINT_WINDOW - 1) * sizeof *w->at);
        w->n--;
    }
    w->v[w->n] = v;
    w->variance[w->n] = variance;
    w->at[w->n++] = (uint32_t)at;
}

void tg_history_window_push_from(struct tg_history_window *w, const struct tg_history_window *from,
                                 size_t i)
{
    tg_history_window_push(w, from->v[i], from->variance[i], from->at[i]);
}

/* How many of its nights are before the place `first`. */
static size_t nights_before(const struct tg_history_window *w, size_t first)
{
    size_t n = 0;
    while (n < w->n && w->at[n] < first)
        n++;
    return n;
}

/* The last place before `first` that the series has a value at; the stream's first otherwise. */
static size_t window_before(const struct tg_history_window *w, size_t first)
{
    size_t n = nights_before(w, first);
    return n ? w->at[n - 1] : first ? first - 1 : 0;
}

double tg_history_window_end(const struct tg_history_window *w, size_t first)
{
    size_t n = nights_before(w, first), k = n < TG_HISTORY_END ? n : TG_HISTORY_END;
    return k ? tg_changepoint_median(w->v + n - k, k) : 0;
}

/* Only the nights from `first` on count from now on. */
static void track_begin(struct tg_history_track *t, size_t first)
{
    struct tg_history_window old = t->w;
    t->w.n = 0;
    t->n_first = 0;
    t->has_reference = false;
    for (size_t i = nights_before(&old, first); i < old.n; i++) {
        tg_history_window_push_from(&t->w, &old, i);
        if (t->n_first < TG_DRIFT_LEVEL)
            t->first[t->n_first++] = old.v[i];
    }
}

bool tg_history_track_is_random(const struct tg_history_track *t, size_t place)
{
    return t->random && place < t->random + RENEW;
}

/* The level before `first`, for when the series comes back. */
static void track_remember(struct tg_history_track *t, size_t first, size_t event, size_t moved,
                           bool up, struct tg_arena *a)
{
    struct tg_history_pending *p = TG_NEW(a, struct tg_history_pending);
    double signed_[TG_CHANGEPOINT_WINDOW];
    for (size_t i = 0; i < nights_before(&t->w, first); i++)
        tg_history_window_push_from(&p->old, &t->w, i);
    for (size_t i = 0; i < p->old.n; i++)
        signed_[i] = up ? p->old.v[i] : -p->old.v[i];
    p->end = tg_history_window_end(&t->w, first);
    p->event = event;
    p->moved = moved;
    p->since = first;
    p->up = up;
    p->median = p->old.n ? tg_changepoint_median(signed_, p->old.n) : 0;
    p->p90 = p->old.n ? tg_quantile(signed_, p->old.n, 0.9) : 0; /* which sorts them */
    p->before = t->pending;
    t->pending = p;
}

/* Under the 90th percentile of the level before, or so far down that it cannot be noise. */
static bool track_is_back(const struct tg_history_track *t, const struct tg_history_pending *p)
{
    double all[TG_CHANGEPOINT_WINDOW], e, most;
    size_t n = 0;
    if (p->old.n < TG_CHANGEPOINT_OLD || t->w.n < TG_HISTORY_BACK + 1)
        return false;
    for (size_t i = 0; i + TG_HISTORY_BACK < t->w.n; i++)
        all[n++] = p->up ? t->w.v[i] : -t->w.v[i];
    e = tg_median(all, n) - p->median;
    most = p->p90 > p->median + e / 4 ? p->p90 : p->median + e / 4;
    most = most < p->median + e / 2 ? most : p->median + e / 2;
    for (size_t i = t->w.n - TG_HISTORY_BACK; i < t->w.n; i++)
        if ((p->up ? t->w.v[i] : -t->w.v[i]) > most)
            return false;
    return true;
}

/* ---- changes ---- */

static double plain_median(const struct tg_history_line *l, size_t from, size_t to)
{
    const struct tg_history_window *w = &l->t->w;
    double v[TG_CHANGEPOINT_WINDOW];
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++)
        if (w->at[i] >= from && w->at[i] < to) {
            const struct tg_night *night = &l->r->h->night[l->s->night[w->at[i]]];
            const struct tg_history_value *x = tg_night_value(night, l->series);
            if (!x && l->t->was)
                x = tg_night_value(night, l->t->was - 1);
            if (x)
                v[n++] = x->plain;
        }
    return n ? tg_median(v, n) : 0;
}

/* NULL: the common factor, which is not a series. */
static const struct tg_series *series_of(const struct tg_history_line *l)
{
    return l->series == UINT32_MAX ? NULL : &l->r->h->series->v[l->series];
}

static bool is_metric(const struct tg_series *x)
{
    return x && x->what == TG_SERIES_METRIC;
}

static bool above_floor(const struct tg_history_line *l, const struct tg_series *x, double before,
                        double e)
{
    const struct tg_night *night = &l->r->h->night[l->s->night[l->s->n - 1]];
    return x->scale != TG_SCALE_TIME ||
           fabs(tg_history_cost(x, before, e)) > FLOOR_SHARE * night->step_ns;
}

static struct tg_moved_series *change_of(const struct tg_history_line *l,
                                         const struct tg_history_pending *p)
{
    return &l->r->h->event[p->event].v[p->moved];
}

/* The newest change is still open, and it is one of the same direction. */
static bool is_open(const struct tg_history_line *l, bool up)
{
    const struct tg_history_pending *p = l->t->pending;
    return p && p->up == up && p->old.n && !tg_history_is_exact(change_of(l, p)) &&
           l->r->h->event[p->event].state == TG_EVENT_STATE_OPEN;
}

/*
 * Are the nights of the level that ends before `first` nearer to a line, from the end of the level
 * before it to the beginning of the one after it, than to a level of their own?
 *
 *     two changes  ___---^^^         a drift  __.-''^^
 *                        |                        |
 *                        first                    first
 */
static bool is_ramp(const struct tg_history_line *l, size_t first)
{
    const struct tg_history_window *w = &l->t->w;
    size_t n = nights_before(w, first);
    size_t n_new = w->n - n < TG_HISTORY_END ? w->n - n : TG_HISTORY_END;
    double begin = l->t->pending->end, end, own, line = 0, level = 0;
    if (!n || !n_new)
        return false;
    end = tg_changepoint_median(w->v + n, n_new);
    own = tg_changepoint_median(w->v, n);
    for (size_t i = 0; i < n; i++) {
        double nights = (double)n + (double)(TG_HISTORY_END + n_new) / 2;
        double at = ((double)i + (double)(TG_HISTORY_END + 1) / 2) / nights;
        double expected = begin + at * (end - begin);
        line += (w->v[i] - expected) * (w->v[i] - expected);
        level += (w->v[i] - own) * (w->v[i] - own);
    }
    return line < level;
}

/* What an open change has to exceed to be more than it was said to be; as what check forgives it
 * (known_events.h). */
static double enough(double e)
{
    return fabs(e) + fmax(fabs(e) / 4, TG_CHANGEPOINT_TAU);
}

void tg_history_bring_up_to(const struct tg_history_line *l, size_t first)
{
    const struct tg_history_pending *p = l->t->pending;
    if (p && !tg_history_is_exact(change_of(l, p)) && window_before(&l->t->w, first) >= p->since)
        change_of(l, p)->now = tg_history_window_end(&l->t->w, first) - p->base;
}

/* The level of the newest nights, from the place `first` on. */
static double level_from(const struct tg_history_window *w, size_t first)
{
    size_t n = nights_before(w, first);
    return tg_changepoint_median(w->v + n, w->n - n);
}

/* The newest change is more than it was, until night `to`: the nights from the place `first` on say
 * how much. */
static void grow(const struct tg_history_line *l, size_t first, size_t to)
{
    struct tg_history_pending *p = l->t->pending;
    struct tg_history_event *e = &l->r->h->event[p->event];
    struct tg_moved_series *m = change_of(l, p);
    double was = m->e;
    /* A drift begins after the last night of the level before that is not above its middle; of a
     * step that was the beginning of one the place is somewhere on the way. */
    size_t i = p->old.n - 1;
    while (i > 0 && (p->up ? p->old.v[i] : -p->old.v[i]) > p->median)
        i--;
    size_t from = l->s->night[p->old.at[i]];
    tg_history_set_size(m, series_of(l),
                        level_from(&l->t->w, first) - (p->up ? p->median : -p->median));
    m->from = from < m->from ? from : m->from;
    m->slowly = true;
    m->to = to > m->to ? to : m->to;
    if (fabs(m->e) > enough(was))
        e->grew = l->s->night[l->s->n - 1];
    if (series_of(l))
        m->what = TG_MOVED_DRIFT;
    tg_history_set_range(e);
}

/* The change becomes part of an event, and a new level begins at `first`. */
static void begin_level(const struct tg_history_line *l, const struct tg_moved_series *m,
                        size_t first, bool up)
{
    if (!tg_history_is_exact(m) && is_open(l, up) && is_ramp(l, first)) {
        grow(l, first, m->to);
        l->t->pending->end = tg_history_window_end(&l->t->w, first);
    } else {
        tg_history_bring_up_to(l, first);
        size_t moved, event = tg_history_attach(l->r, l->s, m, &moved);
        track_remember(l->t, first, event, moved, up, l->r->a);
        l->t->pending->from = m->from;
        l->t->pending->to = m->to;
        l->t->pending->base = level_from(&l->t->w, first) - change_of(l, l->t->pending)->e;
    }
    track_begin(l->t, first);
}

/* ---- coming back ---- */

/* The series is at its old level since its newest `n` nights. */
static void resolve(const struct tg_history_line *l, size_t n)
{
    struct tg_history_track *t = l->t;
    struct tg_history_pending *p = t->pending;
    struct tg_history_window back = p->old;
    tg_history_bring_up_to(l, t->w.at[t->w.n - n]);
    change_of(l, p)->back = true;
    change_of(l, p)->back_at = l->s->night[t->w.at[t->w.n - n]];
    for (size_t i = t->w.n - n; i < t->w.n; i++)
        tg_history_window_push_from(&back, &t->w, i);
    t->w = back;
    t->n_first = back.n < TG_DRIFT_LEVEL ? back.n : TG_DRIFT_LEVEL;
    memcpy(t->first, back.v, t->n_first * sizeof *t->first);
    t->has_reference = false;
    t->pending = p->before;
    tg_history_end_event(l->r, &l->r->h->event[p->event]);
}

/* A step the other way that ends near the level before: the same event, mended. */
static bool undoes(const struct tg_history_line *l, size_t k, bool up)
{
    const struct tg_history_track *t = l->t;
    const struct tg_history_pending *p = t->pending;
    if (!p || p->up == up || p->old.n < TG_CHANGEPOINT_OLD ||
        change_of(l, p)->what == TG_MOVED_CALLS)
        return false;
    double now = tg_changepoint_median(t->w.v + t->w.n - k, k) * (p->up ? 1 : -1);
    double then = tg_changepoint_median(t->w.v, t->w.n - k) * (p->up ? 1 : -1);
    return now <= p->median + (then - p->median) / 4 || now <= p->p90;
}

/* ---- steps and drifts ---- */

static void found_step(const struct tg_history_line *l, const struct tg_history_scan *scan, bool up)
{
    const struct tg_series *x = series_of(l);
    const struct tg_history_window *w = &l->t->w;
    const size_t *night = l->s->night;
    size_t first = w->at[w->n - scan->k], lo = w->at[w->n - scan->k_max];
    double e = up ? scan->e : -scan->e;
    struct tg_moved_series m = { .what = x ? TG_MOVED_STEP : TG_MOVED_MACHINE,
                                 .series = l->series,
                                 .metric = is_metric(x),
                                 .fired = night[l->s->n - 1],
                                 .first = night[first],
                                 .from = night[window_before(w, lo)],
                                 .to = night[w->at[w->n - scan->k_min]],
                                 .e = e,
                                 .rank_z = scan->rank_z,
                                 .z = scan->z,
                                 .p = scan->p,
                                 .worse = up == (!x || x->worse > 0) };
    if (undoes(l, scan->k, up)) {
        resolve(l, scan->k);
        return;
    }
    if (x) {
        m.before = plain_median(l, 0, first);
        if (!above_floor(l, x, m.before, e))
            return;
        tg_history_set_size(&m, x, e);
    }
    begin_level(l, &m, first, up);
}

void tg_history_look(const struct tg_history_line *l)
{
    const struct tg_history_window *w = &l->t->w;
    const struct tg_series *x = series_of(l);
    double down[TG_CHANGEPOINT_WINDOW];
    struct tg_history_scan scan = tg_history_scan_look(w->v, w->variance, w->n);
    bool up = scan.lane != TG_LANE_NONE;
    if (!up) {
        for (size_t i = 0; i < w->n; i++)
            down[i] = -w->v[i];
        scan = tg_history_scan_look(down, w->variance, w->n);
    }
    /* What is about the whole step or run holds all that disturbs a machine for some nights: no
     * fast lane, and more z. */
    bool whole = x && !tg_series_is_name(x);
    if (whole ? scan.lane == TG_LANE_SCAN && scan.z > TG_CHANGEPOINT_METRIC_Z
              : scan.lane != TG_LANE_NONE)
        found_step(l, &scan, up);
}

void tg_history_look_for_drift(const struct tg_history_line *l)
{
    const struct tg_series *x = series_of(l);
    const struct tg_history_track *t = l->t;
    const struct tg_history_window *w = &t->w;
    const size_t *night = l->s->night, newest = night[l->s->n - 1];
    double old[TG_DRIFT_LEVEL], new_[TG_DRIFT_NIGHTS];
    int up = x->worse > 0 ? 1 : -1;
    size_t first;
    if (t->n_first < TG_DRIFT_LEVEL || w->n < TG_DRIFT_NIGHTS ||
        w->at[w->n - TG_DRIFT_NIGHTS] < TG_DRIFT_LEVEL || x->scale == TG_SCALE_PART)
        return;
    for (size_t i = 0; i < TG_DRIFT_LEVEL; i++)
        old[i] = up * t->first[i];
    for (size_t i = 0; i < TG_DRIFT_NIGHTS; i++)
        new_[i] = up * w->v[w->n - TG_DRIFT_NIGHTS + i];
    struct tg_drift d = tg_drift_look(old, TG_DRIFT_LEVEL, new_, TG_DRIFT_NIGHTS);
    first = w->at[w->n - TG_DRIFT_NIGHTS];
    /* all nights of the window taken together: a burst at its end is not a drift */
    if (!d.found || up * tg_changepoint_trend(w->v, w->n) <= TG_DRIFT_TREND)
        return;
    struct tg_moved_series m = { .what = TG_MOVED_DRIFT,
                                 .series = l->series,
                                 .metric = is_metric(x),
                                 .fired = newest,
                                 .first = night[first],
                                 .from = night[w->at[0]],
                                 .to = newest,
                                 .e = up * d.e,
                                 .z = d.z,
                                 .worse = true,
                                 .slowly = true };
    m.after = plain_median(l, first, l->s->n);
    m.before = m.after / exp(m.e);
    m.cost_ns = tg_history_cost(x, m.before, m.e);
    if (above_floor(l, x, m.before, m.e))
        begin_level(l, &m, first, up > 0);
}

/* An open change that is a quarter more than it was, or 2 %, on each of the newest five nights, by
 * nights that rise as a line: the beginning of a drift was taken for a step. */
void tg_history_look_for_more(const struct tg_history_line *l)
{
    const struct tg_history_window *w = &l->t->w;
    const struct tg_history_pending *p = l->t->pending;
    int up = p && p->up ? 1 : -1;
    if (!is_open(l, up > 0) || w->n < TG_DRIFT_NIGHTS ||
        up * tg_changepoint_trend(w->v, w->n) <= TG_DRIFT_TREND)
        return;
    for (size_t i = w->n - TG_DRIFT_NIGHTS; i < w->n; i++)
        if (up * w->v[i] - p->median <= enough(change_of(l, p)->e))
            return;
    if (!tg_changepoint_is_line(w->v, w->n))
        return;
    size_t first = w->at[w->n - TG_DRIFT_NIGHTS];
    grow(l, first, l->s->night[first]);
}

/* ---- calls ---- */

void tg_history_look_at_calls(const struct tg_history_line *l, double calls, double plain)
{
    const struct tg_series *x = series_of(l);
    const struct tg_history_track *t = l->t;
    const size_t *night = l->s->night;
    size_t place = l->s->n - 1;
    bool there = t->seen, known = there && !isnan(t->calls);
    struct tg_moved_series m = { .what = !there ? TG_MOVED_NEW : TG_MOVED_CALLS,
                                 .series = l->series,
                                 .metric = is_metric(x),
                                 .fired = night[place],
                                 .first = night[place],
                                 .to = night[place],
                                 .before = known ? t->calls : 0,
                                 .after = calls,
                                 .worse = calls * x->worse > (known ? t->calls : 0) * x->worse };
    if (isnan(calls) || (there && !known) || (known && t->calls == calls) || !place ||
        tg_history_track_is_random(t, place))
        return;
    m.from = night[t->seen ? t->last : place - 1];
    if (calls == 0)
        m.what = TG_MOVED_GONE;
    m.other = l->s->pair[l->series];
    if (m.other) { /* is the name that came slower than the one that it replaced? */
        uint32_t id = m.other - 1;
        struct tg_history_line other = { l->r, l->s, &l->s->track[id], id };
        const struct tg_night *newest = &l->r->h->night[night[place]];
        m.worse = tg_night_value(newest, there ? id : l->series)->plain >
                  plain_median(there ? l : &other, 0, place);
    }
    /* of none it is so low that the ratio less 1 is -1 exactly, and finite */
    m.e = m.before > 0 ? log(fmax(calls, DBL_MIN) / m.before) : 0;
    if (tg_series_is_name(x))
        m.cost_ns = plain - plain_median(l, 0, place);
    begin_level(l, &m, place, calls > m.before);
}

/* ---- levels that were left ---- */

void tg_history_look_back(const struct tg_history_line *l)
{
    const struct tg_history_pending *p = l->t->pending;
    if (p && track_is_back(l->t, p) && !tg_history_is_exact(change_of(l, p)))
        resolve(l, TG_HISTORY_BACK);
}

bool tg_history_undo_calls(const struct tg_history_line *l, double calls)
{
    struct tg_history_track *t = l->t;
    struct tg_history_pending *p = t->pending;
    if (!p || isnan(calls))
        return false;
    /* with the name that had replaced another goes what was found of its time */
    while (calls == 0 && t->was && p->before && p->before->event == p->event) {
        change_of(l, p)->back = true;
        change_of(l, p)->back_at = l->s->night[l->s->n - 1];
        p = p->before;
    }
    struct tg_moved_series *m = change_of(l, p);
    if (!tg_history_is_exact(m) || calls != m->before || calls == t->calls)
        return false;
    m->back = true;
    m->back_at = l->s->night[l->s->n - 1];
    t->calls = calls;
    t->pending = p->before;
    if (t->w.n) {
        struct tg_history_window back = p->old;
        tg_history_window_push_from(&back, &t->w, t->w.n - 1);
        t->w = back;
    }
    t->has_reference = false;
    tg_history_end_event(l->r, &l->r->h->event[p->event]);
    return true;
}

enum { RELOCATE = 12 }; /* nights of the new level after which it stays */

/*
 * Later nights choose among the splits that the range had when the step was found: a larger step
 * some nights later is another one, and would draw the place to itself.
 */
void tg_history_relocate(const struct tg_history_line *l)
{
    const struct tg_history_track *t = l->t;
    const struct tg_history_pending *p = t->pending;
    const size_t *night = l->s->night;
    size_t k_min = 1, k_max, k;
    if (!p || p->old.n < TG_CHANGEPOINT_OLD || !t->w.n || t->w.n > RELOCATE)
        return;
    struct tg_moved_series *m = change_of(l, p);
    if (m->what != TG_MOVED_STEP)
        return;
    struct tg_history_window all = p->old;
    for (size_t i = 0; i < t->w.n; i++)
        tg_history_window_push_from(&all, &t->w, i);
    while (k_min < all.n && night[all.at[all.n - k_min]] > p->to)
        k_min++;
    for (k_max = k_min; k_max < all.n && night[all.at[all.n - k_max - 1]] > p->from;)
        k_max++;
    k = tg_changepoint_locate(all.v, all.n, &k_min, &k_max);
    m->first = night[all.at[all.n - k]];
    m->from = night[window_before(&all, all.at[all.n - k_max])];
    m->to = night[all.at[all.n - k_min]];
    tg_history_set_range(&l->r->h->event[p->event]);
}
