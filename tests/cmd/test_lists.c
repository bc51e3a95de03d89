/* Lists of numbers, and the table that analyze prints. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/lists.h"
#include "cmd/sheet.h"
#include "reporters/csv.h"

static void numbers_and_ranges_are_read(void **state)
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
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tg_arena *a = tg_arena_new();
        struct tg_strs texts = { 0 };
        const char *v[3];
        struct tg_numbers got;
        struct tg_err err;
        tg_err_init(&err);
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
        tg_arena_free(a);
    }
}

static const struct tg_column columns[] = { { "name", TG_CELL_TEXT, false },
                                            { "long_name", TG_CELL_TEXT, true },
                                            { "n", TG_CELL_INT, false },
                                            { "us", TG_CELL_US, false },
                                            { "per_step", TG_CELL_REAL, false } };

static void fill(struct tg_sheet *g, struct tg_arena *a)
{
    struct tg_sheet_cell *row;
    tg_sheet_init(g, columns, 5, a);
    row = tg_sheet_row(g);
    tg_cell_text(&row[0], TG_SV("a \"b\", c"));
    tg_cell_text(&row[1], TG_SV("hidden"));
    tg_cell_int(&row[2], 9007199254740993);
    tg_cell_us(&row[3], 1234567);
    tg_cell_real(&row[4], 1.0 / 3);
    row = tg_sheet_row(g);
    tg_cell_text(&row[0], TG_SV("beginning_of_a_very_long_kernel_name_with_its_end"));
    tg_cell_us(&row[3], -1);
    tg_cell_real(&row[4], NAN);
}

static void sheets_are_exact_in_csv_and_json(void **state)
{
    struct tg_arena *a = tg_arena_new();
    struct tg_sheet g;
    struct tg_buf out = { 0 };
    (void)state;
    fill(&g, a);
    tg_sheet_csv(&g, &out);
    assert_string_equal(out.p,
                        "name,long_name,n,us,per_step\n"
                        "\"a \"\"b\"\", c\",hidden,9007199254740993,1234.567,0.3333333333333333\n"
                        "beginning_of_a_very_long_kernel_name_with_its_end,,,-0.001,\n");
    tg_buf_clear(&out);
    tg_sheet_json(&g, "s1", "m", &out);
    assert_non_null(strstr(out.p, "\"schema\": \"s1\""));
    assert_non_null(strstr(out.p, "\"us\": 1234.567"));
    assert_non_null(strstr(out.p, "\"per_step\": null"));
    tg_sheet_release(&g);
    tg_buf_release(&out);
    tg_arena_free(a);
}

static void sheets_fit_the_terminal(void **state)
{
    struct tg_arena *a = tg_arena_new();
    struct tg_sheet g;
    struct tg_buf out = { 0 };
    tg_sv rest, line;
    (void)state;
    fill(&g, a);
    tg_sheet_text(&g, 70, &out);
    assert_null(strstr(out.p, "hidden"));
    assert_non_null(strstr(out.p, "beginning"));
    assert_non_null(strstr(out.p, "its_end"));
    assert_non_null(strstr(out.p, "0.333"));
    rest = tg_buf_sv(&out);
    while (rest.n) {
        line = tg_sv_cut(&rest, '\n');
        assert_true(line.n <= 70 + 2); /* the ellipsis has three bytes */
    }
    tg_sheet_release(&g);
    tg_buf_release(&out);
    tg_arena_free(a);
}

/* A byte at each place of a word and behind one: what the whole text needs is found there too. */
static void csv_texts_are_quoted_wherever_the_byte_stands(void **state)
{
    (void)state;
    for (int c = 1; c < 256; c++)
        for (size_t at = 0; at < 19; at++) {
            char text[20] = "abcdefghijklmnopqrs", want[64] = "";
            struct tg_buf out = { 0 };
            size_t n = 0;
            bool quote = c == ',' || c == '"' || c == '\n' || c == '\r';
            text[at] = (char)c;
            if (c >= 0x7f || (c < 0x20 && !quote && c != '\t'))
                continue; /* made visible or valid; not a question of quotes */
            if (quote)
                want[n++] = '"';
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
            tg_buf_release(&out);
        }
}

static void csv_texts_are_made_valid_wherever_the_byte_stands(void **state)
{
    (void)state;
    for (size_t at = 0; at < 19; at++) {
        char text[20] = "abcdefghijklmnopqrs";
        struct tg_buf out = { 0 };
        text[at] = (char)0xff;
        tg_csv_text(&out, (tg_sv){ text, 19 });
        assert_non_null(strstr(out.p, "\xef\xbf\xbd"));
        assert_int_equal(out.n, 18 + 3);
        tg_buf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_ranges_are_read),
        cmocka_unit_test(sheets_are_exact_in_csv_and_json),
        cmocka_unit_test(sheets_fit_the_terminal),
        cmocka_unit_test(csv_texts_are_quoted_wherever_the_byte_stands),
        cmocka_unit_test(csv_texts_are_made_valid_wherever_the_byte_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
