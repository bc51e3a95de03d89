/* tracegate init: looks at what is there, says it, writes a policy, a bench and the CI service's
 * workflow, and runs selftest on the result. Asks nothing; replaces nothing without --force. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/options.h"
#include "cmd/setup/files.h"
#include "core/base/file.h"
#include "core/base/look.h"
#include "core/baseline/spawn.h"

#define MAX_WRITTEN ((size_t)1 << 20) /* of a file that --force compares */

struct init_opts {
    const char *action;
    enum tg_program framework;
    enum tg_survey_ci service;
    bool store, nightly, force;
};
static const struct tg_opt init_options[] = {
    { "store", TG_OPT_FLAG, offsetof(struct init_opts, store), NULL,
      "store baselines in git and measure a change alone, on machines of your own; default: base "
      "and change in turn on one machine, as hosted runners need" },
    { "nightly", TG_OPT_FLAG, offsetof(struct init_opts, nightly), NULL,
      "add a suite `nightly` with stored baselines, and its workflow" },
    { "for", TG_OPT_CHOICE, offsetof(struct init_opts, framework), TG_PROGRAM_CHOICES,
      "what writes the traces: its command, ranks and steps; pytest: a gated test instead of a "
      "bench; default: what the repository depends on" },
    { "service", TG_OPT_CHOICE, offsetof(struct init_opts, service), TG_CI_CHOICES,
      "the CI service; default: the one whose files are there" },
    { "action", TG_OPT_STR, offsetof(struct init_opts, action), "OWNER/REPO@COMMIT",
      "the action that workflows use; default: that of the gate's workflow, else the placeholder "
      "OWNER/tracegate@COMMIT" },
    { "force", TG_OPT_FLAG, offsetof(struct init_opts, force), NULL,
      "replace existing files, and show what changes in them" },
    { 0 },
};

enum written { WRITTEN_NEW, WRITTEN_SAME, WRITTEN_KEPT, WRITTEN_REPLACED };

struct job {
    const struct init_opts *o;
    const struct tg_io *io;
    struct tg_arena *arena;
    struct tg_repo *repo;
    struct tg_survey survey;
    struct tg_setup_opts setup;
    struct tg_setup_files files;
    enum written *written; /* of each file */
    struct tg_buf out, changes;
    bool survives;
};

/* ---- what was found ---- */

static void put_suite(struct job *j, const struct tg_survey_suite *one)
{
    struct tg_buf *out = &j->out;
    if (one->framework)
        tg_buf_printf(out, "  program     %s\n", tg_program_info(one->framework)->name);
    if (!one->n) {
        tg_buf_printf(out, "  traces      none %s%.*s yet\n", one->program.n ? "in " : "",
                      TG_SV_ARG(one->program.n ? one->program : TG_SV("here")));
        if (one->ranks > 1)
            tg_buf_printf(out, "  ranks       %zu, which is RANKS in bench.py\n", one->ranks);
        return;
    }
    tg_buf_printf(out, "  traces      %.*s: %zu run%s", TG_SV_ARG(one->form.files), one->runs,
                  one->runs == 1 ? "" : "s");
    if (one->ranks > 1)
        tg_buf_printf(out, " of %zu ranks", one->ranks);
    if (j->survey.n_suites > 1)
        tg_buf_printf(out, " (suite %.*s)", TG_SV_ARG(one->name));
    tg_buf_puts(out, "\n  steps       ");
    if (one->marked && one->least_steps == one->most_steps)
        tg_buf_printf(out, "%zu step%s (ProfilerStep)", one->least_steps,
                      one->least_steps == 1 ? "" : "s");
    else if (one->marked)
        tg_buf_printf(out, "%zu to %zu steps (ProfilerStep)", one->least_steps, one->most_steps);
    else if (one->other_steps)
        tg_buf_puts(out, "no ProfilerStep; bench.py writes it");
    else if (one->window.name.n)
        tg_buf_printf(
            out,
            "no ProfilerStep; the annotation \"%.*s\" serves as step (%zu, %.0f %% of the time)",
            TG_SV_ARG(one->window.name), one->window.count, 100 * one->window.covered);
    else
        tg_buf_puts(out, "none, and no annotation that could serve as one: each trace is one step");
    tg_buf_printf(out, "\n  device      %.*s%s%s%s\n", TG_SV_ARG(one->device),
                  one->device.n ? "" : "unknown", one->has_stacks ? ", with Python stacks" : "",
                  one->is_compiled ? ", torch.compile" : "");
    if (one->has_stacks)
        tg_buf_puts(out, "              stacks slow the host: gate on runs without them\n");
    if (one->runs < 3)
        tg_buf_puts(out, "              durations need three runs a side; bench.py makes five\n");
    if (one->kept.n)
        tg_buf_printf(out, "  baseline    %.*s\n", TG_SV_ARG(one->kept));
}

