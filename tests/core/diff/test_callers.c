/* What a call of the runtime takes inside each of its callers (callers.c). */
#include "by_hand.h"

static const struct tg_in_caller *in(const struct tg_op *op, const char *caller)
{
    for (size_t i = 0; i < op->n_callers; i++)
        if (tg_sv_eq(op->callers[i].in, tg_sv_of(caller)))
            return &op->callers[i];
    fail_msg("%.*s has no caller %s", TG_SV_ARG(op->name), caller);
    return NULL;
}

/* One call in each of two steps; 1 us more from run to run. */
static void waits(struct fixture *f, int side, const char *caller, tg_ns ns)
{
    for (size_t run = 0; run < 3; run++)
        add_row(f, side, run, TG_KIND_SYNC, "cudaStreamSynchronize", caller, 1,
                ns + 1000 * (tg_ns)run);
}

/* In all 50 us as before: the one waits 30 us more, the other less. */
BY_HAND(a_wait_moves_from_caller_to_caller)
{
    const struct tg_op *op;
    make(f, 3, 3, 2);
    waits(f, TG_BASE, "aten::item", 10001);
    waits(f, TG_BASE, "aten::copy_", 40001);
    waits(f, TG_TEST, "aten::item", 40001);
    waits(f, TG_TEST, "aten::copy_", 10001);
    compare(f);
    op = find(f, "cudaStreamSynchronize");
    near(op->self[TG_TEST], op->self[TG_BASE]);
    assert_int_equal(op->n_callers, 2);
    assert_sv_equal(op->callers[0].in, TG_SV("aten::item")); /* what rose most */
    near(in(op, "aten::item")->self[TG_BASE], 11001);
    near(in(op, "aten::item")->self[TG_TEST], 41001);
    near(in(op, "aten::item")->least[TG_TEST], 40001);
    near(in(op, "aten::item")->most[TG_TEST], 42001);
    near(in(op, "aten::copy_")->self[TG_TEST], 11001);
}

/* The calls that a new operator makes; of one that is called as often nobody asks,
 * and it is not split. */
BY_HAND(calls_that_came)
{
    make(f, 3, 3, 2);
    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < 3; run++) {
            add_row(f, side, run, TG_KIND_RUNTIME, "cudaLaunchKernel", "aten::mm", 2, 4001);
            add_row(f, side, run, TG_KIND_RUNTIME, "cudaMemsetAsync", "aten::mm", 1, 4001);
            if (side == TG_TEST)
                add_row(f, side, run, TG_KIND_RUNTIME, "cudaLaunchKernel", "aten::clone", 1, 5001);
        }
    compare(f);
    near(in(find(f, "cudaLaunchKernel"), "aten::mm")->self[TG_TEST], 8002);
    near(in(find(f, "cudaLaunchKernel"), "aten::clone")->self[TG_BASE], 0);
    near(in(find(f, "cudaLaunchKernel"), "aten::clone")->self[TG_TEST], 5001);
    assert_int_equal(find(f, "cudaMemsetAsync")->n_callers, 0);
}
