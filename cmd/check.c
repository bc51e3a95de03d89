/*
 * tracegate check: fresh traces + baseline + policy -> verdict, reports, exit code. What can fail
 * cheaply fails first: options, policy, output files, repository, ref, baseline; then the traces.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cmd/check.h"
#include "cmd/gate/cause.h"
#include "cmd/options.h"
#include "core/baseline/store.h"

#define OPTION_PRINT(id, name, text)
#define OPTION_FILE(id, name, text)                                                                \
    { name, TG_OPT_STR, offsetof(struct tg_check_opts, report[TG_REPORT_##id]), "FILE", text },
#define OPTION(id, name, extension, to, text) OPTION_##to(id, name, text)
static const struct tg_opt check_options[] = {
    { "baseline", TG_OPT_LIST, offsetof(struct tg_check_opts, baseline), "SIDE",
      "compare with SIDE: a path, REV:PATH, or REV (repeatable); default: the policy's, at the "
      "merge "
      "base" },
    { "policy", TG_OPT_STR, offsetof(struct tg_check_opts, policy), "FILE",
      "judge by FILE, or REV:PATH in git; default: .tracegate.yml here or above, else the built-in "
      "policy" },
    { "suite", TG_OPT_STR, offsetof(struct tg_check_opts, suite), "NAME", "check this suite only" },
    { "profile", TG_OPT_STR, offsetof(struct tg_check_opts, profile), "NAME",
      "use this profile of the policy; `auto`: by the CI event" },
    TG_REPORTERS(OPTION) /* --NAME FILE of each */
    { "junit-strict", TG_OPT_FLAG, offsetof(struct tg_check_opts, junit_strict), NULL,
      "JUnit without file and line, for readers with a strict schema" },
    { "annotations", TG_OPT_FLAG, offsetof(struct tg_check_opts, annotations), NULL,
      "print GitHub annotations as well" },
    { "base-commit", TG_OPT_STR, offsetof(struct tg_check_opts, base_commit), "REV",
      "commit of the baseline, where --baseline is a path: tells which functions the change "
      "touched" },
    { "report-url", TG_OPT_STR, offsetof(struct tg_check_opts, report_url), "URL",
      "where the full report is, for the comment" },
    { "top", TG_OPT_INT, offsetof(struct tg_check_opts, top), "N", "rows shown; default 10" },
    TG_GIVEN_RUNS(struct tg_check_opts, given, ""),
    TG_GIVEN_META(struct tg_check_opts, given, ""),
    TG_GIVEN_JSON(struct tg_check_opts, given, ""),
    TG_GIVEN_TRUST(struct tg_check_opts, given),
    { "dry-run", TG_OPT_FLAG, offsetof(struct tg_check_opts, dry_run), NULL,
      "resolve and print what would be compared" },
    { "exit-zero", TG_OPT_FLAG, offsetof(struct tg_check_opts, exit_zero), NULL,
      "report the verdict, but exit with 0" },
    { "quiet", TG_OPT_FLAG, offsetof(struct tg_check_opts, quiet), NULL,
      "no report on standard output" },
    { 0 },
};

/* ---- baseline ---- */

/* The fresh trace's own path in a commit, for who commits the trace itself; false: none. */
static bool own_path(struct tg_check *c, struct tg_git *git, tg_sv *out)
{
    struct tg_err ignored;
    const char *fresh = c->args->n == 1 ? c->args->v[0] : NULL;
    tg_err_init(&ignored);
    return fresh && strcmp(fresh, "-") != 0 && tg_git_relative(git, fresh, c->arena, out, &ignored);
}