/* ---- writing ---- */

/* The real path of a file, or, of one that is not there, of the nearest folder that is. */
static char *real_place(struct job *j, const char *path)
{
    char *real = realpath(path, NULL);
    const char *up = path;
    while (!real && errno == ENOENT && strrchr(up, '/') && up[0]) {
        up = tg_arena_printf(j->survey.arena, "%.*s", (int)(strrchr(up, '/') - up), up);
        real = realpath(up[0] ? up : "/", NULL);
    }
    return real || errno != ENOENT ? real : realpath(".", NULL);
}

/* A symbolic link of the repository may lead anywhere; a file there is not init's to write. */
static bool stays_inside(struct job *j, const char *path, struct tg_err *err)
{
    TG_FREE char *root = realpath(tg_survey_path(&j->survey, TG_SV("")), NULL);
    TG_FREE char *real = real_place(j, path);
    size_t n = root ? strlen(root) : 0;
    if (root && real && strncmp(real, root, n) == 0 && (!real[n] || real[n] == '/' || n == 1))
        return true;
    return tg_err_say(err, TG_ERR_OUTPUT, TG_AT_FILE(path),
                      "'%s' leads out of the repository, to '%s'",
                      "Nothing was written there. Replace the symbolic link by a file or a folder.",
                      path, real ? real : "an unknown place");
}

static bool write_file(struct job *j, size_t i, struct tg_err *err)
{
    const struct tg_setup_file *f = &j->files.v[i];
    const char *path = tg_survey_path(&j->survey, f->path);
    TG_BUF old = { 0 };
    struct tg_err why = TG_ERR_INIT;
    enum tg_seen seen = tg_look_at(path, NULL, err);
    if (seen == TG_SEEN_FAILED || !stays_inside(j, path, err))
        return false;
    if (seen == TG_ABSENT) {
        j->written[i] = WRITTEN_NEW;
        return tg_file_write(path, tg_buf_sv(&f->text), err);
    }
    bool same = tg_file_read(&old, path, MAX_WRITTEN, &why);
    if (!same && why.kind != TG_ERR_LIMIT) {
        *err = why;
        return false;
    }
    same = same && tg_sv_eq(tg_buf_sv(&old), tg_buf_sv(&f->text));
    j->written[i] = same ? WRITTEN_SAME : j->o->force ? WRITTEN_REPLACED : WRITTEN_KEPT;
    if (!same) { /* the hunks of `git diff` between a file and the text that replaces it */
        const char *const argv[] = { "git", "diff", "--no-index", "--no-color",
                                     "--",  path,   "-",          NULL };
        struct tg_spawn spawn = {
            .argv = argv, .timeout_ms = 10000, .max_out = MAX_WRITTEN, .input = tg_buf_sv(&f->text)
        };
        struct tg_spawned result;
        TG_BUF diff = { 0 };
        bool in_hunk = false;
        tg_spawn_run(&spawn, &diff, &result);
        tg_buf_printf(&j->changes, "\n--- %.*s\n+++ %.*s\n", TG_SV_ARG(f->path),
                      TG_SV_ARG(f->path));
        for (tg_sv rest = tg_buf_sv(&diff); rest.n;) {
            tg_sv line = tg_sv_cut(&rest, '\n');
            in_hunk |= tg_sv_starts(line, TG_SV("@@"));
            if (in_hunk)
                tg_buf_printf(&j->changes, "%.*s\n", TG_SV_ARG(line));
        }
    }
    return j->written[i] != WRITTEN_REPLACED || tg_file_write(path, tg_buf_sv(&f->text), err);
}

