/*
 * tracegate history: what is stored, night after night, and what changed in it. Reads only the
 * clone's own store; `history accept` writes a record beside it (core/baseline/event.h).
 */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include "cmd/gate/given.h"
#include "cmd/gate/nights.h"
#include "core/base/file.h"
#include "core/baseline/changed.h"
#include "core/baseline/event.h"
#include "core/baseline/git.h"
#include "core/baseline/spawn.h"
#include "reporters/history.h"
#include "reporters/history_trend.h"

struct history_opts {
    const char *suite, *op, *metric, *since, *until, *format, *output, *markdown, *html, *svg,
        *fail_on, *reason;
    int64_t last;
    struct tg_given given;
};

static const struct tg_opt history_options[] = {
    { "suite", TG_OPT_STR, offsetof(struct history_opts, suite), "NAME",
      "this suite only; default: all that are stored" },
    { "op", TG_OPT_STR, offsetof(struct history_opts, op), "GLOB",
      "show the operators and kernels whose names match" },
    { "metric", TG_OPT_STR, offsetof(struct history_opts, metric), "GLOB",
      "show the measures of the step whose names match" },
    { "since", TG_OPT_STR, offsetof(struct history_opts, since), "REV",
      "show the nights after REV; all nights are judged" },
    { "until", TG_OPT_STR, offsetof(struct history_opts, until), "REV",
      "the newest commit, default HEAD; only first parents are followed" },
    { "last", TG_OPT_INT, offsetof(struct history_opts, last), "N", "show the last N nights" },
    { "format", TG_OPT_STR, offsetof(struct history_opts, format), "text|csv|json",
      "what is printed; default: text" },
    { "o", TG_OPT_STR, offsetof(struct history_opts, output), "FILE", "write it there instead" },
    { "markdown", TG_OPT_STR, offsetof(struct history_opts, markdown), "FILE",
      "also write the nightly report for an issue or a chat" },
    { "html", TG_OPT_STR, offsetof(struct history_opts, html), "FILE",
      "also write the nightly report as one page that asks nobody for anything" },
    { "svg", TG_OPT_STR, offsetof(struct history_opts, svg), "FILE",
      "also draw trends: the step, or what --op and --metric name, and what moved most; several "
      "suites: FILE-SUITE.svg" },
    { "fail-on", TG_OPT_STR, offsetof(struct history_opts, fail_on), "open|new|never",
      "exit with 1 while an event is open, or only in the night that shows it first; default: "
      "new" },
    { "reason", TG_OPT_STR, offsetof(struct history_opts, reason), "TEXT",
      "accept, reopen: why; kept with the event" },
    TG_GIVEN_TRUST(struct history_opts, given),
    { 0 },
};

struct history_cmd {
    const struct history_opts *o;
    const struct tg_io *io;
    struct tg_arena *arena;
    struct tg_git *git;
    struct tg_store store; /* of `git` */
    struct tg_commit until;
    struct tg_nights *nights; /* a suite each */
    struct tg_history_suite *suite;
    size_t n;
    struct tg_outputs files;
};

/* ---- what is shown ------------------------------------------------------------------------- */

enum { SERIES_SHOWN = 13, SERIES_OF_PAGE = 1000, EVENTS_WITH_FILES = 20, TAGS = 1000 };

/* Nights before the first one that --since and --last leave. */
static bool first_shown(const struct history_cmd *c, const struct tg_nights *n, size_t *first,
                        struct tg_err *err)
{
    struct tg_commit since;
    size_t nights = n->history.n;
    *first = 0;
    if (c->o->since) {
        size_t place = 0;
        if (!tg_git_resolve(c->git, c->o->since, c->arena, &since, err))
            return false;
        while (place < n->n_line && strcmp(n->line[place].sha, since.sha) != 0)
            place++;
        for (size_t i = 0; place < n->n_line && i < nights; i++)
            if (n->place[i] <= place)
                *first = i + 1;
    }
    if (c->o->last > 0 && nights - *first > (size_t)c->o->last)
        *first = nights - (size_t)c->o->last;
    return true;
}

struct weighed {
    uint32_t series;
    double weight;
};

