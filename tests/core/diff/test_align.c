/* From rows to operators with counts, times and parts of the step (align.c). */
#include "by_hand.h"

static void last(struct fixture *f, int side, size_t run, tg_ns first, tg_ns second)
{
    struct tg_shard *h = shard(f, side, run);
    h->steps[0].end = h->steps[0].start + first;
    h->steps[1].end = h->steps[1].start + second;
}

/* Steps of 100 and 200, 300 and 150, 400 and 500 us. The shortest are 100, 150 and 400, of which
 * the median is 150; the means are 150, 225 and 450, and 45 us are a fifth of 225. */
BY_HAND(the_step_and_a_share_of_it)
{
    make(f, 3, 3, 2);
    for (int side = 0; side < 2; side++) {
        last(f, side, 0, 100000, 200000);
        last(f, side, 1, 300000, 150000);
        last(f, side, 2, 400000, 500000);
        add_all(f, side, TG_KIND_OP, "x", "", 1, 45000);
    }
    compare(f);
    near(f->c.step_ns[TG_BASE], 150000);
    near(find(f, "x")->share[TG_TEST], 0.2);
}

/* Where the device has a step time, that counts: 80 us of a host's millisecond. */
BY_HAND(the_devices_step_comes_before_the_hosts)
{
    make(f, 1, 1, 2);
    for (int side = 0; side < 2; side++) {
        for (size_t j = 0; j < 2; j++)
            set_metric(shard(f, side, 0), TG_METRIC_DEVICE_EXTENT, j, 160000, 2);
        add_all(f, side, TG_KIND_KERNEL, "k", "", 1, 20000);
    }
    compare(f);
    near(f->c.step_ns[TG_BASE], 80000);
    near(find(f, "k")->share[TG_BASE], 0.02); /* of the clock: 20 us of 1 ms */
    shard(f, TG_BASE, 0)->metrics[TG_METRIC_DEVICE_EXTENT * 2].num = 0; /* nothing ran */
    compare(f);
    near(f->c.step_ns[TG_BASE], 80000); /* the shortest is the other step */
}

/* Ten kernels of 1 us before. Gone are more than half of them and of their time,
 * and no graph came. */
