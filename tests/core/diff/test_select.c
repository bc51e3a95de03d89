/* The runs, ranks and steps that are compared (select.c). */
#include "by_hand.h"
#include "core/diff/internal.h"
#include "tests/build_trace.h"

BY_HAND(steps_that_are_chosen)
{
    static const int64_t two[] = { 4, 5 }, none[] = { 9 };
    static const uint32_t each[] = { 1, 2, 3, 4 }; /* of steps 3, 4, 5, 6 */
    make(f, 1, 1, 4);
    for (int side = 0; side < 2; side++)
        add_counts(f, side, 0, TG_KIND_OP, "x", "", each, 101);
    f->o.skip_first = f->o.skip_last = 1;
    compare(f);
    assert_int_equal(find(f, "x")->step_count[TG_BASE], 2 + 3);
    f->o = (struct tg_compare_opts){ .steps = { two, two }, .n_step_numbers = { 2, 2 } };
    compare(f);
    assert_int_equal(find(f, "x")->step_count[TG_TEST], 2 + 3);
    /* Both: a list of the baseline's, and all but the first of the fresh ones. All are whole. */
    f->o = (struct tg_compare_opts){ .steps = { two }, .n_step_numbers = { 2 }, .skip_first = 1 };
    compare(f);
    assert_int_equal(find(f, "x")->step_count[TG_BASE], 2 + 3);
    assert_int_equal(find(f, "x")->step_count[TG_TEST], 2 + 3 + 4);
    assert_int_equal(find(f, "x")->whole_count[TG_BASE], 1 + 2 + 3 + 4);
    f->o = (struct tg_compare_opts){ .steps = { none, none }, .n_step_numbers = { 1, 1 } };
    assert_false(tg_compare(&f->c, &f->side[0], &f->side[1], &f->o, f->a, &f->err));
    assert_string_equal(f->err.message, "no step 9 on the baseline side");
    assert_string_equal(f->err.hint, "That side has the steps 3, 4, 5, 6.");
}

BY_HAND(ranks_that_are_chosen)
{
    static const int64_t one[] = { 5 }, none[] = { 9 };
    make_ranks(f, TG_BASE, 1, 2, 4, 2);
    make_ranks(f, TG_TEST, 1, 2, 4, 2);
    compare(f);
    assert_int_equal(f->c.n_ranks[TG_BASE], 2);
    f->o = (struct tg_compare_opts){ .ranks = { one, one }, .n_rank_numbers = { 1, 1 } };
    compare(f);
    assert_int_equal(f->c.n_ranks[TG_TEST], 1);
    assert_int_equal(f->c.side[TG_TEST].ranks[0], 5);
    f->o = (struct tg_compare_opts){ .ranks = { one, none }, .n_rank_numbers = { 1, 1 } };
    assert_false(tg_compare(&f->c, &f->side[0], &f->side[1], &f->o, f->a, &f->err));
    assert_int_equal(f->err.kind, TG_ERR_USAGE);
    assert_string_equal(f->err.message, "no trace of rank 9 on the fresh side");
}

/* Runs of 4 and 2 steps, of which the first is left out: 3 and 1. */
BY_HAND(how_many_steps_there_are)
{
    make(f, 2, 2, 4);
    for (int side = 0; side < 2; side++)
        shard(f, side, 1)->n_steps = 2;
    f->o.skip_first = 1;
    compare(f);
    assert_int_equal(f->c.n_units[TG_BASE], 3 + 1);
    assert_int_equal(f->c.least_steps[TG_BASE], 1);
    assert_int_equal(f->c.n_steps[TG_BASE], 2); /* the median */
    f->o.skip_first = 2;
    compare(f);
    assert_int_equal(f->c.least_steps[TG_BASE], 0);
}

/* Without markers the whole trace is one step, which cannot be left out. */
BY_HAND(a_trace_without_markers_is_one_step)
{
    for (int whole = 0; whole < 2; whole++) {
        make(f, 1, 1, 1);
        for (int side = 0; side < 2; side++) {
            shard(f, side, 0)->marked = false;
            shard(f, side, 0)->window = whole ? TG_SV("whole") : TG_SV("auto");
        }
        f->o.skip_first = 1;
        compare(f);
        assert_int_equal(f->c.least_steps[TG_BASE], 1);
        assert_int_equal(f->c.marked[TG_BASE], whole); /* a step is known if the policy says so */
    }
}

