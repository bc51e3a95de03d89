#include "core/history/history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/sha256.h"
#include "core/diff/stats.h"

enum { HOST, DEVICE, SIDES };
enum { REFERENCE = 5, RENEW = 20, RECENT = 10 };
#define FACTOR_SHARE 0.003 /* of the step: series the common factor is made of */
#define FLOOR_SHARE 0.001  /* of the step: a smaller change is not told */

const char *tg_event_kind_name(enum tg_event_kind k)
{
    static const char *const name[] = { "regression", "improvement", "calls",      "moved",
                                        "drift",      "machine",     "environment" };
    return name[k];
}

const char *tg_event_state_name(enum tg_event_state s)
{
    static const char *const name[] = { "open", "accepted", "fixed", "went away" };
    return name[s];
}

const char *tg_moved_name(enum tg_moved m)
{
    static const char *const name[] = { "step", "calls", "drift", "machine", "new", "gone" };
    return name[m];
}

/* ---- what is kept of a series in a stream ------------------------------------------------- */

/* The newest nights of a level, oldest first. */
struct window {
    double v[TG_SCAN_WINDOW];
    uint32_t at[TG_SCAN_WINDOW]; /* place in the stream */
    size_t n;
};

/* A change that may still come back, or whose place may still be told better. */
struct pending {
    struct window old; /* the level before */
    size_t event, moved;
    double p90, median; /* of the level before */
    size_t since;       /* first place of the new level */
    bool up;
    struct pending *before; /* the change before this one */
};

struct track {
    struct window w;
    double first[TG_DRIFT_LEVEL]; /* the level's first values */
    size_t n_first;
    double reference;
    bool has_reference, shares; /* takes part in the common factor */
    double calls;               /* of the last night that told; NAN: unknown */
    bool seen;
    size_t last;   /* place of its last night */
    size_t random; /* place + 1 of its last night with a number of calls that was not settled */
    struct pending *pending;
};

struct stream {
    tg_sv environment;
    size_t *night; /* place -> night */
    size_t n, cap;
    struct track *track; /* by series */
    struct track machine[SIDES];
    double *value; /* scratch: differences */
};

struct replay {
    struct tg_history *h;
    tg_sv suite;
    struct tg_arena *a;
    struct stream *stream;
    size_t cap_events, cap_moved_of_event;
    size_t *cap_moved; /* by event */
};

static bool on_device(const struct tg_series *s)
{
    return s->what == TG_SERIES_KERNEL;
}

/* A percentage is not a time: the machine's speed is not in them. */
static bool is_time(const struct tg_series *s)
{
    return s->what != TG_SERIES_MEASURE || tg_measure_info(s->measure)->unit_id == TG_MEASURE_NS;
}

static int factor_of(const struct replay *r, size_t night, const struct tg_series *s)
{
    if (s->what == TG_SERIES_MEASURE)
        return isnan(r->h->factor[DEVICE][night]) ? HOST : DEVICE;
    return on_device(s) ? DEVICE : HOST;
}

double tg_history_corrected(const struct tg_history *h, size_t night, uint32_t series)
{
    const struct tg_history_value *v = tg_night_value(&h->night[night], series);
    const struct tg_series *s = &h->series->v[series];
    struct replay r = { .h = (struct tg_history *)(uintptr_t)h };
    double c;
    if (!v || isnan(v->v) || !is_time(s))
        return v ? v->v : NAN;
    c = h->factor[factor_of(&r, night, s)][night];
    return isnan(c) ? v->v : v->v - c;
}

static void push(struct window *w, double v, size_t at)
{
    if (w->n == TG_SCAN_WINDOW) {
        memmove(w->v, w->v + 1, (TG_SCAN_WINDOW - 1) * sizeof *w->v);
        memmove(w->at, w->at + 1, (TG_SCAN_WINDOW - 1) * sizeof *w->at);
        w->n--;
    }
    w->v[w->n] = v;
    w->at[w->n++] = (uint32_t)at;
}

