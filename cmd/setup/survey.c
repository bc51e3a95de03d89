#include "cmd/setup/survey.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/base/look.h"
#include "core/base/sort.h"
#include "core/baseline/spawn.h"

#define MAX_DEPTH 4
#define MAX_SCRIPT ((size_t)1 << 20) /* of a bench.py that is looked into */
#define MAX_FOUND 512                /* traces that are looked for and not named */

/* ---- the repository ---- */

/* In the order in which they are looked for; Slurm has no file that says so. `gate` is what init
 * writes. */
static const struct service {
    const char *name, *file, *gate;
} services[] = {
    [TG_CI_NONE] = { "none", NULL, NULL },
    [TG_CI_GITHUB] = { "GitHub Actions", ".github", ".github/workflows/tracegate.yml" },
    [TG_CI_GITLAB] = { "GitLab CI", ".gitlab-ci.yml", ".gitlab/tracegate.yml" },
    [TG_CI_JENKINS] = { "Jenkins", "Jenkinsfile", NULL },
    [TG_CI_BUILDKITE] = { "Buildkite", ".buildkite", ".buildkite/tracegate.yml" },
    [TG_CI_SLURM] = { "Slurm", NULL, "tracegate.sbatch" },
};

const char *tg_survey_ci_name(enum tg_survey_ci ci)
{
    return services[ci].name;
}

const char *tg_survey_path(const struct tg_survey *s, tg_sv path)
{
    return tg_arena_printf(s->arena, "%s%.*s", s->root, TG_SV_ARG(path));
}

/* What `git ARGS` prints on its first line; "" if it fails. */
static tg_sv ask_git(const struct tg_survey *s, const char *const *argv)
{
    struct tg_spawn spawn = { .argv = argv, .timeout_ms = 10000, .max_out = 65536 };
    struct tg_spawned result;
    TG_BUF out = { 0 };
    tg_sv text, line = TG_SV("");
    tg_spawn_run(&spawn, &out, &result);
    text = tg_buf_sv(&out);
    if (result.end == TG_SPAWN_EXIT && result.code == 0)
        line = tg_arena_sv(s->arena, tg_sv_cut(&text, '\n'));
    return line;
}

/* "https://user:token@host/x" -> "https://host/x" */
static tg_sv without_credentials(tg_sv url, struct tg_arena *a)
{
    const char *text = tg_arena_sv(a, url).p, *host = strstr(text, "://"), *at;
    if (!host)
        return url;
    host += 3;
    at = memrchr(host, '@', strcspn(host, "/"));
    return at ? TG_SV_PRINTF(a, "%.*s%s", (int)(host - text), text, at + 1) : url;
}

const char *tg_survey_in(const struct tg_survey *s, tg_sv folder, const char *name)
{
    return tg_arena_printf(s->arena, "%.*s%s%s", TG_SV_ARG(folder), folder.n ? "/" : "", name);
}

static void keep_unseen(const struct tg_survey *s, const struct tg_err *why)
{
    if (s->unseen->kind == TG_ERR_NONE && why->kind == TG_ERR_IO)
        *s->unseen = *why;
}

static bool seen(const struct tg_survey *s, const char *path)
{
    struct tg_err why = TG_ERR_INIT;
    enum tg_seen there = tg_look_at(path, NULL, &why);
    keep_unseen(s, &why);
    return there == TG_SEEN;
}

/* The text of a file, in the arena; "": there is none, or it is too large to be looked into. */
static tg_sv text_of(const struct tg_survey *s, tg_sv folder, const char *name)
{
    const char *path = tg_survey_path(s, tg_sv_of(tg_survey_in(s, folder, name)));
    struct tg_err why = TG_ERR_INIT;
    TG_BUF text = { 0 };
    bool ok = seen(s, path) && tg_file_read(&text, path, MAX_SCRIPT, &why);
    keep_unseen(s, &why);
    return ok ? tg_arena_sv(s->arena, tg_buf_sv(&text)) : TG_SV("");
}

/* The names in a folder of the repository; none if it is not there. */
static size_t names_in(const struct tg_survey *s, tg_sv folder, const char ***names)
{
    struct tg_err why = TG_ERR_INIT;
    size_t n = 0;
    if (tg_look_in(tg_survey_path(s, folder), s->arena, names, &n, &why) == TG_SEEN_FAILED)
        keep_unseen(s, &why);
    return n;
}

