/* Tables of an analysis as CSV, JSON and text. */
#include "reporters/csv.h"
#include "reporters/table.h"
#include "tests/support.h"

static const struct tg_table_column columns[] = { { "name", TG_TABLE_TEXT },
                                                  { "long_name", TG_TABLE_MACHINE_TEXT },
                                                  { "n", TG_TABLE_INT },
                                                  { "us", TG_TABLE_US },
                                                  { "per_step", TG_TABLE_REAL } };

static void fill(struct tg_table *t)
{
    tg_table_init(t, "m", columns, 5);
    TG_TABLE_PUT(t, tg_table_text(TG_SV("a \"b\", c")), tg_table_text(TG_SV("hidden")),
                 tg_table_int(9007199254740993), tg_table_int(1234567), tg_table_real(1.0 / 3));
    TG_TABLE_PUT(t, tg_table_text(TG_SV("beginning_of_a_very_long_kernel_name_with_its_end")),
                 TG_TABLE_UNKNOWN, TG_TABLE_UNKNOWN, tg_table_int(-1), tg_table_real(NAN));
}

TEST(tables_are_exact_in_csv_and_json)
{
    struct tg_table t;
    TG_BUF out = { 0 };
    fill(&t);
    tg_table_as_csv(&out, &t);
    assert_string_equal(out.p,
                        "name,long_name,n,us,per_step\n"
                        "\"a \"\"b\"\", c\",hidden,9007199254740993,1234.567,0.3333333333333333\n"
                        "beginning_of_a_very_long_kernel_name_with_its_end,,,-0.001,\n");
    tg_buf_clear(&out);
    tg_table_as_json(&out, &t, "s1");
    assert_non_null(strstr(out.p, "\"schema\": \"s1\""));
    assert_non_null(strstr(out.p, "\"measure\": \"m\""));
    assert_non_null(strstr(out.p, "\"us\": 1234.567"));
    assert_non_null(strstr(out.p, "\"per_step\": null"));
    tg_table_release(&t);
}

TEST(tables_fit_the_terminal)
{
    struct tg_table t;
    TG_BUF out = { 0 };
    fill(&t);
    tg_table_as_text(&out, &t, 70, 0);
    assert_null(strstr(out.p, "hidden"));
    assert_non_null(strstr(out.p, "beginning"));
    assert_non_null(strstr(out.p, "its_end"));
    assert_non_null(strstr(out.p, "0.333"));
    for (tg_sv rest = tg_buf_sv(&out); rest.n;)
        assert_true(tg_sv_cut(&rest, '\n').n <= 70 + 2); /* the ellipsis has three bytes */
    tg_table_release(&t);
}

static void assert_text(const struct tg_table *t, int width, size_t rows, const char *expected)
{
    TG_BUF out = { 0 };
    tg_table_as_text(&out, t, width, rows);
    assert_string_equal(out.p ? out.p : "", expected);
}

static const struct tg_table_column kernels[] = { { "name", TG_TABLE_TEXT },
                                                  { "sum (us)", TG_TABLE_US },
                                                  { "own_duration", TG_TABLE_REAL_US },
                                                  { "share_pctg", TG_TABLE_REAL },
                                                  { "unknown", TG_TABLE_INT },
                                                  { "device", TG_TABLE_INT },
                                                  { "gaps", TG_TABLE_INT } };

static void add_kernel(struct tg_table *t, const char *name, int64_t ns, double us, double share)
{
    TG_TABLE_PUT(t, tg_table_text(tg_sv_of(name)), tg_table_int(ns), tg_table_real(us),
                 tg_table_real(share), tg_table_int(0), tg_table_int(2), tg_table_int(7));
}

/* Numbers of a column share unit and decimals: 84.724 ms and 12 us are 84.72 and 0.01 ms. What all
 * rows share is said once, but a count that happens to be equal is not. */
TEST(numbers_share_a_unit)
{
    struct tg_table t;
    tg_table_init(&t, "m", kernels, 7);
    add_kernel(&t, "gemm", 84724000, 364, 8.467);
    add_kernel(&t, "copy", 12000, 2.5, 0.012);
    assert_text(&t, 0, 0,
                "device 2; 0 everywhere: unknown\n"
                "name  sum (ms)  own (us)  share (%)  gaps\n"
                "gemm     84.72     364.0      8.467     7\n"
                "copy      0.01       2.5      0.012     7\n");
    /* Shares stay longest. */
    assert_text(&t, 27, 1,
                "device 2;\n"
                "  0 everywhere: unknown\n"
                "name  sum (ms)  share (%)\n"
                "gemm     84.72      8.467\n"
                "... 1 more row, 2 more columns (--format csv has them all)\n");
    tg_table_release(&t);
}