static void push_from(struct window *w, const struct window *from, size_t i)
{
    push(w, from->v[i], from->at[i]);
}

static double median_of(const double *v, size_t n)
{
    double copy[TG_SCAN_WINDOW];
    memcpy(copy, v, n * sizeof *v);
    return tg_median(copy, n);
}

static double p90_of(const double *v, size_t n)
{
    double copy[TG_SCAN_WINDOW];
    memcpy(copy, v, n * sizeof *v);
    return tg_quantile(copy, n, 0.9);
}

/* ---- the common factor --------------------------------------------------------------------- */

static void refer(struct track *t, double step_ns)
{
    size_t n = t->w.n < RECENT ? t->w.n : RECENT;
    t->reference = median_of(t->w.v + t->w.n - n, n);
    t->has_reference = true;
    t->shares = exp(t->reference) >= FACTOR_SHARE * step_ns;
}

/* Median of the differences of one side's series; NAN: too few. */
static double factor(struct replay *r, struct stream *s, const struct tg_night *night, int side)
{
    size_t n = 0;
    for (size_t i = 0; i < night->n; i++) {
        const struct tg_history_value *v = &night->v[i];
        const struct tg_series *series = &r->h->series->v[v->series];
        const struct track *t = &s->track[v->series];
        if (series->what != TG_SERIES_MEASURE && series->judged && on_device(series) == side &&
            !isnan(v->v) && t->has_reference && t->shares)
            s->value[n++] = v->v - t->reference;
    }
    return n < TG_HISTORY_FACTOR ? (double)NAN : tg_median(s->value, n);
}

/* The first five nights of a stream are the references; only then their factors are known. */
static void first_references(struct replay *r, struct stream *s)
{
    struct tg_history *h = r->h;
    for (size_t i = 0; i < h->series->n; i++)
        if (s->track[i].w.n >= REFERENCE / 2 + 1)
            refer(&s->track[i], h->night[s->night[s->n - 1]].step_ns);
    for (size_t k = 0; k < s->n; k++)
        for (int side = 0; side < SIDES; side++)
            h->factor[side][s->night[k]] = factor(r, s, &h->night[s->night[k]], side);
    for (uint32_t i = 0; i < h->series->n; i++) {
        struct track *t = &s->track[i];
        for (size_t k = 0; k < t->w.n; k++)
            t->w.v[k] = tg_history_corrected(h, s->night[t->w.at[k]], i);
        if (t->has_reference)
            refer(t, h->night[s->night[s->n - 1]].step_ns);
        t->n_first = t->w.n;
        memcpy(t->first, t->w.v, t->w.n * sizeof *t->first);
    }
}

/* ---- events -------------------------------------------------------------------------------- */

static struct tg_history_event *new_event(struct replay *r, const struct stream *s, size_t fired,
                                          size_t to, tg_sv what)
{
    struct tg_history *h = r->h;
    struct tg_history_event *e;
    char digest[65];
    tg_sv key;
    if (h->n_events == r->cap_events) {
        size_t cap = r->cap_events ? r->cap_events * 2 : 16;
        struct tg_history_event *grown = TG_NEW_N(r->a, struct tg_history_event, cap);
        size_t *caps = TG_NEW_N(r->a, size_t, cap);
        if (h->n_events) {
            memcpy(grown, h->event, h->n_events * sizeof *grown);
            memcpy(caps, r->cap_moved, h->n_events * sizeof *caps);
        }
        h->event = grown;
        r->cap_moved = caps;
        r->cap_events = cap;
    }
    e = &h->event[h->n_events++];
    *e = (struct tg_history_event){ .stream = (size_t)(s - r->stream), .fired = fired };
    key = tg_sv_of(tg_arena_printf(r->a, "%.*s\n%.*s\n%.*s\n%.*s", TG_SV_ARG(r->suite),
                                   TG_SV_ARG(s->environment), TG_SV_ARG(h->night[to].commit),
                                   TG_SV_ARG(what)));
    tg_sha256_hex(key, digest);
    memcpy(e->id, digest, sizeof e->id - 1);
    return e;
}