static void describe_found(struct tg_check *c, struct tg_check_job *j, const struct tg_baseline *b)
{
    const struct tg_commit *k = b->commit.sha[0] ? &b->commit : &b->start;
    struct tg_buf how = { 0 };
    j->info.commit = tg_sv_of(tg_arena_printf(c->arena, "%s", k->sha));
    j->info.ref = b->start.ref;
    tg_buf_add(&how, b->start.found);
    if (b->walked)
        tg_buf_printf(&how, "%s%u commit%s before it", how.n ? ", " : "", b->walked,
                      b->walked == 1 ? "" : "s");
    j->info.how = tg_arena_sv(c->arena, tg_buf_sv(&how));
    tg_buf_release(&how);
    j->info.situation = tg_sv_of(tg_found_name(b->found));
    j->info.walked = b->walked;
    j->info.paths = b->path;
}

static const char *const *policy_paths(struct tg_check *c, struct tg_git *git, size_t *n)
{
    const char **p = TG_NEW_N(c->arena, const char *, 3);
    struct tg_err ignored;
    tg_sv rel;
    tg_err_init(&ignored);
    *n = 0;
    if (c->suites.policy->file.n &&
        tg_git_relative(git, c->suites.policy->file.p, c->arena, &rel, &ignored))
        p[(*n)++] = rel.p;
    p[(*n)++] = ".tracegate.yml";
    p[(*n)++] = ".tracegate.yaml";
    return p;
}

/* Walks back to the files at `path`. */
static bool find_path(struct tg_check *c, struct tg_git *git, const struct tg_commit *start,
                      tg_sv path, bool explicit_side, struct tg_baseline *out, struct tg_err *err)
{
    struct tg_find_opts fo = { .path = tg_arena_sv(c->arena, path).p,
                               .max_walk = (unsigned)c->suites.policy->baseline.max_walk,
                               .explicit_side = explicit_side };
    fo.policy_paths = policy_paths(c, git, &fo.n_policy_paths);
    return tg_baseline_find(git, start, &fo, c->arena, out, err);
}

static bool is_found(const struct tg_baseline *b)
{
    return b->found == TG_FOUND || b->found == TG_FOUND_HOLE;
}

/* What is stored exactly at a commit that was named. */
static bool stored_at(struct tg_check *c, struct tg_check_job *j, struct tg_git *git,
                      const struct tg_commit *at, struct tg_baseline *out, struct tg_err *err)
{
    struct tg_store store = tg_store_in_git(git);
    *out = (struct tg_baseline){ .found = TG_FOUND, .start = *at, .commit = *at };
    out->path = tg_sv_of(tg_arena_printf(c->arena, "stored:%.*s", TG_SV_ARG(j->suite->name)));
    return tg_store_files(&store, j->suite->name, at->sha, c->arena, &out->files, err);
}

/*
 * A suite whose baseline is stored. If nothing is stored, the fresh trace's own path in the commits
 * may do: that needs no store. A named commit's own files come before runs that are stored at its
 * ancestors.
 */
static bool find_stored(struct tg_check *c, struct tg_check_job *j, struct tg_git *git,
                        const struct tg_commit *start, bool explicit_side, struct tg_baseline *out,
                        struct tg_err *err)
{
    struct tg_baseline own = { .found = TG_FOUND_FIRST_RUN };
    struct tg_store store = tg_store_in_git(git);
    struct tg_err ignored;
    tg_sv path;
    tg_err_init(&ignored);
    if (own_path(c, git, &path) && !find_path(c, git, start, path, explicit_side, &own, &ignored))
        own.found = TG_FOUND_FIRST_RUN;
    if (explicit_side && own.found == TG_FOUND) {
        *out = own;
        return true;
    }
    if (!tg_store_find(&store, start, j->suite->name, (unsigned)c->suites.policy->baseline.max_walk,
                       explicit_side, c->arena, out, err))
        return false;
    if (is_found(&own) && (out->found == TG_FOUND_FIRST_RUN || (explicit_side && !is_found(out))))
        *out = own;
    return true;
}

