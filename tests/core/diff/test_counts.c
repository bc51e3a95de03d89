/*
 * Counts by step: which differences are exact, which are chance, which are hints. A side is written
 * as its runs, a digit a step, of which a is 10;
 * expected probabilities are worked out beside each row.
 */
#include <ctype.h>

#include "by_hand.h"
#include "core/diff/internal.h"

enum { MOST_STEPS = 64, MOST_RUNS = 10, MAX_NAMES = 6 };

struct sides {
    double v[2][MOST_STEPS];
    struct tg_step_counts view[2][MOST_RUNS];
    size_t n[2]; /* runs */
};

/* All runs of a side `times` times: "111 121" are two. */
static void read_runs(struct sides *s, const char *base, const char *test, size_t times)
{
    for (int side = 0; side < 2; side++)
        for (size_t again = 0; again < times; again++) {
            tg_sv rest = tg_sv_of(side ? test : base);
            for (double *at = s->v[side]; rest.n; s->n[side]++) {
                tg_sv digits = tg_sv_cut(&rest, ' ');
                s->view[side][s->n[side]] = (struct tg_step_counts){ at, digits.n };
                for (size_t j = 0; j < digits.n; j++)
                    *at++ = isdigit(digits.p[j]) ? digits.p[j] - '0' : digits.p[j] - 'a' + 10;
            }
        }
}

static struct tg_count_evidence judge(const char *base, const char *test, size_t times, bool waits)
{
    struct sides s = { 0 };
    struct tg_count_evidence ev;
    read_runs(&s, base, test, times);
    tg_count_judge(&ev, (const struct tg_step_counts *const[2]){ s.view[0], s.view[1] }, s.n,
                   waits);
    return ev;
}

enum { ANY = -1 };
#define UNCHANGED ANY, TG_COUNT_UNCHANGED
#define HINT ANY, TG_COUNT_HINT
#define PROVEN ANY, TG_COUNT_PROVEN
#define ONES "11111 11111 11111"
#define VARIED "45654 56644 65456"

/* What is 0 is not asked. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
TEST(counts_are_judged_as_written)
{
    static const struct {
        const char *what, *base, *test;
        int shape;
        enum tg_count_proof proof;
        bool waits;
        unsigned above, steps, runs_above;
        double p, most;
    } rows[] = {
        { "constant counts are exact", "11111", "22222", TG_COUNT_CONSTANT, TG_COUNT_PROVEN },
        { "the same", "11111", "11111", UNCHANGED },
        { "fewer", "22222", "11111", UNCHANGED },

        { "most runs decide", ONES " 11111 11111", "99999 11111 99999 99999 99999",
          TG_COUNT_RUNS_DIFFER, TG_COUNT_PROVEN, .runs_above = 4 },
        { "few are told", ONES " 11111 11111", "11111 99999 11111 11111 99999",
          TG_COUNT_RUNS_DIFFER, TG_COUNT_HINT, .runs_above = 2, .most = 9 },

        /* Without first steps 12 against 12, of which 6: C(12,6) / C(24,6) = 924 / 134596. */
        { "two steps of five in three runs are no chance", ONES, "19191 11919 19911",
          TG_COUNT_SOME_STEPS, TG_COUNT_PROVEN, .above = 6, .steps = 15, .p = 924.0 / 134596 },
        /* C(12,3) / C(24,3) = 220 / 2024 */
        { "one is", ONES, "19111 11911 11119", HINT, .p = 220.0 / 2024 },
        { "all in one run of three may be that run's data", ONES " 11111 11111",
          "19991 11111 11111", HINT },
        { "single runs with a branch only hint", "11111", "12122", HINT },
        { "each step has more, not all as many", "11111", "22322", PROVEN },
        { "one has not", "11111", "22312", HINT },
        { "and the other way round say nothing", "12122", "11111", UNCHANGED },

        { "waits fail in two steps", "11111", "12121", PROVEN, true },
        { "which others do not", "11111", "12121", HINT },
        { "and not in one", "11111", "11121", HINT, true },

        { "a cold first step is told and no more", ONES, "91111 91111 91111", TG_COUNT_FIRST_STEP,
          TG_COUNT_HINT, true, .above = 3, .runs_above = 3 },
        { "beside fewer", ONES, "91011", TG_COUNT_FIRST_STEP, TG_COUNT_HINT, true },
        { "on both sides", "91111 91111 91111", "91111 91111 91111", UNCHANGED, true },
        { "in the baseline", "91111 91111 91111", ONES, UNCHANGED, true },

        { "what runs once a run is told, too", "60000 60000 60000", "c0000 c0000 60000", HINT },

        { "counts that vary", VARIED, "56665 66556 45566", UNCHANGED },
        { "6 to 8: most pairs of steps won, but no gap", VARIED, "78678 87768 78876", HINT },
        { "9 to 11: a gap, but not twice 6", VARIED, "9a9ab 99a99 9a999", HINT },
        { "13 to 15: both", VARIED, "dedfe dddde feddd", TG_COUNT_VARIES, TG_COUNT_PROVEN },
        { "8 is as far above 6 as the baseline is wide", VARIED, "45854", UNCHANGED },
        { "9 is farther", VARIED, "45954", HINT },

        { "no baseline", "", "11111", UNCHANGED },
        { "no fresh run", "11111", "", UNCHANGED },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tg_count_evidence ev = judge(rows[i].base, rows[i].test, 1, rows[i].waits);
        if (ev.proof != rows[i].proof || (rows[i].shape != ANY && (int)ev.shape != rows[i].shape) ||
            (rows[i].above && ev.above != rows[i].above) ||
            (rows[i].steps && ev.steps != rows[i].steps) ||
            (rows[i].runs_above && ev.runs_above != rows[i].runs_above))
            fail_msg("%s: shape %d, proof %d, %u of %u steps, %u runs", rows[i].what, ev.shape,
                     ev.proof, ev.above, ev.steps, ev.runs_above);
        if (rows[i].p > 0)
            near(ev.p, rows[i].p);
        if (rows[i].most > 0)
            near(ev.most, rows[i].most);
    }
}

