/* select.c: which names a rule judges, where, and with which limits. Each row is a pair of sides
 * and a policy; what the verdict says of it is tests/golden/verdict_select.txt, derived from
 * docs/policy.md when it was written and read through at every change. */
#include "by_hand.h"
#include "model.h"

/* A rule for some events or branches, and what the run says of its own. */
#define WHEN(what, when, ...)                                                                      \
    ROW_WITH("when: " what, COUNT("fail: {abs: 0}, when: " when), USUAL, SIDE(.more = OP),         \
             __VA_ARGS__)

static const struct model_row model_rows[] = {
    MORE("match: name", FOR("name: 'aten::op3'"), OP),
    MORE("match: another name", FOR("name: 'aten::op4'"), OP),
    MORE("match: two names", FOR("name: ['aten::op4', 'aten::op3']"), OP),
    MORE("match: kind", FOR("kind: kernel"), OP),
    MORE("match: raw name", FOR("raw_name: 'void kern3(float?)'"), KERNEL),
    MORE("match: another raw name", FOR("raw_name: 'void kern4(float?)'"), KERNEL),
    ROW("match: raw name, gone", FOR("raw_name: 'void kern5(float?)'"), USUAL,
        SIDE(.gone = "aten::op5")),
    MORE("match: parent", FOR("kind: kernel, parent: 'aten::op3'"), KERNEL),
    MORE("match: another parent", FOR("kind: kernel, parent: 'aten::op4'"), KERNEL),
    MORE("match: class", FOR("class: compute"), KERNEL),
    MORE("match: another class", FOR("class: comm"), KERNEL),
    MORE("match: not a name", FOR("kind: op, not: {name: 'aten::op3'}"), OP),
    MORE("match: not another name", FOR("kind: op, not: {name: 'aten::op4'}"), OP),
    MORE("match: not a kind", FOR("not: {kind: op}"), OP),
    MORE("match: not a parent", FOR("kind: kernel, not: {parent: 'aten::op3'}"), KERNEL),
    MORE("match: family", FOR("family: gemm"), "kernel|-|ampere_sgemm_128|20"),
    MORE("match: another family", FOR("family: conv"), "kernel|-|ampere_sgemm_128|20"),
    MORE("match: families by name", FOR("family: [triton, attention, conv, norm, elementwise]"),
         "kernel|-|triton_poi|5;kernel|-|flash_fwd|5;kernel|-|conv2d|5;kernel|-|layer_"
         "norm|5;kernel|-|elementwise_kernel|5"),
    MORE("match: a regex", FOR("name: '/op[34]$/'"), OP),
    MORE("match: a regex that gives up", FOR("name: '/(a+)+$/'"),
         "op|aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"),
    MORE("match: not, a regex that gives up", FOR("kind: op, not: {name: '/(a+)+$/'}"),
         "op|aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"),
    MORE("match: raw, a regex that gives up", FOR("raw_name: '/(a+)+$/'"),
         "op|aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"),
    MORE("match: annotations", FOR("kind: annotation"), "op|x"),
    MORE("match: runtime", FOR("kind: runtime"), KERNEL),
    MORE("match: sync", FOR("kind: sync"), "sync|-|cudaDeviceSynchronize"),
    WHEN("event", "{event: push}", .event = "push"),
    WHEN("another event", "{event: push}", .event = "schedule"),
    MORE("when: event, unknown", COUNT("fail: {abs: 0}, when: {event: push}"), OP),
    WHEN("branch", "{branch: 'release/*'}", .branch = "release/1"),
    WHEN("another branch", "{branch: 'release/*'}", .branch = "main"),
    MORE("when: device", COUNT("fail: {abs: 0}, when: {device: '*H100*'}"), OP),
    MORE("when: another device", COUNT("fail: {abs: 0}, when: {device: '*A100*'}"), OP),
    WHEN("both", "{event: push, branch: main}", .event = "push", .branch = "main"),
    WHEN("one of both", "{event: push, branch: main}", .event = "push", .branch = "x"),
    WHEN("a list", "{event: [push, schedule]}", .event = "schedule"),
    MORE("override: lets it pass",
         COUNT("fail: {abs: 0}, overrides: [{match: {name: 'aten::op3'}, fail: {abs: 1}}]"), OP),
    MORE("override: for another name",
         COUNT("fail: {abs: 0}, overrides: [{match: {name: 'aten::op4'}, fail: {abs: 1}}]"), OP),
    MORE("override: the last wins",
         COUNT("fail: {abs: 0}, overrides: [{match: {name: 'aten::op3'}, fail: {abs: 1}}, {match: "
               "{kind: op}, fail: {abs: 0}}]"),
         OP),
    MORE("override: of the warning alone",
         COUNT("fail: {abs: 0}, overrides: [{match: {name: 'aten::op3'}, warn: {abs: 0}}]"), OP),
    MORE("override: off",
         COUNT("fail: {abs: 0}, overrides: [{match: {name: 'aten::op3'}, fail: off}]"), OP),
    MORE("override: of every name, off",
         COUNT("fail: {abs: 0}, overrides: [{match: {name: '*'}, fail: off}]"), OP),
    MORE("match: name, and another parent",
         FOR("kind: kernel, name: 'void kern3(float?)', parent: 'aten::op4'"), KERNEL),
    MORE("match: name, and its parent",
         FOR("kind: kernel, name: 'void kern3(float?)', parent: 'aten::op3'"), KERNEL),
    MORE("match: name, and another raw name",
         FOR("kind: kernel, name: 'void kern3(float?)', raw_name: 'void kern4*'"), KERNEL),
    MORE("match: raw name, and another parent",
         FOR("kind: kernel, raw_name: 'void kern3*', parent: 'aten::op4'"), KERNEL),
    MORE("match: class, and another name", FOR("class: compute, name: none"), KERNEL),
    MORE("when: any event, unknown", COUNT("fail: {abs: 0}, when: {event: '*'}"), OP),
    MORE("when: any branch, unknown", COUNT("fail: {abs: 0}, when: {branch: '*'}"), OP),
    ROW("when: device, of ranks", COUNT("fail: {abs: 0}, when: {device: 'NVIDIA*'}"),
        SIDE(.ranks = 2), SIDE(.more = OP, .ranks = 2)),
    ROW("when: a device as another key has it", COUNT("fail: {abs: 0}, when: {device: 'nccl'}"),
        SIDE(.ranks = 2), SIDE(.more = OP, .ranks = 2)),
    MORE("override: off, but not for it",
         COUNT("fail: {abs: 0}, overrides: [{match: {not: {name: 'aten::op3'}}, fail: off}]"), OP),
    MORE("override: off, but not for another name",
         COUNT("fail: {abs: 0}, overrides: [{match: {not: {name: 'aten::op4'}}, fail: off}]"), OP),
    MORE("override: off for a kind, but not for it",
         COUNT("fail: {abs: 0}, overrides: [{match: {kind: op, not: {name: 'aten::op3'}}, fail: "
               "off}]"),
         OP),
};