/* Whole microseconds everywhere on one side: its clock has no finer tick. */
BY_HAND(the_clock)
{
    for (int fine = 0; fine < 4; fine++) { /* a bit a side */
        make(f, 1, 1, 2);
        for (int side = 0; side < 2; side++)
            add_all(f, side, TG_KIND_OP, "x", "", 1, 3000 + (fine >> side & 1));
        compare(f);
        assert_int_equal(find(f, "x")->rows->work->tick, fine == 3 ? 1 : 1000);
    }
}

/* ---- runs that leave because the profiler recorded more of them, or less ---- */

/* A letter a run: '.' says nothing, 's' records shapes, 'k' stacks. */
static void record(struct fixture *f, int side, const char *runs)
{
    make_side(f, side, strlen(runs), 1);
    for (size_t i = 0; runs[i]; i++) {
        struct tg_shard *h = shard(f, side, i);
        h->source = TG_SV_PRINTF(f->a, "%zu", i);
        if (runs[i] != '.')
            set_env(f, h, runs[i] == 's' ? "record_shapes" : "with_stack", "1");
    }
}

static void leave(struct fixture *f, const char *base, const char *test)
{
    struct tg_diff_work w = { .c = &f->c, .o = &f->o, .a = f->a };
    record(f, TG_BASE, base);
    record(f, TG_TEST, test);
    f->c = (struct tg_comparison){ .arena = f->a, .side = { f->side[0], f->side[1] } };
    tg_runs_leave(&w);
}

