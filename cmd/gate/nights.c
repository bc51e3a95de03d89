#include "cmd/gate/nights.h"

#include <stdlib.h>

#include "cmd/gate/reading.h"
#include "core/base/sort.h"
#include "core/baseline/git.h"
#include "core/baseline/store.h"

enum { BATCH = 64 }; /* nights that are read before they are measured: bounds the memory */

bool tg_nights_suites(const struct tg_store *store, struct tg_arena *a, tg_sv **out, size_t *n,
                      struct tg_err *err)
{
    struct tg_stored *v;
    size_t n_stored;
    *n = 0;
    if (!tg_store_list(store, TG_SV(""), NULL, a, &v, &n_stored, NULL, err))
        return false;
    *out = TG_NEW_N(a, tg_sv, n_stored + 1);
    for (size_t i = 0; i < n_stored; i++)
        if (!i || !tg_sv_eq(v[i].suite, v[i - 1].suite))
            (*out)[(*n)++] = v[i].suite;
    return true;
}

/* ---- reading ---- */

struct night_read {
    struct tg_buf *bytes; /* of each run */
    struct tg_git_files files;
    struct tg_summary summary;
    struct tg_side side;
    struct tg_arena *arena;
    struct tg_err err;
    bool ok, damaged;
};

/* A night that cannot be read is reported; the others are still judged. */
static bool parse_night(void *arg, size_t i, struct tg_err *err)
{
    struct night_read *x = (struct night_read *)arg + i;
    (void)err;
    x->ok = x->err.kind == TG_ERR_NONE;
    for (size_t k = 0; x->ok && k < x->files.n; k++) {
        x->ok =
            tg_summary_parse(&x->summary, tg_buf_sv(&x->bytes[k]), x->files.v[k].path.p, &x->err);
        tg_buf_release(&x->bytes[k]);
    }
    x->damaged = !x->ok;
    /* Stored runs know their ranks; those without one are runs. */
    enum tg_arrange how = TG_ARRANGE_RUNS;
    for (size_t k = 0; x->ok && k < x->summary.n; k++)
        how = x->summary.shards[k]->rank >= 0 ? TG_ARRANGE_AUTO : how;
    x->ok = x->ok && x->summary.n && tg_side_arrange(&x->side, &x->summary, how, x->arena, &x->err);
    return true;
}

/* What git cannot read is damage of this night; in a partial clone it may be the network, and the
 * other nights wait for that as well. */
static bool fetch_night(const struct tg_store *store, const struct tg_stored_night *night,
                        struct night_read *x, struct tg_err *err)
{
    *x = (struct night_read){ .arena = tg_arena_new() };
    tg_err_init(&x->err);
    tg_summary_init(&x->summary);
    bool ok = tg_store_files_of(store, night->v, night->n, x->arena, &x->files, &x->err);
    if (ok)
        x->bytes = TG_NEW_N(x->arena, struct tg_buf, x->files.n + 1);
    for (size_t k = 0; ok && k < x->files.n; k++)
        ok = tg_store_read(store, &x->files.v[k], &x->bytes[k], &x->err);
    return ok || !tg_git_is_partial(store->git) || tg_err_again(err, &x->err);
}

bool tg_nights_each(const struct tg_store *store, const struct tg_stored_night *v, size_t n,
                    tg_nights_take *take, void *arg, const struct tg_progress *progress,
                    struct tg_err *err)
{
    TG_FREE struct night_read *batch = tg_xmalloc(BATCH * sizeof *batch);
    bool ok = true;
    for (size_t first = 0; ok && first < n; first += BATCH) {
        size_t some = n - first < BATCH ? n - first : BATCH, fetched = 0;
        while (ok && fetched < some) {
            ok = fetch_night(store, &v[first + fetched], &batch[fetched], err);
            fetched++;
        }
        ok = ok && tg_reading_each(some, parse_night, batch, progress, err);
        for (size_t i = 0; i < fetched; i++) {
            if (ok)
                take(arg, first + i, batch[i].ok ? &batch[i].side : NULL, batch[i].damaged,
                     &batch[i].err);
            for (size_t k = 0; batch[i].bytes && k < batch[i].files.n; k++)
                tg_buf_release(&batch[i].bytes[k]);
            tg_summary_release(&batch[i].summary);
            tg_arena_free(batch[i].arena);
        }
    }
    return ok;
}

/* ---- the line of first parents ---- */

struct walk {
    struct tg_nights *out;
    const struct tg_store *store;
    const struct tg_stored *v;
    size_t n_stored, n_commits;
    size_t cap;
    struct tg_stored_night *at; /* by place on the line; n 0: nothing stored */
    size_t cap_at;
    size_t *place; /* of each night that is read, on the line */
    struct tg_err *err;
};

/* Ends with the last commit that has runs: what is before it has no night to compare. */
static bool walk_line(struct walk *w, const struct tg_commit *until)
{
    struct tg_nights *out = w->out;
    struct tg_commit at = *until, next;
    enum tg_seen back = until->sha[0] ? TG_SEEN : TG_ABSENT;
    size_t left = w->n_commits, oldest = 0;
    while (back == TG_SEEN && left) {
        size_t first, end, k = out->n_line;
        TG_SEARCH(first, w->n_stored, strcmp(w->v[first].commit, at.sha) < 0);
        for (end = first; end < w->n_stored && strcmp(w->v[end].commit, at.sha) == 0;)
            end++;
        w->at = tg_grow(w->at, &w->cap_at, k + 1, sizeof *w->at);
        w->at[k] = (struct tg_stored_night){ w->v + first, end - first };
        *TG_PUSH(out->line, out->n_line, w->cap) = at;
        if (end > first) {
            left--;
            oldest = k + 1;
        }
        back = tg_git_step_back(w->store->git, at.sha, out->arena, &next, &out->cut, w->err);
        at = next;
    }
    out->n_line = oldest;
    out->elsewhere = left;
    return back != TG_SEEN_FAILED;
}

