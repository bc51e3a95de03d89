#include "core/base/buf.h"
#include "core/trace/inflate.h"
#include "core/trace/source.h"
#include "tests/support.h"

/* ---- gzip and zstd by hand (RFC 1952, 1951, 8878), so that no library judges itself ---- */

static uint32_t crc32_of(tg_sv s)
{
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < s.n; i++) {
        crc ^= (unsigned char)s.p[i];
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

static void put_le(struct tg_buf *out, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        tg_buf_putc(out, (char)(v >> (8 * i) & 0xff));
}

/* A member of stored blocks of at most `block` bytes, with a file name in its header. */
static void put_member(struct tg_buf *out, tg_sv text, size_t block)
{
    tg_buf_add(out, TG_SV("\x1f\x8b\x08\x08\0\0\0\0\0\x03name\0"));
    for (size_t at = 0;;) {
        size_t n = text.n - at < block ? text.n - at : block;
        tg_buf_putc(out, at + n == text.n);
        put_le(out, n, 2);
        put_le(out, ~n & 0xffff, 2);
        tg_buf_add(out, (tg_sv){ text.p + at, n });
        at += n;
        if (at == text.n)
            break;
    }
    put_le(out, crc32_of(text), 4);
    put_le(out, text.n, 4);
}

/* A zstd frame of one raw block: single segment, one byte of size. */
static void put_frame(struct tg_buf *out, tg_sv text)
{
    tg_buf_add(out, TG_SV("\x28\xb5\x2f\xfd\x20"));
    put_le(out, text.n, 1);
    put_le(out, 1 | text.n << 3, 3);
    tg_buf_add(out, text);
}

/* Bits, least significant first; Huffman codes go in most significant first. */
struct bits {
    struct tg_buf *out;
    unsigned acc, n;
};

static void put_bits(struct bits *b, unsigned v, unsigned n)
{
    b->acc |= v << b->n;
    for (b->n += n; b->n >= 8; b->n -= 8, b->acc >>= 8)
        tg_buf_putc(b->out, (char)(b->acc & 0xff));
}

static void put_code(struct bits *b, unsigned code, unsigned n)
{
    while (n--)
        put_bits(b, code >> n & 1, 1);
}

/* `copies` * 258 + 1 blanks in one fixed-Huffman block: 13 bits for 258 bytes, ratio 158. */
static void put_bomb(struct tg_buf *out, size_t copies)
{
    struct bits b = { out, 0, 0 };
    tg_buf_add(out, TG_SV("\x1f\x8b\x08\0\0\0\0\0\0\x03"));
    put_bits(&b, 1, 1);
    put_bits(&b, 1, 2);
    put_code(&b, 0x30 + ' ', 8);
    for (size_t i = 0; i < copies; i++) {
        put_code(&b, 0xc0 + 285 - 280, 8); /* length 258 */
        put_code(&b, 0, 5);                /* distance 1 */
    }
    put_code(&b, 0, 7);
    put_bits(&b, 0, 7);
    put_le(out, 0, 8); /* the limit is reached before the checksum */
}

/* ---- helpers ---- */

static bool drain(struct tg_source *s, size_t step, struct tg_buf *out, struct tg_err *err)
{
    int64_t got;
    char to[4096];
    while ((got = tg_source_fill(s, to, step, err)) > 0)
        tg_buf_add(out, (tg_sv){ to, (size_t)got });
    return got == 0;
}

static bool unpack(tg_sv packed, size_t step, struct tg_buf *out, struct tg_err *err)
{
    TG_SOURCE *s;
    bool ok;
    tg_buf_clear(out);
    tg_err_init(err);
    s = tg_source_memory(packed, "test", NULL, err);
    if (!s)
        return false;
    ok = drain(s, step, out, err);
    return ok;
}

static void assert_text(const struct tg_buf *b, const char *text)
{
    assert_int_equal(b->n, strlen(text));
    assert_memory_equal(b->p ? b->p : "", text, b->n);
}

static const size_t steps[] = { 1, 2, 3, 7, 64, 4096 };
#define FOR_STEPS(i) for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)

/* ---- tests ---- */

struct fixture {
    struct tg_buf packed, text, out;
    struct tg_err err;
};

static void set_up(struct fixture *f)
{
    tg_err_init(&f->err);
}

static void tear_down(struct fixture *f)
{
    tg_buf_release(&f->out);
    tg_buf_release(&f->packed);
    tg_buf_release(&f->text);
}

#define CASE(name) TEST_IN(struct fixture, f, set_up, tear_down, name)

CASE(plain_text_is_passed_on)
{
    FOR_STEPS(i)
    {
        assert_true(unpack(TG_SV("hello, trace"), steps[i], &f->out, &f->err));
        assert_text(&f->out, "hello, trace");
    }
    assert_true(unpack(TG_SV(""), 10, &f->out, &f->err));
    assert_int_equal(f->out.n, 0);
}

CASE(members_are_joined)
{
    put_member(&f->packed, TG_SV("first, "), 3);
    put_member(&f->packed, TG_SV(""), 100);
    put_member(&f->packed, TG_SV("second"), 100);
    FOR_STEPS(i)
    {
        assert_true(unpack(tg_buf_sv(&f->packed), steps[i], &f->out, &f->err));
        assert_text(&f->out, "first, second");
    }
    tg_buf_add(&f->packed, TG_SV("\0\0\0\0\0\0\0")); /* padding of tapes and blocks */
    assert_true(unpack(tg_buf_sv(&f->packed), 100, &f->out, &f->err));
    assert_text(&f->out, "first, second");
}

CASE(frames_are_joined)
{
    if (!tg_inflate_zstd())
        skip();
    put_frame(&f->packed, TG_SV("first, "));
    tg_buf_add(&f->packed, TG_SV("\x50\x2a\x4d\x18\x03\0\0\0abc")); /* a skippable frame */
    put_frame(&f->packed, TG_SV("second"));
    FOR_STEPS(i)
    {
        assert_true(unpack(tg_buf_sv(&f->packed), steps[i], &f->out, &f->err));
        assert_text(&f->out, "first, second");
    }
    tg_buf_add(&f->packed, TG_SV("x"));
    assert_false(unpack(tg_buf_sv(&f->packed), 100, &f->out, &f->err));
    assert_non_null(strstr(f->err.message, "garbage after the zstd stream"));
    f->packed.n -= 3;
    assert_false(unpack(tg_buf_sv(&f->packed), 100, &f->out, &f->err));
    assert_non_null(strstr(f->err.message, "the zstd stream ends early"));
}

/* Every prefix of a stream is an error that names where it ends: never a short read. */
CASE(every_prefix_is_truncated)
{
    size_t second;
    put_member(&f->packed, TG_SV("first, "), 3);
    second = f->packed.n;
    put_member(&f->packed, TG_SV("second"), 100);
    for (size_t n = 2; n < f->packed.n; n++) {
        char want[64];
        bool ok = unpack((tg_sv){ f->packed.p, n }, 5, &f->out, &f->err);
        if (n == second) {
            assert_true(ok);
            continue;
        }
        if (n == second + 1) { /* one byte of the next header is no header */
            assert_false(ok);
            continue;
        }
        (void)snprintf(want, sizeof want, "compressed byte %zu", n);
        assert_false(ok);
        assert_int_equal(f->err.kind, TG_ERR_TRACE);
        if (!strstr(f->err.message, "ends early") || !strstr(f->err.message, want))
            fail_msg("prefix %zu: %s", n, f->err.message);
        assert_int_equal(f->err.offset, n);
    }
}

CASE(damage_is_found)
{
    /* Where one byte is changed; negative: from the end. The member has a header of 15 bytes, 5 of
       the stored block, "second", CRC, length. */
    static const long at[] = { -8, -4, -10, 17, 2 };
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        tg_buf_clear(&f->packed);
        put_member(&f->packed, TG_SV("second"), 100);
        f->packed.p[at[i] < 0 ? f->packed.n - (size_t)-at[i] : (size_t)at[i]] ^= 0x15;
        assert_false(unpack(tg_buf_sv(&f->packed), 100, &f->out, &f->err));
        assert_int_equal(f->err.kind, TG_ERR_TRACE);
        if (!strstr(f->err.message, "corrupt") || !strstr(f->err.message, "compressed byte"))
            fail_msg("byte %ld: %s", at[i], f->err.message);
    }
}

