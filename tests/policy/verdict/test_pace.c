/* Who sets the pace of a step (pace.c), over steps of 800 us. */
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
