#ifndef TG_TRACE_ZLIB_PACK_H
#define TG_TRACE_ZLIB_PACK_H
/* Buffers in zlib's wrapper, whole, the checksum checked; gzip, as a stream. In inflate_zlib.c. */
#include "core/base/buf.h"

/* Level 9 saves half a percent and takes five times as long as the usual one; the quick one takes a
 * third of the time, and a seventh more room; none: four times the room. */
enum tg_zlib_level { TG_ZLIB_NONE = 0, TG_ZLIB_QUICK = 1, TG_ZLIB_USUAL = 6 };
/* Appends the packed bytes. */
void tg_zlib_pack(tg_sv in, enum tg_zlib_level level, struct tg_buf *out);
/* The number of bytes that `in` packs to. */
size_t tg_zlib_packed_size(tg_sv in, enum tg_zlib_level level);
/* Appends exactly `size` bytes; false if the data is damaged or has another size. */
TG_MUST bool tg_zlib_unpack(tg_sv in, size_t size, struct tg_buf *out);
/* At most the first `size` bytes, unchecked: how many there are, 0 if the data is damaged. */
size_t tg_zlib_unpack_head(tg_sv in, char *out, size_t size);

/* One gzip member. */
struct tg_gzip;
struct tg_gzip *tg_gzip_new(void);
void tg_gzip_free(struct tg_gzip *g); /* accepts NULL */
/* Appends to `out` the bytes that are ready; with `last` everything, and the trailer. */
void tg_gzip_put(struct tg_gzip *g, tg_sv bytes, bool last, struct tg_buf *out);
#endif
