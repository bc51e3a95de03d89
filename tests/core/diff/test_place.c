/* Places where two programs differ (place.c): what an edit of a program makes of its tree. */
#include "place_by_hand.h"

/* Both sides have `f` with what is there either way. Times in ns; an operator of 100 has a kernel of 1000. */
static void start(struct fixture *f, size_t runs)
{
    make(f, runs, runs, 2);
    put_both(f, TG_KIND_ANNOTATION, "step/f", 1, 501);
    put_both(f, TG_KIND_OP, "step/f/mm", 3, 101);
    put_both(f, TG_KIND_KERNEL, "step/f/mm/gemm", 3, 1001);
}

static void put_op(struct fixture *f, int side, const char *path, const char *kernel,
                   uint32_t calls)
{
    put(f, side, TG_KIND_OP, path, calls, 101);
    put(f, side, TG_KIND_KERNEL, tg_arena_printf(f->a, "%s/%s", path, kernel), calls, 1001);
}

BY_HAND(equal_programs_have_no_places)
{
    start(f, 1);
    assert_places(f, "");
}

/* What is called in another order is the same tree. */
BY_HAND(reordered)
{
    start(f, 1);
    put(f, TG_BASE, TG_KIND_OP, "step/f/a", 1, 101);
    put(f, TG_BASE, TG_KIND_OP, "step/f/b", 1, 101);
    put(f, TG_TEST, TG_KIND_OP, "step/f/b", 1, 101);
    put(f, TG_TEST, TG_KIND_OP, "step/f/a", 1, 101);
    assert_places(f, "");
}

BY_HAND(renamed)
{
    start(f, 1);
    put_op(f, TG_BASE, "step/f/old", "k", 2);
    put_op(f, TG_TEST, "step/f/new", "k", 2);
    /* The kernel is called as often, from another operator: no part. */
    assert_places(f, "step > f: contents 0 0, whole 0 0\n"
                     "  + new 0 -> 2\n"
                     "  - old 2 -> 0\n");
}

/* An annotation around a part of a function is another name around the same work. */
BY_HAND(called_from_another_helper)
{
    start(f, 1);
    put_op(f, TG_BASE, "step/f/x", "k", 2);
    put(f, TG_TEST, TG_KIND_ANNOTATION, "step/f/helper", 1, 51);
    put_op(f, TG_TEST, "step/f/helper/x", "k", 2);
    assert_places(f, "step > f: contents 51 0, whole 51 0\n"
                     "  + helper 0 -> 1\n");
}

BY_HAND(replaced_by_more)
{
    struct tg_places p;
    start(f, 1);
    put_op(f, TG_BASE, "step/f/matmul", "k", 1);
    put_op(f, TG_TEST, "step/f/einsum", "e", 2);
    assert_places(f, "step > f: contents 101 1001, whole 101 1001\n"
                     "  + e 0 -> 2\n"
                     "  - k 1 -> 0\n"
                     "  + einsum 0 -> 2\n"
                     "  - matmul 1 -> 0\n");
    p = places(f);
    near(more(&f->c, p.v[0].calls[TG_WORK_KERNEL]), 1);
    near(more(&f->c, p.v[0].calls[TG_WORK_OP]), 1);
    near(more(&f->c, p.v[0].calls[TG_WORK_SYNC]), 0);
}

/* Three operators become one, and back. */
BY_HAND(fused_and_split)
{
    for (int whole = 0; whole < 2; whole++) {
        struct tg_places p;
        double sign = whole == TG_BASE ? 1 : -1;
        start(f, 1);
        put_op(f, !whole, "step/f/add", "k1", 1);
        put_op(f, !whole, "step/f/mul", "k2", 1);
        put_op(f, !whole, "step/f/relu", "k3", 1);
        put_op(f, whole, "step/f/fused", "k", 1);
        p = places(f);
        assert_int_equal(p.n, 1);
        assert_int_equal(p.v[0].n_parts, 8);
        near(more(&f->c, p.v[0].calls[TG_WORK_KERNEL]), 2 * sign);
        near(more(&f->c, p.v[0].calls[TG_WORK_OP]), 2 * sign);
        near(more(&f->c, p.v[0].contents[TG_OVER_STEPS_MEAN].device), 2002 * sign);
        near(more(&f->c, p.v[0].whole[TG_OVER_STEPS_LEAST].host), 202 * sign);
        assert_false(p.v[0].choice || p.v[0].moved);
    }
}