static struct tg_moved_series *add_moved(struct replay *r, struct tg_history_event *e,
                                         struct tg_moved_series m)
{
    size_t *cap = &r->cap_moved[e - r->h->event];
    if (e->n == *cap) {
        size_t more = *cap ? *cap * 2 : 4;
        struct tg_moved_series *grown = TG_NEW_N(r->a, struct tg_moved_series, more);
        if (e->n)
            memcpy(grown, e->v, e->n * sizeof *grown);
        e->v = grown;
        *cap = more;
    }
    e->v[e->n] = m;
    return &e->v[e->n++];
}

/* The nights that all of its changes allow; where there are none, those of the surest change. */
static void set_range(struct tg_history_event *e)
{
    size_t best = 0;
    e->from = 0;
    e->to = SIZE_MAX;
    for (size_t i = 0; i < e->n; i++) {
        e->from = e->v[i].from > e->from ? e->v[i].from : e->from;
        e->to = e->v[i].to < e->to ? e->v[i].to : e->to;
        if (e->v[i].rank_z > e->v[best].rank_z)
            best = i;
    }
    if (e->from >= e->to) {
        e->from = e->v[best].from;
        e->to = e->v[best].to;
    }
}

static bool slow(enum tg_moved m)
{
    return m == TG_MOVED_DRIFT;
}

static bool is_measure(const struct replay *r, const struct tg_moved_series *m)
{
    return m->series != UINT32_MAX && r->h->series->v[m->series].what == TG_SERIES_MEASURE;
}

/*
 * What got slower and what got faster on one night are two events, or an improvement would hide a
 * regression; unless the one is about what the other lost, which is time that moved. Metrics of the
 * step follow whatever moved.
 */
static bool goes_with(const struct replay *r, const struct tg_history_event *e,
                      const struct tg_moved_series *m)
{
    bool worse = false, better = false;
    double sum = m->cost_ns;
    for (size_t i = 0; i < e->n; i++) {
        if (is_measure(r, &e->v[i]))
            continue;
        *(e->v[i].worse ? &worse : &better) = true;
        sum += e->v[i].cost_ns;
    }
    return is_measure(r, m) || !(m->worse ? better : worse) || (worse && better) ||
           fabs(sum) <= 0.25 * fabs(m->cost_ns);
}

/* An event of this stream on the same nights that is still growing; else a new one. */
static struct tg_history_event *event_for(struct replay *r, const struct stream *s,
                                          const struct tg_moved_series *m)
{
    struct tg_history *h = r->h;
    for (size_t i = h->n_events; i-- > 0;) {
        struct tg_history_event *e = &h->event[i];
        if (e->stream != (size_t)(s - r->stream) || !e->n || e->state != TG_STATE_OPEN)
            continue;
        if (slow(m->what) || slow(e->v[0].what)) {
            for (size_t k = 0; slow(m->what) && slow(e->v[0].what) && k < e->n; k++)
                if (e->v[k].series == m->series || e->v[k].fired == m->fired)
                    return e;
            continue;
        }
        if (e->from < m->to && m->from < e->to && goes_with(r, e, m))
            return e;
    }
    return NULL;
}

static tg_sv series_key(const struct replay *r, uint32_t series)
{
    return series == UINT32_MAX ? TG_SV("machine") : r->h->series->v[series].name;
}

/* One change a series and event: a later look at the same one brings it up to date. */
static size_t attach(struct replay *r, struct stream *s, const struct tg_moved_series *m,
                     size_t *moved)
{
    struct tg_history_event *e = event_for(r, s, m);
    if (!e)
        e = new_event(r, s, m->fired, m->to, series_key(r, m->series));
    for (size_t i = 0; i < e->n; i++)
        if (e->v[i].series == m->series && slow(e->v[i].what) && slow(m->what)) {
            e->v[i].after = m->after;
            e->v[i].e += m->e;
            e->v[i].cost_ns += m->cost_ns;
            e->v[i].to = m->to;
            *moved = i;
            set_range(e);
            return (size_t)(e - r->h->event);
        }
    *moved = e->n;
    (void)add_moved(r, e, *m);
    set_range(e);
    return (size_t)(e - r->h->event);
}

