/* tracegate history: what is stored, night after night, and what changed in it. Reads only the
 * clone's own store; `history accept` writes a record beside it (core/baseline/event.h). */
#include <math.h>
#include <time.h>

#include "cmd/gate/gate.h"
#include "cmd/gate/given.h"
#include "cmd/gate/nights.h"
#include "cmd/gate/site.h"
#include "cmd/gate/suite.h"
#include "core/base/file.h"
#include "core/base/sort.h"
#include "core/baseline/changed.h"
#include "core/baseline/event.h"
#include "core/baseline/git.h"
#include "reporters/history.h"
#include "reporters/label.h"

/* In the order of the words of --fail-on; 0: not given, as NEW. */
enum fail_on { FAIL_ON_DEFAULT, FAIL_ON_OPEN, FAIL_ON_NEW, FAIL_ON_NEVER };
struct history_opts {
    const char *suite, *since, *until, *output, *markdown, *html, *svg, *reason;
    enum tg_format format;
    enum fail_on fail_on;
    int64_t last;
    struct tg_strs name;
    struct tg_given given;
};

struct history {
    const struct history_opts *o;
    const struct tg_io *io;
    struct tg_arena *arena;
    struct tg_repo *repo;
    struct tg_git *git;
    struct tg_store store; /* of `git` */
    struct tg_commit until;
    struct tg_nights *nights; /* a suite each */
    struct tg_history_suite *suite;
    size_t n;
    struct tg_outputs files;
    struct tg_err unread; /* the first record of an event that cannot be read */
};

#define AT(kind, member) TG_OPT_##kind, offsetof(struct history_opts, member)
static const struct tg_opt history_options[] = {
    { "suite", AT(STR, suite), "NAME", "this suite only; default: all stored ones" },
    { "name", AT(LIST, name), "GLOB",
      "show the operators, kernels, metrics of the step and numbers of benchmarks whose names, or "
      "short forms, match; repeatable" },
    { "since", AT(STR, since), "REV", "show the nights after REV; all nights are judged" },
    { "until", AT(STR, until), "REV",
      "the newest commit, default HEAD; only first parents are followed" },
    { "last", AT(INT, last), "N", "show the last N nights" },
    { "format", AT(FORMAT, format), "text|csv|json", "output format; default: text" },
    { "out", AT(STR, output), "FILE", "write to FILE instead of standard output" },
    { "markdown", AT(STR, markdown), "FILE",
      "also write the nightly report for an issue or a chat" },
    { "html", AT(STR, html), "FILE", "also write the nightly report as one self-contained page" },
    { "svg", AT(STR, svg), "FILE",
      "also draw trends: the step (or what --name matches) and what changed most; several suites: "
      "FILE-SUITE.svg" },
    { "fail-on", AT(CHOICE, fail_on), "open|new|never",
      "exit with 1 while an event is open, or only in the night that shows it first; default: "
      "new" },
    { "reason", AT(STR, reason), "TEXT", "accept, reopen: why; kept with the event" },
    TG_GIVEN_TRUST(struct history_opts, given),
    { 0 },
};

/* ---- a change of calls ---- */

/* The night before and the night after it, as they are judged. */
struct pair {
    struct tg_gate gate;
    struct tg_verdict verdict;
    const struct tg_store *store;
    const struct tg_stored_night *after;
    bool judged;
    struct tg_err why;
};

static void take_after(void *arg, size_t i, const struct tg_side *side, bool damaged,
                       const struct tg_err *why)
{
    struct pair *p = arg;
    (void)i, (void)damaged, (void)why;
    if (!side)
        return;
    p->gate.side[TG_TEST] = *side;
    p->judged = tg_gate_judge(&p->verdict, &p->gate, &p->why);
}

/* A side is there until its call ends: the night after is read within that of the night before. */
static void take_before(void *arg, size_t i, const struct tg_side *side, bool damaged,
                        const struct tg_err *why)
{
    struct pair *p = arg;
    (void)i, (void)damaged, (void)why;
    if (!side)
        return;
    p->gate.side[TG_BASE] = *side;
    p->judged = tg_nights_each(p->store, p->after, 1, take_after, p, NULL, &p->why) && p->judged;
}

