/*
 * The only file that sees libgit2 (1.5 to 1.9). It answers what core/baseline/git.h asks and turns
 * each of libgit2's refusals into a message with the next step.
 */
#include "core/baseline/git.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include <git2.h>
#include <git2/sys/odb_backend.h>
#if __has_include(<git2/sys/errors.h>)
#include <git2/sys/errors.h> /* git_error_set_str, from 1.8 on */
#endif
#ifdef TG_LAZY
#include <dlfcn.h>
#include <pthread.h>

#include "core/baseline/git_lazy.h" /* made; from here on libgit2 is called through a table */
#endif

#include "core/base/temporary.h"
#include "core/baseline/loose.h"
#include "core/baseline/spawn.h"

/* From here on `git` streams a blob: libgit2 needs the blob twice, four times when deltified. */
#define STREAM_SIZE ((uint64_t)50 << 20)

/* A backend that finds nothing: it comes before libgit2's own and stops at a cut object. */
struct guard {
    git_odb_backend backend; /* first: libgit2 hands it back */
    struct tg_loose loose;
};

struct tg_git {
    struct guard guard;
    git_repository *repo;
    git_odb *odb;
    struct tg_arena *a;
    const char *root, *dir, *prefix, *program;
    char *const *env;
    struct tg_limits limits;
    unsigned timeout_ms;
    bool offline, trusted, shallow, promised;
};

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TG_LEAK_CHECK 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define TG_LEAK_CHECK 1
#endif
#ifdef TG_LEAK_CHECK
/*
 * libgit2 1.5 leaks the match data of its regexes (in git_repository_open_ext for format 1, in
 * revparse of unknown names) and a list in a merge base that fails. The stacks end inside the
 * libraries, so that only the module tells them apart.
 */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libgit2.so\nleak:libpcre2-8.so\n";
}
#endif

static const char *last_error(void)
{
    const git_error *e = git_error_last();
    return e && e->message ? e->message : "no reason given";
}

static int last_class(void)
{
    const git_error *e = git_error_last();
    return e ? e->klass : GIT_ERROR_NONE;
}

static bool failed(struct tg_err *err, const char *what)
{
    tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "%s: %s", what, last_error());
    return tg_err_hint(err, "If `git fsck` finds nothing wrong, write the baseline to a file with "
                            "`git show REV:PATH > FILE` and give --baseline FILE.");
}

/* ---- libgit2 itself ---- */

#ifdef TG_LAZY
/* Written once, by load_once, before anything of libgit2 is called. */
static char lazy_failure[256]; /* "": it is loaded */
static pthread_once_t lazy_once = PTHREAD_ONCE_INIT;

static void load_once(void)
{
    void *lib = dlopen(TG_LAZY_SONAME, RTLD_LAZY);
    bool ok = lib != NULL;
    for (size_t i = 0; ok && i < sizeof lazy_names / sizeof *lazy_names; i++)
        ok = (lazy_git.at[i] = dlsym(lib, lazy_names[i])) != NULL;
    if (!ok)
        (void)snprintf(lazy_failure, sizeof lazy_failure, "%s", dlerror());
}

/*
 * A shared libgit2 brings fifteen libraries of its own, and finding all their symbols costs as much
 * as reading 2 MB of a trace: it is loaded when a repository is first opened, and stays.
 */
static bool load_libgit2(struct tg_err *err)
{
    (void)pthread_once(&lazy_once, load_once);
    if (!lazy_failure[0])
        return true;
    tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "libgit2 cannot be loaded: %s", lazy_failure);
    return tg_err_hint(err, "Install " TG_LAZY_SONAME ", or compare with files: --baseline FILE or "
                            "--baseline FOLDER needs no git.");
}
#else
static bool load_libgit2(struct tg_err *err)
{
    (void)err; /* it is linked */
    return true;
}
#endif

/* ---- opening ---- */

/* The folder whose owner libgit2 looked at, as safe.directory wants it: no '/' at the end. */
static void owned_folder(const char *dir, char *out, size_t size)
{
    git_buf found = { 0 };
    size_t n;
    (void)snprintf(out, size, "%s", dir);
    if (git_repository_discover(&found, dir, 0, NULL) == 0)
        (void)snprintf(out, size, "%s", found.ptr);
    git_buf_dispose(&found);
    n = strlen(out);
    while (n > 1 && out[n - 1] == '/')
        out[--n] = '\0';
    if (n > 5 && strcmp(out + n - 5, "/.git") == 0)
        out[n - 5] = '\0';
}

/*
 * safe.directory of the user's and the system's configuration, as git reads it: exact, '*', or a
 * prefix that ends in a slash and a star. libgit2 1.5 knows the exact form alone.
 */
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
           (rc == GIT_ENOTFOUND && strstr(last_error(), "safe.directory") != NULL);
}

/* Extensions that change nothing for a reader; libgit2 compares them in lower case. */
static void allow_extensions(void)
{
    const char *names[] = { "worktreeconfig", "partialclone", "preciousobjects",
                            "relativeworktrees" };
    (void)git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, names, sizeof names / sizeof *names);
}

static int open_at(git_repository **repo, const char *dir, bool validate)
{
    unsigned flags = dir ? 0 : GIT_REPOSITORY_OPEN_FROM_ENV;
    int rc;
    (void)git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, validate ? 1 : 0);
    rc = git_repository_open_ext(repo, dir, flags, NULL);
    if (rc < 0 && !dir && strstr(last_error(), "unimplemented"))
        rc = git_repository_open_ext(repo, ".", 0, NULL); /* GIT_WORK_TREE, GIT_COMMON_DIR */
    (void)git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 1);
    return rc;
}

