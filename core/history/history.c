/* Night after night: the common factor, the values, the looks. */
#include "core/history/internal.h"

#include <math.h>
#include <stdlib.h>

#include "core/diff/stats.h"

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

/* ---- the common factor ---- */

double tg_history_corrected(const struct tg_history *h, size_t night, uint32_t series)
{
    const struct tg_history_value *v = tg_night_value(&h->night[night], series);
    const struct tg_series *s = &h->series->v[series];
    if (!v || isnan(v->v) || s->scale != TG_SCALE_TIME)
        return v ? v->v : NAN;
    bool device = s->what == TG_SERIES_METRIC ? !isnan(h->factor[DEVICE][night]) : on_device(s);
    double c = h->factor[device ? DEVICE : HOST][night];
    return isnan(c) ? v->v : v->v - c;
}

static bool is_called_alike(const struct tg_history_track *t, const struct tg_history_value *v)
{
    return isnan(v->calls) || isnan(t->calls) || v->calls == t->calls;
}

/* Median of the differences of one side's series; NAN: too few. A name with other calls than the
 * night before does not show what the machine did. */
static double factor(struct tg_history_replay *r, struct tg_history_stream *s,
                     const struct tg_night *night, int side)
{
    size_t n = 0;
    for (size_t i = 0; i < night->n; i++) {
        const struct tg_history_value *v = &night->v[i];
        const struct tg_series *series = &r->h->series->v[v->series];
        const struct tg_history_track *t = &s->track[v->series];
        if (tg_series_is_name(series) && series->judged && on_device(series) == side &&
            !isnan(v->v) && t->has_reference && t->shares && is_called_alike(t, v))
            s->value[n++] = v->v - t->reference;
    }
    return n < TG_HISTORY_FACTOR ? (double)NAN : tg_median(s->value, n);
}

/* The first five nights of a stream are the references; only then their factors are known. */
static void first_references(struct tg_history_replay *r, struct tg_history_stream *s)
{
    struct tg_history *h = r->h;
    for (size_t i = 0; i < h->series->n; i++)
        if (s->track[i].w.n >= REFERENCE / 2 + 1)
            tg_history_track_refer(&s->track[i], h->night[s->night[s->n - 1]].step_ns);
    for (size_t k = 0; k < s->n; k++)
        for (int side = 0; side < SIDES; side++)
            h->factor[side][s->night[k]] = factor(r, s, &h->night[s->night[k]], side);
    for (uint32_t i = 0; i < h->series->n; i++) {
        struct tg_history_track *t = &s->track[i];
        for (size_t k = 0; k < t->w.n; k++)
            t->w.v[k] = tg_history_corrected(h, s->night[t->w.at[k]], i);
        if (t->has_reference)
            tg_history_track_refer(t, h->night[s->night[s->n - 1]].step_ns);
        t->n_first = t->w.n;
        memcpy(t->first, t->w.v, t->w.n * sizeof *t->first);
    }
}

/* ---- one night ---- */

static void append(struct tg_history_stream *s, size_t night, size_t n_series)
{
    *TG_PUSH(s->night, s->n, s->cap) = night;
    if (!s->track) {
        s->track = tg_xcalloc(n_series + 1, sizeof *s->track);
        s->value = tg_xmalloc((n_series + 1) * sizeof *s->value);
        s->pair = tg_xcalloc(n_series + 1, sizeof *s->pair);
        for (size_t i = 0; i < n_series; i++)
            s->track[i].calls = NAN;
    }
}

static void take_value(struct tg_history_replay *r, struct tg_history_stream *s,
                       const struct tg_history_value *v)
{
    struct tg_history_track *t = &s->track[v->series];
    size_t place = s->n - 1, night = s->night[place];
    double x = tg_history_corrected(r->h, night, v->series);
    if (isnan(x))
        return;
    tg_history_window_push(&t->w, x, v->variance, place);
    if (place >= REFERENCE && t->n_first < TG_DRIFT_LEVEL)
        t->first[t->n_first++] = x;
}

static void judge_value(struct tg_history_replay *r, struct tg_history_stream *s,
                        const struct tg_history_value *v)
{
    const struct tg_series *x = &r->h->series->v[v->series];
    struct tg_history_track *t = &s->track[v->series];
    struct tg_history_line l = { r, s, t, v->series };
    if (x->counted && !tg_history_undo_calls(&l, v->calls))
        tg_history_look_at_calls(&l, v->calls, v->plain);
    if (!t->seen && s->pair[v->series]) {
        t->was = s->pair[v->series];
        tg_history_track_go_on(t, &s->track[t->was - 1]);
    }
    if (x->judged && t->w.n && t->w.at[t->w.n - 1] == s->n - 1) {
        tg_history_look(&l);
        tg_history_look_for_drift(&l);
        tg_history_look_for_more(&l);
        tg_history_look_back(&l);
        tg_history_relocate(&l);
    }
    if (!isnan(v->calls))
        t->calls = v->calls;
    else
        t->random = s->n;
    t->seen = true;
    t->last = s->n - 1;
    if (t->w.n >= REFERENCE && (!t->has_reference || s->n % RENEW == 0))
        tg_history_track_refer(t, r->h->night[s->night[s->n - 1]].step_ns);
}

