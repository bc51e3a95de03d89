#include <stdlib.h>
#include <time.h>

#include <fnmatch.h>

#include "core/baseline/git.h"
#include "tests/support.h"

static const char *const patterns[] = { "*.json",  "rank*.json", "r?.json", "[a-c]*", "[!a-c]*",
                                        "*",       ".*",         "[]x]*",   "a\\*b",  "**",
                                        "*a*b*",   "[0-9",       "[x-",     "",       "r[0-9].js*",
                                        "[^r]*.j", "?",          "*.",      "a*",     "[a-]x" };
static const char *const texts[] = { "a.json", "rank0.json", "rank.json", "r0.json", "r10.json",
                                     ".hid",   ".json",      "b",         "x]",      "]",
                                     "a*b",    "axb",        "aab",       "",        "[0-9",
                                     "d",      "-x",         "ax",        "x.",      "q.j" };

/* The oracle is the system's fnmatch(3) with glob(3)'s flags: both sides of a diff match alike. */
TEST(agrees_with_fnmatch)
{
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        for (size_t j = 0; j < sizeof texts / sizeof *texts; j++) {
            bool want = fnmatch(patterns[i], texts[j], FNM_PATHNAME | FNM_PERIOD) == 0;
            bool got = tg_glob_match(tg_sv_of(patterns[i]), tg_sv_of(texts[j]));
            if (got != want)
                fail_msg("'%s' on '%s': %d, fnmatch says %d", patterns[i], texts[j], got, want);
        }
}

/* 40 stars on a text that never matches: exponential in a backtracking matcher. */
TEST(stays_cheap)
{
    char pattern[128], text[4096];
    clock_t t = clock();
    size_t n = 0;
    for (int i = 0; i < 40; i++) {
        pattern[n++] = '*';
        pattern[n++] = 'a';
    }
    pattern[n++] = 'b';
    memset(text, 'a', sizeof text);
    assert_false(tg_glob_match((tg_sv){ pattern, n }, (tg_sv){ text, sizeof text }));
    assert_true(clock() - t < CLOCKS_PER_SEC);
}

TEST(knows_its_characters)
{
    assert_true(tg_glob_has(TG_SV("a*")));
    assert_true(tg_glob_has(TG_SV("[ab]")));
    assert_false(tg_glob_has(TG_SV("perf/base.json")));
}
