/* Quantiles over the single calls of an operator. */
#include "by_hand.h"

/* Two steps of five calls, 1 … 5 us and 6 … 10 us, in every run. */
static void ten_calls(struct fixture *f, size_t runs)
{
    make(f, runs, runs, 2);
    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < runs; run++) {
            struct tg_row *row = add_row(f, side, run, TG_KIND_OP, "x", "", 5, 1000);
            for (size_t k = 0; k < 10; k++)
                row->slots[k] = 1000 * (tg_ns)(k + 1);
        }
}

BY_HAND(over_all_calls_of_a_side)
{
    ten_calls(f, 2);
    compare(f);
    near(tg_op_quantile(find(f, "x"), TG_BASE, 0), 1000);
    near(tg_op_quantile(find(f, "x"), TG_BASE, 0.5), 5500);
    near(tg_op_quantile(find(f, "x"), TG_TEST, 1), 10000);
    /* Twenty values, each twice: 0.9 * 19 = 17.1, between the two nines and the two tens. */
    near(tg_op_quantile(find(f, "x"), TG_TEST, 0.9), 9000 + 0.1 * 1000);
    f->o.skip_first = 1;
    compare(f);
    near(tg_op_quantile(find(f, "x"), TG_BASE, 0), 6000);
}

BY_HAND(not_where_calls_are_not_known)
{
    struct tg_evidence ev;
    ten_calls(f, 2);
    compare(f);
    assert_true(tg_op_quantile_evidence(find(f, "x"), 0.5, &ev));
    shard(f, TG_TEST, 1)->rows[0].slots = NULL; /* dropped: only sums are stored */
    compare(f);
    assert_true(isnan(tg_op_quantile(find(f, "x"), TG_TEST, 0.5)));
    assert_true(!isnan(tg_op_quantile(find(f, "x"), TG_BASE, 0.5)));
    assert_false(tg_op_quantile_evidence(find(f, "x"), 0.5, &ev));
    make(f, 1, 1, 2);
    add_all(f, TG_BASE, TG_KIND_OP, "gone", "", 1, 1000);
    compare(f);
    assert_true(isnan(tg_op_quantile(find(f, "gone"), TG_TEST, 0.5)));
    assert_false(tg_op_quantile_evidence(find(f, "gone"), 0.5, &ev));
}

/* A call of a new name is compared with one of the name that it replaced, if there were as many: of
 * two calls that became one, each did a part of the work. */
BY_HAND(of_what_was_replaced)
{
    static const struct {
        uint32_t old_calls;
        tg_ns old_ns, new_ns;
        bool known, proven;
    } rows[] = {
        { 1, 50001, 150001, true, true },
        { 1, 50001, 50001, true, false },
        { 1, 150001, 50001, true, false },
        { 2, 50001, 150001, false, false },
    };
    struct tg_evidence ev;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        make(f, 3, 3, 4);
        for (int side = 0; side < 2; side++)
            add_all(f, side, TG_KIND_KERNEL, "other", "", 1, 500001);
        add_all(f, TG_BASE, TG_KIND_KERNEL, "old", "", rows[i].old_calls, rows[i].old_ns);
        add_all(f, TG_TEST, TG_KIND_KERNEL, "new", "", 1, rows[i].new_ns);
        compare(f);
        assert_non_null(find(f, "new")->joined);
        assert_int_equal(tg_op_quantile_evidence(find(f, "new"), 0.5, &ev), rows[i].known);
        if (rows[i].known) {
            near(ev.value[TG_BASE], (double)rows[i].old_ns);
            near(ev.value[TG_TEST], (double)rows[i].new_ns);
            assert_int_equal(ev.proven, rows[i].proven);
        }
    }
}
