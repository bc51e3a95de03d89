#include "tests/build_steps.h"

static void setup(struct built *f)
{
    bt_init(&f->b);
}

static void teardown(struct built *f)
{
    built_release(f);
}

#define CASE(name) TEST_IN(struct built, f, setup, teardown, name)

static int32_t step_of(const struct built *f, const char *name, tg_ns ts)
{
    return f->s.step_of[bt_find(f->t, name, ts)];
}

/* Windows [100,200) and [200,300): an op at 199 is in the first, at 200 in the second, at 300 and
 * 50 in none. The kernel of the launch at 190 runs at 250: it is of the first. */
CASE(windows_are_half_open_and_kernels_follow_launches)
{
    bt_device(&f->b, "kernel", "k", 7, 250, 10, 1);
    bt_host(&f->b, "cpu_op", "a", "1", 199, 5, -1);
    bt_host(&f->b, "cpu_op", "a", "1", 200, 5, -1);
    bt_host(&f->b, "cpu_op", "a", "1", 300, 5, -1);
    bt_host(&f->b, "cpu_op", "a", "1", 50, 5, -1);
    bt_host(&f->b, "cuda_runtime", "cudaLaunchKernel", "1", 190, 5, 1);
    bt_host(&f->b, "user_annotation", "ProfilerStep#8", "1", 200, 100, -1);
    bt_host(&f->b, "user_annotation", "ProfilerStep#7", "1", 100, 100, -1);
    /* The device's copy of the step is no window. */
    bt_device(&f->b, "gpu_user_annotation", "ProfilerStep#7", 7, 240, 900, -1);
    for (uint64_t seed = 0; seed < 5; seed++) {
        built_steps(f, seed, &BUILT_AUTO);
        assert_true(f->s.marked);
        assert_int_equal(f->s.n, 2);
        assert_int_equal(f->s.v[0].number, 7);
        assert_int_equal(f->s.v[1].number, 8);
        assert_int_equal(f->s.v[1].start, 200);
        assert_int_equal(step_of(f, "a", 199), 0);
        assert_int_equal(step_of(f, "a", 200), 1);
        assert_int_equal(step_of(f, "a", 300), -1);
        assert_int_equal(step_of(f, "a", 50), -1);
        assert_int_equal(step_of(f, "k", 250), 0);
        assert_int_equal(f->s.unlinked, 0);
        assert_int_equal(f->s.device_spans, 1);
    }
}

/* Whole microseconds make #8 begin before #7 ends; #7 is cut there, none is lost. */
CASE(overlapping_windows_are_cut_nested_ones_ignored)
{
    bt_host(&f->b, "user_annotation", "ProfilerStep#7", "1", 0, 1001, -1);
    bt_host(&f->b, "user_annotation", "ProfilerStep#8", "1", 1000, 1000, -1);
    bt_host(&f->b, "user_annotation", "ProfilerStep#9", "1", 1100, 100, -1);
    built_steps(f, 0, &BUILT_AUTO);
    assert_int_equal(f->s.n, 2);
    assert_int_equal(f->s.v[0].end, 1000);
    assert_int_equal(f->s.v[1].end, 2000);
    assert_int_equal(f->s.nested, 1);
    assert_int_equal(f->s.crossing, 0);
}

/* 1 % of a window may be the clock's; the same window twice is not inside itself. */
CASE(windows_that_cross_are_counted)
{
    bt_host(&f->b, "user_annotation", "ProfilerStep#7", "1", 0, 1010, -1);
    bt_host(&f->b, "user_annotation", "ProfilerStep#8", "1", 1000, 1011, -1);
    bt_host(&f->b, "user_annotation", "ProfilerStep#9", "1", 2000, 1000, -1);
    bt_host(&f->b, "user_annotation", "ProfilerStep#9", "1", 2000, 1000, -1);
    built_steps(f, 0, &BUILT_AUTO);
    assert_int_equal(f->s.n, 3);
    assert_int_equal(f->s.nested, 0);
    assert_int_equal(f->s.crossing, 1);
}

/* Three windows on thread 2, one on thread 1: thread 2 is the main one. */
CASE(the_main_thread_has_most_windows)
{
    bt_host(&f->b, "user_annotation", "ProfilerStep#1", "1", 0, 1000, -1);
    for (int k = 0; k < 3; k++)
        bt_host(&f->b, "user_annotation", "ProfilerStep#1", "2", 100 * k, 50, -1);
    bt_host(&f->b, "cpu_op", "a", "1", 60, 1, -1);
    built_steps(f, 0, &BUILT_AUTO);
    assert_int_equal(f->s.n, 3);
    assert_int_equal(step_of(f, "a", 60), -1);
}