bool tg_survey_has(const struct tg_survey *s, tg_sv folder, const char *name)
{
    return seen(s, tg_survey_path(s, tg_sv_of(tg_survey_in(s, folder, name))));
}

/* Files say what is in use, a gate before all; the remote says what could be. */
static enum tg_survey_ci find_ci(const struct tg_survey *s)
{
    bool has_batch_job = false;
    const char **names;
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k <= TG_CI_SLURM; k++) {
            const char *file = pass ? services[k].file : services[k].gate;
            if (file && tg_survey_has(s, TG_SV(""), file))
                return (enum tg_survey_ci)k;
        }
    if (tg_sv_has(s->remote, TG_SV("gitlab")))
        return TG_CI_GITLAB;
    if (tg_sv_has(s->remote, TG_SV("github")))
        return TG_CI_GITHUB;
    size_t n = names_in(s, TG_SV(""), &names);
    for (size_t i = 0; i < n; i++)
        has_batch_job |= tg_sv_ends(tg_sv_of(names[i]), TG_SV(".sbatch")) ||
                         tg_sv_ends(tg_sv_of(names[i]), TG_SV(".slurm"));
    return has_batch_job ? TG_CI_SLURM : TG_CI_GITHUB;
}

static tg_sv find_branch(const struct tg_survey *s)
{
    const char *const head[] = { "git", "symbolic-ref", "--short", "refs/remotes/origin/HEAD",
                                 NULL };
    const char *const here[] = { "git", "symbolic-ref", "--short", "HEAD", NULL };
    static const char *const usual[] = { "main", "master", NULL };
    tg_sv name = ask_git(s, head);
    if (tg_sv_skip(&name, TG_SV("origin/")))
        return name;
    for (size_t i = 0; usual[i]; i++) {
        const char *ref = tg_arena_printf(s->arena, "refs/heads/%s", usual[i]);
        const char *const known[] = { "git", "rev-parse", "--verify", "--quiet", ref, NULL };
        if (ask_git(s, known).n)
            return tg_sv_of(usual[i]);
    }
    name = ask_git(s, here);
    return name.n ? name : TG_SV("main");
}

/* What the gate's workflow says after `uses:`, where that is a repository called tracegate. */
static const char *find_action(const struct tg_survey *s)
{
    tg_sv rest = text_of(s, TG_SV(""), ".github/workflows/tracegate.yml");
    while (rest.n) {
        tg_sv line = tg_sv_cut(&rest, '\n'), place;
        (void)tg_sv_cut(&line, ':');
        line = tg_sv_past(line, " ");
        place = tg_sv_cut(&line, ' ');
        if (tg_sv_has(place, TG_SV("/tracegate@")) && !tg_sv_eq(place, TG_SV(TG_SETUP_PLACEHOLDER)))
            return tg_arena_sv(s->arena, place).p;
    }
    return NULL;
}

static bool look_at_repository(struct tg_survey *s, struct tg_err *err)
{
    const char *const origin[] = { "git", "remote", "get-url", "origin", NULL };
    const struct tg_git *git;
    if (tg_repo_look(s->repo, err) == TG_SEEN_FAILED)
        return false;
    git = s->repo->git;
    s->in_git = git && tg_git_root(git);
    s->root = s->in_git ? tg_arena_sv(s->arena, tg_sv_of(tg_git_root(git))).p : "./";
    s->prefix = s->in_git ? tg_arena_sv(s->arena, tg_sv_of(tg_git_prefix(git))).p : "";
    s->remote = TG_SV("");
    s->branch = TG_SV("main");
    if (s->in_git) {
        s->remote = without_credentials(ask_git(s, origin), s->arena);
        s->branch = find_branch(s);
    }
    s->ci = find_ci(s);
    s->action = find_action(s);
    /* The gate may have come by a branch of the first name. */
    struct tg_commit at;
    struct tg_err ignored = TG_ERR_INIT;
    s->topic = "performance-gate";
    for (int k = 2; git && tg_git_resolve(s->repo->git, s->topic, s->arena, &at, &ignored); k++)
        s->topic = tg_arena_printf(s->arena, "performance-gate-%d", k);
    return true;
}