static void judge_gone(struct tg_history_replay *r, struct tg_history_stream *s)
{
    for (uint32_t i = 0; i < r->h->series->n; i++) {
        struct tg_history_track *t = &s->track[i];
        struct tg_history_line l = { r, s, t, i };
        if (!tg_history_track_is_gone(r, s, i))
            continue;
        if (!tg_history_undo_calls(&l, 0))
            tg_history_look_at_calls(&l, 0, 0);
        t->calls = 0;
    }
}

static void judge_machine(struct tg_history_replay *r, struct tg_history_stream *s)
{
    for (int side = 0; side < SIDES; side++) {
        struct tg_history_line l = { r, s, &s->machine[side], UINT32_MAX };
        double c = r->h->factor[side][s->night[s->n - 1]];
        if (isnan(c))
            continue;
        tg_history_window_push(&l.t->w, c, 0, s->n - 1);
        tg_history_look(&l);
        tg_history_look_back(&l);
    }
}

static void tell_environment(struct tg_history_replay *r, struct tg_history_stream *s, size_t night)
{
    if (s->n != 1 || !night)
        return;
    struct tg_history_event *e = tg_history_new_event(r, s, night, night, TG_SV("environment"));
    e->kind = TG_EVENT_ENVIRONMENT;
    e->from = night - 1;
    e->to = night;
    e->was = r->h->night[night - 1].environment;
    e->is = r->h->night[night].environment;
}

static void take_night(struct tg_history_replay *r, size_t i)
{
    struct tg_history *h = r->h;
    struct tg_night *night = &h->night[i];
    struct tg_history_stream *s = &r->stream[h->stream[i]];
    append(s, i, h->series->n);
    h->place[i] = s->n - 1;
    tell_environment(r, s, i);
    for (int side = 0; side < SIDES; side++)
        h->factor[side][i] = s->n <= REFERENCE ? (double)NAN : factor(r, s, night, side);
    for (size_t k = 0; k < night->n; k++)
        take_value(r, s, &night->v[k]);
    if (s->n == REFERENCE)
        first_references(r, s);
    tg_history_find_replaced(r, s);
    for (size_t k = 0; k < night->n; k++)
        judge_value(r, s, &night->v[k]);
    judge_gone(r, s);
    judge_machine(r, s);
}

/* What is open has come to what the newest nights show. */
static void bring_up_to_date(struct tg_history_replay *r, struct tg_history_stream *s)
{
    for (uint32_t i = 0; s->track && i < r->h->series->n; i++)
        tg_history_bring_up_to(&(struct tg_history_line){ r, s, &s->track[i], i }, s->n);
    for (int side = 0; side < SIDES; side++)
        tg_history_bring_up_to(&(struct tg_history_line){ r, s, &s->machine[side], UINT32_MAX },
                               s->n);
}

/* ---- all nights ---- */

static void number_streams(struct tg_history_replay *r)
{
    struct tg_history *h = r->h;
    TG_AUTO(tg_strmap_release) struct tg_strmap map = { 0 };
    for (size_t i = 0; i < h->n; i++)
        h->stream[i] = tg_strmap_add(&map, h->night[i].environment);
    h->n_streams = map.n;
    r->stream = tg_xcalloc(map.n + 1, sizeof *r->stream);
    for (size_t i = 0; i < h->n; i++)
        r->stream[h->stream[i]].environment = h->night[i].environment;
}

void tg_history_replay(struct tg_history *h, tg_sv suite, struct tg_arena *a)
{
    struct tg_history_replay r = { .h = h, .suite = suite, .a = a };
    h->stream = TG_NEW_N(a, size_t, h->n + 1);
    h->place = TG_NEW_N(a, size_t, h->n + 1);
    for (int side = 0; side < SIDES; side++)
        h->factor[side] = TG_NEW_N(a, double, h->n + 1);
    number_streams(&r);
    for (size_t i = 0; i < h->n; i++)
        take_night(&r, i);
    for (size_t i = 0; i < h->n_streams; i++)
        bring_up_to_date(&r, &r.stream[i]);
    for (size_t i = 0; i < h->n_events; i++)
        tg_history_finish(h, &h->event[i]);
    for (size_t i = 0; i < h->n_streams; i++) {
        free(r.stream[i].night);
        free(r.stream[i].track);
        free(r.stream[i].value);
        free(r.stream[i].pair);
    }
    free(r.stream);
}