static bool is_slower_by_the_clock(const struct tg_history_event *e)
{
    for (size_t i = 0; i < e->n; i++)
        if (e->v[i].worse && (e->v[i].what == TG_MOVED_STEP || e->v[i].what == TG_MOVED_DRIFT))
            return true;
    return false;
}

/*
 * What changes calls alone is for `check` to judge, or what took a name's place would be red at
 * night and green in the pull request. `*pass`: the first night with it passes against the night
 * before, by the built-in policy.
 */
TG_MUST static bool calls_pass(struct history *c, const struct tg_nights *n,
                               const struct tg_history_event *e, bool *pass, struct tg_err *err)
{
    TG_ARENA *a = tg_arena_new();
    struct tg_suites s = { .io = c->io, .repo = c->repo, .arena = a };
    struct pair p = { .store = &c->store, .after = &n->runs[e->to], .why = TG_ERR_INIT };
    *pass = false;
    bool ok = tg_suites_load(&s, "tracegate:recommended", NULL, err) &&
              tg_suites_choose(&s, NULL, TG_SUITES_ONE, err);
    if (ok) {
        p.gate = (struct tg_gate){
            .policy = s.policy, .suite = s.v[0], .io = c->io, .arena = a, .more_suites = true
        };
        tg_gate_compare_opts(&p.gate.compare, s.policy, s.v[0], a);
        ok = tg_nights_each(&c->store, &n->runs[e->from], 1, take_before, &p, NULL, err);
    }
    *pass = ok && p.judged &&
            (p.verdict.outcome == TG_OUTCOME_PASS || p.verdict.outcome == TG_OUTCOME_WARN);
    tg_policy_free(s.policy);
    return ok;
}

/* ---- series ---- */

enum {
    SERIES_SHOWN = 13,
    NUMBERS_SHOWN = 8,
    SERIES_OF_PAGE = 1000,
    EVENTS_WITH_FILES = 20,
    TAGS = 1000
};

/* Where a commit is on the line; n_line: it is not. */
static size_t place_of(const struct tg_nights *n, const char *sha)
{
    size_t place = 0;
    while (place < n->n_line && strcmp(n->line[place].sha, sha) != 0)
        place++;
    return place;
}

struct weighed {
    uint32_t series;
    double weight;
};

static int by_weight(const void *x, const void *y)
{
    const struct weighed *a = x, *b = y;
    int c = TG_CMP(b->weight, a->weight);
    return c ? c : TG_CMP(a->series, b->series);
}

static bool is_asked_for(const struct history_opts *o, const struct tg_series *s)
{
    for (size_t i = 0; i < o->name.n; i++) {
        tg_sv glob = tg_sv_of(o->name.v[i]);
        if (tg_sv_glob(glob, s->name) ||
            (tg_series_is_name(s) && tg_label_stands_for(glob, s->name)))
            return true;
    }
    return false;
}

/* Step time first; then what moved, by cost; then numbers of benchmarks, those that measure
 * something first; then what takes most time. */
static double weight_of(const struct tg_nights *n, uint32_t id)
{
    const struct tg_history *h = &n->history;
    const struct tg_series *s = &n->series.v[id];
    double plain = h->n ? tg_history_plain(h, h->n - 1, id) : (double)NAN, moved = 0;
    if (s->what == TG_SERIES_METRIC)
        return s->metric == TG_METRIC_STEP_TIME ? INFINITY : 0;
    for (size_t i = 0; i < h->n_events; i++)
        for (size_t k = 0; k < h->event[i].n; k++)
            if (h->event[i].v[k].series == id)
                moved = fmax(moved, fabs(h->event[i].v[k].cost_ns) + 1);
    if (moved > 0)
        return 1e18 + moved;
    if (s->what == TG_SERIES_NUMBER)
        return s->unit.n ? 2e17 : 1e17;
    return isnan(plain) ? 0 : plain;
}

