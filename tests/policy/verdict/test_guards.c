/* guards.c: what must hold before anything is judged. Each row is a pair of sides and a policy;
 * what the verdict says of it is tests/golden/verdict_guards.txt, derived from docs/policy.md when
 * it was written and read through at every change. */
#include "by_hand.h"
#include "model.h"

#define WINDOW(keys) ABS "suites: [{name: s, trace: x, window: " keys "}]"
#define EXPECTED(ranks) ABS "suites: [{name: s, trace: x, ranks: {expect: " ranks "}}]"
/* A kernel of the one stream, in us, that no launch of the usual step has. */
#define KERNEL_EVENT(name, start, us, id)                                                          \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"pid\":0,\"tid\":7,\"ts\":" start     \
    ",\"dur\":" us ",\"args\":{\"device\":0,\"stream\":7,\"correlation\":" id "}},"
#define COLLAPSED "kernel|aten::op1|void kern1(float*)|21;op|aten::op2;op|aten::op3"
#define OVERLAP                                                                                    \
    KERNEL_EVENT("bad", "1001", "400", "90000") KERNEL_EVENT("bad", "1002", "400", "90001")
#define BEGIN_EVENT(thread)                                                                        \
    "{\"ph\":\"B\",\"cat\":\"cpu_op\",\"name\":\"aten::open\",\"pid\":10,\"tid\":" thread          \
    ",\"ts\":1100},"

