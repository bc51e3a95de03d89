#ifndef TG_BASE_SHA256_H
#define TG_BASE_SHA256_H
/* SHA-256, for objects whose name is their SHA-256 (Git LFS), and to tell whether a file changed.
 * By libmd. */
#include "core/base/sv.h"

/* Digest of `bytes` as 64 lower-case hex digits and NUL. */
void tg_sha256_hex(tg_sv bytes, char hex[65]);
/* The same of a file's. False with errno set: it cannot be read. */
TG_MUST bool tg_sha256_file(const char *path, char hex[65]);
#endif
