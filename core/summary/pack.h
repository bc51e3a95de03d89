#ifndef TG_SUMMARY_PACK_H
#define TG_SUMMARY_PACK_H
/* Number columns as text: LEB128 varints, zlib, base64, with the raw size in front ("1234:eJz…"),
 * so that memory is known before anything is unpacked. */
#include "core/base/buf.h"
#include "core/trace/zlib_pack.h"

#define TG_PACK_MAX ((size_t)64 << 20) /* raw bytes of one column set; more is refused */

/* Writes it at `to`, where there is room for TG_PACKED_MOST bytes; returns its end. */
enum { TG_PACKED_MOST = 10 };
static inline char *tg_pack_at(char *to, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *to++ = (char)(unsigned char)(v | 0x80);
    *to++ = (char)(unsigned char)v;
    return to;
}
void tg_pack_u64(struct tg_buf *b, uint64_t v);
void tg_pack_i64(struct tg_buf *b, int64_t v); /* zigzag: small either side of 0 */

/* A reader over raw bytes; `bad` stays set, reads past the end return 0. */
struct tg_unpack {
    const char *p, *end;
    bool bad;
};
uint64_t tg_unpack_long(struct tg_unpack *u); /* of several bytes */
static inline uint64_t tg_unpack_u64(struct tg_unpack *u)
{
    return u->p < u->end && (unsigned char)*u->p < 0x80 ? (unsigned char)*u->p++
                                                        : tg_unpack_long(u);
}
int64_t tg_unpack_i64(struct tg_unpack *u);
/* A number of items that take at least one byte each: `bad` (and 0) if they cannot all fit. */
size_t tg_unpack_count(struct tg_unpack *u);
static inline size_t tg_unpack_left(const struct tg_unpack *u)
{
    return (size_t)(u->end - u->p);
}

void tg_pack_text(tg_sv raw, enum tg_zlib_level level, struct tg_buf *out);
TG_MUST bool tg_unpack_text(tg_sv text, struct tg_buf *raw);

void tg_base64_put(tg_sv bytes, struct tg_buf *out);
/* Strict: the alphabet, padding, and no stray bits. */
TG_MUST bool tg_base64_get(tg_sv text, struct tg_buf *out);
#endif
