/* Globs and regexes, and that no regex can cost more than its budget. */
#include "policy_support.h"

#include <time.h>

#include "policy/language/match.h"

static struct tg_pattern *pattern(struct tg_arena *a, const char *text)
{
    char why[200];
    size_t at;
    struct tg_pattern *p = tg_pattern_new(tg_sv_of(text), a, why, sizeof why, &at);
    if (!p)
        print_message("%s: %s\n", text, why);
    assert_non_null(p);
    return p;
}

TEST(names)
{
    static const struct {
        const char *pattern, *name;
        enum tg_hit hit;
    } cases[] = {
        { "aten::mm", "aten::mm", TG_HIT_YES },
        { "aten::mm", "aten::mm_", TG_HIT_NO },
        { "aten::*", "aten::mm", TG_HIT_YES },
        { "*", "", TG_HIT_YES },
        { "a?c", "abc", TG_HIT_YES },
        { "a?c", "ac", TG_HIT_NO },
        { "a.c", "abc", TG_HIT_NO }, /* a glob's point is a point */
        { "/a.c/", "xabcx", TG_HIT_YES },
        { "/^a.c$/", "xabcx", TG_HIT_NO },
        { "/(?i)GEMM/", "sgemm", TG_HIT_YES },
        { "/\xC3\xA9{2}/", "\xC3\xA9\xC3\xA9", TG_HIT_YES },
        { "/a/b/", "xa/b", TG_HIT_YES },     /* only the outer slashes are ours */
        { "/x/", "a\xFFx", TG_HIT_GAVE_UP }, /* no text: not a silent no */
    };
    TG_ARENA *a = tg_arena_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tg_pattern *p = pattern(a, cases[i].pattern);
        if (tg_pattern_test(p, tg_sv_of(cases[i].name)) != cases[i].hit)
            fail_msg("%s on %s", cases[i].pattern, cases[i].name);
        tg_pattern_release(p);
    }
}

TEST(what_does_not_compile)
{
    static const struct {
        const char *text;
        size_t at;
    } cases[] = { { "", 0 }, { "//", 0 }, { "/a(/", 3 }, { "/[z-a]/", 4 }, { "/\\C/", 3 } };
    TG_ARENA *a = tg_arena_new();
    char why[200], big[TG_PATTERN_MAX + 2];
    size_t at;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_null(tg_pattern_new(tg_sv_of(cases[i].text), a, why, sizeof why, &at));
        assert_true(why[0] != '\0');
        if (at != cases[i].at)
            fail_msg("%s: %zu", cases[i].text, at);
    }
    memset(big, 'a', sizeof big);
    struct tg_pattern *p = tg_pattern_new((tg_sv){ big, TG_PATTERN_MAX }, a, why, sizeof why, &at);
    assert_non_null(p);
    tg_pattern_release(p);
    assert_null(tg_pattern_new((tg_sv){ big, TG_PATTERN_MAX + 1 }, a, why, sizeof why, &at));
    /* 100 million repeats are refused when they are compiled, not when they match. */
    assert_null(tg_pattern_new(TG_SV("/((a{1,9999}){1,9999}){1,9999}/"), a, why, sizeof why, &at));
}

/* Needs 2^40 steps without a budget. A spent pattern answers at once for the other 10,000 names. */
TEST(regex_bombs_end)
{
    static const char *const bombs[] = { "/^(a+)+$/", "/^(a|aa)+$/", "/^(.*)*(.*)*(.*)*x$/",
                                         "/(?:(?:(?:a*)*)*)*b/" };
    TG_ARENA *a = tg_arena_new();
    tg_sv name = TG_SV("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!");
    clock_t before = clock();
    for (size_t i = 0; i < sizeof bombs / sizeof *bombs; i++) {
        struct tg_pattern *p = pattern(a, bombs[i]);
        enum tg_hit hit = TG_HIT_NO;
        for (int k = 0; k < 10000; k++)
            hit = tg_pattern_test(p, name);
        assert_true(hit == TG_HIT_GAVE_UP || hit == TG_HIT_NO);
        if (i < 2)
            assert_int_equal(hit, TG_HIT_GAVE_UP);
        tg_pattern_release(p);
    }
    assert_true((double)(clock() - before) / CLOCKS_PER_SEC < 5);
}