/* ---- changes of one series ----------------------------------------------------------------- */

static void begin_level(struct track *t, size_t first)
{
    struct window old = t->w;
    t->w.n = 0;
    t->n_first = 0;
    t->has_reference = false;
    for (size_t i = 0; i < old.n; i++)
        if (old.at[i] >= first) {
            push_from(&t->w, &old, i);
            if (t->n_first < TG_DRIFT_LEVEL)
                t->first[t->n_first++] = old.v[i];
        }
}

static void remember(struct replay *r, struct track *t, const struct window *all, size_t first,
                     size_t event, size_t moved, bool up)
{
    struct pending *p = TG_NEW(r->a, struct pending);
    double signed_[TG_SCAN_WINDOW];
    for (size_t i = 0; i < all->n && all->at[i] < first; i++)
        push_from(&p->old, all, i);
    for (size_t i = 0; i < p->old.n; i++)
        signed_[i] = up ? p->old.v[i] : -p->old.v[i];
    p->event = event;
    p->moved = moved;
    p->since = first;
    p->up = up;
    p->p90 = p->old.n ? p90_of(signed_, p->old.n) : 0;
    p->median = p->old.n ? median_of(signed_, p->old.n) : 0;
    p->before = t->pending;
    t->pending = p;
}

static double plain_median(const struct replay *r, const struct stream *s, uint32_t series,
                           const struct window *w, size_t from, size_t to)
{
    double v[TG_SCAN_WINDOW];
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

static bool above_floor(const struct replay *r, const struct stream *s, const struct tg_series *x,
                        double before, double e)
{
    const struct tg_night *night = &r->h->night[s->night[s->n - 1]];
    return !is_time(x) || fabs(cost_of(x, before, e)) > FLOOR_SHARE * night->step_ns;
}

/* The last place before `first` that the series has a value at; the stream's first otherwise. */
static size_t place_before(const struct window *w, size_t first)
{
    size_t at = first ? first - 1 : 0;
    for (size_t i = 0; i < w->n; i++)
        if (w->at[i] < first)
            at = w->at[i];
    return at;
}

/* ---- coming back --------------------------------------------------------------------------- */

/* Under the 90th percentile of the level before, or so far down that it cannot be noise. */
static bool is_back(const struct track *t, const struct pending *p)
{
    double all[TG_SCAN_WINDOW], e, most;
    size_t n = 0;
    if (p->old.n < TG_SCAN_OLD || t->w.n < TG_HISTORY_BACK + 1)
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

static void end_event(struct replay *r, struct tg_history_event *e)
{
    size_t last = 0, lasted;
    for (size_t i = 0; i < e->n; i++) {
        if (!e->v[i].back)
            return;
        last = e->v[i].back_at > last ? e->v[i].back_at : last;
    }
    lasted = r->h->place[last] - r->h->place[e->v[0].first];
    e->ended = last;
    e->state = lasted >= TG_HISTORY_LASTING || e->v[0].what == TG_MOVED_CALLS ||
                       e->v[0].what == TG_MOVED_NEW || e->v[0].what == TG_MOVED_GONE
                   ? TG_STATE_FIXED
                   : TG_STATE_WENT_AWAY;
}

/* The series is at its old level since its newest `n` nights. */
static void resolve(struct replay *r, struct stream *s, struct track *t, size_t n)
{
    struct pending *p = t->pending;
    struct tg_history_event *e = &r->h->event[p->event];
    struct window back = p->old;
    e->v[p->moved].back = true;
    e->v[p->moved].back_at = s->night[t->w.at[t->w.n - n]];
    for (size_t i = t->w.n - n; i < t->w.n; i++)
        push_from(&back, &t->w, i);
    t->w = back;
    t->n_first = back.n < TG_DRIFT_LEVEL ? back.n : TG_DRIFT_LEVEL;
    memcpy(t->first, back.v, t->n_first * sizeof *t->first);
    t->has_reference = false;
    t->pending = p->before;
    end_event(r, e);
}

/* A step the other way that ends near the level before: the same event, mended. */
static bool undoes(const struct replay *r, const struct track *t, size_t k, bool up)
{
    const struct pending *p = t->pending;
    double now, then;
    if (!p || p->up == up || p->old.n < TG_SCAN_OLD ||
        r->h->event[p->event].v[p->moved].what == TG_MOVED_CALLS)
        return false;
    now = median_of(t->w.v + t->w.n - k, k) * (p->up ? 1 : -1);
    then = median_of(t->w.v, t->w.n - k) * (p->up ? 1 : -1);
    return now <= p->median + (then - p->median) / 4 || now <= p->p90;
}

static void found_step(struct replay *r, struct stream *s, struct track *t, uint32_t series,
                       const struct tg_history_scan *scan, bool up)
{
    const struct tg_series *x = series == UINT32_MAX ? NULL : &r->h->series->v[series];
    struct window all = t->w;
    size_t first = all.at[all.n - scan->k], lo = all.at[all.n - scan->k_max],
           hi = all.at[all.n - scan->k_min], event, moved;
    double e = up ? scan->e : -scan->e;
    struct tg_moved_series m = { .what = x ? TG_MOVED_STEP : TG_MOVED_MACHINE,
                                 .series = series,
                                 .fired = s->night[s->n - 1],
                                 .first = s->night[first],
                                 .from = s->night[place_before(&all, lo)],
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
    event = attach(r, s, &m, &moved);
    remember(r, t, &all, first, event, moved, up);
    begin_level(t, first);
}

static void negate(const struct window *w, double *out)
{
    for (size_t i = 0; i < w->n; i++)
        out[i] = -w->v[i];
}

/* Measures of the step hold all that disturbs a machine for a night or two: no fast lane. */
static bool is_taken(const struct replay *r, const struct tg_history_scan *scan, uint32_t series)
{
    return scan->lane == TG_LANE_SCAN ||
           (scan->lane == TG_LANE_FAST &&
            (series == UINT32_MAX || r->h->series->v[series].what != TG_SERIES_MEASURE));
}

static void look(struct replay *r, struct stream *s, struct track *t, uint32_t series)
{
    double down[TG_SCAN_WINDOW];
    struct tg_history_scan scan = tg_history_scan_look(t->w.v, t->w.n);
    bool up = scan.lane != TG_LANE_NONE;
    if (!up) {
        negate(&t->w, down);
        scan = tg_history_scan_look(down, t->w.n);
    }
    if (is_taken(r, &scan, series))
        found_step(r, s, t, series, &scan, up);
}

static void look_for_drift(struct replay *r, struct stream *s, struct track *t, uint32_t series)
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
    if (!d.found)
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
    event = attach(r, s, &m, &moved);
    remember(r, t, &t->w, first, event, moved, x->worse > 0);
    begin_level(t, first);
}

/* Runs of a night did not agree lately: the number says nothing about the program. */
static bool is_random(const struct track *t, size_t place)
{
    return t->random && place < t->random + RENEW;
}

/* Another number of calls, at once: nothing about it is noise. */
static void look_at_calls(struct replay *r, struct stream *s, struct track *t, uint32_t series,
                          double calls, double plain)
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
    if (x->what != TG_SERIES_MEASURE) {
        double old = plain_median(r, s, series, &t->w, 0, place);
        m.cost_ns = plain - old;
    }
    event = attach(r, s, &m, &moved);
    remember(r, t, &t->w, place, event, moved, calls > m.before);
    begin_level(t, place);
}

static void look_back(struct replay *r, struct stream *s, struct track *t)
{
    enum tg_moved what;
    if (!t->pending || !is_back(t, t->pending))
        return;
    what = r->h->event[t->pending->event].v[t->pending->moved].what;
    if (what == TG_MOVED_STEP || what == TG_MOVED_DRIFT || what == TG_MOVED_MACHINE)
        resolve(r, s, t, TG_HISTORY_BACK);
}

/* A change of calls that undoes an earlier one ends that one's event, and makes no event itself. */
static bool undo_calls(struct replay *r, struct stream *s, struct track *t, double calls)
{
    struct pending *p = t->pending;
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
        struct window back = p->old;
        push_from(&back, &t->w, t->w.n - 1);
        t->w = back;
    }
    t->has_reference = false;
    end_event(r, &r->h->event[p->event]);
    return true;
}