BY_HAND(runs_that_differ_from_most_of_both_sides_leave)
{
    static const struct {
        const char *base, *test;
        unsigned min_runs;
        size_t stay[2];
    } rows[] = {
        { "...", "...", 0, { 3, 3 } },
        { "sss", "sss", 0, { 3, 3 } },
        { ".....", "..s..", 0, { 5, 4 } },
        { "k....", "....s", 0, { 4, 4 } },
        { "sss.s", "ssss", 0, { 4, 4 } },
        /* a side as a whole: nothing to be compared with */
        { ".....", "sssss", 0, { 5, 5 } },
        { ".....", ".ssss", 0, { 5, 5 } },
        /* too few would stay, by default or as the policy asks */
        { "...", "..s", 0, { 3, 3 } },
        { ".....", "..s..", 5, { 5, 5 } },
        { "...", "..s", 2, { 3, 2 } },
        /* no majority */
        { "......", "...sss", 0, { 6, 6 } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        f->o.min_runs = rows[i].min_runs;
        leave(f, rows[i].base, rows[i].test);
        for (int side = 0; side < 2; side++)
            if (f->c.side[side].n_runs != rows[i].stay[side])
                fail_msg("row %zu, side %d: %zu stay", i, side, f->c.side[side].n_runs);
        assert_int_equal(f->c.n_left, strlen(rows[i].base) + strlen(rows[i].test) -
                                          rows[i].stay[0] - rows[i].stay[1]);
    }
}

BY_HAND(who_left_is_named)
{
    leave(f, "....", ".k..s.");
    assert_int_equal(f->c.n_left, 2);
    assert_int_equal(f->c.left[0].side, TG_TEST);
    assert_int_equal(f->c.left[0].run, 1);
    assert_sv_equal(f->c.left[0].source, TG_SV("1"));
    assert_sv_equal(f->c.left[0].profile, TG_SV("with_stack=1"));
    assert_sv_equal(f->c.left[1].source, TG_SV("4"));
    assert_sv_equal(f->c.left[1].profile, TG_SV("record_shapes=1"));
    /* those that stay keep their order, and the given side is as it was */
    assert_sv_equal(f->c.side[TG_TEST].at[1][0]->source, TG_SV("2"));
    assert_sv_equal(f->c.side[TG_TEST].at[3][0]->source, TG_SV("5"));
    assert_int_equal(f->side[TG_TEST].n_runs, 6);
}

/* ---- ranks of which a side stores no more than the step times ---- */

enum { RUNS = 2, RANKS = 4 };

/* Ranks 5 to 8 on both sides. */
static struct tg_diff_work work(struct fixture *f)
{
    for (int side = 0; side < 2; side++) {
        make_ranks(f, side, RUNS, RANKS, 5, 1);
        f->c.side[side] = f->side[side];
    }
    return (struct tg_diff_work){ .c = &f->c, .a = f->a, .o = &f->o };
}

/* The baseline leaves out 8 in its second run and 6 in both, the fresh side 6 and 5: 7 is left. */
BY_HAND(what_either_side_leaves_out_is_on_neither)
{
    struct tg_diff_work w = work(f);
    struct tg_side measured[2];
    shard_of(f, TG_BASE, 1, 3)->steps_only = true;
    shard_of(f, TG_BASE, 0, 1)->steps_only = shard_of(f, TG_BASE, 1, 1)->steps_only = true;
    shard_of(f, TG_TEST, 0, 1)->steps_only = shard_of(f, TG_TEST, 0, 0)->steps_only = true;
    assert_true(tg_diff_drop_steps_only(&w, measured, &f->err));
    assert_int_equal(f->c.n_steps_only, 3); /* 6 once */
    assert_int_equal(f->c.steps_only[0], 5);
    assert_int_equal(f->c.steps_only[1], 6);
    assert_int_equal(f->c.steps_only[2], 8);
    for (int side = 0; side < 2; side++) {
        assert_int_equal(f->c.side[side].n_ranks, 1);
        assert_int_equal(f->c.side[side].ranks[0], 7);
        for (size_t run = 0; run < RUNS; run++)
            assert_int_equal(f->c.side[side].at[run][0]->rank, 7);
    }
    assert_int_equal(f->side[TG_BASE].n_ranks, RANKS); /* what came is not touched */
}

/* 6 has no names in the fresh run, 8 step times alone: 6 is measured, and no operator is of it. */
BY_HAND(ranks_without_names_are_measured)
{
    struct tg_diff_work w = work(f);
    struct tg_side measured[2];
    shard_of(f, TG_TEST, 1, 1)->unnamed = true;
    shard_of(f, TG_BASE, 0, 3)->steps_only = true;
    assert_true(tg_diff_drop_steps_only(&w, measured, &f->err));
    assert_int_equal(f->c.n_unnamed, 1);
    assert_int_equal(f->c.n_steps_only, 1);
    for (int side = 0; side < 2; side++) {
        assert_int_equal(measured[side].n_ranks, 3);
        assert_int_equal(measured[side].ranks[1], 6);
        assert_int_equal(measured[side].ranks[2], 7);
        assert_int_equal(f->c.side[side].n_ranks, 2);
        assert_int_equal(f->c.side[side].ranks[0], 5);
        assert_int_equal(f->c.side[side].ranks[1], 7);
    }
}

/* Busy for 10, 20, 30 and 40 ns on four ranks, whose mean is 25, and steps of 1 to 4 us. */
BY_HAND(metrics_are_of_ranks_without_names_too)
{
    (void)work(f);
    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < RUNS; run++)
            for (size_t rank = 0; rank < RANKS; rank++) {
                struct tg_shard *h = shard_of(f, side, run, rank);
                int64_t k = (int64_t)rank + 1;
                h->unnamed = rank > 1;
                set_metric(h, TG_METRIC_GPU_BUSY, 0, 10 * k, 1);
                set_metric(h, TG_METRIC_STEP_TIME, 0, 1000 * k, 1);
                if (rank < 2)
                    (void)add_to(f, h, TG_KIND_OP, "aten::mm", "", (uint32_t[]){ 3 }, 101);
            }
    compare(f);
    assert_int_equal(f->c.n_unnamed, 2);
    near(f->c.metrics[TG_METRIC_GPU_BUSY].value[TG_TEST], 25);
    near(f->c.metrics[TG_METRIC_STEP_TIME].slowest[TG_BASE], 4000);
    near(f->c.rank_spread[TG_BASE], 3000);
    assert_int_equal(f->c.slowest_rank, 8);
    near(find(f, "aten::mm")->count[TG_BASE], 3); /* a rank that has it, not 3/2 */
}