/* RFC 1952, 2.3.1.2: "must give an error indication if any reserved bit is nonzero". */
CASE(reserved_flags_are_refused)
{
    size_t second;
    put_member(&f->packed, TG_SV("first, "), 100);
    second = f->packed.n;
    put_member(&f->packed, TG_SV("second"), 100);
    for (unsigned bit = 0x10; bit <= 0x80; bit *= 2)
        FOR_STEPS(i)
        {
            char old = f->packed.p[second + 3];
            bool ok;
            f->packed.p[second + 3] = (char)(old | (bit == 0x10 ? 0 : (int)bit));
            ok = unpack(tg_buf_sv(&f->packed), steps[i], &f->out, &f->err);
            f->packed.p[second + 3] = old;
            assert_int_equal(ok, bit == 0x10); /* 0x10: nothing is changed */
            if (!ok && !strstr(f->err.message, "corrupt: unknown header flags set"))
                fail_msg("flag %x: %s", bit, f->err.message);
        }
}

CASE(garbage_behind_is_refused)
{
    char want[64];
    put_member(&f->packed, TG_SV("text"), 100);
    (void)snprintf(want, sizeof want, "compressed byte %zu", f->packed.n);
    tg_buf_add(&f->packed, TG_SV("garbage"));
    assert_false(unpack(tg_buf_sv(&f->packed), 100, &f->out, &f->err));
    assert_non_null(strstr(f->err.message, "garbage after the gzip stream"));
    assert_non_null(strstr(f->err.message, want));
    f->packed.n -= 7;
    tg_buf_add(&f->packed, TG_SV("\0\0\0x"));
    assert_false(unpack(tg_buf_sv(&f->packed), 100, &f->out, &f->err));
    assert_non_null(strstr(f->err.message, "garbage after the gzip stream"));
}

