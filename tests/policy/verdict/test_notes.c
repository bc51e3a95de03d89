/* notes.c: banners, and what makes of a pass a warning. Each row is a pair of sides and a policy;
 * what the verdict says of it is tests/golden/verdict_notes.txt, derived from docs/policy.md when
 * it was written and read through at every change. */
#include "by_hand.h"
#include "model.h"

#define LAUNCHES_AND_SYNCS                                                                         \
    "rules: [{id: l, metric: launch_count, fail: {abs: 0}}, {id: s, metric: sync_count, fail: "    \
    "{abs: 0}}]"

static const struct model_row model_rows[] = {
    ROW("notes: a rank is missing", ABS, SIDE(.ranks = 3), SIDE(.ranks = 3, .without_ranks = 2)),
    ROW("notes: two ranks are missing", ABS, SIDE(.ranks = 4),
        SIDE(.ranks = 4, .without_ranks = 6)),
    ROW("notes: missing on both sides", ABS, SIDE(.ranks = 4, .without_ranks = 4),
        SIDE(.ranks = 4, .without_ranks = 2)),
    ROW("notes: another rank", ABS, SIDE(.ranks = 2, .without_ranks = 2),
        SIDE(.ranks = 2, .without_ranks = 1)),
    ROW("notes: ranks, one is left", ABS, SIDE(.ranks = 2, .without_ranks = 2), SIDE(.ranks = 2)),
    ROW("notes: another device", ABS, USUAL, SIDE(.device = "Tesla V100")),
    ROW("notes: another device, no kernels", ABS, SIDE(.work = "op|aten::a"),
        SIDE(.device = "Tesla V100", .work = "op|aten::a")),
    ROW("notes: outside the steps", ABS, USUAL,
        SIDE(.between = "op|aten::a;sync|-|cudaDeviceSynchronize")),
    ROW("notes: more outside the steps", ABS, SIDE(.between = "op|aten::a"),
        SIDE(.between = "op|aten::a;op|aten::a")),
    ROW("notes: many outside the steps", ABS, USUAL,
        SIDE(.between = "op|aten::a;op|aten::b;op|aten::c;op|aten::d;op|aten::e")),
    ROW("notes: fewer outside", ABS, SIDE(.between = "op|aten::a"), USUAL),
    ROW("notes: outside, fewer steps", ABS, SIDE(.between = "op|aten::a"),
        SIDE(.between = "op|aten::a", .steps = 2)),
    ROW("notes: once outside", ABS, USUAL, SIDE(.between = "op|aten::a", .in_steps = 8)),
    ROW("notes: polling outside", ABS, USUAL, SIDE(.between = "sync|-|cudaEventQuery")),
    ROW("notes: counted by metrics of the trace", LAUNCHES_AND_SYNCS, USUAL,
        SIDE(.between = KERNEL ";sync|-|cudaDeviceSynchronize")),
    ROW("notes: moved outside the steps", LAUNCHES_AND_SYNCS, USUAL,
        SIDE(.gone = "aten::op5", .between = "kernel|aten::op5|void kern5(float*)|25")),
    ROW("notes: moved outside the steps, by names", ABS, USUAL,
        SIDE(.gone = "aten::op5", .between = "kernel|aten::op5|void kern5(float*)|25")),
    RUNS("notes: outside once in a trace of three runs", LAUNCHES_AND_SYNCS, 3, .between = KERNEL,
         .in_steps = 8, .in_runs = 4),
    RUNS("notes: outside once in each of three runs", LAUNCHES_AND_SYNCS, 3, .between = KERNEL,
         .in_steps = 8),
    ROW("notes: outside, more steps", LAUNCHES_AND_SYNCS, SIDE(.between = KERNEL),
        SIDE(.between = KERNEL, .steps = 8)),
    ROW("notes: outside, in steps that are skipped",
        LAUNCHES_AND_SYNCS
        "\nsuites: [{name: s, trace: x, window: {by: ProfilerStep, skip_first: 1}}]",
        USUAL, SIDE(.more = KERNEL, .in_steps = 1)),
    ROW("notes: an unknown category", ABS, SIDE(.steps = 1),
        SIDE(.steps = 1, .events = "{\"ph\":\"X\",\"cat\":\"xpu_op\",\"name\":\"lib::more\","
                                   "\"pid\":10,\"tid\":10,\"ts\":1000.1,\"dur\":0.2},")),
    ROW("notes: a known category that no rule judges", ABS, SIDE(.steps = 1),
        SIDE(.steps = 1, .events = "{\"ph\":\"X\",\"cat\":\"overhead\",\"name\":\"lib::more\","
                                   "\"pid\":10,\"tid\":10,\"ts\":1000.1,\"dur\":0.2},")),
    ROW("notes: unmarked", ABS, SIDE(.marker = ""), SIDE(.marker = "")),
    ROW("notes: unmarked, twice", ABS, SIDE(.marker = ""), SIDE(.marker = "", .steps = 8)),
    ROW("notes: unmarked, hints", ABS, SIDE(.marker = ""),
        SIDE(.marker = "",
             .events =
                 "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"execute_1\",\"pid\":10,"
                 "\"tid\":10,\"ts\":1100,\"dur\":3},{\"ph\":\"X\",\"cat\":\"user_annotation\","
                 "\"name\":\"execute_2\",\"pid\":10,\"tid\":10,\"ts\":1200,\"dur\":3},")),
    RUNS("notes: the whole machine", ABS "noise: {drift: 1%}", 5, .all_slower = 1.3),
    RUNS("notes: the whole machine, faster", ABS "noise: {drift: 1%}", 5, .all_slower = 0.7),
};

