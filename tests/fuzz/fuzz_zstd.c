/*
 * zstd, read by the program as a stream and by the library's call for whole inputs. The first bytes
 * choose: the rest is the stream itself, or a text that is packed as one to four frames of any form
 * with skippable ones between them, then cut or damaged.
 */
#include <zstd.h>

#include "tests/fuzz/reading.h"
#include "tests/fuzz/target.h"

static bool has_checksums(unsigned form)
{
    return form >> 15 & 1;
}

/* A skippable frame has no checksum: a damaged size may skip just the frame behind it. */
static bool is_covered(unsigned form)
{
    return has_checksums(form) && !(form >> 10 & 0x1f);
}

static void put_skippable(struct tg_buf *out, unsigned n)
{
    tg_buf_add(out, TG_SV("\x5a\x2a\x4d\x18"));
    for (int i = 0; i < 4; i++)
        tg_buf_putc(out, (char)(n >> 8 * i & 0xff));
    for (unsigned i = 0; i < n; i++)
        tg_buf_putc(out, (char)i);
}

static void put_frame(struct tg_buf *out, tg_sv text, unsigned form, bool checked)
{
    ZSTD_CCtx *z = ZSTD_createCCtx();
    size_t room = ZSTD_compressBound(text.n) + 64, n;
    (void)ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, (int)(form % 12) - 3);
    (void)ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, checked);
    (void)ZSTD_CCtx_setParameter(z, ZSTD_c_contentSizeFlag, form >> 5 & 1);
    (void)ZSTD_CCtx_setParameter(z, ZSTD_c_windowLog, 10 + (int)(form >> 6 & 3));
    n = ZSTD_compress2(z, tg_buf_room(out, room), room, text.p, text.n);
    abort_if(ZSTD_isError(n));
    out->n += n;
    (void)ZSTD_freeCCtx(z);
}

static void put_frames(struct tg_buf *out, tg_sv text, unsigned form)
{
    unsigned frames = 1 + (form >> 8) % 4;
    for (unsigned i = 0; i < frames; i++) {
        size_t n = i + 1 == frames ? text.n : text.n / 2;
        if (form >> (10 + i) & 1)
            put_skippable(out, form % 40);
        put_frame(out, (tg_sv){ text.p, n }, form + i * 37, has_checksums(form));
        text = (tg_sv){ text.p + n, text.n - n };
    }
    if (form >> 14 & 1)
        put_skippable(out, form % 300);
}

/*
 * The one-shot call takes all frames. The library's two ways do not agree about a few damaged
 * blocks: the one-shot way takes blocks above the window (RFC 8878, 3.1.1.2.4), the stream takes an
 * empty compressed block. What both take must be the same, and where checksums stand, what was
 * packed (`text`).
 */
static void judge(tg_sv packed, unsigned form, const tg_sv *text)
{
    static char whole[READING_MOST + 1];
    struct reading r;
    size_t n = ZSTD_decompress(whole, sizeof whole, packed.p, packed.n);
    read_all_ways(&r, packed, form);
    if (r.ok && !ZSTD_isError(n) && !tg_sv_eq(tg_buf_sv(&r.text), (tg_sv){ whole, n }))
        differ(&r, "other bytes", NULL);
    if (r.ok && text && !tg_sv_eq(tg_buf_sv(&r.text), *text))
        differ(&r, "not what was packed", NULL);
    reading_release(&r);
}

/* A frame, or a skippable one. */
static bool is_zstd(tg_sv bytes)
{
    return bytes.n >= 4 &&
           (memcmp(bytes.p, "\x28\xb5\x2f\xfd", 4) == 0 ||
            ((bytes.p[0] & 0xf0) == 0x50 && memcmp(bytes.p + 1, "\x2a\x4d\x18", 3) == 0));
}

FUZZ_TARGET(5)
{
    static const struct packing zstd = { 4, is_zstd, put_frames, judge, is_covered };
    fuzz_packing(&zstd, choice, bytes);
}
