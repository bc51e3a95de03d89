/* How many runs each side makes, and what check says of them: docs/stages.md. */
#include <fcntl.h>
#include <unistd.h>

#include "cmd/ab.h"
#include "cmd/gate/check.h"
#include "cmd/options.h"
#include "core/base/host.h"
#include "core/diff/numbers.h"
#include "core/trace/trace.h"
#include "policy/language/value.h"

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
    struct ask ask;
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
    if (!tg_ab_has_ranks(ab)) /* the ranks say what is a run */
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
    tg_ab_progress(ab, "%d run%s per side: comparing", (int)ab->k, ab->k == 1 ? "" : "s");
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

static const char *counted(struct tg_ab *ab, int64_t n, const char *what)
{
    return tg_arena_printf(ab->arena, "%d %s%s", (int)n, what, n == 1 ? "" : "s");
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

int tg_ab_report_failure(struct tg_ab *ab, struct tg_err *err)
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
            tg_ab_say(ab, "%s a side in %s, %s%s", counted(ab, ab->k, "run"),
                      counted(ab, stage, "stage"), seconds(ab, tg_host_ms() - begin),
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
