/* The frame of HTML pages. The hashes are those of `printf %s TEXT | openssl dgst -sha256 -binary |
 * base64`; --dump FILE writes the page that tests/reporters/page.py opens in a browser. */
#include "reporters/escape.h"
#include "reporters/page/page.h"
#include "tests/support.h"

static const char hostile[] = "</style><script>alert(1)</script>\" onx='y' &amp; \x01\xff";

static const struct tg_page_column columns[] = { { "name", false }, { "time", true } };

static void put_table(struct tg_page *p, size_t rows, size_t first)
{
    const struct tg_page_table t = {
        .caption = "operators", .columns = columns, .n_columns = 2, .first = first
    };
    tg_page_table(p, &t);
    for (size_t i = 0; i < rows; i++) {
        char text[64];
        (void)snprintf(text, sizeof text, "op %03zu", i);
        tg_page_row(p, i % 3 ? "pass" : "fail");
        tg_page_cell(p);
        tg_page_name(p, tg_sv_of(text), 40);
        tg_page_number(p, i == 1 ? NAN : (double)(i * 37 % rows));
        tg_buf_printf(p->out, "%zu", i * 37 % rows);
    }
    tg_page_table_end(p);
}

static void put_page(struct tg_buf *out, size_t rows)
{
    struct tg_page p;
    TG_BUF name = { 0 };
    tg_page_begin(&p, out,
                  &(struct tg_page_head){ .title = { hostile, sizeof hostile - 1 },
                                          .style = TG_SV("i{color:red}"),
                                          .script = TG_SV("window.extra=1") });
    tg_page_section(&p, "first", "A section");
    tg_buf_puts(out, "<p>");
    tg_esc_xml(out, (tg_sv){ hostile, sizeof hostile - 1 });
    tg_buf_puts(out, "</p>\n");
    for (int i = 0; i < 1010; i++)
        tg_buf_putc(&name, (char)('a' + i % 26));
    tg_page_name(&p, tg_buf_sv(&name), 40);
    tg_page_link(&p, TG_SV("javascript:alert(1)"), TG_SV("no link"));
    tg_page_link(&p, TG_SV("https://example.org/?a=\"b\"&c"), TG_SV("a link"));
    put_table(&p, rows, 20);
    tg_buf_puts(out, "<details><summary>More</summary>\n<p>folded</p></details>\n");
    tg_page_section_end(&p);
    tg_page_end(&p);
}

static size_t times(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
        n++;
    return n;
}

TEST(policy_names_each_text)
{
    TG_BUF out = { 0 };
    put_page(&out, 3);
    assert_non_null(strstr(out.p, "default-src 'none'; style-src 'sha256-"));
    assert_non_null(
        strstr(out.p, " 'sha256-GMwyCzDk+LfN04T46tur6cvM2Iuulc2n/3IihHK78HE='; script-src"));
    assert_non_null(
        strstr(out.p, " 'sha256-pCKi+hLEuB1VqCTUNjK+0dLcr0aV4LUc7EzgMST3q+Q='; img-src data:"));
    assert_int_equal(times(out.p, "<style>"), 2);
    assert_int_equal(times(out.p, "<script>"), 2);
    assert_int_equal(times(out.p, " style=\""), 0);
}

TEST(a_page_without_more_has_two_hashes)
{
    TG_BUF out = { 0 };
    struct tg_page p;
    tg_page_begin(&p, &out, &(struct tg_page_head){ .title = TG_SV("t") });
    tg_page_end(&p);
    assert_int_equal(times(out.p, "'sha256-"), 2);
}

TEST(hostile_text_is_text)
{
    TG_BUF out = { 0 };
    put_page(&out, 3);
    assert_int_equal(times(out.p, "alert(1)</script>"), 0);
    assert_int_equal(times(out.p,
                           "&lt;script&gt;alert(1)&lt;/script&gt;&quot; onx=&#39;y&#39; &amp;amp; "
                           "\\u0001\xef\xbf\xbd"),
                     2);
    assert_int_equal(times(out.p, "href=\"javascript"), 0);
    assert_non_null(
        strstr(out.p, "href=\"https://example.org/?a=&quot;b&quot;&amp;c\">a link</a>"));
}

/* 40 columns less the ellipsis: 26 before it, 13 after it; the 971 between them stay in the
 * text. */
TEST(long_names_are_whole)
{
    static const char open[] = "<code class=\"long\" tabindex=\"0\">";
    TG_BUF out = { 0 };
    put_page(&out, 3);
    const char *name = strstr(out.p, open);
    assert_non_null(name);
    const char *hidden = strstr(name, "<span>");
    assert_int_equal(hidden - name, (int)strlen(open) + 26);
    assert_int_equal(strstr(hidden, "</span>") - (hidden + 6), 1010 - 39);
    assert_int_equal(strstr(hidden, "</code>") - (strstr(hidden, "</span>") + 7), 13);
}

TEST(rows_and_cells_close)
{
    static const char *const pairs[][2] = {
        { "<tr", "</tr>" },           { "<td", "</td>" },   { "<table", "</table>" },
        { "<section", "</section>" }, { "<div", "</div>" }, { "<details", "</details>" }
    };
    TG_BUF out = { 0 };
    put_page(&out, 7);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_int_equal(times(out.p, pairs[i][0]), times(out.p, pairs[i][1]));
    assert_int_equal(times(out.p, "<td"), 14);
    assert_int_equal(times(out.p, "data-v="), 6); /* row 1 has no number */
    assert_int_equal(times(out.p, "<tr class=\"fail\">"), 3);
}

TEST(same_calls_same_bytes)
{
    TG_BUF one = { 0 }, two = { 0 };
    put_page(&one, 50);
    put_page(&two, 50);
    assert_true(tg_sv_eq(tg_buf_sv(&one), tg_buf_sv(&two)));
}

static int dump(const char *path)
{
    TG_BUF out = { 0 };
    FILE *f = fopen(path, "wb");
    size_t written;
    put_page(&out, 50);
    written = f ? fwrite(out.p, 1, out.n, f) : 0;
    written = f && fclose(f) == 0 && written == out.n;
    return written ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--dump") == 0)
        return dump(argv[2]);
    return run_registered(NULL, NULL, NULL);
}
