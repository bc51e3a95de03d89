#include "core/baseline/loose.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/look.h"
#include "core/trace/zlib_pack.h"

/* As git: alternates of alternates, five deep; a limit on them all keeps loops finite. */
enum { MAX_DEPTH = 5, MAX_DIRS = 64, MAX_ALTERNATES = 1 << 20, SHA_DIGITS = 40, FAN = 256 };
/* Of deflate, 1,032 (zlib.net/zlib_tech.html): a damaged header must not ask for any memory. */
#define MAX_RATIO 1032

struct dirs {
    const char **v;
    size_t n;
    struct tg_arena *a;
};

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

void tg_loose_init(struct tg_loose *l, const char *objects, struct tg_arena *a)
{
    struct dirs d = { TG_NEW_N(a, const char *, MAX_DIRS), 0, a };
    add(&d, objects, 0);
    *l = (struct tg_loose){ .dirs = d.v, .n = d.n, .fan = TG_NEW_N(a, unsigned char, d.n *FAN) };
}

/* "blob 1234" and a zero byte; false: no such header. */
static bool parse_header(tg_sv text, struct tg_loose_object *o)
{
    const char *end = text.n ? memchr(text.p, '\0', text.n) : NULL;
    tg_sv rest = { text.p, end ? (size_t)(end - text.p) : 0 };
    tg_sv type = tg_sv_cut(&rest, ' ');
    int64_t size;
    if (!type.n || type.n >= sizeof o->type || !tg_sv_i64(rest, &size) || size < 0)
        return false;
    memcpy(o->type, type.p, type.n);
    o->type[type.n] = '\0';
    o->size = (size_t)size;
    o->start = (size_t)(end + 1 - text.p);
    return true;
}

static bool unpack(tg_sv packed, struct tg_loose_object *o, enum tg_loose_part part)
{
    char head[64];
    return parse_header((tg_sv){ head, tg_zlib_unpack_head(packed, head, sizeof head) }, o) &&
           o->size / MAX_RATIO <= packed.n &&
           (part == TG_LOOSE_HEADER || tg_zlib_unpack(packed, o->start + o->size, &o->bytes));
}

static enum tg_loose_state read_fd(int fd, struct tg_loose_object *o, enum tg_loose_part part)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return TG_LOOSE_UNREADABLE;
    if (st.st_size <= 0)
        return TG_LOOSE_CUT;
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED)
        return TG_LOOSE_UNREADABLE;
    bool whole = unpack((tg_sv){ p, (size_t)st.st_size }, o, part);
    (void)munmap(p, (size_t)st.st_size);
    return whole ? TG_LOOSE_WHOLE : TG_LOOSE_CUT;
}

static enum tg_loose_state read_path(const char *path, struct tg_loose_object *o,
                                     enum tg_loose_part part)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return tg_look_is_absent(errno) ? TG_LOOSE_ABSENT : TG_LOOSE_UNREADABLE;
    enum tg_loose_state found = read_fd(fd, o, part);
    (void)close(fd);
    return found;
}

static enum tg_loose_state check_path(const char *path)
{
    struct tg_loose_object o = { .size = 0 };
    enum tg_loose_state found = read_path(path, &o, TG_LOOSE_CONTENT);
    tg_buf_release(&o.bytes);
    return found;
}

/* All of a folder that begin with these digits; one that is cut or unreadable decides. */
static enum tg_loose_state check_prefix(const char *dir, const char *hex, struct tg_arena *a)
{
    const char *sub = tg_arena_printf(a, "%s/%.2s", dir, hex), **names;
    enum tg_loose_state found = TG_LOOSE_ABSENT, one;
    struct tg_err ignored = TG_ERR_INIT;
    size_t n;
    if (tg_look_in(sub, a, &names, &n, &ignored) == TG_SEEN_FAILED)
        return TG_LOOSE_UNREADABLE;
    for (size_t i = 0; i < n && (found == TG_LOOSE_ABSENT || found == TG_LOOSE_WHOLE); i++)
        if (strlen(names[i]) == SHA_DIGITS - 2 &&
            strncmp(names[i], hex + 2, strlen(hex) - 2) == 0) {
            one = check_path(tg_arena_printf(a, "%s/%s", sub, names[i]));
            found = one != TG_LOOSE_ABSENT ? one : found;
        }
    return found;
}

enum tg_loose_state tg_loose_check(const struct tg_loose *l, const char *hex)
{
    TG_ARENA *a = tg_arena_new();
    enum tg_loose_state found = TG_LOOSE_ABSENT;
    for (size_t i = 0; i < l->n && found == TG_LOOSE_ABSENT && strlen(hex) > 2; i++)
        found = check_prefix(l->dirs[i], hex, a);
    return found;
}

/* After `git gc` hardly any is left. What cannot be looked at may have it. */
static bool may_have(const struct tg_loose *l, size_t dir, const char *hex, struct tg_arena *a)
{
    enum { UNKNOWN, ABSENT, THERE };
    const char digits[3] = { hex[0], hex[1], '\0' };
    unsigned char *at = &l->fan[dir * FAN + (strtoul(digits, NULL, 16) & (FAN - 1))];
    if (*at == UNKNOWN)
        *at = access(tg_arena_printf(a, "%s/%s", l->dirs[dir], digits), F_OK) != 0 &&
                      tg_look_is_absent(errno)
                  ? ABSENT
                  : THERE;
    return *at == THERE;
}

enum tg_loose_state tg_loose_read(const struct tg_loose *l, const char *hex,
                                  enum tg_loose_part part, struct tg_loose_object *o)
{
    TG_ARENA *a = tg_arena_new();
    enum tg_loose_state found = TG_LOOSE_ABSENT;
    for (size_t i = 0; i < l->n && found == TG_LOOSE_ABSENT; i++)
        if (may_have(l, i, hex, a))
            found = read_path(tg_arena_printf(a, "%s/%.2s/%s", l->dirs[i], hex, hex + 2), o, part);
    return found;
}

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

static bool folder_readable(const char *dir, struct tg_arena *a, struct tg_err *err)
{
    const char *packs = tg_arena_printf(a, "%s/pack", dir), **names;
    size_t n;
    bool ok =
        is_readable(dir, err) && is_readable(tg_arena_printf(a, "%s/info/alternates", dir), err);
    enum tg_seen seen = ok ? tg_look_in(packs, a, &names, &n, err) : TG_SEEN_FAILED;
    for (size_t i = 0; seen == TG_SEEN && i < n; i++)
        if (!is_readable(tg_arena_printf(a, "%s/%s", packs, names[i]), err))
            seen = TG_SEEN_FAILED;
    return seen != TG_SEEN_FAILED;
}

bool tg_loose_readable(const struct tg_loose *l, struct tg_err *err)
{
    TG_ARENA *a = tg_arena_new();
    for (size_t i = 0; i < l->n; i++)
        if (!folder_readable(l->dirs[i], a, err))
            return tg_err_hint(err, "Objects of the repository may be there: make it readable for "
                                    "this user.");
    return true;
}
