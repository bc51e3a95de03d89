#include "tests/support.h"

#include "core/base/decimal.h"

/* Expected values: by hand, the decimal shifted three places, rounded half to even. */
TEST(microseconds_become_exact_nanoseconds)
{
    static const struct {
        const char *text;
        enum tg_dec how;
        tg_ns ns;
    } c[] = {
        { "0", TG_DEC_OK, 0 },
        { "1", TG_DEC_OK, 1000 },
        { "5.000", TG_DEC_OK, 5000 },
        { "0.001", TG_DEC_OK, 1 },
        { "-1.5", TG_DEC_OK, -1500 },
        { "1695000000000000.123", TG_DEC_OK, 1695000000000000123 },
        { "1.0005", TG_DEC_ROUNDED, 1000 }, /* half, to even */
        { "1.0015", TG_DEC_ROUNDED, 1002 }, /* half, to even */
        { "1.00050001", TG_DEC_ROUNDED, 1001 },
        { "1.0004999", TG_DEC_ROUNDED, 1000 },
        { "1.0000000", TG_DEC_OK, 1000 }, /* trailing zeros lose nothing */
        { "1e3", TG_DEC_OK, 1000000 },
        { "1.5E-3", TG_DEC_ROUNDED, 2 }, /* 1.5 ns, half to even */
        { "2.5E-3", TG_DEC_ROUNDED, 2 },
        { "1e-9", TG_DEC_ROUNDED, 0 },
        { "1695000000000000.1239", TG_DEC_ROUNDED, 1695000000000000124 },
        { "1695000000000000.1231", TG_DEC_ROUNDED, 1695000000000000123 },
        { "9223372036854775.807", TG_DEC_OK, INT64_MAX },
        { "9223372036854775.808", TG_DEC_RANGE, 0 },
        { "1e300", TG_DEC_RANGE, 0 },
        { "", TG_DEC_BAD, 0 },
        { "-", TG_DEC_BAD, 0 },
        { "1.5x", TG_DEC_BAD, 0 },
        { "NaN", TG_DEC_BAD, 0 },
        { "1e", TG_DEC_BAD, 0 },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        tg_ns ns = 0;
        enum tg_dec how = tg_dec_us_to_ns(tg_sv_of(c[i].text), &ns);
        if (how != c[i].how || (how != TG_DEC_RANGE && how != TG_DEC_BAD && ns != c[i].ns))
            fail_msg("'%s': got %d %lld, want %d %lld", c[i].text, how, (long long)ns, c[i].how,
                     (long long)c[i].ns);
    }
}

TEST(doubles_read_back)
{
    static const double v[] = { 0, 1, -1, 0.1, 1e-300, 1.7e308, 12345.678, 1.0 / 3, 5e-324 };
    TG_BUF b = { 0 };
    for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
        double back = NAN;
        tg_buf_clear(&b);
        tg_dec_put_double(&b, v[i]);
        assert_true(tg_dec_double(tg_buf_sv(&b), &back));
        assert_true(back == v[i]);
    }
    /* whole numbers, and what has few digits after the point, are written without printf: as it
     * writes them */
    static const struct {
        double v;
        const char *text;
    } same[] = { { 8044.5, "8044.5" },
                 { -0.125, "-0.125" },
                 { 0.001, "0.001" },
                 { 0.0005, "0.0005" },
                 { 0.1 + 0.2, "0.30000000000000004" },
                 { 999999999999.999, "999999999999.999" },
                 { 1e12, "1000000000000" },
                 { 1e15, "1e+15" },
                 { -0.0, "-0" } };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        tg_buf_clear(&b);
        tg_dec_put_double(&b, same[i].v);
        assert_string_equal(b.p, same[i].text);
    }
    tg_buf_clear(&b);
    for (int k = 0; k < 3; k++) {
        tg_dec_put_fixed(&b, k == 0 ? -0.0 : k == 1 ? -3 : 1e17, 0);
        tg_buf_putc(&b, ' ');
    }
    assert_string_equal(b.p, "0 -3 100000000000000000 ");
    /* two neighbours, as two C libraries give one logarithm; %.12g of Python's is 0.405058145316 */
    assert_true(tg_dec_round(0.40505814531592954) == 0.405058145316);
    assert_true(tg_dec_round(0.4050581453159296) == 0.405058145316);
    assert_true(tg_dec_round(-12.5) == -12.5);
    assert_true(isnan(tg_dec_round(NAN)) && isinf(tg_dec_round(-INFINITY)));
    double no;
    assert_false(tg_dec_double(TG_SV("1,5"), &no));
    assert_false(tg_dec_double(TG_SV("0x10"), &no));
}

