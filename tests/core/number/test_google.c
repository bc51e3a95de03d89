/* Google Benchmark's JSON. */
#include "by_hand.h"

#define FILE_OF(list) "{\"context\": {\"num_cpus\": 8}, \"benchmarks\": [" list "]}"
#define REPEAT(n, time)                                                                            \
    "{\"name\": \"BM_mm/64\", \"run_type\": \"iteration\", \"repetition_index\": " #n              \
    ", \"real_time\": " #time ", \"cpu_time\": 1, \"time_unit\": \"us\"}"

/* Medians: of 3, 9, 4 it is 4; of 3 and 4 it is 3.5. */
WITH_FILE(repetitions_give_their_median)
{
    assert_true(file_is(f, FILE_OF(REPEAT(0, 3) "," REPEAT(1, 9) "," REPEAT(2, 4))));
    assert_int_equal(f->runs.n, 1);
    assert_true(number(f, 0, "BM_mm/64")->value == 4);
    assert_sv_equal(number(f, 0, "BM_mm/64")->unit, TG_SV("us"));
    assert_true(file_is(f, FILE_OF(REPEAT(0, 3) "," REPEAT(1, 4))));
    assert_true(number(f, 0, "BM_mm/64")->value == 3.5);
}

WITH_FILE(aggregates_and_errors_are_left_out)
{
    assert_true(
        file_is(f, FILE_OF(REPEAT(0, 3) ", {\"name\": \"BM_mm/64_mean\", \"run_type\": "
                                        "\"aggregate\", \"real_time\": 7}, {\"name\": \"BM_x\", "
                                        "\"error_occurred\": true, \"real_time\": 1}")));
    assert_int_equal(f->runs.v[0].n, 1);
}

/* --benchmark_report_aggregates_only: the library's median is the value. */
WITH_FILE(aggregates_alone_give_their_median)
{
#define OF(which, time)                                                                            \
    "{\"name\": \"BM_x_" which "\", \"run_name\": \"BM_x\", \"run_type\": \"aggregate\", "         \
    "\"aggregate_name\": \"" which "\", \"real_time\": " #time "}"
    assert_true(file_is(f, FILE_OF(OF("mean", 7) "," OF("median", 6) "," OF("stddev", 1))));
    assert_int_equal(f->runs.v[0].n, 1);
    assert_true(number(f, 0, "BM_x")->value == 6);
    assert_sv_equal(number(f, 0, "BM_x")->unit, TG_SV("ns"));
#undef OF
    assert_true(file_is(f, FILE_OF(REPEAT(0, 3) ", {\"name\": \"BM_s\", \"real_time\": 0, "
                                                "\"skipped\": \"SKIPPED_WITH_ERROR\"}")));
    assert_int_equal(f->runs.v[0].n, 1);
}

/* Another program may have sorted the members. */
WITH_FILE(members_in_any_order)
{
    assert_true(
        file_is(f, "{\"benchmarks\": [{\"name\": \"a\", \"real_time\": 2}], \"context\": {}}"));
    assert_true(number(f, 0, "a")->value == 2);
}

WITH_FILE(what_lacks_is_told)
{
    assert_refused(f, FILE_OF("{\"name\": \"a\"}"), 0, "without a name or a real_time");
    assert_refused(f, "{\"context\": {\"date\": \"x\"}}", 0, "no list 'benchmarks'");
    assert_refused(f, FILE_OF(""), 0, "no number");
}
