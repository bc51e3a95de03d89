#ifndef TG_TRACE_INFLATE_H
#define TG_TRACE_INFLATE_H
#include "core/base/sv.h"

/*
 * The table of one decompressor; internal to core/trace. A stream is a row of members (gzip) or
 * frames (zstd). `run` consumes input and produces output until one of them is used up or the
 * member has ended with its checksum and length verified. It may give back up to TG_INFLATE_BACK
 * bytes of the previous call: they must still be in memory before `in`.
 */
#define TG_INFLATE_BACK ((size_t)16)

enum tg_inflated { TG_INFLATE_MORE, TG_INFLATE_MEMBER_END, TG_INFLATE_BAD };

struct tg_inflate_io {
    const unsigned char *in;
    unsigned char *out;
    size_t n_in, n_out;
    const char *why; /* after TG_INFLATE_BAD */
    size_t behind;   /* and how many bytes before `in` the damaged piece begins */
};

struct tg_inflate_ops {
    const char *format;
    bool zeros_may_follow; /* zero bytes after the last member are padding */
    void *(*open)(void);
    enum tg_inflated (*run)(void *state, struct tg_inflate_io *io);
    void (*next_member)(void *state); /* a new zstd state for each costs 20 us */
    void (*close)(void *state);
};

/* A whole buffer in zlib's wrapper into exactly `size` bytes. CANNOT: the build does not have the
 * library, or it is too large: zlib must do it. */
enum tg_isal_unpacked { TG_ISAL_WHOLE, TG_ISAL_DAMAGED, TG_ISAL_CANNOT };
enum tg_isal_unpacked tg_isal_unpack_zlib(tg_sv in, char *out, size_t size);

/* NULL if the build does not have the library. zlib is always present. */
const struct tg_inflate_ops *tg_inflate_isal(void);
const struct tg_inflate_ops *tg_inflate_zlib(void);
const struct tg_inflate_ops *tg_inflate_zstd(void);
#endif