static void take_night(void *arg, size_t i, const struct tg_side *side, bool damaged,
                       const struct tg_err *why)
{
    const struct walk *w = arg;
    struct tg_nights *out = w->out;
    const struct tg_commit *c = &out->line[w->place[i]];
    struct tg_night *night;
    out->newest_unread = !side;
    if (!side) {
        if (!out->unread++ || (damaged && !out->damaged))
            out->unread_why = tg_arena_printf(out->arena, "%.12s: %s", c->sha, why->message);
        out->damaged += damaged;
        return;
    }
    out->place[out->history.n] = w->place[i];
    out->runs[out->history.n] = w->at[w->place[i]];
    night = &out->history.night[out->history.n++];
    *night = (struct tg_night){ .commit = tg_arena_sv(out->arena, tg_sv_of(c->sha)),
                                .subject = c->summary,
                                .author = c->author,
                                .date = c->date };
    tg_night_metric(night, side, &out->series, out->arena);
}

bool tg_nights_load(struct tg_nights *out, const struct tg_store *store, tg_sv suite,
                    const struct tg_commit *until, const struct tg_progress *progress,
                    struct tg_err *err)
{
    struct walk w = { .out = out, .store = store, .err = err };
    struct tg_stored *v;
    *out = (struct tg_nights){ .suite = suite, .arena = tg_arena_new() };
    tg_series_init(&out->series);
    bool ok = tg_store_list(store, suite, NULL, out->arena, &v, &w.n_stored, NULL, err);
    w.v = v;
    for (size_t i = 0; ok && i < w.n_stored; i++)
        w.n_commits += !i || strcmp(v[i].commit, v[i - 1].commit) != 0;
    ok = ok && walk_line(&w, until);
    if (ok) { /* the nights of the line, oldest first */
        for (size_t i = 0, k = out->n_line; i + 1 < k; i++) {
            struct tg_commit c = out->line[i];
            struct tg_stored_night s = w.at[i];
            out->line[i] = out->line[--k];
            w.at[i] = w.at[k];
            out->line[k] = c;
            w.at[k] = s;
        }
        out->history.night = TG_NEW_N(out->arena, struct tg_night, w.n_commits + 1);
        out->place = TG_NEW_N(out->arena, size_t, w.n_commits + 1);
        out->runs = TG_NEW_N(out->arena, struct tg_stored_night, w.n_commits + 1);
        out->history.series = &out->series;
        struct tg_stored_night *night =
            TG_NEW_N(out->arena, struct tg_stored_night, w.n_commits + 1);
        size_t n = 0;
        w.place = TG_NEW_N(out->arena, size_t, w.n_commits + 1);
        for (size_t i = 0; i < out->n_line; i++)
            if (w.at[i].n) {
                w.place[n] = i;
                night[n++] = w.at[i];
            }
        ok = tg_nights_each(store, night, n, take_night, &w, progress, err);
    }
    if (ok)
        tg_history_replay(&out->history, suite, out->arena);
    free(w.at);
    return ok;
}

/* Does the record's id say a commit and a series of this event? */
static bool is_about(const struct tg_nights *n, const struct tg_history_event *e, tg_sv record)
{
    const struct tg_history *h = &n->history;
    size_t last = e->to + TG_NIGHTS_LATE < h->n ? e->to + TG_NIGHTS_LATE : h->n - 1;
    for (size_t i = n->place[e->from] + 1; i <= n->place[last]; i++)
        for (size_t k = 0; k < e->n; k++) {
            char id[13];
            tg_history_id(id, n->suite, h->night[e->fired].environment, tg_sv_of(n->line[i].sha),
                          tg_history_id_of(h, &e->v[k]));
            if (tg_sv_eq(tg_sv_of(id), record))
                return true;
        }
    return false;
}

void tg_nights_keep_ids(struct tg_nights *n, const struct tg_event_record *v, size_t n_records)
{
    struct tg_history *h = &n->history;
    for (size_t r = 0; r < n_records; r++) {
        bool known = false;
        for (size_t i = 0; i < h->n_events; i++)
            known |= tg_sv_eq(tg_sv_of(h->event[i].id), v[r].id);
        for (size_t i = 0; i < h->n_events && !known; i++) {
            struct tg_history_event *e = &h->event[i];
            known = !tg_event_latest(v, n_records, tg_sv_of(e->id)) && is_about(n, e, v[r].id);
            if (known)
                memcpy(e->id, v[r].id.p, sizeof e->id - 1);
        }
    }
}

bool tg_nights_damaged(const struct tg_nights *n, struct tg_err *err)
{
    return tg_err_say(err, TG_ERR_SUMMARY, TG_NOWHERE,
                      "suite %.*s: %zu night%s cannot be read, the first is %s",
                      "What happened in them is not known. `tracegate baseline list` names the "
                      "runs; record the commit again, or delete a damaged run with `git "
                      "update-ref -d`. A newer tracegate may have written it.",
                      TG_SV_ARG(n->suite), n->damaged, n->damaged == 1 ? "" : "s", n->unread_why);
}

void tg_nights_release(struct tg_nights *n)
{
    tg_series_release(&n->series);
    free(n->line);
    tg_arena_free(n->arena);
    *n = (struct tg_nights){ 0 };
}
