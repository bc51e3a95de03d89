/* The tree of call paths and the steps of both sides, from small trace files. */
#include "tests/cmd/gate/room.h"

#include "cmd/gate/picture.h"
#include "policy/verdict/verdict.h"

/* One step of 1 ms: aten::mm of `us` us, on the host; `kernel` adds a launch and its kernel. */
static const char *trace(struct room *r, unsigned us, unsigned kernel)
{
    const char *device =
        kernel ? tg_arena_printf(
                     r->arena,
                     ",{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\","
                     "\"pid\":1,\"tid\":1,\"ts\":120,\"dur\":5,\"args\":{\"correlation\":9}},"
                     "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,"
                     "\"ts\":130,\"dur\":%u,\"args\":{\"correlation\":9,\"device\":0,"
                     "\"stream\":7}}",
                     kernel)
               : "";
    return tg_arena_printf(
        r->arena,
        "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#1\","
        "\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":1000},"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":100,"
        "\"dur\":%u}%s]}",
        us, device);
}

static struct tg_picture take(struct room *r)
{
    static const struct tg_window_spec window = { .by = TG_WINDOW_AUTO };
    struct tg_load_opts load = { .keep_python = false };
    struct tg_input_item base = { .label = "base.json" }, test = { .label = "test.json" };
    struct tg_input_list side[2] = { { .v = &base, .n = 1 }, { .v = &test, .n = 1 } };
    struct tg_repo repo = { 0 };
    struct tg_picture p;
    tg_picture_take(&p, &(struct tg_picture_ask){ .from.side = { &side[0], &side[1] },
                                                  .from.load = &load,
                                                  .from.window = &window,
                                                  .from.repo = &repo,
                                                  .arena = r->arena });
    return p;
}

/* Host time: the step of 1 ms, of which 300 us before and 500 us after are in the operator. */
IN_ROOM(without_a_device_the_tree_is_of_the_host)
{
    struct tg_picture p;
    room_file("base.json", trace(r, 300, 0));
    room_file("test.json", trace(r, 500, 0));
    p = take(r);
    assert_false(p.device || p.stacks);
    assert_int_equal(p.n_nodes, 3);
    assert_true(p.nodes[0].value[0] == 1000000 && p.nodes[0].value[1] == 1000000);
    assert_int_equal(p.nodes[1].parent, 0);
    assert_sv_equal(p.nodes[1].text, TG_SV("aten::mm"));
    assert_true(p.nodes[1].value[1] == 500000);
    assert_int_equal(p.nodes[2].parent, 0);
    assert_sv_equal(p.nodes[2].text, TG_SV(TG_HOST_GAP));
    assert_true(p.nodes[2].value[0] == 700000 && p.nodes[2].value[1] == 500000);
    assert_true(p.least == 2000); /* 0.2 % of the larger side */
    assert_int_equal(p.step[0].n, 1);
    assert_sv_equal(p.step[1].trace, TG_SV("test.json"));
}

/* Of device work on both sides: 40 and 60 us, at the operator around the launch. */
IN_ROOM(with_a_device_it_is_of_the_kernels)
{
    struct tg_picture p;
    room_file("base.json", trace(r, 300, 40));
    room_file("test.json", trace(r, 300, 60));
    p = take(r);
    assert_true(p.device);
    assert_true(p.nodes[0].value[0] == 40000 && p.nodes[0].value[1] == 60000);
    assert_sv_equal(p.nodes[1].text, TG_SV("aten::mm"));
    room_file("test.json", trace(r, 300, 0)); /* one side has no device: the host's again */
    p = take(r);
    assert_false(p.device);
    assert_true(p.nodes[0].value[1] == 1000000 && p.nodes[1].value[1] == 300000);
}

/* A side that cannot be drawn is not an error, and the other side's step is there. */
IN_ROOM(a_side_without_a_trace_has_no_tree)
{
    static const char *const other[] = { "tracegate-summary 1\n", "{\"traceEvents\": [", "" };
    struct tg_picture p;
    room_file("test.json", trace(r, 300, 0));
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        room_file("base.json", other[i]);
        p = take(r);
        assert_int_equal(p.n_nodes, 0);
        assert_int_equal(p.step[0].n, 0);
        assert_int_equal(p.step[1].n, 1);
    }
    (void)unlink("base.json");
    p = take(r);
    assert_int_equal(p.n_nodes, 0);
}

enum { RUNS = 3, RANKS = 2 };

/* The trace that is drawn of three runs of two ranks, whose steps are so long (us); rank -1: none
 * stands alone. */
static tg_sv drawn(struct room *r, const unsigned step_us[RUNS * RANKS], int64_t rank)
{
    static const struct tg_window_spec window = { .by = TG_WINDOW_AUTO };
    const struct tg_rank_alone alone = { .rank = rank };
    struct tg_load_opts load = { .keep_python = false };
    struct tg_input_item item[RUNS * RANKS] = { 0 };
    struct tg_input_list list = { .v = item, .n = RUNS * RANKS };
    struct tg_shard shard[RUNS * RANKS] = { 0 };
    const struct tg_shard *row[RUNS * RANKS], **at[RUNS];
    struct tg_step step[RUNS * RANKS];
    struct tg_comparison c = { .rank_alone = rank < 0 ? NULL : &alone };
    struct tg_repo repo = { 0 };
    struct tg_picture p;
    for (size_t k = 0; k < RUNS * RANKS; k++) {
        item[k].label = tg_arena_printf(r->arena, "run%zu.json", k);
        room_file(item[k].label, trace(r, 300, 0));
        step[k] = (struct tg_step){ .end = (tg_ns)step_us[k] * 1000 };
        shard[k] = (struct tg_shard){ .rank = (int64_t)(k % RANKS),
                                      .source = tg_sv_of(item[k].label),
                                      .arrival = k,
                                      .steps = &step[k],
                                      .n_steps = 1 };
        row[k] = &shard[k];
        at[k / RANKS] = row + k / RANKS * RANKS;
    }
    for (int side = 0; side < 2; side++) {
        c.side[side].n_runs = RUNS;
        c.side[side].n_ranks = RANKS;
        c.side[side].at = at;
    }
    tg_picture_take(&p, &(struct tg_picture_ask){ .from.side = { &list, &list },
                                                  .from.load = &load,
                                                  .from.window = &window,
                                                  .from.repo = &repo,
                                                  .comparison = &c,
                                                  .arena = r->arena });
    return p.step[TG_PICTURE_TEST].trace;
}

/* An unusual first run would draw a change that no number tells of. */
IN_ROOM(of_several_the_usual_one_is_drawn)
{
    assert_sv_equal(drawn(r, (unsigned[]){ 1000, 1000, 1000, 1000, 1000, 1000 }, -1),
                    TG_SV("run0.json"));
    assert_sv_equal(drawn(r, (unsigned[]){ 1500, 1500, 1000, 1002, 1004, 1006 }, -1),
                    TG_SV("run4.json"));
    assert_sv_equal(drawn(r, (unsigned[]){ 1000, 2000, 1000, 1900, 1000, 1700 }, 1),
                    TG_SV("run3.json"));
}
