/* Results of servers' benchmarks. */
#include "by_hand.h"

#define VLLM                                                                                       \
    "{\"date\": \"20260101-101010\", \"endpoint_type\": \"vllm\", \"model_id\": \"m\", "           \
    "\"num_prompts\": 100, \"burstiness\": 1.0, \"max_concurrency\": null, "

WITH_FILE(results_of_one_object)
{
    assert_true(file_is(f, VLLM "\"request_throughput\": 4.25, \"median_ttft_ms\": 31.5,\n"
                                "\"ttfts\": [0.03, 0.04], \"ok\": true, \"duration\": 23.5}\n"));
    assert_int_equal(f->runs.n, 1);
    assert_int_equal(f->runs.v[0].n, 3); /* what was asked for is not a result */
    assert_true(number(f, 0, "median_ttft_ms")->value == 31.5);
    assert_sv_equal(number(f, 0, "median_ttft_ms")->unit, TG_SV("ms"));
    assert_sv_equal(number(f, 0, "request_throughput")->unit, TG_SV("req/s"));
    assert_sv_equal(number(f, 0, "duration")->unit, TG_SV("s"));
    assert_null(number(f, 0, "ttfts"));
}

WITH_FILE(an_object_a_line_is_a_run_each)
{
    assert_true(
        file_is(f, "{\"backend\": \"sglang\", \"request_rate\": 4, \"output_throughput\": 900.5}\n"
                   "\n{\"backend\": \"sglang\", \"request_rate\": 4, \"output_throughput\": 901}"));
    assert_int_equal(f->runs.n, 2);
    assert_true(some_run_has(f, "output_throughput", 900.5) &&
                some_run_has(f, "output_throughput", 901));
    assert_sv_equal(number(f, 0, "output_throughput")->unit, TG_SV("tok/s"));
}

WITH_FILE(what_lies_inside_is_named_by_both)
{
    assert_true(file_is(f, "{\"avg_latency\": 1.5, \"percentiles\": {\"99\": 1.75}}"));
    assert_true(number(f, 0, "percentiles.99")->value == 1.75);
    assert_sv_equal(number(f, 0, "avg_latency")->unit, TG_SV("s"));
}

WITH_FILE(damage_names_the_place)
{
    assert_false(file_is(f, VLLM "\"request_throughput\": }"));
    assert_int_equal(f->err.kind, TG_ERR_TRACE);
    assert_false(file_is(f, "{\"request_rate\": 4, \"a\": 1}\n{\"request_rate\": 4, \"a\": }\n"));
    assert_int_equal(f->err.line, 2);
    assert_refused(f, "{\"model_id\": \"m\"}", 0, "no number is in this file");
    assert_refused(f, "{\"completed\": 1, \"completed\": 2}", 0, "twice in one run");
    assert_refused(f, "{\"completed\": 1}\n[]\n3\n", 3, "not an object of numbers by name");
}

/* As SGLang and vLLM write them where nothing limits the rate and a percentile has no requests; a
 * text keeps its words. */
WITH_FILE(what_python_writes_for_no_number_is_left_out)
{
    assert_true(file_is(f, "{\"dataset_name\": \"NaN \\\" Infinity\", \"request_rate\": Infinity, "
                           "\"p99_ttft_ms\": NaN, \"low\": -Infinity, \"median_ttft_ms\": 2.5}"));
    assert_int_equal(f->runs.v[0].n, 1);
    assert_true(number(f, 0, "median_ttft_ms")->value == 2.5);
    assert_refused(f, "{\"request_rate\": Infinity}", 0, "no number is in this file");
    assert_false(file_is(f, "{\"median_ttft_ms\": Infinite}"));
}

WITH_FILE(a_list_of_results_is_a_run_each)
{
    assert_true(file_is(f, "[{\"request_rate\": \"inf\", \"output_throughput\": 900.5},\n"
                           " {\"request_rate\": \"inf\", \"output_throughput\": 901}]"));
    assert_int_equal(f->runs.n, 2);
    assert_true(some_run_has(f, "output_throughput", 900.5) &&
                some_run_has(f, "output_throughput", 901));
}

/* Two runs at each of two batch sizes; a rate that all were asked for is in no name. */
WITH_FILE(what_differs_in_what_was_asked_is_part_of_the_names)
{
#define ONE(batch, latency)                                                                        \
    "{\"batch_size\": " #batch ", \"request_rate\": 4, \"server_info\": {\"tp\": 2}, "             \
    "\"total_latency\": " #latency "}\n"
    assert_true(file_is(f, ONE(1, 0.5) ONE(16, 4) ONE(1, 0.75) ONE(16, 5)));
    assert_int_equal(f->runs.n, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(f->runs.v[i].n, 1);
    assert_true(some_run_has(f, "total_latency/batch_size=1", 0.5) &&
                some_run_has(f, "total_latency/batch_size=1", 0.75) &&
                some_run_has(f, "total_latency/batch_size=16", 4) &&
                some_run_has(f, "total_latency/batch_size=16", 5));
    assert_sv_equal(f->runs.v[0].v[0].unit, TG_SV("s"));
#undef ONE
}

WITH_FILE(a_rate_is_no_time)
{
    assert_true(file_is(f, "\xef\xbb\xbf{\"model_id\": 1, \"max_output_tokens_per_s\": 9.5}"));
    assert_sv_equal(number(f, 0, "max_output_tokens_per_s")->unit, TG_SV("tok/s"));
}

TEST(known_by_its_first_bytes)
{
    assert_true(tg_number_looks_like(TG_SV(VLLM)));
    assert_true(tg_number_looks_like(TG_SV("[ {\"model_id\": 1, ")));
    assert_false(tg_number_looks_like(TG_SV("[{\"name\": \"model_id\", \"ph\": \"X\"")));
    assert_true(tg_number_looks_like(TG_SV(" \n{\"run_name\": \"default\", \"batch_size\": 1")));
    assert_false(tg_number_looks_like(TG_SV("{\"model_id\": 1, \"traceEvents\": [")));
    assert_false(tg_number_looks_like(TG_SV("{\"schemaVersion\": 1, \"deviceProperties\": [")));
}
