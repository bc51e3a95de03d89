/* What is kept of a series in a stream: its window, its level, and the levels before. */
#include "core/history/internal.h"

#include <math.h>

#include "core/diff/stats.h"

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

double tg_history_cost_of(const struct tg_series *x, double before, double e)
{
    return x->scale == TG_SCALE_TIME ? before * expm1(e) : 0;
}

void tg_history_set_size(struct tg_moved_series *m, const struct tg_series *x, double e)
{
    m->e = e;
    if (!x)
        return;
    m->after = x->scale == TG_SCALE_PART ? m->before + 100 * e : m->before * exp(e);
    m->cost_ns = tg_history_cost_of(x, m->before, e);
}

static double p90_of(const double *v, size_t n)
{
    double copy[TG_CHANGEPOINT_WINDOW];
    memcpy(copy, v, n * sizeof *v);
    return tg_quantile(copy, n, 0.9);
}

size_t tg_history_window_before(const struct tg_history_window *w, size_t first)
{
    size_t at = first ? first - 1 : 0;
    for (size_t i = 0; i < w->n; i++)
        if (w->at[i] < first)
            at = w->at[i];
    return at;
}

double tg_history_window_end(const struct tg_history_window *w, size_t first)
{
    size_t n = 0, k;
    while (n < w->n && w->at[n] < first)
        n++;
    k = n < TG_HISTORY_END ? n : TG_HISTORY_END;
    return k ? tg_changepoint_median(w->v + n - k, k) : 0;
}

void tg_history_track_refer(struct tg_history_track *t, double step_ns)
{
    size_t n = t->w.n < RECENT ? t->w.n : RECENT;
    t->reference = tg_changepoint_median(t->w.v + t->w.n - n, n);
    t->has_reference = true;
    t->shares = exp(t->reference) >= TG_HISTORY_SHARE * step_ns;
}

void tg_history_track_begin(struct tg_history_track *t, size_t first)
{
    struct tg_history_window old = t->w;
    t->w.n = 0;
    t->n_first = 0;
    t->has_reference = false;
    for (size_t i = 0; i < old.n; i++)
        if (old.at[i] >= first) {
            tg_history_window_push_from(&t->w, &old, i);
            if (t->n_first < TG_DRIFT_LEVEL)
                t->first[t->n_first++] = old.v[i];
        }
}

bool tg_history_track_is_random(const struct tg_history_track *t, size_t place)
{
    return t->random && place < t->random + RENEW;
}

bool tg_history_track_is_gone(const struct tg_history_replay *r, const struct tg_history_stream *s,
                              uint32_t series)
{
    const struct tg_series *x = &r->h->series->v[series];
    const struct tg_history_track *t = &s->track[series];
    return t->seen && t->last + 2 == s->n && x->counted && tg_series_is_name(x) &&
           !isnan(t->calls) && t->calls != 0 &&
           !tg_night_value(&r->h->night[s->night[s->n - 1]], series);
}

void tg_history_track_go_on(struct tg_history_track *t, const struct tg_history_track *old)
{
    struct tg_history_window own = t->w;
    t->w = old->w;
    for (size_t i = 0; i < own.n; i++)
        tg_history_window_push_from(&t->w, &own, i);
    memcpy(t->first, old->first, sizeof t->first);
    t->n_first = old->n_first;
    t->reference = old->reference;
    t->has_reference = old->has_reference;
    t->shares = old->shares;
}

void tg_history_track_remember(struct tg_history_track *t, size_t first, size_t event, size_t moved,
                               bool up, struct tg_arena *a)
{
    struct tg_history_pending *p = TG_NEW(a, struct tg_history_pending);
    double signed_[TG_CHANGEPOINT_WINDOW];
    for (size_t i = 0; i < t->w.n && t->w.at[i] < first; i++)
        tg_history_window_push_from(&p->old, &t->w, i);
    for (size_t i = 0; i < p->old.n; i++)
        signed_[i] = up ? p->old.v[i] : -p->old.v[i];
    p->end = tg_history_window_end(&t->w, first);
    p->event = event;
    p->moved = moved;
    p->since = first;
    p->up = up;
    p->p90 = p->old.n ? p90_of(signed_, p->old.n) : 0;
    p->median = p->old.n ? tg_changepoint_median(signed_, p->old.n) : 0;
    p->before = t->pending;
    t->pending = p;
}

bool tg_history_track_is_back(const struct tg_history_track *t, const struct tg_history_pending *p)
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