CASE(annotations_serve_as_windows_when_asked)
{
    const struct tg_window_spec iter = { TG_WINDOW_ANNOTATION, TG_SV("iter *"), true };
    const struct tg_window_spec none = { TG_WINDOW_ANNOTATION, TG_SV("nothing"), false };
    const struct tg_window_spec whole = { .by = TG_WINDOW_WHOLE };
    bt_host(&f->b, "user_annotation", "ProfilerStep#3", "1", 0, 50, -1);
    bt_host(&f->b, "user_annotation", "iter 1", "1", 10, 20, -1);
    bt_host(&f->b, "user_annotation", "iter 2", "1", 40, 20, -1);
    bt_device(&f->b, "gpu_user_annotation", "iter 1", 7, 12, 99, -1);
    built_steps(f, 0, &iter);
    assert_int_equal(f->s.n, 2);
    assert_int_equal(f->s.v[0].number, 0);
    assert_int_equal(f->s.v[1].start, 40);
    built_steps(f, 0, &none);
    assert_false(f->s.marked);
    assert_int_equal(f->s.n, 1);
    built_steps(f, 0, &whole);
    assert_false(f->s.marked);
    assert_int_equal(f->s.v[0].start, 0);
    assert_int_equal(f->s.v[0].end, 111); /* 12 + 99: device rows count */
    assert_int_equal(step_of(f, "iter 2", 40), 0);
}

CASE(a_required_window_that_no_span_has_is_an_error)
{
    const struct tg_window_spec spec = { TG_WINDOW_ANNOTATION, TG_SV("sevre"), true };
    struct tg_err err = TG_ERR_INIT;
    struct tg_steps s;
    for (int k = 0; k < 4; k++)
        bt_host(&f->b, "user_annotation", "serve", "1", 20 * k, 15, -1);
    assert_false(tg_steps_build(&s, bt_trace(&f->b, 0), &spec, &err));
    assert_int_equal(err.kind, TG_ERR_USAGE);
    assert_string_equal(err.message, "no annotation or operator 'sevre'");
    assert_non_null(strstr(err.hint, "'serve'"));
}

CASE(an_empty_trace_is_one_empty_step)
{
    built_steps(f, 0, &BUILT_AUTO);
    assert_int_equal(f->s.n, 1);
    assert_false(f->s.marked);
    assert_int_equal(f->s.v[0].end, 0);
}

/* outer [0,100) holds a [10,30), b [30,50) and c [90,110), which is cut at 100: self of outer is
 * 100 - 20 - 20 - 10 = 50. a holds a1 [15,20): 15 left. Python and other threads take no part. */
CASE(self_time_is_without_direct_children)
{
    bt_host(&f->b, "cpu_op", "a1", "1", 15, 5, -1);
    bt_host(&f->b, "cpu_op", "outer", "1", 0, 100, -1);
    bt_host(&f->b, "cpu_op", "b", "1", 30, 20, -1);
    bt_host(&f->b, "cpu_op", "a", "1", 10, 20, -1);
    bt_host(&f->b, "cpu_op", "c", "1", 90, 20, -1);
    bt_host(&f->b, "python_function", "py", "1", 0, 100, -1);
    bt_host(&f->b, "cpu_op", "elsewhere", "2", 12, 4, -1);
    bt_host(&f->b, "cpu_op", "empty", "1", 100, 0, -1);
    for (uint64_t seed = 0; seed < 4; seed++) {
        built_steps(f, seed, &BUILT_AUTO);
        uint32_t outer = bt_find(f->t, "outer", 0), a = bt_find(f->t, "a", 10);
        assert_int_equal(f->s.self[outer], 50);
        assert_int_equal(f->s.self[a], 15);
        assert_int_equal(f->s.self[bt_find(f->t, "c", 90)], 20);
        assert_int_equal(f->s.self[bt_find(f->t, "py", 0)], 100);
        assert_int_equal(f->s.parent[bt_find(f->t, "a1", 15)], a);
        assert_int_equal(f->s.parent[a], outer);
        assert_int_equal(f->s.parent[bt_find(f->t, "py", 0)], TG_NO_SPAN);
        assert_int_equal(f->s.parent[bt_find(f->t, "elsewhere", 12)], TG_NO_SPAN);
        assert_int_equal(f->s.parent[outer], TG_NO_SPAN);
    }
}