/* ---- which traces ---- */

struct trace_path {
    const char *path; /* as it is opened */
    tg_sv relative;   /* to the root; n 0: outside */
    tg_sv group;
};
struct trace_paths {
    struct trace_path *v;
    size_t n, cap;
    tg_sv *programs; /* folders that were named and hold no traces */
    size_t n_programs, programs_cap;
    struct tg_arena *arena;
};

static void add_path(struct trace_paths *all, const struct tg_survey *s, const char *path)
{
    char full[PATH_MAX], root[PATH_MAX];
    struct trace_path *t = TG_PUSH(all->v, all->n, all->cap);
    *t = (struct trace_path){ .path = tg_arena_sv(all->arena, tg_sv_of(path)).p };
    if (!realpath(path, full) || !realpath(s->root, root)) {
        struct tg_err why = TG_ERR_INIT;
        if (tg_look_answer("cannot look at", path, errno, &why) == TG_SEEN_FAILED)
            keep_unseen(s, &why);
    } else {
        size_t n = strlen(root);
        if (n == 1)
            n = 0; /* the root of the file system */
        if (strncmp(full, root, n) == 0 && full[n] == '/')
            t->relative = tg_arena_sv(all->arena, tg_sv_of(full + n + 1));
    }
    t->group = tg_path_group(t->relative.n ? t->relative : tg_sv_of(t->path), all->arena);
}

static bool look_below(struct trace_paths *all, const struct tg_survey *s, const char *dir,
                       int depth, struct tg_err *err)
{
    static const char *const skipped[] = { "node_modules", "venv",  "site-packages",
                                           "__pycache__",  "tests", NULL };
    const char **names;
    size_t n;
    bool ok = tg_look_in(dir, all->arena, &names, &n, err) != TG_SEEN_FAILED;
    for (size_t i = 0; ok && i < n && all->n < MAX_FOUND; i++) {
        const char *path =
            strcmp(dir, ".") == 0 ? names[i] : tg_arena_printf(all->arena, "%s/%s", dir, names[i]);
        struct stat st;
        if (names[i][0] == '.' || tg_sv_index(skipped, tg_sv_of(names[i])) >= 0)
            continue;
        if (lstat(path, &st) != 0) {
            ok = tg_look_answer("cannot look at", path, errno, err) != TG_SEEN_FAILED;
            continue;
        }
        if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH)
            ok = look_below(all, s, path, depth + 1, err);
        /* A JSON file may be anything; in a folder for outputs, or called a trace, it is worth a
         * look. */
        tg_sv name = tg_sv_of(names[i]), in = tg_sv_of(dir);
        if (S_ISREG(st.st_mode) && tg_file_is_input_name(name) &&
            (!tg_sv_ends(name, TG_SV(".json")) || tg_sv_has(name, TG_SV("trace")) ||
             tg_path_is_output(in) || tg_path_is_baseline(in)))
            add_path(all, s, path);
    }
    return ok;
}

static bool find_traces(struct trace_paths *all, const struct tg_survey *s,
                        const struct tg_strs *args, struct tg_err *err)
{
    struct tg_input_list list = { 0 };
    for (size_t i = 0; i < args->n; i++) {
        if (tg_file_is_dir(args->v[i])) {
            /* A folder of traces, or one of a program: what it has in folders below, or nothing
             * recorded yet. */
            const char *dir = args->v[i];
            const char **names;
            size_t n, before = all->n;
            if (tg_look_in(dir, all->arena, &names, &n, err) == TG_SEEN_FAILED)
                return false;
            for (size_t k = 0; k < n; k++) {
                const char *path =
                    tg_arena_printf(all->arena, "%s%s%s", dir,
                                    tg_sv_ends(tg_sv_of(dir), TG_SV("/")) ? "" : "/", names[k]);
                if (tg_file_is_input_name(tg_sv_of(names[k])) && !tg_file_is_dir(path))
                    add_path(all, s, path);
            }
            if (all->n == before && !look_below(all, s, dir, 1, err))
                return false;
            if (all->n == before) {
                size_t len = strlen(dir);
                while (len > 1 && dir[len - 1] == '/')
                    len--;
                *TG_PUSH(all->programs, all->n_programs, all->programs_cap) = tg_arena_sv(
                    all->arena,
                    (tg_sv){ dir, tg_sv_eq((tg_sv){ dir, len }, TG_SV(".")) ? 0 : len });
            }
        } else if (!tg_inputs_add(&list, args->v[i], s->repo, all->arena, err)) {
            return false;
        }
    }
    for (size_t i = 0; i < list.n; i++)
        add_path(all, s, list.v[i].label);
    return args->n || look_below(all, s, ".", 0, err);
}

