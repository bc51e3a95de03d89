/*
 * Preloaded by faults.py: calls to the file system fail. Counted are those whose path, or that of
 * whose descriptor, is at or below TG_FAULT_BELOW.
 *
 *     TG_FAULT_AT=N     the N-th counted call (from 1) fails, once, with TG_FAULT_ERRNO
 *     TG_FAULT_PATH=P   every call that names exactly P fails, as if nobody might look there
 *     TG_FAULT_COUNT=F  writes to F how many calls were counted, and which of them failed
 *
 * Child processes are not touched.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_long count;
static atomic_int busy; /* no call of our own counts */
static long fail_at;
static int code = EIO;
static const char *below, *exact, *count_file;
static char failed[2 * PATH_MAX + 64] = "nothing";

static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static void __attribute__((constructor)) start(void)
{
    const char *at = getenv("TG_FAULT_AT"), *number = getenv("TG_FAULT_ERRNO");
    fail_at = at ? atol(at) : 0;
    code = number ? atoi(number) : EIO;
    exact = getenv("TG_FAULT_PATH");
    count_file = getenv("TG_FAULT_COUNT");
    below = getenv("TG_FAULT_BELOW");
    (void)unsetenv("LD_PRELOAD");
}

static void __attribute__((destructor)) stop(void)
{
    FILE *f;
    busy = 1;
    if (count_file && (f = fopen(count_file, "w"))) {
        (void)fprintf(f, "%ld %s\n", atomic_load(&count), failed);
        (void)fclose(f);
    }
}

static int is_below(const char *path)
{
    size_t n = strlen(below);
    return strncmp(path, below, n) == 0 && (!path[n] || path[n] == '/');
}

/* The path with the current folder before it; "./" and "../" at its beginning are resolved. */
static void whole(const char *path, char *out, size_t size)
{
    char here[PATH_MAX] = "";
    if (path[0] != '/' && !getcwd(here, sizeof here))
        here[0] = '\0';
    while (path[0] == '.' && (path[1] == '/' || !path[1]))
        path += path[1] ? 2 : 1;
    (void)snprintf(out, size, "%s%s%s", here, here[0] && path[0] ? "/" : "", path);
    while (*out && out[1] && out[strlen(out) - 1] == '/')
        out[strlen(out) - 1] = '\0';
}

static int fails_at(const char *call, const char *path)
{
    char full[2 * PATH_MAX];
    long n;
    if (!below || busy)
        return 0;
    whole(path, full, sizeof full);
    if (!is_below(full))
        return 0;
    n = atomic_fetch_add(&count, 1) + 1;
    if (exact ? strcmp(full, exact) != 0 : n != fail_at)
        return 0;
    (void)snprintf(failed, sizeof failed, "%s %s", call, full);
    errno = exact ? EACCES : code;
    return 1;
}

/* Of a descriptor nobody needs permission. */
static int fails_on(const char *call, int fd)
{
    char link[64], path[PATH_MAX];
    ssize_t n;
    if (!below || exact || busy)
        return 0;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, path, sizeof path - 1);
    if (n <= 0)
        return 0;
    path[n] = '\0';
    return path[0] == '/' && fails_at(call, path);
}

#define MODE_OF(flags, mode)                                                                       \
    mode_t mode = 0;                                                                               \
    if ((flags) & (O_CREAT | O_TMPFILE)) {                                                         \
        va_list ap;                                                                                \
        va_start(ap, flags);                                                                       \
        mode = (mode_t)va_arg(ap, int);                                                            \
        va_end(ap);                                                                                \
    }
#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...);                                                    \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        int (*f)(const char *, int, ...);                                                          \
        MODE_OF(flags, mode)                                                                       \
        *(void **)&f = real(#name);                                                                \
        return fails_at("open", path) ? -1 : f(path, flags, mode);                                 \
    }
#define PATH_CALL(type, bad, name, arguments, forward)                                             \
    type name arguments;                                                                           \
    type name arguments                                                                            \
    {                                                                                              \
        type(*f) arguments;                                                                        \
        *(void **)&f = real(#name);                                                                \
        return fails_at(#name, path) ? (bad) : f forward;                                          \
    }
#define FD_CALL(type, bad, name, arguments, forward)                                               \
    type name arguments;                                                                           \
    type name arguments                                                                            \
    {                                                                                              \
        type(*f) arguments;                                                                        \
        *(void **)&f = real(#name);                                                                \
        return fails_on(#name, fd) ? (bad) : f forward;                                            \
    }

OPEN(open)
OPEN(open64)
PATH_CALL(FILE *, NULL, fopen, (const char *path, const char *mode), (path, mode))
PATH_CALL(FILE *, NULL, fopen64, (const char *path, const char *mode), (path, mode))
PATH_CALL(DIR *, NULL, opendir, (const char *path), (path))
PATH_CALL(int, -1, stat, (const char *path, struct stat *st), (path, st))
PATH_CALL(int, -1, stat64, (const char *path, struct stat64 *st), (path, st))
PATH_CALL(int, -1, lstat, (const char *path, struct stat *st), (path, st))
PATH_CALL(int, -1, lstat64, (const char *path, struct stat64 *st), (path, st))
PATH_CALL(int, -1, access, (const char *path, int mode), (path, mode))
PATH_CALL(int, -1, mkdir, (const char *path, mode_t mode), (path, mode))
PATH_CALL(int, -1, rename, (const char *path, const char *to), (path, to))
PATH_CALL(int, -1, link, (const char *path, const char *to), (path, to))
PATH_CALL(int, -1, unlink, (const char *path), (path))
PATH_CALL(char *, NULL, realpath, (const char *path, char *out), (path, out))
FD_CALL(int, -1, fstat, (int fd, struct stat *st), (fd, st))
FD_CALL(int, -1, fstat64, (int fd, struct stat64 *st), (fd, st))
FD_CALL(ssize_t, -1, read, (int fd, void *to, size_t n), (fd, to, n))
FD_CALL(ssize_t, -1, pread, (int fd, void *to, size_t n, off_t at), (fd, to, n, at))
FD_CALL(ssize_t, -1, pread64, (int fd, void *to, size_t n, off64_t at), (fd, to, n, at))
FD_CALL(ssize_t, -1, write, (int fd, const void *from, size_t n), (fd, from, n))
FD_CALL(int, -1, fsync, (int fd), (fd))
FD_CALL(int, -1, fdatasync, (int fd), (fd))
FD_CALL(int, -1, fchmod, (int fd, mode_t mode), (fd, mode))

#define MMAP(name, offset)                                                                         \
    void *name(void *at, size_t n, int protection, int flags, int fd, offset from);                \
    void *name(void *at, size_t n, int protection, int flags, int fd, offset from)                 \
    {                                                                                              \
        void *(*f)(void *, size_t, int, int, int, offset);                                         \
        *(void **)&f = real(#name);                                                                \
        return fd >= 0 && fails_on("mmap", fd) ? MAP_FAILED                                        \
                                               : f(at, n, protection, flags, fd, from);            \
    }
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

#define READDIR(name, type)                                                                        \
    struct type *name(DIR *d);                                                                     \
    struct type *name(DIR *d)                                                                      \
    {                                                                                              \
        struct type *(*f)(DIR *);                                                                  \
        *(void **)&f = real(#name);                                                                \
        return fails_on("readdir", dirfd(d)) ? NULL : f(d);                                        \
    }
READDIR(readdir, dirent)
READDIR(readdir64, dirent64)
