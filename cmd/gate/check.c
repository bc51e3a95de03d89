#include "cmd/gate/cause.h"
#include "cmd/gate/internal.h"
#include "cmd/gate/picture.h"
#include "policy/language/limit.h"

/* Of this many ranks, by number, names are loaded where no rule is about names. A verdict that is
 * not a plain pass is made again with those of all ranks. */
#define NAMED_RANKS 64
/* Calls in steps from which on a side gives up its memory for the other: 8 MB and more. */
#define LARGE ((size_t)1 << 20)

/* What comes through a pipe cannot be read again. */
static bool is_piped(const struct tg_input_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->v[i].label, "-") == 0)
            return true;
    return false;
}

/* Where the first trace of a side is kept for causes and the page. A check that passes pays nothing
 * for causes: one that fails reads the first traces again, where that is possible. */
static struct tg_kept_trace *keeper(const struct tg_check *c, const struct tg_input_list *files,
                                    struct tg_kept_trace *k)
{
    return c->wants_picture || !tg_inputs_lasts(files, 0) ? k : NULL;
}

static bool load_side(struct tg_check *c, struct tg_check_job *j, int side, struct tg_err *err)
{
    bool all = c->whole || !tg_policy_asks_metrics_alone(c->suites.policy);
    /* Is there a report that lists names whatever the verdict? */
    for (enum tg_report r = 0; r < TG_REPORTS; r++)
        all |= c->o->report[r] && r != TG_REPORT_junit && r != TG_REPORT_markdown &&
               r != TG_REPORT_annotations && r != TG_REPORT_code_quality;
    int64_t named = all ? 0 : NAMED_RANKS;
    struct tg_progress_line progress;
    const struct tg_check_reading of[] = {
        [TG_BASE] = { &j->base_summary, &j->base, &j->gate.damage[TG_BASE],
                      keeper(c, &j->base, &j->base_kept), &progress.line, named },
        [TG_TEST] = { &c->fresh, &j->fresh, &c->fresh_damage, keeper(c, &j->fresh, &c->fresh_kept),
                      &progress.line, named },
    };
    for (size_t i = 0; side == TG_TEST && i < c->o->damaged.n; i++)
        tg_damage_say(of[side].damage, tg_sv_of(c->o->damaged.v[i]));
    tg_progress_start(&progress, c->io);
    bool ok = tg_check_read(c, j, side, &of[side], err);
    tg_progress_end(&progress);
    return ok;
}

static void forget_fresh(struct tg_check *c)
{
    tg_summary_release(&c->fresh);
    tg_summary_init(&c->fresh);
    tg_damage_release(&c->fresh_damage);
    tg_kept_release(&c->fresh_kept);
    c->fresh_kept = (struct tg_kept_trace){ .any = c->wants_picture };
    c->has_fresh = false;
}

/* Read once for all baselines of the suite. */
static bool load_fresh(struct tg_check *c, struct tg_check_job *j, struct tg_err *err)
{
    if (!c->has_fresh) {
        forget_fresh(c);
        if (!load_side(c, j, TG_TEST, err))
            return false;
        c->fresh_side = j->gate.side[TG_TEST];
        c->has_fresh = true;
    }
    j->gate.side[TG_TEST] = c->fresh_side;
    j->gate.damage[TG_TEST] = c->fresh_damage;
    return true;
}

/* Without a baseline: the fresh side against itself; only rules about the fresh side report. */
static bool judge_alone(struct tg_check *c, struct tg_check_job *j, struct tg_err *err)
{
    struct tg_verdict self = { 0 };
    tg_check_begin(c, j);
    j->gate.more_suites = true;
    j->gate.alone = true;
    c->whole = true;
    bool ok = load_fresh(c, j, err);
    j->gate.side[TG_BASE] = j->gate.side[TG_TEST];
    ok = ok && tg_gate_judge(&self, &j->gate, err);
    if (ok)
        tg_verdict_add_alone(&j->verdict, &self, c->arena);
    return ok;
}

/* The fresh side first: traces take more memory than the summaries that a baseline mostly is. If it
 * is large, it makes room for the baseline's traces. */
