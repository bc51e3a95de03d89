#include "cmd/gate/codefile.h"

#include <stdlib.h>
#include <string.h>

#include "core/baseline/git.h"

enum { MAX_PATH = 512, MAX_SOURCE = 2 << 20 };

/* Relative, ".py", no way out, nothing that git's globs or a message would take for something else.
 */
static bool harmless(tg_sv path)
{
    tg_sv rest = path;
    if (path.n == 0 || path.n > MAX_PATH || path.p[0] == '/' || !tg_sv_ends(path, TG_SV(".py")))
        return false;
    for (size_t i = 0; i < path.n; i++)
        if ((unsigned char)path.p[i] < 0x20 || strchr("*?[]\\:\x7f", path.p[i]))
            return false;
    while (rest.n) {
        tg_sv part = tg_sv_cut(&rest, '/');
        if (part.n == 0 || tg_sv_eq(part, TG_SV(".")) || tg_sv_eq(part, TG_SV("..")))
            return false;
    }
    return true;
}

/* ---- folders ---- */

enum { MOST_ABOVE = 2 }; /* folders that Python may have dropped from a path's beginning */

/* Where names are in the upper folders: what a path that lost its beginning may begin with. */
struct tg_codefile_places {
    struct tg_strmap names;
    uint32_t *head; /* per name: its last place, or TG_NO_ID */
    size_t n_heads, heads_cap;
    struct place {
        const char *folder; /* "pkg/", "pkg/sub/" */
        int level;          /* 1, 2 */
        uint32_t next;
    } * v;
    size_t n, cap;
};

static bool is_searched(const struct tg_entry *e, const void *arg)
{
    (void)arg;
    return e->kind == TG_ENTRY_TREE || tg_sv_ends(e->name, TG_SV(".py"));
}

static void add_folder(struct tg_codefiles *f, const struct tg_entry *folder, const char *path,
                       int level)
{
    TG_ARENA *scratch = tg_arena_new();
    struct tg_entry *e;
    struct tg_err ignored = TG_ERR_INIT;
    size_t n;
    if (!tg_git_entries(f->git, folder, (struct tg_entry_filter){ is_searched, NULL }, scratch, &e,
                        &n, &ignored))
        return;
    for (size_t i = 0; i < n; i++) {
        if (f->places->n >= TG_CODEFILES_MOST_PLACES) {
            f->not_searched =
                "not searched: the repository has more than 50,000 files in its upper "
                "folders";
            return;
        }
        if (level) {
            struct tg_codefile_places *p = f->places;
            uint32_t id = tg_strmap_add(&p->names, e[i].name);
            if (id == p->n_heads)
                *TG_PUSH(p->head, p->n_heads, p->heads_cap) = TG_NO_ID;
            *TG_PUSH(p->v, p->n, p->cap) = (struct place){ path, level, p->head[id] };
            p->head[id] = (uint32_t)p->n - 1;
        }
        if (e[i].kind == TG_ENTRY_TREE && level < MOST_ABOVE)
            add_folder(f, &e[i], tg_arena_printf(f->arena, "%s%.*s/", path, TG_SV_ARG(e[i].name)),
                       level + 1);
    }
}

/* ---- files ---- */

/* The file at `path` of the commit, unless it is too large or has no known size. */
static bool is_there(struct tg_codefiles *f, const char *path, struct tg_git_file *out)
{
    struct tg_git_files files = { NULL, 0 };
    struct tg_err ignored = TG_ERR_INIT;
    if (!tg_git_list(f->git, f->commit, path, f->arena, &files, &ignored) || files.n != 1)
        return false;
    if (files.v[0].size > MAX_SOURCE && files.v[0].size != TG_SIZE_UNKNOWN)
        f->not_searched = tg_arena_printf(f->arena, "not searched: %s is larger than 2 MiB", path);
    if (files.v[0].size > MAX_SOURCE)
        return false;
    *out = files.v[0];
    return true;
}

static bool take_file(struct tg_codefiles *f, const struct tg_git_file *file,
                      struct tg_codefile *out)
{
    TG_BUF text = { 0 };
    struct tg_err ignored = TG_ERR_INIT;
    if (!tg_git_read(f->git, file, &text, &ignored))
        return false;
    out->in_repo = file->path;
    out->text = tg_arena_sv(f->arena, tg_buf_sv(&text));
    return true;
}

static bool try_path(struct tg_codefiles *f, const char *before, tg_sv path,
                     struct tg_codefile *out)
{
    struct tg_git_file file;
    return harmless(path) &&
           is_there(f, tg_arena_printf(f->arena, "%s%.*s", before, TG_SV_ARG(path)), &file) &&
           take_file(f, &file, out);
}

/* The one file at `path` below any folder of this level. */
static bool try_below(struct tg_codefiles *f, int level, tg_sv path, struct tg_codefile *out)
{
    struct tg_git_file file = { .size = 0 }, found = file;
    size_t n = 0;
    tg_sv rest = path, first;
    if (!harmless(path))
        return false;
    if (!f->places) {
        struct tg_entry root;
        struct tg_err ignored = TG_ERR_INIT;
        f->places = tg_xmalloc(sizeof *f->places);
        *f->places = (struct tg_codefile_places){ .n = 0 };
        if (tg_git_tree_of(f->git, f->commit, &root, &ignored))
            add_folder(f, &root, "", 0);
    }
    first = tg_sv_cut(&rest, '/');
    uint32_t id = tg_strmap_find(&f->places->names, first);
    for (uint32_t at = id == TG_NO_ID ? id : f->places->head[id]; at != TG_NO_ID;
         at = f->places->v[at].next) {
        const struct place *p = &f->places->v[at];
        if (p->level != level ||
            !is_there(f, tg_arena_printf(f->arena, "%s%.*s", p->folder, TG_SV_ARG(path)), &file))
            continue;
        found = file;
        n++;
    }
    return n == 1 && take_file(f, &found, out);
}

