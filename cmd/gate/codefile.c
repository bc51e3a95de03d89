#include "cmd/gate/codefile.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PATH = 512, MAX_SOURCE = 4 << 20 };

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

/* The file at `path` of HEAD, read; only one may fit. */
static bool in_head(struct tg_codefiles *f, const char *path, struct tg_codefile *out)
{
    struct tg_git_files files = { NULL, 0 };
    struct tg_buf text = { 0 };
    struct tg_err ignored;
    bool ok;
    tg_err_init(&ignored);
    ok = tg_git_list(f->git, f->commit, path, f->arena, &files, &ignored) && files.n == 1 &&
         files.v[0].size <= MAX_SOURCE && tg_git_read(f->git, &files.v[0], &text, &ignored);
    if (ok) {
        out->in_repo = files.v[0].path;
        out->text = tg_arena_sv(f->arena, tg_buf_sv(&text));
    }
    tg_buf_release(&text);
    return ok;
}

static bool try_path(struct tg_codefiles *f, const char *before, tg_sv path,
                     struct tg_codefile *out)
{
    return harmless(path) &&
           in_head(f, tg_arena_printf(f->arena, "%s%.*s", before, TG_SV_ARG(path)), out);
}

static bool below(tg_sv path, const char *folder, tg_sv *rest)
{
    size_t n = folder ? strlen(folder) : 0;
    while (n && folder[n - 1] == '/')
        n--;
    if (!n || path.n <= n + 1 || memcmp(path.p, folder, n) != 0 || path.p[n] != '/')
        return false;
    *rest = (tg_sv){ path.p + n + 1, path.n - n - 1 };
    return true;
}

/* Of another machine's checkout the end is the same: two components at least, the longest first. */
static bool try_ends(struct tg_codefiles *f, tg_sv path, struct tg_codefile *out)
{
    static const char *const foreign[] = { "/site-packages/", "/dist-packages/", "/lib/python" };
    tg_sv rest = path;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (memmem(path.p, path.n, foreign[i], strlen(foreign[i])))
            return false;
    while (rest.n) {
        (void)tg_sv_cut(&rest, '/');
        if (memchr(rest.p, '/', rest.n) && try_path(f, "", rest, out))
            return true;
    }
    return false;
}

/* Python drops the folder of the script that was started, and of each entry of its path. */
static bool map_path(struct tg_codefiles *f, tg_sv path, struct tg_codefile *out)
{
    tg_sv rest;
    if (path.n && path.p[0] == '/') {
        if (below(path, tg_git_root(f->git), &rest) || below(path, f->workspace, &rest))
            return try_path(f, "", rest, out);
        return try_ends(f, path, out);
    }
    return try_path(f, "", path, out) || try_path(f, tg_git_prefix(f->git), path, out) ||
           try_path(f, "*/", path, out) || try_path(f, "*/*/", path, out);
}

void tg_codefiles_init(struct tg_codefiles *f, struct tg_git *git, const char *commit,
                       const char *workspace, struct tg_arena *a)
{
    *f = (struct tg_codefiles){ .git = git, .commit = commit, .workspace = workspace, .arena = a };
    tg_strmap_init(&f->paths);
}

void tg_codefiles_release(struct tg_codefiles *f)
{
    tg_strmap_release(&f->paths);
    free(f->maps);
    *f = (struct tg_codefiles){ 0 };
}

const struct tg_codefile *tg_codefiles_file(struct tg_codefiles *f, tg_sv path)
{
    uint32_t id = tg_strmap_add(&f->paths, path);
    if (id == f->n_maps) {
        f->maps = tg_xrealloc(f->maps, ++f->n_maps, sizeof *f->maps);
        f->maps[id] = (struct tg_codefile){ .in_repo = TG_SV(""), .text = TG_SV("") };
        if (map_path(f, path, &f->maps[id]))
            f->maps[id].n_functions =
                tg_py_functions(f->maps[id].text, f->arena, &f->maps[id].functions);
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
        out->function = (tg_sv){ name.p + at + 3, name.n - at - 3 };
        out->line = (uint32_t)line;
        return out->file.p[0] != '<' && out->function.n > 0;
    }
    return false;
}

bool tg_codefile_is_foreign(tg_sv path)
{
    static const char *const parts[] = { "site-packages/", "dist-packages/", "lib/python" };
    if (tg_sv_starts(path, TG_SV("torch/")))
        return true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (memmem(path.p, path.n, parts[i], strlen(parts[i])))
            return true;
    return false;
}