TEST(verdicts_are_as_written)
{
    model_check("verdict_select.txt", model_rows, sizeof model_rows / sizeof *model_rows);
}

/* ---- by hand ---- */

/* A name of both sides, or the raw name of one of them. */
WITH_HAND(raw_names_of_either_side)
{
    struct tg_op op = hand_op("gemm", TG_KIND_KERNEL);
    struct tg_match m = { .present = true, .raw_name = hand_patterns(h, "gemm_v2") };
    op.raw[TG_TEST] = TG_SV("gemm_v2");
    assert_int_equal(tg_select_op(&m, &op), TG_HIT_YES);
    op.present[TG_TEST] = false; /* its name is not one of this operator then */
    assert_int_equal(tg_select_op(&m, &op), TG_HIT_NO);
    op.raw[TG_BASE] = TG_SV("gemm_v2");
    op.raw[TG_TEST] = TG_SV("gemm");
    op.present[TG_TEST] = true;
    assert_int_equal(tg_select_op(&m, &op), TG_HIT_YES);
    op.raw[TG_BASE] = TG_SV("gemm");
    assert_int_equal(tg_select_op(&m, &op), TG_HIT_NO);
}

/* A pattern that finds one side's name has found it, whatever the other name costs it. */
WITH_HAND(a_hit_counts_more_than_giving_up)
{
    struct tg_op op = hand_op("gemm", TG_KIND_KERNEL);
    struct tg_match m = { .present = true, .raw_name = hand_patterns(h, "/x/") };
    op.raw[TG_TEST] = TG_SV("a\xFFx"); /* no text */
    assert_int_equal(tg_select_op(&m, &op), TG_HIT_GAVE_UP);
    op.raw[TG_BASE] = TG_SV("x");
    assert_int_equal(tg_select_op(&m, &op), TG_HIT_YES);
    op.raw[TG_BASE] = TG_SV("y");
    assert_int_equal(tg_select_op(&m, &op), TG_HIT_GAVE_UP);
    tg_pattern_release(m.raw_name.v[0]);
    m = (struct tg_match){ .present = true, .parent = hand_patterns(h, "/x/") };
    op.parent = TG_SV("a\xFFx");
    assert_int_equal(tg_select_op(&m, &op), TG_HIT_GAVE_UP);
    op.parent = TG_SV("y");
    assert_int_equal(tg_select_op(&m, &op), TG_HIT_NO);
    op.parent = TG_SV("x");
    assert_int_equal(tg_select_op(&m, &op), TG_HIT_YES);
    tg_pattern_release(m.parent.v[0]);
}

