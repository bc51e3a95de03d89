#include "cmd/setup/files.h"

#include <stdlib.h>
#include <strings.h>

#include "cmd/setup/templates.h"
#include "core/base/utf8.h"
#include "policy/verdict/verdict.h"
#include "reporters/escape.h"

#define SELF_HOSTED "[self-hosted, linux, x64] # machines of your own: alike, and one job at a time"

#define WITH_GPU                                                                                   \
    "[self-hosted, linux, x64, gpu] # pull requests of forks run here, too: "                      \
    "examples/workflows/gpu.yml lets somebody read them first"

/* ---- editing a template ---- */

/* Every `from`. */
static void replace(struct tg_buf *text, const char *from, const char *to)
{
    struct tg_buf out = { 0 };
    const char *at = text->p, *hit;
    while ((hit = strstr(at, from))) {
        tg_buf_add(&out, (tg_sv){ at, (size_t)(hit - at) });
        tg_buf_puts(&out, to);
        at = hit + strlen(from);
    }
    tg_buf_puts(&out, at);
    tg_buf_release(text);
    *text = out;
}

/* From the line that begins with `first`, blanks apart, through the one that begins with `last`. */
static void replace_lines(struct tg_buf *text, const char *first, const char *last, const char *to)
{
    struct tg_buf out = { 0 };
    tg_sv rest = tg_buf_sv(text);
    bool within = false, done = false;
    while (rest.n) {
        tg_sv line = tg_sv_cut(&rest, '\n'), words = tg_sv_past(line, " ");
        if (!done && !within && tg_sv_starts(words, tg_sv_of(first))) {
            within = true;
            tg_buf_puts(&out, to);
        }
        if (!within) {
            tg_buf_add(&out, line);
            tg_buf_putc(&out, '\n');
        } else if (tg_sv_starts(words, tg_sv_of(last))) {
            within = false;
            done = true;
        }
    }
    tg_buf_release(text);
    *text = out;
}

static struct tg_buf *add_file(struct tg_setup_files *f, const struct tg_survey *s,
                               const char *path, const char *text)
{
    struct tg_setup_file *one = TG_PUSH(f->v, f->n, f->cap);
    *one = (struct tg_setup_file){ .path = tg_arena_sv(s->arena, tg_sv_of(path)) };
    tg_buf_puts(&one->text, text);
    return &one->text;
}

void tg_setup_files_release(struct tg_setup_files *f)
{
    for (size_t i = 0; i < f->n; i++)
        tg_buf_release(&f->v[i].text);
    free(f->v);
    *f = (struct tg_setup_files){ 0 };
}

/* ---- names in YAML and in commands ---- */

/* A word that is itself in YAML and in a shell, and is not a number or a word of YAML. */
static bool is_plain_word(tg_sv text)
{
    static const char *const words[] = {
        "true", "false", "yes", "no", "on", "off", "null", "y", "n"
    };
    for (size_t i = 0; i < text.n; i++)
        if (!tg_is_word(text.p[i]) && !memchr("/.-", text.p[i], 3))
            return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (text.n == strlen(words[i]) && strncasecmp(text.p, words[i], text.n) == 0)
            return false;
    return text.n && (tg_is_letter(text.p[0]) || text.p[0] == '_' || tg_sv_eq(text, TG_SV(".")));
}

/* A scalar of YAML: as it is, or quoted if it would be read as something else. */
static const char *scalar(const struct tg_survey *s, tg_sv text)
{
    TG_BUF out = { 0 };
    if (is_plain_word(text))
        return tg_arena_sv(s->arena, text).p;
    tg_esc_yaml(&out, text);
    return tg_arena_sv(s->arena, tg_buf_sv(&out)).p;
}

/* The same in double quotes, where our own files have them. */
static const char *quoted(const struct tg_survey *s, tg_sv text)
{
    TG_BUF visible = { 0 }, out = { 0 };
    tg_utf8_visible(&visible, text);
    if (tg_sv_eq(tg_buf_sv(&visible), text) && !memchr(text.p, '"', text.n) &&
        !memchr(text.p, '\\', text.n))
        return tg_arena_printf(s->arena, "\"%.*s\"", TG_SV_ARG(text));
    tg_esc_yaml(&out, text);
    return tg_arena_sv(s->arena, tg_buf_sv(&out)).p;
}