/* ---- telling the place of a change better -------------------------------------------------- */

enum { RELOCATE = 12 }; /* nights of the new level after which it stays */

static void relocate(struct replay *r, struct stream *s, struct track *t)
{
    struct pending *p = t->pending;
    struct tg_moved_series *m;
    struct window all;
    size_t k_min, k_max, k;
    if (!p || p->old.n < TG_SCAN_OLD || !t->w.n || t->w.n > RELOCATE)
        return;
    m = &r->h->event[p->event].v[p->moved];
    if (m->what != TG_MOVED_STEP)
        return;
    all = p->old;
    for (size_t i = 0; i < t->w.n; i++)
        push_from(&all, &t->w, i);
    if (!p->up)
        for (size_t i = 0; i < all.n; i++)
            all.v[i] = -all.v[i];
    k = tg_scan_locate(all.v, all.n, &k_min, &k_max);
    if (k > t->w.n + RELOCATE)
        return;
    m->first = s->night[all.at[all.n - k]];
    m->from = s->night[place_before(&all, all.at[all.n - k_max])];
    m->to = s->night[all.at[all.n - k_min]];
    set_range(&r->h->event[p->event]);
}

/* ---- one night ----------------------------------------------------------------------------- */

static void append(struct stream *s, size_t night, size_t n_series)
{
    s->night = tg_grow(s->night, &s->cap, s->n + 1, sizeof *s->night);
    s->night[s->n++] = night;
    if (!s->track) {
        s->track = tg_xmalloc((n_series + 1) * sizeof *s->track);
        memset(s->track, 0, (n_series + 1) * sizeof *s->track);
        s->value = tg_xmalloc((n_series + 1) * sizeof *s->value);
        for (size_t i = 0; i < n_series; i++)
            s->track[i].calls = NAN;
    }
}

