/* Operators that run with gradients enabled (account.c): 4 steps of 10 calls in two runs. */
#include "by_hand.h"

static bool enabled(struct fixture *f, const uint64_t graded[2], uint32_t calls)
{
    f->c = (struct tg_comparison){ 0 };
    make(f, 2, 2, 4);
    for (int side = 0; side < 2; side++) {
        add_all(f, side, TG_KIND_OP, "a", "", side ? calls : 10, 101);
        for (size_t run = 0; run < 2; run++)
            shard(f, side, run)->graded = graded[side];
    }
    compare(f);
    return f->c.gradients;
}

BY_HAND(gradients_that_were_not_enabled)
{
    assert_true(enabled(f, (const uint64_t[]){ 1, 41 }, 10));
    near(f->c.graded[TG_BASE], 0);
    near(f->c.graded[TG_TEST], 1);
    assert_true(enabled(f, (const uint64_t[]){ 1, 41 }, 12)); /* whatever else changed */
    assert_true(enabled(f, (const uint64_t[]){ 1, 3 }, 10));  /* 2 of 40 */
    assert_false(enabled(f, (const uint64_t[]){ 1, 2 }, 10));
    assert_false(enabled(f, (const uint64_t[]){ 1, 1 }, 10));
    assert_false(enabled(f, (const uint64_t[]){ 41, 1 }, 10)); /* no longer */
}

/* A part of them: where the calls are the same. Recordings of 0.2.0 do not tell. */
BY_HAND(gradients_of_a_part)
{
    assert_true(enabled(f, (const uint64_t[]){ 21, 41 }, 10));
    assert_false(enabled(f, (const uint64_t[]){ 21, 41 }, 12));
    assert_false(enabled(f, (const uint64_t[]){ 21, 22 }, 10));
    assert_false(enabled(f, (const uint64_t[]){ 0, 41 }, 10));
    assert_false(enabled(f, (const uint64_t[]){ 1, 0 }, 10));
}
