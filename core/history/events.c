/* What moved on one night is one event; what that comes to. */
#include "core/history/internal.h"

#include <math.h>

#include "core/base/sha256.h"
#include "core/base/sort.h"

/* ---- how large ---- */

double tg_history_cost(const struct tg_series *x, double before, double e)
{
    return x->scale == TG_SCALE_TIME ? before * expm1(e) : 0;
}

void tg_history_set_size(struct tg_moved_series *m, const struct tg_series *x, double e)
{
    m->e = e;
    if (!x)
        return;
    m->after = x->scale == TG_SCALE_PART ? m->before + 100 * e : m->before * exp(e);
    m->cost_ns = tg_history_cost(x, m->before, e);
}

/* ---- which event ---- */

void tg_history_id(char id[13], tg_sv suite, tg_sv environment, tg_sv commit, tg_sv what)
{
    char digest[65];
    TG_BUF key = { 0 };
    tg_buf_printf(&key, "%.*s\n%.*s\n%.*s\n%.*s", TG_SV_ARG(suite), TG_SV_ARG(environment),
                  TG_SV_ARG(commit), TG_SV_ARG(what));
    tg_sha256_hex(tg_buf_sv(&key), digest);
    memcpy(id, digest, 12);
    id[12] = '\0';
}

struct tg_history_event *tg_history_new_event(struct tg_history_replay *r,
                                              const struct tg_history_stream *s, size_t fired,
                                              size_t to, tg_sv what)
{
    struct tg_history *h = r->h;
    struct tg_history_event *e = TG_ARENA_PUSH(r->a, h->event, h->n_events, r->cap_events);
    *e = (struct tg_history_event){ .stream = (size_t)(s - r->stream),
                                    .fired = fired,
                                    .grew = fired };
    tg_history_id(e->id, r->suite, s->environment, h->night[to].commit, what);
    return e;
}

/* Metrics of the step follow what moved, on nights of their own; there are others in the event. */
static bool only_follows(const struct tg_history_event *e, const struct tg_moved_series *m)
{
    for (size_t i = 0; m->metric && i < e->n; i++)
        if (!e->v[i].metric)
            return true;
    return false;
}

/* The event is a drift if what moved drifts; a metric that sums it up may drift for another
 * reason. */
static bool is_slow(const struct tg_history_event *e, const struct tg_moved_series *m)
{
    return m->slowly && !only_follows(e, m);
}

/* From the first night that is worse to the last that is worse still. */
static bool drifted(struct tg_history_event *e)
{
    bool any = false;
    for (size_t i = 0; i < e->n; i++) {
        const struct tg_moved_series *m = &e->v[i];
        if (!is_slow(e, m))
            continue;
        e->from = any && e->from < m->from ? e->from : m->from;
        e->to = any && e->to > m->to ? e->to : m->to;
        any = true;
    }
    return any;
}

bool tg_history_is_exact(const struct tg_moved_series *m)
{
    return m->what == TG_MOVED_CALLS || m->what == TG_MOVED_NEW || m->what == TG_MOVED_GONE;
}

static double sureness(const struct tg_moved_series *m)
{
    return tg_history_is_exact(m) ? (double)INFINITY : m->rank_z;
}

/* Of a step the nights that all of its changes allow; if there are none, those of the surest
 * change. */
void tg_history_set_range(struct tg_history_event *e)
{
    size_t best = 0;
    if (drifted(e))
        return;
    e->from = 0;
    e->to = SIZE_MAX;
    for (size_t i = 0; i < e->n; i++) {
        if (only_follows(e, &e->v[i]))
            continue;
        e->from = e->v[i].from > e->from ? e->v[i].from : e->from;
        e->to = e->v[i].to < e->to ? e->v[i].to : e->to;
        if (only_follows(e, &e->v[best]) || sureness(&e->v[i]) > sureness(&e->v[best]))
            best = i;
    }
    if (e->from >= e->to) {
        e->from = e->v[best].from;
        e->to = e->v[best].to;
    }
}

