/* Both sides checked out beside each other, and what runs in them. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/ab.h"
#include "core/base/temporary.h"
#include "core/baseline/git.h"

/* ---- what ends with us ---- */

static void set_folder(struct tg_ab *ab, const char *folder)
{
    ab->tmp = folder;
    ab->side[TG_AB_BASE].name = "base";
    ab->side[TG_AB_HEAD].name = "head";
    for (size_t i = 0; i < TG_AB_SIDES; i++)
        ab->side[i].tree = tg_arena_printf(ab->arena, "%s/%s", folder, ab->side[i].name);
}

static void remove_worktree(const struct tg_ab *ab, size_t side)
{
    const char *const args[] = { "worktree", "remove", "--force", ab->side[side].tree, NULL };
    struct tg_spawned how;
    tg_git_spawn(ab->git, args, 0, NULL, &how);
}

/* By a signal this runs beside whatever the comparison does: it allocates nothing of ours. */
static void remove_all(void *arg)
{
    const struct tg_ab *ab = arg;
    const char *const folder[] = { "rm", "-rf", "--", ab->tmp, NULL };
    struct tg_spawn s = { .argv = folder };
    struct tg_spawned how;
    for (size_t i = 0; i < TG_AB_SIDES; i++)
        remove_worktree(ab, i);
    tg_spawn_run(&s, NULL, &how);
}

/* ---- what did not end ---- */

static const char *lock_of(const struct tg_ab *ab, const char *folder)
{
    return tg_arena_printf(ab->arena, "%s/lock", folder);
}

/*
 * Folders of an `ab` that was killed: nobody holds their locks any more. Before its first worktree
 * an `ab` may not have locked its own yet, and older versions have no lock, so that nobody knows
 * whether they still run. Links and folders of others are left alone.
 */
static void remove_left(struct tg_ab *ab, const char *in)
{
    const struct tg_strs all = tg_ab_list(ab->arena, in);
    for (size_t i = 0; i < all.n; i++) {
        const char *folder = all.v[i];
        struct tg_ab old = *ab;
        struct stat at;
        int fd = -1;
        bool left = tg_sv_starts(tg_file_name(tg_sv_of(folder)), TG_SV("tracegate-ab-")) &&
                    lstat(folder, &at) == 0 && S_ISDIR(at.st_mode) && at.st_uid == geteuid() &&
                    tg_file_is_dir(tg_arena_printf(ab->arena, "%s/base", folder)) &&
                    (fd = open(lock_of(ab, folder), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)) >= 0 &&
                    flock(fd, LOCK_EX | LOCK_NB) == 0;
        if (fd >= 0)
            (void)close(fd);
        if (!left)
            continue;
        set_folder(&old, folder);
        remove_all(&old);
    }
}

/* ---- the environment ---- */

/* Names that a runner gives its own steps: files by which a step speaks to the runner, tokens, and
 * the inputs of our action. The command gets none of them. */
static bool is_private(const char *name)
{
    static const char whole[] =
        "GITHUB_ENV GITHUB_PATH GITHUB_OUTPUT GITHUB_STATE GITHUB_STEP_SUMMARY GITHUB_TOKEN "
        "GH_TOKEN GH_ENTERPRISE_TOKEN CI_JOB_TOKEN CI_BUILD_TOKEN CI_REPOSITORY_URL "
        "BUILDKITE_AGENT_TOKEN BUILDKITE_AGENT_ACCESS_TOKEN SYSTEM_ACCESSTOKEN";
    static const char *const start[] = { "ACTIONS_",   "INPUT_",       "TRACEGATE",
                                         "CI_JOB_JWT", "CI_BUILD_JWT", NULL };
    tg_sv n = tg_sv_of(name);
    for (size_t i = 0; start[i]; i++)
        if (tg_sv_starts(n, tg_sv_of(start[i])))
            return true;
    return tg_sv_lists(tg_sv_of(whole), ' ', n) ||
           (tg_sv_starts(n, TG_SV("CI_")) && tg_sv_ends(n, TG_SV("PASSWORD")));
}

/* ---- a program in a worktree ---- */

/* The parent in the text of /proc/PID/stat: the second word after the name,
 * which ends with the last ')'. */
static long parent_of(const char *pid)
{
    TG_BUF text = { 0 };
    char path[64];
    struct tg_err ignored = TG_ERR_INIT;
    (void)snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    bool ok = tg_file_read(&text, path, 65536, &ignored);
    const char *name = ok ? strrchr(tg_buf_sv(&text).p, ')') : NULL;
    return name && strlen(name) > 4 ? strtol(name + 4, NULL, 10) : -1;
}