/* [0,1001) and [1000,2000) overlap by clock granularity: siblings; what is inside the second is
 * its own. [900,1100) lies in the first for more than half: a child, cut at 1001. */
CASE(the_larger_part_decides_what_is_nested)
{
    bt_host(&f->b, "user_annotation", "ProfilerStep#7", "1", 0, 1001, -1);
    bt_host(&f->b, "user_annotation", "ProfilerStep#8", "1", 1000, 1000, -1);
    bt_host(&f->b, "cpu_op", "late", "1", 1500, 100, -1);
    bt_host(&f->b, "cpu_op", "cut", "1", 900, 200, -1);
    built_steps(f, 0, &BUILT_AUTO);
    uint32_t first = bt_find(f->t, "ProfilerStep#7", 0);
    uint32_t second = bt_find(f->t, "ProfilerStep#8", 1000);
    assert_int_equal(f->s.parent[second], TG_NO_SPAN);
    assert_int_equal(f->s.parent[bt_find(f->t, "late", 1500)], second);
    assert_int_equal(f->s.self[second], 900);
    assert_int_equal(f->s.parent[bt_find(f->t, "cut", 900)], first);
    assert_int_equal(f->s.self[first], 900);
    assert_int_equal(step_of(f, "cut", 900), 0);
}

/* Fills [from, to) with nested spans; marks in `owner` who is innermost at each ns. */
static void grow_tree(struct built *f, uint64_t *r, int from, int to, int depth, int *owner)
{
    for (int at = from; at < to;) {
        int length;
        *r = *r * 6364136223846793005u + 1442695040888963407u;
        length = (int)(*r >> 40) % (to - at) + 1;
        if ((*r >> 33) % 3) {
            int id = (int)f->b.n;
            bt_host(&f->b, "cpu_op", tg_arena_printf(f->b.arena, "n%d", id), "1", at, length, -1);
            for (int x = at; x < at + length; x++)
                owner[x] = id;
            if (depth < 5 && length > 2)
                grow_tree(f, r, at + 1, at + length, depth + 1, owner);
        }
        at += length;
    }
}

/* Every ns belongs to the innermost span around it: self time is how many it owns, in a column or
 * in place of the duration. */
CASE(self_times_agree_with_a_sweep_over_every_ns)
{
    uint64_t r = 3;
    for (int round = 0; round < 100; round++) {
        int owner[300], count[2000] = { 0 };
        memset(owner, -1, sizeof owner);
        f->b.n = 0;
        grow_tree(f, &r, 0, 300, 0, owner);
        for (int x = 0; x < 300; x++)
            if (owner[x] >= 0)
                count[owner[x]]++;
        built_steps(f, (uint64_t)round, &BUILT_AUTO);
        for (size_t i = 0; i < f->b.n; i++)
            assert_int_equal(f->s.self[bt_find(f->t, f->b.v[i].name, f->b.v[i].ts)], count[i]);
        tg_steps_put_self(&f->s, &f->b.trace);
        for (size_t i = 0; i < f->b.n; i++)
            assert_int_equal(tg_span_at(f->t, bt_find(f->t, f->b.v[i].name, f->b.v[i].ts))->dur,
                             count[i]);
    }
}

/* The driver's call has the runtime's correlation: the outer one is the launch; the kernel's parent
 * is the operator, not a call. A synchronising row with the same number is no launch. */
CASE(the_launching_call_is_preferred)
{
    bt_device(&f->b, "kernel", "k", 7, 40, 10, 5);
    bt_host(&f->b, "cuda_runtime", "cudaStreamSynchronize", "1", 1, 2, 5);
    bt_host(&f->b, "cuda_driver", "cuLaunchKernel", "1", 12, 3, 5);
    bt_host(&f->b, "cuda_runtime", "cudaLaunchKernel", "1", 11, 6, 5);
    bt_host(&f->b, "cpu_op", "aten::mm", "1", 10, 20, -1);
    for (uint64_t seed = 0; seed < 6; seed++) {
        built_steps(f, seed, &BUILT_AUTO);
        uint32_t k = bt_find(f->t, "k", 40);
        assert_int_equal(f->s.launch[k], bt_find(f->t, "cudaLaunchKernel", 11));
        assert_int_equal(f->s.parent[k], bt_find(f->t, "aten::mm", 10));
        assert_int_equal(f->s.self[k], 10);
    }
}