/* A zero of a single row is a value; a row that is too wide stands upright. */
TEST(a_single_row)
{
    struct tg_table t;
    tg_table_init(&t, "m", kernels, 7);
    add_kernel(&t, "gemm", 1000, 2, 100);
    assert_text(&t, 0, 0,
                "device 2\n"
                "name  sum (us)  own (us)  share (%)  unknown  gaps\n"
                "gemm         1         2        100        0     7\n");
    assert_text(&t, 30, 0,
                "device 2\n"
                "what       value\n"
                "name       gemm\n"
                "sum (us)   1\n"
                "own (us)   2\n"
                "share (%)  100\n"
                "unknown    0\n"
                "gaps       7\n");
    tg_table_release(&t);
}

/* Names that do not fit are called as reports call them, the same in each row; whole where they are
 * copied. */
TEST(names_are_short_where_they_do_not_fit)
{
    static const char mul[] = "void at::native::vectorized_elementwise_kernel<4, at::native::"
                              "BinaryFunctor<float, float, float, at::native::binary_internal::"
                              "MulFunctor<float> >, at::detail::Array<char*, 3> >(int, int)";
    struct tg_table t;
    TG_BUF out = { 0 };
    tg_table_init(&t, "m", kernels, 2);
    for (int i = 0; i < 2; i++)
        tg_table_row(&t)[0] = tg_table_text(tg_sv_of(mul));
    t.cells[1] = t.cells[3] = tg_table_int(1000);
    assert_text(&t, 40, 0,
                "name               sum (us)\n"
                "MulFunctor<float>         1\n"
                "MulFunctor<float>         1\n");
    tg_table_as_text(&out, &t, TG_TABLE_WHOLE, 0);
    assert_non_null(strstr(out.p, mul));
    tg_table_release(&t);
}

/* A byte at each place of a word and behind one: what the whole text needs is found there too. */
TEST(csv_texts_are_quoted_wherever_the_byte_stands)
{
    for (int c = 1; c < 256; c++)
        for (size_t at = 0; at < 19; at++) {
            char text[20] = "abcdefghijklmnopqrs", want[64] = "";
            TG_BUF out = { 0 };
            size_t n = 0;
            bool quote = c == ',' || c == '"' || c == '\n' || c == '\r';
            text[at] = (char)c;
            if (c >= 0x7f || (c < 0x20 && !quote && c != '\t'))
                continue; /* made visible or valid; not a question of quotes */
            if (quote)
                want[n++] = '"';
            if (at == 0 && memchr("=+-@", c, 4)) /* a formula: no_csv_text_is_a_formula */
                want[n++] = '\'';
            for (size_t i = 0; i < 19; i++) {
                if (text[i] == '"')
                    want[n++] = '"';
                want[n++] = text[i];
            }
            if (quote)
                want[n++] = '"';
            tg_csv_text(&out, (tg_sv){ text, 19 });
            assert_int_equal(out.n, n);
            assert_memory_equal(out.p, want, n);
        }
    for (size_t at = 0; at < 19; at++) {
        char text[20] = "abcdefghijklmnopqrs";
        TG_BUF out = { 0 };
        text[at] = (char)0xff; /* is made valid */
        tg_csv_text(&out, (tg_sv){ text, 19 });
        assert_non_null(strstr(out.p, "\xef\xbf\xbd"));
        assert_int_equal(out.n, 18 + 3);
    }
}

/* A spreadsheet computes what begins like a formula, also after blanks. */
TEST(no_csv_text_is_a_formula)
{
    static const char *const text[][2] = {
        { "=1+1", "'=1+1" }, { "+x", "'+x" },     { "-x", "'-x" },
        { "@sum", "'@sum" }, { "\t=1", "'\t=1" }, { " @x,y", "\"' @x,y\"" },
        { "-", "-" },        { "a=1", "a=1" },    { "aten::add_", "aten::add_" },
        { "", "" },
    };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        TG_BUF out = { 0 };
        tg_csv_text(&out, tg_sv_of(text[i][0]));
        if (!tg_sv_eq(tg_buf_sv(&out), tg_sv_of(text[i][1])))
            fail_msg("%s is written as %.*s", text[i][0], TG_SV_ARG(tg_buf_sv(&out)));
    }
}