/* Another algorithm of the library: the operator is the place. */
BY_HAND(another_kernel_below_an_operator)
{
    start(f, 1);
    put_both(f, TG_KIND_OP, "step/f/conv", 4, 101);
    put(f, TG_BASE, TG_KIND_KERNEL, "step/f/conv/winograd", 4, 1001);
    put(f, TG_TEST, TG_KIND_KERNEL, "step/f/conv/implicit", 4, 901);
    put(f, TG_TEST, TG_KIND_MEMSET, "step/f/conv/Memset", 4, 51);
    put(f, TG_TEST, TG_KIND_RUNTIME, "step/f/conv/cudaMemsetAsync", 4, 11);
    assert_places(f, "step > f > conv: contents 44 -196, whole 44 -196 choice\n"
                     "  - winograd 4 -> 0\n"
                     "  + implicit 0 -> 4\n"
                     "  + Memset 0 -> 4\n"
                     "  + cudaMemsetAsync 0 -> 4\n");
}

/* A wait or memory is no algorithm, nor is another operator. */
BY_HAND(what_is_no_choice)
{
    static const struct {
        enum tg_kind kind;
        const char *name;
    } all[] = { { TG_KIND_SYNC, "cudaStreamSynchronize" },
                { TG_KIND_RUNTIME, "cudaMalloc" },
                { TG_KIND_OP, "copy_" } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        start(f, 1);
        put_both(f, TG_KIND_OP, "step/f/conv", 4, 101);
        put(f, TG_BASE, TG_KIND_KERNEL, "step/f/conv/a", 4, 1001);
        put(f, TG_TEST, TG_KIND_KERNEL, "step/f/conv/b", 4, 1001);
        put(f, TG_TEST, all[i].kind, tg_arena_printf(f->a, "step/f/conv/%s", all[i].name), 1, 11);
        assert_false(places(f).v[0].choice);
    }
    start(f, 1); /* and no kernel came: the launch was split */
    put(f, TG_TEST, TG_KIND_RUNTIME, "step/f/mm/cudaLaunchKernel", 3, 11);
    assert_false(places(f).v[0].choice);
}

/* As many calls as before in the step, which holds both places; a third has nothing to do with it. */
BY_HAND(moved_to_another_place)
{
    start(f, 1);
    put_both(f, TG_KIND_ANNOTATION, "step/g", 1, 101);
    put_both(f, TG_KIND_ANNOTATION, "step/h", 1, 101);
    put_op(f, TG_BASE, "step/f/x", "k", 2);
    put_op(f, TG_TEST, "step/g/x", "k", 2);
    put_op(f, TG_TEST, "step/h/y", "l", 1);
    assert_places(f, "step > h: contents 101 1001, whole 101 1001\n"
                     "  + l 0 -> 1\n"
                     "  + y 0 -> 1\n"
                     "step: contents 0 0, whole 0 0 moved\n"
                     "  ~ x 2 -> 2 moved\n"
                     "  ~ k 2 -> 2 moved\n");
}

/* The same at a cost: what moved takes another time there. */
BY_HAND(moved_and_slower)
{
    start(f, 1);
    put_both(f, TG_KIND_ANNOTATION, "step/f/a", 1, 101);
    put_both(f, TG_KIND_ANNOTATION, "step/f/b", 1, 101);
    put(f, TG_BASE, TG_KIND_OP, "step/f/a/x", 2, 101);
    put(f, TG_TEST, TG_KIND_OP, "step/f/b/x", 2, 301);
    assert_places(f, "step > f: contents 400 0, whole 400 0 moved\n"
                     "  ~ x 2 -> 2 moved\n");
}

