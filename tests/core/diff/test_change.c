/* How the calls of an operator changed (align.c): what the rule of counts is asked,
 * and of traces. */
#include "by_hand.h"

BY_HAND(by_step)
{
    static const struct {
        uint32_t base[3], test[3];
        enum tg_change change;
        double count[2];
    } cases[] = {
        { { 2, 2, 2 }, { 2, 2, 2 }, TG_SAME, { 2, 2 } },
        { { 2, 2, 2 }, { 3, 3, 3 }, TG_MORE, { 2, 3 } },
        { { 3, 3, 3 }, { 2, 2, 2 }, TG_FEWER, { 3, 2 } },
        { { 0, 0, 0 }, { 1, 1, 1 }, TG_ADDED, { 0, 1 } },
        { { 1, 1, 1 }, { 0, 0, 0 }, TG_REMOVED, { 1, 0 } },
        { { 0, 1, 2 }, { 0, 1, 2 }, TG_SAME, { 2, 2 } }, /* the largest of equally frequent ones */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct tg_op *op;
        make(f, 2, 2, 3);
        for (int side = 0; side < 2; side++)
            for (size_t run = 0; run < 2; run++)
                add_counts(f, side, run, TG_KIND_OP, "x", "",
                           side == TG_BASE ? cases[i].base : cases[i].test, 101);
        compare(f);
        op = find(f, "x");
        if (op->change != cases[i].change)
            fail_msg("row %zu: %d", i, (int)op->change);
        near(op->count[TG_BASE], cases[i].count[TG_BASE]);
        near(op->count[TG_TEST], cases[i].count[TG_TEST]);
    }
}

/*
 * "x" in some of five steps of each run. At most three of them but for the first: the number of
 * steps alone proves nothing, at C(12, 3) / C(24, 3) = 11 %.
 * What a run has only in its first step may be cold.
 */
BY_HAND(in_some_steps)
{
    static const struct {
        size_t runs;
        uint32_t base[3][5], test[3][5];
        enum tg_change change;
    } cases[] = {
        { 3, { { 0 } }, { { 0, 1 }, { 0, 0, 2 }, { 0, 0, 0, 0, 1 } }, TG_ADDED },
        { 2,
          { { 0 } },
          { { 0, 1 }, { 0, 0, 2 }, { 0, 0, 0, 0, 1 } },
          TG_SAME },                                                  /* two runs a side */
        { 3, { { 0 } }, { { 0, 1 }, { 0, 0, 1 }, { 0 } }, TG_SAME },  /* two of three */
        { 3, { { 0 } }, { { 0, 1 }, { 1 }, { 0, 0, 1 } }, TG_ADDED }, /* one of them at first */
        { 3, { { 0 } }, { { 0, 1 }, { 1 }, { 1 } }, TG_SAME },
        { 3, { { 0 } }, { { 1, 1 }, { 1, 0, 1 }, { 1 } }, TG_SAME }, /* all of them are cold */
        { 3, { { 0 } }, { { 1, 1 }, { 1, 0, 1 }, { 1, 1 } }, TG_ADDED },
        { 3, { { 0 } }, { { 1 }, { 1 }, { 1 } }, TG_SAME },
        { 3, { { 0 }, { 1 } }, { { 0, 1 }, { 0, 1 }, { 0, 1 } }, TG_SAME }, /* a cold one had it */
        { 3,
          { { 1, 1, 1, 1, 1 }, { 1, 1, 1, 1, 1 }, { 1, 1, 1, 1, 1 } },
          { { 1, 2, 1, 1, 1 }, { 1, 1, 2, 1, 1 }, { 1, 2, 1, 1, 1 } },
          TG_SAME }, /* not a new name */
        { 3, { { 0, 1 }, { 0, 0, 2 }, { 0, 0, 0, 0, 1 } }, { { 0 } }, TG_REMOVED },
        { 3, { { 0, 1 }, { 0, 0, 2 }, { 0 } }, { { 0 } }, TG_SAME },
        { 2, { { 0, 1 }, { 0, 0, 2 } }, { { 0 } }, TG_SAME },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make(f, cases[i].runs, cases[i].runs, 5);
        for (int side = 0; side < 2; side++)
            for (size_t run = 0; run < cases[i].runs; run++)
                add_counts(f, side, run, TG_KIND_OP, "x", "",
                           side == TG_BASE ? cases[i].base[run] : cases[i].test[run], 101);
        compare(f);
        if (find(f, "x")->change != cases[i].change)
            fail_msg("row %zu: %d", i, (int)find(f, "x")->change);
    }
}

/* The other side has fewer than three runs: three with the name against two without,
 * and the reverse. */
BY_HAND(few_runs_of_the_other_side)
{
    static const uint32_t part[] = { 0, 1, 0, 0, 0 }, none[5];
    for (int with = 0; with < 2; with++) {
        make_side(f, with, 3, 5);
        make_side(f, !with, 2, 5);
        for (int side = 0; side < 2; side++)
            for (size_t run = 0; run < f->side[side].n_runs; run++)
                add_counts(f, side, run, TG_KIND_OP, "x", "", side == with ? part : none, 101);
        compare(f);
        assert_int_equal(find(f, "x")->change, TG_SAME);
    }
}

/*
 * Traces without steps: one number a run. Runs that agree are exact; else all of a side must be
 * beyond the other, and the medians a tenth apart. Three others keep their counts, so that no ratio
 * of iterations explains it.
 */
BY_HAND(by_trace)
{
    static const struct {
        uint32_t base[3], test[3];
        enum tg_change change;
    } cases[] = {
        { { 10, 10, 10 }, { 11, 11, 11 }, TG_MORE },
        { { 10, 10, 10 }, { 9, 9, 9 }, TG_FEWER },
        { { 10, 11, 12 }, { 12, 13, 14 }, TG_SAME }, /* 12 is on both sides */
        { { 10, 11, 12 }, { 13, 13, 14 }, TG_MORE },
        { { 100, 101, 102 }, { 105, 106, 107 }, TG_SAME }, /* 5 % */
        { { 100, 101, 102 }, { 112, 113, 114 }, TG_MORE }, /* 12 % */
        { { 0, 0, 0 }, { 1, 1, 1 }, TG_ADDED },
        { { 3, 4, 3 }, { 0, 0, 0 }, TG_REMOVED },
    };
    static const char *const others[] = { "a", "b", "c" };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make(f, 3, 3, 1);
        for (int side = 0; side < 2; side++)
            for (size_t run = 0; run < 3; run++) {
                uint32_t n = side == TG_BASE ? cases[i].base[run] : cases[i].test[run];
                shard(f, side, run)->marked = false;
                for (int k = 0; k < 3; k++)
                    add_row(f, side, run, TG_KIND_OP, others[k], "", 10, 101);
                add_row(f, side, run, TG_KIND_OP, "x", "", n, 101);
            }
        compare(f);
        if (find(f, "x")->change != cases[i].change)
            fail_msg("row %zu: %d", i, (int)find(f, "x")->change);
    }
}
