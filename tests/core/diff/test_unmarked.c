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
