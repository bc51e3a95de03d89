/* Sentences with names in them, and addresses. Names are shown as [name], words as they are. */

#include "reporters/link.h"
#include "reporters/prose.h"
#include "tests/support.h"

static void put_words(struct tg_buf *out, tg_sv text)
{
    tg_buf_add(out, text);
}

static void put_name(struct tg_buf *out, tg_sv name, const void *with)
{
    (void)with;
    tg_buf_printf(out, "[%.*s]", TG_SV_ARG(name));
}

static void check(const struct tg_verdict *v, const char *sentence, const char *want)
{
    const struct tg_prose_style style = { .words = put_words, .name = put_name };
    struct tg_prose p;
    TG_BUF out = { 0 };
    tg_prose_init(&p, v);
    tg_prose_put(&out, &p, tg_sv_of(sentence), &style);
    assert_string_equal(out.p ? out.p : "", want);
    tg_prose_release(&p);
}

TEST(names_stay_whole)
{
    static const char longest[] =
        "autograd::engine::evaluate_function: MmBackward0 and a tail of many more words";
    struct tg_result r[] = {
        { .state = TG_STATE_FAIL, .op_normalised = TG_SV("evaluate_function: MmBackward0") },
        { .state = TG_STATE_FAIL, .op_normalised = TG_SV("relu"), .calling_op = TG_SV("aten::mm") },
        { .state = TG_STATE_PASS, .op_normalised = TG_SV("step") },
        { .state = TG_STATE_FAIL, .subject = TG_SUBJECT_TRACE, .op_normalised = TG_SV("time") },
        { .state = TG_STATE_FAIL, .op_normalised = { longest, sizeof longest - 1 } },
    };
    const struct tg_verdict v = { .results = r, .n_results = sizeof r / sizeof *r };
    check(&v, "FAIL: evaluate_function: MmBackward0 +2 calls, relu +1",
          "FAIL: [evaluate_function: MmBackward0] +2 calls, [relu] +1");
    check(&v, "all inside aten::mm", "all inside [aten::mm]");
    check(&v, "2 relus per step at a time", "2 relus per step at a time");
    check(&v, "xaten::mm aten::mm_ aten::mm.", "xaten::mm aten::mm_ [aten::mm].");
    /* 48 bytes, " and a tail " and an ellipsis, as headlines have it; else another name, of
     * which "evaluate_function" is only the last part */
    check(&v, "FAIL: autograd::engine::evaluate_function: MmBackward0 and a tail \xe2\x80\xa6 +1",
          "FAIL: [autograd::engine::evaluate_function: MmBackward0 and a tail \xe2\x80\xa6] +1");
    check(&v, "FAIL: autograd::engine::evaluate_function: MmBackward0 and a tail o\xe2\x80\xa6 +1",
          "FAIL: autograd::engine::evaluate_function: MmBackward0 and a tail o\xe2\x80\xa6 +1");
    check(&v, "", "");
    check(&v, "relu", "[relu]");
    check(&v, "relu: 12 us -> 3.4 us (+2 usual, us 3)",
          "[relu]: 12\xc2\xa0\xc2\xb5s \xe2\x86\x92 3.4\xc2\xa0\xc2\xb5s (+2 usual, us 3)");
}

static void link(tg_sv repo, tg_sv sha, tg_sv file, const char *commit, const char *line)
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
    link(TG_SV("https://github.com/o/r"), TG_SV("abc"), TG_SV("a b/c).py"),
         "https://github.com/o/r/commit/abc", "https://github.com/o/r/blob/abc/a%20b/c%29.py#L7");
    link(TG_SV("https://gitlab.example.org/o/r"), TG_SV("abc"), TG_SV("c.py"),
         "https://gitlab.example.org/o/r/-/commit/abc",
         "https://gitlab.example.org/o/r/-/blob/abc/c.py#L7");
    link(TG_SV(""), TG_SV("abc"), TG_SV("c.py"), "", "");
    link(TG_SV("javascript:alert(1)//"), TG_SV("abc"), TG_SV("c.py"), "", "");
    link(TG_SV("https://github.com/o/r"), TG_SV(""), TG_SV("c.py"), "", "");
    link(TG_SV("https://github.com/o/r"), TG_SV("abc"), TG_SV("/abs/c.py"),
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