static bool write_all(struct job *j, struct tg_err *err)
{
    tg_setup_files(&j->files, &j->survey, &j->setup);
    if (j->survey.unseen->kind != TG_ERR_NONE) {
        *err = *j->survey.unseen;
        return false;
    }
    j->written = TG_NEW_N(j->arena, enum written, j->files.n + 1);
    for (size_t i = 0; i < j->files.n; i++)
        if (!write_file(j, i, err))
            return false;
    static const char *const heads[] = {
        "wrote\n", "as it is already\n",
        "kept, not what init would write (the difference is below; --force replaces)\n",
        "replaced\n"
    };
    for (int k = WRITTEN_NEW; k <= WRITTEN_REPLACED; k++) {
        bool first = true;
        for (size_t i = 0; i < j->files.n; i++) {
            if (j->written[i] != (enum written)k)
                continue;
            tg_buf_printf(&j->out, "%s  %.*s\n", first ? heads[k] : "",
                          TG_SV_ARG(j->files.v[i].path));
            first = false;
        }
    }
    tg_buf_add(&j->out, tg_buf_sv(&j->changes));
    return true;
}

/* ---- selftest ---- */

/* The command itself, its JSON read back. NULL: err says why. */
static struct tg_doc *selftest(struct job *j, const struct tg_survey_suite *one, struct tg_err *err)
{
    struct tg_io io = *j->io;
    FILE *file = tmpfile();
    void *opts = tg_arena_alloc(j->arena, 1, tg_cmd_selftest.opts_size);
    struct tg_global_opts common = { 0 };
    struct tg_strs args = { 0 };
    const struct tg_cmd_call call = { opts, &args, &io, j->repo, j->arena, NULL };
    TG_BUF text = { 0 };
    const char **argv = TG_NEW_N(j->arena, const char *, one->n + 8);
    size_t n = 0;
    argv[n++] = "--format=json";
    argv[n++] = tg_arena_printf(j->arena, "--policy=%s",
                                tg_survey_path(&j->survey, TG_SV(".tracegate.yml")));
    argv[n++] = tg_arena_printf(j->arena, "--suite=%.*s", TG_SV_ARG(one->name));
    argv[n++] = "--";
    for (size_t i = 0; i < one->n; i++)
        argv[n++] = one->paths[i];
    if (!file) {
        tg_err_set(err, TG_ERR_IO, TG_NOWHERE, "no temporary file for selftest's answer");
        return NULL;
    }
    io.out = fileno(file);
    if (tg_options_parse(&tg_cmd_selftest, argv, n, opts, &common, &args, j->arena, err))
        (void)tg_cmd_selftest.run(&call, err);
    (void)lseek(io.out, 0, SEEK_SET);
    for (ssize_t got = 1; got > 0 && err->kind == TG_ERR_NONE;) {
        got = read(io.out, tg_buf_room(&text, 65536), 65536);
        text.n += got > 0 ? (size_t)got : 0;
    }
    (void)fclose(file);
    return err->kind == TG_ERR_NONE ? tg_doc_parse(tg_buf_sv(&text), "selftest", err) : NULL;
}

static size_t count_rules(const struct tg_doc *rules, const char *outcome)
{
    size_t n = 0;
    for (const struct tg_doc *r = tg_doc_first(rules); r; r = tg_doc_next(r))
        n += tg_sv_eq(tg_doc_str(tg_doc_get(r, "outcome"), TG_SV("")), tg_sv_of(outcome));
    return n;
}

static void put_answer(struct job *j, const struct tg_survey_suite *one, const struct tg_doc *doc)
{
    const struct tg_doc *rules = tg_doc_get(doc, "rules");
    size_t untested = count_rules(rules, "untested");
    tg_buf_printf(&j->out, "  %-10.*s  ", TG_SV_ARG(one->name));
    if (!tg_doc_bool(tg_doc_get(doc, "passed"), false)) {
        j->survives = true;
        tg_buf_printf(&j->out, "FAIL: %.*s",
                      TG_SV_ARG(tg_doc_str(tg_doc_get(doc, "why"), TG_SV("?"))));
        const char *before = ": ";
        for (const struct tg_doc *r = tg_doc_first(rules); r; r = tg_doc_next(r))
            if (tg_sv_eq(tg_doc_str(tg_doc_get(r, "outcome"), TG_SV("")), TG_SV("survived"))) {
                tg_buf_printf(&j->out, "%s%.*s", before,
                              TG_SV_ARG(tg_doc_str(tg_doc_get(r, "id"), TG_SV(""))));
                before = ", ";
            }
        tg_buf_puts(&j->out, "; tracegate selftest says why and what to do\n");
        return;
    }
    tg_buf_printf(&j->out,
                  "these runs pass against themselves; of %zu rules %zu fail and %zu warn when a "
                  "regression is injected",
                  tg_doc_count(rules), count_rules(rules, "red"), count_rules(rules, "warns"));
    if (untested)
        tg_buf_printf(&j->out, ", %zu %s three runs", untested, untested == 1 ? "needs" : "need");
    tg_buf_puts(&j->out, ", the others have nothing to judge here\n");
}