/* Between threads there is no place around both: a group. */
BY_HAND(moved_to_another_thread)
{
    struct tg_places p;
    start(f, 1);
    put(f, TG_BASE, TG_KIND_OP, "step/f/x", 2, 101);
    put(f, TG_TEST, TG_KIND_OP, "threads/x", 2, 101);
    put(f, TG_TEST, TG_KIND_OP, "step/y", 1, 7);
    assert_places(f, "other threads: contents 202 0, whole 202 0 moved\n"
                     "  + x 0 -> 2 moved\n"
                     "step > f: contents -202 0, whole -202 0 moved\n"
                     "  - x 2 -> 0 moved\n"
                     "step: contents 7 0, whole 7 0\n"
                     "  + y 0 -> 1\n");
    p = places(f);
    assert_int_equal(p.v[0].group, 0);
    assert_int_equal(p.v[1].group, 0);
    assert_int_equal(p.v[2].group, 2);
}

/* Calls of one operator change their parents, not their number. */
BY_HAND(calls_that_change_their_parents)
{
    for (int side = 0; side < 2; side++) {
        if (side == TG_BASE)
            make(f, 1, 1, 2);
        put(f, side, TG_KIND_OP, "step/foreach", 1, 901);
        put(f, side, TG_KIND_OP, "step/foreach/mul", 5, 101);
        put(f, side, TG_KIND_OP, "step/foreach/mul_", 5, 101);
        put(f, side, TG_KIND_OP, "step/foreach/mul/to", side ? 3 : 4, 11);
        put(f, side, TG_KIND_OP, "step/foreach/mul_/to", side ? 2 : 1, 11);
    }
    assert_places(f, "step > foreach: contents 0 0, whole 0 0 moved\n"
                     "  ~ to 5 -> 5 moved\n");
}

/* One of 58 seems to be inside another call: together they are as many. */
BY_HAND(calls_inside_calls)
{
    for (int side = 0; side < 2; side++) {
        if (side == TG_BASE)
            make(f, 1, 1, 2);
        put(f, side, TG_KIND_OP, "step/mm", 1, 901);
        put(f, side, TG_KIND_RUNTIME, "step/mm/cudaFuncSetAttribute", side ? 57 : 58, 3);
        put(f, side, TG_KIND_RUNTIME, "step/mm/cudaLaunchKernel", 9, 3);
        put(f, side, TG_KIND_RUNTIME, "step/mm/cudaLaunchKernel/cudaFuncSetAttribute", side ? 3 : 2,
            3);
    }
    assert_places(f, "step > mm: contents 0 0, whole 0 0 moved\n"
                     "  ~ cudaFuncSetAttribute 60 -> 60 moved\n");
}

/* One more than went: it did not move. */
BY_HAND(more_came_than_went)
{
    start(f, 1);
    put_both(f, TG_KIND_ANNOTATION, "step/g", 1, 101);
    put_op(f, TG_BASE, "step/f/x", "k", 2);
    put_op(f, TG_TEST, "step/g/x", "k", 3);
    assert_places(f, "step > g: contents 303 3003, whole 303 3003\n"
                     "  + k 0 -> 3\n"
                     "  + x 0 -> 3\n"
                     "step > f: contents -202 -2002, whole -202 -2002\n"
                     "  - k 2 -> 0\n"
                     "  - x 2 -> 0\n");
}

/* What autograd's thread does for an operator is the same edit; for one that went while it came, not. */
BY_HAND(backward_work_of_an_operator)
{
    struct tg_places p;
    make(f, 1, 1, 2);
    put_both(f, TG_KIND_ANNOTATION, "step/f", 1, 501);
    put_both(f, TG_KIND_ANNOTATION, "step/g", 1, 501);
    put_op(f, TG_TEST, "step/f/aten::gelu", "k", 2);
    put(f, TG_BASE, TG_KIND_OP, "step/g/aten::mul", 2, 31);
    put(f, TG_TEST, TG_KIND_OP, "threads/autograd::engine::evaluate_function: GeluBackward0", 2,
        101);
    put(f, TG_TEST, TG_KIND_OP, "threads/autograd::engine::evaluate_function: MulBackward0", 2, 1);
    p = places(f);
    assert_int_equal(p.n, 3);
    is_text(p.tree.v[p.v[0].node].name, "f");
    is_text(p.tree.v[p.v[1].node].name, "other threads");
    is_text(p.tree.v[p.v[2].node].name, "g");
    assert_int_equal(p.v[1].group, 0);
    assert_int_equal(p.v[2].group, 2);
}

