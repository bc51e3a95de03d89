/* HTA's selection and rounding on a trace small enough to work out by hand (the rules: the table of
 * quirks in docs/metrics.md). The corpus comparison is tests/e2e/golden_hta.py. */

#include "core/hta/hta_diff.h"
#include "tests/support.h"

/*
 * Microseconds; one row an event, positions in the file in brackets. ts has a fraction, so HTA
 * rounds: start up, end down.
 *   [0] metadata, no dur: no row, but it counts as a position
 *   [1] ProfilerStep#1  10.0 .. 30.0   host
 *   [2] ProfilerStep#2  30.0 .. 50.0   host
 *   [3] aten::a  11.25 .. 13.75: 12 .. 13 = 1                step 1
 *   [4] aten::a  14.2  .. 14.7:  15 .. 14 = -1               step 1
 *   [5] launch   15 .. 17, correlation 7                     step 1
 *   [6] kernel_k 31 .. 36, stream 3, correlation 7: of [5]   step 1, although it runs in step 2
 *   [7] kernel_k 32 .. 33, stream 3, correlation 8: unlinked: outside
 *   [8] kernel_z 34 .. 36, stream 0, correlation 7: default stream, in no step at all
 *   [9] triton   16 .. 18, cpu_op with stream 0: "GPU", but step 1
 *  [10] ProfilerStep#2  14 .. 15  device copy, later in the file than [1]
 *  [11] aten::a  35 .. 36  step 2
 *  [12] of category Trace: no row
 */
static const char text[] =
    "{\"distributedInfo\": {\"rank\": 5}, \"traceEvents\": [\n"
    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":1,\"ts\":0.5,\"args\":{}},\n"
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#1\",\"pid\":1,\"tid\":1,"
    "\"ts\":10,\"dur\":20},\n"
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#2\",\"pid\":1,\"tid\":1,"
    "\"ts\":30,\"dur\":20},\n"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::a\",\"pid\":1,\"tid\":1,\"ts\":11.25,"
    "\"dur\":2.5},\n"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::a\",\"pid\":1,\"tid\":1,\"ts\":14.2,\"dur\":"
    "0.5},\n"
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"launch\",\"pid\":1,\"tid\":1,\"ts\":15,"
    "\"dur\":2,\"args\":{\"correlation\":7}},\n"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"void "
    "kernel_k<int>(int)\",\"pid\":0,\"tid\":3,\"ts\":31,\"dur\":5,\"args\":{\"stream\":3,"
    "\"correlation\":7}},\n"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"void "
    "kernel_k<int>(int)\",\"pid\":0,\"tid\":3,\"ts\":32,\"dur\":1,\"args\":{\"stream\":3,"
    "\"correlation\":8}},\n"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"void "
    "kernel_z<int>(int)\",\"pid\":0,\"tid\":0,\"ts\":34,\"dur\":2,\"args\":{\"stream\":0,"
    "\"correlation\":7}},\n"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"triton\",\"pid\":1,\"tid\":1,\"ts\":16,\"dur\":2,"
    "\"args\":{\"stream\":0}},\n"
    "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"ProfilerStep#2\",\"pid\":0,\"tid\":3,"
    "\"ts\":14,\"dur\":1},\n"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::a\",\"pid\":1,\"tid\":1,\"ts\":35,\"dur\":1}"
    ",\n"
    "{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"PyTorch Profiler "
    "(0)\",\"pid\":\"Spans\",\"tid\":\"x\",\"ts\":1,\"dur\":99}\n"
    "]}\n";

struct loaded {
    struct tg_hta_side side;
    struct tg_arena *arena;
    struct tg_err err;
};

static void load(struct loaded *l, const char *json, int64_t rank, bool no_rounding)
{
    struct tg_load_opts opts = { .keep_hta = true };
    TG_SOURCE *s;
    struct tg_trace *t;
    bool replaced;
    tg_err_init(&l->err);
    l->arena = tg_arena_new();
    tg_hta_init(&l->side, no_rounding);
    s = tg_source_memory(tg_sv_of(json), "test", NULL, &l->err);
    assert_non_null(s);
    t = tg_trace_load(s, &opts, NULL, &l->err);
    assert_non_null(t);
    tg_hta_add(&l->side, t, rank, &replaced);
    assert_false(replaced);
    tg_hta_add(&l->side, t, rank, &replaced);
    assert_true(replaced);
    tg_trace_free(t);
}

static void unload(struct loaded *l)
{
    tg_hta_release(&l->side);
    tg_arena_free(l->arena);
}

struct expected {
    const char *name;
    uint64_t count;
    tg_ns total;
};

static void check(struct loaded *l, const struct tg_hta_select *q, enum tg_hta_device device,
                  bool short_names, const struct expected *e)
{
    const struct tg_hta_side *sides[2] = { &l->side, &l->side };
    const struct tg_hta_select select[2] = { *q, *q };
    static const char *const labels[2] = { "control", "test" };
    struct tg_comparison c;
    size_t n = 0;
    assert_true(tg_hta_compare(&c, sides, select, device, short_names, labels, l->arena, &l->err));
    for (; e[n].name; n++) {
        size_t i = 0;
        while (i < c.n_ops && !tg_sv_eq(c.ops[i].name, tg_sv_of(e[n].name)))
            i++;
        if (i == c.n_ops)
            fail_msg("no row '%s'", e[n].name);
        for (int s = 0; s < 2; s++) {
            assert_int_equal(c.ops[i].whole_count[s], e[n].count);
            assert_int_equal(c.ops[i].whole_total[s], e[n].total);
        }
    }
    assert_int_equal(c.n_ops, n);
}