TEST(verdicts_are_as_written)
{
    model_check("verdict_notes.txt", model_rows, sizeof model_rows / sizeof *model_rows);
}

/* ---- by hand ---- */

/* The notes of a comparison, one a line; those that lift the verdict begin with "!",
 * other warnings with "?". */
static void noted(struct hand *h, const char *want)
{
    TG_BUF got = { 0 };
    h->v.n_notes = 0;
    h->c.marked[0] = h->c.marked[1] = true;
    tg_notes(&h->e);
    for (size_t i = 0; i < h->v.n_notes; i++) {
        const struct tg_note *n = &h->v.notes[i];
        tg_buf_printf(&got, "%s%s%.*s", i ? "\n" : "",
                      n->reason    ? "!"
                      : n->warning ? "?"
                                   : "",
                      TG_SV_ARG(n->text));
    }
    hand_text(tg_buf_sv(&got), want);
}

static void plain(struct hand *h)
{
    h->c.iteration_ratio = 1;
    h->policy.rules = &h->rule; /* about the calls of every kind */
    h->policy.n_rules = 1;
}

/* One rank a side that is not the same one is compared all the same; of several,
 * those that both have. */
WITH_HAND(other_ranks)
{
    static const int64_t zero[] = { 0, 1 }, three[] = { 3 }, two[] = { 2, 5 };
    plain(h);
    for (int side = 0; side < 2; side++)
        h->c.side[side] = h->c.given[side] =
            (struct tg_side){ .ranks = (int64_t *)(uintptr_t)zero, .n_ranks = 1 };
    noted(h, "");
    h->c.side[TG_TEST].ranks = (int64_t *)(uintptr_t)three;
    h->c.lacking[TG_BASE] = three;
    h->c.n_lacking[TG_BASE] = 1;
    noted(h, "!rank 3 is compared with rank 0 of the baseline");
    h->c.n_ranks[TG_BASE] = 2; /* of several it is one that the baseline lacks */
    noted(h, "!rank 3 is not in every baseline run: not compared; 1 rank is");
    h->c.n_ranks[TG_BASE] = 1;
    h->c.n_ranks[TG_TEST] = 2;
    noted(h, "!rank 3 is not in every baseline run: not compared; 1 rank is");
    h->c.n_ranks[TG_TEST] = 1;
    h->c.n_lacking[TG_BASE] = 0; /* nothing is said to be missing: as they are */
    h->c.lacking[TG_TEST] = two;
    h->c.n_lacking[TG_TEST] = 2;
    h->c.given[TG_TEST].n_ranks = 2;
    noted(h, "!ranks 2, 5 are not in every fresh run: not compared; 2 ranks are");
    h->c.n_lacking[TG_TEST] = 0;
    noted(h, "");
}

