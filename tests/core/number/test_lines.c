/* `name value [unit]` a line. */
#include "by_hand.h"

WITH_FILE(a_value_with_and_without_a_unit)
{
    assert_true(
        file_is(f, "# of a bench\n\nttft  212.5\tms\r\nruns 3 # no unit\n  rate 1e3 tok/s # fast"));
    assert_int_equal(f->runs.n, 1);
    assert_int_equal(f->runs.v[0].n, 3);
    assert_true(number(f, 0, "ttft")->value == 212.5);
    assert_sv_equal(number(f, 0, "ttft")->unit, TG_SV("ms"));
    assert_sv_equal(number(f, 0, "runs")->unit, TG_SV(""));
    assert_true(number(f, 0, "rate")->value == 1000);
}

/* Each time that a name comes is a run: `b` has two, `a` three. */
WITH_FILE(a_name_that_comes_again_begins_the_next_run)
{
    assert_true(file_is(f, "a 1\nb 10\na 2\nb 20\na 3\n"));
    assert_int_equal(f->runs.n, 3);
    assert_true(some_run_has(f, "a", 1) && some_run_has(f, "a", 2) && some_run_has(f, "a", 3));
    assert_true(some_run_has(f, "b", 10) && some_run_has(f, "b", 20));
    for (size_t run = 0; run < 3; run++) {
        bool third = number(f, run, "a")->value == 3;
        assert_int_equal(f->runs.v[run].n, third ? 1 : 2);
    }
}

WITH_FILE(what_is_wrong_names_its_line)
{
    assert_refused(f, "a 1\nb\n", 2, "a name without a value");
    assert_refused(f, "a 1\n\nb two\n", 3, "not a number");
    assert_refused(f, "a 1 ms fast\n", 1, "more than a name, a value and a unit");
    assert_refused(f, "a 1\n\xff 2\n", 0, "not visible UTF-8");
    assert_refused(f, "a\x1b[31m 2\n", 0, "not visible UTF-8");
    assert_refused(f, "a 1e999\n", 0, "not finite");
    assert_refused(f, "hello world\n", 0, "not a file of numbers");
    assert_refused(f, "", 0, "not a file of numbers");
}

TEST(text_that_is_no_list_of_numbers_is_something_else)
{
    assert_true(tg_number_looks_like(TG_SV("# c\nttft 1 ms\n")));
    assert_false(tg_number_looks_like(TG_SV("version: 1\nsuites: []\n")));
    assert_false(tg_number_looks_like(TG_SV("{\"traceEvents\": []}")));
    assert_false(tg_number_looks_like(TG_SV("[1, 2]")));
    assert_false(tg_number_looks_like(TG_SV("")));
}