static const struct model_row model_rows[] = {
    ROW("nothing more", ABS, USUAL, USUAL),
    ROW("no steps asked for", ABS, USUAL, USUAL),
    ROW("require.steps", ABS "require: {steps: 5}", USUAL, USUAL),
    ROW("require.steps, just enough", ABS "require: {steps: 4}", USUAL, USUAL),
    ROW("require.steps, unmarked", ABS "require: {steps: 1}", SIDE(.marker = ""),
        SIDE(.marker = "")),
    ROW("require.kernels", ABS "require: {kernels: 13}", USUAL, USUAL),
    ROW("require.kernels, just enough", ABS "require: {kernels: 12}", USUAL, USUAL),
    ROW("require.ops", ABS "require: {ops: ['aten::op1', 'flash*']}", USUAL, USUAL),
    ROW("require.ops, all there", ABS "require: {ops: ['aten::op1', 'aten::*']}", USUAL, USUAL),
    ROW("require.ops, in the baseline alone", ABS "require: {ops: ['aten::op5']}", USUAL,
        SIDE(.gone = "aten::op5")),
    ROW("collapse", ABS, USUAL, SIDE(.work = COLLAPSED)),
    ROW("collapse, off", ABS "require: {collapse: off}", USUAL, SIDE(.work = COLLAPSED)),
    ROW("collapse and a failure", ABS, USUAL, SIDE(.work = COLLAPSED, .more = OP)),
    ROW("two guards", ABS "require: {steps: 99, kernels: 99}", USUAL, USUAL),
    ROW("no markers on the fresh side", ABS, USUAL, SIDE(.marker = "")),
    ROW("no markers on the fresh side, and a suite", ABS "suites: [{name: s, trace: x}]", USUAL,
        SIDE(.marker = "")),
    ROW("no markers on the baseline", ABS, SIDE(.marker = ""), USUAL),
    ROW("no markers on either side", ABS, SIDE(.marker = ""), SIDE(.marker = "", .more = OP)),
    RUNS("one fresh run without markers", ABS, 2, .marker = "execute_%d"),
    ROW("a window by annotation", WINDOW("{by: annotation, name: 'execute_*'}"),
        SIDE(.marker = "execute_%d"), SIDE(.marker = "execute_%d", .more = OP)),
    ROW("a window by annotation, gone", WINDOW("{by: annotation, name: 'execute_*'}"),
        SIDE(.marker = "execute_%d"), SIDE(.marker = "run_%d")),
    ROW("a window by annotation, on neither side", WINDOW("{by: annotation, name: 'none*'}"), USUAL,
        USUAL),
    ROW("a window by trace", WINDOW("{by: trace}"), SIDE(.marker = ""),
        SIDE(.marker = "", .more = OP)),
    MORE("no step is left", WINDOW("{by: ProfilerStep, skip_first: 2, skip_last: 2}"), OP),
    MORE("one step is left", WINDOW("{by: ProfilerStep, skip_first: 2, skip_last: 1}"), OP),
    ROW("no step is left of the baseline", WINDOW("{by: ProfilerStep, skip_first: 3}"),
        SIDE(.steps = 3), SIDE(.more = OP)),
    ROW("ranks expected, all there", EXPECTED("3"), SIDE(.ranks = 3), SIDE(.ranks = 3)),
    ROW("ranks expected, one is missing", EXPECTED("3"), SIDE(.ranks = 3),
        SIDE(.ranks = 3, .without_ranks = 2)),
    ROW("ranks expected, two are missing", EXPECTED("4"), SIDE(.ranks = 4),
        SIDE(.ranks = 4, .without_ranks = 5)),
    ROW("ranks expected, missing in the baseline", EXPECTED("3"),
        SIDE(.ranks = 3, .without_ranks = 1), SIDE(.ranks = 3)),
    ROW_WITH("a rank is damaged", EXPECTED("3"), SIDE(.ranks = 3),
             SIDE(.ranks = 3, .without_ranks = 2), .damage = "rank 1: b/rank1.json: it is cut\n"),
    ROW_WITH("more parts are damaged than are named", EXPECTED("2"), SIDE(.ranks = 2),
             SIDE(.ranks = 2), .damage = "a: 1\nb: 2\nc: 3\nd: 4\ne: 5\n"),
    ROW_WITH("a rank is damaged, and the others have more work", EXPECTED("3"), SIDE(.ranks = 3),
             SIDE(.ranks = 3, .without_ranks = 2, .more = OP),
             .damage = "rank 1: b/rank1.json: it is cut\n"),
    ROW("ranks expected, others on each side", EXPECTED("2"), SIDE(.ranks = 3, .without_ranks = 4),
        SIDE(.ranks = 3, .without_ranks = 1)),
    ROW("one rank expected, three there", EXPECTED("1"), SIDE(.ranks = 3), SIDE(.ranks = 3)),
    ROW("ranks expected, no rank known", EXPECTED("1"), USUAL, USUAL),
    ROW("negative durations", ABS, USUAL,
        SIDE(.events = KERNEL_EVENT("bad", "1001", "-5", "90000"))),
    ROW("overlap on a stream", ABS, USUAL, SIDE(.events = OVERLAP)),
    ROW("empty kernels", ABS, USUAL,
        SIDE(.events = KERNEL_EVENT("zero", "0", "0", "91000")
                 KERNEL_EVENT("zero", "0", "0", "91001") KERNEL_EVENT("zero", "0", "0", "91002"))),
    ROW("the same in the baseline", ABS, SIDE(.events = OVERLAP), USUAL),
    ROW("an event that never ends", ABS, USUAL, SIDE(.events = BEGIN_EVENT("77"))),
    ROW("two of them", ABS, USUAL, SIDE(.events = BEGIN_EVENT("77") BEGIN_EVENT("78"))),
    ROW("deviations from JSON", ABS, USUAL, SIDE(.properties = "\"a\":\"x\\q\",\"b\":NaN,")),
    ROW("one deviation", ABS, USUAL, SIDE(.properties = "\"b\":NaN,")),
    ROW("a trace that is cut off", ABS, USUAL, SIDE(.cut = true)),
    ROW("unmarked, and nothing recurs", ABS,
        SIDE(.work = "op|aten::a;op|aten::b;op|aten::c", .steps = 1),
        SIDE(.marker = "", .work = "op|aten::a;op|aten::b;op|aten::c", .steps = 1)),
    ROW("no kernels asked for, none there", ABS, SIDE(.work = "op|aten::a"),
        SIDE(.work = "op|aten::a")),
    ROW("kernels without a launch, 99", ABS, USUAL, SIDE(.unlinked = 99)),
    ROW("kernels without a launch, 120", ABS, USUAL, SIDE(.unlinked = 120)),
    ROW("kernels without a launch, less than half", ABS, SIDE(.steps = 12),
        SIDE(.unlinked = 120, .steps = 12)),
    ROW("launches without a kernel, 99", ABS, USUAL, SIDE(.lost = 99)),
    ROW("launches without a kernel, 120", ABS, USUAL, SIDE(.lost = 120)),
    ROW("launches without a kernel, under 5 %", ABS, SIDE(.steps = 200),
        SIDE(.lost = 105, .steps = 200)),
    ROW("both, in the baseline", ABS, SIDE(.unlinked = 120, .lost = 120), USUAL),
};