/* GitHub evaluates "${{ … }}" in every value of a workflow, whatever quotes are around it. */
static tg_sv inert(const struct tg_survey *s, tg_sv text)
{
    TG_BUF out = { 0 };
    while (text.n) {
        if (tg_sv_skip(&text, TG_SV("${{"))) {
            tg_buf_puts(&out, "${{ '${{' }}");
            continue;
        }
        tg_buf_putc(&out, text.p[0]);
        text = tg_sv_from(text, 1);
    }
    return tg_arena_sv(s->arena, tg_buf_sv(&out));
}

/* A word of a shell command: a folder may be called "$(x)", or "-x". */
static const char *word(const struct tg_survey *s, tg_sv text)
{
    TG_BUF out = { 0 };
    const char *here = tg_sv_starts(text, TG_SV("-")) ? "./" : "";
    if (is_plain_word(text))
        return tg_arena_sv(s->arena, text).p;
    tg_buf_quote(&out, tg_arena_printf(s->arena, "%s%.*s", here, TG_SV_ARG(text)));
    return tg_arena_sv(s->arena, tg_buf_sv(&out)).p;
}

/* A command as the value of `run:`; one of plain words stays as it is. */
static const char *command(const struct tg_survey *s, tg_sv text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!tg_is_word(text.p[i]) && !memchr(" /.-()&", text.p[i], 7))
            return scalar(s, inert(s, text));
    return tg_arena_sv(s->arena, text).p;
}

/* ---- the bench ---- */

static bool is_ours(enum tg_survey_bench bench)
{
    return bench != TG_BENCH_THEIRS && bench != TG_BENCH_OTHER;
}

static void add_bench(struct tg_setup_files *f, const struct tg_survey *s,
                      const struct tg_survey_suite *one)
{
    enum tg_survey_bench bench = one->bench;
    const char *path = tg_survey_in(s, one->program, "bench.py");
    for (size_t i = 0; i < f->n; i++)
        if (tg_sv_eq(f->v[i].path, tg_sv_of(path)))
            return; /* two suites of one program */
    struct tg_buf *text = add_file(f, s, path,
                                   bench == TG_BENCH_SERVER   ? tg_template_server
                                   : bench == TG_BENCH_LAUNCH ? tg_template_launch
                                                              : tg_template_bench);
    replace(text, "bench_server.py", "bench.py");
    replace(text, "bench_launch.py", "bench.py");
    /* Of a template for several frameworks, the part for this one; a server that nobody named is
     * vLLM. */
    static const enum tg_program pairs[][2] = { { TG_PROGRAM_SGLANG, TG_PROGRAM_VLLM },
                                                { TG_PROGRAM_MEGATRON, TG_PROGRAM_TORCHTITAN } };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        bool first = one->framework == pairs[i][0];
        const char *drop = tg_program_info(pairs[i][first])->name;
        const char *keep = tg_program_info(pairs[i][!first])->name;
        replace_lines(text, tg_arena_printf(s->arena, "# %s", drop),
                      tg_arena_printf(s->arena, "# end of %s", drop), "");
        replace(text, tg_arena_printf(s->arena, "    # %s\n", keep), "");
        replace(text, tg_arena_printf(s->arena, "    # end of %s\n", keep), "");
    }
    for (size_t ranks = 1; ranks <= 8; ranks += 7) /* as the templates have it */
        if (one->ranks && one->ranks != ranks)
            replace(text, tg_arena_printf(s->arena, "RUNS, RANKS = 5, %zu\n", ranks),
                    tg_arena_printf(s->arena, "RUNS, RANKS = 5, %zu\n", one->ranks));
    if (bench == TG_BENCH_CALLS)
        replace_lines(text, "# example", "# end of the example",
                      "    from train import train_step\n\n    return train_step\n");
}

/* ---- the policy ---- */

