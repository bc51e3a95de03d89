/* pytest-benchmark's JSON. */
#include "by_hand.h"

#define FILE_OF(list) "{\"machine_info\": {\"node\": \"n\"}, \"benchmarks\": " list "}"

WITH_FILE(the_median_of_each_benchmark)
{
    assert_true(
        file_is(f, FILE_OF("[{\"name\": \"test_a\", \"fullname\": \"t.py::test_a[8]\", \"stats\": "
                           "{\"min\": 0.5, \"median\": 0.75, \"mean\": 1}}, "
                           "{\"name\": \"test_b\", \"stats\": {\"median\": 2e-06}}]")));
    assert_int_equal(f->runs.n, 1);
    assert_true(number(f, 0, "t.py::test_a[8]")->value == 0.75);
    assert_sv_equal(number(f, 0, "t.py::test_a[8]")->unit, TG_SV("s"));
    assert_true(number(f, 0, "test_b")->value == 2e-06);
}

/* Another program may have sorted the members. */
WITH_FILE(members_in_any_order)
{
    static const char sorted[] =
        "{\"benchmarks\": [{\"fullname\": \"a\", \"stats\": {\"median\": 2}}], "
        "\"commit_info\": {}, \"machine_info\": {}}";
    assert_true(tg_number_looks_like(tg_sv_of(sorted)));
    assert_true(file_is(f, sorted));
    assert_true(number(f, 0, "a")->value == 2);
}

WITH_FILE(what_lacks_is_told)
{
    assert_refused(f, FILE_OF("[{\"fullname\": \"a\", \"stats\": {}}]"), 0, "without stats.median");
    assert_refused(f, FILE_OF("[{\"stats\": {\"median\": 1}}]"), 0, "without a fullname");
    assert_refused(f, FILE_OF("3"), 0, "no list 'benchmarks'");
    assert_refused(f, FILE_OF("[]"), 0, "no number");
    assert_refused(f,
                   FILE_OF("[{\"name\": \"a\", \"stats\": {\"median\": 1}}, "
                           "{\"name\": \"a\", \"stats\": {\"median\": 2}}]"),
                   0, "twice in one run");
}