TEST(verdicts_are_as_written)
{
    model_check("verdict_guards.txt", model_rows, sizeof model_rows / sizeof *model_rows);
}

/* ---- by hand ---- */

/* What keeps the verdict from being green, by name: "" nothing. Can the rules judge the sides? */
static bool guarded(struct hand *h, const char *want)
{
    TG_BUF got = { 0 };
    bool comparable;
    for (int side = 0; side < 2; side++) {
        h->c.marked[side] = h->c.any_marked[side] = true;
        h->c.least_steps[side] = 4;
    }
    h->e.n = 0;
    comparable = tg_guards(&h->e);
    for (size_t i = 0; i < h->e.n; i++)
        tg_buf_printf(&got, "%s%.*s: %.*s", i ? "; " : "", TG_SV_ARG(h->e.results[i].op),
                      TG_SV_ARG(h->e.results[i].message));
    hand_text(tg_buf_sv(&got), want);
    return comparable;
}

/* What is too much of the fresh traces; "" nothing. */
static void damaged(struct hand *h, const char *want)
{
    h->e.n = 0;
    (void)tg_guard_integrity(&h->e);
    assert_int_equal(h->e.n, want[0] ? 1 : 0);
    if (want[0])
        hand_text(h->e.results[0].message,
                  tg_arena_printf(h->a, "the fresh traces are damaged: %s", want));
}

/* Durations are not judged then; where operators look slower, that must not be green. */
WITH_HAND(slower_on_a_busy_machine_or_other_data)
{
    guarded(h, "");
    h->policy.rules = &h->rule;
    h->policy.n_rules = 1;
    h->rule.metric = TG_RULE_METRIC_SELF;
    h->rule.fail = hand_auto(h);
    h->c.n_withheld = 2; /* held by nothing that we know of */
    guarded(h, "");
    h->c.busy = true;
    guarded(h, "machine: the machine was busy during the fresh runs, and 2 names look slower");
    h->c.n_withheld = 0; /* busy, and nothing looks slower */
    guarded(h, "");
    h->c.busy = false;
    h->c.other_data = true;
    guarded(h, "");
    h->c.n_withheld = 1;
    guarded(h, "data: the fresh runs had other data, and 1 name looks slower");
    h->c.busy = true; /* one reason will do */
    guarded(h, "data: the fresh runs had other data, and 1 name looks slower");
    h->c.n_withheld = 2;
    guarded(h, "data: the fresh runs had other data, and 2 names look slower");
    h->c.n_withheld = 1;
    h->c.other_data = false;
    guarded(h, "machine: the machine was busy during the fresh runs, and 1 name looks slower");
    h->c.busy = false;
    h->c.warming = log(1.04);
    guarded(h, "machine: the device's speed changes within the runs, and 1 name looks slower");
    h->rule.metric = TG_RULE_METRIC_COUNT; /* no rule is about times */
    guarded(h, "");
    h->rule.metric = TG_RULE_METRIC_STEP_TIME;
    h->rule.fail.state = TG_LIMIT_OFF;
    guarded(h, "");
}

/* require.detectable: 10 %. These runs show a change from 8 %, from 12 %, or none. */
WITH_HAND(a_change_has_to_be_detectable)
{
    struct tg_evidence *ev = &h->c.metrics[TG_METRIC_STEP_TIME].ev;
    *ev = hand_evidence(1000000, 0);
    ev->mde = 0.12;
    guarded(h, ""); /* nothing is required */
    h->policy.require.detectable = 10;
    guarded(h,
            "detectable: these runs show a change of step time from +12 % on; required is +10 %");
    ev->mde = 0.1;
    guarded(h, "");
    ev->mde = 0.08;
    guarded(h, "");
    ev->why_not = TG_NOT_OTHER_DEVICE;
    guarded(
        h, "detectable: step time is not judged: recorded on different devices; required is +10 %");
    ev->why_not = TG_NOT_FEW_RUNS;
    h->policy.noise.min_runs = 6;
    guarded(h, "detectable: step time is not judged: too few runs a side: 6 needed; "
               "required is +10 %");
}