CASE(limits_stop_bombs)
{
    struct tg_limits limits = TG_LIMITS_DEFAULT;
    struct tg_source *s;
    int64_t got;
    char *to = malloc(1 << 20);
    assert_non_null(to);
    put_bomb(&f->packed, ((size_t)66 << 20) / 258);
    limits.max_ratio = 150;
    s = tg_source_memory(tg_buf_sv(&f->packed), "bomb", &limits, &f->err);
    assert_non_null(s);
    while ((got = tg_source_fill(s, to, 1 << 20, &f->err)) > 0)
        ;
    assert_int_equal(got, -1);
    assert_int_equal(f->err.kind, TG_ERR_LIMIT);
    assert_non_null(strstr(f->err.message, "more than 150 times its size"));
    tg_source_close(s);

    tg_err_init(&f->err);
    limits.max_ratio = 1000;
    limits.max_inflated = 1000000;
    s = tg_source_memory(tg_buf_sv(&f->packed), "bomb", &limits, &f->err);
    while ((got = tg_source_fill(s, to, 4096, &f->err)) > 0)
        ;
    assert_int_equal(f->err.kind, TG_ERR_LIMIT);
    assert_non_null(strstr(f->err.message, "more than 1000000 bytes"));
    tg_source_close(s);

    /* The same bytes under the default limits get as far as their (wrong) checksum. */
    tg_err_init(&f->err);
    s = tg_source_memory(tg_buf_sv(&f->packed), "bomb", NULL, &f->err);
    while ((got = tg_source_fill(s, to, 1 << 20, &f->err)) > 0)
        ;
    assert_int_equal(f->err.kind, TG_ERR_TRACE);
    assert_non_null(strstr(f->err.message, "corrupt"));
    tg_source_close(s);
    tg_buf_release(&f->packed);
    free(to);
}