/* One graph launch has many kernels; a kernel launch with five has a wrong correlation. */
CASE(graphs_have_many_kernels_launches_few)
{
    bt_host(&f->b, "cuda_runtime", "cudaGraphLaunch", "1", 0, 5, 1);
    bt_host(&f->b, "cuda_runtime", "cudaLaunchKernel", "1", 10, 5, 2);
    bt_host(&f->b, "cuda_runtime", "cudaLaunchKernel", "1", 20, 5, 3);
    for (int k = 0; k < 9; k++)
        bt_device(&f->b, "kernel", "graphed", 7, 30 + k, 1, 1);
    for (int k = 0; k < 5; k++)
        bt_device(&f->b, "kernel", "wrong", 7, 60 + k, 1, 2);
    for (int k = 0; k < 4; k++)
        bt_device(&f->b, "kernel", "cooperative", 7, 70 + k, 1, 3);
    bt_device(&f->b, "kernel", "lonely", 7, 80, 1, 77);
    bt_device(&f->b, "mtia_ccp_events", "dma_request", 9, 80, 1, -1);
    built_steps(f, 0, &BUILT_AUTO);
    assert_int_equal(f->s.device_spans, 20);
    assert_int_equal(f->s.unlinked, 7);
    assert_int_equal(f->s.unnumbered, 1);
    assert_int_equal(f->s.launch[bt_find(f->t, "graphed", 38)],
                     bt_find(f->t, "cudaGraphLaunch", 0));
    assert_int_equal(f->s.launch[bt_find(f->t, "wrong", 60)], TG_NO_SPAN);
    assert_int_equal(f->s.launch[bt_find(f->t, "cooperative", 73)],
                     bt_find(f->t, "cudaLaunchKernel", 20));
    assert_int_equal(f->s.launch[bt_find(f->t, "lonely", 80)], TG_NO_SPAN);
}

/*
 * Launches 2 and 3 lost their kernels: 1 and 9 have theirs. 4 to 6 are captured (4 before the
 * recording's first end of a capture, which it did not see begin), 7 on another thread is not, 10
 * comes after the last that has a kernel, and copies and calls without a number are no launches.
 */
CASE(kernels_lost_behind_their_launch)
{
    const char *const launch = "cudaLaunchKernel", *const rt = "cuda_runtime";
    bt_host(&f->b, rt, launch, "1", 0, 1, 4);
    bt_host(&f->b, rt, "cudaStreamEndCapture", "1", 2, 1, 40);
    bt_host(&f->b, rt, launch, "1", 10, 1, 1);
    bt_host(&f->b, rt, launch, "1", 20, 1, 2);
    bt_host(&f->b, rt, launch, "1", 30, 1, 3);
    bt_host(&f->b, rt, "hipStreamBeginCapture", "1", 40, 1, 41);
    bt_host(&f->b, rt, launch, "1", 50, 1, 5);
    bt_host(&f->b, rt, launch, "2", 55, 1, 7);
    bt_host(&f->b, rt, launch, "1", 60, 1, 6);
    bt_host(&f->b, rt, "hipStreamEndCapture", "1", 70, 1, 42);
    bt_host(&f->b, rt, "cudaMemsetAsync", "1", 75, 1, 8);
    bt_host(&f->b, rt, launch, "1", 80, 1, 9);
    bt_host(&f->b, rt, launch, "1", 90, 1, 10);
    bt_device(&f->b, "kernel", "k", 7, 15, 1, 1);
    bt_device(&f->b, "kernel", "k", 7, 100, 1, 9);
    built_steps(f, 0, &BUILT_AUTO);
    assert_int_equal(f->s.lost_kernels, 3); /* 2, 3, 7 */
    assert_int_equal(f->s.unlinked, 0);
}

/* Host only, or a profiler that writes no work on devices at all: nothing says that it was lost. */
CASE(launches_alone_lost_nothing)
{
    bt_host(&f->b, "cuda_runtime", "cudaLaunchKernel", "1", 0, 1, 1);
    bt_host(&f->b, "cuda_runtime", "cudaLaunchKernel", "1", 10, 1, 2);
    built_steps(f, 0, &BUILT_AUTO);
    assert_int_equal(f->s.lost_kernels, 0);
}

