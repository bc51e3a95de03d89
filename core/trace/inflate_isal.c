/* ISA-L's igzip: three times zlib's speed on traces. It checks CRC and length itself. */
#include "core/trace/inflate.h"

#ifdef TG_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#include <stdlib.h>

#include "core/base/arena.h"

static void isal_start(void *state)
{
    struct inflate_state *z = state;
    isal_inflate_init(z);
    z->crc_flag = ISAL_GZIP;
}

static void *isal_open(void)
{
    struct inflate_state *z = tg_xmalloc(sizeof *z);
    isal_start(z);
    return z;
}

static const char *reason(int code)
{
    switch (code) {
    case ISAL_INCORRECT_CHECKSUM:
        return "checksum or length do not match the data";
    case ISAL_INVALID_WRAPPER:
    case ISAL_UNSUPPORTED_METHOD:
        return "not a gzip header";
    default:
        return "invalid compressed data";
    }
}

static enum tg_inflated isal_run(void *state, struct tg_inflate_io *io)
{
    struct inflate_state *z = state;
    size_t in = io->n_in < UINT32_MAX ? io->n_in : UINT32_MAX;
    size_t out = io->n_out < UINT32_MAX ? io->n_out : UINT32_MAX;
    int code;
    z->next_in = (uint8_t *)(uintptr_t)io->in;
    z->avail_in = (uint32_t)in;
    z->next_out = io->out;
    z->avail_out = (uint32_t)out;
    code = isal_inflate(z);
    /* At a member's end it gives back what it has read too much of, which may lie before io->in. */
    io->in = z->next_in;
    io->n_in = io->n_in - in + z->avail_in;
    io->out += out - z->avail_out;
    io->n_out -= out - z->avail_out;
    if (code < 0) {
        io->why = reason(code);
        return TG_INFLATE_BAD;
    }
    return z->block_state == ISAL_BLOCK_FINISH ? TG_INFLATE_MEMBER_END : TG_INFLATE_MORE;
}

static const struct tg_inflate_ops ops = { "gzip", "isa-l", isal_open, isal_run, isal_start, free };

const struct tg_inflate_ops *tg_inflate_isal(void)
{
    return &ops;
}
#else
const struct tg_inflate_ops *tg_inflate_isal(void)
{
    return NULL;
}
#endif