WITH_HAND(a_rank_that_is_late)
{
    static const int64_t ranks[] = { 2, 3 };
    struct tg_op op = hand_op("aten::copy_", TG_KIND_OP);
    struct tg_straggler s = { .ranks = ranks,
                              .n_ranks = 1,
                              .collective = TG_SV("ncclAllReduce"),
                              .wait_ns = 2100000,
                              .since = 3,
                              .n_late = 2,
                              .n_steps = 4,
                              .more_ns = 2000000 };
    plain(h);
    h->c.straggler = &s;
    noted(h, "?rank 2 is late: the other ranks wait up to 2.10 ms a step for it, most in "
             "ncclAllReduce, from step 3 on");
    hand_text(h->v.notes[0].next, "No operator or kernel of it takes longer: look at its machine, "
                                  "and at the time between operators.");
    s.n_ranks = 2;
    s.node = TG_SV("n1");
    s.op = &op;
    s.n_late = 4; /* in all of them */
    noted(
        h,
        "?ranks 2, 3 (node n1) are late: the other ranks wait up to 2.10 ms a step for them, most "
        "in ncclAllReduce; meanwhile 2.00 ms a step more than the others in aten::copy_ (host)");
    hand_text(h->v.notes[0].next, "Is it the program on this rank, its data, or its machine?");
    s.n_late = 0; /* not known in which */
    s.node = TG_SV("");
    op.kind = TG_KIND_KERNEL;
    noted(h,
          "?ranks 2, 3 are late: the other ranks wait up to 2.10 ms a step for them, most in "
          "ncclAllReduce; meanwhile 2.00 ms a step more than the others in aten::copy_ (device)");
    s.n_late = 2;
    s.since = -1; /* there are no steps */
    s.op = NULL;
    noted(h, "?ranks 2, 3 are late: the other ranks wait up to 2.10 ms a step for them, most in "
             "ncclAllReduce");
}

WITH_HAND(busy_and_other_data)
{
    plain(h);
    h->c.excess = 0.07;
    noted(h, "");
    h->c.busy = true;
    noted(
        h,
        "!the machine was busy during the fresh runs: of most operators the steps of a run differ; "
        "times that this may explain are not judged");
    h->policy.noise.min_runs = (int64_t)h->c.n_runs[TG_TEST] + 1; /* judged in no case: a note */
    noted(
        h,
        "the machine was busy during the fresh runs: of most operators the steps of a run differ; "
        "times that this may explain are not judged");
    h->policy.noise.min_runs = 0;
    h->c.n_withheld = 1; /* the guard says it */
    noted(h, "");
    h->c.n_withheld = 0;
    h->c.busy = false;
    h->c.other_data = true;
    noted(h, "!the fresh runs had other data: most of the counts that vary are where the "
             "baseline's never were; durations are not judged");
}

/* A rank has more of what others have less of: the name that rose most on one rank, and how many
 * more. A row that says so by itself, a polled name and sides without steps do not count. */
WITH_HAND(the_same_calls_on_other_ranks)
{
    static const char two[] = "!as many calls as before, but on other ranks: 'b' 1 -> 7 on rank 3 "
                              "(and more on 1 other); 1 more name";
    const struct tg_rank_shift by_two = { 1, { 2, 4 }, 1 }, by_six = { 3, { 1, 7 }, 2 },
                               by_five = { 2, { 3, 8 }, 3 };
    struct tg_op ops[3] = { hand_op("a", TG_KIND_KERNEL), hand_op("b", TG_KIND_KERNEL),
                            hand_op("c", TG_KIND_KERNEL) };
    plain(h);
    hand_ops(h, ops, 3);
    noted(h, "");
    ops[0].shift = &by_two;
    noted(h, "!as many calls as before, but on other ranks: 'a' 2 -> 4 on rank 1");
    ops[1].shift = &by_six;
    noted(h, two);
    ops[2].shift = &by_five;
    noted(h, "!as many calls as before, but on other ranks: 'b' 1 -> 7 on rank 3 (and more on 1 "
             "other); 2 more names");
    ops[2].change = TG_MORE;
    noted(h, two);
    ops[2].change = TG_SAME;
    ops[2].polling = true;
    noted(h, two);
    ops[2] = (struct tg_op){ .kind = TG_KIND_STEP, .shift = &by_five };
    noted(h, two);
    ops[1].polling = true;
    ops[2] = hand_op("c", TG_KIND_KERNEL);
    ops[2].shift = &by_five;
    noted(h, "!as many calls as before, but on other ranks: 'c' 3 -> 8 on rank 2 (and more on 2 "
             "others); 1 more name");
    for (int side = 0; side < 2; side++) {
        h->v.n_notes = 0;
        h->c.marked[side] = false;
        h->c.marked[!side] = true;
        tg_notes(&h->e);
        for (size_t i = 0; i < h->v.n_notes; i++)
            assert_false(tg_sv_has(h->v.notes[i].text, TG_SV("other ranks")));
    }
}