/*
 * Steps 0 and 1; stream 7 runs their linked kernels at 120-130, 150-160 (step 0) and 320-330,
 * 350-360 (step 1). Unlinked work: at 140 between two of step 0; at 125 on stream 9 by the
 * device's window of step 0 [120,160); at 200 on stream 7 the neighbours disagree and no window is
 * open: unassigned; at 340 step 1; at 900 nothing known.
 */
CASE(unlinked_work_goes_to_its_neighbours)
{
    bt_host(&f->b, "user_annotation", "ProfilerStep#0", "1", 100, 100, -1);
    bt_host(&f->b, "user_annotation", "ProfilerStep#1", "1", 300, 100, -1);
    bt_host(&f->b, "cuda_runtime", "cudaLaunchKernel", "1", 110, 1, 1);
    bt_host(&f->b, "cuda_runtime", "cudaLaunchKernel", "1", 112, 1, 2);
    bt_host(&f->b, "cuda_runtime", "cudaLaunchKernel", "1", 310, 1, 3);
    bt_host(&f->b, "cuda_runtime", "cudaLaunchKernel", "1", 312, 1, 4);
    bt_device(&f->b, "kernel", "k", 7, 120, 10, 1);
    bt_device(&f->b, "kernel", "k", 7, 150, 10, 2);
    bt_device(&f->b, "kernel", "k", 7, 320, 10, 3);
    bt_device(&f->b, "kernel", "k", 7, 350, 10, 4);
    bt_device(&f->b, "kernel", "u", 7, 140, 1, 91);
    bt_device(&f->b, "kernel", "u", 9, 125, 1, 92);
    bt_device(&f->b, "kernel", "u", 7, 200, 1, 93);
    bt_device(&f->b, "kernel", "u", 7, 340, 1, 94);
    bt_device(&f->b, "kernel", "u", 7, 900, 1, -1);
    for (uint64_t seed = 0; seed < 4; seed++) {
        built_steps(f, seed, &BUILT_AUTO);
        assert_int_equal(step_of(f, "u", 140), 0);
        assert_int_equal(step_of(f, "u", 125), 0);
        assert_int_equal(step_of(f, "u", 200), -1);
        assert_int_equal(step_of(f, "u", 340), 1);
        assert_int_equal(step_of(f, "u", 900), -1);
        assert_int_equal(f->s.unlinked, 5);
        assert_int_equal(f->s.unassigned, 2);
    }
}

/* "serve" covers 90 of 100 ns in three disjoint pieces; "nested" overlaps itself; "rare" has two;
 * "small" covers 3 %; of "start-up" one alone is nearly everything. */
CASE(hints_are_recurring_disjoint_and_long)
{
    TG_ARENA *a = tg_arena_new();
    struct tg_window_hint h[4];
    for (int k = 0; k < 3; k++) {
        bt_host(&f->b, "user_annotation", "serve", "1", 33 * k, 30, -1);
        bt_host(&f->b, "cpu_op", "nested", "1", 33 * k, 34, -1);
        bt_host(&f->b, "cpu_op", "small", "1", 33 * k + 1, 1, -1);
    }
    bt_host(&f->b, "cpu_op", "start-up", "1", 0, 80, -1);
    bt_host(&f->b, "cpu_op", "start-up", "1", 80, 5, -1);
    bt_host(&f->b, "cpu_op", "start-up", "1", 90, 5, -1);
    bt_host(&f->b, "cpu_op", "rare", "1", 0, 48, -1);
    bt_host(&f->b, "cpu_op", "rare", "1", 50, 50, -1);
    f->t = bt_trace(&f->b, 0);
    assert_int_equal(tg_steps_hints(f->t, h, 4, a), 1);
    assert_true(tg_sv_eq(h[0].name, TG_SV("serve")));
    assert_int_equal(h[0].count, 3);
    assert_true(h[0].covered > 0.899 && h[0].covered < 0.901);
    assert_int_equal(tg_steps_hints(f->t, h, 0, a), 0);
}

/*
 * One step a trace: "execute_7" holds three of four calls, on another thread, in 20 of 100 ns;
 * "step[bs=4]" holds them all. "few" holds one call, "twice" overlaps itself, PyTorch's own
 * annotations and operators hold all and do not count.
 */
