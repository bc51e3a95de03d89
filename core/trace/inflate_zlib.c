#include "core/trace/inflate.h"

#include <stdlib.h>
#include <zlib.h>

#include "core/base/arena.h"
#include "core/trace/zlib_pack.h"

static void *zlib_open(void)
{
    z_stream *z = tg_xmalloc(sizeof *z);
    *z = (z_stream){ 0 };
    if (inflateInit2(z, 15 + 16) != Z_OK) /* 16: gzip wrapper, CRC and length checked */
        tg_out_of_memory();
    return z;
}

static enum tg_inflated zlib_run(void *state, struct tg_inflate_io *io)
{
    z_stream *z = state;
    size_t in = io->n_in < UINT32_MAX ? io->n_in : UINT32_MAX;
    size_t out = io->n_out < UINT32_MAX ? io->n_out : UINT32_MAX;
    z->next_in = (Bytef *)(uintptr_t)io->in;
    z->avail_in = (uInt)in;
    z->next_out = io->out;
    z->avail_out = (uInt)out;
    int code = inflate(z, Z_NO_FLUSH);
    io->in += in - z->avail_in;
    io->n_in -= in - z->avail_in;
    io->out += out - z->avail_out;
    io->n_out -= out - z->avail_out;
    if (code == Z_STREAM_END)
        return TG_INFLATE_MEMBER_END;
    if (code == Z_OK || code == Z_BUF_ERROR)
        return TG_INFLATE_MORE;
    io->why = z->msg ? z->msg : "invalid compressed data";
    return TG_INFLATE_BAD;
}

static void zlib_next(void *state)
{
    (void)inflateReset(state);
}

static void zlib_close(void *state)
{
    (void)inflateEnd(state);
    free(state);
}

static const struct tg_inflate_ops ops = { .format = "gzip",
                                           .zeros_may_follow = true,
                                           .open = zlib_open,
                                           .run = zlib_run,
                                           .next_member = zlib_next,
                                           .close = zlib_close };

const struct tg_inflate_ops *tg_inflate_zlib(void)
{
    return &ops;
}

void tg_zlib_pack(tg_sv in, enum tg_zlib_level level, struct tg_buf *out)
{
    uLongf n = compressBound((uLong)in.n);
    if (compress2((Bytef *)tg_buf_room(out, n), &n, (const Bytef *)in.p, (uLong)in.n, (int)level) !=
        Z_OK)
        tg_out_of_memory();
    out->n += n;
    out->p[out->n] = '\0';
}

size_t tg_zlib_packed_size(tg_sv in, enum tg_zlib_level level)
{
    TG_BUF packed = { 0 };
    tg_zlib_pack(in, level, &packed);
    return packed.n;
}

bool tg_zlib_unpack(tg_sv in, size_t size, struct tg_buf *out)
{
    uLongf n = (uLongf)size;
    char *to = tg_buf_room(out, size);
    enum tg_isal_unpacked fast = tg_isal_unpack_zlib(in, to, size);
    if (fast == TG_ISAL_DAMAGED)
        return false;
    if (fast == TG_ISAL_CANNOT &&
        (uncompress((Bytef *)to, &n, (const Bytef *)in.p, (uLong)in.n) != Z_OK || n != size))
        return false;
    out->n += n;
    out->p[out->n] = '\0';
    return true;
}

size_t tg_zlib_unpack_head(tg_sv in, char *out, size_t size)
{
    z_stream z = { .next_in = (Bytef *)(uintptr_t)in.p,
                   .avail_in = in.n < UINT32_MAX ? (uInt)in.n : UINT32_MAX,
                   .next_out = (Bytef *)out,
                   .avail_out = (uInt)size };
    int code = inflateInit(&z);
    if (code != Z_OK)
        tg_out_of_memory();
    code = inflate(&z, Z_SYNC_FLUSH);
    (void)inflateEnd(&z);
    return code == Z_OK || code == Z_STREAM_END ? size - z.avail_out : 0;
}

struct tg_gzip {
    z_stream z;
};

struct tg_gzip *tg_gzip_new(void)
{
    struct tg_gzip *g = tg_xmalloc(sizeof *g);
    *g = (struct tg_gzip){ 0 };
    if (deflateInit2(&g->z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        tg_out_of_memory();
    return g;
}

void tg_gzip_free(struct tg_gzip *g)
{
    if (g)
        (void)deflateEnd(&g->z);
    free(g);
}

#define GZIP_ROOM ((size_t)64 << 10)
#define GZIP_PIECE ((size_t)1 << 30) /* zlib counts in 32 bits */

void tg_gzip_put(struct tg_gzip *g, tg_sv bytes, bool last, struct tg_buf *out)
{
    do {
        size_t n = bytes.n < GZIP_PIECE ? bytes.n : GZIP_PIECE;
        int flush = last && n == bytes.n ? Z_FINISH : Z_NO_FLUSH;
        g->z.next_in = (Bytef *)(uintptr_t)bytes.p;
        g->z.avail_in = (uInt)n;
        do {
            g->z.next_out = (Bytef *)tg_buf_room(out, GZIP_ROOM);
            g->z.avail_out = (uInt)GZIP_ROOM;
            (void)deflate(&g->z, flush);
            out->n += GZIP_ROOM - g->z.avail_out;
        } while (g->z.avail_out == 0);
        bytes = tg_sv_from(bytes, n);
    } while (bytes.n);
    out->p[out->n] = '\0';
}
