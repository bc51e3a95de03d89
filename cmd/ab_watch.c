/* Whether the command changed what decides about it: settings, hooks, policy, tools, traces,
 * the other side. */
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/ab.h"
#include "core/base/sha256.h"

enum { LINK = 4096 };

/* ---- texts of lines ---- */

/* The first line of `a` that `b` lacks; "" if there is none. */
static tg_sv lacks(const char *a, const char *b)
{
    tg_sv rest = tg_sv_of(a);
    while (rest.n) {
        tg_sv line = tg_sv_cut(&rest, '\n');
        if (!tg_sv_lists(tg_sv_of(b), '\n', line))
            return line;
    }
    return TG_SV("");
}

bool tg_ab_same(struct tg_ab *ab, const char *what, const char *before, const char *after,
                struct tg_err *err)
{
    if (strcmp(before, after) == 0)
        return true;
    tg_sv which = lacks(after, before);
    if (!which.n)
        which = lacks(before, after);
    if (!which.n) /* the same lines in another order */
        return true;
    ab->code = TG_AB_CHANGED;
    return tg_err_say(
        err, TG_ERR_IO, TG_NOWHERE, "%s changed while the command ran, so nothing is judged: %.*s",
        "The command is the change's code: see what in it writes there. docs/security.md "
        "says what is looked at.",
        what, which.n < 200 ? (int)which.n : 200, which.p);
}

/* ---- files ---- */

static void add_file(struct tg_buf *out, const char *path)
{
    char sum[65], to[LINK];
    struct stat at;
    ssize_t n = readlink(path, to, sizeof to);
    if (n >= 0)
        tg_buf_printf(out, "link %.*s %s\n", (int)n, to, path);
    if (stat(path, &at) == 0 && S_ISREG(at.st_mode))
        tg_buf_printf(out, "%s  %s\n", tg_sha256_file(path, sum) ? sum : "unreadable", path);
}

/* The sum of the file there or of each directly in that folder, and where links lead. */
static void add_files(struct tg_buf *out, const char *path)
{
    TG_ARENA *a = tg_arena_new();
    const struct tg_strs in = tg_ab_list(a, path); /* none of a file */
    add_file(out, path);
    for (size_t i = 0; i < in.n; i++)
        add_file(out, in.v[i]);
}

/* ---- settings ---- */

/* What git itself writes when it fetches submodules and large files, and for branches. */
static bool git_writes(tg_sv line)
{
    tg_sv key = tg_sv_cut(&line, '=');
    if (tg_sv_starts(key, TG_SV("branch.")) || tg_sv_eq(key, TG_SV("lfs.repositoryformatversion")))
        return true;
    if (tg_sv_starts(key, TG_SV("submodule.")))
        return tg_sv_ends(key, TG_SV(".url")) || tg_sv_ends(key, TG_SV(".active"));
    return tg_sv_starts(key, TG_SV("lfs.")) && tg_sv_ends(key, TG_SV(".access"));
}

static void add_git(struct tg_ab *ab, struct tg_buf *out, const char *const *args)
{
    struct tg_spawned how;
    TG_BUF said = { 0 };
    if (!tg_ab_git(ab, args, &said, &how))
        tg_buf_printf(out, "git %s failed\n", args[0]);
    tg_sv rest = tg_buf_sv(&said);
    while (rest.n) {
        tg_sv line = tg_sv_cut(&rest, '\n');
        if (!git_writes(line))
            tg_buf_printf(out, "%.*s\n", TG_SV_ARG(line));
    }
}