static int by_weight(const void *x, const void *y)
{
    const struct weighed *a = x, *b = y;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    return (a->series > b->series) - (a->series < b->series);
}

static bool is_asked_for(const struct history_opts *o, const struct tg_series *s)
{
    const char *glob = s->what == TG_SERIES_MEASURE ? o->metric : o->op;
    return glob && tg_sv_glob(tg_sv_of(glob), s->name);
}

/* Step time first; then what moved, by cost; then what takes most time. */
static double weight_of(const struct tg_nights *n, uint32_t id)
{
    const struct tg_history *h = &n->history;
    const struct tg_series *s = &n->series.v[id];
    double plain = h->n ? tg_history_plain(h, h->n - 1, id) : (double)NAN, moved = 0;
    if (s->what == TG_SERIES_MEASURE)
        return s->measure == TG_MEASURE_STEP_TIME ? INFINITY : 0;
    for (size_t i = 0; i < h->n_events; i++)
        for (size_t k = 0; k < h->event[i].n; k++)
            if (h->event[i].v[k].series == id)
                moved = fmax(moved, fabs(h->event[i].v[k].cost_ns) + 1);
    if (moved > 0)
        return 1e18 + moved;
    return isnan(plain) ? 0 : plain;
}

/* All series that have a value in the nights shown, by weight. */
static size_t weigh_all(const struct history_cmd *c, const struct tg_nights *n, size_t first,
                        struct weighed **out)
{
    struct weighed *v = TG_NEW_N(c->arena, struct weighed, n->series.n + 1);
    bool *seen = TG_NEW_N(c->arena, bool, n->series.n + 1);
    size_t k = 0;
    for (size_t i = first; i < n->history.n; i++)
        for (size_t j = 0; j < n->history.night[i].n; j++)
            seen[n->history.night[i].v[j].series] = true;
    for (uint32_t i = 0; i < n->series.n; i++)
        if (seen[i])
            v[k++] = (struct weighed){ i, weight_of(n, i) };
    if (k)
        qsort(v, k, sizeof *v, by_weight);
    *out = v;
    return k;
}

static void choose_series(const struct history_cmd *c, struct tg_nights *n,
                          struct tg_history_suite *out)
{
    bool asked = c->o->op || c->o->metric;
    struct weighed *v;
    size_t k = weigh_all(c, n, out->first, &v);
    uint32_t *shown = TG_NEW_N(c->arena, uint32_t, k + 1),
             *all = TG_NEW_N(c->arena, uint32_t, k + 1);
    for (size_t i = 0; i < k; i++) {
        if (asked ? is_asked_for(c->o, &n->series.v[v[i].series])
                  : v[i].weight > 0 && out->n_series < SERIES_SHOWN)
            shown[out->n_series++] = v[i].series;
        if (i < SERIES_OF_PAGE)
            all[out->n_all++] = v[i].series;
    }
    out->series = shown;
    out->all = all;
}

/* ---- releases ------------------------------------------------------------------------------ */

static int by_night(const void *x, const void *y)
{
    const struct tg_history_release *a = x, *b = y;
    if (a->night != b->night)
        return a->night < b->night ? -1 : 1;
    return tg_sv_cmp(a->name, b->name);
}

/* Tags of commits on the line, each at the first night that has its commit in it. */
static bool find_releases(const struct history_cmd *c, const struct tg_nights *n,
                          struct tg_history_suite *out, struct tg_err *err)
{
    struct tg_git_ref_at *tags;
    struct tg_history_release *v;
    size_t n_tags;
    if (!tg_git_refs(c->git, "refs/tags/", c->arena, &tags, &n_tags, err))
        return false;
    v = TG_NEW_N(c->arena, struct tg_history_release, n_tags + 1);
    for (size_t i = 0; i < n_tags && i < TAGS; i++) {
        char sha[TG_SHA_SIZE];
        size_t place = 0, night = 0;
        if (!tg_git_ref(c->git, tags[i].name.p, sha))
            continue;
        while (place < n->n_line && strcmp(n->line[place].sha, sha) != 0)
            place++;
        while (night < n->history.n && n->place[night] < place)
            night++;
        if (place < n->n_line && night < n->history.n)
            v[out->n_releases++] =
                (struct tg_history_release){ night, { tags[i].name.p + 10, tags[i].name.n - 10 } };
    }
    if (out->n_releases)
        qsort(v, out->n_releases, sizeof *v, by_night);
    out->releases = v;
    return true;
}

