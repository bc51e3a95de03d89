/* Lists as github-action-benchmark takes them. */
#include "by_hand.h"

WITH_FILE(each_element_is_a_number)
{
    static const char text[] =
        "[{\"name\": \"fib(10)\", \"unit\": \"ops/sec\", \"value\": 1431759, "
        "\"range\": \"\u00b1 0.74%\", \"extra\": \"93 samples\"},\n"
        " {\"unit\": \"MB\", \"value\": 4.25, \"name\": \"memory\"}]";
    assert_true(tg_number_looks_like(tg_sv_of(text)));
    assert_true(file_is(f, text));
    assert_int_equal(f->runs.n, 1);
    assert_true(number(f, 0, "fib(10)")->value == 1431759);
    assert_sv_equal(number(f, 0, "fib(10)")->unit, TG_SV("ops/sec"));
    assert_true(number(f, 0, "memory")->value == 4.25);
}

WITH_FILE(a_name_that_comes_again_is_the_next_run)
{
    assert_true(file_is(f, "[{\"name\": \"a\", \"value\": 1}, {\"name\": \"b\", \"value\": 7}, "
                           "{\"name\": \"a\", \"value\": 2}]"));
    assert_int_equal(f->runs.n, 2);
    assert_true(some_run_has(f, "a", 1) && some_run_has(f, "a", 2) && some_run_has(f, "b", 7));
}

WITH_FILE(what_lacks_is_told)
{
    assert_refused(f, "[{\"name\": \"a\", \"value\": \"1\"}]", 0, "without a name or a value");
    assert_refused(f, "[{\"name\": \"a\", \"value\": 1}, {\"value\": 1}]", 0, "without a name");
    assert_refused(f, "[]", 0, "no number is in this file");
}

TEST(a_trace_is_none)
{
    assert_false(tg_number_looks_like(TG_SV("[{\"name\": \"a\", \"ph\": \"C\", \"value\": 1")));
    assert_false(tg_number_looks_like(TG_SV("[{\"name\": \"a\", \"ts\": 1")));
}
