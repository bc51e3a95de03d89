#include "tests/core/baseline/gitbox.h"

#include <limits.h>

static void isolate(const char *home)
{
    static const char *const gone[] = { "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE",
                                        "GIT_CONFIG_COUNT", "XDG_CONFIG_HOME" };
    static const char *const set[][2] = {
        { "GIT_CONFIG_NOSYSTEM", "1" },
        { "GIT_TERMINAL_PROMPT", "0" },
        { "LC_ALL", "C" },
        { "GIT_AUTHOR_NAME", "A" },
        { "GIT_AUTHOR_EMAIL", "a@example.org" },
        { "GIT_COMMITTER_NAME", "C" },
        { "GIT_COMMITTER_EMAIL", "c@example.org" },
        { "GIT_AUTHOR_DATE", "1700000000 +0100" },
        { "GIT_COMMITTER_DATE", "1700000000 +0100" },
    };
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        unsetenv(gone[i]);
    for (size_t i = 0; i < sizeof set / sizeof *set; i++)
        setenv(set[i][0], set[i][1], 1);
    setenv("HOME", home, 1);
    unsetenv("GIT_CONFIG_GLOBAL"); /* HOME/.gitconfig does not exist until a test writes it */
}

/* A machine without git skips these tests and says so; a CI machine must have it. */
static void need_git(void)
{
    if (system("git --version >/dev/null 2>&1") == 0)
        return;
    print_error("the program git is missing\n");
    exit(getenv("CI") ? 1 : 77);
}

int box_setup(void **state)
{
    const char *tmp = getenv("TMPDIR");
    char name[PATH_MAX], real[PATH_MAX];
    struct box *b = calloc(1, sizeof *b);
    need_git();
    if (!b)
        return -1;
    (void)snprintf(name, sizeof name, "%s/tg-git-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(name) || !realpath(name, real))
        return -1;
    b->a = tg_arena_new();
    tg_err_init(&b->err);
    b->dir = strdup(real);
    box_sh(b, "mkdir home");
    isolate(box_path(b, "home"));
    *state = b;
    return 0;
}

int box_teardown(void **state)
{
    struct box *b = *state;
    box_sh(b, "chmod -R u+rwX . && rm -rf \"$PWD\"");
    tg_arena_free(b->a);
    free(b->dir);
    free(b);
    return 0;
}

struct box *box_new(void)
{
    void *state;
    assert_int_equal(box_setup(&state), 0);
    return state;
}

void box_drop(struct box **b)
{
    void *state = *b;
    (void)box_teardown(&state);
}

static const char *in_box(const struct box *b, const char *script)
{
    return tg_arena_printf(b->a, "cd '%s' && set -e\n%s", b->dir, script);
}

bool box_try(const struct box *b, const char *script)
{
    (void)fflush(NULL);
    return system(in_box(b, script)) == 0;
}

void box_sh(const struct box *b, const char *script)
{
    if (!box_try(b, script))
        fail_msg("this script failed:\n%s", script);
}

const char *box_line(const struct box *b, const char *script)
{
    char line[4096] = "";
    FILE *f = popen(in_box(b, script), "r");
    assert_non_null(f);
    if (!fgets(line, sizeof line, f))
        line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    if (pclose(f) != 0)
        fail_msg("this script failed:\n%s", script);
    return tg_arena_printf(b->a, "%s", line);
}

const char *box_path(const struct box *b, const char *name)
{
    return tg_arena_printf(b->a, "%s/%s", b->dir, name);
}

const char *box_sha(const struct box *b, const char *dir, const char *rev)
{
    return box_line(b, tg_arena_printf(b->a, "git -C %s rev-parse '%s^{commit}'", dir, rev));
}

struct tg_git *box_open(const struct box *b, const char *dir)
{
    struct tg_err err = TG_ERR_INIT;
    struct tg_git *g = tg_git_open(&(struct tg_git_opts){ .dir = box_path(b, dir) }, &err);
    assert_no_error(g != NULL, &err);
    return g;
}

void box_close(struct tg_git **g)
{
    tg_git_close(*g);
}

void box_origin(const struct box *b)
{
    box_sh(b, "git init -q -b main origin; cd origin\n"
              "git config uploadpack.allowFilter true\n"
              "git config uploadpack.allowAnySHA1InWant true\n"
              "echo one > README; git add .; git commit -qm c1\n"
              "mkdir perf; echo 'version: 1' > .tracegate.yml; echo '{\"n\":1}' > perf/base.json\n"
              "git add .; git commit -qm 'c2 baseline'; git tag -a -m one v1\n"
              "mkdir perf/sub; for r in 0 1; do echo \"{\\\"r\\\":$r}\" > perf/r$r.json; done\n"
              "echo text > perf/notes.txt; echo '{}' > perf/.hidden.json\n"
              "echo '{}' > perf/sub/x.json; ln -s base.json perf/link.json\n"
              "git add -f .; git commit -qm c3; git tag light\n"
              "git checkout -qb feature; for i in 1 2; do echo $i > f; git add f; "
              "git commit -qm f$i; done\n"
              "git checkout -q main; echo two > README; git commit -qam c4\n"
              "git checkout -q --detach; git merge -q --no-ff -m \"Merge $(git rev-parse feature) "
              "into $(git rev-parse main)\" feature\n"
              "git update-ref refs/pull/7/merge HEAD; git checkout -q main\n");
}

const char *hinted_command(const struct box *b, const struct tg_err *err)
{
    const char *from = strchr(err->hint, '`'), *to = from ? strchr(from + 1, '`') : NULL;
    assert_non_null(to);
    return tg_arena_printf(b->a, "%.*s", (int)(to - from - 1), from + 1);
}

void assert_no_error_at(bool ok, const struct tg_err *err, const char *file, int line)
{
    if (ok && err->kind == TG_ERR_NONE)
        return;
    print_error("unexpected error: %s / %s\n", err->message, err->hint);
    _fail(file, line);
}

void assert_error(struct tg_err *err, enum tg_err_kind kind, const char *message, const char *hint)
{
    if (err->kind == kind && (!message || strstr(err->message, message)) &&
        (!hint || strstr(err->hint, hint))) {
        err->kind = TG_ERR_NONE; /* the text stays, for who asks more */
        return;
    }
    fail_msg("kind %d, wanted %d\n message: %s\n  wanted: %s\n    hint: %s\n  wanted: %s",
             (int)err->kind, (int)kind, err->message, message ? message : "(any)", err->hint,
             hint ? hint : "(any)");
}
