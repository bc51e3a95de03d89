#include "core/summary/pack.h"
#include "tests/support.h"

static const int64_t values[] = { 0,   1,   -1,   63,      -64,       64,        127,
                                  128, 300, -300, 1 << 20, INT64_MAX, INT64_MIN, INT64_MAX - 1 };
#define N (sizeof values / sizeof *values)

TEST(numbers_come_back)
{
    TG_BUF b = { 0 };
    struct tg_unpack u;
    for (size_t i = 0; i < N; i++) {
        tg_pack_i64(&b, values[i]);
        tg_pack_u64(&b, (uint64_t)values[i]);
    }
    u = (struct tg_unpack){ b.p, b.p + b.n, false };
    for (size_t i = 0; i < N; i++) {
        assert_true(tg_unpack_i64(&u) == values[i]);
        assert_true(tg_unpack_u64(&u) == (uint64_t)values[i]);
    }
    assert_false(u.bad);
    assert_int_equal(tg_unpack_left(&u), 0);
    assert_int_equal(tg_unpack_u64(&u), 0);
    assert_true(u.bad);
}

/* By the definition: zigzag of -1 is 1, of 1 is 2; 300 = 0b10_0101100 -> AC 02. */
TEST(the_bytes_are_leb128)
{
    TG_BUF b = { 0 };
    tg_pack_i64(&b, -1);
    tg_pack_i64(&b, 1);
    tg_pack_u64(&b, 300);
    assert_int_equal(b.n, 4);
    assert_memory_equal(b.p, "\x01\x02\xac\x02", 4);
}

TEST(bad_numbers_are_noticed)
{
    static const tg_sv bad[] = {
        { "\x80", 1 },                                         /* cut */
        { "\x80\x00", 2 },                                     /* 0 in two bytes */
        { "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10 },    /* 65 bits */
        { "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11 } /* 11 bytes */
    };
    struct tg_unpack u = { "\x05xxxx", NULL, false };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tg_unpack v = { bad[i].p, bad[i].p + bad[i].n, false };
        (void)tg_unpack_u64(&v);
        assert_true(v.bad);
    }
    u.end = u.p + 5;
    assert_int_equal(tg_unpack_count(&u), 0); /* 5 things in 4 bytes */
    assert_true(u.bad);
}

/* RFC 4648, section 10. */
TEST(base64_as_in_its_rfc)
{
    static const char *const cases[][2] = {
        { "", "" },
        { "f", "Zg==" },
        { "fo", "Zm8=" },
        { "foo", "Zm9v" },
        { "foob", "Zm9vYg==" },
        { "fooba", "Zm9vYmE=" },
        { "foobar", "Zm9vYmFy" },
    };
    static const char *const bad[] = { "Z",    "Zg",   "Zg=",  "Zh==",     "Zm9=",
                                       "Z===", "====", "Zm=v", "Zg==Zg==", "Zm9v\n" };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TG_BUF to = { 0 }, back = { 0 };
        tg_base64_put(tg_sv_of(cases[i][0]), &to);
        assert_string_equal(to.p, cases[i][1]);
        assert_true(tg_base64_get(tg_sv_of(cases[i][1]), &back));
        assert_string_equal(back.p, cases[i][0]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        TG_BUF back = { 0 };
        if (tg_base64_get(tg_sv_of(bad[i]), &back))
            fail_msg("%s was taken", bad[i]);
    }
}

TEST(sizes_are_checked_before_memory_is_taken)
{
    struct tg_buf text = { 0 }, raw = { 0 };
    tg_pack_text(TG_SV("hello"), TG_ZLIB_USUAL, &text);
    assert_true(tg_unpack_text(tg_buf_sv(&text), &raw));
    assert_string_equal(raw.p, "hello");
    tg_buf_release(&raw);
    text.p[0] = '6';
    assert_false(tg_unpack_text(tg_buf_sv(&text), &raw));
    text.p[0] = '4';
    assert_false(tg_unpack_text(tg_buf_sv(&text), &raw));
    assert_false(tg_unpack_text(TG_SV("67108865:AAAA"), &raw)); /* TG_PACK_MAX + 1 */
    assert_false(tg_unpack_text(TG_SV("60000000:AAAA"), &raw)); /* not from three bytes */
    assert_false(tg_unpack_text(TG_SV(""), &raw));
    assert_false(tg_unpack_text(TG_SV("-1:AAAA"), &raw));
    tg_buf_release(&text);
    tg_buf_release(&raw);
}
