#ifndef TG_TESTS_SUPPORT_H
#define TG_TESTS_SUPPORT_H
/* What our domain needs on top of cmocka. Include first; it brings cmocka and its prerequisites,
 * and of the C library what many tests use. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/base/message.h"

/*
 * A test registers itself, so that none can be forgotten, and registry.c has the main():
 *
 *     TEST(it_holds) { assert_true(…); }
 *     #define CASE(name) TEST_IN(struct fixture, f, set_up, tear_down, name)
 *     CASE(it_holds_in_a_fixture) { assert_true(f->…); }
 *
 * TEST_IN gives each test a fixture of zeroes, and takes it down if the test has not failed. What
 * has to be cleaned up in any case, as a folder, is cmocka's fixture: TEST_WITH.
 */
void register_test(const char *file, const char *name, CMUnitTestFunction run,
                   CMFixtureFunction set_up, CMFixtureFunction tear_down);
/* Runs the tests of FILE.c, or all of them for NULL; the fixture is that of all tests together. For
 * a main() of the test's own. */
int run_registered(const char *file, CMFixtureFunction set_up, CMFixtureFunction tear_down);

#define REGISTER(set_up, tear_down, name)                                                          \
    __attribute__((constructor)) static void name##_register(void)                                 \
    {                                                                                              \
        register_test(__FILE__, #name, name##_run, set_up, tear_down);                             \
    }
#define TEST(name)                                                                                 \
    static void name(void);                                                                        \
    static void name##_run(void **state)                                                           \
    {                                                                                              \
        (void)state;                                                                               \
        name();                                                                                    \
    }                                                                                              \
    REGISTER(NULL, NULL, name)                                                                     \
    static void name(void)
#define TEST_IN(type, fixture, set_up, tear_down, name)                                            \
    static void name(__attribute__((unused)) type *fixture);                                       \
    static void name##_run(void **state)                                                           \
    {                                                                                              \
        type of_test = { 0 };                                                                      \
        (void)state;                                                                               \
        set_up(&of_test);                                                                          \
        name(&of_test);                                                                            \
        tear_down(&of_test);                                                                       \
    }                                                                                              \
    REGISTER(NULL, NULL, name)                                                                     \
    static void name(__attribute__((unused)) type *fixture)
#define TEST_WITH(fixture, set_up, tear_down, name)                                                \
    static void name(__attribute__((unused)) fixture);                                             \
    static void name##_run(void **state)                                                           \
    {                                                                                              \
        name(*state);                                                                              \
    }                                                                                              \
    REGISTER(set_up, tear_down, name)                                                              \
    static void name(__attribute__((unused)) fixture)

/* Of a message (core/base/message.h) what is printed. */
#define assert_sv_equal(got, want)                                                                 \
    do {                                                                                           \
        tg_sv want_ = (want);                                                                      \
        TG_BUF got_ = { 0 };                                                                       \
        tg_message_put_plain(&got_, (got));                                                        \
        if (!tg_sv_eq(tg_buf_sv(&got_), want_))                                                    \
            fail_msg("got '%.*s', want '%.*s'", TG_SV_ARG(tg_buf_sv(&got_)), TG_SV_ARG(want_));    \
    } while (0)
#endif