/* ---- what is in them ---- */

/*
 * Operators that a program asks for by name and that every build of PyTorch has. What a backend
 * or a compiler makes of them differs, and what only looks at a tensor in another way comes and
 * goes.
 */
static bool is_stable_op(tg_sv name)
{
    static const char ops[] =
        "linear matmul mm addmm bmm conv1d conv2d conv3d convolution embedding batch_norm "
        "group_norm layer_norm scaled_dot_product_attention softmax";
    return tg_sv_skip(&name, TG_SV("aten::")) && tg_sv_lists(tg_sv_of(ops), ' ', name);
}

static double time_in_every_step(const struct tg_shard *s, tg_sv name)
{
    double sum = 0;
    for (size_t k = 0; k < s->n_steps; k++) {
        uint64_t count = 0;
        for (size_t r = 0; r < s->n_rows; r++)
            if (s->rows[r].key->kind == TG_KIND_OP && tg_sv_eq(s->rows[r].key->name, name)) {
                count += s->rows[r].count[k];
                sum += (double)s->rows[r].total[k];
            }
        if (!count)
            return 0;
    }
    return sum;
}

static void choose_ops(struct tg_survey_suite *out, const struct tg_summary *all,
                       struct tg_arena *a)
{
    const struct tg_shard *first = all->shards[0];
    double value[TG_SURVEY_OPS] = { 0 };
    tg_sv last = TG_SV("");
    for (size_t r = 0; r < first->n_rows && !out->is_compiled; r++) {
        tg_sv name = first->rows[r].key->name;
        if (first->rows[r].key->kind != TG_KIND_OP || tg_sv_eq(name, last) || !is_stable_op(name))
            continue;
        last = name; /* rows are in order of kind and name */
        double v = 0, one = 1;
        for (size_t i = 0; i < all->n && one > 0; i++) {
            one = time_in_every_step(all->shards[i], name);
            v = one > 0 ? v + one : 0;
        }
        for (size_t k = 0; k < TG_SURVEY_OPS; k++) {
            if (v <= value[k])
                continue;
            for (size_t m = TG_SURVEY_OPS - 1; m > k; m--) {
                value[m] = value[m - 1];
                out->ops[m] = out->ops[m - 1];
            }
            value[k] = v;
            out->ops[k] = tg_arena_sv(a, name);
            break;
        }
    }
    while (out->n_ops < TG_SURVEY_OPS && value[out->n_ops] > 0)
        out->n_ops++;
}