BY_HAND(a_benchmark_that_did_not_run)
{
    static const struct {
        uint32_t kernels;
        tg_ns ns;
        uint32_t graphs;
        bool collapsed;
    } cases[] = {
        { 4, 1000, 0, true }, { 5, 1000, 0, false }, { 4, 1250, 0, false },
        { 4, 1249, 0, true }, { 4, 1000, 1, false }, { 0, 0, 0, true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make(f, 1, 1, 2);
        add_all(f, TG_BASE, TG_KIND_KERNEL, "k", "", 10, 1000);
        if (cases[i].kernels)
            add_all(f, TG_TEST, TG_KIND_KERNEL, "k", "", cases[i].kernels, cases[i].ns);
        if (cases[i].graphs)
            add_all(f, TG_TEST, TG_KIND_GRAPH, "cudaGraphLaunch", "", cases[i].graphs, 1000);
        compare(f);
        if (f->c.collapsed != cases[i].collapsed)
            fail_msg("row %zu", i);
    }
}

/* Takes the last row out of the rows: it is a total by Python frame. */
static void make_frame(struct tg_shard *h)
{
    h->n_rows--;
    h->n_frames = 1;
    h->frame_sorts = TG_STACK_ALL;
}

BY_HAND(a_side_recorded_without_stacks)
{
    for (int lacking = 0; lacking < 2; lacking++) {
        make(f, 2, 2, 2);
        for (int side = 0; side < 2; side++)
            for (size_t run = 0; run < 2; run++) {
                shard(f, side, run)->frame_sorts = TG_STACK_ALL;
                if (lacking && side == TG_TEST && run == 1)
                    continue; /* one of two runs is enough to doubt it */
                add_row(f, side, run, TG_KIND_MODULE, "nn.Module: Block_0", "", 1, 1000);
                make_frame(shard(f, side, run));
            }
        compare(f);
        assert_int_equal(f->c.frames_lack[TG_TEST], lacking ? 1u << TG_STACK_MODULES : 0);
        assert_int_equal(f->c.frames_lack[TG_BASE], 0);
        assert_int_equal(f->c.frame_sorts[TG_BASE], TG_STACK_ALL);
        assert_true(f->c.n_frames > 0 && f->c.n_ops == 0);
    }
    shard(f, TG_BASE, 1)->frame_sorts = 1u << TG_STACK_MODULES; /* what every shard holds */
    compare(f);
    assert_int_equal(f->c.frame_sorts[TG_BASE], 1u << TG_STACK_MODULES);
}

/* ---- rows become operators, by kind and normalised name ---- */

/* Two rows of one kernel under two operators, and an operator of the same name. */
BY_HAND(rows_of_one_kind_and_name_are_one)
{
    make(f, 1, 1, 2);
    add_same(f, TG_KIND_KERNEL, "gemm", "aten::mm", 2, 101);
    add_same(f, TG_KIND_KERNEL, "gemm", "aten::bmm", 3, 101);
    add_same(f, TG_KIND_OP, "gemm", "", 1, 101);
    add_same(f, TG_KIND_OP, "aten::mm", "", 1, 101);
    compare(f);
    assert_int_equal(f->c.n_ops, 3);
    is_text(f->c.ops[0].name, "aten::mm"); /* operators come before kernels, names in order */
    is_text(f->c.ops[1].name, "gemm");
    assert_int_equal(f->c.ops[1].kind, TG_KIND_OP);
    assert_int_equal(f->c.ops[2].kind, TG_KIND_KERNEL);
    near(f->c.ops[2].count[TG_BASE], 2 + 3);
}

/* A kernel on streams 7 and 9 of device 0, beside an operator. */
BY_HAND(devices_and_streams_choose_device_rows_alone)
{
    static const int64_t nine[] = { 9 }, one[] = { 1 };
    make(f, 1, 1, 2);
    for (int side = 0; side < 2; side++) {
        add_all(f, side, TG_KIND_OP, "aten::mm", "", 1, 101);
        add_all(f, side, TG_KIND_KERNEL, "gemm", "", 2, 101);
        struct tg_row *row = add_row(f, side, 0, TG_KIND_KERNEL, "gemm", "", 3, 101);
        struct tg_row_key *key = TG_NEW(f->a, struct tg_row_key);
        *key = *row->key;
        key->stream = 9;
        row->key = key;
    }
    compare(f);
    near(find(f, "gemm")->count[TG_BASE], 5);
    f->o = (struct tg_compare_opts){ .streams = nine, .n_streams = 1 };
    compare(f);
    near(find(f, "gemm")->count[TG_BASE], 3);
    near(find(f, "aten::mm")->count[TG_BASE], 1);
    f->o = (struct tg_compare_opts){ .devices = one, .n_devices = 1 };
    compare(f);
    assert_int_equal(f->c.n_ops, 1);
    is_text(f->c.ops[0].name, "aten::mm");
}

/* ---- what an operator is: raw names, encloser, class, polling, waiting ---- */

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
    add_same(f, TG_KIND_RUNTIME, "cudaEventQuery", "", 1, 11);
    add_same(f, TG_KIND_RUNTIME, "myQuery", "", 1, 11);
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
        add_same(f, cases[i].kind, cases[i].name, "", 1, 11);
        compare(f);
        if (f->c.ops[0].wait != cases[i].wait)
            fail_msg("%s", cases[i].name);
    }
}

/* ---- how its calls changed: what the rule of counts is asked, and of traces ---- */

