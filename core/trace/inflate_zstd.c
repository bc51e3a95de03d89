#include "core/trace/inflate.h"

#ifdef TG_HAVE_ZSTD
#include <zstd.h>

#include "core/base/arena.h"

static void *zstd_open(void)
{
    ZSTD_DStream *z = ZSTD_createDStream();
    return z ? z : tg_xrealloc(NULL, SIZE_MAX, 2);
}

/* The content checksum is verified where the frame carries one. Windows above 128 MiB are refused.
 */
static enum tg_inflated zstd_run(void *state, struct tg_inflate_io *io)
{
    ZSTD_inBuffer in = { io->in, io->n_in, 0 };
    ZSTD_outBuffer out = { io->out, io->n_out, 0 };
    size_t code = ZSTD_decompressStream(state, &out, &in);
    io->in += in.pos;
    io->n_in -= in.pos;
    io->out += out.pos;
    io->n_out -= out.pos;
    if (ZSTD_isError(code)) {
        io->why = ZSTD_getErrorName(code);
        return TG_INFLATE_BAD;
    }
    return code == 0 ? TG_INFLATE_MEMBER_END : TG_INFLATE_MORE;
}

static void zstd_next(void *state)
{
    (void)ZSTD_DCtx_reset(state, ZSTD_reset_session_only);
}

static void zstd_close(void *state)
{
    (void)ZSTD_freeDStream(state);
}

static const struct tg_inflate_ops ops = { "zstd",   "zstd",    zstd_open,
                                           zstd_run, zstd_next, zstd_close };

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