static bool find_at(struct tg_check *c, struct tg_check_job *j, struct tg_git *git,
                    const struct tg_commit *start, bool explicit_side, struct tg_baseline *out,
                    struct tg_err *err)
{
    if (explicit_side && !stored_at(c, j, git, start, out, err))
        return false;
    if (explicit_side && out->files.n)
        return true;
    return j->suite->baseline.n
               ? find_path(c, git, start, j->suite->baseline, explicit_side, out, err)
               : find_stored(c, j, git, start, explicit_side, out, err);
}

static bool walk_to_baseline(struct tg_check *c, struct tg_check_job *j, struct tg_git *git,
                             const struct tg_commit *start, bool explicit_side, struct tg_err *err)
{
    struct tg_baseline b;
    if (!find_at(c, j, git, start, explicit_side, &b, err))
        return false;
    describe_found(c, j, &b);
    if (b.found == TG_FOUND_FIRST_RUN)
        return tg_check_first_run(c, j, git, &b, err);
    if (b.found == TG_FOUND_LOST) {
        (void)(explicit_side ? tg_baseline_missing(&b, err) : tg_check_lost(c, j, git, &b, err));
        if (!explicit_side || j->suite->baseline.n)
            return false;
        err->hint[0] = '\0'; /* the user named a commit, so a path in it may be what was meant */
        return tg_err_hint(err,
                           "Name the file or folder in that commit, `--baseline %.*s:PATH`, or "
                           "record a baseline there (`tracegate baseline record`).",
                           TG_SV_ARG(start->ref.n ? start->ref : tg_sv_of(start->sha)));
    }
    memcpy(j->commit, b.commit.sha, sizeof j->commit);
    tg_inputs_add_git(&j->base, b.commit.sha, &b.files, c->arena);
    return tg_suite_groups(&j->base, j->suite, false, err);
}

static bool explicit_baseline(struct tg_check *c, struct tg_check_job *j, struct tg_err *err)
{
    struct tg_buf paths = { 0 };
    bool ok = true;
    for (size_t i = 0; ok && i < c->o->baseline.n; i++) {
        const char *text = c->o->baseline.v[i];
        struct tg_input in;
        struct tg_commit commit = { 0 };
        struct tg_git *git;
        ok = tg_input_parse(&in, text, c->arena, err);
        if (ok && in.kind == TG_INPUT_REV) {
            ok = (git = tg_repo_get(&c->repo, err)) ||
                 tg_err_context(err, "looking for a commit '%s': no file or folder is called so",
                                text);
            ok = ok && tg_git_resolve(git, in.rev.p, c->arena, &commit, err) &&
                 walk_to_baseline(c, j, git, &commit, true, err);
            continue;
        }
        tg_buf_printf(&paths, "%s%s", paths.n ? ", " : "", text);
        ok = ok && tg_inputs_add(&j->base, text, NULL, &c->repo, c->arena, err);
        if (ok && in.kind == TG_INPUT_GIT_PATH && !j->info.commit.n &&
            tg_git_resolve(c->repo.git, in.rev.p, c->arena, &commit, err)) {
            j->info.commit = tg_sv_of(tg_arena_printf(c->arena, "%s", commit.sha));
            j->info.ref = in.rev;
            j->info.how = TG_SV("named on the command line");
            j->info.situation = TG_SV("found");
        }
    }
    if (ok && paths.n) {
        j->info.paths = tg_arena_sv(c->arena, tg_buf_sv(&paths));
        if (!j->info.situation.n) {
            j->info.situation = TG_SV("path");
            j->info.how = TG_SV("path on the command line");
        }
    }
    tg_buf_release(&paths);
    return ok && tg_suite_groups(&j->base, j->suite, false, err);
}

static bool find_baseline(struct tg_check *c, struct tg_check_job *j, struct tg_err *err)
{
    struct tg_commit start;
    struct tg_git *git;
    if (c->o->baseline.n)
        return explicit_baseline(c, j, err);
    git = tg_repo_get(&c->repo, err);
    return git && tg_suites_start(&c->suites, git, &start, err) &&
           walk_to_baseline(c, j, git, &start, false, err);
}

/* ---- traces -> verdict ---- */

