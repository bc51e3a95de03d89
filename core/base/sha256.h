#ifndef TG_BASE_SHA256_H
#define TG_BASE_SHA256_H
/* SHA-256 (FIPS 180-4), for objects whose name is their SHA-256: Git LFS. About 200 MB/s. */
#include "core/base/sv.h"

struct tg_sha256 {
    uint32_t h[8];
    uint64_t n;        /* bytes fed */
    uint8_t block[64]; /* the last, incomplete block */
};
void tg_sha256_init(struct tg_sha256 *s);
void tg_sha256_add(struct tg_sha256 *s, tg_sv bytes);
void tg_sha256_end(struct tg_sha256 *s, uint8_t digest[32]);

/* Digest of `bytes` as 64 lower-case hex digits and NUL. */
void tg_sha256_hex(tg_sv bytes, char hex[65]);
#endif