/* Of four expected: which are missing, where the other side has them and they are looked for; else
 * how many there are, for so many may be meant. */
WITH_HAND(ranks_that_are_expected)
{
    static const int64_t lacking[] = { 2, 3 };
    static int64_t there[] = { 0, 1, 3 };
    static const struct {
        int side;
        size_t runs, brought, lacking;
        const char *want, *next;
    } rows[] = {
        { TG_TEST, 1, 4, 0, "", NULL },
        { TG_TEST, 1, 3, 1, "ranks: rank 2 of 4 has no fresh trace",
          "Find why rank 2 wrote no trace. If 3 are meant" },
        { TG_TEST, 1, 2, 2, "ranks: ranks 2, 3 of 4 have no fresh trace",
          "Find why ranks 2, 3 wrote no trace. If 2 are meant" },
        { TG_TEST, 3, 3, 1, "ranks: rank 2 of 4 is not in every fresh run",
          "Find why rank 2 wrote no trace in some runs. If 3 are meant" },
        { TG_TEST, 3, 2, 2, "ranks: ranks 2, 3 of 4 are not in every fresh run",
          "Find why ranks 2, 3 wrote no trace in some runs. If 2 are meant" },
        { TG_TEST, 1, 5, 0, "ranks: 5 ranks in the fresh run, 4 are expected",
          "Record every rank. If 5 are meant" },
        { TG_TEST, 1, 1, 0, "ranks: 1 rank in the fresh run, 4 are expected",
          "Record every rank. If 1 is meant, set `ranks: {expect: 1}` in the suite." },
        { TG_TEST, 3, 1, 0, "ranks: 1 rank in every fresh run, 4 are expected",
          "Record every rank. If 1 is meant" },
        { TG_TEST, 1, 2, 1, "ranks: 2 ranks in the fresh run, 4 are expected", /* and another is */
          "Record every rank. If 2 are meant" },
        { TG_TEST, 1, 3, 0, "ranks: 3 ranks in the fresh run, 4 are expected", /* nor the other */
          "Record every rank. If 3 are meant, set `ranks: {expect: 3}` in the suite." },
        { TG_BASE, 1, 2, 2, "ranks: ranks 2, 3 of 4 have no baseline trace",
          "Record the baseline with ranks 2, 3. If 2 are meant" },
        { TG_BASE, 3, 3, 1, "ranks: rank 2 of 4 is not in every baseline run",
          "Record the baseline with rank 2. If 3 are meant" },
        { TG_BASE, 3, 5, 0, "ranks: 5 ranks in every baseline run, 4 are expected",
          "Record every rank. If 5 are meant" },
    };
    struct tg_suite suite = { .ranks_expect = 4 };
    h->in.suite = &suite;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int side = rows[i].side;
        h->c.n_brought[!side] = h->c.given[TG_TEST].n_ranks = 4;
        h->c.lacking[side] = lacking;
        h->c.n_runs[side] = rows[i].runs;
        h->c.n_brought[side] = rows[i].brought;
        h->c.n_lacking[side] = rows[i].lacking;
        guarded(h, rows[i].want);
        if (rows[i].next)
            assert_true(tg_sv_starts(h->e.results[0].next, tg_sv_of(rows[i].next)));
        h->in.alone = true; /* the fresh side, and nothing is said of a baseline */
        guarded(h, side == TG_TEST ? rows[i].want : "");
        h->in.alone = false;
    }
    h->c.n_brought[TG_BASE] = h->c.n_brought[TG_TEST] = 4; /* but not the same ones */
    h->c.given[TG_TEST].n_ranks = 1;
    guarded(h, "ranks: 1 rank is on both sides, 4 are expected");
    h->c.given[TG_TEST].n_ranks = 3;
    guarded(h, "ranks: 3 ranks are on both sides, 4 are expected");
    h->c.side[TG_TEST] = (struct tg_side){ .ranks = there, .n_ranks = 3 };
    h->c.n_brought[TG_TEST] = 3; /* which there are shows that they count from 0 */
    h->c.n_lacking[TG_TEST] = 1;
    h->c.n_runs[TG_TEST] = 1;
    guarded(h, "ranks: rank 2 of 4 has no fresh trace (found: ranks 0, 1, 3)");
    h->c.n_runs[TG_TEST] = 3;
    guarded(h, "ranks: rank 2 of 4 is not in every fresh run (in all runs: ranks 0, 1, 3)");
}

