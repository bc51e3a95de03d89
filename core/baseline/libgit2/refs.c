/*
 * Refs and blobs that are written; and the refs of a repository, read from its own files: loose
 * ones below refs/, the others in packed-refs (gitrepository-layout(5)). libgit2's listing leaves
 * out a folder or a file that it cannot read, as if nothing were there; here such a file is a ref
 * with `why`, and such a folder an error. Loose refs are read first: a ref that is packed meanwhile
 * is then found in packed-refs. Cost: one pass over both.
 */
#include "core/baseline/libgit2/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/look.h"
#include "core/base/sort.h"

/* ---- writing ---- */

static bool not_written(const char *what, struct tg_err *err)
{
    tg_err_set(err, TG_ERR_OUTPUT, TG_NOWHERE, "%s cannot be written: %s", what,
               tg_libgit2_error());
    return tg_err_hint(err, "Check that the repository is writable and the disk has room.");
}

bool tg_git_write_blob(struct tg_git *g, tg_sv bytes, char oid[TG_SHA_SIZE], struct tg_err *err)
{
    git_oid id;
    tg_signals_hold();
    int rc = git_odb_write(&id, g->odb, bytes.p, bytes.n, GIT_OBJECT_BLOB);
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

static bool delete_ref(struct tg_git *g, const char *name, const char *oid, struct tg_err *err)
{
    git_reference *ref;
    git_oid id;
    int tries = 0, rc;
    do {
        rc = git_reference_lookup(&ref, g->repo, name);
        if (rc == GIT_ENOTFOUND)
            return true;
        if (rc < 0 || git_oid_fromstr(&id, oid) < 0)
            return tg_libgit2_failed(err, "a ref cannot be read");
        if (!git_reference_target(ref) || !git_oid_equal(git_reference_target(ref), &id)) {
            git_reference_free(ref);
            tg_err_set(err, TG_ERR_OUTPUT, TG_NOWHERE, "ref '%s' changed meanwhile", name);
            return tg_err_hint(err, "It was not deleted; run the command again.");
        }
        tg_signals_hold();
        rc = git_reference_delete(ref);
        tg_signals_release();
        git_reference_free(ref);
    } while (wait_for_lock(rc, &tries));
    return rc == 0 || rc == GIT_ENOTFOUND || not_written("a deletion", err);
}

bool tg_git_refs_delete(struct tg_git *g, const struct tg_git_ref_at *v, size_t n,
                        struct tg_err *err)
{
    enum { FEW = 8 }; /* a child of its own is not worth it below */
    static const char *const args[] = { "update-ref", "--stdin", NULL };
    if (n > FEW) { /* one transaction; if it fails, not one is gone, and nobody says why */
        TG_BUF commands = { 0 };
        struct tg_spawned how;
        for (size_t i = 0; i < n; i++)
            tg_buf_printf(&commands, "delete %.*s %s\n", TG_SV_ARG(v[i].name), v[i].oid);
        tg_git_spawn_with(g, args, tg_buf_sv(&commands), 0, NULL, &how);
        if (how.end == TG_SPAWN_EXIT && how.code == 0)
            return true;
    }
    for (size_t i = 0; i < n; i++)
        if (!delete_ref(g, v[i].name.p, v[i].oid, err))
            return false;
    return true;
}

/* ---- the list ---- */

enum { MAX_LOOSE = 4096, SHA_DIGITS = TG_SHA_SIZE - 1 };

struct entry {
    struct tg_git_ref_at ref; /* oid "" without `why`: symbolic */
    bool packed;
};

struct refs {
    const char *common;
    struct entry *v;
    size_t n, cap;
    struct tg_arena *a;
    struct tg_err *err;
};

static bool unreadable(const char *name, const char *why, struct tg_err *err)
{
    tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "ref '%s' cannot be read: %s", name, why);
    return tg_err_hint(err, "`git fsck` says more; delete it with `git update-ref -d`, or remove "
                            "its file, and fetch again.");
}