static bool read_suite(struct tg_survey_suite *out, const struct tg_survey *s, struct tg_err *err)
{
    struct tg_summarize_opts so = { .rank = -1, .load = { .reader = { .want_args = true } } };
    struct tg_input_list list = { 0 };
    const struct tg_strs paths = { .v = out->paths, .n = out->n };
    TG_AUTO(tg_summary_release) struct tg_summary all;
    tg_summary_init(&all);
    struct tg_arena *a = s->arena;
    if (!tg_inputs_add_all(&list, &paths, s->repo, a, err) ||
        !tg_inputs_read(&all, &list, &so, s->repo, s->io, err))
        return false;
    tg_sv device = tg_shard_env(all.shards[0], "device");
    TG_FREE int64_t *ranks = tg_xrealloc(NULL, all.n + 1, sizeof *ranks);
    TG_AUTO(tg_strmap_release) struct tg_strmap runs = { 0 };
    out->marked = true;
    out->least_steps = SIZE_MAX;
    if (!device.n)
        device = tg_shard_env(all.shards[0], "device_type");
    out->device = tg_arena_sv(a, device);
    for (size_t i = 0; i < all.n; i++) {
        const struct tg_shard *one = all.shards[i];
        ranks[i] = one->rank;
        (void)tg_strmap_add(&runs, one->run);
        out->marked &= one->marked;
        out->has_device |= one->device_spans > 0;
        out->has_stacks |= tg_sv_eq(tg_shard_env(one, "with_stack"), TG_SV("1"));
        out->least_steps = one->n_steps < out->least_steps ? one->n_steps : out->least_steps;
        out->most_steps = one->n_steps > out->most_steps ? one->n_steps : out->most_steps;
        for (size_t r = 0; r < one->n_rows; r++)
            out->is_compiled |=
                tg_sv_starts(one->rows[r].key->name, TG_SV("Torch-Compiled Region")) ||
                tg_sv_starts(one->rows[r].key->name, TG_SV("triton_"));
    }
    out->runs = runs.n;
    out->ranks = tg_sort_distinct(ranks, all.n);
    if (!out->marked) {
        /* The best annotation of the first trace that all others have as well. */
        const struct tg_shard *first = all.shards[0];
        for (size_t i = 0; i < first->n_hints && !out->window.name.n; i++) {
            tg_sv name = first->hints[i].name;
            bool everywhere = name.n && !memchr(name.p, '"', name.n) &&
                              !memchr(name.p, '\\', name.n) && name.p[0] != '/';
            for (size_t k = 0; everywhere && k < all.n; k++) {
                everywhere = false;
                for (size_t h = 0; h < all.shards[k]->n_hints && !everywhere; h++)
                    everywhere = tg_sv_eq(all.shards[k]->hints[h].name, name) &&
                                 all.shards[k]->hints[h].count >= 3;
            }
            if (everywhere) {
                out->window = first->hints[i];
                out->window.name = tg_arena_sv(a, name);
            }
        }
    }
    choose_ops(out, &all, a);
    return true;
}

/* ---- suites ---- */

/* Kept traces are a baseline of the suite beside them, and else tell of fresh ones. */
static void join_kept(struct tg_survey *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_suites; i++) {
        struct tg_survey_suite *kept = &s->suites[i], *of = NULL;
        if (kept->outside || !tg_path_is_baseline(tg_path_group(kept->form.files, s->arena)))
            continue;
        for (size_t k = 0; k < s->n_suites && !of; k++)
            if (k != i && tg_sv_eq(s->suites[k].program, kept->program) &&
                !tg_path_is_baseline(tg_path_group(s->suites[k].form.files, s->arena)))
                of = &s->suites[k];
        if (of) {
            of->kept = kept->form.files;
            kept->n = 0;
        } else {
            kept->kept = kept->form.files;
        }
    }
    for (size_t i = 0; i < s->n_suites; i++)
        if (s->suites[i].n)
            s->suites[n++] = s->suites[i];
    s->n_suites = n;
}

/* A program below the root, nothing recorded yet. */
static void add_empty_suite(struct tg_survey *s, tg_sv below)
{
    tg_sv program = TG_SV_PRINTF(s->arena, "%s%.*s", s->prefix, TG_SV_ARG(below));
    if (program.n && program.p[program.n - 1] == '/')
        program.n--;
    program = tg_arena_sv(s->arena, program);
    s->suites[s->n_suites++] =
        (struct tg_survey_suite){ .name = tg_path_suite(program, s->arena),
                                  .program = program,
                                  .form = { TG_SV(""), TG_SV(""), TG_SV("") },
                                  .kept = TG_SV("") };
}