/* Kills every child of ours; how many there were. */
static size_t kill_children(void)
{
    size_t n = 0;
    DIR *d = opendir("/proc");
    for (struct dirent *e; d && (e = readdir(d));)
        if (isdigit((unsigned char)e->d_name[0]) && parent_of(e->d_name) == (long)getpid())
            n += kill((pid_t)strtol(e->d_name, NULL, 10), SIGKILL) == 0;
    if (d)
        (void)closedir(d);
    return n;
}

static void heard(void *arg, tg_sv bytes)
{
    struct tg_ab *ab = arg;
    tg_ab_progress(ab, "%s", "");
    (void)!tg_file_put(ab->io->err, bytes);
}

const char *tg_ab_run(struct tg_ab *ab, size_t side, const char *const *argv, const char *trace)
{
    const char *set[] = { tg_arena_printf(ab->arena, "TRACE=%s", trace ? trace : ""),
                          ab->stacks ? "TRACE_STACKS=1" : NULL, NULL };
    struct tg_spawn s = { .argv = argv,
                          .set = set,
                          .drop = ab->drop,
                          .foreground = true,
                          .dir = tg_arena_printf(ab->arena, "%s/%s", ab->side[side].tree,
                                                 tg_git_prefix(ab->git)),
                          .heard = heard,
                          .arg = ab };
    struct tg_spawned how;
    if (trace) /* it holds the lock of the folder that it writes to, even if we are killed */
        (void)fcntl(ab->lock, F_SETFD, 0);
    (void)fcntl(ab->held, F_SETFD, 0);
    tg_spawn_run(&s, NULL, &how);
    (void)fcntl(ab->held, F_SETFD, FD_CLOEXEC);
    if (trace)
        (void)fcntl(ab->lock, F_SETFD, FD_CLOEXEC);
    /*
     * What a program left running would disturb the next run, and may change what was taken from
     * its own. Whatever loses its parent becomes our child (PR_SET_CHILD_SUBREAPER), so killing
     * our children until there are none ends all.
     */
    size_t left = 0, n;
    while (waitpid(-1, NULL, WNOHANG) > 0) /* ended by themselves */
        continue;
    while ((n = kill_children())) {
        left += n;
        for (; n && waitpid(-1, NULL, 0) > 0; n--)
            continue;
    }
    if (left)
        tg_ab_say(ab, "%s: %zu process%s left running, and %s ended",
                  trace ? ab->side[side].name : "--setup", left, left == 1 ? " was" : "es were",
                  left == 1 ? "is" : "are");
    if (how.end != TG_SPAWN_EXIT && how.end != TG_SPAWN_SIGNAL)
        return tg_arena_printf(ab->arena, "it does not start: %s", strerror(how.code));
    int code = how.code + (how.end == TG_SPAWN_SIGNAL ? 128 : 0);
    if (code > 128)
        return tg_arena_printf(ab->arena, "exit %d, as if by signal %d", code, code - 128);
    return code ? tg_arena_printf(ab->arena, "exit %d", code) : NULL;
}

bool tg_ab_side_fails(struct tg_ab *ab, size_t side, struct tg_err *err)
{
    bool skips = ab->o->bisect && (side == TG_AB_HEAD || ab->o->base_ran);
    ab->failed = true;
    ab->code = skips ? TG_AB_SKIP : tg_err_exit_code(err->kind);
    return false;
}

/* ---- checking out ---- */

static bool check_out(struct tg_ab *ab, size_t i, struct tg_err *err)
{
    struct tg_ab_side *s = &ab->side[i];
    const char *const args[] = { "worktree", "add",   "--quiet",     "--force",
                                 "--detach", s->tree, s->commit.sha, NULL };
    const char *prefix = tg_git_prefix(ab->git);
    struct tg_spawned how;
    remove_worktree(ab, i);
    if (!tg_ab_git(ab, args, NULL, &how))
        return tg_git_spawn_failed(ab->git, "checking out a commit", &how, err);
    if (tg_file_is_dir(tg_arena_printf(ab->arena, "%s/%s", s->tree, prefix)))
        return true;
    tg_err_set(err, TG_ERR_IO, TG_NOWHERE, "folder '%s' is not in %s, commit %.12s", prefix,
               s->name, s->commit.sha);
    return tg_ab_side_fails(ab, i, err);
}

/* A word of the command that names a file of HEAD's which the base lacks:
 * the change brings the bench. */
