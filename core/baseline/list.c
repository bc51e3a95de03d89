#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/sort.h"
#include "core/baseline/git.h"

/* ---- paths ---- */

static bool leaves(const char *path, struct tg_err *err)
{
    tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "path '%s' leaves the repository", path);
    return tg_err_hint(err, "Paths in a commit start at its root and have no leading '/': "
                            "perf/base.json.gz.");
}

/* Appends the components of `path` to `to`, resolving "." and ".."; false: above the root. */
static bool add_components(struct tg_buf *to, tg_sv path)
{
    while (path.n) {
        tg_sv one = tg_sv_cut(&path, '/');
        if (one.n == 0 || tg_sv_eq(one, TG_SV(".")))
            continue;
        if (!tg_sv_eq(one, TG_SV(".."))) {
            if (to->n)
                tg_buf_putc(to, '/');
            tg_buf_add(to, one);
            continue;
        }
        if (to->n == 0)
            return false;
        while (to->n && to->p[to->n - 1] != '/')
            to->n--;
        to->n -= to->n > 0;
        to->p[to->n] = '\0';
    }
    return true;
}

bool tg_git_tree_path(const struct tg_git *g, const char *path, struct tg_arena *a, tg_sv *out,
                      struct tg_err *err)
{
    TG_BUF b = { 0 };
    bool ok = path[0] != '/';
    if (ok && (strcmp(path, ".") == 0 || strcmp(path, "..") == 0 || strncmp(path, "./", 2) == 0 ||
               strncmp(path, "../", 3) == 0))
        ok = add_components(&b, tg_sv_of(tg_git_prefix(g)));
    ok = ok && add_components(&b, tg_sv_of(path));
    if (ok)
        *out = tg_arena_sv(a, tg_buf_sv(&b));
    return ok || leaves(path, err);
}

/* The real path of the nearest folder that exists, followed by the rest of `path`. */
static bool real_folder(const char *path, char real[PATH_MAX], tg_sv *rest)
{
    size_t n = strlen(path), cut = n;
    char folder[PATH_MAX];
    while (cut) {
        while (cut && path[cut - 1] != '/')
            cut--;
        (void)snprintf(folder, sizeof folder, "%.*s", cut > 1 ? (int)cut - 1 : (int)cut, path);
        if (realpath(folder, real)) {
            *rest = (tg_sv){ path + cut, n - cut };
            return true;
        }
        cut -= cut > 0;
    }
    return false;
}

bool tg_git_relative(const struct tg_git *g, const char *path, struct tg_arena *a, tg_sv *out,
                     struct tg_err *err)
{
    char here[PATH_MAX], real[PATH_MAX];
    const char *root = tg_git_root(g);
    size_t n = root ? strlen(root) : 0;
    TG_BUF b = { 0 };
    tg_sv rest;
    if (path[0] != '/') {
        if (!getcwd(here, sizeof here))
            return tg_err_set(err, TG_ERR_IO, TG_NOWHERE, "the current folder is gone");
        path = tg_arena_printf(a, "%s/%s", here, path);
    }
    bool ok = root && real_folder(path, real, &rest) && add_components(&b, tg_sv_of(real)) &&
              add_components(&b, rest);
    /* b lacks the leading '/' of the root, and the root may be "/" itself. */
    if (ok && b.n + 2 == n && memcmp(b.p, root + 1, b.n) == 0)
        *out = TG_SV("");
    else if (ok && b.n + 1 > n && memcmp(b.p, root + 1, n - 1) == 0)
        *out = tg_arena_sv(a, (tg_sv){ b.p + n - 1, b.n + 1 - n });
    else
        ok = false;
    return ok || leaves(path, err);
}

/* ---- lists ---- */

enum { MAX_LINKS = 8 };

struct list {
    struct tg_git *g;
    const char *sha, *path;
    struct tg_arena *a;
    struct tg_git_file *v;
    size_t n, cap;
    unsigned links; /* symbolic links that may still be followed */
    struct tg_err *err;
};

