/* select.c: which names a rule judges, where, and with which limits. Each row is a pair of sides and a policy; what the verdict says of it is
 * tests/golden/verdict_select.txt, derived from docs/policy.md when it was written and read through at every change. */
#include "by_hand.h"
#include "model.h"
#include "tests/support.h"

static const struct model_row model_rows[] = {
    { .what = "match: name", .policy = FOR("name: 'aten::op3'"), .test = { .more = OP } },
    { .what = "match: another name", .policy = FOR("name: 'aten::op4'"), .test = { .more = OP } },
    { .what = "match: two names",
      .policy = FOR("name: ['aten::op4', 'aten::op3']"),
      .test = { .more = OP } },
    { .what = "match: kind", .policy = FOR("kind: kernel"), .test = { .more = OP } },
    { .what = "match: raw name",
      .policy = FOR("raw_name: 'void kern3(float?)'"),
      .test = { .more = KERNEL } },
    { .what = "match: another raw name",
      .policy = FOR("raw_name: 'void kern4(float?)'"),
      .test = { .more = KERNEL } },
    { .what = "match: raw name, gone",
      .policy = FOR("raw_name: 'void kern5(float?)'"),
      .test = { .gone = "aten::op5" } },
    { .what = "match: parent",
      .policy = FOR("kind: kernel, parent: 'aten::op3'"),
      .test = { .more = KERNEL } },
    { .what = "match: another parent",
      .policy = FOR("kind: kernel, parent: 'aten::op4'"),
      .test = { .more = KERNEL } },
    { .what = "match: class", .policy = FOR("class: compute"), .test = { .more = KERNEL } },
    { .what = "match: another class", .policy = FOR("class: comm"), .test = { .more = KERNEL } },
    { .what = "match: not a name",
      .policy = FOR("kind: op, not: {name: 'aten::op3'}"),
      .test = { .more = OP } },
    { .what = "match: not another name",
      .policy = FOR("kind: op, not: {name: 'aten::op4'}"),
      .test = { .more = OP } },
    { .what = "match: not a kind", .policy = FOR("not: {kind: op}"), .test = { .more = OP } },
    { .what = "match: not a parent",
      .policy = FOR("kind: kernel, not: {parent: 'aten::op3'}"),
      .test = { .more = KERNEL } },
    { .what = "match: family",
      .policy = FOR("family: gemm"),
      .test = { .more = "kernel|-|ampere_sgemm_128|20" } },
    { .what = "match: another family",
      .policy = FOR("family: conv"),
      .test = { .more = "kernel|-|ampere_sgemm_128|20" } },
    { .what = "match: families by name",
      .policy = FOR("family: [triton, attention, conv, norm, elementwise]"),
      .test = { .more = "kernel|-|triton_poi|5;kernel|-|flash_fwd|5;kernel|-|conv2d|5;kernel|-|"
                        "layer_norm|5;kernel|-|elementwise_kernel|5" } },
    { .what = "match: a regex", .policy = FOR("name: '/op[34]$/'"), .test = { .more = OP } },
    { .what = "match: a regex that gives up",
      .policy = FOR("name: '/(a+)+$/'"),
      .test = { .more = "op|aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab" } },
    { .what = "match: not, a regex that gives up",
      .policy = FOR("kind: op, not: {name: '/(a+)+$/'}"),
      .test = { .more = "op|aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab" } },
    { .what = "match: raw, a regex that gives up",
      .policy = FOR("raw_name: '/(a+)+$/'"),
      .test = { .more = "op|aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab" } },
    { .what = "match: annotations", .policy = FOR("kind: annotation"), .test = { .more = "op|x" } },
    { .what = "match: runtime", .policy = FOR("kind: runtime"), .test = { .more = KERNEL } },
    { .what = "match: sync",
      .policy = FOR("kind: sync"),
      .test = { .more = "sync|-|cudaDeviceSynchronize" } },
    { .what = "when: event",
      .policy = COUNT("fail: {abs: 0}, when: {event: push}"),
      .test = { .more = OP },
      .event = "push" },
    { .what = "when: another event",
      .policy = COUNT("fail: {abs: 0}, when: {event: push}"),
      .test = { .more = OP },
      .event = "schedule" },
    { .what = "when: event, unknown",
      .policy = COUNT("fail: {abs: 0}, when: {event: push}"),
      .test = { .more = OP } },
    { .what = "when: branch",
      .policy = COUNT("fail: {abs: 0}, when: {branch: 'release/*'}"),
      .test = { .more = OP },
      .branch = "release/1" },
    { .what = "when: another branch",
      .policy = COUNT("fail: {abs: 0}, when: {branch: 'release/*'}"),
      .test = { .more = OP },
      .branch = "main" },
    { .what = "when: device",
      .policy = COUNT("fail: {abs: 0}, when: {device: '*H100*'}"),
      .test = { .more = OP } },
    { .what = "when: another device",
      .policy = COUNT("fail: {abs: 0}, when: {device: '*A100*'}"),
      .test = { .more = OP } },
    { .what = "when: both",
      .policy = COUNT("fail: {abs: 0}, when: {event: push, branch: main}"),
      .test = { .more = OP },
      .event = "push",
      .branch = "main" },
    { .what = "when: one of both",
      .policy = COUNT("fail: {abs: 0}, when: {event: push, branch: main}"),
      .test = { .more = OP },
      .event = "push",
      .branch = "x" },
    { .what = "when: a list",
      .policy = COUNT("fail: {abs: 0}, when: {event: [push, schedule]}"),
      .test = { .more = OP },
      .event = "schedule" },
    { .what = "override: lets it pass",
      .policy = COUNT("fail: {abs: 0}, overrides: [{match: {name: 'aten::op3'}, fail: {abs: 1}}]"),
      .test = { .more = OP } },
    { .what = "override: for another name",
      .policy = COUNT("fail: {abs: 0}, overrides: [{match: {name: 'aten::op4'}, fail: {abs: 1}}]"),
      .test = { .more = OP } },
    { .what = "override: the last wins",
      .policy = COUNT("fail: {abs: 0}, overrides: [{match: {name: 'aten::op3'}, fail: {abs: 1}}, "
                      "{match: {kind: op}, fail: {abs: 0}}]"),
      .test = { .more = OP } },
    { .what = "override: of the warning alone",
      .policy = COUNT("fail: {abs: 0}, overrides: [{match: {name: 'aten::op3'}, warn: {abs: 0}}]"),
      .test = { .more = OP } },
    { .what = "override: off",
      .policy = COUNT("fail: {abs: 0}, overrides: [{match: {name: 'aten::op3'}, fail: off}]"),
      .test = { .more = OP } },
    { .what = "override: of every name, off",
      .policy = COUNT("fail: {abs: 0}, overrides: [{match: {name: '*'}, fail: off}]"),
      .test = { .more = OP } },
    { .what = "match: name, and another parent",
      .policy = FOR("kind: kernel, name: 'void kern3(float?)', parent: 'aten::op4'"),
      .test = { .more = KERNEL } },
    { .what = "match: name, and its parent",
      .policy = FOR("kind: kernel, name: 'void kern3(float?)', parent: 'aten::op3'"),
      .test = { .more = KERNEL } },
    { .what = "match: name, and another raw name",
      .policy = FOR("kind: kernel, name: 'void kern3(float?)', raw_name: 'void kern4*'"),
      .test = { .more = KERNEL } },
    { .what = "match: raw name, and another parent",
      .policy = FOR("kind: kernel, raw_name: 'void kern3*', parent: 'aten::op4'"),
      .test = { .more = KERNEL } },
    { .what = "match: class, and another name",
      .policy = FOR("class: compute, name: none"),
      .test = { .more = KERNEL } },
    { .what = "when: any event, unknown",
      .policy = COUNT("fail: {abs: 0}, when: {event: '*'}"),
      .test = { .more = OP } },
    { .what = "when: any branch, unknown",
      .policy = COUNT("fail: {abs: 0}, when: {branch: '*'}"),
      .test = { .more = OP } },
    { .what = "when: device, of ranks",
      .policy = COUNT("fail: {abs: 0}, when: {device: 'NVIDIA*'}"),
      .base = { .ranks = 2 },
      .test = { .more = OP, .ranks = 2 } },
    { .what = "when: a device as another key has it",
      .policy = COUNT("fail: {abs: 0}, when: {device: 'nccl'}"),
      .base = { .ranks = 2 },
      .test = { .more = OP, .ranks = 2 } },
    { .what = "override: off, but not for it",
      .policy =
          COUNT("fail: {abs: 0}, overrides: [{match: {not: {name: 'aten::op3'}}, fail: off}]"),
      .test = { .more = OP } },
    { .what = "override: off, but not for another name",
      .policy =
          COUNT("fail: {abs: 0}, overrides: [{match: {not: {name: 'aten::op4'}}, fail: off}]"),
      .test = { .more = OP } },
    { .what = "override: off for a kind, but not for it",
      .policy = COUNT(
          "fail: {abs: 0}, overrides: [{match: {kind: op, not: {name: 'aten::op3'}}, fail: off}]"),
      .test = { .more = OP } },
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
    assert_int_equal(l.test, TG_NOISE_NONE);
    o[1].has_noise = true;
    l = tg_select_limits(&h->rule, &mm);
    assert_ptr_equal(l.noise, &o[1].noise);
    assert_int_equal(l.test, TG_NOISE_RUNS);
    l = tg_select_limits(&h->rule, &add);
    assert_true(l.warn.v[0].bound[0].value == 1 && l.fail.v[0].bound[0].value == 2);
    assert_int_equal(l.test, TG_NOISE_NONE);
    l = tg_select_limits(&h->rule, NULL); /* the whole trace has no name to match */
    assert_true(l.warn.v[0].bound[0].value == 8 && l.fail.v[0].bound[0].value == 9);
    assert_ptr_equal(l.noise, &h->rule.noise);
}
