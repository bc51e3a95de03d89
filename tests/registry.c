/* The tests of a program, in the order of their sources, and a main() for programs that have
 * none. */
#include "tests/support.h"

enum { MAX_TESTS = 2048 };
static struct {
    struct CMUnitTest test;
    const char *file;
} registered[MAX_TESTS];
static size_t n_registered;

void register_test(const char *file, const char *name, CMUnitTestFunction run,
                   CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    if (n_registered == MAX_TESTS)
        abort();
    registered[n_registered].file = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
    registered[n_registered++].test = (struct CMUnitTest){ name, run, set_up, tear_down, NULL };
}

static bool is_of(const char *file, const char *stem)
{
    size_t n = stem ? strlen(stem) : 0;
    return !stem || (strncmp(file, stem, n) == 0 && strcmp(file + n, ".c") == 0);
}

int run_registered(const char *file, CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    static struct CMUnitTest chosen[MAX_TESTS];
    size_t n = 0;
    for (size_t i = 0; i < n_registered; i++) {
        if (is_of(registered[i].file, file))
            chosen[n++] = registered[i].test;
    }
    if (n == 0) {
        fprintf(stderr, "no tests in %s.c\n", file ? file : "*");
        return 2;
    }
    return _cmocka_run_group_tests(file ? file : "tests", chosen, n, set_up, tear_down);
}

/* PROGRAM [FILE]: the tests of FILE.c; without it all. */
__attribute__((weak)) int main(int argc, char **argv)
{
    return run_registered(argc > 1 ? argv[1] : NULL, NULL, NULL);
}
