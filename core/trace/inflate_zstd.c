#include "core/trace/inflate.h"

#ifdef TG_HAVE_ZSTD
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "core/base/arena.h"

/*
 * The library compares a frame with its declared size only where all of it fits into one call. It
 * gets one piece (header, block, checksum) at a time, so that damage is found at the same place
 * whatever the sizes of the caller's windows.
 */
/* As ZSTD_initDStream says: enough to recognise a frame's header. */
#define FIRST_PIECE ((size_t)5)

struct zstd {
    ZSTD_DStream *stream;
    size_t piece, left; /* the piece's bytes, and those of them that are still to come */
    unsigned long long declared, made; /* declared: ZSTD_CONTENTSIZE_UNKNOWN: nothing to compare */
    bool started;
};

static void *zstd_open(void)
{
    struct zstd *z = tg_xmalloc(sizeof *z);
    *z = (struct zstd){ .stream = ZSTD_createDStream(), .piece = FIRST_PIECE, .left = FIRST_PIECE };
    if (!z->stream)
        tg_out_of_memory();
    return z;
}

/* In damaged blocks the library's first complaint depends on the room it has ("Destination buffer
 * is too small"): they are all called the same, however the stream is read. */
static const char *reason(size_t code)
{
    switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_prefix_unknown:
    case ZSTD_error_version_unsupported:
    case ZSTD_error_frameParameter_unsupported:
    case ZSTD_error_frameParameter_windowTooLarge:
    case ZSTD_error_checksum_wrong:
    case ZSTD_error_dictionary_wrong:
    case ZSTD_error_memory_allocation:
        return ZSTD_getErrorName(code);
    default:
        return ZSTD_getErrorString(ZSTD_error_corruption_detected);
    }
}

/* A content checksum is verified where the frame carries one. Windows above 128 MiB are refused. */
static enum tg_inflated zstd_run(void *state, struct tg_inflate_io *io)
{
    struct zstd *z = state;
    ZSTD_inBuffer in = { io->in, io->n_in < z->left ? io->n_in : z->left, 0 };
    ZSTD_outBuffer out = { io->out, io->n_out, 0 };
    if (!z->started && io->n_in)
        z->declared = ZSTD_getFrameContentSize(io->in, io->n_in);
    z->started |= io->n_in > 0;
    size_t code = ZSTD_decompressStream(z->stream, &out, &in);
    io->in += in.pos;
    io->n_in -= in.pos;
    io->out += out.pos;
    io->n_out -= out.pos;
    z->made += out.pos;
    if (ZSTD_isError(code)) {
        io->why = reason(code);
        io->behind = z->piece - z->left;
        return TG_INFLATE_BAD;
    }
    z->left -= in.pos;
    if (!z->left)
        z->piece = z->left = code;
    if (code != 0)
        return TG_INFLATE_MORE;
    if (z->declared == ZSTD_CONTENTSIZE_UNKNOWN || z->declared == ZSTD_CONTENTSIZE_ERROR ||
        z->declared == z->made)
        return TG_INFLATE_MEMBER_END;
    io->why = "the length does not match the data";
    return TG_INFLATE_BAD;
}

static void zstd_next(void *state)
{
    struct zstd *z = state;
    (void)ZSTD_DCtx_reset(z->stream, ZSTD_reset_session_only);
    *z = (struct zstd){ .stream = z->stream, .piece = FIRST_PIECE, .left = FIRST_PIECE };
}

static void zstd_close(void *state)
{
    struct zstd *z = state;
    (void)ZSTD_freeDStream(z->stream);
    free(z);
}

static const struct tg_inflate_ops ops = { .format = "zstd",
                                           .open = zstd_open,
                                           .run = zstd_run,
                                           .next_member = zstd_next,
                                           .close = zstd_close };

const struct tg_inflate_ops *tg_inflate_zstd(void)
{
    return &ops;
}
#else
const struct tg_inflate_ops *tg_inflate_zstd(void)
{
    return NULL;
}
#endif
