/* Who sets the pace of a step (pace.c), over steps of 800 us. */
#include "by_hand.h"
#include "policy/verdict/pace.h"

static struct tg_pace pace(struct hand *h, double busy_us, double waits_us)
{
    struct tg_op *ops = TG_NEW_N(h->a, struct tg_op, 2);

    ops[0] = hand_op("kernel", TG_KIND_KERNEL);
    ops[1] = hand_op("cudaStreamSynchronize", TG_KIND_SYNC);
    ops[1].wait = true;
    ops[1].self[TG_TEST] = 1000 * waits_us;
    h->c.ops = ops;
    h->c.n_ops = 2;
    h->c.metrics[TG_METRIC_STEP_TIME].known[TG_TEST] = true;
    h->c.metrics[TG_METRIC_STEP_TIME].value[TG_TEST] = 800000;
    h->c.metrics[TG_METRIC_GPU_BUSY].known[TG_TEST] = true;
    h->c.metrics[TG_METRIC_GPU_BUSY].value[TG_TEST] = 1000 * busy_us;
    return tg_pace_of(&h->c);
}

static void sets(struct tg_pace p, enum tg_pace_maker who, double host_idle, double device_idle)
{
    assert_int_equal(p.set_by, who);
    assert_true(p.idle[TG_PACE_HOST] == host_idle);
    assert_true(p.idle[TG_PACE_DEVICE] == device_idle);
}

WITH_HAND(the_one_that_works_longer_sets_the_pace)
{
    sets(pace(h, 100, 0), TG_PACE_HOST, 0, 700000);
    sets(pace(h, 500, 500), TG_PACE_DEVICE, 500000, 300000);
    sets(pace(h, 500, 299), TG_PACE_HOST, 299000, 300000);
    sets(pace(h, 500, 300), TG_PACE_DEVICE, 300000, 300000);
    sets(pace(h, 599, 0), TG_PACE_HOST, 0, 201000);
    sets(pace(h, 601, 0), TG_PACE_DEVICE, 0, 199000);   /* more than three quarters */
    sets(pace(h, 900, 900), TG_PACE_DEVICE, 800000, 0); /* no more than the step */
}

WITH_HAND(what_is_not_known)
{
    (void)pace(h, 100, 0);
    h->c.metrics[TG_METRIC_GPU_BUSY].known[TG_TEST] = false;
    sets(tg_pace_of(&h->c), TG_PACE_DEVICE, 0, 0);
    h->c.n_ops = 0; /* no device */
    sets(tg_pace_of(&h->c), TG_PACE_HOST, 0, 0);
}