static struct entry *add(struct refs *r, tg_sv name, tg_sv oid, bool packed)
{
    struct entry *e = TG_PUSH(r->v, r->n, r->cap);
    *e = (struct entry){ .ref = { .name = tg_arena_sv(r->a, name) }, .packed = packed };
    memcpy(e->ref.oid, oid.p, oid.n);
    return e;
}

/* ---- loose refs ---- */

/* The bytes of a small file. ABSENT: it was deleted or packed meanwhile. */
static enum tg_seen read_small(const char *path, const char *name, struct tg_buf *out,
                               struct tg_err *err)
{
    ssize_t got;
    int code, fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        if (tg_look_is_absent(errno))
            return TG_ABSENT;
        (void)unreadable(name, strerror(errno), err);
        return TG_SEEN_FAILED;
    }
    do
        got = read(fd, tg_buf_room(out, MAX_LOOSE), MAX_LOOSE);
    while (got < 0 && errno == EINTR);
    code = errno;
    (void)close(fd);
    if (got < 0) {
        (void)unreadable(name, strerror(code), err);
        return TG_SEEN_FAILED;
    }
    out->n += (size_t)got;
    return TG_SEEN;
}

static void add_loose(struct refs *r, const char *name)
{
    TG_BUF text = { 0 };
    struct tg_err why = TG_ERR_INIT;
    enum tg_seen seen =
        read_small(tg_arena_printf(r->a, "%s%s", r->common, name), name, &text, &why);
    tg_sv rest = tg_buf_sv(&text);
    tg_sv oid = { rest.p, rest.n < SHA_DIGITS ? rest.n : SHA_DIGITS };
    bool symbolic = tg_sv_starts(rest, TG_SV("ref:"));
    if (seen == TG_SEEN && !symbolic &&
        (!tg_is_hex(oid, SHA_DIGITS) ||
         (rest.n > SHA_DIGITS && !strchr(" \t\r\n", rest.p[SHA_DIGITS]))))
        (void)unreadable(name, "corrupted loose reference file", &why);
    if (why.kind != TG_ERR_NONE) { /* the others can be read all the same */
        struct tg_err *kept = TG_NEW(r->a, struct tg_err);
        *kept = why;
        add(r, tg_sv_of(name), TG_SV(""), false)->ref.why = kept;
    } else if (seen == TG_SEEN)
        (void)add(r, tg_sv_of(name), symbolic ? TG_SV("") : oid, false);
}

/* All below `name`, a folder of refs; ".lock" and hidden files are skipped. */
static bool add_folder(struct refs *r, const char *name)
{
    const char **names;
    size_t n;
    enum tg_seen seen =
        tg_look_in(tg_arena_printf(r->a, "%s%s", r->common, name), r->a, &names, &n, r->err);
    for (size_t i = 0; seen == TG_SEEN && i < n; i++) {
        const char *below = tg_arena_printf(r->a, "%s/%s", name, names[i]);
        bool dir = false;
        if (names[i][0] == '.' || tg_sv_ends(tg_sv_of(names[i]), TG_SV(".lock")))
            continue;
        enum tg_seen one =
            tg_look_at(tg_arena_printf(r->a, "%s%s", r->common, below), &dir, r->err);
        if (one == TG_SEEN_FAILED || (one == TG_SEEN && dir && !add_folder(r, below)))
            seen = TG_SEEN_FAILED;
        else if (one == TG_SEEN && !dir)
            add_loose(r, below);
    }
    return seen != TG_SEEN_FAILED;
}

/* ---- packed refs ---- */