static bool judge_once(struct tg_check *c, struct tg_check_job *j, struct tg_err *err)
{
    struct tg_aside aside;
    if (!load_fresh(c, j, err))
        return false;
    tg_summary_set_aside(&c->fresh, LARGE, &aside);
    bool moved = aside.a != NULL, ok = load_side(c, j, TG_BASE, err);
    if (moved && !(tg_summary_bring_back(&c->fresh, &aside, err) &&
                   tg_check_arrange(c, j, &c->fresh, &c->fresh_side, err)))
        return false;
    j->gate.side[TG_TEST] = c->fresh_side;
    if (!ok || !tg_check_ask_load(c, j, err) || !tg_gate_judge(&j->verdict, &j->gate, err))
        return false;
    tg_check_note_copies(c, j);
    return true;
}

static tg_sv folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return (tg_sv){ path, slash ? (size_t)(slash - path) : 0 };
}

/*
 * `check out/x* --baseline perf/x*`: the shell gives --baseline the first file, and the others
 * would be fresh traces. Told by a folder that both sides share while other fresh traces come from
 * elsewhere.
 */
static bool refuse_spread(const struct tg_check *c, struct tg_err *err)
{
    const struct tg_strs *fresh = c->args;
    const char *base = c->o->baseline.n == 1 ? c->o->baseline.v[0] : NULL;
    size_t beside = 0;
    if (!base || !tg_file_exists(base) || tg_file_is_dir(base))
        return true;
    for (size_t i = 0; i < fresh->n; i++)
        beside += tg_sv_eq(folder_of(fresh->v[i]), folder_of(base));
    if (!beside || beside == fresh->n)
        return true;
    tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE,
               "%zu of %zu fresh traces are in the folder of the baseline '%s'", beside, fresh->n,
               base);
    return tg_err_hint(err,
                       "Did the shell expand a glob? --baseline takes one word: name the folder, "
                       "or quote the glob: --baseline '%.*s/*.json.gz'.",
                       TG_SV_ARG(folder_of(base)));
}

/* In the first traces, or in those that are given for it. */
static void find_causes(struct tg_check *c, struct tg_check_job *j, struct tg_first_traces from)
{
    const struct tg_summary *fresh = &c->fresh;
    bool apart = c->cause[TG_TEST].n > 0;
    bool stacks =
        apart || (fresh->n && tg_sv_eq(tg_shard_env(fresh->shards[0], "with_stack"), TG_SV("1")));
    for (int side = 0; apart && side < 2; side++) {
        from.side[side] = &c->cause[side];
        from.kept[side] = NULL;
    }
    tg_cause_find(&j->verdict,
                  &(struct tg_cause_ask){ .from = from,
                                          .base_commit = tg_check_base_commit(c, j),
                                          .workspace = tg_io_env(c->io, "GITHUB_WORKSPACE"),
                                          .stacks = stacks,
                                          .arena = c->arena });
    tg_verdict_join_causes(&j->verdict, c->arena);
}

static enum tg_outcome outcome_of(enum tg_on_missing m)
{
    return m == TG_ON_MISSING_PASS   ? TG_OUTCOME_PASS
           : m == TG_ON_MISSING_FAIL ? TG_OUTCOME_FAIL
                                     : TG_OUTCOME_INCONCLUSIVE;
}

