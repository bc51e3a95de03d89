/* Opening a repository: who owns it, what its format is, which objects are damaged. */
#include "core/baseline/libgit2/internal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/baseline/discover.h"

static int last_class(void)
{
    const git_error *e = git_error_last();
    return e ? e->klass : GIT_ERROR_NONE;
}

/* The folder whose owner libgit2 looked at, as safe.directory wants it: no '/' at the end. */
static void owned_folder(const char *dir, char *out, size_t size)
{
    git_buf found = { 0 };
    (void)snprintf(out, size, "%s", dir);
    if (git_repository_discover(&found, dir, 0, NULL) == 0)
        (void)snprintf(out, size, "%s", found.ptr);
    git_buf_dispose(&found);
    size_t n = strlen(out);
    while (n > 1 && out[n - 1] == '/')
        out[--n] = '\0';
    if (n > 5 && strcmp(out + n - 5, "/.git") == 0)
        out[n - 5] = '\0';
}

/* safe.directory of the user's and the system's configuration, as git reads it: exact, '*', or a
 * prefix that ends in a slash and a star. libgit2 1.5 knows the exact form alone. */
static bool is_safe_directory(const char *folder)
{
    git_config *config = NULL;
    git_config_iterator *it = NULL;
    git_config_entry *e;
    bool safe = false;
    if (git_config_open_default(&config) == 0 &&
        git_config_multivar_iterator_new(&it, config, "safe.directory", NULL) == 0)
        while (git_config_next(&e, it) == 0) {
            size_t n = strlen(e->value);
            if (n == 0)
                safe = false; /* an empty value clears the list */
            else if (strcmp(e->value, "*") == 0 || strcmp(e->value, folder) == 0)
                safe = true;
            else if (n > 2 && strcmp(e->value + n - 2, "/*") == 0 &&
                     strncmp(e->value, folder, n - 1) == 0)
                safe = true;
        }
    git_config_iterator_free(it);
    git_config_free(config);
    return safe;
}

static bool is_owner_error(int rc)
{
    /* 1.5 looks up safe.directory, finds none, and reports that. */
    return rc == GIT_EOWNER ||
           (rc == GIT_ENOTFOUND && strstr(tg_libgit2_error(), "safe.directory") != NULL);
}

static int open_at(git_repository **repo, const char *dir, bool validate)
{
    unsigned flags = dir ? 0 : GIT_REPOSITORY_OPEN_FROM_ENV;
    (void)git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, validate ? 1 : 0);
    int rc = git_repository_open_ext(repo, dir, flags, NULL);
    if (rc < 0 && !dir && strstr(tg_libgit2_error(), "unimplemented"))
        rc = git_repository_open_ext(repo, ".", 0, NULL); /* GIT_WORK_TREE, GIT_COMMON_DIR */
    (void)git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 1);
    return rc;
}

static bool refuse_outside(const char *dir, struct tg_err *err)
{
    char folder[PATH_MAX];
    return tg_err_say(err, TG_ERR_GIT, TG_NOWHERE, "'%s' is not inside a git repository",
                      "Run tracegate inside the repository. Without one, compare with files "
                      "(--baseline FILE or --baseline FOLDER) and name no commit.",
                      realpath(dir, folder) ? folder : dir);
}

static bool open_refused(const char *dir, int rc, struct tg_err *err)
{
    char folder[PATH_MAX], word[PATH_MAX];
    const char *why = tg_libgit2_error();
    if (is_owner_error(rc)) {
        owned_folder(dir, folder, sizeof folder);
        tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "repository '%s' belongs to another user", folder);
        return tg_err_hint(err,
                           "Run `git config --global --add safe.directory %s`, or give "
                           "--trust-repository if you trust its contents.",
                           tg_shell_word(word, sizeof word, folder));
    }
    if (rc == GIT_ENOTFOUND &&
        (last_class() == GIT_ERROR_REPOSITORY || last_class() == GIT_ERROR_OS))
        return refuse_outside(dir, err);
    if (strstr(why, "objectformat") || strstr(why, "object format") || strstr(why, "sha256") ||
        strstr(why, "refstorage") || strstr(why, "reftable") || strstr(why, "compatobject"))
        return tg_err_say(
            err, TG_ERR_GIT, TG_NOWHERE,
            "this repository's format is not supported (SHA-256 objects or reftable): %s",
            "Write the baseline to a file with `git show REV:PATH > FILE` and give --baseline "
            "FILE.",
            why);
    return tg_libgit2_failed(err, "the repository cannot be opened");
}

