/* Trees and blobs. */
#include "core/baseline/libgit2/internal.h"

#include <stdio.h>
#include <sys/stat.h>

/* From here on `git` streams a blob: libgit2 needs the blob twice, four times when deltified. */
#define STREAM_SIZE ((uint64_t)50 << 20)

bool tg_git_tree_of(struct tg_git *g, const char *sha, struct tg_entry *root, struct tg_err *err)
{
    git_commit *c;
    if (tg_libgit2_commit(g, &c, sha) < 0)
        return tg_libgit2_failed(err, "a commit cannot be read");
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

/* The same of an object that is needed: one that a partial clone lacks is fetched. */
static bool find_object(struct tg_git *g, const char *hex, git_oid *oid, size_t *size,
                        const char *failure, struct tg_err *err)
{
    int rc = header(g, hex, oid, size);
    if (rc == GIT_ENOTFOUND) {
        if (!tg_libgit2_fetch(g, hex, err))
            return false;
        rc = header(g, hex, oid, size);
    }
    return rc == 0 || tg_libgit2_failed(err, failure);
}

static bool tree_lookup(struct tg_git *g, const char *hex, git_tree **out, struct tg_err *err)
{
    static const char failure[] = "a folder of the commit cannot be read";
    git_oid oid;
    size_t size = 0;
    if (!find_object(g, hex, &oid, &size, failure, err))
        return false;
    if (size > g->limits.max_blob)
        return tg_err_set(err, TG_ERR_LIMIT, TG_NOWHERE,
                          "a folder of the commit has %zu bytes of names, the limit is %zu", size,
                          g->limits.max_blob);
    return git_tree_lookup(out, g->repo, &oid) == 0 || tg_libgit2_failed(err, failure);
}

static enum tg_entry_kind kind_of(const git_tree_entry *e)
{
    switch (git_tree_entry_filemode(e)) {
    case GIT_FILEMODE_TREE:
        return TG_ENTRY_TREE;
    case GIT_FILEMODE_LINK:
        return TG_ENTRY_LINK;
    case GIT_FILEMODE_COMMIT:
        return TG_ENTRY_MODULE;
    default:
        return TG_ENTRY_FILE;
    }
}

enum tg_seen tg_git_entry(struct tg_git *g, const struct tg_entry *tree, const char *name,
                          struct tg_entry *out, struct tg_err *err)
{
    git_tree *t;
    if (!tree_lookup(g, tree->oid, &t, err))
        return TG_SEEN_FAILED;
    const git_tree_entry *e = git_tree_entry_byname(t, name);
    if (e) {
        *out = (struct tg_entry){ .kind = kind_of(e) };
        git_oid_tostr(out->oid, sizeof out->oid, git_tree_entry_id(e));
    }
    git_tree_free(t);
    return e ? TG_SEEN : TG_ABSENT;
}

bool tg_git_entries(struct tg_git *g, const struct tg_entry *tree, struct tg_entry_filter filter,
                    struct tg_arena *a, struct tg_entry **out, size_t *n, struct tg_err *err)
{
    size_t all, cap = 0;
    git_tree *t;
    *out = NULL;
    *n = 0;
    if (!tree_lookup(g, tree->oid, &t, err))
        return false;
    all = git_tree_entrycount(t);
    for (size_t i = 0; i < all; i++) {
        const git_tree_entry *e = git_tree_entry_byindex(t, i);
        struct tg_entry one = { .kind = kind_of(e), .name = tg_sv_of(git_tree_entry_name(e)) };
        if (!filter.wants(&one, filter.arg))
            continue;
        one.name = tg_arena_sv(a, one.name);
        git_oid_tostr(one.oid, sizeof one.oid, git_tree_entry_id(e));
        *TG_ARENA_PUSH(a, *out, *n, cap) = one;
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
        return tg_libgit2_missing(g, hex, err);
    return tg_libgit2_failed(err, "the size of a file cannot be read");
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
    tg_libgit2_cat_file(g, "blob", hex, (size_t)size, out, &r);
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
    static const char failure[] = "a file of the commit cannot be read";
    git_odb_object *o;
    git_oid oid;
    size_t size = 0;
    bool ok = false;
    if (!find_object(g, hex, &oid, &size, failure, err))
        return false;
    if (size > g->limits.max_blob) {
        tg_err_set(err, TG_ERR_LIMIT, TG_AT_FILE(path),
                   "'%s' has %zu bytes in git, the limit is %zu", path, size, g->limits.max_blob);
        return tg_err_hint(err, "Commit it compressed (.json.gz), or as a summary: `tracegate "
                                "summarize TRACE -o FILE.tgs`.");
    }
    if (size > STREAM_SIZE && stream(g, hex, path, size, out, &ok, err))
        return ok;
    if (git_odb_read(&o, g->odb, &oid) < 0)
        return tg_libgit2_failed(err, failure);
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