static bool make_suites(struct tg_survey *s, const struct trace_paths *all, bool named,
                        struct tg_err *err)
{
    s->suites = TG_NEW_N(s->arena, struct tg_survey_suite, all->n + all->n_programs + 1);
    for (size_t i = 0; i < all->n; i++) {
        struct tg_survey_suite *one = &s->suites[s->n_suites];
        tg_sv group = all->v[i].group;
        size_t first = 0;
        while (!tg_sv_eq(all->v[first].group, group))
            first++;
        if (first < i)
            continue;
        tg_sv *relative = TG_NEW_N(all->arena, tg_sv, all->n + 1);
        one->paths = TG_NEW_N(all->arena, const char *, all->n + 1);
        for (size_t j = 0; j < all->n; j++) {
            if (!tg_sv_eq(all->v[j].group, group))
                continue;
            one->outside |= all->v[j].relative.n == 0;
            relative[one->n] = all->v[j].relative.n ? all->v[j].relative : tg_sv_of(all->v[j].path);
            one->paths[one->n++] = all->v[j].path;
        }
        one->form = tg_path_form(relative, one->n, all->arena);
        one->name = one->outside ? TG_SV("main") : tg_path_suite(group, all->arena);
        one->program = one->outside ? TG_SV("") : tg_path_program(group, all->arena);
        one->kept = TG_SV("");
        s->n_suites++;
    }
    join_kept(s);
    for (size_t i = 0; i < s->n_suites; i++) {
        struct tg_err why = TG_ERR_INIT;
        if (read_suite(&s->suites[i], s, &why))
            continue;
        if (named) {
            *err = why;
            return false;
        }
        s->skipped =
            TG_SV_PRINTF(s->arena, "%.*s: %s", TG_SV_ARG(s->suites[i].form.files), why.message);
        s->suites[i--] = s->suites[--s->n_suites];
    }
    /* in one order, before the first recording and after it */
    TG_SORT(all->programs, all->n_programs, tg_by_sv);
    for (size_t i = 0; i < all->n_programs; i++)
        add_empty_suite(s, all->programs[i]);
    for (size_t i = 0; i < s->n_suites; i++)
        for (size_t k = 0; k < i; k++)
            if (tg_sv_eq(s->suites[i].name, s->suites[k].name))
                s->suites[i].name =
                    TG_SV_PRINTF(s->arena, "%.*s-%zu", TG_SV_ARG(s->suites[i].name), i + 1);
    return true;
}

/* ---- the bench ---- */

/* One that init wrote has this line, also with the user's own step. */
#define OWN_BENCH "\nRUNS, RANKS = "

static bool file_has(const struct tg_survey *s, tg_sv folder, const char *name, const char *words)
{
    return tg_sv_has(text_of(s, folder, name), tg_sv_of(words));
}

static enum tg_survey_bench bench_of(const struct tg_survey *s, const struct tg_survey_suite *one)
{
    if (file_has(s, one->program, "bench.py", OWN_BENCH))
        return TG_BENCH_WRITTEN;
    if (tg_survey_has(s, one->program, "bench.py"))
        return file_has(s, one->program, "bench.py", "--trace") ? TG_BENCH_THEIRS : TG_BENCH_OTHER;
    if (tg_program_info(one->framework)->launched)
        return TG_BENCH_LAUNCH;
    if (tg_program_info(one->framework)->server || (one->n && !one->marked && one->has_device))
        return TG_BENCH_SERVER;
    return file_has(s, one->program, "train.py", "def train_step(") ? TG_BENCH_CALLS
                                                                    : TG_BENCH_OURS;
}

/* ---- the framework ---- */

/* Dependencies of the folder or, if it has none, of the root. */
static enum tg_program find_dependency(const struct tg_survey *s, tg_sv folder)
{
    static const char *const lists[] = {
        "requirements.txt", "pyproject.toml",  "setup.cfg",
        "setup.py",         "environment.yml", "environment.yaml"
    };
    tg_sv in = tg_sv_of(tg_survey_in(s, folder, "requirements"));
    enum tg_program found = TG_PROGRAM_PLAIN;
    const char **names;
    for (size_t i = 0; !found && i < sizeof lists / sizeof *lists; i++)
        found = tg_program_of_dependencies(text_of(s, folder, lists[i]));
    size_t n = found ? 0 : names_in(s, in, &names);
    for (size_t i = 0; i < n && !found; i++)
        if (tg_sv_ends(tg_sv_of(names[i]), TG_SV(".txt")))
            found = tg_program_of_dependencies(text_of(s, in, names[i]));
    return found || !folder.n ? found : find_dependency(s, TG_SV(""));
}

static bool has_gated_tests(const struct tg_survey *s)
{
    static const char *const settings[] = { "pytest.ini", "pyproject.toml", "tox.ini",
                                            "setup.cfg" };
    const char **names;
    size_t n = names_in(s, TG_SV("tests"), &names);
    bool any = false;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        any |= tg_program_tests(text_of(s, TG_SV(""), settings[i]));
    for (size_t i = 0; i < n && !any; i++)
        any = tg_sv_ends(tg_sv_of(names[i]), TG_SV(".py")) &&
              tg_program_tests(text_of(s, TG_SV("tests"), names[i]));
    return any;
}

