#ifndef TG_BASE_FILE_RETRY_H
#define TG_BASE_FILE_RETRY_H
/*
 * One file on a file system that many machines share: atomically, and again if the file system
 * fails in a way that passes (ESTALE, EIO, ETIMEDOUT, EAGAIN, EBUSY, ENOLINK, EREMOTEIO). At most
 * TG_FILE_RETRY_TIMES times within some six seconds; a thousand processes do not come back at once.
 */
#include "core/base/err.h"

#define TG_FILE_RETRY_TIMES 6

/* `seed`: differs between the processes that write at the same time (their ranks). */
TG_MUST bool tg_file_retry_write(const char *path, tg_sv bytes, uint64_t seed, struct tg_err *err);
#endif