/* 4 calls of index come; mm has as many calls and takes a fifth of the time. One place, faster. */
BY_HAND(an_index_beside_a_cheaper_mm)
{
    make(f, 1, 1, 2);
    put_both(f, TG_KIND_ANNOTATION, "step/f", 1, 501);
    put_both(f, TG_KIND_OP, "step/f/mm", 3, 101);
    put(f, TG_BASE, TG_KIND_KERNEL, "step/f/mm/gemm", 3, 1001);
    put(f, TG_TEST, TG_KIND_KERNEL, "step/f/mm/gemm", 3, 201);
    put(f, TG_TEST, TG_KIND_OP, "step/f/index", 4, 51);
    put(f, TG_TEST, TG_KIND_KERNEL, "step/f/index/k", 4, 21);
    assert_places(f, "step > f: contents 204 84, whole 204 -2316\n"
                     "  + index 0 -> 4\n"
                     "  + k 0 -> 4\n");
}

/* The saving in f is no part of the place g. */
BY_HAND(savings_elsewhere_stay_elsewhere)
{
    make(f, 1, 1, 2);
    put_both(f, TG_KIND_ANNOTATION, "step/f", 1, 501);
    put_both(f, TG_KIND_ANNOTATION, "step/g", 1, 501);
    put(f, TG_BASE, TG_KIND_OP, "step/f/mm", 3, 9001);
    put(f, TG_TEST, TG_KIND_OP, "step/f/mm", 3, 101);
    put(f, TG_TEST, TG_KIND_OP, "step/g/index", 4, 51);
    assert_places(f, "step > g: contents 204 0, whole 204 0\n"
                     "  + index 0 -> 4\n");
}

/* A place inside another one is not part of it. */
BY_HAND(places_inside_places)
{
    start(f, 1);
    put(f, TG_TEST, TG_KIND_OP, "step/f/mm/copy_", 3, 701);
    put(f, TG_TEST, TG_KIND_OP, "step/f/detach", 1, 11);
    put(f, TG_TEST, TG_KIND_OP, "step/view", 1, 7);
    assert_places(f, "step > f > mm: contents 2103 0, whole 2103 0\n"
                     "  + copy_ 0 -> 3\n"
                     "step > f: contents 11 0, whole 11 0\n"
                     "  + detach 0 -> 1\n"
                     "step: contents 7 0, whole 7 0\n"
                     "  + view 0 -> 1\n");
}

/* What is below an operator that is called more often follows it: one place. */
BY_HAND(more_calls_of_an_operator)
{
    make(f, 1, 1, 2);
    put_both(f, TG_KIND_ANNOTATION, "step/f", 1, 501);
    put_op(f, TG_BASE, "step/f/linear", "gemm", 19);
    put_op(f, TG_TEST, "step/f/linear", "gemm", 24);
    assert_places(f, "step > f: contents 505 5005, whole 505 5005\n"
                     "  ~ gemm 19 -> 24\n"
                     "  ~ linear 19 -> 24\n");
}

/* A kernel that one baseline run used, counts within the baseline's, polling and markers. */
BY_HAND(what_varies_is_no_difference)
{
    make(f, 3, 3, 2);
    put_both(f, TG_KIND_OP, "step/conv", 4, 101);
    for (size_t r = 0; r < 3; r++) {
        (void)put_run(f, TG_BASE, r, TG_KIND_KERNEL, r ? "step/conv/a" : "step/conv/b", 4, 1001);
        (void)put_run(f, TG_TEST, r, TG_KIND_KERNEL, r ? "step/conv/b" : "step/conv/a", 4, 1001);
        (void)put_run(f, TG_BASE, r, TG_KIND_OP, "step/fetch", 4 + (uint32_t)r, 101);
        (void)put_run(f, TG_TEST, r, TG_KIND_OP, "step/fetch", 6 + (uint32_t)r, 101);
        (void)put_run(f, TG_TEST, r, TG_KIND_RUNTIME, "step/cudaEventQuery", 9, 11);
        (void)put_run(f, TG_TEST, r, TG_KIND_STEP, "step/ProfilerStep#3", 1, 11);
    }
    assert_places(f, "");
}