static const struct tg_hta_select first = { 0 }, whole = { .whole = true };

/* [4]: its start is rounded up to 15, which the device window [14, 15) does not hold: step 1, where
 * aten::a sums to 1 - 1. [10] starts inside itself, and is the last window: its own step 2. */
TEST(the_first_step_is_hta_s)
{
    static const struct expected cpu[] = {
        { "ProfilerStep#1", 1, 20000 }, { "aten::a", 2, 0 }, { "launch", 1, 2000 }, { NULL, 0, 0 }
    };
    static const struct expected gpu[] = { { "void kernel_k<int>(int)", 1, 5000 },
                                           { "triton", 1, 2000 },
                                           { NULL, 0, 0 } };
    struct loaded l;
    load(&l, text, 0, false);
    check(&l, &first, TG_HTA_CPU, false, cpu);
    check(&l, &first, TG_HTA_GPU, false, gpu);
    unload(&l);
}

TEST(other_steps_and_short_names)
{
    static const int64_t two = 2;
    static const struct tg_hta_select second = { .steps = &two, .n_steps = 1 };
    static const struct expected rows[] = { { "ProfilerStep#2", 2, 21000 },
                                            { "aten::a", 1, 1000 },
                                            { NULL, 0, 0 } };
    static const struct expected everything[] = {
        { "ProfilerStep#1", 1, 20000 }, { "ProfilerStep#2", 2, 21000 },
        { "aten::a", 3, 1000 },         { "launch", 1, 2000 },
        { "kernel_k", 2, 6000 },        { "kernel_z", 1, 2000 },
        { "triton", 1, 2000 },          { NULL, 0, 0 },
    };
    struct loaded l;
    load(&l, text, 0, false);
    check(&l, &second, TG_HTA_ALL, false, rows);
    check(&l, &whole, TG_HTA_ALL, true, everything);
    unload(&l);
}

/* 2.5 + 0.5 + 1 us; and [4] starts at 14.2, inside the device window [14, 15): step 2. */
TEST(without_rounding_times_are_as_written)
{
    static const struct expected all[] = {
        { "ProfilerStep#1", 1, 20000 }, { "ProfilerStep#2", 2, 21000 },
        { "aten::a", 3, 4000 },         { "launch", 1, 2000 },
        { "kernel_k", 2, 6000 },        { "kernel_z", 1, 2000 },
        { "triton", 1, 2000 },          { NULL, 0, 0 },
    };
    static const struct expected cpu[] = { { "ProfilerStep#1", 1, 20000 },
                                           { "aten::a", 1, 2500 },
                                           { "launch", 1, 2000 },
                                           { NULL, 0, 0 } };
    struct loaded l;
    load(&l, text, 0, true);
    check(&l, &whole, TG_HTA_ALL, true, all);
    check(&l, &first, TG_HTA_CPU, false, cpu);
    unload(&l);
}

TEST(what_is_not_there_is_an_error)
{
    static const int64_t nine = 9;
    static const struct {
        struct tg_hta_select q;
        const char *json, *message, *hint;
    } cases[] = {
        { { .steps = &nine, .n_steps = 1 },
          text,
          "A has no ProfilerStep#9",
          "Its steps are 1, 2." },
        { { .ranks = &nine, .n_ranks = 1 }, text, "A has no rank 9", "Its ranks are 4." },
        { { 0 },
          "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"c\",\"name\":\"n\",\"ts\":1,\"dur\":1}]}",
          "A has no ProfilerStep, and HTA compares steps",
          "add --whole to compare everything" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct loaded l;
        const struct tg_hta_select select[2] = { cases[i].q, cases[i].q };
        static const char *const labels[2] = { "A", "B" };
        struct tg_comparison c;
        load(&l, cases[i].json, 4, false);
        const struct tg_hta_side *sides[2] = { &l.side, &l.side };
        assert_false(tg_hta_compare(&c, sides, select, TG_HTA_ALL, false, labels, l.arena, &l.err));
        assert_int_equal(l.err.kind, TG_ERR_USAGE);
        assert_string_equal(l.err.message, cases[i].message);
        assert_non_null(strstr(l.err.hint, cases[i].hint));
        unload(&l);
    }
}

TEST(the_rank_is_found_in_the_text)
{
    static const struct {
        const char *text;
        int64_t rank;
    } cases[] = {
        { "{\"distributedInfo\": {\"rank\": 5}}", 5 },
        { "{\"rank\":5}", 0 },    /* needs a blank */
        { "{\"rank\":\n 5}", 0 }, /* on the same line */
        { "\"rank\": x \"rank\":\t12,\"rank\": 3", 12 },
        { "\"\"rank\": 7", 7 },
        { "no rank", 0 },
        { "\"rank\": 8", 8 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tg_err err = TG_ERR_INIT;
        TG_SOURCE *s;
        int64_t rank;
        s = tg_source_memory(tg_sv_of(cases[i].text), "test", NULL, &err);
        assert_non_null(s);
        assert_true(tg_hta_find_rank(s, &rank, &err));
        assert_int_equal(rank, cases[i].rank);
    }
}