BY_HAND(by_step)
{
    static const struct {
        uint32_t base[3], test[3];
        enum tg_change change;
        double count[2];
    } cases[] = {
        { { 2, 2, 2 }, { 2, 2, 2 }, TG_SAME, { 2, 2 } },
        { { 2, 2, 2 }, { 3, 3, 3 }, TG_MORE, { 2, 3 } },
        { { 3, 3, 3 }, { 2, 2, 2 }, TG_FEWER, { 3, 2 } },
        { { 0, 0, 0 }, { 1, 1, 1 }, TG_ADDED, { 0, 1 } },
        { { 1, 1, 1 }, { 0, 0, 0 }, TG_REMOVED, { 1, 0 } },
        { { 0, 1, 2 }, { 0, 1, 2 }, TG_SAME, { 2, 2 } }, /* the largest of equally frequent ones */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct tg_op *op;
        make(f, 2, 2, 3);
        for (int side = 0; side < 2; side++)
            for (size_t run = 0; run < 2; run++)
                add_counts(f, side, run, TG_KIND_OP, "x", "",
                           side == TG_BASE ? cases[i].base : cases[i].test, 101);
        compare(f);
        op = find(f, "x");
        if (op->change != cases[i].change)
            fail_msg("row %zu: %d", i, (int)op->change);
        near(op->count[TG_BASE], cases[i].count[TG_BASE]);
        near(op->count[TG_TEST], cases[i].count[TG_TEST]);
    }
}

/*
 * "x" in some of five steps of each run. At most three of them but for the first: the number of
 * steps alone proves nothing, at C(12, 3) / C(24, 3) = 11 %.
 * What a run has only in its first step may be cold.
 */
BY_HAND(in_some_steps)
{
    static const struct {
        size_t runs;
        uint32_t base[3][5], test[3][5];
        enum tg_change change;
    } cases[] = {
        { 3, { { 0 } }, { { 0, 1 }, { 0, 0, 2 }, { 0, 0, 0, 0, 1 } }, TG_ADDED },
        { 2,
          { { 0 } },
          { { 0, 1 }, { 0, 0, 2 }, { 0, 0, 0, 0, 1 } },
          TG_SAME },                                                  /* two runs a side */
        { 3, { { 0 } }, { { 0, 1 }, { 0, 0, 1 }, { 0 } }, TG_SAME },  /* two of three */
        { 3, { { 0 } }, { { 0, 1 }, { 1 }, { 0, 0, 1 } }, TG_ADDED }, /* one of them at first */
        { 3, { { 0 } }, { { 0, 1 }, { 1 }, { 1 } }, TG_SAME },
        { 3, { { 0 } }, { { 1, 1 }, { 1, 0, 1 }, { 1 } }, TG_SAME }, /* all of them are cold */
        { 3, { { 0 } }, { { 1, 1 }, { 1, 0, 1 }, { 1, 1 } }, TG_ADDED },
        { 3, { { 0 } }, { { 1 }, { 1 }, { 1 } }, TG_SAME },
        { 3, { { 0 }, { 1 } }, { { 0, 1 }, { 0, 1 }, { 0, 1 } }, TG_SAME }, /* a cold one had it */
        { 3,
          { { 1, 1, 1, 1, 1 }, { 1, 1, 1, 1, 1 }, { 1, 1, 1, 1, 1 } },
          { { 1, 2, 1, 1, 1 }, { 1, 1, 2, 1, 1 }, { 1, 2, 1, 1, 1 } },
          TG_SAME }, /* not a new name */
        { 3, { { 0, 1 }, { 0, 0, 2 }, { 0, 0, 0, 0, 1 } }, { { 0 } }, TG_REMOVED },
        { 3, { { 0, 1 }, { 0, 0, 2 }, { 0 } }, { { 0 } }, TG_SAME },
        { 2, { { 0, 1 }, { 0, 0, 2 } }, { { 0 } }, TG_SAME },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make(f, cases[i].runs, cases[i].runs, 5);
        for (int side = 0; side < 2; side++)
            for (size_t run = 0; run < cases[i].runs; run++)
                add_counts(f, side, run, TG_KIND_OP, "x", "",
                           side == TG_BASE ? cases[i].base[run] : cases[i].test[run], 101);
        compare(f);
        if (find(f, "x")->change != cases[i].change)
            fail_msg("row %zu: %d", i, (int)find(f, "x")->change);
    }
}

