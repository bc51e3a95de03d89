/* tracegate baseline prune. */
#include <inttypes.h>
#include <time.h>

#include "cmd/baseline.h"
#include "cmd/gate/nights.h"
#include "core/base/sort.h"
#include "core/base/strmap.h"
#include "core/baseline/git.h"

enum { DAY = 86400, FAR = 366 }; /* a clock so many days after the newest run is not believed */

/* "60d" -> seconds. */
static bool age(const char *text, int64_t *seconds, struct tg_err *err)
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
            *seconds = n * units[i].days * 86400;
            return true;
        }
    return tg_err_usage(err, "--keep does not know '%s'",
                        "Give a number of commits from 1 on, an age as 90d, 12w or 2y, or weekly "
                        "or monthly beside one of them.",
                        text);
}

/* --keep. The newest commit of a suite stays, whatever its age: `check` compares with it. */
static bool what_to_keep(const struct tg_store_cmd *s, struct tg_prune_opts *o, int64_t *seconds,
                         struct tg_err *err)
{
    *o = (struct tg_prune_opts){ .keep = 1, .since = INT64_MAX };
    *seconds = -1;
    size_t thins = 0;
    for (size_t i = 0; i < s->o->keep.n; i++) {
        const char *text = s->o->keep.v[i];
        bool weekly = strcmp(text, "weekly") == 0;
        int64_t n = 0;
        if (weekly || strcmp(text, "monthly") == 0) {
            o->thin = weekly ? TG_THIN_WEEKLY : TG_THIN_MONTHLY;
            thins++;
        } else if (*text && !text[strspn(text, "0123456789")] && tg_sv_i64(tg_sv_of(text), &n) &&
                   n > 0) {
            o->keep = (size_t)n;
        } else if (age(text, &n, err)) {
            *seconds = n > *seconds ? n : *seconds;
        } else {
            return false;
        }
    }
    if (thins < s->o->keep.n)
        return true;
    return tg_err_usage(
        err, "prune needs --keep N or --keep AGE%s",
        "For example: tracegate baseline prune --keep 60d --keep weekly --remote origin",
        thins ? ": weekly and monthly thin what is older than that" : "");
}

/* An age counts from the newest stored commit, or from now where that is earlier: a clock that is
 * ahead then deletes nothing more, and neither does a commit with a date in the future. */
static bool count_age(const struct tg_store_cmd *s, int64_t seconds, const struct tg_stored *all,
                      size_t n_all, struct tg_prune_opts *o, struct tg_err *err)
{
    int64_t now = (int64_t)time(NULL), newest;
    if (seconds < 0 || !n_all)
        return true;
    if (!tg_store_newest(&s->store, all, n_all, s->arena, &newest, err))
        return false;
    if (newest == INT64_MIN)
        return true; /* no date is known, and nothing is old */
    if (!s->o->trust_clock && (now < newest - DAY || now > newest + FAR * DAY)) {
        /* A clock that is wrong by years deletes years: whoever set it has to say that it is
         * right. */
        int64_t days = (now - newest) / DAY;
        return tg_err_usage(err, "the newest run is of %" PRId64 " days %s this machine's clock",
                            "Nothing was deleted. If the clock is right, run again with "
                            "--trust-clock: ages then count from now.",
                            days < 0 ? -days : days, days < 0 ? "after" : "before");
    }
    o->since = (newest < now && !s->o->trust_clock ? newest : now) - seconds;
    return true;
}

/* ---- what stays whatever its age ---- */

static void spare(struct tg_strs *spared, tg_sv commit, tg_sv suite, struct tg_arena *a)
{
    tg_strs_add(spared, tg_arena_printf(a, "%.*s %.*s", TG_SV_ARG(commit), TG_SV_ARG(suite)), a);
}

/* The nights of events, of all suites. An event that is not over keeps the nights by which it was
 * found: from EVIDENCE nights before its range to the night that showed it. An event that is over
 * keeps the two nights of its range. */