/* Steps of the baseline have 4 to 8 calls: a mean of 7 is nothing, of 9 is a change, and so is none. */
BY_HAND(what_varies_from_step_to_step)
{
    static const uint32_t base[] = { 4, 8, 6, 4 }, within[] = { 8, 7, 6, 7 },
                          above[] = { 9, 8, 10, 9 }, none[] = { 0, 0, 0, 0 };
    static const uint32_t *const fresh[] = { within, above, none };
    for (size_t i = 0; i < 3; i++) {
        make(f, 1, 1, 4);
        memcpy(put_run(f, TG_BASE, 0, TG_KIND_OP, "step/a", 8, 1)->count, base, sizeof base);
        memcpy(put_run(f, TG_TEST, 0, TG_KIND_OP, "step/a", 10, 1)->count, fresh[i], sizeof base);
        assert_int_equal(places(f).n, i ? 1 : 0);
    }
}

/* Every fresh run is above every baseline run: medians 5 and 8, 505 and 808 ns. */
BY_HAND(medians_over_runs)
{
    struct tg_places p;
    make(f, 3, 3, 2);
    for (size_t r = 0; r < 3; r++) {
        (void)put_run(f, TG_BASE, r, TG_KIND_OP, "step/fetch", 4 + (uint32_t)r, 101);
        (void)put_run(f, TG_TEST, r, TG_KIND_OP, "step/fetch", 7 + (uint32_t)r, 101);
    }
    assert_places(f, "step: contents 303 0, whole 303 0\n"
                     "  ~ fetch 5 -> 8\n");
    p = places(f);
    near(p.v[0].calls[TG_WORK_OP][TG_TEST][2], 9);
    near(p.v[0].part[0].ns[TG_BASE], 505);
}

/* A summary of 0.2.0 on one side: both are trees of one level, by the name around a row. */
BY_HAND(a_side_without_a_tree)
{
    struct tg_places p;
    start(f, 1);
    put_op(f, TG_TEST, "step/f/index", "k", 1);
    shard(f, TG_BASE, 0)->tree = (struct tg_tree){ 0 };
    /* The baseline has no place below index: the kernel is new to the step. */
    assert_places(f, "step: contents 0 1001, whole 0 1001\n"
                     "  + k 0 -> 1\n"
                     "step > f: contents 101 0, whole 101 0\n"
                     "  + index 0 -> 1\n");
    p = places(f);
    assert_true(p.tree.flat);
}

BY_HAND(what_calls_do)
{
    static const struct {
        enum tg_kind kind;
        const char *name;
        enum tg_work work;
    } all[] = { { TG_KIND_KERNEL, "cudaMalloc", TG_WORK_KERNEL },
                { TG_KIND_MEMCPY, "Memcpy HtoD", TG_WORK_COPY },
                { TG_KIND_MEMSET, "Memset", TG_WORK_SET },
                { TG_KIND_GRAPH, "cudaGraphLaunch", TG_WORK_GRAPH },
                { TG_KIND_SYNC, "cudaDeviceSynchronize", TG_WORK_SYNC },
                { TG_KIND_RUNTIME, "cudaMalloc", TG_WORK_ALLOC },
                { TG_KIND_RUNTIME, "hipFree", TG_WORK_ALLOC },
                { TG_KIND_RUNTIME, "cudaHostAlloc", TG_WORK_ALLOC },
                { TG_KIND_RUNTIME, "cuMemAlloc_v2", TG_WORK_ALLOC },
                { TG_KIND_RUNTIME, "cudaLaunchKernel", TG_WORK_CALL },
                { TG_KIND_RUNTIME, "cudaMemcpyAsync", TG_WORK_CALL },
                { TG_KIND_OP, "aten::mm", TG_WORK_OP },
                { TG_KIND_ANNOTATION, "f", TG_WORK_OTHER },
                { TG_KIND_DEVICE_SYNC, "Stream Sync", TG_WORK_OTHER } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_int_equal(tg_work_of(all[i].kind, tg_sv_of(all[i].name)), all[i].work);
}