static bool add_file(struct list *l, tg_sv folder, tg_sv name, const struct tg_entry *e)
{
    struct tg_git_file f = { .size = 0 };
    size_t most = tg_git_limits(l->g)->max_files;
    if (l->n == most)
        return tg_err_say(
            l->err, TG_ERR_LIMIT, TG_NOWHERE, "'%s' in commit %.12s names more than %zu files",
            "Name fewer files, or merge them: `tracegate merge`.", l->path, l->sha, most);
    if (!tg_git_size(l->g, e->oid, &f.size, l->err))
        return false;
    f.path =
        TG_SV_PRINTF(l->a, "%.*s%s%.*s", TG_SV_ARG(folder), folder.n ? "/" : "", TG_SV_ARG(name));
    memcpy(f.oid, e->oid, sizeof f.oid);
    (void)snprintf(f.commit, sizeof f.commit, "%s", l->sha);
    *TG_PUSH(l->v, l->n, l->cap) = f;
    return true;
}

/* `path` with its part `name`, a link, replaced by the target; false: not followed. */
static bool follow(struct list *l, const struct tg_entry *link, tg_sv *path, tg_sv name, tg_sv rest)
{
    tg_sv folder = { path->p, (size_t)(name.p - path->p) };
    TG_BUF target = { 0 };
    TG_BUF b = { 0 };
    if (!l->links || !tg_git_blob(l->g, link->oid, l->path, &target, l->err) || !target.n ||
        target.p[0] == '/' || !add_components(&b, folder) ||
        !add_components(&b, tg_buf_sv(&target)) || !add_components(&b, rest))
        return false;
    l->links--;
    *path = tg_arena_sv(l->a, tg_buf_sv(&b));
    return true;
}

/* The entry at an exact path. */
static enum tg_seen at(struct list *l, const struct tg_entry *root, tg_sv path,
                       struct tg_entry *out)
{
    tg_sv rest = path;
    *out = *root;
    while (rest.n) {
        tg_sv name = tg_sv_cut(&rest, '/');
        struct tg_entry next;
        if (out->kind == TG_ENTRY_FILE)
            return TG_ABSENT;
        enum tg_seen seen = tg_git_entry(l->g, out, tg_arena_sv(l->a, name).p, &next, l->err);
        if (seen != TG_SEEN)
            return seen;
        *out = next;
        if (next.kind == TG_ENTRY_LINK && follow(l, &next, &path, name, rest)) {
            rest = path;
            *out = *root;
        } else if (next.kind == TG_ENTRY_LINK || next.kind == TG_ENTRY_MODULE) {
            bool link = next.kind == TG_ENTRY_LINK;
            tg_sv part = { path.p, (size_t)(name.p + name.n - path.p) };
            tg_err_set(l->err, TG_ERR_GIT, TG_NOWHERE, "'%.*s' in commit %.12s is a %s",
                       TG_SV_ARG(part), l->sha, link ? "symbolic link" : "submodule");
            tg_err_hint(l->err, link ? "Links are not followed in git; name the file it points to."
                                     : "A commit does not hold a submodule's files; run tracegate "
                                       "in the submodule, or commit the baseline outside it.");
            return TG_SEEN_FAILED;
        }
    }
    return TG_SEEN;
}

/* What of a folder can match: a folder if the pattern goes on below it, else a file. */
struct step {
    const char *glob; /* "": traces and summaries */
    enum tg_entry_kind kind;
};

static bool matches(const struct tg_entry *e, const void *arg)
{
    const struct step *s = arg;
    return e->kind == s->kind && (s->glob[0] ? fnmatch(s->glob, e->name.p, FNM_PERIOD) == 0
                                             : tg_file_is_input_name(e->name));
}

/* Goes down one folder per component of the pattern, so it is never deeper than the pattern. "":
 * the traces and summaries of the folder. */
