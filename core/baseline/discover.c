#include "core/baseline/discover.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "core/base/look.h"

extern char **environ; /* the one that libgit2 reads, when no folder is named */

static bool is_named_by_env(void)
{
    static const char *const names[] = { "GIT_DIR=", "GIT_WORK_TREE=", "GIT_COMMON_DIR=",
                                         "GIT_CEILING_DIRECTORIES=",
                                         "GIT_DISCOVERY_ACROSS_FILESYSTEM=" };
    for (char **e = environ; e && *e; e++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (tg_sv_starts(tg_sv_of(*e), tg_sv_of(names[i])))
                return true;
    return false;
}

static enum tg_discovered look(const char *folder, const char *name, mode_t *mode)
{
    char path[PATH_MAX];
    struct stat st;
    int n = snprintf(path, sizeof path, "%s%s", folder, name);
    if (n < 0 || (size_t)n >= sizeof path)
        return TG_DISCOVERED_UNSURE;
    if (lstat(path, &st) != 0)
        return tg_look_is_absent(errno) ? TG_DISCOVERED_NONE : TG_DISCOVERED_UNSURE;
    *mode = st.st_mode;
    return TG_DISCOVERED_TREE;
}

/* `folder` ends with '/'. A folder with a file HEAD may be a bare repository. */
static enum tg_discovered look_in(const char *folder)
{
    mode_t mode = 0, ignored;
    enum tg_discovered found = look(folder, ".git", &mode);
    if (found == TG_DISCOVERED_NONE)
        return look(folder, "HEAD", &ignored) == TG_DISCOVERED_NONE ? TG_DISCOVERED_NONE
                                                                    : TG_DISCOVERED_UNSURE;
    if (found == TG_DISCOVERED_TREE && S_ISREG(mode))
        return found;
    if (found == TG_DISCOVERED_TREE && S_ISDIR(mode) &&
        look(folder, ".git/HEAD", &ignored) == TG_DISCOVERED_TREE)
        return found;
    return TG_DISCOVERED_UNSURE;
}

enum tg_discovered tg_git_discover(const struct tg_git_opts *o, char root[PATH_MAX])
{
    enum tg_discovered found = TG_DISCOVERED_NONE;
    if ((!o->dir && is_named_by_env()) || !realpath(o->dir ? o->dir : ".", root))
        return TG_DISCOVERED_UNSURE;
    size_t n = strlen(root);
    if (n + 2 > PATH_MAX)
        return TG_DISCOVERED_UNSURE;
    if (root[n - 1] != '/')
        memcpy(root + n, "/", 2);
    while ((found = look_in(root)) == TG_DISCOVERED_NONE && root[1]) {
        *strrchr(root, '/') = '\0';
        strrchr(root, '/')[1] = '\0';
    }
    return found;
}