CASE(foreign_formats_are_named)
{
    static const struct {
        const char *bytes, *message;
    } cases[] = {
        { "PK\x03\x04rest", "a zip archive" },
        { "NVTXRPTF rest", "a report of Nsight Systems" },
        { "\n\xb3\x8a\x01\x12\x09/host:CPU", "an XPlane" }, /* a plane of 17,715 bytes */
        { "\n\x15\x08\x01\x12\x0d/device:GPU:0", "an XPlane" },
        { "<!doctype html>", "a web page or XML" },
        { "BZh9rest", "compressed with bzip2" },
        { "\xfd"
          "7zXZrest",
          "compressed with xz" },
        { "version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer" },
        { "\xef\xbb\xbf{}", "a byte order mark" },
    };
    static const struct {
        size_t at;
        const char *bytes, *message;
    } inside[] = { { 257, "ustar  ", "a tar archive" },
                   { 23, "brain.Event:2", "an event file of TensorBoard" } };
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
        for (size_t off = 0; off < 2; off++) { /* a byte later it is something else */
            char bytes[512] = "x";
            (void)strcpy(bytes + inside[i].at + off, inside[i].bytes);
            assert_int_equal(unpack((tg_sv){ bytes, sizeof bytes }, 100, &f->out, &f->err), off);
            if (!off)
                assert_non_null(strstr(f->err.message, inside[i].message));
            tg_buf_clear(&f->packed); /* the same in gzip, as t.tar.gz */
            put_member(&f->packed, (tg_sv){ bytes, sizeof bytes }, 17);
            assert_int_equal(unpack(tg_buf_sv(&f->packed), 1000, &f->out, &f->err), off);
            if (!off)
                assert_non_null(strstr(f->err.message, inside[i].message));
        }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_false(unpack(tg_sv_of(cases[i].bytes), 100, &f->out, &f->err));
        assert_int_equal(f->err.kind, TG_ERR_TRACE);
        assert_non_null(strstr(f->err.message, cases[i].message));
        assert_true(f->err.hint[0] != '\0');
    }
}

/* What a library leaves on the stack is not there at its next call. */
static __attribute__((noinline)) void scribble(int byte)
{
    volatile unsigned char stack[4096];
    for (size_t i = 0; i < sizeof stack; i++)
        stack[i] = (unsigned char)byte;
}

/* Both gzip libraries, one byte in and one byte out at a time. */
CASE(libraries_agree)
{
    const struct tg_inflate_ops *all[] = { tg_inflate_zlib(), tg_inflate_isal() };
    put_member(&f->packed, TG_SV("a text of some length, twice: a text of some length"), 17);
    for (size_t k = 0; k < 2; k++) {
        unsigned char out[100];
        size_t used = 0, made = 0;
        enum tg_inflated result = TG_INFLATE_MORE;
        void *z;
        if (!all[k])
            continue;
        z = all[k]->open();
        for (int round = 0; round < 1000 && result == TG_INFLATE_MORE; round++) {
            struct tg_inflate_io io = {
                (unsigned char *)f->packed.p + used, out + made, used < f->packed.n, 1, NULL, 0
            };
            size_t n_in = io.n_in;
            scribble(round);
            result = all[k]->run(z, &io);
            used += n_in - io.n_in;
            made += 1 - io.n_out;
        }
        assert_int_equal(result, TG_INFLATE_MEMBER_END);
        assert_int_equal(used, f->packed.n);
        assert_int_equal(made, 51);
        assert_memory_equal(out, "a text of some length, twice: a text of some length", 51);
        all[k]->close(z);
    }
}

/* Inflating in a thread of its own changes neither bytes nor errors, however early one stops. */
CASE(a_thread_changes_nothing)
{
    TG_BUF want = { 0 }, got = { 0 };
    for (int i = 0; i < 400000; i++) /* more than all buffers between the threads hold */
        tg_buf_printf(&f->text, "%d,", i);
    put_member(&f->packed, tg_buf_sv(&f->text), 65535);
    put_member(&f->packed, TG_SV("second"), 100);
    for (size_t cut = 0; cut < 40; cut++) {
        tg_sv part = { f->packed.p, f->packed.n - cut * (cut < 35 ? 1 : 60000) };
        struct tg_err err, other;
        TG_SOURCE *s;
        bool ok = unpack(part, 4096, &want, &err), with;
        tg_err_init(&other);
        tg_buf_clear(&got);
        s = tg_source_memory(part, "test", NULL, &other);
        tg_source_read_ahead(s);
        with = drain(s, 1 + cut * 100, &got, &other);
        assert_int_equal(with, ok);
        assert_int_equal(got.n, want.n);
        assert_memory_equal(got.p, want.p, want.n);
        assert_int_equal(other.kind, err.kind);
        assert_string_equal(other.message, err.message);
        assert_string_equal(other.hint, err.hint);
        assert_int_equal(other.offset, err.offset);
    }
    for (int taken = 0; taken < 3; taken++) { /* closed and rewound half-way */
        struct tg_err err = TG_ERR_INIT;
        TG_SOURCE *s;
        char to[10];
        s = tg_source_memory(tg_buf_sv(&f->packed), "test", NULL, &err);
        tg_source_read_ahead(s);
        for (int i = 0; i < taken; i++)
            assert_int_equal(tg_source_fill(s, to, sizeof to, &err), sizeof to);
        if (taken == 2) {
            assert_true(tg_source_rewind(s));
            assert_int_equal(tg_source_fill(s, to, sizeof to, &err), sizeof to);
            assert_memory_equal(to, "0,1,2,3,4,", 10);
        }
    }
}