/* Of a copy that is on other ranks the calls are told, else its bytes;
 * more in all is another matter. */
WITH_HAND(the_same_bytes_on_other_ranks)
{
    static const char told[] =
        "!as many bytes as before, but on other ranks: 'a' 4.0 KiB -> 6.0 KiB on rank 1";
    const struct tg_rank_shift bytes = { 1, { 4096, 6144 }, 1 }, calls = { 1, { 2, 3 }, 1 };
    struct tg_op op = hand_op("a", TG_KIND_MEMCPY);
    plain(h);
    hand_ops(h, &op, 1);
    op.bytes[TG_BASE] = op.bytes[TG_TEST] = 5120;
    noted(h, "");
    op.bytes_shift = &bytes;
    noted(h, told);
    op.bytes[TG_TEST] = 5121;
    noted(h, "");
    op.bytes[TG_TEST] = 5120;
    op.shift = &calls;
    noted(h, "!as many calls as before, but on other ranks: 'a' 2 -> 3 on rank 1");
    op.shift = NULL;
    op.change = TG_MORE;
    noted(h, "");
}

/* Each name up to three, and how many more. */
WITH_HAND(more_of_what_no_rule_is_about)
{
    static const char *const names[] = { "a", "b", "c", "d", "e", "f" };
    struct tg_op ops[6];
    plain(h);
    h->c.ops = ops;
    for (int i = 0; i < 6; i++) {
        ops[i] = hand_op(names[i], TG_KIND_OTHER);
        ops[i].change = i == 4 ? TG_FEWER : i == 5 ? TG_SAME : i % 2 ? TG_MORE : TG_ADDED;
        ops[i].count[TG_TEST] = 3;
    }
    h->c.n_ops = 3;
    noted(h, "!more events of an unknown category: a +2, b +2, c +2");
    h->c.n_ops = 6;
    noted(h, "!more events of an unknown category: a +2, b +2, c +2, d +2");
    ops[3].kind = TG_KIND_OP; /* has rules */
    noted(h, "!more events of an unknown category: a +2, b +2, c +2");
    hand_ops(h, &ops[4], 2);
    noted(h, "");
    ops[5] = hand_op("f", TG_KIND_ANNOTATION);
    ops[5].change = TG_MORE;
    ops[5].count[TG_TEST] = 101;
    noted(h, "!more annotations: f +100");
    h->rule.match.kinds = 1u << TG_KIND_ANNOTATION; /* has a rule */
    noted(h, "");
}

/* In the baseline's one trace of four steps are 100 events, of which 60 are rows of names. The
 * fresh side is told where, beside those of names, it has 100 more a step and 100 more a trace. */