static enum tg_arrange arrange_of(const struct tg_check *c, const struct tg_check_job *j)
{
    bool runs = j->suite->trace.run.n && !j->suite->trace.rank.n;
    return tg_given_arrange(&c->o->given, runs ? TG_ARRANGE_RUNS : TG_ARRANGE_AUTO);
}

static bool load_side(struct tg_check *c, struct tg_check_job *j, int side, struct tg_err *err)
{
    struct tg_summarize_opts so = tg_suite_reading(c->suites.policy, j->suite);
    struct tg_progress_line progress;
    bool ok;
    if (!tg_given_apply(&so, &c->o->given, c->arena, err))
        return false;
    if (side == TG_BASE)
        so.n_meta = 0;
    tg_progress_start(&progress, c->io);
    ok = tg_inputs_load(&j->summary[side], side == TG_BASE ? &j->base : &j->fresh, &so, &c->repo,
                        &progress.line, err);
    tg_progress_end(&progress);
    if (ok)
        ok = tg_side_arrange_some(&j->gate.side[side], &j->summary[side], arrange_of(c, j),
                                  c->arena, err);
    if (!ok)
        (void)tg_err_context(err, "reading the %s side", side == TG_BASE ? "baseline" : "fresh");
    return ok;
}

static void describe_gate(struct tg_check *c, struct tg_check_job *j)
{
    j->gate.policy = c->suites.policy;
    j->gate.suite = j->suite;
    j->gate.io = c->io;
    j->gate.arena = c->arena;
    j->gate.waivers_used = c->waivers_used;
    j->gate.more_suites = c->n_judged + 1 < c->suites.policy->n_suites;
    tg_gate_compare_opts(&j->gate.compare, c->suites.policy, j->suite, c->arena);
}

/* Without a baseline: the fresh side against itself, of which only budgets are told. */
static bool judge_budgets(struct tg_check *c, struct tg_check_job *j, struct tg_err *err)
{
    struct tg_verdict self;
    if (!tg_policy_has_budgets(c->suites.policy))
        return true;
    describe_gate(c, j);
    j->gate.more_suites = true;
    if (!load_side(c, j, TG_TEST, err))
        return false;
    j->gate.side[TG_BASE] = j->gate.side[TG_TEST];
    if (!tg_gate_judge(&self, &j->gate, err))
        return false;
    tg_verdict_add_budgets(&j->verdict, &self, c->arena);
    return true;
}

static bool judge(struct tg_check *c, struct tg_check_job *j, struct tg_err *err)
{
    describe_gate(c, j);
    if (!load_side(c, j, TG_BASE, err) || !load_side(c, j, TG_TEST, err) ||
        !tg_gate_judge(&j->verdict, &j->gate, err))
        return false;
    c->n_judged++;
    return true;
}

/* ---- reports ---- */

/* Several suites: FILE.xml becomes FILE-SUITE.xml. */
static const char *report_path(struct tg_check *c, const struct tg_check_job *j, int k)
{
    const char *path = c->o->report[k], *slash = strrchr(path, '/');
    const char *dot = strchr(slash ? slash + 1 : path, '.');
    size_t stem = dot && dot != path ? (size_t)(dot - path) : strlen(path);
    if (c->suites.n == 1 || strcmp(path, "-") == 0)
        return path;
    return tg_arena_printf(c->arena, "%.*s-%.*s%s", (int)stem, path, TG_SV_ARG(j->suite->name),
                           path + stem);
}

static bool open_reports(struct tg_check *c, struct tg_check_job *j, struct tg_err *err)
{
    for (int k = 0; k < TG_REPORTS; k++)
        if (c->o->report[k] &&
            !tg_outputs_open(&j->outputs, report_path(c, j, k), &j->handle[k], err))
            return false;
    return true;
}

/* A report on standard output is alone there, so that a pipe can read it. */
static bool report_on_stdout(const struct tg_check *c)
{
    for (int k = 0; k < TG_REPORTS; k++)
        if (c->o->report[k] && strcmp(c->o->report[k], "-") == 0)
            return true;
    return false;
}