/* ---- what to do next ---- */

/* Whether a bench was there or has just been written, what is left to do in it. */
static void put_bench_note(struct job *j, const struct tg_survey_suite *one)
{
    static const char *const left[TG_BENCH_OTHER + 1] = {
        [TG_BENCH_OURS] = "your own step in place of the example in make_step()",
        [TG_BENCH_SERVER] = "your model, prompts and server in answer()",
        [TG_BENCH_LAUNCH] = "your model and data in command()"
    };
    const char *path = tg_survey_in(&j->survey, one->program, "bench.py");
    if (left[one->bench])
        tg_buf_printf(&j->out, "  in %s: %s\n", path, left[one->bench]);
    if (one->bench == TG_BENCH_OTHER)
        tg_buf_printf(&j->out,
                      "  %s is yours: let `%s --trace FILE` write one trace to FILE, as the "
                      "workflow asks\n",
                      path, path);
}

/* Of every suite: record, and try the policy. */
static void put_suite_commands(struct job *j)
{
    tg_buf_puts(&j->out, "  1.");
    for (size_t i = 0; i < j->survey.n_suites; i++) {
        tg_sv in = j->survey.suites[i].program;
        tg_buf_puts(&j->out, i ? " &&" : "");
        tg_buf_printf(&j->out, in.n ? " (cd %.*s && python3 bench.py)" : "%.*s python3 bench.py",
                      TG_SV_ARG(in));
    }
    tg_buf_puts(&j->out, "\n  2.");
    for (size_t i = 0; i < j->survey.n_suites; i++) {
        const struct tg_survey_suite *one = &j->survey.suites[i];
        tg_buf_printf(&j->out, "%s tracegate selftest --suite %.*s %s", i ? " &&" : "",
                      TG_SV_ARG(one->name),
                      tg_survey_in(&j->survey, one->program, "out/run*.json.gz"));
    }
    tg_buf_putc(&j->out, '\n');
}

static bool gates_tests(const struct job *j)
{
    return j->survey.suites[0].framework == TG_PROGRAM_PYTEST;
}

static void put_next_of_tests(struct job *j)
{
    TG_BUF add = { 0 };
    for (size_t i = 0; i < j->files.n; i++)
        tg_buf_printf(&add, " %.*s", TG_SV_ARG(j->files.v[i].path));
    tg_buf_puts(&j->out, "next\n");
    if (!j->survey.has_gated_tests)
        tg_buf_puts(&j->out, "  in tests/test_performance.py: your own step in place of the "
                             "example in make_step()\n");
    tg_buf_printf(
        &j->out,
        "  1. python3 -m pip install pytest torch-tracegate\n"
        "  2. python3 -m pytest --tracegate=record\n"
        "  3. git switch -c %s && git add%s perf/pytest && git commit -m \"performance gate\"%s\n"
        "  then, in each change: python3 -m pytest --tracegate=check\n",
        j->survey.topic, add.n ? add.p : "",
        j->survey.remote.n ? " && git push -u origin HEAD" : "");
    if (j->survey.ci != TG_CI_GITHUB)
        tg_buf_puts(&j->out, "  in the job of a change, in a clone with its whole history: python3 "
                             "-m pytest --tracegate=check --junitxml=gate.xml\n");
}