/* ---- releases ---- */

static int by_night(const void *x, const void *y)
{
    const struct tg_history_release *a = x, *b = y;
    int c = TG_CMP(a->night, b->night);
    return c ? c : tg_sv_cmp(a->name, b->name);
}

/* Tags of commits on the line, each at the first night that has its commit in it. */
static bool find_releases(const struct history *c, const struct tg_nights *n,
                          struct tg_history_suite *out, struct tg_err *err)
{
    struct tg_git_ref_at *tags;
    size_t n_tags;
    if (!tg_git_refs(c->git, "refs/tags/", c->arena, &tags, &n_tags, err))
        return false;
    struct tg_history_release *v = TG_NEW_N(c->arena, struct tg_history_release, n_tags + 1);
    for (size_t i = 0; i < n_tags && i < TAGS; i++) {
        char sha[TG_SHA_SIZE];
        size_t place, night = 0;
        enum tg_seen seen = tg_git_ref(c->git, tags[i].name.p, sha, err);
        if (seen == TG_SEEN_FAILED)
            return false;
        if (seen == TG_ABSENT)
            continue;
        place = place_of(n, sha);
        while (night < n->history.n && n->place[night] < place)
            night++;
        if (place < n->n_line && night < n->history.n)
            v[out->n_releases++] =
                (struct tg_history_release){ night, { tags[i].name.p + 10, tags[i].name.n - 10 } };
    }
    TG_SORT(v, out->n_releases, by_night);
    out->releases = v;
    return true;
}

/* ---- events ---- */

static bool tell_event(struct history *c, const struct tg_nights *n, struct tg_history_event *e,
                       const struct tg_event_record *record, struct tg_history_entry *t,
                       struct tg_err *err)
{
    bool pass = false, replaced = false;
    for (size_t i = 0; i < e->n; i++)
        replaced |= e->v[i].other;
    /* A name that replaced another has turned out to be slower, some nights after it came: what
     * failed when the name came is not news again when its time is proven. */
    if (replaced && e->grew != e->fired && !tg_history_is_slow(e) && is_slower_by_the_clock(e)) {
        if (!calls_pass(c, n, e, &pass, err))
            return false;
        e->grew = pass ? e->grew : e->fired;
        pass = false;
    }
    *t = (struct tg_history_entry){ .event = e,
                                    .state = e->state,
                                    .fails = tg_history_is_worse(e),
                                    .fresh = e->fired + 1 == n->history.n,
                                    .grown = e->grew != e->fired && e->grew + 1 == n->history.n,
                                    .from = n->history.night[e->from].commit,
                                    .to = n->history.night[e->to].commit };
    if (t->state == TG_EVENT_STATE_OPEN && t->fails && !record && !is_slower_by_the_clock(e) &&
        !calls_pass(c, n, e, &pass, err))
        return false;
    if (pass) {
        e->kind = TG_EVENT_CALLS;
        t->fails = false;
    }
    /* Nobody has to accept improvements and new environments. */
    if (t->state == TG_EVENT_STATE_OPEN &&
        (e->kind == TG_EVENT_IMPROVEMENT || e->kind == TG_EVENT_ENVIRONMENT ||
         (e->kind == TG_EVENT_CALLS && !t->fails)))
        t->state = TG_EVENT_STATE_ACCEPTED;
    if (record) {
        t->actor = record->actor;
        t->reason = record->reason;
        t->time = record->time;
        /* Who accepted the beginning of a drift did not accept what has come since. */
        if (t->state == TG_EVENT_STATE_OPEN && record->word == TG_EVENT_WORD_ACCEPTED &&
            (e->grew == e->fired || record->time >= n->history.night[e->grew].date))
            t->state = TG_EVENT_STATE_ACCEPTED;
    }
    size_t from = n->place[t->event->from], to = n->place[t->event->to], k = 0;
    struct tg_history_commit *v = TG_NEW_N(c->arena, struct tg_history_commit, to - from + 1);
    for (size_t i = from + 1; i <= to; i++) {
        const struct tg_commit *x = &n->line[i];
        bool night = false;
        for (size_t j = t->event->from; j <= t->event->to; j++)
            night = night || n->place[j] == i;
        v[k++] =
            (struct tg_history_commit){ tg_sv_of(x->sha), x->summary, x->author, x->date, night };
    }
    t->commits = v;
    t->n_commits = k;
    return true;
}