/* Up to three are named; a suite is not needed for it. */
WITH_HAND(what_is_damaged_is_named)
{
    static const char *const want[] = {
        "",
        "ranks: baseline side, damaged and not judged: a",
        "ranks: baseline side, damaged and not judged: a; b",
        "ranks: baseline side, damaged and not judged: a; b; c",
        "ranks: baseline side, damaged and not judged: a; b; c; d",
        "ranks: baseline side, damaged and not judged: a; b; c; and 2 more",
    };
    struct tg_damage damage = { 0 };
    tg_buf_puts(&damage.text, "a\nb\nc\nd\ne\n");
    h->in.damage[TG_BASE] = &damage;
    for (; damage.n < sizeof want / sizeof *want; damage.n++)
        guarded(h, want[damage.n]);
    tg_buf_release(&damage.text);
}

/* Four steps a side: markers inside others, that overlap, or that hold nothing,
 * on one side alone. */
WITH_HAND(steps_that_one_side_marks_in_another_way)
{
    static const struct {
        unsigned nested[2], crossing[2], hollow[2]; /* baseline, fresh */
        const char *want;
    } rows[] = {
        { { 0, 0 }, { 0, 0 }, { 0, 0 }, NULL },
        { { 0, 1 }, { 0, 0 }, { 0, 0 }, "fresh traces have 1 marker of steps inside others" },
        { { 3, 0 }, { 0, 0 }, { 0, 0 }, "baseline traces have 3 markers of steps inside others" },
        { { 1, 8 }, { 0, 0 }, { 0, 0 }, NULL },
        { { 0, 0 }, { 0, 3 }, { 0, 0 }, "fresh traces have 3 markers of steps that overlap" },
        { { 0, 0 }, { 0, 2 }, { 0, 0 }, NULL }, /* half of them is not most of them */
        { { 0, 0 }, { 3, 1 }, { 0, 0 }, NULL },
        { { 0, 0 },
          { 0, 0 },
          { 4, 0 },
          "baseline traces have 4 markers of steps on a thread that does nothing else" },
        { { 0, 0 }, { 0, 0 }, { 0, 2 }, NULL },
        { { 0, 0 }, { 0, 0 }, { 4, 4 }, NULL },
    };
    uint32_t gaps[2][4];
    struct tg_shard shard[2];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int side = 0; side < 2; side++) {
            for (unsigned k = 0; k < 4; k++)
                gaps[side][k] = k < rows[i].hollow[side] ? 1 : 3;
            shard[side] = (struct tg_shard){ .marked = true, .n_steps = 4 };
            shard[side].gap_count = gaps[side];
            shard[side].integrity.nested_windows = rows[i].nested[side];
            shard[side].integrity.crossing_windows = rows[i].crossing[side];
            h->c.side[side] = hand_side(h, &shard[side], 1);
        }
        h->suite.window.at.line = 7;
        h->in.suite = i % 2 ? &h->suite : NULL;
        const char *want =
            rows[i].want
                ? tg_arena_printf(h->a, "window: the %s, unlike the other side's", rows[i].want)
                : "";
        assert_int_equal(guarded(h, want), !rows[i].want);
        if (rows[i].want)
            assert_int_equal(h->e.results[0].at.line, i % 2 ? 7 : 0);
    }
}

