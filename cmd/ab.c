/* tracegate ab: how many runs each side makes, and what check says of them. */
#include "cmd/ab.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/decimal.h"
#include "core/base/host.h"
#include "core/base/look.h"
#include "core/base/utf8.h"
#include "core/baseline/git.h"
#include "core/trace/trace.h"

enum { MOST_RUNS = 17, MOST_ONE_LOOK = 20 };
enum { MAX_SAID = 64 << 20, BISECT_STOPS = 128 };

#define AT(kind, member) TG_OPT_##kind, offsetof(struct tg_ab_opts, member)
static const struct tg_opt ab_options[] = {
    { "base", AT(STR, base), "REV", "the commit that HEAD is compared with; needed" },
    { "detect", AT(STR, detect), "PCT",
      "the slowdown that matters: of what looks slower it is found or excluded, or the verdict is "
      "inconclusive; default: 20%" },
    { "budget", AT(STR, budget), "TIME",
      "no stage begins that would take longer in all: 90s, 5min, 1h" },
    { "max-runs", AT(INT, max_runs), "N", "the most runs a side; default: 17" },
    { "runs", AT(INT, runs), "N", "one look at N runs a side, instead of stages" },
    { "setup", AT(STR, setup), "CMD",
      "bash, once in each worktree before its runs (build the extension, link the data)" },
    { "explain", AT(FLAG, explain), NULL,
      "if the check fails, one more run a side with TRACE_STACKS=1 in its environment, for the "
      "causes "
      "alone; what was judged stays" },
    { "out", AT(STR, out), "DIR", "keep the traces of both sides there" },
    { "resume", AT(FLAG, resume), NULL,
      "go on after a kill with the runs in --out DIR, for the same command and commits" },
    { "watch", AT(LIST, watch), "PATH",
      "a file, or the files of a folder, that the command must not change; may be repeated" },
    { "bisect", AT(FLAG, bisect), NULL,
      "answer as `git bisect run` asks: 0 good, 1 bad, 125 cannot be tested, 128 and more stop" },
    { 0 },
};

/* ---- what it says while it runs ---- */

void tg_ab_progress(struct tg_ab *ab, const char *fmt, ...)
{
    TG_BUF line = { 0 };
    char text[512];
    va_list ap;
    if (!ab->io->progress)
        return;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (ab->line)
        tg_buf_puts(&line, "\r\033[K");
    if (text[0])
        tg_buf_printf(&line, "ab: %.*s",
                      TG_SV_ARG(tg_utf8_prefix(tg_sv_of(text), (size_t)ab->io->columns - 6)));
    ab->line = text[0] != '\0';
    (void)!tg_file_put(ab->io->err, tg_buf_sv(&line));
}

void tg_ab_say(struct tg_ab *ab, const char *fmt, ...)
{
    TG_BUF line = { 0 }, shown = { 0 };
    char text[4096];
    va_list ap;
    tg_ab_progress(ab, "%s", "");
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    tg_buf_printf(&line, "ab: %s\n", text);
    tg_io_safe(ab->io, tg_buf_sv(&line), &shown);
    (void)!tg_file_put(ab->io->err, tg_buf_sv(&shown));
}

static const char *seconds(struct tg_ab *ab, int64_t ms)
{
    return tg_arena_printf(ab->arena, "%lld.%lld s", (long long)(ms / 1000),
                           (long long)(ms % 1000 / 100));
}

/* ---- judging ---- */

/* What a stage asks for: docs/stages.md. */
struct ask {
    int64_t first, again, suspects; /* runs a side, of which `again` are new ones; names */
    const char *names;              /* of the suspects, in one line */
};

struct judged {
    int code;
    struct tg_buf said; /* on standard output */
    struct ask ask;
};

static void add(struct tg_ab *ab, struct tg_strs *argv, const char *word)
{
    *TG_ARENA_PUSH(ab->arena, argv->v, argv->n, argv->cap) = word;
}

static void add_option(struct tg_ab *ab, struct tg_strs *argv, const char *name, const char *value)
{
    add(ab, argv, name);
    add(ab, argv, value);
}

static bool read_back(struct tg_ab *ab, const char *path, struct tg_buf *to)
{
    struct tg_err ignored = TG_ERR_INIT;
    (void)ab;
    tg_buf_clear(to);
    return tg_file_exists(path) && tg_file_read(to, path, MAX_SAID, &ignored);
}