static bool tell_events(struct history *c, struct tg_nights *n, struct tg_history_suite *out,
                        struct tg_err *err)
{
    const struct tg_history *h = &n->history;
    struct tg_history_entry *v = TG_NEW_N(c->arena, struct tg_history_entry, h->n_events + 1);
    struct tg_event_record *records;
    size_t n_records, k = 0, asked = 0;
    if (!tg_event_records(&c->store, n->suite, c->arena, &records, &n_records, &c->unread))
        tg_io_note(c->io, "suite %.*s: %s", TG_SV_ARG(n->suite), c->unread.message);
    tg_nights_keep_ids(n, records, n_records);
    for (size_t i = 0; i < h->n_events; i++) {
        struct tg_history_event *e = &h->event[i];
        if (!tell_event(c, n, e, tg_event_latest(records, n_records, tg_sv_of(e->id)), &v[k], err))
            return false;
        k += v[k].state == TG_EVENT_STATE_OPEN || e->fired >= out->first;
    }
    for (size_t i = k; i-- > 0 && asked < EVENTS_WITH_FILES;)
        if (v[i].state == TG_EVENT_STATE_OPEN) {
            /* Costs a run of git per event, so only for events that somebody may look into. */
            struct tg_changed changed = { 0 };
            struct tg_err ignored = TG_ERR_INIT;
            v[i].files_known =
                tg_git_changed(c->git, v[i].from.p, v[i].to.p, c->arena, &changed, &ignored);
            v[i].files = changed.paths;
            v[i].n_files = v[i].files_known ? changed.n_paths : 0;
            asked++;
        }
    out->events = v;
    out->n_events = k;
    return true;
}

/* What is printed of a suite: events, series, releases, from the first night shown. */
static bool tell(struct history *c, struct tg_nights *n, struct tg_history_suite *out,
                 struct tg_err *err)
{
    /* Nights before the first one that --since and --last leave. */
    const size_t nights = n->history.n;
    struct tg_commit since;
    if (c->o->since && !tg_git_resolve(c->git, c->o->since, c->arena, &since, err))
        return false;
    if (c->o->since) {
        size_t place = place_of(n, since.sha);
        for (size_t i = 0; place < n->n_line && i < nights; i++)
            if (n->place[i] <= place)
                out->first = i + 1;
    }
    if (c->o->last > 0 && nights - out->first > (size_t)c->o->last)
        out->first = nights - (size_t)c->o->last;
    if (!tell_events(c, n, out, err))
        return false;
    /* All series that have a value in the nights shown, by weight. */
    struct weighed *v = TG_NEW_N(c->arena, struct weighed, n->series.n + 1);
    bool *seen = TG_NEW_N(c->arena, bool, n->series.n + 1);
    size_t k = 0;
    for (size_t i = out->first; i < nights; i++)
        for (size_t j = 0; j < n->history.night[i].n; j++)
            seen[n->history.night[i].v[j].series] = true;
    for (uint32_t i = 0; i < n->series.n; i++)
        if (seen[i])
            v[k++] = (struct weighed){ i, weight_of(n, i) };
    TG_SORT(v, k, by_weight);
    static const size_t most[] = { SERIES_SHOWN, NUMBERS_SHOWN };
    bool asked = c->o->name.n > 0;
    size_t n_of[] = { 0, 0 };
    uint32_t *shown = TG_NEW_N(c->arena, uint32_t, k + 1),
             *all = TG_NEW_N(c->arena, uint32_t, k + 1);
    for (size_t i = 0; i < k; i++) {
        const struct tg_series *s = &n->series.v[v[i].series];
        bool number = s->what == TG_SERIES_NUMBER;
        if (asked ? is_asked_for(c->o, s) : v[i].weight > 0 && n_of[number] < most[number]) {
            shown[out->n_series++] = v[i].series;
            n_of[number]++;
        }
        if (i < SERIES_OF_PAGE)
            all[out->n_all++] = v[i].series;
    }
    out->series = shown;
    out->all = all;
    if (!out->n_series && nights && asked)
        tg_io_note(c->io, "suite %.*s: no name matches '%s' (* is any run, ? one character)",
                   TG_SV_ARG(n->suite), c->o->name.v[0]);
    return (!c->o->svg && !c->o->html) || find_releases(c, n, out, err);
}