static bool open_refused(const char *dir, int rc, struct tg_err *err)
{
    char folder[PATH_MAX], word[PATH_MAX];
    const char *why = last_error();
    if (is_owner_error(rc)) {
        owned_folder(dir, folder, sizeof folder);
        tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "repository '%s' belongs to another user", folder);
        return tg_err_hint(err,
                           "Run `git config --global --add safe.directory %s`, or give "
                           "--trust-repository if you trust what is in it.",
                           tg_shell_word(word, sizeof word, folder));
    }
    if (rc == GIT_ENOTFOUND &&
        (last_class() == GIT_ERROR_REPOSITORY || last_class() == GIT_ERROR_OS)) {
        tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "'%s' is not inside a git repository",
                   realpath(dir, folder) ? folder : dir);
        return tg_err_hint(err, "Run tracegate inside the repository, or compare with files: "
                                "--baseline FILE or --baseline FOLDER needs no git.");
    }
    if (strstr(why, "objectformat") || strstr(why, "object format") || strstr(why, "sha256") ||
        strstr(why, "refstorage") || strstr(why, "reftable") || strstr(why, "compatobject")) {
        tg_err_set(err, TG_ERR_GIT, TG_NOWHERE,
                   "this repository's format is not supported (SHA-256 objects or reftable): %s",
                   why);
        return tg_err_hint(err, "Write the baseline to a file with `git show REV:PATH > FILE` and "
                                "give --baseline FILE.");
    }
    return failed(err, "the repository cannot be opened");
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

static const char *real_root(struct tg_arena *a, git_repository *repo)
{
    char real[PATH_MAX];
    const char *root = git_repository_workdir(repo);
    if (!root || !realpath(root, real))
        return root ? tg_arena_sv(a, tg_sv_of(root)).p : NULL;
    return tg_arena_printf(a, "%s%s", real, real[1] ? "/" : "");
}

static int guard_hex(git_odb_backend *b, const char *hex)
{
    struct guard *g = (struct guard *)b;
    char text[160];
    if (tg_loose_check(&g->loose, hex) != TG_LOOSE_CUT)
        return GIT_ENOTFOUND; /* here, so that the next backend is asked */
    (void)snprintf(text, sizeof text, "the loose object %s is cut or damaged", hex);
    (void)git_error_set_str(GIT_ERROR_ODB, text);
    return GIT_ERROR;
}

static int guard_id(git_odb_backend *b, const git_oid *id)
{
    char hex[TG_SHA_SIZE];
    git_oid_tostr(hex, sizeof hex, id);
    return guard_hex(b, hex);
}

static int guard_read(void **data, size_t *size, git_object_t *type, git_odb_backend *b,
                      const git_oid *id)
{
    (void)data, (void)size, (void)type;
    return guard_id(b, id);
}

static int guard_read_header(size_t *size, git_object_t *type, git_odb_backend *b,
                             const git_oid *id)
{
    (void)size, (void)type;
    return guard_id(b, id);
}

static int guard_read_prefix(git_oid *found, void **data, size_t *size, git_object_t *type,
                             git_odb_backend *b, const git_oid *id, size_t digits)
{
    char hex[TG_SHA_SIZE];
    (void)found, (void)data, (void)size, (void)type;
    git_oid_tostr(hex, digits < TG_SHA_SIZE ? digits + 1 : TG_SHA_SIZE, id);
    return guard_hex(b, hex);
}

static void guard_free(git_odb_backend *b)
{
    (void)b; /* part of struct tg_git */
}

/* Before libgit2's backends: those have the priorities 1 and 2. */
static bool guard_objects(struct tg_git *g)
{
    enum { FIRST = 100 };
    tg_loose_init(&g->guard.loose,
                  tg_arena_printf(g->a, "%sobjects", git_repository_commondir(g->repo)), g->a);
    if (git_odb_init_backend(&g->guard.backend, GIT_ODB_BACKEND_VERSION) < 0)
        return false;
    g->guard.backend.read = guard_read;
    g->guard.backend.read_header = guard_read_header;
    g->guard.backend.read_prefix = guard_read_prefix;
    g->guard.backend.free = guard_free;
    return git_odb_add_backend(g->odb, &g->guard.backend, FIRST) == 0;
}

struct tg_git *tg_git_open(const struct tg_git_opts *o, struct tg_err *err)
{
    const char *dir = o->dir ? o->dir : ".";
    char folder[PATH_MAX];
    git_repository *repo = NULL;
    struct tg_git *g;
    bool trusted = o->trust_owner;
    int rc;