/* With a baseline; without one, if that is why; false: the error. */
static bool judge_job(struct tg_check *c, struct tg_check_job *j, bool found, struct tg_err *why)
{
    if (found && j->what == JOB_FIRST_RUN) {
        tg_verdict_first_run(&j->verdict, outcome_of(j->policy->baseline.on_first_run), c->arena);
        return judge_alone(c, j, why);
    }
    if (found) {
        tg_check_begin(c, j);
        tg_check_ask_nights(c, j);
        c->whole |= is_piped(&j->fresh) || is_piped(&j->base);
        bool ok = judge_once(c, j, why), unnamed = false;
        /* Names may say more of what is not in order, or of the ranks that the others wait for. */
        bool asks = !ok || j->verdict.outcome != TG_OUTCOME_PASS || j->gate.comparison.straggler;
        for (size_t i = 0; i < j->verdict.n_notes; i++)
            asks |= j->verdict.notes[i].reason != TG_REASON_NONE;
        /* They are left out by the number of a rank: what is compared lacks them on both sides or
         * on none. */
        for (size_t i = 0; i < c->fresh.n; i++)
            unnamed |= c->fresh.shards[i]->unnamed;
        if (unnamed && asks) {
            tg_err_init(why);
            tg_summary_release(&j->base_summary);
            tg_summary_init(&j->base_summary);
            tg_damage_release(&j->gate.damage[TG_BASE]);
            tg_kept_release(&j->base_kept);
            forget_fresh(c);
            c->whole = true;
            ok = judge_once(c, j, why);
        }
        c->n_judged += ok;
        return ok;
    }
    /* Fresh traces, and no baseline was named: no repository, or not enough, to find one in. */
    if (j->fresh.n && why->kind == TG_ERR_GIT && !j->named) {
        /* Budgets are judged all the same. What needs a baseline keeps its error. */
        struct tg_err second = TG_ERR_INIT;
        bool has_budget = false;
        if (tg_policy_asks_fresh_alone(j->policy)) {
            tg_err_init(why);
            tg_verdict_alone(&j->verdict, c->arena);
            return judge_alone(c, j, why);
        }
        tg_io_error(c->io, why);
        tg_verdict_of_error(&j->verdict, why, c->arena);
        for (size_t i = 0; i < j->policy->n_rules; i++)
            has_budget |= tg_rule_has_budget(&j->policy->rules[i]);
        if (has_budget)
            (void)judge_alone(c, j, &second); /* the first error is reported */
        return true;
    }
    if (why->kind != TG_ERR_LOST)
        return false;
    if (j->policy->baseline.on_lost == TG_ON_MISSING_PASS)
        tg_io_note(c->io, "%s, which the policy lets pass (on_lost)", why->message);
    else
        tg_check_tell(c, why);
    tg_verdict_lost(&j->verdict, why, outcome_of(j->policy->baseline.on_lost), c->arena);
    j->info.situation = TG_SITUATION_LOST;
    tg_err_init(why);
    return judge_alone(c, j, why);
}

/* One suite against one baseline: from its traces to its reports. The exit code; -1: an error that
 * stops everything is in `err`. */
static int run_job(struct tg_check *c, struct tg_check_job *j, struct tg_err *err)
{
    struct tg_err why = TG_ERR_INIT, unwritable = TG_ERR_INIT;
    if (!tg_check_open_reports(c, j, &unwritable) &&
        (c->o->quiet || c->o->dry_run || unwritable.kind == TG_ERR_USAGE)) {
        *err = unwritable;
        return -1;
    }
    if (c->o->failed)
        why = *c->o->failed;
    bool ok = !c->o->failed && tg_suite_traces(&j->fresh, &c->suites, j->suite, c->args, &why) &&
              tg_check_find(c, j, &why) && tg_check_outputs(c, j, &why) &&
              tg_check_two_sides(c, j, &why);
    if (ok && c->o->dry_run)
        return tg_check_print_plan(c, j, err) ? 0 : -1;
    ok = judge_job(c, j, ok, &why);
    /* What is wrong with an input is a verdict; what is wrong with the job ends it. */
    if (!ok && tg_err_exit_code(why.kind) != 3) {
        *err = why;
        return -1;
    }
    if (!ok) {
        tg_io_error(c->io, &why);
        tg_verdict_of_error(&j->verdict, &why, c->arena);
    }
    if (j->first) {
        tg_check_note_policy(c, j);
        /* A baseline that was named and that nothing is compared with is never green. */
        const struct tg_policy *p = c->suites.policy;
        for (size_t i = 0; i < p->n_baselines; i++)
            if (!tg_policy_has_baseline(p, i + 1) && !tg_policy_is_built_in(&p->baselines[i].at))
                tg_verdict_add_note(
                    &j->verdict, c->arena, TG_REASON_BASELINE,
                    TG_SV_PRINTF(
                        c->arena,
                        "nothing was compared with the baseline '%.*s': no rule is against it",
                        TG_SV_ARG(p->baselines[i].name)),
                    TG_SV("Add `against:` to a rule, or remove the baseline from the policy."));
    }
    tg_verdict_settle(&j->verdict, c->suites.policy->fail_on, c->arena);
    tg_check_describe(c, j);
    tg_check_ask_keep(c, j);
    struct tg_summarize_opts so = tg_suite_reading(c->suites.policy, j->suite);
    struct tg_first_traces first = { .side = { &j->base, &j->fresh },
                                     .kept = { keeper(c, &j->base, &j->base_kept),
                                               keeper(c, &j->fresh, &c->fresh_kept) },
                                     .load = &so.load,
                                     .window = &so.window,
                                     .skip_first = (unsigned)j->suite->window.skip_first,
                                     .repo = &c->repo };
    find_causes(c, j, first);
    /* The page and the call paths draw the first traces. */
    struct tg_picture *picture = TG_NEW(c->arena, struct tg_picture);
    c->render.picture = NULL;
    if (c->wants_picture && j->verdict.comparison) {
        tg_picture_take(picture, &(struct tg_picture_ask){
                                     .from = first,
                                     /* its address is that of the first */
                                     .comparison = c->o->trace_url ? NULL : j->verdict.comparison,
                                     .arena = c->arena });
        c->render.picture = picture;
    }
    *err = unwritable;
    return tg_check_report(c, j, err) ? j->verdict.exit_code : -1;
}