/* ---- reading ---- */

static bool load(struct history *c, struct tg_err *err)
{
    struct tg_progress_line progress;
    tg_sv *suites;
    size_t n;
    if (!tg_git_resolve(c->git, c->o->until ? c->o->until : "HEAD", c->arena, &c->until, err) ||
        !tg_nights_suites(&c->store, c->arena, &suites, &n, err))
        return false;
    c->nights = TG_NEW_N(c->arena, struct tg_nights, n + 1);
    c->suite = TG_NEW_N(c->arena, struct tg_history_suite, n + 1);
    tg_progress_start(&progress, c->io);
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        struct tg_nights *in = &c->nights[c->n];
        if (c->o->suite && !tg_sv_eq(suites[i], tg_sv_of(c->o->suite)))
            continue;
        ok = tg_nights_load(in, &c->store, suites[i], &c->until, &progress.line, err);
        c->suite[c->n] = (struct tg_history_suite){ .name = suites[i], .history = &in->history };
        ok = ok && tell(c, in, &c->suite[c->n], err);
        c->n++;
        if (ok && in->elsewhere)
            tg_io_note(c->io, "suite %.*s: %zu stored commit%s not on the first-parent line of %s",
                       TG_SV_ARG(in->suite), in->elsewhere, in->elsewhere == 1 ? " is" : "s are",
                       c->o->until ? c->o->until : "HEAD");
        if (ok && in->unread)
            tg_io_note(c->io, "suite %.*s: %zu night%s cannot be read, the first is %s",
                       TG_SV_ARG(in->suite), in->unread, in->unread == 1 ? "" : "s",
                       in->unread_why);
        if (ok && in->cut)
            tg_io_note(c->io,
                       "the history ends in a shallow clone: fetch more of it (fetch-depth: 0)");
    }
    tg_progress_end(&progress);
    if (ok && !c->n)
        ok = tg_err_say(err, TG_ERR_LOST, TG_NOWHERE, "nothing is stored of %s%s",
                        "`tracegate baseline record` stores a night; `git fetch origin "
                        "'refs/tracegate/*:refs/tracegate/*'` brings what the remote has.",
                        c->o->suite ? "suite " : "any suite", c->o->suite ? c->o->suite : "");
    return ok;
}

/* ---- output ---- */

static bool put_file(struct history *c, const char *path,
                     void (*write)(struct tg_buf *, const struct tg_history_report *),
                     const struct tg_history_report *r, struct tg_err *err)
{
    TG_BUF bytes = { 0 };
    size_t handle;
    if (!path)
        return true;
    if (!tg_outputs_open(&c->files, path, &handle, err))
        return false;
    write(&bytes, r);
    return tg_outputs_put(&c->files, handle, tg_buf_sv(&bytes), err);
}