static char *temporary(tg_sv bytes);

/* A member may end wherever the input buffer (64 KiB) does: what a decompressor has read too much
 * of belongs to the next member. */
CASE(members_end_anywhere_in_the_buffer)
{
    for (int i = 0; i < 20000; i++)
        tg_buf_putc(&f->text, 'x');
    for (size_t end = 65536 - 12; end <= 65536 + 12; end++) {
        TG_BUF packed = { 0 }, blanks = { 0 }, out = { 0 }, small = { 0 };
        struct tg_err err = TG_ERR_INIT;
        struct tg_source *s;
        char *path;
        for (int i = 0; i < 258 * 3 + 1; i++)
            tg_buf_putc(&blanks, ' ');
        put_bomb(&small, 3);
        small.n -= 8;
        put_le(&small, crc32_of(tg_buf_sv(&blanks)), 4);
        put_le(&small, blanks.n, 4);
        /* Stored members of 20000, then one of what is missing: 15 + 5 + n + 8 bytes each. */
        for (int i = 0; i < 3; i++)
            put_member(&packed, tg_buf_sv(&f->text), 65535);
        put_member(&packed, (tg_sv){ f->text.p, end - small.n - packed.n - 28 }, 65535);
        tg_buf_add(&packed, tg_buf_sv(&small));
        assert_int_equal(packed.n, end);
        put_member(&packed, TG_SV("last"), 100);
        path = temporary(tg_buf_sv(&packed));
        s = tg_source_open(path, NULL, &err);
        assert_non_null(s);
        if (!drain(s, 4096, &out, &err))
            fail_msg("end %zu: %s", end, err.message);
        assert_memory_equal(out.p + out.n - 4, "last", 4);
        tg_source_close(s);
        (void)unlink(path);
        free(path);
    }
}

static char *temporary(tg_sv bytes)
{
    static const char pattern[] = "/tmp/tg-test-source-XXXXXX";
    char *path = malloc(sizeof pattern);
    int fd;
    assert_non_null(path);
    memcpy(path, pattern, sizeof pattern);
    fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes.p, bytes.n), (ssize_t)bytes.n);
    (void)close(fd);
    return path;
}

CASE(files_are_read_and_rewound)
{
    struct tg_source *s;
    uint64_t done, total;
    char *path;
    for (int i = 0; i < 40000; i++) /* larger than the input buffer */
        tg_buf_printf(&f->text, "%d,", i);
    put_member(&f->packed, tg_buf_sv(&f->text), 65535);
    path = temporary(tg_buf_sv(&f->packed));
    s = tg_source_open(path, NULL, &f->err);
    assert_non_null(s);
    for (int round = 0; round < 2; round++) {
        tg_buf_clear(&f->out);
        assert_true(drain(s, 4096, &f->out, &f->err));
        assert_int_equal(f->out.n, f->text.n);
        assert_memory_equal(f->out.p, f->text.p, f->text.n);
        tg_source_progress(s, &done, &total);
        assert_int_equal(done, f->packed.n);
        assert_int_equal(total, f->packed.n);
        assert_true(tg_source_rewind(s));
    }
    tg_source_close(s);
    (void)unlink(path);
    free(path);
}

CASE(what_cannot_be_opened_is_named)
{
    assert_null(tg_source_open("/nonexistent/trace.json", NULL, &f->err));
    assert_int_equal(f->err.kind, TG_ERR_IO);
    assert_non_null(strstr(f->err.message, "/nonexistent/trace.json"));
    tg_err_init(&f->err);
    assert_null(tg_source_open("/tmp", NULL, &f->err));
    assert_int_equal(f->err.kind, TG_ERR_IO);
    assert_non_null(strstr(f->err.message, "is a directory"));
}
