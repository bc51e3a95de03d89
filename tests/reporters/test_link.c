/* Addresses. */

#include "reporters/escape.h"
#include "tests/support.h"

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