BY_HAND(without_a_whole_rank_there_is_nothing_to_compare)
{
    struct tg_diff_work w = work(f);
    struct tg_side measured[2];
    for (size_t rank = 0; rank < RANKS; rank++)
        shard_of(f, TG_BASE, 0, rank)->steps_only = true;
    assert_false(tg_diff_drop_steps_only(&w, measured, &f->err));
    assert_int_equal(f->err.kind, TG_ERR_SUMMARY);
    assert_non_null(strstr(f->err.message, "of the baseline side"));
    assert_non_null(strstr(f->err.hint, "tracegate baseline show"));
}

/* ---- ranks that two sides are compared by: rank r calls its operator r + 1 times a step, so an
 * average over another set of ranks is another number ---- */

/* The ranks in `mask`, a bit each; `partial`: those that some run of the side lacks. */
static void give(struct fixture *f, int side, unsigned mask, unsigned partial)
{
    struct tg_side *s = &f->side[side];
    *s = (struct tg_side){ .n_runs = 1 };
    s->ranks = TG_NEW_N(f->a, int64_t, 32);
    s->partial = TG_NEW_N(f->a, int64_t, 32);
    s->at = TG_NEW(f->a, const struct tg_shard **);
    s->at[0] = TG_NEW_N(f->a, const struct tg_shard *, 32);
    for (int64_t r = 0; r < 32; r++) {
        if (partial >> r & 1)
            s->partial[s->n_partial++] = r;
        if (!(mask >> r & 1))
            continue;
        struct tg_shard *h = empty_shard(f, r, 1);
        add_to(f, h, TG_KIND_OP, "aten::mm", "", (uint32_t[]){ (uint32_t)(r + 1) }, 5000);
        s->at[0][s->n_ranks] = h;
        s->ranks[s->n_ranks++] = r;
    }
}

static bool compared(struct fixture *f)
{
    tg_err_init(&f->err);
    f->o.no_evidence = true;
    return tg_compare(&f->c, &f->side[0], &f->side[1], &f->o, f->a, &f->err);
}

static void assert_lacks(const struct fixture *f, int side, const char *text)
{
    TG_BUF b = { 0 };
    if (f->c.n_lacking[side])
        tg_ranks_put(&b, f->c.lacking[side], f->c.n_lacking[side]);
    assert_string_equal(b.n ? b.p : "", text);
}

BY_HAND(ranks_of_one_side_take_no_part)
{
    give(f, TG_BASE, 0xff, 0);
    give(f, TG_TEST, 0x1df, 0); /* without 5, with 8 */
    assert_true(compared(f));
    assert_int_equal(f->c.n_ranks[TG_BASE], 7);
    assert_int_equal(f->c.n_brought[TG_BASE], 8);
    assert_int_equal(f->c.n_brought[TG_TEST], 8);
    assert_int_equal(f->c.given[TG_BASE].n_ranks, 7); /* nor for skew */
    assert_int_equal(f->c.ops[0].change, TG_SAME);
    assert_lacks(f, TG_BASE, "rank 8");
    assert_lacks(f, TG_TEST, "rank 5");
}

BY_HAND(a_rank_that_some_runs_lack_takes_no_part)
{
    give(f, TG_BASE, 0x0f, 0);
    give(f, TG_TEST, 0x0b, 0x04);
    assert_true(compared(f));
    assert_int_equal(f->c.n_ranks[TG_BASE], 3);
    assert_int_equal(f->c.ops[0].change, TG_SAME);
    assert_lacks(f, TG_TEST, "rank 2");
    give(f, TG_BASE, 0x01, 0x06); /* on either side: 1 and 2 of the baseline, 3 and 4 fresh */
    give(f, TG_TEST, 0x01, 0x18);
    assert_true(compared(f));
    assert_lacks(f, TG_BASE, "ranks 1–4");
    assert_lacks(f, TG_TEST, "ranks 1–4");
}

BY_HAND(no_rank_in_common_is_an_error)
{
    give(f, TG_BASE, 0x0f, 0);
    give(f, TG_TEST, 0x50, 0);
    assert_false(compared(f));
    assert_int_equal(f->err.kind, TG_ERR_SUMMARY);
    assert_string_equal(f->err.message, "the sides have no rank in common: the baseline side has "
                                        "ranks 0–3, the fresh side ranks 4, 6");
    assert_true(f->err.hint[0]);
    f->side[TG_BASE].ranks[0] = -1;
    f->side[TG_BASE].n_ranks = 1;
    assert_false(compared(f));
    assert_string_equal(f->err.message, "the sides have no rank in common: the baseline side has "
                                        "a trace without a rank, the fresh side ranks 4, 6");
    f->o.any_ranks = true;
    assert_true(compared(f));
    assert_int_equal(f->c.n_ranks[TG_TEST], 2);
}

