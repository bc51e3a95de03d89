/* The store in the repository itself: an object is a blob, its name a ref. */
#include "core/baseline/git.h"
#include "core/baseline/store.h"

static bool write_object(const struct tg_store *s, tg_sv bytes, char id[TG_SHA_SIZE],
                         struct tg_err *err)
{
    return tg_git_write_blob(s->git, bytes, id, err);
}

static enum tg_seen create(const struct tg_store *s, const char *name, const char *id,
                           char there[TG_SHA_SIZE], struct tg_err *err)
{
    return tg_git_ref_create(s->git, name, id, there, err);
}

static bool list(const struct tg_store *s, const char *prefix, struct tg_arena *a,
                 struct tg_git_ref_at **out, size_t *n, struct tg_err *err)
{
    return tg_git_refs_all(s->git, prefix, a, out, n, err);
}

static bool size_of(const struct tg_store *s, const char *id, uint64_t *size, struct tg_err *err)
{
    return tg_git_size(s->git, id, size, err);
}

static bool read_object(const struct tg_store *s, const char *id, const char *path,
                        struct tg_buf *out, struct tg_err *err)
{
    return tg_git_blob(s->git, id, path, out, err);
}

static bool remove_names(const struct tg_store *s, const struct tg_git_ref_at *v, size_t n,
                         struct tg_err *err)
{
    return tg_git_refs_delete(s->git, v, n, err);
}

struct tg_store tg_store_in_git(struct tg_git *g)
{
    static const struct tg_store_place in_git = { write_object, create,      list,
                                                  size_of,      read_object, remove_names };
    return (struct tg_store){ g, &in_git };
}