static void put_suite(struct tg_buf *out, const struct tg_survey *s,
                      const struct tg_survey_suite *one, const char *name, bool stored)
{
    bool ours = is_ours(one->bench) || !one->n || one->outside;
    const char *files =
        ours ? tg_survey_in(s, one->program, "out/run*.json.gz") : one->form.files.p;
    tg_buf_printf(out, "  - name: %s\n    trace: {files: %s", scalar(s, tg_sv_of(name)),
                  quoted(s, tg_sv_of(files)));
    if (ours)
        tg_buf_puts(out, ", run: 'run(\\d+)'");
    else if (one->form.run.n && (one->ranks < 2 || one->form.rank.n)) /* else the traces say it */
        TG_PUT(out, tg_esc_yaml, ", run: {}", one->form.run);
    if (ours && one->ranks > 1)
        tg_buf_puts(out, ", rank: 'rank(\\d+)'");
    else if (!ours && one->form.rank.n)
        TG_PUT(out, tg_esc_yaml, ", rank: {}", one->form.rank);
    tg_buf_puts(out, "}   # fresh traces\n");
    if (stored)
        tg_buf_puts(out, "    baseline: stored   # in refs/tracegate/ of this repository\n");
    else if (one->kept.n)
        tg_buf_printf(out, "    baseline: %s   # in the tree of the merge base\n",
                      quoted(s, one->kept));
    if (one->ranks > 1)
        tg_buf_printf(out, "    ranks: {expect: %zu}\n", one->ranks);
    if (one->window.name.n)
        tg_buf_printf(out, "    window: {by: annotation, name: %s%s}\n",
                      quoted(s, one->window.name), one->window.count > 3 ? ", skip_first: 1" : "");
    else if (one->n && !one->marked && !one->other_steps)
        tg_buf_puts(out, "    window: {by: trace}   # no steps in the traces: each trace is one\n");
}

/* What all suites have: guards hold for each of them. */
static void put_guards(struct tg_buf *out, const struct tg_survey *s)
{
    size_t steps = SIZE_MAX;
    for (size_t i = 0; i < s->n_suites; i++) {
        const struct tg_survey_suite *one = &s->suites[i];
        size_t n = one->marked ? one->least_steps : one->window.count > 3 ? 3 : 0;
        if (one->n && !one->other_steps && n < steps)
            steps = n;
    }
    if (steps == SIZE_MAX)
        steps = 3;
    bool has_ops = s->n_suites == 1 && s->suites[0].n_ops && !s->suites[0].other_steps;
    if (!steps && !has_ops)
        return;
    tg_buf_puts(out, "require:   # a run without it did not run this program: inconclusive\n");
    if (steps)
        tg_buf_printf(out, "  steps: %zu\n", steps < 3 ? steps : 3);
    if (!has_ops)
        return;
    tg_buf_puts(out, "  ops: [");
    for (size_t k = 0; k < s->suites[0].n_ops; k++)
        tg_buf_printf(out, "%s%s", k ? ", " : "", quoted(s, s->suites[0].ops[k]));
    tg_buf_puts(out, "]\n");
}

static bool has_device(const struct tg_survey *s)
{
    bool any = false;
    for (size_t i = 0; i < s->n_suites; i++)
        any |= s->suites[i].has_device || tg_program_info(s->suites[i].framework)->gpu;
    return any;
}

void tg_setup_policy(struct tg_buf *out, const struct tg_survey *s, const struct tg_setup_opts *o)
{
    tg_buf_puts(out,
                "# yaml-language-server: $schema=tracegate-v1.schema.json\n"
                "# The schema: tracegate policy schema >tracegate-v1.schema.json\n"
                "version: 1\n"
                "decisions: " TG_TEXT(
                    TG_DECISIONS) "   # a release that judges otherwise stops here and says so\n"
                                  "extends: [\"tracegate:recommended\"]\n"
                                  "suites:\n");
    for (size_t i = 0; i < s->n_suites; i++)
        put_suite(out, s, &s->suites[i], s->suites[i].name.p, o->store);
    if (o->nightly)
        put_suite(out, s, &s->suites[0], "nightly", true);
    put_guards(out, s);
    /* Comments: which limits fit depends on the program. */
    if (!has_device(s))
        return;
    tg_buf_puts(out,
                "# What the devices wait for, as changes or as budgets (max, min), which need no "
                "baseline.\n"
                "# All metrics: tracegate policy metrics. Limits that fit: tracegate calibrate.\n"
                "#rules:\n"
                "#  - {id: idle, metric: idle, warn: {pp: 3pp}, fail: {pp: 8pp}}\n"
                "#  - {id: late-launches, metric: launch_gap, fail: {pct: 15%, abs: 1%step}}\n"
                "#  - {id: bare-comm, metric: comm_exposed, fail: {pct: 10%, abs: 1%step}, "
                "optional: true}\n"
                "#  - {id: idle-budget, metric: idle, fail: {max: 60%}}\n");
}

/* ---- workflows ---- */