BY_HAND(one_rank_a_side_compares_whatever_it_is)
{
    give(f, TG_BASE, 0x01, 0);
    give(f, TG_TEST, 0x08, 0);
    assert_true(compared(f));
    assert_lacks(f, TG_BASE, "rank 3"); /* told */
    assert_true(f->c.ops[0].count[TG_TEST] == 4);
    f->side[TG_BASE].ranks[0] = -1; /* a trace that says no rank lacks none */
    assert_true(compared(f));
    assert_lacks(f, TG_BASE, "");
}

BY_HAND(ranks_chosen_by_hand_are_compared)
{
    const int64_t one[] = { 1 }, two[] = { 1, 2 };
    give(f, TG_BASE, 0x0f, 0);
    give(f, TG_TEST, 0x07, 0);
    f->o.ranks[TG_BASE] = one;
    f->o.n_rank_numbers[TG_BASE] = 1;
    f->o.ranks[TG_TEST] = two;
    f->o.n_rank_numbers[TG_TEST] = 2;
    assert_true(compared(f));
    assert_int_equal(f->c.n_ranks[TG_BASE], 1);
    assert_int_equal(f->c.n_ranks[TG_TEST], 2);
    assert_lacks(f, TG_TEST, "");
}

BY_HAND(many_ranks_are_told_in_pieces)
{
    int64_t v[20];
    TG_BUF b = { 0 };
    for (int i = 0; i < 20; i++)
        v[i] = 2 * i;
    tg_ranks_put(&b, v, 20);
    assert_string_equal(b.p, "ranks 0, 2, 4, 6, 8, 10, 12, 14 and 12 more");
    tg_buf_clear(&b);
    tg_ranks_put(&b, (const int64_t[]){ 0, 1, 2, 5, 7, 8 }, 6);
    assert_string_equal(b.p, "ranks 0–2, 5, 7, 8");
}

/* ---- sides that cannot be compared ---- */

/* One side of one small trace whose steps are cut by `by`. */
static void side_of_trace(struct tg_side *out, struct tg_summary *s, struct bt *b,
                          const struct tg_summarize_opts *o)
{
    struct tg_steps steps;
    struct tg_err err = TG_ERR_INIT;
    const struct tg_trace *t = bt_trace(b, 0);
    tg_summary_init(s);
    assert_true(tg_steps_build(&steps, t, &o->window, &err));
    assert_true(tg_summary_of_trace(s, t, &steps, o, &err));
    tg_steps_release(&steps);
    assert_true(tg_side_arrange(out, s, TG_ARRANGE_AUTO, s->arena, &err));
}

/* A stored side with another window or class table is refused, never compared. */
TEST(other_windows_are_refused_between_sides)
{
    struct tg_summarize_opts o[2] = { { .rank = -1 }, { .rank = -1 } };
    struct tg_summary s[2];
    struct tg_side side[2];
    struct tg_comparison c;
    struct tg_err err = TG_ERR_INIT;
    TG_AUTO(bt_release) struct bt b;
    bt_init(&b);
    bt_host(&b, "cpu_op", "aten::mm", "1", 10, 5, -1);
    bt_host(&b, "cpu_op", "aten::mm", "1", 20, 5, -1);
    o[1].window = (struct tg_window_spec){ .by = TG_WINDOW_ANNOTATION, .name = TG_SV("aten::mm") };
    for (int k = 0; k < 2; k++)
        side_of_trace(&side[k], &s[k], &b, &o[k]);
    assert_false(tg_compare(&c, &side[0], &side[1], NULL, s[0].arena, &err));
    assert_int_equal(err.kind, TG_ERR_SUMMARY);
    assert_string_equal(err.message, "steps were cut by different windows: 'auto' and "
                                     "'annotation:aten::mm'");
    tg_err_init(&err);
    assert_true(tg_compare(&c, &side[0], &side[0], NULL, s[0].arena, &err));
    for (int k = 0; k < 2; k++)
        tg_summary_release(&s[k]);
}
