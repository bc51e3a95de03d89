/*
 * What comes from git: revisions and paths as written, stored refs, what ls-remote prints, Git LFS
 * pointers, and objects (commits, trees, blobs) of any bytes in a real repository. The first byte
 * chooses. Whatever is refused says why; what is listed can be read, and reads as it was written.
 */
#include <fcntl.h>
#include <git2.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/sha256.h"
#include "core/baseline/git.h"
#include "core/baseline/store.h"
#include "tests/fuzz/target.h"

static struct {
    char dir[64];
    git_repository *repo;
    git_odb *odb;
    struct tg_git *g;
    char base[TG_SHA_SIZE]; /* a commit with perf/base.json, perf/r0.json and perf/lfs.json */
    git_oid file;
    int empty; /* a folder with nothing in it */
} box;

#define LFS_TEXT "{\"traceEvents\":[]}"

static void must(bool ok)
{
    abort_if(!ok);
}

static void object_of(tg_sv bytes, git_object_t type, git_oid *oid)
{
    must(git_odb_write(oid, box.odb, bytes.p, bytes.n, type) == 0);
}

/* The object as a file, so that millions of inputs leave none. */
static void forget(const git_oid *oid)
{
    char hex[TG_SHA_SIZE], path[PATH_MAX];
    git_oid_tostr(hex, sizeof hex, oid);
    (void)snprintf(path, sizeof path, "%s/.git/objects/%.2s/%s", box.dir, hex, hex + 2);
    (void)unlink(path);
}

static void put_entry(struct tg_buf *tree, const char *mode, const char *name, const git_oid *oid)
{
    tg_buf_printf(tree, "%s %s", mode, name);
    tg_buf_putc(tree, '\0');
    tg_buf_add(tree, (tg_sv){ (const char *)oid->id, sizeof oid->id });
}

/* A commit of one folder "perf" whose tree has these bytes; `made` are its objects. */
static void commit_of_tree(tg_sv tree, char sha[TG_SHA_SIZE], git_oid made[3])
{
    TG_BUF root = { 0 }, commit = { 0 };
    char hex[TG_SHA_SIZE];
    object_of(tree, GIT_OBJECT_TREE, &made[0]);
    put_entry(&root, "40000", "perf", &made[0]);
    object_of(tg_buf_sv(&root), GIT_OBJECT_TREE, &made[1]);
    git_oid_tostr(hex, sizeof hex, &made[1]);
    tg_buf_printf(&commit,
                  "tree %s\nauthor A <a@b> 1700000000 +0100\ncommitter A <a@b> 1700000000 +0100\n"
                  "\nbase\n",
                  hex);
    object_of(tg_buf_sv(&commit), GIT_OBJECT_COMMIT, &made[2]);
    git_oid_tostr(sha, TG_SHA_SIZE, &made[2]);
}

static void forget_all(const git_oid made[3])
{
    for (int i = 0; i < 3; i++)
        forget(&made[i]);
}

static void tear_down(void)
{
    char command[128];
    tg_git_close(box.g);
    git_odb_free(box.odb);
    git_repository_free(box.repo);
    (void)git_libgit2_shutdown();
    (void)snprintf(command, sizeof command, "rm -rf '%s'", box.dir);
    (void)!system(command);
}

/* The pointer whose object is here. */
static void put_lfs(struct tg_buf *out)
{
    char hex[65], path[PATH_MAX];
    FILE *f;
    tg_sha256_hex(TG_SV(LFS_TEXT), hex);
    tg_buf_printf(out, "version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %zu\n", hex,
                  sizeof LFS_TEXT - 1);
    (void)snprintf(path, sizeof path, "%s/.git/lfs/objects/%.2s/%.2s", box.dir, hex, hex + 2);
    for (char *p = path + strlen(box.dir) + 1; p; p = strchr(p + 1, '/')) {
        *p = '\0';
        (void)mkdir(path, 0700);
        *p = '/';
    }
    (void)mkdir(path, 0700);
    (void)snprintf(path + strlen(path), sizeof path - strlen(path), "/%s", hex);
    f = fopen(path, "wb");
    must(f && fputs(LFS_TEXT, f) >= 0 && fclose(f) == 0);
}

