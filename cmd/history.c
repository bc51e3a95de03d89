/* tracegate history: what is stored, night after night, and what changed in it. Reads only the
 * clone's own store; `history accept` writes a record beside it (core/baseline/event.h). */
#include "cmd/history.h"

#include <time.h>

#include "cmd/gate/site.h"
#include "cmd/gate/suite.h"
#include "reporters/history_trend.h"

/* Whose word it is: the CI's actor, else the name git knows. */
static tg_sv actor(const struct tg_history_cmd *c)
{
    const char *ci = tg_io_env(c->io, "GITHUB_ACTOR");
    tg_sv name = ci ? tg_sv_of(ci) : tg_site_config(c->git, "user.name", c->arena);
    return name.n ? name : TG_SV("unknown");
}

/* The one event whose id begins with `id`. */
static bool find_event(const struct tg_history_cmd *c, const char *id, size_t *suite,
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

/* `history accept` and `reopen`, after the suites are read. */
TG_MUST static bool history_cmd_accept(struct tg_history_cmd *c, enum tg_event_word word,
                                       const char *id, struct tg_err *err)
{
    struct tg_event_record record = { .word = word };
    const struct tg_history_event *e = NULL;
    const char *now = tg_io_env(c->io, "SOURCE_DATE_EPOCH");
    TG_BUF b = { 0 };
    size_t suite = 0;
    if (!find_event(c, id, &suite, &e, err))
        return false;
    record.id = tg_sv_of(e->id);
    record.reason = tg_sv_of(c->o->reason);
    record.actor = actor(c);
    if (!now || !tg_sv_i64(tg_sv_of(now), &record.time))
        record.time = (int64_t)time(NULL);
    if (!tg_event_write(&c->store, c->nights[suite].suite, &record, c->arena, err))
        return false;
    tg_buf_printf(&b, "%s %s: %s\n", word == TG_EVENT_WORD_ACCEPTED ? "accepted" : "reopened",
                  e->id, tg_event_kind_name(e->kind));
    return tg_io_put(c->io, tg_buf_sv(&b), err);
}

#define AT(kind, member) TG_OPT_##kind, offsetof(struct tg_history_cmd_opts, member)
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
    TG_GIVEN_TRUST(struct tg_history_cmd_opts, given),
    { 0 },
};

/* ---- reading ---- */

static bool load_suite(struct tg_history_cmd *c, tg_sv suite, const struct tg_progress *progress,
                       struct tg_err *err)
{
    struct tg_nights *n = &c->nights[c->n];
    struct tg_history_suite *out = &c->suite[c->n];
    bool ok = tg_nights_load(n, &c->store, suite, &c->until, progress, err);
    c->n++;
    *out = (struct tg_history_suite){ .name = suite, .history = &n->history };
    if (!ok || !tg_history_cmd_tell(c, n, out, err))
        return false;
    if (n->elsewhere)
        tg_io_note(c->io, "suite %.*s: %zu stored commit%s not on the first-parent line of %s",
                   TG_SV_ARG(n->suite), n->elsewhere, n->elsewhere == 1 ? " is" : "s are",
                   c->o->until ? c->o->until : "HEAD");
    if (n->unread)
        tg_io_note(c->io, "suite %.*s: %zu night%s cannot be read, the first is %s",
                   TG_SV_ARG(n->suite), n->unread, n->unread == 1 ? "" : "s", n->unread_why);
    if (n->cut)
        tg_io_note(c->io, "the history ends in a shallow clone: fetch more of it (fetch-depth: 0)");
    return true;
}

static bool load(struct tg_history_cmd *c, struct tg_err *err)
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
    for (size_t i = 0; ok && i < n; i++)
        if (!c->o->suite || tg_sv_eq(suites[i], tg_sv_of(c->o->suite)))
            ok = load_suite(c, suites[i], &progress.line, err);
    tg_progress_end(&progress);
    if (ok && !c->n) {
        ok = tg_err_set(err, TG_ERR_LOST, TG_NOWHERE, "nothing is stored of %s%s",
                        c->o->suite ? "suite " : "any suite", c->o->suite ? c->o->suite : "");
        (void)tg_err_hint(err, "`tracegate baseline record` stores a night; `git fetch origin "
                               "'refs/tracegate/*:refs/tracegate/*'` brings what the remote has.");
    }
    return ok;
}

/* ---- output ---- */

static bool put_file(struct tg_history_cmd *c, const char *path,
                     void (*write)(struct tg_buf *, const struct tg_history_report *),
                     const struct tg_history_report *r, struct tg_err *err)
{
    TG_BUF bytes = { 0 };
    size_t handle;
    if (!path)
        return true;
    bool ok = tg_outputs_open(&c->files, path, &handle, err);
    if (ok) {
        write(&bytes, r);
        ok = tg_outputs_put(&c->files, handle, tg_buf_sv(&bytes), err);
    }
    return ok;
}

