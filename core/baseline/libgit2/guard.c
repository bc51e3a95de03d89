/* Loose objects that are cut, on which libgit2 never returns, are found before it looks. */
#include "core/baseline/libgit2/internal.h"

#include <stdio.h>

static int look_for(git_odb_backend *b, const char *hex)
{
    struct tg_git_guard *g = (struct tg_git_guard *)b;
    char text[160];
    if (tg_loose_check(&g->loose, hex) != TG_LOOSE_CUT)
        return GIT_ENOTFOUND; /* here, so that the next backend is asked */
    (void)snprintf(text, sizeof text, "the loose object %s is truncated or damaged", hex);
    (void)git_error_set_str(GIT_ERROR_ODB, text);
    return GIT_ERROR;
}

static int look_for_id(git_odb_backend *b, const git_oid *id)
{
    char hex[TG_SHA_SIZE];
    git_oid_tostr(hex, sizeof hex, id);
    return look_for(b, hex);
}

static int refuse_read(void **data, size_t *size, git_object_t *type, git_odb_backend *b,
                       const git_oid *id)
{
    (void)data, (void)size, (void)type;
    return look_for_id(b, id);
}

static int refuse_header(size_t *size, git_object_t *type, git_odb_backend *b, const git_oid *id)
{
    (void)size, (void)type;
    return look_for_id(b, id);
}

static int refuse_prefix(git_oid *found, void **data, size_t *size, git_object_t *type,
                         git_odb_backend *b, const git_oid *id, size_t digits)
{
    char hex[TG_SHA_SIZE];
    (void)found, (void)data, (void)size, (void)type;
    git_oid_tostr(hex, digits < TG_SHA_SIZE ? digits + 1 : TG_SHA_SIZE, id);
    return look_for(b, hex);
}

static void keep(git_odb_backend *b)
{
    (void)b; /* part of struct tg_git */
}

/* Before libgit2's backends: those have the priorities 1 and 2. */
bool tg_libgit2_guard(struct tg_git *g)
{
    enum { FIRST = 100 };
    tg_loose_init(&g->guard.loose,
                  tg_arena_printf(g->a, "%sobjects", git_repository_commondir(g->repo)), g->a);
    if (git_odb_init_backend(&g->guard.backend, GIT_ODB_BACKEND_VERSION) < 0)
        return false;
    g->guard.backend.read = refuse_read;
    g->guard.backend.read_header = refuse_header;
    g->guard.backend.read_prefix = refuse_prefix;
    g->guard.backend.free = keep;
    return git_odb_add_backend(g->odb, &g->guard.backend, FIRST) == 0;
}