/*
 * What runs every so many steps. The chance is that of the order of the steps,
 * times that of the numbers:
 *   10101010 becomes 11111111: 2 of 70 orders repeat after two steps; 16 of 16 drawn from 12 of 16:
 *                              C(12,8)/C(16,8)
 *   10001000 becomes 20002000: 4 of 28 on both sides; both twos fresh: C(8,2)/C(16,2)
 */
TEST(a_schedule_is_exact)
{
    const struct {
        const char *base, *test;
        double p;
        enum tg_count_proof proof;
        bool waits;
    } rows[] = {
        { "10101010", "11111111", 2.0 / 70 * 495 / 12870, TG_COUNT_HINT, false },
        { "10101010", "11111111", 2.0 / 70 * 495 / 12870, TG_COUNT_PROVEN, true },
        { "10001000", "10101010", 4.0 / 28 * 2 / 70, TG_COUNT_HINT, false },
        { "10001000", "20002000", 16.0 / 784 * 28 / 120, TG_COUNT_HINT, false },
        { "101010101010", "202020202020", 4.0 / 924 / 924 * 924 / 134596, TG_COUNT_PROVEN, false },
        { "901010101010", "902020202020", -1, TG_COUNT_PROVEN, false }, /* cold */
        { "10001000", "01000100", 1, TG_COUNT_UNCHANGED, true },        /* another phase */
        { "10001000", "10001000100", 1, TG_COUNT_UNCHANGED, true },     /* more steps */
        { "20202020", "10101010", 1, TG_COUNT_UNCHANGED, true },        /* fewer */
        { "01101000", "01011001", 1, TG_COUNT_UNCHANGED, true },        /* fewer in one step */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t runs = 1; runs <= 3; runs += 2) {
            struct tg_count_evidence ev = judge(rows[i].base, rows[i].test, runs, rows[i].waits);
            if (ev.proof != rows[i].proof)
                fail_msg("%s, %s, %zu runs: %d", rows[i].base, rows[i].test, runs, ev.proof);
            if (rows[i].p >= 0 && ev.proof != TG_COUNT_UNCHANGED)
                near(ev.p, rows[i].p);
        }
    /* 2 of 6 orders are too few. */
    assert_int_equal(judge("1010", "1111", 1, true).proof, TG_COUNT_UNCHANGED);
    assert_int_equal(judge("1010 1010 1100", "1111 1111 1111", 1, true).proof, TG_COUNT_UNCHANGED);
}

/* Steps after the first, alike in all runs: one that has more and none that has fewer tell, of
 * fewer than three runs a side seven that have more: 1 in 128. */
TEST(steps_are_compared_one_by_one)
{
    static const struct {
        const char *base, *test;
        size_t runs;
        enum tg_count_proof proof;
    } rows[] = {
        { "01234567", "12345678", 1, TG_COUNT_HINT },
        { "0123456", "1234567", 1, TG_COUNT_UNCHANGED },
        { "0123456", "1234567", 2, TG_COUNT_UNCHANGED },
        { "0123456", "1234567", 3, TG_COUNT_HINT },
        { "01234", "123456", 3, TG_COUNT_HINT }, /* more steps */
        { "1010", "1111", 3, TG_COUNT_HINT },
        { "1010", "1011", 3, TG_COUNT_HINT },
        { "3010", "2010", 3, TG_COUNT_UNCHANGED }, /* the first step */
        { "0123", "0114", 3, TG_COUNT_UNCHANGED },
        { "0123 0123 0132", "1234 1234 1234", 1, TG_COUNT_UNCHANGED },
        { "0123 0123 0123", "1234 1234 1243", 1, TG_COUNT_UNCHANGED },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tg_count_evidence ev = judge(rows[i].base, rows[i].test, rows[i].runs, false);
        if (ev.proof != rows[i].proof || ev.by_step != (ev.proof == TG_COUNT_HINT))
            fail_msg("%s, %s, %zu runs: %d", rows[i].base, rows[i].test, rows[i].runs, ev.proof);
    }
}

