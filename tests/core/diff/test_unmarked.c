/* Traces without step markers: the ratio of iterations that most counts share (unmarked.c). */
#include "by_hand.h"

/* Twelve iterations against ten without markers: what scales along is the same. */
BY_HAND(counts_of_more_iterations)
{
    make(f, 1, 1, 1);
    for (int side = 0; side < 2; side++)
        shard(f, side, 0)->marked = false;
    static const char *const name[] = { "a", "b", "c" };
    for (int i = 0; i < 3; i++) {
        add_all(f, TG_BASE, TG_KIND_OP, name[i], "", 10, 101);
        add_all(f, TG_TEST, TG_KIND_OP, name[i], "", 12, 101);
    }
    for (int side = 0; side < 2; side++) {
        add_all(f, side, TG_KIND_OP, "more", "", side ? 24 : 10, 101);
        add_all(f, side, TG_KIND_OP, "once", "", 3, 101);
    }
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
        for (int i = 0; i < 5; i++) {
            add_all(f, TG_BASE, TG_KIND_OP, name[i], "", 10, 101);
            add_all(f, TG_TEST, TG_KIND_OP, name[i], "", i < scaled ? 12 : 20 + (uint32_t)i, 101);
        }
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
    add_all(f, TG_BASE, TG_KIND_OP, "a", "", 10, 101);
    add_all(f, TG_TEST, TG_KIND_OP, "a", "", 12, 101);
    compare(f);
    near(f->c.iteration_ratio, 1);
    assert_int_equal(find(f, "a")->change, TG_MORE);
}