static bool below(tg_sv path, const char *folder, tg_sv *rest)
{
    size_t n = folder ? strlen(folder) : 0;
    while (n && folder[n - 1] == '/')
        n--;
    if (!n || path.n <= n + 1 || memcmp(path.p, folder, n) != 0 || path.p[n] != '/')
        return false;
    *rest = tg_sv_from(path, n + 1);
    return true;
}

/* Below a folder of installed packages; `skip` 1: its name may be the end of another one. */
static bool is_installed(tg_sv path, size_t skip)
{
    static const char *const parts[] = { "/site-packages/", "/dist-packages/", "/lib/python" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (tg_sv_has(path, tg_sv_of(parts[i] + skip)))
            return true;
    return false;
}

/* Python drops the folder of the script that was started, and of each entry of its path. */
static bool map_path(struct tg_codefiles *f, tg_sv path, struct tg_codefile *out)
{
    tg_sv rest;
    if (path.n && path.p[0] == '/') {
        if (below(path, tg_git_root(f->git), &rest) || below(path, f->workspace, &rest))
            return try_path(f, "", rest, out);
        /* Of another machine's checkout the end is the same: two components at least, the
         * longest first. */
        tg_sv tail = path;
        if (is_installed(path, 0))
            return false;
        while (tail.n) {
            (void)tg_sv_cut(&tail, '/');
            if (memchr(tail.p, '/', tail.n) && try_path(f, "", tail, out))
                return true;
        }
        return false;
    }
    if (try_path(f, "", path, out) || try_path(f, tg_git_prefix(f->git), path, out))
        return true;
    for (int level = 1; level <= MOST_ABOVE; level++)
        if (try_below(f, level, path, out))
            return true;
    return false;
}

void tg_codefiles_init(struct tg_codefiles *f, struct tg_git *git, const char *commit,
                       const char *workspace, struct tg_arena *a)
{
    *f = (struct tg_codefiles){ .git = git, .commit = commit, .workspace = workspace, .arena = a };
}

void tg_codefiles_release(struct tg_codefiles *f)
{
    tg_strmap_release(&f->paths);
    free(f->maps);
    if (f->places) {
        tg_strmap_release(&f->places->names);
        free(f->places->head);
        free(f->places->v);
        free(f->places);
    }
    *f = (struct tg_codefiles){ 0 };
}

const struct tg_codefile *tg_codefiles_file(struct tg_codefiles *f, tg_sv path)
{
    uint32_t id = tg_strmap_add(&f->paths, path);
    if (id == f->n_maps) {
        f->maps = tg_xrealloc(f->maps, ++f->n_maps, sizeof *f->maps);
        f->maps[id] = (struct tg_codefile){ .in_repo = TG_SV(""), .text = TG_SV("") };
        if (id >= TG_CODEFILES_MOST || f->bytes > TG_CODEFILES_MOST_BYTES)
            f->not_searched = "not searched: the traces and the change name more than 2,000 Python "
                              "files, or more than 64 MiB of them";
        else if (map_path(f, path, &f->maps[id])) {
            struct tg_codefile *file = &f->maps[id];
            f->bytes += file->text.n;
            file->n_functions = tg_py_functions(file->text, f->arena, &file->functions);
            if (file->n_functions == TG_PY_OVER) {
                file->n_functions = 0;
                f->not_searched = tg_arena_printf(
                    f->arena,
                    "not searched: %.*s has more than 5,000 functions, or more than "
                    "50 inside each other",
                    TG_SV_ARG(file->in_repo));
            }
        }
    }
    return &f->maps[id];
}

bool tg_codefile_holds(const struct tg_codefile *file, tg_sv function, uint32_t line)
{
    if (!file->in_repo.n || !function.n)
        return false;
    if (function.p[0] != '<')
        return tg_py_function_named(file->functions, file->n_functions, function, line) != NULL;
    for (tg_sv text = file->text; text.n; line--) { /* "<module>", "<lambda>": the line is there */
        if (line <= 1)
            return true;
        (void)tg_sv_cut(&text, '\n');
    }
    return false;
}

bool tg_codefile_parse(struct tg_codefile_name *out, tg_sv name)
{
    /* The last "(digits): ": a path may hold one as well. */
    for (size_t at = name.n; at-- > 1;) {
        size_t open = at;
        int64_t line;
        if (name.p[at] != ')' || at + 2 >= name.n || name.p[at + 1] != ':' || name.p[at + 2] != ' ')
            continue;
        while (open > 0 && name.p[open - 1] >= '0' && name.p[open - 1] <= '9')
            open--;
        if (open == at || open < 2 || name.p[open - 1] != '(' || at - open > 9 ||
            !tg_sv_i64((tg_sv){ name.p + open, at - open }, &line) || line < 1)
            continue;
        out->file = (tg_sv){ name.p, open - 1 };
        out->function = tg_sv_from(name, at + 3);
        out->line = (uint32_t)line;
        return out->file.p[0] != '<' && out->function.n > 0;
    }
    return false;
}

bool tg_codefile_is_foreign(tg_sv path)
{
    return tg_sv_starts(path, TG_SV("torch/")) || is_installed(path, 1);
}
