/* tracegate ab: its command line, the two commits, and what its files share: what is said on the
 * terminal, git, and what a folder has. */
#include <stdarg.h>
#include <stdio.h>

#include "cmd/ab.h"
#include "core/base/look.h"
#include "core/base/utf8.h"
#define AT(kind, member) TG_OPT_##kind, offsetof(struct tg_ab_opts, member)
static const struct tg_opt ab_options[] = {
    { "base", AT(STR, base), "REV", "the commit that HEAD is compared with; needed" },
    { "detect", AT(STR, detect), "PCT",
      "the slowdown that matters: of what looks slower it is found or excluded, or the verdict is "
      "inconclusive; default: 20%" },
    { "budget", AT(STR, budget), "TIME",
      "no run begins that would end later than that: 90s, 5min, 1h" },
    { "max-runs", AT(INT, max_runs), "N", "the most runs a side; default: 17" },
    { "once", AT(INT, runs), "N", "one look at N runs a side, instead of stages" },
    { "setup", AT(STR, setup), "CMD",
      "bash, once in each worktree before its runs (build the extension, link the data)" },
    { "explain", AT(FLAG, explain), NULL,
      "if the check fails, one more run a side with TRACE_STACKS=1 in its environment, for the "
      "causes alone; what was judged stays" },
    { "out", AT(STR, out), "DIR", "keep the traces of both sides there" },
    { "resume", AT(FLAG, resume), NULL,
      "go on after a kill with the runs in --out DIR, for the same command and commits" },
    { "watch", AT(LIST, watch), "PATH",
      "a file, or the files of a folder, that the command must not change; may be repeated" },
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

/* ---- git and folders ---- */

void tg_ab_add_option(struct tg_ab *ab, struct tg_strs *argv, const char *name, const char *value)
{
    if (!value)
        return;
    tg_strs_add(argv, name, ab->arena);
    tg_strs_add(argv, value, ab->arena);
}

bool tg_ab_git(struct tg_ab *ab, const char *const *args, struct tg_buf *out,
               struct tg_spawned *how)
{
    static const char *const drop[] = { "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX",
                                        NULL };
    static const char *const set[] = { "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", NULL };
    struct tg_strs argv = { 0 };
    tg_strs_add(&argv, "git", ab->arena);
    tg_ab_add_option(ab, &argv, "-C", tg_git_root(ab->git));
    for (; *args; args++)
        tg_strs_add(&argv, *args, ab->arena);
    tg_strs_add(&argv, NULL, ab->arena);
    const struct tg_spawn s = {
        .argv = argv.v, .set = set, .drop = drop, .max_out = out ? (size_t)64 << 20 : 0
    };
    tg_spawn_run(&s, out, how);
    return how->end == TG_SPAWN_EXIT && how->code == 0;
}

tg_sv tg_ab_read(struct tg_ab *ab, const char *path)
{
    TG_BUF text = { 0 };
    struct tg_err ignored = TG_ERR_INIT;
    bool ok = tg_file_exists(path) && tg_file_read(&text, path, (size_t)64 << 20, &ignored);
    return tg_arena_sv(ab->arena, ok ? tg_buf_sv(&text) : TG_SV(""));
}

struct tg_strs tg_ab_list(struct tg_arena *a, const char *dir)
{
    struct tg_err ignored = TG_ERR_INIT;
    struct tg_strs all = { 0 };
    if (tg_look_in(dir, a, &all.v, &all.n, &ignored) != TG_SEEN)
        return (struct tg_strs){ 0 };
    for (size_t i = 0; i < all.n; i++)
        all.v[i] = tg_arena_printf(a, "%s/%s", dir, all.v[i]);
    return all;
}

/* ---- the command ---- */

bool tg_ab_is_count(int64_t n)
{
    return n == TG_OPT_UNSET || (n >= 1 && n <= 999);
}

static bool check_options(const struct tg_ab_opts *o, const struct tg_strs *args,
                          struct tg_err *err)
{
    if (!o->base || !args->n)
        return tg_err_usage(
            err, "ab needs %s",
            "For example: tracegate ab --base origin/main -- python3 bench.py {trace}",
            o->base ? "a command that makes a trace" : "--base REV");
    if (!tg_ab_is_count(o->runs) || !tg_ab_is_count(o->max_runs))
        return tg_err_usage(err, "--once and --max-runs are numbers from 1 to 999, not %s",
                            "Without them there are up to 17 runs a side, in stages.",
                            tg_ab_is_count(o->runs) ? "this --max-runs" : "this --once");
    if (o->runs != TG_OPT_UNSET && (o->detect || o->budget))
        return tg_err_usage(err, "--once is one look",
                            "Leave --detect and --budget out, or --once.");
    return true;
}

/* Both commits, and what is not committed. */
static bool find_commits(struct tg_ab *ab, struct tg_err *err)
{
    static const char *const status[] = { "status", "--porcelain", "--untracked-files=no", NULL };
    struct tg_spawned how;
    TG_BUF changed = { 0 };
    if (!tg_git_resolve(ab->git, ab->o->base, ab->arena, &ab->side[TG_AB_BASE].commit, err) ||
        !tg_git_resolve(ab->git, "HEAD", ab->arena, &ab->side[TG_AB_HEAD].commit, err))
        return false;
    if (tg_ab_git(ab, status, &changed, &how) && changed.n)
        tg_ab_say(ab, "uncommitted changes take no part: HEAD is measured");
    return true;
}

static int ab_run(const struct tg_cmd_call *c, struct tg_err *err)
{
    struct tg_ab_opts o = *(const struct tg_ab_opts *)c->opts;
    struct tg_ab ab = { .o = &o, .command = c->args, .io = c->io, .arena = c->arena, .call = c };
    int code = 2;
    if (check_options(&o, c->args, err)) {
        ab.git = tg_repo_get(c->repo, err);
        code = ab.git && tg_ab_plan(&ab, &o, err) && tg_ab_begin(&ab, err) &&
                       find_commits(&ab, err) && tg_ab_prepare(&ab, err)
                   ? tg_ab_compare(&ab, err)
                   : tg_err_exit_code(err->kind);
    }
    tg_ab_progress(&ab, "%s", "");
    tg_ab_end(&ab);
    if (ab.code)
        code = ab.code;
    return ab.failed && code == 3 ? tg_ab_report_failure(&ab, err) : code;
}

static const struct tg_opt_was ab_was[] = { { "runs", "once" }, { 0 } };

/* What `check` would refuse after the last run. Its --out is another one. */
static const struct tg_opt_needs ab_needs[] = { { "resume", "out" },
                                                { "junit-strict", "junit" },
                                                { "svg-style", "svg-counts svg-durations" },
                                                { "trace-url", "html" },
                                                { 0 } };

const struct tg_cmd tg_cmd_ab = {
    .name = "ab",
    .summary = "run a commit and its base in turn on this machine, and compare them",
    .synopsis = "--base REV [options] [options of check] -- COMMAND [ARG…]",
    .about =
        "The honest way to judge durations on hosted runners, whose processor differs from run to "
        "run. The base and HEAD are checked out into folders of their own; COMMAND runs in both in "
        "turn, in the folder that this is called from, and writes one trace to \"$TRACE\", a path "
        "that ends in .json.gz (also given as {trace} in an argument); of several ranks one each, "
        "with the rank in the name: run00-rank3.json.gz beside run00.json.gz; results of its "
        "benchmark as run00.numbers or run00.jsonl. A file that COMMAND names and only HEAD has is "
        "copied to the base. A run that fails is tried once more.\n\n"
        "It goes in stages: one run a side, for what the program does; five, for what looks "
        "slower; only if something does, 4, 8 and 12 new ones, in which nothing else is judged. "
        "Options that are not listed here are those of check. The exit code is that of check; 3 "
        "when a side does not run, which the reports say; 6 when COMMAND changed what decides "
        "about it.\n\n"
        "COMMAND is the change's code: it gets no tokens, what it leaves running is ended, and "
        "nothing is judged if it changed earlier traces, the other side, the program and the "
        "tools, this repository's settings, hooks, notes, stored runs and policy, or what --watch "
        "names.",
    .options = ab_options,
    .was = ab_was,
    .needs = ab_needs,
    .opts_size = sizeof(struct tg_ab_opts),
    .others = &tg_cmd_check,
    .others_offset = offsetof(struct tg_ab_opts, check),
    .run = ab_run,
};