/* The other side has fewer than three runs: three with the name against two without,
 * and the reverse. */
BY_HAND(few_runs_of_the_other_side)
{
    static const uint32_t part[] = { 0, 1, 0, 0, 0 }, none[5];
    for (int with = 0; with < 2; with++) {
        make_side(f, with, 3, 5);
        make_side(f, !with, 2, 5);
        for (int side = 0; side < 2; side++)
            for (size_t run = 0; run < f->side[side].n_runs; run++)
                add_counts(f, side, run, TG_KIND_OP, "x", "", side == with ? part : none, 101);
        compare(f);
        assert_int_equal(find(f, "x")->change, TG_SAME);
    }
}

/*
 * Traces without steps: one number a run. Runs that agree are exact; else all of a side must be
 * beyond the other, and the medians a tenth apart. Three others keep their counts, so that no ratio
 * of iterations explains it.
 */
BY_HAND(by_trace)
{
    static const struct {
        uint32_t base[3], test[3];
        enum tg_change change;
    } cases[] = {
        { { 10, 10, 10 }, { 11, 11, 11 }, TG_MORE },
        { { 10, 10, 10 }, { 9, 9, 9 }, TG_FEWER },
        { { 10, 11, 12 }, { 12, 13, 14 }, TG_SAME }, /* 12 is on both sides */
        { { 10, 11, 12 }, { 13, 13, 14 }, TG_MORE },
        { { 100, 101, 102 }, { 105, 106, 107 }, TG_SAME }, /* 5 % */
        { { 100, 101, 102 }, { 112, 113, 114 }, TG_MORE }, /* 12 % */
        { { 0, 0, 0 }, { 1, 1, 1 }, TG_ADDED },
        { { 3, 4, 3 }, { 0, 0, 0 }, TG_REMOVED },
    };
    static const char *const others[] = { "a", "b", "c" };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make(f, 3, 3, 1);
        for (int side = 0; side < 2; side++)
            for (size_t run = 0; run < 3; run++) {
                uint32_t n = side == TG_BASE ? cases[i].base[run] : cases[i].test[run];
                shard(f, side, run)->marked = false;
                for (int k = 0; k < 3; k++)
                    add_row(f, side, run, TG_KIND_OP, others[k], "", 10, 101);
                add_row(f, side, run, TG_KIND_OP, "x", "", n, 101);
            }
        compare(f);
        if (find(f, "x")->change != cases[i].change)
            fail_msg("row %zu: %d", i, (int)find(f, "x")->change);
    }
}

/* ---- calls and times of one operator, added up over steps, ranks and runs ---- */

/* Sums over two runs of two steps: 3 calls of 100 ns each. */
BY_HAND(counts_and_sums)
{
    make(f, 2, 1, 2);
    add_both(f, TG_KIND_OP, "x", "", 3, 101, 4, 101);
    compare(f);
    const struct tg_op *op = find(f, "x");
    near(op->count[TG_BASE], 3);
    near(op->total[TG_BASE], 303);
    assert_int_equal(op->step_count[TG_BASE], 12);
    assert_int_equal(op->step_total[TG_BASE], 1212);
    assert_int_equal(op->change, TG_MORE);
    assert_true(op->settled && op->agreed);
    near(op->share[TG_BASE], 303 / 1e6);
}