/* ---- events -------------------------------------------------------------------------------- */

static bool can_fail(const struct tg_history_event *e)
{
    bool worse = false;
    for (size_t i = 0; i < e->n; i++)
        worse = worse || e->v[i].worse;
    return e->kind == TG_EVENT_REGRESSION || e->kind == TG_EVENT_DRIFT ||
           (e->kind == TG_EVENT_CALLS && worse);
}

/* Improvements and new environments need nobody's word. */
static bool goes_without_saying(const struct tg_history_event *e)
{
    return e->kind == TG_EVENT_IMPROVEMENT || e->kind == TG_EVENT_ENVIRONMENT ||
           (e->kind == TG_EVENT_CALLS && !can_fail(e));
}

static void tell_commits(const struct history_cmd *c, const struct tg_nights *n,
                         struct tg_history_told *t)
{
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
}

/* Costs a run of git an event, so only for those that somebody may look into. */
static void tell_files(const struct history_cmd *c, struct tg_history_told *t)
{
    struct tg_changed changed = { 0 };
    struct tg_err ignored;
    tg_err_init(&ignored);
    t->files_known = tg_git_changed(c->git, t->from.p, t->to.p, c->arena, &changed, &ignored);
    t->files = changed.paths;
    t->n_files = t->files_known ? changed.n_paths : 0;
}

static void tell_event(const struct history_cmd *c, const struct tg_nights *n,
                       const struct tg_history_event *e, const struct tg_event_record *record,
                       struct tg_history_told *t)
{
    *t = (struct tg_history_told){ .event = e,
                                   .state = e->state,
                                   .fails = can_fail(e),
                                   .fresh = e->fired + 1 == n->history.n,
                                   .from = n->history.night[e->from].commit,
                                   .to = n->history.night[e->to].commit };
    if (t->state == TG_STATE_OPEN && goes_without_saying(e))
        t->state = TG_STATE_ACCEPTED;
    if (record) {
        t->actor = record->actor;
        t->reason = record->reason;
        t->time = record->time;
        if (t->state == TG_STATE_OPEN && record->word == TG_EVENT_ACCEPTED)
            t->state = TG_STATE_ACCEPTED;
    }
    tell_commits(c, n, t);
}

static bool tell_events(const struct history_cmd *c, const struct tg_nights *n,
                        struct tg_history_suite *out, struct tg_err *err)
{
    const struct tg_history *h = &n->history;
    struct tg_history_told *v = TG_NEW_N(c->arena, struct tg_history_told, h->n_events + 1);
    struct tg_event_record *records;
    size_t n_records, k = 0, asked = 0;
    if (!tg_event_records(&c->store, n->suite, c->arena, &records, &n_records, err))
        return false;
    for (size_t i = 0; i < h->n_events; i++) {
        const struct tg_history_event *e = &h->event[i];
        tell_event(c, n, e, tg_event_latest(records, n_records, tg_sv_of(e->id)), &v[k]);
        k += v[k].state == TG_STATE_OPEN || e->fired >= out->first;
    }
    for (size_t i = k; i-- > 0 && asked < EVENTS_WITH_FILES;)
        if (v[i].state == TG_STATE_OPEN) {
            tell_files(c, &v[i]);
            asked++;
        }
    out->events = v;
    out->n_events = k;
    return true;
}

/* ---- reading ------------------------------------------------------------------------------- */

