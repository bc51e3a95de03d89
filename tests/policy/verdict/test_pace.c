/* Who sets the pace of a step (pace.c), over steps of 800 us; where the host waits longer, and
 * whether the step is longer by it. */
#include "by_hand.h"
#include "policy/verdict/pace.h"

static enum tg_pace_maker pace(struct hand *h, double busy_us, double waits_us)
{
    struct tg_op *ops = TG_NEW_N(h->a, struct tg_op, 2);
    ops[0] = hand_op("kernel", TG_KIND_KERNEL);
    ops[1] = hand_op("cudaStreamSynchronize", TG_KIND_SYNC);
    ops[1].wait = true;
    ops[1].self[TG_TEST] = 1000 * waits_us;
    hand_ops(h, ops, 2);
    h->c.metrics[TG_METRIC_STEP_TIME].known[TG_TEST] = true;
    h->c.metrics[TG_METRIC_STEP_TIME].value[TG_TEST] = 800000;
    h->c.metrics[TG_METRIC_GPU_BUSY].known[TG_TEST] = true;
    h->c.metrics[TG_METRIC_GPU_BUSY].value[TG_TEST] = 1000 * busy_us;
    return tg_pace_of(&h->c);
}

WITH_HAND(the_one_that_works_longer_sets_the_pace)
{
    assert_int_equal(pace(h, 100, 0), TG_PACE_HOST);
    assert_int_equal(pace(h, 500, 500), TG_PACE_DEVICE);
    assert_int_equal(pace(h, 500, 299), TG_PACE_HOST);
    assert_int_equal(pace(h, 500, 300), TG_PACE_DEVICE);
    assert_int_equal(pace(h, 599, 0), TG_PACE_HOST);
    assert_int_equal(pace(h, 601, 0), TG_PACE_DEVICE); /* more than three quarters */
    assert_int_equal(pace(h, 900, 900), TG_PACE_DEVICE);
}

WITH_HAND(what_is_not_known)
{
    (void)pace(h, 100, 0);
    h->c.metrics[TG_METRIC_GPU_BUSY].known[TG_TEST] = false;
    assert_int_equal(tg_pace_of(&h->c), TG_PACE_DEVICE);
    h->c.n_ops = 0; /* no device */
    assert_int_equal(tg_pace_of(&h->c), TG_PACE_HOST);
}

/* aten::_local_scalar_dense is all that aten::item calls; aten::copy_ is by itself. Times in ns. */
static void waits(struct hand *h, double item[2], double copy[2], double busy_more)
{
    struct tg_op *ops = TG_NEW_N(h->a, struct tg_op, 4);
    struct tg_in_caller *in = TG_NEW_N(h->a, struct tg_in_caller, 2);
    ops[0] = hand_op("aten::item", TG_KIND_OP);
    ops[1] = hand_op("aten::_local_scalar_dense", TG_KIND_OP);
    ops[1].parent = TG_SV("aten::item");
    ops[2] = hand_op("aten::copy_", TG_KIND_OP);
    ops[3] = hand_op("cudaStreamSynchronize", TG_KIND_SYNC);
    ops[3].wait = true;
    in[0].in = ops[1].name;
    in[1].in = ops[2].name;
    for (int side = 0; side < 2; side++) {
        in[0].self[side] = in[0].least[side] = in[0].most[side] = item[side];
        in[1].self[side] = in[1].least[side] = in[1].most[side] = copy[side];
        h->c.metrics[TG_METRIC_GPU_BUSY].known[side] = true;
        h->c.metrics[TG_METRIC_GPU_BUSY].value[side] = 500000 + side * busy_more;
    }
    ops[3].callers = in;
    ops[3].n_callers = 2;
    hand_ops(h, ops, 4);
}

WITH_HAND(a_wait_that_comes_earlier)
{
    struct tg_pace_waits x;
    waits(h, (double[]){ 5000, 905000 }, (double[]){ 800000, 3000 }, 0);
    x = tg_pace_waits_of(&h->c);
    assert_ptr_equal(x.longer.call, &h->c.ops[3]);
    hand_text(x.longer.in, "aten::item"); /* the name that a program has */
    assert_true(x.longer.ns == 900000);
    hand_text(x.shorter.in, "aten::copy_");
    assert_true(x.shorter.ns == -797000);
    assert_non_null(tg_pace_wait_behind(&h->c, 900000).call);
    assert_non_null(tg_pace_wait_behind(&h->c, 1799000).call);
    assert_null(tg_pace_wait_behind(&h->c, 1801000).call); /* less than half of it */
    assert_null(tg_pace_wait_behind(&h->c, 0).call);
}

/* The host waits longer because the device works longer: that is the finding. */
WITH_HAND(a_wait_for_more_work)
{
    waits(h, (double[]){ 5000, 905000 }, (double[]){ 3000, 3000 }, 450000);
    assert_null(tg_pace_wait_behind(&h->c, 900000).call);
    waits(h, (double[]){ 5000, 905000 }, (double[]){ 3000, 3000 }, 449000);
    assert_non_null(tg_pace_wait_behind(&h->c, 900000).call);
    h->c.metrics[TG_METRIC_GPU_BUSY].known[TG_BASE] = false;
    assert_null(tg_pace_wait_behind(&h->c, 900000).call);
}

/* A fresh run waits there no longer than a run of the baseline. */
WITH_HAND(a_wait_that_varies)
{
    waits(h, (double[]){ 5000, 905000 }, (double[]){ 3000, 3000 }, 0);
    ((struct tg_in_caller *)(uintptr_t)h->c.ops[3].callers)[0].least[TG_TEST] = 4000;
    assert_null(tg_pace_wait_behind(&h->c, 900000).call);
}