    if (!load_libgit2(err))
        return NULL;
    if (git_libgit2_init() < 0) {
        failed(err, "libgit2 does not start");
        return NULL;
    }
    allow_extensions();
    rc = open_at(&repo, o->dir, !trusted);
    if (rc < 0 && is_owner_error(rc)) {
        owned_folder(dir, folder, sizeof folder);
        trusted = is_safe_directory(folder);
        if (trusted)
            rc = open_at(&repo, o->dir, false);
        else
            rc = open_at(&repo, o->dir, true); /* the message was lost on the way */
    }
    if (rc < 0) {
        open_refused(dir, rc, err);
        (void)git_libgit2_shutdown();
        return NULL;
    }
    g = tg_xmalloc(sizeof *g);
    *g = (struct tg_git){ .repo = repo,
                          .a = tg_arena_new(),
                          .program = o->git ? o->git : "git",
                          .env = o->env,
                          .limits = o->limits ? *o->limits : TG_LIMITS_DEFAULT,
                          .timeout_ms = o->timeout_ms ? o->timeout_ms : TG_GIT_TIMEOUT_MS,
                          .offline = o->offline,
                          .trusted = trusted };
    g->root = real_root(g->a, repo);
    g->dir = tg_arena_sv(g->a, tg_sv_of(git_repository_path(repo))).p;
    g->prefix = prefix_of(g->a, g->root, dir);
    g->shallow = git_repository_is_shallow(repo) == 1;
    g->promised = has_promisor(repo);
    if (git_repository_odb(&g->odb, repo) == 0 && guard_objects(g))
        return g;
    failed(err, "the repository has no objects");
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

/* ---- git, spawned ---- */

void tg_git_spawn(struct tg_git *g, const char *const *args, size_t max_out, struct tg_buf *out,
                  struct tg_spawned *r)
{
    static const char *const set[] = { "GIT_TERMINAL_PROMPT=0",
                                       "GIT_OPTIONAL_LOCKS=0",
                                       "GCM_INTERACTIVE=never",
                                       "SSH_ASKPASS_REQUIRE=never",
                                       "LC_ALL=C",
                                       NULL };
    static const char *const drop[] = { "GIT_DIR",        "GIT_WORK_TREE", "GIT_COMMON_DIR",
                                        "GIT_INDEX_FILE", "GIT_PREFIX",    NULL };
    struct tg_arena *a = tg_arena_new();
    struct tg_spawn s = { NULL, g->env, set, drop, g->timeout_ms, max_out };
    size_t n = 0;
    const char **argv;
    while (args[n])
        n++;
    argv = TG_NEW_N(a, const char *, n + 5);
    argv[0] = g->program;
    argv[1] = "-c";
    argv[2] = "core.bigFileThreshold=50m";
    argv[3] = tg_arena_printf(a, "--git-dir=%s", g->dir);
    memcpy(argv + 4, args, n * sizeof *args);
    s.argv = argv;
    tg_spawn_run(&s, out, r);
    tg_arena_free(a);
}

/* `git cat-file MODE OID`; what it prints goes to `out`. */
static void cat_file(struct tg_git *g, const char *mode, const char *oid, size_t max_out,
                     struct tg_buf *out, struct tg_spawned *r)
{
    const char *const args[] = { "cat-file", mode, oid, NULL };
    tg_git_spawn(g, args, max_out, out, r);
}

bool tg_git_spawn_failed(const struct tg_git *g, const char *what, const struct tg_spawned *r,
                         struct tg_err *err)
{
    const char *why = r->last_words[0] ? r->last_words : "it says nothing";
    switch (r->end) {
    case TG_SPAWN_NOT_FOUND:
        tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "%s needs the program '%s', which is not there",
                   what, g->program);
        return tg_err_hint(err, "Install git, or use a clone without --filter.");
    case TG_SPAWN_TIMEOUT:
        tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "%s took longer than %u s", what,
                   g->timeout_ms / 1000);
        return tg_err_hint(err, "Check the network and the remote, or use a clone without "
                                "--filter.");
    case TG_SPAWN_EXIT:
        tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "%s failed (git exit %d): %s", what, r->code, why);
        break;
    default:
        tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "%s failed: %s", what,
                   r->end == TG_SPAWN_FAILED ? strerror(r->code) : why);
    }
    return tg_err_hint(err, "Run `git fetch --refetch --no-filter origin` to complete this clone, "
                            "or clone without --filter.");
}

static bool object_missing(const char *oid, struct tg_err *err)
{
    tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "object %s is missing", oid);
    return tg_err_hint(err, "The repository is damaged: run `git fsck`, then `git fetch --refetch "
                            "origin`, or clone again.");
}

/* Lets git bring an object that a partial clone left on the server. */
static bool fetch_promised(struct tg_git *g, const char *oid, struct tg_err *err)
{
    struct tg_buf out = { 0 };
    struct tg_spawned r;
    char what[96];
    if (!g->promised)
        return object_missing(oid, err);
    if (g->offline) {
        tg_err_set(err, TG_ERR_GIT, TG_NOWHERE,
                   "object %s is on the server only (partial clone), and fetching is off", oid);
        return tg_err_hint(err,
                           "Run `git cat-file -e %s` once with network, or clone without "
                           "--filter.",
                           oid);
    }
    (void)snprintf(what, sizeof what, "fetching object %s of a partial clone", oid);
    cat_file(g, "-s", oid, 64, &out, &r);
    tg_buf_release(&out);
    if (r.end != TG_SPAWN_EXIT || r.code != 0)
        return tg_git_spawn_failed(g, what, &r, err);
    (void)git_odb_refresh(g->odb);
    return true;
}

/* ---- commits ---- */

bool tg_git_shallow(const char *what, struct tg_err *err)
{
    tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "%s is not here: the history is shallow", what);
    return tg_err_hint(err, "In actions/checkout set fetch-depth: 2 (or 0 for all history); "
                            "elsewhere run `git fetch --deepen=50` or `git fetch --unshallow`.");
}