static void bring_word(struct tg_ab *ab, tg_sv word)
{
    const char *prefix = tg_git_prefix(ab->git);
    const char *path[TG_AB_SIDES];
    const char *argv[] = { "cp", "--", NULL, NULL, NULL };
    struct tg_spawn s = { .argv = argv };
    struct tg_spawned how;
    if (!word.n || word.p[0] == '/' || word.p[0] == '-' || tg_sv_has(word, TG_SV("..")))
        return;
    for (size_t i = 0; i < TG_AB_SIDES; i++)
        path[i] =
            tg_arena_printf(ab->arena, "%s/%s%.*s", ab->side[i].tree, prefix, TG_SV_ARG(word));
    if (!tg_file_is_regular(path[TG_AB_HEAD]) || tg_file_exists(path[TG_AB_BASE]))
        return;
    tg_sv name = tg_file_name(tg_sv_of(path[TG_AB_BASE]));
    tg_file_make_dir(
        tg_arena_printf(ab->arena, "%.*s", (int)(name.p - path[TG_AB_BASE]), path[TG_AB_BASE]));
    argv[2] = path[TG_AB_HEAD];
    argv[3] = path[TG_AB_BASE];
    tg_spawn_run(&s, NULL, &how);
    tg_ab_say(ab, "%.*s is not in the base: it runs with the one of HEAD", TG_SV_ARG(word));
}

bool tg_ab_begin(struct tg_ab *ab, struct tg_err *err)
{
    const char *tmp = tg_io_env(ab->io, "TMPDIR");
    tmp = tmp ? tmp : "/tmp";
    char *folder = tg_arena_printf(ab->arena, "%s/tracegate-ab-XXXXXX", tmp);
    if (!tg_git_root(ab->git))
        return tg_err_say(err, TG_ERR_GIT, TG_NOWHERE, "this repository has no work tree",
                          "Run it in a clone that has one.");
    if (!mkdtemp(folder))
        return tg_err_set(err, TG_ERR_OUTPUT, TG_NOWHERE, "no folder can be made in '%s'", tmp);
    /* Held until we end, and by a run that outlives us. */
    ab->held = open(lock_of(ab, folder), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    (void)flock(ab->held, LOCK_EX | LOCK_NB);
    set_folder(ab, folder);
    remove_left(ab, tmp);
    tg_signals_at_end(remove_all, ab);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    static const char *const git[] = { "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE" };
    struct tg_strs names = { 0 };
    for (const char *const *e = ab->io->environ_; *e; e++) {
        const char *name = tg_arena_printf(ab->arena, "%.*s", (int)strcspn(*e, "="), *e);
        if (is_private(name))
            tg_strs_add(&names, name, ab->arena);
    }
    for (size_t i = 0; i < sizeof git / sizeof *git; i++)
        tg_strs_add(&names, git[i], ab->arena);
    tg_strs_add(&names, NULL, ab->arena);
    ab->drop = names.v;
    return true;
}

bool tg_ab_prepare(struct tg_ab *ab, struct tg_err *err)
{
    for (size_t i = 0; i < TG_AB_SIDES; i++)
        if (!ab->side[i].made && !check_out(ab, i, err))
            return false;
    /* Also the words of a `bash -c` script. */
    for (size_t i = 0; i < ab->command->n; i++) {
        const char *at = ab->command->v[i];
        while (*(at += strspn(at, " \t\n"))) {
            size_t n = strcspn(at, " \t\n");
            bring_word(ab, (tg_sv){ at, n });
            at += n;
        }
    }
    ab->settings = tg_ab_settings(ab);
    for (size_t i = 0; i < TG_AB_SIDES; i++) {
        const char *const argv[] = { "bash", "-c", ab->o->setup, NULL };
        const char *why = NULL;
        if (!ab->side[i].made && ab->o->setup && (why = tg_ab_run(ab, i, argv, NULL))) {
            (void)tg_err_say(err, TG_ERR_IO, TG_NOWHERE, "--setup failed in %s: %s",
                             "See above what it said. It runs once per side, with `bash -c`.",
                             ab->side[i].name, why);
            return tg_ab_side_fails(ab, i, err);
        }
        ab->side[i].made = tg_ab_tree(ab, i);
        if (i == TG_AB_HEAD && !tg_ab_same(ab, "the worktree of base", ab->side[TG_AB_BASE].made,
                                           tg_ab_tree(ab, TG_AB_BASE), err))
            return false;
    }
    return true;
}

void tg_ab_end(struct tg_ab *ab)
{
    if (!ab->tmp)
        return;
    remove_all(ab);
    tg_signals_at_end(NULL, NULL);
}