static void put_place(struct tg_buf *text, const struct tg_survey *s, const struct tg_setup_opts *o)
{
    if (o->action) {
        replace(text, " # replace both words: docs/github-actions.md, step 1", "");
        replace(text, TG_SETUP_PLACEHOLDER, o->action);
    }
    /* A branch as a filter of GitHub has it, where '+', '!' and others have a meaning. */
    TG_BUF filter = { 0 };
    for (size_t i = 0; i < s->branch.n; i++)
        tg_buf_printf(&filter, memchr("*+?[]!\\", s->branch.p[i], 7) ? "\\%c" : "%c",
                      s->branch.p[i]);
    replace(text, "branches: [main]",
            tg_arena_printf(s->arena, "branches: [%s]", scalar(s, tg_buf_sv(&filter))));
}

/* Only what is there can be installed from. */
static void put_requirements(struct tg_buf *text, const struct tg_survey *s, tg_sv folder)
{
    const char *to = "python3 -m pip install torch";
    if (!tg_survey_has(s, folder, "requirements.txt") &&
        tg_survey_has(s, TG_SV(""), "requirements.txt"))
        folder = TG_SV("");
    if (tg_survey_has(s, folder, "requirements.txt"))
        to = tg_arena_printf(s->arena, "python3 -m pip install -r %s",
                             word(s, tg_sv_of(tg_survey_in(s, folder, "requirements.txt"))));
    else if (tg_survey_has(s, folder, "pyproject.toml"))
        to = tg_arena_printf(s->arena, "python3 -m pip install torch %s",
                             word(s, TG_SV_PRINTF(s->arena, "./%.*s", TG_SV_ARG(folder))));
    replace(text, "python3 -m pip install -r requirements.txt", command(s, tg_sv_of(to)));
}

/* The matrix of a repository with several programs, or with one that is not at the root. */
static void put_matrix(struct tg_buf *text, const struct tg_survey *s)
{
    TG_BUF rows = { 0 };
    bool all = true;
    for (size_t i = 0; i < s->n_suites; i++) {
        const struct tg_survey_suite *one = &s->suites[i];
        tg_buf_printf(&rows, "          - {suite: %s, folder: %s}\n", scalar(s, one->name),
                      scalar(s, one->program.n ? inert(s, one->program) : TG_SV(".")));
        all &= tg_survey_has(s, one->program, "requirements.txt");
    }
    replace_lines(text, "- {suite: train", "- {suite: serve", rows.p);
    replace_lines(text, "# Two suites of one repository", "# A change elsewhere",
                  "# Each suite with its own folder, bench, reports and comment; the target branch "
                  "and the pull request run in\n"
                  "# turn on one machine. Make the checks \"gate (SUITE)\" required.\n");
    replace(text, "-- \"$FOLDER\" shared .tracegate.yml ':!*.md'", "-- . ':!docs' ':!*.md'");
    replace(text, "nothing of it changed", "only documents changed");
    if (!all)
        replace(text, "python3 -m pip install -r \"$FOLDER/requirements.txt\"",
                tg_survey_has(s, TG_SV(""), "requirements.txt")
                    ? "python3 -m pip install -r requirements.txt"
                    : "python3 -m pip install torch # and what the suites need");
}

static void add_stored(struct tg_setup_files *f, const struct tg_survey *s,
                       const struct tg_setup_opts *o)
{
    static const struct {
        const char *path, *text, *machine;
    } parts[] = { { ".github/workflows/tracegate.yml", tg_template_pull_request,
                    "ubuntu-24.04 # the machine that records must be like the one that recorded "
                    "the baseline" },
                  { ".github/workflows/tracegate-record.yml", tg_template_record,
                    "ubuntu-24.04" } };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct tg_buf *text = add_file(f, s, parts[i].path, parts[i].text);
        replace(text, parts[i].machine, has_device(s) ? WITH_GPU : SELF_HOSTED);
        put_place(text, s, o);
        put_requirements(text, s, s->suites[0].program);
        /* The suites' own files, where one folder "out" does not hold them all. */
        bool named = o->nightly || s->suites[0].ranks > 1;
        TG_BUF bench = { 0 }, names = { 0 };
        const char *first;
        for (size_t k = 0; k < s->n_suites; k++) {
            const struct tg_survey_suite *one = &s->suites[k];
            tg_buf_printf(&bench, "%s(cd %s && python3 bench.py)", k ? " && " : "",
                          one->program.n ? word(s, one->program) : ".");
            tg_buf_printf(&names, "            %.*s\n", TG_SV_ARG(one->name));
        }
        if (s->n_suites > 1 || s->suites[0].program.n) {
            first = s->suites[0].program.n ? bench.p : "python3 bench.py";
            replace(text, "python3 bench.py # writes out/run0.json.gz … out/run4.json.gz",
                    command(s, tg_sv_of(s->n_suites > 1 ? bench.p : first)));
            replace(text, "- run: python3 bench.py\n",
                    tg_arena_printf(s->arena, "- run: %s\n", command(s, tg_buf_sv(&bench))));
            replace(text, "          path: out\n          if-no-files",
                    "          path: \"**/out\"\n          if-no-files");
            replace(text, "          path: out\n", "          path: .\n");
            named = true;
        }
        if (named)
            replace(text, "          runs: \"true\"\n          traces: out/run*.json.gz\n",
                    tg_arena_printf(s->arena, "          suites: |\n%s", names.p));
    }
}

