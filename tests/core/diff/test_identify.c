/* What an operator is: raw names, encloser, class, polling, waiting (identify.c). */
#include "by_hand.h"

BY_HAND(what_an_operator_is)
{
    make(f, 1, 1, 2);
    for (int side = 0; side < 2; side++) {
        add_all(f, side, TG_KIND_RUNTIME, "cudaEventQuery", "", 5, 11);
        add_all(f, side, TG_KIND_OP, "cudaEventQuery", "", 5, 11); /* the program's own */
        add_all(f, side, TG_KIND_OP, "c10d::wait", "", 1, 11);
        add_all(f, side, TG_KIND_MEMCPY, "Memcpy HtoD", "", 1, 11);
        add_all(f, side, TG_KIND_OP, "child", "small", 1, 11);
        add_all(f, side, TG_KIND_OP, "child", "large", 1, 99);
    }
    compare(f);
    assert_false(find(f, "child")->grouped);
    for (size_t i = 0; i < f->c.n_ops; i++) {
        const struct tg_op *op = &f->c.ops[i];
        assert_int_equal(op->polling, op->kind == TG_KIND_RUNTIME);
        assert_int_equal(op->wait,
                         op->kind == TG_KIND_MEMCPY || tg_sv_eq(op->name, TG_SV("c10d::wait")));
    }
    assert_true(tg_sv_eq(find(f, "child")->parent, TG_SV("large")));
}

/* Two raw names of one normalised one: 300 ns against 200 before, 100 against 200 after. */
BY_HAND(its_raw_name_is_the_one_with_most_time)
{
    make(f, 1, 1, 1);
    add_all(f, TG_BASE, TG_KIND_KERNEL, "triton_poi_fused_1", "p", 1, 301);
    add_all(f, TG_BASE, TG_KIND_KERNEL, "triton_poi_fused_2", "q", 1, 201);
    add_all(f, TG_TEST, TG_KIND_KERNEL, "triton_poi_fused_1", "p", 1, 101);
    add_all(f, TG_TEST, TG_KIND_KERNEL, "triton_poi_fused_2", "q", 2, 101);
    compare(f);
    is_text(find(f, "triton_poi_fused")->raw[TG_BASE], "triton_poi_fused_1");
    is_text(find(f, "triton_poi_fused")->raw[TG_TEST], "triton_poi_fused_2");
    is_text(find(f, "triton_poi_fused")->parent,
            "q"); /* 201 + 202 against 301 + 101 over both sides */
    assert_true(find(f, "triton_poi_fused")->grouped);
}

BY_HAND(a_list_of_ones_own_says_what_polls)
{
    static const tg_sv ignore[] = { { "my*", 3 } };
    make(f, 1, 1, 1);
    for (int side = 0; side < 2; side++) {
        add_all(f, side, TG_KIND_RUNTIME, "cudaEventQuery", "", 1, 11);
        add_all(f, side, TG_KIND_RUNTIME, "myQuery", "", 1, 11);
    }
    compare(f);
    assert_true(find(f, "cudaEventQuery")->polling && !find(f, "myQuery")->polling);
    f->o = (struct tg_compare_opts){ .ignore = ignore, .n_ignore = 1 };
    compare(f);
    assert_true(!find(f, "cudaEventQuery")->polling && find(f, "myQuery")->polling);
}

/* A collective is a wait as a kernel, not as an operator; synchronising calls always are. */
BY_HAND(whose_time_is_a_wait)
{
    static const struct {
        enum tg_kind kind;
        const char *name;
        bool wait;
    } cases[] = {
        { TG_KIND_KERNEL, "ncclDevKernel_AllReduce_Sum", true },
        { TG_KIND_OP, "ncclDevKernel_AllReduce_Sum", false },
        { TG_KIND_KERNEL, "gemm", false },
        { TG_KIND_SYNC, "cudaDeviceSynchronize", true },
        { TG_KIND_OP, "record_stream_Synchronize", false },
        { TG_KIND_OP, "my::await_all", false },
        { TG_KIND_KERNEL, "wait_gemm", false },
        { TG_KIND_OP, "_c10d_functional::wait_tensor", true },
        { TG_KIND_OP, "c10d::wait_all", true },
        { TG_KIND_OP, "weight", false },
        { TG_KIND_MEMSET, "Memset (Device)", true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make(f, 1, 1, 1);
        for (int side = 0; side < 2; side++)
            add_all(f, side, cases[i].kind, cases[i].name, "", 1, 11);
        compare(f);
        if (f->c.ops[0].wait != cases[i].wait)
            fail_msg("%s", cases[i].name);
    }
}