bool tg_git_head(struct tg_git *g, struct tg_head *out, struct tg_err *err)
{
    git_oid oid;
    int rc = git_reference_name_to_id(&oid, g->repo, "HEAD");
    if (rc == 0) {
        git_oid_tostr(out->sha, sizeof out->sha, &oid);
        out->detached = git_repository_head_detached(g->repo) == 1;
        return true;
    }
    if (git_repository_head_unborn(g->repo) != 1)
        return failed(err, "HEAD cannot be read");
    tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "this repository has no commit yet");
    return tg_err_hint(err, "Commit first; a baseline is a file in an earlier commit.");
}

static void describe(git_commit *c, struct tg_arena *a, struct tg_commit *out)
{
    const char *summary = git_commit_summary(c);
    const git_signature *author = git_commit_author(c);
    *out = (struct tg_commit){ .how = TG_HOW_REV,
                               .ref = TG_SV(""),
                               .found = TG_SV(""),
                               .summary = tg_arena_sv(a, tg_sv_of(summary ? summary : "")),
                               .author = tg_arena_sv(
                                   a, tg_sv_of(author && author->name ? author->name : "")),
                               .date = git_commit_time(c),
                               .date_offset = git_commit_time_offset(c) };
    git_oid_tostr(out->sha, sizeof out->sha, git_commit_id(c));
}

static int commit_of(struct tg_git *g, git_commit **out, const char *sha)
{
    git_oid oid;
    int rc = git_oid_fromstr(&oid, sha);
    return rc == 0 ? git_commit_lookup(out, g->repo, &oid) : GIT_ENOTFOUND;
}

enum tg_seen tg_git_commit(struct tg_git *g, const char *sha, struct tg_arena *a,
                           struct tg_commit *out, struct tg_err *err)
{
    git_commit *c;
    int rc = commit_of(g, &c, sha);
    if (rc == GIT_ENOTFOUND)
        return TG_ABSENT;
    if (rc < 0) {
        failed(err, "a commit cannot be read");
        return TG_SEEN_FAILED;
    }
    describe(c, a, out);
    git_commit_free(c);
    return TG_SEEN;
}

static bool is_sha(const char *s)
{
    return strspn(s, "0123456789abcdef") >= TG_SHA_SIZE - 1;
}

/* GitHub's own message: "Merge <head> into <base>". */
static void parse_merge_message(const char *m, struct tg_parents *out)
{
    if (strncmp(m, "Merge ", 6) != 0 || !is_sha(m + 6) || strncmp(m + 46, " into ", 6) != 0 ||
        !is_sha(m + 52))
        return;
    memcpy(out->merged[0], m + 6, TG_SHA_SIZE - 1);
    memcpy(out->merged[1], m + 52, TG_SHA_SIZE - 1);
}

/*
 * Read from the raw header: from 1.7 on libgit2 hides the parents beyond a shallow cut, and "no
 * parent" and "parent not fetched" must not look alike.
 */
bool tg_git_parents(struct tg_git *g, const char *sha, struct tg_parents *out, struct tg_err *err)
{
    git_commit *c;
    const char *line;
    memset(out, 0, sizeof *out);
    if (commit_of(g, &c, sha) < 0)
        return failed(err, "a commit cannot be read");
    for (line = git_commit_raw_header(c); line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "parent ", 7) == 0 && is_sha(line + 7)) {
            if (out->n < 2)
                memcpy(out->sha[out->n], line + 7, TG_SHA_SIZE - 1);
            out->n++;
        }
    }
    parse_merge_message(git_commit_message(c), out);
    git_commit_free(c);
    return true;
}

bool tg_git_ref(struct tg_git *g, const char *name, char sha[TG_SHA_SIZE])
{
    git_reference *ref = NULL;
    git_object *o = NULL;
    bool ok = git_reference_lookup(&ref, g->repo, name) == 0 &&
              git_reference_peel(&o, ref, GIT_OBJECT_COMMIT) == 0;
    if (ok)
        git_oid_tostr(sha, TG_SHA_SIZE, git_object_id(o));
    git_object_free(o);
    git_reference_free(ref);
    return ok;
}

bool tg_git_symbolic(struct tg_git *g, const char *name, struct tg_arena *a, tg_sv *target)
{
    git_reference *ref = NULL;
    const char *to = NULL;
    if (git_reference_lookup(&ref, g->repo, name) == 0)
        to = git_reference_symbolic_target(ref);
    if (to)
        *target = tg_arena_sv(a, tg_sv_of(to));
    git_reference_free(ref);
    return to != NULL;
}

static bool is_pull_name(tg_sv name)
{
    tg_sv number;
    if (tg_sv_starts(name, TG_SV("refs/remotes/")))
        name = (tg_sv){ name.p + 13, name.n - 13 };
    else if (tg_sv_starts(name, TG_SV("refs/")))
        name = (tg_sv){ name.p + 5, name.n - 5 };
    if (!tg_sv_starts(name, TG_SV("pull/")) || !tg_sv_ends(name, TG_SV("/merge")) || name.n < 12)
        return false;
    number = (tg_sv){ name.p + 5, name.n - 11 };
    for (size_t i = 0; i < number.n; i++)
        if (number.p[i] < '0' || number.p[i] > '9')
            return false;
    return number.n > 0;
}

bool tg_git_is_pull_ref(struct tg_git *g, const char *sha)
{
    git_reference_iterator *it = NULL;
    const char *name;
    char at[TG_SHA_SIZE];
    bool found = false;
    if (git_reference_iterator_glob_new(&it, g->repo, "refs/*pull/*/merge") < 0)
        return false;
    while (!found && git_reference_next_name(&name, it) == 0)
        found = is_pull_name(tg_sv_of(name)) && tg_git_ref(g, name, at) && strcmp(at, sha) == 0;
    git_reference_iterator_free(it);
    return found;
}