static void take_value(struct replay *r, struct stream *s, const struct tg_history_value *v)
{
    struct track *t = &s->track[v->series];
    size_t place = s->n - 1, night = s->night[place];
    double x = tg_history_corrected(r->h, night, v->series);
    if (isnan(x))
        return;
    push(&t->w, x, place);
    if (place >= REFERENCE && t->n_first < TG_DRIFT_LEVEL)
        t->first[t->n_first++] = x;
}

static void judge_value(struct replay *r, struct stream *s, const struct tg_history_value *v)
{
    const struct tg_series *x = &r->h->series->v[v->series];
    struct track *t = &s->track[v->series];
    if (x->counted && !undo_calls(r, s, t, v->calls))
        look_at_calls(r, s, t, v->series, v->calls, v->plain);
    if (x->judged && t->w.n && t->w.at[t->w.n - 1] == s->n - 1) {
        look(r, s, t, v->series);
        look_for_drift(r, s, t, v->series);
        look_back(r, s, t);
        relocate(r, s, t);
    }
    if (!isnan(v->calls))
        t->calls = v->calls;
    else
        t->random = s->n;
    t->seen = true;
    t->last = s->n - 1;
    if (t->w.n >= REFERENCE && (!t->has_reference || s->n % RENEW == 0))
        refer(t, r->h->night[s->night[s->n - 1]].step_ns);
}