/* The baseline's commit: found, or said by --base-commit where the baseline is a path. */
static const char *base_commit(struct tg_check *c, const struct tg_check_job *j)
{
    struct tg_commit named;
    struct tg_err ignored;
    tg_err_init(&ignored);
    if (j->info.commit.n)
        return tg_arena_printf(c->arena, "%.*s", TG_SV_ARG(j->info.commit));
    if (!c->o->base_commit || !tg_repo_get(&c->repo, &ignored) ||
        !tg_git_resolve(c->repo.git, c->o->base_commit, c->arena, &named, &ignored))
        return NULL;
    return tg_arena_printf(c->arena, "%s", named.sha);
}

static void find_causes(struct tg_check *c, struct tg_check_job *j)
{
    struct tg_summarize_opts so = tg_suite_reading(c->suites.policy, j->suite);
    const struct tg_summary *fresh = &j->summary[TG_TEST];
    bool stacks = fresh->n && tg_sv_eq(tg_shard_env(fresh->shards[0], "with_stack"), TG_SV("1"));
    if (!fresh->n || !(stacks || c->repo.git))
        return;
    tg_cause_find(&j->verdict,
                  &(struct tg_cause_ask){ .side = { &j->base, &j->fresh },
                                          .load = &so.load,
                                          .window = &so.window,
                                          .skip_first = (unsigned)j->suite->window.skip_first,
                                          .repo = &c->repo,
                                          .base_commit = base_commit(c, j),
                                          .workspace = tg_io_env(c->io, "GITHUB_WORKSPACE"),
                                          .stacks = stacks,
                                          .arena = c->arena });
}

static bool write_reports(struct tg_check *c, struct tg_check_job *j, struct tg_err *err)
{
    struct tg_buf out = { 0 };
    bool ok = true;
    for (int k = 0; ok && k < TG_REPORTS; k++) {
        if (!c->o->report[k])
            continue;
        tg_buf_clear(&out);
        ok = tg_reporters[k].write(&out, &j->verdict, &c->render, err) &&
             tg_outputs_put(&j->outputs, j->handle[k], tg_buf_sv(&out), err);
    }
    ok = ok && tg_outputs_commit(&j->outputs, err);
    tg_buf_clear(&out);
    if (ok && !c->o->quiet && !report_on_stdout(c))
        ok = tg_reporter_text(&out, &j->verdict, &c->render, err) &&
             tg_io_put(c->io, tg_buf_sv(&out), err);
    tg_buf_clear(&out);
    if (ok && c->o->annotations)
        ok = tg_reporter_annotations(&out, &j->verdict, &c->render, err) &&
             tg_io_put_commands(c->io, tg_buf_sv(&out), err);
    tg_buf_release(&out);
    return ok;
}

/* Committer date of the judged commit, or SOURCE_DATE_EPOCH; no clock, so that bytes repeat. */
static void describe_test(struct tg_check *c, struct tg_check_job *j)
{
    struct tg_verdict *v = &j->verdict;
    struct tg_commit head;
    struct tg_err ignored;
    int64_t epoch = 0;
    bool dated = false;
    const char *fixed = tg_io_env(c->io, "SOURCE_DATE_EPOCH");
    struct tm tm;
    time_t t;
    tg_err_init(&ignored);
    if (c->repo.git && tg_git_resolve(c->repo.git, "HEAD", c->arena, &head, &ignored)) {
        v->test_commit = tg_sv_of(tg_arena_printf(c->arena, "%s", head.sha));
        epoch = head.date;
        dated = true;
    }
    if (fixed && tg_sv_i64(tg_sv_of(fixed), &epoch))
        dated = true;
    t = (time_t)epoch;
    if (dated && gmtime_r(&t, &tm)) {
        char *text = TG_NEW_N(c->arena, char, 32);
        v->timestamp = (tg_sv){ text, strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &tm) };
    }
    struct tg_buf paths = { 0 };
    if (j->fresh.n > 2)
        tg_buf_printf(&paths, "%s … %s (%zu files)", j->fresh.v[0].label,
                      j->fresh.v[j->fresh.n - 1].label, j->fresh.n);
    else
        for (size_t i = 0; i < j->fresh.n; i++)
            tg_buf_printf(&paths, "%s%s", i ? ", " : "", j->fresh.v[i].label);
    v->test_paths = tg_arena_sv(c->arena, tg_buf_sv(&paths));
    tg_buf_release(&paths);
    v->suite = j->suite->name;
    v->baseline = j->info;
    v->policy = c->suites.policy->built_in ? TG_SV("built-in policy (tracegate:recommended)")
                                           : c->suites.policy->file;
    if (c->suites.policy->profile.n)
        v->policy = tg_sv_of(tg_arena_printf(c->arena, "%.*s, profile %.*s", TG_SV_ARG(v->policy),
                                             TG_SV_ARG(c->suites.policy->profile)));
}