enum tg_seen tg_git_merge_base(struct tg_git *g, const char *one, const char *two,
                               char sha[TG_SHA_SIZE], struct tg_err *err)
{
    git_oid a, b, base;
    int rc;
    if (git_oid_fromstr(&a, one) < 0 || git_oid_fromstr(&b, two) < 0)
        return TG_ABSENT;
    rc = git_merge_base(&base, g->repo, &a, &b);
    if (rc == 0) {
        git_oid_tostr(sha, TG_SHA_SIZE, &base);
        return TG_SEEN;
    }
    /* 1.5 reports a commit beyond the cut as an odb error, 1.9 as "not found". */
    if (rc == GIT_ENOTFOUND || g->shallow)
        return TG_ABSENT;
    failed(err, "the merge base cannot be found");
    return TG_SEEN_FAILED;
}

/* ---- revisions ---- */

static bool invalid_rev(const char *rev, struct tg_err *err)
{
    const char *dots = strstr(rev, "..");
    if (rev[0] == '-') {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "'%s' is not a revision: it begins with '-'",
                   rev);
        return tg_err_hint(err, "Write refs/heads/%s if a branch really has this name.", rev);
    }
    for (const char *p = rev; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE,
                              "'%s' is not a revision: it holds a control character", rev);
    if (!rev[0])
        return tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "an empty revision");
    if (dots && !strchr(rev, '{') && !strstr(rev, ":/")) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "'%s' is a range, not one commit", rev);
        return tg_err_hint(err, "Give one revision, for example '%.*s'.", (int)(dots - rev), rev);
    }
    return true;
}

/* ---- a name that several refs have ---- */

/* The commit of a full ref name; false: no such ref, or not of a commit. */
static bool other_ref(struct tg_git *g, const char *full, const char *sha, char found[TG_SHA_SIZE])
{
    return tg_git_ref(g, full, found) && strcmp(found, sha) != 0;
}

static bool is_short_sha(const char *name)
{
    size_t n = strlen(name);
    return n >= 4 && n < TG_SHA_SIZE - 1 && strspn(name, "0123456789abcdefABCDEF") == n;
}

/* The commit whose name begins so, as git would take it if no ref were called so. */
static bool commit_with_prefix(struct tg_git *g, const char *name, char sha[TG_SHA_SIZE])
{
    git_object *o = NULL;
    git_oid id;
    size_t n = strlen(name);
    bool ok = is_short_sha(name) && git_oid_fromstrn(&id, name, n) == 0 &&
              git_object_lookup_prefix(&o, g->repo, &id, n, GIT_OBJECT_COMMIT) == 0;
    if (ok)
        git_oid_tostr(sha, TG_SHA_SIZE, git_object_id(o));
    git_object_free(o);
    return ok;
}

static bool two_names(const char *name, const char *one, const char *two, struct tg_err *err)
{
    tg_err_set(err, TG_ERR_REF, TG_NOWHERE,
               "revision '%s' is ambiguous: %s and %s are different commits", name, one, two);
    return tg_err_hint(err, "Write the full name of the one that is meant.");
}

/*
 * git takes the first of these and warns; a gate must not: a tag "origin/main" would move the
 * baseline of everyone who writes `--baseline origin/main`. What all of them have in common is
 * fine. HEAD and similar names, full names and whole object names are what they are.
 */
static bool only_one_ref(struct tg_git *g, const char *rev, struct tg_arena *a, struct tg_err *err)
{
    static const char *const before[] = { "refs/%s", "refs/tags/%s", "refs/heads/%s",
                                          "refs/remotes/%s", "refs/remotes/%s/HEAD" };
    size_t n = strcspn(rev, "^~:");
    const char *at = strstr(rev, "@{"), *first = NULL, *name;
    char sha[TG_SHA_SIZE], other[TG_SHA_SIZE];
    if (at && (size_t)(at - rev) < n)
        n = (size_t)(at - rev);
    name = tg_arena_sv(a, (tg_sv){ rev, n }).p;
    if (!n || (n == TG_SHA_SIZE - 1 && is_sha(name)) || tg_git_ref(g, name, sha))
        return true;
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        const char *percent = strchr(before[i], '%');
        const char *full = tg_arena_printf(a, "%.*s%s%s", (int)(percent - before[i]), before[i],
                                           name, percent + 2);
        if (!first && tg_git_ref(g, full, sha))
            first = full;
        else if (first && other_ref(g, full, sha, other))
            return two_names(name, first, full, err);
    }
    if (first && commit_with_prefix(g, name, other) && strcmp(other, sha) != 0)
        return two_names(name, first, tg_arena_printf(a, "commit %s", other), err);
    return true;
}