/* Two ranks with 3 and 5 calls: means over ranks; runs of 1, 2 and 9 calls: the median. */
BY_HAND(means_over_ranks_medians_over_runs)
{
    static const uint32_t calls[] = { 1, 2, 9 };
    make_ranks(f, TG_BASE, 1, 2, 0, 2);
    make_ranks(f, TG_TEST, 1, 2, 0, 2);
    for (int side = 0; side < 2; side++)
        for (size_t rank = 0; rank < 2; rank++) {
            uint32_t each[] = { 3 + 2 * (uint32_t)rank, 3 + 2 * (uint32_t)rank };
            add_to(f, shard_of(f, side, 0, rank), TG_KIND_OP, "x", "", each, 100);
        }
    compare(f);
    near(find(f, "x")->count[TG_BASE], 4);
    near(find(f, "x")->total[TG_BASE], 400);
    make(f, 3, 3, 2);
    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < 3; run++)
            add_row(f, side, run, TG_KIND_OP, "x", "", calls[run], 100);
    compare(f);
    near(find(f, "x")->count[TG_TEST], 2);
    near(find(f, "x")->total[TG_TEST], 200);
    assert_true(find(f, "x")->settled && !find(f, "x")->agreed);
}

/* Three of five steps with one count are enough, two are not; of equally frequent ones the largest
 * counts. */
BY_HAND(settled_where_most_steps_agree)
{
    static const uint32_t three[] = { 2, 2, 2, 3, 4 }, two[] = { 2, 2, 3, 3, 4 };
    for (int most = 0; most < 2; most++) {
        make(f, 1, 1, 5);
        for (int side = 0; side < 2; side++)
            add_counts(f, side, 0, TG_KIND_OP, "x", "", most ? three : two, 101);
        compare(f);
        assert_int_equal(find(f, "x")->settled, most);
        assert_int_equal(find(f, "x")->step_count[TG_BASE], most ? 13 : 14);
    }
}

/* What is outside every step, the last bucket, is part of the whole and of no step. */
BY_HAND(what_is_outside_every_step)
{
    make(f, 1, 1, 2);
    for (int side = 0; side < 2; side++) {
        struct tg_row *row = add_row(f, side, 0, TG_KIND_OP, "x", "", 1, 100);
        row->count[2] = 7;
        row->total[2] = 5000;
    }
    compare(f);
    assert_int_equal(find(f, "x")->whole_count[TG_BASE], 2 + 7);
    assert_int_equal(find(f, "x")->whole_total[TG_BASE], 200 + 5000);
    assert_int_equal(find(f, "x")->step_count[TG_BASE], 2);
}

/* Calls of rank 0 that rank 1 makes now: the mean is the same, `shift` names rank 1. Calls that
 * vary from step to step prove nothing; a first step may be cold. */
BY_HAND(the_same_calls_on_other_ranks)
{
    static const struct {
        uint32_t base[2][3], test[2][3]; /* [rank][step] */
        size_t n;                        /* ranks with more */
        double from, to;
    } rows[] = {
        { { { 7, 7, 7 }, { 1, 1, 1 } }, { { 1, 1, 1 }, { 7, 7, 7 } }, 1, 1, 7 },
        { { { 7, 7, 7 }, { 1, 1, 1 } }, { { 7, 7, 7 }, { 1, 1, 1 } }, 0, 0, 0 },
        { { { 7, 7, 7 }, { 1, 1, 1 } }, { { 1, 1, 1 }, { 9, 7, 7 } }, 1, 1, 7 },
        { { { 7, 7, 7 }, { 1, 1, 1 } }, { { 1, 1, 1 }, { 7, 9, 7 } }, 0, 0, 0 },
        { { { 7, 7, 7 }, { 1, 2, 1 } }, { { 1, 1, 1 }, { 7, 7, 7 } }, 0, 0, 0 },
        { { { 1, 1, 1 }, { 1, 1, 1 } }, { { 2, 2, 2 }, { 4, 4, 4 } }, 2, 1, 4 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int side = 0; side < 2; side++) {
            make_ranks(f, side, 1, 2, 0, 3);
            for (size_t rank = 0; rank < 2; rank++)
                add_to(f, shard_of(f, side, 0, rank), TG_KIND_OP, "x", "",
                       side ? rows[i].test[rank] : rows[i].base[rank], 100);
        }
        compare(f);
        const struct tg_rank_shift *shift = find(f, "x")->shift;
        assert_int_equal(shift ? shift->n : 0, rows[i].n);
        if (!shift)
            continue;
        assert_int_equal(shift->rank, 1);
        near(shift->count[TG_BASE], rows[i].from);
        near(shift->count[TG_TEST], rows[i].to);
    }
}

