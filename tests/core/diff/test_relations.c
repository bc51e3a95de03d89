/*
 * Counts that vary together (relations.c). In every test aten::index is 3 n, aten::mm 4 n + 1 and
 * aten::copy_ 2 n + 37 of a number n that varies by step; the fresh side has the same n in another
 * order of runs. A change of one call lies well inside what varies: only the relation can show it.
 */
#include "by_hand.h"

enum { RUNS = 3 };

/* What the fresh side does otherwise. */
struct change {
    size_t members;  /* of the three operators above */
    size_t steps;    /* of each run */
    int more[3];     /* calls beyond the relation in each fresh step: copy_, index, mm */
    bool first_only; /* in the first step of each run alone */
};

static void follow(struct fixture *f, struct change how)
{
    static const char *const name[] = { "aten::copy_", "aten::index", "aten::mm" };
    static const uint32_t times[] = { 2, 3, 4 }, plus[] = { 37, 0, 1 };
    static const uint32_t n[RUNS][5] = { { 2, 3, 4, 2, 3 }, { 3, 4, 2, 3, 2 }, { 4, 2, 3, 4, 3 } };

    f->c = (struct tg_comparison){ 0 };
    make(f, RUNS, RUNS, how.steps);
    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < RUNS; run++)
            for (size_t k = 0; k < how.members; k++) {
                uint32_t count[5];
                for (size_t j = 0; j < how.steps; j++) {
                    int more = side && (j == 0 || !how.first_only) ? how.more[k] : 0;
                    count[j] = plus[k] + times[k] * n[(run + (size_t)side) % RUNS][j];
                    count[j] = (uint32_t)((int)count[j] + more);
                }
                add_counts(f, side, run, TG_KIND_OP, name[k], "", count, 1001);
            }
    compare(f);
}

static bool breaks(struct fixture *f, const char *name)
{
    return find(f, name)->counted.shape == TG_COUNT_BREAKS;
}

/*
 * n without the first steps: 3 4 2 3, 4 2 3 2, 2 3 4 3, on average 35 / 12. So 37 + 70 / 12 calls of
 * aten::copy_ are due in a step, and there is one more.
 */
BY_HAND(one_call_beyond_the_relation_is_told)
{
    follow(f, (struct change){ 3, 5, { 1, 0, 0 }, false });
    const struct tg_op *copy = find(f, "aten::copy_");
    assert_true(breaks(f, "aten::copy_"));
    assert_int_equal(copy->change, TG_MORE);
    near(copy->count[TG_BASE], 37 + 70.0 / 12);
    near(copy->count[TG_TEST], 38 + 70.0 / 12);
    assert_true(tg_sv_eq(copy->counted.with, TG_SV("aten::index")) ||
                tg_sv_eq(copy->counted.with, TG_SV("aten::mm")));
    assert_false(breaks(f, "aten::index") || breaks(f, "aten::mm"));
}

BY_HAND(one_call_less_is_told_as_fewer)
{
    follow(f, (struct change){ 3, 5, { -1, 0, 0 }, false });
    assert_true(breaks(f, "aten::copy_"));
    assert_int_equal(find(f, "aten::copy_")->change, TG_FEWER);
    near(find(f, "aten::copy_")->count[TG_TEST], 36 + 70.0 / 12);
}

BY_HAND(what_keeps_the_relation_is_unchanged)
{
    follow(f, (struct change){ 3, 5, { 0, 0, 0 }, false });
    for (size_t i = 0; i < f->c.n_ops; i++) {
        assert_int_equal(f->c.ops[i].counted.shape, TG_COUNT_VARIES);
        assert_int_equal(f->c.ops[i].change, TG_SAME);
    }
}

/* Of two operators that no longer agree nobody knows which one changed. */
BY_HAND(two_operators_are_no_group)
{
    follow(f, (struct change){ 2, 5, { 1, 0, 0 }, false });
    assert_false(breaks(f, "aten::copy_") || breaks(f, "aten::index"));
    assert_int_equal(find(f, "aten::copy_")->change, TG_SAME);
}

/* One call more of each of three puts n 1 / 2, 1 / 3 and 1 / 4 higher: no two of them agree. */
BY_HAND(without_a_majority_nothing_is_told)
{
    follow(f, (struct change){ 3, 5, { 1, 1, 1 }, false });
    assert_false(breaks(f, "aten::copy_") || breaks(f, "aten::index") || breaks(f, "aten::mm"));
    follow(f, (struct change){ 3, 5, { 2, 3, 0 }, false }); /* both by 1: aten::mm is the odd one */
    assert_true(breaks(f, "aten::mm"));
    assert_int_equal(find(f, "aten::mm")->change, TG_FEWER);
    assert_false(breaks(f, "aten::copy_") || breaks(f, "aten::index"));
}

/* Three runs of five steps tell by 12 of them, since the first is left out; of four by 9. */
BY_HAND(few_steps_relate_by_chance)
{
    follow(f, (struct change){ 3, 4, { 1, 0, 0 }, false });
    assert_false(breaks(f, "aten::copy_"));
}

BY_HAND(a_cold_first_step_breaks_nothing)
{
    follow(f, (struct change){ 3, 5, { 1, 0, 0 }, true });
    assert_false(breaks(f, "aten::copy_"));
}
