/* Night after night: the common factor, the values, the looks. */
#include "core/history/internal.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/sort.h"
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

/* The reference and whether it takes part in the common factor, from the newest nights. */
static void refer(struct tg_history_track *t, double step_ns)
{
    size_t n = t->w.n < RECENT ? t->w.n : RECENT;
    t->reference = tg_changepoint_median(t->w.v + t->w.n - n, n);
    t->has_reference = true;
    t->shares = exp(t->reference) >= TG_HISTORY_SHARE * step_ns;
}

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
        bool alike = isnan(v->calls) || isnan(t->calls) || v->calls == t->calls;
        if (tg_series_is_name(series) && series->judged && on_device(series) == side &&
            !isnan(v->v) && t->has_reference && t->shares && alike)
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
            refer(&s->track[i], h->night[s->night[s->n - 1]].step_ns);
    for (size_t k = 0; k < s->n; k++)
        for (int side = 0; side < SIDES; side++)
            h->factor[side][s->night[k]] = factor(r, s, &h->night[s->night[k]], side);
    for (uint32_t i = 0; i < h->series->n; i++) {
        struct tg_history_track *t = &s->track[i];
        for (size_t k = 0; k < t->w.n; k++)
            t->w.v[k] = tg_history_corrected(h, s->night[t->w.at[k]], i);
        if (t->has_reference)
            refer(t, h->night[s->night[s->n - 1]].step_ns);
        t->n_first = t->w.n;
        memcpy(t->first, t->w.v, t->w.n * sizeof *t->first);
    }
}

/* ---- names that replace others: as many calls of one come as of another go, on one night ---- */

/* A counted name that had calls the night before and has no value tonight. */
static bool is_gone(const struct tg_history_replay *r, const struct tg_history_stream *s,
                    uint32_t series)
{
    const struct tg_series *x = &r->h->series->v[series];
    const struct tg_history_track *t = &s->track[series];
    return t->seen && t->last + 2 == s->n && x->counted && tg_series_is_name(x) &&
           !isnan(t->calls) && t->calls != 0 &&
           !tg_night_value(&r->h->night[s->night[s->n - 1]], series);
}

struct half {
    uint32_t series;
    enum tg_kind kind;
    double calls, level; /* level: what is known of its time; the largest first */
};

static int by_kind_calls_and_level(const void *x, const void *y)
{
    const struct half *a = x, *b = y;
    int c = TG_CMP(a->kind, b->kind);
    c = c ? c : TG_CMP(a->calls, b->calls);
    c = c ? c : TG_CMP(b->level, a->level);
    return c ? c : TG_CMP(a->series, b->series);
}

/* Fills s->pair for the newest night, before its values are judged. */
static void find_replaced(struct tg_history_replay *r, struct tg_history_stream *s)
{
    const struct tg_series_table *all = r->h->series;
    const struct tg_night *night = &r->h->night[s->night[s->n - 1]];
    size_t n_new = 0, n_gone = 0, i = 0, k = 0;
    TG_FREE struct half *come = tg_xmalloc(2 * (all->n + 1) * sizeof *come);
    struct half *gone = come + all->n + 1;
    memset(s->pair, 0, all->n * sizeof *s->pair);
    /* Names that no night before the newest had. */
    for (size_t at = 0; s->n > 1 && at < night->n; at++) {
        const struct tg_history_value *v = &night->v[at];
        const struct tg_series *x = &all->v[v->series];
        if (x->counted && tg_series_is_name(x) && !s->track[v->series].seen && v->calls > 0 &&
            !isnan(v->v))
            come[n_new++] = (struct half){ v->series, x->kind, v->calls, v->v };
    }
    for (uint32_t id = 0; n_new && id < all->n; id++) {
        const struct tg_history_track *t = &s->track[id];
        if (is_gone(r, s, id) && t->w.n && !tg_history_track_is_random(t, s->n - 1))
            gone[n_gone++] = (struct half){ id, all->v[id].kind, t->calls,
                                            tg_history_window_end(&t->w, s->n - 1) };
    }
    if (n_gone) {
        TG_SORT(come, n_new, by_kind_calls_and_level);
        TG_SORT(gone, n_gone, by_kind_calls_and_level);
    }
    while (i < n_new && k < n_gone) {
        int c = TG_CMP(come[i].kind, gone[k].kind);
        c = c ? c : TG_CMP(come[i].calls, gone[k].calls);
        if (c == 0) {
            s->pair[come[i].series] = gone[k].series + 1;
            s->pair[gone[k].series] = come[i].series + 1;
        }
        i += c <= 0;
        k += c >= 0;
    }
}

/* ---- one night ---- */

/* The values of a name that this one replaced, before its own. */
static void go_on(struct tg_history_track *t, const struct tg_history_track *old)
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
        go_on(t, &s->track[t->was - 1]);
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
        refer(t, r->h->night[s->night[s->n - 1]].step_ns);
}

