#include "core/base/sha256.h"
#include "tests/support.h"

/* NIST, FIPS 180-4 examples and the byte-oriented short messages of SHAVS (SHA256ShortMsg.rsp). */
static const struct {
    const char *text, *hex;
} vectors[] = {
    { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
    { "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
    { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
    { "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmn"
      "opqrsmnopqrstnopqrstu",
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
    { "\xd3", "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1" },
    { "\x11\xaf", "5ca7133fa735326081558ac312c620eeca9970d1e70a4b95533d956f072d1f98" },
};

TEST(vectors_of_nist)
{
    char hex[65];
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        tg_sha256_hex(tg_sv_of(vectors[i].text), hex);
        assert_string_equal(hex, vectors[i].hex);
    }
}

/* FIPS 180-4 example: one million times 'a'. */
TEST(a_million)
{
    static const char want[] = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
    char hex[65], *bytes = malloc(1000000);
    assert_non_null(bytes);
    memset(bytes, 'a', 1000000);
    tg_sha256_hex((tg_sv){ bytes, 1000000 }, hex);
    assert_string_equal(hex, want);
    free(bytes);
}

/* The padding has its edges at 55, 56 and 64 bytes; sha256sum of as many 'x' (coreutils 9.1). */
TEST(padding_edges)
{
    static const struct {
        size_t n;
        const char *hex;
    } edges[] = {
        { 55, "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072" },
        { 56, "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e" },
        { 57, "ae14a2563ccf969d99aca69ce6bb74981f734bbf9f655f73b8f06db68cab5217" },
        { 63, "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2" },
        { 64, "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c" },
    };
    char hex[65], x[64];
    memset(x, 'x', sizeof x);
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        tg_sha256_hex((tg_sv){ x, edges[i].n }, hex);
        assert_string_equal(hex, edges[i].hex);
    }
}
