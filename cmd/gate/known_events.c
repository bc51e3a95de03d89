#include "cmd/gate/known_events.h"

#include <math.h>
#include <string.h>

#include "cmd/gate/nights.h"
#include "core/baseline/event.h"
#include "reporters/history.h"

struct known_list {
    struct tg_known_ask *ask;
    const struct tg_nights *nights;
    struct tg_known *v;
    size_t n;
};

/* "since night 9 (2026-11-12), commit 3861a99abcde" */
static void put_night(struct tg_buf *b, const struct tg_known_night *night)
{
    tg_buf_printf(b, "since night %zu (%s), commit %.12s", night->number, TG_DATE(night->date),
                  night->commit);
}

static bool is_after(struct known_list *l, size_t night)
{
    struct tg_store store = tg_store_open(l->ask->git);
    const char *sha = tg_arena_sv(l->ask->arena, l->nights->history.night[night].commit).p;
    return strcmp(sha, l->ask->since) != 0 &&
           tg_store_precedes(&store, l->ask->since, sha, &l->ask->err) == TG_SEEN;
}

static void add_event(struct known_list *l, const struct tg_history_event *e,
                      const struct tg_event_record *said)
{
    const struct tg_series_table *t = &l->nights->series;
    size_t since = tg_history_since(e);
    const struct tg_night *night = &l->nights->history.night[since];
    TG_BUF b = { 0 }; /* "since …, open: event 3fa9c1d20b1c" */
    put_night(&b, &(struct tg_known_night){ night->commit.p, night->date, since + 1 });
    tg_buf_printf(&b, ", %s: event %s", said ? "accepted" : "open", e->id);
    if (said)
        tg_buf_printf(&b, ", %.*s: %.*s", TG_SV_ARG(said->actor), TG_SV_ARG(said->reason));
    tg_sv text = tg_arena_sv(l->ask->arena, tg_buf_sv(&b));
    tg_sv id = tg_arena_sv(l->ask->arena, tg_sv_of(e->id));
    for (size_t i = 0; i < e->n; i++) {
        const struct tg_moved_series *m = &e->v[i];
        const struct tg_series *s = &t->v[m->series]; /* only the machine's events have none */
        if (s->what == TG_SERIES_METRIC || m->back)
            continue;
        l->v[l->n++] = (struct tg_known){
            .what = TG_KNOWN_NAME,
            .subject = s->what == TG_SERIES_NUMBER ? TG_SUBJECT_NUMBER : TG_SUBJECT_NAME,
            .kind = s->kind,
            .name = tg_arena_sv(l->ask->arena, s->name),
            .exact = m->what == TG_MOVED_CALLS || m->what == TG_MOVED_NEW,
            .before = m->before,
            .after = m->after,
            .e = m->what == TG_MOVED_NEW ? (double)INFINITY : m->e,
            .accepted = said != NULL,
            .text = text,
            .id = id,
        };
    }
    l->v[l->n++] = (struct tg_known){ .what = TG_KNOWN_STEP,
                                      .cost_ns = e->cost_ns > 0 ? e->cost_ns : 0,
                                      .accepted = said != NULL,
                                      .text = text,
                                      .id = id };
}

/* The newest nights that have a time of the series, oldest first; at least three show a trend. */
static size_t values_of(const struct tg_history *h, uint32_t series, double out[TG_KNOWN_LOOK])
{
    size_t n = 0;
    for (size_t i = h->n > TG_KNOWN_LOOK ? h->n - TG_KNOWN_LOOK : 0; i < h->n; i++) {
        const struct tg_history_value *v = tg_night_value(&h->night[i], series);
        if (v && v->plain > 0)
            out[n++] = v->plain;
    }
    return n < 3 ? 0 : n;
}