static void put_next(struct job *j)
{
    TG_BUF add = { 0 };
    bool kept = false;
    if (gates_tests(j)) {
        put_next_of_tests(j);
        return;
    }
    /* What git has to know: all of ours, kept or not, and each bench. */
    for (size_t i = 0; i < j->files.n; i++) {
        tg_buf_printf(&add, " %.*s", TG_SV_ARG(j->files.v[i].path));
        kept |= j->written[i] == WRITTEN_KEPT;
    }
    for (size_t i = 0; i < j->survey.n_suites; i++) {
        const struct tg_survey_suite *one = &j->survey.suites[i];
        if (one->bench == TG_BENCH_THEIRS || one->bench == TG_BENCH_OTHER ||
            one->bench == TG_BENCH_WRITTEN)
            tg_buf_printf(&add, " %s", tg_survey_in(&j->survey, one->program, "bench.py"));
    }
    tg_buf_puts(&j->out, "next\n");
    if (kept)
        tg_buf_puts(&j->out, "  in what was kept: take over the lines with + that you want; the "
                             "files above that are new count on them\n");
    TG_BUF ignored = { 0 };
    struct tg_err why = TG_ERR_INIT;
    if (tg_file_read(&ignored, tg_survey_path(&j->survey, TG_SV(".gitignore")), MAX_WRITTEN,
                     &why) &&
        !tg_sv_has(tg_buf_sv(&ignored), TG_SV("out")))
        tg_buf_puts(&j->out, "  in .gitignore: out/, where bench.py leaves its traces\n");
    for (size_t i = 0; i < j->survey.n_suites; i++)
        put_bench_note(j, &j->survey.suites[i]);
    if (!j->setup.action && j->survey.ci == TG_CI_GITHUB)
        tg_buf_puts(&j->out, "  in .github/workflows: the place and commit that you take tracegate "
                             "from in place of OWNER/tracegate@COMMIT\n");
    static const char *const service[TG_CI_SLURM + 1] = {
        [TG_CI_GITLAB] = "in .gitlab-ci.yml: include: [{local: .gitlab/tracegate.yml}]",
        [TG_CI_BUILDKITE] =
            "in the pipeline: buildkite-agent pipeline upload .buildkite/tracegate.yml",
        [TG_CI_SLURM] = "on the cluster, for each change: sbatch --wait tracegate.sbatch"
    };
    if (service[j->survey.ci])
        tg_buf_printf(&j->out, "  %s\n", service[j->survey.ci]);
    if (j->survey.ci == TG_CI_JENKINS)
        tg_buf_printf(&j->out,
                      "  in the pipeline, on changes: tracegate ab --base origin/%.*s --once 5 "
                      "--junit gate.xml -- python3 bench.py --trace '{trace}'\n",
                      TG_SV_ARG(j->survey.branch));
    put_suite_commands(j);
    if (j->setup.nightly)
        tg_buf_puts(&j->out, "  the first night may be red, because nothing is stored yet; it is "
                             "recorded, and the night of the next commit is compared with it\n");
    if (j->setup.nightly && j->survey.ci != TG_CI_GITHUB)
        tg_buf_puts(&j->out,
                    "  in a job of every night: python3 bench.py && tracegate baseline fetch --all "
                    "&& { tracegate check --suite nightly; code=$?; tracegate baseline record "
                    "--suite nightly && tracegate baseline push && exit $code; }\n");
    tg_buf_printf(&j->out,
                  "  3. git switch -c %s && git add%s && git commit -m \"performance gate\"%s\n",
                  j->survey.topic, add.n ? add.p : " .",
                  j->survey.remote.n ? " && git push -u origin HEAD" : "");
}

/* As `uses:` has it: a folder of the repository, or a repository and its commit. */
static bool is_action(tg_sv text)
{
    tg_sv place = text, owner;
    if (tg_sv_starts(text, TG_SV("./")))
        return true;
    place = tg_sv_cut(&text, '@');
    owner = tg_sv_cut(&place, '/');
    return owner.n && place.n && text.n;
}