static void judge_gone(struct tg_history_replay *r, struct tg_history_stream *s)
{
    for (uint32_t i = 0; i < r->h->series->n; i++) {
        struct tg_history_track *t = &s->track[i];
        struct tg_history_line l = { r, s, t, i };
        if (!is_gone(r, s, i))
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

static void take_night(struct tg_history_replay *r, size_t i)
{
    struct tg_history *h = r->h;
    struct tg_night *night = &h->night[i];
    struct tg_history_stream *s = &r->stream[h->stream[i]];
    size_t n_series = h->series->n, place = s->n;
    *TG_PUSH(s->night, s->n, s->cap) = i;
    h->place[i] = place;
    if (!place) {
        s->track = tg_xcalloc(n_series + 1, sizeof *s->track);
        s->value = tg_xmalloc((n_series + 1) * sizeof *s->value);
        s->pair = tg_xcalloc(n_series + 1, sizeof *s->pair);
        for (size_t k = 0; k < n_series; k++)
            s->track[k].calls = NAN;
    }
    if (!place && i) {
        struct tg_history_event *e = tg_history_new_event(r, s, i, i, TG_SV("environment"));
        e->kind = TG_EVENT_ENVIRONMENT;
        e->from = i - 1;
        e->to = i;
        e->was = h->night[i - 1].environment;
        e->is = night->environment;
    }
    for (int side = 0; side < SIDES; side++)
        h->factor[side][i] = place < REFERENCE ? (double)NAN : factor(r, s, night, side);
    for (const struct tg_history_value *v = night->v; v < night->v + night->n; v++) {
        struct tg_history_track *t = &s->track[v->series];
        double x = tg_history_corrected(h, i, v->series);
        if (isnan(x))
            continue;
        tg_history_window_push(&t->w, x, v->variance, place);
        if (place >= REFERENCE && t->n_first < TG_DRIFT_LEVEL)
            t->first[t->n_first++] = x;
    }
    if (s->n == REFERENCE)
        first_references(r, s);
    find_replaced(r, s);
    for (size_t k = 0; k < night->n; k++)
        judge_value(r, s, &night->v[k]);
    judge_gone(r, s);
    judge_machine(r, s);
}

/* ---- all nights ---- */

void tg_history_replay(struct tg_history *h, tg_sv suite, struct tg_arena *a)
{
    struct tg_history_replay r = { .h = h, .suite = suite, .a = a };
    h->stream = TG_NEW_N(a, size_t, h->n + 1);
    h->place = TG_NEW_N(a, size_t, h->n + 1);
    for (int side = 0; side < SIDES; side++)
        h->factor[side] = TG_NEW_N(a, double, h->n + 1);
    TG_AUTO(tg_strmap_release) struct tg_strmap environments = { 0 };
    for (size_t i = 0; i < h->n; i++)
        h->stream[i] = tg_strmap_add(&environments, h->night[i].environment);
    h->n_streams = environments.n;
    r.stream = tg_xcalloc(h->n_streams + 1, sizeof *r.stream);
    for (size_t i = 0; i < h->n; i++)
        r.stream[h->stream[i]].environment = h->night[i].environment;
    for (size_t i = 0; i < h->n; i++)
        take_night(&r, i);
    /* What is open has come to what the newest nights show. Each stream has nights. */
    for (struct tg_history_stream *s = r.stream; s < r.stream + h->n_streams; s++) {
        for (uint32_t i = 0; i < h->series->n; i++)
            tg_history_bring_up_to(&(struct tg_history_line){ &r, s, &s->track[i], i }, s->n);
        for (int k = 0; k < SIDES; k++)
            tg_history_bring_up_to(&(struct tg_history_line){ &r, s, &s->machine[k], UINT32_MAX },
                                   s->n);
    }
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

/* ---- nights that were slow alone ----
 *
 * Nothing changed, but whoever reads the line of a series asks. */

enum { AROUND = 5 };     /* nights before, and after, that say what is usual */
#define LONE_SIZE 0.0953 /* ln 1.10 */
#define LONE_MADS 8.0    /* times the usual distance of a night from the median */

/* How far the night is above those around it, if they agree and it is alone; 0 otherwise. */
static double lone_size(const struct tg_history *h, size_t night, uint32_t series)
{
    double v[2 * AROUND], away[2 * AROUND], beside, middle, size;
    size_t n = 0; /* values around the night, of its stream; those beside it first */
    for (size_t far = 1; far <= AROUND; far++)
        for (int side = -1; side <= 1; side += 2) {
            size_t k = side < 0 ? night - far : night + far;
            if ((side < 0 && far > night) || k >= h->n || h->stream[k] != h->stream[night])
                continue;
            double x = tg_history_corrected(h, k, series);
            if (!isnan(x))
                v[n++] = x;
        }
    if (n < AROUND)
        return 0;
    beside = fmax(v[0], v[1]);
    middle = tg_median(memcpy(away, v, n * sizeof *v), n);
    size = tg_history_corrected(h, night, series) - middle;
    for (size_t i = 0; i < n; i++)
        away[i] = fabs(v[i] - middle);
    return size > LONE_SIZE && size > LONE_MADS * tg_median(away, n) && beside - middle < size / 2
               ? size
               : 0;
}

static int by_lone_cost(const void *x, const void *y)
{
    const struct tg_lone_night *a = x, *b = y;
    int c = TG_CMP(b->cost_ns, a->cost_ns);
    return c ? c : TG_CMP(a->night, b->night);
}

size_t tg_history_lone_nights(const struct tg_history *h, size_t first, struct tg_lone_night *out)
{
    size_t n = 0;
    for (size_t i = first > 0 ? first : 1; i + 1 < h->n; i++) {
        struct tg_lone_night *at = &out[n];
        const struct tg_night *x = &h->night[i];
        *at = (struct tg_lone_night){ .night = i };
        for (size_t k = 0; k < x->n; k++) {
            const struct tg_series *s = &h->series->v[x->v[k].series];
            if (!tg_series_is_name(s) || !s->judged || isnan(x->v[k].v) ||
                !(x->v[k].plain >= TG_HISTORY_SHARE * x->step_ns))
                continue;
            double size = lone_size(h, i, x->v[k].series);
            double cost = x->v[k].plain * -expm1(-size);
            if (cost <= at->cost_ns)
                continue;
            *at = (struct tg_lone_night){ i, x->v[k].series, size, cost };
        }
        n += out[n].cost_ns > 0;
    }
    TG_SORT(out, n, by_lone_cost);
    return n;
}
