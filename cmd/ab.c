/* tracegate ab: its command line, the two commits, how many runs each side makes and what check
 * says of them (docs/stages.md). */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd/ab.h"
#include "cmd/gate/check.h"
#include "cmd/options.h"
#include "core/base/host.h"
#include "core/diff/numbers.h"
#include "core/trace/trace.h"
#include "policy/language/value.h"

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

enum { MOST_ONE_LOOK = 20 };

/* ---- judging ---- */

static const char *seconds(struct tg_ab *ab, int64_t ms)
{
    return tg_arena_printf(ab->arena, "%lld.%lld s", (long long)(ms / 1000),
                           (long long)(ms % 1000 / 100));
}

/* What a stage asks for: docs/stages.md. */
struct ask {
    int64_t first, again, suspects; /* runs per side, of which `again` are new ones; names */
    const char *names;              /* of the suspects */
};

struct judged {
    int code;
    tg_sv said; /* on standard output */
};

/* "5 6 1", and the suspects with their intervals in the next line. */
static struct ask read_ask(struct tg_ab *ab, const char *path)
{
    struct ask k = { 0, 0, 0, "" };
    int64_t *const to[] = { &k.first, &k.again, &k.suspects };
    tg_sv rest = tg_ab_read(ab, path), line = tg_sv_cut(&rest, '\n');
    (void)unlink(path);
    for (size_t i = 0; i < 3; i++)
        (void)tg_sv_i64(tg_sv_cut(&line, ' '), to[i]);
    k.names = tg_arena_sv(ab->arena, tg_sv_cut(&rest, '\n')).p;
    return k;
}

/* check of the runs so far, by `more` options. What it prints is kept: only the last one counts.
 * False: the command changed what decides. */
