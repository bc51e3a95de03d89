/* Escaping: the expected text of each case is written from the rules of the format, by hand. */
#include <float.h>

#include "core/base/utf8.h"
#include "fixture.h"
#include "reporters/escape.h"
#include "reporters/number.h"
#include "tests/support.h"

typedef void escape(struct tg_buf *out, tg_sv text);

static void check(escape *f, tg_sv in, const char *want)
{
    TG_BUF out = { 0 };
    f(&out, in);
    assert_string_equal(out.p ? out.p : "", want);
}

static void cell(struct tg_buf *out, tg_sv text)
{
    tg_esc_md_code(out, text, TG_ESC_CELL);
}

TEST(code_spans)
{
    check(tg_esc_md_name, TG_SV("aten::mm"), "`aten::mm`");
    check(tg_esc_md_name, TG_SV(""), "");
    check(tg_esc_md_name, TG_SV("`"), "`` ` ``");
    check(tg_esc_md_name, TG_SV("a`b``c"), "```a`b``c```");
    check(tg_esc_md_name, TG_SV("a``b"), "`a``b`");
    check(tg_esc_md_name, TG_SV("a|b"), "`a|b`");
    check(cell, TG_SV("a|b"), "`a\\|b`");
    check(tg_esc_md_name, TG_SV(" x "), "`  x  `");
    check(tg_esc_md_name, TG_SV("  "), "`  `");
    check(tg_esc_md_name, TG_SV("a\r\nb\x01"), "`a  b\\u0001`");
}

TEST(prose_keeps_sentences)
{
    check(tg_esc_md_text, TG_SV("called 20 times per step, was 12 (+8, 1.2 % of the step)"),
          "called 20 times per step, was 12 (+8, 1.2 % of the step)");
    check(tg_esc_md_text, TG_SV("registers 128 -> registers 255"),
          "registers 128 \xe2\x86\x92 registers 255");
    check(tg_esc_md_text, TG_SV("no (a::f) here"), "no (`a::f`) here");
    check(tg_esc_md_text, TG_SV("no (a.f() is False)"), "no (`a.f()` is False)");
    check(tg_esc_md_text, TG_SV("(a.f)(b.g) too"), "`(a.f)(b.g)` too");
    check(tg_esc_md_text, TG_SV("ask @octocat or #12 now"), "ask `@octocat` or `#12` now");
    check(tg_esc_md_text, TG_SV("see www.evil.example x@y.example"),
          "see `www.evil.example x@y.example`");
    check(tg_esc_md_text, TG_SV("in 3f2a91c4b7e1 and GH-12"), "in `3f2a91c4b7e1` and `GH-12`");
    check(tg_esc_md_text, TG_SV("<b> *x* _y_ ~z~ [l](u)"), "`<b> *x* _y_ ~z~ [l](u)`");
    check(tg_esc_md_text, TG_SV("https://x"), "`https://x`");
    check(tg_esc_md_text, TG_SV("`no end and *more*"), "`` `no `` end and `*more*`");
    check(tg_esc_md_text, TG_SV("`` and ` ` x"), "` `` ` and `` ` ` `` x");
    check(tg_esc_md_text, TG_SV("was `x`y` here"), "was `` `x`y` `` here");
    check(tg_esc_md_text, TG_SV("a :smile: b"), "a `:smile:` b");
}

TEST(markup)
{
    check(tg_esc_xml, TG_SV("]]> \x01 \xff"), "]]&gt; \\u0001 \xef\xbf\xbd");
    check(tg_esc_xml, TG_SV("\xef\xbf\xbe\xef\xbf\xbf"), "\\ufffe\\uffff");
    check(tg_esc_xml_lines, TG_SV("a<\nb"), "a&lt;\nb");
    check(tg_esc_mermaid, TG_SV("a\"b`<c>;d"),
          "a#quot;b\xe2\x80\xb9"
          "c\xe2\x80\xba"
          "d");
}

TEST(commands)
{
    check(tg_esc_command, TG_SV("100% a::b, c\nd"), "100%25 a::b, c d");
    check(tg_esc_command_property, TG_SV("a::b,c%"), "a%3A%3Ab%2Cc%25");
    check(tg_esc_terminal, TG_SV("##[error]x \x1b[31m"), "##\\u200b[error]x \\u001b[31m");
}

TEST(yaml_scalars)
{
    check(tg_esc_yaml, TG_SV("a: b # 'c'"), "'a: b # ''c'''");
    check(tg_esc_yaml, TG_SV("\x1b[2J\r\n\"\\\xc2\x85"),
          "\"\\u001b[2J\\u000d\\u000a\\\"\\\\\\u0085\"");
    check(tg_esc_yaml, TG_SV("a\xff\xf3\xa0\x80\xa1"), "\"a\\ufffd\\U000e0021\"");
    check(tg_esc_yaml, TG_SV("##[error]'[a"), "\"##\\x5berror]'[a\"");
    check(tg_esc_yaml, TG_SV("# [a]"), "'# [a]'");
    check(tg_esc_yaml, TG_SV(""), "''");
}