/* ---- traces without step markers: the ratio of iterations that most counts share ---- */

/* Twelve iterations against ten without markers: what scales along is the same. */
BY_HAND(counts_of_more_iterations)
{
    make(f, 1, 1, 1);
    for (int side = 0; side < 2; side++)
        shard(f, side, 0)->marked = false;
    static const char *const name[] = { "a", "b", "c" };
    for (int i = 0; i < 3; i++)
        add_both(f, TG_KIND_OP, name[i], "", 10, 101, 12, 101);
    add_both(f, TG_KIND_OP, "more", "", 10, 101, 24, 101);
    add_same(f, TG_KIND_OP, "once", "", 3, 101);
    compare(f);
    near(f->c.iteration_ratio, 1.2);
    assert_int_equal(find(f, "a")->change, TG_SAME);
    assert_int_equal(find(f, "more")->change, TG_MORE);
    assert_int_equal(find(f, "once")->change, TG_SAME);
    assert_true(find(f, "a")->count[TG_TEST] == 10 && find(f, "more")->count[TG_TEST] == 20);
    near(find(f, "more")->total[TG_TEST], find(f, "more")->total[TG_BASE] * 2);
    near(find(f, "a")->self[TG_TEST], find(f, "a")->self[TG_BASE]);
    near(find(f, "once")->self[TG_TEST], find(f, "once")->self[TG_BASE]);
    near(tg_op_iterations(&f->c, find(f, "a"), TG_TEST), 1.2);
    near(tg_op_iterations(&f->c, find(f, "a"), TG_BASE), 1);
    near(tg_op_iterations(&f->c, find(f, "once"), TG_TEST), 1);
}

/* Whole numbers of calls stay whole, whatever the ratio: 7 for 3 of a name, 14 for 6 of another. */
BY_HAND(calls_stay_whole)
{
    for (int each = 1; each < 50; each++) {
        assert_true(tg_calls_over(7 * each, 7.0 / 3) == 3 * each);
        assert_true(tg_calls_over(11 * each, 11.0 / 49) == 49 * each);
    }
    assert_true(tg_calls_over(5, 2) == 2.5);
    (void)f;
}

/* Of five names `scaled` have 12 calls after 10; three of five, 60 %, are enough. */
BY_HAND(most_names_must_share_the_ratio)
{
    static const char *const name[] = { "a", "b", "c", "d", "e" };
    for (int scaled = 2; scaled <= 3; scaled++) {
        make(f, 1, 1, 1);
        for (int side = 0; side < 2; side++)
            shard(f, side, 0)->marked = false;
        for (int i = 0; i < 5; i++)
            add_both(f, TG_KIND_OP, name[i], "", 10, 101, i < scaled ? 12 : 20 + (uint32_t)i, 101);
        compare(f);
        near(f->c.iteration_ratio, scaled == 3 ? 1.2 : 1);
        assert_int_equal(find(f, "a")->change, scaled == 3 ? TG_SAME : TG_MORE);
        assert_int_equal(find(f, "a")->iteration_scaled, scaled == 3);
        assert_int_equal(find(f, "e")->change, TG_MORE);
    }
}

/* Names that ran once before and after did not scale: they are fewer by that measure. With markers
 * on a side nothing is scaled. */
BY_HAND(a_marked_side_is_not_scaled)
{
    make(f, 1, 1, 1);
    shard(f, TG_BASE, 0)->marked = false;
    add_both(f, TG_KIND_OP, "a", "", 10, 101, 12, 101);
    compare(f);
    near(f->c.iteration_ratio, 1);
    assert_int_equal(find(f, "a")->change, TG_MORE);
}
