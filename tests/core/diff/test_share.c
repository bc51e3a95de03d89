/* How long a step is, and what part of it an operator takes. Steps of the fixture take 1 ms. */
#include "by_hand.h"

/* Two steps in each of three runs a side, in which "x" takes these times;
 * a run's is its number more. */
static struct tg_op *compared(struct fixture *f, tg_ns base, tg_ns test)
{
    make(f, 3, 3, 2);
    for (size_t run = 0; run < 3; run++) {
        add_row(f, TG_BASE, run, TG_KIND_OP, "x", "", 1, base + (tg_ns)(2 * run));
        add_row(f, TG_TEST, run, TG_KIND_OP, "x", "", 1, test + (tg_ns)(2 * run));
    }
    compare(f);
    return (struct tg_op *)(uintptr_t)find(f, "x");
}

/* In percent of the mean step, one value a run: medians 10.0003 and 25.0003. */
BY_HAND(evidence_in_percent)
{
    struct tg_evidence ev = { 0 };
    assert_true(tg_op_share_evidence(compared(f, 100001, 250001), &ev));
    near(ev.value[TG_BASE], 10.0003);
    near(ev.value[TG_TEST], 25.0003);
    near(ev.delta_ns, 15);
    assert_int_equal(ev.why_not, TG_JUDGED);
}

/* A new name takes as much of the step as the two that it replaced: 10 %. */
BY_HAND(with_what_was_replaced)
{
    static const struct {
        tg_ns new_ns;
        double share;
    } rows[] = { { 100000, 10 }, { 300000, 30 } };
    struct tg_evidence ev;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make(f, 3, 3, 4);
        for (int side = 0; side < 2; side++)
            add_all(f, side, TG_KIND_KERNEL, "other", "", 1, 500000);
        add_all(f, TG_BASE, TG_KIND_KERNEL, "old", "", 2, 50000);
        add_all(f, TG_TEST, TG_KIND_KERNEL, "new", "", 1, rows[i].new_ns);
        compare(f);
        assert_true(tg_op_share_evidence(find(f, "new"), &ev));
        near(ev.value[TG_BASE], 10);
        near(ev.value[TG_TEST], rows[i].share);
        assert_int_equal(ev.proven, rows[i].share > 10);
    }
}

/* Calls that differ between the sides: its time is not judged, nor is its part of the step. */
BY_HAND(without_a_time_no_part)
{
    struct tg_evidence ev = { 0 };
    struct tg_op *op = compared(f, 100001, 250001);
    op->rows = NULL;
    assert_false(tg_op_share_evidence(op, &ev));
}