static bool judge(struct tg_ab *ab, const struct tg_strs *more, struct judged *j,
                  struct tg_err *err)
{
    const char *said = tg_arena_printf(ab->arena, "%s/said", ab->tmp);
    struct tg_io io = *ab->io;
    struct tg_strs argv = { 0 };
    io.in_turn = true;
    if (!tg_ab_unchanged(ab, err))
        return false;
    io.out = open(said, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (io.out < 0)
        return tg_err_set(err, TG_ERR_OUTPUT, TG_NOWHERE, "cannot write to '%s'", said);
    tg_strs_add(&argv, "check", ab->arena);
    /* Files of ranks: their names say what is a run. */
    const struct tg_strs in = tg_ab_list(ab->arena, ab->side[TG_AB_HEAD].first);
    bool has_ranks = false;
    for (size_t i = 0; i < in.n; i++)
        has_ranks |= tg_sv_has(tg_file_name(tg_sv_of(in.v[i])), TG_SV("-rank"));
    if (!has_ranks)
        tg_strs_add(&argv, "--runs", ab->arena);
    tg_ab_add_option(ab, &argv, "--against", "baseline");
    tg_ab_add_option(ab, &argv, "--base-commit", ab->side[TG_AB_BASE].commit.sha);
    tg_ab_add_option(ab, &argv, "--color", ab->io->color ? "always" : "never");
    for (size_t i = 0; i < ab->o->check.n; i++)
        tg_strs_add(&argv, ab->o->check.v[i], ab->arena);
    for (size_t i = 0; more && i < more->n; i++)
        tg_strs_add(&argv, more->v[i], ab->arena);
    tg_ab_add_option(ab, &argv, "--baseline", ab->side[TG_AB_BASE].first);
    tg_strs_add(&argv, ab->side[TG_AB_HEAD].first, ab->arena);
    tg_ab_progress(ab, "%s", "");
    tg_err_init(err);
    j->code = ab->call->run(argv.v, argv.n, &io, err);
    (void)close(io.out);
    j->said = tg_ab_read(ab, said);
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
        tg_ab_add_option(
            ab, more, "--cause-trace",
            tg_arena_printf(ab->arena, "%s=%s", s ? "fresh" : "baseline", side->folder));
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
    if (!tg_file_put(ab->io->out, j->said) && ab->o->bisect && j->code == 4) {
        tg_ab_say(ab, "undecided after %d runs a side", (int)ab->k);
        ab->code = TG_AB_SKIP;
        return TG_AB_SKIP;
    }
    return j->code;
}

/* ---- stages ---- */

/* The most runs per side, by `most` and by what the runs so far took of the budget. */
static int64_t affordable(const struct tg_ab *ab, int64_t most)
{
    int64_t pair = tg_ab_pair_ms(ab), left = ab->until - tg_host_ms(), can = most;
    if (ab->spent)
        return ab->k;
    if (ab->until)
        can = ab->k + (left > 0 ? left / (pair ? pair : 1) : 0);
    return can < most ? can : most;
}

/* As check will read them. */
static bool read_options(struct tg_ab *ab, struct tg_check_opts *to, struct tg_err *err)
{
    struct tg_strs argv = { 0 }, none = { 0 };
    struct tg_global_opts common = { 0 };
    tg_ab_add_option(ab, &argv, "--against", "baseline");
    for (size_t i = 0; i < ab->o->check.n; i++)
        tg_strs_add(&argv, ab->o->check.v[i], ab->arena);
    tg_ab_add_option(ab, &argv, "--ask", ab->o->runs == TG_OPT_UNSET ? "-" : NULL);
    tg_ab_add_option(ab, &argv, "--detect", ab->o->detect);
    *to = (struct tg_check_opts){ 0 };
    return tg_options_parse(&tg_cmd_check, argv.v, argv.n, to, &common, &none, ab->arena, err);
}

/* The reports of a side that does not run, for the reason in err. The exit code. */
static int report_failure(struct tg_ab *ab, struct tg_err *err)
{
    const struct tg_err why = *err;
    const char *word[] = { "the traces" };
    const struct tg_strs traces = { word, 1, 1 };
    struct tg_check_opts o;
    if (!read_options(ab, &o, err))
        return tg_err_exit_code(err->kind);
    o.ask = NULL;
    o.failed = &why;
    tg_err_init(err);
    return tg_check_run(&o, &traces, ab->io, err);
}

bool tg_ab_plan(struct tg_ab *ab, struct tg_ab_opts *o, struct tg_err *err)
{
    struct tg_check_opts check;
    struct tg_policy *p;
    if (!read_options(ab, &check, err) ||
        !(p = tg_check_ready(&check, ab->io, ab->call->repo, ab->arena, err)))
        return false;
    bool in_stages = o->runs == TG_OPT_UNSET;
    if (in_stages && !o->budget && p->ab.budget.n)
        o->budget = tg_arena_sv(ab->arena, p->ab.budget).p;
    if (in_stages && o->max_runs == TG_OPT_UNSET && p->ab.max_runs)
        o->max_runs = p->ab.max_runs;
    tg_policy_free(p);
    if (!in_stages || !o->budget || tg_value_time(tg_sv_of(o->budget), &ab->budget_ms))
        return true;
    return tg_err_usage(err, "--budget '%s' is not a time", "Give one like 90s, 5min, 1h.",
                        o->budget);
}

/* After each stage check says how many runs per side it asks for; the plan, what is judged of which
 * runs and when it is final are decided there (check --ask). */
static int stages(struct tg_ab *ab, struct judged *j, struct tg_err *err)
{
    const char *file = tg_arena_printf(ab->arena, "%s/ask", ab->tmp);
    int64_t begin = tg_host_ms(), judging = 0;
    int64_t most = ab->o->max_runs == TG_OPT_UNSET ? TG_ASK_FIRST + TG_ASK_LOOKS * TG_ASK_NEW
                                                   : ab->o->max_runs;
    struct ask k = { .first = 1, .names = "" };
    for (int stage = 1;; stage++) {
        struct tg_strs more = { 0 };
        ab->stage = stage;
        ab->until = ab->budget_ms ? begin + ab->budget_ms - judging : 0;
        ab->suspects = k.names[0] ? k.names : NULL;
        /* The runs that the stage asks for; the new ones go to folders of their own. */
        bool made = tg_ab_runs_to(ab, k.first, err);
        if (made && k.again && !ab->spent) {
            for (size_t s = 0; s < TG_AB_SIDES; s++)
                ab->side[s].folder = ab->side[s].again;
            made = tg_ab_runs_to(ab, k.first + k.again, err);
        }
        if (!made)
            return tg_err_exit_code(err->kind);
        int64_t can = affordable(ab, most);
        can = can > ab->k ? can : ab->k;
        tg_ab_add_option(ab, &more, "--ask", file);
        tg_ab_add_option(ab, &more, "--max-runs", tg_arena_printf(ab->arena, "%d", (int)can));
        tg_ab_add_option(ab, &more, "--detect", ab->o->detect);
        for (size_t s = 0; ab->k > k.first && s < TG_AB_SIDES; s++)
            tg_ab_add_option(
                ab, &more, "--again",
                tg_arena_printf(ab->arena, "%s=%s", s ? "fresh" : "baseline", ab->side[s].again));
        judging = tg_host_ms();
        if (!judge(ab, &more, j, err))
            return tg_err_exit_code(err->kind);
        judging = tg_host_ms() - judging;
        k = read_ask(ab, file);
        if (k.first && ab->o->calls) {
            j->code = 0;
            k.first = 0;
        }
        if (!k.first) {
            tg_ab_say(ab, "%d run%s a side in %d stage%s, %s%s", (int)ab->k, ab->k == 1 ? "" : "s",
                      stage, stage == 1 ? "" : "s", seconds(ab, tg_host_ms() - begin),
                      can == most ? ""
                                  : tg_arena_printf(ab->arena, "; --budget %s has time for %d",
                                                    ab->o->budget, (int)can));
            return finish(ab, j, &more, err);
        }
        int64_t all = k.first + k.again;
        tg_ab_say(ab, "stage %d: %d of %d runs a side so far, about %s to go%s%s%s%s", stage + 1,
                  (int)ab->k, (int)all, seconds(ab, (all - ab->k) * tg_ab_pair_ms(ab)),
                  k.suspects ? "; suspects: " : "",
                  k.suspects ? tg_arena_printf(ab->arena, "%d", (int)k.suspects) : "",
                  k.names[0] ? ": " : "", k.names);
    }
}

int tg_ab_compare(struct tg_ab *ab, struct tg_err *err)
{
    struct judged j = { 0 };
    ab->k = ab->n_made = ab->made_ms = 0;
    ab->taken.n = 0;
    ab->pair_ms = 0;
    ab->stacks = ab->spent = false;
    ab->stage = 0;
    ab->suspects = NULL;
    if (!tg_ab_runs_begin(ab, err))
        return tg_err_exit_code(err->kind);
    if (ab->o->runs == TG_OPT_UNSET)
        return stages(ab, &j, err);
    /* --once: one look; a bisection makes twice as many while they do not tell. */
    int64_t n = ab->o->runs,
            most = ab->o->max_runs == TG_OPT_UNSET ? MOST_ONE_LOOK : ab->o->max_runs;
    struct tg_strs more = { 0 };
    for (;;) {
        if (!tg_ab_runs_to(ab, n, err) || !judge(ab, NULL, &j, err))
            return tg_err_exit_code(err->kind);
        if (!ab->o->bisect || j.code != 4 || n >= most)
            return finish(ab, &j, &more, err);
        n = 2 * n < most ? 2 * n : most;
        tg_ab_say(ab, "undecided, going on to %d runs a side", (int)n);
    }
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
    return ab.failed && code == 3 ? report_failure(&ab, err) : code;
}

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
    .was = (const struct tg_opt_was[]){ { "runs", "once" }, { 0 } },
    /* What `check` would refuse after the last run. Its --out is another one. */
    .needs = (const struct tg_opt_needs[]){ { "resume", "out" },
                                            { "junit-strict", "junit" },
                                            { "svg-style", "svg-counts svg-durations" },
                                            { "trace-url", "html" },
                                            { 0 } },
    .opts_size = sizeof(struct tg_ab_opts),
    .others = &tg_cmd_check,
    .others_offset = offsetof(struct tg_ab_opts, check),
    .run = ab_run,
};