WITH_HAND(more_events_that_are_no_rows)
{
    static const struct {
        uint64_t events[2], rows[2]; /* of each trace; of all */
        size_t runs[2];
        uint64_t steps[2]; /* of all */
        enum tg_kind kind;
        const char *told; /* NULL: nothing */
    } rows[] = {
        { { 100, 200 }, { 60, 60 }, { 1, 1 }, { 4, 4 }, TG_KIND_OP, "2" },
        { { 100, 199 }, { 60, 60 }, { 1, 1 }, { 4, 4 }, TG_KIND_OP, NULL },
        { { 100, 200 }, { 60, 61 }, { 1, 1 }, { 4, 4 }, TG_KIND_OP, NULL }, /* rows are judged */
        { { 100, 900 }, { 60, 860 }, { 1, 1 }, { 4, 4 }, TG_KIND_OP, NULL },
        { { 100, 900 }, { 60, 860 }, { 1, 1 }, { 4, 4 }, TG_KIND_DEVICE_ANNOTATION, "9" },
        { { 100, 300 }, { 60, 60 }, { 1, 1 }, { 4, 8 }, TG_KIND_OP, NULL }, /* steps are more */
        { { 100, 400 }, { 60, 120 }, { 1, 1 }, { 4, 8 }, TG_KIND_OP, "2" },
        { { 100, 150 }, { 60, 60 }, { 1, 2 }, { 4, 4 }, TG_KIND_OP, NULL }, /* traces are more */
        { { 100, 200 }, { 60, 120 }, { 1, 2 }, { 4, 8 }, TG_KIND_OP, "2" },
        { { 100, 200 }, { 120, 60 }, { 2, 1 }, { 8, 4 }, TG_KIND_OP, "2" },
        { { 0, 200 }, { 0, 0 }, { 1, 1 }, { 4, 4 }, TG_KIND_OP, NULL }, /* as many as what? */
        { { 60, 200 }, { 60, 60 }, { 1, 1 }, { 0, 4 }, TG_KIND_OP, NULL },
        { { 100, 900 }, { 60, 60 }, { 1, 1 }, { 4, 0 }, TG_KIND_OP, NULL },
    };
    plain(h);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tg_op op = hand_op("a", rows[i].kind);
        struct tg_shard shard[2][2]; /* by side, by run */
        for (int side = 0; side < 2; side++) {
            shard[side][0] = (struct tg_shard){ .events = rows[i].events[side], .n_steps = 4 };
            shard[side][1] = shard[side][0];
            h->c.side[side] = hand_side(h, shard[side], rows[i].runs[side]);
            h->c.n_units[side] = rows[i].steps[side];
            op.whole_count[side] = op.step_count[side] = rows[i].rows[side];
        }
        hand_ops(h, &op, 1);
        noted(h, rows[i].told
                     ? tg_arena_printf(h->a,
                                       "!the fresh traces have %s times as many events a step as "
                                       "the baseline's, most of them of kinds that no rule sees",
                                       rows[i].told)
                     : "");
    }
}

/* Calls that launch, with as many kernels and with fewer. */
WITH_HAND(more_launching_calls_than_work)
{
    struct tg_op ops[2] = { hand_op("cudaLaunchKernel", TG_KIND_RUNTIME),
                            hand_op("kern", TG_KIND_KERNEL) };
    plain(h);
    h->c.iteration_ratio = 1;
    hand_ops(h, ops, 2);
    ops[0].change = ops[1].change = TG_MORE;
    ops[0].count[TG_TEST] = 4; /* 3 more */
    ops[1].count[TG_TEST] = 3; /* 2 more */
    noted(h, "!3 more launching calls a step, but 2 more of what they launch");
    ops[1].change = TG_SAME; /* chance: as many */
    noted(h, "!3 more launching calls a step, but none more of what they launch");
    ops[1].change = TG_FEWER;
    ops[1].count[TG_TEST] = 0;
    ops[1].polling = true; /* no less work */
    noted(h, "!3 more launching calls a step, but none more of what they launch");
    ops[1].polling = false;
    ops[1].change = TG_MORE;
    ops[1].count[TG_TEST] = 4;
    noted(h, "");
    ops[1].change = TG_SAME;
    ops[0].count[TG_TEST] = 1.9; /* less than one in each step */
    noted(h, "");
    ops[0].count[TG_TEST] = 2;
    noted(h, "!1 more launching calls a step, but none more of what they launch");
    h->c.differs = TG_SV("device"); /* another device launches otherwise */
    noted(h, "!kernels are not judged, 0.0 % of the step: the two sides differ in device");
}