CASE(one_annotation_that_holds_the_calls_will_do)
{
    static const char *const own[] = { "## Call CompiledFxGraph f1", "nccl:all_reduce",
                                       "Torch-Compiled Region: 0/0", "entire (dynamo_timed)" };
    TG_ARENA *a = tg_arena_new();
    struct tg_window_hint h[4];
    bt_host(&f->b, "user_annotation", "execute_7_context", "1", 10, 20, -1);
    bt_host(&f->b, "user_annotation", "step[bs=4]", "1", 5, 90, -1);
    bt_host(&f->b, "user_annotation", "few", "1", 10, 2, -1);
    bt_host(&f->b, "user_annotation", "twice", "1", 9, 50, -1);
    bt_host(&f->b, "user_annotation", "twice", "1", 10, 30, -1);
    for (int k = 0; k < 4; k++) {
        bt_host(&f->b, "user_annotation", own[k], "1", 0, 100, -1);
        bt_host(&f->b, "cuda_runtime", "cudaLaunchKernel", "2", k == 3 ? 60 : 11 + 2 * k, 1, k);
    }
    bt_host(&f->b, "cpu_op", "aten::all", "1", 0, 100, -1);
    f->t = bt_trace(&f->b, 0);
    assert_int_equal(tg_steps_hints(f->t, h, 4, a), 2);
    assert_true(tg_sv_eq(h[0].name, TG_SV("step[bs=*")));
    assert_int_equal(h[0].count, 1);
    assert_true(tg_sv_eq(h[1].name, TG_SV("execute_*")));
}

/* Without calls half of the time counts: "most" has 60 of 100 ns, "half" 49. */
CASE(without_calls_the_time_counts)
{
    TG_ARENA *a = tg_arena_new();
    struct tg_window_hint h[4];
    bt_host(&f->b, "user_annotation", "most", "1", 0, 60, -1);
    bt_host(&f->b, "user_annotation", "half", "1", 0, 49, -1);
    bt_host(&f->b, "cpu_op", "aten::all", "1", 0, 100, -1);
    f->t = bt_trace(&f->b, 0);
    assert_int_equal(tg_steps_hints(f->t, h, 4, a), 1);
    assert_true(tg_sv_eq(h[0].name, TG_SV("most")));
}

/* "execute_0_…" to "execute_3_…": no name recurs, their prefix covers 40 of 43 ns in four pieces.
 * "run_*" would also match "run_all", which was not counted; two numbered names are too few; the
 * numbers of operators are part of what they do. */
CASE(numbered_annotations_stand_together)
{
    static const char *const execute[] = { "execute_0_context_1(2)", "execute_1_context_1(3)",
                                           "execute_2_context_9(9)", "execute_3_context_4(1)" };
    static const char *const run[] = { "run_0", "run_1", "run_2", "run_all" };
    static const char *const ops[] = { "aten::conv1d", "aten::conv2d", "aten::conv3d",
                                       "aten::conv4d" };
    TG_ARENA *a = tg_arena_new();
    struct tg_window_hint h[4];
    for (int k = 0; k < 4; k++) {
        bt_host(&f->b, "user_annotation", execute[k], "1", 11 * k, 10, -1);
        bt_host(&f->b, "user_annotation", run[k], "1", 11 * k, 10, -1);
        bt_host(&f->b, "cpu_op", ops[k], "1", 11 * k, 10, -1);
    }
    bt_host(&f->b, "user_annotation", "two_1", "1", 0, 20, -1);
    bt_host(&f->b, "user_annotation", "two_2", "1", 21, 20, -1);
    f->t = bt_trace(&f->b, 0);
    assert_int_equal(tg_steps_hints(f->t, h, 4, a), 1);
    assert_true(tg_sv_eq(h[0].name, TG_SV("execute_*")));
    assert_int_equal(h[0].count, 4);
    assert_true(h[0].covered > 40.0 / 43 - 0.001 && h[0].covered < 40.0 / 43 + 0.001);
}

/* Hostile times: nothing overflows (the sanitizers watch). */
CASE(huge_times_stay_in_range)
{
    bt_host(&f->b, "user_annotation", "ProfilerStep#0", "1", INT64_MIN, INT64_MAX, -1);
    bt_host(&f->b, "cpu_op", "a", "1", INT64_MIN + 1, INT64_MAX, -1);
    bt_host(&f->b, "cpu_op", "b", "1", INT64_MAX - 1, INT64_MAX, -1);
    bt_host(&f->b, "cpu_op", "c", "1", 5, -7, -1);
    bt_device(&f->b, "kernel", "k", 7, INT64_MAX, INT64_MAX, INT64_MAX);
    built_steps(f, 0, &BUILT_AUTO);
    assert_int_equal(f->s.self[bt_find(f->t, "c", 5)], 0);
    assert_int_equal(f->s.unlinked, 1);
}
