#ifndef TG_BASELINE_DISCOVER_H
#define TG_BASELINE_DISCOVER_H
/*
 * Where git would find a repository, without libgit2: starting that reads the certificates of the
 * machine, which costs more than all that `policy lint` does. Only what is plain is answered here.
 */
#include <limits.h>

#include "core/baseline/baseline.h"

enum tg_discovered {
    TG_DISCOVERED_NONE, /* no folder from `o->dir` upwards has or is a repository */
    TG_DISCOVERED_TREE, /* `root` has a `.git`; '/' at its end */
    /* libgit2 must say: the environment names one, it may be bare, `.git` may not be one */
    TG_DISCOVERED_UNSURE
};
enum tg_discovered tg_git_discover(const struct tg_git_opts *o, char root[PATH_MAX]);
#endif
