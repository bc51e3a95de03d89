/*
 * gzip, read by the program and by an oracle of ten lines on zlib. The first bytes choose: the rest
 * is the stream itself, or a text that is packed as one to four members of any form, then cut or
 * damaged. ISA-L and zlib must decide alike, a cut must be noticed, and what was packed comes back.
 */
#include <zlib.h>

#include "tests/fuzz/reading.h"
#include "tests/fuzz/target.h"

enum verdict { WHOLE, CUT, BAD };

/* Behind a member another one, zeros, or the end. */
static enum verdict oracle(tg_sv in, struct tg_buf *out, char why[64])
{
    z_stream z = { 0 };
    int code = Z_OK;
    enum verdict v = CUT;
    abort_if(inflateInit2(&z, 15 + 16) != Z_OK);
    z.next_in = (Bytef *)(uintptr_t)in.p;
    z.avail_in = (uInt)in.n;
    while (v == CUT && out->n <= READING_MOST) {
        size_t had = z.avail_in;
        z.next_out = (Bytef *)tg_buf_room(out, 4096);
        z.avail_out = 4096;
        code = inflate(&z, Z_NO_FLUSH);
        out->n += 4096 - z.avail_out;
        if (code == Z_STREAM_END) {
            size_t at = 0;
            if (z.avail_in >= 2 && z.next_in[0] == 0x1f && z.next_in[1] == 0x8b) {
                (void)inflateReset(&z);
                continue;
            }
            while (at < z.avail_in && z.next_in[at] == 0)
                at++;
            v = at == z.avail_in ? WHOLE : BAD;
        } else if (code != Z_OK && code != Z_BUF_ERROR) {
            v = BAD;
        } else if (z.avail_out && (z.avail_in == 0 || had == z.avail_in)) {
            break;
        }
    }
    (void)snprintf(why, 64, "%s", v == BAD && z.msg ? z.msg : "");
    (void)inflateEnd(&z);
    return v;
}

/* zlib refuses Huffman codes that leave bit patterns unused; ISA-L takes them, and finds by CRC and
 * length whether the data are right. */
static bool is_incomplete_code(const char *why)
{
    return strcmp(why, "invalid distances set") == 0 ||
           strcmp(why, "invalid literal/lengths set") == 0 ||
           strcmp(why, "invalid code lengths set") == 0;
}

static void put_member(struct tg_buf *out, tg_sv text, unsigned form)
{
    static const int strategies[] = { Z_DEFAULT_STRATEGY, Z_FIXED, Z_RLE, Z_HUFFMAN_ONLY };
    z_stream z = { 0 };
    gz_header h = { .extra = (Bytef *)(uintptr_t) "extra",
                    .extra_len = form & 0x40 ? 5 : 0,
                    .name = form & 0x20 ? (Bytef *)(uintptr_t) "t.json" : NULL,
                    .comment = form & 0x10 ? (Bytef *)(uintptr_t) "" : NULL,
                    .hcrc = form & 0x80 };
    if (!h.extra_len)
        h.extra = NULL;
    abort_if(deflateInit2(&z, (int)(form % 10), Z_DEFLATED, 9 + (int)(form % 7) + 16, 8,
                          strategies[form >> 2 & 3]) != Z_OK);
    (void)deflateSetHeader(&z, &h);
    z.next_in = (Bytef *)(uintptr_t)text.p;
    z.avail_in = (uInt)text.n;
    do {
        z.next_out = (Bytef *)tg_buf_room(out, 4096);
        z.avail_out = 4096;
        (void)deflate(&z, Z_FINISH);
        out->n += 4096 - z.avail_out;
    } while (z.avail_out == 0);
    (void)deflateEnd(&z);
}

static void put_members(struct tg_buf *out, tg_sv text, unsigned form)
{
    unsigned members = 1 + (form >> 8) % 4;
    for (unsigned i = 0; i < members; i++) {
        size_t n = i + 1 == members ? text.n : text.n / 2;
        put_member(out, (tg_sv){ text.p, n }, form + i * 37);
        text = (tg_sv){ text.p + n, text.n - n };
    }
}

static void judge(tg_sv packed, unsigned form, const tg_sv *text)
{
    struct reading r;
    TG_BUF want = { 0 };
    char why[64];
    enum verdict v;
    read_all_ways(&r, packed, form);
    v = oracle(packed, &want, why);
    if (r.err.kind != TG_ERR_LIMIT && !is_foreign(&r) && !is_incomplete_code(why) &&
        want.n <= READING_MOST &&
        (r.ok != (v == WHOLE) || (r.ok && !tg_sv_eq(tg_buf_sv(&r.text), tg_buf_sv(&want)))))
        differ(&r, v == WHOLE ? "whole" : v == CUT ? "cut" : why, &want);
    if (r.ok && text && !tg_sv_eq(tg_buf_sv(&r.text), *text))
        differ(&r, "not what was packed", NULL);
    reading_release(&r);
}

static bool is_gzip(tg_sv bytes)
{
    return tg_sv_starts(bytes, TG_SV("\x1f\x8b"));
}

/* Each member has a CRC, whatever its form. */
static bool has_crc(unsigned form)
{
    (void)form;
    return true;
}

FUZZ_TARGET(5)
{
    static const struct packing gzip = { 2, is_gzip, put_members, judge, has_crc };
    fuzz_packing(&gzip, choice, bytes);
}