static enum tg_outcome outcome_of(enum tg_on_missing m)
{
    return m == TG_ON_MISSING_PASS   ? TG_OUTCOME_PASS
           : m == TG_ON_MISSING_FAIL ? TG_OUTCOME_FAIL
                                     : TG_OUTCOME_INCONCLUSIVE;
}

static bool stops_before(enum tg_err_kind kind)
{
    return tg_err_exit_code(kind) == 2 || tg_err_exit_code(kind) == 5;
}

static bool print_plan(struct tg_check *c, const struct tg_check_job *j, struct tg_err *err)
{
    struct tg_buf b = { 0 };
    bool ok;
    tg_buf_printf(&b, "suite %.*s\n  policy: %s\n", TG_SV_ARG(j->suite->name),
                  c->suites.policy->built_in ? "built-in (tracegate:recommended)"
                                             : c->suites.policy->file.p);
    tg_buf_printf(&b, "  baseline: %.*s%s%.*s\n", TG_SV_ARG(j->info.situation),
                  j->info.how.n ? ", " : "", TG_SV_ARG(j->info.how));
    for (size_t i = 0; i < j->base.n; i++)
        tg_buf_printf(&b, "    %s\n", j->base.v[i].label);
    tg_buf_puts(&b, "  fresh:\n");
    for (size_t i = 0; i < j->fresh.n; i++)
        tg_buf_printf(&b, "    %s\n", j->fresh.v[i].label);
    ok = tg_io_put(c->io, tg_buf_sv(&b), err);
    tg_buf_release(&b);
    return ok;
}

/* Exit code of the suite; -1: an error that stops everything is in `err`. */
static int check_suite(struct tg_check *c, struct tg_check_job *j, struct tg_err *err)
{
    struct tg_err why;
    bool ok;
    tg_err_init(&why);
    if (!open_reports(c, j, err))
        return -1;
    ok = tg_suite_traces(&j->fresh, &c->suites, j->suite, c->args, &why) &&
         find_baseline(c, j, &why) && tg_check_outputs(c, j, &why) &&
         tg_check_two_sides(c, j, &why);
    if (ok && c->o->dry_run)
        return print_plan(c, j, err) ? 0 : -1;
    if (ok && j->what == JOB_FIRST_RUN) {
        tg_verdict_first_run(&j->verdict, outcome_of(c->suites.policy->baseline.on_first_run),
                             c->arena);
        ok = judge_budgets(c, j, &why);
    } else if (ok) {
        ok = judge(c, j, &why);
    } else if (why.kind == TG_ERR_LOST) {
        tg_io_error(c->io, &why);
        tg_verdict_lost(&j->verdict, &why, outcome_of(c->suites.policy->baseline.on_lost),
                        c->arena);
        j->info.situation = TG_SV("lost");
        tg_err_init(&why);
        ok = judge_budgets(c, j, &why);
    }
    if (!ok && stops_before(why.kind)) {
        *err = why;
        return -1;
    }
    if (!ok) {
        tg_io_error(c->io, &why);
        tg_verdict_of_error(&j->verdict, &why, c->arena);
    }
    tg_check_note_policy(c, j);
    describe_test(c, j);
    find_causes(c, j);
    return write_reports(c, j, err) ? j->verdict.exit_code : -1;
}