/* "5 6 1", then a suspect a line. */
static struct ask read_ask(struct tg_ab *ab, const char *path)
{
    struct ask k = { 0, 0, 0, "" };
    TG_BUF text = { 0 };
    int64_t *const to[] = { &k.first, &k.again, &k.suspects };
    tg_sv rest, line;
    if (!read_back(ab, path, &text))
        return k;
    (void)unlink(path);
    rest = tg_buf_sv(&text);
    line = tg_sv_cut(&rest, '\n');
    for (size_t i = 0; i < 3; i++)
        (void)tg_sv_i64(tg_sv_cut(&line, ' '), to[i]);
    TG_BUF names = { 0 };
    while (rest.n) {
        tg_buf_printf(&names, "%s%.*s", names.n ? ", " : "", TG_SV_ARG(tg_sv_cut(&rest, '\n')));
    }
    k.names = tg_arena_sv(ab->arena, tg_buf_sv(&names)).p;
    return k;
}

/*
 * check of the runs so far, by `more` options. What it prints is kept: only the last one counts. False: the command
 * changed what decides.
 */
static bool judge(struct tg_ab *ab, const struct tg_strs *more, struct judged *j,
                  struct tg_err *err)
{
    const char *said = tg_arena_printf(ab->arena, "%s/said", ab->tmp);
    struct tg_io io = *ab->io;
    struct tg_strs argv = { 0 };
    if (!tg_ab_unchanged(ab, err))
        return false;
    io.out = open(said, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (io.out < 0)
        return tg_err_set(err, TG_ERR_OUTPUT, TG_NOWHERE, "cannot write to '%s'", said);
    add(ab, &argv, "check");
    if (!tg_ab_has_ranks(ab)) /* the ranks say what is a run */
        add(ab, &argv, "--runs");
    add_option(ab, &argv, "--against", "baseline");
    add_option(ab, &argv, "--base-commit", ab->side[TG_AB_BASE].commit.sha);
    add_option(ab, &argv, "--color", ab->io->color ? "always" : "never");
    for (size_t i = 0; i < ab->o->check.n; i++)
        add(ab, &argv, ab->o->check.v[i]);
    for (size_t i = 0; more && i < more->n; i++)
        add(ab, &argv, more->v[i]);
    add_option(ab, &argv, "--baseline", ab->side[TG_AB_BASE].first);
    add(ab, &argv, ab->side[TG_AB_HEAD].first);
    tg_ab_progress(ab, "%d run%s per side: comparing", (int)ab->k, ab->k == 1 ? "" : "s");
    tg_ab_progress(ab, "%s", "");
    tg_err_init(err);
    j->code = tg_cmd_run(argv.v, argv.n, &io, err);
    (void)close(io.out);
    (void)read_back(ab, said, &j->said);
    ab->settings = tg_ab_settings(ab); /* reports may be in a folder that is watched */
    return true;
}

/* ---- the causes of a failure ---- */

static bool records_stacks(const char *folder)
{
    TG_ARENA *a = tg_arena_new();
    struct tg_strs in = tg_ab_list(a, folder);
    const struct tg_load_opts o = { .keep_python = true };
    for (size_t i = 0; i < in.n; i++) {
        struct tg_err ignored = TG_ERR_INIT;
        struct tg_source *s = tg_source_open(in.v[i], NULL, &ignored);
        struct tg_trace *t = s ? tg_trace_load(s, &o, NULL, &ignored) : NULL;
        bool has = false;
        for (size_t k = 0; t && k < t->n_spans && !has; k++)
            has = tg_span_kind(t, tg_span_at(t, k)) == TG_KIND_PYTHON;
        tg_trace_free(t);
        tg_source_close(s);
        if (has)
            return true;
    }
    return false;
}

/* One run a side with stacks. False: there are none, and it was said why; what was judged stays. */
static bool record_stacks(struct tg_ab *ab, struct tg_strs *more)
{
    static const char *const option[] = { "--cause-baseline", "--cause-traces" };
    ab->stacks = true;
    for (size_t s = 0; s < TG_AB_SIDES; s++) {
        struct tg_ab_side *side = &ab->side[s];
        struct tg_err err = TG_ERR_INIT;
        side->folder = tg_arena_printf(ab->arena, "%s/stacks-%s", ab->out, side->name);
        tg_file_make_dir(side->folder);
        if (!tg_ab_run_one(ab, s, 0, &err)) {
            tg_io_error(ab->io, &err);
            ab->code = 0;
            return false;
        }
        if (!records_stacks(side->folder)) {
            tg_ab_say(ab,
                      "no causes: with TRACE_STACKS=1 the command records no Python stacks in %s; "
                      "profile(..., with_stack=os.environ.get(\"TRACE_STACKS\") == \"1\") does",
                      side->folder);
            return false;
        }
        add_option(ab, more, option[s], side->folder);
    }
    return true;
}

/* ---- the end ---- */

/* The exit code of what was judged, printed, with the causes of a failure. */
static int finish(struct tg_ab *ab, struct judged *j, struct tg_strs *more, struct tg_err *err)
{
    if (j->code == 1 && ab->o->explain && !ab->o->bisect && record_stacks(ab, more) &&
        !judge(ab, more, j, err))
        return tg_err_exit_code(err->kind);
    if (!tg_file_put(ab->io->out, tg_buf_sv(&j->said)) && ab->o->bisect && j->code == 4) {
        tg_ab_say(ab, "undecided after %d runs a side", (int)ab->k);
        ab->code = TG_AB_SKIP;
        return TG_AB_SKIP;
    }
    return j->code;
}

/* --runs: one look; a bisection makes twice as many while they do not tell. */
static int one_look(struct tg_ab *ab, struct judged *j, struct tg_err *err)
{
    int64_t n = ab->o->runs,
            most = ab->o->max_runs == TG_OPT_UNSET ? MOST_ONE_LOOK : ab->o->max_runs;
    struct tg_strs more = { 0 };
    for (;;) {
        if (!tg_ab_runs_to(ab, n, err) || !judge(ab, NULL, j, err))
            return tg_err_exit_code(err->kind);
        if (!ab->o->bisect || j->code != 4 || n >= most)
            return finish(ab, j, &more, err);
        n = 2 * n < most ? 2 * n : most;
        tg_ab_say(ab, "undecided, going on to %d runs a side", (int)n);
    }
}

/* ---- stages ---- */

static int64_t pair_ms(const struct tg_ab *ab)
{
    return ab->n_made ? 2 * ab->made_ms / ab->n_made : 0;
}

/* The most runs per side, by `most` and by what the runs so far took of the budget. */
static int64_t affordable(const struct tg_ab *ab, int64_t most, int64_t until)
{
    int64_t pair = pair_ms(ab), left = until - tg_host_ms(), can = most;
    if (until)
        can = ab->k + (left > 0 ? left / (pair ? pair : 1) : 0);
    return can < most ? can : most;
}

static const char *counted(struct tg_ab *ab, int64_t n, const char *what)
{
    return tg_arena_printf(ab->arena, "%d %s%s", (int)n, what, n == 1 ? "" : "s");
}

static void say_stage(struct tg_ab *ab, int stage, const struct ask *k)
{
    int64_t all = k->first + k->again;
    tg_ab_say(ab, "stage %d: %d of %d runs a side so far, about %s to go%s%s%s%s", stage,
              (int)ab->k, (int)all, seconds(ab, (all - ab->k) * pair_ms(ab)),
              k->suspects ? "; suspects: " : "",
              k->suspects ? tg_arena_printf(ab->arena, "%d", (int)k->suspects) : "",
              k->names[0] ? ": " : "", k->names);
}

/* The runs that a stage asks for; the new ones go to folders of their own. */
static bool make_stage(struct tg_ab *ab, const struct ask *k, struct tg_err *err)
{
    if (!tg_ab_runs_to(ab, k->first, err))
        return false;
    if (!k->again)
        return true;
    for (size_t s = 0; s < TG_AB_SIDES; s++)
        ab->side[s].folder = ab->side[s].again;
    return tg_ab_runs_to(ab, k->first + k->again, err);
}

/*
 * After each stage check says how many runs per side it asks for; the plan, what is judged of which runs and when it is
 * final are decided there (check --ask).
 */
static int stages(struct tg_ab *ab, int64_t budget_ms, struct judged *j, struct tg_err *err)
{
    const char *file = tg_arena_printf(ab->arena, "%s/ask", ab->tmp);
    int64_t begin = tg_host_ms(), until = budget_ms ? begin + budget_ms : 0;
    int64_t most = ab->o->max_runs == TG_OPT_UNSET ? MOST_RUNS : ab->o->max_runs;
    struct ask k = { .first = 1, .names = "" };
    for (int stage = 1;; stage++) {
        struct tg_strs more = { 0 };
        int64_t can;
        if (!make_stage(ab, &k, err))
            return tg_err_exit_code(err->kind);
        can = affordable(ab, most, until);
        can = can > ab->k ? can : ab->k;
        add_option(ab, &more, "--ask", file);
        add_option(ab, &more, "--max-runs", tg_arena_printf(ab->arena, "%d", (int)can));
        if (ab->o->detect)
            add_option(ab, &more, "--detect", ab->o->detect);
        if (k.again) {
            add_option(ab, &more, "--again-baseline", ab->side[TG_AB_BASE].again);
            add_option(ab, &more, "--again-traces", ab->side[TG_AB_HEAD].again);
        }
        if (!judge(ab, &more, j, err))
            return tg_err_exit_code(err->kind);
        k = read_ask(ab, file);
        if (!k.first) {
            tg_ab_say(ab, "%s a side in %s, %s%s", counted(ab, ab->k, "run"),
                      counted(ab, stage, "stage"), seconds(ab, tg_host_ms() - begin),
                      can == most ? ""
                                  : tg_arena_printf(ab->arena, "; --budget %s has time for %d",
                                                    ab->o->budget, (int)can));
            return finish(ab, j, &more, err);
        }
        say_stage(ab, stage + 1, &k);
    }
}

/* ---- the command ---- */

static bool is_count(int64_t n)
{
    return n == TG_OPT_UNSET || (n >= 1 && n <= 999);
}

static bool read_budget(const char *text, int64_t *ms, struct tg_err *err)
{
    tg_sv rest = tg_sv_of(text ? text : "");
    size_t n = tg_sv_digits(rest, 0);
    int64_t number = 0;
    tg_sv unit;
    *ms = 0;
    if (!text)
        return true;
    unit = tg_sv_from(rest, n);
    rest.n = n;
    if (n < 7 && tg_sv_i64(rest, &number) && number > 0) {
        if (!unit.n || tg_sv_eq(unit, TG_SV("s")))
            *ms = number * 1000;
        else if (tg_sv_eq(unit, TG_SV("m")) || tg_sv_eq(unit, TG_SV("min")))
            *ms = number * 60000;
        else if (tg_sv_eq(unit, TG_SV("h")))
            *ms = number * 3600000;
    }
    if (*ms)
        return true;
    return tg_err_usage(err, "--budget '%s' is no time", "Give one like 90s, 5min, 1h.", text);
}

static bool check_options(const struct tg_ab_opts *o, const struct tg_strs *args,
                          int64_t *budget_ms, struct tg_err *err)
{
    if (!o->base || !args->n)
        return tg_err_usage(
            err, "ab needs %s",
            "For example: tracegate ab --base origin/main -- python3 bench.py {trace}",
            o->base ? "a command that makes a trace" : "--base REV");
    if (!is_count(o->runs) || !is_count(o->max_runs))
        return tg_err_usage(err, "--runs and --max-runs are numbers from 1 to 999, not %s",
                            "Without them there are up to 17 runs a side, in stages.",
                            is_count(o->runs) ? "this --max-runs" : "this --runs");
    if (o->runs != TG_OPT_UNSET && (o->detect || o->budget))
        return tg_err_usage(err, "--runs is one look%s",
                            "Leave --detect and --budget out, or --runs.", "");
    if (o->resume && !o->out)
        return tg_err_usage(err, "--resume needs the --out DIR of the runs before%s",
                            "Runs made without --out are not kept.", "");
    return read_budget(o->budget, budget_ms, err);
}

/* Both commits, and what is not committed. */
static bool find_commits(struct tg_ab *ab, struct tg_err *err)
{
    static const char *const status[] = { "status", "--porcelain", "--untracked-files=no", NULL };
    TG_BUF changed = { 0 };
    if (!tg_git_root(ab->git))
        return tg_err_usage(err, "this repository has no work tree%s", "Run it in a clone.", "");
    if (!tg_git_resolve(ab->git, ab->o->base, ab->arena, &ab->side[TG_AB_BASE].commit, err) ||
        !tg_git_resolve(ab->git, "HEAD", ab->arena, &ab->side[TG_AB_HEAD].commit, err))
        return false;
    if (tg_ab_git(ab, status, &changed) && changed.n)
        tg_ab_say(ab, "uncommitted changes take no part: HEAD is measured");
    return true;
}

/* The commits are in the names, so that they stand in the reports. */
static bool name_folders(struct tg_ab *ab, struct tg_err *err)
{
    const char *out = ab->o->out ? ab->o->out : tg_arena_printf(ab->arena, "%s/traces", ab->tmp);
    TG_FREE char *whole = NULL;
    tg_file_make_dir(out);
    whole = realpath(out, NULL);
    if (!whole || access(whole, W_OK) != 0)
        return tg_err_say(err, TG_ERR_OUTPUT, TG_AT_FILE(out),
                          "the folder of --out cannot be made%s",
                          "Give one that can be written to.", "");
    ab->out = tg_arena_sv(ab->arena, tg_sv_of(whole)).p;
    for (size_t s = 0; s < TG_AB_SIDES; s++) {
        struct tg_ab_side *side = &ab->side[s];
        side->first =
            tg_arena_printf(ab->arena, "%s/%s-%.12s", ab->out, side->name, side->commit.sha);
        side->again =
            tg_arena_printf(ab->arena, "%s/again-%s-%.12s", ab->out, side->name, side->commit.sha);
        side->folder = side->first;
    }
    return true;
}

static int compare(struct tg_ab *ab, int64_t budget_ms, struct tg_err *err)
{
    struct judged j = { 0 };
    int code;
    if (!find_commits(ab, err) || !tg_ab_sides_begin(ab, err) || !name_folders(ab, err) ||
        !tg_ab_runs_begin(ab, err))
        return tg_err_exit_code(err->kind);
    code = ab->o->runs == TG_OPT_UNSET ? stages(ab, budget_ms, &j, err) : one_look(ab, &j, err);
    tg_buf_release(&j.said);
    return code;
}

static int ab_run(const struct tg_cmd_call *c, struct tg_err *err)
{
    const struct tg_ab_opts *o = c->opts;
    struct tg_ab ab = {
        .o = o, .command = c->args, .io = c->io, .arena = c->arena, .repo = c->repo
    };
    int64_t budget_ms;
    int code = 2;
    ab.side[TG_AB_BASE].name = "base";
    ab.side[TG_AB_HEAD].name = "head";
    if (check_options(o, c->args, &budget_ms, err)) {
        ab.git = tg_repo_get(c->repo, err);
        code = ab.git ? compare(&ab, budget_ms, err) : tg_err_exit_code(err->kind);
    }
    tg_ab_progress(&ab, "%s", "");
    tg_ab_sides_end(&ab);
    if (ab.code && !(o->bisect && ab.code == TG_AB_CHANGED))
        return ab.code;
    if (ab.code)
        code = ab.code;
    /* `git bisect run` takes 1 to 127 for an answer about the commit. */
    return o->bisect && code > 1 ? BISECT_STOPS + code : code;
}

const struct tg_cmd tg_cmd_ab = {
    .name = "ab",
    .summary = "run a commit and its base in turn on this machine, and compare them",
    .synopsis = "--base REV [options] [options of check] -- COMMAND [ARG…]",
    .about =
        "The honest way to judge durations on hosted runners, whose processor differs from run to "
        "run. "
        "The base and HEAD are checked out into folders of their own; COMMAND runs in both in "
        "turn, "
        "in the folder that this is called from, and writes one trace to \"$TRACE\", a path that "
        "ends "
        "in .json.gz (also given as {trace} in an argument); of several ranks one each, with the "
        "rank "
        "in the name: run00-rank3.json.gz beside run00.json.gz; results of its benchmark as "
        "run00.numbers or run00.jsonl. A file that COMMAND names and only HEAD has is copied to "
        "the "
        "base. A run that fails is tried once more.\n"
        "\n"
        "It goes in stages: one run a side, for what the program does; five, for what looks "
        "slower; "
        "only if something does, 6 and 12 new ones, in which nothing else is judged. Options that "
        "are "
        "not listed here are those of check. The exit code is that of check; 3 when a side does "
        "not "
        "run; 6 when COMMAND changed what decides about it.\n"
        "\n"
        "COMMAND is the change's code: it gets no tokens, what it leaves running is ended, and "
        "nothing "
        "is judged if it changed earlier traces, the other side, the program and the tools, this "
        "repository's settings, hooks, notes, stored runs and policy, or what --watch names.\n"
        "\n"
        "With --bisect, and with a copy of bench.py that no commit changes: git bisect start BAD "
        "GOOD && "
        "git bisect run tracegate ab --bisect --base GOOD -- python3 bench.py {trace}",
    .options = ab_options,
    .opts_size = sizeof(struct tg_ab_opts),
    .answers_bisect = "bisect",
    .others = &tg_cmd_check,
    .others_offset = offsetof(struct tg_ab_opts, check),
    .run = ab_run,
};