/* Of overrides that match the last wins, key by key; what it does not say stays. */
WITH_HAND(an_override_changes_what_it_names)
{
    const struct tg_op mm = hand_op("aten::mm", TG_KIND_OP), add = hand_op("aten::add", TG_KIND_OP);
    struct tg_override o[2] = { { .match = { .present = true, .name = hand_patterns(h, "aten::*") },
                                  .warn = hand_limit(h, TG_BOUND_ABS, 1),
                                  .fail = hand_limit(h, TG_BOUND_ABS, 2),
                                  .has_noise = true,
                                  .noise = { .test = TG_NOISE_NONE } },
                                { .match = { .present = true,
                                             .name = hand_patterns(h, "aten::mm") },
                                  .fail = { .state = TG_LIMIT_OFF },
                                  .noise = { .test = TG_NOISE_RUNS, .min_runs = 7 } } };
    struct tg_rule_limits l;
    h->rule.warn = hand_limit(h, TG_BOUND_ABS, 8);
    h->rule.fail = hand_limit(h, TG_BOUND_ABS, 9);
    h->rule.overrides = o;
    h->rule.n_overrides = 2;
    l = tg_select_limits(&h->rule, &mm);
    assert_true(l.warn.v[0].bound[0].value == 1);
    assert_int_equal(l.fail.state, TG_LIMIT_OFF);
    assert_ptr_equal(l.noise, &o[0].noise); /* the second has none of its own */
    assert_int_equal(l.noise->test, TG_NOISE_NONE);
    o[1].has_noise = true;
    l = tg_select_limits(&h->rule, &mm);
    assert_ptr_equal(l.noise, &o[1].noise);
    assert_int_equal(l.noise->test, TG_NOISE_RUNS);
    l = tg_select_limits(&h->rule, &add);
    assert_true(l.warn.v[0].bound[0].value == 1 && l.fail.v[0].bound[0].value == 2);
    assert_int_equal(l.noise->test, TG_NOISE_NONE);
    l = tg_select_limits(&h->rule, NULL); /* the whole trace has no name to match */
    assert_true(l.warn.v[0].bound[0].value == 8 && l.fail.v[0].bound[0].value == 9);
    assert_ptr_equal(l.noise, &h->rule.noise);
}