/*
 * Python: float("1695000000000000.123") is 1695000000000000.0; .126 rounds up to .25 (step 0.25).
 */
TEST(large_times_round_as_python_reads_them)
{
    assert_true(tg_ns_to_us_double(1695000000000000123) == 1695000000000000.0);
    assert_true(tg_ns_to_us_double(1695000000000000126) == 1695000000000000.25);
    assert_true(tg_ns_to_us_double(-1500) == -1.5);
}

TEST(texts_among_numbers_are_printfs)
{
    static const char long_text[] =
        "0123456789012345678901234567890123456789012345678901234567890123456789";
    static const char cut[] = "ab\0cd";
    char want[400];
    TG_BUF b = { 0 };
#define BOTH(...)                                                                                  \
    (tg_buf_clear(&b), tg_buf_printf(&b, __VA_ARGS__),                                             \
     (void)snprintf(want, sizeof want, __VA_ARGS__), assert_string_equal(b.p, want),               \
     assert_int_equal(b.n, strlen(want)))
    BOTH("%s", "");
    BOTH("no text");
    BOTH("%.*s|%.*s|%s", 3, "bcdef", 0, "x", "end");
    BOTH("%.*s%s", 5, cut, "after the zero");
    BOTH("%s is %d of %5.1f%% and %s", "one", 7, 2.5, long_text);
    BOTH("%s%s%zu%s", long_text, long_text, (size_t)12, long_text);
    BOTH("%-4s|%4s|%.2s", "a", "b", "cdef");
#undef BOTH
}

/* Halves that a double has (0.125) and only nears (0.005), sums of noise, and both ends of what is
 * short. */
TEST(fixed_digits_are_printfs)
{
    static const double of[] = { 0,   0.005, 0.015, 0.125,     0.5,
                                 1.5, 2.675, 99.95, 0.0499999, 1e9 - 0.5 };
    double noise = 0.37;
    for (size_t i = 0; i < 20000; i++) {
        double v = i < 20 ? of[i / 2] : noise;
        noise = fmod(noise * 1.37 + 0.0123, i % 3 ? 1000.0 : 2e9);
        for (int decimals = 0; decimals < 6; decimals++) {
            char text[400];
            TG_BUF b = { 0 };
            v = i % 2 ? -v : v;
            (void)snprintf(text, sizeof text, "%.*f", decimals, v);
            tg_dec_put_fixed(&b, v, decimals);
            assert_string_equal(b.p, text + (text[0] == '-' && strtod(text, NULL) == 0));
        }
    }
}

static void check_text(tg_sv want, void (*put)(struct tg_buf *, double), double v)
{
    TG_BUF b = { 0 };
    put(&b, v);
    assert_sv_equal(tg_buf_sv(&b), want);
}

TEST(people_read_three_digits_and_a_unit)
{
    check_text(TG_SV("850 ns"), tg_dec_put_human_ns, 850);
    check_text(TG_SV("12.3 us"), tg_dec_put_human_ns, 12345);
    check_text(TG_SV("4.56 ms"), tg_dec_put_human_ns, 4.56e6);
    check_text(TG_SV("1.20 s"), tg_dec_put_human_ns, 1.2e9);
    check_text(TG_SV("-1.50 us"), tg_dec_put_human_ns, -1500);
    check_text(TG_SV("0 ns"), tg_dec_put_human_ns, -0.2); /* never "-0" */
}

TEST(exact_microseconds_are_printed)
{
    static const struct {
        tg_ns ns;
        const char *text;
    } c[] = { { 0, "0" },         { 1, "0.001" },   { 1500, "1.5" },
              { 12340, "12.34" }, { -1, "-0.001" }, { 7000, "7" } };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        TG_BUF b = { 0 };
        tg_dec_put_us(&b, c[i].ns);
        assert_sv_equal(tg_buf_sv(&b), tg_sv_of(c[i].text));
    }
}