static bool unknown_rev(struct tg_git *g, const char *rev, int rc, struct tg_err *err)
{
    char name[512], sha[TG_SHA_SIZE], word[256];
    if (rc == GIT_EAMBIGUOUS) {
        tg_err_set(err, TG_ERR_REF, TG_NOWHERE, "revision '%s' is ambiguous", rev);
        return tg_err_hint(err, "Give more digits, or the full ref (refs/heads/…, refs/tags/…).");
    }
    if (rc == GIT_EINVALIDSPEC) {
        tg_err_set(err, TG_ERR_REF, TG_NOWHERE, "'%s' is not a revision", rev);
        return tg_err_hint(err, "`git rev-parse %s` says why; see gitrevisions(7).",
                           tg_shell_word(word, sizeof word, rev));
    }
    if (rc != GIT_ENOTFOUND && !g->shallow)
        return failed(err, "the revision cannot be resolved");
    if (strncmp(rev, "HEAD", 4) == 0 && git_repository_head_unborn(g->repo) == 1) {
        tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "this repository has no commit yet");
        return tg_err_hint(err, "Commit first; a baseline is a file in an earlier commit.");
    }
    if (g->shallow) {
        (void)snprintf(name, sizeof name, "revision '%s'", rev);
        return tg_git_shallow(name, err);
    }
    tg_err_set(err, TG_ERR_REF, TG_NOWHERE, "revision '%s' does not exist here", rev);
    (void)snprintf(name, sizeof name, "refs/remotes/origin/%s", rev);
    if (tg_git_ref(g, name, sha))
        return tg_err_hint(err, "Did you mean 'origin/%s'?", rev);
    return tg_err_hint(
        err,
        "Check the spelling (`git branch -a`, `git tag`), or fetch it: `git "
        "fetch origin %s`.",
        tg_shell_word(word, sizeof word, strncmp(rev, "origin/", 7) == 0 ? rev + 7 : rev));
}

bool tg_git_resolve(struct tg_git *g, const char *rev, struct tg_arena *a, struct tg_commit *out,
                    struct tg_err *err)
{
    const char *spelled = rev;
    git_object *o = NULL, *c = NULL;
    git_commit *commit;
    int rc;
    if (!invalid_rev(rev, err))
        return false;
    if (rev[0] == '@' && rev[1] != '{') /* libgit2 1.5 knows '@' but not '@~1' */
        spelled = tg_arena_printf(a, "HEAD%s", rev + 1);
    if (!only_one_ref(g, spelled, a, err))
        return false;
    rc = git_revparse_single(&o, g->repo, spelled);
    if (rc < 0)
        return unknown_rev(g, spelled, rc, err);
    rc = git_object_peel(&c, o, GIT_OBJECT_COMMIT);
    git_object_free(o);
    if (rc < 0) {
        tg_err_set(err, TG_ERR_REF, TG_NOWHERE, "'%s' is not a commit", rev);
        return tg_err_hint(err, "Give a branch, a tag or a commit; a path goes after it as "
                                "REV:PATH.");
    }
    rc = git_commit_lookup(&commit, g->repo, git_object_id(c));
    git_object_free(c);
    if (rc < 0)
        return failed(err, "a commit cannot be read");
    describe(commit, a, out);
    git_commit_free(commit);
    out->ref = tg_arena_sv(a, tg_sv_of(rev));
    out->found = tg_sv_of(tg_arena_printf(a, "revision %s", rev));
    return true;
}

/* ---- trees and blobs ---- */

bool tg_git_tree_of(struct tg_git *g, const char *sha, struct tg_entry *root, struct tg_err *err)
{
    git_commit *c;
    if (commit_of(g, &c, sha) < 0)
        return failed(err, "a commit cannot be read");
    *root = (struct tg_entry){ .kind = TG_ENTRY_TREE };
    git_oid_tostr(root->oid, sizeof root->oid, git_commit_tree_id(c));
    git_commit_free(c);
    return true;
}

static int header(struct tg_git *g, const char *hex, git_oid *oid, size_t *size)
{
    git_object_t type;
    int rc = git_oid_fromstr(oid, hex);
    return rc == 0 ? git_odb_read_header(size, &type, g->odb, oid) : rc;
}

static bool tree_lookup(struct tg_git *g, const char *hex, git_tree **out, struct tg_err *err)
{
    git_oid oid;
    size_t size = 0;
    int rc = header(g, hex, &oid, &size);
    if (rc == GIT_ENOTFOUND) {
        if (!fetch_promised(g, hex, err))
            return false;
        rc = header(g, hex, &oid, &size);
    }
    if (rc == 0 && size > g->limits.max_blob)
        return tg_err_set(err, TG_ERR_LIMIT, TG_NOWHERE,
                          "a folder of the commit has %zu bytes of names, the limit is %zu", size,
                          g->limits.max_blob);
    if (rc == 0)
        rc = git_tree_lookup(out, g->repo, &oid);
    return rc == 0 || failed(err, "a folder of the commit cannot be read");
}

static void entry_of(const git_tree_entry *e, struct tg_entry *out)
{
    switch (git_tree_entry_filemode(e)) {
    case GIT_FILEMODE_TREE:
        out->kind = TG_ENTRY_TREE;
        break;
    case GIT_FILEMODE_LINK:
        out->kind = TG_ENTRY_LINK;
        break;
    case GIT_FILEMODE_COMMIT:
        out->kind = TG_ENTRY_MODULE;
        break;
    default:
        out->kind = TG_ENTRY_FILE;
    }
    git_oid_tostr(out->oid, sizeof out->oid, git_tree_entry_id(e));
}

