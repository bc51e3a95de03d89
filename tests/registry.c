/* The tests of a program in the order of its source, and a main() for programs that have none. */
#include "tests/support.h"

enum { MAX_TESTS = 128 };
static struct CMUnitTest registered[MAX_TESTS];
static size_t n_registered;

void register_test(const char *name, CMUnitTestFunction run, CMFixtureFunction set_up,
                   CMFixtureFunction tear_down)
{
    if (n_registered == MAX_TESTS)
        abort();
    registered[n_registered++] = (struct CMUnitTest){ name, run, set_up, tear_down, NULL };
}

int run_registered(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    return _cmocka_run_group_tests("tests", registered, n_registered, set_up, tear_down);
}

__attribute__((weak)) int main(void)
{
    return run_registered(NULL, NULL);
}