/* 5 > 2 > 3 > 1 > 4 > 0 */
static int worse(int a, int b)
{
    static const int order[] = { [0] = 0, [4] = 1, [1] = 2, [3] = 3, [2] = 4, [5] = 5 };
    return order[a] > order[b] ? a : b;
}

/* The code of the job; -1: an error that stops everything is in `err`. */
static int check_job(struct tg_check *c, const struct tg_suite *suite, size_t baseline, bool first,
                     struct tg_err *err)
{
    struct tg_check_job *j = TG_NEW(c->arena, struct tg_check_job);
    j->suite = suite;
    j->policy = tg_policy_against(c->suites.policy, baseline, c->arena);
    j->first = first;
    j->named = c->o->baseline.n && baseline == c->chosen;
    j->outputs.standard = c->io->out;
    tg_summary_init(&j->base_summary);
    tg_summary_init(&j->again[TG_BASE]);
    tg_summary_init(&j->again[TG_TEST]);
    j->base_kept.any = c->wants_picture;
    int code = run_job(c, j, err);
    tg_outputs_release(&j->outputs);
    tg_summary_release(&j->again[TG_BASE]);
    tg_summary_release(&j->again[TG_TEST]);
    tg_summary_release(&j->base_summary);
    tg_damage_release(&j->gate.damage[TG_BASE]);
    tg_kept_release(&j->base_kept);
    return code;
}

/* All suites, each against all baselines. */
static int check_all(struct tg_check *c, struct tg_err *err)
{
    const struct tg_policy *p = c->suites.policy;
    int code = 0;
    c->waivers_used = TG_NEW_N(c->arena, bool, p->n_waivers + 1);
    for (size_t i = 0; i <= p->n_baselines; i++)
        c->n_jobs += tg_policy_has_baseline(p, i) * (p->n_suites ? p->n_suites : 1);
    for (size_t i = 0; i < c->suites.n; i++) {
        int one = 0;
        bool first = true;
        tg_summary_init(&c->fresh);
        for (size_t k = 0; one >= 0 && k <= p->n_baselines; k++) {
            bool named = (c->o->against || c->o->baseline.n) && k == c->chosen;
            if (!named && (c->o->against || !tg_policy_has_baseline(p, k)))
                continue;
            one = check_job(c, c->suites.v[i], k, first, err);
            first = false;
            code = one < 0 ? code : worse(code, one);
        }
        forget_fresh(c);
        tg_summary_release(&c->fresh);
        if (one < 0)
            return tg_err_exit_code(err->kind);
    }
    return c->o->exit_zero ? 0 : code;
}

/* --against: which of the policy's baselines; without it `baseline`. */
static bool choose_baseline(struct tg_check *c, struct tg_err *err)
{
    const struct tg_policy *p = c->suites.policy;
    const char *name = c->o->against ? c->o->against : "baseline";
    TG_BUF b = { 0 };
    for (size_t i = 0; i < p->n_baselines && !c->chosen; i++) {
        c->chosen = tg_sv_eq(p->baselines[i].name, tg_sv_of(name)) ? i + 1 : 0;
        tg_buf_printf(&b, ", %.*s", TG_SV_ARG(p->baselines[i].name));
    }
    if (c->chosen || strcmp(name, "baseline") == 0)
        return true;
    tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "the policy has no baseline '%s'", name);
    return tg_err_hint(err, "There are: baseline%.*s.", TG_SV_ARG(tg_buf_sv(&b)));
}

