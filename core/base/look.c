#include "core/base/look.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/base/sort.h"

bool tg_look_is_absent(int code)
{
    return code == ENOENT || code == ENOTDIR || code == ENAMETOOLONG;
}

enum tg_seen tg_look_answer(const char *what, const char *path, int code, struct tg_err *err)
{
    if (tg_look_is_absent(code))
        return TG_ABSENT;
    tg_err_set(err, TG_ERR_IO, TG_AT_FILE(path), "%s '%s': %s", what, path, strerror(code));
    tg_err_hint(err, "What is there is not known, so nothing is concluded from it: make it "
                     "readable, and run the command again.");
    return TG_SEEN_FAILED;
}

enum tg_seen tg_look_at(const char *path, bool *dir, struct tg_err *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return tg_look_answer("cannot look at", path, errno, err);
    if (dir)
        *dir = S_ISDIR(st.st_mode);
    return TG_SEEN;
}

/* ---- folders ---- */

struct list {
    const char **v;
    size_t n, cap;
    struct tg_arena *a;
};

static void list_add(struct list *l, const char *text)
{
    *TG_PUSH(l->v, l->n, l->cap) = tg_arena_sv(l->a, tg_sv_of(text)).p;
}

static void list_finish(struct list *l, const char ***out, size_t *n)
{
    TG_SORT(l->v, l->n, tg_by_text);
    *out = tg_arena_copy(l->a, l->v, l->n, sizeof *l->v);
    *n = l->n;
    free(l->v);
}

enum tg_seen tg_look_in(const char *dir, struct tg_arena *a, const char ***names, size_t *n,
                        struct tg_err *err)
{
    struct list l = { .a = a };
    const struct dirent *e;
    DIR *d = opendir(dir);
    *n = 0;
    if (!d)
        return tg_look_answer("cannot list folder", dir, errno, err);
    while (errno = 0, (e = readdir(d)))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            list_add(&l, e->d_name);
    int code = errno;
    (void)closedir(d);
    list_finish(&l, names, n);
    if (!code)
        return TG_SEEN;
    *n = 0;
    return tg_look_answer("cannot list folder", dir, code, err);
}

/* ---- globs ---- */

static bool add_match(struct list *l, const char *path, struct tg_err *err)
{
    struct stat st;
    if (lstat(path, &st) == 0)
        list_add(l, path);
    else
        return tg_look_answer("cannot look at", path, errno, err) != TG_SEEN_FAILED;
    return true;
}

/* `before` ends in '/' or is empty; `pattern` is what is left. As deep as the pattern at most. */
static bool expand(struct list *l, const char *before, tg_sv pattern, struct tg_err *err)
{
    tg_sv rest = pattern, part = tg_arena_sv(l->a, tg_sv_cut(&rest, '/'));
    const char *slash = part.n < pattern.n ? "/" : "", **names;
    size_t n;
    if (!strpbrk(part.p, "*?[\\")) {
        const char *path = tg_arena_printf(l->a, "%s%s%s", before, part.p, slash);
        return rest.n ? expand(l, path, rest, err) : add_match(l, path, err);
    }
    enum tg_seen seen = tg_look_in(before[0] ? before : ".", l->a, &names, &n, err);
    for (size_t i = 0; seen == TG_SEEN && i < n; i++) {
        const char *path = tg_arena_printf(l->a, "%s%s%s", before, names[i], slash);
        if (fnmatch(part.p, names[i], FNM_PERIOD) == 0 &&
            !(rest.n ? expand(l, path, rest, err) : add_match(l, path, err)))
            seen = TG_SEEN_FAILED;
    }
    return seen != TG_SEEN_FAILED;
}

bool tg_look_glob(const char *pattern, struct tg_arena *a, const char ***paths, size_t *n,
                  struct tg_err *err)
{
    struct list l = { .a = a };
    bool ok = expand(&l, "", tg_sv_of(pattern), err);
    list_finish(&l, paths, n);
    if (!ok)
        *n = 0;
    return ok;
}