enum tg_seen tg_git_entry(struct tg_git *g, const struct tg_entry *tree, tg_sv name,
                          struct tg_entry *out, struct tg_err *err)
{
    char text[4096];
    const git_tree_entry *e;
    git_tree *t;
    if (name.n >= sizeof text)
        return TG_ABSENT;
    memcpy(text, name.p, name.n);
    text[name.n] = '\0';
    if (!tree_lookup(g, tree->oid, &t, err))
        return TG_SEEN_FAILED;
    e = git_tree_entry_byname(t, text);
    if (e) {
        *out = (struct tg_entry){ .kind = TG_ENTRY_FILE };
        entry_of(e, out);
    }
    git_tree_free(t);
    return e ? TG_SEEN : TG_ABSENT;
}

bool tg_git_entries(struct tg_git *g, const struct tg_entry *tree, struct tg_arena *a,
                    struct tg_entry **out, size_t *n, struct tg_err *err)
{
    git_tree *t;
    if (!tree_lookup(g, tree->oid, &t, err))
        return false;
    *n = git_tree_entrycount(t);
    *out = TG_NEW_N(a, struct tg_entry, *n + 1);
    for (size_t i = 0; i < *n; i++) {
        const git_tree_entry *e = git_tree_entry_byindex(t, i);
        (*out)[i].name = tg_arena_sv(a, tg_sv_of(git_tree_entry_name(e)));
        entry_of(e, &(*out)[i]);
    }
    git_tree_free(t);
    return true;
}

bool tg_git_size(struct tg_git *g, const char *hex, uint64_t *size, struct tg_err *err)
{
    git_oid oid;
    size_t n = 0;
    int rc = header(g, hex, &oid, &n);
    *size = rc == 0 ? n : TG_SIZE_UNKNOWN;
    if (rc == 0 || (rc == GIT_ENOTFOUND && g->promised))
        return true;
    if (rc == GIT_ENOTFOUND)
        return object_missing(hex, err);
    return failed(err, "the size of a file cannot be read");
}

/* True: done, or failed with err set. False: git is not there, libgit2 must do it. */
static bool stream(struct tg_git *g, const char *hex, const char *path, uint64_t size,
                   struct tg_buf *out, bool *ok, struct tg_err *err)
{
    size_t start = out->n;
    struct tg_spawned r;
    git_oid want, got;
    char what[640];
    (void)tg_buf_room(out, (size_t)size + 1);
    cat_file(g, "blob", hex, (size_t)size, out, &r);
    if (r.end == TG_SPAWN_NOT_FOUND)
        return false;
    *ok = r.end == TG_SPAWN_EXIT && r.code == 0 && out->n - start == size &&
          git_oid_fromstr(&want, hex) == 0 &&
          git_odb_hash(&got, out->p + start, (size_t)size, GIT_OBJECT_BLOB) == 0 &&
          git_oid_equal(&want, &got);
    (void)snprintf(what, sizeof what, "reading '%s' from git", path);
    if (!*ok)
        tg_git_spawn_failed(g, what, &r, err);
    return true;
}

bool tg_git_blob(struct tg_git *g, const char *hex, const char *path, struct tg_buf *out,
                 struct tg_err *err)
{
    git_odb_object *o;
    git_oid oid;
    size_t size = 0;
    bool ok = false;
    int rc = header(g, hex, &oid, &size);
    if (rc == GIT_ENOTFOUND) {
        if (!fetch_promised(g, hex, err))
            return false;
        rc = header(g, hex, &oid, &size);
    }
    if (rc < 0)
        return failed(err, "a file of the commit cannot be read");
    if (size > g->limits.max_blob) {
        tg_err_set(err, TG_ERR_LIMIT, TG_AT_FILE(path),
                   "'%s' has %zu bytes in git, the limit is %zu", path, size, g->limits.max_blob);
        return tg_err_hint(err, "Commit it compressed (.json.gz), or as a summary: `tracegate "
                                "summarize TRACE -o FILE.tgs`.");
    }
    if (size > STREAM_SIZE && stream(g, hex, path, size, out, &ok, err))
        return ok;
    if (git_odb_read(&o, g->odb, &oid) < 0)
        return failed(err, "a file of the commit cannot be read");
    tg_buf_add(out, (tg_sv){ git_odb_object_data(o), git_odb_object_size(o) });
    git_odb_object_free(o);
    return true;
}

bool tg_git_same_bytes(const struct tg_git_file *f, const char *path)
{
    struct stat st;
    git_oid want, got;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == f->size &&
           git_oid_fromstr(&want, f->oid) == 0 &&
           git_odb_hashfile(&got, path, GIT_OBJECT_BLOB) == 0 && git_oid_equal(&want, &got);
}

/* ---- writing ---- */

static bool not_written(const char *what, struct tg_err *err)
{
    tg_err_set(err, TG_ERR_OUTPUT, TG_NOWHERE, "%s cannot be written: %s", what, last_error());
    return tg_err_hint(err, "Check that the repository is writable and the disk has room.");
}

bool tg_git_write_blob(struct tg_git *g, tg_sv bytes, char oid[TG_SHA_SIZE], struct tg_err *err)
{
    git_oid id;
    int rc;
    tg_signals_hold();
    rc = git_odb_write(&id, g->odb, bytes.p, bytes.n, GIT_OBJECT_BLOB);
    tg_signals_release();
    if (rc < 0)
        return not_written("an object", err);
    git_oid_tostr(oid, TG_SHA_SIZE, &id);
    return true;
}

/* Another process holds the lock of this ref or of packed-refs: it has milliseconds of work. */
static bool wait_for_lock(int rc, int *tries)
{
    struct timespec nap = { 0, 20000000 };
    if (rc != GIT_ELOCKED || ++*tries > 100)
        return false;
    (void)nanosleep(&nap, NULL);
    return true;
}