/* 5 > 3 > 1 > 4 > 0 */
static int worse(int a, int b)
{
    static const int order[] = { [0] = 0, [4] = 1, [1] = 2, [3] = 3, [2] = 4, [5] = 5 };
    return order[a] > order[b] ? a : b;
}

static int check_all(struct tg_check *c, struct tg_err *err)
{
    int code = 0;
    c->waivers_used = TG_NEW_N(c->arena, bool, c->suites.policy->n_waivers + 1);
    for (size_t i = 0; i < c->suites.n; i++) {
        struct tg_check_job *j = TG_NEW(c->arena, struct tg_check_job);
        int one;
        j->suite = c->suites.v[i];
        tg_summary_init(&j->summary[0]);
        tg_summary_init(&j->summary[1]);
        one = check_suite(c, j, err);
        tg_outputs_release(&j->outputs);
        tg_summary_release(&j->summary[0]);
        tg_summary_release(&j->summary[1]);
        if (one < 0)
            return tg_err_exit_code(err->kind);
        code = worse(code, one);
    }
    return c->o->exit_zero ? 0 : code;
}

static int check_run(const void *opts, const struct tg_strs *args, const struct tg_io *io,
                     struct tg_err *err)
{
    struct tg_check c = { .o = opts, .args = args, .io = io, .arena = tg_arena_new() };
    int code = 2;
    c.repo.opts.trust_owner = c.o->given.trust_repository;
    c.suites = (struct tg_suites){ .io = io, .repo = &c.repo, .arena = c.arena };
    if (tg_given_check(&c.o->given, err) &&
        tg_suites_load(&c.suites, c.o->policy, c.o->profile, err) &&
        tg_suites_choose(&c.suites, c.o->suite, args->n ? TG_SUITES_ONE : TG_SUITES_ALL, err)) {
        c.render = (struct tg_render){
            .columns = io->columns,
            .color = io->color,
            .strict = c.o->junit_strict,
            .top = c.o->top > 0 ? (size_t)c.o->top : (size_t)c.suites.policy->report.top,
            .junit_max = (size_t)c.suites.policy->report.junit_max,
            .exit_zero = c.o->exit_zero,
            .report_url = c.o->report_url ? tg_sv_of(c.o->report_url) : TG_SV("")
        };
        code = check_all(&c, err);
    } else {
        code = tg_err_exit_code(err->kind);
    }
    tg_policy_free(c.suites.policy);
    tg_repo_release(&c.repo);
    tg_arena_free(c.arena);
    return code;
}

const struct tg_cmd tg_cmd_check = {
    .name = "check",
    .summary = "judge fresh traces against a baseline",
    .synopsis = "[TRACE…] [--baseline SIDE] [--policy FILE]",
    .about =
        "Compares the fresh traces with the baseline, judges the change by the policy, writes "
        "the reports and exits with the verdict's code: 0 pass or warn, 1 fail, 2 bad policy or "
        "command line, 3 unusable input, 4 inconclusive, 5 internal.\n"
        "\n"
        "Without --baseline the baseline is read from the git tree of the merge base with the "
        "target branch, at the suite's `baseline:` path. Without a policy file the built-in "
        "policy applies: no new launches, copies, operators or synchronisations, nothing proven "
        "slower. Durations are judged from three runs a side on.\n"
        "\n"
        "A report to - goes to standard output, in place of the text.\n"
        "\n"
        "  tracegate check out/*.json.gz --runs --baseline origin/main:perf --junit gate.xml",
    .options = check_options,
    .opts_size = sizeof(struct tg_check_opts),
    .run = check_run,
};