static bool spare_events(struct tg_store_cmd *s, const struct tg_commit *head, struct tg_strs *out,
                         struct tg_err *err)
{
    /* of its environment; the table's 16 */
    enum { EVIDENCE = TG_CHANGEPOINT_OLD + TG_CHANGEPOINT_FIRST + 5 };
    tg_sv *suites;
    size_t n;
    bool ok = tg_nights_suites(&s->store, s->arena, &suites, &n, err);
    for (size_t i = 0; ok && i < n; i++) {
        struct tg_nights nights;
        const struct tg_history *h = &nights.history;
        ok = tg_nights_load(&nights, &s->store, suites[i], head, NULL, err) &&
             (!nights.damaged || tg_nights_damaged(&nights, err)); /* whose evidence is not known */
        bool *spared = TG_NEW_N(s->arena, bool, h->n + 1);
        for (size_t k = 0; ok && k < h->n_events; k++) {
            const struct tg_history_event *e = &h->event[k];
            bool over = e->state == TG_EVENT_STATE_FIXED || e->state == TG_EVENT_STATE_WENT_AWAY;
            spared[e->from] = spared[e->to] = spared[e->fired] = true;
            for (size_t m = 0; !over && e->kind != TG_EVENT_ENVIRONMENT && m <= e->fired; m++)
                spared[m] |=
                    h->stream[m] == e->stream && h->place[m] + EVIDENCE > h->place[e->from];
        }
        for (size_t k = 0; ok && k < h->n; k++)
            if (spared[k])
                spare(out, h->night[k].commit, suites[i], s->arena);
        tg_nights_release(&nights);
    }
    return ok;
}

/* Of each suite what is stored at the commit of a tag that --keep-tags matches, or last before it:
 * `release(GLOB)` finds that. */
static bool spare_releases(struct tg_store_cmd *s, const struct tg_commit *head,
                           const struct tg_stored *all, size_t n_all, struct tg_strs *out,
                           struct tg_err *err)
{
    TG_AUTO(tg_strmap_release) struct tg_strmap line = { 0 }, tagged = { 0 };
    const tg_sv prefix = TG_SV("refs/tags/"),
                glob = tg_sv_of(s->o->keep_tags ? s->o->keep_tags : "*");
    struct tg_git_ref_at *refs;
    size_t n;
    if (!tg_git_refs(s->git, prefix.p, s->arena, &refs, &n, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        char sha[TG_SHA_SIZE];
        enum tg_seen seen = TG_ABSENT;
        if (tg_sv_glob(glob, tg_sv_from(refs[i].name, prefix.n)))
            seen = tg_git_ref(s->git, refs[i].name.p, sha, err);
        if (seen == TG_SEEN_FAILED)
            return false;
        if (seen == TG_SEEN)
            (void)tg_strmap_add(&tagged, tg_sv_of(sha));
    }
    if (!tagged.n)
        return true;
    /* First parents from `head` on, newest first. */
    struct tg_commit at = *head, next;
    enum tg_seen seen = TG_SEEN;
    bool cut;
    while (seen == TG_SEEN) {
        (void)tg_strmap_add(&line, tg_sv_of(at.sha));
        seen = tg_git_step_back(s->git, at.sha, s->arena, &next, &cut, err);
        at = next;
    }
    if (seen == TG_SEEN_FAILED)
        return false;
    TG_FREE bool *stored = tg_xmalloc(line.n + 1);
    for (size_t i = 0, end; i < n_all; i = end) {
        size_t last = line.n;
        memset(stored, false, line.n + 1);
        for (end = i; end < n_all && tg_sv_eq(all[end].suite, all[i].suite); end++) {
            tg_sv commit = tg_sv_of(all[end].commit);
            uint32_t place = tg_strmap_find(&line, commit);
            if (place != TG_NO_ID)
                stored[place] = true;
            else if (tg_strmap_find(&tagged, commit) != TG_NO_ID)
                spare(out, commit, all[end].suite, s->arena);
        }
        for (size_t k = line.n; k-- > 0;) {
            last = stored[k] ? k : last;
            if (last < line.n && tg_strmap_find(&tagged, line.text[k]) != TG_NO_ID)
                spare(out, line.text[last], all[i].suite, s->arena);
        }
    }
    return true;
}

bool tg_baseline_prune(struct tg_store_cmd *s, struct tg_err *err)
{
    struct tg_prune_opts po;
    struct tg_stored *all, *old;
    struct tg_pushed gone = { 0 };
    struct tg_strs spared = { 0 }; /* "COMMIT SUITE" */
    struct tg_commit head;
    size_t n_all, n, foreign, unknown;
    int64_t seconds;
    if (!what_to_keep(s, &po, &seconds, err) ||
        !tg_store_cmd_listed(s, &all, &n_all, &foreign, err) || !tg_store_whole(all, n_all, err) ||
        !count_age(s, seconds, all, n_all, &po, err) ||
        !tg_git_resolve(s->git, "HEAD", s->arena, &head, err) ||
        !spare_events(s, &head, &spared, err) ||
        !spare_releases(s, &head, all, n_all, &spared, err))
        return false;
    TG_SORT(spared.v, spared.n, tg_by_text);
    po.spared = spared.v;
    po.n_spared = spared.n;
    if (!tg_store_old(&s->store, &po, all, n_all, s->arena, &old, &n, &unknown, err))
        return false;
    if (s->o->remote && n &&
        !tg_remote_push(s->git, &s->remote, TG_REMOTE_DELETE, old, n, &gone, err))
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