/* One device's work of 1 ms in which a part runs past the next start on its stream. */
WITH_HAND(damage_is_a_part_of_the_whole)
{
    struct tg_shard shard = { .device_time = 1000000, .spans = 1000, .device_spans = 1000 };
    static const struct {
        tg_ns overlap;
        uint64_t negative, zero;
        const char *want;
    } rows[] = {
        { 50000, 1, 10, "" }, /* as much as the limits */
        { 51000, 0, 0,
          "5.1 % of device time runs past the next start on its "
          "stream" },
        { 51000, 1, 10,
          "5.1 % of device time runs past the next start on its "
          "stream" },
        { 0, 2, 0, "2 events have a negative duration or outlast all steps" },
        { 0, 0, 11, "11 kernels have start 0 and duration 0" },
        { 51000, 2, 11,
          "5.1 % of device time runs past the next start on its "
          "stream; 2 events have a negative duration or outlast all steps; 11 kernels have start "
          "0 and duration 0" },
    };
    h->c.given[TG_TEST] = hand_side(h, &shard, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        shard.integrity.overlapping_ns = rows[i].overlap;
        shard.integrity.negative_durations = rows[i].negative;
        shard.integrity.zero_kernels = rows[i].zero;
        damaged(h, rows[i].want);
    }
}

/* Launches that lost their kernels, work its launch, or events their times: so many,
 * and a part of all. */
WITH_HAND(pairs_and_times_that_were_lost)
{
    struct tg_shard shard = { 0 };
    static const struct {
        uint64_t spans, unlinked, lost, undated, unmatched;
        const char *want;
    } rows[] = {
        { 199, 99, 0, 0, 0, "" },
        { 200, 100, 0, 0, 0, "" }, /* half of them is not more than half */
        { 199, 100, 0, 0, 0, "100 of 199 pieces of device work have no launch" },
        { 100, 99, 0, 0, 0, "" },
        { 2000, 0, 100, 0, 0, "" },
        { 1999, 0, 100, 0, 0, "100 launches of kernels have no kernel" },
        { 1000, 0, 99, 0, 0, "" },
        { 1000, 0, 0, 10, 99, "" }, /* 1 %; a recording that is cut at its ends loses partners */
        { 1000, 0, 0, 11, 0, "11 events have no start, no duration or no partner" },
        { 1000, 0, 0, 0, 100, "100 events have no start, no duration or no partner" },
        { 10000, 0, 0, 0, 100, "" },
    };
    h->c.given[TG_TEST] = hand_side(h, &shard, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        shard.spans = shard.device_spans = rows[i].spans;
        shard.unlinked = shard.integrity.unlinked = rows[i].unlinked;
        shard.integrity.lost_kernels = rows[i].lost;
        shard.integrity.undated = rows[i].undated;
        shard.integrity.unmatched_end = rows[i].unmatched;
        damaged(h, rows[i].want);
    }
}

/* The other rules cannot see them: said, and no pass where the fresh side has more of them. */
WITH_HAND(events_without_a_time_are_told)
{
    struct tg_shard shard[2] = { { .spans = 1000 }, { .spans = 1000 } };
    for (int side = 0; side < 2; side++)
        h->c.given[side] = hand_side(h, &shard[side], 1);
    tg_guard_integrity(&h->e);
    assert_int_equal(h->v.n_notes, 0);
    shard[TG_TEST].integrity.undated = 1;
    tg_guard_integrity(&h->e);
    assert_int_equal(h->v.n_notes, 1);
    hand_text(h->v.notes[0].text,
              "1 event of the fresh traces without a start or a duration left out");
    assert_true(h->v.notes[0].reason);
    shard[TG_BASE].integrity.undated = 1; /* the baseline has as many */
    h->v.n_notes = 0;
    tg_guard_integrity(&h->e);
    assert_int_equal(h->v.n_notes, 2);
    assert_false(h->v.notes[0].reason || h->v.notes[1].reason);
}