static void tell_gaps(const struct history_cmd *c, const struct tg_nights *n)
{
    if (n->elsewhere)
        tg_io_note(c->io, "suite %.*s: %zu stored commit%s not on the first-parent line of %s",
                   TG_SV_ARG(n->suite), n->elsewhere, n->elsewhere == 1 ? " is" : "s are",
                   c->o->until ? c->o->until : "HEAD");
    if (n->unread)
        tg_io_note(c->io, "suite %.*s: %zu night%s cannot be read, the first is %s",
                   TG_SV_ARG(n->suite), n->unread, n->unread == 1 ? "" : "s", n->unread_why);
    if (n->cut)
        tg_io_note(c->io, "the history ends in a shallow clone: fetch more of it (fetch-depth: 0)");
}

static bool load_suite(struct history_cmd *c, tg_sv suite, const struct tg_progress *progress,
                       struct tg_err *err)
{
    struct tg_nights *n = &c->nights[c->n];
    struct tg_history_suite *out = &c->suite[c->n];
    bool ok = tg_nights_load(n, &c->store, suite, &c->until, progress, err);
    c->n++;
    *out = (struct tg_history_suite){ .name = suite, .history = &n->history };
    if (!ok || !first_shown(c, n, &out->first, err) || !tell_events(c, n, out, err))
        return false;
    tell_gaps(c, n);
    choose_series(c, n, out);
    return (!c->o->svg && !c->o->html) || find_releases(c, n, out, err);
}

static bool load(struct history_cmd *c, struct tg_err *err)
{
    struct tg_progress_line progress;
    tg_sv *suites;
    size_t n;
    bool ok;
    if (!tg_git_resolve(c->git, c->o->until ? c->o->until : "HEAD", c->arena, &c->until, err) ||
        !tg_nights_suites(&c->store, c->arena, &suites, &n, err))
        return false;
    c->nights = TG_NEW_N(c->arena, struct tg_nights, n + 1);
    c->suite = TG_NEW_N(c->arena, struct tg_history_suite, n + 1);
    tg_progress_start(&progress, c->io);
    ok = true;
    for (size_t i = 0; ok && i < n; i++)
        if (!c->o->suite || tg_sv_eq(suites[i], tg_sv_of(c->o->suite)))
            ok = load_suite(c, suites[i], &progress.line, err);
    tg_progress_end(&progress);
    if (ok && !c->n) {
        ok = tg_err_set(err, TG_ERR_LOST, TG_NOWHERE, "nothing is stored of %s%s",
                        c->o->suite ? "suite " : "any suite", c->o->suite ? c->o->suite : "");
        (void)tg_err_hint(err, "`tracegate baseline record` stores a night; "
                               "`git fetch origin 'refs/tracegate/*:refs/tracegate/*'` brings "
                               "what the remote has.");
    }
    return ok;
}

/* ---- output -------------------------------------------------------------------------------- */

static bool is_text(const char *text, const char *word)
{
    return text && strcmp(text, word) == 0;
}

static bool put_file(struct history_cmd *c, const char *path,
                     void (*write)(struct tg_buf *, const struct tg_history_report *),
                     const struct tg_history_report *r, struct tg_err *err)
{
    struct tg_buf bytes = { 0 };
    size_t handle;
    bool ok;
    if (!path)
        return true;
    ok = tg_outputs_open(&c->files, path, &handle, err);
    if (ok) {
        write(&bytes, r);
        ok = tg_outputs_put(&c->files, handle, tg_buf_sv(&bytes), err);
    }
    tg_buf_release(&bytes);
    return ok;
}

static bool print(struct history_cmd *c, const struct tg_history_report *r, struct tg_err *err)
{
    void (*write)(struct tg_buf *, const struct tg_history_report *) =
        is_text(c->o->format, "json")  ? tg_history_put_json
        : is_text(c->o->format, "csv") ? tg_history_put_csv
                                       : tg_history_put_text;
    struct tg_buf bytes = { 0 };
    bool ok;
    if (c->o->output)
        return put_file(c, c->o->output, write, r, err);
    write(&bytes, r);
    ok = tg_io_put(c->io, tg_buf_sv(&bytes), err);
    tg_buf_release(&bytes);
    return ok;
}