static void set_up(void)
{
    static char *const empty[] = { NULL };
    struct tg_git_opts o = { .dir = box.dir, .offline = true, .git = "/bin/false", .env = empty };
    TG_BUF tree = { 0 }, lfs = { 0 };
    git_reference *ref = NULL;
    git_oid made[3], pointer;
    struct tg_err err = TG_ERR_INIT;
    char name[PATH_MAX];
    if (box.g)
        return;
    (void)snprintf(box.dir, sizeof box.dir, "%s/tg-fuzz-XXXXXX",
                   access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    must(mkdtemp(box.dir) && setenv("HOME", box.dir, 1) == 0);
    (void)git_libgit2_init();
    (void)git_libgit2_opts(GIT_OPT_ENABLE_CACHING, 0); /* each input is new: nothing to keep */
    (void)git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 0);
    must(git_repository_init(&box.repo, box.dir, false) == 0 &&
         git_repository_odb(&box.odb, box.repo) == 0);
    put_lfs(&lfs);
    object_of(TG_SV("{\"n\":1}"), GIT_OBJECT_BLOB, &box.file);
    object_of(tg_buf_sv(&lfs), GIT_OBJECT_BLOB, &pointer);
    put_entry(&tree, "100644", "base.json", &box.file);
    put_entry(&tree, "100644", "lfs.json", &pointer);
    put_entry(&tree, "100644", "r0.json", &box.file);
    commit_of_tree(tg_buf_sv(&tree), box.base, made);
    must(git_reference_create(&ref, box.repo, "refs/heads/main", &made[2], 1, NULL) == 0);
    git_reference_free(ref);
    must(git_reference_create(&ref, box.repo, "refs/tags/v1", &made[2], 1, NULL) == 0);
    git_reference_free(ref);
    must(git_repository_set_head(box.repo, "refs/heads/main") == 0);
    box.g = tg_git_open(&o, &err);
    must(box.g != NULL);
    (void)snprintf(name, sizeof name, "%s/empty", box.dir);
    must(mkdir(name, 0700) == 0);
    box.empty = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    (void)atexit(tear_down);
}

static void side(const char *text, struct tg_arena *a)
{
    struct tg_input in;
    struct tg_err err = TG_ERR_INIT;
    int here;
    bool ok;
    if (strpbrk(text, "*?[") && (strstr(text, "..") || text[0] == '/'))
        return; /* a glob over this machine */
    here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    must(here >= 0 && fchdir(box.empty) == 0);
    tg_err_init(&err);
    ok = tg_input_parse(&in, text, a, &err);
    must(fchdir(here) == 0 && close(here) == 0);
    must_say(ok, &err);
    if (ok && in.kind == TG_INPUT_GIT_PATH)
        must(tg_sv_eq(in.text, tg_sv_of(tg_arena_printf(a, "%s:%s", in.rev.p, in.path.p))));
}

static void lfs_pointer(tg_sv bytes)
{
    struct tg_lfs p, again;
    char text[256];
    if (!tg_lfs_parse(bytes, &p))
        return;
    must(strspn(p.oid, "0123456789abcdef") == 64 && p.oid[64] == '\0' && p.size <= INT64_MAX);
    (void)snprintf(text, sizeof text,
                   "version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %llu\n", p.oid,
                   (unsigned long long)p.size);
    must(tg_lfs_parse(tg_sv_of(text), &again) && again.size == p.size &&
         strcmp(again.oid, p.oid) == 0);
}

/* What a suite's name becomes is a ref that git takes, and leads back to the name. */
static void suite_name(tg_sv bytes, struct tg_arena *a)
{
    struct tg_git_ref_at ref;
    struct tg_stored *v;
    struct tg_err err = TG_ERR_INIT;
    tg_sv component;
    size_t n;
    int valid = 0;
    bool ok;
    ok = tg_store_suite(bytes, a, &component, &err);
    must_say(ok, &err);
    if (!ok)
        return;
    ref.name = tg_sv_of(
        tg_arena_printf(a, TG_STORE_PREFIX "%s/%s/%.16s", component.p, box.base, box.base));
    memcpy(ref.oid, box.base, sizeof ref.oid);
    must(git_reference_name_is_valid(&valid, ref.name.p) == 0 && valid);
    tg_store_of_refs(&ref, 1, a, &v, &n);
    must(n == 1 && tg_sv_eq(v[0].suite, bytes));
}

static void listed_refs(tg_sv bytes, struct tg_arena *a)
{
    struct tg_git_ref_at *refs;
    struct tg_stored *v;
    struct tg_err err = TG_ERR_INIT;
    size_t n_refs, n;
    tg_remote_refs(bytes, a, &refs, &n_refs);
    tg_store_of_refs(refs, n_refs, a, &v, &n);
    must(n <= n_refs);
    for (size_t i = 0; i < n; i++) {
        tg_sv component;
        must(strlen(v[i].oid) == TG_SHA_SIZE - 1 && strlen(v[i].commit) == TG_SHA_SIZE - 1);
        must(tg_store_suite(v[i].suite, a, &component, &err) && tg_sv_has(v[i].ref, component));
    }
}