/* Are both about one name that replaced another? `half` is its coming, or the other one's going. */
static bool is_of(const struct tg_moved_series *half, const struct tg_moved_series *m)
{
    return half->other && (half->series == m->series || half->other == m->series + 1);
}

/* A half whose name has a change of time in the event: that one tells whether it is back. */
static bool is_taken_over(const struct tg_history_event *e, const struct tg_moved_series *half)
{
    for (size_t i = 0; i < e->n; i++)
        if (!e->v[i].other && is_of(half, &e->v[i]))
            return true;
    return false;
}

/*
 * What got slower and what got faster on one night are two events, or an improvement would hide a
 * regression; unless the one is about what the other lost, which is time that moved. Metrics of the
 * step follow whatever moved.
 */
static bool goes_with(const struct tg_history_event *e, const struct tg_moved_series *m)
{
    bool worse = false, better = false;
    double sum = m->cost_ns;
    for (size_t i = 0; i < e->n; i++) {
        if (e->v[i].metric)
            continue;
        *(e->v[i].worse ? &worse : &better) = true;
        sum += e->v[i].cost_ns;
    }
    return m->metric || !(m->worse ? better : worse) || (worse && better) ||
           (m->cost_ns != 0 && fabs(sum) <= 0.25 * fabs(m->cost_ns));
}

static double cost_of_names(const struct tg_history_event *e)
{
    double sum = 0;
    for (size_t i = 0; i < e->n; i++)
        sum += e->v[i].metric || e->v[i].back ? 0 : e->v[i].cost_ns;
    return sum;
}

/*
 * The step's time is noisier than what it is made of: its change is found nights later, and its
 * place is wide. If what moved in the nights of a look comes to half of it, there is nothing else
 * to look for: the costliest event of those. NULL: it does not.
 */
static struct tg_history_event *explained_by(struct tg_history_replay *r,
                                             const struct tg_history_stream *s,
                                             const struct tg_moved_series *m)
{
    struct tg_history *h = r->h;
    struct tg_history_event *most = NULL;
    double sum = 0;
    for (size_t i = 0; m->metric && m->cost_ns != 0 && i < h->n_events; i++) {
        struct tg_history_event *e = &h->event[i];
        bool has_series = false;
        for (size_t k = 0; k < e->n; k++)
            has_series |= e->v[k].series == m->series;
        if (e->stream != (size_t)(s - r->stream) || !e->n || e->state != TG_EVENT_STATE_OPEN ||
            h->place[e->to] + TG_CHANGEPOINT_WINDOW < s->n || has_series)
            continue;
        double cost = cost_of_names(e);
        if (cost * m->cost_ns <= 0)
            continue;
        sum += cost;
        if (!most || fabs(cost) > fabs(cost_of_names(most)))
            most = e;
    }
    return fabs(sum) >= fabs(m->cost_ns) / 2 ? most : NULL;
}

/* An event of this stream on the same nights that is still growing; else a new one. */
static struct tg_history_event *event_for(struct tg_history_replay *r,
                                          const struct tg_history_stream *s,
                                          const struct tg_moved_series *m)
{
    struct tg_history *h = r->h;
    struct tg_history_event *explains = explained_by(r, s, m);
    if (explains)
        return explains;
    for (size_t i = h->n_events; i-- > 0;) {
        struct tg_history_event *e = &h->event[i];
        bool open = e->stream == (size_t)(s - r->stream) && e->state == TG_EVENT_STATE_OPEN &&
                    e->from < m->to && m->from < e->to;
        for (size_t k = 0; open && k < e->n; k++)
            if (is_of(&e->v[k], m))
                return e;
    }
    for (size_t i = h->n_events; i-- > 0;) {
        struct tg_history_event *e = &h->event[i];
        if (e->stream != (size_t)(s - r->stream) || !e->n || e->state != TG_EVENT_STATE_OPEN)
            continue;
        if (m->slowly || e->v[0].slowly) {
            for (size_t k = 0; m->slowly && e->v[0].slowly && k < e->n; k++)
                if (e->v[k].series == m->series || e->v[k].fired == m->fired)
                    return e;
            continue;
        }
        if (e->from < m->to && m->from < e->to && goes_with(e, m))
            return e;
    }
    return NULL;
}

