#include "core/base/file_retry.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/temporary.h"

static bool passes(int code)
{
    static const int codes[] = { ESTALE, EIO, ETIMEDOUT, EAGAIN, EBUSY, ENOLINK, EREMOTEIO, EINTR };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (code == codes[i])
            return true;
    return false;
}

/* 0, or why not. */
static int try_once(const char *path, tg_sv bytes)
{
    int fd;
    char *name = tg_temporary_open(path, &fd);
    if (!name)
        return errno;
    int code = tg_file_put(fd, bytes);
    if (!code && fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
        code = errno;
    if (close(fd) != 0 && !code) /* NFS tells of a full disk here */
        code = errno;
    if (!code && !tg_temporary_keep(name, path))
        code = errno;
    else if (!code)
        name = NULL;
    tg_temporary_remove(name);
    return code;
}

bool tg_file_retry_write(const char *path, tg_sv bytes, uint64_t seed, struct tg_err *err)
{
    int code = 0;
    for (unsigned try = 0; try < TG_FILE_RETRY_TIMES; try++) {
        if (try) {
            /* 0.1 s, then twice as long each time, half of it by chance. */
            uint64_t most = (uint64_t)100000000 << (try - 1);
            uint64_t ns = most / 2 + tg_hash_fold(seed + try, 0x9e3779b97f4a7c15u) % (most / 2);
            struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
            while (nanosleep(&t, &t) != 0 && errno == EINTR)
                ;
        }
        code = try_once(path, bytes);
        if (!code)
            return true;
        if (!passes(code))
            break;
    }
    tg_err_set(err, TG_ERR_OUTPUT, TG_AT_FILE(path), "cannot write '%s': %s", path, strerror(code));
    return tg_err_hint(err, passes(code)
                                ? "The shared file system failed every time for some six "
                                  "seconds; the trace is unharmed."
                                : "Nothing was written there; check that the folder exists, is "
                                  "writable and has room.");
}