/* One run of one rank of 4 steps a side, in which each name runs 8 times more outside the steps. */
WITH_HAND(more_calls_outside_the_steps)
{
    static const char *const names[] = { "a", "b", "c", "d" };
    struct tg_shard shard = { .n_steps = 4 };
    struct tg_op ops[4];
    plain(h);
    h->c.ops = ops;
    for (int i = 0; i < 4; i++) {
        ops[i] = hand_op(names[i], TG_KIND_OP);
        ops[i].outside_count[TG_TEST] = 8;
    }
    for (int side = 0; side < 2; side++) {
        h->c.side[side] = hand_side(h, &shard, 1);
        h->c.n_units[side] = h->c.n_all_units[side] = 4;
        h->c.n_runs[side] = 1;
    }
    h->c.n_ops = 3;
    noted(h, "!more calls outside the steps: a 0 -> 2, b 0 -> 2, c 0 -> 2");
    h->c.n_ops = 4;
    noted(h, "!more calls outside the steps: a 0 -> 2, b 0 -> 2, c 0 -> 2, d 0 -> 2");
    ops[0].outside_count[TG_BASE] = 8;
    h->c.n_ops = 1;
    noted(h, "");
}

/* Five operators of 10 % of the step each; `moved` of them take twice as long. */
static void steps_of(struct hand *h, struct tg_op *ops, int moved, double factor)
{
    static const char *const names[] = { "a", "b", "c", "d", "e", "f" };
    hand_ops(h, ops, 5);
    for (int i = 0; i < 6; i++) {
        ops[i] = hand_op(names[i], TG_KIND_OP);
        ops[i].share[TG_BASE] = 0.1;
        ops[i].self[TG_BASE] = 100000;
        ops[i].self[TG_TEST] = i < moved ? 100000 * factor : 100000;
    }
}

/* A device that gets slower within its runs is told, one that gets faster too;
 * a steady one is not. */
WITH_HAND(a_device_that_changes_its_speed)
{
    plain(h);
    noted(h, "");
    h->c.warming = log(1.04);
    noted(h, "the device's speed changes within the runs: its work takes 4.0 % longer in the last "
             "steps than in the first ones; its durations are not judged");
    h->c.warming = log(0.9);
    noted(h,
          "the device's speed changes within the runs: its work takes 10.0 % shorter in the last "
          "steps than in the first ones; its durations are not judged");
    h->c.n_withheld = 1; /* the guard says it */
    noted(h, "");
}

WITH_HAND(a_run_that_was_disturbed_is_named)
{
    plain(h);
    h->in.disturbed = "";
    noted(h, "");
    h->in.disturbed = "fresh run run03.json.gz (1.4 times the usual step)";
    noted(h, "the machine was busy in fresh run run03.json.gz (1.4 times the usual step)");
}

WITH_HAND(drift_and_other_processors)
{
    struct tg_env_change env[] = { { TG_SV("torch"), { TG_SV("2.1"), TG_SV("2.2") } },
                                   { TG_SV("cpu"), { TG_SV("Xeon"), TG_SV("EPYC") } } };
    struct tg_op ops[6];
    plain(h);
    steps_of(h, ops, 0, 1);
    h->c.drift = log(1.2);
    h->c.env = env;
    h->c.n_env = 1;
    noted(h, "torch: 2.1 -> 2.2");
    h->c.drifted = true;
    noted(h, "!may be the machine: the whole machine is 20.0 % slower than for the baseline, and "
             "no count changed\ntorch: 2.1 -> 2.2");
    h->c.same_flags = false;
    noted(h,
          "!may be the profiler, whose flags differ: the whole machine is 20.0 % slower than for "
          "the baseline, and no count changed\ntorch: 2.1 -> 2.2");
    h->c.same_flags = true;
    h->c.drift = log(0.8);
    ops[0].change = TG_MORE; /* faster is no reason to look twice */
    noted(h, "the whole machine is 20.0 % faster than for the baseline\ntorch: 2.1 -> 2.2");
    h->c.n_env = 2;
    noted(h, "the whole machine is 20.0 % faster than for the baseline; recorded on EPYC, the "
             "baseline on Xeon\ntorch: 2.1 -> 2.2");
    h->c.drifted = false;
    noted(h, "may be the machine: the processors differ; recorded on EPYC, the baseline on Xeon\n"
             "torch: 2.1 -> 2.2");
    env[1].value[TG_BASE] = TG_SV(""); /* not known of one side: no other processor */
    noted(h, "torch: 2.1 -> 2.2\ncpu: unknown -> EPYC");
    env[1].value[TG_BASE] = TG_SV("Xeon");
    env[1].value[TG_TEST] = TG_SV("");
    noted(h, "torch: 2.1 -> 2.2\ncpu: Xeon -> unknown");
}

