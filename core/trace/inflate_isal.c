/* ISA-L's igzip: three times zlib's speed on traces. It checks CRC and length itself. */
#include "core/trace/inflate.h"

#ifdef TG_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#include <stdlib.h>

#include "core/base/arena.h"
#ifdef TG_LAZY
#include <pthread.h>

#include "core/base/lazy.h"
#include "core/trace/isal_lazy.h" /* made; from here on ISA-L is called through a table */

/* Written once, by load_once, before anything of ISA-L is called. */
union tg_lazy_isal tg_lazy_isal;
static bool loaded;
static pthread_once_t lazy_once = PTHREAD_ONCE_INIT;

static void load_once(void)
{
    static const char *const names[] = { TG_LAZY_NAMES };
    char why[TG_LAZY_WHY]; /* not reported: zlib does the same */
    loaded =
        tg_lazy_load(TG_LAZY_SONAME, names, tg_lazy_isal.at, sizeof names / sizeof *names, why);
}

static bool load(void)
{
    (void)pthread_once(&lazy_once, load_once);
    return loaded;
}
#else
static bool load(void)
{
    return true; /* it is linked */
}
#endif

/*
 * The member's header is read separately: isal_inflate forgets between two calls what it has read
 * of a header (a name, a comment), so it may only be given whole headers (intel/isa-l issue 224).
 */
struct isal {
    struct inflate_state z;
    struct isal_gzip_header header;
    bool started, behind_header;
};

static void member_start(void *state)
{
    struct isal *s = state;
    isal_inflate_init(&s->z);
    isal_gzip_header_init(&s->header);
    s->z.crc_flag = ISAL_GZIP_NO_HDR_VER;
    s->started = s->behind_header = false;
}

static void *member_open(void)
{
    struct isal *s = tg_xmalloc(sizeof *s);
    member_start(s);
    return s;
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

static enum tg_inflated member_run(void *state, struct tg_inflate_io *io)
{
    struct isal *s = state;
    struct inflate_state *z = &s->z;
    size_t in = io->n_in < UINT32_MAX ? io->n_in : UINT32_MAX;
    size_t out = io->n_out < UINT32_MAX ? io->n_out : UINT32_MAX;
    /* RFC 1952, 2.3.1.2: reserved flags must be refused, which the library leaves to its caller.
     * The source has buffered more than a member's first four bytes. */
    bool first = !s->started && io->n_in;
    s->started |= first;
    if (first && io->n_in > 3 && io->in[3] & 0xe0) {
        io->why = "unknown header flags set";
        return TG_INFLATE_BAD;
    }
    z->next_in = (uint8_t *)(uintptr_t)io->in;
    z->avail_in = (uint32_t)in;
    z->next_out = io->out;
    z->avail_out = (uint32_t)out;
    int code = s->behind_header ? isal_inflate(z) : isal_read_gzip_header(z, &s->header);
    s->behind_header |= code == ISAL_DECOMP_OK;
    /* At a member's end it gives back the bytes that it has read too far; they may be before
     * io->in. */
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

static const struct tg_inflate_ops ops = { .format = "gzip",
                                           .zeros_may_follow = true,
                                           .open = member_open,
                                           .run = member_run,
                                           .next_member = member_start,
                                           .close = free };

const struct tg_inflate_ops *tg_inflate_isal(void)
{
    return load() ? &ops : NULL;
}

enum tg_isal_unpacked tg_isal_unpack_zlib(tg_sv in, char *out, size_t size)
{
    struct inflate_state z;
    if (in.n > UINT32_MAX || size > UINT32_MAX || !load())
        return TG_ISAL_CANNOT;
    isal_inflate_init(&z);
    z.crc_flag = ISAL_ZLIB;
    z.next_in = (uint8_t *)(uintptr_t)in.p;
    z.avail_in = (uint32_t)in.n;
    z.next_out = (uint8_t *)out;
    z.avail_out = (uint32_t)size;
    int code = isal_inflate_stateless(&z);
    return code == ISAL_DECOMP_OK && z.total_out == size ? TG_ISAL_WHOLE : TG_ISAL_DAMAGED;
}
#else
const struct tg_inflate_ops *tg_inflate_isal(void)
{
    return NULL;
}

enum tg_isal_unpacked tg_isal_unpack_zlib(tg_sv in, char *out, size_t size)
{
    (void)in, (void)out, (void)size;
    return TG_ISAL_CANNOT;
}
#endif
