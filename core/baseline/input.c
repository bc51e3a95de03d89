#include <sys/stat.h>

#include "core/base/file.h"
#include "core/baseline/baseline.h"

static bool has_glob(const char *text)
{
    return strpbrk(text, "*?[") != NULL;
}

static enum tg_seen any_match(const char *pattern, struct tg_arena *a, struct tg_err *err)
{
    const char **paths;
    size_t n;
    if (!has_glob(pattern))
        return TG_ABSENT;
    if (!tg_look_glob(pattern, a, &paths, &n, err))
        return TG_SEEN_FAILED;
    return n ? TG_SEEN : TG_ABSENT;
}

/* The ':' between REV and PATH: not the first byte, not inside "^{...}". NULL: none. */
static const char *colon(const char *text)
{
    int depth = 0;
    for (const char *p = text; *p && *text != ':'; p++) {
        depth += *p == '{';
        depth -= *p == '}' && depth > 0;
        if (*p == ':' && depth == 0)
            return p;
    }
    return NULL;
}

/* Nothing but a file has such a name; saying "unknown revision" about it would mislead. */
static bool reads_as_file(const char *text)
{
    size_t n = strlen(text);
    if (text[0] == ':' || strchr(text, '{'))
        return false;
    return tg_file_is_input_name(tg_sv_of(text)) || has_glob(text) || text[n - 1] == '/' ||
           strchr("/.~", text[0]) != NULL || strchr(text, '\\') != NULL;
}

/* The likely mistake: a slip in the name, or nothing recorded yet. */
static bool guess(const char *text, struct tg_arena *a, struct tg_err *err)
{
    const char *slash = strrchr(text, '/');
    const char *dir = slash ? tg_arena_printf(a, "%.*s", (int)(slash - text), text) : ".", **paths,
               *meant;
    struct tg_err ignored = TG_ERR_INIT;
    size_t n = 0;
    if (dir[0] && !has_glob(dir) && !tg_file_is_dir(dir)) {
        (void)tg_err_hint(err,
                          "There is no folder '%s' here: has the benchmark run, and in this "
                          "folder?",
                          dir);
        return true;
    }
    if (has_glob(text) || !tg_files_in_dir(dir, a, &paths, &n, &ignored) || !n)
        return false;
    paths = tg_arena_copy(a, paths, n, sizeof *paths);
    if (dir[0] == '.' && !dir[1])
        for (size_t i = 0; i < n; i++)
            paths[i] += strncmp(paths[i], "./", 2) == 0 ? 2 : 0;
    meant = tg_sv_nearest(tg_sv_of(text), paths);
    if (meant)
        (void)tg_err_hint(err, "Did you mean '%s'?", meant);
    return meant != NULL;
}

bool tg_input_parse(struct tg_input *out, const char *text, struct tg_arena *a, struct tg_err *err)
{
    bool dir = false;
    struct stat link;
    *out = (struct tg_input){ TG_INPUT_FILE, tg_arena_sv(a, tg_sv_of(text)), TG_SV(""), TG_SV("") };
    if (!text[0])
        return tg_err_usage(err, "an empty side",
                            "Give a file, a folder, a glob, REV:PATH or REV.");
    if (strcmp(text, "-") == 0) {
        out->kind = TG_INPUT_STDIN;
        return true;
    }
    enum tg_seen seen = tg_look_at(text, &dir, err);
    if (seen == TG_SEEN)
        out->kind = dir ? TG_INPUT_DIR : TG_INPUT_FILE;
    if (seen == TG_ABSENT && (seen = any_match(text, a, err)) == TG_SEEN)
        out->kind = TG_INPUT_GLOB;
    if (seen != TG_ABSENT)
        return seen == TG_SEEN;
    if (lstat(text, &link) == 0)
        return tg_err_say(err, TG_ERR_IO, TG_AT_FILE(text), "a symbolic link that leads nowhere",
                          "`ls -l` shows where it leads. Has the benchmark run?");
    const char *at = colon(text);
    if (at && (at[1] == '\\' || at[1] == '/')) {
        /* "C:\x", "C:/x" and "https://x" have a ':' and are not REV:PATH, whose path has no
         * leading '/'. */
        if (strncmp(at, "://", 3) == 0)
            return tg_err_usage(err, "'%s' is a URL",
                                "tracegate has no network: download the file and name it.", text);
        if (at == text + 1)
            return tg_err_set(err, TG_ERR_IO, TG_AT_FILE(text), "no such file: '%s'", text);
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "path '%s' leaves the repository", at + 1);
        return tg_err_hint(err,
                           "Paths in a commit start at its root and have no leading '/': "
                           "%.*s:perf/base.json.gz.",
                           (int)(at - text), text);
    }
    if (!at && reads_as_file(text)) {
        tg_err_set(err, TG_ERR_IO, TG_AT_FILE(text),
                   has_glob(text) ? "no file matches '%s'" : "no such file: '%s'", text);
        if (guess(text, a, err) || has_glob(text) || strchr("/.~", text[0]) || strchr(text, '\\'))
            return false; /* nothing in a commit is called so, or another hint is given */
        return tg_err_hint(err, "To read it from a commit write REV:%s, for example HEAD:%s.", text,
                           text);
    }
    out->kind = at ? TG_INPUT_GIT_PATH : TG_INPUT_REV;
    out->rev = at ? tg_arena_sv(a, (tg_sv){ text, (size_t)(at - text) }) : out->text;
    out->path = at ? tg_arena_sv(a, tg_sv_of(at + 1)) : TG_SV("");
    return true;
}

bool tg_input_unknown(const struct tg_input *in, enum tg_err_kind kind, const char *hint,
                      struct tg_arena *a, struct tg_err *err)
{
    struct tg_err ignored = TG_ERR_INIT;
    const char **names, *meant;
    size_t n = 0;
    tg_err_set(err, kind, TG_NOWHERE, "'%s' is neither a file, a folder nor a revision",
               in->text.p);
    if (tg_look_in(".", a, &names, &n, &ignored) != TG_SEEN)
        n = 0;
    const char **known = TG_NEW_N(a, const char *, n + 1);
    for (size_t i = 0; i < n; i++)
        known[i] = names[i];
    meant = tg_sv_nearest(in->text, known);
    return meant ? tg_err_hint(err, "Did you mean '%s'?", meant) : tg_err_hint(err, "%s", hint);
}
