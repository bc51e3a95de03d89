/* tracegate baseline prune. */
#include <stdlib.h>
#include <time.h>

#include "cmd/baseline.h"
#include "cmd/gate/nights.h"

/* "60d" -> seconds since 1970 that long ago. */
static bool age(const char *option, const char *text, int64_t *since, struct tg_err *err)
{
    static const struct {
        char unit;
        int64_t days;
    } units[] = { { 'd', 1 }, { 'w', 7 }, { 'y', 365 } };
    tg_sv number = { text, *text ? strlen(text) - 1 : 0 };
    int64_t n;
    for (size_t i = 0; i < 3; i++)
        if (number.n && text[number.n] == units[i].unit && tg_sv_i64(number, &n) && n >= 0 &&
            n < 100000) {
            *since = (int64_t)time(NULL) - n * units[i].days * 86400;
            return true;
        }
    tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "%s '%s' is not an age", option, text);
    return tg_err_hint(err, "For example 90d, 12w or 2y.");
}

static bool is_count(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == '\0';
}

/* --keep N, --keep AGE, --older-than AGE and --then. */
static bool what_to_keep(const struct tg_store_cmd *s, struct tg_prune_opts *o, struct tg_err *err)
{
    int64_t keep = 0;
    *o = (struct tg_prune_opts){ .since = INT64_MAX };
    if (!s->o->keep && !s->o->older_than) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE,
                   "prune needs --keep N, --keep AGE or "
                   "--older-than AGE");
        return tg_err_hint(err, "For example: tracegate baseline prune --keep 60d --then weekly "
                                "--remote origin");
    }
    if (s->o->older_than && !age("--older-than", s->o->older_than, &o->since, err))
        return false;
    if (s->o->keep && is_count(s->o->keep) && tg_sv_i64(tg_sv_of(s->o->keep), &keep))
        o->keep = (size_t)keep;
    else if (s->o->keep && s->o->older_than)
        return tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE,
                          "--keep AGE and --older-than AGE exclude each other");
    else if (s->o->keep && !age("--keep", s->o->keep, &o->since, err))
        return false;
    if (s->o->then)
        o->thin = strcmp(s->o->then, "weekly") == 0 ? TG_THIN_WEEKLY : TG_THIN_MONTHLY;
    return true;
}

/* ---- what events are about ---- */

/*
 * An event that is not over keeps the nights by which it was found: from EVIDENCE nights before its
 * range to the night that showed it. Of one that is over the two nights of its range stay.
 */
static void spare_event(const struct tg_history *h, const struct tg_history_event *e, bool *spared)
{
    enum {
        EVIDENCE = TG_CHANGEPOINT_OLD + TG_CHANGEPOINT_FIRST + 5
    }; /* of its environment; the table's 16 */
    bool over = e->state == TG_STATE_FIXED || e->state == TG_STATE_WENT_AWAY;
    spared[e->from] = spared[e->to] = spared[e->fired] = true;
    for (size_t i = 0; !over && e->kind != TG_EVENT_ENVIRONMENT && i <= e->fired; i++)
        if (h->stream[i] == e->stream && h->place[i] + EVIDENCE > h->place[e->from])
            spared[i] = true;
}

static int by_text(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* The nights that are kept for events, of all suites. */
static bool find_spared(struct tg_store_cmd *s, struct tg_prune_opts *o, struct tg_err *err)
{
    struct tg_commit head;
    tg_sv *suites;
    const char **v = NULL;
    size_t n, cap = 0;
    bool ok = tg_git_resolve(s->git, "HEAD", s->arena, &head, err) &&
              tg_nights_suites(&s->store, s->arena, &suites, &n, err);
    for (size_t i = 0; ok && i < n; i++) {
        struct tg_nights nights;
        bool *spared;
        ok = tg_nights_load(&nights, &s->store, suites[i], &head, NULL, err);
        spared = TG_NEW_N(s->arena, bool, nights.history.n + 1);
        for (size_t k = 0; ok && k < nights.history.n_events; k++)
            spare_event(&nights.history, &nights.history.event[k], spared);
        for (size_t k = 0; ok && k < nights.history.n; k++)
            if (spared[k]) {
                v = tg_grow(v, &cap, o->n_spared + 1, sizeof *v);
                v[o->n_spared++] = tg_arena_printf(s->arena, "%.*s %.*s",
                                                   TG_SV_ARG(nights.history.night[k].commit),
                                                   TG_SV_ARG(suites[i]));
            }
        tg_nights_release(&nights);
    }
    o->spared = TG_NEW_N(s->arena, const char *, o->n_spared + 1);
    if (o->n_spared) {
        memcpy(o->spared, v, o->n_spared * sizeof *v);
        qsort(o->spared, o->n_spared, sizeof *v, by_text);
    }
    free(v);
    return ok;
}

bool tg_baseline_prune(struct tg_store_cmd *s, struct tg_err *err)
{
    struct tg_prune_opts po;
    struct tg_stored *all, *old;
    struct tg_pushed gone = { 0 };
    size_t n_all, n, foreign, unknown;
    if (!what_to_keep(s, &po, err) || (po.thin != TG_THIN_NONE && !find_spared(s, &po, err)) ||
        !tg_store_cmd_listed(s, &all, &n_all, &foreign, err) ||
        !tg_store_old(&s->store, &po, all, n_all, s->arena, &old, &n, &unknown, err))
        return false;
    if (s->o->remote && n && !tg_remote_delete(s->git, &s->remote, old, n, &gone, err))
        return false;
    if (!s->o->dry_run && !tg_store_delete(&s->store, old, n, err))
        return false;
    for (size_t i = 0; i < n; i++)
        tg_buf_printf(&s->out, "%s %.*s\n", s->o->dry_run ? "would delete" : "deleted",
                      TG_SV_ARG(old[i].ref));
    if (unknown)
        tg_io_note(s->io, "kept the runs of %zu commit%s that are not in this clone", unknown,
                   tg_plural(unknown));
    return true;
}
