/* Python frames of a trace: "file(line): function". */
#include "tests/support.h"

#include "cmd/gate/codefile.h"

TEST(a_frame_has_three_parts)
{
    static const struct {
        const char *name, *file, *function;
        uint32_t line;
    } good[] = {
        { "train.py(12): step", "train.py", "step", 12 },
        { "/w/my (1): x/a.py(3): <module>", "/w/my (1): x/a.py", "<module>", 3 },
        { "a.py(1): f(2): g", "a.py(1): f", "g", 2 },
    };
    static const char *const bad[] = {
        "aten::mm",   "<built-in method f>", "<frozen x>(1): f", "a.py(): f",
        "a.py(0): f", "a.py(1234567890): f", "a.py(12)",         "a.py(12): ",
        "(12): f",    "nn.Module: Net",
    };
    struct tg_codefile_name n;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(tg_codefile_parse(&n, tg_sv_of(good[i].name)));
        assert_sv_equal(n.file, tg_sv_of(good[i].file));
        assert_sv_equal(n.function, tg_sv_of(good[i].function));
        assert_int_equal(n.line, good[i].line);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (tg_codefile_parse(&n, tg_sv_of(bad[i])))
            fail_msg("'%s' is not a frame", bad[i]);
}

TEST(a_line_holds_only_in_its_function)
{
    TG_ARENA *a = tg_arena_new();
    struct tg_codefile f = { .in_repo = TG_SV("a.py"),
                             .text =
                                 TG_SV("import x\n\ndef f():\n    return 1\n\ndef g(): pass\n") };
    struct tg_codefile outside = f;
    f.n_functions = tg_py_functions(f.text, a, &f.functions);
    assert_true(tg_codefile_holds(&f, TG_SV("f"), 3));
    assert_true(tg_codefile_holds(&f, TG_SV("g"), 6));
    assert_false(tg_codefile_holds(&f, TG_SV("g"), 3));
    assert_false(tg_codefile_holds(&f, TG_SV("h"), 3));
    assert_true(tg_codefile_holds(&f, TG_SV("<module>"), 6));
    assert_false(tg_codefile_holds(&f, TG_SV("<module>"), 7));
    assert_false(tg_codefile_holds(&f, TG_SV(""), 3));
    outside.in_repo = TG_SV("");
    assert_false(tg_codefile_holds(&outside, TG_SV("<module>"), 1));
}
