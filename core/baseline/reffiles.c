#include "core/baseline/reffiles.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/look.h"
#include "core/base/sort.h"

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

/* The others can be read all the same. */
static void add_unreadable(struct refs *r, const char *name, const struct tg_err *why)
{
    struct tg_err *kept = TG_NEW(r->a, struct tg_err);
    *kept = *why;
    add(r, tg_sv_of(name), TG_SV(""), false)->ref.why = kept;
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
    if (why.kind != TG_ERR_NONE)
        add_unreadable(r, name, &why);
    else if (seen == TG_SEEN)
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

bool tg_reffiles_list(const char *common, const char *prefix, struct tg_arena *a,
                      struct tg_git_ref_at **out, size_t *n, struct tg_err *err)
{
    struct refs r = { .common = common, .a = a, .err = err };
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

enum tg_seen tg_reffiles_look(const char *common, const char *name, struct tg_err *err)
{
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
