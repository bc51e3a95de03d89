/* Lists of numbers. */
#include "cmd/gate/given.h"
#include "tests/support.h"

TEST(numbers_and_ranges_are_read)
{
    static const struct {
        const char *text[3];
        int64_t expected[6];
        size_t n; /* 99: refused */
    } cases[] = {
        { { "4", NULL }, { 4 }, 1 },
        { { "4,5", "7", NULL }, { 4, 5, 7 }, 3 },
        { { "0-3", NULL }, { 0, 1, 2, 3 }, 4 },
        { { "9,1-2", NULL }, { 9, 1, 2 }, 3 },
        { { "3-3", NULL }, { 3 }, 1 },
        { { "", NULL }, { 0 }, 99 },
        { { "3-1", NULL }, { 0 }, 99 },
        { { "-1", NULL }, { 0 }, 99 },
        { { "x", NULL }, { 0 }, 99 },
        { { "1,,2", NULL }, { 0 }, 99 },
        { { "1-", NULL }, { 0 }, 99 },
        { { "0-99999999", NULL }, { 0 }, 99 },
        { { "9223372036854775808", NULL }, { 0 }, 99 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TG_ARENA *a = tg_arena_new();
        struct tg_strs texts = { 0 };
        const char *v[3];
        struct tg_numbers got;
        struct tg_err err = TG_ERR_INIT;
        for (; cases[i].text[texts.n]; texts.n++)
            v[texts.n] = cases[i].text[texts.n];
        texts.v = v;
        if (cases[i].n == 99) {
            assert_false(tg_numbers_parse(&got, &texts, "step", a, &err));
            assert_int_equal(err.kind, TG_ERR_USAGE);
            assert_non_null(strstr(err.message, "--step"));
        } else {
            assert_true(tg_numbers_parse(&got, &texts, "step", a, &err));
            assert_int_equal(got.n, cases[i].n);
            for (size_t k = 0; k < got.n; k++)
                assert_int_equal(got.v[k], cases[i].expected[k]);
        }
    }
}