static size_t find_events(struct tg_known_ask *ask, const struct tg_known **out)
{
    struct tg_store store = tg_store_open(ask->git);
    struct tg_nights nights = { 0 };
    struct known_list l = { .ask = ask, .nights = &nights };
    struct tg_event_record *records = NULL;
    size_t n_records;
    struct tg_commit until = { 0 };
    if (ask->until(ask->arg, &until, &ask->err) != TG_SEEN ||
        !tg_event_records(&store, ask->suite, ask->arena, &records, &n_records, &ask->err))
        return 0;
    if (tg_nights_load(&nights, &store, ask->suite, &until, NULL, &ask->err) &&
        (!nights.damaged || tg_nights_damaged(&nights, &ask->err))) {
        const struct tg_history *h = &nights.history;
        size_t most = 0;
        tg_nights_keep_ids(&nights, records, n_records);
        for (size_t i = 0; i < h->n_events; i++)
            most += h->event[i].n + 1;
        l.v = TG_NEW_N(ask->arena, struct tg_known, most + 1);
        for (size_t i = 0; i < h->n_events; i++) {
            const struct tg_history_event *e = &h->event[i];
            const struct tg_event_record *said =
                tg_event_latest(records, n_records, tg_sv_of(e->id));
            if (said && said->word != TG_EVENT_WORD_ACCEPTED)
                said = NULL;
            if (e->state == TG_EVENT_STATE_OPEN && tg_history_is_worse(e) && is_after(&l, e->to))
                add_event(&l, e, said);
        }
        /* The newest nights, for tg_known_find's second question. */
        ask->night = TG_NEW_N(ask->arena, struct tg_known_night, TG_KNOWN_LOOK);
        for (size_t i = h->n > TG_KNOWN_LOOK ? h->n - TG_KNOWN_LOOK : 0; i < h->n; i++)
            if (is_after(&l, i))
                ask->night[ask->n_nights++] =
                    (struct tg_known_night){ tg_arena_sv(ask->arena, h->night[i].commit).p,
                                             h->night[i].date, i + 1 };
        const struct tg_series_table *t = &nights.series;
        ask->trend = TG_NEW_N(ask->arena, struct tg_known, t->n + 1);
        for (size_t i = 0; i < t->n; i++) {
            const struct tg_series *s = &t->v[i];
            bool step = s->what == TG_SERIES_METRIC && s->metric == TG_METRIC_STEP_TIME;
            double v[TG_KNOWN_LOOK];
            size_t n = step || (tg_series_is_name(s) && s->scale == TG_SCALE_TIME)
                           ? values_of(h, (uint32_t)i, v)
                           : 0;
            if (!n)
                continue;
            ask->trend[ask->n_trends++] =
                (struct tg_known){ .what = TG_KNOWN_NIGHT_VALUES,
                                   .subject = step ? TG_SUBJECT_TRACE : TG_SUBJECT_NAME,
                                   .kind = s->kind,
                                   .name = tg_arena_sv(ask->arena, s->name),
                                   .nights = tg_arena_copy(ask->arena, v, n, sizeof *v),
                                   .n_nights = n };
        }
    }
    tg_nights_release(&nights);
    *out = l.v;
    return l.n;
}

/* ---- what failed in earlier nights ---- */

struct failed {
    struct tg_known *v;
    size_t n;
};

static size_t find_failures(struct tg_known_ask *ask, const struct tg_known **out)
{
    struct failed at[TG_KNOWN_LOOK + 1] = { 0 };
    size_t n = ask->n_nights, first = n;
    while (first) {
        if (!ask->failures(ask->arg, ask->night[first - 1].commit, &at[first].v, &at[first].n,
                           &ask->err) ||
            !at[first].n)
            break;
        first--;
    }
    for (size_t i = first + 1; i <= n; i++) {
        const struct failed *before = &at[i - 1], *now = &at[i];
        TG_BUF since = { 0 };
        put_night(&since, &ask->night[i - 1]);
        tg_buf_puts(&since, ", open: it failed then; the history has no event of it yet");
        tg_sv text = tg_arena_sv(ask->arena, tg_buf_sv(&since));
        for (size_t k = 0; k < now->n; k++) {
            size_t same = 0;
            while (same < before->n && !tg_known_goes_on(&before->v[same], &now->v[k]))
                same++;
            /* What goes on keeps the size and the night of its beginning, or it could creep up
             * unseen. */
            if (same < before->n)
                now->v[k] = before->v[same];
            else
                now->v[k].text = text;
        }
    }
    *out = at[n].v;
    return at[n].n;
}

size_t tg_known_find(void *arg, enum tg_known_from from, const struct tg_known **out)
{
    struct tg_known_ask *ask = arg;
    if (from == TG_KNOWN_TREND) {
        *out = ask->trend;
        return ask->n_trends;
    }
    return from == TG_KNOWN_EVENTS ? find_events(ask, out) : find_failures(ask, out);
}