/* Each kind has its number, over all runs. */
WITH_HAND(what_was_accepted_is_told)
{
    struct tg_shard shard[2] = {
        { .spans = 100000, .device_spans = 100000, .device_time = 100000, .unlinked = 12 },
        { .leniencies = 9, .unlinked = 2, .truncated = true },
    };
    shard[0].integrity.overlapping = 2;
    shard[0].integrity.negative_durations = 3;
    shard[0].integrity.longer_than_step = 4;
    shard[0].integrity.zero_kernels = 5;
    shard[0].integrity.unlinked = 6;
    shard[0].integrity.lost_kernels = 7;
    shard[0].integrity.undated = shard[1].integrity.undated = 1;
    shard[0].integrity.unmatched_begin = 2;
    shard[1].integrity.unmatched_end = 1;
    shard[1].lenient = (struct tg_lenient){
        .invalid_escapes = 1, .control_bytes = 2, .bad_utf8 = 3, .non_finite = 1, .huge_integers = 2
    };
    h->c.given[TG_BASE] = hand_side(h, shard, 2);
    tg_guard_integrity(&h->e);
    assert_int_equal(h->e.n, 0);
    assert_int_equal(h->v.n_notes, 5);
    hand_text(
        h->v.notes[0].text,
        "of the events of the baseline traces 2 run past the next start on their stream; 3 have a "
        "negative duration; 4 are kernels that outlast all steps; 5 are kernels with start 0 and "
        "duration 0; 6 are device work whose launch is not in the trace (dropped, or from before "
        "the recording); 8 are device work that names no launch of the recording, as copies of "
        "MTIA and all of XLA do; 7 are launches whose kernel is not in the trace (dropped)");
    hand_text(h->v.notes[1].text, "a baseline trace is truncated: its missing part was not judged");
    hand_text(
        h->v.notes[2].text,
        "9 deviations from JSON in the baseline traces accepted: 1 invalid escape, 2 raw control "
        "bytes, 3 texts with invalid bytes, 1 NaN or Infinity, 2 integers out of range");
    hand_text(h->v.notes[3].text,
              "3 begin or end events of the baseline traces without a partner ignored");
    hand_text(h->v.notes[4].text,
              "2 events of the baseline traces without a start or a duration left out");
}

/* Of work that was lost one more a step than in the baseline keeps the verdict from a pass. */
WITH_HAND(more_lost_work_than_in_the_baseline)
{
    struct tg_shard shard[2] = { { .n_steps = 2 }, { .n_steps = 4 } };
    static const struct {
        uint64_t base, fresh;
        bool is_row;
    } rows[] = { { 10, 20, false }, { 10, 23, false }, { 10, 24, true }, { 0, 4, true } };
    for (int side = 0; side < 2; side++) {
        h->c.given[side] = hand_side(h, &shard[side], 1);
        shard[side].spans = shard[side].device_spans = 100000;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int partner = 0; partner < 2; partner++) {
            for (int side = 0; side < 2; side++) {
                uint64_t n = side ? rows[i].fresh : rows[i].base;
                shard[side].integrity.lost_kernels = partner ? 0 : n;
                shard[side].integrity.unmatched_begin = partner ? n : 0;
            }
            h->v.n_notes = 0;
            tg_guard_integrity(&h->e);
            assert_int_equal(h->v.n_notes, rows[i].base ? 2 : 1);
            assert_int_equal(!!h->v.notes[h->v.n_notes - 1].reason, rows[i].is_row);
            assert_false(h->v.n_notes > 1 && h->v.notes[0].reason);
        }
}

/* Marks and what the profiler itself took are nothing that ran;
 * frames and stored step times are. */
WITH_HAND(a_trace_of_marks_alone_is_empty)
{
    static const struct {
        enum tg_kind kind;
        bool empty;
    } rows[] = {
        { TG_KIND_STEP, true },     { TG_KIND_DEVICE_ANNOTATION, true },
        { TG_KIND_OVERHEAD, true }, { TG_KIND_ANNOTATION, false },
        { TG_KIND_OP, false },      { TG_KIND_KERNEL, false },
    };
    struct tg_row_key key = { 0 };
    struct tg_row row = { .key = &key };
    struct tg_shard shard = { .rows = &row, .n_rows = 1 };
    const char *empty = "empty: the fresh trace holds no events";
    h->c.given[TG_TEST] = hand_side(h, &shard, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        key.kind = rows[i].kind;
        guarded(h, rows[i].empty ? empty : "");
    }
    shard.n_rows = 0;
    guarded(h, empty);
    shard.n_frames = 1;
    guarded(h, "");
    shard.n_frames = 0;
    shard.steps_only = true;
    guarded(h, "");
}

/* Of two runs one, then both. */
WITH_HAND(empty_ones_among_traces)
{
    struct tg_shard shard[2] = { { .n_frames = 1 } };
    h->c.given[TG_TEST] = hand_side(h, shard, 2);
    guarded(h, "empty: a fresh trace holds no events");
    shard[0].n_frames = 0;
    guarded(h, "empty: some fresh traces hold no events");
}