/* A counted series that had values the night before and has none now. */
static void judge_gone(struct replay *r, struct stream *s)
{
    for (uint32_t i = 0; i < r->h->series->n; i++) {
        struct track *t = &s->track[i];
        if (!t->seen || t->last + 2 != s->n || !r->h->series->v[i].counted ||
            r->h->series->v[i].what == TG_SERIES_MEASURE || isnan(t->calls) || t->calls == 0)
            continue;
        if (!undo_calls(r, s, t, 0))
            look_at_calls(r, s, t, i, 0, 0);
        t->calls = 0;
    }
}

static void judge_machine(struct replay *r, struct stream *s)
{
    for (int side = 0; side < SIDES; side++) {
        struct track *t = &s->machine[side];
        double c = r->h->factor[side][s->night[s->n - 1]];
        if (isnan(c))
            continue;
        push(&t->w, c, s->n - 1);
        look(r, s, t, UINT32_MAX);
        look_back(r, s, t);
    }
}

static void tell_environment(struct replay *r, struct stream *s, size_t night)
{
    struct tg_history_event *e;
    if (s->n != 1 || !night)
        return;
    e = new_event(r, s, night, night, TG_SV("environment"));
    e->kind = TG_EVENT_ENVIRONMENT;
    e->from = night - 1;
    e->to = night;
    e->was = r->h->night[night - 1].environment;
    e->is = r->h->night[night].environment;
}

static void take_night(struct replay *r, size_t i)
{
    struct tg_history *h = r->h;
    struct tg_night *night = &h->night[i];
    struct stream *s = &r->stream[h->stream[i]];
    append(s, i, h->series->n);
    h->place[i] = s->n - 1;
    tell_environment(r, s, i);
    for (int side = 0; side < SIDES; side++)
        h->factor[side][i] = s->n <= REFERENCE ? (double)NAN : factor(r, s, night, side);
    for (size_t k = 0; k < night->n; k++)
        take_value(r, s, &night->v[k]);
    if (s->n == REFERENCE)
        first_references(r, s);
    for (size_t k = 0; k < night->n; k++)
        judge_value(r, s, &night->v[k]);
    judge_gone(r, s);
    judge_machine(r, s);
}

/* ---- what an event comes to ---------------------------------------------------------------- */

static int by_cost(const void *x, const void *y)
{
    const struct tg_moved_series *a = x, *b = y;
    double ca = fabs(a->cost_ns), cb = fabs(b->cost_ns);
    if (ca != cb)
        return ca < cb ? 1 : -1;
    return (a->series > b->series) - (a->series < b->series);
}

/* Judged series of at least 0.3 % of the step on that night. */
static size_t judged_series(const struct tg_history *h, size_t night)
{
    const struct tg_night *n = &h->night[night];
    size_t count = 0;
    for (size_t i = 0; i < n->n; i++) {
        const struct tg_series *s = &h->series->v[n->v[i].series];
        count +=
            s->what != TG_SERIES_MEASURE && s->judged && n->v[i].plain >= FACTOR_SHARE * n->step_ns;
    }
    return count;
}

struct sums {
    double rise[SIDES], fall[SIDES];
    size_t worse, better, timed, drifts, machine, calls;
};

static struct sums sums_of(const struct tg_history *h, const struct tg_history_event *e)
{
    struct sums s = { 0 };
    for (size_t i = 0; i < e->n; i++) {
        const struct tg_moved_series *m = &e->v[i];
        const struct tg_series *x;
        s.machine += m->what == TG_MOVED_MACHINE;
        s.drifts += m->what == TG_MOVED_DRIFT;
        if (m->series == UINT32_MAX)
            continue;
        x = &h->series->v[m->series];
        if (m->what != TG_MOVED_STEP && m->what != TG_MOVED_DRIFT)
            s.calls++;
        if (x->what == TG_SERIES_MEASURE)
            continue;
        (m->cost_ns > 0 ? s.rise : s.fall)[on_device(x)] += m->cost_ns;
        if (m->what == TG_MOVED_STEP) {
            s.timed++;
            *(m->worse ? &s.worse : &s.better) += 1;
        }
    }
    return s;
}

