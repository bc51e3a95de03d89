/* libgit2 itself: loaded when a repository is first opened; what it said last. */
#include "core/baseline/libgit2/internal.h"

#ifdef TG_LAZY
#include <pthread.h>

#include "core/base/lazy.h"
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TG_LEAK_CHECK 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define TG_LEAK_CHECK 1
#endif
#ifdef TG_LEAK_CHECK
/*
 * libgit2 1.5 leaks the match data of its regexes (in git_repository_open_ext for format 1, in
 * revparse of unknown names) and a list in a merge base that fails. The stacks end inside the
 * libraries, so that only the module tells them apart.
 */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libgit2.so\nleak:libpcre2-8.so\n";
}
#endif

const char *tg_libgit2_error(void)
{
    const git_error *e = git_error_last();
    return e && e->message ? e->message : "no reason given";
}

bool tg_libgit2_failed(struct tg_err *err, const char *what)
{
    tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "%s: %s", what, tg_libgit2_error());
    return tg_err_hint(err, "If `git fsck` finds nothing wrong, write the baseline to a file with "
                            "`git show REV:PATH > FILE` and give --baseline FILE.");
}

#ifdef TG_LAZY
/* Written once, by load_once, before anything of libgit2 is called. */
union tg_lazy_git tg_lazy_git;
static char lazy_failure[TG_LAZY_WHY]; /* "": it is loaded */
static pthread_once_t lazy_once = PTHREAD_ONCE_INIT;

static void load_once(void)
{
    static const char *const names[] = { TG_LAZY_NAMES };
    (void)tg_lazy_load(TG_LAZY_SONAME, names, tg_lazy_git.at, sizeof names / sizeof *names,
                       lazy_failure);
}

/* A libgit2 with mbedTLS reads all certificates of the system when it starts: 51 million
 * instructions, and nothing here uses its network (spawn.c calls git). This is found before the
 * library's function (cmd/CMakeLists.txt exports it), and reads none. */
int mbedtls_x509_crt_parse_file(void *chain, const char *path);
__attribute__((used)) int mbedtls_x509_crt_parse_file(void *chain, const char *path)
{
    (void)chain, (void)path;
    return 0;
}

/* A shared libgit2 brings fifteen libraries of its own, and finding all their symbols costs as much
 * as reading 2 MB of a trace: it is loaded when a repository is first opened, and stays. */
bool tg_libgit2_load(struct tg_err *err)
{
    (void)pthread_once(&lazy_once, load_once);
    if (!lazy_failure[0])
        return true;
    tg_err_set(err, TG_ERR_GIT, TG_NOWHERE, "libgit2 cannot be loaded: %s", lazy_failure);
    return tg_err_hint(err, "Install " TG_LAZY_SONAME ", or compare with files: --baseline FILE or "
                            "--baseline FOLDER needs no git.");
}
#else
bool tg_libgit2_load(struct tg_err *err)
{
    (void)err; /* it is linked */
    return true;
}
#endif