static bool report(struct history *c, struct tg_err *err)
{
    struct tg_history_report r = { .suites = c->suite, .n = c->n, .columns = c->io->columns };
    void (*write)(struct tg_buf *, const struct tg_history_report *) =
        c->o->format == TG_FORMAT_JSON  ? tg_history_put_json
        : c->o->format == TG_FORMAT_CSV ? tg_history_put_csv
                                        : tg_history_put_text;
    TG_BUF bytes = { 0 };
    if (c->o->markdown || c->o->html) { /* "https://github.com/o/r/commit/"; "" unknown */
        tg_sv site = tg_site_origin(c->git, c->arena);
        r.commit_url = site.n ? TG_SV_PRINTF(c->arena, "%.*s/commit/", TG_SV_ARG(site)) : TG_SV("");
    }
    if (!put_file(c, c->o->markdown, tg_history_put_markdown, &r, err) ||
        !put_file(c, c->o->html, tg_history_put_page, &r, err))
        return false;
    for (size_t i = 0; c->o->svg && i < c->n; i++) { /* a file per suite */
        const char *file = c->n == 1
                               ? c->o->svg
                               : tg_suites_path(c->o->svg, c->suite[i].name, TG_SV(""), c->arena);
        size_t handle;
        tg_buf_clear(&bytes);
        tg_trend_svg(&bytes, &c->suite[i]);
        if (!tg_outputs_open(&c->files, file, &handle, err) ||
            !tg_outputs_put(&c->files, handle, tg_buf_sv(&bytes), err))
            return false;
    }
    tg_buf_clear(&bytes);
    if (c->o->output) {
        if (!put_file(c, c->o->output, write, &r, err))
            return false;
    } else {
        write(&bytes, &r);
        if (!tg_io_put(c->io, tg_buf_sv(&bytes), err))
            return false;
    }
    return tg_outputs_commit(&c->files, err);
}

/* ---- accept, reopen ---- */

/* The one event whose id begins with `id`. */
static bool find_event(const struct history *c, const char *id, size_t *suite,
                       const struct tg_history_event **out, struct tg_err *err)
{
    size_t found = 0;
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < c->nights[i].history.n_events; k++) {
            const struct tg_history_event *e = &c->nights[i].history.event[k];
            if (strncmp(e->id, id, strlen(id)) != 0 || !*id)
                continue;
            *suite = i;
            *out = e;
            found++;
        }
    if (found == 1)
        return true;
    return tg_err_usage(
        err, "'%s' is %s",
        "`tracegate history` lists them; the first digits of an id are enough if they are unique.",
        id, found ? "more than one event" : "not an event of this history");
}

/* `history accept` and `reopen`. */
static bool say(struct history *c, enum tg_event_word word, const char *id, struct tg_err *err)
{
    struct tg_event_record record = { .word = word };
    const struct tg_history_event *e = NULL;
    const char *now = tg_io_env(c->io, "SOURCE_DATE_EPOCH");
    const char *ci = tg_io_env(c->io, "GITHUB_ACTOR");
    TG_BUF b = { 0 };
    size_t suite = 0;
    if (!c->o->reason || !tg_sv_trim(tg_sv_of(c->o->reason)).n)
        return tg_err_usage(err, "history %s needs a reason",
                            "--reason TEXT is kept with the event, for whoever asks later.",
                            word == TG_EVENT_WORD_ACCEPTED ? "accept" : "reopen");
    if (!load(c, err) || !find_event(c, id, &suite, &e, err))
        return false;
    record.id = tg_sv_of(e->id);
    record.reason = tg_sv_of(c->o->reason);
    /* Whose word it is: the CI's actor, else the name git knows. */
    record.actor = ci ? tg_sv_of(ci) : tg_site_config(c->git, "user.name", c->arena);
    record.actor = record.actor.n ? record.actor : TG_SV("unknown");
    if (!now || !tg_sv_i64(tg_sv_of(now), &record.time))
        record.time = (int64_t)time(NULL);
    if (!tg_event_write(&c->store, c->nights[suite].suite, &record, c->arena, err))
        return false;
    tg_buf_printf(&b, "%s %s: %s\n", word == TG_EVENT_WORD_ACCEPTED ? "accepted" : "reopened",
                  e->id, tg_event_kind_name(e->kind));
    return tg_io_put(c->io, tg_buf_sv(&b), err);
}

/* ---- the command ---- */

