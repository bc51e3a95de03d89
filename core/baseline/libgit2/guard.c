/*
 * Loose objects, read here and not by libgit2 (1.5), which never returns from one that is cut: a
 * writer was killed, or the disk was full. They are handed to libgit2, which checks their hash. The
 * format: zlib over "TYPE SIZE", a zero byte and the content (gitformat-loose(5)). Cost: a header
 * is its first bytes, a content is inflated once; a packed object costs nothing where no loose one
 * begins with its two digits, else a failed open per folder.
 */
#include "core/baseline/libgit2/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/look.h"
#include "core/trace/zlib_pack.h"

/* ---- the files ---- */

enum loose_state {
    ABSENT,
    WHOLE,
    CUT,       /* truncated or damaged */
    UNREADABLE /* it is there, or may be, and cannot be read */
};
enum loose_part { HEADER, CONTENT };

struct loose_object {
    char type[16];
    size_t size;         /* of the content */
    size_t start;        /* of the content in `bytes`, after the header */
    struct tg_buf bytes; /* empty if only the header was asked for; the caller releases it */
};

/* As git: alternates of alternates, five deep; a limit on them all keeps loops finite. */
enum { MAX_DEPTH = 5, MAX_DIRS = 64, MAX_ALTERNATES = 1 << 20, SHA_DIGITS = 40, FAN = 256 };
/* Of deflate, 1,032 (zlib.net/zlib_tech.html): a damaged header must not ask for any memory. */
#define MAX_RATIO 1032

struct dirs {
    const char **v;
    size_t n;
    struct tg_arena *a;
};

/* A folder of objects, and those that its info/alternates names. */
static void add(struct dirs *d, const char *dir, int depth)
{
    if (d->n == MAX_DIRS || depth > MAX_DEPTH)
        return;
    d->v[d->n++] = dir;
    /* info/alternates: a folder a line, relative ones to `dir`. */
    TG_BUF text = { 0 };
    struct tg_err ignored = TG_ERR_INIT;
    tg_sv rest, line;
    if (tg_file_read(&text, tg_arena_printf(d->a, "%s/info/alternates", dir), MAX_ALTERNATES,
                     &ignored))
        for (rest = tg_buf_sv(&text); rest.n;) {
            line = tg_sv_cut(&rest, '\n');
            if (line.n && line.p[0] != '#')
                add(d,
                    line.p[0] == '/' ? tg_arena_sv(d->a, line).p
                                     : tg_arena_printf(d->a, "%s/%.*s", dir, TG_SV_ARG(line)),
                    depth + 1);
        }
}

static bool unpack(tg_sv packed, struct loose_object *o, enum loose_part part)
{
    char head[64];
    tg_sv text = { head, tg_zlib_unpack_head(packed, head, sizeof head) };
    const char *end = text.n ? memchr(head, '\0', text.n) : NULL;
    tg_sv rest = { head, end ? (size_t)(end - head) : 0 }; /* "blob 1234" and a zero byte */
    tg_sv type = tg_sv_cut(&rest, ' ');
    int64_t size;
    if (!type.n || type.n >= sizeof o->type || !tg_sv_i64(rest, &size) || size < 0)
        return false;
    memcpy(o->type, type.p, type.n);
    o->type[type.n] = '\0';
    o->size = (size_t)size;
    o->start = (size_t)(end + 1 - head);
    return o->size / MAX_RATIO <= packed.n &&
           (part == HEADER || tg_zlib_unpack(packed, o->start + o->size, &o->bytes));
}

static enum loose_state read_path(const char *path, struct loose_object *o, enum loose_part part)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    enum loose_state found = UNREADABLE;
    if (fd < 0)
        return tg_look_is_absent(errno) ? ABSENT : UNREADABLE;
    bool known = fstat(fd, &st) == 0;
    if (known && st.st_size <= 0) {
        found = CUT;
    } else if (known) {
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p != MAP_FAILED) {
            found = unpack((tg_sv){ p, (size_t)st.st_size }, o, part) ? WHOLE : CUT;
            (void)munmap(p, (size_t)st.st_size);
        }
    }
    (void)close(fd);
    return found;
}

/* Are all files that begin with these 3 to 40 hex digits whole? Reads them. */
static enum loose_state loose_check(const struct tg_loose *l, const char *hex)
{
    TG_ARENA *a = tg_arena_new();
    enum loose_state found = ABSENT;
    for (size_t d = 0; d < l->n && found == ABSENT && strlen(hex) > 2; d++) {
        const char *sub = tg_arena_printf(a, "%s/%.2s", l->dirs[d], hex), **names;
        struct tg_err ignored = TG_ERR_INIT;
        size_t n;
        if (tg_look_in(sub, a, &names, &n, &ignored) == TG_SEEN_FAILED)
            return UNREADABLE;
        for (size_t i = 0; i < n && (found == ABSENT || found == WHOLE); i++) {
            struct loose_object o = { .size = 0 };
            if (strlen(names[i]) != SHA_DIGITS - 2 ||
                strncmp(names[i], hex + 2, strlen(hex) - 2) != 0)
                continue;
            enum loose_state one =
                read_path(tg_arena_printf(a, "%s/%s", sub, names[i]), &o, CONTENT);
            tg_buf_release(&o.bytes);
            found = one != ABSENT ? one : found; /* one that is cut or unreadable decides */
        }
    }
    return found;
}

