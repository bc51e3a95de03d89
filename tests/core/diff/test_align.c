/* The step that shares are of, whether the benchmark ran at all, and frames that a side lacks. */
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
            shard(f, side, 0)->metrics[TG_METRIC_DEVICE_EXTENT * 2 + j] =
                (struct tg_metric_value){ true, 160000, 2 };
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
    h->frames = &h->rows[--h->n_rows];
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