TEST(shortening)
{
    TG_BUF out = { 0 };
    /* 10 wide: an ellipsis, 9 left: 6 in front, 3 behind. */
    tg_shorten(&out, TG_SV("abcdefghijklmnop"), 10);
    assert_string_equal(out.p, "abcdef\xe2\x80\xa6nop");
    tg_buf_clear(&out);
    tg_shorten(&out, TG_SV("abc"), 3);
    assert_string_equal(out.p, "abc");
    for (size_t i = 0; i < n_hostile_names; i++)
        for (size_t w = 3; w < 30; w++) {
            TG_BUF line = { 0 };
            tg_utf8_visible(&line, hostile_names[i]);
            tg_buf_clear(&out);
            tg_shorten(&out, tg_buf_sv(&line), w);
            assert_true(tg_utf8_valid(tg_buf_sv(&out)));
            assert_true(tg_utf8_count(tg_buf_sv(&out)) <= w);
        }
}

static void number(void (*f)(struct tg_buf *, double), double v, const char *want)
{
    TG_BUF out = { 0 };
    f(&out, v);
    assert_string_equal(out.p ? out.p : "", want);
    assert_string_equal(TG_AS(f, v), want);
}

TEST(numbers)
{
    const double nothing = (double)NAN, far = (double)INFINITY;
    number(tg_put_count, 12, "12");
    number(tg_put_count, 1.5, "1.5");
    number(tg_put_count, 100, "100");
    number(tg_put_count, 1.0 / 3, "0.33");
    number(tg_put_count_delta, -8, "-8");
    number(tg_put_count_delta, 8, "+8");
    number(tg_put_count_delta, 0.001, "0");
    number(tg_put_us_delta, 12345, "+12.3");
    number(tg_put_us_delta, -20, "0.0");
    number(tg_put_pct_delta, 12.34, "+12 %");
    number(tg_put_pct_delta, 9.94, "+9.9 %");
    number(tg_put_pct_delta, 250.4, "+250 %");
    number(tg_put_share, .0314, "3.1 %");
    number(tg_put_count, nothing, "");
    number(tg_put_us_delta, far, "");
    number(tg_put_pct_delta, nothing, "");
    number(tg_put_share, -far, "");
    assert_int_equal(strlen(TG_AS_FIXED(-DBL_MAX, 2)), 313);
}

TEST(texts_in_holes)
{
    TG_BUF out = { 0 };
    TG_PUT(&out, tg_esc_xml, "<b>{}</b> {}", TG_SV("a<b"), TG_SV("{}"));
    TG_PUT(&out, tg_esc_md_name, "; {}.", TG_SV("a`b"));
    assert_string_equal(out.p, "<b>a&lt;b</b> {}; ``a`b``.");
}

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

/* ---- addresses ---- */

static void linked(tg_sv repo, tg_sv sha, tg_sv file, const char *commit, const char *line)
{
    TG_BUF out = { 0 };
    tg_link_put_commit(&out, repo, sha);
    assert_string_equal(out.p ? out.p : "", commit);
    tg_buf_clear(&out);
    tg_link_put_lines(&out, repo, sha, file, 7, 7);
    assert_string_equal(out.p ? out.p : "", line);
}

TEST(addresses)
{
    linked(TG_SV("https://github.com/o/r"), TG_SV("abc"), TG_SV("a b/c).py"),
           "https://github.com/o/r/commit/abc", "https://github.com/o/r/blob/abc/a%20b/c%29.py#L7");
    linked(TG_SV("https://gitlab.example.org/o/r"), TG_SV("abc"), TG_SV("c.py"),
           "https://gitlab.example.org/o/r/-/commit/abc",
           "https://gitlab.example.org/o/r/-/blob/abc/c.py#L7");
    linked(TG_SV(""), TG_SV("abc"), TG_SV("c.py"), "", "");
    linked(TG_SV("javascript:alert(1)//"), TG_SV("abc"), TG_SV("c.py"), "", "");
    linked(TG_SV("https://github.com/o/r"), TG_SV(""), TG_SV("c.py"), "", "");
    linked(TG_SV("https://github.com/o/r"), TG_SV("abc"), TG_SV("/abs/c.py"),
           "https://github.com/o/r/commit/abc", "");
}

static void lines(const char *repo, uint32_t first, uint32_t last, const char *want)
{
    TG_BUF out = { 0 };
    tg_link_put_lines(&out, tg_sv_of(repo), TG_SV("abc"), TG_SV("c.py"), first, last);
    assert_string_equal(out.p, want);
}

TEST(ranges_of_lines)
{
    lines("https://github.com/o/r", 20, 22, "https://github.com/o/r/blob/abc/c.py#L20-L22");
    lines("https://github.com/o/r", 20, 20, "https://github.com/o/r/blob/abc/c.py#L20");
    lines("https://github.com/o/r", 0, 0, "https://github.com/o/r/blob/abc/c.py");
    lines("https://gitlab.com/o/r", 20, 22, "https://gitlab.com/o/r/-/blob/abc/c.py#L20-22");
}

TEST(perfetto)
{
    TG_BUF out = { 0 };
    tg_link_put_perfetto(&out, TG_SV("https://x.example/t.json.gz?a=1&b=2"), 1000, 200);
    assert_string_equal(
        out.p, "https://ui.perfetto.dev/#!/?url=https%3A%2F%2Fx.example%2Ft.json.gz%3Fa%3D1%"
               "26b%3D2&ts=1000&dur=200&visStart=900&visEnd=1300");
    tg_buf_clear(&out);
    tg_link_put_perfetto(&out, TG_SV("http://x.example/t.json"), 1000, 200);
    assert_int_equal(out.n, 0);
}