/* "https://github.com/o/r/commit/" of what `git remote get-url origin` says; "" unknown. */
static tg_sv commit_url(const struct history_cmd *c)
{
    static const char *const args[] = { "config", "--get", "remote.origin.url", NULL };
    struct tg_buf b = { 0 };
    struct tg_spawned how;
    tg_sv url = TG_SV(""), host, path;
    tg_git_spawn(c->git, args, 4096, &b, &how);
    if (how.end == TG_SPAWN_EXIT && how.code == 0) {
        url = tg_arena_sv(c->arena, tg_buf_sv(&b));
        url = tg_sv_cut(&url, '\n');
    }
    tg_buf_release(&b);
    if (tg_sv_ends(url, TG_SV(".git")))
        url.n -= 4;
    if (tg_sv_starts(url, TG_SV("https://")) && !memchr(url.p, '@', url.n))
        return tg_sv_of(tg_arena_printf(c->arena, "%.*s/commit/", TG_SV_ARG(url)));
    if (!tg_sv_starts(url, TG_SV("git@")))
        return TG_SV("");
    path = (tg_sv){ url.p + 4, url.n - 4 };
    host = tg_sv_cut(&path, ':');
    return tg_sv_of(
        tg_arena_printf(c->arena, "https://%.*s/%.*s/commit/", TG_SV_ARG(host), TG_SV_ARG(path)));
}

/* A file a suite. */
static bool put_drawings(struct history_cmd *c, struct tg_err *err)
{
    const char *path = c->o->svg, *dot = path ? strrchr(path, '.') : NULL;
    int stem = dot && !strchr(dot, '/') ? (int)(dot - path) : path ? (int)strlen(path) : 0;
    bool ok = true;
    for (size_t i = 0; path && ok && i < c->n; i++) {
        struct tg_buf bytes = { 0 };
        size_t handle;
        const char *file = c->n == 1 ? path
                                     : tg_arena_printf(c->arena, "%.*s-%.*s%s", stem, path,
                                                       TG_SV_ARG(c->suite[i].name), path + stem);
        tg_trend_svg(&bytes, &c->suite[i]);
        ok = tg_outputs_open(&c->files, file, &handle, err) &&
             tg_outputs_put(&c->files, handle, tg_buf_sv(&bytes), err);
        tg_buf_release(&bytes);
    }
    return ok;
}

static bool report(struct history_cmd *c, struct tg_err *err)
{
    struct tg_history_report r = { .suites = c->suite, .n = c->n, .columns = c->io->columns };
    if (c->o->markdown || c->o->html)
        r.commit_url = commit_url(c);
    return put_file(c, c->o->markdown, tg_history_put_markdown, &r, err) &&
           put_file(c, c->o->html, tg_history_put_page, &r, err) && put_drawings(c, err) &&
           print(c, &r, err) && tg_outputs_commit(&c->files, err);
}

static int exit_code(const struct history_cmd *c)
{
    if (is_text(c->o->fail_on, "never"))
        return 0;
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < c->suite[i].n_events; k++) {
            const struct tg_history_told *t = &c->suite[i].events[k];
            if (t->fails && t->state == TG_STATE_OPEN &&
                (t->fresh || is_text(c->o->fail_on, "open")))
                return 1;
        }
    return 0;
}

/* ---- accept, reopen ------------------------------------------------------------------------ */

/* Whose word it is: the CI's actor, else the name git knows. */
static tg_sv actor(const struct history_cmd *c)
{
    static const char *const args[] = { "config", "--get", "user.name", NULL };
    const char *ci = tg_io_env(c->io, "GITHUB_ACTOR");
    struct tg_buf b = { 0 };
    struct tg_spawned how;
    tg_sv name = TG_SV("unknown");
    if (ci)
        return tg_sv_of(ci);
    tg_git_spawn(c->git, args, 4096, &b, &how);
    if (how.end == TG_SPAWN_EXIT && how.code == 0 && b.n > 1) {
        name = tg_arena_sv(c->arena, tg_buf_sv(&b));
        name = tg_sv_cut(&name, '\n');
    }
    tg_buf_release(&b);
    return name;
}

/* The one event whose id begins with `id`. */
static bool find_event(const struct history_cmd *c, const char *id, size_t *suite,
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
    tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "'%s' is %s", id,
               found ? "more than one event" : "no event of this history");
    return tg_err_hint(err, "`tracegate history` lists them; the first digits of an id are enough "
                            "where they are one event's alone.");
}

