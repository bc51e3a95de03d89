/* Loose objects are read here: on one that is cut, libgit2 never returns. */
#include "core/baseline/libgit2/internal.h"

#include <stdio.h>

static int refuse(const char *hex, enum tg_loose_state state)
{
    char text[160];
    (void)snprintf(text, sizeof text, "the loose object %s %s", hex,
                   state == TG_LOOSE_UNREADABLE ? "cannot be read" : "is truncated or damaged");
    (void)git_error_set_str(GIT_ERROR_ODB, text);
    return GIT_ERROR;
}

/* GIT_ENOTFOUND: not a loose one, so that the next backend is asked. */
static int read_part(git_odb_backend *b, const git_oid *id, enum tg_loose_part part,
                     struct tg_loose_object *o)
{
    struct tg_git_guard *g = (struct tg_git_guard *)b;
    char hex[TG_SHA_SIZE];
    git_oid_tostr(hex, sizeof hex, id);
    enum tg_loose_state state = tg_loose_read(&g->loose, hex, part, o);
    if (state == TG_LOOSE_WHOLE && git_object_string2type(o->type) == GIT_OBJECT_INVALID)
        state = TG_LOOSE_CUT;
    if (state == TG_LOOSE_ABSENT)
        return GIT_ENOTFOUND;
    return state == TG_LOOSE_WHOLE ? 0 : refuse(hex, state);
}

static int read_object(void **data, size_t *size, git_object_t *type, git_odb_backend *b,
                       const git_oid *id)
{
    struct tg_loose_object o = { .size = 0 };
    int rc = read_part(b, id, TG_LOOSE_CONTENT, &o);
    if (rc == 0) {
        *data = git_odb_backend_data_alloc(b, o.size + 1); /* libgit2 frees it */
        rc = *data ? 0 : GIT_ERROR;
    }
    if (rc == 0) {
        memcpy(*data, o.bytes.p + o.start, o.size + 1); /* with the zero at the buffer's end */
        *size = o.size;
        *type = git_object_string2type(o.type);
    }
    tg_buf_release(&o.bytes);
    return rc;
}

static int read_header(size_t *size, git_object_t *type, git_odb_backend *b, const git_oid *id)
{
    struct tg_loose_object o = { .size = 0 };
    int rc = read_part(b, id, TG_LOOSE_HEADER, &o);
    if (rc == 0) {
        *size = o.size;
        *type = git_object_string2type(o.type);
    }
    return rc;
}

static int refuse_prefix(git_oid *found, void **data, size_t *size, git_object_t *type,
                         git_odb_backend *b, const git_oid *id, size_t digits)
{
    struct tg_git_guard *g = (struct tg_git_guard *)b;
    char hex[TG_SHA_SIZE];
    (void)found, (void)data, (void)size, (void)type;
    git_oid_tostr(hex, digits < TG_SHA_SIZE ? digits + 1 : TG_SHA_SIZE, id);
    enum tg_loose_state state = tg_loose_check(&g->loose, hex);
    return state == TG_LOOSE_CUT || state == TG_LOOSE_UNREADABLE ? refuse(hex, state)
                                                                 : GIT_ENOTFOUND;
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
    g->guard.backend.read = read_object;
    g->guard.backend.read_header = read_header;
    g->guard.backend.read_prefix = refuse_prefix;
    g->guard.backend.free = keep;
    return git_odb_add_backend(g->odb, &g->guard.backend, FIRST) == 0;
}

enum tg_seen tg_libgit2_absent(struct tg_git *g, struct tg_err *err)
{
    g->all_readable = g->all_readable || tg_loose_readable(&g->guard.loose, err);
    return g->all_readable ? TG_ABSENT : TG_SEEN_FAILED;
}