static void add_nightly(struct tg_setup_files *f, const struct tg_survey *s,
                        const struct tg_setup_opts *o)
{
    struct tg_buf *text =
        add_file(f, s, ".github/workflows/tracegate-nightly.yml", tg_template_nightly);
    tg_sv folder = s->suites[0].program;
    if (o->store || has_device(s))
        replace(text, "ubuntu-24.04", has_device(s) ? WITH_GPU : SELF_HOSTED);
    put_place(text, s, o);
    put_requirements(text, s, folder);
    if (folder.n)
        replace(text, "path: out\n",
                tg_arena_printf(s->arena, "path: %s\n",
                                scalar(s, inert(s, tg_sv_of(tg_survey_in(s, folder, "out"))))));
    replace(text, "python3 bench.py --all",
            folder.n
                ? command(s, TG_SV_PRINTF(s->arena, "(cd %s && python3 bench.py)", word(s, folder)))
                : "python3 bench.py");
}

void tg_setup_files(struct tg_setup_files *out, const struct tg_survey *s,
                    const struct tg_setup_opts *o)
{
    *out = (struct tg_setup_files){ 0 };
    if (s->suites[0].framework == TG_PROGRAM_PYTEST) {
        /* A test instead of a bench: the plugin of pytest brings a policy of its own. */
        if (!s->has_gated_tests)
            (void)add_file(out, s, "tests/test_performance.py", tg_template_tests);
        if (s->ci == TG_CI_GITHUB) {
            struct tg_buf *text =
                add_file(out, s, ".github/workflows/tracegate.yml", tg_template_pytest);
            put_place(text, s, o);
            put_requirements(text, s, s->suites[0].program);
        }
        return;
    }
    struct tg_buf *policy = add_file(out, s, ".tracegate.yml", "");
    tg_setup_policy(policy, s, o);
    for (size_t i = 0; i < s->n_suites; i++)
        if (is_ours(s->suites[i].bench) && s->suites[i].bench != TG_BENCH_WRITTEN)
            add_bench(out, s, &s->suites[i]);
    if (!tg_survey_has(s, TG_SV(""), ".gitignore"))
        (void)add_file(out, s, ".gitignore", "out/\n");
    if (s->ci == TG_CI_GITHUB && o->store)
        add_stored(out, s, o);
    else if (s->ci == TG_CI_GITHUB) {
        bool simple = s->n_suites == 1 && !s->suites[0].program.n;
        struct tg_buf *ab = add_file(out, s, ".github/workflows/tracegate.yml",
                                     simple ? tg_template_ab : tg_template_monorepo);
        put_place(ab, s, o);
        if (has_device(s)) /* hosted runners have none */
            replace(ab, "ubuntu-24.04", WITH_GPU);
        if (!simple) {
            put_matrix(ab, s);
        } else {
            put_requirements(ab, s, TG_SV(""));
            if (o->nightly) /* the policy has two suites then */
                replace(ab, "          mode: ab\n",
                        tg_arena_printf(s->arena, "          mode: ab\n          suites: %.*s\n",
                                        TG_SV_ARG(s->suites[0].name)));
        }
    } else if (s->ci == TG_CI_GITLAB)
        (void)add_file(out, s, ".gitlab/tracegate.yml", tg_template_gitlab);
    else if (s->ci == TG_CI_BUILDKITE)
        (void)add_file(out, s, ".buildkite/tracegate.yml", tg_template_buildkite);
    else if (s->ci == TG_CI_SLURM)
        replace(add_file(out, s, "tracegate.sbatch", tg_template_slurm), "origin/main",
                tg_arena_printf(s->arena, "origin/%.*s", TG_SV_ARG(s->branch)));
    if (s->ci == TG_CI_GITHUB && o->nightly)
        add_nightly(out, s, o);
}