/* Most of what rose fell elsewhere. */
static bool is_moved(const struct sums *s)
{
    double rise = s->rise[HOST] + s->rise[DEVICE], fall = -(s->fall[HOST] + s->fall[DEVICE]);
    double more = rise > fall ? rise : fall;
    return rise > 0 && fall > 0 && fabs(rise - fall) < 0.1 * more;
}

static enum tg_event_kind kind_of(const struct tg_history *h, const struct tg_history_event *e)
{
    struct sums s = sums_of(h, e);
    size_t together = s.worse > s.better ? s.worse : s.better;
    size_t judged = judged_series(h, e->fired);
    if (s.machine || (together >= TG_HISTORY_TOGETHER && together * 3 >= judged))
        return TG_EVENT_MACHINE;
    if (s.drifts)
        return TG_EVENT_DRIFT;
    if (e->n > 1 && is_moved(&s))
        return TG_EVENT_MOVED;
    if (!s.timed && s.calls == e->n)
        return TG_EVENT_CALLS;
    for (size_t i = 0; i < e->n; i++)
        if (e->cost_ns == 0 && e->v[i].worse)
            return TG_EVENT_REGRESSION;
    return e->cost_ns > 0 ? TG_EVENT_REGRESSION : TG_EVENT_IMPROVEMENT;
}

static void finish(struct tg_history *h, struct tg_history_event *e)
{
    struct sums s = sums_of(h, e);
    double host = s.rise[HOST] + s.fall[HOST], device = s.rise[DEVICE] + s.fall[DEVICE];
    if (!e->n)
        return;
    e->cost_ns = fabs(device) > fabs(host) ? device : host;
    qsort(e->v, e->n, sizeof *e->v, by_cost);
    for (size_t i = 0; e->cost_ns == 0 && i < e->n; i++)
        e->cost_ns = e->v[i].cost_ns; /* only measures moved: the largest of them */
    e->delta = e->v[0].series != UINT32_MAX && !is_time(&h->series->v[e->v[0].series])
                   ? e->v[0].e
                   : expm1(e->v[0].e);
    e->kind = kind_of(h, e);
}

/* ---- all nights ---------------------------------------------------------------------------- */

static void number_streams(struct replay *r)
{
    struct tg_history *h = r->h;
    struct tg_strmap map;
    tg_strmap_init(&map);
    for (size_t i = 0; i < h->n; i++)
        h->stream[i] = tg_strmap_add(&map, h->night[i].environment);
    h->n_streams = map.n;
    r->stream = tg_xmalloc((map.n + 1) * sizeof *r->stream);
    memset(r->stream, 0, (map.n + 1) * sizeof *r->stream);
    for (size_t i = 0; i < h->n; i++)
        r->stream[h->stream[i]].environment = h->night[i].environment;
    tg_strmap_release(&map);
}

void tg_history_replay(struct tg_history *h, tg_sv suite, struct tg_arena *a)
{
    struct replay r = { .h = h, .suite = suite, .a = a };
    h->stream = TG_NEW_N(a, size_t, h->n + 1);
    h->place = TG_NEW_N(a, size_t, h->n + 1);
    for (int side = 0; side < SIDES; side++)
        h->factor[side] = TG_NEW_N(a, double, h->n + 1);
    number_streams(&r);
    for (size_t i = 0; i < h->n; i++)
        take_night(&r, i);
    for (size_t i = 0; i < h->n_events; i++)
        finish(h, &h->event[i]);
    for (size_t i = 0; i < h->n_streams; i++) {
        free(r.stream[i].night);
        free(r.stream[i].track);
        free(r.stream[i].value);
    }
    free(r.stream);
}
