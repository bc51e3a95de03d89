/* Bytes of copies, sets and collectives (bytes.c). */
#include "by_hand.h"

enum { STEPS = 4 };

/* One copy a step of so many bytes; `of_step` has one for each. */
static void copy_of(struct fixture *f, int side, size_t run, const char *const of_step[STEPS])
{
    static const uint32_t once[STEPS] = { 1, 1, 1, 1 };
    struct tg_row *r = add_counts(f, side, run, TG_KIND_MEMCPY, "x", "", once, 5001);
    for (size_t j = 0; j < STEPS; j++)
        add_attr(f, r, TG_ATTR_KIND_BYTES, of_step[j], 1);
}

static void start(struct fixture *f, size_t runs)
{
    make(f, runs, runs, STEPS);
}

/* Two copies a step: of 1000 and 500 bytes, that is 1500; then those of one copy are not known. */
BY_HAND(bytes_are_summed_where_all_are_known)
{
    static const uint32_t twice[STEPS] = { 2, 2, 2, 2 };
    start(f, 1);
    struct tg_row *base = add_counts(f, TG_BASE, 0, TG_KIND_MEMCPY, "x", "", twice, 5001);
    add_attr(f, base, TG_ATTR_KIND_BYTES, "1000", STEPS);
    add_attr(f, base, TG_ATTR_KIND_BYTES, "500", STEPS);
    add_attr(f, add_counts(f, TG_TEST, 0, TG_KIND_MEMCPY, "x", "", twice, 5001), TG_ATTR_KIND_BYTES,
             "1000", STEPS);
    compare(f);
    near(find(f, "x")->bytes[TG_BASE], 1500);
    assert_true(find(f, "x")->bytes_known[TG_BASE]);
    assert_false(find(f, "x")->bytes_known[TG_TEST]);
}

/* Sizes by step on both sides, and what they prove. */
BY_HAND(sizes_are_judged_as_calls_are)
{
    static const struct {
        const char *base[STEPS], *test[STEPS];
        enum tg_count_proof want;
    } cases[] = {
        { { "8", "8", "8", "8" }, { "8", "8", "8", "8" }, TG_COUNT_UNCHANGED },
        { { "8", "8", "8", "8" }, { "9", "9", "9", "9" }, TG_COUNT_PROVEN },
        { { "9", "9", "9", "9" }, { "8", "8", "8", "8" }, TG_COUNT_UNCHANGED },
        /* of the same data in another order, and of twice as much and more */
        { { "8", "9", "7", "6" }, { "9", "7", "9", "8" }, TG_COUNT_UNCHANGED },
        { { "8", "9", "7", "6" }, { "16", "17", "18", "19" }, TG_COUNT_HINT },
        { { "8", "9", "7", "6" }, { "20", "21", "22", "23" }, TG_COUNT_PROVEN },
        /* a steady baseline, and more in some steps */
        { { "8", "8", "8", "8" }, { "8", "9", "8", "9" }, TG_COUNT_HINT },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start(f, 2);
        for (size_t run = 0; run < 2; run++) {
            copy_of(f, TG_BASE, run, cases[i].base);
            copy_of(f, TG_TEST, run, cases[i].test);
        }
        compare(f);
        if (find(f, "x")->moved.proof != cases[i].want)
            fail_msg("case %zu: %d", i, (int)find(f, "x")->moved.proof);
    }
}

/* A cold first step copies more, in one side's sizes and in the other's:
 * no step is above another. */
BY_HAND(a_cold_first_step_drops_out)
{
    static const uint32_t cold[STEPS] = { 3, 1, 1, 1 };
    for (int more = 0; more < 2; more++) {
        start(f, 1);
        for (int side = 0; side < 2; side++) {
            struct tg_row *r = add_counts(f, side, 0, TG_KIND_MEMCPY, "x", "", cold, 5001);
            add_attr(f, r, TG_ATTR_KIND_BYTES, side && more ? "9" : "8", STEPS);
            add_attr(f, r, TG_ATTR_KIND_BYTES, "100000", 2);
        }
        compare(f);
        near(find(f, "x")->bytes[TG_TEST], more ? 9 : 8);
        assert_int_equal(find(f, "x")->moved.proof, more ? TG_COUNT_PROVEN : TG_COUNT_UNCHANGED);
    }
}

/* Elements times the width of their type: 2000 in, 8000 out, of 2 bytes;
 * of an unknown type nothing. */
BY_HAND(collectives_tell_elements)
{
    static const uint32_t once[STEPS] = { 1, 1, 1, 1 };
    static const char *const name = "ncclDevKernel_AllGather(x)";
    start(f, 1);
    add_attr(f, add_counts(f, TG_BASE, 0, TG_KIND_KERNEL, name, "", once, 5001),
             TG_ATTR_KIND_COLLECTIVE,
             "collective=\"allgather\"\ndtype=\"Half\"\nnelems_in=2000\nnelems_out=8000", STEPS);
    add_attr(f, add_counts(f, TG_TEST, 0, TG_KIND_KERNEL, name, "", once, 5001),
             TG_ATTR_KIND_COLLECTIVE,
             "collective=\"allgather\"\ndtype=\"Odd\"\nnelems_in=2000\nnelems_out=8000", STEPS);
    compare(f);
    near(f->c.ops[0].bytes[TG_BASE], 16000);
    assert_true(f->c.ops[0].bytes_known[TG_BASE]);
    assert_false(f->c.ops[0].bytes_known[TG_TEST]);
}

/* A copy a step on each of two ranks: [side][rank][step],
 * and the rank that has more than before. */
BY_HAND(the_same_bytes_on_other_ranks)
{
    static const struct {
        const char *of[2][2][STEPS];
        bool shifted;
    } cases[] = {
        { { { { "8", "8", "8", "8" }, { "8", "8", "8", "8" } },
            { { "4", "4", "4", "4" }, { "12", "12", "12", "12" } } },
          true },
        { { { { "4", "4", "4", "4" }, { "8", "8", "8", "8" } },
            { { "4", "4", "4", "4" }, { "8", "8", "8", "8" } } },
          false },
        { { { { "4", "4", "4", "4" }, { "8", "8", "8", "8" } },
            { { "4", "4", "4", "4" }, { "8", "12", "4", "8" } } },
          false }, /* they follow the data */
        { { { { "9", "9", "9", "9" }, { "8", "8", "8", "8" } },
            { { "5", "5", "5", "5" }, { "12", "12", "12", "12" } } },
          true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static const uint32_t once[STEPS] = { 1, 1, 1, 1 };
        for (int side = 0; side < 2; side++) {
            make_ranks(f, side, 1, 2, 0, STEPS);
            for (size_t rank = 0; rank < 2; rank++) {
                struct tg_row *r =
                    add_to(f, shard_of(f, side, 0, rank), TG_KIND_MEMCPY, "x", "", once, 100);
                for (size_t j = 0; j < STEPS; j++)
                    add_attr(f, r, TG_ATTR_KIND_BYTES, cases[i].of[side][rank][j], 1);
            }
        }
        compare(f);
        const struct tg_rank_shift *shift = find(f, "x")->bytes_shift;
        assert_int_equal(shift != NULL, cases[i].shifted);
        if (!shift)
            continue;
        assert_int_equal(shift->rank, 1);
        near(shift->count[TG_BASE], 8);
        near(shift->count[TG_TEST], 12);
    }
}