static enum tg_program find_framework(const struct tg_survey *s, tg_sv folder, size_t processes)
{
    enum tg_program found = find_dependency(s, folder);
    if (found)
        return found;
    for (int p = 0; p < TG_PROGRAM_N; p++) {
        const char *file = tg_program_info((enum tg_program)p)->own_file;
        if (file && tg_survey_has(s, folder, file))
            return (enum tg_program)p;
    }
    if (s->has_gated_tests)
        return TG_PROGRAM_PYTEST;
    return processes ? TG_PROGRAM_TORCHRUN : TG_PROGRAM_PLAIN;
}

static bool survey_suites(struct tg_survey *s, const struct tg_strs *args, struct tg_err *err)
{
    struct trace_paths all = { .arena = s->arena };
    bool ok = find_traces(&all, s, args, err) && make_suites(s, &all, args->n > 0, err);
    free(all.v);
    free(all.programs);
    return ok;
}

static void survey_benches(struct tg_survey *s, const struct tg_survey_choice *choice)
{
    for (size_t i = 0; i < s->n_suites; i++) {
        /* What the traces say stands; without traces, what is known of the framework. */
        struct tg_survey_suite *one = &s->suites[i];
        /* How many processes the scripts of the folder give to torchrun, as tg_program_processes
         * says it. */
        const char **names;
        size_t n = names_in(s, one->program, &names), processes = 0;
        for (size_t k = 0; k < n && (!processes || processes == SIZE_MAX); k++) {
            tg_sv name = tg_sv_of(names[k]);
            if (tg_sv_ends(name, TG_SV(".sh")) || tg_sv_eq(name, TG_SV("Makefile"))) {
                size_t here = tg_program_processes(text_of(s, one->program, names[k]));
                processes = here ? here : processes;
            }
        }
        one->framework =
            choice->framework ? choice->framework : find_framework(s, one->program, processes);
        const struct tg_program_info *info = tg_program_info(one->framework);
        if (!one->n) {
            one->ranks = processes && processes != SIZE_MAX && one->framework != TG_PROGRAM_PYTEST
                             ? processes
                             : info->ranks;
            if (info->window) /* as often as a step has to be: the first one is the prefill */
                one->window = (struct tg_window_hint){ .name = tg_sv_of(info->window), .count = 4 };
        }
        one->bench = bench_of(s, one);
        bool writes_steps =
            one->bench == TG_BENCH_OURS || one->bench == TG_BENCH_CALLS ||
            one->bench == TG_BENCH_LAUNCH ||
            (one->bench == TG_BENCH_WRITTEN && /* that of a server has another line */
             file_has(s, one->program, "bench.py", "\ndef make_step("));
        one->other_steps = one->n && !one->marked && writes_steps;
        if (one->other_steps)
            one->window = (struct tg_window_hint){ .name = TG_SV("") };
    }
}

bool tg_survey_make(struct tg_survey *out, const struct tg_strs *args,
                    const struct tg_survey_choice *choice, const struct tg_io *io,
                    struct tg_repo *repo, struct tg_arena *a, struct tg_err *err)
{
    *out = (struct tg_survey){
        .arena = a, .io = io, .repo = repo, .skipped = TG_SV(""), .unseen = TG_NEW(a, struct tg_err)
    };
    if (!look_at_repository(out, err) || !survey_suites(out, args, err))
        return false;
    if (!out->n_suites)
        add_empty_suite(out, TG_SV(""));
    out->ci = choice->ci ? choice->ci : out->ci;
    out->has_gated_tests = has_gated_tests(out);
    survey_benches(out, choice);
    return true;
}

bool tg_survey_traces(struct tg_survey *out, const struct tg_strs *args, const struct tg_io *io,
                      struct tg_repo *repo, struct tg_arena *a, struct tg_err *err)
{
    *out = (struct tg_survey){ .arena = a,
                               .io = io,
                               .repo = repo,
                               .root = "./",
                               .prefix = "",
                               .remote = TG_SV(""),
                               .branch = TG_SV("main"),
                               .skipped = TG_SV(""),
                               .unseen = TG_NEW(a, struct tg_err) };
    if (!survey_suites(out, args, err))
        return false;
    survey_benches(out, &(struct tg_survey_choice){ TG_PROGRAM_PLAIN, TG_CI_NONE });
    return true;
}
