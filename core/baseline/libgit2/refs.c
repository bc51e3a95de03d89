/* Writing: blobs and refs. */
#include "core/baseline/libgit2/internal.h"

#include <time.h>

#include "core/baseline/reffiles.h"

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

/* One transaction; false: not one of them is gone, and nobody says why. */
static bool delete_together(struct tg_git *g, const struct tg_git_ref_at *v, size_t n)
{
    static const char *const args[] = { "update-ref", "--stdin", NULL };
    TG_BUF commands = { 0 };
    struct tg_spawned how;
    for (size_t i = 0; i < n; i++)
        tg_buf_printf(&commands, "delete %.*s %s\n", TG_SV_ARG(v[i].name), v[i].oid);
    tg_git_spawn_with(g, args, tg_buf_sv(&commands), 0, NULL, &how);
    return how.end == TG_SPAWN_EXIT && how.code == 0;
}

bool tg_git_refs_delete(struct tg_git *g, const struct tg_git_ref_at *v, size_t n,
                        struct tg_err *err)
{
    enum { FEW = 8 }; /* a child of its own is not worth it below */
    if (n > FEW && delete_together(g, v, n))
        return true;
    for (size_t i = 0; i < n; i++)
        if (!delete_ref(g, v[i].name.p, v[i].oid, err))
            return false;
    return true;
}

bool tg_git_refs_all(struct tg_git *g, const char *prefix, struct tg_arena *a,
                     struct tg_git_ref_at **out, size_t *n, struct tg_err *err)
{
    return tg_reffiles_list(git_repository_commondir(g->repo), prefix, a, out, n, err);
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