WITH_HAND(ranks_whose_step_times_alone_are_stored)
{
    plain(h);
    h->c.n_steps_only = 2;
    h->c.n_ranks[TG_TEST] = 6;
    h->c.given[TG_TEST].n_ranks = 8;
    noted(h, "6 of 8 ranks are compared in full; of the others the stored side has step times "
             "only, which are compared");
}

WITH_HAND(ranks_without_names)
{
    plain(h);
    h->c.n_unnamed = 2;
    h->c.n_ranks[TG_TEST] = 6;
    h->c.given[TG_TEST].n_ranks = 8;
    noted(h, "operators and kernels are compared on 6 of 8 ranks: no rule is about them; metrics, "
             "step times and collectives on all");
}

/* Regions that torch.compile compiled again: "frame/recompilation", but for the first, 0. */
WITH_HAND(recompilations)
{
    static const char *const names[] = {
        "Torch-Compiled Region: 1/1",
        "Torch-Compiled Region: 2/0",
        "Torch-Compiled Region: 3",
        "Torch-Compiled Region: /4",
        "aten::mm: 5/1",
        "Torch-Compiled Region: 1/2",
        "Torch-Compiled Region: 6/1",
        "Torch-Compiled Region: 7/1",
        "Torch-Compiled Region: 8/1",
        "Torch-Compiled Region: 9/1",
    };
    struct tg_row_key keys[10];
    struct tg_row rows[10];
    struct tg_shard shard[2] = { { .rows = rows, .n_rows = 1 }, { .rows = rows, .n_rows = 5 } };
    plain(h);
    for (int i = 0; i < 10; i++) {
        keys[i] = (struct tg_row_key){ .name = tg_sv_of(names[i]), .kind = TG_KIND_ANNOTATION };
        rows[i] = (struct tg_row){ .key = &keys[i] };
    }
    for (int side = 0; side < 2; side++) {
        h->c.side[side] = hand_side(h, &shard[side], 1);
        h->c.n_units[side] = 1;
    }
    noted(h, ""); /* the baseline had that one, the others are none */
    shard[1].n_rows = 6;
    noted(h, "torch.compile compiled 1 region again that the baseline did not: 1/2");
    shard[1].n_rows = 10;
    noted(h, "torch.compile compiled 5 regions again that the baseline did not: 1/2, 6/1, 7/1, "
             "8/1, 9/1");
    shard[0].n_rows = 0;
    noted(h, "torch.compile compiled 6 regions again that the baseline did not: 1/1, 1/2, 6/1, "
             "7/1, 8/1, …");
}

/* What is gone is a note, but where a rule about every name warns of each call less. */
WITH_HAND(less_work)
{
    static const struct tg_bound none = { .kind = TG_BOUND_ABS, .value = 0 };
    static const struct tg_bound all = { .kind = TG_BOUND_PCT, .value = 100 };
    const struct tg_limit limit[2] = { { .bound = &all, .n = 1 }, { .bound = &none, .n = 1 } };
    struct tg_op op = hand_op("kern", TG_KIND_KERNEL);
    plain(h);
    op.change = TG_FEWER;
    op.count[TG_BASE] = 3;
    op.count[TG_TEST] = 1;
    hand_ops(h, &op, 1);
    h->rule.metric = TG_RULE_METRIC_COUNT;
    noted(h, "less work: kern -2 calls");
    h->rule.bad = TG_LESS_IS_BAD;
    h->rule.warn = (struct tg_limit_list){ .state = TG_LIMIT_ON, .v = &limit[0], .n = 1 };
    noted(h, "less work: kern -2 calls"); /* it warns of all or nothing */
    h->rule.warn.v = &limit[1];
    noted(h, "");
    h->rule.bad = TG_MORE_IS_BAD;
    noted(h, "less work: kern -2 calls");
    op.kind = TG_KIND_OP;
    noted(h, "less work: kern -2 calls");
    op.view = true; /* it weighs nothing: what another view came for is no less work */
    noted(h, "");
}
