#include "core/base/buf.h"
#include "core/trace/inflate.h"
#include "core/trace/source.h"
#include "tests/fuzz/target.h"

#define OUT_MOST ((size_t)1 << 20)

static bool drain(tg_sv bytes, size_t step, struct tg_buf *out)
{
    struct tg_limits limits = TG_LIMITS_DEFAULT;
    struct tg_err err = TG_ERR_INIT;
    struct tg_source *s;
    char to[512];
    int64_t got = -1;
    limits.max_inflated = OUT_MOST;
    s = tg_source_memory(bytes, "fuzz", &limits, &err);
    while (s && (got = tg_source_fill(s, to, step, &err)) > 0)
        tg_buf_add(out, (tg_sv){ to, (size_t)got });
    abort_if(got < 0 && err.kind == TG_ERR_NONE); /* a failure always says why */
    tg_source_close(s);
    return got == 0;
}

/* One member by one library; false: not a whole member. */
static bool member(const struct tg_inflate_ops *ops, tg_sv bytes, struct tg_buf *out)
{
    struct tg_inflate_io io = { .in = (const unsigned char *)bytes.p, .n_in = bytes.n };
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
FUZZ_TARGET(0)
{
    TG_BUF a = { 0 }, b = { 0 };
    bool ok = drain(bytes, 512, &a);
    abort_if(ok != drain(bytes, 7, &b) || (ok && !tg_sv_eq(tg_buf_sv(&a), tg_buf_sv(&b))));
    tg_buf_clear(&a);
    tg_buf_clear(&b);
    abort_if(tg_inflate_isal() && tg_sv_starts(bytes, TG_SV("\x1f\x8b")) &&
             member(tg_inflate_isal(), bytes, &a) && member(tg_inflate_zlib(), bytes, &b) &&
             !tg_sv_eq(tg_buf_sv(&a), tg_buf_sv(&b)));
}