static bool run_job(struct job *j, const struct tg_strs *args, struct tg_err *err)
{
    const struct tg_survey_choice choice = { j->o->framework, j->o->service };
    if (j->o->action && !is_action(tg_sv_of(j->o->action)))
        return tg_err_usage(err, "--action '%s' is not OWNER/REPO@COMMIT",
                            "GitHub takes nothing else after `uses:`; a folder begins with ./.",
                            j->o->action);
    if (!tg_survey_make(&j->survey, args, &choice, j->io, j->repo, j->arena, err))
        return false;
    j->setup = (struct tg_setup_opts){ .store = j->o->store,
                                       .nightly = j->o->nightly,
                                       .action = j->o->action ? j->o->action : j->survey.action };
    const struct tg_survey *s = &j->survey;
    bool assumed = s->ci == TG_CI_GITHUB && !j->o->service;
    tg_buf_puts(&j->out, "found\n");
    for (size_t i = 0; i < s->n_suites; i++)
        put_suite(j, &s->suites[i]);
    if (s->skipped.n)
        tg_buf_printf(&j->out, "  not taken   %.*s\n", TG_SV_ARG(s->skipped));
    if (!s->in_git)
        tg_buf_puts(&j->out, "  repository  none: the gate needs one (git init)\n");
    else
        tg_buf_printf(&j->out, "  repository  %.*s, branch %.*s\n",
                      TG_SV_ARG(s->remote.n ? s->remote : TG_SV("no remote")),
                      TG_SV_ARG(s->branch));
    tg_buf_printf(&j->out, "  service     %s%s\n", tg_survey_ci_name(s->ci),
                  assumed && !tg_sv_has(s->remote, TG_SV("github"))
                      ? " (assumed; GitLab and others: docs/ci.md)"
                      : "");
    if (!write_all(j, err))
        return false;
    if (!gates_tests(j)) {
        tg_buf_puts(&j->out, "selftest\n");
        for (size_t i = 0; i < j->survey.n_suites; i++) {
            const struct tg_survey_suite *one = &j->survey.suites[i];
            struct tg_err why = TG_ERR_INIT;
            TG_AUTO(tg_doc_drop) struct tg_doc *doc = NULL;
            if (!one->n) {
                tg_buf_printf(&j->out, "  %-10.*s  not yet: there is no trace to try it on\n",
                              TG_SV_ARG(one->name));
                continue;
            }
            if (one->other_steps) {
                tg_buf_printf(&j->out,
                              "  %-10.*s  not yet: the policy is for the steps of bench.py, which "
                              "these traces do not have\n",
                              TG_SV_ARG(one->name));
                continue;
            }
            doc = selftest(j, one, &why);
            if (doc)
                put_answer(j, one, doc);
            else
                tg_buf_printf(&j->out, "  %-10.*s  could not run: %s\n", TG_SV_ARG(one->name),
                              why.message);
        }
    }
    put_next(j);
    return tg_io_put(j->io, tg_buf_sv(&j->out), err);
}

static int init_run(const struct tg_cmd_call *c, struct tg_err *err)
{
    struct job j = { .o = c->opts, .io = c->io, .repo = c->repo, .arena = c->arena };
    int code = !run_job(&j, c->args, err) ? tg_err_exit_code(err->kind) : j.survives ? 1 : 0;
    tg_setup_files_release(&j.files);
    tg_buf_release(&j.out);
    tg_buf_release(&j.changes);
    return code;
}

const struct tg_cmd tg_cmd_init = {
    .name = "init",
    .summary = "set up a gate: policy, benchmark and CI workflow",
    .synopsis = "[TRACE|FOLDER]... [--for PROGRAM] [--store] [--nightly]",
    .about = "Looks at the traces (the named ones, else those below the current folder; a named "
             "FOLDER without traces is a program of its own, as in a monorepo) and at the "
             "repository: runs, ranks, steps, annotations that can serve as steps, device, stacks, "
             "remote, CI service. It prints what it found and asks nothing. Writes .tracegate.yml, "
             "a bench.py if there is none, and the workflow of the CI service, at the root of the "
             "repository. Existing files stay as they are, and the difference to what init would "
             "write is shown; --force replaces them.\n\n"
             "--for says what writes the traces if nothing in the repository does: the bench then "
             "starts vLLM, SGLang, torchtitan, Megatron or torchrun with its profiler, and the "
             "policy has its ranks and steps. --for pytest writes a test that pytest gates, "
             "instead of bench and policy (torch-tracegate brings the plugin).\n\n"
             "Then selftest tries the policy on the traces: they must pass against themselves, and "
             "injected regressions must fail. The last lines are the next three commands.\n\n"
             "By default base and change run in turn on one machine: on hosted runners durations "
             "cannot be judged otherwise. With --store the runs of the target branch are kept in "
             "git as baselines; this needs identical machines.\n\n"
             "Exit codes: 0 done, 1 selftest rejects the policy on these traces, 2 bad command "
             "line, 3 a named trace is unusable.",
    .options = init_options,
    .opts_size = sizeof(struct init_opts),
    .run = init_run,
};