tg_sv tg_history_id_of(const struct tg_history *h, const struct tg_moved_series *m)
{
    return m->series == UINT32_MAX ? TG_SV("machine") : h->series->v[m->series].name;
}

/* One change a series and event: a later look at the same one brings it up to date. */
size_t tg_history_attach(struct tg_history_replay *r, struct tg_history_stream *s,
                         const struct tg_moved_series *m, size_t *moved)
{
    struct tg_history_event *e = event_for(r, s, m);
    if (!e)
        e = tg_history_new_event(r, s, m->fired, m->to, tg_history_id_of(r->h, m));
    for (size_t i = 0; i < e->n; i++)
        if (e->v[i].series == m->series && e->v[i].slowly && m->slowly) {
            e->v[i].after = m->after;
            e->v[i].e += m->e;
            e->v[i].cost_ns += m->cost_ns;
            e->v[i].to = m->to;
            *moved = i;
            tg_history_set_range(e);
            return (size_t)(e - r->h->event);
        }
    /* The time of a name that replaced another: its cost is that of both halves, and it is news
     * after the night on which the name came. */
    for (size_t i = 0; m->what == TG_MOVED_STEP && i < e->n; i++)
        if (is_of(&e->v[i], m)) {
            e->v[i].cost_ns = 0;
            e->grew = m->fired;
        }
    *moved = e->n;
    *TG_ARENA_PUSH(r->a, e->v, e->n, e->cap) = *m;
    tg_history_set_range(e);
    return (size_t)(e - r->h->event);
}

void tg_history_end_event(struct tg_history_replay *r, struct tg_history_event *e)
{
    size_t last = 0, lasted;
    for (size_t i = 0; i < e->n; i++) {
        if (!e->v[i].back && !is_taken_over(e, &e->v[i]))
            return;
        last = e->v[i].back_at > last ? e->v[i].back_at : last;
    }
    lasted = r->h->place[last] - r->h->place[e->v[0].first];
    e->ended = last;
    e->state = lasted >= TG_HISTORY_LASTING || tg_history_is_exact(&e->v[0])
                   ? TG_EVENT_STATE_FIXED
                   : TG_EVENT_STATE_WENT_AWAY;
}

/* ---- what an event comes to ---- */

static int by_cost(const void *x, const void *y)
{
    const struct tg_moved_series *a = x, *b = y;
    double ca = fabs(a->cost_ns), cb = fabs(b->cost_ns);
    int c = TG_CMP(a->metric, b->metric); /* what moved, then what follows */
    c = c ? c : TG_CMP(cb, ca);
    return c ? c : TG_CMP(a->series, b->series);
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
        s.machine += m->what == TG_MOVED_MACHINE;
        s.drifts += m->what == TG_MOVED_DRIFT && m->worse && is_slow(e, m);
        if (m->series == UINT32_MAX)
            continue;
        const struct tg_series *x = &h->series->v[m->series];
        if (m->what != TG_MOVED_STEP && m->what != TG_MOVED_DRIFT)
            s.calls++;
        if (!tg_series_is_name(x))
            continue;
        (m->cost_ns > 0 ? s.rise : s.fall)[on_device(x)] += m->cost_ns;
        if (m->what == TG_MOVED_STEP || m->slowly) {
            s.timed++;
            *(m->worse ? &s.worse : &s.better) += 1;
        }
    }
    return s;
}