static int exit_code(const struct history *c)
{
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < c->suite[i].n_events; k++) {
            const struct tg_history_entry *t = &c->suite[i].events[k];
            if (t->fails && t->state == TG_EVENT_STATE_OPEN &&
                (t->fresh || t->grown || c->o->fail_on == FAIL_ON_OPEN))
                return 1;
        }
    for (size_t i = 0; i < c->n; i++)
        if (c->nights[i].newest_unread) /* its runs do not fit together: it is not judged */
            return 4;
    return 0;
}

static bool run_verb(struct history *c, const struct tg_strs *args, int *code, struct tg_err *err)
{
    *code = 0;
    if (!args->n) {
        if (!load(c, err) || !report(c, err))
            return false;
        /* What happened in a night, or was said of an event, is not known where it cannot be read:
         * the reports are there, no code is 0. */
        for (size_t i = 0; i < c->n; i++)
            if (c->nights[i].damaged)
                return tg_nights_damaged(&c->nights[i], err);
        if (c->unread.kind != TG_ERR_NONE)
            return tg_err_again(err, &c->unread);
        if (c->o->fail_on != FAIL_ON_NEVER)
            *code = exit_code(c);
        return true;
    }
    if (args->n == 2 && strcmp(args->v[0], "accept") == 0)
        return say(c, TG_EVENT_WORD_ACCEPTED, args->v[1], err);
    if (args->n == 2 && strcmp(args->v[0], "reopen") == 0)
        return say(c, TG_EVENT_WORD_REOPENED, args->v[1], err);
    return tg_err_usage(
        err, "history takes no argument '%s'",
        "Write `history`, `history accept ID --reason TEXT` or `history reopen ID --reason TEXT`.",
        args->v[0]);
}

static int history_run(const struct tg_cmd_call *call, struct tg_err *err)
{
    const struct tg_io *io = call->io;
    struct history c = { .o = call->opts,
                         .io = io,
                         .arena = call->arena,
                         .repo = call->repo,
                         .files.standard = io->out,
                         .unread = TG_ERR_INIT };
    int code = 0;
    call->repo->opts.trust_owner = c.o->given.trust_repository;
    bool ok = (c.git = tg_repo_get(call->repo, err));
    c.store = tg_store_open(c.git);
    ok = ok && run_verb(&c, call->args, &code, err);
    for (size_t i = 0; i < c.n; i++)
        tg_nights_release(&c.nights[i]);
    tg_outputs_release(&c.files);
    return ok ? code : tg_err_exit_code(err->kind);
}

static const struct tg_verb history_verbs[] = {
    { "accept", "ID --reason TEXT",
      "keeps in git that somebody takes an event as it is; the first digits of an id are enough.",
      "suite until reason trust-repository" },
    { "reopen", "ID --reason TEXT", "takes that back.", "suite until reason trust-repository" },
    { 0 },
};

const struct tg_cmd tg_cmd_history = {
    .name = "history",
    .summary = "the stored results night by night, and what changed in them",
    .synopsis = "[ACTION ID] [options]",
    .about =
        "Reads the stored results of the commits along first parents, one value a night for each "
        "operator, kernel, metric of the step and number of a benchmark. Shows what changed: which "
        "operators, by how much, since which night, and the commits between that night and the one "
        "before.\n\n"
        "What gets worse on one night in one environment is one event; what improves, another. "
        "Each has an id and a state: open, accepted (by `history accept`, which keeps who, when "
        "and why in git), fixed, or went away. The exit code is 1 in the night that first shows an "
        "open regression, a drift or calls that `check` fails, and 0 afterwards; --fail-on open "
        "keeps it at 1 until somebody accepts it. It is 3 if a stored night cannot be read, and 4 "
        "if the runs of the newest one do not fit together.\n\n"
        "Durations are judged with 11 or more nights of one environment, calls with two. How: "
        "docs/nightly.md.",
    .options = history_options,
    .was = (const struct tg_opt_was[]){ { "op", "name" }, { "metric", "name" }, { 0 } },
    .opts_size = sizeof(struct history_opts),
    .needs = (const struct tg_opt_needs[]){ { "reason", "accept reopen" }, { 0 } },
    .verbs = history_verbs,
    .run = history_run,
};
