#ifndef TG_CROSS_CMOCKA_H
#define TG_CROSS_CMOCKA_H
/* As much of cmocka as the reader's tests use, for machines whose cmocka is not installed here
 * (tests/cross/arm64.py). A failed assertion ends the program; a skipped test counts as passed. */
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*CMUnitTestFunction)(void **state);
typedef int (*CMFixtureFunction)(void **state);
struct CMUnitTest {
    const char *name;
    CMUnitTestFunction run;
    CMFixtureFunction set_up, tear_down;
    void *state;
};

#define print_message printf
#define print_error printf
#define fail_msg(...)                                                                              \
    do {                                                                                           \
        printf(__VA_ARGS__);                                                                       \
        failed(__FILE__, __LINE__, "");                                                            \
    } while (0)
#define fail() failed(__FILE__, __LINE__, "fail")
#define skip() longjmp(skipped, 1)
#define check(ok, text) ((ok) ? (void)0 : failed(__FILE__, __LINE__, text))
#define assert_true(c) check((c), #c)
#define assert_false(c) check(!(c), "not " #c)
#define assert_null(p) check((p) == NULL, #p " is null")
#define assert_non_null(p) check((p) != NULL, #p " is not null")
#define assert_ptr_equal(a, b) check((a) == (b), #a " is " #b)
#define assert_int_equal(a, b) check((intmax_t)(a) == (intmax_t)(b), #a " is " #b)
#define assert_int_not_equal(a, b) check((intmax_t)(a) != (intmax_t)(b), #a " is not " #b)
#define assert_string_equal(a, b) check(strcmp((a), (b)) == 0, #a " is " #b)
#define assert_memory_equal(a, b, n) check(memcmp((a), (b), (n)) == 0, #a " is " #b)

__attribute__((weak)) jmp_buf skipped;

static inline _Noreturn void failed(const char *file, int line, const char *text)
{
    printf("%s:%d: failed: %s\n", file, line, text);
    exit(1);
}

static inline int _cmocka_run_group_tests(const char *group, const struct CMUnitTest *tests,
                                          size_t n, CMFixtureFunction set_up,
                                          CMFixtureFunction tear_down)
{
    (void)group, (void)set_up, (void)tear_down; /* the reader's tests have none */
    for (volatile size_t i = 0; i < n; i++) {   /* it outlives a longjmp */
        void *state = NULL;
        if (setjmp(skipped) == 0) {
            tests[i].run(&state);
            printf("passed: %s\n", tests[i].name);
        } else {
            printf("skipped: %s\n", tests[i].name);
        }
        (void)fflush(stdout);
    }
    return 0;
}
#endif