/* ---- names whose calls are drawn anew in each step: when are they compared step by step? The last
 * name is the one that is asked ---- */

struct pair {
    const char *base, *test;
};

/* The change of the last of these names, SAME before. */
static struct tg_op ask(const struct pair *name, struct tg_arena *a)
{
    static struct tg_op op[MAX_NAMES];
    struct tg_drawn d = { 0 };
    size_t at = 0;
    for (; at < MAX_NAMES && name[at].base; at++) {
        struct sides s = { 0 };
        read_runs(&s, name[at].base, name[at].test, 1);
        op[at] = (struct tg_op){ .change = TG_SAME };
        tg_drawn_add(&d, &op[at], (const struct tg_step_counts *const[2]){ s.view[0], s.view[1] },
                     s.n, a);
    }
    tg_drawn_judge(&d);
    return op[at - 1];
}

#define BOTH(runs)                                                                                 \
    {                                                                                              \
        runs, runs                                                                                 \
    }
#define DRAWN BOTH("1324 1324")
#define DRAWS DRAWN, BOTH("2648 2648"), DRAWN
#define COLD BOTH("5000 5000"), BOTH("5000 5000"), BOTH("5000 5000")
#define ANEW                                                                                       \
    {                                                                                              \
        "1324 1324", "4213 4213"                                                                   \
    }
#define SHORT BOTH("132"), BOTH("132"), BOTH("132")
#define LAST BOTH("0001 0001"), BOTH("0001 0001"), BOTH("0001 0001")
#define UPDATE BOTH("0101 0101"), BOTH("0101 0101"), BOTH("0101 0101")

TEST(steps_of_one_draw_are_compared_one_by_one)
{
    static const struct {
        const char *what;
        enum tg_change change;
        struct pair name[MAX_NAMES];
    } rows[] = {
        { "one more each time", TG_MORE, { DRAWS, { "1324 1324", "2648 2648" } } },
        { "one more a step", TG_MORE, { DRAWS, { "1324 1324", "2435 2435" } } },
        { "both", TG_MORE, { DRAWS, { "1324 1324", "3759 3759" } } },
        { "more where the others are rarer", TG_MORE, { DRAWS, { "1324 1324", "5555 5555" } } },
        { "new", TG_ADDED, { DRAWS, { "0000 0000", "1324 1324" } } },
        { "one less a step", TG_FEWER, { DRAWS, { "2435 2435", "1324 1324" } } },
        { "gone", TG_REMOVED, { DRAWS, { "1324 1324", "0000 0000" } } },
        { "the same", TG_SAME, { DRAWS, DRAWN } },
        { "more in one step alone", TG_SAME, { DRAWS, { "1324 1324", "1325 1325" } } },
        { "more and fewer", TG_SAME, { DRAWS, { "1324 1324", "4231 4231" } } },
        { "another draw", TG_SAME, { DRAWS, { "1324 1324", "3425 3425" } } },
        { "the fresh runs differ", TG_SAME, { DRAWS, { "1324 1324", "2648 2647" } } },
        { "the baseline runs differ", TG_SAME, { DRAWS, { "1324 1323", "2648 2648" } } },
        { "cold first steps", TG_SAME, { COLD, { "3222 3222", "4222 4222" } } },
        { "the others are cold", TG_SAME, { COLD, { "1324 1324", "2435 2435" } } },
        { "in one step", TG_SAME, { LAST, { "1112 1112", "1113 1113" } } },
        { "in two", TG_MORE, { UPDATE, { "1212 1212", "1313 1313" } } },
        { "too few others", TG_SAME, { DRAWN, BOTH("2648 2648"), { "1324 1324", "2435 2435" } } },
        { "most others drawn anew", TG_SAME, { DRAWS, ANEW, ANEW, { "1324", "2435" } } },
        { "too few steps", TG_SAME, { SHORT, { "132", "243" } } },
        { "one run a side", TG_MORE, { DRAWS, { "1324", "2435" } } },
    };
    TG_ARENA *a = tg_arena_new();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tg_op op = ask(rows[i].name, a);
        if (op.change != rows[i].change)
            fail_msg("%s: %d, not %d", rows[i].what, (int)op.change, (int)rows[i].change);
        assert_int_equal(op.counted.proof == TG_COUNT_PROVEN, op.change != TG_SAME);
    }
}

TEST(a_draws_calls_are_its_mean)
{
    static const struct pair name[MAX_NAMES] = { DRAWS, { "1324 1324", "2648 2648" } };
    TG_ARENA *a = tg_arena_new();
    struct tg_op op = ask(name, a);
    assert_float_equal(op.count[TG_BASE], 2.5, 1e-12);
    assert_float_equal(op.count[TG_TEST], 5, 1e-12);
    assert_true(op.settled);
}
