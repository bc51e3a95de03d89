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
    assert_int_equal(f->runs.v[0].n, 5);
    assert_true(number(f, 0, "median_ttft_ms")->value == 31.5);
    assert_sv_equal(number(f, 0, "median_ttft_ms")->unit, TG_SV("ms"));
    assert_sv_equal(number(f, 0, "request_throughput")->unit, TG_SV("req/s"));
    assert_sv_equal(number(f, 0, "duration")->unit, TG_SV("s"));
    assert_sv_equal(number(f, 0, "num_prompts")->unit, TG_SV(""));
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
    assert_refused(f, "{\"num_prompts\": 1, \"num_prompts\": 2}", 0, "twice in one run");
}

TEST(known_by_its_first_bytes)
{
    assert_true(tg_number_looks_like(TG_SV(VLLM)));
    assert_true(tg_number_looks_like(TG_SV(" \n{\"run_name\": \"default\", \"batch_size\": 1")));
    assert_false(tg_number_looks_like(TG_SV("{\"model_id\": 1, \"traceEvents\": [")));
    assert_false(tg_number_looks_like(TG_SV("{\"schemaVersion\": 1, \"deviceProperties\": [")));
}
