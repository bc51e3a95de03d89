#ifndef TG_TRACE_ZLIB_PACK_H
#define TG_TRACE_ZLIB_PACK_H
/* Buffers in zlib's wrapper, whole, the checksum checked. In inflate_zlib.c. */
#include "core/base/buf.h"

/* Appends the packed bytes. Level 6: level 9 saves half a percent and takes five times as long. */
void tg_zlib_pack(tg_sv in, struct tg_buf *out);
/* The number of bytes that `in` packs to at `level` (1 to 9). */
size_t tg_zlib_packed_size(tg_sv in, int level);
/* Appends exactly `size` bytes; false if the data is damaged or has another size. */
TG_MUST bool tg_zlib_unpack(tg_sv in, size_t size, struct tg_buf *out);
/* At most the first `size` bytes, unchecked: how many there are, 0 if the data is damaged. */
size_t tg_zlib_unpack_head(tg_sv in, char *out, size_t size);
#endif