/* The longest real kernel names have some thousand bytes; an ordinary regex stays in its budget. */
TEST(long_names_fit_the_budget)
{
    static char name[20000];
    TG_ARENA *a = tg_arena_new();
    memset(name, 'x', sizeof name);
    memcpy(name + sizeof name - 4, "sm90", 4);
    struct tg_pattern *p = pattern(a, "/^(x|y)+.*sm90$/"), *q = pattern(a, "/^x.*sm90$/");
    assert_int_equal(tg_pattern_test(q, (tg_sv){ name, sizeof name }), TG_HIT_YES);
    assert_int_equal(tg_pattern_test(p, (tg_sv){ name + 16000, 4000 }), TG_HIT_YES);
    tg_pattern_release(p);
    tg_pattern_release(q);
}

TEST(any_of_a_list)
{
    TG_ARENA *a = tg_arena_new();
    struct tg_pattern *v[] = { pattern(a, "/^(a+)+$/"), pattern(a, "b*") };
    struct tg_patterns both = { v, NULL, 2 }, none = { NULL, NULL, 0 };
    tg_sv bomb = TG_SV("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!");
    assert_int_equal(tg_patterns_test(&both, TG_SV("bc")), TG_HIT_YES);
    assert_int_equal(tg_patterns_test(&both, TG_SV("c")), TG_HIT_NO);
    assert_int_equal(tg_patterns_test(&both, bomb), TG_HIT_GAVE_UP);
    assert_int_equal(tg_patterns_test(&none, TG_SV("c")), TG_HIT_NO);
    tg_pattern_release(v[0]);
    tg_pattern_release(v[1]);
}

TEST(groups)
{
    TG_ARENA *a = tg_arena_new();
    struct tg_pattern *p = pattern(a, "/rank(\\d+)/"), *q = pattern(a, "/(x)?rank/");
    tg_sv out;
    assert_int_equal(tg_pattern_groups(p), 1);
    assert_true(tg_pattern_group(p, TG_SV("out/rank07.json"), &out));
    assert_sv_is(out, "07");
    assert_false(tg_pattern_group(p, TG_SV("out/rank.json"), &out));
    assert_false(tg_pattern_group(q, TG_SV("rank"), &out)); /* the group took no part */
    tg_pattern_release(p);
    tg_pattern_release(q);
}

/* What is written for a name matches it, and not its neighbours. */
TEST(a_waiver_is_written_for_one_name)
{
    static const struct {
        const char *name, *written, *other;
        bool many;
    } cases[] = {
        { "aten::mm", "aten::mm", "aten::mm_", false },
        { "void k(float*)", "void k(float*)", "void k(int*)", false },
        { "*", "/\\A\\*\\z/", "aten::mm", true },
        { "aten::*", "/\\Aaten\\:\\:\\*\\z/", "aten::mm", true },
        { "a?", "/\\Aa\\?\\z/", "ab", true },
        { "/.*/", "/\\A\\/\\.\\*\\/\\z/", "aten::mm", true },
        { "*\n", "/\\A\\*\\\n\\z/", "*", true },
        { "\\*", "/\\A\\\\\\*\\z/", "\\x", true },
    };
    TG_ARENA *a = tg_arena_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char why[160];
        size_t at;
        bool many;
        TG_BUF b = { 0 };
        struct tg_pattern *p;
        assert_true(tg_waiver_write(&b, tg_sv_of(cases[i].name), &many));
        assert_sv_equal(tg_buf_sv(&b), tg_sv_of(cases[i].written));
        assert_int_equal(many, cases[i].many);
        p = tg_pattern_new(tg_buf_sv(&b), a, why, sizeof why, &at);
        assert_non_null(p);
        assert_int_equal(tg_pattern_test(p, tg_sv_of(cases[i].name)), TG_HIT_YES);
        if (tg_pattern_test(p, tg_sv_of(cases[i].other)) != TG_HIT_NO)
            fail_msg("%s waives %s", cases[i].name, cases[i].other);
        tg_pattern_release(p);
    }
    TG_BUF b = { 0 };
    bool many;
    assert_false(tg_waiver_write(&b, TG_SV(""), &many));
}