static bool print(struct tg_history_cmd *c, const struct tg_history_report *r, struct tg_err *err)
{
    void (*write)(struct tg_buf *, const struct tg_history_report *) =
        c->o->format == TG_FORMAT_JSON  ? tg_history_put_json
        : c->o->format == TG_FORMAT_CSV ? tg_history_put_csv
                                        : tg_history_put_text;
    TG_BUF bytes = { 0 };
    if (c->o->output)
        return put_file(c, c->o->output, write, r, err);
    write(&bytes, r);
    return tg_io_put(c->io, tg_buf_sv(&bytes), err);
}

/* "https://github.com/o/r/commit/"; "" unknown. */
static tg_sv commit_url(const struct tg_history_cmd *c)
{
    tg_sv site = tg_site_origin(c->git, c->arena);
    return site.n ? TG_SV_PRINTF(c->arena, "%.*s/commit/", TG_SV_ARG(site)) : TG_SV("");
}

/* A file per suite. */
static bool put_drawings(struct tg_history_cmd *c, struct tg_err *err)
{
    const char *path = c->o->svg;
    bool ok = true;
    for (size_t i = 0; path && ok && i < c->n; i++) {
        TG_BUF bytes = { 0 };
        size_t handle;
        const char *file =
            c->n == 1 ? path : tg_suites_path(path, c->suite[i].name, TG_SV(""), c->arena);
        tg_trend_svg(&bytes, &c->suite[i]);
        ok = tg_outputs_open(&c->files, file, &handle, err) &&
             tg_outputs_put(&c->files, handle, tg_buf_sv(&bytes), err);
    }
    return ok;
}

static bool report(struct tg_history_cmd *c, struct tg_err *err)
{
    struct tg_history_report r = { .suites = c->suite, .n = c->n, .columns = c->io->columns };
    if (c->o->markdown || c->o->html)
        r.commit_url = commit_url(c);
    return put_file(c, c->o->markdown, tg_history_put_markdown, &r, err) &&
           put_file(c, c->o->html, tg_history_put_page, &r, err) && put_drawings(c, err) &&
           print(c, &r, err) && tg_outputs_commit(&c->files, err);
}

/* What happened in a night, or was said of an event, is not known where it cannot be read: the
 * reports are there, no code is 0. */
static bool all_readable(const struct tg_history_cmd *c, struct tg_err *err)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->nights[i].damaged)
            return tg_nights_damaged(&c->nights[i], err);
    return c->unread.kind == TG_ERR_NONE || tg_err_again(err, &c->unread);
}

static int exit_code(const struct tg_history_cmd *c)
{
    if (c->o->fail_on == TG_HISTORY_FAIL_ON_NEVER)
        return 0;
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < c->suite[i].n_events; k++) {
            const struct tg_history_entry *t = &c->suite[i].events[k];
            if (t->fails && t->state == TG_EVENT_STATE_OPEN &&
                (t->fresh || t->grown || c->o->fail_on == TG_HISTORY_FAIL_ON_OPEN))
                return 1;
        }
    for (size_t i = 0; i < c->n; i++)
        if (c->nights[i].newest_unread) /* its runs do not fit together: it is not judged */
            return 4;
    return 0;
}

/* ---- the command ---- */

static bool say(struct tg_history_cmd *c, enum tg_event_word word, const char *id,
                struct tg_err *err)
{
    if (c->o->reason && tg_sv_trim(tg_sv_of(c->o->reason)).n)
        return load(c, err) && history_cmd_accept(c, word, id, err);
    return tg_err_usage(err, "history %s needs a reason",
                        "--reason TEXT is kept with the event, for whoever asks later.",
                        word == TG_EVENT_WORD_ACCEPTED ? "accept" : "reopen");
}

static bool run_verb(struct tg_history_cmd *c, const struct tg_strs *args, int *code,
                     struct tg_err *err)
{
    *code = 0;
    if (!args->n) {
        if (!load(c, err) || !report(c, err) || !all_readable(c, err))
            return false;
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
    struct tg_history_cmd c = { .o = call->opts,
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

static const struct tg_opt_was history_was[] = { { "op", "name" }, { "metric", "name" }, { 0 } };

static const struct tg_opt_needs history_needs[] = { { "reason", "accept reopen" }, { 0 } };

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
    .was = history_was,
    .opts_size = sizeof(struct tg_history_cmd_opts),
    .needs = history_needs,
    .verbs = history_verbs,
    .run = history_run,
};
