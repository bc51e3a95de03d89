#include <stdint.h>
#include <stdlib.h>

#include "core/base/buf.h"
#include "core/trace/inflate.h"
#include "core/trace/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define OUT_MOST ((size_t)1 << 20)

static bool drain(const uint8_t *data, size_t size, size_t step, struct tg_buf *out)
{
    struct tg_limits limits = TG_LIMITS_DEFAULT;
    struct tg_err err = TG_ERR_INIT;
    struct tg_source *s;
    char to[512];
    int64_t got = -1;
    limits.max_inflated = OUT_MOST;
    s = tg_source_memory((tg_sv){ (const char *)data, size }, "fuzz", &limits, &err);
    while (s && (got = tg_source_fill(s, to, step, &err)) > 0)
        tg_buf_add(out, (tg_sv){ to, (size_t)got });
    if (got < 0 && err.kind == TG_ERR_NONE)
        abort(); /* a failure always says why */
    tg_source_close(s);
    return got == 0;
}

/* One member by one library; false: not a whole member. */
static bool member(const struct tg_inflate_ops *ops, const uint8_t *data, size_t size,
                   struct tg_buf *out)
{
    struct tg_inflate_io io = { .in = data, .n_in = size };
    enum tg_inflated result = TG_INFLATE_MORE;
    void *z = ops->open();
    size_t got = 1;
    while (result == TG_INFLATE_MORE && out->n < OUT_MOST && (got || io.n_in)) {
        size_t before = io.n_in;
        io.out = (unsigned char *)tg_buf_room(out, 4096);
        io.n_out = 4096;
        result = ops->run(z, &io);
        got = 4096 - io.n_out;
        out->n += got;
        if (!got && before == io.n_in)
            break;
    }
    ops->close(z);
    return result == TG_INFLATE_MEMBER_END;
}

/* gzip, zstd or plain bytes: where reads end must not matter, and two libraries must agree. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TG_BUF a = { 0 }, b = { 0 };
    bool ok = drain(data, size, 512, &a);
    if (ok != drain(data, size, 7, &b) || (ok && !tg_sv_eq(tg_buf_sv(&a), tg_buf_sv(&b))))
        abort();
    tg_buf_clear(&a);
    tg_buf_clear(&b);
    if (tg_inflate_isal() && size > 2 && data[0] == 0x1f && data[1] == 0x8b &&
        member(tg_inflate_isal(), data, size, &a) && member(tg_inflate_zlib(), data, size, &b) &&
        !tg_sv_eq(tg_buf_sv(&a), tg_buf_sv(&b)))
        abort();
    return 0;
}