static void revision(const char *text, struct tg_arena *a)
{
    struct tg_commit c;
    struct tg_err err = TG_ERR_INIT;
    bool ok;
    ok = tg_git_resolve(box.g, text, a, &c, &err);
    must_say(ok, &err);
    if (ok)
        must(strcmp(c.sha, box.base) == 0); /* there is no other */
}

static void list(const char *sha, const char *path, struct tg_arena *a)
{
    struct tg_git_files files;
    struct tg_err err = TG_ERR_INIT;
    bool ok;
    ok = tg_git_list(box.g, sha, path, a, &files, &err);
    must_say(ok, &err);
    for (size_t i = 0; ok && i < files.n; i++) {
        must(i == 0 || tg_sv_cmp(files.v[i - 1].path, files.v[i].path) <= 0);
        must(files.v[i].path.n && files.v[i].path.p[0] != '/');
    }
}

static void read_path(const char *sha, const char *path, tg_sv want)
{
    TG_BUF out = { 0 };
    struct tg_err err = TG_ERR_INIT;
    bool found = false, ok;
    ok = tg_git_read_path(box.g, sha, path, &out, &found, &err);
    must_say(ok, &err);
    if (ok && found && want.p)
        must(tg_sv_eq(tg_buf_sv(&out), want));
}

static void raw_commit(tg_sv bytes, struct tg_arena *a)
{
    struct tg_parents parents;
    struct tg_entry root;
    struct tg_commit c, *window;
    struct tg_err err = TG_ERR_INIT;
    size_t n;
    git_oid oid;
    char sha[TG_SHA_SIZE];
    enum tg_seen seen;
    object_of(bytes, GIT_OBJECT_COMMIT, &oid);
    git_oid_tostr(sha, sizeof sha, &oid);
    seen = tg_git_commit(box.g, sha, a, &c, &err);
    must_say(seen != TG_SEEN_FAILED, &err);
    if (seen == TG_SEEN) {
        must(strcmp(c.sha, sha) == 0 && tg_git_parents(box.g, sha, &parents, &err));
        tg_err_init(&err);
        must_say(tg_git_tree_of(box.g, sha, &root, &err), &err);
        tg_err_init(&err);
        must_say(tg_baseline_window(box.g, &c, 3, a, &window, &n, &err), &err);
        list(sha, "perf", a);
        list(sha, "*/*.json", a);
    } else {
        tg_err_init(&err);
        must(seen == TG_ABSENT || !tg_git_parents(box.g, sha, &parents, &err));
    }
    if (strcmp(sha, box.base) != 0)
        forget(&oid);
}

static void raw_tree(tg_sv bytes, struct tg_arena *a)
{
    git_oid made[3];
    char sha[TG_SHA_SIZE];
    commit_of_tree(bytes, sha, made);
    list(sha, "perf", a);
    list(sha, "perf/*", a);
    list(sha, "*/[a-c]*/*", a);
    read_path(sha, "perf/base.json", (tg_sv){ NULL, 0 });
    if (strcmp(sha, box.base) != 0)
        forget_all(made);
}

/* A blob reads as it is, or as the object that it points at. */
static void raw_blob(tg_sv bytes, struct tg_arena *a)
{
    TG_BUF tree = { 0 };
    struct tg_lfs p;
    bool pointer = tg_lfs_parse(bytes, &p);
    git_oid made[3], blob;
    char sha[TG_SHA_SIZE];
    object_of(bytes, GIT_OBJECT_BLOB, &blob);
    put_entry(&tree, "100644", "b.json", &blob);
    commit_of_tree(tg_buf_sv(&tree), sha, made);
    list(sha, "perf/b.json", a);
    read_path(sha, "perf/b.json", pointer ? TG_SV(LFS_TEXT) : bytes);
    forget_all(made);
    if (!git_oid_equal(&blob, &box.file) && !pointer)
        forget(&blob);
}

FUZZ_TARGET(1)
{
    TG_ARENA *a = tg_arena_new();
    const char *text = tg_arena_sv(a, bytes).p; /* ends at its first NUL */
    set_up();
    switch (choice[0] % 8) {
    case 0:
        side(text, a);
        break;
    case 1:
        lfs_pointer(bytes);
        break;
    case 2:
        suite_name(bytes, a);
        listed_refs(bytes, a);
        break;
    case 3:
        revision(text, a);
        break;
    case 4:
        list(box.base, text, a);
        read_path(box.base, text, (tg_sv){ NULL, 0 });
        break;
    case 5:
        raw_commit(bytes, a);
        break;
    case 6:
        raw_tree(bytes, a);
        break;
    default:
        raw_blob(bytes, a);
    }
}