enum tg_seen tg_git_ref_create(struct tg_git *g, const char *name, const char *oid,
                               char there[TG_SHA_SIZE], struct tg_err *err)
{
    git_reference *ref = NULL;
    git_oid id;
    int tries = 0, rc = git_oid_fromstr(&id, oid);
    do
        if (rc >= 0 || rc == GIT_ELOCKED) {
            tg_signals_hold();
            rc = git_reference_create(&ref, g->repo, name, &id, 0, "tracegate: record");
            tg_signals_release();
        }
    while (wait_for_lock(rc, &tries));
    git_reference_free(ref);
    if (rc == GIT_EEXISTS && git_reference_name_to_id(&id, g->repo, name) == 0) {
        git_oid_tostr(there, TG_SHA_SIZE, &id);
        return TG_SEEN;
    }
    if (rc == 0)
        return TG_ABSENT;
    not_written("a ref", err);
    return TG_SEEN_FAILED;
}

bool tg_git_ref_delete(struct tg_git *g, const char *name, const char *oid, struct tg_err *err)
{
    git_reference *ref;
    git_oid id;
    int tries = 0, rc;
    do {
        rc = git_reference_lookup(&ref, g->repo, name);
        if (rc == GIT_ENOTFOUND)
            return true;
        if (rc < 0 || git_oid_fromstr(&id, oid) < 0)
            return failed(err, "a ref cannot be read");
        if (!git_reference_target(ref) || !git_oid_equal(git_reference_target(ref), &id)) {
            git_reference_free(ref);
            tg_err_set(err, TG_ERR_OUTPUT, TG_NOWHERE, "ref '%s' changed meanwhile", name);
            return tg_err_hint(err, "Nothing of it was deleted; run the command again.");
        }
        tg_signals_hold();
        rc = git_reference_delete(ref);
        tg_signals_release();
        git_reference_free(ref);
    } while (wait_for_lock(rc, &tries));
    return rc == 0 || rc == GIT_ENOTFOUND || not_written("a deletion", err);
}

/* One loose ref, a file below .git. libgit2's listing leaves out what it cannot read. */
static bool readable_ref(struct tg_git *g, const char *name, struct tg_err *err)
{
    git_reference *ref = NULL;
    int rc =
        tg_sv_ends(tg_sv_of(name), TG_SV(".lock")) ? 0 : git_reference_lookup(&ref, g->repo, name);
    git_reference_free(ref);
    if (rc == 0 || rc == GIT_ENOTFOUND) /* deleted meanwhile, or no name of a ref */
        return true;
    tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "ref '%s' cannot be read: %s", name, last_error());
    return tg_err_hint(err, "`git fsck` says more; delete it with `git update-ref -d`, or remove "
                            "its file, and fetch again.");
}

/* All files below `name`, a folder of refs. */
static bool readable_refs(struct tg_git *g, const char *name, struct tg_arena *a,
                          struct tg_err *err)
{
    const char *folder = tg_arena_printf(a, "%s%s", git_repository_commondir(g->repo), name);
    DIR *d = opendir(folder);
    struct dirent *e;
    struct stat st;
    bool ok = true;
    while (ok && d && (e = readdir(d))) {
        const char *path = tg_arena_printf(a, "%s/%s", folder, e->d_name);
        const char *below = tg_arena_printf(a, "%s/%s", name, e->d_name);
        if (e->d_name[0] == '.' || stat(path, &st) != 0)
            continue;
        ok = S_ISDIR(st.st_mode) ? readable_refs(g, below, a, err) : readable_ref(g, below, err);
    }
    if (d)
        (void)closedir(d);
    return ok;
}

bool tg_git_refs(struct tg_git *g, const char *prefix, struct tg_arena *a,
                 struct tg_git_ref_at **out, size_t *n, struct tg_err *err)
{
    git_reference_iterator *it = NULL;
    git_reference *ref;
    struct tg_git_ref_at *v = NULL;
    size_t cap = 0;
    int rc = git_reference_iterator_glob_new(&it, g->repo, tg_arena_printf(a, "%s*", prefix));
    *n = 0;
    while (rc == 0 && (rc = git_reference_next(&ref, it)) == 0) {
        const git_oid *id = git_reference_target(ref);
        v = tg_grow(v, &cap, *n + 1, sizeof *v);
        if (id) {
            v[*n].name = tg_arena_sv(a, tg_sv_of(git_reference_name(ref)));
            git_oid_tostr(v[*n].oid, TG_SHA_SIZE, id);
            (*n)++;
        }
        git_reference_free(ref);
    }
    git_reference_iterator_free(it);
    *out = TG_NEW_N(a, struct tg_git_ref_at, *n + 1);
    if (*n)
        memcpy(*out, v, *n * sizeof *v);
    free(v);
    if (rc != GIT_ITEROVER)
        return failed(err, "the refs cannot be listed");
    return readable_refs(
        g, tg_arena_printf(a, "%.*s", (int)(strrchr(prefix, '/') - prefix), prefix), a, err);
}

bool tg_git_is_ancestor(struct tg_git *g, const char *sha, const char *of)
{
    git_oid a, b;
    if (strcmp(sha, of) == 0)
        return true;
    return git_oid_fromstr(&a, sha) == 0 && git_oid_fromstr(&b, of) == 0 &&
           git_graph_descendant_of(g->repo, &b, &a) == 1;
}