/* What the options and the policy say; no trace is needed for that. */
static bool read_policy(struct tg_check *c, enum tg_suites_wanted wanted, struct tg_err *err)
{
    return tg_suites_load(&c->suites, c->o->policy, c->o->profile, err) &&
           tg_check_ask_options(c, err) && choose_baseline(c, err) &&
           tg_suites_choose(&c->suites, c->o->suite, wanted, err);
}

/* By their names; what leads to one file by other names is found when they are opened. */
static bool reports_differ(const struct tg_check_opts *o, struct tg_err *err)
{
    for (int r = 1; r < TG_REPORTS; r++)
        for (int k = 0; o->report[r] && k < r; k++)
            if (o->report[k] && strcmp(o->report[k], o->report[r]) == 0)
                return tg_err_usage(err, "two outputs go to '%s'",
                                    "Give each report a file of its own.", o->report[r]);
    return true;
}

struct tg_policy *tg_check_ready(const struct tg_check_opts *o, const struct tg_io *io,
                                 struct tg_repo *repo, struct tg_arena *a, struct tg_err *err)
{
    struct tg_check c = { .o = o, .io = io, .arena = a };
    struct tg_summarize_opts so = { 0 };
    c.suites = (struct tg_suites){ .io = io, .repo = repo, .arena = a };
    if (tg_given_check(&o->given, err) && reports_differ(o, err) &&
        tg_given_apply(&so, &o->given, a, err) &&
        tg_repo_commit(&c.named_base, repo, o->base_commit, a, err) &&
        read_policy(&c, TG_SUITES_ONE, err))
        return c.suites.policy;
    tg_policy_free(c.suites.policy);
    return NULL;
}

int tg_check_run(const struct tg_check_opts *given, const struct tg_strs *args,
                 const struct tg_io *io, struct tg_err *err)
{
    struct tg_arena *a = tg_arena_new();
    struct tg_check_opts all = *given;
    const struct tg_check_opts *o = &all;
    struct tg_check c = { .o = o, .args = args, .io = io, .arena = a };
    int code = 2;
    /* --out: each report that has no file of its own is in that folder. */
    for (enum tg_report r = 0; o->out && r < TG_REPORTS; r++)
        if (!tg_reporters[r].prints && !o->report[r])
            all.report[r] = tg_arena_printf(a, "%s/%s", o->out, tg_reporters[r].file);
    if (o->out)
        tg_file_make_dir(o->out);
    c.wants_picture = o->report[TG_REPORT_html] || o->report[TG_REPORT_collapsed];
    c.repo.opts.trust_owner = c.o->given.trust_repository;
    c.repo.cached = !o->no_cache;
    c.suites = (struct tg_suites){ .io = io, .repo = &c.repo, .arena = c.arena };
    if (tg_given_check(&c.o->given, err) && refuse_spread(&c, err) &&
        tg_given_sides(c.cause, &c.o->cause, "cause-trace", &c.repo, c.arena, err) &&
        tg_repo_commit(&c.named_base, &c.repo, c.o->base_commit, c.arena, err) &&
        read_policy(&c, args->n ? TG_SUITES_ONE : TG_SUITES_ALL, err) &&
        tg_check_ask_begin(&c, err)) {
        c.render = (struct tg_render){
            .columns = io->columns,
            .color = io->color,
            .strict = c.o->junit_strict,
            .narrow = tg_strs_has(&c.o->svg_style, "narrow"),
            .share = tg_strs_has(&c.o->svg_style, "share"),
            .top = c.o->top > 0 ? (size_t)c.o->top : (size_t)c.suites.policy->report.top,
            .junit_max = (size_t)c.suites.policy->report.junit_max,
            .exit_zero = c.o->exit_zero,
            .report_url = c.o->report_url ? tg_sv_of(c.o->report_url) : TG_SV(""),
            .trace_url = c.o->trace_url ? tg_sv_of(c.o->trace_url) : TG_SV(""),
            .command = o->failed ? TG_SV("") : tg_check_command(&c, args)
        };
        code = check_all(&c, err);
        if (err->kind == TG_ERR_NONE && !tg_check_ask_end(&c, err))
            code = tg_err_exit_code(err->kind);
    } else {
        code = tg_err_exit_code(err->kind);
    }
    tg_outputs_release(&c.stages);
    tg_policy_free(c.suites.policy);
    tg_repo_release(&c.repo);
    tg_arena_free(c.arena);
    return code;
}
