#include "reporters/number.h"
#include "tests/support.h"

static void printed(const char *words, const char *want)
{
    TG_BUF out = { 0 };
    tg_put_printed(&out, tg_sv_of(words));
    assert_string_equal(out.p ? out.p : "", want);
}

TEST(words_as_printed)
{
    printed("", "");
    printed("relu: 12 us -> 3.4 us (+2 usual, us 3)",
            "relu: 12\xc2\xa0\xc2\xb5s \xe2\x86\x92 3.4\xc2\xa0\xc2\xb5s (+2 usual, us 3)");
    printed("+18 %, 3 ms, 1.50 msec a->b", "+18\xc2\xa0%, 3\xc2\xa0ms, 1.50 msec a->b");
}