/* Names are compared here: libgit2 1.5 leaks 20 KB for each one it matches with a regex. */
static bool has_promisor(git_repository *repo)
{
    git_config *config = NULL;
    git_config_iterator *it = NULL;
    git_config_entry *e;
    bool found = false;
    if (git_repository_config_snapshot(&config, repo) == 0 &&
        git_config_iterator_new(&it, config) == 0)
        while (!found && git_config_next(&e, it) == 0) {
            tg_sv name = tg_sv_of(e->name);
            found = tg_sv_eq(name, TG_SV("extensions.partialclone")) ||
                    (tg_sv_starts(name, TG_SV("remote.")) && tg_sv_ends(name, TG_SV(".promisor")));
        }
    git_config_iterator_free(it);
    git_config_free(config);
    return found;
}

/* opts.dir below the work tree, by real paths on both sides. */
static const char *prefix_of(struct tg_arena *a, const char *root, const char *dir)
{
    char real[PATH_MAX];
    size_t n = root ? strlen(root) : 0;
    if (!root || !realpath(dir, real) || strncmp(real, root, n) != 0 || !real[n])
        return "";
    return tg_arena_printf(a, "%s/", real + n);
}

struct tg_git *tg_git_open(const struct tg_git_opts *o, struct tg_err *err)
{
    const char *dir = o->dir ? o->dir : ".";
    char folder[PATH_MAX];
    git_repository *repo = NULL;

    if (tg_git_discover(o, folder) == TG_DISCOVERED_NONE) {
        refuse_outside(dir, err);
        return NULL;
    }
    if (!tg_libgit2_load(err))
        return NULL;
    if (git_libgit2_init() < 0) {
        tg_libgit2_failed(err, "libgit2 does not start");
        return NULL;
    }
    /* Extensions that change nothing for a reader; libgit2 compares them in lower case. */
    const char *names[] = { "worktreeconfig", "partialclone", "preciousobjects",
                            "relativeworktrees" };
    (void)git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, names, sizeof names / sizeof *names);
    /* Each object is inflated, and the checksum of that found right;
     * a trace has checksums of its own. */
    (void)git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 0);
    int rc = open_at(&repo, o->dir, !o->trust_owner);
    if (rc < 0 && is_owner_error(rc)) {
        /* Somebody else's repository opens if `safe.directory` names it; if it is not trusted:
         * again, because the message was lost on the way. */
        owned_folder(dir, folder, sizeof folder);
        rc = open_at(&repo, o->dir, !is_safe_directory(folder));
    }
    if (rc < 0) {
        open_refused(dir, rc, err);
        (void)git_libgit2_shutdown();
        return NULL;
    }
    struct tg_git *g = tg_xmalloc(sizeof *g);
    *g = (struct tg_git){ .repo = repo,
                          .a = tg_arena_new(),
                          .program = o->git ? o->git : "git",
                          .env = o->env,
                          .limits = o->limits ? *o->limits : TG_LIMITS_DEFAULT,
                          .timeout_ms = o->timeout_ms ? o->timeout_ms : TG_GIT_TIMEOUT_MS,
                          .offline = o->offline };
    const char *root = git_repository_workdir(repo);
    if (root && realpath(root, folder))
        g->root = tg_arena_printf(g->a, "%s%s", folder, folder[1] ? "/" : "");
    else if (root)
        g->root = tg_arena_sv(g->a, tg_sv_of(root)).p;
    g->dir = tg_arena_sv(g->a, tg_sv_of(git_repository_path(repo))).p;
    g->prefix = prefix_of(g->a, g->root, dir);
    g->shallow = git_repository_is_shallow(repo) == 1;
    g->promised = has_promisor(repo);
    if (git_repository_odb(&g->odb, repo) == 0 && tg_libgit2_guard(g))
        return g;
    tg_libgit2_failed(err, "the repository has no objects");
    tg_git_close(g);
    return NULL;
}

void tg_git_close(struct tg_git *g)
{
    if (!g)
        return;
    git_odb_free(g->odb);
    git_repository_free(g->repo);
    tg_arena_free(g->a);
    free(g);
    (void)git_libgit2_shutdown();
}

const char *tg_git_common_dir(const struct tg_git *g)
{
    return git_repository_commondir(g->repo);
}

const char *tg_git_root(const struct tg_git *g)
{
    return g->root;
}

const char *tg_git_prefix(const struct tg_git *g)
{
    return g->prefix;
}

bool tg_git_is_shallow(const struct tg_git *g)
{
    return g->shallow;
}

bool tg_git_is_partial(const struct tg_git *g)
{
    return g->promised;
}

const struct tg_limits *tg_git_limits(const struct tg_git *g)
{
    return &g->limits;
}

const char *tg_git_lfs_dir(struct tg_git *g, struct tg_arena *a)
{
    const char *common = git_repository_commondir(g->repo), *moved = NULL, *dir;
    git_config *config = NULL;
    if (git_repository_config_snapshot(&config, g->repo) == 0 &&
        git_config_get_string(&moved, config, "lfs.storage") == 0 && moved[0])
        dir = tg_arena_printf(a, "%s%s/objects", moved[0] == '/' ? "" : common, moved);
    else
        dir = tg_arena_printf(a, "%slfs/objects", common);
    git_config_free(config);
    return dir;
}
