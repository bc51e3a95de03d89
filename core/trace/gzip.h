#ifndef TG_TRACE_GZIP_H
#define TG_TRACE_GZIP_H
/* Writing one gzip member as a stream. In inflate_zlib.c. */
#include "core/base/buf.h"

struct tg_gzip;
struct tg_gzip *tg_gzip_new(void);
void tg_gzip_free(struct tg_gzip *g); /* accepts NULL */
/* Appends to `out` the bytes that are ready; with `last` everything, and the trailer. */
void tg_gzip_put(struct tg_gzip *g, tg_sv bytes, bool last, struct tg_buf *out);
#endif
