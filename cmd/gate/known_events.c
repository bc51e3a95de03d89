#include "cmd/gate/known_events.h"

#include <math.h>

#include "cmd/gate/nights.h"
#include "core/baseline/event.h"
#include "reporters/history.h"

struct known_list {
    const struct tg_known_ask *ask;
    const struct tg_nights *nights;
    const struct tg_event_record *records;
    size_t n_records;
    struct tg_known *v;
    size_t n;
};

/* "since night 9 (2026-11-12), commit 3861a99abcde, open: event 3fa9c1d20b1c" */
static tg_sv text_of(const struct known_list *l, const struct tg_history_event *e,
                     const struct tg_event_record *said)
{
    const struct tg_night *night = &l->nights->history.night[e->to];
    struct tg_buf b = { 0 };
    tg_sv text;
    tg_buf_printf(&b, "since night %zu (", e->to + 1);
    tg_history_put_date(&b, night->date);
    tg_buf_printf(&b, "), commit %.12s, %s: event %s", night->commit.p, said ? "accepted" : "open",
                  e->id);
    if (said)
        tg_buf_printf(&b, ", %.*s: %.*s", TG_SV_ARG(said->actor), TG_SV_ARG(said->reason));
    text = tg_arena_sv(l->ask->arena, tg_buf_sv(&b));
    tg_buf_release(&b);
    return text;
}

static bool is_after(const struct known_list *l, const struct tg_history_event *e)
{
    struct tg_store store = tg_store_open(l->ask->git);
    const char *to = tg_arena_sv(l->ask->arena, l->nights->history.night[e->to].commit).p;
    return strcmp(to, l->ask->since) != 0 && tg_store_precedes(&store, l->ask->since, to);
}

static bool is_worse(const struct tg_history_event *e)
{
    for (size_t i = 0; i < e->n; i++)
        if (e->v[i].worse)
            return e->kind == TG_EVENT_REGRESSION || e->kind == TG_EVENT_DRIFT ||
                   e->kind == TG_EVENT_CALLS;
    return false;
}

static void add_event(struct known_list *l, const struct tg_history_event *e,
                      const struct tg_event_record *said)
{
    const struct tg_series_table *t = &l->nights->series;
    tg_sv text = text_of(l, e, said), id = tg_arena_sv(l->ask->arena, tg_sv_of(e->id));
    for (size_t i = 0; i < e->n; i++) {
        const struct tg_moved_series *m = &e->v[i];
        const struct tg_series *s = m->series == UINT32_MAX ? NULL : &t->v[m->series];
        if (!s || s->what == TG_SERIES_MEASURE || m->back)
            continue;
        l->v[l->n++] = (struct tg_known){
            .what = TG_KNOWN_NAME,
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

static void add_events(struct known_list *l, const char *head)
{
    const struct tg_history *h = &l->nights->history;
    size_t most = 0;
    for (size_t i = 0; i < h->n_events; i++)
        most += h->event[i].n + 1;
    l->v = TG_NEW_N(l->ask->arena, struct tg_known, most + 1);
    for (size_t i = 0; i < h->n_events; i++) {
        const struct tg_history_event *e = &h->event[i];
        const struct tg_event_record *said =
            tg_event_latest(l->records, l->n_records, tg_sv_of(e->id));
        if (said && said->word != TG_EVENT_ACCEPTED)
            said = NULL;
        if (e->state == TG_STATE_OPEN && is_worse(e) &&
            !tg_sv_eq(h->night[e->fired].commit, tg_sv_of(head)) && is_after(l, e))
            add_event(l, e, said);
    }
}

size_t tg_known_find(void *arg, const struct tg_known **out)
{
    const struct tg_known_ask *ask = arg;
    struct tg_store store = tg_store_open(ask->git);
    struct tg_nights nights = { 0 };
    struct known_list l = { .ask = ask, .nights = &nights };
    struct tg_event_record *records;
    struct tg_commit head;
    struct tg_err ignored;
    tg_err_init(&ignored);
    if (!tg_git_resolve(ask->git, "HEAD", ask->arena, &head, &ignored) ||
        !tg_event_records(&store, ask->suite, ask->arena, &records, &l.n_records, &ignored))
        return 0;
    l.records = records;
    if (tg_nights_load(&nights, &store, ask->suite, &head, NULL, &ignored))
        add_events(&l, head.sha);
    tg_nights_release(&nights);
    *out = l.v;
    return l.n;
}