const char *tg_ab_settings(struct tg_ab *ab)
{
    static const char *const tool[] = {
        "bash", "env", "git", "python3", "sha256sum", "grep", "find", "sort"
    }; /* of the steps after this one */
    const char *common = tg_git_common_dir(ab->git), *root = tg_git_root(ab->git);
    const char *config = tg_arena_printf(ab->arena, "%sconfig", common);
    const char *event = tg_io_env(ab->io, "GITHUB_EVENT_PATH"); /* names commits to check */
    const char *const settings[] = { "config", "--file", config, "--includes", "--list", NULL };
    const char *const refs[] = { "for-each-ref",   "--format=%(objectname) %(refname)",
                                 "refs/notes",     "refs/replace",
                                 "refs/tracegate", NULL };
    static const char *const kept[] = { "hooks", "info", "objects/info/alternates" };
    TG_BUF out = { 0 };
    add_git(ab, &out, settings);
    add_file(&out, "/proc/self/exe");
    for (size_t i = 0; i < sizeof tool / sizeof *tool; i++)
        for (tg_sv rest = tg_sv_of(tg_io_env(ab->io, "PATH")); rest.n;) {
            tg_sv dir = tg_sv_cut(&rest, ':');
            const char *at = tg_arena_printf(ab->arena, "%.*s/%s", TG_SV_ARG(dir), tool[i]);
            if (access(at, X_OK) == 0) { /* the first is what runs */
                add_files(&out, at);
                break;
            }
        }
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        add_files(&out, tg_arena_printf(ab->arena, "%s%s", common, kept[i]));
    for (size_t i = 0; i < ab->o->watch.n; i++)
        add_files(&out, ab->o->watch.v[i]);
    if (event)
        add_file(&out, event);
    add_file(&out, tg_arena_printf(ab->arena, "%s.tracegate.yml", root));
    for (size_t i = 0; i + 1 < ab->o->check.n; i++)
        if (strcmp(ab->o->check.v[i], "--policy") == 0)
            add_file(&out, ab->o->check.v[i + 1]);
    add_git(ab, &out, refs);
    return tg_arena_sv(ab->arena, tg_buf_sv(&out)).p;
}

/* ---- a worktree ---- */

static void add_tree(struct tg_arena *a, struct tg_strs *lines, const char *path)
{
    struct stat at;
    if (lstat(path, &at) != 0)
        return;
    tg_strs_add(lines,
                tg_arena_printf(a, "%s %lld %llu %lld.%09ld", path, (long long)at.st_size,
                                (unsigned long long)at.st_ino, (long long)at.st_ctim.tv_sec,
                                at.st_ctim.tv_nsec),
                a);
    if (!S_ISDIR(at.st_mode))
        return;
    struct tg_strs in = tg_ab_list(a, path);
    for (size_t i = 0; i < in.n; i++)
        add_tree(a, lines, in.v[i]);
}

const char *tg_ab_tree(struct tg_ab *ab, size_t side)
{
    TG_ARENA *a = tg_arena_new();
    TG_BUF all = { 0 };
    struct tg_strs lines = { 0 };
    char *sum = TG_NEW_N(ab->arena, char, 65);
    add_tree(a, &lines, ab->side[side].tree);
    for (size_t i = 0; i < lines.n; i++)
        tg_buf_printf(&all, "%s\n", lines.v[i]);
    tg_sha256_hex(tg_buf_sv(&all), sum);
    return sum;
}

/* ---- all of it ---- */

bool tg_ab_unchanged(struct tg_ab *ab, struct tg_err *err)
{
    TG_BUF now = { 0 }, before = { 0 };
    if (!tg_ab_same(ab, "what judges", ab->settings, tg_ab_settings(ab), err))
        return false;
    /* Of the files that check reads in a folder; what else a program writes there (a log, a
     * snapshot of the memory) decides nothing. */
    for (size_t s = 0; s < 2 * TG_AB_SIDES; s++) {
        TG_ARENA *a = tg_arena_new();
        const struct tg_ab_side *side = &ab->side[s / 2];
        const struct tg_strs in = tg_ab_list(a, s % 2 ? side->again : side->first);
        for (size_t i = 0; i < in.n; i++)
            if (tg_file_is_input_name(tg_file_name(tg_sv_of(in.v[i]))))
                add_file(&now, in.v[i]);
    }
    for (size_t i = 0; i < ab->taken.n; i++)
        tg_buf_printf(&before, "%s\n", ab->taken.v[i]);
    for (tg_sv rest = tg_buf_sv(&now), line; rest.n;) {
        line = tg_sv_cut(&rest, '\n');
        tg_sv path = line; /* "SUM  PATH" */
        (void)tg_sv_cut(&path, ' ');
        if (line.p[0] != 'l' &&
            !tg_sv_has(tg_buf_sv(&before), TG_SV_PRINTF(ab->arena, "%.*s\n", TG_SV_ARG(path)))) {
            ab->code = TG_AB_CHANGED;
            return tg_err_say(err, TG_ERR_IO, TG_NOWHERE,
                              "the command wrote one more file that is read as a trace, so nothing "
                              "is judged:%.*s",
                              "Write one trace a run, to $TRACE. Other files may be beside it if "
                              "their names do not end in " TG_FILE_SUFFIX_WORDS ".",
                              TG_SV_ARG(path));
        }
    }
    return tg_ab_same(ab, "a trace", tg_buf_sv(&before).p, tg_buf_sv(&now).p, err);
}