/* After `git gc` hardly any is left. What cannot be looked at may have it. */
static bool may_have(const struct tg_loose *l, size_t dir, const char *hex, struct tg_arena *a)
{
    enum { UNKNOWN, EMPTY, THERE };
    const char digits[3] = { hex[0], hex[1], '\0' };
    unsigned char *at = &l->fan[dir * FAN + (strtoul(digits, NULL, 16) & (FAN - 1))];
    if (*at == UNKNOWN)
        *at = access(tg_arena_printf(a, "%s/%s", l->dirs[dir], digits), F_OK) != 0 &&
                      tg_look_is_absent(errno)
                  ? EMPTY
                  : THERE;
    return *at == THERE;
}

/* The first file there is of 40 hex digits. */
static enum loose_state loose_read(const struct tg_loose *l, const char *hex, enum loose_part part,
                                   struct loose_object *o)
{
    TG_ARENA *a = tg_arena_new();
    enum loose_state found = ABSENT;
    for (size_t i = 0; i < l->n && found == ABSENT; i++)
        if (may_have(l, i, hex, a))
            found = read_path(tg_arena_printf(a, "%s/%.2s/%s", l->dirs[i], hex, hex + 2), o, part);
    return found;
}

/* ---- the backend ---- */

static int refuse(const char *hex, enum loose_state state)
{
    char text[160];
    (void)snprintf(text, sizeof text, "the loose object %s %s", hex,
                   state == UNREADABLE ? "cannot be read" : "is truncated or damaged");
    (void)git_error_set_str(GIT_ERROR_ODB, text);
    return GIT_ERROR;
}

/* GIT_ENOTFOUND: not a loose one, so that the next backend is asked. */
static int read_part(git_odb_backend *b, const git_oid *id, enum loose_part part,
                     struct loose_object *o)
{
    struct tg_git_guard *g = (struct tg_git_guard *)b;
    char hex[TG_SHA_SIZE];
    git_oid_tostr(hex, sizeof hex, id);
    enum loose_state state = loose_read(&g->loose, hex, part, o);
    if (state == WHOLE && git_object_string2type(o->type) == GIT_OBJECT_INVALID)
        state = CUT;
    if (state == ABSENT)
        return GIT_ENOTFOUND;
    return state == WHOLE ? 0 : refuse(hex, state);
}

static int read_object(void **data, size_t *size, git_object_t *type, git_odb_backend *b,
                       const git_oid *id)
{
    struct loose_object o = { .size = 0 };
    int rc = read_part(b, id, CONTENT, &o);
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
    struct loose_object o = { .size = 0 };
    int rc = read_part(b, id, HEADER, &o);
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
    enum loose_state state = loose_check(&g->loose, hex);
    return state == CUT || state == UNREADABLE ? refuse(hex, state) : GIT_ENOTFOUND;
}

static void keep(git_odb_backend *b)
{
    (void)b; /* part of struct tg_git */
}

/* Before libgit2's backends: those have the priorities 1 and 2. */
bool tg_libgit2_guard(struct tg_git *g)
{
    enum { FIRST = 100 };
    struct dirs d = { TG_NEW_N(g->a, const char *, MAX_DIRS), 0, g->a };
    add(&d, tg_arena_printf(g->a, "%sobjects", git_repository_commondir(g->repo)), 0);
    g->guard.loose = (struct tg_loose){ d.v, d.n, TG_NEW_N(g->a, unsigned char, d.n *FAN) };
    if (git_odb_init_backend(&g->guard.backend, GIT_ODB_BACKEND_VERSION) < 0)
        return false;
    g->guard.backend.read = read_object;
    g->guard.backend.read_header = read_header;
    g->guard.backend.read_prefix = refuse_prefix;
    g->guard.backend.free = keep;
    return git_odb_add_backend(g->odb, &g->guard.backend, FIRST) == 0;
}

/* ---- what may hold others ---- */

/* One that is there must be readable, too. */
static bool is_readable(const char *path, struct tg_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), code = errno;
    if (fd >= 0)
        (void)close(fd);
    if (fd >= 0 || tg_look_is_absent(code))
        return true;
    return tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "'%s' cannot be read: %s", path, strerror(code));
}

enum tg_seen tg_libgit2_absent(struct tg_git *g, struct tg_err *err)
{
    const struct tg_loose *l = &g->guard.loose;
    TG_ARENA *a = tg_arena_new();
    for (size_t i = 0; !g->all_readable && i < l->n; i++) {
        const char *packs = tg_arena_printf(a, "%s/pack", l->dirs[i]), **names;
        size_t n;
        bool ok = is_readable(l->dirs[i], err) &&
                  is_readable(tg_arena_printf(a, "%s/info/alternates", l->dirs[i]), err);
        enum tg_seen seen = ok ? tg_look_in(packs, a, &names, &n, err) : TG_SEEN_FAILED;
        for (size_t k = 0; seen == TG_SEEN && k < n; k++)
            if (!is_readable(tg_arena_printf(a, "%s/%s", packs, names[k]), err))
                seen = TG_SEEN_FAILED;
        if (seen == TG_SEEN_FAILED) {
            tg_err_hint(err, "Objects of the repository may be there: make it readable for this "
                             "user.");
            return seen;
        }
    }
    g->all_readable = true;
    return TG_ABSENT;
}