static enum tg_seen read_packed(const char *common, struct tg_arena *a, struct tg_buf *out,
                                struct tg_err *err)
{
    const char *path = tg_arena_printf(a, "%spacked-refs", common);
    enum tg_seen seen = tg_look_at(path, NULL, err);
    if (seen == TG_SEEN && !tg_file_read(out, path, SIZE_MAX / 2, err))
        seen = TG_SEEN_FAILED;
    if (seen == TG_SEEN && out->n && out->p[out->n - 1] != '\n') {
        tg_err_set(err, TG_ERR_GIT, TG_AT_FILE(path), "'%s' is truncated", path);
        tg_err_hint(err, "Refs are lost: fetch them again, or clone again.");
        return TG_SEEN_FAILED;
    }
    return seen;
}

static bool add_packed(struct refs *r, tg_sv prefix)
{
    TG_BUF text = { 0 };
    enum tg_seen seen = read_packed(r->common, r->a, &text, r->err);
    for (tg_sv rest = tg_buf_sv(&text); seen == TG_SEEN && rest.n;) {
        tg_sv line = tg_sv_cut(&rest, '\n'), oid = tg_sv_cut(&line, ' ');
        if (!oid.n || oid.p[0] == '#' || oid.p[0] == '^')
            continue;
        if (!tg_is_hex(oid, SHA_DIGITS) || !line.n) {
            tg_err_set(r->err, TG_ERR_GIT, TG_NOWHERE, "packed-refs has a line without a ref");
            return tg_err_hint(r->err, "`git fsck` says more; fetch again, or clone again.");
        }
        if (tg_sv_starts(line, prefix))
            (void)add(r, line, oid, true);
    }
    return seen != TG_SEEN_FAILED;
}

/* ---- both ---- */

static int by_name(const void *x, const void *y)
{
    const struct entry *a = x, *b = y;
    int c = tg_sv_cmp(a->ref.name, b->ref.name);
    return c ? c : TG_CMP(a->packed, b->packed);
}

bool tg_git_refs_all(struct tg_git *g, const char *prefix, struct tg_arena *a,
                     struct tg_git_ref_at **out, size_t *n, struct tg_err *err)
{
    struct refs r = { .common = git_repository_commondir(g->repo), .a = a, .err = err };
    tg_sv folder = { prefix, strlen(prefix) - 1 };
    bool ok = add_folder(&r, tg_arena_sv(a, folder).p) && add_packed(&r, tg_sv_of(prefix));
    *n = 0;
    *out = TG_NEW_N(a, struct tg_git_ref_at, r.n + 1);
    TG_SORT(r.v, r.n, by_name);
    for (size_t i = 0; ok && i < r.n; i++)
        if ((!i || !tg_sv_eq(r.v[i].ref.name, r.v[i - 1].ref.name)) &&
            (r.v[i].ref.oid[0] || r.v[i].ref.why))
            (*out)[(*n)++] = r.v[i].ref;
    free(r.v);
    return ok;
}

enum tg_seen tg_libgit2_look(struct tg_git *g, const char *name, struct tg_err *err)
{
    const char *common = git_repository_commondir(g->repo);
    TG_ARENA *a = tg_arena_new();
    TG_BUF text = { 0 };
    bool dir = false;
    enum tg_seen seen = tg_look_at(tg_arena_printf(a, "%s%s", common, name), &dir, err);
    if (seen == TG_SEEN_FAILED || (seen == TG_SEEN && !dir))
        return seen;
    seen = read_packed(common, a, &text, err);
    if (seen != TG_SEEN)
        return seen;
    return tg_sv_has(tg_buf_sv(&text), tg_sv_of(tg_arena_printf(a, " %s\n", name))) ? TG_SEEN
                                                                                    : TG_ABSENT;
}

bool tg_git_refs(struct tg_git *g, const char *prefix, struct tg_arena *a,
                 struct tg_git_ref_at **out, size_t *n, struct tg_err *err)
{
    bool ok = tg_git_refs_all(g, prefix, a, out, n, err);
    for (size_t i = 0; ok && i < *n; i++)
        if ((*out)[i].why)
            ok = tg_err_again(err, (*out)[i].why);
    return ok;
}