static bool say(struct history_cmd *c, enum tg_event_word word, const char *id, struct tg_err *err)
{
    struct tg_event_record record = { .word = word };
    const struct tg_history_event *e = NULL;
    const char *now = tg_io_env(c->io, "SOURCE_DATE_EPOCH");
    struct tg_buf b = { 0 };
    size_t suite = 0;
    bool ok;
    if (!c->o->reason) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "history %s needs a reason",
                   word == TG_EVENT_ACCEPTED ? "accept" : "reopen");
        return tg_err_hint(err, "--reason TEXT is kept with the event, for whoever asks later.");
    }
    if (!load(c, err) || !find_event(c, id, &suite, &e, err))
        return false;
    record.id = tg_sv_of(e->id);
    record.reason = tg_sv_of(c->o->reason);
    record.actor = actor(c);
    if (!now || !tg_sv_i64(tg_sv_of(now), &record.time))
        record.time = (int64_t)time(NULL);
    if (!tg_event_write(&c->store, c->nights[suite].suite, &record, c->arena, err))
        return false;
    tg_buf_printf(&b, "%s %s: %s\n", word == TG_EVENT_ACCEPTED ? "accepted" : "reopened", e->id,
                  tg_event_kind_name(e->kind));
    ok = tg_io_put(c->io, tg_buf_sv(&b), err);
    tg_buf_release(&b);
    return ok;
}

/* ---- the command --------------------------------------------------------------------------- */

static bool run_verb(struct history_cmd *c, const struct tg_strs *args, int *code,
                     struct tg_err *err)
{
    *code = 0;
    if (!args->n) {
        if (!load(c, err) || !report(c, err))
            return false;
        *code = exit_code(c);
        return true;
    }
    if (args->n == 2 && strcmp(args->v[0], "accept") == 0)
        return say(c, TG_EVENT_ACCEPTED, args->v[1], err);
    if (args->n == 2 && strcmp(args->v[0], "reopen") == 0)
        return say(c, TG_EVENT_REOPENED, args->v[1], err);
    tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "history takes no argument '%s'", args->v[0]);
    return tg_err_hint(err, "Write `history`, `history accept ID --reason TEXT` or `history reopen "
                            "ID --reason TEXT`.");
}

static int history_run(const void *opts, const struct tg_strs *args, const struct tg_io *io,
                       struct tg_err *err)
{
    struct history_cmd c = { .o = opts, .io = io, .arena = tg_arena_new() };
    struct tg_repo repo = { .opts = { .trust_owner = c.o->given.trust_repository } };
    int code = 0;
    bool ok = (c.git = tg_repo_get(&repo, err));
    c.store = tg_store_in_git(c.git);
    ok = ok && run_verb(&c, args, &code, err);
    for (size_t i = 0; i < c.n; i++)
        tg_nights_release(&c.nights[i]);
    tg_outputs_release(&c.files);
    tg_repo_release(&repo);
    tg_arena_free(c.arena);
    return ok ? code : tg_err_exit_code(err->kind);
}

const struct tg_cmd tg_cmd_history = {
    .name = "history",
    .summary = "what is stored night after night, and what changed in it",
    .synopsis = "[accept ID | reopen ID] [options]",
    .about =
        "Reads the stored results of the commits along first parents, one value a night for each "
        "operator, kernel and measure, and says what changed: which operators, by how much, since "
        "which night, and which commits lie between that night and the one before.\n"
        "\n"
        "What moves on one night in one environment is one event. It has an id and a state: open, "
        "accepted (by `history accept`, which keeps who, when and why in git), fixed, or went "
        "away. The exit code is 1 in the night that first shows an open regression, drift or rise "
        "of calls, and 0 afterwards; --fail-on open keeps it at 1 until somebody accepts it.\n"
        "\n"
        "Durations are judged from 11 nights of one environment on, calls from the second. "
        "docs/nightly.md says how, and what was measured of it.",
    .options = history_options,
    .opts_size = sizeof(struct history_opts),
    .run = history_run,
};