static bool list_folder(struct list *l, const struct tg_entry *folder, tg_sv path, tg_sv pattern)
{
    tg_sv rest = pattern, first = tg_arena_sv(l->a, tg_sv_cut(&rest, '/'));
    struct step step = { first.p, rest.n ? TG_ENTRY_TREE : TG_ENTRY_FILE };
    struct tg_entry *e;
    size_t n;
    bool ok = tg_git_entries(l->g, folder, (struct tg_entry_filter){ matches, &step }, l->a, &e, &n,
                             l->err);
    for (size_t i = 0; ok && i < n; i++)
        ok = rest.n ? list_folder(l, &e[i],
                                  TG_SV_PRINTF(l->a, "%.*s%s%.*s", TG_SV_ARG(path),
                                               path.n ? "/" : "", TG_SV_ARG(e[i].name)),
                                  rest)
                    : add_file(l, path, e[i].name, &e[i]);
    return ok;
}

static int by_path(const void *a, const void *b)
{
    return tg_sv_cmp(((const struct tg_git_file *)a)->path, ((const struct tg_git_file *)b)->path);
}

static bool fill(struct list *l, tg_sv path)
{
    struct tg_entry root, e;
    if (!tg_git_tree_of(l->g, l->sha, &root, l->err))
        return false;
    switch (at(l, &root, path, &e)) {
    case TG_SEEN_FAILED:
        return false;
    case TG_ABSENT:
        return !strpbrk(path.p, "*?[") || list_folder(l, &root, TG_SV(""), path);
    case TG_SEEN:
        break;
    }
    return e.kind == TG_ENTRY_TREE ? list_folder(l, &e, path, TG_SV(""))
                                   : add_file(l, TG_SV(""), path, &e);
}

bool tg_git_list(struct tg_git *g, const char *sha, const char *path, struct tg_arena *a,
                 struct tg_git_files *out, struct tg_err *err)
{
    struct list l = { .g = g, .sha = sha, .path = path, .a = a, .err = err };
    tg_sv normal;
    bool ok = tg_git_tree_path(g, path, a, &normal, err) && fill(&l, normal);
    *out = (struct tg_git_files){ NULL, 0 };
    if (ok && l.n) {
        TG_SORT(l.v, l.n, by_path);
        *out = (struct tg_git_files){ tg_arena_copy(a, l.v, l.n, sizeof *l.v), l.n };
    }
    free(l.v);
    return ok;
}

bool tg_git_read(struct tg_git *g, const struct tg_git_file *f, struct tg_buf *out,
                 struct tg_err *err)
{
    size_t start = out->n;
    struct tg_lfs pointer;
    if (!tg_git_blob(g, f->oid, f->path.p, out, err))
        return false;
    if (!tg_lfs_parse(tg_sv_from(tg_buf_sv(out), start), &pointer))
        return true;
    out->n = start;
    return tg_lfs_read(g, f, &pointer, out, err);
}

bool tg_git_read_path(struct tg_git *g, const char *sha, const char *path, struct tg_buf *out,
                      bool *found, struct tg_err *err)
{
    TG_ARENA *a = tg_arena_new();
    struct list l = { .g = g, .sha = sha, .path = path, .a = a, .links = MAX_LINKS, .err = err };
    struct tg_git_file f = { .size = 0 };
    struct tg_entry root, e;
    bool ok = tg_git_tree_path(g, path, a, &f.path, err) && tg_git_tree_of(g, sha, &root, err);
    enum tg_seen seen = ok ? at(&l, &root, f.path, &e) : TG_SEEN_FAILED;
    *found = seen == TG_SEEN && e.kind == TG_ENTRY_FILE;
    if (*found) {
        memcpy(f.oid, e.oid, sizeof f.oid);
        (void)snprintf(f.commit, sizeof f.commit, "%s", sha);
        ok = tg_git_read(g, &f, out, err);
    }
    return ok && seen != TG_SEEN_FAILED;
}