static enum tg_event_kind kind_of(const struct tg_history *h, const struct tg_history_event *e)
{
    struct sums s = sums_of(h, e);
    size_t together = s.worse > s.better ? s.worse : s.better;
    /* Judged series of at least 0.3 % of the step on that night. */
    const struct tg_night *n = &h->night[e->fired];
    size_t judged = 0;
    for (size_t i = 0; i < n->n; i++) {
        const struct tg_series *series = &h->series->v[n->v[i].series];
        judged += tg_series_is_name(series) && series->judged &&
                  n->v[i].plain >= TG_HISTORY_SHARE * n->step_ns;
    }
    if (s.machine || (together >= TG_HISTORY_TOGETHER && together * 3 >= judged))
        return TG_EVENT_MACHINE;
    if (s.drifts)
        return TG_EVENT_DRIFT;
    double rise = s.rise[HOST] + s.rise[DEVICE], fall = -(s.fall[HOST] + s.fall[DEVICE]);
    if (e->n > 1 && rise > 0 && fall > 0 && fabs(rise - fall) < 0.1 * fmax(rise, fall))
        return TG_EVENT_MOVED; /* most of what rose fell elsewhere */
    if (!s.timed && s.calls == e->n)
        return TG_EVENT_CALLS;
    for (size_t i = 0; i < e->n; i++)
        if (e->cost_ns == 0 && e->v[i].worse)
            return TG_EVENT_REGRESSION;
    return e->cost_ns > 0 ? TG_EVENT_REGRESSION : TG_EVENT_IMPROVEMENT;
}

bool tg_history_is_slow(const struct tg_history_event *e)
{
    for (size_t i = 0; i < e->n; i++)
        if (is_slow(e, &e->v[i]))
            return true;
    return false;
}

size_t tg_history_since(const struct tg_history_event *e)
{
    return tg_history_is_slow(e) ? e->from + 1 : e->to;
}

bool tg_history_is_over(const struct tg_history *h, const struct tg_history_event *e)
{
    bool there = h->stream[h->n - 1] == e->stream;
    return tg_history_is_slow(e) &&
           (!there || h->place[h->n - 1] - h->place[e->to] > 2 * TG_DRIFT_NIGHTS);
}

bool tg_history_is_worse(const struct tg_history_event *e)
{
    bool worse = e->kind == TG_EVENT_REGRESSION || e->kind == TG_EVENT_DRIFT;
    for (size_t i = 0; e->kind == TG_EVENT_CALLS && i < e->n; i++)
        worse = worse || e->v[i].worse;
    return worse;
}

/* What it costs a step; its largest change is the first. */
static void cost(const struct tg_history *h, struct tg_history_event *e)
{
    struct sums s = sums_of(h, e);
    double host = s.rise[HOST] + s.fall[HOST], device = s.rise[DEVICE] + s.fall[DEVICE];
    e->cost_ns = fabs(device) > fabs(host) ? device : host;
    TG_SORT(e->v, e->n, by_cost);
    for (size_t i = 0; e->cost_ns == 0 && i < e->n; i++)
        e->cost_ns = e->v[i].cost_ns; /* only metrics moved: the largest of them */
}

void tg_history_finish(struct tg_history *h, struct tg_history_event *e)
{
    if (!e->n)
        return;
    cost(h, e);
    e->kind = kind_of(h, e); /* by what was found: the newest nights do not change it */
    for (size_t i = 0; i < e->n; i++) {
        struct tg_moved_series *m = &e->v[i];
        if (m->now != 0)
            tg_history_set_size(m, m->series == UINT32_MAX ? NULL : &h->series->v[m->series],
                                m->now);
    }
    cost(h, e);
    e->delta = e->v[0].series != UINT32_MAX && h->series->v[e->v[0].series].scale == TG_SCALE_PART
                   ? e->v[0].e
                   : expm1(e->v[0].e);
}
