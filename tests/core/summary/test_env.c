#include "core/base/file.h"
#include "core/summary/internal.h"
#include "tests/build_trace.h"
#include "tests/support.h"

TEST(ranks_come_from_file_names)
{
    static const struct {
        const char *path;
        int64_t rank;
    } cases[] = {
        { "rank3.json", 3 },
        { "out/trace_rank-12.json.gz", 12 },
        { "graph_capture_rank_0.json.gz", 0 },
        { "bs_32_rank0.json.gz", 0 },
        { "worker1_step_12.1694128201556.pt.trace.json.gz", 1 },
        { "worker2_rank5.json", 5 }, /* rank before worker */
        { "RANK_7.json", 7 },
        { "r5.json", -1 }, /* a bare rN is a run or anything */
        { "run3.json", -1 },
        { "frank3.json", -1 },
        { "rank.json", -1 },
        { "rank--3.json", -1 },
        { "rank3/trace.json", -1 }, /* the file's own name only */
        { "rank1234567890123.json", -1 },
        { "", -1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (tg_file_rank(tg_sv_of(cases[i].path)) != cases[i].rank)
            fail_msg("%s: %d", cases[i].path, (int)tg_file_rank(tg_sv_of(cases[i].path)));
}

static const char *env_of(const struct tg_shard *s, const char *key)
{
    return tg_shard_env(s, key).p;
}

static void build(struct bt *b, struct tg_shard *out, struct tg_kv *meta, size_t n)
{
    const struct tg_summarize_opts o = { .rank = -1 };
    b->info.meta = meta;
    b->info.n_meta = n;
    *out = (struct tg_shard){ 0 };
    tg_env_build(out, bt_trace(b, 0), &o, b->arena);
}

/* As Kineto writes them on NVIDIA; the device properties are cut in the second one, as the reader
 * does with long values: what is there counts. */
TEST(nvidia_metadata)
{
    TG_AUTO(bt_release) struct bt b;
    struct tg_shard s;
    struct tg_kv meta[] = {
        { TG_SV("deviceProperties"),
          TG_SV("[{\"id\": 0, \"name\" : \"NVIDIA H100\", \"warpSize\": 32},\n"
                "{\"id\": 1, \"name\": \"NVIDIA H100\"}, {\"id\": 2, \"name\": \"A \\\"B\\\"\"}, "
                "{\"na") },
        { TG_SV("cuda_runtime_version"), TG_SV("12040") },
        { TG_SV("cuda_driver_version"), TG_SV("12090") },
        { TG_SV("distributedInfo"),
          TG_SV("{\"backend\":\"nccl\",\"rank\":0,\"nccl_version\":\"2.22.3\"}") },
        { TG_SV("with_stack"), TG_SV("1") },
        { TG_SV("with_flops"), TG_SV("1") },
    };
    bt_init(&b);
    build(&b, &s, meta, 6);
    assert_string_equal(env_of(&s, "device"), "A \\\"B\\\", NVIDIA H100");
    assert_string_equal(env_of(&s, "devices"), "3");
    assert_string_equal(env_of(&s, "device_type"), "cuda");
    assert_string_equal(env_of(&s, "cuda"), "12.4");
    assert_string_equal(env_of(&s, "cuda_driver"), "12.9");
    assert_string_equal(env_of(&s, "backend"), "nccl");
    assert_string_equal(env_of(&s, "nccl"), "2.22.3");
    assert_string_equal(env_of(&s, "with_stack"), "1");
    assert_string_equal(env_of(&s, "record_shapes"), "0");
    assert_string_equal(env_of(&s, "with_flops"), "1");
    assert_string_equal(env_of(&s, "rocm"), "");
    for (size_t i = 1; i < s.n_env; i++)
        assert_true(tg_sv_cmp(s.env[i - 1].key, s.env[i].key) < 0);
}

TEST(amd_metadata_and_what_events_show)
{
    TG_AUTO(bt_release) struct bt b;
    struct tg_shard s;
    struct tg_kv meta[] = {
        { TG_SV("deviceProperties"), TG_SV("[{\"id\": 0, \"name\": \"\"}]") },
        { TG_SV("hip_runtime_version"), TG_SV("60443483") },
    };
    bt_init(&b);
    bt_host(&b, "cuda_runtime", "hipLaunchKernel", "1", 0, 1, 1);
    bt_host(&b, "python_function", "f", "1", 0, 1, -1);
    build(&b, &s, meta, 2);
    assert_string_equal(env_of(&s, "device"), ""); /* an empty name says nothing */
    assert_string_equal(env_of(&s, "devices"), "1");
    assert_string_equal(env_of(&s, "device_type"), "rocm");
    assert_string_equal(env_of(&s, "rocm"), "6.4.43483");
    assert_string_equal(env_of(&s, "with_stack"), "1"); /* by the Python rows */
}

TEST(a_trace_without_anything_is_of_the_cpu)
{
    TG_AUTO(bt_release) struct bt b;
    struct tg_shard s;
    bt_init(&b);
    bt_host(&b, "cpu_op", "aten::mm", "1", 0, 1, -1);
    build(&b, &s, NULL, 0);
    assert_string_equal(env_of(&s, "device_type"), "cpu");
    assert_string_equal(env_of(&s, "device"), "");
    bt_device(&b, "kernel", "k", 7, 0, 1, -1); /* a device, but nobody says which */
    build(&b, &s, NULL, 0);
    assert_string_equal(env_of(&s, "device_type"), "");
}

/* booted at 100 s, now 200 s; the trace's first event is at base + 5 s */
TEST(the_processor_comes_from_the_trace_or_its_own_machine)
{
    static const struct {
        const char *base, *said, *want;
    } cases[] = {
        { "150000000000", NULL, "Host" },
        { "95000000000", NULL, "Host" }, /* at the very boot */
        { "94000000000", NULL, "" },     /* recorded before: who knows where */
        { "195000000000", NULL, "Host" },
        { "196000000000", NULL, "" }, /* a clock that is ahead is another machine's */
        { "94000000000", "Said", "Said" },
        { "150000000000", "Said", "Said" }, /* what the trace says wins */
        { NULL, NULL, "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tg_summarize_opts o = { .rank = -1 };
        struct tg_kv meta[2];
        struct tg_shard s = { 0 };
        TG_AUTO(bt_release) struct bt b;
        size_t n = 0;
        bt_init(&b);
        bt_host(&b, "cpu_op", "aten::mm", "1", 5000000000, 10, TG_NO_CORRELATION);
        if (cases[i].base)
            meta[n++] = (struct tg_kv){ TG_SV("baseTimeNanoseconds"), tg_sv_of(cases[i].base) };
        if (cases[i].said)
            meta[n++] = (struct tg_kv){ TG_SV("cpu"), tg_sv_of(cases[i].said) };
        b.info.meta = meta;
        b.info.n_meta = n;
        o.host = (struct tg_host){ TG_SV("Host"), 100000000000, 200000000000 };
        tg_env_build(&s, bt_trace(&b, 0), &o, b.arena);
        assert_string_equal(env_of(&s, "cpu"), cases[i].want);
    }
}
